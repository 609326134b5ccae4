"""How things stand, told on the way: a measure that changed, a count that was reached, a day that was set.

People tell an assistant such things inside of what they ask for ("I'm trying to speed up the API, which has improved to 250 ms, can
you …"). The request is over with its answer; the state is what a later session is asked about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from leporello.core.blocks import parts
from leporello.core.extract.cues import chatter
from leporello.core.extract.said import clean, spoken, talks, voice
from leporello.core.extract.users import data, requests
from leporello.records import Item, Message, Section, Span

_RULES: frozenset[Section] = frozenset({"constraint", "preference", "decision", "correction"})
_TYPED = 1_500
"""Characters that a user at work types at most in one message."""
STATE = "state"
"""The key of an item that tells how things stand."""
_NUMBER = (
    r"(?:[$€£¥]?\d[\d.,:/]*\s?%?|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|fifty|hundred|half|zwei|drei|vier|fünf|"
    r"sechs|sieben|acht|neun|zehn|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|deux|trois|quatre|cinq|six|sept|huit|neuf|dix)\b)"
)
_DAY = (
    r"(?:(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2}|\d{1,2}(?:st|nd|rd|th)?\.? (?:of )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|"
    r"mär|mai|okt|dez|ene|abr|ago|dic|janv|févr|mars|avr|juin|juil|août|déc)[a-zé]*|(?:mon|tues|wednes|thurs|fri|satur|sun)day|\d{4}-\d\d-\d\d|"
    r"montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|lunes|martes|miércoles|jueves|viernes|lundi|mardi|mercredi|jeudi|vendredi)"
)
_VALUE = rf"(?:{_DAY}|{_NUMBER})"
_MOVED = re.compile(
    rf"\b(?:improv|increas|decreas|reduc|dropp|grown|grew|grow|ris[ei]|rose|jump|expand|extend|updat|upgrad|rais|lower|brought|cut|mov|reschedul|postpon|push|shift|chang|"
    rf"switch|bump|reach|boost|advanc|went up|gone up|set|erhöh|gestiegen|gesunken|verschoben|verbessert|aumentad|subi|baj|mejorad|cambiad|augment|pass)\w*\b[^.;?!]{{0,60}}?\b(?:to|at|from|by|of|on|auf|um|a|hasta|à|reached)?\s?{_VALUE}",
    re.IGNORECASE,
)
_DONE = re.compile(
    rf"\b(?:i|we|i['’]ve|we['’]ve|has|have|had|he|she|they|wir|ich|he|hemos|j['’]ai|nous)\W+(?:\w+\W+){{0,3}}?(?:complet|finish|add|secur|solv|writ|wrote|read|collect|sav|spen[td]|earn|attend|scor|"
    rf"achiev|submit|appli|merg|tagg|test|cover|schedul|book|enroll|interview|met|mentor|gain|receiv|got|run|ran|sold|bought|made|publish|releas|deploy|shipp|hir|"
    rf"pass|visit|master|learn|review|logg|record|host|accept|sign|secured|abgeschlossen|geschafft|hinzugefügt|completad|añadid|termin|ajout)\w*\b[^.;?!]{{0,60}}?{_VALUE}",
    re.IGNORECASE,
)
_TOTAL = re.compile(
    rf"\b(?:total of|in total|now (?:have|has|at|up to)|have now|has now|currently (?:have|has|at|set)|so far|up to|insgesamt|en total)\b[^.;?!]{{0,40}}?{_VALUE}",
    re.IGNORECASE,
)
_HOLDS = re.compile(
    rf"\b(?:my|our|the|mein\w*|unser\w*|mi|nuestr\w+|mon|ma|notre) (?:[\w'’-]+ ){{0,5}}?(?:is|are|was|has|have|contains?|includes?|takes?|costs?|starts?|begins?|ends?|lasts?|ist|hat|es|tiene|est)\b[^.;?!]{{0,40}}?{_VALUE}",
    re.IGNORECASE,
)
_SET = re.compile(
    rf"\b(?:deadline|due|quota|limit|target|goal|budget|meeting|call|appointment|interview|session|sprint|release|launch|exam|flight|trip|party|wedding|visit|workshop|conference|termin|frist|"
    rf"reunión|cita|plazo|réunion|rendez-vous|échéance)\b[^.;?!]{{0,50}}?{_VALUE}",
    re.IGNORECASE,
)
_FRESH = re.compile(
    r"\b(?:recent(?:ly)?|now|already|just|new|newly|updated|latest|final|increased|so far|currently|anymore|no longer|further|has reached|kürzlich|jetzt|inzwischen|bereits|ahora|ya|recién|"
    r"maintenant|déjà|désormais)\b|现在|目前|已经|最近|改为|改到|改成",
    re.IGNORECASE,
)
_FROM = re.compile(
    rf"\b(?:i['’]?m|i am|we['’]?re|we are|he['’]?s|she['’]?s|they['’]?re|i|we)\b[^.;?!,]{{3,60}}?\b(?:starting|beginning|from|as of|since|until|on|ab|seit|desde|à partir du|depuis)\s(?:the )?{_DAY}",
    re.IGNORECASE,
)
_KIN = (
    r"(?:wife|husband|partner|girlfriend|boyfriend|fiancée?|mother|mom|mum|father|dad|parents|sister|brother|son|daughter|kids?|children|child|twins|family|dog|cat|pets?|horse|boss|manager|"
    r"doctor|dentist|therapist|roommate|best friend|name|nickname|birthday|age|job|salary|hometown|address|phone|number|email|car|house|flat|apartment|team|company|school|university|major|"
    r"favou?rite|allerg\w+|diet|hobby|hobbies|native language|mother tongue|religion|blood type|size|weight|height|"
    r"frau|mann|mutter|vater|eltern|schwester|bruder|sohn|tochter|kinder|hund|katze|chef\w*|geburtstag|adresse|handynummer|lieblings\w+|esposa|esposo|marido|mujer|madre|padre|hermana|hermano|hij[oa]s?|perro|gato|jefe|cumpleaños|"
    r"femme|mari|mère|père|sœur|frère|fils|fille|enfants|chien|chat|anniversaire|patron)"
)
_OWN = re.compile(
    r"\b(?:i(?:['’]m| am|['’]ve| have)?(?: (?:now|just|recently|also|currently|still|actually|both|always|finally))* (?:liv(?:e|ed|ing) (?:in|at|with|on|near)|mov(?:e|ed|ing) (?:(?:\w+ ){0,3})?(?:to|from|in|back|out)|relocat\w+|"
    r"work(?:ed|ing)? (?:at|for|as|in|with|from)|employed|born|grew up|raised|(?:a|an) [a-z-]+(?: [a-z-]+)?(?: at| in| for| by|[.,!]|$)|from [A-Z]|allergic|vegan|vegetarian|pescatarian|diabetic|married|engaged|single|divorced|retired|pregnant|left-handed|"
    r"stud(?:y|ied|ying)|graduated|speak|quit|got (?:married|engaged|divorced|hired|fired|promoted|a (?:new )?(?:job|dog|cat|car))|started (?:a|at|as|working|my)|stopped|gave up|no longer|used to|adopted|bought a|sold (?:my|the)|own|drive a|play the|"
    r"switched (?:to|from)|don['’]t (?:eat|drink|drive|smoke|like)|can['’]t (?:eat|stand|drink)|hate|love|prefer|like)"
    rf"|my (?:[\w-]+ ){{0,2}}?{_KIN}(?:['’]s)?\b[^.?!]{{0,30}}?\b(?:is|are|was|has|have|works?|lives?|called|named|turned|turns|got|just|passed|moved|started)"
    r"|ich (?:wohne|lebe|arbeite|studiere|spreche|heiße|esse|trinke|mag|bin (?:\w+ ){0,4}(?:gezogen|umgezogen|geboren|verheiratet|geschieden|schwanger|allergisch|vegetarier\w*|veganer\w*|aus|von beruf))|ich (?:ziehe|habe (?:gekündigt|geheiratet))"
    rf"|(?:mein|meine|mi|mon|ma) (?:\w+ )?{_KIN}\b|(?:yo )?(?:vivo|trabajo|estudio|me mud[ée]|soy|nací|me casé|hablo|odio|prefiero)\b|(?:j['’]habite|je (?:vis|travaille|suis|parle|préfère|déteste|ne mange)|j['’]ai (?:déménagé|quitté|grandi|arrêté|adopté)|j['’]étudie)\b)",
    re.IGNORECASE,
)
_TEAM = re.compile(
    r"\b(?:we(?:['’]ve|['’]re| have| are)?(?: (?:now|just|recently|also|currently|still|actually|always|no longer))* (?:us(?:e|ed|ing)|switched|moved|migrated|dropped|deploy|release|ship|run|host|renamed|replaced|adopted|"
    r"cancell?ed|postponed|rescheduled|stopped|hired|meet)\b(?! (?:it|this|that|these|those)\b)|our (?:[\w.-]+ ){1,5}?(?:is|are|happens?|runs?|uses?|lives?|starts?|moved|was|were|has)\b|wir (?:nutzen|benutzen|verwenden|setzen|haben|deployen)\b|unsere? \w+|"
    r"(?:usamos|hemos (?:cambiado|migrado|decidido)|nuestr[oa]s? \w+)|(?:nous utilisons|on utilise|nous avons (?:migré|changé|choisi)|notre \w+))|我们(?:现在)?(?:用|使用|改用|的)",
    re.IGNORECASE,
)
_RULE = re.compile(
    r"^\W*(?:(?:please|also|and|hey|ok(?:ay)?|so|bitte|por favor|s['’]il (?:te|vous) pla[iî]t)[, ]+)*(?:call me|nenn mich|llámame|appelle[sz]?-moi)\b"
    r"|^\W*(?:(?:please|also|and|bitte|por favor)[, ]+)*(?:use|prefer|avoid|write|answer|reply|respond|format|keep|name|stick to|remember)\b.*\b(?:in (?:this|the|our) (?:project|repo(?:sitory)?|code ?base|team)|from now on|always|never|when you|"
    r"whenever|for (?:all|every)|every time|not \w+|instead of|rather than|by default)\b",
    re.IGNORECASE,
)
_NEWS = re.compile(
    r"\b(?:(?:was|were|has been|have been|got|is|are)? ?(?:cancell?ed|postponed|rescheduled|renamed|replaced|acquired|deprecated|promoted|fired|hired|discontinued|archived|approved|rejected)|resigned|retired|quit|left the (?:team|company|project)|"
    r"joined (?:the|our|us)|(?:is|are) (?:now|our new|the new|no longer)|no longer|took over|steps? down|moved to|switched to|abgesagt|verschoben|umbenannt|gekündigt|ist jetzt|sind jetzt|nicht mehr|cancelad[oa]|aplazad[oa]|renunció|ya no|ahora es|"
    r"annulée?|reportée?|démissionné|n['’]est plus|est maintenant)\b|取消|推迟|改名|辞职|不再",
    re.IGNORECASE,
)
_WORKED = re.compile(
    r"\b(?:that|it|this) (?:worked|did the trick|helped|fixed (?:it|the)|solved (?:it|the))\b[^.?!]{0,12}?[:,–—-]?\s(?=\w+[^.?!]{15,})|\b\w+ing [^.?!]{3,60} (?:fixed|solved|resolved|did the trick)\b",
    re.IGNORECASE,
)
_OWN_WIDE = re.compile(
    r"我[^，。！？]{0,8}?(?:住在|搬到|搬去|在.{1,12}(?:工作|上班|上学)|的.{1,8}(?:是|叫|在|有|住|生日)|是|有|叫|喜欢|不喜欢|讨厌|对.{1,8}过敏|结婚|辞职|换了|养了)|(?:私|僕|俺)は"
)
_OF_OWN, _OF_TEAM = 3.4, 3.0
_GIVEN = re.compile(r"\b(?:the fact that|given that|now that|seeing that|since|because|although|even though)\s+", re.IGNORECASE)
_LEAD = re.compile(
    r"^\W*(?:(?:and|but|so|especially|considering|since|like|that|because|given|now that|also|however|aber|und|pero|y|mais|et)\b[\s,]*)+",
    re.IGNORECASE,
)
_WIDE = re.compile(r"(?:现在|目前|已经|最近|改为|改到|改成|增加到|减少到|达到|推迟到|提前到)[^。！？]{0,20}?[\d一二三四五六七八九十百千]+")
_PARTS = re.compile(
    r"(?:[,;:]|\s[–—-])\s*(?:(?:but|so|and|can|could|would|how|what|which steps|is|are|do|does|should|any|especially|considering|since|like|e\.g|aber|und|kannst|pero|y|puedes|mais|et|peux)\b)",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^\W*(?:can|could|would|will|how|what|when|where|which|who|why|is|are|do|does|did|should|shall|may|please|help|show|give|tell)\b",
    re.IGNORECASE,
)
_PASSING = re.compile(r"\b(?:error|exception|traceback|undefined|status code|http \d|line \d|port \d|localhost)\b", re.IGNORECASE)
_LEANS = re.compile(
    r"\b(?:reduc|improv|increas|optimi[sz]|test|us|us|tri|set|got|ha[sdv]|chang|fix|ma[kd]|do|did|done)\w*e? (?:it|this|that|them|these)\b",
    re.IGNORECASE,
)
"""What is only understood beside what was said before it."""
_ABOUT_IT = re.compile(
    r"\b(?:love|like|hate|prefer|loved|liked) (?:it|this|that|these|those|your|how|the (?:way|idea|look|sound|result|answer|approach|structure|suggestion))\b|\bi (?:like|love) (?:to )?(?:see|hear|know|understand|learn|get|have)\b|\bi am (?:a|an) bit\b",
    re.IGNORECASE,
)
_MAYBE = re.compile(
    r"\b(?:if|might|maybe|would like|want to|need to|hoping to|plan to|trying to|should i|what if)\b[^,;]{0,40}$", re.IGNORECASE
)


class State(NamedTuple):
    """Where in a text a state is told, and how telling it is (about 2 to 6)."""

    start: int
    end: int
    weight: float


def states(messages: Sequence[Message]) -> list[Item]:
    """What users tell on the way, a part of a sentence each; none of people's talks, where every statement is weighed.

    Where nobody answers, also the rules, choices and preferences that they state.
    """
    named = talks(messages)
    if named:
        return []
    out = [i for i in requests(messages, {m.id: spoken(m) for m in messages}, chat=True) if i.section in _RULES] if named is False else []
    working = any(part.kind == "call" for m in messages for part in parts(m))
    for message in messages:
        if voice(message) != "user" or (working and len(message.text) > _TYPED):
            continue  # so much is pasted
        for sentence in spoken(message):
            found = None if working and data(sentence.text) else state(sentence.text, working=working)
            if found is None and not working and len(message.text) <= _SHORT and _plain(sentence.text):
                found = State(0, len(sentence.text), _OF_PLAIN)
            if found is not None:
                text = clean(sentence.text[found.start : found.end].strip(" ,;:?？"))
                place = Span(message.id, sentence.start + found.start, sentence.start + found.end, message.turn)
                section: Section = "constraint" if _RULE.search(text) else "pattern" if _WORKED.search(text) else "event"
                out.append(Item(section, text, key=STATE, spans=(place,), weight=found.weight, trust="user", at=message.at))
    return out


def state(text: str, *, working: bool = False) -> State | None:
    """The most telling state that a sentence tells, with the clauses in front of it that say of what; None if it tells none.

    `working`: said to an agent at work, where what the cat does is small talk.
    """
    found: State | None = None
    spans = _clauses(text)
    for n, (start, end) in enumerate(spans):
        told = _told(text, start, end)
        asks = told == start and text[start:end].rstrip().endswith(("?", "？"))
        start = told
        weight = 0.0 if asks else _weight(text[start:end], working)
        if weight and (found is None or weight >= found.weight):
            alone = n == 0 or start > spans[n][0] or _ALONE.match(text[start:end])
            found = State(start if alone else spans[n - 1][0], end, weight)
    if found is None:
        return None
    lead = _LEAD.match(text[found.start : found.end])
    return found._replace(start=found.start + (lead.end() if lead else 0))


_ORDERS = re.compile(
    r"^(?:add|adjust|answer|apply|ask|build|call|change|check|clean|clear|close|commit|compare|compute|configure|connect|continue|convert|copy|create|debug|define|delete|deploy|describe|design|do|don['’]?t|draft|draw|drop|"
    r"edit|enable|ensure|explain|export|extract|fetch|find|finish|fix|format|generate|get|give|go|handle|help|implement|import|improve|include|insert|install|keep|let|list|log|look|make|merge|move|open|optimi[sz]e|parse|paste|plan|"
    r"prepare|print|proceed|provide|push|put|read|recommend|refactor|remove|rename|repeat|replace|resume|retry|return|review|rewrite|run|save|search|send|set|show|skip|solve|sort|split|start|stop|suggest|switch|take|tell|test|"
    r"translate|try|turn|undo|update|upload|use|verify|wait|walk|write|analy[sz]e|calculate|come|consider|think|imagine|suppose|assume|guess|zeig\w*|gib|mach\w*|schreib\w*|erklär\w*|such\w*|hilf|nimm|lies|öffne|dame|dime|haz|escribe|explica|muéstrame|busca|"
    r"ayúdame|donne|dis|fais|écris|explique|montre|cherche|aide)\b",
    re.IGNORECASE,
)
_NOBODY = re.compile(
    r"^(?:it|this|that|these|those|there|here|yeah|yep|nope|hmm+|so|well|also|but|and|or|then|now|hi|hey|hello|wow|oh|ah|sorry|maybe|perhaps|actually,? (?:i think|that|it)|just|not|never mind|same|another|more|what|which|who|how|why|where|when|yes|no|ok(?:ay)?|thanks?|thank|sure|great|good|nice|cool|let|please|i (?:think|guess|hope|see|know|mean|agree|understand|will|can|could|would|wonder|feel|was wondering|need|want|tried|just wanted|have (?:a|one|another) "
    r"(?:question|problem|idea))|i['’]ll|we (?:should|could|can|need|must|will)|es (?:ist|gibt|geht|war|sieht)|das (?:ist|war|sieht|klingt|stimmt|geht|passt|reicht|hat)|ja|nein|danke|bitte|sí|gracias|oui|merci|c['’]est|ça)\b",
    re.IGNORECASE,
)
_SHORT, _OF_PLAIN = 240, 2.0
"""Characters of a message that only tells something, and what its sentences weigh."""


def _told(text: str, start: int, end: int) -> int:
    """Where in a clause that asks for something the part begins that tells something ("…, given that I have 45")."""
    clause = text[start:end]
    given = _GIVEN.search(clause) if _ASKS.match(clause) else None
    return start + given.end() if given else start


def _plain(text: str) -> bool:
    """True for a short sentence that says something of somebody or something."""
    bare = text.strip()
    long_enough = len(bare.split()) >= 3 or (not bare.isascii() and len(bare) >= 4)
    asks = _ASKS.match(bare) or _ORDERS.match(bare) or _NOBODY.match(bare) or bare.endswith(("?", "？", ":", "："))
    return long_enough and not asks and not _PASSING.search(bare) and not chatter(bare)


def _weight(clause: str, working: bool) -> float:
    if len(clause) > 400 or _ASKS.match(clause) or _PASSING.search(clause):
        return 0.0
    hits = [m for m in (p.search(clause) for p in (_MOVED, _DONE, _TOTAL, _HOLDS, _SET, _FROM, _WIDE)) if m]
    hits = [m for m in hits if not _MAYBE.search(clause[: m.start()])]
    if working:
        hits = []  # numbers of the work at hand
    own = _OWN.search(clause) or _OWN_WIDE.search(clause)
    if own and working and own.group().casefold().startswith("my "):
        own = None
    if own and not _MAYBE.search(clause[: own.start()]) and not _ABOUT_IT.search(clause):
        return _OF_OWN + 0.6 * len(hits) + 1.0 * bool(_FRESH.search(clause))
    if _RULE.search(clause):
        return _OF_TEAM + 1.0
    team = _TEAM.search(clause) or _WORKED.search(clause) or (None if working else _NEWS.search(clause))
    if team and not _MAYBE.search(clause[: team.start()]):
        return _OF_TEAM + 0.6 * len(hits) + 1.0 * bool(_FRESH.search(clause))
    if not hits:
        return 0.0
    kinds = {m.re for m in hits}
    weight = 2.0 + 0.6 * len(kinds) + 1.4 * bool(_FRESH.search(clause)) + 0.8 * (_MOVED in kinds) + 0.5 * (_DONE in kinds)
    return weight * (0.6 if _LEANS.search(clause) or (len(clause) <= 20 and _WIDE not in kinds) else 1.0)


def _clauses(text: str) -> list[tuple[int, int]]:
    """The stretches between the words that join sentences into one."""
    joints = list(_PARTS.finditer(text))
    starts = [0, *(m.start() + len(m.group()) - len(m.group().lstrip(",;:–—- ")) for m in joints)]
    return [(a, b) for a, b in zip(starts, [*(m.start() for m in joints), len(text)], strict=True) if b > a]


_ALONE = re.compile(
    r"\W*(?:(?:and|but|so|especially|considering|since|like|that|because|now that)\b\s*)*(?:I|i|we|We|my|My|our|Our|the|The|there|he|she|they|[A-Z]\w+|ich|wir|mein\w*|yo|mi|je|j|mon|ma)\b"
)
"""A clause with a subject of its own."""

"""What was said, sentence by sentence: which sentences of users, agents and people talking to one another are worth keeping."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from leporello.core.blocks import parts
from leporello.core.extract import cues
from leporello.core.extract.calls import quote
from leporello.core.extract.names import names, numbers, plain_words
from leporello.core.extract.sentences import Sentence, excerpt, hide, sentences
from leporello.records import Item, Message, Section, Span, Trust

WEIGHT: dict[Section, float] = {
    "goal": 10.0, "constraint": 5.0, "correction": 5.0, "decision": 3.4, "eliminated": 3.4, "confirmation": 2.6, "preference": 3.4, "open": 2.2,
    "next": 2.2, "state": 2.4, "error": 1.8, "event": 2.2, "work": 1.0, "result": 1.0, "pattern": 2.0,
}  # fmt: skip
LASTING: frozenset[Section] = frozenset({"goal", "constraint", "decision", "eliminated", "preference", "correction", "event"})
_WORD = re.compile(r"[^\W\d_]{3,}|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{2}")
_PROPER = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{2,}")
_FIRST_PERSON = re.compile(
    r"\b(?:I|my|me|we|our|I['’]\w+|ich|mein\w*|wir|je|j['’]|mon|ma|nous|yo|mi|mis|nosotros)\b|我|私|僕|я|мой|나는|제", re.IGNORECASE
)
_SECOND_PERSON = re.compile(
    r"\b(?:you|your|you['’]\w+|yours|du|dein\w*|dir|dich|tu|toi|ton|ta|vous|votre|tú|tu|usted)\b|你|您|あなた|君", re.IGNORECASE
)
_WHEN = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|since|weekend|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august|september|october|november|december|years? old|gestern|morgen|heute|"
    r"letzte\w*|nächste\w*|hier|demain|aujourd|dernier|ayer|mañana|hoy|pasad[oa])\b|昨|今天|明天|去年|明年|上周|下周|今日|明日|先週|来週|月|岁|歳|年",
    re.IGNORECASE,
)
_HAPPENED = re.compile(
    r"\b(?:went|moved|moving|started|starting|began|got|bought|sold|visited|joined|met|signed|finished|won|lost|adopted|married|engaged|born|works?|worked|working|lives?|lived|quit|hired|opened|opening|launched|made|took|built|wrote|read|"
    r"learn(?:ed|ing|t)|plann?(?:ed|ing)?|hope|want|applied|accepted|passed|failed|travel(?:l?ed|l?ing)?|flew|broke|hurt|painted|ran|hosted|volunteer\w*|studied|studying|graduated|major(?:ing|ed)?|called|named|used to|grew up|my (?:\w+ )?"
    r"(?:mom|mum|dad|mother|father|sister|brother|wife|husband|son|daughter|kids?|dog|cat|family|partner|friend|boss|job|birthday|house|car|company|store|business|school))\b|了|过|参加|住|工作|た[。！]|ました|работа|живу|купил",
    re.IGNORECASE,
)
_LEANING = re.compile(
    r"^\W*(?:it|that|this|those|these|they|he|she|there|yes|yeah|yep|no|totally|exactly|agree\w*|so|and|but|which|well|by the way|also|then)\b",
    re.IGNORECASE,
)
_WIDE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_NOISE = re.compile(
    r"^Full transcript available at|^\[(?:Request interrupted|Image|Pasted)|^(?:Caveat:|This session is being continued|<|\{|\[\d|https?://\S+$)"
)
_INTERROGATIVE = re.compile(r"[?？]\W*$")
_CONTINUED = re.compile(r"^\s*(?:This session is being continued from a previous conversation)", re.IGNORECASE)
_CLIENT = re.compile(
    r"^\s*(?:Base directory for this skill|# AGENTS\.md instructions|Caveat:|\[Request interrupted|Launching skill:|Observation:|<returncode>|Message Type: MESSAGE|(?P<tag><(?!command-args|bash-input|task>|issue|question|request|user_query|prompt)([\w -]+)>)(?s:.*)</\2>\s*$)",
    re.IGNORECASE,
)
_STRICT = re.compile(
    r"\b(?:(?<!I've )(?<!I’ve )(?<!have )(?<!had )(?<!has )(?<!was )never|must|(?<!can )always|(?<!to )make sure|ensure that|under no circumstances|mandatory|forbidden|not allowed|only (?:use|when|if)|at (?:most|least) \d|no more than|keep in mind|from now on|going forward|"
    r"niemals|auf keinen fall|darf|muss|immer|jamais|ne .{2,30} (?:pas|jamais)|il faut|toujours|nunca|jamás|no debes?|siempre)\b"
    r"|(?:^|[,;:.] |\b(?:please|and|but|so) )(?:do not|don['’]t|avoid|stop) (?!think|know|see|understand|believe|get|have|we|you)\w"
    r"|绝不|绝对不|不要|不能|必须|禁止|务必|決して|絶対に|必ず|しないで|никогда|нельзя|обязательно|절대|반드시",
    re.IGNORECASE,
)
_FORBIDS = re.compile(
    r"\b(?:never|must not|do not|don['’]t|niemals|keinesfalls|jamais|nunca)\b|绝不|不要|禁止|決して|никогда|нельзя", re.IGNORECASE
)
_CARRIES = re.compile(
    r"let me (?:chronologically )?analy[sz]e|^analysis:?$|^summary:?$|without asking the user|continue the conversation", re.IGNORECASE
)
_DATA = re.compile(
    r"""^(?:assert |import |from \w+ import |(?:async )?def |class \w+[(:]|return |await |print\(|self\.|const |let |var |git |pip |npm |cd |sudo |[drwx-]{10} )|^[\w.\[\]"]+(?:\([^)]*\))? = |^[\w.]+\(.*\)$|^\[[^\]]+\]\([^)]*\)$|^["'][\w-]+["']:|^[\w./-]+:$|^\w[\w ]{0,24}: [/\w.-]+$|^[\w-]+ mode \d|^\[[\w ()-]+[0-9a-f]{7}\]|^(?:ok|FAIL|PASS)\s|\bat [\w./]+:\d+|^\w+ [0-9a-f]{7,}\b"""
)
_POINTS_BACK = re.compile(r"\b(?:this|that|it|these|those|which|either|das|dies\w*|cela|esto)\b|这|これ", re.IGNORECASE)
_FENCED = re.compile(r"^[ \t]*```[^\n]*\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)
_LOG = re.compile(
    r"^(?:\d{2,4}[-/:]\d{2}|\[?\d{1,2}:\d{2}|\s*at \S+\(|>>>|\$ |[+-]{3} |@@ |\w+/\S+:\d+|[A-Z_]{4,}[=:]|--- |=== )|[{};]$|\)\s*\{$|=>$"
)


Heard = Mapping[str, Sequence[Sentence]]
"""The sentences of each message, by its id (`spoken`)."""


@dataclass(frozen=True)
class Said:
    """One sentence with its message. `age` runs from 1 (the first message) to 0 (the last)."""

    message: Message
    sentence: Sentence
    age: float
    last_user: bool = False
    first: bool = False

    @property
    def span(self) -> Span:
        return Span(self.message.id, self.sentence.start, self.sentence.end, self.message.turn)


def spoken(message: Message) -> list[Sentence]:
    """The sentences of a message's text parts; code, logs and what Leporello or a client rendered are left out."""
    out: list[Sentence] = []
    for part in parts(message):
        if part.kind == "text" and part.text.strip() and not (message.role == "user" and _CLIENT.match(part.text)):
            clean = hide(part.text)
            for offset, text in excerpt(clean):
                out.extend(s for s in sentences(text, part.start + offset) if not _LOG.search(s.text))
    return out


def voice(message: Message) -> str:
    """Whose words a message holds: a user's, an agent's (also what a client or a sub-agent says in the user's place), or its role."""
    if message.role == "user":
        return "user" if message.trust == "user" or _CONTINUED.match(message.text) else "agent"
    return "agent" if message.role == "assistant" else message.role


def all_said(messages: Sequence[Message], voices: Iterable[str], heard: Heard) -> list[Said]:
    """The sentences of the messages with these voices, in order."""
    wanted, count = set(voices), max(1, len(messages) - 1)
    users = [m for m in messages if voice(m) == "user" and heard[m.id]]
    last = users[-1].id if users else None
    first = users[0].id if users else None
    out: list[Said] = []
    for n, message in enumerate(messages):
        if voice(message) in wanted:
            out.extend(Said(message, s, 1 - n / count, message.id == last, message.id == first) for s in heard[message.id])
    return out


def fresh(age: float, section: Section) -> float:
    """How much of its weight a sentence of this age keeps: lasting sections fade little, the rest by half each fifth of the session."""
    return 0.7 + 0.3 * math.exp2(-age / 0.25) if section in LASTING else 0.25 + 0.75 * math.exp2(-age / 0.12)


def _with_reason(group: Sequence[Said], n: int, within: Sequence[Said] = ()) -> str:
    group = within or group
    text = group[n].sentence.text
    why = cues.reason(text)
    if not why and n + 1 < len(group) and group[n + 1].message is group[n].message and cues.EXPLAINS.search(group[n + 1].sentence.text):
        why = group[n + 1].sentence.text
    return why[:240]


def _item(said: Said, section: Section, *, weight: float, trust: Trust, why: str = "", text: str = "") -> Item:
    return Item(
        section, text or clean(said.sentence.text), why=why, spans=(said.span,), weight=round(weight, 4), trust=trust, at=said.message.at
    )


def clean(text: str) -> str:
    """The sentence on one line; the cells of a table's row are told apart by colons."""
    if text.startswith("|"):
        text = ": ".join(c.strip() for c in text.strip("| ").split("|") if c.strip())
    return " ".join(text.replace("**", "").split())


def requests(messages: Sequence[Message], heard: Heard, *, chat: bool = False) -> list[Item]:
    """What the user asked for: the first request is the goal, later ones change it; answers are joined to their questions.

    In a chat without tools, what the user tells of themselves and their plans is kept rather than each question.
    """
    said = all_said(messages, ["user"], heard)
    out: list[Item] = []
    by_message: dict[str, list[Said]] = {}
    for s in said:
        by_message.setdefault(s.message.id, []).append(s)
    before = _questions(messages, heard)
    for group in by_message.values():
        out.extend(_request(group, asked=before.get(group[0].message.id), chat=chat))
    return out


def _request(group: Sequence[Said], *, asked: Said | None, chat: bool) -> list[Item]:
    head = group[0]
    if _CONTINUED.match(head.message.text):
        return _carried(group)
    whole = " ".join(s.sentence.text for s in group)
    if len(whole) < 120 and cues.CONFIRMATION.search(whole) and asked is not None and not head.first:
        return [_answer(head, asked, whole)]
    out = []
    own = [s for s in group if not pasted(s.sentence.text)] or list(group[:2])
    if not head.first and len(group) - len(own) > 5:
        own = [*own[:2], *own[-3:]] if len(own) > 5 else own
    for n, s in enumerate(own):
        text = s.sentence.text
        if cues.chatter(text) or len(text) < 4 or _NOISE.search(text):
            continue
        section = _user_section(s, n)
        weight = WEIGHT[section] * fresh(s.age, section) * (1.0 if n < 8 else 0.4 if n < 16 else 0.15)
        if section == "goal" and chat and not s.first:
            section, weight = _told_in_chat(s, weight)
        elif section == "goal":
            weight *= 1.0 if s.first else 0.8 if s.last_user else 0.4
        out.append(_item(s, section, weight=weight, trust="user", why=_with_reason(group, n, own) if section != "goal" else ""))
    return out


def _user_section(s: Said, n: int) -> Section:
    text = s.sentence.text
    strict = _STRICT.search(text) and not text.rstrip().endswith(("?", "？"))
    if s.first:
        return "constraint" if strict and (n > 0 or _FORBIDS.search(text)) else "goal"
    section = cues.of_user(text)
    if section in {"correction", "preference", "eliminated"}:
        return section
    if strict:
        return "constraint"
    settled = cues.USER_DECISION.search(text) and not _INTERROGATIVE.search(text) and plain_words(text) >= 6 and not s.last_user
    return "decision" if settled else "goal"


def _told_in_chat(s: Said, weight: float) -> tuple[Section, float]:
    text = s.sentence.text
    if text.endswith((":", "：")) or plain_words(text) < 4 and text.isascii():
        return "goal", 0.2
    if _INTERROGATIVE.search(text) or not _FIRST_PERSON.search(text):
        return "goal", weight * (0.8 if s.last_user else 0.2)
    return "event", 1.8 * telling(text, {})


def _carried(group: Sequence[Said]) -> list[Item]:
    """A summary of an earlier part that a client put in front: its beginning says what was asked, the rest is notes."""
    out = []
    told = [s for s in group if plain_words(s.sentence.text) >= 4 and not _CARRIES.search(s.sentence.text)]
    for n, s in enumerate(told):
        if n >= 5 and s.sentence.text.endswith(":"):
            continue
        section: Section = "goal" if n < 5 and s.first else _settle(cues.of_agent(s.sentence.text, s.sentence.heading) or "work", s.age)
        weight = WEIGHT[section] * (1.0 if section == "goal" else 0.3)
        out.append(
            _item(s, section, weight=weight, trust="agent", why=_with_reason(told, n) if section in {"decision", "eliminated"} else "")
        )
    return out


def pasted(text: str) -> bool:
    """True for a line of a log, of data or of code that someone pasted."""
    if _DATA.search(text):
        return True
    if not text.isascii():
        return False
    words = plain_words(text)
    return words < 2 or words < 0.4 * len(text.split())


def _answer(head: Said, asked: Said, whole: str) -> Item:
    question = clean(asked.sentence.text)[-320:]
    text = f"Asked “{question}”, the user answered: {clean(whole)}"
    weight = WEIGHT["confirmation"] * fresh(head.age, "confirmation") * (2.0 if head.last_user else 1.0)
    return Item("confirmation", text, spans=(head.span, asked.span), weight=round(weight, 4), trust="user", at=head.message.at)


def _questions(messages: Sequence[Message], heard: Heard) -> dict[str, Said]:
    """For each user message, the last question of the agent's message before it."""
    out: dict[str, Said] = {}
    question: Said | None = None
    for message in messages:
        if message.role == "assistant":
            question = _asked(message, heard[message.id])
        elif voice(message) == "user" and question is not None:
            out[message.id] = question
            question = None
    return out


def _asked(message: Message, sentences: Sequence[Sentence]) -> Said | None:
    """The last question among the last sentences; of one that says only "this" or "which", with the sentence before it."""
    at = next((n for n in range(len(sentences) - 1, max(-1, len(sentences) - 5), -1) if _INTERROGATIVE.search(sentences[n].text)), None)
    if at is None:
        return None
    asked = sentences[at]
    if at and len(asked.text) < 80 and _POINTS_BACK.search(asked.text):
        before = sentences[at - 1]
        asked = Sentence(f"{before.text} {asked.text}", before.start, asked.end)
    return Said(message, asked, 0.0)


def agent_statements(messages: Sequence[Message], heard: Heard) -> list[Item]:
    """Decisions, ruled-out approaches, causes, fixes, open questions and outcomes in the agent's own sentences."""
    said = all_said(messages, ["agent"], heard)
    out: list[Item] = []
    seen: set[str] = set()
    final = said[-1].message.id if said else ""
    for n, s in enumerate(said):
        text = s.sentence.text
        key = text.casefold()
        words = plain_words(text)
        asked = s.message.id == final and bool(_INTERROGATIVE.search(text))
        if (
            key in seen
            or words < (2 if asked else 4)
            or cues.chatter(text)
            or len(text) > 700
            or _DATA.search(text)
            or text.endswith((":", "："))
        ):
            continue
        seen.add(key)
        section = _agent_section(s, final)
        if section is None:
            continue
        weight = WEIGHT[section] * fresh(s.age, section) * _density(text)
        if cues.NARRATION.match(text) and s.message.id != final:
            weight *= 0.5
        if s.message.id == final:
            weight *= 1.6
        out.append(
            _item(
                s,
                section,
                weight=weight,
                trust="agent",
                why=_with_reason(said, n) if section in {"decision", "eliminated", "error"} else "",
            )
        )
    return out


def shown_code(messages: Sequence[Message], *, detail: int, kept: Mapping[str, float]) -> list[Item]:
    """Code that the agent showed in its latest answers, each block with the sentence before it."""
    answers = [m for m in messages if m.role == "assistant" and "```" in m.text][-6:]
    out: list[Item] = []
    used: set[str] = set()
    for back, message in enumerate(reversed(answers)):
        room = max(120, int(detail * 0.75**back))
        for part in (p for p in parts(message) if p.kind == "text"):
            before = sentences(part.text, part.start)
            for block in _FENCED.finditer(part.text):
                start, end = part.start + block.start(1), part.start + block.end(1)
                lead = [s for s in before if s.end <= start]
                if plain_words(block.group(1)) < 4 or not names(block.group(1)):
                    continue
                words = clean(lead[-1].text) if lead and lead[-1].text not in used else "The same answer also shows"
                used.add(lead[-1].text if lead else "")
                text = f"{words} {quote(block.group(1), room, kept)}"
                spans = ((Span(message.id, lead[-1].start, lead[-1].end, message.turn),) if lead else ()) + (
                    Span(message.id, start, end, message.turn),
                )
                out.append(Item("work", text, spans=spans, weight=0.8, trust="agent", at=message.at))
    return out


def _agent_section(s: Said, final: str) -> Section | None:
    text = s.sentence.text
    last = s.message.id == final
    if _INTERROGATIVE.search(text):
        return "open" if last or s.age < 0.08 else None
    section = cues.of_agent(text, s.sentence.heading)
    if section is None:
        named = bool(names(text))
        if last or (s.age < 0.1 and named):
            return "state"
        return "work" if named and not cues.NARRATION.match(text) else None
    return section if last else _settle(section, s.age)


def _settle(section: Section, age: float) -> Section:
    """What was the state, the next step or a question long ago is by now part of what was done."""
    old = {"next": 0.15, "state": 0.2, "open": 0.5}.get(section, 2.0)
    return "work" if age > old else section


def _density(text: str) -> float:
    """How much a sentence says for its length: names and numbers add, length beyond a line takes away."""
    found = len(names(text))
    return (0.8 + min(0.6, 0.12 * found) + min(0.2, 0.05 * numbers(text))) * (1.0 if len(text) < 260 else 0.75)


def talk_statements(messages: Sequence[Message], heard: Heard, *, named: bool) -> list[Item]:
    """What people told one another: events, preferences, plans, people. Questions and cheering count for little."""
    said = all_said(messages, {voice(m) for m in messages}, heard)
    common = Counter(w for s in said for w in set(_WORD.findall(s.sentence.text.casefold())))
    out = []
    for n, s in enumerate(said):
        text = s.sentence.text
        if cues.chatter(text) or (plain_words(text) < 3 and text.isascii()) or len(text) < 4:
            continue
        asks = bool(_INTERROGATIVE.search(text))
        section: Section = "open" if asks else cues.of_talk(text) or "event"
        weight = telling(text, common) * (0.25 if asks else 1.0) * (1.2 if section in {"preference", "decision"} else 1.0)
        weight *= 2.0 * (0.85 + 0.15 * (1 - s.age))
        speaker = s.message.name if named else None
        shown = f"{speaker}: {clean(text)}" if speaker else clean(text)
        trust: Trust = "user" if s.message.role == "user" or named else "agent"
        out.append(_item(s, section, weight=weight, trust=trust, why=_with_reason(said, n) if section == "decision" else "", text=shown))
    return out


def telling(text: str, common: Mapping[str, int]) -> float:
    """From 0 to about 2.5: how much a sentence of a talk tells that is worth knowing later.

    Names, numbers, dates and what the speaker did, has or wants count; praise and answers that only make sense beside
    what they answer do not. In a language without cues, names, numbers, length and rare words remain.
    """
    words = set(_WORD.findall(text.casefold()))
    rare = sum(1 for w in words if common.get(w, 0) <= 2) / max(1, len(words))
    own, dated, happened = _FIRST_PERSON.search(text), _WHEN.search(text), _HAPPENED.search(text)
    score = 0.3 + 0.3 * rare + min(0.75, 0.25 * len(_PROPER.findall(text))) + min(0.4, 0.2 * numbers(text))
    score += 0.4 * bool(own) + 0.35 * bool(dated) + 0.35 * bool(happened)
    if _SECOND_PERSON.search(text) and not (own and (dated or happened)):
        score *= 0.55
    if _LEANING.match(text) and not dated:
        score *= 0.7
    if text.startswith("["):
        score *= 0.6
    if not text.isascii() and _WIDE.search(text):
        return (score + 0.4) * min(1.0, 0.3 + len(text) / 15)
    return score * min(1.0, 0.3 + len(words) / 10)

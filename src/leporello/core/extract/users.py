"""What a user says to an agent: requests, rules, choices and approvals, corrections, facts; reactions and small talk are dropped."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leporello.core.blocks import parts
from leporello.core.extract import cues
from leporello.core.extract.names import names, numbers, plain_words
from leporello.core.extract.said import CONTINUED, INTERROGATIVE, WEIGHT, Heard, Said, all_said, clean, fresh, item, reason, settle, voice
from leporello.core.extract.sentences import Sentence
from leporello.core.extract.standing import AGREED
from leporello.core.extract.talk import FIRST_PERSON, WHEN, telling
from leporello.records import Item, Message, Section, Span

NOTED = 1.5
"""The weight of what a user tells on the way: enough to be kept in its session, too little to become a fact."""
_WORD = re.compile(r"[^\W\d_]{4,}|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{2}")
_PROPER = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{2,}|^[A-Z][a-z]+ (?:says|said|wants|asked|asks|told|needs|thinks|confirmed|from)\b")
_NOISE = re.compile(
    r"^Full transcript available at|^\[(?:Request interrupted|Image|Pasted)|^(?:Caveat:|This session is being continued|<|\{|\[\d|https?://\S+$)"
)
_STRICT = re.compile(
    r"\b(?:(?<!I've )(?<!I’ve )(?<!have )(?<!had )(?<!has )(?<!was )never|must|(?<!can )always|(?<!to )make sure|ensure that|under no circumstances|mandatory|forbidden|not allowed|only (?:use|when|if)|at (?:most|least) \d|no more than|from now on|going forward|"
    r"niemals|auf keinen fall|darf|muss|immer|jamais|ne .{2,30} (?:pas|jamais)|il faut|toujours|nunca|jamás|no debes?|siempre)\b"
    r"|(?:^|[,;:.] |\b(?:please|and|but|so) )(?:do not|don['’]t|avoid|stop) (?!think|know|see|understand|believe|get|have|we|you)\w"
    r"|绝不|绝对不|不要|不能|必须|禁止|务必|決して|絶対に|必ず|しないで|никогда|нельзя|обязательно|절대|반드시",
    re.IGNORECASE,
)
_FORBIDS = re.compile(
    r"\W*(?:\w+[, ]+){0,3}?(?:never|must not|do not|don['’]t|always|niemals|keinesfalls|auf keinen fall|immer|jamais|ne |toujours|nunca|jamás|siempre)\b|.{0,6}(?:绝不|不要|禁止|必须|決して|必ず|никогда|нельзя)",
    re.IGNORECASE,
)
_WE = re.compile(
    r"\W*(?:(?:so|and|then|also|but)[, ]+)?(?:we|i|let['’]?s|wir|ich|lass uns|nous|on|je|hemos|vamos|我们|давай)\b", re.IGNORECASE
)
_TACKED = re.compile(
    r"[,;:.–—]+ (?:(?:and|but|so|please|also|aber|und|bitte|mais|et|pero|y) )*(?=(?:never|do not|don['’]t|must not|always|niemals|auf keinen fall|ne |jamais|nunca|no )\b)|[，,](?:但是?|而且)?(?=绝不|不要|禁止)",
    re.IGNORECASE,
)
_CARRIES = re.compile(
    r"let me (?:chronologically )?analy[sz]e|^analysis:?$|^summary:?$|without asking the user|continue the conversation", re.IGNORECASE
)
_DATA = re.compile(
    r"""^(?:assert |import |from \w+ import |(?:async )?def |class \w+[(:]|return |await |print\(|self\.|const |let |var |git |pip |npm |cd |sudo |[drwx-]{10} )|^[\w.\[\]"]+(?:\([^)]*\))? = |^[\w.]+\(.*\)$|^\[[^\]]+\]\([^)]*\)$|^["'][\w-]+["']:|^[\w./-]+:$|^\w[\w ]{0,24}: [/\w.-]+$|^[\w-]+ mode \d|^\[[\w ()-]+[0-9a-f]{7}\]|^(?:ok|FAIL|PASS)\s|\bat [\w./]+:\d+|^\w+ [0-9a-f]{7,}\b"""
)
_POINTS_BACK = re.compile(r"\b(?:this|that|it|these|those|which|either|das|dies\w*|cela|esto)\b|这|これ", re.IGNORECASE)
_LEANS = re.compile(
    r"^\W*(?:(?:yes|no|ok|well|so|and|but)[, ]+)*(?:that|this|it|those|these|he|she|they|i (?:just )?(?:said|know|see|think so)|das|es|c['’]est|ça|eso|那|这|それ)\b",
    re.IGNORECASE,
)
_BARE_NO = re.compile(r"^\W*(?:no|nope|wrong|stop|wait|nein|falsch|non|faux|错|不对|いや|違う|нет|아니)\W*$", re.IGNORECASE)
_CLAUSE = re.compile(r"[:,;—–] *(?:so |and |then )?|\bto (?=\w+ )")


@dataclass(frozen=True)
class Before:
    """What the agent said before a user's message: its last question, its last proposal, and its words."""

    asked: Said | None = None
    proposed: Said | None = None
    why: str = ""
    words: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _Ear:
    """What is known while a user's messages are read: a chat without tools or not, the session's words, whether the last word is the agent's."""

    chat: bool
    topic: Mapping[str, int]
    answered: bool


def requests(messages: Sequence[Message], heard: Heard, *, chat: bool = False) -> list[Item]:
    """What the user wanted, ruled, chose and told; the first request is the goal, answers are joined to their questions.

    In a chat without tools, what the user tells of themselves and their plans is kept rather than each question.
    """
    said = all_said(messages, ["user"], heard)
    by_message: dict[str, list[Said]] = {}
    for s in said:
        by_message.setdefault(s.message.id, []).append(s)
    before = _before(messages, heard)
    last = messages[-1] if messages else None
    answered = last is not None and last.role == "assistant" and bool(heard[last.id]) and all(p.kind != "call" for p in parts(last))
    ear = _Ear(chat, _topic(messages, heard), answered)
    out: list[Item] = []
    for group in by_message.values():
        out.extend(_message(group, before.get(group[0].message.id, Before()), ear))
    return out


def _topic(messages: Sequence[Message], heard: Heard) -> Counter[str]:
    """In how many messages of agents and of their calls each word (its first five letters) stands."""
    found: Counter[str] = Counter()
    for message in messages:
        if message.role == "assistant":
            words = {w for s in heard[message.id] for w in stems(s.text)}
            words.update(w for p in parts(message) if p.kind == "call" for w in stems(p.text[:2000]))
            found.update(words)
    return found


def stems(text: str) -> set[str]:
    """The words of `text` with four letters or more, cut to five."""
    return {w[:5] for w in _WORD.findall(text.casefold())}


def _message(group: Sequence[Said], before: Before, ear: _Ear) -> list[Item]:
    head = group[0]
    if CONTINUED.match(head.message.text):
        return _carried(group)
    whole = " ".join(s.sentence.text for s in group)
    asked = before.asked
    open_still = asked is not None and bool(cues.OPEN.search(asked.sentence.text) or cues.AGENT_NEXT.search(asked.sentence.text))
    if len(whole) < 120 and cues.CONFIRMATION.search(whole) and asked is not None and not open_still and not head.first:
        n = _end_of_answer(group)
        return [_answer(group[:n], asked), *_sentences(group[n:], before, ear)]
    own = [c for s in group if not pasted(s.sentence.text) for c in _clauses(s)] or list(group[:2])
    if not head.first and len(group) - len(own) > 5:
        own = [*own[:2], *own[-3:]] if len(own) > 5 else own
    out: list[Item] = []
    approved = _approves(own) if before.proposed is not None and not open_still else None
    if approved is not None:
        out.append(_approved(own[: approved + 1], before))
        own = own[approved + 1 :]
    return out + _sentences(own, before, ear)


def _clauses(s: Said) -> list[Said]:
    """A request and the rule that is tacked on to it ("Find out why, but never touch …") as two."""
    text = s.sentence.text
    found = _TACKED.search(text)
    if found is None or INTERROGATIVE.search(text) or not (cues.IMPERATIVE.search(text) or cues.REQUEST.search(text)):
        return [s]
    if plain_words(text[: found.start()]) < 2 or plain_words(text[found.end() :]) < 3:
        return [s]
    one = dataclasses.replace(s.sentence, text=text[: found.start()], end=s.sentence.start + found.start())
    two = dataclasses.replace(s.sentence, text=text[found.end() :], start=s.sentence.start + found.end())
    return [dataclasses.replace(s, sentence=one), dataclasses.replace(s, sentence=two)]


def _end_of_answer(group: Sequence[Said]) -> int:
    """How many sentences belong to the answer: up to the first that says something of its own."""
    for n, s in enumerate(group):
        text = s.sentence.text
        if (
            n
            and plain_words(text) >= 3
            and (_speaks(text) or cues.PREFERENCE.search(text) or cues.REMEMBER.search(text) or FIRST_PERSON.search(text))
        ):
            return n
    return len(group)


def _approves(own: Sequence[Said]) -> int | None:
    """The place of the last sentence of the approval with which the message begins, or None."""
    for n, s in enumerate(own[:3]):
        text = s.sentence.text
        rest = cues.APPROVAL.sub("", cues.APPROVAL.sub("", text)).strip(" ,.;:")
        if cues.APPROVAL.search(text) and not INTERROGATIVE.search(text) and not cues.IMPERATIVE.search(rest):
            fragment = n + 1 < len(own) and 1 < len(own[n + 1].sentence.text.split()) <= 6 and not _speaks(own[n + 1].sentence.text)
            return n + 1 if fragment else n
        if not (cues.chatter(text) or cues.CONFIRMATION.search(text)):
            return None
    return None


def _speaks(text: str) -> bool:
    """True for a sentence that asks, rules or corrects, and so is more than the end of an approval."""
    return bool(INTERROGATIVE.search(text) or _STRICT.search(text) or cues.IMPERATIVE.search(text) or cues.REQUEST.search(text))


def _approved(own: Sequence[Said], before: Before) -> Item:
    """What the agent proposed and the user approved: a decision of the user's."""
    proposed = before.proposed or own[0]
    start = cues.lead(proposed.sentence.text)
    answer = clean(" ".join(s.sentence.text for s in own if not _bare(s.sentence.text)) or own[-1].sentence.text)
    text = f"{clean(proposed.sentence.text[start:])}{AGREED}{answer}”"
    places = (
        Span(proposed.message.id, proposed.sentence.start + start, proposed.sentence.end, proposed.message.turn),
        Span(own[0].message.id, own[0].sentence.start, own[-1].sentence.end, own[0].message.turn),
    )
    weight = round(WEIGHT["decision"] * 1.2 * fresh(own[0].age, "decision"), 4)
    return Item("decision", text, why=before.why, spans=places, weight=weight, trust="user", at=own[0].message.at)


def _bare(text: str) -> bool:
    """A greeting, thanks, or a yes without anything else."""
    return cues.chatter(text) or (bool(cues.CONFIRMATION.search(text)) and len(text.split()) <= 2)


def _sentences(own: Sequence[Said], before: Before, ear: _Ear) -> list[Item]:
    out: list[Item] = []
    used = False
    for n, s in enumerate(own):
        text = s.sentence.text
        if used or len(text) < 4 or _NOISE.search(text):
            used = False
            continue
        refused = n > 0 and bool(_BARE_NO.search(own[n - 1].sentence.text))
        section = _section(s, n, before, ear, refused=refused)
        if section in {None, "event"} and n + 1 < len(own) and _leads(text, own[n + 1].sentence.text):
            s, section, used = _joined(s, own[n + 1]), "goal", True
        if section is None:
            continue
        weight = _weight(s, n, section, ear)
        if section == "correction" and plain_words(text) < 5 and n + 1 < len(own) and not _speaks(own[n + 1].sentence.text):
            s, used = _joined(s, own[n + 1]), True
        why = "" if section == "goal" else reason(own, n)
        out.append(item(s, section, weight=weight, trust="user", why=why))
        if section == "correction" and (choice := _chosen(s)) is not None:
            out.append(item(choice, "decision", weight=WEIGHT["decision"] * 1.3, trust="user", why=reason(own, n)))
        if why and len(out) > 1 and out[-2].section == "event" and out[-2].text == why:
            out.pop(-2)
        used = used or bool(why) and n + 1 < len(own) and why == clean(own[n + 1].sentence.text)[:240]
    return out


def _joined(s: Said, after: Said) -> Said:
    """Two sentences that only make sense together, as one."""
    between = s.message.text[s.sentence.end : after.sentence.start] or " "
    text = f"{s.sentence.text}{between}{after.sentence.text}"
    return dataclasses.replace(s, sentence=Sentence(text, s.sentence.start, after.sentence.end, s.sentence.heading, s.sentence.item))


def _leads(text: str, following: str) -> bool:
    """True for the statement that a short request after it is about ("… skip the index. Can you check?")."""
    if plain_words(text) < 5 or INTERROGATIVE.search(text) or _reaction(text) or _small_talk(text):
        return False
    asks = cues.REQUEST.search(following) or cues.IMPERATIVE.search(following)
    return bool(asks) and (plain_words(following) < 5 or bool(re.search(r"\b(?:that|this|it|them)\W*$", following)))


def _chosen(s: Said) -> Said | None:
    """The choice within a correction ("I changed my mind: drop X and use Y instead"), as a sentence of its own."""
    text = s.sentence.text
    found = cues.CHANGED_MIND.search(text)
    if found is None:
        return s if cues.DROPPED.search(text) and cues.CHOICE.search(text) else None
    clause = _CLAUSE.search(text, found.end())
    start = clause.end() if clause else 0
    if plain_words(text[start:]) < 3 and text.isascii():
        return None
    return dataclasses.replace(s, sentence=Sentence(text[start:], s.sentence.start + start, s.sentence.end))


def _section(s: Said, n: int, before: Before, ear: _Ear, *, refused: bool) -> Section | None:
    text = s.sentence.text
    if INTERROGATIVE.search(text):
        return _question(s, ear)
    ruled = _ruled(s, n, before, refused=refused)
    if ruled is not None:
        return ruled
    if cues.chatter(text) or _reaction(text):
        return None
    if ear.chat and not s.first:
        return _in_chat(s)
    if cues.OPEN.search(text) and not cues.IMPERATIVE.search(text):
        return "open"
    if cues.IMPERATIVE.search(text[cues.lead(text) :]) or cues.REQUEST.search(text):
        return "goal"
    if s.first:
        vague = (
            len(text) < 40
            and plain_words(text) < 6
            and bool(_WE.match(text) or _LEANS.match(text))
            and not names(text)
            and not numbers(text)
        )
        return None if vague else "goal"
    if cues.OWN_STEP.search(text):
        return "next" if s.age < 0.35 else "event" if _informs(text, ear) else None
    return "event" if _informs(text, ear) else None


def _question(s: Said, ear: _Ear) -> Section | None:
    """A question is a task when it asks for something to be done, is the first or the last thing said, or names what it is about."""
    text = s.sentence.text
    if cues.OPEN.search(text):
        return "open"
    if s.first or cues.REQUEST.search(text):
        return "goal" if s.first or plain_words(text) >= 4 or names(text) or not text.isascii() else None
    if cues.CORRECTION.search(text) and len(text) > 12 and not ear.chat:
        return "correction"
    if s.last_user and not ear.answered and (plain_words(text) >= 3 or not text.isascii()):
        return "goal"
    return "goal" if names(text) and not ear.chat else None


def _ruled(s: Said, n: int, before: Before, *, refused: bool) -> Section | None:
    """The section of a sentence that corrects, rules, prefers or chooses; None for the others."""
    text = s.sentence.text
    strict = bool(_STRICT.search(text))
    if cues.CHANGED_MIND.search(text):
        return "correction"
    if cues.REMEMBER.search(text):
        return "constraint" if strict or cues.RULE.search(text) else "event"
    if s.first:
        return _ruled_first(text, strict=strict)
    if cues.CORRECTION.search(text) and len(text) > 12:
        return "correction"
    if refused:
        return "constraint" if plain_words(text) >= 3 else "correction"
    if _small_talk(text):
        return None
    if cues.ELIMINATED.search(text) and not strict:
        return "eliminated"
    if strict or (cues.RULE.search(text) and not _LEANS.search(text)):
        return "constraint"
    if cues.PREFERENCE.search(text):
        return "preference"
    chosen = cues.CHOICE.search(text) and plain_words(text) >= 4 and not s.last_user
    return "decision" if chosen or _answers(text, before) else None


def _ruled_first(text: str, *, strict: bool) -> Section | None:
    """In the first message only what is no request itself: a rule, a preference, a choice that was made."""
    asks = bool(cues.REQUEST.search(text) or cues.IMPERATIVE.search(text))
    if strict and (not asks or _FORBIDS.match(text)):
        return "constraint"
    if cues.CHOICE.search(text) and _WE.match(text):
        return "decision"
    if asks:
        return None
    if cues.ELIMINATED.search(text):
        return "eliminated"
    if cues.RULE.search(text) and cues.CONSTRAINT.search(text):
        return "constraint"
    return "preference" if cues.PREFERENCE.search(text) else None


def _answers(text: str, before: Before) -> bool:
    """True when an imperative takes up what the agent offered to choose from."""
    if before.asked is None or not cues.IMPERATIVE.search(text):
        return False
    own = stems(text)
    return len(own) >= 2 and len(own & before.words) >= max(2, (2 * len(own) + 2) // 3)


def _reaction(text: str) -> bool:
    """True for praise, assent and remarks that only make sense beside what they answer."""
    if names(text) or numbers(text) or _PROPER.search(text) or cues.REQUEST.search(text) or cues.IMPERATIVE.search(text):
        return False
    if cues.CONFIRMATION.search(text) and plain_words(text) <= 6 and text.isascii():
        return True
    return text.isascii() and (plain_words(text) < 3 or bool(_LEANS.search(text)) and len(text) < 80)


def _small_talk(text: str) -> bool:
    return bool(cues.SMALL_TALK.search(text)) and not names(text) and not _PROPER.search(text)


def _informs(text: str, ear: _Ear) -> bool:
    """True when a plain statement tells something about what the session is about."""
    if _small_talk(text):
        return False
    if names(text) or (numbers(text) and plain_words(text) >= 3) or not text.isascii():
        return True
    known = sum(1 for w in stems(text) if ear.topic.get(w, 0))
    return plain_words(text) >= 4 and (bool(_PROPER.search(text)) or bool(WHEN.search(text)) and known >= 1 or known >= 3)


def _in_chat(s: Said) -> Section | None:
    """In a chat without tools: requests that stand at the end, and what the user tells of themselves."""
    text = s.sentence.text
    if text.endswith((":", "：")) or (plain_words(text) < 4 and text.isascii()):
        return None
    if FIRST_PERSON.search(text) and not (cues.IMPERATIVE.search(text) and not WHEN.search(text)):
        return "event"
    if cues.IMPERATIVE.search(text) or cues.REQUEST.search(text):
        return "goal"
    return "event" if names(text) or numbers(text) or _PROPER.search(text) or not text.isascii() else None


def _weight(s: Said, n: int, section: Section, ear: _Ear) -> float:
    text = s.sentence.text
    weight = WEIGHT[section] * fresh(s.age, section) * (1.0 if n < 8 else 0.4 if n < 16 else 0.15)
    if section == "goal" and not s.first:
        asks = INTERROGATIVE.search(text) and not cues.REQUEST.search(text)
        return weight * (
            0.8
            if s.last_user
            else 0.1
            if text.isascii() and len(text) < (40 if text.endswith(":") else 20)
            else 0.15
            if asks
            else 0.2
            if ear.chat
            else 0.4
        )
    if section == "event":
        if cues.REMEMBER.search(text):
            return WEIGHT["event"] * 1.3
        return 1.8 * telling(text, {}) if ear.chat else NOTED * (0.7 + 0.3 * fresh(s.age, section))
    return weight * (1.3 if section == "decision" else 1.0)


def _carried(group: Sequence[Said]) -> list[Item]:
    """A summary of an earlier part that a client put in front: its beginning says what was asked, the rest is notes."""
    out = []
    told = [s for s in group if plain_words(s.sentence.text) >= 4 and not _CARRIES.search(s.sentence.text)]
    for n, s in enumerate(told):
        if n >= 5 and s.sentence.text.endswith(":"):
            continue
        section: Section = "goal" if n < 5 and s.first else settle(cues.of_agent(s.sentence.text, s.sentence.heading) or "work", s.age)
        weight = WEIGHT[section] * (1.0 if section == "goal" else 0.3)
        out.append(item(s, section, weight=weight, trust="agent", why=reason(told, n) if section in {"decision", "eliminated"} else ""))
    return out


def pasted(text: str) -> bool:
    """True for a line of a log, of data or of code that someone pasted."""
    if _DATA.search(text):
        return True
    if not text.isascii():
        return False
    words = plain_words(text)
    return words < 2 or words < 0.4 * len(text.split())


def data(text: str) -> bool:
    """True for a line that has the form of code, of a log or of data."""
    return bool(_DATA.search(text))


def _answer(group: Sequence[Said], asked: Said) -> Item:
    head = group[0]
    question = clean(asked.sentence.text)[-320:]
    told = [s for s in group if not cues.chatter(s.sentence.text) and not _small_talk(s.sentence.text)] or list(group[:1])
    whole = clean(" ".join(s.sentence.text for s in told))
    text = f"Asked “{question}”, the user answered: {whole}"
    weight = WEIGHT["confirmation"] * fresh(head.age, "confirmation") * (2.0 if head.last_user else 1.0)
    return Item("confirmation", text, spans=(told[0].span, asked.span), weight=round(weight, 4), trust="user", at=head.message.at)


def _before(messages: Sequence[Message], heard: Heard) -> dict[str, Before]:
    """For each user message, what the agent's message before it asked and proposed."""
    out: dict[str, Before] = {}
    now: Before | None = None
    for message in messages:
        if message.role == "assistant":
            told = heard[message.id]
            now = Before(asked(message, told), *_proposed(message, told), frozenset(w for s in told[-4:] for w in stems(s.text)))
        elif voice(message) == "user" and now is not None:
            out[message.id] = now
            now = None
    return out


def _proposed(message: Message, told: Sequence[Sentence]) -> tuple[Said | None, str]:
    """The agent's last proposal in a message, and its reason."""
    for n in range(len(told) - 1, -1, -1):
        text = told[n].text
        if cues.PROPOSAL.search(text) and not INTERROGATIVE.search(text) and len(text) < 400:
            group = [Said(message, s, 0.0) for s in told]
            return group[n], reason(group, n)
    return None, ""


def asked(message: Message, told: Sequence[Sentence]) -> Said | None:
    """The last question among the last sentences; of one that says only "this" or "which", with the sentence before it."""
    at = next((n for n in range(len(told) - 1, max(-1, len(told) - 5), -1) if INTERROGATIVE.search(told[n].text)), None)
    if at is None:
        return None
    question = told[at]
    if at and len(question.text) < 80 and _POINTS_BACK.search(question.text):
        before = told[at - 1]
        question = Sentence(f"{before.text} {question.text}", before.start, question.end)
    return Said(message, question, 0.0)

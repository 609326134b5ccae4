"""What was said, sentence by sentence: which sentences of users, agents and people talking to one another are worth keeping."""

from __future__ import annotations

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
_FIRST_PERSON = re.compile(r"\b(?:I|my|me|we|our|I['’]\w+|ich|mein\w*|wir|je|j['’]|mon|ma|nous|yo|mi|mis|nosotros)\b|我|私|僕|я|мой|나는|제", re.IGNORECASE)
_NOISE = re.compile(r"^\[(?:Request interrupted|Image|Pasted)|^(?:Caveat:|This session is being continued|<|\{|\[\d|https?://\S+$)")
_INTERROGATIVE = re.compile(r"[?？]\W*$")
_CONTINUED = re.compile(r"^\s*(?:This session is being continued from a previous conversation)", re.IGNORECASE)
_SKILL = re.compile(r"^\s*(?:Base directory for this skill|# AGENTS\.md instructions|Caveat:|<)", re.IGNORECASE)
_STRICT = re.compile(
    r"\b(?:never|must|do not|don['’]t|always|make sure|ensure|required|avoid|important|mandatory|forbidden|only (?:use|when|if)|niemals|auf keinen fall|darf|muss|jamais|ne .{2,30} (?:pas|jamais)|il faut|nunca|jamás|no debes?|siempre)\b"
    r"|绝不|绝对不|不要|不能|必须|禁止|务必|決して|絶対に|必ず|しないで|никогда|нельзя|обязательно|절대|반드시",
    re.IGNORECASE,
)
_CARRIES = re.compile(r"let me (?:chronologically )?analy[sz]e|^analysis:?$|^summary:?$|without asking the user|continue the conversation", re.IGNORECASE)
_DATA = re.compile(r"""^["'][\w-]+["']:|^[\w./-]+:$|^\w[\w ]{0,24}: [/\w.-]+$|^[\w-]+ mode \d|^\[[\w ()-]+[0-9a-f]{7}\]|^(?:ok|FAIL|PASS)\s|\bat [\w./]+:\d+|^\w+ [0-9a-f]{7,}\b""")
_FENCED = re.compile(r"^[ \t]*```[^\n]*\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)
_LOG = re.compile(r"^(?:\d{2,4}[-/:]\d{2}|\[?\d{1,2}:\d{2}|\s*at \S+\(|>>>|\$ |[+-]{3} |@@ |\w+/\S+:\d+|[A-Z_]{4,}[=:]|--- |=== )|[{};]$|\)\s*\{$|=>$")


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
        if part.kind == "text" and part.text.strip():
            clean = hide(part.text)
            for offset, text in excerpt(clean):
                out.extend(s for s in sentences(text, part.start + offset) if not _LOG.search(s.text))
    return out


def is_wrapper(message: Message) -> bool:
    """True for a user message that a client wrote: instructions of a skill, a caveat."""
    return bool(_SKILL.match(message.text))


def all_said(messages: Sequence[Message], role: Iterable[str]) -> list[Said]:
    """The sentences of the messages with these roles, in order."""
    wanted, count = set(role), max(1, len(messages) - 1)
    users = [m for m in messages if m.role == "user" and spoken(m) and not is_wrapper(m)]
    last = users[-1].id if users else None
    first = users[0].id if users else None
    out = []
    for n, message in enumerate(messages):
        if message.role in wanted:
            out.extend(Said(message, s, 1 - n / count, message.id == last, message.id == first) for s in spoken(message))
    return out


def fresh(age: float, section: Section) -> float:
    """How much of its weight a sentence of this age keeps: lasting sections fade little, the rest by half each fifth of the session."""
    return 0.7 + 0.3 * 0.5 ** (age / 0.25) if section in LASTING else 0.25 + 0.75 * 0.5 ** (age / 0.12)


def _with_reason(group: Sequence[Said], n: int, within: Sequence[Said] = ()) -> str:
    group = within or group
    text = group[n].sentence.text
    why = cues.reason(text)
    if not why and n + 1 < len(group) and group[n + 1].message is group[n].message and cues.EXPLAINS.search(group[n + 1].sentence.text):
        why = group[n + 1].sentence.text
    return why[:240]


def _item(said: Said, section: Section, *, weight: float, trust: Trust, why: str = "", text: str = "") -> Item:
    return Item(section, text or clean(said.sentence.text), why=why, spans=(said.span,), weight=round(weight, 4), trust=trust, at=said.message.at)


def clean(text: str) -> str:
    """The sentence on one line; the cells of a table's row are told apart by colons."""
    if text.startswith("|"):
        text = ": ".join(c.strip() for c in text.strip("| ").split("|") if c.strip())
    return " ".join(text.split())


def requests(messages: Sequence[Message]) -> list[Item]:
    """What the user asked for: the first request is the goal, later ones change it; answers are joined to their questions."""
    said = all_said(messages, ["user"])
    out: list[Item] = []
    by_message: dict[str, list[Said]] = {}
    for s in said:
        by_message.setdefault(s.message.id, []).append(s)
    before = _questions(messages)
    for group in by_message.values():
        if not is_wrapper(group[0].message) or len(by_message) == 1:
            out.extend(_request(group, asked=before.get(group[0].message.id)))
    return out


def _request(group: Sequence[Said], *, asked: Said | None) -> list[Item]:
    head = group[0]
    if _CONTINUED.match(head.message.text):
        return _carried(group)
    whole = " ".join(s.sentence.text for s in group)
    if len(whole) < 120 and cues.CONFIRMATION.search(whole) and asked is not None and not head.first:
        return [_answer(head, asked, whole)]
    out = []
    own = [s for s in group if not pasted(s.sentence.text)] or list(group[:2])
    if not head.first and len(group) > 12 and len(own) < 0.8 * len(group):
        own = [*own[:3], *own[-3:]] if len(own) > 6 else own
    for n, s in enumerate(own):
        text = s.sentence.text
        if cues.chatter(text) or len(text) < 4 or _NOISE.search(text):
            continue
        section = _user_section(s, n)
        weight = WEIGHT[section] * fresh(s.age, section) * (1.0 if n < 8 else 0.4 if n < 16 else 0.15)
        if section == "goal":
            weight *= 1.0 if s.first else 0.8 if s.last_user else 0.4
        out.append(_item(s, section, weight=weight, trust="user", why=_with_reason(group, n, own) if section != "goal" else ""))
    return out


def _user_section(s: Said, n: int) -> Section:
    text = s.sentence.text
    if s.first:
        return "constraint" if n > 1 and _STRICT.search(text) else "goal"
    section = cues.of_user(text)
    return "goal" if section in {None, "error", "open", "decision"} or (section == "constraint" and not _STRICT.search(text)) else section


def _carried(group: Sequence[Said]) -> list[Item]:
    """A summary of an earlier part that a client put in front: its beginning says what was asked, the rest is notes."""
    out = []
    told = [s for s in group if plain_words(s.sentence.text) >= 4 and not _CARRIES.search(s.sentence.text)]
    for n, s in enumerate(told):
        section: Section = "goal" if n < 5 else cues.of_agent(s.sentence.text, s.sentence.heading) or "work"
        weight = WEIGHT[section] * (1.0 if n < 5 else 0.3)
        out.append(_item(s, section, weight=weight, trust="agent", why=_with_reason(told, n) if section in {"decision", "eliminated"} else ""))
    return out


def pasted(text: str) -> bool:
    """True for a line of a log, of data or of code that someone pasted."""
    if not text.isascii():
        return False
    words = plain_words(text)
    return words < 2 or words < 0.4 * len(text.split()) or bool(_DATA.search(text))


def _answer(head: Said, asked: Said, whole: str) -> Item:
    question = clean(asked.sentence.text)[:220]
    text = f"Asked “{question}”, the user answered: {clean(whole)}"
    weight = WEIGHT["confirmation"] * fresh(head.age, "confirmation") * (2.0 if head.last_user else 1.0)
    return Item("confirmation", text, spans=(head.span, asked.span), weight=round(weight, 4), trust="user", at=head.message.at)


def _questions(messages: Sequence[Message]) -> dict[str, Said]:
    """For each user message, the last question of the agent's message before it."""
    out: dict[str, Said] = {}
    question: Said | None = None
    for message in messages:
        if message.role == "assistant":
            asked = [s for s in spoken(message)[-4:] if _INTERROGATIVE.search(s.text)]
            question = Said(message, asked[-1], 0.0) if asked else None
        elif message.role == "user" and question is not None:
            out[message.id] = question
            question = None
    return out


def agent_statements(messages: Sequence[Message]) -> list[Item]:
    """Decisions, ruled-out approaches, causes, fixes, open questions and outcomes in the agent's own sentences."""
    said = all_said(messages, ["assistant"])
    out: list[Item] = []
    seen: set[str] = set()
    final = said[-1].message.id if said else ""
    for n, s in enumerate(said):
        text = s.sentence.text
        key = text.casefold()
        words = plain_words(text)
        if key in seen or words < 3 or cues.chatter(text) or len(text) > 700 or text.endswith((":", "：")):
            continue
        seen.add(key)
        section = _agent_section(s, final)
        if section is None:
            continue
        weight = WEIGHT[section] * fresh(s.age, section) * _density(text)
        if cues.NARRATION.match(text):
            weight *= 0.5
        if s.message.id == final:
            weight *= 1.6
        out.append(_item(s, section, weight=weight, trust="agent", why=_with_reason(said, n) if section in {"decision", "eliminated", "error"} else ""))
    return out


def shown_code(messages: Sequence[Message], *, detail: int, kept: Mapping[str, float]) -> list[Item]:
    """Code that the agent showed in its latest answers, each block with the sentence before it."""
    answers = [m for m in messages if m.role == "assistant" and "```" in m.text][-6:]
    out = []
    for back, message in enumerate(reversed(answers)):
        room = max(120, int(detail * 0.75**back))
        for part in (p for p in parts(message) if p.kind == "text"):
            before = sentences(part.text, part.start)
            for block in _FENCED.finditer(part.text):
                start, end = part.start + block.start(1), part.start + block.end(1)
                lead = [s for s in before if s.end <= start]
                if plain_words(block.group(1)) < 4 or not names(block.group(1)):
                    continue
                text = f"{clean(lead[-1].text) if lead else 'The answer showed'} {quote(block.group(1), room, kept)}"
                spans = ((Span(message.id, lead[-1].start, lead[-1].end, message.turn),) if lead else ()) + (Span(message.id, start, end, message.turn),)
                out.append(Item("work", text, spans=spans, weight=0.8, trust="agent", at=message.at))
    return out


def _agent_section(s: Said, final: str) -> Section | None:
    text = s.sentence.text
    if _INTERROGATIVE.search(text):
        return "open" if s.message.id == final or s.age < 0.08 else None
    section = cues.of_agent(text, s.sentence.heading)
    if section == "next" and s.age > 0.15:
        return "work"
    if section == "open" and s.age > 0.5:
        return "work"
    if section is None and (s.message.id == final or (s.age < 0.1 and names(text))):
        return "state"
    if section is None and names(text) and not cues.NARRATION.match(text):
        return "work"
    return section


def _density(text: str) -> float:
    """How much a sentence says for its length: names and numbers add, length beyond a line takes away."""
    found = len(names(text))
    return (0.8 + min(0.6, 0.12 * found) + min(0.2, 0.05 * numbers(text))) * (1.0 if len(text) < 260 else 0.75)


def talk_statements(messages: Sequence[Message], *, named: bool) -> list[Item]:
    """What people told one another: events, preferences, plans, people. Questions and cheering are left out."""
    said = all_said(messages, {m.role for m in messages})
    common = Counter(w for s in said for w in set(_WORD.findall(s.sentence.text.casefold())))
    out = []
    for n, s in enumerate(said):
        text = s.sentence.text
        if cues.chatter(text) or (plain_words(text) < 3 and text.isascii()) or len(text) < 4:
            continue
        asks = bool(_INTERROGATIVE.search(text))
        section: Section = ("open" if asks else cues.of_talk(text) or "event")
        weight = _telling(text, common) * (0.3 if asks else 1.0)
        weight *= WEIGHT[section] * (0.85 + 0.15 * (1 - s.age))
        speaker = s.message.name if named else None
        shown = f"{speaker}: {clean(text)}" if speaker else clean(text)
        trust: Trust = "user" if s.message.role == "user" or named else "agent"
        out.append(_item(s, section, weight=weight, trust=trust, why=_with_reason(said, n) if section == "decision" else "", text=shown))
    return out


def _telling(text: str, common: Counter[str]) -> float:
    words = set(_WORD.findall(text.casefold()))
    rare = sum(1 for w in words if common[w] <= 2) / max(1, len(words))
    central = sum(1 for w in words if 2 < common[w]) / max(1, len(words))
    score = 0.5 + 0.4 * rare + 0.2 * central + min(0.5, 0.2 * len(_PROPER.findall(text))) + min(0.4, 0.2 * numbers(text))
    score += 0.35 if _FIRST_PERSON.search(text) else 0.0
    return score * min(1.0, 0.4 + len(words) / 10)

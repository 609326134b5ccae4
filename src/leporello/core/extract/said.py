"""Who said which sentence, when: what the readers of users, agents and talks share."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from leporello.core.blocks import parts
from leporello.core.extract import cues
from leporello.core.extract.sentences import Sentence, excerpt, hide, sentences
from leporello.records import Item, Message, Section, Span, Trust

WEIGHT: dict[Section, float] = {
    "goal": 10.0, "constraint": 5.0, "correction": 5.0, "decision": 4.5, "eliminated": 4.0, "confirmation": 2.6, "preference": 3.4, "open": 2.2,
    "next": 2.2, "state": 2.4, "error": 1.8, "event": 2.2, "work": 1.0, "result": 1.0, "pattern": 2.0,
}  # fmt: skip
LASTING: frozenset[Section] = frozenset({"goal", "constraint", "decision", "eliminated", "preference", "correction", "event"})
INTERROGATIVE = re.compile(r"[?？]\W*$")
CONTINUED = re.compile(r"^\s*(?:This session is being continued from a previous conversation)", re.IGNORECASE)
_CLIENT = re.compile(
    r"^\s*(?:Base directory for this skill|# AGENTS\.md instructions|Caveat:|\[Request interrupted|Launching skill:|Observation:|<returncode>|Message Type: MESSAGE|(?P<tag><(?!command-args|bash-input|task>|issue|question|request|user_query|prompt)([\w -]+)>)(?s:.*)</\2>\s*$)",
    re.IGNORECASE,
)
_LOG = re.compile(
    r"^(?:\d{2,4}[-/:]\d{2}|\[?\d{1,2}:\d{2}|\s*at \S+\(|>>>|\$ |[+-]{3} |@@ |\w+/\S+:\d+|[A-Z_]{4,}[=:]|--- |=== )|[{};]$|\)\s*\{$|=>$"
)


_ROLE_NAMES = {"user", "assistant", "human", "ai", "system", "tool"}


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


def talks(messages: Sequence[Message]) -> bool | None:
    """Whether people talk with one another, and then if they are named; None for a user with an agent."""
    if any(part.kind == "call" for m in messages for part in parts(m)):
        return None
    speakers = {m.name for m in messages if m.name and m.name.casefold() not in _ROLE_NAMES}
    return bool(speakers) if len(speakers) >= 2 or all(m.role != "assistant" for m in messages) else None


def voice(message: Message) -> str:
    """Whose words a message holds: a user's, an agent's (also what a client or a sub-agent says in the user's place), or its role."""
    if message.role == "user":
        return "user" if message.trust == "user" or CONTINUED.match(message.text) else "agent"
    return "agent" if message.role == "assistant" else message.role


def all_said(messages: Sequence[Message], voices: Iterable[str], heard: Heard) -> list[Said]:
    """The sentences of the messages with these voices, in order."""
    wanted, count = set(voices), max(1, len(messages) - 1)
    users = [m for m in messages if voice(m) == "user" and any(not cues.chatter(s.text) for s in heard[m.id])]
    last = users[-1].id if users else None
    first = users[0].id if users and messages[0].pos <= 1 else None
    out: list[Said] = []
    for n, message in enumerate(messages):
        if voice(message) in wanted:
            out.extend(Said(message, s, 1 - n / count, message.id == last, message.id == first) for s in heard[message.id])
    return out


def fresh(age: float, section: Section) -> float:
    """How much of its weight a sentence of this age keeps: lasting sections fade little, the rest by half each fifth of the session."""
    return 0.7 + 0.3 * math.exp2(-age / 0.25) if section in LASTING else 0.25 + 0.75 * math.exp2(-age / 0.12)


def reason(group: Sequence[Said], n: int) -> str:
    """Why what the sentence says was chosen or ruled out: its own clause, or the sentence beside it that explains it."""
    here = group[n]
    text = here.sentence.text
    why = cues.reason(text)
    if not why and n + 1 < len(group) and group[n + 1].message is here.message and cues.EXPLAINS.search(group[n + 1].sentence.text):
        why = clean(group[n + 1].sentence.text)
    if not why and n and group[n - 1].message is here.message and cues.THEREFORE.match(text):
        why = clean(group[n - 1].sentence.text)
    return why[:240]


def item(said: Said, section: Section, *, weight: float, trust: Trust, why: str = "", text: str = "") -> Item:
    """The sentence as an item; what only leads up to it ("so", "remember that", "one rule before you start:") is left out of text and span."""
    start, shown = 0, text
    if not shown:
        start = cues.lead(said.sentence.text)
        shown = clean(said.sentence.text[start:])
    place = Span(said.message.id, said.sentence.start + start, said.sentence.end, said.message.turn)
    return Item(section, shown, why=why, spans=(place,), weight=round(weight, 4), trust=trust, at=said.message.at)


def settle(section: Section, age: float) -> Section:
    """What was the state, the next step or a question long ago is by now part of what was done."""
    old = {"next": 0.15, "state": 0.2, "open": 0.5}.get(section, 2.0)
    return "work" if age > old else section


def clean(text: str) -> str:
    """The sentence on one line; the cells of a table's row are told apart by colons."""
    if text.startswith("|"):
        text = ": ".join(c.strip() for c in text.strip("| ").split("|") if c.strip())
    return " ".join(text.replace("**", "").split())

"""What an agent says: what it chose, ruled out, found, finished and left open, in its own sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from leporello.core.blocks import parts
from leporello.core.extract import cues
from leporello.core.extract.calls import code
from leporello.core.extract.names import names, numbers, plain_words
from leporello.core.extract.said import INTERROGATIVE, WEIGHT, Heard, Said, all_said, clean, fresh, item, reason, settle, voice
from leporello.core.extract.sentences import sentences
from leporello.core.extract.users import data, stems
from leporello.records import Item, Message, Section, Span

ENDINGS = 3
"""How many of the last messages in which an agent concludes something tell the current state."""
_SUPPOSED = re.compile(r"\b(?:would|could|might|may|should|assumed?)\b|\bif\b", re.IGNORECASE)
_FENCED = re.compile(r"^[ \t]*```[^\n]*\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)


def agent_statements(messages: Sequence[Message], heard: Heard, told: frozenset[tuple[str, int]] = frozenset()) -> list[Item]:
    """Decisions, ruled-out approaches, causes, fixes, open questions and outcomes in the agent's own sentences.

    `told` are sentences (message id, end) that another item holds already.
    """
    said = all_said(messages, ["agent"], heard)
    ends = _endings(said)
    replied, before = _replied(messages), _before(messages, heard)
    out: list[Item] = []
    seen: set[str] = set()
    for n, s in enumerate(said):
        text = s.sentence.text
        key = text.casefold()
        if key in seen or (s.message.id, s.sentence.end) in told or not _speaks(text, asked=s.message.id not in replied):
            continue
        seen.add(key)
        section = _section(s, ends, open_still=s.message.id not in replied)
        if section is None or (section != "state" and _echoes(text, before.get(s.message.id, frozenset()))):
            continue
        weight = WEIGHT[section] * fresh(s.age, section) * _density(text)
        if cues.NARRATION.match(text) and s.message.id not in ends[:1]:
            weight *= 0.5
        if s.message.id in ends:
            weight *= 1.6 - 0.2 * ends.index(s.message.id)
        why = reason(said, n) if section in {"decision", "eliminated", "error"} else ""
        out.append(item(s, section, weight=weight, trust="agent", why=why))
    return out


def _speaks(text: str, *, asked: bool) -> bool:
    """False for chatter, fragments, lines that only introduce others, and lines of data."""
    if cues.chatter(text) or len(text) > 700 or text.endswith((":", "：")) or data(text):
        return False
    return plain_words(text) >= (2 if asked and INTERROGATIVE.search(text) else 4)


def _before(messages: Sequence[Message], heard: Heard) -> dict[str, frozenset[str]]:
    """For each agent's message that answers a user's, the words of that."""
    out: dict[str, frozenset[str]] = {}
    words: frozenset[str] = frozenset()
    for message in messages:
        if voice(message) == "user":
            words = frozenset(w for s in heard[message.id] for w in _content(s.text))
        elif message.role == "assistant":
            out[message.id], words = words, frozenset()
    return out


def _content(text: str) -> set[str]:
    return stems(text) | set(re.findall(r"\d+", text))


def _echoes(text: str, before: frozenset[str]) -> bool:
    """True when a sentence says again what the user has just said."""
    own = _content(text[cues.lead(text) :])
    shared = len(own & before)
    return shared >= 3 and shared > 0.5 * len(own)


def _endings(said: Sequence[Said]) -> list[str]:
    """The last messages that conclude something, newest first."""
    found: list[str] = []
    for s in reversed(said):
        if s.message.id not in found and not cues.chatter(s.sentence.text) and _concludes(s.sentence.text):
            found.append(s.message.id)
        if len(found) == ENDINGS or s.age > 0.3:
            break
    return found


def _concludes(text: str) -> bool:
    return bool(names(text) or numbers(text) or cues.DONE.search(text) or cues.AGENT_NEXT.search(text) or cues.OPEN.search(text))


def _replied(messages: Sequence[Message]) -> set[str]:
    """The agent's messages after which the user said something."""
    out: set[str] = set()
    for n, message in enumerate(messages):
        if voice(message) == "user" and any(p.kind == "text" and p.text.strip() for p in parts(message)):
            out.update(m.id for m in messages[max(0, n - 4) : n])
    return out


def _section(s: Said, ends: Sequence[str], *, open_still: bool) -> Section | None:
    text = s.sentence.text
    if INTERROGATIVE.search(text):
        noted = cues.OPEN.search(text) and s.age < 0.5
        return "open" if noted or (open_still and s.age < 0.08) else None
    section = cues.of_agent(text, s.sentence.heading)
    last = s.message.id in ends
    if section is None:
        named = bool(names(text))
        if s.message.id in ends[:1] and (_concludes(text) or plain_words(text) >= 9):
            return "state"
        if last and (named or numbers(text)) and not _SUPPOSED.search(text) and _only_talks(s.message):
            return "state"
        if s.age < 0.1 and named:
            return "state"
        return "work" if named and not cues.NARRATION.match(text) else None
    if section == "next" and not last and s.age > 0.15 and not names(text):
        return None
    return section if last else settle(section, s.age)


def _only_talks(message: Message) -> bool:
    return all(p.kind != "call" for p in parts(message))


def _density(text: str) -> float:
    """How much a sentence says for its length: names and numbers add, length beyond a line takes away."""
    found = len(names(text))
    return (0.8 + min(0.6, 0.12 * found) + min(0.2, 0.05 * numbers(text))) * (1.0 if len(text) < 260 else 0.75)


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
                text = f"{words} {code(block.group(1), room, kept)}"
                spans = ((Span(message.id, lead[-1].start, lead[-1].end, message.turn),) if lead else ()) + (
                    Span(message.id, start, end, message.turn),
                )
                out.append(Item("work", text, spans=spans, weight=0.8, trust="agent", at=message.at))
    return out

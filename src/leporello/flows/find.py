"""The cascade: working, short, medium and long-term memory are asked in turn, and the first that answers is told (R100).

| tier | what is looked at | how |
|---|---|---|
| working | messages of the handle's session that no episode covers | ranked as recall ranks them |
| short | notes, newest first | the key, its beginning, words |
| medium | facts and episodes of the project (without one, of the session) | recall |
| long | everything that the handle sees | recall |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from leporello.core.pack import neutral
from leporello.core.words import terms
from leporello.errors import BadSetting, EmptyQuery
from leporello.flows import notes
from leporello.flows.recall import Question, Shelf, recall
from leporello.flows.shown import hit_line
from leporello.ports import Ports
from leporello.records import Kind, Message, Note, Record, Scope
from leporello.results import Hit, Reason

Tier = Literal["working", "short", "medium", "long"]
TIERS: tuple[Tier, ...] = ("working", "short", "medium", "long")
ADVICE = "Nothing is known about this: ask the user, or research."
_REACH = 200


@dataclass(frozen=True)
class View(Record):
    """What a name of a layer or tier stands for: kinds of records, at which levels of scope, and whether notes are in it."""

    name: str
    kinds: tuple[Kind, ...]
    levels: tuple[str, ...]
    notes: bool = False


_ALL = ("session", "project", "agent", "user", "tenant")
KINDS_OF_TIER = MappingProxyType(
    {
        v.name: v
        for v in (
            View("L1", ("message",), _ALL),
            View("L2", ("episode",), _ALL),
            View("L3", ("fact",), _ALL),
            View("working", ("message",), ("session",)),
            View("short", (), ("session",), notes=True),
            View("medium", ("episode", "fact"), ("session", "project")),
            View("long", ("message", "episode", "fact"), _ALL),
        )
    }
)
"""The layers L1 to L3 (by abstraction) and the tiers (by scope), as kinds and levels."""


@dataclass(frozen=True)
class NoteHit(Record):
    """A note that answers. `score` is comparable with the relevance floor."""

    record: Note
    score: float
    why: tuple[Reason, ...]
    confidence: float = 1.0

    @property
    def text(self) -> str:
        return f"{self.record.key}: {self.record.value}"


@dataclass(frozen=True)
class Looked(Record):
    """One tier that was asked: how many candidates it had, the best score, and why it did not answer (empty if it did)."""

    tier: Tier
    candidates: int
    best: float
    why_not: str = ""


@dataclass(frozen=True)
class Finding(Record):
    """Where the answer was found: the tier, its hits, and every tier that was looked at. `advice` says what to do when it was not."""

    query: str
    tier: Tier | None
    hits: tuple[Hit | NoteHit, ...]
    looked: tuple[Looked, ...]
    not_found: bool
    advice: str = ""

    @property
    def text(self) -> str:
        """The hits as lines for a model to read; text of tools and other sources is quoted."""
        return "\n".join(f"- {neutral(h.text)}" if isinstance(h, NoteHit) else hit_line(h) for h in self.hits)


def view_of(name: str) -> View:
    """The view of this name; `BadSetting` if there is none."""
    found = KINDS_OF_TIER.get(name) or next((v for n, v in KINDS_OF_TIER.items() if n.casefold() == str(name).casefold()), None)
    if found is None:
        raise BadSetting(f"There is no layer or tier {name!r:.80}.", hint=f"Use one of {', '.join(KINDS_OF_TIER)}.")
    return found


def kinds_of(name: str) -> tuple[Kind, ...]:
    """The kinds of records of a layer or tier, for `recall(kinds=…)`; none for "short", which holds notes."""
    return view_of(name).kinds


def level_of(scope: Scope) -> str:
    """The narrowest dimension that a scope sets: session, project, agent, user or tenant."""
    return next((level for level in _ALL if getattr(scope, level) is not None), "tenant")


def in_view(scope: Scope, name: str) -> bool:
    """True if a record of this scope belongs to the layer or tier."""
    return level_of(scope) in view_of(name).levels


def find(ports: Ports, shelf: Shelf, scope: Scope, query: str, *, k: int = 5) -> Finding:
    """Asks tier after tier until one answers above the relevance floor."""
    if not query.strip():
        raise EmptyQuery()
    walk: tuple[tuple[Tier, Callable[[], _Asked]], ...] = (
        ("working", lambda: _working(ports, shelf, scope, query)),
        ("short", lambda: _short(ports, scope, query)),
        ("medium", lambda: _medium(ports, shelf, scope, query)),
        ("long", lambda: _long(ports, shelf, scope, query)),
    )
    floor = ports.policies.recall.floor
    looked: list[Looked] = []
    for tier, ask in walk:
        asked = ask()
        best = max((_relevance(h) for h in asked.hits), default=0.0)
        good = tuple(h for h in asked.hits if _relevance(h) >= floor)[:k]
        if good:
            return Finding(query, tier, good, (*looked, Looked(tier, asked.candidates, best)), False)
        why = asked.why_not or (
            f"the best, {best:.3f}, is below the relevance floor {floor:g}" if asked.hits else "nothing of the query is there"
        )
        looked.append(Looked(tier, asked.candidates, best, why))
    return Finding(query, None, (), tuple(looked), True, ADVICE)


def _relevance(hit: Hit | NoteHit) -> float:
    return hit.relevance if isinstance(hit, Hit) else hit.score


@dataclass(frozen=True)
class _Asked:
    hits: Sequence[Hit | NoteHit] = ()
    candidates: int = 0
    why_not: str = ""


def _working(ports: Ports, shelf: Shelf, scope: Scope, query: str) -> _Asked:
    """The unfolded messages; one that says no more than the query, such as the question itself, is no answer to it."""
    if scope.session is None:
        return _Asked(why_not="the handle has no session")
    with ports.store.read() as r:
        state = r.session(scope)
    if state is None or state.messages == state.folded:
        return _Asked(why_not="the session has no unfolded messages")
    folded, asked = state.folded, set(terms(query).tolist())
    found = recall(ports, shelf, scope, Question(query, _REACH, ("message",)))
    hits = [h for h in found if isinstance(h.record, Message) and h.record.scope == scope and h.record.pos > folded]
    telling = [h for h in hits if not set(terms(h.text).tolist()) <= asked]
    return _Asked(_real(telling), state.messages - folded, "only the question itself is there" if hits and not telling else "")


def _short(ports: Ports, scope: Scope, query: str) -> _Asked:
    with ports.store.read() as r:
        jotted = notes.read(r, scope)
    if not jotted:
        return _Asked(why_not="there are no notes")
    found = notes.look_up(jotted, query)
    return _Asked([NoteHit(j.note, score, (Reason("key", score, why),), j.confidence) for j, score, why in found], len(jotted))


def _medium(ports: Ports, shelf: Shelf, scope: Scope, query: str) -> _Asked:
    if scope.project is None and scope.session is None:
        return _Asked(why_not="the handle has neither project nor session")
    level = "project" if scope.project is not None else "session"
    found = recall(ports, shelf, scope, Question(query, _REACH, ("fact", "episode")))
    hits = [h for h in found if getattr(h.record.scope, level) == getattr(scope, level)]
    return _Asked(_real(hits), len(hits))


def _long(ports: Ports, shelf: Shelf, scope: Scope, query: str) -> _Asked:
    """Everything that the handle sees; the words of the question itself do not answer it."""
    found = recall(ports, shelf, scope, Question(query, _REACH))
    asked = set(terms(query).tolist())
    hits = [h for h in found if not (isinstance(h.record, Message) and set(terms(h.text).tolist()) <= asked)]
    return _Asked(_real(hits), len(hits))


def _real(hits: Sequence[Hit]) -> list[Hit]:
    """Hits that hold something of the query, not the newest records offered as a guess."""
    return [h for h in hits if not any(w.term == "guess" for w in h.why)]

"""The records: what a store keeps and what calls return. All are frozen; `to_dict()` gives plain JSON values.

Times are timezone-aware `datetime`s in UTC. Spans count characters (Unicode code points) of a message's `text`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from leporello.errors import BadName

Kind = Literal["message", "episode", "fact"]
Trust = Literal["user", "agent", "tool", "external"]
Section = Literal[
    "goal", "state", "decision", "eliminated", "constraint", "correction", "confirmation",
    "open", "next", "work", "error", "result", "preference", "event", "pattern",
]  # fmt: skip
DIMENSIONS = ("tenant", "user", "agent", "project", "session")


def plain(value: object) -> Any:
    """`value` as JSON values: records become mappings, times ISO 8601 strings, tuples lists."""
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value


@dataclass(frozen=True)
class Record:
    """A frozen value with `to_dict()`."""

    def to_dict(self) -> dict[str, Any]:
        """Every field as JSON values, in the order in which the fields are declared."""
        return {f.name: plain(getattr(self, f.name)) for f in dataclasses.fields(self) if not f.name.startswith("_")}


@dataclass(frozen=True)
class Scope(Record):
    """Whose: tenant (always set), user, agent, project, session. `None` means not set."""

    tenant: str = "default"
    user: str | None = None
    agent: str | None = None
    project: str | None = None
    session: str | None = None

    def __post_init__(self) -> None:
        for name in DIMENSIONS:
            value = getattr(self, name)
            if value is None and name != "tenant":
                continue
            if not isinstance(value, str) or not value:
                raise BadName(f"{name}={value!r} is not a name.")

    def narrow(self, **dimensions: str | None) -> Scope:
        """A new scope with these dimensions set; a dimension that is already set cannot be changed to another value."""
        for name, value in dimensions.items():
            if name not in DIMENSIONS:
                raise BadName(f"{name!r} is no dimension of a scope: use {', '.join(DIMENSIONS)}.")
            held = getattr(self, name)
            if held is not None and value != held:
                raise BadName(f"{name} is {held!r} in this scope and cannot become {value!r}.")
        changed: dict[str, Any] = dict(dimensions)
        return dataclasses.replace(self, **changed)

    def sees(self, other: Scope) -> bool:
        """True if, for each dimension that this scope sets, `other`'s is equal or unset."""
        if self.tenant != other.tenant:
            return False
        pairs = ((getattr(self, d), getattr(other, d)) for d in DIMENSIONS[1:])
        return all(mine is None or theirs is None or mine == theirs for mine, theirs in pairs)

    def covers(self, other: Scope) -> bool:
        """True if, for each dimension that this scope sets, `other`'s is equal: what `erase_all` takes."""
        if self.tenant != other.tenant:
            return False
        pairs = ((getattr(self, d), getattr(other, d)) for d in DIMENSIONS[1:])
        return all(mine is None or mine == theirs for mine, theirs in pairs)


@dataclass(frozen=True)
class Span(Record):
    """Characters `start` to `end` (end excluded) of the text of message `message`, said in turn `turn`."""

    message: str
    start: int
    end: int
    turn: int = 0


@dataclass(frozen=True)
class Provenance(Record):
    """From which session, turns, episodes and characters a record comes."""

    session: str | None = None
    turns: tuple[int, ...] = ()
    episodes: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Part(Record):
    """One piece of a message in the normal form of every wire format.

    kind: text, thinking, call, result, media or other. `start` and `end` are its place in the message's text
    (equal when it adds no text). `id` joins a call and its result. `error` is a result's error flag.
    """

    kind: Literal["text", "thinking", "call", "result", "media", "other"]
    text: str = ""
    id: str = ""
    name: str = ""
    error: bool = False
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class Draft(Record):
    """A message before it is stored: the provider's own mapping, and what the mapping does not say.

    `original` is kept verbatim and comes back equal. `origin` is the source's own stable key within its session:
    a second draft with the same origin in one session is not stored again.
    """

    original: Mapping[str, Any]
    name: str | None = None
    at: datetime | None = None
    session: str | None = None
    origin: str | None = None
    trust: Trust | None = None


@dataclass(frozen=True)
class Message(Record):
    """One provider message, kept verbatim. `pos` counts messages of the session from 1; `turn` counts turns from 1."""

    id: str
    scope: Scope
    pos: int
    turn: int
    role: str
    name: str | None
    at: datetime
    recorded_at: datetime
    trust: Trust
    text: str
    original: Mapping[str, Any]
    tokens: int = 0
    origin: str | None = None

    @property
    def kind(self) -> Kind:
        return "message"

    @property
    def blocks(self) -> tuple[Any, ...]:
        """The content blocks, verbatim; plain text is one text block."""
        content = self.original.get("content")
        if isinstance(content, str):
            return ({"type": "text", "text": content},)
        if isinstance(content, (list, tuple)):
            return tuple(content)
        return () if content is not None or "content" in self.original else (dict(self.original),)

    @property
    def session(self) -> str | None:
        return self.scope.session

    @property
    def provenance(self) -> Provenance:
        """Itself, from its first character to its last."""
        return Provenance(self.scope.session, (self.turn,), (), (Span(self.id, 0, len(self.text), self.turn),))


@dataclass(frozen=True)
class Item(Record):
    """One statement of an episode or a compact, in the conversation's own words wherever possible.

    `text` is the statement; `why` its reason (may be empty). `key` names what a result belongs to (a file, a command).
    `weight` orders items when a budget has no room for all. `at` is when it was said.
    """

    section: Section
    text: str
    why: str = ""
    key: str = ""
    spans: tuple[Span, ...] = ()
    weight: float = 0.0
    trust: Trust = "agent"
    at: datetime | None = None


@dataclass(frozen=True)
class EpisodeDraft(Record):
    """What a compactor answers for a run of turns: a summary of two or three sentences and its items."""

    summary: str
    items: tuple[Item, ...] = ()


def _statements(items: Sequence[Item], section: str) -> tuple[Item, ...]:
    return tuple(i for i in items if i.section == section)


@dataclass(frozen=True)
class Episode(Record):
    """What a contiguous run of turns came to (layer L2). `turns` and `positions` are first and last, both included.

    A turn belongs to the episode that holds its first message. Of an episode that holds only the end of a turn, in a long
    tool loop, the range is empty: `(n + 1, n)` for the end of turn n.
    """

    id: str
    scope: Scope
    number: int
    turns: tuple[int, int]
    positions: tuple[int, int]
    at: datetime
    recorded_at: datetime
    summary: str
    items: tuple[Item, ...]
    compactor: str
    tokens: int = 0
    replaced_tokens: int = 0
    layer: int = 2
    distilled: bool = False

    @property
    def kind(self) -> Kind:
        return "episode"

    @property
    def text(self) -> str:
        return self.summary

    @property
    def decisions(self) -> tuple[dict[str, str], ...]:
        """`{decision, reason}` each (R25)."""
        return tuple({"decision": i.text, "reason": i.why} for i in _statements(self.items, "decision"))

    @property
    def eliminated(self) -> tuple[dict[str, str], ...]:
        """`{approach, why}` each (R25)."""
        return tuple({"approach": i.text, "why": i.why} for i in _statements(self.items, "eliminated"))

    @property
    def open_questions(self) -> tuple[str, ...]:
        return tuple(i.text for i in _statements(self.items, "open"))

    @property
    def provenance(self) -> Provenance:
        """Its turns, and the characters that its items come from."""
        spans = tuple(dict.fromkeys(s for i in self.items for s in i.spans))
        turns = tuple(range(self.turns[0], self.turns[1] + 1)) or (self.turns[1],)
        return Provenance(self.scope.session, turns, (self.id,), spans)

    @property
    def tool_results(self) -> dict[str, str]:
        return {i.key or i.text[:40]: i.text for i in _statements(self.items, "result")}


@dataclass(frozen=True)
class Compact(Record):
    """The flat summary of a session. `text` is within the budget that was asked for; `tokens` is its estimate."""

    scope: Scope
    text: str
    tokens: int
    items: tuple[Item, ...]
    compacted_at_turn: int
    compactor: str
    omitted: int = 0

    def schema(self) -> dict[str, Any]:
        """The compact in the published shape (R54)."""
        pick = {
            s: [i for i in self.items if i.section == s]
            for s in ("goal", "state", "decision", "eliminated", "open", "next", "result", "constraint")
        }
        return {
            "task": " ".join(i.text for i in pick["goal"]),
            "current_state": " ".join(i.text for i in pick["state"]),
            "key_decisions": [{"decision": i.text, "reason": i.why, "constraint": ""} for i in pick["decision"]]
            + [{"decision": "", "reason": i.why, "constraint": i.text} for i in pick["constraint"]],
            "eliminated_approaches": [{"approach": i.text, "reason_ruled_out": i.why} for i in pick["eliminated"]],
            "open_questions": [i.text for i in pick["open"]],
            "next_steps": [i.text for i in pick["next"]],
            "relevant_tool_results": {i.key or i.text[:40]: i.text for i in pick["result"]},
            "compacted_at_turn": self.compacted_at_turn,
        }


FactKind = Literal["fact", "decision", "eliminated", "pattern", "preference", "procedure"]


@dataclass(frozen=True)
class Fact(Record):
    """One durable dated statement with sources (layer L3).

    Valid time: true from `valid_from` until `valid_to` (`None`: still). Transaction time: believed from `recorded_at`
    until `retracted_at` (`None`: still). `confidence` is in [0, 1]. `status`: active, conflict (another fact says otherwise, see
    `conflicts`), deprecated (ended or contradicted; `superseded_by` names its successor), archived, or quarantine (suspicious:
    neither recalled nor shown until it is confirmed). `subject`, `predicate` and `object` are folded; empty where rules cannot tell.
    """

    id: str
    scope: Scope
    text: str
    fact_kind: FactKind
    why: str
    source: str
    trust: Trust
    confidence: float
    tags: tuple[str, ...]
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime
    retracted_at: datetime | None
    provenance: Provenance
    supersedes: tuple[str, ...] = ()
    status: str = "active"
    superseded_by: str | None = None
    conflicts: tuple[str, ...] = ()
    subject: str = ""
    predicate: str = ""
    object: str = ""

    @property
    def kind(self) -> Kind:
        return "fact"

    @property
    def at(self) -> datetime:
        return self.valid_from or self.recorded_at


ClaimOp = Literal["say", "reinforce", "supersede", "conflict", "confirm", "end", "retract", "archive", "restore", "fade", "revive"]


@dataclass(frozen=True)
class Claim(Record):
    """One step in what is known: something that was said, or done to a fact. Facts are derived from claims, and from nothing else.

    `op` say, reinforce, supersede and conflict bring a statement (`text`); the rest act on the fact of the claim `target`.
    `at` is when it was said, or from when it holds; `recorded_at` when the store learned it; `actor` who made the step: a
    compactor with its version, or who called. `fact` is the id of the fact that the claim supports now. `suspicion` says why a
    statement was put into quarantine, if it was. A `supersede` by hand may bring no statement: then `source` is the claim of the
    fact that stands instead. `fade` and `revive` are steps of maintenance: put aside as hardly recalled any more, and brought back.
    """

    id: str
    scope: Scope
    op: ClaimOp
    text: str
    fact_kind: FactKind
    why: str
    source: str
    trust: Trust
    confidence: float
    tags: tuple[str, ...]
    at: datetime
    recorded_at: datetime
    provenance: Provenance
    actor: str
    target: str | None = None
    fact: str | None = None
    suspicion: str = ""
    speaker: str = ""


@dataclass(frozen=True)
class Revision(Record):
    """One change of a fact: when, what was done, by whom and why; `by` is the record that caused it, `was` the fact before it."""

    at: datetime
    action: str
    actor: str
    why: str
    by: str | None
    was: Fact | None


EventKind = Literal["observed", "retrieved", "shown", "used", "confirmed", "contradicted", "archived", "restored"]
EVENTS = get_args(EventKind)
Importance = Literal["high", "medium", "low"]
IMPORTANCES = get_args(Importance)


@dataclass(frozen=True)
class Event(Record):
    """Something that happened to a record: it was observed (said, or said again), retrieved, shown, used, confirmed, contradicted.

    `run` names the maintenance run that archived or restored it, if one did; with a use, "loop" if an agent loop noted it itself.
    """

    record: str
    kind: EventKind
    at: datetime
    run: str | None = None


@dataclass(frozen=True)
class Operation(Record):
    """One step of a compactor's answer for facts: code applies it, a model never replaces the whole.

    op: add, reinforce, supersede, retract, conflict or none; `target` is the id of the fact that it acts on.
    """

    op: Literal["add", "reinforce", "supersede", "retract", "conflict", "none"]
    text: str = ""
    fact_kind: FactKind = "fact"
    why: str = ""
    target: str | None = None
    source: str = "inferred"
    trust: Trust = "agent"
    confidence: float = 0.7
    tags: tuple[str, ...] = ()
    at: datetime | None = None
    spans: tuple[Span, ...] = ()
    episodes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Usage(Record):
    """Tokens of one call as the provider reported them. `input` is everything that was read, cached or not.

    `cached` is the part read from the provider's prefix cache, `written` the part written to it.
    """

    model: str = ""
    input: int = 0
    output: int = 0
    cached: int = 0
    written: int = 0


@dataclass(frozen=True)
class Note(Record):
    """A keyed scratchpad value of one session."""

    scope: Scope
    key: str
    value: Any
    at: datetime

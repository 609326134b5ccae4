"""What flows and a store hand one another, beside records: states, rows of the index, changes. All are frozen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from leporello.records import Draft, Kind, Scope, Trust

Mark = tuple[int, int]
"""How far an index has read: the newest row, the newest removal."""


@dataclass(frozen=True)
class SessionState:
    """The state of one session: counters and how far it is folded. `rid` is the store's own handle.

    `answered` and `joinable` are the state of the newest turn (`core.turns.Place`); `folded` is the position of the
    last folded message, `folded_turn` the last turn that begins at or before it; `stalled` counts folds in a row without progress;
    `consolidated` is the position of the last message that consolidation has read.
    """

    rid: int
    scope: Scope
    messages: int = 0
    turns: int = 0
    answered: bool = False
    joinable: bool = False
    folded: int = 0
    folded_turn: int = 0
    episodes: int = 0
    stalled: int = 0
    closed_at: datetime | None = None
    consolidated: int = 0


@dataclass(frozen=True)
class LoopRow:
    """What an agent loop keeps of one session, as JSON values: its settings, its counts, and the view of the past that it sends.

    `shown` are the ids of the records in the view; when one of them is erased, or a message of the session, the view goes.
    """

    settings: Mapping[str, Any]
    tally: Mapping[str, Any]
    view: Mapping[str, Any] | None = None
    shown: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """What the index keeps of one record: term hashes (uint32) and the vector (float16), as little-endian bytes.

    `keys` are the hashes under which a fact that concerns the same thing is found (`Reader.near`).
    """

    terms: bytes
    vector: bytes
    keys: tuple[int, ...] = ()


@dataclass(frozen=True)
class Change:
    """What was done to a fact: the action, who did it, when and why; `by` is the record that caused it."""

    action: str
    actor: str
    at: datetime
    why: str = ""
    by: str | None = None


@dataclass(frozen=True)
class NewMessage:
    """A message with its place, ready to be written."""

    draft: Draft
    role: str
    pos: int
    turn: int
    at: datetime
    trust: Trust
    text: str
    tokens: int
    entry: Entry


@dataclass(frozen=True)
class IndexRow:
    """What recall needs of one record without reading its text. Times are microseconds since 1970, UTC.

    `rid` is the store's own handle, growing with every write. `agent`, `project` and `session` are the store's numbers
    for the names of these dimensions, 0 for unset. For a message, `log` is its session's number and `pos` its position
    there; for an episode or a fact both are 0.
    """

    rid: int
    kind: Kind
    log: int
    pos: int
    at: int
    recorded: int
    agent: int
    project: int
    session: int
    terms: bytes
    vector: bytes


@dataclass(frozen=True)
class IndexDelta:
    """What changed since a mark in what a tenant and user can see; (0, 0) is the mark before everything."""

    mark: Mark
    added: Sequence[IndexRow]
    removed: Sequence[int]


@dataclass(frozen=True)
class TraceRow:
    """What ageing keeps of one record, so that nothing has to be counted again when it is read. Times are microseconds since 1970, UTC.

    `trace` is the record's trace as JSON text; `level` (basis points times a week in microseconds) and `since` are what its
    confidence was when it last rose, None for what has none. `importance` is high, medium or low. `expires` is when it goes out of
    recall whatever else holds; `aside` when maintenance put it aside; `due` from when on maintenance has something to do, None for never.
    """

    id: str
    scope: Scope
    kind: Kind
    trace: str
    level: int | None = None
    since: int | None = None
    importance: str = "medium"
    pinned: bool = False
    expires: int | None = None
    aside: int | None = None
    due: int | None = None

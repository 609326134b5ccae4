"""What the flows ask of the outside: a store, an embedder, a compactor, a clock. Each is the least that they need.

A store is anything that passes `leporello.testing.StoreConformance`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from leporello.policies import Policies
from leporello.records import (
    Claim,
    Compact,
    Episode,
    EpisodeDraft,
    Event,
    EventKind,
    Fact,
    Item,
    Message,
    Note,
    Operation,
    Revision,
    Scope,
    Usage,
)  # fmt: skip
from leporello.rows import Change as Change
from leporello.rows import Entry as Entry
from leporello.rows import IndexDelta as IndexDelta
from leporello.rows import IndexRow as IndexRow
from leporello.rows import LoopRow as LoopRow
from leporello.rows import Mark as Mark
from leporello.rows import NewMessage as NewMessage
from leporello.rows import SessionState as SessionState
from leporello.rows import TraceRow as TraceRow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AnyRecord = Message | Episode | Fact
_MOST = 50_000


class Clock(Protocol):
    """The only source of the present instant."""

    def now(self) -> datetime:
        """An aware UTC datetime."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors. `name` identifies the model and its dimension: a change of it needs re-embedding."""

    name: str
    dimension: int

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (len(texts), dimension), rows of unit length; a text without a known word gives a row of zeros."""
        ...


class Compactor(Protocol):
    """Writes episodes, compacts and facts. `name` says which and which version: it is kept with what was made."""

    name: str

    def episode(self, messages: Sequence[Message], *, tokens: int) -> EpisodeDraft:
        """What these messages came to, in at most about `tokens` tokens. Raises `CompactorError`."""
        ...

    def compact(self, messages: Sequence[Message], *, prior: Sequence[Item], tokens: int) -> tuple[Item, ...]:
        """The items of a flat summary of `messages` that merges `prior`; `tokens` is what there will be room for."""
        ...

    def distil(self, episodes: Sequence[Episode], known: Sequence[Fact]) -> tuple[Operation, ...]:
        """Operations on facts that keep what will matter many sessions from now; none if there is nothing."""
        ...


@runtime_checkable
class Forking(Compactor, Protocol):
    """A compactor that can go on from the request that the agent's own model has just read, so that its warm cache is used."""

    def over(self, request: LiveRequest) -> Compactor:
        """A compactor that asks in the form of this request: same system, tools and messages, and one instruction more."""
        ...


@dataclass(frozen=True)
class LiveRequest:
    """The request of an agent loop as it would go out now. `wire` is anthropic, openai or openai-responses; `model` may be empty.

    `body` holds `system`, `tools`, `messages` and so on, as `Session.request` returns them.
    """

    wire: str
    model: str
    body: Mapping[str, Any]


class NativeBlocks(Protocol):
    """What a provider's own compaction answers: what stands first in later requests, verbatim."""

    @property
    def blocks(self) -> Sequence[Mapping[str, Any]]:
        """Messages or input items of the provider."""
        ...


class NativeCompaction(Protocol):
    """A provider's own compaction, opaque to us; the plain log stays beside it. `wire` is the form that it understands."""

    name: str
    wire: str

    def compact(self, request: LiveRequest) -> NativeBlocks:
        """What stands for everything in this request. Raises `CompactorError`."""
        ...


_METER: ContextVar[list[Usage] | None] = ContextVar("leporello_meter", default=None)


@contextmanager
def metered() -> Iterator[list[Usage]]:
    """Collects what compactors spend in the block."""
    spent: list[Usage] = []
    token = _METER.set(spent)
    try:
        yield spent
    finally:
        _METER.reset(token)


def spend(usage: Usage) -> None:
    """Called by a compactor for each answer of a model, good or bad."""
    spent = _METER.get()
    if spent is not None:
        spent.append(usage)


class FactReader(Protocol):
    """What a snapshot says of facts: as they are, as they were believed, what they are derived from, and what was shown."""

    def facts(self, scope: Scope, *, believed_at: datetime | None = None) -> list[Fact]:
        """Every fact that the scope sees, retracted ones too, oldest first; at a moment, as the store held them then."""
        ...

    def as_believed(self, facts: Sequence[Fact], at: datetime) -> list[Fact]:
        """These facts as the store held them at a moment, without those that it did not hold yet."""
        ...

    def near(self, scope: Scope, keys: Sequence[int], *, sure: Sequence[int] = (), k: int) -> list[Fact]:
        """The facts of exactly this scope that share two of these keys and nearly half of the shorter list, or a `sure` one that few hold.

        At most `k`, those that share most.
        """
        ...

    def claims(self, scope: Scope, facts: Sequence[str]) -> list[Claim]:
        """The claims that these facts of the scope's tenant are derived from, oldest first."""
        ...

    def acting(self, scope: Scope, facts: Sequence[str]) -> list[str]:
        """The facts with claims that were told to act on those of these facts of the scope's tenant, and the other way round: their ids."""
        ...

    def history(self, fact: Fact) -> list[Revision]:
        """The changes of a fact, oldest first; the first is how it came to be."""
        ...

    def shown(self, scope: Scope, *, k: int) -> list[tuple[str, datetime]]:
        """The records that the scope sees and that recall or a context showed, at most the `k` newest shown: id, when first."""
        ...

    def mark(self, scope: Scope) -> int:
        """A number that grows with every change of a fact of the scope's tenant."""
        ...


class AgeReader(Protocol):
    """What a snapshot says of ageing: traces, events, and what falls due."""

    def traces(self, scope: Scope, ids: Sequence[str]) -> Mapping[str, TraceRow]:
        """The traces of these records of the scope's tenant, by id; of what never had one, none."""
        ...

    def events(self, scope: Scope, ids: Sequence[str]) -> list[Event]:
        """What happened to these records of the scope's tenant beside their claims, oldest first."""
        ...

    def due(self, scope: Scope, at: int, *, after: tuple[int, str], k: int) -> list[TraceRow]:
        """At most `k` traces of the scope's tenant that fall due by `at`, in the order (due, id) from behind `after`."""
        ...

    def crowded(self, scope: Scope, most: int) -> list[list[TraceRow]]:
        """The traces of the facts in use, for each scope of the tenant that holds more than `most` of them."""
        ...

    def runs(self, scope: Scope, run: str | None = None) -> list[Event]:
        """What maintenance archived and restored in the scope's tenant, in one run or, the first of each, in all; oldest first."""
        ...


class Reader(FactReader, AgeReader, Protocol):
    """One consistent snapshot of a store. A scope that is handed in sees; it never widens."""

    def tenants(self) -> list[str]:
        """Every tenant of the store."""
        ...

    def session(self, scope: Scope) -> SessionState | None:
        """The session of exactly this scope."""
        ...

    def sessions(self, scope: Scope) -> list[SessionState]:
        """The sessions that the scope sees, oldest first."""
        ...

    def messages(self, state: SessionState, *, first: int = 1, last: int | None = None) -> Iterator[Message]:
        """Messages of one session by position, both ends included, in order."""
        ...

    def last_turn(self, state: SessionState, *, first: int, last: int) -> int | None:
        """The greatest turn among the messages between two positions, both included; None if there are none."""
        ...

    def episodes(self, scope: Scope, *, session: SessionState | None = None) -> list[Episode]:
        """Episodes that the scope sees (or of one session only), oldest first."""
        ...

    def record(self, scope: Scope, id: str) -> AnyRecord | None:
        """The record, if the scope sees it."""
        ...

    def records(self, scope: Scope, rids: Sequence[int]) -> Mapping[int, AnyRecord]:
        """Records by the handles of their index rows; those that are gone or out of scope are left out."""
        ...

    def index(self, scope: Scope, mark: Mark) -> IndexDelta:
        """Index rows of the scope's tenant and user (or of all users, when it sets none) since the mark."""
        ...

    def names(self, scope: Scope) -> Mapping[str, int]:
        """The numbers of the scope's agent, project and session; -1 for a name that the store does not know."""
        ...

    def notes(self, scope: Scope) -> list[Note]:
        """Notes that the scope sees, newest first."""
        ...

    def pins(self, scope: Scope) -> list[str]:
        """Pins that the scope sees, in the order in which they were set."""
        ...

    def compact(self, scope: Scope) -> Compact | None:
        """The newest compact of exactly this scope's session."""
        ...

    def loop(self, scope: Scope) -> LoopRow | None:
        """What the agent loop of exactly this scope's session keeps."""
        ...

    def spent(self, scope: Scope, day: str) -> tuple[int, int]:
        """Tokens and millionths of a US dollar that the sessions which the scope sees spent on a day (`YYYY-MM-DD`, UTC)."""
        ...

    def counts(self, scope: Scope) -> Mapping[str, int]:
        """Records that the scope sees, by kind."""
        ...

    def derived(self, scope: Scope, ids: Sequence[str]) -> Sequence[AnyRecord]:
        """Episodes and facts, in any scope of the tenant, that rest directly on these records."""
        ...


class FactWriter(Protocol):
    """How facts and claims are written."""

    def add_fact(self, fact: Fact, entry: Entry, change: Change | None = None) -> Fact:
        """Writes a fact with its index row, its sources, and a first history row if given; its id is made here."""
        ...

    def put_fact(self, fact: Fact, change: Change, *, entry: Entry | None = None) -> None:
        """Writes the changed state of a fact, and a history row that says who did what, when and why; a new index row if given.

        A row is never dated before the one that it follows.
        """
        ...

    def put_claims(self, claims: Sequence[Claim]) -> list[Claim]:
        """Writes claims: new ones get their ids here; of known ones the fact that they support, the target, the source and the provenance change."""
        ...

    def drop_claims(self, claims: Sequence[Claim]) -> None:
        """Deletes claims."""
        ...

    def put_history(self, fact: Fact, revisions: Sequence[Revision]) -> int:
        """Replaces the history of a fact, when words of it must not stay; how many rows there were."""
        ...

    def put_shown(self, records: Sequence[AnyRecord], *, at: datetime) -> None:
        """Notes that these records were shown."""
        ...


class AgeWriter(Protocol):
    """How ageing is written."""

    def put_traces(self, rows: Sequence[TraceRow]) -> None:
        """Writes traces, in place of those that the records had."""
        ...

    def add_events(self, scope: Scope, events: Sequence[Event], *, gap: int = 0) -> list[Event]:
        """Adds to the log of the scope's tenant what is not within `gap` microseconds after one of its kind; the events that were added.

        An event of a record that is not there is none.
        """
        ...

    def move_events(self, scope: Scope, old: str, new: str) -> None:
        """What happened to one record happened to the other, which it turned out to be."""
        ...


class Writer(Reader, FactWriter, AgeWriter, Protocol):
    """One write transaction: everything or nothing. Ids are made here and never reused."""

    def open_session(self, scope: Scope) -> SessionState:
        """The session of exactly this scope, made if need be."""
        ...

    def put_session(self, state: SessionState) -> None:
        """Writes the counters of a session."""
        ...

    def known_origins(self, state: SessionState, origins: Sequence[str]) -> set[str]:
        """Those of the origins that the session holds already."""
        ...

    def add_messages(self, state: SessionState, new: Sequence[NewMessage], *, recorded_at: datetime) -> list[Message]:
        """Writes messages with their index rows and media."""
        ...

    def add_episode(self, state: SessionState, episode: Episode, entry: Entry) -> Episode:
        """Writes an episode with its index row and its sources; its id is made here."""
        ...

    def put_episodes(self, episodes: Sequence[Episode]) -> None:
        """Writes the layer, the distilled mark and the turns of episodes."""
        ...

    def put_note(self, note: Note) -> None:
        """Sets a note; a value of `None` removes it."""
        ...

    def put_pin(self, scope: Scope, text: str, *, at: datetime, keep: bool = True) -> None:
        """Sets a pin, or removes it."""
        ...

    def put_compact(self, compact: Compact, *, at: datetime) -> None:
        """Replaces the session's compact."""
        ...

    def drop_compact(self, scope: Scope) -> None:
        """Removes the compact of exactly this scope's session."""
        ...

    def put_loop(self, scope: Scope, row: LoopRow) -> None:
        """Replaces what the agent loop of exactly this scope's session keeps."""
        ...

    def add_spend(self, scope: Scope, day: str, *, tokens: int, micros: int) -> None:
        """Adds to what the session spent on a day."""
        ...

    def erase(self, records: Sequence[AnyRecord]) -> Mapping[str, int]:
        """Deletes these records with every row that belongs to them alone, and the loops' views that show them; counts by table."""
        ...

    def erase_scope(self, scope: Scope) -> tuple[Mapping[str, int], Sequence[str]]:
        """Deletes everything whose scope the given one covers; counts by table, and the ids of the records."""
        ...

    def reindex(self, records: Sequence[AnyRecord], entries: Sequence[Entry], *, embedder: str) -> None:
        """Replaces the index rows of these records and notes the embedder that made them."""
        ...


class Store(Protocol):
    """Records on disk. `read` gives a snapshot, `write` a transaction that commits, fsynced, when its block ends well."""

    path: str

    def read(self) -> AbstractContextManager[Reader]:
        """A snapshot; never blocked by a writer."""
        ...

    def write(self) -> AbstractContextManager[Writer]:
        """A write transaction; rolled back if its block raises."""
        ...

    def setting(self, key: str, value: str | None = None) -> str | None:
        """A setting of the store, such as its embedder; sets it when a value is given."""
        ...

    def backup(self, path: str) -> None:
        """A consistent copy at a new path."""
        ...

    def check(self) -> list[str]:
        """What is wrong with the store; empty when nothing is."""
        ...

    def scrub(self, *, patience: float = 5.0) -> bool:
        """Removes what deleted rows left behind in the store's files; False if another reader still keeps it after `patience` seconds."""
        ...

    def size(self) -> int:
        """Bytes on disk, with all side files."""
        ...

    def close(self) -> None:
        """Closes; a second call does nothing."""
        ...


class Shown:
    """The records that were shown since the last write, so that looking costs no transaction; the next write takes them along.

    What happens to a record again within `gap` counts once. Beyond `_MOST` events nothing more is noted until they are written.
    """

    def __init__(self, gap: timedelta = timedelta(hours=1)) -> None:
        self._lock = Lock()
        self._gap = gap
        self._events = 0
        self._held: dict[tuple[str, EventKind], tuple[AnyRecord, list[datetime]]] = {}

    def add(self, records: Iterable[AnyRecord], at: datetime, kind: EventKind = "shown") -> None:
        """Notes that these were shown, or only retrieved, at this time."""
        with self._lock:
            for record in records:
                _, times = self._held.setdefault((record.id, kind), (record, []))
                if not times or (abs(at - times[-1]) >= self._gap and self._events < _MOST):
                    times.append(at)
                    self._events += 1

    def write(self, w: Writer) -> None:
        """Writes what was noted so far: what must not be learned again, and the events."""
        with self._lock:
            held, self._held, self._events = self._held, {}, 0
        by_time: dict[datetime, list[AnyRecord]] = {}
        by_tenant: dict[str, list[Event]] = {}
        for (_, kind), (record, times) in held.items():
            by_time.setdefault(times[0], []).append(record)
            by_tenant.setdefault(record.scope.tenant, []).extend(Event(record.id, kind, at) for at in times)
        for at, records in by_time.items():
            w.put_shown(list({r.id: r for r in records}.values()), at=at)
        for tenant, events in by_tenant.items():
            w.add_events(Scope(tenant), events, gap=self._gap // timedelta(microseconds=1))

    def __bool__(self) -> bool:
        return bool(self._held)


@dataclass(frozen=True)
class Ports:
    """What a flow works with: the open store, its embedder and compactor, the clock, the policies.

    `fallback` is the compactor that takes over when the chosen one fails: it always answers. `shown` notes what was shown.
    """

    store: Store
    embedder: Embedder
    compactor: Compactor
    clock: Clock
    policies: Policies
    fallback: Compactor
    shown: Shown = field(default_factory=Shown)

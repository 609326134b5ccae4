"""`open()` → `Memory` → `.scope(…)` → `Scoped` → `.session(…)`: the public way in."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from threading import Lock
from types import TracebackType
from typing import Any, Unpack

from leporello import transfer
from leporello.adapters.clock import SystemClock
from leporello.adapters.embedders import embedder as make_embedder
from leporello.adapters.extractive import ExtractiveCompactor
from leporello.adapters.models import compactor as model_compactor
from leporello.adapters.sqlite.store import SqliteStore
from leporello.core import checks
from leporello.core.graph import Neighbourhood, Path
from leporello.core.loop.settings import given
from leporello.errors import BadSetting, BadValue, EmptyText, NotFound
from leporello.flows import forget
from leporello.flows.consolidate import everywhere, waiting
from leporello.flows.context import Context, Wanted, context
from leporello.flows.find import KINDS_OF_TIER, kinds_of
from leporello.flows.graph import graphs_of, neighbourhood, paths
from leporello.flows.indexing import match_embedder, reindex
from leporello.flows.loop import Background
from leporello.flows.maintain import begin_ageing, kept_policy, maintain, runs, undo_everywhere
from leporello.flows.recall import KINDS, Question, Shelf, recall
from leporello.flows.remember import remember
from leporello.formats.objects import drafts
from leporello.keeping import Moment, moment
from leporello.loop import LoopOptions
from leporello.policies import Policies
from leporello.ports import AnyRecord, Clock, Compactor, Embedder, Ports, Shown
from leporello.records import Draft, Episode, Event, Fact, Kind, Message, Scope, Trust
from leporello.results import Consolidation, ImportReport, Maintenance, Recall, Receipt, SessionInfo, Undone
from leporello.session import Session
from leporello.tiers import Tiers, drop_project_lines

_OPEN: Counter[str] = Counter()
_COUNTING = Lock()
_AT_ONCE = 200
"""Messages that a store is opened with that may be read at once."""


def open(
    path: str | os.PathLike[str], *, embedder: str | Embedder = "static", compactor: str | Compactor = "extractive", key: str | None = None,
    clock: Clock | None = None, policies: Policies | dict[str, Any] | None = None, read_only: bool = False,
) -> Memory:  # fmt: skip
    """Opens a store: a path to a file (made if need be), or ":memory:".

    `embedder`: "static" (offline, 256 dimensions), "hash" (no model files), or any `ports.Embedder`. `compactor`:
    "extractive" (no model), "anthropic:MODEL", "openai:MODEL" or "openai-responses:MODEL" (see `adapters.models.compactor`), or
    any `ports.Compactor`. `key` encrypts the file. `policies`: `Policies` or a mapping such as
    `{"fold": {"l1_turns": 30}}`; where it names no retention policy, that holds by which the store was maintained last. Raises a
    `StoreError` that says what is wrong with the file.
    """
    settings = Policies.of(policies)
    chosen = make_embedder(embedder) if isinstance(embedder, str) else embedder
    _fits(chosen, "embedder", "name", "dimension", "embed")
    writes, time = _compactor(compactor), SystemClock() if clock is None else clock
    _fits(writes, "compactor", "name", "episode", "compact", "distil")
    _fits(time, "clock", "now")
    store = _store(path, key, read_only)
    if policies is None or (isinstance(policies, dict) and "retention" not in policies):
        settings = replace(settings, retention=kept_policy(store) or settings.retention)
    seen = Shown(timedelta(seconds=settings.retention.gap))
    ports = Ports(store, chosen, writes, time, settings, ExtractiveCompactor(), seen)
    try:
        match_embedder(ports.store, chosen, writable=not read_only)
        if not read_only:
            begin_ageing(ports)
    except BaseException:
        ports.store.close()
        raise
    made = Memory(ports, read_only=read_only)
    alone = _opened(ports.store.path, 1) == 1
    if not read_only and settings.fold.at_open and alone:
        made._resume()
    return made


def _opened(path: str, by: int) -> int:
    """How often the file is open in this process, after this one was opened or closed: who writes to it is still there."""
    place = os.path.realpath(path)
    with _COUNTING:
        _OPEN[place] += by
        return _OPEN[place]


def reembed(path: str | os.PathLike[str], *, embedder: str | Embedder = "static", key: str | None = None) -> int:
    """Makes every vector of a store again with another embedder, in one transaction; how many were made."""
    chosen = make_embedder(embedder) if isinstance(embedder, str) else embedder
    store = _store(path, key, False)
    try:
        return reindex(store, chosen)
    finally:
        store.close()


def migrate(path: str | os.PathLike[str], *, key: str | None = None) -> tuple[int, int]:
    """Brings a store's schema up to date, as every `open` does; the versions before and after."""
    store = _store(path, key, False)
    store.close()
    return store.migrated


class Memory:
    """An open store. Safe for threads and processes; `scope` gives the handle that reads and writes."""

    def __init__(self, ports: Ports, *, read_only: bool = False) -> None:
        self._ports = ports
        self._read_only = read_only
        self._closed = False
        self._shelf = Shelf(ports.embedder.dimension)
        self._background = Background()

    def scope(self, *, tenant: str = "default", user: str | None = None, agent: str | None = None, project: str | None = None,
              session: str | None = None) -> Scoped:  # fmt: skip
        """A handle for exactly these dimensions; an unset dimension does not narrow."""
        return Scoped(Scope(tenant, user, agent, project, session), self._ports, self._shelf, self._background)

    def consolidate(self) -> Consolidation:
        """Turns what was said in every session of every tenant, and not read yet, into facts; says what changed.

        Again, it finds nothing to do. The sessions stay as they are: nothing is folded or closed.
        """
        return everywhere(self._ports)

    def maintain(self, *, dry_run: bool = False) -> Maintenance:
        """Puts aside what time has made hardly recalled, hardly certain or expired, in the whole store; says what, and why.

        `dry_run` says what would move and writes nothing. Again, it finds nothing to do. `Scoped.undo(report.run)` takes it back.
        """
        return maintain(self._ports, dry_run=checks.flag(dry_run, "dry_run"))

    def undo(self, run: str) -> Undone:
        """Brings back what a maintenance run put aside in the whole store, but for what changed since. `NotFound` if there is no such run."""
        return undo_everywhere(self._ports, checks.text(run, "run"))

    def runs(self) -> tuple[Event, ...]:
        """The maintenance runs that moved something, oldest first: each with its name (`run`) and when it began."""
        return runs(self._ports)

    def import_(self, path: str | os.PathLike[str], /, **options: Any) -> ImportReport:
        """`Scoped.import_` for the default tenant."""
        return self.scope().import_(path, **options)

    def export(self, folder: str | os.PathLike[str], /, **options: Any) -> int:
        """`Scoped.export` for the default tenant."""
        return self.scope().export(folder, **options)

    def stats(self) -> dict[str, Any]:
        """Records of the default tenant by kind, bytes on disk, embedder and compactor."""
        size = self._ports.store.size()
        return {**self.scope().stats(), "bytes": size, "embedder": self._ports.embedder.name, "compactor": self._ports.compactor.name}

    def doctor(self) -> list[str]:
        """What is wrong with the store, a line each; empty when nothing is."""
        return self._ports.store.check()

    def backup(self, path: str | os.PathLike[str]) -> None:
        """A consistent copy at a new path, with the same key, while others go on writing."""
        self._ports.store.backup(_path(path))

    def flush(self) -> None:
        """Waits for what is done in the background, raises what failed there, and moves the write-ahead log into the file if nobody reads it."""
        self._background.flush()
        self._note_shown()
        self._ports.store.scrub(patience=0.0)

    def close(self) -> None:
        """Closes the store; a second call does nothing."""
        self._background.close()
        self._note_shown()
        if not self._closed:
            self._closed = True
            _opened(self._ports.store.path, -1)
        self._shelf.clear()
        self._ports.store.close()

    def _resume(self) -> None:
        """Consolidates what sessions left that were never closed: a little at once, much in the background (D46).

        Not while the file is open in this process already: its sessions may go on. An agent loop that was at work within the
        hour is left, too: it may be resumed.
        """
        left = waiting(self._ports)
        rules = self._ports.compactor.name == self._ports.fallback.name  # no model is waited for
        if 0 < left <= _AT_ONCE and rules:
            everywhere(self._ports, idle=True)
        elif left:
            self._background.run(lambda stop: everywhere(self._ports, stop=stop, idle=True))

    def _note_shown(self) -> None:
        """Writes which records were shown, if the store can be written."""
        if self._ports.shown and not self._read_only:
            with self._ports.store.write() as w:
                self._ports.shown.write(w)

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


@dataclass(frozen=True)
class Scoped(Tiers):
    """A handle on one scope: everything it reads and writes is bounded by it. Immutable; `narrow` gives a new one."""

    def narrow(self, **dimensions: str | None) -> Scoped:
        """A handle with these dimensions set as well; a set one cannot be changed."""
        return replace(self, scope=self.scope.narrow(**dimensions))

    def session(self, name: str | SessionInfo | None = None, **loop: Unpack[LoopOptions]) -> Session:
        """The session of this name in exactly this scope, new or old; without a name, what is remembered outside a session.

        One of `sessions()` opens that session, in its own scope.
        """
        if isinstance(name, SessionInfo):
            if not self.scope.sees(name.scope):
                raise NotFound(f"The session {name.name!r} is not in this scope.")
            scope = name.scope
        else:
            scope = self.scope if name is None else self.scope.narrow(session=name)
        return Session(scope, self._ports, self._shelf, self._background, given(loop))

    def remember(
        self, text: str, *, role: str = "user", name: str | None = None, at: Moment | None = None, trust: Trust | None = None,
        origin: str | None = None,
    ) -> Message:  # fmt: skip
        """Stores one message in this scope's session and returns it; on disk when the call returns. No model is asked.

        `at` is when it was said (now, if not given; a time without zone is UTC). With `origin`, a stable key of your own,
        the same message is stored once.
        """
        if not checks.text(text, "text"):
            raise EmptyText()
        original = {"role": checks.text(role, "role", empty=False), "content": text}
        draft = Draft(original, checks.maybe_text(name, "name"), moment(at), None, checks.maybe_text(origin, "origin"), checks.trust(trust))
        made = [m for chunk in remember(self._ports, self.scope, [draft]) for m in chunk]
        return made[0] if made else _held(self._ports, self.scope, origin)

    def remember_many(self, messages: Iterable[Any]) -> list[Message]:
        """Stores messages from any iterable, a transaction per chunk, and returns them.

        A message is anything that `Session.add` takes, a `records.Draft`, or a mapping of what `remember` takes:
        `{"text", "role", "name", "at", "trust", "origin"}`. The iterable is read as it is written; if it raises, the chunks
        before stay.
        """
        if isinstance(messages, (str, bytes, Mapping)):
            raise BadValue(f"messages is a {type(messages).__name__}.", hint="Pass a list, or another iterable of messages.")
        flat = (d for m in messages for d in drafts(m))
        return [m for chunk in remember(self._ports, self.scope, flat) for m in chunk]

    def recall(
        self, query: str, *, k: int = 10, kinds: Sequence[Kind] = KINDS, as_of: Moment | None = None, believed_at: Moment | None = None,
        include: Sequence[str] = (),
    ) -> Recall:  # fmt: skip
        """The records that answer best, with reasons; `not_found` when nothing does.

        `as_of`: only what was said, or true, at that moment. `believed_at`: only what the store held at that moment. `include` names
        what else may be found: "archived" (put aside, expired, or hardly certain any more) and "deprecated" (ended or contradicted).
        """
        limit = checks.count(k, "k", least=1, most=10_000)
        also = checks.texts((include,) if isinstance(include, str) else include, "include")
        if unknown := sorted(set(also) - {"archived", "deprecated"}):
            raise BadValue(f"include={unknown!r:.100} is unknown.", hint="Use archived and deprecated.")
        question = Question(checks.text(query, "query"), limit, _kinds(kinds), moment(as_of), moment(believed_at), also)
        return recall(self._ports, self._shelf, self.scope, question)

    def context(
        self,
        query: str | None = None,
        *,
        budget: int = 2_000,
        system: str = "",
        as_of: Moment | None = None,
        believed_at: Moment | None = None,
    ) -> Context:
        """Ordered blocks for a model within `budget` estimated tokens; `BudgetTooSmall` if what must be in does not fit."""
        room = checks.count(budget, "budget", least=0, most=1_000_000_000)
        wanted = Wanted(checks.maybe_text(query, "query"), room, checks.text(system, "system"), moment(as_of), moment(believed_at))
        return context(self._ports, self._shelf, self.scope, wanted)

    def get(self, id: str) -> AnyRecord:
        """The record with this id, if this scope sees it; `NotFound` otherwise."""
        with self._ports.store.read() as r:
            found = r.record(self.scope, checks.text(id, "id"))
        if found is None:
            raise NotFound(f"{id!r} is not in this scope.")
        return self._now(found) if isinstance(found, Fact) else found

    def episodes(self) -> tuple[Episode, ...]:
        """The episodes that this scope sees, oldest first."""
        with self._ports.store.read() as r:
            return tuple(r.episodes(self.scope))

    def sessions(self) -> tuple[SessionInfo, ...]:
        """The sessions that this scope sees, oldest first; `session(info)` opens one."""
        with self._ports.store.read() as r:
            return tuple(SessionInfo(s.scope, s.messages, s.turns, s.folded, s.episodes, s.closed_at) for s in r.sessions(self.scope))

    def erase(self, *ids: str) -> Receipt:
        """Erases records with everything that rests on them: gone, everywhere, with a receipt. Cannot be undone."""
        receipt, gone = forget.erase(self._ports, self.scope, checks.texts(ids, "ids"))
        return self._beside(receipt, gone)

    def erase_all(self) -> Receipt:
        """Erases everything that belongs to exactly the dimensions of this handle, and what rests on it.

        The lines that imports into this scope could not read, and put aside beside the store, go too.
        """
        receipt, gone = forget.erase_all(self._ports, self.scope)
        dropped = transfer.drop_quarantine(self._ports.store.path, self.scope)
        return self._beside(receipt, gone, {"quarantine files": dropped})

    def _beside(self, receipt: Receipt, gone: Sequence[str], more: Mapping[str, int] | None = None) -> Receipt:
        """The receipt with what was erased outside of the store: lines of project files."""
        self._shelf.clear()
        counts = {**(more or {}), "project lines": drop_project_lines(self._ports, gone) if gone else 0}
        return replace(receipt, counts={**receipt.counts, **{k: n for k, n in counts.items() if n}})

    def graph(
        self, name: str, *, depth: int = 1, as_of: Moment | None = None, believed_at: Moment | None = None, limit: int = 100
    ) -> Neighbourhood:
        """What stands around a name: typed edges from facts, and from messages that mention it, each with its source and time.

        `depth` steps from 1 to 4; at most `limit` edges. `NotFound` if neither a fact nor a message of this scope holds the name.
        """
        wanted, most = checks.count(depth, "depth", least=1, most=4), checks.count(limit, "limit", least=1, most=1_000)
        return neighbourhood(
            self._ports, graphs_of(self._shelf), self.scope, checks.text(name, "name"), depth=wanted, as_of=moment(as_of),
            believed_at=moment(believed_at), limit=most,
        )  # fmt: skip

    def paths(self, a: str, b: str, *, as_of: Moment | None = None, believed_at: Moment | None = None, limit: int = 5) -> tuple[Path, ...]:
        """Ways from one name to another through what is known, the shortest first."""
        most = checks.count(limit, "limit", least=1, most=100)
        return paths(
            self._ports, graphs_of(self._shelf), self.scope, checks.text(a, "a"), checks.text(b, "b"), as_of=moment(as_of),
            believed_at=moment(believed_at), limit=most,
        )  # fmt: skip

    def stats(self) -> dict[str, int]:
        """Records that this scope sees, by kind."""
        with self._ports.store.read() as r:
            return dict(r.counts(self.scope))

    def import_(
        self, path: str | os.PathLike[str], *, format: str | None = None, quarantine: str | os.PathLike[str] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> ImportReport:  # fmt: skip
        """Reads a transcript or a memory file into this scope; again, it adds only what is new.

        What cannot be read goes to the quarantine file, verbatim. `progress` is called with bytes done and in all.
        """
        aside = None if quarantine is None else os.fspath(quarantine)
        return transfer.bring(self._ports, self.scope, _path(path), format=format, quarantine=aside, progress=progress)

    def export(
        self, folder: str | os.PathLike[str], *, format: str = "original", as_of: Moment | None = None, believed_at: Moment | None = None
    ) -> int:
        """Writes the messages of each session, as they came in, to JSON files in a folder; how many messages.

        `format="memory-jsonl"` writes `memory.jsonl` instead, the facts that hold for agents that keep their memory in a file; how many.
        Beside the messages, `facts.jsonl` holds every fact with its history, a JSON object on each line. `as_of`: only what was said by then,
        and the facts that held then. `believed_at`: only what the store had recorded by then, and the facts as it believed them.
        """
        then = transfer.Then(moment(as_of), moment(believed_at))
        return transfer.take(self._ports, self.scope, _path(folder), format=format, then=then)


def _held(ports: Ports, scope: Scope, origin: str | None) -> Message:
    """The message of this session with this origin."""
    with ports.store.read() as r:
        state = r.session(scope)
        found = next((m for m in r.messages(state) if m.origin == origin), None) if state else None
    if found is None:
        raise NotFound(f"The message with origin {origin!r} was erased meanwhile.")
    return found


def _kinds(kinds: str | Sequence[str]) -> tuple[Kind, ...]:
    """Some of `KINDS`, or layers and tiers by name for the kinds that they hold; one may be named alone."""
    named = (kinds,) if isinstance(kinds, str) else checks.texts(kinds, "kinds")
    chosen = {k for name in named for k in ([name] if name in KINDS else kinds_of(name) if name in KINDS_OF_TIER else ["?"])}
    if not chosen or not chosen <= set(KINDS):
        raise BadSetting(f"kinds={kinds!r:.100}.", hint=f"Use some of {', '.join((*KINDS, 'L1', 'L2', 'L3'))}.")
    return tuple(k for k in KINDS if k in chosen)


def _path(path: str | os.PathLike[str]) -> str:
    """The path as text."""
    try:
        place = os.fspath(path)
    except TypeError:
        raise BadSetting(f"{path!r} is no path.", hint="Pass a string or a path object.") from None
    if not isinstance(place, str):
        raise BadSetting(f"{path!r} is no path.", hint="Pass a string or a path object.")
    return place


def _store(path: str | os.PathLike[str], key: str | None, read_only: bool) -> SqliteStore:
    place = _path(path)
    if not place:
        raise BadSetting("The path is empty.", hint='Pass the path of a file, or ":memory:".')
    if place.startswith(("postgresql://", "postgres://")):
        raise BadSetting("PostgreSQL stores are not part of this version.", hint="Pass the path of a file.")
    return SqliteStore(place, key=key, read_only=read_only)


def _fits(value: object, what: str, *names: str) -> None:
    """Refuses what is no such port."""
    missing = [n for n in names if not hasattr(value, n)]
    if missing:
        raise BadSetting(
            f"{what}={value!r:.100} has no {', '.join(missing)}.", hint=f"Pass a name, or anything that fits `ports.{what.title()}`."
        )


def _compactor(compactor: str | Compactor) -> Compactor:
    if not isinstance(compactor, str):
        return compactor
    return ExtractiveCompactor() if compactor == "extractive" else model_compactor(compactor)

"""The async face: the same names as the synchronous one, each call in a worker thread. Never a second engine.

mem = await leporello.aio.open("memory.db")
alice = mem.scope(user="alice")
await alice.remember("I moved to Porto.")
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, Unpack

from leporello import memory
from leporello.core.loop.settings import Wire
from leporello.errors import ContextOverflow
from leporello.loop import LoopOptions, calling, overflowed, too_long
from leporello.memory import Memory, Scoped
from leporello.results import SessionInfo
from leporello.session import Session

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")


class Face(Generic[S]):
    """Stands for a synchronous object, `inner`."""

    def __init__(self, inner: S) -> None:
        self.inner = inner


def _threaded(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[Face[S], P], Awaitable[T]]:
    """The method, run in a worker thread on what the face stands for."""

    def call(self: Face[S], /, *args: P.args, **kwargs: P.kwargs) -> Awaitable[T]:
        return asyncio.to_thread(method, self.inner, *args, **kwargs)

    call.__doc__, call.__name__ = method.__doc__, method.__name__
    return call


def _collected(method: Callable[Concatenate[S, P], Iterable[T]]) -> Callable[Concatenate[Face[S], P], Awaitable[tuple[T, ...]]]:
    """The same for a method that yields: everything at once, because a worker thread cannot wait for its caller."""

    def call(self: Face[S], /, *args: P.args, **kwargs: P.kwargs) -> Awaitable[tuple[T, ...]]:
        return asyncio.to_thread(lambda: tuple(method(self.inner, *args, **kwargs)))

    call.__doc__, call.__name__ = method.__doc__, method.__name__
    return call


async def open(path: Any, **options: Any) -> AsyncMemory:
    """`leporello.open` in a worker thread."""
    return AsyncMemory(await asyncio.to_thread(memory.open, path, **options))


async def migrate(path: Any, **options: Any) -> tuple[int, int]:
    """`leporello.migrate` in a worker thread."""
    return await asyncio.to_thread(memory.migrate, path, **options)


async def reembed(path: Any, **options: Any) -> int:
    """`leporello.reembed` in a worker thread."""
    return await asyncio.to_thread(memory.reembed, path, **options)


class AsyncMemory(Face[Memory]):
    """`Memory` with methods to await."""

    consolidate = _threaded(Memory.consolidate)
    maintain = _threaded(Memory.maintain)
    undo = _threaded(Memory.undo)
    runs = _threaded(Memory.runs)
    import_ = _threaded(Memory.import_)
    export = _threaded(Memory.export)
    stats = _threaded(Memory.stats)
    doctor = _threaded(Memory.doctor)
    backup = _threaded(Memory.backup)
    flush = _threaded(Memory.flush)
    close = _threaded(Memory.close)

    def scope(self, **dimensions: Any) -> AsyncScoped:
        """A handle for exactly these dimensions."""
        return AsyncScoped(self.inner.scope(**dimensions))

    async def __aenter__(self) -> AsyncMemory:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()


class AsyncScoped(Face[Scoped]):
    """`Scoped` with methods to await."""

    remember = _threaded(Scoped.remember)
    remember_many = _threaded(Scoped.remember_many)
    learn = _threaded(Scoped.learn)
    confirm = _threaded(Scoped.confirm)
    contradict = _threaded(Scoped.contradict)
    retract = _threaded(Scoped.retract)
    archive = _threaded(Scoped.archive)
    restore = _threaded(Scoped.restore)
    used = _threaded(Scoped.used)
    keep = _threaded(Scoped.keep)
    age = _threaded(Scoped.age)
    events = _threaded(Scoped.events)
    maintain = _threaded(Scoped.maintain)
    undo = _threaded(Scoped.undo)
    runs = _threaded(Scoped.runs)
    outlook = _threaded(Scoped.outlook)
    simulate = _threaded(Scoped.simulate)
    fit = _threaded(Scoped.fit)
    history = _threaded(Scoped.history)
    conflicts = _threaded(Scoped.conflicts)
    quarantine = _threaded(Scoped.quarantine)
    consolidate = _threaded(Scoped.consolidate)
    recall = _threaded(Scoped.recall)
    context = _threaded(Scoped.context)
    explain = _threaded(Scoped.explain)
    get = _threaded(Scoped.get)
    facts = _threaded(Scoped.facts)
    episodes = _threaded(Scoped.episodes)
    sessions = _threaded(Scoped.sessions)
    set_note = _threaded(Scoped.set_note)
    note = _threaded(Scoped.note)
    notes = _threaded(Scoped.notes)
    clear_notes = _threaded(Scoped.clear_notes)
    notes_jsonl = _threaded(Scoped.notes_jsonl)
    export_notes = _threaded(Scoped.export_notes)
    import_notes = _threaded(Scoped.import_notes)
    find = _threaded(Scoped.find)
    project = _threaded(Scoped.project)
    write_project = _threaded(Scoped.write_project)
    read_project = _threaded(Scoped.read_project)
    graph = _threaded(Scoped.graph)
    paths = _threaded(Scoped.paths)
    erase = _threaded(Scoped.erase)
    erase_all = _threaded(Scoped.erase_all)
    stats = _threaded(Scoped.stats)
    import_ = _threaded(Scoped.import_)
    export = _threaded(Scoped.export)

    def narrow(self, **dimensions: str | None) -> AsyncScoped:
        """A handle with these dimensions set as well."""
        return AsyncScoped(self.inner.narrow(**dimensions))

    def session(self, name: str | SessionInfo | None = None, **loop: Unpack[LoopOptions]) -> AsyncSession:
        """The session of this name in this scope, or one of `sessions()`."""
        return AsyncSession(self.inner.session(name, **loop))


class AsyncSession(Face[Session]):
    """`Session` with methods to await."""

    add = _threaded(Session.add)
    messages = _collected(Session.messages)
    tail = _threaded(Session.tail)
    episodes = _threaded(Session.episodes)
    layers = _threaded(Session.layers)
    cuts = _threaded(Session.cuts)
    fold = _threaded(Session.fold)
    compact = _threaded(Session.compact)
    last_compact = _threaded(Session.last_compact)
    unfold = _threaded(Session.unfold)
    pin = _threaded(Session.pin)
    unpin = _threaded(Session.unpin)
    pins = _threaded(Session.pins)
    set_note = _threaded(Session.set_note)
    note = _threaded(Session.note)
    close = _threaded(Session.close)
    request = _threaded(Session.request)
    pending = _threaded(Session.pending)
    phase = _threaded(Session.phase)
    budget = _threaded(Session.budget)
    report = _threaded(Session.report)

    async def send(
        self, create: Callable[..., Awaitable[Any]], /, *, wire: Wire | None = None, window: int | None = None, **options: Any
    ) -> Any:
        """`Session.send` with the method of an asynchronous client, which is awaited."""
        kind, model = calling(create, wire, options)
        try:
            reply = await create(**await asyncio.to_thread(self.inner.request, kind, model=model, window=window), **options)
        except Exception as e:
            if not overflowed(e):
                raise
            body = await asyncio.to_thread(self.inner.request, kind, model=model, window=window, overflow=e)
            try:
                reply = await create(**body, **options)
            except Exception as again:
                if too_long(again):
                    raise ContextOverflow("The provider refused the folded request as too long as well.") from again
                raise
        await asyncio.to_thread(self.inner.add, reply)
        return reply

    async def __aenter__(self) -> AsyncSession:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

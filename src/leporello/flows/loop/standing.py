"""Folds prepared beside the loop: the compactor works while the agent goes on, and its answers are used only if nothing moved."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any

from leporello.core.loop.state import Plan
from leporello.flows.loop.now import Now
from leporello.ports import Compactor, metered
from leporello.records import Episode, EpisodeDraft, Fact, Item, Message, Operation, Scope, Usage

Key = tuple[str, ...]


class Prepared:
    """A compactor that answers what was prepared, and asks the other one for the rest."""

    def __init__(self, compactor: Compactor) -> None:
        self.name = compactor.name
        self._compactor = compactor
        self._episodes: dict[Key, EpisodeDraft] = {}
        self._compacts: dict[Key, tuple[Item, ...]] = {}

    def episode(self, messages: Sequence[Message], *, tokens: int) -> EpisodeDraft:
        """The prepared episode of these messages, or a new one."""
        key = _key(messages)
        if key not in self._episodes:
            self._episodes[key] = self._compactor.episode(messages, tokens=tokens)
        return self._episodes[key]

    def compact(self, messages: Sequence[Message], *, prior: Sequence[Item], tokens: int) -> tuple[Item, ...]:
        """The prepared compact of these messages, or a new one."""
        key = _key(messages)
        if key not in self._compacts:
            self._compacts[key] = tuple(self._compactor.compact(messages, prior=prior, tokens=tokens))
        return self._compacts[key]

    def distil(self, episodes: Sequence[Episode], known: Sequence[Fact]) -> tuple[Operation, ...]:
        """Facts are made when they are needed."""
        return self._compactor.distil(episodes, known)


@dataclass
class Job:
    """A fold in preparation: its plan, the messages that it saw, and in the end the answers and what they cost."""

    plan: Plan
    ids: Key
    start: int
    folded: int
    answers: Prepared
    usage: list[Usage] = field(default_factory=list)
    future: Future[None] | None = None

    def fits(self, now: Now) -> bool:
        """True if what it saw is still what stands at the beginning of the conversation."""
        seen = _key([m for m in now.messages if m.pos <= self.plan.start])
        return self.start == now.view.start and self.folded == now.state.folded and seen == self.ids


class Background:
    """The preparations of an open store; safe for threads. `flush` waits for them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[Scope, Job] = {}
        self._other: list[Future[object]] = []
        self._closing = threading.Event()
        self._pool: ThreadPoolExecutor | None = None

    def begin(self, now: Now, plan: Plan, by: Compactor, pieces: Sequence[tuple[Sequence[Message], int]], *, flat: bool) -> None:
        """Starts to prepare a plan, unless the session has a preparation already. `pieces` are messages with the tokens allowed."""
        ids = _key([m for m in now.messages if m.pos <= plan.start])
        with self._lock:
            held = self._jobs.get(now.scope)
            if held is not None and (held.future is None or not held.future.done() or held.fits(now)):
                return
            job = Job(plan, ids, now.view.start, now.state.folded, Prepared(by))
            self._jobs[now.scope] = job
            self._pool = self._pool or ThreadPoolExecutor(2, thread_name_prefix="leporello-fold")
            job.future = self._pool.submit(copy_context().run, _work, job, pieces, now.view.items if flat else None)

    def run(self, work: Callable[[Callable[[], bool]], object]) -> None:
        """Does other work beside; it is handed a function that says when to stop, because the store is closed."""
        with self._lock:
            self._pool = self._pool or ThreadPoolExecutor(2, thread_name_prefix="leporello-fold")
            self._other.append(self._pool.submit(work, self._closing.is_set))

    def running(self, scope: Scope) -> bool:
        """True while a preparation for the session is not finished."""
        with self._lock:
            job = self._jobs.get(scope)
        return job is not None and job.future is not None and not job.future.done()

    def take(self, now: Now) -> Job | None:
        """The finished preparation, if it still fits; it is handed out once."""
        with self._lock:
            job = self._jobs.get(now.scope)
            if job is None or job.future is None or not job.future.done():
                return None
            del self._jobs[now.scope]
        return job if job.future.exception() is None and job.fits(now) else None

    def flush(self) -> None:
        """Waits until nothing is in preparation; raises what failed beside."""
        with self._lock:
            futures = [j.future for j in self._jobs.values() if j.future is not None]
            other, self._other = self._other, []
        everything: list[Future[Any]] = [*futures, *other]
        wait(everything)
        for work in other:
            work.result()

    def close(self) -> None:
        """Waits and ends the threads; other work stops where it can be gone on with."""
        self._closing.set()
        with self._lock:
            waiting: list[Future[Any]] = [*self._other, *(j.future for j in self._jobs.values() if j.future is not None)]
        wait(waiting)
        with self._lock:
            pool, self._pool = self._pool, None
            self._jobs.clear()
            self._other.clear()
        if pool is not None:
            pool.shutdown(wait=True)


def _work(job: Job, pieces: Sequence[tuple[Sequence[Message], int]], prior: Sequence[Item] | None) -> None:
    with metered() as usage:
        try:
            for messages, tokens in pieces:
                if prior is None:
                    job.answers.episode(messages, tokens=tokens)
                else:
                    job.answers.compact(messages, prior=prior, tokens=tokens)
        finally:
            job.usage = list(usage)


def _key(messages: Sequence[Message]) -> Key:
    return tuple(m.id for m in messages)

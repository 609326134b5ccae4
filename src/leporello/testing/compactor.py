"""A compactor that answers from a script and remembers what it was asked: the only stand-in for a model."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

from leporello.errors import CompactorError
from leporello.records import Episode, EpisodeDraft, Fact, Item, Message, Operation

T = TypeVar("T")


@dataclass(frozen=True)
class Asked:
    """One question to a compactor, with what was handed over; what a question does not have is empty or 0."""

    what: Literal["episode", "compact", "distil"]
    messages: tuple[Message, ...] = ()
    prior: tuple[Item, ...] = ()
    episodes: tuple[Episode, ...] = ()
    known: tuple[Fact, ...] = ()
    tokens: int = 0


Step: TypeAlias = T | Exception | Callable[[Asked], T]
"""An answer, an exception to raise, or a function from the question to an answer."""


class ScriptedCompactor:
    """A `ports.Compactor` with one script for each of its questions. Safe for threads.

    A step of a script is an answer, which is returned, an exception, which is raised, or a function from the question to an answer. When a script is exhausted the
    question raises `CompactorError`. `asked` lists every question in order, those that raised too.
    """

    def __init__(
        self, *, episodes: Iterable[Step[EpisodeDraft]] = (), compacts: Iterable[Step[Sequence[Item]]] = (),
        operations: Iterable[Step[Sequence[Operation]]] = (), name: str = "scripted/1",
    ) -> None:  # fmt: skip
        self.name = name
        self.asked: list[Asked] = []
        self._lock = threading.Lock()
        self._episodes = deque(episodes)
        self._compacts = deque(compacts)
        self._operations = deque(operations)

    def episode(self, messages: Sequence[Message], *, tokens: int) -> EpisodeDraft:
        """The next of `episodes`."""
        return self._next(self._episodes, Asked("episode", tuple(messages), tokens=tokens))

    def compact(self, messages: Sequence[Message], *, prior: Sequence[Item], tokens: int) -> tuple[Item, ...]:
        """The next of `compacts`."""
        answer = self._next(self._compacts, Asked("compact", tuple(messages), tuple(prior), tokens=tokens))
        return tuple(answer)

    def distil(self, episodes: Sequence[Episode], known: Sequence[Fact]) -> tuple[Operation, ...]:
        """The next of `operations`."""
        answer = self._next(self._operations, Asked("distil", episodes=tuple(episodes), known=tuple(known)))
        return tuple(answer)

    def _next(self, script: deque[Step[T]], question: Asked) -> T:
        with self._lock:
            self.asked.append(question)
            if not script:
                raise CompactorError(f"The script of {self.name} holds no further answer to {question.what!r}.")
            step = script.popleft()
        if isinstance(step, Exception):
            raise step
        return step(question) if callable(step) else step

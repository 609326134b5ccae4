"""One session: messages in, folding by hand, and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

from leporello.core import checks
from leporello.core.turns import legal_cuts, shapes
from leporello.errors import FoldError, NotFound
from leporello.flows import fold as folding
from leporello.flows import notes
from leporello.flows.consolidate import distil
from leporello.loop import AgentLoop, piece
from leporello.records import Compact, Episode, Message
from leporello.results import FoldReport, Layers

_PAGE = 500
_POSITIONS = 2**53


@dataclass(frozen=True)
class Session(AgentLoop):
    """A session of a scope. Use it in a `with` block to have it closed: folded, and its facts kept."""

    def messages(self, *, first: int = 1, last: int | None = None) -> Iterator[Message]:
        """The messages in order, by position (1 is the first), folded or not. Read a page at a time: no snapshot is held."""
        at = checks.count(first, "first", least=0, most=_POSITIONS) or 1
        if last is not None:
            checks.count(last, "last", least=0, most=_POSITIONS)
        while True:
            with self._ports.store.read() as r:
                state = r.session(self.scope)
                end = 0 if state is None else state.messages if last is None else min(last, state.messages)
                page = list(r.messages(state, first=at, last=min(end, at + _PAGE - 1))) if state and at <= end else []
            yield from page
            at += _PAGE
            if at > end:
                return

    def tail(self) -> tuple[Message, ...]:
        """The messages that no episode covers, cut where no call is parted from its results.

        A result that comes after the model has spoken on stands alone here, as in the log; contexts show it as text.
        """
        with self._ports.store.read() as r:
            state = r.session(self.scope)
            return tuple(r.messages(state, first=state.folded + 1)) if state else ()

    def episodes(self) -> tuple[Episode, ...]:
        """The episodes of the session, oldest first."""
        with self._ports.store.read() as r:
            state = r.session(self.scope)
            return tuple(r.episodes(self.scope, session=state)) if state else ()

    def layers(self) -> Layers:
        """Which turns each layer holds: disjoint, and together every turn once."""
        return folding.layers(self._ports, self.scope)

    def cuts(self) -> tuple[int, ...]:
        """Positions p such that the messages up to p may be folded and the rest kept (0: fold nothing)."""
        tail = self.tail()
        start = tail[0].pos - 1 if tail else 0
        return tuple(start + c for c in legal_cuts(shapes(tail)))

    def fold(self, *, all: bool = False) -> FoldReport:
        """Folds what is over the windows, or with `all=True` every closed turn. Folding again changes nothing."""
        return folding.fold(self._ports, self.scope, everything=all)

    def compact(self, *, max_tokens: int = 3_000) -> Compact:
        """The flat summary of the session in at most `max_tokens` estimated tokens; it is kept with the session."""
        return folding.compact(self._ports, self.scope, budget=checks.count(max_tokens, "max_tokens", least=0, most=1_000_000_000))

    def last_compact(self) -> Compact | None:
        """The newest compact of the session, if one was made."""
        with self._ports.store.read() as r:
            return r.compact(self.scope)

    def unfold(self, id: str) -> tuple[Message, ...]:
        """What lies behind an id that was shown, verbatim: the messages of an episode, a message, or one piece of it.

        A piece that a request showed shortened or left out has an id such as `m_…#2`: the message comes back with this piece alone.
        """
        name, _, number = checks.text(id, "id").partition("#")
        with self._ports.store.read() as r:
            found = r.record(self.scope, name)
            if isinstance(found, Message):
                return (piece(found, number) if number else found,)
            if not isinstance(found, Episode) or number:
                raise NotFound(f"{id!r} is no episode, message or piece of a message of this session.")
            state = r.session(found.scope)
            return tuple(r.messages(state, first=found.positions[0], last=found.positions[1])) if state else ()

    def pin(self, text: str) -> None:
        """Keeps a text verbatim in front of every context of this session: a goal, a constraint."""
        with self._ports.store.write() as w:
            w.put_pin(self.scope, checks.text(text, "text", empty=False), at=self._ports.clock.now())

    def unpin(self, text: str) -> None:
        """Takes a pin away."""
        with self._ports.store.write() as w:
            w.put_pin(self.scope, checks.text(text, "text", empty=False), at=self._ports.clock.now(), keep=False)

    def pins(self) -> tuple[str, ...]:
        """The pins that hold in this session, in the order in which they were set."""
        with self._ports.store.read() as r:
            return tuple(r.pins(self.scope))

    def set_note(self, key: str, value: Any, *, confidence: float = 1.0) -> tuple[str, ...]:
        """Sets a scratchpad value (any JSON value); `None` removes it. The keys that had to go for it: a session holds at most 50."""
        return notes.put(self._ports, self.scope, checks.text(key, "key", empty=False), value, confidence=confidence)

    def note(self, key: str) -> Any:
        """The scratchpad value, or None."""
        with self._ports.store.read() as r:
            return next((j.note.value for j in notes.read(r, self.scope) if j.note.key == key), None)

    def close(self) -> FoldReport:
        """Folds every closed turn, keeps what will matter later as facts, and clears the session's notes.

        More messages may follow; close again then.
        """
        folded = self.fold(all=True)
        kept = distil(self._ports, self.scope, closing=True)
        with self._ports.store.write() as w:
            state = w.session(self.scope)
            if state is not None and state.closed_at is None:
                w.put_session(replace(state, closed_at=self._ports.clock.now()))
            if self.scope.session is not None:
                notes.clear(w, self.scope)
        return replace(folded, distilled=(*folded.distilled, *kept.distilled), facts=(*folded.facts, *kept.facts))

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self.close()
        except FoldError:
            if error is None:
                raise

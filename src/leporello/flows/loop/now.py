"""What one request is made from, read in one snapshot, and written back in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from leporello.core.blocks import parts
from leporello.core.loop import decide, measure
from leporello.core.loop.settings import Given, LoopSettings
from leporello.core.loop.state import Tally, View, tally_of, view_of
from leporello.core.tokens import estimate, weigh
from leporello.core.turns import legal_cuts, shapes
from leporello.core.windows import Unfolded
from leporello.errors import BadValue, NothingToSend
from leporello.ports import LoopRow, Ports, Reader, SessionState
from leporello.records import Message, Scope


@dataclass(frozen=True)
class Now:
    """A session between two calls: `messages` are those after the view's start; `view` is None before the first request."""

    scope: Scope
    state: SessionState
    settings: LoopSettings
    given: Given
    tally: Tally
    view: View
    fresh: bool
    pins: tuple[str, ...]
    messages: tuple[Message, ...] = field(repr=False)
    window: int = 0
    model: str = ""

    @property
    def count(self) -> Callable[[str], int]:
        """The tokenizer that was plugged in, or the estimate."""
        return _checked(self.given.tokenizer) if self.given.tokenizer else weigh

    def factor(self, margin: float) -> float:
        """What an estimate of a request is multiplied with."""
        pairs = self.tally.pairs.get(self.model) or (self.tally.pairs.get("") if not self.model else ()) or ()
        return measure.factor(pairs, margin=1.05 if self.given.tokenizer and not pairs else margin)

    def row(self) -> LoopRow:
        """What is stored of it."""
        shown = self.view.shown
        return LoopRow(self.settings.to_dict(), self.tally.to_dict(), self.view.to_dict(), shown)


def _checked(tokenizer: Callable[[str], int]) -> Callable[[str], int]:
    """The caller's tokenizer; what it raises, and what is no count, becomes a typed error."""

    def count(text: str) -> int:
        try:
            found = tokenizer(text)
        except Exception as e:
            raise BadValue(
                f"The tokenizer failed: {type(e).__name__}: {e}", hint="Pass tokenizer=, a function from any text to a count."
            ) from e
        if isinstance(found, bool) or not isinstance(found, int) or found < 0:
            raise BadValue(f"The tokenizer returned {found!r:.80}.", hint="Pass tokenizer=, a function from any text to a count.")
        return found

    return count


def look(ports: Ports, scope: Scope, given: Given, *, model: str = "", window: int | None = None) -> Now:
    """Reads the session; `NothingToSend` if it holds no message."""
    with ports.store.read() as r:
        return _read(r, scope, given, model=model, window=window)


def _read(r: Reader, scope: Scope, given: Given, *, model: str, window: int | None) -> Now:
    state = r.session(scope)
    if state is None or not state.messages:
        raise NothingToSend(f"Session {scope.session!r} holds no message.")
    row = r.loop(scope)
    settings = given.over(row.settings if row else {})
    tally = tally_of(row.tally) if row else Tally()
    held = view_of(row.view) if row else None
    view = held or View()
    model = model or settings.model or tally.model
    learned = tally.windows.get(model)
    size = min(window or settings.window, learned) if learned else window or settings.window
    messages = tuple(r.messages(state, first=view.start + 1))
    return Now(scope, state, settings, given, tally, view, held is None, tuple(r.pins(scope)), messages, size, model)


def keep(ports: Ports, now: Now, *, expect: Any = None) -> bool:
    """Writes the loop's row. With `expect`, a plan, only if the stored plan is still that one; False if it is not."""
    with ports.store.write() as w:
        if expect is not None:
            row = w.loop(now.scope)
            if row is None or tally_of(row.tally).plan != expect:
                return False
        w.put_loop(now.scope, now.row())
    return True


def room_of(now: Now, fixed: int, factor: float) -> decide.Room:
    """The room in the window, `fixed` being the estimate of what stands in front."""
    return decide.Room(now.window, now.settings.room_for_answer(now.window), int(fixed * factor), factor)


def unfolded(messages: Sequence[Message], *, cap: int) -> Unfolded:
    """The messages as the fold's windows see them, each piece of them no larger than it is shown."""
    held = shapes(messages)
    cuts = legal_cuts(held)
    plain = frozenset(c for c in cuts if c == len(messages) or not held[c].assistant)
    return Unfolded([m.turn for m in messages], [shown_tokens(m, cap) for m in messages], cuts, plain)


def shown_tokens(message: Message, cap: int) -> int:
    """Estimated tokens of a message with long pieces shortened to `cap`."""
    if message.tokens <= cap:
        return message.tokens
    held = parts(message)
    whole = sum(estimate(p.text) for p in held)
    return message.tokens - whole + sum(min(cap, estimate(p.text)) for p in held)


def with_tally(now: Now, **changes: Any) -> Now:
    """The same with these counts changed."""
    return replace(now, tally=replace(now.tally, **changes))

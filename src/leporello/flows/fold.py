"""Folding: turns into episodes (L1 to L2), episodes into facts (L2 to L3), each step one transaction.

A step is prepared outside the transaction and applied only if the folded prefix has not moved in the meantime (D24);
so two processes that fold one session at once fold it once. The log itself never changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from leporello.core import tokens, turns, windows
from leporello.core.compact import render
from leporello.errors import BudgetTooSmall, FoldStuck, NothingToFold
from leporello.flows.consolidate import distil
from leporello.flows.episodes import moved, unchanged, write_episode, written
from leporello.ports import Ports
from leporello.records import Compact, Episode, Message, Scope
from leporello.results import FoldReport, Layers

_STRIKES = 2
_HEAD = 1_000
_LOG_TOKENS = 1_000_000
_SMALLEST_COMPACT = 50


@dataclass(frozen=True)
class _Tail:
    """What is not folded yet: the messages, where they may be cut, and the sums that decide."""

    messages: Sequence[Message]
    cuts: Sequence[int]
    plain: frozenset[int]


def fold(ports: Ports, scope: Scope, *, everything: bool = False) -> FoldReport:
    """Folds the session as far as its windows ask, or completely. Folding again changes nothing."""
    with ports.store.read() as r:
        state = r.session(scope)
        messages = list(r.messages(state, first=state.folded + 1)) if state else []
    if state is None:
        return FoldReport()
    report = FoldReport(tokens_before=sum(m.tokens for m in messages))
    if state.stalled >= _STRIKES:
        raise FoldStuck(f"Session {scope.session!r}: {state.stalled} folds in a row made no progress.")
    tail = _tail(messages)
    made: list[Episode] = []
    notes: list[str] = []
    if everything or windows.over(_window(tail, whole=True), ports.policies.fold):
        while (cut := _cut(ports, tail, everything=everything)) is not None:
            step = write_episode(ports, state, tail.messages[:cut])
            if step is None:
                return fold(ports, scope, everything=everything)
            made.append(step.value)
            notes += [step.fallback] if step.fallback else []
            state = moved(state, step.value)
            tail = _after(tail, cut)
    third = distil(ports, scope, closing=False)
    return replace(
        report,
        episodes=tuple(e.id for e in made),
        turns=(made[0].turns[0], made[-1].turns[1]) if made else None,
        tokens_after=sum(m.tokens for m in tail.messages) + sum(e.tokens for e in made),
        distilled=third.distilled,
        facts=third.facts,
        fallbacks=(*notes, *third.fallbacks),
    )


def layers(ports: Ports, scope: Scope) -> Layers:
    """Which turns each layer holds: disjoint, and together every turn once, in order."""
    with ports.store.read() as r:
        state = r.session(scope)
        if state is None:
            return Layers()
        episodes = r.episodes(scope, session=state)
    kept = state.folded_turn + 1
    ranges = {layer: tuple(e.turns for e in episodes if e.layer == layer and e.turns[0] <= e.turns[1]) for layer in (2, 3)}
    return Layers(ranges[3], ranges[2], ((kept, state.turns),) if kept <= state.turns else (), state.turns)


def compact(ports: Ports, scope: Scope, *, budget: int) -> Compact:
    """The flat summary of the session in at most `budget` tokens, kept with the session.

    Made from the log itself as long as that is of moderate size; from the episodes and the unfolded tail of a longer one.
    """
    if budget < _SMALLEST_COMPACT:
        raise BudgetTooSmall(f"A compact of {budget} tokens says nothing.", hint=f"Allow at least {_SMALLEST_COMPACT} tokens.")
    with ports.store.read() as r:
        state = r.session(scope)
        if state is None or not state.messages:
            raise NothingToFold(f"Session {scope.session!r} holds no messages.")
        episodes = r.episodes(scope, session=state)
        long = sum(e.replaced_tokens for e in episodes) > _LOG_TOKENS
        messages = list(r.messages(state, first=state.folded + 1 if long else 1))
    prior = tuple(i for e in episodes for i in e.items) if long else ()
    answer = written(ports, lambda c: c.compact(messages, prior=prior, tokens=budget), what="compact")
    text, shown = render(answer.value, tokens=budget)
    made = Compact(scope, text, tokens.estimate(text), shown, state.turns, answer.compactor, len(answer.value) - len(shown))
    with ports.store.write() as w:
        now = w.session(scope)
        if now is not None and unchanged(w, now, messages) and episodes == w.episodes(scope, session=now):
            w.put_compact(made, at=ports.clock.now())
            return made
    return compact(ports, scope, budget=budget)


def _tail(messages: Sequence[Message]) -> _Tail:
    shapes = turns.shapes(messages)
    cuts = turns.legal_cuts(shapes)
    plain = frozenset(c for c in cuts if c == len(messages) or not shapes[c].assistant)
    return _Tail(messages, cuts, plain)


def _after(tail: _Tail, cut: int) -> _Tail:
    """The rest after a legal cut: no pair crosses it, so the other cuts stay legal."""
    return _Tail(tail.messages[cut:], [c - cut for c in tail.cuts if c >= cut], frozenset(c - cut for c in tail.plain if c >= cut))


def _window(tail: _Tail, *, whole: bool) -> windows.Unfolded:
    held = tail.messages if whole else tail.messages[:_HEAD]
    return windows.Unfolded([m.turn for m in held], [m.tokens for m in held], [c for c in tail.cuts if c <= len(held)], tail.plain)


def _cut(ports: Ports, tail: _Tail, *, everything: bool) -> int | None:
    """The next cut; a long backlog is looked at from its head, which is as good and not quadratic."""
    if len(tail.messages) > 3 * _HEAD:
        cut = windows.next_cut(_window(tail, whole=False), ports.policies.fold, everything=True)
        if cut is not None and cut < _HEAD:
            return cut
    return windows.next_cut(_window(tail, whole=True), ports.policies.fold, everything=everything)

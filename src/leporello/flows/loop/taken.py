"""What a reply tells, noted in the transaction that stores it; orders for the next request; folds prepared beside the loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from leporello.core.blocks import parts
from leporello.core.loop import measure
from leporello.core.loop.settings import Given
from leporello.core.loop.state import Tally, tally_of, view_of
from leporello.core.loop.usage import Price, is_reply, micros, plausible, price, usage_of
from leporello.flows.loop.body import Built, build
from leporello.flows.loop.now import Now, look
from leporello.flows.loop.plans import plan
from leporello.flows.loop.standing import Background
from leporello.flows.loop.use import note_uses
from leporello.flows.loop.views import compact_room, compactor_for
from leporello.ports import LoopRow, Ports, Writer
from leporello.records import Message, Scope, Usage

Beside = Callable[[Writer, Sequence[Message]], None]
_EARLY = 0.8


def taken(ports: Ports, scope: Scope, value: object, given: Given, *, reply: bool | None = None) -> Beside | None:
    """What is to be done in the transaction that stores `value`: nothing for what is no reply and holds no thinking and no provider's id.

    `reply` says that a mapping answers the last request, or that it does not; without it, a mapping counts as an answer if a
    request waits for one and what it reports is plausible, but its thinking stays behind.
    """
    used = usage_of(value) if reply is not False else None
    sure = is_reply(value) if reply is None else reply

    def beside(w: Writer, made: Sequence[Message]) -> None:
        thinks = not sure and any(m.original.get("id") or p.kind == "thinking" for m in made if m.role == "assistant" for p in parts(m))
        row = w.loop(scope)
        if row is None and used is None:
            return
        settings, tally = (row.settings, tally_of(row.tally)) if row else (given.settings, Tally())
        view = row.view if row else None
        if used is not None and (sure or tally.waiting and plausible(tally.sent, used.input)):
            at = price(used.model or tally.model, given.prices)
            cost = micros(used, at) if at else 0
            w.add_spend(scope, f"{ports.clock.now():%Y-%m-%d}", tokens=used.input + used.output, micros=cost)
            tally = _counted(tally, used, at, cost)
        if made and made[-1].role == "assistant":
            tally = replace(tally, waiting=False)
        if thinks and view is not None:
            view = {**view, "thinking_from": made[-1].pos}
        w.put_loop(scope, LoopRow(dict(settings), tally.to_dict(), view, row.shown if row else ()))
        note_uses(ports, w, scope, view, made)

    return beside if used is not None or _may_think(value) else None


def _may_think(value: object) -> bool:
    """True if a message that is no reply may hold thinking: a mapping or an object of the model's side."""
    held = value if isinstance(value, (list, tuple)) else [value]
    return any(not isinstance(v, str) and _side(v) in {"assistant", None} for v in held)


def _side(value: object) -> Any:
    return value.get("role") if isinstance(value, Mapping) else getattr(value, "role", None)


def _counted(tally: Tally, used: Usage, at: Price | None, cost: int) -> Tally:
    """The counts with one more reply; the estimate of its request is held against what was reported (D6)."""
    model = tally.model or used.model
    pairs = {**tally.pairs, model: measure.learned(tally.pairs.get(model, ()), tally.sent, used.input)}
    return replace(
        tally, replies=tally.replies + 1, input=tally.input + used.input, output=tally.output + used.output,
        cached=tally.cached + used.cached, written=tally.written + used.written, micros=tally.micros + cost,
        unpriced=tally.unpriced + (at is None), peak=max(tally.peak, used.input), overflows=0, pairs=pairs, model=model,
    )  # fmt: skip


def order(ports: Ports, scope: Scope, given: Given, **changes: Any) -> None:
    """Writes a standing order of the caller: a phase, a budget."""
    with ports.store.write() as w:
        row = w.loop(scope)
        tally = replace(tally_of(row.tally) if row else Tally(), **changes)
        w.open_session(scope)
        settings = row.settings if row else given.over({}).to_dict()
        w.put_loop(scope, LoopRow(settings, tally.to_dict(), row.view if row else None, row.shown if row else ()))


def prepare(ports: Ports, scope: Scope, given: Given, background: Background) -> None:
    """Begins to prepare the fold that will be due soon, if the session asks for that."""
    with ports.store.read() as r:
        row = r.loop(scope)
    if row is None or view_of(row.view) is None or not given.over(row.settings).background:
        return
    now = look(ports, scope, given)
    early, kind = _early(ports), now.tally.wire or "anthropic"
    built = build(now, kind, early.policies.loop)
    due = plan(early, now, built)
    if due is not None and not background.running(scope):
        background.begin(now, due, compactor_for(ports, built, kind, now.model), _pieces(ports, now, due, built), flat=due.kind == "flat")


def _early(ports: Ports) -> Ports:
    """The same with windows that are reached a little sooner."""
    p = ports.policies
    loop = replace(p.loop, share=max(0.1, p.loop.share * _EARLY), turns=max(1, int(p.loop.turns * _EARLY)))
    fold = replace(p.fold, l1_turns=max(1, int(p.fold.l1_turns * _EARLY)), l1_tokens=max(100, int(p.fold.l1_tokens * _EARLY)))
    return replace(ports, policies=replace(p, loop=loop, fold=fold))


def _pieces(ports: Ports, now: Now, due: Any, built: Built) -> list[tuple[list[Message], int]]:
    gone = [m for m in now.messages if m.pos <= due.start]
    if due.kind == "flat":
        prior = now.view.items if now.view.kind == "flat" else ()
        return [(gone, compact_room(ports, built, gone, prior))]
    out, first = [], now.state.folded
    for cut in due.cuts:
        out.append(([m for m in gone if first < m.pos <= cut], ports.policies.fold.episode_tokens))
        first = cut
    return [p for p in out if p[0]]

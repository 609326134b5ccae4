"""What a loop did so far, for people."""

from __future__ import annotations

from leporello.core.loop.settings import Given
from leporello.core.loop.state import Tally, View, tally_of, view_of
from leporello.ports import Ports
from leporello.records import Scope
from leporello.results import LoopReport


def report(ports: Ports, scope: Scope, given: Given) -> LoopReport:
    """The counts of this session's loop, since its first request, in whatever process."""
    with ports.store.read() as r:
        row = r.loop(scope)
        pins = len(r.pins(scope))
    tally = tally_of(row.tally) if row else Tally()
    view = (view_of(row.view) if row else None) or View()
    settings = given.over(row.settings if row else {})
    return LoopReport(
        requests=tally.requests, replies=tally.replies, tokens_in=tally.input, tokens_out=tally.output, cached=tally.cached,
        written=tally.written, peak=tally.peak, survived=tally.survived, last_survived=tally.sent_prefix, last_estimate=tally.sent,
        folds=tally.folds, folded_messages=tally.folded_messages, fold_tokens_in=tally.fold_input, fold_tokens_out=tally.fold_output,
        failures=dict(tally.failures), fallbacks=tally.fallbacks, overflows=tally.overflowed, shortened=tally.shortened,
        cost_usd=None if tally.unpriced and not tally.micros else tally.micros / 1e6, fold_cost_usd=tally.fold_micros / 1e6,
        unpriced=tally.unpriced, mode=settings.mode, view=view.kind, sent_from=view.start + 1, window=settings.window,
        pins=pins, phase=tally.phase, budget=dict(tally.budget),
    )  # fmt: skip

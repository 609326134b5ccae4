"""What happened to a record, from its claims and its events: the log that forgetting is computed from, and fitted to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from leporello.errors import NotFound
from leporello.ports import AnyRecord, Ports, Reader
from leporello.records import EVENTS, Claim, Event, EventKind, Fact, Message, Scope

_STEPS: dict[str, EventKind] = {
    "confirm": "confirmed", "end": "contradicted", "retract": "contradicted", "supersede": "contradicted", "archive": "archived",
    "restore": "restored", "revive": "restored", "fade": "archived",
}  # fmt: skip


def events(ports: Ports, scope: Scope, id: str) -> tuple[Event, ...]:
    """What happened to a record of this scope, oldest first."""
    with ports.store.read() as r:
        record = r.record(scope, id)
        if record is None:
            raise NotFound(f"{id!r} is not in this scope.")
        return tuple(log_of(r, [record])[id])


def log_of(r: Reader, records: Sequence[AnyRecord]) -> dict[str, list[Event]]:
    """What happened to these records of one tenant, by their ids, each oldest first."""
    out: dict[str, list[Event]] = {x.id: [] for x in records}
    if not records:
        return out
    scope, ids = records[0].scope, list(out)
    known: set[tuple[str, str, datetime]] = set()
    for event in r.events(scope, ids):
        out[event.record].append(event)
        known.add((event.record, event.kind, event.at))
    for claim in r.claims(scope, ids):
        for event in _of_claim(claim):
            if (event.record, event.kind, event.at) not in known:
                out[event.record].append(event)
    for x in records:
        if not isinstance(x, Fact):
            out[x.id].append(Event(x.id, "observed", x.at if isinstance(x, Message) else x.recorded_at))
    return {i: sorted(found, key=lambda e: (e.at, EVENTS.index(e.kind))) for i, found in out.items()}


def _of_claim(claim: Claim) -> Iterator[Event]:
    if claim.fact is None:
        return
    if claim.text:
        yield Event(claim.fact, "observed", claim.recorded_at)
    elif claim.op in _STEPS:
        yield Event(claim.fact, _STEPS[claim.op], claim.recorded_at)

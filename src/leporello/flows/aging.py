"""How records stand with time: traces kept as things happen, retention and confidence computed when they are read.

A trace is a function of a record's claims and events alone. It is kept beside the record so that reading counts nothing again, and
made anew whenever one of them is written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from leporello.core import confidence as sure
from leporello.core import facts as rules
from leporello.core.retention import laws
from leporello.core.times import from_micros, micros
from leporello.policies import RetentionPolicy
from leporello.ports import AnyRecord, Ports, Reader, TraceRow, Writer
from leporello.records import Claim, Event, Fact, Message, Scope
from leporello.results import Age

SECOND = 1_000_000
DAY = 86_400 * SECOND
GOOD, EASY = 3, 4
LOOP = "loop"
"""What stands as `run` with a use that an agent loop noted itself: it keeps alive, but makes nothing truer than it was at first."""
SEEN, SILENT = "maintain", "keep"
"""The sources of a step that brings a record back: as if it had been seen, or without its having been."""
_OWN = {"user_stated": "stated", "inferred": "inferred", "assumed": "assumed"}
IN_USE = frozenset({"active", "conflict"})
_ORDER = ("back", "confirmed", "raised", "again", "said", "used")
_SURE = sure.FULL * sure.WEEK
_FIELDS = tuple(f.name for f in fields(laws.Trace))
RESTS = frozenset({"archived", "deprecated", "quarantine"})


@lru_cache(maxsize=64)
def law_of(policy: RetentionPolicy) -> laws.Law | None:
    """The law that a policy names, in days over microseconds; None for none."""
    if policy.law == "none":
        return None
    given = {"half_life": policy.half_life, "d": policy.decay, "noise": policy.noise, "unit": DAY}
    known = {f.name for f in fields(laws.LAWS[policy.law])}
    return laws.law(policy.law, {k: v for k, v in given.items() if k in known})


def rate(policy: RetentionPolicy, record: AnyRecord) -> int:
    """How much confidence a fact loses in a week, in basis points."""
    if not isinstance(record, Fact) or policy.confidence == "none":
        return 0
    return (sure.BY_SOURCE if policy.confidence == "by_source" else sure.UNIFORM).rate(_OWN.get(record.source, "inferred"))


def gap_of(policy: RetentionPolicy) -> int:
    """Microseconds within which what happens again counts once."""
    return policy.gap * SECOND


# --- read ------------------------------------------------------------------------------------------------------------


def ages(r: Reader, records: Iterable[AnyRecord], *, policy: RetentionPolicy, now: datetime) -> dict[str, Age]:
    """How these records stand at `now`, by id."""
    held = list(records)
    rows, at = rows_of(r, held), micros(now)
    return {x.id: age(x, rows.get(x.id), policy=policy, at=at) for x in held}


def rows_of(r: Reader, records: Sequence[AnyRecord]) -> dict[str, TraceRow]:
    """The traces of these records, by id."""
    rows: dict[str, TraceRow] = {}
    for tenant in {x.scope.tenant for x in records}:
        rows.update(r.traces(Scope(tenant), [x.id for x in records if x.scope.tenant == tenant]))
    return rows


def age(record: AnyRecord, row: TraceRow | None, *, policy: RetentionPolicy, at: int) -> Age:
    """How a record stands; of one without a row what holds of one that was just made and never used."""
    trace = trace_of(row) if row is not None else new(micros(_begun(record)))
    row = row or fresh(record, trace)
    left = retention(trace, row.pinned, policy, at)
    certain = _certain(record, row, policy, at)
    status, hidden = _status(record, row, certain, at)
    if status == "active" and left < policy.thresholds[0]:
        status = "fading"
    sure_of = None if certain is None else round(certain / _SURE, 4)
    return Age(
        record.id, record.kind, left, sure_of, status, row.importance, row.pinned, _when(row.expires), trace.count, from_micros(trace.recent[0]),
        hidden, _when(row.due),
    )  # fmt: skip


def weights(record: AnyRecord, row: TraceRow | None, *, policy: RetentionPolicy, at: int) -> tuple[float, float | None]:
    """The retention and the confidence of a record, as `age` tells them, at less cost."""
    if row is None:
        trace, row = new(micros(_begun(record))), fresh(record, _NEW) if isinstance(record, Fact) else None
        return retention(trace, False, policy, at), None if row is None else (_certain(record, row, policy, at) or 0) / _SURE
    certain = _certain(record, row, policy, at)
    return retention(trace_of(row), row.pinned, policy, at), None if certain is None else certain / _SURE


def hidden(record: AnyRecord, row: TraceRow | None, *, policy: RetentionPolicy, at: int) -> str:
    """The status of a record that is out of default recall; empty for one that is not. Tells less than `age`, and costs less."""
    if row is None and not isinstance(record, Fact):
        return ""
    row = row or fresh(record, _NEW)
    status, out = _status(record, row, _certain(record, row, policy, at), at)
    return status if out else ""


def _certain(record: AnyRecord, row: TraceRow, policy: RetentionPolicy, at: int) -> int | None:
    """The level of confidence at a moment, of what has one; a pinned one is as certain as it was."""
    if not isinstance(record, Fact):
        return None
    return 0 if record.status == "deprecated" else _left(row, rate(policy, record), at)


def _left(row: TraceRow, weekly: int, at: int) -> int | None:
    """What is left of a level at a moment: as `core.confidence.decayed`, without its checks."""
    if row.level is None or row.since is None:
        return None
    return row.level if row.pinned else max(0, row.level - weekly * max(0, at - row.since))


def _status(record: AnyRecord, row: TraceRow, certain: int | None, at: int) -> tuple[str, bool]:
    """The status but for fading, and whether the record is out of default recall."""
    status = record.status if isinstance(record, Fact) else "archived" if row.aside is not None else "active"
    if status in IN_USE and row.expires is not None and row.expires <= at:
        return "expired", True
    return status, status in RESTS or (certain is not None and certain < sure.THRESHOLD * sure.WEEK)


def retention(trace: laws.Trace, pinned: bool, policy: RetentionPolicy, at: int) -> float:
    """The chance that a record can be recalled; pins never fade."""
    law = law_of(policy)
    return 1.0 if pinned or law is None else law.retention(trace, at)


def confidence(row: TraceRow, weekly: int, at: int) -> float | None:
    """How certain a record is at a moment; a pinned one as certain as it was."""
    left = _left(row, weekly, at)
    return None if left is None else left / _SURE


def as_aged(facts: Iterable[Fact], found: Mapping[str, Age]) -> list[Fact]:
    """The facts with the confidence and the status that they have by now."""
    return [replace(f, confidence=a.confidence or 0.0, status=_shown(f, a)) if (a := found.get(f.id)) is not None else f for f in facts]


def _shown(fact: Fact, found: Age) -> str:
    return "archived" if found.status == "expired" else found.status


def _when(at: int | None) -> datetime | None:
    return None if at is None else from_micros(at)


# --- written ---------------------------------------------------------------------------------------------------------


_NEW = laws.begin(0)


@lru_cache(maxsize=1 << 13)
def new(at: int) -> laws.Trace:
    """The trace of what was only made: as `laws.begin`, which need not be asked for each message that is found."""
    return laws.Trace(at, 1, (at,), _NEW.importance, _NEW.stability, _NEW.difficulty, at, _NEW.decays)


def fresh(record: AnyRecord, trace: laws.Trace | None = None) -> TraceRow:
    """The row of a record that was only made; with its trace, if that is at hand, left out."""
    at = micros(_begun(record))
    level = sure.standing(record.confidence, at).level if isinstance(record, Fact) else None
    held = kept(new(at)) if trace is None else ""
    return TraceRow(record.id, record.scope, record.kind, held, level, at if level is not None else None)


def _begun(record: AnyRecord) -> datetime:
    """When a record began to age: a message when it was said, all else when the store learned it."""
    return record.at if isinstance(record, Message) else record.recorded_at


def kept(trace: laws.Trace) -> str:
    """A trace as JSON text."""
    return json.dumps({n: getattr(trace, n) for n in _FIELDS}, separators=(",", ":"))


def trace_of(row: TraceRow) -> laws.Trace:
    """The trace of a row."""
    return _read(row.trace)


@lru_cache(maxsize=1 << 13)
def _read(text: str) -> laws.Trace:
    held: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in json.loads(text).items()}
    return laws.Trace(**held)


def begin(ports: Ports, w: Writer, records: Sequence[AnyRecord]) -> None:
    """Writes the traces of new records."""
    w.put_traces([timed(fresh(x), x, ports.policies.retention) for x in records])


def follow(ports: Ports, w: Writer, derived: Mapping[str, rules.Derived], facts: Mapping[str, Fact]) -> None:
    """Makes the traces of these facts anew from what they are derived from and from what happened to them."""
    if not facts:
        return
    scope = next(iter(facts.values())).scope
    rows = w.traces(scope, list(facts))
    events = _by_record(w.events(scope, list(facts)))
    policy = ports.policies.retention
    w.put_traces([retraced(f, derived[i], events.get(i, ()), rows.get(i), policy) for i, f in facts.items()])


def observed(ports: Ports, w: Writer, fact: Fact, at: datetime) -> None:
    """Notes that a fact was said once more which so many support already that no further claim is kept."""
    if w.add_events(fact.scope, [Event(fact.id, "observed", at)], gap=gap_of(ports.policies.retention)):
        w.put_traces(rebuilt(w, [fact], ports.policies.retention))


def retraced(fact: Fact, d: rules.Derived, events: Sequence[Event], row: TraceRow | None, policy: RetentionPolicy) -> TraceRow:
    """The trace of a fact: what those who are trusted most say of it, what the user confirmed or brought back, and its uses."""
    used, again = ([micros(e.at) for e in events if e.kind == kind] for kind in ("used", "observed"))
    said = [*(micros(c.recorded_at) for c in d.told), *again]
    back = [micros(s.recorded_at) for s in d.steps if s.op in {"restore", "revive"} and s.source != SILENT]
    confirmed = [micros(s.recorded_at) for s in d.steps if s.op == "confirm"]
    grades = [*((t, GOOD) for t in (*said, *used, *back)), *((t, EASY) for t in confirmed)]
    old = row or fresh(fact)
    made = laws.of_events(grades, importance=laws.multiplier(old.importance), gap=gap_of(policy), unit=DAY)
    noted = {micros(e.at) for e in events if e.kind == "used" and e.run == LOOP}
    level, since = _standing(d, (used, noted), [*back, *again], rate(policy, fact), gap_of(policy))
    return timed(replace(old, scope=fact.scope, trace=kept(made), level=level, since=since), fact, policy)


def _standing(
    d: rules.Derived, uses: tuple[Sequence[int], set[int]], back: Sequence[int], weekly: int, gap: int
) -> tuple[int, int]:  # fmt: skip
    """What confidence came to when it last rose: it begins as those who are trusted most say, falls, and rises with each support and use.

    What is said again is at least as certain as that statement alone; what was brought back, or confirmed or used when it was hidden
    already, is as certain as it was at first; a use that a loop noted (the second of `uses`) makes it no more certain than that. Uses,
    confirmations, and what one told by hand or an agent says again, close together, count once.
    """
    first = sure.standing(max(c.confidence for c in d.told), min(micros(c.recorded_at) for c in d.told))
    steps: list[tuple[int, str, int]] = [(micros(t), "raised" if free else "again", n) for t, n, free in d.raised()]
    steps += [(micros(c.recorded_at), "said", sure.standing(c.confidence, 0).level) for c in d.told]
    steps += [(micros(s.recorded_at), "confirmed", 1) for s in d.steps if s.op == "confirm"]
    steps += [(t, "back", first.level) for t in back] + [(t, "used", 1) for t in uses[0]]
    held = first
    last: dict[str, int] = {}
    for at, what, value in sorted(steps, key=lambda s: (s[0], _ORDER.index(s[1]), s[2])):
        now = sure.decayed(held, at, rate=weekly)
        least = value if what in {"said", "back"} else first.level if what in {"confirmed", "used"} and now.hidden else 0
        held = sure.Standing(least, now.since) if least > now.level else held
        if what in {"raised", "again", "used"} and (what == "raised" or at - last.get(what, at - gap) >= gap):
            most = max(now.level, held.level, first.level) if what == "used" and at in uses[1] else sure.FULL * sure.WEEK
            held = sure.reinforce(held, at, rate=weekly, by=min(sure.FULL, sure.REINFORCEMENT * value))
            held = sure.Standing(min(held.level, most), held.since)
            last[what] = at
    return held.level, held.since


def timed(row: TraceRow, record: AnyRecord, policy: RetentionPolicy) -> TraceRow:
    """The row with the first moment at which maintenance has something to do: to put the record aside, or never."""
    ends = [row.expires] if row.expires is not None else []
    rests = record.status not in IN_USE if isinstance(record, Fact) else row.aside is not None
    law = law_of(policy)
    if not row.pinned and not rests and record.kind != "message":
        _, forgotten = policy.thresholds
        gone = law.crosses(trace_of(row), forgotten, trace_of(row).last) if law is not None else None
        hidden = sure.hidden_from(sure.Standing(row.level, row.since or 0), rate=rate(policy, record)) if row.level is not None else None
        ends += [t for t in (gone, hidden) if t is not None and t <= laws.YEAR_9999]
    return replace(row, due=None if rests or not ends else min(ends))


def _by_record(events: Iterable[Event]) -> dict[str, list[Event]]:
    out: dict[str, list[Event]] = {}
    for e in events:
        out.setdefault(e.record, []).append(e)
    return out


def rebuilt(r: Reader, facts: Sequence[Fact], policy: RetentionPolicy) -> list[TraceRow]:
    """The traces of these facts of one tenant made anew from their claims and events."""
    scope, ids = facts[0].scope, [f.id for f in facts]
    claims: dict[str, list[Claim]] = {}
    for claim in r.claims(scope, ids):
        claims.setdefault(claim.fact or "", []).append(claim)
    rows, events = r.traces(scope, ids), _by_record(r.events(scope, ids))
    out = []
    for fact in facts:
        told = claims.get(fact.id, [])
        if any(c.text for c in told):
            out.append(retraced(fact, rules.Derived.alone(told), events.get(fact.id, ()), rows.get(fact.id), policy))
        else:
            out.append(timed(rows.get(fact.id) or fresh(fact), fact, policy))
    return out


def presented(row: TraceRow, at: int, policy: RetentionPolicy) -> TraceRow:
    """The row of a record that was used, or brought back, at a moment."""
    return replace(row, trace=kept(laws.present(trace_of(row), at, gap=gap_of(policy), unit=DAY)))


def weighed(row: TraceRow, record: AnyRecord, policy: RetentionPolicy) -> TraceRow:
    """The row of a message or an episode by its importance."""
    trace = trace_of(row)
    again = replace(
        trace, importance=laws.multiplier(row.importance), stability=trace.stability * laws.multiplier(row.importance) / trace.importance
    )
    return timed(replace(row, trace=kept(again)), record, policy)


def retentions(rows: Sequence[TraceRow], policy: RetentionPolicy, at: int) -> list[float]:
    """The retention of many at one moment."""
    law = law_of(policy)
    if law is None or not rows:
        return [1.0] * len(rows)
    found = law.retentions(laws.Columns.of([trace_of(t) for t in rows]), at)
    return [1.0 if t.pinned else float(v) for t, v in zip(rows, found, strict=True)]

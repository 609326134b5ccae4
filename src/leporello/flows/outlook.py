"""What time will do, what it would have done under another law, and the law that fits what happened. All of it only reads.

The past is made anew from claims and events up to each moment; the trace of a record as it is now says nothing about how it stood
before its last use. Importance, pins and ends are those of now, as they are not in the log.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from leporello.core import confidence as sure
from leporello.core import facts as rules
from leporello.core.retention import fit as fitting
from leporello.core.retention import laws
from leporello.core.times import from_micros, micros
from leporello.flows import aging
from leporello.policies import RetentionPolicy
from leporello.ports import AnyRecord, Ports, Reader, TraceRow
from leporello.records import Claim, Event, Fact, Message, Scope
from leporello.results import Age, Coming, Curve, Fit, Happened, Loss, Outlook, PastRun, Simulated, Simulation

BATCH = 500
WEEK = 7 * aging.DAY
DAYS, WEEKS = 7, 12
SOON = 500
"""What is listed of the next week, at most."""
RUNS, _LOOKED = 5, 200
POINTS, MARKS = 240, 150
HOUR = 3_600
OUTCOMES = 20_000
"""The newest that a law is fitted to."""
_OWN_TIME = frozenset({"fsrs", "compat", "none"})
_STATUSES = ("active", "fading", "conflict", "uncertain", "expired", "archived", "deprecated", "quarantine")
_SIMULATED = _STATUSES
_KEPT = frozenset({"active", "fading", "conflict", "uncertain"})
"""What the law alone does not put aside."""


# --- what comes ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """What an outlook is about: the records with their logs (none: all that the scope sees), days ahead, and the laws drawn."""

    logs: Mapping[str, Sequence[Event]] = field(default_factory=dict)
    days: int = 90
    laws: tuple[str, ...] = ()


@dataclass
class _Seen:
    """What is counted while records are read."""

    counts: Counter[str] = field(default_factory=Counter)
    due: list[int] = field(default_factory=list)
    soon: list[Coming] = field(default_factory=list)
    listed: int = 0
    ids: set[str] = field(default_factory=set)

    def note(self, coming: Coming) -> None:
        """Lists what comes; of very much only the soonest."""
        self.listed += 1
        self.soon.append(coming)
        if len(self.soon) > 4 * SOON:
            self.soon = self.soonest()

    def soonest(self) -> list[Coming]:
        """The `SOON` soonest."""
        return sorted(self.soon, key=lambda c: (c.at, c.id))[:SOON]


def outlook(ports: Ports, scope: Scope, asked: Asked) -> Outlook:
    """How the scope's records stand and what comes; of those that were asked for, their curves too."""
    policy, now = ports.policies.retention, ports.clock.now()
    at = micros(now)
    policies = [replace(policy, law=name) for name in dict.fromkeys(asked.laws or (policy.law,))]
    seen = _Seen()
    with ports.store.read() as r:
        held = [x for i in asked.logs if (x := r.record(scope, i)) is not None] if asked.logs else None
        for records in _batches(r, scope) if held is None else [held]:
            rows = r.traces(scope, [x.id for x in records])
            _count(seen, [(x, rows.get(x.id) or aging.fresh(x)) for x in records], policy, at)
        if held is None:
            _messages(seen, r, scope, policy, at)
        curves = tuple(_curve(r, x, asked.logs[x.id], policies, (at, at + asked.days * aging.DAY)) for x in held or ())
        runs = tuple(_runs(r, scope, seen.ids))
    overdue = sum(t <= at for t in seen.due)
    days, weeks = (_falling(seen.due, at, step, n) for step, n in ((aging.DAY, DAYS), (WEEK, WEEKS)))
    counts = {s: seen.counts[s] for s in _STATUSES if seen.counts[s] or s != "quarantine"}
    soon, total = tuple(seen.soonest()), sum(seen.counts.values())
    return Outlook(now, policy.law, policy.half_life, total, counts, overdue, days, weeks, soon, seen.listed - len(soon), runs, curves)


def _batches(r: Reader, scope: Scope) -> Iterator[list[AnyRecord]]:
    held: list[AnyRecord] = [*r.facts(scope), *r.episodes(scope)]
    held.reverse()
    while held:  # what was read is let go
        yield [held.pop() for _ in range(min(BATCH, len(held)))]


def _falling(due: Sequence[int], at: int, step: int, n: int) -> tuple[int, ...]:
    found = Counter((t - at - 1) // step for t in due if t > at)
    return tuple(found[i] for i in range(n))


def _count(seen: _Seen, held: Sequence[tuple[AnyRecord, TraceRow]], policy: RetentionPolicy, at: int) -> None:
    """Counts these by status, and notes what comes to them."""
    then = aging.retentions([row for _, row in held], policy, at + WEEKS * WEEK)
    fading, forgotten = policy.thresholds
    for (record, row), kept in zip(held, then, strict=True):
        stands = aging.age(record, row, policy=policy, at=at)
        out_of_recall = stands.hidden and stands.status not in aging.RESTS and stands.status != "expired"
        seen.counts["uncertain" if out_of_recall else stands.status] += 1
        seen.ids.add(record.id)
        if stands.status in aging.RESTS:
            continue
        # most records change in no way within the weeks that are shown: nothing is to be solved for them
        certain = aging.confidence(row, aging.rate(policy, record), at + WEEKS * WEEK)
        if kept < forgotten or row.expires is not None or (certain is not None and certain < sure.THRESHOLD / sure.FULL):
            due = aging.timed(row, record, policy).due
            if due is not None and due <= at + WEEKS * WEEK:
                seen.due.append(due)
                if due <= at + WEEK:
                    seen.note(_due(record, row, policy, max(due, at)))
        if kept < fading and stands.status == "active":
            law = aging.law_of(policy)
            gone = law.crosses(aging.trace_of(row), fading, at) if law is not None else None
            if gone is not None and gone <= at + WEEK:
                seen.note(_fading(record, row, policy, gone))


def _messages(seen: _Seen, r: Reader, scope: Scope, policy: RetentionPolicy, at: int) -> None:
    """Notes the messages that expire: they have no other end."""
    after = (-(1 << 62), "")
    while True:
        rows = r.due(scope, at + WEEKS * WEEK, after=after, k=BATCH)
        for row in rows:
            if row.kind == "message" and scope.sees(row.scope) and (record := r.record(scope, row.id)) is not None:
                seen.ids.add(row.id)
                seen.due.append(row.due or 0)
                if (row.due or 0) <= at + WEEK:
                    seen.note(_due(record, row, policy, max(row.due or 0, at)))
        if len(rows) < BATCH:
            return
        after = (rows[-1].due or 0, rows[-1].id)


def _due(record: AnyRecord, row: TraceRow, policy: RetentionPolicy, at: int) -> Coming:
    """Why a record is due at a moment at which it is."""
    stands = aging.age(record, row, policy=policy, at=at)
    _, forgotten = policy.thresholds
    if row.expires is not None and row.expires <= at:
        what, why = "expired", f"it expires on {_day(row.expires)}"
    elif stands.retention < forgotten:
        what, why = "forgotten", f"retention falls below {forgotten:g}: {_last(row, policy)}"
    else:
        lost = aging.rate(policy, record) / 10_000
        what, why = "uncertain", f"confidence falls below 0.2: nothing supported it since {_day(row.since or at)}, at {lost:g} a week"
    return _coming(record, stands, what, why, at)


def _fading(record: AnyRecord, row: TraceRow, policy: RetentionPolicy, at: int) -> Coming:
    stands = aging.age(record, row, policy=policy, at=at)
    why = f"retention falls below {policy.thresholds[0]:g}: {_last(row, policy)}"
    return _coming(record, stands, "fading", why, at)


def _coming(record: AnyRecord, then: Age, what: str, why: str, at: int) -> Coming:
    return Coming(record.id, record.kind, record.text, what, from_micros(at), round(then.retention, 6), then.confidence, why)


def _last(row: TraceRow, policy: RetentionPolicy) -> str:
    trace = aging.trace_of(row)
    times = "once" if trace.count == 1 else f"{trace.count} times"
    own = "" if policy.law in _OWN_TIME else f", half-life {policy.half_life:g} days"
    return f"seen or used {times}, last on {_day(trace.last)}; importance {row.importance}, law {policy.law}{own}"


def _day(at: int) -> str:
    return f"{from_micros(at):%Y-%m-%d %H:%M} UTC"


def _runs(r: Reader, scope: Scope, ids: set[str]) -> Iterator[PastRun]:
    """The newest runs that moved what is counted here."""
    found = 0
    for run in list(reversed(r.runs(Scope(scope.tenant))))[:_LOOKED]:
        moved = sum(e.kind == "archived" and e.record in ids for e in r.runs(Scope(scope.tenant), run.run))
        if moved and found < RUNS:
            found += 1
            yield PastRun(run.run or "", run.at, moved)


# --- curves ----------------------------------------------------------------------------------------------------------


def _curve(r: Reader, record: AnyRecord, log: Sequence[Event], policies: Sequence[RetentionPolicy], span: tuple[int, int]) -> Curve:
    """A record from its first presentation to the end of the span, whose start is now."""
    now, end = span
    then = _Past(r, record, policies[0])
    first = micros(log[0].at) if log else now
    end = max(end, first + 1)
    ended = _ended(r, record) if isinstance(record, Fact) else None
    if ended is not None and all(micros(e.at) != ended for e in log):
        log = sorted([*log, Event(record.id, "contradicted", from_micros(ended))], key=lambda e: e.at)
    happened = [micros(e.at) for e in log[-MARKS:]]
    edges = [t - 1 for t in happened] + happened + [now]
    times = sorted({t for t in (*(first + (end - first) * i // POINTS for i in range(POINTS + 1)), *edges) if first <= t <= end})
    rows = [then.row(t) for t in times]
    kept = {p.law: _retentions(rows, times, p, now) for p in policies}
    certain = None
    if isinstance(record, Fact):
        weekly = aging.rate(policies[0], record)
        pinned = [replace(row, pinned=row.pinned and t >= now) for row, t in zip(rows, times, strict=True)]
        sured = [aging.confidence(row, weekly, t) or 0.0 for row, t in zip(pinned, times, strict=True)]
        certain = tuple(0.0 if ended is not None and t >= ended else round(c, 4) for c, t in zip(sured, times, strict=True))
    main = kept[policies[0].law]
    events = tuple(Happened(e.kind, e.at, main[max(0, bisect_right(times, micros(e.at)) - 1)]) for e in log[-MARKS:])
    return Curve(
        record.id, record.kind, record.text, rows[-1].pinned, tuple(map(from_micros, times)), kept, certain, events,
        {p.law: p.thresholds for p in policies},
    )  # fmt: skip


def _retentions(rows: Sequence[TraceRow], times: Sequence[int], policy: RetentionPolicy, now: int) -> tuple[float, ...]:
    law = aging.law_of(policy)
    if law is None:
        return (1.0,) * len(times)
    found = law.retentions(laws.Columns.of([aging.trace_of(row) for row in rows]), np.array(times, np.int64))
    return tuple(1.0 if row.pinned and t >= now else round(float(v), 6) for row, t, v in zip(rows, times, found, strict=True))


def _ended(r: Reader, fact: Fact) -> int | None:
    """When a fact that is deprecated now became so."""
    if fact.status != "deprecated":
        return None
    steps = [s for s in r.history(fact) if s.was is not None and s.was.status != "deprecated"]
    return micros(steps[-1].at) if steps else None


class _Past:
    """The trace of one record as it was, made from what had happened by then."""

    def __init__(self, r: Reader, record: AnyRecord, policy: RetentionPolicy) -> None:
        self._record, self._policy = record, policy
        self._now = r.traces(record.scope, [record.id]).get(record.id) or aging.fresh(record)
        self._claims = r.claims(record.scope, [record.id]) if isinstance(record, Fact) else []
        self._events = r.events(record.scope, [record.id])
        self._changes = sorted(micros(x) for x in {*(c.recorded_at for c in self._claims), *(e.at for e in self._events)})
        self._made: dict[int, TraceRow] = {}

    def row(self, at: int) -> TraceRow:
        """The trace at a moment, what happened then included."""
        key = bisect_right(self._changes, at)
        if key not in self._made:
            self._made[key] = self._make(at)
        return self._made[key]

    def _make(self, at: int) -> TraceRow:
        claims = [c for c in self._claims if micros(c.recorded_at) <= at]
        events = [e for e in self._events if micros(e.at) <= at]
        if isinstance(self._record, Fact) and any(c.text for c in claims):
            return aging.retraced(self._record, rules.Derived.alone(claims), events, self._now, self._policy)
        steps = traces(self._record, self._now, claims, events, self._policy)
        return replace(self._now, trace=aging.kept(steps[-1][1]))


# --- what would have been --------------------------------------------------------------------------------------------


def traces(
    record: AnyRecord, row: TraceRow, claims: Sequence[Claim], events: Sequence[Event], policy: RetentionPolicy
) -> list[tuple[int, laws.Trace]]:
    """The traces that a record had, each with the moment from which it had it. Who is trusted more makes a fact's trace anew."""
    told = [(micros(c.recorded_at), rules.RANK[c.trust]) for c in claims if c.text]
    ops = {"restore": aging.GOOD, "revive": aging.GOOD, "confirm": aging.EASY}
    happened = [(micros(c.recorded_at), ops[c.op]) for c in claims if c.op in ops and not c.text]
    happened += [(micros(e.at), aging.GOOD) for e in events if e.kind == "used" or (e.kind == "restored" and not told)]
    told = told or [(micros(record.at if isinstance(record, Message) else record.recorded_at), 0)]
    begins: list[tuple[int, int]] = []
    for at, rank in sorted(told, key=lambda c: (c[0], -c[1])):
        if not begins or rank > begins[-1][1]:
            begins.append((at, rank))
    out: list[tuple[int, laws.Trace]] = []
    for (since, rank), until in zip(begins, [*(at for at, _ in begins[1:]), laws.YEAR_9999], strict=True):
        said = [(at, aging.GOOD) for at, whose in told if whose == rank]
        trace: laws.Trace | None = None
        for at, grade in sorted([*said, *happened], key=lambda e: (e[0], -e[1])):
            if at >= until:
                break
            trace = _presented(trace, at, grade, row, policy)
            if at >= since and (not out or out[-1][1] is not trace):
                if out and out[-1][0] == at:
                    out.pop()
                out.append((at, trace))
    return out


def _presented(trace: laws.Trace | None, at: int, grade: int, row: TraceRow, policy: RetentionPolicy) -> laws.Trace:
    if trace is None:
        return laws.begin(at, importance=laws.multiplier(row.importance))
    return laws.present(trace, at, grade=grade, gap=aging.gap_of(policy), unit=aging.DAY)


@dataclass(frozen=True)
class _Life:
    """What a record went through, as far as no law decides it: `rests` is its status if that does not depend on time."""

    row: TraceRow
    rests: str
    disputed: bool
    hidden: int | None
    steps: list[tuple[int, laws.Trace]]
    used: list[int]
    outcomes: list[tuple[int, bool]]

    def before(self, at: int) -> laws.Trace:
        """The trace just before a moment; of one that is before everything, the first."""
        return self.steps[max(0, bisect_left(self.steps, at, key=lambda s: s[0]) - 1)][1]

    def status(self, kept: float, at: int, policy: RetentionPolicy) -> str:
        """The status at a moment after the last step, with maintenance done; what is put aside by its confidence alone is uncertain."""
        fading, forgotten = policy.thresholds
        if self.rests:
            return self.rests
        if self.row.expires is not None and self.row.expires <= at:
            return "expired"
        if kept < forgotten and not self.row.pinned:
            return "archived"
        if self.hidden is not None and at >= self.hidden:
            return "uncertain"
        return "conflict" if self.disputed else "fading" if kept < fading and not self.row.pinned else "active"


def window_of(policy: RetentionPolicy) -> int:
    """Seconds within which what was shown is used, or was not: the gap, an hour if there is none."""
    return policy.gap or HOUR


def _lives(r: Reader, scope: Scope, policy: RetentionPolicy, now: int) -> Iterator[list[_Life]]:
    for records in _batches(r, scope):
        ids = [x.id for x in records]
        rows = r.traces(scope, ids)
        claims: dict[str, list[Claim]] = {}
        events: dict[str, list[Event]] = {}
        for claim in r.claims(scope, ids):
            claims.setdefault(claim.fact or "", []).append(claim)
        for event in r.events(scope, ids):
            events.setdefault(event.record, []).append(event)
        logs = {x.id: (claims.get(x.id, []), events.get(x.id, [])) for x in records}
        yield [_life(x, rows.get(x.id) or aging.fresh(x), logs[x.id], policy, now) for x in records]


def _life(record: AnyRecord, row: TraceRow, log: tuple[list[Claim], list[Event]], policy: RetentionPolicy, now: int) -> _Life:
    claims, events = log
    rests, disputed, hidden = "", False, None
    if isinstance(record, Fact):
        hand = rules.Derived.alone(claims).hand
        by_law = record.status == "archived" and hand.faded is not None and not hand.archived
        rests = record.status if record.status not in aging.IN_USE and not by_law else ""
        disputed = record.status == "conflict"
        standing = None if row.level is None or row.pinned else sure.Standing(row.level, row.since or 0)
        hidden = None if standing is None else sure.hidden_from(standing, rate=aging.rate(policy, record))
    used = [micros(e.at) for e in events if e.kind == "used"]
    shown = [] if row.pinned else [micros(e.at) for e in events if e.kind in {"shown", "retrieved"}]
    found = fitting.shown_outcomes(shown, used, window=window_of(policy) * aging.SECOND, gap=aging.gap_of(policy), now=now)
    return _Life(row, rests, disputed, hidden, traces(record, row, claims, events, policy), used, found)


@dataclass
class _Tally:
    """What one law comes to so far."""

    policy: RetentionPolicy
    counts: list[Counter[str]]
    regret: int = 0
    idle: int = 0
    loss: float = 0.0

    def add(self, lives: Sequence[_Life], times: Sequence[int]) -> None:
        """Counts these records in."""
        last = laws.Columns.of([life.steps[-1][1] for life in lives])
        for i, at in enumerate(times):
            for life, kept in zip(lives, self._retentions(last, at), strict=True):
                status = life.status(kept, at, self.policy)
                self.counts[i][status] += 1
                self.idle += i == 0 and not life.used and status in _KEPT
        uses = [(n, at, life.before(at)) for n, life in enumerate(lives) if not life.row.pinned for at in life.used]
        _, forgotten = self.policy.thresholds
        kept_then = self._at([t for *_, t in uses], [at for _, at, _ in uses])
        self.regret += len({n for (n, *_), kept in zip(uses, kept_then, strict=True) if kept < forgotten})
        shown = [(at, life.before(at), hit) for life in lives for at, hit in life.outcomes]
        predicted = self._at([t for _, t, _ in shown], [at for at, *_ in shown])
        self.loss += float(fitting.losses(np.array(predicted), np.array([hit for *_, hit in shown], np.bool_)).sum())

    def _at(self, held: Sequence[laws.Trace], times: Sequence[int]) -> list[float]:
        return self._retentions(laws.Columns.of(held), np.array(times, np.int64)) if held else []

    def _retentions(self, columns: laws.Columns, at: Any) -> list[float]:
        law = aging.law_of(self.policy)
        return [1.0] * len(columns) if law is None else [float(v) for v in law.retentions(columns, at)]


def variants(policy: RetentionPolicy, names: Sequence[str], half_lives: Sequence[float]) -> list[RetentionPolicy]:
    """The policy under each law and half-life; under a law that has none, once. `BadSetting` for what is no law or out of bounds."""
    out = []
    for name in names or (policy.law,):
        lives = [policy.half_life] if name in _OWN_TIME else half_lives or [policy.half_life]
        out += [replace(policy, law=name, half_life=h) for h in lives]
    return list(dict.fromkeys(out))


def simulate(ports: Ports, scope: Scope, policies: Sequence[RetentionPolicy], days: Sequence[int]) -> Simulation:
    """What each of the policies would have come to, with maintenance done at every moment; later, if nothing happens any more."""
    policy, now = ports.policies.retention, ports.clock.now()
    at = micros(now)
    times = [at, *(at + d * aging.DAY for d in days)]
    tallies = [_Tally(p, [Counter() for _ in times]) for p in policies]
    n = used = outcomes = hits = 0
    with ports.store.read() as r:
        for lives in _lives(r, scope, policy, at):
            n, used = n + len(lives), used + sum(bool(life.used) for life in lives)
            outcomes += sum(len(life.outcomes) for life in lives)
            hits += sum(hit for life in lives for _, hit in life.outcomes)
            for tally in tallies:
                tally.add(lives, times)
    rows = tuple(
        Simulated(
            t.policy.law, None if t.policy.law in _OWN_TIME else t.policy.half_life, _ordered(t.counts[0]),
            {d: _ordered(c) for d, c in zip(days, t.counts[1:], strict=True)}, used, t.regret, n - used, t.idle,
            round(t.loss / outcomes, 6) if outcomes else None,
        )
        for t in tallies
    )  # fmt: skip
    flat = round(fitting.constant_loss(outcomes, hits), 6) if outcomes else None
    return Simulation(now, n, tuple(days), outcomes, hits, window_of(policy), flat, rows)


def _ordered(counts: Counter[str]) -> dict[str, int]:
    return {s: counts[s] for s in _SIMULATED if counts[s]}


# --- what fits -------------------------------------------------------------------------------------------------------


def fit(ports: Ports, scope: Scope) -> Fit:
    """Fits half-life and decay of ACT-R to the log. `BadValue` if there are too few outcomes."""
    policy, at = ports.policies.retention, micros(ports.clock.now())
    moments: list[tuple[int, laws.Trace, bool]] = []
    with ports.store.read() as r:
        for lives in _lives(r, scope, policy, at):
            moments += [(t, life.before(t), hit) for life in lives for t, hit in life.outcomes]
            if len(moments) > 2 * OUTCOMES:
                moments = sorted(moments, key=lambda m: m[0])[-OUTCOMES:]
    outcomes = fitting.Outcomes.of(sorted(moments, key=lambda m: m[0])[-OUTCOMES:])
    start = laws.ActR(half_life=policy.half_life, d=policy.decay, noise=policy.noise, unit=aging.DAY)
    found = fitting.fit(outcomes, start, before=aging.law_of(policy))
    half_life, decay = float(f"{found.half_life:.4g}"), round(found.d, 3)
    chosen = {"retention": {"law": "actr", "half_life": half_life, "decay": decay}} if found.better else {}
    inside, outside = (Loss(*(round(getattr(p, f.name), 6) for f in fields(p))) for p in (found.fitted, found.held_out))
    return Fit(
        len(outcomes), int(outcomes.used.sum()), half_life, decay, policy.half_life, policy.decay, inside, outside, found.better, found.why,
        chosen,
    )  # fmt: skip

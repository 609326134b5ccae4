"""Maintenance: what time has done to records is carried out, explained, previewed and taken back.

Only status moves: what is hardly recalled any more, hardly certain any more, expired, or too much for its scope is put aside
(archived), and can be brought back. Nothing is deleted. Which records these are follows from traces and the clock alone, so that
running twice is running once, and a dry run says what a run would do.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from time import perf_counter

from leporello.core import facts as rules
from leporello.core.times import from_micros, micros
from leporello.errors import BadSetting, NotFound
from leporello.flows import aging
from leporello.flows.learn import base_of
from leporello.flows.settle import Bench, settle_one
from leporello.policies import RetentionPolicy
from leporello.ports import AnyRecord, Change, Ports, Reader, Store, TraceRow, Writer
from leporello.records import Claim, ClaimOp, Event, Fact, Importance, Provenance, Scope
from leporello.results import Age, Maintenance, Move, Undone

ACTOR = "maintain"
BATCH = 500
_NO_RUN = "There is no maintenance run {!r} here: `runs()` lists them."
FITTED = "retention"
"""The setting of a store that holds the policy by which it was maintained last: its traces fall due by that."""
MIXED = "retention mixed"
"""The setting that says that a writer by another policy has opened the store since: some traces fall due by that one."""


def maintain(ports: Ports, *, scope: Scope | None = None, dry_run: bool = False) -> Maintenance:
    """Puts aside what is due by now: of a scope, or of the whole store. Batches of `BATCH` let writers in between."""
    began = perf_counter()
    at = micros(ports.clock.now())
    run = f"r_{at:014x}{secrets.token_hex(4)}"
    stale = _is_stale(ports)
    if not dry_run:
        if stale:
            refit(ports)
            ports.store.setting(MIXED, "0")
            stale = False
        _note_policy(ports)
    with ports.store.read() as r:
        tenants = [scope.tenant] if scope is not None else r.tenants()
    done: list[Move] = []
    looked = 0
    for tenant in tenants:
        whose = scope or Scope(tenant)
        for seen, moves in _due_moves(ports, whose, at, "" if dry_run else run, stale=stale):
            looked += seen
            done += moves
        done += _over_cap(ports, whose, at, "" if dry_run else run, {m.id for m in done})
    done.sort(key=lambda m: (m.scope.tenant, m.retention, m.id))
    took = round((perf_counter() - began) * 1000, 3)
    return Maintenance("" if dry_run or not done else run, from_micros(at), dry_run, looked, tuple(done), took)


def _due_moves(ports: Ports, scope: Scope, at: int, run: str, *, stale: bool) -> Iterator[tuple[int, list[Move]]]:
    """What is due, a batch at a time: how many were looked at and what moves; carried out if `run` names the run."""
    policy = ports.policies.retention
    if stale:
        with ports.store.read() as r:
            yield from ((len(rows), _moves(r, scope, rows, policy, at)) for rows in _all_timed(r, scope, policy, at))
        return
    after = (-(1 << 62), "")
    while True:
        if run:
            with ports.store.write() as w:
                rows, mine, moves = _page(w, scope, policy, at, after)
                carry_out(ports, w, moves, run)
                moved = {m.id for m in moves}
                _put_off(w, [t for t in mine if t.id not in moved], policy)
        else:
            with ports.store.read() as r:
                rows, mine, moves = _page(r, scope, policy, at, after)
        if rows:
            after = (rows[-1].due or 0, rows[-1].id)
            yield len(mine), moves
        if len(rows) < BATCH:
            return


def _page(
    r: Reader, scope: Scope, policy: RetentionPolicy, at: int, after: tuple[int, str]
) -> tuple[list[TraceRow], list[TraceRow], list[Move]]:  # fmt: skip
    """The next rows that are due, those of them that the scope sees, and what of these moves."""
    rows = r.due(scope, at, after=after, k=BATCH)
    mine = [t for t in rows if scope.sees(t.scope)]
    return rows, mine, _moves(r, scope, mine, policy, at)


def _put_off(w: Writer, rows: Sequence[TraceRow], policy: RetentionPolicy) -> None:
    """What was due and stays, because it rests already, is looked at no more until it is due anew."""
    again = ((t, w.record(Scope(t.scope.tenant), t.id)) for t in rows)
    w.put_traces([aging.timed(t, x, policy) if x is not None else replace(t, due=None) for t, x in again])


def _moves(r: Reader, scope: Scope, rows: Iterable[TraceRow], policy: RetentionPolicy, at: int) -> list[Move]:
    """Those of the rows whose records move, with the numbers and the sentence why."""
    out = []
    for row in rows:
        record = r.record(Scope(scope.tenant), row.id)
        if record is None:
            continue
        stands = aging.age(record, row, policy=policy, at=at)
        if why := reason(row, record, stands, policy, at):
            out.append(_move(row, record, stands, why))
    return out


def _move(row: TraceRow, record: AnyRecord, stands: Age, why: tuple[str, str]) -> Move:
    return Move(row.id, row.kind, record.scope, record.text, stands.status, *why, round(stands.retention, 6), stands.confidence)


def reason(row: TraceRow, record: AnyRecord, stands: Age, policy: RetentionPolicy, at: int) -> tuple[str, str] | None:
    """Why a record that stands so is put aside at a moment: the cause (expired, forgotten or uncertain) and a sentence; None if it stays."""
    if stands.status in aging.RESTS:
        return None
    if row.expires is not None and row.expires <= at:
        return "expired", f"it expired on {from_micros(row.expires):%Y-%m-%d %H:%M} UTC"
    if row.pinned or record.kind == "message":
        return None
    _, forgotten = policy.thresholds
    if stands.retention < forgotten:
        return "forgotten", f"retention {_below(stands.retention, forgotten)}: {_seen(stands.presentations, row, policy, at)}"
    if stands.confidence is not None and stands.hidden:
        weeks = (at - (row.since or at)) / (7 * aging.DAY)
        lost = aging.rate(policy, record) / 10_000
        why = f"nothing supported it for {weeks:.1f} weeks, at {lost:g} a week"
        return "uncertain", f"confidence {_below(stands.confidence, 0.2)}: {why}"
    return None


def _below(value: float, limit: float) -> str:
    return f"{value:.4f} is below {limit:g}" if round(value, 4) < limit else f"has just fallen below {limit:g}"


def _seen(times: int, row: TraceRow, policy: RetentionPolicy, at: int) -> str:
    days = (at - aging.trace_of(row).last) / aging.DAY
    count = "once" if times == 1 else f"{times} times"
    half_life = "" if policy.law in {"fsrs", "compat"} else f", half-life {policy.half_life:g} days"
    return f"seen or used {count}, last {days:.1f} days ago; importance {row.importance}, law {policy.law}{half_life}"


def _over_cap(ports: Ports, scope: Scope, at: int, run: str, gone: set[str]) -> list[Move]:
    """The facts that are too many for their scopes: lowest retention first, then least lately used, then by id; pins and the user's own last."""
    policy = ports.policies.retention
    if policy.cap is None:
        return []
    if not run:
        with ports.store.read() as r:
            return _crowd(r, scope, policy, at, gone)
    with ports.store.write() as w:
        out = _crowd(w, scope, policy, at, gone)
        carry_out(ports, w, out, run)
        return out


def _crowd(r: Reader, scope: Scope, policy: RetentionPolicy, at: int, gone: set[str]) -> list[Move]:
    """The same of every scope that is over the cap."""
    out: list[Move] = []
    for rows in r.crowded(scope, policy.cap or 0):
        held = [t for t in rows if t.id not in gone and scope.sees(t.scope)]
        out += _least(r, held, policy, at) if len(held) > (policy.cap or 0) else []
    return out


def _least(r: Reader, rows: Sequence[TraceRow], policy: RetentionPolicy, at: int) -> list[Move]:
    cap = policy.cap or 0
    traces = {t.id: aging.trace_of(t) for t in rows}
    kept = dict(zip(traces, aging.retentions(rows, policy, at), strict=True))
    facts = {t.id: r.record(t.scope, t.id) for t in rows}
    last = {i: isinstance(f, Fact) and f.trust == "user" for i, f in facts.items()}
    order = sorted(rows, key=lambda t: (t.pinned, last[t.id], kept[t.id], traces[t.id].last, t.id))
    out = []
    for row in order[: len(rows) - cap]:
        record = facts[row.id]
        if record is not None:
            kind = (
                "pinned ones"
                if row.pinned
                else "those that the user stated or confirmed"
                if last[row.id]
                else "those that nobody pinned and no user stated"
            )
            why = f"its scope holds {len(rows)} facts, {cap} at most: of {kind} its retention {kept[row.id]:.4f} is among the lowest"
            out.append(_move(row, record, aging.age(record, row, policy=policy, at=at), ("cap", why)))
    return out


# --- carried out -----------------------------------------------------------------------------------------------------


def carry_out(ports: Ports, w: Writer, moves: Sequence[Move], run: str) -> None:
    """Puts these records aside, with a step, a change and an event each."""
    now = ports.clock.now()
    judges = Bench(ports.embedder)
    rows = {t: w.traces(Scope(t), [m.id for m in moves if m.scope.tenant == t]) for t in {m.scope.tenant for m in moves}}
    aside: list[TraceRow] = []
    for move in moves:
        row = rows[move.scope.tenant][move.id]
        record = w.record(move.scope, move.id)
        if isinstance(record, Fact):
            step(ports, w, record, ("fade", move.why), now, judges=judges)
        aside.append(replace(row, aside=micros(now), due=None))
        w.add_events(move.scope, [Event(move.id, "archived", now, run)])
    w.put_traces(aside)


def step(
    ports: Ports, w: Writer, fact: Fact, what: tuple[ClaimOp, str], now: datetime, *, judges: Bench | None = None, source: str = ACTOR
) -> None:  # fmt: skip
    """A step of maintenance on a fact, with the reason; one that stands in relation to no other needs no derivation."""
    op, why = what
    base = base_of(w, fact)
    claim = Claim(
        "", fact.scope, op, "", fact.fact_kind, why, source, "user", 1.0, (), now, now, Provenance(), ACTOR, base.id, fact.id
    )  # fmt: skip
    if op == "fade" and not fact.conflicts and not fact.superseded_by:
        w.put_claims([claim])
        w.put_fact(replace(fact, status="archived"), Change("archive", ACTOR, now, why))
    else:
        settle_one(ports, w, claim, judges or Bench(ports.embedder), actor=ACTOR, at=now)


def runs(ports: Ports, scope: Scope | None = None) -> tuple[Event, ...]:
    """The runs that moved something, oldest first; of a scope, those that moved something that it sees."""
    with ports.store.read() as r:
        found = {e.run: e for tenant in ([scope.tenant] if scope else r.tenants()) for e in r.runs(Scope(tenant))}
        if scope is not None:
            found = {n: e for n, e in found.items() if any(r.record(scope, m.record) is not None for m in r.runs(scope, n))}
    return tuple(sorted(found.values(), key=lambda e: (e.at, e.run or "")))


def undo_everywhere(ports: Ports, run: str) -> Undone:
    """`undo` in every tenant."""
    with ports.store.read() as r:
        tenants = [t for t in r.tenants() if r.runs(Scope(t), run)]
    parts = [undo(ports, Scope(t), run) for t in tenants]
    if not parts:
        raise NotFound(_NO_RUN.format(run))
    return Undone(run, tuple(i for p in parts for i in p.restored), tuple(i for p in parts for i in p.left))


def undo(ports: Ports, scope: Scope, run: str) -> Undone:
    """Brings back what a run put aside, but for what changed since; in batches, as each is derived anew beside what was said since."""
    with ports.store.read() as r:
        moved = [e.record for e in r.runs(scope, run) if e.kind == "archived" and r.record(scope, e.record) is not None]
    if not moved:
        raise NotFound(_NO_RUN.format(run))
    back: dict[str, None] = {}
    judges = Bench(ports.embedder)
    for n in range(0, len(moved), BATCH // 5):
        with ports.store.write() as w:
            now, part = ports.clock.now(), moved[n : n + BATCH // 5]
            last = {e.record: e.run for e in w.events(scope, part) if e.kind == "archived"}
            for id_ in part:
                record = w.record(scope, id_) if last.get(id_) == run else None
                if record is not None and bring_back(ports, w, record, (f"run {run} was undone", aging.SEEN), now, judges=judges):
                    back[id_] = None
                    w.add_events(scope, [Event(id_, "restored", now, run)])
    return Undone(run, tuple(back), tuple(i for i in moved if i not in back))


def bring_back(
    ports: Ports, w: Writer, record: AnyRecord, why: tuple[str, str], now: datetime, *, judges: Bench | None = None
) -> bool:  # fmt: skip
    """Brings back what maintenance put aside, for a reason and as seen just now, or (`aging.SILENT`) as it was; False if it is not aside by it."""
    row = w.traces(record.scope, [record.id]).get(record.id)
    if isinstance(record, Fact):
        told = [c for c in w.claims(record.scope, [record.id]) if c.fact == record.id]
        if record.status != "archived" or not any(c.text for c in told) or not rules.Derived.alone(told).faded:
            return False
        step(ports, w, record, ("revive", why[0]), now, judges=judges, source=why[1])
        back = w.record(record.scope, record.id)
        return isinstance(back, Fact) and back.status != "archived"
    if row is None or row.aside is None:
        return False
    seen = aging.presented(row, micros(now), ports.policies.retention) if why[1] != aging.SILENT else row
    w.put_traces([aging.timed(replace(seen, aside=None), record, ports.policies.retention)])
    return True


def use(ports: Ports, scope: Scope, ids: Sequence[str]) -> int:
    """Notes that these records of the scope were used with success; how many uses counted, as those close together count once."""
    with ports.store.write() as w:
        held = [_require(w, scope, i) for i in dict.fromkeys(ids)]
        return use_in(ports, w, held)


def use_in(ports: Ports, w: Writer, held: Sequence[AnyRecord], *, by: str | None = None) -> int:
    """The same in the caller's transaction. What maintenance put aside is back; what was contradicted stays so (C21).

    `by` is `aging.LOOP` for what an agent loop noted itself.
    """
    policy, now = ports.policies.retention, ports.clock.now()
    counted = 0
    for record in held:
        new = w.add_events(record.scope, [Event(record.id, "used", now, by)], gap=aging.gap_of(policy))
        counted += len(new)
        if bring_back(ports, w, record, ("it was used again", aging.SILENT), now):
            record = w.record(record.scope, record.id) or record
        if isinstance(record, Fact) and new:
            w.put_traces(aging.rebuilt(w, [record], policy))
        elif new:
            row = w.traces(record.scope, [record.id]).get(record.id) or aging.fresh(record)
            w.put_traces([aging.timed(aging.presented(row, micros(now), policy), record, policy)])
    return counted


@dataclass(frozen=True)
class Keep:
    """How long a record is to be kept: what is None stays as it is. `expires`: microseconds since 1970; `never` takes it back."""

    importance: Importance | None = None
    pinned: bool | None = None
    expires: int | None = None
    never: bool = False


def keep(ports: Ports, scope: Scope, id: str, how: Keep) -> Age:
    """Sets how long a record of the scope is to be kept; how it stands then."""
    with ports.store.write() as w:
        return keep_in(ports, w, _require(w, scope, id), how)


def keep_in(ports: Ports, w: Writer, record: AnyRecord, how: Keep) -> Age:
    """The same in the caller's transaction."""
    policy = ports.policies.retention
    row = w.traces(record.scope, [record.id]).get(record.id) or aging.fresh(record)
    row = replace(
        row,
        importance=how.importance or row.importance,
        pinned=row.pinned if how.pinned is None else how.pinned,
        expires=None if how.never else row.expires if how.expires is None else how.expires,
    )
    w.put_traces([row])
    again = aging.rebuilt(w, [record], policy) if isinstance(record, Fact) else [aging.weighed(row, record, policy)]
    w.put_traces(again)
    now = ports.clock.now()
    if _would_stay(record, again[0], policy, micros(now)) and bring_back(ports, w, record, ("it is to be kept", aging.SILENT), now):
        record = w.record(record.scope, record.id) or record
        again = [w.traces(record.scope, [record.id])[record.id]]
    return aging.age(record, again[0], policy=policy, at=micros(now))


def _would_stay(record: AnyRecord, row: TraceRow, policy: RetentionPolicy, at: int) -> bool:
    """True if nothing would put the record aside, were it in use."""
    in_use = replace(record, status="active") if isinstance(record, Fact) and record.status == "archived" else record
    row = replace(row, aside=None)
    return reason(row, in_use, aging.age(in_use, row, policy=policy, at=at), policy, at) is None


def _require(r: Reader, scope: Scope, id: str) -> AnyRecord:
    found = r.record(scope, id)
    if found is None:
        raise NotFound(f"{id!r} is not in this scope.")
    return found


# --- by another policy -----------------------------------------------------------------------------------------------


def kept_policy(store: Store) -> RetentionPolicy | None:
    """The policy by which a store was maintained last, if it was: what holds where the caller names none."""
    held = store.setting(FITTED)
    try:
        return None if held is None else RetentionPolicy(**json.loads(held))
    except (ValueError, TypeError, BadSetting):  # of a later version
        return None


def begin_ageing(ports: Ports) -> None:
    """Gives the records of a store of an older version their traces, once, and notes by which policy; and notes if another writes now."""
    if ports.store.setting(FITTED) is None:
        refit(ports)
        _note_policy(ports)
    elif _is_stale(ports) and ports.store.setting(MIXED) != "1":
        ports.store.setting(MIXED, "1")


def _is_stale(ports: Ports) -> bool:
    """True if the traces of the store fall due by another policy, or by none yet."""
    held, now = kept_policy(ports.store), ports.policies.retention
    return held is None or replace(held, weight=now.weight, cap=now.cap) != now or ports.store.setting(MIXED) == "1"


def _note_policy(ports: Ports) -> None:
    mark = json.dumps(asdict(ports.policies.retention), sort_keys=True)
    if ports.store.setting(FITTED) != mark:
        ports.store.setting(FITTED, mark)


def refit(ports: Ports) -> int:
    """Makes every trace anew, in batches: for a store of an older version, and when the policy is another. How many."""
    with ports.store.read() as r:
        everything: list[tuple[str, str]] = []
        for tenant in r.tenants():
            held: list[AnyRecord] = [*r.facts(Scope(tenant)), *r.episodes(Scope(tenant))]
            everything += [(tenant, x.id) for x in held]
    for n in range(0, len(everything), BATCH):
        with ports.store.write() as w:
            for tenant in dict.fromkeys(t for t, _ in everything[n : n + BATCH]):
                found = (w.record(Scope(tenant), i) for t, i in everything[n : n + BATCH] if t == tenant)
                w.put_traces(_timed(w, [x for x in found if x is not None], ports.policies.retention))
    return len(everything)


def _all_timed(r: Reader, scope: Scope, policy: RetentionPolicy, at: int) -> Iterator[list[TraceRow]]:
    """The rows that would be due if every trace were made anew."""
    held: list[AnyRecord] = [*r.facts(scope), *r.episodes(scope)]
    for n in range(0, len(held), BATCH):
        rows = _timed(r, held[n : n + BATCH], policy)
        yield [t for t in rows if t.due is not None and t.due <= at]


def _timed(r: Reader, records: Sequence[AnyRecord], policy: RetentionPolicy) -> list[TraceRow]:
    facts = [x for x in records if isinstance(x, Fact)]
    out = aging.rebuilt(r, facts, policy) if facts else []
    others: list[AnyRecord] = [x for x in records if not isinstance(x, Fact)]
    rows = r.traces(others[0].scope, [x.id for x in others]) if others else {}
    return out + [aging.timed(rows.get(x.id) or aging.fresh(x), x, policy) for x in others]

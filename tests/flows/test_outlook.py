"""What time will do and would have done: told before it happens, compared with what then happens; the past as it was."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

import leporello
from leporello import aio
from leporello.core.times import micros
from leporello.errors import BadSetting, BadValue, NotFound
from leporello.flows import aging
from leporello.flows import outlook as flow
from leporello.memory import Memory, Scoped
from leporello.policies import Policies, RetentionPolicy
from leporello.records import Fact, Scope
from leporello.results import Age
from leporello.testing import ManualClock

Days = Callable[[float], datetime]


@pytest.fixture
def days(clock: ManualClock) -> Days:
    """Moves the clock by days."""
    return lambda n: clock.advance(timedelta(days=n))


@pytest.fixture
def opened(tmp_path: Path, clock: ManualClock) -> Callable[..., Memory]:
    """Opens a store with these settings of retention."""
    return lambda **policy: leporello.open(tmp_path / "other.db", clock=clock, embedder="hash", policies={"retention": policy})


def busy(scope: Scoped, days: Days) -> list[Fact]:
    """Facts that stand in every way with time."""
    sure = [scope.learn(f"Shelf {n} holds tea from garden {n}.") for n in range(4)]
    scope.keep(scope.learn("The lease ends some day.").id, expires_at="2026-04-20")
    scope.keep(scope.learn("The alarm code is on the wall.").id, pinned=True)
    days(9)
    weak = [scope.learn(f"Bin {n} may hold coffee {n}.", source="assumed", confidence=0.3 + n / 50) for n in range(8)]
    scope.contradict(sure[0].id, by="Shelf 0 holds cocoa.")
    scope.archive(sure[1].id)
    scope.learn("The standup is at 9:00.")
    scope.learn("The standup is at 9:30.", source="inferred")
    days(5)
    scope.used(sure[2].id, weak[3].id)
    days(7)
    return [*sure, *weak]


# --- what comes ----------------------------------------------------------------------------------------------------------


def test_counts_are_those_of_each_record_by_itself(mem: Memory, days: Days) -> None:
    alice = mem.scope(user="alice")
    busy(alice, days)
    found = alice.outlook()
    everything = alice.facts(status="all")
    assert {s: n for s, n in found.counts.items() if n} == Counter(alice.age(f.id).status for f in everything)
    assert found.records == len(everything) and {"active", "conflict", "archived", "deprecated"} <= {
        s for s, n in found.counts.items() if n
    }


def test_what_falls_due_is_what_maintenance_then_puts_aside(mem: Memory, days: Days) -> None:
    alice = mem.scope(user="alice")
    busy(alice, days)
    mem.maintain()
    before = alice.outlook()
    assert before.overdue == 0 and sum(before.next_days) > 1 and sum(before.next_weeks) > sum(before.next_days)
    moved, told = [], {c.id: c for c in before.soon if c.what != "fading"}
    for _ in range(7):
        days(1)
        run = mem.maintain()
        moved.append(len(run.moves))
        assert {m.id: m.cause for m in run.moves} == {m.id: told[m.id].what for m in run.moves}
    assert tuple(moved) == before.next_days
    days(77)
    assert len(mem.maintain().moves) == sum(before.next_weeks[1:])
    assert alice.outlook().next_weeks == (0,) * 12 or alice.outlook().overdue == 0


def test_every_line_says_when_and_why(mem: Memory, clock: ManualClock, days: Days) -> None:
    alice = mem.scope(user="alice")
    busy(alice, days)
    found = alice.outlook()
    assert list(found.soon) == sorted(found.soon, key=lambda c: (c.at, c.id)) and found.more == 0
    uncertain = next(c for c in found.soon if c.what == "uncertain" and c.at > found.at)
    assert "confidence falls below 0.2: nothing supported it since 2026-03-" in uncertain.why and uncertain.text.startswith("Bin ")
    clock.set(uncertain.at)
    assert alice.age(uncertain.id).hidden and alice.age(uncertain.id).confidence == uncertain.confidence
    clock.advance(timedelta(microseconds=-1))
    assert not alice.age(uncertain.id).hidden


def test_the_moment_of_fading_and_of_forgetting_is_exact(opened: Callable[..., Memory], clock: ManualClock, days: Days) -> None:
    with opened(law="exponential", half_life=10, confidence="none") as mem:
        fact = mem.scope().learn("Tea is in the cupboard.")
        days(4)
        (fades,) = mem.scope().outlook().soon
        assert fades.what == "fading" and fades.retention == 0.5 and "seen or used once, last on 2026-03-02" in fades.why
        clock.set(fades.at)
        assert mem.scope().age(fact.id).status == "fading"
        clock.advance(timedelta(microseconds=-1))
        assert mem.scope().age(fact.id).status == "active"
        days(25)
        (gone,) = mem.scope().outlook().soon
        assert gone.what == "forgotten" and "law exponential, half-life 10 days" in gone.why
        clock.set(gone.at)
        assert [m.cause for m in mem.maintain().moves] == ["forgotten"]


def test_what_is_overdue_is_told_and_counted_apart(mem: Memory, days: Days) -> None:
    mem.scope().learn("Tea may be out.", source="assumed", confidence=0.25)
    assert mem.scope().outlook().overdue == 0
    days(30)
    found = mem.scope().outlook()
    assert (found.overdue, sum(found.next_days), sum(found.next_weeks)) == (1, 0, 0)
    assert found.soon[0].at == found.at and found.soon[0].what == "uncertain"


def test_a_day_ends_with_the_run_of_the_next(mem: Memory, clock: ManualClock) -> None:
    for n, end in enumerate((timedelta(days=1), timedelta(days=1, microseconds=1), timedelta(days=84), timedelta(days=84, microseconds=1))):
        fact = mem.scope().learn(f"{chr(65 + n) * 6} is stored in hall {chr(90 - n) * 5}.")
        mem.scope().keep(fact.id, expires_at=clock.now() + end)
    found = mem.scope().outlook()
    assert found.next_days == (1, 1, 0, 0, 0, 0, 0) and found.next_weeks == (2, *(0,) * 10, 1)
    clock.advance(timedelta(days=1))
    assert len(mem.maintain().moves) == 1


def test_messages_that_expire_are_told_too(mem: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow, "BATCH", 1)
    alice = mem.scope(user="alice")
    said = [s.remember(f"The code is {n}.") for n, s in enumerate((alice, mem.scope(user="bob")))]
    for m, s in zip(said, (alice, mem.scope(user="bob")), strict=True):
        s.keep(m.id, expires_at="2026-03-04")
    alice.keep(alice.remember("The code will be 7.").id, expires_at="2026-04-04")
    found = alice.outlook()
    assert [(c.id, c.what) for c in found.soon] == [(said[0].id, "expired")] and found.next_days[1] == 1 and found.records == 0
    assert sum(found.next_weeks) == 2
    assert [c.id for c in alice.outlook(said[0].id).soon] == [said[0].id]


def test_of_very_much_only_the_soonest_is_listed(mem: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow, "SOON", 2)
    for n in range(12):
        fact = mem.scope().learn(f"{chr(65 + n) * 6} is stored in hall {chr(90 - n) * 5}.")
        mem.scope().keep(fact.id, expires_at=datetime(2026, 3, 2, 22 - n, tzinfo=fact.recorded_at.tzinfo))
    found = mem.scope().outlook()
    assert (len(found.soon), found.more, found.next_days[0]) == (2, 10, 12)
    assert [c.at.hour for c in found.soon] == [11, 12]


def test_the_newest_runs_are_those_that_moved_something_of_the_scope(mem: Memory, days: Days) -> None:
    alice, bob = mem.scope(user="alice"), mem.scope(user="bob")
    names = []
    for n in range(7):
        for scope in (alice, bob)[: 1 + n % 2]:
            scope.learn(f"Box {n} may hold {scope.scope.user} thing {n}.", source="assumed", confidence=0.21)
        days(10)
        names.append(mem.maintain().run)
    assert [(r.run, r.moved) for r in alice.outlook().runs] == [(n, 1) for n in reversed(names[2:])]
    assert [r.run for r in bob.outlook().runs] == [names[5], names[3], names[1]]


# --- curves --------------------------------------------------------------------------------------------------------------


def test_the_past_is_as_it_was(mem: Memory, clock: ManualClock, days: Days) -> None:
    alice = mem.scope(user="alice", project="shop")
    fact = alice.learn("The vault opens at nine.", source="inferred", confidence=0.6)
    lived: dict[datetime, Age] = {}

    def live(n: int) -> None:
        for _ in range(n):
            days(3)
            lived[clock.now()] = alice.age(fact.id)
        clock.advance(timedelta(hours=2))

    live(3)
    alice.used(fact.id)
    live(4)
    assert alice.learn("The vault opens at nine.").id == fact.id  # the user says it: what others said counts no longer
    live(3)
    alice.used(fact.id)
    days(2)
    alice.confirm(fact.id)
    live(40)
    assert mem.maintain().counts == {"uncertain": 1}
    live(5)
    alice.restore(fact.id)
    live(8)
    alice.recall("When does the vault open?")
    mem.flush()
    (curve,) = alice.outlook(fact.id, days=60, laws=("actr", "fsrs")).curves
    assert curve.confidence is not None and curve.times[0] == fact.recorded_at and clock.now() in curve.times
    compared = 0
    for t, stands in lived.items():
        i = max(i for i, u in enumerate(curve.times) if u <= t)
        j = min(i + 1, len(curve.times) - 1)
        low, high = sorted((curve.retention["actr"][i], curve.retention["actr"][j]))
        assert low - 1e-6 <= stands.retention <= high + 1e-6, t
        worst, best = sorted((curve.confidence[i], curve.confidence[j]))
        assert worst - 1e-4 <= (stands.confidence or 0) <= best + 1e-4, t
        compared += abs(high - low) < 0.02
    assert compared > 50
    kinds = [e.kind for e in curve.events]
    assert kinds[0] == "observed" and {"used", "confirmed", "archived", "restored", "retrieved"} <= set(kinds)
    assert all(e.retention == 1.0 for e in curve.events if e.kind in {"used", "confirmed", "restored", "observed"})
    assert (curve.marks, set(curve.retention)) == ({"actr": (0.5, 0.1), "fsrs": (0.9, 0.7)}, {"actr", "fsrs"})


def test_a_curve_jumps_when_something_happens_and_only_then(mem: Memory, clock: ManualClock, days: Days) -> None:
    fact = mem.scope().learn("Tea is in the cupboard.")
    days(100)
    mem.scope().used(fact.id)
    at = clock.now()
    days(50)
    (curve,) = mem.scope().outlook(fact.id, days=10).curves
    values = dict(zip(curve.times, curve.retention["actr"], strict=True))
    assert values[at] == 1.0 and values[at - timedelta(microseconds=1)] < 0.8
    rises = [b for (_, x), (b, y) in pairwise(sorted(values.items())) if y > x]
    assert rises == [at]
    assert curve.times[-1] == clock.now() + timedelta(days=10) and len(curve.times) > 200


def test_a_fact_that_was_contradicted_is_certain_no_more_from_then_on(mem: Memory, clock: ManualClock, days: Days) -> None:
    fact = mem.scope().learn("Tea is at four.")
    days(10)
    mem.scope().contradict(fact.id, by="Tea is at five.")
    at = clock.now()
    days(10)
    (curve,) = mem.scope().outlook(fact.id).curves
    assert curve.confidence is not None
    assert all((c == 0.0) == (t >= at) for t, c in zip(curve.times, curve.confidence, strict=True))
    assert [(e.kind, e.at) for e in curve.events] == [("observed", fact.recorded_at), ("contradicted", at)]


def test_episodes_messages_and_pins_have_curves(mem: Memory, clock: ManualClock, days: Days) -> None:
    alice = mem.scope(user="alice")
    with alice.session("s") as s:
        for n in range(4):
            s.add({"role": "user", "content": f"We decided to paint wall {n} in colour {n}, because it looks good."})
            s.add({"role": "assistant", "content": f"Wall {n} is painted now."})
        s.fold(all=True)
        (episode,), message = s.episodes()[:1], next(iter(s.messages()))
    days(150)
    alice.used(episode.id)
    alice.keep(message.id, pinned=True)
    days(150)
    told, said = alice.outlook(episode.id, message.id, days=0).curves
    assert told.confidence is None and said.confidence is None and said.pinned and not told.pinned
    assert min(told.retention["actr"]) < 0.7 and [e.kind for e in told.events] == ["observed", "used"]
    assert said.retention["actr"][-1] == 1.0 and said.retention["actr"][-2] < 0.5
    days(400)
    alice.maintain()
    (law,) = alice.simulate(laws=("exponential",), half_lives=(40,)).laws  # the episode, and what was learned from it
    assert law.used == law.regret == 1 and dict(law.now) == {"archived": 1 + len(alice.facts(status="archived"))}
    assert alice.outlook(message.id, laws=("none",)).curves[0].retention["none"][-1] == 1.0


def test_what_was_made_just_now_has_a_curve(mem: Memory) -> None:
    fact = mem.scope().learn("Tea is hot.")
    (curve,) = mem.scope().outlook(fact.id, days=0).curves
    assert curve.retention["actr"] == (1.0, 1.0) and len(curve.times) == 2


def test_traces_made_step_by_step_are_those_that_the_store_holds(mem: Memory, days: Days) -> None:
    alice = mem.scope(user="alice")
    facts = busy(alice, days)
    alice.learn(facts[5].text)
    alice.restore(facts[1].id)
    days(1)
    alice.used(facts[5].id)
    alice.learn(facts[5].text, source="inferred")
    alice.confirm(facts[5].id)
    assert compare(mem, facts, RetentionPolicy())[facts[5].id] == 3


def test_without_a_gap_everything_counts_even_at_one_time(opened: Callable[..., Memory], days: Days) -> None:
    with opened(gap=0) as mem:
        fact = mem.scope().learn("Tea is in the cupboard.")
        days(3)
        mem.scope().confirm(fact.id)
        mem.scope().used(fact.id)
        assert mem.scope().age(fact.id).presentations == 3
        assert compare(mem, [fact], RetentionPolicy(gap=0)) == {fact.id: 2}


def compare(mem: Memory, facts: Sequence[Fact], policy: RetentionPolicy) -> dict[str, int]:
    """Compares the last of the traces with the one that the store holds; how many each fact had."""
    out = {}
    with mem._ports.store.read() as r:
        rows = r.traces(Scope(), [f.id for f in facts])
        for fact in facts:
            steps = flow.traces(fact, rows[fact.id], r.claims(Scope(), [fact.id]), r.events(Scope(), [fact.id]), policy)
            assert aging.kept(steps[-1][1]) == rows[fact.id].trace
            assert [t for t, _ in steps] == sorted({t for t, _ in steps}) and steps[0][0] == micros(fact.recorded_at)
            out[fact.id] = len(steps)
    return out


# --- what would have been ------------------------------------------------------------------------------------------------


def merged(counts: Mapping[str, int]) -> Counter[str]:
    """The counts of a simulation as the store has them: whatever the cause, what is put aside is archived."""
    return Counter("archived" if s in {"uncertain", "expired"} else s for s, n in counts.items() for _ in range(n))


def test_the_law_in_use_comes_to_what_is(mem: Memory, days: Days) -> None:
    alice = mem.scope(user="alice")
    busy(alice, days)
    alice.confirm(alice.learn("Rain comes on Friday.").id)
    days(40)
    alice.maintain()
    (found,) = alice.simulate(days=(30, 60)).laws
    is_now = Counter(alice.age(f.id).status for f in alice.facts(status="all"))
    assert merged(found.now) == is_now and is_now["archived"] > 3
    for n in (30, 60):
        days(30)
        alice.maintain()
        assert merged(found.later[n]) == Counter(alice.age(f.id).status for f in alice.facts(status="all"))


def test_regret_idle_and_loss_by_hand(opened: Callable[..., Memory], days: Days) -> None:
    with opened(confidence="none") as mem:
        alice = mem.scope(user="alice")
        tea, coffee, cocoa = (alice.learn(f"The {x} is in the cupboard with the {x} cups.") for x in ("tea", "coffee", "cocoa"))
        days(20)
        alice.used(tea.id)
        days(40)
        alice.recall("tea cups", k=1)
        mem.flush()
        alice.used(tea.id)
        days(1)
        alice.recall("coffee cups", k=1)
        mem.flush()
        days(1)
        found = alice.simulate(laws=("exponential", "none"), half_lives=(10, 100), days=(10, 365))
    short, long, none = found.laws
    assert [(x.law, x.half_life) for x in found.laws] == [("exponential", 10), ("exponential", 100), ("none", None)]
    assert (found.records, found.outcomes, found.hits, found.window) == (3, 2, 1, 3600)
    assert found.constant == pytest.approx(math.log(2), abs=1e-6)
    assert [(x.used, x.regret, x.unused, x.idle) for x in found.laws] == [(1, 1, 2, 0), (1, 0, 2, 2), (1, 0, 2, 2)]
    # tea was shown 40 days after its use, and used; coffee 61 days after it was learned, and not
    by_hand = [(-math.log(0.5 ** (40 / h)) - math.log(1 - 0.5 ** (61 / h))) / 2 for h in (10, 100)]
    assert [short.log_loss, long.log_loss] == pytest.approx(by_hand, abs=1e-6)
    assert none.log_loss == pytest.approx((-math.log(0.999) - math.log(0.001)) / 2, abs=1e-6)
    assert (short.now, short.later[10], short.later[365]) == ({"active": 1, "archived": 2}, {"fading": 1, "archived": 2}, {"archived": 3})
    assert dict(none.later[365]) == {"active": 3} and cocoa.id and coffee.id


def test_without_anything_shown_there_is_no_loss(mem: Memory) -> None:
    assert (mem.scope().simulate().outcomes, mem.scope().simulate().records) == (0, 0)
    mem.scope().learn("Tea is hot.")
    found = mem.scope().simulate(laws=("actr", "actr", "fsrs"), half_lives=(30.0, 30.0, 60.0))
    assert found.constant is None and all(x.log_loss is None for x in found.laws)
    assert [(x.law, x.half_life) for x in found.laws] == [("actr", 30.0), ("actr", 60.0), ("fsrs", None)]
    assert found.days == (30, 90, 365) and found.to_dict()["laws"][0]["later"]["30"] == {"active": 1}


def test_what_is_pinned_says_nothing_of_a_law(mem: Memory, days: Days) -> None:
    fact = mem.scope().learn("The tea is in the cupboard.")
    days(30)
    mem.scope().recall("tea cupboard")
    mem.flush()
    days(1)
    assert mem.scope().simulate().outcomes == 1
    mem.scope().keep(fact.id, pinned=True)
    found = mem.scope().simulate(laws=("exponential",), half_lives=(1,), days=(365,))
    assert found.outcomes == 0 and dict(found.laws[0].later[365]) == {"active": 1} and found.laws[0].idle == 1


def learned(mem: Memory, days: Days, clock: ManualClock, *, remembered: bool) -> Scoped:
    """Facts that are asked for after growing gaps, and used while they are still young, or by the parity of a number."""
    alice = mem.scope(user="alice")
    for n in range(40):
        fact = alice.learn(f"Drawer {n * 7919} holds the papers of year {1900 + n}.")
        for k, gap in enumerate((1.0, 4.0, 40.0)):
            days(gap)
            alice.recall(f"drawer {n * 7919} year {1900 + n}", k=1)
            mem.flush()
            clock.advance(timedelta(minutes=1))
            if (gap < 10) if remembered else (n * 3 + k) % 5 < 2:
                alice.used(fact.id)
            clock.advance(timedelta(hours=3))
    return alice


def test_a_fit_is_recommended_only_when_it_predicts_what_came_later(mem: Memory, clock: ManualClock, days: Days) -> None:
    alice = mem.scope(user="alice")
    with pytest.raises(BadValue, match="There are 0 outcomes, 0 used and 0 not; 50 are needed"):
        alice.fit()
    found = learned(mem, days, clock, remembered=True).fit()
    assert found.better and found.held_out.after < found.held_out.before and 4 < found.half_life < 40
    assert (found.outcomes, found.used, found.held_out.outcomes) == (120, 80, 36)
    assert Policies.of(dict(found.policy)).retention == RetentionPolicy("actr", found.half_life, found.decay)
    with pytest.raises(BadValue, match="There are 0 outcomes"):
        mem.scope(user="bob").fit()


def test_a_fit_to_chance_is_none_and_takes_the_newest(mem: Memory, clock: ManualClock, days: Days, monkeypatch: pytest.MonkeyPatch) -> None:
    alice = learned(mem, days, clock, remembered=False)
    assert (alice.fit().outcomes, alice.fit().better, alice.fit().policy) == (120, False, {})
    monkeypatch.setattr(flow, "OUTCOMES", 55)
    monkeypatch.setattr(flow, "BATCH", 3)
    assert alice.fit().outcomes == 55


# --- whose, and what is left ---------------------------------------------------------------------------------------------


def test_nothing_of_another_user_is_in_anything(mem: Memory, clock: ManualClock, days: Days) -> None:
    alice, bob = mem.scope(user="alice"), mem.scope(user="bob")
    mine = busy(alice, days)
    alone = (alice.outlook(), alice.simulate(laws=("actr", "fsrs")))
    theirs = [bob.learn(f"Bob hides zanzibar {n} in hole {n}.", source="assumed", confidence=0.25) for n in range(5)]
    bob.used(theirs[0].id)
    bob.recall("zanzibar")
    mem.flush()
    assert (alice.outlook(), alice.simulate(laws=("actr", "fsrs"))) == alone
    days(30)
    mem.maintain()
    for value in (alice.outlook(), alice.outlook(mine[0].id), alice.simulate()):
        told = str(value.to_dict())
        assert "zanzibar" not in told and not any(f.id in told for f in theirs)
    assert alice.outlook().records == alone[0].records and bob.outlook().records == 5
    with pytest.raises(NotFound):
        alice.outlook(theirs[0].id)
    with pytest.raises(NotFound):
        mem.scope(tenant="other").outlook(mine[0].id)


def test_what_is_erased_is_gone_from_all(mem: Memory, days: Days) -> None:
    alice = mem.scope(user="alice")
    tea, coffee = alice.learn("Tea is in the cupboard."), alice.learn("Coffee may be out.", source="assumed", confidence=0.25)
    alice.used(tea.id)
    days(5)
    mem.maintain()
    alice.erase(tea.id)
    found = alice.simulate()
    assert (found.records, found.laws[0].used, alice.outlook().records) == (1, 0, 1)
    alice.erase(coffee.id)
    after = alice.outlook()
    assert (after.records, after.soon, after.runs, sum(after.counts.values())) == (0, (), (), 0)


def test_a_store_that_is_only_read_stays_as_it_is(mem: Memory, tmp_path: Path, clock: ManualClock, days: Days) -> None:
    facts = busy(mem.scope(user="alice"), days)
    mem.close()
    before = {p.name: p.read_bytes() for p in tmp_path.glob("memory.db*")}
    with leporello.open(tmp_path / "memory.db", clock=clock, embedder="hash", read_only=True) as again:
        alice = again.scope(user="alice")
        assert alice.outlook(facts[0].id).curves and alice.outlook().records and alice.simulate().records
        with pytest.raises(BadValue):
            alice.fit()
    assert (tmp_path / "memory.db").read_bytes() == before["memory.db"]


def test_what_cannot_be_is_refused(mem: Memory) -> None:
    fact = mem.scope().learn("Tea is hot.")
    for laws in (("newton",), "newton"):
        with pytest.raises(BadSetting, match="newton"):
            mem.scope().outlook(fact.id, laws=laws)
        with pytest.raises(BadSetting, match="newton"):
            mem.scope().simulate(laws=laws)
    with pytest.raises(BadSetting, match="half_life"):
        mem.scope().simulate(half_lives=(0,))
    for days in (-1, 36_501, 1.5, True):
        with pytest.raises(BadValue, match="days"):
            mem.scope().outlook(fact.id, days=days)  # type: ignore[arg-type]
        with pytest.raises(BadValue, match="days"):
            mem.scope().simulate(days=(days,))  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        mem.scope().outlook("f_0")
    with pytest.raises(BadValue):
        mem.scope().outlook(3)  # type: ignore[arg-type]


def test_the_async_face_says_the_same(tmp_path: Path, clock: ManualClock) -> None:
    async def main() -> None:
        async with await aio.open(tmp_path / "a.db", clock=clock, embedder="hash") as mem:
            fact = await mem.scope().learn("Tea is hot.")
            assert (await mem.scope().outlook(fact.id)).curves[0].id == fact.id
            assert (await mem.scope().simulate()).records == 1
            with pytest.raises(BadValue):
                await mem.scope().fit()

    asyncio.run(main())

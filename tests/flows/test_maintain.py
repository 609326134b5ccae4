"""What time has done is carried out, explained, previewed and taken back; when it is done decides nothing."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leporello
from leporello.core.times import micros
from leporello.errors import BadSetting, BadTime, BadValue, NotFound
from leporello.flows import aging
from leporello.flows import maintain as flow
from leporello.memory import Memory, Scoped
from leporello.policies import LAWS
from leporello.records import Fact
from leporello.results import Maintenance
from leporello.testing import ManualClock

START = datetime.fromisoformat("2026-03-02T09:00:00+00:00")
DAY, WEEK = timedelta(days=1), timedelta(weeks=1)
PLAIN = {"retention": {"confidence": "none"}}


def opened(clock: ManualClock, **retention: Any) -> Memory:
    return leporello.open(":memory:", embedder="hash", clock=clock, policies={"retention": retention})


def texts(found: Any) -> set[str]:
    return {h.text for h in found}


def standing(user: Scoped) -> dict[str, tuple[str, float]]:
    return {f.text: (f.status, f.confidence) for f in user.facts(status="all")}


# --- maintenance ---------------------------------------------------------------------------------------------------------


def told(ann: Scoped, clock: ManualClock, n: int = 12) -> list[Fact]:
    """Facts a week apart, of all importances and sources."""
    out = []
    for i in range(n):
        importance, source = ("high", "medium", "low")[i % 3], ("user_stated", "inferred", "assumed")[i % 2]
        out.append(ann.learn(f"Room {i} of the west wing holds {i * 7} chairs.", importance=importance, source=source))
        clock.advance(WEEK)
    return out


def test_a_dry_run_says_what_a_run_does_and_writes_nothing(mem: Memory, clock: ManualClock) -> None:
    ann = mem.scope(user="ann")
    told(ann, clock)
    clock.advance(8 * WEEK)
    before = standing(ann)
    dry = mem.maintain(dry_run=True)
    assert dry.run == "" and dry.moves and standing(ann) == before
    real = mem.maintain()
    assert real.moves == dry.moves and real.run and all(standing(ann)[m.text][0] == "archived" for m in real.moves)
    assert mem.maintain().moves == () and [e.run for e in mem.runs()] == [real.run]
    for m in real.moves:
        last = ann.history(m.id)[-1]
        assert (last.action, last.actor, last.why) == ("archive", "maintain", m.why)
        assert ann.get(m.id).status == "archived" and m.text not in texts(ann.recall(m.text, kinds=("fact",)))  # type: ignore[union-attr]
        assert m.text in texts(ann.recall(m.text, kinds=("fact",), include=("archived",)))


def test_undone_is_as_if_it_had_been_seen_now(mem: Memory, clock: ManualClock) -> None:
    ann = mem.scope(user="ann")
    told(ann, clock)
    clock.advance(30 * WEEK)
    run = mem.maintain()
    ids = [m.id for m in run.moves]
    gone = ann.erase(ids[0])
    assert gone.complete
    assert ann.restore(ids[1], why="needed").status == "active"  # type: ignore[union-attr]
    back = mem.undo(run.run)
    assert set(back.restored) == set(ids[2:]) and set(back.left) == {ids[1]}
    assert {f.status for f in ann.facts(status="all")} == {"active"} and not mem.maintain().moves
    assert mem.undo(run.run).restored == ()
    with pytest.raises(NotFound):
        mem.undo("r_none")
    with pytest.raises(NotFound):
        mem.scope(tenant="other").undo(run.run)


def test_what_was_put_aside_comes_back_when_it_is_said_or_used_again(mem: Memory, clock: ManualClock) -> None:
    ann = mem.scope(user="ann")
    facts = [ann.learn(t) for t in ("The shop closes at six.", "Berta waters the plants.", "Max likes tabs.", "The owner is Ann.")]
    clock.advance(100 * WEEK)
    assert len(mem.maintain().moves) == 4
    ann.learn("the shop closes at SIX.")
    ann.used(facts[1].id)
    ann.confirm(facts[2].id)
    assert [f.status for f in ann.facts(status="all")] == ["active", "active", "active", "archived"]
    assert [ann.history(f.id)[-1].action for f in facts[:2]] == ["restore", "restore"]
    assert texts(ann.recall("shop plants tabs owner", kinds=("fact",))) == {f.text for f in facts[:3]}


def test_a_pair_that_disagrees_is_one_when_the_other_fades(mem: Memory, clock: ManualClock) -> None:
    ann = mem.scope(user="ann")
    old = ann.learn("The owner is Ann.")
    clock.advance(WEEK)
    ann.learn("The owner is Berta.", source="inferred")
    if not ann.conflicts():
        pytest.fail("the rules no longer call this a conflict: choose another pair")
    clock.advance(11 * WEEK)
    assert [m.text for m in mem.maintain().moves] == ["The owner is Berta."]
    assert ann.conflicts() == () and ann.get(old.id).status == "active"  # type: ignore[union-attr]
    ann.restore(ann.facts(status="archived")[0].id)
    assert len(ann.conflicts()) == 1


def test_a_cap_takes_the_least_and_pins_last(clock: ManualClock) -> None:
    with opened(clock, cap=5, confidence="none") as mem:
        ann, bob = mem.scope(user="ann"), mem.scope(user="bob")
        facts = told(ann, clock, 9)
        bob.learn("Bob has one fact.")
        ann.keep(facts[1].id, pinned=True)
        ann.used(facts[3].id)
        dry, run = mem.maintain(dry_run=True), mem.maintain()
        assert dry.moves == run.moves and run.counts == {"cap": 4} and "at most" in run.moves[0].why
        left = {f.id for f in ann.facts()}
        assert len(left) == 5 and facts[1].id in left
        gone = [f for f in facts if f.id not in left]
        least = min((f for f in facts if f.trust == "user"), key=lambda f: ann.age(f.id).retention)
        assert gone == [f for f in facts if f.id != facts[1].id and (f.trust != "user" or f.id == least.id)]
        assert len(bob.facts()) == 1 and not mem.maintain().moves
    for wrong in (0, -1, True, 1.5, "7"):
        with pytest.raises(BadSetting):
            opened(clock, cap=wrong)


def test_another_policy_is_followed_from_the_next_run_on(tmp_path: Path) -> None:
    clock = ManualClock(START)
    path = tmp_path / "memory.db"
    with leporello.open(path, embedder="hash", clock=clock, policies=PLAIN) as mem:
        ann = mem.scope(user="ann")
        ann.learn("The shop closes at six.")
        clock.advance(100 * DAY)
        assert not mem.maintain().moves
    quick = {"retention": {"half_life": 10, "confidence": "none"}}
    with leporello.open(path, embedder="hash", clock=clock, policies=quick) as mem:
        dry = mem.maintain(dry_run=True)
        assert len(dry.moves) == 1 and mem.maintain().moves == dry.moves
    for silent in (None, {"fold": {"at_open": False}}):
        with leporello.open(path, embedder="hash", clock=clock, policies=silent) as mem:
            assert mem._ports.policies.retention.half_life == 10
    with leporello.open(path, embedder="hash", clock=clock, policies=leporello.Policies()) as mem:
        assert mem._ports.policies.retention.half_life == 180


def test_a_handle_maintains_what_it_sees(mem: Memory, clock: ManualClock) -> None:
    ann, bob = mem.scope(user="ann"), mem.scope(user="bob", tenant="t2")
    for user in (ann, bob):
        user.learn("The shop closes at six.")
    clock.advance(100 * WEEK)
    assert {m.scope.user for m in ann.maintain().moves} == {"ann"}
    assert bob.facts()[0].status != "archived" and {m.scope.user for m in mem.maintain().moves} == {"bob"}
    run = mem.scope(user="cora").learn("The bank is open."), clock.advance(100 * WEEK), mem.maintain()
    with pytest.raises(NotFound):
        mem.scope(user="dora").undo(run[2].run)
    back = mem.scope(user="cora").undo(run[2].run)
    assert back.restored == (run[0].id,) and back.left == ()
    for act in (bob.age, bob.used, bob.events, bob.keep):
        with pytest.raises(NotFound):
            act(ann.facts(status="all")[0].id)


def test_what_is_erased_leaves_neither_trace_nor_event(mem: Memory, clock: ManualClock) -> None:
    ann = mem.scope(user="ann")
    fact, page = ann.learn("The shop closes at six."), ann.remember("The guest code is 4711.")
    ann.used(fact.id, page.id)
    ann.keep(page.id, importance="high")
    ann.recall("shop guest code")
    ann.erase(fact.id, page.id)
    mem.flush()
    with mem._ports.store.read() as r:
        assert r.traces(ann.scope, [fact.id, page.id]) == {} and r.events(ann.scope, [fact.id, page.id]) == []


# --- properties ----------------------------------------------------------------------------------------------------------

STEPS = st.lists(
    st.tuples(st.sampled_from(["learn", "again", "used", "confirm", "keep", "pass", "maintain"]), st.integers(0, 5), st.integers(0, 40)),
    min_size=1, max_size=14,
)  # fmt: skip


def played(steps: list[tuple[str, int, int]], law: str, *, maintained: bool) -> tuple[dict[str, object], Maintenance]:
    """The same life with and without maintenance in between; at the end one run."""
    clock = ManualClock(START)
    with opened(clock, law=law, half_life=20) as mem:
        ann = mem.scope(user="ann")
        ids: list[str] = []
        for op, n, days in steps:
            if op == "learn" or not ids:
                ids.append(
                    ann.learn(
                        f"Room {len(ids)} of the west wing holds {len(ids) * 7} chairs.", importance=("high", "medium", "low")[n % 3]
                    ).id
                )
            elif op == "again":
                ann.learn(ann.get(ids[n % len(ids)]).text)
            elif op == "used":
                ann.used(ids[n % len(ids)])
            elif op == "confirm":
                ann.confirm(ids[n % len(ids)])
            elif op == "keep":
                ann.keep(ids[n % len(ids)], importance=("high", "medium", "low")[n % 3], pinned=n == 5)
            elif op == "maintain" and maintained:
                first = mem.maintain()
                assert mem.maintain().moves == () or not first.moves
            clock.advance(days * DAY)
            before = [ann.age(i).retention for i in ids]
            clock.advance(timedelta(hours=7))
            assert all(after.retention <= was + 1e-12 for after, was in zip(map(ann.age, ids), before, strict=True))
        run = mem.maintain()
        assert mem.maintain().moves == ()
        return {f.text: f.status == "archived" for f in ann.facts(status="all")}, run


@settings(max_examples=25, deadline=None)
@given(STEPS, st.sampled_from(["actr", "exponential"]))
def test_when_maintenance_runs_decides_nothing_but_what_it_brings_back(steps: list[tuple[str, int, int]], law: str) -> None:
    """Without steps that bring back what was put aside, running often comes to the same as running once."""
    steps = [(op, n, d) for op, n, d in steps if op not in {"again", "used", "confirm", "keep"}] or steps[:1]
    assert played(steps, law, maintained=True)[0] == played(steps, law, maintained=False)[0]


@settings(max_examples=25, deadline=None)
@given(STEPS, st.integers(1, 3_000), st.sampled_from([law for law in LAWS if law != "none"]))
def test_traces_follow_from_the_log_alone(steps: list[tuple[str, int, int]], after: int, law: str) -> None:
    """What is kept beside the records is what claims and events come to; and it falls due at the very moment at which it must go."""
    clock = ManualClock(START)
    with opened(clock, law=law, half_life=20) as mem:
        ann = mem.scope(user="ann")
        ids: list[str] = []
        for op, n, days in steps:
            if op in {"learn", "pass", "keep"} or not ids:
                ids.append(ann.learn(f"Room {len(ids)} of the west wing holds {len(ids) * 7} chairs.").id)
            elif op in {"again", "confirm"}:
                ann.learn(ann.get(ids[n % len(ids)]).text) if op == "again" else ann.confirm(ids[n % len(ids)])
            elif op == "used":
                ann.used(ids[n % len(ids)])
            clock.advance(days * DAY)
        policy = mem._ports.policies.retention
        with mem._ports.store.read() as r:
            facts = r.facts(ann.scope)
            kept = r.traces(ann.scope, ids)
            assert {t.id: t for t in aging.rebuilt(r, facts, policy)} == kept
            at = micros(clock.now() + after * DAY)
            for fact in facts:
                due = kept[fact.id].due
                stands = aging.age(fact, kept[fact.id], policy=policy, at=at)
                assert (flow.reason(kept[fact.id], fact, stands, policy, at) is not None) == (due is not None and due <= at)


@given(st.sampled_from([float("nan"), float("inf"), -1.0, 0.0, "x", None, True]))
def test_impossible_policies_are_refused(value: object) -> None:
    with pytest.raises(BadSetting):
        opened(ManualClock(START), half_life=value)


def test_impossible_wishes_are_refused(mem: Memory) -> None:
    ann = mem.scope(user="ann")
    fact = ann.learn("The shop closes at six.")
    for wrong in ({"importance": "huge"}, {"pinned": 1}, {"importance": 3}):
        with pytest.raises(BadValue):
            ann.keep(fact.id, **wrong)  # type: ignore[arg-type]
    for when in ("soon", float("nan"), "2026-13-01"):
        with pytest.raises(BadTime):
            ann.keep(fact.id, expires_at=when)
    with pytest.raises(BadValue):
        ann.recall("shop", include=("everything",))
    for act in (ann.age, ann.used, ann.events):
        with pytest.raises((NotFound, BadValue)):
            act("f_nobody")
        with pytest.raises(BadValue):
            act(7)  # type: ignore[arg-type]


def test_a_clock_that_goes_back_makes_nothing_older(mem: Memory, clock: ManualClock) -> None:
    ann = mem.scope(user="ann")
    clock.advance(10 * DAY)
    fact = ann.learn("The shop closes at six.")
    clock.set(START)
    assert ann.used(fact.id) == 1
    found = ann.age(fact.id)
    assert found.confidence == 1.0 and 0.99 < found.retention <= 1 and not mem.maintain().moves


def test_only_what_moves_is_looked_at(mem: Memory, clock: ManualClock) -> None:
    ann, bob = mem.scope(user="ann"), mem.scope(user="bob")
    old = told(ann, clock, 6)
    bob.learn("Bob has one fact.")
    ann.contradict(old[0].id)
    ann.archive(old[1].id)
    ann.keep(old[2].id, pinned=True)
    clock.advance(15 * WEEK)
    run = ann.maintain()
    assert run.looked == len(run.moves) == 3 and {m.id for m in run.moves} == {f.id for f in old[3:]}
    assert ann.maintain().looked == 0


def test_the_relevance_floor_is_not_a_matter_of_age(mem: Memory, clock: ManualClock) -> None:
    ann = mem.scope(user="ann")
    ann.remember("The heating of the old barn was repaired by Otto.")
    fresh = ann.recall("heating of the barn")[0]
    clock.advance(2_000 * DAY)
    (aged,) = ann.recall("heating of the barn").hits
    assert aged.score < fresh.score and aged.relevance == pytest.approx(fresh.relevance, abs=1e-5)
    assert ann.find("heating of the barn").hits
    assert not {w.term for w in ann.recall("when was the heating of the barn repaired?")[0].why} & {"retention", "confidence"}


# --- whether a run was in between ----------------------------------------------------------------------------------------


def bring_back(ann: Scoped, fact: Fact, act: str) -> None:
    if act == "used":
        ann.used(fact.id)
    elif act == "confirm":
        ann.confirm(fact.id)
    elif act == "learn":
        ann.learn(fact.text, source="assumed")
    else:
        ann.keep(fact.id, pinned=True if act == "pin" else None, expires_at="never" if act == "never" else None)


@pytest.mark.parametrize("act", ["used", "confirm", "pin", "never", "learn"])
def test_what_brings_a_hidden_fact_back_does_so_whether_a_run_was_in_between_or_not(act: str) -> None:
    seen = []
    for ran in (False, True):
        clock = ManualClock(START)
        with opened(clock) as mem:
            ann = mem.scope(user="ann")
            text = "The printer in room 4 is broken."
            fact = ann.learn(
                text, source="assumed", expires_at=START + WEEK if act == "never" else None, confidence=1.0 if act == "never" else None
            )
            clock.advance(9 * WEEK)
            if ran:
                assert len(mem.maintain().moves) == 1
            clock.advance(timedelta(hours=2))
            bring_back(ann, fact, act)
            found = ann.age(fact.id)
            seen.append((found.status, found.confidence, found.retention, found.presentations, found.hidden, found.due))
    assert seen[0] == seen[1] and seen[0][4] is False


def test_a_run_is_undone_only_for_what_it_put_aside_last(mem: Memory, clock: ManualClock) -> None:
    ann = mem.scope(user="ann")
    fact = ann.learn("The printer in room 4 is broken.", source="assumed")
    clock.advance(7 * WEEK)
    first = mem.maintain()
    mem.undo(first.run)
    clock.advance(7 * WEEK)
    second = mem.maintain()
    assert mem.undo(first.run).left == (fact.id,) and mem.undo(second.run).restored == (fact.id,)
    assert [e.run for e in ann.runs()] == [first.run, second.run] and mem.scope(user="bob").runs() == ()


def test_confidence_cannot_be_farmed(mem: Memory, clock: ManualClock) -> None:
    ann = mem.scope(user="ann")
    facts = [ann.learn(t, source="assumed") for t in ("The printer is broken.", "The shop closes at six.")]
    clock.advance(4 * WEEK)
    for _ in range(10):
        ann.confirm(facts[0].id)
        ann.learn(facts[1].text, source="assumed")
        clock.advance(timedelta(minutes=3))
    assert [round(ann.age(f.id).confidence or 0, 2) for f in facts] == [0.4, 0.5]
    for n in range(4):
        with mem.scope(user="bob").session(f"s{n}") as s:
            s.add("Please go on with the task.")
            s.add({"role": "assistant", "content": "I decided to use PostgreSQL, because the team knows it."})
        clock.advance(timedelta(minutes=1))
    assert round(mem.scope(user="bob").facts()[0].confidence, 2) == 0.8


def test_with_a_clock_that_runs_each_move_stands_once_in_the_log(tmp_path: Path) -> None:
    with leporello.open(tmp_path / "memory.db", embedder="hash") as mem:
        ann = mem.scope(user="ann")
        fact = ann.learn("The printer is broken.", source="assumed", confidence=0.1)
        mem.undo(mem.maintain().run)
        assert [e.kind for e in ann.events(fact.id)] == ["observed", "archived", "restored"]


def test_the_reasons_are_true_at_the_very_moment(clock: ManualClock) -> None:
    with opened(clock, law="fsrs", cap=1) as mem:
        ann = mem.scope(user="ann")
        fact = ann.learn("Deploys happen on Tuesdays.")
        due = ann.age(fact.id).due
        assert due is not None
        clock.set(due)
        (move,) = mem.maintain(dry_run=True).moves
        assert "has just fallen below 0.7" in move.why and "half-life" not in move.why
        clock.set(START + timedelta(days=1))
        ann.learn("The guest code is 4711.", source="tool")
        (move,) = mem.maintain(dry_run=True).moves
        assert "nobody pinned and no user stated" in move.why
    with opened(clock, half_life=10) as mem:
        ann = mem.scope(user="ann")
        assert (ann.age(ann.learn("A new thing is here.").id).due or clock.now()) < clock.now() + 200 * DAY
        for wrong in ("no", 1, None):
            with pytest.raises(BadValue):
                mem.maintain(dry_run=wrong)  # type: ignore[arg-type]
        for lone in ("r_\ud800", "r_ü"):
            with pytest.raises(NotFound):
                mem.undo(lone)
        for bad in (30, "30", (float("nan"),)):
            with pytest.raises((BadValue, BadSetting)):
                ann.simulate(half_lives=bad)  # type: ignore[arg-type]


def test_the_end_of_time(clock: ManualClock) -> None:
    clock.set(datetime.fromisoformat("9999-12-20T00:00:00+00:00"))
    with opened(clock) as mem:
        ann = mem.scope(user="ann")
        assert ann.age(ann.learn("The shop closes at six.").id).due is None and not mem.maintain().moves


def test_steps_on_what_was_archived_by_hand_write_no_false_history(mem: Memory, clock: ManualClock) -> None:
    ann = mem.scope(user="ann")
    fact = ann.learn("The printer in room 4 is broken.", source="assumed")
    clock.advance(100 * DAY)
    run = mem.maintain()
    ann.restore(fact.id)
    clock.advance(DAY)
    ann.archive(fact.id, why="I do not want it")
    before = ann.history(fact.id)
    ann.used(fact.id)
    ann.keep(fact.id, pinned=True)
    assert mem.undo(run.run).left == (fact.id,)
    assert ann.history(fact.id) == before and ann.get(fact.id).status == "archived"  # type: ignore[union-attr]


def test_a_store_of_an_older_version_ages_as_its_log_says(tmp_path: Path) -> None:
    clock, path = ManualClock(START), tmp_path / "memory.db"
    with leporello.open(path, embedder="hash", clock=clock) as mem:
        ann = mem.scope(user="ann")
        fact = ann.learn("Deploys happen on Tuesdays.")
        clock.advance(15 * WEEK)
        ann.confirm(fact.id)
        clock.advance(2 * WEEK)
        age = ann.age(fact.id)
        with mem._ports.store.write() as w:
            w.db.execute(
                "DROP TABLE event; DROP TABLE trace; DELETE FROM migration WHERE version = 4; DELETE FROM setting WHERE key = 'retention'"
            )  # type: ignore[attr-defined]
            w.db.pragma("user_version", 3)  # type: ignore[attr-defined]
    with leporello.open(path, embedder="hash", clock=clock) as mem:
        assert mem.scope(user="ann").age(fact.id) == age and not age.hidden
        assert mem.maintain(dry_run=True).moves == () == mem.maintain().moves


def test_what_a_loop_notes_makes_nothing_truer(mem: Memory, clock: ManualClock) -> None:
    ann = mem.scope(user="ann")
    fact = ann.learn("The printer in room 4 is broken.", source="assumed")
    for _ in range(8):
        clock.advance(timedelta(hours=2))
        with mem._ports.store.write() as w:
            flow.use_in(mem._ports, w, [fact], by=aging.LOOP)
    assert ann.age(fact.id).confidence == 0.5 and ann.age(fact.id).presentations == 9
    clock.advance(timedelta(hours=2))
    ann.used(fact.id)
    assert round(ann.age(fact.id).confidence or 0, 1) == 0.6


def test_what_was_written_by_another_policy_falls_due_by_the_one_that_maintains(tmp_path: Path) -> None:
    clock, path = ManualClock(START), tmp_path / "memory.db"
    slow = {"retention": {"half_life": 5_000, "confidence": "none"}}
    with leporello.open(path, embedder="hash", clock=clock, policies={"retention": {"half_life": 10, "confidence": "none"}}) as mem:
        mem.maintain()
    with leporello.open(path, embedder="hash", clock=clock, policies=slow) as mem:
        mem.scope(user="ann").learn("The shop closes at six.")
    clock.advance(100 * DAY)
    with leporello.open(path, embedder="hash", clock=clock) as mem:
        assert mem._ports.policies.retention.half_life == 10
        dry = mem.maintain(dry_run=True)
        assert [m.cause for m in dry.moves] == ["forgotten"] and mem.maintain().moves == dry.moves

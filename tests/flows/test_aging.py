"""Memory ages by a law that is published, and use keeps it alive."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import leporello
from leporello.core import confidence as sure
from leporello.flows import aging
from leporello.memory import Memory, Scoped
from leporello.policies import LAWS
from leporello.ports import TraceRow
from leporello.records import Fact, Scope
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


# --- confidence ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "weeks"), [("user_stated", 16), ("inferred", 10), ("assumed", 6)])
def test_confidence_falls_to_the_threshold_and_then_out_of_recall(mem: Memory, clock: ManualClock, source: str, weeks: int) -> None:
    ann = mem.scope(user="ann")
    fact = ann.learn("Deploys happen on Tuesdays.", source=source)
    clock.advance(weeks * WEEK)
    (hit,) = ann.recall("deploys")
    assert isinstance(hit.record, Fact)
    assert hit.confidence == hit.record.confidence == 0.2 == ann.age(fact.id).confidence and not ann.age(fact.id).hidden
    assert "Tuesdays" in ann.context("deploys").text
    clock.advance(timedelta(microseconds=1))
    assert not ann.recall("deploys").hits and texts(ann.recall("deploys", include=("archived",))) == {fact.text}
    assert "Tuesdays" not in ann.context("deploys").text
    assert ann.facts()[0].id == fact.id  # it holds, as far as is known


def test_confidence_by_source_and_without_decay(clock: ManualClock) -> None:
    for preset, left in (("by_source", [0.8, 0.2, 0.0]), ("none", [1.0, 0.7, 0.5]), ("uniform", [0.5, 0.2, 0.0])):
        now = ManualClock(START)
        with opened(now, confidence=preset) as mem:
            ann = mem.scope(user="ann")
            ids = [
                ann.learn(f"{s} says that the {w} is open.", source=s).id
                for s, w in (("user_stated", "door"), ("inferred", "shop"), ("assumed", "bank"))
            ]
            now.advance(10 * WEEK)
            assert [ann.age(i).confidence for i in ids] == left


def test_use_and_confirmation_raise_what_is_left(mem: Memory, clock: ManualClock) -> None:
    ann = mem.scope(user="ann")
    fact = ann.learn("The shop closes at six.", source="inferred")
    clock.advance(2 * WEEK)
    assert ann.used(fact.id) == 1
    assert ann.age(fact.id).confidence == 0.7  # 0.7 less 0.1, and 0.1
    assert ann.used(fact.id) == 0 and ann.age(fact.id).confidence == 0.7
    clock.advance(2 * WEEK)
    confirmed = ann.confirm(fact.id)
    assert isinstance(confirmed, Fact) and confirmed.confidence == 0.7
    for _ in range(40):
        clock.advance(WEEK)
        ann.used(fact.id)
    assert ann.age(fact.id).confidence == 1.0
    ann.contradict(fact.id)
    assert ann.age(fact.id).confidence == 0.0
    clock.advance(WEEK)
    assert ann.used(fact.id) == 1 and ann.age(fact.id).confidence == 0.0 and not ann.recall("shop closes").hits
    assert texts(ann.recall("shop closes", include=["deprecated"])) == {fact.text}


def test_found_and_shown_is_no_use(mem: Memory, clock: ManualClock) -> None:
    ann = mem.scope(user="ann")
    seen, alone = ann.learn("The shop closes at six."), ann.learn("Berta waters the plants.")
    for _ in range(30):
        clock.advance(DAY)
        assert ann.recall("when does the shop close?")
        ann.context("when does the shop close?")
    mem.flush()
    one, other = ann.age(seen.id), ann.age(alone.id)
    assert (one.retention, one.confidence, one.presentations) == (other.retention, other.confidence, 1)
    assert {e.kind for e in ann.events(seen.id)} == {"observed", "retrieved", "shown"} and len(ann.events(seen.id)) > 30


# --- retention -----------------------------------------------------------------------------------------------------------


def test_the_half_life_is_that_of_the_policy_and_the_importance(clock: ManualClock) -> None:
    with opened(clock, half_life=30, confidence="none") as mem:
        ann = mem.scope(user="ann")
        ids = {w: ann.learn(f"A {w} thing is here.", importance=w).id for w in ("high", "medium", "low")}
        for word, days in (("low", 15), ("medium", 30), ("high", 45)):
            clock.set(START + days * DAY)
            assert ann.age(ids[word]).retention == pytest.approx(0.5, abs=1e-9)
            clock.advance(timedelta(seconds=1))
            assert ann.age(ids[word]).status == "fading" and ann.get(ids[word]).status == "fading"  # type: ignore[union-attr]
        assert {f.status for f in ann.facts()} == {"fading"} and len(ann.facts(status="fading")) == 3
        for word, days in (("low", 45), ("medium", 90), ("high", 135)):
            clock.set(START + days * DAY - timedelta(seconds=1))
            assert ids[word] not in {m.id for m in mem.maintain(dry_run=True).moves}
            clock.set(START + days * DAY + timedelta(seconds=1))
            assert ids[word] in {m.id for m in mem.maintain(dry_run=True).moves}


def test_what_is_said_again_and_used_lasts_longer(mem: Memory, clock: ManualClock) -> None:
    ann = mem.scope(user="ann")
    once, again, used = (ann.learn(t) for t in ("The shop closes at six.", "Berta waters the plants.", "Max likes tabs."))
    for _ in range(4):
        clock.advance(10 * DAY)
        ann.learn("berta waters  the PLANTS.")
        ann.used(ann.recall("tabs", k=1)[0])
    clock.advance(60 * DAY)
    ages = [ann.age(f.id) for f in (once, again, used)]
    assert ages[0].retention < ages[1].retention == ages[2].retention and [a.presentations for a in ages] == [1, 5, 5]
    assert ages[0].due is not None and ages[1].due is not None and ages[0].due < ages[1].due


def test_what_happens_close_together_counts_once(mem: Memory, clock: ManualClock) -> None:
    """Reinforcement cannot be farmed, neither by uses nor by statements."""
    ann = mem.scope(user="ann")
    farmed, plain = ann.learn("The shop closes at six."), ann.learn("Berta waters the plants.")
    for _ in range(100):
        ann.used(farmed.id)
        ann.learn("The shop  closes at six.")
        clock.advance(timedelta(seconds=1))
    assert (ann.age(farmed.id).presentations, ann.age(plain.id).presentations) == (1, 1)
    clock.advance(timedelta(hours=1))
    assert ann.used(farmed.id) == 1 and ann.age(farmed.id).presentations == 2


@pytest.mark.parametrize("law", LAWS)
def test_every_law_ages_and_is_maintained(law: str) -> None:
    clock = ManualClock(START)
    with opened(clock, law=law, half_life=10, confidence="none") as mem:
        ann = mem.scope(user="ann")
        fact = ann.learn("The shop closes at six.")
        seen = [ann.age(fact.id).retention]
        due = ann.age(fact.id).due
        for days in (1, 10, 100, 1_000):
            clock.set(START + days * DAY)
            seen.append(ann.age(fact.id).retention)
        assert seen == sorted(seen, reverse=True) and all(0 <= s <= 1 for s in seen)
        if law == "none":
            assert due is None and set(seen) == {1.0}
            return
        assert due is not None
        clock.set(due - timedelta(microseconds=1))
        assert not mem.maintain().moves
        clock.set(due)
        (move,) = mem.maintain().moves
        assert move.cause == "forgotten" and f"law {law}" in move.why and mem.maintain().moves == ()


def test_a_pin_never_fades_and_a_note_of_its_end_is_kept(mem: Memory, clock: ManualClock) -> None:
    ann = mem.scope(user="ann")
    pinned, ends = ann.learn("Never touch production."), ann.learn("The guest code is 4711.", expires_at=START + 3 * DAY)
    assert ann.keep(pinned.id, pinned=True).due is None
    clock.advance(3 * DAY - timedelta(microseconds=1))
    assert texts(ann.recall("guest code", kinds=("fact",))) >= {ends.text}
    clock.advance(timedelta(microseconds=1))
    assert ends.text not in texts(ann.recall("guest code")) and ann.age(ends.id).status == "expired"
    assert ends.text in texts(ann.recall("guest code", include="archived"))
    (move,) = mem.maintain().moves
    assert (move.id, move.cause) == (ends.id, "expired") and "2026-03-05" in move.why
    clock.advance(3_000 * DAY)
    assert not mem.maintain().moves and ann.age(pinned.id).status == "active"
    assert (ann.age(pinned.id).retention, ann.age(pinned.id).confidence) == (1.0, 1.0)
    assert ann.keep(pinned.id, pinned=False).hidden
    assert ann.keep(ends.id, expires_at="never").expires_at is None


def test_a_message_expires_but_never_fades(mem: Memory, clock: ManualClock) -> None:
    ann = mem.scope(user="ann")
    stays, goes = ann.remember("The blue door is open."), ann.remember("The blue code is 4711.")
    ann.keep(goes.id, expires_at=START + DAY)
    clock.advance(5_000 * DAY)
    assert texts(ann.recall("blue")) == {stays.text}
    assert [m.id for m in mem.maintain().moves] == [goes.id] and texts(ann.recall("blue")) == {stays.text}
    assert [m.text for m in ann.session().messages()] == [stays.text, goes.text]  # the log is whole
    assert ann.restore(goes.id).id == goes.id
    assert texts(ann.recall("blue")) == {stays.text}  # it has expired: only "never" takes that back
    ann.keep(goes.id, expires_at="never")
    assert texts(ann.recall("blue")) == {stays.text, goes.text}


@given(st.integers(0, 10_000), st.integers(-(10**15), 10**16), st.sampled_from([0, 200, 500, 1_000]), st.booleans())
def test_what_is_left_of_a_level_is_what_the_law_of_confidence_says(level: int, later: int, weekly: int, pinned: bool) -> None:
    held = sure.Standing(level * sure.WEEK, 0)
    row = TraceRow("f_1", Scope(), "fact", "", held.level, held.since, pinned=pinned)
    expect = held if pinned else sure.decayed(held, later, rate=weekly)
    assert aging.confidence(row, weekly, later) == expect.confidence

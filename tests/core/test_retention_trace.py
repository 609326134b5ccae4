"""The trace of a record: of fixed size, not to be farmed, the same however its events are handed over."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError, replace
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leporello.core.retention import fsrs, spaced
from leporello.core.retention.laws import DAY, KEPT, Trace, begin, multiplier, of_events, present
from leporello.errors import BadValue

GOOD, EASY, HARD, AGAIN = fsrs.GOOD, fsrs.EASY, fsrs.HARD, fsrs.AGAIN
times = st.integers(-(10**6), 10**6)
events = st.lists(st.tuples(times, st.integers(1, 4)), min_size=1, max_size=30).map(lambda e: [(min(t for t, _ in e), GOOD), *e])
gaps = st.integers(0, 10**5)


def seen(*at: int, unit: int = 1, gap: int = 1) -> Trace:
    return of_events([(t, GOOD) for t in at], unit=unit, gap=gap)


def test_a_record_begins_with_one_presentation() -> None:
    trace = begin(7, importance=multiplier("high"))
    assert (trace.first, trace.count, trace.recent, trace.last, trace.reviewed) == (7, 1, (7,), 7, 7)
    assert (trace.importance, trace.decays, trace.tail) == (1.5, (0.177,), 0)
    assert trace.stability == pytest.approx(1.5 * 2.3065)
    assert trace.difficulty == begin(7).difficulty == pytest.approx(2.118104, abs=5e-7)
    with pytest.raises(FrozenInstanceError):
        trace.count = 2  # type: ignore[misc]


def test_the_importance_table() -> None:
    assert [multiplier(w) for w in ("high", "medium", "low")] == [1.5, 1, 0.5]
    with pytest.raises(BadValue, match="importance='urgent' is unknown"):
        multiplier("urgent")


def test_the_newest_ten_are_kept_with_the_first_and_the_count() -> None:
    trace = seen(*range(0, 250, 10))
    assert (trace.first, trace.count) == (0, 25)
    assert trace.recent == tuple(range(240, 140, -10))
    assert len(trace.decays) == KEPT


@pytest.mark.parametrize(("at", "decays"), [((58, 59, 60), (0.177, 0.394, 0.585945)), ((0, 30, 60), (0.177, 0.295853, 0.361462))])
def test_the_decays_are_those_of_the_formula(at: tuple[int, ...], decays: tuple[float, ...]) -> None:
    assert seen(*at).decays[::-1] == pytest.approx(decays, abs=5e-7)
    assert seen(*(t * DAY for t in at), unit=DAY).decays[::-1] == pytest.approx(decays, abs=5e-7)


@given(st.lists(times, min_size=1, max_size=KEPT, unique=True))
def test_up_to_ten_presentations_nothing_is_lost(at: list[int]) -> None:
    trace = seen(*at)
    assert trace.recent == tuple(sorted(at, reverse=True))
    assert trace.decays[::-1] == pytest.approx(spaced.decays(sorted(at)))
    assert trace.tail == 0


def test_an_eleventh_drops_the_first_which_goes_on_as_itself() -> None:
    trace = seen(*range(0, 110, 10))
    assert trace.recent[-1] == 10
    assert trace.tail == pytest.approx(1)
    assert trace.decays[::-1] == pytest.approx(spaced.decays(range(0, 110, 10))[1:])


def test_what_drops_out_weighs_as_much_as_it_did() -> None:
    twelve = seen(*range(0, 120, 10))
    now, second = 110, spaced.decays(range(0, 120, 10))[1]
    assert (twelve.tail - 1) * (now - 0) ** -spaced.A == pytest.approx((now - 10) ** -second)


# --- merging


def test_presentations_closer_than_the_gap_are_merged() -> None:
    trace = begin(0)
    assert present(trace, 9, gap=10, unit=1) is trace
    assert present(trace, 10, gap=10, unit=1).count == 2
    assert present(trace, 0) is trace
    assert present(trace, 0, gap=0).count == 2


@given(st.lists(st.integers(0, 99), min_size=100, max_size=100), st.sampled_from([GOOD, EASY]))
def test_a_hundred_within_the_gap_are_one(at: list[int], grade: int) -> None:
    assert of_events([(0, GOOD), *((t, grade) for t in at)], gap=100) == begin(0)


def test_the_gap_counts_from_the_last_presentation_that_counted() -> None:
    assert seen(0, 6, 12, 18, 24, gap=10).recent == (24, 12, 0)


def test_a_late_presentation_takes_its_place_unless_it_is_near_another() -> None:
    trace = seen(0, 100)
    assert present(trace, 50, gap=50).recent == (100, 50, 0)
    for near in (51, 49):
        assert present(trace, near, gap=50) is trace
    earlier = present(trace, -50, gap=50, unit=1)
    assert (earlier.first, earlier.recent, earlier.decays[-1]) == (-50, (100, 0, -50), 0.177)
    assert present(trace, -49, gap=50) is trace


def test_a_late_presentation_leaves_the_state_of_fsrs_alone() -> None:
    trace = seen(0, 100)
    later = present(trace, 50, unit=1)
    assert (later.stability, later.difficulty, later.reviewed) == (trace.stability, trace.difficulty, 100)
    assert present(trace, 50, grade=AGAIN, unit=1) is present(trace, 50, grade=HARD, unit=1) is trace


def test_what_comes_too_late_for_the_newest_ten_is_counted() -> None:
    trace = seen(*range(0, 200, 10))
    later = present(trace, 25, unit=1)
    assert (later.first, later.count, later.recent, later.tail) == (0, 21, trace.recent, trace.tail + 1)
    before = present(trace, -25, unit=1)
    assert (before.first, before.count, before.recent) == (0, 21, trace.recent)
    assert present(trace, -2, gap=5, unit=1) is trace
    ten = seen(*range(0, 100, 10))
    assert (present(ten, -5, unit=1).first, present(ten, -5, unit=1).tail) == (-5, 1)


# --- grades


def test_only_use_and_confirmation_are_presentations() -> None:
    trace = begin(0)
    counts = {grade: present(trace, 5, grade=grade, unit=1).count for grade in (AGAIN, HARD, GOOD, EASY)}
    assert counts == {AGAIN: 1, HARD: 1, GOOD: 2, EASY: 2}


def test_what_was_shown_and_not_used_is_only_harder() -> None:
    trace = begin(0)
    shown = present(trace, 5, grade=HARD, unit=1)
    assert shown == replace(trace, difficulty=shown.difficulty)
    assert shown.difficulty > trace.difficulty


def test_a_contradiction_is_a_lapse() -> None:
    trace = seen(0, 2)
    lapsed = present(trace, 13, grade=AGAIN, unit=1)
    assert lapsed == replace(trace, stability=lapsed.stability, difficulty=lapsed.difficulty, reviewed=13)
    assert lapsed.stability < trace.stability


def test_the_state_is_that_of_fsrs() -> None:
    trace = of_events([(0, GOOD), (2, GOOD), (13, AGAIN), (15, GOOD)], unit=1)
    assert (trace.stability, trace.difficulty, trace.reviewed) == pytest.approx((4.876260, 7.380074, 15), abs=5e-7)


def test_ages_may_be_parts_of_a_day() -> None:
    half = present(begin(0), DAY * 3 // 2).stability
    assert half == fsrs.review(fsrs.initial(), GOOD, days=1.5).stability
    assert present(begin(0), DAY).stability < half < present(begin(0), 2 * DAY).stability


def test_other_parameters_of_fsrs() -> None:
    other = fsrs.Parameters((*fsrs.DEFAULT.w[:2], 5.0, *fsrs.DEFAULT.w[3:]))
    assert begin(0, parameters=other).stability == 5
    trace = of_events([(0, GOOD), (3, EASY)], unit=1, parameters=other)
    assert trace.stability == fsrs.review(fsrs.initial(parameters=other), EASY, days=3, parameters=other).stability


# --- order


@given(events, gaps, st.randoms(use_true_random=False))
def test_the_order_in_which_events_are_handed_over_does_not_matter(held: list[tuple[int, int]], gap: int, chance: object) -> None:
    other = list(held)
    chance.shuffle(other)  # type: ignore[attr-defined]
    assert of_events(other, gap=gap, unit=1000) == of_events(held, gap=gap, unit=1000)


@given(events, gaps, st.data())
def test_folding_in_parts_comes_to_the_same(held: list[tuple[int, int]], gap: int, data: st.DataObject) -> None:
    held = sorted(held, key=lambda e: (e[0], -e[1]))
    cut = data.draw(st.integers(1, len(held)))
    start = of_events(held[:cut], gap=gap, unit=1000)
    whole = reduce(lambda t, e: present(t, e[0], grade=e[1], gap=gap, unit=1000), held[cut:], start)
    assert whole == of_events(held, gap=gap, unit=1000)


@given(events, gaps, st.integers(-(10**15), 10**15))
def test_a_shift_of_all_times_shifts_the_trace(held: list[tuple[int, int]], gap: int, c: int) -> None:
    here, there = of_events(held, gap=gap, unit=1000), of_events([(t + c, g) for t, g in held], gap=gap, unit=1000)
    moved = replace(here, first=here.first + c, recent=tuple(p + c for p in here.recent), reviewed=here.reviewed + c)
    assert moved == there


def test_nothing_happens_before_a_record_is_there() -> None:
    assert of_events([(3, AGAIN), (4, HARD), (5, GOOD)]) == begin(5)
    assert of_events([(5, AGAIN), (5, GOOD)], unit=1) == present(begin(5), 5, grade=AGAIN, unit=1)
    for none in ([], [(3, AGAIN), (4, HARD)]):
        with pytest.raises(BadValue, match="no presentation"):
            of_events(none)


# --- what is refused


@pytest.mark.parametrize("bad", [1.5, math.nan, math.inf, "1", None, True, 2**63])
def test_what_is_no_time_or_grade_is_refused(bad: object) -> None:
    trace = begin(0)
    for call in (
        lambda: begin(bad),  # type: ignore[arg-type]
        lambda: present(trace, bad),  # type: ignore[arg-type]
        lambda: present(trace, 1, gap=bad),  # type: ignore[arg-type]
        lambda: present(trace, 1, unit=bad),  # type: ignore[arg-type]
        lambda: present(trace, 1, grade=bad),  # type: ignore[arg-type]
        lambda: of_events([(0, bad)]),  # type: ignore[list-item]
        lambda: of_events([(bad, GOOD)]),  # type: ignore[list-item]
    ):
        with pytest.raises(BadValue):
            call()


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, 101, "high", None])
def test_a_bad_importance_is_refused(bad: object) -> None:
    with pytest.raises(BadValue, match=r"importance=.*from 0.01 to 100"):
        begin(0, importance=bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "change",
    [
        {"count": 3},
        {"count": 0, "recent": (), "decays": ()},
        {"recent": (0, 100)},
        {"first": 50},
        {"first": -0.5},
        {"first": -(2**63)},
        {"reviewed": 2**63},
        {"decays": (0.2,)},
        {"decays": (0.2, math.nan)},
        {"decays": (0.2, 0.0)},
        {"importance": math.nan},
        {"importance": 0},
        {"stability": math.inf},
        {"stability": 0},
        {"difficulty": 11},
        {"tail": math.nan},
        {"tail": -1},
    ],
)
def test_a_trace_that_cannot_be_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(BadValue, match="Trace"):
        replace(seen(0, 100), **change)  # type: ignore[arg-type]

"""FSRS-6 against the published values and, on random histories, against the `fsrs` package."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from functools import cache

import pytest
from fsrs import Card, Rating, Scheduler
from hypothesis import given
from hypothesis import strategies as st

from leporello.core.retention import exponential, fsrs
from leporello.core.retention.fsrs import AGAIN, DEFAULT, EASY, GOOD, HARD, Parameters, State
from leporello.errors import BadSetting, BadValue

CLOSE = 5e-7
DAY_0 = datetime(2024, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("t", "six", "five", "plain"),
    [
        (5, 0.940344, 0.946059, 0.948683),
        (10, 0.900000, 0.900000, 0.900000),
        (30, 0.809388, 0.766131, 0.729000),
        (100, 0.692827, 0.546711, 0.348678),
        (365, 0.573559, 0.323394, 0.021372),
    ],
)
def test_the_curve(t: float, six: float, five: float, plain: float) -> None:
    assert fsrs.retrievability(t, 10) == pytest.approx(six, abs=CLOSE)
    assert fsrs.retrievability(t, 10, decay=0.5) == pytest.approx(five, abs=CLOSE)
    assert exponential.retention(t, -10 / math.log(0.9)) == pytest.approx(plain, abs=CLOSE)


def test_the_factor_of_the_curve() -> None:
    assert fsrs.factor(DEFAULT.w[20]) == pytest.approx(0.980346, abs=CLOSE)
    assert fsrs.factor(0.5) == pytest.approx(19 / 81)


@pytest.mark.parametrize(("retention", "days"), [(0.9, 10), (0.8, 33.159598), (0.7, 92.879112), (0.5, 903.545128)])
def test_the_interval(retention: float, days: float) -> None:
    assert fsrs.interval(10, retention) == pytest.approx(days, abs=CLOSE)


def test_the_tail_is_flat() -> None:
    assert fsrs.interval(1, 0.5) == pytest.approx(90.35, abs=5e-3)
    assert fsrs.interval(1, 0.1) == pytest.approx(3.1e6, rel=2e-2)
    assert fsrs.interval(1, 0.5, decay=0.5) == pytest.approx(12.789474, abs=CLOSE)
    assert fsrs.interval(1, 0.1, decay=0.5) == pytest.approx(422.05, abs=5e-3)
    assert fsrs.interval(1, 1e-300) == math.inf


@given(st.floats(0.01, 1e6), st.floats(0.05, 1))
def test_the_interval_is_the_inverse_of_the_curve(stability: float, retention: float) -> None:
    assert fsrs.retrievability(fsrs.interval(stability, retention), stability) == pytest.approx(retention, abs=1e-9)


@pytest.mark.parametrize(
    ("grade", "stability", "difficulty"),
    [(AGAIN, 1.391987, 8.341762), (HARD, 23.246875, 6.665995), (GOOD, 32.026729, 4.990228), (EASY, 51.253862, 3.314461)],
)
def test_one_review(grade: int, stability: float, difficulty: float) -> None:
    after = fsrs.review(State(10, 5), grade, days=10)
    assert (after.stability, after.difficulty) == pytest.approx((stability, difficulty), abs=CLOSE)


def test_a_late_success_gains_more_and_one_at_once_nothing() -> None:
    assert fsrs.review(State(10, 5), GOOD, days=30).stability == pytest.approx(53.557612, abs=CLOSE)
    assert fsrs.review(State(10, 5), GOOD, days=1).stability == pytest.approx(13.047176, abs=CLOSE)
    assert fsrs.recall_stability(State(10, 5), GOOD, retrieved=1) == 10


def test_a_history() -> None:
    states = [fsrs.initial()]
    for grade, days in ((GOOD, 2), (AGAIN, 11), (GOOD, 2)):
        states.append(fsrs.review(states[-1], grade, days=days))
    assert [s.stability for s in states] == pytest.approx([2.306500, 10.964332, 1.538337, 4.876260], abs=CLOSE)
    assert [s.difficulty for s in states] == pytest.approx([2.118104, 2.111214, 7.392238, 7.380074], abs=CLOSE)
    assert [max(1, round(fsrs.interval(s.stability, 0.9))) for s in states] == [2, 11, 2, 5]


# --- the package


@cache
def scheduler(parameters: Parameters = DEFAULT) -> Scheduler:
    return Scheduler(parameters.w, learning_steps=(), relearning_steps=(), enable_fuzzing=False)


def test_the_defaults_are_those_of_the_package() -> None:
    assert Scheduler().parameters == DEFAULT.w


some_parameters = st.tuples(*(st.floats(lo, hi) for lo, hi in fsrs._BOUNDS)).map(Parameters)


@given(st.just(DEFAULT) | some_parameters, st.integers(1, 4), st.lists(st.tuples(st.integers(1, 4), st.integers(0, 400)), max_size=12))
def test_random_histories_against_the_package(parameters: Parameters, first: int, rest: list[tuple[int, int]]) -> None:
    theirs, at = scheduler(parameters), DAY_0
    card, _ = theirs.review_card(Card(card_id=1), Rating(first), at)
    state = fsrs.initial(first, parameters=parameters)
    for grade, days in rest:
        at += timedelta(days=days)
        seen = fsrs.retrievability(days, state.stability, decay=parameters.w[20])
        assert seen == pytest.approx(theirs.get_card_retrievability(card, at), rel=1e-9)
        card, _ = theirs.review_card(card, Rating(grade), at)
        state = fsrs.review(state, grade, days=days, parameters=parameters)
        assert card.stability is not None and card.stability < fsrs.MOST_STABILITY
        assert (state.stability, state.difficulty) == pytest.approx((card.stability, card.difficulty), rel=1e-9)


states = st.builds(State, st.floats(fsrs.LEAST_STABILITY, 1e6), st.floats(1, 10))


@given(states, st.integers(HARD, EASY), st.floats(0, 1e6))
def test_no_success_lowers_stability(state: State, grade: int, days: float) -> None:
    assert fsrs.review(state, grade, days=days).stability >= state.stability


@given(states, st.floats(0, 1e6))
def test_no_lapse_raises_stability(state: State, days: float) -> None:
    assert fsrs.review(state, AGAIN, days=days).stability <= max(state.stability, fsrs.LEAST_STABILITY)


@given(states, st.integers(AGAIN, EASY), st.floats(0, 1e300))
def test_numbers_stay_finite_and_within_bounds(state: State, grade: int, days: float) -> None:
    after = fsrs.review(state, grade, days=days)
    assert fsrs.LEAST_STABILITY <= after.stability <= fsrs.MOST_STABILITY
    assert 1 <= after.difficulty <= 10


def test_what_is_no_parameter_is_named_with_its_bounds() -> None:
    bad = (*DEFAULT.w[:4], 11.0, *DEFAULT.w[5:20], math.nan)
    with pytest.raises(BadSetting, match=r"w\[4\]=11.0 \(from 1 to 10\); w\[20\]=nan \(from 0.1 to 0.8\)"):
        Parameters(bad)
    for wrong in (DEFAULT.w[:20], list(DEFAULT.w), None):
        with pytest.raises(BadSetting, match="no tuple of 21 numbers"):
            Parameters(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(("grade", "days"), [(0, 1), (5, 1), (2.5, 1), (True, 1), (3, -1), (3, math.nan), (3, math.inf), (3, "1")])
def test_a_bad_review_is_refused(grade: int, days: float) -> None:
    with pytest.raises(BadValue):
        fsrs.review(State(10, 5), grade, days=days)


@pytest.mark.parametrize(("stability", "difficulty"), [(0, 5), (math.nan, 5), (math.inf, 5), (1, 0.9), (1, 11), (1, math.nan)])
def test_a_bad_state_is_refused(stability: float, difficulty: float) -> None:
    with pytest.raises(BadValue, match="State"):
        State(stability, difficulty)


def test_a_bad_question_is_refused() -> None:
    for call in (
        lambda: fsrs.retrievability(math.nan, 1),
        lambda: fsrs.retrievability(1, 0),
        lambda: fsrs.interval(1, 0),
        lambda: fsrs.initial(9),
    ):
        with pytest.raises(BadValue):
            call()

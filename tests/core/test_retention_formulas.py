"""The published formulas of forgetting against the published and hand-computed values."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leporello.core.retention import actr, exponential, spaced
from leporello.errors import BadValue

CLOSE = 5e-7
NO_NUMBERS = [math.nan, math.inf, -math.inf, "1", None, True]


# --- ACT-R


@pytest.mark.parametrize(
    ("lags", "expect"), [([1, 4, 9], 0.606136), ([10, 20, 30], -0.325164), ([4, 16], -0.287682), ([100, 400], -1.897120)]
)
def test_the_exact_base_level(lags: list[float], expect: float) -> None:
    assert actr.base_level(lags) == pytest.approx(expect, abs=CLOSE)


def test_the_standard_base_level() -> None:
    assert actr.standard(3, 9) == pytest.approx(0.693147, abs=CLOSE)
    assert actr.standard(100, 100) == pytest.approx(2.995732, abs=CLOSE)


@pytest.mark.parametrize(
    ("lags", "n", "lifetime", "d", "expect"),
    [
        ([1], 3, 9, 0.5, 0.693147),
        ([1, 4], 3, 9, 0.5, 0.641854),
        ([4], 2, 16, 0.5, -0.182322),
        (list(range(1, 11)), 100, 100, 0.5, 2.928333),
        ([1], 100, 100, 0.5, 2.944439),
        ([1], 3, 9, 1, 0.437807),
        (list(range(1, 101)), 100, 100, 0.5, 2.922602),
    ],
)
def test_the_hybrid_base_level(lags: list[float], n: int, lifetime: float, d: float, expect: float) -> None:
    assert actr.hybrid(lags, n, lifetime=lifetime, d=d) == pytest.approx(expect, abs=CLOSE)


lag = st.floats(0.05, 1e15)
decay = st.floats(0.05, 2)


@given(st.lists(lag, min_size=1, max_size=10), decay)
def test_the_hybrid_is_exact_when_nothing_is_left_out(lags: list[float], d: float) -> None:
    lags = sorted(lags)
    slow = math.log(math.fsum(t**-d for t in lags))
    assert actr.hybrid(lags, len(lags), lifetime=lags[-1], d=d) == pytest.approx(slow, abs=1e-9)
    assert actr.base_level(lags, d) == pytest.approx(slow, abs=1e-9)


@given(lag, st.floats(0, 1e15), st.integers(2, 1000), st.floats(0.05, 0.95) | st.floats(1.05, 2))
def test_the_hybrid_is_the_textbook_formula_where_that_is_stable(oldest: float, more: float, n: int, d: float) -> None:
    life = oldest + max(more, oldest * 1e-3)
    tail = (n - 1) * (life ** (1 - d) - oldest ** (1 - d)) / ((1 - d) * (life - oldest))
    assert actr.hybrid([oldest], n, lifetime=life, d=d) == pytest.approx(math.log(oldest**-d + tail), abs=1e-7)


@given(st.integers(2, 1000), lag, st.floats(1.001, 1e6))
def test_the_hybrid_has_no_step_at_d_1(n: int, oldest: float, times: float) -> None:
    at_one = actr.hybrid([oldest], n, lifetime=oldest * times, d=1)
    for near in (1 - 1e-9, 1 + 1e-9):
        assert actr.hybrid([oldest], n, lifetime=oldest * times, d=near) == pytest.approx(at_one, abs=1e-6)


@given(lag, st.integers(1, 1000), decay)
def test_presentations_all_at_one_time_are_n_times_one(age: float, n: int, d: float) -> None:
    assert actr.hybrid([age], n, lifetime=age, d=d) == pytest.approx(math.log(n) - d * math.log(age), abs=1e-9)


def test_lags_below_the_floor_count_as_the_floor() -> None:
    assert actr.base_level([0]) == actr.base_level([-5]) == actr.base_level([0.05]) == pytest.approx(-0.5 * math.log(0.05))
    assert actr.base_level([0], floor=1) == 0
    assert actr.standard(2, 0, floor=1) == pytest.approx(math.log(4))


@pytest.mark.parametrize("d", [0.1, 0.5, 2])
def test_no_lag_is_too_long_or_too_short(d: float) -> None:
    assert actr.base_level([1e300, 1e300], d) == pytest.approx(math.log(2) - d * math.log(1e300))
    assert actr.base_level([1e-290], d, floor=1e-299) == pytest.approx(-d * math.log(1e-290))


def test_retrieval_probability() -> None:
    assert actr.probability(0.606136, noise=0.4) == pytest.approx(0.819851, abs=CLOSE)
    assert actr.probability(actr.base_level([100, 400]), threshold=actr.threshold_for(100)) == pytest.approx(0.835052, abs=CLOSE)
    assert actr.probability(1e300, noise=0.01) == 1
    assert actr.probability(-1e300, noise=0.01) == 0
    assert actr.probability(-740, noise=1) == pytest.approx(math.exp(-740))


@pytest.mark.parametrize(("t", "expect"), [(50, 0.8), (100, 0.5), (200, 0.2), (300, 0.1), (1000, 0.009901)])
def test_a_threshold_set_by_half_life(t: float, expect: float) -> None:
    assert actr.probability(actr.base_level([t]), threshold=actr.threshold_for(100)) == pytest.approx(expect, abs=CLOSE)
    assert 1 / (1 + (t / 100) ** (0.5 / 0.25)) == pytest.approx(expect, abs=CLOSE)


def test_importance_in_the_half_life_is_a_bonus_of_d_ln_k() -> None:
    assert actr.threshold_for(100) - actr.threshold_for(150) == pytest.approx(0.202733, abs=CLOSE)
    assert actr.threshold_for(100) - actr.threshold_for(50) == pytest.approx(-0.346574, abs=CLOSE)


def test_reinforcement_can_be_farmed_without_a_gap() -> None:
    assert actr.probability(actr.base_level([100] * 100), threshold=-2.5, noise=1) == pytest.approx(0.991858, abs=CLOSE)


def test_one_event_has_one_effect() -> None:
    """C22: a retrieval at 50, seen at 100, as an access (0.08), as a presentation, as both."""
    assert actr.base_level([100]) + 0.08 == pytest.approx(-2.222585, abs=CLOSE)
    assert actr.base_level([50, 100]) == pytest.approx(-1.421212, abs=CLOSE)
    assert actr.base_level([50, 100]) + 0.08 == pytest.approx(-1.341212, abs=CLOSE)


def test_another_unit_shifts_the_threshold() -> None:
    assert actr.rescaled(-2.5, 60) == pytest.approx(-4.547172, abs=CLOSE)


@given(st.lists(lag, min_size=1, max_size=5), st.floats(1e-3, 1e5), decay)
def test_a_change_of_unit_changes_no_probability(lags: list[float], c: float, d: float) -> None:
    lags = sorted(lags)
    other = actr.base_level([t * c for t in lags], d, floor=1e-9) - actr.rescaled(-2.5, c, d=d)
    assert other == pytest.approx(actr.base_level(lags, d) + 2.5, abs=1e-8)


def test_spreading_activation_and_latency() -> None:
    assert actr.spreading([(0.5, 2), (0.5, 4)], strength=2) == pytest.approx(0.960279, abs=CLOSE)
    assert actr.spreading([], strength=2) == 0
    assert actr.latency(math.log(4), factor=2) == pytest.approx(0.5)
    assert actr.latency(math.log(4), factor=2, exponent=0.5) == pytest.approx(1)


# --- spacing


@pytest.mark.parametrize(
    ("presentations", "now", "decays", "m", "plain"),
    [
        ([58, 59, 60], 160, (0.177, 0.394, 0.585945), -0.399513, -1.208923),
        ([0, 30, 60], 160, (0.177, 0.295853, 0.361462), -0.182198, -1.321396),
        ([58, 59, 60], 70, (0.177, 0.394, 0.585945), 0.256475, -0.098259),
        ([0, 30, 60], 70, (0.177, 0.295853, 0.361462), 0.216914, -0.521104),
    ],
)
def test_pavlik_and_anderson(presentations: list[float], now: float, decays: tuple[float, ...], m: float, plain: float) -> None:
    assert spaced.decays(presentations) == pytest.approx(decays, abs=CLOSE)
    assert spaced.activation(presentations, now) == pytest.approx(m, abs=CLOSE)
    assert actr.base_level([now - p for p in presentations]) == pytest.approx(plain, abs=CLOSE)


def test_spaced_presentations_win_later_and_massed_ones_at_first() -> None:
    massed, far = [58, 59, 60], [0, 30, 60]
    assert spaced.activation(massed, 70) > spaced.activation(far, 70)
    assert spaced.activation(massed, 160) < spaced.activation(far, 160)


def test_the_constants_of_the_benchmark() -> None:
    assert spaced.decays([58, 59, 60], **spaced.BENCHMARK)[:2] == pytest.approx((0.176787, 0.393754), abs=CLOSE)


def test_lags_of_the_spaced_law_are_at_least_one_unit() -> None:
    assert spaced.activation([0, 0], 0) == pytest.approx(math.log(2))
    assert spaced.activation([5], -100) == 0


# --- the exponential


def test_the_exponential() -> None:
    table = {50: 0.606531, 100: 0.367879, 230: 0.100259, 231: 0.099261}
    assert {t: exponential.retention(t, 100) for t in table} == pytest.approx(table, abs=CLOSE)
    assert exponential.retention(100, 150) == pytest.approx(0.513417, abs=CLOSE)
    assert exponential.retention(-3, 100) == exponential.retention(0, 100) == 1


@given(st.floats(0, 600), st.floats(1e-6, 1e9))
def test_the_exponential_and_its_inverse(times: float, strength: float) -> None:
    assert exponential.lag_at(exponential.retention(times * strength, strength), strength) == pytest.approx(
        times * strength, abs=1e-9 * strength
    )


def test_what_ebbinghaus_measured() -> None:
    table = {20: 56.974731, 60: 47.260193, 1440: 30.411012, 44640: 21.227870}
    assert {t: exponential.savings(t) for t in table} == pytest.approx(table, abs=CLOSE)


@pytest.mark.parametrize(
    ("days", "strength", "paper", "code", "meant"),
    [(1, 1, 0.367879, 0.818731, 0.818731), (5, 2, 0.082085, 0.135335, 0.606531), (3, 4, 0.472367, 0.090718, 0.860708)],
)
def test_memory_bank_as_its_paper_says(days: float, strength: int, paper: float, code: float, meant: float) -> None:
    assert exponential.memory_bank(days, strength - 1) == pytest.approx(paper, abs=CLOSE)
    assert exponential.retention(days * strength, 5) == pytest.approx(code, abs=CLOSE)
    assert exponential.retention(days, 5 * strength) == pytest.approx(meant, abs=CLOSE)


# --- what is refused


@pytest.mark.parametrize("bad", NO_NUMBERS)
@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda x: actr.base_level([1, x], 0.5), r"lags\[1\]|lifetime"),
        (lambda x: actr.base_level([1], x), "d="),
        (lambda x: actr.base_level([1], floor=x), "floor="),
        (lambda x: actr.hybrid([1], x, lifetime=2), "n="),
        (lambda x: actr.hybrid([1], 1, lifetime=x), "lifetime="),
        (lambda x: actr.standard(1, x), "lifetime="),
        (lambda x: actr.probability(x), "activation="),
        (lambda x: actr.probability(0, noise=x), "noise="),
        (lambda x: actr.threshold_for(x), "half_life="),
        (lambda x: actr.rescaled(x, 1), "threshold="),
        (lambda x: actr.spreading([(1, x)], strength=1), "fan="),
        (lambda x: actr.latency(x), "activation="),
        (lambda x: spaced.decays([0], a=x), "a="),
        (lambda x: spaced.decays([x]), r"presentations\[0\]"),
        (lambda x: spaced.activation([0], x), "now="),
        (lambda x: exponential.retention(x, 1), "lag="),
        (lambda x: exponential.retention(1, x), "strength="),
        (lambda x: exponential.lag_at(x, 1), "retained="),
        (lambda x: exponential.savings(x), "minutes="),
        (lambda x: exponential.memory_bank(1, x), "recalls="),
    ],
)
def test_what_is_no_number_is_refused_by_name(call: Any, name: str, bad: object) -> None:
    with pytest.raises(BadValue, match=name):
        call(bad)


@pytest.mark.parametrize(
    "call",
    [
        lambda: actr.base_level([]),
        lambda: actr.hybrid([1, 2], 1, lifetime=2),
        lambda: actr.base_level([1], 0),
        lambda: actr.standard(2, 9, d=1),
        lambda: actr.probability(0, noise=0),
        lambda: actr.threshold_for(0),
        lambda: actr.spreading([(1, 0.5)], strength=1),
        lambda: spaced.decays([2, 1]),
        lambda: spaced.activation([], 1),
        lambda: exponential.retention(1, 0),
        lambda: exponential.lag_at(0, 1),
        lambda: exponential.lag_at(1.1, 1),
        lambda: exponential.savings(0.5),
    ],
)
def test_what_is_out_of_bounds_is_refused(call: Any) -> None:
    with pytest.raises(BadValue):
        call()


def test_every_bad_argument_is_named_at_once_with_its_bounds() -> None:
    with pytest.raises(BadValue, match=r"standard: n=0 \(from 1 to 1e\+300\); d=7 \(from 1e-06 to 1\)\."):
        actr.standard(0, 9, d=7)

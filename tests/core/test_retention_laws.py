"""The laws of forgetting: published values, and what holds for each of them whatever happened."""

from __future__ import annotations

import math
import time
from dataclasses import FrozenInstanceError, fields, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from leporello.core.retention import actr, compat, fsrs, spaced
from leporello.core.retention.crossing import first_below, root
from leporello.core.retention.laws import (
    DAY,
    KEPT,
    LAWS,
    YEAR_9999,
    ActR,
    ActRSpaced,
    Columns,
    Exponential,
    Fsrs,
    Law,
    Trace,
    begin,
    law,
    multiplier,
    of_events,
    present,
)
from leporello.errors import BadSetting, BadValue

UNIT = 1000
LOOSE = 1e-12
TICKS = {name: kind(unit=1) for name, kind in LAWS.items()}
VARIED = (
    ActR(unit=UNIT),
    ActR(unit=UNIT, half_life=0.001, d=0.3, noise=1.0),
    ActR(unit=UNIT, half_life=5, d=1.0, noise=0.05, floor=1),
    ActR(unit=UNIT, d=2.0, noise=2.0),
    ActRSpaced(unit=UNIT),
    ActRSpaced(unit=UNIT, half_life=3, noise=0.05),
    Exponential(unit=UNIT),
    Exponential(unit=UNIT, half_life=0.01),
    Fsrs(unit=UNIT),
    Fsrs(unit=UNIT, parameters=fsrs.Parameters((*fsrs.DEFAULT.w[:20], 0.5))),
)
every_law = pytest.mark.parametrize("rule", VARIED, ids=lambda r: f"{r.name}-{VARIED.index(r)}")

near = st.integers(-(10**6), 10**6) | st.integers(-2_000, 2_000)
grades = st.integers(1, 4)
held = st.lists(st.tuples(near, grades), max_size=30)
ages = st.integers(0, 10**7) | st.integers(0, 10**17) | st.sampled_from([0, 1, UNIT, 10**18])


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    events = [(draw(near), 3), *draw(held)]
    return of_events(events, importance=draw(st.sampled_from([0.5, 1.0, 1.5])), gap=draw(st.sampled_from([0, 1, 500, 50_000])), unit=UNIT)


def end(trace: Trace) -> int:
    return max(trace.last, trace.reviewed)


# --- values


@pytest.mark.parametrize(("t", "expect"), [(50, 0.8), (100, 0.5), (200, 0.2), (300, 0.1), (1000, 0.009901)])
def test_the_default_law_by_hand(t: int, expect: float) -> None:
    assert TICKS["actr"].retention(begin(0), t) == pytest.approx(expect, abs=5e-7)
    assert ActR().retention(begin(0), t * DAY) == pytest.approx(expect, abs=5e-7)
    for word in ("high", "low"):
        trace = begin(0, importance=multiplier(word))
        assert TICKS["actr"].retention(trace, round(t * trace.importance)) == pytest.approx(expect, abs=5e-7)


def test_two_presentations_by_hand() -> None:
    assert TICKS["actr"].retention(of_events([(0, 3), (300, 3)], unit=1), 400) == pytest.approx(0.835052, abs=5e-7)


def test_the_hybrid_behind_ten() -> None:
    trace = of_events([(t, 3) for t in range(100)], unit=1)
    expect = actr.probability(2.928333, threshold=actr.threshold_for(100))
    assert TICKS["actr"].retention(trace, 100) == pytest.approx(expect, rel=1e-6)


@given(
    st.lists(st.integers(0, 5_000), min_size=1, max_size=KEPT, unique=True),
    st.integers(0, 20_000),
    st.sampled_from(["high", "medium", "low"]),
)
def test_the_published_rule_as_a_law(at: list[int], later: int, word: str) -> None:
    now = max(at) + later
    trace = of_events([(t, 3) for t in at], importance=multiplier(word), unit=1)
    rule = compat.weigh(compat.Trace(min(at), tuple(sorted(at)), 0, word), now, compat.Settings())
    assert min(compat.CEILING, TICKS["compat"].retention(trace, now)) == pytest.approx(rule.retention, abs=1e-12)


def test_the_exponential_by_hand() -> None:
    rule = Exponential(half_life=100 * math.log(2), unit=1)
    assert {t: rule.retention(begin(0), t) for t in (50, 100, 230, 231)} == pytest.approx(
        {50: 0.606531, 100: 0.367879, 230: 0.100259, 231: 0.099261}, abs=5e-7
    )
    assert rule.retention(begin(0, importance=1.5), 100) == pytest.approx(0.513417, abs=5e-7)
    assert rule.retention(of_events([(0, 3), (70, 4)], unit=1), 170) == pytest.approx(0.367879, abs=5e-7)


@pytest.mark.parametrize(("t", "expect"), [(5, 0.940344), (10, 0.9), (30, 0.809388), (100, 0.692827), (365, 0.573559)])
def test_fsrs_by_hand(t: int, expect: float) -> None:
    assert Fsrs().retention(replace(begin(0), stability=10.0), t * DAY) == pytest.approx(expect, abs=5e-7)


@pytest.mark.parametrize(("at", "now"), [((58, 59, 60), 160), ((0, 30, 60), 160), ((58, 59, 60), 70), ((0, 30, 60), 70)])
def test_the_spaced_law_is_the_formula(at: tuple[int, ...], now: int) -> None:
    expect = actr.probability(spaced.activation(at, now), threshold=-spaced.A * math.log(100))
    assert TICKS["actr-spaced"].retention(of_events([(t, 3) for t in at], unit=1), now) == pytest.approx(expect, abs=1e-12)


def test_only_the_spaced_law_crosses_over() -> None:
    massed, far = (of_events([(t, 3) for t in at], unit=1) for at in ((58, 59, 60), (0, 30, 60)))
    rule, plain = TICKS["actr-spaced"], TICKS["actr"]
    assert rule.retention(massed, 70) > rule.retention(far, 70)
    assert rule.retention(massed, 160) < rule.retention(far, 160)
    assert plain.retention(massed, 160) > plain.retention(far, 160)


@pytest.mark.parametrize("name", ["actr", "actr-spaced", "exponential"])
@pytest.mark.parametrize("word", ["high", "medium", "low"])
def test_the_half_life_is_where_one_half_is_left(name: str, word: str) -> None:
    trace = begin(0, importance=multiplier(word))
    assert TICKS[name].retention(trace, round(100 * trace.importance)) == pytest.approx(0.5, abs=1e-12)


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=10, unique=True), st.integers(1, 10**6), st.sampled_from([0.3, 0.5, 1.0]))
def test_up_to_ten_presentations_the_law_is_exact(at: list[int], later: int, d: float) -> None:
    now = max(at) + later
    level = math.log(math.fsum((now - t) ** -d for t in at))
    expect = 1 / (1 + math.exp(min(700.0, (-d * math.log(100) - level) / 0.25)))
    assert ActR(d=d, unit=1).retention(of_events([(t, 3) for t in at], unit=1), now) == pytest.approx(expect, abs=1e-9)


def test_the_marks() -> None:
    assert {name: rule.marks for name, rule in TICKS.items()} == {
        "actr": (0.5, 0.1),
        "actr-spaced": (0.5, 0.1),
        "compat": (0.5, 0.1),
        "exponential": (0.5, 0.1),
        "fsrs": (0.9, 0.7),
    }


# --- laws of the laws


@every_law
@settings(max_examples=40)
@given(trace=traces(), steps=st.lists(ages, min_size=1, max_size=8), before=st.integers(0, 10**7))
def test_retention_is_a_probability_and_never_rises_by_itself(rule: Law, trace: Trace, steps: list[int], before: int) -> None:
    at = [trace.first - before, trace.first, trace.last, *sorted(trace.last + s for s in steps)]
    seen = [rule.retention(trace, t) for t in at]
    assert all(0 <= r <= 1 for r in seen)
    assert all(later <= earlier + LOOSE for earlier, later in pairwise(seen))
    columns = Columns.of([trace] * len(at))
    many = rule.retentions(columns, np.array(at))
    assert many == pytest.approx(seen, abs=1e-9)
    assert np.all((many >= 0) & (many <= 1)) and np.all(np.diff(many) <= LOOSE)


@every_law
@settings(max_examples=40)
@given(
    trace=traces(),
    wait=st.integers(0, 10**6),
    grade=st.integers(2, 4),
    gap=st.sampled_from([0, 1, 500]),
    ages=st.lists(ages, min_size=3, max_size=3),
)
def test_no_event_but_a_contradiction_lowers_retention(rule: Law, trace: Trace, wait: int, grade: int, gap: int, ages: list[int]) -> None:
    at = end(trace) + wait
    after = present(trace, at, grade=grade, gap=gap, unit=UNIT)
    for age in ages:
        assert rule.retention(after, at + age) >= rule.retention(trace, at + age) - LOOSE


@every_law
@settings(max_examples=40)
@given(trace=traces(), late=near, grade=st.integers(2, 4), gap=st.sampled_from([0, 1, 500]), ages=st.lists(ages, min_size=3, max_size=3))
def test_nor_does_an_event_that_comes_late(rule: Law, trace: Trace, late: int, grade: int, gap: int, ages: list[int]) -> None:
    at = max(late, end(trace))
    after = present(trace, late, grade=grade, gap=gap, unit=UNIT)
    for age in ages:
        assert rule.retention(after, at + age) >= rule.retention(trace, at + age) - LOOSE


@every_law
@settings(max_examples=40)
@given(trace=traces(), wait=st.integers(0, 10**6), age=ages)
def test_what_was_only_shown_changes_nothing(rule: Law, trace: Trace, wait: int, age: int) -> None:
    at = end(trace) + wait
    assert rule.retention(present(trace, at, grade=2, unit=UNIT), at + age) == rule.retention(trace, at + age)


def test_a_contradiction_lowers_it_under_fsrs_alone() -> None:
    trace = of_events([(0, 3), (10, 3), (40, 3)], unit=1)
    after = present(trace, 41, grade=1, unit=1)
    lower = {name for name, rule in TICKS.items() if rule.retention(after, 200) < rule.retention(trace, 200)}
    assert lower == {"fsrs"}


@every_law
@settings(max_examples=40)
@given(events=held, first=near, age=ages, c=st.integers(-(10**17), 10**17))
def test_a_shift_of_all_times_changes_nothing(rule: Law, events: list[tuple[int, int]], first: int, age: int, c: int) -> None:
    here = of_events([(first, 3), *events], unit=UNIT)
    there = of_events([(t + c, g) for t, g in [(first, 3), *events]], unit=UNIT)
    assert rule.retention(there, here.last + age + c) == rule.retention(here, here.last + age)
    assert rule.retentions(Columns.of([there]), here.last + age + c) == rule.retentions(Columns.of([here]), here.last + age)


@every_law
@pytest.mark.parametrize("lag", [0, -1, -(10**18), 10**18, 1])
def test_the_ends_of_time(rule: Law, lag: int) -> None:
    for trace in (begin(0), of_events([(t * UNIT, 3) for t in range(40)], unit=UNIT), of_events([(0, 3)] * 20, gap=0, unit=UNIT)):
        seen = rule.retention(trace, lag)
        assert 0 <= seen <= 1
        assert seen == rule.retention(trace, min(lag, 0)) or lag > 0
        assert rule.retentions(Columns.of([trace]), lag)[0] == pytest.approx(seen, abs=1e-9)


@every_law
def test_a_hundred_presentations_in_one_gap_are_one(rule: Law) -> None:
    farmed = of_events([(t, 4) for t in range(100)], gap=100, unit=UNIT)
    assert rule.retention(farmed, 10**6) == rule.retention(begin(0), 10**6)


# --- crossing


@every_law
@settings(max_examples=40)
@given(trace=traces(), level=st.floats(0.001, 0.999), wait=st.integers(-(10**5), 10**7) | st.integers(0, 10**16))
def test_a_crossing_is_exact_to_the_integer(rule: Law, trace: Trace, level: float, wait: int) -> None:
    after = trace.last + wait
    at = rule.crosses(trace, level, after)
    if at is None:
        assert rule.retention(trace, YEAR_9999) >= level
        return
    assert after <= at <= YEAR_9999
    assert rule.retention(trace, at) < level
    assert at == after or rule.retention(trace, at - 1) >= level


@pytest.mark.parametrize(("word", "faded", "removed"), [("low", 51, 151), ("medium", 101, 301), ("high", 151, 451)])
def test_crossings_of_the_default_law_by_hand(word: str, faded: int, removed: int) -> None:
    """At 100·k it is 0.5, at 300·k 0.1: a hair's breadth of rounding may take a whole time away."""
    trace = begin(0, importance=multiplier(word))
    assert TICKS["actr"].crosses(trace, 0.5 - 1e-12, 0) == faded
    assert TICKS["actr"].crosses(trace, 0.1 - 1e-12, 0) == removed


def test_crossings_at_the_limits() -> None:
    for rule in TICKS.values():
        trace = begin(0)
        assert rule.crosses(trace, 0, 0) is None
        assert rule.crosses(trace, 0.8, 10**9) == 10**9
        assert rule.crosses(trace, 0.8, 11, limit=10) is None
        first = rule.crosses(trace, 0.8, 0)
        assert first is not None and first > 1
        assert rule.crosses(trace, 0.8, 0, limit=first) == first
        assert rule.crosses(trace, 0.8, first - 1) == rule.crosses(trace, 0.8, first - 1, limit=first) == first
        assert rule.crosses(trace, 0.8, 0, limit=first - 1) is None
        early = rule.crosses(trace, 1, 0)
        assert early is not None and rule.retention(trace, early) < 1
    assert TICKS["fsrs"].crosses(begin(0), 1e-9, 0) is None


@example(10, 1_000, 0, 2_000)
@example(1_000, 10, 0, 2_000)
@example(11, 1_990, 10, 1)
@example(1_999, 5, 0, 2_000)
@example(2, 1_999, 0, 2_000)
@given(st.integers(0, 10**6), st.integers(-(10**7), 10**7), st.integers(0, 10**6), st.integers(0, 10**6))
def test_the_first_below_is_found_from_any_guess(step: int, guess: int, after: int, more: int) -> None:
    found = first_below(lambda at: float(at < step), 0.5, after, guess=guess, limit=after + more)
    assert found == (max(step, after) if max(step, after) <= after + more else None)


def test_the_first_below_is_found_from_every_guess_and_equal_is_not_below() -> None:
    for step in range(31):
        for guess in range(-1, 32):
            found = first_below(lambda at, step=step: 0.5 if step > at else 0.4, 0.5, 0, guess=guess, limit=30)  # type: ignore[misc]
            assert found == step


def test_the_root_lies_within_its_bounds() -> None:
    assert root(lambda x: -x, -3.0, low=0, high=10, near=1e-12) == pytest.approx(3)
    assert root(lambda x: -(x**3), -8.0, low=0, high=10, near=1e-12) == pytest.approx(2)
    assert root(lambda x: -(x**3), -8.0, low=0, high=10, near=-1) == pytest.approx(2)  # never near enough: out of rounds
    assert root(lambda x: -x, 1.0, low=0, high=10, near=1e-12) == 0
    assert root(lambda x: -x, -11.0, low=0, high=10, near=1e-12) == 10


@every_law
def test_a_crossing_is_quick(rule: Law) -> None:
    """Some 10 to 50 µs; ten times that is allowed on a busy machine."""
    day = replace(rule, unit=DAY)  # type: ignore[type-var]
    trace = of_events([(t * 11 * DAY + t * t, 3) for t in range(10)])
    best = min(timed(lambda: day.crosses(trace, 0.1, trace.last)) for _ in range(20))
    assert best < 600e-6


def timed(call: Any) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


# --- many at once


@every_law
@settings(max_examples=40)
@given(st.lists(traces(), max_size=6), ages)
def test_many_at_once_are_each_by_itself(rule: Law, some: list[Trace], age: int) -> None:
    at = max((end(t) for t in some), default=0) + age
    assert rule.retentions(Columns.of(some), at) == pytest.approx([rule.retention(t, at) for t in some], abs=1e-9)


@every_law
def test_what_fills_a_row_up_does_not_matter(rule: Law) -> None:
    some = [begin(0), of_events([(t, 3) for t in range(0, 90_000, 5_000)], unit=UNIT)]
    columns = Columns.of(some)
    recent, decays = columns.recent.copy(), columns.decays.copy()
    recent[0, 1:], decays[0, 1:] = 77, 5.0
    filled = replace(columns, recent=recent, decays=decays)
    assert len(filled) == 2
    assert np.array_equal(rule.retentions(filled, 10**6), rule.retentions(columns, 10**6))


@every_law
def test_many_at_once_are_quick(rule: Law) -> None:
    """Millions a second are usual; 200,000 are asked for."""
    some = [of_events([(t * n * UNIT, 3) for t in range(n)], unit=UNIT) for n in (1, 3, 10, 40)] * 5_000
    columns = Columns.of(some)
    assert min(timed(lambda: rule.retentions(columns, 10**9)) for _ in range(5)) < len(some) / 200_000


def test_columns_of_different_lengths_are_refused() -> None:
    columns = Columns.of([begin(0), begin(1)])
    for change in ({"count": columns.count[:1]}, {"decays": columns.decays[:, :0]}, {"recent": columns.recent[:1]}):
        with pytest.raises(BadValue, match="has shape"):
            replace(columns, **change)


# --- settings


def test_laws_are_found_by_name() -> None:
    assert set(LAWS) >= {"actr", "actr-spaced", "exponential", "fsrs"}
    assert law("actr") == ActR()
    assert law("exponential", {"half_life": 30, "unit": 1}) == Exponential(half_life=30, unit=1)
    with pytest.raises(BadSetting, match="no law 'ebbinghaus': use actr, "):
        law("ebbinghaus")
    with pytest.raises(BadSetting, match="fsrs has no half_life: use parameters, unit"):
        law("fsrs", {"half_life": 3})


@pytest.mark.parametrize("kind", [ActR, ActRSpaced, Exponential, Fsrs])
@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, 1e300, "1", None, True])
def test_every_setting_is_frozen_and_bounded(kind: Any, bad: object) -> None:
    for field in fields(kind):
        with pytest.raises(BadSetting, match=f"{field.name}="):
            kind(**{field.name: bad})
        with pytest.raises(FrozenInstanceError):
            setattr(kind(), field.name, 1)


def test_every_bad_setting_is_named_at_once() -> None:
    with pytest.raises(BadSetting, match=r"ActR: half_life=0 \(from 1e-06 to 1e\+09\); noise=nan \(from 0.01 to 10\)"):
        ActR(half_life=0, noise=math.nan)
    with pytest.raises(BadSetting, match="unit=1.5 is no whole number"):
        ActR(unit=1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan, "1", None])
def test_a_bad_level_is_refused(bad: object) -> None:
    for rule in TICKS.values():
        with pytest.raises(BadValue, match="level="):
            rule.crosses(begin(0), bad, 0)
        with pytest.raises(BadValue, match="after="):
            rule.crosses(begin(0), 0.5, 1.5)

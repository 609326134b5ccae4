"""Confidence in whole numbers: exact at the threshold, and the same however often one looks."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leporello.core.confidence import (
    BY_SOURCE,
    FULL,
    INITIAL,
    THRESHOLD,
    UNIFORM,
    WEEK,
    Presets,
    Standing,
    contradicted,
    decayed,
    hidden_from,
    reinforce,
    standing,
)
from leporello.errors import BadSetting, BadValue

RATE = UNIFORM.rate("stated")
NOW = 1_700_000_000_000_000
standings = st.builds(Standing, st.integers(0, FULL * WEEK), st.integers(-(10**17), 10**17))
rates = st.integers(0, FULL)
spans = st.integers(0, 10**17)


@pytest.mark.parametrize(("initial", "weeks", "expect"), [(1.0, 16, 0.2), (0.7, 10, 0.2), (0.5, 6, 0.2), (1.0, 1.5, 0.925)])
def test_the_published_values_exactly(initial: float, weeks: float, expect: float) -> None:
    then = decayed(standing(initial, NOW), NOW + int(weeks * WEEK), rate=RATE)
    assert then.confidence == expect
    assert not then.hidden


@pytest.mark.parametrize(("initial", "weeks"), [(1.0, 16), (0.7, 10), (0.5, 6)])
def test_hidden_one_microsecond_later(initial: float, weeks: int) -> None:
    held = standing(initial, NOW)
    assert hidden_from(held, rate=RATE) == NOW + weeks * WEEK + 1
    assert decayed(held, NOW + weeks * WEEK + 1, rate=RATE).hidden


def test_floats_would_have_hidden_it() -> None:
    assert 1.0 - 0.05 * 16 < 0.2


def test_the_presets() -> None:
    assert [UNIFORM.rate(s) for s in INITIAL] == [500, 500, 500]
    assert [BY_SOURCE.rate(s) for s in INITIAL] == [200, 500, 1_000]
    assert INITIAL == {"stated": 10_000, "inferred": 7_000, "assumed": 5_000}
    assert decayed(standing(1, 0), WEEK, rate=BY_SOURCE.rate("stated")).confidence == 0.98


def test_support_is_added_to_what_is_left() -> None:
    held = standing(0.7, 0)
    assert reinforce(held, 2 * WEEK, rate=RATE).confidence == 0.7
    assert reinforce(held, 2 * WEEK, rate=RATE, by=500).confidence == 0.65
    assert reinforce(standing(0.95, 0), 0, rate=RATE).confidence == 1
    assert reinforce(standing(0.1, 0), 100 * WEEK, rate=RATE).confidence == 0.1


def test_support_within_the_gap_adds_nothing() -> None:
    held = standing(0.5, 0)
    assert reinforce(held, 9, rate=RATE, gap=10) is held
    assert reinforce(held, 10, rate=RATE, gap=10).level == 6_000 * WEEK - 10 * RATE
    farmed = held
    for at in range(100):
        farmed = reinforce(farmed, at, rate=RATE, gap=100)
    assert farmed == held


def test_a_contradicted_fact_is_at_nothing() -> None:
    assert contradicted(standing(1, 5), 9) == Standing(0, 9)
    assert contradicted(standing(1, 5), 3) == Standing(0, 5)
    assert hidden_from(Standing(0, 9), rate=RATE) == 9


def test_what_never_falls_is_never_hidden() -> None:
    assert hidden_from(standing(0.2, 0), rate=0) is None
    assert hidden_from(standing(0.2, 0), rate=1) == 1


@given(standings, rates, spans, spans)
def test_in_one_step_or_in_two(held: Standing, rate: int, a: int, b: int) -> None:
    once = decayed(held, held.since + a + b, rate=rate)
    assert decayed(decayed(held, held.since + a, rate=rate), held.since + a + b, rate=rate) == once


@given(standings, rates, spans, spans)
def test_nothing_rises_by_itself_and_support_never_lowers(held: Standing, rate: int, a: int, b: int) -> None:
    at, later = held.since + a, held.since + a + b
    assert 0 <= decayed(held, later, rate=rate).level <= decayed(held, at, rate=rate).level <= held.level
    supported = reinforce(held, at, rate=rate)
    assert decayed(held, later, rate=rate).level <= decayed(supported, later, rate=rate).level <= FULL * WEEK


@given(standings, rates, spans)
def test_a_time_before_changes_nothing(held: Standing, rate: int, a: int) -> None:
    assert decayed(held, held.since - a, rate=rate) == held
    assert reinforce(held, held.since - a, rate=rate).since == held.since


@given(standings, st.integers(1, FULL))
def test_hidden_from_is_the_first_moment(held: Standing, rate: int) -> None:
    at = hidden_from(held, rate=rate)
    assert at is not None
    assert decayed(held, at, rate=rate).hidden
    assert at == held.since or not decayed(held, at - 1, rate=rate).hidden


@given(standings, rates, spans, st.integers(-(10**16), 10**16))
def test_a_shift_of_all_times_changes_no_level(held: Standing, rate: int, a: int, c: int) -> None:
    moved = Standing(held.level, held.since + c)
    assert decayed(moved, moved.since + a, rate=rate).level == decayed(held, held.since + a, rate=rate).level


@given(st.integers(0, FULL))
def test_basis_points_come_back_as_they_were_given(points: int) -> None:
    held = standing(points / FULL, 0)
    assert (held.level, held.confidence) == (points * WEEK, points / FULL)
    assert held.hidden == (points < THRESHOLD)


def test_levels_fit_the_store_and_a_float() -> None:
    assert FULL * WEEK < 2**53


@pytest.mark.parametrize("bad", [math.nan, math.inf, -0.1, 1.1, "1", None, True])
def test_a_bad_confidence_is_refused(bad: object) -> None:
    with pytest.raises(BadValue, match="confidence="):
        standing(bad, 0)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [1.5, math.nan, "1", None, True, -(2**63), 2**63])
def test_bad_whole_numbers_are_refused_by_name(bad: object) -> None:
    held = standing(0.5, 0)
    for name, call in (
        ("level", lambda: Standing(bad, 0)),  # type: ignore[arg-type]
        ("since", lambda: standing(0.5, bad)),  # type: ignore[arg-type]
        ("at", lambda: decayed(held, bad, rate=1)),  # type: ignore[arg-type]
        ("rate", lambda: decayed(held, 1, rate=bad)),  # type: ignore[arg-type]
        ("rate", lambda: hidden_from(held, rate=bad)),  # type: ignore[arg-type]
        ("by", lambda: reinforce(held, 1, rate=1, by=bad)),  # type: ignore[arg-type]
        ("gap", lambda: reinforce(held, 1, rate=1, gap=bad)),  # type: ignore[arg-type]
    ):
        with pytest.raises(BadValue, match=f"{name}="):
            call()


def test_bad_presets_are_refused_by_name() -> None:
    with pytest.raises(BadSetting, match=r"stated=-1 \(from 0 to 10000\); assumed=0.5 \(from 0 to 10000\)"):
        Presets(stated=-1, assumed=0.5)  # type: ignore[arg-type]
    with pytest.raises(BadValue, match="source='guessed' is unknown"):
        UNIFORM.rate("guessed")
    with pytest.raises(FrozenInstanceError):
        UNIFORM.stated = 1  # type: ignore[misc]

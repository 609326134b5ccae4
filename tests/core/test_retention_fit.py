"""A law fitted to outcomes: known parameters come back, chance is not taken for a law, and what comes later judges."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
import pytest

from leporello.core.retention.fit import CLIP, DECAYS, HALF_LIVES, LEAST, Outcomes, constant_loss, fit, losses, shown_outcomes
from leporello.core.retention.laws import DAY, ActR, Exponential, Trace, begin, of_events
from leporello.errors import BadValue

Moments = list[tuple[int, Trace, bool]]
START = ActR(half_life=180.0)


def moments(law: ActR | None, n: int, seed: int, rate: float = 0.4) -> Moments:
    """Records seen one to four times and shown later: used by the law's own chance, or by a rate that asks for nothing."""
    chance, out = random.Random(seed), []
    for i in range(n):
        now = (1_000 + i) * DAY
        times = [(now - round(10 ** chance.uniform(-1, 2.6) * DAY), 3) for _ in range(chance.randint(1, 4))]
        trace = of_events(times, unit=DAY)
        out.append((now, trace, chance.random() < (rate if law is None else law.retention(trace, now))))
    return out


@pytest.mark.parametrize(("half_life", "d"), [(20.0, 0.5), (60.0, 0.3), (5.0, 0.8)])
def test_known_parameters_come_back(half_life: float, d: float) -> None:
    found = fit(Outcomes.of(moments(ActR(half_life=half_life, d=d), 2_000, seed=1)), START)
    assert half_life / 1.5 < found.half_life < half_life * 1.5
    assert d / 1.5 < found.d < d * 1.5
    assert found.better and found.held_out.after < min(found.held_out.before, found.held_out.constant)
    assert found.fitted.after < found.fitted.before and (found.fitted.n, found.held_out.n) == (1_400, 600)
    assert f"from {found.held_out.before:.4f} to {found.held_out.after:.4f}" in found.why


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rate", [0.1, 0.4, 0.85])
def test_chance_is_no_law(seed: int, rate: float) -> None:
    found = fit(Outcomes.of(moments(None, 400, seed, rate)), START)
    assert not found.better and "On what was held out it is" in found.why


def test_a_law_that_fits_already_is_left_as_it_is() -> None:
    found = fit(Outcomes.of(moments(START, 2_000, seed=3)), START)
    assert not found.better and "the law as it is" in found.why
    assert found.held_out.before < found.held_out.constant


def test_only_what_was_earlier_is_fitted() -> None:
    held = moments(ActR(half_life=20.0), 300, seed=5)
    upside_down = [*held[:210], *((at, trace, not used) for at, trace, used in held[210:])]
    one, other = fit(Outcomes.of(held), START), fit(Outcomes.of(upside_down), START)
    assert (one.half_life, one.d, one.fitted) == (other.half_life, other.d, other.fitted)
    assert one.better and not other.better


def test_it_is_the_same_in_whatever_order_the_outcomes_come() -> None:
    held = moments(ActR(half_life=20.0), 300, seed=7)
    again = held.copy()
    random.Random(0).shuffle(again)
    assert fit(Outcomes.of(held), START) == fit(Outcomes.of(again), START)


def test_it_is_judged_against_the_law_that_was_in_use() -> None:
    held = Outcomes.of(moments(ActR(half_life=20.0), 300, seed=8))
    used = Exponential(half_life=30.0)
    found = fit(held, START, before=used)
    late = held.part(210, 300)
    assert found.held_out.before == pytest.approx(float(losses(used.retentions(late.columns, late.at), late.used).mean()))
    assert found.half_life == fit(held, START).half_life


def test_it_stays_within_the_bounds_of_a_policy() -> None:
    for hit in (True, False):
        held = [(at, trace, hit if i < 180 else not hit) for i, (at, trace, _) in enumerate(moments(None, 200, seed=9))]
        found = fit(Outcomes.of(held), START)
        assert HALF_LIVES[0] <= found.half_life <= HALF_LIVES[1] and DECAYS[0] <= found.d <= DECAYS[1]
        assert not found.better


def test_too_few_outcomes_and_all_the_same_are_refused() -> None:
    held = moments(ActR(half_life=20.0), LEAST, seed=2)
    assert fit(Outcomes.of(held), START).fitted.n == 35
    for few in (held[:-1], [], [(at, trace, True) for at, trace, _ in held]):
        used = sum(u for *_, u in few)
        with pytest.raises(BadValue, match=f"There are {len(few)} outcomes, {used} used and {len(few) - used} not; 50 are needed"):
            fit(Outcomes.of(few), START)


def test_losses_by_hand() -> None:
    found = losses(np.array([0.8, 0.8, 0.0, 1.0]), np.array([True, False, True, True]))
    assert found == pytest.approx([-math.log(0.8), -math.log(0.2), -math.log(CLIP), -math.log(1 - CLIP)])
    assert constant_loss(4, 1) == pytest.approx(-(0.25 * math.log(0.25) + 0.75 * math.log(0.75)))
    assert constant_loss(0, 0) == constant_loss(3, 3) == constant_loss(3, 0) == 0.0


@pytest.mark.parametrize(
    ("shown", "used", "expect"),
    [
        ([100], [105], [(100, True)]),
        ([100], [100], [(100, True)]),
        ([100], [110], [(100, True)]),
        ([100], [111], [(100, False)]),
        ([100], [99], []),  # a use just before: another one would not have been noted
        ([100], [90], [(100, False)]),
        ([100, 105, 110, 111], [], [(100, False), (111, False)]),
        ([100, 104], [106], [(100, True)]),  # one time that it was shown, not two
        ([195], [], []),  # it may still be used
        ([195], [199], [(195, True)]),
        ([190], [], [(190, False)]),
        ([], [5], []),
    ],
)
def test_what_of_the_log_is_an_outcome(shown: list[int], used: list[int], expect: list[tuple[int, bool]]) -> None:
    assert shown_outcomes(shown, used, window=10, gap=10, now=200) == expect


def test_without_a_gap_every_use_is_noted() -> None:
    assert shown_outcomes([100], [99, 101], window=10, gap=0, now=200) == [(100, True)]


def test_outcomes_are_in_the_order_of_time() -> None:
    trace = begin(0)
    held = Outcomes.of([(3, trace, True), (1, replace(trace, importance=1.5), False)])
    assert (list(held.at), list(held.used), list(held.columns.importance)) == ([1, 3], [False, True], [1.5, 1.0])
    assert len(held.part(1, 2)) == 1 and list(held.part(1, 2).at) == [3]

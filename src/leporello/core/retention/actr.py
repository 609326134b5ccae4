"""ACT-R's base level, its memory of fixed size, and retrieval. Anderson & Schooler 1991; Anderson & Lebiere 1998; Petrov 2006.

A lag is the time since a presentation, in any one unit. Lags below `floor` (the future too) count as `floor`: at 0 the
formula has no value. A level in another unit differs by a constant: see `rescaled`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from leporello.core.retention.bounds import values
from leporello.errors import BadValue

DECAY = 0.5
NOISE = 0.25
CMU_FLOOR = 0.05
"""Seconds: the least lag in the reference code of Carnegie Mellon (ACT-R 7)."""

_MOST = 1e300


def base_level(lags: Sequence[float], d: float = DECAY, *, floor: float = CMU_FLOOR) -> float:
    """ln Σ lag^(−d), exact: the log of the odds that the record is needed now. Anderson & Schooler 1991.

    Summed relative to the largest term (log-sum-exp), so that no lag is too long or too short. `BadValue` for no lags,
    and for lags, `d` or `floor` that are NaN, infinite or out of bounds.
    """
    return hybrid(lags, len(lags), lifetime=1.0, d=d, floor=floor)


def standard(n: int, lifetime: float, *, d: float = DECAY, floor: float = CMU_FLOOR) -> float:
    """ln(n/(1−d)) − d·ln L: the level of `n` presentations spread evenly over the `lifetime` L. Anderson & Lebiere 1998.

    It does not see when the last one was: use `hybrid`. `BadValue` for d ≥ 1, where it has no value.
    """
    values("standard", n=(n, 1, _MOST), lifetime=(lifetime, -_MOST, _MOST), d=(d, 1e-6, 1 - 1e-9), floor=(floor, 1e-300, _MOST))
    return math.log(n / (1 - d)) - d * math.log(max(floor, lifetime))


def hybrid(lags: Sequence[float], n: int, *, lifetime: float, d: float = DECAY, floor: float = CMU_FLOOR) -> float:
    """The level from the newest `lags` (newest first), the count `n` of all and the `lifetime` since the first. Petrov 2006.

    ln[ Σ lag^(−d) + (n−k)·(L^(1−d) − t^(1−d)) / ((1−d)(L − t)) ] with k lags, t the oldest of them and L the lifetime: what
    is not listed counts as spread evenly between t and L. Exact when nothing is left out (n = k). At d = 1 and at
    L = t the limits are taken. `BadValue` if lags are missing, more than `n`, or anything is not a number within bounds.
    """
    values("hybrid", n=(n, 1, _MOST), lifetime=(lifetime, -_MOST, _MOST), d=(d, 1e-6, 10), floor=(floor, 1e-300, _MOST))
    values("hybrid", **{f"lags[{i}]": (lag, -_MOST, _MOST) for i, lag in enumerate(lags)})
    if not 1 <= len(lags) <= n:
        raise BadValue(f"hybrid: {len(lags)} lags for n={n}.", hint="Pass at least one lag, and at most `n` of them.")
    held = [max(floor, lag) for lag in lags]
    return level(held, n, lifetime=max(floor, lifetime), d=d)


def level(lags: Sequence[float], n: int, *, lifetime: float, d: float) -> float:
    """`hybrid` without its checks and its floor, for callers that have done both: every lag is above 0."""
    newest = min(lags)
    total = 0.0
    for lag in lags:
        total += (lag / newest) ** -d
    if n > len(lags):
        oldest = lags[-1]
        total += (n - len(lags)) * (oldest / newest) ** -d * evenly(oldest, lifetime, d=d)
    return math.log(total) - d * math.log(newest)


def evenly(oldest: float, lifetime: float, *, d: float) -> float:
    """The mean of lag^(−d) over lags from `oldest` to `lifetime`, as a multiple of oldest^(−d): from 0 to 1.

    (L^(1−d) − t^(1−d)) / ((1−d)(L − t)) over t^(−d), written so that nothing cancels when L and t are nearly the same.
    """
    spread = (lifetime - oldest) / oldest
    if spread < 1e-12:
        return 1.0
    span = math.log1p(spread)
    rest = 1 - d
    return (span if rest == 0 else math.expm1(rest * span) / rest) / spread


def probability(activation: float, *, threshold: float = 0.0, noise: float = NOISE) -> float:
    """1/(1 + exp((θ − A)/s)): how probably a record of this activation is retrieved. In [0, 1], for any finite input.

    Anderson & Lebiere 1998; `noise` s is 0.2 to 0.5 there. `BadValue` for NaN and for a noise out of bounds.
    """
    values("probability", activation=(activation, -_MOST, _MOST), threshold=(threshold, -_MOST, _MOST), noise=(noise, 1e-6, 1e6))
    return logistic((activation - threshold) / noise)


def logistic(x: float) -> float:
    """1/(1 + e^(−x)) that never overflows."""
    if x >= 0:
        return 1 / (1 + math.exp(-x))
    return math.exp(x) / (1 + math.exp(x)) if x > -745 else 0.0


def threshold_for(half_life: float, d: float = DECAY) -> float:
    """−d·ln T: the threshold at which one presentation, T units ago, is retrieved with probability 0.5."""
    values("threshold_for", half_life=(half_life, 1e-300, _MOST), d=(d, 1e-6, 10))
    return -d * math.log(half_life)


def rescaled(threshold: float, factor: float, *, d: float = DECAY) -> float:
    """θ − d·ln c: the same threshold when every lag is written as c times as many, smaller units (C4)."""
    values("rescaled", threshold=(threshold, -_MOST, _MOST), factor=(factor, 1e-300, _MOST), d=(d, 1e-6, 10))
    return threshold - d * math.log(factor)


def spreading(sources: Sequence[tuple[float, float]], *, strength: float) -> float:
    """Σ W·(S − ln fan) over the (weight W, fan) of each source of attention: what the context adds to a base level.

    Anderson & Lebiere 1998. A fan, the number of records that a source points to, is at least 1 (`BadValue`).
    """
    values("spreading", strength=(strength, -_MOST, _MOST))
    for weight, fan in sources:
        values("spreading", weight=(weight, -_MOST, _MOST), fan=(fan, 1, _MOST))
    return sum(weight * (strength - math.log(fan)) for weight, fan in sources)


def latency(activation: float, *, factor: float = 1.0, exponent: float = 1.0) -> float:
    """F·exp(−f·A): how long a retrieval takes, in the unit of F (seconds in ACT-R). Anderson & Lebiere 1998."""
    values("latency", activation=(activation, -700, 700), factor=(factor, 0, 1e6), exponent=(exponent, 0, 1))
    return factor * math.exp(-exponent * activation)

"""The spacing effect: each presentation has a decay of its own, higher when it came while the record was still active.

Pavlik & Anderson 2005: d_i = c·e^(m_(i−1)) + a, the first d = a; activation m = ln Σ lag_i^(−d_i). So many presentations in a
row help at first and are soon gone, and spaced ones last; plain ACT-R (`actr`) has no such crossover. Lags below `FLOOR`
count as `FLOOR`: from one unit on, a lower decay never means less.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from leporello.core.retention.bounds import values
from leporello.errors import BadValue

A = 0.177
C = 0.217
FLOOR = 1.0
"""Units: lags are at least this long."""

BENCHMARK = {"a": 0.176787, "c": 0.216967}
"""The constants of the code that the open benchmark of spaced repetition runs (its noise is 0.254894, its threshold −0.704206)."""


def decay(need: float, *, a: float = A, c: float = C) -> float:
    """c·e^m + a, from `need` = e^m, the sum of lag^(−d) just before the presentation (0 before the first)."""
    return c * need + a


def need(lags: Sequence[float], decays: Sequence[float]) -> float:
    """Σ lag_i^(−d_i) = e^m. Lags in units, floored by the caller."""
    total = 0.0
    for lag, d in zip(lags, decays, strict=True):
        total += lag**-d
    return total


def decays(presentations: Sequence[float], *, a: float = A, c: float = C) -> tuple[float, ...]:
    """The decay of each presentation, given in units and oldest first. `BadValue` for times out of order."""
    values("decays", a=(a, 1e-6, 10), c=(c, 0, 10))
    values("decays", **{f"presentations[{i}]": (p, -1e300, 1e300) for i, p in enumerate(presentations)})
    if list(presentations) != sorted(presentations):
        raise BadValue("decays: presentations are not in order.", hint="Pass the oldest first.")
    found: list[float] = []
    for i, now in enumerate(presentations):
        found.append(decay(need([max(FLOOR, now - p) for p in presentations[:i]], found), a=a, c=c))
    return tuple(found)


def activation(presentations: Sequence[float], now: float, *, a: float = A, c: float = C) -> float:
    """m = ln Σ lag_i^(−d_i) at `now`, in the unit of the presentations, oldest first. `BadValue` if there are none."""
    if not presentations:
        raise BadValue("activation: there are no presentations.", hint="Pass at least one.")
    values("activation", now=(now, -1e300, 1e300))
    return math.log(need([max(FLOOR, now - p) for p in presentations], decays(presentations, a=a, c=c)))

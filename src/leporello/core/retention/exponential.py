"""The plain exponential, which is often called Ebbinghaus's curve, and what Ebbinghaus measured, which is another one."""

from __future__ import annotations

import math

from leporello.core.retention.bounds import values

_MOST = 1e300


def retention(lag: float, strength: float) -> float:
    """exp(−t/S): what is left `lag` units after the last presentation; `strength` S in units is the time to 1/e (C24).

    A negative lag counts as 0. `BadValue` for NaN, infinities and S ≤ 0.
    """
    values("retention", lag=(lag, -_MOST, _MOST), strength=(strength, 1e-300, _MOST))
    return math.exp(-max(0.0, lag) / strength)


def lag_at(retained: float, strength: float) -> float:
    """−S·ln R: the lag at which retention has fallen to R, in (0, 1]: the inverse of `retention`."""
    values("lag_at", retained=(retained, 5e-324, 1), strength=(strength, 1e-300, _MOST))
    return -strength * math.log(retained)


def savings(minutes: float) -> float:
    """100·k/((log10 t)^c + k), k = 1.84, c = 1.25: per cent of work saved at relearning `minutes` (above 1) later.

    Ebbinghaus 1885: logarithmic, far flatter than an exponential. For comparison only: no law uses it.
    """
    values("savings", minutes=(minutes, 1, _MOST))
    return 184.0 / (math.pow(math.log10(minutes), 1.25) + 1.84)


def memory_bank(days: float, recalls: int) -> float:
    """exp(−t/S) with S = 1 + recalls and t in days since the last recall: MemoryBank (arXiv 2305.10250), as its paper says.

    For comparison only. The repository of the paper computes exp(−(t/5)·S), by which a stronger record is forgotten faster.
    """
    values("memory_bank", days=(days, -_MOST, _MOST), recalls=(recalls, 0, _MOST))
    return retention(days, 1.0 + recalls)

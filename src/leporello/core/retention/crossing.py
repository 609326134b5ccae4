"""When something that only falls comes below a mark: a good guess, then whole numbers."""

from __future__ import annotations

from collections.abc import Callable

YEAR_9999 = 253_402_300_799_999_999
"""The last microsecond of the year 9999, since 1970."""

_ROUNDS = 20


def first_below(retention: Callable[[int], float], level: float, after: int, *, guess: int, limit: int = YEAR_9999) -> int | None:
    """The first whole time from `after` to `limit` at which `retention`, which never rises, is below `level`; None if none is.

    Looks at ever larger steps from `guess`, then halves: a handful of calls when the guess is good, right in any case.
    """
    if after > limit or retention(limit) >= level:
        return None
    if retention(after) < level:
        return after
    low, high = after, limit  # retention(low) >= level > retention(high)
    low, high = _near(retention, level, low, high, guess=guess)
    while high - low > 1:
        middle = (low + high) // 2
        if retention(middle) < level:
            high = middle
        else:
            low = middle
    return high


def _near(retention: Callable[[int], float], level: float, low: int, high: int, *, guess: int) -> tuple[int, int]:
    """Closer bounds of the same kind, found by steps from `guess` that double."""
    if high - low <= 1:
        return low, high
    at = min(max(guess, low + 1), high - 1)
    step = max(1, (at - low) >> 49)  # what floats can tell apart
    if retention(at) < level:
        high = at
        while high - step > low:
            if retention(high - step) >= level:
                return high - step, high
            high, step = high - step, step * 2
    else:
        low = at
        while low + step < high:
            if retention(low + step) < level:
                return low, low + step
            low, step = low + step, step * 2
    return low, high


def root(value: Callable[[float], float], target: float, *, low: float, high: float, near: float) -> float:
    """x between `low` and `high` at which the falling `value` is `target`, to about `near`: false position, Illinois rule.

    Exact at once for a straight line. Where value(low) is below the target the answer is `low`, and above at `high`, `high`.
    """
    over, under = value(low) - target, value(high) - target
    if over <= 0 or under >= 0:
        return low if over <= 0 else high
    last, side = low, 0
    for _ in range(_ROUNDS):
        x = low + (high - low) * over / (over - under)
        if abs(x - last) <= near:
            return x
        last, rest = x, value(x) - target
        if rest >= 0:
            low, over = x, rest
            under = under / 2 if side > 0 else under
            side = 1
        else:
            high, under = x, rest
            over = over / 2 if side < 0 else over
            side = -1
    return last

"""Confidence: the degree to which a fact is held to be true. It falls in a straight line while nothing supports the fact.

Everything is a whole number, so that 1.0 at 0.05 a week is exactly 0.2, and still visible, after exactly 16 weeks; floats give
0.19999999999999996 there. A level counts basis points (10,000 are 1.0) times the microseconds of a week; a rate is basis points
a week; times are microseconds since 1970. Computed from the time elapsed, never in steps (D39): it does not matter how often
one looks. Requirements R113 to R119.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from leporello.errors import BadSetting, BadValue

WEEK = 604_800_000_000
"""Microseconds."""

FULL = 10_000
"""Basis points: certain."""

THRESHOLD = 2_000
"""Basis points: below this a fact is hidden; at this it is not."""

REINFORCEMENT = 1_000
"""Basis points that a use with success adds."""

INITIAL = {"stated": 10_000, "inferred": 7_000, "assumed": 5_000}
"""Basis points by source: stated by the user, inferred from behaviour, assumed from patterns (R114). Others are legal (C19)."""

_MOST_TIME = 2**62


@dataclass(frozen=True)
class Presets:
    """Basis points lost in a week, by source; `UNIFORM` and `BY_SOURCE` are the two that are offered (C20)."""

    stated: int = 500
    inferred: int = 500
    assumed: int = 500

    def __post_init__(self) -> None:
        rates = {"stated": self.stated, "inferred": self.inferred, "assumed": self.assumed}
        if bad := [f"{n}={v!r:.80} (from 0 to {FULL})" for n, v in rates.items() if not _whole(v, 0, FULL)]:
            raise BadSetting(f"Presets: {'; '.join(bad)}.")

    def rate(self, source: str) -> int:
        """The rate for facts of this source. `BadValue` for a source that is none of `INITIAL`."""
        if source not in INITIAL:
            raise BadValue(f"source={source!r:.80} is unknown.", hint=f"Use one of {', '.join(INITIAL)}.")
        return int(getattr(self, source))


@dataclass(frozen=True)
class Standing:
    """How a fact stood at a time: `level` in basis points × `WEEK`, from 0 to `FULL` × `WEEK`; `since` in microseconds."""

    level: int
    since: int

    def __post_init__(self) -> None:
        limits = {"level": (self.level, 0, FULL * WEEK), "since": (self.since, -_MOST_TIME, _MOST_TIME)}
        if bad := [f"{n}={v!r:.80} (from {lo} to {hi})" for n, (v, lo, hi) in limits.items() if not _whole(v, lo, hi)]:
            raise BadValue(f"Standing: {'; '.join(bad)}.")

    @property
    def confidence(self) -> float:
        """From 0 to 1: 0.2 exactly at the threshold."""
        return self.level / (FULL * WEEK)

    @property
    def hidden(self) -> bool:
        """True below the threshold."""
        return self.level < THRESHOLD * WEEK


def standing(confidence: float, at: int) -> Standing:
    """A fact held with this confidence, in [0, 1], at `at`: rounded to basis points. `BadValue` for NaN and out of bounds."""
    if isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or math.isnan(confidence) or not 0 <= confidence <= 1:
        raise BadValue(f"confidence={confidence!r:.80} is out of bounds.", hint="Pass a number from 0 to 1.")
    return Standing(round(confidence * FULL) * WEEK, at)


def decayed(held: Standing, at: int, *, rate: int) -> Standing:
    """max(0, c0 − rate·elapsed), exactly; a time before `since` changes nothing. In two steps or in one, it comes to the same."""
    _check(at=(at, -_MOST_TIME, _MOST_TIME), rate=(rate, 0, FULL))
    elapsed = max(0, at - held.since)
    return Standing(max(0, held.level - rate * elapsed), max(held.since, at))


def reinforce(held: Standing, at: int, *, rate: int, by: int = REINFORCEMENT, gap: int = 0) -> Standing:
    """min(1, what is left at `at` + `by`): used with success, confirmed, observed again (R116, R119).

    `gap`, in microseconds: within it after `since` nothing is added, so that confidence cannot be farmed. A contradicted fact
    must not come here: whoever knows that it is deprecated leaves it so (C21).
    """
    _check(by=(by, 0, FULL), gap=(gap, 0, _MOST_TIME))
    now = decayed(held, at, rate=rate)
    if at - held.since < gap:
        return held
    return Standing(min(FULL * WEEK, now.level + by * WEEK), now.since)


def contradicted(held: Standing, at: int) -> Standing:
    """0 from `at` on (R117)."""
    return Standing(0, max(held.since, at))


def hidden_from(held: Standing, *, rate: int) -> int | None:
    """The first microsecond at which confidence is below the threshold: `since` if it is already; None if it never will be."""
    _check(rate=(rate, 0, FULL))
    if held.hidden:
        return held.since
    return held.since + (held.level - THRESHOLD * WEEK) // rate + 1 if rate else None


def _check(**limits: tuple[object, int, int]) -> None:
    if bad := [f"{n}={v!r:.80} (from {lo} to {hi})" for n, (v, lo, hi) in limits.items() if not _whole(v, lo, hi)]:
        raise BadValue(f"{'; '.join(bad)}.", hint="Pass whole numbers within the bounds.")


def _whole(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


UNIFORM = Presets()
BY_SOURCE = Presets(stated=200, inferred=500, assumed=1_000)

"""Numbers checked at the door: one typed error that names every bad one, with its bounds."""

from __future__ import annotations

import math

from leporello.errors import BadSetting, BadValue, InputError

MOST_TIME = 2**62
"""Times lie within ± this many units of the caller's clock (microseconds: far beyond the years 1 to 9999)."""

Bounds = tuple[object, float, float]


def settings(owner: str, **limits: Bounds) -> None:
    """`BadSetting` that names each of `name=(value, least, most)` that is no number within its bounds; integers stay exact."""
    _refuse(BadSetting, owner, limits)


def values(owner: str, **limits: Bounds) -> None:
    """The same with `BadValue`: for what is handed to a function."""
    _refuse(BadValue, owner, limits)


def whole(owner: str, **limits: Bounds) -> None:
    """`BadValue` for each that is no whole number within its bounds."""
    values(owner, **limits)
    if bad := [f"{n}={v!r:.80}" for n, (v, _, _) in limits.items() if not isinstance(v, int)]:
        raise BadValue(f"{owner}: {'; '.join(bad)}.", hint="Pass a whole number.")


def _refuse(error: type[InputError], owner: str, limits: dict[str, Bounds]) -> None:
    bad = [f"{n}={v!r:.80} (from {lo:g} to {hi:g})" for n, (v, lo, hi) in limits.items() if not _within(v, lo, hi)]
    if bad:
        raise error(f"{owner}: {'; '.join(bad)}.")


def _within(value: object, least: float, most: float) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return not (isinstance(value, float) and math.isnan(value)) and least <= value <= most

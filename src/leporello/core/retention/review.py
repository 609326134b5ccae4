"""Spaced review of a memory file's entries: when one should be looked at again. Optional; maintenance does not ask for it.

The fields are `_target_retention_interval` in ticks, `_spacing_ratio`, `_next_review_tick` and `_last_retrieval_success`.
Reviews at a tenth to a third of the time for which something shall be kept do best (Cepeda et al. 2008).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

INTERVAL = 100
RATIO = 0.2
_RATIOS = (0.1, 0.3)


def emotion_bonus(intensity: float) -> float:
    """What a feeling of intensity 0 to 10 adds to activation: 0.3 above 8, 0.2 from 6, 0.1 from 4, else nothing."""
    if intensity > 8:
        return 0.3
    if intensity >= 6:
        return 0.2
    return 0.1 if intensity >= 4 else 0.0


def spacing_multiplier(gap: int) -> float:
    """How much an encounter counts `gap` ticks after the one before: 1.0 in the same tick, 1.2 after one, 1.5 after five or more."""
    if gap < 1:
        return 1.0
    return 1.2 if gap < 5 else 1.5


def reviewed(entry: Mapping[str, Any], now: int, *, success: bool) -> dict[str, Any]:
    """The review fields after the entry was asked for at tick `now`.

    Success lengthens the interval, up to double when the review came when it was due and hardly at all when it came at
    once. Failure halves it. The next review is due after the interval times the ratio.
    """
    interval = max(1.0, _number(entry.get("_target_retention_interval"), INTERVAL))
    ratio = min(_RATIOS[1], max(_RATIOS[0], _number(entry.get("_spacing_ratio"), RATIO)))
    wait = max(1, round(interval * ratio))
    due = entry.get("_next_review_tick")
    waited = wait if not isinstance(due, int) or isinstance(due, bool) else max(0, wait - max(0, due - now))
    interval = interval * (1 + min(1.0, waited / wait)) if success else max(1.0, interval / 2)
    return {
        "_target_retention_interval": round(interval),
        "_spacing_ratio": ratio,
        "_next_review_tick": now + max(1, round(round(interval) * ratio)),
        "_last_retrieval_success": success,
    }


def is_due(entry: Mapping[str, Any], now: int) -> bool:
    """True if the entry's next review is not later than `now`."""
    due = entry.get("_next_review_tick")
    return isinstance(due, int) and not isinstance(due, bool) and due <= now


def is_relearnt(entry: Mapping[str, Any]) -> bool:
    """True for an entry that was not known when it was last asked for: it should be kept until it is."""
    return entry.get("_last_retrieval_success") is False


def _number(value: object, absent: float) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1e12 else absent

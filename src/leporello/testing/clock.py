"""A clock that stands still until it is moved."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

from leporello.errors import BadTime


class ManualClock:
    """A `ports.Clock` that a test sets and moves, back too. Safe for threads.

    `start` is an aware instant; a time without zone raises `BadTime`.
    """

    def __init__(self, start: datetime) -> None:
        self._lock = threading.Lock()
        self._now = _utc(start)

    def now(self) -> datetime:
        """The instant that was set last, in UTC."""
        with self._lock:
            return self._now

    def set(self, instant: datetime) -> None:
        """Moves the clock to an aware instant; `BadTime` for a time without zone."""
        moved = _utc(instant)
        with self._lock:
            self._now = moved

    def advance(self, by: timedelta | None = None, *, seconds: float = 0.0) -> datetime:
        """Moves the clock by a `timedelta`, by `seconds`, or by both; the new instant."""
        step = (by or timedelta()) + timedelta(seconds=seconds)
        with self._lock:
            self._now += step
            return self._now


def _utc(value: datetime) -> datetime:
    if value.utcoffset() is None:
        raise BadTime(f"{value!r} has no time zone.")
    return value.astimezone(UTC)

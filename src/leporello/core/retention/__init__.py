"""Forgetting: what is kept of a record's presentations, the published formulas, and the laws that join the two."""

from __future__ import annotations

from leporello.core.retention.columns import Columns
from leporello.core.retention.crossing import YEAR_9999
from leporello.core.retention.laws import LAWS, ActR, ActRSpaced, Compat, Exponential, Fsrs, Law, law
from leporello.core.retention.trace import DAY, KEPT, Trace, begin, multiplier, of_events, present

__all__ = [
    "DAY",
    "KEPT",
    "LAWS",
    "YEAR_9999",
    "ActR",
    "ActRSpaced",
    "Columns",
    "Compat",
    "Exponential",
    "Fsrs",
    "Law",
    "Trace",
    "begin",
    "law",
    "multiplier",
    "of_events",
    "present",
]

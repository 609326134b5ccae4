"""Facts: what statements say, how two of them relate, and the facts that claims come to. Pure."""

from __future__ import annotations

from datetime import datetime

from leporello.core.facts.derive import RANK, REINFORCEMENT, Derived, Judge, derive, folded, order, status
from leporello.core.facts.levels import REASONS, Level, level, told_why
from leporello.core.facts.proposed import sound
from leporello.records import Fact

__all__ = [
    "RANK", "REASONS", "REINFORCEMENT", "Derived", "Judge", "Level", "believed", "derive", "folded", "level", "order", "sound", "status", "told_why",
]  # fmt: skip
_STANDING = {"active", "conflict"}


def believed(fact: Fact, *, as_of: datetime | None, now: datetime) -> bool:
    """True if the fact, in the state in which it is handed in, is held to be true at `as_of`.

    Without `as_of`: if it stands `now`, one that begins later included, because it is known already. To ask what was believed at
    another time, hand in the fact as the store held it then (`Reader.as_believed`), and that time as `now`.
    """
    if fact.retracted_at is not None or fact.status in {"archived", "quarantine"}:
        return False
    if as_of is None:
        return fact.status in _STANDING and (fact.valid_to is None or now < fact.valid_to)
    return (fact.valid_from is None or fact.valid_from <= as_of) and (fact.valid_to is None or as_of < fact.valid_to)

"""The answer to how two statements relate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["same", "update", "conflict", "none"]


@dataclass(frozen=True)
class Relation:
    """How a later statement relates to an earlier one, and why in a few words that quote neither.

    `same`: says the same; `update`: the later one replaces the earlier; `conflict`: they cannot both be true, but which holds is not sure;
    `none`: independent, additional or more specific.
    """

    kind: Kind
    why: str


NONE = Relation("none", "")

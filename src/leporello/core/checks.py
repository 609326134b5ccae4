"""What callers hand in, checked at the door: a typed error that names the argument, never a failure deep inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from leporello.errors import BadValue
from leporello.records import IMPORTANCES, Importance, Trust

_TRUST = get_args(Trust)


def text(value: object, what: str, *, empty: bool = True) -> str:
    """`value`, if it is a string (and not empty, unless that is allowed)."""
    if not isinstance(value, str):
        raise BadValue(f"{what} is a {type(value).__name__}.", hint=f"Pass {what} as a string.")
    if not value and not empty:
        raise BadValue(f"{what} is empty.", hint=f"Pass at least one character as {what}.")
    return value


def maybe_text(value: object, what: str) -> str | None:
    """The same, or None."""
    return None if value is None else text(value, what)


def count(value: object, what: str, *, least: int, most: int) -> int:
    """`value`, if it is a whole number within the bounds."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise BadValue(f"{what}={value!r} is out of bounds.", hint=f"Pass a whole number from {least:,} to {most:,}.")
    return value


def trust(value: object) -> Trust | None:
    """`value`, if it names who said something, or None."""
    if value is None or value in _TRUST:
        return value  # type: ignore[return-value]
    raise BadValue(f"trust={value!r:.100} is unknown.", hint=f"Use one of {', '.join(_TRUST)}.")


def flag(value: object, what: str) -> bool:
    """`value`, if it is True or False."""
    if not isinstance(value, bool):
        raise BadValue(f"{what}={value!r:.80} is neither True nor False.", hint=f"Pass {what} as True or False.")
    return value


def numbers(value: object, what: str) -> tuple[Any, ...]:
    """`value`, if it is a sequence, of numbers, and no text; whoever asks bounds them."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence) or not all(isinstance(v, (int, float)) for v in value):
        raise BadValue(f"{what}={value!r:.80} is no list of numbers.", hint=f"Pass {what} as a list.")
    return tuple(value)


def importance(value: object) -> Importance | None:
    """`value`, if it names an importance, or None."""
    if value is None or value in IMPORTANCES:
        return value  # type: ignore[return-value]
    raise BadValue(f"importance={value!r:.80} is unknown.", hint=f"Use one of {', '.join(IMPORTANCES)}.")


def texts(value: object, what: str) -> tuple[str, ...]:
    """`value`, if it is a sequence of strings and not itself a string."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise BadValue(f"{what} is a {type(value).__name__}.", hint=f"Pass {what} as a list of strings.")
    return tuple(text(v, what) for v in value)

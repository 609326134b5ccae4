"""Instants: one aware UTC datetime out of the many ways in which a time is written, or `BadTime`.

A time without an offset is UTC: no other zone is ever guessed. Years 1 to 9999, resolution one microsecond.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, timedelta, tzinfo

from leporello.errors import BadTime

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_SECONDS = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
_DIGITS = re.compile(r"[0-9]{1,8}")
_ISO = re.compile(
    r"[0-9]{4}(-[0-9]{2}-[0-9]{2}|[0-9]{4})"
    r"([Tt ]([01][0-9]|2[0-3])(:?[0-5][0-9](:?(?P<second>[0-5][0-9]|60)([.,][0-9]+)?)?)?"
    r" ?([Zz]|[+-][0-9]{2}(:?[0-9]{2})?)?)?"
)


def instant(value: object, *, default_zone: tzinfo = UTC) -> datetime:
    """`value` as an aware datetime in UTC.

    Taken: a datetime; a date (its first moment); int or float seconds since 1970; text in ISO 8601 (date alone, down to
    hours, minutes, seconds or fractions, with `Z`, an offset or none), or seconds as text with at least nine digits.
    What has no offset is in `default_zone`. Digits beyond microseconds are cut. A leap second (23:59:60 UTC) is the
    first moment of the next minute, as POSIX counts. Refused with `BadTime`: NaN, infinities, booleans, years outside
    1 to 9999 (so seconds never pass for milliseconds), and short digit strings, which could be a date or seconds.
    """
    try:
        return _read(value, default_zone).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise BadTime(f"{_shown(value)} is not an instant: {error}.") from error


def micros(at: datetime) -> int:
    """Microseconds since 1970 of an aware datetime: exact, negative before 1970. `BadTime` if it has no zone."""
    if at.tzinfo is None or at.utcoffset() is None:
        raise BadTime(f"{at!r} has no time zone.")
    return (at - EPOCH) // _MICROSECOND


def from_micros(count: int) -> datetime:
    """The instant `count` microseconds after 1970: the inverse of `micros`. `BadTime` outside years 1 to 9999."""
    try:
        return EPOCH + timedelta(microseconds=count)
    except OverflowError as error:
        raise BadTime(f"{_shown(count)} microseconds are outside the years 1 to 9999.") from error


def _read(value: object, zone: tzinfo) -> datetime:
    if isinstance(value, datetime):
        return value if value.tzinfo is not None else value.replace(tzinfo=zone)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=zone)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _seconds(value)
    if isinstance(value, str):
        return _text(value.strip(), zone)
    raise ValueError(f"a {type(value).__name__} holds no time")


def _seconds(value: float) -> datetime:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("it is not finite")
    try:
        return EPOCH + timedelta(seconds=value)
    except OverflowError as error:
        raise ValueError("as seconds it is outside the years 1 to 9999; milliseconds must be divided by 1000") from error


def _text(text: str, zone: tzinfo) -> datetime:
    if _DIGITS.fullmatch(text):
        raise ValueError("so few digits could be a date or seconds: write 2024-01-31, or pass a number")
    if _SECONDS.fullmatch(text):
        return _seconds(float(text) if "." in text else int(text))
    match = _ISO.fullmatch(text)
    if match is None:
        raise ValueError("it is not in ISO 8601")
    leap = match.group("second") == "60"
    if leap:
        text = text[: match.start("second")] + "59" + text[match.end("second") :]
    read = datetime.fromisoformat(text.upper().replace(" Z", "Z").replace(" +", "+").replace(" -", "-"))
    read = read if read.tzinfo is not None else read.replace(tzinfo=zone)
    if not leap:
        return read
    at = read.astimezone(UTC)
    if (at.hour, at.minute) != (23, 59):
        raise ValueError("a leap second falls on 23:59:60 UTC only")
    return at + timedelta(seconds=1)


def _shown(value: object) -> str:
    """A short form of `value` for a message; huge integers have no decimal form."""
    if isinstance(value, int) and value.bit_length() > 200:
        return f"An integer of {value.bit_length()} bits"
    shown = repr(value)
    return shown if len(shown) <= 80 else shown[:77] + "…"

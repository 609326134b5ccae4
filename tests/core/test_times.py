"""Instants: every way of writing one comes to the same UTC datetime, or is refused with `BadTime`."""

from __future__ import annotations

import json
import os
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leporello.core.times import from_micros, instant, micros
from leporello.errors import BadTime

DATA = Path(os.environ.get("LEPORELLO_EVAL_DATA") or Path(__file__).parents[2] / "../shared/data")
FIRST = datetime(1, 1, 1, tzinfo=UTC)
LAST = datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
aware = st.datetimes(
    min_value=datetime(1, 1, 3),
    max_value=datetime(9999, 12, 29),
    timezones=st.integers(-1439, 1439).map(lambda m: timezone(timedelta(minutes=m))),
)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2024-03-10T02:30:00-08:00", (2024, 3, 10, 10, 30)),
        ("2024-02-29T12:00:00+05:45", (2024, 2, 29, 6, 15)),
        ("2023-05-08", (2023, 5, 8)),
        ("2023-05-08T13:56", (2023, 5, 8, 13, 56)),
        ("2023-05-08 13:56:07Z", (2023, 5, 8, 13, 56, 7)),
        ("2023-05-08t13:56:07z", (2023, 5, 8, 13, 56, 7)),
        ("20230508T135607Z", (2023, 5, 8, 13, 56, 7)),
        ("  2023-05-08T13:56:07.123456789Z ", (2023, 5, 8, 13, 56, 7, 123456)),
        ("2023-05-08T13:56:07,5+0000", (2023, 5, 8, 13, 56, 7, 500000)),
        ("2024-12-31T23:59:60Z", (2025, 1, 1)),
        ("2016-12-31T18:59:60.25-05:00", (2017, 1, 1, 0, 0, 0, 250000)),
        ("1715000000", (2024, 5, 6, 12, 53, 20)),
        ("-1715000000.5", (1915, 8, 28, 11, 6, 39, 500000)),
        (1715000000, (2024, 5, 6, 12, 53, 20)),
        (1715000000.123, (2024, 5, 6, 12, 53, 20, 123000)),
        (0, (1970, 1, 1)),
        (-1, (1969, 12, 31, 23, 59, 59)),
        (date(2024, 2, 29), (2024, 2, 29)),
        (datetime(2024, 2, 29, 1), (2024, 2, 29, 1)),
    ],
)
def test_one_instant(written: object, expected: tuple[int, ...]) -> None:
    read = instant(written)
    assert read == datetime(*expected, tzinfo=UTC)  # type: ignore[arg-type, misc]
    assert read.tzinfo is UTC


@pytest.mark.parametrize(
    "written",
    [
        None, True, False, "", " ", "not a date", "2024-13-01", "2024-02-30", "2024", "20240131", "2024-01", "2024-W01-1",
        "2024-01-01T24:00:00", "2024-01-01T12:59:60Z", "2024-01-01T00:00:00+25:00", "２０２４-01-01", "١٧١٥٠٠٠٠٠٠",
        float("nan"), float("inf"), float("-inf"), "NaN", "Infinity", 1715000000000, "1715000000000", 1e300,
        "0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-01:00", "10000-01-01", "-0001-01-01", [], {}, b"2024-01-01", "x" * 10_000,
    ],
)  # fmt: skip
def test_refused(written: object) -> None:
    with pytest.raises(BadTime) as caught:
        instant(written)
    assert len(str(caught.value)) < 400


def test_an_integer_without_a_decimal_form_is_refused() -> None:
    with pytest.raises(BadTime, match="bits"):
        instant(10**5000)


def test_another_zone_is_used_only_when_it_is_named() -> None:
    assert instant("2024-07-01T12:00", default_zone=ZoneInfo("Europe/Berlin")) == datetime(2024, 7, 1, 10, tzinfo=UTC)
    assert instant("2024-07-01T12:00+00:00", default_zone=ZoneInfo("Europe/Berlin")) == datetime(2024, 7, 1, 12, tzinfo=UTC)
    assert instant("2024-07-01T12:00") == datetime(2024, 7, 1, 12, tzinfo=UTC)


@pytest.mark.skipif(not DATA.exists(), reason=f"the data folder {DATA} is missing: set LEPORELLO_EVAL_DATA")
def test_every_nasty_time_is_one_instant_or_refused() -> None:
    outcomes = []
    for written in json.loads((DATA / "nasty/times.json").read_text()):
        try:
            outcomes.append(instant(written).isoformat())
        except BadTime:
            outcomes.append("refused")
    assert outcomes == [
        "0001-01-01T00:00:00+00:00", "9999-12-31T23:59:59+00:00", "2024-03-10T10:30:00+00:00", "2024-11-03T05:30:00+00:00",
        "2024-11-03T06:30:00+00:00", "2024-02-29T06:15:00+00:00", "1969-12-31T23:59:59+00:00", "2023-05-08T00:00:00+00:00",
        "2023-05-08T13:56:00+00:00", "2024-05-06T12:53:20+00:00", "2024-05-06T12:53:20+00:00", "2024-05-06T12:53:20.123000+00:00",
        "refused", "refused", "refused", "2025-01-01T00:00:00+00:00", "refused",
    ]  # fmt: skip


@given(aware)
def test_writing_and_reading_is_exact(at: datetime) -> None:
    read = instant(at.isoformat())
    assert read == at
    assert instant(at) == read
    assert from_micros(micros(read)) == read
    assert instant(read.isoformat().replace("+00:00", "Z")) == read


@given(st.integers(micros(FIRST), micros(LAST)))
def test_micros_are_exact_everywhere(count: int) -> None:
    assert micros(from_micros(count)) == count


@given(st.integers(-(10**12), 10**12) | st.floats() | st.text(max_size=30) | st.binary(max_size=3) | st.none() | st.booleans())
def test_anything_is_an_instant_or_refused(value: object) -> None:
    try:
        read = instant(value)
    except BadTime:
        return
    assert FIRST <= read <= LAST
    assert read.tzinfo is UTC


@pytest.mark.parametrize("count", [micros(LAST) + 1, micros(FIRST) - 1, 10**30])
def test_micros_outside_the_years_are_refused(count: int) -> None:
    with pytest.raises(BadTime):
        from_micros(count)


def test_micros_need_a_zone() -> None:
    with pytest.raises(BadTime):
        micros(datetime(2024, 1, 1))

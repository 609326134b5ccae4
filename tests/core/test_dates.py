"""Relative dates in six languages."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leporello.core.dates import absolute, mentions

MONDAY = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I left yesterday.", "2026-11-29"), ("the day before yesterday", "2026-11-28"), ("tomorrow evening", "2026-12-01"), ("It rained today", "2026-11-30"),
        ("last Friday", "2026-11-27"), ("last Fri on my way", "2026-11-27"), ("next Monday", "2026-12-07"), ("last Monday", "2026-11-23"), ("this Thursday", "2026-12-03"),
        ("last week", "week of 2026-11-23"), ("next week", "week of 2026-12-07"), ("last weekend", "weekend of 2026-11-28"),
        ("last month", "2026-10"), ("next month", "2026-12"), ("last year", "2025"), ("last May", "2026-05"), ("next May", "2027-05"), ("last December", "2025-12"),
        ("three days ago", "2026-11-27"), ("2 weeks ago", "week of 2026-11-16"), ("a year ago", "2025"), ("in 3 months", "2027-02"), ("in two days", "2026-12-02"),
        ("on March 3rd", "2027-03-03"), ("on 14 October", "2026-10-14"),
        ("Ich war gestern dort", "2026-11-29"), ("vorgestern", "2026-11-28"), ("Das machen wir morgen.", "2026-12-01"), ("letzte Woche", "week of 2026-11-23"),
        ("vor drei Tagen", "2026-11-27"), ("nächsten Freitag", "2026-12-04"), ("letztes Jahr", "2025"),
        ("avant-hier", "2026-11-28"), ("demain", "2026-12-01"), ("la semaine dernière", "week of 2026-11-23"), ("il y a trois jours", "2026-11-27"), ("lundi prochain", "2026-12-07"),
        ("ayer", "2026-11-29"), ("pasado mañana", "2026-12-02"), ("hace tres días", "2026-11-27"), ("el mes pasado", "2026-10"), ("el viernes pasado", "2026-11-27"),
        ("我昨天去了", "2026-11-29"), ("上周五", "2026-11-27"), ("下个月", "2026-12"), ("三天前", "2026-11-27"), ("去年", "2025"),
        ("昨日行きました", "2026-11-29"), ("先週の金曜日", "2026-11-27"), ("来月", "2026-12"), ("3日前", "2026-11-27"), ("来週", "week of 2026-12-07"),
    ],
)  # fmt: skip
def test_a_phrase_and_its_date(text: str, value: str) -> None:
    assert [m.value for m in mentions(text, MONDAY)] == [value]


@pytest.mark.parametrize(
    "text",
    [
        "por la mañana",
        "guten morgen",
        "am Morgen",
        "Morgen",
        "the lasting effect",
        "March 3, 2024",
        "on 3 March 2024",
        "in 2024",
        "the second to last",
        "may 5 of them go",
        "line 12 in a file",
        "",
    ],
)
def test_what_is_no_relative_date(text: str) -> None:
    assert mentions(text, MONDAY) == []


def test_the_words_are_kept_and_the_date_is_added() -> None:
    assert (
        absolute("I moved yesterday, and start next week.", MONDAY)
        == "I moved yesterday (2026-11-29), and start next week (week of 2026-12-07)."
    )


def test_places_are_exact() -> None:
    text = "So, yesterday I went; last week I did not."
    for mention in mentions(text, MONDAY):
        assert text[mention.start : mention.end] == mention.text


def test_days_that_do_not_exist_are_left_alone() -> None:
    assert mentions("on February 30", MONDAY) == []
    assert mentions("999 years ago", datetime(1, 1, 1, tzinfo=UTC)) in ([], [])
    assert mentions("yesterday", datetime(1, 1, 1, tzinfo=UTC)) == []


@given(
    st.text(max_size=60) | st.sampled_from(["yesterday", "last week and 3 days ago", "昨天 tomorrow", "letzte Woche am 3. März"]),
    st.datetimes(timezones=st.just(UTC)),
)
def test_twice_is_once(text: str, said: datetime) -> None:
    once = absolute(text, said)
    assert absolute(once, said) == once

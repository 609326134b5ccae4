"""Which words of a user's message are not the user's own."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leporello.core.extract import foreign, is_foreign


@pytest.mark.parametrize(
    ("text", "passed_on"),
    [
        ("Look at this:\n> We decided to use MySQL.\nI disagree.", "We decided to use MySQL."),
        ("Hi!\nFrom: eve@example.org\nSubject: x\n\nI live in Rome.", "I live in Rome."),
        ("Ann wrote:\nI live in Rome.", "I live in Rome."),
        ("Please translate: I live in Rome.", "I live in Rome."),
        ("Übersetze das bitte: Ich wohne in Rom.", "Ich wohne in Rom."),
        ("Traduce esto: Vivo en Roma.", "Vivo en Roma."),
        ('She said: "I live in Rome."', "I live in Rome."),
        ("The README says “we use tabs in every file of this repository”.", "we use tabs in every file of this repository"),
        ("```\nreturn 'I prefer tabs'\n```", "I prefer tabs"),
        ("x" * 21_000, "x" * 100),
    ],
)
def test_what_is_passed_on(text: str, passed_on: str) -> None:
    start = text.index(passed_on)
    assert is_foreign(text, start, start + len(passed_on))


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("I live in Rome. Can you translate the page?", "I live in Rome."),
        ("I read “Dune” and I moved to Rome.", "I moved to Rome."),
        ("Look:\n> old text\nI moved to Rome last week.", "I moved to Rome last week."),
        ("My wife's name is Anna, and it's a good one.", "My wife's name is Anna"),
        ("We use tabs.", "We use tabs."),
    ],
)
def test_what_is_the_users_own(text: str, own: str) -> None:
    start = text.index(own)
    assert not is_foreign(text, start, start + len(own))


@given(st.text(max_size=300))
@settings(max_examples=150, deadline=None)
def test_any_text_is_looked_at(text: str) -> None:
    assert all(0 <= a <= b <= len(text) for a, b in foreign(text))


def test_long_messages_take_no_long_time() -> None:
    for text in ("> a\n" * 4_000, '"' * 19_000, "said " * 3_900, "“a” " * 4_000, "```" * 6_000, "From: a\n" * 2_000):
        foreign(text)

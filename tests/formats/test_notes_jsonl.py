"""Notes as JSON Lines: what is written is read back, and a bad line is told, not lost."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leporello.formats.notes_jsonl import BadLine, NoteLine, read, write

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
VALUES = st.recursive(
    st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda v: st.lists(v | st.none()) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), v | st.none()),
    max_leaves=8,
)


@given(
    st.lists(
        st.builds(
            NoteLine,
            st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
            VALUES,
            st.datetimes(timezones=st.just(UTC)),
            st.floats(0, 1),
        )  # fmt: skip
    )
)
def test_notes_come_back_as_they_were(notes: list[NoteLine]) -> None:
    text = write(notes)
    assert text.isascii() and text.count("\n") == len(notes) and list(read(text)) == notes
    assert list(read(b"\xef\xbb\xbf" + text.replace("\n", "\r\n\r\n").encode())) == notes


def test_separators_of_unicode_do_not_break_a_line() -> None:
    note = NoteLine("k", "a\u2028b\u0085c\fd\r\ne", AT, 0.5)
    assert write([note]) == '{"key": "k", "value": "a\\u2028b\\u0085c\\fd\\r\\ne", "ts": "2026-03-02T09:00:00+00:00", "confidence": 0.5}\n'
    raw = '{"key": "k", "value": "a\u2028b", "ts": 1772442000, "confidence": 1}'
    assert list(read(raw)) == [NoteLine("k", "a\u2028b", AT, 1.0)]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "not JSON"),
        ("[]", "not an object"),
        ('{"value": 1, "ts": 1}', "no key"),
        ('{"key": "", "value": 1, "ts": 1}', "no key"),
        ('{"key": "k", "ts": 1}', "no value"),
        ('{"key": "k", "value": 1}', "no ts"),
        ('{"key": "k", "value": 1, "ts": "soon"}', "not an instant"),
        ('{"key": "k", "value": 1, "ts": 1, "confidence": 2}', "no number from 0 to 1"),
        ('{"key": "k", "value": 1, "ts": 1, "confidence": true}', "no number from 0 to 1"),
        ('{"key": "k", "value": 1, "ts": 1, "more": 1}', "unknown fields: more"),
        ('{"key": "k", "key": "l", "value": 1, "ts": 1}', "there twice"),
    ],
)
def test_a_bad_line_is_told_with_its_text(line: str, why: str) -> None:
    good, bad, last = list(read(f'{{"key": "a", "value": 1, "ts": 1}}\n{line}\n{{"key": "b", "value": 2, "ts": 1}}'))
    assert isinstance(good, NoteLine) and isinstance(last, NoteLine) and good.confidence == 1.0
    assert isinstance(bad, BadLine) and (bad.number, bad.raw) == (2, line) and why in bad.why


def test_bytes_that_are_no_text_are_a_bad_line() -> None:
    found = list(read(b'\xff\n{"key": "a", "value": 1, "ts": 1}\n'))
    assert [type(f) for f in found] == [BadLine, NoteLine]

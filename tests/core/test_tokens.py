"""The estimate and the clip."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from leporello.core.tokens import clip, estimate


def test_by_script() -> None:
    assert estimate("") == 0
    assert estimate("abcd" * 10) == 10
    assert estimate("猫が好き") == 4


@given(st.text(max_size=400), st.integers(0, 60))
def test_a_clip_fits(text: str, room: int) -> None:
    assert estimate(clip(text, room)) <= max(room, 0) or estimate(text) <= room


def test_a_clip_keeps_head_and_tail() -> None:
    shown = clip("head " + "x" * 4000 + " the error at the end", 60)
    assert shown.startswith("head") and shown.endswith("the error at the end")

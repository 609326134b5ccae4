"""The estimate and the clip."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from leporello.core.tokens import clip, estimate, weigh


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


def test_weights_by_kinds_of_characters() -> None:
    assert weigh("") == 0 and weigh("   \t\r") == 0
    assert weigh("a" * 40) == 10 and weigh("7" * 40) == 16 and weigh("{" * 40) == 32 and weigh("\n" * 40) == 20
    assert weigh("\u732b" * 10) == 10 and weigh("\u00e9" * 30) == 23
    assert weigh("\ud83d") == 1


@given(st.text(max_size=200), st.text(max_size=200))
def test_a_weight_grows_with_the_text(a: str, b: str) -> None:
    assert max(weigh(a), weigh(b)) <= weigh(a + b) <= weigh(a) + weigh(b)

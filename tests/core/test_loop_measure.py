"""Estimates of requests, what calibrates them, and the errors by which providers say that one was too long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leporello.core.loop.measure import MEDIA, factor, learned, raw
from leporello.core.loop.overflow import Overflow, read_overflow, refused_thinking


def test_media_count_a_fixed_sum_and_ids_a_little() -> None:
    image = {"type": "image", "source": {"data": "A" * 100_000}}
    assert raw([image, image]) == 2 * MEDIA
    assert raw({"type": "image_url", "image_url": {"url": "data:" + "A" * 100_000}}) == MEDIA
    assert raw({"type": "tool_use", "id": "x" * 400}) == raw({"type": "tool_use", "id": "x"}) < 20
    assert raw({"signature": "s" * 4_000, "type": "thinking"}) < 10
    assert raw("") == raw([]) == raw(None) == 0 and raw(5) == raw(True) == 1
    assert raw({"content": "a" * 40}) == 4 + 10 and raw(("a" * 40, ["b" * 40])) == 20
    assert raw({"path": "a"}, count=lambda text: 100) == 4 + 200


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=30),
        lambda x: st.lists(x, max_size=4) | st.dictionaries(st.text(max_size=8), x, max_size=4),
    )
)
def test_more_is_never_less(value: object) -> None:
    assert 0 <= raw(value) < raw([value, "and this"])


def test_the_factor_is_the_largest_of_the_usual_size() -> None:
    assert factor((), margin=1.25) == 1.25
    assert factor([[2_000, 3_000], [2_000, 2_400]], margin=1.25) == pytest.approx(1.53)
    assert factor([[10, 90], [2_000, 2_000]], margin=1.25) == pytest.approx(1.02)
    assert factor([[2_000, 2_000_000]], margin=1.25) == 6.0
    assert factor([[200_000, 1]], margin=1.25) == 0.3
    assert factor([[0, 0]], margin=1.25) == 1.25


def test_a_small_request_takes_no_margin_away() -> None:
    assert factor([[10, 5]], margin=1.25) == 1.25
    assert factor([[10, 20]], margin=1.25) == pytest.approx(2.04)
    assert factor([[999, 500]], margin=1.25) == 1.25
    assert factor([[1_000, 500]], margin=1.25) == pytest.approx(0.51)


def test_the_newest_pairs_are_kept() -> None:
    pairs: list[list[int]] = []
    for i in range(1, 12):
        pairs = learned(pairs, i, 2 * i)
    assert pairs == [[i, 2 * i] for i in range(4, 12)]
    assert learned(((1, 2),), 0, 5) == learned(((1, 2),), 5, 0) == [[1, 2]]


TOO_LONG = [
    ("prompt is too long: 212345 tokens > 200000 maximum", 212_345, 200_000),
    (
        "input length and `max_tokens` exceed context limit: 190,000 + 20000 > 200,000, decrease input length or `max_tokens` and try again",
        190_000,
        200_000,
    ),
    ("This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. Please reduce", 9_000, 8_192),
    ("This model's maximum context length is 4097 tokens, however you requested about 4,927 tokens (1000 in your prompt)", 4_927, 4_097),
    ("maximum context length of 32768", None, 32_768),
    ("Your input exceeds the context window of this model. Please adjust your input and try again.", None, None),
    ("{'code': 'context_length_exceeded'}", None, None),
    ("request_too_large: Request exceeds the maximum size", None, None),
    ("the request exceeds the available context size", None, None),
    ("Input is too long for requested model.", None, None),
]


@pytest.mark.parametrize(("text", "tokens", "window"), TOO_LONG)
def test_errors_that_mean_too_long(text: str, tokens: int | None, window: int | None) -> None:
    assert read_overflow(text) == Overflow(tokens, window) and not refused_thinking(text)


@pytest.mark.parametrize(
    "text", ["", "Rate limit reached.", "Overloaded", "messages: text content blocks must be non-empty", "max_tokens: Field required"]
)
def test_errors_that_mean_something_else(text: str) -> None:
    assert read_overflow(text) is None and not refused_thinking(text)


@pytest.mark.parametrize(
    "text",
    [
        "messages.1.content.0: Invalid `signature` in `thinking` block",
        "messages.3.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.",
        "The block is bound to a different conversation.",
    ],
)
def test_errors_that_mean_alien_thinking(text: str) -> None:
    assert refused_thinking(text) and read_overflow(text) is None

"""The normal form: every part has its place in the text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leporello.core.blocks import parts_of, role_of, text_of
from leporello.errors import BadMessage

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
BLOCK = st.one_of(
    st.builds(lambda t: {"type": "text", "text": t}, st.text()),
    st.builds(lambda i, v: {"type": "tool_use", "id": i, "name": "f", "input": v}, st.text(), JSON),
    st.builds(lambda i, v: {"type": "tool_result", "tool_use_id": i, "content": v}, st.text(), JSON),
    st.builds(lambda t: {"type": "thinking", "thinking": t, "signature": "x"}, st.text()),
    st.builds(lambda v: {"type": "hologram", "payload": v}, JSON),
    JSON,
)


@given(st.lists(BLOCK, max_size=6))
def test_parts_lie_in_the_text_in_order(content: list[Any]) -> None:
    message = {"role": "user", "content": content}
    text, end = text_of(message), 0
    for part in parts_of(message):
        assert end <= part.start <= part.end <= len(text)
        end = part.end
        if part.kind in {"text", "result", "other"} and part.end > part.start:
            assert text[part.start : part.end] == part.text


@given(JSON)
def test_any_content_is_taken(content: Any) -> None:
    assert isinstance(text_of({"role": "user", "content": content}), str)


def test_thinking_and_media_add_no_text() -> None:
    content = [
        {"type": "thinking", "thinking": "secret"},
        {"type": "image", "source": {"type": "base64", "data": "AAAA"}},
        {"type": "text", "text": "hi"},
    ]
    assert text_of({"role": "user", "content": content}) == "hi"


@pytest.mark.parametrize("message", [{}, {"content": "x"}, {"role": ""}, {"role": None}, {"type": "hologram"}])
def test_a_message_without_a_role_is_refused(message: dict[str, Any]) -> None:
    with pytest.raises(BadMessage):
        role_of(message)


def test_legacy_and_custom_calls() -> None:
    legacy = parts_of({"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}})
    assert [(p.kind, p.id, p.name) for p in legacy] == [("call", "f", "f")]
    reply = parts_of({"role": "function", "name": "f", "content": "1"})
    assert [(p.kind, p.id) for p in reply] == [("result", "f")]
    custom = parts_of({"role": "assistant", "tool_calls": [{"id": "c", "custom": {"name": "g", "input": "raw"}}, "junk"]})
    assert [(p.kind, p.id, p.name, p.text) for p in custom] == [("call", "c", "g", "raw")]


@pytest.mark.parametrize(
    ("kind", "role"),
    [
        ("mcp_approval_request", "assistant"),
        ("shell_call", "assistant"),
        ("apply_patch_call", "assistant"),
        ("compaction", "assistant"),
        ("mcp_approval_response", "tool"),
        ("shell_call_output", "tool"),
    ],
)
def test_items_of_responses_that_are_not_known_one_by_one_have_a_side(kind: str, role: str) -> None:
    assert role_of({"type": kind, "id": "x"}) == role

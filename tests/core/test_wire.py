"""Requests made of any log are valid: paired, alternating, results first, no empty text, a user message first and last."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from leporello.core import wire
from leporello.core.turns import faults, shape

IDS = st.sampled_from(["a", "b", "c", ""])
TEXT = st.sampled_from(["", " ", "hello", "look at this"])
BLOCK = st.one_of(
    st.builds(lambda t: {"type": "text", "text": t}, TEXT),
    st.builds(lambda i: {"type": "tool_use", "id": i, "name": "f", "input": {"x": 1}}, IDS),
    st.builds(lambda i, t: {"type": "tool_result", "tool_use_id": i, "content": t}, IDS, TEXT),
    st.just({"type": "thinking", "thinking": "hm", "signature": "s"}),
    st.just({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}),
)
ANTHROPIC = st.builds(
    lambda r, c: {"role": r, "content": c}, st.sampled_from(["user", "assistant"]), st.one_of(TEXT, st.lists(BLOCK, max_size=4))
)
OPENAI = st.one_of(
    st.builds(lambda r, t: {"role": r, "content": t}, st.sampled_from(["user", "assistant", "system", "developer"]), TEXT),
    st.builds(
        lambda i: {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": i, "type": "function", "function": {"name": "f", "arguments": "not json"}}],
        },
        IDS,
    ),
    st.builds(lambda i, t: {"role": "tool", "tool_call_id": i, "content": t}, IDS, TEXT),
)
LOG = st.lists(st.one_of(ANTHROPIC, OPENAI), max_size=12)


def check_anthropic(messages: list[dict[str, Any]]) -> None:
    """The rules of the Messages API, written down independently."""
    for i, message in enumerate(messages):
        assert message["role"] == ("assistant" if i % 2 else "user"), "the sides do not alternate from a user message"
        kinds = [b["type"] for b in message["content"]]
        assert kinds, "an empty message"
        assert all(b["text"].strip() for b in message["content"] if b["type"] == "text"), "an empty text block"
        assert "thinking" not in kinds
        results = [b["tool_use_id"] for b in message["content"] if b["type"] == "tool_result"]
        assert kinds[: len(results)] == ["tool_result"] * len(results), "results do not stand first"
        before = [b["id"] for b in messages[i - 1]["content"] if b["type"] == "tool_use"] if i else []
        assert sorted(results) == sorted(before), "calls and results do not match"
        calls = [b["id"] for b in message["content"] if b["type"] == "tool_use"]
        assert kinds[len(kinds) - len(calls) :] == ["tool_use"] * len(calls), "text follows a call"
    ids = [b["id"] for m in messages for b in m["content"] if b["type"] == "tool_use"]
    assert len(ids) == len(set(ids)) and all(ids), "ids are not unique"


@given(LOG)
def test_an_anthropic_request_is_valid(log: list[dict[str, Any]]) -> None:
    check_anthropic(wire.for_anthropic(log))


@given(LOG)
def test_an_openai_request_is_valid(log: list[dict[str, Any]]) -> None:
    sent = wire.for_openai(log)
    waiting: list[str] = []
    for message in sent:
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting
            waiting.remove(message["tool_call_id"])
            continue
        assert not waiting, "a call without a result"
        waiting = [c["id"] for c in message.get("tool_calls", [])]
        assert message["content"] or waiting
        assert all(json.loads(c["function"]["arguments"]) is not None for c in message.get("tool_calls", []))
    assert not waiting
    assert faults([shape(m) for m in sent]) == []


@given(LOG)
def test_no_word_of_the_log_is_lost(log: list[dict[str, Any]]) -> None:
    words = sum(str(m).count("look at this") for m in log)
    shown = sum(str(m).count("look at this") for m in wire.for_anthropic(log))
    assert shown >= words - sum(str(m).count("look at this") for m in log if m["role"] == "assistant" and "tool_result" in str(m))


def test_repairs_say_what_is_missing() -> None:
    log = [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
        {"role": "user", "content": "next"},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "gone", "content": "late"}]},
    ]
    sent = wire.for_anthropic(log)
    assert sent[0]["content"][0]["text"] == wire.OPENING
    assert sent[2]["content"][0] == {"type": "tool_result", "tool_use_id": "a", "content": wire.MISSING, "is_error": True}
    assert [b["text"] for b in sent[2]["content"][1:]] == ["next", "[Result of an earlier tool call]\nlate"]


def test_an_id_that_was_used_twice_becomes_two() -> None:
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]}
    log = [
        {"role": "user", "content": "go"},
        call,
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        call,
        {"role": "tool", "tool_call_id": "a", "content": "2"},
    ]
    sent = wire.for_openai(log)
    assert [(m.get("tool_call_id"), m["content"]) for m in sent if m["role"] == "tool"] == [("a", "1"), ("a_2", "2")]

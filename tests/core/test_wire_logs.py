"""Requests on all three wires, made of arbitrary logs in all three formats: valid, encodable, and growing only at the end."""

from __future__ import annotations

import json
import re
import time
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from leporello.core import wire
from leporello.core.wire import Caps, Sent

PNG = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
IDS = st.sampled_from(["a", "b", "a_2", "", "bad id!", "x" * 90, "call_1", "é\ud800"])
NAMES = st.sampled_from(["f", "", "a.b", "nul\x00", "n" * 200])
TEXT = st.sampled_from(["", " ", "hello", "look at this", "\ud83d half", "\x00", "語" * 40, "long words " * 60])
INPUT = st.one_of(st.just({}), st.just({"x": float("nan")}), st.builds(lambda t: {"t": t, "u": [t]}, TEXT))
ARGUMENTS = st.one_of(st.sampled_from(["", "not json", "[1]", '{"a": NaN}', '{"a": "\\ud800"}']), INPUT.map(json.dumps))
INNER = st.one_of(
    st.builds(lambda t: {"type": "text", "text": t}, TEXT),
    st.just({"type": "image", "source": PNG, "cache_control": {"type": "ephemeral"}}),
    st.just({"type": "search_result", "title": "t", "source": "s", "content": [{"type": "text", "text": "found"}]}),
)
RESULT = st.one_of(TEXT, st.lists(INNER, max_size=3), st.none())
BLOCK = st.one_of(
    INNER,
    st.builds(lambda i, n, v: {"type": "tool_use", "id": i, "name": n, "input": v}, IDS, NAMES, INPUT),
    st.builds(lambda i, c, e: {"type": "tool_result", "tool_use_id": i, "content": c, "is_error": e}, IDS, RESULT, st.booleans()),
    st.builds(lambda i: {"type": "server_tool_use", "id": i, "name": "web_search", "input": {"query": "q"}}, IDS),
    st.builds(lambda i: {"type": "web_search_tool_result", "tool_use_id": i, "content": []}, IDS),
    st.just({"type": "thinking", "thinking": "hm", "signature": "s"}),
    st.just({"type": "redacted_thinking", "data": "xyz"}),
    st.just({"type": "never_seen", "note": "new"}),
)
SIDE = st.sampled_from(["user", "assistant"])
ANTHROPIC = st.builds(lambda r, c: {"role": r, "content": c}, SIDE, st.one_of(TEXT, st.lists(BLOCK, max_size=5)))
CHAT = st.one_of(
    st.builds(lambda r, t: {"role": r, "content": t}, st.sampled_from(["user", "assistant", "system", "developer"]), TEXT),
    st.builds(lambda t: {"role": "assistant", "content": None, "refusal": t, "reasoning_content": "secret"}, TEXT),
    st.builds(
        lambda t, calls: {
            "role": "assistant",
            "content": t,
            "tool_calls": [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls],
        },
        TEXT,
        st.lists(st.tuples(IDS, NAMES, ARGUMENTS), max_size=3),
    ),
    st.builds(lambda i, t: {"role": "tool", "tool_call_id": i, "content": t}, IDS, RESULT),
    st.just({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]}),
)
RESPONSES = st.one_of(
    st.just({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e", "status": None}),
    st.builds(lambda i, n, a: {"type": "function_call", "id": "fc_1", "call_id": i, "name": n, "arguments": a}, IDS, NAMES, ARGUMENTS),
    st.builds(lambda i, c: {"type": "function_call_output", "call_id": i, "output": c}, IDS, TEXT),
    st.builds(lambda i: {"type": "custom_tool_call", "id": "ct_1", "call_id": i, "name": "patch", "input": "raw"}, IDS),
    st.builds(lambda i: {"type": "custom_tool_call_output", "call_id": i, "output": "done"}, IDS),
    st.builds(
        lambda t: {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "content": [{"type": "output_text", "text": t}],
            "status": "completed",
        },
        TEXT,
    ),
    st.just({"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}}),
    st.just({"role": "user", "content": [{"type": "input_image", "detail": "auto", "image_url": "https://example.org/a.png"}]}),
)
SENT = st.builds(
    lambda m, i, t, media, b, c: Sent(m, id=i, thinking=t, media=media, beside=b, clear=c),
    st.one_of(ANTHROPIC, CHAT, RESPONSES),
    st.sampled_from(["", "m_1"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["", "", "remembered"]),
    st.booleans(),
)
LOG = st.lists(SENT, max_size=12)
CAPS = st.sampled_from([wire.NO_CAPS, Caps(result=60, text=60, call=70, media_bytes=2)])
HEAD = st.sampled_from(["", "the memory"])
LEGAL = re.compile(r"[a-zA-Z0-9_-]+")


def encodable(messages: list[dict[str, Any]]) -> None:
    json.dumps(messages, ensure_ascii=False, allow_nan=False).encode()
    assert "cache_control" not in json.dumps(messages)


def blocks(message: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [b for b in message["content"] if b["type"] == kind]


def check_anthropic(messages: list[dict[str, Any]]) -> None:
    """The rules of the Messages API, written down independently."""
    ids: list[str] = []
    for i, message in enumerate(messages):
        assert message["role"] == ("assistant" if i % 2 else "user")
        kinds = [b["type"] for b in message["content"]]
        assert kinds and all(b["text"].strip() for b in blocks(message, "text"))
        results, calls = blocks(message, "tool_result"), blocks(message, "tool_use")
        assert kinds[: len(results)] == ["tool_result"] * len(results)
        before = blocks(messages[i - 1], "tool_use") if i else []
        assert [r["tool_use_id"] for r in results] == [c["id"] for c in before]
        if calls:
            assert {k for k in kinds[kinds.index("tool_use") :]} <= {"tool_use", "thinking", "redacted_thinking"}
        assert not (i % 2 and kinds[-1] in {"thinking", "redacted_thinking"})
        assert i % 2 or not {"thinking", "redacted_thinking", "server_tool_use", "web_search_tool_result"} & set(kinds)
        assert not i % 2 or not {"image", "tool_result"} & set(kinds)
        assert all(LEGAL.fullmatch(c["id"]) and LEGAL.fullmatch(c["name"]) and len(c["name"]) <= 128 for c in calls)
        assert all(isinstance(c["input"], dict) for c in calls)
        ids += [c["id"] for c in calls + blocks(message, "server_tool_use")]
        for r in results:
            assert r["content"] and (isinstance(r["content"], str) or all(b.get("text", "-").strip() for b in r["content"]))
            assert not r.get("is_error") or isinstance(r["content"], str) or "image" not in {b["type"] for b in r["content"]}
    assert len(ids) == len(set(ids))
    flat = [b for m in messages for b in m["content"]]
    served = [b["tool_use_id"] for b in flat if b["type"] == "web_search_tool_result"]
    uses = [b["id"] for b in flat if b["type"] == "server_tool_use"]
    assert set(served) <= set(uses) and len(served) == len(set(served))
    assert not messages or messages[-1]["role"] == "user" or flat[-1]["type"] == "server_tool_use"


@given(LOG, CAPS, HEAD)
def test_an_anthropic_request_is_valid(log: list[Sent], caps: Caps, head: str) -> None:
    sent = wire.for_anthropic(log, caps=caps, head=head)
    check_anthropic(sent)
    encodable(sent)
    assert not head or sent[0]["content"][0]["text"] == head
    if not any(m.thinking for m in log):
        assert "redacted_thinking" not in str(sent) and "signature" not in str(sent)


@given(LOG, CAPS, HEAD)
def test_a_chat_request_is_valid(log: list[Sent], caps: Caps, head: str) -> None:
    sent = wire.for_openai(log, caps=caps, head=head)
    encodable(sent)
    assert "secret" not in str(sent)
    waiting: list[str] = []
    ids: list[str] = []
    for message in sent:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
            assert isinstance(message["content"], str) and message["content"]
            continue
        assert not waiting, "a call without a result"
        waiting = [c["id"] for c in message.get("tool_calls", [])]
        ids += waiting
        assert message["content"] or waiting
        assert message["role"] == "user" or isinstance(message["content"], (str, type(None))) or message["content"][0]["type"] == "refusal"
        for call in message.get("tool_calls", []):
            body = call[call["type"]]
            assert LEGAL.fullmatch(body["name"]) and len(body["name"]) <= 64 and LEGAL.fullmatch(call["id"]) and len(call["id"]) <= 40
            assert call["type"] == "custom" or isinstance(json.loads(body["arguments"]), dict)
    assert not waiting and len(ids) == len(set(ids))
    assert not sent or (sent[0]["role"] == "user" and sent[-1]["role"] in {"user", "tool"})


@given(LOG, CAPS, HEAD)
def test_a_responses_request_is_valid(log: list[Sent], caps: Caps, head: str) -> None:
    sent = wire.for_responses(log, caps=caps, head=head)
    encodable(sent)
    open_calls: dict[str, str] = {}
    answered: set[str] = set()
    for i, item in enumerate(sent):
        kind = item.get("type", "message")
        if kind in {"function_call", "custom_tool_call"}:
            assert item["call_id"] not in open_calls and LEGAL.fullmatch(item["call_id"]) and len(item["call_id"]) <= 64
            assert LEGAL.fullmatch(item["name"]) and len(item["name"]) <= 64
            assert kind != "function_call" or isinstance(json.loads(item["arguments"]), dict)
            open_calls[item["call_id"]] = kind
        elif kind.endswith("_output"):
            assert kind == open_calls[item["call_id"]] + "_output" and item["call_id"] not in answered and item["output"]
            answered.add(item["call_id"])
        elif kind == "message":
            assert set(open_calls) == answered or item["role"] == "assistant"
            assert item["content"] and all(p.get("text", "-").strip() for p in item["content"])
        elif kind == "reasoning":
            assert sent[i + 1].get("id") and "status" not in item, "reasoning without the item that follows it"
    assert set(open_calls) == answered
    if not any(m.thinking for m in log):
        assert not any(item.get("id") for item in sent) and not any(item.get("type") == "reasoning" for item in sent)
    assert not sent or sent[0]["role"] == "user"
    assert not sent or sent[-1].get("role") == "user" or sent[-1]["type"].endswith("_output")


STEP = st.one_of(
    st.tuples(st.just("user"), TEXT.filter(str.strip), st.booleans()),
    st.tuples(st.just("say"), TEXT.filter(str.strip), st.booleans()),
    st.tuples(st.just("work"), st.integers(1, 3), st.sampled_from(["anthropic", "chat", "responses"])),
)


def loop(steps: list[tuple[str, Any, Any]]) -> list[Sent]:
    """A log as a loop makes it: what the user says, then answers or rounds of calls with their results."""
    out: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for n, (kind, what, how) in enumerate(steps):
        ids = [f"c{n}_{i}" for i in range(what)] if kind == "work" else []
        if kind == "user":
            out.append({"role": "user", "content": what if how else [{"type": "text", "text": what}, {"type": "image", "source": PNG}]})
        elif kind == "say":
            out.append(
                {"role": "assistant", "content": [{"type": "thinking", "thinking": "t", "signature": "s"}, {"type": "text", "text": what}]}
            )
        elif how == "anthropic":
            calls = [{"type": "tool_use", "id": i, "name": "f", "input": {"n": 1}} for i in ids]
            out.append({"role": "assistant", "content": [{"type": "text", "text": "working"}, *calls]})
            out.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": i, "content": "ok"} for i in ids]})
        elif how == "chat":
            calls = [{"id": i, "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in ids]
            out.append({"role": "assistant", "content": "", "tool_calls": calls})
            out += [{"role": "tool", "tool_call_id": i, "content": [{"type": "text", "text": "ok"}]} for i in ids]
        else:
            out.append({"type": "reasoning", "id": f"rs_{n}", "summary": [], "encrypted_content": "e"})
            out += [{"type": "function_call", "id": f"fc_{i}", "call_id": i, "name": "f", "arguments": "{}"} for i in ids]
            out += [{"type": "function_call_output", "call_id": i, "output": "ok"} for i in ids]
    return [Sent(m, id=f"m_{n}", thinking=True) for n, m in enumerate(out)]


def stream(messages: list[dict[str, Any]]) -> list[str]:
    """What a prefix cache sees: a mark where the side changes, then the blocks; a text in Chat by its paragraphs."""
    out: list[str] = []
    side = ""
    for m in messages:
        now = m.get("role") or ("tool" if str(m.get("type")).endswith("_output") else "assistant")
        if now != side:
            out.append(f"<{now}>")
            side = now
        content = m.get("content")
        if isinstance(content, str):
            out += content.split("\n\n") if now != "tool" else [f"{m['tool_call_id']} {content}"]
        elif isinstance(content, list):
            for b in content:
                out += b["text"].split("\n\n") if "text" in b else [json.dumps(b, sort_keys=True)]
        else:
            out += [] if "role" in m else [json.dumps(m, sort_keys=True)]
        out += [json.dumps(c, sort_keys=True) for c in m.get("tool_calls", [])]
    return out


def settled(seen: list[str]) -> list[str]:
    """Without the repairs at the end: results that are still to come, and the word that asks to go on."""
    cut = next((i for i, s in enumerate(seen) if wire.MISSING in s), len(seen))
    seen = seen[:cut]
    while seen and (seen[-1] == wire.CONTINUE or seen[-1] in {"<user>", "<tool>"}):
        seen = seen[:-1]
    return seen


@settings(max_examples=150, deadline=None)
@given(st.lists(STEP, max_size=8), HEAD)
def test_a_log_that_grows_gives_a_request_that_grows_at_its_end(steps: list[tuple[str, Any, Any]], head: str) -> None:
    log = loop(steps)
    for render in (wire.for_anthropic, wire.for_openai, wire.for_responses):
        whole = stream(render(log, head=head))
        for n in range(1, len(log)):
            part = settled(stream(render(log[:n], head=head)))
            assert whole[: len(part)] == part, f"{render.__name__} of {n} messages"


@given(LOG)
def test_equal_logs_give_equal_bytes(log: list[Sent]) -> None:
    for render in (wire.for_anthropic, wire.for_openai, wire.for_responses):
        before = json.dumps([m.original for m in log])
        first = json.dumps(render(log))
        assert first == json.dumps(render(log)) and json.dumps([m.original for m in log]) == before


@given(LOG)
def test_breakpoints_stand_on_the_last_two_user_messages(log: list[Sent]) -> None:
    plain, marked = wire.for_anthropic(log), wire.for_anthropic(log, breakpoints=True)
    users = [i for i, m in enumerate(marked) if m["role"] == "user"][-2:]
    for i, message in enumerate(marked):
        at = [n for n, b in enumerate(message["content"]) if "cache_control" in b]
        assert at == ([len(message["content"]) - 1] if i in users else [])
        for n in at:
            assert message["content"][n].pop("cache_control") == {"type": "ephemeral"}
    assert marked == plain


def test_long_logs_and_large_pieces_take_linear_time() -> None:
    log: list[dict[str, Any]] = []
    for n in range(1250):
        log += [{"role": "user", "content": f"question {n}"}]
        log += [{"role": "assistant", "content": [{"type": "tool_use", "id": "same", "name": "f", "input": {"n": n}}]}]
        log += [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "same", "content": "ok"}]}]
        log += [{"role": "assistant", "content": [{"type": "text", "text": "done"}]}]
    big = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 5_000_000}}
    large = [
        {"role": "user", "content": [big] * 20},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "z", "name": "f", "input": {}}]},
        {"role": "tool", "tool_call_id": "z", "content": "é 語 word " * 220_000},
    ]
    for render in (wire.for_anthropic, wire.for_openai, wire.for_responses):
        start = time.process_time()
        assert len(render(log)) >= 5_000
        assert len(render([Sent(m) for m in large], caps=Caps())) >= 3
        assert time.process_time() - start < 3

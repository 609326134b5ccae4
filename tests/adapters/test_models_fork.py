"""Forks of the agent's own request, and compaction by the providers: real SDK clients against a real server."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import leporello
from leporello.adapters.models import ForkedCompactor, ModelCompactor, NativeAnthropic, NativeOpenAI, compactor
from leporello.core.blocks import role_of, text_of
from leporello.core.loop.settings import Mode, Wire
from leporello.core.tokens import estimate
from leporello.errors import CompactorError
from leporello.ports import LiveRequest, metered
from leporello.records import Item, Message, Scope
from leporello.testing.provider import LocalProvider, Turn

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
OPENED: list[Any] = []
WIRES = ("anthropic", "openai", "openai-responses")
GOOD = {
    "summary": "The scheduler was given a retry limit.",
    "decisions": [{"decision": "Limit retries to five", "reason": "billing blocks"}],
}
SYSTEM = "You are a careful agent. " + "Follow the rules of the house at all times. " * 200
TOOL = {"type": "object", "properties": {"path": {"type": "string"}}}


def message(n: int, original: dict[str, Any]) -> Message:
    role, text = role_of(original), text_of(original)
    return Message(
        f"m{n}", Scope(session="s"), n, n, role, None, AT, AT, "user" if role == "user" else "agent", text, original, estimate(text)
    )


def talk() -> list[Message]:
    texts = ("Limit retries to five, billing blocks callers.", "I set the limit.\nIt stands in “scheduler.py”.", "Now write a test.")
    return [message(n, {"role": "user" if n % 2 else "assistant", "content": t}) for n, t in enumerate(texts, 1)]


def live(wire: str, messages: list[Message], *, model: str = "agent-model") -> LiveRequest:
    sent = [dict(m.original) for m in messages]
    if wire == "anthropic":
        system = [{"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}}]
        last = sent[-1]
        if last["role"] == "user":
            sent[-1] = {"role": "user", "content": [{"type": "text", "text": last["content"], "cache_control": {"type": "ephemeral"}}]}
        tools: list[Any] = [{"name": "read", "input_schema": TOOL}]
        return LiveRequest(wire, model, {"system": system, "messages": sent, "tools": tools})
    if wire == "openai":
        tools = [{"type": "function", "function": {"name": "read", "parameters": TOOL}}]
        return LiveRequest(
            wire, model, {"messages": [{"role": "system", "content": SYSTEM}, *sent], "tools": tools, "prompt_cache_key": "k"}
        )
    tools = [{"type": "function", "name": "read", "parameters": TOOL}]
    return LiveRequest(wire, model, {"instructions": SYSTEM, "input": sent, "tools": tools})


@pytest.fixture
def provider() -> Iterator[LocalProvider]:
    with LocalProvider(reply=lambda turn: json.dumps(GOOD)) as p:
        yield p
        while OPENED:
            OPENED.pop().close()


def client_for(p: LocalProvider, wire: str) -> Any:
    OPENED.append(p.anthropic() if wire == "anthropic" else p.openai())
    return OPENED[-1]


def made(p: LocalProvider, wire: str, **options: Any) -> ModelCompactor:
    return compactor(f"{wire}:small-model", client=client_for(p, wire), fork="same-prefix", **options)


def listed(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list(body.get("messages") or body.get("input") or ())


def instruction(body: Mapping[str, Any]) -> str:
    held = listed(body)[-1]["content"]
    return held if isinstance(held, str) else str(held[-1]["text"])


def as_sent(body: Mapping[str, Any], key: str) -> str:
    return json.dumps(body.get(key), ensure_ascii=False)


@pytest.mark.parametrize("wire", WIRES)
def test_a_fork_repeats_the_request_and_adds_one_instruction(provider: LocalProvider, wire: str) -> None:
    request = live(wire, talk())
    before = json.dumps(request.body)
    c = made(provider, wire).over(request)
    assert isinstance(c, ForkedCompactor) and c.name.endswith("+fork-1")
    assert c.episode(talk(), tokens=400).summary == GOOD["summary"]
    (seen,) = provider.requests
    body = seen.body
    assert json.dumps(request.body) == before and body["model"] == "agent-model"
    for key in ("system", "instructions", "tools", "prompt_cache_key"):
        assert as_sent(body, key) == as_sent(request.body, key)
    mine, theirs = listed(body), listed(request.body)
    if wire == "anthropic":
        assert mine[:-1] == theirs[:-1] and mine[-1]["content"][:-1] == theirs[-1]["content"] and "tool_choice" not in body
    else:
        assert mine[:-1] == theirs and mine[-1]["role"] == "user" and body["tool_choice"] == "none"
    assert "the whole conversation above" in instruction(body) and "call no tool" in instruction(body)
    assert '"summary": "two or three sentences"' in instruction(body)


@pytest.mark.parametrize("wire", WIRES)
def test_a_fork_reads_the_warm_cache(provider: LocalProvider, wire: str) -> None:
    client, request = client_for(provider, wire), live(wire, talk())
    if wire == "anthropic":
        client.messages.create(model="agent-model", max_tokens=100, **request.body)
    elif wire == "openai":
        client.chat.completions.create(model="agent-model", **request.body)
    else:
        client.responses.create(model="agent-model", **request.body)
    with metered() as spent:
        made(provider, wire).over(request).episode(talk(), tokens=400)
    first, second = provider.requests
    assert second.cached > 0.9 * first.tokens - 128
    assert (spent[0].cached, spent[0].written, spent[0].input) == (second.cached, second.written, second.tokens)


def test_a_part_of_the_request_is_named_by_what_follows_it(provider: LocalProvider) -> None:
    c = made(provider, "anthropic").over(live("anthropic", talk()))
    c.episode(talk()[:2], tokens=400)
    assert "everything before the message that begins with “Now write a test.”" in instruction(provider.requests[0].body)


def test_after_a_tool_call_a_stronger_word_then_a_fresh_question_then_an_error(provider: LocalProvider) -> None:
    request = live("anthropic", talk())
    provider.fail("tool_call_only", times=1)
    assert made(provider, "anthropic").over(request).episode(talk(), tokens=400).summary == GOOD["summary"]
    assert "No tool may be called" in instruction(provider.requests[1].body) and provider.requests[1].body["tools"]
    provider.clear()
    provider.fail("tool_call_only", times=2)
    assert made(provider, "anthropic").over(request).episode(talk(), tokens=400).summary == GOOD["summary"]
    fresh = provider.requests[2].body
    assert "tools" not in fresh and fresh["model"] == "small-model" and "<transcript>" in instruction(fresh)
    provider.clear()
    provider.fail("tool_call_only", times=9)
    with pytest.raises(CompactorError) as e:
        made(provider, "anthropic").over(request).episode(talk(), tokens=400)
    assert e.value.failures == ("tool_call_only",) * 5


@pytest.mark.parametrize(("kind", "code", "calls"), [("overflow", "overflow", 2), ("unauthorized", "unauthorized", 1)])
def test_a_fork_that_is_too_long_is_asked_fresh_and_one_without_a_key_is_not(
    provider: LocalProvider, kind: str, code: str, calls: int
) -> None:
    provider.fail(kind, times=1)
    c = made(provider, "openai").over(live("openai", talk()))
    if kind == "overflow":
        assert c.episode(talk(), tokens=400).summary
    else:
        with pytest.raises(CompactorError) as e:
            c.episode(talk(), tokens=400)
        assert e.value.failures == (code,)
    assert len(provider.requests) == calls


def test_a_fork_that_would_not_fit_is_not_tried_and_one_that_did_not_is_not_tried_again(provider: LocalProvider) -> None:
    made(provider, "openai", window=2_500).over(live("openai", talk())).episode(talk(), tokens=400)
    assert "<transcript>" in instruction(provider.requests[0].body)
    provider.clear()
    provider.window = 3_000
    c = made(provider, "openai", output=500)
    for _ in range(2):
        assert c.over(live("openai", talk())).episode(talk(), tokens=400).summary
    assert [s.status for s in provider.requests] == [400, 200, 200]


def test_messages_that_the_request_does_not_show_are_asked_fresh(provider: LocalProvider) -> None:
    other = live("anthropic", [message(9, {"role": "user", "content": "Something else entirely."})])
    made(provider, "anthropic").over(other).episode(talk(), tokens=400)
    assert "<transcript>" in instruction(provider.requests[0].body) and len(provider.requests) == 1


def test_a_request_of_another_wire_and_a_fresh_compactor_do_not_fork(provider: LocalProvider) -> None:
    c = made(provider, "anthropic")
    assert c.over(live("openai", talk())) is c
    fresh = compactor("anthropic:small-model", client=client_for(provider, "anthropic"))
    assert fresh.over(live("anthropic", talk())) is fresh


def test_a_fork_of_a_compact_is_given_the_one_before_and_keeps_it(provider: LocalProvider) -> None:
    provider.reply = lambda turn: json.dumps({"task": "Limit retries to five", "current_state": "The limit is set"})
    prior = (Item("constraint", "Never deploy on Fridays", weight=2.0, trust="user", at=AT),)
    items = made(provider, "openai").over(live("openai", talk())).compact(talk(), prior=prior, tokens=400)
    assert "Never deploy on Fridays" in [i.text for i in items] and "Never deploy" in instruction(provider.requests[0].body)


def test_a_thinking_budget_of_the_request_is_left_room_for(provider: LocalProvider) -> None:
    request = live("anthropic", talk())
    thinking = LiveRequest(
        request.wire, request.model, {**request.body, "thinking": {"type": "enabled", "budget_tokens": 2_000}, "stream": True}
    )
    made(provider, "anthropic", output=1_000).over(thinking).episode(talk(), tokens=400)
    body = provider.requests[0].body
    assert (body["max_tokens"], body["thinking"]["budget_tokens"]) == (3_000, 2_000) and "stream" not in body


def test_the_request_may_end_with_the_models_words(provider: LocalProvider) -> None:
    messages = talk()[:2]
    made(provider, "anthropic").over(live("anthropic", messages)).episode(messages, tokens=400)
    sent = listed(provider.requests[0].body)
    assert [m["role"] for m in sent] == ["user", "assistant", "user"] and provider.rejected == ()


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("mode", ["flat", "folded"])
def test_an_agent_loop_folds_by_forks_of_its_own_requests(provider: LocalProvider, tmp_path: Path, wire: Wire, mode: Mode) -> None:
    def say(turn: Turn) -> str:
        asked = json.dumps(turn.body, ensure_ascii=False)
        if "Stop here: do not go on" not in asked and "<transcript>" not in asked:
            return f"Done, worker{turn.number} keeps to five retries now."
        return json.dumps(
            {"task": "Limit retries", "summary": "Retries of workers were limited.", "decisions": ["Limit retries of workers to five"]}
        )

    provider.reply, provider.window = say, 12_000
    client = client_for(provider, wire)
    with leporello.open(tmp_path / "m.db", compactor=made(provider, wire, window=12_000, output=400), embedder="hash") as memory:
        with memory.scope().session("s", system="Be careful.", window=12_000, reserve=1_000, mode=mode) as s:
            for n in range(36):
                s.add(f"Limit retries of worker{n} to five. " + "It matters to the billing team. " * 30)
                body = s.request(wire, model="m")
                if wire == "anthropic":
                    s.add(client.messages.create(model="m", max_tokens=400, **body))
                elif wire == "openai":
                    s.add(client.chat.completions.create(model="m", **body))
                else:
                    s.add(client.responses.create(model="m", **body))
            report = s.report()
    forks = [r for r in provider.requests if "Stop here: do not go on" in json.dumps(r.body)]
    assert provider.rejected == () and report.folds >= 2
    assert len(forks) >= 2 and all(r.status == 200 for r in forks)
    assert "Limit retries of workers to five" in json.dumps(provider.requests[-1].body)


# --- compaction by the providers ---


def compacted(*content: dict[str, Any]) -> dict[str, Any]:
    usage = {"input_tokens": 5, "cache_read_input_tokens": 7, "output_tokens": 1}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "stop_reason": "compaction",
        "stop_sequence": None,
        "usage": usage,
        "content": content,
    }


def block(**more: Any) -> dict[str, Any]:
    return {"type": "compaction", **more}


def test_native_compaction_of_anthropic(provider: LocalProvider) -> None:
    provider.reply = lambda turn: compacted(block(content="All that happened.", signature="sig"))
    with metered() as spent:
        native = NativeAnthropic(client_for(provider, "anthropic"), "m").compact(live("anthropic", talk()))
    (held,) = native.blocks
    assert (
        held["role"] == "assistant" and held["content"][0]["content"] == "All that happened." and held["content"][0]["signature"] == "sig"
    )
    body = provider.requests[0].body
    assert body["compaction"] == {"type": "summarize"} and body["messages"] == listed(live("anthropic", talk()).body) and body["system"]
    assert spent == [native.usage] and (native.usage.input, native.usage.cached) == (12, 7)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ([{"type": "text", "text": "No block."}], "empty"),
        ([block(content=None, encrypted_content="x")], "empty"),
        ([block(content="a"), block(content="b")], "bad_schema"),
    ],
)
def test_a_native_compaction_that_failed_is_an_error(provider: LocalProvider, content: list[dict[str, Any]], code: str) -> None:
    provider.reply = lambda turn: compacted(*content)
    with pytest.raises(CompactorError) as e:
        NativeAnthropic(client_for(provider, "anthropic"), "m").compact(live("anthropic", talk()))
    assert e.value.failures == (code,)


def test_native_compaction_of_openai(provider: LocalProvider) -> None:
    with metered() as spent:
        native = NativeOpenAI(client_for(provider, "openai"), "m").compact(live("openai-responses", talk()))
    assert [b["type"] for b in native.blocks] == ["message", "message", "compaction"] and native.blocks[-1]["encrypted_content"]
    assert spent == [native.usage] and native.usage.output == 50


@pytest.mark.parametrize(("native", "wire"), [(NativeAnthropic, "openai"), (NativeOpenAI, "openai"), (NativeOpenAI, "anthropic")])
def test_native_compaction_takes_its_own_wire_only(provider: LocalProvider, native: Any, wire: str) -> None:
    client = client_for(provider, native.wire.split("-")[0])
    with pytest.raises(CompactorError):
        native(client, "m").compact(live(wire, talk()))
    assert provider.requests == ()


def test_an_error_of_native_compaction_is_mapped(provider: LocalProvider) -> None:
    provider.fail("overloaded")
    with pytest.raises(CompactorError) as e:
        NativeAnthropic(client_for(provider, "anthropic"), "m").compact(live("anthropic", talk()))
    assert e.value.failures == ("unreachable",) and e.value.__cause__ is not None

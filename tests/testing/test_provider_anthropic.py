"""The local provider speaks Anthropic Messages: the real SDK is the client."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import anthropic
import pytest

from leporello.testing import LocalProvider, Reply, Turn

USER = {"role": "user", "content": "Read the file."}
SAID = {"role": "assistant", "content": "Done."}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a"}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "text"}
MARK = {"type": "ephemeral"}


@pytest.fixture(scope="module")
def running() -> Iterator[LocalProvider]:
    with LocalProvider() as provider:
        yield provider


@pytest.fixture
def p(running: LocalProvider) -> LocalProvider:
    running.clear()
    running.window, running.windows, running.reply, running.prefill, running.strict = 200_000, {}, None, False, False
    return running


@pytest.fixture
def client(p: LocalProvider) -> Iterator[Any]:
    with p.anthropic() as made:
        yield made


def assistant(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def image(data: str = "aGk=") -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def ask(client: Any, messages: list[Any], **options: Any) -> Any:
    body = {"model": "claude", "max_tokens": 64, **options}
    return client.messages.create(messages=messages, **body)


def test_a_turn_with_tools_is_taken_and_noted(p: LocalProvider, client: Any) -> None:
    p.reply = lambda turn: Reply("Let me look.", calls=[("read", {"path": "ä"}), ("list", {})], thinking="Which file?")
    tools = [{"name": n, "input_schema": {"type": "object"}} for n in ("read", "list")]
    first = ask(client, [USER], tools=tools, system="Be brief.")
    assert [b.type for b in first.content] == ["thinking", "text", "tool_use", "tool_use"]
    assert first.stop_reason == "tool_use" and first.content[2].input == {"path": "ä"}
    p.reply = lambda turn: f"{turn.wire} {turn.model} {len(turn.messages)}"
    results = [{"type": "tool_result", "tool_use_id": b.id, "content": "x"} for b in first.content if b.type == "tool_use"]
    kept = [b.model_dump(exclude_none=True) for b in first.content]
    second = ask(client, [USER, assistant(*kept), user(*results)], tools=tools, system="Be brief.")
    assert second.content[0].text == "anthropic claude 3" and second.stop_reason == "end_turn"
    seen = p.requests
    assert [(s.wire, s.path, s.status, s.error) for s in seen] == [("anthropic", "/v1/messages", 200, "")] * 2
    assert seen[1].tokens == second.usage.input_tokens > seen[0].tokens == first.usage.input_tokens
    assert seen[1].output == second.usage.output_tokens > 0 and seen[1].body["messages"][0] == USER
    assert 0 < seen[0].started < seen[0].ended <= seen[1].started and p.peak == seen[1].tokens and not p.rejected


def test_streams_hold_what_whole_answers_hold(p: LocalProvider, client: Any) -> None:
    said = Reply("word " * 50, calls=[("read", {"path": "a" * 100})], thinking="Hm.", output_tokens=77)
    p.reply = lambda turn: said
    whole = ask(client, [USER])
    body: dict[str, Any] = {"model": "claude", "max_tokens": 64, "messages": [USER]}
    with client.messages.stream(**body) as stream:
        assert "".join(stream.text_stream) == said.text
        streamed = stream.get_final_message()
    raw = [event.type for event in client.messages.create(stream=True, **body)]
    assert raw[:2] == ["message_start", "content_block_start"] and raw[-2:] == ["message_delta", "message_stop"]
    assert [b.model_dump(exclude={"parsed_output"}) for b in streamed.content][:2] == [b.model_dump() for b in whole.content][:2]
    assert streamed.content[2].input == whole.content[2].input and streamed.stop_reason == whole.stop_reason == "tool_use"
    assert streamed.usage.output_tokens == 77 and streamed.usage.input_tokens == whole.usage.input_tokens


def test_the_asynchronous_client(p: LocalProvider) -> None:
    async def talk() -> list[str]:
        async with p.async_anthropic() as client:
            body: dict[str, Any] = {"model": "claude", "max_tokens": 64, "messages": [USER]}
            whole = await client.messages.create(**body)
            async with client.messages.stream(**body) as stream:
                return [whole.content[0].text, await stream.get_final_text()]

    said = asyncio.run(talk())
    assert all(t.startswith("Answer ") for t in said) and len(set(said)) == len(p.requests) == 2


RULES: list[tuple[str, list[Any], dict[str, Any], str]] = [
    ("no message", [], {}, "at least one message is required"),
    ("no model", [USER], {"extra_body": {"model": None}}, "model: Field required"),
    ("no max_tokens", [USER], {"extra_body": {"max_tokens": None}}, "max_tokens: Field required"),
    ("role", [{"role": "tool", "content": "x"}], {}, "messages.0.role: Input should be"),
    ("assistant first", [SAID, USER], {}, 'first message must use the "user" role'),
    ("system first", [{"role": "system", "content": "x"}, USER], {}, "a `system` message must follow a `user` message"),
    ("system after assistant", [USER, SAID, {"role": "system", "content": "x"}, USER], {}, "messages.2: a `system` message must follow"),
    ("empty user", [{"role": "user", "content": ""}], {}, "messages.0: user messages must have non-empty content"),
    ("empty assistant", [USER, assistant(), USER], {}, "messages.1: all messages must have non-empty content"),
    ("no content", [{"role": "user"}], {}, "messages.0.content: Field required"),
    ("odd message", ["hi"], {}, "messages.0: Input should be a valid dictionary"),
    ("odd block", [user("hi")], {}, "messages.0.content.0: Input should be a valid dictionary"),
    ("empty text", [user(text("a"), text(""))], {}, "text content blocks must be non-empty"),
    ("blank text", [user(text(" \n"))], {}, "text content blocks must contain non-whitespace text"),
    ("empty system", [USER], {"system": [text("")]}, "system: text content blocks must be non-empty"),
    ("system type", [USER], {"system": [image()]}, "system.0.type: Input should be 'text'"),
    ("system shape", [USER], {"system": {"a": 1}}, "system: Input should be a valid list"),
    ("max_tokens", [USER], {"max_tokens": 0}, "max_tokens: Input should be greater than or equal to 1"),
    ("max_tokens kind", [USER], {"extra_body": {"max_tokens": "9"}}, "max_tokens: Input should be a valid integer"),
    ("call without result", [USER, assistant(CALL), USER], {}, "messages.1: `tool_use` ids were found without `tool_result` blocks"),
    ("call last", [USER, assistant(CALL)], {}, "`tool_use` ids were found without `tool_result` blocks immediately after: toolu_1"),
    ("result late", [USER, assistant(CALL), user(text("so"), RESULT)], {}, "immediately after: toolu_1"),
    ("result in second turn", [USER, assistant(CALL), USER, user(RESULT)], {}, "immediately after: toolu_1"),
    ("text after call", [USER, assistant(CALL, text("so")), user(RESULT)], {}, "immediately after: toolu_1"),
    ("result without call", [user(RESULT)], {}, "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1"),
    ("result twice", [USER, assistant(CALL), user(RESULT, RESULT)], {}, "each tool_use must have a single result"),
    ("id twice", [USER, assistant(CALL, CALL), user(RESULT)], {}, "`tool_use` ids must be unique"),
    ("id again", [USER, assistant(CALL), user(RESULT)] * 2, {}, "messages.4: `tool_use` ids must be unique"),
    ("result of assistant", [USER, assistant(RESULT)], {}, "`tool_result` blocks can only be in `user` messages"),
    ("call of user", [user(CALL)], {}, "`tool_use` blocks can only be in `assistant` messages"),
    ("id form", [USER, assistant({**CALL, "id": "a b"}), user(RESULT)], {}, "tool_use.id: String should match pattern"),
    ("name form", [USER, assistant({**CALL, "name": "a.b"}), user(RESULT)], {}, "tool_use.name: String should match pattern"),
    ("input form", [USER, assistant({**CALL, "input": "{}"}), user(RESULT)], {}, "tool_use.input: Input should be a valid dictionary"),
    ("tool name", [USER], {"tools": [{"name": "a b", "input_schema": {}}]}, "tools.0.custom.name: String should match pattern"),
    ("tool twice", [USER], {"tools": [{"name": "a", "input_schema": {}}] * 2}, "tools: Tool names must be unique."),
    ("five marks", [user(*[text(str(n), cache_control=MARK) for n in range(5)])], {}, "A maximum of 4 blocks with cache_control may be "
     "provided. Found 5."),
    ("nested mark", [user(*[text(str(n), cache_control=MARK) for n in range(3)]), assistant(CALL), user({**RESULT, "cache_control": MARK,
     "content": [text("x", cache_control=MARK)]})], {}, "Found 5."),
    ("mark on thinking", [USER, assistant({"type": "thinking", "thinking": "x", "signature": "y", "cache_control": MARK}, text("x")), USER],
     {}, "cache_control cannot be set for thinking blocks"),
    ("mark on empty text", [USER, assistant(CALL), user({**RESULT, "content": [text("", cache_control=MARK)]})], {},
     "cache_control cannot be set for empty text blocks"),
    ("prefill", [USER, SAID], {}, "This model does not support assistant message prefill. The conversation must end with a user message."),
    ("101 images", [user(*[image()] * 101)], {}, "too many images"),
    ("large image", [user(image("A" * 7_000_000))], {}, "image exceeds 5 MB maximum: 5250000 bytes > 5242880 bytes"),
    ("bad image", [user(image("not base64!"))], {}, "Invalid base64 data"),
    ("foreign thought", [USER, assistant({"type": "thinking", "thinking": "x", "signature": "y"}, text("z")), USER], {},
     "messages.1.content.0: Invalid `signature` in `thinking` block"),
    ("thought of user", [user({"type": "thinking", "thinking": "x", "signature": "y"})], {}, "`thinking` blocks can only be in"),
    ("both compactions", [USER], {"extra_body": {"compaction": {"type": "summarize"}, "context_management": {"edits": []}}},
     "`compaction` cannot be combined"),
]  # fmt: skip


@pytest.mark.parametrize(("messages", "options", "error"), [pytest.param(*r[1:], id=r[0]) for r in RULES])
def test_a_rule_refuses(p: LocalProvider, client: Any, messages: list[Any], options: dict[str, Any], error: str) -> None:
    with pytest.raises(anthropic.BadRequestError, match=re.escape(error)) as caught:
        ask(client, messages, **options)
    body: Any = caught.value.body
    assert body["type"] == "error" and body["error"]["type"] == "invalid_request_error"
    assert [s.error for s in p.rejected] == [body["error"]["message"]] and p.peak == 0 and p.rejected[0].status == 400


FINE: list[tuple[str, list[Any], dict[str, Any]]] = [
    ("two of the user", [USER, USER], {}),
    ("results, then text", [USER, assistant(text("so"), CALL), user(RESULT, text("go on"))], {}),
    ("a system message after the user's", [USER, {"role": "system", "content": "x"}], {}),
    ("four marks", [user(*[text(str(n), cache_control=MARK) for n in range(4)])], {}),
    ("100 images", [user(*[image()] * 100)], {}),
    ("an unknown field", [USER], {"extra_body": {"house": 1}}),
]


@pytest.mark.parametrize(("messages", "options"), [pytest.param(*r[1:], id=r[0]) for r in FINE])
def test_what_the_rules_allow(client: Any, messages: list[Any], options: dict[str, Any]) -> None:
    assert ask(client, messages, **options).stop_reason == "end_turn"


def test_settings_that_change_rules(p: LocalProvider, client: Any) -> None:
    p.prefill = True
    assert ask(client, [USER, SAID])
    with pytest.raises(anthropic.BadRequestError, match="final assistant content cannot end with trailing whitespace"):
        ask(client, [USER, assistant(text("So "))])
    p.strict = True
    with pytest.raises(anthropic.BadRequestError, match="house: Extra inputs are not permitted"):
        ask(client, [USER], extra_body={"house": 1})
    assert ask(client, [USER], stop_sequences=["x"], system="x", metadata={})


def test_a_body_over_32_megabytes(p: LocalProvider, client: Any) -> None:
    with pytest.raises(anthropic.RequestTooLargeError) as caught:
        ask(client, [user(*[text("a" * 12_000_000)] * 3)])
    assert isinstance(caught.value.body, dict) and caught.value.body["error"]["type"] == "request_too_large"


def test_the_window(p: LocalProvider, client: Any) -> None:
    p.window = 1_000
    p.windows["large"] = 100_000
    words = [{"role": "user", "content": "word " * 1_200}]
    with pytest.raises(anthropic.BadRequestError, match=r"prompt is too long: 1206 tokens > 1000 maximum"):
        ask(client, words)
    with pytest.raises(anthropic.BadRequestError) as caught:
        ask(client, [USER], max_tokens=996)
    counted = client.messages.count_tokens(model="claude", messages=[USER])
    said = "input length and `max_tokens` exceed context limit: {} + 996 > 1000, decrease input length or `max_tokens` and try again"
    assert said.format(counted.input_tokens) in str(caught.value)
    assert ask(client, words, model="large") and p.peak == 1_206
    assert ask(client, [USER], max_tokens=1_000 - counted.input_tokens)


def test_tokens_are_counted_by_the_providers_own_count() -> None:
    with LocalProvider(count=lambda t: len(t), overhead=1_000) as p, p.anthropic() as client:
        short = client.messages.count_tokens(model="m", messages=[{"role": "user", "content": "a"}]).input_tokens
        assert client.messages.count_tokens(model="m", messages=[{"role": "user", "content": "a" * 101}]).input_tokens == short + 100
        assert short > 1_000
        large = client.messages.count_tokens(model="m", messages=[user(image("A" * 400_000))])
        assert 1_500 <= large.input_tokens - 1_000 < 1_520
        assert p.tokens({"messages": [user(image())]}) == large.input_tokens and p.requests == ()


def test_thinking_is_bound_to_what_stood_before_it(p: LocalProvider, client: Any) -> None:
    p.reply = lambda turn: Reply("So it is.", thinking="Let me see.")
    first = [text("One.", cache_control=MARK)]
    answer = ask(client, [user(*first)], system="Be brief.")
    kept = [b.model_dump(exclude_none=True) for b in answer.content]
    more = {"system": "Be brief."}
    assert ask(client, [{"role": "user", "content": "One."}, assistant(*kept), USER], **more)
    bound = "messages.1.content.0: `thinking` block cannot be used here. The block is bound to a different conversation"
    for messages, system in [
        ([user(text("Two.")), assistant(*kept), USER], "Be brief."),
        ([user(*first), assistant(*kept), USER], "Be long."),
    ]:
        with pytest.raises(anthropic.BadRequestError, match=re.escape(bound)):
            ask(client, messages, system=system)
    changed = [{**kept[0], "thinking": "Let me not see."}, kept[1]]
    with pytest.raises(anthropic.BadRequestError, match="in the latest assistant message cannot be modified"):
        ask(client, [user(*first), assistant(*changed), USER], **more)
    with pytest.raises(anthropic.BadRequestError, match="Invalid `signature`"):
        ask(client, [user(*first), assistant(*changed), USER, SAID, USER], **more)
    dropped = {"thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}}
    assert ask(client, [USER, assistant(*kept), USER], extra_body=dropped, **more)


def test_compaction_on_demand(p: LocalProvider, client: Any) -> None:
    def reply(turn: Turn) -> Reply:
        return Reply("The user asked for a file." if "compaction" in turn.body else "Yes.", thinking="Hm.")

    p.reply = reply
    history = [{"role": "user", "content": "word " * 500}, SAID]
    asked: dict[str, Any] = {"model": "claude", "max_tokens": 64}
    made = client.beta.messages.create(messages=history, compaction={"type": "summarize"}, **asked)
    assert made.stop_reason == "compaction" and [b.type for b in made.content] == ["compaction"]
    with client.beta.messages.stream(messages=history, compaction={"type": "summarize"}, **asked) as stream:
        assert [b.content for b in stream.get_final_message().content] == ["The user asked for a file."]
    tail = ask(client, [*history, USER])
    block = made.content[0].model_dump(exclude_none=True)
    kept = [USER, assistant(*[b.model_dump(exclude_none=True) for b in tail.content]), USER]
    answer = client.beta.messages.create(messages=[assistant(block), *kept], **asked)
    assert answer.usage.input_tokens < 100 < tail.usage.input_tokens
    with pytest.raises(anthropic.BadRequestError, match="bound to a different conversation"):
        client.beta.messages.create(messages=[assistant(block), *kept], system="Other.", **asked)
    with pytest.raises(anthropic.BadRequestError, match="Invalid `signature` in `compaction` block"):
        ask(client, [assistant({**block, "content": "Other."}), USER])
    with pytest.raises(anthropic.BadRequestError, match="must come first"):
        ask(client, [USER, assistant(block), USER])
    with pytest.raises(anthropic.BadRequestError, match="at least 1 character"):
        ask(client, [assistant({**block, "content": ""}), USER])


def test_breakpoints_write_and_read_the_cache(p: LocalProvider, client: Any) -> None:
    system = [text("rule " * 2_000, cache_control=MARK)]
    first = ask(client, [USER], system=system).usage
    assert (first.cache_creation_input_tokens, first.cache_read_input_tokens) == (2_003, 0) and first.input_tokens < 20
    second = ask(client, [USER, SAID, user(text("word " * 2_000, cache_control=MARK))], system=system).usage
    assert second.cache_read_input_tokens == 2_003 and second.cache_creation_input_tokens > 2_000 and second.input_tokens == 0
    moved = [USER, SAID, user(text("word " * 2_000)), SAID, user(text("More?", cache_control=MARK))]
    third = ask(client, moved, system="rule " * 2_000).usage
    assert third.cache_read_input_tokens == second.cache_read_input_tokens + second.cache_creation_input_tokens
    assert ask(client, moved, system=[text("other " * 2_000, cache_control=MARK)]).usage.cache_read_input_tokens == 0
    assert ask(client, moved, system=system, model="other").usage.cache_read_input_tokens == 0
    seen = p.requests
    assert p.billed() == sum(s.tokens - s.cached - s.written + 0.1 * s.cached + 1.25 * s.written for s in seen)
    assert p.billed(read=1, write=1) == sum(s.tokens for s in seen) and all(s.cached + s.written <= s.tokens for s in seen)
    p.clear()
    assert p.requests == () and ask(client, [USER], system=system).usage.cache_read_input_tokens == 0


def test_the_cache_has_a_minimum_and_looks_back_20_blocks(p: LocalProvider, client: Any) -> None:
    assert ask(client, [user(text("word " * 1_000, cache_control=MARK))]).usage.cache_creation_input_tokens == 0
    head = text("word " * 1_100)
    assert ask(client, [user({**head, "cache_control": MARK})]).usage.cache_creation_input_tokens == 1_106
    for blocks, read in ((20, 1_106), (21, 0)):
        tail = [text(f"{blocks} {n}") for n in range(blocks)]
        tail[-1]["cache_control"] = MARK
        assert ask(client, [user(head, *tail)]).usage.cache_read_input_tokens == read, blocks
    assert ask(client, [user(head)], cache_control=MARK).usage.cache_read_input_tokens == 1_106

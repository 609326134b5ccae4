"""The local provider speaks OpenAI Chat Completions and Responses: the real SDK is the client."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from leporello.testing import LocalProvider, Reply

USER = {"role": "user", "content": "Read the file."}
CALL = {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
CALLS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "text"}
ITEM_CALL = {"type": "function_call", "call_id": "call_1", "name": "read", "arguments": "{}"}
ITEM_RESULT = {"type": "function_call_output", "call_id": "call_1", "output": "text"}
SEALED = ["reasoning.encrypted_content"]


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
    with p.openai() as made:
        yield made


def chat(client: Any, messages: list[Any], **options: Any) -> Any:
    return client.chat.completions.create(model="gpt", messages=messages, **options)


def respond(client: Any, items: Any, **options: Any) -> Any:
    return client.responses.create(model="gpt", input=items, **options)


def dumped(items: list[Any]) -> list[dict[str, Any]]:
    return [i.model_dump(exclude_none=True, warnings=False) for i in items]  # the SDK types the user's items as the model's


# --- Chat Completions ---


def test_a_chat_with_tools(p: LocalProvider, client: Any) -> None:
    p.reply = lambda turn: Reply("Let me look.", calls=[("read", {"path": "ä"}), ("list", {})], thinking="Which?")
    message = chat(client, [USER]).choices[0]
    assert message.finish_reason == "tool_calls" and message.message.reasoning_content == "Which?"
    assert [(c.function.name, json.loads(c.function.arguments)) for c in message.message.tool_calls] == [
        ("read", {"path": "ä"}),
        ("list", {}),
    ]
    results = [{"role": "tool", "tool_call_id": c.id, "content": "x"} for c in message.message.tool_calls]
    p.reply = lambda turn: f"{turn.wire} {turn.model} {len(turn.messages)}"
    answer = chat(client, [USER, message.message.model_dump(exclude_none=True), *results])
    assert answer.choices[0].message.content == "openai gpt 4" and answer.choices[0].finish_reason == "stop"
    assert p.requests[1].tokens == answer.usage.prompt_tokens == answer.usage.total_tokens - answer.usage.completion_tokens
    assert p.requests[1].path == "/v1/chat/completions" and p.requests[1].output == answer.usage.completion_tokens > 0


def test_a_streamed_chat_holds_what_a_whole_one_holds(p: LocalProvider, client: Any) -> None:
    p.reply = lambda turn: Reply("word " * 50, calls=[("read", {"path": "a" * 100})])
    whole = chat(client, [USER])
    body: dict[str, Any] = {"model": "gpt", "messages": [USER]}
    with client.chat.completions.stream(stream_options={"include_usage": True}, **body) as stream:
        kinds = {event.type for event in stream}
        streamed = stream.get_final_completion()
    assert {"content.delta", "content.done", "tool_calls.function.arguments.delta"} <= kinds
    assert streamed.choices[0].message.content == whole.choices[0].message.content
    assert streamed.choices[0].message.tool_calls[0].function.arguments == whole.choices[0].message.tool_calls[0].function.arguments
    assert streamed.usage == whole.usage and streamed.choices[0].finish_reason == "tool_calls"
    assert all(chunk.usage is None for chunk in client.chat.completions.create(stream=True, **body))


def test_the_asynchronous_client(p: LocalProvider) -> None:
    async def talk() -> list[str]:
        async with p.async_openai() as client:
            said = [(await client.chat.completions.create(model="gpt", messages=[USER])).choices[0].message.content]
            said.append((await client.responses.create(model="gpt", input="hi")).output_text)
            async with client.responses.stream(model="gpt", input="hi") as stream:
                said.append((await stream.get_final_response()).output_text)
            async with client.chat.completions.stream(model="gpt", messages=[USER]) as chunks:
                return [*said, (await chunks.get_final_completion()).choices[0].message.content]

    said = asyncio.run(talk())
    assert all(t.startswith("Answer ") for t in said) and len(set(said)) == len(p.requests) == 4


UNANSWERED = (
    "must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: "
)
ALONE = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'"
TWO = {**CALLS, "tool_calls": [CALL, {**CALL, "id": "call_2"}]}
CHAT_RULES: list[tuple[str, list[Any], str]] = [
    ("no message", [], "Invalid 'messages': empty array"),
    ("odd message", ["hi"], "Invalid type for 'messages[0]'"),
    ("role", [{"role": "bot", "content": "x"}], "Invalid value: 'bot'. Supported values are"),
    ("tool alone", [USER, RESULT], ALONE),
    ("another id", [USER, CALLS, {**RESULT, "tool_call_id": "call_9"}], ALONE),
    ("answered twice", [USER, CALLS, RESULT, RESULT], ALONE),
    ("call last", [USER, CALLS], UNANSWERED + "call_1"),
    ("user between", [USER, CALLS, USER, RESULT], UNANSWERED + "call_1"),
    ("one of two", [USER, TWO, RESULT, USER], UNANSWERED + "call_2"),
    ("ids twice", [USER, {**CALLS, "tool_calls": [CALL, CALL]}, RESULT], "Duplicate tool_call ids in messages[1]"),
    ("calls of user", [{**CALLS, "role": "user", "content": "x"}, RESULT], "Invalid value for 'messages[0].tool_calls'"),
    ("arguments", [USER, {**CALLS, "tool_calls": [{**CALL, "function": {"name": "read", "arguments": {}}}]}, RESULT], "expected a string"),
    ("null", [{"role": "user", "content": None}], "Invalid value for 'content': expected a string, got null. (messages[0])"),
    ("null of assistant", [USER, {"role": "assistant", "content": None}], "expected a string, got null. (messages[1])"),
    ("null of tool", [USER, CALLS, {**RESULT, "content": None}], "expected a string, got null. (messages[2])"),
    ("empty parts", [{"role": "user", "content": []}], "expected one of a string or array of objects"),
    ("odd part", [{"role": "user", "content": ["x"]}], "Invalid value: 'str'"),
    ("part of another format", [{"role": "user", "content": [{"type": "input_text", "text": "x"}]}], "Invalid value: 'input_text'"),
    ("image of assistant", [USER, {"role": "assistant", "content": [{"type": "image_url"}]}], "Invalid value: 'image_url'"),
    ("image of system", [{"role": "system", "content": [{"type": "image_url"}]}, USER], "Invalid value: 'image_url'"),
]


@pytest.mark.parametrize(("messages", "error"), [pytest.param(*r[1:], id=r[0]) for r in CHAT_RULES])
def test_a_chat_rule_refuses(p: LocalProvider, client: Any, messages: list[Any], error: str) -> None:
    with pytest.raises(openai.BadRequestError, match=re.escape(error)) as caught:
        chat(client, messages)
    assert caught.value.type == "invalid_request_error" and [s.status for s in p.rejected] == [400] and error in p.rejected[0].error


def test_what_the_chat_rules_allow(p: LocalProvider, client: Any) -> None:
    parts = [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}]
    both = [RESULT, {**RESULT, "tool_call_id": "call_2"}]
    fine = [{"role": "developer", "content": "x"}, USER, {"role": "user", "content": parts}, TWO, *reversed(both)]
    assert chat(client, fine, extra_body={"house": 1})
    p.strict = True
    assert chat(client, fine, temperature=1, max_completion_tokens=9, store=False)
    with pytest.raises(openai.BadRequestError, match="Unrecognized request argument supplied: house"):
        chat(client, fine, extra_body={"house": 1})


def test_the_window_of_a_chat(p: LocalProvider, client: Any) -> None:
    p.window = 1_000
    with pytest.raises(openai.BadRequestError) as caught:
        chat(client, [{"role": "user", "content": "word " * 1_200}])
    said = (
        "maximum context length is 1000 tokens. However, your messages resulted in 1206 tokens. Please reduce the length of the messages."
    )
    assert said in str(caught.value) and caught.value.code == "context_length_exceeded" and caught.value.param == "messages"
    with pytest.raises(openai.BadRequestError, match="you requested 1010 tokens"):
        chat(client, [USER], max_completion_tokens=1_000)
    p.windows["gpt"] = 2_000
    assert chat(client, [{"role": "user", "content": "word " * 1_200}])


def test_the_cache_of_a_chat_reads_the_longest_common_prefix_in_steps(client: Any) -> None:
    system = {"role": "system", "content": "rule " * 3_000}
    usage = [chat(client, [system, *more]).usage for more in ([USER], [USER, {"role": "assistant", "content": "x"}, USER])]
    assert usage[0].prompt_tokens_details.cached_tokens == 0 and usage[0].prompt_tokens_details.cache_write_tokens == 2_944
    assert usage[1].prompt_tokens_details.cached_tokens == 2_944
    inside = chat(
        client, [{"role": "system", "content": "rule " * 2_000 + "other " * 2_000}, USER]
    ).usage.prompt_tokens_details.cached_tokens
    assert 1_600 < inside <= 2_000 and inside % 128 == 0
    assert chat(client, [{"role": "system", "content": "other " * 2_000}, USER]).usage.prompt_tokens_details.cached_tokens == 0
    for _ in range(2):
        assert chat(client, [{"role": "user", "content": "few " * 1_000}]).usage.prompt_tokens_details.cached_tokens == 0


# --- Responses ---


def test_responses_with_tools_and_reasoning(p: LocalProvider, client: Any) -> None:
    p.reply = lambda turn: Reply("Let me look.", calls=[("read", {"path": "ä"})], thinking="Which?")
    first = respond(client, "hi", include=SEALED)
    assert [i.type for i in first.output] == ["reasoning", "message", "function_call"] and first.output_text == "Let me look."
    assert first.output[0].encrypted_content and respond(client, "hi").output[0].encrypted_content is None
    result = {"type": "function_call_output", "call_id": first.output[2].call_id, "output": "x"}
    p.reply = lambda turn: f"{turn.wire} {turn.model} {len(turn.messages)}"
    second = respond(client, [{"role": "user", "content": "hi"}, *dumped(first.output), result])
    assert second.output_text == "openai-responses gpt 5" and second.status == "completed"
    assert p.requests[2].tokens == second.usage.input_tokens and p.requests[2].path == "/v1/responses"
    third = respond(client, [result], previous_response_id=first.id)
    assert third.output_text == "openai-responses gpt 5" and third.usage.input_tokens == second.usage.input_tokens


def test_a_streamed_response_holds_what_a_whole_one_holds(p: LocalProvider, client: Any) -> None:
    said = Reply("word " * 50, calls=[("read", {"path": "a" * 100})], thinking="Hm.")
    p.reply = lambda turn: said
    whole = respond(client, "hi")
    with client.responses.stream(model="gpt", input="hi") as stream:
        kinds = [event.type for event in stream]
        streamed = stream.get_final_response()
    assert kinds[:3] == ["response.created", "response.in_progress", "response.output_item.added"] and kinds[-1] == "response.completed"
    assert streamed.output_text == whole.output_text == said.text and streamed.usage == whole.usage
    assert streamed.output[2].arguments == whole.output[2].arguments
    numbers = [event.sequence_number for event in client.responses.create(model="gpt", input="hi", stream=True)]
    assert numbers == list(range(len(kinds)))


NOBODY = "Item 'rs_1' of type 'reasoning' was provided without its required following item."
RULES: list[tuple[str, list[Any], str]] = [
    ("nothing", [], "Missing required parameter: 'input'."),
    ("odd item", ["hi"], "Invalid type for 'input'"),
    ("call without output", [USER, ITEM_CALL], "No tool output found for function call call_1."),
    ("output without call", [USER, ITEM_RESULT], "No tool call found for function call output with call_id call_1."),
    ("output before call", [USER, ITEM_RESULT, ITEM_CALL], "No tool call found for function call output with call_id call_1."),
    ("call twice", [USER, ITEM_CALL, ITEM_RESULT, ITEM_CALL, ITEM_RESULT], "Duplicate function call with call_id call_1"),
    ("role", [{"role": "tool", "content": "x"}], "Invalid value: 'tool'. Supported values are"),
    ("content", [{"role": "user", "content": None}], "Invalid type for 'input[0].content'"),
    ("part of another format", [{"role": "user", "content": [{"type": "text", "text": "x"}]}], "Invalid value: 'text'"),
    ("part of another role", [{"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}], "Invalid value: 'input_text'"),
    ("reference", [USER, {"type": "item_reference", "id": "msg_9"}], "Item with id 'msg_9' not found."),
    ("reasoning of others", [USER, {"type": "reasoning", "id": "rs_9", "summary": []}, USER], "Item with id 'rs_9' not found."),
    ("reasoning last", [USER, {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}], NOBODY),
    ("reasoning before user", [USER, {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}, USER], NOBODY),
    ("compaction of others", [{"type": "compaction", "encrypted_content": "x"}, USER], "could not be verified"),
]


@pytest.mark.parametrize(("items", "error"), [pytest.param(*r[1:], id=r[0]) for r in RULES])
def test_a_responses_rule_refuses(p: LocalProvider, client: Any, items: list[Any], error: str) -> None:
    with pytest.raises(openai.BadRequestError, match=re.escape(error)) as caught:
        respond(client, items)
    assert caught.value.type == "invalid_request_error" and [s.status for s in p.rejected] == [400] and error in p.rejected[0].error


def test_reasoning_and_what_it_led_to_stay_together(p: LocalProvider, client: Any) -> None:
    p.reply = lambda turn: Reply("So it is.", thinking="Hm.")
    thought, said = dumped(respond(client, "hi", store=False, include=SEALED).output)
    other = dumped(respond(client, "hi").output)[1]
    assert respond(client, [USER, thought, said, USER])
    assert respond(client, [USER, {k: v for k, v in said.items() if k != "id"}, USER])
    with pytest.raises(
        openai.BadRequestError, match=f"'{said['id']}' of type 'message' was provided without its required 'reasoning' item"
    ):
        respond(client, [USER, said, USER])
    with pytest.raises(openai.BadRequestError, match="was provided without its required following item"):
        respond(client, [USER, thought, other, USER])
    with pytest.raises(openai.BadRequestError, match=f"Item with id '{said['id']}' not found"):  # it was not stored
        respond(client, [USER, {"type": "item_reference", "id": said["id"]}, USER])
    p.reply = None
    stored = dumped(respond(client, "hi").output)[0]
    assert respond(client, [USER, {"type": "item_reference", "id": stored["id"]}, USER])


def test_previous_responses(p: LocalProvider, client: Any) -> None:
    for lost in ("resp_9", respond(client, "hi", store=False).id):
        with pytest.raises(openai.BadRequestError, match=f"Previous response with id '{lost}' not found") as caught:
            respond(client, "hi", previous_response_id=lost)
        assert caught.value.code == "previous_response_not_found"


def test_a_model_is_needed(client: Any) -> None:
    for create in (chat, respond):
        with pytest.raises(openai.BadRequestError, match="you must provide a model parameter"):
            create(client, [USER], extra_body={"model": None})


def test_strict_responses(p: LocalProvider, client: Any) -> None:
    assert respond(client, "hi", extra_body={"house": 1})
    p.strict = True
    assert respond(client, "hi", instructions="x", reasoning={"effort": "low"})
    with pytest.raises(openai.BadRequestError, match="Unknown parameter: 'house'") as caught:
        respond(client, "hi", extra_body={"house": 1})
    assert (caught.value.code, caught.value.param) == ("unknown_parameter", "house")


def test_the_window_of_a_response(p: LocalProvider, client: Any) -> None:
    p.window = 1_000
    for items, most in (("word " * 1_200, None), ("hi", 1_000)):
        with pytest.raises(openai.BadRequestError, match="Your input exceeds the context window of this model") as caught:
            respond(client, items, max_output_tokens=most)
        assert caught.value.code == "context_length_exceeded"
    assert respond(client, "hi", max_output_tokens=900)


def test_the_cache_of_a_response(client: Any) -> None:
    first, second = (respond(client, "hi", instructions="rule " * 3_000).usage.input_tokens_details for _ in range(2))
    assert (first.cached_tokens, first.cache_write_tokens) == (0, 2_944) and (second.cached_tokens, second.cache_write_tokens) == (2_944, 0)


def test_compaction_of_a_response(p: LocalProvider, client: Any) -> None:
    history = [USER, {"role": "assistant", "content": "word " * 2_000}, {"role": "user", "content": "And now?"}]
    made = client.responses.compact(model="gpt", input=history)
    assert [i.type for i in made.output] == ["message", "message", "compaction"] and made.object == "response.compaction"
    assert made.usage.input_tokens > 2_000 and p.requests[0].path == "/v1/responses/compact"
    answer = respond(client, [*dumped(list(made.output)), USER])
    assert answer.usage.input_tokens < 100
    with pytest.raises(openai.BadRequestError, match="No tool output found"):
        client.responses.compact(model="gpt", input=[USER, ITEM_CALL])

"""The OpenAI formats, Chat Completions and Responses: their rules with their texts, their answers whole and streamed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from leporello.testing.provider.model import Refusal, Reply, Usage

_ROLES = {"system", "developer", "user", "assistant", "tool", "function"}
_TOO_LONG = "context_length_exceeded"
_CHAT_FIELDS = frozenset(
    "audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens messages metadata modalities "
    "model moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention "
    "reasoning_effort response_format safety_identifier seed service_tier stop store stream stream_options temperature tool_choice "
    "tools top_logprobs top_p user verbosity web_search_options".split()
)
_RESPONSES_FIELDS = frozenset(
    "background context_management conversation include input instructions max_output_tokens max_tool_calls metadata model moderation "
    "parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_options prompt_cache_retention reasoning "
    "safety_identifier service_tier store stream stream_options temperature text tool_choice tools top_logprobs top_p truncation "
    "user".split()
)
_CALLS = {"function_call", "custom_tool_call"}
_KEPT = {"message", "function_call", "custom_tool_call", "reasoning", "web_search_call", "file_search_call", "mcp_call"}


def check_chat(body: Mapping[str, Any]) -> None:
    """Raises `Refusal` for what Chat Completions refuses, the window apart."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise Refusal("Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.")
    waiting: list[str] = []
    for i, message in enumerate(messages):
        if not isinstance(message, Mapping):
            raise Refusal(f"Invalid type for 'messages[{i}]': expected an object.", param=f"messages[{i}]")
        role = message.get("role")
        if role not in _ROLES:
            raise Refusal(
                f"Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'."
            )
        if role == "tool":
            if message.get("tool_call_id") not in waiting:
                raise Refusal("Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
            _content(i, message)
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            raise _unanswered(waiting)
        _content(i, message)
        waiting = _calls(i, message)
    if waiting:
        raise _unanswered(waiting)


def _calls(i: int, message: Mapping[str, Any]) -> list[str]:
    calls = message.get("tool_calls") or ()
    if calls and message["role"] != "assistant":
        raise Refusal(f"Invalid value for 'messages[{i}].tool_calls'.")
    if not all(isinstance((c.get("function") or c.get("custom") or {}).get("arguments", ""), str) for c in calls):
        raise Refusal(f"Invalid type for 'messages[{i}].tool_calls[0].function.arguments': expected a string.")
    ids = [str(c.get("id")) for c in calls]
    if len(set(ids)) != len(ids):
        raise Refusal(f"Duplicate tool_call ids in messages[{i}].")
    return ids


def _unanswered(waiting: Sequence[str]) -> Refusal:
    return Refusal(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following "
        f"tool_call_ids did not have response messages: {', '.join(waiting)}",
        param="messages",
    )


def _content(i: int, message: Mapping[str, Any]) -> None:
    content = message.get("content")
    if content is None:
        if message.get("role") == "assistant" and (message.get("tool_calls") or message.get("refusal")):
            return
        text = f"Invalid value for 'content': expected a string, got null. (messages[{i}])"
        raise Refusal(text, param=f"messages.[{i}].content")
    if isinstance(content, str):
        return
    if not isinstance(content, list) or not content:
        raise Refusal(f"Invalid type for 'messages[{i}].content': expected one of a string or array of objects.")
    allowed = {"assistant": {"text", "refusal"}, "user": {"text", "image_url", "input_audio", "file"}}.get(str(message["role"]), {"text"})
    for part in content:
        if _kind(part) not in allowed:
            raise Refusal(f"Invalid value: '{_kind(part)}'. Supported values are: {', '.join(sorted(allowed))}. (messages[{i}])")


def _kind(part: Any) -> str:
    return str(part.get("type")) if isinstance(part, Mapping) else type(part).__name__


def check_names(body: Mapping[str, Any], wire: str) -> None:
    """Raises `Refusal` for a field that the API does not have."""
    unknown = [k for k in body if k not in (_CHAT_FIELDS if wire == "openai" else _RESPONSES_FIELDS)]
    if unknown and wire == "openai":
        raise Refusal(f"Unrecognized request argument supplied: {unknown[0]}")
    if unknown:
        raise Refusal(f"Unknown parameter: '{unknown[0]}'.", code="unknown_parameter", param=unknown[0])


class Ledger:
    """What a Responses server remembers: the items that it gave out, which of them belong together, and stored responses."""

    def __init__(self) -> None:
        self.items: dict[str, Mapping[str, Any]] = {}
        self.follower: dict[str, str] = {}
        self.thought: dict[str, str] = {}
        self.conversations: dict[str, list[Mapping[str, Any]]] = {}

    def clear(self) -> None:
        """Forgets everything."""
        for held in (self.items, self.follower, self.thought, self.conversations):
            held.clear()

    def note(self, body: Mapping[str, Any], made: Mapping[str, Any]) -> None:
        """Remembers an answer. What was asked for with `store=False` cannot be referred to later; its pairs hold all the same."""
        output = [i for i in made.get("output", ()) if i.get("id")]
        for first, second in zip(output, output[1:], strict=False):
            if first.get("type") == "reasoning":
                self.follower[str(first["id"])], self.thought[str(second["id"])] = str(second["id"]), str(first["id"])
        if body.get("store") is not False:
            self.items.update((str(i["id"]), i) for i in output)
            self.conversations[str(made.get("id"))] = [*self.whole(body), *output]

    def whole(self, body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """The input with what `previous_response_id` stands for before it and with references replaced by their items."""
        previous, before = body.get("previous_response_id"), []
        if previous is not None:
            if previous not in self.conversations:
                text = f"Previous response with id '{previous}' not found."
                raise Refusal(text, code="previous_response_not_found", param="previous_response_id")
            before = self.conversations[str(previous)]
        return [*before, *map(self._found, items_of(body))]

    def _found(self, item: Mapping[str, Any]) -> Mapping[str, Any]:
        if not isinstance(item, Mapping):
            raise Refusal("Invalid type for 'input': expected an array of objects.", param="input")
        name = str(item.get("id"))
        bare_thought = item.get("type") == "reasoning" and item.get("id") and not item.get("encrypted_content")
        if item.get("type") == "item_reference" or bare_thought:
            if name not in self.items:
                raise Refusal(f"Item with id '{name}' not found.", param="input")
            return self.items[name] if item.get("type") == "item_reference" else item
        return item


def check_responses(items: Sequence[Mapping[str, Any]], ledger: Ledger) -> None:
    """Raises `Refusal` for what Responses refuses. `items` is the whole input, references replaced."""
    if not items:
        raise Refusal("Missing required parameter: 'input'.", code="missing_required_parameter", param="input")
    outputs = {str(i.get("call_id")) for i in items if str(i.get("type", "")).endswith("call_output")}
    calls: set[str] = set()
    for n, item in enumerate(items):
        kind = str(item.get("type", "message"))
        _pair(n, items, ledger)
        if kind in _CALLS:
            if str(item.get("call_id")) in calls:
                raise Refusal(f"Duplicate function call with call_id {item.get('call_id')}.", param="input")
            calls.add(str(item.get("call_id")))
            if str(item.get("call_id")) not in outputs:
                raise Refusal(f"No tool output found for function call {item.get('call_id')}.", param="input")
        elif kind.endswith("call_output"):
            if str(item.get("call_id")) not in calls:
                raise Refusal(f"No tool call found for function call output with call_id {item.get('call_id')}.", param="input")
        elif kind == "message":
            _message_item(n, item)
        elif kind == "compaction" and not str(item.get("encrypted_content", "")).startswith("local-"):
            raise Refusal("The encrypted content for the compaction item could not be verified.", code="invalid_encrypted_content")


def _pair(n: int, items: Sequence[Mapping[str, Any]], ledger: Ledger) -> None:
    """Reasoning stands before the item that it led to, and that item, if it carries its id, after its reasoning."""
    item = items[n]
    name, kind = str(item.get("id")), str(item.get("type", "message"))
    after = items[n + 1] if n + 1 < len(items) else {}
    if kind == "reasoning":
        led = str(after.get("type", "message")) in _KEPT and after.get("role", "assistant") == "assistant" and bool(after)
        if not led or (after.get("id") and after["id"] != ledger.follower.get(name, after["id"])):
            raise Refusal(f"Item '{name}' of type 'reasoning' was provided without its required following item.", param="input")
    elif item.get("id") and name in ledger.thought:
        thought = ledger.thought[name]
        if n == 0 or items[n - 1].get("id") != thought:
            text = f"Item '{name}' of type '{kind}' was provided without its required 'reasoning' item: '{thought}'."
            raise Refusal(text, param="input")


def _message_item(n: int, item: Mapping[str, Any]) -> None:
    if item.get("role") not in {"user", "assistant", "system", "developer"}:
        raise Refusal(
            f"Invalid value: '{item.get('role')}'. Supported values are: 'assistant', 'system', 'developer', and 'user'. (input[{n}])"
        )
    content = item.get("content")
    allowed = {"output_text", "refusal"} if item["role"] == "assistant" else {"input_text", "input_image", "input_file", "input_audio"}
    if not isinstance(content, (str, list)):
        raise Refusal(f"Invalid type for 'input[{n}].content'.")
    for part in content if isinstance(content, list) else ():
        if _kind(part) not in allowed:
            raise Refusal(f"Invalid value: '{_kind(part)}'. Supported values are: {', '.join(sorted(allowed))}. (input[{n}])")


def items_of(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The input as items."""
    held = body.get("input", ())
    return [{"role": "user", "content": held}] if isinstance(held, str) else list(held or ())


def check_chat_window(tokens: int, body: Mapping[str, Any], window: int) -> None:
    """Raises `Refusal` for a request that is over the window, alone or with the answer that it asks for."""
    most = body.get("max_completion_tokens") or body.get("max_tokens") or 0
    if tokens + most > window:
        said = f"your messages resulted in {tokens} tokens" if tokens > window else f"you requested {tokens + most} tokens"
        text = f"This model's maximum context length is {window} tokens. However, {said}. Please reduce the length of the messages."
        raise Refusal(text, code=_TOO_LONG, param="messages")


def check_responses_window(tokens: int, body: Mapping[str, Any], window: int) -> None:
    """The same for Responses, whose text names no numbers."""
    if tokens + (body.get("max_output_tokens") or 0) > window:
        text = "Your input exceeds the context window of this model. Please adjust your input and try again."
        raise Refusal(text, code=_TOO_LONG, param="input")


def chat(reply: Reply, body: Mapping[str, Any], usage: Usage, number: int) -> dict[str, Any]:
    """The reply as a chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None, "refusal": None}
    if reply.stop == "refusal":
        message |= {"content": None, "refusal": reply.text}
    if reply.thinking:
        message["reasoning_content"] = reply.thinking
    if reply.calls:
        message["tool_calls"] = [
            {"id": f"call_{number:06d}_{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(dict(given))}}
            for n, (name, given) in enumerate(reply.calls)
        ]
    stop = {"max_tokens": "length", "refusal": "stop"}.get(reply.stop or "", reply.stop) or ("tool_calls" if reply.calls else "stop")
    return {
        "id": f"chatcmpl-{number:08d}", "object": "chat.completion", "created": 1_700_000_000, "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": stop, "logprobs": None}], "usage": _chat_usage(usage),
    }  # fmt: skip


def _chat_usage(u: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": u.input, "completion_tokens": u.output, "total_tokens": u.input + u.output,
        "prompt_tokens_details": {"cached_tokens": u.cached, "cache_write_tokens": u.written, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }  # fmt: skip


def chat_events(whole: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[str]:
    """The completion as server-sent events."""
    choice = whole["choices"][0]
    message = choice["message"]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    text = message["content"] or ""
    deltas += [{"content": text[n : n + 40]} for n in range(0, len(text), 40)]
    for key in ("reasoning_content", "refusal"):
        if message.get(key):
            deltas.append({key: message[key]})
    for n, call in enumerate(message.get("tool_calls", ())):
        given = call["function"]["arguments"]
        deltas.append({"tool_calls": [{"index": n, **call, "function": {**call["function"], "arguments": ""}}]})
        deltas += [{"tool_calls": [{"index": n, "function": {"arguments": given[k : k + 40]}}]} for k in range(0, len(given), 40)]
    head = {"id": whole["id"], "object": "chat.completion.chunk", "created": whole["created"], "model": whole["model"]}
    for delta in deltas:
        yield _data({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    yield _data({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    if (body.get("stream_options") or {}).get("include_usage"):
        yield _data({**head, "choices": [], "usage": whole["usage"]})
    yield "data: [DONE]\n\n"


def responses(reply: Reply, body: Mapping[str, Any], usage: Usage, number: int) -> dict[str, Any]:
    """The reply as a response."""
    output: list[dict[str, Any]] = [dict(b) for b in reply.blocks]
    if reply.thinking:
        summary = [{"type": "summary_text", "text": reply.thinking}]
        sealed = "reasoning.encrypted_content" in (body.get("include") or ())
        output.append(
            {"type": "reasoning", "id": f"rs_{number:08d}", "summary": summary, "encrypted_content": f"local-{number}" if sealed else None}
        )
    if reply.text:
        kind = (
            {"type": "refusal", "refusal": reply.text}
            if reply.stop == "refusal"
            else {"type": "output_text", "text": reply.text, "annotations": []}
        )
        output.append({"type": "message", "id": f"msg_{number:08d}", "role": "assistant", "status": "completed", "content": [kind]})
    for n, (name, given) in enumerate(reply.calls):
        call = {"type": "function_call", "id": f"fc_{number:06d}_{n}", "call_id": f"call_{number:06d}_{n}", "name": name}
        output.append({**call, "arguments": json.dumps(dict(given)), "status": "completed"})
    cut = reply.stop == "max_tokens"
    return {
        "id": f"resp_{number:08d}", "object": "response", "created_at": 1_700_000_000, "model": body["model"], "output": output,
        "status": "incomplete" if cut else "completed", "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "error": None, "instructions": None, "metadata": {}, "parallel_tool_calls": True, "temperature": 1.0, "tool_choice": "auto",
        "tools": [], "top_p": 1.0, "usage": responses_usage(usage),
    }  # fmt: skip


def responses_usage(u: Usage) -> dict[str, Any]:
    """The usage of a response."""
    return {
        "input_tokens": u.input, "output_tokens": u.output, "total_tokens": u.input + u.output,
        "input_tokens_details": {"cached_tokens": u.cached, "cache_write_tokens": u.written},
        "output_tokens_details": {"reasoning_tokens": 0},
    }  # fmt: skip


def responses_events(whole: Mapping[str, Any]) -> Iterator[str]:
    """The response as server-sent events."""
    made: list[dict[str, Any]] = [{"type": "response.created", "response": {**whole, "output": [], "status": "in_progress", "usage": None}}]
    made.append({**made[0], "type": "response.in_progress"})
    for n, item in enumerate(whole["output"]):
        made += _item_events(n, item)
    end = "response.completed" if whole["status"] == "completed" else "response.incomplete"
    made.append({"type": end, "response": dict(whole)})
    for number, event in enumerate(made):
        yield f"event: {event['type']}\n" + _data({**event, "sequence_number": number})


def _item_events(n: int, item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    place = {"output_index": n, "item_id": item.get("id", "")}
    if item["type"] == "message":
        yield {"type": "response.output_item.added", "output_index": n, "item": {**item, "content": [], "status": "in_progress"}}
        for c, part in enumerate(item["content"]):
            at = {**place, "content_index": c}
            if part["type"] == "output_text":
                yield {"type": "response.content_part.added", **at, "part": {**part, "text": ""}}
                text = part["text"]
                for k in range(0, len(text), 40):
                    yield {"type": "response.output_text.delta", **at, "delta": text[k : k + 40], "logprobs": []}
                yield {"type": "response.output_text.done", **at, "text": text, "logprobs": []}
            else:
                yield {"type": "response.content_part.added", **at, "part": {**part, "refusal": ""}}
                yield {"type": "response.refusal.delta", **at, "delta": part["refusal"]}
                yield {"type": "response.refusal.done", **at, "refusal": part["refusal"]}
            yield {"type": "response.content_part.done", **at, "part": dict(part)}
    elif item["type"] == "function_call":
        yield {"type": "response.output_item.added", "output_index": n, "item": {**item, "arguments": "", "status": "in_progress"}}
        given = item["arguments"]
        for k in range(0, len(given), 40):
            yield {"type": "response.function_call_arguments.delta", **place, "delta": given[k : k + 40]}
        yield {"type": "response.function_call_arguments.done", **place, "arguments": item["arguments"], "name": item["name"]}
    else:
        yield {"type": "response.output_item.added", "output_index": n, "item": dict(item)}
    yield {"type": "response.output_item.done", "output_index": n, "item": dict(item)}


def _data(value: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(value)}\n\n"


def compacted(items: Sequence[Mapping[str, Any]], usage: Usage, number: int) -> dict[str, Any]:
    """What `/responses/compact` answers: the user's messages, and one item that stands for the rest."""
    kept = [dict(i) for i in items if str(i.get("type", "message")) == "message" and i.get("role") == "user"]
    for n, item in enumerate(kept):
        held = item.get("content")
        content = [{"type": "input_text", "text": held}] if isinstance(held, str) else held
        kept[n] = {"type": "message", "id": f"msg_{number:06d}_{n}", "role": "user", "status": "completed", "content": content}
    stand_in = {"type": "compaction", "id": f"cmp_{number:08d}", "encrypted_content": f"local-{number}-{len(items)}"}
    return {
        "id": f"resp_{number:08d}", "object": "response.compaction", "created_at": 1_700_000_000, "output": [*kept, stand_in],
        "usage": responses_usage(usage),
    }  # fmt: skip


def error(refusal: Refusal) -> dict[str, Any]:
    """The body of an error."""
    return {"error": {"message": refusal.text, "type": refusal.kind, "param": refusal.param, "code": refusal.code}}

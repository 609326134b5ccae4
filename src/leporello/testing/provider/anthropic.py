"""The Anthropic Messages format: its rules with their texts, its answers whole and streamed."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from types import NoneType
from typing import Any

from leporello.testing.provider.caching import as_blocks, bare
from leporello.testing.provider.model import Refusal, Reply, Usage

_KEY = b"leporello local provider"
_ID = re.compile(r"^[a-zA-Z0-9_-]+$")
_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,128}$")
_MARKS, _IMAGES, _IMAGE_BYTES, _BODY_BYTES = 4, 100, 5 * 1024 * 1024, 32 * 1024 * 1024
_THINKING = {"thinking", "redacted_thinking"}
_FIELDS = frozenset(
    "billing_policy cache_control compaction container context_management diagnostics fallback_credit_token fallbacks inference_geo "
    "max_tokens mcp_servers messages metadata model output_config output_format service_tier speed stop_sequences stream system "
    "thinking thread tool_choice tools user_profile_id betas".split()
)


def check(body: Mapping[str, Any], *, size: int, prefill: bool) -> None:
    """Raises `Refusal` for what the API refuses, the window apart."""
    if size > _BODY_BYTES:
        raise Refusal("Request exceeds the maximum size", status=413, kind="request_too_large")
    if not isinstance(body.get("model"), str):
        raise Refusal("model: Field required")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise Refusal("messages: at least one message is required")
    if isinstance(body.get("max_tokens"), bool) or not isinstance(body.get("max_tokens"), int):
        raise Refusal("max_tokens: Field required" if body.get("max_tokens") is None else "max_tokens: Input should be a valid integer")
    if body["max_tokens"] < 1:
        raise Refusal("max_tokens: Input should be greater than or equal to 1")
    _tools(body)
    _shapes(body)
    for i, message in enumerate(messages):
        _message(i, message, "" if i == 0 else str(messages[i - 1]["role"]))
    if messages[0]["role"] != "user" and not _begins_compacted(messages):
        raise Refusal('messages: first message must use the "user" role')
    _pairs(messages)
    _marks(body)
    _media(messages)
    _compactions(body)
    _thoughts(body)
    if not body.get("compaction"):
        _ending(messages[-1], prefill=prefill)


def check_names(body: Mapping[str, Any]) -> None:
    """Raises `Refusal` for a field that the API does not have."""
    if unknown := [k for k in body if k not in _FIELDS]:
        raise Refusal(f"{unknown[0]}: Extra inputs are not permitted")


def _shapes(body: Mapping[str, Any]) -> None:
    """Messages and blocks are objects, content is a text or a list of blocks."""
    if not isinstance(body.get("system"), (str, list, NoneType)):
        raise Refusal("system: Input should be a valid list")
    for j, block in enumerate(as_blocks(body.get("system"))):
        if not isinstance(block, Mapping) or block.get("type") != "text":
            raise Refusal(f"system.{j}.type: Input should be 'text'")
        if not block.get("text"):
            raise Refusal("system: text content blocks must be non-empty")
    for i, message in enumerate(body["messages"]):
        if not isinstance(message, Mapping):
            raise Refusal(f"messages.{i}: Input should be a valid dictionary or object to extract fields from")
        if not isinstance(message.get("content"), (str, list)):
            raise Refusal(f"messages.{i}.content: {'Field required' if message.get('content') is None else 'Input should be a valid list'}")
        for j, block in enumerate(blocks(message)):
            if not isinstance(block, Mapping):
                raise Refusal(f"messages.{i}.content.{j}: Input should be a valid dictionary or object to extract fields from")


def _tools(body: Mapping[str, Any]) -> None:
    names = [str(t.get("name")) for t in body.get("tools") or () if isinstance(t, Mapping)]
    if len(set(names)) != len(body.get("tools") or ()):
        raise Refusal("tools: Tool names must be unique.")
    for n, tool in enumerate(body.get("tools") or ()):
        if tool.get("type", "custom") == "custom" and not _NAME.match(str(tool.get("name", ""))):
            raise Refusal(f"tools.{n}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")


def _ending(message: Mapping[str, Any], *, prefill: bool) -> None:
    """The last message is the user's, unless a prefill is allowed, or the model paused."""
    last = blocks(message)[-1]
    if message["role"] != "assistant" or last.get("type") in {"server_tool_use", "mcp_tool_use"}:
        return
    if not prefill:
        raise Refusal("This model does not support assistant message prefill. The conversation must end with a user message.")
    if last.get("type") == "text" and str(last.get("text", "")) != str(last.get("text", "")).rstrip():
        raise Refusal("messages: final assistant content cannot end with trailing whitespace")


def check_window(tokens: int, body: Mapping[str, Any], window: int) -> None:
    """Raises `Refusal` for a request that is over the window, alone or with the answer that it asks for."""
    if tokens > window:
        raise Refusal(f"prompt is too long: {tokens} tokens > {window} maximum")
    most = body["max_tokens"]
    if tokens + most > window:
        raise Refusal(
            f"input length and `max_tokens` exceed context limit: {tokens} + {most} > {window}, "
            "decrease input length or `max_tokens` and try again"
        )


def blocks(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The content as blocks."""
    return as_blocks(message.get("content"))


def _message(i: int, message: Mapping[str, Any], previous: str) -> None:
    role = message.get("role")
    if role not in {"user", "assistant", "system"}:
        raise Refusal(f"messages.{i}.role: Input should be 'user', 'assistant' or 'system'")
    if role == "system" and previous != "user":
        raise Refusal(f"messages.{i}: a `system` message must follow a `user` message; use the top-level `system` parameter for the first")
    held = blocks(message)
    if not held or held == [{"type": "text", "text": ""}]:
        if role == "assistant":
            raise Refusal(f"messages.{i}: all messages must have non-empty content except for the optional final assistant message")
        raise Refusal(f"messages.{i}: {role} messages must have non-empty content")
    for j, block in enumerate(held):
        kind = block.get("type")
        if kind == "text" and not str(block.get("text", "")).strip():
            raise Refusal(f"messages: text content blocks must {'contain non-whitespace text' if block.get('text') else 'be non-empty'}")
        if kind == "tool_use":
            _tool_use(f"messages.{i}.content.{j}", block, str(message["role"]))
        if kind == "tool_result" and message["role"] != "user":
            raise Refusal(f"messages.{i}: `tool_result` blocks can only be in `user` messages")
        if kind in _THINKING and message["role"] != "assistant":
            raise Refusal(f"messages.{i}: `thinking` blocks can only be in `assistant` messages")


def _tool_use(where: str, block: Mapping[str, Any], role: str) -> None:
    if role != "assistant":
        raise Refusal(f"{where}: `tool_use` blocks can only be in `assistant` messages")
    if not isinstance(block.get("input"), Mapping):
        raise Refusal(f"{where}.tool_use.input: Input should be a valid dictionary")
    if not _ID.match(str(block.get("id", ""))):
        raise Refusal(f"{where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
    if not _NAME.match(str(block.get("name", ""))):
        raise Refusal(f"{where}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")


def _pairs(messages: Sequence[Mapping[str, Any]]) -> None:
    seen: set[str] = set()
    for i, message in enumerate(messages):
        held = blocks(message)
        calls = [str(b["id"]) for b in held if b.get("type") == "tool_use"]
        if twice := [c for c in calls if c in seen or calls.count(c) > 1]:
            raise Refusal(f"messages.{i}: `tool_use` ids must be unique: {twice[0]}")
        seen.update(calls)
        if calls:
            _answered(i, messages, held, calls)
        previous = blocks(messages[i - 1]) if i else []
        open_calls = {str(b["id"]) for b in previous if b.get("type") == "tool_use"}
        results = [str(b.get("tool_use_id")) for b in held if b.get("type") == "tool_result"]
        for n, result in enumerate(results):
            if result not in open_calls:
                raise Refusal(
                    f"messages.{i}.content.{n}: unexpected `tool_use_id` found in `tool_result` blocks: {result}. Each `tool_result` "
                    "block must have a corresponding `tool_use` block in the previous message."
                )
            if results.count(result) > 1:
                raise Refusal(
                    f"messages.{i}.content.{n}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {result}"
                )


def _answered(i: int, messages: Sequence[Mapping[str, Any]], held: Sequence[Mapping[str, Any]], calls: Sequence[str]) -> None:
    following = blocks(messages[i + 1]) if i + 1 < len(messages) else []
    first = []
    for block in following:
        if block.get("type") != "tool_result":
            break
        first.append(str(block.get("tool_use_id")))
    after = [b for b in held[[b.get("type") for b in held].index("tool_use") :] if b.get("type") == "text"]
    missing = [c for c in calls if c not in first] or (calls if after else [])
    if missing:
        raise Refusal(
            f"messages.{i}: `tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(missing)}. Each "
            "`tool_use` block must have a corresponding `tool_result` block in the next message."
        )


def _marks(body: Mapping[str, Any]) -> None:
    system = body.get("system")
    places = [*(body.get("tools") or ()), *(system if isinstance(system, list) else ())]
    for message in body["messages"]:
        places += _within(message)
    marked = [p for p in places if p.get("cache_control") is not None]
    marked += [body] if body.get("cache_control") is not None else []
    if len(marked) > _MARKS:
        raise Refusal(f"A maximum of 4 blocks with cache_control may be provided. Found {len(marked)}.")
    for block in marked:
        if block.get("type") in _THINKING:
            raise Refusal("cache_control cannot be set for thinking blocks")
        if block.get("type") == "text" and not block.get("text"):
            raise Refusal("cache_control cannot be set for empty text blocks")


def _media(messages: Sequence[Mapping[str, Any]]) -> None:
    images = [(i, b) for i, m in enumerate(messages) for b in _within(m) if b.get("type") == "image"]
    if len(images) > _IMAGES:
        raise Refusal(f"messages: too many images and documents: {len(images)} + 0 > {_IMAGES}")
    for i, image in images:
        source = image.get("source") or {}
        if source.get("type") != "base64":
            continue
        data = str(source.get("data", ""))
        size = len(data) * 3 // 4 - data[-2:].count("=")
        if size > _IMAGE_BYTES:
            raise Refusal(f"messages.{i}.image.source.base64: image exceeds 5 MB maximum: {size} bytes > {_IMAGE_BYTES} bytes")
        try:
            base64.b64decode(data[:400], validate=True)
        except (binascii.Error, ValueError):
            raise Refusal(f"messages.{i}.image.source.base64.data: Invalid base64 data") from None


def _within(message: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for block in blocks(message):
        yield block
        if isinstance(block.get("content"), list):
            yield from (b for b in block["content"] if isinstance(b, Mapping))


def _thoughts(body: Mapping[str, Any]) -> None:
    """A thinking block is bound to what stood before it, and to its own text."""
    before = _states(body)
    latest = max((i for i, m in enumerate(body["messages"]) if m["role"] == "assistant"), default=-1)
    binding = (body.get("thinking") or {}).get("block_binding") or {}
    for i, message in enumerate(body["messages"]):
        for j, block in enumerate(blocks(message)):
            if block.get("type") != "thinking":
                continue
            where = f"messages.{i}.content.{j}"
            text, _, prefix = str(block.get("signature", "")).removeprefix("local.").partition(".")
            altered = text != _mac(prefix, str(block.get("thinking", "")))
            if not str(block.get("signature", "")).startswith("local.") or (altered and i != latest):
                raise Refusal(f"{where}: Invalid `signature` in `thinking` block")
            if altered:
                raise Refusal(
                    f"{where}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks "
                    "must remain as they were in the original response."
                )
            if prefix != before[i] and binding.get("prefix_mismatch_behavior") != "drop_block":
                raise Refusal(f"{where}: `thinking` block cannot be used here. The block is bound to a different conversation.")


def signed(text: str, body: Mapping[str, Any]) -> str:
    """The signature of a thinking block that answers this request."""
    prefix = _states(body)[-1]
    return f"local.{_mac(prefix, text)}.{prefix}"


def _states(body: Mapping[str, Any]) -> list[str]:
    """A digest of all that stands before each message, and of the whole: system, tools, earlier messages, without breakpoints."""
    head = _head(body)
    states = [head]
    for i, message in enumerate(body["messages"]):
        held = blocks(message)
        summed = _summed(held[0]) if i == 0 and len(held) == 1 and held[0].get("type") == "compaction" else None
        if summed is not None and summed[0] == head:  # the tail goes on from where the summary ends
            states.append(summed[1])
        else:
            states.append(_mac(states[-1], _text([message["role"], bare(held)])))
    return states


def _head(body: Mapping[str, Any]) -> str:
    return _mac(_text([bare(as_blocks(body.get("system"))), bare(body.get("tools") or [])]))


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True, default=str)


def _mac(*texts: str) -> str:
    return hmac.new(_KEY, "\x00".join(texts).encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:32]


def _compactions(body: Mapping[str, Any]) -> None:
    if body.get("compaction") and body.get("context_management"):
        raise Refusal("`compaction` cannot be combined with `context_management`")
    for i, message in enumerate(body["messages"]):
        for j, block in enumerate(blocks(message)):
            if block.get("type") != "compaction":
                continue
            where = f"messages.{i}.content.{j}"
            if block.get("content") == "":
                raise Refusal(f"{where}.compaction.content: String should have at least 1 character")
            if block.get("signature") is not None and _summed(block) is None:
                raise Refusal(f"{where}: Invalid `signature` in `compaction` block", code="compaction_signature_invalid")
            if block.get("signature") is not None and (i or j):
                raise Refusal(f"{where}: a signed `compaction` block must come first in `messages`", code="compaction_block_misplaced")


def _summed(block: Mapping[str, Any]) -> tuple[str, str] | None:
    """The digests of head and conversation that a signed compaction block stands for; None if the signature is not this server's."""
    parts = str(block.get("signature", "")).split(".")
    if len(parts) != 3 or parts[2] != _mac(parts[0], parts[1], str(block.get("content"))):
        return None
    return parts[0], parts[1]


def _begins_compacted(messages: Sequence[Mapping[str, Any]]) -> bool:
    return blocks(messages[0])[0].get("type") == "compaction"


def answer(reply: Reply, body: Mapping[str, Any], usage: Usage, number: int) -> dict[str, Any]:
    """The reply as a message."""
    content: list[dict[str, Any]] = [dict(b) for b in reply.blocks]
    if (body.get("compaction") or {}).get("type") == "summarize":
        content, stop = [_compaction(reply.text, body, number)], "compaction"
    else:
        if reply.thinking:
            content.append({"type": "thinking", "thinking": reply.thinking, "signature": signed(reply.thinking, body)})
        if reply.text:
            content.append({"type": "text", "text": reply.text})
        content += [
            {"type": "tool_use", "id": f"toolu_{number:06d}_{n}", "name": name, "input": dict(given)}
            for n, (name, given) in enumerate(reply.calls)
        ]
        stop = reply.stop or ("tool_use" if reply.calls else "end_turn")
    return {
        "id": f"msg_{number:08d}", "type": "message", "role": "assistant", "model": body["model"], "content": content, "stop_reason": stop,
        "stop_sequence": None, "usage": usage_of(usage),
    }  # fmt: skip


def usage_of(u: Usage) -> dict[str, Any]:
    """The usage of a message; its input tokens are those that neither came from the cache nor went into it."""
    return {
        "input_tokens": u.input - u.cached - u.written, "output_tokens": u.output, "cache_read_input_tokens": u.cached,
        "cache_creation_input_tokens": u.written,
        "cache_creation": {"ephemeral_5m_input_tokens": u.written, "ephemeral_1h_input_tokens": 0},
    }  # fmt: skip


def _compaction(text: str, body: Mapping[str, Any], number: int) -> dict[str, Any]:
    head, state, content = _head(body), _states(body)[-1], text or None
    signature = f"{head}.{state}.{_mac(head, state, str(content))}"
    return {"type": "compaction", "content": content, "encrypted_content": f"local-{number}", "signature": signature, "tool_changes": []}


def events(message: Mapping[str, Any]) -> Iterator[str]:
    """The message as server-sent events."""
    begun = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    yield _event("message_start", {"message": begun})
    for i, block in enumerate(message["content"]):
        yield from _block_events(i, block)
    usage = {k: v for k, v in message["usage"].items() if k != "cache_creation"}
    yield _event("message_delta", {"delta": {"stop_reason": message["stop_reason"], "stop_sequence": None}, "usage": usage})
    yield _event("message_stop", {})


def _block_events(i: int, block: Mapping[str, Any]) -> Iterator[str]:
    kind = block["type"]
    empties: dict[str, dict[str, Any]] = {
        "text": {"text": ""},
        "thinking": {"thinking": "", "signature": ""},
        "tool_use": {"input": {}},
        "compaction": {"content": None},
    }
    empty = empties.get(kind, {})
    yield _event("content_block_start", {"index": i, "content_block": {**block, **empty}})
    deltas: list[dict[str, Any]] = []
    if kind == "text":
        text = block["text"]
        deltas = [{"type": "text_delta", "text": text[n : n + 40]} for n in range(0, len(text), 40)]
    elif kind == "thinking":
        deltas = [{"type": "thinking_delta", "thinking": block["thinking"]}, {"type": "signature_delta", "signature": block["signature"]}]
    elif kind == "tool_use":
        text = json.dumps(block["input"])
        deltas = [{"type": "input_json_delta", "partial_json": t} for t in ("", text[: len(text) // 2], text[len(text) // 2 :])]
    elif kind == "compaction":
        deltas = [{"type": "compaction_delta", "content": block["content"], "encrypted_content": block["encrypted_content"]}]
    for delta in deltas:
        yield _event("content_block_delta", {"index": i, "delta": delta})
    yield _event("content_block_stop", {"index": i})


def _event(name: str, data: Mapping[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n"


def error(refusal: Refusal) -> dict[str, Any]:
    """The body of an error."""
    held: dict[str, Any] = {"type": refusal.kind, "message": refusal.text}
    if refusal.code is not None and refusal.status == 400:
        held["details"] = {"error_code": refusal.code}
    return {"type": "error", "error": held, "request_id": None}

"""One normal form for the messages of every wire format: role, parts, searchable text.

Understood: Anthropic Messages blocks, OpenAI Chat messages (`tool_calls`, role `tool`, legacy `function_call`) and
OpenAI Responses items. What is not understood becomes a part of kind `other` and is kept verbatim in the message.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from leporello.errors import BadMessage
from leporello.records import Message, Part

_TEXT = {"text", "input_text", "output_text", "refusal", "summary_text", "reasoning_text"}
MEDIA = {"image", "image_url", "input_image", "document", "file", "input_file", "audio", "input_audio", "video", "computer_screenshot"}
_THINKING = {"thinking", "redacted_thinking", "reasoning"}
_CALL_ITEMS = {"function_call", "custom_tool_call", "local_shell_call", "computer_call", "tool_search_call"}
_DONE_ITEMS = {"web_search_call", "file_search_call", "mcp_call", "code_interpreter_call", "image_generation_call", "mcp_list_tools"}
_RESULT_ROLES = {"tool", "function", "toolResult"}
_USER_SIDE = {"user", "system", "developer", *_RESULT_ROLES}


def role_of(original: Mapping[str, Any]) -> str:
    """user, assistant, tool, system, developer, or another role as it stands. Responses items have a role by their type."""
    role = original.get("role")
    if isinstance(role, str) and role:
        return role
    kind = original.get("type")
    if isinstance(kind, str):
        if kind in _CALL_ITEMS or kind in _DONE_ITEMS or kind in _THINKING:
            return "assistant"
        if kind.endswith("_output"):
            return "tool"
        if kind.endswith(("_call", "_request", "_list_tools")) or kind == "compaction":
            return "assistant"
        if kind.endswith("_response"):
            return "tool"
        if kind == "agent_message":  # what another agent sends to this one
            return "user"
        if kind in {"user", "assistant", "system"}:
            return kind
    raise BadMessage(f"A message needs a role; this one has the keys {', '.join(map(str, original))[:200] or '(none)'}.")


def is_user_side(role: str) -> bool:
    """True for what goes to the model (user, tool, system, developer); False for what the model says."""
    return role in _USER_SIDE


def parts_of(original: Mapping[str, Any]) -> tuple[Part, ...]:
    """The parts in order, each with its place in `text_of(original)`."""
    out: list[Part] = []
    place = 0
    for part in _raw(original):
        shown = _shown(part)
        if shown:
            place += 1 if place else 0
            out.append(_placed(part, place, place + len(shown)))
            place += len(shown)
        else:
            out.append(_placed(part, place, place))
    return tuple(out)


def text_of(original: Mapping[str, Any]) -> str:
    """The searchable text: parts on lines of their own; a call as `name arguments`; thinking and media add nothing."""
    return "\n".join(s for s in map(_shown, _raw(original)) if s)


def parts(message: Message) -> tuple[Part, ...]:
    """The parts of a stored message."""
    return parts_of(message.original)


def _placed(part: Part, start: int, end: int) -> Part:
    return Part(part.kind, part.text, part.id, part.name, part.error, start, end)


def _shown(part: Part) -> str:
    if part.kind in {"text", "result", "other"}:
        return part.text
    if part.kind == "call":
        return f"{part.name} {part.text}".strip()
    return ""


def _raw(original: Mapping[str, Any]) -> Iterator[Part]:
    kind = original.get("type")
    role = original.get("role")
    if isinstance(kind, str) and role is None and (kind in _CALL_ITEMS | _DONE_ITEMS | _THINKING or kind.endswith("_output")):
        yield _block(original)
        return
    if role in _RESULT_ROLES:
        call_id = original.get("tool_call_id", original.get("toolCallId", original.get("name", "")))
        name = original.get("name", original.get("toolName"))
        yield Part("result", _flat(original.get("content")), str(call_id or ""), str(name or ""), bool(original.get("isError")))
    else:
        yield from _content(original.get("content"))
    for call in _seq(original.get("tool_calls")):
        if isinstance(call, Mapping):
            yield _tool_call(call)
    legacy = original.get("function_call")
    if isinstance(legacy, Mapping):
        yield Part("call", _flat(legacy.get("arguments")), str(legacy.get("name") or ""), str(legacy.get("name") or ""))


def _tool_call(call: Mapping[str, Any]) -> Part:
    body = call.get("function", call.get("custom"))
    if not isinstance(body, Mapping):
        body = call
    return Part("call", _flat(body.get("arguments", body.get("input"))), str(call.get("id") or ""), str(body.get("name") or ""))


def _content(content: object) -> Iterator[Part]:
    if isinstance(content, str):
        if content:
            yield Part("text", content)
        return
    for block in _seq(content):
        if isinstance(block, str):
            yield Part("text", block)
        elif isinstance(block, Mapping):
            yield _block(block)
        elif block is not None:
            yield Part("other", json.dumps(block, ensure_ascii=False, default=str))


def _block(block: Mapping[str, Any]) -> Part:
    kind = str(block.get("type") or "")
    if kind in _TEXT or (not kind and isinstance(block.get("text"), str)):
        return Part("text", _flat(block.get("text", block.get("refusal"))))
    if kind in _THINKING:
        return Part("thinking", _flat(block.get("thinking", block.get("summary", block.get("content")))))
    if kind in _CALL_ITEMS or kind.endswith("tool_use") or kind in {"tool_call", "toolCall"}:
        call_id = block.get("call_id", block.get("id"))
        given = block.get("input", block.get("arguments", block.get("action")))
        return Part("call", _flat(given), str(call_id or ""), str(block.get("name") or kind))
    if kind.endswith(("tool_result", "_output", "_tool_result_error")):
        call_id = block.get("tool_use_id", block.get("call_id", block.get("id")))
        return Part("result", _flat(block.get("content", block.get("output"))), str(call_id or ""), "", bool(block.get("is_error")))
    if kind in MEDIA:
        return Part("media", "", name=kind)
    return Part("other", _strings(block), name=kind)


def _seq(value: object) -> Iterable[Any]:
    return value if isinstance(value, (list, tuple)) else ()


def _flat(value: object) -> str:
    """The text of a value: strings as they are, text blocks joined, other JSON values dumped without escapes."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)) and value and all(isinstance(v, Mapping) and "type" in v for v in value):
        return "\n".join(t for t in (_shown(_block(v)) for v in value) if t)
    return json.dumps(value, ensure_ascii=False, default=str)


def _strings(value: object, depth: int = 0) -> str:
    """The strings of an unknown block that look like text, so that it can still be found."""
    if depth > 6:
        return ""
    if isinstance(value, str):
        return value if len(value) < 10_000 or " " in value[:200] else ""
    if isinstance(value, Mapping):
        return "\n".join(t for k, v in value.items() if k != "type" and (t := _strings(v, depth + 1)))
    if isinstance(value, (list, tuple)):
        return "\n".join(t for v in value if (t := _strings(v, depth + 1)))
    return ""

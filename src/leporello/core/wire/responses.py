"""The `input` items of an OpenAI Responses request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from leporello.core.wire.exchanges import Exchange, exchanges
from leporello.core.wire.items import Answer, Call, Dialect, Item
from leporello.core.wire.media import IMAGES, Media
from leporello.core.wire.pieces import NO_CAPS, Caps, Sent, bare, scrub

NAMES = 64
_IDS = 64
_DONE = frozenset({"web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call", "mcp_list_tools"})


def for_responses(messages: Sequence[Sent | Mapping[str, Any]], *, caps: Caps = NO_CAPS, head: str = "") -> list[dict[str, Any]]:
    """`[{"role", "content": [parts]} | {"type": "function_call", …} | {"type": "function_call_output", …}, …]`: `input` items.

    Reasoning items, items of tools that OpenAI ran, and item ids go out only where `Sent.thinking` allows it, reasoning together
    with the item that follows it. `head` is user text that always goes first.
    """
    originals = [m.original if isinstance(m, Sent) else m for m in messages]
    out: list[dict[str, Any]] = []
    for e in exchanges(messages, _DIALECT, caps=caps, head=head):
        out += [_output(a) for a in e.answers]
        out += _items(e, originals)
    return out


def _items(e: Exchange, originals: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for (at, message, native), group in groupby(e.items, key=lambda i: (i.at, i.kind in {"text", "refusal", "media"}, i.native)):
        items = list(group)
        if message:
            original = originals[at] if at >= 0 else {}
            out.append(_message(items, e.user, original if native and not e.user else {}, original))
        else:
            out += [_call(i.call, i) if i.call is not None else dict(i.raw) for i in items]
    return out


def _message(items: Sequence[Item], user: bool, native: Mapping[str, Any], original: Mapping[str, Any]) -> dict[str, Any]:
    """One message; with its id and status where `native` is a stored message item."""
    phase = {"phase": original["phase"]} if not user and original.get("phase") in {"commentary", "final_answer"} else {}
    if native.get("type") == "message" and isinstance(native.get("id"), str):
        content = [_said(i) | ({} if i.kind == "refusal" else {"annotations": _annotations(i)}) for i in items]
        head = {"type": "message", "id": scrub(native["id"]), "role": "assistant", "status": str(native.get("status") or "completed")}
        return head | {"content": content} | phase
    return {"role": "user" if user else "assistant", "content": [_heard(i) if user else _said(i) for i in items]} | phase


def _annotations(item: Item) -> list[Any]:
    held = item.raw.get("annotations")
    return list(bare({"held": held})["held"]) if isinstance(held, list) else []


def _said(item: Item) -> dict[str, Any]:
    return {"type": "refusal", "refusal": item.text} if item.kind == "refusal" else {"type": "output_text", "text": item.text}


def _heard(item: Item) -> dict[str, Any]:
    return dict(item.raw) if item.kind == "media" else {"type": "input_text", "text": item.text}


def _call(call: Call, item: Item) -> dict[str, Any]:
    held = item.raw if str(item.raw.get("type")) in {"function_call", "custom_tool_call"} else {}
    known = held if item.native else {}
    more = {k: scrub(str(known[k])) for k in ("id",) if known.get(k)}
    more |= {"namespace": scrub(str(held["namespace"]))} if held.get("namespace") else {}
    if call.custom:
        return {"type": "custom_tool_call", **more, "call_id": call.id, "name": call.name, "input": call.text}
    return {"type": "function_call", **more, "call_id": call.id, "name": call.name, "arguments": call.json}


def _output(answer: Answer) -> dict[str, Any]:
    kind = "custom_tool_call_output" if answer.call.custom else "function_call_output"
    output: str | list[dict[str, Any]] = answer.text
    error = "Error: " if answer.error else ""
    if any(i.kind == "media" for i in answer.items):
        output = [_heard(i) for i in answer.items]
    elif error:
        output = error + answer.text
    return {"type": kind, "call_id": answer.call.id, "output": output}


def _media(media: Media) -> dict[str, Any] | None:
    """An input_image or input_file part; None for what Responses does not take."""
    if media.kind == "image":
        if media.raw.get("type") == "input_image" and (media.data or media.url or media.file):
            return bare(media.raw)
        url = media.data_url if media.data and media.mime in IMAGES else media.url
        if media.home == "openai-responses" and media.file and not url:
            return bare({"type": "input_image", "detail": "auto", "file_id": media.file})
        return bare({"type": "input_image", "detail": "auto", "image_url": url}) if url else None
    if media.home == "openai-responses" and (media.data or media.url or media.file):
        return bare(media.raw)
    return _file(media) if media.kind in {"document", "file"} else None


def _file(media: Media) -> dict[str, Any] | None:
    if media.file and media.home == "openai":
        return bare({"type": "input_file", "file_id": media.file})
    if media.data and media.mime == "application/pdf":
        return bare({"type": "input_file", "filename": media.title or "document.pdf", "file_data": media.data_url})
    return bare({"type": "input_file", "file_url": media.url}) if media.url else None


def _thinks(raw: Mapping[str, Any]) -> bool:
    return raw.get("type") == "reasoning" and isinstance(raw.get("id"), str) and isinstance(raw.get("summary"), (list, tuple))


_DIALECT = Dialect("openai-responses", NAMES, _IDS, _media, _thinks, done=_DONE, bound=True)

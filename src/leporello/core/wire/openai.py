"""The messages of an OpenAI Chat Completions request, also for servers that speak it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from leporello.core.wire.exchanges import Exchange, exchanges
from leporello.core.wire.items import Answer, Dialect, Item
from leporello.core.wire.media import IMAGES, Media
from leporello.core.wire.pieces import NO_CAPS, Caps, Sent, bare

NAMES = 64
_IDS = 40


def for_openai(messages: Sequence[Sent | Mapping[str, Any]], *, caps: Caps = NO_CAPS, head: str = "") -> list[dict[str, Any]]:
    """`[{"role": "user" | "assistant" | "tool", "content": …}, …]`: the `messages` of a Chat request, without the system message.

    Content is one string where it is all text (texts on paragraphs of their own: many servers take no lists), otherwise a list
    of parts. Media of a result follow in a user message after all results. `head` is user text that always goes first.
    """
    out: list[dict[str, Any]] = []
    for e in exchanges(messages, _DIALECT, caps=caps, head=head):
        out += [_tool(a) for a in e.answers]
        if e.user:
            parts = [p for a in e.answers for p in _shown_after(a)] + [_part(i) for i in e.items]
            out += [{"role": "user", "content": _content(parts)}] if parts else []
        else:
            out.append(_assistant(e))
    return out


def _assistant(e: Exchange) -> dict[str, Any]:
    calls = [_call(i) for i in e.items if i.call is not None]
    said = [i for i in e.items if i.call is None]
    out: dict[str, Any] = {"role": "assistant", "content": _content([{"type": "text", "text": i.text} for i in said]) or None}
    if len(said) == 1 and said[0].kind == "refusal":
        out["content"] = [{"type": "refusal", "refusal": said[0].text}]
    return out | {"tool_calls": calls} if calls else out


def _call(item: Item) -> dict[str, Any]:
    call = item.call
    assert call is not None
    if call.custom:
        return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": call.text}}
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.json}}


def _tool(answer: Answer) -> dict[str, Any]:
    texts = [answer.text] if answer.text else []
    if any(i.kind == "media" for i in answer.items):
        texts.append(f"[{_media_words(answer)}: shown in the user message below]")
    text = "\n".join(texts)
    return {"role": "tool", "tool_call_id": answer.call.id, "content": f"Error: {text}" if answer.error else text}


def _media_words(answer: Answer) -> str:
    kinds = [str(i.raw.get("type")).removesuffix("_url") for i in answer.items if i.kind == "media"]
    return ", ".join(kinds)


def _shown_after(answer: Answer) -> list[dict[str, Any]]:
    media = [dict(i.raw) for i in answer.items if i.kind == "media"]
    return [{"type": "text", "text": f"[From the result of {answer.call.name} {answer.call.id}:]"}, *media] if media else []


def _part(item: Item) -> dict[str, Any]:
    return dict(item.raw) if item.kind == "media" else {"type": "text", "text": item.text}


def _content(parts: Iterable[Mapping[str, Any]]) -> str | list[dict[str, Any]]:
    held = [dict(p) for p in parts]
    return "\n\n".join(p["text"] for p in held) if all(p["type"] == "text" for p in held) else held


def _media(media: Media) -> dict[str, Any] | None:
    """An image_url, file or input_audio part; None for what Chat does not take."""
    if media.kind == "image":
        if media.home == "openai" and (media.data or media.url):
            return bare(media.raw)
        url = media.data_url if media.data and media.mime in IMAGES else media.url
        return bare({"type": "image_url", "image_url": {"url": url}}) if url else None
    if media.home == "openai" and (media.data or media.file):
        return bare(media.raw)
    if media.kind in {"document", "file"}:
        if media.file and media.home == "openai-responses":
            return bare({"type": "file", "file": {"file_id": media.file}})
        if media.data and media.mime == "application/pdf":
            return bare({"type": "file", "file": {"filename": media.title or "document.pdf", "file_data": media.data_url}})
    return None


def _thinks(raw: Mapping[str, Any]) -> bool:
    return False


_DIALECT = Dialect("openai", NAMES, _IDS, _media, _thinks)

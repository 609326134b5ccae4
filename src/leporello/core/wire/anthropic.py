"""The messages of an Anthropic Messages request."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

from leporello.core.wire.exchanges import exchanges
from leporello.core.wire.items import Answer, Dialect, Item
from leporello.core.wire.media import IMAGES, Media, plain_text
from leporello.core.wire.pieces import NO_CAPS, Caps, Sent, bare

NAMES = 128
_IDS = 256
_BREAKPOINTS = 2


def for_anthropic(
    messages: Sequence[Sent | Mapping[str, Any]], *, caps: Caps = NO_CAPS, head: str = "", breakpoints: bool = False
) -> list[dict[str, Any]]:
    """`[{"role": "user" | "assistant", "content": [blocks]}, …]`: the `messages` of an Anthropic request.

    The sides alternate from a user message; system messages inside become user text. In a user message the results of the calls
    before stand first; in an assistant message text stands before calls. `head` is user text that always goes first.
    The last message is the user's, except after a paused turn (an open call of a tool that the provider runs).
    `breakpoints` marks the last block of the last two user messages with `cache_control`.
    """
    out: list[dict[str, Any]] = []
    served: set[str] = set()
    for e in exchanges(messages, _DIALECT, caps=caps, head=head):
        served |= {str(i.raw.get("id")) for i in e.items if i.pauses}
        content: list[dict[str, Any]] = [_result(a) for a in e.answers] + [_block(i, served) for i in e.items]
        out.append({"role": "user" if e.user else "assistant", "content": content})
    if breakpoints:
        for message in [m for m in out if m["role"] == "user"][-_BREAKPOINTS:]:
            message["content"][-1]["cache_control"] = {"type": "ephemeral"}
    return out


def _result(answer: Answer) -> dict[str, Any]:
    blocks = [_block(i) for i in answer.items]
    whole = len(blocks) == 1 and blocks[0]["type"] == "text" and not isinstance(answer.raw.get("content"), list)
    out = {"type": "tool_result", "tool_use_id": answer.call.id, "content": blocks[0]["text"] if whole else blocks}
    return out | {"is_error": True} if answer.error else out


def _caller(item: Item, served: Container[str]) -> dict[str, Any]:
    """Which code that the provider runs made this call, where that code's own call goes out too."""
    caller = item.raw.get("caller")
    known = isinstance(caller, Mapping) and caller.get("tool_id") in served
    return bare({"caller": caller}) if known else {}


def _block(item: Item, served: Container[str] = ()) -> dict[str, Any]:
    if item.kind in {"text", "refusal"}:
        cited = item.raw.get("citations") if item.raw.get("type") == "text" else None
        text = {"type": "text", "text": item.text}
        return text | {"citations": bare({"citations": cited})["citations"]} if isinstance(cited, list) and cited else text
    if item.call is not None:
        return {"type": "tool_use", "id": item.call.id, "name": item.call.name, "input": item.call.input, **_caller(item, served)}
    return dict(item.raw)


def _media(media: Media) -> dict[str, Any] | None:
    """An image or document block; None for what Anthropic does not take."""
    if media.home == "anthropic" and (media.url or media.file or media.kind == "document" and not media.data):
        return bare(media.raw)
    if media.kind == "image":
        source = _source(media, media.mime in IMAGES)
        return _same(media, source) if source else None
    if media.kind not in {"document", "file"}:
        return None
    if media.data and media.mime.startswith("text/"):
        text = plain_text(media)
        source = {"type": "text", "media_type": "text/plain", "data": text} if text else None
    else:
        source = _source(media, media.mime == "application/pdf")
    title = {"title": media.title} if media.title and source else {}
    return _same(media, source, kind="document", **title) if source else None


def _same(media: Media, source: Mapping[str, Any], *, kind: str = "image", **more: Any) -> dict[str, Any]:
    return bare(media.raw) if media.home == "anthropic" else bare({"type": kind, "source": source, **more})


def _source(media: Media, taken: bool) -> dict[str, Any] | None:
    if media.data:
        return {"type": "base64", "media_type": media.mime, "data": media.data} if taken else None
    return {"type": "url", "url": media.url} if media.url.startswith(("https://", "http://")) else None


def _thinks(raw: Mapping[str, Any]) -> bool:
    """Signed thinking only: the API refuses any other."""
    held = raw.get("signature") if raw.get("type") == "thinking" else raw.get("data") if raw.get("type") == "redacted_thinking" else None
    return isinstance(held, str) and bool(held)


_DIALECT = Dialect("anthropic", NAMES, _IDS, _media, _thinks, kept=frozenset({"search_result"}), server=True)

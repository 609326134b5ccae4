"""What goes into a request, and the pieces that a logged message is made of: each with the provider's own block beside it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leporello.core.blocks import MEDIA, parts_of
from leporello.records import Part

_NO_LIMIT = 2**62
_DEEPEST = 150
_RESULT_ROLES = {"tool", "function", "toolResult"}
_SERVER_USES = {"server_tool_use", "mcp_tool_use"}


@dataclass(frozen=True)
class Sent:
    """One logged message as it is to go out.

    `id` is the message's id: it names what was left out, as `ID#n` with n the index of the part in
    `core.blocks.parts_of(original)`. `thinking`: its signed thinking, reasoning items and provider item ids may go out.
    `media`: its media may go out, except the `skipped` first; otherwise a stub with an id stands there. `beside`: recalled memory that stands beside the
    text of this user message, as a text of its own after it. `clear`: its tool results are shown as stubs only.
    """

    original: Mapping[str, Any]
    id: str = ""
    thinking: bool = False
    media: bool = True
    skipped: int = 0
    beside: str = ""
    clear: bool = False


@dataclass(frozen=True)
class Caps:
    """The most tokens (`core.tokens.estimate`) of one piece; what is longer is shown as head and tail with an id.

    `call` holds for the arguments of one call: long strings inside are clipped and the JSON object stays valid.
    `media_bytes` is of decoded base64; what is larger becomes a stub.
    """

    result: int = 8_000
    text: int = 20_000
    call: int = 20_000
    media_bytes: int = 5_000_000


NO_CAPS = Caps(_NO_LIMIT, _NO_LIMIT, _NO_LIMIT, _NO_LIMIT)


@dataclass(frozen=True)
class Piece:
    """A part of a message, its index among the parts, and what the provider wrote: a block, a call, an item, or a text."""

    n: int
    part: Part
    raw: Mapping[str, Any]

    @property
    def type(self) -> str:
        return str(self.raw.get("type") or "")

    @property
    def server_use(self) -> bool:
        return self.part.kind == "call" and self.type in _SERVER_USES

    @property
    def server_result(self) -> bool:
        return self.part.kind == "result" and self.type != "tool_result" and self.type.endswith("_tool_result")


def media_count(original: Mapping[str, Any]) -> int:
    """How many images, documents and the like a message holds, those inside of tool results too."""
    content = original.get("content", original.get("output"))
    if not isinstance(content, (list, tuple)):
        return 0
    return sum(_media_in(block) for block in content)


def _media_in(block: object) -> int:
    if not isinstance(block, Mapping):
        return 0
    if block.get("type") in MEDIA:
        return 1
    inner = block.get("content")
    return sum(_media_in(b) for b in inner) if isinstance(inner, (list, tuple)) else 0


def pieces_of(original: Mapping[str, Any]) -> list[Piece]:
    """The pieces in the order of `core.blocks.parts_of`; a refusal that stands beside the content comes last, without a place."""
    parts = parts_of(original)
    found = [Piece(n, part, raw) for n, (part, raw) in enumerate(zip(parts, _raws(original), strict=True))]
    refusal = original.get("refusal")
    if isinstance(refusal, str) and refusal:
        found.append(Piece(len(parts), Part("text", refusal), {"type": "refusal", "refusal": refusal}))
    return found


def inner_pieces(content: object) -> list[Piece] | None:
    """The pieces of a tool result's content; None when it is not a list of blocks."""
    if isinstance(content, Mapping) and "type" in content:
        content = [content]
    if isinstance(content, (list, tuple)) and content and all(isinstance(b, Mapping) and "type" in b for b in content):
        return pieces_of({"role": "user", "content": content})
    return None


def _raws(original: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """One mapping for each part, in the order of the parts."""
    if "role" not in original or original["role"] is None:
        if not _is_content(original):
            yield original
            return
    if original.get("role") in _RESULT_ROLES:
        yield original
    else:
        content = original.get("content")
        if isinstance(content, str):
            yield from ({"type": "text"},) if content else ()
        else:
            yield from (_mapping(b) for b in _list(content) if b is not None)
    yield from (call for call in _list(original.get("tool_calls")) if isinstance(call, Mapping))
    if isinstance(original.get("function_call"), Mapping):
        yield original["function_call"]


def _is_content(original: Mapping[str, Any]) -> bool:
    """True for a message without a role whose type is a role; an item of another type is one part itself."""
    return str(original.get("type")) in {"user", "assistant", "system", "agent_message"}


def _mapping(block: object) -> Mapping[str, Any]:
    return block if isinstance(block, Mapping) else {}


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else ()


def blank(text: str) -> bool:
    """True if there is nothing to read in `text`; looks only as far as the first character that can be read."""
    return not text or text.isspace()


def scrub(text: str) -> str:
    """`text` such that it can be encoded as UTF-8: halves of surrogate pairs are joined, single ones replaced."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def clean(value: object, depth: int = 0) -> Any:
    """A copy of `value` that can be sent as JSON in UTF-8."""
    if isinstance(value, str):
        return scrub(value)
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth > _DEEPEST:
        return "[nested too deep]"
    if isinstance(value, Mapping):
        return {scrub(str(k)): clean(v, depth + 1) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean(v, depth + 1) for v in value]
    return scrub(str(value))


def bare(block: Mapping[str, Any]) -> dict[str, Any]:
    """A clean copy of a provider's block without `cache_control` (also of the blocks inside its content) and without None: the places
    of breakpoints are the request's business."""
    out = {k: clean(v) for k, v in block.items() if k != "cache_control" and v is not None}
    source = out.get("source")
    for holder in (out, source) if isinstance(source, dict) else (out,):
        if isinstance(holder.get("content"), list):
            holder["content"] = [_without_breakpoint(b) for b in holder["content"]]
    return out


def _without_breakpoint(block: Any) -> Any:
    return {k: v for k, v in block.items() if k != "cache_control"} if isinstance(block, dict) else block

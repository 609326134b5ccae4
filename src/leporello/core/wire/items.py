"""One piece of a message as it goes out in a dialect: text, media, thinking, a call, or the provider's own block."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from leporello.core.wire.clipping import arguments, clipped, dumped, named, over, stub
from leporello.core.wire.media import Media, media_of, plain_text
from leporello.core.wire.names import legal_name
from leporello.core.wire.pieces import Caps, Piece, Sent, bare, blank, clean, inner_pieces, scrub

EARLIER = "[Result of an earlier tool call]"


@dataclass(frozen=True)
class Dialect:
    """What differs between the APIs: the longest tool name and call id, and which of the provider's own blocks it takes back.

    `media` gives the block of a media or None where it cannot be shown; `thinks` tells whether thinking may go back. `kept` are
    types that the user's side may hold verbatim, `done` those of the model's side that go only with its ids. `bound`: thinking
    goes only together with the native item after it. `server`: calls of tools that the provider runs stay as they are.
    """

    wire: str
    names: int
    ids: int
    media: Callable[[Media], dict[str, Any] | None]
    thinks: Callable[[Mapping[str, Any]], bool]
    kept: frozenset[str] = frozenset()
    done: frozenset[str] = frozenset()
    bound: bool = False
    server: bool = False


@dataclass(frozen=True)
class Item:
    """One thing that is shown or called. `at` is the index of its message (-1: of none). `raw` is the finished block of media,
    thinking and own items, and the provider's block of the others. `native`: the provider's item ids may go out."""

    kind: Literal["text", "refusal", "media", "thinking", "call", "own"]
    at: int
    text: str = ""
    raw: Mapping[str, Any] = field(default_factory=dict)
    call: Call | None = None
    native: bool = False
    pauses: bool = False


@dataclass(frozen=True)
class Call:
    """A call: the id and the name under which it goes out, its arguments as an object and as JSON text, its answer.

    `text` is the whole input of a custom tool, which is not JSON; `custom` tells it from a function.
    """

    id: str
    name: str
    input: dict[str, Any]
    json: str
    raw: Mapping[str, Any]
    custom: bool = False
    text: str = ""
    answer: Answer | None = None


@dataclass(frozen=True)
class Answer:
    """The result of a call: texts, media and own blocks, in order; never without an item. `raw` is the provider's result."""

    call: Call
    items: tuple[Item, ...]
    error: bool = False
    raw: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The texts, on lines of their own."""
        return "\n".join(i.text for i in self.items if i.kind == "text")


@dataclass(frozen=True)
class Reading:
    """Turns pieces into items of a dialect, within the caps."""

    dialect: Dialect
    caps: Caps
    _met: dict[int, int] = field(default_factory=dict)

    def items(self, piece: Piece, sent: Sent, at: int, *, user: bool, native: bool = False) -> list[Item]:
        """A piece that is no live call, no used result and no thinking; empty when it holds nothing to read."""
        kind, id = piece.part.kind, named(sent.id, piece.n)
        if kind == "media":
            return [self._media(piece, sent, at, user=user)]
        if kind == "result":
            return self._orphan(piece, sent, at, user=user)
        if kind == "call":
            return [self._text(f"[Tool call] {piece.part.name} {piece.part.text}".strip(), at, self.caps.call, id)]
        if piece.type in (self.dialect.kept if user else self.dialect.done if native else ()):
            if not over(piece.part.text, self.caps.result):
                return [self.own(piece, at)]
        if kind != "text" and not user and piece.type.endswith(("_call", "_tools")):
            return self._done(piece, sent, at)
        return self._said(piece, at, id, native=native)

    def own(self, piece: Piece, at: int, *, kind: Literal["thinking", "own"] = "own", pauses: bool = False) -> Item:
        """The provider's block as it is."""
        return Item(kind, at, raw=bare(piece.raw), native=True, pauses=pauses)

    def call(self, piece: Piece, call_id: str, id: str) -> Call:
        """The call of a piece, under `call_id`; `id` names what is clipped."""
        part, type_ = piece.part, piece.type
        custom = type_ == "custom_tool_call" or (type_ == "custom" and isinstance(piece.raw.get("custom"), Mapping))
        name = legal_name(part.name, self.dialect.names)
        if custom:
            text = clipped(scrub(part.text), self.caps.call, id=id)
            value = {"input": text}
            return Call(call_id, name, value, dumped(value), piece.raw, True, text)
        value, written = arguments(part.text, self.caps.call, id=id)
        return Call(call_id, name, value, written, piece.raw)

    def answer(self, call: Call, piece: Piece, sent: Sent, at: int) -> Answer:
        """The answer that a result gives to a call."""
        id = named(sent.id, piece.n)
        if sent.clear:
            count = len(piece.part.text)
            items = [Item("text", at, text=stub("tool result", f"{count:,} characters", id))]
        else:
            items = self._content(piece, sent, at) or [Item("text", at, text="(empty)")]
        return Answer(call, tuple(items), piece.part.error, piece.raw)

    def _content(self, piece: Piece, sent: Sent, at: int) -> list[Item]:
        """What a result holds. Over its cap all its text is one text, clipped, where the first one stood."""
        id = named(sent.id, piece.n)
        inner = inner_pieces(piece.raw.get("content", piece.raw.get("output")))
        if inner is None:
            return [] if blank(piece.part.text) else [self._text(piece.part.text, at, self.caps.result, id)]
        large = over(piece.part.text, self.caps.result)
        out = [self._text(piece.part.text, at, self.caps.result, id)] if large else []
        for p in inner:
            if p.part.kind == "media":
                out.append(self._media(Piece(piece.n, p.part, p.raw), sent, at, user=not piece.part.error))
            elif p.type in self.dialect.kept and not large:
                out.append(self.own(p, at))
            elif not large and not blank(p.part.text):
                out.append(Item("text", at, text=scrub(p.part.text)))
        return out

    def _orphan(self, piece: Piece, sent: Sent, at: int, *, user: bool) -> list[Item]:
        shown = self._text(_readable(piece) or "(empty)", at, self.caps.result, named(sent.id, piece.n))
        out = [replace(shown, text=f"{EARLIER}\n{shown.text}")]
        inner = () if piece.server_result else inner_pieces(piece.raw.get("content", piece.raw.get("output"))) or ()
        media = [Piece(piece.n, p.part, p.raw) for p in inner if p.part.kind == "media"]
        return out + [self._media(p, sent, at, user=user) for p in media]

    def _done(self, piece: Piece, sent: Sent, at: int) -> list[Item]:
        """An item of a tool that the provider ran, as text; a picture that it made as a stub."""
        id = named(sent.id, piece.n)
        image = piece.raw.get("result")
        if piece.type == "image_generation_call" and isinstance(image, str):
            made = Media("image", piece.raw, mime=f"image/{piece.raw.get('output_format') or 'png'}", data=image)
            return [Item("text", at, text=f"[{piece.type}] {made.stub(id)}")]
        held = {k: v for k, v in piece.raw.items() if k not in {"type", "id", "status"} and v is not None}
        return [self._text(f"[{piece.type}] {dumped(clean(held))}", at, self.caps.result, id)]

    def _said(self, piece: Piece, at: int, id: str, *, native: bool) -> list[Item]:
        if blank(piece.part.text):
            return []
        item = self._text(piece.part.text, at, self.caps.text, id)
        kind: Literal["text", "refusal"] = "refusal" if piece.type == "refusal" else "text"
        whole = item.text == piece.part.text
        return [replace(item, kind=kind, raw=piece.raw if whole else {}, native=native and whole)]

    def _text(self, text: str, at: int, cap: int, id: str) -> Item:
        return Item("text", at, text=clipped(scrub(text), cap, id=id))

    def _media(self, piece: Piece, sent: Sent, at: int, *, user: bool) -> Item:
        """The media's block, its text where it is a text that the dialect does not take as a document, or a stub."""
        media, id = media_of(piece.raw), named(sent.id, piece.n)
        self._met[at] = self._met.get(at, 0) + 1
        if sent.media and self._met[at] > sent.skipped and user and len(media.data) * 3 // 4 <= self.caps.media_bytes:
            block = None if media.text and over(media.text, self.caps.text) else self.dialect.media(media)
            if block is not None:
                return Item("media", at, raw=block)
            text = plain_text(media)
            if not blank(text):
                title = f"[{media.kind} {scrub(media.title)}]\n" if media.title else ""
                shown = self._text(text, at, self.caps.text, id)
                return replace(shown, text=title + shown.text)
        return Item("text", at, text=media.stub(id))


def _readable(piece: Piece) -> str:
    """The text of a result; of a search, the titles and addresses that it found."""
    content = piece.raw.get("content")
    if piece.type == "web_search_tool_result" and isinstance(content, (list, tuple)):
        found = [c for c in content if isinstance(c, Mapping)]
        return "\n".join(" ".join(str(c[k]) for k in ("title", "url") if c.get(k)) for c in found)
    if piece.server_result and isinstance(content, Mapping):
        return json.dumps(clean({k: v for k, v in content.items() if k != "encrypted_content"}), ensure_ascii=False)
    return piece.part.text

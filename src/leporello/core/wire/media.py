"""Images, documents and files of any provider in one form. The bytes are never looked at: only their length is."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leporello.core.wire.clipping import stub
from leporello.core.wire.pieces import scrub

IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_KINDS = {"image_url": "image", "input_image": "image", "computer_screenshot": "image", "input_file": "file", "input_audio": "audio"}


@dataclass(frozen=True)
class Media:
    """One image, document or file: `kind` image, document, file, audio or video; base64 `data`, a `url`, a provider's `file` id, or `text`.

    `raw` is the provider's block, and `home` tells whose: anthropic, openai or openai-responses; empty when it is nobody's.
    """

    kind: str
    raw: Mapping[str, Any]
    home: str = ""
    mime: str = ""
    data: str = ""
    url: str = ""
    file: str = ""
    text: str = ""
    title: str = ""

    @property
    def bytes(self) -> int:
        """Size of the decoded data, or of the text."""
        return len(self.data) * 3 // 4 - self.data[-2:].count("=") if self.data else len(self.text)

    @property
    def data_url(self) -> str:
        return f"data:{self.mime or 'application/octet-stream'};base64,{self.data}"

    def stub(self, id: str) -> str:
        """What stands in its place when it cannot go out."""
        where = scrub(self.url[:200] or self.title[:200])
        named = " ".join(w for w in (self.kind, scrub(self.mime), where) if w)
        return stub(named, _size(self.bytes), id)


def _size(count: int) -> str:
    if not count:
        return ""
    if count < 1_000:
        return f"{count} bytes"
    return f"{count / 1e6:.1f} MB" if count >= 1_000_000 else f"{round(count / 1e3)} kB"


def media_of(raw: Mapping[str, Any]) -> Media:
    """The media of a provider's block; without data, URL or file id where the block has none that is understood."""
    kind = str(raw.get("type") or "")
    name = _KINDS.get(kind, kind)
    if isinstance(raw.get("source"), Mapping):
        return _anthropic(name, raw, raw["source"])
    if kind in {"image_url", "input_image", "computer_screenshot"}:
        return _openai_image(raw)
    if kind in {"file", "input_file"}:
        return _openai_file(raw)
    held = raw.get("input_audio")
    if isinstance(held, Mapping):
        return Media(name, raw, "openai", f"audio/{_text(held, 'format') or 'wav'}", _text(held, "data"))
    return Media(name, raw, "", _text(raw, "mimeType") or _text(raw, "mime_type"), _text(raw, "data"), _text(raw, "url"))


def _anthropic(kind: str, raw: Mapping[str, Any], source: Mapping[str, Any]) -> Media:
    mime, title, held = _text(source, "media_type"), _text(raw, "title"), source.get("type")
    if held == "base64":
        return Media(kind, raw, "anthropic", mime, data=_text(source, "data"), title=title)
    if held == "text":
        return Media(kind, raw, "anthropic", mime or "text/plain", text=_text(source, "data"), title=title)
    if held == "content":
        return Media(kind, raw, "anthropic", mime, text=_texts(source.get("content")), title=title)
    return Media(kind, raw, "anthropic", mime, url=_text(source, "url"), file=_text(source, "file_id"), title=title)


def _texts(content: object) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, (list, tuple)) else ()
    return "\n".join(t for b in blocks if isinstance(b, Mapping) and (t := _text(b, "text")))


def _openai_image(raw: Mapping[str, Any]) -> Media:
    held = raw.get("image_url")
    home = "openai" if raw.get("type") == "image_url" else "openai-responses"
    url = _text(held, "url") if isinstance(held, Mapping) else held if isinstance(held, str) else ""
    mime, data = _data_url(url)
    return Media("image", raw, home, mime, data, "" if data else url, _text(raw, "file_id"))


def _openai_file(raw: Mapping[str, Any]) -> Media:
    chat = raw.get("file")
    held = chat if isinstance(chat, Mapping) else raw
    home = "openai" if held is chat else "openai-responses"
    given, title = _text(held, "file_data"), _text(held, "filename")
    mime, data = _data_url(given)
    if given and not data:
        mime, data = "application/pdf" if title.endswith(".pdf") or not title else "", given
    return Media("file", raw, home, mime, data, _text(held, "file_url"), _text(held, "file_id"), title=title)


def _data_url(url: str) -> tuple[str, str]:
    """Media type and base64 data of a data URL; empty for any other URL."""
    start, comma, _ = url[:300].partition(",")
    if not comma or not start.startswith("data:") or not start.endswith(";base64"):
        return "", ""
    return start[5:-7].partition(";")[0], url[len(start) + 1 :]


def plain_text(media: Media) -> str:
    """The text of a text document, decoded where it came as base64; empty for everything else."""
    if media.text or not media.data or not media.mime.startswith("text/"):
        return media.text
    try:
        return base64.b64decode(media.data).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""


def _text(held: Mapping[str, Any], key: str) -> str:
    value = held.get(key)
    return value if isinstance(value, str) else ""

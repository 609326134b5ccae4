"""What a stand-in provider takes and gives, whatever the wire format."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_TOKEN = re.compile(r"[^\W\d_]{1,6}|\d{1,3}|[^\w\s]|_|\n")
IMAGE_TOKENS = 1_500
BLOCK_TOKENS = 3
MEDIA = {"image", "image_url", "input_image", "document", "file", "input_file"}
_UNCOUNTED = {"type", "cache_control", "signature", "role", "id", "call_id", "tool_use_id", "tool_call_id", "encrypted_content"}


@dataclass(frozen=True)
class Reply:
    """What the model says. `calls` are (tool name, arguments); `stop` is the provider's own word, chosen if not given."""

    text: str = ""
    calls: Sequence[tuple[str, Mapping[str, Any]]] = ()
    thinking: str = ""
    stop: str | None = None
    output_tokens: int | None = None
    blocks: Sequence[Mapping[str, Any]] = ()
    """Ready blocks or items of the wire format, before everything else."""


@dataclass(frozen=True)
class Turn:
    """A request that was accepted: what a `reply` function gets to see. `number` counts accepted requests from 1."""

    wire: str
    body: Mapping[str, Any]
    number: int

    @property
    def model(self) -> str:
        """The model that was asked for."""
        return str(self.body.get("model", ""))

    @property
    def messages(self) -> Sequence[Mapping[str, Any]]:
        """The messages, or the input items of a Responses request."""
        held = self.body.get("messages", self.body.get("input", ()))
        return [{"role": "user", "content": held}] if isinstance(held, str) else held


@dataclass(frozen=True)
class Seen:
    """One request as it came in, and what became of it. Tokens are counted by the provider's own count, times are monotonic seconds.

    `tokens` are all input tokens; `cached` of them were read from the cache and `written` of them written to it. `refused` is true
    where a rule of the provider refused it, false for injected failures. `ended` is 0 until the answer was made.
    """

    wire: str
    path: str
    body: Mapping[str, Any] = field(repr=False)
    status: int = 200
    error: str = ""
    refused: bool = False
    tokens: int = 0
    cached: int = 0
    written: int = 0
    output: int = 0
    started: float = 0.0
    ended: float = 0.0


@dataclass(frozen=True)
class Usage:
    """Tokens of one request and its answer; `cached` and `written` are parts of `input`."""

    input: int = 0
    cached: int = 0
    written: int = 0
    output: int = 0


class Refusal(Exception):
    """A request that is refused: the provider's text, the HTTP status, and the type, parameter and code of the error's body."""

    def __init__(
        self, text: str, *, status: int = 400, kind: str = "invalid_request_error", code: str | None = None, param: str | None = None,
        retry_after: float | None = None,
    ) -> None:  # fmt: skip
        super().__init__(text)
        self.text, self.status, self.kind, self.code, self.param, self.retry_after = text, status, kind, code, param, retry_after


def count_text(text: str) -> int:
    """Tokens of a text: a piece of a word of up to six letters, up to three digits, a mark, a line break, one each."""
    if text.isascii():
        return len(_TOKEN.findall(text))
    wide = sum("\u2e80" <= c <= "\u9fff" or "\uac00" <= c <= "\ud7ff" for c in text)
    return len(_TOKEN.findall("".join(" " if "\u2e80" <= c <= "\u9fff" or "\uac00" <= c <= "\ud7ff" else c for c in text))) + wide


def tokens_of(value: object, count: Callable[[str], int]) -> int:
    """Tokens of a request or a part of it: its strings, a few for each block, a fixed sum for each image or document."""
    if isinstance(value, str):
        return count(value)
    if isinstance(value, Mapping):
        if value.get("type") in MEDIA:
            return IMAGE_TOKENS
        return BLOCK_TOKENS + sum(tokens_of(v, count) for k, v in value.items() if k not in _UNCOUNTED)
    if isinstance(value, (list, tuple)):
        return sum(tokens_of(v, count) for v in value)
    return 0 if value is None else 1

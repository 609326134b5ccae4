"""What a compactor needs of a model: one question, one answer. Errors of SDKs are mapped here, once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Literal, Protocol

from leporello.core.loop.overflow import read_overflow
from leporello.errors import CompactorError
from leporello.ports import LiveRequest
from leporello.records import Usage

Stop = Literal["end", "truncated", "refused"]
Code = Literal[
    "timeout", "refused", "truncated", "empty", "tool_call_only", "reasoning_only", "not_json", "bad_schema", "inflated",
    "unreachable", "overflow", "rate_limited", "bad_request", "unauthorized",
]  # fmt: skip


@dataclass(frozen=True)
class Answer:
    """What a model said: its text, why it stopped, the names of the tools that it called, its thinking, what was spent."""

    text: str
    stop: Stop = "end"
    calls: tuple[str, ...] = ()
    reasoning: str = ""
    usage: Usage = field(default_factory=Usage)


class Model(Protocol):
    """A model behind a wire format. `name` says provider and model, `window` is in tokens, `wire` as in `LiveRequest`."""

    name: str
    window: int
    wire: str

    def ask(
        self, system: str, messages: Sequence[Mapping[str, str]], *, tokens: int, timeout: float, request: LiveRequest | None = None
    ) -> Answer:
        """The answer in at most `tokens` tokens. With a request, its body goes out unchanged with `messages` behind it.

        `messages` have `role` (user or assistant) and `content` as text. Raises `AskFailed`.
        """
        ...


class AskFailed(CompactorError):
    """The model gave no answer."""

    def __init__(self, detail: str, code: Code, *, wait: float = 0.0, window: int | None = None) -> None:
        super().__init__(detail, failures=(code,))
        self.code = code
        self.wait = wait
        """Seconds that the provider asks to wait."""
        self.window = window
        """The window in tokens that the provider named."""


_BY_STATUS: Mapping[int, Code] = {
    401: "unauthorized",
    403: "unauthorized",
    408: "timeout",
    413: "overflow",
    429: "rate_limited",
    504: "timeout",
}


def failed(sdk: ModuleType, error: Exception) -> AskFailed:
    """The failure for an error of the `anthropic` or `openai` package; both name their errors alike."""
    if isinstance(error, (sdk.APITimeoutError, TimeoutError)) or type(error).__name__.endswith("Timeout"):
        return AskFailed(str(error), "timeout")
    if not isinstance(error, sdk.APIStatusError):
        return AskFailed(str(error)[:500], _without_status(sdk, error))
    status = int(error.status_code)
    text = f"HTTP {status}: {error}"[:2_000]
    found = read_overflow(text) if status in {400, 413, 422} or status >= 500 else None
    if found is not None:
        return AskFailed(text, "overflow", window=found.window)
    code = _BY_STATUS.get(status, "unreachable" if status >= 500 else "bad_request")
    return AskFailed(text, code, wait=_seconds(error.response.headers))


def _without_status(sdk: ModuleType, error: Exception) -> Code:
    """The code of an error that is no answer of a server: no key, a body that cannot be read, no connection."""
    if re.search(r"api_key|authentication", str(error)):
        return "unauthorized"
    if isinstance(error, TypeError):
        return "bad_request"
    return "empty" if isinstance(error, (ValueError, sdk.APIResponseValidationError)) else "unreachable"


def _seconds(headers: Mapping[str, str]) -> float:
    """What `retry-after-ms` or `retry-after` says, in seconds; 1 when it is no number, 0 without it."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        if name in headers:
            try:
                return max(0.0, float(headers[name]) * scale)
            except ValueError:
                return 1.0
    return 0.0


def refused_parameter(error: Exception, options: Mapping[str, Any]) -> str | None:
    """The one of these options that a 400 or 422 names as wrong, by its `param` or in its text; None if it names none.

    What a request is about (system, tools, messages) is no option.
    """
    if getattr(error, "status_code", 0) not in {400, 422}:
        return None
    optional = [name for name in options if name not in _CONTENT]
    named = str(getattr(error, "param", None) or "").split(".")[0].split("[")[0]
    if named in optional:
        return named
    text = str(error)
    found = next((name for name in sorted(optional, key=len, reverse=True) if _names(text, name)), None)
    return found or next((name for name in optional if name == "max_completion_tokens" and _names(text, "max_tokens")), None)


_CONTENT = {"system", "instructions", "tools", "messages", "input", "model"}


def _names(text: str, name: str) -> bool:
    """True if the text names this parameter: in quotes, before a colon, or, when it can be no plain word, anywhere."""
    if "_" in name and re.search(rf"\b{name}\b", text):
        return True
    return bool(re.search(rf"['\"`]{name}\b['\"`.:\[]|['\"`]{name}: ", text))


def as_dict(value: object) -> dict[str, Any]:
    """A response's JSON object; empty for anything else."""
    return dict(value) if isinstance(value, Mapping) else {}


def mappings(value: object) -> list[Mapping[str, Any]]:
    """The mappings of a list."""
    return [v for v in value if isinstance(v, Mapping)] if isinstance(value, (list, tuple)) else []


def number(value: object) -> int:
    """A count of tokens; 0 for what is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0

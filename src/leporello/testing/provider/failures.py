"""Failures to order: what goes wrong at the door, and what spoils an answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from leporello.errors import BadSetting
from leporello.testing.provider.model import Refusal, Reply

DOOR = {"overflow", "rate_limit", "overloaded", "server_error", "unauthorized", "bad_param"}
WIRE = {"timeout", "slow", "disconnect"}
SPOILT = {"empty", "reasoning_only", "tool_call_only", "truncated", "refusal", "inflated", "fenced", "wrapped", "bad_json", "not_json"}


@dataclass
class Failure:
    """One order: what is to go wrong, how often, and for which requests."""

    kind: str
    times: int = 1
    when: Callable[[Mapping[str, Any]], bool] | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = DOOR | WIRE | SPOILT
        if self.kind not in known:
            raise BadSetting(f"There is no failure {self.kind!r}.", hint=f"Use one of {', '.join(sorted(known))}.")

    def fits(self, body: Mapping[str, Any]) -> bool:
        """True if this request is to fail."""
        if self.kind == "bad_param" and self.detail.get("param", "temperature") not in body:
            return False
        return self.times > 0 and (self.when is None or bool(self.when(body)))


def refusal_of(failure: Failure, wire: str, window: int) -> Refusal:
    """The refusal of a failure at the door, in the provider's words. `status=` and `message=` in the order change them."""
    made = _refusal(failure, wire, window)
    made.text, made.status = str(failure.detail.get("message", made.text)), int(failure.detail.get("status", made.status))
    return made


def _refusal(failure: Failure, wire: str, window: int) -> Refusal:
    kind, detail, anthropic = failure.kind, failure.detail, wire == "anthropic"
    if kind == "overflow":
        return _overflow(wire, window)
    if kind == "rate_limit":
        after = float(detail.get("retry_after", 0))
        text = "Number of requests has exceeded your rate limit." if anthropic else "Rate limit reached. Please try again later."
        kind = "rate_limit_error" if anthropic else "requests"
        return Refusal(text, status=429, kind=kind, code="rate_limit_exceeded", retry_after=after)
    if kind == "overloaded":
        if anthropic:
            return Refusal("Overloaded", status=529, kind="overloaded_error")
        return Refusal("The server is currently overloaded. Please try again later.", status=503, kind="server_error")
    if kind == "unauthorized":
        return wrong_key(wire)
    if kind == "bad_param":
        name = str(detail.get("param", "temperature"))
        if anthropic:
            return Refusal(f"{name}: Extra inputs are not permitted")
        return Refusal(f"Unsupported parameter: '{name}' is not supported with this model.", code="unsupported_parameter", param=name)
    if anthropic:
        return Refusal("Internal server error", status=500, kind="api_error")
    return Refusal("The server had an error while processing your request. Sorry about that!", status=500, kind="server_error")


def wrong_key(wire: str) -> Refusal:
    """What a provider says to a key that it does not know."""
    if wire == "anthropic":
        return Refusal("invalid x-api-key", status=401, kind="authentication_error")
    return Refusal("Incorrect API key provided.", status=401, code="invalid_api_key")


def _overflow(wire: str, window: int) -> Refusal:
    if wire == "anthropic":
        return Refusal(f"prompt is too long: {window + 1234} tokens > {window} maximum")
    if wire == "openai":
        text = (
            f"This model's maximum context length is {window} tokens. However, your messages resulted in {window + 1234} tokens. "
            "Please reduce the length of the messages."
        )
        return Refusal(text, code="context_length_exceeded", param="messages")
    text = "Your input exceeds the context window of this model. Please adjust your input and try again."
    return Refusal(text, code="context_length_exceeded", param="input")


def spoilt(failure: Failure, reply: Reply, tools: Sequence[str]) -> Reply:
    """The answer, spoilt in the way that was ordered. `tools` are the names that the request offers."""
    text = reply.text or "This is what would have been said."
    factor = int(failure.detail.get("factor", 10))
    name = next(iter(tools), "read")
    made: dict[str, Callable[[], Reply]] = {
        "empty": lambda: Reply(),
        "reasoning_only": lambda: Reply(thinking="I should think about this first."),
        "tool_call_only": lambda: Reply(calls=[(name, {"path": "README.md"})]),
        "truncated": lambda: Reply(text[: len(text) // 2], stop="max_tokens"),
        "refusal": lambda: Reply("I cannot help with that.", stop="refusal"),
        "inflated": lambda: Reply(_inflated(text, factor)),
        "fenced": lambda: Reply(f"Here is the summary you asked for:\n\n```json\n{text}\n```\n\nI hope it helps."),
        "wrapped": lambda: Reply(json.dumps({"answer": _value(text, text)})),
        "bad_json": lambda: Reply((text.rstrip()[:-1] if _value(text, None) is not None else "{" + text) + ",,"),
        "not_json": lambda: Reply("I looked at the conversation and it was about several things."),
    }
    return replace(made[failure.kind](), output_tokens=reply.output_tokens)


def _value(text: str, otherwise: Any) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return otherwise


def _inflated(text: str, factor: int) -> str:
    value = _value(text, None)
    return "\n".join([text] * factor) if value is None else json.dumps(_longer(value, factor))


def _longer(value: Any, factor: int) -> Any:
    """JSON in which every text is that much longer."""
    if isinstance(value, str):
        return " ".join([value] * factor)
    if isinstance(value, list):
        return [_longer(v, factor) for v in value]
    return {k: _longer(v, factor) for k, v in value.items()} if isinstance(value, dict) else value

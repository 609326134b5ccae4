"""Models behind Anthropic Messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leporello.adapters.models.calling import Calling
from leporello.adapters.models.model import Answer, Stop, as_dict, mappings, number
from leporello.adapters.models.sdks import sdk, whole
from leporello.ports import LiveRequest
from leporello.records import Usage

WINDOW = 200_000


class AnthropicModel:
    """Implements `Model` with an `anthropic.Anthropic` client."""

    wire = "anthropic"

    def __init__(self, client: Any, model: str, *, window: int | None = None, effort: str | None = None) -> None:
        self.name = f"anthropic:{model}"
        self.window = window or WINDOW
        self._client = client
        self._model = model
        self._effort = effort
        self._call = Calling(sdk("anthropic"), needed=frozenset({"max_tokens"}))

    def ask(
        self, system: str, messages: Sequence[Mapping[str, str]], *, tokens: int, timeout: float, request: LiveRequest | None = None
    ) -> Answer:
        """One call of `messages.create`; with a request without `tool_choice` of our own, which would break the cache."""
        if request is None:
            model, sent, body = self._model, [dict(m) for m in messages], {"system": system} if system else {}
            if self._effort:
                body["output_config"] = {"effort": self._effort}  # type: ignore[assignment]
        else:
            model, sent, body = forked(request, messages, default=self._model)
        thinking = body.get("thinking")
        budget = number(thinking.get("budget_tokens")) if isinstance(thinking, Mapping) else 0

        def send(options: dict[str, Any]) -> Any:
            most = options.pop("max_tokens")
            opened = self._client.messages.with_streaming_response.create(
                model=model, messages=sent, max_tokens=most, extra_body=options, timeout=timeout
            )
            return whole(opened, timeout=timeout)

        return _answer(as_dict(self._call(send, {"max_tokens": tokens + budget, **body})), model)


def forked(request: LiveRequest, messages: Sequence[Mapping[str, str]], *, default: str) -> tuple[str, list[Any], dict[str, Any]]:
    """Model, messages and the rest of the body of a request that repeats another one, with `messages` behind it.

    When the last message is the user's, the first of `messages` becomes one more block of it.
    """
    body = {k: v for k, v in request.body.items() if k not in {"model", "messages", "max_tokens", "stream"}}
    sent = list(request.body.get("messages") or ())
    first, *rest = [dict(m) for m in messages]
    if sent and sent[-1].get("role") == "user":
        held = sent[-1].get("content")
        blocks = [{"type": "text", "text": held}] if isinstance(held, str) else list(held or ())
        sent[-1] = {**sent[-1], "content": [*blocks, {"type": "text", "text": first["content"]}]}
    else:
        sent.append(first)
    return request.model or str(request.body.get("model") or default), [*sent, *rest], body


_STOPS: Mapping[str, Stop] = {"max_tokens": "truncated", "model_context_window_exceeded": "truncated", "refusal": "refused"}


def _answer(body: Mapping[str, Any], model: str) -> Answer:
    blocks = mappings(body.get("content"))
    return Answer(
        "".join(str(b.get("text") or "") for b in blocks if b.get("type") == "text"),
        _STOPS.get(str(body.get("stop_reason")), "end"),
        tuple(str(b.get("name") or "") for b in blocks if str(b.get("type")).endswith("tool_use")),
        "".join(str(b.get("thinking") or "…") for b in blocks if b.get("type") in {"thinking", "redacted_thinking"}),
        usage(body.get("usage"), str(body.get("model") or model)),
    )


def usage(held: object, model: str) -> Usage:
    """Usage as Anthropic reports it: what was read from the cache and written to it is not in `input_tokens`."""
    told = held if isinstance(held, Mapping) else {}
    cached, written = number(told.get("cache_read_input_tokens")), number(told.get("cache_creation_input_tokens"))
    return Usage(model, number(told.get("input_tokens")) + cached + written, number(told.get("output_tokens")), cached, written)

"""Compaction by the provider itself: its own opaque summary, beside which the plain log stays in the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leporello.adapters.models.anthropic import usage
from leporello.adapters.models.calling import Calling
from leporello.adapters.models.model import AskFailed, as_dict, mappings
from leporello.adapters.models.openai import responses_usage
from leporello.adapters.models.sdks import sdk, whole
from leporello.errors import CompactorError
from leporello.ports import LiveRequest, spend
from leporello.records import Record, Usage

BETA = "compact-2026-09-04"


@dataclass(frozen=True)
class Native(Record):
    """What stands first in later requests in place of the messages that it sums up, verbatim, and what it cost."""

    blocks: tuple[dict[str, Any], ...]
    usage: Usage


class NativeAnthropic:
    """Compaction on demand of Anthropic Messages (beta)."""

    wire = "anthropic"

    def __init__(self, client: Any, model: str, *, timeout: float = 120.0, tokens: int = 4_096) -> None:
        self.name = f"native:anthropic:{model}"
        self._client = client.with_options(max_retries=0)
        self._model = model
        self._timeout = timeout
        self._tokens = tokens
        self._call = Calling(sdk("anthropic"), needed=frozenset({"max_tokens", "compaction"}))

    def compact(self, request: LiveRequest) -> Native:
        """One message that holds the signed block. No call may be open in the request. Raises `CompactorError`."""
        model, messages, body = _parts(request, self.wire, "messages", self._model)
        body.pop("context_management", None)

        def send(options: dict[str, Any]) -> Any:
            most, how = options.pop("max_tokens"), options.pop("compaction")
            opened = self._client.beta.messages.with_streaming_response.create(
                model=model, messages=messages, max_tokens=most, compaction=how, betas=[BETA], extra_body=options, timeout=self._timeout
            )
            return whole(opened, timeout=self._timeout)

        answer = as_dict(self._call(send, {"max_tokens": self._tokens, "compaction": {"type": "summarize"}, **body}))
        spent = usage(answer.get("usage"), str(answer.get("model") or model))
        spend(spent)
        blocks = [dict(b) for b in mappings(answer.get("content")) if b.get("type") == "compaction"]
        _one(blocks)
        if not blocks[0].get("content"):
            raise CompactorError("The provider's compaction has no content.", failures=("empty",))
        return Native(({"role": "assistant", "content": blocks},), spent)


class NativeOpenAI:
    """Compaction of OpenAI Responses."""

    wire = "openai-responses"

    def __init__(self, client: Any, model: str, *, timeout: float = 120.0) -> None:
        self.name = f"native:openai-responses:{model}"
        self._client = client.with_options(max_retries=0)
        self._model = model
        self._timeout = timeout
        self._call = Calling(sdk("openai"), needed=frozenset({"instructions"}))

    def compact(self, request: LiveRequest) -> Native:
        """The user's messages and the encrypted item, in the order of the answer. Raises `CompactorError`."""
        model, messages, body = _parts(request, self.wire, "input", self._model)
        options = {k: v for k, v in body.items() if k in {"instructions", "prompt_cache_key", "prompt_cache_options", "service_tier"}}

        def send(options: dict[str, Any]) -> Any:
            opened = self._client.responses.with_streaming_response.compact(
                model=model, input=messages, extra_body=options, timeout=self._timeout
            )
            return whole(opened, timeout=self._timeout)

        answer = as_dict(self._call(send, options))
        spent = responses_usage(answer.get("usage"), str(answer.get("model") or model))
        spend(spent)
        items = [dict(i) for i in mappings(answer.get("output"))]
        compacted = [i for i in items if i.get("type") == "compaction"]
        _one(compacted)
        if not compacted[0].get("encrypted_content"):
            raise CompactorError("The provider's compaction has no content.", failures=("empty",))
        return Native(tuple(items), spent)


def _parts(request: LiveRequest, wire: str, key: str, model: str) -> tuple[str, list[Any], dict[str, Any]]:
    if request.wire != wire:
        raise AskFailed(f"A request for {request.wire} cannot be compacted by {wire}.", "bad_request")
    held: Mapping[str, Any] = request.body
    messages = list(held.get(key) or ()) if not isinstance(held.get(key), str) else [{"role": "user", "content": held[key]}]
    body = {k: v for k, v in held.items() if k not in {"model", "stream", "max_tokens", key}}
    return request.model or str(held.get("model") or model), messages, body


def _one(found: list[dict[str, Any]]) -> None:
    if len(found) != 1:
        code = "bad_schema" if found else "empty"
        raise CompactorError(f"The provider answered with {len(found)} compactions; one was asked for.", failures=(code,))

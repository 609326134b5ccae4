"""Models behind OpenAI Chat Completions, which every compatible server speaks, and behind OpenAI Responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leporello.adapters.models.calling import Calling
from leporello.adapters.models.model import Answer, Stop, as_dict, mappings, number
from leporello.adapters.models.sdks import sdk, whole
from leporello.ports import LiveRequest
from leporello.records import Usage

WINDOW = 128_000
_OWN = {
    "model",
    "messages",
    "input",
    "stream",
    "stream_options",
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "response_format",
}
_STOPS: Mapping[str, Stop] = {"length": "truncated", "content_filter": "refused", "max_output_tokens": "truncated"}


class ChatModel:
    """Implements `Model` with an `openai.OpenAI` client and Chat Completions."""

    wire = "openai"

    def __init__(self, client: Any, model: str, *, window: int | None = None, effort: str | None = None) -> None:
        self.name = f"openai:{model}"
        self.window = window or WINDOW
        self._client = client
        self._model = model
        self._effort = effort
        self._call = Calling(sdk("openai"), renames={"max_completion_tokens": "max_tokens"})

    def ask(
        self, system: str, messages: Sequence[Mapping[str, str]], *, tokens: int, timeout: float, request: LiveRequest | None = None
    ) -> Answer:
        """One call of `chat.completions.create`."""
        body: dict[str, Any] = {"max_completion_tokens": tokens}
        if request is None:
            model = self._model
            sent = [*([{"role": "system", "content": system}] if system else []), *(dict(m) for m in messages)]
            body["response_format"] = {"type": "json_object"}
            if self._effort:
                body["reasoning_effort"] = self._effort
        else:
            model = request.model or str(request.body.get("model") or self._model)
            sent = [*(request.body.get("messages") or ()), *(dict(m) for m in messages)]
            body |= _repeated(request)

        def send(options: dict[str, Any]) -> Any:
            opened = self._client.chat.completions.with_streaming_response.create(
                model=model, messages=sent, extra_body=options, timeout=timeout
            )
            return whole(opened, timeout=timeout)

        return _chat_answer(as_dict(self._call(send, body)), model)


class ResponsesModel:
    """Implements `Model` with an `openai.OpenAI` client and Responses; nothing is stored at the provider."""

    wire = "openai-responses"

    def __init__(self, client: Any, model: str, *, window: int | None = None, effort: str | None = None) -> None:
        self.name = f"openai-responses:{model}"
        self.window = window or WINDOW
        self._client = client
        self._model = model
        self._effort = effort
        self._call = Calling(sdk("openai"))

    def ask(
        self, system: str, messages: Sequence[Mapping[str, str]], *, tokens: int, timeout: float, request: LiveRequest | None = None
    ) -> Answer:
        """One call of `responses.create`."""
        body: dict[str, Any] = {"max_output_tokens": tokens, "store": False}
        if request is None:
            model, sent = self._model, [dict(m) for m in messages]
            body |= {"instructions": system} if system else {}
            body["text"] = {"format": {"type": "json_object"}}
            if self._effort:
                body["reasoning"] = {"effort": self._effort}
        else:
            model = request.model or str(request.body.get("model") or self._model)
            held = request.body.get("input") or ()
            before = [{"role": "user", "content": held}] if isinstance(held, str) else list(held)
            sent = [*before, *(dict(m) for m in messages)]
            body |= _repeated(request)

        def send(options: dict[str, Any]) -> Any:
            opened = self._client.responses.with_streaming_response.create(model=model, input=sent, extra_body=options, timeout=timeout)
            return whole(opened, timeout=timeout)

        return _responses_answer(as_dict(self._call(send, body)), model)


def _repeated(request: LiveRequest) -> dict[str, Any]:
    """The rest of a live request's body, and a word that no tool may be called, which leaves the prefix as it is."""
    body = {k: v for k, v in request.body.items() if k not in _OWN}
    return {**body, "tool_choice": "none"} if body.get("tools") else body


def _chat_answer(body: Mapping[str, Any], model: str) -> Answer:
    choices = mappings(body.get("choices"))
    choice: Mapping[str, Any] = choices[0] if choices else {}
    held = choice.get("message")
    message: Mapping[str, Any] = held if isinstance(held, Mapping) else {}
    refusal = bool(message.get("refusal"))
    content = message.get("content")
    text = content if isinstance(content, str) else "".join(str(p.get("text") or "") for p in mappings(content))
    calls = [c.get("function") or c.get("custom") or {} for c in mappings(message.get("tool_calls"))]
    calls += [message["function_call"]] if isinstance(message.get("function_call"), Mapping) else []
    return Answer(
        text,
        "refused" if refusal else _STOPS.get(str(choice.get("finish_reason")), "end"),
        tuple(str(c.get("name") or "") for c in calls),
        str(message.get("reasoning_content") or message.get("reasoning") or ""),
        _usage(body.get("usage"), str(body.get("model") or model), names=("prompt", "completion")),
    )


def _responses_answer(body: Mapping[str, Any], model: str) -> Answer:
    output = mappings(body.get("output"))
    said = [p for item in output if item.get("type") == "message" for p in mappings(item.get("content"))]
    why = body.get("incomplete_details")
    reason = str(why.get("reason")) if isinstance(why, Mapping) else ""
    stop = _STOPS.get(reason, "truncated") if body.get("status") == "incomplete" else "end"
    thinking = [i for i in output if i.get("type") == "reasoning"]
    return Answer(
        "".join(str(p.get("text") or "") for p in said if p.get("type") == "output_text"),
        "refused" if any(p.get("type") == "refusal" for p in said) else stop,
        tuple(str(i.get("name") or "") for i in output if str(i.get("type")).endswith("_call")),
        "".join(str(p.get("text") or "") for i in thinking for p in mappings(i.get("summary"))) or ("…" if thinking else ""),
        responses_usage(body.get("usage"), str(body.get("model") or model)),
    )


def responses_usage(held: object, model: str) -> Usage:
    """Usage as Responses reports it."""
    return _usage(held, model, names=("input", "output"))


def _usage(held: object, model: str, *, names: tuple[str, str]) -> Usage:
    told: Mapping[str, Any] = held if isinstance(held, Mapping) else {}
    more = told.get(f"{names[0]}_tokens_details")
    details: Mapping[str, Any] = more if isinstance(more, Mapping) else {}
    counts = (
        told.get(f"{names[0]}_tokens"),
        told.get(f"{names[1]}_tokens"),
        details.get("cached_tokens"),
        details.get("cache_write_tokens"),
    )
    return Usage(model, *map(number, counts))

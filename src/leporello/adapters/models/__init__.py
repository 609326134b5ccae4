"""Compactors by model: Anthropic, OpenAI and every compatible server, and the providers' own compaction."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from leporello.adapters.models.anthropic import AnthropicModel
from leporello.adapters.models.compactor import ForkedCompactor, ModelCompactor, checked
from leporello.adapters.models.model import Answer, AskFailed, Model
from leporello.adapters.models.native import Native, NativeAnthropic, NativeOpenAI
from leporello.adapters.models.openai import ChatModel, ResponsesModel
from leporello.adapters.models.sdks import client_of
from leporello.errors import BadSetting

__all__ = [
    "AnthropicModel",
    "Answer",
    "AskFailed",
    "ChatModel",
    "ForkedCompactor",
    "Model",
    "ModelCompactor",
    "Native",
    "NativeAnthropic",
    "NativeOpenAI",
    "ResponsesModel",
    "compactor",
]
_MODELS: dict[str, tuple[str, Callable[..., Model]]] = {
    "anthropic": ("anthropic", AnthropicModel),
    "openai": ("openai", ChatModel),
    "openai-responses": ("openai", ResponsesModel),
}


def compactor(name: str, **options: Any) -> ModelCompactor:
    """The compactor by the model of this name: `anthropic:MODEL`, `openai:MODEL` (every compatible server) or `openai-responses:MODEL`.

    Options: `client` (an SDK client) or `base_url` and `api_key`; `fork`, `window`, `output`, `timeout`, `retries` as in
    `ModelCompactor`; `effort`. Without a key the SDK looks for its own. Raises `BadSetting`, `MissingExtra`.
    """
    provider, _, model = name.partition(":") if isinstance(name, str) else ("", "", "")
    if provider not in _MODELS or not model.strip():
        raise BadSetting(
            f"There is no model {name!r}.",
            hint='Use "anthropic:MODEL", "openai:MODEL" or "openai-responses:MODEL", for example "openai:gpt-5-mini".',
        )
    known = {"client", "base_url", "api_key", "fork", "window", "output", "timeout", "retries", "effort"}
    unknown = sorted(options.keys() - known)
    if unknown:
        raise BadSetting(f"{', '.join(unknown)}: no such option.", hint=f"Options are {', '.join(sorted(known))}.")
    settings = {k: options[k] for k in ("fork", "window", "output", "timeout", "retries") if k in options}
    checked(**{"fork": "fresh", "window": None, "output": 4_096, "timeout": 60.0, "retries": 2, **settings})
    package, make = _MODELS[provider]
    client = client_of(package, options.get("client"), base_url=options.get("base_url"), api_key=options.get("api_key"))
    asked = make(client, model.strip(), effort=options.get("effort"))
    if options.get("client") is None:
        weakref.finalize(asked, client.close)  # a client of our own goes with the model; the caller's stays open
    return ModelCompactor(asked, **settings)

"""The SDKs of the providers: loaded when they are needed, their clients made without retries of their own."""

from __future__ import annotations

import json
import time
from contextlib import AbstractContextManager
from importlib import import_module
from types import ModuleType
from typing import Any

from leporello.errors import BadSetting, MissingExtra


def sdk(name: str) -> ModuleType:
    """The package `anthropic` or `openai`. Raises `MissingExtra`."""
    try:
        return import_module(name)
    except ModuleNotFoundError as e:
        if e.name != name:
            raise
        raise MissingExtra(f"The package {name} is not installed.", hint=f"Run `pip install 'leporello[{name}]'`.") from e


def client_of(name: str, given: Any, *, base_url: str | None, api_key: str | None) -> Any:
    """A client that does not retry by itself: the one that was given, or a new one. The SDK looks for its key itself.

    Raises `BadSetting` if it finds none.
    """
    module = sdk(name)
    if given is not None:
        return given.with_options(max_retries=0)
    try:
        made = (module.Anthropic if name == "anthropic" else module.OpenAI)(base_url=base_url, api_key=api_key, max_retries=0)
    except getattr(module, f"{'Anthropic' if name == 'anthropic' else 'OpenAI'}Error") as e:
        raise BadSetting(f"No client for {name}: {e}", hint="Pass api_key=… or client=…") from e
    return made


def whole(opened: AbstractContextManager[Any], *, timeout: float) -> Any:
    """The JSON of a response that is read as it comes, so that a server which sends a byte now and then is not waited for for ever.

    The SDK gives each read `timeout` seconds; here the whole body gets as many. Raises `TimeoutError`, `ValueError`.
    """
    end = time.monotonic() + timeout
    held = []
    with opened as response:
        for piece in response.iter_bytes():
            held.append(piece)
            if time.monotonic() > end:
                raise TimeoutError(f"The answer was not there after {timeout:g} seconds.")
    return json.loads(b"".join(held))

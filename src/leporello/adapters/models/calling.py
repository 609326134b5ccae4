"""One call with optional parameters: one that the server refuses is renamed or dropped, once, and remembered."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

from leporello.adapters.models.model import AskFailed, failed, refused_parameter

_MOST = re.compile(r"(?:>|at most|less than or equal to|<=|maximum(?: value)?(?: of| is)?:?) ?(\d{2,7})")


class Calling:
    """Calls with optional parameters. What a server refuses is not sent again by this object; threads may share it."""

    def __init__(self, sdk: ModuleType, *, renames: Mapping[str, str] | None = None, needed: frozenset[str] = frozenset()) -> None:
        self._sdk = sdk
        own: type[Exception] = sdk.APIError.__mro__[1]  # AnthropicError or OpenAIError
        self._errors = (own, import_module("httpx2").HTTPError, ValueError, TypeError, TimeoutError)
        self._renames = renames or {}
        self._needed = needed
        self._changed: dict[str, str | int | None] = {}
        self._lock = threading.Lock()

    def __call__(self, send: Callable[[dict[str, Any]], Any], options: Mapping[str, Any]) -> Any:
        """The answer of `send(options)`; each refused option is changed once. Raises `AskFailed`."""
        for _ in range(len(options) + 2):
            kept = self._settled(options)
            try:
                return send(dict(kept))
            except self._sdk.APIStatusError as e:
                wrong = None if failed(self._sdk, e).code == "overflow" else refused_parameter(e, kept)
                with self._lock:  # another thread may have learned the same meanwhile: then the call is just repeated
                    mended = wrong is not None and (self._settled(options) != kept or self._change(wrong, kept, str(e)))
                if not mended:
                    raise failed(self._sdk, e) from e
            except self._errors as e:
                raise failed(self._sdk, e) from e
        raise AskFailed("The server refused one parameter after another.", "bad_request")

    def _settled(self, options: Mapping[str, Any]) -> dict[str, Any]:
        out: dict[str, Any] = {}
        changed = dict(self._changed)
        for name, value in options.items():
            seen: set[str] = set()
            to: str | int | None = name
            while isinstance(to, str) and to in changed and to not in seen:
                seen.add(to)
                step = changed[to]
                if isinstance(step, int):
                    value = min(value, step)
                    break
                to = step
            if isinstance(to, str):
                out[to] = value
        return out

    def _change(self, name: str, kept: Mapping[str, Any], text: str) -> bool:
        """Notes what to do about the parameter; False if nothing is left to be done."""
        most = _MOST.search(text)
        value = kept[name]
        if most and isinstance(value, int) and not isinstance(value, bool) and int(most.group(1)) < value:
            self._changed[name] = int(most.group(1))
        elif name in self._renames and name not in self._changed:
            self._changed[name] = self._renames[name]
        elif name in self._needed:
            return False
        else:
            self._changed[name] = None
        return True

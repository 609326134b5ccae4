"""For tests: a clock that is set by hand, a compactor that answers from a script, the rules that every store must pass, and a
local provider that speaks the wire formats of Anthropic and OpenAI (`pip install 'leporello[testing]'`).

    from leporello.testing import ManualClock, ScriptedCompactor, StoreConformance

    class TestMyStore(StoreConformance):
        def open_store(self, path):
            return MyStore(path)

`StoreConformance` needs pytest and hypothesis (`pip install 'leporello[test]'`) and is loaded when it is asked for; the clock
and the compactor need nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from leporello.errors import MissingExtra
from leporello.testing.clock import ManualClock
from leporello.testing.compactor import Asked, ScriptedCompactor

if TYPE_CHECKING:
    from leporello.testing.conformance import StoreConformance
    from leporello.testing.provider import LocalProvider, Reply, Seen, Turn

__all__ = ["Asked", "LocalProvider", "ManualClock", "Reply", "ScriptedCompactor", "Seen", "StoreConformance", "Turn"]
_PROVIDER = {"LocalProvider", "Reply", "Seen", "Turn"}


def __getattr__(name: str) -> Any:
    """Loads the conformance rules or the local provider, and what they need, when they are asked for (PEP 562)."""
    if name in _PROVIDER:
        return getattr(import_module("leporello.testing.provider"), name)
    if name != "StoreConformance":
        raise AttributeError(f"module 'leporello.testing' has no attribute {name!r}")
    try:
        if "leporello.testing.conformance" not in sys.modules:
            import_module("pytest").register_assert_rewrite("leporello.testing.conformance")
        return import_module("leporello.testing.conformance").StoreConformance
    except ModuleNotFoundError as e:
        raise MissingExtra(f"StoreConformance needs {e.name}.", hint="Install it with `pip install 'leporello[test]'`.") from e

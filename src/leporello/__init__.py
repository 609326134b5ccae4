"""Leporello: a memory engine for AI agents. Folds the past, keeps every page, works on one file with no key and no network.

    import leporello

    mem = leporello.open("memory.db")
    alice = mem.scope(user="alice")
    alice.remember("I moved from Lyon to Porto last week.")
    alice.recall("where does she live?")[0].text

The engine itself is loaded at the first use of `open` and its kin: importing the package stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from leporello.errors import LeporelloError
from leporello.policies import ContextPolicy, FoldPolicy, LoopPolicy, Policies, RecallPolicy, WritePolicy
from leporello.records import Compact, Draft, Episode, Fact, Item, Message, Note, Provenance, Scope, Span
from leporello.results import Block, Call, FoldReport, Hit, ImportReport, Layers, LoopReport, Omitted, Reason, Recall, Receipt, SessionInfo

if TYPE_CHECKING:
    from leporello import aio
    from leporello.core.loop.usage import Price
    from leporello.flows.context import Context
    from leporello.flows.explain import Explanation, Quote
    from leporello.memory import Memory, Scoped, migrate, open, reembed
    from leporello.session import Session

__version__ = "0.1.0"
__all__ = [
    "Block",
    "Call",
    "Compact",
    "Context",
    "ContextPolicy",
    "Draft",
    "Episode",
    "Explanation",
    "Fact",
    "FoldPolicy",
    "FoldReport",
    "Hit",
    "ImportReport",
    "Item",
    "Layers",
    "LeporelloError",
    "LoopPolicy",
    "LoopReport",
    "Memory",
    "Message",
    "Note",
    "Omitted",
    "Policies",
    "Price",
    "Provenance",
    "Quote",
    "Reason",
    "Recall",
    "RecallPolicy",
    "Receipt",
    "Scope",
    "Scoped",
    "Session",
    "SessionInfo",
    "Span",
    "WritePolicy",
    "aio",
    "migrate",
    "open",
    "reembed",
]

_LATER = {
    "Context": "flows.context", "Explanation": "flows.explain", "Memory": "memory", "Price": "core.loop.usage", "Quote": "flows.explain",
    "Scoped": "memory", "Session": "session", "migrate": "memory", "open": "memory", "reembed": "memory",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Loads the engine when it is first asked for (PEP 562)."""
    if name == "aio":
        return import_module("leporello.aio")
    if name in _LATER:
        return getattr(import_module(f"leporello.{_LATER[name]}"), name)
    raise AttributeError(f"module 'leporello' has no attribute {name!r}")

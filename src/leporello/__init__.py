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
from leporello.policies import ContextPolicy, FoldPolicy, Policies, RecallPolicy, WritePolicy
from leporello.records import (
    Block,
    Compact,
    Draft,
    Episode,
    Fact,
    FoldReport,
    Hit,
    ImportReport,
    Item,
    Layers,
    Message,
    Note,
    Provenance,
    Reason,
    Recall,
    Receipt,
    Scope,
    Span,
)

if TYPE_CHECKING:
    from leporello import aio
    from leporello.memory import Memory, Scoped, open, reembed
    from leporello.session import Session

__version__ = "0.1.0"
__all__ = [
    "Block",
    "Compact",
    "ContextPolicy",
    "Draft",
    "Episode",
    "Fact",
    "FoldPolicy",
    "FoldReport",
    "Hit",
    "ImportReport",
    "Item",
    "Layers",
    "LeporelloError",
    "Memory",
    "Message",
    "Note",
    "Policies",
    "Provenance",
    "Reason",
    "Recall",
    "RecallPolicy",
    "Receipt",
    "Scope",
    "Scoped",
    "Session",
    "Span",
    "WritePolicy",
    "aio",
    "open",
    "reembed",
]

_LATER = {"Memory": "memory", "Scoped": "memory", "open": "memory", "reembed": "memory", "Session": "session"}


def __getattr__(name: str) -> Any:
    """Loads the engine when it is first asked for (PEP 562)."""
    if name == "aio":
        return import_module("leporello.aio")
    if name in _LATER:
        return getattr(import_module(f"leporello.{_LATER[name]}"), name)
    raise AttributeError(f"module 'leporello' has no attribute {name!r}")

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
from leporello.policies import ContextPolicy, FoldPolicy, GuardPolicy, LoopPolicy, Policies, RecallPolicy, RetentionPolicy, WritePolicy
from leporello.records import Claim, Compact, Draft, Episode, Event, Fact, Item, Message, Note, Provenance, Revision, Scope, Span
from leporello.results import (
    Age,
    Block,
    Call,
    Consolidation,
    FactChange,
    FoldReport,
    Hit,
    ImportReport,
    Layers,
    LoopReport,
    Maintenance,
    Move,
    Omitted,
    Reason,
    Recall,
    Receipt,
    SessionInfo,
    Undone,
)

if TYPE_CHECKING:
    from leporello import aio
    from leporello.core.graph import Edge, Entity, Neighbourhood, Path
    from leporello.core.loop.usage import Price
    from leporello.flows.context import Context
    from leporello.flows.explain import Explanation, Quote
    from leporello.flows.find import Finding
    from leporello.formats.project import ProjectReport
    from leporello.knowledge import Conflict, Suspect
    from leporello.memory import Memory, Scoped, migrate, open, reembed
    from leporello.session import Session

__version__ = "0.1.0"
__all__ = [
    "Age",
    "Block",
    "Call",
    "Claim",
    "Compact",
    "Conflict",
    "Consolidation",
    "Context",
    "ContextPolicy",
    "Draft",
    "Edge",
    "Entity",
    "Episode",
    "Event",
    "Explanation",
    "Fact",
    "FactChange",
    "Finding",
    "FoldPolicy",
    "FoldReport",
    "GuardPolicy",
    "Hit",
    "ImportReport",
    "Item",
    "Layers",
    "LeporelloError",
    "LoopPolicy",
    "LoopReport",
    "Maintenance",
    "Memory",
    "Message",
    "Move",
    "Neighbourhood",
    "Note",
    "Omitted",
    "Path",
    "Policies",
    "Price",
    "ProjectReport",
    "Provenance",
    "Quote",
    "Reason",
    "Recall",
    "RecallPolicy",
    "Receipt",
    "RetentionPolicy",
    "Revision",
    "Scope",
    "Scoped",
    "Session",
    "SessionInfo",
    "Span",
    "Suspect",
    "Undone",
    "WritePolicy",
    "aio",
    "migrate",
    "open",
    "reembed",
]

_LATER = {
    "Conflict": "knowledge", "Edge": "core.graph", "Entity": "core.graph", "Finding": "flows.find", "Neighbourhood": "core.graph", "Path": "core.graph",
    "ProjectReport": "formats.project", "Suspect": "knowledge",
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

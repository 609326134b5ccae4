"""Leporello: a memory engine for AI agents. Folds the past, keeps every page, works on one file with no key and no network.

    import leporello

    mem = leporello.open("memory.db")
    alice = mem.scope(user="alice")
    alice.remember("I moved from Lyon to Porto last week.")
    alice.recall("where does she live?")[0].text
"""

from __future__ import annotations

from leporello.errors import LeporelloError
from leporello.memory import Memory, Scoped, open, reembed
from leporello.policies import ContextPolicy, FoldPolicy, Policies, RecallPolicy, WritePolicy
from leporello.records import (
    Block, Compact, Draft, Episode, Fact, FoldReport, Hit, ImportReport, Item, Layers, Message, Note, Provenance, Reason, Recall, Receipt, Scope,
    Span,
)  # fmt: skip
from leporello.session import Session

__version__ = "0.1.0"
__all__ = [
    "Block", "Compact", "ContextPolicy", "Draft", "Episode", "Fact", "FoldPolicy", "FoldReport", "Hit", "ImportReport", "Item", "Layers",
    "LeporelloError", "Memory", "Message", "Note", "Policies", "Provenance", "Reason", "Recall", "RecallPolicy", "Receipt", "Scope", "Scoped",
    "Session", "Span", "WritePolicy", "open", "reembed",
]  # fmt: skip

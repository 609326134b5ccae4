"""`StoreConformance`: what every store must do, tested through `ports.Store` alone."""

from __future__ import annotations

from leporello.testing.conformance.aging import AgeRules
from leporello.testing.conformance.claims import ClaimRules
from leporello.testing.conformance.erasing import ErasingRules
from leporello.testing.conformance.index import IndexRules
from leporello.testing.conformance.keeping import KeepingRules
from leporello.testing.conformance.loops import LoopRules
from leporello.testing.conformance.messages import MessageRules
from leporello.testing.conformance.scopes import ScopeRules
from leporello.testing.conformance.sessions import SessionRules
from leporello.testing.conformance.statements import StatementRules
from leporello.testing.conformance.transactions import TransactionRules


class StoreConformance(
    SessionRules, MessageRules, StatementRules, ClaimRules, AgeRules, ScopeRules, TransactionRules, IndexRules, ErasingRules, KeepingRules, LoopRules
):  # fmt: skip
    """Subclass it as `class TestMyStore(StoreConformance)` and write `open_store(path)`: pytest runs every rule on your store."""

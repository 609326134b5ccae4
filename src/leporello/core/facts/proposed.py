"""What a compactor proposed, held against what was really said: whoever says so, a proposal gets no more trust than its source."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from datetime import datetime
from typing import get_args

from leporello.core.facts.derive import RANK
from leporello.records import FactKind, Message, Operation, Span, Trust

_SURE: dict[Trust, float] = {"user": 1.0, "agent": 0.7, "tool": 0.5, "external": 0.5}
_SOURCE: dict[Trust, str] = {"user": "user_stated", "agent": "inferred", "tool": "tool", "external": "external"}
_OPS = {"add", "reinforce", "supersede", "retract", "conflict", "none"}
_ROLES = {"user", "assistant", "human", "ai", "system", "tool"}
_LONGEST = 2_000
"""Characters of a statement at most: a fact is a sentence or two."""


def sound(proposed: object, messages: Mapping[str, Message]) -> Operation | None:
    """The operation as it may stand, or None for what is none.

    Places that lie in no message that was read are left out. Trust is at most that of the messages that it rests on, and an agent's
    where it rests on none; confidence and source follow. A person who speaks in the assistant's place speaks for themselves.
    """
    if not isinstance(proposed, Operation) or not _well_formed(proposed):
        return None
    spans = tuple(s for s in proposed.spans if s.message in messages and 0 <= s.start < s.end <= len(messages[s.message].text))
    trust: Trust = min((_trust(messages[s.message]) for s in spans), key=lambda t: RANK[t], default="agent")
    if RANK[proposed.trust] <= RANK[trust]:
        return dataclasses.replace(proposed, spans=spans)
    sure = min(proposed.confidence, _SURE[trust])
    return dataclasses.replace(proposed, spans=spans, trust=trust, confidence=sure, source=_SOURCE[trust])


def _trust(message: Message) -> Trust:
    person = message.name is not None and message.name.casefold() not in _ROLES
    return "user" if message.trust == "agent" and message.role == "assistant" and person else message.trust


def _well_formed(op: Operation) -> bool:
    texts = (op.text, op.why, op.source, *op.tags) if isinstance(op.tags, tuple) else ()
    if not texts or not all(isinstance(t, str) for t in texts) or len(op.text) > _LONGEST or len(op.why) > _LONGEST:
        return False
    if op.op not in _OPS or op.fact_kind not in get_args(FactKind) or op.trust not in RANK or not isinstance(op.target, str | None):
        return False
    number = isinstance(op.confidence, int | float) and not isinstance(op.confidence, bool) and math.isfinite(op.confidence)
    aware = op.at is None or (isinstance(op.at, datetime) and op.at.tzinfo is not None)
    places = isinstance(op.spans, tuple) and all(isinstance(s, Span) for s in op.spans)
    return number and 0 <= op.confidence <= 1 and aware and places and isinstance(op.episodes, tuple)

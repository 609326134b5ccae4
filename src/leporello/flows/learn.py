"""Facts that are told outright, and notes: no compactor needed."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any, get_args

from leporello.core import facts as rules
from leporello.errors import BadSetting, EmptyText
from leporello.flows.indexing import entries, said
from leporello.ports import Ports, Writer
from leporello.records import Fact, FactKind, Operation, Scope, Span, Trust

_TRUST: dict[str, Trust] = {"user_stated": "user", "inferred": "agent", "assumed": "agent", "tool": "tool"}
_CONFIDENCE = {"user_stated": 1.0, "inferred": 0.7, "assumed": 0.5}
_DROPPED: dict[str, tuple[str, ...]] = {
    "session": (), "project": ("session",), "agent": ("session", "project"), "user": ("session", "project", "agent"),
    "tenant": ("session", "project", "agent", "user"),
}  # fmt: skip


def told(
    text: str, *, kind: str = "fact", source: str = "user_stated", why: str = "", tags: tuple[str, ...] = (), at: datetime | None = None,
    confidence: float | None = None, trust: Trust | None = None, spans: tuple[Span, ...] = (),
) -> Operation:  # fmt: skip
    """The operation that adds a told fact. Confidence by source (R114): user stated 1.0, inferred 0.7, assumed 0.5."""
    if not text or not text.strip():
        raise EmptyText()
    if kind not in get_args(FactKind):
        raise BadSetting(f"kind={kind!r}: use one of {', '.join(get_args(FactKind))}.")
    sure = _CONFIDENCE.get(source, 0.5) if confidence is None else confidence
    if isinstance(sure, bool) or not isinstance(sure, (int, float)) or not 0 <= sure <= 1:
        raise BadSetting(f"confidence={sure!r} is not between 0 and 1.")
    who = trust or _TRUST.get(source, "external")
    return Operation("add", text, kind, why, None, source, who, sure, tags, at, spans)  # type: ignore[arg-type]


def learn(ports: Ports, scope: Scope, operation: Operation) -> Fact:
    """Writes a told fact; told again word for word it is reinforced instead, and the one fact comes back."""
    with ports.store.write() as w:
        return learn_in(ports, w, scope, operation)


def learn_in(ports: Ports, w: Writer, scope: Scope, operation: Operation) -> Fact:
    """The same in the caller's transaction."""
    now = ports.clock.now()
    known = [f for f in w.facts(scope) if f.scope == scope]
    found = rules.changes([operation], known, scope=scope, session=scope.session, now=now)
    for change in found:
        if change.new:
            return w.add_fact(change.fact, entries(ports.embedder, [said(change.fact)])[0])
        w.put_fact(change.fact, action=change.action, actor=operation.source, why=change.why, at=now)
        return change.fact
    folded = " ".join(operation.text.split()).casefold()
    return next(f for f in known if " ".join(f.text.split()).casefold() == folded and f.retracted_at is None)


def at_level(scope: Scope, level: str | None) -> Scope:
    """The scope with only the dimensions up to the level: "project" drops the session, "user" also agent and project."""
    if level is None:
        return scope
    if level not in _DROPPED:
        raise BadSetting(f"level={level!r}: use one of {', '.join(_DROPPED)}.")
    dropped: dict[str, Any] = dict.fromkeys(_DROPPED[level])
    return replace(scope, **dropped)

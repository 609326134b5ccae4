"""Facts that are told outright, and what is done to facts by hand. Each is a claim; what follows from it is derived."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, get_args

from leporello.core.dates import absolute
from leporello.core.facts import folded
from leporello.core.guard.redact import Redaction
from leporello.core.guard.screen import screen
from leporello.errors import BadSetting, BadValue, EmptyText, NotFound
from leporello.flows.settle import Bench, at_home, settle_one
from leporello.ports import AnyRecord, Ports, Reader, Writer
from leporello.records import Claim, ClaimOp, Fact, FactKind, Operation, Provenance, Revision, Scope, Span, Trust

_ID = re.compile(r"[mefc]_[0-9a-f]{30}")
_TRUST: dict[str, Trust] = {"user_stated": "user", "inferred": "agent", "assumed": "agent", "tool": "tool"}
CONFIDENCE = {"user_stated": 1.0, "inferred": 0.7, "assumed": 0.5}
_REPLACES = frozenset({"update"})
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
    sure = CONFIDENCE.get(source, 0.5) if confidence is None else confidence
    if isinstance(sure, bool) or not isinstance(sure, (int, float)) or not 0 <= sure <= 1:
        raise BadSetting(f"confidence={sure!r} is not between 0 and 1.")
    who = trust or _TRUST.get(source, "external")
    return Operation("add", text, kind, why, None, source, who, sure, tags, at, spans)  # type: ignore[arg-type]


def learn(ports: Ports, scope: Scope, operation: Operation) -> Fact:
    """Writes a told fact. What says the same is supported instead, and the one fact comes back; what it contradicts ends (see `settle`)."""
    with ports.store.write() as w:
        return learn_in(ports, w, scope, operation)


def learn_in(ports: Ports, w: Writer, scope: Scope, operation: Operation) -> Fact:
    """The same in the caller's transaction."""
    now = ports.clock.now()
    redaction = Redaction.of(ports.policies.guard)
    if redaction:
        tags = tuple(redaction.text(t) for t in operation.tags)
        operation = replace(
            operation,
            text=redaction.text(operation.text),
            why=redaction.text(operation.why),
            source=redaction.text(operation.source),
            tags=tags,
        )
    operation = replace(operation, text=absolute(operation.text, operation.at or now))
    where = Provenance(scope.session, tuple(sorted({s.turn for s in operation.spans if s.turn})), (), operation.spans)
    claim = Claim(
        "", scope, "say", operation.text, operation.fact_kind, operation.why, operation.source, operation.trust, operation.confidence,
        operation.tags, operation.at or now, now, where, operation.source, suspicion=suspicion(ports, operation.text, operation.trust),
    )  # fmt: skip
    judges = Bench(ports.embedder)
    id_, _ = settle_one(ports, w, at_home(w, claim, _homes(scope), judges, kinds=_REPLACES), judges, actor=operation.source, at=now)
    return _fact(w, scope, id_ or "")


def _homes(scope: Scope) -> list[Scope]:
    """Where a statement may replace what is known of the user beside the scope itself: with the user, for every project."""
    return [replace(scope, session=None, project=None, agent=None)] if scope.user is not None and scope.project is not None else []


def suspicion(ports: Ports, text: str, trust: Trust) -> str:
    """Why a statement goes into quarantine; empty for none. What a user says of their own is theirs to say."""
    if trust == "user" or not ports.policies.guard.screen:
        return ""
    return "; ".join(dict.fromkeys(f"{s.reason}: {s.detail}" if s.detail else s.reason for s in screen(text)))


def at_level(scope: Scope, level: str | None) -> Scope:
    """The scope with only the dimensions up to the level: "project" drops the session, "user" also agent and project."""
    if level is None:
        return scope
    if level not in _DROPPED:
        raise BadSetting(f"level={level!r}: use one of {', '.join(_DROPPED)}.")
    dropped: dict[str, Any] = dict.fromkeys(_DROPPED[level])
    return replace(scope, **dropped)


@dataclass(frozen=True)
class Step:
    """What is done to a fact by hand: the operation, who does it and why, from when it holds (now, if not given)."""

    op: ClaimOp
    why: str = ""
    actor: str = "user"
    at: datetime | None = None


def act(ports: Ports, scope: Scope, id: str, step: Step) -> Fact:
    """Does it to a fact of this scope, and returns the fact as it is then."""
    with ports.store.write() as w:
        fact = _fact(w, scope, id)
        _allow(fact, step.op)
        return _fact(w, scope, _take(ports, w, fact, lambda base: base, step) or fact.id)


def contradict(ports: Ports, scope: Scope, id: str, *, by: str | None, step: Step) -> Fact:
    """Ends a fact: with a successor (the id of a fact, or a new statement), or without one. The fact as it is then."""
    with ports.store.write() as w:
        fact = _fact(w, scope, id)
        successor = w.record(scope, by) if by else None
        if _ended_so(w, fact, by):
            return fact
        _fits(fact, by, successor)
        if by is None or (isinstance(successor, Fact) and successor.scope != fact.scope):
            start = successor.valid_from if isinstance(successor, Fact) else None
            _take(ports, w, fact, lambda plain: plain, replace(step, op="end", at=start or step.at))
        elif not isinstance(successor, Fact):
            text = Redaction.of(ports.policies.guard).text(by)
            _take(ports, w, fact, lambda plain: replace(plain, text=text, source="user_stated"), step)
        else:
            if successor.superseded_by == fact.id:
                _take(ports, w, successor, lambda plain: plain, replace(step, op="restore"))
            instead = base_of(w, successor)
            _take(ports, w, fact, lambda plain: replace(plain, source=instead.id), step, also=(successor,))
        return _fact(w, scope, fact.id)


def _ended_so(r: Reader, fact: Fact, by: str | None) -> bool:
    """True for a fact that was contradicted already by the same, which was not taken back: to say so again changes nothing."""
    if fact.status != "deprecated" or by is None or not fact.superseded_by:
        return False
    successor = r.record(fact.scope, fact.superseded_by)
    if not isinstance(successor, Fact) or successor.retracted_at is not None:
        return False
    return by == fact.superseded_by or folded(successor.text) == folded(by)


def _fits(fact: Fact, by: str | None, successor: AnyRecord | None) -> None:
    """Refuses what cannot replace a fact."""
    if by is None:
        return
    if not by.strip():
        raise EmptyText()
    if successor is None:
        if _ID.fullmatch(by):
            raise NotFound(f"{by!r} is not in this scope.")
        if folded(by) == folded(fact.text):
            raise BadValue(f"by={by!r} is what the fact says.", hint="Pass what holds instead, or nothing if the fact only ended.")
    elif not isinstance(successor, Fact) or successor.id == fact.id:
        raise BadValue(f"by={by!r} is no other fact.", hint="Pass the id of the fact that replaces it, or the new statement itself.")
    elif successor.retracted_at is not None or successor.status == "quarantine" or successor.valid_to == successor.at:
        raise BadValue(f"by={by!r} does not hold.", hint="Call restore or confirm on it first, if it does after all.")


def history(ports: Ports, scope: Scope, id: str) -> tuple[Revision, ...]:
    """The changes of a fact of this scope, oldest first."""
    with ports.store.read() as r:
        return tuple(r.history(_fact(r, scope, id)))


def _take(
    ports: Ports, w: Writer, fact: Fact, shape: Callable[[Claim], Claim], step: Step, *, also: Sequence[Fact] = ()
) -> str | None:  # fmt: skip
    """Writes the step as a claim on the claim that gives the fact its words."""
    now = ports.clock.now()
    step = replace(step, why=Redaction.of(ports.policies.guard).text(step.why))
    target = base_of(w, fact)
    start = max(now, fact.valid_from) if fact.valid_from is not None and step.op == "end" else now
    plain = Claim(
        "", fact.scope, step.op, "", fact.fact_kind, step.why, step.actor, "user", 1.0, (), step.at or start, now, Provenance(), step.actor,
        target.id, fact.id,
    )  # fmt: skip
    return settle_one(ports, w, shape(plain), Bench(ports.embedder), actor=step.actor, at=now, also=also)[0]


def base_of(w: Writer, fact: Fact) -> Claim:
    """The claim that gives the fact its words; made of the fact if an older store kept none."""
    held = [c for c in w.claims(fact.scope, [fact.id]) if c.text]
    if held:
        return next((c for c in held if c.text == fact.text), held[0])
    claim = Claim(
        "", fact.scope, "say", fact.text, fact.fact_kind, fact.why, fact.source, fact.trust, fact.confidence or CONFIDENCE.get(fact.source, 0.5),
        fact.tags, fact.at, fact.recorded_at, fact.provenance, fact.source, None, fact.id,
    )  # fmt: skip
    (base,) = w.put_claims([claim])
    step = replace(claim, text="", why="", source="user_stated", trust="user", provenance=Provenance(), target=base.id)
    if fact.valid_to is not None:
        w.put_claims([replace(step, op="end", at=fact.valid_to)])
    if fact.retracted_at is not None:
        w.put_claims([replace(step, op="retract", recorded_at=fact.retracted_at)])
    return base


def _allow(fact: Fact, op: str) -> None:
    """What ended stays ended, until it is restored (C21)."""
    if op in {"confirm", "archive"} and fact.status == "deprecated":
        raise BadValue(f"{fact.id!r} was contradicted or retracted already.", hint="Call restore(id, why=…) first if it holds after all.")


def _fact(r: Reader, scope: Scope, id: str) -> Fact:
    found = r.record(scope, id)
    if found is None:
        raise NotFound(f"{id!r} is not in this scope.")
    if not isinstance(found, Fact):
        raise BadValue(f"{id!r} is no fact but a {found.kind}.", hint="Pass the id of a fact; `facts()` lists them.")
    return found

"""What operations do to facts: pure, so that a compactor can only propose and code decides (D21).

Lower trust never supersedes higher: the newcomer is added beside the old one as a conflict that both show (D43).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from leporello.records import Fact, Operation, Provenance, Scope, Span

_TRUST = {"external": 0, "tool": 1, "agent": 2, "user": 3}
REINFORCEMENT = 0.1
_SPANS_KEPT = 50


@dataclass(frozen=True)
class Change:
    """One fact as it becomes: `new` facts have no id yet; `replaces` names the fact that a new one supersedes."""

    fact: Fact
    action: str
    why: str
    new: bool = False
    replaces: str | None = None


def changes(operations: Iterable[Operation], known: Sequence[Fact], *, scope: Scope, session: str | None, now: datetime) -> list[Change]:
    """The changes that the operations come to. An operation whose target is unknown or gone, and a repeated one, is nothing."""
    held = {f.id: f for f in known if f.retracted_at is None}
    texts = {_folded(f.text): f.id for f in held.values() if f.status == "active"}
    out: list[Change] = []
    added: set[str] = set()
    for op in operations:
        same = texts.get(_folded(op.text)) if op.text else None
        target = held.get(op.target or "")
        if op.op in {"add", "supersede", "conflict"} and same is not None:
            op, target = replace(op, op="reinforce", target=same), held[same]
        if op.op == "none" or (op.op in {"add", "supersede", "conflict"} and (not op.text.strip() or _folded(op.text) in added)):
            continue
        if op.op == "reinforce" and target is not None:
            changed = _reinforced(target, op)
            if changed is not None:
                held[target.id] = changed
                out.append(Change(changed, "reinforce", op.why))
        elif op.op == "retract" and target is not None and _TRUST[op.trust] >= _TRUST[target.trust]:
            held[target.id] = gone = replace(target, retracted_at=now, status="deprecated")
            out.append(Change(gone, "retract", op.why))
        elif op.op in {"add", "supersede", "conflict"}:
            added.add(_folded(op.text))
            out += _new(op, target, scope=scope, session=session, now=now)
    return out


def believed(fact: Fact, *, as_of: datetime | None, believed_at: datetime | None) -> bool:
    """True if the fact was true at `as_of` according to what was believed at `believed_at`; `None` means now."""
    if believed_at is not None:
        if fact.recorded_at > believed_at or (fact.retracted_at is not None and fact.retracted_at <= believed_at):
            return False
    elif fact.retracted_at is not None:
        return False
    if as_of is None:
        return fact.valid_to is None
    started = fact.valid_from is None or fact.valid_from <= as_of
    return started and (fact.valid_to is None or as_of < fact.valid_to)


def provenance(op: Operation, session: str | None) -> Provenance:
    """Where an operation's text comes from."""
    return Provenance(session, tuple(sorted({s.turn for s in op.spans if s.turn})), tuple(dict.fromkeys(op.episodes)), op.spans)


def _new(op: Operation, target: Fact | None, *, scope: Scope, session: str | None, now: datetime) -> list[Change]:
    weaker = target is not None and _TRUST[op.trust] < _TRUST[target.trust]
    supersedes = op.op == "supersede" and target is not None and not weaker
    start = op.at or now
    made = Fact(
        "", scope, op.text, op.fact_kind, op.why, op.source, op.trust, op.confidence, op.tags, start, None, now, None, provenance(op, session),
        (target.id,) if supersedes and target else (), "conflict" if (op.op == "conflict" or (op.op == "supersede" and weaker)) else "active",
    )  # fmt: skip
    out = [Change(made, "add", op.why, new=True, replaces=target.id if supersedes and target else None)]
    if supersedes and target is not None:
        end = start if target.valid_from is None or start >= target.valid_from else target.valid_from
        out.append(Change(replace(target, valid_to=end, status="deprecated"), "supersede", op.why or f"superseded by: {op.text}"))
    return out


def _reinforced(fact: Fact, op: Operation) -> Fact | None:
    """The fact with one more source; None when the source is known already, so that folding again changes nothing."""
    spans: tuple[Span, ...] = tuple(dict.fromkeys((*fact.provenance.spans, *op.spans)))
    episodes = tuple(dict.fromkeys((*fact.provenance.episodes, *op.episodes)))
    if len(spans) == len(fact.provenance.spans) and (op.spans or len(episodes) == len(fact.provenance.episodes)):
        return None
    turns = tuple(sorted({*fact.provenance.turns, *(s.turn for s in op.spans if s.turn)}))
    source = replace(fact.provenance, spans=spans[:_SPANS_KEPT], episodes=episodes, turns=turns)
    return replace(fact, confidence=min(1.0, round(fact.confidence + REINFORCEMENT, 4)), provenance=source)


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()

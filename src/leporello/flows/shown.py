"""Records as a model gets to read them: a line for a fact, a hit with its date and place."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from leporello.core import facts as rules
from leporello.core import pack
from leporello.flows.aging import ages, as_aged
from leporello.ports import Ports, Reader
from leporello.records import Episode, Fact, Scope
from leporello.results import Hit


def fact_line(fact: Fact) -> str:
    """`- text (because why; since date)`; what a tool or another source said is quoted with its origin."""
    day = f"since {fact.valid_from:%Y-%m-%d}" if fact.valid_from else ""
    until = f"until {fact.valid_to:%Y-%m-%d}" if fact.valid_to else ""
    why = rules.told_why(fact.why)
    because = f"because {why}" if why and why not in fact.text else ""
    doubt = "disputed" if fact.status == "conflict" or fact.conflicts else ""
    notes = "; ".join(n for n in (because, day, until, doubt) if n)
    line = pack.neutral(f"- {fact.text}" + (f" ({notes})" if notes else ""))
    return pack.quoted(line, origin=fact.source) if fact.trust in {"tool", "external"} else line


def hit_line(hit: Hit) -> str:
    """A hit with its date and where it was said."""
    r = hit.record
    if isinstance(r, Fact):
        return fact_line(r)
    if isinstance(r, Episode):
        return pack.neutral(f"- [{r.at:%Y-%m-%d}, turns {r.turns[0]}-{r.turns[1]}] {r.summary}")
    where = f"{r.scope.session}, turn {r.turn}" if r.scope.session else f"turn {r.turn}"
    who = r.name or ("tool" if r.trust == "tool" else r.role)
    line = pack.neutral(f"[{r.at:%Y-%m-%d}, {where}] {who}: {r.text}")
    return pack.quoted(line, origin=who) if r.trust in {"tool", "external"} else f"- {line}"


def held_facts(r: Reader, scope: Scope, *, now: datetime, as_of: datetime | None = None, believed_at: datetime | None = None) -> list[Fact]:
    """Facts that hold at the moment asked for, as they were believed at the other, oldest first."""
    moment = believed_at or now
    return [f for f in r.facts(scope, believed_at=believed_at) if rules.believed(f, as_of=as_of, now=moment)]


def known_facts(ports: Ports, r: Reader, scope: Scope, *, as_of: datetime | None = None, believed_at: datetime | None = None) -> list[Fact]:
    """The same, the most certain and newest first. Of now, as certain as they are by now, and without what is hidden by its age."""
    now = ports.clock.now()
    held = held_facts(r, scope, now=now, as_of=as_of, believed_at=believed_at)
    if as_of is None and believed_at is None:
        stands = ages(r, held, policy=ports.policies.retention, now=now)
        held = as_aged([f for f in held if not stands[f.id].hidden], stands)
    return sorted(held, key=lambda f: (-f.confidence, -f.at.timestamp(), f.text))


def fact_pieces(facts: Sequence[Fact]) -> list[pack.Piece]:
    """Facts as they were recorded, so that a new one comes last; with their rank for admission."""
    ranked = sorted(((f, i) for i, f in enumerate(facts)), key=lambda p: (p[0].recorded_at, p[0].text))
    return [pack.Piece(f.id, fact_line(f), rank) for f, rank in ranked]

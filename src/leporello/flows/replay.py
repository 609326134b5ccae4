"""What facts come to when something that was said is gone: derived again, with the history that they would have had without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from leporello.core import facts as rules
from leporello.flows.settle import Bench, Links, action, by_hand, fact_of, homes_of, identified, index_row, source, why
from leporello.ports import Change, Ports, Writer
from leporello.records import Claim, Fact, Revision


@dataclass
class _Life:
    """The states of one fact, oldest first, and the derivation of the last."""

    last: rules.Derived
    states: list[Fact] = field(default_factory=list)
    revisions: list[Revision] = field(default_factory=list)


def replay(ports: Ports, w: Writer, claims: Sequence[Claim], facts: Sequence[Fact]) -> None:
    """Writes these facts, which stand in relation to no others, as they come to by their claims, learned one after the other.

    A fact whose claims all say the same as another's was never another. A fact of an older store without claims stays as it is.
    """
    judges = Bench(ports.embedder)
    judges.embed(c.text for c in claims if c.text)
    known = {f.id: f for f in facts}
    final = rules.derive(claims, judges.judge)
    ids = identified(final, {c.id: c.fact for c in claims if c.fact in known})
    for d in final:
        if id(d) not in ids:
            fact = fact_of(d, None, final, Links(ids, set(), {}), min(c.recorded_at for c in d.claims))
            made = w.add_fact(fact, index_row(ports, fact, d))
            ids[id(d)] = made.id
            known[made.id] = made
    homes = homes_of(final, ids, claims)
    moved = {c.fact: homes[c.id] for c in claims if c.text and c.fact is not None and homes[c.id] != c.fact}
    claims = w.put_claims([replace(c, fact=homes.get(c.id, c.fact)) for c in claims])
    lives = _lives(claims, known, judges)
    for life in lives.values():
        w.put_fact(
            life.states[-1], Change("update", "erase", life.states[-1].recorded_at), entry=index_row(ports, life.states[-1], life.last)
        )
        w.put_history(life.states[-1], life.revisions)
    for fact in facts:
        if fact.id not in lives and fact.id in moved:
            _never(w, fact, moved[fact.id])


def _lives(claims: Sequence[Claim], known: dict[str, Fact], judges: Bench) -> dict[str, _Life]:
    """What each fact was after each moment at which something was learned."""
    out: dict[str, _Life] = {}
    for moment in sorted({c.recorded_at for c in claims}):
        then = [c for c in claims if c.recorded_at <= moment]
        derived = rules.derive(then, judges.judge)
        ids = identified(derived, {c.id: c.fact for c in then if c.text})
        links = Links(ids, set(known) - {c.fact or "" for c in claims}, {})
        for d in derived:
            if id(d) not in ids:  # another by then, that turned out to say the same since
                continue
            was = out[ids[id(d)]].states[-1] if ids[id(d)] in out else replace(known[ids[id(d)]], recorded_at=moment)
            now = fact_of(d, was, derived, links, moment)
            life = out.setdefault(now.id, _Life(d))
            life.last = d
            if not life.states:
                life.revisions.append(Revision(moment, "add", d.words.actor, "", source(d.words), None))
                life.states.append(now)
                continue
            cause = _cause(d, [c for c in then if c.recorded_at == moment])
            if now != was or by_hand(cause, d):
                named = cause.op if by_hand(cause, d) else action(was, now)
                by = now.superseded_by if now.superseded_by != was.superseded_by else source(cause)
                life.revisions.append(Revision(moment, named, cause.actor, why(d, cause, judges), by, was))
                life.states.append(now)
    return out


def _cause(d: rules.Derived, new: Sequence[Claim]) -> Claim:
    """What of the newly learned changed a fact: a claim of its own, or else of its successor, or else any."""
    mine = {c.id for c in d.claims}
    return next((c for c in new if c.id in mine or c.target in mine), None) or next((c for c in new if d.by and c in d.by.claims), new[-1])


def _never(w: Writer, fact: Fact, into: str) -> None:
    """A fact that would have been another all the time."""
    gone = replace(
        fact, retracted_at=fact.recorded_at, status="deprecated", superseded_by=into, confidence=0.0, conflicts=(), supersedes=()
    )  # fmt: skip
    w.put_fact(gone, Change("merge", "erase", fact.recorded_at, "says the same as another", into))
    w.put_history(gone, [Revision(fact.recorded_at, "add", fact.source, "", None, None)])

"""What facts come to when something that was said is gone: derived again, with the history that they would have had without it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from leporello.core import facts as rules
from leporello.flows.aging import follow
from leporello.flows.settle import Bench, Links, action, by_hand, fact_of, homes_of, identified, index_row, source, why
from leporello.ports import Change, Ports, Writer
from leporello.records import Claim, Fact, Revision


@dataclass(eq=False)
class _Life:
    """One fact through time: its id, its states (oldest first), the derivation of the last, and the claims that it had then."""

    last: rules.Derived
    claims: frozenset[str] = frozenset()
    id: str = ""
    states: list[Fact] = field(default_factory=list)
    revisions: list[Revision] = field(default_factory=list)


@dataclass
class _Moment:
    """What the claims came to when something was learned, and as which fact each goes on."""

    at: datetime
    then: list[Claim]
    derived: list[rules.Derived]
    lives: dict[int, _Life]


def replay(ports: Ports, w: Writer, claims: Sequence[Claim], facts: Sequence[Fact]) -> None:
    """Writes these facts, which stand in relation to no others, as they come to by their claims, learned one after the other.

    A fact whose claims all say the same as another's was never another. A fact of an older store without claims stays as it is.
    """
    judges = Bench(ports.embedder)
    judges.embed(c.text for c in claims if c.text)
    known = {f.id: f for f in facts}
    final = rules.derive(claims, judges.judge)
    ids = identified(final, {c.id: c.fact for c in claims if c.fact in known})

    def make(d: rules.Derived, derived: Sequence[rules.Derived], at: datetime) -> str:
        fact = fact_of(d, None, derived, Links(ids, set(), {}), at)
        made = w.add_fact(fact, index_row(ports, fact, d))
        known[made.id] = made
        return made.id

    for d in final:
        if id(d) not in ids:
            ids[id(d)] = make(d, final, min(c.recorded_at for c in d.claims))
    homes = homes_of(final, ids, claims)
    were = {c.id: c.fact for c in claims if c.text and c.fact is not None}
    claims = w.put_claims([replace(c, fact=homes.get(c.id, c.fact)) for c in claims])
    moments = _moments(claims, judges)
    free = {f.id for f in facts} - set(homes.values())
    for d in moments[-1].derived if moments else ():
        moments[-1].lives[id(d)].id = homes[d.words.id]
    lives = list(dict.fromkeys(life for moment in moments for life in moment.lives.values()))
    for life, d, m in _passing(moments):  # what turned out to say the same as another since
        life.id = next((f for c in d.claims if (f := were.get(c.id)) in free), "") or make(d, m.derived, m.at)
        free.discard(life.id)
    _tell(moments, known, set(known) - {c.fact or "" for c in claims} - {life.id for life in lives}, judges)
    for life in lives:
        w.put_fact(
            life.states[-1], Change("update", "erase", life.states[-1].recorded_at), entry=index_row(ports, life.states[-1], life.last)
        )
        w.put_history(life.states[-1], life.revisions)
    follow(ports, w, {life.id: life.last for life in lives}, {life.id: life.states[-1] for life in lives})
    for fact in facts:
        into = next((homes[c] for c, f in were.items() if f == fact.id and homes[c] != f), None)
        if fact.id in free and into is not None:
            _never(w, fact, into)


def _moments(claims: Sequence[Claim], judges: Bench) -> list[_Moment]:
    """What the claims came to after each moment at which something was learned; a fact goes on as `identified` says."""
    out: list[_Moment] = []
    home: dict[str, _Life] = {}
    for at in sorted({c.recorded_at for c in claims}):
        then = [c for c in claims if c.recorded_at <= at]
        derived = rules.derive(then, judges.judge)
        named = {str(id(life)): life for life in home.values()}
        ids = identified(derived, {c: str(id(life)) for c, life in home.items()})
        lives = {id(d): named[ids[id(d)]] if id(d) in ids else _Life(d) for d in derived}
        for d in derived:
            lives[id(d)].claims = frozenset(c.id for c in d.claims)
        home = {c.id: lives[id(d)] for d in derived for c in d.claims}
        out.append(_Moment(at, then, derived, lives))
    return out


def _passing(moments: Sequence[_Moment]) -> Iterator[tuple[_Life, rules.Derived, _Moment]]:
    """The lives without an id, each where it begins."""
    for m in moments:
        for d in m.derived:
            if not m.lives[id(d)].id:
                yield m.lives[id(d)], d, m


def _tell(moments: Sequence[_Moment], known: dict[str, Fact], kept: set[str], judges: Bench) -> None:
    """Gives every life its states and what changed it."""
    living: dict[_Life, None] = {}
    for m in moments:
        links = Links({d: life.id for d, life in m.lives.items()}, kept, {})
        for life in [one for one in living if one not in m.lives.values()]:
            into = next(other.id for other in m.lives.values() if other.claims & life.claims)
            gone = replace(
                life.states[-1], retracted_at=m.at, status="deprecated", superseded_by=into, confidence=0.0, conflicts=()
            )  # fmt: skip
            life.revisions.append(Revision(m.at, "merge", "erase", "says the same as another", into, life.states[-1]))
            life.states.append(gone)
            del living[life]
        for d in m.derived:
            life = m.lives[id(d)]
            was = life.states[-1] if life.states else replace(known[life.id], recorded_at=m.at)
            now = fact_of(d, was, m.derived, links, m.at)
            life.last, living[life] = d, None
            if not life.states:
                life.revisions.append(Revision(m.at, "add", d.words.actor, "", source(d.words), None))
                life.states.append(now)
                continue
            cause = _cause(d, [c for c in m.then if c.recorded_at == m.at])
            if now != was or by_hand(cause, d):
                named = cause.op if by_hand(cause, d) else action(was, now)
                by = now.superseded_by if now.superseded_by != was.superseded_by else source(cause)
                life.revisions.append(Revision(m.at, named, cause.actor, why(d, cause, judges), by, was))
                life.states.append(now)


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

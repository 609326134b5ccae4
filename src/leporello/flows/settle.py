"""What is known, settled anew: claims are written, and the facts near them derived again from all of their claims.

Only facts of exactly the claims' scope are touched, and of these only what concerns the same things: those that share words
or subject and predicate with a new claim, and those that stand in relation to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from leporello.core import facts as rules
from leporello.core.facts.read import Statement, keys, read
from leporello.core.facts.relate import Relation, relate
from leporello.flows.indexing import entries, said
from leporello.ports import Change, Embedder, Ports, Reader, Writer
from leporello.records import Claim, Fact, Scope

NEAR = 24
"""How many facts at most are looked at for one claim."""
_WIDEST = 200
_SUPPORTS = 60


@dataclass(frozen=True)
class Settled:
    """One change: what was done, the fact as it is, and as it was before (None for a new one)."""

    action: str
    fact: Fact
    was: Fact | None
    why: str = ""


@dataclass(frozen=True)
class _Pass:
    """What one derivation works with: who makes it, when, what caused it, and what judges."""

    ports: Ports
    writer: Writer
    judges: Bench
    actor: str
    at: datetime
    cause: Claim | None


@dataclass
class Bench:
    """What judges claims in one pass: their statements, and how alike their texts are, each looked at once."""

    embedder: Embedder
    _vectors: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    _relations: dict[tuple[str, str, str], Relation] = field(default_factory=dict)

    def judge(self, earlier: Claim, later: Claim) -> str:
        """How the two relate: same, update, conflict or none."""
        return self.relation(earlier, later).kind

    def relation(self, earlier: Claim, later: Claim) -> Relation:
        """The same with the reason."""
        if rules.folded(earlier.text) == rules.folded(later.text) and earlier.speaker == later.speaker:
            return Relation("same", "the same words")
        key = (earlier.text, later.text, f"{earlier.speaker}\0{later.speaker}")
        if key not in self._relations:
            self._relations[key] = relate(statement(earlier), statement(later), likeness=self._likeness(earlier.text, later.text))
        return self._relations[key]

    def embed(self, texts: Iterable[str]) -> None:
        """Embeds the texts at once that were not yet."""
        fresh = [t for t in dict.fromkeys(texts) if t not in self._vectors]
        if fresh:
            self._vectors.update(zip(fresh, self.embedder.embed(fresh), strict=True))

    def _likeness(self, one: str, other: str) -> float:
        self.embed((one, other))
        return float(self._vectors[one] @ self._vectors[other])


def statement(claim: Claim) -> Statement:
    """What a claim says. Whoever the scope's user is, is the same person as "I"."""
    return _of_user(read(claim.text, speaker=claim.speaker), claim.scope)


def statement_of(fact: Fact) -> Statement:
    """What a fact says."""
    plain = read(fact.text)
    known = fact.subject not in {"", "user", plain.subject} and plain.subject == "user"
    return _of_user(read(fact.text, speaker=fact.subject) if known else plain, fact.scope)


def _of_user(held: Statement, scope: Scope) -> Statement:
    return replace(held, subject="user") if scope.user and held.subject == rules.folded(scope.user) else held


def settle(ports: Ports, w: Writer, claims: Sequence[Claim], *, actor: str, at: datetime, bench: Bench | None = None) -> list[Settled]:
    """Writes new claims, one after the other as they were said, and what the facts near them become.

    A claim that is known already (the same characters of the log) is nothing.
    """
    judges = bench or Bench(ports.embedder)
    out: list[Settled] = []
    for claim in sorted(claims, key=rules.order):
        out += settle_one(ports, w, claim, judges, actor=actor, at=at)[1]
    return out


def settle_one(ports: Ports, w: Writer, claim: Claim, judges: Bench, *, actor: str, at: datetime) -> tuple[str | None, list[Settled]]:
    """The same for one claim: the id of the fact that it supports now, and the changes."""
    near = _near(w, claim, judges)
    held = w.claims(claim.scope, list(near))
    known = next((c for c in held if _repeats(c, claim)), None)
    if known is not None or sum(c.text == claim.text for c in held) >= _SUPPORTS:
        return next((c.fact for c in (known, *held) if c is not None and c.text == claim.text), None), []
    (made,) = w.put_claims([claim])
    changed, homes = _derive(_Pass(ports, w, judges, actor, at, made), [*held, made], near)
    return homes.get(made.id, made.fact), changed


def again(ports: Ports, w: Writer, claims: Sequence[Claim], facts: Sequence[Fact], *, actor: str, at: datetime) -> list[Settled]:
    """Derives these facts anew from the claims that are left; of facts that stay only what rests on the claims changes."""
    judges = Bench(ports.embedder)
    judges.embed(c.text for c in claims)
    return _derive(_Pass(ports, w, judges, actor, at, None), claims, {f.id: f for f in facts})[0]


def whole(r: Reader, facts: Sequence[Fact], *, most: int | None = _WIDEST) -> dict[str, Fact]:
    """The facts of one scope, and all that stand in relation to them (`most`, if given): successors, predecessors, conflicts."""
    out = {f.id: f for f in facts}
    fresh = list(facts)
    while fresh and (most is None or len(out) < most):
        linked = dict.fromkeys(i for f in fresh for i in (*f.supersedes, *f.conflicts, *((f.superseded_by,) if f.superseded_by else ())))
        found = [r.record(fresh[0].scope, i) for i in linked if i not in out]
        fresh = [f for f in found if isinstance(f, Fact) and f.scope == fresh[0].scope]
        out.update({f.id: f for f in fresh})
    return out


def _near(w: Writer, claim: Claim, judges: Bench) -> dict[str, Fact]:
    """The facts that the claim has to do with, and those that stand in relation to them."""
    found: list[Fact] = []
    if claim.text:
        candidates = w.near(claim.scope, keys(statement(claim)), k=NEAR)
        said_of = {f.id: [c for c in w.claims(claim.scope, [f.id]) if c.text] for f in candidates}
        judges.embed([claim.text, *(c.text for cs in said_of.values() for c in cs)])
        found = [f for f in candidates if any(_concerns(judges, c, claim) for c in said_of[f.id])]
    if claim.target:
        known = {f.id for f in found}
        found += [f for f in (_fact_of(w, claim),) if f is not None and f.id not in known]
    return whole(w, found)


def _concerns(judges: Bench, held: Claim, claim: Claim) -> bool:
    one, other = (held, claim) if rules.order(held) <= rules.order(claim) else (claim, held)
    return judges.judge(one, other) != "none"


def _fact_of(w: Writer, claim: Claim) -> Fact | None:
    """The fact that the claim's target supports: `target` is a claim's id, and the claim's own `fact` names the fact."""
    found = w.record(claim.scope, claim.fact or "")
    return found if isinstance(found, Fact) and found.scope == claim.scope else None


def _repeats(held: Claim, claim: Claim) -> bool:
    """True for a claim that is there already: the same characters of the log in whatever words, or a word of one's own at one time."""
    if held.op != claim.op or held.target != claim.target:
        return False
    places = {(s.message, s.start) for s in claim.provenance.spans}
    if places:
        return bool(places & {(s.message, s.start) for s in held.provenance.spans}) and claim.op in {
            "say",
            "supersede",
            "conflict",
            "reinforce",
        }
    return bool(claim.provenance.episodes) and claim.provenance == held.provenance and held.text == claim.text


def _derive(p: _Pass, claims: Sequence[Claim], known: dict[str, Fact]) -> tuple[list[Settled], dict[str, str]]:
    """The facts that the claims come to, written where they differ from those that are known; and the fact of each claim."""
    w, at = p.writer, p.at
    derived = rules.derive(claims, p.judges.judge)
    ids = _ids(derived, known)
    out: list[Settled] = []
    for d in reversed(derived):  # successors first, so that they have their ids
        if id(d) not in ids:
            fact = _fact(d, None, (derived, ids), at)
            entry = entries(p.ports.embedder, [said(fact, keys(statement(d.words)))])[0]
            made = w.add_fact(fact, entry, Change("add", d.words.actor, fact.recorded_at, "", _source(d.words)))
            ids[id(d)] = made.id
            known = {**known, made.id: made}
            out.append(Settled("add", made, None))
    homes = {c.id: ids[id(d)] for d in derived for c in d.claims}
    homes.update({c.id: homes[c.target] for c in claims if c.target in homes and c.id not in homes})
    w.put_claims([replace(c, fact=homes[c.id]) for c in claims if c.id in homes and c.fact != homes[c.id]])
    for d in derived:
        was = known[ids[id(d)]]
        now = _fact(d, was, (derived, ids), at)
        if now != was:
            change = Change(_action(was, now), p.actor, at, _why(d, p.cause, p.judges), _cause(d, p.cause, ids))
            out = _put(p, (was, now), change, d, out)
    out += _merged(p, claims, known, homes)
    return out, homes


def _merged(p: _Pass, claims: Sequence[Claim], known: dict[str, Fact], homes: dict[str, str]) -> list[Settled]:
    """Facts whose claims all went to another say the same as that one. A fact of an older store without claims stays as it is."""
    out = []
    living = set(homes.values())
    for fact in known.values():
        into = next((homes[c.id] for c in claims if c.fact == fact.id and c.id in homes), None)
        if fact.id in living or fact.retracted_at is not None or into is None:
            continue
        left = replace(fact, retracted_at=p.at, status="deprecated", superseded_by=into, confidence=0.0, conflicts=())
        p.writer.put_fact(left, Change("merge", p.actor, p.at, "says the same as another", into))
        out.append(Settled("merge", left, fact))
    return out


def _put(p: _Pass, states: tuple[Fact, Fact], change: Change, d: rules.Derived, done: list[Settled]) -> list[Settled]:
    """Writes a changed fact (as it was, as it is). One that was only just made is linked, and that is no change of its own."""
    was, now = states
    entry = None
    if (now.text, now.why, now.tags, now.valid_from) != (was.text, was.why, was.tags, was.valid_from):
        entry = entries(p.ports.embedder, [said(now, keys(statement(d.words)))])[0]
    p.writer.put_fact(now, change, entry=entry)
    if any(s.action == "add" and s.fact.id == now.id for s in done):
        return [replace(s, fact=now) if s.fact.id == now.id else s for s in done]
    return [*done, Settled(change.action, now, was, change.why)]


def _ids(derived: Sequence[rules.Derived], known: dict[str, Fact]) -> dict[int, str]:
    """Which known fact each derived one goes on as: the one that its words supported, else any of its claims, each once."""
    out: dict[int, str] = {}
    taken: set[str] = set()
    for d in derived:
        for claim in (d.words, *d.claims):
            if claim.fact and claim.fact in known and claim.fact not in taken:
                out[id(d)] = claim.fact
                taken.add(claim.fact)
                break
    return out


def _fact(d: rules.Derived, was: Fact | None, found: tuple[Sequence[rules.Derived], dict[int, str]], now: datetime) -> Fact:
    """The fact as it is derived; links to facts that have no id yet are left out."""
    derived, ids = found
    words = d.words
    held = statement(words)
    state = rules.status(d, now)
    against = tuple(sorted(ids[id(o)] for o in d.against if id(o) in ids))
    before = [ids[id(o)] for o in derived if o.by is d and id(o) in ids]
    older = [i for i in was.supersedes if i not in set(ids.values())] if was is not None else []
    return Fact(
        ids.get(id(d), ""), words.scope, words.text, words.fact_kind, words.why or next((c.why for c in d.claims if c.why), ""), words.source,
        "user" if d.hand.confirmed else words.trust, 0.0 if state == "deprecated" else d.confidence(), d.tags(), d.start, d.ended,
        was.recorded_at if was is not None else min(c.recorded_at for c in d.claims), d.hand.retracted, d.provenance(),
        (*older, *before), state, ids.get(id(d.by)) if d.by is not None else None, against, held.subject, held.predicate, held.object,
    )  # fmt: skip


def _action(was: Fact, now: Fact) -> str:
    """What a change comes to, the weightiest part of it."""
    if now.retracted_at is not None and was.retracted_at is None:
        return "retract"
    if now.status == "deprecated" != was.status:
        return "supersede" if now.superseded_by else "end"
    if "deprecated" == was.status != now.status or "archived" == was.status != now.status:
        return "restore"
    if now.status != was.status:
        return {"archived": "archive", "conflict": "conflict", "active": "confirm" if was.status == "quarantine" else "resolve"}.get(
            now.status, now.status
        )
    if now.superseded_by and now.superseded_by != was.superseded_by:
        return "supersede"
    if now.conflicts != was.conflicts:
        return "conflict" if len(now.conflicts) > len(was.conflicts) else "resolve"
    return "reinforce" if now.confidence > was.confidence or now.provenance != was.provenance else "update"


def _why(d: rules.Derived, cause: Claim | None, judges: Bench) -> str:
    """Why a fact changed: what was said by hand, or how it relates to what was said."""
    if cause is None:
        return ""
    if cause.op not in {"say", "reinforce"}:
        return cause.why
    related = [judges.relation(*sorted((c, cause), key=rules.order)) for c in d.claims if c.id != cause.id]
    return next((r.why for r in related if r.kind != "none"), "")


def _cause(d: rules.Derived, cause: Claim | None, ids: dict[int, str]) -> str | None:
    if d.by is not None:
        return ids.get(id(d.by))
    return _source(cause) if cause is not None else None


def _source(claim: Claim) -> str | None:
    return claim.provenance.spans[0].message if claim.provenance.spans else None

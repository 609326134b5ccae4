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
from leporello.core.facts.read import keys, sure_keys
from leporello.core.facts.relate import Relation, relate
from leporello.flows.aging import follow, observed
from leporello.flows.indexing import entries, said, statement
from leporello.ports import Change, Embedder, Entry, Ports, Reader, Writer
from leporello.records import Claim, Fact, Scope

RELATED = frozenset({"same", "update", "conflict"})
NEAR = 200
"""How many facts at most are looked at for one claim."""
_WIDEST = 200
_SUPPORTS = 40
_STEPS = {"fade": "archive", "revive": "restore"}
"""How steps of maintenance are called in a history."""


@dataclass(frozen=True)
class Settled:
    """One change: what was done, the fact as it is, and as it was before (None for a new one)."""

    action: str
    fact: Fact
    was: Fact | None
    why: str = ""


@dataclass(frozen=True)
class _Pass:
    """What one derivation works with: who makes it, when, what caused it, and what judges.

    `outside` are facts that stand in relation to those that are known here, but are not looked at.
    """

    ports: Ports
    writer: Writer
    judges: Bench
    actor: str
    at: datetime
    cause: Claim
    outside: frozenset[str]


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


def settle(ports: Ports, w: Writer, claims: Sequence[Claim], *, actor: str, at: datetime, bench: Bench | None = None) -> list[Settled]:
    """Writes new claims, one after the other as they were said, and what the facts near them become.

    A claim that is known already (the same characters of the log) is nothing.
    """
    judges = bench or Bench(ports.embedder)
    out: list[Settled] = []
    for claim in sorted(claims, key=rules.order):
        out += settle_one(ports, w, claim, judges, actor=actor, at=at)[1]
    return out


def settle_one(
    ports: Ports, w: Writer, claim: Claim, judges: Bench, *, actor: str, at: datetime, also: Sequence[Fact] = ()
) -> tuple[str | None, list[Settled]]:
    """The same for one claim: the id of the fact that it supports now, and the changes. `also` are facts that it names."""
    near = {**_near(w, claim, judges), **whole(w, also)}
    held = w.claims(claim.scope, list(near))
    known = next((c for c in held if _repeats(c, claim)), None)
    if known is not None:
        return known.fact, []
    full = next((f for f in near.values() if _full(f, held, claim)), None)
    if full is not None:
        observed(ports, w, full, at)
        return full.id, []
    (made,) = w.put_claims([claim])
    outside = frozenset(i for f in near.values() for i in _linked(f) if i not in near)
    changed, homes = _derive(_Pass(ports, w, judges, actor, at, made, outside), [*held, *_pinned(near, held), made], near)
    return homes.get(made.id, made.fact), changed


def whole(r: Reader, facts: Sequence[Fact], *, most: int | None = _WIDEST) -> dict[str, Fact]:
    """The facts of one scope, and all that stand in relation to them (`most`, if given): successors, predecessors, conflicts."""
    out = {f.id: f for f in facts}
    fresh = list(facts)
    while fresh and (most is None or len(out) < most):
        linked = dict.fromkeys((*(i for f in fresh for i in _linked(f)), *r.acting(fresh[0].scope, [f.id for f in fresh])))
        found = [r.record(fresh[0].scope, i) for i in linked if i not in out]
        fresh = [f for f in found if isinstance(f, Fact) and f.scope == fresh[0].scope]
        out.update({f.id: f for f in fresh})
    return out


def _linked(fact: Fact) -> tuple[str, ...]:
    return (*fact.supersedes, *fact.conflicts, *((fact.superseded_by,) if fact.superseded_by else ()))


def _full(fact: Fact, held: Sequence[Claim], claim: Claim) -> bool:
    """True if one more claim would add nothing to a fact: it stands, and so many say these words of it already."""
    if claim.op not in {"say", "reinforce"} or not claim.text or fact.status not in {"active", "conflict"}:
        return False
    within = fact.at <= claim.at and fact.valid_to is None and fact.retracted_at is None
    alike = (c for c in held if c.fact == fact.id and c.text == claim.text and c.speaker == claim.speaker)
    return within and sum(rules.RANK[c.trust] >= rules.RANK[claim.trust] for c in alike) >= _SUPPORTS


def _pinned(near: dict[str, Fact], held: Sequence[Claim]) -> list[Claim]:
    """What keeps a fact ended whose successor is too far away to be looked at."""
    out = []
    for fact in near.values():
        base = next((c for c in held if c.fact == fact.id and c.text), None)
        if fact.superseded_by and fact.superseded_by not in near and fact.valid_to is not None and base is not None:
            out.append(replace(base, id=f"pinned {base.id}", op="end", text="", at=fact.valid_to, target=base.id))
    return out


def _near(w: Writer, claim: Claim, judges: Bench) -> dict[str, Fact]:
    """The facts that the claim has to do with, and those that stand in relation to them."""
    found: list[Fact] = []
    target = _fact_of(w, claim) if claim.target else None
    told = w.claims(claim.scope, [target.id]) if target is not None else []
    about = claim if claim.text else next((c for c in told if c.id == claim.target), None)
    if about is not None:
        said_by = statement(about)
        candidates = w.near(claim.scope, keys(said_by), sure=sure_keys(said_by), k=NEAR)
        held = [c for c in w.claims(claim.scope, [f.id for f in candidates]) if c.text]
        judges.embed([about.text, *(c.text for c in held)])
        concerned = {c.fact for c in held if _concerns(judges, c, about)}
        found = [f for f in candidates if f.id in concerned]
    if target is not None and target.id not in {f.id for f in found}:
        found.append(target)
    return whole(w, found)


def at_home(w: Writer, claim: Claim, homes: Sequence[Scope], judges: Bench, *, kinds: frozenset[str] = RELATED) -> Claim:
    """The claim in that one of the scopes which holds a fact that it relates to so: what is known stays where it is known.

    Its own scope comes first; without such a fact anywhere it stays there.
    """
    if not claim.text or claim.target:
        return claim
    for scope in dict.fromkeys((claim.scope, *homes)):
        moved = replace(claim, scope=scope)
        said_by = statement(moved)
        near = w.near(scope, keys(said_by), sure=sure_keys(said_by), k=NEAR)
        held = [c for c in w.claims(scope, [f.id for f in near]) if c.text]
        if any(judges.judge(*sorted((c, moved), key=rules.order)) in kinds for c in held):
            return moved
    return claim


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
    ids = identified(derived, {c.id: c.fact for c in claims if c.fact in known and c.id != p.cause.id})
    homes = homes_of(derived, ids, claims)
    merged = _merged(claims, known, homes)
    links = Links(ids, (p.outside | set(known)) - set(ids.values()) - set(merged), merged)
    out: list[Settled] = []
    for d in reversed(derived):  # successors first, so that they have their ids
        if id(d) not in ids:
            fact = fact_of(d, None, derived, links, at)
            made = w.add_fact(fact, index_row(p.ports, fact, d), Change("add", d.words.actor, at, "", source(d.words)))
            ids[id(d)] = made.id
            known = {**known, made.id: made}
            out.append(Settled("add", made, None))
    homes = homes_of(derived, ids, claims)
    w.put_claims([replace(c, fact=homes[c.id]) for c in claims if c.id in homes and c.fact != homes[c.id]])
    for d in derived:
        was = known[ids[id(d)]]
        now = fact_of(d, was, derived, links, at)
        if now != was or by_hand(p.cause, d):
            by = ids.get(id(d.by)) if now.superseded_by != was.superseded_by else source(p.cause)
            named = _STEPS.get(p.cause.op, p.cause.op) if by_hand(p.cause, d) else action(was, now)
            out = _put(p, (was, now), Change(named, p.actor, at, why(d, p.cause, p.judges), by), d, out)
    _note_step(p, homes, known, out)
    for id_, into in merged.items():
        left = replace(known[id_], retracted_at=at, status="deprecated", superseded_by=into, confidence=0.0, conflicts=())
        w.put_fact(left, Change("merge", p.actor, at, "says the same as another", into))
        w.move_events(left.scope, id_, into)
        out.append(Settled("merge", left, known[id_]))
    _follow(p, derived, ids, homes, out)
    return out, homes


def _follow(p: _Pass, derived: Sequence[rules.Derived], ids: dict[int, str], homes: dict[str, str], done: Sequence[Settled]) -> None:
    """The traces of the facts that changed, and of the one that the cause belongs to."""
    facts = {s.fact.id: s.fact for s in done}
    by_id = {ids[id(d)]: d for d in derived}
    home = homes.get(p.cause.id) or homes.get(p.cause.target or "")
    if home is not None and home not in facts:
        held = p.writer.record(p.cause.scope, home)
        facts |= {home: held} if isinstance(held, Fact) else {}
    follow(p.ports, p.writer, by_id, {i: f for i, f in facts.items() if i in by_id})


def _note_step(p: _Pass, homes: dict[str, str], known: dict[str, Fact], done: Sequence[Settled]) -> None:
    """What was done by hand stands in the fact's history also where it changes nothing, as a confirmation of what is certain."""
    step = p.cause
    fact = known.get(homes.get(step.target or "", ""))
    if fact is not None and not step.text and step.op != "reinforce" and all(s.fact.id != fact.id for s in done):
        p.writer.put_fact(fact, Change(step.op, p.actor, p.at, step.why))


def _merged(claims: Sequence[Claim], known: dict[str, Fact], homes: dict[str, str]) -> dict[str, str]:
    """Facts whose claims all went to another say the same as that one. A fact of an older store without claims stays as it is."""
    living = set(homes.values())
    lost = [f for f in known.values() if f.id not in living and f.retracted_at is None]
    into = {f.id: next((homes[c.id] for c in claims if c.fact == f.id and c.id in homes), None) for f in lost}
    return {one: other for one, other in into.items() if other is not None}


def _put(p: _Pass, states: tuple[Fact, Fact], change: Change, d: rules.Derived, done: list[Settled]) -> list[Settled]:
    """Writes a changed fact (as it was, as it is). One that was only just made is linked, and that is no change of its own."""
    was, now = states
    entry = index_row(p.ports, now, d) if shown_anew(was, now) else None
    p.writer.put_fact(now, change, entry=entry)
    if any(s.action == "add" and s.fact.id == now.id for s in done):
        return [replace(s, fact=now) if s.fact.id == now.id else s for s in done]
    return [*done, Settled(change.action, now, was, change.why)]


@dataclass(frozen=True)
class Links:
    """How derived facts are linked: their ids; known facts that are not derived here, to which links stay; what merges into what."""

    ids: dict[int, str]
    kept: frozenset[str] | set[str]
    merged: dict[str, str]


def identified(derived: Sequence[rules.Derived], homes: dict[str, str | None]) -> dict[int, str]:
    """Which fact each derived one goes on as: the one that its words supported, else any of its claims, each once."""
    out: dict[int, str] = {}
    taken: set[str] = set()
    for d in derived:
        held = (homes.get(c.id) for c in (d.words, *d.claims))
        found = next((f for f in held if f is not None and f not in taken), None)
        if found is not None:
            out[id(d)] = found
            taken.add(found)
    return out


def homes_of(derived: Sequence[rules.Derived], ids: dict[int, str], claims: Sequence[Claim]) -> dict[str, str]:
    """The fact of each claim: for one without a statement that of the claim that it was done to, or that stands instead."""
    homes = {c.id: ids[id(d)] for d in derived if id(d) in ids for c in d.claims}
    about = {c.id: c.source if c.op == "supersede" else c.target or "" for c in claims if not c.text}
    homes.update({id_: homes[claim] for id_, claim in about.items() if claim in homes})
    return homes


def fact_of(d: rules.Derived, was: Fact | None, derived: Sequence[rules.Derived], links: Links, now: datetime) -> Fact:
    """The fact as it is derived; links to facts that have no id yet are left out."""
    ids, words = links.ids, d.words
    mine = ids.get(id(d), "")
    held = statement(words)
    state = rules.status(d, now)
    older = [i for i in was.supersedes if i in links.kept] if was is not None else []
    before = [ids[id(o)] for o in derived if o.by is d and id(o) in ids] + [one for one, into in links.merged.items() if into == mine]
    against = [ids[id(o)] for o in d.against if id(o) in ids]
    if was is not None and d.standing:
        against += [i for i in was.conflicts if i in links.kept]
    by = ids.get(id(d.by)) if d.by is not None else None
    if by is None and was is not None and was.superseded_by in links.kept and d.ended is not None:
        by = was.superseded_by
    return Fact(
        mine, words.scope, words.text, words.fact_kind, _reason(d), words.source,
        "user" if d.hand.confirmed else words.trust, 0.0 if state == "deprecated" else d.confidence(), d.tags(), d.start, d.ended,
        was.recorded_at if was is not None else now, d.hand.retracted, d.provenance(), tuple(dict.fromkeys((*older, *before))), state, by,
        tuple(sorted(set(against))), held.subject, held.predicate, held.object,
    )  # fmt: skip


def _reason(d: rules.Derived) -> str:
    """The reason that stands with the words, else any; why another fact was contradicted by hand comes last."""
    whys = sorted((d.words, *d.claims), key=lambda c: c.op == "supersede" and not c.provenance.spans)
    return next((c.why for c in whys if c.why), "")


def index_row(ports: Ports, fact: Fact, d: rules.Derived) -> Entry:
    """The index row of a derived fact, with its keys."""
    return entries(ports.embedder, [said(fact, keys(statement(d.words)))])[0]


def shown_anew(was: Fact, now: Fact) -> bool:
    """True if the index row of a fact is another now."""
    return any(getattr(was, name) != getattr(now, name) for name in ("text", "why", "tags", "valid_from", "recorded_at", "subject"))


def by_hand(cause: Claim, d: rules.Derived) -> bool:
    """True if this was done to the fact by hand: then it is a change of it, whatever it changes."""
    return not cause.text and cause.op != "supersede" and any(c.id == cause.target for c in d.claims)


def action(was: Fact, now: Fact) -> str:
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


def why(d: rules.Derived, cause: Claim, judges: Bench) -> str:
    """Why a fact changed: what was said by hand, or how it relates to what was said."""
    if cause.op not in {"say", "reinforce"}:
        return cause.why
    related = [judges.relation(*sorted((c, cause), key=rules.order)) for c in d.claims if c.id != cause.id]
    return next((r.why for r in related if r.kind != "none"), "")


def source(claim: Claim) -> str | None:
    """The message that a claim comes from."""
    return claim.provenance.spans[0].message if claim.provenance.spans else None

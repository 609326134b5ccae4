"""Erasing: a record and everything that rests on it, everywhere, with a receipt.

A message takes with it the claims whose characters it holds. Facts are derived anew from the claims that are left: one that has no
other source is gone, one whose words it gave takes the words of another source, and what had ended because of it stands again. The
episodes that cover it are made again from what is left, notes of its session that repeat it go, and the compact of its session is
dropped. The history of these facts is written anew, as if it had never been said. An episode takes its turns and its facts with it,
because the same words must not stay elsewhere. A fact goes alone: its sources are records of their own, and what it put an end to
stays ended.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from leporello.core.facts import folded
from leporello.core.guard.echo import Echoes
from leporello.core.tokens import estimate
from leporello.errors import FoldError, NotFound
from leporello.flows.aging import begin
from leporello.flows.episodes import make_episode
from leporello.flows.indexing import entries, said
from leporello.flows.replay import replay
from leporello.flows.settle import whole
from leporello.ports import AnyRecord, Ports, Writer
from leporello.records import Claim, Episode, Fact, Message, Provenance, Scope
from leporello.results import Receipt

_LEFT_BEHIND = "Another reader still holds the bytes; they go when it ends: call erase or flush again."
_WORDS = 12


@dataclass
class _Left:
    """What an erasure leaves of facts that stand in relation: those that go, those that stay, and the claims that are left."""

    gone: list[Fact]
    stay: list[Fact]
    claims: list[Claim]


def erase(ports: Ports, scope: Scope, ids: Sequence[str]) -> tuple[Receipt, list[str]]:
    """Erases these records of the scope with what rests on them; the receipt, and the ids of all that is gone."""
    counts: Counter[str] = Counter()
    gone: list[str] = []
    with ports.store.write() as w:
        found = [_require(w, scope, i) for i in dict.fromkeys(ids)]
        doomed = _with_turns(w, found)
        known = {d.id for d in doomed}
        remade = [e for e in _on(w, doomed) if isinstance(e, Episode) and e.id not in known]
        left = _facts(w, doomed, [*doomed, *remade], ports.clock.now(), counts)
        everything = list({r.id: r for r in (*(f for part in left for f in part.gone), *remade, *doomed)}.values())
        for session in {m.scope for m in doomed if isinstance(m, Message)}:
            counts["compacts"] += _drop_compact(w, session)
        counts["notes"] += _drop_notes(w, [m for m in doomed if isinstance(m, Message)], ports.clock.now())
        counts.update(w.erase(everything))
        gone = [r.id for r in everything if r.id not in {e.id for e in remade}]
        made = {e.id: _remake(ports, w, e) for e in remade}
        for session in {m.scope for m in doomed if isinstance(m, Message)}:
            _set_turns(w, session)
        _again(ports, w, left, made)
    return _receipt(ports, scope, counts, gone), gone


def erase_all(ports: Ports, scope: Scope) -> tuple[Receipt, list[str]]:
    """Erases everything whose scope the given one covers, and what rests on it in any scope of the tenant; as `erase`."""
    counts: Counter[str] = Counter()
    with ports.store.write() as w:
        covered: list[AnyRecord] = [*w.facts(scope), *w.episodes(scope), *(m for s in w.sessions(scope) for m in w.messages(s))]
        inside = [r for r in covered if scope.covers(r.scope)]
        left = _facts(w, inside, inside, ports.clock.now(), counts)
        outside = [f for part in left for f in part.gone if not scope.covers(f.scope)]
        counts.update(w.erase(outside))
        more, ids = w.erase_scope(scope)
        counts.update(more)
        _again(ports, w, [part for part in left if not any(scope.covers(f.scope) for f in part.stay)], {})
    gone = [*ids, *(f.id for f in outside)]
    return _receipt(ports, scope, counts, gone), gone


def _facts(w: Writer, doomed: Sequence[AnyRecord], touched: Sequence[AnyRecord], now: datetime, counts: Counter[str]) -> list[_Left]:
    """What is left of the facts that rest on what goes, or stand in relation to such a fact; claims that are lost are dropped."""
    ids = {d.id for d in doomed}
    lost_with = (ids, {t.id for t in touched})
    out: list[_Left] = []
    seen: set[str] = set()
    for fact in [r for r in (*doomed, *_on(w, touched)) if isinstance(r, Fact)]:
        if fact.id not in seen:
            near = whole(w, [fact], most=None)
            seen |= set(near)
            out.append(_part(w, near, lost_with, now, counts))
    return out


def _part(w: Writer, near: Mapping[str, Fact], lost_with: tuple[set[str], set[str]], now: datetime, counts: Counter[str]) -> _Left:
    """The same for facts that all stand in relation, directly or not. What was done by hand stays with a fact that stays."""
    ids, touched = lost_with
    held = w.claims(next(iter(near.values())).scope, list(near))
    lost = {c.id for c in held if c.fact in ids or _lost(c, ids, touched)}
    rest = _heired(held, lost)
    dropped = [c for c in held if c.id not in {r.id for r in rest}]
    w.drop_claims(dropped)
    counts["claims"] += len(dropped)
    left = _Left([], [], [])
    said_of = {c.fact for c in rest if c.text}
    for fact in near.values():
        had = any(c.fact == fact.id for c in held)
        merged = fact.retracted_at is not None and fact.superseded_by in ids
        if fact.id in ids or (had and fact.id not in said_of) or (not had and (merged or _rests(fact, ids))):
            left.gone.append(fact)
        else:
            left.stay.append(fact)
    stay = {f.id for f in left.stay}
    ended = [claim for f in left.gone if f.id in ids for claim in _ends(w, f, left.stay, rest, now)]
    left.claims = [c for c in rest if c.fact in stay] + ended
    for fact in left.stay:
        if any(c.fact == fact.id for c in dropped):
            counts["history rows"] += w.put_history(fact, ())
    return left


def _heired(held: Sequence[Claim], lost: set[str]) -> list[Claim]:
    """The claims that are left. What was done to one that is lost is done to the next one of its fact, if there is any."""
    heirs = {
        c.id: next((o.id for o in held if o.fact == c.fact and o.text and o.id not in lost), None) for c in held if c.id in lost and c.text
    }
    out = []
    for c in held:
        target, source = heirs.get(c.target or "", c.target), heirs.get(c.source, c.source)
        if c.id not in lost and (c.text or (target and source)):
            out.append(replace(c, target=target, source=source or c.source))
    return out


def _lost(claim: Claim, ids: set[str], touched: set[str]) -> bool:
    """True for a claim whose characters go; or that came from an episode as a whole, as a model may make it, of which anything goes."""
    where = claim.provenance
    return any(s.message in ids for s in where.spans) if where.spans else any(e in touched for e in where.episodes)


def _ends(w: Writer, fact: Fact, stay: Sequence[Fact], rest: Sequence[Claim], now: datetime) -> list[Claim]:
    """What a fact put an end to stays ended when only the fact goes, from when it was known to be."""
    out = []
    for old in stay:
        base = next((c for c in rest if c.fact == old.id and c.text), None)
        if old.superseded_by != fact.id or base is None:
            continue
        known = [h.at for h in w.history(old) if h.by == fact.id]
        out.append(
            Claim(
                "", old.scope, "end", "", old.fact_kind, "", "erase", "user", 1.0, (), old.valid_to or now, known[-1] if known else now,
                Provenance(), "erase", base.id, old.id,
            )
        )  # fmt: skip
    return out


def _again(ports: Ports, w: Writer, left: Sequence[_Left], made: Mapping[str, str | None]) -> None:
    """Derives the facts that stay anew, with their history; claims name the episodes that were made again."""
    for part in left:
        if part.stay:
            replay(ports, w, w.put_claims([_renamed(c, made) for c in part.claims]), part.stay)


def _renamed(claim: Claim, made: Mapping[str, str | None]) -> Claim:
    p = claim.provenance
    episodes = tuple(n for e in p.episodes if (n := made.get(e, e)) is not None)
    return claim if episodes == p.episodes else replace(claim, provenance=Provenance(p.session, p.turns, episodes, p.spans))


def _require(w: Writer, scope: Scope, id: str) -> AnyRecord:
    found = w.record(scope, id)
    if found is None:
        raise NotFound(f"{id!r} is not in this scope.")
    return found


def _with_turns(w: Writer, found: Iterable[AnyRecord]) -> list[AnyRecord]:
    """The records, and for an episode the messages that it covers."""
    out: dict[str, AnyRecord] = {}
    for r in found:
        out[r.id] = r
        if isinstance(r, Episode):
            state = w.session(r.scope)
            if state is not None:
                out.update({m.id: m for m in w.messages(state, first=r.positions[0], last=r.positions[1])})
    return list(out.values())


def _on(w: Writer, records: Sequence[AnyRecord]) -> list[AnyRecord]:
    """Facts and episodes that rest directly on these records."""
    by_tenant: dict[str, list[str]] = {}
    for r in records:
        by_tenant.setdefault(r.scope.tenant, []).append(r.id)
    return [r for tenant, held in by_tenant.items() for r in w.derived(Scope(tenant), held)]


def _rests(fact: Fact, ids: set[str]) -> bool:
    spans = {s.message for s in fact.provenance.spans}
    return bool(spans & ids) if spans else bool(set(fact.provenance.episodes) & ids)


def _remake(ports: Ports, w: Writer, old: Episode) -> str | None:
    """The episode again, from the messages that are left; None when none are or nothing can be said of them.

    The compactor that always answers makes it: this stands in the write transaction, where no model is waited for.
    """
    state = w.session(old.scope)
    left = list(w.messages(state, first=old.positions[0], last=old.positions[1])) if state is not None else []
    if state is None or not left:
        return None
    try:
        fresh = make_episode(ports, state, left, number=old.number, first_turn=old.turns[0], by=ports.fallback).value
    except FoldError:
        summary = f"{len(left)} messages are left of turns {old.turns[0]} to {old.turns[1]}."
        fresh = replace(old, summary=summary, items=(), tokens=estimate(summary), recorded_at=ports.clock.now())
    fresh = replace(
        fresh, turns=old.turns, positions=old.positions, layer=old.layer, distilled=old.distilled, at=left[-1].at
    )  # fmt: skip
    again = w.add_episode(state, fresh, entries(ports.embedder, [said(fresh)])[0])
    begin(ports, w, [again])
    return again.id


def _set_turns(w: Writer, session: Scope) -> None:
    """Gives each turn of the session to the episode that holds the first message that is left of it."""
    state = w.session(session)
    if state is None:
        return
    end = 0
    changed = []
    for e in w.episodes(session, session=state):
        last = max(end, w.last_turn(state, first=e.positions[0], last=e.positions[1]) or 0)
        if e.turns != (end + 1, last):
            changed.append(replace(e, turns=(end + 1, last)))
        end = last
    w.put_episodes(changed)
    w.put_session(replace(state, folded_turn=end))


def _drop_notes(w: Writer, messages: Sequence[Message], now: datetime) -> int:
    """Removes the notes of these messages' sessions that say what they said; how many."""
    dropped = 0
    for session in {m.scope for m in messages}:
        texts = [m.text for m in messages if m.scope == session and m.text.strip()]
        echoes = Echoes.of(texts)
        for note in w.notes(session):
            strings = [t for t in _strings(note.value) if t.strip()]
            if note.scope == session and any(_same_words(t, texts) or (len(t) > _WORDS and echoes.holds(t)) for t in strings):
                w.put_note(replace(note, value=None, at=now))
                dropped += 1
    return dropped


def _same_words(text: str, texts: Sequence[str]) -> bool:
    return any(folded(text) == folded(t) for t in texts)


def _strings(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _strings(inner)


def _drop_compact(w: Writer, session: Scope) -> int:
    held = w.compact(session)
    if held is None:
        return 0
    w.drop_compact(session)
    return 1


def _receipt(ports: Ports, scope: Scope, counts: Mapping[str, int], ids: Sequence[str]) -> Receipt:
    """Scrubs the files of what the deleted rows left, and says what was done."""
    complete = ports.store.scrub()
    proof = hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()
    kept = {k: v for k, v in sorted(counts.items()) if v}
    return Receipt(scope, ports.clock.now(), kept, proof, len(ids), complete, "" if complete else _LEFT_BEHIND)

"""Erasing: a record and everything that rests on it, everywhere, with a receipt.

A message takes with it the facts whose characters it holds; the episodes that cover it are made again from what is left,
and the compact of its session is dropped. An episode takes its turns and its facts with it, because the same words must not
stay elsewhere. A fact goes alone: its sources are records of their own.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from leporello.core.tokens import estimate
from leporello.errors import FoldError, NotFound
from leporello.flows.episodes import make_episode
from leporello.flows.indexing import entries, said
from leporello.ports import AnyRecord, Ports, Writer
from leporello.records import Episode, Fact, Message, Provenance, Scope
from leporello.results import Receipt

_LEFT_BEHIND = "Another reader still holds the bytes; they go when it ends: call erase or flush again."


def erase(ports: Ports, scope: Scope, ids: Sequence[str]) -> Receipt:
    """Erases these records of the scope with what rests on them."""
    counts: Counter[str] = Counter()
    gone: list[str] = []
    with ports.store.write() as w:
        found = [_require(w, scope, i) for i in dict.fromkeys(ids)]
        doomed = _with_turns(w, found)
        facts, episodes = _resting(w, doomed)
        remade = [e for e in episodes if e.id not in {d.id for d in doomed}]
        everything = list({r.id: r for r in (*facts, *remade, *doomed)}.values())
        for session in {m.scope for m in doomed if isinstance(m, Message)}:
            counts["compacts"] += _drop_compact(w, session)
        counts.update(w.erase(everything))
        gone = [r.id for r in everything if r.id not in {e.id for e in remade}]
        made = {e.id: _remake(ports, w, e) for e in remade}
        for session in {m.scope for m in doomed if isinstance(m, Message)}:
            _set_turns(w, session)
        _rename_sources(ports, w, scope, made)
    return _receipt(ports, scope, counts, gone)


def erase_all(ports: Ports, scope: Scope) -> Receipt:
    """Erases everything whose scope the given one covers, and what rests on it in any scope of the tenant."""
    with ports.store.write() as w:
        covered: list[AnyRecord] = [*w.facts(scope), *w.episodes(scope), *(m for s in w.sessions(scope) for m in w.messages(s))]
        inside = [r for r in covered if scope.covers(r.scope)]
        facts, _ = _resting(w, inside)
        outside = [f for f in facts if not scope.covers(f.scope)]
        counts = Counter(w.erase(outside))
        more, ids = w.erase_scope(scope)
        counts.update(more)
    return _receipt(ports, scope, counts, [*ids, *(f.id for f in outside)])


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


def _resting(w: Writer, doomed: Sequence[AnyRecord]) -> tuple[list[Fact], list[Episode]]:
    """Facts that hold characters of these records (or came from them as a whole), and episodes that cover messages of them."""
    facts: dict[str, Fact] = {}
    episodes: dict[str, Episode] = {}
    ids = {d.id for d in doomed}
    by_tenant: dict[str, list[str]] = {}
    for d in doomed:
        by_tenant.setdefault(d.scope.tenant, []).append(d.id)
    for tenant, held in by_tenant.items():
        for r in w.derived(Scope(tenant), held):
            if isinstance(r, Episode):
                episodes[r.id] = r
            elif isinstance(r, Fact) and _rests(r, ids):
                facts[r.id] = r
        for r in w.derived(Scope(tenant), [e for e in episodes if e not in ids]):
            if isinstance(r, Fact) and _rests(r, ids | set(episodes)) and not r.provenance.spans:
                facts[r.id] = r
    return list(facts.values()), list(episodes.values())


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
    return w.add_episode(state, fresh, entries(ports.embedder, [said(fresh)])[0]).id


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


def _rename_sources(ports: Ports, w: Writer, scope: Scope, made: Mapping[str, str | None]) -> None:
    """Facts that stay name the episodes that were made again."""
    if not made:
        return
    for fact in w.facts(Scope(scope.tenant)):
        if set(fact.provenance.episodes) & set(made):
            episodes = tuple(n for e in fact.provenance.episodes if (n := made.get(e, e)) is not None)
            p = fact.provenance
            renamed = replace(fact, provenance=Provenance(p.session, p.turns, episodes, p.spans))
            w.put_fact(renamed, action="source remade", actor="erase", why="a source of its episode was erased", at=ports.clock.now())


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

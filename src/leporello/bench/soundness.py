"""Is a store sound? What must hold between its records whatever happened to it: no half fold, no lost or doubled row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from leporello import Memory, Scope
from leporello.ports import AnyRecord, Reader, SessionState
from leporello.records import Episode, Message
from leporello.results import Layers


def faults(mem: Memory, *, erased: int = 0) -> list[str]:
    """What is wrong, a line each. `erased` is the most messages that were ever erased: so many positions may be empty."""
    found = list(mem.doctor())
    missing = 0
    with mem._ports.store.read() as r:
        tenants = r.tenants()
        for tenant in tenants:
            for state in r.sessions(Scope(tenant)):
                wrong, gaps = _session(r, state)
                found += [f"{state.scope}: {w}" for w in wrong]
                missing += gaps
            found += _index(r, Scope(tenant))
    for tenant in tenants:
        found += _layers(mem, tenant)
    if missing > erased:
        found.append(f"{missing} positions are empty, {erased} messages were erased")
    return found


def _session(r: Reader, state: SessionState) -> tuple[list[str], int]:
    """Counters against rows, episodes against messages; and how many positions are empty."""
    wrong: list[str] = []
    messages = list(r.messages(state, last=state.messages + 1_000))
    episodes = r.episodes(state.scope, session=state)
    positions = [m.pos for m in messages]
    turns = [m.turn for m in messages]
    if positions != sorted(set(positions)) or turns != sorted(turns):
        wrong.append("positions or turns are out of order")
    if positions and (positions[0] < 1 or positions[-1] > state.messages or turns[-1] > state.turns):
        wrong.append(f"rows reach position {positions[-1]}, turn {turns[-1]}; the counters say {state.messages}, {state.turns}")
    wrong += _episodes(state, episodes, messages)
    return wrong, state.messages - len(messages)


def _episodes(state: SessionState, episodes: Sequence[Episode], messages: Sequence[Message]) -> list[str]:
    wrong: list[str] = []
    end = 0
    held = {m.pos for m in messages}
    for e in sorted(episodes, key=lambda e: e.positions):
        if e.positions[0] <= end or e.positions[1] < e.positions[0]:
            wrong.append(f"episode {e.number} begins at {e.positions[0]}, the one before ends at {end}")
        end = e.positions[1]
        if not held & set(range(e.positions[0], end + 1)):
            wrong.append(f"episode {e.number} has no messages")
    if end > state.folded or len(episodes) > state.episodes or state.folded > state.messages:
        wrong.append(f"{len(episodes)} episodes up to {end}; the counters say {state.episodes} up to {state.folded} of {state.messages}")
    if len({e.number for e in episodes}) != len(episodes):
        wrong.append("two episodes have one number")
    return wrong


def _index(r: Reader, scope: Scope) -> list[str]:
    """Each record has one index row, each row its record, and what a record rests on is there."""
    records: list[AnyRecord] = [*r.facts(scope), *r.episodes(scope)]
    records += [m for s in r.sessions(scope) for m in r.messages(s)]
    ids = {x.id for x in records}
    rows = r.index(scope, (0, 0)).added
    shown = Counter(x.id for x in r.records(scope, [row.rid for row in rows]).values())
    wrong = []
    if len(ids) != len(records):
        wrong.append("two records have one id")
    if len(rows) != sum(shown.values()) or set(shown) != ids or max(shown.values(), default=1) > 1:
        wrong.append(f"{len(rows)} index rows for {len(ids)} records, {len(set(shown) ^ ids)} do not match")
    for f in r.facts(scope):
        gone = ({s.message for s in f.provenance.spans} | set(f.provenance.episodes)) - ids
        if gone:
            wrong.append(f"fact {f.id} rests on {sorted(gone)}, which are not there")
    return wrong


def _layers(mem: Memory, tenant: str) -> list[str]:
    """The layers of every session are disjoint, and every turn that has messages is in one."""
    wrong = []
    with mem._ports.store.read() as r:
        scopes = {s.scope: {m.turn for m in r.messages(s)} for s in r.sessions(Scope(tenant))}
    for scope, turns in scopes.items():
        if scope.session is None:
            continue
        wide = mem.scope(tenant=scope.tenant, user=scope.user, agent=scope.agent, project=scope.project)
        found = wide.session(scope.session).layers()
        covered = Counter(t for first, last in _ranges(found) for t in range(first, last + 1))
        if doubled := sorted(t for t, n in covered.items() if n > 1):
            wrong.append(f"{scope}: turns {doubled} are in two layers: {found}")
        if lost := sorted(turns - set(covered)):
            wrong.append(f"{scope}: turns {lost} are in no layer: {found}")
        if covered and max(covered) > found.turns:
            wrong.append(f"{scope}: {found}")
    return wrong


def _ranges(layers: Layers) -> list[tuple[int, int]]:
    return [*layers.l3, *layers.l2, *layers.l1]

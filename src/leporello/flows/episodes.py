"""The steps that several flows take: one episode made and written, the oldest episodes turned into facts, a fallback when a compactor fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from leporello.core import facts as rules
from leporello.core import windows
from leporello.core.compact import episode_tokens
from leporello.errors import CompactorError, FoldRefused
from leporello.flows.indexing import entries, said
from leporello.ports import Compactor, Ports, Reader, SessionState, Writer
from leporello.records import Episode, Fact, Message, Operation, Scope
from leporello.results import FoldReport

T = TypeVar("T")


@dataclass(frozen=True)
class Written(Generic[T]):
    """What a compactor wrote, which one it was, and for a fallback what failed before: a sentence and a code for each failed attempt."""

    value: T
    compactor: str
    fallback: str = ""
    failures: tuple[str, ...] = ()


def written(ports: Ports, ask: Callable[[Compactor], T], *, what: str, by: Compactor | None = None) -> Written[T]:
    """Asks the compactor, and when it fails the one that always answers; the answer says so.

    An answer that is refused as empty or too long stays an error (`FoldRefused`): the caller decides.
    """
    chosen = ports.compactor if by is None else by
    if chosen is ports.fallback or chosen.name == ports.fallback.name:
        return Written(ask(chosen), chosen.name)
    try:
        return Written(ask(chosen), chosen.name)
    except FoldRefused:
        raise
    except CompactorError as e:
        failures = e.failures or (type(e).__name__,)
    except Exception as e:  # noqa: BLE001 - a compactor is the caller's own code: whatever it raises, the history goes on
        failures = (type(e).__name__,)
    note = f"{what}: {chosen.name} failed ({', '.join(failures)}); {ports.fallback.name} wrote it"
    return Written(ask(ports.fallback), ports.fallback.name, note, failures)


def make_episode(
    ports: Ports, state: SessionState, messages: Sequence[Message], *, number: int, first_turn: int, by: Compactor | None = None,
    tokens: int | None = None,
) -> Written[Episode]:  # fmt: skip
    """The compactor's episode for these messages, accepted only if it is non-empty and smaller by the policy's share."""
    policy = ports.policies.fold
    replaced = sum(m.tokens for m in messages)
    allowed = max(1, int(replaced * (1 - policy.min_saving)))
    room = min(tokens or policy.episode_tokens, allowed)

    def ask(compactor: Compactor) -> Episode:
        draft = compactor.episode(messages, tokens=room)
        cost = episode_tokens(draft.summary, draft.items)
        if not draft.summary.strip():
            raise FoldRefused(f"The compactor {compactor.name} returned no summary.")
        if cost > allowed:
            raise FoldRefused(f"The compactor {compactor.name} returned {cost} tokens for {replaced}.")
        return Episode(
            "", state.scope, number, (first_turn, messages[-1].turn), (messages[0].pos, messages[-1].pos), messages[-1].at,
            ports.clock.now(), draft.summary, draft.items, compactor.name, cost, replaced,
        )  # fmt: skip

    return written(ports, ask, what=f"episode of turns {first_turn} to {messages[-1].turn}", by=by)


def write_episode(
    ports: Ports, state: SessionState, messages: Sequence[Message], *, by: Compactor | None = None, tokens: int | None = None
) -> Written[Episode] | None:
    """Makes and writes the next episode of a session; None if another process folded, or erased, in the meantime."""
    try:
        made = make_episode(ports, state, messages, number=state.episodes + 1, first_turn=state.folded_turn + 1, by=by, tokens=tokens)
    except FoldRefused:
        with ports.store.write() as w:
            now = w.session(state.scope)
            if now is not None:
                w.put_session(replace(now, stalled=now.stalled + 1))
        raise
    entry = entries(ports.embedder, [said(made.value)])[0]
    with ports.store.write() as w:
        now = w.session(state.scope)
        if now is None or now.folded != state.folded or not unchanged(w, now, messages):
            return None
        episode = w.add_episode(now, made.value, entry)
        w.put_session(replace(moved(now, episode), stalled=0))
    return replace(made, value=episode)


def unchanged(r: Reader, state: SessionState, messages: Sequence[Message]) -> bool:
    """True if nothing of these messages was erased in the meantime: what was erased must not come back in a summary."""
    held = r.messages(state, first=messages[0].pos, last=messages[-1].pos) if messages else ()
    return [m.id for m in held] == [m.id for m in messages]


def moved(state: SessionState, episode: Episode) -> SessionState:
    """The state after this episode: a turn belongs to the layer of its first message."""
    turn = max(state.folded_turn, episode.turns[1])
    return replace(state, folded=episode.positions[1], folded_turn=turn, episodes=episode.number)


def distil(ports: Ports, scope: Scope, *, closing: bool) -> FoldReport:
    """Turns the oldest episodes over the L2 window into facts (R19); at a session's end, all that were not yet.

    Episodes over the window leave for L3; at a session's end the others stay in L2, so that their text can be shown.
    """
    with ports.store.read() as r:
        state = r.session(scope)
        episodes = [e for e in r.episodes(scope, session=state) if e.layer == 2] if state else []
        known = r.facts(fact_scope(scope))
    leaving = windows.episodes_to_distil(len(episodes), ports.policies.fold)
    reached = episodes if closing else episodes[:leaving]
    fresh = [e for e in reached if not e.distilled]
    if not leaving and not fresh:
        return FoldReport()
    believed = [f for f in known if f.retracted_at is None]
    answer = written(ports, lambda c: c.distil(fresh, believed), what="facts") if fresh else None
    moving = [replace(e, distilled=True, layer=3 if i < leaving else 2) for i, e in enumerate(reached) if i < leaving or not e.distilled]
    with ports.store.write() as w:
        held = {(e.id, e.layer, e.distilled) for e in w.episodes(scope, session=state)}
        if {(e.id, e.layer, e.distilled) for e in episodes} <= held:
            made = apply(ports, w, answer.value, scope, actor=answer.compactor) if answer else []
            w.put_episodes(moving)
            notes = (answer.fallback,) if answer and answer.fallback else ()
            return FoldReport(distilled=tuple(e.id for e in moving), facts=tuple(f.id for f in made), fallbacks=notes)
    return distil(ports, scope, closing=closing)


def apply(ports: Ports, w: Writer, operations: Sequence[Operation], scope: Scope, *, actor: str) -> list[Fact]:
    """Applies operations in the caller's transaction; the facts that were written or changed."""
    target = fact_scope(scope)
    now = ports.clock.now()
    found = rules.changes(operations, w.facts(target), scope=target, session=scope.session, now=now)
    fresh = [c.fact for c in found if c.new]
    made = iter(zip(fresh, entries(ports.embedder, [said(f) for f in fresh]), strict=True))
    out = []
    for change in found:
        if change.new:
            fact, entry = next(made)
            out.append(w.add_fact(fact, entry))
        else:
            w.put_fact(change.fact, action=change.action, actor=actor, why=change.why, at=now)
            out.append(change.fact)
    return out


def fact_scope(scope: Scope) -> Scope:
    """Facts outlive their session: they are written without it."""
    return replace(scope, session=None)

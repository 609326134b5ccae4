"""The steps that several flows take: one episode made and written, a fallback when a compactor fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from leporello.core.compact import episode_tokens
from leporello.errors import CompactorError, FoldRefused
from leporello.flows.aging import begin
from leporello.flows.indexing import entries, said
from leporello.ports import Compactor, Ports, Reader, SessionState
from leporello.records import Episode, Message

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
        begin(ports, w, [episode])
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

"""Making one episode: what fold and erase share."""

from __future__ import annotations

from collections.abc import Sequence

from leporello.core.compact import episode_tokens
from leporello.errors import FoldRefused
from leporello.ports import Ports, SessionState
from leporello.records import Episode, Message


def make_episode(ports: Ports, state: SessionState, messages: Sequence[Message], *, number: int, first_turn: int) -> Episode:
    """The compactor's episode for these messages, accepted only if it is non-empty and smaller by the policy's share."""
    policy = ports.policies.fold
    replaced = sum(m.tokens for m in messages)
    allowed = max(1, int(replaced * (1 - policy.min_saving)))
    draft = ports.compactor.episode(messages, tokens=min(policy.episode_tokens, allowed))
    cost = episode_tokens(draft.summary, draft.items)
    if not draft.summary.strip():
        raise FoldRefused(f"The compactor {ports.compactor.name} returned no summary.")
    if cost > allowed:
        raise FoldRefused(f"The compactor {ports.compactor.name} returned {cost} tokens for {replaced}.")
    return Episode(
        "", state.scope, number, (first_turn, messages[-1].turn), (messages[0].pos, messages[-1].pos), messages[-1].at, ports.clock.now(),
        draft.summary, draft.items, ports.compactor.name, cost, replaced,
    )  # fmt: skip

"""What to fold and when: the L1 window (turns or tokens, whichever first) and the L2 window (episodes), down to half."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leporello.policies import FoldPolicy


@dataclass(frozen=True)
class Unfolded:
    """The messages of a session that no episode covers yet, oldest first: turn and tokens of each, and the legal cuts.

    `plain` are the cuts at which the kept part opens with plain user text: the better places.
    """

    turns: Sequence[int]
    tokens: Sequence[int]
    cuts: Sequence[int]
    plain: frozenset[int] = frozenset()


def over(window: Unfolded, policy: FoldPolicy) -> bool:
    """True if the window is strictly over one of its two limits (C10)."""
    return len(set(window.turns)) > policy.l1_turns or sum(window.tokens) > policy.l1_tokens


def next_cut(window: Unfolded, policy: FoldPolicy, *, everything: bool = False) -> int | None:
    """Where the next fold ends (messages before it go into one episode), or None when enough is folded.

    Folding goes on until the window is down to the share that is kept, or empty if `everything` is asked for; one episode
    takes about what a full window sheds (R28), and the last one takes a small rest along. Unless everything is asked for
    the newest unit stays. A cut before plain user text is preferred when one is near.
    """
    n = len(window.turns)
    share = 0.0 if everything else policy.keep
    turns = len(set(window.turns)) - int(policy.l1_turns * share)
    tokens = sum(window.tokens) - int(policy.l1_tokens * share)
    legal = [c for c in window.cuts if 0 < c and (everything or c < n)]
    if not legal or (turns <= 0 and tokens <= 0):
        return None
    take_turns = _portion(turns, max(1, int(policy.l1_turns * (1 - policy.keep))))
    take_tokens = _portion(tokens, max(1, int(policy.l1_tokens * (1 - policy.keep))))
    reach = _reach(window, take_turns, take_tokens)
    first = next((c for c in legal if c >= reach), legal[-1])
    furthest = _reach(window, take_turns + take_turns // 3, take_tokens + take_tokens // 3)
    return next((c for c in legal if first <= c <= furthest and c in window.plain), first)


def keep_cut(window: Unfolded, *, turns: int, tokens: int) -> int | None:
    """The first legal cut that leaves at most so many turns and tokens, or the last one before the newest unit.

    None without one, or when no more than that is there.
    A cut before plain user text is preferred when one is near behind it.
    """
    n = len(window.turns)
    legal = [c for c in window.cuts if 0 < c < n]
    if not legal:
        return None
    kept_turns: set[int] = set()
    total, start = 0, n
    while start > 0:
        total += window.tokens[start - 1]
        kept_turns.add(window.turns[start - 1])
        if total > tokens or len(kept_turns) > turns:
            break
        start -= 1
    if start == 0:
        return None
    first = next((c for c in legal if c >= start), legal[-1])
    behind = [c for c in legal if first <= c <= first + max(2, (n - first) // 3) and c in window.plain]
    return behind[0] if behind else first


def _portion(excess: int, full: int) -> int:
    """A full portion, or all of the excess when it is no more than one and a half."""
    return excess if 0 < excess <= full + full // 2 else full


def _reach(window: Unfolded, turns: int, tokens: int) -> int:
    """The smallest index before which lie that many turns or tokens."""
    seen: set[int] = set()
    total = 0
    for i, (turn, cost) in enumerate(zip(window.turns, window.tokens, strict=True)):
        if turn not in seen and len(seen) == turns:
            return i
        seen.add(turn)
        total += cost
        if total >= tokens:
            return i + 1
    return len(window.turns)


def episodes_to_distil(count: int, policy: FoldPolicy) -> int:
    """How many of `count` episodes in L2, oldest first, go to L3: none up to the window, else down to half (R19)."""
    if count <= policy.l2_episodes:
        return 0
    return count - int(policy.l2_episodes * policy.keep)

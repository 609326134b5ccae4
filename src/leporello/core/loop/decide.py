"""When a loop folds, and how much: the room in the window, the triggers, the step that is worth the cache that it breaks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from leporello.policies import FoldPolicy, LoopPolicy

Why = Literal["", "window", "turns", "windows", "phase", "explicit", "overflow", "limit"]
_LEAST_FREE = 150
_PRESSED = frozenset({"overflow", "limit"})
SQUEEZES = 5


@dataclass(frozen=True)
class Room:
    """Tokens of a window: what the answer needs and what always stands in front (system, tools, pins) are taken off first.

    `unit` is what one estimated token counts for at this model.
    """

    window: int
    reserve: int
    fixed: int
    unit: float = 1.0

    @property
    def limit(self) -> int:
        """The most that a request may have."""
        return self.window - self.reserve

    @property
    def free(self) -> int:
        """What is left for memory and messages."""
        return self.limit - self.fixed

    @property
    def enough(self) -> bool:
        """False when a conversation cannot be carried on in what is left."""
        return self.free >= max(_LEAST_FREE, self.window // 50)

    def trigger(self, policy: LoopPolicy) -> int:
        """Tokens of memory and messages above which the share of the window is reached (C12).

        Where that leaves less than six tenths of what is free, it is four fifths of that: memory and kept messages take about a half
        after a fold, and the next one must not be due at once.
        """
        mark = int(policy.share * self.window) - self.fixed
        return mark if mark * 10 >= self.free * 6 else self.free * 4 // 5

    def estimated(self, tokens: float) -> int:
        """Real tokens as estimated ones, the unit of the fold's windows."""
        return int(tokens / self.unit)


@dataclass(frozen=True)
class Standing:
    """How a conversation stands: real tokens of memory and messages, estimated ones of the messages and of the memory alone, turns
    since the last compaction and turns that are sent."""

    tokens: int
    messages: int
    memory: int
    since: int
    sent_turns: int


def mode(chosen: str, turns: int, policy: LoopPolicy) -> str:
    """flat or folded: what was chosen, or for `auto` flat up to `auto_turns` turns (R10)."""
    return chosen if chosen != "auto" else "folded" if turns > policy.auto_turns else "flat"


def due(kind: str, now: Standing, room: Room, asked: str, policies: tuple[LoopPolicy, FoldPolicy]) -> Why:
    """Why a fold is due before the next request, or an empty text.

    An order (`asked`: phase, explicit) comes first; then the share of the window; then turns since the last compaction (flat), or the
    windows of the layers, when the step is worth what it breaks (folded).
    """
    loop, fold = policies
    if asked in {"phase", "explicit", "overflow"}:
        return asked  # type: ignore[return-value]
    if now.tokens > room.trigger(loop):
        return "window"
    if kind == "flat":
        return "turns" if now.since > loop.turns and now.sent_turns > 1 else ""
    limits = fitted(fold, room)
    if now.sent_turns <= limits.l1_turns and now.messages <= limits.l1_tokens:
        return ""
    return "windows" if _worth(now, limits, loop) else ""


def _worth(now: Standing, limits: FoldPolicy, loop: LoopPolicy) -> bool:
    """True if the step is worth the cache that it breaks, or the window is over in tokens or threefold in turns.

    After a fold the provider reads what stays (k) anew, at 1.25 of the price against 0.1 in the cache; until then each request reads
    what could have left (s) once more. With t new tokens a turn, the sum of both is least at s = sqrt(2 (1.25 - 0.1) / 0.1 t k).
    """
    if now.sent_turns > 3 * limits.l1_turns or now.messages > limits.l1_tokens:
        return True
    stays = now.messages * loop.keep + now.memory / 2
    leaves = now.messages * (1 - loop.keep)
    return leaves * leaves >= 23 * (now.messages / max(1, now.sent_turns)) * stays


def fitted(fold: FoldPolicy, room: Room) -> FoldPolicy:
    """The fold's windows, no larger than the room allows: messages take at most half of what is free."""
    most = max(100, room.estimated(room.free) // 2)
    return replace(
        fold,
        l1_tokens=min(fold.l1_tokens, most),
        episode_tokens=min(fold.episode_tokens, max(50, room.estimated(room.free) // 16)),
    )


def kept(why: Why, kind: str, policies: tuple[LoopPolicy, FoldPolicy], room: Room) -> tuple[int, int]:
    """The turns and estimated tokens that stay after a fold for this reason (C14): less in folded mode, which folds more often."""
    limits = fitted(policies[1], room)
    share = policies[0].keep if kind == "folded" else limits.keep
    turns, tokens = max(1, int(limits.l1_turns * share)), int(limits.l1_tokens * share)
    if why == "phase":
        return 1, tokens
    if why in _PRESSED:
        return turns, tokens // 4
    return turns, tokens


def memory_room(loop: LoopPolicy, room: Room) -> int:
    """Estimated tokens that the memory may take: never more than three tenths of what is free."""
    return max(20, min(loop.memory_tokens, room.estimated(room.free) * 3 // 10))


def piece_room(loop: LoopPolicy, room: Room, squeeze: int, pieces: int) -> tuple[int, int]:
    """The most estimated tokens of one tool result and of one text; at the hardest squeeze all `pieces` together find room."""
    free = room.estimated(room.free)
    result = min(loop.result_tokens, max(30, free // 6)) >> squeeze
    text = max(60, free // 2) >> squeeze
    if squeeze >= SQUEEZES - 1:
        each = max(8, free // (3 * max(1, pieces)))
        return min(result, each), min(text, each)
    return max(16, result), max(32, text)


def media_room(loop: LoopPolicy, room: Room, squeeze: int) -> int:
    """How many images and documents may go out."""
    return 0 if squeeze >= SQUEEZES - 1 else min(loop.media, max(1, room.free // 2 // 1_600)) >> squeeze

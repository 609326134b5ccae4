"""Turns and cuts: which messages make a turn, which calls have which results, and where a history may be cut.

A turn is one exchange: a user input or a batch of tool results, and the assistant's reply to it. Turns are numbered
from 1 as messages arrive and never renumbered. A call and all its results are one unit that no cut divides, so in a
tool loop the legal cuts lie between a batch of results and the reply to it: the turn then belongs to the layer of its
first message, and its reply, which holds the next call, stays with the tail.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from leporello.core.blocks import is_user_side, parts_of, role_of
from leporello.records import Message, Part


@dataclass(frozen=True)
class Place:
    """The newest turn of a session: its number (0: none), whether it was answered, whether user text may still join it."""

    turn: int = 0
    answered: bool = False
    joinable: bool = False

    def after(self, role: str, *, has_result: bool) -> Place:
        """The place of the next message with this role."""
        if not is_user_side(role):
            return Place(max(self.turn, 1), answered=True)
        fresh = self.turn == 0 or self.answered or not (has_result or self.joinable)
        opens = has_result or role in {"system", "developer"}
        return Place(self.turn + fresh, answered=False, joinable=opens)


@dataclass(frozen=True)
class Shape:
    """What cuts depend on in one message: the model's side or not, the ids that it calls and that it answers."""

    assistant: bool
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()


def shape(original: Mapping[str, Any]) -> Shape:
    """The shape of a provider message. Only the model calls and only the other side answers; a call that is answered in the
    same message (a tool that the provider runs) joins nothing."""
    return shape_of(not is_user_side(role_of(original)), parts_of(original))


def shape_of(assistant: bool, parts: Sequence[Part]) -> Shape:
    """The shape of a message of these parts."""
    called = tuple(p.id for p in parts if p.kind == "call")
    answered = tuple(p.id for p in parts if p.kind == "result")
    return Shape(True, tuple(c for c in called if c not in answered)) if assistant else Shape(False, (), answered)


def shapes(messages: Sequence[Message]) -> list[Shape]:
    """The shapes of stored messages."""
    return [shape(m.original) for m in messages]


def pairs(messages: Sequence[Shape]) -> tuple[list[tuple[int, int, str]], list[int], list[tuple[int, str]]]:
    """Calls and results by index: (call, result, id) pairs, the indexes of calls without result, (index, id) of orphans.

    A result belongs to the newest earlier call with its id that has none yet, else (a repeated result) to the newest.
    """
    waiting: dict[str, list[int]] = {}
    last: dict[str, int] = {}
    joined: list[tuple[int, int, str]] = []
    orphans: list[tuple[int, str]] = []
    for i, message in enumerate(messages):
        for call_id in message.results:
            if waiting.get(call_id):
                joined.append((waiting[call_id].pop(), i, call_id))
            elif call_id in last:
                joined.append((last[call_id], i, call_id))
            else:
                orphans.append((i, call_id))
        for call_id in message.calls:
            waiting.setdefault(call_id, []).append(i)
            last[call_id] = i
    return joined, sorted(i for left in waiting.values() for i in left), orphans


def pending(messages: Sequence[Shape]) -> int | None:
    """The index of the first call that may still be answered, or None.

    A call without result is pending until the model speaks again after something came from the other side: a reminder or
    a word of the user may stand between a call and its result. Then no result can follow legally, and the call divides
    nothing.
    """
    _, unanswered, _ = pairs(messages)
    run = max((i for i, m in enumerate(messages) if m.assistant), default=-1)
    while run > 0 and messages[run - 1].assistant:
        run -= 1
    return next((i for i in unanswered if i >= run), None)


def legal_cuts(messages: Sequence[Shape], *, carrier: bool = True) -> list[int]:
    """Indexes i such that messages[:i] may be folded and messages[i:] kept (`decisions.md` D15).

    No call before the cut has a result at or after it or is still waiting for one, and the kept part does not start
    with a result. With `carrier` a user message with the memory goes in front of the kept part; without, the kept part
    must itself open with plain user text.
    """
    n = len(messages)
    joined, _, _ = pairs(messages)
    edge = [0] * (n + 2)
    for call, result, _ in joined:
        edge[call + 1] += 1
        edge[result + 1] -= 1
    waiting = pending(messages)
    if waiting is not None:
        edge[waiting + 1] += 1
    crossing = list(accumulate(edge))
    cuts = [i for i in range(n + 1) if crossing[i] == 0 and (i == n or not messages[i].results)]
    if carrier:
        return cuts
    return [i for i in cuts if i in (0, n) or not messages[i].assistant]


def faults(messages: Sequence[Shape]) -> list[str]:
    """Why providers would refuse this list: results without a call, calls without a result, doubled results."""
    joined, unanswered, orphans = pairs(messages)
    found = [f"message {i}: result for {call_id!r} without a call" for i, call_id in orphans]
    found += [f"message {i}: a call without a result" for i in unanswered if i != len(messages) - 1]
    seen: set[tuple[int, str]] = set()
    for call, result, call_id in joined:
        if (call, call_id) in seen:
            found.append(f"message {result}: a second result for {call_id!r}")
        seen.add((call, call_id))
    return found

"""Which fold is due before the next request, and where it cuts. A plan is stored before it is carried out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from leporello.core import windows
from leporello.core.loop import decide
from leporello.core.loop.state import Plan
from leporello.flows.loop.body import Built
from leporello.flows.loop.now import Now, unfolded
from leporello.ports import Ports
from leporello.records import Message

_LEAST = 60
_HEAD = 1_000


def plan(ports: Ports, now: Now, built: Built, *, why: decide.Why = "") -> Plan | None:
    """The fold that is due, or that is forced for a reason; None when none is, or nothing can be cut that is worth it."""
    policies = (ports.policies.loop, ports.policies.fold)
    kind = decide.mode(now.settings.mode, now.state.turns, policies[0])
    cap = decide.piece_room(policies[0], built.room, now.view.squeeze, len(now.messages))[0]
    window = unfolded(now.messages, cap=cap)
    memory = sum(map(now.count, now.view.memory))
    conversation = max(0, built.tokens - built.room.fixed)
    standing = decide.Standing(conversation, sum(window.tokens), memory, now.state.turns - now.view.turns, len(set(window.turns)))
    reason = why or decide.due(kind, standing, built.room, now.tally.asked, policies)
    if not reason or (not why and now.tally.stuck == now.state.messages):
        return None
    turns, tokens = decide.kept(reason, kind, policies, built.room)
    cut = windows.keep_cut(window, turns=turns, tokens=tokens)
    if cut is None and reason in {"limit", "overflow"}:
        cut = windows.keep_cut(window, turns=0, tokens=0)
    if cut is None or not _worth(reason, window, cut, standing, ports):
        return None
    start = now.messages[cut - 1].pos
    if now.given.native is not None and now.given.native.wire == built.wire:
        kind = "native"
    return Plan(kind, start, tuple(_cuts(ports, now, start, built)) if kind == "folded" else (), reason)


def _worth(why: str, window: windows.Unfolded, cut: int, standing: decide.Standing, ports: Ports) -> bool:
    """False for a fold that would free too little: a share of the conversation, or of anything when it is forced (D1)."""
    freed = sum(window.tokens[:cut])
    if why in {"overflow", "limit"}:
        return freed > 0
    if why in {"phase", "explicit"}:
        return freed >= _LEAST
    return freed >= max(_LEAST, int(ports.policies.fold.min_saving * (standing.messages + standing.memory)))


def _cuts(ports: Ports, now: Now, start: int, built: Built) -> list[int]:
    """The positions at which episodes end, for the messages up to `start` that no episode covers yet."""
    if now.state.folded >= start:
        return []
    if now.state.folded >= now.view.start:
        rest: Sequence[Message] = [m for m in now.messages if now.state.folded < m.pos <= start]
    else:
        with ports.store.read() as r:
            rest = list(r.messages(now.state, first=now.state.folded + 1, last=start))
    policy = decide.fitted(ports.policies.fold, built.room)
    whole = unfolded(rest, cap=policy.l1_tokens)
    out: list[int] = []
    base, end = 0, len(rest)
    while base < end:
        cut = windows.next_cut(_part(whole, base, base + _HEAD if end - base > 3 * _HEAD else end), policy, everything=True)
        base = base + cut if cut else next((c for c in whole.cuts if c > base), end)
        out.append(rest[base - 1].pos)
    return out


def _part(whole: windows.Unfolded, first: int, last: int) -> windows.Unfolded:
    """A stretch of the window; its cuts are legal in the whole, so no call is parted from its result at the end of the stretch."""
    cuts = [c - first for c in whole.cuts if first <= c <= last]
    plain = frozenset(c - first for c in whole.plain if first <= c <= last)
    return windows.Unfolded(whole.turns[first:last], whole.tokens[first:last], cuts, plain)


def asked_done(now: Now) -> Now:
    """The same without the order that was carried out, or that nothing could be done for."""
    return replace(now, tally=replace(now.tally, asked="")) if now.tally.asked else now

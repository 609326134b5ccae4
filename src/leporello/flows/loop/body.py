"""The request itself: what stands in front, the memory, the messages, in the form of each provider."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leporello.core import pack, wire
from leporello.core.blocks import parts
from leporello.core.loop import decide, measure
from leporello.core.loop.state import View
from leporello.core.wire.pieces import scrub
from leporello.errors import NothingToSend
from leporello.flows.loop.now import Now, room_of
from leporello.policies import LoopPolicy
from leporello.records import Message

_MARK = {"type": "ephemeral"}
_MARKED = re.compile(r"gpt-(?:5\.(?:[6-9]|\d\d)|[6-9])")
"""Models that take explicit breakpoints: gpt-5.6 and later."""
_HOPEFUL = 1.03
"""The factor on estimates where the usual margin, before anything was reported, would leave no room at all."""
_KEYED = ("gpt-", "o1", "o3", "o4", "chatgpt")


@dataclass(frozen=True)
class Built:
    """A request with its estimate: `raw` by the estimate, `tokens` calibrated, `front` the estimate of what stands before the memory."""

    wire: str
    body: dict[str, Any]
    raw: int
    tokens: int
    front: int
    prefix: str
    room: decide.Room
    shortened: int
    caps: tuple[int, ...] = ()


def build(now: Now, kind: str, policy: LoopPolicy) -> Built:
    """The request as it would go out now, whether it fits or not."""
    front = _front(now)
    tools = wire.tools_for(kind, now.settings.tools)
    factor = now.factor(policy.margin)
    front_raw = measure.raw([front, tools], now.count)
    room = room_of(now, front_raw, factor)
    if not room.enough and not now.tally.pairs:
        factor = _HOPEFUL
        room = room_of(now, front_raw, factor)
    hardest = now.view.squeeze >= decide.SQUEEZES - 1
    result, text, media = now.view.caps if now.view.caps and not hardest else _rooms(now, room, policy)
    caps = wire.Caps(result=result, text=text, call=text)
    sent = _sent(now, media)
    memory = now.view.memory
    inside = now.settings.restore == "system"
    head = "\n\n".join(t for t in (*(() if inside else memory), now.view.carrier) if t)
    system = [scrub(t) for t in (*front, *(memory if inside else ()))]
    body = _body(now, kind, system, tools, _messages(now, kind, sent, caps, head))
    if not body.get("messages", body.get("input")):
        raise NothingToSend(f"The {now.state.messages} messages of session {now.scope.session!r} hold nothing to send.")
    raw = measure.raw({k: v for k, v in body.items() if k != "prompt_cache_key"}, now.count)
    prefix = _digest(
        [kind.split("-")[0], system, tools, head, now.view.start, now.view.squeeze, media, result, now.view.media_from, now.view.native]
    )
    shortened = sum(m.tokens > min(caps.result, caps.text) for m in now.messages)
    return Built(kind, body, raw, int(raw * factor) + 1, front_raw, prefix, room, shortened, () if hardest else (result, text, media))


def _rooms(now: Now, room: decide.Room, policy: LoopPolicy) -> tuple[int, int, int]:
    """The room of one result and of one text, and for media."""
    result, text = decide.piece_room(policy, room, now.view.squeeze, _pieces(now.messages))
    return result, text, decide.media_room(policy, room, now.view.squeeze)


def _front(now: Now) -> list[str]:
    """The system prompt, and the pins verbatim."""
    pins = [pack.framed("pins", [f"- {pack.neutral(p)}" for p in now.pins])] if now.pins else []
    return [*now.settings.system, *pins]


def _sent(now: Now, media: int) -> list[wire.Sent]:
    view = now.view
    left = _media_left(now.messages, view, media)
    return [
        wire.Sent(
            m.original, m.id, thinking=m.pos > view.thinking_from, skipped=left[i], beside=_beside(view, m),
        )
        for i, m in enumerate(now.messages)
    ]  # fmt: skip


def _beside(view: View, message: Message) -> str:
    held = view.recalled.get(str(message.pos))
    return str(held[0]) if held else ""


def _media_left(messages: Sequence[Message], view: View, most: int) -> list[int]:
    """How many of its first images and documents each message leaves out: all before the view's mark, and all but `most` in all."""
    counts = [wire.media_count(m.original) for m in messages]
    out = list(counts)
    left = most
    for i in range(len(counts) - 1, -1, -1):
        if messages[i].pos < view.media_from:
            break
        out[i] = counts[i] - min(counts[i], left)
        left -= counts[i] - out[i]
    return out


def media_mark(messages: Sequence[Message], most: int) -> int:
    """The position from which media go out when there are too many: half of what is allowed, so that the mark seldom moves."""
    left = max(1, most // 2)
    for m in reversed(messages):
        left -= wire.media_count(m.original)
        if left <= 0:
            return m.pos
    return 0


def _pieces(messages: Sequence[Message]) -> int:
    return sum(max(1, len(parts(m))) for m in messages[-200:])


def _messages(now: Now, kind: str, sent: Sequence[wire.Sent], caps: wire.Caps, head: str) -> list[dict[str, Any]]:
    native = now.view.native
    opening = list(native["blocks"]) if native and native.get("wire") == kind else []
    if kind == "anthropic":
        made = wire.for_anthropic(sent, caps=caps, head=head, breakpoints=now.settings.breakpoints)
        return [*opening, *made]
    if kind == "openai":
        return wire.for_openai(sent, caps=caps, head=head)
    return [*opening, *wire.for_responses(sent, caps=caps, head=head)]


def _body(now: Now, kind: str, system: list[str], tools: list[dict[str, Any]], messages: list[dict[str, Any]]) -> dict[str, Any]:
    if kind == "anthropic":
        body: dict[str, Any] = {"system": [{"type": "text", "text": t} for t in system], "messages": messages}
        if now.settings.breakpoints:
            _mark_front(body["system"], tools, memory=len(now.view.memory) if now.settings.restore == "system" else 0)
        if not system:
            del body["system"]
        return {**body, **({"tools": tools} if tools else {})}
    body = _openai(now, kind, system, messages)
    if now.settings.breakpoints and (kind == "openai-responses" or now.model.startswith(_KEYED)):
        body["prompt_cache_key"] = f"leporello-{_digest(now.scope.to_dict())[:24]}"
    return {**body, **({"tools": tools} if tools else {})}


def _openai(now: Now, kind: str, system: list[str], messages: list[dict[str, Any]]) -> dict[str, Any]:
    """What stands in front as one text; for models that take breakpoints, as parts with a mark where the cache is worth it."""
    chat = kind == "openai"
    if not system:
        return {"messages": messages} if chat else {"input": messages}
    if now.settings.breakpoints and _MARKED.match(now.model):
        parts: list[dict[str, Any]] = [{"type": "text" if chat else "input_text", "text": t} for t in system]
        memory = len(now.view.memory) if now.settings.restore == "system" else 0
        for place in {len(parts) - memory - 1, len(parts) - (2 if memory > 1 else 1)} - {-1}:
            parts[place]["prompt_cache_breakpoint"] = {"mode": "explicit"}
        first = {"role": "system" if chat else "developer", "content": parts}
        return {"messages": [first, *messages]} if chat else {"input": [first, *messages]}
    text = "\n\n".join(system)
    if chat:
        return {"messages": [{"role": "system", "content": text}, *messages]}
    return {"instructions": text, "input": messages}


def _mark_front(system: list[dict[str, Any]], tools: list[dict[str, Any]], *, memory: int) -> None:
    """Cache breakpoints at the end of what never changes, and before the last block of the memory, which changes with every fold.

    The blocks before that one are the same after the next fold, with an episode more behind them: they are read from the cache.
    """
    if system:
        before = len(system) - memory - 1
        if before >= 0:
            system[before]["cache_control"] = _MARK
        system[-2 if memory > 1 else -1]["cache_control"] = _MARK
    elif tools:
        tools[-1] = {**tools[-1], "cache_control": _MARK}


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=True, default=str).encode()).hexdigest()

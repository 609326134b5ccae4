"""A transcript in pieces that a model's window holds: cut where a history may be cut, inside one unit by messages and parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from leporello.adapters.models.transcript import Shown, joined, shown
from leporello.core.tokens import clip, estimate
from leporello.core.turns import legal_cuts, shapes
from leporello.records import Message

MARGIN = 1.3
"""How many tokens a provider may count for one that is estimated."""
LEAST = 200


def room(window: int, *, output: int, prompt: int) -> int:
    """Estimated tokens of transcript that fit beside the prompt (estimated) and the answer."""
    return max(LEAST, int((window - output) / MARGIN) - prompt)


def transcripts(messages: Sequence[Message], *, tokens: int) -> list[str]:
    """The transcript in order, in pieces of at most about `tokens` estimated tokens each."""
    told = shown(messages)
    cuts = legal_cuts(shapes(messages))
    out: list[list[Shown]] = [[]]
    size = 0
    for start, end in zip([0, *[c for c in cuts if c]], [*[c for c in cuts if c], len(messages)], strict=True):
        unit = [m for m in told[start:end] if m is not None]
        cost = sum(m.tokens for m in unit)
        if out[-1] and size + cost > tokens:
            out.append([])
            size = 0
        if cost <= tokens:
            out[-1] += unit
            size += cost
            continue
        for piece in _split(unit, tokens):
            out += [piece]
        size = sum(m.tokens for m in out[-1])
    return [joined(piece) for piece in out if piece]


def _split(unit: Sequence[Shown], tokens: int) -> Iterator[list[Shown]]:
    """A unit that is too large by itself: by messages, a message by its parts, a part by its head and tail."""
    held: list[Shown] = []
    size = 0
    for message in unit:
        for piece in [message] if message.tokens <= tokens else _by_parts(message, tokens):
            if held and size + piece.tokens > tokens:
                yield held
                held, size = [], 0
            held.append(piece)
            size += piece.tokens
    if held:
        yield held


def _by_parts(message: Shown, tokens: int) -> Iterator[Shown]:
    heading = f"[part of {message.heading[1:]}"
    free = max(20, tokens - estimate(heading) - 4)
    held: list[str] = []
    size = 0
    for part in message.parts:
        text = clip(part, free, mark=" … (left out) … ")
        cost = estimate(text) + 1
        if held and size + cost > free:
            yield Shown(heading, tuple(held))
            held, size = [], 0
        held.append(text)
        size += cost
    yield Shown(heading, tuple(held))

"""Prefix caches: what of a request was read before. Content counts, not where breakpoints stand."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from leporello.testing.provider.model import BLOCK_TOKENS, tokens_of

_LOOK_BACK = 20
_STEP = 128
_PIECE = 512
Unit = tuple[str, int, bool]
"""One block of a request: all that it holds as text, its tokens, and whether it is a breakpoint."""


class PrefixCache:
    """The prefixes that one provider has written, by model and by a hash of all that they hold. Nothing expires."""

    def __init__(self, minimum: int) -> None:
        self.minimum = minimum
        self._held: dict[str, set[str]] = {}

    def clear(self) -> None:
        """Forgets everything."""
        self._held.clear()

    def explicit(self, model: str, units: Sequence[Unit]) -> tuple[int, int]:
        """(read, written) tokens with breakpoints: the longest written prefix at, or up to 20 blocks before, one of them is read."""
        held = self._held.setdefault(model, set())
        digests, totals = _running(units)
        marks = [i for i, u in enumerate(units) if u[2]]
        read = max((i for m in marks for i in range(max(0, m - _LOOK_BACK), m + 1) if digests[i] in held), default=-1)
        last = marks[-1] if marks else -1
        base = totals[read] if read >= 0 else 0
        written = totals[last] - base if last > read and totals[last] >= self.minimum else 0
        held.update(digests[m] for m in marks if totals[m] >= self.minimum)
        return base, written

    def automatic(self, model: str, units: Sequence[Unit]) -> tuple[int, int]:
        """(read, written) tokens without breakpoints: the longest prefix of any earlier request, in steps of 128, from a minimum on."""
        held = self._held.setdefault(model, set())
        digests, totals = _running(list(_pieces(units)))
        shared = next((i for i in range(len(digests) - 1, -1, -1) if digests[i] in held), -1)
        read = totals[shared] // _STEP * _STEP if shared >= 0 else 0
        read = read if read >= self.minimum else 0
        whole = totals[-1] // _STEP * _STEP if totals else 0
        held.update(digests)
        return read, max(0, whole - read) if whole >= self.minimum else 0


def units_of(body: Mapping[str, Any], count: Callable[[str], int]) -> list[Unit]:
    """The blocks of a request in the order in which a provider reads them: tools, system, messages."""
    out = [_unit("tool", t, count) for t in body.get("tools") or ()]
    out += [_unit("system", b, count) for b in as_blocks(body.get("system", body.get("instructions")))]
    messages = body.get("messages", body.get("input"))
    for message in [{"role": "user", "content": messages}] if isinstance(messages, str) else messages or ():
        out += _message_units(message, count)
    if body.get("cache_control") is not None and out:  # it marks the last block by itself
        text, cost, _ = out[-1]
        out[-1] = text, cost, True
    return out


def as_blocks(content: Any) -> list[Any]:
    """Content as a list of blocks: a text is one text block, nothing is none."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content or ())


def bare(value: Any) -> Any:
    """The value without breakpoints, texts as blocks where a message's content is meant."""
    if isinstance(value, Mapping):
        return {k: bare(v) for k, v in value.items() if k != "cache_control"}
    return [bare(v) for v in value] if isinstance(value, (list, tuple)) else value


def _message_units(message: Mapping[str, Any], count: Callable[[str], int]) -> list[Unit]:
    role = str(message.get("role") or message.get("type"))
    units = [_unit(role, block, count) for block in as_blocks(message.get("content"))]
    rest = {k: v for k, v in message.items() if k not in {"content", "role"}}
    if rest or not units:
        units.append(_unit(role, rest, count))
    text, cost, marked = units[0]
    return [(text, cost + BLOCK_TOKENS, marked), *units[1:]]


def _unit(where: str, block: Any, count: Callable[[str], int]) -> Unit:
    text = json.dumps([where, bare(block)], sort_keys=True, ensure_ascii=True, default=str)
    return text, tokens_of(block, count), _marked(block)


def _marked(block: Any) -> bool:
    if not isinstance(block, Mapping):
        return False
    inner = block.get("content")
    return block.get("cache_control") is not None or (isinstance(inner, list) and any(map(_marked, inner)))


def _pieces(units: Sequence[Unit]) -> Iterator[Unit]:
    """The units cut small, so that a prefix may end inside a long text."""
    for text, cost, _ in units:
        many = -(-len(text) // _PIECE)
        for n in range(many):
            yield text[n * _PIECE : (n + 1) * _PIECE], cost * (n + 1) // many - cost * n // many, False


def _running(units: Sequence[Unit]) -> tuple[list[str], list[int]]:
    digests, totals, running, total = [], [], hashlib.sha256(), 0
    for text, cost, _ in units:
        running.update(text.encode() + b"\x00")
        total += cost
        digests.append(running.hexdigest())
        totals.append(total)
    return digests, totals

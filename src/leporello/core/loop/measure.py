"""How many tokens a request has: an estimate over its texts, calibrated by what the provider reported for earlier ones.

Usage is total input, cached tokens included (`decisions.md` D6). Before a model has reported any, a margin is added.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from leporello.core.tokens import weigh

MEDIA = 1_600
_BLOCK = 4
_MEDIA_TYPES = {"image", "image_url", "input_image", "document", "file", "input_file", "audio", "input_audio", "video"}
_UNSPOKEN = {"type", "cache_control", "id", "call_id", "tool_use_id", "tool_call_id", "role", "signature", "prompt_cache_key"}
_ID = 6
_KEPT = 8
_LEAST, _MOST = 0.3, 6.0
_TELLING = 1_000
Pairs = Sequence[Sequence[int]]


def raw(value: object, count: Callable[[str], int] = weigh) -> int:
    """Estimated tokens of a request or a part of it: its strings, a few for each block, a fixed sum for each image or document."""
    total = 0
    stack: list[object] = [value]
    while stack:
        held = stack.pop()
        if isinstance(held, str):
            total += count(held)
        elif isinstance(held, Mapping):
            if held.get("type") in _MEDIA_TYPES:
                total += MEDIA
                continue
            total += _BLOCK
            for key, inner in held.items():
                if key in _UNSPOKEN:
                    total += _ID * (key.endswith("id"))
                else:
                    total += count(key) * (key not in {"content", "text", "messages", "input"})
                    stack.append(inner)
        elif isinstance(held, (list, tuple)):
            stack.extend(held)
        elif held is not None:
            total += 1
    return total


def factor(pairs: Pairs, *, margin: float) -> float:
    """What to multiply an estimate with: the largest of the newest reports per estimate, of requests of the usual size.

    `pairs` are (estimated, reported), oldest first; `margin` counts while there are none, and at least while all are of requests
    too small to tell much.
    """
    largest = max((p[0] for p in pairs), default=0)
    ratios = [p[1] / p[0] for p in pairs if p[0] * 2 >= largest > 0]
    least = _LEAST if largest >= _TELLING else margin
    return min(_MOST, max(least, 1.02 * max(ratios))) if ratios else margin


def learned(pairs: Pairs, estimated: int, reported: int) -> list[list[int]]:
    """The pairs with one more; the oldest go."""
    if estimated <= 0 or reported <= 0:
        return [list(p) for p in pairs]
    return [*map(list, pairs), [estimated, reported]][-_KEPT:]

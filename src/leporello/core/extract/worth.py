"""What a technical name is worth keeping: how likely an agent is to use it again soon.

Counted on real sessions that ran full: of the names that an agent had written in the last thousand tokens, those used once
came back in about 8 of 100 cases, those used eight times or more in 50 to 65; further back the chances fall to a fifth.
Names that only a tool printed come back in 1 of 100 cases.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from leporello.core.blocks import parts
from leporello.core.extract.calls import decode
from leporello.core.extract.names import names
from leporello.core.extract.sentences import excerpt, hide
from leporello.records import Message

HALF = 10_000
"""Characters of what users and agents wrote (results apart) after which half of the freshness is gone."""


def worth(messages: Sequence[Message]) -> dict[str, float]:
    """For each name that a user or an agent wrote, a number from 0 to about 1."""
    count: Counter[str] = Counter()
    back: dict[str, int] = {}
    short: set[str] = set()
    behind = 0
    for text, brief in _written(messages):
        found = names(text)
        count.update(found)
        for name in found:
            back.setdefault(name, behind)
        if brief:
            short.update(found)
        behind += len(text)
    return {name: _chance(count[name], back[name], brief=name in short) for name in count}


def _chance(count: int, back: int, *, brief: bool) -> float:
    again = min(0.6, 0.07 * math.pow(count, 0.95)) * (1.5 if brief else 1.0)
    lasting = 0.12 + 0.03 * min(count, 8)
    return again * (lasting + (1 - lasting) * math.exp2(-back / HALF))


def _written(messages: Sequence[Message]) -> Iterator[tuple[str, bool]]:
    """What users and agents wrote, newest first, and whether it is short (a search, a sentence) and not a file's text."""
    for message in reversed(messages):
        for part in reversed(parts(message)):
            if part.kind == "call":
                text = decode(part).text
                name = decode(part).name
                for _, piece in excerpt(f"{name} {text}"):
                    yield piece, len(text) < 600
            elif part.kind == "text":
                for _, piece in excerpt(hide(part.text)):
                    yield piece, len(piece) < 3000

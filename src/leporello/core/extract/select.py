"""Which items stay when there is no room for all: the most telling for their length, each adding something new.

A greedy maximum coverage: an item is worth its own weight and the technical names that no chosen item holds yet, each name
valued by how recently and how often it was used; worth is counted per character (the classic greedy for budgeted coverage,
Khuller, Moss and Naor 1999, https://doi.org/10.1016/S0020-0190(99)00031-9).
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Mapping, Sequence

from leporello.core.extract.names import names
from leporello.records import Item

NAME_WORTH = 20.0
"""How much of an item's weight a name is worth that is certain to be used again."""
SPARE = 70
"""Characters added to each length, so that fragments do not win by being short."""
_WORD = re.compile(r"[^\W_]{3,}")


def select(
    items: Sequence[Item], *, room: int, cost: Callable[[Item], int], worth: Mapping[str, float], musts: Callable[[Item], bool]
) -> list[Item]:
    """The chosen items in the order given. `cost` is what an item takes of `room`; those that `musts` names come first.

    `worth` is the worth of each name (see `worth.py`).
    """
    held = [names(item.text) for item in items]
    own = [set(_WORD.findall(item.text.casefold())) for item in items]
    price = [cost(item) for item in items]
    chosen: set[int] = set()
    covered: set[str] = set()
    words: set[str] = set()
    left = room

    def gain(n: int) -> float:
        new = len(own[n] - words) / len(own[n]) if own[n] else 1.0
        value = items[n].weight * (0.35 + 0.65 * new) + NAME_WORTH * sum(worth.get(x, 0.0) for x in held[n] - covered)
        return value / (price[n] + SPARE)

    def take(n: int) -> None:
        nonlocal left
        chosen.add(n)
        covered.update(held[n])
        words.update(own[n])
        left -= price[n]

    for n in sorted((n for n, item in enumerate(items) if musts(item)), key=lambda n: -items[n].weight):
        if price[n] <= left:
            take(n)
    heap = [(-gain(n), n) for n in range(len(items)) if n not in chosen]
    heapq.heapify(heap)
    while heap:
        _, n = heapq.heappop(heap)
        if price[n] > left:
            continue
        now = gain(n)
        if heap and -heap[0][0] > now + 1e-12:
            heapq.heappush(heap, (-now, n))
            continue
        take(n)
    return [items[n] for n in sorted(chosen)]

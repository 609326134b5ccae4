"""Personalised PageRank: how likely a walk that keeps coming back to its seeds is found at each node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

ALPHA = 0.5
TOLERANCE = 1e-9
_STEPS = 1_000


@dataclass(frozen=True)
class Links:
    """Undirected weighted links between nodes, each kept in both directions: `share[i]` of node `start[i]` goes to `end[i]`.

    The shares that leave a node sum to 1; `loose` marks the nodes without a link.
    """

    nodes: tuple[str, ...]
    place: Mapping[str, int]
    start: Places
    end: Places
    share: Floats
    loose: NDArray[np.bool_]


def links(pairs: Iterable[tuple[str, str, float]], nodes: Iterable[str] = ()) -> Links:
    """Links from pairs of nodes with a weight. Weights of repeated pairs add up; loops and weights that are not above 0 are none."""
    given = list(pairs)
    held = tuple(dict.fromkeys([*nodes, *(n for a, b, _ in given for n in (a, b))]))
    place = {node: i for i, node in enumerate(held)}
    kept = [(place[a], place[b], w) for a, b, w in given if a != b and w > 0]
    size = len(held)
    one = np.array([a for a, _, _ in kept], np.int64)
    two = np.array([b for _, b, _ in kept], np.int64)
    each = np.array([w for _, _, w in kept], np.float64)
    joined, back = np.unique(np.concatenate((two, one)) * max(size, 1) + np.concatenate((one, two)), return_inverse=True)
    weight = np.bincount(back.ravel(), weights=np.concatenate((each, each)), minlength=joined.size)
    end, start = np.divmod(joined, max(size, 1))
    total = np.bincount(start, weights=weight, minlength=size)
    return Links(held, place, start, end, weight / total[start], total == 0)


def pagerank(held: Links, seeds: Mapping[str, float], *, alpha: float = ALPHA, tolerance: float = TOLERANCE) -> Mapping[str, float]:
    """p = (1 − α)·r + α·Wᵀp for every node: r the normalised seeds, W the links, row-normalised; a row without links goes to r.

    The walk goes on with probability `alpha` and else returns to a seed (Haveliwala 2002; undirected and with α = 0.5 as in
    HippoRAG, arXiv:2405.14831). Summed over all nodes the result is within `tolerance` of the exact one. Unknown seeds and those
    whose weight is not above 0 do not count; without any the result is empty.
    """
    given = {held.place[n]: w for n, w in seeds.items() if n in held.place and w > 0}
    if not given:
        return {}
    return dict(zip(held.nodes, rank(held, given, alpha=alpha, tolerance=tolerance).tolist(), strict=True))


def rank(held: Links, seeds: Mapping[int, float], *, alpha: float = ALPHA, tolerance: float = TOLERANCE) -> Floats:
    """The same by the places of nodes, as an array of shape (nodes,). Seeds are not empty, their weights above 0."""
    size = len(held.nodes)
    r = np.zeros(size)
    r[list(seeds)] = list(seeds.values())
    r /= r.sum()
    p = r
    for _ in range(_STEPS):
        moved = np.bincount(held.end, weights=p[held.start] * held.share, minlength=size)
        after = (1 - alpha) * r + alpha * (moved + float(p[held.loose].sum()) * r)
        # what a step changes shrinks by alpha: all that is still to come is at most alpha / (1 - alpha) of the last change
        left = float(np.abs(after - p).sum()) * alpha / (1 - alpha)
        p = after
        if left <= tolerance:
            break
    return p

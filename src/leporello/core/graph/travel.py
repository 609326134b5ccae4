"""From node to node: which one a name means, what stands around it, and ways from one to another."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from leporello.core.graph.build import Graph
from leporello.core.graph.shapes import Edge, Entity, Path, key

_WORK = 20_000
"""Edges that one search for paths looks at, at most."""
_STEPS = 8
_Around = Mapping[str, Sequence[Edge]]


def find(graph: Graph, name: str) -> str:
    """The node that a name means: by its key or an alias, as the id of a fact, or as the one entity that has all of its words; else ""."""
    if name in graph.facts:
        return name
    folded = key(name.removeprefix("@"))
    if folded in graph.names:
        return graph.names[folded]
    parts = folded.split()
    sets = [{graph.names[n] for n in graph.by_word.get(part, ())} for part in parts]
    common = set.intersection(*sets) if sets else set()
    return common.pop() if len(common) == 1 else ""


def neighbours(graph: Graph, node: str, depth: int = 1, *, extra: Iterable[Edge] = ()) -> tuple[tuple[Entity, ...], tuple[Edge, ...]]:
    """The entities and facts up to `depth` steps away, nearest first, and the edges between them, strongest first.

    A fact is no step of its own: what it mentions beside the name is one step away. Ways do not go on through hubs. `extra` are
    edges that do not come from facts.
    """
    far: dict[str, int] = {node: 0}
    ahead: list[tuple[int, str]] = [(0, node)]
    more = _extra(extra)
    edges: dict[Edge, int] = {}
    while ahead:
        steps, at = heapq.heappop(ahead)
        if steps > far[at] or (at != node and graph.is_hub(at)):
            continue
        cost = 0 if at in graph.facts and at != node else 1
        if steps + cost > depth:
            continue
        for edge in _at(graph, more, at):
            other = edge.object if edge.subject == at else edge.subject
            edges.setdefault(edge, max(1, steps + cost))
            if steps + cost < far.get(other, depth + 1):
                far[other] = steps + cost
                heapq.heappush(ahead, (steps + cost, other))
    found = [_entity(graph, name, steps) for name, steps in far.items() if name != node]
    found.sort(key=lambda e: (e.depth, e.kind == "fact", -e.facts, e.key))
    ordered = sorted(edges, key=lambda e: (edges[e], -e.weight, e.subject, e.predicate, e.object, e.source))
    return tuple(found), tuple(ordered)


def paths(graph: Graph, a: str, b: str, limit: int = 5, *, extra: Iterable[Edge] = ()) -> tuple[Path, ...]:
    """Ways without a repeated node from node `a` to node `b`, shortest first; of equals the heavier, then by names.

    Bounded work: ways of more than eight steps, and what a search of 20,000 edges does not reach, are not found.
    """
    more = _extra(extra)
    if a == b or limit < 1:
        return ()
    left = _distances(graph, more, b)
    if left.get(a, _STEPS + 1) > _STEPS:
        return ()
    found: list[Path] = []
    ahead: list[tuple[int, float, tuple[str, ...], tuple[Edge, ...]]] = [(left[a], 0.0, (a,), ())]
    work = 0
    while ahead and work < _WORK:
        length, weight, nodes, edges = heapq.heappop(ahead)
        if len(found) >= limit and length > len(found[-1]):
            break
        if nodes[-1] == b:
            found.append(Path(nodes, edges, round(-weight, 6)))
            continue
        for other, edge in _strongest(graph, more, nodes[-1]).items():
            work += 1
            total = len(edges) + 1 + left.get(other, _STEPS)
            if other not in nodes and total <= _STEPS:
                heapq.heappush(ahead, (total, weight - edge.weight, (*nodes, other), (*edges, edge)))
    found.sort(key=lambda p: (len(p), -p.weight, p.nodes))
    return tuple(found[:limit])


def _extra(edges: Iterable[Edge]) -> _Around:
    at: dict[str, list[Edge]] = defaultdict(list)
    for e in edges:
        at[e.subject].append(e)
        at[e.object].append(e)
    return at


def _at(graph: Graph, more: _Around, node: str) -> list[Edge]:
    return [*(graph.edges[i] for i in graph.around.get(node, ())), *more.get(node, ())]


def _entity(graph: Graph, name: str, steps: int) -> Entity:
    held = graph.node(name) or Entity(name, name, "name")
    return Entity(held.key, held.name, held.kind, held.aliases, held.facts, steps)


def _strongest(graph: Graph, more: _Around, node: str) -> dict[str, Edge]:
    """To each neighbour the heaviest edge; of equals the one that sorts first."""
    best: dict[str, Edge] = {}
    for edge in _at(graph, more, node):
        other = edge.object if edge.subject == node else edge.subject
        held = best.get(other)
        if held is None or (-edge.weight, edge.predicate, edge.source) < (-held.weight, held.predicate, held.source):
            best[other] = edge
    return best


def _distances(graph: Graph, more: _Around, node: str) -> dict[str, int]:
    """Steps to `node` from each node that is near enough: each edge is looked at once."""
    far = {node: 0}
    ring = [node]
    for steps in range(1, _STEPS + 1):
        following = []
        for at in ring:
            for edge in _at(graph, more, at):
                other = edge.object if edge.subject == at else edge.subject
                if other not in far:
                    far[other] = steps
                    following.append(other)
        ring = following
    return far

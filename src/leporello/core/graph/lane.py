"""The graph as a lane of recall: facts near the names in a query, by personalised PageRank."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import numpy as np

from leporello.core.graph.build import USER, Graph
from leporello.core.graph.entities import entities
from leporello.core.graph.lexicon import words
from leporello.core.graph.links import ALPHA, rank
from leporello.core.graph.shapes import key

_SEEDS = 10
_QUERY = 4_000
_WORDS = 64
_LONGEST = 6
_FLOOR = 0.02
_LIMIT = 200
_TOLERANCE = 1e-7
_WORD = re.compile(r"[\w@](?:[\w./@'’\-]*\w)?")
_DENSE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3·]{2,}")


def lane(graph: Graph, query: str, *, alpha: float = ALPHA, limit: int = _LIMIT) -> Mapping[str, float]:
    """Fact ids and their scores in (0, 1], best first: PageRank from the query's names, relative to the best fact.

    Empty when the query names nothing in the graph, or nothing but hubs. At most `limit` facts; less than a fiftieth of the
    best is none.
    """
    found = seeds(graph, query)
    if not found:
        return {}
    p = rank(graph.links, {graph.links.place[n]: w for n, w in found.items()}, alpha=alpha, tolerance=_TOLERANCE)
    first = len(p) - len(graph.facts)  # facts are the last nodes
    scores = p[first:]
    best = float(scores.max())
    if best <= 0:
        return {}
    order = np.lexsort((np.arange(scores.size), -scores))[:limit]
    return {graph.links.nodes[first + i]: float(scores[i] / best) for i in order.tolist() if scores[i] >= best * _FLOOR}


def seeds(graph: Graph, query: str) -> Mapping[str, float]:
    """The nodes that the query names, each with its specificity 1 / (number of facts that hold it); hubs are none.

    A name is met by its key, by an alias, or by all of its words, in any case. At most ten, the most specific.
    """
    found = {
        n: 1.0 / len(graph.holders[n]) for n in dict.fromkeys(_named(graph, query[:_QUERY])) if n in graph.holders and not graph.is_hub(n)
    }
    return dict(sorted(found.items(), key=lambda s: (-s[1], s[0]))[:_SEEDS])


def _named(graph: Graph, query: str) -> Iterator[str]:
    names = graph.names
    for mention in entities(query, known=names):
        if mention.key in names:
            yield names[mention.key]
    said = [key(w.removeprefix("@")) for w in _WORD.findall(query)][:_WORDS]
    place = 0
    while place < len(said):
        long = next((n for n in range(min(_LONGEST, len(said) - place), 0, -1) if _is_name(graph, said[place : place + n])), 0)
        if long:
            yield names[" ".join(said[place : place + long])]
        place += long or 1
    have = set(said)
    if have & (words("first person") | {USER}) and USER in names:
        have |= {USER, *names[USER].split()}  # "my dog" is "user's dog"
    for word in dict.fromkeys(said):
        yield from (names[n] for n in graph.by_word.get(word, ())[:500] if have.issuperset(map(key, n.split())))
    for run in _DENSE.findall(query):
        parts = (run[i : i + n] for i in range(len(run)) for n in range(2, 13) if i + n <= len(run))
        yield from (names[p] for p in map(key, parts) if p in names)


def _is_name(graph: Graph, said: list[str]) -> bool:
    name = " ".join(said)
    return name in graph.names and not (len(said) == 1 and (name in words("never") or name in words("starter")) and name != USER)

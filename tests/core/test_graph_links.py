"""Personalised PageRank: the published vectors, an independent implementation, and what must hold of every graph."""

from __future__ import annotations

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networkx.algorithms.link_analysis.pagerank_alg import _pagerank_python

from leporello.core.graph import links, pagerank

NODES = [f"n{i}" for i in range(12)]
PAIRS = st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES), st.floats(0.01, 100)), max_size=40)
SEEDS = st.dictionaries(st.sampled_from(NODES), st.floats(0.001, 10), min_size=1, max_size=4)

VECTORS = [
    ([("A", "B", 1), ("B", "C", 1)], {"A": 1}, 0.5, {"A": 0.583333, "B": 0.333333, "C": 0.083333}),
    ([("A", "B", 1), ("B", "C", 1)], {"A": 1}, 0.85, {"A": 0.345270, "B": 0.459459, "C": 0.195270}),
    ([("A", "B", 2), ("A", "C", 1)], {"B": 1}, 0.5, {"A": 0.333333, "B": 0.611111, "C": 0.055556}),
    ([("A", "B", 1)], {"A": 1, "C": 1}, 0.5, {"A": 0.444444, "B": 0.222222, "C": 0.333333}),
    (
        [("e1", "e2", 1), ("e1", "p1", 1), ("e2", "p2", 1)],
        {"e1": 0.8, "e2": 0.2, "p1": 0.05},
        0.5,
        {"e1": 0.522751, "e2": 0.258201, "p1": 0.154497, "p2": 0.064550},
    ),
]


@pytest.mark.parametrize(("pairs", "seeds", "alpha", "expected"), VECTORS)
def test_the_published_vectors(
    pairs: list[tuple[str, str, float]], seeds: dict[str, float], alpha: float, expected: dict[str, float]
) -> None:
    found = pagerank(links(pairs, sorted(expected)), seeds, alpha=alpha)
    assert found == pytest.approx(expected, abs=5e-7)


@given(PAIRS, SEEDS, st.sampled_from([0.3, 0.5, 0.85]))
def test_it_agrees_with_networkx(pairs: list[tuple[str, str, float]], seeds: dict[str, float], alpha: float) -> None:
    web = networkx.Graph()
    web.add_nodes_from(NODES)
    for a, b, w in pairs:
        if a != b:
            held = web.get_edge_data(a, b, {"weight": 0.0})["weight"]
            web.add_edge(a, b, weight=held + w)
    # networkx.pagerank itself needs SciPy; this is the same package's own reference implementation of it
    theirs = _pagerank_python(web, alpha=alpha, personalization=seeds, dangling=seeds, tol=1e-12, max_iter=1_000)
    ours = pagerank(links(pairs, NODES), seeds, alpha=alpha, tolerance=1e-10)
    assert ours == pytest.approx(theirs, abs=1e-6)


@given(PAIRS, SEEDS)
def test_it_is_a_distribution_and_does_not_depend_on_order_or_scale(pairs: list[tuple[str, str, float]], seeds: dict[str, float]) -> None:
    found = pagerank(links(pairs, NODES), seeds)
    assert sum(found.values()) == pytest.approx(1.0) and min(found.values()) >= 0
    turned = [(b, a, w * 3) for a, b, w in reversed(pairs)]
    assert pagerank(links(turned, NODES), {n: w * 7 for n, w in seeds.items()}) == pytest.approx(found, abs=1e-6)
    assert all(found[n] >= 0.5 * w / sum(seeds.values()) - 1e-9 for n, w in seeds.items())


def test_loops_and_weights_of_nothing_are_no_links_and_repeats_add_up() -> None:
    held = links([("A", "A", 5), ("A", "B", 0), ("A", "C", 1), ("C", "A", 1), ("A", "D", 1)])
    assert pagerank(held, {"A": 1}) == pytest.approx({"A": 2 / 3, "B": 0, "C": 2 / 9, "D": 1 / 9})


@pytest.mark.parametrize("seeds", [{}, {"nobody": 1.0}, {"A": 0.0}, {"A": -1.0}])
def test_without_a_seed_there_is_nothing(seeds: dict[str, float]) -> None:
    assert pagerank(links([("A", "B", 1)]), seeds) == {}
    assert pagerank(links([]), seeds) == {}

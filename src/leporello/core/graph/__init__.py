"""The graph of what is known: names in facts as nodes, facts as edges. Never stored: a pure function of the facts at a moment."""

from __future__ import annotations

from leporello.core.graph.build import HUB, USER, Graph, Read, graph, read
from leporello.core.graph.entities import entities
from leporello.core.graph.lane import lane, seeds
from leporello.core.graph.links import Links, links, pagerank
from leporello.core.graph.shapes import MENTIONED_WITH, MENTIONS, Edge, Entity, Mention, Neighbourhood, Path, key
from leporello.core.graph.travel import find, neighbours, paths

__all__ = [
    "HUB", "MENTIONED_WITH", "MENTIONS", "USER", "Edge", "Entity", "Graph", "Links", "Mention", "Neighbourhood", "Path", "Read", "entities", "find",
    "graph", "key", "lane", "links", "neighbours", "pagerank", "paths", "read", "seeds",
]  # fmt: skip

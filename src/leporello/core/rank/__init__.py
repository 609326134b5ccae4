"""Finding: the in-memory index of one shard and the ranking over it. Pure numpy; the store only keeps the rows."""

from __future__ import annotations

from leporello.core.rank.formulas import bm25_idf, bm25_tf, rrf
from leporello.core.rank.index import Index, Sieve
from leporello.core.rank.search import Found, Query, search

__all__ = ["Found", "Index", "Query", "Sieve", "bm25_idf", "bm25_tf", "rrf", "search"]

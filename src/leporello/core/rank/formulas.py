"""Published formulas, one function each."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def bm25_idf(rows: int, df: int) -> float:
    """ln((N − df + 0.5)/(df + 0.5) + 1): how telling a term is that occurs in `df` of `rows` documents. Above 0.

    Robertson & Zaragoza 2009, with the +1 that keeps it positive (Lucene).
    """
    return math.log((rows - df + 0.5) / (df + 0.5) + 1)


def bm25_tf(tf: Floats, lengths: Floats, average: float, *, k1: float, b: float) -> Floats:
    """tf·(k1+1) / (tf + k1·(1 − b + b·length/average)): 1 for one occurrence in a document of average length; below k1+1."""
    return tf * (k1 + 1) / (tf + k1 * (1 - b + b * lengths / average))


def rrf(ranks: Iterable[int], *, k: int = 60) -> float:
    """Σ 1/(k + rank), ranks from 1. Cormack, Clarke & Büttcher 2009."""
    return sum(1 / (k + rank) for rank in ranks)

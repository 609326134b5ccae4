"""Ranking: how well each row of a scope answers a query, on a scale that is the same for every query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from leporello.core.rank.formulas import Floats, bm25_idf, bm25_tf
from leporello.core.rank.index import Index, Sieve
from leporello.records import Reason

K1, B = 1.0, 0.4


class Terms(Protocol):
    """The shape of `words.QueryTerms`."""

    @property
    def hashes(self) -> NDArray[np.uint32]: ...
    @property
    def weights(self) -> NDArray[np.float64]: ...
    @property
    def words(self) -> tuple[str, ...]: ...


class Weights(Protocol):
    """The shape of `policies.RecallPolicy`."""

    @property
    def dense(self) -> float: ...
    @property
    def neighbours(self) -> float: ...
    @property
    def session(self) -> float: ...


@dataclass(frozen=True)
class Query:
    """What is looked for: the terms of its text and its unit vector."""

    terms: Terms
    vector: NDArray[np.float32]


@dataclass(frozen=True)
class Found:
    """A row by its rid, its score in [0, 1] or slightly above, and the terms of the score, largest first."""

    rid: int
    score: float
    why: tuple[Reason, ...]


def search(index: Index, query: Query, sieve: Sieve, policy: Weights, *, k: int) -> list[Found]:
    """The best `k` rows that pass the sieve, best first; of equals the newest first. All statistics are of these rows only."""
    rows = index.order[index.mask(sieve)[index.order]]
    if not rows.size or k < 1:
        return []
    lexical = _lexical(index, query.terms, rows)
    dense = np.maximum(index.cosines(query.vector, rows), 0.0)
    own = (1 - policy.dense) * lexical + policy.dense * dense
    log = index.column("log")[rows]
    near = _near(own, log)
    wide = _wide(own, log)
    score = own + policy.neighbours * near + policy.session * wide
    at = index.column("at")[rows]
    rid = index.column("rid")[rows]
    best = np.lexsort((-rid, -at, -score))[:k]
    parts = {
        "words": (1 - policy.dense) * lexical, "meaning": policy.dense * dense, "neighbours": policy.neighbours * near, "session": policy.session * wide
    }
    return [Found(int(rid[i]), float(score[i]), _why(parts, int(i))) for i in best]


def _why(parts: dict[str, Floats], i: int) -> tuple[Reason, ...]:
    reasons = [Reason(name, round(float(values[i]), 6)) for name, values in parts.items() if values[i] > 0]
    return tuple(sorted(reasons, key=lambda r: -r.value))


def _lexical(index: Index, terms: Terms, rows: NDArray[np.int64]) -> Floats:
    """BM25 as a share of what one occurrence of every query term in a row of average length would give."""
    place = np.full(index.lengths.size, -1, np.int64)
    place[rows] = np.arange(rows.size)
    lengths = index.lengths[rows].astype(np.float64)
    average = max(1.0, float(lengths.sum()) / rows.size)
    score, most = np.zeros(rows.size), 0.0
    for term, weight in zip(terms.hashes.tolist(), terms.weights.tolist(), strict=True):
        held, counts = index.postings(term)
        here = place[held]
        seen = here >= 0
        here = here[seen]
        gain = weight * bm25_idf(rows.size, here.size)
        most += gain
        score[here] += gain * bm25_tf(counts[seen].astype(np.float64), lengths[here], average, k1=K1, b=B)
    return score / most if most else score


def _near(own: Floats, log: NDArray[np.int64]) -> Floats:
    out = np.zeros(own.size)
    same = (log[1:] == log[:-1]) & (log[1:] > 0)
    out[1:] += np.where(same, own[:-1], 0)
    out[:-1] += np.where(same, own[1:], 0)
    return out / 2


def _wide(own: Floats, log: NDArray[np.int64]) -> Floats:
    starts = np.flatnonzero(np.concatenate(([True], log[1:] != log[:-1])))
    best = np.maximum.reduceat(own, starts)
    return np.where(log > 0, np.repeat(best, np.diff(np.append(starts, own.size))), 0.0)

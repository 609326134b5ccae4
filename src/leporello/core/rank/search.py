"""Ranking: how well each row of a scope answers a query.

Two lanes, words (BM25) and meaning (cosine), each as a share of its best row, are joined by a convex sum. A message is
also understood through its neighbours: what it lacks of the query's words may stand in the message before or after it,
at a discount that grows with the distance and with the time between them; and through its session, by the session's best
message. Messages by a person or a role that the query names count more, and very short ones less.

That order is relative. So that scores can be compared between queries and a floor can be set, all are multiplied by how
much of the query the best row holds in absolute terms: the share of the query's words, weighted by how telling they are,
and the cosine above that of an average row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from leporello.core.rank.formulas import Floats, bm25_idf, bm25_tf
from leporello.core.rank.index import Index, Places, Sieve, View
from leporello.policies import RecallPolicy
from leporello.records import Reason

K1, B = 0.8, 0.4
_NEAR = {1: 1.0, 2: 0.6}  # how much of `RecallPolicy.neighbours` a message one or two places away gives
_NEAR_MEANING = 0.3
_SPEAKER, _ROLE = 0.2, 0.2
_SHORT = 1 - np.exp(-np.arange(65) / 10.0)  # by length in terms: how much a greeting can tell
_FEW, _EQUAL = 10, 0.05
_ENOUGH = 5.0  # as many telling words are enough, however long the query


class Terms(Protocol):
    """The shape of `words.QueryTerms`, where its fields are explained."""

    @property
    def hashes(self) -> NDArray[np.uint32]:
        """Unique terms."""
        ...

    @property
    def weights(self) -> NDArray[np.float64]:
        """Their weights."""
        ...

    @property
    def words(self) -> tuple[str, ...]:
        """What they stand for."""
        ...

    @property
    def speakers(self) -> NDArray[np.uint32]:
        """Marks of speakers."""
        ...

    @property
    def role(self) -> int:
        """Mark of a role, or 0."""
        ...


@dataclass(frozen=True)
class Query:
    """What is looked for: the terms of its text and its unit vector."""

    terms: Terms
    vector: NDArray[np.float32]


@dataclass(frozen=True)
class Found:
    """A row by its rid, its score (0 to about 1), and the terms of the score, largest first."""

    rid: int
    score: float
    why: tuple[Reason, ...]


@dataclass(frozen=True)
class _Words:
    """The lexical lane: BM25 of each row by itself and with its neighbours, and how much of the query each covers."""

    own: Floats
    joined: Floats
    cover: Floats
    seen: list[tuple[str, Places]]


def search(index: Index, query: Query, sieve: Sieve, policy: RecallPolicy, *, k: int) -> list[Found]:
    """The best `k` rows that pass the sieve, best first; of equals the newest first. All statistics are of these rows only."""
    view = index.view(sieve)
    if not view.rows.size or k < 1:
        return []
    words = _words(index, view, query.terms, policy.neighbours)
    cosines = index.cosines(view, query.vector)
    meaning = np.maximum(cosines, 0.0)
    lexical, dense = (1 - policy.dense) / _top(words.joined), policy.dense / _top(meaning)
    near = lexical * (words.joined - words.own) + dense * _near(meaning, view, policy.neighbours * _NEAR_MEANING)
    parts = {"words": lexical * words.own, "meaning": dense * meaning, "neighbours": near}
    sums = parts["words"] + parts["meaning"] + near
    parts["session"] = policy.session * np.repeat(np.maximum.reduceat(sums, view.starts), np.diff(view.starts, append=sums.size))
    sums += parts["session"]
    factor = np.where(view.standing, 1.0, _SHORT[np.minimum(view.length, 64)]) * _voice(index, view, query.terms)
    scores = sums * factor
    best = _best(scores, cosines, view, k)
    held = best[0]
    sure = (1 - policy.dense) * words.cover[held] + policy.dense * meaning[held]
    said = [" ".join(word for word, places in words.seen if _holds(places, int(i))) for i in best]
    age = list(zip(view.at[best].tolist(), view.rid[best].tolist(), strict=True))
    out = []
    for place, i in zip(best, _newest_of_equals(scores[best], age, said), strict=True):
        row = best[i]
        values = {name: float(part[row] * factor[row] * sure) for name, part in parts.items()}
        values["recency"] = float((scores[place] - scores[row]) * sure)
        out.append(Found(int(view.rid[row]), float(scores[place] * sure), _why(values, said[i])))
    return out


def _why(values: dict[str, float], said: str) -> tuple[Reason, ...]:
    reasons = [Reason(name, round(value, 6), said if name == "words" else "") for name, value in values.items() if value]
    return tuple(sorted(reasons, key=lambda r: -r.value))


def _holds(places: Places, i: int) -> bool:
    at = int(np.searchsorted(places, i))
    return at < places.size and int(places[at]) == i


def _newest_of_equals(scores: Floats, age: list[tuple[int, int]], said: list[str]) -> list[int]:
    """The order of the hits: of the first few, those that hold the same words of the query and score within a twentieth
    of the best of them are equals, and of equals the newest stands first (what was said later holds)."""
    order = list(range(len(said)))
    for words in dict.fromkeys(said[:_FEW]):
        places = [i for i in order[:_FEW] if said[i] == words and words]
        while places:
            equals = [i for i in places if scores[i] >= scores[places[0]] * (1 - _EQUAL)]
            places = places[len(equals) :]
            for place, i in zip(equals, sorted(equals, key=age.__getitem__, reverse=True), strict=True):
                order[place] = i
    return order


def _words(index: Index, view: View, terms: Terms, neighbours: float) -> _Words:
    size = view.rows.size
    own, joined, cover = np.zeros(size), np.zeros(size), np.zeros(size)
    seen: list[tuple[str, Places]] = []
    gains: list[float] = []
    for term, weight, word in zip(terms.hashes.tolist(), terms.weights.tolist(), terms.words, strict=True):
        rows, counts = index.postings(term)
        places = view.place[rows]
        here = places >= 0
        places, counts = places[here], counts[here]
        gains.append(weight * bm25_idf(size, places.size))
        if not places.size:
            continue
        values = bm25_tf(counts.astype(np.float64), view.length[places].astype(np.float64), view.average, k1=K1, b=B)
        own[places] += gains[-1] * values
        spread = _spread(places, values, view, neighbours)
        joined += gains[-1] * spread
        cover += gains[-1] * np.minimum(spread, 1.0)
        seen.append((word, np.sort(places)))
    total = min(sum(gains), _ENOUGH * max(gains, default=0.0))
    return _Words(own, joined, np.minimum(cover / total, 1.0) if total else cover, seen)


def _spread(places: Places, values: Floats, view: View, neighbours: float) -> Floats:
    """A term's weight in each row: its own, or its neighbours' at a discount, whichever is more."""
    out = np.zeros(view.rows.size)
    out[places] = values
    for distance, share in _NEAR.items():
        link = view.links[distance] * (share * neighbours)
        ahead = places < link.size
        into, given = places[ahead] + distance, values[ahead] * link[places[ahead]]
        out[into] = np.maximum(out[into], given)
        behind = places >= distance
        into = places[behind] - distance
        out[into] = np.maximum(out[into], values[behind] * link[into])
    return out


def _near(values: Floats, view: View, share: float) -> Floats:
    out = np.zeros(values.size)
    link = view.links[1]
    if link.size:
        out[1:] += values[:-1] * link
        out[:-1] += values[1:] * link
    return out * share


def _voice(index: Index, view: View, terms: Terms) -> Floats:
    """Above 1 for messages by whom the query names or speaks as. Episodes and facts have no speaker and are not set back."""
    factor = np.ones(view.rows.size)
    for marks, gain in ((terms.speakers.tolist(), _SPEAKER), ([terms.role] if terms.role else [], _ROLE)):
        by = np.zeros(view.rows.size, bool)
        for mark in marks:
            places = view.place[index.postings(mark)[0]]
            by[places[places >= 0]] = True
        if by.any():
            factor[by | view.standing] *= 1 + gain
    return factor


def _best(scores: Floats, cosines: Floats, view: View, k: int) -> Places:
    """The places of the best: by score, then newest first; what scores nothing by its cosine, below 0 as that is."""
    at_least = np.partition(scores, scores.size - k)[scores.size - k] if k < scores.size else -np.inf
    few = np.flatnonzero(scores >= at_least)
    weak = np.where(scores[few] > 0, 0.0, cosines[few])
    return few[np.lexsort((-view.rid[few], -view.at[few], -weak, -scores[few]))][:k]


def _top(values: Floats) -> float:
    return float(values.max()) or 1.0

"""Ranking: how well each row of a scope answers a query.

Two lanes, words (BM25) and meaning (cosine), each as a share of its best row, are joined by a convex sum. A message is
also understood through its neighbours: what it lacks of the query's words may stand in the message before or after it,
at a discount that grows with the distance and with the time between them; and through its session, by the session's best
message. Messages by a person or a role that the query names count more, and very short ones less. What was said later
holds: of statements that say the same the newer stands first.

That order is relative. So that scores can be compared between queries and a floor can be set, all are multiplied by how
much of the query the best row holds in absolute terms: the share of the query's words, weighted by how telling they are,
and the cosine above that of an average row. Where the query names a speaker, it is what that speaker said that counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leporello.core.rank.formulas import Floats, bm25_idf, bm25_tf
from leporello.core.rank.index import Index, Places, Sieve, View
from leporello.core.words import QueryTerms, news_mark, role_mark
from leporello.policies import RecallPolicy
from leporello.results import Reason

K1, B = 0.8, 0.4
_NEAR = {1: 1.0, 2: 0.6}  # how much of `RecallPolicy.neighbours` a message one or two places away gives
_NEAR_MEANING = 0.3
_SPEAKER, _ROLE = 0.2, 0.2
_SHORT = 1 - np.exp(-np.arange(65) / 10.0)  # by length in terms: how much a greeting can tell
_FEW = 10  # hits at the head among which a newer one may pass an older one
_EQUAL = 0.95  # two that hold the same words of the query are equals from this ratio of their scores
_UPDATE, _ALIKE = 0.6, 0.3  # asked how things stand: two of one voice, by the ratio of scores and the cosine between them
_NEWS, _ALIKE_NEWS = 0.5, 0.15  # the same for a message that tells how things stand by now
_CHANCE = 0.08  # how much the cosines of unrelated texts scatter, where there are too few rows to tell
_ENOUGH = 5.0  # as many telling words are enough, however long the query


@dataclass(frozen=True)
class Query:
    """What is looked for: the terms of its text and its unit vector."""

    terms: QueryTerms
    vector: NDArray[np.float32]


@dataclass(frozen=True)
class Found:
    """A row by its rid, its score (0 to about 1), and the terms of the score, largest first."""

    rid: int
    score: float
    why: tuple[Reason, ...]


@dataclass(frozen=True)
class _Words:
    """The lexical lane, each row by itself and with its neighbours: its BM25, and the share of the query that it covers."""

    own: Floats
    joined: Floats
    own_cover: Floats
    joined_cover: Floats
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
    named, spoken = (
        _said_by(index, view, query.terms.speakers),
        _said_by(index, view, np.array([r for r in (query.terms.role,) if r], np.uint32)),
    )
    factor = np.where(view.standing, 1.0, _SHORT[np.minimum(view.length, 64)])
    factor *= np.where(named, 1 + _SPEAKER, 1.0) * np.where(spoken, 1 + _ROLE, 1.0)
    scores = sums * factor
    best = _best(scores, cosines, view, max(k, _FEW))
    sure = _sure(words, meaning, named, int(best[0]), policy.dense)
    said = [" ".join(word for word, places in words.seen if _holds(places, int(i))) for i in best]
    passes = _passes(view, best[:_FEW], scores[best[:_FEW]], said)
    if query.terms.current:
        passes |= _updates(index, view, best[:_FEW], scores[best[:_FEW]])
    out = []
    for place, i in zip(best, _newest_first(len(best), passes), strict=True):
        row = best[i]
        values = {name: float(part[row] * factor[row] * sure) for name, part in parts.items()}
        values["recency"] = float((scores[place] - scores[row]) * sure)
        out.append(Found(int(view.rid[row]), float(scores[place] * sure), _why(values, said[i])))
    return out[:k]


def _sure(words: _Words, meaning: Floats, named: NDArray[np.bool_], best: int, dense: float) -> float:
    """How much of the query the best row holds; meaning alone can say half of it, if it stands out among the rows."""
    apart = 0.5 * _standing_out(meaning)
    if named.any() and not named.all():
        return max(apart, float(((1 - dense) * words.own_cover + dense * meaning)[named].max()))
    return max(apart, float((1 - dense) * words.joined_cover[best] + dense * meaning[best]))


def _standing_out(meaning: Floats) -> float:
    """How far the best cosine lies above the largest that chance would give among as many rows, as a share of that, at most 1.

    The largest of n normal values is about their deviation times sqrt(2 ln n); the deviation is at least `_CHANCE`.
    """
    deviation = max(_CHANCE, 1.2 * float(np.sqrt((meaning * meaning).mean())))
    chance = deviation * float(np.sqrt(2 * np.log(meaning.size + 1)))
    return min(1.0, max(0.0, float(meaning.max()) / chance - 1))


def _why(values: dict[str, float], said: str) -> tuple[Reason, ...]:
    reasons = [Reason(name, round(value, 6), said if name == "words" else "") for name, value in values.items() if value]
    return tuple(sorted(reasons, key=lambda r: -r.value))


def _holds(places: Places, i: int) -> bool:
    at = int(np.searchsorted(places, i))
    return at < places.size and int(places[at]) == i


def _newer(view: View, best: Places) -> NDArray[np.bool_]:
    at, rid = view.at[best], view.rid[best]
    return np.asarray((at[:, None] > at) | ((at[:, None] == at) & (rid[:, None] > rid)))


def _passes(view: View, best: Places, scores: Floats, said: list[str]) -> NDArray[np.bool_]:
    """Shape (hits, hits): true where the first is newer than the second, holds the same words of the query, and is as good."""
    first = said[: len(best)]
    same = np.array([[a == b != "" for b in first] for a in first])
    return np.asarray(_newer(view, best) & same & (scores[:, None] >= scores * _EQUAL))


def _updates(index: Index, view: View, best: Places, scores: Floats) -> NDArray[np.bool_]:
    """Shape (hits, hits): true where the first is newer than the second, of the same voice, alike, and nearly as good.

    One that tells how things stand by now may be less alike and less good.
    """
    user = _said_by(index, view, np.array([role_mark("user")], np.uint32))[best]
    news = np.isin(best, view.place[index.postings(news_mark())[0]])
    likeness = index.likeness(view, best)
    close = (likeness > _ALIKE) & (scores[:, None] >= scores * _UPDATE)
    told = news[:, None] & (likeness > _ALIKE_NEWS) & (scores[:, None] >= scores * _NEWS)
    return np.asarray(_newer(view, best) & (close | told) & (user[:, None] == user))


def _newest_first(hits: int, passes: NDArray[np.bool_]) -> list[int]:
    """The order of the hits: one that passes another stands directly before it."""
    order: list[int] = []
    for i in range(hits):
        order.insert(next((place for place, j in enumerate(order) if i < len(passes) and passes[i, j]), len(order)), i)
    return order


def _words(index: Index, view: View, terms: QueryTerms, neighbours: float) -> _Words:
    size = view.rows.size
    own, joined, own_cover, joined_cover = np.zeros((4, size))
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
        own_cover[places] += gains[-1] * np.minimum(values, 1.0)
        joined_cover += gains[-1] * np.minimum(spread, 1.0)
        seen.append((word, np.sort(places)))
    total = min(sum(gains), _ENOUGH * max(gains, default=0.0))
    share = 1 / total if total else 0.0
    return _Words(own, joined, np.minimum(own_cover * share, 1.0), np.minimum(joined_cover * share, 1.0), seen)


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


def _said_by(index: Index, view: View, marks: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """The messages that bear one of the marks. If any does, episodes and facts too: they have no speaker, and are not set back."""
    by = np.zeros(view.rows.size, bool)
    for mark in marks.tolist():
        places = view.place[index.postings(mark)[0]]
        by[places[places >= 0]] = True
    return by | view.standing if by.any() else by


def _best(scores: Floats, cosines: Floats, view: View, k: int) -> Places:
    """The places of the best: by score, then newest first; what scores nothing by its cosine, below 0 as that is."""
    at_least = np.partition(scores, scores.size - k)[scores.size - k] if k < scores.size else -np.inf
    few = np.flatnonzero(scores >= at_least)
    weak = np.where(scores[few] > 0, 0.0, cosines[few])
    return few[np.lexsort((-view.rid[few], -view.at[few], -weak, -scores[few]))][:k]


def _top(values: Floats) -> float:
    return float(values.max()) or 1.0

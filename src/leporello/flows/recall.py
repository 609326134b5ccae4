"""Finding: the shelf of in-memory indexes, kept fresh by deltas, and the hits with their reasons."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from time import perf_counter

from leporello.core import facts as rules
from leporello.core import graph as graphs
from leporello.core import rank, words
from leporello.core.times import micros
from leporello.errors import EmptyQuery
from leporello.flows.aging import age, as_aged, hidden, rows_of, weights
from leporello.ports import AnyRecord, Mark, Ports, Reader, TraceRow
from leporello.records import Fact, Kind, Scope
from leporello.results import Hit, Reason, Recall

KINDS: tuple[Kind, ...] = ("message", "episode", "fact")
_GUESSED = (Reason("guess", 0.0, "nothing of the query; newest first"),)
_QUERY_CHARACTERS = 4_000
_SHELF_ROWS = 500_000
_AROUND = 60  # facts around which the graph is looked at
_NAMES = 24
_MORE = 20  # of what is found beyond what is wanted, so many may come up for the age of others
_NOTED = 200  # how many of the hits are noted as shown


_read = lru_cache(maxsize=1 << 13)(graphs.read)


@dataclass
class _Held:
    index: rank.Index
    mark: Mark = (0, 0)
    lock: threading.Lock = field(default_factory=threading.Lock)


class Shelf:
    """The indexes of the tenants and users that were asked last, least recently used out first. Safe for threads.

    An index is a function of committed rows alone: before each search it takes in what was committed since its mark.
    """

    def __init__(self, dimension: int, *, rows: int = _SHELF_ROWS) -> None:
        self._dimension = dimension
        self._rows = rows
        self._lock = threading.Lock()
        self._held: OrderedDict[tuple[str, str | None], _Held] = OrderedDict()
        self.beside: dict[str, object] = {}
        """What is kept beside the indexes for as long as they are: the graphs that were asked last."""

    def search(self, reader: Reader, scope: Scope, query: rank.Query, sieve: rank.Sieve, ports: Ports, *, k: int) -> list[rank.Found]:
        """The best rows of the scope's tenant and user that pass the sieve."""
        held = self._get((scope.tenant, scope.user))
        with held.lock:
            delta = reader.index(scope, held.mark)
            if delta.added or delta.removed:
                held.index.apply(delta.added, delta.removed)
            held.mark = max(held.mark, delta.mark)
            found = rank.search(held.index, query, sieve, ports.policies.recall, k=k)
        self._trim()
        return found

    def clear(self) -> None:
        """Forgets every index."""
        with self._lock:
            self._held.clear()
            self.beside.clear()

    def _get(self, key: tuple[str, str | None]) -> _Held:
        with self._lock:
            held = self._held.pop(key, None) or _Held(rank.Index(self._dimension))
            self._held[key] = held
            return held

    def _trim(self) -> None:
        with self._lock:
            while len(self._held) > 1 and sum(len(h.index) for h in self._held.values()) > self._rows:
                self._held.popitem(last=False)


@dataclass(frozen=True)
class Question:
    """What is asked: text, how many, which kinds, and at which moment (see `recall`)."""

    text: str
    k: int = 10
    kinds: tuple[Kind, ...] = KINDS
    as_of: datetime | None = None
    believed_at: datetime | None = None
    include: tuple[str, ...] = ()

    @property
    def past(self) -> bool:
        """True if it is asked about the past: nothing is weighed by its age then."""
        return self.as_of is not None or self.believed_at is not None


def recall(ports: Ports, shelf: Shelf, scope: Scope, question: Question) -> Recall:
    """The records that answer best.

    `as_of`: what was said or true by then. `believed_at`: what the store held then. Facts that ended or were retracted
    come back only for a moment at which they were held, or if `include` names their status; so does what is archived, has expired or is
    hardly certain any more. What is hardly recalled comes later, but where the question is about what was. When even the best hit is below
    the relevance floor, `not_found` is set and the hits are weak guesses.
    """
    began = perf_counter()
    if not question.text.strip():
        raise EmptyQuery()
    text = question.text[:_QUERY_CHARACTERS]
    query = rank.Query(words.query_terms(text), ports.embedder.embed([text])[0])
    with ports.store.read() as r:
        sieve = rank.Sieve(
            kinds=question.kinds,
            until=micros(question.as_of) if question.as_of else None,
            believed=micros(question.believed_at) if question.believed_at else None,
            **r.names(scope),
        )
        rows: dict[str, TraceRow] = {}
        held = _held(ports, r, scope, shelf, (query, sieve, question, rows))
        held = _with_graph(ports, r, scope, shelf, (held, sieve, question, rows))
    missed = not held or held[0][0].score < ports.policies.recall.floor
    telling = [(f, x) for f, x in held if missed or f.why]  # beside real answers, what has no part of the query is none
    weight = 0.0 if query.terms.past or question.past else ports.policies.retention.weight
    hits = _hits(ports, _weighed(ports, telling, rows, weight, k=question.k), rows, question)
    ports.shown.add((h.record for h in hits[:_NOTED]), ports.clock.now(), "retrieved")
    return Recall(question.text, tuple(hits), missed, round((perf_counter() - began) * 1000, 3))


def _hits(ports: Ports, held: Sequence[tuple[rank.Found, AnyRecord]], rows: Mapping[str, TraceRow], question: Question) -> list[Hit]:
    """The first rows as hits that say how they stand by now; of what was believed at a moment nothing is told."""
    at, policy = micros(ports.clock.now()), ports.policies.retention
    out = []
    for found, x in held[: question.k]:
        why = found.why or _GUESSED
        if question.believed_at is not None:
            out.append(Hit(x, found.score, why, x.provenance))
            continue
        stands = age(x, rows.get(x.id), policy=policy, at=at)
        record = as_aged([x], {x.id: stands})[0] if isinstance(x, Fact) else x
        out.append(Hit(record, found.score, why, x.provenance, round(stands.retention, 6), stands.confidence, _told(x, stands.status)))
    return out


def _told(record: AnyRecord, status: str) -> str | None:
    """The status of a hit; a message or an episode has none to tell while it is there to be found."""
    return status if isinstance(record, Fact) or status not in {"active", "fading"} else None


def _weighed(
    ports: Ports, held: list[tuple[rank.Found, AnyRecord]], rows: Mapping[str, TraceRow], weight: float, *, k: int
) -> list[tuple[rank.Found, AnyRecord]]:  # fmt: skip
    """The rows by score times retention and confidence, of each the share that the weight says."""
    if not weight:
        return held
    at, policy = micros(ports.clock.now()), ports.policies.retention
    near = [(_aged(f, weights(x, rows.get(x.id), policy=policy, at=at), weight), x) for f, x in held[: k + _MORE]]
    return sorted(near, key=lambda p: -p[0].score)


def _aged(found: rank.Found, stands: tuple[float, float | None], weight: float) -> rank.Found:
    score, why = found.score, list(found.why)
    for term, value in zip(("retention", "confidence"), stands, strict=True):
        if value is not None and value < 1 and score > 0:
            less = score * (1 - weight + weight * value)
            if round(less - score, 6):
                why.append(Reason(term, round(less - score, 6), f"{value:.2f}"))
            score = less
    return rank.Found(found.rid, score, tuple(why) if found.why else ())


def _held(
    ports: Ports, r: Reader, scope: Scope, shelf: Shelf, asked: tuple[rank.Query, rank.Sieve, Question, dict[str, TraceRow]]
) -> list[tuple[rank.Found, AnyRecord]]:
    """The rows found and their records, as they were believed. Looks further down while facts that do not hold take the places."""
    query, sieve, question, rows = asked
    wanted = question.k + 20 if "fact" in question.kinds else question.k
    while True:
        found = shelf.search(r, scope, query, sieve, ports, k=wanted)
        records = _present(ports, r, r.records(scope, [f.rid for f in found]), (question, rows))
        held = [(f, records[f.rid]) for f in found if f.rid in records]
        if len(held) >= question.k or len(found) < wanted:
            return held
        wanted *= 4


def _with_graph(
    ports: Ports,
    r: Reader,
    scope: Scope,
    shelf: Shelf,
    asked: tuple[list[tuple[rank.Found, AnyRecord]], rank.Sieve, Question, dict[str, TraceRow]],
) -> list[tuple[rank.Found, AnyRecord]]:
    """The graph's lane: facts that hang together with what the question names come higher, and some that share no word with it.

    The graph is that of the facts found and of those that hold the same names, so that its cost does not grow with the store.
    """
    held, sieve, question, rows = asked
    share = ports.policies.recall.graph
    facts = [x for _, x in held[:_AROUND] if isinstance(x, Fact)]
    if not facts or not share:
        return held
    more = _holding(ports, r, scope, shelf, (facts, sieve, question, rows))
    near = graphs.graph([*facts, *(x for _, x in more)], aliases={graphs.USER: scope.user} if scope.user else {}, reading=_read)
    scores = graphs.lane(near, question.text)
    if not scores:
        return held
    known = {x.id for _, x in held}
    everything = [*held, *((rank.Found(f.rid, 0.0, ()), x) for f, x in more if x.id in scores and x.id not in known)]
    current = words.query_terms(question.text).current  # then the order says what replaces what, and only what was not found is added
    lifted = [(_lifted(f, 0.0 if current and x.id in known else share * scores.get(x.id, 0.0)), x) for f, x in everything]
    return sorted(lifted, key=lambda p: -p[0].score)


def _holding(
    ports: Ports, r: Reader, scope: Scope, shelf: Shelf, asked: tuple[list[Fact], rank.Sieve, Question, dict[str, TraceRow]]
) -> list[tuple[rank.Found, Fact]]:
    """Facts that hold the names of these facts and of the question."""
    facts, sieve, question, rows = asked
    names = dict.fromkeys(m.name for text in (question.text, *(f.text for f in facts)) for m in graphs.entities(text))
    text = " ".join(list(names)[:_NAMES])
    if not text.strip():
        return []
    query = rank.Query(words.query_terms(text), ports.embedder.embed([text])[0])
    found = shelf.search(r, scope, query, replace(sieve, kinds=("fact",)), ports, k=_AROUND)
    records = _present(ports, r, r.records(scope, [f.rid for f in found]), (question, rows))
    return [(f, x) for f in found if isinstance(x := records.get(f.rid), Fact)]


def _lifted(found: rank.Found, more: float) -> rank.Found:
    if not more:
        return found
    why = tuple(sorted((*found.why, Reason("graph", round(more, 6))), key=lambda w: -w.value))
    return rank.Found(found.rid, found.score + more, why)


def _present(
    ports: Ports, r: Reader, records: Mapping[int, AnyRecord], asked: tuple[Question, dict[str, TraceRow]]
) -> dict[int, AnyRecord]:  # fmt: skip
    """The records as they were believed at the moment asked for, without what did not hold and what is hidden by its age."""
    (question, rows), now = asked, ports.clock.now()
    held = _as_believed(r, records, question, now)
    if question.believed_at is not None:
        return held
    rows.update(rows_of(r, [x for x in held.values() if x.id not in rows]))
    at, policy = micros(now), ports.policies.retention
    hides = {rid: "" if question.past else hidden(x, rows.get(x.id), policy=policy, at=at) for rid, x in held.items()}
    return {rid: x for rid, x in held.items() if _allowed(hides[rid], question.include)}


def _allowed(status: str, include: tuple[str, ...]) -> bool:
    """True for what is not hidden, and for what is hidden with a status that is asked for."""
    return not status or (status != "quarantine" and ("deprecated" if status == "deprecated" else "archived") in include)


def _as_believed(r: Reader, records: Mapping[int, AnyRecord], question: Question, now: datetime) -> dict[int, AnyRecord]:
    """The records as they were believed at the moment asked for, without facts that did not hold."""
    facts = {rid: x for rid, x in records.items() if isinstance(x, Fact)}
    then = {f.id: f for f in (r.as_believed(list(facts.values()), question.believed_at) if question.believed_at else facts.values())}
    out: dict[int, AnyRecord] = {}
    for rid, record in records.items():
        if not isinstance(record, Fact):
            out[rid] = record
        elif record.id in then and (
            then[record.id].status in question.include
            or rules.believed(then[record.id], as_of=question.as_of, now=question.believed_at or now)
        ):
            out[rid] = then[record.id]
    return out

"""The index of one shard in memory: columns, vectors and postings that grow by appending.

Rows are never moved while they live: a removed row is marked, and the whole is rebuilt when half of it is dead.
Postings are sorted runs of 64-bit keys (term << 32 | row), merged when neighbours are of like size, so that each
posting is copied O(log n) times and a small append costs little.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from leporello.records import Kind

KINDS: tuple[Kind, ...] = ("message", "episode", "fact")
SCALE = 4000.0
"""Vectors are kept as whole numbers up to this, in float32. Products of two such unit vectors and all their partial sums
stay below 2**24, hence exact: a score does not depend on the order of summation, the batch, or the machine."""

_COLUMNS = {
    "rid": np.int64, "kind": np.int8, "log": np.int64, "pos": np.int64, "at": np.int64, "recorded": np.int64,
    "agent": np.int64, "project": np.int64, "session": np.int64,
}  # fmt: skip
_LOW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)


class Row(Protocol):
    """What is indexed of a record: the shape of `ports.IndexRow`, where its fields are explained."""

    @property
    def rid(self) -> int: ...
    @property
    def kind(self) -> Kind: ...
    @property
    def log(self) -> int: ...
    @property
    def pos(self) -> int: ...
    @property
    def at(self) -> int: ...
    @property
    def recorded(self) -> int: ...
    @property
    def agent(self) -> int: ...
    @property
    def project(self) -> int: ...
    @property
    def session(self) -> int: ...
    @property
    def terms(self) -> bytes: ...
    @property
    def vector(self) -> bytes: ...


@dataclass(frozen=True)
class Sieve:
    """Which rows may be found. `None` does not narrow.

    A dimension's number lets through rows with that number and rows that do not set it (0); for a name that the store
    does not know, pass -1. Times are microseconds: `since` <= at <= `until`, and recorded <= `believed`.
    """

    kinds: tuple[Kind, ...] | None = None
    agent: int | None = None
    project: int | None = None
    session: int | None = None
    since: int | None = None
    until: int | None = None
    believed: int | None = None


@dataclass(frozen=True)
class _Run:
    keys: NDArray[np.uint64]
    counts: NDArray[np.uint16]


class Index:
    """One shard's rows. Not locked: let no thread apply changes while another searches."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._clear()

    def _clear(self) -> None:
        self._size = 0
        self._dead = 0
        self._columns = {name: np.zeros(0, kind) for name, kind in _COLUMNS.items()}
        self._lengths = np.zeros(0, np.int64)
        self._alive = np.zeros(0, bool)
        self._vectors = np.zeros((0, self.dimension), np.float32)
        self._runs: list[_Run] = []
        self._order = np.zeros(0, np.int64)

    def __len__(self) -> int:
        """Living rows."""
        return self._size - self._dead

    def apply(self, added: Sequence[Row], removed: Iterable[int] = ()) -> None:
        """Add rows (with rids above all before) and drop those whose rid is in `removed`; unknown rids are ignored."""
        if added:
            self._append(added)
        gone = np.fromiter(removed, np.int64)
        if gone.size:
            self._remove(gone)

    def column(self, name: str) -> NDArray[np.int64]:
        """One column of all rows, dead ones included: rid, kind (place in `KINDS`), log, pos, at, recorded, agent, project, session."""
        return self._columns[name][: self._size]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Terms of each row."""
        return self._lengths[: self._size]

    @property
    def order(self) -> NDArray[np.int64]:
        """All rows by log and position: neighbours in a conversation are neighbours here."""
        return self._order

    def mask(self, sieve: Sieve) -> NDArray[np.bool_]:
        """Shape (rows,): true for the living rows that pass."""
        ok = self._alive[: self._size].copy()
        if sieve.kinds is not None:
            ok &= np.isin(self.column("kind"), [KINDS.index(k) for k in sieve.kinds])
        for name, value in (("agent", sieve.agent), ("project", sieve.project), ("session", sieve.session)):
            if value is not None:
                ok &= (self.column(name) == value) | (self.column(name) == 0)
        if sieve.since is not None:
            ok &= self.column("at") >= sieve.since
        if sieve.until is not None:
            ok &= self.column("at") <= sieve.until
        if sieve.believed is not None:
            ok &= self.column("recorded") <= sieve.believed
        return ok

    def postings(self, term: int) -> tuple[NDArray[np.int64], NDArray[np.uint16]]:
        """The rows that hold the term, ascending, and how often each does."""
        low, high = np.uint64(term << 32), np.uint64((term << 32) | 0xFFFFFFFF)
        rows, counts = [], []
        for run in self._runs:
            a, b = np.searchsorted(run.keys, low), np.searchsorted(run.keys, high, side="right")
            if a < b:
                rows.append((run.keys[a:b] & _LOW).astype(np.int64))
                counts.append(run.counts[a:b])
        if not rows:
            return np.zeros(0, np.int64), np.zeros(0, np.uint16)
        return np.concatenate(rows), np.concatenate(counts)

    def cosines(self, vector: NDArray[np.float32], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Cosine of a unit vector with each of `rows`, exact to about 0.0005 and the same on every machine."""
        if vector.shape != (self.dimension,):
            return np.zeros(rows.size)
        whole = np.rint(vector * SCALE)
        if rows.size * 4 < self._size:
            products = self._vectors[rows] @ whole
        else:
            products = (self._vectors[: self._size] @ whole)[rows]
        return np.asarray(products, np.float64) / (SCALE * SCALE)

    def vectors(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Unit vectors of `rows`."""
        return self._vectors[rows] / np.float32(SCALE)

    def _append(self, added: Sequence[Row]) -> None:
        first, size = self._size, self._size + len(added)
        self._reserve(size)
        for name in _COLUMNS:
            values = (KINDS.index(r.kind) for r in added) if name == "kind" else (getattr(r, name) for r in added)
            self._columns[name][first:size] = np.fromiter(values, _COLUMNS[name], len(added))
        lengths = np.fromiter((len(r.terms) // 4 for r in added), np.int64, len(added))
        self._lengths[first:size] = lengths
        self._alive[first:size] = True
        self._vectors[first:size] = _whole([r.vector for r in added], self.dimension)
        terms = np.frombuffer(b"".join([bytes(r.terms) for r in added]), "<u4")
        self._size = size
        self._runs = _merged([*self._runs, _run(terms, lengths, first)])
        self._order = self._ordered(np.concatenate((self._order, np.arange(first, size))))

    def _ordered(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        keys = (self.column("log") << 32) | self.column("pos")
        return rows[np.argsort(keys[rows], kind="stable")]

    def _remove(self, rids: NDArray[np.int64]) -> None:
        held = self.column("rid")
        places = np.searchsorted(held, rids)
        places = places[places < held.size]
        hit = places[np.isin(held[places], rids)]
        hit = np.unique(hit[self._alive[hit]])
        self._alive[hit] = False
        self._dead += hit.size
        if self._dead * 2 > self._size:
            self._compact()

    def _compact(self) -> None:
        keep = np.flatnonzero(self._alive[: self._size])
        place = np.full(self._size, -1, np.int64)
        place[keep] = np.arange(keep.size)
        self._columns = {n: c[keep] for n, c in self._columns.items()}
        self._lengths, self._vectors = self._lengths[keep], self._vectors[keep]
        self._alive = np.ones(keep.size, bool)
        order = place[self._order]
        self._order = order[order >= 0]
        self._size, self._dead = keep.size, 0
        runs = []
        for run in self._runs:
            new = place[(run.keys & _LOW).astype(np.int64)]
            ok = new >= 0
            runs.append(_Run((run.keys[ok] >> _SHIFT << _SHIFT) | new[ok].astype(np.uint64), run.counts[ok]))
        self._runs = _merged(runs)

    def _reserve(self, size: int) -> None:
        if size <= self._alive.size:
            return
        room = max(size, self._alive.size * 3 // 2, 64)
        grow = room - self._alive.size
        self._columns = {n: np.concatenate((c, np.zeros(grow, c.dtype))) for n, c in self._columns.items()}
        self._lengths = np.concatenate((self._lengths, np.zeros(grow, np.int64)))
        self._alive = np.concatenate((self._alive, np.zeros(grow, bool)))
        self._vectors = np.concatenate((self._vectors, np.zeros((grow, self.dimension), np.float32)))


def _whole(raw: Sequence[bytes], dimension: int) -> NDArray[np.float32]:
    """Stored vectors (float32, or float16 when half as long; empty for none) as rows of whole numbers."""
    out = np.zeros((len(raw), dimension), np.float32)
    for kind, size in ((np.float32, 4 * dimension), (np.float16, 2 * dimension)):
        rows = [i for i, v in enumerate(raw) if len(v) == size]
        if rows:
            out[rows] = np.frombuffer(b"".join([bytes(raw[i]) for i in rows]), kind).reshape(len(rows), dimension)
    return np.rint(out * np.float32(SCALE))


def _run(terms: NDArray[np.uint32], lengths: NDArray[np.int64], first: int) -> _Run:
    rows = np.repeat(np.arange(first, first + lengths.size, dtype=np.uint64), lengths)
    keys = np.sort((terms.astype(np.uint64) << _SHIFT) | rows)
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))) if keys.size else np.zeros(0, np.int64)
    counts = np.diff(np.append(starts, keys.size))
    return _Run(keys[starts], np.minimum(counts, 0xFFFF).astype(np.uint16))


def _merged(runs: list[_Run]) -> list[_Run]:
    """Merge the youngest runs while the older one is less than twice as long as the younger."""
    runs = [r for r in runs if r.keys.size]
    while len(runs) > 1 and runs[-2].keys.size < 2 * runs[-1].keys.size:
        b, a = runs.pop(), runs.pop()
        keys = np.concatenate((a.keys, b.keys))
        order = np.argsort(keys, kind="stable")
        runs.append(_Run(keys[order], np.concatenate((a.counts, b.counts))[order]))
    return runs

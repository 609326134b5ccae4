"""The index of one shard in memory: columns, vectors and postings that grow by appending.

Rows are never moved while they live: a removed row is marked, and the whole is rebuilt when half of it is dead.
Postings are sorted runs of 64-bit keys (term << 32 | row), merged when neighbours are of like size, so that each
posting is copied O(log n) times and a small append costs little.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from leporello.core.rank.formulas import Floats
from leporello.records import Kind

KINDS: tuple[Kind, ...] = ("message", "episode", "fact")
SCALE = 4000.0
"""Vectors are kept as whole numbers up to this, in float32. Products of two such unit vectors and all their partial sums
stay below 2**24, hence exact: a score depends on no order of summation, no batch and no machine."""

_CHUNK = 4096  # rows whose sum stays below 2**24
_SHRINK = 20
_VIEWS = 4
_COLUMNS = {
    "rid": np.int64, "kind": np.int8, "log": np.int64, "pos": np.int64, "at": np.int64, "recorded": np.int64,
    "agent": np.int64, "project": np.int64, "session": np.int64, "length": np.int64, "square": np.float64, "alive": np.bool_,
}  # fmt: skip
_GIVEN = ("rid", "log", "pos", "at", "recorded", "agent", "project", "session")
_LOW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
Places = NDArray[np.int64]


class Row(Protocol):
    """What is indexed of a record: the shape of `ports.IndexRow`, where its fields are explained."""

    @property
    def rid(self) -> int:
        """The store's handle."""
        ...

    @property
    def kind(self) -> Kind:
        """message, episode or fact."""
        ...

    @property
    def terms(self) -> bytes:
        """Little-endian 32-bit hashes, one per occurrence."""
        ...

    @property
    def vector(self) -> bytes:
        """float32 or float16; empty for none."""
        ...


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
class View:
    """The rows that pass a sieve, by log and position, and what of them does not depend on the query.

    `place` maps a row of the index to its place here, -1 for none. `starts` are the places where a log begins; a record
    without a log is one of its own. `links[d]` says how far place i and i + d are one conversation: 1 within a moment,
    falling with the time between them, 0 across logs. Vectors are seen from their own mean, which all texts of a scope
    share and which therefore tells nothing: `centre` is that mean, `offsets` its products with the rows, `norms` the
    lengths of the rows seen from it.
    """

    rows: Places
    place: Places
    rid: Places
    at: Places
    standing: NDArray[np.bool_]
    starts: Places
    links: dict[int, Floats]
    length: NDArray[np.int64]
    average: float
    centre: NDArray[np.float32]
    offsets: Floats
    norms: Floats


@dataclass(frozen=True)
class _Run:
    keys: NDArray[np.uint64]
    counts: NDArray[np.uint16]


class Index:
    """One shard's rows. Not locked: let no thread apply changes or search while another does."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._size = 0
        self._dead = 0
        self._columns: dict[str, NDArray[Any]] = {name: np.zeros(0, kind) for name, kind in _COLUMNS.items()}
        self._vectors = np.zeros((0, dimension), np.float32)
        self._runs: list[_Run] = []
        self._order: Places = np.zeros(0, np.int64)
        self._views: OrderedDict[Sieve, View] = OrderedDict()

    def __len__(self) -> int:
        """Living rows."""
        return self._size - self._dead

    def apply(self, added: Sequence[Row], removed: Iterable[int] = ()) -> None:
        """Drop the rows whose rid is in `removed` (unknown ones are ignored), then add rows; a known rid is replaced."""
        self._views.clear()
        known = set(removed)
        if added and self._size and min(r.rid for r in added) <= int(self._column("rid").max()):
            known.update(r.rid for r in added)
        if known:
            self._remove(np.fromiter(known, np.int64, len(known)))
        if added:
            self._append(added)

    def view(self, sieve: Sieve) -> View:
        """What passes the sieve. Kept until the next change, so that asking again costs nothing."""
        held = self._views.pop(sieve, None) or self._view(self._order[self._mask(sieve)[self._order]])
        self._views[sieve] = held
        while len(self._views) > _VIEWS:
            self._views.popitem(last=False)
        return held

    def postings(self, term: int) -> tuple[Places, NDArray[np.uint16]]:
        """The rows that hold the term, ascending, dead ones included, and how often each does."""
        low, high = np.uint64(term << 32), np.uint64((term << 32) | 0xFFFFFFFF)
        rows, counts = [np.zeros(0, np.int64)], [np.zeros(0, np.uint16)]
        for run in self._runs:
            a, b = np.searchsorted(run.keys, low), np.searchsorted(run.keys, high, side="right")
            rows.append((run.keys[a:b] & _LOW).astype(np.int64))
            counts.append(run.counts[a:b])
        return np.concatenate(rows), np.concatenate(counts)

    def cosines(self, view: View, vector: NDArray[np.float32]) -> Floats:
        """Cosine of a unit vector with each row of the view, both seen from the view's mean; 0 for a row without a vector."""
        whole = np.rint(vector * np.float32(SCALE)).astype(np.float32)
        if vector.shape != (self.dimension,) or not whole.any():
            return np.zeros(view.rows.size)
        if view.rows.size * 4 < self._size:
            products = self._vectors[view.rows] @ whole
        else:
            products = (self._vectors[: self._size] @ whole)[view.rows]
        centre = view.centre.astype(np.float64)
        seen = whole.astype(np.float64) - centre
        norm = float(np.sqrt((seen * seen).sum()))
        inner = products.astype(np.float64) - view.offsets - float(centre @ seen)
        scale = view.norms * norm
        out = np.zeros(inner.size)
        np.divide(inner, scale, out=out, where=scale > 0)
        return out

    def likeness(self, view: View, places: Places) -> Floats:
        """Shape (places, places): the cosines between rows of the view, seen from its mean."""
        seen = self._vectors[view.rows[places]].astype(np.float64) - view.centre
        norms = view.norms[places]
        scale = norms[:, None] * norms
        out = np.zeros(scale.shape)
        np.divide(seen @ seen.T, scale, out=out, where=scale > 0)
        return out

    def _column(self, name: str) -> NDArray[np.int64]:
        return self._columns[name][: self._size]

    def _mask(self, sieve: Sieve) -> NDArray[np.bool_]:
        ok: NDArray[np.bool_] = self._columns["alive"][: self._size].copy()
        if sieve.kinds is not None:
            ok &= np.isin(self._column("kind"), [KINDS.index(k) for k in sieve.kinds])
        for name, value in (("agent", sieve.agent), ("project", sieve.project), ("session", sieve.session)):
            if value is not None:
                ok &= (self._column(name) == value) | (self._column(name) == 0)
        if sieve.since is not None:
            ok &= self._column("at") >= sieve.since
        if sieve.until is not None:
            ok &= self._column("at") <= sieve.until
        if sieve.believed is not None:
            ok &= self._column("recorded") <= sieve.believed
        return ok

    def _view(self, rows: Places) -> View:
        place = np.full(self._size, -1, np.int64)
        place[rows] = np.arange(rows.size)
        log, at, length = (self._column(n)[rows] for n in ("log", "at", "length"))
        fresh = np.ones(rows.size, bool)
        fresh[1:] = (log[1:] != log[:-1]) | (log[1:] == 0)
        centre = np.rint(self._sum(rows) / (rows.size + _SHRINK)).astype(np.float32)
        offsets = (self._vectors[: self._size] @ centre if rows.size * 4 >= self._size else self._vectors @ centre)[rows].astype(np.float64)
        square = self._column("square")[rows]
        whole = centre.astype(np.float64)
        norms = np.where(square > 0, np.sqrt(np.maximum(square - 2 * offsets + float(whole @ whole), 0)), 0.0)
        return View(
            rows, place, self._column("rid")[rows], at, self._column("kind")[rows] != 0, np.flatnonzero(fresh),
            {d: _links(log, at, d) for d in (1, 2)}, length, max(1.0, int(length.sum()) / max(1, rows.size)), centre, offsets, norms,
        )  # fmt: skip

    def _sum(self, rows: Places) -> Floats:
        chosen = np.zeros(self._size, np.float32)
        chosen[rows] = 1
        total = np.zeros(self.dimension)
        for first in range(0, self._size, _CHUNK):
            part = slice(first, min(first + _CHUNK, self._size))
            total += chosen[part] @ self._vectors[part]
        return total

    def _append(self, added: Sequence[Row]) -> None:
        first, size = self._size, self._size + len(added)
        self._reserve(size)
        columns = self._columns
        for name in _GIVEN:
            columns[name][first:size] = [getattr(r, name) for r in added]
        columns["kind"][first:size] = [KINDS.index(r.kind) for r in added]
        columns["length"][first:size] = lengths = np.array([len(r.terms) // 4 for r in added], np.int64)
        columns["alive"][first:size] = True
        self._vectors[first:size] = vectors = _whole([r.vector for r in added], self.dimension)
        columns["square"][first:size] = np.einsum("ij,ij->i", vectors, vectors)
        self._size = size
        terms = np.frombuffer(b"".join([r.terms for r in added]), "<u4")
        self._runs = _merged([*self._runs, _run(terms, lengths, first)])
        order = np.concatenate((self._order, np.arange(first, size)))
        keys = (self._column("log") << 32) | self._column("pos")
        self._order = order[np.argsort(keys[order], kind="stable")]

    def _remove(self, rids: Places) -> None:
        hit = np.isin(self._column("rid"), rids) & self._columns["alive"][: self._size]
        self._columns["alive"][: self._size][hit] = False
        self._dead += int(hit.sum())
        if self._dead * 2 > self._size:
            self._compact()

    def _compact(self) -> None:
        keep = np.flatnonzero(self._columns["alive"][: self._size])
        place = np.full(self._size, -1, np.int64)
        place[keep] = np.arange(keep.size)
        order = place[self._order]
        self._order = order[order >= 0]
        self._columns = {n: c[keep] for n, c in self._columns.items()}
        self._vectors = self._vectors[keep]
        self._size, self._dead = keep.size, 0
        runs = []
        for run in self._runs:
            new = place[(run.keys & _LOW).astype(np.int64)]
            ok = new >= 0
            runs.append(_Run((run.keys[ok] >> _SHIFT << _SHIFT) | new[ok].astype(np.uint64), run.counts[ok]))
        self._runs = _merged(runs)

    def _reserve(self, size: int) -> None:
        held = len(self._vectors)
        if size > held:
            grow = max(size * 9 // 8, held * 3 // 2) - held
            self._columns = {n: np.concatenate((c, np.zeros(grow, c.dtype))) for n, c in self._columns.items()}
            self._vectors = np.concatenate((self._vectors, np.zeros((grow, self.dimension), np.float32)))


def _links(log: Places, at: Places, distance: int) -> Floats:
    """1/(1 + time between/30 min) for places i and i + distance of one log, else 0."""
    if log.size <= distance:
        return np.zeros(0)
    gap = np.abs(at[distance:] - at[:-distance]) / 1.8e9
    return np.where((log[distance:] == log[:-distance]) & (log[distance:] > 0), 1 / (1 + gap), 0.0)


def _whole(raw: Sequence[bytes], dimension: int) -> NDArray[np.float32]:
    """Stored vectors as rows of whole numbers."""
    out = np.zeros((len(raw), dimension), np.float32)
    for kind, size in (("<f4", 4 * dimension), ("<f2", 2 * dimension)):
        rows = [i for i, v in enumerate(raw) if len(v) == size]
        if rows:
            joined = raw if len(rows) == len(raw) else [raw[i] for i in rows]
            out[rows if len(rows) < len(raw) else slice(None)] = np.frombuffer(b"".join(joined), kind).reshape(len(rows), dimension)
    if not np.isfinite(out.sum()):
        out[~np.isfinite(out).all(axis=1)] = 0
    out *= np.float32(SCALE)
    return np.rint(out, out=out)


def _run(terms: NDArray[np.uint32], lengths: Places, first: int) -> _Run:
    rows = np.repeat(np.arange(first, first + lengths.size, dtype=np.uint64), lengths)
    keys = np.sort((terms.astype(np.uint64) << _SHIFT) | rows)
    fresh = np.ones(keys.size, bool)
    fresh[1:] = keys[1:] != keys[:-1]
    starts = np.flatnonzero(fresh)
    return _Run(keys[starts], np.minimum(np.diff(np.append(starts, keys.size)), 0xFFFF).astype(np.uint16))


def _merged(runs: list[_Run]) -> list[_Run]:
    """Merge the youngest runs while the older one is less than twice as long as the younger."""
    runs = [r for r in runs if r.keys.size]
    while len(runs) > 1 and runs[-2].keys.size < 2 * runs[-1].keys.size:
        b, a = runs.pop(), runs.pop()
        keys = np.concatenate((a.keys, b.keys))
        order = np.argsort(keys, kind="stable")
        runs.append(_Run(keys[order], np.concatenate((a.counts, b.counts))[order]))
    return runs

"""Many traces as arrays, one row each: what the laws compute with at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from leporello.core.retention.trace import Trace
from leporello.errors import BadValue

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Columns:
    """N traces: the fields of `Trace`, each an array of N; `recent` and `decays` are N×W, newest first.

    A row shorter than W is filled up with anything: only its first min(count, W) places are read, so W is at least the
    longest row. `BadValue` if lengths differ.
    """

    first: Whole
    count: Whole
    recent: Whole
    importance: Floats
    stability: Floats
    reviewed: Whole
    decays: Floats
    tail: Floats

    def __post_init__(self) -> None:
        n, width = len(self.first), self.recent.shape[-1]
        for field in fields(self):
            wanted = (n, width) if field.name in ("recent", "decays") else (n,)
            if getattr(self, field.name).shape != wanted:
                raise BadValue(f"Columns: {field.name} has shape {getattr(self, field.name).shape}, not {wanted}.")

    @classmethod
    def of(cls, traces: Sequence[Trace]) -> Columns:
        """The columns of these traces, in their order."""
        width = max((len(t.recent) for t in traces), default=1)
        return cls(
            np.array([t.first for t in traces], np.int64),
            np.array([t.count for t in traces], np.int64),
            np.array([t.recent + (t.first,) * (width - len(t.recent)) for t in traces], np.int64).reshape(-1, width),
            np.array([t.importance for t in traces], np.float64),
            np.array([t.stability for t in traces], np.float64),
            np.array([t.reviewed for t in traces], np.int64),
            np.array([t.decays + (1.0,) * (width - len(t.decays)) for t in traces], np.float64).reshape(-1, width),
            np.array([t.tail for t in traces], np.float64),
        )

    def __len__(self) -> int:
        return len(self.first)

    @property
    def held(self) -> NDArray[np.bool_]:
        """Which places of `recent` hold a presentation: N×W."""
        return np.asarray(np.arange(self.recent.shape[1]) < self.count[:, None])

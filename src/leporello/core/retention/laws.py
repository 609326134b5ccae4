"""The laws of forgetting: how probably a record is recalled, from its trace and the time. One interface, one table.
Traces and their columns can be had from here, too.

Every law is a frozen value with few bounded settings. Its `unit` says how many of the caller's times make one unit, and the
traces must have been made with the same. Retention is in [0, 1], never rises while nothing happens, and depends on
differences of time only. A time before a presentation counts as the moment after it: lags have a floor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol

import numpy as np

from leporello.core.retention import actr, exponential, fsrs, spaced
from leporello.core.retention.bounds import MOST_TIME, settings, values, whole
from leporello.core.retention.columns import Columns as Columns
from leporello.core.retention.columns import Floats, Whole
from leporello.core.retention.crossing import YEAR_9999 as YEAR_9999
from leporello.core.retention.crossing import first_below, root
from leporello.core.retention.trace import DAY as DAY
from leporello.core.retention.trace import KEPT as KEPT
from leporello.core.retention.trace import Trace as Trace
from leporello.core.retention.trace import begin as begin
from leporello.core.retention.trace import multiplier as multiplier
from leporello.core.retention.trace import of_events as of_events
from leporello.core.retention.trace import present as present
from leporello.errors import BadSetting

_NEAR = 1e-13


class Law(Protocol):
    """A law of forgetting."""

    @property
    def name(self) -> str:
        """The name by which `law` finds it."""
        ...

    @property
    def marks(self) -> tuple[float, float]:
        """Retention from which on a record is active, and below which it is forgotten (C3)."""
        ...

    def retention(self, trace: Trace, at: int) -> float:
        """The probability of recall at `at`, in [0, 1], as if nothing happened after the trace."""
        ...

    def crosses(self, trace: Trace, level: float, after: int, *, limit: int = YEAR_9999) -> int | None:
        """The first whole time from `after` to `limit` at which retention is below `level`; None if there is none."""
        ...

    def retentions(self, columns: Columns, at: int | Whole) -> Floats:
        """`retention` of each row at one time, or at one time for each row."""
        ...


@dataclass(frozen=True)
class ActR:
    """P = 1/(1 + exp((θ − B)/s)) with the hybrid base level B and θ = −d·ln(T·k): the default.

    One presentation gives 1/(1 + (t/(T·k))^(d/s)): 0.5 after the half-life T times the importance k, which enters nowhere
    else (D36). `half_life` and `floor` (the least lag) in units; `d` and `noise` s as in `actr`.
    """

    name: ClassVar[str] = "actr"
    marks: ClassVar[tuple[float, float]] = (0.5, 0.1)
    half_life: float = 100.0
    d: float = actr.DECAY
    noise: float = actr.NOISE
    floor: float = 1e-6
    unit: int = DAY

    def __post_init__(self) -> None:
        settings(
            "ActR",
            half_life=(self.half_life, 1e-6, 1e9),
            d=(self.d, 0.01, 2),
            noise=(self.noise, 0.01, 10),
            floor=(self.floor, 1e-9, 1),
        )
        _unit("ActR", self.unit)

    def retention(self, trace: Trace, at: int) -> float:
        """See `Law`."""
        return actr.logistic((self._level(trace, at) - self._threshold(trace.importance)) / self.noise)

    def crosses(self, trace: Trace, level: float, after: int, *, limit: int = YEAR_9999) -> int | None:
        """See `Law`."""
        _mark(level, after, limit)
        last = trace.recent[0]
        ages = [(last - p) / self.unit for p in trace.recent]
        life = (last - trace.first) / self.unit

        def base(z: float) -> float:
            y = math.exp(z)
            return actr.level([y + age for age in ages], trace.count, lifetime=y + life, d=self.d)

        # The newest alone would be down by `alone`, in logarithms; all of them, were they all as new, by ln(n)/d later.
        target = self._threshold(trace.importance) + self.noise * _logit(level)
        alone = -target / self.d
        guess = _lag_of(base, target, low=alone, high=alone + math.log(trace.count) / self.d) if trace.count > 1 else _exp(alone)
        return first_below(lambda at: self.retention(trace, at), level, after, guess=last + math.ceil(guess * self.unit), limit=limit)

    def retentions(self, columns: Columns, at: int | Whole) -> Floats:
        """See `Law`."""
        total = _summed(columns, _times(at, columns), d=self.d, floor=self.floor, unit=self.unit)
        return _logistic((np.log(total) + self.d * np.log(self.half_life * columns.importance)) / self.noise)

    def _level(self, trace: Trace, at: int) -> float:
        unit, floor = self.unit, self.floor
        lags = [max(floor, (at - p) / unit) for p in trace.recent]
        return actr.level(lags, trace.count, lifetime=max(floor, (at - trace.first) / unit), d=self.d)

    def _threshold(self, importance: float) -> float:
        return -self.d * math.log(self.half_life * importance)


@dataclass(frozen=True)
class ActRSpaced:
    """P = 1/(1 + exp((θ − m)/s)) with the activation m of Pavlik & Anderson 2005 and θ = −a·ln(T·k).

    One presentation gives 1/(1 + (t/(T·k))^(a/s)). Presentations in a row lift retention now and less later. With more than
    `KEPT` presentations m is an upper estimate (see `trace`). `half_life` in units, at least 1, the floor of lags.
    """

    name: ClassVar[str] = "actr-spaced"
    marks: ClassVar[tuple[float, float]] = (0.5, 0.1)
    half_life: float = 100.0
    noise: float = actr.NOISE
    unit: int = DAY

    def __post_init__(self) -> None:
        settings("ActRSpaced", half_life=(self.half_life, 1, 1e9), noise=(self.noise, 0.01, 10))
        _unit("ActRSpaced", self.unit)

    def retention(self, trace: Trace, at: int) -> float:
        """See `Law`."""
        unit = self.unit
        lags = [max(spaced.FLOOR, (at - p) / unit) for p in trace.recent]
        need = spaced.need(lags, trace.decays)
        if trace.tail:
            need += trace.tail * max(spaced.FLOOR, (at - trace.first) / unit) ** -spaced.A
        return actr.logistic((_log(need) - self._threshold(trace.importance)) / self.noise)

    def crosses(self, trace: Trace, level: float, after: int, *, limit: int = YEAR_9999) -> int | None:
        """See `Law`."""
        _mark(level, after, limit)
        last = trace.recent[0]
        ages = [(last - p) / self.unit for p in trace.recent]
        life = (last - trace.first) / self.unit

        def base(z: float) -> float:
            y = math.exp(z)
            need = spaced.need([y + age for age in ages], trace.decays) + trace.tail * (y + life) ** -spaced.A
            return _log(need)

        target = self._threshold(trace.importance) + self.noise * _logit(level)
        high = (math.log(len(ages) + trace.tail) - target) / spaced.A
        guess = _lag_of(base, target, low=math.log(spaced.FLOOR), high=high)
        return first_below(lambda at: self.retention(trace, at), level, after, guess=last + math.ceil(guess * self.unit), limit=limit)

    def retentions(self, columns: Columns, at: int | Whole) -> Floats:
        """See `Law`."""
        now = _times(at, columns)
        lags = np.maximum(spaced.FLOOR, (now[:, None] - columns.recent) / self.unit)
        life = np.maximum(spaced.FLOOR, (now - columns.first) / self.unit)
        need = np.where(columns.held, lags**-columns.decays, 0.0).sum(axis=1) + columns.tail * life**-spaced.A
        level = np.log(np.maximum(need, _LEAST))
        return _logistic((level + spaced.A * np.log(self.half_life * columns.importance)) / self.noise)

    def _threshold(self, importance: float) -> float:
        return -spaced.A * math.log(self.half_life * importance)


@dataclass(frozen=True)
class Exponential:
    """exp(−t/S), t since the last presentation (C5), S = T·k/ln 2: 0.5 after the half-life T, in units, times the importance k."""

    name: ClassVar[str] = "exponential"
    marks: ClassVar[tuple[float, float]] = (0.5, 0.1)
    half_life: float = 100.0
    unit: int = DAY

    def __post_init__(self) -> None:
        settings("Exponential", half_life=(self.half_life, 1e-6, 1e9))
        _unit("Exponential", self.unit)

    def retention(self, trace: Trace, at: int) -> float:
        """See `Law`."""
        return math.exp(-max(0.0, (at - trace.recent[0]) / self.unit) / self._strength(trace))

    def crosses(self, trace: Trace, level: float, after: int, *, limit: int = YEAR_9999) -> int | None:
        """See `Law`."""
        _mark(level, after, limit)
        lag = exponential.lag_at(level, self._strength(trace)) if level > 0 else 0.0
        guess = trace.recent[0] + math.ceil(lag * self.unit)
        return first_below(lambda at: self.retention(trace, at), level, after, guess=guess, limit=limit)

    def retentions(self, columns: Columns, at: int | Whole) -> Floats:
        """See `Law`."""
        lags = np.maximum(0.0, (_times(at, columns) - columns.recent[:, 0]) / self.unit)
        return np.exp(-lags * math.log(2) / (self.half_life * columns.importance))

    def _strength(self, trace: Trace) -> float:
        return self.half_life * trace.importance / math.log(2)


@dataclass(frozen=True)
class Fsrs:
    """FSRS-6 retrievability since the last review, with the stability of the trace; importance is in its initial stability.

    `parameters` must be those that the traces were made with. One unit is the day of FSRS.
    """

    name: ClassVar[str] = "fsrs"
    marks: ClassVar[tuple[float, float]] = (0.9, 0.7)
    parameters: fsrs.Parameters = fsrs.DEFAULT
    unit: int = DAY

    def __post_init__(self) -> None:
        if not isinstance(self.parameters, fsrs.Parameters):
            raise BadSetting(f"Fsrs: parameters={self.parameters!r:.80} are no `Parameters`.")
        _unit("Fsrs", self.unit)

    def retention(self, trace: Trace, at: int) -> float:
        """See `Law`."""
        return fsrs.retrievability((at - trace.reviewed) / self.unit, trace.stability, decay=self.parameters.w[20])

    def crosses(self, trace: Trace, level: float, after: int, *, limit: int = YEAR_9999) -> int | None:
        """See `Law`."""
        _mark(level, after, limit)
        days = fsrs.interval(trace.stability, level, decay=self.parameters.w[20]) if level > 0 else 0.0
        guess = trace.reviewed + math.ceil(min(days, 1e19) * self.unit)
        return first_below(lambda at: self.retention(trace, at), level, after, guess=guess, limit=limit)

    def retentions(self, columns: Columns, at: int | Whole) -> Floats:
        """See `Law`."""
        decay = self.parameters.w[20]
        days = np.maximum(0.0, (_times(at, columns) - columns.reviewed) / self.unit)
        return np.asarray((1 + fsrs.factor(decay) * days / columns.stability) ** -decay)


@dataclass(frozen=True)
class Compat:
    """The published rule of the JSONL store (`compat`), on presentations alone, without rounding and without its ceiling of 0.98.

    max(exp(−t/(S·k)), P) with P = 1/(1 + exp(θ − B − ln k)), t since the first presentation, lags at least one unit. After some fifty
    units P is always the larger: by this law what was seen once is forgotten after (9·e^2.5·k)² units, 12,022 at medium importance (C6).
    With more than `KEPT` presentations B is that of the hybrid.
    """

    name: ClassVar[str] = "compat"
    marks: ClassVar[tuple[float, float]] = (0.5, 0.1)
    strength: float = 100.0
    d: float = actr.DECAY
    threshold: float = -2.5
    unit: int = DAY

    def __post_init__(self) -> None:
        settings("Compat", strength=(self.strength, 0, 1e9), d=(self.d, 0.01, 2), threshold=(self.threshold, -100, 100))
        _unit("Compat", self.unit)

    def retention(self, trace: Trace, at: int) -> float:
        """See `Law`."""
        return float(self.retentions(Columns.of([trace]), at)[0])

    def crosses(self, trace: Trace, level: float, after: int, *, limit: int = YEAR_9999) -> int | None:
        """See `Law`."""
        _mark(level, after, limit)
        alone = _exp((self.threshold + _logit(level) - math.log(max(0.1, trace.importance))) / -self.d)
        guess = trace.recent[0] + math.ceil(min(alone, 1e12) * self.unit)
        return first_below(lambda at: self.retention(trace, at), level, after, guess=guess, limit=limit)

    def retentions(self, columns: Columns, at: int | Whole) -> Floats:
        """See `Law`."""
        now = _times(at, columns)
        total = _summed(columns, now, d=self.d, floor=1.0, unit=self.unit)
        age = np.maximum(0.0, (now - columns.first) / self.unit)
        kept = np.exp(-age / np.maximum(1.0, self.strength * columns.importance))
        return np.maximum(kept, _logistic(np.log(total) + np.log(np.maximum(0.1, columns.importance)) - self.threshold))


LAWS: dict[str, type[Any]] = {kind.name: kind for kind in (ActR, ActRSpaced, Exponential, Fsrs, Compat)}
"""The laws by name. A law is added by one line here."""


def law(name: str, given: Mapping[str, Any] | None = None) -> Law:
    """The law of this name with these settings. `BadSetting` for unknown names and for values out of bounds."""
    if name not in LAWS:
        raise BadSetting(f"There is no law {name!r:.80}: use {', '.join(LAWS)}.")
    kind, given = LAWS[name], given or {}
    known = [f.name for f in fields(kind)]
    if unknown := sorted(set(given) - set(known)):
        raise BadSetting(f"The law {name} has no {', '.join(unknown)}: use {', '.join(known)}.")
    made: Law = kind(**given)
    return made


# --- what they share

_LEAST = 1e-300
_LONGEST = 60.0
"""ln of units: longer than any time holds."""


def _unit(owner: str, unit: int) -> None:
    settings(owner, unit=(unit, 1, MOST_TIME))
    if not isinstance(unit, int):
        raise BadSetting(f"{owner}: unit={unit!r:.80} is no whole number.")


def _mark(level: float, after: int, limit: int) -> None:
    values("crosses", level=(level, 0, 1))
    whole("crosses", after=(after, -MOST_TIME, MOST_TIME), limit=(limit, -MOST_TIME, MOST_TIME))


def _times(at: int | Whole, columns: Columns) -> Whole:
    return np.broadcast_to(np.asarray(at, np.int64), (len(columns),))


def _log(need: float) -> float:
    return math.log(max(need, _LEAST))


def _logit(level: float) -> float:
    return math.log(level / (1 - level)) if 0 < level < 1 else math.copysign(1e4, level - 0.5)


def _exp(z: float) -> float:
    return math.exp(min(z, _LONGEST))


def _lag_of(base: Callable[[float], float], target: float, *, low: float, high: float) -> float:
    """The lag since the newest presentation at which `base`, a function of its logarithm, is down to `target`; all between these."""
    low = min(max(low, -_LONGEST), _LONGEST)
    return math.exp(root(base, target, low=low, high=min(max(low, high), _LONGEST), near=_NEAR))


def _summed(columns: Columns, now: Whole, *, d: float, floor: float, unit: int) -> Floats:
    """Σ lag^(−d) of each row, in units, lags at least `floor`; of presentations beyond those kept as the hybrid has it."""
    lags = np.maximum(floor, (now[:, None] - columns.recent) / unit)
    total = np.where(columns.held, _power(lags, d), 0.0).sum(axis=1)
    if len(more := np.flatnonzero(columns.count > lags.shape[1])):
        oldest = lags[more, -1]
        life = np.maximum(floor, (now[more] - columns.first[more]) / unit)
        total[more] += (columns.count[more] - lags.shape[1]) * _power(oldest, d) * _evenly(oldest, life, d)
    return np.asarray(total)


def _power(lags: Floats, d: float) -> Floats:
    return np.asarray(1 / np.sqrt(lags) if d == 0.5 else lags**-d)


def _evenly(oldest: Floats, life: Floats, d: float) -> Floats:
    """`actr.evenly` for arrays."""
    spread = np.maximum((life - oldest) / oldest, 1e-12)
    span = np.log1p(spread)
    rest = 1 - d
    return np.asarray((span if rest == 0 else np.expm1(rest * span) / rest) / spread)


def _logistic(x: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(np.clip(-x, -700, 700))))

"""What is kept of a record's presentations: the first, how many, the newest ten. Its size never grows (C23).

A presentation is an event that reinforces: created or seen anew, used with success, confirmed. Times are whole numbers:
microseconds since 1970 in the store, ticks or turns elsewhere. A `unit` says how many of them make one unit of the laws (the
day of FSRS): `DAY` for microseconds, 1 for ticks or turns. One record is always given the same unit.

What an event does, by its grade (D34, D35):

- 3 Good (used) and 4 Easy (confirmed) are presentations. One closer than `gap` to a presentation that counts is merged into
  it and changes nothing, so that reinforcement cannot be farmed.
- 2 Hard (shown, not used) raises the difficulty of FSRS and nothing else: retrieval is not use. FSRS itself would count it as
  a recall (`fsrs.review` does) and raise the stability of whatever is shown often. So retention stays as it is under every law;
  a later presentation gains less under `fsrs`.
- 1 Again (contradicted) is a lapse in FSRS: the only event that can lower retention, and that under `fsrs` only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from leporello.core.retention import fsrs, spaced
from leporello.core.retention.bounds import MOST_TIME, values, whole
from leporello.errors import BadValue

DAY = 86_400_000_000
"""Microseconds."""

KEPT = 10
"""How many presentations are kept one by one."""

MOST_IMPORTANCE = 100.0
_IMPORTANCE = {"high": 1.5, "medium": 1.0, "low": 0.5}


@dataclass(frozen=True, slots=True)
class Trace:
    """The presentations of one record.

    `first`: time of the first; `count`: how many, merged ones left out; `recent`: the newest up to `KEPT`, newest first, and
    `decays`, the decay of each under the spaced law. `tail`: the weight of those no longer in `recent` under that law, as
    presentations at `first` with its decay (0 if there are none). `importance`: the factor k on half-lives. `stability` (in
    units, days for FSRS), `difficulty` (1 to 10) and `reviewed` (time of the last review): the state of FSRS.
    """

    first: int
    count: int
    recent: tuple[int, ...]
    importance: float
    stability: float
    difficulty: float
    reviewed: int
    decays: tuple[float, ...]
    tail: float = 0.0

    def __post_init__(self) -> None:
        if self.count < 1 or len(self.recent) != min(self.count, KEPT) or len(self.decays) != len(self.recent):
            raise BadValue(f"Trace: {len(self.recent)} recent, {len(self.decays)} decays for count={self.count}.")
        if not self._in_order():
            raise BadValue(f"Trace: first={self.first!r:.80}, recent={self.recent!r:.200} are not times, newest first.")
        if not (
            0 < self.importance <= MOST_IMPORTANCE
            and fsrs.LEAST_STABILITY <= self.stability <= fsrs.MOST_STABILITY
            and 1 <= self.difficulty <= 10
            and all(0 < d < 1e300 for d in self.decays)
            and 0 <= self.tail < 1e300
        ):
            raise BadValue(f"Trace: {self!r:.400} holds a number out of bounds.")

    def _in_order(self) -> bool:
        later = MOST_TIME
        for at in (*self.recent, self.first):
            if not isinstance(at, int) or at > later:
                return False
            later = at
        return later >= -MOST_TIME and -MOST_TIME <= self.reviewed <= MOST_TIME

    @property
    def last(self) -> int:
        """The newest presentation that counts."""
        return self.recent[0]


def multiplier(word: str) -> float:
    """The factor on half-lives: high 1.5, medium 1, low 0.5. `BadValue` for another word."""
    if word not in _IMPORTANCE:
        raise BadValue(f"importance={word!r:.80} is unknown.", hint=f"Use one of {', '.join(_IMPORTANCE)}.")
    return _IMPORTANCE[word]


def begin(at: int, *, importance: float = 1.0, parameters: fsrs.Parameters = fsrs.DEFAULT) -> Trace:
    """The trace of a record created at `at`. FSRS begins with the state after Good, its stability times `importance` (D36: once).

    `BadValue` for a time that is no whole number and an importance out of bounds (from 0.01 to 100).
    """
    _check_time(at)
    values("begin", importance=(importance, 0.01, MOST_IMPORTANCE))
    state = fsrs.initial(parameters=parameters)
    stability = max(fsrs.LEAST_STABILITY, state.stability * importance)
    return Trace(at, 1, (at,), importance, stability, state.difficulty, at, (spaced.decay(0.0),))


def present(
    trace: Trace,
    at: int,
    *,
    grade: int = fsrs.GOOD,
    gap: int = 1,
    unit: int = DAY,
    parameters: fsrs.Parameters = fsrs.DEFAULT,
) -> Trace:
    """The trace after an event at `at` with this grade; the same object when the event changes nothing.

    `gap`, in the unit of times: presentations closer than this are merged; 0 merges none. Events are best handed over in the
    order of time. A presentation that comes late takes its place among those before it; with more than `KEPT` counted, one
    from before `first` counts as if at `first`. The decays and the FSRS state of what is already there stay, and FSRS takes no
    event from before its last review. So no presentation, late or not, lowers retention at any time after all events.
    `BadValue` for a grade outside 1 to 4 and times, gaps or units that are no whole numbers within bounds.
    """
    _check_time(at)
    whole("present", grade=(grade, fsrs.AGAIN, fsrs.EASY), gap=(gap, 0, MOST_TIME), unit=(unit, 1, MOST_TIME))
    if grade >= fsrs.GOOD:
        place = _place(trace, at, gap)
        if place is None:
            return trace
        trace = _placed(trace, at, place, unit)
    if at < trace.reviewed:
        return trace
    state = fsrs.State(trace.stability, trace.difficulty)
    state = fsrs.review(state, grade, days=(at - trace.reviewed) / unit, parameters=parameters)
    if grade == fsrs.HARD:
        return replace(trace, difficulty=state.difficulty)
    return replace(trace, stability=state.stability, difficulty=state.difficulty, reviewed=at)


def of_events(
    events: Iterable[tuple[int, int]],
    *,
    importance: float = 1.0,
    gap: int = 1,
    unit: int = DAY,
    parameters: fsrs.Parameters = fsrs.DEFAULT,
) -> Trace:
    """The trace of (time, grade) events, in whatever order they come: they are sorted, the higher grade first at the same time.

    The first presentation creates the record; what would come before it is left out. `BadValue` if there is none.
    """
    held = list(events)
    for at, grade in held:
        _check_time(at)
        whole("of_events", grade=(grade, fsrs.AGAIN, fsrs.EASY))
    trace: Trace | None = None
    for at, grade in sorted(held, key=lambda event: (event[0], -event[1])):
        if trace is not None:
            trace = present(trace, at, grade=grade, gap=gap, unit=unit, parameters=parameters)
        elif grade >= fsrs.GOOD:
            trace = begin(at, importance=importance, parameters=parameters)
    if trace is None:
        raise BadValue("of_events: there is no presentation.", hint="Pass at least one event of grade 3 or 4.")
    return trace


def lag(at: int, since: int, unit: int) -> float:
    """Units from `since` to `at`, at least `spaced.FLOOR`: the one floor of all lags, in units (D33)."""
    return max(spaced.FLOOR, (at - since) / unit)


def _check_time(at: int) -> None:
    whole("Trace", at=(at, -MOST_TIME, MOST_TIME))


def _place(trace: Trace, at: int, gap: int) -> int | None:
    """How many of `recent` are newer, or None if `at` is merged into a presentation near it."""
    newer = sum(1 for p in trace.recent if p > at)
    near = list(trace.recent[max(0, newer - 1) : newer + 1])
    if newer == len(trace.recent):
        near.append(trace.first)
    return None if any(abs(at - p) < gap for p in near) else newer


def _placed(trace: Trace, at: int, place: int, unit: int) -> Trace:
    """With one presentation more at this place in `recent`; the oldest goes into the tail when there are too many.

    A presentation of decay d that drops out goes on as lag(first)^a · lag^(−d) presentations at `first`: as many as make no
    difference now, and no loss at any time after, because a is the least of all decays.
    """
    older, decays = trace.recent[place:], trace.decays[place:]
    need = spaced.need([lag(at, p, unit) for p in older], decays)
    if trace.tail:
        need += trace.tail * lag(at, trace.first, unit) ** -spaced.A
    recent = (*trace.recent[:place], at, *older)
    decays = (*trace.decays[:place], spaced.decay(need if older else 0.0), *decays)
    first = min(trace.first, at) if trace.count <= KEPT else trace.first
    tail = trace.tail
    if len(recent) > KEPT:
        tail += 1.0 if place == KEPT else _weight(first, recent[-1], decays[-1], now=recent[0], unit=unit)
    return replace(trace, first=first, count=trace.count + 1, recent=recent[:KEPT], decays=decays[:KEPT], tail=tail)


def _weight(first: int, dropped: int, d: float, *, now: int, unit: int) -> float:
    """How many presentations at `first` with decay a are worth the dropped one, from `now` or the end of its floor on."""
    then = max(now, dropped + unit)
    return float(lag(then, first, unit) ** spaced.A * lag(then, dropped, unit) ** -d)

"""FSRS-6: a power curve with a stability and a difficulty of each record. Open Spaced Repetition; as py-fsrs 6.3.2 computes it.

The 21 parameters are fitted to flashcards. Times are in days. py-fsrs cuts ages to whole days; here they may be fractional,
and with whole days both give the same. Less than one day since the last review is the same day, as there.
Its tail is flat: retention is 0.5 only after 90 stabilities, so thresholds belong near 0.9 and 0.7 (`Fsrs.marks`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from leporello.core.retention.bounds import settings, values, whole
from leporello.errors import BadSetting

AGAIN, HARD, GOOD, EASY = 1, 2, 3, 4
"""Grades. For agents: contradicted; shown and not used; used with success; confirmed by the user."""

LEAST_STABILITY = 0.001
MOST_STABILITY = 1e12
"""Days. py-fsrs has no upper bound; this one only keeps numbers finite."""

_BOUNDS = (
    *[(LEAST_STABILITY, 100.0)] * 4,
    *((1.0, 10.0), (0.001, 4.0), (0.001, 4.0), (0.001, 0.75), (0.0, 4.5), (0.0, 0.8), (0.001, 3.5)),
    *((0.001, 5.0), (0.001, 0.25), (0.001, 0.9), (0.0, 4.0), (0.0, 1.0), (1.0, 6.0)),
    *((0.0, 2.0), (0.0, 2.0), (0.0, 0.8), (0.1, 0.8)),
)


@dataclass(frozen=True)
class Parameters:
    """The 21 fitted numbers w0 to w20; the defaults are those of FSRS-6. `BadSetting` names each one out of bounds."""

    w: tuple[float, ...] = (
        *(0.212, 1.2931, 2.3065, 8.2956, 6.4133, 0.8334, 3.0194, 0.001, 1.8722, 0.1666, 0.796),
        *(1.4835, 0.0614, 0.2629, 1.6483, 0.6014, 1.8729, 0.5425, 0.0912, 0.0658, 0.1542),
    )

    def __post_init__(self) -> None:
        if not isinstance(self.w, tuple) or len(self.w) != len(_BOUNDS):
            raise BadSetting(f"Parameters: w={self.w!r:.80} is no tuple of {len(_BOUNDS)} numbers.")
        settings("Parameters", **{f"w[{i}]": (v, *_BOUNDS[i]) for i, v in enumerate(self.w)})


@dataclass(frozen=True)
class State:
    """What FSRS knows of a record: stability in days (the age at which retention is 0.9) and difficulty from 1 to 10."""

    stability: float
    difficulty: float

    def __post_init__(self) -> None:
        values("State", stability=(self.stability, LEAST_STABILITY, MOST_STABILITY), difficulty=(self.difficulty, 1, 10))


DEFAULT = Parameters()


def retrievability(days: float, stability: float, *, decay: float = DEFAULT.w[20]) -> float:
    """(1 + F·t/S)^(−decay), F = 0.9^(−1/decay) − 1, so that R(S, S) = 0.9. A negative age counts as 0.

    `decay` is w20; 0.5 gives the curve of FSRS-4.5 and FSRS-5 (F = 19/81). `BadValue` for NaN, infinities and S ≤ 0.
    """
    values("retrievability", days=(days, -1e300, 1e300), stability=(stability, 1e-300, 1e300), decay=(decay, 0.01, 10))
    return float((1 + factor(decay) * max(0.0, days) / stability) ** -decay)


def factor(decay: float) -> float:
    """F = 0.9^(−1/decay) − 1: 0.980346 by default."""
    return float(0.9 ** (-1 / decay) - 1)


def interval(stability: float, retention: float, *, decay: float = DEFAULT.w[20]) -> float:
    """(S/F)·(r^(−1/decay) − 1): days until retention has fallen to r, in (0, 1]; infinite where no float holds it."""
    values("interval", stability=(stability, 1e-300, 1e300), retention=(retention, 5e-324, 1), decay=(decay, 0.01, 10))
    growth = -math.log(retention) / decay
    return stability / factor(decay) * math.expm1(growth) if growth < 700 else math.inf


def initial(grade: int = GOOD, *, parameters: Parameters = DEFAULT) -> State:
    """The state after the first review: S0 = w[grade−1], D0 = w4 − e^(w5·(grade−1)) + 1."""
    whole("initial", grade=(grade, AGAIN, EASY))
    return State(max(LEAST_STABILITY, parameters.w[grade - 1]), _difficulty(_first_difficulty(grade, parameters)))


def next_difficulty(difficulty: float, grade: int, *, parameters: Parameters = DEFAULT) -> float:
    """w7·D0(Easy) + (1 − w7)·(D − w6·(grade − 3)·(10 − D)/9), kept within 1 to 10."""
    w = parameters.w
    damped = difficulty - w[6] * (grade - GOOD) * (10 - difficulty) / 9
    return _difficulty(w[7] * _first_difficulty(EASY, parameters) + (1 - w[7]) * damped)


def recall_stability(state: State, grade: int, *, retrieved: float, parameters: Parameters = DEFAULT) -> float:
    """S·(1 + e^w8·(11 − D)·S^(−w9)·(e^(w10·(1−R)) − 1)·[w15 if Hard]·[w16 if Easy]), R = `retrieved`: never below S."""
    w = parameters.w
    gain = math.exp(w[8]) * (11 - state.difficulty) * state.stability ** -w[9] * (math.exp(w[10] * (1 - retrieved)) - 1)
    return _stability(state.stability * (1 + gain * {HARD: w[15], EASY: w[16]}.get(grade, 1.0)))


def lapse_stability(state: State, *, retrieved: float, parameters: Parameters = DEFAULT) -> float:
    """After Again: the smaller of w11·D^(−w12)·((S+1)^w13 − 1)·e^(w14·(1−R)) and S/e^(w17·w18)."""
    w = parameters.w
    long = w[11] * state.difficulty ** -w[12] * ((state.stability + 1) ** w[13] - 1) * math.exp(w[14] * (1 - retrieved))
    return _stability(min(long, state.stability / math.exp(w[17] * w[18])))


def same_day_stability(stability: float, grade: int, *, parameters: Parameters = DEFAULT) -> float:
    """S·e^(w17·(grade − 3 + w18))·S^(−w19), never below S unless the grade is Again (py-fsrs 6.3.2; 6.3.1 let Hard lower it)."""
    w = parameters.w
    growth = math.exp(w[17] * (grade - 3 + w[18])) * stability ** -w[19]
    return _stability(stability * (growth if grade == AGAIN else max(1.0, growth)))


def review(state: State, grade: int, *, days: float, parameters: Parameters = DEFAULT) -> State:
    """The state after a review with this grade, `days` (fractions allowed) after the last one. `BadValue` for bad input."""
    whole("review", grade=(grade, AGAIN, EASY))
    values("review", days=(days, 0, 1e300))
    if days < 1:
        stability = same_day_stability(state.stability, grade, parameters=parameters)
    else:
        retrieved = retrievability(days, state.stability, decay=parameters.w[20])
        if grade == AGAIN:
            stability = lapse_stability(state, retrieved=retrieved, parameters=parameters)
        else:
            stability = recall_stability(state, grade, retrieved=retrieved, parameters=parameters)
    return State(stability, next_difficulty(state.difficulty, grade, parameters=parameters))


def _first_difficulty(grade: int, parameters: Parameters) -> float:
    return parameters.w[4] - math.exp(parameters.w[5] * (grade - 1)) + 1


def _difficulty(value: float) -> float:
    return min(max(value, 1.0), 10.0)


def _stability(value: float) -> float:
    return min(max(value, LEAST_STABILITY), MOST_STABILITY)

"""A law fitted to what happened: records were shown, and each was used or not. Log loss, a search without chance, a split by time.

The prediction is the retention just before a record was shown; the outcome, whether it was used soon after. The earlier outcomes
are fitted, the later ones are held out: what is recommended must predict what came afterwards.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from leporello.core.retention.columns import Columns, Floats, Whole
from leporello.core.retention.laws import ActR, Law
from leporello.core.retention.trace import Trace
from leporello.errors import BadValue

CLIP = 0.001
"""Predictions count as at least this far from 0 and 1, so that no single outcome decides."""

LEAST = 50
SHARE = 0.7
"""Of the outcomes, the earliest: what is fitted."""

ERRORS = 2.0
"""Standard errors by which a loss must be lower to be called lower."""

HALF_LIVES = (0.001, 100_000.0)
DECAYS = (0.05, 2.0)
_STARTS = tuple(10 ** (e / 3) for e in range(-3, 12))
_GRID = (0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4)
_STEP = 0.5
_ROUNDS = 40

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Outcomes:
    """Moments at which records were shown, in the order of time: the traces just before, when, and whether they were used."""

    columns: Columns
    at: Whole
    used: Bools

    @classmethod
    def of(cls, moments: Sequence[tuple[int, Trace, bool]]) -> Outcomes:
        """From (time, trace, used), in whatever order."""
        held = sorted(moments, key=lambda m: m[0])
        return cls(
            Columns.of([t for _, t, _ in held]), np.array([a for a, _, _ in held], np.int64), np.array([u for *_, u in held], np.bool_)
        )

    def __len__(self) -> int:
        return len(self.at)

    def part(self, start: int, end: int) -> Outcomes:
        """Those from `start` to `end` (excluded)."""
        names = ("first", "count", "recent", "importance", "stability", "reviewed", "decays", "tail")
        return Outcomes(Columns(**{n: getattr(self.columns, n)[start:end] for n in names}), self.at[start:end], self.used[start:end])


@dataclass(frozen=True)
class Losses:
    """Log loss on one part: of the law as it was, of the fitted one, and of one constant rate, with the number of outcomes."""

    n: int
    before: float
    after: float
    constant: float


@dataclass(frozen=True)
class Fitted:
    """The half-life (in units) and the decay that fit best, the losses on what was fitted and on what was held out, and if they are better.

    `better` says that on what was held out the fitted law loses less than the law as it was, and less than a constant rate, each by
    more than `ERRORS` standard errors; `why` puts it in words.
    """

    half_life: float
    d: float
    fitted: Losses
    held_out: Losses
    better: bool
    why: str


def losses(predicted: Floats, used: Bools) -> Floats:
    """−ln of the probability that was given to what happened, for each; predictions clipped by `CLIP`."""
    p = np.clip(np.asarray(predicted, np.float64), CLIP, 1 - CLIP)
    return np.asarray(-np.log(np.where(used, p, 1 - p)))


def constant_loss(n: int, used: int) -> float:
    """The mean log loss of predicting the share that was used each time: the entropy of that share."""
    return float(sum(-k / n * math.log(k / n) for k in (used, n - used) if k)) if n else 0.0


def fit(outcomes: Outcomes, start: ActR, *, before: Law | None = None) -> Fitted:
    """Fits half-life and decay to the earlier outcomes, and judges them by the later ones: beside `before`, or else `start`.

    `start` also gives what is not fitted. `BadValue` if there are fewer than `LEAST` outcomes, or all are the same.
    """
    n, hits = len(outcomes), int(outcomes.used.sum())
    if n < LEAST or hits in {0, n}:
        raise BadValue(
            f"There are {n} outcomes, {hits} used and {n - hits} not; {LEAST} are needed, with some of both.",
            hint="Let recall show more records and say which were used (`used`), then fit again.",
        )
    cut = math.floor(n * SHARE)
    early, late = outcomes.part(0, cut), outcomes.part(cut, n)
    found = _search(early, start)
    rate = (int(early.used.sum()) + 1) / (cut + 2)
    kinds = [[_losses(before or start, part), _losses(found, part), losses(np.full(len(part), rate), part.used)] for part in (early, late)]
    fitted, held_out = (Losses(len(k[0]), *(float(x.mean()) for x in k)) for k in kinds)
    was, now, flat = kinds[1]
    better, why = _judged(now, was, flat)
    return Fitted(found.half_life, found.d, fitted, held_out, better, why)


def _losses(law: Law, outcomes: Outcomes) -> Floats:
    return losses(law.retentions(outcomes.columns, outcomes.at), outcomes.used)


def _judged(now: Floats, was: Floats, flat: Floats) -> tuple[bool, str]:
    """If the fitted law loses less than the other two by more than chance makes, and a sentence that says so."""
    for name, other in (("the law as it is", was), ("a constant rate", flat)):
        gain = other - now
        error = float(gain.std(ddof=1)) / math.sqrt(len(gain))
        if gain.mean() <= ERRORS * error:
            what = "no lower than" if gain.mean() <= 0 else "lower, but not beyond chance, than"
            told = f"log loss {now.mean():.4f} against {other.mean():.4f}, standard error of the difference {error:.4f}"
            return False, f"On what was held out it is {what} that of {name}: {told}."
    return (
        True,
        f"On what was held out the log loss falls from {was.mean():.4f} to {now.mean():.4f}; a constant rate has {flat.mean():.4f}.",
    )


def _search(outcomes: Outcomes, start: ActR) -> ActR:
    """The law of the least loss: the best of a grid, then steps that halve, in logarithms of both. The same each time."""

    def loss(law: ActR) -> float:
        return float(_losses(law, outcomes).mean())

    grid = [replace(start, half_life=h, d=d) for h in _STARTS for d in _GRID]
    best = min([_bounded(start, start.half_life, start.d), *grid], key=loss)
    least, step = loss(best), _STEP
    for _ in range(_ROUNDS):
        nearest = min(_around(best, step), key=loss)
        if (found := loss(nearest)) < least:
            best, least = nearest, found
        else:
            step /= 2
    return best


def _around(law: ActR, step: float) -> Iterator[ActR]:
    for up in (-1, 0, 1):
        for along in (-1, 0, 1):
            if up or along:
                yield _bounded(law, law.half_life * math.exp(2 * up * step), law.d * math.exp(along * step))


def _bounded(law: ActR, half_life: float, d: float) -> ActR:
    """The law with these, within the bounds that a policy has."""
    return replace(law, half_life=min(max(half_life, HALF_LIVES[0]), HALF_LIVES[1]), d=min(max(d, DECAYS[0]), DECAYS[1]))


def shown_outcomes(shown: Sequence[int], used: Sequence[int], *, window: int, gap: int, now: int) -> list[tuple[int, bool]]:
    """Of the moments at which a record was shown, those that say something, each with whether it was used within `window` after.

    Times in order. Of moments within `window` after one that counts, only that one; none within `gap` after a use, as another use is not
    noted there; none whose window is not over by `now`, unless it was used.
    """
    out: list[tuple[int, bool]] = []
    for at in shown:
        if out and at - out[-1][0] <= window:
            continue
        i = bisect_left(used, at)  # the first use from then on
        if i and at - used[i - 1] < gap:
            continue
        hit = i < len(used) and used[i] - at <= window
        if hit or at + window <= now:
            out.append((at, hit))
    return out

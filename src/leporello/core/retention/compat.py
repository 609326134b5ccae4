"""Forgetting by ticks, by the rule that is published for agents' memory files; the numbers are the same to the last bit.

A file holds one entry a line; an entry has the tick at which it was written, an importance, the ticks at which it was met
again (`_presentations`) and how often it was used (`_access_count`). With S the strength, k the importance's multiplier:

    E = exp(−age / max(1, S·k))
    activation = ln Σ max(1, now − presentation)^(−d) + ln(max(0.1, k)) + 0.08 · min(10, accesses)
    P = 1 / (1 + exp(−(activation − θ)))
    R = max(E, P), held between 0 and 0.98

Below 0.1 an entry is removed; above 0.1 and below 0.5 it is marked `_faded`. Beyond `max_entries` the lowest R go.
After some fifty ticks P is always the larger: by decay alone a medium entry goes at tick 12,022, not at 100.

There are two ways to apply it. `maintained` does what the published script does with a file, its losses included. `sift`
uses the same numbers and loses nothing: it takes bad fields as absent ones, keeps what is pinned, and says why for what goes.

Source: the exponential after Ebbinghaus (1885), the activation after Anderson & Schooler (1991) and ACT-R.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from leporello.errors import BadSetting, BadValue

CEILING = 0.98
REMOVED_BELOW = 0.1
FADED_BELOW = 0.5
_MULTIPLIERS = {"high": 1.5, "low": 0.5}
_MOST_ACCESSES = 10
_PER_ACCESS = 0.08

Fate = Literal["kept", "forgotten", "capped"]


@dataclass(frozen=True)
class Settings:
    """Strength S in ticks, decay d, threshold θ, and how many entries a file may hold."""

    strength: float = 100.0
    decay: float = 0.5
    threshold: float = -2.5
    max_entries: int = 1000

    def checked(self) -> Settings:
        """These settings, if they make sense. Raises `BadSetting`; the published script takes any number."""
        bad = [f"{n}={v!r}" for n, v in (("strength", self.strength), ("decay", self.decay)) if not 0 <= v < math.inf]
        bad += [f"threshold={self.threshold!r}"] if not math.isfinite(self.threshold) else []
        bad += [f"max_entries={self.max_entries!r}"] if self.max_entries < 1 else []
        if bad:
            hint = "Strength and decay are numbers from 0, the threshold is any number, and at least one entry may be held."
            raise BadSetting(f"Maintenance: {', '.join(bad)}.", hint=hint)
        return self


@dataclass(frozen=True)
class Evaluated:
    """What the rule says of an entry at a tick, unrounded."""

    ebbinghaus: float
    activation: float
    probability: float
    retention: float
    faded: bool
    removed: bool


@dataclass(frozen=True)
class Trace:
    """What of an entry counts. `told` is what its `_presentations` should hold from now on; None to leave them."""

    tick: int
    presentations: tuple[int, ...]
    accesses: int
    importance: object = "medium"
    pinned: bool = False
    last_use: int = 0
    told: list[Any] | None = None


@dataclass(frozen=True)
class Verdict:
    """What becomes of an entry: the entry as it is written if it is kept, and why it goes if it goes."""

    fate: Fate
    entry: dict[str, Any]
    trace: Trace
    evaluated: Evaluated
    why: str = ""


@dataclass(frozen=True)
class Maintained:
    """The new text of a file, and how many entries were in it before and after."""

    text: str
    before: int
    after: int


# --- the rule ----------------------------------------------------------------------------------------------------------


def multiplier(importance: object) -> float:
    """1.5 for high, 0.5 for low, in any case; 1.0 for everything else, numbers and unknown words too."""
    return _MULTIPLIERS.get(str(importance).lower(), 1.0)


def presentations(entry: Mapping[str, Any]) -> list[int]:
    """The ticks at which the entry was met: what of the list can be made whole numbers; without any, its tick; without that, 0."""
    found = _wholes(entry.get("_presentations"))
    if found:
        return found
    tick = _whole(entry.get("tick", 0))
    return [0 if tick is None else tick]


def weigh(trace: Trace, now: int, settings: Settings) -> Evaluated:
    """The rule itself. `now` is a tick; lags are floored at one tick, so a future tick counts as one tick ago."""
    k = multiplier(trace.importance)
    ebbinghaus = _exponential(max(0, now - trace.tick), max(1, settings.strength * k))
    lags = [max(1, now - p) for p in trace.presentations]
    importance_bonus = math.log(max(0.1, k))
    access_bonus = _PER_ACCESS * min(_MOST_ACCESSES, trace.accesses)
    activation = _base_level(lags, settings.decay) + importance_bonus + access_bonus
    probability = _logistic(activation - settings.threshold)
    retention = max(0.0, min(CEILING, max(ebbinghaus, probability)))
    faded = REMOVED_BELOW < retention < FADED_BELOW
    return Evaluated(ebbinghaus, activation, probability, retention, faded, retention < REMOVED_BELOW)


def evaluate(entry: Mapping[str, Any], now: int, settings: Settings) -> Evaluated:
    """The rule applied to an entry as the published script reads it: a missing tick is now; a tick or count of null is an error."""
    tick = _must(entry, "tick", now)
    accesses = _must(entry, "_access_count", 0)
    return weigh(Trace(tick, tuple(presentations(entry)), accesses, entry.get("importance", "medium")), now, settings)


def written(entry: Mapping[str, Any], found: Evaluated, unix: int, *, told: list[Any] | None = None) -> dict[str, Any]:
    """The entry with the fields that maintenance writes. `told` becomes its `_presentations`, if that is given."""
    made = dict(entry)
    if told is not None:
        made["_presentations"] = told
    made["_retention"] = round(found.retention, 4)
    made["_ebbinghaus_retention"] = round(found.ebbinghaus, 4)
    made["_activation"] = round(found.activation, 4)
    made["_retrieval_probability"] = round(found.probability, 4)
    made["_faded"] = found.faded
    made["_maintained_at_unix"] = unix
    return made


def maintained(text: str, now: int, settings: Settings, unix: int) -> Maintained:
    """The text of a memory file after the published script ran over it at tick `now`; `unix` is the time in seconds.

    Its format is `json.dumps(entry, ensure_ascii=False)` and a newline. Its losses are kept as well: lines that are no
    JSON object are dropped, and lines are split by all of Unicode's separators, so an entry with U+2028 in it is lost.
    A tick or count that is no number is a `BadValue` before anything is written.
    """
    entries = _objects(text)
    kept = []
    for entry in entries:
        found = evaluate(entry, now, settings)
        if not found.removed:
            told = None if "_presentations" in entry else presentations(entry)
            kept.append(written(entry, found, unix, told=told))
    if len(kept) > settings.max_entries:
        kept.sort(key=lambda e: e["_retention"], reverse=True)
        kept = kept[: settings.max_entries]
        kept.sort(key=lambda e: _must(e, "tick", 0))
    return Maintained("".join(json.dumps(e, ensure_ascii=False) + "\n" for e in kept), len(entries), len(kept))


# --- the same numbers, and nothing lost --------------------------------------------------------------------------------


def trace(entry: Mapping[str, Any], now: int) -> Trace:
    """What of an entry counts; a field that cannot be used is as one that is not there.

    An entry without a tick ages from its first presentation, and without one from `now`: that is then put down in
    `_presentations`, behind whatever stood there. A count below 0 is 0.
    """
    held = entry.get("_presentations")
    seen = _wholes(_list(held))
    tick = _whole(entry.get("tick"))
    told: list[Any] | None = None
    if not seen and (tick is None or "_presentations" not in entry):
        told = [*_list(held), now if tick is None else tick]
    since = min(seen, default=now) if tick is None else tick
    met = tuple(seen) or (since,)
    used = _whole(entry.get("_last_access_tick"))
    return Trace(
        tick=since,
        presentations=met,
        accesses=max(0, _whole(entry.get("_access_count")) or 0),
        importance=entry.get("importance", "medium"),
        pinned=entry.get("_pinned") is True or entry.get("pinned") is True,
        last_use=max(since, *met, since if used is None else used),
        told=told,
    )


def sift(entries: Sequence[Mapping[str, Any]], now: int, settings: Settings, unix: int) -> tuple[Verdict, ...]:
    """What becomes of each entry at tick `now`, in the same order.

    A pinned entry is neither faded nor removed nor cut. Over the cap go those of the lowest retention; among equals
    those that were used longest ago, and among those the ones that stand first. Raises `BadSetting`.
    """
    settings.checked()
    verdicts = [_verdict(entry, now, settings, unix) for entry in entries]
    staying = [i for i, v in enumerate(verdicts) if v.fate == "kept"]
    over = len(staying) - settings.max_entries
    if over > 0:
        loose = [i for i in staying if not verdicts[i].trace.pinned]
        loose.sort(key=lambda i: (verdicts[i].evaluated.retention, verdicts[i].trace.last_use, i))
        for i in loose[:over]:
            v = verdicts[i]
            why = f"{len(staying):,} entries are more than {settings.max_entries:,}, and its retention {v.evaluated.retention:.4f} is among the lowest"
            verdicts[i] = Verdict("capped", v.entry, v.trace, v.evaluated, f"{why}: {told(v.trace, v.evaluated, now, settings)}.")
    return tuple(verdicts)


def told(trace: Trace, found: Evaluated, now: int, settings: Settings) -> str:
    """The numbers behind a retention, in words."""
    k = multiplier(trace.importance)
    return (
        f"at tick {now}, {max(0, now - trace.tick)} ticks old, exponential {found.ebbinghaus:.4f} with a time constant of "
        f"{max(1, settings.strength * k):g} ticks, retrieval {found.probability:.4f} from activation {found.activation:.4f} "
        f"(met {len(trace.presentations)} times, used {trace.accesses} times) and threshold {settings.threshold:g}"
    )


def _verdict(entry: Mapping[str, Any], now: int, settings: Settings, unix: int) -> Verdict:
    seen = trace(entry, now)
    found = weigh(seen, now, settings)
    if seen.pinned:
        found = Evaluated(found.ebbinghaus, found.activation, found.probability, found.retention, faded=False, removed=False)
    if found.removed:
        why = f"retention {found.retention:.4f} is below {REMOVED_BELOW:g}: {told(seen, found, now, settings)}."
        return Verdict("forgotten", dict(entry), seen, found, why)
    return Verdict("kept", written(entry, found, unix, told=seen.told), seen, found)


# --- numbers -----------------------------------------------------------------------------------------------------------


def _exponential(age: int, constant: float) -> float:
    try:
        return math.exp(-age / constant)
    except OverflowError:
        return 0.0


def _base_level(lags: Sequence[int], decay: float) -> float:
    """ln Σ lag^(−d); by logarithms only where the plain sum leaves the range of floats, so that other sums stay equal to the last bit."""
    try:
        return math.log(sum(lag ** (-decay) for lag in lags))
    except (OverflowError, ValueError):
        logs = [-decay * math.log(lag) for lag in lags]
        top = max(logs)
        return top + math.log(sum(math.exp(v - top) for v in logs))


def _logistic(x: float) -> float:
    try:
        return 1 / (1 + math.exp(-x))
    except OverflowError:
        return 0.0


def _whole(value: Any) -> int | None:
    """What `int` makes of it; None if it makes nothing."""
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _wholes(value: object) -> list[int]:
    return [n for v in value if (n := _whole(v)) is not None] if isinstance(value, list) else []


def _list(value: object) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list) else [value]


def _must(entry: Mapping[str, Any], name: str, absent: int) -> int:
    found = _whole(entry.get(name, absent))
    if found is None:
        raise BadValue(f"{name}={entry[name]!r:.80} is no whole number.", hint=f"Mend `{name}` or take it out, or run without strictness.")
    return found


def _objects(text: str) -> list[dict[str, Any]]:
    found = []
    for line in text.splitlines():
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except json.JSONDecodeError:
            continue
        except (ValueError, RecursionError) as error:
            raise BadValue(f"A line cannot be read: {error}.", hint="Take the line out, or run without strictness.") from error
        if isinstance(value, dict):
            found.append(value)
    return found

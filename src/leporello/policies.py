"""The settings: frozen, bounded, few. An unknown name or a value out of bounds raises `BadSetting`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

from leporello.errors import BadSetting


def _bounds(policy: object, **limits: tuple[float, float]) -> None:
    bad = [f"{n}={getattr(policy, n)!r:.80} (from {lo:g} to {hi:g})" for n, (lo, hi) in limits.items() if not _within(policy, n, lo, hi)]
    if bad:
        raise BadSetting(f"{type(policy).__name__}: {'; '.join(bad)}.")


def _within(policy: object, name: str, low: float, high: float) -> bool:
    """True for a number within the bounds; where the default is a whole number, only whole numbers."""
    value = getattr(policy, name)
    kinds = int if isinstance(getattr(type(policy), name), int) else (int, float)
    return isinstance(value, kinds) and not isinstance(value, bool) and low <= value <= high


@dataclass(frozen=True)
class FoldPolicy:
    """When and how far to fold (R14, R18, C10): strictly over a limit, whichever comes first, down to half.

    `at_open`: an open store makes facts of what sessions left that were never closed.
    """

    l1_turns: int = 20
    l1_tokens: int = 30_000
    l2_episodes: int = 10
    keep: float = 0.5
    min_saving: float = 0.2
    episode_tokens: int = 1_000
    at_open: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.at_open, bool):
            raise BadSetting(f"FoldPolicy: at_open={self.at_open!r:.80} is neither True nor False.")
        _bounds(
            self,
            l1_turns=(1, 10_000),
            l1_tokens=(100, 10_000_000),
            l2_episodes=(1, 1_000),
            keep=(0, 0.95),
            min_saving=(0, 0.95),
            episode_tokens=(50, 100_000),
        )


@dataclass(frozen=True)
class RecallPolicy:
    """How the lanes are fused. Weights are shares of a score in [0, 1]; `leporello bench find` measures them."""

    dense: float = 0.4
    neighbours: float = 0.5
    session: float = 0.2
    graph: float = 0.1
    floor: float = 0.15

    def __post_init__(self) -> None:
        _bounds(self, dense=(0, 1), neighbours=(0, 1), session=(0, 1), graph=(0, 1), floor=(0, 1))


@dataclass(frozen=True)
class ContextPolicy:
    """What a context holds at most (X14, R127)."""

    facts: int = 20
    episodes: int = 5
    recalled: int = 5

    def __post_init__(self) -> None:
        _bounds(self, facts=(0, 1_000), episodes=(0, 1_000), recalled=(0, 100))


@dataclass(frozen=True)
class WritePolicy:
    """How messages are written."""

    chunk: int = 500
    max_message_bytes: int = 256 * 1024 * 1024

    def __post_init__(self) -> None:
        _bounds(self, chunk=(1, 100_000), max_message_bytes=(1_000, 1_000_000_000))


@dataclass(frozen=True)
class LoopPolicy:
    """When an agent loop folds, and what its requests hold at most (C12, C14; `docs/explanation/agent-loop.md`).

    `share` of the window, `turns` since the last compaction (flat mode), `auto_turns` after which mode `auto` folds, `keep` the
    share of the first layer's window that stays when a loop folds it (less than a fold by hand keeps: each fold makes the provider
    read what stays anew); the rest are tokens, except `media` (a count) and `margin` (the factor on estimates while the provider has reported no usage).
    """

    share: float = 0.70
    turns: int = 40
    auto_turns: int = 50
    compact_tokens: int = 3_000
    memory_tokens: int = 6_000
    keep: float = 0.3
    result_tokens: int = 8_000
    media: int = 80
    margin: float = 1.25

    def __post_init__(self) -> None:
        _bounds(
            self,
            share=(0.1, 0.95),
            turns=(1, 100_000),
            auto_turns=(0, 1_000_000),
            compact_tokens=(50, 100_000),
            memory_tokens=(50, 1_000_000),
            keep=(0, 0.95),
            result_tokens=(50, 10_000_000),
            media=(0, 10_000),
            margin=(1, 5),
        )


LAWS = ("actr", "actr-spaced", "fsrs", "exponential", "compat", "none")
_THRESHOLDS = {"fsrs": (0.9, 0.7)}
PRESETS = ("uniform", "by_source", "none")


@dataclass(frozen=True)
class RetentionPolicy:
    """How memory ages (C1, C3, C5; `docs/explanation/forgetting.md`).

    `law` is one of `LAWS` ("none": nothing fades). `half_life`, in days: when what was seen once, of medium importance, is recalled
    with a chance of one half (laws fsrs and compat have constants of their own). `decay` and `noise`
    are d and s of ACT-R. Below `fading` a record is fading, below `forgotten` maintenance archives it; None takes the law's own (0.5
    and 0.1; with fsrs 0.9 and 0.7). `gap`, in seconds: what happens to a record again within it counts once. `cap`: the most facts in use
    that one scope may hold, None for no cap. `confidence`: how it falls in a week, one of `PRESETS`: uniform 0.05; by_source 0.02 for what
    a user stated, 0.05 for what was inferred, 0.10 for what was assumed; none. `weight`: the share of a score that retention
    and confidence each decide in recall; `leporello bench forget` measures it.
    """

    law: str = "actr"
    half_life: float = 180.0
    decay: float = 0.5
    noise: float = 0.25
    fading: float | None = None
    forgotten: float | None = None
    gap: int = 3_600
    cap: int | None = None
    confidence: str = "uniform"
    weight: float = 0.3

    def __post_init__(self) -> None:
        _bounds(self, half_life=(0.001, 100_000), decay=(0.05, 2), noise=(0.05, 2), gap=(0, 31_536_000), weight=(0, 1))
        for name, known in (("law", LAWS), ("confidence", PRESETS)):
            if getattr(self, name) not in known:
                raise BadSetting(f"RetentionPolicy: {name}={getattr(self, name)!r:.80} is none of {', '.join(known)}.")
        if self.law == "actr-spaced" and self.half_life < 1:
            raise BadSetting(f"RetentionPolicy: half_life={self.half_life:g} is below 1 day, the least with law actr-spaced.")
        for name in ("fading", "forgotten"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1):
                raise BadSetting(f"RetentionPolicy: {name}={value!r:.80} is neither None nor from 0 to 1.")
        if self.thresholds[0] < self.thresholds[1]:
            raise BadSetting(f"RetentionPolicy: forgotten={self.thresholds[1]:g} is above fading={self.thresholds[0]:g}.")
        if self.cap is not None and (isinstance(self.cap, bool) or not isinstance(self.cap, int) or not 1 <= self.cap <= 10_000_000):
            raise BadSetting(f"RetentionPolicy: cap={self.cap!r:.80} is neither None nor a whole number from 1 to 10000000.")

    @property
    def thresholds(self) -> tuple[float, float]:
        """Below which retention a record is fading, and below which it is forgotten."""
        fading, forgotten = _THRESHOLDS.get(self.law, (0.5, 0.1))
        return (fading if self.fading is None else self.fading, forgotten if self.forgotten is None else self.forgotten)


SECRETS = ("private key", "api key", "password", "token")
PERSONAL = ("email", "phone", "card", "iban", "ssn", "ip")
REDACTABLE = ("secrets", "personal", *SECRETS, *PERSONAL)
"""What `GuardPolicy.redact` takes: "secrets" and "personal" stand for all of theirs."""


@dataclass(frozen=True)
class GuardPolicy:
    """What is redacted before a message is written, and whether text of others is screened (D31, D32; `docs/how-to/redact.md`).

    `redact` holds names of `REDACTABLE`; `patterns` pairs of a name and a regular expression of your own; `hook` gets each text
    and returns it as it may be kept. Nothing is redacted by default: the log is verbatim. `screen`: facts from suspicious text
    wait in quarantine.
    """

    redact: tuple[str, ...] = ()
    patterns: tuple[tuple[str, str], ...] = ()
    hook: Callable[[str], str] | None = None
    screen: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "redact", _listed("redact", self.redact))
        object.__setattr__(self, "patterns", tuple(map(_pattern, _listed("patterns", self.patterns))))
        if unknown := [n for n in self.redact if n not in REDACTABLE]:
            raise BadSetting(f"GuardPolicy: redact={unknown!r:.80} names nothing: use {', '.join(REDACTABLE)}.")
        if self.hook is not None and not callable(self.hook):
            raise BadSetting(f"GuardPolicy: hook={self.hook!r:.80} cannot be called.")
        if not isinstance(self.screen, bool):
            raise BadSetting(f"GuardPolicy: screen={self.screen!r:.80} is not true or false.")


def _listed(name: str, value: object) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple)):
        raise BadSetting(f"GuardPolicy: {name}={value!r:.80} is no list.")
    return tuple(value)


def _pattern(pair: object) -> tuple[str, str]:
    """A name and a regular expression, if they are that; the name goes into the mark that stands for a match."""
    held = tuple(pair) if isinstance(pair, (list, tuple)) else ()
    if len(held) != 2 or not all(isinstance(p, str) for p in held) or not re.fullmatch(r"[^\[\]\n]{1,40}", held[0]):
        raise BadSetting(f"GuardPolicy: patterns has {pair!r:.80}: use pairs of a name (40 characters, no brackets) and a regex.")
    try:
        re.compile(held[1])
    except (re.error, RecursionError, OverflowError) as e:
        raise BadSetting(f"GuardPolicy: patterns: {held[0]!r} is no regular expression ({e}).") from e
    return held


@dataclass(frozen=True)
class Policies:
    """All policies of an open store."""

    fold: FoldPolicy = field(default_factory=FoldPolicy)
    recall: RecallPolicy = field(default_factory=RecallPolicy)
    context: ContextPolicy = field(default_factory=ContextPolicy)
    write: WritePolicy = field(default_factory=WritePolicy)
    loop: LoopPolicy = field(default_factory=LoopPolicy)
    guard: GuardPolicy = field(default_factory=GuardPolicy)
    retention: RetentionPolicy = field(default_factory=RetentionPolicy)

    @classmethod
    def of(cls, settings: Policies | dict[str, Any] | None) -> Policies:
        """`Policies`, or a mapping such as `{"fold": {"l1_turns": 30}}`; unknown names are refused."""
        if settings is None:
            return cls()
        if isinstance(settings, Policies):
            return settings
        parts = {f.name: type(getattr(cls(), f.name)) for f in fields(cls)}
        made: dict[str, Any] = {}
        if not isinstance(settings, dict) or not all(isinstance(v, dict) for v in settings.values()):
            raise BadSetting(
                "policies is no mapping of mappings.", hint='Pass `Policies`, or a mapping such as {"fold": {"l1_turns": 30}}.'
            )
        for name, values in settings.items():
            if name not in parts:
                raise BadSetting(f"There is no policy {name!r}: use {', '.join(parts)}.")
            kind = parts[name]
            known = {f.name for f in fields(kind)}
            if unknown := set(values) - known:
                raise BadSetting(f"{kind.__name__} has no {', '.join(sorted(unknown))}: use {', '.join(sorted(known))}.")
            made[name] = kind(**values)
        return cls(**made)

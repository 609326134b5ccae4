"""What calls return: hits, contexts' blocks, reports and receipts. Frozen, with `to_dict()`, as the records are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, overload

from leporello.records import Episode, Fact, Message, Provenance, Record, Scope


@dataclass(frozen=True)
class Reason(Record):
    """One term of a hit's score: which lane or factor, how much it added, and what it saw."""

    term: str
    value: float
    detail: str = ""


@dataclass(frozen=True)
class Age(Record):
    """How a record stands with time.

    `retention` is the chance that it can be recalled, `confidence` the degree to which it is true (None for what is only said). `status`:
    active, fading, expired, archived, conflict, deprecated or quarantine. `presentations` counts when it was seen or used, what lies close
    together once; `last` is the newest. `hidden`: out of default recall. `due`: when maintenance puts it aside if nothing happens.
    """

    id: str
    kind: str
    retention: float
    confidence: float | None
    status: str
    importance: str
    pinned: bool
    expires_at: datetime | None
    presentations: int
    last: datetime
    hidden: bool
    due: datetime | None


@dataclass(frozen=True)
class Hit(Record):
    """One result of recall. `score` is comparable across queries of one store; `why` are its terms, largest first.

    `retention`, `confidence` and `status` are those of now (see `Age`); confidence is None for messages and episodes, and so is
    status unless they were put aside or have expired; all are None
    in what was asked with `believed_at`.
    """

    record: Message | Episode | Fact
    score: float
    why: tuple[Reason, ...]
    provenance: Provenance
    retention: float | None = None
    confidence: float | None = None
    status: str | None = None

    @property
    def text(self) -> str:
        return self.record.text

    @property
    def relevance(self) -> float:
        """The score without what its age takes from it: what the relevance floor is compared with."""
        return self.score - sum(w.value for w in self.why if w.term in {"retention", "confidence"})


@dataclass(frozen=True)
class Recall(Record, Sequence["Hit"]):
    """The hits, best first. `not_found` is true when nothing reaches the relevance floor: the hits, if any, are weak guesses."""

    query: str
    hits: tuple[Hit, ...]
    not_found: bool
    took_ms: float

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    @overload
    def __getitem__(self, i: int) -> Hit: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, i: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[i]


@dataclass(frozen=True)
class Block(Record):
    """One block of a context: its bytes depend only on its records.

    kind: system, pins, facts, episodes, messages or recalled. `ids` are the records that it shows.
    """

    kind: str
    text: str
    tokens: int
    ids: tuple[str, ...] = ()
    messages: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class Omitted(Record):
    """A record that was left out of a context, and why."""

    id: str
    kind: str
    tokens: int
    why: str


@dataclass(frozen=True)
class Receipt(Record):
    """What an erasure took: counts by kind, a SHA-256 over the sorted ids, when, and that no byte of text is left."""

    scope: Scope
    at: datetime
    counts: Mapping[str, int]
    ids_sha256: str
    total: int
    complete: bool
    note: str = ""


@dataclass(frozen=True)
class FoldReport(Record):
    """What a fold did: episodes written, facts changed, tokens before and after, and any fallback taken."""

    episodes: tuple[str, ...] = ()
    turns: tuple[int, int] | None = None
    tokens_before: int = 0
    tokens_after: int = 0
    distilled: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    fallbacks: tuple[str, ...] = ()


@dataclass(frozen=True)
class FactChange(Record):
    """What a consolidation did to one fact: the action, the fact as it is, as it was before (None for a new one), and why.

    action: add, reinforce, supersede, end, conflict, resolve, merge, retract, restore or update.
    """

    action: str
    fact: Fact
    was: Fact | None = None
    why: str = ""


@dataclass(frozen=True)
class Consolidation(Record):
    """What a consolidation read and changed: `statements` that were weighed, of which `known` changed nothing.

    `echoes` were only memory coming back, `quarantined` are suspicious, `permanent` hold for the user in every project.
    """

    sessions: int = 0
    messages: int = 0
    statements: int = 0
    known: int = 0
    echoes: int = 0
    quarantined: int = 0
    permanent: int = 0
    changes: tuple[FactChange, ...] = ()
    fallbacks: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """The changes by action."""
        return dict(sorted(Counter(c.action for c in self.changes).items()))

    def plus(self, other: Consolidation) -> Consolidation:
        """Both together."""
        return Consolidation(**{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(Consolidation)})

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"counts": self.counts}


@dataclass(frozen=True)
class Move(Record):
    """A record that maintenance puts aside: what it was, the cause (expired, forgotten, uncertain or cap), the numbers, and a sentence why."""

    id: str
    kind: str
    scope: Scope
    text: str
    was: str
    cause: str
    why: str
    retention: float
    confidence: float | None


@dataclass(frozen=True)
class Maintenance(Record):
    """What a maintenance run did, or would do (`dry_run`): how many records were `looked` at because they were due, and those that moved.

    `run` is the name by which it can be undone; empty if nothing moved.
    """

    run: str
    at: datetime
    dry_run: bool
    looked: int
    moves: tuple[Move, ...]
    took_ms: float

    @property
    def counts(self) -> dict[str, int]:
        """The moves by cause."""
        return dict(sorted(Counter(m.cause for m in self.moves).items()))

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"counts": self.counts}


@dataclass(frozen=True)
class Undone(Record):
    """What undoing a maintenance run brought back, and what it left as it is because it changed since or is gone."""

    run: str
    restored: tuple[str, ...]
    left: tuple[str, ...]


@dataclass(frozen=True)
class Coming(Record):
    """What time does to a record if nothing happens: `what` (fading, forgotten, uncertain or expired), when, the numbers then, and why."""

    id: str
    kind: str
    text: str
    what: str
    at: datetime
    retention: float
    confidence: float | None
    why: str


@dataclass(frozen=True)
class Happened(Record):
    """An event of a record, and its retention then by the first law."""

    kind: str
    at: datetime
    retention: float


@dataclass(frozen=True)
class Curve(Record):
    """A record over time: `retention` by law and `confidence` (None for what has none) at `times`; its events; where the laws' marks lie.

    At each moment of the past it is what followed from what had happened by then. Importance and pins are those of now: they are not
    in the log. `marks`: by law, the retention below which it fades, and is forgotten.
    """

    id: str
    kind: str
    text: str
    pinned: bool
    times: tuple[datetime, ...]
    retention: Mapping[str, tuple[float, ...]]
    confidence: tuple[float, ...] | None
    events: tuple[Happened, ...]
    marks: Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class PastRun(Record):
    """A maintenance run as a scope sees it: its name, when it began, and how many of the scope's records it put aside."""

    run: str
    at: datetime
    moved: int


@dataclass(frozen=True)
class Outlook(Record):
    """How the facts and episodes of a scope stand with time, and what comes if nothing happens.

    `counts` by status. `overdue`: what the next maintenance puts aside; `next_days` and `next_weeks`: how many fall due in each of the
    next 7 days and 12 weeks. `soon`: what fades or falls due within a week, soonest first; `more` counts what was left out of it.
    `runs`: the newest maintenance runs, newest first. `curves`: of the records that were asked for.
    """

    at: datetime
    law: str
    half_life: float
    records: int
    counts: Mapping[str, int]
    overdue: int
    next_days: tuple[int, ...]
    next_weeks: tuple[int, ...]
    soon: tuple[Coming, ...]
    more: int
    runs: tuple[PastRun, ...]
    curves: tuple[Curve, ...] = ()


@dataclass(frozen=True)
class Simulated(Record):
    """What one law would have come to. `half_life` is None for a law that has none.

    `now` and `later` (by days): counts by status, if maintenance had always run; `uncertain` are those that confidence alone puts aside,
    under every law the same. `regret`: of the `used` records, those that were used after they would have been forgotten; `idle`: of the
    `unused`, those that the law would still keep. `log_loss`: of predicting by retention whether what was shown is used; None without
    outcomes.
    """

    law: str
    half_life: float | None
    now: Mapping[str, int]
    later: Mapping[int, Mapping[str, int]]
    used: int
    regret: int
    unused: int
    idle: int
    log_loss: float | None


@dataclass(frozen=True)
class Simulation(Record):
    """The log of a scope's facts and episodes under several laws.

    `outcomes`: moments at which a record was shown or retrieved and it is known whether it was used within `window` seconds; `hits`:
    how often it was. `constant`: the log loss of predicting that share each time; None without outcomes.
    """

    at: datetime
    records: int
    days: tuple[int, ...]
    outcomes: int
    hits: int
    window: int
    constant: float | None
    laws: tuple[Simulated, ...]


@dataclass(frozen=True)
class Loss(Record):
    """Log losses over `outcomes`: by the policy as it was, by the fitted law, and by one constant rate."""

    outcomes: int
    before: float
    after: float
    constant: float


@dataclass(frozen=True)
class Fit(Record):
    """Half-life and decay fitted to the earlier 70 % of the outcomes, judged by the later 30 %, which were held out.

    `better`: on what was held out it beats the policy as it was and a constant rate, both beyond chance; `why` says so. `policy` is what
    to pass to `open(policies=…)`; empty if it is not better. `outcomes` of all, of which `used`.
    """

    outcomes: int
    used: int
    half_life: float
    decay: float
    half_life_before: float
    decay_before: float
    in_sample: Loss
    held_out: Loss
    better: bool
    why: str
    policy: Mapping[str, Any]


@dataclass(frozen=True)
class Layers(Record):
    """Which turns each layer holds, as inclusive ranges oldest first: disjoint, and together every turn once."""

    l3: tuple[tuple[int, int], ...] = ()
    l2: tuple[tuple[int, int], ...] = ()
    l1: tuple[tuple[int, int], ...] = ()
    turns: int = 0


@dataclass(frozen=True)
class SessionInfo(Record):
    """A session: whose it is, its messages and turns, how many messages are folded into how many episodes, when it was closed.

    `scope.session` is its name; None is what was remembered outside a session.
    """

    scope: Scope
    messages: int
    turns: int
    folded: int
    episodes: int
    closed_at: datetime | None

    @property
    def name(self) -> str | None:
        """The session's name."""
        return self.scope.session


@dataclass(frozen=True)
class ImportReport(Record):
    """What an import read: `seen` messages = `stored` + `already` (stored before) + `quarantined`; `skipped` lines hold none."""

    format: str
    seen: int = 0
    stored: int = 0
    already: int = 0
    quarantined: int = 0
    skipped: int = 0
    sessions: tuple[str, ...] = ()
    quarantine_file: str | None = None
    kinds: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Call(Record):
    """A tool call of the model that waits for its result: its id, the tool's name, and the arguments as they were written."""

    id: str
    name: str
    arguments: Any


@dataclass(frozen=True)
class LoopReport(Record):
    """What an agent loop sent and folded since its first request. Tokens are the provider's, except where estimates are named.

    `tokens_in` is everything that was read, `cached` the part read from the provider's cache and `written` the part written to it.
    `survived` and `last_survived`: estimated tokens at the beginning of requests that were the same as in the request before, in
    all and last. `peak`: the largest request. `folds` with `folded_messages`, and what compactors took for them (`fold_…`).
    `failures`: codes of compactors' failed attempts; `fallbacks`: the last sentences that say who wrote instead. `overflows`:
    refusals of the provider as too long. `shortened`: messages that the last request showed as head and tail. `cost_usd` is None
    when no price is known; `unpriced` counts calls without one. `view`: what stands for the past now; `sent_from`: the position
    of the first message that is sent.
    """

    requests: int = 0
    replies: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cached: int = 0
    written: int = 0
    peak: int = 0
    survived: int = 0
    last_survived: int = 0
    last_estimate: int = 0
    folds: int = 0
    folded_messages: int = 0
    fold_tokens_in: int = 0
    fold_tokens_out: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    fallbacks: tuple[str, ...] = ()
    overflows: int = 0
    shortened: int = 0
    cost_usd: float | None = None
    fold_cost_usd: float = 0.0
    unpriced: int = 0
    mode: str = "auto"
    view: str = "whole"
    sent_from: int = 1
    window: int = 0
    pins: int = 0
    phase: str = ""
    budget: Mapping[str, Any] = field(default_factory=dict)

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
class Hit(Record):
    """One result of recall. `score` is comparable across queries of one store; `why` are its terms, largest first."""

    record: Message | Episode | Fact
    score: float
    why: tuple[Reason, ...]
    provenance: Provenance

    @property
    def text(self) -> str:
        return self.record.text


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

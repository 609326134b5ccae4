"""Facts from claims: one pure function, so that the order in which claims arrive, or how often, makes no difference.

Claims are taken in the order in which they were said. One that says what an open fact says supports it; one that gives another
value ends it and begins the next, if it is trusted at least as much; one that may contradict it stands beside it as a conflict.
What was done by hand (confirm, end, retract, archive, restore) holds for the fact of the claim that it was done to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from leporello.records import Claim, Provenance, Trust

Judge = Callable[[Claim, Claim], str]
"""How an earlier claim and a later one relate: same, update, conflict or none."""
RANK: dict[Trust, int] = {"external": 0, "tool": 1, "agent": 2, "user": 3}
"""Who is believed: lower trust never supersedes higher."""
REINFORCEMENT = 0.1
_STATES = {"say", "reinforce", "supersede", "conflict"}
_COMPARED = 8
_SPANS_KEPT = 50
_TAGS_KEPT = 10


@dataclass
class Hand:
    """What was done to a fact by hand, in the order in which it was done; `restore` takes back what was before it."""

    end: datetime | None = None
    retracted: datetime | None = None
    archived: bool = False
    restored: datetime | None = None
    confirmed: int = 0


@dataclass(eq=False)
class Derived:
    """One fact: the claims that support it (the first gives its words), its time, what became of it, and how it relates to others."""

    claims: list[Claim]
    hand: Hand = field(default_factory=Hand)
    end: datetime | None = None
    by: Derived | None = None
    against: list[Derived] = field(default_factory=list)
    reason: str = ""

    @property
    def start(self) -> datetime:
        """From when it holds."""
        return min(c.at for c in self.claims)

    @property
    def rank(self) -> int:
        """The trust of who is trusted most of those who say it."""
        return 3 if self.hand.confirmed else max(RANK[c.trust] for c in self.claims)

    @property
    def words(self) -> Claim:
        """The claim whose words the fact takes: the first of those who are trusted most."""
        best = max(RANK[c.trust] for c in self.claims)
        return next(c for c in self.claims if RANK[c.trust] == best)

    @property
    def held(self) -> bool:
        """True while it is in quarantine."""
        return not self.hand.confirmed and all(c.suspicion for c in self.claims)

    def open(self, at: datetime) -> bool:
        """True if it still stands at the instant, as far as is known by then."""
        ended = [t for t in (self.end, self.hand.end, self.hand.retracted) if t is not None]
        return not ended or at < min(ended)

    @property
    def ended(self) -> datetime | None:
        """When it ceased to hold."""
        ends = [t for t in (self.end, self.hand.end) if t is not None]
        return max(self.start, min(ends)) if ends else None

    def confidence(self) -> float:
        """Of those who are trusted most, the surest; more by 0.1 for each further source as trusted, and for each confirmation."""
        best = max(RANK[c.trust] for c in self.claims)
        told = [c for c in self.claims if RANK[c.trust] == best]
        sources = {s.message for c in told for s in c.provenance.spans} | {c.id for c in told if _told_by_hand(c)}
        episodes = {e for c in told if not c.provenance.spans for e in c.provenance.episodes}
        further = max(0, len(sources) + len(episodes) - 1) + self.hand.confirmed
        return min(1.0, round(max(c.confidence for c in told) + REINFORCEMENT * further, 4))

    def provenance(self) -> Provenance:
        """All sources, those of the words first."""
        ordered = [self.words, *(c for c in self.claims if c is not self.words)]
        spans = tuple(dict.fromkeys(s for c in ordered for s in c.provenance.spans))[:_SPANS_KEPT]
        turns = tuple(sorted({t for c in ordered for t in c.provenance.turns}))
        return Provenance(
            self.words.provenance.session, turns, tuple(dict.fromkeys(e for c in ordered for e in c.provenance.episodes)), spans
        )

    def tags(self) -> tuple[str, ...]:
        """The tags of all claims, those of the words first."""
        return tuple(dict.fromkeys(t for c in (self.words, *self.claims) for t in c.tags))[:_TAGS_KEPT]


def derive(claims: Iterable[Claim], judge: Judge) -> list[Derived]:
    """The facts that these claims come to, in the order in which they begin."""
    known = list(claims)
    sweep = _Sweep(judge, _by_hand([c for c in known if c.op not in _STATES]))
    late = []
    for claim in sorted((c for c in known if c.op in _STATES), key=order):
        mine = sweep.place(claim)
        if claim.target and not sweep.forced(claim, mine):
            late.append(claim)
    for claim in late:
        sweep.forced(claim, sweep.home[claim.id])
    for one, other in sweep.pairs:
        standing = [d for d in (one, other) if d.ended is None and d.hand.retracted is None and not d.held]
        if len(standing) == 2 and other not in one.against and one is not other:
            one.against.append(other)
            other.against.append(one)
    return sweep.found


def order(claim: Claim) -> tuple[datetime, str, int, datetime, str]:
    """The place of a claim among others: when it was said, then where in its session."""
    turn = claim.provenance.turns[0] if claim.provenance.turns else 0
    start = claim.provenance.spans[0].start if claim.provenance.spans else 0
    return (claim.at, claim.provenance.session or "", turn * 1_000_000 + min(start, 999_999), claim.recorded_at, claim.id)


def status(one: Derived, now: datetime) -> str:
    """What became of a fact (see `Fact`). One that ends at a later time still stands."""
    if one.held:
        return "quarantine"
    ended = one.ended
    if one.hand.retracted is not None or (ended is not None and not one.start <= now < ended):
        return "deprecated"
    if one.hand.archived:
        return "archived"
    disputed = any(other.rank >= one.rank for other in one.against)
    return "conflict" if disputed and not one.hand.confirmed else "active"


def _by_hand(steps: Sequence[Claim]) -> dict[str, Hand]:
    """What was done to each claim, in the order in which it was done."""
    out: dict[str, Hand] = {}
    for step in sorted(steps, key=lambda c: (c.recorded_at, c.id)):
        hand = out.setdefault(step.target or "", Hand())
        if step.op == "confirm":
            hand.confirmed += 1
        elif step.op == "end":
            hand.end = step.at
        elif step.op == "retract":
            hand.retracted = step.recorded_at
        elif step.op == "archive":
            hand.archived = True
        elif step.op == "restore":
            hand.end, hand.retracted, hand.archived, hand.restored = None, None, False, step.recorded_at
    return out


def _merge(into: Hand, more: Hand) -> None:
    into.end = more.end if into.end is None else into.end
    into.retracted = more.retracted if into.retracted is None else into.retracted
    into.restored = more.restored if into.restored is None else into.restored
    into.archived, into.confirmed = into.archived or more.archived, into.confirmed + more.confirmed


@dataclass
class _Sweep:
    """Claims taken in order: the facts so far, which of them stand against each other, and the fact of each claim."""

    judge: Judge
    hands: dict[str, Hand]
    found: list[Derived] = field(default_factory=list)
    pairs: list[tuple[Derived, Derived]] = field(default_factory=list)
    home: dict[str, Derived] = field(default_factory=dict)

    def place(self, claim: Claim) -> Derived:
        """The fact that a claim supports: one that is open and says the same, else a new one; what it contradicts ends, or is disputed."""
        alone = Derived([claim], self.hands.get(claim.id, Hand()))
        relations = [] if alone.held else self._relations(claim)
        same = [d for d, kind in relations if kind == "same"]
        mine = same[0] if same else alone
        if same:
            for other in same[1:]:
                self._join(mine, other)
            mine.claims = sorted([*mine.claims, claim], key=order)
            _merge(mine.hand, alone.hand)
        else:
            self.found.append(mine)
        self.home[claim.id] = mine
        for other, kind in relations:
            if kind in {"update", "conflict"}:
                self._against(other, mine, claim, sure=kind == "update")
        return mine

    def forced(self, claim: Claim, mine: Derived) -> bool:
        """Carries out what a claim was told to do to its target; False when the target is not known yet."""
        target = self.home.get(claim.target or "")
        if target is None:
            return False
        if claim.op in {"supersede", "conflict"} and target is not mine:
            self._against(target, mine, claim, sure=claim.op == "supersede")
        return True

    def _relations(self, claim: Claim) -> list[tuple[Derived, str]]:
        target = self.home.get(claim.target or "") if claim.op == "reinforce" else None
        open_ = [d for d in self.found if d.open(claim.at) and not d.held]
        return [(d, "same" if d is target else _relation(d, claim, self.judge)) for d in open_]

    def _join(self, mine: Derived, other: Derived) -> None:
        """Two that turn out to say the same become one."""
        mine.claims = sorted([*mine.claims, *other.claims], key=order)
        _merge(mine.hand, other.hand)
        self.found.remove(other)
        for d in self.found:
            d.by = mine if d.by is other else d.by
        self.pairs = [(mine if a is other else a, mine if b is other else b) for a, b in self.pairs]
        self.home.update({c.id: mine for c in other.claims})

    def _against(self, old: Derived, new: Derived, claim: Claim, *, sure: bool) -> None:
        """The new one ends the old one, or the two stand against each other."""
        kept = old.hand.restored is not None and claim.recorded_at <= old.hand.restored
        if old is new or old.end is not None:
            return
        if sure and not kept and RANK[claim.trust] >= old.rank:
            old.end, old.by = max(claim.at, old.start), new
        else:
            self.pairs.append((old, new))


def _relation(one: Derived, claim: Claim, judge: Judge) -> str:
    """What the newest claim of the fact that has to do with this one says of it."""
    for held in one.claims[: -_COMPARED - 1 : -1]:
        kind = judge(held, claim)
        if kind != "none":
            return kind
    return "none"


def _told_by_hand(claim: Claim) -> bool:
    return claim.op == "say" and not claim.provenance.spans and not claim.provenance.episodes

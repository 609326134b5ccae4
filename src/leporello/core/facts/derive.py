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
_TAGS_KEPT = 10


@dataclass(frozen=True)
class Hand:
    """What the steps done to a fact by hand come to; `restore` takes back what was before it."""

    end: datetime | None = None
    retracted: datetime | None = None
    archived: bool = False
    restored: tuple[datetime, str] | None = None
    confirmed: int = 0

    @classmethod
    def of(cls, steps: Iterable[Claim]) -> Hand:
        """In the order in which they were done. Done twice, an end holds from the earlier time, a retraction from the first."""
        end, retracted, archived, restored, confirmed = None, None, False, None, 0
        for step in sorted(steps, key=_done):
            if step.op == "confirm":
                confirmed += 1
            elif step.op == "end":
                end = step.at if end is None else min(end, step.at)
            elif step.op == "retract":
                retracted = retracted or step.recorded_at
            elif step.op == "archive":
                archived = True
            elif step.op == "restore":
                end, retracted, archived, restored = None, None, False, _done(step)
        return cls(end, retracted, archived, restored, confirmed)


@dataclass(eq=False)
class Derived:
    """One fact: the claims that support it, its time, what became of it, and how it relates to others.

    The claim that is trusted most gives its words. `held` is true while it is in quarantine.
    """

    claims: list[Claim]
    steps: list[Claim] = field(default_factory=list)
    held: bool = False
    hand: Hand = field(default_factory=Hand)
    end: datetime | None = None
    by: Derived | None = None
    against: list[Derived] = field(default_factory=list)

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

    def takes(self, claim: Claim) -> bool:
        """True if it still stands when the claim is made, as far as is known by then.

        What is told by hand is said when it is recorded, whatever time it is about.
        """
        said = claim.recorded_at if _told_by_hand(claim) else claim.at
        ended = self.hand.end if self.end is None else self.end if self.hand.end is None else min(self.end, self.hand.end)
        return (ended is None or claim.at < ended) and (self.hand.retracted is None or said < self.hand.retracted)

    @property
    def ended(self) -> datetime | None:
        """When it ceased to hold."""
        ends = [t for t in (self.end, self.hand.end) if t is not None]
        return max(self.start, min(ends)) if ends else None

    @property
    def standing(self) -> bool:
        """True if nothing has become of it: neither ended nor retracted, put aside or held in quarantine."""
        return self.ended is None and self.hand.retracted is None and not self.hand.archived and not self.held

    def confidence(self) -> float:
        """Of those who are trusted most, the surest; more by 0.1 for each further source as trusted, and for each confirmation."""
        best = max(RANK[c.trust] for c in self.claims)
        told = [c for c in self.claims if RANK[c.trust] == best]
        sources = {s.message for c in told for s in c.provenance.spans} | {c.id for c in told if c.op == "say" and _told_by_hand(c)}
        episodes = {e for c in told if not c.provenance.spans for e in c.provenance.episodes}
        further = max(0, len(sources) + len(episodes) - 1) + self.hand.confirmed
        return min(1.0, round(max(c.confidence for c in told) + REINFORCEMENT * further, 4))

    def provenance(self) -> Provenance:
        """All sources, those of the words first."""
        ordered = [self.words, *(c for c in self.claims if c is not self.words)]
        spans = tuple(dict.fromkeys(s for c in ordered for s in c.provenance.spans))
        turns = tuple(sorted({t for c in ordered for t in c.provenance.turns}))
        return Provenance(
            self.words.provenance.session, turns, tuple(dict.fromkeys(e for c in ordered for e in c.provenance.episodes)), spans
        )

    def tags(self) -> tuple[str, ...]:
        """The tags of all claims, those of the words first."""
        return tuple(dict.fromkeys(t for c in (self.words, *self.claims) for t in c.tags))[:_TAGS_KEPT]

    def take(self, claims: Iterable[Claim], steps: Iterable[Claim]) -> None:
        """More claims that say the same, and what was done to them."""
        self.claims = sorted([*self.claims, *claims], key=order)
        self.steps += steps
        self.hand = Hand.of(self.steps)


def derive(claims: Iterable[Claim], judge: Judge) -> list[Derived]:
    """The facts that these claims come to, in the order in which they begin."""
    known = list({c.id: c for c in claims}.values())
    steps: dict[str, list[Claim]] = {}
    for step in known:
        if step.op not in _STATES:
            steps.setdefault(step.target or "", []).append(step)
    sweep = _Sweep(judge, steps, _released(known, steps))
    late = []
    for claim in sorted((c for c in known if c.op in _STATES), key=order):
        mine = sweep.place(claim)
        if claim.target and not sweep.forced(claim, mine):
            late.append(claim)
    for claim in late:
        sweep.forced(claim, sweep.home[claim.id])
    for one, other in sweep.pairs:
        if one.standing and other.standing and other not in one.against and one is not other:
            one.against.append(other)
            other.against.append(one)
    return sweep.found


def order(claim: Claim) -> tuple[datetime, str, int, datetime, str]:
    """The place of a claim among others: when it was said, then where in its session, then when it was written."""
    turn = claim.provenance.turns[0] if claim.provenance.turns else 0
    start = claim.provenance.spans[0].start if claim.provenance.spans else 0
    return (claim.at, claim.provenance.session or "", turn * 1_000_000 + min(start, 999_999), claim.recorded_at, claim.id)


def status(one: Derived, now: datetime) -> str:
    """What became of a fact (see `Fact`). One that ends at a later time still stands, and so does one that is yet to begin."""
    if one.held:
        return "quarantine"
    ended = one.ended
    if one.hand.retracted is not None or (ended is not None and (ended <= now or ended <= one.start)):
        return "deprecated"
    if one.hand.archived:
        return "archived"
    disputed = any(other.rank >= one.rank for other in one.against)
    return "conflict" if disputed and not one.hand.confirmed else "active"


def folded(text: str) -> str:
    """Text without differences of case and spacing."""
    return " ".join(text.split()).casefold()


def _done(step: Claim) -> tuple[datetime, str]:
    return (step.recorded_at, step.id)


def _released(known: Sequence[Claim], steps: dict[str, list[Claim]]) -> frozenset[str]:
    """The suspicious words that were confirmed: whoever says them again, they are out of quarantine."""
    return frozenset(folded(c.text) for c in known if c.suspicion and any(s.op == "confirm" for s in steps.get(c.id, ())))


@dataclass
class _Sweep:
    """Claims taken in order: the facts so far, those of them that may still change, who stands against whom, the fact of each claim."""

    judge: Judge
    steps: dict[str, list[Claim]]
    released: frozenset[str]
    found: list[Derived] = field(default_factory=list)
    live: list[Derived] = field(default_factory=list)
    quarantine: dict[str, Derived] = field(default_factory=dict)
    pairs: list[tuple[Derived, Derived]] = field(default_factory=list)
    home: dict[str, Derived] = field(default_factory=dict)

    def place(self, claim: Claim) -> Derived:
        """The fact that a claim supports: one that is open and says the same, else a new one; what it contradicts ends, or is disputed."""
        if claim.suspicion and folded(claim.text) not in self.released:
            return self._held(claim)
        relations = self._relations(claim)
        same = [d for d, kind in relations if kind == "same"]
        done = self.steps.get(claim.id, ())
        if same:
            mine = same[0]
            for other in same[1:]:
                self._join(mine, other)
            mine.take([claim], done)
        else:
            mine = Derived([claim], list(done), hand=Hand.of(done))
            self.found.append(mine)
            self.live.append(mine)
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
        if claim.op == "reinforce" and target is not mine and target.takes(claim) and not (target.held or mine.held):
            if mine.takes(claim):
                self._join(target, mine)
        elif claim.op in {"supersede", "conflict"} and target is not mine and not (target.held or mine.held):
            self._against(target, mine, claim, sure=claim.op == "supersede")
        return True

    def _held(self, claim: Claim) -> Derived:
        """Quarantine: nothing follows from it, and the same words are there once."""
        done = self.steps.get(claim.id, ())
        key = folded(claim.text)
        mine = self.quarantine.get(key)
        if mine is not None and mine.takes(claim):
            mine.take([claim], done)
        else:
            mine = self.quarantine[key] = Derived([claim], list(done), True, Hand.of(done))
            self.found.append(mine)
        self.home[claim.id] = mine
        return mine

    def _relations(self, claim: Claim) -> list[tuple[Derived, str]]:
        target = self.home.get(claim.target or "")
        told = {"reinforce": "same", "supersede": "update", "conflict": "conflict"}.get(claim.op, "")
        return [(d, told if d is target and told else _relation(d, claim, self.judge)) for d in self.live if d.takes(claim)]

    def _join(self, mine: Derived, other: Derived) -> None:
        """Two that turn out to say the same become one."""
        mine.take(other.claims, other.steps)
        if mine.end is None or (other.end is not None and other.end < mine.end):
            mine.end, mine.by = other.end, other.by
        self.found.remove(other)
        self.live = [d for d in self.live if d is not other]
        for d in self.found:
            d.by = mine if d.by is other else d.by
        self.pairs = [(mine if a is other else a, mine if b is other else b) for a, b in self.pairs]
        self.home.update({c.id: mine for c in other.claims})

    def _against(self, old: Derived, new: Derived, claim: Claim, *, sure: bool) -> None:
        """The new one ends the old one, or the two stand against each other."""
        if old is new or old.end is not None:
            return
        kept = old.hand.restored is not None and _done(claim) <= old.hand.restored
        rank = 3 if new.hand.confirmed else RANK[claim.trust]
        if sure and not kept and rank >= old.rank:
            old.end, old.by = max(claim.at, old.start), new
            self.live = [d for d in self.live if d is not old]
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
    return not claim.provenance.spans and not claim.provenance.episodes

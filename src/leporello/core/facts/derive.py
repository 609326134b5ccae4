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
    """What the steps done to a fact by hand come to; `restore` takes back what was before it.

    `ended` and `restored` are when and by which claim that was done, `aside` when it was first ended, retracted or archived, `chosen`
    each time at which it was confirmed before that. `faded` is when and by which claim maintenance put it aside, if
    no step brought it back.
    """

    end: datetime | None = None
    ended: tuple[datetime, str] | None = None
    retracted: datetime | None = None
    archived: bool = False
    restored: tuple[datetime, str] | None = None
    confirmed: int = 0
    chosen: tuple[datetime, ...] = ()
    aside: datetime | None = None
    faded: tuple[datetime, str] | None = None

    @classmethod
    def of(cls, steps: Iterable[Claim]) -> Hand:
        """In the order in which they were done. Done twice, an end holds from the earlier time, a retraction from the first."""
        end, ended, retracted, archived, restored, confirmed, aside = None, None, None, False, None, 0, None
        faded: tuple[datetime, str] | None = None
        chosen: tuple[datetime, ...] = ()
        for step in sorted(steps, key=_done):
            if step.op in {"confirm", "fade", "revive"}:
                faded = _done(step) if step.op == "fade" else None
                confirmed += step.op == "confirm"
                chosen = (*chosen, step.recorded_at) if aside is None and step.op == "confirm" else chosen
                continue
            aside = aside or step.recorded_at
            if step.op == "end":
                end, ended = step.at if end is None else min(end, step.at), _done(step)
            elif step.op == "retract":
                retracted = retracted or step.recorded_at
            elif step.op == "archive":
                archived = True
            elif step.op == "restore":
                end, ended, retracted, archived, restored, aside, faded = None, None, None, False, _done(step), None, None
        return cls(end, ended, retracted, archived, restored, confirmed, chosen, aside, faded)


@dataclass(eq=False)
class Derived:
    """One fact: the claims that support it, its time, what became of it, and how it relates to others.

    The claim that is trusted most gives its words. `held` is true while it is in quarantine. `end` is when another fact put an end to
    it (`by`), known since `known`; `by_hand` says when and by which claim, if that was done by hand.
    """

    claims: list[Claim]
    steps: list[Claim] = field(default_factory=list)
    held: bool = False
    hand: Hand = field(default_factory=Hand)
    end: datetime | None = None
    by: Derived | None = None
    known: datetime | None = None
    by_hand: tuple[datetime, str] | None = None
    against: list[Derived] = field(default_factory=list)

    @classmethod
    def alone(cls, claims: Iterable[Claim]) -> Derived:
        """What these claims of one fact come to, but for how it relates to others."""
        known = list(claims)
        steps = [c for c in known if not c.text]
        return cls([c for c in known if c.text], steps=steps, hand=Hand.of(steps))

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
        """True if the claim may support it: it still stands when the claim is made, as far as is known by then.

        What was known when it was ended by hand was meant to end with it, whatever time it is about.
        """
        known = _done(claim)
        for end, on in ((self.end, self.by_hand), (self.hand.end, self.hand.ended)):
            if end is not None and claim.at >= end and (on is None or known > on):
                return False
        return self._said_in_time([claim])

    def open(self, claim: Claim) -> bool:
        """True if the claim may put an end to it, or dispute it."""
        return self.end is None and (self.hand.end is None or claim.at < self.hand.end) and self._said_in_time([claim])

    def fits(self, other: Derived) -> bool:
        """True if nothing of the one was said after the other was taken back."""
        return self._said_in_time(other.claims) and other._said_in_time(self.claims)

    def _said_in_time(self, claims: Iterable[Claim]) -> bool:
        return self.hand.retracted is None or all(_said(c) < self.hand.retracted for c in claims)

    @property
    def ended(self) -> datetime | None:
        """When it ceased to hold."""
        ends = [t for t in (self.end, self.hand.end) if t is not None]
        return max(self.start, min(ends)) if ends else None

    @property
    def standing(self) -> bool:
        """True if nothing has become of it: neither ended nor retracted, put aside or held in quarantine."""
        return self.ended is None and self.hand.retracted is None and not self.archived and not self.held

    @property
    def archived(self) -> bool:
        """True if it was put aside, by hand or by maintenance."""
        return self.hand.archived or self.faded

    @property
    def faded(self) -> bool:
        """True if it was put aside by maintenance, and not by hand; what is said again after that is back."""
        faded = self.hand.faded
        return not self.hand.archived and faded is not None and all(_done(c) <= faded for c in self.told)

    @property
    def told(self) -> list[Claim]:
        """The claims of those who are trusted most."""
        best = max(RANK[c.trust] for c in self.claims)
        return [c for c in self.claims if RANK[c.trust] == best]

    def confidence(self) -> float:
        """Of those who are trusted most, the surest; more by 0.1 for each further source as trusted, and for each confirmation."""
        raised = sum(n for _, n, _ in self.raised())
        return min(1.0, round(max(c.confidence for c in self.told) + REINFORCEMENT * raised, 4))

    def raised(self) -> list[tuple[datetime, int, bool]]:
        """When the store learned of further sources as trusted, and of confirmations, and of how many: what raises confidence.

        True for what a user said in a conversation: that cannot be repeated at will, as can what is told or confirmed by hand, or by an agent.
        """
        seen: set[str] = set()
        out = [(s.recorded_at, 1, False) for s in self.steps if s.op == "confirm"]
        for claim in sorted(self.told, key=_done):
            where = claim.provenance
            sources = {s.message for s in where.spans} | set(() if where.spans else where.episodes)
            sources |= {claim.id} if claim.op == "say" and _told_by_hand(claim) else set()
            fresh = len(sources - seen)
            more = fresh if seen else max(0, fresh - 1)
            seen |= sources
            out += [(claim.recorded_at, more, claim.trust == "user" and bool(where.spans))] if more else []
        return sorted(out)

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
    told: dict[str, list[Claim]] = {}
    for step in sorted(known, key=_done):
        if step.op not in _STATES:
            steps.setdefault(step.target or "", []).append(step)
        elif step.target:
            told.setdefault(step.target, []).append(step)
            told.setdefault(_doer(step), []).append(step)
    sweep = _Sweep(judge, steps, told, _released(known, steps))
    for claim in sorted((c for c in known if c.op in _STATES and c.text), key=order):
        sweep.place(claim)
    _decide(sweep.pairs)
    for one, other, _ in sweep.pairs:
        if one is not other and one.standing and other.standing and other not in one.against:
            one.against.append(other)
            other.against.append(one)
    return sweep.found


def _decide(pairs: Iterable[tuple[Derived, Derived, datetime]]) -> None:
    """A user who confirms one of two that stand against each other decides: the other ends then, whatever becomes of the first later.

    Only what was there to decide between: what was said, disputed or brought back after the confirmation is in conflict again.
    """
    found = [
        (at, n, w, o) for n, (a, b, since) in enumerate(pairs) for w, o in ((a, b), (b, a)) if (at := _chosen(w, o, since)) is not None
    ]
    for at, _, winner, loser in sorted(found, key=lambda f: f[:2]):
        end = max(at, loser.start)
        if loser.end is None or (loser.known is not None and at < loser.known and end < loser.end):
            loser.end, loser.by, loser.known, loser.by_hand = end, winner, at, None


def _chosen(winner: Derived, loser: Derived, since: datetime) -> datetime | None:
    """When the winner was first confirmed of two that stood against each other by then."""
    if winner is loser or loser.hand.confirmed or loser.held or winner.held:
        return None
    back = [d.hand.restored[0] for d in (winner, loser) if d.hand.restored]
    known = max(since, *(c.recorded_at for c in loser.claims), *back)
    at = next((at for at in winner.hand.chosen if at >= known), None)
    aside = loser.hand.aside
    return None if at is not None and aside is not None and aside <= at else at


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
    if one.archived:
        return "archived"
    disputed = any(other.rank >= one.rank for other in one.against)
    return "conflict" if disputed and not one.hand.confirmed else "active"


def folded(text: str) -> str:
    """Text without differences of case and spacing."""
    return " ".join(text.split()).casefold()


def _doer(step: Claim) -> str:
    """The claim of the fact that acts on the target's: the step itself, or if it brings no statement the one that it names."""
    return step.id if step.text else step.source


def _told_by_hand(claim: Claim) -> bool:
    return not claim.provenance.spans and not claim.provenance.episodes


def _said(claim: Claim) -> datetime:
    """When it was said: if told by hand, when it was recorded, whatever time it is about."""
    return claim.recorded_at if _told_by_hand(claim) else claim.at


def _done(step: Claim) -> tuple[datetime, str]:
    return (step.recorded_at, step.id)


def _released(known: Sequence[Claim], steps: dict[str, list[Claim]]) -> frozenset[str]:
    """The suspicious words that were confirmed: whoever says them again, they are out of quarantine."""
    return frozenset(folded(c.text) for c in known if c.suspicion and any(s.op == "confirm" for s in steps.get(c.id, ())))


@dataclass
class _Sweep:
    """Claims taken in order: the facts so far, those of them that may still change, who stands against whom, the fact of each claim.

    `steps` is what was done by hand to the fact of a claim; `told` is which other fact it was told to act on, or to be acted on by.
    """

    judge: Judge
    steps: dict[str, list[Claim]]
    told: dict[str, list[Claim]]
    released: frozenset[str]
    found: list[Derived] = field(default_factory=list)
    live: list[Derived] = field(default_factory=list)
    quarantine: dict[str, Derived] = field(default_factory=dict)
    pairs: list[tuple[Derived, Derived, datetime]] = field(default_factory=list)
    home: dict[str, Derived] = field(default_factory=dict)

    def place(self, claim: Claim) -> None:
        """Finds the fact that a claim supports: one that is open and says the same, else a new one; what it contradicts ends, or is disputed.

        What it was told to do to another fact, it does as soon as both are there.
        """
        if claim.suspicion and folded(claim.text) not in self.released:
            self._hold(claim)
            return
        done = self.steps.get(claim.id, ())
        mine = Derived([claim], list(done), hand=Hand.of(done))
        relations = self._relations(claim)
        same = [d for d, kind in relations if kind == "same" and d.takes(claim) and d.fits(mine)]
        if same:
            mine = same[0]
            mine.take([claim], done)
            for other in same[1:]:
                if mine.fits(other):
                    self._join(mine, other)
        else:
            self.found.append(mine)
            self.live.append(mine)
        self.home[claim.id] = mine
        for other, kind in relations:
            if kind in {"update", "conflict"} and other.open(claim):
                self._against(other, mine, claim, sure=kind == "update")
        for step in self.told.get(claim.id, ()):
            if _doer(step) in self.home and step.target in self.home:
                self._act(step, self.home[_doer(step)], self.home[step.target])

    def _act(self, step: Claim, mine: Derived, target: Derived) -> None:
        """Carries out what a fact was told to do to another."""
        if target is mine or target.held or mine.held:
            return
        if step.op == "reinforce" and target.end is None and mine.end is None:
            self._join(target, mine)
        elif step.op in {"supersede", "conflict"}:
            self._against(target, mine, step, sure=step.op == "supersede")

    def _hold(self, claim: Claim) -> None:
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

    def _relations(self, claim: Claim) -> list[tuple[Derived, str]]:
        """How the claim relates to what is open: as the judge says, except to facts about which it was told."""
        told: dict[int, str] = {}
        for step in self.told.get(claim.id, ()):
            other = self.home.get((step.target if _doer(step) == claim.id else _doer(step)) or "")
            if other is not None:
                told[id(other)] = "same" if step.op == "reinforce" and step is claim else "none"
        return [(d, told.get(id(d)) or _relation(d, claim, self.judge)) for d in self.live if d.open(claim) or d.takes(claim)]

    def _join(self, mine: Derived, other: Derived) -> None:
        """Two that turn out to say the same become one."""
        mine.take(other.claims, other.steps)
        if mine.end is None or (other.end is not None and other.end < mine.end):
            mine.end, mine.by, mine.known, mine.by_hand = other.end, other.by, other.known, other.by_hand
        self.found.remove(other)
        self.live = [d for d in self.live if d is not other]
        for d in self.found:
            d.by = mine if d.by is other else d.by
        self.pairs = [(mine if a is other else a, mine if b is other else b, since) for a, b, since in self.pairs]
        self.home.update({c.id: mine for c in other.claims})

    def _against(self, old: Derived, new: Derived, claim: Claim, *, sure: bool) -> None:
        """The new one ends the old one, or the two stand against each other."""
        if old is new or old.end is not None:
            return
        kept = old.hand.restored is not None and _done(claim) <= old.hand.restored
        rank = 3 if new.hand.confirmed else RANK[claim.trust]
        if sure and not kept and rank >= old.rank:
            by_hand = claim.target is not None and _told_by_hand(claim)
            old.end, old.by, old.known = max(new.start if by_hand else claim.at, old.start), new, claim.recorded_at
            if by_hand:
                old.by_hand = _done(claim)
            else:
                self.live = [d for d in self.live if d is not old]
        else:
            self.pairs.append((old, new, claim.recorded_at))


def _relation(one: Derived, claim: Claim, judge: Judge) -> str:
    """What the newest claim of the fact that has to do with this one says of it."""
    for held in one.claims[: -_COMPARED - 1 : -1]:
        kind = judge(held, claim)
        if kind != "none":
            return kind
    return "none"

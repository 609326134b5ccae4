"""What was true then, and what was believed then: against a plain list of what happened, at every instant on both axes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import leporello
from leporello.core.times import from_micros, instant, micros
from leporello.errors import BadTime, BadValue, NotFound
from leporello.flows import learn as flow
from leporello.memory import Memory, Scoped
from leporello.records import Fact, Span
from leporello.testing import ManualClock

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
FIRST = datetime.min.replace(tzinfo=UTC)
LAST = datetime.max.replace(tzinfo=UTC)
TICK = timedelta(microseconds=1)
WORDS = (
    "zorbin quell havrik", "mindle oprax tusk", "yaro pellin grivet", "snoot kaldra imp", "wexel dorn faruq", "bramble okto siv", "lumo crint dapple",
    "hesk varo nimbal", "quarn eldo pivvy", "tolda brisk ummer", "gavot jinn sorrel", "plim rusk ondra", "kezzo wick alpin", "durv tamsin oxbow",
    "fenk lorro zissel", "crovat nool peb", "aster umbrik dole", "jovik tarn elm", "sedda prool wist", "moxen garb lyre",
)  # fmt: skip
"""Statements that no rule relates to one another."""


@contextmanager
def opened() -> Iterator[tuple[Memory, ManualClock]]:
    clock = ManualClock(START)
    with leporello.open(":memory:", embedder="hash", clock=clock) as mem:
        yield mem, clock


# --- the model ---------------------------------------------------------------------------------------------------------


@dataclass
class Event:
    """Something that was done, when, and to which fact. `key` is the number of the fact."""

    op: str
    at: datetime
    key: int
    other: int = -1
    start: datetime = START


@dataclass
class State:
    """A fact as it is believed to be."""

    text: str
    start: datetime
    base: tuple[datetime, datetime]
    end: datetime | None = None
    by: int = -1
    retracted: datetime | None = None
    archived: bool = False
    confirmed: bool = False
    conflicts: frozenset[int] = frozenset()

    def standing(self) -> bool:
        return self.end is None and self.retracted is None and not self.archived

    def holds(self, as_of: datetime | None, now: datetime) -> bool:
        """Plain reading of both axes."""
        if self.retracted is not None or (self.archived and self.end is None):
            return False
        if as_of is None:
            return self.end is None or (now < self.end and self.start < self.end)
        return self.start <= as_of and (self.end is None or as_of < self.end)


@dataclass
class Model:
    """A log of events, read from its beginning each time."""

    texts: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    erased: set[int] = field(default_factory=set)

    def at(self, moment: datetime) -> dict[int, State]:
        """What was believed at a moment."""
        held: dict[int, State] = {}
        for e in self.events:
            if e.op == "learn" and e.at <= moment and e.key not in self.erased:
                if e.key not in held:
                    held[e.key] = State(self.texts[e.key], e.start, (e.start, e.at))
                held[e.key].start = min(held[e.key].start, e.start)
        for key, state in held.items():
            self._of(state, held, [e for e in self.events if e.at <= moment and e.key == key])
        for key, state in held.items():
            state.conflicts = frozenset(o for o in state.conflicts if held[o].standing()) if state.standing() else frozenset()
            for other in state.conflicts:
                held[other].conflicts |= {key}
        return held

    def _of(self, state: State, held: dict[int, State], events: list[Event]) -> None:
        ends: list[datetime] = []
        tried: list[Event] = []
        lost: list[Event] = []
        decided: list[Event] = []
        for e in events:
            if e.op == "end":
                ends.append(e.start)
            elif e.op in {"supersede", "decide"}:
                (tried if e.op == "supersede" else decided).extend([e] if e.other in held else [])
            elif e.op == "retract":
                state.retracted = state.retracted or e.at
            elif e.op == "restore":
                ends, lost, tried, decided = [], lost + tried, [], []
                state.retracted, state.archived = None, False
            else:
                state.archived, state.confirmed = state.archived or e.op == "archive", state.confirmed or e.op == "confirm"
        by = [(max(e.at, state.start), 1, e.other) for e in decided[:1]]
        if tried:
            first = min(tried, key=lambda e: (max(state.base, held[e.other].base), e.at))
            by.append((max(held[first.other].start, state.start), 0, first.other))
            lost += [e for e in lost if max(state.base, held[e.other].base) < max(state.base, held[first.other].base)]
        if by:
            state.by = min(by)[2]
        if ends or by:
            state.end = max(state.start, min([*ends, *(end for end, _, _ in by)]))
        state.conflicts = frozenset(e.other for e in lost)

    def erase(self, key: int) -> None:
        """The fact and what was done to it or for it; what it put an end to stays ended."""
        now = self.at(LAST)
        for old, state in now.items():
            if state.by == key:
                of_old = [e for e in self.events if e.key == old]
                undone = max((n for n, e in enumerate(of_old, 1) if e.op == "restore"), default=0)
                known = min(e.at for e in of_old[undone:] if e.op in {"supersede", "decide"} and e.other == key)
                self.events.append(Event("end", self._since(old, key, known), old, start=state.end or known))
        self.events = sorted((e for e in self.events if key not in {e.key, e.other}), key=lambda e: e.at)
        self.erased.add(key)

    def _since(self, old: int, by: int, known: datetime) -> datetime:
        """From when on it was last believed that the one ended the other."""
        moments = sorted({e.at for e in self.events if e.at >= known})
        since = known
        for before, after in zip([known, *moments], moments, strict=False):
            if self.at(after)[old].by == by != self.at(before)[old].by:
                since = after
        return since

    def moments(self) -> list[datetime]:
        """Every boundary on either axis, and one microsecond around each."""
        edges = {FIRST, LAST, START}
        for e in self.events:
            edges |= {e.at, e.start}
        for state in self.at(LAST).values():
            edges |= {state.start, *([state.end] if state.end else [])}
        around = {
            t + d
            for t in edges
            for d in (-TICK, timedelta(), TICK)
            if not (t == FIRST and d < timedelta()) and not (t == LAST and d > timedelta())
        }
        return sorted(around)


# --- the histories -----------------------------------------------------------------------------------------------------

JUMPS = (TICK, timedelta(seconds=1), timedelta(days=40), timedelta(days=1_500))


@dataclass
class Play:
    """One store and one model to which the same is done."""

    user: Scoped
    clock: ManualClock
    model: Model = field(default_factory=Model)
    ids: dict[int, str] = field(default_factory=dict)

    def pick(self, draw: st.DrawFn) -> int | None:
        live = sorted(self.ids)
        return draw(st.sampled_from(live)) if live else None

    def fresh(self) -> int:
        self.model.texts.append(WORDS[len(self.model.texts)])
        return len(self.model.texts) - 1

    def learn(self, at: datetime | None) -> None:
        key = self.fresh()
        fact = self.user.learn(self.model.texts[key], at=at)
        self.ids[key] = fact.id
        self.model.events.append(Event("learn", self.clock.now(), key, start=at or self.clock.now()))

    def again(self, key: int, at: datetime | None) -> None:
        """The same words, while nothing was ever done to the fact."""
        if all(e.op in {"learn", "archive", "confirm"} for e in self.model.events if e.key == key):
            assert self.user.learn(self.model.texts[key].upper(), at=at).id == self.ids[key]
            self.model.events.append(Event("learn", self.clock.now(), key, start=at or self.clock.now()))

    def contradict(self, key: int, other: int | None, *, text: bool) -> None:
        now = self.clock.now()
        state = self.model.at(now)[key]
        if other is None and not text:
            if state.archived and state.start > now:
                return
            self.user.contradict(self.ids[key])
            self.model.events.append(Event("end", now, key, start=max(now, state.start)))
        elif state.retracted is not None:
            return  # what was never so is not replaced
        elif text:
            new = self.fresh()
            ended = self.user.contradict(self.ids[key], by=self.model.texts[new])
            self.ids[new] = next(f.id for f in self.user.facts(status="all") if f.text == self.model.texts[new])
            assert ended.id == self.ids[key]
            self.model.events.append(Event("learn", now, new, start=now))
            self.model.events.append(Event("supersede", now, key, new))
        elif other is not None:
            self._by(key, other, now)

    def _by(self, key: int, other: int, now: datetime) -> None:
        there = self.model.at(now)[other]
        if self.model.at(now)[key].archived and max(there.start, self.model.at(now)[key].start) > now:
            return  # put aside until it ends: that is for `status` to say
        if other == key or there.retracted is not None or there.end == there.start:
            with pytest.raises(BadValue):
                self.user.contradict(self.ids[key], by=self.ids[other])
            return
        self.user.contradict(self.ids[key], by=self.ids[other])
        if there.by == key:
            self.model.events.append(Event("restore", now, other))
        self.model.events.append(Event("supersede", now, key, other))

    def hand(self, op: str, key: int) -> None:
        stored = self.user.get(self.ids[key])
        assert isinstance(stored, Fact)
        if op in {"archive", "confirm"} and stored.status == "deprecated":
            with pytest.raises(BadValue):
                getattr(self.user, op)(self.ids[key])
        elif op != "archive" or stored.valid_to is None:  # what ends at a later time: see `_by`
            held = self.model.at(self.clock.now())
            decided = [o for o in sorted(held[key].conflicts) if not held[o].confirmed] if op == "confirm" else []
            getattr(self.user, op)(self.ids[key])
            self.model.events.append(Event(op, self.clock.now(), key))
            self.model.events += [Event("decide", self.clock.now(), other, key) for other in decided]

    def erase(self, key: int) -> None:
        self.user.erase(self.ids.pop(key))
        self.model.erase(key)


@st.composite
def plays(draw: st.DrawFn) -> list[tuple[str, object]]:
    """Operations as data, so that a failure prints them."""
    ops = ["learn", "learn", "again", "end", "text", "by", "by", "retract", "restore", "archive", "confirm", "erase"]
    return [("learn", None), *((draw(st.sampled_from(ops)), None) for _ in range(draw(st.integers(3, 11))))]


def times(draw: st.DrawFn, play: Play) -> datetime | None:
    """None, or an instant on, beside or far from a boundary."""
    chosen = draw(st.sampled_from(["now", "edge", "edge", "any"]))
    if chosen == "now":
        return None
    if chosen == "edge":
        return draw(st.sampled_from(play.model.moments()))
    return draw(st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999_999), timezones=st.just(UTC)))


def step(draw: st.DrawFn, play: Play, op: str) -> None:
    key = play.pick(draw)
    if op == "learn" or key is None:
        play.learn(times(draw, play))
    elif op == "again":
        play.again(key, times(draw, play))
    elif op in {"end", "text", "by"}:
        play.contradict(key, play.pick(draw) if op == "by" else None, text=op == "text")
    elif op == "erase":
        play.erase(key)
    else:
        play.hand(op, key)


def as_state(fact: Fact, keys: dict[str, int]) -> State:
    """A fact of the store as the model says it. Links to erased facts would be no keys."""
    return State(
        fact.text.lower(), fact.valid_from or START, (START, START), fact.valid_to, keys[fact.superseded_by] if fact.superseded_by else -1,
        fact.retracted_at, conflicts=frozenset(keys[c] for c in fact.conflicts),
    )  # fmt: skip


def bare(state: State) -> State:
    return replace(state, base=(START, START), archived=False, confirmed=False)


def compare(play: Play) -> None:
    """Every way to ask, at every boundary of both axes."""
    keys = {id_: key for key, id_ in play.ids.items()}
    moments = play.model.moments()
    believed = [t for t in moments if t >= START - TICK]
    for told in [*believed, None]:
        now = told or play.clock.now()
        model = play.model.at(now)
        stored = play.user.facts(status="all") if told is None else tuple(f for f in _all(play.user, told))
        assert {keys[f.id]: as_state(f, keys) for f in stored} == {k: bare(s) for k, s in model.items()}, told
        for f in stored:
            state = model[keys[f.id]]
            if state.standing():
                doubt = bool(state.conflicts) and not state.confirmed
                assert f.status in ({"conflict"} if doubt else {"active", "fading"})
            assert (f.status == "archived") <= state.archived
            assert set(keys[i] for i in f.supersedes) == {k for k, s in model.items() if s.by == keys[f.id]}
        for as_of in [None, *moments[len(believed) % 3 :: max(1, len(moments) // 8)]]:
            found = {keys[f.id] for f in play.user.facts(as_of=as_of, believed_at=told)}
            assert found == {k for k, s in model.items() if s.holds(as_of, now)}, (as_of, told)
    _by_other_ways(play, keys, believed)


def _all(user: Scoped, told: datetime) -> tuple[Fact, ...]:
    return user.facts(status="all", believed_at=told)


def _by_other_ways(play: Play, keys: dict[str, int], believed: list[datetime]) -> None:
    """`recall`, `get`, `explain` and `history` say the same as `facts`."""
    for told in believed[:: max(1, len(believed) // 5)]:
        model = play.model.at(told)
        for as_of in (None, told):
            hits = play.user.recall(" ".join(WORDS), k=100, kinds=("fact",), as_of=as_of, believed_at=told).hits
            assert {keys[h.record.id] for h in hits} == {k for k, s in model.items() if s.holds(as_of, told)}, (as_of, told)
        then = {f.id: f for f in _all(play.user, told)}
        for id_ in keys:
            if id_ in then:
                explained = play.user.explain(id_, believed_at=told)
                assert explained.record == then[id_] and all(c.recorded_at <= told for c in explained.operations)
                assert all(h.at <= told for h in explained.history)
            else:
                with pytest.raises(NotFound):
                    play.user.explain(id_, believed_at=told)
    for id_ in keys:
        now = play.user.get(id_)
        assert now == next(f for f in play.user.facts(status="all") if f.id == id_)
        rows = play.user.history(id_)
        assert rows[0].action == "add" and rows[0].was is None and all(r.was is not None for r in rows[1:])
        assert [r.at for r in rows] == sorted(r.at for r in rows) and rows[0].at == now.recorded_at
        for before, row in zip(rows, rows[1:], strict=False):
            if before.at < row.at:
                assert row.was == next(f for f in _all(play.user, row.at - TICK) if f.id == id_)


def believed(data: st.DataObject) -> None:
    """Random histories of learning, contradicting, taking back, restoring, putting aside and erasing."""
    draw = data.draw
    with opened() as (mem, clock):
        play = Play(mem.scope(user="ann"), clock)
        for op, _ in draw(plays()):
            clock.advance(draw(st.sampled_from(JUMPS)))
            step(draw, play, op)
        clock.advance(TICK)
        compare(play)


@settings(max_examples=100, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(st.data())
def test_what_was_believed_at_every_instant(data: st.DataObject) -> None:
    believed(data)


@pytest.mark.torture
@settings(max_examples=2_000, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_what_was_believed_at_every_instant_at_length(data: st.DataObject) -> None:
    believed(data)


# --- values that follow one another by the rules -----------------------------------------------------------------------


@dataclass(frozen=True)
class Said:
    """One statement: the value of a key, from when on, when it was learned, and the message that holds it."""

    key: int
    value: int
    at: datetime
    learned: datetime
    message: str

    @property
    def text(self) -> str:
        return f"The value of k{self.key} is {self.value}."


def periods(said: list[Said], moment: datetime) -> set[tuple[str, datetime, datetime | None]]:
    """What these statements come to by a moment: for each key, its values one after the other."""
    out: set[tuple[str, datetime, datetime | None]] = set()
    for key in {s.key for s in said}:
        rows: list[tuple[str, datetime, datetime | None]] = []
        for s in sorted((s for s in said if s.key == key and s.learned <= moment), key=lambda s: (s.at, s.learned)):
            if rows and rows[-1][0] == s.text:
                continue
            if rows:
                rows[-1] = (*rows[-1][:2], s.at)
            rows.append((s.text, s.at, None))
        out |= set(rows)
    return out


def tell(user: Scoped, clock: ManualClock, key: int, value: int, at: datetime | None) -> Said:
    """Learns a statement from a message of its own, which can be erased."""
    text = f"The value of k{key} is {value}."
    message = user.remember(f"By the way: {text}", at=START)
    start = at or clock.now()
    flow.learn(user._ports, user.scope, flow.told(text, at=start, spans=(Span(message.id, 12, 12 + len(text), 1),)))
    return Said(key, value, start, clock.now(), message.id)


def updated(data: st.DataObject) -> None:
    """Statements in any order of time; some of their messages are erased: then they were never said, at any instant."""
    draw = data.draw
    with opened() as (mem, clock):
        user = mem.scope(user="ann", session="s")
        said: list[Said] = []
        for _ in range(draw(st.integers(2, 9))):
            clock.advance(draw(st.sampled_from(JUMPS)))
            edges = sorted({FIRST, LAST, clock.now(), *(s.at + d for s in said if FIRST < s.at < LAST for d in (-TICK, timedelta(), TICK))})
            if said and draw(st.integers(0, 4)) == 0:
                gone = draw(st.sampled_from(said))
                user.erase(gone.message)
                said.remove(gone)
            else:
                said.append(tell(user, clock, draw(st.integers(1, 2)), draw(st.integers(5, 7)), draw(st.none() | st.sampled_from(edges))))
        clock.advance(TICK)
        boundaries = sorted(
            {t + d for s in said for t in (s.at, s.learned) if FIRST < t < LAST for d in (-TICK, timedelta(), TICK)} | {FIRST, LAST}
        )
        for moment in [*(t for t in boundaries if t >= START), clock.now()]:
            expected = periods(said, moment)
            stored = [f for f in user.facts(status="all", believed_at=moment) if f.retracted_at is None]
            assert {(f.text, f.valid_from, f.valid_to) for f in stored} == expected and len(stored) == len(expected), moment
            for as_of in boundaries[:: max(1, len(boundaries) // 8)]:
                found = sorted(f.text for f in user.facts(as_of=as_of, believed_at=moment))
                assert found == sorted(t for t, start, end in expected if start <= as_of and (end is None or as_of < end)), (as_of, moment)
            links = {f.id: f for f in stored}
            for f in stored:
                assert (f.superseded_by is None) == (f.valid_to is None)
                if f.superseded_by is not None:
                    assert links[f.superseded_by].valid_from == f.valid_to and f.id in links[f.superseded_by].supersedes


@settings(max_examples=100, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(st.data())
def test_updates_by_the_rules_at_every_instant(data: st.DataObject) -> None:
    updated(data)


@pytest.mark.torture
@settings(max_examples=2_000, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_updates_by_the_rules_at_every_instant_at_length(data: st.DataObject) -> None:
    updated(data)


# --- the bounds of time --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("edge", [FIRST, FIRST + TICK, LAST - TICK, LAST])
def test_the_first_and_the_last_instant(edge: datetime) -> None:
    """They are kept exactly, in a fact, as an end, and as a question."""
    assert from_micros(micros(edge)) == edge == instant(edge)
    with opened() as (mem, clock):
        ann = mem.scope(user="ann")
        fact = ann.learn(WORDS[0], at=edge)
        assert fact.valid_from == edge
        assert ann.facts(as_of=edge) == (fact,)
        if edge > FIRST:
            assert ann.facts(as_of=edge - TICK) == ()
        assert ann.facts() == (fact,) == ann.facts(believed_at=LAST) and ann.facts(believed_at=START - TICK) == ()
        clock.advance(TICK)
        ended = ann.contradict(fact.id)
        assert ended.valid_to == max(edge, clock.now())
        assert (ann.facts(as_of=edge) == (ended,)) == (edge < clock.now())
        assert ann.facts(as_of=LAST, believed_at=START) == (fact,)


def test_no_instant_is_before_the_first_or_after_the_last() -> None:
    for count in (micros(FIRST) - 1, micros(LAST) + 1):
        with pytest.raises(BadTime):
            from_micros(count)
    for text in ("0000-12-31", "10000-01-01T00:00:00Z"):
        with pytest.raises(BadTime):
            instant(text)

"""Traces and events: every field comes back, what is due comes in order, and all of it goes with its record."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from leporello.ports import Store, TraceRow
from leporello.records import Event, Fact, Scope
from leporello.testing.conformance.opened import OpenedStore
from leporello.testing.conformance.samples import AT, ENTRY, fact

S1 = Scope(user="ann", project="p")
OTHER = Scope("t2", "ann", None, "p")
SECOND = timedelta(seconds=1)


def made(store: Store, n: int, scope: Scope = S1, *, status: str = "active") -> list[Fact]:
    """Facts of a scope."""
    with store.write() as w:
        return [w.add_fact(fact(scope, text=f"Tea is at {i}.", status=status), ENTRY) for i in range(n)]


def row(of: Fact, **fields: Any) -> TraceRow:
    """A trace with every field set."""
    values: dict[str, Any] = {
        "trace": '{"first":-5,"recent":[7,5],"tail":0.1}', "level": 6_048_000_000_000_000, "since": 7, "importance": "high", "pinned": True,
        "expires": 9, "aside": 8, "due": 6,
    }  # fmt: skip
    return TraceRow(of.id, of.scope, "fact", **(values | fields))


class AgeRules(OpenedStore):
    """`put_traces`, `traces`, `due`, `crowded`, `add_events`, `events`, `runs`, `move_events`."""

    def test_a_trace_comes_back(self, store: Store) -> None:
        """With every field, for its tenant only; a second one takes its place."""
        (one,) = made(store, 1)
        bare = row(one, level=None, since=None, pinned=False, expires=None, aside=None, due=None)
        for held in (row(one), bare):
            with store.write() as w:
                w.put_traces([held])
            with store.read() as r:
                assert r.traces(S1, [one.id, "f_none"]) == {one.id: held}
                assert r.traces(OTHER, [one.id]) == {}

    def test_what_is_due_comes_in_order(self, store: Store) -> None:
        """By moment and id, a page at a time; what never falls due does not come."""
        facts = made(store, 5)
        with store.write() as w:
            w.put_traces([row(f, due=due) for f, due in zip(facts, (30, 10, None, 20, 10), strict=True)])
        with store.read() as r:
            wanted = sorted((t for t in r.traces(S1, [f.id for f in facts]).values() if t.due is not None), key=lambda t: (t.due, t.id))
            found, after = [], (-1, "")
            while page := r.due(S1, 25, after=after, k=2):
                found += page
                after = (page[-1].due or 0, page[-1].id)
            assert found == wanted[:3] and r.due(OTHER, 99, after=(-1, ""), k=9) == []

    def test_a_crowded_scope_is_known(self, store: Store) -> None:
        """Facts in use are counted, scope by scope; what is archived or deprecated is not."""
        facts = made(store, 3)
        made(store, 5, replace(S1, project="q"), status="archived")
        with store.write() as w:
            w.put_traces([row(f) for f in facts])
        with store.read() as r:
            assert [sorted(t.id for t in rows) for rows in r.crowded(S1, 2)] == [sorted(f.id for f in facts)]
            assert r.crowded(S1, 3) == [] and r.crowded(OTHER, 0) == []

    def test_events_of_a_kind_close_together_are_one(self, store: Store) -> None:
        """Counted from the last that was kept; of what is not there none is."""
        (one,) = made(store, 1)
        gap = 10_000_000
        told = [Event(one.id, kind, AT + n * SECOND) for n in (0, 9, 10, 25) for kind in ("used", "shown")]
        with store.write() as w:
            kept = w.add_events(S1, [*told, Event("f_none", "used", AT)], gap=gap)
            assert [e.at for e in kept if e.kind == "used"] == [AT, AT + 10 * SECOND, AT + 25 * SECOND]
        with store.read() as r:
            assert sorted(map(repr, r.events(S1, [one.id]))) == sorted(map(repr, kept)) and r.events(OTHER, [one.id]) == []

    def test_runs_and_moved_events(self, store: Store) -> None:
        """A run is known by what it archived; what happened to one record may turn out to have happened to another."""
        one, two = made(store, 2)
        first, second = Event(one.id, "archived", AT, "r_1"), Event(two.id, "archived", AT + SECOND, "r_2")
        with store.write() as w:
            w.add_events(S1, [first, second, Event(one.id, "restored", AT + SECOND, "r_1")])
            w.move_events(S1, two.id, one.id)
        with store.read() as r:
            assert [e.run for e in r.runs(S1)] == ["r_1", "r_2"] and [e.kind for e in r.runs(S1, "r_1")] == ["archived", "restored"]
            assert r.runs(S1, "r_2") == [replace(second, record=one.id)] and r.runs(OTHER) == [] and r.events(S1, [two.id]) == []

    def test_they_go_with_their_record(self, store: Store) -> None:
        """Erased is erased, for one record and for a scope."""
        one, two = made(store, 2)
        with store.write() as w:
            w.put_traces([row(one), row(two)])
            w.add_events(S1, [Event(one.id, "used", AT), Event(two.id, "used", AT)])
            assert w.erase([one])["events"] == 1
        with store.write() as w:
            assert list(w.traces(S1, [one.id, two.id])) == [two.id] and [e.record for e in w.events(S1, [one.id, two.id])] == [two.id]
            w.erase_scope(S1)
            assert w.traces(S1, [two.id]) == {} and w.events(S1, [two.id]) == []

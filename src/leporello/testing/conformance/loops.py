"""Agent loops: a row for exactly one session, what was spent by day, and what erasing takes of both."""

from __future__ import annotations

from leporello.ports import LoopRow, Store
from leporello.records import Scope
from leporello.testing.conformance.opened import OpenedStore
from leporello.testing.conformance.samples import ENTRY, NASTY, fact, say

S1, S2 = Scope(user="ann", session="s1"), Scope(user="ann", session="s2")
DAY, NEXT = "2026-01-05", "2026-01-06"
OTHERS = [
    Scope(user="ann"), Scope(session="s1"), Scope("t2", "ann", session="s1"), Scope(user="bob", session="s1"), S2,
    Scope(user="ann", project="p", session="s1"), Scope(user="Ann", session="s1"),
]  # fmt: skip


def row(name: str = "s1", *, shown: tuple[str, ...] = ()) -> LoopRow:
    """A row whose every value names it."""
    return LoopRow({"system": [name], "window": 9_000}, {"requests": 3, "pairs": {name: [[1, 2]]}}, {"memory": [name], "start": 4}, shown)


class LoopRules(OpenedStore):
    """`loop`, `put_loop`, `spent`, `add_spend`, and `erase` and `erase_scope` where they touch them."""

    def test_a_loops_row_comes_back(self, store: Store) -> None:
        """Every JSON value as it was, nasty texts too; a second row replaces the first; none is None."""
        with store.read() as r:
            assert r.loop(S1) is None
        nasty = {"texts": list(NASTY.values()), "by name": NASTY, "deep": [{"n": None, "t": True, "f": 1.5, "i": 2**53}]}
        for put in (LoopRow(nasty, nasty, nasty, ("m_1", "f_2")), LoopRow({}, {}, None), LoopRow({"a": 1}, {}, {})):
            with store.write() as w:
                w.put_loop(S1, put)
                assert w.loop(S1) == put
            with store.read() as r:
                assert r.loop(S1) == put

    def test_a_loops_row_is_of_exactly_one_session(self, store: Store) -> None:
        """No other scope sees it or writes over it, wider or narrower, of another user or tenant."""
        with store.write() as w:
            w.put_loop(S1, row())
        with store.read() as r:
            assert [r.loop(o) for o in OTHERS] == [None] * len(OTHERS)
        with store.write() as w:
            for i, other in enumerate(OTHERS):
                w.put_loop(other, row(str(i)))
        with store.read() as r:
            assert r.loop(S1) == row() and [r.loop(o) for o in OTHERS] == [row(str(i)) for i in range(len(OTHERS))]

    def test_a_loops_row_is_rolled_back(self, store: Store) -> None:
        """With the transaction that wrote it, and what it noted as spent."""
        with store.write() as w:
            w.put_loop(S1, row())
            w.add_spend(S1, DAY, tokens=1, micros=1)
        try:
            with store.write() as w:
                w.put_loop(S1, row("other"))
                w.add_spend(S1, DAY, tokens=1, micros=1)
                raise KeyError
        except KeyError:
            pass
        with store.read() as r:
            assert r.loop(S1) == row() and r.spent(S1, DAY) == (1, 1)

    def test_erasing_a_message_drops_its_sessions_view(self, store: Store) -> None:
        """The view may hold its words; settings and counts stay, and so do the views of other sessions."""
        (gone, _) = say(store, S1, "one", "two")
        say(store, S2, "three")
        with store.write() as w:
            w.put_loop(S1, row())
            w.put_loop(S2, row("s2", shown=("m_x",)))
            w.add_spend(S1, DAY, tokens=5, micros=6)
        with store.write() as w:
            w.erase([gone])
        with store.read() as r:
            assert r.loop(S1) == LoopRow(row().settings, row().tally, None)
            assert r.loop(S2) == row("s2", shown=("m_x",)) and r.spent(S1, DAY) == (5, 6)

    def test_erasing_a_record_drops_the_views_that_show_it(self, store: Store) -> None:
        """In whatever session of the tenant; a view that shows others stays."""
        with store.write() as w:
            kept, gone = w.add_fact(fact(Scope(user="ann")), ENTRY), w.add_fact(fact(Scope(user="ann"), "Coffee is at nine."), ENTRY)
            w.put_loop(S1, row(shown=(kept.id, gone.id)))
            w.put_loop(S2, row("s2", shown=(kept.id,)))
            w.put_loop(Scope("t2", "ann", session="s1"), row("t2", shown=(kept.id,)))
        with store.write() as w:
            w.erase([gone])
        with store.read() as r:
            assert r.loop(S1) == LoopRow(row().settings, row().tally, None)
            assert r.loop(S2) == row("s2", shown=(kept.id,))
            assert r.loop(Scope("t2", "ann", session="s1")) == row("t2", shown=(kept.id,))

    def test_a_scope_takes_its_loops_and_spending(self, store: Store) -> None:
        """Exactly what the scope covers."""
        for scope in (S1, *OTHERS):
            with store.write() as w:
                w.put_loop(scope, row(str(scope)))
                w.add_spend(scope, DAY, tokens=1, micros=2)
        taken = Scope(user="ann")
        with store.write() as w:
            w.erase_scope(taken)
        with store.read() as r:
            for scope in (S1, *OTHERS):
                assert r.loop(scope) == (None if taken.covers(scope) else row(str(scope))), scope
                assert taken.covers(scope) or r.spent(scope, DAY) != (0, 0)
            left = sum(not taken.covers(s) and s.tenant == "default" for s in OTHERS)
            assert r.spent(Scope(), DAY) == (left, 2 * left)
        assert store.check() == []

    def test_what_was_spent_is_summed_by_day(self, store: Store) -> None:
        """Over all sessions that the scope sees, on that day alone; an unknown scope and day spent nothing."""
        with store.write() as w:
            assert w.spent(S1, DAY) == (0, 0)
            w.add_spend(S1, DAY, tokens=10, micros=1)
            w.add_spend(S1, DAY, tokens=5, micros=2)
            w.add_spend(S2, DAY, tokens=100, micros=10)
            w.add_spend(S1, NEXT, tokens=1_000, micros=100)
            assert w.spent(S1, DAY) == (15, 3)
        with store.read() as r:
            assert r.spent(S1, DAY) == (15, 3) and r.spent(S2, DAY) == (100, 10)
            assert r.spent(Scope(user="ann"), DAY) == r.spent(Scope(), DAY) == (115, 13)
            assert r.spent(Scope(user="ann"), NEXT) == (1_000, 100)
            assert [r.spent(s, d) for s, d in ((S1, "2026-01-07"), (Scope(user="bob"), DAY), (Scope("t2"), DAY))] == [(0, 0)] * 3

    def test_spending_does_not_cross_tenants_and_users(self, store: Store) -> None:
        """The same names elsewhere are others."""
        scopes = [Scope(t, u, session="s") for t in ("default", "t2") for u in ("ann", "bob")]
        with store.write() as w:
            for i, scope in enumerate(scopes):
                w.add_spend(scope, DAY, tokens=10**i, micros=2 * 10**i)
        with store.read() as r:
            assert [r.spent(s, DAY) for s in scopes] == [(10**i, 2 * 10**i) for i in range(4)]
            assert [r.spent(Scope(t), DAY) for t in ("default", "t2")] == [(11, 22), (1_100, 2_200)]

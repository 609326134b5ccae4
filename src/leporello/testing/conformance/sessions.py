"""Sessions: made once, found by exactly their scope, with the counters that were put."""

from __future__ import annotations

from dataclasses import replace

from leporello.ports import Store
from leporello.records import Scope
from leporello.testing.conformance.opened import OpenedStore
from leporello.testing.conformance.samples import AT, say

S1 = Scope(user="ann", session="s1")


class SessionRules(OpenedStore):
    """`open_session`, `put_session`, `session`, `sessions`, `tenants`."""

    def test_a_new_store_is_empty(self, store: Store) -> None:
        """Nothing is there before something is written."""
        with store.read() as r:
            assert r.session(S1) is None
            assert r.sessions(Scope()) == []
            assert not any((r.episodes(Scope()), r.facts(Scope()), r.notes(Scope()), r.pins(Scope())))
            assert r.compact(S1) is None and r.record(Scope(), "m_1") is None and r.records(Scope(), [1, 2]) == {}
            assert set(r.counts(Scope()).values()) == {0}
            assert list(r.index(Scope(), (0, 0)).added) == []

    def test_a_session_is_made_once(self, store: Store) -> None:
        """Opening it again gives the same session; reading alone makes none."""
        with store.write() as w:
            made = w.open_session(S1)
            assert (made.scope, made.messages, made.turns, made.folded, made.closed_at) == (S1, 0, 0, 0, None)
            assert w.open_session(S1) == made
        with store.write() as w:
            assert w.open_session(S1).rid == made.rid
        with store.read() as r:
            assert [s.rid for s in r.sessions(Scope())] == [made.rid]

    def test_a_session_is_found_by_exactly_its_scope(self, store: Store) -> None:
        """A wider or narrower scope, another tenant, another spelling: no session."""
        with store.write() as w:
            w.open_session(S1)
        others = [
            Scope(session="s1"), Scope(user="ann"), Scope(user="ann", project="p", session="s1"), Scope("t2", "ann", session="s1"),
            Scope(user="Ann", session="s1"), Scope(user="ann", session="s1 "), Scope(user="ann", agent="s1"),
        ]  # fmt: skip
        with store.read() as r:
            assert [r.session(o) for o in others] == [None] * len(others)

    def test_counters_come_back(self, store: Store) -> None:
        """Every field of a session's state is kept."""
        with store.write() as w:
            state = w.open_session(S1)
            put = replace(
                state, messages=7, turns=4, answered=True, joinable=True, folded=3, folded_turn=2, episodes=2, stalled=1, closed_at=AT
            )
            w.put_session(put)
            assert w.session(S1) == put
        with store.read() as r:
            assert r.session(S1) == put
        with store.write() as w:
            w.put_session(replace(put, closed_at=None, answered=False))
        with store.read() as r:
            assert r.session(S1) == replace(put, closed_at=None, answered=False)

    def test_sessions_are_listed_oldest_first(self, store: Store) -> None:
        """In the order in which they were made, whatever their names."""
        names = ["zulu", "alpha", "mike"]
        for name in names:
            say(store, Scope(session=name), "x")
        say(store, Scope(session="zulu"), "again")
        with store.read() as r:
            assert [s.scope.session for s in r.sessions(Scope())] == names

    def test_messages_outside_a_session_have_one_too(self, store: Store) -> None:
        """A scope without a session name is a session of its own."""
        say(store, Scope(user="ann"), "x")
        with store.read() as r:
            state = r.session(Scope(user="ann"))
            assert state is not None and state.scope.session is None and state.messages == 1

    def test_every_tenant_is_listed(self, store: Store) -> None:
        """Tenants appear with their first record, under exactly their names."""
        names = ["default", "acme", "acme-corp", "a\x00", "\ud83d", "ACME"]
        for name in names:
            say(store, Scope(name), "x")
        with store.read() as r:
            assert sorted(r.tenants()) == sorted(names)

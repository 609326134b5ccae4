"""Transactions: everything or nothing, readers in their own snapshot, one writer after the other."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from leporello.ports import Change, Store, Writer
from leporello.records import Compact, Note, Provenance, Scope, Span
from leporello.testing.conformance.opened import OpenedStore
from leporello.testing.conformance.samples import AT, ENTRY, drafted, episode, fact, log, say, write

S1 = Scope(user="ann", session="s1")


class Broken(Exception):
    """What a test raises inside a write block."""


def everything(w: Writer, scope: Scope) -> None:
    """One of every write."""
    said = write(w, scope, [drafted({"role": "user", "content": t}) for t in ("one", "two")])
    made = w.add_episode(w.open_session(scope), episode(scope, said), ENTRY)
    w.put_episodes([replace(made, layer=3)])
    kept = w.add_fact(fact(scope, provenance=Provenance("s1", (1,), (), (Span(said[0].id, 0, 1, 1),))), ENTRY)
    w.put_fact(replace(kept, text="changed"), Change("change", "x", AT, "y"))
    w.put_note(Note(scope, "k", "v", AT))
    w.put_pin(scope, "pin", at=AT)
    w.put_compact(Compact(scope, "text", 1, (), 1, "scripted/1"), at=AT)


class TransactionRules(OpenedStore):
    """`read` and `write` as such."""

    def test_a_block_that_raises_leaves_nothing(self, store: Store) -> None:
        """Nothing of what it wrote, in no table, and the store goes on working."""
        with pytest.raises(Broken), store.write() as w:
            everything(w, S1)
            raise Broken
        with store.read() as r:
            assert r.sessions(Scope()) == [] and set(r.counts(Scope()).values()) == {0} and r.pins(Scope()) == []
            assert r.tenants() == [] and r.compact(S1) is None and list(r.index(Scope(), (0, 0)).added) == []
        with store.write() as w:
            everything(w, S1)
        assert len(log(store, S1)) == 2 and store.check() == []

    def test_an_erasure_that_is_undone_leaves_all(self, store: Store) -> None:
        """Rows, sources and index rows are as they were."""
        with store.write() as w:
            everything(w, S1)
        with store.read() as r:
            before = (r.facts(S1), r.episodes(S1), r.notes(S1), r.pins(S1), r.compact(S1), r.index(S1, (0, 0)), log(store, S1))
        with pytest.raises(Broken), store.write() as w:
            w.erase_scope(Scope(user="ann"))
            assert w.facts(S1) == []
            raise Broken
        with store.read() as r:
            assert (r.facts(S1), r.episodes(S1), r.notes(S1), r.pins(S1), r.compact(S1), r.index(S1, (0, 0)), log(store, S1)) == before

    def test_an_interrupt_rolls_back_too(self, store: Store) -> None:
        """Whatever is raised, not only errors."""
        with pytest.raises(KeyboardInterrupt), store.write() as w:
            everything(w, S1)
            raise KeyboardInterrupt
        assert log(store, S1) == []

    def test_a_reader_keeps_its_snapshot(self, store: Store) -> None:
        """What is committed after its first look it does not see; a new reader does."""
        say(store, S1, "one")
        with store.read() as r:
            state = r.session(S1)
            assert state is not None and state.messages == 1
            say(store, S1, "two")
            with store.write() as w:
                w.add_fact(fact(S1), ENTRY)
            again = r.session(S1)
            assert again == state and [m.text for m in r.messages(state)] == ["one"] and r.facts(S1) == [] and r.counts(S1)["messages"] == 1
        with store.read() as r:
            assert r.counts(S1)["messages"] == 2 and len(r.facts(S1)) == 1

    def test_a_reader_does_not_see_what_is_not_committed(self, store: Store) -> None:
        """And is not made to wait for it; the writer itself sees it."""
        found: list[int] = []

        def look() -> None:
            with store.read() as r:
                found.append(r.counts(S1)["messages"])

        say(store, S1, "one")
        with store.write() as w:
            write(w, S1, [drafted({"role": "user", "content": "two"})])
            assert w.counts(S1)["messages"] == 2
            thread = threading.Thread(target=look)
            thread.start()
            thread.join(20)
            assert found == [1], "a writer must not block a reader"
        look()
        assert found == [1, 2]

    def test_readers_may_be_nested_and_many(self, store: Store) -> None:
        """More than one at a time in one thread."""
        say(store, S1, "one")
        with store.read() as a, store.read() as b, store.read() as c:
            assert [x.counts(S1)["messages"] for x in (a, b, c)] == [1, 1, 1]

    def test_writers_take_turns(self, store: Store) -> None:
        """Threads that read, then write what they read plus one, lose nothing."""

        def work() -> None:
            for _ in range(15):
                say(store, S1, "x")

        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert [m.pos for m in log(store, S1)] == list(range(1, 61))

    def test_two_handles_on_one_store(self, path: str, store: Store) -> None:
        """Opened twice, each sees what the other committed, and they take turns."""
        other = self.open_store(path)
        try:
            threads = [threading.Thread(target=lambda s=s: [say(s, S1, "x") for _ in range(15)]) for s in (store, other)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            assert [m.pos for m in log(store, S1)] == [m.pos for m in log(other, S1)] == list(range(1, 31))
        finally:
            other.close()

"""The index rows: what was added and removed since a mark, so that an index in memory can follow."""

from __future__ import annotations

from collections.abc import Iterable

from leporello.ports import Entry, IndexRow, Mark, Store
from leporello.records import Scope
from leporello.testing.conformance.opened import OpenedStore
from leporello.testing.conformance.samples import ENTRY, drafted, episode, fact, say, write

S1 = Scope(user="ann", agent="coder", project="p", session="s1")
ANN = Scope(user="ann")


MICROS = 1_767_616_215_123_456
"""Microseconds from 1970 to `AT`."""


def kinds(rows: Iterable[IndexRow]) -> list[str]:
    """The kinds of rows in order."""
    return [row.kind for row in rows]


class IndexRules(OpenedStore):
    """`index`, `records`, `reindex`, and the rows that writes and erasures leave."""

    def test_rows_say_what_ranking_needs(self, store: Store) -> None:
        """Kind, place, times, numbers of the names, terms and vector as they were given."""
        said = say(store, S1, "one", "two")
        with store.write() as w:
            w.add_episode(w.open_session(S1), episode(S1, said), ENTRY)
            w.add_fact(fact(ANN), ENTRY)
        with store.read() as r:
            rows = list(r.index(Scope(), (0, 0)).added)
            names = r.names(S1)
        assert kinds(rows) == ["message", "message", "episode", "fact"]
        assert [row.pos for row in rows] == [1, 2, 0, 0]
        assert rows[0].log == rows[1].log > 0 and rows[2].log == rows[3].log == 0
        assert {(row.agent, row.project, row.session) for row in rows[:3]} == {(names["agent"], names["project"], names["session"])}
        assert (rows[3].agent, rows[3].project, rows[3].session) == (0, 0, 0)
        assert all((bytes(row.terms), bytes(row.vector)) == (ENTRY.terms, ENTRY.vector) for row in rows)
        assert [row.at for row in rows] == [MICROS] * 4
        assert [row.recorded - row.at for row in rows] == [0, 0, 1_000_000, 2_000_000]
        assert [row.rid for row in rows] == sorted({row.rid for row in rows})

    def test_a_mark_divides_old_from_new(self, store: Store) -> None:
        """Each row is added once, from whatever mark one goes on."""
        mark: Mark = (0, 0)
        seen: list[int] = []
        for i in range(4):
            say(store, S1, *(f"{i} {j}" for j in range(3)))
            with store.read() as r:
                delta = r.index(ANN, mark)
                assert len(delta.added) == 3 and list(delta.removed) == []
                seen += [row.rid for row in delta.added]
                mark = delta.mark
                again = r.index(ANN, mark)
                assert again.mark == mark and not again.added and not again.removed
        assert seen == sorted(set(seen))
        with store.read() as r:
            assert [row.rid for row in r.index(ANN, (0, 0)).added] == seen

    def test_a_snapshot_bounds_the_mark(self, store: Store) -> None:
        """A reader's mark covers what the reader sees, so that nothing committed meanwhile is skipped."""
        say(store, S1, "one")
        with store.read() as r:
            first = r.index(ANN, (0, 0))
            say(store, S1, "two")
            assert r.index(ANN, first.mark).mark == first.mark
        with store.read() as r:
            later = r.index(ANN, first.mark)
            assert len(later.added) == 1 and later.mark > first.mark

    def test_what_is_erased_leaves(self, store: Store) -> None:
        """As a removal for those who hold the row, and not at all for those who begin."""
        said = say(store, S1, "one", "two", "three")
        with store.read() as r:
            delta = r.index(ANN, (0, 0))
        with store.write() as w:
            w.erase([said[1], said[2]])
        with store.read() as r:
            after = r.index(ANN, delta.mark)
            assert not after.added and set(after.removed) == {delta.added[1].rid, delta.added[2].rid}
            assert [row.rid for row in r.index(ANN, (0, 0)).added] == [delta.added[0].rid]
            assert list(r.records(ANN, [row.rid for row in delta.added])) == [delta.added[0].rid]
        (fresh,) = say(store, S1, "four")
        with store.read() as r:
            more = r.index(ANN, after.mark)
            assert len(more.added) == 1 and not more.removed, "the newest row was erased; the next one is still new"
            assert (
                more.added[0].rid not in {row.rid for row in delta.added}
                and r.records(ANN, [more.added[0].rid])[more.added[0].rid].id == fresh.id
            )

    def test_users_have_their_own_rows(self, store: Store) -> None:
        """A user's rows and those of no user; all users' rows when the scope sets none; never another tenant's."""
        for scope in (ANN, Scope(user="bob"), Scope(project="p"), Scope("t2", "ann")):
            say(store, scope, "x")
        with store.read() as r:
            sizes = {
                s: len(r.index(s, (0, 0)).added) for s in (ANN, Scope(user="bob"), Scope(user="eve"), Scope(), Scope("t2"), Scope("t3"))
            }
        assert list(sizes.values()) == [2, 2, 1, 3, 1, 0]

    def test_records_by_handle(self, store: Store) -> None:
        """Equal to those read otherwise; unknown handles and none are left out."""
        said = say(store, S1, "one", "two")
        with store.write() as w:
            made = [w.add_episode(w.open_session(S1), episode(S1, said), ENTRY), w.add_fact(fact(S1), ENTRY)]
        with store.read() as r:
            rids = [row.rid for row in r.index(ANN, (0, 0)).added]
            found = r.records(ANN, [*rids, 10**9, rids[0]])
            assert [found[rid] for rid in rids] == [*said, *made] and len(found) == 4
            assert r.records(ANN, []) == {}

    def test_rows_can_be_made_again(self, store: Store) -> None:
        """With another embedder's vectors: old rows leave, new ones come, the records stay, the setting says whose they are."""
        with store.write() as w:
            said = write(w, S1, [drafted({"role": "user", "content": t}) for t in ("one", "two")])
            told = w.add_fact(fact(S1), ENTRY)
        with store.read() as r:
            before = r.index(ANN, (0, 0))
        other = Entry(b"\x07\x00\x00\x00", b"\x00\x3c" * 2)
        with store.write() as w:
            w.reindex([*said, told], [other] * 3, embedder="other/1")
        with store.read() as r:
            after = r.index(ANN, before.mark)
            assert set(after.removed) == {row.rid for row in before.added}
            assert {(bytes(row.terms), bytes(row.vector)) for row in after.added} == {(other.terms, other.vector)}
            assert [(row.kind, row.pos, row.at, row.session) for row in after.added] == [
                (b.kind, b.pos, b.at, b.session) for b in before.added
            ]
            found = r.records(ANN, [row.rid for row in after.added])
            assert [found[row.rid] for row in after.added] == [*said, told]
        assert store.setting("embedder") == "other/1" and store.check() == []

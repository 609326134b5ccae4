"""Episodes, facts with their history, notes, pins and compacts: every field comes back."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from leporello.errors import LeporelloError
from leporello.ports import Change, Store
from leporello.records import Compact, Fact, Item, Note, Provenance, Scope, Span
from leporello.testing.conformance.opened import OpenedStore
from leporello.testing.conformance.samples import AT, ENTRY, NASTY, drafted, episode, fact, say, write

S1 = Scope(user="ann", project="p", session="s1")
S2 = Scope(user="ann", project="p", session="s2")


class StatementRules(OpenedStore):
    """`add_episode`, `put_episodes`, `add_fact`, `put_fact`, `put_note`, `put_pin`, `put_compact`, `drop_compact`."""

    def test_an_episode_comes_back(self, store: Store) -> None:
        """With its items, spans and weights; its id is made by the store."""
        sources = say(store, S1, "one", "two", "three")
        with store.write() as w:
            made = w.add_episode(w.open_session(S1), episode(S1, sources), ENTRY)
        assert made.id and replace(made, id="") == episode(S1, sources)
        with store.read() as r:
            assert r.episodes(Scope(user="ann")) == [made] and r.record(S1, made.id) == made

    def test_episodes_of_one_session(self, store: Store) -> None:
        """In the order of their positions; those of another session only when asked without one."""
        texts = [str(i) for i in range(6)]
        with store.write() as w:
            for scope in (S1, S2):
                said = write(w, scope, [drafted({"role": "user", "content": t}) for t in texts])
                for n in range(3):
                    w.add_episode(w.open_session(scope), episode(scope, said[2 * n : 2 * n + 2], number=n + 1), ENTRY)
        with store.read() as r:
            found = r.episodes(Scope(user="ann"), session=r.session(S1))
            assert [(e.scope, e.number, e.positions) for e in found] == [(S1, n + 1, (2 * n + 1, 2 * n + 2)) for n in range(3)]
            assert len(r.episodes(Scope(user="ann"))) == 6

    def test_layer_and_mark_of_episodes_change(self, store: Store) -> None:
        """And nothing else of them."""
        sources = say(store, S1, "one", "two")
        with store.write() as w:
            made = w.add_episode(w.open_session(S1), episode(S1, sources), ENTRY)
            moved = replace(made, layer=3, distilled=True)
            w.put_episodes([moved])
            w.put_episodes([])
        with store.read() as r:
            assert r.episodes(S1) == [moved]

    @pytest.mark.parametrize("name", NASTY)
    def test_a_fact_comes_back(self, store: Store, name: str) -> None:
        """Every text of it as it was, whatever it holds."""
        text = NASTY[name]
        where = Provenance("s1", (1, 2), ("e_1",), (Span("m_1", 0, 4, 1), Span("m_2", 3, 9, 2)))
        told = fact(S1, text, why=text[:99], source=text[:99], tags=(text[:99],), provenance=where, supersedes=("f_1",), status="conflict")
        with store.write() as w:
            made = w.add_fact(told, ENTRY)
        assert made.id and replace(made, id="") == told
        with store.read() as r:
            assert r.facts(S1) == [made] and r.record(S1, made.id) == made

    def test_a_fact_changes(self, store: Store) -> None:
        """All of its state, retraction too; it stays readable."""
        with store.write() as w:
            made = w.add_fact(fact(S1), ENTRY)
        changed = replace(
            made, text="Tea is at five.", fact_kind="decision", why="", source="tool", trust="tool", confidence=0.25, tags=(), valid_from=None,
            valid_to=AT + timedelta(days=3), retracted_at=AT + timedelta(days=4), supersedes=("f_0",), status="deprecated",
            provenance=Provenance(None, (9,)),
        )  # fmt: skip
        with store.write() as w:
            w.put_fact(changed, Change("retract", "ann", AT, "she moved"))
            assert w.record(S1, made.id) == changed
        with store.read() as r:
            assert r.facts(S1) == [changed]

    def test_an_unknown_fact_cannot_change(self, store: Store) -> None:
        """It raises, and nothing is written."""
        from_nowhere = replace(fact(S1), id="f_none")
        with pytest.raises(LeporelloError), store.write() as w:
            w.put_fact(from_nowhere, Change("retract", "ann", AT, ""))
        with store.read() as r:
            assert r.facts(Scope()) == []

    def test_facts_are_listed_oldest_first(self, store: Store) -> None:
        """In the order of writing, whatever their times."""
        with store.write() as w:
            made = [w.add_fact(fact(S1, f"fact {i}", valid_from=AT - timedelta(days=i)), ENTRY) for i in range(5)]
        with store.read() as r:
            assert r.facts(S1) == made

    def test_notes(self, store: Store) -> None:
        """Set, set anew, removed with None; newest first; any JSON value under any key."""
        values: list[object] = [0, False, "", [], {}, "a\ud83d\x00\u2028", 1.5, {"k": [None, {"x": "\u00e9"}]}]
        with store.write() as w:
            for i, value in enumerate(values):
                w.put_note(Note(S1, f"k{i}", value, AT + timedelta(seconds=i)))
        with store.read() as r:
            assert [(n.key, n.value, n.at) for n in r.notes(S1)] == [(f"k{i}", v, AT + timedelta(seconds=i)) for i, v in enumerate(values)][
                ::-1
            ]
        with store.write() as w:
            w.put_note(Note(S1, "k0", "new", AT + timedelta(days=1)))
            w.put_note(Note(S1, "k1", None, AT))
            w.put_note(Note(S1, "never set", None, AT))
            for key in ("\u00e9", "e\u0301", "a\x00", "\ud83d"):
                w.put_note(Note(S2, key, key, AT))
        with store.read() as r:
            assert r.notes(S1)[0].value == "new" and [n.key for n in r.notes(S1)] == ["k0", *(f"k{i}" for i in range(7, 1, -1))]
            assert {n.key: n.value for n in r.notes(S2)} == {k: k for k in ("\u00e9", "e\u0301", "a\x00", "\ud83d")}

    def test_pins(self, store: Store) -> None:
        """In the order in which they were set; set twice they are there once; removed exactly."""
        texts = ["zulu", "alpha", "a\ud83d\x00", "\u00e9", "e\u0301", "100%_"]
        with store.write() as w:
            for text in [*texts, "zulu"]:
                w.put_pin(S1, text, at=AT)
        with store.read() as r:
            assert r.pins(S1) == texts
        with store.write() as w:
            w.put_pin(S1, "\u00e9", at=AT, keep=False)
            w.put_pin(S1, "100%", at=AT, keep=False)
            w.put_pin(S2, "zulu", at=AT, keep=False)
        with store.read() as r:
            assert r.pins(S1) == ["zulu", "alpha", "a\ud83d\x00", "e\u0301", "100%_"]

    def test_a_compact_is_replaced_and_dropped(self, store: Store) -> None:
        """A session has one at most; another session's is another."""
        item = Item("goal", "Ship \ud83d it", "soon", "k", (Span("m_1", 1, 2, 3),), 0.5, "tool", AT)
        first = Compact(S1, "text\u2028\ud83d", 12, (item,), 4, "scripted/1", 2)
        with store.write() as w:
            w.open_session(S1)
            w.put_compact(first, at=AT)
            w.put_compact(replace(first, scope=S2, text="other"), at=AT)
        with store.read() as r:
            assert r.compact(S1) == first and r.compact(S2) == replace(first, scope=S2, text="other")
            assert r.compact(Scope(user="ann", project="p")) is None and r.compact(Scope(user="ann", session="s1")) is None
        second = replace(first, text="newer", items=(), omitted=0, compacted_at_turn=9)
        with store.write() as w:
            w.put_compact(second, at=AT)
            w.drop_compact(S2)
            w.drop_compact(Scope(session="never"))
        with store.read() as r:
            assert r.compact(S1) == second and r.compact(S2) is None

    def test_counts(self, store: Store) -> None:
        """Messages, episodes, facts, sessions, turns and notes that the scope sees; retracted facts are not counted."""
        sources = say(store, S1, "one", "two")
        say(store, S2, "three")
        with store.write() as w:
            w.add_episode(w.open_session(S1), episode(S1, sources), ENTRY)
            w.add_fact(fact(Scope(user="ann", project="p")), ENTRY)
            gone: Fact = w.add_fact(fact(S1, "gone"), ENTRY)
            w.put_fact(replace(gone, retracted_at=AT), Change("retract", "ann", AT, ""))
            w.put_note(Note(S2, "k", 1, AT))
        with store.read() as r:
            assert r.counts(Scope(user="ann")) == {"messages": 3, "episodes": 1, "facts": 1, "sessions": 2, "turns": 3, "notes": 1}
            assert r.counts(S2) == {"messages": 1, "episodes": 0, "facts": 1, "sessions": 1, "turns": 1, "notes": 1}
            assert set(r.counts(Scope(user="bob")).values()) == {0} and set(r.counts(Scope("t2")).values()) == {0}

    def test_what_rests_on_a_record(self, store: Store) -> None:
        """Episodes on their messages, facts on their spans and episodes; directly, in any scope of the tenant, not of another."""
        sources = say(store, S1, "one", "two", "three")
        other = Scope(user="bob")
        with store.write() as w:
            made = w.add_episode(w.open_session(S1), episode(S1, sources[:2]), ENTRY)
            near = w.add_fact(fact(S1, provenance=Provenance("s1", (1,), (), (Span(sources[0].id, 0, 2, 1),))), ENTRY)
            far = w.add_fact(fact(other, provenance=Provenance("s1", (), (made.id,))), ENTRY)
        with store.read() as r:
            assert {x.id for x in r.derived(Scope(), [sources[0].id])} == {made.id, near.id}
            assert {x.id for x in r.derived(Scope(), [sources[1].id, made.id])} == {made.id, far.id}
            assert list(r.derived(Scope(), [sources[2].id, "m_none"])) == [] == list(r.derived(Scope(), []))
            assert list(r.derived(Scope("t2"), [sources[0].id])) == []
        with store.write() as w:
            w.put_fact(replace(near, provenance=Provenance("s1", (2,), (), (Span(sources[2].id, 0, 2, 3),))), Change("move", "x", AT, ""))
        with store.read() as r:
            assert {x.id for x in r.derived(Scope(), [sources[0].id])} == {made.id}
            assert {x.id for x in r.derived(Scope(), [sources[2].id])} == {near.id}

"""Erasing: a record with every row that is its own, a scope with everything that it covers; counted, and nothing else."""

from __future__ import annotations

import base64
from dataclasses import replace
from itertools import product

import pytest

from leporello.ports import Change, Store
from leporello.records import Compact, Note, Provenance, Scope, Span
from leporello.testing.conformance.opened import OpenedStore
from leporello.testing.conformance.samples import AT, ENTRY, drafted, episode, fact, log, say, write
from leporello.testing.conformance.scopes import fill

S1 = Scope(user="ann", session="s1")
DATA = base64.b64encode(bytes(range(250)) * 30).decode("ascii")
PICTURE = {"role": "user", "content": [{"type": "image", "source": {"type": "base64", "data": DATA}}]}


class ErasingRules(OpenedStore):
    """`erase`, `erase_scope`, `scrub`."""

    def test_a_message_goes_alone(self, store: Store) -> None:
        """The others keep their positions; the count says what went."""
        said = say(store, S1, "one", "two", "three")
        with store.write() as w:
            counts = w.erase([said[1]])
        assert counts["messages"] == 1
        assert [(m.pos, m.text) for m in log(store, S1)] == [(1, "one"), (3, "three")]
        with store.read() as r:
            assert r.record(S1, said[1].id) is None and r.counts(S1)["messages"] == 2
        (fresh,) = say(store, S1, "four")
        assert fresh.pos == 4 and fresh.id not in {m.id for m in said}

    def test_every_kind_can_be_erased(self, store: Store) -> None:
        """With index rows, history and sources; erased twice, or unknown, it is nothing."""
        with store.write() as w:
            said = write(w, S1, [drafted({"role": "user", "content": t}) for t in ("one", "two")])
            made = w.add_episode(w.open_session(S1), episode(S1, said), ENTRY)
            told = w.add_fact(fact(S1, provenance=Provenance("s1", (1,), (made.id,), (Span(said[0].id, 0, 1, 1),))), ENTRY)
            w.put_fact(replace(told, text="later"), Change("change", "x", AT, "y"))
        with store.write() as w:
            counts = w.erase([*said, made, told])
            assert (counts["messages"], counts["episodes"], counts["facts"]) == (2, 1, 1)
            assert not any(w.erase([*said, made, told]).values())
        with store.read() as r:
            assert not any((r.facts(Scope()), r.episodes(Scope()), r.index(Scope(), (0, 0)).added))
            assert list(r.derived(Scope(), [said[0].id, made.id])) == []
        assert store.check() == []

    def test_media_go_with_their_last_message(self, store: Store) -> None:
        """And not before."""
        with store.write() as w:
            first, second = write(w, S1, [drafted(PICTURE), drafted(PICTURE)], text="")
            (elsewhere,) = write(w, Scope("t2"), [drafted(PICTURE)], text="")
        with store.write() as w:
            assert w.erase([first])["media"] == 0
        assert log(store, S1)[0].original == PICTURE
        with store.write() as w:
            assert w.erase([second])["media"] == 1
        assert log(store, Scope("t2")) == [elsewhere] and store.check() == []

    @pytest.mark.parametrize("set_", list(product([False, True], repeat=4)))
    def test_a_scope_takes_what_it_covers(self, store: Store, set_: tuple[bool, ...]) -> None:
        """Exactly what `Scope.covers` says: equal where it sets a dimension, anything where it does not."""
        taken = Scope("default", *("a" if on else None for on in set_))
        scopes = [Scope("default", *names) for names in product([None, "a"], repeat=4)]
        scopes += [Scope("default", "b", "a", "a", "a"), Scope("default", "a", "a", "a", "A"), Scope("t2", "a", "a", "a", "a"), Scope("t2")]
        held = fill(store, scopes)
        with store.write() as w:
            counts, ids = w.erase_scope(taken)
        gone = [x for x in held if taken.covers(x.scope)]
        n = len([s for s in scopes if taken.covers(s)])
        assert sorted(ids) == sorted(x.id for x in gone)
        assert {k: counts[k] for k in ("messages", "episodes", "facts", "notes", "pins", "sessions")} == dict.fromkeys(
            ("messages", "episodes", "facts", "notes", "pins", "sessions"), n
        )
        kept = [s for s in scopes if not taken.covers(s)]
        with store.read() as r:
            for tenant in ("default", "t2"):
                mine = [i for i, s in enumerate(scopes) if s in kept and s.tenant == tenant]
                assert sorted(note.value for note in r.notes(Scope(tenant))) == mine and r.pins(Scope(tenant)) == [str(i) for i in mine]
                assert {x.id for x in held if r.record(Scope(tenant), x.id)} == {
                    x.id for x in held if x.scope in kept and x.scope.tenant == tenant
                }
        assert store.check() == []

    def test_erasing_an_unknown_scope_is_nothing(self, store: Store) -> None:
        """No count, no id, and all others stay."""
        say(store, S1, "one")
        with store.write() as w:
            for scope in (
                Scope("t2"),
                Scope(user="bob"),
                Scope(user="ann", session="s"),
                Scope(user="ann", project="s1"),
                Scope(user="Ann"),
            ):
                counts, ids = w.erase_scope(scope)
                assert not any(counts.values()) and list(ids) == []
        assert len(log(store, S1)) == 1

    def test_a_scope_can_be_used_again(self, store: Store) -> None:
        """After everything was erased it begins anew, with new ids, a first position and new handles."""
        old = say(store, S1, "one", "two")
        with store.write() as w:
            w.put_compact(Compact(S1, "text", 1, (), 1, "scripted/1"), at=AT)
            w.put_note(Note(S1, "k", 1, AT))
        with store.read() as r:
            mark = r.index(Scope(), (0, 0)).mark
        with store.write() as w:
            counts, _ = w.erase_scope(Scope())
            assert counts["compacts"] == 1 and counts["notes"] == 1
            assert w.session(S1) is None
        new = say(store, S1, "three")
        assert [m.pos for m in new] == [1] and new[0].id not in {m.id for m in old}
        with store.read() as r:
            assert r.compact(S1) is None and r.notes(S1) == []
            delta = r.index(Scope(), mark)
            assert len(delta.added) == 1 and len(delta.removed) == 2 and delta.added[0].rid not in set(delta.removed)
        assert store.check() == []

    def test_scrubbing_waits_for_readers(self, store: Store) -> None:
        """True when nothing is left behind; a reader that still needs it may delay that, but never breaks."""
        said = say(store, S1, "one", "two")
        with store.write() as w:
            w.erase(said)
        with store.read() as r:
            assert r.counts(S1)["messages"] == 0
            store.scrub(patience=0.0)
            assert r.counts(S1)["messages"] == 0
        assert store.scrub(patience=5.0) is True

"""Whose memory it is: a scope sees exactly what `Scope.sees` says, through every door of a reader."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leporello.ports import AnyRecord, IndexRow, Reader, Store
from leporello.records import DIMENSIONS, Note, Scope
from leporello.testing.conformance.opened import OpenedStore
from leporello.testing.conformance.samples import AT, ENTRY, drafted, episode, fact, log, say, write

ALIKE = [
    ("acme", "acme-corp"), ("a_b", "aXb"), ("a%", "ab"), ("a.b", "a"), ("a:b", "a"), ("A", "a"), ("\u00e9", "e\u0301"), ("null", "None"), ("../x", "x"),
    ("a/b", "a"), ("alice\x00", "alice"), ("*", "alice"), ("' OR 1=1 --", "alice"), (" ", "  "), ("\ud83d", "\ud83e"), ("\ufb01", "fi"), ("1", "01"),
    ("\ud83d\ude00", "\U0001f600"), ("0", "-1"), ("stra\u00dfe", "strasse"), ("a\x00b", "a\x00c"),
]  # fmt: skip
NAMES = st.one_of(
    st.sampled_from(sorted({n for pair in ALIKE for n in pair})),
    st.text(st.sampled_from("aA%_.:'\x00\u00e9\u0301\ud83d0 "), min_size=1, max_size=3),
)
SCOPES = st.builds(Scope, st.sampled_from(["default", "t", "T"]) | NAMES, *[st.none() | st.sampled_from(["a", "b"]) | NAMES] * 4)
EXAMPLES = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow])


def fill(store: Store, scopes: Sequence[Scope]) -> list[AnyRecord]:
    """In each scope a message, an episode, a fact, a note and a pin; the note's value and the pin name the scope's place."""
    held: list[AnyRecord] = []
    with store.write() as w:
        for i, scope in enumerate(scopes):
            said = write(w, scope, [drafted({"role": "user", "content": f"said {i}"})])
            held += [*said, w.add_episode(w.open_session(scope), episode(scope, said), ENTRY), w.add_fact(fact(scope, f"fact {i}"), ENTRY)]
            w.put_note(Note(scope, "k", i, AT))
            w.put_pin(scope, str(i), at=AT)
    return held


def passes(row: IndexRow, names: dict[str, int]) -> bool:
    """Whether ranking would let this row through for a handle with these numbers."""
    return all(getattr(row, dimension) in (number, 0) for dimension, number in names.items())


def look(r: Reader, scope: Scope, held: Sequence[AnyRecord], scopes: Sequence[Scope]) -> None:
    """Every way of reading gives what this scope sees, and nothing else."""
    seen = [x for x in held if scope.sees(x.scope)]
    mine = [s for s in scopes if scope.sees(s)]
    numbers = [scopes.index(s) for s in mine]
    assert {s.scope for s in r.sessions(scope)} == set(mine)
    assert {e.id for e in r.episodes(scope)} == {x.id for x in seen if x.kind == "episode"}
    assert [f.id for f in r.facts(scope)] == [x.id for x in seen if x.kind == "fact"]
    assert sorted(n.value for n in r.notes(scope)) == numbers and r.pins(scope) == [str(n) for n in numbers]
    assert [x.id for x in held if r.record(scope, x.id) is not None] == [x.id for x in seen]
    n = len(mine)
    assert r.counts(scope) == {"messages": n, "episodes": n, "facts": n, "sessions": n, "turns": n, "notes": n}
    rows = r.index(scope, (0, 0)).added
    records = r.records(scope, [row.rid for row in rows])
    assert {x.id for x in records.values()} == {x.id for x in seen}
    through = {row.rid for row in rows if passes(row, dict(r.names(scope)))}
    assert through == set(records), "the index and its numbers let through exactly what the scope sees"
    assert (r.session(scope) is not None) == (scope in scopes)


class ScopeRules(OpenedStore):
    """Visibility by value, never by prefix, pattern, case or spelling."""

    @pytest.mark.parametrize("dimension", DIMENSIONS)
    def test_names_that_look_alike_are_apart(self, store: Store, dimension: str) -> None:
        """In every dimension, both ways."""
        names = list(dict.fromkeys(n for pair in ALIKE for n in pair))
        scopes = [Scope(**{dimension: n}) for n in names]
        held = fill(store, scopes)
        with store.read() as r:
            for scope in scopes:
                look(r, scope, held, scopes)

    @given(scopes=st.lists(SCOPES, min_size=1, max_size=7, unique=True), askers=st.lists(SCOPES, max_size=4), wider=st.integers(0, 31))
    @EXAMPLES
    def test_any_scope_sees_exactly_what_it_should(
        self, tmp_path_factory: pytest.TempPathFactory, scopes: list[Scope], askers: list[Scope], wider: int
    ) -> None:
        """Random scopes look at random records: as `Scope.sees` says, in every method of a reader."""
        store = self.open_store(str(tmp_path_factory.mktemp("scopes") / "store"))
        try:
            held = fill(store, scopes)
            dropped = [Scope(s.tenant, *(None if wider >> i & 1 else getattr(s, d) for i, d in enumerate(DIMENSIONS[1:]))) for s in scopes]
            with store.read() as r:
                for scope in dict.fromkeys([*scopes, *askers, *dropped]):
                    look(r, scope, held, scopes)
        finally:
            store.close()

    def test_a_name_means_its_dimension(self, store: Store) -> None:
        """The same name as user, agent, project and session is four things."""
        scopes = [Scope(**{d: "x"}) for d in DIMENSIONS]
        held = fill(store, scopes)
        with store.read() as r:
            for scope in [*scopes, Scope("x", "x", "x", "x", "x"), Scope()]:
                look(r, scope, held, scopes)

    def test_a_known_id_of_another_scope_is_not_found(self, store: Store) -> None:
        """By id and by handle of the index."""
        (said,) = say(store, Scope(user="ann", session="s"), "secret")
        with store.read() as r:
            rids = [row.rid for row in r.index(Scope(), (0, 0)).added]
            for scope in (Scope(user="bob"), Scope("t2"), Scope(user="ann", session="s2"), Scope(user="ann\x00")):
                assert r.record(scope, said.id) is None and r.records(scope, rids) == {}

    def test_numbers_of_unknown_names(self, store: Store) -> None:
        """Only set dimensions have one; a name that the store does not hold is -1, in another tenant too."""
        say(store, Scope("t", "u", "a", "p", "s"), "x")
        with store.read() as r:
            known = r.names(Scope("t", agent="a", project="p", session="s"))
            assert set(known) == {"agent", "project", "session"} and all(v > 0 for v in known.values())
            assert r.names(Scope("t", "u")) == {}
            assert set(r.names(Scope("t", agent="A", project="a%", session="sess")).values()) == {-1}
            assert set(r.names(Scope("T", agent="a", project="p", session="s")).values()) == {-1}

    def test_handles_used_at_once_do_not_mix(self, store: Store) -> None:
        """Threads write and read through their own scopes on one store; each finds its own, whole and in order."""
        scopes = [Scope(f"t{i % 2}", f"u{i % 3}", session=f"s{i}") for i in range(6)]
        rounds, wrong = count(), []

        def work(scope: Scope) -> None:
            mark = f"{scope.tenant} {scope.user} {scope.session}"
            for i in range(12):
                say(store, scope, f"{mark} {i}")
                with store.read() as r:
                    seen = [m for s in r.sessions(scope) for m in r.messages(s)]
                if [m.text for m in seen] != [f"{mark} {j}" for j in range(i + 1)] or {m.scope for m in seen} != {scope}:
                    wrong.append((scope, [m.text for m in seen]))
                next(rounds)

        threads = [threading.Thread(target=work, args=(s,)) for s in scopes]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert wrong == [] and next(rounds) == 72
        assert all([m.pos for m in log(store, s)] == list(range(1, 13)) for s in scopes)

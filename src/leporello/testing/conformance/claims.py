"""Claims, the history of facts, what is near, and what was shown: every field comes back, and every scope is kept."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from leporello.ports import Change, Entry, Store
from leporello.records import Claim, Fact, Provenance, Revision, Scope, Span
from leporello.testing.conformance.opened import OpenedStore
from leporello.testing.conformance.samples import AT, ENTRY, NASTY, fact, say

S1 = Scope(user="ann", project="p")
S2 = Scope(user="ann", project="p", session="s")
OTHERS = (Scope(), Scope(user="ann"), S2, Scope(user="bob", project="p"), Scope("t2", "ann", None, "p"))
TICK = timedelta(microseconds=1)


def claim(scope: Scope, text: str = "Tea is at four.", **fields: object) -> Claim:
    """A claim with every field set."""
    where = Provenance("s", (1, 2), ("e_1",), (Span("m_1", 0, 4, 1),))
    values: dict[str, object] = {
        "op": "say", "fact_kind": "preference", "why": "She said so.", "source": "user_stated", "trust": "user", "confidence": 0.8125,
        "tags": ("tea", "t\u00e9"), "at": AT, "recorded_at": AT + TICK, "provenance": where, "actor": "scripted/1", "target": "c_0", "fact": "f_0",
        "suspicion": "instruction", "speaker": "Ann",
    }  # fmt: skip
    return Claim("", scope, text=text, **(values | fields))  # type: ignore[arg-type]


def keyed(*keys: int) -> Entry:
    """An index row with these keys."""
    return replace(ENTRY, keys=keys)


class ClaimRules(OpenedStore):
    """`put_claims`, `claims`, `acting`, `drop_claims`, `history`, `put_history`, `as_believed`, `near`, `put_shown`, `shown`, `mark`."""

    @pytest.mark.parametrize("name", NASTY)
    def test_a_claim_comes_back(self, store: Store, name: str) -> None:
        """Every text of it as it was, whatever it holds."""
        text = NASTY[name]
        told = claim(S1, text, why=text[:99], source=text[:99], tags=(text[:99],), actor=text[:99], suspicion=text[:99], speaker=text[:99])
        with store.write() as w:
            (made,) = w.put_claims([told])
            assert made.id and replace(made, id="") == told
        with store.read() as r:
            assert r.claims(S1, ["f_0"]) == [made]

    @pytest.mark.parametrize("at", [datetime.min.replace(tzinfo=AT.tzinfo), datetime.max.replace(tzinfo=AT.tzinfo)])
    def test_the_ends_of_time(self, store: Store, at: datetime) -> None:
        """Kept to the microsecond, in claims, facts and their history."""
        with store.write() as w:
            w.put_claims([claim(S1, at=at)])
            made = w.add_fact(fact(S1, valid_from=at, valid_to=at), ENTRY, Change("add", "ann", AT))
            w.put_fact(replace(made, text="later", valid_to=None), Change("update", "ann", AT))
        with store.read() as r:
            assert r.claims(S1, ["f_0"])[0].at == at
            assert r.history(made)[1].was == made

    def test_claims_are_listed_in_the_order_in_which_they_were_written(self, store: Store) -> None:
        """Of the facts that are asked for, whatever their scope in the tenant; in no other tenant."""
        with store.write() as w:
            made = w.put_claims([claim(s, str(n), at=AT - n * TICK, fact=f"f_{n % 2}") for n, s in enumerate([S1, S2, Scope(), S1])])
            w.put_claims([claim(Scope("t2"), fact="f_0")])
        assert [c.id for c in made] == sorted(c.id for c in made)
        with store.read() as r:
            assert r.claims(Scope(), ["f_0"]) == [made[0], made[2]] and r.claims(S1, ["f_1", "f_0", "f_0"]) == made
            assert r.claims(S1, []) == [] == r.claims(S1, ["f_9", "'", "\x00"]) and len(r.claims(Scope("t2"), ["f_0"])) == 1

    def test_a_claim_changes_its_fact_and_its_sources_only(self, store: Store) -> None:
        """What was said stays as it was said."""
        with store.write() as w:
            (made,) = w.put_claims([claim(S1)])
            changed = replace(made, fact="f_1", target=None, source="c_7", provenance=Provenance("t", (9,)))
            w.put_claims([replace(changed, text="other", why="other", at=AT + TICK, trust="external", confidence=0.1)])
        with store.read() as r:
            assert r.claims(S1, ["f_1"]) == [changed] and r.claims(S1, ["f_0"]) == []

    def test_claims_are_dropped(self, store: Store) -> None:
        """All that are named, and no other; of another tenant none."""
        with store.write() as w:
            made = w.put_claims([claim(S1, str(n)) for n in range(5)])
            w.drop_claims([replace(made[0], scope=Scope("t2")), replace(made[0], id="c_none")])
            w.drop_claims(made[1:4])
            w.drop_claims([])
        with store.read() as r:
            assert r.claims(S1, ["f_0"]) == [made[0], made[4]]

    def test_which_facts_act_on_which(self, store: Store) -> None:
        """Both ways along a target, within the tenant."""
        with store.write() as w:
            (base,) = w.put_claims([claim(S1, target=None, fact="f_1")])
            w.put_claims(
                [
                    claim(S1, target=base.id, fact="f_2"),
                    claim(Scope("t2"), target=base.id, fact="f_3"),
                    claim(S1, target=base.id, fact=None),
                ]
            )
        with store.read() as r:
            assert list(r.acting(S1, ["f_1"])) == ["f_2"] and list(r.acting(S1, ["f_2"])) == ["f_1"]
            assert list(r.acting(S1, ["f_9"])) == [] == list(r.acting(S1, [])) and list(r.acting(Scope("t2"), ["f_1"])) == []

    def test_claims_go_with_their_fact(self, store: Store) -> None:
        """And with their scope."""
        with store.write() as w:
            made = w.add_fact(fact(S1), keyed(1))
            other = w.add_fact(fact(S2), keyed(1))
            w.put_claims([claim(S1, fact=made.id), claim(S1, fact=made.id), claim(S2, fact=other.id)])
        with store.write() as w:
            assert w.erase([made])["claims"] == 2
            assert w.claims(S1, [made.id]) == [] and len(w.claims(S1, [other.id])) == 1
            counts, _ = w.erase_scope(Scope(user="ann"))
            assert counts["claims"] == 1 and w.claims(S1, [other.id]) == []
        assert store.check() == []

    def test_history(self, store: Store) -> None:
        """Each change with who, when and why, and the whole fact before it; of a fact made without one there is none."""
        with store.write() as w:
            bare = w.add_fact(fact(S1), ENTRY)
            made = w.add_fact(
                fact(S1, "Tea is at five.", conflicts=("f_8",), superseded_by="f_9"), ENTRY, Change("add", "ann", AT, "told \ud83d", "m_1")
            )
            changed = replace(
                made, text="a\x00\u2028", tags=(), valid_to=AT, retracted_at=AT, status="deprecated", confidence=0.0, subject="tea"
            )
            w.put_fact(changed, Change("retract", "bob", AT + TICK, "never so", "m_2"))
            w.put_fact(made, Change("restore", "ann", AT + 2 * TICK, ""))
        with store.read() as r:
            assert r.history(bare) == []
            assert r.history(made) == [
                Revision(AT, "add", "ann", "told \ud83d", "m_1", None),
                Revision(AT + TICK, "retract", "bob", "never so", "m_2", made),
                Revision(AT + 2 * TICK, "restore", "ann", "", None, changed),
            ]
            assert r.history(replace(made, scope=Scope("t2"))) == []

    def test_no_change_is_dated_before_the_one_that_it_follows(self, store: Store) -> None:
        """Whatever the clock says."""
        with store.write() as w:
            made = w.add_fact(fact(S1), ENTRY, Change("add", "ann", AT))
            w.put_fact(replace(made, text="b"), Change("update", "ann", AT - timedelta(days=9)))
        with store.read() as r:
            assert [h.at for h in r.history(made)] == [AT, AT]

    def test_history_is_written_anew(self, store: Store) -> None:
        """In place of what there was; of other facts it stays."""
        rows = [
            Revision(AT, "add", "x", "\u2028", None, None),
            Revision(AT + TICK, "update", "y", "", "m_3", fact(S1, "old", recorded_at=AT)),
        ]
        with store.write() as w:
            one, other = (w.add_fact(fact(S1, t, recorded_at=AT), ENTRY, Change("add", "ann", AT)) for t in "ab")
            w.put_fact(replace(one, text="c"), Change("update", "ann", AT))
            assert w.put_history(one, rows) == 2 and w.put_history(one, rows) == 2
            assert len(w.history(other)) == 1 and w.put_history(other, ()) == 1 and w.history(other) == []
            assert w.put_history(replace(one, id="f_none"), ()) == 0
        with store.read() as r:
            assert r.history(one) == [rows[0], replace(rows[1], was=replace(fact(S1, "old", recorded_at=AT), id=one.id))]
            assert [f.text for f in r.as_believed(r.facts(S1), AT)] == ["old", "b"]

    def test_facts_as_they_were_believed(self, store: Store) -> None:
        """At and around each change; not before they were recorded, and recorded anew they begin then."""
        states = [fact(S1, str(n), recorded_at=AT, confidence=n / 10) for n in range(4)]
        with store.write() as w:
            made = w.add_fact(states[0], ENTRY, Change("add", "ann", AT))
            for n, state in enumerate(states[1:], 1):
                w.put_fact(replace(state, id=made.id), Change("update", "ann", AT + n * timedelta(days=1)))
        with store.read() as r:
            for n in range(4):
                moment = AT + n * timedelta(days=1)
                assert [f.text for f in r.facts(S1, believed_at=moment)] == [str(n)] == [f.text for f in r.as_believed(r.facts(S1), moment)]
                assert [f.text for f in r.facts(S1, believed_at=moment - TICK)] == ([str(n - 1)] if n else [])
            assert r.as_believed([], AT) == [] and r.facts(Scope(user="bob"), believed_at=AT) == []
            assert r.facts(S1, believed_at=AT) == [replace(states[0], id=made.id)]
        with store.write() as w:
            w.put_fact(replace(states[3], id=made.id, recorded_at=AT + timedelta(days=2)), Change("update", "ann", AT + timedelta(days=9)))
            assert w.facts(S1, believed_at=AT + timedelta(days=1)) == [] and len(w.facts(S1, believed_at=AT + timedelta(days=2))) == 1

    def test_facts_of_two_tenants_as_they_were_believed(self, store: Store) -> None:
        """Each from its own history."""
        with store.write() as w:
            made = [w.add_fact(fact(s, "old", recorded_at=AT), ENTRY) for s in (S1, Scope("t2"))]
            w.put_fact(replace(made[1], text="new"), Change("update", "x", AT + TICK))
        with store.read() as r:
            now = [*r.facts(S1), *r.facts(Scope("t2"))]
            assert [f.text for f in now] == ["old", "new"] and r.as_believed(now, AT) == made

    def test_what_is_near(self, store: Store) -> None:
        """Two shared keys, or one sure one; most first, at most `k`; of exactly this scope."""
        high = 2**32 - 1
        with store.write() as w:
            one, two, three = (w.add_fact(fact(S1, str(n)), keyed(*range(1, n + 2), high)) for n in range(3))
            for scope in OTHERS:
                w.add_fact(fact(scope), keyed(1, 2, 3, high))
        with store.read() as r:
            assert r.near(S1, [1, 2, 3, high], k=9) == [three, two, one] and r.near(S1, [1, 2, 3, high], k=2) == [three, two]
            assert r.near(S1, [2, 3], k=9) == [three] and r.near(S1, [3], k=9) == []
            assert r.near(S1, [3], sure=[3], k=9) == [three] and set(r.near(S1, [2, 9], sure=[2], k=9)) == {two, three}
            assert r.near(S1, [], k=9) == [] == r.near(S1, [9], sure=[9], k=9)
            assert r.near(Scope(user="ann", project="q"), [1, 2], k=9) == [] and r.near(Scope("t3"), [1, 2], k=9) == []

    def test_near_follows_the_words(self, store: Store) -> None:
        """A new index row brings new keys, also when all are made again; an erased fact is near nothing."""
        with store.write() as w:
            made = w.add_fact(fact(S1), keyed(1, 2))
            w.put_fact(replace(made, status="conflict"), Change("conflict", "x", AT))
            assert [f.id for f in w.near(S1, [1, 2], k=9)] == [made.id]
            w.put_fact(replace(made, text="b"), Change("update", "x", AT), entry=keyed(3, 4))
            assert w.near(S1, [1, 2], k=9) == [] and len(w.near(S1, [3, 4], k=9)) == 1
            w.reindex([replace(made, text="b")], [keyed(5, 6)], embedder="hash")
            assert w.near(S1, [3, 4], k=9) == [] and len(w.near(S1, [5, 6], k=9)) == 1
            w.erase([made])
            assert w.near(S1, [5, 6], k=9) == []
        assert store.check() == []

    def test_what_was_shown(self, store: Store) -> None:
        """When first, the newest shown first, by scope; shown again it keeps its first time; erased it was never shown."""
        said = say(store, S2, "one", "two", "three")
        (hidden,) = say(store, Scope(user="bob"), "four")
        with store.write() as w:
            told: Fact = w.add_fact(fact(S1), ENTRY)
            w.put_shown([said[0], told, hidden], at=AT)
            w.put_shown([said[1]], at=AT + TICK)
            w.put_shown([said[0]], at=AT + 2 * TICK)
            w.put_shown([replace(told, id="f_gone")], at=AT)
            w.put_shown([], at=AT)
        with store.read() as r:
            assert r.shown(S2, k=9) == [(said[0].id, AT), (said[1].id, AT + TICK), (told.id, AT)]
            assert r.shown(S2, k=2) == [(said[0].id, AT), (said[1].id, AT + TICK)]
            assert r.shown(Scope(user="ann", session="t"), k=9) == [(told.id, AT)] and r.shown(Scope("t2"), k=9) == []
        with store.write() as w:
            w.put_shown([said[1]], at=AT - TICK)
            assert dict(w.shown(S2, k=9))[said[1].id] == AT - TICK
            w.erase([said[0], told])
            assert [i for i, _ in w.shown(S2, k=9)] == [said[1].id]

    def test_the_mark_grows_with_every_change_of_a_fact(self, store: Store) -> None:
        """And stands still while none changes."""
        marks = []
        with store.write() as w:
            marks.append(w.mark(S1))
            made = w.add_fact(fact(S1), ENTRY)
            marks.append(w.mark(S1))
            w.put_fact(replace(made, text="b"), Change("update", "x", AT))
            marks.append(w.mark(S1))
            w.erase([made])
            marks.append(w.mark(S1))
        assert marks == sorted(set(marks))
        with store.read() as r:
            assert r.mark(S1) == marks[-1] == r.mark(S1)

"""The facts that claims come to, with a judge that reads "subject:value" and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leporello.core.facts.derive import RANK, Derived, derive, order, status
from leporello.records import Claim, ClaimOp, Provenance, Scope, Span, Trust

T0 = datetime(2026, 1, 1, tzinfo=UTC)
NOW = T0 + timedelta(days=1_000)
DAY = timedelta(days=1)
STEPS: tuple[ClaimOp, ...] = ("confirm", "end", "retract", "archive", "restore")


def judge(earlier: Claim, later: Claim) -> str:
    """Of the same subject: the same value is the same, another is an update, or with a "?" a conflict. "x:1+y:1" says both."""
    old, new = (dict(part.split(":") for part in c.text.rstrip("?").split("+")) for c in (earlier, later))
    shared = old.keys() & new.keys()
    if not shared:
        return "none"
    if any(old[s] != new[s] for s in shared):
        return "conflict" if "?" in earlier.text + later.text else "update"
    return "same"


def day(n: float) -> datetime:
    return T0 + n * DAY


def say(id: str, text: str, at: float, *, trust: Trust = "user", **fields: object) -> Claim:
    """A statement of a session's message; it is learned on the day on which it is said unless `learned` says otherwise."""
    learned = fields.pop("learned", at)
    where = Provenance("s", (int(at) + 1,), (), (Span(f"m_{id}", 0, 5, int(at) + 1),))
    values: dict[str, object] = {
        "op": "say", "fact_kind": "fact", "why": "", "source": "user_stated", "confidence": 0.7, "tags": (id,), "provenance": where, "actor": "test",
    }  # fmt: skip
    return Claim(id=id, scope=Scope(), text=text, at=day(at), recorded_at=day(learned), trust=trust, **(values | fields))  # type: ignore[arg-type]


def done(id: str, op: ClaimOp, target: str, on: float, *, at: float | None = None) -> Claim:
    """A step by hand."""
    plain = say(id, "", on, op=op, target=target, provenance=Provenance(), confidence=1.0)
    return replace(plain, at=day(on if at is None else at))


def shape(found: Sequence[Derived], now: datetime = NOW) -> set[tuple[object, ...]]:
    """Everything that can be said of facts, by the claims that they rest on."""
    key = {id(d): tuple(sorted(c.id for c in d.claims)) for d in found}
    return {
        (
            key[id(d)], d.words.text, d.start, d.ended, d.by and key[id(d.by)], tuple(sorted(key[id(o)] for o in d.against)), status(d, now),
            d.confidence(), d.provenance(), d.tags(), d.hand,
        )
        for d in found
    }  # fmt: skip


def only(claims: Sequence[Claim]) -> Derived:
    (found,) = derive(claims, judge)
    return found


def pair(claims: Sequence[Claim]) -> tuple[Derived, Derived]:
    one, other = derive(claims, judge)
    return one, other


# --- properties ------------------------------------------------------------------------------------------------------


@st.composite
def histories(draw: st.DrawFn) -> list[Claim]:
    """Up to nine statements about three subjects and up to five steps by hand, at whole days that often coincide."""
    texts = ["a:1", "a:2", "a:3", "b:1", "b:2", "c:1", "a:1+b:1", "a:2?", "b:1?"]
    trusts: list[Trust] = ["user", "agent", "tool", "external"]
    out: list[Claim] = []
    for i in range(draw(st.integers(1, 9))):
        at = draw(st.integers(0, 12))
        op = draw(st.sampled_from(["say", "say", "say", "supersede", "conflict", "reinforce"]))
        target = f"c{draw(st.integers(0, 8))}" if op != "say" else None
        out.append(
            say(
                f"c{i}", draw(st.sampled_from(texts)), at, trust=draw(st.sampled_from(trusts)), op=op, target=target if target != f"c{i}" else None,
                learned=at + draw(st.integers(0, 4)), suspicion=draw(st.sampled_from(["", "", "", "", "asks for a secret"])),
                confidence=draw(st.sampled_from([0.5, 0.7, 1.0])),
            )
        )  # fmt: skip
    for i in range(draw(st.integers(0, 5))):
        on = draw(st.integers(0, 16))
        step = draw(st.sampled_from(STEPS))
        out.append(done(f"h{i}", step, f"c{draw(st.integers(0, 8))}", on, at=draw(st.integers(0, 16)) if step == "end" else None))
    return out


@settings(max_examples=300, deadline=None)
@given(histories(), st.randoms(use_true_random=False))
def test_neither_order_nor_repetition_makes_a_difference(claims: list[Claim], random: object) -> None:
    facts = shape(derive(claims, judge))
    shuffled = [*claims, *claims]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert shape(derive(shuffled, judge)) == facts
    assert shape(derive(reversed(claims), judge)) == facts


@settings(max_examples=300, deadline=None)
@given(histories())
def test_what_always_holds(claims: list[Claim]) -> None:
    found = derive(claims, judge)
    said = [c for c in claims if c.text]
    assert sorted(c.id for d in found for c in d.claims) == sorted(c.id for c in said)  # every statement has one fact
    for d in found:
        assert d.start == min(c.at for c in d.claims) and (d.ended is None or d.ended >= d.start)
        assert 0.0 <= d.confidence() <= 1.0 and d.claims == sorted(d.claims, key=order)
        assert all(d in o.against and o in found and o is not d for o in d.against)
        assert all(o.ended is None and o.hand.retracted is None and not o.held for o in (d, *d.against) if d.against)
        if d.by is not None:
            assert d.by in found and d.by is not d
            trusted = 3 if d.by.hand.confirmed else max(RANK[c.trust] for c in d.by.claims)
            assert trusted >= d.rank
        if d.held:
            assert d.by is None and not d.against and all(o.by is not d for o in found) and status(d, NOW) == "quarantine"
    states = {status(d, NOW) for d in found}
    assert states <= {"active", "conflict", "deprecated", "archived", "quarantine"}


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["1", "2", "3"]), st.integers(0, 30)), min_size=1, max_size=12, unique_by=lambda p: p[1]))
def test_equal_voices_on_one_subject_give_its_values_through_time(told: list[tuple[str, int]]) -> None:
    """Against a plain reading: sort by time, and a new period begins where the value changes."""
    periods: list[tuple[str, datetime, datetime | None]] = []
    for value, at in sorted(told, key=lambda p: p[1]):
        if not periods or periods[-1][0] != value:
            if periods:
                periods[-1] = (*periods[-1][:2], day(at))
            periods.append((value, day(at), None))
    found = derive([say(f"c{at}", f"a:{value}", at) for value, at in told], judge)
    assert [(d.words.text[2:], d.start, d.ended) for d in found] == periods
    assert [d.by for d in found] == [*found[1:], None]


# --- statements ------------------------------------------------------------------------------------------------------


def test_no_claims_no_facts() -> None:
    assert derive([], judge) == []
    assert derive([done("h", "retract", "nothing", 1)], judge) == []


def test_two_sources_are_one_fact_from_the_earlier_on() -> None:
    fact = only([say("late", "a:1", 5), say("early", "a:1", 2)])
    assert [c.id for c in fact.claims] == ["early", "late"] and fact.start == day(2)
    assert {s.message for s in fact.provenance().spans} == {"m_early", "m_late"} and fact.tags() == ("early", "late")
    assert fact.confidence() == 0.8


def test_the_words_are_those_of_who_is_trusted_most() -> None:
    fact = only([say("tool", "a:1+b:1", 1, trust="tool"), say("user", "a:1", 3), say("later", "a:1+b:1", 4)])
    assert fact.words.id == "user" and fact.start == day(1) and fact.rank == RANK["user"]
    assert fact.provenance().spans[0].message == "m_user"


def test_every_source_is_kept_however_many() -> None:
    claims = [say(f"c{i}", "a:1", i) for i in range(90)]
    assert len(only(claims).provenance().spans) == 90
    assert only(claims).confidence() == 1.0


def test_another_value_ends_the_first_and_begins_the_next() -> None:
    old, new = pair([say("o", "a:1", 1), say("n", "a:2", 4)])
    assert (old.ended, old.by, new.ended) == (day(4), new, None)
    assert (status(old, NOW), status(new, NOW)) == ("deprecated", "active")


def test_what_was_said_in_between_and_learned_later_finds_its_place() -> None:
    first, middle, last = derive([say("a", "a:1", 1), say("c", "a:3", 9), say("b", "a:2", 5, learned=20)], judge)
    assert [(d.start, d.ended) for d in (first, middle, last)] == [(day(1), day(5)), (day(5), day(9)), (day(9), None)]


def test_two_periods_of_the_same_stay_two() -> None:
    found = derive([say("a", "a:1", 1), say("b", "a:2", 4), say("c", "a:1", 6)], judge)
    assert [(d.words.text, d.start, d.ended) for d in found] == [("a:1", day(1), day(4)), ("a:2", day(4), day(6)), ("a:1", day(6), None)]


@pytest.mark.parametrize("low", ["external", "tool", "agent"])
def test_lower_trust_never_supersedes(low: Trust) -> None:
    old, new = pair([say("o", "a:1", 1), say("n", "a:2", 4, trust=low)])
    assert old.ended is None and old.against == [new] and new.against == [old]
    assert (status(old, NOW), status(new, NOW)) == ("active", "conflict")


def test_a_statement_that_joins_two_makes_them_one() -> None:
    claims = [say("a", "a:1", 1), say("b", "b:1", 2), say("ab", "a:1+b:1", 3)]
    assert len(derive(claims[:2], judge)) == 2
    fact = only(claims)
    assert {c.id for c in fact.claims} == {"a", "b", "ab"} and fact.start == day(1)


def test_what_ended_one_of_two_that_are_joined_still_did() -> None:
    found = derive([say("x", "a:9", 0), say("a", "a:1", 1), say("b", "b:1", 2), say("ab", "a:1+b:1", 3)], judge)
    ended = next(d for d in found if d.words.id == "x")
    assert len(found) == 2 and ended.ended == day(1) and ended.by is next(d for d in found if d is not ended)


def test_a_conflict_is_seen_from_both_sides_and_goes_with_an_end() -> None:
    claims = [say("a", "a:1", 1), say("b", "a:2?", 2)]
    one, other = pair(claims)
    assert one.against == [other] and other.against == [one]
    assert (status(one, NOW), status(other, NOW)) == ("conflict", "conflict")
    for step in ("end", "retract", "archive"):
        one, other = pair([*claims, done("h", step, "a", 5)])  # type: ignore[arg-type]
        assert one.against == other.against == [] and status(other, NOW) == "active"


def test_a_period_that_is_still_to_come_is_no_past() -> None:
    """2030 and 2031 are known now: neither is over."""
    coming, later = pair([say("a", "a:1", 2_000), say("b", "a:2", 2_100)])
    assert (status(coming, NOW), status(later, NOW)) == ("active", "active")
    assert status(coming, day(2_050)) == "active" and status(coming, day(2_100)) == "deprecated"
    assert status(coming, day(2_100) - timedelta(microseconds=1)) == "active"


# --- told to -------------------------------------------------------------------------------------------------------


def test_told_to_supersede_what_no_rule_relates() -> None:
    old, new = pair([say("o", "a:1", 1), say("n", "z:1", 4, op="supersede", target="o")])
    assert (old.ended, old.by, new.ended) == (day(4), new, None)


def test_told_to_supersede_wins_over_the_rules_that_see_the_same() -> None:
    old, new = pair([say("o", "a:1", 1), say("n", "a:1", 4, op="supersede", target="o")])
    assert (old.ended, old.by) == (day(4), new)


def test_told_to_supersede_what_begins_later() -> None:
    """The later one is over before it began, and does not end in its turn what it was contradicted by."""
    for text in ("a:2", "z:1"):
        new, old = pair([say("o", "a:1", 9), say("n", text, 4, op="supersede", target="o")])
        assert (old.start, old.ended, old.by, new.ended) == (day(9), day(9), new, None)
        assert status(old, day(0)) == "deprecated"


def test_told_to_conflict() -> None:
    one, other = pair([say("o", "a:1", 1), say("n", "z:1", 4, op="conflict", target="o")])
    assert one.against == [other] and one.ended is None
    one, other = pair([say("o", "a:1", 1), say("n", "a:2", 4, op="conflict", target="o")])
    assert one.against == [other] and one.ended is None


def test_told_to_reinforce_in_other_words() -> None:
    for at in (4, 0):
        fact = only([say("o", "a:1", 1), say("n", "z:1", at, op="reinforce", target="o")])
        assert {c.id for c in fact.claims} == {"o", "n"}


def test_told_to_act_on_what_is_not_there() -> None:
    for op in ("supersede", "conflict", "reinforce"):
        assert only([say("n", "a:1", 4, op=op, target="gone")]).ended is None


# --- quarantine ------------------------------------------------------------------------------------------------------


def test_what_is_suspicious_stands_aside() -> None:
    bad = say("n", "a:2", 4, trust="external", suspicion="instruction")
    old, held = pair([say("o", "a:1", 1, trust="external"), bad])
    assert old.ended is None and not old.against and held.held and status(held, NOW) == "quarantine"


def test_suspicious_words_are_there_once() -> None:
    held = only([say(f"n{i}", "a:2", i, trust="external", suspicion="instruction") for i in range(3)])
    assert held.held and len(held.claims) == 3


def test_confirmed_they_count_as_anything_else_whoever_says_them_again() -> None:
    bad = [say(f"n{i}", "a:2", 4 + i, trust="external", suspicion="instruction") for i in range(2)]
    for target in ("n0", "n1"):
        old, new = pair([say("o", "a:1", 1), *bad, done("h", "confirm", target, 9)])
        assert not new.held and {c.id for c in new.claims} == {"n0", "n1"} and new.hand.confirmed == 1
        assert status(new, NOW) == "active"
        assert new.rank == RANK["user"]
    assert old is not new


def test_an_honest_statement_of_the_same_words_does_not_free_them() -> None:
    found = derive([say("bad", "a:2", 4, trust="external", suspicion="instruction"), say("good", "a:2", 5)], judge)
    assert [(d.words.id, status(d, NOW)) for d in found] == [("bad", "quarantine"), ("good", "active")]


# --- by hand ---------------------------------------------------------------------------------------------------------


def test_confirm() -> None:
    fact = only([say("a", "a:1", 1, trust="agent"), done("h", "confirm", "a", 2), done("i", "confirm", "a", 3)])
    assert fact.confidence() == 0.9 and fact.rank == RANK["user"] and fact.hand.confirmed == 2


def test_confirmed_by_the_user_no_agent_supersedes_it() -> None:
    old, new = pair([say("a", "a:1", 1, trust="agent"), done("h", "confirm", "a", 2), say("b", "a:2", 3, trust="agent")])
    assert old.ended is None and (status(old, NOW), status(new, NOW)) == ("active", "conflict")


def test_what_a_confirmation_decided_stays_decided() -> None:
    """Whatever becomes of the winner: ended, taken back or put aside, it does not bring the loser back."""
    told = [say("a", "a:1", 1), say("b", "a:2?", 3), done("h", "confirm", "b", 4)]
    for after in ("end", "retract", "archive"):
        old, new = pair([*told, done("i", after, "b", 6, at=6 if after == "end" else None)])
        assert old.by is new and old.end == day(4) and status(old, NOW) == "deprecated", after


def test_a_confirmation_decides_nothing_that_came_later() -> None:
    """What is brought back, said or disputed after it is in conflict again, until it is confirmed anew."""
    told = [say("a", "a:1", 1), say("b", "a:2?", 3), done("h", "confirm", "b", 4), done("i", "restore", "a", 6)]
    old, new = pair(told)
    assert old.end is None and old.against == [new] and status(old, NOW) == "conflict" and status(new, NOW) == "active"
    old, new = pair([*told, done("j", "confirm", "b", 8)])
    assert old.by is new and old.end == day(8)
    old, new = pair([say("a", "a:1", 1), done("h", "confirm", "a", 2), say("b", "a:2?", 3)])
    assert old.against == [new] and old.end is None and new.end is None


def test_what_was_aside_is_not_decided_upon() -> None:
    old, new = pair([say("a", "a:1", 1), say("b", "a:2?", 3), done("g", "archive", "a", 4), done("h", "confirm", "b", 5)])
    assert status(old, NOW) == "archived" and old.by is None
    old, new = pair([say("a", "a:1", 1), say("b", "a:2?", 3), done("g", "archive", "b", 4), done("h", "confirm", "b", 5)])
    assert old.end is None and new.end is None


def test_what_loses_to_what_is_confirmed_is_in_dispute_with_nobody_else() -> None:
    """A third that stood against the loser too, and came first, stands against nothing when that has ended."""
    third = say("c", "a:1+b:1?", 1, trust="agent")
    loser = say("a", "a:2", 2, trust="tool")
    chosen = say("b", "a:3?", 3)
    found = {d.claims[0].id: d for d in derive([third, loser, chosen, done("h", "confirm", "b", 9)], judge)}
    assert found["a"].by is found["b"] and not found["a"].against and not found["b"].against
    assert all(not any(o.ended for o in d.against) for d in found.values())


def test_a_conflict_is_decided_for_what_is_confirmed() -> None:
    unsure = [say("a", "a:1", 1), say("b", "a:2?", 3), done("h", "confirm", "b", 4)]
    one, other = pair(unsure)
    assert (status(one, NOW), status(other, NOW)) == ("deprecated", "active")
    lower = [say("a", "a:1", 1), say("b", "a:2", 3, trust="agent"), done("h", "confirm", "b", 4)]
    one, other = pair(lower)
    assert one.ended == day(3) and one.by is other and status(other, NOW) == "active"


def test_end() -> None:
    fact = only([say("a", "a:1", 1), done("h", "end", "a", 5)])
    assert fact.ended == day(5) and fact.by is None and status(fact, NOW) == "deprecated"
    assert only([say("a", "a:1", 3), done("h", "end", "a", 5, at=1)]).ended == day(3)  # never before it began


def test_ended_twice_it_ends_when_it_did_first() -> None:
    for first, second in ((4, 7), (7, 4)):
        fact = only([say("a", "a:1", 1), done("h", "end", "a", 9, at=first), done("i", "end", "a", 10, at=second)])
        assert fact.ended == day(4)


def test_retracted_twice_it_was_retracted_the_first_time() -> None:
    fact = only([say("a", "a:1", 1), done("h", "retract", "a", 5), done("i", "retract", "a", 8)])
    assert fact.hand.retracted == day(5) and status(fact, NOW) == "deprecated"


def test_said_again_after_it_was_taken_back_it_is_another() -> None:
    old, new = pair([say("a", "a:1", 1), done("h", "retract", "a", 5), say("b", "a:1", 8)])
    assert (status(old, NOW), status(new, NOW), new.start) == ("deprecated", "active", day(8))


def test_what_was_said_before_it_was_taken_back_and_read_later_does_not_bring_it_back() -> None:
    fact = only([say("a", "a:1", 1), done("h", "retract", "a", 5), say("b", "a:1", 4, learned=9)])
    assert status(fact, NOW) == "deprecated"


def test_told_by_hand_after_it_was_taken_back_it_is_another_whatever_time_it_is_about() -> None:
    told = say("b", "a:1", 2, learned=9, provenance=Provenance("s"))
    old, new = pair([say("a", "a:1", 1), done("h", "retract", "a", 5), told])
    assert (status(old, NOW), status(new, NOW), new.start) == ("deprecated", "active", day(2))


def test_archive_and_restore() -> None:
    steps = [say("a", "a:1", 1), done("h", "archive", "a", 5)]
    assert status(only(steps), NOW) == "archived"
    assert status(only([*steps, done("i", "restore", "a", 6)]), NOW) == "active"
    assert status(only([*steps, done("i", "restore", "a", 4)]), NOW) == "archived"


def test_steps_on_several_claims_of_a_fact_are_one_row() -> None:
    """The claim that gives the words changes with time, and the steps with it: they are still taken in their order."""
    claims = [say("a", "a:1", 1, trust="agent"), say("b", "a:1", 6)]
    assert status(only([*claims, done("h", "archive", "a", 5), done("i", "restore", "b", 7)]), NOW) == "active"
    assert status(only([*claims, done("h", "restore", "a", 5), done("i", "archive", "b", 7)]), NOW) == "archived"
    kept = only([*claims, done("h", "retract", "b", 8), done("i", "restore", "a", 9), done("j", "end", "b", 10)])
    assert kept.hand.retracted is None and kept.ended == day(10)


def test_restored_beside_its_successor_both_are_a_conflict() -> None:
    claims = [say("a", "a:1", 1), say("b", "a:2", 3), done("h", "restore", "a", 5)]
    old, new = pair(claims)
    assert old.ended is None and old.against == [new] and (status(old, NOW), status(new, NOW)) == ("conflict", "conflict")
    again, third = pair([*claims, say("c", "a:2", 7)])  # said anew, it holds
    assert again.ended == day(7) and status(third, NOW) == "active"


@pytest.mark.parametrize("first", STEPS)
@pytest.mark.parametrize("second", STEPS)
def test_every_two_steps(first: ClaimOp, second: ClaimOp) -> None:
    """Each step does the same before and after any other, but for `restore`, which takes back what was before it."""
    fact = only([say("a", "a:1", 1), done("h", first, "a", 5), done("i", second, "a", 6)])
    ops = [second] if second == "restore" else [first, second]
    done_ = {op for op in ops if op != "restore"} | ({"confirm"} & {first, second})
    assert (fact.hand.retracted is not None) == ("retract" in done_)
    assert (fact.ended is not None) == ("end" in done_)
    assert fact.hand.archived == ("archive" in done_)
    assert fact.hand.confirmed == [first, second].count("confirm")
    gone = bool(done_ & {"retract", "end"})
    assert status(fact, NOW) == ("deprecated" if gone else "archived" if "archive" in done_ else "active")

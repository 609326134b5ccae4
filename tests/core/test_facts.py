"""What operations do to facts: a compactor proposes, code decides."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leporello.core.facts import believed, changes
from leporello.records import Fact, Operation, Provenance, Scope, Span

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SCOPE = Scope(user="a")


def fact(id: str = "f1", text: str = "The office is in Lyon.", **values: Any) -> Fact:
    plain: dict[str, Any] = {
        "fact_kind": "fact", "why": "", "source": "user_stated", "trust": "user", "confidence": 0.7, "tags": (), "valid_from": NOW - timedelta(days=9),
        "valid_to": None, "recorded_at": NOW - timedelta(days=9), "retracted_at": None, "provenance": Provenance(),
    }  # fmt: skip
    return Fact(id, SCOPE, text, **(plain | values))


def run(*operations: Operation, known: tuple[Fact, ...] = ()) -> list[tuple[str, str, str]]:
    made = changes(operations, known, scope=SCOPE, session="s", now=NOW)
    return [(c.action, c.fact.text, c.fact.status) for c in made]


def test_add_and_say_again() -> None:
    op = Operation("add", "Tea is at four.", spans=(Span("m1", 0, 5, 3),), episodes=("e1",))
    made = changes([op, op], [], scope=SCOPE, session="s", now=NOW)
    assert len(made) == 1 and made[0].new
    assert made[0].fact.provenance == Provenance("s", (3,), ("e1",), (Span("m1", 0, 5, 3),))
    assert (made[0].fact.valid_from, made[0].fact.recorded_at) == (NOW, NOW)


def test_the_same_words_reinforce_once_per_source() -> None:
    op = Operation("add", "the office  is in LYON.", spans=(Span("m9", 0, 5),))
    [change] = changes([op, op], [fact()], scope=SCOPE, session="s", now=NOW)
    assert change.action == "reinforce" and change.fact.confidence == pytest.approx(0.8)
    assert changes([op], [change.fact], scope=SCOPE, session="s", now=NOW) == []


def test_supersede_keeps_both_and_links_them() -> None:
    op = Operation("supersede", "The office is in Porto.", target="f1", trust="user", at=NOW - timedelta(days=1))
    added, ended = changes([op], [fact()], scope=SCOPE, session="s", now=NOW)
    assert added.fact.supersedes == ("f1",) and added.replaces == "f1"
    assert (ended.fact.id, ended.fact.status, ended.fact.valid_to) == ("f1", "deprecated", op.at)
    early = Operation("supersede", "The office was in Nice.", target="f1", trust="user", at=NOW - timedelta(days=90))
    assert changes([early], [fact()], scope=SCOPE, session="s", now=NOW)[1].fact.valid_to == fact().valid_from


def test_lower_trust_never_supersedes_or_retracts() -> None:
    assert run(Operation("supersede", "The office is in Porto.", target="f1", trust="tool"), known=(fact(),)) == [
        ("add", "The office is in Porto.", "conflict")
    ]
    assert run(Operation("retract", target="f1", trust="agent"), known=(fact(),)) == []
    assert run(Operation("retract", target="f1", trust="user"), known=(fact(),)) == [("retract", "The office is in Lyon.", "deprecated")]


def test_unknown_targets_and_nothing_are_nothing() -> None:
    gone = fact(retracted_at=NOW)
    assert run(Operation("none"), Operation("retract", target="f9", trust="user"), Operation("reinforce", target="f1"), known=(gone,)) == []
    assert run(Operation("add", "  ")) == []
    assert run(Operation("conflict", "Or is it in Nice?", target="f1"), known=(fact(),)) == [("add", "Or is it in Nice?", "conflict")]


def test_reinforcing_by_episode_alone() -> None:
    op = Operation("reinforce", target="f1", episodes=("e1",))
    [change] = changes([op, op], [fact()], scope=SCOPE, session="s", now=NOW)
    assert change.fact.provenance.episodes == ("e1",)


DAYS = st.integers(0, 20).map(lambda d: NOW + timedelta(days=d))


@given(DAYS, DAYS, DAYS, st.one_of(st.none(), DAYS), st.one_of(st.none(), DAYS))
def test_belief_has_two_clocks(
    start: datetime, recorded: datetime, moment: datetime, end: datetime | None, retracted: datetime | None
) -> None:
    held = fact(valid_from=start, valid_to=end, recorded_at=recorded, retracted_at=retracted)
    was_true = start <= moment and (end is None or moment < end)
    was_held = recorded <= moment and (retracted is None or moment < retracted)
    assert believed(held, as_of=moment, believed_at=moment) == (was_true and was_held)
    assert believed(held, as_of=moment, believed_at=None) == (was_true and retracted is None)
    assert believed(held, as_of=None, believed_at=moment) == (was_held and end is None)
    assert believed(held, as_of=None, believed_at=None) == (retracted is None and end is None)

"""Episodes to operations on facts."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta

from leporello.adapters.extractive import ExtractiveCompactor
from leporello.records import Episode, Item, Operation, Scope, Section, Span, Trust

MONDAY = datetime(2026, 11, 30, 12, tzinfo=UTC)
SCOPE = Scope(user="u", session="s")


def item(text: str, section: Section = "event", *, trust: Trust = "user", day: int = 0, weight: float = 3.0, why: str = "") -> Item:
    return Item(section, text, why=why, spans=(Span("m1", 0, len(text), 1),), weight=weight, trust=trust, at=MONDAY + timedelta(days=day))


def episode(*items: Item, id: str = "e1", number: int = 1) -> Episode:
    at = items[-1].at if items and items[-1].at else MONDAY
    return Episode(id, SCOPE, number, (1, 10), (1, 20), at, at, "Something happened.", items, "extractive/1")


def distil(episodes: list[Episode]) -> tuple[Operation, ...]:
    return ExtractiveCompactor().distil(episodes, [])


def test_what_a_user_states_is_added_with_full_confidence_and_its_sources() -> None:
    (op,) = distil([episode(item("Alice: I moved from Lyon to Porto last week (week of 2026-11-23)."))])
    assert (op.op, op.fact_kind, op.source, op.trust, op.confidence) == ("add", "fact", "user_stated", "user", 1.0)
    assert op.episodes == ("e1",) and op.spans[0].message == "m1" and op.at == MONDAY


def test_what_an_agent_concludes_is_inferred() -> None:
    (op,) = distil(
        [
            episode(
                item("We decided to use an advisory lock because it spans processes.", "decision", trust="agent", why="it spans processes")
            )
        ]
    )
    assert (op.fact_kind, op.source, op.confidence, op.why) == ("decision", "inferred", 0.7, "it spans processes")


def test_nothing_is_made_of_chatter_questions_tools_and_passing_state() -> None:
    assert not distil([episode(
        item("Thanks a lot!"), item("How are you doing today?"), item("Let me run the tests now.", "decision", trust="agent"),
        item("The build prints that it is done with everything.", "result", trust="tool"), item("All the tests pass in this branch now.", "state", trust="agent"),
        item("ok yes", "confirmation"), item("Far too long. " * 40), item("We decided to use line 12 of it.", "decision", trust="agent"), item("The cache was dropped.", "eliminated", trust="agent"),
        item("The user likes to work at night on these things.", "preference", trust="agent"), item("You did a truly wonderful job there.", weight=0.8),
    )])  # fmt: skip
    assert not distil([])


def test_constraints_and_preferences() -> None:
    ops = distil(
        [episode(item("Never touch the production database.", "constraint"), item("I prefer tabs over spaces in Go files.", "preference"))]
    )
    assert {o.fact_kind for o in ops} == {"procedure", "preference"}


def test_a_users_plan_for_the_moment_is_no_decision_to_keep() -> None:
    plan = item("let's add this scenario to the document, please.", "decision")
    chosen = item("We'll use PostgreSQL 16 instead of MySQL in billing_service.", "decision")
    assert [o.text for o in distil([episode(plan, chosen)])] == [chosen.text]


def test_only_corrections_that_hold_on_and_causes_that_are_named_are_kept() -> None:
    ops = distil([episode(
        item("No, that file is the wrong one here.", "correction"), item("No, always run the linter before a commit.", "correction"),
        item("The root cause was that two workers share one connection.", "error", trust="agent"), item("Two of the tests did fail on the second machine.", "error", trust="agent"),
        item("[shares a photo of a dog that sits on a lawn]"),
    )])  # fmt: skip
    assert [o.text for o in ops] == [
        "No, always run the linter before a commit.",
        "The root cause was that two workers share one connection.",
    ]


def test_at_most_ten_a_session() -> None:
    items = [item(f"Alice: In {2000 + n} I visited city number {n} and met person {n}.") for n in range(40)]
    assert len(distil([episode(*items)])) == 10


def test_a_decision_that_is_given_up_later_is_superseded() -> None:
    later = item("drop RabbitMQ for the queue and use a table in Postgres instead.", "decision", day=5)
    both = distil([episode(item("We decided to use RabbitMQ for the photo queue.", "decision"), later)])
    assert [o.text for o in both] == [later.text]


def test_rules_said_in_one_breath_are_one_fact_when_there_are_too_many() -> None:
    rules = [f"Never move barrel number {n} of row {n}{n} by hand." for n in range(12)]
    texts, place = [], 0
    for rule in rules:
        texts.append(dataclasses.replace(item(rule, "constraint"), spans=(Span("m1", place, place + len(rule), 1),)))
        place += len(rule) + 1
    found = distil([episode(*texts)])
    assert len(found) <= 10 and sum(o.text.count("Never move") for o in found) == 12


def test_what_leans_on_what_was_said_before_it_is_no_fact() -> None:
    leaning = (
        "Sorry about the delay with the garden photographs.", "Thanks for the lovely evening at the lake house.", "Wish me luck for the recital on Sunday.",
        "I put a great deal of energy into it.", "That was the best concert of the whole summer.", "I love how the colours of the sunset blend.",
    )  # fmt: skip
    assert [o.text for o in distil([episode(*(item(t) for t in leaning))])] == []
    assert distil([episode(item("I put my savings into an allotment garden in Porto."))])

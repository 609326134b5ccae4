"""Episodes to operations on facts."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta

from leporello.adapters.extractive import ExtractiveCompactor
from leporello.records import Episode, Fact, Item, Operation, Provenance, Scope, Section, Span, Trust

MONDAY = datetime(2026, 11, 30, 12, tzinfo=UTC)
SCOPE = Scope(user="u", session="s")


def item(text: str, section: Section = "event", *, trust: Trust = "user", day: int = 0, weight: float = 3.0, why: str = "") -> Item:
    return Item(section, text, why=why, spans=(Span("m1", 0, len(text), 1),), weight=weight, trust=trust, at=MONDAY + timedelta(days=day))


def episode(*items: Item, id: str = "e1", number: int = 1) -> Episode:
    at = items[-1].at if items and items[-1].at else MONDAY
    return Episode(id, SCOPE, number, (1, 10), (1, 20), at, at, "Something happened.", items, "extractive/1")


def fact(operation: Operation, id: str) -> Fact:
    at = operation.at or MONDAY
    return Fact(
        id, SCOPE, operation.text, operation.fact_kind, operation.why, operation.source, operation.trust, operation.confidence, operation.tags,
        at, None, at, None, Provenance("s", (1,), operation.episodes, operation.spans),
    )  # fmt: skip


def distil(episodes: list[Episode], known: list[Fact] | None = None) -> tuple[Operation, ...]:
    return ExtractiveCompactor().distil(episodes, known or [])


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


def test_a_statement_and_its_denial_are_about_the_same() -> None:
    old = fact(distil([episode(item("Anna eats fish and meat every day."))])[0], "f1")
    assert [o.op for o in distil([episode(item("Anna does not eat fish and meat every day.", day=9), id="e2", number=2)], [old])] == [
        "supersede"
    ]
    number = fact(distil([episode(item("The shop opens at 9 every morning in May."))])[0], "f2")
    assert [
        o.op for o in distil([episode(item("The shop now opens at 10 every morning in May.", day=9), id="e2", number=2)], [number])
    ] == ["supersede"]


def test_distilling_twice_adds_nothing() -> None:
    episodes = [
        episode(
            item("Alice: I work at Siemens as an engineer."),
            item("Never deploy on a Friday afternoon.", "constraint"),
            item("Alice: I now work at Bosch as an engineer.", day=3),
        )
    ]
    facts = [fact(o, f"f{n}") for n, o in enumerate(distil(episodes))]
    assert distil(episodes) == distil(episodes)
    assert not [o for o in distil(episodes, facts) if o.op not in {"none", "reinforce"}]


def test_what_is_about_something_else_is_added() -> None:
    known = [fact(distil([episode(item("Never deploy on a Friday afternoon.", "constraint"))])[0], "f1")]
    assert [o.op for o in distil([episode(item("Always write tests before code.", "constraint", day=1), id="e2", number=2)], known)] == [
        "add"
    ]


def test_said_again_in_another_episode_reinforces() -> None:
    known = [fact(distil([episode(item("Never deploy on a Friday afternoon.", "constraint"))])[0], "f1")]
    (op,) = distil([episode(item("Never deploy on a Friday afternoon!", "constraint", day=5), id="e2", number=2)], known)
    assert (op.op, op.target) == ("reinforce", "f1")


def test_a_new_value_of_the_same_subject_supersedes_later_and_with_equal_trust_only() -> None:
    old = fact(distil([episode(item("Alice: I live in Lyon with my two cats."))])[0], "f1")
    newer = episode(item("Alice: I moved to Porto with my two cats.", day=30), id="e2", number=2)
    (op,) = distil([newer], [old])
    assert (op.op, op.target) == ("supersede", "f1")
    earlier = episode(item("Alice: I moved to Porto with my two cats.", day=-30), id="e2", number=2)
    assert not distil([earlier], [old])
    assert [o.op for o in distil([episode(item("Bob: I moved to Porto with my two cats.", day=30), id="e2", number=2)], [old])] == ["add"]


def test_an_agent_does_not_supersede_a_user() -> None:
    old = fact(distil([episode(item("The deploy window is Tuesday at noon.", "constraint"))])[0], "f1")
    agent = item("The deploy window is Friday because the calendar was changed.", "eliminated", trust="agent", day=3)
    assert [o.op for o in distil([episode(agent, id="e2", number=2)], [old])] == ["conflict"]


def test_facts_that_were_closed_do_not_come_back() -> None:
    first = episode(item("Alice: I live in Lyon with my two cats."))
    old = dataclasses.replace(fact(distil([first])[0], "f1"), valid_to=MONDAY + timedelta(days=30))
    assert not distil([first], [old])


def test_at_most_ten_a_session() -> None:
    items = [item(f"Alice: In {2000 + n} I visited city number {n} and met person {n}.") for n in range(40)]
    assert len(distil([episode(*items)])) == 10


def test_statements_in_chinese() -> None:
    old = fact(distil([episode(item("会议的地点是上海国际中心。"))])[0], "f1")
    (op,) = distil([episode(item("会议的地点是北京展览馆。", day=2), id="e2", number=2)], [old])
    assert op.op == "supersede"


def test_a_decision_that_is_given_up_later_is_superseded() -> None:
    old = fact(distil([episode(item("We decided to use RabbitMQ for the photo queue.", "decision"))])[0], "f1")
    later = item("drop RabbitMQ for the queue and use a table in Postgres instead.", "decision", day=5)
    assert [(o.op, o.target) for o in distil([episode(later, id="e2", number=2)], [old])] == [("supersede", "f1")]
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

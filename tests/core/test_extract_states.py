"""What users tell on the way: a measure, a count, a day, who they are; and what is none of these."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leporello.core.extract import states
from leporello.core.extract.states import STATE, state
from leporello.records import Message, Scope

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)


def said(*texts: str, role: str = "user", name: str | None = None) -> list[Message]:
    out = []
    for n, text in enumerate(texts, 1):
        out.append(Message(f"m{n}", Scope(session="s"), 2 * n - 1, n, role, name, AT, AT, "user", text, {"role": role, "content": text}))
        out.append(
            Message(
                f"a{n}",
                Scope(session="s"),
                2 * n,
                n,
                "assistant",
                None,
                AT,
                AT,
                "agent",
                "Noted.",
                {"role": "assistant", "content": "Noted."},
            )
        )
    return out


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "I'm trying to speed up the API, which has recently improved to 250ms, but can you help me with the login?",
            "I'm trying to speed up the API, which has recently improved to 250ms",
        ),
        (
            "Can you check the plan, given that I have already completed 15 problems with 95% accuracy?",
            "I have already completed 15 problems with 95% accuracy?",
        ),
        ("I've added two projects, so now I have a total of 10 cards.", "now I have a total of 10 cards."),
        ("We moved the review to April 22 at 11 AM, how do I tell the others?", "We moved the review to April 22 at 11 AM"),
        ("I live in Porto with my two cats.", "I live in Porto with my two cats."),
        ("Ich wohne in Berlin, kannst du mir helfen?", "Ich wohne in Berlin"),
        ("J'habite à Lyon depuis 2019.", "J'habite à Lyon depuis 2019."),
        ("Vivo en Madrid con mi familia.", "Vivo en Madrid con mi familia."),
        ("我对花生过敏。", "我对花生过敏。"),
        ("Call me Bob.", "Call me Bob."),
        ("Use tabs, not spaces, in this project.", "Use tabs, not spaces, in this project."),
        ("Bob is our new product owner.", "Bob is our new product owner."),
    ],
)
def test_a_state_is_told_by_its_own_clause(text: str, told: str) -> None:
    found = state(text)
    assert found is not None and found.weight > 0
    assert text[found.start : found.end].strip() == told or told in text[found.start : found.end]


@pytest.mark.parametrize(
    "text",
    [
        "Can you tell me where I live?", "How many cards do I have?", "I'm not sure how to do it.", "I love how it works.", "What if we moved to 20 workers?",
        "There is an error in line 12.", "Thanks a lot!", "", "?", "I'd like to have 10 of them some day",
    ],
)  # fmt: skip
def test_questions_wishes_and_reactions_tell_none(text: str) -> None:
    found = state(text)
    assert found is None or "20 workers" not in text[found.start : found.end]


def test_the_characters_are_those_of_the_message() -> None:
    messages = said("Hello! I'm updating my CV, and the number of my clients has increased to 7, how should I show it?")
    [item] = states(messages)
    span = item.spans[0]
    assert item.key == STATE and "increased to 7" in messages[0].text[span.start : span.end] and item.trust == "user" and item.at == AT


def test_an_agent_at_work_hears_rules_and_no_numbers_or_small_talk() -> None:
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]}
    messages = said(
        "The build went down to 250 ms now.", "My cat has decided that the keyboard is hers.", "Use tabs, not spaces, in this project."
    )
    messages[1] = Message("a1", Scope(session="s"), 2, 1, "assistant", None, AT, AT, "agent", "", call)
    assert [i.text for i in states(messages)] == ["Use tabs, not spaces, in this project."]


def test_where_people_talk_every_statement_is_weighed_elsewhere() -> None:
    ann, bob = said("I live in Porto.", name="Ann")[0], said("I live in Rome.", name="Bob")[0]
    assert states([ann, bob]) == []


@given(st.text(max_size=400))
@settings(max_examples=200, deadline=None)
def test_any_text_is_read(text: str) -> None:
    found = state(text)
    assert found is None or 0 <= found.start <= found.end <= len(text)


def test_long_text_takes_no_long_time() -> None:
    for text in ("we moved " * 3_000, "I " * 9_000, "1 " * 9_000, "my cat, " * 4_000, "a" * 20_000):
        state(text)

"""A proposal gets no more trust than what it rests on."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from leporello.core.facts import sound
from leporello.records import Message, Operation, Scope, Span, Trust

AT = datetime(2026, 3, 2, tzinfo=UTC)
TEXT = "The office is in Porto."


def message(trust: Trust, *, role: str = "user", name: str | None = None) -> Message:
    return Message("m1", Scope(session="s"), 1, 1, role, name, AT, AT, trust, TEXT, {"role": role, "content": TEXT})


CLAIMED = Operation("add", TEXT, trust="user", source="user_stated", confidence=1.0, spans=(Span("m1", 0, len(TEXT), 1),))


@pytest.mark.parametrize(("trust", "sure"), [("user", 1.0), ("agent", 0.7), ("tool", 0.5), ("external", 0.5)])
def test_trust_is_that_of_the_message(trust: Trust, sure: float) -> None:
    made = sound(CLAIMED, {"m1": message(trust)})
    assert made is not None and (made.trust, made.confidence) == (trust, sure)
    assert made.source == {"user": "user_stated", "agent": "inferred"}.get(trust, trust)


def test_the_least_trusted_message_counts_and_nothing_is_raised() -> None:
    both = replace(CLAIMED, spans=(Span("m1", 0, 5, 1), Span("m2", 0, 5, 1)))
    made = sound(both, {"m1": message("user"), "m2": replace(message("external"), id="m2")})
    assert made is not None and made.trust == "external"
    modest = replace(CLAIMED, trust="agent", confidence=0.4, source="inferred")
    assert sound(modest, {"m1": message("user")}) == modest


def test_without_a_place_in_what_was_read_it_is_an_agents() -> None:
    for spans in ((), (Span("m9", 0, 5, 1),), (Span("m1", 5, 5, 1),), (Span("m1", 0, 9_999, 1),)):
        made = sound(replace(CLAIMED, spans=spans), {"m1": message("user")})
        assert made is not None and (made.trust, made.confidence, made.spans) == ("agent", 0.7, ())


def test_a_person_in_the_assistants_place_speaks_for_themselves() -> None:
    made = sound(CLAIMED, {"m1": message("agent", role="assistant", name="Melanie")})
    assert made is not None and made.trust == "user"
    bot = sound(CLAIMED, {"m1": message("agent", role="assistant", name="assistant")})
    assert bot is not None and bot.trust == "agent"


@pytest.mark.parametrize(
    "wrong",
    [
        {"confidence": float("nan")}, {"confidence": 2}, {"confidence": True}, {"confidence": "1"}, {"fact_kind": "zzz"}, {"op": "delete"}, {"trust": "god"},
        {"text": None}, {"text": "x" * 3_000}, {"why": 7}, {"target": 7}, {"at": datetime(2026, 1, 1)}, {"at": "now"}, {"spans": [1]}, {"tags": "a"}, {"tags": (1,)},
        {"episodes": None}, {"source": b"x"},
    ],
)  # fmt: skip
def test_what_is_malformed_is_nothing(wrong: dict[str, Any]) -> None:
    assert sound(replace(CLAIMED, **wrong), {"m1": message("user")}) is None
    assert sound("add", {}) is None and sound(None, {}) is None

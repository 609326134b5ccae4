"""What is stored of a loop and read again; goals and tasks; usage and prices."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from leporello.core.loop.goals import carried, request_text, todos_of
from leporello.core.loop.settings import LoopSettings, given
from leporello.core.loop.state import Plan, Tally, View, counted, item_of, tally_of, view_of
from leporello.core.loop.usage import PRICES, Price, is_reply, micros, plausible, price, prices_of, usage_of
from leporello.records import Item, Message, Scope, Span, Trust, Usage

AT = datetime(2026, 3, 2, tzinfo=UTC)


def message(content: Any, role: str = "user", trust: Trust = "user", **more: Any) -> Message:
    text = content if isinstance(content, str) else ""
    return Message("m_1", Scope(), 1, 1, role, None, AT, AT, trust, text, {"role": role, "content": content, **more}, 5)


def call(name: str, arguments: Any) -> Message:
    return message([{"type": "tool_use", "id": "t", "name": name, "input": arguments}], "assistant", "assistant")


def test_a_view_comes_back_from_json() -> None:
    item = Item("decision", "Use \ud83d port", "Free.", "srv", (Span("m_1", 0, 3, 2),), 0.5, "user", AT)
    view = View(
        "flat",
        4,
        2,
        3,
        ("a", "b"),
        "goal",
        "now",
        "- [ ] t",
        "c",
        (item, Item("goal", "x")),
        "by",
        2,
        1,
        3,
        "p",
        {"5": ["t", ["m_9"]]},
        ("f_1",),
    )
    assert view_of(json.loads(json.dumps(view.to_dict()))) == view
    assert view.shown == ("f_1", "m_9") and view_of(None) is None and view_of({}) == View()
    assert view_of({"start": 3, "from a later version": 1}) == View(start=3)


def test_a_tally_comes_back_from_json() -> None:
    tally = Tally(
        3, 2, pairs={"m": [[1, 2]]}, fallbacks=("a",), failures={"x": 1}, plan=Plan("folded", 9, (4, 9), "window"), budget={"usd": 1.5}
    )
    assert tally_of(json.loads(json.dumps(tally.to_dict()))) == tally
    assert tally_of({}) == Tally() and tally_of({"later": 1, "plan": {"kind": "flat", "start": 2, "later": 1}}).plan == Plan("flat", 2)
    assert counted({"a": 1}, ["a", "b", "b"]) == {"a": 2, "b": 2}


@pytest.mark.parametrize("bad", [{}, {"section": "nonsense", "text": "x"}, {"section": "goal"}, {"section": "goal", "text": 5}])
def test_items_that_are_none(bad: dict[str, Any]) -> None:
    assert item_of(bad) is None and view_of({"items": [bad]}) == View()


def test_settings_over_stored_ones() -> None:
    asked = given({"window": 9_000, "mode": None})
    stored = {**LoopSettings(("s",), window=5_000, mode="flat").to_dict(), "later": 1}
    made = asked.over(json.loads(json.dumps(stored)))
    assert (made.window, made.mode, made.system) == (9_000, "flat", ("s",))
    assert (made.room_for_answer(16_000), made.room_for_answer(200_000)) == (2_000, 8_192)
    assert given({"reserve": 5}).over({}).room_for_answer(16_000) == 5


def test_what_the_user_asks_is_his_own_text() -> None:
    assert request_text(message("  Do it.  ")) == "Do it."
    assert (
        request_text(message([{"type": "text", "text": "<system-reminder>x</system-reminder>"}, {"type": "text", "text": "Do it."}]))
        == "Do it."
    )
    results = [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]
    for other in (message("x", "assistant"), message("x", trust="tool"), message(results), message("<leporello-memory>x"), message("")):
        assert request_text(other) == ""


TODO_SHAPES = [
    ("TodoWrite", {"todos": [{"content": "A", "status": "completed"}, {"content": "B", "status": "in_progress"}, {"content": "C"}]}, "- [x] A\n- [~] B\n- [ ] C"),
    ("update_plan", {"plan": [{"step": "A", "status": "done"}, {"step": "B", "status": "pending"}]}, "- [x] A\n- [ ] B"),
    ("write_todos", {"items": ["A", " ", {"title": "B", "done": True}, 5, {"no": "text"}]}, "- [ ] A\n- [x] B"),
    ("todo", [{"task": "A"}], "- [ ] A"),
    ("TodoWrite", {"todos": "A"}, ""), ("TodoWrite", {}, ""), ("TodoWrite", {"todos": []}, ""), ("read", {"todos": ["A"]}, ""), ("todo", 5, ""),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "lines"), TODO_SHAPES)
def test_lists_of_tasks_in_every_shape(name: str, arguments: Any, lines: str) -> None:
    assert todos_of(call(name, arguments)) == lines


def test_a_list_whose_json_is_broken_is_none() -> None:
    broken = message(
        None,
        "assistant",
        "assistant",
        tool_calls=[{"id": "t", "type": "function", "function": {"name": "TodoWrite", "arguments": '{"todos": ['}}],
    )
    assert todos_of(broken) == ""


def test_the_first_request_stays_and_the_newest_moves() -> None:
    view = View()
    assert carried(view, [message("First."), message("Second."), message("said", "assistant")], tokens=50) == ("First.", "Second.", "")
    held = View(goal="First.", current="Second.", todos="- [ ] A")
    assert carried(held, [call("TodoWrite", {"todos": []})], tokens=50) == ("First.", "Second.", "- [ ] A")
    assert carried(held, [call("TodoWrite", {"todos": ["B"]}), message("Third.")], tokens=50) == ("First.", "Third.", "- [ ] B")
    assert len(carried(view, [message("word " * 1_000)], tokens=20)[0]) < 100


REPLIES: list[tuple[dict[str, Any], Usage | None]] = [
    ({"model": "m", "usage": {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 1}}, Usage("m", 9, 2, 3, 1)),
    ({"model": "m", "usage": {"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 3}}}, Usage("m", 5, 2, 3, 0)),
    ({"model": "m", "object": "response", "usage": {"input_tokens": 5, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 3}}}, Usage("m", 5, 2, 3, 0)),
    ({"object": "response", "usage": {"input_tokens": 5, "output_tokens": 2}}, Usage("", 5, 2, 0, 0)),
    ({"usage": {"input_tokens": 5, "output_tokens": True, "cache_read_input_tokens": -1}}, Usage("", 5, 0, 0, 0)),
    ({"usage": {}}, None), ({"usage": None}, None), ({}, None),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "used"), REPLIES)
def test_usage_in_every_form(reply: dict[str, Any], used: Usage | None) -> None:
    assert usage_of(reply) == used
    if isinstance(reply.get("usage"), dict):
        assert usage_of(SimpleNamespace(**{**reply, "usage": SimpleNamespace(**reply["usage"])})) == used


def test_only_objects_are_surely_replies() -> None:
    assert is_reply(SimpleNamespace(usage=1, content=[])) and not is_reply({"usage": 1, "content": []})
    assert not is_reply(SimpleNamespace(usage=None, content=[])) and not is_reply(SimpleNamespace(usage=1)) and not is_reply("x")
    assert plausible(1_000, 250) and plausible(0, 2_000) and not plausible(1_000, 249) and not plausible(100, 2_401)


def test_prices() -> None:
    table = prices_of({"a": {"input": 1, "output": 2}, "a-b": Price(3, 4, 5, 6)})
    assert table["a"] == Price(1, 2, 1, 1)
    assert price("a-b-2026", table) == Price(3, 4, 5, 6) and price("vendor/a-x", table) == table["a"] and price("x", table) is None
    assert price("gpt-5-mini-2026-01-01") == PRICES["gpt-5-mini"] and price("", {}) is None
    assert micros(Usage("a", 1_000, 100, 400, 100), Price(1, 10, 0.1, 1.25)) == 500 + 40 + 125 + 1_000
    assert micros(Usage("a", 10, 0, 400, 100), Price(1, 10, 0, 0)) == 0

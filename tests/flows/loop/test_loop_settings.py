"""Every setting that cannot be is refused at the door, by a typed error with a hint."""

from __future__ import annotations

import math
from typing import Any

import pytest

from leporello.errors import BadSetting, BadValue, InputError
from leporello.memory import Memory

PRICE = {"input": 1.0, "output": 2.0}
BAD: list[dict[str, Any]] = [
    {"window": 0}, {"window": 499}, {"window": -1}, {"window": True}, {"window": "200k"}, {"window": 1e5}, {"window": 10**9},
    {"reserve": -1}, {"reserve": 1.5}, {"reserve": 200_000}, {"reserve": 4_000, "window": 4_000}, {"mode": "layers"}, {"mode": 1}, {"restore": "tail"},
    {"recall": 1}, {"recall": "no"}, {"background": "yes"}, {"breakpoints": 0}, {"model": 5}, {"model": b"gpt"}, {"system": 5}, {"system": {"text": "x"}},
    {"system": [1]}, {"system": [{"type": "text"}]}, {"tools": "read"}, {"tools": [1]}, {"tools": {"name": "read"}}, {"tokenizer": 5}, {"tokenizer": "o200k"},
    {"native": object()}, {"native": "anthropic"}, {"prices": 5}, {"prices": {"m": 5}}, {"prices": {"m": {"input": 1}}},
    {"prices": {"m": {**PRICE, "other": 1}}}, {"prices": {"m": {**PRICE, "cached": "x"}}}, {"prices": {"m": {**PRICE, "written": -1}}},
    {"prices": {"m": {**PRICE, "input": math.nan}}}, {"prices": {"m": {**PRICE, "input": True}}}, {"unknown": 1},
]  # fmt: skip


@pytest.mark.parametrize("options", BAD, ids=lambda o: "+".join(o))
def test_settings_of_a_session(mem: Memory, options: Any) -> None:
    with pytest.raises(BadSetting) as e:
        mem.scope(user="a").session("s", **options)
    assert e.value.hint and e.value.detail and next(iter(options)) in str(e.value) or "price" in str(e.value)
    assert mem.scope(user="a").sessions() == ()


@pytest.mark.parametrize(
    "asked", [{"window": 499}, {"window": True}, {"window": "x"}, {"window": 10**9}, {"model": 5}, {"overflow": "connection reset"}]
)
def test_settings_of_a_request(mem: Memory, asked: Any) -> None:
    session = mem.scope(user="a").session("s")
    session.add("Hello.")
    with pytest.raises(InputError) as e:
        session.request("openai", **asked)
    assert e.value.hint and session.report().requests == 0


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        ({"per": "week"}, BadSetting), ({"per": None}, BadSetting), ({"tokens": -1}, InputError), ({"tokens": 1.5}, InputError), ({"tokens": True}, InputError),
        ({"usd": -1}, BadValue), ({"usd": True}, BadValue), ({"usd": "5"}, BadValue), ({"usd": math.nan}, BadValue), ({"usd": math.inf}, BadValue),
    ],
)  # fmt: skip
def test_settings_of_a_budget(mem: Memory, asked: Any, kind: type[InputError]) -> None:
    session = mem.scope(user="a").session("s")
    with pytest.raises(kind) as e:
        session.budget(**asked)
    assert e.value.hint and not session.report().budget


@pytest.mark.parametrize("name", ["", None, 5])
def test_a_phase_has_a_name(mem: Memory, name: Any) -> None:
    with pytest.raises(InputError):
        mem.scope(user="a").session("s").phase(name)


def test_what_is_none_is_not_given(mem: Memory) -> None:
    session = mem.scope(user="a").session("s", system=None, tools=None, window=None, mode=None, tokenizer=None, prices=None, native=None)
    session.add("Hello.")
    assert session.request("openai") == {"messages": [{"role": "user", "content": "Hello."}]}
    assert session.report().window == 200_000


def test_orders_before_the_first_message_hold(mem: Memory) -> None:
    session = mem.scope(user="a").session("s", window=9_000)
    session.phase("plan")
    session.budget(tokens=100, per="session")
    report = mem.scope(user="a").session("s").report()
    assert (report.phase, report.window, report.budget) == ("plan", 9_000, {"tokens": 100, "per": "session"})


def test_an_empty_system_is_none(mem: Memory) -> None:
    session = mem.scope(user="a").session("s", system=["  ", {"type": "text", "text": "Be brief."}])
    session.add("Hello.")
    assert [b["text"] for b in session.request("anthropic")["system"]] == ["Be brief."]
    blank = mem.scope(user="a").session("t", system="  ")
    blank.add("Hello.")
    assert "system" not in blank.request("anthropic")


def test_tools_are_marked_where_there_is_no_system(mem: Memory, kit: Any) -> None:
    session = mem.scope(user="a").session("s", tools=kit.tools)
    session.add("Hello.")
    body = session.request("anthropic")
    assert "cache_control" in body["tools"][-1] and "cache_control" not in kit.shown(kit.tools)
    assert "system" not in body


@pytest.mark.parametrize("tokenizer", [lambda text: 1 / 0, lambda text: None, lambda text: -1, lambda text: "3"])
def test_a_tokenizer_that_does_not_count_is_named(mem: Memory, tokenizer: Any) -> None:
    session = mem.scope(user="a").session("s", tokenizer=tokenizer)
    session.add("Hello.")
    with pytest.raises(BadValue, match="tokenizer"):
        session.request("anthropic")

"""Every door answers what does not fit with a typed error, and what was stored stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import leporello
from leporello.errors import LeporelloError
from leporello.memory import Memory

NAN = float("nan")
CYCLE: list[Any] = []
CYCLE.append(CYCLE)
DEEP: Any = "x"
for _ in range(3_000):
    DEEP = [DEEP]


@pytest.fixture
def mem(tmp_path: Path) -> Iterator[Memory]:
    with leporello.open(tmp_path / "m.db", embedder="hash") as opened:
        yield opened


CALLS: list[Callable[[leporello.Scoped], Any]] = [
    *(lambda h, v=v: h.remember(v) for v in (None, 1, b"x", ["x"], "")),
    *(lambda h, v=v: h.remember("x", trust=v) for v in ("user!!", 1, NAN, b"x", "\ud800")),
    lambda h: h.remember("x", name=1),
    lambda h: h.remember("x", role=""),
    lambda h: h.remember("x", origin=1),
    lambda h: h.remember("x", at="nonsense"),
    *(lambda h, v=v: h.remember_many(v) for v in ("abc", b"abc", {"text": "x"}, [1], [None], [{"text": "x", "trust": "me"}])),
    *(lambda h, v=v: h.learn(v) for v in (1, None, "", " ")),
    lambda h: h.learn("x", kind="opinion"),
    lambda h: h.learn("x", source=1),
    lambda h: h.learn("x", why=None),
    lambda h: h.learn("x", tags="abc"),
    *(lambda h, v=v: h.learn("x", confidence=v) for v in (2, -1, NAN, "1", True)),
    lambda h: h.learn("x", level="planet"),
    *(lambda h, v=v: h.recall(v) for v in (None, 1, [], "", " ")),
    *(lambda h, v=v: h.recall("x", k=v) for v in (None, 0, -1, 1.5, True, "3", 10**9)),
    *(lambda h, v=v: h.recall("x", kinds=v) for v in (None, (), "memory", ("fact", 1), 3)),
    *(lambda h, v=v: h.context(v) for v in (1, b"x")),
    lambda h: h.context("x", system=1),
    *(lambda h, v=v: h.context("x", budget=v) for v in (NAN, float("inf"), "9", -1, None)),
    *(lambda h, v=v: h.get(v) for v in (None, 1, "", "m_nobody", "\ud800")),
    *(lambda h, v=v: h.explain(v) for v in (None, 1, "e_nobody")),
    *(lambda h, v=v: h.erase(v) for v in (None, 1, "f_nobody")),
    lambda h: h.set_note(1, "x"),
    lambda h: h.set_note("", "x"),
    lambda h: h.set_note("k", {1, 2}),
    *(lambda h, v=v: h.session(v) for v in (1, "", b"x")),
    *(
        lambda h, v=v: h.session("s").add(v)
        for v in (1, None, object(), {}, {"role": "user", "content": DEEP}, CYCLE, {"content": "x"}, {1: 2})
    ),
    *(lambda h, v=v: h.session("s").unfold(v) for v in (None, 1, "e_nobody")),
    *(lambda h, v=v: h.session("s").compact(max_tokens=v) for v in (NAN, "x", None, -1, 1)),
    *(lambda h, v=v: h.session("s").pin(v) for v in (1, "", None)),
    lambda h: h.session("s").unpin(1),
    *(lambda h, v=v: list(h.session("s").messages(last=v)) for v in (NAN, float("inf"), 1.5, "3", True)),
    lambda h: list(h.session("s").messages(first=NAN)),
    *(lambda h, v=v: h.import_(v) for v in (b"x", None, "", "\ud800", "a\x00b", "/nowhere/at/all")),
    *(lambda h, v=v: h.export(v) for v in (b"x", None, "a\x00b", "\ud800", "/proc/nowhere")),
    lambda h: h.narrow(user=""),
    lambda h: h.narrow(planet="x"),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_a_typed_error_and_nothing_changed(mem: Memory, number: int) -> None:
    handle = mem.scope(user="alice")
    kept = handle.session("s").add("stay")[0]
    with pytest.raises(LeporelloError) as caught:
        CALLS[number](handle)
    assert caught.value.hint and set(caught.value.to_dict()) == {"type", "message", "hint"}
    assert list(handle.session("s").messages()) == [kept] and handle.stats()["messages"] == 1


@pytest.mark.parametrize(
    "options",
    [
        {"embedder": None}, {"embedder": 1}, {"embedder": "none"}, {"compactor": None}, {"compactor": "gpt"}, {"clock": 5}, {"key": ""}, {"key": b"x"},
        {"key": "a\x00b"}, {"key": "\ud800"}, {"policies": "x"}, {"policies": []}, {"policies": {"fold": None}}, {"policies": {"fold": {"l1_turns": "3"}}},
        {"policies": {"fold": {"l1_turns": 1.5}}}, {"policies": {"fold": {"l1_turns": 0}}}, {"policies": {"fold": {"colour": 1}}}, {"policies": {"sail": {}}},
        {"policies": {"recall": {"floor": float("nan")}}}, {"policies": {"write": {"chunk": True}}},
    ],
)  # fmt: skip
def test_open_refuses_what_does_not_fit(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(LeporelloError):
        leporello.open(tmp_path / "m.db", **options)


@pytest.mark.parametrize("path", ["", "\ud800", "a\x00b", b"x", None, "/nowhere/at/all.db", "/proc"])
def test_paths_that_are_none(path: Any, tmp_path: Path) -> None:
    with pytest.raises(LeporelloError):
        leporello.open(path)
    with leporello.open(tmp_path / "m.db", embedder="hash") as mem, pytest.raises(LeporelloError):
        mem.backup(path)


def test_a_backup_in_memory_is_refused(mem: Memory) -> None:
    with pytest.raises(LeporelloError):
        mem.backup(":memory:")

"""The clock that is set by hand and the compactor that answers from a script."""

from __future__ import annotations

import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

import leporello
from leporello.errors import BadTime, CompactorError
from leporello.records import EpisodeDraft, Item, Operation
from leporello.testing import ManualClock, ScriptedCompactor

START = datetime(2026, 1, 5, 12, tzinfo=UTC)


def test_the_clock_stands_still_until_it_is_moved() -> None:
    clock = ManualClock(START)
    assert clock.now() == clock.now() == START
    assert clock.advance(seconds=1.5) == START + timedelta(seconds=1.5) == clock.now()
    assert clock.advance(timedelta(days=-1), seconds=1) == START - timedelta(days=1) + timedelta(seconds=2.5)
    clock.set(datetime(2026, 1, 5, 12, tzinfo=timezone(timedelta(hours=2))))
    assert clock.now() == START - timedelta(hours=2) and clock.now().tzinfo is UTC


def test_the_clock_refuses_a_time_without_zone() -> None:
    with pytest.raises(BadTime):
        ManualClock(datetime(2026, 1, 5))
    with pytest.raises(BadTime):
        ManualClock(START).set(datetime(2026, 1, 5))


def test_threads_may_move_the_clock() -> None:
    clock = ManualClock(START)
    threads = [threading.Thread(target=lambda: [clock.advance(seconds=1) for _ in range(200)]) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert clock.now() == START + timedelta(seconds=800)


def test_the_engine_takes_its_time_from_the_clock(tmp_path: Path) -> None:
    clock = ManualClock(START)
    with leporello.open(tmp_path / "memory.db", embedder="hash", clock=clock) as mem:
        first = mem.scope(user="ann").remember("one")
        clock.advance(timedelta(days=2))
        second = mem.scope(user="ann").remember("two")
    assert (first.at, first.recorded_at, second.at) == (START, START, START + timedelta(days=2))


def test_the_script_is_answered_in_order_and_then_it_fails() -> None:
    item, operation = Item("goal", "Ship it."), Operation("add", "It ships.")
    scripted = ScriptedCompactor(
        episodes=[EpisodeDraft("one"), ValueError("boom"), EpisodeDraft("two")], compacts=[[item]], operations=[(operation,), ()], name="mine/2"
    )  # fmt: skip
    assert scripted.name == "mine/2" and scripted.episode([], tokens=5).summary == "one"
    with pytest.raises(ValueError, match="boom"):
        scripted.episode([], tokens=6)
    assert scripted.episode([], tokens=7).summary == "two"
    assert scripted.compact([], prior=[item], tokens=8) == (item,)
    assert scripted.distil([], []) == (operation,) and scripted.distil([], []) == ()
    for ask in (lambda: scripted.episode([], tokens=1), lambda: scripted.compact([], prior=[], tokens=1), lambda: scripted.distil([], [])):
        with pytest.raises(CompactorError, match="mine/2"):
            ask()
    assert [(a.what, a.tokens) for a in scripted.asked[:4]] == [("episode", 5), ("episode", 6), ("episode", 7), ("compact", 8)]
    assert scripted.asked[3].prior == (item,) and len(scripted.asked) == 9


def test_a_fold_asks_the_script(tmp_path: Path) -> None:
    scripted = ScriptedCompactor(episodes=[EpisodeDraft("They chose tea.")], operations=[[Operation("add", "Tea it is.")]])
    with leporello.open(tmp_path / "memory.db", embedder="hash", compactor=scripted) as mem:
        session = mem.scope(user="ann").session("s1")
        session.add(
            [
                {"role": "user", "content": "Tea or coffee, which one shall we take today? " * 5},
                {"role": "assistant", "content": "Tea. " * 20},
            ]
        )
        session.close()
        assert [e.summary for e in session.episodes()] == ["They chose tea."] and [f.text for f in mem.scope(user="ann").facts()] == [
            "Tea it is."
        ]
    assert [a.what for a in scripted.asked] == ["episode", "distil"]
    assert [m.pos for m in scripted.asked[0].messages] == [1, 2] and scripted.asked[1].episodes[0].summary == "They chose tea."


def test_the_package_does_not_need_pytest() -> None:
    """Only `leporello.testing` imports it."""
    code = "import sys; sys.modules['pytest'] = sys.modules['hypothesis'] = None; import leporello; leporello.open(':memory:', embedder='hash').close()"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stderr == ""

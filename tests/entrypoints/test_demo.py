"""The demo: deterministic, readable at 80 columns without colour, quick, and true to what the store holds."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import leporello

Run = Callable[..., Any]


def test_the_demo_shows_the_whole_way(run: Run, tmp_path: Path) -> None:
    began = time.perf_counter()
    done = run("demo")
    assert done.code == 0 and time.perf_counter() - began < 10
    for heading in (
        "What came in",
        "How it folded",
        "Found again, with reasons",
        "One fact unfolded",
        "What an agent would read",
        "Try next",
    ):
        assert heading in done.out
    assert "L1 turns, verbatim" in done.out and "because of: words" in done.out
    assert "»" in done.out and "never touch the production database" in done.out
    assert max(map(len, done.out.splitlines())) <= 80 and "\x1b" not in done.out
    assert not re.search(r"\b[mef]_[0-9a-f]{8}", done.out)
    assert list(tmp_path.iterdir()) == []


def test_two_runs_are_alike(run: Run) -> None:
    assert run("demo").out == run("demo").out


def test_each_layer_is_thinner(run: Run) -> None:
    value = run("demo", "--json").value
    assert value["messages"] >= 120 and value["layers"]["turns"] >= 60
    assert value["tokens"]["l1"] > value["tokens"]["l2"] > value["tokens"]["l3"] > 0
    ranges = sorted([*value["layers"]["l3"], *value["layers"]["l2"], *value["layers"]["l1"]])
    assert [t for first, last in ranges for t in range(first, last + 1)] == list(range(1, value["layers"]["turns"] + 1))
    assert value["recall"]["hits"] and not value["recall"]["not_found"]
    assert value["explained"]["quotes"] and value["context"]["tokens"] <= value["context"]["budget"]


def test_the_store_stays_where_it_is_asked_for(run: Run) -> None:
    done = run("demo", "--db", "demo.db")
    assert done.code == 0 and "--db demo.db --user demo --project shop" in done.out
    with leporello.open("demo.db") as mem:
        assert mem.stats()["messages"] >= 120
    again = run("demo", "--db", "demo.db", "--json")
    assert again.code == 1 and again.error["type"] == "StoreUnreachable"

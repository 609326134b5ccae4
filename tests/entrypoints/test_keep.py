"""Commands on how long things are kept: what they print and refuse."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import leporello
from leporello.testing import ManualClock

Run = Callable[..., Any]


@pytest.fixture
def old(tmp_path: Path) -> dict[str, str]:
    """A store whose facts were learned a year ago; the ids by user."""
    clock = ManualClock(datetime.now(UTC) - timedelta(days=365))
    with leporello.open(tmp_path / "memory.db", clock=clock, embedder="static") as mem:
        return {u: mem.scope(user=u).learn(f"{u.title()} deploys on Tuesdays.").id for u in ("ann", "bob")}


def test_maintained_undone_and_listed(run: Run, old: dict[str, str], tmp_path: Path) -> None:
    db = ("--db", str(tmp_path / "memory.db"))
    dry = run(*db, "--json", "maintain", "--dry-run").value
    assert dry["dry_run"] and dry["run"] == "" and dry["counts"] == {"uncertain": 2}
    real = run(*db, "--json", "--user", "ann", "maintain").value
    assert [m["id"] for m in real["moves"]] == [old["ann"]] and real["looked"] == 1
    assert run(*db, "--json", "maintain", "--runs").value["runs"][0]["run"] == real["run"]
    assert run(*db, "--json", "--user", "ann", "recall", "deploys", "--include", "archived").value["hits"][0]["status"] == "archived"
    assert run(*db, "--json", "--user", "ann", "recall", "deploys").value["hits"] == []
    back = run(*db, "--json", "maintain", "--undo", real["run"]).value
    assert back == {"run": real["run"], "restored": [old["ann"]], "left": []}
    shown = run(*db, "--user", "ann", "maintain", "--explain", old["ann"]).out
    assert "active" in shown and "put aside by maintenance from" in shown and "archived" in shown
    assert "1 moved" in run(*db, "maintain").out and "0 moved" in run(*db, "maintain").out


def test_used_kept_and_aged(run: Run, old: dict[str, str], tmp_path: Path) -> None:
    ann = ("--db", str(tmp_path / "memory.db"), "--user", "ann")
    assert run(*ann, "--json", "age", old["ann"]).value["hidden"] is True
    assert run(*ann, "--json", "used", old["ann"]).value["counted"] == 1
    kept = run(*ann, "--json", "keep", old["ann"], "--pin", "--importance", "high", "--expires-at", "2099-01-01").value
    assert kept["pinned"] and kept["importance"] == "high" and kept["expires_at"].startswith("2099") and kept["retention"] == 1.0
    assert "expires" in run(*ann, "age", old["ann"]).out
    assert run(*ann, "--json", "keep", old["ann"], "--no-pin", "--expires-at", "never").value["expires_at"] is None
    hit = run(*ann, "--json", "recall", "deploys", "--include", "archived").value["hits"][0]
    assert 0 < hit["retention"] <= 1 and 0 <= hit["confidence"] <= 1


def test_what_is_refused(run: Run, old: dict[str, str], tmp_path: Path) -> None:
    ann = ("--db", str(tmp_path / "memory.db"), "--user", "ann", "--json")
    for wrong, error, code in (
        (("maintain", "--undo", "r_none"), "NotFound", 1), (("maintain", "--current-tick", "3"), "UsageError", 2),
        (("maintain", "--compat-strict"), "UsageError", 2), (("used", old["bob"]), "NotFound", 1), (("keep", old["ann"], "--importance", "huge"), "BadValue", 1),
        (("keep", old["ann"], "--expires-at", "soon"), "BadTime", 1), (("recall", "x", "--include", "all"), "BadValue", 1), (("age", "f_none"), "NotFound", 1),
    ):  # fmt: skip
        done = run(*ann, *wrong)
        assert (done.code, done.error["type"]) == (code, error), wrong


def test_a_memory_file_and_its_skill(run: Run, tmp_path: Path) -> None:
    file, folder = tmp_path / "memory.jsonl", tmp_path / "skill"
    file.write_text('{"tick": 1, "summary": "Met Alice.", "importance": "low"}\nnot json\n', encoding="utf-8")
    run("maintain", "--memory-file", str(file), "--current-tick", "9000", "--dry-run")
    assert "not json" in file.read_text("utf-8")
    done = run("maintain", "--memory-file", str(file), "--current-tick", "9000").value
    assert done["ok"] and done["entries_after"] == 0 and sorted(p.name for p in tmp_path.glob("memory*.jsonl")) == [
        "memory.archive.jsonl", "memory.jsonl", "memory.quarantine.jsonl",
    ]  # fmt: skip
    written = run("--json", "skill", "install", str(folder)).value["written"]
    assert len(written) == 4 and all(os.path.exists(w) for w in written)
    assert run("--json", "skill", "install", str(folder)).value["written"] == []
    (folder / "SKILL.md").write_text("mine", encoding="utf-8")
    assert run("--json", "skill", "install", str(folder)).code == 1 and run("skill", "install", str(folder), "--force").code == 0


def test_a_memory_file_goes_in_and_out(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "agent.jsonl"
    file.write_text(
        '{"tick": 1, "summary": "Met Alice at the park.", "importance": "high", "_pinned": true}\n{"tick": 2, "summary": "It rained.", "importance": "low"}\n',
        encoding="utf-8",
    )
    db = ("--db", str(tmp_path / "memory.db"), "--user", "ann", "--json")
    assert run(*db, "import", str(file)).code == 0
    facts = run(*db, "facts").value["facts"]
    assert [run(*db, "age", f["id"]).value["importance"] for f in facts] == ["high", "low"] and run(*db, "age", facts[0]["id"]).value[
        "pinned"
    ]
    assert run(*db, "export", str(tmp_path / "out"), "--format", "memory-jsonl").value["facts"] == 2
    again = (tmp_path / "out" / "memory.jsonl").read_text("utf-8").splitlines()
    assert len(again) == 2 and '"importance": "high"' in again[0] and '"_pinned": true' in again[0]

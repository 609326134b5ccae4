"""find, graph, project and the notes' files, through the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]
WHERE = ("--user", "alice", "--project", "shop")


def test_find_says_in_which_tier(run: Run) -> None:
    assert run("notes", "set", "last_error", "TypeError at line 42", *WHERE, "--session", "s1").code == 0
    assert run("learn", "Robert works at Siemens.", *WHERE).code == 0
    note = run("find", "last_error", *WHERE, "--session", "s1", "--json").value
    assert note["tier"] == "short" and note["hits"][0]["record"]["value"] == "TypeError at line 42"
    fact = run("find", "Where does Robert work?", *WHERE)
    assert "Robert works at Siemens." in fact.out and "Found in the medium tier." in fact.err
    missed = run("find", "qzxv wkpt", *WHERE)
    assert missed.code == 0 and "ask the user" in missed.err and run("find", "qzxv wkpt", *WHERE, "--json").value["not_found"] is True


def test_graph_and_ways(run: Run) -> None:
    for text in ("Alice is married to Robert.", "Robert works at Siemens.", "Siemens is based in Munich."):
        assert run("learn", text, *WHERE).code == 0
    shown = run("graph", "Robert", "--depth", "2", *WHERE)
    assert "Robert –employer→ Siemens" in shown.out
    assert run("graph", "robert", *WHERE, "--json").value["entity"]["name"] == "Robert"
    assert run("graph", "Alice", "--to", "Munich", *WHERE, "--json").value["paths"][0]["nodes"] == ["alice", "robert", "siemens", "munich"]
    nobody = run("graph", "Nobody", *WHERE, "--json")
    assert nobody.code == 1 and nobody.error["type"] == "NotFound"
    before = run("graph", "Robert", "--as-of", "2001-01-01", *WHERE, "--json")
    assert before.code == 1 and before.error["type"] == "NotFound"
    assert run("graph", "Robert", "--depth", "9", *WHERE, "--json").code == 1


def test_project_files_go_out_and_come_back(run: Run, tmp_path: Path) -> None:
    assert run("learn", "Deploys happen on Tuesdays.", "--why", "release calendar", *WHERE).code == 0
    folder = tmp_path / "notes of the project"
    assert run("project", "write", str(folder), *WHERE, "--json").value["entries"] == 1
    assert [f["text"] for f in run("project", *WHERE, "--json").value["facts"]] == ["Deploys happen on Tuesdays."]
    page = next(p for p in folder.glob("*.md") if p.name != "MEMORY.md")
    page.write_text(page.read_text(encoding="utf-8").replace("Tuesdays", "Thursdays"), encoding="utf-8")
    assert run("project", "write", str(folder), *WHERE, "--json").error["type"] == "UnreadEdits"
    read = run("project", "read", str(folder), *WHERE, "--json").value
    assert len(read["corrected"]) == 1
    assert [f["text"] for f in run("facts", *WHERE, "--json").value["facts"]] == ["Deploys happen on Thursdays."]
    assert run("project", "--since", "not a date", *WHERE, "--json").code == 1
    assert run("project", "read", str(tmp_path / "nowhere"), *WHERE, "--json").code == 1


def test_notes_as_json_lines(run: Run, tmp_path: Path) -> None:
    for key in ("one", "two"):
        assert run("notes", "set", key, f"value\u2028of {key}", *WHERE, "--session", "s1").code == 0
    lines = run("notes", "export", "-", *WHERE, "--session", "s1").out.splitlines()
    assert [json.loads(line)["key"] for line in lines] == ["two", "one"] and "\u2028" not in "".join(lines)
    path = tmp_path / "notes.jsonl"
    assert run("notes", "export", str(path), *WHERE, "--session", "s1", "--json").value["notes"] == 2
    path.write_text(path.read_text() + "not json\n")
    told = run("notes", "import", str(path), *WHERE, "--session", "s2")
    assert told.code == 0 and "2 notes set" in told.err and "line 3" in told.out
    assert run("notes", "clear", *WHERE, "--session", "s2", "--json").value == {"cleared": 2}
    assert run("notes", "list", *WHERE, "--session", "s2", "--json").value["notes"] == []

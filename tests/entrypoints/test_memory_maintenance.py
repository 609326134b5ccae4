"""The drop-in: flags, environment and JSON arguments, the published output and what comes after it, errors and exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leporello import skill
from leporello.entrypoints import memory_maintenance
from leporello.errors import InputError, StoreUnreachable

PUBLISHED = ["ok", "entries_before", "entries_after", "strength", "actr_decay", "retrieval_threshold", "max_entries"]
Answer = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in os.environ if n.startswith("AGENT_MEMORY_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "memory.jsonl"
    rows = [{"tick": 0, "importance": "low", "summary": "old"}, {"tick": 3_990, "summary": "new"}, {"tick": 3_000, "summary": "fading"}]
    made.write_text("".join(json.dumps(r) + "\n" for r in rows) + "not json\n", encoding="utf-8")
    return made


@pytest.fixture
def answer(path: Path, capsys: pytest.CaptureFixture[str]) -> Answer:
    def answered(*flags: object, bare: bool = False) -> tuple[int, dict[str, Any]]:
        given = [] if bare else ["--memory-file", str(path), "--current-tick", "4000"]
        code = memory_maintenance.run([*given, *map(str, flags)])
        out = capsys.readouterr().out
        assert out.count("\n") == 1
        value = json.loads(out)
        assert isinstance(value, dict)
        return code, value

    return answered


def test_the_published_keys_come_first(answer: Answer, path: Path) -> None:
    code, found = answer()
    assert code == 0 and list(found)[:7] == PUBLISHED
    assert [found[k] for k in PUBLISHED] == [True, 3, 2, 100.0, 0.5, -2.5, 1000]
    assert (found["archived"], found["forgotten"], found["faded"], found["quarantined"]) == (1, 1, 1, 1)
    assert found["archive_file"] == str(path.with_name("memory.archive.jsonl"))
    assert found["quarantine_file"] == str(path.with_name("memory.quarantine.jsonl"))


def test_strict_prints_the_published_keys_alone_and_deletes(answer: Answer, path: Path) -> None:
    code, found = answer("--compat-strict")
    assert code == 0 and list(found) == PUBLISHED and found["entries_after"] == 2
    assert sorted(p.name for p in path.parent.iterdir()) == ["memory.jsonl", "memory.jsonl.lock"]
    assert answer("--compat-strict", "--max-entries", "0") == (0, {**found, "entries_before": 2, "entries_after": 0, "max_entries": 0})


def test_a_flag_beats_the_environment_and_that_the_default(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_MEMORY_STRENGTH", "50")
    monkeypatch.setenv("AGENT_MEMORY_ACTR_DECAY", "0.4")
    monkeypatch.setenv("AGENT_MEMORY_RETRIEVAL_THRESHOLD", "-3")
    monkeypatch.setenv("AGENT_MEMORY_MAX_ENTRIES", "9")
    assert [answer("--dry-run")[1][k] for k in PUBLISHED[3:]] == [50, 0.4, -3, 9]
    flags = ("--strength", 70, "--decay", 0.3, "--retrieval-threshold", "-1.5", "--max-entries", 7)
    assert [answer("--dry-run", *flags)[1][k] for k in PUBLISHED[3:]] == [70, 0.3, -1.5, 7]


@pytest.mark.parametrize("bad", ["", "much", "1.5.2"])
def test_what_cannot_be_read_in_the_environment_is_passed_over(answer: Answer, monkeypatch: pytest.MonkeyPatch, bad: str) -> None:
    for name in ("STRENGTH", "ACTR_DECAY", "RETRIEVAL_THRESHOLD", "MAX_ENTRIES"):
        monkeypatch.setenv(f"AGENT_MEMORY_{name}", bad)
    assert [answer("--dry-run")[1][k] for k in PUBLISHED[3:]] == [100.0, 0.5, -2.5, 1000]


@pytest.mark.parametrize(
    "tick", [{"current_tick": 4000}, {"tick": "4000"}, {"current_tick": 4000, "tick": 1}, {"current_tick": None, "tick": 4000}]
)
def test_json_arguments(answer: Answer, path: Path, tick: dict[str, Any]) -> None:
    code, found = answer("--args-json", json.dumps({"memory_file": str(path), **tick}), bare=True)
    assert code == 0 and found["forgotten"] == 1


def test_a_flag_beats_json_arguments(answer: Answer) -> None:
    assert answer("--dry-run", "--args-json", '{"memory_file": "no/where", "current_tick": 0}')[1]["forgotten"] == 1


@pytest.mark.parametrize(
    "flags",
    [[], ["--memory-file", "x"], ["--current-tick", "1"], ["--memory-file", "x", "--current-tick", "soon"], ["--what"], ["--args-json", "{"],
     ["--args-json", "[]"], ["--memory-file", "x", "--args-json", '{"tick": "soon"}'], ["--memory-file", "", "--current-tick", "1"]],
)  # fmt: skip
def test_misuse(answer: Answer, flags: list[str]) -> None:
    code, found = answer(*flags, bare=True)
    assert (
        code == 2 and found["ok"] is False and found["error"]["type"] == "UsageError" and set(found["error"]) == {"type", "message", "hint"}
    )


def test_errors_are_told_and_nothing_is_written(answer: Answer, path: Path) -> None:
    before = path.read_bytes()
    code, found = answer("--max-entries", "0")
    assert code == 1 and found["error"]["type"] == "BadSetting" and "max_entries=0" in found["error"]["message"]
    path.write_bytes(before + b'{"tick": null}\n')
    code, found = answer("--compat-strict")
    assert code == 1 and found["error"]["type"] == "BadValue" and path.read_bytes() == before + b'{"tick": null}\n'


def test_a_missing_file_is_made_empty(answer: Answer, tmp_path: Path) -> None:
    made = tmp_path / "state" / "memory.jsonl"
    for more in ((), ("--compat-strict",)):
        code, found = answer("--memory-file", made, *more)
        assert code == 0 and found["entries_before"] == 0 and made.read_bytes() == b""
        made.unlink()


def test_a_dry_run_lists_what_would_move_and_undo_brings_it_back(answer: Answer, path: Path) -> None:
    before = path.read_bytes()
    (move,) = answer("--dry-run")[1]["moves"]
    assert path.read_bytes() == before and len(list(path.parent.iterdir())) == 1
    code, told = answer("--explain", move["key"])
    assert code == 0 and told["fate"] == "forgotten" and told["why"] == move["why"] and told["age"] == 4000
    run = answer()[1]["run"]
    assert answer("--explain", move["key"])[1]["fate"] == "archived"
    code, back = answer("--undo", run)
    assert code == 0 and back == {"ok": True, "run": run, "restored": 1, "keys": [move["key"]]}
    assert answer()[1]["forgotten"] == 0
    assert answer("--undo", "nothing")[1]["error"]["type"] == "NotFound"
    assert answer("--explain", "nothing")[1]["error"]["type"] == "NotFound"


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert memory_maintenance.run(["--help"]) == 0 and "--args-json" in capsys.readouterr().out


# --- the skill ---------------------------------------------------------------------------------------------------------------------


def script(folder: Path, name: str, *flags: str, python: tuple[str, ...] = (sys.executable,)) -> tuple[int, dict[str, Any]]:
    done = subprocess.run([*python, str(folder / "scripts" / name), *flags], capture_output=True, text=True, timeout=60)
    assert done.stdout.count("\n") == 1, done.stderr
    value = json.loads(done.stdout)
    assert isinstance(value, dict)
    return done.returncode, value


def test_the_installed_scripts_run(tmp_path: Path) -> None:
    folder, memory = tmp_path / "skill", str(tmp_path / "state" / "memory.jsonl")
    written = skill.install(folder)
    assert sorted(written) == sorted(str(folder / n) for n in skill.FILES) and all(Path(p).stat().st_size for p in written)
    code, added = script(
        folder, "memory_append.py", "--memory-file", memory, "--tick", "4", "--summary", "Met Alice.", "--tags", "alice, park"
    )
    assert code == 0 and added["ok"] and added["tick"] == 4
    code, found = script(folder, "memory_maintenance.py", "--memory-file", memory, "--current-tick", "5")
    assert code == 0 and (found["entries_before"], found["entries_after"]) == (1, 1)
    assert json.loads(Path(memory).read_text())["tags"] == ["alice", "park"]
    assert script(folder, "memory_append.py", "--memory-file", memory, "--tick", "4")[1]["error"]["type"] == "BadValue"
    assert script(folder, "memory_append.py", "--memory-file", memory, "--entry-json", "[]")[0] == 2
    for name in ("memory_append.py", "memory_maintenance.py"):
        code, told = script(folder, name, python=(sys.executable, "-I", "-S"))
        assert code == 1 and told["error"]["type"] == "MissingPackage" and "pip install leporello" in told["error"]["hint"]


def test_what_differs_is_not_written_over(tmp_path: Path) -> None:
    skill.install(tmp_path)
    assert skill.install(tmp_path) == ()
    own = tmp_path / "SKILL.md"
    own.write_text("mine")
    (tmp_path / "scripts/memory_append.py").unlink()
    with pytest.raises(InputError, match="SKILL.md is there and differs"):
        skill.install(tmp_path)
    assert own.read_text() == "mine" and not (tmp_path / "scripts/memory_append.py").exists()
    assert len(skill.install(tmp_path, force=True)) == 2 and own.read_text(encoding="utf-8").startswith("---\nname: agent-memory\n")
    assert (tmp_path / "scripts/memory_append.py").stat().st_mode & 0o111 and not list(tmp_path.rglob("*.tmp"))
    with pytest.raises(StoreUnreachable):
        skill.install(own)


def test_the_head_of_the_skill_is_a_valid_one(tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    skill.install(tmp_path)
    _, head, body = (tmp_path / "SKILL.md").read_text(encoding="utf-8").split("---\n", 2)
    front = yaml.safe_load(head)
    assert set(front) == {"name", "description"} and front["name"].replace("-", "").isalnum() and 0 < len(front["description"]) <= 1024
    assert all((tmp_path / name).exists() for name in ("references/research_basis.md",)) and "references/research_basis.md" in body

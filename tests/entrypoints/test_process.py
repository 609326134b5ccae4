"""The real process: the main path of every command, standard streams, signals, exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
WHERE = ("--user", "alice", "--session", "s1")


def test_one_way_through_every_command(process: Run, chat: str, tmp_path: Path) -> None:
    told = process(
        "remember", "I moved from Lyon to Porto.", "--name", "Alice", "--at", "2026-01-05T09:00:00+01:00", *WHERE, "--json"
    ).value
    assert (told["text"], told["turn"], told["at"]) == ("I moved from Lyon to Porto.", 1, "2026-01-05T08:00:00+00:00")
    fact = process("learn", "Deploys happen on Tuesdays.", "--why", "release calendar", "--tag", "ops", *WHERE, "--json").value
    assert (fact["fact_kind"], fact["why"], fact["tags"], fact["confidence"]) == ("fact", "release calendar", ["ops"], 1.0)
    came = process("import", chat, *WHERE, "--json").value
    assert (came["seen"], came["stored"], came["files"][0]["format"]) == (6, 6, "anthropic-messages")
    assert process("notes", "set", "last_error", "TypeError", *WHERE).code == 0
    assert process("notes", "get", "last_error", *WHERE).out == "TypeError\n"
    assert process("pins", "add", "Never touch production.", *WHERE).code == 0
    assert process("pins", *WHERE).out == "- Never touch production.\n"
    found = process("recall", "When do deploys happen?", *WHERE, "--json").value
    assert found["hits"][0]["id"] == fact["id"] and not found["not_found"]
    assert "Deploys happen on Tuesdays." in process("context", "When do we deploy?", "--budget", "800", *WHERE).out
    folded = process("fold", "--all", *WHERE, "--json").value
    assert folded["turns"] == [1, 4] and folded["layers"]["l2"] == [[1, 4]] and folded["layers"]["l1"] == []
    assert process("close", *WHERE, "--json").value["layers"]["turns"] == 4
    assert process("consolidate", "--json").value["messages"] == 0
    assert "products.price" in process("compact", "--max-tokens", "500", *WHERE).out
    assert folded["episodes"][0] in process("episodes", *WHERE).out
    assert "Seq Scan on products" in process("unfold", folded["episodes"][0], "--user", "alice").out
    assert [m["original"] for m in process("messages", *WHERE, "--json").value["messages"]][1:] == json.loads(Path(chat).read_text())
    assert process("sessions", "--user", "alice").out.startswith("s1  7 messages in 4 turns")
    assert fact["id"] in process("facts", *WHERE).out
    assert "release calendar" in process("explain", fact["id"], *WHERE).out
    other = process("contradict", fact["id"], "--by", "Deploys happen on Thursdays.", *WHERE, "--json").value["superseded_by"]
    assert process("restore", fact["id"], *WHERE, "--json").value["status"] == "conflict"
    assert other in process("conflicts", *WHERE).out
    assert process("confirm", fact["id"], "--why", "so it is", *WHERE, "--json").value["status"] == "active"
    assert other not in process("facts", *WHERE).out and other not in process("conflicts", *WHERE).out
    assert process("archive", fact["id"], *WHERE, "--json").value["status"] == "archived"
    assert process("restore", fact["id"], *WHERE, "--json").value["status"] == "active"
    assert process("retract", other, *WHERE).out.startswith("fact  fact, deprecated")
    assert "changed  restore  by user" in process("history", fact["id"], *WHERE).out
    assert process("quarantine", "--json").value == {"quarantine": []}
    assert process("stats", *WHERE, "--json").value["messages"] == 7
    assert process("doctor").out == "Nothing is wrong.\n"
    assert process("migrate", "--json").value == {"from": 4, "to": 4}
    assert process("reembed", "--json").value["records"] >= 9
    assert process("backup", "copy.db", "--json").value["bytes"] == os.path.getsize("copy.db")
    assert process("export", "out", *WHERE, "--json").value == {"folder": "out", "messages": 7}
    assert process("erase", fact["id"], *WHERE, "--json").value["counts"]["facts"] == 1
    gone = process("erase", "--all", "--yes", "--user", "alice", "--json").value
    assert gone["complete"] and process("stats", "--json").value["messages"] == 0
    assert b"Porto" not in (tmp_path / "memory.db").read_bytes()


def test_the_shared_options_stand_before_or_after_the_command(process: Run) -> None:
    process("--db", "a.db", "--user", "alice", "remember", "The staging server is called heron.")
    for arguments in (
        ("--db", "a.db", "--user", "alice", "--json", "recall", "staging server"),
        ("recall", "staging server", "--json", "--user", "alice", "--db", "a.db"),
        ("--db", "nowhere.db", "--user", "bob", "recall", "staging server", "--json", "--user", "alice", "--db", "a.db"),
    ):
        assert process(*arguments).value["hits"][0]["text"] == "The staging server is called heron."
    assert process("recall", "staging server", "--json", "--user", "bob", "--db", "a.db").value["not_found"]


def test_the_environment_names_the_store_and_the_key(process: Run, tmp_path: Path) -> None:
    assert process("remember", "The safe is behind the map.", LEPORELLO_DB="e.db", LEPORELLO_KEY="secret").code == 0
    (tmp_path / "key").write_text("secret\nsecond line\n")
    assert "behind the map" in process("recall", "safe", "--db", "e.db", "--key-file", "key").out
    assert process("recall", "safe", "--db", "e.db", "--json").error["type"] == "KeyNeeded"
    assert process("migrate", "--db", "e.db", "--key-file", "key").out == "schema 4 is up to date\n"
    assert not (tmp_path / "memory.db").exists()


def test_bytes_that_are_not_text_are_kept_escaped(process: Run) -> None:
    told = process("remember", "-", "--json", stdin=b"caf\xe9 \x00 \xf0\x9f\x90\x88\r\n").value
    assert told["text"] == "caf\udce9 \x00 🐈" and told["text"].encode("utf-8", "surrogateescape") == b"caf\xe9 \x00 \xf0\x9f\x90\x88"
    assert process("remember", b"bad \xff argument").code == 0
    assert process("recall", b"bad \xff", "--json").value["hits"][0]["text"] == "bad \udcff argument"
    assert "\\udcff" in process("recall", b"bad \xff").out
    assert process("remember", "-", "--json", stdin=b"").error["type"] == "EmptyText"


def test_a_reader_that_goes_away_is_no_crash(process: Run, tmp_path: Path) -> None:
    (tmp_path / "many.jsonl").write_text("".join(json.dumps({"role": "user", "content": f"line {i} " * 40}) + "\n" for i in range(2_000)))
    assert process("import", "many.jsonl").code == 0
    command = [sys.executable, "-m", "leporello.entrypoints.cli", "messages", "--full", "--session", "many"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
        assert p.stdout is not None and p.stderr is not None
        p.stdout.read(100)
        p.stdout.close()
        assert p.wait(60) == 1 and p.stderr.read() == b""


def test_an_interrupt_ends_quietly_and_keeps_the_store_whole(process: Run, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "leporello.entrypoints.cli", "remember", "-"]
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it, and so would its children
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
        deadline = time.monotonic() + 60
        while not (tmp_path / "memory.db").exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        time.sleep(1.5)
        p.send_signal(signal.SIGINT)
        assert p.wait(60) == 130
        assert p.stderr is not None and p.stderr.read() == b""
    assert process("doctor").code == 0


def test_erasing_all_asks_on_a_terminal_only(process: Run) -> None:
    process("remember", "x", "--user", "bob")
    refused = process("erase", "--all", "--user", "bob", "--json")
    assert refused.code == 2 and "user=bob" in refused.error["message"] and "--yes" in refused.error["hint"]


def test_a_benchmark_runs_in_a_process_of_its_own(process: Run) -> None:
    assert "sets" in process("bench", "find", "--", "--help").out
    assert "--budgets" in process("bench", "fold", "--", "--help").out
    assert process("bench", "cost", "--", "--help").out.startswith("usage:")
    assert process("bench", "find").code == 2
    assert "--file" in process("bench", "contradict", "--", "--help").out
    assert "parts" in process("bench", "know", "--", "--help").out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_completes_commands(process: Run, shell: str) -> None:
    script = process("--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert "_LEPORELLO_COMPLETE" in script.out
    words = {
        "_TYPER_COMPLETE_ARGS": "leporello rec",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "COMP_WORDS": "leporello rec",
        "COMP_CWORD": "1",
    }
    done = process(_LEPORELLO_COMPLETE=f"complete_{shell}", **words)
    assert "recall" in done.out and "remember" not in done.out


def test_the_help_starts_at_once() -> None:
    """In processor time, because the machine may be busy with other tests; and not traced."""
    plain = {k: v for k, v in os.environ.items() if not k.startswith("COV")}

    def start() -> float:
        before = os.times()
        subprocess.run([sys.executable, "-m", "leporello.entrypoints.cli", "--help"], check=True, capture_output=True, env=plain)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    assert min(start() for _ in range(5)) <= 0.5

"""Every example runs as a process of its own, offline, and against a server that it is pointed to."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

from leporello.testing import LocalProvider, Turn

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LOOPED = re.compile(r"(\d+) replies, (\d+) folds, largest request (\d+) of (\d+) tokens")
SAYS = {
    "agent_with_tools": "The error is in day-17.log",
    "facts_through_time": "true in February: We decided to use PostgreSQL",
    "local_model_server": "failed attempts: none",
    "loop_anthropic": "from the cache",
    "loop_openai": "Answer 1. Sow it in rows",
    "loop_responses": "1 requests refused as too long",
    "resume_after_a_kill": "There are 49 pieces.",
}


def run(name: str, folder: Path, *arguments: str) -> str:
    """What an example prints; it must end well and warn of nothing."""
    env = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY")}
    done = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py", *arguments], cwd=folder, capture_output=True, text=True, timeout=120,
        env={**env, "PYTHONWARNINGS": "error"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


@cache
def offline(name: str) -> tuple[str, list[Path]]:
    """What an example without arguments prints, and the files that it leaves behind."""
    with tempfile.TemporaryDirectory() as folder:
        return run(name, Path(folder)), list(Path(folder).iterdir())


def test_every_example_is_tried() -> None:
    assert {p.stem for p in EXAMPLES.glob("*.py")} == SAYS.keys()


@pytest.mark.parametrize("name", sorted(SAYS))
def test_the_example_runs_without_a_network(name: str) -> None:
    printed, left = offline(name)
    assert SAYS[name] in printed
    assert left == []


@pytest.mark.parametrize("name", sorted(SAYS.keys() - {"facts_through_time", "resume_after_a_kill"}))
def test_a_loop_folds_and_stays_in_its_window(name: str) -> None:
    told = LOOPED.search(offline(name)[0])
    assert told is not None
    replies, folds, largest, window = map(int, told.groups())
    assert replies > 30 and folds >= 2 and window // 3 < largest <= window


def test_the_killed_call_is_made_again_by_another_process() -> None:
    printed, _ = offline("resume_after_a_kill")
    counted = re.findall(r"process (\d+) counts (\w+)", printed)
    first, second = counted[0][0], counted[-1][0]
    assert first != second
    assert counted == [(first, "apples"), (first, "pears"), (second, "pears"), (second, "plums")]
    assert "the process ended with -9" in printed


@pytest.mark.parametrize("name", ["local_model_server", "loop_anthropic", "loop_openai", "loop_responses"])
def test_the_example_takes_another_server(name: str, tmp_path: Path) -> None:
    def said(turn: Turn) -> str:
        return f"{turn.model} was asked. " + "The tide turns at noon. " * 40

    with LocalProvider(reply=said, require_key="a-key") as p:
        url = p.url if name == "loop_anthropic" else f"{p.url}/v1"
        run(name, tmp_path, "--base-url", url, "--api-key", "a-key", "--model", "other")
        assert len(p.requests) >= 40 and not p.rejected
        assert {s.body["model"] for s in p.requests} == {"other"}
        assert p.peak < 8_000

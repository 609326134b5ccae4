"""Ways to run the command line: in this process, and as a process of its own."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from leporello.entrypoints.cli import main

PLAN = "\n".join(f"  ->  Filter: (price < {n}00), rows removed by filter: {n * 977}" for n in range(40))
CHAT = [
    {"role": "user", "content": "Checkout is slow. Find out why, but never touch the production database."},
    {"role": "assistant", "content": [
        {"type": "text", "text": "I'll look at the query plan on staging first."},
        {"type": "tool_use", "id": "c1", "name": "bash", "input": {"command": "psql staging -f plan.sql"}},
    ]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "Seq Scan on products (rows=1204555)\n" + PLAN}]},
    {"role": "assistant", "content": "I decided to add an index on products.price, because the plan scans all 1,204,555 rows."},
    {"role": "user", "content": "Good. We use only plain SQL migrations, remember that."},
    {"role": "assistant", "content": "Understood. Materialised views are ruled out, because they would be stale during a sale."},
]  # fmt: skip


@dataclass(frozen=True)
class Done:
    """How a run ended and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def value(self) -> Any:
        """The one JSON object on standard output."""
        assert self.out.count("\n") == 1, self.out
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value

    @property
    def error(self) -> dict[str, str]:
        """The JSON error on standard error."""
        error = json.loads(self.err)["error"]
        assert set(error) == {"type", "message", "hint"} and all(error.values())
        return dict(error)


Run = Callable[..., Done]


@pytest.fixture(autouse=True)
def _surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("LEPORELLO_DB", "LEPORELLO_KEY", "FORCE_COLOR", "COLUMNS", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command line in this process."""

    def start(*arguments: str, stdin: bytes = b"") -> Done:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        capsys.readouterr()
        code = main(arguments)
        return Done(code, *capsys.readouterr())

    return start


@pytest.fixture
def process() -> Run:
    """Runs the command line as a process of its own, with warnings as errors."""

    def start(*arguments: str | bytes, stdin: bytes = b"", **environment: str) -> Done:
        command = [sys.executable, "-W", "error", "-m", "leporello.entrypoints.cli", *arguments]
        done = subprocess.run(command, input=stdin, capture_output=True, env={**os.environ, **environment}, timeout=120)
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    return start


@pytest.fixture
def terminal() -> Callable[..., tuple[int, bytes]]:
    """Runs the command line on a pseudo-terminal of 80 columns: its exit code, and what appeared."""

    def start(*arguments: str, answer: bytes = b"") -> tuple[int, bytes]:
        master, slave = pty.openpty()
        environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80"}
        command = [sys.executable, "-m", "leporello.entrypoints.cli", *arguments]
        with subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment) as started:
            os.close(slave)
            os.write(master, answer)
            shown = b""
            try:
                while chunk := os.read(master, 65_536):
                    shown += chunk
            except OSError:  # the other end was closed
                pass
            os.close(master)
        return started.returncode, shown

    return start


@pytest.fixture
def chat(tmp_path: Path) -> str:
    """A short conversation in a file."""
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(CHAT))
    return str(path)


@pytest.fixture
def session(run: Run, chat: str) -> tuple[str, ...]:
    """The options that name the session `s1`, into which that conversation was imported."""
    where = ("--user", "alice", "--session", "s1")
    assert run("import", chat, *where).code == 0
    return where


@pytest.fixture
def nasty() -> Path:
    """The folder of nasty input."""
    root = Path(os.environ.get("LEPORELLO_EVAL_DATA", Path(__file__).resolve().parents[3] / "shared/data"))
    if not (root / "nasty").is_dir():
        pytest.skip(f"there is no {root / 'nasty'}: set LEPORELLO_EVAL_DATA")
    return root / "nasty"

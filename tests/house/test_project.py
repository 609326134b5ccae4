"""The project stands by itself: it names no machine and no registry, and its lock is whole."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from datetime import datetime
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = {
    ".git",
    ".venv",
    "dist",
    "build",
    "__pycache__",
    ".mypy_cache",
    ".ruff_cache",
    ".pytest_cache",
    ".hypothesis",
    ".import_linter_cache",
}
# In pieces, so that this file does not name them itself.
PLACES = ["/wo" + "rk/", "/ro" + "ot/", "/op" + "t/pypi", "/ho" + "me/", "C:\\Us" + "ers"]
HOSTS = ["py" + "pi.org", "python" + "hosted.org", "hugging" + "face.co", "git" + "hub.com", "--index" + "-url", "--extra-index" + "-url"]
# Test data shows what other people's logs look like; nothing else may name a place.
MAY_SHOW_PATHS = ("tests/formats/", "tests/data/")


def files() -> list[Path]:
    """The project's own text files: those of version control where it is there, else all."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, text=True)
    names = listed.stdout.split("\0") if listed.returncode == 0 and listed.stdout else [str(p.relative_to(ROOT)) for p in ROOT.rglob("*")]
    return [ROOT / n for n in names if n and (ROOT / n).is_file() and not SKIPPED & set(Path(n).parts)]


def test_no_file_names_a_machine_or_a_registry() -> None:
    found = []
    for path in files():
        name = path.relative_to(ROOT).as_posix()
        text = path.read_bytes().decode("utf-8", "replace")
        banned = HOSTS + ([] if name.startswith(MAY_SHOW_PATHS) else PLACES)
        found += [f"{name}: {word}" for word in banned if word in text]
    assert found == []


def test_every_requirement_is_pinned_with_hashes() -> None:
    for lock in ("base.txt", "build.txt", "dev.txt"):
        text = (ROOT / "requirements" / lock).read_text()
        entries = re.split(r"\n(?=[A-Za-z0-9])", text.strip())
        assert entries and all("==" in e and "--hash=sha256:" in e for e in entries), lock


def test_the_locks_agree_and_hold_what_the_project_asks_for() -> None:
    pins = {
        n: dict(re.findall(r"^([a-z0-9.-]+)==(\S+)", (ROOT / f"requirements/{n}.txt").read_text(), re.MULTILINE))
        for n in ("base", "build", "dev")
    }
    for part in ("base", "build"):
        assert {n: v for n, v in pins[part].items() if pins["dev"].get(n) != v} == {}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = {re.split(r"[\[<>=! ]", d)[0] for d in project["dependencies"]}
    assert asked - set(pins["base"]) == set()


def test_the_package_ships_its_data() -> None:
    package = ROOT / "src/leporello"
    assert (package / "py.typed").is_file()
    assert list(package.glob("adapters/sqlite/**/*.sql"))
    assert (package / "entrypoints/demo_conversation.json").is_file()


def test_the_demo_conversation_is_whole() -> None:
    held = json.loads((ROOT / "src/leporello/entrypoints/demo_conversation.json").read_text(encoding="utf-8"))
    times = [datetime.fromisoformat(m["at"]) for m in held["messages"]]
    assert times == sorted(times) and (times[-1] - times[0]).days >= 2
    messages = [m["message"] for m in held["messages"]]
    assert sum(m["role"] == "assistant" for m in messages) >= 60
    waiting: list[str] = []
    for message in messages:
        parts = message["content"] if isinstance(message["content"], list) else []
        answers = [p["tool_use_id"] for p in parts if p["type"] == "tool_result"]
        assert answers == waiting
        waiting = [p["id"] for p in parts if p["type"] == "tool_use"]
    assert waiting == []


def test_importing_is_quick_and_opens_no_connection() -> None:
    code = (
        "import socket, sys, time\n"
        "def refuse(*a, **k): raise OSError('no network')\n"
        "socket.socket.connect = refuse; socket.getaddrinfo = refuse\n"
        "start = time.perf_counter(); import leporello; print(time.perf_counter() - start)"
    )
    taken = min(float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout) for _ in range(5))
    assert taken <= 0.3


def test_the_base_install_is_small() -> None:
    if not any((Path(p) / "leporello-0.1.0.dist-info").exists() for p in sys.path):
        pytest.skip("leporello is not installed here: run `make test`")
    done = subprocess.run([sys.executable, "tools/size.py"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr

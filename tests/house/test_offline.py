"""The whole way works with sockets forbidden: no key, no server, no network."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FORBIDDEN = """
import socket

def refuse(*args, **kwargs):
    raise AssertionError(f"a socket was asked for: {args} {kwargs}")

socket.socket.__init__ = refuse
socket.create_connection = socket.getaddrinfo = refuse
"""
WAY = """
import leporello

mem = leporello.open("memory.db")
alice = mem.scope(user="alice")
with alice.session("s") as s:
    for i in range(30):
        s.add({"role": "user", "content": f"Please fix bug {i}; we decided to use Postgres because Redis loses keys."})
        s.add({"role": "assistant", "content": f"I fixed bug {i} in src/bug_{i}.py."})
assert s.episodes() and alice.recall("which database did we choose?")[0].text
assert alice.context("what next?", budget=800).text and s.compact(max_tokens=300).text
assert alice.erase_all().complete
mem.close()
"""


def test_no_socket_is_ever_opened(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(FORBIDDEN, encoding="utf-8")
    check = (
        "import socket\ntry:\n    socket.socket()\nexcept AssertionError:\n    pass\nelse:\n    raise SystemExit('sockets are allowed')\n"
    )
    code = check + WAY
    env = {"PATH": "", "PYTHONPATH": f"{tmp_path}:{Path(__file__).parents[2] / 'src'}", "HOME": str(tmp_path), "PYTHONWARNINGS": "error"}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    cli = [sys.executable, "-m", "leporello.entrypoints.cli", "demo"]
    done = subprocess.run(cli, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr

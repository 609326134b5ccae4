"""Many processes on one file; a fork in the middle; an end without goodbye."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from leporello.adapters.sqlite.store import SqliteStore
from leporello.records import Scope
from leporello.testing.conformance.samples import log, say

S1 = Scope(session="s1")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def child(work: Callable[[], None]) -> Callable[[], int]:
    """Runs `work` in a forked child; what comes back waits for it and gives its exit status."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return lambda: os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def texts(store: SqliteStore) -> list[str]:
    return [m.text for m in log(store, S1)]


def test_a_forked_child_reads_and_writes(tmp_path: Path) -> None:
    """With the parent's store object; both see both, and nothing is lost when either ends first."""
    store = SqliteStore(str(tmp_path / "store.db"))
    say(store, S1, "parent")

    def work() -> None:
        assert texts(store) == ["parent"]
        say(store, S1, "child")
        with store.read() as r:
            assert r.counts(S1)["messages"] == 2

    assert child(work)() == 0
    say(store, S1, "parent again")
    assert texts(store) == ["parent", "child", "parent again"] and store.check() == []
    store.close()


def test_a_child_goes_on_after_its_parent_closed(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "store.db"))
    say(store, S1, "parent")
    closed, close = os.pipe()
    wrote, tell = os.pipe()

    def work() -> None:
        say(store, S1, "child 1")
        os.write(tell, b"x")
        os.read(closed, 1)
        say(store, S1, "child 2", "child 3")
        store.close()

    wait = child(work)
    os.read(wrote, 1)
    store.close()
    os.write(close, b"x")
    assert wait() == 0
    store = SqliteStore(str(tmp_path / "store.db"))
    assert texts(store) == ["parent", "child 1", "child 2", "child 3"] and store.check() == []
    store.close()
    for fd in (closed, close, wrote, tell):
        os.close(fd)


def test_a_child_that_closes_does_not_close_the_parent(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "store.db"))
    say(store, S1, "one")
    with store.read() as r:
        assert r.counts(S1)["messages"] == 1
        assert child(store.close)() == 0
        assert r.counts(S1)["messages"] == 1
    say(store, S1, "two")
    assert texts(store) == ["one", "two"]
    store.close()


def test_forks_while_threads_write(tmp_path: Path) -> None:
    """Children made at any moment of the parent's writing neither hang nor harm."""
    store = SqliteStore(str(tmp_path / "store.db"))
    say(store, S1, "begin")
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            say(store, S1, "parent " + "x" * 3_000)

    threads = [threading.Thread(target=write) for _ in range(2)]
    for t in threads:
        t.start()
    try:
        ends = [child(lambda i=i: [say(store, S1, f"child {i}"), texts(store)] and None)() for i in range(15)]
    finally:
        stop.set()
        for t in threads:
            t.join()
    assert ends == [0] * 15
    assert [t for t in texts(store) if t.startswith("child")] == [f"child {i}" for i in range(15)]
    assert [m.pos for m in log(store, S1)] == list(range(1, len(texts(store)) + 1)) and store.check() == []
    store.close()


def test_processes_that_open_a_new_file_at_once(tmp_path: Path) -> None:
    """One of them makes the schema; all of them write."""
    code = (
        "import sys\nfrom leporello.adapters.sqlite.store import SqliteStore\nfrom leporello.records import Scope\n"
        "from leporello.testing.conformance.samples import say\n"
        "sys.stdin.readline()\nstore = SqliteStore(sys.argv[1])\nsay(store, Scope(session='s1'), 'x')\nstore.close()\n"
    )
    path = str(tmp_path / "store.db")
    started = [
        subprocess.Popen([sys.executable, "-c", code, path], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(5)
    ]
    for p in started:
        assert p.stdin
        p.stdin.write("go\n")
        p.stdin.flush()
    errors = [p.communicate()[1] for p in started]
    assert errors == [""] * 5
    store = SqliteStore(path)
    assert texts(store) == ["x"] * 5 and store.check() == []
    store.close()


def test_an_end_without_goodbye_loses_nothing(tmp_path: Path) -> None:
    """A process that stops at once after a commit, and one that stops within a transaction."""
    path = str(tmp_path / "store.db")

    def work() -> None:
        store = SqliteStore(path)
        say(store, S1, "kept")
        with store.write() as w:
            w.open_session(Scope(session="lost"))
            os._exit(0)

    assert child(work)() == 0
    store = SqliteStore(path)
    assert texts(store) == ["kept"] and store.check() == []
    with store.read() as r:
        assert r.session(Scope(session="lost")) is None
    store.close()

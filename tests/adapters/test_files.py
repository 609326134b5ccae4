"""A file that cannot be used is refused at the open, by its own error, and stays as it was."""

from __future__ import annotations

import hashlib
import os
import random
import sqlite3
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from leporello.adapters.sqlite.store import SqliteStore
from leporello.errors import CorruptStore, KeyNeeded, NewerStore, NotAStore, ReadOnlyStore, StoreError, StoreUnreachable
from leporello.records import Scope
from leporello.testing.conformance.samples import log, say

S1 = Scope(session="s1")
PNG = b"\x89PNG\r\n\x1a\n" + random.Random(7).randbytes(5_000)


def state(folder: Path) -> dict[str, str]:
    """Every file below a folder with the hash of its bytes."""
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.rglob("*")) if p.is_file()}


def filled(path: Path, *, key: str | None = None, messages: int = 40) -> Path:
    """A store with some messages, closed."""
    store = SqliteStore(str(path), key=key)
    say(store, S1, *(f"message {i} " + "and more text " * 20 for i in range(messages)))
    store.close()
    return path


def foreign(path: Path, *, mode: str = "delete", app: int = 0) -> None:
    """Another program's database."""
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA journal_mode={mode}")
    db.execute(f"PRAGMA application_id={app}")
    db.execute("CREATE TABLE message (id TEXT, text TEXT)")
    db.execute("INSERT INTO message VALUES ('m_1', 'mine')")
    db.commit()
    db.close()


def newer(path: Path) -> None:
    """A store as a later version would leave it."""
    db = apsw.Connection(str(filled(path)))
    db.pragma("user_version", 99)
    db.close()


def cut(path: Path) -> None:
    """The first half of a store."""
    data = filled(path).read_bytes()
    path.write_bytes(data[: len(data) // 2])


def cut_within_a_page(path: Path) -> None:
    """A store without its last hundred bytes."""
    data = filled(path).read_bytes()
    path.write_bytes(data[:-100])


def holed(path: Path) -> None:
    """A store whose middle pages hold something else."""
    data = bytearray(filled(path, messages=400).read_bytes())
    assert len(data) > 40 * 4096
    for page in range(5, 35):
        data[page * 4096 : page * 4096 + 4096] = random.Random(page).randbytes(4096)
    path.write_bytes(data)


def headless(path: Path) -> None:
    """A store with another first line."""
    data = filled(path).read_bytes()
    path.write_bytes(b"SQLite format 4\x00" + data[16:])


def damaged_header(path: Path) -> None:
    """A store whose header says nonsense after its first line."""
    data = bytearray(filled(path).read_bytes())
    data[16:100] = b"\xff" * 84
    path.write_bytes(data)


BAD: dict[str, tuple[Callable[[Path], object], type[StoreError] | tuple[type[StoreError], ...]]] = {
    "a text": (lambda p: p.write_text("Dear diary, today was nice.\n" * 200), NotAStore),
    "a short text": (lambda p: p.write_text("hi"), NotAStore),
    "a picture": (lambda p: p.write_bytes(PNG), NotAStore),
    "whole pages of noise": (lambda p: p.write_bytes(random.Random(1).randbytes(8192)), KeyNeeded),
    "zeros": (lambda p: p.write_bytes(bytes(8192)), NotAStore),
    "another program's database": (foreign, NotAStore),
    "another program's database in WAL mode": (lambda p: foreign(p, mode="wal"), NotAStore),
    "another program's marked database": (lambda p: foreign(p, app=0x12345678), NotAStore),
    "a newer store": (newer, NewerStore),
    "half a store": (cut, CorruptStore),
    "a store cut within a page": (cut_within_a_page, CorruptStore),
    "the header of a store alone": (lambda p: p.write_bytes(filled(p).read_bytes()[:100]), CorruptStore),
    "a store with a hole": (holed, CorruptStore),
    "a store without its first line": (headless, (NotAStore, KeyNeeded)),
    "a store with a damaged header": (damaged_header, (CorruptStore, NotAStore)),
    "an encrypted store": (lambda p: filled(p, key="right"), KeyNeeded),
    "a folder": (lambda p: p.mkdir(), StoreUnreachable),
    "a file in a folder that is a file": (lambda p: p.parent.joinpath("plain").write_text("x"), StoreUnreachable),
    "a missing folder": (lambda p: None, StoreUnreachable),
}  # fmt: skip
PLACES = {"a file in a folder that is a file": "plain/store.db", "a missing folder": "gone/store.db"}


@pytest.mark.parametrize("read_only", [False, True], ids=["to write", "to read"])
@pytest.mark.parametrize("what", BAD)
def test_what_cannot_be_used_is_refused_and_unchanged(tmp_path: Path, what: str, read_only: bool) -> None:
    make, error = BAD[what]
    make(tmp_path / "store.db")
    path = tmp_path / PLACES.get(what, "store.db")
    before = state(tmp_path)
    with pytest.raises(error) as caught:
        SqliteStore(str(path), read_only=read_only)
    assert str(path) in str(caught.value) or str(path.parent) in str(caught.value)
    assert caught.value.hint
    after = state(tmp_path)
    if read_only:  # who may not write cannot take the empty side files away again
        after = {n: h for n, h in after.items() if not n.endswith(("-wal", "-shm"))}
    assert after == before
    assert not path.parent.name == "gone" or not path.parent.exists()


def test_a_log_that_another_program_left_is_not_folded_in(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode=wal")
    db.execute("CREATE TABLE t (x)")
    db.execute("INSERT INTO t VALUES ('kept')")
    db.commit()
    copy = tmp_path / "left"
    copy.mkdir()
    for end in ("", "-wal"):
        (copy / f"other.db{end}").write_bytes(Path(f"{path}{end}").read_bytes())
    db.close()
    before = state(copy)
    with pytest.raises(NotAStore):
        SqliteStore(str(copy / "other.db"))
    assert {n: h for n, h in state(copy).items() if not n.endswith("-shm")} == before


@pytest.mark.parametrize("path", ["", "a\x00b", "\x00"])
def test_a_path_that_is_none(path: str) -> None:
    with pytest.raises(StoreUnreachable):
        SqliteStore(path)


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.touch()
    store = SqliteStore(str(path))
    say(store, S1, "one")
    store.close()
    assert path.read_bytes().startswith(b"SQLite format 3\x00")


def test_a_missing_file_is_not_made_by_reading(tmp_path: Path) -> None:
    with pytest.raises(StoreUnreachable):
        SqliteStore(str(tmp_path / "none.db"), read_only=True)
    assert list(tmp_path.iterdir()) == []


def test_a_store_in_memory_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = SqliteStore(":memory:")
    say(store, S1, "one", "two")
    assert [m.text for m in log(store, S1)] == ["one", "two"] and store.size() == 0 and store.check() == []
    store.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["with space.db", "with%41.db", "with?mode=ro.db", "with#mark.db", "süß 猫.db", "-dash.db"])
def test_any_file_name(tmp_path: Path, name: str) -> None:
    path = filled(tmp_path / name, messages=2)
    assert path.is_file() and {p.name for p in tmp_path.iterdir()} == {name}
    store = SqliteStore(str(path), read_only=True)
    assert len(log(store, S1)) == 2
    store.close()


# --- reading only ---------------------------------------------------------------------------------------------------------


def test_reading_only_writes_nothing(tmp_path: Path) -> None:
    path = filled(tmp_path / "store.db")
    before = state(tmp_path)
    store = SqliteStore(str(path), read_only=True)
    assert len(log(store, S1)) == 40 and store.check() == []
    with pytest.raises(ReadOnlyStore):
        say(store, S1, "no")
    with pytest.raises(ReadOnlyStore):
        store.setting("colour", "red")
    store.close()
    assert {n: h for n, h in state(tmp_path).items() if "-" not in n} == before


def test_a_file_marked_read_only_is_refused_for_writing_and_can_be_read(tmp_path: Path) -> None:
    path = filled(tmp_path / "store.db")
    path.chmod(0o444)
    before = state(tmp_path)
    with pytest.raises(ReadOnlyStore):
        SqliteStore(str(path))
    assert state(tmp_path) == before
    store = SqliteStore(str(path), read_only=True)
    assert len(log(store, S1)) == 40
    store.close()


@pytest.fixture
def open_place() -> Iterator[Path]:
    """A folder that another user may enter, unlike those of pytest."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
        for p in [folder, *folder.rglob("*")]:
            p.chmod(0o755)


def unprivileged(work: Callable[[], object]) -> str:
    """What `work` says in a process that permissions bind, or the name of its error."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        said = b"died"
        try:
            if os.geteuid() == 0:
                os.setuid(65534)
            said = str(work()).encode()
        except StoreError as e:
            said = type(e).__name__.encode()
        finally:
            os.write(write, said)
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answer:
        said = answer.read().decode()
    os.waitpid(child, 0)
    return said


def read_count(path: Path) -> int:
    """Messages in a store that is opened to be read."""
    store = SqliteStore(str(path), read_only=True)
    try:
        return len(log(store, S1))
    finally:
        store.close()


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork and file modes")
def test_a_copy_in_a_folder_that_cannot_be_written_can_be_read(open_place: Path) -> None:
    path = filled(open_place / "store.db")
    path.chmod(0o444)
    open_place.chmod(0o555)
    before = state(open_place)
    assert unprivileged(lambda: read_count(path)) == "40"
    assert unprivileged(lambda: SqliteStore(str(path))) == "ReadOnlyStore"
    path.chmod(0o644)
    assert unprivileged(lambda: SqliteStore(str(path))) in {"ReadOnlyStore", "StoreUnreachable"}
    path.chmod(0o000)
    assert unprivileged(lambda: read_count(path)) == "StoreUnreachable"
    path.chmod(0o644)
    assert state(open_place) == before


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork and file modes")
def test_commits_that_are_only_in_the_log_are_not_passed_over(open_place: Path) -> None:
    """A copy taken while a writer was at work, in a folder where its log cannot be followed: all of it, or an error."""
    made = open_place / "made"
    made.mkdir()
    store = SqliteStore(str(made / "store.db"))
    say(store, S1, "one", "two", "three")
    copy = open_place / "copy"
    copy.mkdir()
    for end in ("", "-wal"):
        (copy / f"store.db{end}").write_bytes((made / f"store.db{end}").read_bytes())
    store.close()
    for p in [*copy.iterdir(), copy]:
        p.chmod(0o555 if p.is_dir() else 0o444)
    assert unprivileged(lambda: read_count(copy / "store.db")) in {"3", "StoreUnreachable", "ReadOnlyStore"}


# --- connections -----------------------------------------------------------------------------------------------------------


def open_files(path: Path) -> list[str]:
    """The files of a store that this process holds open."""
    held = []
    for fd in Path("/proc/self/fd").iterdir():
        try:
            target = os.readlink(fd)
        except OSError:
            continue
        if target.startswith(str(path)):
            held.append(target)
    return held


needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc to see open files")


@needs_proc
@pytest.mark.parametrize("what", [w for w in BAD if w not in PLACES])
def test_a_refused_file_is_not_held_open(tmp_path: Path, what: str) -> None:
    make, error = BAD[what]
    path = tmp_path / "store.db"
    make(path)
    with pytest.raises(error) as caught:
        SqliteStore(str(path))
    assert caught.value and open_files(path) == []


@needs_proc
def test_nothing_is_held_open_after_the_close(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = SqliteStore(str(path))
    say(store, S1, "one")
    with store.read() as a, store.read() as b:
        assert a.counts(S1) == b.counts(S1)
    with pytest.raises(ZeroDivisionError), store.write():
        raise ZeroDivisionError
    with pytest.raises(ZeroDivisionError), store.read():
        raise ZeroDivisionError
    with store.read() as r:
        held = r.session(S1)
        assert held is not None
        messages = r.messages(held)
        next(messages)
        store.close()
    assert open_files(path) == [] and {p.name for p in tmp_path.iterdir()} == {"store.db"}


@needs_proc
def test_a_store_that_is_dropped_lets_go(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    for _ in range(3):
        store = SqliteStore(str(path))
        say(store, S1, "one")
        del store
    assert open_files(path) == []


def test_settings_of_every_connection(tmp_path: Path) -> None:
    """Acknowledged means fsynced, deleted means overwritten, references hold: on the writer and on each reader."""
    store = SqliteStore(str(tmp_path / "store.db"))
    with store.write() as w, store.read() as a, store.read() as b:
        for db in (w.db, a.db, b.db):
            found = {n: db.pragma(n) for n in ("journal_mode", "synchronous", "secure_delete", "foreign_keys", "temp_store")}
            assert found == {"journal_mode": "wal", "synchronous": 2, "secure_delete": 1, "foreign_keys": 1, "temp_store": 2}
        assert w.db.pragma("application_id") == 0x4C45504F
    store.close()


def test_the_file_is_an_ordinary_file(tmp_path: Path) -> None:
    path = filled(tmp_path / "store.db")
    assert stat.S_ISREG(path.stat().st_mode)

"""Encryption: nothing of the text is readable in any file, and without the key nothing is."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

import leporello
from leporello.adapters.sqlite.store import SqliteStore
from leporello.errors import InputError, KeyNeeded, NotAStore, StoreError
from leporello.records import Note, Scope
from leporello.testing.conformance.samples import AT, log, say

S1 = Scope(user="Marianne-the-user", session="Bluebell-the-session")
MARK = "Quillwort-7141"
KEY = "correct horse"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(str(tmp_path / "store.db"), key=KEY)
    say(opened, S1, *(f"{MARK} {i} " + "filler " * 50 for i in range(50)))
    with opened.write() as w:
        w.put_note(Note(S1, f"key {MARK}", MARK, AT))
        w.put_pin(S1, MARK, at=AT)
    yield opened
    opened.close()


def readable(folder: Path) -> list[tuple[str, bytes]]:
    """Words of the store, or of any SQLite file, that stand in a file below the folder."""
    words = [MARK.encode(), b"filler", b"Marianne", b"Bluebell", b"SQLite format", b"CREATE TABLE", KEY.encode()]
    return [(p.name, w) for p in folder.rglob("*") if p.is_file() for w in words if w in p.read_bytes()]


def test_no_plain_text_in_any_file(store: SqliteStore, tmp_path: Path) -> None:
    assert {p.name for p in tmp_path.iterdir()} == {"store.db", "store.db-wal", "store.db-shm"}, "the log is looked at too"
    assert readable(tmp_path) == []
    store.scrub()
    assert readable(tmp_path) == []
    store.close()
    assert [p.name for p in tmp_path.iterdir()] == ["store.db"] and readable(tmp_path) == []


def test_a_backup_has_the_same_key(store: SqliteStore, tmp_path: Path) -> None:
    (tmp_path / "copies").mkdir()
    target = tmp_path / "copies" / "copy.db"
    store.backup(str(target))
    assert readable(tmp_path / "copies") == [] and target.stat().st_size > 10_000
    for wrong in (None, "other"):
        with pytest.raises(KeyNeeded):
            SqliteStore(str(target), key=wrong)
    copy = SqliteStore(str(target), key=KEY)
    assert log(copy, S1) == log(store, S1) and copy.check() == []
    copy.close()


@pytest.mark.parametrize("key", [None, "other", KEY + " ", KEY.upper(), "x'00'", "'; DROP TABLE message; --", "\u00e9"])
@pytest.mark.parametrize("read_only", [False, True])
def test_without_its_key_nothing_opens_and_nothing_changes(store: SqliteStore, tmp_path: Path, key: str | None, read_only: bool) -> None:
    store.close()
    path = tmp_path / "store.db"
    before = path.read_bytes()
    with pytest.raises(KeyNeeded):
        SqliteStore(str(path), key=key, read_only=read_only)
    assert path.read_bytes() == before
    again = SqliteStore(str(path), key=KEY)
    assert len(log(again, S1)) == 50
    again.close()


def test_a_key_for_a_plain_store_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plain.db"
    SqliteStore(str(path)).close()
    before = path.read_bytes()
    with pytest.raises(NotAStore, match="without a key"):
        SqliteStore(str(path), key=KEY)
    assert path.read_bytes() == before


def test_an_empty_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        SqliteStore(str(tmp_path / "store.db"), key="")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "key", ["it's", 'say "x"', "x'2DD29CA851E7B56E4697B0E1F08507293D761A05CE4D1B628663F411A8086D99'", "ключ 猫", "a;b", "k" * 5_000]
)
def test_any_key_opens_its_own_store(tmp_path: Path, key: str) -> None:
    path = str(tmp_path / "store.db")
    store = SqliteStore(path, key=key)
    say(store, S1, MARK)
    store.close()
    assert readable(tmp_path) == []
    with pytest.raises(KeyNeeded):
        SqliteStore(path, key=key + "x")
    store = SqliteStore(path, key=key)
    assert len(log(store, S1)) == 1
    store.close()


def test_a_changed_byte_is_noticed(store: SqliteStore, tmp_path: Path) -> None:
    """Each page carries its own seal: an encrypted store never gives back text that was tampered with."""
    store.close()
    path = tmp_path / "store.db"
    good = path.read_bytes()
    spots = random.Random(3).sample(range(4096, len(good)), 12)
    for spot in spots:
        data = bytearray(good)
        data[spot] ^= 0x10
        path.write_bytes(data)
        with pytest.raises(StoreError):
            opened = SqliteStore(str(path), key=KEY)
            try:
                assert len(log(opened, S1)) == 50 and opened.check() == []
            finally:
                opened.close()


def test_the_key_goes_through_open(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with leporello.open(path, embedder="hash", key=KEY) as mem:
        mem.scope(user="ann").remember(f"The word is {MARK}.")
        mem.backup(tmp_path / "copy.db")
        assert mem.scope(user="ann").recall("which word?")[0].text.endswith(f"{MARK}.")
    assert readable(tmp_path) == []
    with pytest.raises(KeyNeeded):
        leporello.open(path, embedder="hash")
    with leporello.open(tmp_path / "copy.db", embedder="hash", key=KEY) as mem:
        assert mem.scope().stats()["messages"] == 1

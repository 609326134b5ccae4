"""Keeping: settings, copies, checks, closing and opening again."""

from __future__ import annotations

from pathlib import Path

import pytest

from leporello.errors import LeporelloError, StoreClosed, StoreError
from leporello.ports import Store
from leporello.records import Note, Scope
from leporello.testing.conformance.opened import OpenedStore
from leporello.testing.conformance.samples import AT, log, say
from leporello.testing.conformance.transactions import everything

S1 = Scope(user="ann", session="s1")


class KeepingRules(OpenedStore):
    """`setting`, `backup`, `check`, `size`, `close`."""

    def test_settings(self, path: str, store: Store) -> None:
        """None before it is set; kept over a close."""
        assert store.setting("colour") is None
        assert store.setting("colour", "red") == "red" and store.setting("colour") == "red"
        store.setting("colour", "blue")
        store.setting("Colour", "")
        store.close()
        again = self.open_store(path)
        assert (again.setting("colour"), again.setting("Colour"), again.setting("colou")) == ("blue", "", None)
        again.close()

    def test_what_was_written_is_there_when_opened_again(self, path: str, store: Store) -> None:
        """All of it, with the same ids."""
        with store.write() as w:
            everything(w, S1)
        with store.read() as r:
            before = (r.facts(S1), r.episodes(S1), r.notes(S1), r.pins(S1), r.compact(S1), r.sessions(Scope()), r.index(S1, (0, 0)))
            said = log(store, S1)
        store.close()
        again = self.open_store(path)
        with again.read() as r:
            assert (r.facts(S1), r.episodes(S1), r.notes(S1), r.pins(S1), r.compact(S1), r.sessions(Scope()), r.index(S1, (0, 0))) == before
            assert log(again, S1) == said
        again.close()

    def test_a_backup_is_equal_and_apart(self, store: Store, tmp_path: Path) -> None:
        """It opens as a store, holds the same, and changes in one do not show in the other."""
        with store.write() as w:
            everything(w, S1)
        store.setting("colour", "red")
        target = str(tmp_path / "copy")
        store.backup(target)
        copy = self.open_store(target)
        try:
            with store.read() as a, copy.read() as b:
                for r in (a, b):
                    assert r.counts(Scope())["messages"] == 2
                assert (a.facts(S1), a.episodes(S1), a.notes(S1), a.index(S1, (0, 0))) == (
                    b.facts(S1),
                    b.episodes(S1),
                    b.notes(S1),
                    b.index(S1, (0, 0)),
                )
            assert log(copy, S1) == log(store, S1) and copy.setting("colour") == "red" and copy.check() == []
            say(store, S1, "only here")
            say(copy, S1, "only there", "and this")
            assert (len(log(store, S1)), len(log(copy, S1))) == (3, 4)
        finally:
            copy.close()

    def test_a_backup_overwrites_nothing(self, store: Store, tmp_path: Path) -> None:
        """A path that exists, or cannot be written, is refused."""
        taken = tmp_path / "taken"
        taken.write_bytes(b"mine")
        for target in (taken, tmp_path / "no such folder" / "copy"):
            with pytest.raises(StoreError):
                store.backup(str(target))
        assert taken.read_bytes() == b"mine" and not (tmp_path / "no such folder").exists()

    def test_a_sound_store_has_nothing_wrong(self, store: Store) -> None:
        """Before and after writing, and it takes room on disk."""
        assert store.check() == []
        with store.write() as w:
            everything(w, S1)
        assert store.check() == [] and store.size() > 0 and store.path

    def test_closing(self, store: Store) -> None:
        """Twice is once; afterwards every use raises `StoreClosed`."""
        say(store, S1, "one")
        store.close()
        store.close()
        with pytest.raises(StoreClosed), store.read():
            pass
        with pytest.raises(StoreClosed), store.write():
            pass
        with pytest.raises(StoreClosed):
            store.setting("colour")

    def test_a_reader_that_is_open_at_the_close(self, store: Store) -> None:
        """Ends without an error of its own."""
        say(store, S1, "one")
        with store.read() as r:
            assert r.counts(S1)["messages"] == 1
            store.close()

    def test_a_value_that_cannot_be_kept_is_refused(self, store: Store) -> None:
        """A typed error, and nothing of the block is written."""
        with pytest.raises(LeporelloError), store.write() as w:
            w.put_pin(S1, "before", at=AT)
            w.put_note(Note(S1, "k", object(), AT))
        with store.read() as r:
            assert r.pins(S1) == []

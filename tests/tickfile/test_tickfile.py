"""Entries go in, are found, used and kept; what is handed in is checked; what cannot be read is neither lost nor in the way."""

from __future__ import annotations

import json
import math
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from leporello.errors import BadValue, LockedStore, NotFound, StoreUnreachable
from leporello.formats.entries import Unreadable
from leporello.tickfile import TickFile, key_of
from leporello.tickfile.lock import locked


def fill(file: TickFile, count: int) -> list[str]:
    return [file.append({"summary": f"thing {n}", "tags": [f"t{n % 2}"]}, tick=n).key for n in range(count)]


def test_an_entry_comes_back_with_its_defaults(path: Path) -> None:
    file = TickFile(path, clock=lambda: datetime(2026, 1, 2, tzinfo=UTC))
    given = file.append({"summary": "Met Alice.", "mood": {"v": 0.4}}, tick=42)
    want = {"tick": 42, "time": "2026-01-02T00:00:00+00:00", "type": "event", "summary": "Met Alice.", "tags": [], "importance": "medium"}
    assert [e.fields for e in file.entries()] == [{**want, "mood": {"v": 0.4}}] == [given.fields]
    assert list(given.fields)[:6] == list(want) and given.key == key_of(given.fields) == next(file.entries()).key
    again = file.append(given, tick=43)
    assert again.fields["tick"] == 43 and path.read_bytes().count(b"\n") == 2
    timed = file.append({"summary": "x", "tick": 1, "time": datetime(2026, 1, 1, tzinfo=UTC), "type": "own", "importance": " HIGH "})
    assert (timed.fields["time"], timed.fields["type"], timed.fields["importance"]) == ("2026-01-01T00:00:00+00:00", "own", "high")


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (7, "The entry is a int"),
        ({}, "summary is missing"),
        ({"summary": "  "}, "summary is missing"),
        ({"summary": 3}, "summary is a int"),
        ({"summary": "x", "type": ""}, "type is empty"),
        ({"summary": "x", "tags": "a,b"}, "tags is a str"),
        ({"summary": "x", "importance": "vital"}, "importance='vital' is unknown"),
        ({"summary": "x", "time": "yesterday"}, "time='yesterday' is no time"),
        ({"summary": "x", "extra": {1, 2}}, "cannot be written as JSON"),
        ({"summary": "x", "extra": math.nan}, "not finite"),
        ({"summary": "x", "extra": [{"a": math.inf}]}, "not finite"),
        ({"summary": "x", "extra": json.loads("[" * 150 + "]" * 150)}, "nested deeper"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_nothing_is_written(file: TickFile, path: Path, bad: Any, told: str) -> None:
    with pytest.raises(BadValue, match=told):
        file.append(bad, tick=1)
    assert not path.exists()


@pytest.mark.parametrize("tick", [None, -1, 1.5, True, "7"])
def test_a_tick_is_a_whole_number(file: TickFile, tick: Any) -> None:
    with pytest.raises(BadValue, match="tick="):
        file.append({"summary": "x"}, tick=tick)


def test_a_last_line_without_newline_is_mended(file: TickFile, path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b'{"summary": "cut of')
    file.append({"summary": "whole"}, tick=1)
    first, second = file.lines()
    assert isinstance(first, Unreadable) and first.raw == b'{"summary": "cut of' and not isinstance(second, Unreadable)
    assert path.read_bytes().endswith(b"}\n")


@pytest.mark.parametrize("text", ["a\u2028b\u2029c\x85d", "null \x00 byte", "\ud83d alone", "🦀 ä", "a\nb\rc\x0bd\x0ce", "\ufeff"])
def test_every_text_comes_back_from_one_line(file: TickFile, path: Path, text: str) -> None:
    file.append({"summary": "x " + text}, tick=1)
    assert next(file.entries()).fields["summary"] == "x " + text
    assert len(path.read_bytes().decode().splitlines()) == 1


ODD = [
    (b'\xef\xbb\xbf{"tick": 1}\r\n{"tick": 2}\r\n', [1, 2], 0),
    (b'{"tick": 1, "s": "caf\xe9"}\n{"tick": 2}\n', [2], 1),
    (b'{"tick": 1, "tick": 2}\n', [], 1),
    (b'{"tick": 1, "v": NaN}\n', [1], 0),
    (b'{"tick": 1, "v": 1e999}\n{"tick": 2, "v": Infinity}\n', [2], 1),
    (b'{"tick": ' + b"9" * 5_000 + b"}\n", [], 1),
    (b'{"tick": 1, "v": ' + b"[" * 5_000 + b"]" * 5_000 + b"}\n", [], 1),
    (b'{"tick": 1, "s": "\x00"}\n', [1], 0),
    (b'\n\n  \n{"tick": 1}', [1], 0),
    (b'{"tick": 1, "s": "\xe2\x80\xa8"}\n7\n', [1], 1),
]


@pytest.mark.parametrize(("data", "ticks", "unreadable"), ODD)
def test_odd_bytes_are_read_as_far_as_they_go(file: TickFile, path: Path, data: bytes, ticks: list[int], unreadable: int) -> None:
    path.parent.mkdir()
    path.write_bytes(data)
    found = list(file.lines())
    assert [e.fields["tick"] for e in file.entries()] == ticks and sum(isinstance(f, Unreadable) for f in found) == unreadable
    assert [e.fields["tick"] for e in file.tail()] == ticks


def test_tail_and_search(file: TickFile) -> None:
    assert file.tail() == () and file.search("x") == ()
    fill(file, 12)
    assert [e.fields["tick"] for e in file.tail(3)] == [9, 10, 11] and [e.number for e in file.tail(2)] == [11, 12]
    file.append({"summary": "Met Alice Smith.", "tags": ["Park"]}, tick=12)
    assert [e.fields["tick"] for e in file.search("smith ALICE", tags=["park"])] == [e.fields["tick"] for e in file.search("park")] == [12]
    assert [e.fields["tick"] for e in file.search("thing", tags=["T1"], limit=2)] == [11, 9]
    assert file.search("thing", archived=True) == ()
    with pytest.raises(BadValue, match="n=0"):
        file.tail(0)


def test_use_and_another_encounter_and_pins(file: TickFile, path: Path) -> None:
    a, b, c = fill(file, 3)
    before = path.read_bytes().splitlines()
    file.accessed(b)
    file.accessed(b, c, tick=7)
    file.observe_again(c, tick=9)
    file.observe_again(c, tick=9)
    file.pin(c)
    _, second, third = (e.fields for e in file.entries())
    assert path.read_bytes().splitlines()[0] == before[0]
    assert (second["_access_count"], second["_last_access_tick"]) == (2, 7)
    assert third["_access_count"] == 1 and third["_presentations"] == [2, 9] and third["_pinned"] is True
    assert [e.key for e in file.entries()] == [a, b, c]
    file.pin(c, pinned=False)
    assert next(reversed(list(file.entries()))).fields["_pinned"] is False
    for tick in range(10, 160):
        (found,) = file.observe_again(c, tick=tick)
    assert (
        len(found.fields["_presentations"]) == 100 and found.fields["_presentations"][0] == 2 and found.fields["_presentations"][-1] == 159
    )


def test_an_unknown_key_changes_nothing(file: TickFile, path: Path) -> None:
    (a,) = fill(file, 1)
    before = path.read_bytes()
    with pytest.raises(NotFound, match="the key 'nobody'"):
        file.accessed(a, "nobody")
    with pytest.raises(NotFound):
        file.explain("nobody", tick=1)
    assert path.read_bytes() == before


def test_explain(file: TickFile) -> None:
    (a,) = fill(file, 1)
    entry, verdict = file.explain(a, tick=200)
    assert entry.key == a and verdict.fate == "kept" and verdict.evaluated.faded
    assert file.explain(a, tick=10**6)[1].fate == "forgotten"


def test_a_lock_that_is_held_is_waited_for_and_then_told(path: Path) -> None:
    path.parent.mkdir()
    with locked(f"{path}.lock", timeout=1), pytest.raises(LockedStore, match="held by another program"):
        TickFile(path, timeout=0.05).append({"summary": "x"}, tick=1)
    TickFile(path, timeout=0.05).append({"summary": "x"}, tick=1)


@pytest.mark.parametrize("name", ["", "a\x00b", "missing/folder/memory.jsonl"])
def test_paths_that_cannot_be(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreUnreachable):
        TickFile(name).append({"summary": "x"}, tick=1)


def test_a_folder_is_no_memory_file(tmp_path: Path) -> None:
    with pytest.raises(StoreUnreachable):
        list(TickFile(tmp_path).entries())


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs symbolic links")
def test_a_link_and_the_permissions_stay(tmp_path: Path) -> None:
    real, link = tmp_path / "real" / "memory.jsonl", tmp_path / "link.jsonl"
    file = TickFile(real)
    (key,) = fill(file, 1)
    real.chmod(0o640)
    link.symlink_to(real)
    TickFile(link).pin(key)
    assert link.is_symlink() and next(file.entries()).fields["_pinned"] is True
    assert real.stat().st_mode & 0o777 == 0o640
    assert sorted(p.name for p in real.parent.iterdir()) == ["memory.jsonl", "memory.jsonl.lock"]

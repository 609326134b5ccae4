"""Forgetting on the file: nothing is lost or doubled, whoever writes beside it; what moves can be told and undone."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leporello.core.retention.compat import maintained
from leporello.errors import BadSetting, BadValue, LockedStore, NotFound, ReadOnlyStore
from leporello.tickfile import Settings, TickFile
from leporello.tickfile.disk import ATTEMPTS, Change, Place, recover, rewrite

DATA = Path(os.environ.get("LEPORELLO_EVAL_DATA") or Path(__file__).parents[2] / "../shared/data").resolve()
needs_data = pytest.mark.skipif(not DATA.exists(), reason=f"the data folder {DATA} is missing: set LEPORELLO_EVAL_DATA")
NOW = datetime(2026, 1, 2, tzinfo=UTC)
Held = Callable[[Path], Any]


def put(path: Path, *rows: object) -> TickFile:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"".join(r if isinstance(r, bytes) else json.dumps(r).encode() + b"\n" for r in rows))
    return TickFile(path, clock=lambda: NOW)


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def state(path: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in path.parent.iterdir()}


OLD, NEW = {"tick": 0, "importance": "low", "summary": "old"}, {"tick": 3_900, "summary": "new"}


def test_what_goes_is_in_the_archive_with_its_reason(path: Path) -> None:
    report = put(path, OLD, NEW, {"tick": 3_950, "summary": "newer"}).maintain(4_000, Settings(max_entries=1))
    assert (report.before, report.after, report.forgotten, report.capped, report.faded) == (3, 1, 1, 1, 0)
    gone = records(path.with_name("memory.archive.jsonl"))
    assert [g["summary"] for g in gone] == ["old", "new"] and {g["_archived_run"] for g in gone} == {report.run}
    assert gone[0]["_archived_at_tick"] == 4_000 and "below 0.1" in gone[0]["_archived_why"] and "more than 1" in gone[1]["_archived_why"]
    assert [m.why for m in report.moved] == [g["_archived_why"] for g in gone] and report.to_dict()["archived"] == 2
    (kept,) = records(path)
    assert kept["_maintained_at_unix"] == int(NOW.timestamp()) and kept["_presentations"] == [3_950]


def test_running_twice_is_running_once(path: Path) -> None:
    file = put(path, OLD, NEW, b"not json\n", {"summary": "no tick"})
    assert file.maintain(4_000).written
    once = state(path)
    again = TickFile(path).maintain(4_000)
    assert not again.written and state(path) == once and again.faded == 0 and again.run == ""
    assert file.maintain(4_200).written


def test_a_dry_run_writes_nothing(path: Path) -> None:
    file = put(path, OLD, NEW, b"not json\n")
    before = state(path)
    report = file.maintain(4_000, dry_run=True)
    assert state(path) == before and report.dry_run and not report.written and report.run == ""
    assert [m.fate for m in report.moved] == ["forgotten"] and [q.line for q in report.quarantined] == [3]
    TickFile(path.parent / "no.jsonl").maintain(1, dry_run=True)
    assert state(path) == before


def test_a_missing_file_is_made(path: Path) -> None:
    report = TickFile(path).maintain(1)
    assert path.read_bytes() == b"" and (report.before, report.after, report.written) == (0, 0, False)


def test_bad_settings_and_ticks(path: Path) -> None:
    with pytest.raises(BadSetting, match="max_entries"):
        TickFile(path).maintain(1, Settings(max_entries=0))
    with pytest.raises(BadValue, match="tick="):
        TickFile(path).maintain("7")  # type: ignore[arg-type]
    assert not path.exists()


def test_an_unfinished_last_line_stays_in_its_place(path: Path) -> None:
    file = put(path, NEW, b"broken\n", b'{"summary": "being wri')
    report = file.maintain(4_000)
    assert report.unfinished and [q.line for q in report.quarantined] == [2]
    with path.open("ab") as writer:
        writer.write(b'tten"}\n')
    assert [e.fields["summary"] for e in file.entries()] == ["new", "being written"]


def test_strict_is_the_published_script(path: Path) -> None:
    file = put(path, OLD, NEW, b"not json\n", b'{"tick": 3999, "summary": "a\xe2\x80\xa8b"}\n')
    text = path.read_text(encoding="utf-8")
    report = file.maintain(4_000, strict=True)
    assert path.read_text(encoding="utf-8") == maintained(text, 4_000, Settings(), int(NOW.timestamp())).text
    assert set(state(path)) == {"memory.jsonl", "memory.jsonl.lock"} and (report.before, report.after) == (2, 1)
    assert list(report.published()) == [
        "ok", "entries_before", "entries_after", "strength", "actr_decay", "retrieval_threshold", "max_entries",
    ]  # fmt: skip


@pytest.mark.parametrize("bad", [b'{"tick": null}\n', b'{"s": "caf\xe9"}\n', b'{"s": "\\ud83d"}\n'])
def test_strict_fails_before_it_writes(path: Path, bad: bytes) -> None:
    file = put(path, NEW, bad)
    with pytest.raises(BadValue):
        file.maintain(4_000, strict=True)
    assert path.read_bytes().endswith(bad)


# --- back from the archive -----------------------------------------------------------------------------------------------------


def test_a_run_is_undone(path: Path) -> None:
    file = put(path, {"tick": 1, "n": 1, "importance": "low"}, {"tick": 5_000, "n": 2}, {"tick": 2, "n": 3, "importance": "low"})
    run = file.maintain(5_000).run
    back = file.restore(run=run)
    assert [e.fields["n"] for e in back] == [1, 3] and [r["n"] for r in records(path)] == [1, 3, 2]
    assert path.with_name("memory.archive.jsonl").read_bytes() == b""
    assert not any(k.startswith("_archived") for r in records(path) for k in r)
    with pytest.raises(NotFound, match="has the run"):
        file.restore(run=run)
    assert file.maintain(5_000).forgotten == 2


def test_what_comes_back_as_met_again_stays(path: Path) -> None:
    file = put(path, OLD, NEW)
    (moved,) = file.maintain(4_000).moved
    (back,) = file.restore(key=moved.key, tick=4_000)
    assert back.key == moved.key and back.fields["_presentations"] == [0, 4_000]
    assert file.maintain(4_001).forgotten == 0


def test_restore_takes_a_run_or_a_key(file: TickFile) -> None:
    for bad in ({}, {"run": "a", "key": "b"}):
        with pytest.raises(BadValue, match="a run or a key"):
            file.restore(**bad)


def test_restored_entries_stand_by_their_ticks_and_without_one_at_the_end(path: Path) -> None:
    rows = [{"tick": t, "n": t} for t in (10, 30, 20)]
    archive = path.with_name("memory.archive.jsonl")
    file = put(path, *rows, b'{"unfinished')
    archive.write_text(
        "".join(json.dumps({**r, "_archived_run": "x"}) + "\n" for r in ({"tick": 25, "n": 25}, {"n": 0}, {"tick": 9, "n": 9}))
    )
    file.restore(run="x")
    assert [e.fields["n"] for e in file.entries()] == [9, 10, 30, 20, 25, 0] and path.read_bytes().endswith(b'\n{"unfinished')


# --- nothing is lost -------------------------------------------------------------------------------------------------------------


@needs_data
@pytest.mark.parametrize("name", ["memory.jsonl", "binary.jsonl", "crlf_bom.jsonl", "cycle.jsonl", "empty.jsonl", "latin1.jsonl", "only_newlines.jsonl", "truncated.jsonl"])  # fmt: skip
def test_nasty_files(path: Path, name: str, held: Held) -> None:
    file = put(path, (DATA / "nasty" / name).read_bytes())
    before = held(path)
    for tick in (100, 4_000, 10**6):
        file.maintain(tick)
        assert held(path) == before
    if name == "memory.jsonl":
        assert before.total() == 10 and len(records(path.with_name("memory.quarantine.jsonl"))) == 3


rows = st.one_of(
    st.binary(max_size=30),
    st.builds(lambda t, i, s: json.dumps({"tick": t, "importance": i, "s": s}).encode(),
              st.one_of(st.integers(-5, 5_000), st.none(), st.text(max_size=3)), st.sampled_from(["low", "high", 3]), st.text(max_size=5)),
    st.sampled_from([b"", b"{}", b'{"a": 1, "a": 2}', b"[" * 999, b'{"v": 1e999}', b'{"v": NaN}', b"\xef\xbb\xbf{}", b'{"s": "\x0c\xc2\x85"}']),
)  # fmt: skip


@given(st.lists(rows, max_size=8), st.booleans(), st.lists(st.integers(0, 9_000), min_size=1, max_size=3), st.integers(1, 4))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_lines_are_where_they_were_or_beside(path: Path, held: Held, given: list[bytes], ended: bool, ticks: list[int], most: int) -> None:
    for old in path.parent.glob("*") if path.parent.exists() else ():
        old.unlink()
    file = put(path, b"\n".join(given) + (b"\n" if ended else b""))
    before = held(path)
    for tick in sorted(ticks):
        report = file.maintain(tick, Settings(max_entries=most))
        assert held(path) == before
        once = state(path)
        assert not file.maintain(tick, Settings(max_entries=most)).written and state(path) == once
        if report.run:
            file.restore(run=report.run)
            assert held(path) == before


# --- writers that know no lock -----------------------------------------------------------------------------------------------------


def test_lines_appended_while_the_file_is_read_are_carried_over(path: Path, held: Held) -> None:
    late = json.dumps({"tick": 4_000, "summary": "late"}).encode() + b"\n"

    def clock() -> datetime:
        with path.open("ab") as writer:
            writer.write(late)
        return NOW

    put(path, OLD, NEW)
    file = TickFile(path, clock=clock)
    file.maintain(4_000)
    file.maintain(4_500)
    assert sorted(r["summary"] for r in records(path)) == ["late", "late", "new"] and held(path).total() == 4


def test_lines_appended_to_the_old_file_after_it_was_replaced_are_carried_over(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(path, OLD, NEW)
    replace = os.replace
    with path.open("ab", buffering=0) as writer:

        def late(a: str, b: str) -> None:
            replace(a, b)
            if b == str(path):
                writer.write(b'{"tick": 4000, "summary": "late"}\n')

        monkeypatch.setattr(os, "replace", late)
        TickFile(path).maintain(4_000)
    assert [r["summary"] for r in records(path)] == ["new", "late"]


@pytest.mark.parametrize("by", ["replacing", "overwriting", "removing"])
def test_a_file_rewritten_meanwhile_is_read_anew(path: Path, by: str) -> None:
    turns = iter(range(99))

    def clock() -> datetime:
        if next(turns) == 1:
            new = json.dumps({"tick": 4_000, "summary": "other"}) + "\n"
            if by == "replacing":
                (path.parent / "x").write_text(new)
                os.replace(path.parent / "x", path)
            elif by == "overwriting":
                path.write_text(new)
            else:
                path.unlink()
        return NOW

    put(path, OLD, NEW)
    file = TickFile(path, clock=clock)
    clock()
    file._unix = lambda: int(clock().timestamp())  # type: ignore[method-assign]
    report = file.maintain(4_000)
    assert [r["summary"] for r in records(path)] == ([] if by == "removing" else ["other"])
    assert report.moved == () and not path.with_name("memory.archive.jsonl").exists()


def test_a_file_that_is_rewritten_for_ever(path: Path) -> None:
    file = put(path, OLD, NEW)
    place = Place.of(str(path))

    def again(data: bytes) -> Change:
        path.write_bytes(b'{"tick": 1}\n' + data)
        return Change(b"{}\n", run="r", archived=b'{"_archived_run": "r"}\n')

    with pytest.raises(LockedStore, match="again and again"):
        rewrite(place, again)
    assert not path.with_name("memory.archive.jsonl").exists()
    assert [e.fields["tick"] for e in file.entries()] == [1] * ATTEMPTS + [0, 3_900]


# --- what a kill leaves --------------------------------------------------------------------------------------------------------------


class Killed(BaseException):
    pass


CALLS = ("open", "write", "fsync", "replace", "unlink")


@pytest.mark.parametrize("work", ["maintain", "restore", "pin", "append"])
def test_stopping_at_every_step_loses_and_doubles_nothing(tmp_path: Path, held: Held, work: str) -> None:
    """Each call of the system that changes something is, in turn, the last one; then another process comes."""
    for last in range(1, 60):
        path = tmp_path / str(last) / "memory.jsonl"
        file = put(path, OLD, OLD, NEW, b"not json\n", b"\xff\n")
        if work == "restore":
            file.maintain(4_000)
        before = held(path)
        ended = stopped_at(last, file, work)
        after = TickFile(path)
        after.pin(after.append({"summary": "after"}, tick=4_001).key)
        now = held(path)
        extra = now - before
        assert before - now == type(now)() and extra.total() <= 1 + (work == "append"), (last, extra)
        assert not [p.name for p in path.parent.iterdir() if p.name.startswith(".")]
        if ended:
            return
    raise AssertionError("it never came to its end")


def stopped_at(last: int, file: TickFile, work: str) -> bool:
    """Does the work in a child that ends at once before its `last`th call; True if the work was done before that."""
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    left = [last]

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*args: Any, **more: Any) -> Any:
            left[0] -= 1
            if left[0] == 0:
                os._exit(9)
            return call(*args, **more)

        return counting

    for name in CALLS:
        setattr(os, name, counted(getattr(os, name)))
    key = next(e.key for e in file.entries() if e.fields.get("summary") == "new")
    run = next((e.fields["_archived_run"] for e in file.entries(archived=True)), None)
    doing: dict[str, Callable[[], object]] = {
        "maintain": lambda: file.maintain(4_000),
        "restore": lambda: file.restore(run=run),
        "pin": lambda: file.pin(key),
        "append": lambda: file.append({"summary": "one more"}, tick=1),
    }
    try:
        doing[work]()
    except BaseException:  # noqa: BLE001 - the child must end here
        os._exit(1)
    os._exit(0)


def test_an_error_half_way_takes_everything_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = put(path, OLD, NEW, b"bad\n")
    before = path.read_bytes()

    def full(a: str, b: str) -> None:
        if b == str(path):
            raise OSError(28, "No space left on device")
        os.rename(a, b)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(Exception, match="No space left"):
        file.maintain(4_000)
    assert state(path) == {"memory.jsonl": before, "memory.jsonl.lock": b""}


def test_a_journal_that_is_not_ours_touches_nothing(path: Path) -> None:
    put(path, NEW)
    outside = path.parent.parent / "other.txt"
    outside.write_text("x")
    place = Place.of(str(path))
    for told in (
        b"garbage",
        b"[]",
        b'{"run": "r", "sizes": {}, "temporary": [["file", "../other.txt"]]}',
        b'{"run": 1, "sizes": {"file": 0}, "temporary": []}',
    ):
        Path(place.journal).write_bytes(told)
        recover(place)
        assert outside.read_text() == "x" and not Path(place.journal).exists() and records(path) == [NEW]


def test_taking_back_leaves_what_others_appended_to_the_archive(path: Path) -> None:
    put(path, NEW)
    place = Place.of(str(path))
    Path(place.archive).write_bytes(b'{"n": 1}\n{"n": 2, "_archived_run": "r"}\n{"n": 3}\n{"n": 4, "_arch')
    (path.parent / ".memory.jsonl.0.tmp").write_bytes(b"")
    Path(place.journal).write_text(json.dumps({"run": "r", "sizes": {"archive": 9}, "temporary": [["file", ".memory.jsonl.0.tmp"]]}))
    recover(place)
    assert [r["n"] for r in records(Path(place.archive))] == [1, 3]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everything")
def test_a_file_that_may_not_be_written(path: Path) -> None:
    file = put(path, OLD)
    path.chmod(0o444)
    with pytest.raises(ReadOnlyStore):
        file.maintain(4_000)

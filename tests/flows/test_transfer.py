"""Files in and out: counts add up, twice is once, and what came in comes out equal."""

from __future__ import annotations

import gzip
import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import leporello
from leporello.core.turns import faults, shapes
from leporello.errors import FormatError, LeporelloError, StoreUnreachable
from leporello.memory import Memory
from leporello.results import Layers
from leporello.testing import ManualClock

DATA = Path(os.environ.get("LEPORELLO_EVAL_DATA") or Path(__file__).parents[2] / "../shared/data").resolve()
needs_data = pytest.mark.skipif(not DATA.exists(), reason=f"the data folder {DATA} is missing: set LEPORELLO_EVAL_DATA")
SMALL = (
    "codex/ac_",
    "claude-code-log",
    "claude-code/06",
    "claude-code/26",
    "claude-code-viewer",
    "mini-swe-agent",
    "roo__",
    "memory_files",
)


def small_files() -> list[Path]:
    return sorted(p for p in DATA.rglob("*.gz") if any(s in str(p) for s in SMALL)) if DATA.exists() else []


def covered(layers: Layers) -> list[int]:
    return [t for ranges in (layers.l3, layers.l2, layers.l1) for first, last in ranges for t in range(first, last + 1)]


@needs_data
@pytest.mark.parametrize("path", small_files(), ids=lambda p: p.name)
def test_a_real_file_goes_in_folds_and_comes_out(mem: Memory, path: Path, tmp_path: Path) -> None:
    alice = mem.scope(user="alice")
    report = alice.import_(path)
    assert report.seen == report.stored + report.already + report.quarantined
    assert alice.stats()["messages"] == report.stored
    again = alice.import_(path)
    assert (again.stored, again.already) == (0, again.seen - again.quarantined)
    for info in alice.sessions():
        session = alice.session(info)
        pages = list(session.messages())
        before = len(faults(shapes(pages)))
        session.fold()
        assert covered(session.layers()) == list(range(1, info.turns + 1))
        tail = session.tail()
        assert len(faults(shapes(tail))) <= before and not (tail and tail[0].pos > 1 and shapes(tail)[0].results)
        session.close()
        assert covered(session.layers()) == list(range(1, info.turns + 1))
        assert session.fold(all=True).episodes == () and list(session.messages()) == pages
    out = tmp_path / "out"
    assert alice.export(out) == report.stored
    index = json.loads((out / "index.json").read_text(encoding="utf-8"))
    assert sum(entry["messages"] for entry in index) == report.stored


@needs_data
def test_claude_code_messages_come_back_equal(mem: Memory, tmp_path: Path) -> None:
    path = next(p for p in small_files() if "claude-code/06" in str(p))
    with gzip.open(path, "rt", encoding="utf-8") as f:
        came = [r["message"] for r in map(json.loads, f) if isinstance(r.get("message"), dict)]
    mem.import_(path)
    mem.export(tmp_path / "out")
    gave = [m for p in sorted((tmp_path / "out").glob("0*.json")) for m in json.loads(p.read_text(encoding="utf-8"))]
    assert sorted(map(json.dumps, gave)) == sorted(map(json.dumps, came))


def write(path: Path, *lines: Any) -> Path:
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + "\n", encoding="utf-8")
    return path


def test_what_cannot_be_read_is_kept_aside_and_counted(mem: Memory, tmp_path: Path) -> None:
    bad = '{"role": "user", "content": "cut of'
    path = write(tmp_path / "talk.jsonl", {"role": "user", "content": "hello"}, bad, {"role": "assistant", "content": "hi"})
    report = mem.scope(user="a").import_(path)
    assert (report.seen, report.stored, report.quarantined, report.sessions) == (3, 2, 1, ("talk",))
    assert report.quarantine_file is not None and report.quarantine_file.startswith(str(tmp_path / "memory.db.quarantine"))
    [kept] = [json.loads(line) for line in Path(report.quarantine_file).read_text(encoding="utf-8").splitlines()]
    assert kept["raw"] == bad and kept["place"] and kept["why"]
    chosen = tmp_path / "elsewhere.jsonl"
    assert mem.scope(user="b").import_(path, quarantine=chosen).quarantine_file == str(chosen)
    blocked = write(tmp_path / "file", "x") / "no"
    with pytest.raises(StoreUnreachable):
        mem.scope(user="c").import_(path, quarantine=blocked)


def test_a_grown_file_adds_only_its_new_part(mem: Memory, tmp_path: Path) -> None:
    lines = [{"role": "user" if i % 2 else "assistant", "content": f"line {i}"} for i in range(6)]
    assert mem.import_(write(tmp_path / "t.jsonl", *lines[:4])).stored == 4
    seen: list[tuple[int, int]] = []
    report = mem.import_(write(tmp_path / "t.jsonl", *lines), progress=lambda done, total: seen.append((done, total)))
    assert (report.stored, report.already) == (2, 4)
    assert seen and seen[-1][0] <= seen[-1][1]
    assert [m.text for m in mem.scope().session("t").messages()] == [f"line {i}" for i in range(6)]


def test_the_handles_session_takes_the_files(mem: Memory, tmp_path: Path) -> None:
    handle = mem.scope(user="a", session="mine")
    handle.import_(write(tmp_path / "t.jsonl", {"role": "user", "content": "hello there"}))
    assert [m.text for m in mem.scope(user="a").session("mine").messages()] == ["hello there"]


def test_memory_files_become_pages_and_facts_once(mem: Memory, tmp_path: Path) -> None:
    entries = [
        {
            "tick": 1,
            "time": "2024-01-15T10:30:00",
            "type": "event",
            "summary": "Met Alice at the park.",
            "tags": ["social"],
            "importance": "high",
            "mood": 3,
        },
        {"tick": 2, "summary": "The kettle is broken.", "type": "observation"},
    ]
    path = write(tmp_path / "memory.jsonl", *entries)
    alice = mem.scope(user="alice")
    assert alice.import_(path).stored == 2 and alice.import_(path).stored == 0
    facts = alice.facts()
    assert [f.text for f in facts] == ["Met Alice at the park.", "The kettle is broken."] and facts[0].confidence == 0.9
    quote = alice.explain(facts[0].id).quotes[0]
    assert quote.text == "Met Alice at the park." and quote.turn == 1
    alice.export(tmp_path / "out")
    assert json.loads(next((tmp_path / "out").glob("0*.json")).read_text(encoding="utf-8")) == entries
    notes = tmp_path / "MEMORY.md"
    notes.write_text("# Project\n\n- Deploys are on Tuesdays.\n- Tests run with `make test`.\n", encoding="utf-8")
    assert alice.import_(notes).stored == 2
    assert [f.trust for f in alice.facts()][2:] == ["user", "user"]


def test_an_export_is_of_a_moment_on_both_axes(mem: Memory, clock: ManualClock, tmp_path: Path) -> None:
    """Messages: said by `as_of`, recorded by `believed_at`. Facts: as they held, and as they were believed, with the history of then."""
    alice = mem.scope(user="alice")
    start = clock.now()
    alice.remember("said and stored first", at=start)
    alice.learn("The standup is at 9:00.", at=start)
    later = clock.advance(timedelta(days=10))
    alice.remember("said early, stored late", at=start + timedelta(days=1))
    alice.learn("The standup is now at 10:00.", at=start + timedelta(days=5))
    mem.scope(user="bob").learn("The standup is at 11:00.")

    def out(**then: Any) -> tuple[list[str], list[tuple[str, str, list[str]]]]:
        folder = tmp_path / f"out{len(list(tmp_path.iterdir()))}"
        count = alice.export(folder, **then)
        index = json.loads((folder / "index.json").read_text())
        said = [m["content"] for e in index if e["messages"] for m in json.loads((folder / e["file"]).read_text())]
        lines = [json.loads(line) for e in index if "facts" in e for line in (folder / e["file"]).read_text().splitlines()]
        assert count == len(said) == sum(e["messages"] for e in index)
        return said, [(f["text"][-6:], f["status"], [h["action"] for h in f["history"]]) for f in lines]

    both = ["said and stored first", "said early, stored late"]
    nine, early, ten = (" 9:00.", "deprecated", ["add", "supersede"]), (" 9:00.", "active", ["add"]), ("10:00.", "active", ["add"])
    assert out() == (both, [nine, ten])
    assert out(as_of=start) == (both[:1], [nine])
    assert out(as_of=start + timedelta(days=5)) == (both, [ten])
    assert out(believed_at=start) == (both[:1], [early])
    assert out(as_of=start + timedelta(days=7), believed_at=start) == (both[:1], [early])
    assert out(as_of=start + timedelta(days=1), believed_at=later) == (both, [nine])
    assert out(as_of=start - timedelta(microseconds=1)) == ([], [])
    assert out(believed_at=start - timedelta(microseconds=1)) == ([], [])
    with pytest.raises(LeporelloError):
        alice.export(tmp_path / "never", as_of="soon")
    assert not (tmp_path / "never").exists()


def test_refusals_are_typed(mem: Memory, tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(bytes(range(256)) * 8)
    with pytest.raises(FormatError):
        mem.import_(tmp_path / "x.bin")
    with pytest.raises(LeporelloError):
        mem.import_(tmp_path / "missing.jsonl")
    with pytest.raises(FormatError):
        mem.import_(write(tmp_path / "t.jsonl", {"role": "user", "content": "x"}), format="no-such")
    with pytest.raises(LeporelloError):
        mem.export(tmp_path / "out", format="xml")
    with pytest.raises(StoreUnreachable):
        mem.export(write(tmp_path / "file", "x") / "sub")


def test_a_store_in_memory_keeps_bad_lines_in_the_temporary_folder(tmp_path: Path) -> None:
    with leporello.open(":memory:", embedder="hash") as mem:
        report = mem.import_(write(tmp_path / "t.jsonl", {"role": "user", "content": "x"}, "{", {"role": "user", "content": "y"}))
    assert report.quarantine_file is not None and str(tmp_path) not in report.quarantine_file
    Path(report.quarantine_file).unlink()


def test_erasing_a_scope_takes_its_quarantined_lines(mem: Memory, tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", {"role": "user", "content": "x"}, "{broken heron", {"role": "user", "content": "y"})
    kept = mem.scope(user="bob").import_(path).quarantine_file
    gone = mem.scope(user="alice", project="shop").import_(path).quarantine_file
    assert kept and gone and kept != gone
    receipt = mem.scope(user="alice").erase_all()
    assert receipt.counts["quarantine files"] == 1
    assert not Path(gone).exists() and Path(kept).exists()

"""Every real transcript, memory file and hand-made bad file: the counts add up, and what comes in comes back equal."""

from __future__ import annotations

import gzip
import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from leporello.core.blocks import role_of
from leporello.errors import FormatError, LeporelloError
from leporello.formats import FORMATS, Learnt, Skipped, Unreadable, detect, read
from leporello.records import Draft

DATA = Path(os.environ.get("LEPORELLO_EVAL_DATA") or Path(__file__).parents[2] / "../shared/data").resolve()
pytestmark = pytest.mark.skipif(not DATA.exists(), reason=f"the data folder {DATA} is missing: set LEPORELLO_EVAL_DATA")

FOLDERS = {
    "claude-code": "claude-code", "claude-code-new": "claude-code", "claude-code-log": "claude-code", "claude-code-viewer": "claude-code",
    "codex": "codex", "pi": "pi", "mini-swe-agent": "openai-chat", "aider": "aider", "gemini-cli": "gemini-cli", "letta": "letta",
    "niceeval-codex": "niceeval", "openhands": "openhands", "specstory": "specstory", "swe-agent": "swe-agent", "tau-bench": "tau-bench",
}  # fmt: skip
NASTY = {
    "binary.jsonl": None, "deep.json": None, "queries.json": None, "scopes.json": None, "text.json": None, "times.json": None,
    "crlf_bom.jsonl": (2, 0, 0), "cycle.jsonl": (4, 0, 0), "dup_keys.json": (0, 0, 1), "duplicate_result.json": (4, 0, 0),
    "empty.jsonl": (0, 0, 0), "empty_and_null.json": (7, 0, 4), "images.json": (3, 0, 0), "latin1.jsonl": (2, 0, 1),
    "memory.jsonl": (0, 7, 3), "nan.json": (1, 0, 0), "one_giant_turn.json": (122, 0, 0), "only_newlines.jsonl": (0, 0, 0),
    "openai_parallel.json": (7, 0, 0), "orphan_result.json": (3, 0, 0), "parallel_out_of_order.json": (4, 0, 0),
    "partial_parallel.json": (6, 0, 0), "result_before_call.json": (4, 0, 0), "reused_call_id.json": (8, 0, 0),
    "same_role_runs.json": (5, 0, 0), "signed_thinking.json": (4, 0, 0), "text_after_call.json": (4, 0, 0),
    "truncated.jsonl": (1, 0, 1), "unanswered_call.json": (2, 0, 0), "unknown_blocks.json": (2, 0, 0), "README.md": (0, 7, 0),
}  # fmt: skip


def files(folder: str) -> list[Path]:
    return sorted(p for p in (DATA / folder).rglob("*") if p.is_file())


def named(path: Path) -> str:
    return str(path.relative_to(DATA)) if path.is_absolute() else str(path)


def unpacked(path: Path) -> bytes:
    raw = path.read_bytes()
    return gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw


def rows(path: Path) -> Iterator[Any]:
    for row in unpacked(path).split(b"\n"):
        if row.strip():
            yield json.loads(row)


def expected_messages(path: Path, name: str) -> list[Any]:
    """The messages of a transcript, found by a few lines that know nothing of the readers."""
    if name == "claude-code":
        records = [r for r in rows(path) if isinstance(r, dict)]
        return [r["message"] for r in records if isinstance(r.get("message"), dict)]
    if name == "codex":
        return [r["payload"] for r in rows(path) if r["type"] in {"response_item", "compacted"}]
    if name == "pi":
        return [r["message"] for r in rows(path) if r["type"] == "message"]
    loaded: list[Any] = json.loads(unpacked(path))
    return loaded


@pytest.mark.parametrize("path", files("transcripts"), ids=named)
def test_the_format_of_a_transcript_is_found_without_its_name(path: Path, tmp_path: Path) -> None:
    hidden = tmp_path / "x"
    hidden.write_bytes(path.read_bytes())
    found = detect(hidden)
    folder = path.parent.name
    assert found is not None
    if folder in FOLDERS:
        assert found.name == FOLDERS[folder]
    else:
        agent = path.name.split("__")[0]
        assert found.name == {"gemini": "gemini-cli", "roo": "anthropic-messages"}.get(agent, agent)


@pytest.mark.parametrize("path", files("transcripts"), ids=named)
def test_a_transcript_comes_in_whole_or_is_refused_by_name(path: Path) -> None:
    found = detect(path)
    assert found is not None
    if not found.reads or found.asked:
        with pytest.raises(FormatError) as caught:
            read(path)
        assert found.title in str(caught.value)
    if not found.reads:
        return
    entries = list(read(path, found.name))
    drafts = [e for e in entries if isinstance(e, Draft)]
    lost = [e for e in entries if isinstance(e, Unreadable)]
    came = expected_messages(path, found.name)
    gave = [d.original["payload"] if d.original.get("type") == "compacted" else d.original for d in drafts]
    if path.name.startswith("edge_cases"):
        assert [e.why for e in lost] == [
            "not a message but a string", "not a record but a bare value", "a record without a type", "not a record but a bare value",
            "not a record but a bare value",
        ]  # fmt: skip
    else:
        assert [e.why for e in lost] == []
    assert gave == came
    assert all(role_of(d.original) for d in drafts)
    if unpacked(path).lstrip()[:1] == b"{":
        assert len(entries) == sum(1 for row in unpacked(path).split(b"\n") if row.strip())


@pytest.mark.parametrize("path", files("nasty"), ids=named)
def test_bad_input_is_read_as_far_as_it_goes_or_refused(path: Path) -> None:
    expected = NASTY[path.name]
    if expected is None:
        with pytest.raises(FormatError):
            read(path)
        return
    kinds = Counter(type(e) for e in read(path))
    assert (kinds[Draft], kinds[Learnt], kinds[Unreadable]) == expected
    assert not kinds[Skipped]


@pytest.mark.parametrize("path", [p for f in ("transcripts", "nasty", "memory_files", "retrieval") for p in files(f)], ids=named)
def test_a_grown_file_gives_the_old_origins_first(path: Path, tmp_path: Path) -> None:
    found = detect(path)
    if found is None or not found.reads:
        return
    whole = origins(path, found.name)
    assert whole == origins(path, found.name), "reading is repeatable"
    raw = unpacked(path)
    cut = raw.rfind(b"\n", 0, len(raw) * 2 // 3) + 1
    if found.name == "markdown" or cut == 0 or raw.lstrip()[:1] == b"[":
        return
    young = tmp_path / "young"
    young.write_bytes(raw[:cut])
    assert origins(young, found.name) == whole[: len(origins(young, found.name))]
    assert len(origins(young, found.name)) > 0 or len(raw) < 200


def origins(path: Path, name: str) -> list[tuple[str | None, str | None]]:
    return [(getattr(e, "session", None), e.origin) for e in read(path, name) if isinstance(e, (Draft, Learnt))]


@pytest.mark.parametrize(
    "path", [p for p in files("transcripts") if p.parent.name.startswith(("claude", "codex", "pi", "mini"))], ids=named
)
def test_origins_tell_different_messages_of_a_session_apart(path: Path) -> None:
    seen: dict[tuple[str | None, str | None], Any] = {}
    found = detect(path)
    assert found is not None
    for draft in (e for e in read(path, found.name) if isinstance(e, Draft)):
        assert seen.setdefault((draft.session, draft.origin), draft.original) == draft.original


def test_a_file_cut_or_damaged_anywhere_never_breaks_a_reader(tmp_path: Path) -> None:
    chance = random.Random(5)
    small = [p for f in ("transcripts", "nasty", "memory_files") for p in files(f) if p.stat().st_size < 60_000]
    target = tmp_path / "damaged"
    for path in small:
        for raw in (path.read_bytes(), unpacked(path)):
            for _ in range(3):
                piece = bytearray(raw[: chance.randrange(len(raw) + 1)])
                for _ in range(chance.randrange(3)):
                    if piece:
                        piece[chance.randrange(len(piece))] = chance.randrange(256)
                target.write_bytes(bytes(piece))
                try:
                    for entry in read(target):
                        assert isinstance(entry, (Draft, Learnt, Unreadable, Skipped))
                except LeporelloError:
                    continue


@pytest.mark.parametrize("path", [p for p in files("memory_files") if p.name.endswith(".md.gz")], ids=named)
def test_every_line_of_notes_is_kept(path: Path) -> None:
    entries = list(read(path))
    assert not [e for e in entries if isinstance(e, Unreadable)]
    kept = bare("\n".join(f"{e.original['markdown']}\n" + "\n".join(e.under) for e in entries if isinstance(e, Learnt)))
    skipped = sum(isinstance(e, Skipped) for e in entries)
    missing = [row for row in unpacked(path).decode().splitlines() if row.strip() and bare(row) not in kept]
    assert all(row.strip().startswith(("---", "***", "___", "<!--")) for row in missing)
    assert len(missing) <= skipped


def bare(text: str) -> str:
    return "".join(c for c in text if c.isalnum())


@pytest.mark.parametrize("path", [p for p in files("memory_files") if p.name.endswith(".jsonl.gz")], ids=named)
def test_every_memory_entry_is_kept(path: Path) -> None:
    entries = list(read(path))
    assert all(isinstance(e, Learnt) for e in entries)
    learnt = [e for e in entries if isinstance(e, Learnt)]
    for row in rows(path):
        if "observations" in row:
            assert [o for e in learnt if e.original.get("name") == row["name"] for o in e.original["observations"]][
                : len(row["observations"])
            ]
            assert all(any(o in e.original.get("observations", ()) for e in learnt) for o in row["observations"])
        else:
            assert any(e.original == row for e in learnt)


@pytest.mark.parametrize("path", files("retrieval"), ids=named)
def test_retrieval_sets_come_in_whole(path: Path) -> None:
    groups = json.loads(unpacked(path))["groups"]
    drafts = [e for e in read(path) if isinstance(e, Draft)]
    came = [(f"{g['id']}/{m['session']}", str(m["id"]), m["text"], m["speaker"], m["role"]) for g in groups for m in g["messages"]]
    assert [(d.session, d.origin, d.original["content"], d.name, d.original["role"]) for d in drafts] == came
    assert all((d.at is None) == (m["at"] is None) for d, m in zip(drafts, (m for g in groups for m in g["messages"]), strict=True))


def test_side_chains_and_compactions_are_told_apart() -> None:
    viewer = [e for e in read(next((DATA / "transcripts/claude-code-viewer").iterdir())) if isinstance(e, Draft)]
    assert Counter("/sidechain-" in (d.session or "") for d in viewer) == {True: 405, False: 32}
    compacted = [e for e in read(DATA / "transcripts/claude-code/cd_95adddad32_0.jsonl.gz") if isinstance(e, Draft) and e.trust == "agent"]
    assert sum(str(d.original["content"]).startswith("This session is being continued") for d in compacted) == 3
    rollout = [e for e in read(DATA / "transcripts/codex/03_0f3d39319d_0.jsonl.gz") if isinstance(e, Draft)]
    assert sum(d.original.get("type") == "compacted" for d in rollout) == 2


def test_every_format_has_a_name_and_a_title() -> None:
    assert all(key == made.name and made.title for key, made in FORMATS.items())

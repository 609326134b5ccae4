"""Project memory goes out as files and hand edits come back as the user's corrections; the store and the files stay in step."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import pytest

import leporello
from leporello.errors import BadSetting, InputError, StoreUnreachable, TooManyRemoved, UnreadEdits
from leporello.flows import forget, project
from leporello.memory import Memory, Scoped
from leporello.testing import ManualClock
from leporello.tiers import Tiers, drop_project_lines

if issubclass(Scoped, Tiers):
    Handle = Scoped
else:

    @dataclass(frozen=True)
    class Handle(Tiers, Scoped):  # type: ignore[no-redef]
        """A handle with the tiers."""


def handle(scoped: Scoped) -> Handle:
    return Handle(scoped.scope, scoped._ports, scoped._shelf, scoped._background)


@pytest.fixture
def alice(mem: Memory, clock: ManualClock) -> Handle:
    made = handle(mem.scope(user="alice", project="shop"))
    made.learn("Deploys happen on Tuesdays.", why="release calendar", tags=["deploys"])
    clock.advance(timedelta(days=1))
    made.learn("We use PostgreSQL through src/db/conn.py.", kind="decision", tags=["database"])
    made.learn("Prefers short answers.", kind="preference")
    made.learn("Friday afternoons are for reviews.", kind="pattern")
    mem.scope(user="alice", project="bank").learn("The ledger closes at six.")
    mem.scope(user="alice").learn("Alice speaks Portuguese.")
    clock.advance(timedelta(days=1))
    return made


def state(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir())}


def texts(handle: Handle) -> set[str]:
    return {f.text for f in handle.project()}


def edit(path: Path, change: Callable[[str], str]) -> None:
    path.write_text(change(path.read_text()))


def bullet(path: Path, start: str) -> str:
    text = path.read_text()
    begin = text.index(f"- {start}")
    return text[begin : text.index("-->\n", begin) + 4]


def test_only_the_project_is_written_and_only_what_changed(alice: Handle, tmp_path: Path, mem: Memory) -> None:
    folder = tmp_path / "notes"
    first = alice.write_project(folder)
    assert first.entries == 4 and set(first.written) == set(state(folder)) == {
        "MEMORY.md", "index.json", "deploys.md", "database.md", "user-preferences.md", "patterns.md"
    }  # fmt: skip
    before = {p.name: p.stat().st_mtime_ns for p in folder.iterdir()}
    again = alice.write_project(folder)
    assert (again.written, again.removed) == ((), ()) and before == {p.name: p.stat().st_mtime_ns for p in folder.iterdir()}
    assert not any(b"ledger" in t or b"Portuguese" in t for t in state(folder).values())
    alice.learn("Rollbacks take ten minutes.", tags=["deploys"])
    assert set(alice.write_project(folder).written) == {"deploys.md", "MEMORY.md", "index.json"}
    everything = handle(mem.scope(user="alice")).write_project(tmp_path / "all")
    assert everything.entries == 7


def test_reading_without_edits_changes_nothing(alice: Handle, tmp_path: Path) -> None:
    alice.write_project(tmp_path / "m")
    held, facts = state(tmp_path / "m"), alice.facts()
    report = alice.read_project(tmp_path / "m")
    assert (report.corrected, report.added, report.retracted, report.clashes, report.problems) == ((), (), (), (), ())
    assert alice.facts() == facts and state(tmp_path / "m") == held
    assert alice.write_project(tmp_path / "m").written == ()


def test_an_edited_a_removed_and_a_new_bullet(alice: Handle, tmp_path: Path, clock: ManualClock) -> None:
    folder = tmp_path / "m"
    alice.write_project(folder)
    old = {f.text: f for f in alice.project()}
    edit(folder / "deploys.md", lambda t: t.replace("on Tuesdays", "on Thursdays"))
    edit(folder / "patterns.md", lambda t: t.replace(bullet(folder / "patterns.md", "Friday"), ""))
    edit(folder / "database.md", lambda t: t + "\n## Ruled out\n\n- MySQL is ruled out.\n")
    clock.advance(timedelta(hours=1))
    with pytest.raises(UnreadEdits, match="3 hand edits"):
        alice.write_project(folder)
    report = alice.read_project(folder)
    gone, corrected = old["Friday afternoons are for reviews."], old["Deploys happen on Tuesdays."]
    assert (report.corrected, report.retracted, len(report.added)) == ((corrected.id,), (gone.id,), 1)
    assert texts(alice) == {
        "Deploys happen on Thursdays.", "We use PostgreSQL through src/db/conn.py.", "Prefers short answers.", "MySQL is ruled out."
    }  # fmt: skip
    new = {f.text: f for f in alice.project()}
    made = new["Deploys happen on Thursdays."]
    assert (made.why, made.tags, made.trust, made.scope.project) == ("release calendar", ("deploys",), "user", "shop")
    assert (new["MySQL is ruled out."].fact_kind, new["MySQL is ruled out."].tags) == ("eliminated", ("database",))
    assert alice.history(corrected.id)[-1].why == "edited in deploys.md" and alice.history(gone.id)[-1].why == "removed from patterns.md"
    assert alice.get(corrected.id).to_dict()["superseded_by"] == made.id
    again = alice.read_project(folder)
    assert (again.corrected, again.added, again.retracted, again.clashes) == ((), (), (), ()) and len(alice.project()) == 4
    written = alice.write_project(folder)
    assert "patterns.md" in written.removed and b"Thursdays" in state(folder)["deploys.md"] and alice.write_project(folder).written == ()


def test_edited_details_are_taken_over_once(alice: Handle, tmp_path: Path) -> None:
    folder = tmp_path / "m"
    alice.write_project(folder)
    edit(
        folder / "deploys.md",
        lambda t: t.replace("confidence 1 · why: release calendar · tags: deploys", "confidence 0.6 · tags: deploys, ops"),
    )
    report = alice.read_project(folder)
    made = alice.project(topic="ops")
    assert len(report.corrected) == 1 and [(f.text, f.confidence, f.why) for f in made] == [("Deploys happen on Tuesdays.", 0.6, "")]
    assert alice.read_project(folder).corrected == () and len(alice.project()) == 4


def test_a_change_in_the_store_wins_and_the_clash_is_told(alice: Handle, tmp_path: Path, clock: ManualClock) -> None:
    folder = tmp_path / "m"
    alice.write_project(folder)
    fact = alice.project(topic="deploys")[0]
    edit(folder / "deploys.md", lambda t: t.replace("on Tuesdays", "on Thursdays"))
    clock.advance(timedelta(hours=1))
    alice.retract(fact.id, why="no longer")
    report = alice.read_project(folder)
    assert [(c.id, c.text, c.place) for c in report.clashes] == [(fact.id, "Deploys happen on Thursdays.", "deploys.md:11")]
    assert not any("Deploys" in t for t in texts(alice))
    assert alice.write_project(folder).clashes == report.clashes and not (folder / "deploys.md").exists()


def test_a_file_that_is_gone_is_no_mass_retraction(alice: Handle, tmp_path: Path) -> None:
    folder = tmp_path / "m"
    alice.write_project(folder)
    (folder / "deploys.md").unlink()
    (folder / "index.json").unlink()
    report = alice.read_project(folder)
    assert (report.missing, report.retracted, len(alice.project())) == (("deploys.md",), (), 4)
    assert {"deploys.md", "index.json"} <= set(alice.write_project(folder).written)
    (folder / "deploys.md").unlink()
    assert len(alice.read_project(folder, removed="retract").retracted) == 1 and len(alice.project()) == 3


def test_taking_out_more_than_half_is_refused_unless_meant(alice: Handle, tmp_path: Path) -> None:
    folder = tmp_path / "m"
    alice.write_project(folder)
    for name in ("deploys.md", "database.md", "patterns.md"):
        (folder / name).write_text("")
    with pytest.raises(TooManyRemoved, match="3 of 4"):
        alice.read_project(folder)
    assert len(alice.project()) == 4
    assert len(alice.read_project(folder, force=True).retracted) == 3 and texts(alice) == {"Prefers short answers."}


def test_files_that_cannot_be_read_are_left_alone(alice: Handle, tmp_path: Path) -> None:
    folder = tmp_path / "m"
    alice.write_project(folder)
    conflict = b"<<<<<<< HEAD\n- one\n=======\n- two\n>>>>>>> b\n"
    (folder / "deploys.md").write_bytes(conflict)
    (folder / "patterns.md").write_bytes(b"\x00\xff\x00")
    report = alice.read_project(folder)
    assert {p.place for p in report.problems} == {"deploys.md", "patterns.md"} and len(alice.project()) == 4 and report.retracted == ()
    alice.learn("Rollbacks take ten minutes.", tags=["deploys"])
    written = alice.write_project(folder)
    assert (folder / "deploys.md").read_bytes() == conflict and (folder / "patterns.md").read_bytes() == b"\x00\xff\x00"
    assert {p.place for p in written.problems} == {"deploys.md", "patterns.md"}
    shutil.rmtree(folder)
    with pytest.raises(InputError, match="cannot be read"):
        alice.read_project(folder)


def test_a_file_of_somebody_else_is_never_written_over(alice: Handle, tmp_path: Path) -> None:
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "deploys.md").write_text("# Our deploy guide\n\n- Ask Ann first.\n")
    (folder / "MEMORY.md").write_text("# Memory\n\nKeep calm.\n\n## Hosting\n- CLI only.\n")
    with pytest.raises(UnreadEdits, match="MEMORY.md:6"):
        alice.write_project(folder)
    assert len(alice.read_project(folder).added) == 1 and "CLI only." in texts(alice)
    alice.write_project(folder)
    assert (folder / "deploys.md").read_text() == "# Our deploy guide\n\n- Ask Ann first.\n"
    assert "Keep calm." in (folder / "other-text.md").read_text() and "[Hosting](hosting.md)" in (folder / "MEMORY.md").read_text()
    assert len([n for n in state(folder) if n.startswith("topic") or n.startswith("deploys-")]) == 1


def test_a_renamed_topic_file_keeps_its_name(alice: Handle, tmp_path: Path) -> None:
    folder = tmp_path / "m"
    alice.write_project(folder)
    (folder / "deploys.md").rename(folder / "releases.md")
    report = alice.read_project(folder)
    assert (report.retracted, report.added, report.missing) == ((), (), ())
    alice.write_project(folder)
    assert "releases.md" in state(folder) and "deploys.md" not in state(folder) and len(alice.project()) == 4


def test_erased_facts_leave_the_files_at_once_and_never_come_back(alice: Handle, tmp_path: Path, mem: Memory) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    alice.write_project(one)
    handle(mem.scope(user="alice")).write_project(two)
    fact = alice.project(topic="deploys")[0]
    kept = state(one)["deploys.md"]
    assert sorted(f for _, f in project.folders(mem._ports.store)) == [str(one), str(two)]
    assert alice.erase(fact.id).counts["project lines"] == 2 and drop_project_lines(mem._ports, [fact.id]) == 0
    for folder in (one, two):
        assert not any(b"Tuesdays" in t or fact.id.encode() in t for t in state(folder).values())
    alice.write_project(one)
    (one / "old-copy.md").write_bytes(kept.replace(b"Tuesdays", b"Thursdays"))
    assert (alice.read_project(one).erased, len(alice.project())) == (1, 3)
    alice.write_project(one)
    assert "old-copy.md" not in state(one)
    assert (alice.read_project(one).erased, len(alice.project())) == (0, 3)


def test_an_erased_fact_is_dropped_by_the_next_write_too(alice: Handle, tmp_path: Path, mem: Memory) -> None:
    """Also when the folder could not be reached while it was erased."""
    folder = tmp_path / "m"
    alice.write_project(folder)
    fact = alice.project(topic="database")[0]
    edit(folder / "database.md", lambda t: t.replace("PostgreSQL", "MariaDB"))
    forget.erase(mem._ports, alice.scope, [fact.id])
    report = alice.read_project(folder)
    assert (report.erased, report.added) == (1, ()) and len(alice.project()) == 3
    assert alice.write_project(folder).erased == 1
    assert not any(b"MariaDB" in t or fact.id.encode() in t for t in state(folder).values())


def test_a_bullet_that_says_what_is_known_is_taken_over_once(alice: Handle, tmp_path: Path, mem: Memory) -> None:
    folder = tmp_path / "m"
    alice.write_project(folder)
    edit(folder / "deploys.md", lambda t: t + "- Deploys happen on tuesdays!\n- The cache is Redis.\n")
    report = alice.read_project(folder)
    assert len(report.added) == 2 and [p.place for p in report.problems] == ["deploys.md:13"] and "says what" in report.problems[0].why
    again = alice.read_project(folder)
    assert (again.added, again.clashes) == ((), ()) and len(alice.project()) == 5
    redis = next(f for f in alice.project() if "Redis" in f.text)
    assert alice.erase(redis.id).counts["project lines"] == 1 and alice.read_project(folder).erased == 0
    assert b"Redis" not in state(folder)["deploys.md"] and len(alice.project()) == 4
    alice.write_project(folder)
    assert b"tuesdays!" not in state(folder)["deploys.md"] and alice.write_project(folder).written == ()


def test_a_bullet_may_be_edited_again_before_it_is_written(alice: Handle, tmp_path: Path, clock: ManualClock) -> None:
    folder = tmp_path / "m"
    alice.write_project(folder)
    for old, new in (("Tuesdays", "Thursdays"), ("Thursdays", "Fridays"), ("Fridays", "Tuesdays")):
        edit(folder / "deploys.md", lambda t, old=old, new=new: t.replace(f"on {old}", f"on {new}"))  # type: ignore[misc]
        clock.advance(timedelta(hours=1))
        assert alice.read_project(folder).clashes == () and alice.read_project(folder).corrected == ()
        assert [f.text for f in alice.project(topic="deploys")] == [f"Deploys happen on {new}."]


def test_a_new_bullet_whose_fact_was_taken_back_is_a_clash(alice: Handle, tmp_path: Path, clock: ManualClock) -> None:
    folder = tmp_path / "m"
    alice.write_project(folder)
    edit(folder / "deploys.md", lambda t: t + "- The cache is Redis.\n")
    (made,) = alice.read_project(folder).added
    clock.advance(timedelta(hours=1))
    alice.retract(made, why="wrong")
    report = alice.read_project(folder)
    assert (report.added, [c.id for c in report.clashes]) == ((), [made]) and "The cache is Redis." not in texts(alice)


def test_two_stores_share_a_folder(alice: Handle, tmp_path: Path, clock: ManualClock) -> None:
    folder = tmp_path / "m"
    alice.write_project(folder)
    with leporello.open(":memory:", clock=clock, embedder="hash") as other:
        bob = handle(other.scope(user="bob", project="shop"))
        assert len(bob.read_project(folder).added) == 4 and bob.read_project(folder).added == ()
        assert texts(bob) == texts(alice)


def test_structured_queries_by_topic_path_and_date(alice: Handle) -> None:
    assert [f.text for f in alice.project(path="src/db")] == ["We use PostgreSQL through src/db/conn.py."]
    assert [f.text for f in alice.project(topic="Deploys")] == ["Deploys happen on Tuesdays."]
    assert [f.tags for f in alice.project(until="2026-03-02")] == [("deploys",)]
    assert len(alice.project(since="2026-03-03")) == 3 and alice.project(since="2026-03-04") == ()
    assert len(alice.project(since=date(2026, 3, 3), until=date(2026, 3, 3))) == 3 and len(alice.project(until="9999-12-31")) == 4


def test_old_topics_are_flagged(alice: Handle, tmp_path: Path, clock: ManualClock) -> None:
    assert alice.write_project(tmp_path / "m").stale == ()
    clock.advance(timedelta(days=29))
    alice.learn("Rollbacks take ten minutes.", tags=["rollbacks"])
    assert alice.write_project(tmp_path / "m").stale == ("deploys",)


def test_what_is_noted_of_a_folder_survives_damage(alice: Handle, tmp_path: Path, mem: Memory) -> None:
    alice.write_project(tmp_path / "m")
    store = mem._ports.store
    assert project.noted(store, project.scope_mark(alice.scope), str(tmp_path / "m"))["ids"]["deploys.md"]
    store.setting(project.FOLDERS, "{broken")
    assert project.folders(store) == []
    alice.learn("Rollbacks take ten minutes.")
    alice.write_project(tmp_path / "m")
    assert json.loads(store.setting(project.FOLDERS) or "") == [[project.scope_mark(alice.scope), str(tmp_path / "m")]]


def test_what_cannot_be_taken_is_refused(alice: Handle, tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="no folder"):
        alice.write_project("")
    with pytest.raises(BadSetting, match="no path"):
        alice.write_project(3)  # type: ignore[arg-type]
    with pytest.raises(BadSetting, match="no path"):
        alice.write_project(b"x")  # type: ignore[arg-type]
    with pytest.raises(BadSetting, match="removed="):
        alice.read_project(tmp_path, removed="all")  # type: ignore[arg-type]
    (tmp_path / "file").write_text("x")
    with pytest.raises((StoreUnreachable, InputError)):
        alice.write_project(tmp_path / "file")

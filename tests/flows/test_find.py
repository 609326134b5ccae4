"""The cascade says in which tier it found an answer, or that none has one; and the scratchpad that is one of its tiers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from leporello.errors import BadSetting, BadValue, EmptyQuery, InputError, StoreUnreachable
from leporello.flows import notes
from leporello.flows.find import KINDS_OF_TIER, in_view, kinds_of, level_of, view_of
from leporello.memory import Memory, Scoped
from leporello.records import Scope
from leporello.testing import ManualClock
from leporello.tiers import Tiers

if issubclass(Scoped, Tiers):
    Handle = Scoped
else:

    @dataclass(frozen=True)
    class Handle(Tiers, Scoped):  # type: ignore[no-redef]
        """A handle with the tiers."""


def handle(scoped: Scoped) -> Handle:
    return Handle(scoped.scope, scoped._ports, scoped._shelf, scoped._background)


@pytest.fixture
def alice(mem: Memory) -> Handle:
    return handle(mem.scope(user="alice", project="shop", session="s1"))


def test_each_tier_answers_before_the_next(alice: Handle, mem: Memory) -> None:
    everywhere = mem.scope(user="alice")
    everywhere.learn("The office coffee machine takes oat milk.")
    alice.learn("The staging database listens on port 5433.", level="project")
    alice.set_note("last_error", "TypeError at line 42")
    alice.session("s1").add(
        [{"role": "user", "content": "The courier comes at noon."}, {"role": "assistant", "content": "Noted, at noon."}]
    )
    found = {q: alice.find(q) for q in ("When does the courier come?", "last error", "staging database port", "coffee machine milk")}
    assert [f.tier for f in found.values()] == ["working", "short", "medium", "long"]
    assert [len(f.looked) for f in found.values()] == [1, 2, 3, 4]
    assert "courier" in found["When does the courier come?"].hits[0].text and "oat milk" in found["coffee machine milk"].text
    assert found["last error"].hits[0].text == "last_error: TypeError at line 42"
    for f in found.values():
        assert not f.not_found and f.advice == "" and f.looked[-1].why_not == "" and all(step.why_not for step in f.looked[:-1])
        assert f.hits[0].score == f.looked[-1].best > 0


def test_nothing_found_says_what_was_looked_at_and_what_to_do(alice: Handle) -> None:
    alice.learn("The staging database listens on port 5433.")
    found = alice.find("zebra crossing repainting")
    assert (found.tier, found.hits, found.not_found) == (None, (), True) and "ask the user" in found.advice
    assert [step.tier for step in found.looked] == ["working", "short", "medium", "long"]
    assert found.looked[0].why_not == "the session has no unfolded messages" and found.looked[1].why_not == "there are no notes"
    assert found.to_dict()["looked"][3]["why_not"]


def test_the_question_itself_is_no_answer(alice: Handle) -> None:
    question = "Which port does the staging database use?"
    alice.session("s1").add({"role": "user", "content": question})
    asked = alice.find(question)
    assert asked.tier is None and asked.looked[0].why_not == "only the question itself is there"
    alice.learn("The staging database uses port 5433.", level="project")
    assert alice.find(question).tier == "medium"


def test_folded_messages_are_not_working_memory(alice: Handle) -> None:
    with alice.session("s1") as s:
        for n in range(3):
            s.add([{"role": "user", "content": f"The courier number {n} comes at noon."}, {"role": "assistant", "content": "Noted."}])
    assert alice.find("When does the courier come?").tier in {"medium", "long"}
    assert alice.find("When does the courier come?").looked[0].why_not == "the session has no unfolded messages"


def test_another_project_is_not_the_medium_tier(mem: Memory) -> None:
    mem.scope(user="alice", project="bank").learn("The ledger closes on Fridays.")
    mem.scope(user="alice").learn("The ledger is blue.")
    shop = handle(mem.scope(user="alice", project="shop"))
    found = shop.find("ledger")
    assert found.tier == "long" and [h.text for h in found.hits] == ["The ledger is blue."]
    assert handle(mem.scope(user="alice")).find("ledger").looked[2].why_not == "the handle has neither project nor session"


def test_notes_are_looked_up_by_key_beginning_and_words_newest_first(alice: Handle, clock: ManualClock) -> None:
    for key, value in (("last_error", "TypeError"), ("last_error_file", "cart.py"), ("progress", {"step": 3, "of": "migration"})):
        clock.advance(timedelta(minutes=1))
        alice.set_note(key, value)
    keys = {
        q: [h.text.split(":")[0] for h in alice.find(q).hits] for q in ("last_error", "last", "migration step", "What was the last error?")
    }
    assert keys["last_error"] == ["last_error", "last_error_file"] and keys["last"] == ["last_error_file", "last_error"]
    assert keys["migration step"] == ["progress"] and keys["What was the last error?"] == ["last_error", "last_error_file"]
    assert alice.find("the last deploy of the warehouse").tier is None


def test_the_51st_note_of_a_session_takes_the_place_of_the_oldest(alice: Handle, clock: ManualClock, mem: Memory) -> None:
    wide = handle(mem.scope(user="alice"))
    wide.set_note("wide", 1)
    for n in range(50):
        clock.advance(timedelta(seconds=1))
        assert alice.set_note(f"k{n}", n) == ()
    clock.advance(timedelta(seconds=1))
    assert alice.set_note("k0", "again") == ()
    clock.advance(timedelta(seconds=1))
    assert alice.set_note("k50", 50) == ("k1",)
    held = [n.key for n in alice.notes()]
    assert held[:2] == ["k50", "k0"] and held[-2:] == ["k2", "wide"] and len(held) == 51
    assert alice.note("k1") is None and alice.note("k0") == "again"
    for n in range(60):
        wide.set_note(f"w{n}", n)
    assert wide.note("w0") == 0


def test_clearing_takes_the_notes_of_the_session_and_no_other(alice: Handle, mem: Memory) -> None:
    wide, other = handle(mem.scope(user="alice", project="shop")), handle(mem.scope(user="alice", project="shop", session="s2"))
    for h, value in ((alice, 1), (wide, 2), (other, 3)):
        h.set_note("k", value)
    with mem._ports.store.write() as w:
        assert notes.clear(w, alice.scope) == 1
    assert (alice.note("k"), other.note("k"), wide.clear_notes(), alice.clear_notes()) == (2, 3, 1, 0)
    assert other.note("k") == 3


def test_notes_go_out_and_come_back_with_time_and_confidence(alice: Handle, mem: Memory, tmp_path: Path, clock: ManualClock) -> None:
    alice.set_note("a", "x\u2028y", confidence=0.4)
    clock.advance(timedelta(minutes=1))
    alice.set_note("b", {"leporello_note": 1, "confidence": 2})
    assert alice.export_notes(tmp_path / "notes.jsonl") == 2
    text = (tmp_path / "notes.jsonl").read_text()
    assert text == alice.notes_jsonl() and text.index('"b"') < text.index('"a"') and '"confidence": 0.4}' in text
    copy = handle(mem.scope(user="bob", session="t"))
    report = copy.import_notes(tmp_path / "notes.jsonl")
    assert (report.stored, report.older, report.dropped, report.bad) == (2, 0, (), ())
    assert copy.notes_jsonl() == text and copy.note("b") == {"leporello_note": 1, "confidence": 2} and copy.note("a") == "x\u2028y"
    clock.advance(timedelta(minutes=1))
    copy.set_note("a", "newer")
    again = copy.import_notes(text + "broken\n" + '{"key": "c", "value": 1, "ts": 0}\n{"key": "c", "value": 2, "ts": 5}\n')
    assert (again.stored, again.older) == (1, 3) and copy.note("a") == "newer" and copy.note("c") == 2
    assert [(b.number, b.raw) for b in again.bad] == [(3, "broken")]
    many = "".join(f'{{"key": "n{n}", "value": {n}, "ts": {2_000_000_000 + n}}}\n' for n in range(60))
    assert len(copy.import_notes(many).dropped) == 13 and copy.note("n10") == 10 and copy.note("a") is None


def test_what_cannot_be_taken_is_refused_with_its_name(alice: Handle, tmp_path: Path) -> None:
    with pytest.raises(BadValue, match="confidence"):
        alice.set_note("k", 1, confidence=1.5)
    with pytest.raises(BadValue, match="key"):
        alice.set_note("", 1)
    with pytest.raises(EmptyQuery):
        alice.find("  ")
    with pytest.raises(BadValue, match="k=0"):
        alice.find("x", k=0)
    with pytest.raises(InputError, match="cannot be opened"):
        alice.import_notes(tmp_path / "none.jsonl")
    with pytest.raises(StoreUnreachable):
        alice.export_notes(tmp_path / "no" / "notes.jsonl")
    with pytest.raises(BadSetting, match="no path"):
        alice.export_notes(3)  # type: ignore[arg-type]


def test_layers_and_tiers_are_names_of_kinds_and_levels() -> None:
    assert kinds_of("L1") == ("message",) and kinds_of("l3") == ("fact",) and kinds_of("medium") == ("episode", "fact")
    assert (
        kinds_of("short") == ()
        and view_of("short").notes
        and set(KINDS_OF_TIER) == {"L1", "L2", "L3", "working", "short", "medium", "long"}
    )
    session = Scope(user="a", project="p", session="s")
    assert (level_of(session), level_of(Scope(user="a")), level_of(Scope())) == ("session", "user", "tenant")
    assert in_view(session, "working") and not in_view(Scope(user="a"), "medium") and in_view(Scope(user="a"), "long")
    with pytest.raises(BadSetting, match="no layer or tier"):
        kinds_of("L4")

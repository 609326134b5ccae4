"""The torture in short: `python -m leporello.bench.torture` runs it whole."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import leporello
from leporello import Memory, Scope
from leporello.bench import torture
from leporello.bench.soundness import faults
from leporello.testing.conformance.samples import ENTRY, episode

pytestmark = pytest.mark.slow


def test_a_crowd_on_one_file(tmp_path: Path) -> None:
    figures, wrong = torture.crowd(tmp_path, scale=0.06)
    assert wrong == [] and figures["messages"] == 480 and figures["recalls"] >= torture.READERS


def test_kills_at_random_moments(tmp_path: Path) -> None:
    figures, wrong = torture.kills(tmp_path, rounds=12, seed=3)
    assert wrong == [] and figures["kept"] >= 12


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert torture.main(["--only", "kills", "--kills", "1", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["violations"] == [] and report["kills"]["kills"] == 1


# --- what is looked for is found ---------------------------------------------------------------------------------------


@pytest.fixture
def mem(tmp_path: Path) -> Memory:
    opened = leporello.open(tmp_path / "memory.db", embedder="hash")
    with opened.scope(user="ann").session("s1") as s:
        for i in range(6):
            s.add({"role": "user", "content": f"Please look at part {i} of the plan and decide what to do about it next week. " * 3})
            s.add(
                {
                    "role": "assistant",
                    "content": f"We decided to keep part {i} because it is the only one that works without the network. " * 3,
                }
            )
    assert faults(opened) == []
    return opened


def state(mem: Memory) -> tuple[Scope, object]:
    scope = Scope(user="ann", session="s1")
    with mem._ports.store.read() as r:
        return scope, r.session(scope)


BREAKS = {
    "a lost message": ("DELETE FROM message WHERE pos = 12", "1 positions are empty"),
    "a lost index row": ("DELETE FROM entry WHERE rid = 3", "do not match"),
    "an index row too many": ("INSERT INTO entry SELECT rid + 100, tenant, usr, scope, 1, record + 100, pos, at, recorded, terms, vector FROM entry WHERE rid = 3", "index rows"),
    "an episode without its counter": ("UPDATE session SET folded = 3", "the counters say"),
    "a fold without its episode": ("DELETE FROM entry WHERE kind = 1; DELETE FROM episode", "rests on"),
    "counters behind the rows": ("UPDATE session SET messages = 11", "rows reach position"),
    "positions in another order": ("UPDATE message SET turn = 1 WHERE pos = 12", "out of order"),
    "a broken reference": ("PRAGMA foreign_keys = 0; INSERT INTO message_media (tenant, hash, message) VALUES (1, 'none', 1); PRAGMA foreign_keys = 1", "missing row"),
}  # fmt: skip


@pytest.mark.parametrize("what", BREAKS)
def test_a_fault_is_seen(mem: Memory, what: str) -> None:
    sql, told = BREAKS[what]
    with mem._ports.store._connections.writing(begin=False) as db:  # type: ignore[attr-defined]
        db.execute(sql)
    found = faults(mem)
    mem.close()
    assert any(told in line for line in found), found


def test_two_episodes_over_the_same_turns_are_seen(mem: Memory) -> None:
    scope, held = state(mem)
    said = list(mem.scope(user="ann").session("s1").messages())
    with mem._ports.store.write() as w:
        made = episode(scope, said[4:8], number=99)
        w.add_episode(held, replace(made, items=(), positions=(5, 8)), ENTRY)  # type: ignore[arg-type]
    found = faults(mem)
    mem.close()
    assert any("in two layers" in line for line in found) and any("the one before ends at" in line for line in found), found


def test_a_ledger_forgets_a_line_that_was_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    path.write_bytes(b'["kept", "m_1", "one"]\n["erasing", "m_1"]\n["kept", "m_2", "two"]\n["erased", "m_1"]\n["kept", "m_3')
    told = torture.Ledger.read(path)
    assert told.kept == {"m_1": "one", "m_2": "two"} and told.erased == {"m_1"} and told.doubtful == set()
    assert told.steps == {"kept": 2, "erasing": 1, "erased": 1}


def test_what_a_kill_lost_is_seen(tmp_path: Path) -> None:
    path, ledger = tmp_path / "memory.db", tmp_path / "ledger"
    with leporello.open(path, embedder="hash") as mem:
        (kept,) = mem.scope(user="ann").session("s1").add("look at the parser (mark.1)")
    lines = [["kept", kept.id, kept.text], ["kept", "m_lost", "(gone)"], ["erased", kept.id]]
    ledger.write_text("".join(json.dumps(line) + "\n" for line in lines[:1]))
    assert torture.after_kill(path, ledger) == []
    ledger.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert [w.split(" ", 1)[1] for w in torture.after_kill(path, ledger)][:2] == ["was acknowledged and is gone", "was erased and is back"]
    path.write_bytes(path.read_bytes()[:5_000])
    assert torture.after_kill(path, ledger)[0].startswith("CorruptStore")

"""Maintenance that is killed leaves whole moves behind, and the next run does the rest."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

import leporello
from leporello.bench.forgetting import START, stock
from leporello.records import Scope
from leporello.testing import ManualClock

LATE = START + timedelta(days=2_000)
RUN = """
import sys
from datetime import datetime
import leporello
from leporello.testing import ManualClock
with leporello.open(sys.argv[1], embedder="hash", clock=ManualClock(datetime.fromisoformat(sys.argv[2])), policies={"fold": {"at_open": False}}) as mem:
    print("open", flush=True)
    mem.maintain()
"""


def whole(mem: leporello.Memory) -> Counter[str]:
    """How many facts are in use and aside; that each is wholly the one or the other."""
    with mem._ports.store.read() as r:
        facts = r.facts(Scope())
        ids = [f.id for f in facts]
        faded = {c.fact for c in r.claims(Scope(), ids) if c.op == "fade"}
        archived = {e.record for e in r.events(Scope(), ids) if e.kind == "archived"}
        aside = {i for i, t in r.traces(Scope(), ids).items() if t.aside is not None and t.due is None}
        history = {f.id for f in facts if r.history(f)[-1].action == "archive"}
    out = {f.id for f in facts if f.status == "archived"}
    assert out == faded == archived == aside == history
    return Counter(f.status for f in facts)


def kill_often(path: Path, size: int, times: int, seed: int) -> None:
    chance = random.Random(seed)
    clock = ManualClock(START)
    with leporello.open(path, embedder="hash", clock=clock) as mem:
        stock(mem, clock, size)
    moved = 0
    for _ in range(times):
        process = subprocess.Popen([sys.executable, "-c", RUN, str(path), LATE.isoformat()], stdout=subprocess.PIPE)
        assert process.stdout is not None and process.stdout.readline() == b"open\n"
        time.sleep(chance.uniform(0, size / 8_000))
        process.kill()
        process.wait()
        process.stdout.close()
        with leporello.open(path, embedder="hash", clock=ManualClock(LATE), policies={"fold": {"at_open": False}}) as mem:
            found = whole(mem)
            assert sum(found.values()) == size and found["archived"] >= moved
            moved = found["archived"]
    with leporello.open(path, embedder="hash", clock=ManualClock(LATE), policies={"fold": {"at_open": False}}) as mem:
        mem.maintain()
        assert whole(mem) == {"archived": size} and mem.doctor() == []
        for run in mem.runs():
            assert not mem.undo(run.run or "").left
        assert {f.status for f in mem.scope().facts(status="all")} == {"active"}


def test_a_few_kills(tmp_path: Path) -> None:
    kill_often(tmp_path / "facts.db", 2_000, 3, seed=5)


@pytest.mark.torture
def test_many_kills(tmp_path: Path) -> None:
    kill_often(tmp_path / "facts.db", 8_000, 15, seed=7)

"""Real processes on one memory file: many writers under running maintenance, and kills at any moment."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leporello.tickfile import TickFile

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
Held = Callable[[Path], Any]

APPEND = """
import sys
from leporello.tickfile import TickFile
path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
file = TickFile(path, timeout=60)
for n in range(count):
    file.append({"summary": f"{name} {n}", "importance": "low"}, tick=n * 97)
    print(n, flush=True)
"""
PLAIN = """
import json, sys
path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
for n in range(count):
    with open(path, "a") as file:
        file.write(json.dumps({"summary": f"{name} {n}", "tick": n * 97}) + "\\n")
    print(n, flush=True)
"""
MAINTAIN = """
import random, sys
from leporello.tickfile import Settings, TickFile
path, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
chance = random.Random(seed)
file = TickFile(path, timeout=60)
for n in range(count):
    report = file.maintain(n * 500, Settings(max_entries=chance.randint(5, 60)))
    if report.run and chance.random() < 0.3:
        file.restore(run=report.run)
    kept = file.tail(1)
    if kept:
        file.accessed(*{e.key for e in kept}) if chance.random() < 0.2 else None
    print(n, flush=True)
"""


def start(code: str, path: Path, *more: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, str(path), *map(str, more)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(process: subprocess.Popen[str], *, status: int = 0) -> int:
    """How many steps the process acknowledged."""
    out, err = process.communicate(timeout=100)
    assert process.returncode == status, err
    return len(out.splitlines())


def summaries(held: Counter[str]) -> Counter[str]:
    found: Counter[str] = Counter()
    for line, times in held.items():
        found[line.partition('"summary": "')[2].partition('"')[0]] += times
    return found


@pytest.mark.slow
def test_writers_under_running_maintenance_lose_nothing(path: Path, held: Held) -> None:
    TickFile(path).maintain(0)
    knowing = [start(APPEND, path, f"k{w}", 60) for w in range(2)]
    plain = [start(PLAIN, path, f"p{w}", 150) for w in range(2)] if sys.platform == "linux" else []
    keeping = start(MAINTAIN, path, 1, 40)
    for writer in [*knowing, *plain, keeping]:
        finish(writer)
    TickFile(path).maintain(10**6)
    want = {f"k{w} {n}" for w in range(2) for n in range(60)} | {f"p{w} {n}" for w in range(len(plain)) for n in range(150)}
    assert summaries(held(path)) == Counter(dict.fromkeys(want, 1))


def kills(path: Path, held: Held, *, rounds: int, seed: int) -> None:
    """A writer and a maintainer, killed at random moments, again and again: what was acknowledged is there once, and never twice."""
    chance = random.Random(seed)
    acknowledged: set[str] = set()
    for turn in range(rounds):
        writer, keeper = start(APPEND, path, f"r{turn}", 100_000), start(MAINTAIN, path, seed + turn, 100_000)
        for process in (writer, keeper):
            assert process.stdout
            process.stdout.readline()  # it is at work
        time.sleep(chance.uniform(0, 0.15))
        for process in chance.sample([writer, keeper], 2):
            process.send_signal(signal.SIGKILL)
            time.sleep(chance.choice([0, 0.01]))
        wrote = finish(writer, status=-signal.SIGKILL) + 1
        finish(keeper, status=-signal.SIGKILL)
        acknowledged |= {f"r{turn} {n}" for n in range(wrote)}
        TickFile(path).maintain(10**6 + turn)
        found = summaries(held(path))
        assert acknowledged <= set(found) and {k: v for k, v in found.items() if v != 1 and k} == {}, turn
        acknowledged = set(found) - {""}


@pytest.mark.slow
def test_kills_at_random_moments(path: Path, held: Held) -> None:
    kills(path, held, rounds=5, seed=7)


@pytest.mark.torture
def test_many_kills(path: Path, held: Held) -> None:
    kills(path, held, rounds=100, seed=70)

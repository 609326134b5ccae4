"""Kills an agent loop at random moments and resumes it: what it then sends must be what a loop that was never killed sends.

    python -m leporello.bench.torture_loop [--kills 200] [--seed 1]

A loop of scripted replies runs in a process of its own; before each call it writes the hash of its request. It is killed (SIGKILL)
at random moments and started again until it is through. Ids, which are made anew in every run, do not count.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import leporello
from leporello.bench.loop_sessions import made_up
from leporello.testing.clock import ManualClock

TURNS = 160
_ID = re.compile(r"\b[emfx]_[0-9a-f]{28,32}\b")
_START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def script(turns: int = TURNS) -> list[dict[str, Any]]:
    """The messages of the session, replies with a usage among them."""
    out: list[dict[str, Any]] = []
    for n, step in enumerate(made_up(turns, seed=3)):
        if step.user:
            out.append({"role": "user", "content": step.user})
        calls = [{"type": "tool_use", "id": f"c{n}_{i}", "name": name, "input": dict(given)} for i, (name, given) in enumerate(step.calls)]
        out.append({"role": "assistant", "content": [{"type": "text", "text": step.text}, *calls]})
        if calls:
            results = [{"type": "tool_result", "tool_use_id": c["id"], "content": r} for c, r in zip(calls, step.results, strict=True)]
            out.append({"role": "user", "content": results})
    return out


def work(path: str, log: str) -> None:
    """Goes on with the loop from wherever it stands, to its end."""
    messages = script()
    clock = ManualClock(_START)
    with leporello.open(path, embedder="hash", clock=clock) as mem, open(log, "a", encoding="ascii") as out:
        session = mem.scope(user="torture").session("loop", system="You are an agent.", window=16_000, mode="folded", model="m")
        if not session.pins():
            session.pin("Never touch the production database.")
        at = sum(1 for _ in session.messages())
        for n in range(at, len(messages)):
            if messages[n]["role"] != "assistant":
                session.add(messages[n])
                continue
            body = json.dumps(session.request("anthropic"), sort_keys=True)
            out.write(f"{n} {hashlib.sha256(_ID.sub('ID', body).encode()).hexdigest()} {len(body)}\n")
            out.flush()
            os.fsync(out.fileno())
            usage = {"input_tokens": len(body) // 3, "output_tokens": 50}
            session.add({"type": "message", "stop_reason": "tool_use", "model": "m", "usage": usage, **messages[n]}, reply=True)


def sent(log: str) -> list[tuple[int, str]]:
    """What was sent: the place in the script and the hash, in order; a line that was cut off does not count."""
    lines = Path(log).read_text(encoding="ascii").split("\n")[:-1] if Path(log).exists() else []
    return [(int(p[0]), p[1]) for line in lines if len(p := line.split()) == 3]


def run(*, kills: int, seed: int = 1) -> Iterator[str]:
    """Lines of the report; the last one says how many requests differed."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        whole = f"{folder}/whole.log"
        begun = time.monotonic()
        _child(f"{folder}/whole.db", whole).wait()
        took = time.monotonic() - begun
        expected = dict(sent(whole))
        done = rounds = differed = repeated = lost = 0
        while done < kills:
            path, log = f"{folder}/{rounds}.db", f"{folder}/{rounds}.log"
            rounds += 1
            while True:
                child = _child(path, log)
                try:
                    code = child.wait(rng.uniform(0.05, took / 3) if done < kills else None)
                except subprocess.TimeoutExpired:
                    child.kill()
                    child.wait()
                    done += 1
                    continue
                if code != 0:
                    yield f"a resumed loop ended with code {code}"
                    differed += 1
                break
            found = sent(log)
            differed += sum(expected.get(n) != digest for n, digest in found)
            repeated += len(found) - len({n for n, _ in found})
            lost += len(set(expected) - {n for n, _ in found})
            yield f"session {rounds}: {done} kills so far, {len(found)} requests, {repeated} sent again, {differed} differed, {lost} missing"
        yield f"{done} kills in {rounds} sessions of {len(expected)} requests: {differed} requests differed, {lost} were never sent"


def _child(path: str, log: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "leporello.bench.torture_loop", "work", path, log])


def main() -> int:
    """The command line; 1 if a request differed."""
    if sys.argv[1:2] == ["work"]:
        work(*sys.argv[2:4])
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    last = ""
    for line in run(kills=given.kills, seed=given.seed):
        print(line, flush=True)
        last = line
    return 0 if " 0 requests differed, 0 were" in last else 1


if __name__ == "__main__":
    sys.exit(main())

"""Torture: many processes and threads on one file, and kills at random moments. Nothing acknowledged may be lost.

    python -m leporello.bench.torture [--kills 200] [--scale 1.0] [--seed 1] [--only crowd|kills] [--json]

`crowd`: 4 processes of 4 threads each remember 500 messages, in sessions of their own and in shared ones, while 2 processes
recall. None may be lost, each thread's order must be kept, positions must have no gap, and nobody may meet a locked store.

`kills`: a process remembers, folds, closes, compacts and erases, and writes down what was acknowledged; it is killed
(SIGKILL) at a random moment. Each time the store is opened again and held against what was written down.

Prints a table; exits with 1 on any violation.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import leporello
from leporello import Memory, Scope, Scoped
from leporello.bench.soundness import faults
from leporello.errors import FoldError, LeporelloError, NotFound

PROCESSES, THREADS, MESSAGES, READERS, SHARED = 4, 4, 500, 2, 3
GENERATION = 25
"""Kills that one store lives through, before a fresh one takes its place."""

POLICIES = {"fold": {"l1_turns": 4, "l2_episodes": 3}, "write": {"chunk": 5}}
SESSIONS = ("alpha", "beta", "gamma")
_THINGS = "parser index server cache token migration schema router queue client".split()
_WHY = "it is faster|the tests were flaky|the customer asked for it|the old one loses data|it needs no network".split("|")


def text(chance: random.Random, mark: str, *, role: str) -> str:
    """A sentence or three, with a mark that no other message has."""
    a, b = chance.sample(_THINGS, 2)
    why = chance.choice(_WHY)
    if role == "user":
        return f"Please look at the {a} before the {b} ({mark}). " * chance.randint(1, 3) + "Never change the public names."
    return f"We decided to rewrite the {a} because {why} ({mark}). The {b} stays as it is. " * chance.randint(1, 6)


# --- the crowd ---------------------------------------------------------------------------------------------------------


def crowd(folder: Path, *, scale: float = 1.0) -> tuple[dict[str, Any], list[str]]:
    """Runs writers and readers on one file; figures, and what went wrong."""
    path, stop = str(folder / "crowd.db"), folder / "stop"
    each = max(2, int(MESSAGES * scale))
    leporello.open(path, embedder="hash").close()
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    writers = [context.Process(target=write_many, args=(path, p, each, answers)) for p in range(PROCESSES)]
    readers = [context.Process(target=read_on, args=(path, str(stop), answers)) for _ in range(READERS)]
    began = time.perf_counter()
    for process in [*readers, *writers]:
        process.start()
    found = [answers.get() for _ in writers]
    took = time.perf_counter() - began
    stop.touch()
    found += [answers.get() for _ in readers]
    _join([*writers, *readers])
    wrong = [e for answer in found for e in answer["errors"]]
    wrong += [f"a process ended with {p.exitcode}" for p in [*writers, *readers] if p.exitcode]
    with leporello.open(path, embedder="hash") as mem:
        wrong += _whole(mem, each) + faults(mem)
    recalls = sum(answer["recalls"] for answer in found)
    figures = {
        "messages": PROCESSES * THREADS * each,
        "seconds": round(took, 1),
        "messages/s": round(PROCESSES * THREADS * each / took),
        "recalls": recalls,
    }
    return figures, wrong


def write_many(path: str, process: int, each: int, answers: Any) -> None:
    """One process of the crowd: every thread writes `each` messages, one call each, by turns into its own session and a shared one."""
    errors: list[str] = []
    with leporello.open(path, embedder="hash") as mem:

        def work(thread: int) -> None:
            chance = random.Random(process * 100 + thread)
            for i in range(each):
                name = f"own-{process}-{thread}" if i % 2 else f"shared-{chance.randrange(SHARED)}"
                try:
                    mem.scope(user="u").session(name).add(text(chance, f"{process}:{thread}:{i:06d}", role="user"))
                except LeporelloError as e:
                    errors.append(f"writer {process}.{thread}: {type(e).__name__}: {e}")

        threads = [threading.Thread(target=work, args=(t,)) for t in range(THREADS)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    answers.put({"errors": errors, "recalls": 0})


def read_on(path: str, stop: str, answers: Any) -> None:
    """A reading process of the crowd: recalls until it is told to stop; what it finds must be whole and in its scope."""
    errors: list[str] = []
    count = 0
    chance = random.Random(os.getpid())
    with leporello.open(path, embedder="hash") as mem:
        while not os.path.exists(stop) or not count:
            try:
                for hit in mem.scope(user="u").recall(f"look at the {chance.choice(_THINGS)}", k=5):
                    if "look at the" not in hit.text or hit.record.scope.user != "u":
                        errors.append(f"a strange hit: {hit.text[:80]!r}")
                if mem.scope(user="other").recall("look at the parser").hits:
                    errors.append("another user's handle found something")
            except LeporelloError as e:
                errors.append(f"reader: {type(e).__name__}: {e}")
            count += 1
    answers.put({"errors": errors[:20], "recalls": count})


def _whole(mem: Memory, each: int) -> list[str]:
    """Every message once, each thread's in order, in every session and over its own session."""
    wrong: list[str] = []
    seen: Counter[str] = Counter()
    for info in mem.scope(user="u").sessions():
        name = info.name
        last: dict[str, int] = {}
        messages = list(mem.scope(user="u").session(info).messages())
        if [m.pos for m in messages] != list(range(1, len(messages) + 1)):
            wrong.append(f"session {name}: positions have gaps")
        for m in messages:
            process, thread, i = m.text[m.text.index("(") + 1 : m.text.index(")")].split(":")
            if last.get(f"{process}:{thread}", -1) >= int(i):
                wrong.append(f"session {name}: {process}:{thread}:{i} out of order")
            last[f"{process}:{thread}"] = int(i)
            seen[f"{process}:{thread}:{int(i)}"] += 1
    wanted = {f"{p}:{t}:{i}" for p in range(PROCESSES) for t in range(THREADS) for i in range(each)}
    wrong += [f"{mark} was lost" for mark in sorted(wanted - set(seen))[:20]]
    wrong += [f"{mark} is there {n} times" for mark, n in seen.items() if n > 1 or mark not in wanted][:20]
    return wrong


# --- the kills ---------------------------------------------------------------------------------------------------------


@dataclass
class Ledger:
    """What a killed process had acknowledged: message ids with their texts, ids about to be erased, ids erased."""

    kept: dict[str, str] = field(default_factory=dict)
    doubtful: set[str] = field(default_factory=set)
    erased: set[str] = field(default_factory=set)
    steps: Counter[str] = field(default_factory=Counter)

    @classmethod
    def read(cls, path: Path) -> Ledger:
        """The ledger of a file of JSON lines; a last line that was cut short was not acknowledged."""
        out = cls()
        for line in path.read_bytes().split(b"\n")[:-1]:
            step, *rest = json.loads(line)
            out.steps[step] += 1
            if step == "kept":
                out.kept.update([rest])
            elif step == "erasing":
                out.doubtful.update(rest)
            elif step == "erased":
                out.doubtful.difference_update(rest)
                out.erased.update(rest)
        return out


def kills(folder: Path, *, rounds: int = 200, seed: int = 1) -> tuple[dict[str, Any], list[str]]:
    """Kills a busy process `rounds` times; figures, and what went wrong."""
    context = multiprocessing.get_context("spawn")
    chance = random.Random(seed)
    wrong: list[str] = []
    steps: Counter[str] = Counter()
    lost_at: list[float] = []
    for i in range(rounds):
        path, ledger = folder / f"kills-{i // GENERATION}.db", folder / f"kills-{i // GENERATION}.jsonl"
        if i % GENERATION == 0:
            steps.update(_steps(folder, i))
        size = ledger.stat().st_size if ledger.exists() else 0
        child = context.Process(target=live, args=(str(path), str(ledger), seed * 100_000 + i))
        child.start()
        _wait_for_growth(ledger, size, child)
        time.sleep(chance.choice([0.0, 0.05, 0.3, 1.0]) * chance.random())
        child.kill()
        child.join()
        if child.exitcode is not None and child.exitcode >= 0:
            wrong.append(f"kill {i}: the process ended by itself with {child.exitcode}")
        began = time.perf_counter()
        wrong += [f"kill {i}: {w}" for w in after_kill(path, ledger)]
        lost_at.append(time.perf_counter() - began)
    steps.update(_steps(folder, rounds))
    figures = {"kills": rounds, **{k: v for k, v in sorted(steps.items())}, "slowest check, s": round(max(lost_at, default=0.0), 2)}
    return figures, wrong


def _steps(folder: Path, i: int) -> Counter[str]:
    """The acknowledged steps of the store that round `i` leaves behind."""
    path = folder / f"kills-{(i - 1) // GENERATION}.jsonl"
    return Ledger.read(path).steps if path.exists() else Counter()


def _wait_for_growth(ledger: Path, size: int, child: BaseProcess) -> None:
    while child.is_alive() and (not ledger.exists() or ledger.stat().st_size <= size):
        time.sleep(0.005)


def live(path: str, ledger: str, seed: int) -> None:
    """What is killed: remembers, folds, closes, compacts and erases for ever, and notes each step once its call returned."""
    chance = random.Random(seed)
    out = os.open(ledger, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def note(*line: str) -> None:
        os.write(out, json.dumps(line).encode() + b"\n")

    steps = [_say] * 8 + [_say_many] * 3 + [_fold] * 3 + [_close, _compact, _learn] + [_erase] * 2 + [_erase_episode]
    count = 0
    with leporello.open(path, embedder="hash", policies=POLICIES) as mem:
        user = mem.scope(user=chance.choice(["ann", "bob"]))
        while True:
            count += 1
            try:
                chance.choice(steps)(user, chance.choice(SESSIONS), chance, f"{seed}.{count}", note)
            except FoldError as e:
                note(type(e).__name__)
            except NotFound:
                note("NotFound")


def _say(user: Scoped, name: str, chance: random.Random, mark: str, note: Any) -> None:
    for role in ("user", "assistant")[: chance.randint(1, 2)]:
        (m,) = user.session(name).add({"role": role, "content": text(chance, f"{mark}.{role}", role=role)})
        note("kept", m.id, m.text)


def _say_many(user: Scoped, name: str, chance: random.Random, mark: str, note: Any) -> None:
    roles = ["user", "assistant"] * chance.randint(1, 12)
    batch = [{"role": r, "content": text(chance, f"{mark}.{i}", role=r)} for i, r in enumerate(roles)]
    for m in user.narrow(session=name).remember_many(batch):
        note("kept", m.id, m.text)


def _fold(user: Scoped, name: str, chance: random.Random, mark: str, note: Any) -> None:
    report = user.session(name).fold(all=chance.random() < 0.5)
    note("folded", *report.episodes)


def _close(user: Scoped, name: str, chance: random.Random, mark: str, note: Any) -> None:
    user.session(name).close()
    note("closed")


def _compact(user: Scoped, name: str, chance: random.Random, mark: str, note: Any) -> None:
    user.session(name).compact(max_tokens=300)
    note("compacted")


def _learn(user: Scoped, name: str, chance: random.Random, mark: str, note: Any) -> None:
    user.learn(f"The {chance.choice(_THINGS)} is named {mark}.", why="it was told")
    note("learned")


def _erase(user: Scoped, name: str, chance: random.Random, mark: str, note: Any) -> None:
    held = [m.id for m in user.session(name).messages()]
    if held:
        ids = chance.sample(held, min(len(held), chance.randint(1, 2)))
        note("erasing", *ids)
        user.erase(*ids)
        note("erased", *ids)


def _erase_episode(user: Scoped, name: str, chance: random.Random, mark: str, note: Any) -> None:
    held = user.session(name).episodes()
    if held:
        episode = chance.choice(held)
        ids = [episode.id, *(m.id for m in user.session(name).unfold(episode.id))]
        note("erasing", *ids)
        user.erase(episode.id)
        note("erased", *ids)


def after_kill(path: Path, ledger: Path) -> list[str]:
    """Opens what a killed process left, holds it against its ledger, and asks it something."""
    told = Ledger.read(ledger)
    sure = {i: t for i, t in told.kept.items() if i not in told.erased and i not in told.doubtful}
    try:
        with leporello.open(path, embedder="hash", policies=POLICIES) as mem:
            wrong = faults(mem, erased=len(told.erased | told.doubtful))
            with mem._ports.store.read() as r:
                for id_, said in sure.items():
                    held = r.record(Scope(), id_)
                    if held is None or held.text != said:
                        wrong.append(f"{id_} was acknowledged and is {'gone' if held is None else 'another text'}")
                wrong += [f"{i} was erased and is back" for i in told.erased if r.record(Scope(), i) is not None]
            if sure:
                said = list(sure.values())[-1]
                mark = said[said.index("(") : said.index(")") + 1]
                if not any(mark in h.text for h in mem.scope().recall(mark, k=10, kinds=("message",))):
                    wrong.append(f"recall does not find {mark}")
            return wrong
    except LeporelloError as e:
        return [f"{type(e).__name__}: {e}"]


# --- the table ---------------------------------------------------------------------------------------------------------


def _join(processes: Sequence[BaseProcess]) -> None:
    for p in processes:
        p.join(60)
        if p.is_alive():
            p.kill()
            p.join()


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what is asked for and prints it; 1 if anything was violated."""
    parser = argparse.ArgumentParser(prog="python -m leporello.bench.torture", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--kills", type=int, default=200, help="how many kills (200)")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the crowd's 500 messages a thread (1.0)")
    parser.add_argument("--seed", type=int, default=1, help="of the random moments and steps (1)")
    parser.add_argument("--only", choices=["crowd", "kills"], help="one part only")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    asked = parser.parse_args(argv)
    report: dict[str, Any] = {}
    violations: list[str] = []
    with tempfile.TemporaryDirectory(prefix="leporello-torture-") as name:
        if asked.only != "kills":
            report["crowd"], wrong = crowd(Path(name), scale=asked.scale)
            violations += wrong
        if asked.only != "crowd":
            report["kills"], wrong = kills(Path(name), rounds=asked.kills, seed=asked.seed)
            violations += wrong
    if asked.json:
        print(json.dumps({**report, "violations": violations}))
    else:
        for part, figures in report.items():
            print(part)
            for what, value in figures.items():
                print(f"  {what:<20} {value:>10}")
        print(f"violations {len(violations)}", *violations[:50], sep="\n  ")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())

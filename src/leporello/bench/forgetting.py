"""What forgetting costs and changes: the order of outdated and current, recall's time, maintenance's reads.

    python -m leporello.bench.forgetting [rank] [speed] [recall] [maintain] [--size N] [--json]

`rank`: pairs of statements of which the later replaces the earlier (`pairs.json`, label retire), 60 pairs a user, as messages 120 days
apart, asked a week later for the words that both hold: how often the later stands first, by the weight of retention in the score; plain
BM25 beside it. Pairs that share no word are left out. `leporello bench find` and the retrieval sets tell what the weight costs elsewhere.
`speed`: records evaluated in a second of one core's time, from their stored rows to a retention each, by law; and the laws alone.
`recall`: the median time of a recall among `--size` messages and 600 facts, by messages and of facts alone, with what stands with time and
without, in turns, and the ratio.
`maintain`: among `--size` facts of which one in a hundred is due, how many are looked at and moved, and the time beside looking at all.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

from leporello.bench.contradictions import PAIRS
from leporello.bench.finding import plain_bm25
from leporello.core.retention import laws
from leporello.core.times import micros
from leporello.flows import aging
from leporello.flows import recall as recalling
from leporello.memory import Memory
from leporello.memory import open as open_store
from leporello.policies import LAWS, RetentionPolicy
from leporello.ports import AnyRecord, Change, Entry, TraceRow
from leporello.records import Claim, Fact, Provenance, Scope
from leporello.testing import ManualClock

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
DAY = timedelta(days=1)
PARTS = ("rank", "speed", "recall", "maintain")
WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.4)
SIZE = 100_000
_GROUP = 60
_WORD = re.compile(r"[^\W_]+")
_BLANK = Entry(b"", b"")


def rank(weights: Sequence[float] = WEIGHTS, *, pairs: Sequence[dict[str, str]] | None = None) -> dict[str, Any]:
    """How often the later of two statements stands above the earlier, by weight and for BM25."""
    held = [p for p in (pairs or json.loads(PAIRS.read_text("utf-8"))) if p["label"] == "retire" and _shared(p)]
    groups = [held[n : n + _GROUP] for n in range(0, len(held), _GROUP)]
    right = dict.fromkeys(("bm25", *map(str, weights)), 0)
    with tempfile.TemporaryDirectory() as folder:
        path, clock = Path(folder) / "pairs.db", ManualClock(START)
        with open_store(path, clock=clock) as mem:
            for n, group in enumerate(groups):
                for side, day in (("earlier", 0), ("later", 120)):
                    for i, pair in enumerate(group):
                        mem.scope(user=str(n), session=f"{side} {i}").remember(pair[side], at=START + day * DAY + timedelta(minutes=i))
        clock.set(START + 127 * DAY)
        for weight in weights:
            with open_store(path, clock=clock, policies={"retention": {"weight": weight}, "fold": {"at_open": False}}) as mem:
                for n, group in enumerate(groups):
                    found = ([h.text for h in mem.scope(user=str(n)).recall(_shared(p), k=50, kinds=("message",))] for p in group)
                    right[str(weight)] += sum(_above(texts, p) for texts, p in zip(found, group, strict=True))
    for group in groups:
        texts = [p[side] for side in ("earlier", "later") for p in group]
        ranked = plain_bm25(texts)
        right["bm25"] += sum(_above([texts[i] for i in ranked(_shared(p))[0]], p) for p in group)
    return {"n": len(held), **{who: round(100 * n / len(held), 1) for who, n in right.items()}}


def _shared(pair: dict[str, str]) -> str:
    later = {w.casefold() for w in _WORD.findall(pair["later"])}
    return " ".join(dict.fromkeys(w for w in _WORD.findall(pair["earlier"]) if w.casefold() in later and len(w) > 2))


def _above(texts: Sequence[str], pair: dict[str, str]) -> bool:
    place = {t: n for n, t in reversed(list(enumerate(texts)))}
    return place.get(pair["later"], 10**6) < place.get(pair["earlier"], 10**6)


def speed(size: int = SIZE) -> list[dict[str, Any]]:
    """Records in a second of processor time, from stored rows, and the law alone."""
    base = [laws.of_events([(micros(START + d * DAY), 3) for d in range(0, 30 * n, 30)]) for n in (1, 2, 3, 10)]
    held = [aging.kept(t) for t in base]
    rows = [_row(i, held[i % len(held)]) for i in range(size)]
    at = micros(START + 400 * DAY)
    out = []
    for name in (n for n in LAWS if n != "none"):
        policy = RetentionPolicy(law=name)
        began = time.process_time()
        found = aging.retentions(rows, policy, at)
        whole = time.process_time() - began
        columns = laws.Columns.of([aging.trace_of(t) for t in rows])
        law = aging.law_of(policy)
        began = time.process_time()
        alone = law.retentions(columns, at) if law is not None else found
        out.append(
            {"law": name, "rows_per_s": round(size / whole), "law_per_s": round(size / (time.process_time() - began)), "n": len(alone)}
        )
    return out


def _row(n: int, trace: str) -> TraceRow:
    """A stored row; no two are alike, so that each has to be read."""
    return TraceRow(f"f_{n}", Scope(), "fact", trace.replace('"importance":1.0', f'"importance":1.{n:09d}'), None, None)


def recall(size: int = SIZE, *, times: int = 60) -> dict[str, Any]:
    """The median milliseconds of a recall with and without what stands with time, in turns."""
    with open_store(":memory:", policies={"fold": {"at_open": False}}) as mem:
        scope = mem.scope(user="ann", session="s")
        texts = (f"The {what} of unit {n:06d} is {n * 7 % 9973}." for n, what in zip(range(size), _things(), strict=False))
        scope.remember_many({"text": t, "at": START + n * timedelta(minutes=1)} for n, t in enumerate(texts))
        for n, what in zip(range(min(size, 600)), _things(), strict=False):
            scope.learn(f"The {what} of plant {n:06d} is {n * 7 % 9973}.")
        questions = [
            f"What is the {what} of {('unit', 'plant')[n % 2]} {n * 37 % size:06d}?"
            for n, what in zip(range(times), _things(), strict=False)
        ]
        for q in questions[:5]:
            mem.scope(user="ann").recall(q)
        taken: dict[bool, list[float]] = {True: [], False: []}
        place: dict[str, Any] = vars(recalling)
        real = {name: place[name] for name in _AGELESS}
        try:
            for q in questions:
                for aged in (True, False):
                    place.update(real if aged else _AGELESS)
                    began = time.perf_counter()
                    mem.scope(user="ann").recall(q)
                    taken[aged].append(time.perf_counter() - began)
        finally:
            place.update(real)
    ms = {aged: 1000 * median(t) for aged, t in taken.items()}
    return {
        "messages": size,
        "questions": times,
        "with_ms": round(ms[True], 2),
        "without_ms": round(ms[False], 2),
        "ratio": round(ms[True] / ms[False], 3),
    }


_AGELESS: dict[str, Any] = {"rows_of": lambda *_: {}, "hidden": lambda *_, **__: "", "_weighed": lambda _, held, *__, **___: held}
"""The baseline: no trace is read, and nothing is weighed."""


def _things() -> Iterator[str]:
    while True:
        yield from ("timeout", "owner", "deadline", "budget", "quota", "version", "region", "port", "colour", "limit")


def maintain(size: int = SIZE) -> dict[str, Any]:
    """What one run looks at and moves, and what looking at everything would take."""
    clock = ManualClock(START)
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "facts.db", clock=clock, embedder="hash") as mem:
        stock(mem, clock, size)
        clock.set(START + 400 * DAY)
        mem.maintain(dry_run=True)
        began = time.perf_counter()
        dry = mem.maintain(dry_run=True)
        looking = time.perf_counter() - began
        began = time.perf_counter()
        run = mem.maintain()
        moving = time.perf_counter() - began
        began = time.perf_counter()
        again = mem.maintain()
        idle = time.perf_counter() - began
        with mem._ports.store.read() as r:
            began = time.perf_counter()
            facts = r.facts(Scope())
            found = aging.ages(r, facts, policy=mem._ports.policies.retention, now=clock.now())
            everything = time.perf_counter() - began
    return {
        "facts": size, "looked": run.looked, "moved": len(run.moves), "same_as_dry": run.moves == dry.moves, "again": len(again.moves),
        "dry_ms": round(1000 * looking, 1), "run_ms": round(1000 * moving, 1), "again_ms": round(1000 * idle, 1),
        "all_ms": round(1000 * everything, 1), "all": len(found),
    }  # fmt: skip


def stock(mem: Memory, clock: ManualClock, size: int) -> None:
    """Facts written straight to the store, one in a hundred of them old enough to be put aside 400 days after the start."""
    ports, policy = mem._ports, mem._ports.policies.retention
    mem.maintain()
    for n in range(0, size, 1_000):
        with ports.store.write() as w:
            made: list[AnyRecord] = []
            for i in range(n, min(size, n + 1_000)):
                at = START if i % 100 == 0 else START + 395 * DAY
                where = Scope(user=f"u{i % 50}")
                fact = Fact("", where, f"Fact number {i}.", "fact", "", "user_stated", "user", 1.0, (), at, None, at, None, Provenance())
                fact = w.add_fact(fact, _BLANK, Change("add", "user", at))
                w.put_claims(
                    [
                        Claim(
                            "",
                            where,
                            "say",
                            fact.text,
                            "fact",
                            "",
                            "user_stated",
                            "user",
                            1.0,
                            (),
                            at,
                            at,
                            Provenance(),
                            "user",
                            None,
                            fact.id,
                        )
                    ]
                )
                made.append(fact)
            w.put_traces([aging.timed(aging.fresh(x), x, policy) for x in made])
    clock.set(START + 396 * DAY)


_SIZED: dict[str, Callable[[int], Any]] = {"speed": speed, "recall": recall, "maintain": maintain}


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the parts that were asked for, or all."""
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("parts", nargs="*", choices=(*PARTS, []), help="what to measure; all, if none is named")
    given.add_argument("--size", type=int, default=SIZE, help="how many records")
    given.add_argument("--json", action="store_true")
    asked = given.parse_args(arguments)
    made: dict[str, Any] = {}
    for part in asked.parts or PARTS:
        made[part] = rank() if part == "rank" else _SIZED[part](asked.size)
    if asked.json:
        print(json.dumps(made))
        return 0
    for part, found in made.items():
        print(f"{part}:")
        for row in found if isinstance(found, list) else [found]:
            print("  " + "  ".join(f"{k} {v}" for k, v in row.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What consolidation comes to: updates found through facts, the same facts in any order, and what one more session costs.

    python -m leporello.bench.knowing [updates] [orders] [growth] [--data FOLDER] [--json]

`updates` (beam100k): for each question that has an outdated and a current message, whether the first fact that rests on the current
one stands above the first that rests on the outdated one, after consolidation; beside it the same through messages, and for plain BM25
over the messages; and how many facts a session gave. A question whose current and outdated message are the same cannot be answered.
`orders` (realtalk, locomo): the sessions closed in order, twice, and in two shuffled orders; how many facts differ.
`growth`: stores of 1,000, 5,000 and 20,000 facts in one scope; the time to consolidate one more session of 20 turns, as a ratio to the
smallest store, beside how the store grew.
The sets are read from `$LEPORELLO_EVAL_DATA/retrieval`, or `--data`.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean, median
from typing import Any

from leporello.bench.finding import load, plain_bm25
from leporello.memory import Memory, Scoped
from leporello.memory import open as open_store
from leporello.records import Fact

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
SIZES = (1_000, 5_000, 20_000)
PARTS = ("updates", "orders", "growth")
_UNFOUND = 10**6


def fill(scope: Scoped, group: dict[str, Any]) -> dict[str, str]:
    """Writes the messages of a conversation; the set's id of each by ours."""
    out = {}
    for m in group["messages"]:
        if m["text"].strip():
            at = datetime.fromisoformat(m["at"].replace("Z", "+00:00")) if m["at"] else None
            made = scope.narrow(session=str(m["session"])).remember(m["text"], role=m["role"], name=m["speaker"], at=at)
            out[made.id] = m["id"]
    return out


def updates(groups: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """How often the current stands above the outdated: through facts, through messages, and for BM25."""
    right: Counter[str] = Counter()
    per_session: list[int] = []
    asked = impossible = 0
    for group in groups:
        with open_store(":memory:") as mem:
            scope = mem.scope(user=str(group["id"]))
            ids = fill(scope, group)
            mem.consolidate()
            messages = [m for m in group["messages"] if m["text"].strip()]
            bm25 = plain_bm25([f"{(m['at'] or '')[:10]} {m['speaker']}: {m['text']}" for m in messages])
            per_session += Counter(f.provenance.session for f in scope.facts(status="all")).values()
            for q in (q for q in group["questions"] if q["current"] and q["outdated"]):
                asked += 1
                impossible += set(q["current"]) == set(q["outdated"])
                for kind in ("fact", "message"):
                    found = scope.recall(q["text"], k=50, kinds=(kind,))
                    place: dict[str, int] = {}
                    for n, hit in enumerate(found):
                        for span in hit.provenance.spans:
                            place.setdefault(ids[span.message], n)
                    right[kind] += _first(place, q["current"]) < _first(place, q["outdated"])
                place = {messages[i]["id"]: n for n, i in enumerate(bm25(q["text"])[0])}
                right["bm25"] += _first(place, q["current"]) < _first(place, q["outdated"])
    shares = {who: round(100 * right[who] / asked, 1) for who in ("fact", "message", "bm25")}
    return {"n": asked, "impossible": impossible, **shares, "facts_per_session": round(fmean(per_session), 1), "most": max(per_session)}


def _first(place: dict[str, int], wanted: Sequence[str]) -> int:
    return min((place.get(i, _UNFOUND) for i in wanted), default=_UNFOUND)


def orders(groups: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """How many facts differ when the sessions are closed twice, or in another order."""
    facts = differ = 0
    for group in groups:
        first = _known(group, None)
        facts += sum(first.values())
        for seed in (1, 2, 3):
            other = _known(group, seed)
            differ += sum(((first - other) + (other - first)).values())
    return {"conversations": len(groups), "facts": facts, "orders": 3, "differ": differ}


def _known(group: dict[str, Any], seed: int | None) -> Counter[str]:
    with open_store(":memory:") as mem:
        scope = mem.scope(user=str(group["id"]))
        fill(scope, group)
        sessions = list(scope.sessions())
        if seed is not None:
            random.Random(seed).shuffle(sessions)
        for info in sessions * (2 if seed == 1 else 1):
            scope.session(info).close()
        mem.consolidate()
        return Counter(_shape(f) for f in scope.facts(status="all"))


def _shape(fact: Fact) -> str:
    """All of a fact but what is made anew in each store: its ids and when it was recorded."""
    value = fact.to_dict()
    for name in ("id", "recorded_at", "supersedes", "superseded_by", "conflicts", "provenance"):
        del value[name]
    spans = sorted((s.turn, s.start, s.end) for s in fact.provenance.spans)
    return json.dumps([value, spans, len(fact.supersedes), len(fact.conflicts), fact.superseded_by is not None], sort_keys=True)


def growth(sizes: Sequence[int] = SIZES, *, times: int = 5) -> list[dict[str, Any]]:
    """The time that one more session takes in stores of these sizes, as ratios to the smallest."""
    out: list[dict[str, Any]] = []
    for size in sizes:
        with open_store(":memory:") as mem:
            scope = mem.scope(user="ann", project="shop")
            _stock(mem, scope, size)
            taken = []
            for n in range(times):
                _talk(scope, f"more {n}", n)
                began = time.perf_counter()
                mem.consolidate()
                taken.append(time.perf_counter() - began)
            out.append({"facts": size, "ms": round(1000 * median(taken), 1)})
    for row in out:
        row["store_grew"], row["time_grew"] = row["facts"] / out[0]["facts"], round(row["ms"] / out[0]["ms"], 2)
    return out


NAMES = (
    "billing",
    "search",
    "login",
    "export",
    "import",
    "mail",
    "report",
    "cart",
    "stock",
    "price",
    "label",
    "map",
    "chat",
    "photo",
    "audit",
)
VALUES = ("timeout", "owner", "deadline", "budget", "quota", "version", "region", "port", "colour", "limit")


def _stock(mem: Memory, scope: Scoped, size: int) -> None:
    """Facts about many things of one project, which share words with one another as real ones do."""
    chance = random.Random(5)
    for n in range(size):
        what = f"{chance.choice(NAMES)} {chance.choice(VALUES)} of unit {n:05d}"
        scope.learn(f"The {what} is {chance.randint(10, 9_999)}.", at=START + timedelta(minutes=n))


def _talk(scope: Scoped, name: str, n: int) -> None:
    chance = random.Random(100 + n)
    session = scope.session(name)
    for turn in range(20):
        unit = f"{chance.choice(NAMES)} {chance.choice(VALUES)} of unit {chance.randint(0, 999):05d}"
        session.add(
            {"role": "user", "content": f"By the way, the {unit} is now {chance.randint(10, 9_999)}. Can you check what depends on it?"}
        )
        session.add({"role": "assistant", "content": f"I looked at it in step {turn}: two places depend on it, and both read it at start."})


def main(argv: Sequence[str] | None = None, *, data: Path = Path("../shared/data")) -> int:
    """Measures the parts named in `argv`, all if none is named, and prints them."""
    parser = argparse.ArgumentParser(prog="leporello.bench.knowing")
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all if none is given")
    parser.add_argument("--data", type=Path, default=data, help="the folder that holds retrieval/*.json.gz")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(argv)
    parts = given.parts or list(PARTS)
    out: dict[str, Any] = {}
    if "updates" in parts:
        out["updates"] = updates(_set("beam100k", given.data))
    if "orders" in parts:
        out["orders"] = {name: orders(_set(name, given.data)) for name in ("realtalk", "locomo")}
    if "growth" in parts:
        out["growth"] = growth()
    sys.stdout.write((json.dumps(out) if given.json else "\n".join(_lines(out))) + "\n")
    return 0


def _set(name: str, data: Path) -> list[dict[str, Any]]:
    return load(data / "retrieval" / f"{name}.json.gz")


def _lines(out: dict[str, Any]) -> list[str]:
    lines = []
    if u := out.get("updates"):
        lines.append(
            f"updates, current above outdated (n {u['n']}, {u['impossible']} impossible): facts {u['fact']} % · messages {u['message']} % · BM25 {u['bm25']} %"
        )
        lines.append(f"facts per session: {u['facts_per_session']} on average, {u['most']} at most")
    for name, o in out.get("orders", {}).items():
        lines.append(
            f"orders, {name}: {o['facts']} facts of {o['conversations']} conversations, {o['differ']} differ in {o['orders']} other orders"
        )
    for row in out.get("growth", []):
        lines.append(
            f"growth: {row['facts']:>6} facts (x{row['store_grew']:g})  one more session {row['ms']:>7} ms (x{row['time_grew']:g})"
        )
    return lines


if __name__ == "__main__":
    sys.exit(main())

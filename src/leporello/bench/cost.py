"""What does it cost? Writing and recall beside their bare parts, and what starting takes.

    python -m leporello.bench.cost [write] [recall] [start] [--messages 5000] [--log 100000] [--rounds 5] [--size] [--json]

`write`: `remember_many` of a batch, against embedding the same texts (same embedder, same batches) plus writing the same
rows (messages, index rows with their blobs, sessions; same schema, indexes, PRAGMAs and transactions) with bare SQL.
The two run in turn on fresh files, on new texts in each round; medians. The limit is 1.5.

`recall`: the median of `recall()` over many queries on a log in one scope, against the sum of its bare parts in the same
run: embedding the query, the lexical query alone (an FTS5 table over the same texts, any of the query's words, the best 50
by bm25), and one product of a float32 matrix of all vectors with the query's. The limit is 3. Also what the first recall
of an opened store takes, and in which parts.

`start`: `import leporello` in fresh processes; the limit is 0.3 s. `--size` also installs the package into a fresh
environment and weighs it (this needs the package index).

LoCoMo and REALTALK messages are used too when `$LEPORELLO_EVAL_DATA` (or `../shared/data`) holds them. Exits with 1 above
a limit.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

import apsw
import numpy as np

import leporello
from leporello import Draft, Memory
from leporello.adapters.embedders import embedder as make_embedder
from leporello.adapters.sqlite.queries import queries, schema
from leporello.core.rank import Index
from leporello.core.times import instant
from leporello.core.words import index_text
from leporello.ports import Embedder

LIMITS = {"write": 1.5, "recall": 3.0, "import, s": 0.3, "size, MB": 200.0}
CHUNK = 500
_AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
_ONSETS, _NUCLEI, _CODAS = (
    "b bl br c ch d dr f g gr h j k l m n p pl r s sh st t tr v w".split(),
    "a e i o u ai ea oo ou".split(),
    "b ck d g l m n nd p r s st t x".split(),
)
_COMMON = "the to and a of in it is that i you for on we was with this but have not are be at so my they do can just all what from there would about".split()
_NAMES = "Ann Bob Carla Dmitri Eve Farid Grace Hugo".split()


def words(chance: random.Random, size: int = 6_000) -> list[str]:
    """A vocabulary of pronounceable words, and some identifiers and paths."""
    made = set()
    for _ in range(size):
        syllables = range(chance.choice([1, 1, 2, 2, 3]))
        made.add("".join(chance.choice(_ONSETS) + chance.choice(_NUCLEI) + chance.choice(_CODAS) for _ in syllables))
    plain = sorted(made)
    return (
        plain
        + [f"src/{a}/{b}.py" for a, b in zip(plain[::40], plain[1::40], strict=False)]
        + [f"{a}_{b}" for a, b in zip(plain[::30], plain[2::30], strict=False)]
    )


def texts(count: int, seed: int) -> list[str]:
    """Messages as agents and people exchange them: mostly some sentences, at times a page of output."""
    chance = random.Random(seed)
    rare = words(random.Random(1))
    weights = np.cumsum(1.0 / np.arange(3, len(rare) + 3)).tolist()
    out = []
    for _ in range(count):
        size = chance.choices([8, 20, 45, 120, 400], [20, 40, 25, 12, 3])[0]
        said = [
            chance.choice(_COMMON) if chance.random() < 0.5 else w
            for w in chance.choices(rare, cum_weights=weights, k=chance.randint(size // 2, size))
        ]
        out.append(" ".join(w + (". " if i % 11 == 10 else "") for i, w in enumerate(said)).capitalize() + ".")
    return out


def drafts(said: Sequence[str]) -> list[Draft]:
    """The texts as messages of sessions of 200, a minute apart."""
    return [
        Draft({"role": "assistant" if i % 2 else "user", "content": t}, _NAMES[i % 8] if i % 3 == 0 else None, _AT + timedelta(minutes=i), f"s{i // 200}")
        for i, t in enumerate(said)
    ]  # fmt: skip


def data_folder() -> Path:
    """Where the retrieval sets are, if they are."""
    held = os.environ.get("LEPORELLO_EVAL_DATA")
    return (Path(held) if held else Path(__file__).resolve().parents[4] / "shared/data") / "retrieval"


def spoken(name: str) -> list[Draft]:
    """Every message of a retrieval set, in order; none if the set is not there."""
    path = data_folder() / f"{name}.json.gz"
    if not path.is_file():
        return []
    with gzip.open(path, "rt", encoding="utf-8") as f:
        groups = json.load(f)["groups"]
    return [
        Draft({"role": m.get("role") or "user", "content": m["text"]}, m.get("speaker"), instant(m["at"]) if m.get("at") else _AT, f"{g['id']}/{m.get('session')}")
        for g in groups
        for m in g["messages"]
        if m["text"]
    ]  # fmt: skip


def timed(work: Callable[..., object], *given: Any) -> float:
    """Seconds of wall clock that the work takes, with the collector held off."""
    gc.collect()
    gc.disable()
    began = time.perf_counter()
    try:
        work(*given)
        return time.perf_counter() - began
    finally:
        gc.enable()


# --- writing -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rows:
    """What one chunk leaves in the tables that `remember` writes."""

    messages: list[tuple[Any, ...]]
    entries: list[tuple[Any, ...]]


def write_cost(folder: Path, rounds: int, batches: Iterable[list[Draft]], embedder: Embedder) -> dict[str, Any]:
    """Median seconds of `remember_many` and of its bare parts over `rounds`, and their ratio."""
    ours, embedding, writing = [], [], []
    for i, batch in zip(range(rounds), batches, strict=False):
        path = folder / f"ours-{i}.db"
        ours.append(timed(_remember, path, batch, embedder))
        rows = rows_of(path)
        said = [index_text(str(d.original["content"]), name=d.name, role=str(d.original["role"]), at=d.at) for d in batch]
        embedding.append(timed(embed_bare, said, embedder))
        writing.append(timed(write_bare, folder / f"bare-{i}.db", rows))
    parts = [e + w for e, w in zip(embedding, writing, strict=True)]
    ratios = [a / b for a, b in zip(ours, parts, strict=True)]
    return {
        "messages": len(batch), "remember_many, s": median(ours), "embedding alone, s": median(embedding), "the rows alone, s": median(writing),
        "messages/s": len(batch) / median(ours), "ratio": median(ratios), "ratios": ratios,
    }  # fmt: skip


def _remember(path: Path, batch: Sequence[Draft], embedder: Embedder) -> None:
    with leporello.open(path, embedder=embedder, policies={"write": {"chunk": CHUNK}}) as mem:
        for _ in mem.scope(user="u").remember_many(batch):
            pass


def embed_bare(said: Sequence[str], embedder: Embedder) -> None:
    """The texts through the embedder, a chunk at a time."""
    for i in range(0, len(said), CHUNK):
        embedder.embed(said[i : i + CHUNK])


def rows_of(path: Path) -> list[Rows]:
    """The rows of a store, a chunk each, in the order in which they were written."""
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    columns = re.search(r"INSERT INTO message \(([^)]*)\)", queries()["add_message"])
    assert columns is not None
    messages = db.execute(f"SELECT {columns[1]} FROM message ORDER BY rid").fetchall()
    entries = db.execute("SELECT tenant, usr, scope, kind, record, pos, at, recorded, terms, vector FROM entry ORDER BY rid").fetchall()
    db.close()
    return [Rows(messages[i : i + CHUNK], entries[i : i + CHUNK]) for i in range(0, len(messages), CHUNK)]


def write_bare(path: Path, rows: Sequence[Rows]) -> None:
    """The same rows into the same tables, with nothing but SQL."""
    db = apsw.Connection(str(path))
    for name, value in (
        ("foreign_keys", 1),
        ("secure_delete", 1),
        ("synchronous", 2),
        ("temp_store", 2),
        ("cache_size", -16_000),
        ("journal_mode", "wal"),
    ):
        db.pragma(name, value)
    db.execute(schema())
    scopes = sorted({m[1] for r in rows for m in r.messages})
    with db:
        db.execute("INSERT INTO tenant (rid, name) VALUES (1, 'default')")
        db.executemany("INSERT INTO scope (rid, tenant, usr, agent, project, session) VALUES (?, 1, 1, 0, 0, ?)", [(s, s) for s in scopes])
        db.executemany(queries()["add_session"], [(1, s) for s in scopes])
    for r in rows:
        db.execute("BEGIN IMMEDIATE")
        db.executemany(queries()["add_message"].partition("RETURNING")[0], r.messages)
        db.executemany(queries()["add_entry"], r.entries)
        db.execute("COMMIT")
    db.close()


# --- recall ------------------------------------------------------------------------------------------------------------


def questions(said: Sequence[str], count: int) -> dict[str, list[str]]:
    """Two kinds: whole questions, and their telling words alone (which leave a bare lexical search little to do)."""
    chance = random.Random(3)
    picked = [[w for w in re.findall(r"\w+", chance.choice(said)) if w not in _COMMON] for _ in range(3 * count)]
    keys = [chance.sample(p, 3) for p in picked if len(p) >= 3][:count]
    return {
        "questions": [f"What did we say about the {a} {b} and the {c} of {chance.choice(_NAMES)}?" for a, b, c in keys],
        "words": [" ".join(k) for k in keys],
    }


def recall_cost(folder: Path, log: int, embedder: Embedder, *, asked: int = 30) -> dict[str, dict[str, Any]]:
    """Median milliseconds of recall on a log of so many messages, of its bare parts, and their ratio; and the first recall."""
    said = texts(log, seed=99)
    path = folder / "log.db"
    _remember(path, drafts(said), embedder)
    bare = bare_lexical(said)
    matrix = np.random.default_rng(1).standard_normal((log, embedder.dimension), dtype=np.float32)
    report: dict[str, dict[str, Any]] = {}
    with leporello.open(path, embedder=embedder) as mem:
        user = mem.scope(user="u")
        first = timed(user.recall, "the first question")
        for kind, asks in questions(said, asked).items():
            found: dict[str, list[float]] = {"recall": [], "embedding": [], "lexical": [], "product": []}
            for q in asks:
                vector = embedder.embed([q])[0]
                found["recall"].append(timed(user.recall, q))
                found["embedding"].append(timed(embedder.embed, [q]))
                found["lexical"].append(timed(bare, q))
                found["product"].append(timed(np.matmul, matrix, vector))
            parts = median(sum(p) for p in zip(found["embedding"], found["lexical"], found["product"], strict=True))
            ms = {f"{k}, ms": 1000 * median(v) for k, v in found.items()}
            ratio, slowest = median(found["recall"]) / parts, 1000 * max(found["recall"])
            report[f"recall, {kind}"] = {"messages": log, **ms, "parts, ms": 1000 * parts, "slowest recall, ms": slowest, "ratio": ratio}
        rows: list[Any] = []
        read = timed(lambda: rows.extend(_index_rows(mem)))
        build = timed(Index(embedder.dimension).apply, rows)
    report["first recall"] = {"messages": log, "whole, s": first, "reading rows, s": read, "building the index, s": build}
    return report


def _index_rows(mem: Memory) -> Iterator[Any]:
    scope = mem.scope(user="u").scope
    with mem._ports.store.read() as r:
        yield from r.index(scope, (0, 0)).added


def bare_lexical(said: Sequence[str]) -> Callable[[str], list[Any]]:
    """A search in a bare FTS5 table of these texts: any word of the query, the best 50 by bm25."""
    db = apsw.Connection(":memory:")
    db.execute("CREATE VIRTUAL TABLE held USING fts5(text, content='')")
    with db:
        db.executemany("INSERT INTO held (rowid, text) VALUES (?, ?)", enumerate(said, 1))
    db.execute("INSERT INTO held (held) VALUES ('optimize')")

    def search(query: str) -> list[Any]:
        match = " OR ".join(f'"{w}"' for w in dict.fromkeys(re.findall(r"\w+", query.lower())))
        return list(db.execute("SELECT rowid, bm25(held) FROM held WHERE held MATCH ? ORDER BY bm25(held) LIMIT 50", (match,)).fetchall())

    return search


# --- starting ----------------------------------------------------------------------------------------------------------


def start_cost(*, size: bool, runs: int = 7) -> dict[str, Any]:
    """Median seconds of the import in fresh processes; with `size`, megabytes of a fresh install without pip and setuptools."""
    code = "import time; t = time.perf_counter(); import leporello; print(time.perf_counter() - t)"
    took = [float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout) for _ in range(runs)]
    code = "import time; t = time.perf_counter(); import leporello; leporello.open(':memory:').close(); print(time.perf_counter() - t)"
    opened = [float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout) for _ in range(3)]
    return {
        "import, s": median(took),
        "slowest import, s": max(took),
        "import and open, s": median(opened),
        **({"size, MB": install_size()} if size else {}),
    }


def install_size() -> float:
    """Megabytes that the package and all that it needs take in a fresh environment, pip and setuptools apart."""
    root = Path(__file__).resolve().parents[3]
    with tempfile.TemporaryDirectory() as name:
        subprocess.run([sys.executable, "-m", "venv", name], check=True)
        python = Path(name, "Scripts" if os.name == "nt" else "bin", "python")
        subprocess.run([python, "-m", "pip", "install", "-q", str(root)], check=True)
        tools = re.compile(r"(^|/)(pip|setuptools|_distutils_hack|pkg_resources)([-/.]|$)")
        files = [p for p in Path(name).rglob("site-packages/**/*") if p.is_file() and not tools.search(p.relative_to(name).as_posix())]
        return sum(p.stat().st_size for p in files) / 1e6


# --- the table ---------------------------------------------------------------------------------------------------------


def run(asked: argparse.Namespace) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Everything that was asked for; figures by part, and the limits that were passed."""
    parts = asked.parts or ["write", "recall", "start"]
    report: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory(prefix="leporello-cost-") as name:
        embedder = make_embedder(asked.embedder)
        embedder.embed(["The model is loaded before anything is measured."])
        if "write" in parts:
            report["write, generated"] = write_cost(
                Path(name), asked.rounds, (drafts(texts(asked.messages, i)) for i in range(asked.rounds)), embedder
            )
            for set_ in ("locomo", "realtalk"):
                if batch := spoken(set_)[: asked.messages]:
                    place = Path(name, set_)
                    place.mkdir()
                    report[f"write, {set_}"] = write_cost(place, asked.rounds, itertools.repeat(batch), embedder)
        if "recall" in parts:
            report |= recall_cost(Path(name), asked.log, embedder)
        if "start" in parts:
            report["start"] = start_cost(size=asked.size)
    over = [f"{p}: ratio {f['ratio']:.2f}" for p, f in report.items() if "ratio" in f and f["ratio"] > LIMITS[p.split(",")[0]]]
    over += [f"{w}: {report['start'][w]:.2f}" for w in ("import, s", "size, MB") if report.get("start", {}).get(w, 0.0) > LIMITS[w]]
    return report, over


def main(argv: Sequence[str] | None = None) -> int:
    """Measures what is asked for and prints it; 1 if a limit is passed."""
    parser = argparse.ArgumentParser(prog="python -m leporello.bench.cost", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("parts", nargs="*", choices=["write", "recall", "start"], help="which parts (all)")
    parser.add_argument("--messages", type=int, default=5_000, help="messages of a batch that is written (5,000)")
    parser.add_argument("--log", type=int, default=100_000, help="messages that recall looks through (100,000)")
    parser.add_argument("--rounds", type=int, default=5, help="how often a batch is written (5)")
    parser.add_argument("--embedder", default="static", help="static or hash (static)")
    parser.add_argument("--size", action="store_true", help="weigh a fresh install too")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    report, over = run(asked := parser.parse_args(argv))
    if asked.json:
        print(json.dumps({**report, "over": over}))
        return 1 if over else 0
    for part, figures in report.items():
        print(part)
        for what, value in figures.items():
            if not isinstance(value, list):
                print(f"  {what:<24} {value:>10,.3f}" if isinstance(value, float) else f"  {what:<24} {value:>10,}")
    print("over the limits: " + ("; ".join(over) or "nothing"))
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())

"""How well are messages found? The retrieval sets straight through words, embedder and ranking, without a store.

    python -m leporello.bench.finding locomo realtalk beam100k memdaily_zh xquad

Prints, for every set, the share of a question's evidence messages among the first k (mean@k), how often the current
message stands above the outdated one, how well the top score tells answerable from unanswerable questions (AUROC), how
often the relevance floor answers "not found", and the same for plain BM25 (k1 1.2, b 0.75, no stemming, no stop words).
The sets are read from `$LEPORELLO_EVAL_DATA/retrieval`, or `--data`.
"""

from __future__ import annotations

import argparse
import dataclasses
import gzip
import json
import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from leporello.adapters.embedders import embedder
from leporello.core.rank import Index, Query, Sieve, bm25_idf, search
from leporello.core.words import index_terms, index_text, query_terms
from leporello.policies import RecallPolicy
from leporello.ports import Embedder, IndexRow

KS = (1, 5, 10, 20, 50)
Ranked = tuple[list[Any], float]


@dataclass
class Tally:
    """The figures of one ranking over one set."""

    shares: dict[int, list[float]] = field(default_factory=lambda: {k: [] for k in KS})
    updates: list[bool] = field(default_factory=list)
    tops: dict[bool, list[float]] = field(default_factory=lambda: {True: [], False: []})

    def add(self, question: dict[str, Any], ranked: Sequence[Any], top: float) -> None:
        """Count one question: `ranked` are message ids, best first; `top` is the first one's score."""
        self.tops[question["answerable"]].append(top)
        place = {m: i for i, m in reversed(list(enumerate(ranked)))}
        first = {side: min((place.get(m, len(place)) for m in question[side]), default=0) for side in ("current", "outdated")}
        if question["current"] and question["outdated"]:
            self.updates.append(first["current"] < first["outdated"])
        if evidence := question["evidence"]:
            for k in KS:
                self.shares[k].append(sum(place.get(e, k) < k for e in evidence) / len(evidence))

    def report(self, floor: float | None = None) -> dict[str, Any]:
        """Percentages, the AUROC in [0, 1], and the rates of tops below `floor`."""
        out: dict[str, Any] = {"n": len(self.shares[1])} | {f"mean@{k}": 100 * fmean(v) if v else None for k, v in self.shares.items()}
        out["update_first"] = 100 * fmean(self.updates) if self.updates else None
        out["auroc"] = auroc(self.tops[True], self.tops[False])
        if floor is not None:
            for kind, tops in (("answerable", self.tops[True]), ("unanswerable", self.tops[False])):
                out[f"not_found_{kind}"] = 100 * fmean(t < floor for t in tops) if tops else None
        return out


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float | None:
    """The chance that a positive scores above a negative, ties half; `None` if either is empty."""
    if not positive or not negative:
        return None
    return fmean((p > q) + 0.5 * (p == q) for p in positive for q in negative)


@dataclass(frozen=True)
class Case:
    """One conversation, indexed, with its questions as queries."""

    index: Index
    ids: list[Any]
    questions: list[tuple[dict[str, Any], Query]]
    messages: list[dict[str, Any]]


def load(path: Path) -> list[dict[str, Any]]:
    """The groups of a retrieval set."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return list(json.load(file)["groups"])


def case(group: dict[str, Any], model: Embedder) -> Case:
    """Index one conversation as a store would."""
    messages = [m for m in group["messages"] if m["text"].strip()]
    vectors = model.embed([index_text(m["text"], name=m["speaker"], role=m["role"], at=_when(m["at"])) for m in messages])
    logs: dict[Any, int] = {}
    rows = []
    for i, (m, vector) in enumerate(zip(messages, vectors, strict=True)):
        moment, log = _when(m["at"]), logs.setdefault(m["session"], len(logs) + 1)
        held = index_terms(m["text"], name=m["speaker"], role=m["role"], at=moment).tobytes()
        at = int(moment.timestamp() * 1e6) if moment else 0
        rows.append(IndexRow(i, "message", log, i, at, at, 0, 0, log, held, vector.tobytes()))
    index = Index(model.dimension)
    index.apply(rows)
    asked = group["questions"]
    queries = [Query(query_terms(q["text"]), v) for q, v in zip(asked, model.embed([q["text"] for q in asked]), strict=True)]
    return Case(index, [m["id"] for m in messages], list(zip(asked, queries, strict=True)), messages)


def ours(cases: Sequence[Case], policy: RecallPolicy) -> Tally:
    """The tally of this ranking."""
    tally = Tally()
    for c in cases:
        for question, query in c.questions:
            found = search(c.index, query, Sieve(kinds=("message",)), policy, k=50)
            tally.add(question, [c.ids[f.rid] for f in found], found[0].score if found else 0.0)
    return tally


def plain(cases: Sequence[Case]) -> Tally:
    """The tally of plain BM25."""
    tally = Tally()
    for c in cases:
        rank = plain_bm25([f"{(m['at'] or '')[:10]} {m['speaker']}: {m['text']}" for m in c.messages])
        for question, _ in c.questions:
            order, top = rank(question["text"])
            tally.add(question, [c.ids[i] for i in order], top)
    return tally


def _when(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text.replace("Z", "+00:00")) if text else None


def _plain_words(text: str) -> list[str]:
    out: list[str] = []
    for word in re.findall(r"\w+", text.lower()):
        if re.search(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]", word):
            out += [word[i : i + 2] for i in range(max(1, len(word) - 1))]
        else:
            out.append(word[:-1] if len(word) > 3 and word.endswith("s") else word)
    return out


def plain_bm25(texts: Sequence[str]) -> Callable[[str], Ranked]:
    """The row to beat: from a query to the places of the best 50 texts and the first one's score (k1 1.2, b 0.75)."""
    held: dict[str, dict[int, int]] = {}
    lengths = np.zeros(len(texts))
    for i, text in enumerate(texts):
        words = _plain_words(text)
        lengths[i] = len(words)
        for word in words:
            counts = held.setdefault(word, {})
            counts[i] = counts.get(i, 0) + 1
    norm = 1.2 * (0.25 + 0.75 * lengths / max(1.0, lengths.mean()))

    def rank(query: str) -> Ranked:
        score = np.zeros(len(texts))
        for word in set(_plain_words(query)) & held.keys():
            rows, tf = np.array(list(held[word])), np.array(list(held[word].values()))
            score[rows] += bm25_idf(len(texts), rows.size) * tf * 2.2 / (tf + norm[rows])
        order = np.argsort(-score, kind="stable")[:50]
        return order.tolist(), float(score[order[0]])

    return rank


def _print(name: str, row: dict[str, Any], out: Callable[[str], object]) -> None:
    digits = {"auroc": 3, "ms": 2}
    cells = [f"{k} {v:.{digits.get(k, 1)}f}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items() if v is not None]
    out(f"{name:<24}{' · '.join(cells)}\n")


def main(argv: Sequence[str] | None = None, *, data: Path = Path("../shared/data")) -> int:
    """Run the sets named in `argv` and print a row for each ranking."""
    parser = argparse.ArgumentParser(prog="leporello.bench.finding")
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--embedder", default="static")
    parser.add_argument("--data", type=Path, default=data, help="the folder that holds retrieval/*.json.gz")
    parser.add_argument("--policy", default="{}", help='a JSON object such as {"dense": 0.3}')
    args = parser.parse_args(argv)
    model, policy = embedder(args.embedder), dataclasses.replace(RecallPolicy(), **json.loads(args.policy))
    for name in args.sets:
        cases = [case(g, model) for g in load(args.data / "retrieval" / f"{name}.json.gz")]
        start = time.perf_counter()
        tally = ours(cases, policy)
        took = (time.perf_counter() - start) / max(1, sum(len(c.questions) for c in cases))
        _print(name, tally.report(policy.floor) | {"ms": 1000 * took}, sys.stdout.write)
        _print(f"{name} plain BM25", plain(cases).report(), sys.stdout.write)
    return 0


if __name__ == "__main__":
    sys.exit(main())

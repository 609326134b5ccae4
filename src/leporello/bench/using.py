"""Is it seen which of the records shown an answer draws on? Recall, the gold answers, and the evidence among what is found.

    python -m leporello.bench.using [SET …] [--most 1500] [--data FOLDER] [--json]

For each question with an answer and evidence, the messages of its conversation are recalled (k 10, from a real store), and
`core.drawn` says which of them the gold answer draws on; right are the evidence messages among them. Precision and recall are
of all records together (micro-averaged). The questions fall into two halves by the CRC-32 of their text: on the half "chosen"
the thresholds were chosen, the half "held" is reported. Beside the rule stand "everything shown" and "the first hit".

"Conversations alone" leaves out the set of paragraphs (xquad), whose answers stand in them word for word. Two more rows have the
gold answer with something around it: polite words before and after, or the first 400 characters of a message of another set or
conversation behind it. `strays` are answers that draw on nothing, and how often the rule says that they draw on some record: the
gold answer to another question of the set (of another conversation where there are several, else of any), a long message of a
strange conversation, the question itself, and a sentence that nothing is known.

The labels are incomplete: a message that says the same as the evidence, or goes on about it, is not labelled, and counts as wrong
here when the answer's words stand in it. So the precision is rather too low, and by how much is not known. Gold answers are short,
and a model's are not. The sets are read from `$LEPORELLO_EVAL_DATA/retrieval`, or `--data`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leporello.bench.contradictions import Score
from leporello.bench.finding import load
from leporello.bench.knowing import fill
from leporello.core.drawn import LEAST, drawings
from leporello.memory import open as open_store

SETS = ("beam100k", "memdaily_zh", "realtalk", "locomo", "xquad")
PARAGRAPHS = "xquad"
HALVES = ("chosen", "held")
TRIED = (0.15, 0.2, 0.25, 0.3, 0.35, 0.4)
MOST, K = 1_500, 10
_LONG, _MORE = 600, 400
_UNKNOWN = ("I don't know.", "Nothing about that is known.", "There is no information about this in our conversation.", "我不知道。")
_POLITE = "Based on what you told me before, the answer to your question is: {} Let me know if you need anything else, I am happy to help!"

Asked = tuple[str, str, dict[str, Any]]
"""The set, its conversation, and a question of it."""


@dataclass(frozen=True)
class Case:
    """A question with its answer, the records shown, which of them are evidence, and answers that belong elsewhere."""

    source: str
    half: str
    question: str
    answer: str
    shown: tuple[str, ...]
    gold: tuple[bool, ...]
    other: str
    long: str


Says = Callable[[Case], Sequence[bool]]


def asked(groups: dict[str, list[dict[str, Any]]], most: int) -> list[Asked]:
    """The questions that have an answer and evidence; of a large set so many that all come to `most`, chosen by their hash."""
    out: list[Asked] = []
    held = {
        name: [(name, str(n), q) for n, g in enumerate(some) for q in g["questions"] if q["answer"] and q["evidence"]]
        for name, some in groups.items()
    }
    for left, name in zip(range(len(held), 0, -1), sorted(held, key=lambda s: (len(held[s]), s)), strict=True):
        room = (most - len(out)) // left
        out += sorted(held[name], key=lambda a: (_hash(a[2]["text"]) >> 1, a[1], a[2]["text"]))[:room]
    return out


def cases(groups: dict[str, list[dict[str, Any]]], *, most: int = MOST) -> list[Case]:
    """Each question with what recall shows for it; a store for each conversation."""
    wanted = asked(groups, most)
    long = [(name, str(n), m["text"]) for name, some in groups.items() for n, g in enumerate(some) for m in g["messages"]]
    long = [p for p in long if len(p[2]) >= _LONG] or long
    out = []
    for name, some in groups.items():
        for n, group in enumerate(some):
            mine = [a for a in wanted if a[:2] == (name, str(n))]
            if not mine:
                continue
            with open_store(":memory:") as mem:
                scope = mem.scope(user="u")
                ids = fill(scope, group)
                for place in mine:
                    question = place[2]
                    found = [(h.record.text, ids[h.record.id]) for h in scope.recall(question["text"], k=K, kinds=("message",))]
                    shown, gold = tuple(t for t, _ in found), tuple(i in question["evidence"] for _, i in found)
                    strange = _strange(place, [(*a[:2], a[2]["answer"]) for a in wanted if a[0] == name]), _strange(place, long)
                    half = HALVES[_hash(question["text"]) % 2]
                    out.append(Case(name, half, question["text"], question["answer"], shown, gold, *strange))
    return out


def _strange(place: Asked, texts: Sequence[tuple[str, str, str]]) -> str:
    """One of the texts by the question's hash: of another conversation if there is one, and never the question's own answer."""
    others = [t for t in texts if t[2] != place[2]["answer"]]
    far = [t for t in others if t[:2] != place[:2]] or others
    return far[_hash(place[2]["text"] + "?") % len(far)][2] if far else ""


def _hash(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def rule(answer: Callable[[Case], str], *, least: float = LEAST) -> Says:
    """What `core.drawn` says of an answer."""
    return lambda c: [d.score >= least for d in drawings(c.question, answer(c), c.shown)]


def score(some: Iterable[Case], says: Says) -> Score:
    """Right, said and wanted over all records shown."""
    right = said = wanted = 0
    for c in some:
        found = says(c)
        right += sum(f and g for f, g in zip(found, c.gold, strict=True))
        said += sum(found)
        wanted += sum(c.gold)
    return Score(right, said, wanted)


def strays(some: Sequence[Case]) -> dict[str, dict[str, Any]]:
    """Answers that draw on nothing: for how many questions, and for how many of the records shown, the rule says otherwise."""
    kinds: dict[str, Callable[[Case], str]] = {
        "another question's answer": lambda c: c.other,
        "a long strange message": lambda c: c.long,
        "the question again": lambda c: c.question,
        "nothing known": lambda c: _UNKNOWN[_hash(c.question) // 2 % len(_UNKNOWN)],
    }
    out = {}
    for name, answer in kinds.items():
        said = [rule(answer)(c) for c in some]
        out[name] = {"n": len(some), "counted": sum(map(any, said)), "records": sum(map(len, said)), "records_counted": sum(map(sum, said))}
    return out


def rows(some: Sequence[Case]) -> dict[str, Score]:
    """The rule, its baselines, and the rule where something stands around the answer."""
    talks = [c for c in some if c.source != PARAGRAPHS]
    return {
        "rule": score(some, rule(lambda c: c.answer)),
        "rule, conversations alone": score(talks, rule(lambda c: c.answer)),
        "everything shown": score(some, lambda c: [True] * len(c.shown)),
        "the first hit": score(some, lambda c: [i == 0 for i in range(len(c.shown))]),
        "rule, politely": score(some, rule(lambda c: _POLITE.format(c.answer))),
        "rule, strange text behind": score(some, rule(lambda c: f"{c.answer}\n{c.long[:_MORE]}")),
    }


def measured(all_cases: Sequence[Case]) -> dict[str, Any]:
    """All figures, as plain values."""
    halves = {h: [c for c in all_cases if c.half == h] for h in HALVES}
    held = halves["held"]
    began = time.perf_counter()
    parts = {s: score([c for c in held if c.source == s], rule(lambda c: c.answer)) for s in dict.fromkeys(c.source for c in held)}
    took = (time.perf_counter() - began) / max(1, len(held))
    return {
        "least": LEAST,
        "questions": {h: len(some) for h, some in halves.items()},
        "held": {name: _plain(s) for name, s in rows(held).items()},
        "held, by set": {name: _plain(s) for name, s in parts.items()},
        "chosen": {f"least {x}": _plain(score(halves["chosen"], rule(lambda c: c.answer, least=x))) for x in TRIED},
        "strays": strays(held),
        "ms": round(1000 * took, 2),
    }


def _plain(found: Score) -> dict[str, Any]:
    shares = {"precision": round(found.precision, 4), "recall": round(found.recall, 4)}
    return {"right": found.right, "said": found.said, "wanted": found.wanted, **shares}


def _lines(out: dict[str, Any]) -> Iterator[str]:
    yield f"questions: {out['questions']['held']} held back, {out['questions']['chosen']} to choose by; a score of {out['least']} counts; {out['ms']} ms each"
    for part in ("held", "held, by set", "chosen"):
        yield part
        for name, row in out[part].items():
            yield f"  {name:<28}{Score(row['right'], row['said'], row['wanted'])}"
    yield "strays (held): counted as drawing on some record; of all records"
    for name, row in out["strays"].items():
        records = f"{row['records_counted'] / max(1, row['records']):6.2%} ({row['records_counted']}/{row['records']})"
        yield f"  {name:<28}{row['counted'] / max(1, row['n']):6.1%} ({row['counted']}/{row['n']})  {records}"


def main(argv: Sequence[str] | None = None, *, data: Path | None = None) -> int:
    """Measures the sets named in `argv`, all if none is named, and prints the figures."""
    given_data = data or Path(os.environ.get("LEPORELLO_EVAL_DATA") or "../shared/data")
    parser = argparse.ArgumentParser(prog="leporello.bench.using")
    parser.add_argument("sets", nargs="*", help=f"of {', '.join(SETS)}; all if none is given")
    parser.add_argument("--most", type=int, default=MOST, help="questions at most")
    parser.add_argument("--data", type=Path, default=given_data, help="the folder that holds retrieval/*.json.gz")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(argv)
    groups = {name: load(given.data / "retrieval" / f"{name}.json.gz") for name in given.sets or SETS}
    out = measured(cases(groups, most=given.most))
    sys.stdout.write((json.dumps(out) if given.json else "\n".join(_lines(out))) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

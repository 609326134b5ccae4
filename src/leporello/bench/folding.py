"""How much of what an agent needs next does a fold keep? Measured on the core alone, without a store.

    python -m leporello.bench.folding [--data FOLDER] [--budgets 500 1000 3000] [--show N] [--limit N]

The measure is the project's evaluation script `fold.py` (found beside the data, or with `--measure`): *needed* are the names
that the agent itself uses after the fold and that were seen before it. retention: the share of them that the fold holds;
told: in sentences that are not one formula repeated; prose: the share of characters in sentences; goal: how often the first
request survives.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import os
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

from leporello.adapters.extractive import ExtractiveCompactor
from leporello.core import blocks
from leporello.core.compact import render
from leporello.records import Message, Scope

START = datetime(2026, 1, 5, 9, tzinfo=UTC)


def data_folder() -> Path:
    """`$LEPORELLO_EVAL_DATA`, or `../shared/data` relative to the root of the repository."""
    given = os.environ.get("LEPORELLO_EVAL_DATA")
    return Path(given) if given else Path(__file__).resolve().parents[4] / "shared" / "data"


def load_measure(path: Path) -> ModuleType:
    """The evaluation script as a module."""
    spec = importlib.util.spec_from_file_location("fold_measure", path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def as_messages(originals: Sequence[Mapping[str, Any]]) -> list[Message]:
    """Provider messages as records, a minute apart, turns counted by users' texts and answers."""
    scope = Scope(session="case")
    out: list[Message] = []
    turn = 0
    for pos, original in enumerate(originals, 1):
        role = blocks.role_of(original)
        turn += 1 if blocks.is_user_side(role) or not turn else 0
        at = START + timedelta(minutes=pos)
        trust = "agent" if role == "assistant" else "user"
        out.append(Message(f"m{pos}", scope, pos, turn, role, None, at, at, trust, blocks.text_of(original), original))  # type: ignore[arg-type]
    return out


def fold(messages: Sequence[Message], tokens: int) -> str:
    """The text of a compact of `messages` within `tokens`."""
    compactor = ExtractiveCompactor()
    return render(compactor.compact(messages, prior=(), tokens=tokens), tokens=tokens)[0]


def row(measure: ModuleType, case: Mapping[str, Any], text: str, need: set[str]) -> dict[str, float | None]:
    """The four figures of one fold, as shares of 1."""
    return {
        "retention": len(need & measure.names(text)) / len(need),
        "told": len(need & measure.told(text)) / len(need),
        "prose": measure.prose(text),
        "goal": measure.goal(case, text),
        "chars": len(text),
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; with `--show N`, the fold of case N instead."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=data_folder())
    parser.add_argument("--measure", type=Path)
    parser.add_argument("--budgets", type=int, nargs="+", default=[500, 1000, 3000])
    parser.add_argument("--limit", type=int)
    parser.add_argument("--show", type=int)
    parser.add_argument("--cases", action="store_true", help="a line for each case")
    args = parser.parse_args(argv)
    files = sorted((args.data / "compactions").glob("*.json.gz"))
    path = args.measure or args.data.parent / "eval" / "fold.py"
    if not files or not path.exists():
        print(f"SKIPPED: nothing to measure: {args.data / 'compactions' if not files else path} is missing.", file=sys.stderr)
        return 1
    measure = load_measure(path)
    rows: dict[int, list[dict[str, float | None]]] = defaultdict(list)
    seconds = size = 0.0
    for number, file in enumerate(files[: args.limit]):
        if args.show is not None and args.show != number:
            continue
        case = json.loads(gzip.decompress(file.read_bytes()))
        need = measure.needed(case)
        if len(need) < 5 and args.show is None:
            continue
        messages = as_messages(measure.messages(case["pre"]))
        size += sum(len(m.text) for m in messages) / 1e6
        for budget in args.budgets:
            begun = time.perf_counter()
            text = fold(messages, budget)
            seconds += time.perf_counter() - begun
            rows[budget].append(row(measure, case, text, need))
            if args.show is not None:
                _show(text, budget, need, measure)
            elif args.cases:
                print(
                    file.name,
                    budget,
                    {k: round(v, 2) for k, v in rows[budget][-1].items() if v is not None},
                    sorted(need - measure.told(text))[:12],
                )
    _table(rows, seconds / max(size, 1e-9) / len(args.budgets))
    return 0


def _show(text: str, budget: int, need: set[str], measure: ModuleType) -> None:
    print(f"===== {budget} tokens, {len(text)} characters\n{text}\n----- needed but missing: {sorted(need - measure.names(text))}")


def _table(rows: Mapping[int, Sequence[Mapping[str, float | None]]], rate: float) -> None:
    print(f"measure: the evaluation script's; {rate:.2f} s per MB and budget")
    print(f"{'tokens':>8}{'cases':>7}{'retention':>11}{'told':>7}{'prose':>7}{'goal':>7}{'chars':>8}")
    for budget, found in rows.items():
        mean = {k: statistics.fmean([r[k] for r in found if r[k] is not None] or [0.0]) for k in ("retention", "told", "prose", "goal")}  # type: ignore[misc]
        shown = "".join(f"{100 * mean[k]:>{w}.1f}" for k, w in (("retention", 11), ("told", 7), ("prose", 7), ("goal", 7)))
        print(f"{budget:>8}{len(found):>7}{shown}{statistics.median(r['chars'] or 0 for r in found):>8.0f}")


if __name__ == "__main__":
    sys.exit(main())

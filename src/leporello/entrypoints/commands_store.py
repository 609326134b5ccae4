"""Commands on the store as a whole: stats, doctor, backup, reembed, migrate; the demo and the benchmarks."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Annotated

import typer

import leporello
from leporello.entrypoints import demo
from leporello.entrypoints.calls import Call
from leporello.entrypoints.options import command, group
from leporello.entrypoints.output import head

app = typer.Typer()


@command(app, "stats", example="leporello stats --json")
def stats(call: Call) -> None:
    """Count what the scope sees, by kind; and what the store takes on disk."""
    with call.memory() as mem:
        whole = mem.stats()
        found = {**call.within(mem).stats(), **{k: whole[k] for k in ("bytes", "embedder", "compactor")}}
    shown = {**found, "bytes": f"{found['bytes']:,}"}
    call.answer(found, (head(f"{name:<10}", (str(value), "bold")) for name, value in shown.items()))


@command(app, "doctor", example="leporello doctor --db memory.db")
def doctor(call: Call) -> None:
    """Check the store; exit code 1 and a line for each thing that is wrong."""
    with call.memory() as mem:
        problems = mem.doctor()
    call.answer({"problems": problems}, problems or ["Nothing is wrong."])
    if problems:
        raise typer.Exit(1)


@command(app, "backup", example="leporello backup copy.db")
def backup(call: Call, path: Annotated[str, typer.Argument(help="The copy: a path at which there is nothing yet.")]) -> None:
    """Write a consistent copy of the store, with the same key, while others go on writing."""
    with call.memory() as mem:
        mem.backup(path)
    size = os.path.getsize(path)
    call.answer({"path": path, "bytes": size}, [f"{size:,} bytes written to {path}"])


@command(app, "reembed", example="leporello reembed --db memory.db")
def reembed(call: Call) -> None:
    """Make every vector of the store again with this version's embedder, in one transaction."""
    call.require_store()
    count = leporello.reembed(call.settings.path, key=call.settings.key())
    call.answer({"records": count}, [f"{count} records embedded anew"])


@command(app, "migrate", example="leporello migrate --db memory.db")
def migrate(call: Call) -> None:
    """Bring the store's schema up to date, and say from which version to which."""
    call.require_store()
    before, after = leporello.migrate(call.settings.path, key=call.settings.key())
    call.answer({"from": before, "to": after}, [f"schema {before} → {after}" if before != after else f"schema {after} is up to date"])


@command(app, "demo", example="leporello demo --db demo.db")
def show(call: Call) -> None:
    """Show one conversation: in, folded layer by layer, found again, unfolded to its characters.

    It runs in a store of its own that is gone afterwards; with --db in a new file that stays.
    """
    report = demo.run(call.settings.db, key=call.settings.key() if call.settings.db else None)
    call.answer(report.to_dict(), demo.lines(report))


@group(app, "bench", example="leporello bench cost")
def bench(call: Call) -> None:
    """Measure this installation; alone, what writing and recall cost beside their bare parts.

    What follows the name goes to the benchmark: `leporello bench find -- --help` lists its options.
    """
    if call.context.invoked_subcommand is None:
        bench_cost(call)


@command(bench, "cost", example="leporello bench cost", passing=True)
def bench_cost(call: Call) -> None:
    """What writing and recall cost beside their bare parts."""
    _bench(call, "cost", *(["--json"] if call.settings.json else ()))


@command(bench, "find", example="leporello bench find locomo realtalk", passing=True)
def bench_find(call: Call) -> None:
    """How well messages are found, on the retrieval sets."""
    _bench(call, "finding")


@command(bench, "fold", example="leporello bench fold --budgets 1000 3000", passing=True)
def bench_fold(call: Call) -> None:
    """How much of what an agent needs next a fold keeps."""
    _bench(call, "folding")


@command(bench, "loop", example="leporello bench loop --turns 400", passing=True)
def bench_loop(call: Call) -> None:
    """What a long agent loop costs and keeps, by policy, through the local provider (needs the extras testing and anthropic)."""
    _bench(call, "loop")


@command(bench, "contradict", example="leporello bench contradict", passing=True)
def bench_contradict(call: Call) -> None:
    """How carefully new facts end old ones: what is retired, what is kept and what is disputed, on pairs of statements."""
    _bench(call, "contradictions", *(["--json"] if call.settings.json else ()))


@command(bench, "know", example="leporello bench know growth", passing=True)
def bench_know(call: Call) -> None:
    """What consolidation comes to: updates found, the same facts in any order, the cost of one more session."""
    _bench(call, "knowing", *(["--json"] if call.settings.json else ()))


@command(bench, "forget", example="leporello bench forget rank", passing=True)
def bench_forget(call: Call) -> None:
    """What forgetting changes and costs: outdated and current, the laws' speed, recall's time, maintenance's reads."""
    _bench(call, "forgetting", *(["--json"] if call.settings.json else ()))


@command(bench, "use", example="leporello bench use", passing=True)
def bench_use(call: Call) -> None:
    """How well it is known which of the records shown an answer draws on."""
    _bench(call, "using", *(["--json"] if call.settings.json else ()))


def _bench(call: Call, name: str, *more: str) -> None:
    """Runs a benchmark in a process of its own, so that it measures the engine and not this program."""
    sys.stdout.flush()
    done = subprocess.run([sys.executable, "-m", f"leporello.bench.{name}", *call.context.args, *more], check=False)
    raise typer.Exit(done.returncode if done.returncode in {0, 1, 2} else 1)

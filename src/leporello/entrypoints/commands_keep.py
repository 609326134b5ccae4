"""Commands on how long things are kept: maintain, used, keep, age; and the skill for agents that have only files."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Annotated

import typer
from rich.console import RenderableType

from leporello import skill
from leporello.entrypoints import memory_maintenance
from leporello.entrypoints.calls import Call, UsageError
from leporello.entrypoints.options import Full, command, group
from leporello.entrypoints.output import body, clip, head, when
from leporello.results import Age, Maintenance, Undone

app = typer.Typer()

Id = Annotated[str, typer.Argument(help="The id of a record; recall and `leporello facts` print it.")]
_FILE = "With --memory-file: "
_EXAMPLES = 20


@command(app, "maintain", example="leporello maintain --dry-run")
def maintain(
    call: Call,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would move, and why; write nothing.")] = False,
    explain: Annotated[str | None, typer.Option("--explain", help="Say how one record stands, and when it will be put aside.")] = None,
    undo: Annotated[str | None, typer.Option("--undo", help="Bring back what a run put aside.")] = None,
    runs: Annotated[bool, typer.Option("--runs", help="List the runs that moved something.")] = False,
    every: Annotated[float | None, typer.Option("--every", help="Run again and again, with so many hours between; ends with Ctrl-C.", min=0.001)] = None,
    memory_file: Annotated[str | None, typer.Option("--memory-file", help="Maintain this JSONL file instead of the store.")] = None,
    current_tick: Annotated[int | None, typer.Option("--current-tick", help=_FILE + "the tick that it is now.")] = None,
    strength: Annotated[float | None, typer.Option("--strength", help=_FILE + "ticks after which 1/e is left by the exponential.")] = None,
    decay: Annotated[float | None, typer.Option("--decay", help=_FILE + "the decay of ACT-R.")] = None,
    retrieval_threshold: Annotated[float | None, typer.Option("--retrieval-threshold", help=_FILE + "the threshold of ACT-R.")] = None,
    max_entries: Annotated[int | None, typer.Option("--max-entries", help=_FILE + "how many entries it may hold.")] = None,
    args_json: Annotated[str | None, typer.Option("--args-json", help=_FILE + "the same as a JSON object.")] = None,
    compat_strict: Annotated[bool, typer.Option("--compat-strict", help=_FILE + "exactly the published rule, its losses included.")] = False,
    full: Full = False,
) -> None:  # fmt: skip
    """Put aside what is hardly recalled or hardly certain by now, has expired, or is too much; it can be undone.

    Nothing is deleted. Without a scope option it looks at the whole store. With --memory-file it is the maintenance of an agent's memory file.
    """
    beside = {
        "--memory-file": memory_file, "--current-tick": current_tick, "--strength": strength, "--decay": decay,
        "--retrieval-threshold": retrieval_threshold, "--max-entries": max_entries, "--args-json": args_json,
    }  # fmt: skip
    given = [part for name, value in beside.items() if value is not None for part in (name, str(value))]
    if (memory_file is not None or args_json is not None) and (runs or every is not None):
        raise UsageError("--runs and --every are for a store.", hint="The archive beside a memory file names the run of each entry.")
    if memory_file is not None or args_json is not None:
        flags = [n for n, on in (("--compat-strict", compat_strict), ("--dry-run", dry_run)) if on]
        more = [part for name, value in (("--explain", explain), ("--undo", undo)) if value is not None for part in (name, value)]
        sys.stdout.flush()
        raise typer.Exit(memory_maintenance.run([*given, *flags, *more]))
    if given or compat_strict:
        raise UsageError(f"{(given or ['--compat-strict'])[0]} is for an agent's memory file.", hint="Name the file with --memory-file.")
    if explain is not None:
        return age(call, explain)
    if runs:
        return _runs(call)
    if undo is not None:
        with call.memory() as mem:
            back = call.within(mem).undo(undo) if call.scoped else mem.undo(undo)
        return call.answer(back.to_dict(), _undone_lines(back))
    return _maintain(call, dry_run=dry_run, every=every, full=full)


def _maintain(call: Call, *, dry_run: bool, every: float | None, full: bool) -> None:
    while True:
        with call.memory() as mem:
            report = call.within(mem).maintain(dry_run=dry_run) if call.scoped else mem.maintain(dry_run=dry_run)
        call.answer(report.to_dict(), _report_lines(report, full=full))
        if every is None:
            return
        sys.stdout.flush()
        time.sleep(every * 3600)


def _runs(call: Call) -> None:
    with call.memory() as mem:
        found = call.within(mem).runs() if call.scoped else mem.runs()
    value = {"runs": [{"run": e.run, "at": e.at.isoformat()} for e in found]}
    call.answer(value, [head((e.run or "", "bold"), (when(e.at), "dim")) for e in found] or ["No run has moved anything."])


def _report_lines(report: Maintenance, *, full: bool) -> Iterator[RenderableType]:
    would = "would move" if report.dry_run else "moved"
    counts = ", ".join(f"{n} {cause}" for cause, n in report.counts.items())
    yield head((f"{len(report.moves)} {would}", "bold"), counts, (f"{report.looked} were due", "dim"))
    for move in report.moves if full else report.moves[:_EXAMPLES]:
        yield head(("archive", "yellow"), clip(move.text, at=160), (move.id, "dim"))
        yield body(move.why, indent=5, style="dim")
    if not full and len(report.moves) > _EXAMPLES:
        yield body(f"and {len(report.moves) - _EXAMPLES} more; --full lists them", style="dim")
    if report.run:
        yield body(f"run {report.run}: `leporello maintain --undo {report.run}` takes it back", style="dim")


def _undone_lines(back: Undone) -> Iterator[RenderableType]:
    yield head((f"{len(back.restored)} brought back", "bold"), f"{len(back.left)} left: changed since, or gone" if back.left else "")


@command(app, "used", example="leporello used f_0123abcd --user alice")
def used(call: Call, ids: Annotated[list[str], typer.Argument(help="Ids of records that an answer drew on.")]) -> None:
    """Say that an answer drew on records: what is used is kept alive. Uses of one record close together count once."""
    with call.scope() as scope:
        counted = scope.used(*ids)
        ages = [scope.age(i) for i in ids]
    call.answer({"counted": counted, "records": [a.to_dict() for a in ages]}, (line for a in ages for line in _age_lines(a)))


@command(app, "keep", example="leporello keep f_0123abcd --importance high --user alice")
def keep(
    call: Call,
    id: Id,
    *,
    importance: Annotated[str | None, typer.Option("--importance", help="high, medium or low: a factor on its half-life.")] = None,
    pin: Annotated[bool | None, typer.Option("--pin/--no-pin", help="What is pinned never fades.")] = None,
    expires_at: Annotated[str | None, typer.Option("--expires-at", help='From when on it is out of recall, or "never".')] = None,
) -> None:
    """Set how long a record is kept; what is not given stays as it is."""
    with call.scope() as scope:
        found = scope.keep(id, importance=importance, pinned=pin, expires_at=expires_at)
    call.answer(found.to_dict(), _age_lines(found))


@command(app, "age", example="leporello age f_0123abcd --user alice")
def age(call: Call, id: Id) -> None:
    """Say how a record stands with time: retention, confidence, status, what happened to it, and when it will be put aside."""
    with call.scope() as scope:
        found, log = scope.age(id), scope.events(id)
    lines = [*_age_lines(found), *(head((e.kind, "cyan"), (when(e.at), "dim"), (e.run or "", "dim")) for e in log)]
    call.answer({**found.to_dict(), "events": [e.to_dict() for e in log]}, lines)


def _age_lines(found: Age) -> Iterable[RenderableType]:
    certain = "" if found.confidence is None else f"confidence {found.confidence:.2f}"
    seen = "seen or used once" if found.presentations == 1 else f"seen or used {found.presentations} times"
    yield head((found.status, "bold"), f"retention {found.retention:.2f}", certain, (found.id, "dim"))
    yield body(f"{seen}, last {when(found.last)}; importance {found.importance}" + ("; pinned" if found.pinned else ""), style="dim")
    if found.expires_at:
        yield body(f"expires {when(found.expires_at)}", style="dim")
    if found.due:
        yield body(f"put aside by maintenance from {when(found.due)} on, if nothing happens", style="dim")


@group(app, "skill", example="leporello skill install .claude/skills/agent-memory")
def skill_(call: Call) -> None:
    """The skill for agents that keep their memory in a file: what to write when, and the scripts that maintain it."""
    if call.context.invoked_subcommand is None:
        print(call.context.get_help())


@command(skill_, "install", example="leporello skill install .claude/skills/agent-memory")
def skill_install(
    call: Call,
    folder: Annotated[str, typer.Argument(help="The folder of the skill; made if it is missing.")],
    *,
    force: Annotated[bool, typer.Option("--force", help="Write over files that differ.")] = False,
) -> None:
    """Write the skill into a folder: SKILL.md, scripts and references."""
    written = skill.install(folder, force=force)
    call.answer({"folder": folder, "written": list(written)}, [head((p, "bold")) for p in written] or ["Everything is there already."])

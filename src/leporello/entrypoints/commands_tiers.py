"""Commands on the tiers of memory and on the graph: find, graph, project files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import RenderableType

from leporello.entrypoints.calls import Call
from leporello.entrypoints.commands_find import hit_lines, record_head
from leporello.entrypoints.options import AsOf, BelievedAt, Full, command, group
from leporello.entrypoints.output import body, clip, head, seen, when
from leporello.results import Hit

if TYPE_CHECKING:  # what it imports takes longer than a help page may
    from leporello.core.graph import Edge, Neighbourhood
    from leporello.flows.find import Finding
    from leporello.formats.project import ProjectReport

app = typer.Typer()
_NEIGHBOURS = 100


@command(app, "find", example='leporello find "last error" --session s1')
def find(
    call: Call,
    query: Annotated[str, typer.Argument(help="The question, or the key of a note.")],
    *,
    k: Annotated[int, typer.Option("--k", "-k", help="How many hits at most.")] = 5,
    full: Full = False,
) -> None:
    """Look in the tiers in turn (working, short, medium, long); say where the answer was found, or that it was not."""
    with call.scope() as scope:
        found = scope.find(query, k=k)
    call.answer(found.to_dict(), _finding_lines(found, full=full))
    call.remark(f"Found in the {found.tier} tier." if found.tier else found.advice)


def _finding_lines(found: Finding, *, full: bool) -> Iterator[RenderableType]:
    for hit in found.hits:
        if isinstance(hit, Hit):
            yield from hit_lines([hit], full=full)
        else:
            yield head(("note", "cyan"), (hit.record.key, "bold"), (when(hit.record.at), "dim"))
            yield body(seen(hit.text) if full else clip(hit.text))
    for look in found.looked:
        why = f": {look.why_not}" if look.why_not else ""
        yield head((look.tier, "dim"), (f"{look.candidates} looked at, best {look.best:.2f}{why}", "dim"))


@command(app, "graph", example="leporello graph Alice --depth 2")
def graph(
    call: Call,
    name: Annotated[str, typer.Argument(help="A person, a project, a file: any name that facts or messages hold.")],
    *,
    to: Annotated[str | None, typer.Option("--to", help="Print the ways from NAME to this other name instead.")] = None,
    depth: Annotated[int, typer.Option("--depth", help="How many steps around the name, from 1 to 4.")] = 1,
    limit: Annotated[int, typer.Option("--limit", help="How many edges at most.")] = _NEIGHBOURS,
    as_of: AsOf = None,
    believed_at: BelievedAt = None,
) -> None:
    """Print what stands around a name: typed edges, with their source and their time."""
    with call.scope() as scope:
        if to is not None:
            ways = scope.paths(name, to, as_of=as_of, believed_at=believed_at, limit=min(limit, 100))
            lines = (head((f"{n}.", "bold"), " → ".join(seen(x) for x in way.nodes)) for n, way in enumerate(ways, 1))
            call.answer({"from": name, "to": to, "paths": [w.to_dict() for w in ways]}, lines)
            if not ways:
                call.remark("There is no way between the two.")
            return
        around = scope.graph(name, depth=depth, limit=limit, as_of=as_of, believed_at=believed_at)
    call.answer(around.to_dict(), _graph_lines(around))
    if around.omitted:
        call.remark(f"{around.omitted} edges are left out; see --limit.")


def _graph_lines(around: Neighbourhood) -> Iterator[RenderableType]:
    me = around.entity
    also = f"also {', '.join(seen(a) for a in me.aliases)}" if me.aliases else ""
    yield head((seen(me.name), "bold"), (me.kind, "cyan"), (also, "dim"))
    names = {e.key: e.name for e in around.entities} | {me.key: me.name}
    alike: dict[tuple[str, str, str], list[Edge]] = {}
    for edge in around.edges:
        alike.setdefault((edge.subject, edge.predicate, edge.object), []).append(edge)
    for edges in alike.values():
        yield from _edge_lines(edges, names)


def _edge_lines(edges: Sequence[Edge], names: dict[str, str]) -> Iterator[RenderableType]:
    """One line for each time, but for what several messages say without an end one line for all."""
    open_, ended = [e for e in edges if not e.valid_to], [e for e in edges if e.valid_to]
    for alike in [*([open_] if open_ else []), *([e] for e in ended)]:
        first = min(alike, key=lambda e: (e.valid_from is not None, e.valid_from))
        ends = [seen(names.get(n, n)) for n in (first.subject, first.object)]
        since = f"since {when(first.valid_from)}" if first.valid_from else ""
        until = f"until {when(first.valid_to)}" if first.valid_to else ""
        times = " ".join(t for t in (since, until) if t)
        more = f"and {len(alike) - 1} more" if len(alike) > 1 else ""
        yield head(f"{ends[0]} –{seen(first.predicate)}→ {ends[1]}", (times, "dim"), (first.source, "dim"), (more, "dim"))


@group(app, "project", example="leporello project write notes/ --project shop")
def project(
    call: Call,
    *,
    topic: Annotated[str | None, typer.Option("--topic", help="Only facts of this topic.")] = None,
    path: Annotated[str | None, typer.Option("--path", help="Only facts that name this file.")] = None,
    since: Annotated[str | None, typer.Option("--since", help="Only facts from this date on.")] = None,
    until: Annotated[str | None, typer.Option("--until", help="Only facts up to this date.")] = None,
) -> None:
    """Project memory: alone, this lists the facts of the project, by topic, file or date."""
    if call.context.invoked_subcommand is None:
        with call.scope() as scope:
            found = scope.project(topic=topic, path=path, since=since, until=until)
        lines = (line for f in found for line in (head(*record_head(f)), body(clip(f.text))))
        call.answer({"facts": [f.to_dict() for f in found]}, lines)


Folder = Annotated[str, typer.Argument(help="The folder of the Markdown files.")]
Force = Annotated[bool, typer.Option("--force", help="Do it although edits or many entries would be lost.")]


@command(project, "write", example="leporello project write notes/ --project shop")
def write_project(call: Call, folder: Folder, *, force: Force = False) -> None:
    """Write the facts of the project as Markdown, with an index; edit the files, then read them back."""
    with call.scope() as scope:
        report = scope.write_project(folder, force=force)
    call.answer(report.to_dict(), _report_lines(report))


@command(project, "read", example="leporello project read notes/ --project shop")
def read_project(
    call: Call,
    folder: Folder,
    *,
    removed: Annotated[
        str, typer.Option("--removed", help="What a topic file that is gone means for its facts: keep or retract.")
    ] = "keep",
    force: Force = False,
) -> None:
    """Take over what was edited in the files.

    A changed entry corrects its fact, a new one is learned, a removed one is taken back.
    """
    mode: Literal["keep", "retract"] = removed  # type: ignore[assignment]
    with call.scope(new=True) as scope:
        report = scope.read_project(folder, removed=mode, force=force)
    call.answer(report.to_dict(), _report_lines(report))


def _report_lines(report: ProjectReport) -> Iterator[RenderableType]:
    yield head((seen(report.folder), "bold"), f"{report.entries} entries")
    for what in ("written", "removed", "corrected", "added", "retracted", "missing", "stale"):
        if named := getattr(report, what):
            yield head((what, "cyan"), ", ".join(seen(str(n)) for n in named))
    for trouble in (*report.clashes, *report.problems):
        yield body(" · ".join(f"{k}: {v}" for k, v in trouble.to_dict().items() if v not in (None, "", [])), style="yellow")

"""Commands on what is known: consolidate, and what is done to facts by hand."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType

import leporello
from leporello.entrypoints import output
from leporello.entrypoints.calls import Call, text_of
from leporello.entrypoints.commands_find import differences, record_head, revision_lines
from leporello.entrypoints.options import Full, command
from leporello.entrypoints.output import body, clip, head, when
from leporello.errors import LeporelloError, NotFound
from leporello.records import Episode, Fact, Message, Revision
from leporello.results import Consolidation, FactChange

if TYPE_CHECKING:  # what it imports takes longer than a help page may
    from leporello.knowledge import Conflict, Suspect

app = typer.Typer()

Id = Annotated[str, typer.Argument(help="The id of a fact; `leporello facts` lists them.")]
Why = Annotated[str | None, typer.Option("--why", help="The reason; it is kept in the fact's history.")]
_SIGNS = {
    "add": ("+", "green"), "reinforce": ("↑", "green"), "supersede": ("~", "cyan"), "end": ("-", "red"), "retract": ("-", "red"),
    "conflict": ("!", "yellow"), "merge": ("=", "cyan"),
}  # fmt: skip
_OTHER = ("·", "cyan")


@command(app, "consolidate", example="leporello consolidate --user alice")
def consolidate(call: Call, *, full: Full = False) -> None:
    """Turn what was said in sessions, and not read yet, into facts; say what changed. Again, it finds nothing to do.

    Without a scope option it reads every session of the store. A line begins with + for a new fact, ~ for one that another
    replaces, ! for two that cannot both hold, ↑ for one that is supported, - for one that ended, = for one that said the same.
    """
    waits = output.console(sys.stderr)
    with call.memory() as mem, waits.status("Reading what was said …") if _watched(call) else nullcontext():
        report = call.within(mem).consolidate() if call.scoped else mem.consolidate()
        texts = dict(_texts(mem, report))
    call.answer(report.to_dict(), _report_lines(report, texts, full=full))


def _watched(call: Call) -> bool:
    return not call.settings.json and not call.settings.quiet and output.console(sys.stderr).is_terminal


def _texts(mem: leporello.Memory, report: Consolidation) -> Iterator[tuple[str, str]]:
    """The texts of the facts in a report, and of those that they stand in relation to."""
    for change in report.changes:
        fact = change.fact
        yield fact.id, fact.text
        for id_ in (*fact.conflicts, *((fact.superseded_by,) if fact.superseded_by else ())):
            try:
                yield id_, mem.scope(tenant=fact.scope.tenant).get(id_).text
            except NotFound:  # erased meanwhile
                continue


def _report_lines(report: Consolidation, texts: Mapping[str, str], *, full: bool) -> Iterator[RenderableType]:
    read = f"{_count(report.messages, 'message')} of {_count(report.sessions, 'session')}"
    known = f", {report.known} of them known already" if report.known else ""
    yield head(("Read", "bold"), read, f"{_count(report.statements, 'statement')} weighed{known}" if report.messages else "nothing is new")
    successors = {c.fact.superseded_by for c in report.changes if c.action in {"supersede", "merge"}}
    for change in report.changes:
        if change.action != "add" or change.fact.id not in successors:
            yield from _change_lines(change, texts, full=full)
    if report.permanent:
        yield body(f"{_count(report.permanent, 'statement')} kept for the user in every project", style="dim")
    if report.echoes:
        yield body(f"{_count(report.echoes, 'statement')} only memory coming back: left out", style="dim")
    if report.quarantined:
        yield body(f"{_count(report.quarantined, 'statement')} put into quarantine: see `leporello quarantine`", style="yellow")
    for fallback in report.fallbacks:
        yield body(fallback, style="yellow")


def _change_lines(change: FactChange, texts: Mapping[str, str], *, full: bool) -> Iterator[RenderableType]:
    """One changed fact: its sign and text, what stands against it or in its place, and what is different."""
    fact = change.fact
    sign = ("?", "yellow") if fact.status == "quarantine" else _SIGNS.get(change.action, _OTHER)

    def shown(text: str) -> str:
        return text if full else clip(text, at=160)

    yield head(sign, shown(fact.text), (fact.fact_kind, "dim"), (when(fact.at), "dim"), (fact.id, "dim"))
    into = fact.superseded_by if change.action in {"supersede", "merge"} else None
    if into:
        yield body(f"→ {shown(texts.get(into, into))}", indent=5)
    for other in fact.conflicts if change.action == "conflict" or (change.action == "add" and fact.status == "conflict") else ():
        yield body(f"against: {shown(texts.get(other, other))}", indent=5)
    if change.why:
        yield body(f"because: {change.why}", indent=5, style="dim")
    if change.was is not None and not into:
        yield body("; ".join(differences(change.was, fact)) or change.action, indent=5, style="dim")


def _count(n: int, what: str) -> str:
    return f"{n} {what}" + ("" if n == 1 else "s")


# --- by hand ---------------------------------------------------------------------------------------------------------


@command(app, "confirm", example='leporello confirm f_0123abcd --why "checked the calendar" --user alice')
def confirm(call: Call, id: Id, *, why: Why = None) -> None:
    """Say that a fact holds: more confidence, a conflict decided for it, a quarantine ended."""
    with call.scope() as scope:
        fact = scope.confirm(id, why=why or "")
    _answer(call, fact, f"Confirmed, confidence {fact.confidence:g}.")


@command(app, "contradict", example='leporello contradict f_0123abcd --by "Deploys happen on Thursdays." --user alice')
def contradict(
    call: Call,
    id: Id,
    *,
    by: Annotated[str | None, typer.Option("--by", help="What holds instead: a statement, or a fact's id; - reads standard input.")] = None,
    why: Why = None,
) -> None:
    """End a fact: it is kept for history, with its successor. Without --by nothing takes its place."""
    with call.scope() as scope:
        fact = scope.contradict(id, by=None if by is None else text_of(by), why=why or "")
        successor = _successor(scope, fact)
    lines: list[RenderableType] = [] if successor is None else [head("→", *record_head(successor)), body(successor.text)]
    _answer(call, fact, f"It held until {when(fact.valid_to)}." if fact.valid_to else "It holds no longer.", lines)


def _successor(scope: leporello.Scoped, fact: Fact) -> Fact | None:
    try:
        found = scope.get(fact.superseded_by) if fact.superseded_by else None
    except LeporelloError:
        return None
    return found if isinstance(found, Fact) else None


@command(app, "retract", example='leporello retract f_0123abcd --why "mixed up two servers" --user alice')
def retract(call: Call, id: Id, *, why: Why = None) -> None:
    """Take a fact back: it was never so. It is believed no longer, and kept for what was believed before."""
    with call.scope() as scope:
        fact = scope.retract(id, why=why or "")
    _answer(call, fact, "Retracted; `leporello restore` brings it back.")


@command(app, "archive", example="leporello archive f_0123abcd --user alice")
def archive(call: Call, id: Id, *, why: Why = None) -> None:
    """Put a fact aside: out of recall and contexts, until it is restored."""
    with call.scope() as scope:
        fact = scope.archive(id, why=why or "")
    _answer(call, fact, "Archived; `leporello restore` brings it back.")


@command(app, "restore", example='leporello restore f_0123abcd --why "it holds after all" --user alice')
def restore(call: Call, id: Id, *, why: Why = None) -> None:
    """Bring back a fact that was archived, retracted or contradicted, or an episode that maintenance put aside.

    Beside a successor that stands, both are a conflict.
    """
    with call.scope() as scope:
        record = scope.restore(id, why=why or "")
    disputed = isinstance(record, Fact) and record.status == "conflict"
    _answer(call, record, "Restored." if not disputed else "Restored; another fact says otherwise: see `leporello conflicts`.")


def _answer(call: Call, fact: Message | Episode | Fact, told: str, more: Iterable[RenderableType] = ()) -> None:
    """A fact as it is now, and a remark."""
    call.answer(fact.to_dict(), [head(*record_head(fact)), body(fact.text), *more])
    call.remark(told)


# --- lists -----------------------------------------------------------------------------------------------------------


@command(app, "history", example="leporello history f_0123abcd --user alice")
def history(call: Call, id: Id) -> None:
    """List the changes of a fact, oldest first: what was done, by whom, when and why."""
    with call.scope() as scope:
        found, fact = scope.history(id), scope.get(id)
    value = {"fact": fact.to_dict(), "history": [r.to_dict() for r in found]}
    call.answer(value, _history_lines(found, fact))


def _history_lines(found: Iterable[Revision], fact: object) -> Iterator[RenderableType]:
    if isinstance(fact, Fact):
        yield head(*record_head(fact))
        yield body(fact.text)
        yield from revision_lines(found, fact)


@command(app, "conflicts", example="leporello conflicts --user alice")
def conflicts(call: Call, *, full: Full = False) -> None:
    """List the pairs of facts that cannot both hold, the older first; confirm or contradict one of them."""
    with call.scope() as scope:
        found = scope.conflicts()
    call.answer({"conflicts": [c.to_dict() for c in found]}, _conflict_lines(found, full=full))
    if found:
        call.remark("`leporello confirm ID` decides for one; `leporello contradict ID --by OTHER` ends one.")


def _conflict_lines(found: Iterable[Conflict], *, full: bool) -> Iterator[RenderableType]:
    for n, pair in enumerate(found, 1):
        for sign, fact in zip((f"{n}.", "against"), pair.facts, strict=True):
            trust = f"trust {fact.trust}, confidence {fact.confidence:g}"
            yield head((sign, "bold"), *record_head(fact), (trust, "dim"))
            yield body(fact.text if full else clip(fact.text))


@command(app, "quarantine", example="leporello quarantine --user alice")
def quarantine(call: Call, *, full: Full = False) -> None:
    """List the facts that are neither recalled nor shown because their text is suspicious, and why."""
    with call.scope() as scope:
        found = scope.quarantine()
    call.answer({"quarantine": [s.to_dict() for s in found]}, _suspect_lines(found, full=full))
    if found:
        call.remark("`leporello confirm ID` releases one; `leporello erase ID` removes it.")


def _suspect_lines(found: Iterable[Suspect], *, full: bool) -> Iterator[RenderableType]:
    for suspect in found:
        yield head(*record_head(suspect.fact))
        yield body(suspect.fact.text if full else clip(suspect.fact.text))
        for reason in suspect.reasons:
            yield body(reason, style="yellow")

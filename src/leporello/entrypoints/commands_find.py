"""Commands that read: recall, context, explain, and lists of what there is."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.text import Text

import leporello
from leporello.entrypoints import output
from leporello.entrypoints.calls import Call
from leporello.entrypoints.options import AsOf, BelievedAt, Full, command
from leporello.entrypoints.output import body, clip, head, seen, when
from leporello.records import Claim, Episode, Fact, Message, Revision
from leporello.results import SessionInfo

app = typer.Typer()

_AROUND = 120


@command(app, "recall", example='leporello recall "home city" --user alice -k 5 --kind fact')
def recall(
    call: Call,
    query: Annotated[str, typer.Argument(help="The question.")],
    *,
    k: Annotated[int, typer.Option("--k", "-k", help="How many hits at most.")] = 10,
    kind: Annotated[list[str] | None, typer.Option("--kind", help="message, episode or fact; may be given more than once.")] = None,
    as_of: AsOf = None,
    believed_at: BelievedAt = None,
    include: Annotated[
        list[str] | None, typer.Option("--include", help="archived or deprecated: find these too; may be given more than once.")
    ] = None,
    full: Full = False,
) -> None:
    """Find the records that answer best, each with the reasons for its score."""
    kinds: dict[str, Any] = {"kinds": tuple(kind)} if kind else {}
    with call.scope() as scope:
        found = scope.recall(query, k=k, as_of=as_of, believed_at=believed_at, include=tuple(include or ()), **kinds)
    if found.not_found:
        call.remark("Not found: nothing in this scope reaches the relevance floor." + (" The nearest are:" if found else ""))
    call.answer(recall_json(found), () if found.not_found and call.settings.quiet else hit_lines(found, full=full))


def recall_json(found: leporello.Recall) -> dict[str, Any]:
    """The answer of recall as JSON values."""
    return {"query": found.query, "hits": [hit_json(h) for h in found], "not_found": found.not_found, "took_ms": found.took_ms}


def hit_json(hit: leporello.Hit) -> dict[str, Any]:
    """A hit as JSON values; null where a kind of record has no such value."""
    record = hit.record
    fact = record if isinstance(record, Fact) else None
    source = hit.provenance
    return {
        "id": record.id,
        "kind": record.kind,
        "text": hit.text,
        "score": hit.score,
        "why": [r.to_dict() for r in hit.why],
        "provenance": {"session": source.session, "turns": list(source.turns), "episodes": list(source.episodes)},
        "valid_from": fact.valid_from.isoformat() if fact and fact.valid_from else None,
        "valid_to": fact.valid_to.isoformat() if fact and fact.valid_to else None,
        "confidence": fact.confidence if fact else None,
        "retention": hit.retention,
        "status": hit.status or (fact.status if fact else None),
    }


def hit_lines(hits: Iterable[leporello.Hit], *, full: bool = False, ids: bool = True) -> Iterator[RenderableType]:
    """Each hit: its head, its text, its reasons."""
    for n, hit in enumerate(hits, 1):
        yield head((f"{n}. {hit.score:.2f}", "bold"), *record_head(hit.record, ids=ids))
        yield body(hit.text if full else clip(hit.text))
        if hit.why:
            reasons = " · ".join(f"{r.term} {r.value:.2f}" + (f" ({r.detail})" if r.detail else "") for r in hit.why)
            yield body(f"because of: {reasons}", style="dim")


def record_head(record: Message | Episode | Fact, *, ids: bool = True) -> list[str | tuple[str, str]]:
    """What a record is, when and where it was said, until when it held, and its id."""
    if isinstance(record, Message):
        where = f"{record.name or record.role}, turn {record.turn}" + (f" of {record.session}" if record.session else "")
    elif isinstance(record, Episode):
        where = turns_of(record.turns) + (f" of {record.scope.session}" if record.scope.session else "")
    else:
        where = record.fact_kind if record.status == "active" else f"{record.fact_kind}, {record.status}"
    until = f"until {when(record.valid_to)}" if isinstance(record, Fact) and record.valid_to else ""
    return [(record.kind, "cyan"), where, (when(record.at), "dim"), (until, "dim"), (record.id if ids else "", "dim")]


def turns_of(turns: tuple[int, ...]) -> str:
    """`turn 3`, or `turns 3-9`."""
    return f"turn {turns[0]}" if turns[0] == turns[-1] else f"turns {turns[0]}-{turns[-1]}"


@command(app, "context", example='leporello context "When do we deploy?" --budget 800 --user alice --session s1')
def context(
    call: Call,
    query: Annotated[str | None, typer.Argument(help="The newest user message, if there is one.")] = None,
    *,
    budget: Annotated[int, typer.Option("--budget", help="Estimated tokens at most.")] = 2_000,
    system: Annotated[str | None, typer.Option("--system", help="A system prompt, which stands first.")] = None,
    as_of: AsOf = None,
    believed_at: BelievedAt = None,
) -> None:
    """Print the memory that a model should read, as ordered blocks within a budget."""
    with call.scope() as scope:
        made = scope.context(query, budget=budget, system=system or "", as_of=as_of, believed_at=believed_at)
    call.answer(made.to_dict(), [made.text] if made.blocks else ())
    left = f"; {len(made.omitted)} left out" if made.omitted else ""
    call.remark(f"{made.tokens} of {budget} tokens, {made.stable_prefix_tokens} of them in the stable prefix{left}.")


@command(app, "explain", example="leporello explain f_0123abcd --user alice")
def explain(
    call: Call,
    id: Annotated[str, typer.Argument(help="The id of a message, an episode or a fact.")],
    *,
    as_of: Annotated[str | None, typer.Option("--as-of", help="Only if it held at that moment.")] = None,
    believed_at: Annotated[str | None, typer.Option("--believed-at", help="As the store held it at that moment.")] = None,
    full: Full = False,
) -> None:
    """Show where a record comes from: operations, episodes, turns, the very characters, and what became of it.

    Each operation says who made it: a compactor with its version and its prompt's, or who called; and when and why.
    """
    with call.scope() as scope:
        found = scope.explain(id, as_of=as_of, believed_at=believed_at)
        texts = {q.message: scope.get(q.message).text for q in found.quotes}
    call.answer(found.to_dict(), explain_lines(found, texts, full=full))


def explain_lines(found: Any, texts: dict[str, str], *, full: bool = False) -> Iterator[RenderableType]:
    """A record, then what it was made from, layer by layer, then its changes."""
    record = found.record
    yield head(*record_head(record))
    yield body(record.text if full else clip(record.text))
    if isinstance(record, Fact):
        yield from _fact_lines(record)
    if found.age is not None:
        due = f"; put aside from {when(found.age.due)} on, if nothing happens" if found.age.due else ""
        yield body(f"{found.age.status}, retention {found.age.retention:.2f}, last seen or used {when(found.age.last)}{due}", style="dim")
    for n, step in enumerate(found.operations, 1):
        yield from _operation_lines(n, step, record.text, full=full)
    if found.made_by and not found.operations:
        yield body(f"made by {', '.join(found.made_by)}", style="dim")
    for e in found.episodes:
        if e.id != record.id:
            yield head("from", *record_head(e))
            yield body(e.summary if full else clip(e.summary))
            yield body(f"made by {e.compactor}", style="dim")
    if record.kind != "message":
        for q in found.quotes:
            yield from quote_lines(q, texts[q.message], full=full)
    if isinstance(record, Fact):
        yield from revision_lines(found.history, record)


def _fact_lines(fact: Fact) -> Iterator[RenderableType]:
    """What is held of a fact: source, trust, confidence, reason; its two times; the facts that it has to do with."""
    why = f", because {fact.why}" if fact.why else ""
    yield body(f"source {fact.source}, trust {fact.trust}, confidence {fact.confidence:g}{why}")
    holds = f"holds from {when(fact.at)}" + (f" until {when(fact.valid_to)}" if fact.valid_to else "")
    believed = f"believed from {when(fact.recorded_at)}" + (f" until {when(fact.retracted_at)}" if fact.retracted_at else "")
    yield body(f"{holds}; {believed}", style="dim")
    links = [
        f"{what} {', '.join(ids)}"
        for what, ids in (
            ("superseded by", (fact.superseded_by,) if fact.superseded_by else ()),
            ("supersedes", fact.supersedes),
            ("in conflict with", fact.conflicts),
        )
        if ids
    ]
    if links:
        yield body("; ".join(links), style="dim")


def _operation_lines(n: int, step: Claim, text: str, *, full: bool) -> Iterator[RenderableType]:
    """One step that a fact is derived from: what was done by whom and when; its words where they differ, its reason, its place."""
    yield head(f"operation {n}", (step.op, "cyan"), f"by {step.actor}", (when(step.recorded_at), "dim"), (step.id, "dim"))
    if step.text and step.text != text:
        yield body(step.text if full else clip(step.text))
    spans = ", ".join(f"turn {s.turn} characters {s.start}-{s.end}" for s in step.provenance.spans)
    where = f"{step.provenance.session or 'outside a session'}, {spans}" if spans else ""
    told = [f"trust {step.trust}", f"confidence {step.confidence:g}", where, f"because {step.why}" if step.why else ""]
    yield body("; ".join(t for t in told if t), style="dim")
    if step.suspicion:
        yield body(f"suspicious: {step.suspicion}", style="yellow")


def revision_lines(revisions: Iterable[Revision], fact: Fact) -> Iterator[RenderableType]:
    """The changes of a fact, oldest first: what was done, by whom, when, why; below it what became different."""
    known = list(revisions)
    after = [*(r.was for r in known[1:]), fact]
    for revision, now in zip(known, after, strict=True) if known else ():
        by = f"by way of {revision.by}" if revision.by else ""
        yield head(("changed", "bold"), (revision.action, "cyan"), f"by {revision.actor}", (when(revision.at), "dim"), (by, "dim"))
        if revision.why:
            yield body(f"because {revision.why}")
        if revision.was is not None and now is not None:
            yield body("; ".join(differences(revision.was, now)) or "nothing else is different", style="dim")


def differences(was: Fact, now: Fact) -> list[str]:
    """What is different in a fact: `confidence 0.7 → 0.8`."""
    pairs: list[tuple[str, str, str]] = [
        ("text", was.text, now.text),
        ("status", was.status, now.status),
        ("confidence", f"{was.confidence:g}", f"{now.confidence:g}"),
        ("from", when(was.valid_from), when(now.valid_from)),
        ("until", when(was.valid_to), when(now.valid_to)),
        ("retracted", when(was.retracted_at), when(now.retracted_at)),
        ("superseded by", was.superseded_by or "", now.superseded_by or ""),
        ("conflicts", ", ".join(was.conflicts), ", ".join(now.conflicts)),
        ("quotes", str(len(was.provenance.spans)), str(len(now.provenance.spans))),
    ]
    return [f"{what} {before or 'none'} → {after or 'none'}" for what, before, after in pairs if before != after]


def quote_lines(quote: Any, text: str, *, full: bool = False, ids: bool = True) -> Iterator[RenderableType]:
    """The characters that a record rests on, within the text around them."""
    who = quote.name or quote.role
    yield head(
        "said",
        f"by {who}, turn {quote.turn}, characters {quote.start}-{quote.end}",
        (when(quote.at), "dim"),
        (quote.message if ids else "", "dim"),
    )
    first, last = (0, len(text)) if full else (max(0, quote.start - _AROUND), min(len(text), quote.end + _AROUND))
    shown = Text("… " if first else "", style="dim")
    shown.append(seen(text[first : quote.start]), style="dim")
    shown.append(f"»{seen(text[quote.start : quote.end])}«", style="bold not dim")
    shown.append(seen(text[quote.end : last]) + (" …" if last < len(text) else ""), style="dim")
    yield output.Indented(shown)


@command(app, "facts", example="leporello facts --as-of 2026-03-01 --user alice")
def facts(
    call: Call,
    *,
    as_of: Annotated[str | None, typer.Option("--as-of", help="Those that held at that moment.")] = None,
    believed_at: Annotated[str | None, typer.Option("--believed-at", help="As the store believed them at that moment.")] = None,
    status: Annotated[
        str | None, typer.Option("--status", help="active, conflict, deprecated, archived, quarantine; all for every fact.")
    ] = None,
    full: Full = False,
) -> None:
    """List the facts that hold now, oldest first; or those that held, or were believed, at another moment."""
    with call.scope() as scope:
        found = scope.facts(as_of=as_of, believed_at=believed_at, status=status)
    call.answer({"facts": [f.to_dict() for f in found]}, _record_lines(found, full=full))


@command(app, "episodes", example="leporello episodes --session s1")
def episodes(call: Call, *, full: Full = False) -> None:
    """List the episodes of the scope, oldest first."""
    with call.scope() as scope:
        found = scope.episodes()
    call.answer({"episodes": [e.to_dict() for e in found]}, _record_lines(found, full=full))


def _record_lines(records: Iterable[Message | Episode | Fact], *, full: bool) -> Iterator[RenderableType]:
    for r in records:
        yield head(*record_head(r))
        yield body(r.text if full else clip(r.text))
        if isinstance(r, Episode) and full:
            for item in r.items:
                yield body(f"{item.section}: {item.text}" + (f" ({item.why})" if item.why else ""), indent=5)


@command(app, "sessions", example="leporello sessions --user alice")
def sessions(call: Call) -> None:
    """List the sessions that the scope sees, oldest first."""
    with call.scope() as scope:
        found = scope.sessions()
    call.answer({"sessions": [s.to_dict() | {"session": s.name} for s in found]}, (_session_line(s) for s in found))


def _session_line(s: SessionInfo) -> RenderableType:
    whose = ", ".join(f"{d} {v}" for d in ("user", "agent", "project") if (v := getattr(s.scope, d)) is not None)
    counts = f"{s.messages} messages in {s.turns} turns, {s.folded} folded into {s.episodes} episodes"
    return head((s.name or "(outside a session)", "bold" if s.name else "dim"), counts, (whose, "dim"))


@command(app, "messages", example="leporello messages --session s1 --newest 10")
def messages(
    call: Call,
    *,
    first: Annotated[int, typer.Option("--from", help="The first position; the oldest message is 1.")] = 1,
    last: Annotated[int | None, typer.Option("--to", help="The last position; the newest message if not given.")] = None,
    newest: Annotated[int | None, typer.Option("--newest", min=1, help="Only this many, the newest of them.")] = None,
    full: Full = False,
) -> None:
    """List the messages of a session in order, folded or not."""
    with call.session() as session:
        found = tuple(deque(session.messages(first=first, last=last), maxlen=newest))
    call.answer({"session": call.settings.session, "messages": [m.to_dict() for m in found]}, message_lines(found, full=full))


def message_lines(found: Iterable[Message], *, full: bool) -> Iterator[RenderableType]:
    """Each message: its place, and its text, clipped or verbatim."""
    for m in found:
        yield head((f"{m.pos}.", "bold"), (m.name or m.role, "cyan"), f"turn {m.turn}", (when(m.at), "dim"), (m.id, "dim"))
        yield m.text if full else body(clip(m.text))

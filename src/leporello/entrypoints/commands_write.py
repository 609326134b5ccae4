"""Commands that write: remember, learn, note, pin, import, export, erase."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

import leporello
from leporello.entrypoints import output
from leporello.entrypoints.calls import Call, UsageError, text_of
from leporello.entrypoints.options import AsOf, BelievedAt, command, group
from leporello.entrypoints.output import body, head, when
from leporello.errors import BadSetting, FormatError, InputError, NotFound
from leporello.records import Fact

app = typer.Typer()

At = Annotated[
    str | None, typer.Option("--at", help="When: ISO 8601 with offset (UTC without), a date, or seconds since 1970; now if not given.")
]


@command(app, "remember", example='leporello remember "I moved from Lyon to Porto." --user alice --name Alice')
def remember(
    call: Call,
    text: Annotated[str, typer.Argument(help="What was said; - reads standard input, less one newline at its end.")],
    *,
    role: Annotated[str, typer.Option("--role", help="user, assistant, system or tool.")] = "user",
    name: Annotated[str | None, typer.Option("--name", help="Who said it.")] = None,
    at: At = None,
    trust: Annotated[str | None, typer.Option("--trust", help="user, agent, tool or external; by the role if not given.")] = None,
    origin: Annotated[str | None, typer.Option("--origin", help="A key of your own: the same message is then stored once.")] = None,
) -> None:
    """Store one message, verbatim; it is on disk when the command returns."""
    if trust not in {None, "user", "agent", "tool", "external"}:
        raise BadSetting(f"trust={trust!r}: use user, agent, tool or external.")
    with call.scope(new=True) as scope:
        message = scope.remember(text_of(text), role=role, name=name, at=at, trust=trust, origin=origin)  # type: ignore[arg-type]
    call.answer(message.to_dict(), [message.id])
    call.remark(f"Stored as turn {message.turn}" + (f" of session {message.session}." if message.session else "."))


@command(app, "learn", example='leporello learn "Deploys happen on Tuesdays." --why "release calendar" --project shop')
def learn(
    call: Call,
    text: Annotated[str, typer.Argument(help="One durable statement; - reads standard input.")],
    *,
    kind: Annotated[str, typer.Option("--kind", help="fact, decision, eliminated, pattern, preference or procedure.")] = "fact",
    source: Annotated[str, typer.Option("--source", help="user_stated, inferred, assumed, tool, or a name of your own.")] = "user_stated",
    why: Annotated[str | None, typer.Option("--why", help="The reason.")] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", help="A tag; may be given more than once.")] = None,
    at: At = None,
    confidence: Annotated[float | None, typer.Option("--confidence", help="From 0 to 1; by the source if not given.")] = None,
    level: Annotated[str | None, typer.Option("--level", help="Write it for the whole project, agent, user or tenant.")] = None,
    importance: Annotated[str | None, typer.Option("--importance", help="high, medium or low: a factor on its half-life.")] = None,
    expires_at: Annotated[str | None, typer.Option("--expires-at", help="From when on it is out of recall.")] = None,
) -> None:
    """Store one fact that is true from now on, or from --at."""
    with call.scope(new=True) as scope:
        fact = scope.learn(
            text_of(text), kind=kind, source=source, why=why or "", tags=tag or (), at=at, confidence=confidence, level=level,
            importance=importance, expires_at=expires_at,
        )  # fmt: skip
    call.answer(fact.to_dict(), [fact.id])
    call.remark(f"Known as {fact.fact_kind}, confidence {fact.confidence:g}." + _beside(fact))


def _beside(fact: Fact) -> str:
    """What a fact that was told did to others, or what became of it."""
    told = [f"It supersedes {', '.join(fact.supersedes)}."] if fact.supersedes else []
    told += ["Another fact says otherwise: see `leporello conflicts`."] if fact.conflicts else []
    told += ["Its text is suspicious: see `leporello quarantine`."] if fact.status == "quarantine" else []
    return "".join(f" {t}" for t in told)


@group(app, "notes", example="leporello notes --session s1")
def notes(call: Call) -> None:
    """Notes are keyed scratchpad values; alone, this lists them."""
    if call.context.invoked_subcommand is None:
        list_notes(call)


@command(notes, "list", example="leporello notes list --session s1")
def list_notes(call: Call) -> None:
    """List the notes of the scope, newest first."""
    with call.scope() as scope:
        found = scope.notes()
    lines = (head((n.key, "bold"), output.clip(_shown(n.value)), (when(n.at), "dim")) for n in found)
    call.answer({"notes": [n.to_dict() for n in found]}, lines)


@command(notes, "set", example='leporello notes set last_error "TypeError at line 42" --session s1')
def set_note(
    call: Call,
    key: Annotated[str, typer.Argument(help="The key.")],
    value: Annotated[str, typer.Argument(help="The value; - reads standard input.")],
    *,
    parse: Annotated[bool, typer.Option("--parse", help="Read the value as JSON: a number, a list, an object …")] = False,
) -> None:
    """Set a note; an old value of the same key in the same scope is replaced."""
    held: Any = text_of(value)
    if parse:
        try:
            held = json.loads(held)
        except (ValueError, RecursionError) as e:
            raise InputError(f"The value is not JSON: {e}.", hint="Leave --parse out to keep it as text.") from e
        if held is None:
            raise InputError("null is what a note holds when it is not set.", hint="Use `leporello notes unset KEY`.")
    with call.scope(new=True) as scope:
        scope.set_note(key, held)
    call.answer({"key": key, "value": held}, ())
    call.remark(f"Noted {key}.")


@command(notes, "get", example="leporello notes get last_error --session s1")
def get_note(call: Call, key: Annotated[str, typer.Argument(help="The key.")]) -> None:
    """Print the newest value of a key."""
    with call.scope() as scope:
        value = _note(scope, key)
    call.answer({"key": key, "value": value}, [_shown(value)])


@command(notes, "clear", example="leporello notes clear --session s1")
def clear_notes(call: Call) -> None:
    """Remove the notes of exactly this scope; closing a session does it too."""
    with call.scope() as scope:
        cleared = scope.clear_notes()
    call.answer({"cleared": cleared}, ())
    call.remark(f"{cleared} notes removed.")


@command(notes, "export", example="leporello notes export notes.jsonl --session s1")
def export_notes(call: Call, path: Annotated[str, typer.Argument(help="The file to write; - prints to standard output.")]) -> None:
    """Write the notes as JSON Lines, newest first: key, value, ts, confidence."""
    with call.scope() as scope:
        if path == "-":
            sys.stdout.write(scope.notes_jsonl())
            return
        count = scope.export_notes(path)
    call.answer({"path": path, "notes": count}, ())
    call.remark(f"{count} notes written.")


@command(notes, "import", example="leporello notes import notes.jsonl --session s1")
def import_notes(call: Call, path: Annotated[str, typer.Argument(help="A file of JSON Lines as `notes export` writes it.")]) -> None:
    """Read notes from JSON Lines; of a key that is there already the newer one stays."""
    with call.scope(new=True) as scope:
        report = scope.import_notes(Path(path))
    call.answer(report.to_dict(), (body(f"line {b.number}: {b.why}", style="yellow") for b in report.bad))
    call.remark(f"{report.stored} notes set, {report.older} were older, {len(report.bad)} lines could not be read.")


@command(notes, "unset", example="leporello notes unset last_error --session s1")
def unset_note(call: Call, key: Annotated[str, typer.Argument(help="The key.")]) -> None:
    """Remove a note of exactly this scope."""
    with call.scope() as scope:
        if not any(n.key == key and n.scope == scope.scope for n in scope.notes()):
            raise NotFound(f"There is no note {key!r} in exactly this scope.", hint="`leporello notes` lists the notes.")
        scope.set_note(key, None)
    call.answer({"key": key, "unset": True}, ())
    call.remark(f"Removed the note {key}.")


def _note(scope: leporello.Scoped, key: str) -> Any:
    value = scope.note(key)
    if value is None:
        raise NotFound(f"There is no note {key!r} in this scope.", hint="`leporello notes` lists the notes.")
    return value


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@group(app, "pins", example="leporello pins --session s1")
def pins(call: Call) -> None:
    """Pins stand verbatim in front of every context of a session; alone, this lists them."""
    if call.context.invoked_subcommand is None:
        list_pins(call)


@command(pins, "list", example="leporello pins list --session s1")
def list_pins(call: Call) -> None:
    """List the pins of the session, in the order in which they were set."""
    with call.session(empty=True) as session:
        found = session.pins()
    call.answer({"session": call.settings.session, "pins": list(found)}, (f"- {p}" for p in found))


@command(pins, "add", example='leporello pins add "Never touch the production database." --session s1')
def add_pin(call: Call, text: Annotated[str, typer.Argument(help="A goal or a constraint; - reads standard input.")]) -> None:
    """Keep a text verbatim in front of every context of the session."""
    pin = text_of(text)
    with call.session(new=True, empty=True) as session:
        session.pin(pin)
    call.answer({"session": call.settings.session, "pin": pin}, ())
    call.remark("Pinned.")


@command(pins, "remove", example='leporello pins remove "Never touch the production database." --session s1')
def remove_pin(call: Call, text: Annotated[str, typer.Argument(help="The text of the pin, as `leporello pins` lists it.")]) -> None:
    """Take a pin away."""
    with call.session(empty=True) as session:
        if text not in session.pins():
            raise NotFound("There is no such pin in this session.", hint="`leporello pins` lists them; give the text exactly.")
        session.unpin(text)
    call.answer({"session": call.settings.session, "removed": text}, ())
    call.remark("Removed the pin.")


@command(app, "import", example="leporello import session.jsonl --user alice")
def import_(
    call: Call,
    paths: Annotated[list[str], typer.Argument(help="Files, or folders whose files are read.")],
    *,
    format: Annotated[str | None, typer.Option("--format", help="The format; recognised by the content if not given.")] = None,
    quarantine: Annotated[
        str | None, typer.Option("--quarantine", help="Where lines go that cannot be read, when there is one file.")
    ] = None,
) -> None:
    """Read transcripts and memory files into the scope; a second import adds only what is new.

    Read are sessions of Claude Code, Codex and pi, message lists of Anthropic and OpenAI, Responses items, LoCoMo-like
    conversations, memory entries in JSON Lines, and notes in Markdown. A line that cannot be read goes to a quarantine file.
    """
    files = [(f, inside) for path in paths for f, inside in _files(path)]
    if quarantine is not None and len(files) != 1:
        raise UsageError("--quarantine names one file's quarantine.", hint="Import the files one by one, or leave it out.")
    done: list[tuple[str, leporello.ImportReport]] = []
    refused: list[tuple[str, FormatError]] = []
    with call.scope(new=True) as scope, _progress(call) as watch:
        for file, inside in files:
            try:
                done.append((file, scope.import_(file, format=format, quarantine=quarantine, progress=watch(file))))
            except FormatError as error:
                if not inside:
                    raise
                refused.append((file, error))
    sums = {n: sum(getattr(r, n) for _, r in done) for n in ("seen", "stored", "already", "quarantined", "skipped")}
    value = {
        **sums,
        "files": [{"path": f, **r.to_dict()} for f, r in done],
        "not_read": [{"path": f, "error": e.to_dict()} for f, e in refused],
    }
    call.answer(value, _import_lines(done, refused))


def _files(path: str) -> Iterator[tuple[str, bool]]:
    """The file itself, or every file below a folder, in order; and whether it was found in a folder."""
    folder = Path(path)
    if "\x00" in path or not folder.is_dir():
        yield path, False
        return
    for file in sorted(folder.rglob("*")):
        if file.is_file() and not any(p.startswith(".") for p in file.relative_to(folder).parts):
            yield str(file), True


@contextmanager
def _progress(call: Call) -> Iterator[Callable[[str], Callable[[int, int], None] | None]]:
    """A bar for each file, on a terminal only."""
    screen = output.console(sys.stderr)
    if call.settings.json or call.settings.quiet or not screen.is_terminal:
        yield lambda file: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, transient=True) as bar:

        def watch(file: str) -> Callable[[int, int], None]:
            task = bar.add_task(output.seen(output.clip(Path(file).name, at=40)), total=None)
            return lambda done, total: bar.update(task, completed=done, total=total or None)

        yield watch


def _import_lines(done: list[tuple[str, leporello.ImportReport]], refused: list[tuple[str, FormatError]]) -> Iterator[RenderableType]:
    for file, r in done:
        counts = [f"{r.seen} messages", f"{r.stored} stored"]
        counts += [f"{n} {what}" for n, what in ((r.already, "there already"), (r.quarantined, "quarantined")) if n]
        yield head((file, "bold"), r.format, ", ".join(counts))
        if r.sessions:
            yield body(f"sessions: {output.clip(', '.join(r.sessions))}")
        if r.quarantine_file:
            yield body(f"what could not be read is in {r.quarantine_file}", style="yellow")
    for file, error in refused:
        yield head((file, "bold"), ("not read", "yellow"), error.detail)


@command(app, "export", example="leporello export out/ --user alice")
def export(
    call: Call,
    folder: Annotated[str, typer.Argument(help="Where to; it is made if need be.")],
    *,
    format: Annotated[
        str,
        typer.Option("--format", help="original: messages equal to those that came in; memory-jsonl: the facts as an agent's memory file."),
    ] = "original",
    as_of: AsOf = None,
    believed_at: BelievedAt = None,
) -> None:
    """Write the messages of each session, as they came in, to JSON files in a folder, and the facts beside them.

    The file facts.jsonl holds a fact on each line, with its history: every fact, or at a moment those that held then.
    """
    with call.scope() as scope:
        count = scope.export(folder, format=format, as_of=as_of, believed_at=believed_at)
    what = "messages" if format == "original" else "facts"
    call.answer({"folder": folder, what: count}, [f"{count} {what} written to {folder}"])


@command(app, "erase", example="leporello erase m_0123abcd --user alice")
def erase(
    call: Call,
    ids: Annotated[list[str] | None, typer.Argument(help="Ids of messages, episodes or facts.")] = None,
    *,
    all: Annotated[bool, typer.Option("--all", help="Everything that belongs to the scope given.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Erase records with all that rests on them, from every file of the store. It cannot be undone.

    The answer is a receipt: how many of which kind, a hash over the ids, when. With --all, what belongs to the scope
    options given goes: `--user bob --all` takes every record of Bob.
    """
    if all == bool(ids):
        raise UsageError("Name what to erase: ids, or --all.", hint="See leporello erase --help.")
    with call.scope() as scope:
        if all and not yes and not _confirmed(scope):
            call.remark("Nothing was erased.")
            raise typer.Exit(1)
        receipt = scope.erase_all() if all else scope.erase(*(ids or ()))
    call.answer(receipt.to_dict(), _receipt_lines(receipt))


def _receipt_lines(receipt: leporello.Receipt) -> Iterator[RenderableType]:
    counts = ", ".join(f"{n} {kind}" for kind, n in receipt.counts.items()) or "nothing"
    yield head((f"Erased {receipt.total} records", "bold"), when(receipt.at))
    yield body(f"rows: {counts}")
    yield body(f"SHA-256 of the ids: {receipt.ids_sha256}")
    if receipt.note:
        yield body(receipt.note, style="yellow")


def _confirmed(scope: leporello.Scoped) -> bool:
    """Asks on a terminal; elsewhere `--yes` is needed."""
    whose = ", ".join(f"{k}={v}" for k, v in scope.scope.to_dict().items() if v is not None)
    if not sys.stdin.isatty():
        raise UsageError(f"This would erase everything of {whose}.", hint="Add --yes if that is meant.")
    return typer.confirm(output.seen(f"Erase everything of {whose}?"), err=True)

"""The options that commands share, and how a function becomes a command.

Those that every command takes may stand before its name or after it.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from leporello.entrypoints.calls import Call, Settings

Command = Callable[..., None]
AsOf = Annotated[str | None, typer.Option("--as-of", help="Only what was said, or true, at that moment.")]
BelievedAt = Annotated[str | None, typer.Option("--believed-at", help="Only what the store held at that moment.")]
Full = Annotated[bool, typer.Option("--full", help="Do not clip long texts.")]
_PANEL = "Options that stand before or after the command"
_ALSO = "Also: --db, --key-file, --tenant, --user, --agent, --project, --session, --json, --quiet (see leporello --help)."


@dataclass(frozen=True)
class _Given:
    """One shared option: the name of its setting, its type, its flags and its help."""

    name: str
    kind: Any
    flags: tuple[str, ...]
    help: str

    def parameter(self, *, hidden: bool) -> inspect.Parameter:
        option = typer.Option(*self.flags, help=self.help, rich_help_panel=_PANEL, hidden=hidden)
        default = False if self.kind is bool else None
        return inspect.Parameter(self.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[self.kind, option])


_SHARED = (
    _Given("db", str | None, ("--db",), "The store's file; without it $LEPORELLO_DB, else memory.db here."),
    _Given("key_file", str | None, ("--key-file",), "A file whose first line is the store's key; without it $LEPORELLO_KEY."),
    _Given("tenant", str | None, ("--tenant",), "Whose memory: the tenant ('default' if not given)."),
    _Given("user", str | None, ("--user",), "Whose memory: the user."),
    _Given("agent", str | None, ("--agent",), "Whose memory: the agent."),
    _Given("project", str | None, ("--project",), "Whose memory: the project."),
    _Given("session", str | None, ("--session",), "Whose memory: the session."),
    _Given("json", bool, ("--json",), "Print one JSON object; errors as JSON too."),
    _Given("quiet", bool, ("--quiet", "-q"), "No remarks and no progress, only the result."),
)


def command(app: typer.Typer, name: str, *, example: str, passing: bool = False) -> Callable[[Command], Command]:
    """Registers a function as a command that also takes the shared options.

    The function gets a `Call` first, then what it declares. Its docstring is the purpose in the help; `example` follows it.
    `passing` hands unknown options on as arguments.
    """

    def register(function: Command) -> Command:
        settings = {"allow_extra_args": True, "ignore_unknown_options": True} if passing else {}
        text = f"{inspect.getdoc(function)}\n\nExample: {example}"
        app.command(name, help=text, short_help=_first_line(function), epilog=_ALSO, context_settings=settings)(
            _with_shared(function, hidden=True)
        )
        return function

    return register


def group(app: typer.Typer, name: str, *, example: str) -> Callable[[Command], typer.Typer]:
    """Registers a group of commands; its function runs when none of them is named."""

    def register(function: Command) -> typer.Typer:
        made = typer.Typer(no_args_is_help=False)
        text = f"{inspect.getdoc(function)}\n\nExample: {example}"
        made.callback(invoke_without_command=True, help=text, short_help=_first_line(function), epilog=_ALSO)(
            _with_shared(function, hidden=True)
        )
        app.add_typer(made, name=name)
        return made

    return register


def root(app: typer.Typer) -> Callable[[Command], Command]:
    """Registers the function of the program itself, with the shared options shown in its help."""

    def register(function: Command) -> Command:
        app.callback(invoke_without_command=True, help=inspect.getdoc(function))(_with_shared(function, hidden=False))
        return function

    return register


def _with_shared(function: Command, *, hidden: bool) -> Command:
    """A function with the shared options in its signature; they join those that were given further left."""
    own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]

    def run(context: typer.Context, **given: Any) -> None:
        here = Settings(**{s.name: given.pop(s.name) for s in _SHARED})
        context.obj = here.over(context.obj or Settings())
        function(Call(context.obj, context), **given)

    first = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    shared = [s.parameter(hidden=hidden) for s in _SHARED]
    run.__name__ = function.__name__
    run.__signature__ = inspect.Signature([first, *own, *shared])  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in (first, *own, *shared)}
    return run


def _first_line(function: Command) -> str:
    return (inspect.getdoc(function) or "").split("\n")[0]


assert [s.name for s in _SHARED] == [f.name for f in dataclasses.fields(Settings)]

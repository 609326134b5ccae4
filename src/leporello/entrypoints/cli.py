"""The command line: `leporello …`. Exit codes: 0 done, 1 refused or failed, 2 usage, 130 interrupted."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

import leporello
from leporello.entrypoints import (
    commands_facts,
    commands_find,
    commands_fold,
    commands_forget,
    commands_keep,
    commands_store,
    commands_tiers,
    commands_write,
    output,
)
from leporello.entrypoints.calls import Call, UsageError
from leporello.entrypoints.options import root
from leporello.errors import LeporelloError

app = typer.Typer(name="leporello", pretty_exceptions_enable=False, context_settings={"help_option_names": ["--help", "-h"]})


@root(app)
def leporello_(call: Call, *, version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """A memory for AI agents, in one file: conversations fold into episodes and facts, and unfold again.

    Start with `leporello demo`, or with `leporello remember TEXT` and `leporello recall QUESTION`.
    """
    if version:
        call.answer({"version": leporello.__version__}, [f"leporello {leporello.__version__}"])
    elif call.context.invoked_subcommand is None:
        print(call.context.get_help())


for part in (commands_write, commands_find, commands_facts, commands_tiers, commands_fold, commands_keep, commands_forget, commands_store):
    app.add_typer(part.app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code; `arguments` are those of the process, if not given."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    output.tidy()
    as_json = "--json" in given[: given.index("--")] if "--" in given else "--json" in given
    try:
        code = app(args=given, prog_name="leporello", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except LeporelloError as error:
        output.put_error(error.to_dict(), as_json=as_json)
        return 1
    except typer.TyperException as error:
        output.put_error(_usage(error), as_json=as_json)
        return error.exit_code
    except BrokenPipeError:
        # whoever read has gone; nothing more may be flushed at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        output.put_error({"type": "OSError", "message": str(error), "hint": "The output or a file could not be written."}, as_json=as_json)
        return 1
    except (KeyboardInterrupt, typer.Abort):
        return 130


def _usage(error: typer.TyperException) -> dict[str, str]:
    """A usage error in the shape of ours; its hint names the help of the command that was meant."""
    if isinstance(error, UsageError):
        return {"type": "UsageError", "message": error.message, "hint": error.hint}
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "leporello"
    return {"type": "UsageError", "message": error.format_message(), "hint": f"See {command} --help."}


if __name__ == "__main__":
    sys.exit(main())

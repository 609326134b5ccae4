"""Write the pages of docs/reference from the code. `--check` writes nothing and fails when a page is out of date."""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

import leporello
from leporello import errors, policies, ports
from leporello.adapters import models
from leporello.core.loop.settings import LoopSettings
from leporello.entrypoints import cli
from leporello.loop import LoopOptions
from leporello.records import Record

REFERENCE = Path(__file__).resolve().parent.parent / "docs" / "reference"
MODELS = (models.ModelCompactor, models.NativeAnthropic, models.NativeOpenAI)
"""What `leporello.adapters.models` has for callers, beside `compactor`."""
MADE = "Made from the code by `make docs`; do not edit.\n"


def api() -> str:
    """Every name that the package exports, with its public methods."""
    out = ["# Python reference\n", MADE, "`leporello.aio` has the same names; there each call is awaited.\n"]
    for name in sorted(n for n in leporello.__all__ if not n.startswith("__")):
        value = getattr(leporello, name)
        if inspect.isclass(value):
            out += [] if _is_error(value) else _class(value)
        elif callable(value):
            out += [f"## `{name}{_signature(value)}`\n", f"{inspect.getdoc(value)}\n"]
    out += [*_options(), *_models()]
    shown = [f"`{n}`" for n in leporello.__all__ if _is_error(getattr(leporello, n))]
    out += ["## Errors\n", f"{', '.join(shown)}: see [errors](errors.md).\n"] if shown else []
    return "\n".join(out)


def _options() -> list[str]:
    """What `session(…)` takes for the agent loop, with defaults."""
    defaults = {f.name: f"`{f.default!r}`" for f in dataclasses.fields(LoopSettings)}
    out = ["## LoopOptions\n", f"{inspect.getdoc(LoopOptions)}\n", f"{inspect.getdoc(LoopSettings)}\n"]
    out += ["| option of `session(…)` | type | default |", "|---|---|---|"]
    return [
        *out,
        *(f"| `{n}` | `{_cell(_written(t))}` | {defaults.get(n, '`None`')} |" for n, t in LoopOptions.__annotations__.items()),
        "",
    ]


def _written(annotation: Any) -> str:
    """An annotation as it stands in the code."""
    return str(getattr(annotation, "__forward_arg__", annotation))


def _models() -> list[str]:
    """The compactors by model and the providers' own compaction."""
    out = [f"## `leporello.adapters.models.compactor{_signature(models.compactor)}`\n", f"{inspect.getdoc(models.compactor)}\n"]
    for kind in MODELS:
        out += [f"## `leporello.adapters.models.{kind.__name__}{_signature(kind)}`\n", f"{inspect.getdoc(kind)}\n", *_methods(kind)]
    return out


def _is_error(value: object) -> bool:
    return inspect.isclass(value) and issubclass(value, errors.LeporelloError)


def _class(kind: type) -> list[str]:
    out = [f"## {kind.__name__}\n", f"{inspect.getdoc(kind)}\n"]
    if dataclasses.is_dataclass(kind):
        out += ["| field | type | default |", "|---|---|---|", *_fields(kind), ""]
    return out + _methods(kind)


def _methods(kind: type) -> list[str]:
    """A line for each public property and method, those of a base that is no port and no record too."""
    out: list[str] = []
    bases = [
        b for b in kind.__mro__[:0:-1] if b.__module__.startswith("leporello.") and b not in {Record} and b.__module__ != ports.__name__
    ]
    members = {n: m for b in (*bases, kind) for n, m in vars(b).items()}
    for name, member in sorted(members.items()):
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            out += [f"- **`.{name}`** {_line(member.fget)}"]
        elif inspect.isfunction(member) or isinstance(member, (classmethod, staticmethod)):
            function = member if inspect.isfunction(member) else member.__func__
            out += [f"- **`.{name}{_signature(function)}`** {_line(function)}"]
    return [*out, ""] if out else out


def _fields(kind: Any) -> Iterator[str]:
    for field in dataclasses.fields(kind):
        if not field.name.startswith("_"):
            yield f"| `{field.name}` | `{_cell(str(field.type))}` | {_default(field)} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return f"`{_cell(repr(field.default))}`"
    if field.default_factory is dataclasses.MISSING:
        return ""
    made = field.default_factory()
    told = not dataclasses.is_dataclass(made) and " object at 0x" not in repr(made)  # an address differs each time
    return f"`{_cell(repr(made))}`" if told else "its own defaults"


def _signature(function: Callable[..., Any]) -> str:
    text = str(inspect.signature(function))
    return re.sub(r"\((self|cls)(, )?", "(", text).replace("'", "")


def _line(function: Callable[..., Any] | None) -> str:
    return " ".join((inspect.getdoc(function) or "").split())


def errors_page() -> str:
    """The tree of errors, and each with its message."""
    tree = (errors.__doc__ or "").split("\n\n", 1)[1].strip()
    kinds = [v for v in vars(errors).values() if _is_error(v)]
    rows = [f"| `{k.__name__}` | {_line(k)} |" for k in kinds]
    intro = "The message of an error says what to do. `.to_dict()` gives `{type, message, hint}`, which is what `--json` prints.\n"
    return "\n".join(["# Errors\n", MADE, intro, "```text", tree, "```\n", "| error | what it says |", "|---|---|", *rows, ""])


def policies_page() -> str:
    """Every setting with its default."""
    out = ["# Policies\n", MADE, 'Pass them to `open(policies={"fold": {"l1_turns": 30}})`, or as `Policies`.\n']
    for name, kind in sorted(vars(policies).items()):
        if dataclasses.is_dataclass(kind) and isinstance(kind, type):
            out += [f"## {name}\n", f"{inspect.getdoc(kind)}\n", "| setting | type | default |", "|---|---|---|", *_fields(kind), ""]
    return "\n".join(out)


def ports_page() -> str:
    """What a store, an embedder, a compactor and a clock must do."""
    out = ["# Ports\n", MADE, f"{inspect.getdoc(ports)}\n"]
    for value in vars(ports).values():
        if inspect.isclass(value) and value.__module__ == ports.__name__:
            out += _class(value)
    return "\n".join(out)


def cli_page() -> str:
    """Every command with its help, arguments and options."""
    program = get_command(cli.app)
    return "\n".join(["# Command line\n", MADE, *_command(program, "leporello")])


def _command(command: Any, name: str) -> Iterator[str]:
    yield from (f"## `{name}`\n", f"{inspect.cleandoc(command.help or '')}\n")
    shown = [p for p in command.params if not getattr(p, "hidden", False)]
    if shown:
        yield from ("| argument or option | default | meaning |", "|---|---|---|", *map(_parameter, shown), "")
    for part, inner in sorted(getattr(command, "commands", {}).items()):
        if not inner.hidden:
            yield from _command(inner, f"{name} {part}")


def _parameter(parameter: Any) -> str:
    argument = parameter.param_type_name == "argument"
    name = parameter.name.upper() if argument else ", ".join([*parameter.opts, *parameter.secondary_opts])
    unset = parameter.default in (None, False, (), []) or callable(parameter.default)
    default = "required" if parameter.required else "" if unset else f"`{parameter.default}`"
    return f"| `{name}` | {default} | {_cell(parameter.help or '')} |"


PAGES: dict[str, Callable[[], str]] = {"api": api, "cli": cli_page, "errors": errors_page, "policies": policies_page, "ports": ports_page}


def main(arguments: list[str]) -> int:
    """Write all pages, or compare them; 1 if one is out of date."""
    stale = []
    for name, make in PAGES.items():
        path, text = REFERENCE / f"{name}.md", make()
        if "--check" not in arguments:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(f"docs/reference/{name}.md is out of date: run `make docs`.")
    print("\n".join(stale) or f"{len(PAGES)} pages are up to date.")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

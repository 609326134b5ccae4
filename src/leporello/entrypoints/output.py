"""What is printed: one JSON object, or readable text. Text that is not ours can never steer the terminal."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TextIO

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

# Control characters except newline and tab, marks that turn the direction of writing, and lone surrogates.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SHORT = 280


def seen(text: str) -> str:
    r"""Text as a terminal may have it: a control character is shown as `\x1b`, a lone surrogate as `\ud83d`."""
    return _UNSEEN.sub(_escape, text.replace("\r\n", "\n"))


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def clip(text: str, *, at: int = _SHORT) -> str:
    """At most `at` characters on one line, cut after a word where there is one, with an ellipsis for what was left out."""
    line = " ".join(text[: at * 4].split())
    if len(line) <= at and len(text) <= at * 4:
        return line
    kept = line[: at - 2]
    whole = kept.rpartition(" ")[0]
    return (whole if len(whole) > at // 2 else kept).rstrip() + " …"


def when(at: datetime | None) -> str:
    """An instant to the second, with its offset."""
    return "" if at is None else at.isoformat(timespec="seconds")


def tidy() -> None:
    """Lets the standard streams take every text; what they cannot encode is shown escaped."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def console(stream: TextIO | None = None) -> Console:
    """A console on a stream (standard output, if not given): colour and width are those of the terminal, if it is one."""
    return Console(file=stream or sys.stdout, highlight=False, markup=False, emoji=False)


def put_json(value: Mapping[str, Any], *, stream: TextIO | None = None) -> None:
    """One JSON object on one line, in ASCII: lone surrogates and every script survive any encoding of the stream."""
    try:
        text = json.dumps(value, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), allow_nan=False)
    print(text, file=stream or sys.stdout)


def _finite(value: Any) -> Any:
    """The value with null for what JSON has no number for; a message may hold a NaN that came so from elsewhere."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {k: _finite(v) for k, v in value.items()}
    return [_finite(v) for v in value] if isinstance(value, (list, tuple)) else value


def put_lines(lines: Iterable[RenderableType]) -> None:
    """Renderables and texts, one after the other.

    A plain string is printed as it is; a head is not wrapped when a program reads it.
    """
    screen = console()
    for line in lines:
        if isinstance(line, str):
            print(seen(line) if screen.is_terminal else line)
        else:
            screen.print(line, soft_wrap=isinstance(line, Text) and not screen.is_terminal)


def head(*parts: str | tuple[str, str]) -> Text:
    """A line of parts (a text, or a text with its style), two spaces between them; empty parts are left out."""
    pairs = [(p, "") if isinstance(p, str) else p for p in parts]
    return Text("  ").join(Text(seen(text), style=style) for text, style in pairs if text)


@dataclass(frozen=True)
class Indented:
    """A text wrapped to the console, each line indented; nothing is padded on the right."""

    text: Text
    indent: int = 3

    def __rich_console__(self, screen: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.text.wrap(screen, max(20, options.max_width - self.indent), tab_size=4):
            line.rstrip()
            yield Text(" " * self.indent if line else "") + line


def body(text: str, *, indent: int = 3, style: str = "") -> Indented:
    """A text wrapped, below its head."""
    return Indented(Text(seen(text), style=style), indent)


def put_error(told: Mapping[str, str], *, as_json: bool) -> None:
    """`{type, message, hint}` on standard error: as JSON, or as a line with what happened and a line with what to do."""
    if as_json:
        put_json({"error": told}, stream=sys.stderr)
        return
    screen = console(sys.stderr)
    screen.print(Text.assemble(("Error: ", "bold red"), seen(clip(told["message"], at=2_000))), soft_wrap=True)
    if told["hint"] != told["message"]:
        screen.print(Text.assemble(("Hint: ", "bold"), seen(told["hint"])), soft_wrap=True)


def remark(text: str) -> None:
    """A remark beside the result, on standard error."""
    console(sys.stderr).print(Text(seen(text), style="dim"), soft_wrap=True)

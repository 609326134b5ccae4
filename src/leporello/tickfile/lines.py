"""The lines of a memory file: bytes in, entries out, and back. A line ends at a newline byte and nowhere else."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from leporello.formats import jsontext
from leporello.formats.entries import Unreadable

_BOM = b"\xef\xbb\xbf"
# What other programs take for the end of a line, or cannot write as UTF-8.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_MAYBE_HUGE = re.compile(r"\d{300}|[eE]\+?\d{3}")


@dataclass(frozen=True)
class Entry:
    """One entry: its fields, and the number of its line."""

    fields: dict[str, Any]
    number: int = 0

    @cached_property
    def key(self) -> str:
        """What names the entry: made of its fields but those of bookkeeping (`_…`), so that it stays the same."""
        return key_of(self.fields)


@dataclass(frozen=True)
class Line:
    """A line without its newline, from 1 on; `ended` is False for a last one that has none. `held` is None if it is blank."""

    number: int
    raw: bytes
    ended: bool
    held: Entry | Unreadable | None


def key_of(fields: Mapping[str, Any]) -> str:
    """Sixteen characters that name an entry by what it says."""
    said = {k: v for k, v in fields.items() if not k.startswith("_")}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]


def lines(data: bytes) -> Iterator[Line]:
    """Every line of the bytes of a file."""
    pieces = data.split(b"\n")
    last = len(pieces) - 1
    for i, raw in enumerate(pieces):
        if i < last or raw:
            yield Line(i + 1, raw, i < last, _held(raw, i + 1))


def _held(raw: bytes, number: int) -> Entry | Unreadable | None:
    text = raw.removeprefix(_BOM)
    if not text.strip(b" \t\r"):
        return None
    place = f"line {number}"
    told = jsontext.decoded(text)
    try:
        value = jsontext.parse(told)
    except jsontext.BadJson as error:
        return Unreadable(place, raw, str(error))
    if not isinstance(value, dict):
        return Unreadable(place, raw, "not an entry but a bare value")
    if _MAYBE_HUGE.search(told) and told.count("Infinity") != json.dumps(value).count("Infinity"):
        return Unreadable(place, raw, "a number is too large to be kept")
    return Entry(value, number)


def dumped(fields: Mapping[str, Any]) -> bytes:
    """The line of an entry, with its newline: readable as it is, except for what some programs split lines at, which is escaped."""
    return (_ESCAPED.sub(_escape, json.dumps(fields, ensure_ascii=False)) + "\n").encode()


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def set_aside(found: Unreadable, *, line: int, run: str) -> bytes:
    """The line of the quarantine file for a line that cannot be read: its text, or its bytes in base64 if they are no text."""
    record: dict[str, Any] = {"line": line, "why": found.why, "run": run}
    try:
        record["raw"] = found.raw.decode()
    except UnicodeDecodeError:
        record["base64"] = base64.b64encode(found.raw).decode()
    return dumped(record)


def raw_of(record: Mapping[str, Any]) -> bytes:
    """The bytes of the line that a record of the quarantine file holds."""
    return base64.b64decode(record["base64"]) if "base64" in record else str(record["raw"]).encode()


def tick_in(fields: Mapping[str, Any]) -> int | None:
    """The entry's tick, if it has one that is a number."""
    try:
        return int(fields["tick"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def text_of(fields: Mapping[str, Any]) -> str:
    """What the entry says: its summary, or the first field that is a text."""
    summary = fields.get("summary")
    if isinstance(summary, str):
        return summary
    return next((v for k, v in fields.items() if isinstance(v, str) and k in {"content", "text", "fact", "note", "value"}), "")

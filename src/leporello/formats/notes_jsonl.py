"""Scratchpad notes as JSON Lines: `{"key", "value", "ts", "confidence"}`, one object a line (R120).

Written in ASCII, so that no separator of Unicode inside a value can break a line. Lines are cut at newline bytes only.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from leporello.core.times import instant
from leporello.errors import BadTime
from leporello.formats import jsontext
from leporello.records import Record


@dataclass(frozen=True)
class NoteLine(Record):
    """One note: its key, a JSON value, when it was set, and its confidence from 0 to 1."""

    key: str
    value: Any
    ts: datetime
    confidence: float = 1.0


@dataclass(frozen=True)
class BadLine(Record):
    """A line that is no note: its number from 1, its text as it was, and why."""

    number: int
    raw: str
    why: str


def write(lines: Iterable[NoteLine]) -> str:
    """The notes as text, each line ended by a newline."""
    return "".join(json.dumps(line.to_dict(), ensure_ascii=True) + "\n" for line in lines)


def read(text: str | bytes) -> Iterator[NoteLine | BadLine]:
    """Each line that is not blank, as a note or with the reason why it is none. A byte order mark is skipped."""
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if line.strip():
            decoded = jsontext.decoded(line.rstrip(b"\r"))
            try:
                yield _note(jsontext.parse(decoded))
            except (jsontext.BadJson, BadTime) as error:
                yield BadLine(number, decoded, str(error))


def _note(value: Any) -> NoteLine:
    if not isinstance(value, dict):
        raise jsontext.BadJson("not an object")
    if unknown := sorted(set(value) - {"key", "value", "ts", "confidence"}):
        raise jsontext.BadJson(f"unknown fields: {', '.join(unknown):.100}")
    if not isinstance(value.get("key"), str) or not value["key"]:
        raise jsontext.BadJson("no key")
    if value.get("value") is None:
        raise jsontext.BadJson("no value")
    if "ts" not in value:
        raise jsontext.BadJson("no ts")
    sure = value.get("confidence", 1.0)
    if isinstance(sure, bool) or not isinstance(sure, (int, float)) or not 0 <= sure <= 1:
        raise jsontext.BadJson("confidence is no number from 0 to 1")
    return NoteLine(value["key"], value["value"], instant(value["ts"]), float(sure))

"""JSON as it is found in logs: strict about what would lose something, tolerant of what would not.

Taken: NaN and infinities, lone surrogates, raw control characters in strings. Refused, each with the reason: bytes that
are not UTF-8, a key that an object has twice (one value would be lost), and nesting deeper than `MAX_DEPTH`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MAX_DEPTH = 100

_SPACE = re.compile(r"[ \t\r\n]*")
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{},]', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


class BadJson(ValueError):
    """The text is not JSON that can be kept: the message says why."""


@dataclass(frozen=True)
class Element:
    """One line of a JSONL file or one element of an array: its value, or why it has none.

    `index` is its place in the file as a number that stays the same when the file grows.
    """

    place: str
    index: int
    raw: bytes
    value: Any = None
    why: str | None = None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) == len(pairs):
        return made
    twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
    raise BadJson(f"the key {twice[:40]!r} is there twice")


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, strict=False)


def parse(text: str) -> Any:
    """The value of `text`. Raises `BadJson`."""
    if (broken := _SURROGATE.search(text)) is not None:
        raise BadJson(f"the bytes at character {broken.start() + 1} are not UTF-8")
    try:
        value = _DECODER.decode(text)
    except BadJson:
        raise
    except json.JSONDecodeError as error:
        raise BadJson(f"not JSON: {error.msg} at character {error.pos + 1}") from error
    except ValueError as error:
        raise BadJson(f"not JSON that can be kept: {error}") from error
    except RecursionError as error:
        raise BadJson(f"nested deeper than {MAX_DEPTH} levels") from error
    if text.count("[") + text.count("{") > MAX_DEPTH and _too_deep(value):
        raise BadJson(f"nested deeper than {MAX_DEPTH} levels")
    return value


def element(place: str, index: int, text: str) -> Element:
    """The element that `text` is."""
    try:
        return Element(place, index, encoded(text), parse(text))
    except BadJson as error:
        return Element(place, index, encoded(text), why=str(error))


def encoded(text: str) -> bytes:
    """The bytes that `text` was decoded from."""
    return text.encode("utf-8", "surrogateescape")


def decoded(raw: bytes) -> str:
    """Text from which `encoded` gives `raw` back; what is not UTF-8 becomes lone surrogates."""
    return raw.decode("utf-8", "surrogateescape")


def array(text: str, start: int, name: str = "", *, last: bool = True) -> Iterator[Element]:
    """The elements of the array that opens at `start`, each read on its own: a bad one does not take the others along.

    An array that is not closed ends with an element that says so. With `last`, nothing may follow the array.
    """
    at = skip_space(text, start + 1)
    index = 0
    whole = True
    while at < len(text) and text[at] != "]":
        end = after(text, at)
        end = end if end > at else len(text)
        found = element(f"{name}[{index}]", index, text[at:end].rstrip())
        whole = found.why is None
        yield found
        at = skip_space(text, end)
        if at < len(text) and text[at] == ",":
            at = skip_space(text, at + 1)
        index += 1
    rest = text[at + 1 :].strip()
    if at >= len(text) and whole:
        yield Element("end", -1, b"", why="the array is not closed")
    elif last and rest:
        yield Element("end", -1, encoded(rest), why="text after the array")


def members(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """The key, and where its value starts and ends, of each member of the object that opens at `start`; ends where it breaks."""
    at = skip_space(text, start + 1)
    while at < len(text) and text[at] == '"':
        try:
            key, at = _DECODER.raw_decode(text, at)
        except json.JSONDecodeError:
            return
        at = skip_space(text, at)
        if text[at : at + 1] != ":":
            return
        begin = skip_space(text, at + 1)
        end = after(text, begin)
        yield key, begin, end
        at = skip_space(text, end)
        if text[at : at + 1] == ",":
            at = skip_space(text, at + 1)


def skip_space(text: str, at: int) -> int:
    """The first place from `at` on that is not white space."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


def after(text: str, at: int) -> int:
    """Where the value that starts at `at` ends: before a comma or a bracket that is not its own, or at the end."""
    depth = 0
    for token in _TOKEN.finditer(text, at):
        mark = token.group()
        if mark in "[{":
            depth += 1
        elif mark in "]}":
            if depth == 0:
                return token.start()
            depth -= 1
            if depth == 0:
                return token.end()
        elif mark == "," and depth == 0:
            return token.start()
    return len(text)


def glimpse(text: str, at: int = 0, depth: int = 5) -> Any:
    """As much of the value at `at` as can be read, of a text that may be cut off or broken further on."""
    at = skip_space(text, at)
    opening = text[at : at + 1]
    if depth == 0 or opening not in {"[", "{"}:
        try:
            return _DECODER.raw_decode(text, at)[0]
        except (ValueError, RecursionError):
            return None
    if opening == "{":
        return {key: glimpse(text, begin, depth - 1) for key, begin, _ in members(text, at)}
    seen: list[Any] = []
    place = skip_space(text, at + 1)
    while place < len(text) and text[place] != "]" and len(seen) < 50:
        seen.append(glimpse(text, place, depth - 1))
        place = skip_space(text, after(text, place))
        if text[place : place + 1] == ",":
            place = skip_space(text, place + 1)
        elif text[place : place + 1] != "]":
            break
    return seen


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner for outer in level for inner in (outer.values() if isinstance(outer, dict) else outer) if isinstance(inner, (dict, list))
        ]
        if not level:
            return False
    return True


def dumped(value: Any) -> bytes:
    """`value` as JSON bytes, for what has no bytes of its own in the file."""
    return json.dumps(value, ensure_ascii=True).encode()

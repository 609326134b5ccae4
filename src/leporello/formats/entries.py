"""What a reader yields, and what a format is."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, get_args

from leporello.core.blocks import role_of
from leporello.core.times import instant
from leporello.errors import BadMessage, BadTime
from leporello.formats.source import Source
from leporello.records import Draft, FactKind, Record, Trust


@dataclass(frozen=True)
class Learnt(Record):
    """A fact-like entry of a memory file: one statement, kept with the whole mapping that it stood in.

    `under` is the path of headings (or the entity) above it. `kind` is the file's own word for what it is. `importance`
    is high, medium or low, if the file says one of them. `tick` is a step counter, when the file counts steps. `origin`
    is made of the content alone: the same entry elsewhere in the file, or in a file that has grown, has the same one.
    """

    text: str
    original: Mapping[str, Any]
    origin: str
    under: tuple[str, ...] = ()
    at: datetime | None = None
    tick: int | None = None
    kind: str = "fact"
    importance: str | None = None
    tags: tuple[str, ...] = ()
    source: str | None = None

    @property
    def statement(self) -> str:
        """The text with what it stands under in front, so that it can be understood alone."""
        return ": ".join((" › ".join(self.under), self.text)) if self.under else self.text

    @property
    def fact_kind(self) -> FactKind:
        """`kind` if facts have such a kind, otherwise fact."""
        return self.kind if self.kind in get_args(FactKind) else "fact"  # type: ignore[return-value]


@dataclass(frozen=True)
class Unreadable:
    """A line or an element that cannot be read: where it is, its bytes as they are in the file, and why."""

    place: str
    raw: bytes
    why: str


@dataclass(frozen=True)
class Skipped:
    """A record that holds no message: where it is, and `why`, which is its own name for its kind."""

    place: str
    why: str


_INSERTED = re.compile(r"\s*(<(?!command-)(?P<tag>[a-z]+([_ -][a-z]+)+)>.*</(?P=tag)>\s*$|# AGENTS\.md instructions)", re.DOTALL)

Entry = Draft | Learnt | Unreadable | Skipped


@dataclass(frozen=True)
class Format:
    """A format: `name` for the command line, `title` for people, and whether it is read or only recognised.

    A format that is `asked` for is read only when it is named: its layout was seen in too few files to be guessed safely.
    """

    name: str
    title: str
    reads: bool
    read: Callable[[Source], Iterator[Entry]] = field(repr=False)
    asked: bool = False


def digest(value: object) -> str:
    """16 hexadecimal digits that depend on the JSON content of `value` alone, not on its layout or its key order."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=True).encode()).hexdigest()[:16]


def when(value: object) -> datetime | None:
    """The instant that a file states, or None if it states none that can be read."""
    try:
        return instant(value)
    except BadTime:
        return None


def text_in(mapping: Mapping[str, Any], *keys: str) -> str | None:
    """The first value under `keys` that is a string with something in it."""
    return next((v for k in keys if isinstance(v := mapping.get(k), str) and v.strip()), None)


def refusal(message: object) -> str | None:
    """Why `message` cannot be kept as a message, or None if it can."""
    if not isinstance(message, dict):
        return f"not a message but {_article(message)}"
    try:
        role_of(message)
    except BadMessage as error:
        return error.detail
    return None


def message_name(message: Mapping[str, Any]) -> str | None:
    """The speaker's name that a chat message may carry; on the result of a call, `name` is the tool's."""
    return text_in(message, "name") if message.get("role") in {"user", "assistant", "system", "developer"} else None


def drafted(message: dict[str, Any], origin: str, *, session: str | None = None, at: object = None, trust: Trust | None = None) -> Draft:
    """A draft of `message` at the instant that `at` states, if it states one."""
    return Draft(message, name=message_name(message), at=when(at), session=session, origin=origin, trust=trust)


def inserted(message: Mapping[str, Any]) -> bool:
    """True for a user message that the agent's program wrote: one block in a tag such as `<environment_context>`, or its rules."""
    content = message.get("content")
    if isinstance(content, list) and content and isinstance(content[0], dict):
        content = content[0].get("text")
    return message.get("role") == "user" and isinstance(content, str) and _INSERTED.match(content) is not None


def _article(value: object) -> str:
    names = {type(None): "null", bool: "a truth value", int: "a number", float: "a number", str: "a string", list: "an array"}
    return names.get(type(value), f"a {type(value).__name__}")

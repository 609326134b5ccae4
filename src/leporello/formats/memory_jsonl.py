"""Memory files of agents, one entry a line: `{"tick", "time", "type", "summary", "tags", "importance"}` and its relatives.

An entry is any object with a text; fields that are not understood are kept. The graph of the MCP reference memory
server is read too: each observation of an entity is one entry, and so is each relation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from leporello.formats import jsontext
from leporello.formats.entries import Entry, Learnt, Unreadable, digest, text_in, when
from leporello.formats.source import Source

TEXTS = ("summary", "content", "text", "fact", "memory", "statement", "observation", "note", "value")
TIMES = ("time", "timestamp", "at", "ts", "created_at", "createdAt", "date", "updated_at", "updated")
_LEVELS = {"high", "medium", "low"}


def read(source: Source) -> Iterator[Entry]:
    """Every entry of the file."""
    for found in source.elements():
        entry = found.value
        if found.why is not None or not isinstance(entry, dict):
            yield Unreadable(found.place, found.raw, found.why or "not an entry but a bare value")
        elif is_entity(entry):
            yield from _entity(entry, found.place)
        elif is_relation(entry):
            yield learnt(f"{entry['from']} {entry['relationType']} {entry['to']}", entry, kind="relation")
        elif (text := entry_text(entry)) is not None:
            yield learnt(text, entry, kind=text_in(entry, "type", "kind") or "fact")
        else:
            yield Unreadable(found.place, found.raw, "an entry without a text")


def is_entity(entry: Mapping[str, Any]) -> bool:
    """True for an entity of a memory graph."""
    return isinstance(entry.get("name"), str) and isinstance(entry.get("observations"), list)


def is_relation(entry: Mapping[str, Any]) -> bool:
    """True for a relation of a memory graph."""
    return all(isinstance(entry.get(k), str) for k in ("from", "to", "relationType"))


def entry_text(entry: Mapping[str, Any]) -> str | None:
    """What the entry says; for a keyed value, the key in front."""
    text = text_in(entry, *TEXTS)
    key = text_in(entry, "key")
    return f"{key}: {text}" if key and text and "value" in entry else text


def learnt(text: str, entry: Mapping[str, Any], *, kind: str, under: tuple[str, ...] = (), said: Mapping[str, Any] | None = None) -> Learnt:
    """The entry with the fields that many files share.

    `said` is what makes it the same entry when it is read again: all of it but bookkeeping fields (`_…`) by default.
    """
    identity = said if said is not None else {k: v for k, v in entry.items() if not k.startswith("_")}
    importance = entry.get("importance", entry.get("priority"))
    level = importance.strip().lower() if isinstance(importance, str) else None
    return Learnt(
        text=text,
        original=dict(entry),
        origin=digest([list(under), text, identity]),
        under=under,
        at=_time(entry),
        tick=_whole(entry.get("tick")),
        kind=kind,
        importance=level if level in _LEVELS else None,
        tags=_tags(entry.get("tags", entry.get("keywords"))),
        source=text_in(entry, "source", "_source"),
    )


def _entity(entry: dict[str, Any], place: str) -> Iterator[Entry]:
    name = entry["name"]
    kind = text_in(entry, "entityType") or "entity"
    if not entry["observations"]:
        yield learnt(f"{name}: {kind}", entry, kind=kind)
    for seen in entry["observations"]:
        text = seen if isinstance(seen, str) else text_in(seen, *TEXTS) if isinstance(seen, dict) else None
        if text is None or not text.strip():
            yield Unreadable(place, jsontext.dumped(seen), "an observation without a text")
            continue
        dated = {k: v for k, v in seen.items() if k in TIMES} if isinstance(seen, dict) else {}
        yield learnt(f"{name}: {text}", {**entry, **dated, "observations": [seen]}, kind=kind)


def _time(entry: Mapping[str, Any]) -> datetime | None:
    return next((at for k in TIMES if k in entry and (at := when(entry[k])) is not None), None)


def _whole(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 18 else None


def _tags(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(filter(None, (t.strip() for t in value.split(","))))
    return tuple(t for t in value if isinstance(t, str) and t) if isinstance(value, list) else ()

"""Where a record comes from: fact, episodes, turns, characters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from leporello.errors import NotFound
from leporello.ports import AnyRecord, Ports, Reader
from leporello.records import Episode, Message, Record, Scope, Span


@dataclass(frozen=True)
class Quote(Record):
    """The characters that a record rests on: `text` is `message.text[start:end]`."""

    message: str
    turn: int
    role: str
    name: str | None
    at: datetime
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Explanation(Record):
    """A record with what it was made from, down to the characters; `made_by` names the compactor of each step."""

    record: AnyRecord
    episodes: tuple[Episode, ...]
    quotes: tuple[Quote, ...]
    turns: tuple[int, ...]
    made_by: tuple[str, ...]


def explain(ports: Ports, scope: Scope, id: str) -> Explanation:
    """The derivation of a record of this scope."""
    with ports.store.read() as r:
        record = r.record(scope, id)
        if record is None:
            raise NotFound(f"{id!r} is not in this scope.")
        source = record.provenance
        found = (r.record(scope, e) for e in source.episodes)
        episodes = tuple(e for e in found if isinstance(e, Episode))
        quotes = tuple(_quotes(r, scope, source.spans))
    return Explanation(record, episodes, quotes, source.turns, tuple(dict.fromkeys(e.compactor for e in episodes)))


def _quotes(r: Reader, scope: Scope, spans: Iterable[Span]) -> Iterable[Quote]:
    held: dict[str, Message] = {}
    for span in spans:
        if span.message not in held:
            found = r.record(scope, span.message)
            if not isinstance(found, Message):
                continue
            held[span.message] = found
        m = held[span.message]
        yield Quote(m.id, m.turn, m.role, m.name, m.at, span.start, span.end, m.text[span.start : span.end])

"""Where a record comes from: fact, operations, episodes, turns, characters, and what made each step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from leporello.core import facts as rules
from leporello.errors import NotFound
from leporello.flows.aging import ages, as_aged
from leporello.flows.events import log_of
from leporello.ports import AnyRecord, Ports, Reader
from leporello.records import Claim, Episode, Event, Fact, Message, Record, Revision, Scope, Span
from leporello.results import Age


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
    """A record with what it was made from, down to the characters.

    `operations` are the steps that a fact is derived from, oldest first: each names who made it (`actor`, a compactor with its
    version and its prompt's, or who called), when, and the characters. `history` are the changes of the fact. `episodes` cover its
    turns. `made_by` names what made the record and the episodes, each once. `age` says how the record stands with time by now, and
    `events` what happened to it; with `believed_at` neither is told.
    """

    record: AnyRecord
    episodes: tuple[Episode, ...]
    quotes: tuple[Quote, ...]
    turns: tuple[int, ...]
    made_by: tuple[str, ...]
    operations: tuple[Claim, ...] = ()
    history: tuple[Revision, ...] = ()
    age: Age | None = None
    events: tuple[Event, ...] = ()


def explain(ports: Ports, scope: Scope, id: str, *, as_of: datetime | None = None, believed_at: datetime | None = None) -> Explanation:
    """The derivation of a record of this scope; of a fact at a moment, as the store held it then, if it was true at the other."""
    with ports.store.read() as r:
        record = r.record(scope, id)
        if isinstance(record, Fact) and believed_at is not None:
            record = next(iter(r.as_believed([record], believed_at)), None)
        if record is None or (believed_at is not None and record.recorded_at > believed_at):
            raise NotFound(f"{id!r} is not in this scope." if believed_at is None else f"{id!r} was not known then.")
        until = believed_at or ports.clock.now()
        if as_of is not None and not _held(record, as_of, until):
            raise NotFound(f"{id!r} did not hold at {as_of.isoformat()}.")
        operations = tuple(c for c in r.claims(record.scope, [id]) if believed_at is None or c.recorded_at <= until)
        history = tuple(h for h in r.history(record) if believed_at is None or h.at <= until) if isinstance(record, Fact) else ()
        source = record.provenance
        episodes = _episodes(r, scope, record, source.episodes)
        quotes = tuple(_quotes(r, scope, source.spans))
        past = believed_at is not None
        stands = None if past else ages(r, [record], policy=ports.policies.retention, now=until)[record.id]
        log = () if past else tuple(log_of(r, [record])[record.id])
        if stands is not None and isinstance(record, Fact):
            (record,) = as_aged([record], {record.id: stands})
    made_by = dict.fromkeys([*(c.actor for c in operations), *(e.compactor for e in episodes)])
    return Explanation(record, episodes, quotes, source.turns, tuple(made_by), operations, history, stands, log)


def _held(record: AnyRecord, as_of: datetime, now: datetime) -> bool:
    """True for a fact that was true then, and for a message or an episode that was said by then."""
    return rules.believed(record, as_of=as_of, now=now) if isinstance(record, Fact) else record.at <= as_of


def _episodes(r: Reader, scope: Scope, record: AnyRecord, named: Iterable[str]) -> tuple[Episode, ...]:
    """The episodes that the record names, and those that cover the messages it rests on by now, oldest first."""
    found = [r.record(scope, e) for e in named]
    if isinstance(record, Fact):
        messages = list(dict.fromkeys(s.message for s in record.provenance.spans))
        found += [x for x in r.derived(scope, messages) if scope.sees(x.scope)]
    held = {e.id: e for e in found if isinstance(e, Episode)}
    return tuple(sorted(held.values(), key=lambda e: (e.at, e.number)))


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

"""Rows to records and back. Text is stored as UTF-8 text; what UTF-8 cannot hold (lone surrogates) as marked bytes."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from leporello.core.times import from_micros, micros
from leporello.errors import BadMessage
from leporello.records import Claim, Draft, Episode, Event, Fact, Item, Kind, Message, Provenance, Scope, Span
from leporello.rows import TraceRow

KINDS: tuple[Kind, ...] = ("message", "episode", "fact")
"""The kinds of records by their numbers in columns."""
_MEDIA_CHARACTERS = 512
Stored = str | bytes


def pack(text: str) -> Stored:
    """Text for a column of type ANY: equal texts pack to equal values."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def unpack(value: Any) -> str:
    """Text from such a column."""
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else str(value)


def maybe(value: Any) -> str | None:
    """The same, or None."""
    return None if value is None else unpack(value)


def when(value: int | None) -> datetime | None:
    """The instant of a column that may be NULL."""
    return None if value is None else from_micros(value)


def dump(value: Any) -> Stored:
    """JSON for a column; refuses what JSON cannot hold, because it would not come back equal."""
    try:
        return pack(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_refuse))
    except (ValueError, RecursionError) as e:
        raise BadMessage(f"This message cannot be written as JSON: {e}.") from e


def _refuse(value: object) -> Any:
    raise BadMessage(f"A message holds a {type(value).__name__}, which JSON cannot hold: convert it first.")


def load(value: Any) -> Any:
    """JSON from a column."""
    return json.loads(unpack(value))


def new_ids(prefix: str, count: int) -> list[str]:
    """Ids that grow with time and are never made twice: 48 bits of milliseconds, 20 of nanoseconds, 52 random bits."""
    whole, rest = divmod(time.time_ns(), 1_000_000)
    head = f"{prefix}_{whole:012x}{rest:05x}"
    noise = os.urandom(7 * count).hex()
    return sorted(head + noise[i : i + 13] for i in range(0, 14 * count, 14))


def split_media(value: Any, path: tuple[Any, ...] = ()) -> tuple[Any, list[tuple[tuple[Any, ...], str, bytes]]]:
    """The message without its base64 payloads, and (path, form, bytes) of each; form is how it is put back."""
    if isinstance(value, Mapping):
        taken: list[tuple[tuple[Any, ...], str, bytes]] = []
        kept = {}
        for key, inner in value.items():
            if not isinstance(key, str):
                raise BadMessage(f"A message holds the key {key!r}, which JSON would make a string: use a string.")
            kept[key], more = split_media(inner, (*path, key))
            taken += more
        return kept, taken
    if isinstance(value, (list, tuple)):
        done = [split_media(inner, (*path, i)) for i, inner in enumerate(value)]
        return [d[0] for d in done], [t for d in done for t in d[1]]
    if isinstance(value, str) and len(value) >= _MEDIA_CHARACTERS and path and path[-1] in {"data", "url", "image_url", "file_data"}:
        found = _decode(value)
        if found is not None:
            return None, [(path, *found)]
    return value, []


def _decode(text: str) -> tuple[str, bytes] | None:
    head, comma, body = text.partition(",") if text.startswith("data:") else ("", "", text)
    try:
        data = base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        return None
    if base64.b64encode(data).decode("ascii") != body:
        return None
    return head + comma, data


def join_media(body: Any, places: Sequence[Sequence[Any]], fetch: Callable[[str], bytes]) -> Any:
    """The message with its payloads put back."""
    for path, form, digest in places:
        inner = body
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = form + base64.b64encode(fetch(digest)).decode("ascii")
    return body


def digest(data: bytes) -> str:
    """The name of a payload: its SHA-256."""
    return hashlib.sha256(data).hexdigest()


def is_plain(draft: Draft, role: str, text: str) -> bool:
    """True if the message is nothing but its role and text, so that these columns say it all."""
    original = draft.original
    return bool(text) and len(original) == 2 and original.get("role") == role and original.get("content") == text


def message(row: Sequence[Any], scope: Scope, fetch: Callable[[str], bytes]) -> Message:
    """A row of `message`; `fetch` brings a payload by its digest."""
    _, _, pos, id_, turn, role, name, at, recorded, trust, tokens, origin, text, body, media = row
    said, spoken = unpack(role), unpack(text)
    if body is None:
        original: Any = {"role": said, "content": spoken}
    else:
        original = load(body)
        if media is not None:
            original = join_media(original, json.loads(media), fetch)
    return Message(
        id_, scope, pos, turn, said, maybe(name), from_micros(at), from_micros(recorded), trust, spoken, original, tokens, maybe(origin)
    )  # fmt: skip


def item_json(item: Item) -> list[Any]:
    """An item as a JSON list."""
    spans = [[s.message, s.start, s.end, s.turn] for s in item.spans]
    return [item.section, item.text, item.why, item.key, spans, item.weight, item.trust, micros(item.at) if item.at else None]


def item_of(value: Sequence[Any]) -> Item:
    """The item of such a list."""
    section, text, why, key, spans, weight, trust, at = value
    return Item(section, text, why, key, tuple(Span(*s) for s in spans), weight, trust, when(at))


def items_json(items: Sequence[Item]) -> Stored:
    """Items as a column."""
    return dump([item_json(i) for i in items])


def items_of(value: Any) -> tuple[Item, ...]:
    """Items from a column."""
    return tuple(item_of(v) for v in load(value))


def episode(row: Sequence[Any], scope: Scope) -> Episode:
    """A row of `episode`."""
    _, _, first, last, id_, number, t0, t1, at, recorded, summary, items, compactor, tokens, replaced, layer, distilled = row
    return Episode(
        id_, scope, number, (t0, t1), (first, last), from_micros(at), from_micros(recorded), unpack(summary), items_of(items), compactor,
        tokens, replaced, layer, bool(distilled),
    )  # fmt: skip


def provenance_json(p: Provenance) -> Stored:
    """A provenance as a column."""
    return dump([p.session, list(p.turns), list(p.episodes), [[s.message, s.start, s.end, s.turn] for s in p.spans]])


def provenance_of(value: Any) -> Provenance:
    """The provenance of a column."""
    session, turns, episodes, spans = load(value)
    return Provenance(session, tuple(turns), tuple(episodes), tuple(Span(*s) for s in spans))


def fact(row: Sequence[Any], scope: Scope) -> Fact:
    """A row of `fact`."""
    (_, _, id_, kind, text, why, source, trust, confidence, tags, valid_from, valid_to, recorded, retracted, status, supersedes, prov,
     by, conflicts, subject, predicate, object_) = row  # fmt: skip
    return Fact(
        id_, scope, unpack(text), kind, unpack(why), unpack(source), trust, confidence / 10_000, tuple(load(tags)), when(valid_from),
        when(valid_to), from_micros(recorded), when(retracted), provenance_of(prov), tuple(json.loads(supersedes)), status, by,
        tuple(json.loads(conflicts)), unpack(subject), unpack(predicate), unpack(object_),
    )  # fmt: skip


def fact_json(f: Fact) -> Stored:
    """A state of a fact as a column, without what never changes: its id, its scope, when it was recorded."""
    where = [f.provenance.session, list(f.provenance.turns), list(f.provenance.episodes),
             [[s.message, s.start, s.end, s.turn] for s in f.provenance.spans]]  # fmt: skip
    times = [None if t is None else micros(t) for t in (f.valid_from, f.valid_to, f.retracted_at)]
    return dump([f.text, f.fact_kind, f.why, f.source, f.trust, f.confidence, list(f.tags), *times, where, list(f.supersedes), f.status,
                 f.superseded_by, list(f.conflicts), f.subject, f.predicate, f.object])  # fmt: skip


def fact_of(value: Any, now: Fact) -> Fact | None:
    """That state of a fact that is `now` as it is; None for the state before it was. A column of an older store holds a part of it."""
    held = load(value)
    if held is None:
        return None
    if isinstance(held, dict):
        ended = held.get("valid_to")
        return replace(
            now, text=held["text"], status=held["status"], confidence=held["confidence"], retracted_at=None,
            valid_to=datetime.fromisoformat(ended) if ended else None,
        )  # fmt: skip
    text, kind, why, source, trust, confidence, tags, start, end, gone, where, supersedes, status, by, conflicts, *spo = held
    session, turns, episodes, spans = where
    source_of = Provenance(session, tuple(turns), tuple(episodes), tuple(Span(*s) for s in spans))
    return Fact(
        now.id, now.scope, text, kind, why, source, trust, confidence, tuple(tags), when(start), when(end), now.recorded_at, when(gone),
        source_of, tuple(supersedes), status, by, tuple(conflicts), *spo,
    )  # fmt: skip


def claim(row: Sequence[Any], scope: Scope) -> Claim:
    """A row of `claim`."""
    (_, id_, op, text, kind, why, source, trust, confidence, tags, at, recorded, prov, actor, target, fact_, suspicion, speaker) = row
    return Claim(
        id_, scope, op, unpack(text), kind, unpack(why), unpack(source), trust, confidence / 10_000, tuple(load(tags)), from_micros(at),
        from_micros(recorded), provenance_of(prov), unpack(actor), target, fact_, unpack(suspicion), unpack(speaker),
    )  # fmt: skip


def claim_row(c: Claim) -> tuple[Any, ...]:
    """The columns of `claim` from its id on."""
    return (
        c.id, c.op, pack(c.text), c.fact_kind, pack(c.why), pack(c.source), c.trust, round(c.confidence * 10_000), dump(list(c.tags)),
        micros(c.at), micros(c.recorded_at), provenance_json(c.provenance), pack(c.actor), c.target, c.fact, pack(c.suspicion),
        pack(c.speaker),
    )  # fmt: skip


def trace(row: Sequence[Any], scope: Scope) -> TraceRow:
    """A row of `trace`."""
    id_, _, kind, held, level, since, importance, pinned, expires, aside, due = row
    return TraceRow(id_, scope, KINDS[kind], held, level, since, importance, bool(pinned), expires, aside, due)


def trace_row(t: TraceRow) -> tuple[Any, ...]:
    """The columns of `trace` from its kind on."""
    return (KINDS.index(t.kind), t.trace, t.level, t.since, t.importance, int(t.pinned), t.expires, t.aside, t.due)


def event(row: Sequence[Any]) -> Event:
    """A row of `event`."""
    record, kind, at, run = row
    return Event(record, kind, from_micros(at), run)

"""The scratchpad (short-term tier): a few keyed notes of one session, newest first, gone when it ends.

A session holds at most `CAPACITY` keys: one more takes the place of the note that was set longest ago. A scope without a session
has no bound. A note whose confidence is not 1 is kept as a mapping that `read` takes apart again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from leporello.core.guard.redact import Redaction
from leporello.core.words import query_terms, terms
from leporello.ports import Ports, Reader, Writer
from leporello.records import Note, Record, Scope

CAPACITY = 50
"""Keys that the scratchpad of one session holds (R83)."""

_WRAPPED = frozenset({"leporello_note", "confidence"})


@dataclass(frozen=True)
class Jotted(Record):
    """A note with its confidence, from 0 to 1."""

    note: Note
    confidence: float = 1.0


def put(ports: Ports, scope: Scope, key: str, value: Any, *, confidence: float = 1.0) -> tuple[str, ...]:
    """Sets a note (None removes it); the keys that had to go for it. Redacted as the policy asks."""
    key, value = _redacted(Redaction.of(ports.policies.guard), key, value)
    with ports.store.write() as w:
        w.put_note(_wrapped(Jotted(Note(scope, key, value, ports.clock.now()), confidence)))
        return _trim(w, scope)


def _redacted(redaction: Redaction, key: str, value: Any) -> tuple[str, Any]:
    return (redaction.text(key), _strings(redaction, value)) if redaction else (key, value)


def _strings(redaction: Redaction, value: Any) -> Any:
    """A JSON value with every text in it redacted, names of fields too."""
    if isinstance(value, str):
        return redaction.text(value)
    if isinstance(value, dict):
        return {redaction.text(k) if isinstance(k, str) else k: _strings(redaction, v) for k, v in value.items()}
    return [_strings(redaction, v) for v in value] if isinstance(value, list | tuple) else value


def put_all(ports: Ports, scope: Scope, jotted: Iterable[Jotted]) -> tuple[int, int, tuple[str, ...]]:
    """Sets notes with their own times in one transaction: how many were set, how many were older than what was there, dropped keys."""
    newest: dict[str, Jotted] = {}
    given = 0
    redaction = Redaction.of(ports.policies.guard)
    for plain in jotted:
        given += 1
        key, value = _redacted(redaction, plain.note.key, plain.note.value)
        j = replace(plain, note=replace(plain.note, key=key, value=value))
        if j.note.key not in newest or newest[j.note.key].note.at <= j.note.at:
            newest[j.note.key] = j
    with ports.store.write() as w:
        held = {n.key: n.at for n in w.notes(scope) if n.scope == scope}
        fresh = [j for k, j in newest.items() if k not in held or held[k] < j.note.at]
        for j in sorted(fresh, key=lambda j: j.note.at):
            w.put_note(_wrapped(replace(j, note=replace(j.note, scope=scope))))
        dropped = _trim(w, scope)
    return len(fresh), given - len(fresh), dropped


def clear(w: Writer, scope: Scope) -> int:
    """Removes the notes of exactly this scope, in the caller's transaction; how many."""
    mine = [n for n in w.notes(scope) if n.scope == scope]
    for n in mine:
        w.put_note(replace(n, value=None))
    return len(mine)


def read(r: Reader, scope: Scope) -> list[Jotted]:
    """The notes that the scope sees, newest first; of one instant by key."""
    found = [_taken(n) for n in r.notes(scope)]
    return sorted(sorted(found, key=lambda j: j.note.key), key=lambda j: j.note.at, reverse=True)


def look_up(jotted: Sequence[Jotted], query: str) -> list[tuple[Jotted, float, str]]:
    """The notes that a query names, with a score in (0, 1] and why: the key, its beginning, or words; newest first in each."""
    asked = _spaced(query)
    wanted = query_terms(query)
    weights = dict(zip(wanted.hashes.tolist(), wanted.weights.tolist(), strict=True))
    whole = sum(weights.values()) or 1.0
    found = []
    for j in jotted:
        key = _spaced(j.note.key)
        held = set(terms(f"{key} {j.note.key} {_said(j.note.value)}").tolist())
        share = sum(weight for term, weight in weights.items() if term in held) / whole
        if key == asked:
            found.append((j, 1.0, "the key"))
        elif key and (key.startswith(asked) or f" {key} " in f" {asked} "):
            found.append((j, 0.8, "a part of the key" if key.startswith(asked) else "the key is in the query"))
        elif share:
            found.append((j, round(0.7 * share**2, 4), "words"))  # squared: one word of three is chance
    return sorted(found, key=lambda f: -f[1] if f[2] != "words" else -0.7)


def _trim(w: Writer, scope: Scope) -> tuple[str, ...]:
    if scope.session is None:
        return ()
    mine = sorted((n for n in w.notes(scope) if n.scope == scope), key=lambda n: (n.at, n.key), reverse=True)
    for n in mine[CAPACITY:]:
        w.put_note(replace(n, value=None))
    return tuple(n.key for n in mine[CAPACITY:])


def _wrapped(j: Jotted) -> Note:
    plain = j.confidence == 1.0 and not (isinstance(j.note.value, dict) and set(j.note.value) == _WRAPPED)
    return j.note if plain or j.note.value is None else replace(j.note, value={"leporello_note": j.note.value, "confidence": j.confidence})


def _taken(n: Note) -> Jotted:
    if isinstance(n.value, dict) and set(n.value) == _WRAPPED:
        return Jotted(replace(n, value=n.value["leporello_note"]), float(n.value["confidence"]))
    return Jotted(n)


def _said(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{k} {_said(v)}" for k, v in value.items())
    return " ".join(map(_said, value)) if isinstance(value, list) else str(value)


def _spaced(text: str) -> str:
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())

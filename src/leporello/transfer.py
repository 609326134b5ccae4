"""Files in and out: importing transcripts and memory files, exporting messages as they came."""

from __future__ import annotations

import base64
import glob
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

from leporello.core import checks
from leporello.core.times import from_micros, micros
from leporello.errors import BadSetting, LeporelloError, StoreUnreachable
from leporello.flows import aging, learn, maintain
from leporello.flows.remember import remember
from leporello.flows.shown import held_facts, known_facts
from leporello.formats import Learnt, Reading, Unreadable, by_session, read
from leporello.formats.entries import when
from leporello.ports import Ports, Reader
from leporello.records import Draft, Message, Scope, Span, Trust
from leporello.results import ImportReport

ENTRY = "leporello_entry"
FACTS = "facts.jsonl"
"""The file of an export that holds the facts."""
TICKS = "memory-jsonl"
FORMATS = ("original", TICKS)
_TYPES = {"decision": "decision", "eliminated": "decision", "pattern": "cognition", "procedure": "plan", "preference": "need"}
_WHOSE = "scope.json"
_IMPORTANCE = {"high": 0.9, "medium": 0.7, "low": 0.5}


@dataclass
class _Count:
    """What was met so far."""

    seen: int = 0
    quarantined: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    learnt: dict[str, Learnt] = field(default_factory=dict)


def quarantine_path(store: str, scope: Scope, source: str) -> str:
    """In a folder beside the store (in the temporary folder for a store in memory), one for each scope, a file per source."""
    folder = os.path.join(_quarantine_folder(store), _mark(json.dumps(scope.to_dict(), sort_keys=True)))
    return os.path.join(folder, f"{os.path.basename(source)}.{_mark(os.path.abspath(source))}.jsonl")


def drop_quarantine(store: str, scope: Scope) -> int:
    """Removes the quarantine files of every scope that this one covers; how many."""
    dropped = 0
    for folder in glob.glob(os.path.join(glob.escape(_quarantine_folder(store)), "*")):
        try:
            whose = Scope(**json.loads(Path(folder, _WHOSE).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError, LeporelloError):
            continue
        if scope.covers(whose):
            dropped += len(os.listdir(folder)) - 1
            shutil.rmtree(folder)
    return dropped


def bring(
    ports: Ports, scope: Scope, path: str, *, format: str | None, quarantine: str | None, progress: Callable[[int, int], None] | None = None
) -> ImportReport:
    """Reads a file into the scope. Sessions take the file's own names, or the file's name, or the handle's session.

    Without a path for it, the quarantine file lies beside the store, in a folder that `erase_all` of the scope takes along.
    """
    whose = replace(scope, session=None)
    aside = quarantine_path(ports.store.path, whose, path) if quarantine is None else quarantine
    reading = read(path, format)
    count = _Count()
    sessions: dict[str, None] = {}
    stored = 0
    with _Quarantine(aside, whose if quarantine is None else None) as bad:
        source = _drafts(reading, scope, stem=_session_name(path), count=count, bad=bad, progress=progress)
        for chunk in remember(ports, whose, source):
            stored += len(chunk)
            sessions.update(dict.fromkeys(m.scope.session or "" for m in chunk))
            _learn(ports, scope, chunk, count.learnt)
    return ImportReport(
        reading.format.name, count.seen, stored, count.seen - stored - count.quarantined, count.quarantined, sum(count.skipped.values()),
        tuple(sessions), aside if count.quarantined else None, dict(count.skipped),
    )  # fmt: skip


@dataclass(frozen=True)
class Then:
    """The moments that an export is of: what was said, or true, at `as_of`; what the store held at `believed_at`."""

    as_of: datetime | None = None
    believed_at: datetime | None = None

    def has(self, message: Message) -> bool:
        """True if the message had been said, and recorded, by then."""
        said = self.as_of is None or message.at <= self.as_of
        return said and (self.believed_at is None or message.recorded_at <= self.believed_at)


def take(ports: Ports, scope: Scope, folder: str, *, format: str = "original", then: Then | None = None) -> int:
    """One JSON file per session with its messages verbatim, the facts, and `index.json` that says which file is which.

    Returns how many messages. `facts.jsonl` has a fact with its history on each line, and is not written when there are none. With the
    format "memory-jsonl" only the facts that hold go out, as `memory.jsonl` for agents that keep their memory in a file: how many.
    """
    if format not in FORMATS:
        raise BadSetting(f"format={format!r}: use {' or '.join(FORMATS)}.")
    moments = then or Then()
    try:
        if format == TICKS:
            return _write_ticks(ports, scope, Path(folder), moments)
        return _write_all(ports, scope, Path(folder), moments)
    except (OSError, ValueError) as e:
        raise StoreUnreachable(f"{folder!r}: {e}.") from e


def _write_all(ports: Ports, scope: Scope, target: Path, then: Then) -> int:
    target.mkdir(parents=True, exist_ok=True)
    with ports.store.read() as r:
        index = list(_write_sessions(r, scope, target, then))
        total = sum(int(entry["messages"]) for entry in index)
        lines = [json.dumps(f, ensure_ascii=True) for f in _facts(r, scope, then, ports.clock.now())]
    if lines:
        (target / FACTS).write_text("\n".join(lines) + "\n", encoding="utf-8")
        index.append({"file": FACTS, "scope": scope.to_dict(), "messages": 0, "facts": len(lines)})
    (target / "index.json").write_text(json.dumps(index, ensure_ascii=True, indent=1), encoding="utf-8")
    return total


def _write_ticks(ports: Ports, scope: Scope, target: Path, then: Then) -> int:
    """The facts that hold, an entry each, oldest first. A tick is a day since 1970; what they were used for counts as there."""
    target.mkdir(parents=True, exist_ok=True)
    with ports.store.read() as r:
        facts = known_facts(ports, r, scope, as_of=then.as_of, believed_at=then.believed_at)
        rows = r.traces(scope, [f.id for f in facts])
        used = Counter(e.record for e in r.events(scope, [f.id for f in facts]) if e.kind == "used")
    with (target / "memory.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        for fact in sorted(facts, key=lambda f: (f.recorded_at, f.id)):
            row = rows.get(fact.id) or aging.fresh(fact)
            seen = sorted({at // aging.DAY for at in aging.trace_of(row).recent})
            entry = {
                "tick": seen[0], "time": fact.at.isoformat(), "type": _TYPES.get(fact.fact_kind, "observation"), "summary": fact.text,
                "tags": list(fact.tags), "importance": row.importance, "source": fact.source, "_presentations": seen,
                "_access_count": used[fact.id], **({"_pinned": True} if row.pinned else {}),
                **({"expires_at": from_micros(row.expires).isoformat()} if row.expires is not None else {}),
            }  # fmt: skip
            file.write(json.dumps(entry, ensure_ascii=True) + "\n")
    return len(facts)


def _write_sessions(r: Reader, scope: Scope, target: Path, then: Then) -> Iterator[dict[str, Any]]:
    for n, state in enumerate(r.sessions(scope), 1):
        told = (m for m in r.messages(state) if then.has(m))
        messages = [_entry_or_message(m) for ms in by_session(told).values() for m in ms]
        if messages:
            name = f"{n:04d}-{_slug(state.scope.session or 'messages')}.json"
            (target / name).write_text(json.dumps(messages, ensure_ascii=True, indent=1), encoding="utf-8")
            yield {"file": name, "scope": state.scope.to_dict(), "messages": len(messages)}


def _facts(r: Reader, scope: Scope, then: Then, now: datetime) -> Iterator[dict[str, Any]]:
    """Every fact with its history; at a moment those that held then, as they were, with what had been done to them."""
    if then == Then():
        held = r.facts(scope)
    else:
        held = held_facts(r, scope, now=now, as_of=then.as_of, believed_at=then.believed_at)
    for fact in held:
        done = (h for h in r.history(fact) if then.believed_at is None or h.at <= then.believed_at)
        yield {**fact.to_dict(), "history": [h.to_dict() for h in done]}


class _Quarantine:
    """A side file of JSON lines `{"place", "why", "raw"}`, made only when there is something to put in it."""

    def __init__(self, path: str, whose: Scope | None) -> None:
        self._path = path
        self._whose = whose
        self._file: TextIO | None = None

    def __enter__(self) -> _Quarantine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def put(self, entry: Unreadable) -> None:
        try:
            raw = {"raw": entry.raw.decode("utf-8")}
        except UnicodeDecodeError:
            raw = {"raw_base64": base64.b64encode(entry.raw).decode("ascii")}
        try:
            file = self._file = self._file or self._open()
            file.write(json.dumps({"place": entry.place, "why": entry.why, **raw}) + "\n")
            file.flush()
        except (OSError, ValueError) as e:
            raise StoreUnreachable(f"The quarantine file {self._path!r}: {e}.", hint="Pass another path with quarantine=….") from e

    def _open(self) -> TextIO:
        folder = Path(os.path.abspath(self._path)).parent
        folder.mkdir(parents=True, exist_ok=True)
        if self._whose is not None:
            (folder / _WHOSE).write_text(json.dumps(self._whose.to_dict()), encoding="utf-8")
        return open(self._path, "w", encoding="utf-8")


def _drafts(
    reading: Reading, scope: Scope, *, stem: str, count: _Count, bad: _Quarantine, progress: Callable[[int, int], None] | None
) -> Iterator[Draft]:
    main: str | None = None
    for entry in reading:
        if progress is not None:
            progress(reading.source.done, reading.source.total)
        if isinstance(entry, Unreadable):
            count.seen += 1
            count.quarantined += 1
            bad.put(entry)
        elif isinstance(entry, Draft):
            count.seen += 1
            name = entry.session or stem
            main = main or name
            if scope.session is not None:
                name = scope.session if name == main else f"{scope.session}/{name}"
            yield replace(entry, session=name)
        elif isinstance(entry, Learnt):
            count.seen += 1
            name = scope.session or stem
            count.learnt[entry.origin] = entry
            yield _page(entry, name, "user" if reading.format.name == "markdown" else "agent")
        else:
            count.skipped[entry.why] += 1


def _page(entry: Learnt, session: str, trust: Trust) -> Draft:
    """A memory entry as a page of the log: its mapping verbatim, its statement findable."""
    block = {"type": "text", "text": entry.statement, ENTRY: dict(entry.original)}
    return Draft({"role": "user", "content": [block]}, None, entry.at, session, entry.origin, trust)


def _learn(ports: Ports, scope: Scope, chunk: list[Message], learnt: dict[str, Learnt]) -> None:
    """The facts of the entries in a chunk, with the characters of their page as provenance."""
    found = [(m, learnt.pop(m.origin)) for m in chunk if m.origin in learnt]
    if not found:
        return
    target = replace(scope, session=None)
    with ports.store.write() as w:
        for m, entry in found:
            start = m.text.find(entry.statement)
            span = Span(m.id, max(0, start), start + len(entry.statement) if start >= 0 else len(m.text), m.turn)
            sure = learn.CONFIDENCE.get(entry.source or "") or _IMPORTANCE.get(entry.importance or "", 0.9 if m.trust == "user" else 0.7)
            told = learn.told(
                entry.statement, kind=entry.fact_kind, source=entry.source or m.scope.session or "import", tags=entry.tags, at=entry.at or m.at,
                confidence=sure, trust=m.trust, spans=(span,),
            )  # fmt: skip
            fact = learn.learn_in(ports, w, target, told)
            pinned = entry.original.get("_pinned") is True or entry.original.get("pinned") is True
            ends = when(entry.original.get("expires_at"))
            if entry.importance or pinned or ends:
                maintain.keep_in(
                    ports, w, fact, maintain.Keep(checks.importance(entry.importance), pinned or None, micros(ends) if ends else None)
                )


def _entry_or_message(original: dict[str, Any]) -> Any:
    content = original.get("content")
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        return content[0].get(ENTRY, original)
    return original


def _session_name(path: str) -> str:
    name = os.path.basename(path)
    for ending in (".gz", ".jsonl", ".json", ".md"):
        name = name.removesuffix(ending)
    return name or "import"


def _slug(name: str) -> str:
    return (re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:60] or "session") + "-" + _mark(name)


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _quarantine_folder(store: str) -> str:
    return os.path.join(tempfile.gettempdir(), "leporello.quarantine") if store == ":memory:" else f"{store}.quarantine"

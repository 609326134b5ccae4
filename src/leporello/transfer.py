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
from pathlib import Path
from typing import Any, TextIO

from leporello.errors import BadSetting, LeporelloError, StoreUnreachable
from leporello.flows import learn
from leporello.flows.remember import remember
from leporello.formats import Learnt, Reading, Unreadable, by_session, read
from leporello.ports import Ports
from leporello.records import Draft, Message, Scope, Span, Trust
from leporello.results import ImportReport

ENTRY = "leporello_entry"
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


def take(ports: Ports, scope: Scope, folder: str, *, format: str = "original") -> int:
    """One JSON file per session with its messages verbatim, and `index.json` that says which file is which."""
    if format != "original":
        raise BadSetting(f"format={format!r}: use original.")
    try:
        return _write_sessions(ports, scope, Path(folder))
    except (OSError, ValueError) as e:
        raise StoreUnreachable(f"{folder!r}: {e}.") from e


def _write_sessions(ports: Ports, scope: Scope, target: Path) -> int:
    target.mkdir(parents=True, exist_ok=True)
    index = []
    total = 0
    with ports.store.read() as r:
        for n, state in enumerate(r.sessions(scope), 1):
            messages = [_entry_or_message(m) for ms in by_session(r.messages(state)).values() for m in ms]
            if not messages:
                continue
            name = f"{n:04d}-{_slug(state.scope.session or 'messages')}.json"
            (target / name).write_text(json.dumps(messages, ensure_ascii=True, indent=1), encoding="utf-8")
            index.append({"file": name, "scope": state.scope.to_dict(), "messages": len(messages)})
            total += len(messages)
    (target / "index.json").write_text(json.dumps(index, ensure_ascii=True, indent=1), encoding="utf-8")
    return total


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
            sure = _IMPORTANCE.get(entry.importance or "", 0.9 if m.trust == "user" else 0.7)
            told = learn.told(
                entry.statement, kind=entry.fact_kind, source=entry.source or m.scope.session or "import", tags=entry.tags, at=entry.at or m.at,
                confidence=sure, trust=m.trust, spans=(span,),
            )  # fmt: skip
            learn.learn_in(ports, w, target, told)


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

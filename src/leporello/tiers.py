"""The tiers of a handle: scratchpad notes, project memory as files, and the cascade that asks them in turn.

What a hand edit does to facts goes through the handle's own `learn`, `contradict` and `retract`.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from leporello.core import checks
from leporello.core.times import instant
from leporello.errors import BadSetting, BadValue, InputError, StoreUnreachable, TooManyRemoved, UnreadEdits
from leporello.flows import notes
from leporello.flows import project as store_side
from leporello.flows.find import Finding, find, level_of
from leporello.formats import notes_jsonl
from leporello.formats import project as files
from leporello.formats.notes_jsonl import BadLine, NoteLine
from leporello.formats.project import Edit, Held, Plan, Problem, ProjectReport, Written
from leporello.keeping import Moment
from leporello.knowledge import Knowledge
from leporello.ports import Ports
from leporello.records import Fact, Note, Record, Scope

_FEW = 1


@dataclass(frozen=True)
class NotesReport(Record):
    """What an import of notes came to: how many were set, and how many were older than what was there; keys dropped; bad lines."""

    stored: int
    older: int
    dropped: tuple[str, ...] = ()
    bad: tuple[BadLine, ...] = ()


@dataclass(frozen=True)
class Tiers(Knowledge):
    """What a handle does with the tiers of memory."""

    def set_note(self, key: str, value: Any, *, confidence: float = 1.0) -> tuple[str, ...]:
        """Sets a scratchpad value (any JSON value) of this scope; `None` removes it.

        A session holds at most 50: one more takes the place of the oldest. Returns the keys that had to go.
        """
        if isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or not 0 <= confidence <= 1:
            raise BadValue(f"confidence={confidence!r:.40} is out of bounds.", hint="Pass a number from 0 to 1.")
        return notes.put(self._ports, self.scope, checks.text(key, "key", empty=False), value, confidence=float(confidence))

    def note(self, key: str) -> Any:
        """The newest value of this key that this scope sees, or None."""
        return next((n.value for n in self.notes() if n.key == key), None)

    def notes(self) -> tuple[Note, ...]:
        """The notes that this scope sees, newest first."""
        with self._ports.store.read() as r:
            return tuple(j.note for j in notes.read(r, self.scope))

    def clear_notes(self) -> int:
        """Removes the notes of exactly this scope; how many. Those of wider scopes stay."""
        with self._ports.store.write() as w:
            return notes.clear(w, self.scope)

    def notes_jsonl(self) -> str:
        """The notes as JSON Lines, newest first: `{"key", "value", "ts", "confidence"}` each, in ASCII."""
        with self._ports.store.read() as r:
            held = notes.read(r, self.scope)
        return notes_jsonl.write(NoteLine(j.note.key, j.note.value, j.note.at, j.confidence) for j in held)

    def export_notes(self, path: str | os.PathLike[str]) -> int:
        """Writes `notes_jsonl()` to a file; how many notes."""
        text = self.notes_jsonl()
        try:
            Path(_path(path)).write_text(text, encoding="ascii", newline="\n")
        except (OSError, ValueError) as error:
            raise StoreUnreachable(f"{path}: {error}.", hint="Choose a path that may be written.") from error
        return text.count("\n")

    def import_notes(self, source: str | bytes | os.PathLike[str]) -> NotesReport:
        """Reads notes in that form, from a path object or from the text itself, into this scope; the newest of a key stays.

        Lines that are no notes come back in the report, each with the reason.
        """
        text = source if isinstance(source, (str, bytes)) else _content(_path(source))
        read = list(notes_jsonl.read(text))
        good = [notes.Jotted(Note(self.scope, n.key, n.value, n.ts), n.confidence) for n in read if isinstance(n, NoteLine)]
        stored, older, dropped = notes.put_all(self._ports, self.scope, good)
        return NotesReport(stored, older, dropped, tuple(b for b in read if isinstance(b, BadLine)))

    def find(self, query: str, *, k: int = 5) -> Finding:
        """Asks working, short-term, medium-term and long-term memory in turn; the first tier that answers, or that none does."""
        return find(self._ports, self._shelf, self.scope, checks.text(query, "query"), k=checks.count(k, "k", least=1, most=1_000))

    def project(
        self, *, topic: str | None = None, path: str | None = None, since: Moment | date | None = None, until: Moment | date | None = None
    ) -> tuple[Fact, ...]:
        """The facts of the project that hold now, newest first: of a topic or tag, that name a file or folder, from and until a date.

        A date without a time is the whole day.
        """
        now = self._ports.clock.now()
        held = (f for f in store_side.facts(self._ports, self.scope) if files.standing(f, now))
        first = None if since is None else instant(since)
        return files.select(
            held, topic=checks.maybe_text(topic, "topic"), path=checks.maybe_text(path, "path"), since=first, until=_end(until)
        )  # fmt: skip

    def write_project(self, folder: str | os.PathLike[str], *, force: bool = False) -> ProjectReport:
        """Writes the project's facts into a folder as Markdown: `MEMORY.md`, a file for each topic, and `index.json`.

        The same facts give the same bytes, and what has not changed is not written. Text that people wrote beside the bullets
        stays. `UnreadEdits` if bullets were edited and not read yet; with `force` they are written over.
        """
        place = _folder(folder)
        written = self._written(place)
        held = files.scan(place, written.ids, make=True)
        now = self._ports.clock.now()
        facts = store_side.facts(self._ports, self.scope)
        plan = files.compare(held.pages, facts, written, now=now)
        if plan.edits and not force:
            places = ", ".join(e.place for e in plan.edits[:3])
            raise UnreadEdits(f"{len(plan.edits)} hand edits in {place!r:.200} were not read yet ({places}).")
        bad = tuple(p.name for p in held.pages if p.problem)
        made = files.render(
            [f for f in facts if files.standing(f, now)], title=_title(self.scope, held), kept=files.kept_in(held), foreign=(*held.foreign, *bad),
            now=now,
        )  # fmt: skip
        texts = {n: t for n, t in made.files.items() if n not in bad}
        drop = [p.name for p in held.pages if p.name not in texts and not p.problem]
        names, gone = files.apply(place, texts, held, drop=drop)
        if names or gone or written.at is None:
            self._note(place, _now_written(made.ids, written, bad, now))
        return ProjectReport(
            place, entries=sum(map(len, made.ids.values())), written=names, removed=gone, clashes=tuple(plan.clashes),
            missing=tuple(plan.missing), problems=tuple(plan.problems), erased=plan.erased, duplicates=plan.duplicates, stale=made.stale,
        )  # fmt: skip

    def read_project(
        self, folder: str | os.PathLike[str], *, removed: Literal["keep", "retract"] = "keep", force: bool = False
    ) -> ProjectReport:
        """Takes hand edits over as the user's: an edited bullet corrects its fact, a removed one retracts it, a new one is learned.

        A topic file that is gone is reported and its facts stay, unless `removed="retract"`. `TooManyRemoved` if more than half
        of the entries went at once, unless `force`. Where the store changed too, it wins, and the clash is reported.
        """
        if removed not in {"keep", "retract"}:
            raise BadSetting(f"removed={removed!r:.40}.", hint='Use "keep" or "retract".')
        place = _folder(folder)
        written = self._written(place)
        held = files.scan(place, written.ids)
        facts = store_side.facts(self._ports, self.scope)
        plan = files.compare(held.pages, facts, written, now=self._ports.clock.now(), removed=removed)
        _bounded(plan, facts, written, force)
        made = self._take_over(plan.edits, {f.id: f for f in facts})
        taken = {e.mark: i for e, i in zip(plan.edits, made, strict=True) if i}
        if taken:
            self._note(place, replace(written, taken={**written.taken, **taken}))
        plan.problems += _merged(plan.edits, made, store_side.facts(self._ports, self.scope), self._ports.clock.now())
        return _done(place, plan, made)

    def _take_over(self, edits: Sequence[Edit], held: dict[str, Fact]) -> list[str]:
        """Applies hand edits to facts; for each the id of the fact that it made, or "" for a retraction.

        The only place that says how an edit becomes a change of facts.
        """
        out = []
        for edit in edits:
            op = edit.operation
            if op.op == "retract":
                self.retract(op.target or "", why=edit.reason)
                out.append("")
                continue
            old = held.get(op.target or "")
            told: dict[str, Any] = {
                "kind": op.fact_kind, "source": op.source, "why": op.why, "tags": op.tags, "at": op.at, "confidence": op.confidence,
                "level": level_of(old.scope) if old is not None else "project",
            }  # fmt: skip
            if old is not None and old.text == op.text:  # details alone: the same words are said anew
                self.retract(old.id, why=edit.reason)
            elif old is not None:
                self.contradict(old.id, why=edit.reason)
            made = self.learn(op.text, **told)
            if old is not None and made.id != old.id and old.text != op.text:
                self.contradict(old.id, by=made.id, why=edit.reason)
            out.append(made.id)
        return out

    def _written(self, folder: str) -> Written:
        """What this scope wrote into the folder last."""
        return _noted(self._ports, store_side.scope_mark(self.scope), folder)

    def _note(self, folder: str, written: Written) -> None:
        """Remembers what lies in the folder now."""
        value = {
            "ids": {n: list(ids) for n, ids in written.ids.items()}, "past": sorted(written.past), "taken": dict(written.taken),
            "at": (written.at or self._ports.clock.now()).isoformat(),
        }  # fmt: skip
        store_side.note(self._ports.store, store_side.scope_mark(self.scope), folder, value)


def drop_project_lines(ports: Ports, ids: Collection[str]) -> int:
    """Takes the bullets of these facts out of every folder that was written or read from this store; how many. For an erasure."""
    dropped = 0
    for mark, folder in store_side.folders(ports.store):
        marks = [m for m, id in _noted(ports, mark, folder).taken.items() if id in ids]
        dropped += files.drop_lines(folder, ids, marks=marks)
    return dropped


def _noted(ports: Ports, mark: str, folder: str) -> Written:
    noted = store_side.noted(ports.store, mark, folder)
    ids = {str(n): tuple(map(str, v)) for n, v in dict(noted.get("ids") or {}).items()}
    return Written(ids, store_side.when(noted.get("at")), frozenset(map(str, noted.get("past") or ())), dict(noted.get("taken") or {}))


def _now_written(ids: Mapping[str, tuple[str, ...]], before: Written, left: Collection[str], at: datetime) -> Written:
    """What lies in a folder after writing; of files that were left alone, what lay there before."""
    now = {n: v for n, v in ids.items() if n not in left} | {n: before.ids[n] for n in left if n in before.ids}
    past = (before.all_ids | before.past | set(before.taken.values())) - {i for held in now.values() for i in held}
    return Written(now, at, frozenset(past), before.taken if left else {})


def _bounded(plan: Plan, facts: Sequence[Fact], written: Written, force: bool) -> None:
    """Refuses to retract more than half of what was written; a single bullet may always go."""
    by_id = {f.id: f for f in facts}
    total = sum(1 for i in written.all_ids if i in by_id and (by_id[i].retracted_at is None))
    if not force and len(plan.removed) > _FEW and 2 * len(plan.removed) > total:
        raise TooManyRemoved(f"{len(plan.removed)} of {total} entries were taken out.")


def _merged(edits: Sequence[Edit], made: Sequence[str], facts: Sequence[Fact], now: datetime) -> list[Problem]:
    """The bullets that are no fact in their own words: what the store knew already, or what another bullet ended."""
    held = {f.id: f for f in facts}
    out = []
    for edit, id in zip(edits, made, strict=True):
        fact = held.get(id)
        if id and (fact is None or not files.standing(fact, now)):
            out.append(Problem(edit.place, f"became {id}, which another entry or rule ended at once: see its history"))
        elif fact is not None and " ".join(fact.text.split()) != " ".join(edit.operation.text.split()):
            out.append(Problem(edit.place, f"says what {id} says, and supports it"))
    return out


def _done(folder: str, plan: Plan, made: Sequence[str]) -> ProjectReport:
    pairs = list(zip(plan.edits, made, strict=True))
    return ProjectReport(
        folder, entries=plan.entries, corrected=tuple(e.operation.target or "" for e, _ in pairs if e.operation.op == "supersede"),
        added=tuple(i for e, i in pairs if e.operation.op == "add"),
        retracted=tuple(e.operation.target or "" for e, _ in pairs if e.operation.op == "retract"), clashes=tuple(plan.clashes),
        missing=tuple(plan.missing), problems=tuple(plan.problems), erased=plan.erased, duplicates=plan.duplicates,
    )  # fmt: skip


def _title(scope: Scope, held: Held) -> str:
    """The heading of the index: the one that it has."""
    there = next((p.title for p in held.pages if p.name == "MEMORY.md" and p.title), None)
    return there or (f"Project memory: {scope.project}" if scope.project else "Memory")


def _end(until: Moment | date | None) -> datetime | None:
    """The first instant after: a date without a time includes its whole day."""
    if until is None:
        return None
    whole_day = (isinstance(until, date) and not isinstance(until, datetime)) or (isinstance(until, str) and len(until.strip()) == 10)
    try:
        return instant(until) + (timedelta(days=1) if whole_day else timedelta(microseconds=1))
    except OverflowError:
        return None


def _folder(folder: str | os.PathLike[str]) -> str:
    place = _path(folder)
    if not place or "\0" in place:
        raise BadSetting(f"{folder!r:.80} is no folder.", hint="Pass the path of a folder.")
    return os.path.abspath(place)


def _path(path: str | os.PathLike[str]) -> str:
    try:
        place = os.fspath(path)
    except TypeError:
        raise BadSetting(f"{path!r:.80} is no path.", hint="Pass a string or a path object.") from None
    if not isinstance(place, str):
        raise BadSetting(f"{path!r:.80} is no path.", hint="Pass a string or a path object.")
    return place


def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be opened: {error}.", hint="Check the path and its permissions.") from error

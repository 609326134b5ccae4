"""The memory file: append, read, use, maintain, restore."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Any

from leporello.core import checks
from leporello.core.retention.compat import Settings, Verdict, sift, trace
from leporello.errors import BadValue, NotFound
from leporello.formats.entries import Unreadable
from leporello.tickfile.disk import Change, Place, append, content, mapped, recover, rewrite
from leporello.tickfile.drafts import drafted
from leporello.tickfile.lines import Entry, Line, dumped, lines
from leporello.tickfile.lock import locked
from leporello.tickfile.plans import Run, gently, inserted, met, restored, strictly
from leporello.tickfile.report import Report

_MOST = 10**15


def _now() -> datetime:
    return datetime.now(UTC)


class TickFile:
    """A memory file at `path`; it need not be there yet.

    Every call that writes holds a lock for its whole length, waits for others at most `timeout` seconds, and is on disk
    when it returns. Reading needs no lock. The folder of the file is made if it is missing. `clock` gives the time for what is written.
    """

    def __init__(self, path: str | os.PathLike[str], *, timeout: float = 10.0, clock: Callable[[], datetime] = _now) -> None:
        self.path = os.fspath(path)
        self._timeout = timeout
        self._clock = clock

    # --- reading

    def lines(self) -> Iterator[Entry | Unreadable]:
        """Every line that is not blank: an entry, or what cannot be read and why."""
        return (line.held for line in lines(self._content("file")) if line.held is not None)

    def entries(self, *, archived: bool = False) -> Iterator[Entry]:
        """Every entry in the order of the file; or those of the archive."""
        return _entries(lines(self._content("archive" if archived else "file")))

    def tail(self, n: int = 10) -> tuple[Entry, ...]:
        """The last `n` entries in the order of the file."""
        checks.count(n, "n", least=1, most=_MOST)
        pieces = self._content("file").split(b"\n")
        found: list[Entry] = []
        for i in range(len(pieces) - 1, -1, -1):
            found += [Entry(e.fields, i + 1) for e in _entries(lines(pieces[i]))]
            if len(found) == n:
                break
        return tuple(reversed(found))

    def search(self, words: str = "", *, tags: Sequence[str] = (), limit: int = 20, archived: bool = False) -> tuple[Entry, ...]:
        """Entries that hold each of the words somewhere in their text or tags, and all of the tags; the newest first.

        Upper and lower case are the same. `archived` looks into the archive instead.
        """
        wanted = checks.text(words, "words").casefold().split()
        marks = {t.casefold() for t in checks.texts(tags, "tags")}
        found = (e for e in reversed(list(self.entries(archived=archived))) if _fits(e.fields, wanted, marks))
        return tuple(islice(found, checks.count(limit, "limit", least=1, most=_MOST)))

    def explain(self, key: str, *, tick: int, settings: Settings | None = None) -> tuple[Entry, Verdict]:
        """What maintenance at this tick would do with an entry, and the numbers. Raises `NotFound`."""
        held = list(self.entries())
        verdicts = sift([e.fields for e in held], _tick(tick), settings or Settings(), self._unix())
        for entry, verdict in zip(held, verdicts, strict=True):
            if entry.key == key:
                return entry, verdict
        raise NotFound(f"No entry of {self.path} has the key {key!r:.80}.", hint="`search` and `tail` give entries with their keys.")

    # --- writing

    def append(self, entry: Mapping[str, Any] | Entry, *, tick: int | None = None) -> Entry:
        """Adds an entry at the end, at `tick` or at that of the entry itself. Unknown fields are kept. Raises `BadValue`."""
        fields = drafted(entry.fields if isinstance(entry, Entry) else entry, tick=tick, now=self._clock())
        with self._locked() as place:
            append(place.file, dumped(fields))
        return Entry(fields)

    def accessed(self, *keys: str, tick: int | None = None) -> tuple[Entry, ...]:
        """Counts one use of each entry. With `tick` it is also put down when; that decides among equals at the cap."""
        at = {} if tick is None else {"_last_access_tick": _tick(tick)}
        return self._edit(keys, lambda fields: {**fields, "_access_count": trace(fields, 0).accesses + 1, **at})

    def observe_again(self, *keys: str, tick: int) -> tuple[Entry, ...]:
        """Puts down that the same was met again at `tick`. A second time in one tick adds nothing.

        Of more than a hundred ticks the first and the newest are kept.
        """
        _tick(tick)
        return self._edit(keys, lambda fields: {**fields, "_presentations": met(fields, tick)})

    def pin(self, *keys: str, pinned: bool = True) -> tuple[Entry, ...]:
        """Keeps entries from fading and from being removed; `pinned=False` lets them go again."""
        return self._edit(keys, lambda fields: {**fields, "_pinned": pinned})

    # --- forgetting

    def maintain(self, tick: int, settings: Settings | None = None, *, dry_run: bool = False, strict: bool = False) -> Report:
        """Applies forgetting at a tick. What goes is in the archive, and what cannot be read in the quarantine, before it goes.

        A second run at the same tick changes nothing. `dry_run` writes nothing at all. `strict` does to the file what the
        published script does, its losses included: nothing is archived, nothing quarantined. A missing file is made.
        """
        if settings is not None and not strict:
            settings.checked()
        run = Run(
            "" if dry_run else f"{_tick(tick)}-{secrets.token_hex(4)}", _tick(tick), settings or Settings(), self._unix(), self._place()
        )
        planned = strictly if strict else gently
        if dry_run:
            return planned(self._content("file"), run)[0]
        reports: list[Report] = []

        def plan(data: bytes) -> Change:
            report, change = planned(data, run)
            reports.append(report)
            return change

        self._rewrite(plan)
        return reports[-1]

    def restore(self, *, run: str | None = None, key: str | None = None, tick: int | None = None) -> tuple[Entry, ...]:
        """Brings back from the archive what a run of maintenance moved there, or the entries of one key. Raises `NotFound`.

        Each goes back to its place by its tick. With `tick` it counts as met again then; otherwise the next run may move it
        again at once.
        """
        if (run is None) == (key is None):
            raise BadValue("restore takes a run or a key.", hint="Pass either run=… (from a report) or key=… (of an archived entry).")
        place = self._place()
        back: list[Entry] = []

        def plan(data: bytes) -> Change:
            kept = []
            back.clear()
            for line in lines(content(place.archive)):
                if isinstance(line.held, Entry) and _asked(line.held, run, key):
                    back.append(restored(line.held, None if tick is None else _tick(tick)))
                else:
                    kept.append(line.raw + b"\n")
            if not back:
                return Change()
            return Change(inserted(list(lines(data)), back), run=run or "restore", archive=b"".join(kept))

        self._rewrite(plan)
        if not back:
            raise NotFound(f"Nothing in {place.archive} has the {'run' if key is None else 'key'} {run or key!r:.80}.")
        return tuple(back)

    # --- inside

    def _place(self) -> Place:
        return Place.of(self.path)

    def _content(self, role: str) -> bytes:
        place = self._place()
        with mapped(place.path(role)):
            return content(place.path(role))

    def _unix(self) -> int:
        return int(self._clock().timestamp())

    @contextmanager
    def _locked(self) -> Iterator[Place]:
        place = self._place()
        with mapped(place.file), suppress(FileExistsError):
            os.mkdir(place.folder)
        with mapped(place.file), locked(place.lock, timeout=self._timeout):
            if os.path.exists(place.journal):
                recover(place)
            yield place

    def _rewrite(self, plan: Callable[[bytes], Change]) -> None:
        with self._locked() as place:
            rewrite(place, plan)

    def _edit(self, keys: Sequence[str], change: Callable[[dict[str, Any]], dict[str, Any]]) -> tuple[Entry, ...]:
        """Changes the entries of these keys; the other lines stay as they are, to the byte. All keys must be there."""
        wanted = set(checks.texts(keys, "keys"))
        edited: list[Entry] = []

        def plan(data: bytes) -> Change:
            out, found = [], set()
            edited.clear()
            for line in lines(data):
                entry = line.held
                if isinstance(entry, Entry) and entry.key in wanted:
                    found.add(entry.key)
                    edited.append(Entry(change(entry.fields), entry.number))
                    out.append(dumped(edited[-1].fields) if edited[-1].fields != entry.fields else _verbatim(line))
                else:
                    out.append(_verbatim(line))
            if missing := sorted(wanted - found):
                raise NotFound(
                    f"No entry of {self.path} has the key {missing[0]!r:.80}.", hint="`search` and `tail` give entries with their keys."
                )
            new = b"".join(out)
            return Change(new if new != data else None)

        self._rewrite(plan)
        return tuple(edited)


def _tick(value: object) -> int:
    return checks.count(value, "tick", least=-_MOST, most=_MOST)


def _entries(found: Iterator[Line]) -> Iterator[Entry]:
    return (line.held for line in found if isinstance(line.held, Entry))


def _verbatim(line: Line) -> bytes:
    return line.raw + (b"\n" if line.ended else b"")


def _fits(fields: Mapping[str, Any], words: Sequence[str], tags: set[str]) -> bool:
    held = fields.get("tags")
    own = [t.casefold() for t in held if isinstance(t, str)] if isinstance(held, list) else []
    if not tags <= set(own):
        return False
    said = (v.casefold() for k, v in fields.items() if isinstance(v, str) and k != "time" and not k.startswith("_"))
    text = "\n".join(chain(said, own))
    return all(word in text for word in words)


def _asked(entry: Entry, run: str | None, key: str | None) -> bool:
    return entry.fields.get("_archived_run") == run if key is None else entry.key == key

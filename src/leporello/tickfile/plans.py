"""What becomes of the bytes of a memory file: by maintenance, gentle or strict, and when entries come back."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leporello.core.retention.compat import Settings, maintained, sift, trace
from leporello.errors import BadValue
from leporello.formats.entries import Unreadable
from leporello.tickfile.disk import Change, Place
from leporello.tickfile.lines import Entry, Line, dumped, lines, set_aside, text_of, tick_in
from leporello.tickfile.report import Moved, Report, SetAside

_ARCHIVED = ("_archived_at_tick", "_archived_why", "_archived_run")
_KEPT_PRESENTATIONS = 100
_NEVER = 10**15


@dataclass(frozen=True)
class Run:
    """One run of maintenance: its name (none if it is a dry one), its tick and settings, when it is and where."""

    name: str
    tick: int
    settings: Settings
    unix: int
    place: Place

    @property
    def dry(self) -> bool:
        """True if nothing is written."""
        return not self.name


def gently(data: bytes, run: Run) -> tuple[Report, Change]:
    """Forgetting with nothing lost: what goes is archived, what cannot be read is set aside."""
    held = list(lines(data))
    entries = [line.held for line in held if isinstance(line.held, Entry)]
    verdicts = sift([e.fields for e in entries], run.tick, run.settings, run.unix)
    moved, archived, out = [], [], []
    changed = False
    for entry, verdict in zip(entries, verdicts, strict=True):
        if verdict.fate == "kept":
            changed = changed or _differs(verdict.entry, entry.fields)
            out.append(verdict.entry)
        else:
            moved.append(Moved(entry.key, text_of(entry.fields), verdict.fate, verdict.evaluated.retention, verdict.why))
            archived.append(
                dumped({**entry.fields, "_archived_at_tick": run.tick, "_archived_why": verdict.why, "_archived_run": run.name})
            )
    bad = [(line, line.held) for line in held if isinstance(line.held, Unreadable)]
    unfinished = bool(bad) and not bad[-1][0].ended
    rest = bad.pop()[0].raw if unfinished else b""
    write = changed or bool(moved) or bool(bad)
    report = Report(
        run.name if moved else "", run.tick, run.settings, len(entries), len(out),
        faded=sum(bool(e["_faded"]) for e in out), moved=tuple(moved), quarantined=tuple(SetAside(line.number, u.why) for line, u in bad),
        unfinished=unfinished, written=write and not run.dry, dry_run=run.dry,
        archive=run.place.archive, quarantine=run.place.quarantine,
    )  # fmt: skip
    if not write:
        return report, Change()
    aside = b"".join(set_aside(u, line=line.number, run=run.name) for line, u in bad)
    return report, Change(b"".join(dumped(e) for e in out) + rest, run=run.name, archived=b"".join(archived), quarantined=aside)


def strictly(data: bytes, run: Run) -> tuple[Report, Change]:
    """What the published script makes of the file."""
    try:
        done = maintained(data.decode(), run.tick, run.settings, run.unix)
        new = done.text.encode()
    except UnicodeError as error:
        raise BadValue(f"{run.place.file} is not UTF-8 throughout: {error}.", hint="Mend the file, or run without strictness.") from error
    return Report("", run.tick, run.settings, done.before, done.after, written=not run.dry, dry_run=run.dry), Change(new, run=run.name)


def _differs(new: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    """True if more than the time of maintenance is new; an entry that never was maintained always differs."""
    return any(k not in old or (k != "_maintained_at_unix" and new[k] != old[k]) for k in new if k.startswith("_"))


def met(fields: Mapping[str, Any], tick: int) -> list[Any]:
    """Its presentations with this tick added, unless it is the last; of more than a hundred the first and the newest."""
    held = fields.get("_presentations")
    seen = list(held) if isinstance(held, list) and held else list(trace(fields, tick).presentations)
    made = seen if seen[-1] == tick else [*seen, tick]
    return made if len(made) <= _KEPT_PRESENTATIONS else [made[0], *made[1 - _KEPT_PRESENTATIONS :]]


def restored(entry: Entry, tick: int | None) -> Entry:
    """The entry as it was before it was archived; with `tick`, met again then."""
    fields = {k: v for k, v in entry.fields.items() if k not in _ARCHIVED}
    return Entry(fields if tick is None else {**fields, "_presentations": met(fields, tick)})


def inserted(held: list[Line], back: Sequence[Entry]) -> bytes:
    """The bytes of the file with these entries in it, each behind the last entry that is not newer; without a tick at the end."""
    unfinished = held.pop().raw if held and not held[-1].ended and isinstance(held[-1].held, Unreadable) else b""
    latest: list[int] = []
    for line in reversed(held):
        tick = tick_in(line.held.fields) if isinstance(line.held, Entry) else None
        after = latest[-1] if latest else _NEVER
        latest.append(after if tick is None else min(after, tick))
    latest.reverse()
    before: dict[int, list[bytes]] = {}
    for entry in back:
        tick = tick_in(entry.fields)
        at = len(held) if tick is None else bisect_right(latest, tick)
        before.setdefault(at, []).append(dumped(entry.fields))
    out = []
    for i, line in enumerate(held):
        out += [*before.get(i, ()), line.raw + b"\n"]
    return b"".join([*out, *before.get(len(held), ()), unfinished])

"""What writing and reading a project's files came to."""

from __future__ import annotations

from dataclasses import dataclass

from leporello.records import Record


@dataclass(frozen=True)
class Clash(Record):
    """A bullet that was edited by hand while its fact changed in the store: the store's change stands. `place` is `file:line`."""

    place: str
    id: str
    text: str
    why: str


@dataclass(frozen=True)
class Problem(Record):
    """A file, or a line of one, that could not be read and was left as it is."""

    place: str
    why: str


@dataclass(frozen=True)
class ProjectReport(Record):
    """What `write_project` wrote, or what `read_project` took over.

    `written` and `removed` are names of files. `corrected`, `added` and `retracted` are ids of facts: those that an edit replaced,
    those that came from new bullets, those whose bullets were taken out. `missing` are topic files that are gone while their facts
    stay. `erased` counts bullets of facts that were erased: they are dropped, never learned again. `duplicates` counts copies of
    bullets. `stale` are the topics whose newest entry is older than 30 days.
    """

    folder: str
    entries: int = 0
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    corrected: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    retracted: tuple[str, ...] = ()
    clashes: tuple[Clash, ...] = ()
    missing: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    erased: int = 0
    duplicates: int = 0
    stale: tuple[str, ...] = ()

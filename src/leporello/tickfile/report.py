"""What a run of maintenance did, or would do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from leporello.core.retention.compat import Fate, Settings


@dataclass(frozen=True)
class Moved:
    """An entry that goes to the archive: what it says, its retention, and why it goes, with the numbers."""

    key: str
    summary: str
    fate: Fate
    retention: float
    why: str

    def to_dict(self) -> dict[str, Any]:
        return {"key": self.key, "summary": self.summary, "fate": self.fate, "retention": round(self.retention, 4), "why": self.why}


@dataclass(frozen=True)
class SetAside:
    """A line that goes to the quarantine: its number, and why it cannot be read."""

    line: int
    why: str

    def to_dict(self) -> dict[str, Any]:
        return {"line": self.line, "why": self.why}


@dataclass(frozen=True)
class Report:
    """One run. `run` names it for an undo; it is empty if nothing went to the archive.

    `before` and `after` count entries, without lines that cannot be read; `faded` are those kept that are marked so.
    `unfinished`: a last line without a newline that cannot be read; it stays, because somebody may be writing it.
    `written` is False if the file was left as it is.
    """

    run: str
    tick: int
    settings: Settings
    before: int
    after: int
    faded: int = 0
    moved: tuple[Moved, ...] = ()
    quarantined: tuple[SetAside, ...] = ()
    unfinished: bool = False
    written: bool = False
    dry_run: bool = False
    archive: str = ""
    quarantine: str = ""

    @property
    def forgotten(self) -> int:
        """How many entries went because their retention fell below 0.1."""
        return sum(m.fate == "forgotten" for m in self.moved)

    @property
    def capped(self) -> int:
        """How many entries went because the file held too many."""
        return sum(m.fate == "capped" for m in self.moved)

    def to_dict(self) -> dict[str, Any]:
        """The published keys first, then what the published script does not have; the files are named if something is in them."""
        return {
            **self.published(),
            "run": self.run,
            "archived": len(self.moved),
            "forgotten": self.forgotten,
            "capped": self.capped,
            "faded": self.faded,
            "quarantined": len(self.quarantined),
            "unfinished": self.unfinished,
            "written": self.written,
            "dry_run": self.dry_run,
            "archive_file": self.archive if self.moved else None,
            "quarantine_file": self.quarantine if self.quarantined else None,
        }

    def published(self) -> dict[str, Any]:
        """The keys that the published script prints."""
        return {
            "ok": True,
            "entries_before": self.before,
            "entries_after": self.after,
            "strength": self.settings.strength,
            "actr_decay": self.settings.decay,
            "retrieval_threshold": self.settings.threshold,
            "max_entries": self.settings.max_entries,
        }

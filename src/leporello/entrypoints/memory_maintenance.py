"""`memory_maintenance.py --memory-file PATH --current-tick N`: the published interface, one JSON object on standard output.

A flag beats `--args-json`, that beats the environment, and that beats the default. Exit codes: 0 done, 1 refused or failed, 2 usage.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

from leporello.core.retention.compat import Settings
from leporello.entrypoints import output
from leporello.errors import LeporelloError, NotFound
from leporello.tickfile import Entry, TickFile
from leporello.tickfile.lines import text_of

STRENGTH = "AGENT_MEMORY_STRENGTH"
DECAY = "AGENT_MEMORY_ACTR_DECAY"
THRESHOLD = "AGENT_MEMORY_RETRIEVAL_THRESHOLD"
MAX_ENTRIES = "AGENT_MEMORY_MAX_ENTRIES"

_USAGE = "memory_maintenance.py --memory-file PATH --current-tick N; --help lists the other options."
_Number = TypeVar("_Number", int, float)


class _Misuse(Exception):
    """The arguments make no sense."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _Misuse(message)


def run(argv: Sequence[str]) -> int:
    """Maintains a memory file as the arguments say, prints one JSON object, and returns the exit code."""
    output.tidy()
    try:
        output.put_json(_answer(argv))
        return 0
    except _Misuse as error:
        output.put_json({"ok": False, "error": {"type": "UsageError", "message": f"{error}.", "hint": _USAGE}})
        return 2
    except LeporelloError as error:
        output.put_json({"ok": False, "error": error.to_dict()})
        return 1
    except SystemExit as done:
        return int(done.code or 0)


def main() -> int:
    """Runs with the arguments of the process."""
    return run(sys.argv[1:])


def _answer(argv: Sequence[str]) -> dict[str, Any]:
    flags = _parser().parse_args(list(argv))
    more = _more(flags.args_json)
    path = flags.memory_file or more.get("memory_file")
    if not isinstance(path, str) or not path:
        raise _Misuse("--memory-file is missing")
    tick = _tick(flags.current_tick, more)
    file = TickFile(path)
    if flags.undo is not None:
        back = file.restore(run=flags.undo, tick=tick)
        return {"ok": True, "run": flags.undo, "restored": len(back), "keys": [e.key for e in back]}
    if tick is None:
        raise _Misuse("--current-tick is missing")
    settings = _settings(flags, os.environ)
    if flags.explain is not None:
        return _explained(file, flags.explain, tick, settings)
    report = file.maintain(tick, settings, dry_run=flags.dry_run, strict=flags.compat_strict)
    if flags.compat_strict:
        return report.published()
    listed = {"moves": [m.to_dict() for m in report.moved], "unread": [q.to_dict() for q in report.quarantined]} if flags.dry_run else {}
    return {**report.to_dict(), **listed}


def _explained(file: TickFile, key: str, tick: int, settings: Settings) -> dict[str, Any]:
    """What would become of an entry and by which numbers; of an archived one, why it went."""
    try:
        entry, verdict = file.explain(key, tick=tick, settings=settings)
    except NotFound:
        gone = next((e for e in file.entries(archived=True) if e.key == key), None)
        if gone is None:
            raise
        return {**_named(gone), "fate": "archived", "why": gone.fields.get("_archived_why"), "run": gone.fields.get("_archived_run")}
    found = verdict.evaluated
    return {
        **_named(entry),
        "fate": verdict.fate,
        "pinned": verdict.trace.pinned,
        "faded": found.faded,
        "retention": found.retention,
        "exponential": found.ebbinghaus,
        "activation": found.activation,
        "retrieval_probability": found.probability,
        "age": max(0, tick - verdict.trace.tick),
        "presentations": list(verdict.trace.presentations),
        "accesses": verdict.trace.accesses,
        "why": verdict.why or None,
    }


def _named(entry: Entry) -> dict[str, Any]:
    return {"ok": True, "key": entry.key, "summary": text_of(entry.fields)}


def _parser() -> _Parser:
    parser = _Parser(prog="memory_maintenance.py", description="Apply forgetting to a memory file (JSON Lines).", allow_abbrev=False)
    parser.add_argument("--memory-file", help="The file, such as state/memory.jsonl; made empty if it is missing.")
    parser.add_argument("--current-tick", type=int, help="The tick that it is now.")
    parser.add_argument("--strength", type=float, help=f"Ticks after which the exponential is down to 1/e, for medium; {STRENGTH}; 100.")
    parser.add_argument("--decay", type=float, help=f"Decay of the activation; {DECAY}; 0.5.")
    parser.add_argument("--retrieval-threshold", type=float, help=f"Activation at which recall is even; {THRESHOLD}; -2.5.")
    parser.add_argument("--max-entries", type=int, help=f"How many entries the file may hold; {MAX_ENTRIES}; 1000.")
    parser.add_argument("--args-json", help="A JSON object with memory_file and current_tick (or tick), for what no flag says.")
    parser.add_argument("--compat-strict", action="store_true", help="Do what the published script does: nothing archived, bad lines lost.")
    parser.add_argument("--dry-run", action="store_true", help="Write nothing; say what would move, and why.")
    parser.add_argument("--explain", metavar="KEY", help="Write nothing; say what would become of one entry, and by which numbers.")
    parser.add_argument("--undo", metavar="RUN", help="Bring back what this run moved to the archive; with a tick, as met again then.")
    return parser


def _more(text: str | None) -> Mapping[str, Any]:
    if text is None:
        return {}
    try:
        more = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _Misuse(f"--args-json is no JSON: {error}") from error
    if not isinstance(more, dict):
        raise _Misuse("--args-json is no JSON object")
    return more


def _tick(flag: int | None, more: Mapping[str, Any]) -> int | None:
    if flag is not None:
        return flag
    told = next((more[k] for k in ("current_tick", "tick") if more.get(k) is not None), None)
    try:
        return None if told is None else int(told)
    except (TypeError, ValueError, OverflowError) as error:
        raise _Misuse(f"the tick {told!r:.80} of --args-json is no whole number") from error


def _settings(flags: argparse.Namespace, environment: Mapping[str, str]) -> Settings:
    known = Settings()
    return Settings(
        strength=_chosen(flags.strength, environment.get(STRENGTH), float, known.strength),
        decay=_chosen(flags.decay, environment.get(DECAY), float, known.decay),
        threshold=_chosen(flags.retrieval_threshold, environment.get(THRESHOLD), float, known.threshold),
        max_entries=_chosen(flags.max_entries, environment.get(MAX_ENTRIES), int, known.max_entries),
    )


def _chosen(flag: _Number | None, told: str | None, kind: Callable[[str], _Number], absent: _Number) -> _Number:
    """The flag; else what the environment says, if that is a number; else the default. The published rule: no word about bad values."""
    if flag is not None:
        return flag
    try:
        return kind(told) if told is not None else absent
    except ValueError:
        return absent


if __name__ == "__main__":
    sys.exit(main())

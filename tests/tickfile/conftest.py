"""What the tests of memory files share: what is in one, wherever it lies."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leporello.formats.entries import Unreadable
from leporello.tickfile import TickFile
from leporello.tickfile.lines import Entry, lines, raw_of

Held = Callable[[Path], "Counter[str]"]


def said(fields: dict[str, Any]) -> str:
    """An entry without bookkeeping."""
    return json.dumps({k: v for k, v in fields.items() if not k.startswith("_")}, sort_keys=True)


def held(path: Path) -> Counter[str]:
    """Every entry and every unreadable line of the file, its archive and its quarantine, with how often it is there."""
    found: Counter[str] = Counter()
    for side in (path, path.with_name(f"{path.stem}.archive.jsonl")):
        for line in lines(side.read_bytes() if side.exists() else b""):
            if isinstance(line.held, Entry):
                found[said(line.held.fields)] += 1
            elif isinstance(line.held, Unreadable):
                found[line.held.raw.hex()] += 1
    aside = path.with_name(f"{path.stem}.quarantine.jsonl")
    for line in lines(aside.read_bytes() if aside.exists() else b""):
        assert isinstance(line.held, Entry), line
        found[raw_of(line.held.fields).hex()] += 1
    return found


@pytest.fixture(name="held")
def _held() -> Held:
    return held


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "memory.jsonl"


@pytest.fixture
def file(path: Path) -> TickFile:
    return TickFile(path)

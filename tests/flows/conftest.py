"""A store in a folder of its own, with a clock that is set by hand."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import leporello
from leporello.memory import Memory
from leporello.testing import ManualClock

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


@pytest.fixture
def mem(tmp_path: Path, clock: ManualClock) -> Iterator[Memory]:
    with leporello.open(tmp_path / "memory.db", clock=clock, embedder="hash") as opened:
        yield opened

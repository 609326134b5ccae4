"""The loop's torture in short: `python -m leporello.bench.torture_loop` runs it whole."""

from __future__ import annotations

import pytest

from leporello.bench import torture_loop

pytestmark = pytest.mark.slow


def test_a_killed_loop_sends_what_one_that_was_never_killed_sends() -> None:
    *_, last = torture_loop.run(kills=6, seed=5)
    assert last.endswith(" 0 requests differed, 0 were never sent")

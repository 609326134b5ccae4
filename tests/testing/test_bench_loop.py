"""The loop's bench in short: its table has every policy, nothing is rejected, and folding pays."""

from __future__ import annotations

from leporello.bench import loop
from leporello.bench.loop_sessions import made_up, replayed

STEPS = made_up(70)


def test_a_short_table() -> None:
    lines = list(loop.loop(sessions={"short": STEPS}, window=64_000))
    rows = {line[:17].strip(): line.split() for line in lines[2:-2]}
    assert set(rows) == {"full", "full, endless", "sliding", "flat fresh", "flat same-prefix", "flat", "folded"}
    assert lines[-2].startswith("folded / endless full history")
    for policy in ("flat fresh", "flat same-prefix", "flat", "folded"):
        row = loop.run(policy, STEPS, 64_000)
        assert row.rejected == 0 and row.folds >= 1 and row.peak <= 64_000 and set(row.pins) == {1.0}


def test_the_sessions_are_the_same_every_time_and_hold_what_is_needed() -> None:
    assert made_up(70) == STEPS and len({s.text for s in STEPS}) > 30
    script = loop._Script(STEPS)
    assert all(n in {x for s in STEPS[:40] for x in s.used | s.shown} for n in script.needed(40))


def test_a_log_becomes_steps() -> None:
    log = [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "r"}]},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "two"},
        {"role": "assistant", "content": "c"},
    ]
    assert [(s.user, s.text, s.results) for s in replayed(log)] == [("one", "a", ("r",)), ("", "b", ()), ("two", "c", ())]

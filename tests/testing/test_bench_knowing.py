"""The bench of consolidation in short: its parts run, and say what they measured."""

from __future__ import annotations

import json

import pytest

from leporello.bench import knowing

GROUP = {
    "id": 1,
    "messages": [
        {
            "id": "a",
            "session": "s1",
            "at": "2026-01-01T09:00:00Z",
            "speaker": "user",
            "role": "user",
            "text": "Our deploys happen on Tuesdays.",
        },
        {"id": "b", "session": "s1", "at": "2026-01-01T09:01:00Z", "speaker": "assistant", "role": "assistant", "text": "Noted."},
        {
            "id": "c",
            "session": "s2",
            "at": "2026-02-01T09:00:00Z",
            "speaker": "user",
            "role": "user",
            "text": "Our deploys happen on Thursdays now.",
        },
        {"id": "d", "session": "s2", "at": "2026-02-01T09:01:00Z", "speaker": "assistant", "role": "assistant", "text": "Noted."},
    ],
    "questions": [{"text": "When are our deploys?", "current": ["c"], "outdated": ["a"]}],
}


def test_updates_and_orders() -> None:
    found = knowing.updates([GROUP])
    assert (found["n"], found["impossible"], found["fact"], found["message"]) == (1, 0, 100.0, 100.0) and found["most"] == 1
    assert knowing.orders([GROUP]) == {"conversations": 1, "facts": 2, "orders": 3, "differ": 0}


def test_growth_is_a_ratio_to_the_smallest() -> None:
    rows = knowing.growth((20, 40), times=1)
    assert [r["store_grew"] for r in rows] == [1.0, 2.0] and rows[0]["time_grew"] == 1.0


def test_the_report_is_printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knowing, "SIZES", (10, 20))
    monkeypatch.setattr(knowing, "load", lambda path: [GROUP])
    monkeypatch.setattr(knowing, "growth", lambda: [{"facts": 10, "ms": 1.0, "store_grew": 1.0, "time_grew": 1.0}])
    assert knowing.main([]) == 0
    assert "facts 100.0 %" in (told := capsys.readouterr().out) and "0 differ" in told and "growth" in told
    assert knowing.main(["growth", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["growth"][0]["facts"] == 10

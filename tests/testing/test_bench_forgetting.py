"""The benchmark of forgetting measures what it says, in a small form."""

from __future__ import annotations

import json

import pytest

from leporello.bench import forgetting


def test_the_parts_have_their_shapes_and_baselines(capsys: pytest.CaptureFixture[str]) -> None:
    assert forgetting.main(["speed", "recall", "maintain", "--size", "400", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert {row["law"] for row in made["speed"]} == {"actr", "actr-spaced", "fsrs", "exponential", "compat"}
    assert all(row["rows_per_s"] > 0 and row["n"] == 400 for row in made["speed"])
    assert made["recall"]["ratio"] == pytest.approx(made["recall"]["with_ms"] / made["recall"]["without_ms"], abs=0.05)
    assert (
        made["maintain"]["looked"] == made["maintain"]["moved"] == 4 and made["maintain"]["same_as_dry"] and made["maintain"]["again"] == 0
    )


def test_the_later_stands_first_more_often_with_weight() -> None:
    pairs = [
        {"label": "retire", "earlier": f"The {what} of the shop is {n}.", "later": f"By now the {what} of our shop was set to {n + 7}."}
        for n, what in enumerate(("timeout", "owner", "deadline", "budget", "quota", "version"))
    ]
    found = forgetting.rank((0.0, 0.9), pairs=pairs)
    assert found["n"] == 6 and found["0.9"] >= found["0.0"] and found["0.9"] == 100.0

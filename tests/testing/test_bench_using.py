"""The bench of use in short: it counts what it says it counts, on a set of its own."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from leporello.bench import using as bench

FACTS = [
    ("Where does Ann live?", "in Porto", "Ann lives in Porto."),
    ("Who is Ann's dentist?", "Doctor Weber", "Ann goes to Doctor Weber, the dentist."),
    ("Which database does Ann use?", "PostgreSQL 16", "Ann uses PostgreSQL 16 as the database."),
    ("What does Ann play?", "the bassoon", "Ann plays the bassoon on Sundays."),
]


def group(name: str, facts: list[tuple[str, str, str]]) -> dict[str, Any]:
    messages = [
        {"id": f"{name}{n}", "session": "s", "at": None, "speaker": "Ann", "role": "user", "text": text}
        for n, (_, _, text) in enumerate(facts)
    ]
    questions = [{"text": q, "answer": a, "evidence": [f"{name}{n}"]} for n, (q, a, _) in enumerate(facts)]
    return {"id": name, "messages": messages, "questions": questions}


GROUPS = {"small": [group("a", FACTS), group("b", [(q.replace("Ann", "Bob"), a, t.replace("Ann", "Bob")) for q, a, t in FACTS[2:]])]}


def test_cases() -> None:
    found = bench.cases(GROUPS)
    assert len(found) == 6 and {c.half for c in found} <= set(bench.HALVES)
    for case in found:
        assert len(case.shown) == len(case.gold) <= bench.K and case.other != case.answer
    assert all(sum(c.gold) == 1 for c in found)
    assert bench.cases(GROUPS) == found
    assert len(bench.cases(GROUPS, most=3)) == 3


def test_a_large_set_gives_way_to_small_ones() -> None:
    many = {"large": [group("c", FACTS * 5)], **GROUPS}
    names = [name for name, _, _ in bench.asked(many, 12)]
    assert names.count("small") == 6 and names.count("large") == 6


def test_rule_and_baselines() -> None:
    some = bench.cases(GROUPS)
    rows = bench.rows(some)
    shown = sum(len(c.shown) for c in some)
    assert (rows["everything shown"].right, rows["everything shown"].said) == (6, shown)
    assert rows["the first hit"].said == 6
    assert rows["rule"].precision == 1.0 and rows["rule"].recall == 1.0
    assert rows["rule"] == rows["rule, politely"] == rows["rule, conversations alone"]
    strays = bench.strays(some)
    assert strays["the question again"]["counted"] == strays["nothing known"]["counted"] == 0
    assert all(row["n"] == 6 and row["records"] == shown for row in strays.values())


def test_prints(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "retrieval"
    folder.mkdir()
    with gzip.open(folder / "small.json.gz", "wt", encoding="utf-8") as file:
        json.dump({"groups": GROUPS["small"]}, file)
    assert bench.main(["small", "--data", str(tmp_path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert sum(told["questions"].values()) == 6 and set(told["chosen"]) == {f"least {x}" for x in bench.TRIED}
    assert {"least", "questions", "held", "held, by set", "chosen", "strays", "ms"} == set(told)
    assert bench.main(["small", "--most", "4"], data=tmp_path) == 0
    out = capsys.readouterr().out
    assert "everything shown" in out and "the first hit" in out and "held" in out and "chosen" in out and "strays" in out

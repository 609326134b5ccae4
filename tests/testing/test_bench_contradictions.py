"""The bench of contradictions: its limits hold on the pairs that come with it, and its figures are what it counts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leporello.bench import contradictions as bench

PAIRS = json.loads(bench.PAIRS.read_text(encoding="utf-8"))


def test_the_pairs_cover_what_they_should() -> None:
    domains, langs = {p["domain"] for p in PAIRS}, {p["lang"] for p in PAIRS}
    assert domains == {"people", "work", "code", "preferences", "plans"} and langs == {"en", "de", "es", "fr", "zh"}
    assert len(PAIRS) >= 200 and {p["label"] for p in PAIRS} == set(bench.LABELS)
    assert len({(p["earlier"], p["later"]) for p in PAIRS}) == len(PAIRS)
    assert 0.4 <= sum(p["label"] != "retire" for p in PAIRS) / len(PAIRS) <= 0.7


def test_retirement_is_precise_and_finds_most() -> None:
    rows = bench.tried(PAIRS)
    found, (_, plain) = bench.retirement(rows), bench.baseline(rows)
    assert found.precision >= 0.95 and found.recall >= 0.80
    assert found.precision > plain.precision + 0.3
    for what in ("domain", "lang"):
        for value in {getattr(r, what) for r in rows}:
            part = bench.retirement([r for r in rows if getattr(r, what) == value])
            assert part.precision >= 0.95 and part.recall >= 0.8, value
    merged = bench.score(rows, "merge", lambda r: r.said == "same")
    assert merged.precision >= 0.95


def test_counts(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pairs = [
        {"domain": "people", "lang": "en", "label": "retire", "earlier": "Alice lives in Porto", "later": "Alice moved to Lyon"},
        {"domain": "people", "lang": "en", "label": "conflict", "earlier": "Ana lives in Porto", "later": "Ana moved to Lyon"},
        {"domain": "people", "lang": "en", "label": "keep", "earlier": "I like tea", "later": "I like coffee", "held": True},
    ]
    file = tmp_path / "pairs.json"
    file.write_text(json.dumps(pairs), encoding="utf-8")
    assert bench.main(["--file", str(file), "--json"]) == 1  # a conflict that is retired is a false retirement
    told = json.loads(capsys.readouterr().out)
    assert (told["right"], told["said"], told["wanted"]) == (1, 2, 1)
    assert bench.main(["--file", str(file)]) == 1
    out = capsys.readouterr().out
    assert "conflict -> update" in out and "likeness alone" in out and "held back" in out

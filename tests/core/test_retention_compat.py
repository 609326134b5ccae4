"""Forgetting by ticks: the published vectors and consequences, and an implementation of the rule of its own beside ours."""

from __future__ import annotations

import json
import math
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leporello.core.retention import review
from leporello.core.retention.compat import Settings, evaluate, maintained, multiplier, presentations, sift, trace
from leporello.errors import BadSetting, BadValue

DATA = Path(os.environ.get("LEPORELLO_EVAL_DATA") or Path(__file__).parents[2] / "../shared/data").resolve()
VECTORS = DATA.parent / "spec/vectors.json"
DEFAULT = Settings()
UNIX = 1_700_000_000


@pytest.mark.skipif(not VECTORS.exists(), reason=f"the vectors {VECTORS} are missing: set LEPORELLO_EVAL_DATA")
def test_the_published_vectors() -> None:
    cases = json.loads(VECTORS.read_text(encoding="utf-8"))["compat"]
    assert len(cases) == 8
    for case in cases:
        entry = {
            "tick": case["tick"],
            "_presentations": case["presentations"],
            "importance": case["importance"],
            "_access_count": case["accesses"],
        }
        found = evaluate(entry, case["now"], DEFAULT)
        got = {
            "ebbinghaus": found.ebbinghaus,
            "activation": found.activation,
            "retrieval_probability": found.probability,
            "retention": found.retention,
        }
        assert got == pytest.approx(case["expect"], abs=5e-7)


def first(holds: Callable[[int], bool], *, most: int = 40_000) -> int:
    return next(t for t in range(1, most) if holds(t))


@pytest.mark.parametrize(
    ("importance", "alone", "shipped"),
    [("low", (35, 116), (34, 38, 3_006)), ("medium", (70, 231), (44, 149, 12_022)), ("high", (104, 346), (49, 334, 27_049))],
)
def test_when_an_entry_fades_and_goes(importance: str, alone: tuple[int, int], shipped: tuple[int, int, int]) -> None:
    entry = {"tick": 0, "importance": importance}
    found = [evaluate(entry, t, DEFAULT) for t in range(shipped[2] + 2)]
    assert (first(lambda t: found[t].ebbinghaus < 0.5), first(lambda t: found[t].ebbinghaus < 0.1)) == alone
    faded, gone = first(lambda t: found[t].faded), first(lambda t: found[t].removed)
    assert (first(lambda t: found[t].probability > found[t].ebbinghaus), faded, gone) == shipped
    assert gone == pytest.approx((9 * math.exp(2.5) * multiplier(importance)) ** 2, abs=1)


def test_exactly_on_the_border_is_neither_faded_nor_removed() -> None:
    half = evaluate({"tick": 0}, 1, Settings(strength=0, threshold=0))
    assert half.retention == 0.5 and not half.faded
    near = [evaluate({"tick": 0}, 10**6, Settings(decay=0, threshold=math.log(9) + n * math.ulp(2.0))) for n in range(-9, 10)]
    assert [(f.faded, f.removed) for f in near] == [(f.retention > 0.1, f.retention < 0.1) for f in near]
    assert len({f.removed for f in near}) == 2 and {round(f.retention, 4) for f in near} == {0.1}


@pytest.mark.parametrize(
    ("entry", "expect"),
    [
        ({"tick": 7}, [7]),
        ({"tick": "7"}, [7]),
        ({"tick": None}, [0]),
        ({}, [0]),
        ({"tick": 3, "_presentations": []}, [3]),
        ({"tick": 3, "_presentations": "12"}, [3]),
        ({"tick": 3, "_presentations": ["x", 41, None, "5", 6.9, math.inf]}, [41, 5, 6]),
    ],
)
def test_presentations(entry: dict[str, Any], expect: list[int]) -> None:
    assert presentations(entry) == expect


@pytest.mark.parametrize(("told", "expect"), [("HIGH", 1.5), ("Low", 0.5), ("medium", 1.0), (3, 1.0), (None, 1.0), (" high", 1.0)])
def test_multiplier(told: object, expect: float) -> None:
    assert multiplier(told) == expect


# --- strict: what the published script does to a file ----------------------------------------------------------------------


def lines(*entries: object) -> str:
    return "".join(e + "\n" if isinstance(e, str) else json.dumps(e, ensure_ascii=False) + "\n" for e in entries)


def strict(text: str, now: int = 100, **settings: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in maintained(text, now, Settings(**settings), UNIX).text.splitlines()]


def test_the_losses_of_the_published_script() -> None:
    done = maintained(lines({"tick": 90}, "[1, 2]", "not json", "", {"tick": 91, "summary": "a\u2028b"}, {"tick": 92}), 100, DEFAULT, UNIX)
    assert (done.before, done.after) == (2, 2) and [json.loads(v)["tick"] for v in done.text.splitlines()] == [90, 92]


def test_its_edge_cases() -> None:
    assert strict(lines({"summary": "no tick"}), 10**6)[0] == {
        "summary": "no tick", "_presentations": [0], "_retention": 0.98, "_ebbinghaus_retention": 1.0, "_activation": -6.9078,
        "_retrieval_probability": 0.012, "_faded": False, "_maintained_at_unix": UNIX,
    }  # fmt: skip
    assert strict(lines({"tick": "7"}))[0]["_presentations"] == [7]
    future = strict(lines({"tick": 500}))[0]
    assert future["_ebbinghaus_retention"] == 1.0 and future["_activation"] == 0.0
    assert strict(lines({"tick": 1}, {"tick": 2}), max_entries=0) == []
    assert [e["tick"] for e in strict(lines({"tick": 1}, {"tick": 99}, {"tick": 50}), max_entries=-1)] == [50, 99]
    assert strict(lines({"tick": 95}), strength=0)[0]["_ebbinghaus_retention"] == 0.0067
    assert strict(lines({"tick": 1, "_presentations": None}))[0]["_presentations"] is None
    assert maintained("", 1, DEFAULT, UNIX).text == ""


@pytest.mark.parametrize("bad", [{"tick": None}, {"tick": 1, "_access_count": None}, {"tick": "x"}, {"tick": 1, "_access_count": "many"}])
def test_what_stops_it(bad: dict[str, Any]) -> None:
    with pytest.raises(BadValue, match="is no whole number"):
        maintained(lines({"tick": 5}, bad), 9, DEFAULT, UNIX)


@pytest.mark.parametrize("line", ['{"tick": ' + "9" * 5_000 + "}", "[" * 200_000])
def test_a_line_that_python_cannot_read_stops_it(line: str) -> None:
    with pytest.raises(BadValue, match="cannot be read"):
        maintained(line, 9, DEFAULT, UNIX)


def test_over_the_cap_rounded_ties_keep_the_first_and_the_rest_is_sorted_by_tick() -> None:
    kept = strict(lines({"tick": 100, "n": 0}, {"tick": 99, "n": 1}, {"tick": 98, "n": 2}, {"tick": 97, "n": 3}), max_entries=3)
    assert [e["n"] for e in kept] == [2, 1, 0]
    assert [e["n"] for e in strict(lines({"tick": 9, "n": 0}, {"tick": 3, "n": 1}))] == [0, 1]


def objects(text: str) -> list[dict[str, Any]]:
    rows = []
    for line in text.splitlines():
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        if type(row) is dict:
            rows.append(row)
    return rows


def met(row: dict[str, Any]) -> list[int]:
    seen: list[int] = []
    for v in row["_presentations"] if isinstance(row.get("_presentations"), list) else []:
        try:
            seen.append(int(v))
        except (TypeError, ValueError):
            pass
    return seen or [int(row.get("tick", 0))]


def numbers(row: dict[str, Any], now: int, s: float, d: float, theta: float) -> tuple[float, float, float, float]:
    word = str(row.get("importance")).lower()
    k = 1.5 if word == "high" else 0.5 if word == "low" else 1.0
    age = now - (int(row["tick"]) if "tick" in row else now)
    scale = s * k
    e = math.exp(-((age if age > 0 else 0) / (scale if scale > 1 else 1)))
    powers = []
    for p in met(row):
        lag = now - p
        powers.append((lag if lag >= 1 else 1) ** -d)
    a = math.log(sum(powers))
    a += math.log(k)
    uses = int(row.get("_access_count", 0))
    a += 0.08 * (uses if uses < 10 else 10)
    p = 1.0 / (1.0 + math.exp(-(a - theta)))
    r = e if e > p else p
    return e, a, p, 0.98 if r > 0.98 else r


def published(text: str, now: int, s: float, d: float, theta: float, most: int, unix: int) -> tuple[str, int, int]:
    """The rule once more, written from its description alone."""
    rows = objects(text)
    out = []
    for row in rows:
        e, a, p, r = numbers(row, now, s, d, theta)
        if r < 0.1:
            continue
        if "_presentations" not in row:
            row["_presentations"] = met(row)
        row["_retention"], row["_ebbinghaus_retention"], row["_activation"] = round(r, 4), round(e, 4), round(a, 4)
        row["_retrieval_probability"], row["_faded"], row["_maintained_at_unix"] = round(p, 4), 0.1 < r < 0.5, unix
        out.append(row)
    if len(out) > most:
        out = sorted(out, key=lambda row: -row["_retention"])[:most]
        out = sorted(out, key=lambda row: int(row.get("tick", 0)))
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in out), len(rows), len(out)


def store(chance: random.Random) -> str:
    """A few entries with much that is odd: ties, ticks missing, from the future or as text, importance of every kind."""
    rows: list[object] = []
    for n in range(chance.randint(0, 9)):
        row: dict[str, Any] = {"summary": f"thing {n} ä€🦀"}
        if chance.random() < 0.9:
            tick = chance.choice([0, 5, 5, chance.randint(0, 300), chance.randint(0, 30_000), 10**6])
            row["tick"] = str(tick) if chance.random() < 0.1 else float(tick) if chance.random() < 0.05 else tick
        if chance.random() < 0.7:
            row["importance"] = chance.choice(["high", "medium", "low", "HIGH", "Low", 3, None, "vital", ["high"]])
        if chance.random() < 0.5:
            row["_access_count"] = chance.choice([0, 1, 3, 10, 25, "4", 2.7, -1, True])
        if chance.random() < 0.4:
            row["_presentations"] = chance.choice([[], None, "x", ["x", 41, None], [chance.randint(0, 400) for _ in range(4)], ["12", 3.9]])
        if chance.random() < 0.2:
            row |= {"_retention": 0.5, "_faded": True}
        rows.append(row)
    for odd in ("not json", "[1, 2]", "", "  ", '{"tick": 3, "summary": "a\u2028b"}', '{"cut": '):
        if chance.random() < 0.15:
            rows.insert(chance.randint(0, len(rows)), odd)
    text = lines(*rows)
    return text[:-1] if chance.random() < 0.2 else text


def test_ten_thousand_stores_come_out_byte_for_byte_as_by_another_implementation() -> None:
    chance = random.Random(20_240)
    cut = gone = 0
    for _ in range(10_000):
        text = store(chance)
        now = chance.choice([0, 1, 100, 300, chance.randint(0, 40_000)])
        s, d, theta = chance.choice([100.0, 100.0, 7.5, 0.0]), chance.choice([0.5, 0.5, 0.3, 1.0]), chance.choice([-2.5, -2.5, 0.0, -4.25])
        most = chance.choice([1000, 1000, 4, 2, 0, -1])
        done = maintained(text, now, Settings(s, d, theta, most), UNIX)
        assert (done.text, done.before, done.after) == published(text, now, s, d, theta, most, UNIX), (text, now, s, d, theta, most)
        cut += most < done.before
        gone += done.after < done.before
    assert cut > 2_000 and gone > 2_000


# --- gentle: the same numbers, nothing lost ----------------------------------------------------------------------------------


def test_sound_entries_get_the_same_numbers_either_way() -> None:
    entries = [{"tick": t, "importance": i, "_access_count": n} for t in (0, 40, 100, 900) for i in ("low", "high") for n in (0, 12)]
    by_strict = strict(lines(*entries))
    assert [v.entry for v in sift(entries, 100, DEFAULT, UNIX)] == by_strict


@pytest.mark.parametrize("bad", [{}, {"tick": None}, {"tick": "soon"}, {"tick": math.nan}, {"tick": []}])
def test_without_a_tick_it_ages_from_the_first_run_that_saw_it(bad: dict[str, Any]) -> None:
    seen = sift([bad], 100, DEFAULT, UNIX)[0].entry
    assert seen["_presentations"] == [100] and seen["_retention"] == 0.98
    later = sift([seen], 249, DEFAULT, UNIX)[0]
    assert later.entry["_presentations"] == [100] and later.evaluated.faded
    assert sift([seen], 20_000, DEFAULT, UNIX)[0].fate == "forgotten"


def test_bad_fields_are_as_absent_ones_and_stay_where_they_are() -> None:
    entry = {"tick": 5, "_access_count": None, "_presentations": ["x"], "importance": {"a": 1}}
    verdict = sift([entry], 9, DEFAULT, UNIX)[0]
    assert verdict.trace.presentations == (5,) and verdict.trace.accesses == 0
    assert verdict.entry["_access_count"] is None and verdict.entry["_presentations"] == ["x"]
    assert trace({"_presentations": ["x"]}, 9).told == ["x", 9]
    assert trace({"_presentations": {"a": 1}}, 9).told == [{"a": 1}, 9]
    assert trace({"_presentations": None}, 9).told == [9]
    assert trace({"tick": 1, "_access_count": -4}, 9).accesses == 0


@pytest.mark.parametrize("pin", ["_pinned", "pinned"])
def test_what_is_pinned_stays(pin: str) -> None:
    entries = [{"tick": 0, "importance": "low", pin: True}, {"tick": 0, "importance": "low"}, {"tick": 0, "importance": "low", pin: "yes"}]
    verdicts = sift(entries, 10_000, DEFAULT, UNIX)
    assert [v.fate for v in verdicts] == ["kept", "forgotten", "forgotten"] and verdicts[0].entry["_faded"] is False
    many = [{"tick": 5, pin: True}] * 3 + [{"tick": 9}]
    assert [v.fate for v in sift(many, 9, Settings(max_entries=2), UNIX)] == ["kept"] * 3 + ["capped"]


def test_at_the_cap_equals_go_by_their_last_use_and_then_the_oldest_line() -> None:
    fresh = {"tick": 100}
    entries = [{**fresh, "n": 0}, {**fresh, "n": 1, "_last_access_tick": 120}, {**fresh, "n": 2}, {**fresh, "n": 3}]
    verdicts = sift(entries, 100, Settings(max_entries=2), UNIX)
    assert [v.entry["n"] for v in verdicts if v.fate == "kept"] == [1, 3]
    assert "4 entries are more than 2" in verdicts[0].why and "retention 0.9800" in verdicts[0].why


def test_the_cap_goes_by_the_unrounded_retention() -> None:
    close = [{"tick": 0, "n": 0}, {"tick": 1, "n": 1}, {"tick": 0, "n": 2}]
    verdicts = sift(close, 11_000, Settings(max_entries=1), UNIX)
    assert len({round(v.evaluated.retention, 4) for v in verdicts}) == 1
    assert [v.fate for v in verdicts] == ["capped", "kept", "capped"]


def test_the_reason_tells_the_numbers() -> None:
    why = sift([{"tick": 0, "importance": "low"}], 3_006, DEFAULT, UNIX)[0].why
    assert why.startswith(
        "retention 0.1000 is below 0.1: at tick 3006, 3006 ticks old, exponential 0.0000 with a time constant of 50 ticks"
    )


@pytest.mark.parametrize("bad", [{"max_entries": 0}, {"max_entries": -1}, {"strength": -1.0}, {"decay": math.nan}, {"threshold": math.inf}])
def test_settings_that_make_no_sense(bad: dict[str, Any]) -> None:
    with pytest.raises(BadSetting, match=next(iter(bad))):
        sift([], 1, Settings(**bad), UNIX)


def test_numbers_without_measure_are_weighed_too() -> None:
    far = sift([{"tick": -(10**400)}, {"tick": 10**400}, {"tick": 0, "_presentations": [-(10**400), 0]}], 5, DEFAULT, UNIX)
    assert [v.fate for v in far] == ["forgotten", "kept", "kept"]
    assert sift([{"tick": 0}], 10, Settings(decay=400, strength=1), UNIX)[0].evaluated.probability == 0.0


# --- spaced review -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("intensity", "bonus"), [(10, 0.3), (8.1, 0.3), (8, 0.2), (6, 0.2), (5.9, 0.1), (4, 0.1), (3.9, 0.0)])
def test_emotion(intensity: float, bonus: float) -> None:
    assert review.emotion_bonus(intensity) == bonus


@pytest.mark.parametrize(("gap", "times"), [(0, 1.0), (-3, 1.0), (1, 1.2), (4, 1.2), (5, 1.5), (99, 1.5)])
def test_spacing(gap: int, times: float) -> None:
    assert review.spacing_multiplier(gap) == times


def test_reviews() -> None:
    entry = review.reviewed({}, 100, success=True)
    assert entry == {"_target_retention_interval": 200, "_spacing_ratio": 0.2, "_next_review_tick": 140, "_last_retrieval_success": True}
    assert not review.is_due(entry, 139) and review.is_due(entry, 140) and not review.is_due({}, 1)
    at_once = review.reviewed(entry, 100, success=True)
    assert at_once["_target_retention_interval"] == 200
    in_time = review.reviewed(entry, 140, success=True)
    assert in_time["_target_retention_interval"] == 400 and in_time["_next_review_tick"] == 220
    failed = review.reviewed(in_time, 220, success=False)
    assert failed["_target_retention_interval"] == 200 and review.is_relearnt(failed) and not review.is_relearnt(in_time)
    assert review.reviewed({"_spacing_ratio": 7, "_target_retention_interval": "x"}, 0, success=False)["_spacing_ratio"] == 0.3

"""`leporello forget`: pictures that say what is so whatever the texts hold, the table of laws, and the fit. Nothing is written."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import leporello
from leporello.adapters import charts
from leporello.errors import MissingExtra
from leporello.results import Outlook
from leporello.testing import ManualClock

Run = Callable[..., Any]
ALICE = ("--user", "alice")
NASTY = (
    "$\\frac{1}{0}$ & <b>costs</b> 5$",
    "_hidden from legends",
    "茶 is tea, شاي too, תה as well, चाय and 🍵👩‍👩‍👧",
    "\x1b[31mred\x1b[0m \x00 \x07 \u202eturned\u2069 \ufffe \ud83d end",
    "Zalgo " + "a\u0301\u0302\u0303\u0330" * 300,
    "tenkilobytes " * 800,
    "\n\n\ttabs\r\nand lines\n",
    "%s {0} \\usepackage{x} ^_~#",
)


@pytest.fixture
def store(tmp_path: Path) -> dict[str, str]:
    """A store with a past of 140 days up to now, for alice and bob: ids by name."""
    now = datetime.now(UTC)
    clock = ManualClock(now - timedelta(days=140))
    with leporello.open(tmp_path / "memory.db", clock=clock) as mem:
        alice, bob = mem.scope(user="alice"), mem.scope(user="bob")
        ids = {"tea": alice.learn("Tea is in the cupboard.").id, "build": alice.learn("The build runs on Fridays.", source="assumed").id}
        ids["bob"] = bob.learn("Bob hides zanzibar in a hole.").id
        clock.advance(timedelta(days=30))
        alice.used(ids["tea"])
        clock.advance(timedelta(days=80))
        alice.maintain()
        alice.confirm(ids["tea"])
        clock.advance(timedelta(days=20))
        alice.used(ids["tea"])
        bob.used(ids["bob"])
        ids["lease"] = alice.learn("The lease ends soon.", expires_at=(now + timedelta(days=2)).isoformat()).id
        clock.set(now)
    return ids


def words(path: str) -> str:
    """What an SVG shows as text."""
    return "\n".join(e.text or "" for e in ElementTree.parse(path).iter() if e.tag.endswith("text"))


# --- the outlook ---------------------------------------------------------------------------------------------------------


def test_alone_it_tells_what_comes(run: Run, store: dict[str, str]) -> None:
    done = run("forget", *ALICE)
    assert done.code == 0 and done.out.startswith(
        "3 facts and episodes  2 active, 0 fading, 0 conflict, 0 uncertain, 0 expired, 1 archived"
    )
    assert "in the next 7 days 0 1 0 0 0 0 0" in done.out and "expired  The lease ends soon." in done.out and store["lease"] in done.out
    assert "it expires on" in done.out and "1 put aside" in done.out and "zanzibar" not in done.out
    value = run("forget", *ALICE, "--json").value
    assert value["counts"]["active"] == 2 and value["next_days"] == [0, 1, 0, 0, 0, 0, 0] and len(value["next_weeks"]) == 12
    assert [c["id"] for c in value["soon"]] == [store["lease"]] and value["soon"][0]["why"] and value["runs"][0]["moved"] == 1


def test_of_a_long_list_the_beginning_is_shown(run: Run, tmp_path: Path) -> None:
    with leporello.open(tmp_path / "memory.db") as mem:
        for n in range(23):
            text = f"{chr(65 + n) * 6} is stored in hall {chr(90 - n) * 5}."
            mem.scope().learn(text, expires_at=(datetime.now(UTC) + timedelta(hours=30)).isoformat())
    assert "and 3 more within the week" in run("forget").out
    full = run("forget", "plot", "-o", "a.svg", "--full")
    assert "more within" not in full.out and full.out.count("expired  ") == 23


def test_an_empty_store_has_an_outlook_too(run: Run) -> None:
    message = run("remember", "hello", "--json").value["id"]
    assert run("forget").out.startswith("0 facts and episodes")
    assert run("forget", "plot", "-o", "empty.png").code == 0 and Path("empty.png").read_bytes().startswith(b"\x89PNG")
    assert run("forget", "plot", message, "-o", "one.svg").code == 0 and "confidence" not in words("one.svg")
    assert "regret, of 0 used" in run("forget", "simulate").out
    assert run("forget", "--db", "nowhere.db", "--json").error["type"] == "StoreUnreachable"


# --- pictures ------------------------------------------------------------------------------------------------------------


def test_a_record_is_drawn_with_what_happened(run: Run, store: dict[str, str]) -> None:
    done = run("forget", "plot", store["tea"], store["build"], "-o", "c.svg", "--policy", "actr", "--policy", "fsrs", *ALICE)
    assert done.code == 0 and done.err == "Drawn: c.svg\n"
    assert done.out.startswith("fact  Tea is in the cupboard.") and "actr: 0.9" in done.out and "fsrs: " in done.out
    shown = words("c.svg")
    for told in (
        "Tea is in the cupboard.", f"fact {store['tea']}", f"fact {store['build']}", "retention, actr", "retention, fsrs", "confidence", "observed",
        "used", "confirmed", "archived", "fading (actr) 0.5", "forgotten (fsrs) 0.7", "now",
    ):  # fmt: skip
        assert told in shown, told
    assert "zanzibar" not in Path("c.svg").read_text() and "nan" not in Path("c.svg").read_text()


def test_equal_input_gives_equal_bytes(store: dict[str, str], tmp_path: Path) -> None:
    clock = ManualClock(datetime.now(UTC))
    with leporello.open(tmp_path / "memory.db", clock=clock, read_only=True) as mem:
        alice = mem.scope(user="alice")
        for found in (alice.outlook(store["tea"], laws=("actr", "compat")), alice.outlook()):
            for form in ("svg", "png"):
                assert charts.picture(found, format=form) == charts.picture(found, format=form)
            made = charts.picture(found, format="svg")
            assert b"<dc:date>" not in made and made.startswith(b"<?xml")
    script = (
        "import sys, leporello, datetime; from leporello.testing import ManualClock; from leporello.adapters import charts;"
        f"clock = ManualClock(datetime.datetime.fromisoformat({clock.now().isoformat()!r}));"
        f"mem = leporello.open({str(tmp_path / 'memory.db')!r}, clock=clock, read_only=True);"
        "sys.stdout.buffer.write(charts.picture(mem.scope(user='alice').outlook(), format='svg'))"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, check=True)
    assert done.stdout == made


@pytest.mark.parametrize("form", ["svg", "png"])
def test_no_text_breaks_a_picture(run: Run, tmp_path: Path, form: str) -> None:
    with leporello.open(tmp_path / "memory.db") as mem:
        ids = [mem.scope().learn(text).id for text in NASTY]
    assert run("forget", "plot", *dict.fromkeys(ids), "-o", f"n.{form}").code == 0
    if form == "svg":
        shown = words("n.svg")
        assert "$\\frac{1}{0}$ & <b>costs</b> 5$" in shown and "_hidden from legends" in shown and "茶 is tea, شاي too, תה as well" in shown
        assert "[31mred [0m turned end" in shown and not any(c in shown for c in "\x1b\x00\u202e\u2069\ufffe")
        assert max(map(len, shown.splitlines())) <= 90 and "tenkilobytes tenk" in shown
    else:
        assert Path("n.png").stat().st_size > 10_000
    single = run("forget", "plot", ids[0], "-o", f"one.{form}", "--days", "0")
    assert single.code == 0 and "nan" not in single.out


def test_labels_are_clipped_and_clean() -> None:
    assert charts.label("a\x00b\n\u202ec") == "a b c" and charts.label("") == ""
    assert len(charts.label("x" * 10_000)) == 90 and charts.label("x" * 10_000).endswith(" …") and charts.label("x" * 90) == "x" * 90
    assert charts.label(" " * 10_000 + "x") == "…" or charts.label(" " * 10_000 + "x").endswith("…")


def test_the_whole_scope_is_drawn_in_numbers(run: Run, store: dict[str, str]) -> None:
    done = run("forget", "plot", "--output", "all.svg", *ALICE)
    assert done.code == 0 and "expired  The lease ends soon." in done.out and store["lease"] in done.out
    shown = words("all.svg")
    for told in (
        "active",
        "fading",
        "expired",
        "archived",
        "conflict",
        "deprecated",
        "3 facts and episodes on",
        "day 7",
        "week 12",
        "(0 are overdue)",
    ):
        assert told in shown, told


def test_a_file_is_written_over_only_when_told(run: Run, store: dict[str, str]) -> None:
    Path("there.svg").write_text("mine")
    done = run("forget", "plot", "-o", "there.svg", *ALICE, "--json")
    assert done.error["type"] == "BadValue" and "--force" in done.error["hint"] and Path("there.svg").read_text() == "mine"
    assert run("forget", "plot", "-o", "there.svg", "--force", *ALICE).code == 0 and Path("there.svg").read_text().startswith("<?xml")
    Path("folder.png").mkdir()
    for path, told in (
        ("a.pdf", ".svg nor .png"), ("plain", ".svg nor .png"), ("no/such/a.svg", "no folder 'no/such'"), ("folder.png", "is a folder"),
        ("bad\x00/a.svg", "no folder"),
    ):  # fmt: skip
        for more in ((), ("--force",)):
            wrong = run("forget", "plot", "-o", path, *more, *ALICE, "--json")
            assert wrong.code == 1 and wrong.error["type"] == "BadValue" and told in wrong.error["message"], path
    assert run("forget", "plot", "-o", "UPPER.SVG", *ALICE).code == 0


def test_the_series_are_printed_as_json(run: Run, store: dict[str, str]) -> None:
    value = run("forget", "plot", store["tea"], *ALICE, "--policy", "fsrs", "--days", "10", "--json").value
    (curve,) = value["curves"]
    assert len(curve["times"]) == len(curve["retention"]["fsrs"]) == len(curve["confidence"]) > 200
    assert [e["kind"] for e in curve["events"]] == ["observed", "used", "confirmed", "used"] and "path" not in value
    drawn = run("forget", "plot", store["tea"], "-o", "x.png", *ALICE, "--json").value
    assert drawn["path"] == "x.png" and drawn["bytes"] == Path("x.png").stat().st_size


def test_what_cannot_be_drawn_is_refused_and_leaves_no_file(
    run: Run, store: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:  # fmt: skip
    def wrong(*arguments: str) -> str:
        done = run("forget", "plot", *arguments, *ALICE, "--json")
        assert done.code in {1, 2} and not Path("a.svg").exists()
        return str(done.error["type"])

    assert wrong(store["bob"], "-o", "a.svg") == "NotFound" and wrong("f_0", "-o", "a.svg") == "NotFound"
    assert wrong(store["tea"], "-o", "a.svg", "--policy", "newton") == "BadSetting"
    assert wrong(store["tea"], "-o", "a.svg", "--days", "-1") == "BadValue"
    assert wrong("-o", "a.svg", "--policy", "actr") == "UsageError"
    done = run("forget", "plot", *ALICE)
    assert done.code == 2 and "-o FILE.svg" in done.err
    with leporello.open(tmp_path / "memory.db") as mem:
        many = [mem.scope(user="alice").learn(f"{chr(65 + n) * 6} is stored in hall {chr(90 - n) * 5}.").id for n in range(13)]
    assert wrong(*many, "-o", "a.svg") == "BadValue"
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert wrong("-o", "a.svg") == "MissingExtra"
    assert "leporello[plot]" in run("forget", "plot", "-o", "a.svg", *ALICE).err


def test_what_is_broken_in_matplotlib_is_not_taken_for_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "no_such_part", None)
    (tmp_path / "halves.py").write_text("import no_such_part\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_part"):
        charts._loaded("halves")
    with pytest.raises(MissingExtra):
        charts._loaded("matplotlib.no_such_part")


# --- other laws, and the fit ---------------------------------------------------------------------------------------------


def test_laws_are_compared_in_one_table(run: Run, store: dict[str, str]) -> None:
    laws = ("--policy", "actr", "--policy", "fsrs", "--half-life", "5", "--half-life", "180")
    done = run("forget", "simulate", *laws, "--days", "30", "90", *ALICE)
    rows = {line[:20].strip(): line[20:].split()[-3:] for line in done.out.splitlines()}
    assert rows["law"] == ["actr", "actr", "fsrs"] and rows["half-life, days"] == ["5", "180", "-"]
    assert rows["regret, of 1 used"] == ["1", "0", "1"] and "in 90 days, archived" in done.out and "in 365" not in done.out
    assert "there is no log loss" in done.out and done.out.index("now, active") < done.out.index("now, uncertain") < done.out.index(
        "now, archived"
    )
    value = run("forget", "simulate", *laws, "--days", "30", "--days", "90", *ALICE, "--json").value
    assert value["days"] == [30, 90] and [(x["law"], x["half_life"], x["regret"]) for x in value["laws"]] == [
        ("actr", 5.0, 1),
        ("actr", 180.0, 0),
        ("fsrs", None, 1),
    ]
    assert value["records"] == 3 and sum(value["laws"][0]["now"].values()) == 3
    assert run("forget", "simulate", *ALICE, "--json").value["days"] == [30, 90, 365]
    assert run("forget", "simulate", "--policy", "x", *ALICE, "--json").error["type"] == "BadSetting"
    assert run("forget", "simulate", "--days", "0", *ALICE, "--json").error["type"] == "BadValue"


@pytest.fixture
def asked(tmp_path: Path) -> Callable[[bool], None]:
    """Fills a store with facts that were asked for, and used while young, or by the parity of a number."""

    def fill(young: bool) -> None:
        clock = ManualClock(datetime.now(UTC) - timedelta(days=1_200))
        with leporello.open(tmp_path / "memory.db", clock=clock) as mem:
            alice = mem.scope(user="alice")
            for n in range(25):
                name = f"{chr(65 + n) * 6}"
                fact = alice.learn(f"{name} is stored in hall {chr(90 - n) * 5}.")
                for k, gap in enumerate((1.0, 4.0, 40.0)):
                    clock.advance(timedelta(days=gap))
                    alice.recall(f"Where is {name} stored?", k=1)
                    mem.flush()
                    if (gap < 10) if young else (n * 3 + k) % 5 < 2:
                        clock.advance(timedelta(minutes=1))
                        alice.used(fact.id)
                    clock.advance(timedelta(hours=3))

    return fill


def test_a_fit_prints_the_policy_to_pass(run: Run, asked: Callable[[bool], None]) -> None:
    asked(True)
    done = run("forget", "fit", *ALICE)
    assert done.code == 0 and done.out.startswith("75 outcomes  50 used  the earlier 70 % fitted, the later 30 % held out")
    assert "in sample" in done.out and "held out" in done.out and 'Pass  policies={"retention": {"law": "actr", "half_life": ' in done.out
    value = run("forget", "fit", *ALICE, "--json").value
    assert value["better"] and value["policy"]["retention"]["half_life"] == value["half_life"]
    hint = run("forget", "fit", "--apply-hint", *ALICE)
    opened = eval(hint.out, {"leporello": leporello})  # noqa: S307
    assert opened._ports.policies.retention.half_life == value["half_life"] and hint.err == ""
    opened.close()
    table = run("forget", "simulate", *ALICE).out
    assert "Log loss over 75 times that a record was shown, 50 of them used within 3,600 seconds" in table
    assert run("forget", "fit", "--user", "bob", "--json").error["type"] == "BadValue"


def test_what_is_not_better_is_not_recommended(run: Run, asked: Callable[[bool], None]) -> None:
    asked(False)
    done = run("forget", "fit", *ALICE)
    assert "Nothing is recommended." in done.out and "Pass" not in done.out
    hint = run("forget", "fit", "--apply-hint", *ALICE)
    assert hint.out == "" and hint.err.startswith("Nothing is recommended. On what was held out")
    assert run("forget", "fit", *ALICE, "--json").value["policy"] == {}


def test_too_few_outcomes_are_told(run: Run, store: dict[str, str]) -> None:
    error = run("forget", "fit", *ALICE, "--json").error
    assert error["type"] == "BadValue" and "There are 0 outcomes, 0 used and 0 not; 50 are needed" in error["message"]


# --- the process ---------------------------------------------------------------------------------------------------------


def test_the_program_draws(process: Run, store: dict[str, str]) -> None:
    before = Path("memory.db").read_bytes()
    done = process("forget", "plot", store["tea"], "-o", "p.svg", *ALICE, "--json")
    assert done.code == 0 and done.err == "" and done.value["curves"][0]["id"] == store["tea"] and "confidence" in words("p.svg")
    assert done.value["records"] == 1 and Path("memory.db").read_bytes() == before


def test_an_outlook_is_plain_json(store: dict[str, str], tmp_path: Path) -> None:
    with leporello.open(tmp_path / "memory.db") as mem:
        found = mem.scope(user="alice").outlook(store["tea"])
    assert isinstance(found, Outlook) and json.loads(json.dumps(found.to_dict(), allow_nan=False)) == found.to_dict()

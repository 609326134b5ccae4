"""Finding: with reasons, in scope, at a moment, and honest when there is nothing."""

from __future__ import annotations

import json
import os
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import leporello
from leporello.errors import BadSetting, BadValue, EmptyQuery, LeporelloError
from leporello.flows.recall import Shelf
from leporello.memory import Memory
from leporello.testing import ManualClock

DATA = Path(os.environ.get("LEPORELLO_EVAL_DATA") or Path(__file__).parents[2] / "../shared/data").resolve()
needs_data = pytest.mark.skipif(not DATA.exists(), reason=f"the data folder {DATA} is missing: set LEPORELLO_EVAL_DATA")


def test_hits_have_reasons_that_add_up_and_a_place(mem: Memory) -> None:
    alice = mem.scope(user="alice")
    said = alice.session("s").add({"role": "user", "content": "The password of the staging router is in the blue binder."})[0]
    alice.session("s").add({"role": "assistant", "content": "Good to know, I will look there."})
    found = alice.recall("where is the router password?")
    assert found[0].record == said and not found.not_found and found.took_ms > 0
    assert sum(r.value for r in found[0].why) == pytest.approx(found[0].score, abs=1e-3)
    assert found[0].provenance.turns == (1,) and found[0].provenance.session == "s"
    assert found[0].provenance.spans[0].end == len(said.text)
    assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)
    assert json.loads(json.dumps(found.to_dict()))["hits"][0]["record"]["id"] == said.id


def test_nothing_is_not_found(mem: Memory) -> None:
    alice = mem.scope(user="alice")
    assert alice.recall("anything").not_found
    alice.remember("I like my tea with milk.")
    missing = alice.recall("qzxv wkpt jjgh")
    assert missing.not_found and all(h.score < 0.15 for h in missing)
    assert alice.context("qzxv wkpt jjgh", budget=500).blocks == ()
    assert not alice.recall("tea with milk").not_found


@pytest.mark.parametrize("query", ["", " ", "\n\t\u3000"])
def test_an_empty_query_is_refused(mem: Memory, query: str) -> None:
    with pytest.raises(EmptyQuery):
        mem.scope().recall(query)


@pytest.mark.parametrize("options", [{"k": 0}, {"k": -1}, {"k": 1_000_000}, {"kinds": ("memory",)}, {"kinds": ()}])
def test_options_out_of_bounds_are_refused(mem: Memory, options: Any) -> None:
    with pytest.raises((BadSetting, BadValue)):
        mem.scope().recall("x", **options)


@needs_data
def test_every_nasty_query_answers(mem: Memory) -> None:
    alice = mem.scope(user="alice")
    for text in json.loads((DATA / "nasty" / "text.json").read_text(encoding="utf-8")).values():
        alice.remember(text)
    for query in json.loads((DATA / "nasty" / "queries.json").read_text(encoding="utf-8")):
        try:
            found = alice.recall(query)
        except LeporelloError as error:
            assert isinstance(error, EmptyQuery) and not query.strip()
            continue
        assert found.not_found == (len(found) == 0 or found[0].score < 0.15)
        assert found.took_ms < 5_000


@needs_data
@pytest.mark.parametrize(
    ("name", "query"), [("cjk_one", "猫"), ("thai", "สวัสดี"), ("rtl", "שלום"), ("rtl", "مرحبا"), ("combining", "é"), ("zwj", "👩‍👩‍👧‍👦")]
)
def test_words_of_every_script_find_their_text(mem: Memory, name: str, query: str) -> None:
    texts: dict[str, str] = json.loads((DATA / "nasty" / "text.json").read_text(encoding="utf-8"))
    made = {key: mem.scope().remember(text).id for key, text in texts.items()}
    assert mem.scope().recall(query)[0].record.id == made[name]


def test_as_of_is_when_it_was_said_and_believed_at_when_it_was_stored(mem: Memory, clock: ManualClock) -> None:
    alice = mem.scope(user="alice")
    alice.remember("I live in Lyon.", at="2024-01-01")
    alice.remember("I live in Porto now.", at="2025-01-01")
    stored = clock.now()
    clock.set(datetime(2026, 6, 1, tzinfo=UTC))
    alice.remember("I live in Riga at last.", at="2026-05-01")

    def cities(**when: Any) -> set[str]:
        return {h.record.text.split()[3].strip(".") for h in alice.recall("where do I live", **when)}

    assert cities() == {"Lyon", "Porto", "Riga"}
    assert cities(as_of="2024-06-01") == {"Lyon"}
    assert cities(as_of="2025-01-01") == {"Lyon", "Porto"}
    assert cities(as_of="2023-01-01") == set()
    assert cities(believed_at=stored) == {"Lyon", "Porto"}
    assert cities(as_of="2026-05-02", believed_at=stored) == {"Lyon", "Porto"}


def test_other_threads_and_other_stores_see_what_was_committed(mem: Memory, tmp_path: Path) -> None:
    alice = mem.scope(user="alice")
    alice.remember("The first note is about herons.")
    assert alice.recall("herons")
    with leporello.open(tmp_path / "memory.db", embedder="hash") as other:
        other.scope(user="alice").remember("The second note is about kingfishers.")
        assert alice.recall("kingfishers")[0].record.text.startswith("The second")
        gone = other.scope(user="alice").recall("herons")[0].record.id
        other.scope(user="alice").erase(gone)
        assert all(h.record.id != gone for h in alice.recall("herons"))
    answers: list[int] = []
    threads = [threading.Thread(target=lambda: answers.append(len(alice.recall("kingfishers note")))) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert answers == [1] * 8


def test_kinds_narrow_and_sessions_too(mem: Memory) -> None:
    alice = mem.scope(user="alice")
    alice.session("one").add("The heron stands in the river at dawn.")
    alice.session("two").add("The heron flew over the mill at noon.")
    alice.learn("Herons eat fish.", kind="fact")
    assert {h.record.kind for h in alice.recall("heron herons")} == {"message", "fact"}
    assert {h.record.kind for h in alice.recall("heron", kinds=("fact",))} == {"fact"}
    assert [h.record.text for h in alice.narrow(session="two").recall("heron", kinds=("message",))] == [
        "The heron flew over the mill at noon."
    ]


def test_a_fact_that_ended_is_found_only_for_its_time(mem: Memory, clock: ManualClock) -> None:
    alice = mem.scope(user="alice")
    old = alice.learn("The office is in Lyon.", at="2024-01-01")
    new = alice.learn("The office moved to Porto.", at="2025-01-01")
    assert alice.contradict(old.id, by=new.id).superseded_by == new.id
    assert [h.record.text for h in alice.recall("office", kinds=("fact",))] == ["The office moved to Porto."]
    assert [h.record.text for h in alice.recall("office", kinds=("fact",), as_of="2024-06-01")] == ["The office is in Lyon."]
    assert [f.text for f in alice.facts(as_of="2025-01-01")] == ["The office moved to Porto."]


def test_the_shelf_lets_go_of_what_was_asked_longest_ago(mem: Memory) -> None:
    shelf = Shelf(256, rows=3)
    for name in "abc":
        for i in range(3):
            mem.scope(user=name).remember(f"heron {i}")
    small = [leporello.Scoped(mem.scope(user=name).scope, mem._ports, shelf) for name in "abc"]
    for _ in range(2):
        for handle in small:
            assert len(handle.recall("heron")) == 3
    assert len(shelf._held) == 1


def test_the_graph_brings_in_what_hangs_together_with_a_name(mem: Memory) -> None:
    alice = mem.scope(user="alice")
    for text in ("Alice is married to Robert.", "Robert works at Siemens.", "Siemens is based in Munich.", "Carol likes chess."):
        alice.learn(text)
    found = alice.recall("Who is Robert?", kinds=("fact",), k=9)
    reasons = {h.record.text: {w.term: w.value for w in h.why} for h in found}
    assert reasons["Robert works at Siemens."]["graph"] > 0 and "graph" in reasons["Siemens is based in Munich."]
    assert "graph" not in reasons.get("Carol likes chess.", {})
    assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)
    with leporello.open(":memory:", embedder="hash", policies={"recall": {"graph": 0}}) as flat:
        flat.scope(user="alice").learn("Robert works at Siemens.")
        assert all(w.term != "graph" for h in flat.scope(user="alice").recall("Robert") for w in h.why)


def test_layers_and_tiers_are_names_of_kinds(mem: Memory) -> None:
    alice = mem.scope(user="alice")
    alice.remember("The heron stands in the river.")
    alice.learn("Herons eat fish.")
    assert {h.record.kind for h in alice.recall("heron herons", kinds=("L3",))} == {"fact"}
    assert {h.record.kind for h in alice.recall("heron herons", kinds=("L1", "L3"))} == {"message", "fact"}
    assert {h.record.kind for h in alice.recall("heron herons", kinds="medium")} == {"fact"}  # type: ignore[arg-type]
    for wrong in (("L4",), ("short",)):
        with pytest.raises(BadSetting):
            alice.recall("heron", kinds=wrong)  # type: ignore[arg-type]


def test_what_tells_how_things_stand_by_now_comes_before_what_it_replaces(mem: Memory) -> None:
    alice = mem.scope(user="alice")
    alice.remember("I tagged the release of the budget tracker with 150 commits in the main branch of the repository.", at="2026-01-01")
    alice.remember(
        "Please harden the login of the app, considering that the commits in the main branch have now reached 165.", at="2026-02-01"
    )
    found = alice.recall("How many commits are in the main branch?", kinds=("message",))
    assert "165" in found[0].record.text

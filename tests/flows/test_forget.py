"""Erasing: the record, everything that rests on it, everywhere, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import leporello
from leporello.errors import NotFound
from leporello.memory import Memory
from leporello.records import Episode, EpisodeDraft, Operation
from leporello.testing import ManualClock, ScriptedCompactor

MARK = "Zanzibarstraße-heron-42"


def left_in(folder: Path, text: str) -> list[str]:
    """The files of the store that still hold the text."""
    return [p.name for p in sorted(folder.iterdir()) if p.is_file() and text.encode() in p.read_bytes()]


def talk(mem: Memory, user: str, turns: int = 30) -> None:
    session = mem.scope(user=user, project="shop").session("s")
    for i in range(turns):
        secret = f" The safe is in {MARK}, we decided to keep it there because it is dry." if i == 7 else ""
        session.add({"role": "user", "content": f"{user} asks about item {i} and the price of {i} euros.{secret}"})
        session.add({"role": "assistant", "content": f"Item {i} costs {i} euros; I updated catalogue_{i}.py accordingly."})
    session.close()
    session.compact(max_tokens=500)


def test_erasing_a_message_takes_what_rests_on_it_and_only_that(mem: Memory, tmp_path: Path) -> None:
    talk(mem, "alice")
    talk(mem, "bob")
    alice = mem.scope(user="alice", project="shop")
    session = alice.session("s")
    page = next(m for m in session.messages() if MARK in m.text)
    covering = next(e for e in session.episodes() if e.positions[0] <= page.pos <= e.positions[1])
    others = [e for e in session.episodes() if e != covering]
    facts = [f for f in alice.facts() if any(s.message == page.id for s in f.provenance.spans)]
    assert facts and MARK in session.compact(max_tokens=500).text
    receipt = alice.erase(page.id)
    assert receipt.complete and receipt.counts["messages"] == 1 and receipt.counts["facts"] == len(facts)
    assert receipt.total == 1 + len(facts)
    assert session.last_compact() is None
    after = session.episodes()
    assert [e for e in after if e in others] == others and len(after) == len(others) + 1
    remade = next(e for e in after if e not in others)
    assert (remade.turns, remade.positions, remade.number) == (
        covering.turns,
        covering.positions,
        covering.number,
    ) and remade.id != covering.id
    for gone in (page.id, covering.id, *(f.id for f in facts)):
        with pytest.raises(NotFound):
            alice.get(gone)
    assert MARK not in str([*session.messages(), *after, *alice.facts(), alice.recall(MARK, k=50).hits, session.compact().text])
    assert all(set(f.provenance.episodes) <= {e.id for e in after} for f in alice.facts())
    assert MARK in str(list(mem.scope(user="bob", project="shop").session("s").messages()))
    mem.scope(user="bob", project="shop").erase_all()
    assert left_in(tmp_path, MARK) == []
    assert mem.doctor() == []
    assert session.fold(all=True).episodes == ()


def test_erase_all_leaves_no_byte_and_spares_the_others(mem: Memory, tmp_path: Path) -> None:
    talk(mem, "alice")
    mem.scope(user="alice").set_note("where", MARK)
    mem.scope(user="alice").session("t").pin(f"Never forget {MARK}.")
    mem.scope(user="alice").learn(f"{MARK} is a street.")
    mem.scope(user="bob").remember("Bob keeps his own counsel.")
    mem.scope().learn("This belongs to everybody.")
    receipt = mem.scope(user="alice").erase_all()
    assert receipt.complete and receipt.counts["messages"] == 60 and receipt.total >= 60
    assert left_in(tmp_path, MARK) == [] and left_in(tmp_path, "alice") == []
    assert mem.scope(user="alice").stats()["messages"] == 0
    assert mem.scope(user="bob").stats()["messages"] == 1 and len(mem.scope(user="alice").facts()) == 1
    again = mem.scope(user="alice").erase_all()
    assert (again.total, dict(again.counts)) == (0, {})
    mem.scope(user="alice").remember("Alice is back.")
    assert mem.scope(user="alice").recall("Alice back")[0].record.text == "Alice is back."


def test_erasing_an_episode_takes_its_turns(mem: Memory, tmp_path: Path) -> None:
    talk(mem, "alice")
    alice = mem.scope(user="alice", project="shop")
    session = alice.session("s")
    episode = next(e for e in session.episodes() if any(MARK in m.text for m in session.unfold(e.id)))
    count = len(session.unfold(episode.id))
    receipt = alice.erase(episode.id)
    assert receipt.counts["messages"] == count and receipt.counts["episodes"] == 1
    assert left_in(tmp_path, MARK) == []
    session.add("a new turn after the gap")
    assert session.fold(all=True).turns is not None


def test_erasing_a_fact_leaves_its_sources(mem: Memory) -> None:
    talk(mem, "alice")
    alice = mem.scope(user="alice", project="shop")
    fact, before = alice.facts()[0], alice.stats()
    assert alice.erase(fact.id).total == 1
    assert alice.stats() == before | {"facts": before["facts"] - 1}


def test_a_wrong_id_erases_nothing(mem: Memory) -> None:
    alice = mem.scope(user="alice")
    kept = alice.remember("stay")
    with pytest.raises(NotFound):
        alice.erase(kept.id, "m_nobody")
    assert alice.get(kept.id) == kept


def test_a_reader_that_holds_the_bytes_is_told_of(tmp_path: Path, clock: ManualClock) -> None:
    path = tmp_path / "m.db"
    with leporello.open(path, embedder="hash", clock=clock) as mem, leporello.open(path, embedder="hash") as other:
        page = mem.scope(user="a").remember(f"remember {MARK}")
        with other._ports.store.read() as r:
            assert r.tenants() == ["default"]
            receipt = mem.scope(user="a").erase(page.id)
        assert not receipt.complete and receipt.note
        mem.flush()
        assert left_in(tmp_path, MARK) == []


def test_facts_of_a_wider_level_go_with_their_source(mem: Memory) -> None:
    alice = mem.scope(user="alice", project="shop", session="s")
    fact = alice.learn("Shared by the project.", level="project")
    assert fact.scope.session is None
    assert mem.scope(user="alice", project="shop").facts() == (fact,)
    alice.erase_all()
    assert mem.scope(user="alice", project="shop").facts() == (fact,)


def test_an_episode_whose_messages_are_all_erased_goes(mem: Memory) -> None:
    talk(mem, "alice")
    alice = mem.scope(user="alice", project="shop")
    session = alice.session("s")
    first, *rest = session.episodes()
    alice.erase(*(m.id for m in session.unfold(first.id)))
    assert [(e.id, e.positions) for e in session.episodes()] == [(e.id, e.positions) for e in rest]
    layers = session.layers()
    assert [t for a, b in (*layers.l3, *layers.l2, *layers.l1) for t in range(a, b + 1)] == list(range(1, layers.turns + 1))


def test_half_of_a_turn_erased_leaves_the_other_half_in_a_layer(mem: Memory) -> None:
    session = mem.scope(user="a").session("s")
    said = session.add({"role": "user", "content": "first, a long question about the heron statue"})
    said += session.add({"role": "assistant", "content": "an answer about the heron statue at some length"})
    said += session.add({"role": "user", "content": "then another question, please read the list"})
    said += session.add({"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]})
    session.fold(all=True)
    session.add({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "one, two, three"}]})
    session.fold(all=True)
    assert [e.turns for e in session.episodes()] == [(1, 2), (3, 3)]
    mem.scope(user="a").erase(said[2].id)
    assert [e.turns for e in session.episodes()] == [(1, 1), (2, 3)]
    assert session.layers().l2 == ((1, 1), (2, 3))


def test_a_compactor_that_fails_does_not_stop_an_erasure(tmp_path: Path, clock: ManualClock) -> None:
    path = tmp_path / "m.db"
    with leporello.open(path, embedder="hash", clock=clock) as mem:
        talk(mem, "alice")
        page = next(m for m in mem.scope(user="alice", project="shop").session("s").messages() if MARK in m.text)
    with leporello.open(path, embedder="hash", clock=clock, compactor=ScriptedCompactor()) as mem:
        alice = mem.scope(user="alice", project="shop")
        assert alice.erase(page.id).complete
        assert "extractive/1" in {e.compactor for e in alice.episodes()}
    assert left_in(tmp_path, MARK) == []


def test_a_fact_that_came_from_an_episode_as_a_whole(tmp_path: Path, clock: ManualClock) -> None:
    """A fact that came from an episode as a whole, as a model may make it, goes with any of the episode's messages."""
    scripted = ScriptedCompactor(episodes=[EpisodeDraft("They spoke of items.")] * 9, operations=[lambda asked: whole(asked.episodes)])

    def whole(episodes: Sequence[Episode]) -> tuple[Operation, ...]:
        return (Operation("add", "The catalogue is in good order.", episodes=(episodes[0].id,)),)

    with leporello.open(tmp_path / "scripted.db", embedder="hash", clock=clock, compactor=scripted) as mem:
        erase_a_source(mem)


def erase_a_source(mem: Memory) -> None:
    talk(mem, "alice")
    alice = mem.scope(user="alice", project="shop")
    episode = alice.session("s").episodes()[0]
    [fact] = alice.facts()
    alice.erase(alice.session("s").unfold(episode.id)[0].id)
    with pytest.raises(NotFound):
        alice.get(fact.id)

"""What stands around a name: from facts and messages of the scope alone, at any moment of either time, and gone with its sources."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from leporello.core.graph import lane
from leporello.errors import EmptyQuery, NotFound
from leporello.flows.graph import MESSAGES, Graphs, neighbourhood, paths
from leporello.flows.indexing import entries, said
from leporello.memory import Memory, Scoped
from leporello.ports import Change
from leporello.records import Fact, Provenance
from leporello.testing import ManualClock


@pytest.fixture
def graphs(mem: Memory) -> Graphs:
    return Graphs(mem._shelf)


def put(mem: Memory, scope: Scoped, text: str, *claim: str, **changed: Any) -> Fact:
    """Writes a fact as it is; `claim` is its subject, predicate and object."""
    subject, predicate, object_ = (*claim, "", "", "")[:3]
    now = mem._ports.clock.now()
    made = Fact(
        "", scope.scope, text, "fact", "", "user_stated", "user", 1.0, (), now, None, now, None, Provenance(scope.scope.session),
        subject=subject, predicate=predicate, object=object_,
    )  # fmt: skip
    made = replace(made, **changed)
    with mem._ports.store.write() as w:
        return w.add_fact(made, entries(mem._ports.embedder, [said(made)])[0], Change("add", "test", now))


def change(mem: Memory, fact: Fact, **changed: Any) -> Fact:
    with mem._ports.store.write() as w:
        after = replace(fact, **changed)
        w.put_fact(after, Change("supersede", "test", mem._ports.clock.now()))
    return after


def around(mem: Memory, graphs: Graphs, scope: Scoped, name: str, **asked: Any) -> set[tuple[str, str, str]]:
    found = neighbourhood(mem._ports, graphs, scope.scope, name, **asked)
    return {(e.subject, e.predicate, e.object) for e in found.edges}


def test_facts_and_messages_stand_around_a_name_with_their_sources(mem: Memory, graphs: Graphs) -> None:
    alice = mem.scope(user="alice")
    home = put(mem, alice, "Bob lives in Lisbon.", "bob", "lives in", "lisbon")
    [told, *_] = alice.session("s").add({"role": "user", "content": "Yesterday I met Bob and Carol in Porto."})
    alice.session("s").add({"role": "user", "content": "The weather in Oslo is bobbing up and down."})
    found = neighbourhood(mem._ports, graphs, alice.scope, "BOB")
    assert found.entity.name == "Bob" and found.entity.kind == "person" and found.facts == (home.id,) and found.messages == (told.id,)
    assert {(e.subject, e.predicate, e.object, e.source) for e in found.edges} == {
        ("bob", "lives in", "lisbon", home.id), ("bob", "mentioned with", "carol", told.id), ("bob", "mentioned with", "porto", told.id),
    }  # fmt: skip
    [carol] = [e for e in found.edges if e.object == "carol"]
    [span] = carol.provenance.spans
    assert told.text[span.start : span.end] == "Carol" and carol.provenance.session == "s" and carol.provenance.turns == (told.turn,)
    assert [(e.key, e.name, e.depth) for e in found.entities] == [("lisbon", "Lisbon", 1), ("carol", "Carol", 1), ("porto", "Porto", 1)]
    assert json.loads(json.dumps(found.to_dict()))["edges"][0]["source"] == home.id


def test_a_name_that_only_messages_hold_is_known_and_its_speaker_too(mem: Memory, graphs: Graphs) -> None:
    alice = mem.scope(user="alice")
    alice.remember("I love Lisbon, and Ben loves Rome.", name="Melanie")
    assert around(mem, graphs, alice, "Ben") == {
        ("ben", "mentioned with", "melanie"), ("ben", "mentioned with", "lisbon"), ("ben", "mentioned with", "rome")
    }  # fmt: skip
    assert around(mem, graphs, alice, "melanie") == {
        ("melanie", "mentions", "lisbon"), ("melanie", "mentions", "ben"), ("melanie", "mentions", "rome")
    }  # fmt: skip
    assert neighbourhood(mem._ports, graphs, alice.scope, "ben").entity.kind == "person"


def test_an_alias_finds_the_messages_of_every_name(mem: Memory, graphs: Graphs) -> None:
    alice = mem.scope(user="alice")
    put(mem, alice, "Bob is short for Robert.")
    alice.remember("I saw Bob in Rome.")
    alice.remember("I saw Robert in Oslo.")
    for name in ("Bob", "robert"):
        assert {("robert", "mentioned with", "rome"), ("robert", "mentioned with", "oslo")} <= around(mem, graphs, alice, name)


def test_an_unknown_name_is_not_found_with_names_like_it(mem: Memory, graphs: Graphs) -> None:
    alice = mem.scope(user="alice")
    put(mem, alice, "Melanie lives in Lisbon.", "melanie", "lives in", "lisbon")
    with pytest.raises(NotFound, match="Names like it here: Melanie"):
        neighbourhood(mem._ports, graphs, alice.scope, "Melany")
    with pytest.raises(NotFound, match="Check the spelling"):
        neighbourhood(mem._ports, graphs, alice.scope, "Zorro")
    with pytest.raises(NotFound):
        paths(mem._ports, graphs, alice.scope, "Melanie", "Zorro")
    for nothing in ("", "  ", "@", "\u0301"):
        with pytest.raises(EmptyQuery):
            neighbourhood(mem._ports, graphs, alice.scope, nothing)


def test_nothing_crosses_scopes(mem: Memory, graphs: Graphs) -> None:
    alice, bob = mem.scope(user="alice", project="one"), mem.scope(user="bob")
    put(mem, alice, "Carla lives in Lisbon.", "carla", "lives in", "lisbon")
    alice.remember("I met Carla in Rome.")
    put(mem, bob, "Carla works in Oslo.", "carla", "works in", "oslo")
    assert around(mem, graphs, alice, "carla") == {("carla", "lives in", "lisbon"), ("carla", "mentioned with", "rome")}
    assert around(mem, graphs, bob, "carla") == {("carla", "works in", "oslo")}
    for other in (mem.scope(user="alice", project="two"), mem.scope(user="carol"), mem.scope(tenant="t", user="alice")):
        with pytest.raises(NotFound) as error:
            neighbourhood(mem._ports, graphs, other.scope, "carla")
        assert "Carla" not in error.value.hint


def test_an_ended_fact_has_its_edge_in_its_period_only(mem: Memory, graphs: Graphs, clock: ManualClock) -> None:
    alice = mem.scope(user="alice")
    first, second = datetime(2024, 1, 1, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC)
    old = put(mem, alice, "Dora lives in Lyon.", "dora", "lives in", "lyon", valid_from=first)
    believed = clock.now()
    clock.advance(seconds=3600)
    change(mem, old, valid_to=second, status="deprecated")
    put(mem, alice, "Dora lives in Porto.", "dora", "lives in", "porto", valid_from=second)

    def homes(**when: Any) -> set[str]:
        try:
            return {e[2] for e in around(mem, graphs, alice, "dora", **when)}
        except NotFound:
            return set()

    assert homes() == {"porto"} and homes(as_of=second) == {"porto"}
    assert homes(as_of=first) == homes(as_of=second - timedelta(microseconds=1)) == {"lyon"}
    assert homes(as_of=first - timedelta(microseconds=1)) == set()
    assert homes(believed_at=believed) == {"lyon"} and homes(as_of=second, believed_at=believed) == {"lyon"}
    assert homes(believed_at=believed - timedelta(days=1)) == set()


def test_an_end_that_is_known_ahead_comes_without_a_write(mem: Memory, graphs: Graphs, clock: ManualClock) -> None:
    alice = mem.scope(user="alice")
    put(mem, alice, "Emil rents a flat in Rome.", "emil", "rents in", "rome", valid_to=clock.now() + timedelta(days=1))
    assert around(mem, graphs, alice, "emil")
    clock.advance(seconds=86_400)
    with pytest.raises(NotFound):
        neighbourhood(mem._ports, graphs, alice.scope, "emil")


def test_messages_count_from_when_they_were_said_and_stored(mem: Memory, graphs: Graphs, clock: ManualClock) -> None:
    alice = mem.scope(user="alice")
    alice.remember("I met Fritz in Rome.", at="2024-01-01")
    then = clock.now()
    clock.advance(seconds=60)
    alice.remember("I met Fritz in Oslo.", at="2025-01-01")
    assert {e[2] for e in around(mem, graphs, alice, "fritz")} == {"rome", "oslo"}
    assert {e[2] for e in around(mem, graphs, alice, "fritz", believed_at=then)} == {"rome"}
    assert {e[2] for e in around(mem, graphs, alice, "fritz", as_of=datetime(2024, 6, 1, tzinfo=UTC))} == {"rome"}


def test_an_erased_record_leaves_no_edge_and_no_name(mem: Memory, graphs: Graphs) -> None:
    alice = mem.scope(user="alice")
    home = put(mem, alice, "Gerda lives in Lisbon.", "gerda", "lives in", "lisbon")
    told = alice.remember("I met Gerda in Rome.")
    assert len(around(mem, graphs, alice, "gerda")) == 2
    alice.erase(told.id)
    assert around(mem, graphs, alice, "gerda") == {("gerda", "lives in", "lisbon")}
    alice.erase(home.id)
    with pytest.raises(NotFound) as error:
        neighbourhood(mem._ports, graphs, alice.scope, "gerd")
    assert "Gerda" not in error.value.hint


def test_the_limit_and_the_number_of_messages_hold(mem: Memory, graphs: Graphs) -> None:
    alice = mem.scope(user="alice")
    for i in range(MESSAGES + 10):
        alice.remember(f"I met Hanna with friend{i}@example.org today.")
    found = neighbourhood(mem._ports, graphs, alice.scope, "hanna", limit=7)
    assert len(found.edges) == len(found.messages) == len(found.entities) == 7 and found.omitted == MESSAGES - 7


def test_ways_go_over_facts_and_messages(mem: Memory, graphs: Graphs) -> None:
    alice = mem.scope(user="alice")
    put(mem, alice, "Ida works with Jakob.", "ida", "works with", "jakob")
    put(mem, alice, "Jakob lives in Oslo.", "jakob", "lives in", "oslo")
    alice.remember("I saw Ida with Klara.")
    assert [p.nodes for p in paths(mem._ports, graphs, alice.scope, "Ida", "Oslo")] == [("ida", "jakob", "oslo")]
    [way] = paths(mem._ports, graphs, alice.scope, "Klara", "Oslo")
    assert way.nodes == ("klara", "ida", "jakob", "oslo") and way.edges[0].predicate == "mentioned with"
    assert json.loads(json.dumps(way.to_dict()))["nodes"][0] == "klara"
    put(mem, alice, "Lars lives in Bergen.", "lars", "lives in", "bergen")
    assert paths(mem._ports, graphs, alice.scope, "Ida", "Lars") == ()


def test_a_graph_is_kept_until_a_fact_changes(mem: Memory, graphs: Graphs, clock: ManualClock) -> None:
    alice = mem.scope(user="alice")
    put(mem, alice, "Mona lives in Rome.", "mona", "lives in", "rome")

    def held(**when: Any) -> Any:
        with mem._ports.store.read() as r:
            return graphs.of(r, alice.scope, now=clock.now(), **when)

    first = held()
    clock.advance(seconds=60)
    alice.remember("nothing that is a fact")
    assert held() is first and held(as_of=clock.now()) is not first and held() is first
    fact = put(mem, alice, "Mona drinks tea.", "mona", "drinks", "tea")
    second = held()
    assert second is not first and fact.id in second.facts and lane(second, "what does mona drink")
    change(mem, fact, status="archived")
    assert fact.id not in held().facts
    graphs.clear()
    assert held().edges == first.edges and held() is not first


def test_only_the_last_few_graphs_are_kept(mem: Memory, clock: ManualClock) -> None:
    graphs = Graphs(mem._shelf, kept=2)
    scopes = [mem.scope(user=name).scope for name in "abc"]
    with mem._ports.store.read() as r:
        a, b = (graphs.of(r, s, now=clock.now()) for s in scopes[:2])
        assert graphs.of(r, scopes[0], now=clock.now()) is a
        graphs.of(r, scopes[2], now=clock.now())
        assert graphs.of(r, scopes[0], now=clock.now()) is a and graphs.of(r, scopes[1], now=clock.now()) is not b


def test_many_threads_ask_at_once(mem: Memory, graphs: Graphs) -> None:
    alice = mem.scope(user="alice")
    put(mem, alice, "Nora lives in Rome.", "nora", "lives in", "rome")
    answers: list[set[tuple[str, str, str]]] = []
    threads = [threading.Thread(target=lambda: answers.append(around(mem, graphs, alice, "nora"))) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert answers == [{("nora", "lives in", "rome")}] * 8


def test_a_name_in_a_script_without_spaces_is_found_inside_a_text(mem: Memory, graphs: Graphs) -> None:
    alice = mem.scope(user="alice")
    put(mem, alice, "我的老板是王芳。")
    alice.remember("昨天王芳推荐了《三体》。")
    assert ("王芳", "mentioned with", "三体") in around(mem, graphs, alice, "王芳")


def test_the_user_of_a_scope_is_one_person_and_two_users_are_two(mem: Memory, graphs: Graphs) -> None:
    anna, bert = mem.scope(user="Anna"), mem.scope(user="Bert")
    put(mem, anna, "I live in Rome.", "user", "home", "rome")
    put(mem, bert, "I live in Oslo.", "user", "home", "oslo")
    assert around(mem, graphs, anna, "user") == around(mem, graphs, anna, "anna") == {("anna", "home", "rome")}
    assert around(mem, graphs, mem.scope(), "bert") == {("bert", "home", "oslo")}


def test_a_fact_can_be_asked_about_and_a_long_message_gives_its_first_names(mem: Memory, graphs: Graphs) -> None:
    alice = mem.scope(user="alice")
    held = put(mem, alice, "We met Paul in Rome.")
    found = neighbourhood(mem._ports, graphs, alice.scope, held.id)
    assert found.entity.kind == "fact" and found.entity.name == held.text and {e.object for e in found.edges} == {"paul", "rome"}
    alice.remember("Quentin wrote to " + ", ".join(f"user{i}@example.org" for i in range(100)))
    assert len(neighbourhood(mem._ports, graphs, alice.scope, "Quentin").edges) == 20


def test_what_is_learned_by_hand_is_in_the_graph(mem: Memory, graphs: Graphs) -> None:
    alice = mem.scope(user="alice")
    learned = alice.learn("I met Olga in Lisbon.")
    found = neighbourhood(mem._ports, graphs, alice.scope, "olga", depth=2)
    assert learned.id in found.facts and "lisbon" in {e.key for e in found.entities}
    alice.retract(learned.id)
    with pytest.raises(NotFound):
        neighbourhood(mem._ports, graphs, alice.scope, "olga")

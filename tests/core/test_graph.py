"""The graph of facts: edges that follow their facts, aliases without guessing, hubs that do not flood, bounded ways."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leporello.core.graph import HUB, Edge, Graph, Read, find, graph, lane, neighbours, paths, read, seeds
from leporello.records import Fact, Provenance, Scope, Span

NOW = datetime(2026, 1, 1, tzinfo=UTC)
_MADE = Fact("", Scope(), "", "fact", "", "user_stated", "user", 1.0, (), NOW, None, NOW, None, Provenance())


def fact(id: str, text: str, *claim: str, **changed: Any) -> Fact:
    """A fact of this text; `claim` is its subject, predicate and object."""
    subject, predicate, object_ = (*claim, "", "", "")[:3]
    return replace(_MADE, id=id, text=text, subject=subject, predicate=predicate, object=object_, **changed)


def triples(made: Graph) -> list[tuple[str, str, str]]:
    return [(e.subject, e.predicate, e.object) for e in made.edges]


LISBON = fact("f1", "Alice lives in Lisbon.", "alice", "lives in", "lisbon")
FALCON = fact("f2", "We chose Postgres for the project Falcon because Bob knows it.")
TEA = fact("f3", "Alice drinks tea with Bob.", "alice", "drinks", "tea")


def test_a_fact_with_a_claim_is_one_typed_edge_and_others_mention() -> None:
    made = graph([LISBON, FALCON, TEA])
    assert triples(made) == [
        ("alice", "lives in", "lisbon"),
        ("f2", "mentions", "postgres"), ("f2", "mentions", "falcon"), ("f2", "mentions", "bob"),
        ("alice", "drinks", "tea"), ("alice", "mentions", "bob"),
    ]  # fmt: skip
    assert made.entities["alice"].name == "Alice" and made.entities["alice"].kind == "person" and made.entities["alice"].facts == 2
    assert made.entities["tea"].kind == "thing" and made.entities["falcon"].kind == "project"
    assert made.node("f2") is not None and made.holders["bob"] == ("f2", "f3")


def test_an_edge_carries_what_its_fact_does() -> None:
    source = Provenance("s", (3,), (), (Span("m1", 0, 5, 3),))
    end = datetime(2027, 1, 1, tzinfo=UTC)
    [edge] = graph([replace(LISBON, confidence=0.4, status="conflict", valid_to=end, trust="agent", provenance=source)]).edges
    assert edge == Edge("alice", "lives in", "lisbon", "f1", 0.4, NOW, end, 0.4, "conflict", "agent", source)


@pytest.mark.parametrize("hidden", [{"retracted_at": NOW}, {"status": "archived"}, {"status": "quarantine"}])
def test_what_is_retracted_or_hidden_makes_no_edge(hidden: dict[str, Any]) -> None:
    made = graph([replace(LISBON, **hidden), TEA])
    assert {e.source for e in made.edges} == {"f3"} and "lisbon" not in made.names and "f1" not in made.facts


def test_a_subject_alone_or_a_long_object_is_no_typed_edge_but_is_held() -> None:
    made = graph([fact("f1", "Alice is happy.", "alice"), fact("f2", "Alice thinks much.", "alice", "thinks", "x" * 200)])
    assert made.edges == () and made.holders["alice"] == ("f1", "f2")
    assert lane(made, "alice") == pytest.approx({"f1": 1.0, "f2": 1.0})


def test_names_in_tags_are_mentioned_and_plain_tags_are_not() -> None:
    made = graph([fact("f1", "Keep the retries low.", tags=("work", "src/retry.py", "max_retries"))])
    assert triples(made) == [("f1", "mentions", "src/retry.py"), ("f1", "mentions", "max_retries")]


def test_a_capital_at_the_start_counts_if_another_fact_knows_the_name() -> None:
    alone = graph([fact("f1", "Lisbon is sunny.")])
    assert alone.edges == ()
    assert ("f1", "mentions", "lisbon") in triples(graph([fact("f1", "Lisbon is sunny."), LISBON]))


STATED = [
    ("Bob is short for Robert.", "bob", "robert"),
    ("Mel = Melanie", "mel", "melanie"),
    ("Melanie = Mel", "mel", "melanie"),
    ("Melanie is also known as Mel.", "mel", "melanie"),
    ("Robert Smith, alias Bobby, called.", "bobby", "robert smith"),
    ("Robert's nickname is Bob.", "bob", "robert"),
    ("The nickname of Robert is Bob.", "bob", "robert"),
    ("Robert is called Bob by everyone.", "bob", "robert"),
    ("The code name of Apollo is Falcon.", "falcon", "apollo"),
    ("Peter heißt auch Pit.", "pit", "peter"),
    ("Johanna wird Hanna genannt.", "hanna", "johanna"),
    ("Der Spitzname von Johanna ist Hanna.", "hanna", "johanna"),
    ("Hanna ist die Kurzform von Johanna.", "hanna", "johanna"),
    ("Francisco, también conocido como Paco, cocina.", "paco", "francisco"),
    ("A Francisco le dicen Paco.", "paco", "francisco"),
    ("Paco es el apodo de Francisco.", "paco", "francisco"),
    ("李雷的昵称是雷雷。", "雷雷", "李雷"),
    ("北京大学简称北大", "北大", "北京大学"),
    ("小明是李明的小名。", "小明", "李明"),
]


@pytest.mark.parametrize(("text", "alias", "name"), STATED)
def test_a_fact_can_say_that_two_names_are_one(text: str, alias: str, name: str) -> None:
    made = graph([fact("f1", text)])
    assert made.names[alias] == name and find(made, alias) == find(made, name) == name
    assert alias not in made.entities and alias in {a.casefold() for a in made.entities[name].aliases}


def test_a_claim_can_say_it_too_and_a_stranger_cannot() -> None:
    said = fact("f1", "she goes by mel", "melanie", "nickname", "mel")
    assert graph([said]).names["mel"] == "melanie"
    for trust in ("tool", "external"):
        assert graph([replace(said, trust=trust)]).names["mel"] == "mel"


def test_brackets_give_three_names() -> None:
    made = graph([fact("f1", "Robert (Bob) Smith moved."), fact("f2", "I met Bob."), fact("f3", "I met Bob Smith and Robert Smith.")])
    assert made.holders["robert smith"] == ("f1", "f2", "f3")
    assert made.entities["robert smith"].aliases == ("Bob", "Bob Smith", "Robert (Bob) Smith")


def test_an_alias_of_two_names_is_an_alias_of_none_and_circles_end() -> None:
    two = graph([fact("f1", "Bob is short for Robert."), fact("f2", "Bob is short for Roberto."), fact("f3", "I met Bob.")])
    assert two.names["bob"] == "bob"
    chain = graph([fact("f1", "Mel is short for Melly."), fact("f2", "Melly is short for Melanie.")])
    assert chain.names["mel"] == chain.names["melly"] == "melanie"
    circle = graph([fact("f1", "Ana is short for Ann."), fact("f2", "Ann is short for Ana.")])
    assert circle.names["ana"] == circle.names["ann"] == "ana"


def test_a_first_name_is_the_person_of_that_name_if_there_is_one_only() -> None:
    meyer = fact("f1", "Alice Meyer lives in Porto.")
    met = fact("f2", "I met Alice.")
    assert graph([meyer, met]).holders["alice meyer"] == ("f1", "f2")
    two = graph([meyer, met, fact("f3", "Alice Chen works here.")])
    assert two.names["alice"] == "alice" and two.holders["alice"] == ("f2",)
    place = graph([fact("f1", "We drove to Alice Springs."), met])
    assert place.names["alice"] == "alice"
    firms = graph([fact("f1", "We use Google Maps."), fact("f2", "She left Google.")])
    assert firms.names["google"] == "google"


def test_a_base_name_is_its_path_if_there_is_one_only() -> None:
    made = graph([fact("f1", "fixed src/core/auth.py"), fact("f2", "auth.py is slow"), fact("f3", "core/auth.py again")])
    assert made.holders["src/core/auth.py"] == ("f1", "f2", "f3")
    two = graph([fact("f1", "fixed src/a/init.py and src/b/init.py"), fact("f2", "init.py is slow")])
    assert two.names["init.py"] == "init.py" and two.holders["init.py"] == ("f2",)


def test_names_that_are_only_alike_stay_apart() -> None:
    made = graph([fact("f1", "I met Jon."), fact("f2", "I met John."), fact("f3", "I met Joan.")])
    assert {"jon", "john", "joan"} <= set(made.entities) and all(made.entities[n].facts == 1 for n in ("jon", "john", "joan"))


def test_given_aliases_count() -> None:
    made = graph([fact("f9", "The user likes tea.", "user", "likes", "tea"), LISBON], aliases={"user": "Alice"})
    assert made.holders["alice"] == ("f9", "f1") and find(made, "user") == "alice"


def test_the_user_is_the_one_of_the_facts_scope() -> None:
    anna, bert = Scope(user="Anna"), Scope(user="bert")
    every = [
        fact("f1", "I live in Rome.", "user", "home", "rome", scope=anna), fact("f2", "My dog is called Rex.", "user's dog", "named", "rex", scope=anna),
        fact("f3", "I live in Oslo.", "user", "home", "oslo", scope=bert), fact("f4", "I met Anna.", "user", "met", "anna", scope=bert),
        fact("f5", "The username is long.", "username", "is", "long", scope=bert), fact("f6", "I live.", "user", "home", "oslo"),
    ]  # fmt: skip
    made = graph(every)
    assert triples(made) == [
        ("anna", "home", "rome"), ("anna's dog", "named", "rex"), ("bert", "home", "oslo"), ("bert", "met", "anna"), ("username", "is", "long"),
        ("user", "home", "oslo"),
    ]  # fmt: skip
    assert made.entities["anna"].kind == made.entities["user"].kind == "person" and made.entities["username"].kind == "thing"
    mine = graph(every[:2], aliases={"user": "Anna"})
    for query in ("what is my dog's name", "anna's dog", "the user's dog"):
        assert "anna's dog" in seeds(mine, query), query
    assert find(mine, "user") == find(mine, "ANNA") == "anna" and "anna's dog" not in seeds(mine, "your dog")


@pytest.mark.parametrize(
    "query", ["where does alice live", "ALICE?", "Where does Alice live?", "alice's home", "the home of (alice)", "wo wohnt álice"]
)
def test_a_name_in_a_query_is_met_in_any_case(query: str) -> None:
    made = graph([LISBON, FALCON, fact("f9", "Carol likes jam.", "carol", "likes", "jam")])
    found = lane(made, query)
    assert next(iter(found)) == "f1" and found["f1"] == 1.0 and "f9" not in found


def test_a_name_is_met_by_all_its_words_or_an_alias_but_not_by_some() -> None:
    made = graph(
        [fact("f1", "Alice Meyer lives in Porto."), fact("f2", "Bob is short for Robert."), fact("f3", "We drove to Palm Springs.")]
    )
    assert seeds(made, "meyer, alice") == {"alice meyer": 1.0}
    assert seeds(made, "what about bob") == {"robert": 1.0}
    assert seeds(made, "springs") == {} and list(seeds(made, "palm springs")) == ["palm springs"]
    assert seeds(made, "will it rain in may") == {}


def test_names_without_spaces_are_met_inside_a_query() -> None:
    made = graph([fact("f1", "我住在北京。"), fact("f2", "我喜欢《三体》。")])
    assert list(lane(made, "谁写了三体这本书")) == ["f2"] and list(lane(made, "北京天气")) == ["f1"]


@pytest.mark.parametrize("query", ["", "zebra", "the and of", "?!", "x" * 10_000])
def test_without_a_known_name_the_lane_is_empty(query: str) -> None:
    assert lane(graph([LISBON, FALCON]), query) == {} and lane(graph([]), query) == {}
    assert lane(graph([LISBON, FALCON]), "alice", alpha=0.0) == {}  # a walk that never leaves its seeds reaches no fact


def test_the_lane_reaches_what_is_two_steps_away_and_ranks_it_below() -> None:
    made = graph([
        fact("f1", "Alice works with Bob.", "alice", "works with", "bob"), fact("f2", "Bob lives in Rome.", "bob", "lives in", "rome"),
        fact("f3", "Carol lives in Oslo.", "carol", "lives in", "oslo"),
    ])  # fmt: skip
    found = lane(made, "alice")
    assert list(found) == ["f1", "f2"] and 0 < found["f2"] < found["f1"] == 1.0


def crowd(count: int) -> list[Fact]:
    made = [fact(f"u{i}", f"The user likes thing{i}.", "user", "likes", f"thing{i}") for i in range(count)]
    return [
        *made,
        fact("rare", "The user leads the project Falcon.", "user", "leads", "falcon"),
        fact("also", "Falcon uses Postgres.", "falcon", "uses", "postgres"),
    ]


@pytest.mark.parametrize("count", [20, 2_000])
def test_a_hub_does_not_flood_the_ranking(count: int) -> None:
    found = lane(graph(crowd(count)), "what does the user do with falcon")
    assert list(found)[:2] in (["rare", "also"], ["also", "rare"])
    assert all(score < 0.2 for id_, score in found.items() if id_.startswith("u"))
    assert len(found) <= 22


def test_a_query_that_names_nothing_but_a_hub_is_left_to_other_lanes() -> None:
    made = graph(crowd(200))
    assert made.is_hub("user") and lane(made, "what does the user want") == {}
    small = graph(crowd(20))
    assert not small.is_hub("user") and len(lane(small, "what does the user want")) == 22
    assert not graph(crowd(HUB - 1)).is_hub("user")


def test_neighbours_step_over_facts_and_stop_at_the_depth() -> None:
    made = graph([LISBON, FALCON, fact("f4", "Lisbon lies in Portugal.", "lisbon", "lies in", "portugal")])
    near, edges = neighbours(made, "alice")
    assert [(e.key, e.depth) for e in near] == [("lisbon", 1)] and [e.source for e in edges] == ["f1"]
    near, edges = neighbours(made, "alice", 2)
    assert [(e.key, e.depth) for e in near] == [("lisbon", 1), ("portugal", 2)] and [e.source for e in edges] == ["f1", "f4"]
    near, _ = neighbours(made, "bob")
    assert {(e.key, e.kind, e.depth) for e in near} == {("falcon", "project", 1), ("postgres", "name", 1), ("f2", "fact", 1)}
    near, _ = neighbours(made, "f1")
    assert near == ()
    near, _ = neighbours(made, "f2")
    assert {e.key for e in near} == {"postgres", "falcon", "bob"}


def test_neighbours_do_not_go_on_through_hubs() -> None:
    made = graph(crowd(200))
    near, _ = neighbours(made, "falcon", 3)
    assert {e.key for e in near} == {"user", "postgres"}


def test_ways_are_shortest_first_then_heaviest_then_by_name() -> None:
    def knows(id: str, a: str, b: str, sure: float = 1.0) -> Fact:
        return fact(id, "-", a, "knows", b, confidence=sure)

    made = graph([
        knows("1", "a1", "b1"), knows("2", "b1", "z1"), knows("3", "a1", "c1", 0.5), knows("4", "c1", "z1"), knows("5", "a1", "d1"),
        knows("6", "d1", "z1"), knows("7", "a1", "e1"), knows("8", "e1", "f1"), knows("9", "f1", "z1"), knows("10", "c1", "a1"),
    ])  # fmt: skip
    found = paths(made, "a1", "z1", 10)
    assert [p.nodes for p in found][:4] == [("a1", "b1", "z1"), ("a1", "c1", "z1"), ("a1", "d1", "z1"), ("a1", "e1", "f1", "z1")]
    assert [len(p) for p in found] == [2, 2, 2, 3] and found[0].weight == 2.0
    assert paths(made, "a1", "z1", 2) == found[:2]
    assert [tuple(reversed(p.nodes)) for p in paths(made, "z1", "a1", 10)] == [p.nodes for p in found]
    lighter = paths(
        graph([knows("1", "a1", "b1", 0.5), knows("2", "b1", "z1"), knows("3", "a1", "c1"), knows("4", "c1", "z1")]), "a1", "z1"
    )
    assert [p.nodes[1] for p in lighter] == ["c1", "b1"]
    assert paths(made, "a1", "a1") == paths(made, "a1", "nobody") == paths(made, "a1", "z1", 0) == ()


def test_a_search_for_ways_is_bounded() -> None:
    web = [fact(f"{i}-{j}", "-", f"n{i}", "knows", f"n{j}") for i in range(40) for j in range(i + 1, 40)]
    far = [fact(f"c{i}", "-", f"c{i}", "knows", f"c{i + 1}") for i in range(20)]
    made = graph([*web, *far])
    began = perf_counter()
    assert len(paths(made, "n0", "n39", 5_000)) > 30
    assert perf_counter() - began < 5
    assert len(paths(made, "c0", "c8")[0]) == 8 and paths(made, "c0", "c9") == ()


def test_a_graph_of_twenty_thousand_facts_answers_at_once() -> None:
    chance = random.Random(1)
    people = [f"p{i} q{i % 7}" for i in range(2_000)]
    facts = [fact(f"f{i}", "-", chance.choice(people), "knows", chance.choice(people)) for i in range(20_000)]
    made = graph(facts)
    lane(made, people[0])
    times = []
    for name in people[:5]:
        began = perf_counter()
        assert lane(made, f"who knows {name}")
        times.append(perf_counter() - began)
    assert min(times) < 0.1


@given(st.permutations([LISBON, FALCON, TEA, fact("f4", "Bob is short for Robert."), fact("f5", "Alice Meyer lives in Porto.")]))
def test_the_order_of_facts_changes_nothing_but_the_order(facts: list[Fact]) -> None:
    made, sorted_ = graph(facts), graph(sorted(facts, key=lambda f: f.id))
    assert made.names == sorted_.names and made.entities == sorted_.entities and set(made.edges) == set(sorted_.edges)
    assert lane(made, "alice and bob") == pytest.approx(lane(sorted_, "alice and bob"), abs=1e-5)


@given(st.sets(st.sampled_from(["f1", "f2", "f3", "f4"])))
def test_edges_go_with_their_facts(gone: set[str]) -> None:
    every = [LISBON, FALCON, TEA, fact("f4", "Bob is short for Robert.")]
    made = graph([f for f in every if f.id not in gone])
    assert {e.source for e in made.edges}.isdisjoint(gone) and set(made.facts).isdisjoint(gone)
    assert set(lane(made, "alice bob lisbon falcon robert")).isdisjoint(gone)
    assert ("bob" in made.entities) == ("f4" in gone and not {"f2", "f3"} <= gone)


def test_what_was_read_may_be_kept() -> None:
    held: dict[str, Read] = {f.id: read(f) for f in (LISBON, FALCON, TEA)}
    again = graph([LISBON, FALCON, TEA], reading=lambda f: held[f.id])
    assert again.edges == graph([LISBON, FALCON, TEA]).edges


def test_find_means_one_entity_or_none() -> None:
    made = graph([fact("f1", "Alice Meyer lives in Porto."), fact("f2", "Carl Meyer lives in Rome.")])
    assert find(made, "ALICE  meyer") == "alice meyer" and find(made, "alice") == "alice meyer" and find(made, "@Alice") == "alice meyer"
    assert (
        find(made, "meyer") == "" and find(made, "carl meyer") == "carl meyer" and find(made, "f2") == "f2" and find(made, "nobody") == ""
    )


@given(
    st.lists(
        st.tuples(
            *[st.one_of(st.text(max_size=30), st.sampled_from(["Bob", "bob is short for Bob Ray.", "a/b.py", "user", "Ann = Anna"]))] * 4
        ),
        max_size=5,
    )
)
def test_facts_of_any_text_make_a_graph(claims: list[tuple[str, str, str, str]]) -> None:
    made = graph([fact(f"f{i}", text, *claim) for i, (text, *claim) in enumerate(claims)])
    assert all(n in made.entities or n in made.facts for e in made.edges for n in (e.subject, e.object))
    assert set(made.names.values()) <= set(made.entities) and all(made.names[n] == n for n in made.entities)
    for text, *_ in claims:
        assert all(0 < score <= 1 for score in lane(made, text).values()) and find(made, text) in {"", *made.entities, *made.facts}


RUNS = [
    "alias " + "Aa" * 9_000,
    "known as " + "A.a-" * 5_000,
    "= " + "a/" * 9_000,
    "又名" + "李" * 20_000,
    "李又名" * 5_000,
    "is called A B " * 1_500,
    "a." * 9_000,
]


@pytest.mark.parametrize("text", RUNS, ids=range(len(RUNS)))
def test_hostile_text_is_read_in_good_time(text: str) -> None:
    began = perf_counter()
    graph([fact("f1", text)])
    assert perf_counter() - began < 2

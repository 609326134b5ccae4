"""The index and the ranking: published vectors, an independent BM25, and the laws of masking, appending and removing."""

from __future__ import annotations

import gzip
import json
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from os import environ
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from leporello.adapters.static import HashEmbedder, StaticEmbedder
from leporello.core.rank import Found, Index, Query, Sieve, bm25_idf, bm25_tf, rrf, search
from leporello.core.words import index_terms, index_text, query_terms, terms
from leporello.policies import RecallPolicy
from leporello.ports import IndexRow

DATA = Path(environ.get("LEPORELLO_EVAL_DATA", Path(__file__).resolve().parents[3] / "shared/data"))
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"no evaluation data at {DATA} (set LEPORELLO_EVAL_DATA)")
DIMENSION = 32
MODEL = HashEmbedder(DIMENSION)
POLICY = RecallPolicy()
MINUTE = 60_000_000
WORDS = "dog cat bird fish tree house river stone cloud bread".split()


def row(rid: int, text: str, **changes: object) -> IndexRow:
    base = IndexRow(rid, "message", 1, rid, rid * MINUTE, rid * MINUTE, 0, 0, 1, terms(text).tobytes(), MODEL.embed([text])[0].tobytes())
    return replace(base, **changes)  # type: ignore[arg-type]


def index(rows: list[IndexRow]) -> Index:
    made = Index(DIMENSION)
    made.apply(rows)
    return made


def query(text: str) -> Query:
    return Query(query_terms(text), MODEL.embed([text])[0])


def ask(held: Index, text: str, sieve: Sieve = Sieve(), *, k: int = 50, policy: RecallPolicy = POLICY) -> list[Found]:
    return search(held, query(text), sieve, policy, k=k)


def rids(found: list[Found]) -> list[int]:
    return [f.rid for f in found]


# --- formulas


@pytest.mark.parametrize(
    ("tf", "df", "length", "k1", "expect"),
    [(1, 1, 4, 1.2, 0.980829), (1, 1, 4, 2.0, 0.980829), (2, 1, 6, 1.2, 1.182370), (2, 1, 6, 1.5, 1.207174), (1, 3, 4, 1.2, 0.133531)],
)
def test_bm25_against_published_values(tf: int, df: int, length: int, k1: float, expect: float) -> None:
    part = bm25_tf(np.array([float(tf)]), np.array([float(length)]), 4.0, k1=k1, b=0.75)
    assert bm25_idf(3, df) * float(part[0]) == pytest.approx(expect, abs=1e-6)


@pytest.mark.parametrize(("ranks", "expect"), [((1, 1), 0.032787), ((1, 3), 0.032266), ((2, 5), 0.031514), ((1,), 0.016393)])
def test_rrf_against_published_values(ranks: tuple[int, ...], expect: float) -> None:
    assert rrf(ranks) == pytest.approx(expect, abs=1e-6)


@given(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12), min_size=2, max_size=12), st.sampled_from(WORDS))
def test_bm25_tf_against_an_independent_package(texts: list[list[str]], word: str) -> None:
    theirs = BM25Okapi(texts, k1=0.8, b=0.4)
    theirs.idf = dict.fromkeys(theirs.idf, 1.0)  # its idf is another formula
    counts = np.array([float(t.count(word)) for t in texts])
    lengths = np.array([float(len(t)) for t in texts])
    assert bm25_tf(counts, lengths, float(lengths.mean()), k1=0.8, b=0.4) == pytest.approx(theirs.get_scores([word]))


def test_the_words_lane_is_bm25() -> None:
    texts = ["dog cat dog", "cat bird", "bird bird fish tree house", "stone"]
    held = index([row(i + 1, t, log=0, pos=0, kind="fact") for i, t in enumerate(texts)])
    theirs = BM25Okapi([t.split() for t in texts], k1=0.8, b=0.4)
    theirs.idf = {w: bm25_idf(4, sum(w in t.split() for t in texts)) for w in WORDS}
    expect = theirs.get_scores(["dog", "bird"])
    found = ask(held, "dog bird", policy=RecallPolicy(dense=0, neighbours=0, session=0))
    got = {f.rid - 1: f.score for f in found}
    assert [got[i] / got[0] for i in range(4)] == pytest.approx(list(expect / expect[0]))


# --- laws


@dataclass(frozen=True)
class Drawn:
    rows: list[IndexRow]
    sieve: Sieve
    text: str


@st.composite
def shards(draw: st.DrawFn) -> Drawn:
    rows = []
    for rid in range(1, draw(st.integers(1, 30)) + 1):
        kind = draw(st.sampled_from(("message", "message", "message", "episode", "fact")))
        log = draw(st.integers(1, 3)) if kind == "message" else 0
        text = " ".join(draw(st.lists(st.sampled_from(WORDS), max_size=8)))
        dims = {d: draw(st.integers(0, 2)) for d in ("agent", "project")}
        rows.append(row(rid, text, kind=kind, log=log, pos=rid if log else 0, session=log, at=draw(st.integers(0, 20)) * MINUTE, **dims))
    few = st.one_of(st.none(), st.integers(-1, 2))
    moment = st.one_of(st.none(), st.integers(0, 25).map(lambda m: m * MINUTE))
    kinds = st.sampled_from((None, ("message",), ("fact", "episode")))
    sieve = Sieve(draw(kinds), draw(few), draw(few), draw(few), draw(moment), draw(moment), draw(moment))
    return Drawn(rows, sieve, " ".join(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))))


def passes(r: IndexRow, s: Sieve) -> bool:
    return (
        (s.kinds is None or r.kind in s.kinds)
        and (s.agent is None or r.agent in {0, s.agent})
        and (s.project is None or r.project in {0, s.project})
        and (s.session is None or r.session in {0, s.session})
        and (s.since is None or r.at >= s.since)
        and (s.until is None or r.at <= s.until)
        and (s.believed is None or r.recorded <= s.believed)
    )


@given(shards())
@settings(deadline=None)
def test_masking_is_the_same_as_searching_the_subset_alone(drawn: Drawn) -> None:
    alone = [r for r in drawn.rows if passes(r, drawn.sieve)]
    found = ask(index(drawn.rows), drawn.text, drawn.sieve)
    assert sorted(rids(found)) == sorted(r.rid for r in alone)
    assert found == ask(index(alone), drawn.text)


@given(shards(), st.lists(st.integers(1, 5), max_size=10))
@settings(deadline=None)
def test_appending_in_any_batches_is_the_same(drawn: Drawn, sizes: list[int]) -> None:
    held, first = Index(DIMENSION), 0
    for size in [*sizes, len(drawn.rows)]:
        held.apply(drawn.rows[first : first + size])
        first += size
        ask(held, drawn.text, drawn.sieve)
    assert len(held) == len(drawn.rows)
    assert ask(held, drawn.text, drawn.sieve) == ask(index(drawn.rows), drawn.text, drawn.sieve)


@given(shards(), st.sets(st.integers(1, 35)))
@settings(deadline=None)
def test_removed_is_never_added(drawn: Drawn, gone: set[int]) -> None:
    held = index(drawn.rows)
    ask(held, drawn.text)
    held.apply([], gone)
    kept = [r for r in drawn.rows if r.rid not in gone]
    assert len(held) == len(kept)
    assert ask(held, drawn.text, drawn.sieve) == ask(index(kept), drawn.text, drawn.sieve)
    more = [row(100 + i, t) for i, t in enumerate(("dog cat", "bird"))]
    held.apply(more)
    assert ask(held, drawn.text) == ask(index([*kept, *more]), drawn.text)


@given(shards())
@settings(deadline=None)
def test_scores_fall_and_their_terms_add_up(drawn: Drawn) -> None:
    found = ask(index(drawn.rows), drawn.text)
    assert all(a.score >= b.score for a, b in zip(found, found[1:], strict=False))
    for f in found:
        assert f.score == pytest.approx(sum(r.value for r in f.why), abs=1e-5)
        assert 0 <= f.score < 2.5
    assert rids(ask(index(drawn.rows), drawn.text, k=3)) == rids(found)[:3]


def test_a_changed_row_replaces_the_old_one() -> None:
    held = index([row(1, "dog"), row(2, "cat"), row(3, "bird")])
    held.apply([row(2, "fish")], [2])
    held.apply([row(3, "stone")])
    assert len(held) == 3
    assert ask(held, "fish") == ask(index([row(1, "dog"), row(2, "fish"), row(3, "stone")]), "fish")
    assert ask(held, "fish", k=1)[0].rid == 2


def test_many_removals_shrink_it() -> None:
    rows = [row(i, WORDS[i % 10]) for i in range(1, 201)]
    held = index(rows)
    held.apply([], range(1, 151))
    assert len(held) == 50
    assert ask(held, "dog") == ask(index(rows[150:]), "dog")


def test_nothing_to_find() -> None:
    assert ask(Index(DIMENSION), "dog") == []
    held = index([row(1, "dog"), row(2, "")])
    assert ask(held, "dog", k=0) == []
    assert ask(held, "dog", Sieve(kinds=("fact",))) == []
    assert ask(held, "dog", Sieve(project=-1), k=1)[0].rid == 1
    assert all(f.score == 0 for f in search(held, Query(query_terms(""), np.zeros(DIMENSION, np.float32)), Sieve(), POLICY, k=5))


def test_rows_without_vectors_and_half_vectors() -> None:
    half = MODEL.embed(["dog cat"])[0].astype("<f2").tobytes()
    held = index([row(1, "dog cat", vector=half), row(2, "dog cat", vector=b""), row(3, "stone")])
    by = {f.rid: {r.term for r in f.why} for f in ask(held, "dog")}
    assert "meaning" in by[1]
    assert "meaning" not in by[2]
    broken = np.full(DIMENSION, np.nan, np.float32).tobytes()
    assert ask(index([row(1, "dog cat"), row(2, "dog cat", vector=broken)]), "dog")[0].rid == 1
    wrong = search(held, Query(query_terms("dog"), np.ones(7, np.float32)), Sieve(), POLICY, k=3)
    assert all(r.term != "meaning" for f in wrong for r in f.why)


# --- what is understood


def talk(*said: tuple[str, str], gap: int = 0) -> Index:
    rows = []
    for i, (name, text) in enumerate(said, 1):
        held = index_terms(text, name=name, role="user" if name == "Ann" else "assistant").tobytes()
        vector = MODEL.embed([index_text(text, name=name)])[0].tobytes()
        rows.append(row(i, text, at=i * gap, terms=held, vector=vector))
    return index(rows)


CHAT = (
    ("Ann", "What a long and rainy day it was outside for all of us"),
    ("Bob", "Tell me, which river did you cross with the canoe in the end?"),
    ("Ann", "The Rhône, and it took us almost the whole of the afternoon"),
    ("Bob", "Some other thing now: the cellar has to be painted before June"),
    ("Ann", "I will buy brushes and white colour for the walls tomorrow"),
)


def test_a_reply_is_found_by_its_question() -> None:
    assert 3 in rids(ask(talk(*CHAT), "river canoe", k=3))


def test_a_neighbour_counts_less_when_hours_lie_between() -> None:
    near, far = (next(f.score for f in ask(talk(*CHAT, gap=gap), "river canoe") if f.rid == 3) for gap in (MINUTE, 600 * MINUTE))
    assert near > far


def test_whom_the_query_names_and_speaks_as_stands_first() -> None:
    held = talk(("Bob", "my dog sleeps near the old house today"), ("Zoe", "zebra"), ("Ann", "my dog sleeps near the old house today"))
    policy = RecallPolicy(dense=0, neighbours=0, session=0)
    assert ask(held, "Where does the dog of Bob sleep?", policy=policy)[0].rid == 1
    assert ask(held, "Where does my dog sleep?", policy=policy)[0].rid == 3
    assert ask(held, "What did you say about the dog?", policy=policy)[0].rid == 1


@pytest.mark.parametrize("late", [1, 2])
def test_of_equals_the_newest_stands_first(late: int) -> None:
    texts = [f"{day} May 2024 Ann: the deploy day is Tuesday" for day in (3, 17)]
    rows = [row(i, t, log=i, session=i, at=(9 if i == late else 1) * MINUTE) for i, t in enumerate(texts, 1)]
    rows += [row(i, f"{WORDS[i % 10]} and some other talk about {WORDS[i % 7]}", log=i, session=i) for i in range(3, 20)]
    first, second = ask(index(rows), "deploy day")[:2]
    assert first.rid == late
    assert {second.rid, late} == {1, 2}


@pytest.mark.parametrize(("asked", "first"), [("How many sources are in my library?", 4), ("How many sources were in my library?", 1)])
def test_a_question_about_how_things_stand_is_answered_by_the_newest(asked: str, first: int) -> None:
    held = talk(
        ("Ann", "My library has 45 sources, how can I tag the sources in the library?"),
        ("Bob", "Tags by theme and date would do for that number of them"),
        ("Bob", "Is there anything else that you would like to know today"),
        ("Ann", "I added seven sources, so the library has 52, how can I tag them?"),
    )
    assert ask(held, asked, policy=RecallPolicy(neighbours=0, session=0))[0].rid == first


def test_what_another_said_makes_less_sure() -> None:
    held = talk(("Bob", "I realised after the race that sleep matters more than speed"), ("Ann", "Well done, what a day it must have been"))
    bob, ann = (ask(held, f"What did {name} realise after the race?")[0].score for name in ("Bob", "Ann"))
    assert bob > 1.5 * ann


def test_greetings_stand_behind_statements() -> None:
    held = index([row(1, "Hi dog", log=1), row(2, "The dog was born in Lyon and sleeps on the sofa all day", log=2)])
    assert ask(held, "dog")[0].rid == 2


def test_reasons_name_the_words() -> None:
    best = ask(talk(*CHAT), "which river", k=1)[0]
    assert {r.detail for r in best.why if r.term == "words"} == {"river"}
    assert [r.value for r in best.why] == sorted((r.value for r in best.why), reverse=True)


# --- real conversations

NONSENSE = (
    "zorblax quintessent flimwharble", "qwertyuiop asdfghjkl", "What is the boiling point of tungsten hexafluoride?",
    "الطقس في مراكش", "量子色动力学的重整化群方程", "How do I configure the flux capacitor on my DeLorean?",
)  # fmt: skip


@needs_data
def test_a_conversation_is_found_and_nonsense_is_not() -> None:
    with gzip.open(DATA / "retrieval/locomo.json.gz", "rt", encoding="utf-8") as file:
        group = json.load(file)["groups"][0]
    model, rows, logs = StaticEmbedder(), [], {}
    for i, m in enumerate(group["messages"]):
        at, log = datetime.fromisoformat(m["at"]).astimezone(UTC), logs.setdefault(m["session"], len(logs) + 1)
        vector = model.embed([index_text(m["text"], name=m["speaker"], at=at)])[0].astype("<f2").tobytes()
        held = index_terms(m["text"], name=m["speaker"], role=m["role"], at=at).tobytes()
        rows.append(IndexRow(i, "message", log, i, int(at.timestamp() * 1e6), 0, 0, 0, log, held, vector))
    index_ = Index(model.dimension)
    index_.apply(rows)

    def top(text: str) -> list[Found]:
        return search(index_, Query(query_terms(text), model.embed([text])[0]), Sieve(), POLICY, k=10)

    place = {m["id"]: i for i, m in enumerate(group["messages"])}
    asked = [(q["evidence"], top(q["text"])) for q in group["questions"] if q["evidence"] and q["answerable"]]
    shares = [np.mean([place[e] in rids(found) for e in evidence]) for evidence, found in asked]
    assert np.mean(shares) >= 0.72
    assert sum(found[0].score < POLICY.floor for _, found in asked) <= 0.03 * len(asked)
    for text in NONSENSE:
        assert top(text)[0].score < POLICY.floor, text


def test_a_hundred_thousand_rows() -> None:
    model, chance = HashEmbedder(256), np.random.default_rng(1)
    held = chance.integers(0, 20_000, (100_000, 25), dtype=np.uint32)
    vectors = chance.standard_normal((100_000, 256), dtype=np.float32)
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype("<f2")
    rows = [IndexRow(i, "message", i // 50, i % 50, i, i, 0, 0, i // 50, held[i].tobytes(), vectors[i].tobytes()) for i in range(100_000)]
    big = Index(256)
    start = time.perf_counter()
    big.apply(rows)
    assert time.perf_counter() - start < 6
    asked = Query(query_terms("dog cat bird fish"), model.embed(["dog cat bird fish"])[0])
    search(big, asked, Sieve(), POLICY, k=10)
    start = time.perf_counter()
    for _ in range(5):
        search(big, asked, Sieve(), POLICY, k=10)
    assert (time.perf_counter() - start) / 5 < 0.3

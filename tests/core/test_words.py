"""Terms of every script, identifiers, and whatever else a string can hold."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import time
from datetime import UTC, datetime
from os import environ
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leporello.core.words import HEAD, TAIL, index_terms, index_text, query_terms, terms

DATA = Path(environ.get("LEPORELLO_EVAL_DATA", Path(__file__).resolve().parents[3] / "shared/data"))
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"no evaluation data at {DATA} (set LEPORELLO_EVAL_DATA)")


def finds(query: str, text: str) -> bool:
    return bool(np.isin(query_terms(query).hashes, terms(text)).any())


def finds_all(query: str, text: str) -> bool:
    asked = query_terms(query).hashes
    return asked.size > 0 and bool(np.isin(asked, terms(text)).all())


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("running shoes", "She runs in a new shoe"),
        ("café", "cafe"),
        ("CAFE", "cafe\u0301"),
        ("ISTANBUL", "İstanbul"),
        ("strasse", "Die Straße ist lang"),
        ("Ｆｕｌｌｗｉｄｔｈ", "fullwidth letters"),
        ("собаки", "моя собака спит"),
        ("еще", "ещё один"),
        ("مكتبة", "المكتبة مغلقة"),
        ("مُدَرِّس", "مدرس"),
        ("שלום", "שָׁלוֹם לכולם"),
        ("नमस्ते", "उसने कहा नमस्ते"),
        ("ΟΔΟΣ", "η οδός"),
        ("猫", "昨日、黒猫を見た"),
        ("北京", "我住在北京市"),
        ("住在上海", "他住在上海"),
        ("タワー", "東京タワーに行った"),
        ("서울", "나는 서울에 산다"),
        ("ชาวโลก", "สวัสดีชาวโลก"),
        ("ລາວ", "ປະເທດລາວ"),
        ("ភ្នំពេញ", "ទៅភ្នំពេញ"),
        ("ရန်ကုန်", "ကျွန်တော် ရန်ကုန်မှာ နေတယ်"),
        ("🎉", "we won 🎉🎉"),
        ("👨‍👩‍👧", "family 👨‍👩‍👧 photo"),
        ("1200", "1200 calls"),
        ("1,200", "a quota of 1,200 calls"),
        ("\ud83d", "a\ud83db"),
    ],
)
def test_a_word_finds_its_text(query: str, text: str) -> None:
    assert finds_all(query, text)


@pytest.mark.parametrize(
    ("whole", "part"),
    [
        ("max_retries", "retries"),
        ("HTTPServer", "server"),
        ("parseJSONFile", "json"),
        ("src/auth.py", "auth"),
        ("#1234", "1234"),
        ("v2.1", "v2.1"),
        ("250ms", "250"),
        ("iPhone13", "iphone"),
        ("Flask-Login", "login"),
        ("a.b@example.com", "example"),
        ("2023-05-08", "8"),
        ("C++", "c++"),
        ("C#", "C#"),
    ],
)
def test_an_identifier_is_found_whole_and_by_its_parts(whole: str, part: str) -> None:
    text = f"I changed {whole} today"
    assert finds_all(whole, text)
    assert finds_all(part, text)


def test_the_whole_of_an_identifier_tells_more_than_its_parts() -> None:
    scattered = "retries have a max"
    assert not finds_all("max_retries", scattered)
    assert finds("max_retries", scattered)


def test_one_hash_per_occurrence() -> None:
    held = terms("dog cat dog")
    assert held.dtype == np.uint32
    assert held.size == 3
    assert held[0] == held[2] != held[1]


def test_stop_words_are_left_out_unless_there_is_nothing_else() -> None:
    assert query_terms("what is the name of the dog").words == ("name", "dog")
    assert set(query_terms("the of and to").words) == {"the", "of", "and", "to"}
    assert query_terms("Что такое любовь").words == query_terms("такое любовь").words


def test_a_character_of_a_dense_script_weighs_less_than_a_pair_and_a_pair_less_than_a_word() -> None:
    asked = query_terms("黒猫 cat")
    weight = dict(zip(asked.words, asked.weights.tolist(), strict=True))
    assert weight["猫"] < weight["黒猫"] < weight["cat"] == 1.0
    assert query_terms("猫").weights.tolist() == [1.0]


def test_short_months_mean_the_months() -> None:
    assert finds("dec", index_text("x", at=datetime(2023, 12, 29, tzinfo=UTC)))


def test_the_head_of_an_indexed_text() -> None:
    at = datetime(2023, 5, 8, tzinfo=UTC)
    assert index_text("I moved.", name="Kate", at=at) == "8 May 2023 Kate: I moved."
    assert index_text("I moved.") == "I moved."


@pytest.mark.parametrize(
    ("text", "current"),
    [("How many cards are there?", True), ("What is my deadline?", True), ("Where do I live now?", True), ("现在几点", True)]
    + [("How many cards did I have before?", False), ("What was my deadline?", False), ("Tell me about Kate", False)],
)
def test_questions_about_how_things_stand(text: str, current: bool) -> None:
    assert query_terms(text).current is current


def test_marks_say_who_spoke() -> None:
    at = datetime(2023, 5, 8, tzinfo=UTC)
    held = index_terms("I moved.", name="Kate Moss", role="user", at=at)
    assert np.isin(query_terms("Where did Kate go?").speakers, held).any()
    assert not np.isin(query_terms("Where did Bob go?").speakers, held).any()
    assert not np.isin(query_terms("kate").speakers, terms("Kate: I moved")).any()
    assert query_terms("Where did I go?").role in held
    assert query_terms("What did you advise me?").role not in held
    assert query_terms("What did you advise me?").role in index_terms("Rest.", role="assistant")
    assert query_terms("Where is the library?").role == 0
    assert query_terms("2023-05-08").hashes[0] in held


@given(st.text())
def test_any_text_is_taken(text: str) -> None:
    asked = query_terms(text)
    assert 2 * terms(text).size >= asked.hashes.size == len(asked.words)  # a short month is asked for in full too


@given(st.text(st.characters(categories=("L", "N")), min_size=1, max_size=40))
def test_a_word_finds_itself(text: str) -> None:
    assert finds(text, f"{text} and more")


def test_hashes_do_not_depend_on_the_process() -> None:
    code = "from leporello.core.words import terms; print(terms('Hello wörld 猫').tolist())"
    env = {**environ, "PYTHONHASHSEED": "7", "PYTHONPATH": ":".join(sys.path)}
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env).stdout
    assert out.strip() == str(terms("Hello wörld 猫").tolist())


@pytest.mark.parametrize("unit", ["a", "a1", "猫犬", "é", "x.", "word ", "สวัส", "_", "\u0301", "-a", "aB", "\x00", "\ud800"])
def test_a_huge_text_is_cheap_and_its_ends_are_found(unit: str) -> None:
    text = "opening " + unit * (5_000_000 // len(unit)) + " closing"
    start = time.perf_counter()
    held = terms(text)
    assert time.perf_counter() - start < 2
    assert held.size <= 2 * (HEAD + TAIL) + 2
    assert np.isin(query_terms("opening closing").hashes, held).all()


@needs_data
def test_nasty_texts_are_taken_and_found() -> None:
    for name, text in json.loads((DATA / "nasty/text.json").read_text("utf-8")).items():
        asked = query_terms(text).hashes
        assert np.isin(asked, terms(text)).all(), name
        assert asked.size or name == "spaces", name


@needs_data
@pytest.mark.parametrize("language", ["en", "es", "zh", "ar"])
def test_questions_share_words_with_their_paragraph(language: str) -> None:
    with gzip.open(DATA / "retrieval/xquad.json.gz", "rt", encoding="utf-8") as file:
        group = next(g for g in json.load(file)["groups"] if g["id"] == f"{language}->{language}")
    texts = {m["id"]: m["text"] for m in group["messages"]}
    hit = [finds(q["text"], texts[q["evidence"][0]]) for q in group["questions"]]
    assert sum(hit) >= 0.97 * len(hit)


@pytest.mark.parametrize(
    ("question", "past"),
    [
        ("Where did Alice live before?", True), ("How many days passed between the two deploys?", True), ("What happened in March 2024?", True),
        ("What did we decide in 2024?", True), ("Wann war der Umzug?", True), ("¿Cuándo se mudó?", True), ("之前住在哪里？", True),
        ("Where does Alice live?", False), ("home city", False), ("Which database do we use?", False), ("Wo wohnt Alice?", False),
    ],
)  # fmt: skip
def test_a_question_about_what_was_is_known(question: str, past: bool) -> None:
    assert query_terms(question).past is past

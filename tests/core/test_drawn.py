"""Which records an answer draws on: by words that tell something, of one sentence, that no other record accounts for better."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leporello.core.drawn import LEAST, Drawing, drawings, drawn

SHOWN = [
    "I moved to Porto in 2019 because of the sea.",
    "My dentist is Dr. Weber, Tuesdays only.",
    "We use PostgreSQL 16 for the shop.",
    "I know a lot about wine and like to help.",
    "我住在北京的朝阳区",
    "昨日、東京タワーに行きました。",
    "Ich habe am Montag im Baumarkt eine Kreissäge gekauft.",
]
TEXTS = st.lists(st.one_of(st.sampled_from([*SHOWN, "", "a\nb", "16", "I moved to Porto."]), st.text(max_size=60)), max_size=8)


def used(question: str, answer: str) -> list[int]:
    return [i for i, d in enumerate(drawn(question, answer, SHOWN)) if d]


@pytest.mark.parametrize(
    ("question", "answer", "records"),
    [
        ("Where do I live?", "You live in Porto.", [0]),
        ("Since when?", "Since 2019.", [0]),
        ("Who is my dentist?", "Dr. Weber", [1]),
        ("Which database do we have?", "Sure! You have PostgreSQL 16. Let me know if you need anything else.", [2]),
        ("Where do I live and who is my dentist?", "In Porto, since 2019. Your dentist is Weber, on Tuesdays.", [0, 1]),
        ("我住在哪里？", "你住在北京朝阳区。", [4]),
        ("昨日どこに行きましたか", "東京タワーです", [5]),
        ("Was habe ich gekauft?", "Eine Kreissäge, im Baumarkt.", [6]),
    ],
)
def test_an_answer_draws_on_what_tells_it(question: str, answer: str, records: list[int]) -> None:
    assert used(question, answer) == records


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where in Porto did I move in 2019?", "Where in Porto did you move in 2019?"),
        ("Where do I live?", "I don't know."),
        ("Where do I live?", "I don’t have any information about Porto in 2019."),
        ("Where do I live?", "Nothing about that is known, sorry. I know a lot and like to help."),
        ("Where do I live?", "Your home in Porto is not mentioned."),
        ("Wo wohne ich?", "Das weiß ich nicht, von Porto ist nichts bekannt."),
        ("¿Dónde vivo?", "No lo sé."),
        ("Où est-ce que j'habite ?", "Je ne sais pas si c'est Porto."),
        ("Где я живу?", "Не знаю, в Porto или нет."),
        ("我住在哪里？", "我不知道。"),
        ("昨日どこに行きましたか", "わかりません"),
        ("How are you?", "Sure, thank you! I like to help a lot, and you?"),
        ("What is two and two?", "It is four, as it was before and will be."),
        ("今天怎么样？", "是的，我是在的，你有什么问题？"),
        ("", ""),
        ("?", "…"),
    ],
)
def test_what_says_nothing_draws_on_nothing(question: str, answer: str) -> None:
    assert used(question, answer) == []


def test_a_sentence_that_says_something_counts_beside_one_that_does_not() -> None:
    assert used("Where do I live and work?", "I don't know where you work. You live in Porto.") == [0]


def test_a_word_that_another_record_accounts_for_better_is_that_ones() -> None:
    shown = ["Anna cooked a goulash with Ben on Sunday.", "Ben likes the sea.", "The goulash of the canteen was cold."]
    assert drawn("What did Anna cook?", "A goulash with Ben", shown) == (True, False, False)


def test_records_that_say_the_same_count_alike() -> None:
    shown = ["I moved to Porto in 2019.", "I moved to Porto in 2019!", "My dentist is Weber.", "We use PostgreSQL."]
    assert drawn("When did I move, and where to?", "You moved to Porto in 2019.", shown) == (True, True, False, False)


def test_words_that_all_records_hold_tell_little() -> None:
    shown = [f"Porto was fine on day {n}." for n in range(12)]
    assert not any(drawn("Where?", "In Porto", shown))
    assert drawn("When?", "Porto, on day 7", shown).index(True) == 7


def test_a_long_answer_needs_more() -> None:
    few, many = "You live in Porto.", "You live in Porto. " + "Bread takes flour. Rivers cross valleys. Clocks strike noon. " * 5
    assert drawings("Where do I live?", many, SHOWN)[0].score < drawings("Where do I live?", few, SHOWN)[0].score


def test_the_reasons_are_given() -> None:
    found = drawings("Where do I live?", "You live in Porto, since 2019.", SHOWN)
    assert set(found[0].words) == {"porto", "2019"} and found[0].used and found[0].score >= LEAST
    assert found[1] == Drawing(0.0, (), False)


def test_without_records_or_answer_there_is_nothing() -> None:
    assert drawn("Where?", "In Porto", []) == ()
    assert drawn("Where?", "", ["In Porto"]) == (False,)
    assert drawn("Where?", "In Porto", [""]) == (False,)
    assert drawn("", "In Porto since 2019", ["I live in Porto since 2019"]) == (True,)


@given(st.text(), st.text(), TEXTS)
def test_any_text_is_taken(question: str, answer: str, shown: list[str]) -> None:
    found = drawings(question, answer, shown)
    assert len(found) == len(shown) and all(d.score >= 0 and d.used == (d.score >= LEAST) for d in found)
    assert drawn(question, answer, shown) == tuple(d.used for d in found)


@given(
    st.sampled_from(["", "Where do I live?", "我住在哪里？"]),
    st.lists(st.sampled_from([*SHOWN, "Porto 2019", "北京"]), max_size=4),
    TEXTS,
    st.randoms(),
)
def test_the_order_of_the_records_changes_nothing(question: str, said: list[str], shown: list[str], chance: random.Random) -> None:
    order = list(range(len(shown)))
    chance.shuffle(order)
    answer = " ".join(said)
    found = drawings(question, answer, shown)
    assert drawings(question, answer, [shown[i] for i in order]) == tuple(found[i] for i in order)


@given(st.sampled_from(SHOWN), TEXTS)
def test_a_repeated_question_is_never_drawn_on(question: str, shown: list[str]) -> None:
    assert not any(drawn(question, question, shown))


@pytest.mark.parametrize("piece", ["a", "不", "not ", "weiß ich nicht ", "x1_", "\ud800", ".\n", "no (", "does not " * 3, "Porto. "])
def test_huge_texts_take_no_time(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    began = time.perf_counter()
    drawn(text, text[:-3] + " Porto", [text] * 5)
    drawn("Where?", text, [text, *SHOWN])
    assert time.perf_counter() - began < 2


def test_25_records_cost_about_a_millisecond() -> None:
    chance = random.Random(1)
    words = [w for text in SHOWN[:4] for w in text.split()] + [f"word{n}" for n in range(300)]
    shown = [" ".join(chance.choices(words, k=50))[:300] for _ in range(25)]
    answer = "You live in Porto, since 2019. " + " ".join(chance.choices(words, k=20))
    taken = []
    for _ in range(20):
        began = time.perf_counter()
        drawn("Where do I live?", answer, shown)
        taken.append(time.perf_counter() - began)
    assert min(taken) < 0.004  # well above what it takes, for slow machines

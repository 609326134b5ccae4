"""Text that memory has shown is known again however it is dressed; a word of its own makes it new."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from leporello.core.guard.echo import Echoes
from leporello.core.pack import framed
from leporello.core.tokens import clip
from leporello.flows.shown import fact_line, hit_line
from leporello.records import Fact, Message, Provenance, Scope, Trust
from leporello.results import Hit

SHOWN = [
    "I moved to Porto",
    "Deploys happen on Tuesdays.",
    "the auditors come on Wednesdays",
    "We decided to use oak for the door, because it lasts.",
    "我住在北京的朝阳区",
    "昨日、東京タワーに行きました。",
    "The budget is 1,500 euros per month.",
    "I agree",
    "I do not like coffee in the morning",
    "1. Buy milk\n2. Feed the cat\n3. Call mother about Sunday",
    "She runs `make test` before each push; it takes 3.5 minutes.",
    "Мы переехали в Казань в мае",
]
HELD = [
    "I moved to Porto",
    "i moved to porto!",
    "> I moved to Porto",
    '"I moved to Porto."',
    "- I moved to Porto (because of work; since 2024-05-03)",
    "- Deploys happen on Tuesdays. (because the auditors come on Wednesdays; since 2024-05-03)",
    "- Deploys happen on Tuesdays. (because the auditors come on Wednesdays)",
    "[2024-05-03, s1, turn 3] Alice: I moved to Porto",
    "- [2024-05-03, s1, turn 3] Alice: I moved to Porto",
    "Alice: I moved to Porto",
    "**Alice**: I moved to Porto",
    "As you told me before: I moved to Porto",
    "You said that I moved to Porto",
    "You said that you moved to Porto",
    "you told me you moved to Porto.",
    "use oak for the door",
    "We decided to use oak\nfor the door, because\nit lasts",
    "> We decided to use\n> oak for the door,\n> because it lasts",
    "1. I moved to Porto",
    "* **I moved** to _Porto_",
    "我住在北京的",
    "住在北京的朝阳区",
    "你说过，我住在北京的朝阳区",
    "昨日東京タワーに行きました",
    "<leporello-memory>\n## What is known\n- I moved to Porto (since 2024-05-03)\n- Deploys happen on Tuesdays. (because the auditors come on Wednesdays; since 2024-05-03)\n</leporello-memory>",
    "I agree.",
    "- Buy milk\n- Feed the cat",
    "Buy milk, feed the cat, call mother about Sunday",
    "We decided to … because it lasts",
    "We decided to use oak for th … it lasts.",
    "the budget is 1,500 euros per month",
    "Wie du gesagt hast: I moved to Porto",
    "Как ты говорил: мы переехали в Казань в мае",
    "Deploys happen on Tuesdays: the auditors come on Wednesdays",
    '<data from="web">\n- I moved to Porto\n</data>',
]
NEW = [
    "I moved to Porto and then to Braga in May",
    "I did not move to Porto",
    "I moved to Braga",
    "I never moved to Porto",
    "I moved to Porto in 2024",
    "You said that I moved to Braga",
    "The budget is 1,600 euros per month.",
    "The budget is 1,500 dollars per month",
    "budget is 1.500 euros per month",
    "I like coffee in the morning",
    "moved to Porto",
    "to Porto",
    "yes",
    "We decided to use pi … it lasts",
    "We decided to use pine … it lasts",
    "I paid … for it",
    "agree",
    "I agree that Porto is nice",
    "我住在上海的朝阳区",
    "我不住在北京的朝阳区",
    "北京",
    "We decided to use pine for the door, because it lasts.",
    "We decided to use oak for the auditors come on Wednesdays",
    "It takes 35 minutes",
    "Deploys happen on Wednesdays",
    "",
    "-----",
    "Hello",
    "I moved to Porto (because I hate tea)",
    "No, I moved to Braga",
    "The deploys no longer happen on Tuesdays",
    "what is the weather today in Lisbon",
    "She runs make test before each push; it takes 3 minutes",
]
AT = datetime(2024, 5, 3, tzinfo=UTC)
ECHOES = Echoes.of(SHOWN)


@pytest.mark.parametrize("text", HELD)
def test_it_is_known_again(text: str) -> None:
    assert ECHOES.holds(text)


@pytest.mark.parametrize("text", NEW)
def test_what_adds_something_is_new(text: str) -> None:
    assert not ECHOES.holds(text)


def test_nothing_shown_holds_nothing() -> None:
    assert not Echoes.of([]).holds("I moved to Porto") and not Echoes.of([""]).holds("") and not Echoes.of(["..."]).holds("!!!")
    assert Echoes.of(["👍 👍"]).holds(" 👍  👍") and not Echoes.of(["👍"]).holds("👎")


def fact(text: str, why: str, *, trust: Trust = "user", status: str = "active") -> Fact:
    return Fact("f", Scope(), text, "fact", why, "web", trust, 1.0, (), AT, None, AT, None, Provenance(), (), status)


@pytest.mark.parametrize("trust", ["user", "tool"])
@pytest.mark.parametrize("status", ["active", "conflict"])
@pytest.mark.parametrize("why", ["", "the auditors come on Wednesdays"])
def test_a_fact_as_it_is_shown(trust: Trust, status: str, why: str) -> None:
    line = fact_line(fact("Deploys happen on Tuesdays.", why, trust=trust, status=status))
    for echoes in (Echoes.of(["Deploys happen on Tuesdays."]), ECHOES):
        assert echoes.holds(line) and echoes.holds(framed("facts", [line, line]))
    assert not ECHOES.holds(line.replace("Tuesdays", "Fridays"))


@pytest.mark.parametrize("trust", ["user", "tool"])
def test_a_hit_as_it_is_shown(trust: Trust) -> None:
    said = Message("m", Scope(session="s1"), 1, 3, "user", "Alice", AT, AT, trust, "I moved to Porto", {})
    assert ECHOES.holds(hit_line(Hit(said, 1.0, (), said.provenance)))


def test_halves_of_two_sentences_make_no_third() -> None:
    echoes = Echoes.of(["My sister moved to Berlin last year", "Tom went with her to Porto last year in May"])
    assert echoes.holds("My sister moved to Berlin last year. Tom went with her to Porto last year in May")
    assert not echoes.holds("My sister moved to Porto last year in May")
    assert not echoes.holds("My sister moved to … Porto last year in June")


WORDS = (
    "oak pine harbour Lisbon budget 1,500 3.5 Grünkohl café don't пароход Казань río مكتبة 서울에 नमस्ते key_name v2.1 x-ray email".split()
)
PLAIN = st.lists(st.sampled_from(WORDS), min_size=5, max_size=40).map(" ".join)
DENSE = st.text(st.sampled_from("我住在北京的朝阳区昨日東京タワーに行きました"), min_size=8, max_size=60)


def wrapped(text: str, width: int) -> str:
    lines = [""]
    for word in text.split(" "):
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(lines)


DRESSES = [
    lambda t: t,
    lambda t: re.sub("^", "> ", t, flags=re.MULTILINE),
    lambda t: f"“{t}”",
    lambda t: f"'{t}'.",
    lambda t: f"- {t}",
    lambda t: f"7. {t}",
    lambda t: f"**{t}**!",
    lambda t: f"_{t}_",
    lambda t: f"- {t} (since 2024-05-03)",
    lambda t: f"[2024-05-03, s1, turn 3] Alice: {t}",
    lambda t: f"Alice Smith: {t}",
    lambda t: f"As you told me before: {t}",
    lambda t: f'You said: "{t}"',
    lambda t: t.upper() if t.upper().lower() == t.lower() else t,
    lambda t: t.replace(" ", "  "),
    lambda t: f"<leporello-memory>\n## What is known\n- {t}\n</leporello-memory>",
]


@given(PLAIN, st.integers(0, 3), st.integers(0, 3), st.integers(10, 80), st.sampled_from(DRESSES), st.lists(PLAIN, max_size=3))
def test_trimmed_wrapped_and_dressed_it_is_held(text: str, head: int, tail: int, width: int, dress: object, others: list[str]) -> None:
    words = text.split(" ")
    kept = words[head : len(words) - tail]
    assume(len(kept) >= 4)
    assert callable(dress)
    assert Echoes.of([*others, text]).holds(dress(wrapped(" ".join(kept), width)))


@given(DENSE, st.integers(0, 1), st.integers(0, 1), st.sampled_from(DRESSES))
def test_scripts_without_spaces_too(text: str, head: int, tail: int, dress: object) -> None:
    assert callable(dress)
    assert Echoes.of([text]).holds(dress(text[head : len(text) - tail]))


@given(PLAIN, st.integers(0, 40), st.sampled_from(["not", "Braga", "2025", "never", "не", "1.500", "-3.5", "€"]))
def test_with_a_word_of_its_own_it_is_new(text: str, place: int, word: str) -> None:
    words = text.split(" ")
    words.insert(place % (len(words) + 1), word)
    assert not Echoes.of([text]).holds(" ".join(words))


@given(st.lists(PLAIN, min_size=1, max_size=4), st.text())
def test_any_text_is_taken_and_shown_blocks_are_held(texts: list[str], other: str) -> None:
    echoes = Echoes.of([*texts, other])
    echoes.holds(other[::-1])
    assert echoes.holds("\n".join(f"- {t}" for t in texts)) and (echoes.holds(other) or not other.strip())
    assert not echoes.holds("What is the weather like in Wellington today?")


@given(st.lists(st.sampled_from(WORDS), min_size=30, max_size=80).map(" ".join), st.integers(25, 40))
def test_a_text_with_its_middle_left_out(text: str, tokens: int) -> None:
    assert Echoes.of([text]).holds(clip(text, tokens))


def test_a_word_before_a_gap_may_be_cut_but_not_changed() -> None:
    assert ECHOES.holds("We decided to use oak for th … t lasts.")
    assert not ECHOES.holds("We decided to use pi … it lasts.") and not ECHOES.holds("We … pine")
    assert not ECHOES.holds("… on Wednesdays") and not ECHOES.holds("… on Sundays")
    assert not ECHOES.holds("on … " * 30)


def test_escaped_text_of_a_json_dump() -> None:
    assert ECHOES.holds("## What is known\\n- I moved to Porto\\n- Deploys happen on Tuesdays.")


def test_it_is_fast() -> None:
    chance = random.Random(7)
    words = [f"w{i}" for i in range(3_000)]
    texts = [" ".join(chance.choices(words, k=60)) for _ in range(1_000)]
    start = time.process_time()
    echoes = Echoes.of(texts)
    held = [echoes.holds("- " + " ".join(t.split()[5:25])) for t in texts[:500]] + [
        echoes.holds(" ".join(chance.choices(words, k=15))) for _ in range(500)
    ]
    assert time.process_time() - start < 3
    assert held == [True] * 500 + [False] * 500


@pytest.mark.parametrize(
    "unit", ["you said ", "(because ", "- ", "Alice: ", "… ", "[2024-05-03 ", "\n", " (because x; ", "I moved to Porto … ", "1. "]
)
def test_no_text_runs_away(unit: str) -> None:
    start = time.process_time()
    ECHOES.holds((unit * (100_000 // len(unit)))[:100_000])
    assert time.process_time() - start < 3


LIKE = Echoes.of(
    [
        "Deploys happen on Tuesdays.",
        "I moved from Lyon to Porto last week.",
        "I prefer short answers because I read on my phone.",
        "We decided to use PostgreSQL, because the team knows it.",
        "The staging server is called heron.",
        "We decided to deploy only on Wednesdays, because Tuesdays are too busy.",
        "I don't like olives. My sister Anna lives in Hamburg.",
        "The Blue team beat the Red team in Lisbon on Monday.",
        "I moved to Porto",
        "Tom's brother Carl works at the bakery in Graz with Eva.",
        "Anna said I should drink tea in the morning before work.",
        "The budget is 1,500 euros per month.",
        "I never eat meat on Fridays at home.",
        "我住在北京的朝阳区",
        "Ich trinke morgens keinen Kaffee im Büro.",
        "We run the nightly backup at 3 am on the old server.",
        "My daughter Lea plays the violin in the school orchestra.",
    ]
)
REWORDED = [
    "s0, turn 2] user: I don't like olives.",
    "(since 2026-01-01) staging server is called heron.",
    "(since 2026-01-01) decided to use PostgreSQL, because the team knows it.",
    "for the question at hand (dated reference, not instruction) s0, turn 1] user: We decided to deploy only on Wednesdays, because Tuesdays are too busy.",
    "Según mis recuerdos, My sister Anna lives in Hamburg.",
    "Hier ist was du weißt: My sister Anna lives in Hamburg.",
    "Voici ce que tu sais : The staging server is called heron",
    "这是你记得的：我住在北京的朝阳区",
    "Thanks! So we decided to use PostgreSQL, because the team knows it. Got it.",
    "The user's sister Anna lives in Hamburg.",
    "the user moved from Lyon to Porto last week.",
    "You prefer short answers because you read on your phone.",
    "| I moved from Lyon to Porto last week. | 2026-01-01 |",
    '{"memories": [{"text": "My sister Anna lives in Hamburg.", "score": 0.9}, {"text": "Deploys happen on Tuesdays.',
    '", "score": 0.9}, {"text": "We decided to use PostgreSQL, because the team knows it.',
    "<ul><li><b>Deploys happen on Tuesdays.</b></li><li><b>The staging server is called heron.</b></li></ul>",
    "My sister Anna lives in Hamburg and I moved from Lyon to Porto last week and I don't like olives.",
    "My sister Anna lives in Hamburg, because I moved from Lyon to Porto last week, because I don't like olives.",
    "We decided to depoly only on Wednesdays, because Tuesdays are too busy.",
    "I MOVED FROM LYON TO PORTO LAST WEEK. (SINCE 2026-01-01)",
    "My siste\u200br Anna live\u200bs in Hamburg.",
    "- text: My sister Anna lives in Hamburg.",
    "The user told the assistant that the staging server is called heron.",
    "I recall that the staging server is called heron, right?",
    "We decided to deploy only on Wednes …",
    "… ecided to deploy only on Wednesdays",
    "My daughter Lea plays the violin in the school orchesta.",
    "1. The staging server is called heron. (confidence 0.9)",
    "Note: My sister Anna lives in Hamburg.",
    "Fact: the staging server is called heron",
    "- fact: My sister Anna lives in Hamburg.",
    "The user said that they moved from Lyon to Porto last week.",
    "Based on our conversation, my sister Anna lives in Hamburg.",
    "I remember you mentioned your sister Anna lives in Hamburg.",
    "My sister Anna lives in Hamburg; the staging server is called heron; deploys happen on Tuesdays",
    "Also, the team decided to use PostgreSQL because the team knows it.",
    '{"fact": "My sister Anna lives in Hamburg.", "since": "2026-01-01"}',
    "[{'text': 'My sister Anna lives in Hamburg.', 'score': 0.9}]",
    "&lt;b&gt;My sister Anna lives in Hamburg.&lt;/b&gt;",
    "**My sister Anna** lives in _Hamburg_.",
    "user: My sister Anna lives in Hamburg. assistant: Noted.",
    "Known facts: My sister Anna lives in Hamburg, the staging server is called heron.",
    "So you prefer short answers since you read on your phone, correct?",
    "Ich weiß noch: My sister Anna lives in Hamburg.",
    "我记得你住在北京的朝阳区。",
]
OF_ITS_OWN = [
    "I moved from Lyon to Braga last week.",
    "I moved from Porto to Lyon last week.",
    "I moved to Lyon from Porto last week.",
    "I moved to Porto and then to Braga",
    "I did not move from Lyon to Porto last week.",
    "I never moved from Lyon to Porto.",
    "I moved from Lyon to Porto last month.",
    "Tom moved from Lyon to Porto last week.",
    "My sister moved from Lyon to Porto last week.",
    "I prefer long answers because I read on my phone.",
    "I prefer short answers because I read on my laptop.",
    "I no longer prefer short answers because I read on my phone.",
    "I prefer short answers because I read on my phone in bed.",
    "We decided to use MySQL, because the team knows it.",
    "We decided not to use PostgreSQL, because the team knows it.",
    "We decided to use PostgreSQL, because Tom knows it.",
    "We decided to use PostgreSQL 16, because the team knows it.",
    "The staging server is called eagle.",
    "The production server is called heron.",
    "The staging server is not called heron.",
    "The staging server was called heron.",
    "The staging server is called heron2.",
    "The staging server is called huron.",
    "We decided to deploy on Wednesdays, because Tuesdays are too busy.",
    "We decided to deploy only on Thursdays, because Tuesdays are too busy.",
    "We decided to deploy only on Tuesdays, because Wednesdays are too busy.",
    "I like olives.",
    "I like olives a lot these days.",
    "My sister Anna lives in Bremen.",
    "My brother Anna lives in Hamburg.",
    "My sister Eva lives in Hamburg.",
    "My sister Anna no longer lives in Hamburg.",
    "My sister Anna works in Hamburg.",
    "My sister Anna lives in Hamburg with Tom.",
    "The Red team beat the Blue team in Lisbon on Monday.",
    "Red beat Blue in Lisbon on Monday.",
    "The Blue team beat the Red team in Lisbon on Friday.",
    "The Blue team beat the Red team in Porto on Monday.",
    "Tom works at the bakery in Graz with Eva.",
    "Tom's brother Carl works at the bakery in Graz with Tom.",
    "I drink tea in the morning before work.",
    "Anna drinks tea in the morning before work.",
    "The budget is 1,600 euros per month.",
    "The budget is 1,500 euros per year.",
    "I eat meat on Fridays at home.",
    "I never eat fish on Fridays at home.",
    "I never eat meat on Mondays at home.",
    "我住在上海的朝阳区",
    "我不住在北京的朝阳区",
    "我妹妹住在北京的朝阳区",
    "Ich trinke morgens Kaffee im Büro.",
    "Ich trinke morgens keinen Tee im Büro.",
    "We run the nightly backup at 4 am on the old server.",
    "We run the nightly backup at 3 am on the new server.",
    "We run the weekly backup at 3 am on the old server.",
    "We stopped the nightly backup at 3 am on the old server.",
    "My daughter Lea plays the piano in the school orchestra.",
    "My daughter Lea played the violin in the school orchestra.",
    "My daughter Mia plays the violin in the school orchestra.",
    "Deploys happen on Fridays.",
    "Deploys never happen on Tuesdays.",
    "Deploys happen on Tuesdays and Fridays.",
    "Deploys no longer happen on Tuesdays.",
    "I moved from Lyon to Porto because the rent was lower.",
    "The staging server is called heron and the production server is called eagle.",
    "Remember that I moved from Lyon to Braga last week.",
    "According to my notes the staging server is called eagle.",
    '{"memories": [{"text": "The staging server is called eagle."}]}',
    '{"budget": 1600, "text": "The budget is 1,500 euros per month."}',
    "Will the Blue team beat the Red team in Lisbon?",
    "If deploys happen on Tuesdays we are late.",
    "I moved from Lyon to Porto last week on 2026-01-02",
    "Maybe my sister Anna lives in Hamburg.",
    "All deploys happen on Tuesdays.",
    "I moved from Lyon to Rio",
    "My sister Anna lives in Ham and cheese",
    "The team in Lisbon beat the Red team on Monday.",
    "Anna lives in Hamburg with my sister",
    "My sister and Anna live in Hamburg",
    "My sister lives in Hamburg",
    "I said my sister Anna lives in Berlin",
    "The user's sister Anna lives in Hamburg since May",
    "Deploys happen on Tuesdays, because the auditors come on Wednesdays.",
    "Deploys happen, because Tuesdays are too busy.",
    "I moved from Lyon because the team knows it.",
    "The staging server is called heron and so is my sister Anna.",
    "I prefer short answers because the staging server is called heron? No, because it is quick.",
    "Use PostgreSQL because Tuesdays are too busy.",
    "I read on my phone because I prefer short answers.",
    "Anna moved from Lyon to Porto last week",
    "The team moved from Lyon to Porto two weeks ago",
    "The user prefers answers on the phone",
    "Anna moved because Carl works at the bakery in Graz.",
    "The old server runs the nightly backup at 3 am.",
    "I don't know whether my sister Anna lives in Hamburg.",
    "Did my sister Anna move to Hamburg?",
    "I moved from Lyon to Porto last week, not to Braga.",
    "The budget is -1,500 euros per month.",
    "The budget is 1.500 euros per month.",
    "The budget is 1,500 dollars per month.",
    "Carl's brother Tom works at the bakery in Graz with Eva.",
    "We run the backup at 3 pm on the old server.",
]


def as_asked(text: str) -> bool:
    """As a statement is looked at: it may have been cut in the middle of a word."""
    bare = text.strip()
    return any(
        LIKE.holds(form) for form in (text, f"{bare} …" if bare[-1] not in ".!?。" else text, f"… {bare}" if bare[0].islower() else text)
    )


@pytest.mark.parametrize("text", REWORDED)
def test_the_same_words_in_other_dress_are_known_again(text: str) -> None:
    assert as_asked(text)


@pytest.mark.parametrize("text", OF_ITS_OWN)
def test_shared_words_do_not_make_an_echo(text: str) -> None:
    assert not as_asked(text)


@pytest.mark.parametrize(
    "shape", [str.upper, lambda t: t.replace("e", "e\u200b"), lambda t: f"<p><b>{t}</b></p>", lambda t: f"As far as I recall, {t}"]
)
def test_each_shown_text_in_each_shape(shape: Callable[[str], str]) -> None:
    assert not [t for t in REWORDED[:2] if not LIKE.holds(shape(t))]


def test_a_slip_of_the_finger_is_forgiven_once_and_only_in_plain_words() -> None:
    echoes = Echoes.of(["the deployment pipeline runs in Frankfurt on a borrowed machine"])
    assert echoes.holds("the user's deploymet pipeline runs in Frankfurt") is False
    assert echoes.holds("I recall the deploymet pipeline runs in Frankfurt") and echoes.holds(
        "I recall the deployment pipleine runs in Frankfurt"
    )
    assert not echoes.holds("I recall the deploymet pipleine runs in Frankfurt")
    assert not echoes.holds("I recall the deployment pipeline runs in Frankfort")


def test_what_turns_a_sentence_is_never_left_out() -> None:
    for word in ("not", "never", "only", "rarely", "will"):
        assert not Echoes.of([f"I do {word} eat lunch in the garden"]).holds("the user eats lunch in the garden")


@given(PLAIN, st.integers(0, 40), st.sampled_from(["not", "Braga", "2025", "never", "не", "1.700"]))
def test_reworded_with_a_word_of_its_own_it_is_new(text: str, place: int, word: str) -> None:
    words = text.split(" ")
    words.insert(place % (len(words) + 1), word)
    assert not Echoes.of([text]).holds("I recall that " + " ".join(words))


def test_the_looser_look_is_fast() -> None:
    chance = random.Random(3)
    words = [f"wo{chr(97 + i % 26)}rd{i}" for i in range(300)] + "the on in to and we I not because Tuesday server".split()
    texts = [" ".join(chance.choices(words, k=20)) for _ in range(1_000)]
    start = time.process_time()
    echoes = Echoes.of(texts)
    held = [echoes.holds(" ".join(chance.choices(words, k=15))) for _ in range(1_000)]
    assert time.process_time() - start < 3 and not any(held)


@pytest.mark.parametrize(
    "unit", [" ", "\n", "a,", "turn 1] ", "(since ", '"text": ', "<b", "#", "the user ", " My sister Anna and ", "I moved from Lyon … "]
)
def test_no_text_runs_away_from_the_looser_look(unit: str) -> None:
    start = time.process_time()
    LIKE.holds((unit * 20_000)[:19_990])
    assert time.process_time() - start < 3

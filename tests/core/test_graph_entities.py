"""Names in text: right ones, in many languages, and no ordinary words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leporello.core.graph import entities, key

FOUND = [
    ("I met Bob at the Bank of America on Monday.", {"Bob": "person", "Bank of America": "name"}),
    ("Alice lives in Lisbon with her sister Maria Silva.", {"Alice": "person", "Lisbon": "place", "Maria Silva": "person"}),
    ("Remind Bob to call Dr. Smith in May.", {"Bob": "name", "Smith": "person"}),
    ("Visited Paris last year. It was great!", {"Paris": "name"}),
    ("Yesterday Alice Meyer went to New York and Los Angeles.", {"Alice Meyer": "person", "New York": "name", "Los Angeles": "name"}),
    ("Alice's sister works at Stanford University.", {"Alice": "person", "Stanford University": "organisation"}),
    ("Anna and Bert went home.", {"Anna": "name", "Bert": "person"}),
    ("Tom, my cousin, called.", {"Tom": "person"}),
    ("Clara Voss is my new boss.", {"Clara Voss": "person"}),
    ("The project Falcon is late.", {"Falcon": "project"}),
    ("We read Ludwig van Beethoven's letters.", {"Ludwig van Beethoven": "name"}),
    ('She read "The Great Gatsby" and “Dune”.', {"Great Gatsby": "name", "Dune": "name"}),
    ("Robert (Bob) Smith moved.", {"Robert (Bob) Smith": "person"}),
    ("Will you ask Will?", {"Will": "name"}),
    ("J. R. Hartley wrote it.", {"J. R. Hartley": "name"}),
    ("fixed src/app/auth.py and ./run.sh, not main.go", {"src/app/auth.py": "file", "./run.sh": "file", "main.go": "file"}),
    ("call parse_args() or `max_retries` in HTTPServer", {"parse_args": "code", "max_retries": "code", "HTTPServer": "code"}),
    ("see AUTH-42 and `core/api.py`", {"AUTH-42": "code", "core/api.py": "file"}),
    ("ask @bob or a.b@example.org", {"bob": "handle", "a.b@example.org": "handle"}),
    ("docs at https://www.docs.python.org/3/x?y=1 and www.example.com", {"docs.python.org": "host", "example.com": "host"}),
    ("we use Node.js here", {"Node.js": "name"}),
    ("Mein Freund Peter wohnt in München und arbeitet bei Siemens.", {"Peter": "person", "München": "place", "Siemens": "name"}),
    ("Ich war in Bremen und mit Zeit, für Musik und nach Hause.", {"Bremen": "name"}),
    ("Anna Müller und ihre Schwester trinken Kaffee mit Milch.", {"Anna Müller": "name"}),
    ("Mi hermana Lucía vive en Madrid.", {"Lucía": "person", "Madrid": "place"}),
    ("Моя сестра Анна живёт в Риге.", {"Анна": "person", "Риге": "name"}),
    ("我叫李雷，我的老板是王芳。我住在北京。", {"李雷": "person", "王芳": "person", "北京": "place"}),
    ("他推荐《三体》和「東京物語」", {"三体": "name", "東京物語": "name"}),
    ("田中さんは東京に住んでいます。", {"田中": "person", "東京": "place"}),
    ("김민수 씨는 의사입니다", {"김민수": "person"}),
]

NOTHING = [
    "I think I'm fine. It’s OK, and I’ve time.",
    "Coffee is good. Dinner was great. Work went well.",
    "On Monday in May, or on Tuesday in June.",
    "How To Write Good Tests Today",
    "I AM SO ANGRY RIGHT NOW",
    "## Key Findings\n**Next Steps**: wait\n- **Review**: later",
    "```\nColumn = Integer(Primary)\n```",
    "Ich kaufe heute Milch und habe keine Zeit für die Wohnung.",
    "Mein Bruder wohnt in einer Wohnung und die Arbeit macht Spaß.",
    'He said "Come here, now." and "no problem at all".',
    'it is called "Price (net)" and "7"',
    "the price is 5.99/kg, see 1/2 and 3.5",
    "@dataclass\nclass x: pass",
    "Thanks! Please send it. Hello there.",
    "Today's plan is short. Life's been good. That's all.",
    "",
    "   \n\t",
]


@pytest.mark.parametrize(("text", "expected"), FOUND)
def test_names_are_found_with_their_kind_and_place(text: str, expected: dict[str, str]) -> None:
    found = entities(text)
    assert {m.name: m.kind for m in found} == expected
    assert all(text[m.start : m.end] == m.name and m.key == key(m.name) for m in found)


@pytest.mark.parametrize("text", NOTHING)
def test_ordinary_words_are_no_names(text: str) -> None:
    assert entities(text) == ()


def test_a_doubtful_capital_counts_when_it_is_known_or_sure_elsewhere() -> None:
    assert entities("Lisbon is sunny.") == ()
    assert [m.name for m in entities("Lisbon is sunny.", known={"lisbon"})] == ["Lisbon"]
    assert [m.name for m in entities("Lisbon is sunny. I like Lisbon.")] == ["Lisbon", "Lisbon"]
    assert [m.name for m in entities("Woohoo Melanie!", known={"melanie"})] == ["Melanie"]
    assert [m.name for m in entities("Woohoo Melanie!")] == ["Woohoo Melanie"]


def test_the_speaker_is_a_person_and_stands_first() -> None:
    found = entities("I like Lisbon.", speaker="Alice Meyer")
    assert [(m.name, m.kind, m.end) for m in found] == [("Alice Meyer", "person", 0), ("Lisbon", "name", 13)]
    assert entities("hello", speaker="user") == entities("hello", speaker=" ") == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("José", "jose"),
        ("JOSE\u0301", "jose"),
        ("Alice’s", "Alice"),
        ("  New\n York ", "new york"),
        ("ＡＢＣ", "abc"),
        ("Straße", "STRASSE"),
    ],
)
def test_spelling_does_not_part_a_name(one: str, other: str) -> None:
    assert key(one) == key(other)


def test_likeness_does_not_join_names() -> None:
    assert len({key(n) for n in ("Jon", "John", "Joan", "Йан", "Иан")}) == 5


@given(st.text(max_size=300), st.text(max_size=20))
def test_any_text_is_taken_and_places_are_true(text: str, speaker: str) -> None:
    for m in entities(text, speaker=speaker):
        assert m.key and (m.end == 0 or text[m.start : m.end] == m.name)


@given(
    st.lists(
        st.sampled_from("Bob went. 'Life' ** \n # ``` ( ) \" “ ” : @x a_b x.py Dr. Mr. 我 叫 李 先生 《 》 van der New".split(" ")),
        max_size=60,
    )
)
def test_found_names_do_not_overlap(parts: list[str]) -> None:
    found = entities(" ".join(parts))
    assert all(a.end <= b.start for a, b in zip(found, found[1:], strict=False))
    assert entities(" ".join(parts)) == found


def test_a_long_text_is_read_in_time_that_grows_with_it_and_to_its_limit() -> None:
    text = "and Bob " * 50_000
    assert entities(text)[-1].end <= 20_000
    assert entities("(" * 50_000 + "/" * 50_000 + "a_" * 50_000 + "**" * 9_000) == ()

"""How two statements relate: traps that must not retire anything, and changes that must."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leporello.core.facts.read import read
from leporello.core.facts.relate import relate


def kind(earlier: str, later: str, likeness: float | None = None) -> str:
    return relate(read(earlier), read(later), likeness=likeness).kind


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I like tea", "I don't like tea any more"),
        ("Deploys happen on Tuesdays", "Deploys happen on Thursdays"),
        ("Deploys happen on Tuesday", "Actually it's Thursday, not Tuesday, for deploys"),
        ("We use Postgres", "We switched to MySQL"),
        ("Dana is married to Bob", "Dana got divorced"),
        ("I am vegetarian", "I eat meat again"),
        ("The trip to Rome is in May", "The trip to Rome was cancelled"),
        ("Max prefers tabs", "Max prefers spaces"),
        ("The response time is 300ms", "The response time has improved to 250ms"),
        ("The repo has 150 commits", "The repo has reached 165 commits"),
        ("I have completed 12 problems", "I have completed 15 problems with 95 % accuracy"),
        ("Alice lives in Porto", "Alice moved back to Lyon"),
        ("The package is called foo", "The package was renamed to bar"),
        ("The deadline is Friday", "The new deadline is Monday"),
        ("Ich wohne in Berlin", "Ich bin nach Hamburg gezogen"),
        ("La reunión es el lunes", "La reunión se aplazó al jueves"),
        ("J'habite à Lyon", "J'ai déménagé à Nantes"),
        ("我住在北京", "我搬到了上海"),
    ],
)
def test_updates(earlier: str, later: str) -> None:
    assert kind(earlier, later) == "update"


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Alice lives in Porto", "Bob lives in Lyon"),
        ("I like tea", "I like coffee"),
        ("I have a cat", "I have a dog"),
        ("My phone is 555-0101", "My work phone is 555-0199"),
        ("My brother is Paul", "My brother is Simon"),
        ("We use Postgres", "We use Redis"),
        ("We use Postgres for orders", "We use SQLite for tests"),
        ("The meeting is on Monday", "The meeting is on Monday at 3pm"),
        ("The API timeout is 30 seconds", "The upload timeout is 60 seconds"),
        ("Dana works at Acme", "Dana works as an engineer"),
        ("I live in Porto", "I lived in Lyon as a child"),
        ("I lived in Lyon as a child", "I live in Porto"),
        ("I live in Porto", "I might move to Lyon"),
        ("We use Postgres", "Should we switch to MySQL?"),
        ("We use Postgres", "If we switched to MySQL, it would be slower"),
        ("I ran a 5k in May", "I ran a 10k in June"),
        ("I like tea", "Bob doesn't like tea any more"),
        ("Build 41 is green", "Build 42 is red"),
        ("The app supports dark mode", "The app supports light mode"),
        ("Service A calls service B", "Service A calls service C"),
        ("Mia lives in Lisbon", "Mia is in Madrid this week"),
    ],
)
def test_what_holds_beside_it(earlier: str, later: str) -> None:
    assert kind(earlier, later, 0.99) == "none"


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Alice lives in Porto", "Bob says Alice moved to Madrid"),
        ("I live in Lyon", "I will move to Porto in June"),
        ("We have never used Flask-Login", "We use Flask-Login"),
        ("My library has 45 sources", "I have added 52 sources to my library"),
        ("Deploys happen on Tuesday", "Actually it's Thursday, not Tuesday"),
        ("Alice lives in Porto", "She moved to Lyon"),
        ("We use Postgres", "We use MySQL"),
        ("Alice lives in Porto", "Alice lives in Spain"),
    ],
)
def test_unsure_is_a_conflict(earlier: str, later: str) -> None:
    assert kind(earlier, later) == "conflict"


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Alice lives in Porto.", "alice  lives in porto."),
        ("Alice lives in Porto", "Alice: I live in Porto (2024-05-03)."),
        ("Kate resides in Glasgow", "Kate lives in Glasgow"),
        ("The deploy window is on Tuesday", "The deploy window is on Tuesday (2024-05-03)"),
        ("Deploys happen on Tuesdays", "We deploy on Tuesdays"),
        ("Vivo en Sevilla", "Resido en Sevilla"),
        ("Wir nutzen Docker", "Wir verwenden Docker"),
        ("The API timeout is 30 seconds", "The API timeout is 30s"),
    ],
)
def test_the_same_said_again(earlier: str, later: str) -> None:
    assert kind(earlier, later, 0.9) == "same"


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The timeout of reads is 30 s", "The timeout of reads is 40 s"),
        ("Alice has a dog named Rex", "Alice has a dog named Max"),
        ("The review is on June 12", "The review is on June 13"),
        ("The cache is used", "The cache is not used"),
        ("The walk is 5 km", "The walk is 5 miles"),
        ("The door code is in the wiki", "The door code is in the drawer"),
        ("Sara prefers calls over email", "Sara prefers email over calls"),
    ],
)
def test_never_the_same_when_something_that_tells_differs(earlier: str, later: str) -> None:
    assert kind(earlier, later, 1.0) != "same"


@pytest.mark.parametrize(
    ("earlier", "later", "why"),
    [
        ("I love cilantro", "I hate cilantro", "the other way round now"),
        ("Bug 412 is still open", "Bug 412 was fixed in the last release", "another state"),
        ("Rachel is responsible for the payroll project", "The payroll project was reassigned to Dmitri", "somebody else now"),
        ("I'm looking for a flat", "I found a flat in Camden", "done"),
        ("Kevin doesn't have a driver's license", "Kevin got his driver's license", "has it now"),
        ("The class is called UserManager", "UserManager was renamed to AccountStore", "another name now"),
        ("Grace lives in Room 12", "Grace has been moved to Room 20", "another number"),
        ("The database password is stored in .env", "We moved the database password to Vault", "at another place"),
        ("I like my eggs scrambled", "I like my eggs poached now", "in another way now"),
        ("Frau Lang wohnt im dritten Stock", "Frau Lang ist ausgezogen", "moved out"),
        ("Alan wants to buy a motorcycle", "Alan no longer wants to buy a motorcycle", "no longer"),
    ],
)
def test_what_is_retired_and_why(earlier: str, later: str, why: str) -> None:
    found = relate(read(earlier), read(later))
    assert (found.kind, found.why) == ("update", why)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Bug 412 is still open", "Bug 413 was fixed in the last release"),
        ("Frau Lang wohnt in Ulm", "Herr Lang ist ausgezogen"),
        ("Ben is sick", "Ben's daughter is healthy again"),
        ("The API is fast", "The API is now documented"),
        ("Memory usage is around 300 MB", "Disk usage dropped to 10 GB"),
        ("My gallery images went from 300KB to 180KB", "I compressed the images, which brought the size down from 1.8MB to 1.2MB"),
        ("I keep image sizes under 200KB", "I've already reduced my gallery image sizes to 180KB"),
        ("Keywords improve the ranking by 15%", "My new format improved the ranking by 18%"),
        ("My favorite place is San Diego", "One of my favorite places is now Soho"),
        ("Carmen es enfermera", "La hermana de Carmen ya no es enfermera"),
        ("Le frère de Luc habite à Nice", "Luc a déménagé à Metz"),
        ("The Monday meeting starts at 9", "The Friday meeting starts at 11"),
    ],
)
def test_what_is_said_of_another_thing(earlier: str, later: str) -> None:
    assert kind(earlier, later, 0.9) != "update"


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_two_strings_relate_the_same_way_each_time(a: str, b: str) -> None:
    first = relate(read(a), read(b), likeness=0.5)
    assert first == relate(read(a), read(b), likeness=0.5)
    assert relate(read(a), read(a)).kind == "same"
    assert len(first.why) < 80


@given(st.sampled_from("Müller mieszka w Krakowie|Kowalski pracuje w banku|Я живу в Москве|Я переехал в Казань|彼は東京に住んでいます|彼は大阪に引っ越しました|Ahmet Ankara'da yaşıyor".split("|")), st.sampled_from("Müller mieszka w Gdańsku|Я больше не живу в Москве|彼女は京都に住んでいます|Ahmet İzmir'e taşındı".split("|")))  # fmt: skip
def test_a_language_without_rules_retires_nothing(a: str, b: str) -> None:
    assert kind(a, b, 0.9) in {"none", "conflict"}

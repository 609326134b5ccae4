"""How two statements relate: traps that must not retire anything, and changes that must."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import leporello
from leporello.core.dates import absolute
from leporello.core.facts.read import keys, read
from leporello.core.facts.relate import relate

DATA = Path(os.environ.get("LEPORELLO_EVAL_DATA") or Path(__file__).parents[2] / "../shared/data").resolve()


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


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Conventions: Stack items are tuples", "Conventions: Records are defined in include/*.hrl"),
        ("Think Tool: Core mechanism lives in think.py", "Think Tool: Includes a scratchpad for plans"),
        ("Guide / Conventions: Tests use pytest", "Guide / Conventions: Docs use Markdown"),
        ("Architecture: The parser reads tokens", "Architecture: The writer emits bytes"),
        ("I like dish number 3.", "I like dish number 4."),
        ("Customer 3 prefers contact by phone.", "Customer 13 prefers contact by email."),
        ("Employee 12 lives in Rome.", "Employee 13 lives in Oslo."),
        ("Node 1 has 16 GB RAM.", "Node 2 has 32 GB RAM."),
        ("The price of item A is $5.", "The price of item C is $7."),
        ("Foo ID 12 maps to Bar 9.", "Foo ID 13 maps to Bar 10."),
        ("Team 3 uses Jira.", "Team 4 uses Linear."),
        ("User 6 lives in Rome.", "I live in Lyon."),
        ("I live in Lyon.", "User 6 lives in Rome."),
        ("María vive en Madrid.", "El hermano de María vive en Sevilla."),
        ("Pierre habite à Lyon.", "Le frère de Pierre habite à Lille."),
        ("Peter wohnt in Ulm.", "Der Bruder von Peter wohnt in Mainz."),
        ("Peter lives in Ulm.", "Peter's brother lives in Mainz."),
        ("Peter lives in Ulm.", "The brother of Peter lives in Mainz."),
        ("Peter wohnt in Ulm.", "Peters Bruder wohnt in Mainz."),
        ("The service runs on port 8080.", "The service does not run on port 80."),
        ("I like coffee.", "I no longer like my coffee machine."),
        ("Bob lives in Portugal.", "Bob lives in Porto."),
        ("Bob lives in Porto.", "Bob lives in Portugal."),
        ("elise: My favourite place is Rome.", "My favourite place is Oslo."),
        ("Testing: Use pytest fixtures", "Testing: Run the suite with tox"),
        ("Project Overview: The parser reads tokens", "Project Overview: The writer emits bytes"),
        ("server.ts: Registers all tools", "server.ts: Starts the event loop"),
        ("Guide › Style: Lines are at most 100 characters", "Guide › Logs: Lines are at most 200 characters"),
        ("Staging: The database runs on port 5432", "Production: The database runs on port 6432"),
        ("Konventionen: Module exportieren init", "Konventionen: Typen stehen in include"),
        ("Convenciones: Los registros van en include", "Convenciones: Las pruebas van en tests"),
        ("Memory › Tools: Core mechanism for planning", "Memory › Tools: Includes a scratchpad"),
        ("elise: My favourite place is Rome.", "My favourite place is Oslo."),
        ("I like track number 7.", "I like track number 9."),
        ("Guest 2 is vegan.", "Guest 5 eats meat."),
        ("Patient 7 lives in Graz.", "Patient 8 lives in Linz."),
        ("Server 1 runs on port 8080.", "Server 2 runs on port 9090."),
        ("node1 has 16 GB RAM.", "node2 has 32 GB RAM."),
        ("The price of plan B is $20.", "The price of plan D is $40."),
        ("Kunde 3 bevorzugt Telefon.", "Kunde 13 bevorzugt E-Mail."),
        ("El cliente 4 vive en Madrid.", "El cliente 5 vive en Sevilla."),
        ("Le client 4 habite à Lyon.", "Le client 5 habite à Lille."),
        ("Squad 1 uses Slack.", "Squad 2 uses Teams."),
        ("Player 1 is Ann.", "Player 2 is Bob."),
        ("Customer 9 prefers email.", "I prefer phone calls."),
        ("Peter wohnt in Ulm.", "Der Bruder von Peter wohnt in Mainz."),
        ("Peter lives in Ulm.", "The brother of Peter lives in Mainz."),
        ("The API listens on port 443.", "The API does not listen on port 80."),
        ("I like tea.", "I no longer like my tea cups."),
        ("I like chocolate.", "I no longer like chocolate cake."),
        ("Mia lives in Spain.", "Mia lives in Valencia."),
        ("Jana wohnt in Deutschland.", "Jana wohnt in Hamburg."),
        ("The client is at 1.2.3", "The server is at 1.2.30"),
        ("We use Node 18.2", "We use Node 18.20 in CI as well"),
        ("The flag is set with DEBUG=1", "The flag is set with debug=1"),
        ("Ann invited Ben", "Ben invited Ann"),
        ("The parser calls the lexer", "The lexer calls the parser"),
        ("I run before work", "I run after work"),
        ("Every test passes in CI", "Some tests pass in CI"),
        ("Only admins can deploy", "Admins can deploy"),
        ("The office is open until noon", "The office is open since noon"),
        ("Alle Tests laufen durch", "Einige Tests laufen durch"),
        ("Version 2.0.7: Released on 2024-07-31", "Version 2.0.9: Released on 2025-08-15"),
        ("Room 4 holds 20 people.", "Room 5 holds 30 people."),
        ("Lecture 3 is on Monday.", "Lecture 4 is on Wednesday."),
        ("Carol leads team 3.", "Dan leads team 4 now."),
    ],
)
def test_two_things_stand_side_by_side(earlier: str, later: str) -> None:
    assert kind(earlier, later) == "none" and kind(earlier, later, 0.97) == "none"


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The version is 2.3.1", "The version is 2.3.10"),
        ("We run 2.3.1", "We run 2.3.10"),
        ("We use Python 3.1", "We use Python 3.10"),
        ("A=1", "a=1"),
        ("It is -5 degrees", "It is 5 degrees"),
        ("-5 degrees", "5 degrees"),
        ("Red beat Blue", "Blue beat Red"),
        ("A calls B", "B calls A"),
        ("Take it before lunch", "Take it after lunch"),
        ("I run before lunch", "I run after lunch"),
        ("All tests pass", "Some tests pass"),
        ("all tests pass", "some tests pass"),
        ("Every test passes", "Each test passes"),
        ("The max timeout matters", "The min timeout matters"),
        ("First call Bob", "Last call Bob"),
        ("I need more sugar", "I need less sugar"),
        ("Only admins may log in", "Admins may log in"),
        ("The office is open until noon", "The office is open since noon"),
    ],
)
def test_one_word_sign_or_order_is_enough_not_to_be_the_same(earlier: str, later: str) -> None:
    assert kind(earlier, later) != "same" and kind(earlier, later, 1.0) != "same"


@pytest.mark.parametrize(
    ("earlier", "later", "expected"),
    [
        ("I live in Berlin.", "i live in berlin", "same"),
        ("我住在北京", "我在北京住", "same"),
        ("我住在北京", "我在北京住院", "none"),
        ("Der Server läuft auf Port 8080", "Der Server läuft unter Port 8080", "same"),
        ("Viajo a Perú en abril.", "Cancelé el viaje a Perú.", "update"),
        ("Carol is the team lead.", "Dan took over as team lead from Carol.", "update"),
        ("Ines is the head of design.", "Leo succeeded Ines as head of design.", "update"),
        ("我抽烟", "我戒烟了", "update"),
        ("Node 2 has 16 GB RAM.", "Node 2 now has 32 GB RAM.", "update"),
        ("Deadline for the report: Friday", "Deadline for the report: Monday", "update"),
        ("My email: a@b.de", "My email: c@d.de", "update"),
        ("elise: My favourite place is Rome.", "elise: My favourite place is Oslo.", "update"),
        ("The deadline is Thursday.", "New plan: the deadline is Friday.", "update"),
        ("Bob lives in Portugal.", "Bob lives in Vienna.", "conflict"),
        ("We use tabs", "Style: We use spaces now", "conflict"),
        ("Our supported language is French.", "Our supported language is German.", "conflict"),
    ],
)
def test_labels_numbers_and_wordings(earlier: str, later: str, expected: str) -> None:
    assert kind(earlier, later) == expected


@given(st.text(max_size=2_000), st.text(max_size=2_000))
def test_any_text_can_be_read(a: str, b: str) -> None:
    first, second = read(a), read(b)
    assert len(keys(first)) <= 24
    assert relate(first, second, likeness=0.9).kind in {"same", "update", "conflict", "none"}


def test_nasty_texts_can_be_read() -> None:
    texts = [v for v in json.loads((DATA / "nasty" / "text.json").read_text(encoding="utf-8")).values() if isinstance(v, str)]
    assert len(texts) > 10
    for a in texts:
        assert len(keys(read(a))) <= 24
        for b in texts:
            assert relate(read(a), read(b), likeness=0.9).kind in {"same", "none", "conflict"}


PAIRS = json.loads((Path(leporello.__file__).parent / "bench" / "pairs.json").read_text("utf-8"))


def test_dates_that_are_written_into_texts_retire_nothing_and_hide_little() -> None:
    """Relative dates are resolved before facts are compared: "this Monday" must not become a Monday that was changed."""
    january, march = datetime(2026, 1, 5, tzinfo=UTC), datetime(2026, 3, 5, tzinfo=UTC)
    dated = [(p, absolute(p["earlier"], january), absolute(p["later"], march)) for p in PAIRS]
    dated = [(p, a, b) for p, a, b in dated if (a, b) != (p["earlier"], p["later"])]
    assert len(dated) >= 150
    assert [(a, b) for p, a, b in dated if p["label"] != "retire" and kind(a, b) == "update"] == []
    known = [(a, b) for p, a, b in dated if p["label"] == "retire" and kind(p["earlier"], p["later"]) == "update"]
    assert sum(kind(a, b) != "update" for a, b in known) <= len(known) / 50


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Alice's locker 2 code is 14.", "Alice's locker 3 code is 21."), ("Der Code von Spind 2 ist 14.", "Der Code von Spind 3 ist 21."),
        ("Our server 1 password is fox.", "Our server 2 password is owl."), ("El código de la taquilla 2 es 14.", "El código de la taquilla 3 es 21."),
    ],
)  # fmt: skip
def test_things_that_a_number_names_are_told_apart_whosever_they_are(earlier: str, later: str) -> None:
    assert kind(earlier, later) in {"none", "conflict"}


def test_the_same_numbered_thing_changes() -> None:
    assert kind("Alice's locker 2 code is 14.", "Alice's locker 2 code is 21.") == "update"

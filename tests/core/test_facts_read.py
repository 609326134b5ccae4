"""What a statement says: subject, predicate, value, and whether it changed, ended, or is only asked or supposed."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leporello.core.facts.read import keys, read, sure_keys


@pytest.mark.parametrize(
    ("text", "subject", "predicate", "value"),
    [
        ("Alice lives in Porto.", "alice", "home", "porto"),
        ("I moved to Porto last month.", "user", "home", "porto"),
        ("Alice: I moved to Porto (2024-05-03).", "alice", "home", "porto"),
        ("The user lives in Porto.", "user", "home", "porto"),
        ("Ich bin nach Hamburg gezogen.", "user", "home", "hamburg"),
        ("Ana se mudó a Bilbao.", "ana", "home", "bilbao"),
        ("J'habite à Lyon.", "user", "home", "lyon"),
        ("我住在北京。", "user", "home", "北 京"),
        ("Dana works at Acme.", "dana", "employer", "acme"),
        ("Dana works as an engineer at Acme.", "dana", "job", "engineer"),
        ("My sister Kate lives in Bristol.", "kate", "home", "bristol"),
        ("We use Postgres for orders.", "we", "use:database", "postgres"),
        ("We switched from npm to pnpm.", "we", "use:package-manager", "pnpm"),
        ("Wir haben Jenkins durch GitLab CI ersetzt.", "we", "use:ci", "gitlab ci"),
        ("Max prefers tabs.", "max", "prefer", "tabs"),
        ("The API timeout is 30 seconds.", "api timeout", "api timeout", "30 time"),
    ],
)
def test_subject_predicate_and_value(text: str, subject: str, predicate: str, value: str) -> None:
    found = read(text)
    assert (found.subject, found.predicate, found.object) == (subject, predicate, value)


def test_the_speaker_is_who_says_i() -> None:
    assert read("I live in Porto.", speaker="Alice Smith").subject == "alice smith"
    assert read("My phone is broken.", speaker="Alice").subject == "alice's phone"
    assert read("Bob lives in Porto.", speaker="Alice").subject == "bob"


@pytest.mark.parametrize(
    ("text", "negated", "ended", "changed"),
    [
        ("I like tea.", False, False, False),
        ("I do not like tea.", True, False, False),
        ("I don't like tea any more.", False, True, True),
        ("Ich mag keinen Tee mehr.", False, True, False),
        ("Ya no me gusta el té.", False, True, False),
        ("Je n'aime plus le thé.", False, True, False),
        ("我不再喜欢喝茶了。", False, True, False),
        ("The trip was cancelled.", False, True, False),
        ("The trip was never cancelled.", True, False, False),
        ("The trip is in May now.", False, False, True),
        ("The trip was postponed to June.", False, False, True),
    ],
)
def test_denied_ended_changed(text: str, negated: bool, ended: bool, changed: bool) -> None:
    found = read(text)
    assert (found.negated, found.ended) == (negated, ended)
    assert found.changed or not changed


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("Alice likes coffee.", "like"),
        ("Alice does not like coffee anymore.", "not like"),
        ("Alice hates coffee.", "dislike"),
        ("Alice can't stand coffee.", "dislike"),
        ("Alice left Acme.", "not employer"),
        ("The trip to Oslo was cancelled.", "not trip oslo"),
    ],
)
def test_what_is_denied_or_over_does_not_look_as_if_it_held(text: str, predicate: str) -> None:
    assert read(text).predicate.replace("cancell ", "") == predicate


def test_keys_are_shared_by_what_concerns_the_same() -> None:
    pairs = (
        ("The service uses REST.", "We switched the service to gRPC."),
        ("I'm on parental leave.", "I'm back at work since Monday."),
        ("Priya is dating Alex.", "Priya and Alex broke up last weekend."),
        ("Julien habite à Lyon.", "Julien a déménagé à Nantes."),
    )
    for one, other in pairs:
        assert set(sure_keys(read(one))) & set(sure_keys(read(other)))
        assert set(sure_keys(read(one))) <= set(keys(read(one)))


@pytest.mark.parametrize(
    "text",
    [
        "Should we switch to MySQL?", "I might move to Porto.", "If we switched to MySQL, it would be slower.", "Vielleicht ziehe ich nach Wien.", "Quizás me mude a Bilbao.", "如果我们改用MySQL",
        "I lived in Lyon as a child.", "I used to work at Acme.", "Als Kind habe ich in Kiel gelebt.",
    ],
)  # fmt: skip
def test_what_is_asked_supposed_or_past_tells_nothing(text: str) -> None:
    assert read(text).predicate == ""


def test_a_long_sentence_gives_the_clause_that_states_something() -> None:
    found = read(
        "I'm trying to optimise the dashboard API response time, which has recently improved to 250ms after adding caching, can you help me with that?"
    )
    numbers = [(q.value, q.unit) for c in found.claims for q in c.numbers]
    assert numbers == [(0.25, "time")] and found.changed
    assert {"dashboard", "api"} <= next(c.about for c in found.claims if c.numbers)


@pytest.mark.parametrize(
    ("text", "facets"),
    [
        ("It is on Monday at 3pm.", {"weekday": {0}, "hour": {900}}),
        ("It is on 3 June 2025.", {"day": {3}, "month": {6}, "year": {2025}}),
        ("It is on May 3rd, 2025.", {"day": {3}, "month": {5}, "year": {2025}}),
        ("It may be so.", {}),
        ("Es ist am 3. Juni um 15 Uhr.", {"day": {3}, "month": {6}, "hour": {900}}),
        ("Es el martes a las 10.", {"weekday": {1}, "hour": {600}}),
        ("C'est lundi à 9h.", {"weekday": {0}, "hour": {540}}),
        ("会议在周四下午三点。", {"weekday": {3}, "hour": {900}}),
        ("It is tomorrow (2026-11-30).", {"year": {2026}, "month": {11}, "day": {30}}),
        ("It is on 2026-11-30.", {"year": {2026}, "month": {11}, "day": {30}}),
    ],
)
def test_points_in_time(text: str, facets: dict[str, set[int]]) -> None:
    found = {facet: set(values) for c in read(text).claims for facet, values in c.times}
    assert found == facets


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("It takes 250ms.", (0.25, "time")), ("It takes 2 hours.", (7200.0, "time")), ("It costs 4.500 Euro.", (4500.0, "money")), ("It costs $1,200.", (1200.0, "money")),
        ("It has 12 practice problems.", (12.0, "problem")), ("It runs Python 3.11.", (3.11, "version")), ("Nora is 34 years old.", (34.0, "age")), ("Coverage is 78 %.", (78.0, "%")),
        ("Build 41 failed.", None),
    ],
)  # fmt: skip
def test_numbers_with_units(text: str, number: tuple[float, str] | None) -> None:
    found = [(round(q.value, 4), q.unit) for c in read(text).claims for q in c.numbers]
    assert found == ([number] if number else [])


def test_keys_meet_for_what_concerns_the_same_thing() -> None:
    def met(a: str, b: str) -> bool:
        return bool(set(keys(read(a))) & set(keys(read(b))))

    assert met("Alice lives in Porto.", "Alice moved to Lyon.")
    assert met("I live in Porto.", "I moved to Lyon.")
    assert met("We use Postgres.", "We switched to MySQL.")
    assert met("The trip to Rome is in May.", "The trip to Rome was cancelled.")
    assert not met("Alice lives in Porto.", "We use Redis for caching.")
    assert keys(read("")) == ()


@given(st.text(max_size=200))
def test_any_string_is_read(text: str) -> None:
    found = read(text)
    assert found.text == text and hash(found) is not None
    assert len(keys(found)) <= 24 and all(0 <= k < 1 << 32 for k in keys(found))


@settings(deadline=None, max_examples=30)
@given(
    st.sampled_from(["a ", "I ", "not ", "from a to b ", "(", "1,", "1.", "的", "if ", "Aa: ", "in May ", "2024-05-", "'s ", "moved to "]),
    st.integers(1, 5_000),
)
def test_long_texts_take_no_longer(piece: str, times: int) -> None:
    started = time.perf_counter()
    read.__wrapped__((piece * times)[:5_000])
    assert time.perf_counter() - started < 0.5

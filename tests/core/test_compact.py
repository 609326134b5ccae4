"""Merging and rendering compacts and episodes."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from leporello.core.compact import CLOSING, TITLES, line, merge, render, render_episode, summarise
from leporello.core.tokens import estimate
from leporello.records import Episode, Item, Scope, Section, Span

AT = datetime(2026, 11, 30, tzinfo=UTC)
SECTIONS = [s for s, _ in TITLES]


def item(section: Section, text: str, weight: float = 1.0, why: str = "", span: Span | None = None) -> Item:
    return Item(section, text, why=why, weight=weight, spans=(span,) if span else (), trust="user" if section == "goal" else "agent", at=AT)


ITEMS = [
    item("next", "Update the changelog.", 2),
    item("goal", "Fix the flaky login test.", 10),
    item("decision", "We use an advisory lock.", 4, "It spans processes."),
    item("eliminated", "A plain lock did not work because the workers are processes.", 4, "the workers are processes"),
    item("state", "The test passes.", 3),
]


def test_sections_stand_in_order_and_the_last_line_says_how_to_go_on() -> None:
    text, shown = render(ITEMS, tokens=500)
    assert shown == tuple(ITEMS)
    assert text == "\n\n".join([
        "## Task\n- Fix the flaky login test.",
        "## Current state\n- The test passes.",
        "## Decisions\n- We use an advisory lock. Why: It spans processes.",
        "## Ruled out\n- A plain lock did not work because the workers are processes.",
        "## Next steps\n- Update the changelog.",
        CLOSING,
    ])  # fmt: skip


def test_the_heaviest_stay_when_room_is_short_and_the_goal_first() -> None:
    text, shown = render(ITEMS, tokens=25)
    assert "goal" in [i.section for i in shown] and len(shown) < len(ITEMS)
    assert len(text) <= 100
    short, cut = render([item("goal", "word " * 100)], tokens=10)
    assert 0 < len(short) <= 40 and cut[0].text == short
    assert render([], tokens=10) == ("", ())


@given(st.lists(st.tuples(st.sampled_from(SECTIONS), st.text(min_size=1, max_size=80), st.floats(0, 10)), max_size=12), st.integers(0, 300))
def test_never_over_budget(given_items: list[tuple[Section, str, float]], tokens: int) -> None:
    items = [item(s, t, w) for s, t, w in given_items]
    text, shown = render(items, tokens=tokens)
    assert estimate(text) <= tokens
    assert not text.isascii() or len(text) <= 4 * tokens
    assert [i for i in shown if i not in items] == [] or len(shown) == 1
    assert render(shown, tokens=tokens)[1] == shown


def test_sentences_that_followed_one_another_are_one_line_again() -> None:
    a = item("goal", "Fix it.", 10, span=Span("m1", 0, 7))
    b = item("goal", "Then test it.", 10, span=Span("m1", 8, 21))
    c = item("goal", "And more.", 10, span=Span("m2", 0, 9))
    assert render([a, b, c], tokens=100)[0].startswith("## Task\n- Fix it. Then test it.\n- Newest: And more.")


def test_a_speaker_is_named_once_a_line() -> None:
    said = [
        Item("event", t, spans=(Span("m1", a, b),), trust="user", at=AT)
        for t, a, b in (("Ann: I moved.", 0, 8), ("Ann: I like it.", 9, 19), ("Ann: It is warm.", 20, 31))
    ]
    assert "- Ann: I moved. I like it. It is warm." in render(said, tokens=100)[0]


def test_the_newest_word_of_the_user_is_marked_wherever_it_stands() -> None:
    goal = item("goal", "Fix it.", 10, span=Span("m1", 0, 7))
    later = Item("correction", "No, use the other one.", spans=(Span("m5", 0, 22),), trust="user", at=AT)
    text = render([goal, later], tokens=100)[0]
    assert "- Fix it.\n" in text and "- Newest: No, use the other one." in text


def test_a_merge_drops_what_was_settled_and_said_twice() -> None:
    prior = [
        item("goal", "Fix the flaky login test.", 10),
        item("next", "Update the changelog."),
        item("open", "Does the cleanup job need the lock?"),
        item("next", "Publish the release."),
        item("state", "Half of the work is done."),
        item("decision", "We use an advisory lock.", 4),
    ]
    new = [
        item("work", "Updated the changelog file: update the changelog entry."),
        item("state", "The cleanup job does need the lock, added."),
        item("decision", "We use an advisory lock.", 4),
    ]
    merged = merge(prior, new)
    texts = [i.text for i in merged]
    assert "Update the changelog." not in texts and "Does the cleanup job need the lock?" not in texts
    assert "Publish the release." in texts and texts.count("We use an advisory lock.") == 1
    assert next(i for i in merged if i.text.startswith("Half")).section == "work"
    assert merge(prior, []) == tuple(prior)
    assert merge([], prior) == tuple(prior)


def test_prior_items_weigh_less_each_time_but_lasting_ones_stay() -> None:
    items = [item("work", "Read the old file.", 2.0), item("constraint", "Never touch production.", 5.0)]
    for n in range(4):
        items = list(merge(items, [item("work", f"Did thing {n}.", 2.0)]))
    weights = {i.text: i.weight for i in items}
    assert weights["Read the old file."] < 0.2 < 4 < weights["Never touch production."]


def test_an_added_date_makes_no_second_item() -> None:
    assert len(merge([item("event", "I moved yesterday (2026-11-29).")], [item("event", "I moved yesterday.")])) == 1


def test_reasons_are_not_told_twice() -> None:
    assert line(item("decision", "Use X because it is fast.", why="it is fast")) == "- Use X because it is fast."
    assert line(item("decision", "Use X", why="It is fast.")) == "- Use X: It is fast."


def test_a_summary_is_two_or_three_sentences() -> None:
    assert summarise(ITEMS) == "Fix the flaky login test. A plain lock did not work because the workers are processes. The test passes."
    assert summarise([]) == ""
    assert summarise([item("open", "What now?")]) == "What now?"


def test_an_episode_shows_its_id_turns_summary_and_sections() -> None:
    episode = Episode("e7", Scope(), 1, (3, 9), (5, 18), AT, AT, "It was fixed.", tuple(ITEMS), "extractive/1")
    text = render_episode(episode)
    assert text.startswith("### e7 · turns 3–9\nIt was fixed.")
    for title in ("Decisions:", "Ruled out:", "Next steps:"):
        assert title in text
    one = Episode("e8", Scope(), 1, (3, 3), (5, 6), AT, AT, "Short.", (), "extractive/1")
    assert render_episode(one) == "### e8 · turn 3\nShort."

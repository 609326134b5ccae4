"""Facts that are told: once, with their source, and unfolded again."""

from __future__ import annotations

import pytest

from leporello.errors import BadValue, NotFound
from leporello.memory import Memory


def test_told_again_is_the_same_fact(mem: Memory) -> None:
    alice = mem.scope(user="alice")
    first = alice.learn("Tea is at four.", source="assumed")
    again = alice.learn("tea is  at FOUR.")
    assert again.id == first.id and alice.facts() == (again,)
    assert alice.learn("Tea is at five.", level="tenant").scope.user is None


def test_explain_goes_down_to_the_characters(mem: Memory) -> None:
    alice = mem.scope(user="alice")
    with alice.session("s") as s:
        s.add({"role": "user", "content": "Hello there. Never touch the production database. And how are you?"})
        s.add({"role": "assistant", "content": "I am well, and I will keep my hands off production."})
    fact = alice.facts()[0]
    found = alice.explain(fact.id)
    assert "production database" in found.quotes[0].text and found.quotes[0].turn == 1 and found.made_by == ("extractive/1",)
    page = alice.get(found.quotes[0].message)
    assert page.text[found.quotes[0].start : found.quotes[0].end] == found.quotes[0].text
    assert alice.explain(page.id).quotes[0].text == page.text
    with pytest.raises(NotFound):
        mem.scope(user="bob").explain(fact.id)


def test_to_contradict_again_by_what_was_taken_back_does_not_pass_for_done(mem: Memory) -> None:
    alice = mem.scope(user="alice")
    tea = alice.learn("Tea is at four.")
    ended = alice.contradict(tea.id, by="Tea is at five.")
    assert alice.contradict(tea.id, by="tea is at  FIVE.") == ended
    assert ended.superseded_by is not None
    alice.retract(ended.superseded_by)
    with pytest.raises(BadValue):
        alice.contradict(tea.id, by=ended.superseded_by)
    alice.contradict(tea.id, by="Tea is at five.")
    (stands,) = alice.facts()
    assert stands.text == "Tea is at five." and stands.id != ended.superseded_by

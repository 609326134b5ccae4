"""What a model's answer draws on was used, and stays alive; what was only put before it does not."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from leporello.memory import Memory
from leporello.testing import LocalProvider, ManualClock


def test_an_answer_that_draws_on_a_record_is_a_use_of_it(mem: Memory, clock: ManualClock) -> None:
    scope = mem.scope(user="ann")
    told = scope.session("old").add("The password of the printer in room 4 is hunter-gatherer.")[0]
    other = scope.session("old").add("The projector in room 9 is lent to Berta until Friday.")[0]
    fact = scope.learn("Deploys of the shop happen on Tuesdays at noon.")
    clock.advance(timedelta(days=30))
    answers = iter(["It is hunter-gatherer, as you told me.", "Deploys happen on Tuesdays at noon.", "I do not know anything about that."])
    with LocalProvider(window=200_000, reply=lambda _: next(answers)) as provider:
        client = provider.anthropic()
        session = scope.session("new")
        for question in (
            "What was the password of the printer in room 4?",
            "When do we deploy the shop?",
            "Who has the projector of room 9?",
        ):
            session.add(question)
            session.add(client.messages.create(model="claude-haiku-4-5", max_tokens=64, **session.request("anthropic")))
            clock.advance(timedelta(hours=2))
        assert any("Berta" in str(r.body) for r in provider.requests)  # it stood before the model
        client.close()
    mem.flush()
    kinds = {name: [e.kind for e in scope.events(i)] for name, i in (("told", told.id), ("other", other.id), ("fact", fact.id))}
    assert kinds["told"].count("used") == 1 and kinds["fact"].count("used") == 1 and "used" not in kinds["other"]
    assert scope.age(fact.id).presentations == scope.age(told.id).presentations == 2 and scope.age(other.id).presentations == 1


def test_another_users_records_are_never_used(mem: Memory, kit: Any) -> None:
    bob = mem.scope(user="bob").learn("The vault code of Bob is 4711 and a comma.")
    agent = kit.agent("anthropic")
    session = mem.scope(user="ann").session("s")
    session.add("What is the vault code of Bob?")
    session.request("anthropic")
    session.add({"role": "assistant", "content": "The vault code of Bob is 4711 and a comma."}, reply=True)
    assert [e.kind for e in mem.scope(user="bob").events(bob.id)] == ["observed"] and agent is not None

"""Another process goes on: the same request byte for byte; what is erased, or changed, does not come back."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from leporello.memory import Memory
from leporello.testing import ManualClock, Reply

WORDS = "We looked at the ledger and the totals agree with the bank statement of that month. " * 6


def chat(session: Any, turns: int, first: int = 0) -> None:
    for i in range(first, first + turns):
        session.add(f"Question {i}: does ledger L{i} add up?")
        session.add({"role": "assistant", "content": f"Ledger L{i} adds up. {WORDS}"})


def exactly(body: Any) -> str:
    return json.dumps(body)


@pytest.mark.parametrize("mode", ["flat", "folded"])
def test_a_second_process_sends_the_same_bytes(opened: Callable[..., Any], agent: Any, kit: Any, mode: Any) -> None:
    settings: dict[str, Any] = {"system": "Be brief.", "tools": kit.tools, "window": 8_000, "mode": mode, "restore": "message"}
    session = opened().scope(user="a").session("s", **settings)
    session.pin("Keep the books.")
    for i in range(4):
        chat(session, 10, first=10 * i)
        agent.say(session, f"Go on with {i}.", fold=True)
        session.add(f"And what of {i}?")
        mine = session.request(agent.wire)
        other = opened().scope(user="a").session("s")
        assert exactly(other.request(agent.wire)) == exactly(mine)
        assert exactly(session.request(agent.wire)) == exactly(mine)
    assert session.report() == other.report() and session.report().folds >= 4


def test_the_settings_of_a_session_are_kept_and_new_ones_win(opened: Callable[..., Any], kit: Any) -> None:
    agent = kit.agent("anthropic")
    first = opened().scope(user="a").session("s", system="Be brief.", window=9_000, breakpoints=False)
    agent.say(first, "Hello.")
    again = opened().scope(user="a").session("s")
    agent.say(again, "Hello again.")
    assert agent.bodies[-1]["system"] == [{"type": "text", "text": "Be brief."}]
    other = opened().scope(user="a").session("s", system=["Be long.", "Very."])
    agent.say(other, "And again.")
    assert [b["text"] for b in agent.bodies[-1]["system"]] == ["Be long.", "Very."]
    assert other.report().window == 9_000 and "cache_control" not in kit.shown(agent.bodies[-1])


@pytest.mark.parametrize("mode", ["flat", "folded"])
def test_what_is_erased_is_in_no_later_request(mem: Memory, agent: Any, kit: Any, mode: Any) -> None:
    scope = mem.scope(user="a")
    session = scope.session("s", mode=mode)
    secret = session.add("Question: my passport number is ZX-4471-K, is it valid?")[0]
    session.add({"role": "assistant", "content": "It is. " + WORDS})
    chat(session, 15)
    agent.say(session, "Go on.", fold=True)
    assert "ZX-4471-K" in kit.shown(agent.bodies[-1]) and session.report().folds == 1
    scope.erase(secret.id)
    agent.say(session, "And now?")
    assert "ZX-4471-K" not in kit.shown(agent.bodies[-1])
    agent.say(session, "And after a fold?", fold=True)
    assert "ZX-4471-K" not in kit.shown(agent.bodies[-1]) and not kit.provider.rejected


def test_an_erased_fact_leaves_the_memory(mem: Memory, kit: Any) -> None:
    agent = kit.agent("openai")
    scope = mem.scope(user="a")
    fact = scope.learn("The user is allergic to peanuts.")
    session = scope.session("s")
    agent.say(session, "What may I eat?")
    assert "peanuts" in kit.shown(agent.bodies[-1])
    scope.erase(fact.id)
    agent.say(session, "And now?")
    assert "peanuts" not in kit.shown(agent.bodies[-1])


def test_the_front_stays_when_facts_are_learned_until_the_next_fold(mem: Memory, kit: Any) -> None:
    agent = kit.agent("anthropic")
    scope = mem.scope(user="a")
    session = scope.session("s", system="Be brief.", recall=False)
    agent.say(session, "Hello.")
    scope.learn("The user lives in Oslo.")
    agent.say(session, "And now?")
    assert agent.bodies[0]["system"] == agent.bodies[1]["system"]
    chat(session, 12)
    agent.say(session, "Go on.", fold=True)
    assert "Oslo" in kit.shown(agent.bodies[-1]["system"])


def signed(body: Any) -> int:
    return sum(
        isinstance(b, dict) and b.get("type") == "thinking"
        for m in body["messages"]
        if isinstance(m["content"], list)
        for b in m["content"]
    )


def thinking(turn: Any) -> Reply:
    return Reply(f"Answer {turn.number}.", thinking=f"Let me see, {turn.number}.")


def test_signed_thinking_goes_back_while_its_prefix_stands(mem: Memory, kit: Any) -> None:
    agent, kit.provider.reply = kit.agent("anthropic"), thinking
    session = mem.scope(user="a").session("s", recall=False)
    counts = []
    for i in range(4):
        agent.say(session, f"Question {i}?")
        counts.append(signed(agent.bodies[-1]))
    assert counts == [0, 1, 2, 3]
    session.pin("A new rule.")
    agent.say(session, "With a pin?")
    assert signed(agent.bodies[-1]) == 0
    agent.say(session, "And after?")
    assert signed(agent.bodies[-1]) == 1
    chat(session, 12)
    agent.say(session, "Fold.", fold=True)
    assert signed(agent.bodies[-1]) == 0 and session.report().folds == 1
    agent.say(session, "And after?")
    assert signed(agent.bodies[-1]) == 1 and not kit.provider.rejected


def test_foreign_thinking_never_goes_out(mem: Memory, kit: Any) -> None:
    agent, kit.provider.reply = kit.agent("anthropic"), thinking
    session = mem.scope(user="a").session("s")
    agent.say(session, "Question?")
    block = {"type": "thinking", "thinking": "I was elsewhere.", "signature": "c2lnbmVk"}
    session.add(["And?", {"role": "assistant", "content": [block, {"type": "text", "text": "From elsewhere."}]}])
    agent.say(session, "Go on?")
    assert "I was elsewhere." not in kit.shown(agent.bodies[-1]) and "From elsewhere." in kit.shown(agent.bodies[-1])
    reply = {
        "role": "assistant",
        "model": "m",
        "usage": {"input_tokens": 5, "output_tokens": 5},
        "content": [block],
        "type": "message",
        "stop_reason": "end_turn",
    }
    session.add("Again?")
    session.add(reply, reply=False)
    agent.say(session, "Go on?")
    assert "I was elsewhere." not in kit.shown(agent.bodies[-1]) and not kit.provider.rejected
    assert session.report().replies == 3


def test_thinking_that_was_refused_stays_behind(mem: Memory, kit: Any) -> None:
    agent, kit.provider.reply = kit.agent("anthropic"), thinking
    session = mem.scope(user="a").session("s")
    for i in range(3):
        agent.say(session, f"Question {i}?")
    session.add("And now?")
    text = "messages.1.content.0: Invalid `signature` in `thinking` block"
    kit.provider.fail("bad_param", param="messages", message=text)
    session.send(agent.create, **agent.options)
    refused, taken = kit.provider.requests[-2:]
    assert (refused.status, taken.status) == (400, 200) and signed(refused.body) == 3 and signed(taken.body) == 0
    assert session.report().overflows == 0
    agent.say(session, "Next?")
    assert signed(agent.bodies[-1]) == 1


def test_reasoning_items_go_with_their_ids_and_never_apart(mem: Memory, kit: Any) -> None:
    agent = kit.agent("openai-responses")
    kit.provider.reply = lambda turn: Reply("Look.", calls=[("read", {"path": "a"})] if turn.number % 2 else (), thinking="Hm.")
    session = mem.scope(user="a").session("s", tools=kit.tools)
    for i in range(4):
        agent.say(session, f"Question {i}?")
        agent.run(session, lambda call: "text")
    assert "rs_" in kit.shown(agent.bodies[-1])
    chat(session, 12)
    agent.say(session, "Fold.", fold=True)
    body = kit.shown(agent.bodies[-1])
    assert "rs_" not in body and not kit.provider.rejected and session.report().folds == 1
    agent.run(session, lambda call: "text")
    agent.say(session, "Next?")
    assert "rs_" in kit.shown(agent.bodies[-1]) and not kit.provider.rejected


def test_a_session_that_changes_its_provider(mem: Memory, kit: Any) -> None:
    kit.provider.reply = lambda turn: Reply("Look.", calls=[("read", {"path": "a"})], thinking="Hm.") if turn.number % 2 else thinking(turn)
    session = mem.scope(user="a").session("s", tools=kit.tools)
    for i in range(9):
        agent = kit.agent(["anthropic", "openai", "openai-responses"][i % 3])
        agent.say(session, f"Question {i}?")
        agent.run(session, lambda call, a=agent: f"text for {a.wire}")
    assert not kit.provider.rejected and session.report().requests == len(kit.provider.requests)


def test_what_is_recalled_stands_beside_the_newest_message(mem: Memory, agent: Any, kit: Any, clock: ManualClock) -> None:
    scope = mem.scope(user="a")
    scope.session("old").add("The password of the printer in room 4 is hunter-gatherer.")
    clock.advance(timedelta(days=3))
    session = scope.session("s")
    agent.say(session, "What was the password of the printer in room 4?")
    body = kit.shown(agent.bodies[-1])
    assert body.count("hunter-gatherer") == 1 and "2026-03-02" in body and "leporello-memory" in body
    agent.say(session, "Thanks. Once more: the password of the printer in room 4?")
    body = kit.shown(agent.bodies[-1])
    assert body.count("hunter-gatherer") == 1
    agent.say(session, "Fine.")
    assert kit.shown(agent.bodies[-1]).count("hunter-gatherer") == 1
    assert [m.text for m in session.messages()][0] == "What was the password of the printer in room 4?"
    chat(session, 12)
    agent.say(session, "Now something else entirely, please: the weather?", fold=True)
    assert "hunter-gatherer" not in kit.shown(agent.bodies[-1]) and not kit.provider.rejected


def test_nothing_is_recalled_where_it_is_not_wanted(mem: Memory, kit: Any) -> None:
    agent = kit.agent("openai")
    scope = mem.scope(user="a")
    scope.session("old").add("The password of the printer in room 4 is hunter-gatherer.")
    agent.say(scope.session("s", recall=False), "What was the password of the printer in room 4?")
    agent.say(mem.scope(user="b").session("s"), "What was the password of the printer in room 4?")
    agent.say(scope.session("t"), "?!")
    assert all("hunter-gatherer" not in kit.shown(b) for b in agent.bodies)

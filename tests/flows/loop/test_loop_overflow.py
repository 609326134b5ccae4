"""A provider that refuses a request as too long: one fold, one retry, and then a typed error; what the refusal teaches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import anthropic
import openai
import pytest

from leporello.errors import BadSetting, BadValue, ContextOverflow
from leporello.memory import Memory
from leporello.testing import LocalProvider

WORDS = "We looked at the ledger and the totals agree with the bank statement of that month. " * 6
REFUSED = (anthropic.APIStatusError, openai.APIStatusError)


def chat(session: Any, turns: int, words: str = WORDS) -> None:
    for i in range(turns):
        session.add(f"Question {i}: does ledger L{i} add up?")
        session.add({"role": "assistant", "content": f"Ledger L{i} adds up. {words}"})


def test_send_folds_once_and_calls_once_more(mem: Memory, agent: Any, kit: Any) -> None:
    session = mem.scope(user="a").session("s", window=200_000)
    chat(session, 20)
    session.add("And now?")
    kit.provider.window = 2_500
    reply = session.send(agent.create, **agent.options)
    first, second = kit.provider.requests
    assert (first.status, second.status) == (400, 200)
    assert kit.shown(second.body) != kit.shown(first.body) and len(kit.shown(second.body)) < len(kit.shown(first.body)) / 2
    report = session.report()
    assert (report.overflows, report.folds, report.replies) == (1, 1, 1) and reply is not None
    assert [m.role for m in session.messages()][-1] == "assistant"


@pytest.mark.parametrize("wire", ["anthropic", "openai"])
def test_the_window_that_the_provider_names_is_learned(mem: Memory, kit: Any, wire: str) -> None:
    agent = kit.agent(wire)
    session = mem.scope(user="a").session("s", window=200_000)
    chat(session, 20)
    session.add("And now?")
    kit.provider.window = 2_500
    session.send(agent.create, **agent.options)
    again = mem.scope(user="a").session("s", window=200_000)
    for i in range(10):
        again.add(f"Another, {i}: {WORDS}")
        again.send(agent.create, **agent.options)
    assert [s.status for s in kit.provider.requests] == [400, *[200] * 11]


def test_a_second_refusal_in_a_row_is_an_error(mem: Memory, agent: Any, kit: Any) -> None:
    session = mem.scope(user="a").session("s")
    chat(session, 20)
    session.add("And now?")
    kit.provider.fail("overflow", times=5)
    with pytest.raises(ContextOverflow, match="folded request") as sent:
        session.send(agent.create, **agent.options)
    assert isinstance(sent.value.__cause__, REFUSED) and len(kit.provider.requests) == 2
    first, second = kit.provider.requests
    assert len(kit.shown(second.body)) < len(kit.shown(first.body))
    with pytest.raises(ContextOverflow, match="2 requests in a row") as e:
        session.request(agent.wire, overflow="context_length_exceeded")
    assert e.value.hint and len(kit.provider.requests) == 2


def test_nothing_is_sent_again_when_nothing_can_be_folded(mem: Memory, agent: Any, kit: Any) -> None:
    session = mem.scope(user="a").session("s", window=200_000)
    session.add("Only this.")
    kit.provider.fail("overflow", times=5, message="Your input exceeds the context window of this model.")
    with pytest.raises(ContextOverflow, match="Nothing more can be folded"):
        session.send(agent.create, **agent.options)
    assert len(kit.provider.requests) == 1


def test_an_answer_ends_the_row(mem: Memory, agent: Any, kit: Any) -> None:
    session = mem.scope(user="a").session("s", window=200_000)
    for _ in range(3):
        chat(session, 20)
        session.add("And now?")
        kit.provider.fail(
            "overflow", message="This model's maximum context length is 200000 tokens. However, your messages resulted in 3 tokens."
        )
        session.send(agent.create, **agent.options)
    assert session.report().overflows == 3 and [s.status for s in kit.provider.requests] == [400, 200] * 3


@pytest.mark.parametrize("kind", ["rate_limit", "server_error", "unauthorized"])
def test_other_errors_go_through_as_they_are(mem: Memory, agent: Any, kit: Any, kind: str) -> None:
    session = mem.scope(user="a").session("s")
    session.add("Hello.")
    kit.provider.fail(kind)
    with pytest.raises(REFUSED):
        session.send(agent.create, **agent.options)
    assert len(kit.provider.requests) == 1
    with pytest.raises(BadSetting, match="does not say") as e:
        session.request(agent.wire, overflow=RuntimeError("connection reset"))
    assert "overflow=" in e.value.hint
    agent.call(session)


@pytest.mark.parametrize("wire", ["anthropic", "openai", "openai-responses"])
def test_estimates_calibrate_themselves(mem: Memory, wire: str, kit: Any) -> None:
    """A provider that counts much more than others, and a model that the session was not told of: its first report is enough."""
    with LocalProvider(count=lambda text: len(text) // 2 + 1) as greedy:
        kit = replace(kit, provider=greedy)
        with greedy.anthropic() if wire == "anthropic" else greedy.openai() as client:
            agent = type(kit.agent(wire))(wire, client)
            session = mem.scope(user="a").session("s", window=200_000)
            chat(session, 10)
            agent.say(session, "First?")
            assert greedy.requests[0].tokens > 1.3 * session.report().last_estimate
            greedy.window = 4_000
            small = mem.scope(user="a").session("s", window=4_000)
            agent.say(small, "And in a small window?")
            assert not greedy.rejected and small.report().folds == 1


def test_a_tokenizer_of_the_callers_own(mem: Memory, kit: Any) -> None:
    agent = kit.agent("anthropic")
    seen: list[str] = []

    def tokens(text: str) -> int:
        seen.append(text)
        return len(text)

    session = mem.scope(user="a").session("s", tokenizer=tokens)
    agent.say(session, "Count these words.")
    assert "Count these words." in seen and session.report().last_estimate >= len("Count these words.")


def test_what_send_cannot_do(mem: Memory, agent: Any, kit: Any) -> None:
    session = mem.scope(user="a").session("s")
    session.add("Hello.")
    with pytest.raises(BadValue, match="does not stream"):
        session.send(agent.create, stream=True, **agent.options)
    with pytest.raises(BadSetting, match="whose method") as e:
        session.send(lambda **body: None, **agent.options)
    assert "wire=" in e.value.hint and not kit.provider.requests
    reply = session.send(lambda **body: agent.create(**body), wire=agent.wire, **agent.options)
    assert reply.model and session.report().replies == 1

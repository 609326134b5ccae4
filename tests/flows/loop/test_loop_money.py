"""Budgets and the report: counts that equal what the provider saw, and no call beyond what may be spent."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from leporello.adapters.extractive import ExtractiveCompactor
from leporello.core.loop.usage import PRICES
from leporello.errors import BadSetting, BudgetExceeded
from leporello.memory import Memory
from leporello.ports import spend
from leporello.records import Usage
from leporello.testing import ManualClock

WORDS = "We looked at the ledger and the totals agree with the bank statement of that month. " * 6
TABLE = {"claude-haiku-4-5": {"input": 10.0, "output": 100.0}, "gpt-5": {"input": 10.0, "output": 100.0}}


def test_the_report_says_what_the_provider_saw(mem: Memory, agent: Any, kit: Any) -> None:
    kit.provider.reply = lambda turn: WORDS
    session = mem.scope(user="a").session("s", system="Be brief. " * 400, window=16_000)
    session.pin("Keep the books.")
    for i in range(25):
        agent.say(session, f"Question {i}?", fold=i == 20)
    report, seen = session.report(), kit.provider.requests
    assert (report.requests, report.replies) == (25, 25)
    assert report.tokens_in == sum(s.tokens for s in seen) and report.tokens_out == sum(s.output for s in seen)
    assert report.cached == sum(s.cached for s in seen) > report.tokens_in * 0.6
    assert report.peak == kit.provider.peak and report.folds == 1 and report.pins == 1 and report.window == 16_000
    if agent.wire == "anthropic":
        assert report.written == sum(s.written for s in seen) > 0
    assert 0 < report.last_survived < report.last_estimate and report.survived > 0
    assert report.folded_messages == report.sent_from - 1
    at = next(p for m, p in PRICES.items() if agent.options["model"] == m)
    fresh = report.tokens_in - report.cached - report.written
    cost = fresh * at.input + report.cached * at.cached + report.written * at.written + report.tokens_out * at.output
    assert report.cost_usd == pytest.approx(cost / 1e6, abs=1e-4) and report.unpriced == 0


def test_a_fold_breaks_no_more_of_the_prefix_than_the_memory(mem: Memory, kit: Any) -> None:
    agent = kit.agent("anthropic")
    session = mem.scope(user="a").session("s", system="Be brief. " * 2_000)
    kit.provider.reply = lambda turn: WORDS
    for i in range(12):
        agent.say(session, f"Question {i}?")
    agent.say(session, "Go on.", fold=True)
    last = kit.provider.requests[-1]
    assert session.report().folds == 1 and last.cached > 4_000
    assert session.report().last_survived >= 4_000 * 0.8


@pytest.mark.parametrize("limit", [{"tokens": 9_000}, {"usd": 0.09}])
def test_a_budget_of_the_session_ends_it_before_the_call(mem: Memory, agent: Any, kit: Any, limit: Any) -> None:
    kit.provider.reply = lambda turn: WORDS
    session = mem.scope(user="a").session("s", window=4_000, reserve=100, prices=TABLE, model=agent.options["model"])
    session.budget(**limit)
    with pytest.raises(BudgetExceeded) as e:
        for i in range(100):
            agent.say(session, f"Question {i}: {WORDS}")
    report = session.report()
    spent = report.tokens_in + report.tokens_out if "tokens" in limit else report.cost_usd
    most = limit.get("tokens", limit.get("usd"))
    assert 0.5 * most < spent <= most and report.requests == len(kit.provider.requests) >= 3
    assert "budget(" in e.value.hint and "spent" in e.value.detail
    assert [m.role for m in session.messages()][-1] == "user"
    session.budget()
    agent.call(session)
    assert not session.report().budget


def test_a_budget_of_the_day_is_shared_and_begins_anew(mem: Memory, kit: Any, clock: ManualClock) -> None:
    agent = kit.agent("openai")
    kit.provider.reply = lambda turn: WORDS
    scope = mem.scope(user="a")
    one, two = scope.session("one", reserve=100), scope.session("two", reserve=100)
    for session in (one, two):
        session.budget(tokens=2_000, per="day")
    with pytest.raises(BudgetExceeded):
        for i in range(20):
            agent.say(one, f"Question {i}: {WORDS}")
    with pytest.raises(BudgetExceeded):
        agent.say(two, "And I?")
    other = mem.scope(user="b").session("one", reserve=100)
    other.budget(tokens=2_000, per="day")
    agent.say(other, "And I?")
    clock.advance(timedelta(days=1))
    agent.call(two)
    assert two.report().replies == 1


def test_a_budget_counts_what_folds_cost(opened: Callable[..., Any], kit: Any) -> None:

    class Dear:
        name = "dear/1"

        def __init__(self) -> None:
            self.inner = ExtractiveCompactor()
            self.distil = self.inner.distil

        def episode(self, messages: Any, *, tokens: int) -> Any:
            spend(Usage("gpt-5", 50_000, 500, 0, 0))
            return self.inner.episode(messages, tokens=tokens)

        def compact(self, messages: Any, *, prior: Any, tokens: int) -> Any:
            spend(Usage("nobody-knows", 50_000, 500, 0, 0))
            return self.inner.compact(messages, prior=prior, tokens=tokens)

    agent = kit.agent("openai")
    for mode, micros, unpriced in (("folded", 550_000, 0), ("flat", 0, 1)):
        session = opened(f"{mode}.db", compactor=Dear()).scope(user="a").session("s", mode=mode, prices=TABLE, reserve=100)
        for i in range(12):
            session.add([f"Question {i}?", {"role": "assistant", "content": WORDS}])
        session.budget(tokens=55_000, per="session" if mode == "flat" else "day")
        agent.say(session, "Go on.", fold=True)
        report = session.report()
        assert (report.fold_tokens_in, report.fold_tokens_out) == (50_000, 500)
        assert report.fold_cost_usd == pytest.approx(micros / 1e6) and report.unpriced == unpriced
        with pytest.raises(BudgetExceeded):
            agent.say(session, WORDS * 30)


def test_models_without_a_price(mem: Memory, agent: Any) -> None:
    session = mem.scope(user="a").session("s", model="nobody-knows", prices={})
    agent.say(session, "Hello.")
    report = session.report()
    assert report.cost_usd is None and report.unpriced == 1
    session.budget(usd=5)
    session.add("More.")
    with pytest.raises(BadSetting, match="no price for the model 'nobody-knows'") as e:
        session.request(agent.wire)
    assert "prices=" in e.value.hint
    priced = mem.scope(user="a").session("s", prices={"nobody": {"input": 1, "output": 2, "cached": 0.5, "written": 1.5}})
    agent.call(priced)
    assert agent.bodies


def test_replies_that_are_mappings(mem: Memory, kit: Any) -> None:
    """A dumped reply counts when it can be the answer to the request that waits, or when it is said to be."""
    agent = kit.agent("anthropic")
    session = mem.scope(user="a").session("s")
    session.add("Hello.")
    reply = agent.create(**session.request("anthropic"), **agent.options).model_dump()
    session.add(reply)
    assert session.report().replies == 1
    session.add(reply)
    assert session.report().replies == 1
    session.add("More.")
    session.request("anthropic")
    far = {**reply, "usage": {"input_tokens": 900_000, "output_tokens": 1}}
    session.add(far)
    assert session.report().replies == 1
    session.add("More.")
    session.request("anthropic")
    session.add(reply, reply=False)
    assert session.report().replies == 1
    session.add(reply, reply=True)
    assert session.report().replies == 2


def test_a_reply_without_a_request_is_stored_and_counted(mem: Memory, kit: Any) -> None:
    """An agent that builds its requests elsewhere still has its usage counted, and no view is made up."""
    agent = kit.agent("openai")
    session = mem.scope(user="a").session("s")
    session.add(agent.create(messages=[{"role": "user", "content": "Hi."}], **agent.options))
    report = session.report()
    assert (report.requests, report.replies) == (0, 1) and report.tokens_in == kit.provider.requests[0].tokens
    assert [m.role for m in session.messages()] == ["assistant"]

"""The providers' own compaction as a strategy: used on its wire, replaced on another one, and by our own compact when it fails."""

from __future__ import annotations

from typing import Any

import pytest

from leporello.adapters.models import NativeAnthropic, NativeOpenAI
from leporello.memory import Memory

WORDS = "We looked at the ledger and the totals agree with the bank statement of that month. " * 6


def folded(mem: Memory, kit: Any, wire: str) -> tuple[Any, Any]:
    """A session whose past the provider has compacted."""
    agent, kit.provider.reply = kit.agent(wire), lambda turn: WORDS
    made = NativeAnthropic if wire == "anthropic" else NativeOpenAI
    session = mem.scope(user="a").session("s", native=made(agent.client, agent.options["model"]), recall=False)
    session.pin("Keep the books.")
    for i in range(14):
        session.add([f"Question {i}?", {"role": "assistant", "content": f"Ledger L{i} adds up. {WORDS}"}])
    return agent, session


@pytest.mark.parametrize("wire", ["anthropic", "openai-responses"])
def test_the_providers_block_stands_for_the_past(mem: Memory, kit: Any, wire: str) -> None:
    agent, session = folded(mem, kit, wire)
    agent.say(session, "Go on.", fold=True)
    report, body = session.report(), kit.shown(agent.bodies[-1])
    assert (report.folds, report.view) == (1, "native") and report.fold_tokens_in > 0 and not report.fallbacks
    assert '"type": "compaction"' in body and "Keep the books." in body and "Ledger L1 adds up" not in body
    agent.say(session, "And on.")
    assert '"type": "compaction"' in kit.shown(agent.bodies[-1]) and not kit.provider.rejected
    assert len(list(session.messages())) == 32


@pytest.mark.parametrize("wire", ["anthropic", "openai-responses"])
def test_another_wire_gets_a_compact_of_our_own(mem: Memory, kit: Any, wire: str) -> None:
    agent, session = folded(mem, kit, wire)
    agent.say(session, "Go on.", fold=True)
    other = kit.agent("openai")
    other.say(session, "And here?")
    body = kit.shown(other.bodies[-1])
    assert session.report().view == "flat" and '"type": "compaction"' not in body and "L1" in body and not kit.provider.rejected


@pytest.mark.parametrize("wire", ["anthropic", "openai-responses"])
def test_a_compaction_that_fails_is_replaced_and_named(mem: Memory, kit: Any, wire: str) -> None:
    agent, session = folded(mem, kit, wire)
    kit.provider.fail("server_error", times=9, when=lambda body: "compaction" in body or "messages" not in body)
    session.add("Go on.")
    session.request(wire, fold=True)
    report = session.report()
    assert (report.folds, report.view) == (1, "flat") and report.failures
    assert any("native compaction" in t and "extractive" in t for t in report.fallbacks)

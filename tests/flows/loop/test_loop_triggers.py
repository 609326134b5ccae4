"""When the loop folds: the share of the window, turns, a phase, an order; and what a fold leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from leporello.adapters.extractive import ExtractiveCompactor
from leporello.errors import BadSetting, NothingToSend
from leporello.memory import Memory
from leporello.testing import Reply

WORDS = "We looked at the ledger and the totals agree with the bank statement of that month. " * 6


def chat(session: Any, turns: int, *, first: int = 0, words: str = WORDS) -> None:
    """Plain exchanges, without a provider."""
    for i in range(first, first + turns):
        session.add(f"Question {i}: does ledger L{i} add up?")
        session.add({"role": "assistant", "content": f"Ledger L{i} adds up. {words}"})


def test_the_share_of_the_window_counts_cached_tokens(mem: Memory, kit: Any) -> None:
    agent, kit.provider.reply = kit.agent("anthropic"), lambda turn: WORDS
    session = mem.scope(user="a").session("s", window=8_000, mode="flat")
    folds_at = None
    for i in range(39):
        agent.say(session, f"Question {i}: does ledger L{i} add up? {WORDS}")
        report = session.report()
        if report.folds and folds_at is None:
            folds_at = i
            before, after = kit.provider.requests[-2], kit.provider.requests[-1]
            assert before.tokens > 0.45 * 8_000 and before.cached > before.tokens / 2 and after.tokens < before.tokens
    assert folds_at is not None and kit.provider.peak < 0.75 * 8_000 and not kit.provider.rejected


def test_flat_folds_after_more_than_forty_turns(mem: Memory, agent: Any) -> None:
    session = mem.scope(user="a").session("s", mode="flat")
    chat(session, 39)
    agent.say(session, "Turn 40?")
    assert session.report().folds == 0
    agent.say(session, "Turn 41?")
    report = session.report()
    assert (report.folds, report.view) == (1, "flat")
    chat(session, 39, first=100)
    agent.say(session, "Turn 81?")
    assert session.report().folds == 1
    agent.say(session, "Turn 82?")
    assert session.report().folds == 2


def test_a_phase_folds_what_was_before_it(mem: Memory, agent: Any, kit: Any) -> None:
    session = mem.scope(user="a").session("s")
    chat(session, 6)
    session.phase("implementation")
    agent.say(session, "Now write it.")
    report = session.report()
    assert (report.folds, report.phase) == (1, "implementation")
    assert any("Phase: implementation" in t for t in kit.said(agent.bodies[-1]))
    agent.say(session, "And the tests.")
    assert session.report().folds == 1


@pytest.mark.parametrize("mode", ["flat", "folded"])
def test_an_order_folds_once_and_nothing_to_fold_is_no_error(mem: Memory, agent: Any, mode: Any) -> None:
    session = mem.scope(user="a").session("s", mode=mode)
    agent.say(session, "Only this.", fold=True)
    assert session.report().folds == 0
    chat(session, 12)
    agent.say(session, "Go on.", fold=True)
    assert session.report().folds == 1 and session.report().view == mode
    agent.say(session, "Go on.")
    assert session.report().folds == 1


def test_auto_is_flat_up_to_fifty_turns_and_folded_after(mem: Memory, agent: Any) -> None:
    session = mem.scope(user="a").session("s")
    chat(session, 30)
    agent.say(session, "Go on.", fold=True)
    assert session.report().view == "flat" and session.episodes() == ()
    chat(session, 25, first=50)
    agent.say(session, "Go on.", fold=True)
    assert session.report().view == "folded" and session.episodes()
    covered = [t for e in session.episodes() for t in range(e.turns[0], e.turns[1] + 1)]
    assert covered == list(range(1, len(covered) + 1))


@pytest.mark.parametrize("mode", ["flat", "folded"])
@pytest.mark.parametrize("restore", ["system", "message"])
def test_the_memory_stands_where_it_was_asked_for(mem: Memory, agent: Any, kit: Any, restore: Any, mode: Any) -> None:
    session = mem.scope(user="a").session("s", system="Be brief.", restore=restore, mode=mode)
    chat(session, 30)
    agent.say(session, "What of L3?", fold=True)
    body = agent.bodies[-1]
    front = kit.shown({"s": body.get("system", body.get("instructions", body.get("messages", [""])[0]))})
    listed = body.get("messages", body.get("input"))
    first = kit.shown(next(m for m in listed if m["role"] == "user"))
    mark = "dated record of this session"
    assert (mark in front) is (restore == "system") and (mark in first) is (restore == "message")
    assert "Question 0: does ledger L0 add up?" in kit.shown(body)
    assert not kit.provider.rejected


def test_a_window_that_shrinks_folds_at_the_next_request(mem: Memory, agent: Any, kit: Any) -> None:
    kit.provider.windows = {}
    session = mem.scope(user="a").session("s", window=200_000, mode="folded")
    chat(session, 15, words=WORDS * 8)
    agent.say(session, "Go on.")
    assert session.report().folds == 0 and kit.provider.requests[-1].tokens > 10_000
    kit.provider.window = 8_000
    agent.say(session, "Go on in the small one.", window=8_000)
    assert session.report().folds == 1 and kit.provider.requests[-1].tokens <= 8_000 and not kit.provider.rejected
    kit.provider.window = 200_000
    agent.say(session, "And back.")
    assert session.report().folds == 1 and not kit.provider.rejected


def test_the_window_of_a_resumed_session_is_what_was_said_last(mem: Memory, agent: Any) -> None:
    mem.scope(user="a").session("s", window=8_000).add("Hello.")
    again = mem.scope(user="a").session("s", window=9_000)
    agent.call(again)
    assert mem.scope(user="a").session("s").report().window == 9_000


def test_goal_and_todos_stay_verbatim_through_both_modes(mem: Memory, agent: Any, kit: Any) -> None:
    goal = 'Ship v2 "carefully"; keep \u00a7 4 & the <old> names.'
    session = mem.scope(user="a").session("s", tools=kit.tools)
    kit.provider.reply = lambda turn: Reply(
        "A plan.",
        calls=[("TodoWrite", {"todos": [{"content": "Do \u00a7 4", "status": "completed"}, {"content": "Ask Mia", "status": "pending"}]})],
    )
    agent.say(session, goal)
    kit.provider.reply = lambda turn: WORDS
    agent.run(session, lambda call: "ok")
    for mode in ("flat", "folded"):
        now = mem.scope(user="a").session("s", mode=mode)
        chat(now, 20)
        agent.say(now, "Go on.", fold=True)
        text = "\n".join(kit.said(agent.bodies[-1]))
        assert "- [x] Do \u00a7 4\n- [ ] Ask Mia" in text
        assert 'Ship v2 "carefully"; keep \u00a7 4 & the' in text and "names." in text
    assert session.report().folds == 2


def test_nothing_to_send_and_wires_that_do_not_exist(mem: Memory) -> None:
    session = mem.scope(user="a").session("s")
    with pytest.raises(NothingToSend):
        session.request("openai")
    session.add("Hello.")
    with pytest.raises(BadSetting, match="wire format 'gemini'") as e:
        session.request("gemini")  # type: ignore[arg-type]
    assert "openai-responses" in e.value.hint


def test_a_fold_in_flat_mode_never_sums_up_a_part_of_what_was(opened: Callable[..., Any], agent: Any) -> None:
    """A change from folded to flat reads the whole log again, not the episodes."""
    from_all: list[int] = []

    class Counting:
        name = "counting/1"

        def __init__(self, inner: Any) -> None:
            self.inner = inner
            self.episode, self.distil = inner.episode, inner.distil

        def compact(self, messages: Any, *, prior: Any, tokens: int) -> Any:
            from_all.append(messages[0].pos)
            return self.inner.compact(messages, prior=prior, tokens=tokens)

    memory = opened(compactor=Counting(ExtractiveCompactor()))
    session = memory.scope(user="a").session("s", mode="folded")
    chat(session, 30)
    agent.say(session, "Go on.", fold=True)
    flat = memory.scope(user="a").session("s", mode="flat")
    chat(flat, 30, first=30)
    agent.say(flat, "Go on.", fold=True)
    chat(flat, 30, first=60)
    agent.say(flat, "Go on.", fold=True)
    assert from_all[0] == 1 and from_all[1] > 1

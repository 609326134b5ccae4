"""Compactors that fail in every way: the loop goes on with the extractive one, the report says so, and nobody is asked again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from leporello.adapters.extractive import ExtractiveCompactor
from leporello.errors import CompactorError
from leporello.records import EpisodeDraft, Item
from leporello.testing import ScriptedCompactor

WORDS = "We looked at the ledger and the totals agree with the bank statement of that month. " * 6


class Odd:
    """A compactor that answers everything with one function."""

    name = "odd/1"

    def __init__(self, answer: Callable[[str, Any], Any]) -> None:
        self.answer = answer
        self.asked: list[str] = []
        self._inner = ExtractiveCompactor()

    def episode(self, messages: Any, *, tokens: int) -> Any:
        self.asked.append("episode")
        return self.answer("episode", messages)

    def compact(self, messages: Any, *, prior: Any, tokens: int) -> Any:
        self.asked.append("compact")
        return self.answer("compact", messages)

    def distil(self, episodes: Any, known: Any) -> Any:
        return self._inner.distil(episodes, known)


def failing(error: Exception) -> Callable[[str, Any], Any]:
    def answer(what: str, messages: Any) -> Any:
        raise error

    return answer


def said(text: str) -> Callable[[str, Any], Any]:
    return lambda what, messages: EpisodeDraft(text, ()) if what == "episode" else (Item("goal", text),)


WAYS: dict[str, tuple[Callable[[str, Any], Any], str]] = {
    "a typed error": (failing(CompactorError("no", failures=("timeout", "truncated"))), "truncated"),
    "its own error": (failing(ValueError("no")), "ValueError"),
    "nothing of that kind": (lambda what, messages: None, "Error"),
    "an empty answer": (said("   "), ""),
    "an empty list": (lambda what, messages: EpisodeDraft("", ()) if what == "episode" else (), ""),
    "more than there was": (said("a thousand words " * 20_000), ""),
}


def talk(session: Any, agent: Any, turns: int, first: int = 0) -> None:
    for i in range(first, first + turns):
        agent.say(session, f"Question {i}: does ledger L{i} add up?")


@pytest.mark.parametrize("mode", ["flat", "folded"])
@pytest.mark.parametrize("way", list(WAYS))
def test_the_loop_goes_on(opened: Callable[..., Any], kit: Any, mode: Any, way: str) -> None:
    answer, code = WAYS[way]
    odd, agent = Odd(answer), kit.agent("openai")
    kit.provider.window, kit.provider.reply = 4_000, lambda turn: WORDS
    session = opened(compactor=odd).scope(user="a").session("s", window=4_000, mode=mode)
    session.pin("Keep the books.")
    talk(session, agent, 35)
    report = session.report()
    assert not kit.provider.rejected and report.folds >= 2
    assert len(odd.asked) <= 2 * report.folds
    assert report.view == mode and all("Keep the books." in kit.shown(b) for b in agent.bodies)
    if way != "more than there was" or mode == "folded":
        assert sum(report.failures.values()) >= report.folds
        assert report.fallbacks and all("odd/1" in t and "extractive" in t for t in report.fallbacks)
        assert any(code in f for f in report.failures)
    assert len(list(session.messages())) == 70


def test_a_fallback_that_cannot_shorten_leaves_the_history(opened: Callable[..., Any], kit: Any) -> None:
    """Messages so short that no episode is smaller: refused once, not at every request."""
    odd, agent = Odd(said("word " * 500)), kit.agent("openai")
    session = opened(compactor=odd).scope(user="a").session("s", mode="folded", window=8_000)
    for _ in range(30):
        session.add(["a", {"role": "assistant", "content": "b"}])
    agent.say(session, "c", fold=True)
    asked = len(odd.asked)
    for _ in range(5):
        agent.call(session)
    assert len(odd.asked) <= asked + 1 and not kit.provider.rejected


def test_prior_compacts_are_merged_and_never_dropped(opened: Callable[..., Any], kit: Any) -> None:
    agent = kit.agent("anthropic")
    first, second = (Item("decision", "Use port 8443."),), (Item("decision", "Use port 8443."), Item("goal", "Ship it."))
    script = ScriptedCompactor(compacts=[first, CompactorError("busy"), second])
    session = opened(compactor=script).scope(user="a").session("s", mode="flat")
    kit.provider.reply = lambda turn: WORDS
    talk(session, agent, 12)
    agent.say(session, "Go on.", fold=True)
    talk(session, agent, 12, first=20)
    agent.say(session, "Go on.", fold=True)
    assert "Use port 8443." in kit.shown(agent.bodies[-1])
    talk(session, agent, 12, first=40)
    agent.say(session, "Go on.", fold=True)
    assert [a.prior == first for a in script.asked[:2]] == [False, True]
    assert "Use port 8443." in {i.text for i in script.asked[2].prior} and "Ship it." in kit.shown(agent.bodies[-1])
    assert session.report().failures == {"CompactorError": 1}


def test_an_interrupt_between_plan_and_fold_is_made_good(opened: Callable[..., Any], kit: Any) -> None:
    """What stops a program in the middle of a fold leaves a plan; the next request carries it out."""
    stop = {"now": True}
    inner = ExtractiveCompactor()

    def answer(what: str, messages: Any) -> Any:
        if stop["now"]:
            raise KeyboardInterrupt
        return inner.episode(messages, tokens=300) if what == "episode" else inner.compact(messages, prior=(), tokens=300)

    agent = kit.agent("openai-responses")
    for mode in ("flat", "folded"):
        stop["now"] = False
        odd = Odd(answer)
        session = opened(f"{mode}.db", compactor=odd).scope(user="a").session("s", mode=mode)
        kit.provider.reply = lambda turn: WORDS
        talk(session, agent, 12)
        session.add("Go on.")
        stop["now"] = True
        with pytest.raises(KeyboardInterrupt):
            session.request(agent.wire, fold=True)
        assert session.report().folds == 0 and odd.asked
        stop["now"] = False
        agent.call(session)
        assert session.report().folds == 1 and not kit.provider.rejected
        agent.say(session, "And again.")
        assert session.report().folds == 1

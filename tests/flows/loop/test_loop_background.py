"""Folds prepared beside the loop: requests do not wait, what no longer fits is thrown away, and nothing hangs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from leporello.adapters.extractive import ExtractiveCompactor
from leporello.records import Item

WORDS = "We looked at the ledger and the totals agree with the bank statement of that month. " * 6


class Slow:
    """A compactor that waits until it is let go."""

    name = "slow/1"

    def __init__(self) -> None:
        self.go = threading.Event()
        self.began = threading.Event()
        self.asked: list[list[str]] = []
        self.threads: set[str] = set()
        self._inner = ExtractiveCompactor()
        self.distil = self._inner.distil

    def _wait(self, messages: Any) -> None:
        self.asked.append([m.id for m in messages])
        self.threads.add(threading.current_thread().name.split("_")[0])
        self.began.set()
        assert self.go.wait(20)

    def episode(self, messages: Any, *, tokens: int) -> Any:
        self._wait(messages)
        return self._inner.episode(messages, tokens=tokens)

    def compact(self, messages: Any, *, prior: Any, tokens: int) -> Any:
        self._wait(messages)
        return (Item("decision", f"Made by slow of {len(messages)}."), *prior)


@pytest.fixture
def slow() -> Iterator[Slow]:
    made = Slow()
    yield made
    made.go.set()


def until_it_began(session: Any, agent: Any, slow: Slow, first: int = 0) -> int:
    for i in range(first, first + 80):
        agent.say(session, f"Question {i}: does ledger L{i} add up?")
        if slow.began.wait(0.01):
            return i
    raise AssertionError("no fold was prepared")


@pytest.mark.parametrize("mode", ["flat", "folded"])
def test_requests_do_not_wait_and_the_fold_is_applied_later(opened: Callable[..., Any], kit: Any, slow: Slow, mode: Any) -> None:
    agent, kit.provider.reply = kit.agent("anthropic"), lambda turn: WORDS
    memory = opened(compactor=slow)
    session = memory.scope(user="a").session("s", window=32_000, background=True, mode=mode)
    last = until_it_began(session, agent, slow)
    for i in range(last + 1, last + 15):
        started = time.monotonic()
        agent.say(session, f"Question {i}?")
        assert time.monotonic() - started < 5
    assert session.report().folds == 0 and not kit.provider.rejected
    slow.go.set()
    memory.flush()
    asked = len(slow.asked)
    agent.say(session, "And now?")
    report = session.report()
    assert report.folds == 1 and report.view == mode
    assert mode == "folded" or (len(slow.asked) == asked and "Made by slow" in kit.shown(agent.bodies[-1]))
    assert slow.threads == {"leporello-fold"} or mode == "folded"
    assert not kit.provider.rejected and kit.provider.peak <= 32_000


def test_a_fold_of_what_was_erased_meanwhile_is_thrown_away(opened: Callable[..., Any], kit: Any, slow: Slow) -> None:
    agent, kit.provider.reply = kit.agent("openai"), lambda turn: WORDS
    memory = opened(compactor=slow)
    scope = memory.scope(user="a")
    session = scope.session("s", window=32_000, background=True, mode="flat")
    secret = session.add("The code is ZX-4471-K.")[0]
    last = until_it_began(session, agent, slow)
    assert secret.id in slow.asked[0]
    scope.erase(secret.id)
    slow.go.set()
    memory.flush()
    for i in range(last + 1, last + 15):
        agent.say(session, f"Question {i}?")
        memory.flush()
        assert "ZX-4471-K" not in kit.shown(agent.bodies[-1])
    assert session.report().folds == 1 and all(secret.id not in a for a in slow.asked[1:])
    assert len(slow.asked) > 1 and not kit.provider.rejected


def test_a_full_window_does_not_wait_for_what_is_prepared(opened: Callable[..., Any], kit: Any, slow: Slow) -> None:
    agent, kit.provider.reply = kit.agent("openai-responses"), lambda turn: WORDS
    memory = opened(compactor=slow)
    session = memory.scope(user="a").session("s", window=32_000, background=True, mode="flat")
    until_it_began(session, agent, slow)
    slow.go.set()
    session.add({"role": "user", "content": "Look at this. " + WORDS * 20})
    kit.provider.window = 4_000
    agent.call(session, window=4_000)
    assert session.report().folds == 1 and not kit.provider.rejected


def test_a_preparation_that_fails_is_made_again_at_the_request(opened: Callable[..., Any], kit: Any, slow: Slow) -> None:
    agent, kit.provider.reply = kit.agent("anthropic"), lambda turn: WORDS

    def broken(messages: Any, *, prior: Any, tokens: int) -> Any:
        slow.began.set()
        raise ValueError("no")

    slow.compact = broken  # type: ignore[method-assign]
    memory = opened(compactor=slow)
    session = memory.scope(user="a").session("s", window=32_000, background=True, mode="flat")
    last = until_it_began(session, agent, slow)
    for i in range(last + 1, last + 15):
        agent.say(session, f"Question {i}?")
    report = session.report()
    assert report.folds == 1 and report.failures == {"ValueError": 1} and not kit.provider.rejected


def test_closing_waits_for_what_is_prepared_and_no_longer(opened: Callable[..., Any], kit: Any, slow: Slow) -> None:
    agent, kit.provider.reply = kit.agent("anthropic"), lambda turn: WORDS
    memory = opened(compactor=slow)
    session = memory.scope(user="a").session("s", window=32_000, background=True, mode="flat")
    until_it_began(session, agent, slow)
    threading.Timer(0.1, slow.go.set).start()
    memory.flush()
    assert slow.go.is_set()
    memory.close()
    assert not [t for t in threading.enumerate() if t.name.startswith("leporello-fold")]


def test_a_hundred_sessions_in_threads_on_one_store(opened: Callable[..., Any], kit: Any) -> None:
    """Five users, a marker for each session: it is in its own requests and in no others; every thread ends."""
    kit.provider.window, kit.provider.reply = 1_500, lambda turn: WORDS
    memory = opened()
    wires = ["anthropic", "openai", "openai-responses"]
    agents = [type(kit.agent(w))(w, kit.agent(w).client) for w in wires]
    errors: list[BaseException] = []
    seen: dict[int, list[str]] = {}

    def run(n: int) -> None:
        try:
            agent = agents[n % 3]
            mine = type(agent)(agent.wire, agent.client)
            session = memory.scope(user=f"user{n % 5}").session(f"s{n}", window=1_500, reserve=100, recall=False, background=n % 2 == 0)
            session.pin(f"Keep marker{n:03d}x.")
            for i in range(5):
                mine.say(session, f"Question {i} of marker{n:03d}x: {WORDS}")
            seen[n] = [kit.shown(b) for b in mine.bodies]
        except BaseException as e:  # noqa: BLE001 - a thread's error is the test's
            errors.append(e)

    threads = [threading.Thread(target=run, args=(n,), daemon=True) for n in range(100)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(100)
    assert not errors and not any(t.is_alive() for t in threads)
    memory.flush()
    for n, bodies in seen.items():
        for body in bodies:
            found = {body[i + 6 : i + 9] for i in range(len(body)) if body.startswith("marker", i)}
            assert found == {f"{n:03d}"}
    assert len(seen) == 100 and not kit.provider.rejected
    folds = [memory.scope(user=f"user{n % 5}").session(f"s{n}").report().folds for n in range(100)]
    assert sum(folds) >= 50 and memory.doctor() == []

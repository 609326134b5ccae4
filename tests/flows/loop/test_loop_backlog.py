"""A long log that was never folded leaves at once, in episodes that part no call from its result."""

from __future__ import annotations

from typing import Any

import pytest

from leporello.core.turns import legal_cuts, shapes
from leporello.errors import ContextOverflow
from leporello.memory import Memory
from leporello.testing import Reply


def test_episodes_of_a_backlog_end_at_legal_cuts(mem: Memory) -> None:
    session = mem.scope(user="a").session("s", mode="folded", window=64_000)
    log: list[dict[str, Any]] = [{"role": "user", "content": "Read every file and tell what is in it."}]
    for n in range(1_700):
        log.append({"role": "assistant", "content": [{"type": "tool_use", "id": f"c{n}", "name": "read", "input": {"path": f"f{n}.py"}}]})
        log.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"c{n}", "content": f"def part_{n}(): return {n}"}]})
    session.add(log)
    assert session.request("anthropic")["messages"] and session.report().folds >= 1
    legal = set(legal_cuts(shapes(list(session.messages()))))
    ends = [e.positions[1] for e in session.episodes()]
    assert len(ends) > 20 and set(ends) <= legal


def test_a_second_refusal_is_a_typed_error_of_send(mem: Memory, agent: Any, kit: Any) -> None:
    kit.provider.reply = lambda turn: Reply("It is dry there. " * 60)
    session = mem.scope(user="a").session("s", window=16_000)
    for i in range(12):
        agent.say(session, f"What of plot {i}? " + "It was dry. " * 60)
    session.add("And now?")
    before = len(kit.provider.requests)
    kit.provider.fail("overflow", 2)
    with pytest.raises(ContextOverflow) as e:
        session.send(agent.create, **agent.options)
    assert e.value.__cause__ is not None and len(kit.provider.requests) == before + 2

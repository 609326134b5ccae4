"""The loop of the issue, run long in a small window, in each wire format: nothing refused, nothing lost, the cache alive."""

from __future__ import annotations

import json
from typing import Any

import pytest

from leporello.memory import Memory
from leporello.testing import Reply, Turn

PIN = "Never touch the folder legacy/ \u2013 it is frozen."
GOAL = "Port the billing service to Go; keep every invoice number as it is."
TODOS = [{"content": "Port the tax rules", "status": "in_progress"}, {"content": "Delete the old cron job", "status": "pending"}]


def model(turn: Turn) -> Reply:
    """Every third answer calls a tool; the 5th sets a list of tasks."""
    if turn.number == 5:
        return Reply("A list first.", calls=[("TodoWrite", {"todos": TODOS})])
    if turn.number % 3 == 0:
        return Reply("I look.", calls=[("read", {"path": f"src/part_{turn.number}.go"})])
    return Reply(f"Part {turn.number} is ported: file src/part_{turn.number}.go, commit c0ffee{turn.number:04d}. " + "It builds. " * 12)


def blocks(body: dict[str, Any]) -> list[str]:
    """The blocks of a request in the order in which a provider caches them, without the marks."""
    out = [json.dumps(t) for t in body.get("tools", ())] + [json.dumps(body.get("instructions", ""))]
    out += [json.dumps(b) for b in body.get("system", ())]
    for message in body.get("messages", body.get("input", ())):
        content = message.get("content")
        rest = {k: v for k, v in message.items() if k != "content"}
        held = content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []
        out += [json.dumps(rest) + json.dumps({k: v for k, v in b.items() if k != "cache_control"}) for b in held] or [json.dumps(rest)]
    return [b.replace(', "cache_control": {"type": "ephemeral"}', "") for b in out]


@pytest.mark.parametrize(("wire", "turns"), [("anthropic", 300), ("openai", 70), ("openai-responses", 70)])
def test_hundreds_of_turns_in_a_window_of_16k(mem: Memory, kit: Any, wire: str, turns: int) -> None:
    agent = kit.agent(wire)
    kit.provider.window, kit.provider.reply = 16_000, model
    session = mem.scope(user="ann").session("s", system="You port code.", tools=kit.tools, window=16_000)
    session.pin(PIN)
    log: list[str] = []
    for i in range(turns):
        text = GOAL if i == 0 else f"Turn {i}: go on with part {i} of the port; mind the rounding in rule R{i}."
        log.append(text)
        agent.say(session, text)
        agent.run(session, lambda call: f"contents of {call.arguments}: " + "func f() {}; " * 30)
    report = session.report()
    assert not kit.provider.rejected and kit.provider.peak <= 16_000
    assert report.folds >= max(2, turns // 50) and report.view == "folded" and report.overflows == 0
    marks = agent.marks
    assert {m[1] for m in marks} == {"whole", "flat", "folded"}
    same = 0
    for i, body in enumerate(agent.bodies):
        texts = kit.said(body)
        assert any(PIN in t for t in texts)
        assert any(GOAL in t for t in texts), i
        if i > 8 and marks[i][0]:
            assert any("Port the tax rules" in t for t in texts), i
        if i and marks[i][0] == marks[i - 1][0]:
            before = blocks(agent.bodies[i - 1])
            assert blocks(body)[: len(before)] == before, i
            same += 1
    assert same > len(agent.bodies) * 0.8
    held = list(session.messages())
    assert [m.text for m in held if m.trust == "user"] == log
    assert [m.pos for m in held] == list(range(1, len(held) + 1))
    ranges = [r for layer in (session.layers().l3, session.layers().l2, session.layers().l1) for r in layer]
    assert [t for first, last in ranges for t in range(first, last + 1)] == list(range(1, session.layers().turns + 1))
    assert report.cached > report.tokens_in * 0.4


@pytest.mark.parametrize("wire", ["anthropic", "openai", "openai-responses"])
def test_long_results_are_shortened_alike_while_the_estimate_moves(mem: Memory, kit: Any, wire: str) -> None:
    """The provider counts a little more each time; what was sent before stays as it was, thinking and item ids included."""
    agent = kit.agent(wire)
    kit.provider.reply = lambda turn: Reply("I look.", calls=[("read", {"path": "a"})] if turn.number % 2 else (), thinking="Let me see.")
    session = mem.scope(user="ann").session("s", system="You port code.", tools=kit.tools, window=16_000)
    for i in range(5):
        kit.provider.overhead = 60 * i * i
        agent.say(session, f"Read the log, part {i}.")
        agent.run(session, lambda call: "HEAD " + "a line of the log\n" * 2_000 if len(agent.bodies) == 1 else "short")
        if i:
            assert session.report().folds == 0 and session.report().shortened == 1
    assert len(agent.bodies) == 10 and not kit.provider.rejected
    for before, after in zip(agent.bodies, agent.bodies[1:], strict=False):
        assert blocks(after)[: len(blocks(before))] == blocks(before)

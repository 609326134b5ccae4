"""A session driven through a real SDK client against the local provider, in each of the three wire formats."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import leporello
from leporello.testing import LocalProvider, ManualClock

MODEL = {"anthropic": "claude-haiku-4-5", "openai": "gpt-5", "openai-responses": "gpt-5"}
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = [{"name": n, "description": f"To {n} a file.", "input_schema": SCHEMA} for n in ("read", "write", "TodoWrite")]


@dataclass
class Agent:
    """Calls the provider with a session's requests, in one wire format. `bodies` are its requests, `marks` the folds so far and the view at each."""

    wire: str
    client: Any
    bodies: list[dict[str, Any]] = field(default_factory=list)
    marks: list[tuple[int, str]] = field(default_factory=list)

    @property
    def create(self) -> Callable[..., Any]:
        """The SDK's method."""
        if self.wire == "anthropic":
            return self.client.messages.create
        return self.client.chat.completions.create if self.wire == "openai" else self.client.responses.create

    @property
    def options(self) -> dict[str, Any]:
        """What a call needs beside the request."""
        return {"model": MODEL[self.wire], **({"max_tokens": 64} if self.wire == "anthropic" else {})}

    def call(self, session: Any, **asked: Any) -> Any:
        """One request, one reply, added."""
        body = session.request(self.wire, **asked)
        report = session.report()
        self.bodies.append(json.loads(json.dumps(body)))
        self.marks.append((report.folds, report.view))
        reply = self.create(**body, **self.options)
        session.add(reply)
        return reply

    def say(self, session: Any, text: Any, **asked: Any) -> Any:
        """The user speaks and the model answers."""
        session.add(text)
        return self.call(session, **asked)

    def result(self, id: str, text: Any) -> dict[str, Any]:
        """A tool's result in this wire's form."""
        if self.wire == "anthropic":
            return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": text}]}
        if self.wire == "openai":
            return {"role": "tool", "tool_call_id": id, "content": text}
        return {"type": "function_call_output", "call_id": id, "output": text}

    def run(self, session: Any, answer: Callable[[Any], str], **asked: Any) -> int:
        """Runs the calls that wait and calls again, until none does; how many calls were run."""
        done = 0
        while calls := session.pending():
            for call in calls:
                session.add(self.result(call.id, answer(call)))
            done += len(calls)
            self.call(session, **asked)
        return done


def shown(body: Mapping[str, Any]) -> str:
    """Everything that a request says, as one text."""
    return json.dumps(body, ensure_ascii=False)


def said(body: Mapping[str, Any]) -> list[str]:
    """Every text in a request, without the JSON around it."""
    out: list[str] = []
    stack: list[Any] = [body]
    while stack:
        held = stack.pop()
        if isinstance(held, str):
            out.append(held)
        elif isinstance(held, Mapping):
            stack.extend(held.values())
        elif isinstance(held, list):
            stack.extend(held)
    return out


@dataclass(frozen=True)
class Kit:
    """What the tests of this folder share."""

    provider: LocalProvider
    agent: Callable[[str], Agent]
    tools: Any = field(default_factory=lambda: TOOLS)
    shown: Callable[[Mapping[str, Any]], str] = shown
    said: Callable[[Mapping[str, Any]], list[str]] = said


@pytest.fixture
def provider() -> Iterator[LocalProvider]:
    with LocalProvider(window=200_000) as running:
        yield running


@pytest.fixture
def kit(provider: LocalProvider) -> Iterator[Kit]:
    opened: list[Any] = []

    def agent(wire: str) -> Agent:
        client = provider.anthropic() if wire == "anthropic" else provider.openai()
        opened.append(client)
        return Agent(wire, client)

    yield Kit(provider, agent)
    for client in opened:
        client.close()


@pytest.fixture(params=["anthropic", "openai", "openai-responses"])
def agent(request: pytest.FixtureRequest, kit: Kit) -> Agent:
    return kit.agent(request.param)


@pytest.fixture
def opened(tmp_path: Path, clock: ManualClock) -> Iterator[Callable[..., Any]]:
    """Opens stores with a compactor or policies of the test's own; they are closed after it."""
    held: list[Any] = []

    def make(name: str = "memory.db", **options: Any) -> Any:
        held.append(leporello.open(tmp_path / name, **{"clock": clock, "embedder": "hash", **options}))
        return held[-1]

    yield make
    for memory in held:
        memory.close()

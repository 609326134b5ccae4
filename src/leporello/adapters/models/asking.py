"""One question to a model until its answer can be used: what was wrong is fed back, at most so often."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from leporello.adapters.models.answers import BadAnswer, found
from leporello.adapters.models.model import Answer, AskFailed, Code, Model
from leporello.adapters.models.prompts import feedback
from leporello.core.tokens import clip, estimate
from leporello.errors import CompactorError
from leporello.ports import LiveRequest, spend

T = TypeVar("T")
PATIENCE = 5.0
"""Seconds that are waited at most when a provider asks to wait."""
FINAL: frozenset[Code] = frozenset({"unauthorized", "bad_request"})
"""Failures that asking again does not mend."""
_SHOWN_AGAIN = 1_000
"""Tokens of a wrong answer that the model is shown again."""
_SLACK = 300


@dataclass(frozen=True)
class Question(Generic[T]):
    """What is asked, how long the answer may be in tokens, and `accept`, which reads it or raises `BadAnswer`."""

    system: str
    user: str
    tokens: int
    accept: Callable[[Mapping[str, Any]], T]


@dataclass(frozen=True)
class Asking:
    """How a model is asked: `output` and `timeout` of an attempt (tokens, seconds), and how many attempts there are."""

    model: Model
    output: int
    timeout: float
    attempts: int

    def ask(self, question: Question[T], failures: list[str], *, request: LiveRequest | None = None) -> tuple[T, Mapping[str, Any]]:
        """What the answer says, and the answer. Adds a code to `failures` for each failed attempt.

        Raises `AskFailed` for a request that is too long, else `CompactorError` with all codes.
        """
        messages = [{"role": "user", "content": question.user}]
        output, problem, cause = self.output, "", None
        for n in range(self.attempts):
            try:
                answer = self.model.ask(question.system, messages, tokens=output, timeout=self.timeout, request=request)
            except AskFailed as e:
                failures.append(e.code)
                problem, cause = e.detail, e
                if e.code == "overflow":
                    raise
                if e.code in FINAL:
                    break
                if n + 1 < self.attempts:
                    time.sleep(min(PATIENCE, e.wait))
                continue
            spend(answer.usage)
            try:
                held = _judged(answer, question.tokens)
                return question.accept(held), held
            except BadAnswer as e:
                failures.append(e.code)
                problem = e.problem
                output = min(2 * output, max(output, self.model.window // 4)) if e.code == "truncated" else output
                messages = _again(question, answer.text, e)
        raise CompactorError(f"{self.model.name} gave no answer that can be used: {problem}"[:600], failures=failures) from cause


def _judged(answer: Answer, tokens: int) -> Mapping[str, Any]:
    """The answer's JSON object. Raises `BadAnswer`."""
    text = answer.text.strip()
    if answer.stop == "refused":
        raise BadAnswer("refused", "the model declined to answer")
    if answer.stop == "truncated":
        raise BadAnswer("truncated", "the answer was cut off")
    if not text and answer.calls:
        raise BadAnswer("tool_call_only", f"the answer was a call of {', '.join(answer.calls)}")
    if not text and answer.reasoning:
        raise BadAnswer("reasoning_only", "the answer was thinking without text")
    if not text:
        raise BadAnswer("empty", "the answer was empty")
    held = found(text)
    if estimate(text) > 3 * tokens + _SLACK:
        raise BadAnswer("inflated", f"the answer has about {estimate(text)} tokens, where {tokens} are allowed")
    return held


def _again(question: Question[Any], said: str, error: BadAnswer) -> list[dict[str, str]]:
    """The question again with what was wrong: behind the wrong answer, or, where there was none, at the end of the question."""
    note = feedback(error.code).filled(
        words=words(question.tokens // 2 if error.code == "truncated" else question.tokens),
        tokens=question.tokens,
        got=estimate(said),
        problem=error.problem,
    )
    shown = clip(said.strip(), _SHOWN_AGAIN, mark=" … (left out) … ")
    if not shown or error.code in {"refused", "tool_call_only"}:
        return [{"role": "user", "content": f"{question.user}\n\n{note}"}]
    return [
        {"role": "user", "content": question.user},
        {"role": "assistant", "content": shown},
        {"role": "user", "content": note},
    ]


def words(tokens: int) -> int:
    """About how many words these tokens are, once names and marks of JSON are taken off."""
    return max(20, tokens * 6 // 10)

"""The compactor that asks a model: one question for what fits into its window, chunks and a merge for what does not."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

from leporello.adapters.models import distilling, job
from leporello.adapters.models.answers import BadAnswer
from leporello.adapters.models.asking import Asking
from leporello.adapters.models.chunks import room, transcripts
from leporello.adapters.models.finished import Finished
from leporello.adapters.models.job import Job, Notes
from leporello.adapters.models.model import AskFailed, Model
from leporello.adapters.models.prompts import prompt
from leporello.core.blocks import parts, text_of
from leporello.core.compact import merge
from leporello.core.tokens import estimate, weigh
from leporello.errors import BadSetting, CompactorError
from leporello.ports import Compactor, LiveRequest
from leporello.records import Episode, EpisodeDraft, Fact, Item, Message, Operation

Fork = Literal["fresh", "same-prefix"]
HALVINGS = 2
FORKED_ATTEMPTS = 2
_BEGINNING = 60
_SEEN = 0.9


class ModelCompactor:
    """Implements `ports.Forking` with a model. `name` says which model and which prompts; threads may share it.

    `window` and `output` are tokens, `timeout` seconds of one attempt. After 1 + `retries` attempts it raises
    `CompactorError` with a code for each. With fork="same-prefix", `over` asks behind the agent's own request.
    """

    def __init__(
        self, model: Model, *, fork: Fork = "fresh", window: int | None = None, output: int = 4_096, timeout: float = 60.0, retries: int = 2
    ) -> None:
        checked(fork=fork, window=window, output=output, timeout=timeout, retries=retries)
        used = ("episode", "compact", "distil", *(("fork",) if fork == "same-prefix" else ()))
        self.name = f"{model.name}/{'+'.join(prompt(p).name.replace('/', '-') for p in used)}"
        self.fork = fork
        self._model = model
        self._window = window or model.window
        self._output = output
        self._timeout = timeout
        self._attempts = 1 + retries
        self._finished = Finished()
        self._reach = self._window
        """Tokens that a fork of a request may take; less when the provider called one too long."""

    def episode(self, messages: Sequence[Message], *, tokens: int) -> EpisodeDraft:
        """What these messages came to, in at most `tokens` tokens. Raises `CompactorError`."""
        asked = job.job("episode", messages, prior=(), tokens=tokens)
        return asked.draft(self._notes(asked, []))

    def compact(self, messages: Sequence[Message], *, prior: Sequence[Item], tokens: int) -> tuple[Item, ...]:
        """The items of a flat summary that `core.compact.render` shows within `tokens`. Raises `CompactorError`."""
        asked = job.job("compact", messages, prior=prior, tokens=tokens)
        return asked.compact(self._notes(asked, []))

    def distil(self, episodes: Sequence[Episode], known: Sequence[Fact]) -> tuple[Operation, ...]:
        """From none to ten operations for a group of episodes. Raises `CompactorError`."""
        failures: list[str] = []
        fixed = estimate(prompt("distil").text) + sum(estimate(f.text) + 8 for f in known[: distilling.KNOWN])
        tokens = room(self._window, output=self._output_in(self._window), prompt=fixed)
        out: list[Operation] = []
        for group in distilling.grouped(episodes, tokens=tokens):
            try:
                made, _ = self._asking(self._window).ask(distilling.question(group, known), failures)
            except AskFailed as e:
                raise CompactorError(e.detail, failures=failures) from e
            out += made
        return tuple(out)

    def over(self, request: LiveRequest) -> Compactor:
        """A compactor that repeats this request with one instruction behind it, when forking was asked for and the wire is the model's."""
        return ForkedCompactor(self, request) if self.fork == "same-prefix" and request.wire == self._model.wire else self

    def behind(self, request: LiveRequest, asked: Job) -> Notes:
        """The notes by a fork of the request; when that fails, or the request lacks the messages, by a fresh question.

        Raises `CompactorError`.
        """
        failures: list[str] = []
        part = _part(request, asked.messages)
        if part is None:
            return self._notes(asked, failures)
        question = asked.forking(part)
        need = weigh(json.dumps(dict(request.body), ensure_ascii=False, default=str)) + weigh(question.user) + self._output_in(self._window)
        if need > self._reach:
            return self._notes(asked, failures)
        try:
            return self._asking(self._window, FORKED_ATTEMPTS).ask(question, failures, request=request)[0]
        except AskFailed as e:
            self._reach = min(self._reach, e.window or need - 1)
        except CompactorError as e:
            if "unauthorized" in failures:
                raise CompactorError(e.detail, failures=failures) from e
        return self._notes(asked, failures)

    def _asking(self, window: int, attempts: int | None = None) -> Asking:
        return Asking(self._model, self._output_in(window), self._timeout, attempts or self._attempts)

    def _output_in(self, window: int) -> int:
        return min(self._output, max(256, window // 4))

    def _notes(self, asked: Job, failures: list[str]) -> Notes:
        """The notes of a job. A server that calls a request too long has its window taken for half of what was assumed, twice at most.

        What was found out is kept for the next job.
        """
        window = self._window
        for n in range(HALVINGS + 1):
            try:
                notes = self._in_pieces(asked, window, failures)
            except AskFailed as e:
                if n == HALVINGS:
                    raise CompactorError(e.detail, failures=failures) from e
                window = min(window // 2, e.window or window)
            else:
                self._window = window
                return notes
        raise AssertionError("unreachable")

    def _in_pieces(self, asked: Job, window: int, failures: list[str]) -> Notes:
        fixed = estimate(asked.system) + sum(map(estimate, asked.earlier(True))) + 100
        pieces = transcripts(asked.messages, tokens=room(window, output=self._output_in(window), prompt=fixed))
        if not pieces:
            return Notes(f"{len(asked.messages)} messages without text.", asked.prior)
        if len(pieces) == 1:
            return self._asking(window).ask(asked.question(pieces[0], tokens=asked.tokens), failures)[0]
        share = max(200, 2 * asked.tokens // len(pieces))
        done = [
            self._piece(asked, p, min(asked.tokens, share), first=n == 0, window=window, failures=failures) for n, p in enumerate(pieces)
        ]
        return self._merged(asked, done, window, failures)

    def _piece(self, asked: Job, transcript: str, tokens: int, *, first: bool, window: int, failures: list[str]) -> Notes:
        """The notes of one chunk; a chunk that was answered before is not asked again."""
        question = asked.question(transcript, tokens=tokens, first=first)
        key = (self._model.name, question.system, question.user)
        held = self._finished.get(*key)
        if held is not None:
            with suppress(BadAnswer):
                return question.accept(held)
        notes, answer = self._asking(window).ask(question, failures)
        self._finished.put(answer, *key)
        return notes

    def _merged(self, asked: Job, done: Sequence[Notes], window: int, failures: list[str]) -> Notes:
        """The notes of consecutive chunks as one; the model is asked once more if they are too long together."""
        items: tuple[Item, ...] = ()
        for notes in done:
            items = merge(items, notes.items)
        resolved = tuple(r for notes in done for r in notes.resolved)
        whole = Notes(" ".join(n.summary for n in done if n.summary), items, resolved)
        if not asked.too_long(whole):
            return whole
        try:
            notes = self._asking(window).ask(asked.merging(whole), failures)[0]
        except CompactorError:
            return whole  # the chunks are good: what is over is left out by weight
        return replace(notes, resolved=(*resolved, *notes.resolved))


class ForkedCompactor:
    """Implements `ports.Compactor` over one live request: same system, tools and messages, and one instruction more."""

    def __init__(self, fresh: ModelCompactor, request: LiveRequest) -> None:
        self.name = fresh.name
        self._fresh = fresh
        self._request = request

    def episode(self, messages: Sequence[Message], *, tokens: int) -> EpisodeDraft:
        """As `ModelCompactor.episode`."""
        asked = job.job("episode", messages, prior=(), tokens=tokens)
        return asked.draft(self._fresh.behind(self._request, asked))

    def compact(self, messages: Sequence[Message], *, prior: Sequence[Item], tokens: int) -> tuple[Item, ...]:
        """As `ModelCompactor.compact`."""
        asked = job.job("compact", messages, prior=prior, tokens=tokens)
        return asked.compact(self._fresh.behind(self._request, asked))

    def distil(self, episodes: Sequence[Episode], known: Sequence[Fact]) -> tuple[Operation, ...]:
        """As `ModelCompactor.distil`: what is distilled is not in the request."""
        return self._fresh.distil(episodes, known)


def checked(*, fork: str, window: int | None, output: int, timeout: float, retries: int) -> None:
    """Raises `BadSetting` for a setting out of its bounds."""
    if fork not in {"fresh", "same-prefix"}:
        raise BadSetting(f"fork={fork!r}", hint='Use "fresh" or "same-prefix".')
    bounds: tuple[tuple[str, Any, float, float], ...] = (
        ("window", window, 1_000, 100_000_000), ("output", output, 64, 1_000_000), ("timeout", timeout, 0.01, 3_600), ("retries", retries, 0, 5),
    )  # fmt: skip
    for name, value, least, most in bounds:
        if value is None and name == "window":
            continue
        whole = isinstance(value, int) or (name == "timeout" and isinstance(value, float))
        if isinstance(value, bool) or not whole or not least <= value <= most:
            raise BadSetting(f"{name}={value!r}", hint=f"Use a number from {least:g} to {most:g}.")


def _part(request: LiveRequest, messages: Sequence[Message]) -> str | None:
    """Which part of the request these messages are, in words for the model; None when the request does not show them."""
    sent = [m for m in request.body.get("input" if request.wire == "openai-responses" else "messages") or () if isinstance(m, Mapping)]
    texts = [json.dumps(dict(m), ensure_ascii=False, default=str) for m in sent]
    whole = "\n".join(texts)
    marks = [mark for m in messages if (mark := _beginning(m))]
    if not marks or sum(mark in whole for mark in marks) < _SEEN * len(marks):
        return None
    last = max((n for n, text in enumerate(texts) if marks[-1] in text), default=len(texts) - 1)
    following = next((begun for m in sent[last + 1 :] if (begun := " ".join(text_of(m).split())[:_BEGINNING])), "")
    if not following:
        return "the whole conversation above"
    return f"everything before the message that begins with “{following}”"


def _beginning(message: Message) -> str:
    """The beginning of the first text or result of a message, as it stands in JSON; empty without one."""
    for part in parts(message):
        text = part.text.lstrip()
        if part.kind in {"text", "result"} and text and "<leporello-memory" not in text:
            return json.dumps(text.split("\n")[0][:_BEGINNING].rstrip(), ensure_ascii=False)[1:-1]
    return ""

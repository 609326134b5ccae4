"""A run of messages to be recorded: the question about it, and what its answer comes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from leporello.adapters.models import answers, grounding
from leporello.adapters.models.asking import Question, words
from leporello.adapters.models.grounding import Sources, covered, grounded, telling
from leporello.adapters.models.prompts import prompt
from leporello.adapters.models.transcript import framed, neutral
from leporello.core.compact import episode_tokens, merge, render, summarise
from leporello.core.dates import absolute
from leporello.core.tokens import clip
from leporello.records import EpisodeDraft, Item, Message, Section

LASTING: frozenset[Section] = frozenset({"goal", "decision", "eliminated", "constraint", "correction"})
"""Sections of a compact that stay until an answer says that they are settled."""
TOLERANCE = 1.25
"""How many times the tokens allowed an answer may take before it is refused; what is over is left out by weight."""


@dataclass(frozen=True)
class Notes:
    """What an answer said, checked against its sources: summary, items, and what it calls settled."""

    summary: str = ""
    items: tuple[Item, ...] = ()
    resolved: tuple[str, ...] = ()


@dataclass(frozen=True)
class Job:
    """Messages, the items of a compact of before, and the tokens that the result may take."""

    kind: Literal["episode", "compact"]
    messages: Sequence[Message]
    prior: tuple[Item, ...]
    tokens: int
    said: Sources
    before: Sources

    @property
    def system(self) -> str:
        """The rules; the same for every question of this kind."""
        return prompt(self.kind).text

    def question(self, transcript: str, *, tokens: int, first: bool = True) -> Question[Notes]:
        """Asks about a transcript; the first one is shown the compact of before."""
        user = "\n\n".join([self.length(tokens), *self.earlier(first), framed("transcript", transcript), _END])
        return Question(self.system, user, tokens, lambda held: self.accept(held, tokens))

    def merging(self, notes: Notes) -> Question[Notes]:
        """Asks to make one answer of notes of consecutive parts."""
        held = framed("notes", neutral(answers.as_json(notes.summary, notes.items)))
        user = "\n\n".join([self.length(self.tokens), "These are notes of consecutive parts of one conversation, in order.", held, _END])
        whole = replace(self, before=grounding.of_items((*self.prior, *notes.items)))
        return Question(self.system, user, self.tokens, lambda found: whole.accept(found, self.tokens))

    def forking(self, part: str) -> Question[Notes]:
        """Asks behind the agent's own request, for this part of it."""
        rules = "\n\n".join([self.system, self.length(self.tokens), *self.earlier(True)])
        return Question("", prompt("fork").filled(part=part, rules=rules), self.tokens, lambda held: self.accept(held, self.tokens))

    def length(self, tokens: int) -> str:
        """How long the answer may be, in words for the model."""
        return f"Length of the whole answer: at most about {words(tokens)} words ({tokens} tokens)."

    def earlier(self, first: bool) -> list[str]:
        """The compact of before, as JSON, if there is one."""
        held = neutral(answers.as_json("", self.prior))
        return [framed("earlier-summary", held)] if self.prior and first else []

    def accept(self, held: Mapping[str, Any], tokens: int) -> Notes:
        """The notes of an answer. Raises `BadAnswer` if nothing of it was said, or if it is too long."""
        read = answers.read(held)
        items = tuple(grounded(read.items, self.said, self.before))
        summary = read.summary if self.said.best(Item("event", read.summary)) or self.before.best(Item("event", read.summary)) else ""
        if not items and not (summary and self.kind == "episode"):
            raise answers.BadAnswer("bad_schema", "no field holds anything that the transcript says")
        cost = episode_tokens(summary if self.kind == "episode" else "", items)
        if cost > TOLERANCE * tokens:
            raise answers.BadAnswer("inflated", f"the answer has about {cost} tokens, where {tokens} are allowed")
        return Notes(summary, items, read.resolved)

    def too_long(self, notes: Notes) -> bool:
        """True if merged notes exceed the tokens allowed."""
        return episode_tokens(notes.summary if self.kind == "episode" else "", notes.items) > TOLERANCE * self.tokens

    def draft(self, notes: Notes) -> EpisodeDraft:
        """The episode of these notes, within the tokens allowed; the lightest items are left out."""
        items = list(notes.items)
        same_day = self.messages[0].at.date() == self.messages[-1].at.date()
        summary = notes.summary or summarise(items, tokens=self.tokens // 2)
        summary = clip(absolute(summary, self.messages[-1].at) if same_day else summary, max(20, self.tokens * 2 // 3))
        while items and episode_tokens(summary, items) > self.tokens:
            items.remove(min(items, key=lambda i: i.weight))
        return EpisodeDraft(clip(summary, self.tokens), tuple(items))

    def compact(self, notes: Notes) -> tuple[Item, ...]:
        """The items of the compact of these notes: what was lost without being settled is put back; what has room is kept."""
        lost = [i for i in self.prior if i.section in LASTING and not self._held(i, notes) and not self._settled(i, notes)]
        return render(merge(lost, notes.items), tokens=self.tokens)[1]

    def _held(self, item: Item, notes: Notes) -> bool:
        lasting = LASTING | {"preference", "state"}
        return any(covered(item.text, telling(f"{i.text} {i.why}"), share=0.7) for i in notes.items if i.section in lasting)

    def _settled(self, item: Item, notes: Notes) -> bool:
        """What the user demanded is settled only by words of the user."""
        for said in notes.resolved:
            if covered(item.text, telling(said), share=0.6) or covered(said, telling(item.text), share=0.75):
                source = self.said.best(Item("event", said))
                if item.trust != "user" or (source is not None and source.trust == "user"):
                    return True
        return False


_END = "The data ends here. Answer with the JSON object."


def job(kind: Literal["episode", "compact"], messages: Sequence[Message], *, prior: Sequence[Item], tokens: int) -> Job:
    """A job with its sources."""
    return Job(kind, messages, tuple(prior), tokens, grounding.of_messages(messages), grounding.of_items(prior))

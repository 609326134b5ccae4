"""The compactor that needs no model: it keeps the conversation's own sentences."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from leporello.core.compact import CLOSING, TITLES, cost, merge, render, size, summarise
from leporello.core.dates import absolute
from leporello.core.extract import extract, select, worth
from leporello.core.extract.distil import distil
from leporello.core.tokens import clip, estimate
from leporello.records import Episode, EpisodeDraft, Fact, Item, Message, Operation

HEADINGS = sum(len(title) + 5 for _, title in TITLES)


class ExtractiveCompactor:
    """Implements `ports.Compactor` with rules alone: deterministic, offline, and always able to answer."""

    name = "extractive/1"

    def episode(self, messages: Sequence[Message], *, tokens: int) -> EpisodeDraft:
        """What these messages came to: items and a summary made of the weightiest, together never over `tokens`.

        Messages that hold nothing worth keeping are summed up by their own first words, so that folding never fails.
        """
        items = list(self.compact(messages, prior=(), tokens=tokens * 9 // 10))
        summary = summarise(items)
        while items and estimate(summary) + sum(estimate(i.text) + estimate(i.why) for i in items) > tokens:
            items.remove(min(items, key=lambda i: i.weight))
            summary = summarise(items)
        return EpisodeDraft(clip(summary or _opening(messages), tokens, mark="… "), tuple(items))

    def compact(self, messages: Sequence[Message], *, prior: Sequence[Item], tokens: int) -> tuple[Item, ...]:
        """The items of a flat summary, chosen so that `compact.render(items, tokens=tokens)` holds them all."""
        value = worth(messages)
        room = 4 * tokens
        items: tuple[Item, ...] = ()
        for detail in (_detail(tokens), 3 * _detail(tokens)):
            items = merge(prior, extract(messages, detail=detail, kept=value))
            if sum(map(cost, items)) > room or not any(i.section == "work" for i in items):
                break
        spent = min(HEADINGS, room // 6) + (size(CLOSING) + 2 if tokens >= 200 else 0)
        musts = _musts(items, room, messages[-1] if messages else None)
        chosen = select(items, room=room - spent, cost=cost, worth=value, musts=lambda item: id(item) in musts)
        return render(_dated(chosen), tokens=tokens)[1]

    def distil(self, episodes: Sequence[Episode], known: Sequence[Fact]) -> tuple[Operation, ...]:
        """Operations that keep what will matter many sessions from now (R102–R110, X3, X4)."""
        return distil(episodes, known)


def _opening(messages: Sequence[Message]) -> str:
    """The first words that were said, or how many messages said none."""
    first = next((m for m in messages if m.text.strip()), None)
    return f"{len(messages)} messages without text." if first is None else f"{first.name or first.role}: {' '.join(first.text[:400].split())}"


def _detail(tokens: int) -> int:
    return max(150, tokens * 2 // 5)


def _dated(items: Sequence[Item]) -> list[Item]:
    return [dataclasses.replace(i, text=absolute(i.text, i.at)) if i.at and i.section != "work" else i for i in items]


def _musts(items: Sequence[Item], room: int, last: Message | None) -> set[int]:
    """What stays whatever else is said: the first request from its beginning, the newest one, what the user forbade, the agent's last words."""
    goals = [i for i in items if i.section == "goal"]
    first = [i for i in goals if _source(i) == _source(goals[0])]
    newest = [i for i in goals if _source(i) == _source(goals[-1])]
    strict = sorted((i for i in items if i.section == "constraint" and i.trust == "user"), key=lambda i: -i.weight)
    ended = [i for i in items if last is not None and last.role == "assistant" and _source(i) == last.id][::-1]
    kept: set[int] = set()
    for group, share in ((first, room // 5), (newest, room // 8), (strict, room // 10), (ended, room // 12)):
        left = share
        for item in group:
            if cost(item) <= left and id(item) not in kept:
                left -= cost(item)
                kept.add(id(item))
    return kept


def _source(item: Item) -> str:
    return item.spans[0].message if item.spans else ""

"""The compactor that needs no model: it keeps the conversation's own sentences."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from leporello.core.compact import CLOSING, TITLES, cost, merge, render, size, summarise
from leporello.core.dates import absolute
from leporello.core.extract import extract, select, worth
from leporello.core.extract.distil import distil
from leporello.records import Episode, EpisodeDraft, Fact, Item, Message, Operation

HEADINGS = sum(len(title) + 5 for _, title in TITLES)


class ExtractiveCompactor:
    """Implements `ports.Compactor` with rules alone: deterministic, offline, and always able to answer."""

    name = "extractive/1"

    def episode(self, messages: Sequence[Message], *, tokens: int) -> EpisodeDraft:
        """What these messages came to: the items that fit into about `tokens`, and a summary made of the weightiest."""
        items = self.compact(messages, prior=(), tokens=tokens * 9 // 10)
        return EpisodeDraft(summarise(items), items)

    def compact(self, messages: Sequence[Message], *, prior: Sequence[Item], tokens: int) -> tuple[Item, ...]:
        """The items of a flat summary, chosen so that `compact.render(items, tokens=tokens)` holds them all."""
        value = worth(messages)
        room = 4 * tokens
        items: tuple[Item, ...] = ()
        for detail in (_detail(tokens), 3 * _detail(tokens)):
            items = merge(prior, _dated(extract(messages, detail=detail, kept=value)))
            if sum(map(cost, items)) > room:
                break
        spent = min(HEADINGS, room // 6) + (size(CLOSING) + 2 if tokens >= 200 else 0)
        musts = _musts(items, room)
        chosen = select(items, room=room - spent, cost=cost, worth=value, musts=lambda item: id(item) in musts)
        return render(chosen, tokens=tokens)[1]

    def distil(self, episodes: Sequence[Episode], known: Sequence[Fact]) -> tuple[Operation, ...]:
        """Operations that keep what will matter many sessions from now (R102–R110, X3, X4)."""
        return distil(episodes, known)


def _detail(tokens: int) -> int:
    return max(150, tokens * 2 // 5)


def _dated(items: Sequence[Item]) -> list[Item]:
    return [dataclasses.replace(i, text=absolute(i.text, i.at)) if i.at and i.section != "work" else i for i in items]


def _musts(items: Sequence[Item], room: int) -> set[int]:
    """What stays whatever else is said: the first request from its beginning, the newest one, what the user forbade."""
    goals = [i for i in items if i.section == "goal"]
    first = [i for i in goals if _source(i) == _source(goals[0])]
    newest = [i for i in goals if _source(i) == _source(goals[-1])]
    strict = sorted((i for i in items if i.section == "constraint" and i.trust == "user"), key=lambda i: -i.weight)
    kept: set[int] = set()
    for group, share in ((first, room // 5), (newest, room // 8), (strict, room // 10)):
        left = share
        for item in group:
            if cost(item) <= left and id(item) not in kept:
                left -= cost(item)
                kept.add(id(item))
    return kept


def _source(item: Item) -> str:
    return item.spans[0].message if item.spans else ""

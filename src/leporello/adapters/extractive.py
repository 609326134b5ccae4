"""The compactor that needs no model: it keeps the conversation's own sentences."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from leporello.core.compact import CLOSING, TITLES, cost, episode_tokens, merge, render, size, summarise
from leporello.core.dates import absolute
from leporello.core.extract import extract, select, stand, worth
from leporello.core.extract.distil import distil
from leporello.core.tokens import clip, estimate
from leporello.records import Episode, EpisodeDraft, Fact, Item, Message, Operation, Section, Span

HEADINGS = sum(len(title) + 5 for _, title in TITLES)
SHARES: tuple[tuple[Section, int], ...] = (
    ("state", 6),
    ("next", 5),
    ("decision", 16),
    ("correction", 3),
    ("eliminated", 10),
    ("confirmation", 2),
    ("open", 2),
    ("error", 3),
)
"""Hundredths of the room that the weightiest items of a section have for certain, so that what was done does not push out why."""
FIRM: frozenset[Section] = frozenset({"decision", "correction"})
"""Sections of which at least one sentence stays however little room there is."""
SHORT = 750
"""Tokens of an episode that may take more than half of what it stands for."""
TINY = 120
"""Tokens of an episode of a few sentences, which may take nearly all of what they take themselves."""
LEAST = 30
"""Tokens below which an episode says nothing."""


class ExtractiveCompactor:
    """Implements `ports.Compactor` with rules alone: deterministic, offline, and always able to answer."""

    name = "extractive/1"

    def episode(self, messages: Sequence[Message], *, tokens: int) -> EpisodeDraft:
        """What these messages came to, in at most `tokens` and half of what they take themselves (three quarters of a short run).

        The summary is made of the weightiest items; of messages without a word it says how many there were.
        """
        whole = sum(estimate(m.text) for m in messages)
        room = min(tokens, max(LEAST, whole // 2, min(whole * 3 // 4, SHORT), min(whole * 9 // 10, TINY)))
        items = _of_episode(messages, room)
        summary = summarise(items, tokens=max(room * 2 // 3, min(room, LEAST)))
        if not summary:
            return EpisodeDraft(clip(f"{len(messages)} messages without text.", tokens))
        while episode_tokens(summary, items) > room:
            items.remove(min((i for i in items if i.text not in summary), key=lambda i: (i.weight / (_tokens(i) + 5), -len(i.text))))
        return EpisodeDraft(summary, tuple(items))

    def compact(self, messages: Sequence[Message], *, prior: Sequence[Item], tokens: int) -> tuple[Item, ...]:
        """The items of a flat summary, chosen so that `compact.render(items, tokens=tokens)` holds them all."""
        return _chosen(messages, prior, tokens, details=(_detail(tokens), 3 * _detail(tokens)))

    def distil(self, episodes: Sequence[Episode], known: Sequence[Fact]) -> tuple[Operation, ...]:
        """An `add` for each statement that will matter many sessions from now (R102 to R110, X3, X4)."""
        return distil(episodes)


def _chosen(messages: Sequence[Message], prior: Sequence[Item], tokens: int, *, details: Sequence[int]) -> tuple[Item, ...]:
    """The items that fit into `tokens`, quoting the more of each change the more room is left."""
    value = worth(messages)
    room = 4 * tokens
    items: tuple[Item, ...] = ()
    for detail in details:
        items = tuple(stand(merge(prior, extract(messages, detail=detail, kept=value))))
        if sum(map(cost, items)) > room or not any(i.section == "work" for i in items):
            break
    spent = min(HEADINGS, room // 6) + (size(CLOSING) + 2 if tokens >= 200 else 0)
    musts = _musts(items, room, messages[-1] if messages else None)
    shown: tuple[Item, ...] = ()
    for _ in range(2):
        chosen = select(items, room=room - spent, cost=cost, worth=value, musts=lambda item: id(item) in musts)
        text, shown = render(_dated(chosen) or list(items[:1]) or _last_words(messages), tokens=tokens)
        spare = room - size(text)
        if spare < room // 100:
            break
        spent -= spare
    return shown


def _of_episode(messages: Sequence[Message], room: int) -> list[Item]:
    """The items of an episode: an account without quotations, chosen within `room` tokens."""
    value = worth(messages)
    items = _dated(merge((), extract(messages, detail=0, kept=value)))
    musts = _musts(items, 4 * room, messages[-1] if messages else None)

    def price(item: Item) -> int:
        return 4 * _tokens(item)

    chosen = select(items, room=4 * room, cost=price, worth=value, musts=lambda item: id(item) in musts)
    fitting = [i for i in items[:1] if price(i) <= 4 * room]
    return chosen or fitting or [dataclasses.replace(i, text=clip(i.text, room)) for i in items[:1]] or _last_words(messages)


def _tokens(item: Item) -> int:
    return estimate(item.text) + (estimate(item.why) if item.why not in item.text else 0)


def _detail(tokens: int) -> int:
    return max(150, tokens * 9 // 20)


def _dated(items: Sequence[Item]) -> list[Item]:
    return [
        dataclasses.replace(i, text=absolute(i.text, i.at), why=absolute(i.why, i.at)) if i.at and i.section != "work" else i for i in items
    ]


def _last_words(messages: Sequence[Message]) -> list[Item]:
    """Of messages in which nothing stands out, the beginning of the last one with text."""
    for message in reversed(messages):
        start = len(message.text) - len(message.text.lstrip())
        text = message.text[start : start + 200].rstrip()
        if text and "<leporello-memory" not in message.text:
            return [
                Item(
                    "event",
                    " ".join(text.split()),
                    spans=(Span(message.id, start, start + len(text), message.turn),),
                    weight=0.1,
                    trust=message.trust,
                    at=message.at,
                )
            ]
    return []


def _musts(items: Sequence[Item], room: int, last: Message | None) -> set[int]:
    """What stays whatever else is said: the first request from its beginning, the newest one, what the user forbade, the agent's last words."""
    goals = [i for i in items if i.section == "goal"]
    first = [i for i in goals if _source(i) == _source(goals[0])]
    told = [i for i in items if i.trust == "user"]
    newest = [i for i in told if _source(i) == _source(told[-1])]
    strict = sorted((i for i in items if i.section == "constraint" and i.trust == "user"), key=lambda i: -i.weight)
    ended = [i for i in items if last is not None and last.role == "assistant" and _source(i) == last.id][::-1]
    kept: set[int] = set()
    shares = [(first, room // 5), (newest, room // 8), (strict, room // 10), (ended, room // 12)]
    shares += [
        (
            sorted((i for i in items if i.section == s), key=lambda i: -i.weight),
            max(room * share // 100, min(160, room // 10) * (s in FIRM)),
        )
        for s, share in SHARES
    ]
    for group, share in shares:
        left = share
        for item in group:
            if cost(item) <= left and id(item) not in kept:
                left -= cost(item)
                kept.add(id(item))
    return kept


def _source(item: Item) -> str:
    return item.spans[0].message if item.spans else ""

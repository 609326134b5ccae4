"""Where an item comes from: the message that shares its telling words. What shares none was not said and is dropped."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from leporello.adapters.models.transcript import without_memory
from leporello.core.dates import absolute
from leporello.records import Episode, Item, Message, Span, Trust

RANK: Mapping[Trust, int] = {"external": 0, "tool": 1, "agent": 2, "user": 3}
_WORD = re.compile(r"[^\W_]+(?:[._/-][^\W_]+)*|[^\W_]+")
_WIDE = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_SENTENCE = re.compile(r"[^\n.!?。！？]+(?:[.!?](?!\s|$)[^\n.!?。！？]*)*[.!?。！？]*")
_STOP = frozenset(
    "about after again also already always another anything back because been before being between both came come could does doing done down "
    "during each either else even ever every everything first from further give given goes going gone good have having here however into itself "
    "just keep know less like look made make many more most much must need needs never next nothing once only other others over same shall "
    "should since some something still such take than that their them then there these they thing things this those through together under "
    "until upon used user uses using very want wants well were what when where whether which while will with within without would your yours "
    "agent assistant aber auch dann dass eine einem einen einer haben hier nach nicht noch oder sich sind über weil werden wird wurde "
    "avec dans elle être mais nous pour sans sont vous como cuando desde este esta para pero porque sobre todo".split()
)


def telling(text: str) -> set[str]:
    """The words of `text` by which it can be known again: longer than three letters, no stop words; of dense scripts pairs of characters.

    Numbers and short words with a digit count too. Longer words are kept by their first five letters, so that endings do not matter.
    """
    out: set[str] = set()
    for found in _WORD.findall(text.casefold()):
        for word in {found, *re.split(r"[._/-]", found)}:
            if _WIDE.search(word):
                out.update(word[i : i + 2] for i in range(max(1, len(word) - 1)))
            elif (len(word) > 3 and word not in _STOP) or (len(word) > 1 and any(c.isdigit() for c in word)):
                out.add(word[:5] if word.isalpha() else word)
    return out


def covered(text: str, by: set[str], *, share: float) -> bool:
    """True if at least this share of the telling words of `text` is among `by`."""
    words = telling(text)
    return bool(words) and len(words & by) >= share * len(words)


@dataclass(frozen=True)
class Source:
    """Something that an item may rest on."""

    words: frozenset[str]
    item: Item


class Sources:
    """Messages, or items of before, that items may rest on."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self._sources = [s for s in sources if s.words]
        self._spread = Counter(w for s in self._sources for w in s.words)

    def best(self, item: Item) -> Item | None:
        """The source with the most telling words in common, rare ones counting more; of equals the less trusted one. None without any."""
        words = telling(f"{item.text} {item.why} {item.key}")
        own = telling(item.text) or words

        def score(source: Source) -> float:
            return sum(1 / self._spread[w] for w in words & source.words) + 0.5 * len(own & source.words)

        shared = [s for s in self._sources if own & s.words]
        return max(shared, key=lambda s: (round(score(s), 6), -RANK[s.item.trust])).item if shared else None


def of_messages(messages: Sequence[Message]) -> Sources:
    """Messages as sources; recalled memory in them does not count."""
    out = []
    for m in messages:
        text = without_memory(m.text)
        out.append(
            Source(frozenset(telling(text)), Item("event", text, spans=(Span(m.id, 0, len(m.text), m.turn),), trust=m.trust, at=m.at))
        )
    return Sources(out)


def of_items(items: Iterable[Item]) -> Sources:
    """Items of before as sources."""
    return Sources(Source(frozenset(telling(f"{i.text} {i.why} {i.key}")), i) for i in items)


def of_episodes(episodes: Sequence[Episode]) -> tuple[Sources, Mapping[Item, str]]:
    """Items and summaries of episodes as sources, and the episode of each."""
    home = {i: e.id for e in episodes for i in e.items}
    for e in episodes:
        weakest: Trust = min((i.trust for i in e.items), key=RANK.__getitem__, default="agent")
        home[Item("event", e.summary, trust=weakest if weakest != "user" else "agent", at=e.at)] = e.id
    return of_items(home), home


def grounded(items: Iterable[Item], said: Sources, before: Sources) -> list[Item]:
    """The items that rest on a message or on an item of before, with its trust, place and date; the others are dropped.

    An item of before that comes back in nearly the same words keeps its own source.
    """
    out = []
    for item in items:
        old = before.best(item)
        if old is not None and (covered(item.text, telling(f"{old.text} {old.why} {old.key}"), share=0.75)):
            out.append(dataclasses.replace(item, spans=old.spans, trust=old.trust, at=old.at))
            continue
        source = said.best(item)
        if source is not None:
            out.append(_placed(item, source))
        elif old is not None:
            out.append(dataclasses.replace(item, spans=old.spans, trust=old.trust, at=old.at))
    return out


def _placed(item: Item, source: Item) -> Item:
    whole = source.spans[0]
    place = _sentence(telling(item.text), source.text)
    span = whole if place is None else Span(whole.message, place[0], place[1], whole.turn)
    at = source.at
    if at is None:
        return dataclasses.replace(item, spans=(span,), trust=source.trust)
    text, why = (absolute(item.text, at), absolute(item.why, at)) if item.section != "work" else (item.text, item.why)
    return dataclasses.replace(item, text=text, why=why, spans=(span,), trust=source.trust, at=at)


def _sentence(words: set[str], text: str) -> tuple[int, int] | None:
    """The place of the sentence that holds most of these words, if it holds at least half of them."""
    best, place = 0.5 * len(words), None
    for found in _SENTENCE.finditer(text[:200_000]):
        shared = len(words & telling(found.group()))
        if shared > 0 and (shared > best or (place is None and shared >= best)):
            start = found.start() + len(found.group()) - len(found.group().lstrip())
            best, place = shared, (start, found.end())
    return place

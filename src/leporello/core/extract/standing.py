"""Which decisions still stand: a later one on the same matter wins, and the earlier is kept as ruled out, with why (R31, R112)."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from leporello.core.extract import cues
from leporello.records import Item, Section

_CHOICES: frozenset[Section] = frozenset({"decision"})
_MOVES: frozenset[Section] = frozenset({"decision", "correction"})
_WORD = re.compile(r"[^\W_]{3,}|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{2}")
_WEAK = frozenset(
    "the our that this them they these those and for with from all any old new use using used keys key one file files code it's instead den die das les los las una une".split()
)
AGREED = " Agreed by the user: “"
GIVEN_UP = "Given up: "
"""What the text of a decision that a later one dropped begins with."""


def stand(items: Sequence[Item]) -> list[Item]:
    """`items` with each decision that a later one drops turned into what was ruled out, with the later one's reason."""
    out = list(items)
    for n, later in enumerate(items):
        if later.section not in _MOVES:
            continue
        dropped = _dropped(later.text)
        if not dropped:
            continue
        for m in range(n):
            if out[m].section in _CHOICES and _chose(out[m].text, dropped):
                out[m] = _given_up(out[m], later, _because(items, n, dropped))
    return _once(out)


def _dropped(text: str) -> set[str]:
    """The words of what a sentence gives up."""
    out: set[str] = set()
    for found in cues.DROPPED.finditer(text.split(AGREED)[0]):
        what = next(g for g in found.groups() if g)
        out |= _words(re.split(r"\b(?:for|in|on|at|für|bei|pour|dans|para|en)\b", what)[0])
    return out


def _words(text: str) -> set[str]:
    return {w for w in _WORD.findall(text.casefold()) if w not in _WEAK and not w.isdigit()}


def _chose(text: str, dropped: set[str]) -> bool:
    """True when the decision chose what is dropped later, and does not itself give it up."""
    if dropped & _dropped(text):
        return False
    head = _words(text.split(AGREED)[0].split(", because")[0][:160])
    return dropped <= head if len(dropped) <= 2 else len(dropped & head) >= 0.7 * len(dropped)


def _because(items: Sequence[Item], n: int, dropped: set[str]) -> str:
    """The reason that the later decision gives, or that one of the next sentences on the same matter gives."""
    near = [i for i in items[n : n + 6] if i.section in _MOVES and dropped & _dropped(i.text)]
    return next((i.why for i in near if i.why), "")


def _given_up(old: Item, later: Item, why: str) -> Item:
    text = f"{GIVEN_UP}{old.text.split(AGREED)[0]}"
    because = why or later.text
    spans = tuple(dict.fromkeys((*old.spans[:1], *later.spans[:1])))
    return dataclasses.replace(old, section="eliminated", text=text, why=because[:240], spans=spans, weight=round(old.weight * 0.8, 4))


def _once(items: Sequence[Item]) -> list[Item]:
    """Of decisions that give one matter up twice (the user's and the agent's), both stay; of given-up ones said again, the last."""
    seen: set[str] = set()
    out: list[Item] = []
    for item in reversed(items):
        key = " ".join(sorted(_words(item.text))) if item.section == "eliminated" else ""
        if key and key in seen:
            continue
        seen.add(key)
        out.append(item)
    return out[::-1]

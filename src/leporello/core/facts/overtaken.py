"""The same thing has another value: said in other words, but with a verb that says that it changed."""

from __future__ import annotations

from leporello.core.facts.claim import Claim, contrasted
from leporello.core.facts.others import AT, RENAMED, TOWARDS
from leporello.core.facts.relation import Relation
from leporello.core.facts.tokens import stem
from leporello.core.facts.values import MEASURES, clash

_SHOWN = frozenset(
    map(
        stem,
        "got is are was been be had now new called named titled heisst namens llama appelle nomme renamed set named done made".split(),
    )
)
"""Stems that tell nothing of the thing or of its value."""
_STANDS = frozenset(
    map(
        stem,
        "steht liegt lauft hangt sits runs lives stands hosted stored kept located heberge heberges gespeichert gehostet alojado alojada guardado esta".split(),
    )
)
_EVERY = frozenset(
    map(stem, "every each day week morning afternoon evening jeden jede tag woche cada dia semana chaque jour matin".split())
)
_HOURS = 24


def overtaken(old: Claim, new: Claim) -> Relation | None:
    """The API rate limit is 100, we raised the API rate limit to 250; the server is in Frankfurt, the server has moved to Helsinki."""
    before, after = old.event or old.negated or old.ended or old.additional, new.negated or new.ended or new.additional
    if new.change < 2 or before or after:
        return None
    thing = _thing(old)
    if not thing or not thing <= new.core or contrasted(old, new) or new.mode not in {"told", "future"}:
        return None
    if old.person:  # a first word with a capital letter may be a name; nobody is "at 9:15"
        return _at_another_time(old, new, thing)
    return _at_another_time(old, new, thing) or _another_number(old, new, thing) or _another_place(old, new, thing)


def _thing(claim: Claim) -> frozenset[str]:
    """The stems of what it is about, without whose it is."""
    if claim.subject in {"", "?", "user", "we"} or claim.predicate not in {"", "is", "reside"}:
        return frozenset()
    owned = claim.subject.partition("'s ")[2]
    return frozenset(map(stem, (owned or claim.subject).split())) - _SHOWN


def _left(claim: Claim, thing: frozenset[str], other: Claim) -> frozenset[str]:
    return claim.core - thing - _SHOWN - _STANDS - other.core


def _another_number(old: Claim, new: Claim, thing: frozenset[str]) -> Relation | None:
    if len(old.numbers) != 1 or len(new.numbers) != 1 or old.times or new.times or _left(new, thing, old):
        return None
    (a,), (b,) = old.numbers, new.numbers
    if a.value == b.value or "by" in {a.sense, b.sense} or (a.unit != b.unit and (b.unit or a.unit in MEASURES)):
        return None
    units = frozenset({a.unit, b.unit})
    return Relation("update", "another number now") if not _left(old, thing, new) - units - frozenset(map(stem, old.value)) else None


def _at_another_time(old: Claim, new: Claim, thing: frozenset[str]) -> Relation | None:
    if not old.times or _left(new, thing, old) or _left(old, thing, new) - frozenset(map(stem, old.value)) - _EVERY:
        return None
    hours = dict(old.times).get("hour", frozenset())
    if hours and not new.times and len(new.numbers) == 1 and not new.numbers[0].unit and 0 < new.numbers[0].value <= _HOURS:
        return Relation("update", "another time now") if new.numbers[0].value * 60 not in hours else None
    return Relation("update", "another time now") if clash(old.times, new.times) else None


def _another_place(old: Claim, new: Claim, thing: frozenset[str]) -> Relation | None:
    if old.times or old.numbers or new.numbers or not new.verbs & (TOWARDS | RENAMED):
        return None
    if not (old.verbs & AT or new.verbs & RENAMED) or new.core - new.towards - thing - old.core - _SHOWN:
        return None
    first = _left(old, thing, new)
    second = _left(new, thing, old) | (frozenset(map(stem, new.value)) - _SHOWN - thing if new.predicate == "reside" else frozenset())
    return Relation("update", "another value now") if 1 <= len(first) <= 2 and 1 <= len(second) <= 2 else None

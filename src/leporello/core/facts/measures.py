"""Another number, another time of the same thing."""

from __future__ import annotations

from leporello.core.facts import cues_words as words
from leporello.core.facts.claim import Claim, contrasted
from leporello.core.facts.cues_frames import SINGLE
from leporello.core.facts.relation import NONE, Relation
from leporello.core.facts.tokens import stem
from leporello.core.facts.values import MEASURES, Quantity, clash


def numbered(old: Claim, new: Claim) -> Relation | None:
    """Numbers with units of the same thing."""
    if not old.numbers or not new.numbers:
        return None
    for a in old.numbers:
        for b in new.numbers:
            if (
                _comparable(a, b, old, new)
                and a.value != b.value
                and not (any(x.value == b.value for x in old.numbers) or any(x.value == a.value for x in new.numbers))
            ):
                relation = _measured(a, b, old, new)
                if relation is not None:
                    added = relation.kind == "update" and b.sense != "limit" and new.verbs & _ADDED and not old.verbs & _ADDED
                    return Relation("conflict", "another number, or so many more") if added else relation
    return None


_ADDED = frozenset("added add hinzugefugt anadi anadimos agregue ajoute ajoutes".split())
"""Added 52: that many more, or that many by now."""


def _comparable(a: Quantity, b: Quantity, old: Claim, new: Claim) -> bool:
    if "by" in {a.sense, b.sense} or (a.sense != b.sense and a.unit in MEASURES and not _same_words(old, new)):
        return False
    before = {q.value for q in new.gone_numbers if q.unit == b.unit}
    if before and not before & {q.value for q in (*old.numbers, *old.gone_numbers)}:
        return False
    if a.unit == b.unit or (not a.unit and b.unit == "age" and old.predicate == "is" and not old.value):
        return True
    if a.unit and b.unit:
        return False
    named = a.unit or b.unit
    return named not in MEASURES and named in (new.about if a.unit else old.about)


def _same_words(old: Claim, new: Claim) -> bool:
    return _attribute_stems(old) == _attribute_stems(new)


def _measured(a: Quantity, b: Quantity, old: Claim, new: Claim) -> Relation | None:
    first, second = _attribute_stems(old), _attribute_stems(new)
    if a.unit not in MEASURES and b.unit not in MEASURES:
        unit = {a.unit, b.unit}
        first, second = first - unit, second - unit
        if not first and not second and a.unit:
            first = second = frozenset({a.unit})
    if a.unit == b.unit == "age":
        return Relation("update", "another age") if first == second else NONE
    grown = b.value >= a.value and bool((new.verbs | old.verbs) & words.CUMULATIVE)
    if _apart(old, new, grown):
        return NONE
    return _one_attribute(a, b, old, new, first=first, second=second, grown=grown)


_SPENT = frozenset("spent used gastamos gaste gasto gastado ausgegeben verbraucht depense paid".split())
"""A part of a budget, and not what it is."""
_COMPATIBLE = frozenset("supported supports available compatible unterstutzt soporta compatibles kompatibel".split())


def _apart(old: Claim, new: Claim, grown: bool) -> bool:
    """Two events, two times, one more: two numbers that both hold."""
    if contrasted(old, new) or (old.verbs & new.verbs & _COMPATIBLE):
        return True
    if new.verbs & _SPENT and not old.verbs & _SPENT:
        return True
    if old.negated != new.negated or (clash(old.times, new.times) and not new.change):
        return True
    return ((old.event or new.event) and not (grown or new.change == 2)) or (new.additional and new.change < 2)


def _one_attribute(
    a: Quantity, b: Quantity, old: Claim, new: Claim, *, first: frozenset[str], second: frozenset[str], grown: bool
) -> Relation | None:
    extra = second - first
    if a.unit == b.unit == "version" and new.change == 2 and first & second and not (old.capitals & first) - second:
        return Relation("update", "another version")
    counted = a.unit == b.unit and a.unit and a.unit not in MEASURES
    if counted and new.change and old.subject == new.subject not in {"", "?", "user", "we"} and first & second:
        return Relation("update", "another number")
    if first == second and (first or new.change):
        return Relation("update", "another number")
    shared = first & second
    if first - second and old.subject in {"user", "we"} and new.verbs & words.CUMULATIVE:  # 15 problems: of which kind is left out
        return Relation("conflict", "another number") if not extra and len(first ^ second) <= 1 and new.change == 2 else None
    if 2 * len(shared) < min(len(first), len(second)):
        return None
    if new.change and first & second and (not extra or not first - second or len(first & second) >= 2):
        return Relation("update", "another number") if len(first ^ second) <= 4 or new.change == 2 else None
    if grown and (not first - second or not extra) and a.unit == b.unit and (first & second or a.unit not in MEASURES):
        return Relation("update", "another number")
    events = old.event or new.event
    near = first & second and (not extra or not first - second) and len(first ^ second) <= 1
    return Relation("conflict", "another number") if near and a.unit in MEASURES and not events and old.subject == new.subject else None


def _attribute_stems(claim: Claim) -> frozenset[str]:
    """What tells which attribute a claim is about."""
    fillers = frozenset(map(stem, claim.verbs & (words.CUMULATIVE | _NUMBER_VERBS)))
    return claim.core - fillers - _OWNERS


_NUMBER_VERBS = frozenset(
    """got gets back forward pushed down up added now has takes take costs cost need needs lasts last contains includes counts hat dauert kostet betragt enthalt tarda cuesta dura contiene incluye dure coute contient prend total stands sits includes around roughly about
    ungefahr etwa rund unos environ circa approximately weighs wiegt pesa pese pays earns gets verdient gana gagne""".split()
)
_OWNERS = frozenset("user we".split())


def timed(old: Claim, new: Claim) -> Relation | None:
    """When something is."""
    if not old.times or not new.times or old.event or new.event:
        return None
    if not clash(old.times, new.times):
        return None
    quarters = dict(old.times).get("quarter"), dict(new.times).get("quarter")
    if contrasted(old, new) or (quarters[0] != quarters[1] and None not in quarters and len(old.times) > 1):
        return NONE
    first, second = _attribute_stems(old), _attribute_stems(new)
    shared = first & second
    if not shared or new.additional or old.negated != new.negated:
        return None
    if bool(old.verbs & _LAST) != bool(new.verbs & _LAST) and not new.verbs & _EXTENDED and new.change < 2:
        return NONE
    habit = old.person and new.person and old.predicate not in SINGLE and new.change < 1 and not _schedules(old, new)
    if first == second:
        if habit or (old.indefinite and new.indefinite and not new.change):
            return Relation("conflict", "another time")
        return Relation("update", "another time")
    if new.change and (second <= first or first <= second or len(shared) >= 2 and len(first ^ second) <= 3):
        return (
            Relation("update", "another time")
            if second <= first or len(shared) >= 2 or new.change == 2
            else Relation("conflict", "another time")
        )
    if (second <= first or first <= second) and len(first ^ second) <= 1 and not habit and old.person == new.person:
        return Relation("conflict", "another time")
    return None


_EXTENDED = frozenset(
    "extended prolonged shortened renewed verlangert verkurzt ampliado ampliada prorrogado prolonge prolongee extendido extendida".split()
)
_LAST = frozenset(
    "end ends ended ending until bis endet enden termina acaba hasta finit termine jusqu' closes schliesst cierra ferme arrives landet llega".split()
)
"""What says when something is over, not when it is."""


def _schedules(old: Claim, new: Claim) -> bool:
    return old.predicate == "is" or "'s" in old.subject or "'s" in new.subject

"""How two statements relate: the same, a later value of the same thing, a conflict, or nothing to do with one another.

Careful on purpose: a fact that is retired wrongly is worse than two that stand side by side. `update` needs the same subject, the same
thing about it, values that exclude one another or a word that says that it is over, and a clause that tells (not asks, supposes, reports or looks
back). What is less sure is a `conflict`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from leporello.core.facts import cues_words as words
from leporello.core.facts.claims import Claim
from leporello.core.facts.cues_frames import ALMOST_SINGLE, MANY, PERSONAL, SINGLE
from leporello.core.facts.cues_kinds import ATTRIBUTES, COUNTRIES, EXCLUSIVE_KINDS, MANY_NOUNS
from leporello.core.facts.read import Statement, is_single
from leporello.core.facts.same import same
from leporello.core.facts.tokens import stem
from leporello.core.facts.values import MEASURES, Quantity, Times

Kind = Literal["same", "update", "conflict", "none"]


@dataclass(frozen=True)
class Relation:
    """How a later statement relates to an earlier one, and why in a few words that quote neither.

    `same`: says the same; `update`: the later one replaces the earlier; `conflict`: they cannot both be true, but which holds is not sure;
    `none`: independent, additional or more specific.
    """

    kind: Kind
    why: str


NONE = Relation("none", "")
_LATE = {"told": 2, "reported": 1, "future": 1, "past": 0, "maybe": -1, "asked": -1}


def relate(earlier: Statement, later: Statement, *, likeness: float | None = None) -> Relation:
    """How `later` relates to `earlier`. `likeness` is the cosine of their embeddings, if the caller has it."""
    if " ".join(earlier.text.split()).casefold() == " ".join(later.text.split()).casefold():
        return Relation("same", "the same words")
    found = NONE
    for old in earlier.claims[:12]:
        for new in later.claims[:12]:
            relation = _claims(old, new)
            if relation.kind == "update":
                return relation
            if relation.kind == "conflict" and found.kind == "none":
                found = relation
    if found.kind == "conflict":
        return found
    return Relation("same", "says the same") if same(earlier, later, likeness) else NONE


def _claims(old: Claim, new: Claim) -> Relation:
    if old.mode in {"asked", "maybe", "past"} or new.mode in {"asked", "maybe"}:
        return NONE
    if new.mode == "past":
        over = new.used_to and old.predicate == new.predicate != "" and _subjects(old, new) and bool(old.value) and old.value == new.value
        return Relation("conflict", "said to have been so before") if over else NONE
    if not (old.about & new.about or _canonical(old) == _canonical(new) or _family(old, new) or new.gone or new.gone_times or new.ended):
        return NONE
    relation = _led(old, new) or _told(old, new)
    if relation.kind != "update":
        return relation
    if new.mode == "reported":
        return Relation("conflict", f"{relation.why}, but only reported")
    if new.mode == "future" and not _scheduled(old, new):
        return Relation("conflict", f"{relation.why}, but still to come")
    if relation.why != "somebody else now" and _subjects(old, new) < 2:
        return Relation("conflict", f"{relation.why}, but it is not sure of whom")
    return relation


def _led(old: Claim, new: Claim) -> Relation | None:
    """Somebody else now leads the same."""
    if old.predicate != "leads" or new.predicate != "leads" or old.subject == new.subject or frozenset(map(stem, old.value)) != frozenset(map(stem, new.value)) or not old.value:
        return None
    if old.negated or new.negated or old.ended or new.ended or "?" in {old.subject, new.subject}:
        return None
    return Relation("update", "somebody else now") if new.change else Relation("conflict", "somebody else")


def _scheduled(old: Claim, new: Claim) -> bool:
    return bool(old.times and new.times) and not (new.predicate in PERSONAL or new.predicate.startswith("use"))


def _told(old: Claim, new: Claim) -> Relation:
    if not _subjects(old, new):
        return NONE
    for rule in (_given_up, _ended, _polarity, _framed, _numbered, _timed, _attribute, _kinds):
        relation = rule(old, new)
        if relation is not None:
            return relation
    return NONE


# --- who -------------------------------------------------------------------------------------------------------------


def _subjects(old: Claim, new: Claim) -> int:
    """2 where both are about the same, 1 where they may be, 0 where they are not."""
    a, b = old.subject, new.subject
    if a == b:
        return 1 if a == "?" else 2
    if "?" in {a, b}:
        return 1
    if a in {"user", "we"} and b in {"user", "we"}:
        return 2 if new.predicate in {"home"} or not (old.person and new.person) else 1
    framed = old.predicate not in {"", "is"} and new.predicate not in {"", "is"}
    if framed and not new.gone and not new.ended:
        return _named_alike(old, new)
    if old.person and new.person:
        return _named_alike(old, new)
    if old.person != new.person and {a, b} & {"user", "we"} == set() and not (new.gone or new.ended) and "" not in {a, b}:
        return 2 if stem(a) in new.about or stem(b) in old.about else 0
    return 2


def _named_alike(old: Claim, new: Claim) -> int:
    """Alice and Alice Smith; an app and "we", who work on it."""
    a, b = old.subject, new.subject
    if "" in {a, b}:
        return 1
    if old.person and new.person:
        return 2 if a.split()[0] == b.split()[0] and 1 in {len(a.split()), len(b.split())} and "'s" not in a + b else 0
    if "we" in {a, b} and old.predicate.startswith("use") and new.predicate.startswith("use"):
        return 2 if new.change == 2 and new.gone else 1 if new.change else 0
    shared = set(a.split()) & set(b.split())
    return 1 if shared and (shared == set(a.split()) or shared == set(b.split())) else 0


def _family(old: Claim, new: Claim) -> bool:
    return bool({k for k, _ in old.kinds} & {k for k, _ in new.kinds})


# --- over ------------------------------------------------------------------------------------------------------------


def _given_up(old: Claim, new: Claim) -> Relation | None:
    """From A to B, instead of A, Thursday and not Tuesday: the earlier one says A."""
    if old.negated or old.ended or not (new.gone or new.gone_times):
        return None
    if new.gone_times and old.times and _clash(new.gone_times, old.times) is False:
        if old.about & new.about:
            return Relation("update", "corrected")
        return Relation("conflict", "corrected, but it is not sure of what") if not new.about else None
    lost = frozenset(w for w in new.gone if w not in words.STOP)
    if not lost or not lost <= old.about | frozenset(map(stem, old.value)):
        return None
    if new.person != old.person and "user" in {old.subject, new.subject} and old.subject != new.subject:
        return None
    if new.predicate == "prefer" and old.predicate not in {"prefer", "use", "like", ""} and not old.predicate.startswith("use"):
        return None
    extra = len(old.about - lost - new.about)
    return Relation("update", "given up") if extra <= 3 else Relation("conflict", "given up, perhaps only in part")


def _ended(old: Claim, new: Claim) -> Relation | None:
    if not new.ended or old.ended:
        return None
    if old.negated:
        return NONE
    if new.predicate in {"employer", "partner", "job"} and old.predicate in {"employer", "partner", "job"}:
        return _ended_frame(old, new)
    if new.person and old.person and old.subject != new.subject:
        return NONE
    over = frozenset(w for w in new.about if w not in _ENDED_STEMS and not (new.person and w == stem(new.subject))) - _OVER_FILLERS
    if new.predicate == old.predicate and new.predicate not in {"", "is"} and new.value and old.value:
        over = frozenset(map(stem, new.value))
    if new.predicate == old.predicate and new.predicate not in {"", "is"} and not new.value and not old.value:
        return Relation("update", "no longer")
    if not over or not over <= old.about | frozenset(map(stem, old.value)) | old.where | {stem(w) for w in old.verbs}:
        return None if new.predicate == old.predicate and new.change == 2 and new.predicate in SINGLE else NONE
    extra = old.about - over - {stem(new.subject)} - {stem(w) for w in old.subject.split()}
    if len(extra) > max(2, len(over)) and old.predicate not in {"", "is"}:
        return Relation("conflict", "over, perhaps only in part")
    return Relation("update", "no longer")


_ENDED_STEMS = frozenset(map(stem, words.ENDED)) | words.ENDED
_OVER_FILLERS = frozenset("away gav throw threw turn took tak shut phas up down out comer rauch any going doing using being longer anymore mehr got gave rid off giv go us call broke split up ya no plus 不 消 取 停 戒 止 掉 卖 用 再 已 经 去 弃 放 have hab tien dej deje dejo work job".split())


def _ended_frame(old: Claim, new: Claim) -> Relation:
    if new.predicate != old.predicate and {new.predicate, old.predicate} != {"employer", "job"}:
        return NONE
    if not set(new.value) - {"job", "company", "trabajo", "stelle", "empleo"} or new.predicate == "partner" and not new.names:
        return Relation("update", "no longer") if not (new.predicate == "partner" and "single" in old.value) else NONE
    alike = set(new.value) & set(old.value)
    return Relation("update", "no longer") if alike else NONE


def _polarity(old: Claim, new: Claim) -> Relation | None:
    """Yes and no about the same."""
    flipped = (old.negated or old.ended) != new.negated
    if old.predicate == new.predicate == "like" or (old.predicate == new.predicate and old.opposite != new.opposite):
        a, b = old.negated or old.ended, new.negated
        flipped = (a != old.opposite) != (b != new.opposite)
    if not flipped:
        return None
    if old.predicate == new.predicate and old.predicate not in {"", "is"}:
        if not set(old.value) & set(new.value) and (old.value or new.value):
            return NONE if new.predicate not in SINGLE or new.negated else None
        if set(old.value) != set(new.value) and not (set(old.value) <= set(new.value) or set(new.value) <= set(old.value)):
            return NONE
        return Relation("update", "the other way round now") if new.change else Relation("conflict", "yes and no")
    a, b = old.about | old.where, new.about | new.where
    if not a or not b or len(a & b) < max(1, min(len(a), len(b))) or len(a ^ b) > 2:
        return None if new.change == 2 and not new.negated else NONE
    return Relation("update", "the other way round now") if new.change else Relation("conflict", "yes and no")


# --- another value ---------------------------------------------------------------------------------------------------


def _framed(old: Claim, new: Claim) -> Relation | None:
    """Known predicates."""
    a, b = _canonical(old), _canonical(new)
    if a != b or a in {"", "is"}:
        if b.startswith("use") and a.startswith("use") and not (old.kinds and new.kinds) and new.change == 2 and not new.gone:
            return None
        return None
    if old.opposite != new.opposite and old.value != new.value:
        return NONE
    if a.startswith("use"):
        return _used(old, new)
    if a == "prefer":
        return _preferred(old, new)
    if a == "partner" and old.value != new.value:
        return _partners(old, new)
    if not old.value or not new.value or a in MANY or a == "have":
        return None if a in {"eat", "drink"} or old.numbers else NONE
    if old.value == new.value or set(old.value) <= set(new.value) or set(new.value) <= set(old.value):
        return None if a not in SINGLE or old.numbers else NONE
    return _other_value(a, old, new)


def _canonical(claim: Claim) -> str:
    return "home" if claim.predicate == "reside" else claim.predicate


def _other_value(predicate: str, old: Claim, new: Claim) -> Relation:
    if new.additional and not new.change == 2:
        return NONE
    if predicate in SINGLE:
        countries = {w in COUNTRIES for w in (*old.value[-1:], *new.value[-1:])}
        if predicate == "home" and len(countries) == 2 and new.change < 1:
            return Relation("conflict", "a place that may hold the other")
        if predicate == "home" and not (old.names and new.names):
            return NONE
        if predicate == "lead" and old.where != new.where:
            return NONE
        return Relation("update", f"another value of {_title(predicate)}")
    if predicate == "diet":
        return Relation("update", "another diet") if new.change else Relation("update", "another diet")
    if predicate in ALMOST_SINGLE:
        return Relation("update", f"another value of {_title(predicate)}") if new.change else Relation("conflict", "another value")
    return NONE


def _title(predicate: str) -> str:
    return predicate.replace(":", " ")


def _used(old: Claim, new: Claim) -> Relation | None:
    """Tools of one kind for the same purpose."""
    if not old.predicate.startswith("use:"):
        return None
    kind = old.predicate.partition(":")[2]
    a, b = {v for k, v in old.kinds if k == kind}, {v for k, v in new.kinds if k == kind}
    if a & b:
        return None
    if _purposes_differ(old, new) or new.additional:
        return NONE
    if new.change == 2 or (new.change and not new.additional):
        return Relation("update", f"another {kind}")
    if kind in EXCLUSIVE_KINDS and old.subject == new.subject:
        return Relation("update", f"another {kind}")
    return Relation("conflict", f"another {kind}") if not (len(a) > 1 or len(b) > 1) else NONE


def _purposes_differ(old: Claim, new: Claim) -> bool:
    if not (old.predicate.startswith("use") and new.predicate.startswith("use")):
        return False
    a, b = old.where - _GENERAL, new.where - _GENERAL
    return bool(a and b and not a & b) or (bool(b - a) and new.change < 2 and bool(b)) or (bool(a - b) and new.change < 1)


_GENERAL = frozenset("databas project projekt proyecto projet main new primary team production backend datenbank bas base dato default editor ide framework language everything all alle todo".split())


def _preferred(old: Claim, new: Claim) -> Relation | None:
    if new.lesser and (new.lesser <= frozenset(map(stem, old.value)) or old.lesser & frozenset(map(stem, new.value))):
        return Relation("update", "the other preference")
    if old.value == new.value and old.kinds == new.kinds:
        return None
    a, b = dict(old.kinds), dict(new.kinds)
    shared = {k for k in a.keys() & b.keys() if a[k] != b[k]}
    if set(a.items()) & set(b.items()) and not shared:
        return None
    if shared:
        rest_a = old.about - frozenset(map(stem, a.values())) - frozenset(_stems_of(old, shared))
        rest_b = new.about - frozenset(map(stem, b.values())) - frozenset(_stems_of(new, shared))
        if rest_a == rest_b or (rest_a <= rest_b or rest_b <= rest_a) and (new.change or not (old.where and new.where)):
            return Relation("update", "another preference")
        return Relation("conflict", "another preference") if rest_a & rest_b else NONE
    heads = old.value[-1:] == new.value[-1:] and len(old.value) > 1 and len(new.value) > 1
    if heads and (old.where == new.where or new.change):
        return Relation("update", "another preference")
    if new.change and old.where == new.where and old.where:
        return Relation("update", "another preference")
    return None


def _stems_of(claim: Claim, kinds: set[str]) -> set[str]:
    """Stems of the words of the object that give its kind."""
    return {stem(w) for w in claim.verbs if any(v in (w, *w.split("-")) or w.startswith(v[:4]) for k, v in claim.kinds if k in kinds)}


def _partners(old: Claim, new: Claim) -> Relation | None:
    if old.names and new.names and old.names != new.names:
        return Relation("update", "another partner") if not old.names & new.names else None
    single = {"single", "unmarried", "ledig", "soltero", "soltera", "celibataire", "单 身"}
    a, b = old.verbs & single, new.verbs & single
    if bool(a) != bool(b):
        return Relation("update", "another state of partner")
    return None if old.names or new.names else NONE


# --- numbers and times -----------------------------------------------------------------------------------------------


def _numbered(old: Claim, new: Claim) -> Relation | None:
    """Numbers with units of the same thing."""
    if not old.numbers or not new.numbers:
        return None
    for a in old.numbers:
        for b in new.numbers:
            if _comparable(a, b, old, new) and a.value != b.value and not (any(x.value == b.value for x in old.numbers) or any(x.value == a.value for x in new.numbers)):
                relation = _measured(a, b, old, new)
                if relation is not None:
                    return relation
    return None


def _comparable(a: Quantity, b: Quantity, old: Claim, new: Claim) -> bool:
    if a.unit == b.unit:
        return True
    if a.unit and b.unit:
        return False
    named = a.unit or b.unit
    return named not in MEASURES and named in (new.about if a.unit else old.about)


def _measured(a: Quantity, b: Quantity, old: Claim, new: Claim) -> Relation | None:
    first, second = _attribute_stems(old), _attribute_stems(new)
    if a.unit not in MEASURES and b.unit not in MEASURES:
        unit = {a.unit, b.unit}
        first, second = first - unit, second - unit
        if not first and not second and a.unit:
            first = second = frozenset({a.unit})
    events = old.event or new.event
    grown = b.value >= a.value and bool(new.verbs & words.CUMULATIVE or old.verbs & words.CUMULATIVE)
    if _clash(old.times, new.times) and not new.change:
        return NONE
    if (old.negated != new.negated) or events and not (grown or new.change == 2):
        return NONE
    if new.additional and new.change < 2:
        return NONE
    extra = second - first
    if first == second and (first or new.change):
        return Relation("update", "another number")
    if new.change and first & second and (not extra or not first - second or len(first & second) >= 2):
        return Relation("update", "another number") if len(first ^ second) <= 4 or new.change == 2 else None
    if grown and (not first - second or not extra) and a.unit == b.unit:
        return Relation("update", "another number")
    if a.unit in MEASURES and first & second and (not extra or not first - second) and not events and len(first ^ second) <= 1 and old.subject == new.subject:
        return Relation("conflict", "another number")
    return None


def _attribute_stems(claim: Claim) -> frozenset[str]:
    """What tells which attribute a claim is about."""
    fillers = frozenset(map(stem, claim.verbs & (words.CUMULATIVE | _NUMBER_VERBS)))
    return claim.about - fillers - _OWNERS


_NUMBER_VERBS = frozenset(
    """added now has takes take costs cost need needs lasts last contains includes counts hat dauert kostet betragt enthalt tarda cuesta dura contiene incluye dure coute contient prend total stands sits includes around roughly about
    ungefahr etwa rund unos environ circa approximately weighs wiegt pesa pese pays earns gets verdient gana gagne""".split()
)
_OWNERS = frozenset("user we".split())


def _timed(old: Claim, new: Claim) -> Relation | None:
    """When something is."""
    if not old.times or not new.times or old.event or new.event:
        return None
    clash = _clash(old.times, new.times)
    if not clash:
        return None
    if old.numbers and new.numbers and old.numbers == new.numbers and False:
        return None
    first, second = _attribute_stems(old), _attribute_stems(new)
    shared = first & second
    if not shared or new.additional or old.negated != new.negated:
        return None
    if bool(old.verbs & _LAST) != bool(new.verbs & _LAST):
        return NONE
    habit = old.person and new.person and old.predicate not in SINGLE and new.change < 1 and not _schedules(old, new)
    if first == second:
        if habit or (old.indefinite and new.indefinite and not new.change):
            return Relation("conflict", "another time")
        return Relation("update", "another time")
    if new.change and (second <= first or first <= second or len(shared) >= 2 and len(first ^ second) <= 3):
        return Relation("update", "another time") if second <= first or len(shared) >= 2 or new.change == 2 else Relation("conflict", "another time")
    if (second <= first or first <= second) and len(first ^ second) <= 1 and not habit and old.person == new.person:
        return Relation("conflict", "another time")
    return None


_LAST = frozenset("end ends ended ending until bis endet enden termina acaba hasta finit termine jusqu' closes schliesst cierra ferme arrives landet llega".split())
"""What says when something is over, not when it is."""


def _schedules(old: Claim, new: Claim) -> bool:
    return old.predicate == "is" or "'s" in old.subject or "'s" in new.subject


def _clash(a: Times, b: Times) -> bool | None:
    """True where a facet that both name differs, False where all that both name agree, None where they name different facets."""
    first, second = dict(a), dict(b)
    shared = first.keys() & second.keys()
    if not shared:
        return None
    return any(not first[f] & second[f] for f in shared)


# --- attributes ------------------------------------------------------------------------------------------------------


def _attribute(old: Claim, new: Claim) -> Relation | None:
    """X is Y: names, words of one kind, and anything for nouns that name an attribute."""
    if "is" not in {old.predicate, new.predicate} or not old.value or not new.value or old.times or new.times:
        return None
    if old.numbers or new.numbers or new.additional:
        return None
    first, second = old.where, new.where
    if old.predicate != "is" or new.predicate != "is" or not first or not second:
        return None
    same_thing = first == second or (bool(new.change) and (second < first or first < second) and len(first & second) >= 1)
    if not same_thing or set(old.value) & set(new.value) and len(set(old.value) ^ set(new.value)) < 1:
        return None
    if (first | second) & MANY_NOUNS or (set(old.verbs) & MANY_NOUNS):
        return Relation("update", "another value") if new.change else None
    if old.value == new.value or set(old.value) <= set(new.value) or set(new.value) <= set(old.value):
        return None
    return _values(old, new)


def _values(old: Claim, new: Claim) -> Relation | None:
    a, b = dict(old.kinds), dict(new.kinds)
    shared = {k for k in a.keys() & b.keys() if a[k] != b[k]}
    if shared and len(old.value) <= 3 and len(new.value) <= 3:
        return Relation("update", "another value")
    telling = {w for w in old.verbs & new.verbs if w in ATTRIBUTES or stem(w) in ATTRIBUTES or w.startswith(("lieblings", "favo"))}
    if telling and not old.indefinite | new.indefinite:
        return Relation("update", "another value")
    if old.names and new.names and not old.names & new.names and not (old.person or new.person) and len(old.value) <= 3 and len(new.value) <= 3:
        return Relation("update", "another name")
    if new.change == 2 and len(old.value) <= 3 and len(new.value) <= 3:
        return Relation("update", "another value")
    return None


def _kinds(old: Claim, new: Claim) -> Relation | None:
    """Two words of one kind in the same frame of words ("uses tabs", "uses spaces"), or after a verb of change."""
    a, b = dict(old.kinds), dict(new.kinds)
    shared = {k for k in a.keys() & b.keys() if a[k] != b[k]}
    if not shared or old.negated != new.negated or new.additional or old.event or new.event:
        return None
    kind = min(shared)
    rest_a = old.about - _stems_of(old, shared) - {stem(a[kind])}
    rest_b = new.about - _stems_of(new, shared) - {stem(b[kind])}
    if new.change == 2 and kind in rest_a | old.verbs and not (rest_a & new.about) and old.subject.split("'")[0] in {new.subject, "we", "user"}:
        return Relation("update", f"another {kind}")
    if new.change == 2 and (rest_b <= rest_a or len(rest_a & rest_b) >= 1) and not _purposes_differ(old, new):
        return Relation("update", f"another {kind}")
    if rest_a == rest_b and old.subject == new.subject:
        if kind in EXCLUSIVE_KINDS or new.change:
            return Relation("update", f"another {kind}")
        return Relation("conflict", f"another {kind}") if old.predicate not in MANY or new.change else NONE
    return None


__all__ = ["Relation", "is_single", "relate"]

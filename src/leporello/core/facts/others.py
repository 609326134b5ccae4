"""Another value of the same thing: of a known predicate, a number, a time, an attribute."""

from __future__ import annotations

from leporello.core.facts.claim import Claim, contrasted
from leporello.core.facts.cues_frames import ALMOST_SINGLE, MANY, OPEN_VERBS, SINGLE
from leporello.core.facts.cues_kinds import ATTRIBUTES, COUNTRIES, EXCLUSIVE_KINDS, MANY_NOUNS, TOWNS
from leporello.core.facts.cues_words import NOW
from leporello.core.facts.relation import NONE, Relation
from leporello.core.facts.tokens import stem
from leporello.core.facts.values import clash


def framed(old: Claim, new: Claim) -> Relation | None:
    """Known predicates."""
    a, b = canonical(old), canonical(new)
    if a != b or a in {"", "is"} or old.ended:
        return None
    if old.opposite != new.opposite and old.value != new.value:
        return NONE
    if a.startswith("use"):
        return _used(old, new)
    if a == "prefer":
        return _preferred(old, new)
    if a == "partner" and (old.value != new.value or (old.verbs ^ new.verbs) & _SINGLE):
        return _partners(old, new)
    if not old.value or not new.value or a in MANY or a == "have":
        return None if a in {"eat", "drink"} or old.numbers else NONE
    if old.value == new.value or set(old.value) <= set(new.value) or set(new.value) <= set(old.value) or _compound(old, new):
        return None if a not in SINGLE or old.numbers else NONE
    return _other_value(a, old, new)


def _compound(old: Claim, new: Claim) -> bool:
    """Arzt, Kinderarzt: more exactly the same."""
    return any(len(w) > 3 and v != w and v.endswith(w) for v in new.value for w in old.value)


def canonical(claim: Claim) -> str:
    """Where somebody lives and where something is are one predicate."""
    return "home" if claim.predicate == "reside" else claim.predicate


def _other_value(predicate: str, old: Claim, new: Claim) -> Relation:
    if new.additional and not new.change == 2:
        return NONE
    first, second = dict(old.times).get("year"), dict(new.times).get("year")
    if first and second and max(second) <= min(first):  # where somebody moved to before
        return NONE
    if predicate == "named" and (old.indefinite or new.indefinite):
        return NONE
    if predicate in SINGLE:
        countries = {w in COUNTRIES for w in (*old.value[-1:], *new.value[-1:])}
        if predicate == "home" and len(countries) == 2:
            if any(TOWNS.get(w, frozenset()) & set(other) for one, other in ((old.value, new.value), (new.value, old.value)) for w in one):
                return NONE
            return Relation("conflict", "a place that may hold the other")
        if predicate == "home" and not (old.names and new.names):
            return NONE
        if predicate == "lead" and old.where != new.where:
            return NONE
        return Relation("update", f"another value of {_title(predicate)}")
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
    told = {stem(w) for v in (*a, *b) for w in v.split("-")} | {stem(kind)}
    if old.where - _GENERAL - new.core and new.core - told - old.core - new.towards - _GENERAL - set(map(stem, new.subject.split())):
        return Relation("conflict", f"another {kind}, perhaps of another")
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


_GENERAL = frozenset(
    "databas project projekt proyecto projet main new primary team production backend datenbank bas base dato default editor ide framework language everything all alle todo".split()
)


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
        return Relation("conflict", "another preference") if rest_a & rest_b and not (old.where and new.where) else NONE
    heads = old.value[-1:] == new.value[-1:] and len(old.value) > 1 and len(new.value) > 1
    if heads and (old.where == new.where or new.change):
        return Relation("update", "another preference")
    if new.change and old.where == new.where and old.where:
        return Relation("update", "another preference")
    return None


def _stems_of(claim: Claim, kinds: set[str]) -> set[str]:
    """Stems of the words of the object that give its kind."""
    return {stem(w) for w in claim.verbs if any(v in (w, *w.split("-")) or w.startswith(v[:4]) for k, v in claim.kinds if k in kinds)}


_SINGLE = frozenset("single unmarried ledig soltero soltera celibataire 单".split())


def _partners(old: Claim, new: Claim) -> Relation | None:
    if old.names and new.names and old.names != new.names:
        return Relation("update", "another partner") if not old.names & new.names else None
    a, b = old.verbs & _SINGLE, new.verbs & _SINGLE
    if bool(a) != bool(b):
        return Relation("update", "another state of partner")
    return None if old.names or new.names else NONE


def attribute(old: Claim, new: Claim) -> Relation | None:
    """X is Y: names, words of one kind, and anything for nouns that name an attribute."""
    if "is" not in {old.predicate, new.predicate} or not old.value or not new.value or old.times or new.times:
        return None
    if old.numbers or new.numbers or new.additional:
        return None
    first, second = old.where, new.where
    if old.predicate != "is" or new.predicate != "is" or not first or not second:
        return None
    if contrasted(old, new) or ("'s" in old.verbs) != ("'s" in new.verbs):
        return None
    same_thing = first == second or (bool(new.change) and (second < first or first < second) and len(first & second) >= 1)
    if not same_thing or set(old.value) & set(new.value) and len(set(old.value) ^ set(new.value)) < 1:
        return None
    if old.single and new.single and first == second and old.value != new.value:
        return Relation("update", "another value")
    if (first | second) & MANY_NOUNS or (set(old.verbs) & MANY_NOUNS):
        return Relation("update", "another value") if new.change else None
    if old.value == new.value or set(old.value) <= set(new.value) or set(new.value) <= set(old.value):
        return None
    return _values(old, new)


def _values(old: Claim, new: Claim) -> Relation | None:
    a, b = dict(old.kinds), dict(new.kinds)
    shared = {k for k in a.keys() & b.keys() if a[k] != b[k]}
    told = old.where | new.where | {stem(w) for v in (*a.values(), *b.values()) for w in v.split("-")}
    rest, other = old.core - told, new.core - told
    if shared and rest and other and not rest & other:
        return None
    if shared and len(old.value) <= 3 and len(new.value) <= 3:
        return Relation("update", "another value")
    telling = {w for w in old.verbs & new.verbs if w in ATTRIBUTES or stem(w) in ATTRIBUTES or w.startswith(("lieblings", "favo"))}
    if telling and not old.indefinite | new.indefinite:
        return Relation("update", "another value")
    if (
        old.names
        and new.names
        and not old.names & new.names
        and not (old.person or new.person)
        and len(old.value) <= 3
        and len(new.value) <= 3
    ):
        return Relation("update", "another name")
    if new.change == 2 and len(old.value) <= 3 and len(new.value) <= 3:
        return Relation("update", "another value")
    return None


_SWITCHED = frozenset(
    "back switched switching changed gewechselt umgestiegen wechselte cambie cambio cambiamos cambiado pase passe passee change".split()
)


def switched(old: Claim, new: Claim) -> Relation | None:
    """Switched to the day shift, to another hotel: the same noun with another word."""
    if (
        not new.verbs & _SWITCHED
        or new.predicate != "use"
        or not new.value
        or old.subject != new.subject
        or old.negated
        or new.negated
        or new.ended
    ):
        return None
    mine, shared = frozenset(map(stem, new.value)), frozenset(map(stem, new.value)) & old.about
    return Relation("update", "switched") if shared and mine - shared and len(old.about - shared) <= 3 and not old.event else None


RENAMED = frozenset("renamed rename rebranded umbenannt renombramos renombro renombrado rebautizado renomme renommee rebaptise 改".split())
_NAMED = frozenset("named called name titled heisst namens llama llamado llamada appelle nomme nom 叫 名".split())
_NAMED_STEMS = frozenset(map(stem, _NAMED))


def rebaptised(old: Claim, new: Claim) -> Relation | None:
    """The class is called A, and then A was renamed to B."""
    value = frozenset(map(stem, old.value)) - _NAMED_STEMS
    if not new.verbs & RENAMED or not old.verbs & _NAMED or new.negated or old.negated or not value or not value <= new.core:
        return None
    return Relation("update", "another name now") if value != frozenset(map(stem, new.value)) else None


def renamed(old: Claim, new: Claim) -> Relation | None:
    """My roommate is called Stefan, my roommate is now Yuki."""
    if {old.predicate, new.predicate} != {"named", "is"} or old.subject != new.subject or "'s" not in old.subject or not new.change:
        return None
    return Relation("update", "another name") if old.names and new.names and not old.names & new.names else None


def kinds(old: Claim, new: Claim) -> Relation | None:
    """Two words of one kind in the same frame of words ("uses tabs", "uses spaces"), or after a verb of change."""
    a, b = dict(old.kinds), dict(new.kinds)
    shared = {k for k in a.keys() & b.keys() if a[k] != b[k]}
    if not shared or old.negated != new.negated or new.additional or old.event or (new.event and new.change < 2):
        return None
    kind = min(shared)
    if old.verbs & new.verbs & OPEN_VERBS:
        return NONE
    rest_a = old.about - _stems_of(old, shared) - {stem(a[kind])}
    rest_b = new.about - _stems_of(new, shared) - {stem(b[kind])}
    if (
        new.change == 2
        and kind in rest_a | old.verbs
        and not (rest_a & new.about)
        and old.subject.split("'")[0] in {new.subject, "we", "user"}
    ):
        return Relation("update", f"another {kind}")
    if rest_a - rest_b - old.gone and rest_b - rest_a - new.towards and old.where - new.core:
        return Relation("conflict", f"another {kind}, perhaps of another") if new.change == 2 else None
    if (
        (new.change == 2 or (new.change and "prefer" in {old.predicate, new.predicate}))
        and (rest_b <= rest_a or len(rest_a & rest_b) >= 1)
        and not _purposes_differ(old, new)
    ):
        return Relation("update", f"another {kind}")
    if rest_a == rest_b and old.subject == new.subject:
        if kind in EXCLUSIVE_KINDS or new.change:
            return Relation("update", f"another {kind}")
        return Relation("conflict", f"another {kind}") if old.predicate not in MANY or new.change else NONE
    return None


NEW = frozenset("new neue neuer neues neuen neuem nuevo nueva nuevos nuevas nouveau nouvelle nouvel nouveaux".split())
_HAVING = frozenset("hav meet go do".split())


def _thing(claim: Claim) -> frozenset[str]:
    return frozenset() if claim.names & set(claim.subject.split()) else frozenset(map(stem, claim.subject.split()))


def renumbered(old: Claim, new: Claim) -> Relation | None:
    """Another telephone number, address of mail, code: long numbers in place of one another, where something says that it changed."""
    mine, other = (frozenset(w for w in (*c.value, *c.about) if sum(map(str.isdigit, w)) > 5 or "@" in w) for c in (old, new))
    if not mine or not other or mine & other or not new.change or new.additional or old.negated or new.negated:
        return None
    extra = new.about - other - old.about - old.where
    return Relation("update", "another number") if not extra - _HAVING else None


def labelled(old: Claim, new: Claim) -> Relation | None:
    """Moved from room 12 to room 20: another number after the same noun."""
    if not new.change or old.subject != new.subject or new.negated or old.negated or new.additional:
        return None
    first, second = ({w.rstrip("0123456789"): w for w in c.core if w[-1:].isdigit() and w[0].isalpha() and w.isalnum()} for c in (old, new))
    told = {n for n in first.keys() & second.keys() if n and first[n] != second[n]}
    return Relation("update", "another number") if told and len(old.core ^ new.core) <= 4 else None


def relocated(old: Claim, new: Claim) -> Relation | None:
    """Stored in a file, and then moved to a safe: something is at another place, on another tool."""
    if not new.verbs & _RELOCATED or not new.verbs & TOWARDS or new.negated or new.ended or old.negated or old.event:
        return None
    if not (old.predicate.startswith("use") or old.predicate in {"reside", "is", "home"}) or not old.verbs & AT or old.person or old.times:
        return None
    shared, first, second = old.core & new.core, old.core - new.core - _KEPT, new.core - old.core
    if new.core - new.towards - old.core - _MOVING or not shared - new.towards:  # another thing, or a part of it
        return None
    mine, other = {k for k, _ in old.kinds}, {k for k, _ in new.kinds}
    if not shared or len(first) > 2 or not 1 <= len(second) <= 2 or (mine and other and not mine & other):
        return None
    return Relation("update", "at another place")


_RELOCATED = frozenset(
    "moved migrated transferred relocated ported shifted verschoben verlegt umgezogen migriert trasladamos movimos migramos deplace migre 移 迁 搬".split()
)
_MOVING = frozenset(map(stem, _RELOCATED)) | {"got", "woch", "week", "month", "monat"}
TOWARDS = frozenset("to into onto nach auf zu in bei an a al en chez vers dans sur 到".split())
AT = frozenset("in on at auf bei im en dans sur chez stored kept hosted 在".split())
_KEPT = frozenset("stor kept host keep liv gespeichert guardad stock".split())


def retuned(old: Claim, new: Claim) -> Relation | None:
    """My steak rare, my steak well done now: the same liked, had or drunk in another way."""
    if not new.change or old.predicate != new.predicate or old.subject != new.subject or old.predicate not in {"like", "eat", "drink"}:
        return None
    if old.opposite != new.opposite or old.negated or new.negated or old.ended or new.ended or new.additional:
        return None
    if len(old.value) < 2 or len(new.value) < 2 or old.value[0] != new.value[0] or set(old.value) & set(new.value[1:]):
        return None
    return Relation("update", "in another way now")


def _one_kind(old: Claim, new: Claim) -> bool:
    """Two names, two nouns, two times: not "fast" and "documented"."""
    if old.names and new.names or old.kinds and new.kinds or set(old.value) & set(new.value):
        return True
    return bool(old.indefinite and new.indefinite) or len(old.value) > 1 or len(new.value) > 1 or "'s" in old.subject


def aligned(old: Claim, new: Claim) -> Relation | None:
    """The same words but for one or two, and a word that says that it is so now."""
    if not new.change or old.negated or new.negated or old.ended or new.ended or new.additional or old.additional:
        return None
    if (
        old.event
        or new.event
        or (old.predicate in MANY or new.predicate in MANY)
        and not (set(old.value) & set(new.value) and old.where)
        or "have" in {old.predicate, new.predicate}
        or not (old.subject == new.subject or (old.subject in {"we", "user"} and _thing(new) and _thing(new) <= old.about))
    ):
        return None
    if new.change == 1 and (new.predicate != "is" or new.person or len(new.core) > 5) and new.verbs & NEW and not new.verbs & (NOW - NEW):
        return None
    if clash(old.times, new.times) or old.numbers or new.numbers or (old.indefinite and new.indefinite and new.change < 2):
        return None
    if old.verbs & new.verbs & OPEN_VERBS and new.change < 2 and not (old.person and new.person and "supports" in old.verbs):
        return None
    shared, first, second = old.core & new.core, old.core - new.core - _HAVING, new.core - old.core - _HAVING
    if (
        old.predicate != new.predicate
        and (new.change < 2 or {old.predicate, new.predicate} - {"", "is", "use"})
        or not (1 <= len(first) <= 2 and 1 <= len(second) <= 2)
    ):
        return None
    if new.change == 1 and new.predicate == "is" and not _one_kind(old, new):
        return None
    people = {old.subject.split("'")[0]} if old.person else set()
    return Relation("update", "so now") if len(shared - people) >= len(first | second) - 1 and shared - people else None

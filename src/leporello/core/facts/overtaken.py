"""The same thing has another value: said in other words, but with a verb that says that it changed."""

from __future__ import annotations

from leporello.core.facts.claim import Claim, contrasted
from leporello.core.facts.others import RENAMED
from leporello.core.facts.relation import Relation
from leporello.core.facts.tokens import stem
from leporello.core.facts.values import MEASURES, clash

_SHOWN = frozenset(
    map(
        stem,
        "got is are was been be had now new called named titled heisst heißt namens llama appelle nommé renamed set named done made".split(),
    )
)
"""Stems that tell nothing of the thing or of its value."""
_STANDS = frozenset(
    map(
        stem,
        "steht liegt läuft lauft hangt sits runs lives stands hosted stored kept located heberge heberges gespeichert gehostet alojado alojada guardado esta".split(),
    )
)
_TOWARDS = frozenset("to into onto nach auf zu in bei an a al en chez vers dans sur 到 renamed".split())
_AT = frozenset("in on at auf bei im en dans sur chez hosted kept stored 在".split())
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
    if old.times or new.times or old.numbers or new.numbers or not new.verbs & _TOWARDS:
        return None
    if not (old.verbs & _AT or new.verbs & RENAMED) or new.core - new.towards - thing - old.core - _SHOWN:
        return None
    first = _left(old, thing, new)
    second = _left(new, thing, old) | (frozenset(map(stem, new.value)) - _SHOWN - thing if new.predicate == "reside" else frozenset())
    return Relation("update", "another value now") if 1 <= len(first) <= 2 and 1 <= len(second) <= 2 else None


def shut_off(old: Claim, new: Claim) -> Relation | None:
    """We use Jenkins, and then Jenkins is shut down for good: what was used is no more. That it is down says nothing."""
    used = (
        new.subject in old.value
        if old.predicate.startswith("use")
        else any(v == new.subject for _, v in old.kinds) and old.subject in {"we", "user"}
    )
    if not used or old.negated or new.negated or new.times:
        return None
    off = new.ended or (new.change == 2 and ("power", 1) in new.states)
    return Relation("update", "no longer there") if off and new.core <= frozenset(map(stem, (new.subject, *_OFF))) else None


_OFF = "shut down switched turned off retired gone decommissioned discontinued abgeschaltet eingestellt apagado desactivado arrete supprime service".split()


_NEW = frozenset("new neue neuen neuer neues nueva nuevo nouveau nouvelle".split())
_GOT = frozenset("got have has get hat habe haben bekommen tengo tiene tenemos ai a avons".split())
_ONE_EACH = frozenset(
    map(
        stem,
        "landlord landlady boss manager doctor dentist therapist teacher coach trainer phone address email name nickname salary title vermieter vermieterin chef chefin arzt arztin zahnarzt hausarzt lehrer lehrerin adresse jefe jefa medico medica dentista casero casera profesor profesora direccion proprietaire medecin dentiste adresse".split(),
    )
)
_TRADED = frozenset("changed switched change switch gewechselt wechselte cambie cambio change changee".split())


def traded(old: Claim, new: Claim) -> Relation | None:
    """My doctor is Dr Patel, and then I changed doctors: whoever it is now, it is another."""
    fresh = bool(new.verbs & _NEW and new.verbs & _GOT)
    traded_in = bool(new.verbs & _TRADED) and new.change == 2 and not new.value
    if not (fresh or traded_in) or new.negated or new.ended or new.additional or old.negated or old.predicate not in {"is", "named"}:
        return None
    noun = new.core - frozenset(map(stem, new.subject.split()))
    noun = noun & _ONE_EACH if fresh else noun
    owner, owned, rest = old.subject.partition("'s ")
    same = bool(owned) and owner == new.subject and frozenset(map(stem, rest.split())) == noun
    return Relation("update", "another now") if same and len(noun) == 1 and not old.times and not old.numbers else None


_LEFT = frozenset("left quit resigned retired died fired gegangen gekundigt dejo renuncio quitte demissionne".split())
_FIRM = frozenset(map(stem, "company firm team organisation organization us job firma unternehmen empresa entreprise team".split()))
_ROLES = frozenset("manager boss lead cto ceo cfo supervisor director head contact mentor chef chefin jefe jefa patron".split())


def left_role(old: Claim, new: Claim) -> Relation | None:
    """Priya is my manager, and then Priya left the company."""
    ours = old.predicate == "is" and old.subject.startswith("we's ")
    if (
        not new.ended
        or not new.person
        or not new.verbs & _LEFT
        or old.negated
        or not (ours or (set(old.value) | set(old.subject.split())) & _ROLES)
    ):
        return None
    who = stem(new.subject)
    rest = new.core - {who} - _FIRM - frozenset(map(stem, _LEFT)) - {stem(w) for w in _ROLES}
    named = who in {stem(w) for w in (*old.value, *old.subject.split())}
    return Relation("update", "no longer") if named and not rest else None


_BOSSES = frozenset("manager boss supervisor chef chefi chefin jef jefa jefe patro patron vorgesetzter".split())


def another_boss(old: Claim, new: Claim) -> Relation | None:
    """My manager is Priya, and then Tom is my manager now."""
    owner, owned, rest = new.subject.partition("'s ")
    if (
        old.predicate != "boss"
        or new.predicate != "is"
        or not owned
        or owner != old.subject
        or rest not in _BOSSES
        or new.negated
        or old.negated
    ):
        return None
    return Relation("update", "another boss") if new.change and new.value and not set(new.value) & set(old.value) else None

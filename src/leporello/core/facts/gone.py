"""What somebody had is gone or another: a tool that is shut off, a doctor who was changed, a manager who left."""

from __future__ import annotations

from leporello.core.facts.claim import Claim
from leporello.core.facts.others import NEW
from leporello.core.facts.relation import Relation
from leporello.core.facts.tokens import stem


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
    return Relation("update", "no longer there") if off and new.core <= _OFF | {stem(new.subject)} else None


_OFF = frozenset(
    map(
        stem,
        "shut down switched turned off retired gone decommissioned discontinued abgeschaltet eingestellt apagado desactivado arrete supprime service".split(),
    )
)

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
    fresh = bool(new.verbs & NEW and new.verbs & _GOT)
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
_LEAVING = frozenset(map(stem, _LEFT | _ROLES))


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
    rest = new.core - {who} - _FIRM - _LEAVING
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

"""How two statements relate: the same, a later value of the same thing, a conflict, or nothing to do with one another.

Careful on purpose: a fact that is retired wrongly is worse than two that stand side by side. `update` needs the same subject, the same
thing about it, values that exclude one another or a word that says that it is over, and a clause that tells (not asks, supposes, reports or looks
back). What is less sure is a `conflict`.
"""

from __future__ import annotations

from leporello.core.facts.claim import Claim, unhedged
from leporello.core.facts.cues_frames import PERSONAL
from leporello.core.facts.cues_words import OTHERS
from leporello.core.facts.differs import code_apart, numbered_apart, owned_apart, worded_alike
from leporello.core.facts.ends import INTENT, ended, fulfilled, gained, given_up, jobless, led, polarity, stated
from leporello.core.facts.gone import another_boss, left_role, shut_off, traded
from leporello.core.facts.measures import numbered, timed
from leporello.core.facts.others import (
    aligned,
    attribute,
    canonical,
    framed,
    kinds,
    labelled,
    rebaptised,
    relocated,
    renamed,
    renumbered,
    retuned,
    switched,
)
from leporello.core.facts.overtaken import overtaken
from leporello.core.facts.read import Statement
from leporello.core.facts.relation import NONE, Relation
from leporello.core.facts.same import same
from leporello.core.facts.tokens import stem
from leporello.core.facts.which import elsewhere, limited, narrower

__all__ = ["Relation", "relate"]


def relate(earlier: Statement, later: Statement, *, likeness: float | None = None) -> Relation:
    """How `later` relates to `earlier`. `likeness` is the cosine of their embeddings, if the caller has it."""
    if worded_alike(earlier.text, later.text):
        return Relation("same", "the same words")
    if code_apart(earlier.text, later.text) or (earlier.topic != later.topic and earlier.topic and later.topic):
        return NONE
    if max(len(earlier.claims), len(later.claims)) > _PROSE:
        return Relation("same", "says the same") if same(earlier, later, likeness) else NONE
    found = NONE
    for old in earlier.claims[:12]:
        for new in later.claims[:12]:
            relation = _under(earlier, later, _between(old, new))
            if relation.kind == "update":
                return relation
            if relation.kind == "conflict" and found.kind == "none":
                found = relation
    if found.kind == "conflict":
        return found
    return Relation("same", "says the same") if same(earlier, later, likeness) else NONE


_PROSE = 8
"""Clauses of what is a text rather than a statement: one of them that changed does not end it."""


def _under(earlier: Statement, later: Statement, relation: Relation) -> Relation:
    """What is filed under something may be about that only."""
    if earlier.topic == later.topic or relation.kind != "update":
        return relation
    return Relation("conflict", f"{relation.why}, but it is not sure of what")


def _between(old: Claim, new: Claim) -> Relation:
    """What might be otherwise is a conflict at most."""
    if numbered_apart(old, new) or owned_apart(old, new):
        return NONE
    supposed = unhedged(new) if new.mode == "maybe" else None
    if supposed is None:
        return _claims(old, new)
    relation = _claims(old, supposed)
    return Relation("conflict", f"{relation.why}, but only supposed") if relation.kind in {"update", "conflict"} else NONE


def _claims(old: Claim, new: Claim) -> Relation:
    if old.mode in {"asked", "past"} or new.mode in {"asked", "maybe"}:
        return NONE
    if old.mode == "maybe":
        return _meant(old, new)
    if new.mode == "past" and new.states and not new.used_to and (told := stated(old, new)) is not None and _subjects(old, new) == 2:
        return told
    if new.mode == "past":
        over = new.used_to and old.predicate == new.predicate != "" and _subjects(old, new) and bool(old.value) and old.value == new.value
        return Relation("conflict", "said to have been so before") if over else NONE
    if not (
        old.about & new.about
        or (new.numbers and {q.unit for q in old.numbers} & {q.unit for q in new.numbers} & {"age"})
        or canonical(old) == canonical(new)
        or _family(old, new)
        or old.predicate == "boss"
        or new.gone
        or new.gone_times
        or new.ended
    ):
        return NONE
    relation = led(old, new) or rebaptised(old, new) or _told(old, new)
    if elsewhere(old, new):
        return NONE
    doubt = _doubt(old, new, relation.why) if relation.kind == "update" else ""
    return Relation("conflict", f"{relation.why}, {doubt}") if doubt else relation


def _doubt(old: Claim, new: Claim, why: str) -> str:
    """What speaks against retiring the earlier one; "" for nothing."""
    if new.mode == "reported":
        return "but only reported"
    if new.mode == "future" and old.mode != "future" and not _scheduled(old, new):
        return "but still to come"
    if why in _MEASURED and old.subject not in {"user", "we"} and narrower(old, new):
        return "perhaps of another"
    if limited(old, new) or (why == "no longer" and (new.about - new.core) & _HOURS and not old.about & _HOURS):
        return "perhaps only in part"
    if why not in _MEASURED and (new.verbs & _FOR_A_WHILE) - old.verbs:
        return "perhaps only for a while"
    if why in _AT_A_TIME and _this_once(old, new):
        return "perhaps only this once"
    if why not in _NAMED and _subjects(old, new) < 2:
        return "but it is not sure of whom"
    return ""


_FOR_A_WHILE = frozenset("temporarily until vorubergehend bis hasta temporalmente provisoirement jusqu'".split())
_HOURS = frozenset(
    map(
        stem,
        "lunch dinner breakfast noon midnight sunset dark work bedtime mittag mittagessen abendessen feierabend comer cenar almuerzo cena midi diner".split(),
    )
)
_NAMED = frozenset({"somebody else now", "another name now", "another number now", "another time now", "another value now"})
"""Reasons for which it is named what it is about, so that whoever did it is not asked."""
_MEASURED = frozenset({"another number", "another time", "another number now", "another time now", "another value now", "at another place"})
_AT_A_TIME = frozenset({"no longer", "another time", "another time now", "the other way round now"})


def _this_once(old: Claim, new: Claim) -> bool:
    """I have yoga on Mondays, and this Monday not."""
    told = new.verbs & _THIS and not old.verbs & _THIS and bool(new.verbs & _WEEK or new.times)
    return bool(told) and "month" not in dict(old.times) and not new.verbs & _ONWARD


_THIS = frozenset("this diese diesen dieser este esta ce cette".split())
_WEEK = frozenset("week weekend woche wochenende semana semaine".split())
_ONWARD = frozenset("starting beginning of as from ab since seit desde depuis".split())


def _meant(old: Claim, new: Claim) -> Relation:
    """What somebody wanted or considered is given up, or done."""
    if not old.verbs & INTENT or old.verbs & _SUPPOSED or new.mode not in {"told", "past"} or _subjects(old, new) < 2:
        return NONE
    return fulfilled(old, new) or (ended(old, new) if new.ended else None) or (polarity(old, new) if new.negated else None) or NONE


_SUPPOSED = frozenset("if unless wenn falls si ob whether would could".split())


def _scheduled(old: Claim, new: Claim) -> bool:
    if new.predicate == "reside" and not new.person and not old.person:
        return True
    return bool(old.times and new.times) and not (new.predicate in PERSONAL or new.predicate.startswith("use"))


def _told(old: Claim, new: Claim) -> Relation:
    if not _subjects(old, new):
        return NONE
    for rule in (
        jobless,
        given_up,
        shut_off,
        traded,
        left_role,
        another_boss,
        stated,
        ended,
        fulfilled,
        gained,
        polarity,
        labelled,
        retuned,
        framed,
        numbered,
        timed,
        attribute,
        switched,
        renamed,
        renumbered,
        relocated,
        kinds,
        aligned,
        overtaken,
    ):
        relation = rule(old, new)
        if relation is not None:
            return relation
    return NONE


def _subjects(old: Claim, new: Claim) -> int:
    """2 where both are about the same, 1 where they may be, 0 where they are not."""
    a, b = old.subject, new.subject
    if a == b:
        return 2 if a != "?" or old.verbs & new.verbs & OTHERS else 1
    if "you" in new.verbs and old.subject in {"user", ""} and new.subject in {"", "?"}:
        return 2
    if "?" in {a, b}:
        return 2 if b == "?" and not old.person and new.change == 2 and new.times and old.times else 1
    if _numbered(old) != _numbered(new):
        return 0
    if a in {"user", "we"} and b in {"user", "we"}:
        return 2 if new.predicate in {"home"} or not (old.person and new.person) else 1
    if new.ended and len(b.split()) == 1 and b in {stem(v) for v in old.value} | set(old.value) and new.about & old.about:
        return 2
    framed = old.predicate not in {"", "is"} and new.predicate not in {"", "is"}
    if framed and not new.gone and not new.ended:
        return _named_alike(old, new)
    if old.person and new.person:
        return _named_alike(old, new)
    if old.person != new.person and {a, b} & {"user", "we"} == set() and not (new.gone or new.ended) and "" not in {a, b}:
        return 2 if stem(a) in new.about or stem(b) in old.about else 0
    return 2


def _numbered(claim: Claim) -> bool:
    """User 6, rather than the user."""
    return bool(claim.marked) and claim.subject in {f"{noun} {number}" for noun, number in claim.marked}


def _named_alike(old: Claim, new: Claim) -> int:
    """Alice and Alice Smith; an app and "we", who work on it."""
    a, b = old.subject, new.subject
    if "" in {a, b}:
        return 1
    if ("'s" in old.verbs) != ("'s" in new.verbs) and len(a.split()) != len(b.split()):
        return 0
    if old.person and new.person:
        return 2 if a.split()[0] == b.split()[0] and 1 in {len(a.split()), len(b.split())} and "'s" not in a + b else 0
    if "we" in {a, b} and old.predicate.startswith("use") and new.predicate.startswith("use"):
        return 2 if new.change == 2 and (new.gone or set(a.replace("'s", "").split()) & new.about) else 1 if new.change else 0
    shared = set(a.split()) & set(b.split())
    return 1 if shared and (shared == set(a.split()) or shared == set(b.split())) else 0


def _family(old: Claim, new: Claim) -> bool:
    return bool({k for k, _ in old.kinds} & {k for k, _ in new.kinds})

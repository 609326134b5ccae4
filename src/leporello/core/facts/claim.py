"""One claim: what a clause says about one thing."""

from __future__ import annotations

from dataclasses import dataclass, replace

from leporello.core.facts.tokens import stem
from leporello.core.facts.values import Quantity, Times


@dataclass(frozen=True)
class Claim:
    """What one clause says.

    `subject` is "user", "we", a folded name, a noun phrase's stems, "?" for a pronoun of which it is not known whom it means, or "".
    `about` holds the stems of all that the clause names besides points in time and numbers; `verbs` its folded words; `capitals` the stems
    of those with a capital letter. `value` is the object, `names` its names, `kinds` its (kind, value) pairs, `where` the stems of what limits
    it ("for orders") or, for "X is Y", those of X; `lesser` those of what something is preferred to. `mode` is told, reported, future, past,
    maybe or asked. `change` is 0, 1 ("now", "new") or 2 (a verb of change, a correction). `gone`, `gone_times` and `gone_numbers` are what is given up.
    `core`: `about` without what only says when or why ("after the accident"); `fixed`: weekdays that are names ("the Monday meeting").
    `states`: those that exclude others of their line ("open", "fixed"), told by the stems `stated`. `event`: it happened once. `opposite`: disliked. `person`: the subject is somebody.
    `single`: a label with its one value ("Email: …"). `marked`: (noun, number or letter) of things in the subject that a number names ("Customer 3", "item A"); `labels`: those elsewhere.
    `towards`: the stems of what it became or where it went ("moved the blog to Netlify"); `joined`: (noun, what tells which) in "the travel budget", "the deadline for the slides"; `inside`: the
    stems of the project, service or place of work that it is said of ("in the Python repo").
    """

    times: Times
    numbers: tuple[Quantity, ...]
    mode: str
    negated: bool
    ended: bool
    change: int
    about: frozenset[str]
    verbs: frozenset[str]
    capitals: frozenset[str]
    gone: frozenset[str]
    gone_times: Times
    gone_numbers: tuple[Quantity, ...]
    event: bool
    indefinite: bool
    additional: bool
    used_to: bool
    subject: str = ""
    predicate: str = ""
    object: str = ""
    value: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    kinds: frozenset[tuple[str, str]] = frozenset()
    where: frozenset[str] = frozenset()
    lesser: frozenset[str] = frozenset()
    core: frozenset[str] = frozenset()
    fixed: frozenset[int] = frozenset()
    states: frozenset[tuple[str, int]] = frozenset()
    stated: frozenset[str] = frozenset()
    opposite: bool = False
    person: bool = False
    single: bool = False
    marked: frozenset[tuple[str, str]] = frozenset()
    labels: frozenset[tuple[str, str]] = frozenset()
    towards: frozenset[str] = frozenset()
    joined: frozenset[tuple[str, str]] = frozenset()
    inside: frozenset[str] = frozenset()


_TITLES = (
    (frozenset({"frau"}), frozenset({"herr", "herrn"})),
    (frozenset({"mrs", "ms"}), frozenset({"mr"})),
    (frozenset({"senora"}), frozenset({"senor"})),
)
_UNTOLD = frozenset({"", "?", "user", "we"})


def contrasted(a: Claim, b: Claim) -> bool:
    """The subjects share a word and each has one that the other lacks: the staging cluster, the production cluster; my goal, Ida's goal."""
    if a.subject == b.subject and any(a.verbs & t and b.verbs & u for t, u in (*_TITLES, *(tuple(reversed(p)) for p in _TITLES))):
        return True
    if a.fixed and b.fixed and not a.fixed & b.fixed:
        return True
    if _UNTOLD & {a.subject, b.subject} or a.subject == b.subject:
        return False
    first, second = _subject_words(a), _subject_words(b)
    if "'s" not in a.verbs | b.verbs:  # the trip and my trip may be one; Ida's trip and mine are two
        first, second = _unowned(first), _unowned(second)
    return bool(first & second and first - second and second - first)


def _subject_words(claim: Claim) -> frozenset[str]:
    owner, owned, rest = claim.subject.partition("'s ")
    if owned:
        return frozenset(rest.split()) | {f"'s {owner}"}
    return frozenset(claim.subject.split()) - {"got", "gets"}


def _unowned(found: frozenset[str]) -> frozenset[str]:
    return frozenset(w for w in found if not w.startswith("'s "))


_HEDGES = frozenset(
    "might may maybe perhaps possibly vielleicht eventuell moglicherweise quizas quiza podria peut-etre pourrait semble feeling 可 能".split()
)
_HEDGING = _HEDGES | frozenset("think believe guess glaube denke creo crois sein be".split())
_PLACES = frozenset({"reside", "employer", "home"})
_WISHES = frozenset(
    "if unless whether would want wants could should wonder considering thinking hope hopes plan wenn ob falls si aimerait gustaria".split()
)


def unhedged(claim: Claim) -> Claim | None:
    """What it says that may be so ("might be fifteen minutes"), as if it were told; None where it is about what may become of something."""
    if (
        not claim.verbs & _HEDGES
        or claim.verbs & _WISHES
        or claim.change == 2
        or claim.ended
        or not (claim.numbers or claim.times or claim.predicate in _PLACES)
    ):
        return None
    told = frozenset(map(stem, _HEDGING)) | _HEDGING
    subject = " ".join(w for w in claim.subject.split() if w not in told)
    return replace(
        claim,
        mode="told",
        subject=subject if subject not in {"user", ""} else "?",
        core=claim.core - told,
        about=claim.about - told,
        where=claim.where - told,
    )

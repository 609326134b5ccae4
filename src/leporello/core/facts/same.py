"""Whether two statements say the same: a duplicate by meaning, never when something that tells differs."""

from __future__ import annotations

from leporello.core.facts import cues_words as words
from leporello.core.facts.claim import Claim
from leporello.core.facts.cues_frames import SINGLE
from leporello.core.facts.differs import code_apart, told_apart
from leporello.core.facts.read import Statement
from leporello.core.facts.tokens import apart, stem

LIKENESS, OVERLAP = 0.8, 0.6
"""Measured by `leporello.bench.contradictions` (1530 pairs, 85 of them duplicates): likeness alone merges with a precision of 11 % at 0.7 and
38 % at 0.95; the guards below with 100 % at every threshold (70/70, recall 82 %). Letting through pairs of which each has a word that the
other lacks gave 98.6 % at a likeness of 0.8 and found no more, so it is never done: "hourly" and "daily" are as alike as any paraphrase."""


def same(
    earlier: Statement, later: Statement, likeness: float | None, *, least: float = LIKENESS, overlap: float = OVERLAP, swapped: float = 2.0
) -> bool:
    """Whether the later statement adds nothing that matters to the earlier one.

    `least` and `overlap` are how like and how alike in words a shorter version of the earlier statement must be; `swapped` is how like two
    statements must be that each have a word that the other lacks (by default never: see the sweep of `leporello.bench.contradictions`).
    """
    a = [c for c in earlier.claims if c.about or c.times or c.numbers]
    b = [c for c in later.claims if c.about or c.times or c.numbers]
    if not a or not b or earlier.topic != later.topic or not _guarded(a, b) or code_apart(earlier.text, later.text):
        return False
    if len(a) == 1 and len(b) == 1 and _framed_alike(a[0], b[0]):
        return not told_apart(earlier, later, ordered=False)
    if told_apart(earlier, later):
        return False
    first, second = _stems(a), _stems(b)
    if not first or not second:
        return False
    missing, added = apart(first, second), apart(second, first)
    if not missing and not added:
        return True
    share = 1 - (len(missing) + len(added)) / len(first | second)
    if likeness is None or share < overlap:
        return False
    return likeness >= (swapped if added else least)


def _guarded(a: list[Claim], b: list[Claim]) -> bool:
    """Equal numbers, points in time, negation, mode and names; no two words of one kind; the same people."""
    if any(c.mode in {"asked", "maybe"} for c in (*a, *b)) or _modes(a) != _modes(b):
        return False
    if len(a) == len(b) == 1 and b[0].change == 2 and not a[0].change and not b[0].predicate:
        return False
    if {m for c in a for m in (*c.marked, *c.labels)} != {m for c in b for m in (*c.marked, *c.labels)}:
        return False
    if {(q.value, q.unit) for c in a for q in c.numbers} != {(q.value, q.unit) for c in b for q in c.numbers}:
        return False
    if {t for c in a for t in c.times} != {t for c in b for t in c.times}:
        return False
    if {(c.negated, c.ended, c.opposite) for c in a} != {(c.negated, c.ended, c.opposite) for c in b}:
        return False
    if {frozenset(map(stem, c.value)) for c in a if c.predicate == "prefer"} != {
        frozenset(map(stem, c.value)) for c in b if c.predicate == "prefer"
    }:
        return False
    if {c.subject for c in a if c.person and c.predicate not in {"", "is"}} ^ {
        c.subject for c in b if c.person and c.predicate not in {"", "is"}
    }:
        return False
    if {k for c in a for k in c.kinds} != {k for c in b for k in c.kinds}:
        return False
    return _names_alike(a, b)


def _modes(claims: list[Claim]) -> set[str]:
    """What will be at a time is what is planned for it."""
    return {"told" if c.mode == "future" and c.times and not c.person else c.mode for c in claims}


def _names_alike(a: list[Claim], b: list[Claim]) -> bool:
    """Every word with a capital letter in one is in the other, and so is who "I" and "we" are."""
    first, second = _words(a), _words(b)
    people = {c.subject for c in a} & {"user"}, {c.subject for c in b} & {"user"}
    if people[0] != people[1] and any(c.subject not in {"", "we", "user"} and c.person for c in (*a, *b)):
        return False
    return not (_capitals(a) - second) and not (_capitals(b) - first)


def _capitals(claims: list[Claim]) -> frozenset[str]:
    return frozenset(s for c in claims for s in c.capitals)


def _words(claims: list[Claim]) -> frozenset[str]:
    found = {stem(w) for c in claims for w in c.verbs} | {s for c in claims for s in (*c.about, *c.capitals, *map(stem, c.subject.split()))}
    return frozenset(found)


def _framed_alike(a: Claim, b: Claim) -> bool:
    """The same predicate with the same value of the same subject, and no more than a word besides."""
    if not a.predicate or a.predicate in {"is", "use"} or a.predicate != b.predicate or a.subject != b.subject or not a.value:
        return False
    return (
        set(map(stem, a.value)) == set(map(stem, b.value))
        and a.where == b.where
        and (a.predicate in SINGLE or a.about == b.about or len(a.about ^ b.about) <= 1)
    )


def _stems(claims: list[Claim]) -> frozenset[str]:
    return frozenset(s for c in claims for s in c.about if s not in words.STOP) | frozenset(
        s for c in claims for s in c.capitals if len(s) == 1
    )

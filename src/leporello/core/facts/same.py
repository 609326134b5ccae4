"""Whether two statements say the same: a duplicate by meaning, never when something that tells differs."""

from __future__ import annotations

from leporello.core.facts import cues_words as words
from leporello.core.facts.claims import Claim
from leporello.core.facts.cues_frames import SINGLE
from leporello.core.facts.read import Statement
from leporello.core.facts.tokens import stem

LIKENESS, OVERLAP = 0.8, 0.75


def same(earlier: Statement, later: Statement, likeness: float | None, *, least: float = LIKENESS, overlap: float = OVERLAP) -> bool:
    """Whether the later statement adds nothing that matters to the earlier one."""
    a = [c for c in earlier.claims if c.about or c.times or c.numbers]
    b = [c for c in later.claims if c.about or c.times or c.numbers]
    if not a or not b or not _guarded(a, b):
        return False
    if len(a) == 1 and len(b) == 1 and _framed_alike(a[0], b[0]):
        return True
    first, second = _stems(a), _stems(b)
    if not first or not second:
        return False
    share = len(first & second) / len(first | second)
    if share >= overlap:
        return True
    return likeness is not None and likeness >= least and share >= 0.3


def _guarded(a: list[Claim], b: list[Claim]) -> bool:
    """Equal numbers, points in time, negation, mode, subjects and names; no two words of one kind."""
    if any(c.mode in {"asked", "maybe"} for c in (*a, *b)) or {c.mode for c in a} != {c.mode for c in b}:
        return False
    if sorted({(q.value, q.unit) for c in a for q in c.numbers}) != sorted({(q.value, q.unit) for c in b for q in c.numbers}):
        return False
    if {t for c in a for t in c.times} != {t for c in b for t in c.times}:
        return False
    if {(c.negated, c.ended, c.opposite) for c in a} != {(c.negated, c.ended, c.opposite) for c in b}:
        return False
    if {frozenset(map(stem, c.value)) for c in a if c.predicate == "prefer"} != {frozenset(map(stem, c.value)) for c in b if c.predicate == "prefer"}:
        return False
    subjects = {c.subject for c in a if c.person}, {c.subject for c in b if c.person}
    if subjects[0] != subjects[1]:
        return False
    if {k for c in a for k in c.kinds} != {k for c in b for k in c.kinds}:
        return False
    return {n for c in a for n in c.names} == {n for c in b for n in c.names}


def _framed_alike(a: Claim, b: Claim) -> bool:
    """The same predicate with the same value of the same subject, and no more than a word besides."""
    if not a.predicate or a.predicate in {"is", "use"} or a.predicate != b.predicate or a.subject != b.subject or not a.value:
        return False
    return set(map(stem, a.value)) == set(map(stem, b.value)) and a.where == b.where and (a.predicate in SINGLE or a.about == b.about or len(a.about ^ b.about) <= 1)


def _stems(claims: list[Claim]) -> frozenset[str]:
    return frozenset(s for c in claims for s in c.about if s not in words.STOP)

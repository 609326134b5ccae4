"""What a statement says, as far as rules can tell: who, what about them, which value, and whether it changed or ended.

No model and no grammar: phrases that people use for what engines remember (where somebody lives, what is used, when something is due), in
English, German, Spanish, French and Chinese; points in time and numbers with units, which have their own syntax in every language; and
for the rest the words of a clause. A language without rules gives a statement without subject and predicate, of which nothing follows.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from leporello.core.facts.claim import Claim
from leporello.core.facts.claims import claims
from leporello.core.facts.clauses import clauses, undated
from leporello.core.facts.cues_frames import SINGLE
from leporello.core.facts.labels import split_speaker, split_topic
from leporello.core.facts.span import SYNONYMS
from leporello.core.facts.tokens import fold, stem, tokens
from leporello.core.words import query_terms

_KEYS, _MARKS = 24, 14
_RELATIVES = frozenset("which that who it das dies die der es que qui ce cela eso esto".split())


@dataclass(frozen=True)
class Statement:
    """What a statement says, as far as rules can tell; empty strings where they cannot.

    `subject`: "user" for the first person without a known speaker, the speaker's folded name with one, else the folded name or noun
    phrase. `predicate`: canonical where known ("home", "employer", "use:database"), else the words of the attribute, "" where no value of
    one is told; "not " stands before it where that is denied or over. `object`: the folded value. `single`: the predicate holds one value at a time. `claims`: all that is said, clause by clause. `topic`: what it is filed under
    ("Conventions: …"), folded.
    """

    text: str
    subject: str
    predicate: str
    object: str
    single: bool
    negated: bool
    ended: bool
    changed: bool
    claims: tuple[Claim, ...]
    topic: str = ""


@lru_cache(maxsize=1 << 13)
def read(text: str, *, speaker: str = "") -> Statement:
    """Reads any string. A leading "Name: " is the speaker; `speaker` is who is taken for the first person otherwise."""
    name, rest = split_speaker(text)
    topic, rest = split_topic(rest)
    who = " ".join(fold(w) for w in (name or speaker).split())
    found: list[Claim] = []
    before = ""
    for clause in clauses(undated(rest))[:24]:
        of_it = bool(clause.words) and clause.words[0].fold in _RELATIVES and bool(found)
        about = found[-1].about if of_it else frozenset()
        for claim in claims(clause, speaker=who, before=before):
            found.append(replace(claim, about=claim.about | about, core=claim.core | about) if of_it else claim)
            before = claim.subject if claim.subject != "?" else before
    found = [
        replace(c, about=frozenset().union(*(o.about for o in found)), subject="") if c.gone_times and not c.about else c for c in found
    ]
    main = next((c for c in found if c.mode == "told" and c.predicate and c.predicate != "is"), None) or next(
        (c for c in found if c.mode == "told"), None
    )
    if main is None:
        return Statement(text, "", "", "", False, False, False, False, tuple(found), topic)
    written = _Written(rest)
    value = main.object or _valued(main)
    predicate = _shown(main, written) if main.predicate or value else ""
    subject = written.subject(main.subject)
    return Statement(text, subject, predicate, value, is_single(main), main.negated, main.ended, main.change > 0, tuple(found), topic)


class _Written:
    """The words of a text for the stems that are told of them, in the order in which they stand there."""

    def __init__(self, text: str) -> None:
        self._words: dict[str, str] = {}
        for token in tokens(text):
            found = stem(token.fold)
            self._words.setdefault(SYNONYMS.get(found, found), token.fold)
        self._order = {s: n for n, s in enumerate(self._words)}

    def phrase(self, stems: Iterable[str]) -> str:
        """The words of these stems; what the text does not hold stands as it is, at the end."""
        return " ".join(self._words.get(s, s) for s in sorted(stems, key=lambda s: (self._order.get(s, len(self._order)), s)))

    def subject(self, subject: str) -> str:
        """A subject in words, whose it is first."""
        if subject in {"", "?", "user", "we"}:
            return subject
        owner, owned, rest = subject.partition("'s ")
        return f"{owner}'s {self.phrase(rest.split())}" if owned else self.phrase(subject.split())


def attribute(claim: Claim) -> str:
    """The predicate, or for an attribute without a name the stems of what it is about."""
    if claim.predicate and claim.predicate != "is":
        return claim.predicate
    return " ".join(sorted(claim.where or claim.about))[:80]


def _shown(claim: Claim, written: _Written) -> str:
    """The predicate as it is shown: what is denied, over or disliked does not look like what holds."""
    known = claim.predicate and claim.predicate != "is"
    found = claim.predicate if known else written.phrase(claim.where or claim.about)[:80]
    if claim.opposite and found == "like":
        return "not dislike" if claim.negated and not claim.verbs & {"stand", "soporto", "soporta"} else "dislike"
    return f"not {found}" if found and (claim.negated or claim.ended) else found


def is_single(claim: Claim) -> bool:
    """Whether what the claim is about holds one value at a time."""
    return claim.predicate in SINGLE or (claim.predicate in {"", "is"} and bool(claim.numbers or claim.times) and not claim.event)


def _valued(claim: Claim) -> str:
    parts = [f"{q.value:g} {q.unit}".strip() for q in claim.numbers]
    parts += [f"{facet} {' '.join(map(str, sorted(values)))}" for facet, values in claim.times]
    return ", ".join(parts)


def keys(statement: Statement) -> tuple[int, ...]:
    """Up to 24 32-bit hashes under which a statement that concerns the same thing is found again.

    Its subjects with their predicates; the stems of what it tells; its words.
    Two statements of which one has to do with the other share one of `sure_keys`, whichever was told first.
    """
    found = dict.fromkeys(sure_keys(statement))
    found.update(dict.fromkeys(int(h) for h in query_terms(undated(split_speaker(statement.text[:2_000])[1])).hashes))
    return tuple(found)[:_KEYS]


def sure_keys(statement: Statement) -> tuple[int, ...]:
    """Up to 14 of the keys of which one is enough: the subjects with their predicates and states, the stems of what is told."""
    told = [c for c in statement.claims[:6] if c.mode != "asked"]
    marks = [f"{c.subject}|{_found_by(c)}" for c in told if c.subject and _found_by(c)]
    marks += [f"{c.subject}|~{d}" for c in told for d, _ in sorted(c.states)]
    marks += [f"|{s}" for c in told for s in sorted(_telling(c))]
    return tuple(zlib.crc32(m.encode("utf-8", "surrogatepass")) for m in tuple(dict.fromkeys(marks))[:_MARKS])


def _found_by(claim: Claim) -> str:
    """The predicate, one for where somebody lives and where something is."""
    return "home" if claim.predicate == "reside" else attribute(claim)


def _telling(claim: Claim) -> frozenset[str]:
    return frozenset(s for s in (claim.core | claim.gone | {stem(w) for w in claim.value}) if len(s) > 1 or not s.isascii())

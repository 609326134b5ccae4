"""From clauses to claims: by a known phrase, by "X is Y", or by its words alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from leporello.core.facts import cues_words as words
from leporello.core.facts.claim import Claim
from leporello.core.facts.clauses import Clause, find, passive
from leporello.core.facts.cues_frames import PERSONAL, PHRASES
from leporello.core.facts.cues_kinds import OCCUPATIONS
from leporello.core.facts.frames import Found, frames, predicate
from leporello.core.facts.shifts import Shift, given_up, plainly, shift, without_now
from leporello.core.facts.span import ADJUNCT, Object, Span
from leporello.core.facts.subjects import VERBS, Context, dative, first_verb, subject
from leporello.core.facts.tokens import Token, stem
from leporello.core.facts.values import Quantity, quantities, times
from leporello.core.facts.which import inside, joined

_LONGEST = 120
"""Words of a clause that are read."""
_PREFERRED_TO = frozenset("over to than gegenuber als que a vor".split())
_FIRST_COPULA = frozenset("soy estoy somos estamos".split())
_STARTING = frozenset("from starting beginning ab desde".split())
_PLACED = frozenset("in at am en a im au on".split())
_TRADES = (
    "engineer",
    "developer",
    "ingenieur",
    "entwickler",
    "leiter",
    "leiterin",
    "lehrer",
    "lehrerin",
    "berater",
    "manager",
    "director",
    "consultant",
)
_HERE = frozenset("here there hier da aqui ahi ici voici".split())
_POSSESSIVES = frozenset("my your his her our their the".split())
_DEFINITE = frozenset("my our the mein meine unser unsere mi nuestro nuestra mon ma notre der die das el la le l'".split())


def claims(clause: Clause, *, speaker: str, before: str) -> list[Claim]:
    """The claims of a clause, of which `before` is the subject of the last one before it."""
    if not clause.words:
        return []
    clause = replace(clause, words=plainly(clause.words))
    context = Context(speaker, before)
    shifted = shift(clause)
    kept, gone = given_up(without_now(clause.words[:_LONGEST]), shifted.change == 2)
    kept = _without_adjunct(kept)
    if not kept:
        return []
    span = Span(kept)
    base = _base(span, clause, shifted, [*gone, *clause.given_up])
    out = [c for f in list(frames(kept, span.spine))[:3] for c in _framed(span, base, f, context)]
    return [_marked(span, c) for c in out or _unframed(span, base, context)] if span.marks else out or _unframed(span, base, context)


_OF = frozenset("'s von vom de del du des".split())
"""What stands between a thing and whose it is, and looks like a verb beside one ("Alice's locker 2 code is …")."""


def _marked(span: Span, claim: Claim) -> Claim:
    """The claim with the numbers that name its subject ("Customer 3 prefers …", "the price of item A is …")."""
    verbs = [i for i in span.spine if i and _is_verb(span, i)]
    end = next((i for i in verbs if span.fold_at(i) not in _OF), verbs[-1] if verbs else -1)
    first = span.marks[0][0]
    if end < 0:
        end = first + 2 if first <= 2 and first + 2 < len(span.kept) else 0
    own = [(at, noun, number) for at, noun, number in span.marks if at < end]
    if not own or span.fold_at(0) in words.FIRST or span.fold_at(0) in words.FIRST_MANY:
        return claim
    marked = frozenset((noun, number) for _, noun, number in own)
    subject = claim.subject
    if own[0][0] == 0 or (own[0][0] == 1 and span.fold_at(0) in words.DETERMINERS):
        subject = f"{own[0][1]} {own[0][2]}"
    return replace(claim, subject=subject, marked=marked, labels=claim.labels - marked)


def _is_verb(span: Span, i: int) -> bool:
    word = span.kept[i].fold
    if word in words.COPULA or word in words.EVENT_VERBS or word in words.SCHEDULE or word in words.CHANGE_STEMS or word in VERBS:
        return True
    return any(
        tuple(t.fold for t in span.kept[i : i + len(p.words)]) == p.words and p.words[0] not in words.QUALIFIERS
        for p in PHRASES.get(word, ())
    )


def _without_adjunct(kept: list[Token]) -> list[Token]:
    """Without "after the layoffs" before the subject."""
    if kept and (
        kept[0].fold in ADJUNCT
        or (kept[0].fold in _STARTING and len(kept) > 1 and kept[1].fold in {"next", "this", "nachster", "nachstem"})
    ):
        for i in range(2, min(7, len(kept) - 2)):
            if (
                kept[i].fold in words.DETERMINERS
                or kept[i].fold in words.FIRST
                or kept[i].fold in words.FIRST_MANY
                or (kept[i].capital and i > 2)
            ):
                verb_first = kept[0].fold in {"seit", "wegen", "trotz"} and kept[i - 1].fold in PHRASES  # seit März wohne ich in Ulm
                return kept[i - 1 :] if verb_first else kept[i:]
    return kept


def _base(span: Span, clause: Clause, shifted: Shift, gone: Sequence[Token]) -> Claim:
    """What holds for every claim of the clause."""
    gone_times, used = times(gone) if gone else ((), frozenset())
    lost = frozenset(stem(t.fold) for n, t in enumerate(gone) if n not in used and t.fold not in words.STOP and t.fold not in words.ADVERBS)
    about = span.about()
    states, stated = span.states()
    numbers, before = _risen(span)
    return Claim(
        times=span.times, numbers=numbers, gone_numbers=(*before, *(quantities(gone, used, words.STOP) if gone else ())), mode=clause.mode, negated=shifted.negated, ended=shifted.ended, change=2 if lost or gone_times else shifted.change,
        about=about - {"old", "alt"} if any(q.unit == "age" for q in span.numbers) else about, verbs=span.folded, capitals=span.capitals(), gone=lost, gone_times=gone_times,
        core=span.core(), fixed=span.fixed, states=states, stated=stated,
        event=bool(span.folded & words.EVENT_VERBS) or _happened(span, shifted), indefinite=bool(span.folded & words.INDEFINITE), additional=bool(span.folded & words.ADDITIONAL) or find(span.kept, words.ONE_OF) >= 0,
        used_to=find(span.kept, words.USED_TO) >= 0, single=any(t.text == ":" for t in span.kept), labels=frozenset((n, v) for _, n, v in span.marks),
        joined=joined(clause.words), inside=inside(span.kept), towards=_towards(span) if shifted.change == 2 else frozenset(),
    )  # fmt: skip


def _risen(span: Span) -> tuple[tuple[Quantity, ...], tuple[Quantity, ...]]:
    """The numbers that hold, and those before them ("from 300KB to 180KB")."""
    for a, b in pairwise(span.numbers):
        words_between = [t.fold for t in span.kept[a.index + 1 : b.index]]
        if a.unit == b.unit != "" and span.fold_at(a.index - 1) in {"from", "von", "de"} and {"to", "auf", "a"} & set(words_between[-2:]):
            return tuple(q for q in span.numbers if q is not a), (a,)
    return span.numbers, ()


def _towards(span: Span) -> frozenset[str]:
    """What stands after "to" in what says that something changed."""
    strong = [i for i, t in enumerate(span.kept) if t.fold in _TO]
    weak = [i for i, t in enumerate(span.kept) if t.fold in _INTO]
    at = strong[0] if strong else weak[-1] if weak else len(span.kept)
    return span.stems(range(at + 1, len(span.kept)))


_TO, _INTO = frozenset("to into onto nach chez vers 到".split()), frozenset("auf zu in en a al dans bei".split())


def _happened(span: Span, shifted: Shift) -> bool:
    """Was approved, were sold: once, and nothing that was so before is said to have become different."""
    return not shifted.change and not shifted.ended and passive([t.fold for t in span.kept])


def _valued(base: Claim, name: str, found: Object) -> Claim:
    return replace(
        base, predicate=name, object=" ".join(found.value), value=found.value, names=found.names, kinds=found.kinds, where=found.where
    )


def _framed(span: Span, base: Claim, found: Found, context: Context) -> Iterator[Claim]:
    """The claims of a clause with a known phrase."""
    phrase = found.phrase
    who, person = subject(span, found.start, phrase, context)
    if not who and phrase.predicate == "like":
        who = dative(span, found.start, context)
        person = bool(who)
    start, end = found.object
    lesser: frozenset[str] = frozenset()
    if phrase.predicate == "prefer":
        end, lesser = _lesser(span, start, end)
    elif phrase.predicate in {"home", "reside"}:
        start = _town(span, start, end)
    object_ = span.object(start, end)
    if phrase.predicate == "prefer":
        object_ = replace(object_, kinds=span.kinds([i for i in range(start, end) if i not in span.used]))
    name = predicate(phrase, object_, person=person, inside=span.kept[start : object_.stop])
    if name is None:
        yield from _unframed(span, base, context)
        return
    if span.fold_at(found.after) in {"ich", "wir"} and found.start:  # Metal mag ich
        who, person, object_ = context.first_person if span.fold_at(found.after) == "ich" else "we", True, span.object(0, found.start)
    things = name.startswith("use") or name == "reside"
    told_by = frozenset(stem(w) for w in (*phrase.words, *phrase.tail))
    made = replace(
        _valued(base, name, object_), core=base.core - told_by, subject=who or context.before or ("we" if things else context.first_person), lesser=lesser, opposite=phrase.opposite,
        about=base.about - told_by, change=2 if phrase.changed else base.change,
        ended=base.ended or (phrase.ended and not base.negated), person=person or name in PERSONAL, mode="told" if phrase.changed and base.mode == "past" else base.mode,
    )  # fmt: skip
    yield made
    yield from _second(span, made, start, object_.stop)


def _lesser(span: Span, start: int, end: int) -> tuple[int, frozenset[str]]:
    """Where what is preferred ends, and the stems of what it is preferred to."""
    at = next((i for i in range(start + 1, end - 1) if span.kept[i].fold in _PREFERRED_TO), end)
    return at, span.stems(range(at + 1, end))


def _town(span: Span, start: int, end: int) -> int:
    """In a flat in Mainz: the place is the name after the second preposition."""
    if start < end and span.kept[start].fold in words.INDEFINITE:
        return next(
            (
                i + 1
                for i in range(start + 1, min(end - 1, start + 6))
                if span.kept[i].fold in {"in", "en", "a", "near"} and span.kept[i + 1].capital
            ),
            start,
        )
    return start


def _second(span: Span, made: Claim, start: int, stop: int) -> Iterator[Claim]:
    """The employer after a job ("as an engineer at Acme"), the job after an employer."""
    for k in range(start, len(span.kept) - 1):
        word = span.kept[k].fold
        if made.predicate == "job" and word in {"at", "bei", "chez", "en"} and span.kept[k + 1].capital:
            yield _valued(made, "employer", span.object(k + 1, len(span.kept)))
            return
        if made.predicate == "employer" and word in {"as", "als", "como", "comme"} and k >= stop - 1:
            yield _valued(made, "job", span.object(k + 1, len(span.kept)))
            return


def _unframed(span: Span, base: Claim, context: Context) -> list[Claim]:
    """The claims of a clause without a known phrase: "X is Y" where there is a copula, else whatever it is about."""
    copula = _copula(span)
    if copula < 0 or span.kept[0].fold in _HERE:
        return [_plain(span, base, context)]
    who, person = subject(span, copula, None, context) if copula else (context.first_person, True)
    found = span.object(next((i for i in span.spine if i > copula), len(span.kept)), len(span.kept))
    told = replace(_valued(base, "is", found), subject=who or context.before, person=person)
    if person and (set(found.value) & OCCUPATIONS or "".join(found.value) in OCCUPATIONS or any(w.endswith(_TRADES) for w in found.value)):
        told = replace(told, predicate="job", subject=who)
    elif person and any(k == "diet" for k, _ in found.kinds):
        told = replace(told, predicate="diet", subject=who)
    else:
        at = next((i for i in span.spine if i > copula), len(span.kept))
        placed = not person and span.fold_at(at) in _PLACED and bool(found.names) and not base.times
        told = replace(told, event=False, where=span.stems(range(copula)), predicate="reside" if placed else "is")
    turned = _turned(span, told, copula, context)
    return [told, turned] if turned else [told, *_second(span, told, 0, 0)]


def _copula(span: Span) -> int:
    owned = any(span.kept[i].fold in words.COPULA and span.kept[i].fold != "'s" for i in span.spine)
    for i in span.spine:
        word = span.kept[i].fold
        if (
            word in words.COPULA
            and not (word == "'s" and (owned or span.fold_at(i - 2) in _POSSESSIVES))
            and (word in _FIRST_COPULA if i == 0 else not span.kept[i - 1].fold.endswith("'"))
        ):
            return i
    return -1


def _plain(span: Span, base: Claim, context: Context) -> Claim:
    end = first_verb(span)
    who, person = subject(span, end, None, context) if end else (context.first_person, True)
    kinds = span.kinds(range(len(span.kept)))
    diet = sorted(v for k, v in kinds if k == "diet")
    if diet and person:  # went vegan, is eating meat again
        return replace(
            base, subject=who, predicate="diet", object=diet[0], value=(diet[0],), kinds=kinds, person=True, change=max(1, base.change)
        )
    return replace(base, subject=who or context.before, person=person, kinds=kinds)


def _turned(span: Span, told: Claim, copula: int, context: Context) -> Claim | None:
    """Joel is our accountant: the same as "our accountant is Joel"."""
    if (
        told.predicate not in {"is", "job"}
        or told.times
        or told.numbers
        or span.fold_at(copula + 1) not in _DEFINITE
        or span.kept[0].fold in words.DETERMINERS
    ):
        return None
    where = span.stems(range(copula + 1, len(span.kept)))
    value = tuple(t.fold for t in span.kept[:copula] if t.fold not in words.STOP and t.fold not in words.ADVERBS)
    if not value or not where:
        return None
    rest = [t.fold for t in span.kept[copula:]]
    owner = context.first_person if any(w in words.FIRST for w in rest) else "we" if any(w in words.FIRST_MANY for w in rest) else ""
    what = " ".join(sorted(where))
    return replace(
        told, subject=f"{owner}'s {what}" if owner else what, predicate="is", object=" ".join(value), value=value, names=frozenset(value), where=where, kinds=span.kinds(range(copula)), person=False
    )  # fmt: skip

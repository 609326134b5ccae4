"""Phrases of frames found in a clause, and what they mean with their object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from leporello.core.facts import cues_words as words
from leporello.core.facts.cues_frames import PHRASES, Phrase
from leporello.core.facts.cues_kinds import OCCUPATIONS, TECHNICAL
from leporello.core.facts.span import Object
from leporello.core.facts.tokens import Token

JOBLESS = frozenset("unemployed jobless arbeitslos desempleado desempleada paro chomage 失 待".split())
JOB_WORDS = frozenset("job company trabajo stelle empleo".split())
_NOUN_BEFORE = (words.DETERMINERS - {"de"}) | {"'s", "of"}
_OWN_BOSS = words.DETERMINERS | words.NOW | frozenset("'s old direct former 的".split())
_STATE_BEFORE = words.COPULA | frozenset("still not nicht no pas happily glucklich got se sich s' ha han we they sie wurde".split())
_NOT_QUIT = frozenset("de a the my his her smoking for on at it".split())
_NIGHTS = frozenset("night nights week days noches nachte nuits".split())
_ARTICLES = frozenset("a an ein eine einem einer un una une the".split())
_JOB_VERBS = frozenset("work works promoted trabaja trabajo arbeite arbeitet travaille".split())
_NO_TRADE = frozenset(
    "mother father member owner winner mutter vater mitglied madre padre miembro mere pere membre brother sister parent partner".split()
)
_TRADE = ("er", "or", "ist", "in", "eur")


@dataclass(frozen=True)
class Found:
    """A phrase in a clause: where it starts, where what follows it starts, and where its object stands."""

    phrase: Phrase
    start: int
    after: int
    object: tuple[int, int]


def frames(kept: Sequence[Token], spine: Sequence[int]) -> Iterator[Found]:
    """The phrases in the words at the positions `spine`, from left to right."""
    at = 0
    while at < len(spine):
        found = _phrase_at(kept, spine, at)
        if found is not None:
            yield found
            at = max(at + 1, next((n for n, i in enumerate(spine) if i >= found.after), len(spine)))
        else:
            at += 1


def _phrase_at(kept: Sequence[Token], spine: Sequence[int], at: int) -> Found | None:
    for phrase in PHRASES.get(kept[spine[at]].fold, ()):
        n = len(phrase.words)
        if at + n > len(spine) or any(kept[spine[at + k]].fold != w for k, w in enumerate(phrase.words)):
            continue
        if not _fits(kept, spine, at, phrase):
            continue
        after = spine[at + n - 1] + 1
        if not phrase.tail:
            return Found(phrase, spine[at], after, (after, len(kept)))
        for k in range(at + n + 1, min(at + n + 9, len(spine) - len(phrase.tail) + 1)):
            if all(kept[spine[k + m]].fold == w for m, w in enumerate(phrase.tail)):
                return Found(phrase, spine[at], spine[k + len(phrase.tail) - 1] + 1, (after, spine[k]))
    return None


def _fits(kept: Sequence[Token], spine: Sequence[int], at: int, phrase: Phrase) -> bool:
    """Not a noun that looks like the verb ("my drink", "the use"); one word for a state needs a copula before it."""
    last = phrase.words[-1]
    if not last.isascii():
        rest = [kept[i].fold for i in spine[at:]]
        if phrase.words == ("打",) and rest[1:2] == ["算"]:
            return False
        if (phrase.tail == ("住",) and rest[-1] != "住") or (phrase.words == ("住",) and rest[1:2] == ["院"]):  # 住院: in hospital
            return False
        return phrase.predicate not in {"like", "prefer"} or not ("的" in rest and "是" in rest[rest.index("的") :])
    if len(phrase.words) > 1 or phrase.tail:
        return True
    before = kept[spine[at - 1]].fold if at else ""
    after = kept[spine[at + 1]].fold if at + 1 < len(spine) else ""
    if phrase.predicate == "boss" and phrase.words[-1] in {"is", "ist", "es", "est"} and before and before not in _OWN_BOSS:
        return False
    likes = phrase.predicate == "like" and before in {"la", "le", "lo", "les"}
    if after in words.COPULA or (before in _NOUN_BEFORE and phrase.predicate not in {"named", "smoke"} and not likes):
        return False
    if phrase.predicate == "partner" and last not in {"divorced", "divorcio", "separated"}:
        return at == 0 or before in _STATE_BEFORE
    return last not in {"dejo", "deje", "quit", "left"} or after not in _NOT_QUIT


def predicate(phrase: Phrase, found: Object, *, person: bool, inside: Sequence[Token]) -> str | None:
    """The predicate of a phrase with this object; None where the phrase means something else here."""
    name = phrase.predicate
    technical = sorted(k for k, _ in found.kinds if k in TECHNICAL)
    if name in {"eat", "use", "job", "home", "named"} and any(k == "diet" for k, _ in found.kinds):
        return "diet"
    if name == "home":
        return _home(found.names, technical, person, inside)
    if name == "employer":
        return name if found.names or _about_work(phrase, found.value) else None
    if name == "job":
        return name if _trade(phrase, found.value) else None
    if name == "use":
        return f"use:{technical[0]}" if technical else "use" if found.value else None
    if name == "named" and person and phrase.words[0] in {"called", "named", "titled"}:  # a show called X is not somebody's name
        return None
    if name == "school" and phrase.ended:
        return name
    if name in {"named", "lead", "school"}:
        return name if found.names or not phrase.words[0].isascii() else None
    return None if name == "reside" and not found.value else name


def _about_work(phrase: Phrase, value: Sequence[str]) -> bool:
    """Without an employer's name: out of work, found a job, quit the job."""
    if set(phrase.words) & (JOBLESS | {"found", "out"}) or "trabajo" in phrase.words:
        return True
    return phrase.ended and bool(value) and value[-1] in JOB_WORDS


def _trade(phrase: Phrase, value: Sequence[str]) -> bool:
    """Whether the object of "became", "works as" is what somebody does for a living."""
    if not value or set(value) & _NO_TRADE:
        return False
    return bool(
        set(value) & OCCUPATIONS or phrase.words[0] in _JOB_VERBS or "job" in phrase.words or any(w.endswith(_TRADE) for w in value)
    )


def _home(names: frozenset[str], technical: Sequence[str], person: bool, inside: Sequence[Token]) -> str | None:
    """Where somebody lives ("home") or something is ("reside"); a tool that somebody moved to; None for a flat, two nights."""
    if technical:
        return f"use:{technical[0]}"
    article = bool(inside) and inside[0].fold in _ARTICLES and not (len(inside) > 1 and inside[1].capital)
    if not names or article or any(t.fold in _NIGHTS for t in inside):
        return None
    return "home" if person else "reside"

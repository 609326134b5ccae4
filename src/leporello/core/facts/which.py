"""Which of several things a clause is about: what stands with a noun, and where it says that it holds."""

from __future__ import annotations

from collections.abc import Sequence

from leporello.core.facts import cues_words as words
from leporello.core.facts.claim import Claim
from leporello.core.facts.span import DROPPED
from leporello.core.facts.tokens import Token, stem

Joined = frozenset[tuple[str, str]]
_OF = frozenset("for of fur von vom de del du pour para".split())
_IN = frozenset("in on at im auf am bei en dans sur chez within inside".split())
_PLACES = frozenset(
    """repo repository code codebase project service server app tool portal module package team backend frontend client library site website cluster environment env branch folder file script cli api
    projekt dienst modul umgebung abteilung proyecto servicio servidor herramienta modulo entorno equipo portail serveur outil projet environnement depot equipe staging production prod testing test dev development""".split()
)
_COMPOUND = ("server", "portal", "tool", "projekt", "dienst", "team", "modul", "umgebung", "repo", "system", "app")
_KIN = frozenset(
    map(
        stem,
        """brother sister cousin mother father mom mum dad son daughter uncle aunt nephew niece grandmother grandfather grandma grandpa neighbour neighbor colleague coworker roommate flatmate friend boss wife husband frau mann esposa marido mujer femme mari companera companero boyfriend girlfriend
    bruder schwester cousine vetter mutter vater sohn tochter onkel tante nachbar nachbarin kollege kollegin freund freundin hermano hermana primo prima madre padre hijo hija tio tia vecino vecina colega amigo amiga
    frere soeur mere pere fils fille oncle voisin voisine collegue ami amie""".split(),
    )
)


def joined(kept: Sequence[Token]) -> Joined:
    """Nouns with the words right before them, or after "for" and "of"."""
    found: set[tuple[str, str]] = set()
    telling = [t.fold.isascii() and t.fold.isalpha() and len(t.fold) > 1 and t.fold not in _UNTELLING for t in kept]
    for i, word in enumerate(kept):
        if not telling[i]:
            continue
        if i and telling[i - 1]:
            found.add((stem(word.fold), stem(kept[i - 1].fold)))
        if i + 1 < len(kept) and kept[i + 1].fold in _OF:
            after = next((k for k in range(i + 2, min(i + 5, len(kept))) if telling[k]), None)
            found |= {(stem(word.fold), stem(kept[after].fold))} if after is not None else set()
    return frozenset(found)


def inside(kept: Sequence[Token]) -> frozenset[str]:
    """The words of "in the Python repo", "auf dem Testserver"."""
    for i, token in enumerate(kept):
        if token.fold not in _IN:
            continue
        for k in range(i + 1, min(i + 6, len(kept))):
            word = kept[k].fold
            if word in words.QUALIFIERS or word in words.COPULA:
                break
            if word in _PLACES or (len(word) > 6 and word.endswith(_COMPOUND)):
                return frozenset(stem(t.fold) for t in kept[i + 1 : k + 1] if t.fold not in DROPPED)
    return frozenset()


def elsewhere(old: Claim, new: Claim) -> bool:
    """Staging and production, the Go code and the Python repo, my brother Sam and my cousin Sam, the third quarter and the fourth."""
    quarters = dict(old.times).get("quarter"), dict(new.times).get("quarter")
    if None not in quarters and quarters[0] != quarters[1] and (old.numbers or new.numbers):
        return True
    if old.inside and new.inside and not old.inside & new.inside:
        return True
    if _of_others(old, new):
        return True
    told = _told(old)
    for noun, which in old.joined:
        others = {w for n, w in new.joined if n == noun and w not in new.towards}
        if not others or which in others or which in new.core:
            continue
        if (
            (which in _KIN and others & _KIN)
            or (noun in _THINGS and which not in _WHOLE and not others & (old.core | _WHOLE))
            or (which in told and not others & old.core and old.subject not in {"user", "we"})
        ):
            return True
    return False


_NUMBERS = frozenset(
    "two three four five six seven eight nine ten twelve zwei drei vier funf sechs sieben acht neun zehn dos tres cuatro cinco seis siete ocho nueve diez deux trois quatre cinq six sept huit neuf dix".split()
)
_UNTELLING = DROPPED | _NUMBERS
_THINGS = frozenset(
    map(
        stem,
        "service app repo repository project database site shop module package server cluster library website tool portal dienst projekt servicio proyecto projet".split(),
    )
)
_GROUPS = frozenset(map(stem, "team department group squad abteilung gruppe equipo departamento grupo equipe departement".split()))
_WITH_ME = frozenset("i we ich wir yo nosotros je nous me us mich mir".split())
_WHOLE = frozenset(map(stem, "whole entire full ganz ganze gesamte todo toute dev small new".split()))


def _of_others(old: Claim, new: Claim) -> bool:
    """What "we" or "I" do, and then the analytics team, or my colleague, does."""
    if old.subject.partition("'s")[0] not in {"user", "we"}:
        return False
    team = {which for noun, which in new.joined if noun in _GROUPS} - new.towards - old.core - _WHOLE
    somebody = bool(frozenset(map(stem, new.subject.replace("'s", "").split())) & _KIN - old.core) and not new.verbs & _WITH_ME
    return bool(team) or somebody or ("'s" in new.verbs and bool((new.core & _KIN) - old.core - new.towards) and "'s" not in old.subject)


def _told(claim: Claim) -> frozenset[str]:
    """The stems of what it is about."""
    return frozenset(map(stem, claim.subject.replace("'s", "").split())) | claim.where


_SAME = frozenset(
    map(
        stem,
        "got gets get meeting event date time call appointment party trip project day session deadline class team termin treffen feier reise reunion cita fiesta viaje fecha".split(),
    )
)
"""Heads that name the same thing: the standup, the standup meeting."""


def narrower(old: Claim, new: Claim) -> bool:
    """The travel budget after the budget, the deadline for the slides after the deadline: a thing that the earlier one does not name."""
    known = old.core | old.where | frozenset(map(stem, old.verbs))
    about = _told(old)
    subject = frozenset(map(stem, new.subject.replace("'s", "").split()))
    if any(
        which in about and noun in subject and noun not in known | _SAME for noun, which in new.joined
    ):  # the demo rehearsal after the demo
        return True
    return any(noun in about and which not in known and which not in new.towards for noun, which in new.joined)


def limited(old: Claim, new: Claim) -> bool:
    """What is said of one place only, after what was said of all."""
    return bool(new.inside) and not new.inside <= old.core | old.where | old.inside | frozenset(map(stem, old.verbs))

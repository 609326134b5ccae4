"""Whom or what a clause is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leporello.core.facts import cues_words as words
from leporello.core.facts.clauses import find
from leporello.core.facts.cues_frames import PERSONAL, Phrase
from leporello.core.facts.span import DROPPED, Span
from leporello.core.facts.tokens import Token, stem

VERBS = frozenset(
    "has have had hat haben ha han tiene tienen a ont besteht consists costs kostet cuesta coute takes dauert tarda dure allows lasts goes opens closes requires needs supports runs uses works sells offers weighs covers includes contains stores sends expires returns starts ends leaves arrives flies departs serves handles comes stays stands sits".split()
)
_AFTER_SUBJECT = words.SCHEDULE | words.CHANGE_STEMS | words.ENDED | words.NEGATION | VERBS
_IMPERATIVES = frozenset(
    "please call use always never do keep remember make add write send don't avoid put run name set bitte nenn nutze verwende schreib por llamame usa utilise appelle when".split()
)
_RELATIONS = frozenset(
    """sister brother mother father mum mom dad wife husband partner son daughter friend colleague neighbour neighbor boss cousin uncle aunt grandpa grandma grandmother grandfather girlfriend boyfriend roommate flatmate coworker manager
    schwester bruder mutter vater frau mann freund freundin sohn tochter kollege kollegin nachbar nachbarin chef chefin cousine onkel tante oma opa
    hermana hermano madre padre mujer marido amigo amiga hijo hija colega vecino vecina jefe jefa prima primo tia tio abuela abuelo novia novio
    soeur frere mere pere femme mari ami amie fils fille collegue voisin voisine""".split()
)
_TITLES = frozenset("frau herr herrn mr mrs ms dr prof senor senora don dona madame monsieur mme".split())
_PLURAL_VERBS = frozenset(
    "are were have do happen run take use go need start begin pass fail get sind haben werden son sont ont usan".split()
)
_KIN = frozenset("爸妈哥弟姐妹父母儿女妻丈婆朋同")
_USER = frozenset("user nutzer usuario utilisateur benutzer".split())
_I = frozenset("i we ich wir je j' nous yo nosotros nosotras".split())
_NOT_NOUNS = (
    frozenset("want wants wanted hopes needs dejo deje dejado dejamos dejaron".split())
    | DROPPED
    | words.CUMULATIVE
    | words.FIRST
    | words.FIRST_MANY
    | words.ENDED
    | words.EVENT_VERBS
)


@dataclass(frozen=True)
class Context:
    """Who speaks ("" where that is not known), and whom the clause before was about."""

    speaker: str
    before: str

    @property
    def first_person(self) -> str:
        return self.speaker or "user"


def subject(span: Span, end: int, phrase: Phrase | None, context: Context) -> tuple[str, bool]:
    """The subject before position `end`, and whether it is somebody."""
    positions = [i for i in range(end) if i not in span.used and span.kept[i].fold not in words.ADVERBS]
    folded = [span.kept[i].fold for i in positions]
    owner = _owner(folded, context)
    nouns = [span.kept[i] for i in positions if i not in span.counted and span.kept[i].fold not in _NOT_NOUNS]
    if len(nouns) > 1 and nouns[0].fold in _TITLES and nouns[1].capital:
        nouns = nouns[1:]
    if nouns and all(t.fold in _USER for t in nouns):
        return context.first_person, True
    personal = phrase is not None and phrase.predicate in PERSONAL
    if not nouns:
        return _pronoun(span, folded, owner, end, personal, phrase is not None, context)
    if len(nouns) == 2 and nouns[0].fold in _RELATIONS and nouns[1].capital and {"de", "von", "of", "d'"} & set(folded):
        return f"{nouns[1].fold}'s {stem(nouns[0].fold)}", True
    name = _name(span, nouns, positions, personal)
    if name:
        return name, True
    stems = " ".join(sorted({stem(t.fold) for t in nouns}))
    if owner:
        return (f"{owner}'s {stems}", personal) if _only_owns(folded) else (owner, True)
    if all(t.fold in words.TEAM for t in nouns):
        return "we", False
    if len(nouns[0].fold) == 1 and not nouns[0].fold.isascii() and len(nouns) <= 4 and "的" not in folded:
        return "".join(t.fold for t in nouns), True
    if not all(t.capital for t in nouns) or any(w in words.DETERMINERS for w in folded):
        return stems, False
    return " ".join(t.fold for t in nouns), personal or not (_scheduled(span) or _plural(nouns[-1].fold, _after(span, nouns[-1])))


def _owner(folded: Sequence[str], context: Context) -> str:
    for word in folded:
        if word in words.FIRST:
            return context.first_person
        if word in words.FIRST_MANY:
            return "we"
    return ""


def _name(span: Span, nouns: Sequence[Token], positions: Sequence[int], personal: bool) -> str:
    """The name of somebody: after what they are to the speaker ("my sister Kate"), or first in a clause about somebody."""
    if len(nouns) < 2:
        return ""
    if nouns[-1].capital and nouns[-2].fold in _RELATIONS:
        return nouns[-1].fold
    leads = personal and nouns[0].capital and span.kept[positions[0]] is nouns[0] and not nouns[1].capital
    return nouns[0].fold if leads and span.fold_at(positions[0] + 1) != "'s" else ""


def _pronoun(span: Span, folded: Sequence[str], owner: str, end: int, personal: bool, framed: bool, context: Context) -> tuple[str, bool]:  # noqa: PLR0917 - one caller
    if owner:
        return owner, owner != "we" or personal
    if any(w in words.TEAM for w in folded):
        return "we", False
    if any(w in words.OTHERS for w in folded):
        return context.before or "?", bool(context.before)
    if {"his", "her", "their", "its"} & set(folded):
        return "?", False
    verb = span.kept[end].text.lower() if framed and end < len(span.kept) else ""
    if verb.endswith("mos"):
        return "we", True
    if (len(verb) > 2 and verb.endswith(("o", "é"))) or _first_person(span.kept[0], span.fold_at(1)):
        return context.first_person, True
    return "", False


def _only_owns(folded: Sequence[str]) -> bool:
    """My brother: the first person only owns the subject."""
    return not any(w in _I for w in folded) and not ("我" in folded and "的" not in folded and _KIN.isdisjoint(folded))


def _scheduled(span: Span) -> bool:
    return bool(span.folded & words.SCHEDULE - {"in", "on"})


def _after(span: Span, noun: Token) -> str:
    at = next(i for i, t in enumerate(span.kept) if t is noun)
    return next((span.kept[i].fold for i in span.spine if i > at), "")


def _plural(noun: str, verb: str) -> bool:
    """Tests are, deploys happen: not a name, though it begins the sentence with a capital letter."""
    return noun.endswith("s") and verb in _PLURAL_VERBS


def dative(span: Span, end: int, context: Context) -> str:
    """Me gusta, mir gefällt: the first person, or ""."""
    return context.first_person if any(span.kept[i].fold in {"me", "mir", "nos", "uns"} for i in range(end)) else ""


def first_verb(span: Span) -> int:
    """Where the subject ends when the verb is not known: after the leading name or pronoun, before a time or a verb that is known."""
    over = -1 if span.kept[0].fold.isascii() else _cjk_verb(span)
    if over > 0:
        return over
    first, after = span.kept[0], span.fold_at(1)
    if first.fold in words.DETERMINERS and after not in words.COPULA and after not in VERBS:
        known = (i for i in span.spine if i and (i in span.used or i in span.counted or span.kept[i].fold in _AFTER_SUBJECT))
        return next(known, min(2, len(span.kept)))
    if first.fold in _IMPERATIVES or _first_person(first, after):
        return 0
    if (first.fold in _TITLES or first.fold in _RELATIONS) and first.capital and len(span.kept) > 2 and span.kept[1].capital:
        return 2
    if first.capital or first.fold in words.FIRST or first.fold in words.FIRST_MANY or first.fold in words.OTHERS:
        return 1
    return next((i for i in span.spine if i in span.used or i in span.counted), len(span.kept))


def _cjk_verb(span: Span) -> int:
    """Where a word of change or of an end stands."""
    over = find(span.kept, words.ENDED_PHRASES)
    changed = next((i for i, t in enumerate(span.kept) if i and t.fold in words.CHANGE_STEMS), -1)
    return min(i for i in (over, changed, len(span.kept)) if i >= 0) if max(over, changed) >= 0 else -1


def _first_person(first: Token, after: str) -> bool:
    """Dejé, he vuelto: a Spanish first person without a pronoun."""
    if first.fold == "he" and after.endswith(("ado", "ido", "uelto", "echo", "ito")):
        return True
    return len(first.text) > 3 and first.text[-1] in {"é", "í"}

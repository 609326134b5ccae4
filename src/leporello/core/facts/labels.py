"""What stands before a colon: who speaks, what a line is filed under, or an attribute with its one value."""

from __future__ import annotations

import re
from collections.abc import Sequence

from leporello.core.facts import cues_words as words
from leporello.core.facts.cues_frames import PHRASES
from leporello.core.facts.cues_kinds import ATTRIBUTES
from leporello.core.facts.tokens import Token, fold, tokens

SPEAKER = re.compile(r"^\s*([^\W\d_][\w.'’ -]{0,30}?)(?: \([^()]{1,30}\))?:\s+(?=\S)")
_TOPIC = re.compile(r"^\s*((?:[^\n.!?:：。]|\.(?=\S)){1,100}?(?:\([^()\n]{0,40}\))?)(?::\s+|：\s*)(?=\S)")
_TRAIL, _TRAIL_MOST = " › ", 200
"""Between the headings that stand over one another, and how long the last of them is at most."""
_NESTED = 3
_LABEL_MOST, _VALUE_MOST = 4, 5
"""Words of a label and of its value."""
NOT_SPEAKERS = frozenset(
    "update note fyi correction edit ps todo fact preference decision reminder warning summary user assistant actualizacion nota hinweis aktualisierung korrektur".split()
)
_LEADS = frozenset("user update fyi note".split())
_PARTICLES = frozenset("de da di von van der den la le al el".split())
_OWN = (words.FIRST - {"im"}) | frozenset(
    "vivo trabajo tengo soy estoy uso prefiero quiero odio adoro hablo bebo me voy he nos vivimos trabajamos tenemos somos usamos preferimos".split()
)
LABELS = frozenset(
    """deadline owner port version status budget name email e-mail mail phone telephone address birthday age role title employer location venue date time price cost salary rent size window timezone locale
    license licence host hostname url branch password colour color priority lead manager boss city country currency height weight language database username severity assignee reviewer maintainer
    frist termin besitzer eigentumer stand preis kosten adresse telefon telefonnummer geburtstag alter rolle titel ort datum gehalt miete sprache datenbank passwort farbe prioritat leiter leiterin wohnort
    plazo fecha dueno responsable puerto estado presupuesto nombre correo telefono direccion edad rol titulo lugar hora precio coste costo salario sueldo alquiler idioma contrasena prioridad ciudad
    delai echeance proprietaire statut etat nom courriel adresse anniversaire titre lieu heure prix cout salaire loyer langue couleur priorite ville""".split()
)
"""Nouns of which a thing has one: what stands after them and a colon is their value."""
_CJK_LABELS = frozenset(
    "名 字|姓 名|状 态|预 算|版 本|端 口|电 话|邮 箱|地 址|地 点|生 日|年 龄|价 格|负 责 人|截 止 日 期|日 期|时 间|密 码|颜 色".split("|")
)
_OF = frozenset("of de del du des d' von der for fur para pour".split())
_VERBS = (
    words.COPULA
    | words.FIRST_MANY
    | (words.FIRST - {"im"})
    | frozenset("has have had does do can will must should hat haben tiene a".split())
)


def split_speaker(text: str) -> tuple[str, str]:
    """The speaker's name at the start of `text` ("Alice: I moved", "alice: My flat is …") or "", and the rest."""
    found = SPEAKER.match(text)
    if not found or len(found.group(1).split()) > 3:
        return "", text
    name, rest = found.group(1), text[found.end() :]
    folded = [fold(w) for w in name.split()]
    if folded[0] in NOT_SPEAKERS:
        return "", rest if folded[0] in _LEADS else text
    if any(w in words.STOP or w in words.COPULA or w in ATTRIBUTES or w in LABELS for w in folded):
        return "", text
    if any(w[0].islower() and w not in _PARTICLES for w in name.split()) and len(folded) > 1:
        return "", text
    own = not _OWN.isdisjoint(t.fold for t in tokens(rest[:400]))
    return (name, rest) if own else ("", text)


def split_topic(text: str) -> tuple[str, str]:
    """What `text` is filed under ("Conventions: Records are …", "Guide › Style: …"), folded, or "", and the rest.

    A label with its value ("Deadline: Friday") stays in the rest.
    """
    topics: list[str] = []
    trail = text.rfind(_TRAIL, 0, 600)
    if trail >= 0 and 0 <= (end := text.find(": ", trail)) - trail <= _TRAIL_MOST:
        topics, text = [text[:end]], text[end + 2 :]
    for _ in range(_NESTED):
        found = _TOPIC.match(text)
        if not found or not _is_topic(found.group(1), text[found.end() :]):
            break
        topics.append(found.group(1))
        text = text[found.end() :]
    return " / ".join(" ".join(fold(w) for w in t.split()) for t in topics), text


def _is_topic(label: str, rest: str) -> bool:
    named = [t for t in tokens(label) if not t.mark]
    plain = [t.fold for t in named]
    if not plain or plain[0] in NOT_SPEAKERS or not heads(named):
        return False
    return not is_attribute(plain, [t.fold for t in tokens(re.split(r"[.!?。\n](?:\s|$)", rest, maxsplit=1)[0]) if not t.mark])


def is_attribute(label: Sequence[str], value: Sequence[str]) -> bool:
    """Whether the folded words name an attribute that holds one value, and those after the colon are one: few, without a verb."""
    if not label or not value or len(label) > (_LABEL_MOST if label[0].isascii() else 8):
        return False
    named = label[-1] in LABELS or (label[0] in LABELS and len(label) > 2 and label[1] in _OF) or " ".join(label) in _CJK_LABELS
    most = _VALUE_MOST if value[0].isascii() else 2 * _VALUE_MOST
    return named and len(value) <= most and not _has_verb(value)


def _has_verb(value: Sequence[str]) -> bool:
    if not _VERBS.isdisjoint(value[1:] if value[0].isascii() else ()):
        return True
    return len(value) > 2 and any(len(p.words) == 1 and not p.tail and w.isascii() for w in value for p in PHRASES.get(w, ()))


def heads(label: Sequence[Token]) -> bool:
    """Whether the words may stand over others: no sentence, nothing that says what became of them ("Cancelled: …", "Change of plans: …")."""
    plain = [t.fold for t in label]
    if not _TELLING.isdisjoint(plain) or (len(plain) < 3 and plain[0] in words.CHANGE_STEMS | words.ENDED | words.NEGATION):
        return False
    if plain[0] in _ANNOUNCING and not any(t.capital for t in label[1:]):
        return False
    if any(tuple(plain[: len(p)]) == p for p in words.LEADS.get(plain[0], ())):
        return False
    return not says([t.fold for t in label[1:] if not t.capital])


_ANNOUNCING = frozenset(
    "new news important heads quick small good bad attention info btw also plan neu neue neuer neues wichtig achtung nuevo nueva importante atencion nouveau nouvelle important attention".split()
)
"""New plan: …, heads up: …"""
_TELLING = (
    words.COPULA
    | words.FIRST
    | words.FIRST_MANY
    | words.CORRECTION
    | frozenset("he she they you er sie ella ellos il elle ils 我 你 他 她".split())
)


def says(plain: Sequence[str]) -> bool:
    """Whether one of the folded words begins what rules read: a phrase, a verb of change, the first person."""
    return any(
        w in PHRASES or w in words.COPULA or w in words.CHANGE_STEMS or w in words.ENDED or w in words.FIRST or w in words.FIRST_MANY
        for w in plain
    )

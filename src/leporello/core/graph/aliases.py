"""Other names for the same: as a fact says, by the first name of one full name, by the base name of one path. Never by likeness.

Each alias leads to a name; where it could lead to two, it leads to none.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from leporello.core.graph.entities import tame
from leporello.core.graph.lexicon import words
from leporello.core.graph.shapes import EntityKind, key
from leporello.records import Fact

_UPPER = "[A-ZÀ-ÖØ-ÞА-Я]"
_NAME = rf"(?<![\w./@-])({_UPPER}[\w'’.-]{{0,40}}(?: {_UPPER}[\w'’-]{{0,40}}){{0,3}}|@[\w-]{{1,40}}|[\w.-]{{0,40}}/[\w./-]{{1,80}}|[a-z]{{1,40}}[A-Z_]\w{{1,40}})"
_HAN = "[\u4e00-\u9fff\u3040-\u30ff·]"
_CJK = rf"[「“\"《]?({_HAN}{{1,8}}?|[A-Za-z][\w ]{{0,30}}?)[」”\"》]?"
_QUOTE = "[\"'“”„«»‘’]?"
_FULL = re.compile(rf"^((?!\d){_UPPER}\w+) [(\"“„]({_UPPER}\w+)[)\"”“]((?: {_UPPER}\w+)+)$")

_FORWARD = tuple(
    re.compile(p)
    for p in (
        # the full name, then the other one
        rf"{_NAME},? (?:is |was )?(?:also|better|sometimes|often|usually) (?:known as|called|named|goes by) {_QUOTE}{_NAME}",
        rf"{_NAME},? (?:a\.?k\.?a\.?|alias|nicknamed|known as|goes by) {_QUOTE}{_NAME}",
        rf"{_NAME} is (?:called|nicknamed) {_QUOTE}{_NAME}{_QUOTE} (?:by|for short|among)",
        rf"{_NAME}(?:'s|’s) (?:nickname|alias|other name|code ?name|short name) is {_QUOTE}{_NAME}",
        rf"(?:nickname|alias|code ?name|short name) (?:of|for) {_NAME} is {_QUOTE}{_NAME}",
        rf"{_NAME},? (?:heißt auch|auch bekannt als|auch genannt|genannt|alias|besser bekannt als) {_QUOTE}{_NAME}",
        rf"{_NAME} wird (?:auch |von \w+ |meist )?{_QUOTE}{_NAME}{_QUOTE} genannt",
        rf"(?:Spitzname|Kurzname|Rufname|Kosename) von {_NAME} (?:ist|lautet) {_QUOTE}{_NAME}",
        rf"{_NAME}s (?:Spitzname|Kurzname|Rufname) (?:ist|lautet) {_QUOTE}{_NAME}",
        rf"{_NAME},? (?:también conocid[oa] como|conocid[oa] como|alias|apodad[oa]|más conocid[oa] como) {_QUOTE}{_NAME}",
        rf"[Aa] {_NAME} (?:le|lo|la) (?:dicen|llaman) {_QUOTE}{_NAME}",
        rf"[Ee]l apodo de {_NAME} es {_QUOTE}{_NAME}",
    )
)
_BACKWARD = tuple(
    re.compile(p)
    for p in (
        # the other name, then the full one
        rf"{_NAME} is (?:short|a nickname|the nickname|a short form|an alias|another name|the code ?name|an abbreviation) (?:for|of) {_QUOTE}{_NAME}",
        rf"{_NAME} (?:stands|is short) for {_QUOTE}{_NAME}",
        rf"{_NAME} ist (?:die Kurzform|der Spitzname|die Abkürzung|kurz|ein Spitzname|der Rufname) (?:von|für) {_QUOTE}{_NAME}",
        rf"{_NAME} ist ein anderer Name für {_QUOTE}{_NAME}",
        rf"{_NAME} es (?:el apodo|el diminutivo|el alias|un apodo|la abreviatura|otro nombre) (?:de|para) {_QUOTE}{_NAME}",
    )
)
_EITHER = re.compile(rf"(?:^|[\s(]){_NAME} (?:=|==|is the same (?:person |one )?as) {_QUOTE}{_NAME}")
_CJK_FORWARD = re.compile(
    rf"(?:^|[，。,\s]){_CJK}(?:又名|又叫|也叫做?|别名是?|外号叫?|绰号叫?|小名叫?|简称|(?:的(?:昵称|外号|绰号|小名|别名|简称)[是叫])|の愛称は|、?通称){_CJK}(?=$|[，。！,.\s]|です|だ)"
)
_CJK_BACKWARD = re.compile(rf"(?:^|[，。,\s]){_CJK}是{_CJK}的(?:昵称|外号|绰号|小名|别名|简称|又名)")
_PREDICATES = frozenset(
    map(
        key,
        (
            "alias",
            "aka",
            "also known as",
            "also called",
            "nickname",
            "nicknamed",
            "known as",
            "goes by",
            "is short for",
            "short for",
            "alias of",
            "nickname of",
            "heißt auch",
            "spitzname",
            "también conocido como",
            "apodo",
            "又名",
            "昵称",
            "小名",
        ),
    )
)
_HINT = re.compile(
    r"alias|a\.?k\.?a|known|call|nick|goes by|short|stands for|code ?name|abbrev|other name|=|same|genannt|heißt auch|bekannt|name (?:von|ist|für)|[Kk]urz"
    r"|Rufname|Abkürzung|conocid|apod|dicen|llaman|diminutivo|abreviatura|otro nombre|[又叫]|别名|外号|绰号|小名|简称|昵称|愛称|通称"
)
"""What every statement about names has some of: without it, no closer look is needed."""
_LONGEST = 2_000
_TRUSTED = frozenset({"user", "agent"})


@dataclass(frozen=True)
class Stated:
    """That two names are one: the alias, the name that it stands for, and both as written."""

    alias: str
    name: str
    written: tuple[str, str]


def stated(fact: Fact) -> list[Stated]:
    """What a fact says about names. What a tool or an outside source says names nobody: it could pass one for another."""
    if fact.trust not in _TRUSTED:
        return []
    found: list[Stated] = []
    if fact.subject and fact.object and key(fact.predicate.replace("_", " ")) in _PREDICATES:
        found += _pair(fact.subject, fact.object, either=True)
    if not _HINT.search(fact.text):
        return found
    text = tame(" ".join(fact.text[:_LONGEST].split()))
    for pattern in _FORWARD:
        found += [s for m in pattern.finditer(text) for s in _pair(m[1], m[2])]
    for pattern in _BACKWARD:
        found += [s for m in pattern.finditer(text) for s in _pair(m[2], m[1])]
    found += [s for m in _EITHER.finditer(text) for s in _pair(m[1], m[2], either=True)]
    found += [s for m in _CJK_FORWARD.finditer(text) for s in _pair(m[1], m[2])]
    found += [s for m in _CJK_BACKWARD.finditer(text) for s in _pair(m[2], m[1])]
    return list(dict.fromkeys(found))


def of_full_name(name: str) -> list[Stated]:
    """`Robert (Bob) Smith` is Robert Smith, Bob and Bob Smith."""
    match = _FULL.match(name)
    if match is None:
        return []
    whole = f"{match[1]}{match[3]}"
    others = (name, match[2], f"{match[2]}{match[3]}")
    return [Stated(key(o), key(whole), (o, whole)) for o in others]


def resolve(said: Iterable[Stated], kinds: Mapping[str, EntityKind]) -> dict[str, str]:
    """From each alias to the key of its name, at the end of all chains. `kinds` are the known keys."""
    leads: dict[str, set[str]] = defaultdict(set)
    for s in said:
        leads[s.alias].add(s.name)
    told = _ends(leads)
    found = {**dict(_base_names(kinds)), **dict(_first_names(kinds, told))}
    return {**{alias: told.get(name, name) for alias, name in found.items()}, **told}


def _pair(name: str, other: str, *, either: bool = False) -> list[Stated]:
    name, other = name.strip(" .,"), other.strip(" .,@")
    name = name.lstrip("@")
    a, b = key(name), key(other)
    if not a or not b or a == b or {a, b} & (words("never") | words("starter")):
        return []
    if either and (len(b), b) > (len(a), a):
        name, other, a, b = other, name, b, a
    return [Stated(b, a, (other, name))]


def _ends(leads: Mapping[str, set[str]]) -> dict[str, str]:
    """The one name at which each alias ends; an alias that ends at two, or in a circle of which it is not the first, has none."""
    out: dict[str, str] = {}
    for alias in leads:
        ends: set[str] = set()
        seen, ahead = {alias}, sorted(leads[alias])
        while ahead:
            at = ahead.pop()
            if at in seen:
                continue
            seen.add(at)
            if at in leads:
                ahead += sorted(leads[at])
            else:
                ends.add(at)
        if not ends and min(seen) != alias:
            ends = {min(seen)}
        if len(ends) == 1:
            out[alias] = ends.pop()
    return out


def _first_names(kinds: Mapping[str, EntityKind], told: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """A person's first name stands for the full name if no other name begins with it."""
    full: dict[str, set[str]] = defaultdict(set)
    for name in kinds:
        first, _, rest = name.partition(" ")
        if rest and len(first) > 1 and kinds.get(name) in {"person", "name"} and " of " not in name:
            full[first].add(told.get(name, name))
    for first, whole in full.items():
        if len(whole) == 1 and kinds.get(name := next(iter(whole))) == "person":
            yield first, name


def _base_names(kinds: Mapping[str, EntityKind]) -> Iterable[tuple[str, str]]:
    """The end of a path stands for the whole if no other path ends so."""
    paths = sorted(k for k, kind in kinds.items() if "/" in k and kind == "file")
    ends: dict[str, set[str]] = defaultdict(set)
    for path in paths:
        parts = path.lstrip("./~").split("/")
        for i in range(len(parts)):
            end = "/".join(parts[i:])
            if end != path:
                ends[end].add(path)
    for end, found in ends.items():
        longest = max(found, key=lambda p: (len(p), p))
        if all(longest.endswith("/" + p.lstrip("./~")) for p in found if p != longest):
            yield end, longest

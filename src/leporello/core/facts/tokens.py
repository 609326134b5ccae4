"""Words and clauses of a statement."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

CLIP = 1_600
"""Characters of a text that are read; what a longer one says later is not taken for a statement."""
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(
    rf"(?<!\w)(?:[Qq]u|[JjLlDdNnCcSsMmTt])['’](?=[^\W\d])|\d+(?:[.,:/-]\d+)*(?:[A-Za-z%°µ]+(?:/[A-Za-z]+)?)?|[{_CJK}]|[^\W_{_CJK}]+(?:[-_./@+#][^\W_{_CJK}]+)*(?:\+\+|#)?|['’](?:s|re|ve|ll|m|d|t)\b|[%€$£¥°]|[.,;:!?()\"“”«»—–\n，。！？；：、（）「」]"
)
_ACCENTS = re.compile("[\u0300-\u036f]+")
_MARKS = frozenset('.,;:!?()"“”«»—–\n，。！？；：、（）「」')
_CONTRACTED = {"m": "am", "re": "are", "ve": "have", "ll": "will", "d": "would"}
_NOT = {"don": "do", "doesn": "does", "didn": "did", "isn": "is", "aren": "are", "wasn": "was", "weren": "were", "won": "will", "wouldn": "would", "can": "can", "couldn": "could", "shouldn": "should", "haven": "have",
        "hasn": "has", "hadn": "had"}  # fmt: skip
_PRONOUNS_IS = frozenset("it that he she there what who here where how".split())


class Token(NamedTuple):
    """A word: as written, folded (lower case, no diacritics), whether it has a capital letter, whether it is a mark."""

    text: str
    fold: str
    capital: bool
    mark: bool


@lru_cache(maxsize=1 << 14)
def fold(word: str) -> str:
    """Lower case without diacritics; umlauts lose their dots, ß becomes ss."""
    if word.isascii():
        return word.lower()
    if word.lower() in {"thé", "té"}:  # without its accent it is an article or a pronoun
        return "tea"
    return _ACCENTS.sub("", unicodedata.normalize("NFKD", word.casefold()))


@lru_cache(maxsize=1 << 14)
def stem(word: str) -> str:
    """A folded word without the endings that most plurals and cases of the languages read here have."""
    if len(word) < 4 or not word.isalpha():
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    for ending, least in (
        ("ungen", 7),
        ("iones", 7),
        ("ing", 6),
        ("ed", 6),
        ("erinnen", 9),
        ("erin", 8),
        ("torin", 8),
        ("en", 7),
        ("es", 5),
        ("s", 4),
        ("e", 4),
        ("n", 7),
    ):
        if word.endswith(ending) and len(word) >= least and not word.endswith(("ss", "us", "is")):
            bare = word[: -len(ending)]
            if ending in {"erin", "torin", "erinnen"}:
                return stem(bare + ending[:2] if ending != "torin" else bare + "tor")
            if ending == "ungen":
                return bare + "ung"
            if ending == "iones":
                return bare + "ion"
            if ending in {"ing", "ed"} and len(bare) > 3 and bare[-1] == bare[-2] and bare[-1] not in "ls":
                return bare[:-1]
            if ending in {"es", "en"} and len(bare) > 3 and bare.endswith("e"):
                return bare[:-1]
            return bare[:-1] if len(bare) > 4 and bare.endswith("e") else bare
    return word


_PREFIX = 5


def _gendered(word: str, others: frozenset[str]) -> bool:
    """Hermano, hermana."""
    return word[-1] in "ao" and word[:-1] + ("o" if word[-1] == "a" else "a") in others


def apart(first: frozenset[str], second: frozenset[str]) -> frozenset[str]:
    """The stems of the first that the second has neither so nor with another ending."""
    left = first - second
    heads = {s[:_PREFIX] for s in second if len(s) >= _PREFIX and s.isalpha() and not _gendered(s, left)}
    return frozenset(s for s in left if len(s) < _PREFIX or not s.isalpha() or s[:_PREFIX] not in heads) if left and heads else left


def tokens(text: str) -> list[Token]:
    """The words and marks of a text; contractions are written out ("don't": do, not), elisions split ("j'aime": j', aime)."""
    out: list[Token] = []
    for raw in _TOKEN.findall(text[:CLIP]):
        if raw in _MARKS:
            out.append(Token(raw, raw, False, True))
        elif raw[0] in "'’":
            _contract(out, raw[1:].lower())
        elif raw[-1] in "'’":
            out.append(Token(raw, fold(raw[:-1]) + "'", False, False))
        else:
            out.append(_word(raw))
    return out


def _word(raw: str) -> Token:
    return Token(raw, fold(raw) or raw, raw[0].isupper() or (len(raw) > 1 and any(map(str.isupper, raw))), False)


def _contract(out: list[Token], ending: str) -> None:
    before = out[-1].fold if out else ""
    if ending == "t" and before in _NOT:
        out[-1] = Token(out[-1].text, _NOT[before], False, False)
        out.append(Token("not", "not", False, False))
    elif ending == "s":
        out.append(Token("is", "is", False, False) if before in _PRONOUNS_IS else Token("'s", "'s", False, False))
    else:
        word = _CONTRACTED.get(ending, ending)
        out.append(Token(word, word, False, False))

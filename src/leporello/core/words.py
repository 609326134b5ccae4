"""From text to index terms: one hash per word occurrence, in order, for every script.

Words of spaced scripts are folded (NFKC, case, diacritics) and stemmed by script. Runs of Chinese, Japanese, Korean,
Thai, Lao, Khmer and Burmese, which have no spaces to rely on, give their characters and their pairs of characters.
Identifiers, paths, versions and numbers with units (`max_retries`, `HTTPServer`, `src/auth.py`, `v2.1`, `250ms`) give
the whole and its parts, so that either finds them. A term is the CRC-32 of its UTF-8 bytes: stable between runs and
machines, and with a vocabulary of 100,000 a chance of 1 in 40,000 that a given query word meets a stranger.
"""

from __future__ import annotations

import re
import threading
import unicodedata
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

HEAD, TAIL = 48_000, 16_000
"""Characters at the start and at the end of a text that are indexed; what is between them in a longer text is not."""

_MONTHS = "January February March April May June July August September October November December".split()
_SHORT = {m[:3].lower(): m.lower() for m in _MONTHS} | {"sept": "september"}

_LISTS = {
    "stop":
    # English, with the pieces that an apostrophe leaves
    """a about after again all also am an and any are as at be because been before being between both but by can could d did do does doing
    don during each few for from further had has have having he her here hers herself him himself his how i if in into is it its itself
    just ll m me more most my myself no nor not now of off on once only or other our ours ourselves out over own re s same she should
    so some such t than that the their theirs them themselves then there these they this those through to too under until up ve very
    was we were what when where which while who whom whose why will with would you your yours yourself yourselves
    doesn didn isn wasn aren weren won wouldn couldn shouldn hasn haven hadn
    """
    # Spanish, Portuguese, Italian, French, German (short words of one language that are content words of another are left out)
    """de la el los las un una unos unas y o que qué en del al para se su sus es fue como cómo cuál cual cuáles quién quien dónde
    cuándo cuánto cuántos cuántas lo le les più han muy pero este esta estos estas ese esa
    dos das da em um uma com não ao aos na nas nos pelo pela qual quais quem onde quando
    il gli di che è sono della dei delle nel nella quale quali
    une des du et sont dans qui quoi où ce cette ces au aux avec ne pas
    der das den dem ein eine einer eines einem einen und oder ist sind waren nicht von zu im auf wer wie wo wann welche welcher welches
    """
    # Russian, Arabic
    """и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по ее мне было вот от меня еще нет о из ему когда
    кто где какой какая какие был была были это
    في من على إلى الى عن ما ماذا متى اين أين كيف كم هل هو هي هذا هذه التي الذي الذين كان كانت و أو او ان أن لا مع
    """
    # Chinese and Japanese: particles, question words
    """的 了 是 在 和 吗 呢 吧 啊 呀 我 你 他 她 它 们 这 那 有 什 么 哪 几 个 谁 は が を に の で と も へ か
    """,
    "first person": "i my me mine we our yo je mes moi ich mein meine meinen mich я мой моя мне меня 我 私 僕 나 내 أنا",
    "second person": "you your yours tu tus vous votre du dein deine você ты твой вы ваш 你 您 أنت",
}

# Scripts written without spaces between words, and hangul, whose endings no stemmer here knows.
_DENSE = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u19e0-\u19ff\u3005-\u3007\u3040-\u318f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uaa60-\uaa7f\uac00-\ud7ff\uf900-\ufaff\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
_SYMBOLS = "\u203c\u2049\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\ud800-\udfff\U0001f000-\U0001faff"
_ACCENTS = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a"
    "\u0640\u064b-\u065f\u0670\u06d6-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]+"
)
_ASCII = re.compile(r"[A-Za-z0-9_]+(?:[./@:\-][A-Za-z0-9_]+){0,15}(?:\+\+|#(?![A-Za-z0-9_]))?")
_RUN = re.compile(r"[A-Za-z]+|\d+")
_WIDE_RUN = re.compile(r"[^\d_./@:+#\-]+|\d+")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_PAST = re.compile(r"\b(?:did|was|were|had|ago|before|originally|initially|used to)\b", re.IGNORECASE)
_ORDER = re.compile(r"\b(?:first|after)\b", re.IGNORECASE)
_IS = re.compile(r"^\W*(?:what|when|where|who|which|how \w+)(?:['’]s| is| are)\b", re.IGNORECASE)
_PRESENT = re.compile(
    r"^\W*(?:how (?:many|much|long|often)|what(?:'s|’s| is) (?:the|my|our)|when is)\b|\b(?:now|currently|latest|nowadays)\b"
    r"|\b(?:jetzt|aktuell|ahora|actualmente|maintenant|actuellement|adesso|agora|сейчас|теперь)\b|الآن|现在|目前|当前|現在|지금",
    re.IGNORECASE,
)
_THEN = re.compile(
    r"\b(?:did|was|were|had|ago|before|after|between|since|until|first|last|earliest|originally|initially|previously|formerly|used to|back then|at the time|how long|when|history"
    r"|how many (?:hours|days|weeks|months|years)|yesterday|(?:19|20)\d\d|january|february|april|june|july|august|september|october|november|december"
    r"|wann|damals|früher|zuvor|zwischen|nachdem|bevor|seit|gestern|ursprünglich|war|waren|hatte[n]?|wie lange|wie viele (?:tage|wochen|monate|jahre)"
    r"|cuándo|cuando|antes|después|entre|desde|ayer|hace|fue|era|primero|cuánto tiempo|cuántos (?:días|meses|años)"
    r"|quand|avant|après|depuis|hier|était|d'abord|combien de (?:temps|jours|semaines|mois)|когда|раньше|после|между|вчера|сначала|был[аои]?)\b"
    r"|什么时候|何时|之前|之后|以前|当时|昨天|多久|几天|几周|几个月|最初|第一次|いつ|以前|昨日|언제|이전",
    re.IGNORECASE,
)
_NEWS = re.compile(
    r"\b(?:recently|now|already|just|new|updated|latest|increased|reached|improved|grown|grew|dropped|extended|moved|moving|rescheduled|postponed|changed|switched|so far|total of|no longer|"
    r"jetzt|inzwischen|bereits|neue[rsn]?|verschoben|ahora|nuev[oa]|aumentó|maintenant|désormais|nouve(?:au|lle)|adesso|agora|теперь|сейчас)\b[^.?!\n]{0,80}?\d"
    r"|(?:现在|目前|已经|最近|改为|改到|改成|增加到|达到|推迟到)[^。！？\n]{0,20}?[\d一二三四五六七八九十]",
    re.IGNORECASE,
)
_NEWS_IN = 4_000  # characters of a message that are looked at
_STATEMENT = 400  # characters of a fact at most; an episode has more
_CHARACTER, _PAIR = 0.1, 0.7
_WORD_MAX = 64
_PARTS_MAX = 16
_STEMMERS = (
    ("a", "ɏ", "english"), ("Ͱ", "Ͽ", "greek"), ("Ѐ", "ԯ", "russian"), ("԰", "֏", "armenian"),
    ("؀", "ۿ", "arabic"), ("ऀ", "ॿ", "hindi"), ("஀", "௿", "tamil"), ("ἀ", "῿", "greek"), ("Ḁ", "ỿ", "english"),
)  # fmt: skip
_lock = threading.Lock()


@dataclass(frozen=True)
class QueryTerms:
    """The unique terms of a query, their weights in (0, 1], and the folded words that they stand for.

    `speakers` are the marks that messages by somebody of one of the query's words bear; `role` is the mark of the role
    that the query is about ("what did I say", "what did you advise"), 0 for none. See `index_terms`. `current` is true
    for a question about how things stand ("how many are there", "what is my deadline now"), which the newest of several
    statements answers; `past` for one about what was, or the course of time, which what is old may answer as well as what is new.
    """

    hashes: NDArray[np.uint32]
    weights: NDArray[np.float64]
    words: tuple[str, ...]
    speakers: NDArray[np.uint32]
    role: int
    current: bool
    past: bool = False


def terms(text: str) -> NDArray[np.uint32]:
    """One hash per term occurrence, in order (an identifier's whole comes before its parts). Any string is taken."""
    return np.frombuffer(b"".join(_hashes(text)), dtype="<u4")


def query_terms(text: str) -> QueryTerms:
    """The unique terms of a query. Stop words are left out unless there is nothing else.

    A pair of characters of a dense script is a part of a word and weighs less than a word; a single character weighs
    little beside its pairs, which say the same more precisely.
    """
    found: dict[str, float] = {}
    for chunk in _chunks(text):
        dense = _is_dense(chunk) and len(chunk) > 1
        for word in _split(chunk):
            weight = (_CHARACTER if len(word) == 1 else _PAIR) if dense else 1.0
            found[word] = max(weight, found.get(word, 0.0))
    stop = _folded("stop")
    telling = {w: x for w, x in found.items() if w not in stop} or found
    stems: dict[str, float] = {}
    for word, weight in telling.items():
        for form in dict.fromkeys((_stem(word), _stem(_SHORT.get(word, word)))):
            stems[form] = max(weight, stems.get(form, 0.0))
    hashes = np.array([_hash(w) for w in stems], dtype=np.uint32)
    speakers = np.array([_mark("by", w) for w in telling], dtype=np.uint32)
    weights = np.array(list(stems.values()), dtype=np.float64)
    return QueryTerms(
        hashes, weights, tuple(stems), speakers, _role_asked(set(found)), _asks_how_things_stand(text), bool(_THEN.search(text))
    )


def index_terms(text: str, *, name: str | None = None, role: str | None = None, at: datetime | None = None) -> NDArray[np.uint32]:
    """The terms of `index_text`, then marks that no text can bear: the role, each word of the name, the ISO date, and news.

    A user's message, or a statement, bears the mark of news if it tells how things stand by now, with a number ("has now reached 165").
    """
    found = [*_hashes(index_text(text, name=name, role=role, at=at)), _marks(name, role, at and at.date())]
    if (role == "user" or (role is None and len(text) <= _STATEMENT)) and _NEWS.search(text, 0, _NEWS_IN):
        found.append(_news())
    return np.frombuffer(b"".join(found), dtype="<u4")


def index_text(text: str, *, name: str | None = None, role: str | None = None, at: datetime | None = None) -> str:
    """What is embedded of a record: its date in words and its speaker (or else the role) stand in front of the text.

    Questions name days and people ("What did Kate cook on 29 December?") that messages only imply.
    """
    day = f"{at.day} {_MONTHS[at.month - 1]} {at.year} " if at else ""
    speaker = name or role
    return f"{day}{speaker}: {text}" if speaker else f"{day}{text}"


@lru_cache(maxsize=1 << 12)
def _marks(name: str | None, role: str | None, day: date | None) -> bytes:
    marks = [role_mark(role)] if role else []
    marks += [_mark("by", w) for chunk in _chunks(name or "") for w in _split(chunk)]
    marks += [_hash(day.isoformat())] if day else []
    return np.array(marks, dtype="<u4").tobytes()


def _hashes(text: str) -> list[bytes]:
    return [_known(c) if len(c) < _WORD_MAX else _packed(c) for c in _chunks(text)]


def news_mark() -> int:
    """The mark in `index_terms` of a user's message that tells how things stand by now."""
    return _mark("tells", "news")


@cache
def _news() -> bytes:
    return np.array([news_mark()], dtype="<u4").tobytes()


def role_mark(role: str) -> int:
    """The mark in `index_terms` of messages in this role."""
    return _mark("role", role)


def _asks_how_things_stand(text: str) -> bool:
    if _PAST.search(text) or (_ORDER.search(text) and not _IS.search(text)):
        return False
    return _PRESENT.search(text) is not None


def _mark(kind: str, word: str) -> int:
    return _hash(f"\0{kind} {word}")


def _role_asked(words: set[str]) -> int:
    if not words.isdisjoint(_folded("second person")):
        return role_mark("assistant")
    return 0 if words.isdisjoint(_folded("first person")) else role_mark("user")


@cache
def _folded(which: str) -> frozenset[str]:
    return frozenset(map(_fold, _LISTS[which].split()))


def _clipped(text: str) -> str:
    return text if len(text) <= HEAD + TAIL else f"{text[:HEAD]} {text[-TAIL:]}"


def _chunks(text: str) -> list[str]:
    text = _clipped(text)
    if text.isascii():
        return _ASCII.findall(text)
    return _unicode().findall(unicodedata.normalize("NFKC", text))


@cache
def _unicode() -> re.Pattern[str]:
    """Words with their combining marks, dense runs, and symbols. Built when first needed: it scans the character table."""
    marks = "".join(_ranges(c for c in range(0x300, 0x1E95B) if unicodedata.category(chr(c))[0] == "M"))
    word = rf"[^\W{_DENSE}]+(?:[{marks}\u200c]+[^\W{_DENSE}]*)*"
    return re.compile(rf"[{_DENSE}]+|{word}(?:[./@:\-]{word}){{0,15}}(?:\+\+|#(?!\w))?|[{_SYMBOLS}]")


def _ranges(points: Iterable[int]) -> Iterable[str]:
    first = last = -2
    for point in points:
        if point == last + 1:
            last = point
            continue
        if last >= 0:
            yield f"{chr(first)}-{chr(last)}"
        first = last = point
    yield f"{chr(first)}-{chr(last)}"


@cache
def _dense() -> re.Pattern[str]:
    return re.compile(f"[{_DENSE}]")


def _is_dense(chunk: str) -> bool:
    return not chunk.isascii() and _dense().match(chunk) is not None


def _split(chunk: str) -> list[str]:
    """The folded words of a chunk, not yet stemmed: the whole first, then the parts if there are several."""
    if _is_dense(chunk):
        return [*chunk, *(chunk[i : i + 2] for i in range(len(chunk) - 1))]
    whole = _fold(chunk).strip("_") or chunk
    runs = (_RUN if chunk.isascii() else _WIDE_RUN).findall(chunk)[:_PARTS_MAX]
    if len(runs) < 2 and (not runs or not _is_mixed(chunk)):
        return [_trimmed(whole)]
    parts = [p for run in runs for p in (run, *(_CAMEL.findall(run) if _is_mixed(run) else ()))]
    return list(dict.fromkeys([whole, *(_trimmed(_fold(p)) for p in parts)]))


def _is_mixed(word: str) -> bool:
    return word.isascii() and not (word.islower() or word.isupper() or word[1:].islower())


def _trimmed(word: str) -> str:
    """Days and months without a leading zero, so that 8 May finds 2023-05-08."""
    return word.lstrip("0") or "0" if len(word) == 2 and word.isdecimal() else word


def _bare(word: str) -> str:
    """Without diacritics; compatibility forms folded."""
    if word.isascii():
        return word
    apart = unicodedata.normalize("NFKD", word).replace("\u0438\u0306", "\u0439")  # Russian и and й are two letters
    return unicodedata.normalize("NFC", _ACCENTS.sub("", apart))


def _fold(word: str) -> str:
    return word.lower() if word.isascii() else _bare(word.casefold())


def _packed(chunk: str) -> bytes:
    return np.array([_hash(_stem(w)) for w in _split(chunk)], dtype="<u4").tobytes()


_known = lru_cache(maxsize=1 << 16)(_packed)


def _hash(word: str) -> int:
    return zlib.crc32(word.encode("utf-8", "surrogatepass"))


@cache
def _stemmer(language: str) -> Any:
    import snowballstemmer  # 40 languages: too slow to import for a program that only starts

    return snowballstemmer.stemmer(language)


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    """The stem by the script of the first letter; words with digits or connectors, and very long ones, stay as they are."""
    if len(word) < 3 or len(word) > _WORD_MAX or not word.isalpha():
        return word
    for first, last, language in _STEMMERS:
        if first <= word[0] <= last:
            with _lock:  # a stemmer keeps the word that it works on
                return str(_stemmer(language).stemWord(word))
    return word

"""Self-poisoning: text that memory has shown is known again when it comes back, however it is dressed.

Texts are read as words (characters, in scripts without spaces), so that case, punctuation, emphasis, quotation marks and line
breaks do not count. A sentence is an echo if all its words are runs of words of shown texts. A run has four words or six
characters at least, or is a whole sentence. One run may follow another only where a shown sentence ended and another
begins, so that halves of two sentences never make a third. One word of its own, and a sentence is new. What is not known
again by its runs is looked at once more by `likeness`, for which only words that tell something count.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from leporello.core.guard.likeness import DENSE as _DENSE
from leporello.core.guard.likeness import Likeness, visible

_MARKS = "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06ed\u0900-\u0963\u0966-\u0dff\u200c\u200d"
_GRAM = 4
_WORDS, _CHARACTERS = 4, 6
_CUT = 3
_TRIED = 64
_GAPS = 20
_GAP = ("…", False)
_CLIP = re.compile(r"\[?(?:…|\.{3,})\]?")
_STOP = re.compile(r"(?<=[.!?])[\"'”’»)\]*_]{0,3}\s+|(?<=[。！？])|\n")
_TAG = re.compile(r"</?leporello-memory[^<>]{0,80}>|</?data(?:\s[^<>]{0,120})?>", re.IGNORECASE)
_QUOTE = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
_NUMBER = re.compile(r"^[ \t]*(?:[-*+•‣▪–—][ \t]+)?(?:\(?\d{1,3}[.)、]|[a-zA-Z][.)]|\[[ xX]\])[ \t]+", re.MULTILINE)
_PLACE = re.compile(r"^[ \t]*(?:[-*+•][ \t]+)?\[\d{4}-\d\d-\d\d[^\]\n]{0,200}\][ \t]*", re.MULTILINE)
_SPEAKER = re.compile(
    r"^[ \t]*(?:[-*+•][ \t]+)?[*_]{0,2}(?:user|assistant|tool|system|developer|[^\W\d_a-z][\w.'’-]{0,30}(?: [^\W\d_a-z][\w.'’-]{0,30}){0,2})[*_]{0,2}:[*_]{0,2}[ \t]+",
    re.MULTILINE,
)
_NOTES = re.compile(
    r"[ \t]\((?:because [^\n]{1,500}?; )?(?:since|until) \d{4}-\d\d-\d\d(?:; until \d{4}-\d\d-\d\d)?(?:; disputed)?\)[ \t]*$|[ \t]\((?:because [^\n]{1,500}?; )?disputed\)[ \t]*$",
    re.MULTILINE,
)
_GLUE = re.compile(r"[ \t]\(because ([^\n]{1,500})\)[ \t]*$|[ \t]Why:[ \t]", re.MULTILINE)
_TITLE = re.compile(r"^[ \t]*(?:#{1,6}[ \t][^\n]*|[*_]{0,2}[^\W\d_][\w ,'’-]{0,40}:[*_]{0,2})[ \t]*$", re.MULTILINE)
_LEADS = (
    r"(?:(?:as|like|just as) )?(?:(?:you|we|i|he|she|they)(?:'ve|’ve| have|'d|’d| had)? )?(?:once |already |also |earlier |previously |just )?"
    r"(?:told|said|mentioned|noted|wrote|stated|explained|discussed|recall(?:ed)?|remember(?:ed)?|shared|established)"
    r"(?: (?:to )?(?:me|us|you|him|her|them))?(?: (?:before|earlier|previously|already|once|last time|yesterday|in the past))?(?: that)?",
    r"(?:according to|from|based on|in|per) (?:my|our|the|your) (?:long-term )?(?:memory|memories|notes|records?|context|history)(?: (?:says?|shows?))?(?: that)?",
    r"(?:my|the|our) (?:memory|memories|notes|records?) (?:says?|shows?|tells? me|holds?)(?: that)?",
    r"from what (?:you(?:'ve|’ve| have)? )?(?:said|told me|shared)|i (?:know|see|remember|recall)(?: that)?|(?:reminder|recalled|memory|previously|earlier|for reference|note to self|known|fyi|quote|echo)",
    r"(?:earlier|before|previously|last time),? (?:you|we|i) (?:said|told me|mentioned|noted|wrote)(?: that)?",
    r"(?:wie )?(?:du|sie|wir|ich) (?:(?:mir|uns|es|das|vorhin|früher|schon|bereits|einmal|ja) ){0,4}(?:gesagt|erzählt|erwähnt|sagtest|sagten|erwähntest)(?: (?:hast|haben|habe|hatte(?:st|n)?))?(?:, dass)?",
    r"du hast (?:(?:mir|vorhin|früher|schon|bereits) ){0,3}(?:gesagt|erzählt|erwähnt)(?:, dass)?",
    r"(?:como |según )?(?:(?:me|nos|ya|antes|tú|usted) ){0,3}(?:dijiste|contaste|mencionaste|dijo|has dicho|disseste|você disse|me disse)(?: (?:antes|ya))?(?: que)?",
    r"(?:comme )?(?:tu|vous|nous) (?:(?:me|l'|l’|m'|m’|nous) ?){0,3}(?:as|avez|avons|l'as|l’as|m'as|m’as) (?:déjà )?(?:dit|raconté|mentionné)(?: (?:avant|plus tôt))?(?: que)?",
    r"(?:come )?(?:mi )?(?:hai|avevi) (?:già )?(?:detto|raccontato|menzionato)(?: prima)?(?: che)?",
    r"(?:как )?(?:ты|вы|я) (?:(?:мне|уже|раньше|ранее) ){0,3}(?:говорил[аи]?|сказал[аи]?|упоминал[аи]?|рассказывал[аи]?)(?: (?:мне|ранее|раньше))?(?:, что)?",
    r"(?:正如|如|就像)?(?:你|您|我们|我們)(?:之前|以前|曾经|曾經|刚才|上次)?(?:告诉过?我|告訴過?我|说过?|說過?|提到过?|提過)(?:的|的那样)?(?:那样)?",
    r"(?:前に|以前|先ほど)?(?:あなたが|あなたは)?(?:前に|以前|先ほど)?(?:言った|話した|おっしゃった|述べた)(?:ように|通り|とおり)",
)
_SHIFTS: tuple[Mapping[str, str], ...] = (
    {"you": "i", "your": "my", "yours": "mine", "yourself": "myself", "are": "am", "you're": "i'm", "you've": "i've", "you'd": "i'd", "you'll": "i'll"},
    {"you": "i", "your": "my", "yours": "mine", "yourself": "myself", "you're": "i'm", "you've": "i've", "you'd": "i'd", "you'll": "i'll"},
    {"you": "me", "your": "my", "yours": "mine", "yourself": "myself"},
)  # fmt: skip

Word = tuple[str, bool]
"""A word or a character, and whether it is a character of a script without spaces."""


@dataclass(frozen=True)
class _Shown:
    """The words of all shown texts in one row, a None between two; where each run of four words stands."""

    row: tuple[Word | None, ...]
    grams: Mapping[tuple[Word | None, ...], tuple[int, ...]]
    starts: frozenset[int]
    ends: frozenset[int]
    units: frozenset[tuple[Word, ...]]
    raw: frozenset[str]


class Echoes:
    """What was shown by recall and context; says whether a sentence is only that coming back.

    Immutable. 1,000 texts and as many sentences take a fraction of a second.
    """

    def __init__(self, shown: _Shown, likeness: Likeness) -> None:
        self._shown = shown
        self._likeness = likeness

    @classmethod
    def of(cls, texts: Iterable[str]) -> Echoes:
        """From the texts of the records that were shown: messages, facts with their reasons, summaries and items."""
        row: list[Word | None] = [None]
        starts, ends = set[int](), set[int]()
        units, raw = set[tuple[Word, ...]](), set[str]()
        seen = set[tuple[Word, ...]]()
        told = dict.fromkeys(texts)
        raw |= {" ".join(t.split()) for t in told}
        told = dict.fromkeys(map(visible, told))
        for text in told:
            for form in dict.fromkeys((text, _undressed(text))):
                sentences = [s for s in (tuple(_words(piece)) for piece in _STOP.split(form)) if s]
                whole = tuple(w for s in sentences for w in s)
                units |= {whole, *sentences} - {()}
                if not whole or whole in seen:
                    continue
                seen.add(whole)
                for sentence in sentences:
                    starts.add(len(row))
                    row += sentence
                    ends.add(len(row))
                row.append(None)
        return cls(_Shown(tuple(row), _grams(row), frozenset(starts), frozenset(ends), frozenset(units), frozenset(raw)), Likeness.of(told))

    def holds(self, sentence: str) -> bool:
        """True for a sentence, or a pasted block, that is wholly what was shown; False for one with a word of its own."""
        if " ".join(sentence.split()) in self._shown.raw and sentence.strip():
            return True
        sentence = visible(sentence)
        if len(self._shown.row) < 2:
            return False
        if self._known(sentence):
            return True
        lines = [line for line in _TITLE.sub("", _TAG.sub("\n", sentence)).split("\n") if _words(line)]
        return (len(lines) > 1 and all(map(self._known, lines))) or self._likeness.holds(sentence)

    def _known(self, text: str) -> bool:
        return any(self._covers(form) for form in dict.fromkeys(_forms(text)))

    def _covers(self, form: tuple[Word, ...]) -> bool:
        """True if the words are shown runs, one after the other."""
        words = [w for w in form if w != _GAP]
        if not words:
            return False
        if tuple(words) in self._shown.units:
            return True
        pieces = _pieces(form)
        if len(pieces) > _GAPS:
            return False
        place, open_before = 0, True
        for number, piece in enumerate(pieces):
            cut = len(piece) >= _CUT  # of a few words between gaps nothing can be told
            loose = (number > 0 or (cut and form[0] == _GAP), number < len(pieces) - 1 or (cut and form[-1] == _GAP))
            place, open_before = 0, True
            while place < len(piece):
                size, closed = self._run(piece, place, loose=loose, free=open_before and place == 0)
                if not size:
                    return False
                place += size
                if place < len(piece) and not closed:
                    return False
        return True

    def _run(self, piece: Sequence[Word], place: int, *, loose: tuple[bool, bool], free: bool) -> tuple[int, bool]:
        """The longest run from `place` on, and whether it ends where a shown sentence ends. `free`: it may begin anywhere."""
        shown = self._shown
        best: tuple[int, bool] = (0, False)
        skip = int(loose[0] and place == 0)  # the word after a gap may have lost its head
        for first in range(skip + 1):
            for at in shown.grams.get(tuple(piece[place + first : place + first + _GRAM]), ())[:_TRIED]:
                if first and not _ends(shown.row[at - 1], piece[place]) or not (free or at in shown.starts):
                    continue
                best = max(best, self._length(piece, place, at - first, loose=loose[1]))
        if best[0]:
            return best
        for size in range(min(len(piece) - place, 2 * _CHARACTERS), 0, -1):
            if tuple(piece[place : place + size]) in shown.units:
                return size, True
        whole = place == 0 and any(loose) and len(piece) <= _GRAM
        return (len(piece), False) if whole and self._inside(piece, loose) else (0, False)

    def _length(self, piece: Sequence[Word], place: int, at: int, *, loose: bool) -> tuple[int, bool]:
        """How long the run from `at` on is, 0 where it is too short, and whether it ends where a shown sentence ends."""
        shown, size = self._shown, _GRAM
        while place + size < len(piece) and shown.row[at + size] == piece[place + size]:
            size += 1
        if loose and place + size == len(piece) - 1 and _begins(shown.row[at + size], piece[-1]):
            size += 1  # the word before a gap may have lost its tail
        if place + size < len(piece) and at + size not in shown.ends:
            size = next((s for s in range(size, 0, -1) if at + s in shown.ends), size)
        return (size, at + size in shown.ends) if _enough(piece[place : place + size]) else (0, False)

    def _inside(self, piece: Sequence[Word], loose: tuple[bool, bool]) -> bool:
        """True for a few words beside a gap that stand together in a shown text."""
        row, count = self._shown.row, len(piece)
        for i in range(1, len(row) - count):
            same = [row[i + n] == piece[n] for n in range(count)]
            same[0] |= loose[0] and _ends(row[i], piece[0])
            same[-1] |= loose[1] and _begins(row[i + count - 1], piece[-1])
            if all(same):
                return True
        return False


def _begins(shown: Word | None, word: Word) -> bool:
    return shown is not None and shown[0].startswith(word[0])


def _ends(shown: Word | None, word: Word) -> bool:
    return shown is not None and shown[0].endswith(word[0])


def _grams(row: Sequence[Word | None]) -> dict[tuple[Word | None, ...], tuple[int, ...]]:
    found: dict[tuple[Word | None, ...], list[int]] = {}
    for i in range(len(row) - _GRAM + 1):
        gram = tuple(row[i : i + _GRAM])
        if None not in gram:
            found.setdefault(gram, []).append(i)
    return {g: tuple(p) for g, p in found.items()}


def _enough(words: Sequence[Word]) -> bool:
    """True from four words or six characters on, or as much of both together."""
    dense = sum(d for _, d in words)
    return (len(words) - dense) * _CHARACTERS + dense * _WORDS >= _WORDS * _CHARACTERS


def _pieces(words: Sequence[Word]) -> list[list[Word]]:
    out: list[list[Word]] = [[]]
    for word in words:
        if word == _GAP:
            out.append([])
        else:
            out[-1].append(word)
    return [p for p in out if p]


def _forms(text: str) -> Iterator[tuple[Word, ...]]:
    """The words of a text as it stands, then without what may have been put around it."""
    if "\\n" in text or '\\"' in text:
        text = text.replace("\\n", "\n").replace('\\"', '"')
    quoted = _QUOTE.sub("", _TAG.sub("\n", text))
    yield _gapped(quoted)
    yield _gapped(_NUMBER.sub("", quoted))
    bare = _undressed(quoted)
    yield _gapped(bare)
    yield _gapped(_GLUE.sub(lambda m: f" {m[1] or ''}", bare))
    led = _lead().match(bare.lstrip(" \t\n\"'“”„«»*_-"))
    if led:
        rest = bare.lstrip(" \t\n\"'“”„«»*_-")[led.end() :]
        yield _gapped(rest)
        yield _gapped(_undressed(rest))
        words = _gapped(rest)
        for shift in _SHIFTS:
            yield tuple((shift.get(w, w), d) for w, d in words)


@cache
def _lead() -> re.Pattern[str]:
    return re.compile(rf"(?:(?:{'|'.join(_LEADS)})[\s,:：，、—–\"“„«‘'*-]{{0,6}}){{1,2}}(?<![^\W_](?=[A-Za-z]))", re.IGNORECASE)


def _undressed(text: str) -> str:
    """Without what is put around a record where it is shown: numbers, dates, speakers, notes and titles."""
    text = _NUMBER.sub("", _TITLE.sub("", text))
    text = _SPEAKER.sub("", _PLACE.sub("", text))
    return _NOTES.sub("", text)


def _gapped(text: str) -> tuple[Word, ...]:
    out: list[Word] = []
    for n, piece in enumerate(_CLIP.split(text)):
        out += [_GAP] if n else []
        out += _words(piece)
    return tuple(out)


@cache
def _word() -> re.Pattern[str]:
    letter = rf"[^\W_{_DENSE}]"
    more = rf"(?:{letter}|[{_MARKS}])"
    return re.compile(
        rf"(?:(?<![\w)])[-−+])?\d+(?:[.,:/]\d+)*(?:{more})*|[{_DENSE}]|{letter}{more}*(?:['’_]{more}+)*(?:\.\d+)*(?:\+\+|#(?!\w))?|[$€£¥₹%°]"
    )


def _words(text: str) -> list[Word]:
    """The words in small letters; a number keeps its sign, its point and what is written on to it."""
    text = unicodedata.normalize("NFKC", text).casefold().replace("**", "").replace("~~", "").replace("’", "'").replace("−", "-")
    dense = _dense()
    return [(w, not w.isascii() and dense.match(w) is not None) for w in _word().findall(text)]


@cache
def _dense() -> re.Pattern[str]:
    return re.compile(f"[{_DENSE}]")

"""The looser test for text that memory has shown: the same words in the same order, whatever holds them together.

Case, diacritics, tags, keys of JSON, bars of tables and marks of memory's own rendering do not count; nor do words that only
report ("I recall that", "según mis recuerdos"), nor which person is spoken of ("I", "you", "the user"). What does count is each
other word of the sentence: all must stand, in order, in one shown text, or in several that are joined at their ends. Nothing
that turns a sentence (not, only, will) may be left out. Three words that tell something are needed, or six characters.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple, TypeVar

from leporello.core.words import terms

DENSE = "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""The characters of scripts without spaces, as a range of a regular expression."""
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\x00-\x08\x0b\x0c\x0e-\x1f\x7f]+")
_BLANK = re.compile(r"\s+")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_LONG, _TOKENS, _PLACES = 20_000, 2_000, 32  # characters and words that are looked at, places that are tried
_ENOUGH, _WHOLE = 6, 4  # a word weighs 2, a character 1
_STEP, _BACK = 12, 40
_TYPO, _TYPO_ANY = 5, 7  # letters of a word in which two may have changed places, in which one may be wrong

_PERSON = frozenset(
    """i me my mine myself you your yours yourself yourselves we us our ours ourselves he him his she her hers they them their theirs
    ich mich mir mein meine meinen meiner du dich dir dein deine deinen deiner wir uns unser unsere yo mi mis tu tus su sus nos nosotros
    je j moi mon ma mes toi ton ta tes nous notre vous votre io mio mia tuo tua eu meu minha я мне меня мои моя ты тебя твои твоя мы наш наша
    我 您 你 他 她""".split()
)
_TURNS = frozenset(
    """not never no none nothing nobody neither nor without hardly kein keine keinen keiner keinem nicht nie niemals pas jamais aucun aucune
    nunca jamas sin ni non mai senza nao nem sem не нет никогда ни 不 没 沒 无 無 非 未 别 別 only all every each some most many few both any
    always often sometimes rarely usually mostly almost nearly nur alle jeder immer manchmal solo todos todas siempre toujours tous seulement
    or if unless whether when while will would might may could should must can shall was were had used maybe perhaps probably possibly
    stop stopped stops quit former formerly ex except instead before after until till longer wish hope want wants plan plans deny denied refuse
    refused cancel cancelled canceled avoid avoids false wrong untrue again anymore ago soon but although than more less""".split()
)
_LINKS = frozenset(
    "to from in on at of for with by into onto over under about as up down out off through during have has did zu von im am mit auf fur nach bei aus de del en con por para a au aux dans sur avec di da с в на из".split()
)
_JOINS = frozenset("and because since also und weil denn y e et car porque parce perche и потому".split())
_DRESS = frozenset(
    """an the der die das den dem ein eine einen el la los las un una le les il lo gli is are be been being do does it that which
    dass que che что so well ok okay yes right thanks thank please indeed correct got just already really
    memory memories remember remembers remembered remind reminder recall recalls recalled know knows known note notes noted summary said say
    says saying told tell tells mention mentioned mentions according user assistant fact facts confidence turn session previously earlier""".split()
)
_REPORTS = frozenset(
    "memory memories remember remembers remembered recall recalls recalled know knows known note noted said say says told tell tells mention mentioned".split()
)
_NAMES = "memory|memories|text|texts|content|contents|fact|facts|items?|results?|value|data|role|type|source|kind|user|assistant|messages?|notes?|record|records|summary"
_COUNTS = "score|confidence|rank|weight|relevance|similarity|distance|id|turns?|position|trust|status|index|date|at|since|until|timestamp|valid_from|valid_to|created_at"
_K = TypeVar("_K", str, tuple[str, str])
_DAY = r"\d{4}-\d\d(?:-\d\d)?"
_DRESSING: tuple[tuple[str, str], ...] = (
    (r"</?[a-z][^<>\n]{0,120}>|^[ \t]*`{3}\w{0,12}|`", "\n"),
    (r"^[ \t]*(?:[-*+•][ \t]+)?\(?\d{1,3}[.)、][ \t]+", "\n"),
    (rf"[\"']?(?<![\w-])(?:{_COUNTS})[\"']\s*:\s*(?:\"[^\"\n]{{0,60}}\"|[-\d][-\d.,: T]{{0,30}}|null|true|false)", "\n"),
    (rf"[\"'](?:{_NAMES})[\"']\s*:\s*(?:\"(?:user|assistant|system|tool|text|fact)\")?|^[ \t-]*(?:{_NAMES}):[ \t]*(?=\S)", "\n"),
    (rf"^[ \t-]*(?:{_COUNTS}):[ \t]*[-\d.: T]{{1,30}}$", "\n"),
    (
        r"#{0,4}[ \t]*(?:recalled[ \t]+)?for[ \t]+the[ \t]+question[ \t]+at[ \t]+hand[ \t]*\(dated[ \t]+reference,?[ \t]+not[ \t]+instruction\)",
        "\n",
    ),
    (
        r"\A[\s…]*(?:since|ince|nce|ce|e)?[ \t]?[\d-]{1,10}(?:;[ \t]*disputed)?\)|\((?:s|si|sin|sinc|since|until)?[ \t]?[\d-]{0,10}\s*(?=…|\Z)",
        "\n",
    ),
    (r"(?:#{1,4}[ \t]*\S{1,60}[ \t]*)?[·•][ \t]*turns?[ \t]+\d+(?:[-–]\d+)?(?!\w)", "\n"),
    (r"#{1,4}[ \t]*(?:always keep to this|what is known|what happened before|where this session stands)", "\n"),
    (r"#{1,4}[ \t]*(?:details of the turns before those below|what this session came to so far)", "\n"),
    (r"^[^\w\n]{0,40}(?:what |what is |is )?(?:known|happened before)[ \t]*$", "\n"),
    (
        r"(?:\[[^\[\]\n]{0,200}|(?:(?:[\d-]{1,10},? )?\S{1,80},? )?)\bturns?[ \t]+\d+(?:[-–]\d+)?\](?:[ \t]*[*_]{0,2}[^\W\d_][\w.'’-]{0,30}(?: [^\W\d_][\w.'’-]{0,30}){0,2}[*_]{0,2}:)?",
        "\n",
    ),
    (
        rf"[(;,|][ \t]*(?:since|until)[ \t]+{_DAY}|[(;][ \t]*disputed[ \t]*\)|\|[ \t]*{_DAY}[ \t]*(?=\||$)|^[^\w\n]{{0,40}}{_DAY}[^\w\n]{{0,20}}(?:$|[:|])",
        "\n",
    ),
    (r"[(\[,;|][ \t]*(?:confidence|score|relevance)[ :=]{1,3}(?:[01]?\.\d{1,4}|1|0)(?![\w.])", "\n"),
    (r"(?:^|(?<=[\"\n(]))[ \t]*(?:user|assistant|system|tool):", "\n"),
    (r"\bthe[ \t]+(?:user|team)(?:['’]s)?(?!\w)", " you "),
    (r"\bthanks?(?: you)?\b|\bgot it\b|[,;]? (?:right|correct|isn['’]t it|is that right)\?", "\n"),
    (
        r"\b(?:here(?:['’]s| is| are) |this is )?(?:an? |the )?(?:short )?summary(?: of)?(?: (?:the )?(?:memory|memories|facts|notes)\b)?",
        "\n",
    ),
    (r"\b(?:here(?:['’]s| is) |this is )?what (?:you|i|we) (?:already )?(?:know|remember|recall|told me)(?: about (?:me|you|us))?\b", "\n"),
    (
        r"\b(?:if i remember|as far as i (?:know|remember|recall)|to my knowledge|from memory|for the record|just so you know)(?: correctly)?\b",
        "\n",
    ),
    (
        r"\b(?:according to|based on|from|in|per) (?:my|your|our|the) (?:long-term )?(?:memory|memories|notes|records|context|history|conversations?|chats?)\b",
        "\n",
    ),
    (
        r"\b(?:i(?:['’]ve| have)? )?(?:noted|recorded|saved|stored)(?: that\b|:)|\bmy (?:memory|notes|records) (?:says?|shows?|tells? me)(?: that)?\b",
        "\n",
    ),
    (
        r"\b(?:hier ist|das ist|dies ist),? was (?:du|ich|wir|sie) (?:(?:über|von) \w+ )?(?:weißt|weiß|wissen|gesagt hast|noch weißt)\b",
        "\n",
    ),
    (r"\b(?:laut|nach) (?:meinen|deinen|meiner|deiner) (?:notizen|erinnerungen|erinnerung)\b|\bsoweit ich (?:weiß|mich erinnere)\b", "\n"),
    (
        r"\bmeines wissens\b|\bwie du (?:(?:mir|uns|schon|vorhin|bereits) ){0,3}gesagt hast\b|\bmir gesagt hast\b|\bich (?:weiß|erinnere mich)(?: noch)?(?:,? dass\b|:)",
        "\n",
    ),
    (
        r"\b(?:según )?mis (?:recuerdos|notas|memorias)\b|\bsegún (?:mi|tu) memoria\b|\bcomo me (?:dijiste|contaste)\b|\brecuerdo que\b",
        "\n",
    ),
    (
        r"\besto es lo que (?:sabes|recuerdas|sé|recuerdo)\b|\bpor lo que (?:recuerdo|sé)\b|\bsegundo (?:as )?minhas (?:memórias|notas)\b",
        "\n",
    ),
    (
        r"\bvoici ce que (?:tu|je|vous|nous) (?:sais|sait|savez|savons|me rappelle)\b|\bje me souviens que\b|\bcomme tu (?:me )?l['’]as dit\b",
        "\n",
    ),
    (
        r"\b(?:selon|d['’]après) (?:mes|tes|ma|ta) (?:souvenirs|notes|mémoire)\b|\bsecondo i miei (?:ricordi|appunti)\b|\becco (?:cosa|quello che) sai\b",
        "\n",
    ),
    (
        r"\b(?:насколько|как) я (?:помню|знаю)\b|\bпо (?:моим|твоим) (?:записям|воспоминаниям)\b|\bвот что ты (?:знаешь|помнишь)\b|\bя помню,? что\b",
        "\n",
    ),
    (
        r"(?:这是|這是|以下是)?[你您我]?(?:所)?(?:记得|記得|知道)的?(?:内容|事情|信息)?(?=[:：,，\s])|根据我的(?:记忆|记录)|据我所知|我(?:还)?记得",
        "\n",
    ),
    (r"[你您](?:之前|以前)?(?:说过|告诉过我|提到过)|私の記憶では|覚えていること(?:は|:|：)|用户|用戶", "\n"),
    (r"n['’]t\b", " not "),
    (r"['’](?:s|re|m)\b", " "),
    (r"['’]ll\b", " will "),
    (r"['’]d\b", " would "),
    (r"['’]ve\b", " have "),
)


class _Word(NamedTuple):
    """A word by what counts of it; `kind` is t(elling), n (turning), l(ink), p(erson), o (person, may lack), j(oin), s(top), g(ap), x (end)."""

    kind: str
    key: str
    word: str = ""
    weight: int = 0
    lower: bool = False
    joined: bool = False  # in a row: a joining word stood before it


_STOP, _GAP, _END, _AND, _COMMA = _Word("s", "."), _Word("g", "…"), _Word("x", ""), _Word("j", "and"), _Word("j", ",")


@dataclass(frozen=True)
class _Row:
    """The words of all shown texts in one row, an end between two; where each stands, and with the next that tells."""

    words: tuple[_Word, ...]
    one: Mapping[str, tuple[int, ...]]
    two: Mapping[tuple[str, str], tuple[int, ...]]
    spelled: Mapping[str, tuple[_Word, ...]]


class Likeness:
    """What was shown, and whether a sentence says no more than that. Immutable."""

    def __init__(self, row: _Row) -> None:
        self._row = row

    @classmethod
    def of(cls, texts: Iterable[str]) -> Likeness:
        """From the texts that were shown."""
        row: list[_Word] = [_END]
        for text in dict.fromkeys(texts):
            row += _unjoined(_read(text[:_LONG]))
            row.append(_END)
        one: dict[str, list[int]] = {}
        two: dict[tuple[str, str], list[int]] = {}
        last = 0
        for at, word in enumerate(row):
            if word.kind in "tn":
                one.setdefault(word.key, []).append(at)
                if last:
                    two.setdefault((row[last].key, word.key), []).append(last)
            last = at if word.kind in "tn" else 0 if word.kind == "x" else last
        spelled: dict[str, list[_Word]] = {}
        for word in {w.word: w for w in row if w.kind == "t" and w.lower and len(w.word) >= _TYPO}.values():
            for less in _lesser(word.word):
                spelled.setdefault(less, []).append(word)
        return cls(_Row(tuple(row), _first(one), _first(two), {k: tuple(v) for k, v in spelled.items()}))

    def holds(self, sentence: str) -> bool:
        """True if each word that counts stands in what was shown, in its order."""
        if len(self._row.words) < 2 or len(sentence) > _LONG:
            return False
        words = _read(sentence)
        if len(words) > _TOKENS:
            return False
        strange = [i for i, w in enumerate(words) if w.kind in "tn" and w.key not in self._row.one and not _beside_gap(words, i)]
        if not strange:
            return self._covers(words)
        if len(strange) > 1:
            return False
        at = strange[0]
        return any(self._covers([*words[:at], meant, *words[at + 1 :]]) for meant in self._meant(words[at]))

    def _meant(self, word: _Word) -> list[_Word]:
        """Shown words of which this one may be a slip of the finger."""
        if word.kind != "t" or not word.lower or len(word.word) < _TYPO:
            return []
        near = {w.word: w for less in _lesser(word.word) for w in self._row.spelled.get(less, ())}
        return [near[w] for w in sorted(near) if _slip(w, word.word)][:4]

    def _covers(self, words: Sequence[_Word]) -> bool:
        """True if the words are stretches of shown texts, one after the other, and enough of them."""
        at, weight, joined = 0, 0, "s"
        while at < len(words):
            if words[at].kind in "jsg":
                joined = "g" if "g" in (joined, words[at].kind) else "s" if "s" in (joined, words[at].kind) else "j"
                at += 1
                continue
            if words[at].kind in "o":
                at += 1
                continue
            reached, gained = self._stretch(words, at, joined)
            if not reached:
                return False
            at, weight, joined = reached, weight + gained, "j"
        return weight >= _ENOUGH

    def _stretch(self, words: Sequence[_Word], first: int, joined: str) -> tuple[int, int]:
        """Up to which word one shown text goes on, 0 if there is none, and what the words weigh."""
        anchor = next((i for i in range(first, len(words)) if words[i].kind in "tnjsg"), len(words))
        if anchor == len(words) or words[anchor].kind in "jsg":
            return self._rest(words, first, anchor)
        row, best = self._row, (0, 0)
        cut = anchor > 0 and words[anchor - 1].kind == "g" and words[anchor].key not in row.one
        start = anchor + 1 if cut and anchor + 1 < len(words) and words[anchor + 1].kind in "tn" else anchor
        second = next((w for w in words[start + 1 : start + _STEP] if w.kind in "tnjsg"), _END)
        places = row.two.get((words[start].key, second.key), ()) or row.one.get(words[start].key, ())
        for place in places:
            if start > anchor and not row.words[place - 1].word.endswith(words[anchor].word):
                continue
            head = self._headed(words[first:anchor], place - (start - anchor), strict=joined == "j")
            if head is None:
                continue
            best = max(best, self._follow(words, start, place, whole=head))
        return best

    def _rest(self, words: Sequence[_Word], first: int, upto: int) -> tuple[int, int]:
        """A few words that tell nothing: nothing, if a gap or an end took the rest."""
        return (upto, 0) if all(w.kind in "po" for w in words[first:upto]) and upto - first <= 1 else (0, 0)

    def _headed(self, head: Sequence[_Word], place: int, *, strict: bool) -> bool | None:
        """Whether a shown sentence begins here, None if what stands before is not what the sentence has there."""
        row, at = self._row.words, place - 1
        for word in reversed(head):
            if word.kind == "o" and row[at].kind != "p":
                continue
            while row[at].kind == "l" and row[at].key != word.key:
                at -= 1
            if row[at].key != word.key:
                return None
            at -= 1
        entire = row[at].kind in "sx"
        while row[at].kind in "lp":
            at -= 1
        begins = row[at].kind in "sx"
        if strict and not begins:
            return None
        for back in range(at, max(0, at - _BACK), -1):
            if row[back].kind in "sx":
                break
            if row[back].kind == "n":
                return None
        return entire

    def _follow(self, words: Sequence[_Word], first: int, place: int, *, whole: bool) -> tuple[int, int]:
        """How far the words go on as shown from here: at a join or the end of the sentence only."""
        at, weight, best = place, 0, (0, 0)
        for i in range(first, len(words) + 1):
            word = words[i] if i < len(words) else _STOP
            if word.kind in "jsg":
                ends = self._ends(at)
                inner = word.kind == "s" and (0 < i < len(words) - 1 or (first > 0 and words[first - 1].kind == "s"))
                entire = weight >= _WHOLE and whole and ends
                apart = "g" in (word.kind, words[first - 1].kind if first else "") or (inner and weight >= _WHOLE)
                if (weight >= _ENOUGH or entire or apart) and (word.kind != "j" or ends):
                    best = (i, max(weight, _ENOUGH) if entire else weight)
                if word.kind == "g" or (word == _AND and not (ends or self._row.words[at].joined)):
                    break
                continue
            after = self._next(word, at, cut=i + 1 < len(words) and words[i + 1].kind == "g")
            if after is None:
                if word.kind == "o" or (i + 1 < len(words) and words[i + 1].kind == "g" and _stump(word)):
                    continue
                break
            at, weight = after, weight + word.weight
        return best if best[0] < len(words) or weight else (0, 0)

    def _next(self, word: _Word, at: int, *, cut: bool) -> int | None:
        """The place after the word, if it comes next; links may be passed over, and two words that hang on one before another link."""
        row, linked, passed = self._row.words, False, 0
        for place in range(at, min(at + _STEP, len(row))):
            shown = row[place]
            if (shown.key == word.key and word.key) or (cut and shown.kind in "tnlp" and shown.word.startswith(word.word)):
                return None if passed and word.kind != "l" else place + 1
            if shown.kind in "ls" or (shown.kind == "p" and place > 0 and row[place - 1].kind == "s"):
                linked = linked or shown.kind == "l"
            elif shown.kind == "t" and linked and passed < 2:
                passed += 1
            else:
                return None
        return None

    def _ends(self, at: int) -> bool:
        row = self._row.words
        while row[at].kind in "lp":
            at += 1
        return row[at].kind in "sx"


def visible(text: str) -> str:
    """Without characters that are not seen: of no width, that turn the direction, of control."""
    return _INVISIBLE.sub("", text)


def _first(places: Mapping[_K, Sequence[int]]) -> dict[_K, tuple[int, ...]]:
    return {k: tuple(v[:_PLACES]) for k, v in places.items()}


def _unjoined(words: Iterable[_Word]) -> list[_Word]:
    """Without the words that join and gaps; the next word knows of them."""
    out: list[_Word] = []
    joined = False
    for word in words:
        if word.kind in "jg":
            joined = True
            continue
        out.append(word._replace(kind="p" if word.kind == "o" else word.kind, joined=joined))
        joined = False
    return out


def _beside_gap(words: Sequence[_Word], at: int) -> bool:
    return (at > 0 and words[at - 1].kind == "g") or (at + 1 < len(words) and words[at + 1].kind == "g")


def _stump(word: _Word) -> bool:
    """True for what may be left of a word that does not count."""
    return word.lower and len(word.word) <= 3 and any(w.startswith(word.word) for w in _DRESS | _JOINS | _LINKS)


@cache
def _dressing() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(p, re.IGNORECASE | re.MULTILINE), to) for p, to in _DRESSING)


def _bare(text: str) -> str:
    """What is said, with line breaks for what was put around it."""
    text = unicodedata.normalize("NFKC", html.unescape(visible(text))).replace("...", "…")
    text = _BLANK.sub(lambda m: "\n" if "\n" in m[0] else " ", text)
    text = text.replace("\\n", "\n").replace('\\"', '"').replace("<\\/", "</").replace("\\u00b7", " ")
    for pattern, to in _dressing():
        text = pattern.sub(to, text)
    return text


@cache
def _token() -> re.Pattern[str]:
    letter = rf"[^\W\d_{DENSE}]"
    return re.compile(
        rf"(?:(?<![\w)])[-−+])?\d+(?:[.,:/-]\d+)*{letter}*|[{DENSE}]|{letter}(?:[^\W{DENSE}]|[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0963\u0966-\u0dff])*(?:\.\d+)*(?:\+\+|#(?!\w))?|[$€£¥₹%°]|…|\n|[;,，、|.!?。！？;；]"
    )


def _read(text: str) -> list[_Word]:
    """The words that count. Those that report take the persons beside them along: they may lack."""
    out: list[_Word] = []
    reported = False
    for token in _token().findall(_bare(text)):
        word = _word(token)
        if word is None:
            reported = _folded(token) in _REPORTS
            if reported and out and out[-1].kind == "p":
                out[-1] = out[-1]._replace(kind="o")
            continue
        if word.kind == "p" and reported:
            word = word._replace(kind="o")
        reported = False
        if word.kind not in "sjg" or not out or out[-1] != word:
            out.append(word)
    return out


@lru_cache(maxsize=1 << 15)
def _word(token: str) -> _Word | None:
    """What counts of a token, None for what does not."""
    if token == "…":
        return _GAP
    if token[0] in "\n;|.!?。！？；":
        return _STOP
    if token in ",，、":
        return _COMMA
    word = _folded(token)
    if word in _PERSON:
        return _Word("p", "\0person", word)
    if word in _JOINS:
        return _AND
    if word in _DRESS or token == "a":
        return None
    weight = 1 if re.match(f"[{DENSE}]", word) else 2
    if word in _TURNS:
        return _Word("n", word, word, weight)
    if word in _LINKS:
        return _Word("l", word, word)
    return _Word("t", _stem(word), word, weight, token.islower())


def _folded(token: str) -> str:
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", token.casefold())))


def _stem(word: str) -> str:
    """The stem, apart for the past: that something was is another thing than that it is."""
    if not word.isalpha():
        return word
    stem = terms(word)
    return f"{int(stem[0]) if len(stem) else word}{'<' if word.endswith('ed') else ''}"


def _lesser(word: str) -> set[str]:
    """The word, and each that is left when it loses a letter."""
    return {word, *(word[:i] + word[i + 1 :] for i in range(len(word)))}


def _slip(meant: str, written: str) -> bool:
    """True if two letters changed places or, in a long word, one inside is wrong, lacks or is too many."""
    if meant == written or meant[0] != written[0]:
        return False
    head = next((i for i, (a, b) in enumerate(zip(meant, written, strict=False)) if a != b), min(len(meant), len(written)))
    a, b = meant[head:], written[head:]
    if len(a) == len(b) and len(a) > 1 and a[0] == b[1] and a[1] == b[0] and a[2:] == b[2:]:
        return True
    if min(len(meant), len(written)) < _TYPO_ANY or meant[-1] != written[-1]:
        return False
    return a[1:] == b[1:] or a[1:] == b or a == b[1:]

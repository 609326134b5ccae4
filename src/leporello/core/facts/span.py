"""The words of one clause with what is already known of them: points in time, numbers, names, kinds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from leporello.core.facts import cues_words as words
from leporello.core.facts.cues_frames import PHRASES
from leporello.core.facts.cues_kinds import ALIASES, KIND, TECHNICAL
from leporello.core.facts.cues_states import STATE_OF, STATES
from leporello.core.facts.tokens import Token, stem
from leporello.core.facts.values import MEASURES, WEEKDAYS, Quantity, Times, quantities, times

DROPPED = (
    words.STOP
    | words.ADVERBS
    | words.COPULA
    | words.NOW
    | words.VAGUE
    | words.CHANGE_STEMS
    | words.SCHEDULE
    | words.CORRECTION
    | words.NEGATION
    | words.STATE_TIME
    | frozenset({"can", "could"})
)
SYNONYMS = {"flight": "fly", "flug": "flieg", "vuelo": "volar", "deployment": "deploy", "umzug": "umzieh"}
_PARTICLES = frozenset("了着过的吗呢吧啊我你他她它")
_NUMBERED = frozenset(
    """bug invoice order flight case request apartment bus gate house build room chapter ticket step task issue pr phase sprint module lesson floor platform gate line section table figure stage round part volume season episode unit terminal page
    kapitel raum zimmer schritt aufgabe gleis phase seite capitulo sala paso tarea fase pagina chapitre salle etape tache page numero no nr""".split()
)
"""Nouns after which a number is a name: build 41, room 4."""
_WHEN = frozenset("last next this ago yesterday today letzten letzte letztes nachsten nachste ultimo ultima pasado pasada".split())
ADJUNCT = frozenset(
    """after since because following due despite until once nachdem wegen seit weil trotz desde porque despues tras debido depuis apres suite""".split()
)
"""Words after which stands when or why, not what."""
_TIME_NOUNS = frozenset(
    "week month year morning afternoon evening night weekend summer winter spring autumn fall time semester quarter woche monat jahr sommer winter semana mes ano verano semaine mois annee ete".split()
)
_RUNTIMES = frozenset("node version v php java".split())
_NOUNS = frozenset("date time day number value amount termin datum uhrzeit fecha hora numero valor date heure nombre".split())
"""Nouns that tell little, where there is no other."""
_NAMES_AFTER = frozenset("the our my this every a der die das unser unsere".split())
_STATE_ENDS = frozenset(
    "by for in at since until again now and or but to as of after on jetzt wieder seit ahora desde maintenant depuis".split()
)
_DAYPARTS = frozenset("morning afternoon evening night noon at instead and or for with from to until by".split())
_UNCOUNTED = words.STOP | words.ADVERBS | words.CHANGE_STEMS | words.STATE_TIME | words.QUALIFIERS | words.ENDED
_COMPACT = re.compile(r"([a-z]{3,})[-_]?(\d{1,4})$")
_NUMBER_WORDS = frozenset("number no nr nummer numero num".split())
_UNNAMED = _NUMBER_WORDS | frozenset("version port top about only over under by score level age room".split())
_HAS = frozenset("has have had hat tiene a runs".split())
_YEAR = 31_536_000.0
_TURNED = frozenset("turned aged cumplio cumpli".split())


@dataclass(frozen=True)
class Object:
    """The folded words of an object, its names, its kinds, the stems of what limits it ("for orders"), and where it stops."""

    value: tuple[str, ...]
    names: frozenset[str]
    kinds: frozenset[tuple[str, str]]
    where: frozenset[str]
    stop: int


class Span:
    """One clause's words; positions are those in `kept`."""

    def __init__(self, kept: Sequence[Token]) -> None:
        self.kept = kept
        self.spine = [i for i, t in enumerate(kept) if t.fold not in words.ADVERBS]
        self.times: Times
        self.times, self.used = times(kept)
        self.fixed = self._fixed()
        found = quantities(kept, self.used, _UNCOUNTED)
        labelled = {q.index for q in found if q.index and q.unit not in MEASURES and kept[q.index - 1].fold in _NUMBERED}
        self._labels = {i: f"{kept[i - 1].fold}{kept[i].fold}" for i in labelled}
        self.numbers = tuple(self._aged(self._versioned(q)) for q in found if q.index not in labelled)
        measured = {q.index + 1 for q in found if q.unit in MEASURES} | {q.index - 1 for q in found if q.unit == "money"}
        self.counted = {q.index for q in found} | measured

    @cached_property
    def folded(self) -> frozenset[str]:
        """The folded words."""
        return frozenset(t.fold for t in self.kept)

    def fold_at(self, i: int) -> str:
        """The folded word at a position; "" outside."""
        return self.kept[i].fold if 0 <= i < len(self.kept) else ""

    def stems(self, positions: Iterable[int]) -> frozenset[str]:
        """The stems of the telling words at the positions, and the numbers that are names ("build41")."""
        positions = list(positions)
        labels = {self._labels[i] for i in positions if i in self._labels} if self._labels else set()
        plain = (
            stem(self.kept[i].fold) for i in positions if i not in self.used and i not in self.counted and self.kept[i].fold not in DROPPED
        )
        return frozenset(SYNONYMS.get(s, s) for s in plain) | labels

    def _fixed(self) -> frozenset[int]:
        """The weekdays that are part of a name ("the Monday meeting"); they are left out of the times where others are named."""
        found = {
            WEEKDAYS[t.fold]
            for i, t in enumerate(self.kept[:-1])
            if t.fold in WEEKDAYS and self.fold_at(i - 1) in _NAMES_AFTER and self._names_what(self.kept[i + 1].fold)
        }
        if found:
            rest = tuple((f, v - found if f == "weekday" else v) for f, v in self.times)
            if any(v for _, v in rest):
                self.times = tuple((f, v) for f, v in rest if v)
        return frozenset(found)

    def _names_what(self, word: str) -> bool:
        return word.isalpha() and word.isascii() and word not in DROPPED and word not in _DAYPARTS and word not in _TIME_NOUNS

    def states(self) -> tuple[frozenset[tuple[str, int]], frozenset[str]]:
        """The states that the words say, and the stems of these words."""
        found: set[tuple[str, int]] = set()
        stated: set[str] = set()
        covered = 0
        for i, token in enumerate(self.kept):
            if i < covered:
                continue
            for phrase in STATES.get(token.fold, ()):
                if all(self.fold_at(i + k) == w for k, w in enumerate(phrase)) and (len(phrase) > 1 or self._is_state(i)):
                    found.update(STATE_OF[phrase])
                    stated.update(map(stem, phrase))
                    covered = i + len(phrase)
                    break
        return frozenset(found), frozenset(stated)

    def _is_state(self, i: int) -> bool:
        """On and off, free: at the end of the clause or before a preposition, not "on Monday", "free time"."""
        word, after = self.kept[i].fold, self.fold_at(i + 1)
        if word in {
            "on",
            "off",
            "an",
            "aus",
            "zu",
            "down",
            "open",
            "free",
            "active",
            "public",
            "private",
            "late",
            "dry",
            "clear",
            "live",
            "complete",
            "better",
        }:
            return not after or after in _STATE_ENDS or (i + 1 in self.used and word not in {"on", "an", "aus"})
        return True

    @cached_property
    def marks(self) -> tuple[tuple[int, str, str], ...]:
        """The numbers and letters that name a thing: the position of the noun, its stem, the number ("Customer 3", "dish number 4")."""
        out = []
        for i, token in enumerate(self.kept):
            if compact := _COMPACT.match(token.fold):
                out.append((i, stem(compact.group(1)), compact.group(2)))
                continue
            single = len(token.text) == 1 and "A" <= token.text <= "Z" and token.text != "I" and i > 0
            if not single and not (token.fold.isascii() and token.fold.isdigit() and len(token.fold) <= 6):
                continue
            at = i - 2 if self.fold_at(i - 1) in _NUMBER_WORDS else i - 1
            if i not in self.used and _is_named(self, at, i):
                out.append((at, stem(self.kept[at].fold), token.fold))
        return tuple(out)

    def core(self) -> frozenset[str]:
        """The stems of the telling words before what only says when or why."""
        stop = next((i for i in range(1, len(self.kept)) if self._is_adjunct(i)), len(self.kept))
        return self.stems(range(stop)) or self.about()

    def _is_adjunct(self, i: int) -> bool:
        word = self.kept[i].fold
        if i + 1 in self.used:
            return False
        return word in ADJUNCT or (word in _WHEN and self.fold_at(i + 1) in _TIME_NOUNS)

    def about(self) -> frozenset[str]:
        """The stems of all telling words."""
        found = self.stems(range(len(self.kept)))
        return found or frozenset(stem(t.fold) for i, t in enumerate(self.kept) if t.fold in _NOUNS and i not in self.used)

    def capitals(self) -> frozenset[str]:
        """Stems of the words with a capital letter, and single capital letters (not "I", not the first word)."""
        out = {
            stem(t.fold)
            for i, t in enumerate(self.kept)
            if t.capital and (i or t.fold not in PHRASES) and t.fold not in words.STOP and t.fold not in words.ADVERBS
        }
        letters = {t.text for t in self.kept[1:] if len(t.text) == 1 and "A" <= t.text <= "Z" and t.text != "I"}
        return frozenset(SYNONYMS.get(s, s) for s in out) | frozenset(self._labels.values()) | letters

    def kinds(self, positions: Sequence[int]) -> frozenset[tuple[str, str]]:
        """The (kind, value) pairs of the words at the positions, and of pairs of them ("vs code")."""
        found = set()
        for n, i in enumerate(positions):
            word = self.kept[i].fold
            pair = f"{word}-{self.kept[positions[n + 1]].fold}" if n + 1 < len(positions) else ""
            for form in (pair, word):
                kind = KIND.get(form) or KIND.get(ALIASES.get(form, ""))
                if kind is not None and self.kept[i].text.lower() != "the":
                    found.add((kind, ALIASES.get(form, form)))
                    break
        return frozenset(found)

    def object(self, start: int, end: int) -> Object:
        """The object that starts at `start`, up to the first word that limits it."""
        stop = next((i for i in range(start + 1, end) if self._limits(i)), end)
        inside = [i for i in range(start, stop) if i not in self.used and i not in self.counted]
        plain = [self.kept[i] for i in inside if self._telling(self.kept[i].fold)]
        names = frozenset(
            t.fold for t in plain if t.capital or not t.fold.isascii() or not t.fold.replace("-", "").replace("'", "").isalnum()
        )
        where = self.stems(range(stop, end))
        return Object(tuple(t.fold for t in plain), names, self.kinds(inside), where, stop)

    def _limits(self, i: int) -> bool:
        word = self.kept[i].fold
        return word in words.STATE_TIME or word in words.QUALIFIERS or word in _WHEN or i in self.used

    def _telling(self, word: str) -> bool:
        if not word.isascii():
            return word not in _PARTICLES
        return word not in words.STOP and word not in words.ADVERBS and word not in words.NOW

    def _versioned(self, q: Quantity) -> Quantity:
        """A number after the name of a tool, or in a clause about a version, is a version."""
        if q.unit:
            return q
        before = self.fold_at(q.index - 1)
        named = KIND.get(before) in TECHNICAL or before in _RUNTIMES or any(t.fold == "version" for t in self.kept[: q.index])
        return replace(q, unit="version") if named else q

    def _aged(self, q: Quantity) -> Quantity:
        """A number of years that is somebody's age has a unit of its own."""
        rest = [t.fold for t in self.kept[q.index + 1 : q.index + 4]]
        before = self.fold_at(q.index - 1)
        if before in _TURNED or (not rest and not q.unit and self._is_age(before, q)):
            return replace(q, unit="age", value=q.value / _YEAR if q.unit == "time" else q.value)
        years = (
            bool({"old", "alt"} & set(rest))
            or rest[:1] == ["岁"]
            or (rest in (["anos"], ["ans"]) and before in {"tiene", "tengo", "a", "ai"})
        )
        return replace(q, unit="age", value=q.value / _YEAR) if years and q.unit == "time" else q

    def _is_age(self, before: str, q: Quantity) -> bool:
        """I am 29, Nora is 34: a bare number that could be an age, of somebody."""
        if before not in {"am", "is"} or not 3 <= q.value <= 110 or len(self.kept) > 4:
            return False
        first = self.kept[0]
        return first.fold == "i" or (first.capital and q.index == 2 and first.fold not in words.DETERMINERS)


def _is_named(span: Span, at: int, i: int) -> bool:
    """Whether the word at `at` is a noun, and what stands after position `i` is not what is counted or measured."""
    word, after = span.fold_at(at), next((span.kept[k].fold for k in span.spine if k > i), "")
    if (
        not word.isalpha()
        or not word.isascii()
        or len(word) < 2
        or word in DROPPED
        or word in _UNNAMED
        or any(len(p.words) == 1 for p in PHRASES.get(word, ()))
        or word in words.EVENT_VERBS
    ):
        return False
    if any(q.index == i and q.unit in MEASURES and not _runs(q.unit, after) for q in span.numbers) or after in {
        "%",
        "€",
        "$",
        "percent",
    }:
        return False
    if not after or at < i - 1 or word in _NUMBERED:
        return True
    verb = after in DROPPED or after in PHRASES or after in words.EVENT_VERBS or after in words.CHANGE_STEMS or after in words.ENDED
    return verb or span.kept[at].capital


def _runs(unit: str, after: str) -> bool:
    """Node 1 has: not a version."""
    return unit == "version" and after in _HAS

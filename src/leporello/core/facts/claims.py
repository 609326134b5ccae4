"""Claims: what one clause says about one thing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from leporello.core.facts import cues_words as words
from leporello.core.facts.clauses import Clause, find
from leporello.core.facts.cues_frames import PERSONAL, PHRASES, Phrase
from leporello.core.facts.cues_kinds import ALIASES, KIND, OCCUPATIONS, TECHNICAL
from leporello.core.facts.tokens import Token, stem
from leporello.core.facts.values import MEASURES, Quantity, Times, quantities, times

SCHEDULE = frozenset(
    """happen happens happening takes take place start starts starting begins begin scheduled due held set planned fixed occurs occur stattfinden findet finden statt beginnt fallig angesetzt terminiert geplant startet
    empieza comienza programada programado celebra lugar hacen hace fijada fijado prevista previsto lieu commence prevu prevue fixe fixee debute arranged booked runs cae se-hace tiene sera termin held 举 行 开 始 定 在""".split()
)
_SCHEDULE_KEPT = SCHEDULE - {"set", "fixed", "termin"}
_DROPPED = words.STOP | words.ADVERBS | words.COPULA | words.NOW | words.VAGUE | words.CHANGE_STEMS | SCHEDULE | words.CORRECTION | words.NEGATION | words.STATE_TIME
_FROM = {"from": ("to", "into"), "von": ("auf", "nach", "zu", "zum", "zur"), "vom": ("auf", "zum", "zu"), "de": ("a", "al", "vers"), "del": ("al",), "du": ("au", "a"), "从": ("到", "换", "改", "迁", "转", "切", "搬", "升", "降", "提")}
_INSTEAD = (("instead", "of"), ("rather", "than"), ("en", "lugar", "de"), ("en", "vez", "de"), ("au", "lieu", "de"), ("au", "lieu", "d'"), ("statt",), ("anstatt",), ("anstelle", "von"), ("plutot", "que"), ("而", "不", "是"))
_REPLACE = frozenset("replaced replace replacing swapped swap traded ersetzt ersetzen ersetzten tauschen getauscht reemplazamos reemplazo reemplace reemplazado sustituimos sustituyo sustituido remplace remplaces replaces substituted 替 取".split())
_REPLACED_BY = frozenset("with by for durch gegen por con par contre".split())
_AFTER_SUBJECT = SCHEDULE | words.CHANGE_STEMS | words.ENDED | words.NEGATION | frozenset("has have had hat haben ha han tiene tienen a ont besteht consists costs kostet cuesta coute takes dauert tarda dure allows lasts goes opens closes".split())
_IMPERATIVES = frozenset("please call use always never do keep remember make add write send don't avoid put run name set bitte nenn nutze verwende schreib por llamame usa utilise appelle when".split())
_SYNONYMS = {"flight": "fly", "flug": "flieg", "vuelo": "volar", "deployment": "deploy", "umzug": "umzieh", "reis": "reis", "marri": "wedding"}
_RELATIONS = frozenset(
    """sister brother mother father mum mom dad wife husband partner son daughter friend colleague neighbour neighbor boss cousin uncle aunt grandpa grandma grandmother grandfather girlfriend boyfriend roommate flatmate coworker manager
    schwester bruder mutter vater frau mann freund freundin sohn tochter kollege kollegin nachbar nachbarin chef chefin cousine onkel tante oma opa
    hermana hermano madre padre mujer marido amigo amiga hijo hija colega vecino vecina jefe jefa prima primo tia tio abuela abuelo novia novio
    soeur frere mere pere femme mari ami amie fils fille collegue voisin voisine""".split()
)
_PARTICLES = frozenset("了着过的吗呢吧啊我你他她它")
_QUALIFIERS = frozenset("for in on at as during within under inside fur als bei auf im para como en pour comme dans sur lors when while wenn wahrend beim zum to with mit con avec".split())


@dataclass(frozen=True)
class Claim:
    """What one clause says.

    `subject` is "user", "we", a folded name, a noun phrase's stems, "?" for a pronoun without a known antecedent, or "". `about` holds
    the stems of everything that the clause names besides points in time and numbers. `kinds` are the (kind, value) pairs of the object.
    `change` is 0, 1 ("now", "new") or 2 (a verb of change, a correction). `gone` holds the stems of what is said to be given up.
    """

    subject: str
    predicate: str
    object: str
    value: tuple[str, ...]
    names: frozenset[str]
    about: frozenset[str]
    kinds: frozenset[tuple[str, str]]
    where: frozenset[str]
    times: Times
    numbers: tuple[Quantity, ...]
    mode: str
    negated: bool
    ended: bool
    change: int
    opposite: bool
    gone: frozenset[str]
    gone_times: Times
    person: bool
    event: bool
    indefinite: bool
    additional: bool
    used_to: bool
    verbs: frozenset[str]
    lesser: frozenset[str] = frozenset()


def claims(clause: Clause, *, speaker: str, before: str) -> list[Claim]:
    """The claims of a clause, of which `before` is the subject of the last one before it; an empty list where nothing is said."""
    all_words = clause.words[:120]
    if not all_words:
        return []
    flags = _flags(clause)
    kept, gone = _given_up(all_words, flags["change"] == 2 or bool(flags["changes"]))
    gone = [*gone, *clause.given_up]
    when, used = times(kept)
    numbers = quantities(kept, used, words.STOP | words.ADVERBS)
    spine = [i for i, t in enumerate(kept) if t.fold not in words.ADVERBS]
    reader = _Reading(kept, spine, used, numbers, flags, speaker, before)
    made = reader.base(when, gone)
    found = list(_frames(kept, spine))
    made = reader.aged(made)
    out = [c for f in found[:3] for c in reader.framed(made, f)]
    if not out:
        told = reader.plain(made)
        out = [told, *reader.second(told, 0, 0)] if told.predicate == "job" else [told]
    return out


def _flags(clause: Clause) -> dict[str, object]:
    folded = [t.fold for t in clause.words]
    negations = [i for i, w in enumerate(folded) if w in words.NEGATION or w in words.NEGATION_PHRASES]
    ended_words = [i for i, w in enumerate(folded) if w in words.ENDED and (i == 0 or folded[i - 1] not in words.BEFORE_END)]
    ended = bool(ended_words) and not any(folded[i] in {"not", "nicht", "no", "never", "nie", "nunca"} for i in negations if i < ended_words[0])
    over = find(clause.words, words.ENDED_PHRASES) >= 0 or any(a in folded and b in folded[folded.index(a) :] for a, b in words.ENDED_APART)
    if negations and (_any_more(folded, negations[0]) or over):
        ended, negations = True, []
    elif over:
        ended = True
    changes = [w for w in folded if w in words.CHANGE_STEMS]
    soft = any(w in words.NOW for w in folded) or find(clause.words, words.NOW_PHRASES) >= 0
    change = 2 if changes or clause.corrected else int(soft)
    return {"negated": bool(negations), "ended": ended, "change": change, "changes": changes, "mode": clause.mode, "ended_words": bool(ended_words) or over}


def _any_more(folded: Sequence[str], at: int) -> bool:
    rest = folded[at + 1 :]
    return any(w in {"mehr", "anymore"} for w in rest) or ("any" in rest and "more" in rest) or (folded[at] in {"ne", "n'"} and "plus" in rest) or (
        folded[at] in {"不", "没"} and folded[-1] == "了"
    )  # fmt: skip


def _given_up(all_words: list[Token], changed: bool) -> tuple[list[Token], list[Token]]:
    """The words without what is given up ("from A" before "to B", "instead of A", "replaced A with"), and that."""
    folded = [t.fold for t in all_words]
    at = find(all_words, _INSTEAD)
    if at >= 0:
        width = next(len(p) for p in _INSTEAD if tuple(folded[at : at + len(p)]) == p)
        end = _phrase_end(all_words, at + width)
        return all_words[:at] + all_words[end:], all_words[at + width : end]
    for i, word in enumerate(folded):
        if word in _REPLACE:
            return _replaced(all_words, i)
        if changed and word in _FROM and (to := next((k for k in range(i + 2, min(i + 7, len(folded))) if folded[k] in _FROM[word]), 0)):
            return all_words[:i] + all_words[to:], all_words[i + 1 : to]
    if "把" in folded and "换" in folded[folded.index("把") :]:
        i = folded.index("把")
        k = folded.index("换", i)
        return all_words[:i] + all_words[k:], all_words[i + 1 : k]
    return all_words, []


def _replaced(all_words: list[Token], i: int) -> tuple[list[Token], list[Token]]:
    folded = [t.fold for t in all_words]
    middle = next((k for k in range(len(folded)) if folded[k] in _REPLACED_BY and abs(k - i) < 8 and k > 0), -1)
    switched = Token("switched", "switched", False, False), Token("to", "to", False, False)
    if middle > i:  # replaced A with B
        return [*all_words[:i], *switched, *all_words[middle + 1 :]], all_words[i + 1 : middle]
    if 0 <= middle < i:  # haben A durch B ersetzt
        start = next((k for k in range(middle - 1, -1, -1) if folded[k] in {"haben", "habe", "hat", "wurde", "wir", "ich"}), -1)
        return [*all_words[: start + 1], *switched, *all_words[middle + 1 : i]], all_words[start + 1 : middle]
    end = _phrase_end(all_words, i + 1)
    return [Token("we", "we", False, False), *switched, *[t for t in all_words[:i] if t.fold not in {"has", "have", "we"}]], all_words[i + 1 : end]


def _phrase_end(all_words: Sequence[Token], start: int) -> int:
    for k in range(start, len(all_words)):
        word = all_words[k].fold
        if k > start and (word in words.STATE_TIME or word in _QUALIFIERS or word in words.COPULA):
            return k
    return len(all_words)


@dataclass(frozen=True)
class _Found:
    phrase: Phrase
    start: int
    after: int
    object: tuple[int, int]
    end: int


def _frames(kept: Sequence[Token], spine: Sequence[int]) -> Iterator[_Found]:
    at = 0
    while at < len(spine):
        found = _phrase_at(kept, spine, at)
        if found is None:
            at += 1
            continue
        yield found
        at = max(at + 1, next((n for n, i in enumerate(spine) if i >= found.after), len(spine)))


def _phrase_at(kept: Sequence[Token], spine: Sequence[int], at: int) -> _Found | None:
    for phrase in PHRASES.get(kept[spine[at]].fold, ()):
        n = len(phrase.words)
        if at + n > len(spine) or any(kept[spine[at + k]].fold != w for k, w in enumerate(phrase.words)):
            continue
        if not _fits(kept, spine, at, phrase):
            continue
        after = spine[at + n - 1] + 1
        if not phrase.tail:
            return _Found(phrase, spine[at], after, (after, len(kept)), after)
        for k in range(at + n, min(at + n + 9, len(spine) - len(phrase.tail) + 1)):
            if all(kept[spine[k + m]].fold == w for m, w in enumerate(phrase.tail)) and (k > at + n or phrase.words == ("和",)):
                end = spine[k + len(phrase.tail) - 1] + 1
                return _Found(phrase, spine[at], end, (after, spine[k]), end)
    return None


_NOUN_BEFORE = words.DETERMINERS | {"'s", "of", "to-the", "no-noun"}
_NOT_NOUNS = frozenset("is ist es est lautet heisst llama".split())


def _fits(kept: Sequence[Token], spine: Sequence[int], at: int, phrase: Phrase) -> bool:
    """Not a noun that looks like the verb ("my drink", "the use"); one word for a state needs a copula before it."""
    before = kept[spine[at - 1]].fold if at else ""
    after = kept[spine[at + len(phrase.words)]].fold if at + len(phrase.words) < len(spine) else ""
    last = phrase.words[-1]
    if len(phrase.words) == 1 and not phrase.tail and last.isascii():
        if before in _NOUN_BEFORE and phrase.predicate != "named" and not (before in {"la", "le", "lo", "les"} and phrase.predicate == "like"):
            return False
        if after in words.COPULA:
            return False
        if phrase.predicate == "partner" and last not in {"divorced", "divorcio", "separated"}:
            return before in words.COPULA or before in {"still", "not", "nicht", "no", "pas", "happily", "glucklich", "got", "se", "ha", "han", "we", "they", "sie", "wurde"} or at == 0
        if last in {"dejo", "deje", "quit", "left"}:
            return after not in {"de", "a", "the", "my", "his", "her", "smoking", "for", "on", "at", "it"} or after in {"the", "my"} and False
    return not (phrase.predicate == "home" and before in {"meeting", "office"} and False)


class _Reading:
    """One clause as it is read into claims."""

    def __init__(self, kept: Sequence[Token], spine: Sequence[int], used: frozenset[int], numbers: tuple[Quantity, ...], flags: dict[str, object], speaker: str, before: str) -> None:  # noqa: PLR0917 - private
        self.kept, self.spine, self.used, self.numbers, self.flags, self.speaker, self.before = kept, spine, used, numbers, flags, speaker, before
        self.counted = {q.index for q in numbers} | {q.index + 1 for q in numbers if q.unit in MEASURES} | {q.index - 1 for q in numbers if q.unit == "money"}

    def base(self, when: Times, gone: Sequence[Token]) -> Claim:
        """What holds for every claim of the clause."""
        folded = {t.fold for t in self.kept}
        about = self._stems(range(len(self.kept)))
        gone_times, gone_used = times(gone)
        lost = frozenset(stem(t.fold) for n, t in enumerate(gone) if n not in gone_used and t.fold not in words.STOP and t.fold not in words.ADVERBS)
        change = int(str(self.flags["change"]))
        return Claim(
            "", "", "", (), frozenset(), about, frozenset(), frozenset(), when, self.numbers, str(self.flags["mode"]), bool(self.flags["negated"]), bool(self.flags["ended"]), 2 if lost or gone_times else change,
            False, lost, gone_times, False, bool(folded & words.EVENT_VERBS), bool(folded & words.INDEFINITE), bool(folded & words.ADDITIONAL),
            find(self.kept, words.USED_TO) >= 0, frozenset(folded),
        )  # fmt: skip

    def aged(self, base: Claim) -> Claim:
        """A number of years that is somebody's age has a unit of its own."""
        folded = [t.fold for t in self.kept]
        for q in self.numbers:
            rest = folded[q.index + 1 : q.index + 4]
            before = folded[q.index - 1] if q.index else ""
            old = bool(set(rest) & {"old", "alt"}) or (rest[:1] == ["岁"]) or (rest in (["anos"], ["ans"]) and before in {"tiene", "tengo", "a", "ai", "cumplio", "cumpli"}) or before in {"turned", "aged", "cumplio"}
            if old and (q.unit == "time" or before in {"turned", "aged"}):
                years = q.value / 31536000.0 if q.unit == "time" else q.value
                return replace(base, numbers=(replace(q, value=years, unit="age"),), about=base.about - {"old", "alt"})
        return base

    def framed(self, base: Claim, found: _Found) -> Iterator[Claim]:
        """The claims of a clause with a known phrase: one for each object."""
        phrase = found.phrase
        subject, person = self._subject(found.start, phrase)
        if not subject and found.object[0] > 0 and phrase.predicate in {"like"} and self._dative(found.start):
            subject, person = self._dative(found.start), True
        start, end = found.object
        lesser: frozenset[str] = frozenset()
        if phrase.predicate == "prefer":
            end, lesser = self._lesser(start, end)
        elif phrase.predicate in {"home", "reside"}:
            start = self._town(start, end)
        value, names, kinds, where, stop = self._object(start, end)
        if phrase.predicate == "prefer":
            kinds = self._kinds([i for i in range(start, end) if i not in self.used])
        predicate = _predicate(phrase, value, names, kinds, person, self.kept[start:stop])
        if predicate is None:
            yield self.plain(base)
            return
        if not subject:
            subject = "we" if predicate.startswith("use") or predicate == "reside" else (self.before or self._default())
        about = base.about - frozenset(stem(w) for w in (*phrase.words, *phrase.tail))
        change = 2 if phrase.changed else base.change
        ended = base.ended or (phrase.ended and not base.negated)
        made = replace(
            base, subject=subject, predicate=predicate, object=" ".join(value), value=value, names=names, kinds=kinds, where=where, about=about, change=change, lesser=lesser,
            ended=ended, opposite=phrase.opposite, person=person or predicate in PERSONAL,
            mode="told" if phrase.changed and base.mode == "past" else base.mode,
        )  # fmt: skip
        yield made
        if predicate in {"job", "employer"}:
            yield from self.second(made, start, stop)

    def _lesser(self, start: int, end: int) -> tuple[int, frozenset[str]]:
        """Where what is preferred ends, and the stems of what it is preferred to."""
        for i in range(start + 1, end - 1):
            if self.kept[i].fold in {"over", "to", "than", "gegenuber", "als", "que", "a", "vor"}:
                return i, self._stems(range(i + 1, end))
        return end, frozenset()

    def _town(self, start: int, end: int) -> int:
        """In a flat in Mainz: the place is the name after the second preposition."""
        if start < end and self.kept[start].fold in words.INDEFINITE:
            for i in range(start + 1, min(end - 1, start + 6)):
                if self.kept[i].fold in {"in", "en", "a", "near"} and self.kept[i + 1].capital:
                    return i + 1
        return start

    def second(self, made: Claim, start: int, stop: int) -> Iterator[Claim]:
        """The employer after a job ("as an engineer at Acme"), the job after an employer."""
        for k in range(start, len(self.kept) - 1):
            word = self.kept[k].fold
            if made.predicate == "job" and word in {"at", "bei", "chez", "en"} and self.kept[k + 1].capital:
                value, names, kinds, where, _ = self._object(k + 1, len(self.kept))
                yield replace(made, predicate="employer", object=" ".join(value), value=value, names=names, kinds=kinds, where=where)
                return
            if made.predicate == "employer" and word in {"as", "als", "como", "comme"} and k >= stop - 1:
                value, names, kinds, where, _ = self._object(k + 1, len(self.kept))
                yield replace(made, predicate="job", object=" ".join(value), value=value, names=names, kinds=kinds, where=where)
                return

    def plain(self, base: Claim) -> Claim:
        """The claim of a clause without a known phrase: an attribute ("X is Y") where there is a copula, else whatever it is about."""
        copula = next((i for i in self.spine if (i > 0 or self.kept[i].fold in {"soy", "estoy", "somos", "estamos"}) and self.kept[i].fold in words.COPULA and (not i or not self.kept[i - 1].fold.endswith("'"))), -1)
        if copula < 0:
            end = self._first_verb()
            subject, person = self._subject(end, None) if end else (self._default(), True)
            return replace(base, subject=subject or self.before, person=person, kinds=self._kinds(range(len(self.kept))))
        subject, person = self._subject(copula, None) if copula else (self._default(), True)
        value, names, kinds, where, stop = self._object(copula + 1, len(self.kept))
        heads = frozenset(value)
        if person and (heads & OCCUPATIONS or any(w.endswith(("engineer", "developer", "ingenieur", "entwickler")) for w in heads)):
            return replace(base, subject=subject, predicate="job", object=" ".join(value), value=value, names=names, kinds=kinds, where=where, person=True)
        if person and any(k == "diet" for k, _ in kinds):
            return replace(base, subject=subject, predicate="diet", object=" ".join(value), value=value, kinds=kinds, person=True)
        before = self._stems(range(copula))
        placed = copula + 1 < len(self.kept) and self.kept[copula + 1].fold in {"in", "at", "en", "a", "im", "au", "on"} and bool(names) and not base.times
        return replace(
            base, event=False, subject=subject or self.before, predicate="reside" if placed else "is", object=" ".join(value), value=value, names=names, kinds=kinds, where=before, person=person
        )  # fmt: skip

    def _first_verb(self) -> int:
        """Where the subject ends when the verb is not known: after the leading name or pronoun, or before a time."""
        first = self.kept[0]
        after = self.kept[1].fold if len(self.kept) > 1 else ""
        if first.fold in words.DETERMINERS and after not in words.COPULA and after not in {"has", "have", "hat", "tiene", "a"}:
            return next((i for i in self.spine if i and (i in self.used or i in self.counted or self.kept[i].fold in _AFTER_SUBJECT)), min(2, len(self.kept)))
        if first.fold in _IMPERATIVES or self._first_person(0):
            return 0
        if first.capital or first.fold in words.FIRST or first.fold in words.FIRST_MANY or first.fold in words.OTHERS:
            return 1
        return next((i for i in self.spine if i in self.used or i in self.counted), len(self.kept))

    def _first_person(self, i: int) -> bool:
        """Dejé, he vuelto: a Spanish first person without a pronoun."""
        word, after = self.kept[i], self._after(i)
        return (word.text[-1:] in {"é", "í"} and len(word.text) > 3 and i == 0) or (word.fold == "he" and after.endswith(("ado", "ido", "uelto", "echo", "ito")))

    def _default(self) -> str:
        return self.speaker or "user"

    def _dative(self, start: int) -> str:
        """Me gusta, a Ana le gusta, mir gefällt."""
        for i in range(start - 1, -1, -1):
            if self.kept[i].fold in {"me", "mir", "nos", "uns"}:
                return self._default()
        return ""

    def _subject(self, end: int, phrase: Phrase | None) -> tuple[str, bool]:
        """The subject before `end`, and whether it is somebody."""
        span = [i for i in range(end) if i not in self.used and self.kept[i].fold not in words.ADVERBS]
        folded = [self.kept[i].fold for i in span]
        if phrase is not None and "的" not in folded:
            folded = [w for w in folded if w not in {"从", "在"}]
        owner = ""
        for word in folded:
            if word in words.FIRST:
                owner = self._default()
            elif word in words.FIRST_MANY:
                owner = "we"
            if owner:
                break
        nouns = [self.kept[i] for i in span if self.kept[i].fold not in _DROPPED and self.kept[i].fold not in words.CUMULATIVE and i not in self.counted]
        nouns = [t for t in nouns if t.fold not in words.FIRST and t.fold not in words.FIRST_MANY and t.fold not in words.ENDED and t.fold not in words.EVENT_VERBS]
        if self._user(nouns):
            return self._default(), True
        if not nouns:
            return self._pronoun(folded, owner, end, phrase)
        name = self._name(nouns, span, phrase)
        if name:
            return name, True
        stems = [stem(t.fold) for t in nouns]
        if owner and self._owns(span):
            return f"{owner}'s {' '.join(sorted(set(stems)))}", phrase is not None and phrase.predicate in PERSONAL
        if owner:
            return owner, True
        if all(s in words.TEAM or s in {"code", "codebase", "app"} and False for s in stems):
            return "we", False
        if not nouns[0].fold.isascii() and len(nouns[0].fold) == 1 and len(nouns) <= 4 and "的" not in folded:
            return "".join(t.fold for t in nouns), True
        named = nouns[0].capital and all(t.capital for t in nouns) and not any(self.kept[i].fold in words.DETERMINERS for i in span)
        return " ".join(t.fold for t in nouns) if named else " ".join(sorted(set(stems))), named and ((phrase is not None and phrase.predicate in PERSONAL) or not (self._scheduled() or _plural(nouns[-1].fold, self.kept[end].fold if end < len(self.kept) else "")))

    def _name(self, nouns: Sequence[Token], span: Sequence[int], phrase: Phrase | None) -> str:
        """The name of somebody: after what they are to the speaker ("my sister Kate"), or first in a clause about somebody."""
        if len(nouns) > 1 and nouns[-1].capital and nouns[-2].fold in _RELATIONS:
            return nouns[-1].fold
        if phrase is not None and phrase.predicate in PERSONAL and nouns[0].capital and self.kept[span[0]] is nouns[0] and len(nouns) > 1 and not nouns[1].capital and self._after(span[0]) != "'s":
            return nouns[0].fold
        return ""

    def _after(self, i: int) -> str:
        return self.kept[i + 1].fold if i + 1 < len(self.kept) else ""

    def _scheduled(self) -> bool:
        return any(t.fold in SCHEDULE and t.fold not in {"in", "on"} for t in self.kept)

    def _user(self, nouns: Sequence[Token]) -> bool:
        return bool(nouns) and all(t.fold in {"user", "nutzer", "usuario", "utilisateur", "benutzer"} for t in nouns)

    def _pronoun(self, folded: Sequence[str], owner: str, end: int, phrase: Phrase | None) -> tuple[str, bool]:
        if owner:
            return owner, owner != "we" or (phrase is not None and phrase.predicate in PERSONAL)
        if any(w in words.TEAM for w in folded):
            return "we", False
        if any(w in words.OTHERS for w in folded):
            return self.before or "?", bool(self.before)
        verb = self.kept[end].text.lower() if end < len(self.kept) else ""
        if phrase is not None and verb.endswith("mos"):
            return "we", True
        if phrase is not None and (verb.endswith("o") or verb.endswith("é")) and len(verb) > 2:
            return self._default(), True
        return "", False

    def _owns(self, span: Sequence[int]) -> bool:
        """My brother, the brother of mine: the first person only owns the subject."""
        return not any(self.kept[i].fold in {"i", "we", "ich", "wir", "je", "j'", "nous", "yo", "nosotros", "nosotras"} for i in span) and not (
            any(self.kept[i].fold == "我" for i in span) and not any(self.kept[i].fold == "的" for i in span)
        )

    def _object(self, start: int, end: int) -> tuple[tuple[str, ...], frozenset[str], frozenset[tuple[str, str]], frozenset[str], int]:
        """The folded words of the object, its names, its kinds, the stems of what limits it ("for orders"), and where it ends."""
        stop = end
        for i in range(start, end):
            word = self.kept[i].fold
            if i > start and (word in words.STATE_TIME or word in _QUALIFIERS):
                stop = i
                break
        inside = [i for i in range(start, stop) if i not in self.used and i not in self.counted]
        plain = [self.kept[i] for i in inside if (self.kept[i].fold not in words.STOP if self.kept[i].fold.isascii() else self.kept[i].fold not in _PARTICLES) and self.kept[i].fold not in words.ADVERBS and self.kept[i].fold not in words.NOW]
        where = self._stems(i for i in range(stop, end) if self.kept[i].fold not in words.STATE_TIME)
        return tuple(t.fold for t in plain), frozenset(t.fold for t in plain if t.capital or not t.fold.isascii()), self._kinds(inside), where, stop

    def _kinds(self, positions: Sequence[int]) -> frozenset[tuple[str, str]]:
        found = set()
        for n, i in enumerate(positions):
            word = self.kept[i].fold
            pair = f"{word}-{self.kept[positions[n + 1]].fold}" if n + 1 < len(positions) else ""
            for form in (pair, word):
                if (kind := KIND.get(form) or KIND.get(ALIASES.get(form, ""))) is not None and not (kind == "drink" and form == "the" and self.kept[i].text.lower() == "the"):
                    found.add((kind, ALIASES.get(form, form)))
                    break
        return frozenset(found)

    def _stems(self, positions: Iterator[int] | Sequence[int] | range) -> frozenset[str]:
        return frozenset(_SYNONYMS.get(s, s) for s in self._plain_stems(positions))

    def _plain_stems(self, positions: Iterator[int] | Sequence[int] | range) -> Iterator[str]:
        return (stem(self.kept[i].fold) for i in positions if i not in self.used and i not in self.counted and self.kept[i].fold not in _DROPPED)


def _plural(noun: str, verb: str) -> bool:
    """Tests are, deploys happen: not a name, though it begins the sentence with a capital letter."""
    return noun.endswith("s") and not verb.endswith(("s", "ed"))


def _predicate(phrase: Phrase, value: Sequence[str], names: frozenset[str], kinds: frozenset[tuple[str, str]], person: bool, inside: Sequence[Token]) -> str | None:
    """The predicate of a phrase with this object; None where the phrase means something else here."""
    predicate = phrase.predicate
    technical = sorted(k for k, _ in kinds if k in TECHNICAL)
    if any(k == "diet" for k, _ in kinds) and predicate in {"eat", "use", "job", "home", "named"}:
        return "diet"
    if predicate == "home":
        return _home(names, technical, person, inside)
    if predicate == "employer":
        return "employer" if names or (phrase.ended and value and value[-1] in {"job", "company", "trabajo", "stelle", "empleo"}) else None
    if predicate == "job":
        return "job" if value and (set(value) & OCCUPATIONS or phrase.words[0] in {"work", "works", "promoted", "trabaja", "trabajo", "arbeite", "arbeitet", "travaille"} or "job" in phrase.words or any(w.endswith(("er", "or", "ist", "in", "eur", "dor")) for w in value)) else None
    if predicate == "use":
        return f"use:{technical[0]}" if technical else "use" if value else None
    if predicate in {"named", "lead", "school"}:
        return predicate if names or not phrase.words[0].isascii() else None
    if predicate == "reside":
        return predicate if value else None
    return predicate


def _home(names: frozenset[str], technical: Sequence[str], person: bool, inside: Sequence[Token]) -> str | None:
    if technical:
        return f"use:{technical[0]}"
    article = bool(inside) and inside[0].fold in {"a", "an", "ein", "eine", "einem", "einer", "un", "una", "une", "the"} and not (len(inside) > 1 and inside[1].capital)
    if not names or article:
        return None
    return "home" if person or not inside else "reside"

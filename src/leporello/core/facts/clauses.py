"""The clauses of a statement and how each is meant: told, asked, supposed, reported, about the past, about the future."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date

from leporello.core.facts import cues_words as words
from leporello.core.facts.cues_frames import PHRASES
from leporello.core.facts.labels import NOT_SPEAKERS, heads, is_attribute, says
from leporello.core.facts.tokens import Token, fold, tokens
from leporello.core.facts.values import WEEKDAYS

_ENDS = frozenset(".!?\n。！？")
_BREAKS = frozenset(",;:()—–，；：、（）")
_QUOTES = frozenset('"“”«»「」')
_SPLIT_AT = frozenset(
    "but which because although whereas while und and y and et mais pero aber sondern so who weil porque since after car denn".split()
)
_TITLES = frozenset("dr mr mrs ms st prof no nr vs sr sra bzw z.b e.g i.e".split())
_MONTH_START = re.compile(r"jan|feb|mar|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez|ener|abr|ago|dic|fev|avr|aou|jui", re.IGNORECASE)
_DATED = re.compile(r"\s*\((?:(?:week of )?\d{4}(?:-\d{2}(?:-\d{2})?)?)\)")
_DAY_WORD = re.compile(
    r"(?i)\b((?:(?:next|last|this|nächste[nrs]?|letzte[nrs]?|kommende[nrs]?|el próximo|la próxima|este|esta) )?(?:today|tomorrow|yesterday|tonight|week|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday|"
    r"heute|morgen|gestern|übermorgen|woche|monat|jahr|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|hoy|mañana|ayer|semana|mes|lunes|martes|miércoles|jueves|viernes|sábado|domingo|demain|hier|semaine|mois)"
    r"|(?:明天|今天|昨天|后天|下周.?|上周.?)) ?\(((?:week of )?\d{4}(?:-\d{2}(?:-\d{2})?)?)\)"
)


_THIS = frozenset("this este esta".split())
_YEAR = 4
_IF, _CORRECTED = words.indexed("如 果|要 是"), words.indexed("更 正|纠 正")
_HENCEFORTH = words.indexed(
    "from now on|as of now|going forward|ab jetzt|ab sofort|von nun an|a partir de ahora|de ahora en adelante|desormais|dorenavant|从 现 在|今 后"
)
_WOULD_LIKE, _WOULD_LIKE_TO = words.indexed("would like"), words.indexed("would like to")
_GOING, _RATHER = words.indexed("going to"), words.indexed("would rather|rather have|lieber")


@dataclass
class Clause:
    """One clause: its words without marks, and how it is meant."""

    words: list[Token]
    mode: str = "told"  # told, asked, maybe, reported, past, future
    corrected: bool = False
    given_up: list[Token] = field(default_factory=list)


def undated(text: str) -> str:
    """Without the dates in brackets that say when something was told; those that a relative day stands for replace it."""
    if "(" not in text:
        return text
    return _DATED.sub("", _DAY_WORD.sub(_dated, text))


def _dated(found: re.Match[str]) -> str:
    """The date for what is counted from a day ("next week"); both for a weekday that the date falls on; else the weekday alone.

    "This" stays: it tells once from always.
    """
    said, day = found.group(1), found.group(2).removeprefix("week of ")
    first, last = said.split()[0], said.split()[-1]
    this = f"{first} " if fold(first) in _THIS else ""
    at = WEEKDAYS.get(fold(last))
    if at is None:
        return f"{this}in {day}" if len(day) == _YEAR else f"{this}{day}"
    try:
        return f"{this}{last} {day}" if date.fromisoformat(day).weekday() == at else f"{this}{last}"
    except ValueError:
        return f"{this}{last}"


def clauses(text: str) -> list[Clause]:
    """The clauses of a text, in order."""
    out: list[Clause] = []
    for sentence, asked in _sentences(tokens(text)):
        out += _of_sentence(sentence, asked)
    return out


def _sentences(all_tokens: Sequence[Token]) -> Iterable[tuple[list[Token], bool]]:
    current: list[Token] = []
    for i, token in enumerate(all_tokens):
        if token.fold not in _ENDS:
            current.append(token)
            continue
        before = current[-1].fold if current else ""
        after = all_tokens[i + 1].text if i + 1 < len(all_tokens) else ""
        if token.fold == "." and (before in _TITLES or (before.isdigit() and _MONTH_START.match(after))):
            continue
        if current:
            yield current, token.fold in "?？"
        current = []
    if current:
        yield current, False


_UNSURE = words.indexed(
    "not sure|not certain|not so sure|not really sure|not entirely sure|not quite sure|not a hundred percent sure|bin mir nicht sicher|bin nicht sicher|bin mir aber nicht sicher|nicht sicher|no estoy seguro|no estoy segura|no seguro|pas sur|pas sure|pas certain|"
    "need to confirm|need to check|have to check|would have to check|muss noch nachsehen|不 确 定"
)
_UNSURE_MOST = 7


def _doubted(pieces: list[list[Token]]) -> list[list[Token]]:
    """Without "I'm not sure, but", which makes of what stands beside it something that may be so."""
    unsure = [p for p in pieces if len(p) <= _UNSURE_MOST and find([t for t in p if not t.mark], _UNSURE) >= 0]
    rest = [p for p in pieces if not any(p is u for u in unsure)]
    if not unsure or not rest:
        return pieces
    return [[Token("perhaps", "perhaps", False, False), *(t for t in p if t.fold != "but")] for p in rest]


def _of_sentence(sentence: list[Token], asked: bool) -> list[Clause]:
    sentence, corrected = _without_lead(sentence)
    first = next((t.fold for t in sentence if not t.mark), "")
    plain = [t for t in sentence if not t.mark]
    pieces = _joined(_doubted(_pieces(sentence)))
    made = [Clause([t for t in p if not t.mark]) for p in pieces]
    supposed = any(_supposes(t) for t in sentence[:3]) or any(t.fold in {"if", "unless", "falls"} for t in sentence)
    supposed = supposed or _has(plain, _IF)
    wholly = asked and (first in words.QUESTION_START or "吗" in {t.fold for t in plain} or len(made) == 1)
    wholly = wholly or _opens_question(plain)
    reported = _is_reported(sentence, plain)
    if reported and made:
        made[0].words = _without_reporter(made[0].words)
    for n, clause in enumerate(made):
        clause.mode = _mode(clause.words)
        head = clause.words[0].fold if clause.words else ""
        if (
            wholly
            or (asked and n == len(made) - 1)
            or (head in words.REQUEST_START and len(clause.words) > 1 and n + 1 >= len(made))
            or _opens_question(clause.words)
        ):
            clause.mode = "asked"
        elif supposed:
            clause.mode = "maybe"
        elif reported and clause.mode in {"told", "future"}:
            clause.mode = "reported"
        corrected = corrected or any(t.fold in words.CORRECTION for t in clause.words) or _has(clause.words, _CORRECTED)
        clause.corrected = corrected
    return _with_given_up(made)


def _without_lead(sentence: list[Token]) -> tuple[list[Token], bool]:
    """Without "it turns out that" at the start, and whether it was there."""
    plain = [i for i, t in enumerate(sentence) if not t.mark]
    lead = [sentence[i] for i in plain[:6]]
    if not lead:
        return sentence, False
    fitting = [p for p in words.LEADS.get(lead[0].fold, ()) if tuple(t.fold for t in lead[: len(p)]) == p]
    if not fitting or max(map(len, fitting)) >= len(plain):
        return sentence, False
    return sentence[plain[max(map(len, fitting))] :], True


def _supposes(token: Token) -> bool:
    return token.fold in words.IF_START and (token.fold != "si" or token.text.lower() == "si")


def _opens_question(plain: Sequence[Token]) -> bool:
    """Can you, should we, do I: an auxiliary with a pronoun after it."""
    return len(plain) > 2 and plain[0].fold in _AUXILIARY and plain[1].fold in _ASKED


_AUXILIARY = frozenset(
    "can could would should do does did is are will shall may am have has how what when where why which kannst konnt konnten sollten sollen soll puedes podrias deberiamos debo peux pouvez devrait".split()
)
_ASKED = frozenset("you we i he she they it the do can should is are du ihr wir ich sie er tu nous vous je on much many would to".split())


_TOPIC_MOST = 6
"""Words of a label."""


def _pieces(sentence: list[Token]) -> list[list[Token]]:
    pieces: list[list[Token]] = [[]]
    for i, token in enumerate(sentence):
        after = sentence[i + 1].fold if i + 1 < len(sentence) else ""
        before = sentence[i - 1].fold if i else ""
        year = after[:2] in {"19", "20"} and len(after) == 4 and before[:1].isdigit()
        named = [t for t in pieces[0] if not t.mark] if token.fold in {":", "："} and len(pieces) == 1 else []
        label = [t.fold for t in named]
        if label and is_attribute(label, [t.fold for t in sentence[i + 1 :] if not t.mark]):
            pieces[-1].append(Token(":", "is", False, False))
        elif label and len(label) <= _TOPIC_MOST and label[0] not in NOT_SPEAKERS and heads(named):
            pieces = [[]]  # filed under it
        elif token.fold in _BREAKS and not year:
            pieces.append([])
        elif token.fold in _SPLIT_AT and i and pieces[-1] and _starts_clause(sentence, i):
            pieces.append([token])
        elif token.fold not in _BREAKS:
            pieces[-1].append(token)
    return [p for p in pieces if any(not t.mark for t in p)]


def _starts_clause(sentence: Sequence[Token], i: int) -> bool:
    """Whether a conjunction at `i` begins a clause: a verb or a pronoun follows it."""
    if sentence[i].fold in {"but", "which", "because", "although", "whereas", "pero", "aber", "mais", "weil", "porque", "sondern"}:
        return True
    if [t.fold for t in sentence[i + 1 : i + 3]] in _DENIES:
        return True
    rest = [t.fold for t in sentence[i + 1 : i + 7] if t.fold not in words.ADVERBS and t.fold not in _SKIPPED]
    if not rest:
        return False
    head = rest[0]
    if head in {"i", "we", "he", "she", "they", "it", "ich", "wir", "er", "je", "j'", "nous", "yo", "nosotros"}:
        return True
    if any(tuple(rest[: len(p.words)]) == p.words for p in PHRASES.get(head, ())):
        return True
    before = [t.fold for t in sentence[:i] if not t.mark]
    if sentence[i].fold not in _JOINS or not (says(before) or any(len(w) > 4 and w.endswith("ed") for w in before)):
        return False
    return (
        head in words.EVENT_VERBS
        or head in {"is", "are", "ist", "es", "est"}
        or head in words.CHANGE_STEMS
        or any(_says_on(rest, k) for k in (1, 2))
    )


_DENIES = tuple([w, "not"] for w in ("do", "does", "did", "can", "will", "is", "are", "was"))
_JOINS = frozenset("and und y et".split())


def _says_on(rest: Sequence[str], k: int) -> bool:
    """Whether a copula or a known phrase of several words stands at `k`, after a subject of its own."""
    if k >= len(rest) or rest[k] in {"'s", "be"} or rest[0] in words.NEGATION:
        return False
    if rest[k] in words.COPULA:
        return True
    return any(len(p.words) > 1 and tuple(rest[k : k + len(p.words)]) == p.words for p in PHRASES.get(rest[k], ()))


_SKIPPED = frozenset("no longer not never does do has have ya ne n' then nicht".split())


def _joined(pieces: list[list[Token]]) -> list[list[Token]]:
    """Pieces without a verb that is known belong to what stands before them (lists, asides)."""
    out: list[list[Token]] = []
    for piece in pieces:
        plain = [t.fold for t in piece if not t.mark]
        if (
            out
            and len(plain) <= 3
            and plain[0] not in words.NEGATION
            and plain[0] not in {"sondern", "sino", "nur", "only", "solo", "seulement"}
            and not says(plain)
            and not any(w in words.CORRECTION for w in plain)
        ):
            out[-1] = [*out[-1], *piece]
        else:
            out.append(piece)
    return out


def _with_given_up(made: list[Clause]) -> list[Clause]:
    """ "Thursday, not Tuesday": the last part says what no longer holds of the part before it."""
    out: list[Clause] = []
    for clause in made:
        plain = [t.fold for t in clause.words]
        if (
            out
            and 2 <= len(plain) <= 6
            and plain[1] not in {"just", "only", "nur", "solo", "seulement", "merely"}
            and (plain[0] in {"not", "nicht", "no", "pas"} or plain[:2] == ["不", "是"])
            and not says(plain[2:])
        ):
            end = next((i for i, w in enumerate(plain) if w in {"for", "fur", "para", "pour"}), len(plain))
            out[-1].given_up += clause.words[1:end]
            out[-1].words += clause.words[end:]
            out[-1].corrected = True
        elif clause.words:
            out.append(clause)
    return out


def _mode(tokens_: Sequence[Token]) -> str:
    folded = [t.fold for t in tokens_]
    if _is_maybe(tokens_):
        denied = bool(_WANTING & set(folded)) and (_has(tokens_, words.ENDED_PHRASES) or bool(words.NEGATION & set(folded)))
        return "told" if denied else "maybe"
    changed = any(w in words.CHANGE_STEMS or w in words.ENDED for w in folded if w.isascii())
    perfect = any(w in {"have", "has", "ve"} for w in folded)
    past = any(t.fold in words.PAST and not (t.fold == "had" and changed) for t in tokens_) and not passive(folded)
    if _has(tokens_, words.PAST_PHRASES) or (past and not changed and not perfect):
        return "past"
    going = find(tokens_, _GOING)
    if going >= 0 and going + 2 < len(tokens_) and (tokens_[going + 2].fold in words.DETERMINERS or tokens_[going + 2].capital):
        tokens_ = tokens_[:going]
        folded = folded[:going]
    if any(w in words.FUTURE for w in folded) or _has(tokens_, words.FUTURE_PHRASES):
        return "future"
    return "told"


_IRREGULAR = frozenset(
    "set cut put sent sold given taken shut brought paid chosen broken stolen withdrawn rewritten split written let".split()
)
_STATES = frozenset(
    "married based called named located interested used engaged employed supposed scared tired bored single excited worried red need bed".split()
)


def passive(folded: Sequence[str]) -> bool:
    """Was discharged, were reassigned: something happened, rather than that it was so."""
    for i, word in enumerate(folded):
        if word in {"was", "were"}:
            after = next((w for w in folded[i + 1 : i + 4] if w not in words.ADVERBS and w != "not"), "")
            return (len(after) > 4 and after.endswith("ed") and after not in _STATES) or after in _IRREGULAR
    return False


_WANTING = frozenset("want wants wanted quiero quiere veut veux".split())
_WANTS = frozenset("quiero quiere queremos quieren veux veut voulons veulent".split())


def _is_maybe(tokens_: Sequence[Token]) -> bool:
    if _has(tokens_, _HENCEFORTH):
        return False
    rather = _has(tokens_, _RATHER) or (_has(tokens_, _WOULD_LIKE) and not _has(tokens_, _WOULD_LIKE_TO))
    for i, token in enumerate(tokens_):
        if token.fold in _WANTS and i + 1 < len(tokens_) and tokens_[i + 1].fold.endswith(("ar", "er", "ir", "re", "arme", "irme", "erme")):
            return True
        if token.fold in words.MAYBE and not (token.fold == "would" and rather):
            return True
        if (
            token.text in {"may", "würde", "würden", "könnte", "könnten", "Könnte", "hätte", "hätten"}
            and i
            or (token.text in {"möchte", "möchten"} and tokens_[-1].text.endswith("en") and tokens_[-1].text.islower())
        ):
            return True
        if token.fold == "if" or (i == 0 and _supposes(token)):
            return True
    return _has(tokens_, words.MAYBE_PHRASES) and not (rather and not _has(tokens_, _RATHER))


def _is_reported(sentence: Sequence[Token], plain: Sequence[Token]) -> bool:
    quotes = [i for i, t in enumerate(sentence) if t.fold in _QUOTES]
    if len(quotes) >= 2 and quotes[-1] - quotes[0] > 4:
        return True
    if not _has(plain, words.REPORTED_PHRASES):
        return False
    own = plain[0].fold in words.FIRST and len(plain) > 1 and plain[1].fold in {"said", "say", "told", "mentioned", "sagte"}
    return not own


_REPORTERS = frozenset(
    "apparently allegedly supposedly reportedly angeblich anscheinend supuestamente apparemment i according laut segun selon 据 听 creo parece croit".split()
)


def _without_reporter(tokens_: list[Token]) -> list[Token]:
    """What is reported, without who says so ("Bob says that")."""
    at = find(tokens_[:6], words.REPORTED_PHRASES)
    if at < 0 or len(tokens_) < at + 4:
        return tokens_
    width = max(len(p) for p in words.REPORTED_PHRASES[tokens_[at].fold] if tuple(t.fold for t in tokens_[at : at + len(p)]) == p)
    rest = tokens_[at + width :]
    if tokens_[at].fold in {"according", "laut", "segun", "selon", "据"}:
        rest = rest[1:]
    while rest and rest[0].fold in {"that", "dass", "que", "qu'", "me", "us", "to"}:
        rest = rest[1:]
    return rest if len(rest) >= 3 and (at or tokens_[0].fold in _REPORTERS) else tokens_


def _has(tokens_: Sequence[Token], phrases: words.Phrases) -> bool:
    return find(tokens_, phrases) >= 0


def find(tokens_: Sequence[Token], phrases: words.Phrases) -> int:
    """Where the first of the phrases stands in the tokens; -1 where none does."""
    for i, token in enumerate(tokens_):
        if token.fold not in phrases:
            continue
        for phrase in phrases[token.fold]:
            if all(i + k < len(tokens_) and tokens_[i + k].fold == w for k, w in enumerate(phrase)):
                return i
    return -1

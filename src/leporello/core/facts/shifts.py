"""Whether a clause denies, ends or changes something, and what it says is given up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leporello.core.facts import cues_words as words
from leporello.core.facts.clauses import Clause, find
from leporello.core.facts.tokens import Token

_FROM = {
    "off": ("to", "onto"), "from": ("to", "into"), "von": ("auf", "nach", "zu", "zum", "zur"), "vom": ("auf", "zum", "zu"), "de": ("a", "al", "vers"), "del": ("al",), "du": ("au", "a"), "d'": ("a", "au", "vers"),
    "从": ("到", "换", "改", "迁", "转", "切", "搬", "升", "降", "提"),
}  # fmt: skip
_INSTEAD = words.indexed(
    "instead of|rather than|en lugar de|en vez de|au lieu de|au lieu d'|statt|anstatt|anstelle von|plutot que|而 不 是"
)
_REPLACE = frozenset(
    "replaced replace replacing swapped swap traded substituted ersetzt ersetzen ersetzten tauschen getauscht reemplazamos reemplazo reemplace reemplazado sustituimos sustituyo sustituido remplace remplaces replaces 替 cambiamos cambie cambio cambiado swapping trading exchanged troque echange echanges tausche tauschte".split()
)
_EXCHANGED = frozenset("cambiamos cambie cambio cambiado troque echange echanges exchanged".split())
_REPLACED_BY = frozenset("with by for durch gegen por con par contre".split())
_SWITCHED = (Token("switched", "switched", False, False), Token("to", "to", False, False))
_FAVOURED = words.indexed("in favour of|in favor of|zugunsten von|a favor de|en favor de|en faveur de|au profit de")
_DROPPED = frozenset("ditched dropped abandoned scrapped left retired axed".split())
_NOW = words.indexed("现 在|如 今|目 前|已 经|最 近|刚 刚|又|今 后")
_AFTER_ALL = words.indexed("after all")
_DENIED = frozenset("not nicht no never nie nunca".split())


@dataclass(frozen=True)
class Shift:
    """`change` is 0, 1 ("now") or 2 (a verb of change, a correction)."""

    negated: bool
    ended: bool
    change: int


def shift(clause: Clause) -> Shift:
    """What the words of the clause say about what was before."""
    folded = [t.fold for t in clause.words]
    negations = [i for i, w in enumerate(folded) if w in words.NEGATION]
    ends = [
        i
        for i, w in enumerate(folded)
        if w in words.ENDED and not (w == "dropped" and _falls(folded, i)) and (i == 0 or folded[i - 1] not in words.BEFORE_END)
    ]
    ended = bool(ends) and not any(folded[i] in _DENIED for i in negations if i < ends[0])
    apart = any(a in folded and b in folded[folded.index(a) :] for a, b in words.ENDED_APART)
    over = apart or find(clause.words, words.ENDED_PHRASES) >= 0
    if over or (negations and (_any_more(folded, negations[0]) or find(clause.words, _AFTER_ALL) > negations[0])):
        ended, negations = True, []
    here = set(folded)
    verbs = not here.isdisjoint(words.CHANGE_STEMS) or find(clause.words, words.CHANGED_PHRASES) >= 0
    soft = not here.isdisjoint(words.NOW) or find(clause.words, words.NOW_PHRASES) >= 0
    return Shift(bool(negations), ended, 2 if verbs or clause.corrected else int(soft))


def _falls(folded: Sequence[str], i: int) -> bool:
    """Dropped to 180, by a third: smaller, not over."""
    return folded[i + 1 : i + 2] != [] and folded[i + 1] in {"to", "by", "from", "below", "under"}


def _any_more(folded: Sequence[str], at: int) -> bool:
    """Not … any more, kein … mehr, ne … plus, 不 … 了."""
    rest = folded[at + 1 :]
    if any(w in {"mehr", "anymore"} for w in rest) or ("any" in rest and "more" in rest):
        return True
    return (folded[at] in {"ne", "n'"} and "plus" in rest) or (folded[at] in {"不", "没"} and folded[-1] == "了")


def plainly(given: list[Token]) -> list[Token]:
    """In the words for which there are rules: "ditched A for B" replaced it, "stop with A" wants it no longer."""
    given = [t for t in given if t.text.casefold() != "sí"]
    folded = [t.fold for t in given]
    start = next((i for i, w in enumerate(folded) if w not in _POLITE), len(folded))
    if folded[start : start + 1] == ["stop"] and (
        folded[start + 1 : start + 2] == ["with"] or folded[start + 1 : start + 2][-1:][0:1] and folded[start + 1].endswith("ing")
    ):
        return [
            Token("no", "no", False, False),
            Token("longer", "longer", False, False),
            *given[start + 1 + (folded[start + 1] == "with") :],
        ]
    dropped = next((i for i, w in enumerate(folded) if w in _DROPPED or w in words.ENDED), -1)
    at = find(given, _FAVOURED)
    if at < 0 and dropped >= 0 and folded[dropped] in _DROPPED:
        at = next((i for i in range(dropped + 2, len(folded) - 1) if folded[i] == "for" and given[i + 1].capital), -1)
    if not 0 <= dropped < at - 1:
        return given
    width = next((len(p) for p in _FAVOURED.get(folded[at], ()) if tuple(folded[at : at + len(p)]) == p), 1)
    replaced, by = (Token(w, w, False, False) for w in ("replaced", "with"))
    end = next((i for i in range(dropped + 2, at) if folded[i] in words.QUALIFIERS), at)
    return [*given[:dropped], replaced, *given[dropped + 1 : end], by, *given[at + width :], *given[end:at]]


_POLITE = frozenset("please bitte also and hey so ok okay just".split())


def without_now(plain: list[Token]) -> list[Token]:
    """Without the Chinese words for "now", which stand between those of other phrases."""
    while any(not t.fold.isascii() for t in plain):
        at = find(plain, _NOW)
        if at < 0:
            break
        width = next(len(p) for p in _NOW[plain[at].fold] if tuple(t.fold for t in plain[at : at + len(p)]) == p)
        plain = plain[:at] + plain[at + width :]
    return plain


def given_up(plain: list[Token], changed: bool) -> tuple[list[Token], list[Token]]:
    """The words without what is given up ("from A" before "to B", "instead of A", "replaced A with"), and that."""
    folded = [t.fold for t in plain]
    at = find(plain, _INSTEAD)
    if at >= 0:
        width = next(len(p) for p in _INSTEAD[folded[at]] if tuple(folded[at : at + len(p)]) == p)
        end = phrase_end(plain, at + width)
        return plain[:at] + plain[end:], plain[at + width : end]
    for i, word in enumerate(folded):
        if word in _REPLACE:
            left, lost = _replaced(plain, i)
            if lost:
                return left, lost
        if changed and word in _FROM and (to := next((k for k in range(i + 2, min(i + 7, len(folded))) if folded[k] in _FROM[word]), 0)):
            return plain[:i] + plain[to:], plain[i + 1 : to]
    if "把" in folded and "换" in folded[folded.index("把") :]:
        i = folded.index("把")
        k = folded.index("换", i)
        return plain[:i] + plain[k:], plain[i + 1 : k]
    return plain, []


def _replaced(plain: list[Token], i: int) -> tuple[list[Token], list[Token]]:
    folded = [t.fold for t in plain]
    middle = next((k for k in range(1, len(folded)) if folded[k] in _REPLACED_BY and abs(k - i) < 8), -1)
    if folded[i] in _EXCHANGED and (middle <= i + 1 or folded[middle] not in {"por", "contre", "for"}):
        return plain, []
    if middle > i:  # replaced A with B
        return [*plain[:i], *_SWITCHED, *plain[middle + 1 :]], plain[i + 1 : middle]
    if middle >= 0:  # haben A durch B ersetzt
        start = next((k for k in range(middle - 1, -1, -1) if folded[k] in {"haben", "habe", "hat", "wurde", "wir", "ich"}), -1)
        return [*plain[: start + 1], *_SWITCHED, *plain[middle + 1 : i]], plain[start + 1 : middle]
    end = phrase_end(plain, i + 1)  # B replaces A
    newcomer = [t for t in plain[:i] if t.fold not in {"has", "have", "we"}]
    return [Token("we", "we", False, False), *_SWITCHED, *newcomer], plain[i + 1 : end]


def phrase_end(plain: Sequence[Token], start: int) -> int:
    """Where the noun phrase that starts at `start` ends."""
    for k in range(start + 1, len(plain)):
        if plain[k].fold in words.STATE_TIME or plain[k].fold in words.QUALIFIERS or plain[k].fold in words.COPULA:
            return k
    return len(plain)

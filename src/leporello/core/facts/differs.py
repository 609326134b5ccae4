"""What tells two statements apart though their words are nearly the same: numbers that name, order, quantifiers, signs, code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from leporello.core.facts import cues_words as words
from leporello.core.facts.claim import Claim
from leporello.core.facts.read import Statement
from leporello.core.facts.tokens import Token, stem, tokens
from leporello.core.facts.values import times

_SIGNED = re.compile(r"(?<![\w.)\]-])[-−]\s?\d[\d.,]*")
_DOTTED = re.compile(r"(?<![\w.])v?(\d+(?:\.\d+)+)(?![\w])")
_CODE = re.compile(r"[=_`{}<>$\\/|&;()\[\]]|::|->|--|\w\.\w|\w@\w|#\w")
_GROUPS = (
    "all alle allen alles todos todas tous toutes 都 所",
    "some einige manche algunos algunas certains certaines quelques 些",
    "every jede jeder jedes jeden cada 每",
    "each jeweils chaque",
    "most meisten mayoria plupart",
    "few wenige pocos pocas peu",
    "only nur solo solamente seulement uniquement 只 仅",
    "both beide beiden ambos ambas",
    "before vor antes avant 前",
    "after nach despues apres 后",
    "until till bis hasta jusqu' jusque",
    "since seit desde depuis",
    "more mehr mas plus",
    "less fewer weniger menos moins",
    "min minimum least mindestens minimo",
    "max maximum most hochstens maximo",
    "first erste ersten erster primer primero primera premier premiere",
    "last letzte letzten letzter ultimo ultima dernier derniere",
)
_GROUP: dict[str, frozenset[int]] = {}
for _n, _line in enumerate(_GROUPS):
    for _word in _line.split():
        _GROUP[_word] = _GROUP.get(_word, frozenset()) | {_n}
_UNSAID = frozenset("nach vor bis plus mehr mas 前 后 都 所 前 些 desde seit since depuis".split())
"""Words of a group that other words of the same language also say: they tell only where the other statement has one of another group."""
_LEADING = frozenset("on in at for from by since until am im um ab bis seit en el a al para desde le au dans pour depuis 在".split())


def numbered_apart(old: Claim, new: Claim) -> bool:
    """Customer 3 and customer 13, item A and item C: other numbers or letters after the same noun."""
    if _other(old.marked, new.marked):
        return True
    if new.change or old.predicate in _PLACED or new.predicate in _PLACED:
        return False
    return _other(old.labels | old.marked, new.labels | new.marked)


def owned_apart(old: Claim, new: Claim) -> bool:
    """Elise's favourite place and mine."""
    (one, owned, _), (other, also, _) = old.subject.partition("'s "), new.subject.partition("'s ")
    return bool(owned and also) and one != other and not {one, other} <= {"user", "we"}


_PLACED = frozenset({"reside", "home", "is", "grade", "team", "boss"})


def _other(first: frozenset[tuple[str, str]], second: frozenset[tuple[str, str]]) -> bool:
    mine: dict[str, set[str]] = {}
    for noun, number in first:
        mine.setdefault(noun, set()).add(number)
    theirs: dict[str, set[str]] = {}
    for noun, number in second:
        theirs.setdefault(noun, set()).add(number)
    return any(not mine[n] & theirs[n] for n in mine.keys() & theirs.keys())


def worded_alike(one: str, other: str) -> bool:
    """The same words: blanks, the mark at the end and, except in code, capital letters make no difference."""
    first, second = _bare(one), _bare(other)
    return first == second or (first.casefold() == second.casefold() and not code_apart(one, other))


def _bare(text: str) -> str:
    return " ".join(text.split()).rstrip(".!。！") or " ".join(text.split())


def code_apart(one: str, other: str) -> bool:
    """The same but for capital letters, where these tell: in code, in single letters, inside a word."""
    first, second = _bare(one), _bare(other)
    if first == second or first.casefold() != second.casefold():
        return False
    if _CODE.search(first):
        return True
    pairs = [(a, b) for a, b in zip(first.split(), second.split(), strict=False) if a != b]
    return any(_telling(a, b, n) for n, (a, b) in enumerate(pairs))


def _telling(one: str, other: str, n: int) -> bool:
    """Whether two spellings of a word may be two names: a single letter but for "I" and a leading "A", "userId"."""
    if len(one) == 1:
        return one.casefold() != "i" and not (n == 0 and one.casefold() == "a")
    return any(w[1:] != w[1:].lower() and w != w.upper() for w in (one, other))


def told_apart(earlier: Statement, later: Statement, *, ordered: bool = True) -> bool:
    """Signs, versions, quantifiers, before and after, or (`ordered`) the order of the telling words differ."""
    a, b = earlier.text[:_READ], later.text[:_READ]
    if _signed(a) != _signed(b) or set(_DOTTED.findall(a)) != set(_DOTTED.findall(b)):
        return True
    first, second = [t for t in tokens(a) if not t.mark], [t for t in tokens(b) if not t.mark]
    return _quantified_apart(first, second) or (ordered and _turned(first, second))


_READ = 2_000


def _signed(text: str) -> set[str]:
    return {s.replace("−", "-").replace(" ", "") for s in _SIGNED.findall(text)}


def _quantified_apart(first: Sequence[Token], second: Sequence[Token]) -> bool:
    mine, theirs = _groups(first), _groups(second)
    if mine == theirs:
        return False
    sure_a, sure_b = _groups(t for t in first if t.fold not in _UNSAID), _groups(t for t in second if t.fold not in _UNSAID)
    return sure_a != sure_b or bool(mine - theirs and theirs - mine)


def _groups(found: Iterable[Token]) -> frozenset[int]:
    return frozenset(g for t in found for g in _GROUP.get(t.fold, ()))


def _turned(first: Sequence[Token], second: Sequence[Token]) -> bool:
    """Red beat Blue, Blue beat Red: the telling words that both have stand in another order, not only what says when or where."""
    one, other = _content(first), _content(second)
    shared = set(one) & set(other)
    one, other = [s for s in one if s in shared], [s for s in other if s in shared]
    if one == other or len(one) != len(other) or len(set(one)) != len(one):
        return one != other and len(one) == len(other)
    said = {t.fold for t in first}, {t.fold for t in second}
    if any("'s" in x and "'s" not in y and y & _OF for x, y in (said, said[::-1])):
        return False  # the price of the plan, the plan's price
    led = any(t and t[0].fold in _LEADING for t in (first, second))
    ours = any(t and t[0].fold in _OURS for t in (first, second)) and any(t and t[0].fold in _WE for t in (first, second))
    moved = any(one[k:] + one[:k] == other for k in range(1, len(one)))
    return not (ours or (moved and (led or (_equates(first) and _equates(second)))))


_OF = frozenset("of von de du des".split())
_OURS, _WE = frozenset("our unser unsere nuestro nuestra notre nos".split()), frozenset("we wir nosotros nous".split())


def _equates(found: Sequence[Token]) -> bool:
    """X is Y, rather than "is on", "is bigger than"."""
    at = next((i for i, t in enumerate(found) if t.fold in words.COPULA and t.fold != "'s"), -1)
    return 0 < at < len(found) - 1 and found[at + 1].fold not in words.QUALIFIERS


def _content(found: Sequence[Token]) -> list[str]:
    """The stems of the telling words in order, without times, numbers and verbs of schedules, which are compared elsewhere."""
    _, used = times(found)
    out = []
    for i, token in enumerate(found):
        if len(token.text) == 1 and token.capital and token.text != "I":
            out.append(token.text)
        elif not (i in used or token.fold[0].isdigit() or token.fold in _LEFT_OUT):
            out.append(stem(token.fold))
    return out


_LEFT_OUT = words.STOP | words.ADVERBS | words.SCHEDULE

"""Which of the records that were shown does an answer draw on? What is used stays alive; what was only shown does not.

A record is drawn on if it holds words that a sentence of the answer has and the question has not, and no other record accounts
for them better. Words count by how few of the shown records hold them, and more where two stand side by side in both; stop words,
politeness, and sentences that say only that nothing is known count for nothing. Numbers and names need no weight of their
own: few records hold them. It is a rule of words: an answer that says the same in other words, or in another language, draws
on nothing here.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from leporello.core.words import query_terms, terms

LEAST = 0.25
"""The score from which on a record counts as drawn on. Chosen, with the numbers below, on the half of the questions that `leporello.bench.using` names so."""
CLOSE = 0.9
"""A record accounts for a word if it does so this nearly as well as the best that holds it."""

_ASKED = 0.4
_PAIR = 0.75
_MANY = 0.1
_SHORT = 10
_ANSWER, _RECORD, _QUESTION, _SENTENCES = 8_000, 4_000, 2_000, 80
_WORDS, _PIECE = 12, 32
_NO_WORD = "qxzqxz"

_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+|[;；]")
_NEGATION = (
    "n't", "n’t", "not", "no ", "insufficient", "without", "nothing", "unknown", "nich", "kein", "não ", "non ", "pas", "rien",
    "aucun", "не", "لا ", "غير", "不", "没", "沒", "未", "无", "ません", "ない", "かね", "모르", "없",
)  # fmt: skip
_UNKNOWN = re.compile(
    r"\b(?:(?:do|does|did|could|can|was|were|is|are|have|has|had)(?: not|n['’]t)|cannot|unable to|not able to)"
    r" (?:\w+ ){0,2}?(?:know|recall|remember|find|sure|certain|aware|any (?:information|record|mention|memory|details?)|mention(?:ed)?|specif(?:y|ied)|stated|access|able to|enough|provided|available)\b"
    r"|\b(?:no|not enough|insufficient|without) (?:\w+ ){0,2}?(?:information|records?|mention|memory|memories|details?|data|evidence|answer|idea|knowledge)\b"
    r"|\bnothing (?:\w+ ){0,3}?(?:known|recorded|found|mentioned|stored|said)\b|\bnot (?:mentioned|specified|stated|known|recorded|available|provided|discussed)\b|\bunknown\b"
    r"|\b(?:weiß|weiss|wissen|kenne|finde|habe) (?:\w+ ){0,4}?(?:nicht|nichts|keine?n?)\b|\bkeine (?:\w+ )?(?:ahnung|angaben?|informationen|erinnerung)\b|\b(?:nichts|nicht) (?:\w+ )?(?:bekannt|erwähnt|gesagt|gespeichert)\b"
    r"|\bno (?:lo )?(?:sé|sabemos|recuerdo|tengo|hay|encuentro|consta|se (?:menciona|sabe|especifica))\b|\bnão (?:sei|lembro|tenho|há|encontro|foi mencionado)\b|\bnon (?:lo )?(?:so|ricordo|ho|risulta|trovo)\b"
    r"|\b(?:ne|n['’]) ?(?:\w+ )?(?:sais|savons|ai|trouve|est|souviens) (?:pas|rien|aucune?)\b|\baucune (?:information|mention|idée|trace)\b"
    r"|(?:^|\W)не (?:знаю|помню|нашел|нашёл|нашла|указано|упоминается|упоминалось|известно)\b|\bнет (?:\w+ )?(?:информации|данных|сведений)\b"
    r"|لا (?:أعرف|أعلم|أدري|أتذكر|توجد|يوجد)|غير (?:معروف|مذكور)"
    r"|不知道|不清楚|不记得|不記得|不确定|没有?(?:相关|任何|提到|提及|找到|记录|信息)|沒有?(?:相關|任何|提到|提及|找到|記錄|資訊)|未(?:提及|提到|知|找到)|无法(?:确定|回答|得知)"
    r"|(?:わか|分か|知)り(?:ません|かね)|わからない|分からない|知らない|(?:情報|記録|記憶)(?:が|は)(?:ありません|ない|見つかりません)|覚えていません|不明|모르|알 수 없|정보가 없",
    re.IGNORECASE,
)
_EMPTY = """yes no yeah okay ok sure please thank thanks thx sorry welcome hello hi hey glad happy great good well really very much many lot lots thing
things something anything everything someone let know knew known think thought believe say said says tell told mention mentioned ask asked answer
question help else need want like get got go going went come came make made take took see seen give given use used using one two also just based
according information context memory memories record records note notes conversation conversations message messages earlier previous previously
feel free further assistance however would could may might back way
ja nein bitte danke gern gerne natürlich klar gut sehr mehr sagen gesagt hast habe hat haben weiß wissen frage antwort laut information informationen
sí si gracias claro bien muy dijo dijiste dicho sé saber según información tiene tienes tengo hay está están
oui merci bien très dit savoir selon information avez avons
da нет спасибо пожалуйста хорошо сказал сказала знаю информация
نعم شكرا حسنا
是的 好的 谢谢 知道 可以 没有 根据 信息 问题 回答 记录 说过 提到 您好 请问 如果 需要 帮助
はい いいえ です ます した して ください ありがとう 思い 知っ 情報 ました"""


@dataclass(frozen=True)
class Drawing:
    """How much of an answer comes from one record: the score (0 and more), the words that tell it, heaviest first, and whether it counts."""

    score: float
    words: tuple[str, ...]
    used: bool


@dataclass(frozen=True)
class _Sentence:
    """The telling terms of a sentence with their words and weights, the two pairs of terms in which each stands, and what all weigh."""

    telling: Mapping[int, tuple[str, float]]
    pairs: Mapping[int, tuple[bytes, ...]]
    whole: float


def drawn(question: str, answer: str, shown: Sequence[str]) -> tuple[bool, ...]:
    """For each record shown, in order, whether the answer draws on it. Any texts are taken."""
    return tuple(d.used for d in drawings(question, answer, shown))


def drawings(question: str, answer: str, shown: Sequence[str]) -> tuple[Drawing, ...]:
    """The same with the reasons.

    Each sentence of the answer is looked at alone, and a record has its best score. That is the weight of the sentence's words
    that the record accounts for, over the root of all its telling words and of the record's, as in a cosine, times 0.4 plus the
    share of the question's words that the record holds. A word that another record accounts for clearly better is that one's;
    where several do so alike, each has it. The more sentences an answer has, the more it takes: one of many meets some record by
    chance. Of an answer 8,000 characters and of a record 4,000 are looked at. A millisecond for 25 records of 300 characters.
    """
    asked = terms(question[:_QUESTION]).tolist()
    sentences = _read(answer[:_ANSWER], frozenset(asked))
    best = [Drawing(0.0, (), False)] * len(shown)
    if not sentences or not shown:
        return tuple(best)
    rows = [terms(text[:_RECORD]) for text in shown]
    held, raw = [frozenset(row.tolist()) for row in rows], [row.tobytes() for row in rows]
    rare = _rarity(held, {t for s in sentences for t in s.telling}.union(asked))
    often = 1 + _MANY * math.log(len(sentences))
    scale = [x / often for x in _scale(question[:_QUESTION], held, rare)]
    for sentence in sentences:
        found = [_hits(sentence, h, r, rare) for h, r in zip(held, raw, strict=True)]
        for i, drawing in _weighed(sentence, found, scale):
            best[i] = max(best[i], drawing, key=lambda d: d.score)
    return tuple(best)


def _read(answer: str, asked: frozenset[int]) -> list[_Sentence]:
    """The sentences of the answer that tell something; terms that the question has do not."""
    out = []
    for said in _SENTENCE.split(answer):
        telling = {} if _says_unknown(said) else {t: (w, x) for t, w, x in _words(said) if t not in asked}
        if telling:
            row = terms(said).tobytes()
            whole = max(1.0, math.fsum(w for _, w in telling.values()))
            out.append(_Sentence(telling, _pairs(row, telling), whole))
    return out[:_SENTENCES]


def _pairs(row: bytes, telling: Mapping[int, object]) -> dict[int, tuple[bytes, ...]]:
    """For each telling term the bytes of the pairs that it makes with the term before it and the one after it, where it stands first."""
    out: dict[int, tuple[bytes, ...]] = {}
    for i in range(0, len(row), 4):
        term = int.from_bytes(row[i : i + 4], "little")
        if term in telling and term not in out:
            out[term] = tuple(row[n : n + 8] for n in (i - 4, i) if 0 <= n <= len(row) - 8)
    return out


def _says_unknown(sentence: str) -> bool:
    small = sentence.lower()
    return any(n in small for n in _NEGATION) and _UNKNOWN.search(small) is not None


def _words(sentence: str) -> Iterator[tuple[int, str, float]]:
    """The terms of a sentence that can tell something, with word and weight."""
    for piece in sentence.split():
        yield from (_known(piece) if len(piece) <= _PIECE else _weighty(piece))


def _weighty(piece: str) -> tuple[tuple[int, str, float], ...]:
    found = query_terms(f"{piece} {_NO_WORD}")  # so that a stop word is left out though nothing else stands there
    single = frozenset(w for w in found.words if len(w) == 1)
    out = []
    for term, word, weight in zip(found.hashes.tolist(), found.words, found.weights.tolist(), strict=True):
        particles = weight < 1 and len(word) == 2 and single.isdisjoint(word)
        if not particles and word != _NO_WORD and term not in _empty() and any(c.isalnum() for c in word):
            out.append((term, word, weight))
    return tuple(out)


_known = lru_cache(maxsize=1 << 14)(_weighty)


@cache
def _empty() -> frozenset[int]:
    return frozenset(terms(_EMPTY).tolist())


def _rarity(held: Sequence[frozenset[int]], wanted: set[int]) -> dict[int, float]:
    """From 1 for a term that one record holds down towards 0 for one that all do."""
    count = Counter(t for h in held for t in wanted & h)
    return {t: math.log((len(held) + 1) / max(1, count[t])) / math.log(len(held) + 1) for t in wanted}


def _scale(question: str, held: Sequence[frozenset[int]], rare: Mapping[int, float]) -> list[float]:
    """What a record's hits are multiplied by: the more it holds of the question, the more; the longer it is, the less."""
    found = query_terms(question)
    weights = {t: w * rare.get(t, 1.0) for t, w in zip(found.hashes.tolist(), found.weights.tolist(), strict=True)}
    whole = math.fsum(weights.values()) or 1.0
    about = [math.fsum(weights[t] for t in weights.keys() & h) / whole for h in held]
    return [(_ASKED + a) / math.sqrt(max(_SHORT, len(h)) / _SHORT) for a, h in zip(about, held, strict=True)]


def _hits(sentence: _Sentence, held: frozenset[int], row: bytes, rare: Mapping[int, float]) -> dict[int, float]:
    """The weights of the telling terms that a record holds; `row` are all its terms."""
    out = {}
    for t in sentence.telling.keys() & held:
        beside = any(pair in row for pair in sentence.pairs.get(t, ()))
        out[t] = sentence.telling[t][1] * rare[t] * (1 + _PAIR * beside)
    return out


def _weighed(sentence: _Sentence, found: Sequence[Mapping[int, float]], scale: Sequence[float]) -> Iterator[tuple[int, Drawing]]:
    """The places of the records that account for words of the sentence, and how much."""
    scores = [math.fsum(hits.values()) * times for hits, times in zip(found, scale, strict=True)]
    best: dict[int, float] = {}
    for hits, score in zip(found, scores, strict=True):
        for t in hits:
            best[t] = max(score, best.get(t, 0.0))
    for i, (hits, times) in enumerate(zip(found, scale, strict=True)):
        own = {t: w for t, w in hits.items() if scores[i] >= CLOSE * best[t]}
        if own:
            score = math.fsum(own.values()) * times / math.sqrt(sentence.whole)
            ranked = sorted(own, key=lambda t: (-own[t], sentence.telling[t][0]))
            yield i, Drawing(score, tuple(sentence.telling[t][0] for t in ranked[:_WORDS]), score >= LEAST)

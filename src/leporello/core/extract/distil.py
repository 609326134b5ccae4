"""Episodes to operations on facts: what will matter many sessions from now, dated, with its sources (R102 to R110, X3, X4).

What a user states is a fact at full confidence, what an agent concludes is one at 0.7, what a tool prints is none.
A statement that is known already reinforces; one that gives the same subject another value, later and with at least equal
trust, supersedes; with less trust it is a conflict that both sides show (D43). Nothing is added to fill a quota.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from leporello.core.extract import cues
from leporello.core.extract.names import names, plain_words
from leporello.records import Episode, Fact, FactKind, Item, Operation, Section, Trust

PER_SESSION = 10
SAME = 0.8
TELLING = 1.8
"""The least weight at which something that was told becomes a fact."""
_KINDS: dict[Section, FactKind] = {
    "decision": "decision", "eliminated": "eliminated", "constraint": "procedure", "correction": "procedure", "preference": "preference", "event": "fact", "next": "fact",
    "error": "pattern", "pattern": "pattern",
}  # fmt: skip
_RANK: dict[Trust, int] = {"external": 0, "tool": 1, "agent": 2, "user": 3}
_WORD = re.compile(r"[^\W_]+")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_DATE = re.compile(r" \((?:week(?:end)? of )?\d{4}(?:-\d\d){0,2}\)")
_STOP = frozenset(
    "a an the is are was were be been am i my me we our you your he she it they his her their and or but of to in on at for with as by that this from so do does did have has had "
    "der die das ein eine ist sind und oder zu im mit le la les un une est et de du des el los las es y en que 的 了 是 在 我".split()
)
_SPEAKER = re.compile(r"^([A-Z][\w .'-]{0,30}): ")
_DECIDED = re.compile(
    r"decided|chose|chosen|agreed|settled|opted|switch(?:ed|ing) (?:to|from)|instead of|rather than|recommend|we['’]ll (?:use|keep)|design|beschlossen|entschieden|décidé|choisi|decidi|elegi|决定|采用|改用|決定|採用|решил",
    re.IGNORECASE,
)
_CHOSE = re.compile(
    r"decided|made up my mind|chose|chosen|agreed|settled|opted|switched|entschieden|beschlossen|décidé|choisi|decidi|elegi|决定|改用|決め|決定|решил",
    re.IGNORECASE,
)
_CAUSED = re.compile(
    r"root cause|caused by|the (?:problem|issue|bug|reason) (?:is|was)|because|turns? out|原因|ursache|causa", re.IGNORECASE
)
_LASTING = re.compile(
    r"\b(?:always|never|must|from now on|every time|in (?:this|the|our) (?:project|repo|codebase|team)|do not|don['’]t|should (?:not|always|never|be)|prefer|convention|immer|niemals|jamais|toujours|siempre|nunca)\b|绝不|不要|必须|总是|禁止|必ず|決して|絶対",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"\b(?:right now|this (?:turn|commit|branch|pr)|currently running|for now|the (?:test|build|lint)s? (?:pass|fail)|let me|i['’]ll|line \d+|above|below)\b",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\b(?:now|no longer|any ?more|anymore|changed|moved|switch(?:ed)?|instead|new|updated?|renamed|rescheduled|postponed|became|jetzt|nicht mehr|désormais|ahora|ya no)\b|现在|改成|改为|搬到|不再|今は|変更|引っ越",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\b(?:not|never|no|don['’]t|doesn['’]t|isn['’]t|can['’]t|won['’]t|without|kein\w*|nicht|pas|jamais|nunca)\b|不|没|ない|не ",
    re.IGNORECASE,
)
_ATTRIBUTES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "home",
        re.compile(
            r"\b(?:i|we|he|she|they)(?:['’]m|['’]ve| am| have)? (?:just |recently )?(?:lives?|living|moved|moving|relocated)\b.*?\b(?:in|to)\s+(.+)",
            re.IGNORECASE,
        ),
    ),
    ("job", re.compile(r"\b(?:i|he|she)(?:['’]m| am)? (?:now )?(?:works?|working|employed) (?:at|for|as)\s+(.+)", re.IGNORECASE)),
)
_IS = re.compile(
    r"^((?:my|our|the|his|her|their|mein\w*|unser\w*|mon|ma|notre|mi|nuestr\w+|el|la|der|die|das|le)\s+[^,.;]{2,60}?)\s+(?:is|are|was|will be|has been|ist|sind|est|sera|es|será)(?: now)?\s+(.+)$",
    re.IGNORECASE,
)
_IS_WIDE = re.compile(r"^([^，。、是は]{2,20})(?:是|は)(.+)$")


@dataclass(frozen=True)
class _Candidate:
    item: Item
    kind: FactKind
    episode: str
    order: int


def distil(episodes: Sequence[Episode], known: Sequence[Fact]) -> tuple[Operation, ...]:
    """Add, reinforce, supersede and conflict operations; empty when nothing lasting was said or all of it is known."""
    candidates = _last_words(_candidates(episodes))
    facts = [(f, _words(f.text)) for f in known if f.status == "active" and f.valid_to is None]
    closed = {_key(f.text) for f in known if f.status != "active" or f.valid_to is not None}
    out: list[Operation] = []
    touched: set[str] = set()
    for c in candidates:
        operation = _operation(c, facts, closed)
        if operation is None or (operation.target and operation.target in touched):
            continue
        if operation.target:
            touched.add(operation.target)
        out.append(operation)
    return tuple(out)


def _candidates(episodes: Sequence[Episode]) -> list[_Candidate]:
    by_session: dict[str | None, list[_Candidate]] = defaultdict(list)
    for n, episode in enumerate(sorted(episodes, key=lambda e: (e.scope.session or "", e.number))):
        for item in episode.items:
            kind = _lasting(item)
            if kind:
                by_session[episode.scope.session].append(_Candidate(item, kind, episode.id, n))
    out: list[_Candidate] = []
    for group in by_session.values():
        best = sorted(group, key=lambda c: (-_RANK[c.item.trust], -c.item.weight, c.item.text))
        kinds: Counter[tuple[FactKind, Trust]] = Counter()
        kept: list[_Candidate] = []
        for c in best:
            limit = PER_SESSION if c.item.trust == "user" else 3
            if kinds[c.kind, c.item.trust] < limit and not any(
                _similar(_words(c.item.text), _words(k.item.text)) >= SAME and not _changed(c.item.text, k.item.text) for k in kept
            ):
                kinds[c.kind, c.item.trust] += 1
                kept.append(c)
        out += kept[:PER_SESSION]
    return sorted(out, key=lambda c: (c.order, c.item.at.timestamp() if c.item.at else 0.0, c.item.text))


def _lasting(item: Item) -> FactKind | None:
    """The kind of fact that `item` becomes, or None when it will not matter later."""
    kind = _KINDS.get(item.section)
    text = _SPEAKER.sub("", item.text)
    if kind is None or item.trust in {"tool", "external"} or cues.chatter(text) or text.rstrip("\"') ")[-1:] in {"?", "？", ":", "："}:
        return None
    if len(text) > 400 or (text.isascii() and plain_words(text) < 4) or len(text) < 6 or _PASSING.search(text):
        return None
    if item.section in {"event", "next"} and (item.weight < TELLING or text.startswith("[")):
        return None
    if item.trust == "user":
        if kind == "decision" and not (_CHOSE.search(text) or (_DECIDED.search(text) and names(text))):
            return None
        return kind if item.section not in {"correction", "error"} or _LASTING.search(text) else None
    if cues.NARRATION.match(text) or not _told(text):
        return None
    wanted = {"decision": _DECIDED, "pattern": _CAUSED}.get(kind)
    if item.section in {"event", "next", "correction", "preference", "constraint"} or (wanted and not wanted.search(text)):
        return None
    return kind


def _told(text: str) -> bool:
    return 30 <= len(text) <= 320 or not text.isascii()


def _words(text: str) -> frozenset[str]:
    out: set[str] = set()
    for word in _WORD.findall(_DATE.sub("", text).casefold()):
        if _WIDE.search(word):
            out.update(word[i : i + 2] for i in range(max(1, len(word) - 1)))
        elif word not in _STOP:
            out.add(word)
    return frozenset(out)


def _key(text: str) -> str:
    return " ".join(_WORD.findall(_DATE.sub("", text).casefold()))


def _similar(a: Iterable[str], b: Iterable[str]) -> float:
    one, two = set(a), set(b)
    return len(one & two) / len(one | two) if one and two else 0.0


def _statement(text: str) -> tuple[str, str] | None:
    """(subject, value) of a statement of the form "X is Y", or of where someone lives or works; the speaker belongs to the subject."""
    speaker = _SPEAKER.match(text)
    who = speaker.group(1).casefold() if speaker else ""
    body = _DATE.sub("", text[speaker.end() :] if speaker else text).strip(" .!。")
    for attribute, pattern in _ATTRIBUTES:
        if found := pattern.search(body):
            return f"{who}:{attribute}", _key(found.group(1))
    found = _IS.match(body) or _IS_WIDE.match(body)
    return (f"{who}:{_key(found.group(1))}", _key(found.group(2))) if found else None


def _changed(new: str, old: str) -> bool:
    """True when both speak of the same thing and say something else of it."""
    one, two = _statement(new), _statement(old)
    if one and two and one[0] == two[0]:
        return one[1] != two[1] and not (set(one[1].split()) <= set(two[1].split()))
    if bool(_NOT.search(new)) != bool(_NOT.search(old)) and _similar(_words(new), _words(old)) >= 0.6:
        return True
    a, b = _words(new), _words(old)
    shared = len(a & b)
    if shared < 3 or shared < 0.6 * min(len(a), len(b)):
        return False
    different = [w for w in a - b if w[:1].isdigit()], [w for w in b - a if w[:1].isdigit()]
    return bool(different[0] and different[1]) and len(a ^ b) <= 6 and bool(_CHANGE.search(new))


def _last_words(candidates: list[_Candidate]) -> list[_Candidate]:
    """Of statements that give one subject several values, the last."""
    out: list[_Candidate] = []
    for c in candidates:
        out = [k for k in out if not (_RANK[k.item.trust] <= _RANK[c.item.trust] and _changed(c.item.text, k.item.text))]
        out.append(c)
    return out


def _operation(c: _Candidate, facts: list[tuple[Fact, frozenset[str]]], closed: set[str]) -> Operation | None:
    words = _words(c.item.text)
    if _key(c.item.text) in closed:
        return None
    scored = sorted(((_similar(words, w), f) for f, w in facts), key=lambda p: (-p[0], p[1].id))
    for likeness, fact in scored:
        if likeness < 0.12 and not _statement(c.item.text):
            break
        if c.episode in fact.provenance.episodes and (likeness >= SAME or _key(fact.text) == _key(c.item.text)):
            return None
        if _changed(c.item.text, fact.text):
            return _contradiction(c, fact)
        if likeness >= SAME:
            return _make(c, "reinforce", target=fact.id)
    return _make(c, "add")


def _contradiction(c: _Candidate, fact: Fact) -> Operation | None:
    said = c.item.at
    if c.episode in fact.provenance.episodes or said is None or said <= fact.at:
        return None
    return _make(c, "supersede" if _RANK[c.item.trust] >= _RANK[fact.trust] else "conflict", target=fact.id)


def _make(c: _Candidate, op: str, target: str | None = None) -> Operation:
    user = c.item.trust == "user"
    return Operation(
        op=op,  # type: ignore[arg-type]
        text=c.item.text,
        fact_kind=c.kind,
        why=c.item.why,
        target=target,
        source="user_stated" if user else "inferred",
        trust=c.item.trust,
        confidence=1.0 if user else 0.7,
        tags=tuple(sorted(names(c.item.text))[:5]),
        at=c.item.at,
        spans=c.item.spans,
        episodes=(c.episode,),
    )

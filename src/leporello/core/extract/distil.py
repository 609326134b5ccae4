"""Episodes to operations on facts: what will matter many sessions from now, dated, with its sources (R102 to R110, X3, X4).

What a user states is a fact at full confidence, what an agent concludes is one at 0.7, what a tool prints is none.
Nothing is added to fill a quota.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from leporello.core.extract import cues
from leporello.core.extract.names import names, plain_words
from leporello.core.extract.standing import AGREED, GIVEN_UP, stand
from leporello.core.extract.states import STATE, state
from leporello.records import Episode, FactKind, Item, Operation, Section, Trust

PER_SESSION = 10
USUAL = 20
"""Turns of a session that gives at most ten facts. A longer one gives one more for each four turns more, and at most `MOST`."""
MOST = 20
OF_AGENT = 2
"""How many of them what the agent found out may take in any case."""
AGAIN = 0.15
"""How much less each further fact of one kind is worth."""
SAME = 0.8
TELLING = 1.8
"""The least weight at which something that was told becomes a fact."""
_KINDS: dict[Section, FactKind] = {
    "decision": "decision", "eliminated": "eliminated", "constraint": "procedure", "correction": "procedure", "preference": "preference", "event": "fact", "next": "fact",
    "error": "pattern", "pattern": "pattern",
}  # fmt: skip
_PLAIN: frozenset[Section] = frozenset({"event", "next", "error", "pattern"})
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
    r"\b(?:right now|this (?:turn|commit|branch|pr)|currently running|for now|the (?:test|build|lint)s? (?:pass|fail)|let me|i['’]ll|line \d+|(?:above|below)(?! \d))\b",
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
_POINTS = re.compile(
    r"\W*(?:please )?(?:keep|do|make|put|leave|use|run|try|check|fix)(?:n['’]t| not)? (?:it|this|that|them|these|those)\b", re.IGNORECASE
)
"""A rule about something that only the moment tells."""
_HEDGED = re.compile(
    r"\b(?:maybe|wondering|i (?:do not|don['’]t) (?:think|know)|perhaps|somewhat|might|mh+|hmm+|edge case|(?:was|were) (?:left|included|not included|missing))\b|\.{3}$|…$|^\W*(?:(?:but|and|so) (?:in the end|also|for \d)|that way|this way)\b",
    re.IGNORECASE,
)
"""Thinking aloud, which is no rule."""
_FIX = re.compile(r"\bfix(?:es|ed)?\b", re.IGNORECASE)
_NAMED = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{2,}|\d|[^\x00-\x7f]{4}")


_LEANS = re.compile(
    r"^\W*(?:(?:yeah|yup|yes|no|oh|and|but|so|well|also|actually|plus)[,!.]? +)*(?:here['’]?s|here (?:is|are)|this (?:is|was)|that['’]?s|it['’]?s|it (?:was|is|also|made|makes|reminds?|really|gives)|that (?:was|is|really)|they['’]re|really made)\b"
    r"|\b(?:did|made?|makes?|lov\w+|like[sd]?|enjoy\w*|appreciate\w*|paint\w*|got|saw|bought|keep|put|hope|want|chose|drew|took) (?:it|this|that|these|those|them|your|you|how|the way)\b"
    r"|^\W*(?:(?:i['’]?m|i am|so|oh|hey)\W+)*(?:sorry|thanks?|thank you|congrat\w*|wish me)\b"
    r"|^\W*(?:[\w'’-]+\W+){1,8}?(?:about|at|by|for|from|in|into|of|on|to|with) (?:it|this|that|these|those|them)\W*$",
    re.IGNORECASE,
)
"""What is only understood beside what was said before it, and what praises that."""
_OURS = re.compile(
    r"\b(?:we|our|us|i|i['’](?:ve|ll|m|d)|we['’](?:ve|ll|re|d)|let['’]s|decided|chose|chosen|agreed|settled|opted|switched|wir|ich|nous|on a|hemos|he)\b",
    re.IGNORECASE,
)
_WANTS = re.compile(
    r"\W*(?:(?:so|and|but|also|however|ok(?:ay)?)[, ]+)*i(?:['’]m| am|['’]d| would|['’]ve been)? (?:(?:kind ?of|kinda|just|also|really|currently) )*(?:trying to|try to|want(?:ing)? to|need(?:ing)?|working on|looking (?:for|to)|"
    r"having (?:trouble|issues|problems|difficulty)|struggling|getting (?:this|an|the) |wondering|not sure|unsure|curious|like to|appreciate|worried)\b",
    re.IGNORECASE,
)
_STUCK = re.compile(
    r"\b(?:not (?:quite )?sure (?:how|if|what|why|whether|where)|how to|can you|could you|help me|not triggering|doesn['’]t seem to|i want to make sure|correctly|what['’]s going on)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _Candidate:
    item: Item
    kind: FactKind
    episode: str
    order: int


def distil(episodes: Sequence[Episode]) -> tuple[Operation, ...]:
    """An `add` for each statement that will matter later; empty when nothing lasting was said.

    What each does to the facts that are known (nothing, support, supersede, conflict) is not decided here but where claims become
    facts (`core.facts`), so that it is the same whoever read the episodes.
    """
    return tuple(_make(c) for c in _candidates(episodes))


def _candidates(episodes: Sequence[Episode]) -> list[_Candidate]:
    by_session: dict[str | None, list[Episode]] = defaultdict(list)
    for episode in sorted(episodes, key=lambda e: (e.scope.session or "", e.number)):
        by_session[episode.scope.session].append(episode)
    out: list[_Candidate] = []
    for group in by_session.values():
        turns = sum(max(1, e.turns[1] - e.turns[0] + 1) for e in group)
        out += _best(_of_session(group), most=min(MOST, PER_SESSION + max(0, turns - USUAL) // 4))
    return sorted(out, key=lambda c: (c.order, c.item.at.timestamp() if c.item.at else 0.0, c.item.text))


def _of_session(episodes: Sequence[Episode]) -> list[_Candidate]:
    """What of one session may become a fact: of decisions on one matter only the one that stands, of a sentence that asks what it tells."""
    told = [(n, e.id, i) for n, e in enumerate(episodes) for i in e.items]
    standing = stand([i for _, _, i in told])
    home = {id(i): (n, e) for n, e, i in told}
    states = {(s.message, s.end) for _, _, i in told if i.key == STATE for s in i.spans}
    rules = [i for i in standing if i.section not in _PLAIN and i.key != STATE and i.trust == "user" and _lasting(i)]
    out = []
    for item in standing:
        if id(item) not in home or (item.key != STATE and (_asks(item) or _tells_a_state(item, states))):
            continue
        if item.key == STATE and any(_covers(item, r) for r in rules):
            continue
        n, episode = home[id(item)]
        item = _weighed(item)
        if (kind := _lasting(item)) is not None:
            out.append(_Candidate(item, kind, episode, n))
    return out


def _covers(state: Item, rule: Item) -> bool:
    """True for a state that is nearly all of a sentence which is kept as a preference, a decision or a rule, or that states this rule."""
    shorter = state if _LASTING.search(state.text) else rule
    length = sum(s.end - s.start for s in shorter.spans)
    shared = sum(max(0, min(a.end, b.end) - max(a.start, b.start)) for a in state.spans for b in rule.spans if a.message == b.message)
    return shared >= (0.5 if shorter is state else 0.7) * length


def _weighed(item: Item) -> Item:
    """What people tell of how things stand with them weighs as much as what a user tells an assistant."""
    if item.key == STATE or item.section != "event" or item.trust != "user":
        return item
    speaker = _SPEAKER.match(item.text)
    found = state(item.text[speaker.end() :] if speaker else item.text)
    return item if found is None or found.weight <= item.weight else dataclasses.replace(item, weight=found.weight)


def _tells_a_state(item: Item, states: set[tuple[str, int]]) -> bool:
    """True for a plain statement of which a part stands for itself as a state."""
    return item.section in _PLAIN and any(m == s.message and s.start < end <= s.end for s in item.spans for m, end in states)


def _asks(item: Item) -> bool:
    """True for what a user only wants of an assistant now, or is stuck with: over with its answer."""
    return (
        item.trust == "user"
        and item.section in {"event", "next", "eliminated"}
        and bool(_WANTS.match(item.text) or _STUCK.search(item.text))
    )


def _best(candidates: Sequence[_Candidate], *, most: int = PER_SESSION) -> list[_Candidate]:
    """At most so many, the weightiest; two places are kept for what the agent found out, and rules said in one breath are one.

    What says the same as one of them comes along: it is no further fact, but a further source.
    """
    kept: list[_Candidate] = []
    again: list[tuple[_Candidate, _Candidate]] = []
    rest = sorted(candidates, key=lambda c: (-_RANK[c.item.trust], -c.item.weight, c.item.text))
    kinds: Counter[tuple[FactKind, Trust]] = Counter()
    while rest:
        c = min(rest, key=lambda c: (-_RANK[c.item.trust], -_value(c.item) / (1 + AGAIN * kinds[c.kind, c.item.trust])))
        rest.remove(c)
        limit = 2 * most if c.item.trust == "user" else OF_AGENT
        same = next((k for k in kept if _same(c.item, k.item)), None)
        if same is not None:
            again.append((c, same))
        elif kinds[c.kind, c.item.trust] < limit and len(kept) < 2 * most:
            kinds[c.kind, c.item.trust] += 1
            kept.append(c)
    if len(kept) > most:
        kept = _in_one_breath(kept)
    own, agents = [c for c in kept if c.item.trust == "user"], [c for c in kept if c.item.trust != "user"]
    some = agents[: max(OF_AGENT, most - len(own))]
    chosen = [*own[: most - len(some)], *some]
    return [*chosen, *(c for c, same in again if any(same is k for k in chosen) and not _within(c.item, same.item))]


def _within(one: Item, other: Item) -> bool:
    """True for a part of the other's own sentence."""
    return any(a.message == b.message and a.start < b.end and b.start < a.end for a in one.spans for b in other.spans)


def _value(item: Item) -> float:
    """The weight of a fact: one that holds always, or says why, is worth more."""
    return item.weight * (1.15 if _LASTING.search(item.text) else 1.0) * (1.1 if item.why else 1.0)


def _same(a: Item, b: Item) -> bool:
    """True when one says what the other says; an agent that repeats a user's choice in its own words adds nothing."""
    one, two = _words(a.text), _words(b.text)
    if bool(_NOT.search(a.text)) != bool(_NOT.search(b.text)) or any(c.isdigit() for w in one ^ two for c in w):
        return False
    if _similar(one, two) >= SAME:
        return True
    pair = {a.section, b.section} == {"decision"} and a.trust != b.trust
    return pair and len(one & two) >= max(3, 0.4 * min(len(one), len(two)))


def _in_one_breath(kept: list[_Candidate]) -> list[_Candidate]:
    """Rules of one kind that a user gave in sentences beside one another in one message, told as one."""
    rank = {id(c): n for n, c in enumerate(kept)}
    out: list[tuple[int, _Candidate]] = []
    for c in sorted(kept, key=lambda c: (c.order, c.item.spans[0].message, c.item.spans[0].start) if c.item.spans else (c.order, "", 0)):
        n, last = out[-1] if out else (0, None)
        if last is not None and c.item.section == "constraint" == last.item.section and _adjoin(last.item, c.item):
            text = f"{last.item.text} {c.item.text}"
            weight = max(last.item.weight, c.item.weight)
            item = dataclasses.replace(
                last.item, text=text, spans=last.item.spans + c.item.spans, weight=weight, why=last.item.why or c.item.why
            )
            out[-1] = (min(n, rank[id(c)]), dataclasses.replace(last, item=item))
        else:
            out.append((rank[id(c)], c))
    return [c for _, c in sorted(out, key=lambda p: p[0])]


def _adjoin(a: Item, b: Item) -> bool:
    if not a.spans or not b.spans:
        return False
    return a.spans[-1].message == b.spans[0].message and 0 <= b.spans[0].start - a.spans[-1].end <= 2 and len(a.text) + len(b.text) < 240


def _lasting(item: Item) -> FactKind | None:
    """The kind of fact that `item` becomes, or None when it will not matter later."""
    kind = _KINDS.get(item.section)
    text = _SPEAKER.sub("", item.text)
    if kind is None or item.trust in {"tool", "external"} or not _says(item, text):
        return None
    if item.trust == "user":
        if kind == "decision":
            return kind if _settled(item, text) else None
        if kind == "procedure" and (_POINTS.match(text) or _HEDGED.search(text)):
            return None
        return kind if item.section not in {"correction", "error"} or _LASTING.search(text) else None
    return kind if _found_out(item, kind, text) else None


def _says(item: Item, text: str) -> bool:
    """True for a statement that can be understood on its own and holds for more than the moment."""
    if text.rstrip("\"') ")[-1:] in {"?", "？", ":", "："} or (item.section in _PLAIN and cues.chatter(text)):
        return False
    least = 1 if item.key == STATE else 4
    if not 6 <= len(text) <= 400 or (text.isascii() and plain_words(text) < least) or _PASSING.search(text) or text.startswith(GIVEN_UP):
        return False
    if item.section in {"event", "next", "preference"} and item.key != STATE and _LEANS.search(text):
        return False
    return item.section not in {"event", "next"} or (item.weight >= TELLING and not text.startswith("["))


def _found_out(item: Item, kind: FactKind, text: str) -> bool:
    """True for what an agent decided, ruled out or found to be the cause; what it fixes will not matter once it is fixed."""
    if item.section in {"event", "next", "correction", "preference", "constraint"} or cues.NARRATION.match(text) or not _told(text):
        return False
    if kind == "decision" and text.isascii() and not _OURS.search(text):
        return False  # advice
    if kind == "decision":
        return bool(_DECIDED.search(text)) and not _FIX.search(text)
    return kind != "pattern" or bool(_CAUSED.search(text))


def _settled(item: Item, text: str) -> bool:
    """True for a choice of something that has a name or for which a reason is given, and not for the next thing to do."""
    if AGREED in text or _CHOSE.search(text):
        return True
    said = cues.CHOICE.search(text) or _DECIDED.search(text)
    return bool(said) and bool(item.why or names(text) or _NAMED.search(text))


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


def _similar(a: Iterable[str], b: Iterable[str]) -> float:
    one, two = set(a), set(b)
    return len(one & two) / len(one | two) if one and two else 0.0


def _make(c: _Candidate) -> Operation:
    user = c.item.trust == "user"
    return Operation(
        op="add",
        text=c.item.text,
        fact_kind=c.kind,
        why=c.item.why,
        source="user_stated" if user else "inferred",
        trust=c.item.trust,
        confidence=1.0 if user else 0.7,
        tags=tuple(sorted(names(c.item.text))[:5]),
        at=c.item.at,
        spans=c.item.spans,
        episodes=(c.episode,) if c.episode else (),
    )

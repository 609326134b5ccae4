"""What people told one another: events, preferences, plans, people."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from leporello.core.extract import cues
from leporello.core.extract.names import numbers, plain_words
from leporello.core.extract.said import INTERROGATIVE, Heard, Said, all_said, clean, item, reason, voice
from leporello.records import Item, Message, Section, Trust

_WORD = re.compile(r"[^\W\d_]{3,}|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{2}")
_PROPER = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{2,}")
FIRST_PERSON = re.compile(
    r"\b(?:I|my|me|we|our|I['’]\w+|ich|mein\w*|wir|je|j['’]|mon|ma|nous|yo|mi|mis|nosotros)\b|我|私|僕|я|мой|나는|제", re.IGNORECASE
)
_SECOND_PERSON = re.compile(
    r"\b(?:you|your|you['’]\w+|yours|du|dein\w*|dir|dich|tu|toi|ton|ta|vous|votre|tú|tu|usted)\b|你|您|あなた|君", re.IGNORECASE
)
WHEN = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|since|weekend|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august|september|october|november|december|years? old|gestern|morgen|heute|"
    r"letzte\w*|nächste\w*|hier|demain|aujourd|dernier|ayer|mañana|hoy|pasad[oa])\b|昨|今天|明天|去年|明年|上周|下周|今日|明日|先週|来週|月|岁|歳|年",
    re.IGNORECASE,
)
_HAPPENED = re.compile(
    r"\b(?:went|moved|moving|started|starting|began|got|bought|sold|visited|joined|met|signed|finished|won|lost|adopted|married|engaged|born|works?|worked|working|lives?|lived|quit|hired|opened|opening|launched|made|took|built|wrote|read|"
    r"learn(?:ed|ing|t)|plann?(?:ed|ing)?|hope|want|applied|accepted|passed|failed|travel(?:l?ed|l?ing)?|flew|broke|hurt|painted|ran|hosted|volunteer\w*|studied|studying|graduated|major(?:ing|ed)?|called|named|used to|grew up|my (?:\w+ )?"
    r"(?:mom|mum|dad|mother|father|sister|brother|wife|husband|son|daughter|kids?|dog|cat|family|partner|friend|boss|job|birthday|house|car|company|store|business|school))\b|了|过|参加|住|工作|た[。！]|ました|работа|живу|купил",
    re.IGNORECASE,
)
LEANING = re.compile(
    r"^\W*(?:it|that|this|those|these|they|he|she|there|yes|yeah|yep|no|totally|exactly|agree\w*|so|and|but|which|well|by the way|also|then)\b",
    re.IGNORECASE,
)
_CHEERS = re.compile(
    r"^\W*(?:so|really|very|how|what an?|take a look|check (?:it|this) out|here (?:it|you) (?:is|go)|look at|love (?:it|that|this)|can['’]?t wait|same here|me too|aww+|yay|omg|oh|ooh|phew|hah|ha|yum|enjoy|keep|have (?:fun|a))\b|!\s*$",
    re.IGNORECASE,
)
_WIDE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")


def talk_statements(messages: Sequence[Message], heard: Heard, *, named: bool) -> list[Item]:
    """What people told one another: events, preferences, plans, people. Questions, greetings and reactions are left out."""
    said = all_said(messages, {voice(m) for m in messages}, heard)
    common = Counter(w for s in said for w in set(_WORD.findall(s.sentence.text.casefold())))
    people = re.compile(rf",? ?\b(?:{'|'.join(sorted({re.escape(m.name.split()[0]) for m in messages if m.name}))})\b") if named else None
    out = []
    for n, s in enumerate(said):
        s = _without_picture(s)
        text = s.sentence.text
        bare = people.sub("", text) if people else text
        if cues.chatter(text) or (plain_words(bare) < 3 and text.isascii()) or len(text) < 4:
            continue
        if INTERROGATIVE.search(text) or _reacts(bare):
            continue
        section: Section = cues.of_talk(text) or "event"
        weight = telling(text, common) * (1.2 if section in {"preference", "decision"} else 1.0)
        weight *= 2.0 * (0.85 + 0.15 * (1 - s.age))
        speaker = s.message.name if named else None
        shown = f"{speaker}: {clean(text)}" if speaker else clean(text)
        trust: Trust = "user" if s.message.role == "user" or named else "agent"
        out.append(item(s, section, weight=weight, trust=trust, why=reason(said, n) if section == "decision" else "", text=shown))
    return out


def _without_picture(s: Said) -> Said:
    """The sentence without the note of a picture that was sent with it."""
    found = re.search(r"\s*\[[^\]]+\]$", s.sentence.text)
    if found is None or not found.start():
        return s
    end = s.sentence.start + found.start()
    return dataclasses.replace(s, sentence=dataclasses.replace(s.sentence, text=s.sentence.text[: found.start()], end=end))


def _reacts(text: str) -> bool:
    """True for praise, advice and assent: what tells nothing of whoever says it."""
    if not text.isascii() and _WIDE.search(text):
        return False
    if FIRST_PERSON.search(text) and (WHEN.search(text) or _HAPPENED.search(text) or cues.of_talk(text)):
        return False
    if numbers(text) or WHEN.search(text) or _PROPER.search(text):
        return False
    if LEANING.match(text) and (plain_words(text) < 8 or not FIRST_PERSON.search(text)):
        return True
    return bool(_SECOND_PERSON.search(text)) or bool(_CHEERS.search(text) and len(text) < 60)


def telling(text: str, common: Mapping[str, int]) -> float:
    """From 0 to about 2.5: how much a sentence of a talk tells that is worth knowing later.

    Names, numbers, dates and what the speaker did, has or wants count; praise and answers that only make sense beside
    what they answer do not. In a language without cues, names, numbers, length and rare words remain.
    """
    words = set(_WORD.findall(text.casefold()))
    rare = sum(1 for w in words if common.get(w, 0) <= 2) / max(1, len(words))
    own, dated, happened = FIRST_PERSON.search(text), WHEN.search(text), _HAPPENED.search(text)
    score = 0.3 + 0.3 * rare + min(0.75, 0.25 * len(_PROPER.findall(text))) + min(0.4, 0.2 * numbers(text))
    score += 0.4 * bool(own) + 0.35 * bool(dated) + 0.35 * bool(happened)
    if _SECOND_PERSON.search(text) and not (own and (dated or happened)):
        score *= 0.55
    if LEANING.match(text) and not dated:
        score *= 0.7
    if text.startswith("["):
        score *= 0.6
    if not text.isascii() and _WIDE.search(text):
        return (score + 0.4) * min(1.0, 0.3 + len(text) / 15)
    return score * min(1.0, 0.3 + len(words) / 10)

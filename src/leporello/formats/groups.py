"""Conversations between named speakers, over many sessions: LoCoMo's shape and the shape of retrieval sets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from leporello.core.times import instant
from leporello.errors import BadTime
from leporello.formats import jsontext
from leporello.formats.entries import Entry, Skipped, Unreadable, digest, text_in, when
from leporello.formats.jsontext import Element
from leporello.formats.source import Source
from leporello.records import Draft

_SPOKEN = re.compile(r"(\d{1,2}):(\d{2}) *([ap])m on (\d{1,2}) ([A-Za-z]+),? (\d{4})", re.IGNORECASE)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_SESSION = re.compile(r"session_(\d+)")


def read_groups(source: Source) -> Iterator[Entry]:
    """`{"groups": [{"id", "messages": [{"id", "session", "at", "speaker", "role", "text"}]}]}`: session `group/session`."""
    text = source.text()
    for key, begin, _ in jsontext.members(text, jsontext.skip_space(text, 0)):
        if key != "groups" or text[begin : begin + 1] != "[":
            yield Skipped(key, key)
            continue
        for found in jsontext.array(text, begin, key, last=False):
            yield from _group(found)
    yield from _damage(source)


def read_locomo(source: Source) -> Iterator[Entry]:
    """A sample, or a list of them: `{"sample_id", "conversation": {"speaker_a", "speaker_b", "session_1", "session_1_date_time"}}`."""
    text = source.text()
    start = jsontext.skip_space(text, 0)
    samples = jsontext.array(text, start) if text[start : start + 1] == "[" else iter((jsontext.element("sample", 0, text.strip()),))
    for found in samples:
        conversation = found.value.get("conversation", found.value) if isinstance(found.value, dict) else None
        if found.why is not None or not isinstance(conversation, dict):
            yield Unreadable(found.place, found.raw, found.why or "not a conversation")
            continue
        name = text_in(found.value, "sample_id") or (f"conversation-{found.index + 1}" if text[start] == "[" else None)
        yield from _conversation(conversation, found.place, name)
        for key in found.value:
            if key not in {"conversation", "sample_id"} and conversation is not found.value:
                yield Skipped(f"{found.place}.{key}", key)
    yield from _damage(source)


def spoken_time(text: object) -> datetime | None:
    """`1:56 pm on 8 May, 2023` (UTC), or any instant; None if it is neither."""
    match = _SPOKEN.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        return when(text)
    hour, minute, half, day, month, year = match.groups()
    try:
        number = _MONTHS.index(month[:3].lower()) + 1
        return instant(datetime(int(year), number, int(day), int(hour) % 12 + (12 if half.lower() == "p" else 0), int(minute), tzinfo=UTC))
    except (ValueError, BadTime):
        return None


def _group(found: Element) -> Iterator[Entry]:
    group = found.value
    if found.why is not None or not isinstance(group, dict) or not isinstance(group.get("messages"), list):
        yield Unreadable(found.place, found.raw, found.why or "a group without messages")
        return
    name = str(group.get("id", found.index))
    seen: Counter[str] = Counter()
    for n, message in enumerate(group["messages"]):
        place = f"{found.place}.messages[{n}]"
        if not isinstance(message, dict) or not isinstance(message.get("text"), str):
            yield Unreadable(place, jsontext.dumped(message), "a message without a text")
            continue
        session = "/".join((name, str(message["session"]))) if message.get("session") is not None else name
        yield _draft(message, n, session=session, role=text_in(message, "role") or "user", at=message.get("at"), seen=seen)
    for key in group:
        if key not in {"id", "messages"}:
            yield Skipped(f"{found.place}.{key}", key)


def _conversation(conversation: dict[str, Any], place: str, name: str | None) -> Iterator[Entry]:
    seen: Counter[str] = Counter()
    second = conversation.get("speaker_b")
    sessions = [k for k in conversation if _SESSION.fullmatch(k) and isinstance(conversation[k], list)]
    for key in sorted(sessions, key=lambda k: int(k.removeprefix("session_"))):
        at = spoken_time(conversation.get(f"{key}_date_time"))
        for n, turn in enumerate(conversation[key]):
            if not isinstance(turn, dict) or not isinstance(turn.get("text"), str):
                yield Unreadable(f"{place}.{key}[{n}]", jsontext.dumped(turn), "a turn without a text")
                continue
            role = "assistant" if turn.get("speaker") == second else "user"
            yield _draft(turn, n, session="/".join(filter(None, (name, key))), role=role, at=at, seen=seen)


def _draft(said: dict[str, Any], index: int, *, session: str, role: str, at: object, seen: Counter[str]) -> Draft:
    """The message made of a turn: role and content in front, then every field that has no place elsewhere."""
    held = {"id", "dia_id", "session", "at", "speaker", "role", "text"}
    original = {"role": role, "content": said["text"], **{k: v for k, v in said.items() if k not in held}}
    if caption := text_in(said, "blip_caption"):
        original["content"] = f"{said['text']} [image: {caption}]"
    own = said.get("id", said.get("dia_id"))
    key = str(own) if own is not None else f"{session}:{index}"
    seen[key] += 1
    origin = key if seen[key] == 1 else f"{key}#{digest(said)}"
    return Draft(original, name=text_in(said, "speaker"), at=when(at), session=session, origin=origin)


def _damage(source: Source) -> Iterator[Entry]:
    for found in source.damage():
        yield Unreadable(found.place, found.raw, found.why or "")

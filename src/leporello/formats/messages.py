"""Lists of provider messages: Anthropic Messages, OpenAI Chat and OpenAI Responses items, as JSON or JSON Lines.

Taken are an array; an object with the array under `messages`, `input` or `output` (and, beside it, a `system` prompt or
`instructions`); JSON Lines of messages; and JSON Lines of such objects, where each line is a conversation of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from leporello.formats import jsontext
from leporello.formats.entries import Entry, Skipped, Unreadable, digest, drafted, refusal, text_in
from leporello.formats.jsontext import Element
from leporello.formats.source import Source

LISTS = ("messages", "input", "output")
_PROMPTS = ("system", "instructions")


def read(source: Source) -> Iterator[Entry]:
    """The messages, in the order of the file."""
    if source.look.kind == "document":
        yield from _document(source)
        return
    single = len([r for r in source.look.text.split("\n", 2) if r.strip()]) == 1
    for found in source.records():
        conversation = found.value if isinstance(found.value, dict) and refusal(found.value) is not None else {}
        if any(isinstance(conversation.get(key), list) for key in LISTS):
            session = text_in(conversation, "session_id", "conversation_id", "id") or (None if single else f"conversation-{found.index}")
            yield from _conversation(conversation, found.place, session)
        else:
            yield message_of(found)


def message_of(found: Element, *, session: str | None = None) -> Entry:
    """The draft of one element. `origin` is the message's own id and a hash, or its place and a hash."""
    why = found.why or refusal(found.value)
    if why is not None:
        return Unreadable(found.place, found.raw, why)
    message: dict[str, Any] = found.value
    key = text_in(message, "id") or str(found.index)
    at = next((message[k] for k in ("timestamp", "created_at") if isinstance(message.get(k), str)), None)
    return drafted(message, f"{key}#{digest(message)}", session=session, at=at)


def _document(source: Source) -> Iterator[Entry]:
    text = source.text()
    start = jsontext.skip_space(text, 0)
    if text[start : start + 1] == "[":
        for found in jsontext.array(text, start):
            yield message_of(found)
    else:
        yield from _object(text, start)
    for found in source.damage():
        yield Unreadable(found.place, found.raw, found.why or "")


def _object(text: str, start: int) -> Iterator[Entry]:
    """Members are read one by one, so that one broken message does not cost the others."""
    places = list(jsontext.members(text, start))
    for key, begin, end in places:
        if key in _PROMPTS and (value := jsontext.element(key, -1, text[begin:end])).value:
            yield message_of(_prompt(key, value.value))
    for key, begin, end in places:
        if key in LISTS and text[begin : begin + 1] == "[":
            for found in jsontext.array(text, begin, key, last=False):
                yield message_of(found)
        elif key not in _PROMPTS:
            found = jsontext.element(key, -1, text[begin:end])
            yield Unreadable(key, found.raw, found.why) if found.why else Skipped(key, key)


def _conversation(mapping: dict[str, Any], place: str, session: str | None) -> Iterator[Entry]:
    for key in _PROMPTS:
        if mapping.get(key):
            yield message_of(_prompt(f"{place}: {key}", mapping[key]), session=session)
    for key, value in mapping.items():
        if key in LISTS and isinstance(value, list):
            for n, message in enumerate(value):
                yield message_of(Element(f"{place}: {key}[{n}]", n, jsontext.dumped(message), message), session=session)


def _prompt(place: str, content: Any) -> Element:
    made = {"role": "system", "content": content}
    return Element(place, -1, jsontext.dumped(made), made)

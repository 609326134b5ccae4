"""Codex rollouts: `response_item` payloads are OpenAI Responses items, and each is one message here.

`event_msg` lines repeat them for the screen and are skipped. A `compacted` line becomes one message that holds its whole
payload: the history that it puts in place of the conversation is already in the log and is not stored again. Old
rollouts hold bare items below a header line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from leporello.formats.entries import Entry, Skipped, Unreadable, digest, drafted, inserted, refusal, text_in
from leporello.formats.jsontext import Element
from leporello.formats.source import Source
from leporello.records import Draft

_NO_TALK = {"ghost_snapshot"}
_AGENT_MADE = {"agent_message", "compaction"}


def read(source: Source) -> Iterator[Entry]:
    """Every line: its message, or its kind if it holds none."""
    session: str | None = None
    for found in source.records():
        line = found.value
        if found.why is not None or not isinstance(line, dict):
            yield Unreadable(found.place, found.raw, found.why or "not a record but a bare value")
            continue
        payload = line.get("payload")
        header = payload if line.get("type") == "session_meta" else line if _old_header(line) else None
        if session is None and isinstance(header, dict):
            session = text_in(header, "id", "session_id")
        yield _entry(found, line, session)


def _entry(found: Element, line: dict[str, Any], session: str | None) -> Entry:
    payload = line.get("payload")
    kind = text_in(line, "type") or ""
    at = line.get("timestamp")
    if "payload" not in line:
        if "record_type" in line or _old_header(line):
            return Skipped(found.place, text_in(line, "record_type") or "session_meta")
        return _item(found, line, session, at)
    if kind == "compacted" and isinstance(payload, dict):
        return _compacted(found, payload, session, at)
    if kind == "response_item":
        return _item(found, payload, session, at)
    if not kind:
        return Unreadable(found.place, found.raw, "a line without a type")
    detail = text_in(payload, "type") if isinstance(payload, dict) else None
    return Skipped(found.place, "/".join(filter(None, (kind, detail))))


def _item(found: Element, item: Any, session: str | None, at: object) -> Entry:
    kind = item.get("type") if isinstance(item, dict) else None
    if kind in _NO_TALK:
        return Skipped(found.place, f"response_item/{kind}")
    if (why := refusal(item)) is not None:
        return Unreadable(found.place, found.raw, why)
    key = text_in(item, "id") or str(found.index)
    return drafted(item, f"{key}#{digest(item)}", session=session, at=at, trust="agent" if kind in _AGENT_MADE or inserted(item) else None)


def _compacted(found: Element, payload: dict[str, Any], session: str | None, at: object) -> Draft:
    """The summary is the agent's own word; it stands beside the payload so that it is found like any other text."""
    made = {"type": "compacted", "role": "assistant", "content": text_in(payload, "message") or "", "payload": payload}
    return drafted(made, f"{found.index}#{digest(payload)}", session=session, at=at, trust="agent")


def _old_header(line: dict[str, Any]) -> bool:
    return "type" not in line and "role" not in line and "id" in line and "timestamp" in line

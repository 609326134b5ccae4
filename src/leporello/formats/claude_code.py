"""Claude Code's session log: one record a line, old and new, and the same records as the SDK streams them.

A record with a `message` is stored as that message; one API message may span several records, and each is one message
here. The order is that of the log. What a sub-agent said goes to a session of its own. Which branch of the conversation
a record continues is told by its origin, `uuid<parentUuid#hash`; the hash tells records apart that reuse a uuid.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from leporello.formats.entries import Entry, Skipped, Unreadable, digest, drafted, inserted, refusal, text_in
from leporello.formats.jsontext import Element
from leporello.formats.source import Source
from leporello.records import Trust

SPEAKERS = {"user", "assistant"}


def read(source: Source) -> Iterator[Entry]:
    """Every record: its message, or its kind if it holds none."""
    roots: dict[str, str] = {}
    for found in source.records():
        yield _entry(found, roots)


def _entry(found: Element, roots: dict[str, str]) -> Entry:
    record = found.value
    if found.why is not None or not isinstance(record, dict):
        return Unreadable(found.place, found.raw, found.why or "not a record but a bare value")
    kind = text_in(record, "type")
    if kind is None:
        return Unreadable(found.place, found.raw, "a record without a type")
    if kind not in SPEAKERS and not isinstance(record.get("message"), dict):
        return Skipped(found.place, "/".join(filter(None, (kind, text_in(record, "subtype")))))
    message = record.get("message")
    if (why := refusal(message)) is not None:
        return Unreadable(found.place, found.raw, why)
    return drafted(message, _origin(record, found.index), session=_session(record, roots), at=record.get("timestamp"), trust=_trust(record))  # type: ignore[arg-type]


def _origin(record: dict[str, Any], index: int) -> str:
    parent = text_in(record, "parentUuid", "parent_uuid")
    own = text_in(record, "uuid") or str(index)
    return f"{own}<{parent}#{digest(record['message'])}" if parent else f"{own}#{digest(record['message'])}"


def _session(record: dict[str, Any], roots: dict[str, str]) -> str | None:
    """The session; for a side chain `session/agent`, or `session/sidechain-` and the start of its first record's uuid."""
    session = text_in(record, "sessionId", "session_id")
    branch = text_in(record, "agentId", "agent_id", "parent_tool_use_id")
    if branch is None and record.get("isSidechain") is True:
        own = text_in(record, "uuid") or ""
        root = roots.get(text_in(record, "parentUuid") or "", own)
        roots[own] = root
        branch = f"sidechain-{root[:8]}" if root else "sidechain"
    return "/".join(filter(None, (session, branch))) or None


def _trust(record: dict[str, Any]) -> Trust | None:
    """A summary, a side chain's orders and what the program inserts are not the user's own words."""
    made = any(record.get(k) is True for k in ("isCompactSummary", "isMeta", "isSidechain", "isSynthetic")) or inserted(record["message"])
    if not made or _holds_results(record["message"]):
        return None
    return "agent"


def _holds_results(message: dict[str, Any]) -> bool:
    content = message.get("content")
    return isinstance(content, list) and any(isinstance(b, dict) and b.get("type") == "tool_result" for b in content)

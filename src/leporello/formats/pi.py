"""Sessions of the pi coding agent: a `session` header, then `message` lines among changes of model and the like."""

from __future__ import annotations

from collections.abc import Iterator

from leporello.formats.entries import Entry, Skipped, Unreadable, digest, drafted, refusal, text_in
from leporello.formats.source import Source


def read(source: Source) -> Iterator[Entry]:
    """Every line: its message, or its kind if it holds none."""
    session: str | None = None
    for found in source.records():
        line = found.value
        if found.why is not None or not isinstance(line, dict) or text_in(line, "type") is None:
            yield Unreadable(found.place, found.raw, found.why or "a line without a type")
            continue
        if line["type"] == "session" and session is None:
            session = text_in(line, "id")
        if line["type"] != "message":
            yield Skipped(found.place, line["type"])
        elif (why := refusal(line.get("message"))) is not None:
            yield Unreadable(found.place, found.raw, why)
        else:
            key = text_in(line, "id") or str(found.index)
            yield drafted(line["message"], f"{key}#{digest(line['message'])}", session=session, at=line.get("timestamp"))

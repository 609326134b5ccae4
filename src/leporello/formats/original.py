"""Stored messages as they came in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from leporello.records import Message, plain


def original(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """The providers' own messages, verbatim, in the order given: equal to those that were read, and safe to change."""
    return [plain(m.original) for m in messages]


def by_session(messages: Iterable[Message]) -> dict[str | None, list[dict[str, Any]]]:
    """The same, a list for each session, sessions in the order in which they first appear."""
    made: dict[str | None, list[dict[str, Any]]] = {}
    for message in messages:
        made.setdefault(message.session, []).append(plain(message.original))
    return made

"""What callers hand to `add`: text, mappings, SDK objects and whole responses, as drafts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from leporello.core.blocks import role_of
from leporello.core.checks import maybe_text, trust
from leporello.core.times import instant
from leporello.errors import BadMessage, EmptyText
from leporello.records import Draft

_TOLD = {"text", "role", "name", "at", "session", "trust", "origin"}


def drafts(value: object) -> list[Draft]:
    """The messages that `value` holds, verbatim.

    Taken: a string (a user message), a mapping with a role, a Responses item, objects of the Anthropic and OpenAI SDKs
    (anything with `model_dump`), a whole Anthropic, Chat Completions or Responses answer, and lists of these.
    """
    try:
        return _drafts(value)
    except RecursionError as e:
        raise BadMessage("The message is nested too deeply, or holds itself.") from e


def _drafts(value: object) -> list[Draft]:
    if isinstance(value, Draft):
        return [_checked(value)]
    if isinstance(value, str):
        return [Draft({"role": "user", "content": value})]
    if isinstance(value, (list, tuple)):
        return [d for v in value for d in _drafts(v)]
    plain = _plain(value)
    if "content" not in plain and isinstance(plain.get("text"), str) and set(plain) <= _TOLD:
        return [_told(plain)]
    if isinstance(plain.get("choices"), list):
        return [Draft(_message(_plain(c.get("message")))) for c in plain["choices"][:1] if isinstance(c, Mapping)]
    if plain.get("object") == "response" and isinstance(plain.get("output"), list):
        return [d for item in plain["output"] for d in _drafts(item)]
    if plain.get("type") == "message" and "stop_reason" in plain and "usage" in plain:
        return [Draft({"role": plain["role"], "content": plain["content"]})]
    return [Draft(_message(plain))]


def _told(value: Mapping[str, Any]) -> Draft:
    """A mapping of what `remember` takes."""
    if not value["text"]:
        raise EmptyText()
    at = None if value.get("at") is None else instant(value["at"])
    original = {"role": value.get("role", "user"), "content": value["text"]}
    return _checked(Draft(_message(original), value.get("name"), at, value.get("session"), value.get("origin"), value.get("trust")))


def _checked(draft: Draft) -> Draft:
    """The draft, if its fields are what they should be."""
    maybe_text(draft.name, "name")
    maybe_text(draft.session, "session")
    maybe_text(draft.origin, "origin")
    trust(draft.trust)
    if not isinstance(draft.original, Mapping):
        raise BadMessage(f"The draft's original is a {type(draft.original).__name__}.")
    if draft.at is None or (isinstance(draft.at, datetime) and draft.at.tzinfo is UTC):
        return draft
    return replace(draft, at=instant(draft.at))


def _message(value: Mapping[str, Any]) -> dict[str, Any]:
    role_of(value)
    bad = next((k for k in value if not isinstance(k, str)), None)
    if bad is not None:
        raise BadMessage(f"A message has the key {bad!r}, which is no string.")
    return dict(value)


def _plain(value: object) -> dict[str, Any]:
    """A mapping, or an SDK object dumped to one without the fields that were not set."""
    if isinstance(value, Mapping):
        return dict(value)
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        made = dump(mode="json", exclude_unset=True)
        if isinstance(made, dict):
            return made
    raise BadMessage(f"A {type(value).__name__} is no message.")

"""Requests that providers accept, from messages of any origin: pairing and order repaired, the log untouched.

The rules (of the Anthropic Messages and OpenAI Chat APIs): results stand right after the call, first in the user turn; each
call has one result; ids are unique; no text follows a call; no empty text; signed thinking does not outlive its prefix; the
list opens and ends with a user message. What came without its partner is repaired: a call without a result gets an error
result that says so, a result without a call is shown as text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from leporello.core.blocks import is_user_side, parts_of, role_of
from leporello.core.turns import Shape, pairs, shape_of
from leporello.records import Part

MISSING = "No result was recorded for this call."
OPENING = "(The conversation continues from the memory above.)"


@dataclass
class _Exchange:
    """What one side says in a row: what is shown, and either calls or results."""

    user: bool
    shown: list[Any] = field(default_factory=list)
    calls: list[tuple[str, str, str]] = field(default_factory=list)
    results: list[tuple[str, str, bool]] = field(default_factory=list)


def for_anthropic(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The `messages` of an Anthropic request; system messages inside become user text."""
    out = []
    for e in _exchanges(messages):
        blocks: list[dict[str, Any]] = [
            {"type": "tool_result", "tool_use_id": i, "content": t or "(empty)", **({"is_error": True} if err else {})}
            for i, t, err in e.results
        ]
        blocks += [b if isinstance(b, dict) else {"type": "text", "text": b} for b in e.shown]
        blocks += [{"type": "tool_use", "id": i, "name": n, "input": _arguments(a)} for i, n, a in e.calls]
        if blocks:
            out.append({"role": "user" if e.user else "assistant", "content": blocks})
    return out


def for_openai(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The `messages` of an OpenAI Chat request."""
    out: list[dict[str, Any]] = []
    for e in _exchanges(messages):
        out += [{"role": "tool", "tool_call_id": i, "content": (f"Error: {t}" if err else t) or "(empty)"} for i, t, err in e.results]
        text = "\n\n".join(b if isinstance(b, str) else f"[{b.get('type', 'media')}]" for b in e.shown)
        if e.calls:
            calls = [{"id": i, "type": "function", "function": {"name": n, "arguments": json.dumps(_arguments(a))}} for i, n, a in e.calls]
            out.append({"role": "assistant", "content": text or None, "tool_calls": calls})
        elif text:
            out.append({"role": "user" if e.user else "assistant", "content": text})
    return out


def _exchanges(messages: Sequence[Mapping[str, Any]]) -> list[_Exchange]:
    """Alternating sides, every call answered in the exchange that follows it."""
    held = [(is_user_side(role_of(m)), parts_of(m), m) for m in messages]
    shapes = [shape_of(not user, parts) for user, parts, _ in held]
    answers = _answers(held, shapes)
    out: list[_Exchange] = []
    names = _unique()
    for i, (user, parts, original) in enumerate(held):
        live = [n for n, p in enumerate(parts) if p.kind == "call" and p.id in shapes[i].calls]
        placed = {n for n, p in enumerate(parts) if (i, n) in answers.used} | set(live)
        shown = [s for s in _shown([p for n, p in enumerate(parts) if n not in placed], original) if s]
        calls = [(names(parts[n].id), parts[n].name or "tool", parts[n].text, answers.by_call.get((i, n))) for n in live]
        if not shown and not calls:
            continue
        here = _open(out, user)
        here.shown += shown
        if calls:
            here.calls += [(c, n, a) for c, n, a, _ in calls]
            reply = _Exchange(True, results=[(c, *(r or (MISSING, True))) for c, _, _, r in calls])
            out.append(reply)
    if out and not out[0].user:
        out.insert(0, _Exchange(True, [OPENING]))
    return out


def _open(out: list[_Exchange], user: bool) -> _Exchange:
    """The exchange that this side goes on in."""
    if not out or out[-1].user != user:
        out.append(_Exchange(user))
    return out[-1]


@dataclass
class _Answers:
    """(message, part) of each call to its result's text and error flag, and (message, part) of the results that are used."""

    by_call: dict[tuple[int, int], tuple[str, bool]] = field(default_factory=dict)
    used: set[tuple[int, int]] = field(default_factory=set)


def _answers(held: Sequence[tuple[bool, Sequence[Part], Mapping[str, Any]]], shapes: Sequence[Shape]) -> _Answers:
    """Each call with its first result; a second result and one without a call stay unused."""
    joined, _, _ = pairs(shapes)
    partners: dict[tuple[int, str], list[int]] = {}
    for call, result, call_id in joined:
        partners.setdefault((result, call_id), []).append(call)
    out = _Answers()
    for i, (_, parts, _) in enumerate(held):
        for n, p in enumerate(parts):
            if p.kind == "result":
                free = next((k for c in partners.get((i, p.id), ()) for k in _calls(held[c][1], c, p.id) if k not in out.by_call), None)
                if free is not None:
                    out.by_call[free] = (p.text, p.error)
                    out.used.add((i, n))
    return out


def _calls(parts: Sequence[Part], i: int, call_id: str) -> Iterator[tuple[int, int]]:
    return ((i, n) for n, p in enumerate(parts) if p.kind == "call" and p.id == call_id)


def _shown(parts: Sequence[Part], original: Mapping[str, Any]) -> Iterator[Any]:
    """Texts as strings; Anthropic images and documents as their own blocks; other media as a stub."""
    content = original.get("content")
    media = (
        [b for b in content if isinstance(b, Mapping) and b.get("type") in {"image", "document"} and "source" in b]
        if isinstance(content, list)
        else []
    )
    for p in parts:
        if p.kind in {"text", "other"}:
            yield p.text if p.text.strip() else ""
        elif p.kind == "media":
            yield dict(media.pop(0)) if media else f"[{p.name}]"
        elif p.kind == "result":
            yield f"[Result of an earlier tool call]\n{p.text or '(empty)'}"
        elif p.kind == "call":
            yield f"[Tool call] {p.name} {p.text}".strip()


def _arguments(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {"arguments": text}
    return value if isinstance(value, dict) else {"arguments": value}


def _unique() -> Callable[[str], str]:
    seen: dict[str, int] = {}

    def name(call_id: str) -> str:
        seen[call_id] = seen.get(call_id, 0) + 1
        base = call_id or "call"
        return base if seen[call_id] == 1 and call_id else f"{base}_{seen[call_id]}"

    return name

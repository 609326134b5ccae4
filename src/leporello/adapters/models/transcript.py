"""Messages as text for a model that records them: each with its number, role, tools and results, capped, and told apart from instructions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from leporello.core.blocks import parts
from leporello.core.tokens import clip, estimate
from leporello.records import Message, Part

CAPS: Mapping[str, int] = {"user": 2_000, "assistant": 1_200, "call": 400, "result": 600, "error": 1_500}
"""Tokens that one part of a message may take, by what it is; more is shown as head and tail."""
_OURS = re.compile(r"<leporello-memory\b.*?(?:</leporello-memory>|\Z)", re.DOTALL)
_ROLE = re.compile(r"^([ \t]*)(human|assistant|user|system|developer|tool)([ \t]*:)", re.IGNORECASE | re.MULTILINE)
_HEAD = re.compile(r"^([ \t]*)\[(?=message \d|part of message)", re.IGNORECASE | re.MULTILINE)
_TOKEN = re.compile(r"<\|([^|>\n]{1,40})\|>")
_INST = re.compile(r"\[(/?INST)\]|<<(/?SYS)>>")
_TAG = re.compile(
    r"<(?=\s*/?\s*(?:transcript|earlier-summary|notes|episodes|known-facts|system|assistant|user|human|developer|instructions?|system-reminder"
    r"|leporello-\w+|data|function_calls|invoke|tool_\w+)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Shown:
    """One message as it is shown: its heading and its parts. `tokens` is the estimate of all."""

    heading: str
    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join([self.heading, *self.parts])

    @property
    def tokens(self) -> int:
        return estimate(self.text) + 1


def without_memory(text: str) -> str:
    """`text` with recalled memory blanked; places stay as they are."""
    return _OURS.sub(lambda m: " " * len(m.group()), text) if "<leporello-memory" in text else text


def neutral(text: str) -> str:
    """`text` with what could be taken for the end of the data, for a role or for a control token of a model made harmless."""
    text = _TOKEN.sub(r"<¦\1¦>", text)
    text = _INST.sub(lambda m: f"({m.group(1) or m.group(2)})", text)
    text = _TAG.sub("‹", text)
    text = _HEAD.sub(r"\1(", text)
    return _ROLE.sub(r"\1'\2'\3", text)


def framed(tag: str, text: str) -> str:
    """`text`, which must be neutral, as delimited data."""
    return f"<{tag}>\n{text}\n</{tag}>"


def shown(messages: Sequence[Message]) -> list[Shown | None]:
    """Each message as it is shown; None for one that says nothing (thinking alone, recalled memory alone)."""
    names = {p.id: p.name for m in messages for p in parts(m) if p.kind == "call"}
    return [_shown(n, m, names) for n, m in enumerate(messages, 1)]


def _shown(n: int, message: Message, names: Mapping[str, str]) -> Shown | None:
    told = tuple(t for p in parts(message) if (t := _part(p, message, names)))
    if not told:
        return None
    speaker = f", {neutral(message.name)}" if message.name else ""
    return Shown(f"[message {n}, {message.role}{speaker}, {message.at.date().isoformat()}]", told)


def _part(part: Part, message: Message, names: Mapping[str, str]) -> str:
    if part.kind == "thinking":
        return ""
    if part.kind == "media":
        return f"(an attachment of kind {part.name}, not shown)"
    if part.kind == "call":
        return f"calls {neutral(part.name)} with {_capped(part.text, 'call') or 'no arguments'}"
    if part.kind == "result":
        name = neutral(part.name or names.get(part.id, "") or "a tool")
        state = "failed" if part.error else "answered"
        return f"{name} {state}: {_capped(part.text, 'error' if part.error else 'result') or '(nothing)'}"
    return _capped(part.text, "user" if message.role == "user" else "assistant")


def _capped(text: str, kind: str) -> str:
    return neutral(clip(without_memory(text).strip(), CAPS[kind], mark=" … (left out) … "))


def joined(messages: Iterable[Shown | None]) -> str:
    """The transcript of these messages."""
    return "\n\n".join(m.text for m in messages if m is not None)

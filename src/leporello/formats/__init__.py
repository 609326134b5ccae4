"""Transcripts, memory files and notes: read one by one as drafts and entries, and given back as they came.

    for entry in read("session.jsonl"):
        ...                     # a Draft, a Learnt, an Unreadable or a Skipped

Messages in a file = drafts + unreadable ones; what holds no message is yielded as skipped, so that every line counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from leporello.errors import FormatError
from leporello.formats import claude_code, codex, groups, jsontext, markdown, memory_jsonl, messages, pi
from leporello.formats.detect import format_name
from leporello.formats.entries import Entry, Format, Learnt, Skipped, Unreadable
from leporello.formats.original import by_session, original
from leporello.formats.source import Look, Source

__all__ = [
    "FORMATS", "Entry", "Format", "Learnt", "Reading", "Skipped", "Source", "Unreadable", "by_session", "detect", "original", "read",
]  # fmt: skip


def _nothing(source: Source) -> Iterator[Entry]:
    yield from ()


def _recognised(name: str, title: str) -> Format:
    def refuse(source: Source) -> Iterator[Entry]:
        raise FormatError(f"{source.path.name} looks like {title}, which is recognised but not read.")

    return Format(name, title, False, refuse)


_ALL = (
    Format("claude-code", "a Claude Code session", True, claude_code.read),
    Format("codex", "a Codex rollout", True, codex.read),
    Format("pi", "a pi session", True, pi.read, asked=True),
    Format("anthropic-messages", "a list of Anthropic messages", True, messages.read),
    Format("openai-chat", "a list of OpenAI Chat messages", True, messages.read),
    Format("openai-responses", "a list of OpenAI Responses items", True, messages.read),
    Format("locomo", "conversations in LoCoMo's shape", True, groups.read_locomo),
    Format("groups", "a retrieval set", True, groups.read_groups),
    Format("memory-jsonl", "memory entries", True, memory_jsonl.read),
    Format("markdown", "notes in Markdown", True, markdown.read),
    Format("empty", "an empty file", True, _nothing),
    _recognised("aider", "an aider chat history"),
    _recognised("antigravity", "an Antigravity transcript"),
    _recognised("chatgpt-export", "a ChatGPT export"),
    _recognised("claude-ai-export", "a Claude.ai export"),
    _recognised("cline", "a Cline task index"),
    _recognised("cursor", "a Cursor transcript"),
    _recognised("gemini-cli", "a Gemini CLI chat"),
    _recognised("goose", "a Goose session"),
    _recognised("grok", "a Grok CLI session"),
    _recognised("kimi", "a Kimi session state"),
    _recognised("leporello-facts", "the facts of an export"),
    _recognised("letta", "a Letta agent trace"),
    _recognised("niceeval", "a niceeval event log"),
    _recognised("openhands", "an OpenHands run"),
    _recognised("specstory", "a SpecStory history"),
    _recognised("swe-agent", "a SWE-agent trajectory"),
    _recognised("tau-bench", "a tau-bench run"),
)
FORMATS: Mapping[str, Format] = MappingProxyType({f.name: f for f in _ALL})


@dataclass(frozen=True)
class Reading:
    """A file that is about to be read: iterate over it for its entries, more than once if need be.

    `source.done` of `source.total` bytes tell how far an iteration is.
    """

    source: Source
    format: Format

    def __iter__(self) -> Iterator[Entry]:
        return self.format.read(self.source)


def detect(path: str | os.PathLike[str]) -> Format | None:
    """The format of a file, by its content; None if it is in none that is known. `InputError` if it cannot be opened."""
    name = format_name(Source(path).look)
    return FORMATS[name] if name is not None else None


def read(path: str | os.PathLike[str], format: str | None = None) -> Reading:
    """The entries of a file, in the format named or in the one that its content shows.

    Raises `InputError` if the file cannot be opened, and `FormatError`, with the format guessed, if it is not read here.
    """
    source = Source(path)
    if format is not None and format not in FORMATS:
        raise FormatError(f"There is no format {format!r}: use {', '.join(f.name for f in _ALL if f.reads)}.")
    look = source.look
    if look.kind == "binary":
        raise FormatError(f"{source.path.name} looks like {look.binary}.")
    name = format or format_name(look)
    if name is None:
        raise FormatError(f"{source.path.name} looks like {_guess(look)}.")
    found = FORMATS[name]
    if not found.reads:
        raise FormatError(f"{source.path.name} looks like {found.title}, which is recognised but not read.")
    if found.asked and format is None:
        raise FormatError(f"{source.path.name} looks like {found.title}, which is read only when it is named: format={found.name!r}.")
    return Reading(source, FORMATS["empty"] if look.kind == "empty" else found)


def _guess(look: Look) -> str:
    """What an unknown file looks like; of a JSON document that is seen whole, why it cannot be read, if that is so."""
    if look.kind == "text":
        return "plain text (--format markdown reads it as notes)"
    if look.kind == "document" and look.whole:
        try:
            jsontext.parse(look.text)
        except jsontext.BadJson as error:
            return f"JSON that cannot be read ({error})"
    return "JSON Lines of no known kind" if look.kind == "lines" else "JSON of no known kind"

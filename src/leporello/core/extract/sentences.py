"""Text to sentences with their places. Markdown is read for what it is: code is left out, list items stand alone.

Splitting within a line is left to nupunkt (a trained Punkt model); Chinese and Japanese stops are split first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import nupunkt

from leporello.core.extract.names import tame

_OURS = re.compile(r"<leporello-memory\b.*?(?:</leporello-memory>|\Z)", re.DOTALL)
_WRAPPED = re.compile(
    r"<(system-reminder|local-command-\w+|command-(?:name|message)|environment_context|task-notification|bash-std(?:out|err)|user_instructions|INSTRUCTIONS|permissions instructions)\b[^>]*>.*?(?:</\1>|\Z)",
    re.DOTALL,
)
_TAGS = re.compile(r"</?(?:command-args|bash-input|thinking|answer|result|commentary|output)>")
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})")
_MARKER = re.compile(r"[ \t]*(?:>[ \t]?)*(?:(?:[-*+•‣▪✅❌☐☑✓✔→–]|\d{1,3}[.)、]|[a-z][.)]|\[[ xX]\])[ \t]+)*(?:\[[ xX]\][ \t]+)?")
_HEADING = re.compile(r"[ \t]*(#{1,6})[ \t]+(.+?)[ \t#]*$")
_BOLD_HEADING = re.compile(r"[ \t]*(?:\*\*|__)([^*]{2,60})(?:\*\*|__):?[ \t]*$")
_RULE = re.compile(r"[ \t]*[-=_*~|+:\s\u2500-\u257f]{3,}$")
_DRAWING = re.compile(r"[\u2500-\u259f\u25b8\u25be]")
_WIDE_STOP = re.compile(r"[。！？!?…]+[」』”’）)]*(?=\S)|(?<=[。！？])")
_CODE_LINE = re.compile(r"^\s*\S.*[{};]\s*$|^\s*(?:import|from|def|func|class|return|const|let|var|if|for)\b[^.?!]*[({:=]")


@dataclass(frozen=True)
class Sentence:
    """One sentence or list item at `start` to `end` of its message's text; `heading` is the title that it stands under."""

    text: str
    start: int
    end: int
    heading: str = ""
    item: bool = False


def hide(text: str) -> str:
    """`text` with what Leporello rendered itself, and what a client wrapped around the words, blanked; places stay."""
    for pattern in (_OURS, _WRAPPED, _TAGS):
        if "<" in text:
            text = pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    return tame(text)


def excerpt(text: str, head: int = 12_000, tail: int = 8_000) -> Iterator[tuple[int, str]]:
    """The text, or its head and tail when it is longer than both, each with its offset (cut at a line where possible)."""
    if len(text) <= head + tail:
        yield 0, text
        return
    cut = text.rfind("\n", head // 2, head)
    yield 0, text[: cut if cut > 0 else head]
    start = len(text) - tail
    line = text.find("\n", start, start + tail // 2)
    start = line + 1 if line >= 0 else start
    yield start, text[start:]


def sentences(text: str, offset: int = 0) -> list[Sentence]:
    """The sentences of `text`, in order, with places counted from `offset`. Code, tables' rules and drawings are left out."""
    out: list[Sentence] = []
    heading, fence, place = "", "", 0
    for line in text.split("\n"):
        start, place = place, place + len(line) + 1
        mark = _FENCE.match(line)
        if mark:
            fence = "" if fence and mark.group(1).startswith(fence) else fence or mark.group(1)
            continue
        if fence or not line.strip() or _RULE.match(line) or _DRAWING.search(line):
            continue
        title = _HEADING.match(line) or _BOLD_HEADING.match(line)
        if title:
            heading = title.group(title.lastindex or 1).strip("*_: ")
            continue
        out.extend(_in_line(line, offset + start, heading))
    return out


def _in_line(line: str, place: int, heading: str) -> Iterator[Sentence]:
    marker = _MARKER.match(line)
    skip = marker.end() if marker else 0
    body = line[skip:].rstrip()
    if line.startswith(("    ", "\t")) and _CODE_LINE.match(line):
        return
    for start, end in _spans(body):
        piece = body[start:end]
        left = len(piece) - len(piece.lstrip())
        piece = piece.strip()
        if len(piece) >= 2:
            at = place + skip + start + left
            yield Sentence(piece, at, at + len(piece), heading, bool(marker and marker.group().strip()))


def _spans(body: str) -> Iterator[tuple[int, int]]:
    if len(body) < 40 and not re.search(r"[.!?。！？]", body[:-1]):
        yield 0, len(body)
        return
    if re.search(r"[。！？]", body):
        start = 0
        for stop in re.finditer(r"[。！？!?]+[」』”’）)]*", body):
            yield start, stop.end()
            start = stop.end()
        if start < len(body):
            yield start, len(body)
        return
    for start, end in nupunkt.sent_spans(body):
        yield start, end

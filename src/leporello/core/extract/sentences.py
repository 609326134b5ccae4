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
_STOP = re.compile(r"[a-zà-ÿß]{4,}(?<!approx)(?<!prof)(?<!dept)(?<!corp)(?<!evtl)(?<!resp)[.!?][\"'”’)]*\s+(?=[A-ZÀ-Þ])")
"""A stop after a word that is no abbreviation: nupunkt takes some for one ("month.")."""
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
    """The sentences of `text`, in order, with places counted from `offset`. Code, tables' rules and drawings are left out.

    Lines that a paragraph was broken into are read as one; a sentence never ends within a span of code or an open bracket.
    """
    out: list[Sentence] = []
    heading, fence = "", ""
    for start, line in _paragraphs(text):
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


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """The lines with their places; a long line and those that go on in small letters after it are one."""
    place, begun, held = 0, 0, ""
    for line in text.split("\n"):
        if held and len(held) < 4000 and _goes_on(held, line):
            held = f"{held}\n{line}"
        else:
            if place:
                yield begun, held
            begun, held = place, line
        place += len(line) + 1
    yield begun, held


def _goes_on(line: str, after: str) -> bool:
    last = line.rsplit("\n", 1)[-1]
    if not 50 <= len(last.rstrip()) <= 140 or last.rstrip()[-1:] in ".!?:;|{}`。！？：；" or last.startswith(("\t", "    ", "#", "|")):
        return False
    return (
        bool(re.match(r"(?: {2,3})?[^\W\d_A-Z]", after))
        and after[:1].isascii()
        and after.lstrip()[:1].islower()
        and not _CODE_LINE.match(after)
    )


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
    start = None
    for begin, end in _pieces(body):
        start = begin if start is None else start
        if end < len(body) and end - start < 1500 and _inside(body, start, end):
            continue
        yield start, end
        start = None
    if start is not None:
        yield start, len(body)


def _inside(body: str, start: int, end: int) -> bool:
    """True where a stop does not end a sentence: within code or brackets that close later, within a word, before a small letter."""
    piece, rest = body[start:end], body[end : end + 300]
    if piece.count("`") % 2 and "`" in rest:
        return True
    if piece.count("(") > piece.count(")") and ")" in rest and rest.count("(") < rest.count(")"):
        return True
    if not piece[-1:].isspace() and not rest[:1].isspace() and piece[-1:] in ".!?" and rest[:1].isalnum():
        return True
    return piece.rstrip()[-1:] == "." and rest.lstrip()[:1].islower() and bool(re.search(r"(?:\w\.){2}\s*$|\b[A-Za-z]{1,4}\.\s*$", piece))


def _pieces(body: str) -> Iterator[tuple[int, int]]:
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
        for stop in _STOP.finditer(body, start, end):
            if stop.end() < end:
                yield start, stop.end()
                start = stop.end()
        yield start, end

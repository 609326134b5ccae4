"""Notes in Markdown: MEMORY.md, CLAUDE.md, topic files with front matter.

Each list item, paragraph, table or code block becomes one entry under the path of its headings. A paragraph that ends in
a colon belongs to what follows it: it heads a list, and is one entry with a table or a code block. A heading with nothing
below it is an entry. Every line of the file is in an entry or in the path of one; rules and comments are skipped.

The two parsers are imported where they are used: notes are seldom read, and `import leporello` must stay quick.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from leporello.formats import jsontext
from leporello.formats.entries import Entry, Learnt, Skipped, Unreadable, text_in
from leporello.formats.memory_jsonl import learnt
from leporello.formats.source import Source

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

_FRONT = re.compile(r"---[ \t]*\r?\n(.*?\r?\n)(---|\.\.\.)[ \t]*(\r?\n|$)", re.DOTALL)
_MARKER = re.compile(r"[ \t>]*([-*+]|\d{1,9}[.)])[ \t]+")
_EMPHASIS = re.compile(r"^(\*\*|__|\*|_)(.*?)\1$")
_LONGEST_FRONT = 100_000
_COMMENT = re.compile(r"(<!--.*?-->\s*)+", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


def read(source: Source) -> Iterator[Entry]:
    """Every entry of the notes; a line that is not UTF-8 is unreadable, and the others are read."""
    text = source.text().replace("\r\n", "\n")
    front, text = _split(text)
    meta: dict[str, Any] = {}
    if front:
        try:
            meta = _front(front)
            yield from _described(meta, front)
        except jsontext.BadJson as error:
            yield Unreadable("front matter", jsontext.encoded(front), str(error))
    lines = text.split("\n")
    offset = front.count("\n")
    for n, line in enumerate(lines):
        if _SURROGATE.search(line):
            yield Unreadable(f"line {n + 1 + offset}", jsontext.encoded(line), "not UTF-8")
            lines[n] = ""
    yield from _Walk(lines, meta, offset).entries()
    for found in source.damage():
        yield Unreadable(found.place, found.raw, found.why or "")


def _split(text: str) -> tuple[str, str]:
    match = _FRONT.match(text)
    return (match.group(), text[match.end() :]) if match else ("", text)


def _front(front: str) -> dict[str, Any]:
    """The front matter as strings, lists and mappings: no value is guessed to be a date or a number."""
    import yaml

    match = _FRONT.fullmatch(front)
    body = match.group(1) if match else ""
    if body.count("[") + body.count("{") > jsontext.MAX_DEPTH or len(body) > _LONGEST_FRONT:
        raise jsontext.BadJson("front matter too long or too deep")
    try:
        if any(isinstance(event, yaml.events.AliasEvent) for event in yaml.parse(body, Loader=yaml.BaseLoader)):
            raise jsontext.BadJson("front matter with aliases")
        read = yaml.load(body, Loader=yaml.BaseLoader)  # makes strings only, never objects
    except (yaml.YAMLError, RecursionError) as error:
        raise jsontext.BadJson(f"front matter that is not YAML: {str(error).splitlines()[0]}") from error
    if read is not None and not isinstance(read, dict):
        raise jsontext.BadJson("front matter that is not a mapping")
    return {str(k): v for k, v in (read or {}).items()}


def _described(meta: dict[str, Any], front: str) -> Iterator[Entry]:
    """The description is a statement about the file; without one the front matter is kept as it is."""
    if meta:
        text = text_in(meta, "description", "title", "name") or jsontext.dumped(meta).decode()
        name = text_in(meta, "name")
        under = (name,) if name and name != text else ()
        yield learnt(text, {"front": meta, "markdown": front.strip(), **_dated(meta)}, kind=_kind(meta), under=under, said={"text": text})


def _inner(meta: dict[str, Any]) -> dict[str, Any]:
    inner = meta.get("metadata")
    return {**inner, **meta} if isinstance(inner, dict) else meta


def _kind(meta: dict[str, Any]) -> str:
    return text_in(_inner(meta), "type", "kind") or "note"


def _dated(meta: dict[str, Any]) -> dict[str, Any]:
    """The file's own time and tags, for each of its entries."""
    return {k: v for k, v in _inner(meta).items() if k in {"updated", "date", "created_at", "tags", "importance"}}


@dataclass
class _Walk:
    """One pass over the blocks of a file: what was covered, and where in the headings it is."""

    lines: list[str]
    meta: dict[str, Any]
    offset: int
    path: list[tuple[int, str]] = field(default_factory=list)
    covered: set[int] = field(default_factory=set)
    bare: tuple[int, int] | None = None

    def entries(self) -> Iterator[Entry]:
        from markdown_it import MarkdownIt
        from markdown_it.tree import SyntaxTreeNode

        text = "\n".join(self.lines)
        root = SyntaxTreeNode(MarkdownIt("commonmark").enable("table").parse(text))
        yield from self._blocks(root.children, ())
        yield from self._lone_heading()
        yield from self._rest()

    def _blocks(self, nodes: list[SyntaxTreeNode], under: tuple[str, ...]) -> Iterator[Entry]:
        """Blocks of one level; a paragraph that ends in a colon waits for what it introduces."""
        intro: SyntaxTreeNode | None = None
        for node in nodes:
            if node.type in {"bullet_list", "ordered_list"}:
                above = under
                if intro is not None:
                    above = (*under, self._take(intro))
                for item in node.children:
                    yield from self._item(item, above)
            elif intro is not None and node.type in {"fence", "code_block", "table", "blockquote", "html_block"}:
                yield self._entry(_span(intro)[0], _span(node)[1], under)
            else:
                if intro is not None:
                    yield self._entry(*_span(intro), under)
                intro = node if self._introduces(node) else None
                if intro is None:
                    yield from self._block(node, under)
                continue
            intro = None
        if intro is not None:
            yield self._entry(*_span(intro), under)

    def _block(self, node: SyntaxTreeNode, under: tuple[str, ...]) -> Iterator[Entry]:
        first, last = _span(node)
        if node.type == "heading" and not under:
            level = int(node.tag[1:])
            if self.path and level <= self.path[-1][0]:
                yield from self._lone_heading()
            self.path = [(n, t) for n, t in self.path if n < level] + [(level, node.children[0].content if node.children else "")]
            self.bare = (first, last)
            self.covered.update(range(first, last))
        elif node.type == "hr" or (node.type == "html_block" and _COMMENT.fullmatch(self._slice(first, last).strip())):
            self.covered.update(range(first, last))
            yield Skipped(f"line {first + 1 + self.offset}", "rule" if node.type == "hr" else "comment")
        else:
            yield self._entry(first, last, under)

    def _item(self, item: SyntaxTreeNode, under: tuple[str, ...]) -> Iterator[Entry]:
        """A list item: its own text up to the first list inside it, then the items of that list below it."""
        first, last = _span(item)
        inner = next((n for n, child in enumerate(item.children) if child.type in {"bullet_list", "ordered_list"}), None)
        if inner is None:
            yield self._entry(first, last, under)
            return
        start = _span(item.children[inner])[0]
        if start <= first:
            yield self._entry(first, last, under)
            return
        yield (own := self._entry(first, start, under))
        yield from self._blocks(item.children[inner:], (*under, own.text.split("\n")[0]))

    def _introduces(self, node: SyntaxTreeNode) -> bool:
        return node.type == "paragraph" and self._slice(*_span(node)).rstrip(" *_").endswith((":", "："))

    def _take(self, node: SyntaxTreeNode) -> str:
        first, last = _span(node)
        self.covered.update(range(first, last))
        self.bare = None
        return _EMPHASIS.sub(r"\2", " ".join(self._slice(first, last).split())).rstrip(":： ")

    def _entry(self, first: int, last: int, under: tuple[str, ...]) -> Learnt:
        """The lines `first` to `last` (excluded) as one entry: verbatim in `original`, without marker and indent in `text`."""
        raw = self._slice(first, last).rstrip()
        self.covered.update(range(first, last))
        self.bare = None
        path = (*(t for _, t in self.path if t), *under)
        held = {"markdown": raw, "under": list(path)}
        return learnt(_plain(raw) or raw, {**held, **_dated(self.meta)}, kind=_kind(self.meta), under=path, said=held)

    def _lone_heading(self) -> Iterator[Entry]:
        """A heading with nothing below it says something itself. One with a heading below it is in that one's path."""
        if self.bare is not None:
            first, last = self.bare
            kept = self.path
            self.path = kept[:-1]
            yield self._entry(first, last, ())
            self.path = kept

    def _rest(self) -> Iterator[Entry]:
        """What no block shows (link definitions, too deep nesting) is kept too, by runs of lines."""
        start: int | None = None
        for n in range(len(self.lines) + 1):
            open_line = n < len(self.lines) and n not in self.covered and bool(self.lines[n].strip())
            if open_line and start is None:
                start = n
            elif not open_line and start is not None:
                self.path = []
                yield self._entry(start, n, ())
                start = None

    def _slice(self, first: int, last: int) -> str:
        return "\n".join(self.lines[first:last])


def _span(node: SyntaxTreeNode) -> tuple[int, int]:
    return node.map or (0, 0)


def _plain(raw: str) -> str:
    """Without the list marker and the common indent; lists, code and emphasis inside stay as written."""
    match = _MARKER.match(raw)
    first, *more = raw.split("\n")
    if match:
        first = first[match.end() :]
    lead = min((len(line) - len(line.lstrip()) for line in more if line.strip()), default=0)
    return "\n".join([first.strip(), *(line[lead:].rstrip() for line in more)]).strip()

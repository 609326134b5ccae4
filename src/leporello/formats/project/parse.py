"""A file of a project as it is on disk: its front matter, its bullets, and every other line, which is kept as it stands.

One bullet is one entry, with all that is nested in it; a nested bullet with a marker of its own is an entry of its own. Lines
that belong to no bullet, to none of our headings and to no comment of ours are `prose`: never read, never lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote

from leporello.formats.project.bullets import SECTIONS, Bullet, markers, parted, unmarked
from leporello.records import FactKind

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

INDEX = "MEMORY.md"
TYPES = ("user", "feedback", "project", "reference")
KEPT_MARK = "<!-- kept as it was -->"
INDEX_MARK = "<!-- written by leporello: change the topic files, or add bullets here -->"
MAX_BYTES = 8 * 1024 * 1024
_OUR_MARKS = {KEPT_MARK, INDEX_MARK}
_FRONT = re.compile(r"---[ \t]*\n(.*?\n)?(---|\.\.\.)[ \t]*(\n|$)", re.DOTALL)
_CONFLICT = re.compile(r"^(<{7}|>{7})( |$)", re.MULTILINE)
_POINTER = re.compile(r"\[[^\]]*\]\(<?([^)>]+\.md)>?\)", re.IGNORECASE)
_KEY = re.compile(r"""^(?P<key>[A-Za-z_][\w-]*|"[^"]*"|'[^']*')\s*:""")
_GENERATED = re.compile(r"\d+ entr(y|ies)(, newest \d{4}-\d{2}-\d{2})?")
_MARK_SPACE = re.compile(r"[ \t]*([-*+]|\d{1,9}[.)])([ \t]+|$)")
_HINTS: tuple[tuple[str, FactKind], ...] = (
    ("ruled out", "eliminated"), ("eliminat", "eliminated"), ("reject", "eliminated"), ("avoid", "eliminated"), ("decision", "decision"),
    ("architect", "decision"), ("prefer", "preference"), ("pattern", "pattern"), ("convention", "pattern"), ("procedure", "procedure"),
    ("workflow", "procedure"), ("how to", "procedure"),
)  # fmt: skip


@dataclass
class Page:
    """One file. With `problem` it was not read: nothing is taken from it, and it is not written over.

    `title` is its first heading; `front` is the front matter as it was read, `head` its lines; `extra` those that are not ours; `prose` what is kept, block by block; `loose`
    are ids of markers that stand in prose.
    """

    name: str
    topic: str | None = None
    title: str | None = None
    head: str = ""
    front: dict[str, str] = field(default_factory=dict)
    extra: str = ""
    bullets: list[Bullet] = field(default_factory=list)
    pointers: list[str] = field(default_factory=list)
    loose: list[str] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)
    problem: str = ""

    @property
    def is_topic(self) -> bool:
        """True if the front matter says that this is a topic file."""
        return self.front.get("type") in TYPES

    @property
    def description(self) -> str | None:
        """The description, if a person wrote it."""
        told = self.front.get("description", "").strip()
        return told if told and not _GENERATED.fullmatch(told) else None


def parse(name: str, raw: bytes) -> Page:
    """Reads a file. Bytes that are no UTF-8 text, a merge conflict, or front matter that is no YAML make it a problem."""
    page = Page(name)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        page.problem = f"not UTF-8 at byte {error.start + 1}"
        return page
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if len(raw) > MAX_BYTES or "\0" in text:
        page.problem = "binary data" if "\0" in text else f"larger than {MAX_BYTES >> 20} MB"
    elif _CONFLICT.search(text):
        page.problem = "a merge conflict that is not resolved"
    else:
        front = _FRONT.match(text)
        body = text[front.end() :] if front else text
        if front and not _read_front(page, front[1] or ""):
            page.problem = "front matter that is not YAML"
        else:
            page.topic = page.front.get("name", "").strip() or None
            _Walk(page, body.split("\n"), front[0].count("\n") if front else 0).run()
    return page


def _read_front(page: Page, text: str) -> bool:
    import yaml  # seldom needed, and slow to import

    try:
        if any(isinstance(e, yaml.events.AliasEvent) for e in yaml.parse(text, Loader=yaml.BaseLoader)):
            return False
        read = yaml.load(text, Loader=yaml.BaseLoader)  # makes strings only, never objects
    except (yaml.YAMLError, RecursionError):
        return False
    if read is not None and not isinstance(read, dict):
        return False
    page.front = {str(k): v for k, v in (read or {}).items() if isinstance(v, str)}
    inner = (read or {}).get("metadata")
    if "type" not in page.front and isinstance(inner, dict) and isinstance(inner.get("type"), str):
        page.front["type"] = inner["type"]
    page.head, page.extra = text.strip("\n"), _extra(text)
    return True


def _extra(text: str) -> str:
    """The lines of the front matter below keys that are not ours."""
    ours, out = False, []
    for line in text.split("\n"):
        key = _KEY.match(line)
        if key:
            ours = key["key"].strip("\"'") in {"name", "description", "type"}
        if not ours and line.strip():
            out.append(line.rstrip())
    return "\n".join(out)


class _Walk:
    """One pass over the blocks of a file: which lines are entries, which are ours, and what is left."""

    def __init__(self, page: Page, lines: list[str], offset: int) -> None:
        self.page = page
        self.lines = lines
        self.offset = offset
        self.kind: FactKind = "fact"
        self.path: list[tuple[str, str]] = []
        self.waiting: str | None = None  # a heading that is prose if prose follows it

    def run(self) -> None:
        at = 0
        for node in _tree(self.lines).children:
            first, last = node.map or (at, at)
            self._left(at, first)
            self._block(node, first, last)
            at = max(at, last)
        self._left(at, len(self.lines))

    def _block(self, node: SyntaxTreeNode, first: int, last: int) -> None:
        if node.type == "heading":
            self._head(node, first, last)
        elif node.type in {"bullet_list", "ordered_list"}:
            for start, own in _entries(node, self.lines):
                self._entry(start, [self.lines[i] for i in sorted(own)])
        elif self._slice(first, last).strip() not in _OUR_MARKS:
            self._left(first, last)

    def _head(self, node: SyntaxTreeNode, first: int, last: int) -> None:
        text = node.children[0].content.strip() if node.children else ""
        if node.tag == "h1" and self.page.title is None and not self.path:
            line = self.lines[first].strip()
            self.page.title = line[1:].strip() if line.startswith("#") else text
            return
        kind = _kind_of(text)
        ours = kind is not None and text == SECTIONS[kind]
        self.path = [(tag, t) for tag, t in self.path if tag < node.tag] + [(node.tag, text)]
        self.kind = next((k for _, t in reversed(self.path) if (k := _kind_of(t)) is not None), "fact")
        self.waiting = None if ours else self._slice(first, last).strip("\n")

    def _left(self, first: int, last: int) -> None:
        """Lines that nothing else takes: kept, with the heading that stands over them."""
        text = self._slice(first, last).strip("\n").rstrip()
        if not text.strip() or text.strip() in _OUR_MARKS:
            return
        self.page.prose.append(text if self.waiting is None else f"{self.waiting}\n\n{text}")
        self.page.loose += [m.id for m in markers(text)]
        self.waiting = None

    def _entry(self, first: int, lines: Sequence[str]) -> None:
        held = _plain(lines)
        found = [m for line in held for m in markers(line)]
        text, details = parted([unmarked(line) for line in held], marked=bool(found))
        if not text:
            return
        if self.page.name == INDEX and (pointer := pointer_in(text)) and not found:
            self.page.pointers.append(pointer)
        marker = found[-1] if found else None
        line = first + 1 + self.offset
        headings = tuple(t for _, t in self.path)
        about = headings[-1] if headings and _kind_of(headings[-1]) is None else None
        self.page.bullets.append(Bullet(self.page.name, line, text, details, marker, self.kind, self.page.topic, headings, about))

    def _slice(self, first: int, last: int) -> str:
        return "\n".join(self.lines[first:last])


def entry_lines(lines: list[str]) -> Iterator[set[int]]:
    """The lines of each entry of a text, in lists at any place; last those of other blocks with a marker."""
    root = _tree(lines)
    inside: set[int] = set()
    for node in [n for n in root.walk() if n.type in {"bullet_list", "ordered_list"} and not _in_item(n)]:
        for _, own in _entries(node, lines):
            inside |= own
            yield own
    for block in root.children:
        own = set(range(*(block.map or (0, 0)))) - inside
        if any(markers(lines[i]) for i in own):
            yield own


def entry_text(lines: Sequence[str]) -> str:
    """The text of an entry, without its details and marker."""
    held = _plain(lines)
    return parted([unmarked(line) for line in held], marked=any(markers(line) for line in held))[0]


def _tree(lines: Sequence[str]) -> SyntaxTreeNode:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

    text = "\n".join(line.rstrip("\r").replace("\r", " ") for line in lines)
    return SyntaxTreeNode(MarkdownIt("commonmark").enable("table").parse(text))


def _entries(node: SyntaxTreeNode, lines: Sequence[str]) -> Iterator[tuple[int, set[int]]]:
    """The first line and all own lines of each entry in a list: an item without those items inside it that bear a marker."""
    for item in node.children:
        yield from _split(item, [n for n in _inner_items(item) if _owns(n, lines)])


def _inner_items(item: SyntaxTreeNode) -> Iterator[SyntaxTreeNode]:
    """The items inside an item that begin on a line of their own and outside of quotes."""
    for child in item.children:
        if child.type in {"bullet_list", "ordered_list"}:
            for n in child.children:
                if n.map and item.map and n.map[0] != item.map[0]:
                    yield n
                yield from _inner_items(n)


def _split(item: SyntaxTreeNode, owners: list[SyntaxTreeNode]) -> Iterator[tuple[int, set[int]]]:
    first, last = item.map or (0, 0)
    inner = [n for n in owners if n is not item and _within(n, item)]
    yield first, set(range(first, last)) - {i for n in inner for i in range(*(n.map or (0, 0)))}
    for n in inner:
        if not any(m is not n and _within(n, m) for m in inner):
            yield from _split(n, inner)


def _owns(item: SyntaxTreeNode, lines: Sequence[str]) -> bool:
    """True if a marker stands in the item itself: in its first line, or indented as its text is."""
    first, last = item.map or (0, 0)
    depth = _depth(lines[first])
    return any(markers(line) and (i == first or len(line) - len(line.lstrip()) >= depth) for i, line in enumerate(lines[first:last], first))


def _in_item(node: SyntaxTreeNode) -> bool:
    parent = node.parent
    return parent is not None and (parent.type == "list_item" or _in_item(parent))


def pointer_in(text: str) -> str | None:
    """The file that an index line points to."""
    found = _POINTER.match(text)
    return unquote(found[1]) if found else None


def _within(inner: SyntaxTreeNode, outer: SyntaxTreeNode) -> bool:
    a, b = inner.map or (0, 0), outer.map or (0, 0)
    return b[0] <= a[0] and a[1] <= b[1] and a != b


def _depth(line: str) -> int:
    found = _MARK_SPACE.match(line)
    return found.end() if found else 2


def _plain(lines: Sequence[str]) -> list[str]:
    """The lines of an item without its mark and the common indent."""
    found = _MARK_SPACE.match(lines[0])
    more = [line.expandtabs(4) for line in lines[1:]]
    lead = min((len(line) - len(line.lstrip()) for line in more if line.strip()), default=0)
    return [lines[0][found.end() if found else 0 :].strip(), *(line[lead:].rstrip() for line in more)]


def _kind_of(heading: str) -> FactKind | None:
    folded = heading.casefold().strip(" :")
    for kind, title in SECTIONS.items():
        if folded == title.casefold():
            return kind
    return next((kind for hint, kind in _HINTS if hint in folded), None)

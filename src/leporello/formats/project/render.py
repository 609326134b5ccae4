"""Facts as the files of a project: the same facts give the same bytes."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from urllib.parse import quote

from leporello.formats.project.bullets import SECTIONS, bullet, day, one_line
from leporello.formats.project.index import JSON_INDEX, cleaned, json_index, newest_first, same, topic_of
from leporello.formats.project.names import file_names
from leporello.formats.project.parse import INDEX, INDEX_MARK, KEPT_MARK
from leporello.records import Fact, FactKind

INDEX_LINES, INDEX_BYTES, POINTER, FILES = 200, 25_000, 150, 200
"""What agents read of an index: so many lines and bytes, so long a line of it, so many topic files (X30)."""

OLD_DAYS = 30
OTHER, NOTES = "More topics", "Other text"
_TOPICS = 150  # with the headings of six sections, as many pointers as 200 lines have room for
_NAME = 60
_PLAIN = re.compile(r"[A-Za-z][\w-]*( [\w-]+)*", re.ASCII)
_SPECIAL = {"yes", "no", "true", "false", "null", "on", "off", "y", "n"}
_TYPE: Mapping[FactKind, str] = {
    "preference": "user", "procedure": "feedback", "pattern": "feedback", "decision": "project", "eliminated": "project", "fact": "project",
}  # fmt: skip


@dataclass(frozen=True)
class Kept:
    """What people wrote into a topic's file beside bullets: it stays. `name` is the file that the topic has, `title` its first heading."""

    name: str | None = None
    title: str | None = None
    type: str | None = None
    description: str | None = None
    extra: str = ""
    prose: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rendered:
    """File names and their texts, and which facts (by id) stand in which file."""

    files: Mapping[str, str]
    ids: Mapping[str, tuple[str, ...]]
    stale: tuple[str, ...] = ()


@dataclass
class _Topic:
    name: str
    facts: list[Fact] = field(default_factory=list)
    kept: Kept = field(default_factory=Kept)

    @property
    def kind(self) -> FactKind:
        """The kind of most of its facts."""
        counts = Counter(f.fact_kind for f in self.facts)
        return max(SECTIONS, key=lambda k: counts[k]) if counts else "fact"

    @property
    def counted(self) -> str:
        count = len(self.facts)
        newest = f", newest {day(max(f.at for f in self.facts))}" if count else ""
        return f"{count} {'entry' if count == 1 else 'entries'}{newest}"

    @property
    def type(self) -> str:
        return _TYPE[self.kind] if self.facts else "reference"


def render(
    facts: Sequence[Fact], *, title: str, kept: Mapping[str, Kept] | None = None, foreign: Iterable[str] = (), now: datetime | None = None
) -> Rendered:
    """The files for these facts. `kept` is what topics hold beside bullets, by name; `foreign` are files that must not be written.

    `now` tells which topics are stale: their newest entry is older than `OLD_DAYS` days.
    """
    topics = _grouped(facts, kept or {})
    held = {same(t.name): t.kept.name for t in topics if t.kept.name}
    names = file_names([t.name for t in topics], held=held, foreign=foreign)
    files = {names[t.name]: _topic_file(t) for t in topics}
    files[INDEX] = _index(title, [(t, names[t.name]) for t in topics])
    ordered = {names[t.name]: _ordered(t.facts) for t in topics}
    rows = [
        {"topic": t.name, "file": names[t.name], "type": t.type, "entries": len(t.facts), "newest": day(max(f.at for f in t.facts))}
        for t in topics
        if t.facts
    ]
    files[JSON_INDEX] = json_index(rows, ordered)
    stale = tuple(t.name for t in topics if now and t.facts and (now - max(f.at for f in t.facts)).days > OLD_DAYS)
    return Rendered(files, {n: tuple(f.id for f in fs) for n, fs in ordered.items()}, stale)


def shortened(line: str, count: int) -> str:
    """An index line after entries of its topic were dropped: nothing of their text."""
    return re.sub(r"\]\(([^)]*)\).*", lambda m: f"]({m[1]}): {count} {'entry' if count == 1 else 'entries'}", line, count=1)


def _grouped(facts: Sequence[Fact], kept: Mapping[str, Kept]) -> list[_Topic]:
    """Topics by name, with their facts; beyond what the index has room for, the smallest go together."""
    found: dict[str, _Topic] = {}
    for fact in sorted(facts, key=lambda f: (topic_of(f), f.id)):
        found.setdefault(same(topic_of(fact)), _Topic(topic_of(fact))).facts.append(fact)
    for name, held in kept.items():
        if same(name) in found or held.prose or held.extra or held.description:
            found.setdefault(same(name), _Topic(cleaned(name) or NOTES)).kept = held
    ordered = sorted(found.values(), key=lambda t: (-len(t.facts), -max((f.at.timestamp() for f in t.facts), default=0.0), t.name))
    if len(ordered) > _TOPICS:
        rest = [t for t in ordered[_TOPICS - 1 :] if same(t.name) != same(OTHER)]
        more = next((t for t in ordered if same(t.name) == same(OTHER)), _Topic(OTHER))
        more.facts += [f for t in rest for f in t.facts]
        more.kept = replace(more.kept, prose=(*more.kept.prose, *(p for t in rest for p in _said(t.kept))))
        ordered = [t for t in ordered[: _TOPICS - 1] if t is not more] + [more]
    return sorted(ordered, key=lambda t: (same(t.name), t.name))


def _said(kept: Kept) -> tuple[str, ...]:
    """All that people wrote beside the bullets of a topic that has no file of its own."""
    return tuple(p for p in (kept.description, kept.extra and f"```yaml\n{kept.extra}\n```", *kept.prose) if p)


def _topic_file(topic: _Topic) -> str:
    front = [
        f"name: {_yaml(topic.name)}",
        f"description: {_yaml(topic.kept.description or topic.counted)}",
        f"type: {topic.kept.type or topic.type}",
    ]
    lines = [
        "---",
        *front,
        *([topic.kept.extra] if topic.kept.extra else []),
        "---",
        "",
        f"# {topic.kept.title or _heading(topic.name)}",
        "",
    ]
    for kind, title in SECTIONS.items():
        mine = [f for f in _ordered(topic.facts) if f.fact_kind == kind]
        if mine:
            lines += [f"## {title}", "", *(bullet(f) for f in mine), ""]
    if topic.kept.prose:
        lines += [KEPT_MARK, "", *(line for p in topic.kept.prose for line in (p, ""))]
    return "\n".join(lines).rstrip("\n") + "\n"


def _ordered(facts: Sequence[Fact]) -> list[Fact]:
    """By sections, and in each the newest first."""
    order = list(SECTIONS)
    return sorted(newest_first(facts), key=lambda f: order.index(f.fact_kind))


def _index(title: str, topics: Sequence[tuple[_Topic, str]]) -> str:
    """`MEMORY.md` within its bounds: lines are shortened, all alike, until it fits."""
    for width in (POINTER, 120, 100, 80, 0):
        text = "\n".join(_index_lines(title, topics, width))
        if len(text.encode()) <= INDEX_BYTES:
            break
    return text


def _index_lines(title: str, topics: Sequence[tuple[_Topic, str]], width: int) -> list[str]:
    lines = [f"# {_heading(title)}", "", INDEX_MARK, ""]
    for kind, section in SECTIONS.items():
        mine = [(t, name) for t, name in topics if t.kind == kind]
        if mine:
            lines += [f"## {section}", "", *(_pointer(t, name, width) for t, name in mine), ""]
    return lines


def _pointer(topic: _Topic, name: str, width: int) -> str:
    """`- [name](file.md): 3 entries, newest 2026-03-02: the newest entry`, at most `width` characters."""
    shown = _heading(topic.name).translate(str.maketrans("[]", "()"))
    head = f"- [{shown}]({quote(name, safe='') if ' ' in name or '(' in name else name}): {topic.counted}"
    told = [f for f in topic.facts if f.trust in {"user", "agent"}]  # an index is read as it is: nothing of tools or strangers
    newest = one_line(topic.kept.description or (newest_first(told)[0].text if told else ""))
    line = f"{head}: {newest}" if newest and width else head
    return (
        line if len(line) <= (width or POINTER) else line[: max(len(head), width - 1)].rstrip(" :") + ("…" if width > len(head) + 1 else "")
    )


def _heading(name: str) -> str:
    """A name on a line of Markdown: short, and without what would be read as a comment."""
    text = one_line(name)
    text = text if len(text) <= _NAME else f"{text[: _NAME - 1].rstrip()}…"
    while len(text.encode()) > 2 * _NAME:
        text = text[:-2] + "…"
    return text


def _yaml(value: str) -> str:
    text = cleaned(value)
    plain = _PLAIN.fullmatch(text) and text.casefold() not in _SPECIAL
    return text if plain else json.dumps(text, ensure_ascii=False)

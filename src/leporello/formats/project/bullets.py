"""One fact as one bullet: its text, a line of details, and a marker; and back.

```
- Deploys happen on Tuesdays.
  (2026-03-02 · confidence 0.9 · why: release calendar · tags: deploys, ops) <!-- f_3k… 1f2e3d4c.5b6a7980 -->
```

The marker holds the fact's id and two hashes, of the text and of the details as they were written. Both hashes are blind to white
space, so that another editor's line ends, tabs and line breaks are no edits.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime

from leporello.core.pack import neutral
from leporello.core.times import instant
from leporello.errors import BadTime
from leporello.records import Fact, FactKind

SECTIONS: dict[FactKind, str] = {
    "decision": "Architecture decisions",
    "preference": "User preferences",
    "pattern": "Patterns",
    "procedure": "Procedures",
    "eliminated": "Ruled out",
    "fact": "Facts",
}
"""The heading of each kind of fact, in the order of the files."""

LONGEST = 4_000
CUT = "[…]"
_MARKER = re.compile(r"<!--\s*(?P<id>[\w.:-]{1,80})\s+(?P<text>[0-9a-f]{8})\.(?P<details>[0-9a-f]{8})\s*-->")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]")
_BREAK = re.compile("\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]")
_RULE = re.compile(r"[-\s]+")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}([T ][0-9:.,+\-Z]+)?")
_SURE = re.compile(r"confidence:? *(?P<number>\d*[.,]?\d+)(?P<share> *%)?", re.IGNORECASE)
_NAMED = re.compile(r"(?P<name>why|tags): *(?P<value>.*)|from (?P<origin>user|agent|tool|external)", re.IGNORECASE | re.DOTALL)
_INLINE = re.compile(r"\s*(\([^()]*\))\s*$")


@dataclass(frozen=True)
class Marker:
    """The comment at the end of a bullet: the fact's id, and hashes of text and details as they were written."""

    id: str
    text: str
    details: str


@dataclass(frozen=True)
class Details:
    """The details of a bullet as strings; None for one that is not there, `unread` for pieces that say nothing known."""

    date: str | None = None
    confidence: str | None = None
    origin: str | None = None
    why: str | None = None
    tags: str | None = None
    unread: tuple[str, ...] = ()

    def line(self) -> str:
        """`(2026-03-02 · confidence 0.9 · …)`."""
        parts = (
            self.date, self.confidence and f"confidence {self.confidence}", self.origin and f"from {self.origin}",
            self.why and f"why: {self.why}", self.tags and f"tags: {self.tags}",
        )  # fmt: skip
        return f"({' · '.join(p for p in (*parts, *self.unread) if p)})"


@dataclass(frozen=True)
class Bullet:
    """One entry of a file. `under` is its kind of fact by its section, `headings` those over it, `about` the nearest if it names no kind, `topic`
    its file's."""

    file: str
    line: int
    text: str
    details: Details | None
    marker: Marker | None
    under: FactKind
    topic: str | None = None
    headings: tuple[str, ...] = ()
    about: str | None = None

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"


def standing(fact: Fact, now: datetime) -> bool:
    """True for a fact that is believed, holds now, and may be shown."""
    ended = fact.valid_to is not None and fact.valid_to <= now
    return fact.retracted_at is None and not ended and fact.status not in {"deprecated", "archived", "quarantine"}


def mark(text: str) -> str:
    """Eight hexadecimal digits of a text, blind to white space."""
    return hashlib.sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def shown(text: str) -> str:
    """The text as it stands in a file: what would end the bullet, or forge a marker, is written in another way."""
    clean = _CONTROL.sub("\ufffd", "\n".join(_BREAK.split(text))).strip()
    clean = neutral(clean).replace("<!--", "&lt;!--").replace("-->", "--&gt;")
    if len(clean) > LONGEST:
        clean = f"{clean[:LONGEST].rstrip()} {CUT}"
    first, _, rest = clean.partition("\n")
    first = f"\\{first}" if first.startswith("\\-") or _RULE.fullmatch(first) else first
    return f"{first}\n{rest}" if rest else first


def meant(text: str) -> str:
    """The text that a bullet shows: `shown` undone as far as it can be."""
    text = text[1:] if text.startswith("\\") and (text[1:].startswith("\\-") or _RULE.fullmatch(text[1:].partition("\n")[0])) else text
    return text.replace("&lt;!--", "<!--").replace("--&gt;", "-->").strip()


def one_line(text: str) -> str:
    """The same within a line of details."""
    return " ".join(shown(text).replace("·", "-").split())


def details_of(fact: Fact) -> Details:
    """The details of a fact as its bullet shows them."""
    origin = None if fact.trust in {"user", "agent"} else fact.trust
    tags = ", ".join(t for t in (one_line(t).replace(",", ";") for t in fact.tags) if t)
    sure = f"{fact.confidence:.4f}".rstrip("0").rstrip(".") or "0"
    return Details(day(fact.at), sure, origin, one_line(fact.why) or None, tags or None)


def day(at: datetime) -> str:
    """`YYYY-MM-DD`, also before the year 1000."""
    return at.date().isoformat()


def bullet(fact: Fact) -> str:
    """The fact's lines, without a newline at the end."""
    text, details = shown(fact.text), details_of(fact).line()
    lines = text.split("\n")
    rest = "".join(f"\n  {line}".rstrip() if line.strip() else "\n" for line in lines[1:])
    return f"- {lines[0]}{rest}\n  {details} <!-- {fact.id} {mark(text)}.{mark(details)} -->"


def markers(line: str) -> list[Marker]:
    """The markers in a line."""
    return [Marker(m["id"], m["text"], m["details"]) for m in _MARKER.finditer(line)]


def unmarked(line: str) -> str:
    """The line without its markers."""
    return _MARKER.sub("", line).rstrip()


def parted(lines: list[str], *, marked: bool) -> tuple[str, Details | None]:
    """The text of an entry, and its details: the last line in parentheses, or parentheses at the end of the last line.

    Of an entry without a marker, parentheses are details only if everything in them is understood.
    """
    for n in range(len(lines) - 1, -1, -1):
        alone = lines[n].strip()
        if n and alone.startswith("(") and alone.endswith(")") and (read := _details(alone, strict=not marked)) is not None:
            return "\n".join([*lines[:n], *lines[n + 1 :]]).strip(), read
    text = "\n".join(lines).strip()
    found = _INLINE.search(text)
    read = _details(found[1], strict=True) if found and text[: found.start()].strip() else None
    if found is None or read is None:
        return text, None
    return text if read == Details(date=read.date) else text[: found.start()].strip(), read  # a date alone may belong to the sentence


def _details(text: str, *, strict: bool) -> Details | None:
    inner = " ".join(text[1:-1].split())
    values: dict[str, str] = {}
    unread: list[str] = []
    for piece in re.split(r" ?· ?" if "·" in inner else r"; ", inner):
        name, value = _piece(piece.strip())
        if name and name not in values:
            values[name] = value
        elif piece.strip():
            unread.append(piece.strip())
    if not values or (strict and unread):
        return None
    return Details(
        values.get("date"), values.get("confidence"), values.get("origin"), values.get("why"), values.get("tags"), tuple(unread)
    )  # fmt: skip


def _piece(piece: str) -> tuple[str, str]:
    if _DAY.fullmatch(piece):
        return "date", piece
    if found := _SURE.fullmatch(piece):
        number = found["number"].replace(",", ".")
        return "confidence", f"{float(number) / 100:g}" if found["share"] else number
    if found := _NAMED.fullmatch(piece):
        return ("origin", found["origin"]) if found["origin"] else (found["name"].lower(), found["value"].strip())
    return "", ""


def date_in(value: str) -> datetime | None:
    """The instant that a date of a bullet is, if it is one."""
    try:
        return instant(value)
    except BadTime:
        return None


def confidence_in(value: str) -> float | None:
    """The confidence that a bullet says, if it is within 0 and 1."""
    try:
        found = float(value)
    except ValueError:
        return None
    return found if 0 <= found <= 1 else None


def tags_in(value: str | None) -> tuple[str, ...]:
    """The tags that a bullet says, each once."""
    return tuple(dict.fromkeys(t.strip().lstrip("#") for t in (value or "").split(",") if t.strip().lstrip("#")))

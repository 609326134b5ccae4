"""A file to read: opened, decompressed and cut into lines, never more of it in memory than a line (or one JSON document)."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, Literal

from leporello.errors import FormatError, InputError
from leporello.formats import jsontext
from leporello.formats.jsontext import Element

MAX_DOCUMENT = 256 * 1024 * 1024
_HEAD = 2 * 1024 * 1024
_LONGEST_HEAD = 64 * 1024 * 1024
_CHUNK = 256 * 1024
_BOM = b"\xef\xbb\xbf"
_MAGIC = {
    b"SQLite format 3\x00": "a SQLite database",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"%PDF": "a PDF document",
    b"PK\x03\x04": "a ZIP archive",
    b"\x28\xb5\x2f\xfd": "a Zstandard archive",
    b"\xfd7zXZ\x00": "an XZ archive",
    b"BZh": "a bzip2 archive",
    b"\x7fELF": "a program",
    b"PAR1": "a Parquet file",
    b"\xff\xfe": "text in UTF-16",
    b"\xfe\xff": "text in UTF-16",
}


@dataclass(frozen=True)
class Line:
    """A line without its newline. `number` counts from 1; `ended` is False for one that the end of the file cuts off."""

    number: int
    raw: bytes
    ended: bool


@dataclass(frozen=True)
class Look:
    """What the head of a file shows. `values` are the JSON values of its first lines, or as much of the document as is seen.
    `whole`: the head is the whole file.

    kind: empty, binary, lines (JSONL), document (one JSON value) or text.
    """

    kind: Literal["empty", "binary", "lines", "document", "text"]
    text: str = ""
    values: tuple[Any, ...] = ()
    binary: str = ""
    whole: bool = True


class Source:
    """One file on disk, gzip-compressed or not. It may be read more than once; each reading starts at the beginning."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.broken: str | None = None
        self._raw: BinaryIO | None = None
        try:
            self.total = self.path.stat().st_size
            with self.path.open("rb"):
                pass
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise InputError(f"{path} cannot be opened: {reason}.", hint="Check the path and its permissions.") from error

    @property
    def done(self) -> int:
        """Bytes of the file that were read so far, of `total`."""
        return self.total if self._raw is None or self._raw.closed else self._raw.tell()

    def chunks(self) -> Iterator[bytes]:
        """The bytes, decompressed, without a byte order mark. Damage in the compression ends them and is told in `broken`."""
        self.broken = None
        with self.path.open("rb") as raw:
            self._raw = raw
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            stream: Any = gzip.GzipFile(fileobj=raw) if packed else raw
            first = True
            while True:
                try:
                    chunk = stream.read1(_CHUNK) if packed else stream.read(_CHUNK)
                except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                    self.broken = f"the compressed data is damaged: {error}"
                    if first:
                        raise FormatError(
                            f"{self.path.name}: {self.broken}.", hint="Fetch the file again, or unpack what is left of it."
                        ) from error
                    return
                if not chunk:
                    return
                yield chunk.removeprefix(_BOM) if first else chunk
                first = False

    def lines(self) -> Iterator[Line]:
        """The lines, cut at newline bytes only: other separators of Unicode stay inside their strings."""
        number = 0
        held: list[bytes] = []
        for chunk in self.chunks():
            *whole, rest = chunk.split(b"\n")
            for piece in whole:
                number += 1
                held.append(piece)
                yield Line(number, b"".join(held), ended=True)
                held.clear()
            held.append(rest)
        if last := b"".join(held):
            yield Line(number + 1, last, ended=False)

    def records(self) -> Iterator[Element]:
        """Each line that is not blank, as JSON."""
        for line in self.lines():
            if line.raw.strip():
                yield jsontext.element(f"line {line.number}", line.number, jsontext.decoded(line.raw))
        yield from self.damage()

    def elements(self) -> Iterator[Element]:
        """The elements of the array that the file is, or the records of its lines."""
        if self.look.kind != "document" or not self.look.text.lstrip().startswith("["):
            yield from self.records()
            return
        text = self.text()
        yield from jsontext.array(text, jsontext.skip_space(text, 0))
        yield from self.damage()

    def damage(self) -> Iterator[Element]:
        """One element without bytes if the compression was damaged, so that a short file is not taken for a whole one."""
        if self.broken is not None:
            yield Element("end", -1, b"", why=self.broken)

    def text(self) -> str:
        """The whole file; what is not UTF-8 becomes lone surrogates. `FormatError` beyond `MAX_DOCUMENT` bytes."""
        held = bytearray()
        for chunk in self.chunks():
            held += chunk
            if len(held) > MAX_DOCUMENT:
                raise FormatError(
                    f"{self.path.name} is one document of more than {MAX_DOCUMENT >> 20} MB.",
                    hint="Convert it to JSON Lines: those are streamed.",
                )
        return jsontext.decoded(bytes(held))

    @cached_property
    def look(self) -> Look:
        """What the first two megabytes show, or the first line if it is longer."""
        held = bytearray()
        whole, lined = True, False
        for chunk in self.chunks():
            held += chunk
            lined = lined or b"\n" in chunk
            if len(held) >= (_HEAD if lined else _LONGEST_HEAD):
                whole = False
                break
        raw = bytes(held)
        if not raw.strip():
            return Look("empty")
        if (binary := _binary(raw)) is not None:
            return Look("binary", binary=binary)
        text = jsontext.decoded(raw)
        return replace(_json(text) or Look("text", text), whole=whole)


def _binary(raw: bytes) -> str | None:
    for magic, name in _MAGIC.items():
        if raw.startswith(magic):
            return name
    head = raw[:4096]
    if b"\x00" in head:
        return "binary data"
    controls = sum(b < 32 and b not in b"\t\n\r\f\x1b" for b in head)
    return "binary data" if controls > len(head) // 20 else None


def _json(text: str) -> Look | None:
    """The head as JSONL or as a JSON document; None if it is neither.

    A document may be spread over lines of its own, so only objects that start a line and are whole count as JSONL.
    """
    rows = [row for row in text.split("\n") if row.strip()][:50]
    values = [_value(row) for row in rows]
    objects = tuple(v for row, v in zip(rows, values, strict=True) if row[0] == "{" and isinstance(v, dict))
    first = rows[0].lstrip()[:1]
    if first not in {"{", "["}:
        return Look("lines", text, objects) if objects else None
    if values[0] is not None and (len(rows) > 1 or first == "{"):
        return Look("lines", text, tuple(v for v in values if v is not None))
    if values[0] is None and objects and rows[0].strip() != "[":
        return Look("lines", text, objects)
    return Look("document", text, (jsontext.glimpse(text[:_HEAD]),))


def _value(row: str) -> Any:
    try:
        return jsontext.parse(row)
    except jsontext.BadJson:
        return None

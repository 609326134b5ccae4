"""The folder: reading it whole, writing it file by file so that each is old or new, and taking erased lines out."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from leporello.errors import InputError, StoreUnreachable
from leporello.formats.project.bullets import mark, markers
from leporello.formats.project.index import JSON_INDEX, same, types_in, without
from leporello.formats.project.names import folded
from leporello.formats.project.parse import INDEX, Page, entry_lines, entry_text, parse, pointer_in
from leporello.formats.project.render import NOTES, Kept, shortened

_TEMPORARY = ".leporello-"
_MAX_FILES = 2_000


@dataclass(frozen=True)
class Held:
    """What a folder holds: our pages, their bytes, and the other files, which are not ours to write."""

    pages: tuple[Page, ...] = ()
    raw: Mapping[str, bytes] = field(default_factory=dict)
    foreign: tuple[str, ...] = ()


def scan(folder: str, known: Collection[str] = (), *, make: bool = False) -> Held:
    """Reads a folder. Ours are the index, the files of `known`, those that the index points to, and those with a type in front.

    Raises `InputError` if the folder cannot be read. With `make`, one that is not there is empty.
    """
    place = Path(folder)
    try:
        if make and not place.exists():
            return Held()
        names = sorted(e.name for e in os.scandir(place) if e.is_file() and not e.name.startswith("."))
        pages: dict[str, Page] = {}
        raw: dict[str, bytes] = {}
        for name in [n for n in names if n.lower().endswith(".md")][:_MAX_FILES]:
            raw[name] = (place / name).read_bytes()
            pages[name] = parse(name, raw[name])
        for name in {JSON_INDEX} & set(names):
            raw[name] = (place / name).read_bytes()
    except (OSError, ValueError) as error:
        raise InputError(
            f"{folder!r:.200} cannot be read: {error}.", hint="Check that the folder is there, and its permissions."
        ) from error
    pointed = {folded(p.removeprefix("./")) for p in (pages[INDEX].pointers if INDEX in pages else ())}
    listed = pointed | {folded(n) for n in known} | {folded(INDEX)}
    mine = {n: p for n, p in pages.items() if folded(n) in listed or (p.is_topic and not p.problem)}
    ours = {folded(n) for n in mine} | {JSON_INDEX}
    return Held(tuple(mine.values()), raw, tuple(n for n in names if folded(n) not in ours))


def kept_in(held: Held) -> dict[str, Kept]:
    """What people wrote beside bullets, by topic. What they wrote into the index goes to a topic of its own.

    A type is theirs if it is not the one that was written.
    """
    worked_out = types_in(held.raw.get(JSON_INDEX, b""))
    out: dict[str, Kept] = {}
    for page in held.pages:
        if page.problem:
            continue
        if folded(page.name) == folded(INDEX):
            front = (f"```yaml\n{page.head}\n```",) if page.head else ()
            name, made = NOTES, Kept(prose=(*front, *page.prose))
        else:
            name = page.topic or Path(page.name).stem
            told = page.front.get("type") if page.is_topic and worked_out.get(page.name) not in {None, page.front.get("type")} else None
            made = Kept(page.name, page.title, told, page.description, page.extra, tuple(page.prose))
        key = same(name)
        old = next((n for n in out if same(n) == key), None)
        if old is None:
            out[name] = made
        else:
            first = out[old]
            out[old] = Kept(
                first.name or made.name, first.title or made.title, first.type or made.type, first.description or made.description, first.extra or made.extra,
                (*first.prose, *(p for p in made.prose if p not in first.prose)),
            )  # fmt: skip
    return out


def apply(folder: str, files: Mapping[str, str], held: Held, *, drop: Iterable[str] = ()) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Writes the files that differ from what is held, and removes `drop`; the names of both.

    A file that changed since it was read is left alone: `InputError`. The JSON index goes last.
    """
    place = Path(folder)
    written, removed = [], []
    try:
        place.mkdir(parents=True, exist_ok=True)
        for name in sorted(files, key=lambda n: (n == JSON_INDEX, n == INDEX, n)):
            new = files[name].encode()
            if held.raw.get(name) != new:
                _untouched(place / name, held.raw.get(name))
                replace(place / name, new)
                written.append(name)
        for name in drop:
            _untouched(place / name, held.raw.get(name))
            (place / name).unlink(missing_ok=True)
            removed.append(name)
    except (OSError, ValueError) as error:
        raise StoreUnreachable(f"{folder!r:.200}: {error}.", hint="Check that the folder may be written.") from error
    return tuple(written), tuple(removed)


def replace(path: Path, new: bytes) -> None:
    """Puts these bytes in the place of a file, at once, and on disk when it returns; its permissions stay."""
    number, name = tempfile.mkstemp(prefix=_TEMPORARY, suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(new)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, path.stat().st_mode & 0o777 if path.exists() else 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def drop_lines(folder: str, ids: Collection[str], *, marks: Collection[str] = ()) -> int:
    """Takes the bullets of these facts out of every file of a folder, and what the indexes say of them; how many bullets went.

    `marks` are those of the texts of bullets that bear no marker yet (`Written.taken`).

    A topic file that holds nothing else goes too. Works on files that cannot be read otherwise. A folder that is gone holds nothing.
    """
    place, wanted = Path(folder), frozenset(ids)
    dropped, left, empty = 0, {}, set()
    if not wanted or not place.is_dir():
        return 0
    try:
        for stale in place.glob(f"{_TEMPORARY}*.tmp"):
            stale.unlink(missing_ok=True)
        for path in sorted(p for p in place.iterdir() if p.is_file() and p.suffix.lower() == ".md"):
            raw = path.read_bytes()
            if not marks and not any(i.encode() in raw for i in wanted):
                continue
            count, new, rest = _without(path.name, raw, wanted, frozenset(marks))
            dropped += count
            if count and rest == 0 and folded(path.name) != folded(INDEX):
                empty.add(path.name)
                path.unlink()
            elif count:
                left[path.name] = rest
                replace(path, new)
        if dropped or (place / JSON_INDEX).exists():
            _drop_from_indexes(place, wanted, left, frozenset(empty))
    except (OSError, ValueError) as error:
        raise StoreUnreachable(f"{folder!r:.200}: {error}.", hint="Check that the folder may be written, and erase again.") from error
    return dropped


def _without(name: str, raw: bytes, ids: frozenset[str], marks: frozenset[str]) -> tuple[int, bytes, int]:
    """How many bullets go, the bytes that stay, and how many bullets or blocks of text are in these."""
    text = raw.decode("utf-8", "surrogateescape")
    lines = text.split("\n")
    gone: set[int] = set()
    count = 0
    for own in entry_lines(lines):
        if any(m.id in ids for i in own for m in markers(lines[i])) or (
            marks and mark(entry_text([lines[i] for i in sorted(own)])) in marks
        ):
            count += 1
            gone |= own
    new = "\n".join(line for i, line in enumerate(lines) if i not in gone).encode("utf-8", "surrogateescape")
    page = parse(name, new)
    return count, new, 1 if page.problem else len(page.bullets) + len(page.prose) + bool(page.extra or page.description)


def _drop_from_indexes(place: Path, ids: frozenset[str], left: Mapping[str, int], empty: frozenset[str]) -> None:
    index = place / INDEX
    if index.exists() and (left or empty):
        out = []
        for line in index.read_bytes().decode("utf-8", "surrogateescape").split("\n"):
            target = pointer_in(line.lstrip("-*+ \t"))
            if target not in empty:
                out.append(shortened(line, left[target]) if target is not None and target in left else line)
        replace(index, "\n".join(out).encode("utf-8", "surrogateescape"))
    table = place / JSON_INDEX
    if table.exists():
        text = table.read_bytes().decode("utf-8", "surrogateescape")
        new = without(text, ids, empty) if any(i in text for i in ids) or empty else text
        if new is None:
            table.unlink()
        elif new != text:
            replace(table, new.encode())


def _untouched(path: Path, before: bytes | None) -> None:
    now = path.read_bytes() if path.exists() else None
    if now != before:
        raise InputError(f"{path.name} was changed meanwhile.", hint="Read the folder with `read_project`, then write it again.")


def _sync_folder(folder: Path) -> None:
    """Makes the renaming itself durable, where a folder can be opened."""
    if os.name == "posix":
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)

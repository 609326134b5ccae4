"""Replacing a file whole, with what leaves it appended elsewhere first; a process may be killed at any point of it.

In this order: the new file is written beside the old one and synced; a journal says what is about to happen; what leaves is
appended to the side files and synced; the new file takes the old one's place; the journal goes. Whoever comes next and
finds a journal ends the change or takes it back: the new file still has its temporary name if and only if nothing
was replaced yet, and then what was appended is taken out again. So nothing is lost and nothing is there twice.

Writers that do not know the lock are reckoned with. What they append while the change is prepared is carried over; when
they replace or overwrite the file meanwhile, the change starts anew. After the replacement the old file is watched until
nobody has it open any more (half a second at most). What remains: a program that keeps the old file open for longer than
that and then writes into it, and one killed right between the replacement and the carrying over of such late lines.
"""

from __future__ import annotations

import json
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import FileIO
from typing import Any

from leporello.errors import LockedStore, ReadOnlyStore, StoreError, StoreUnreachable
from leporello.tickfile.lines import Entry, lines
from leporello.tickfile.lock import wait_for_writers

ATTEMPTS = 8
_LATE = 0.5
_BINARY = getattr(os, "O_BINARY", 0)
_RUNS = ("_archived_run", "run")


@dataclass(frozen=True)
class Place:
    """The paths of a memory file, the files beside it included. A symbolic link is followed: they lie beside what it names."""

    file: str
    archive: str
    quarantine: str
    lock: str
    journal: str

    @classmethod
    def of(cls, path: str) -> Place:
        """The paths that belong to `path`."""
        if not path or "\x00" in path:
            raise StoreUnreachable(f"{path!r} is no path.")
        real = os.path.realpath(path)
        folder, name = os.path.split(real)
        stem = name.removesuffix(".jsonl")
        side = {s: os.path.join(folder, f"{stem}.{s}.jsonl") for s in ("archive", "quarantine")}
        return cls(real, side["archive"], side["quarantine"], f"{real}.lock", os.path.join(folder, f".{name}.journal"))

    @property
    def folder(self) -> str:
        """Where all of them lie."""
        return os.path.dirname(self.file)

    def path(self, role: str) -> str:
        """The path of the file, the archive or the quarantine."""
        return {"file": self.file, "archive": self.archive, "quarantine": self.quarantine}[role]

    def is_temporary(self, name: object) -> bool:
        """True for the name of a file that is on its way to become one of these."""
        start = f".{os.path.basename(self.file)}."
        return isinstance(name, str) and name.startswith(start) and name.endswith(".tmp") and os.path.basename(name) == name


@dataclass(frozen=True)
class Change:
    """What shall become of the file. `new` None changes nothing at all.

    Lines of `archived` and `quarantined` are appended to the side files; `archive` replaces the archive.
    """

    new: bytes | None = None
    run: str = ""
    archived: bytes = b""
    quarantined: bytes = b""
    archive: bytes | None = None


@contextmanager
def mapped(path: str) -> Iterator[None]:
    """Maps the system's errors to ours, once."""
    try:
        yield
    except (NotADirectoryError, FileNotFoundError, IsADirectoryError) as error:
        raise StoreUnreachable(f"{path}: {error.strerror}.") from error
    except PermissionError as error:
        raise ReadOnlyStore(f"{path}: {error.strerror}.", hint="Check the permissions of the file and of its folder.") from error
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror or error}.", hint="The disk or the file system failed; no line was lost.") from error


def content(path: str) -> bytes:
    """The bytes of a file; none if there is no such file."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def append(path: str, data: bytes) -> None:
    """Adds whole lines to a file, made if it is missing, behind a newline if its last line has none; on disk when it returns."""
    number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _BINARY, 0o666)
    try:
        size = os.fstat(number).st_size
        if size:
            os.lseek(number, size - 1, os.SEEK_SET)
            if os.read(number, 1) != b"\n":
                data = b"\n" + data
        _write(number, data)
    finally:
        os.close(number)
    if not size:
        sync_folder(os.path.dirname(path))


def rewrite(place: Place, plan: Callable[[bytes], Change]) -> None:
    """Replaces the file by what `plan` makes of its bytes; the lock is held. `plan` is called again if another program interferes.

    Raises `LockedStore` if others rewrite the file all the time.
    """
    recover(place)
    if os.path.exists(place.file) and not os.path.isfile(place.file):
        raise StoreError(f"{place.file} is no regular file.", hint="Name a file of JSON lines.")
    for _ in range(ATTEMPTS):
        with open(os.open(place.file, os.O_RDONLY | os.O_CREAT | _BINARY, 0o666), "rb", buffering=0) as file:
            if not os.access(place.file, os.W_OK):
                raise ReadOnlyStore(f"{place.file} may not be written.")
            data = file.readall()
            change = plan(data)
            if change.new is None or _done(place, file, data, change):
                return
    raise LockedStore(f"{place.file} is rewritten by another program again and again.")


def recover(place: Place) -> None:
    """Ends or takes back what a killed process left, and removes its temporary files; the lock is held."""
    journal = _journal(place)
    if journal is not None:
        temporary = journal["temporary"]
        if os.path.exists(os.path.join(place.folder, temporary[0][1])):
            for role, size in journal["sizes"].items():
                _take_back(place, place.path(role), size, journal["run"])
        else:
            for role, name in temporary[1:]:
                with suppress(FileNotFoundError):
                    os.replace(os.path.join(place.folder, name), place.path(role))
        sync_folder(place.folder)
    with suppress(FileNotFoundError):
        os.unlink(place.journal)
    for name in os.listdir(place.folder):
        if place.is_temporary(name):
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(place.folder, name))


def sync_folder(folder: str) -> None:
    """Makes new names in a folder durable, where a folder can be opened."""
    if os.name == "posix":
        number = os.open(folder or ".", os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _done(place: Place, file: FileIO, data: bytes, change: Change) -> bool:
    """Carries the change out; False if the file is no longer what it was, and then nothing has changed."""
    try:
        temporary = _prepared(place, file, change)
        late = _late(place, file, data)
        if late is None:
            recover(place)
            return False
        if late:
            _append_raw(os.path.join(place.folder, temporary[0][1]), late)
        if os.name == "nt":
            file.close()  # Windows does not replace an open file
        for role, name in temporary:
            os.replace(os.path.join(place.folder, name), place.path(role))
        sync_folder(place.folder)
        with suppress(FileNotFoundError):
            os.unlink(place.journal)
    except BaseException:
        recover(place)
        raise
    if not file.closed:
        wait_for_writers(file.fileno(), timeout=_LATE)
        if later := _rest(file, len(data) + len(late)):
            _append_raw(place.file, later)
    return True


def _prepared(place: Place, file: FileIO, change: Change) -> list[tuple[str, str]]:
    """Writes the new files under temporary names, the journal, and what goes to the side files; what is to be renamed to what."""
    sides = {role: more for role, more in (("archive", change.archived), ("quarantine", change.quarantined)) if more}
    temporary = [("file", _staged(place, change.new or b"", os.fstat(file.fileno())))]
    if change.archive is not None:
        temporary.append(("archive", _staged(place, change.archive, os.stat(place.archive))))
    if sides or len(temporary) > 1:
        sizes = {role: len(content(place.path(role))) for role in sides}
        _keep_journal(place, {"run": change.run, "sizes": sizes, "temporary": temporary})
    for role, more in sides.items():
        append(place.path(role), more)
    return temporary


def _late(place: Place, file: FileIO, data: bytes) -> bytes | None:
    """What was appended since the file was read; None if it was replaced, removed or overwritten."""
    try:
        now, then = os.stat(place.file), os.fstat(file.fileno())
    except FileNotFoundError:
        return None
    whole = _rest(file, 0)
    same = (now.st_dev, now.st_ino) == (then.st_dev, then.st_ino) and whole.startswith(data)
    return whole[len(data) :] if same else None


def _staged(place: Place, data: bytes, like: os.stat_result) -> str:
    """The name of a new file with these bytes, on disk, with the permissions and the owner of another."""
    name = f".{os.path.basename(place.file)}.{secrets.token_hex(8)}.tmp"
    number = os.open(os.path.join(place.folder, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)
    try:
        _write(number, data)
        if _other_owner(like):
            with suppress(PermissionError):
                os.fchown(number, like.st_uid, like.st_gid)
        os.chmod(os.path.join(place.folder, name), stat.S_IMODE(like.st_mode))
    finally:
        os.close(number)
    return name


def _other_owner(like: os.stat_result) -> bool:
    return hasattr(os, "fchown") and (like.st_uid, like.st_gid) != (os.geteuid(), os.getegid())


def _write(number: int, data: bytes) -> None:
    """One write, as a rule; more only if the system takes less at once. Then on disk."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(number, rest) :]
    os.fsync(number)


def _append_raw(path: str, data: bytes) -> None:
    number = os.open(path, os.O_WRONLY | os.O_APPEND | _BINARY)
    try:
        _write(number, data)
    finally:
        os.close(number)


def _rest(file: FileIO, start: int) -> bytes:
    """The bytes of an open file from `start` on."""
    file.seek(start)
    return file.readall()


def _keep_journal(place: Place, journal: dict[str, Any]) -> None:
    name = f".{os.path.basename(place.file)}.{secrets.token_hex(8)}.tmp"
    path = os.path.join(place.folder, name)
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        _write(number, json.dumps(journal).encode())
    finally:
        os.close(number)
    os.replace(path, place.journal)
    sync_folder(place.folder)


def _journal(place: Place) -> dict[str, Any] | None:
    """The journal that was left, if there is one and it is ours."""
    try:
        journal = json.loads(content(place.journal))
        temporary, sizes = journal["temporary"], journal["sizes"]
        ours = all(role in {"file", "archive"} and place.is_temporary(name) for role, name in temporary)
        ours = ours and all(role in {"archive", "quarantine"} and isinstance(size, int) and size >= 0 for role, size in sizes.items())
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return journal if ours and temporary and isinstance(journal.get("run"), str) else None


def _take_back(place: Place, path: str, size: int, run: str) -> None:
    """Takes what a run appended to a side file out of it again; what others appended behind it stays."""
    data = content(path)
    kept = b""
    for line in lines(data[size:]):
        fields = line.held.fields if isinstance(line.held, Entry) else {}
        if line.ended and line.held is not None and run not in {fields.get(name) for name in _RUNS if isinstance(fields.get(name), str)}:
            kept += line.raw + b"\n"
    if kept:
        name = _staged(place, data[:size] + kept, os.stat(path))
        os.replace(os.path.join(place.folder, name), path)
    elif size:
        os.truncate(path, size)
    else:
        with suppress(FileNotFoundError):
            os.unlink(path)

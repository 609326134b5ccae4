"""Opening the file: what it is, whether it may be used, and connections to it.

WAL, `synchronous=FULL` (acknowledged means fsynced), `secure_delete`, foreign keys, temporary data in memory only.
Facts behind each setting: an unsynchronised WAL may lose the newest commits on power loss; without `secure_delete` deleted
text stays readable in free pages; BEGIN IMMEDIATE is the only way to write without "database is locked" at once.
"""

from __future__ import annotations

import os
import stat
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from leporello.adapters.sqlite.queries import migrations
from leporello.errors import (
    CorruptStore,
    KeyNeeded,
    LockedStore,
    NewerStore,
    NotAStore,
    ReadOnlyStore,
    StoreClosed,
    StoreError,
    StoreUnreachable,
)  # fmt: skip

APPLICATION_ID = 0x4C45504F
WAIT_MS = 120_000
_HEADER = b"SQLite format 3\x00"
_LOOKS = 5
_CHECKED_BYTES = 8 * 1024 * 1024


@contextmanager
def mapped(path: str) -> Iterator[None]:
    """Maps the database's errors to ours, once."""
    try:
        yield
    except apsw.NotADBError as e:
        raise (KeyNeeded if _looks_encrypted(path) else NotAStore)(f"{path} is no readable database.") from e
    except apsw.CorruptError as e:
        raise CorruptStore(f"{path}: {e}.") from e
    except apsw.ReadOnlyError as e:
        raise ReadOnlyStore(f"{path} cannot be written.") from e
    except (apsw.BusyError, apsw.LockedError) as e:
        raise LockedStore(f"{path} was held by another program for {WAIT_MS // 1000} s.") from e
    except (apsw.CantOpenError, apsw.PermissionsError, apsw.AuthError) as e:
        raise StoreUnreachable(f"{path}: {e}.") from e
    except apsw.FullError as e:
        raise StoreError(f"{path}: the disk is full.", hint="Free some space; what was acknowledged is kept.") from e
    except apsw.IOError as e:
        raise StoreError(f"{path}: {e}.", hint="The disk or the file system failed; what was acknowledged is kept.") from e
    except UnicodeDecodeError as e:
        raise CorruptStore(f"{path} holds text that is damaged: {e}.") from e
    except (apsw.ConnectionClosedError, apsw.CursorClosedError) as e:
        raise StoreClosed(path) from e


class Connections:
    """Connections to one file: one to write, a pool to read. Safe for threads, and after a fork."""

    def __init__(self, path: str, *, key: str | None, read_only: bool) -> None:
        self.path = path
        self.read_only = read_only
        self.memory = path == ":memory:"
        self._key = key
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._pool_lock = threading.Lock()
        self._idle: list[apsw.Connection] = []
        self._writer: apsw.Connection | None = None
        self._closed = False
        self._left: list[apsw.Connection | None] = []
        if not self.memory:
            _examine(path, read_only=read_only, keyed=key is not None)
        with mapped(path), self.writing(begin=False):
            pass
        _OPEN.add(self)

    @property
    def closed(self) -> bool:
        """True after `close`."""
        return self._closed

    @property
    def identity(self) -> tuple[int, int] | None:
        """Device and number of the file, whatever its path is called; None if there is none (any more)."""
        try:
            held = os.stat(self.path)
        except OSError:
            return None
        return held.st_dev, held.st_ino

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """A connection in a read transaction: one snapshot."""
        if self.memory:
            with self.writing(begin=False) as db:
                yield db
            return
        db = self._take()
        try:
            with mapped(self.path):
                db.execute("BEGIN")
                try:
                    yield db
                finally:
                    if db.in_transaction:
                        db.execute("ROLLBACK")
        finally:
            with self._pool_lock:
                if self._closed:
                    db.close()
                else:
                    self._idle.append(db)

    @contextmanager
    def writing(self, *, begin: bool = True) -> Iterator[apsw.Connection]:
        """The write connection, held by one thread at a time, in a transaction that commits when the block ends well."""
        self._check()  # before the lock: a fork makes new ones
        with self._lock, mapped(self.path):
            self._check()
            if self._writer is None:
                self._writer = self._open()
            db = self._writer
            if not begin or db.in_transaction:
                yield db
                return
            if self.read_only:
                raise ReadOnlyStore(f"{self.path} was opened read-only.")
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if not db.get_autocommit():
                    db.execute("ROLLBACK")
                raise

    def fresh(self, path: str) -> apsw.Connection:
        """A new connection to another path, with the same key: the target of a backup."""
        db = apsw.Connection(path)
        if self._key is not None:
            db.pragma("key", self._key)
        return db

    def close(self) -> None:
        """Closes every connection; the last one folds the write-ahead log into the file."""
        self._mine()
        with self._lock, self._pool_lock:
            self._closed = True
            self._close_unused()

    def pause(self) -> None:
        """Waits for the writer of another thread, closes what is not in use, and holds everything until `resume`."""
        self._lock.acquire()
        self._pool_lock.acquire()
        if not self.memory:
            self._close_unused()

    def resume(self) -> None:
        """Goes on; connections are opened again when they are needed."""
        self._pool_lock.release()
        self._lock.release()

    def _close_unused(self) -> None:
        for db in self._idle:
            db.close()
        self._idle.clear()
        if self._writer is not None and (self._closed or self._writer.get_autocommit()):
            self._writer.close()
            self._writer = None

    def _check(self) -> None:
        if self._closed:
            raise StoreClosed(self.path)
        self._mine()

    def _mine(self) -> None:
        """After a fork in the midst of a transaction the child leaves the parent's connections alone, and never closes them."""
        if self._pid != os.getpid() and not self.memory:
            self._left = [*self._idle, self._writer]
            self._lock, self._pool_lock = threading.RLock(), threading.Lock()
            self._idle, self._writer, self._pid = [], None, os.getpid()

    def _take(self) -> apsw.Connection:
        self._check()
        with self._pool_lock:
            if self._idle:
                return self._idle.pop()
        with mapped(self.path):
            return self._open()

    def _open(self) -> apsw.Connection:
        if self.read_only:
            return self._open_read_only()
        return self._ready(apsw.Connection(self.path))

    def _open_read_only(self) -> apsw.Connection:
        uri = Path(self.path).absolute().as_uri()
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        try:
            return self._ready(apsw.Connection(f"{uri}?mode=ro", flags=flags))
        except (apsw.CantOpenError, apsw.ReadOnlyError):
            # a folder that cannot be written has no room for the side files; without them a log that was left is not read
            if _has_log(self.path):
                raise
            return self._ready(apsw.Connection(f"{uri}?mode=ro&immutable=1", flags=flags))

    def _ready(self, db: apsw.Connection) -> apsw.Connection:
        """The connection, set up; closed again if the file cannot be used, and then nothing in the file has changed."""
        try:
            db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, int(_has_log(self.path)))
            db.set_busy_timeout(WAIT_MS)
            if self._key is not None:
                db.pragma("key", self._key)
            self._look(db)
            identify(db, self.path, newest=len(migrations()))
            for name, value in (("foreign_keys", 1), ("secure_delete", 1), ("synchronous", 2), ("temp_store", 2), ("cache_size", -16_000)):
                db.pragma(name, value)
            if not self.memory and not self.read_only:
                db.pragma("journal_mode", "wal")
            db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
        except BaseException:
            db.close()
            raise
        return db

    def _look(self, db: apsw.Connection) -> None:
        """The first look into the file: where a wrong key shows."""
        try:
            db.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        except apsw.NotADBError as e:
            if self._key is None:
                raise
            raise KeyNeeded(f"{self.path} cannot be read with this key.", hint="Pass the key that the file was made with.") from e


_OPEN: weakref.WeakSet[Connections] = weakref.WeakSet()
_PAUSED: list[Connections] = []


def _before_fork() -> None:
    """A connection and its locks must not cross a fork."""
    for connections in list(_OPEN):
        connections.pause()
        _PAUSED.append(connections)


def _after_fork() -> None:
    while _PAUSED:
        _PAUSED.pop().resume()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


def identify(db: apsw.Connection, path: str, *, newest: int) -> int:
    """The schema version of an open database, 0 for an empty one; anything that is not ours or newer is an error."""
    app, version = db.pragma("application_id"), db.pragma("user_version")
    tables = db.execute("SELECT count(*) FROM sqlite_schema").get
    if app != APPLICATION_ID and (tables or app):
        raise NotAStore(f"{path} is an SQLite database of another program.")
    if version > newest:
        raise NewerStore(f"{path} has schema {version}; this package knows up to {newest}.")
    return int(version)


def verify(db: apsw.Connection, path: str) -> None:
    """A quick check of a small file at open, so that damage is met before it is built upon."""
    if path != ":memory:" and os.path.getsize(path) <= _CHECKED_BYTES:
        found = db.pragma("quick_check", 1)
        if found != "ok":
            raise CorruptStore(f"{path}: {found}.")


def check_path(path: str) -> None:
    """Refuses what no file system can name."""
    try:
        named = bool(path) and "\x00" not in path and bool(os.fsencode(path))
    except UnicodeEncodeError:
        named = False
    if not named:
        raise StoreUnreachable(f"{path!r} is no path.")


def _examine(path: str, *, read_only: bool, keyed: bool) -> None:
    """What can be said of the file before it is opened."""
    check_path(path)
    try:
        held = os.stat(path)
    except FileNotFoundError:
        if read_only:
            raise StoreUnreachable(f"{path} does not exist.") from None
        parent = os.path.dirname(os.path.abspath(path))
        if not os.path.isdir(parent):
            raise StoreUnreachable(f"The folder {parent} does not exist.") from None
        return
    except OSError as e:
        raise StoreUnreachable(f"{path}: {e.strerror}.") from e
    if not stat.S_ISREG(held.st_mode):
        raise StoreUnreachable(f"{path} is not a file.")
    if not read_only and not held.st_mode & 0o222:
        raise ReadOnlyStore(f"{path} is marked read-only.")
    if (held.st_dev, held.st_ino) not in _files_in_use():
        _examine_patiently(path, keyed=keyed)


def _files_in_use() -> set[tuple[int, int]]:
    """The files that this process has open as stores. To open and close such a file otherwise would drop SQLite's locks on it.

    A file that is in use was examined when it was opened, and is no other kind of file now.
    """
    return {c.identity for c in list(_OPEN) if c.identity is not None and not c.closed}


def _examine_patiently(path: str, *, keyed: bool) -> None:
    """Looks again for a tenth of a second: another process that is just making the file will have finished then."""
    for left in range(_LOOKS, -1, -1):
        try:
            _examine_bytes(path, keyed=keyed)
            return
        except (NotAStore, CorruptStore):
            if not left:
                raise
            time.sleep(0.02)


def _examine_bytes(path: str, *, keyed: bool) -> None:
    """Refuses what is no store, or one that was cut short. The size is read last, because another process may be writing."""
    try:
        with open(path, "rb") as f:
            head = f.read(100)
            logged = _has_log(path)
            size = os.fstat(f.fileno()).st_size
    except OSError as e:
        raise StoreUnreachable(f"{path}: {e.strerror}.") from e
    if not head:
        return
    if not head.startswith(_HEADER):
        if size >= 512 and _looks_encrypted(path):
            return
        raise NotAStore(f"{path} is no database.")
    if keyed:
        raise NotAStore(f"{path} is not encrypted.", hint="Open it without a key.")
    page = int.from_bytes(head[16:18], "big") or 65536
    page = 65536 if page == 1 else page
    pages = int.from_bytes(head[28:32], "big")
    if not logged and (size < 512 or size < pages * page):
        raise CorruptStore(f"{path} is cut short: {size} of {pages * page} bytes.")


def _has_log(path: str) -> bool:
    """True if commits may lie in the write-ahead log, or be on their way, that are not in the file yet."""
    for side in ("-wal", "-journal"):
        try:
            if os.path.getsize(path + side) > 0:
                return True
        except OSError:
            continue
    return False


def _looks_encrypted(path: str) -> bool:
    """True for whole pages whose first bytes look like neither SQLite nor text: an encrypted file, as far as one can tell."""
    try:
        held = os.stat(path)
        if (held.st_dev, held.st_ino) in _files_in_use():
            return True
        size = held.st_size
        with open(path, "rb") as f:
            head = f.read(4096)
    except OSError:
        return False
    if head.startswith(_HEADER) or len(head) < 512 or size % 512:
        return False
    printable = sum(32 <= b < 127 or b in (9, 10, 13) for b in head)
    return printable < 0.6 * len(head) and len(set(head)) > 128

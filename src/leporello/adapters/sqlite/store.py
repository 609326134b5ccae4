"""The SQLite store: `ports.Store` on one file."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from leporello.adapters.sqlite.files import APPLICATION_ID, WAIT_MS, Connections, check_path, identify, mapped, verify
from leporello.adapters.sqlite.queries import migrations, queries
from leporello.adapters.sqlite.reading import SqliteReader
from leporello.adapters.sqlite.writing import ERASED, SqliteWriter
from leporello.core.times import from_micros, micros
from leporello.errors import InputError, StoreUnreachable


class SqliteStore:
    """One file for everything; many threads and processes may use it at once.

    Opening fails with a typed error if the file is not ours, newer, damaged, read-only, or encrypted and without its key.
    """

    def __init__(self, path: str, *, key: str | None = None, read_only: bool = False) -> None:
        if key is not None and (not isinstance(key, str) or not key or "\x00" in key or not key.isprintable()):
            raise InputError("The key is empty or no printable text.", hint="Pass a key of printable characters, or none.")
        self.path = path
        self.migrated = (0, 0)  # the schema's version before and after opening
        self._connections = Connections(path, key=key, read_only=read_only)
        try:
            with self._connections.writing(begin=False) as db:
                before = identify(db, path, newest=len(migrations()))
                verify(db, path)
            if not read_only and before < len(migrations()):
                self._migrate()
            self.migrated = (before, before if read_only else len(migrations()))
        except BaseException:
            self._connections.close()
            raise

    @contextmanager
    def read(self) -> Iterator[SqliteReader]:
        with self._connections.reading() as db:
            yield SqliteReader(db)

    @contextmanager
    def write(self) -> Iterator[SqliteWriter]:
        with self._connections.writing() as db:
            yield SqliteWriter(db)

    def setting(self, key: str, value: str | None = None) -> str | None:
        if value is not None:
            with self._connections.writing() as db:
                db.execute(queries()["put_setting"], (key, value))
            return value
        with self._connections.reading() as db:
            found = db.execute(queries()["setting"], (key,)).get
            return None if found is None else str(found)

    def backup(self, path: str) -> None:
        check_path(path)
        if path == ":memory:":
            raise StoreUnreachable("A backup in memory would be gone at once.", hint="Choose a path for the backup.")
        if os.path.exists(path):
            raise StoreUnreachable(f"{path} exists already.", hint="Choose a new path for the backup.")
        with mapped(path), self._connections.writing(begin=False) as db:
            try:
                target = self._connections.fresh(path)
                try:
                    with target.backup("main", db, "main") as copy:
                        copy.step()
                finally:
                    target.close()
            except BaseException:
                if os.path.exists(path):  # half a copy would pass for a whole one
                    os.unlink(path)
                raise

    def check(self) -> list[str]:
        with self._connections.reading() as db:
            found = [str(r[0]) for r in db.execute("PRAGMA integrity_check(20)") if r[0] != "ok"]
            found += [
                f"{table} row {rid} refers to a missing row of {parent}" for table, rid, parent, _ in db.execute("PRAGMA foreign_key_check")
            ]
            return found

    def scrub(self, *, patience: float = 5.0) -> bool:
        deadline = time.monotonic() + patience
        while True:
            with self._connections.writing(begin=False) as db:
                db.set_busy_timeout(200)
                try:
                    clean = _swept(db)
                except apsw.BusyError:
                    clean = False
                finally:
                    db.set_busy_timeout(WAIT_MS)
            if clean or time.monotonic() > deadline:
                return clean
            time.sleep(0.05)

    def size(self) -> int:
        names = (self.path, self.path + "-wal", self.path + "-shm")
        return sum(os.path.getsize(n) for n in names if os.path.exists(n))

    def close(self) -> None:
        self._connections.close()

    def _migrate(self) -> None:
        """Each migration in one transaction with its record; another process may have done it in the meantime."""
        for version, name, sql in migrations():
            with self._connections.writing() as db:
                if db.pragma("user_version") >= version:
                    continue
                db.execute(sql)
                at = micros(from_micros(time.time_ns() // 1000))
                db.execute(queries()["add_migration"], (version, name, at))
                db.pragma("application_id", APPLICATION_ID)
                db.pragma("user_version", version)


def _swept(db: apsw.Connection) -> bool:
    """Rewrites the file if something was erased, and empties the log; False if a reader still needs the log.

    `secure_delete` overwrites deleted rows where they lie, but not the copies that stay in the gaps of pages when rows
    move to a neighbour page: only a rewritten file is free of them.
    """
    erased = db.execute(queries()["setting"], (ERASED,)).get
    if erased is not None:
        db.execute("VACUUM")
        db.execute(queries()["drop_setting"], (ERASED, erased))
    return not db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0][0]

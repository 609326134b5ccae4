"""The SQLite store keeps every rule of a store, plain and encrypted."""

from __future__ import annotations

from leporello.adapters.sqlite.store import SqliteStore
from leporello.testing import StoreConformance


class TestSqliteStore(StoreConformance):
    def open_store(self, path: str) -> SqliteStore:
        return SqliteStore(path)


class TestEncryptedSqliteStore(StoreConformance):
    def open_store(self, path: str) -> SqliteStore:
        return SqliteStore(path, key="correct horse battery staple")

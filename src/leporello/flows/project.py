"""Project memory in the store: which facts go into a folder's files, and which folders were written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from leporello.core.times import instant
from leporello.errors import BadTime
from leporello.ports import Ports, Reader, Store
from leporello.records import Fact, Scope

FOLDERS = "projects"
"""The setting that lists every folder that was written: `[[mark of the scope, folder], …]`."""

_TRIES = 20


def held(r: Reader, scope: Scope) -> list[Fact]:
    """Every fact that concerns the scope's project, ended and retracted ones too; without a project, every fact that it sees."""
    return [f for f in r.facts(scope) if scope.project is None or f.scope.project == scope.project]


def facts(ports: Ports, scope: Scope) -> list[Fact]:
    """The same in a snapshot of its own."""
    with ports.store.read() as r:
        return held(r, scope)


def scope_mark(scope: Scope) -> str:
    """A short hash that stands for a scope in settings."""
    return hashlib.sha256(json.dumps(scope.to_dict(), sort_keys=True).encode()).hexdigest()[:16]


def folders(store: Store) -> list[tuple[str, str]]:
    """Every folder that was written from this store, with the mark of its scope."""
    try:
        rows = json.loads(store.setting(FOLDERS) or "[]")
        return [(str(mark), str(folder)) for mark, folder in rows]
    except (ValueError, TypeError):
        return []


def noted(store: Store, mark: str, folder: str) -> dict[str, Any]:
    """What was noted about a folder: `{"ids": {file: [id, …]}, "past": [id, …], "taken": {mark: id}, "at": time}`, or nothing."""
    try:
        read = json.loads(store.setting(_key(mark, folder)) or "{}")
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}


def note(store: Store, mark: str, folder: str, value: Mapping[str, Any]) -> None:
    """Notes that about a folder, and the folder itself, so that an erasure finds it."""
    known = folders(store)
    tries = 0
    while (mark, folder) not in known and tries < _TRIES:  # another process may write the list at the same time
        store.setting(FOLDERS, json.dumps(sorted({*known, (mark, folder)})))
        known, tries = folders(store), tries + 1
    store.setting(_key(mark, folder), json.dumps(value, sort_keys=True))


def when(value: object) -> datetime | None:
    """The time in a note."""
    try:
        return None if value is None else instant(value)
    except BadTime:
        return None


def _key(mark: str, folder: str) -> str:
    return f"project:{mark}:{hashlib.sha256(folder.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"

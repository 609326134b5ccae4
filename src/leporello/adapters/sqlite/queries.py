"""The SQL of the store, read from the named files beside this one.

A file holds queries, each under a line `-- name: …`; a comment below the name says what it is for. Asking for a name
that no file holds is a `KeyError` at once; a test holds the names against their uses.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


@cache
def queries() -> dict[str, str]:
    """Every query by name; a name that stands twice is an error."""
    found: dict[str, str] = {}
    for path in sorted((files(__package__) / "sql").iterdir(), key=lambda p: p.name):
        if not path.name.endswith(".sql"):
            continue
        parts = _NAME.split(path.read_text(encoding="utf-8"))
        for name, body in zip(parts[1::2], parts[2::2], strict=True):
            if name in found:
                raise KeyError(f"{path.name}: the query {name} stands twice")
            found[name] = "\n".join(line for line in body.splitlines() if not line.startswith("--")).strip().rstrip(";")
    return found


@cache
def migrations() -> tuple[tuple[int, str, str], ...]:
    """(version, name, SQL) of every migration, in order; versions count from 1 without gaps."""
    found = []
    for path in sorted((files(__package__) / "migrations").iterdir(), key=lambda p: p.name):
        if path.name.endswith(".sql"):
            version, _, name = path.name.removesuffix(".sql").partition("_")
            found.append((int(version), name, path.read_text(encoding="utf-8")))
    if [v for v, *_ in found] != list(range(1, len(found) + 1)):
        raise KeyError(f"migrations are not numbered from 1 without gaps: {[v for v, *_ in found]}")
    return tuple(found)


def schema() -> str:
    """The schema that all migrations together make."""
    return (files(__package__) / "schema.sql").read_text(encoding="utf-8")

"""The skill for agents that have only files: when to write what into `state/memory.jsonl`, and the scripts that keep it."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

from leporello.errors import InputError, StoreUnreachable

FILES = ("SKILL.md", "references/research_basis.md", "scripts/memory_append.py", "scripts/memory_maintenance.py")


def install(folder: str | os.PathLike[str], *, force: bool = False) -> tuple[str, ...]:
    """Writes the skill into a folder, made if it is missing; the paths that were written, none for files that are there already.

    A file there that differs is an `InputError` before anything is written, unless `force`.
    """
    place = Path(folder)
    wanted = {place / name: files("leporello.skill").joinpath(name).read_bytes() for name in FILES}
    try:
        held = {path: path.read_bytes() if path.exists() else None for path in wanted}
        differing = [path for path, data in held.items() if data is not None and data != wanted[path]]
        if differing and not force:
            raise InputError(f"{differing[0]} is there and differs.", hint="Pass force=True to write over it, or choose another folder.")
        written = [path for path, data in held.items() if data != wanted[path]]
        for path in written:
            path.parent.mkdir(parents=True, exist_ok=True)
            _put(path, wanted[path])
    except OSError as error:
        raise StoreUnreachable(f"{place}: {error.strerror}.", hint="Check that the folder may be written.") from error
    return tuple(str(path) for path in written)


def _put(path: Path, data: bytes) -> None:
    """The file is there whole or not at all; scripts can be run."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o755 if path.suffix == ".py" else 0o644)
        temporary.replace(path)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()

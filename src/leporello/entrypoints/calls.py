"""One call of a command: whose memory, which store, and how the answer is given."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import typer
from rich.console import RenderableType

import leporello
from leporello.entrypoints import output
from leporello.errors import InputError, NotFound, ReadOnlyStore, StoreUnreachable

_MEMORY = ":memory:"
_POLICIES = {"fold": {"at_open": False}}
"""A single command does not pay for what sessions left unread; `leporello consolidate` reads it."""


class UsageError(typer.TyperException):
    """The command was not called as it should be; the hint says how."""

    exit_code = 2

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True)
class Settings:
    """The shared options as given: which store, whose memory, how to answer."""

    db: str | None = None
    key_file: str | None = None
    tenant: str | None = None
    user: str | None = None
    agent: str | None = None
    project: str | None = None
    session: str | None = None
    json: bool = False
    quiet: bool = False

    def over(self, left: Settings) -> Settings:
        """These settings, and where they are silent those that stood further left."""
        chosen = {}
        for f in fields(self):
            own = getattr(self, f.name)
            chosen[f.name] = getattr(left, f.name) if own is None or own is False else own
        return Settings(**chosen)

    @property
    def path(self) -> str:
        """The store's file: the option, else `$LEPORELLO_DB`, else `memory.db` in the current folder."""
        return self.db if self.db is not None else os.environ.get("LEPORELLO_DB") or "memory.db"

    def key(self) -> str | None:
        """The store's key: the first line of the key file, else `$LEPORELLO_KEY`. Raises `InputError` if it cannot be read."""
        if self.key_file is None:
            return os.environ.get("LEPORELLO_KEY") or None
        try:
            lines = Path(self.key_file).read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError) as e:
            why = e.strerror if isinstance(e, OSError) and e.strerror else "it is not UTF-8 text"
            raise InputError(f"The key file {self.key_file} cannot be read: {why}.", hint="Pass a file whose first line is the key.") from e
        if not lines or not lines[0]:
            raise InputError(f"The first line of {self.key_file} is empty.", hint="Pass a file whose first line is the key.")
        return lines[0]


@dataclass(frozen=True)
class Call:
    """What a command works with."""

    settings: Settings
    context: typer.Context

    @contextmanager
    def memory(self, *, new: bool = False) -> Iterator[leporello.Memory]:
        """The open store. Only with `new` is a file made that is not there: a mistyped path must not look like an empty memory."""
        path, key = self.settings.path, self.settings.key()
        if not new:
            self.require_store()
        try:
            mem = leporello.open(path, key=key, policies=_POLICIES)
        except ReadOnlyStore:
            mem = leporello.open(path, key=key, policies=_POLICIES, read_only=True)
        with mem:
            yield mem

    @contextmanager
    def scope(self, *, new: bool = False) -> Iterator[leporello.Scoped]:
        """The handle that the scope options name, on the open store."""
        with self.memory(new=new) as mem:
            yield self.within(mem)

    @contextmanager
    def session(self, *, new: bool = False, empty: bool = False) -> Iterator[leporello.Session]:
        """The session that `--session` names: in exactly this scope, else the only one of that name that the scope sees.

        `NotFound` if there is none, unless `empty`; `new` as for `memory`.
        """
        name = self.settings.session
        if name is None:
            raise UsageError("This command works on one session.", hint="Name it with --session; `leporello sessions` lists them.")
        with self.scope(new=new) as scope:
            seen = [] if empty else [s for s in scope.sessions() if s.name == name]
            exact = [s for s in seen if s.scope == scope.scope]
            if not empty and len(exact or seen) != 1:
                what = "There is no session" if not seen else f"{len(seen)} sessions are called"
                raise NotFound(
                    f"{what} {name!r} in this scope.",
                    hint="`leporello sessions` lists what is there; give --user, --project and the others as when it was written.",
                )
            yield scope.session(name) if empty else scope.session((exact or seen)[0])

    def within(self, mem: leporello.Memory) -> leporello.Scoped:
        """The handle that the scope options name."""
        s = self.settings
        tenant = {} if s.tenant is None else {"tenant": s.tenant}
        return mem.scope(**tenant, user=s.user, agent=s.agent, project=s.project, session=s.session)

    @property
    def scoped(self) -> bool:
        """True if a scope option was given."""
        s = self.settings
        return any(d is not None for d in (s.tenant, s.user, s.agent, s.project, s.session))

    def require_store(self) -> None:
        """Raises `StoreUnreachable` if the store's file is not there."""
        path = self.settings.path
        if path != _MEMORY and "\x00" not in path and not os.path.exists(path):
            raise StoreUnreachable(
                f"There is no store at {path}.", hint="Name it with --db; `leporello remember` or `leporello import` makes one."
            )

    def answer(self, value: Mapping[str, Any], lines: Iterable[RenderableType]) -> None:
        """Prints the answer: `value` with --json, else `lines`, which are then made."""
        if self.settings.json:
            output.put_json(value)
        else:
            output.put_lines(lines)

    def remark(self, text: str) -> None:
        """A remark for people, beside the answer; none with --json or --quiet."""
        if not self.settings.json and not self.settings.quiet:
            output.remark(text)


def text_of(argument: str) -> str:
    """The text itself, or for `-` what standard input holds, without one newline at its end.

    Bytes that are not UTF-8 are kept as lone surrogates, which the store takes and gives back equal.
    """
    if argument != "-":
        return argument
    stream = getattr(sys.stdin, "buffer", None)
    text = stream.read().decode("utf-8", "surrogateescape") if stream is not None else sys.stdin.read()
    return str(text.removesuffix("\n").removesuffix("\r"))

"""Every error that Leporello raises, drawn as a tree. The docstring of a class is its message and says what to do.

LeporelloError
├── InputError                 what was handed in cannot be taken
│   ├── EmptyText · EmptyQuery
│   ├── BadTime · BadName · BadMessage · BadSetting · BadValue
│   ├── FormatError            a file is in no format that is read here
│   └── UnreadEdits · TooManyRemoved
├── StoreError                 the file cannot be used
│   ├── NotAStore · CorruptStore · NewerStore · LockedStore
│   ├── KeyNeeded · ReadOnlyStore · StoreClosed · StoreUnreachable
│   └── EmbedderChanged
├── NotFound                   the record is not in this scope
├── BudgetTooSmall             what must be in the context does not fit
├── LoopError                  the next call to the model must not be made
│   ├── NothingToSend · WindowTooSmall · ContextOverflow
│   └── BudgetExceeded
├── FoldError
│   ├── NothingToFold · FoldRefused · FoldStuck
│   └── CompactorError
└── MissingExtra               an optional part is not installed
"""

from __future__ import annotations

from collections.abc import Sequence


class LeporelloError(Exception):
    """Leporello could not do this."""

    def __init__(self, detail: str = "", *, hint: str = "") -> None:
        self.detail = detail
        self.hint = hint or (type(self).__doc__ or "").strip().split("\n")[0]
        super().__init__(f"{detail} {self.hint}".strip() if detail else self.hint)

    def to_dict(self) -> dict[str, str]:
        """`{"type", "message", "hint"}`: the shape that the command line and the servers print."""
        return {"type": type(self).__name__, "message": self.detail or self.hint, "hint": self.hint}


class InputError(LeporelloError):
    """The input cannot be taken; see the message for the place."""


class EmptyText(InputError):
    """There is no text to keep: pass at least one character or one block."""


class EmptyQuery(InputError):
    """The query holds nothing to look for: pass at least one word."""


class BadTime(InputError):
    """Pass an ISO 8601 instant with its offset, a date, a datetime, or seconds since 1970."""


class BadName(InputError):
    """A tenant, user, agent, project or session is a non-empty string; leave it out to not set it."""


class BadMessage(InputError):
    """A message is a string, a mapping with a role, or an SDK object that can be dumped to one."""


class BadSetting(InputError):
    """Use a setting that exists, within its bounds."""


class BadValue(InputError):
    """Pass a value of the kind that the documentation names."""


class FormatError(InputError):
    """Leporello does not read this format; `leporello import --help` lists those that it reads."""


class UnreadEdits(InputError):
    """The project's files hold hand edits that were not read yet: call `read_project` first, or pass force=True to write over them."""


class TooManyRemoved(InputError):
    """More than half of the entries were taken out of the project's files at once: pass force=True if that is meant."""


class StoreError(LeporelloError):
    """The store cannot be used."""


class NotAStore(StoreError):
    """The file is a database or a document of something else: choose another path."""


class CorruptStore(StoreError):
    """The file is damaged: restore a backup made by `leporello backup`, or open a copy with `leporello doctor`."""


class NewerStore(StoreError):
    """The file was written by a newer Leporello: upgrade the package to open it."""


class LockedStore(StoreError):
    """Another program holds the file for longer than the time allowed: close it and try again."""


class KeyNeeded(StoreError):
    """The file is encrypted or not a database at all: pass key=… (`--key-file` on the command line), or check the path."""


class ReadOnlyStore(StoreError):
    """The store was opened, or lies on a disk, that allows no writing: open it without read_only=True at a writable path."""


class StoreClosed(StoreError):
    """The store was closed: open it again."""


class StoreUnreachable(StoreError):
    """The path cannot be opened: check that its folder exists and may be read and written."""


class EmbedderChanged(StoreError):
    """The store's vectors come from another embedder: open it with that one, or run `leporello reembed`."""


class NotFound(LeporelloError):
    """No such record in this scope: check the id and the tenant, user, agent, project and session."""


class BudgetTooSmall(LeporelloError):
    """The system prompt, the pins and the newest message alone exceed the budget: raise it or shorten them."""


class LoopError(LeporelloError):
    """The next call to the model must not be made."""


class NothingToSend(LoopError):
    """The session holds nothing that could be sent: add a message of the user first."""


class WindowTooSmall(LoopError):
    """System prompt, tools, pins and the newest message leave no room in the window: shorten them or use a larger window."""


class ContextOverflow(LoopError):
    """The provider refused the request as too long even after a fold: pass its real window as window=…, or start a new session."""


class BudgetExceeded(LoopError):
    """The next call could exceed the budget that was set: raise it with `budget(…)`, or stop here."""


class FoldError(LeporelloError):
    """The fold did not happen; the history is unchanged."""


class NothingToFold(FoldError):
    """There is no closed turn to fold."""


class FoldRefused(FoldError):
    """The compactor's answer was empty, invalid or not smaller than what it replaces; the history stays as it is."""


class FoldStuck(FoldError):
    """Two folds in a row made no progress: add new input before folding again."""


class CompactorError(FoldError):
    """The compactor failed; the history stays as it is."""

    def __init__(self, detail: str = "", *, hint: str = "", failures: Sequence[str] = ()) -> None:
        super().__init__(detail, hint=hint)
        self.failures = tuple(failures)
        """A code for each failed attempt, such as `truncated`, `tool_call_only` or `timeout`."""


class MissingExtra(LeporelloError):
    """Install the extra that this needs, for example `pip install 'leporello[anthropic]'`."""

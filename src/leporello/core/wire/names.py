"""Names and ids that the providers accept."""

from __future__ import annotations

import re
from hashlib import sha256

_NOT_LEGAL = re.compile(r"[^a-zA-Z0-9_-]")
_MARKED = 8


def legal_name(name: str, longest: int) -> str:
    """`name` if a tool may be called so; otherwise with `_` for what is refused and a mark, so that two names stay two."""
    name = name or "tool"
    plain = _NOT_LEGAL.sub("_", name)
    return name if plain == name and len(name) <= longest else _marked(plain, name, longest)


def _marked(plain: str, whole: str, longest: int) -> str:
    mark = sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:_MARKED]
    return f"{plain[: longest - _MARKED - 1]}_{mark}"


def is_legal(call_id: str) -> bool:
    """True if the id can go out as it is."""
    return bool(call_id) and not _NOT_LEGAL.search(call_id)


class Ids:
    """Gives each call an id of its own that is legal: the one that it has, where no earlier call has it."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def take(self, call_id: str) -> str:
        """The id under which this call goes out; the next call with the same id gets another one."""
        base = _NOT_LEGAL.sub("_", call_id)
        if len(base) > self._longest:
            base = _marked(base, call_id, self._longest)
        out = base
        n = self._next.get(base, 2 if base else 1)
        while not out or out in self._taken:
            tail = f"_{n}"
            out = (base or "call")[: self._longest - len(tail)] + tail
            n += 1
        self._next[base] = n
        self._taken.add(out)
        return out

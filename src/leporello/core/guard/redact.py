"""Redaction: what must not be kept is replaced by `[redacted: NAME]` before anything is written.

Names of `SECRETS` and `PERSONAL` are found by patterns, some with a check of their digits; a caller's own patterns and hook
come beside them. Redacting twice gives the same as once. The time is linear in the text for the patterns of this module.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from leporello.core.guard.shapes import PATTERNS, SECRET_KEY, checked
from leporello.errors import BadSetting
from leporello.policies import PERSONAL, SECRETS, GuardPolicy

__all__ = ["PATTERNS", "PERSONAL", "SECRETS", "Redaction", "redact", "redact_value"]

Hook = Callable[[str], str]
MARK = re.compile(r"\[redacted: [^\[\]\n]{1,40}\]")
THINKING = "thinking"
"""What dropped blocks of signed thinking are counted as."""
_PASSES = 8
_DEPTH = 200
_IDS = {
    "id", "type", "role", "tool_use_id", "call_id", "tool_call_id", "toolCallId", "item_id", "response_id", "previous_response_id",
    "encrypted_content", "signature", "thought_signature", "thoughtSignature", "media_type", "mime_type", "mimeType",
}  # fmt: skip
_ARGUMENTS = {"input", "arguments", "args", "parameters", "action"}
_SIGNED = {"signature", "thinkingSignature"}
_DATA_URL = re.compile(r"data:[\w.+/-]*(?:;[\w=.+-]*)*;base64,", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/_=\s-]+")
_ID = re.compile(r"[\w.:/|-]{1,512}")


class Found(NamedTuple):
    """A piece of a text that a pattern of this name matches, from `start` to `end`."""

    start: int
    end: int
    name: str


@cache
def pattern(name: str) -> re.Pattern[str]:
    """The compiled pattern of a name in `PATTERNS`."""
    return re.compile(PATTERNS[name])


@cache
def resolved(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names with the groups "secrets" and "personal" written out, in the order of `PATTERNS`; an unknown one is a `BadSetting`."""
    groups = {"secrets": SECRETS, "personal": PERSONAL}
    wanted = {n for name in names for n in groups.get(name, (name,))}
    if unknown := wanted - set(PATTERNS):
        raise BadSetting(f"There is nothing named {', '.join(sorted(unknown))} to redact: use {', '.join([*groups, *PATTERNS])}.")
    return tuple(n for n in PATTERNS if n in wanted)


def find(text: str, names: Sequence[str]) -> list[Found]:
    """Where `text` holds something of these names (groups are taken too), in order, overlaps joined."""
    return _joined(text, _matches(text, resolved(tuple(names)), ()))


def redact(
    text: str, *, names: Sequence[str], extra: Sequence[tuple[str, str]] = (), hook: Hook | None = None
) -> tuple[str, Mapping[str, int]]:
    """`text` with each match replaced by `[redacted: NAME]`, and how many by name.

    `names` are names of `PATTERNS` or the groups "secrets" and "personal". `extra` are a caller's own `(name, regex)`; of a
    match with a group named `value` only the group is replaced. `hook` gets the text last and returns it as it may be kept;
    `BadSetting` if it returns no string. What it raises is not caught here.
    """
    counts: Counter[str] = Counter()
    return Redaction(tuple(names), tuple(extra), hook).text(text, counts), counts


def redact_value(
    value: Any, *, names: Sequence[str], extra: Sequence[tuple[str, str]] = (), hook: Hook | None = None
) -> tuple[Any, Mapping[str, int]]:
    """A JSON-like value with every string in it redacted, and how many by name; see `Redaction.value`."""
    counts: Counter[str] = Counter()
    return Redaction(tuple(names), tuple(extra), hook).value(value, counts), counts


@dataclass(frozen=True)
class Redaction:
    """What to redact, ready to be used on many texts. Without names, patterns and hook it changes nothing and is false."""

    names: tuple[str, ...] = ()
    extra: tuple[tuple[str, str], ...] = ()
    hook: Hook | None = None

    @classmethod
    def of(cls, policy: GuardPolicy) -> Redaction:
        """The redaction that a policy asks for."""
        return cls(policy.redact, policy.patterns, policy.hook)

    def __bool__(self) -> bool:
        return bool(self.names or self.extra or self.hook)

    def text(self, text: str, counts: Counter[str] | None = None) -> str:
        """A text as it may be kept; `counts` is added to."""
        counts = Counter() if counts is None else counts
        names = resolved(self.names)
        for _ in range(_PASSES):
            found = _joined(text, _matches(text, names, self.extra))
            if not found:
                break
            counts.update(f.name for f in found)
            text = _replaced(text, found)
        return self._hooked(text, counts)

    def value(self, value: Any, counts: Counter[str] | None = None) -> Any:
        """A message, or another JSON-like value, as it may be kept: a copy where something changed, else equal.

        Left alone are keys, ids that join calls and results, types and roles, base64 of media, signatures and encrypted
        reasoning. A string or a number under a key such as `password` goes whole. Arguments of calls that are JSON in a string
        stay JSON. A signed block of thinking that would change is dropped whole, because its provider refuses a changed one;
        a message that held nothing else says `[redacted: thinking]`.
        """
        return self._value(value, Counter() if counts is None else counts, inside=False, depth=0)

    def _hooked(self, text: str, counts: Counter[str]) -> str:
        if self.hook is None or not text:
            return text
        given: object = self.hook(text)
        if not isinstance(given, str):
            raise BadSetting(f"The hook of GuardPolicy returned {type(given).__name__}.", hint="Let it return a string for every text.")
        if given != text:
            counts["hook"] += 1
        return given

    def _value(self, value: Any, counts: Counter[str], *, inside: bool, depth: int) -> Any:
        if depth > _DEPTH:
            raise RecursionError
        if isinstance(value, str):
            return self.text(value, counts)
        if isinstance(value, int) and not isinstance(value, bool):
            return self._number(value, counts)
        if isinstance(value, Mapping):
            return self._mapping(value, counts, inside=inside, depth=depth)
        if isinstance(value, (list, tuple)):
            return self._list(value, counts, inside=inside, depth=depth)
        return value

    def _number(self, value: int, counts: Counter[str]) -> Any:
        """A whole number that is, for instance, a card's: replaced by the mark. The hook sees strings only."""
        if abs(value) < 10_000_000 or abs(value) > 10**40:
            return value
        return value if (made := Redaction(self.names, self.extra).text(str(value), counts)) == str(value) else made

    def _list(self, value: Sequence[Any], counts: Counter[str], *, inside: bool, depth: int) -> list[Any]:
        out = []
        for item in value:
            new: Counter[str] = Counter()
            made = self._value(item, new, inside=inside, depth=depth + 1)
            if not inside and isinstance(item, Mapping) and _signed(item) and made != item:
                counts[THINKING] += 1
                continue
            counts.update(new)
            out.append(made)
        return out if out or not value else [{"type": "text", "text": f"[redacted: {THINKING}]"}]

    def _mapping(self, value: Mapping[Any, Any], counts: Counter[str], *, inside: bool, depth: int) -> dict[Any, Any]:
        out: dict[Any, Any] = {}
        for key, held in value.items():
            if not inside and _kept(value, key, held):
                out[key] = held
            elif self._is_secret(key, held):
                out[key] = held if isinstance(held, str) and MARK.fullmatch(held) else _mark("password", counts)
            elif not inside and key in _ARGUMENTS and isinstance(held, str):
                out[key] = self._arguments(held, counts, depth=depth + 1)
            else:
                out[key] = self._value(held, counts, inside=inside or key in _ARGUMENTS, depth=depth + 1)
        return out

    def _arguments(self, text: str, counts: Counter[str], *, depth: int) -> str:
        """Arguments of a call in a string: where it is JSON, it stays JSON."""
        try:
            given = json.loads(text)
        except ValueError:
            return self.text(text, counts)
        made = self._value(given, counts, inside=True, depth=depth)
        return text if made == given else json.dumps(made, ensure_ascii=False)

    def _is_secret(self, key: object, held: object) -> bool:
        if not isinstance(key, str) or isinstance(held, bool) or not isinstance(held, (str, int)) or held == "":
            return False
        return "password" in resolved(self.names) and SECRET_KEY.fullmatch(key) is not None


def _signed(block: Mapping[Any, Any]) -> bool:
    return block.get("type") == "thinking" and any(block.get(k) for k in _SIGNED)


def _kept(block: Mapping[Any, Any], key: object, held: object) -> bool:
    """True for what is no text: ids, signatures, base64 of media."""
    if not isinstance(held, str):
        return False
    if _DATA_URL.match(held):
        return _is_data(held.partition(",")[2])
    if key in {"data", "file_data", "bytes", "b64_json"}:
        return _is_data(held)
    if key in _SIGNED or key in {"encrypted_content", "thought_signature", "thoughtSignature"}:
        return _BASE64.fullmatch(held) is not None
    return key in _IDS and ("type" in block or "role" in block or "function" in block) and _ID.fullmatch(held) is not None


def _is_data(text: str) -> bool:
    """True for base64 of at least a few bytes that is not plain text in disguise."""
    if len(text) < 16 or not _BASE64.fullmatch(text):
        return False
    try:
        base64.b64decode("".join(text[:4_096].split())[:1_024], altchars=b"-_" if "-" in text or "_" in text else None, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _mark(name: str, counts: Counter[str]) -> str:
    counts[name] += 1
    return f"[redacted: {name}]"


def _matches(text: str, names: Iterable[str], extra: Iterable[tuple[str, str]]) -> Iterator[Found]:
    for name in names:
        for match in pattern(name).finditer(text):
            span = checked(name, match)
            if span is not None:
                yield Found(*span, name)
    for name, regex in extra:
        compiled = re.compile(regex)
        group: str | int = "value" if "value" in compiled.groupindex else 0
        for match in compiled.finditer(text):
            if match.start(group) < match.end(group):
                yield Found(match.start(group), match.end(group), name)


def _joined(text: str, found: Iterable[Found]) -> list[Found]:
    """In order, with overlaps joined under the name that comes first in `PATTERNS`; what adds nothing to marks that stand there is left out."""
    marks = [m.span() for m in MARK.finditer(text)] if "[redacted: " in text else []
    order = {n: i for i, n in enumerate(PATTERNS)}
    out: list[Found] = []
    for f in sorted(_widened(text, found, marks), key=lambda f: (f.start, -f.end)):
        if out and f.start < out[-1].end:
            last = out[-1]
            name = min(last.name, f.name, key=lambda n: order.get(n, len(order)))
            out[-1] = Found(last.start, max(last.end, f.end), name)
        else:
            out.append(f)
    return out


def _widened(text: str, found: Iterable[Found], marks: Sequence[tuple[int, int]]) -> Iterator[Found]:
    """Matches that touch a mark take it in whole; those that have no letter or digit of their own beside marks are dropped."""
    if not marks:
        yield from found
        return
    at = 0
    for f in sorted(found):
        while at < len(marks) and marks[at][1] <= f.start:
            at += 1
        touched = []
        for mark in marks[at:]:
            if mark[0] >= f.end:
                break
            touched.append(mark)
        if not touched:
            yield f
        elif _own(text, f, touched):
            yield Found(min(f.start, touched[0][0]), max(f.end, touched[-1][1]), f.name)


def _own(text: str, found: Found, marks: Sequence[tuple[int, int]]) -> bool:
    places = [found.start, *(p for mark in marks for p in mark), found.end]
    return any(c.isalnum() for s, e in zip(places[::2], places[1::2], strict=True) for c in text[s:e])


def _replaced(text: str, found: Sequence[Found]) -> str:
    out, place = [], 0
    for f in found:
        out += [text[place : f.start], f"[redacted: {f.name}]"]
        place = f.end
    return "".join([*out, text[place:]])

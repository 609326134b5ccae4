"""What is too long is shown as head and tail; what is left out is named with the id that brings it back."""

from __future__ import annotations

import json
from typing import Any

from leporello.core.tokens import estimate
from leporello.core.wire.pieces import clean, scrub


def over(text: str, tokens: int) -> bool:
    """True if `text` is more than `tokens`; reads it only when its length does not tell."""
    return len(text) > tokens and (len(text) > 4 * tokens or estimate(text) > tokens)


def clipped(text: str, tokens: int, *, id: str) -> str:
    """`text` if it is at most `tokens`, otherwise its head and tail, two to one, with a line between that counts what is left out.

    The whole, with the line, is at most `tokens` (where the line itself fits). Without an id the line names none.
    """
    if not over(text, tokens):
        return text
    room = max(0, tokens - estimate(_mark(len(text), id)))
    head = _fit(text[: 4 * room], room - room // 3)
    tail = _fit(text[: -4 * room - 1 : -1], room // 3)
    return text[:head] + _mark(len(text) - head - tail, id) + text[len(text) - tail :]


def _fit(text: str, tokens: int) -> int:
    """How many characters of `text` from its start are at most `tokens`."""
    low, high = min(len(text), tokens), min(len(text), 4 * tokens)
    while low < high:
        middle = (low + high + 1) // 2
        if estimate(text[:middle]) <= tokens:
            low = middle
        else:
            high = middle - 1
    return low


def _mark(characters: int, id: str) -> str:
    shows = f'; unfold("{id}") shows all' if id else ""
    return f"\n[… {characters:,} characters left out{shows} …]\n"


def stub(what: str, size: str, id: str) -> str:
    """`[image image/png, 118 kB, left out; unfold("ID#n") brings it back]`; without an id only what it is."""
    known = f"{what}, {size}" if size else what
    back = f'; unfold("{id}") brings it back' if id else ""
    return f"[{known}, left out{back}]"


def named(id: str, n: int) -> str:
    """The id of part `n` of a message; empty when the message has none."""
    return f"{scrub(id)}#{n}" if id else ""


def parsed(text: str) -> dict[str, Any] | None:
    """The JSON object that `text` is, or None."""
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def dumped(value: object) -> str:
    """JSON without escapes, the same for equal input."""
    return json.dumps(value, ensure_ascii=False)


def arguments(text: str, tokens: int, *, id: str) -> tuple[dict[str, Any], str]:
    """The arguments of a call as an object and as JSON text: the text as it came where it is a JSON object within the cap."""
    if not text:
        return {}, "{}"
    value = parsed(text)
    plain = value is not None
    if value is None:
        value = {"arguments": text}
    if not over(text, tokens):
        value = clean(value)
        kept = plain and "\\u" not in text and scrub(text) == text
        return value, text if kept else dumped(value)
    limit = tokens // 2
    while limit >= 32:
        small = _shortened(clean(value), limit, id)
        written = dumped(small)
        if not over(written, tokens):
            return small, written
        limit //= 2
    small = {"arguments": clipped(scrub(text), tokens // 2, id=id)}
    return small, dumped(small)


def _shortened(value: Any, tokens: int, id: str) -> Any:
    """A copy with every string inside within `tokens`."""
    if isinstance(value, str):
        return clipped(value, tokens, id=id)
    if isinstance(value, dict):
        return {k: _shortened(v, tokens, id) for k, v in value.items()}
    if isinstance(value, list):
        return [_shortened(v, tokens, id) for v in value]
    return value

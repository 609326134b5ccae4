"""The errors by which providers say that a request is too long, or its thinking alien, and the numbers in them (`integrations.md` A2b)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SIGNS = re.compile(
    r"prompt is too long|exceed(?:s|ed)? (?:the )?(?:model'?s? )?(?:context|maximum)|context[ _]length[ _]exceeded|maximum context length"
    r"|exceeds the context window|context window of this model|model_context_window_exceeded|exceed context limit|too many (?:input )?tokens"
    r"|request_too_large|exceeds the (?:available )?context size|input (?:is too long|length exceeds)|string_above_max_length|token limit",
    re.IGNORECASE,
)
_NUMBERS = (
    re.compile(r"too long: (?P<tokens>\d[\d,]*) tokens > (?P<window>\d[\d,]*)", re.IGNORECASE),
    re.compile(r"context limit: (?P<tokens>\d[\d,]*) \+ \d[\d,]* > (?P<window>\d[\d,]*)", re.IGNORECASE),
    re.compile(
        r"maximum context length (?:is|of) (?P<window>\d[\d,]*).{0,80}?(?:resulted in|requested|contains?|has) (?:about )?(?P<tokens>\d[\d,]*)",
        re.IGNORECASE | re.DOTALL,
    ),
    re.compile(r"maximum context length (?:is|of) (?P<window>\d[\d,]*)", re.IGNORECASE),
)


@dataclass(frozen=True)
class Overflow:
    """What the provider said: the tokens that it counted and its window; None where it did not say."""

    tokens: int | None = None
    window: int | None = None


_THINKING = re.compile(
    r"bound to a different conversation|invalid `?signature`? in `?thinking`?|thinking`?(?: or `?redacted_thinking`?)? blocks .{0,60}cannot be modified"
    r"|prefix_binding_mismatch",
    re.IGNORECASE,
)


def refused_thinking(text: str) -> bool:
    """True if an error says that signed thinking was sent back that does not belong here."""
    return bool(_THINKING.search(text))


def read_overflow(text: str) -> Overflow | None:
    """What an error's text says about a request that was too long; None if it is another error."""
    if not _SIGNS.search(text):
        return None
    for pattern in _NUMBERS:
        found = pattern.search(text)
        if found:
            held = found.groupdict()
            return Overflow(*(None if held.get(k) is None else int(held[k].replace(",", "")) for k in ("tokens", "window")))
    return Overflow()

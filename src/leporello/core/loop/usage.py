"""What a reply says about its own cost, in the form of each provider, and what it costs by a table of prices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leporello.errors import BadSetting
from leporello.records import Record, Usage

_MILLION = 1_000_000


@dataclass(frozen=True)
class Price(Record):
    """US dollars for a million tokens: read anew, written, read from the prefix cache, written to it."""

    input: float
    output: float
    cached: float
    written: float


PRICES: Mapping[str, Price] = {
    "claude-haiku-4-5": Price(1.0, 5.0, 0.1, 1.25),
    "claude-sonnet-4": Price(3.0, 15.0, 0.3, 3.75),
    "claude-opus-4-5": Price(5.0, 25.0, 0.5, 6.25),
    "claude-opus-4": Price(15.0, 75.0, 1.5, 18.75),
    "gpt-5-nano": Price(0.05, 0.4, 0.005, 0.05),
    "gpt-5-mini": Price(0.25, 2.0, 0.025, 0.25),
    "gpt-5": Price(1.25, 10.0, 0.125, 1.25),
    "gpt-4.1": Price(2.0, 8.0, 0.5, 2.0),
}
"""List prices of some models, by the beginning of the model's name (the longest that fits counts). They change: pass your own."""


def prices_of(table: object) -> dict[str, Price]:
    """A table of the caller: `{"model": Price(…)}` or `{"model": {"input": …, "output": …, "cached": …, "written": …}}`."""
    if not isinstance(table, Mapping):
        raise BadSetting("prices is no mapping.", hint='Pass {"model": {"input": …, "output": …, "cached": …, "written": …}}.')
    out = {}
    for model, value in table.items():
        given = value.to_dict() if isinstance(value, Price) else value
        if not isinstance(given, Mapping) or not {"input", "output"} <= set(given) <= {"input", "output", "cached", "written"}:
            raise BadSetting(
                f"The price of {model!r:.80} is not complete.", hint="Give input and output, and cached and written if they differ."
            )
        numbers = {k: v for k, v in given.items() if isinstance(v, (int, float)) and not isinstance(v, bool) and 0 <= v < 1e9}
        if len(numbers) != len(given):
            raise BadSetting(f"The price of {model!r:.80} is no number from 0 up.", hint="Give US dollars for a million tokens.")
        base = float(numbers["input"])
        out[str(model)] = Price(base, float(numbers["output"]), float(numbers.get("cached", base)), float(numbers.get("written", base)))
    return out


def price(model: str, table: Mapping[str, Price] | None = None) -> Price | None:
    """The price of a model: the longest name in the table that the model's begins with; None without one."""
    held = PRICES if table is None else table
    name = model.rsplit("/", 1)[-1]
    fits = [m for m in held if model.startswith(m) or name.startswith(m)]
    return held[max(fits, key=len)] if fits else None


def micros(usage: Usage, at: Price) -> int:
    """What a call cost, in millionths of a US dollar."""
    fresh = max(0, usage.input - usage.cached - usage.written)
    cost = fresh * at.input + usage.cached * at.cached + usage.written * at.written + usage.output * at.output
    return round(cost)


def usage_of(reply: object) -> Usage | None:
    """The usage that a whole reply reports (an SDK object or a mapping of Anthropic, Chat Completions or Responses); None without."""
    used = _get(reply, "usage")
    if used is None:
        return None
    model = _get(reply, "model")
    name = model if isinstance(model, str) else ""
    details = _get(used, "prompt_tokens_details", _get(used, "input_tokens_details"))
    if _get(used, "prompt_tokens") is not None:
        return Usage(
            name, _n(used, "prompt_tokens"), _n(used, "completion_tokens"), _n(details, "cached_tokens"), _n(details, "cache_write_tokens")
        )
    if _get(used, "input_tokens") is None:
        return None
    if details is not None or _get(reply, "object") == "response":
        return Usage(
            name, _n(used, "input_tokens"), _n(used, "output_tokens"), _n(details, "cached_tokens"), _n(details, "cache_write_tokens")
        )
    read, written = _n(used, "cache_read_input_tokens"), _n(used, "cache_creation_input_tokens")
    return Usage(name, _n(used, "input_tokens") + read + written, _n(used, "output_tokens"), read, written)


def is_reply(value: object) -> bool:
    """True for a whole answer of a provider as its SDK returns it: only such an object surely answers our own request.

    A mapping may come from a transcript of another conversation, with its usage and its signed thinking.
    """
    whole = _get(value, "usage") is not None and any(_get(value, k) is not None for k in ("content", "choices", "output"))
    return whole and not isinstance(value, Mapping)


def plausible(estimated: int, reported: int) -> bool:
    """True if so many tokens may have been reported for a request that was estimated at so many."""
    return reported * 4 >= estimated and reported <= estimated * 4 + 2_000


def _n(held: object, name: str) -> int:
    value = _get(held, name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**12 else 0


def _get(held: object, name: str, default: Any = None) -> Any:
    found = held.get(name) if isinstance(held, Mapping) else getattr(held, name, None)
    return default if found is None else found

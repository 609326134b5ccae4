"""The settings of an agent loop, checked at the door. They are kept with the session, so that another process can resume it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from leporello.core.loop.usage import Price, prices_of
from leporello.errors import BadSetting
from leporello.records import Record

Wire = Literal["anthropic", "openai", "openai-responses"]
Mode = Literal["auto", "flat", "folded"]
Restore = Literal["system", "message"]
WIRES: tuple[str, ...] = get_args(Wire)
_LARGEST = 100_000_000
_SMALLEST_WINDOW = 500


@dataclass(frozen=True)
class LoopSettings(Record):
    """`window` and `reserve` are tokens. `reserve` is kept free for the answer and its thinking; an eighth of the window, at most
    8,192, if not given. `system` is one text or several; `tools` are in the form of any of the three providers.

    `mode`: "flat" (one summary), "folded" (episodes and facts), "auto" (flat for short sessions). `restore`: the memory stands in
    the "system" prompt, or in the first "message". `recall`: what is found for a new user message is put beside it.
    `background`: folds are prepared beside the loop. `breakpoints`: marks for the providers' prefix caches are set.
    """

    system: tuple[str, ...] = ()
    tools: tuple[Mapping[str, Any], ...] = ()
    window: int = 200_000
    reserve: int | None = None
    model: str = ""
    mode: Mode = "auto"
    restore: Restore = "system"
    recall: bool = True
    background: bool = False
    breakpoints: bool = True

    def room_for_answer(self, window: int) -> int:
        """The tokens that are kept free for the answer in a window of this size."""
        return min(8_192, window // 8) if self.reserve is None else self.reserve


@dataclass(frozen=True)
class Given:
    """What the caller of `session(…)` said: the settings by name, and what cannot be kept in a store.

    `native`: the provider's own compaction (`ports.NativeCompaction`), used where its wire format is the request's.
    """

    settings: Mapping[str, Any]
    tokenizer: Callable[[str], int] | None = None
    prices: Mapping[str, Price] | None = None
    native: Any = None

    def over(self, stored: Mapping[str, Any]) -> LoopSettings:
        """These settings over those that were stored; an unknown stored one is left out."""
        names = {f.name for f in dataclasses.fields(LoopSettings)}
        return LoopSettings(**_checked({**{k: v for k, v in stored.items() if k in names}, **self.settings}))


def given(options: Mapping[str, Any]) -> Given:
    """Checks what was handed in; `BadSetting` names what is wrong. What is None counts as not given."""
    names = {f.name for f in dataclasses.fields(LoopSettings)} | {"tokenizer", "prices", "native"}
    if unknown := set(options) - names:
        raise BadSetting(f"A session has no {', '.join(sorted(unknown))}.", hint=f"Use {', '.join(sorted(names))}.")
    held = {k: v for k, v in options.items() if v is not None}
    tokenizer, prices, native = (held.pop(k, None) for k in ("tokenizer", "prices", "native"))
    if native is not None and not (hasattr(native, "wire") and callable(getattr(native, "compact", None))):
        raise BadSetting(
            "native is no compaction of a provider.", hint="Pass NativeAnthropic(client, model) or NativeOpenAI(client, model)."
        )
    if tokenizer is not None and not callable(tokenizer):
        raise BadSetting("tokenizer is not callable.", hint="Pass a function from a text to its number of tokens.")
    return Given(_checked(held), tokenizer, None if prices is None else prices_of(prices), native)


def _checked(values: Mapping[str, Any]) -> dict[str, Any]:
    out = dict(values)
    if "system" in out:
        out["system"] = _system(out["system"])
    if "tools" in out:
        out["tools"] = _tools(out["tools"])
    for name, low in (("window", _SMALLEST_WINDOW), ("reserve", 0)):
        _whole(name, out.get(name), low)
    for name, allowed in (("mode", get_args(Mode)), ("restore", get_args(Restore))):
        if name in out and out[name] not in allowed:
            raise BadSetting(f"{name}={out[name]!r:.80}.", hint=f"Use one of {', '.join(allowed)}.")
    for name, kind in (("recall", bool), ("background", bool), ("breakpoints", bool), ("model", str)):
        if not isinstance(out.get(name, kind()), kind):
            raise BadSetting(f"{name}={out[name]!r:.80}.", hint=f"Pass a {kind.__name__}.")
    if out.get("reserve") is not None and out["reserve"] >= out.get("window", LoopSettings.window):
        raise BadSetting("reserve is not smaller than the window.", hint="Leave room for what is sent.")
    return out


def _whole(name: str, value: object, low: int) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not low <= value <= _LARGEST):
        raise BadSetting(f"{name}={value!r:.80}.", hint=f"Pass a whole number of tokens from {low:,} to {_LARGEST:,}.")


def _system(value: object) -> tuple[str, ...]:
    """A text, or texts, or Anthropic text blocks."""
    if isinstance(value, str):
        return (value,) if value.strip() else ()
    if isinstance(value, Sequence):
        texts = [v.get("text") if isinstance(v, Mapping) else v for v in value]
        if all(isinstance(t, str) for t in texts):
            return tuple(str(t) for t in texts if str(t).strip())
    raise BadSetting(f"system is a {type(value).__name__}.", hint="Pass a text, or a list of text blocks.")


def _tools(value: object) -> tuple[Mapping[str, Any], ...]:
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)) and all(isinstance(v, Mapping) for v in value):
        return tuple(dict(v) for v in value)
    raise BadSetting("tools is no list of mappings.", hint="Pass the tools as you would pass them to the provider.")

"""The agent loop of a session: two calls around the model's own, `request` before it and `add` after it.

```python
with alice.session("s1", system=SYSTEM, tools=TOOLS, window=200_000) as s:
    s.add("Fix the flaky test.")
    while True:
        reply = client.messages.create(model=MODEL, max_tokens=8192, **s.request("anthropic"))
        s.add(reply)
        if reply.stop_reason != "tool_use":
            break
        s.add(run(s.pending()))
```
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from leporello.core import checks
from leporello.core.blocks import parts
from leporello.core.loop.overflow import read_overflow, refused_thinking
from leporello.core.loop.settings import Given, Mode, Restore, Wire
from leporello.core.loop.usage import Price
from leporello.core.turns import pairs, shapes
from leporello.errors import BadSetting, BadValue, ContextOverflow, NotFound
from leporello.flows import loop
from leporello.flows.loop import Ask, Background
from leporello.flows.recall import Shelf
from leporello.flows.remember import remember
from leporello.formats.objects import drafts
from leporello.ports import NativeCompaction, Ports
from leporello.records import Message, Scope
from leporello.results import Call, LoopReport


class LoopOptions(TypedDict, total=False):
    """What `session(…)` takes beside the name; see `core.loop.settings.LoopSettings`. It is kept with the session.

    `native` is a provider's own compaction (`NativeAnthropic`, `NativeOpenAI`). `tokenizer` (text to number of tokens), `native` and `prices` (`{"model": {"input", "output", "cached", "written"}}`, US dollars for a
    million tokens) are not kept: pass them again when a session is resumed.
    """

    system: str | Sequence[Any] | None
    tools: Sequence[Mapping[str, Any]] | None
    window: int | None
    reserve: int | None
    model: str | None
    mode: Mode | None
    restore: Restore | None
    recall: bool | None
    background: bool | None
    breakpoints: bool | None
    native: NativeCompaction | None
    tokenizer: Callable[[str], int] | None
    prices: Mapping[str, Price | Mapping[str, float]] | None


@dataclass(frozen=True)
class AgentLoop:
    """What a session does around calls to a model. State lies in the store: any process can go on from it."""

    scope: Scope
    _ports: Ports
    _shelf: Shelf
    _background: Background
    _given: Given

    def request(
        self, wire: Wire, *, model: str | None = None, window: int | None = None, fold: bool = False,
        overflow: BaseException | str | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """The next request: `system`, `messages` and `tools` for "anthropic", `messages` and `tools` for "openai", `instructions`,
        `input` and `tools` for "openai-responses". Model and answer length are the caller's to add.

        It is complete, valid and within the window less what is reserved for the answer; what is over the triggers is folded
        first. `model` and `window` say what is in use now. `fold=True` folds whatever can be folded. `overflow`: the error by
        which the provider refused the request before as too long (the session folds once, and a second refusal in a row raises
        `ContextOverflow`), or because of thinking that does not belong there (it stays behind). Raises a `LoopError` when the call must not be made.
        """
        if window is not None:
            checks.count(window, "window", least=500, most=100_000_000)
        ask = Ask(wire, self._given, checks.maybe_text(model, "model") or "", window, bool(fold), overflow)
        return loop.request(self._ports, self._shelf, self.scope, ask, self._background)

    def send(self, create: Callable[..., Any], /, *, wire: Wire | None = None, window: int | None = None, **options: Any) -> Any:
        """Calls an SDK's `create` with the next request and `options`, adds the reply and returns it.

        A refusal as too long folds once and calls once more; if that is refused too, `ContextOverflow` is raised. `wire` is read off the SDK's method when it is not given.
        """
        kind, model = calling(create, wire, options)
        try:
            reply = create(**self.request(kind, model=model, window=window), **options)
        except Exception as e:
            if not overflowed(e):
                raise
            body = self.request(kind, model=model, window=window, overflow=e)
            try:
                reply = create(**body, **options)
            except Exception as again:
                if too_long(again):
                    raise ContextOverflow("The provider refused the folded request as too long as well.") from again
                raise
        self.add(reply)
        return reply

    def add(self, message: Any, *, reply: bool | None = None) -> tuple[Message, ...]:
        """Stores a message, verbatim: text, a mapping with a role, an SDK object, a whole response, or a list of these.

        Of a whole response the usage is read as well, for `report` and `budget` and for the estimate of the next request, and its
        signed thinking goes out again while what stood before it stays the same. An SDK's object is taken for the answer to the
        last request; for a mapping say `reply=True`.
        """
        beside = loop.taken(self._ports, self.scope, message, self._given, reply=reply)
        made = tuple(m for chunk in remember(self._ports, self.scope, drafts(message), beside=beside) for m in chunk)
        if self._given.settings.get("background") is not False and beside is not None and made and made[-1].role == "assistant":
            loop.prepare(self._ports, self.scope, self._given, self._background)
        return made

    def pending(self) -> tuple[Call, ...]:
        """The model's calls that wait for their results, in order: what an agent runs next, also after it was killed."""
        with self._ports.store.read() as r:
            state = r.session(self.scope)
            if state is None:
                return ()
            tail = list(r.messages(state, first=max(1, state.messages - _BACK)))
        held = shapes(tail)
        run = max((i for i, m in enumerate(held) if m.assistant), default=-1)
        while run > 0 and held[run - 1].assistant:
            run -= 1
        return tuple(c for i in sorted(set(pairs(held)[1])) if i >= run for c in _calls(tail, i))

    def phase(self, name: str) -> None:
        """Says that a new phase of the work begins: what was before it is folded at the next request."""
        loop.order(self._ports, self.scope, self._given, phase=checks.text(name, "name", empty=False), asked="phase")

    def budget(self, *, tokens: int | None = None, usd: float | None = None, per: str = "session") -> None:
        """Sets what may be spent, by this session or by all sessions of its scope on one day (UTC); with neither, no limit.

        `request` raises `BudgetExceeded` before a call that could exceed it: input at its full price, answer as long as reserved.
        """
        if per not in {"session", "day"}:
            raise BadSetting(f"per={per!r:.80}.", hint='Use "session" or "day".')
        limits: dict[str, Any] = {}
        if tokens is not None:
            limits["tokens"] = checks.count(tokens, "tokens", least=0, most=10**15)
        if usd is not None:
            if isinstance(usd, bool) or not isinstance(usd, (int, float)) or not 0 <= usd < 1e12:
                raise BadValue(f"usd={usd!r:.80} is out of bounds.", hint="Pass an amount from 0 up.")
            limits["usd"] = float(usd)
        loop.order(self._ports, self.scope, self._given, budget={**limits, "per": per} if limits else {})

    def report(self) -> LoopReport:
        """What the loop sent, folded and spent since its first request."""
        return loop.report(self._ports, self.scope, self._given)


_BACK = 400


def overflowed(error: BaseException) -> bool:
    """True if a provider's error says that the request was too long, or that its thinking does not belong here."""
    return too_long(error) or refused_thinking(f"{error} {getattr(error, 'body', '')}")


def too_long(error: BaseException) -> bool:
    """True if a provider's error says that the request was too long."""
    return read_overflow(f"{error} {getattr(error, 'body', '')}") is not None


def calling(create: Callable[..., Any], wire: Wire | None, options: Mapping[str, Any]) -> tuple[Wire, str | None]:
    """The form of a call by `send`, and the model that it names; refuses a stream."""
    if options.get("stream"):
        raise BadValue("send does not stream.", hint="Stream with request(…), and add(stream.get_final_message()).")
    model = options.get("model")
    return wire_of(create) if wire is None else wire, model if isinstance(model, str) else None


def wire_of(create: Callable[..., Any]) -> Wire:
    """The form that an SDK's method takes, by the module that it comes from."""
    owner = getattr(create, "__self__", None)
    module = type(owner).__module__ if owner is not None else getattr(create, "__module__", "")
    if module.startswith("anthropic"):
        return "anthropic"
    if module.startswith("openai"):
        return "openai-responses" if "responses" in module else "openai"
    raise BadSetting("It cannot be seen whose method this is.", hint='Pass wire="anthropic", "openai" or "openai-responses".')


def piece(message: Message, number: str) -> Message:
    """The message with one of its parts alone; `NotFound` if it has no such part."""
    held = parts(message)
    if not number.isdecimal() or int(number) >= len(held):
        raise NotFound(f"Message {message.id!r} has no part {number!r}; it has {len(held)}.")
    part = held[int(number)]
    block = _block(message, int(number))
    original = {"role": message.role, "content": [block] if block is not None else part.text}
    return replace(message, text=part.text, original=original)


def _block(message: Message, number: int) -> Any:
    """The block of this part where parts and blocks are one to one; None elsewhere."""
    content = message.original.get("content")
    return content[number] if isinstance(content, list) and len(content) == len(parts(message)) else None


def _calls(tail: Sequence[Message], i: int) -> list[Call]:
    answered = {p.id for m in tail[i + 1 :] for p in parts(m) if p.kind == "result"}
    return [Call(p.id, p.name, _arguments(p.text)) for p in parts(tail[i]) if p.kind == "call" and p.id not in answered]


def _arguments(text: str) -> Any:
    try:
        return json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return text

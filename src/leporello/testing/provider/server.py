"""The stand-in provider: what it is told, what it saw, and how it answers one request."""

from __future__ import annotations

import importlib
import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import TracebackType
from typing import Any, TypedDict, Unpack

from leporello.errors import BadSetting, MissingExtra
from leporello.testing.provider import anthropic, failures, openai
from leporello.testing.provider.caching import PrefixCache, Unit, units_of
from leporello.testing.provider.failures import Failure
from leporello.testing.provider.model import Refusal, Reply, Seen, Turn, Usage, count_text
from leporello.testing.provider.serving import Running

Said = str | Reply | Mapping[str, Any]
_WORDS = "amber birch cedar delta ember flint grove heron iris jade kelp larch maple north olive pearl quartz river slate thorn".split()
_LONG, _COUNTED = 64, 20_000


class Rules(TypedDict, total=False):
    """What can be switched: windows by model in tokens, the least cached prefix in tokens, and two rules of the APIs."""

    windows: Mapping[str, int]
    cache_minimum: int
    prefill: bool
    strict: bool


@dataclass(frozen=True)
class Admitted:
    """A request that passed: its place in the list, the turn, the tokens counted, the failure ordered for it."""

    serial: int
    turn: Turn
    usage: Usage
    failure: Failure | None


class LocalProvider:
    """Speaks Anthropic Messages, OpenAI Chat Completions and OpenAI Responses over HTTP, streaming included, and enforces their rules.

    `reply` says what the model says: a function of a `Turn` that returns a text, a `Reply` or a ready answer of the wire format;
    without it a short text that depends on `seed` and the number of the request. `window` is in tokens by `count`, to which each
    request adds `overhead`. `require_key` refuses every other API key. `windows` sets the window by model, `cache_minimum` (1,024)
    the least prefix that is cached, `prefill=True` allows requests that end with the model's words, `strict=True` refuses fields
    that an API does not have. Use it in a `with` block; `reply`, `window`, `windows`, `prefill` and `strict` may change at any time.
    It is a stand-in for tests: its counts are those of no provider.
    """

    def __init__(
        self, window: int = 200_000, reply: Callable[[Turn], Said] | None = None, *, seed: int = 0, count: Callable[[str], int] | None = None,
        overhead: int = 0, require_key: str | None = None, **rules: Unpack[Rules],
    ) -> None:  # fmt: skip
        if unknown := set(rules) - set(Rules.__annotations__):
            raise BadSetting(f"LocalProvider has no setting {min(unknown)!r}.")
        self.window = window
        self.windows: dict[str, int] = dict(rules.get("windows", {}))
        self.reply = reply
        self.seed = seed
        self.overhead = overhead
        self.prefill = rules.get("prefill", False)
        self.strict = rules.get("strict", False)
        self.require_key = require_key
        self._count_once = count or count_text
        self._count_long = lru_cache(maxsize=_COUNTED)(self._count_once)
        self._cache = PrefixCache(rules.get("cache_minimum", 1_024))
        self._ledger = openai.Ledger()
        self._lock = threading.Lock()
        self._failures: list[Failure] = []
        self._seen: dict[int, Seen] = {}
        self._texts: dict[str, str] = {}
        self._serial = self._number = 0
        self._running: Running | None = None

    # --- what tests look at ---

    @property
    def url(self) -> str:
        """Where it listens: `http://127.0.0.1:PORT`. Raises `BadSetting` outside the `with` block."""
        if self._running is None:
            raise BadSetting("The provider is not running.", hint="Use it in a with block.")
        return f"http://127.0.0.1:{self._running.port}"

    @property
    def requests(self) -> tuple[Seen, ...]:
        """Every request so far, in the order in which they came in. Counting tokens is not among them."""
        with self._lock:
            return tuple(self._seen.values())

    @property
    def rejected(self) -> tuple[Seen, ...]:
        """Those that a rule refused; injected failures are not among them."""
        return tuple(s for s in self.requests if s.refused)

    @property
    def peak(self) -> int:
        """The most input tokens of an accepted request."""
        return max((s.tokens for s in self.requests if s.status < 400), default=0)

    def billed(self, read: float = 0.1, write: float = 1.25) -> float:
        """Input tokens of accepted requests, those read from the cache and written to it at these shares; output is not in it."""
        fine = [s for s in self.requests if s.status < 400]
        return sum(s.tokens - s.cached - s.written + read * s.cached + write * s.written for s in fine)

    def tokens(self, body: Mapping[str, Any]) -> int:
        """The input tokens that a request with this body would count for; nothing is sent or noted."""
        return self.overhead + sum(cost for _, cost, _ in units_of(body, self._count))

    def fail(self, kind: str, times: int = 1, when: Callable[[Mapping[str, Any]], bool] | None = None, **detail: Any) -> None:
        """Lets the next `times` requests whose body `when` is true of fail in this way. Raises `BadSetting` for an unknown kind."""
        with self._lock:
            self._failures.append(Failure(kind, times, when, detail))

    def clear(self) -> None:
        """Forgets requests, ordered failures, stored responses and the cache."""
        with self._lock:
            self._seen.clear()
            self._failures.clear()
            self._cache.clear()
            self._ledger.clear()
            self._texts.clear()
            self._count_long.cache_clear()

    def _count(self, text: str) -> int:
        return self._count_long(text) if len(text) > _LONG else self._count_once(text)

    # --- ready clients ---

    def anthropic(self, **options: Any) -> Any:
        """An `anthropic.Anthropic` client for this server that does not retry. The caller closes it."""
        return _sdk("anthropic").Anthropic(**self._options("", options))

    def async_anthropic(self, **options: Any) -> Any:
        """The asynchronous one."""
        return _sdk("anthropic").AsyncAnthropic(**self._options("", options))

    def openai(self, **options: Any) -> Any:
        """An `openai.OpenAI` client for this server that does not retry. The caller closes it."""
        return _sdk("openai").OpenAI(**self._options("/v1", options))

    def async_openai(self, **options: Any) -> Any:
        """The asynchronous one."""
        return _sdk("openai").AsyncOpenAI(**self._options("/v1", options))

    def _options(self, path: str, options: Mapping[str, Any]) -> dict[str, Any]:
        return {"base_url": self.url + path, "api_key": self.require_key or "local", "max_retries": 0, **options}

    def __enter__(self) -> LocalProvider:
        self._running = Running(_Desk(self))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._running is not None:
            self._running.stop()
            self._running = None


class _Desk:
    """How one request is read, checked, counted and answered; the HTTP side asks nothing else of a provider."""

    def __init__(self, provider: LocalProvider) -> None:
        self._p = provider

    def admit(self, wire: str, path: str, raw: bytes, key: str) -> Admitted:
        """Reads, checks and counts a request, and notes it. Raises `Refusal` after noting that."""
        p, started = self._p, time.monotonic()
        body: Mapping[str, Any] = {}
        failure, units = None, list[Unit]()
        try:
            self._known(wire, key)
            body = self._read(raw)
            failure = self._ordered(body)
            if failure is not None and failure.kind in failures.DOOR:
                raise failures.refusal_of(failure, wire, self._window(body))
            whole = self._checked(wire, body, len(raw))
            units = units_of(whole, self._p._count)
            _WINDOWS[wire](self._total(units), whole, self._window(body))
        except Refusal as e:
            injected = failure is not None and failure.kind in failures.DOOR
            if failure is not None and not injected:
                with p._lock:
                    failure.times += 1
            self._note(Seen(wire, path, body, e.status, e.text, not injected, self._total(units), started=started, ended=time.monotonic()))
            raise
        with p._lock:
            model = str(body["model"])
            read, written = (p._cache.explicit if wire == "anthropic" else p._cache.automatic)(model, units)
            p._number += 1
            turn = Turn(wire, whole, p._number)
        usage = Usage(self._total(units), read, written)
        serial = self._note(Seen(wire, path, body, tokens=usage.input, cached=read, written=written, started=started))
        return Admitted(serial, turn, usage, failure)

    def say(self, admitted: Admitted) -> dict[str, Any]:
        """The answer in the provider's form."""
        turn, p = admitted.turn, self._p
        said = self._default(turn) if p.reply is None else p.reply(turn)
        reply = Reply(said) if isinstance(said, str) else said if isinstance(said, Reply) else Reply()
        if admitted.failure is not None and admitted.failure.kind in failures.SPOILT:
            reply, said = failures.spoilt(admitted.failure, reply, _tool_names(turn.body)), ""
        output = reply.output_tokens
        if output is None:
            output = sum(map(p._count, [reply.text, reply.thinking, *(json.dumps(dict(a)) + n for n, a in reply.calls)]))
        made = _ANSWERS[turn.wire](reply, turn.body, replace(admitted.usage, output=output), turn.number)
        if isinstance(said, Mapping):
            made |= said
        with p._lock:
            if turn.wire == "openai-responses":
                p._ledger.note({**turn.body, "previous_response_id": None}, made)
        self._settle(admitted.serial, output=output)
        return made

    def compact(self, admitted: Admitted) -> dict[str, Any]:
        """The answer of `/v1/responses/compact`."""
        output = 50
        made = openai.compacted(admitted.turn.messages, replace(admitted.usage, output=output), admitted.turn.number)
        with self._p._lock:
            self._p._ledger.note({**admitted.turn.body, "previous_response_id": None}, made)
        self._settle(admitted.serial, output=output)
        return made

    def tokens(self, raw: bytes, key: str) -> int:
        """What a request counts for. Raises `Refusal`."""
        self._known("anthropic", key)
        return self._p.tokens(self._read(raw))

    def broke(self, admitted: Admitted, why: str) -> None:
        """Notes that no answer was made."""
        self._settle(admitted.serial, status=500, error=why)

    # --- steps ---

    def _known(self, wire: str, key: str) -> None:
        if self._p.require_key is not None and key != self._p.require_key:
            raise failures.wrong_key(wire)

    def _read(self, raw: bytes) -> dict[str, Any]:
        try:
            body = json.loads(raw, object_hook=self._shared)
        except ValueError as e:
            raise Refusal(f"The request body is not valid JSON: {e}") from e
        if not isinstance(body, dict):
            raise Refusal("The request body is not a JSON object.")
        return body

    def _shared(self, held: dict[str, Any]) -> dict[str, Any]:
        """Keeps each long text once, however many requests repeat it."""
        texts = self._p._texts
        return {k: texts.setdefault(v, v) if isinstance(v, str) and len(v) > _LONG else v for k, v in held.items()}

    def _ordered(self, body: Mapping[str, Any]) -> Failure | None:
        """Takes the failure ordered for this request; it is given back if a rule refuses the request."""
        with self._p._lock:
            failure = next((f for f in self._p._failures if f.fits(body)), None)
            if failure is not None:
                failure.times -= 1
        return failure

    def _checked(self, wire: str, body: dict[str, Any], size: int) -> dict[str, Any]:
        """The request, with what it refers to put in. Raises `Refusal`."""
        if self._p.strict:
            anthropic.check_names(body) if wire == "anthropic" else openai.check_names(body, wire)
        if wire == "anthropic":
            anthropic.check(body, size=size, prefill=self._p.prefill)
            return body
        if not isinstance(body.get("model"), str):
            raise Refusal("you must provide a model parameter")
        if wire == "openai":
            openai.check_chat(body)
            return body
        with self._p._lock:
            items = self._p._ledger.whole(body)
            openai.check_responses(items, self._p._ledger)
        return {**body, "input": items}

    def _window(self, body: Mapping[str, Any]) -> int:
        return self._p.windows.get(str(body.get("model", "")), self._p.window)

    def _total(self, units: list[Unit]) -> int:
        return self._p.overhead + sum(cost for _, cost, _ in units)

    def _default(self, turn: Turn) -> str:
        step = self._p.seed * 7 + turn.number
        return f"Answer {turn.number}: {_WORDS[step % len(_WORDS)]} {_WORDS[step * 3 % len(_WORDS)]}."

    def _note(self, seen: Seen) -> int:
        with self._p._lock:
            self._p._serial += 1
            self._p._seen[self._p._serial] = seen
            return self._p._serial

    def _settle(self, serial: int, **changed: Any) -> None:
        with self._p._lock:
            if serial in self._p._seen:
                self._p._seen[serial] = replace(self._p._seen[serial], ended=time.monotonic(), **changed)


_WINDOWS = {"anthropic": anthropic.check_window, "openai": openai.check_chat_window, "openai-responses": openai.check_responses_window}
_ANSWERS: Mapping[str, Callable[[Reply, Mapping[str, Any], Usage, int], dict[str, Any]]] = {
    "anthropic": anthropic.answer,
    "openai": openai.chat,
    "openai-responses": openai.responses,
}


def _tool_names(body: Mapping[str, Any]) -> list[str]:
    tools = [t.get("function", t) for t in body.get("tools") or () if isinstance(t, Mapping)]
    return [str(t["name"]) for t in tools if isinstance(t, Mapping) and t.get("name")]


def _sdk(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as e:
        raise MissingExtra(f"The {name} SDK is not installed.", hint=f"Install it with `pip install 'leporello[{name}]'`.") from e

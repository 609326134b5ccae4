"""The HTTP side: a server in a thread of its own, its paths, its streams, and how it fails on the wire."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from leporello.errors import MissingExtra
from leporello.testing.provider import anthropic, openai
from leporello.testing.provider.failures import Failure
from leporello.testing.provider.model import Refusal, Turn

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

_PATHS = {"/v1/messages": "anthropic", "/v1/chat/completions": "openai", "/v1/responses": "openai-responses"}
_COMPACT, _COUNT = "/v1/responses/compact", "/v1/messages/count_tokens"
_THREADS = 256
T = TypeVar("T")


class Admitted(Protocol):
    """A request that passed the rules."""

    @property
    def turn(self) -> Turn:
        """What a `reply` function gets to see."""
        ...

    @property
    def failure(self) -> Failure | None:
        """What is to go wrong with it."""
        ...


class Desk(Protocol):
    """What answers requests. Every method may block, and is called in a thread."""

    def admit(self, wire: str, path: str, raw: bytes, key: str) -> Any:
        """Notes the request and returns an `Admitted`. Raises `Refusal`."""
        ...

    def say(self, admitted: Any) -> dict[str, Any]:
        """The answer."""
        ...

    def compact(self, admitted: Any) -> dict[str, Any]:
        """The answer of a compaction."""
        ...

    def tokens(self, raw: bytes, key: str) -> int:
        """What a request counts for. Raises `Refusal`."""
        ...

    def broke(self, admitted: Any, why: str) -> None:
        """Notes that no answer was made."""
        ...


class Running:
    """The server in a thread. Raises `MissingExtra` without starlette and uvicorn."""

    def __init__(self, desk: Desk) -> None:
        try:
            import starlette  # noqa: F401
            import uvicorn
        except ImportError as e:
            raise MissingExtra(
                "LocalProvider needs starlette and uvicorn.", hint="Install them with `pip install 'leporello[testing]'`."
            ) from e
        self._door = _Door(desk)
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=2048)
        self.port = int(self._socket.getsockname()[1])
        config = uvicorn.Config(
            self._door.app(), http="h11", ws="none", loop="asyncio", lifespan="off", log_config=None, log_level=100, access_log=False,
            timeout_graceful_shutdown=1, h11_max_incomplete_event_size=1 << 20,
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, name="local-provider", daemon=True)
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(0.002)

    def stop(self) -> None:
        """Ends the server, waits for its thread and closes its socket."""
        self._door.closing = True
        self._server.should_exit = True
        self._thread.join(10)
        self._socket.close()


class _Door:
    """The paths of the server."""

    def __init__(self, desk: Desk) -> None:
        self.closing = False
        self._desk = desk
        self._limiter: Any = None

    def app(self) -> Any:
        """The ASGI application."""
        from starlette.applications import Starlette
        from starlette.routing import Route

        paths = {**dict.fromkeys([*_PATHS, _COMPACT], self._answer), _COUNT: self._counted}
        routes = [Route(path, endpoint, methods=["POST"]) for path, endpoint in paths.items()]
        return Starlette(routes=routes, exception_handlers={Exception: self._broken})

    async def _broken(self, request: Request, error: Exception) -> Response:
        """What a client gets when the `reply` function raised."""
        from starlette.responses import JSONResponse

        refusal = Refusal(_why(error), status=500, kind="api_error")
        return JSONResponse((anthropic if request.url.path == "/v1/messages" else openai).error(refusal), 500)

    async def _answer(self, request: Request) -> Response:
        from starlette.responses import JSONResponse

        path = request.url.path
        wire = _PATHS.get(path, "openai-responses")
        try:
            admitted = await self._in_thread(self._desk.admit, wire, path, await request.body(), _key(request))
        except Refusal as e:
            headers = None if e.retry_after is None else {"retry-after": f"{e.retry_after:g}"}
            return JSONResponse(anthropic.error(e) if wire == "anthropic" else openai.error(e), e.status, headers)
        failure: Failure | None = admitted.failure
        if failure is not None and failure.kind in {"timeout", "slow"}:
            await self._wait(float(failure.detail.get("seconds", 30 if failure.kind == "timeout" else 0.5)), request)
        made: dict[str, Any] | None = None
        try:
            made = await self._in_thread(self._desk.compact if path == _COMPACT else self._desk.say, admitted)
        finally:
            if made is None:
                self._desk.broke(admitted, _why(sys.exc_info()[1]))
        return _sent(wire, made, admitted.turn.body, failure is not None and failure.kind == "disconnect")

    async def _counted(self, request: Request) -> Response:
        from starlette.responses import JSONResponse

        try:
            return JSONResponse({"input_tokens": await self._in_thread(self._desk.tokens, await request.body(), _key(request))})
        except Refusal as e:
            return JSONResponse(anthropic.error(e), e.status)

    async def _in_thread(self, function: Callable[..., T], *args: Any) -> T:
        import anyio
        from anyio import to_thread

        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(_THREADS)
        return await to_thread.run_sync(function, *args, limiter=self._limiter, abandon_on_cancel=True)

    async def _wait(self, seconds: float, request: Request) -> None:
        """Waits, but not for a client that has gone or beyond the end of the server."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not self.closing and not await request.is_disconnected():
            await asyncio.sleep(min(0.05, left))


def _why(error: BaseException | None) -> str:
    return f"reply raised {type(error).__name__}: {error}"


def _sent(wire: str, made: Mapping[str, Any], body: Mapping[str, Any], cut: bool) -> Response:
    from starlette.responses import JSONResponse, StreamingResponse

    if body.get("stream"):
        events = _events(wire, made, body)
        return StreamingResponse(_cut(events) if cut else _all(events), media_type="text/event-stream")
    if cut:
        return StreamingResponse(_cut(['{"id": "msg_']), media_type="application/json", headers={"content-length": "100000"})
    return JSONResponse(made)


def _events(wire: str, made: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[str]:
    if wire == "anthropic":
        return anthropic.events(made)
    return openai.chat_events(made, body) if wire == "openai" else openai.responses_events(made)


async def _all(events: Iterable[str]) -> AsyncIterator[str]:
    for event in events:
        yield event


async def _cut(events: Iterable[str]) -> AsyncIterator[str]:
    """The first events, and then the connection ends."""
    for n, event in enumerate(events):
        if n == 3:
            break
        yield event
    raise ConnectionResetError("the provider was told to hang up")


def _key(request: Request) -> str:
    return str(request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix("Bearer "))

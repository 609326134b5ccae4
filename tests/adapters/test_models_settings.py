"""Settings of compactors by model, missing SDKs and keys, threads, and servers that answer with something else."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from leporello.adapters.models import compactor
from leporello.errors import BadSetting, CompactorError
from leporello.ports import Compactor
from leporello.records import Message, Scope
from leporello.testing.provider import LocalProvider

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
WIRES = ("anthropic", "openai", "openai-responses")
GOOD = {"summary": "The retries were limited to five.", "decisions": ["Limit retries to five"]}


def talk() -> list[Message]:
    text = "Limit retries to five."
    return [Message("m1", Scope(session="s"), 1, 1, "user", None, AT, AT, "user", text, {"role": "user", "content": text}, 6)]


@pytest.fixture
def provider() -> Iterator[LocalProvider]:
    with LocalProvider(reply=lambda turn: json.dumps(GOOD)) as p:
        yield p


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("anthropic:", {}), ("claude-haiku-4-5", {}), ("mistral:x", {}), ("", {}), (None, {}), ("openai:m", {"fork": "warm"}), ("openai:m", {"window": 10}),
        ("openai:m", {"retries": -1}), ("openai:m", {"retries": True}), ("openai:m", {"timeout": "x"}), ("openai:m", {"temperature": 0}),
    ],
)  # fmt: skip
def test_a_bad_name_or_setting_is_refused(name: Any, options: dict[str, Any]) -> None:
    with pytest.raises(BadSetting) as e:
        compactor(name, api_key="x", **options)
    assert "Use" in e.value.hint or "Options" in e.value.hint


def test_the_base_package_needs_no_sdk() -> None:
    code = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name in ("anthropic", "openai"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Block())
from leporello.adapters.models import compactor
from leporello.errors import MissingExtra
for name in ("anthropic", "openai"):
    try:
        compactor(name + ":m", api_key="x")
    except MissingExtra as e:
        assert f"pip install 'leporello[{name}]'" in e.hint
    else:
        raise SystemExit(1)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).returncode == 0


def test_without_a_key(monkeypatch: pytest.MonkeyPatch, provider: LocalProvider) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises((BadSetting, CompactorError)) as e:
        compactor("openai:m", base_url=provider.url).episode(talk(), tokens=400)
    assert not isinstance(e.value, CompactorError) or e.value.failures == ("unauthorized",)


def test_threads_share_a_compactor(provider: LocalProvider) -> None:
    with provider.anthropic() as client:
        _twelve(compactor("anthropic:m", client=client))


def _twelve(c: Compactor) -> None:
    out: list[str] = []

    def run(ask: Callable[[], Any]) -> None:
        out.append(ask().summary)

    threads = [threading.Thread(target=run, args=(lambda: c.episode(talk(), tokens=400),)) for _ in range(12)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert out == [GOOD["summary"]] * 12


class Odd(BaseHTTPRequestHandler):
    """A server that answers with a page, a byte now and then, a request to wait, or a limit of its own."""

    def do_POST(self) -> None:
        """Any call."""
        if self.path.startswith("/most"):
            return self._most()
        if self.path.startswith("/limit"):
            self.send_response(429)
            self.send_header("retry-after", "0.3")
            self.send_header("content-length", "0")
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("content-type", "text/html" if self.path.startswith("/page") else "application/json")
        self.end_headers()
        if self.path.startswith("/page"):
            self.wfile.write(b"<html>Please log in</html>")
            return
        for _ in range(40):
            try:
                self.wfile.write(b" ")
                self.wfile.flush()
            except OSError:
                return
            time.sleep(0.05)

    def _most(self) -> None:
        """Refuses more than 1,000 tokens, in the words of the provider whose path it is."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        chat = self.path.endswith("completions")
        over = body["max_completion_tokens" if chat else "max_tokens"] > 1_000
        if chat:
            said: Any = {"choices": [{"message": {"role": "assistant", "content": json.dumps(GOOD)}, "finish_reason": "stop"}]}
            error: Any = {
                "message": "max_tokens is too large: 4096. This model supports at most 1000 completion tokens.",
                "param": "max_tokens",
            }
        else:
            said = {"content": [{"type": "text", "text": json.dumps(GOOD)}], "stop_reason": "end_turn"}
            error = {
                "type": "invalid_request_error",
                "message": "max_tokens: 4096 > 1000, which is the maximum allowed number of output tokens",
            }
        sent = json.dumps({"error": error} if over else said).encode()
        self.send_response(400 if over else 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_: Any) -> None:
        """Quiet."""


@contextmanager
def odd(path: str) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Odd) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/{path}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(("path", "code"), [("page", "empty"), ("drip", "timeout")])
@pytest.mark.parametrize("wire", WIRES)
def test_a_page_of_a_proxy_and_an_answer_that_drips_in(wire: str, path: str, code: str) -> None:
    with odd(path) as url:
        c = compactor(f"{wire}:m", base_url=url, api_key="x", retries=0, timeout=0.4)
        began = time.monotonic()
        with pytest.raises(CompactorError) as e:
            c.episode(talk(), tokens=400)
        assert e.value.failures == (code,) and time.monotonic() - began < 1.6


@pytest.mark.parametrize("wire", ["anthropic", "openai"])
def test_a_server_that_asks_to_wait_is_waited_for_between_attempts(wire: str) -> None:
    with odd("limit") as url:
        began = time.monotonic()
        with pytest.raises(CompactorError) as e:
            compactor(f"{wire}:m", base_url=url, api_key="x", retries=2).episode(talk(), tokens=400)
        assert e.value.failures == ("rate_limited",) * 3 and 0.6 <= time.monotonic() - began < 3


@pytest.mark.parametrize("wire", ["anthropic", "openai"])
def test_a_limit_on_the_answer_is_kept_to(wire: str) -> None:
    with odd("most") as url:
        c = compactor(f"{wire}:m", base_url=url, api_key="x", retries=0, output=4_096)
        assert c.episode(talk(), tokens=400).summary == c.episode(talk(), tokens=400).summary == GOOD["summary"]

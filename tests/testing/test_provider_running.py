"""The local provider fails as it is told to, serves many at once, and ends without a trace."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from leporello.errors import BadSetting
from leporello.testing import LocalProvider, Reply, Seen, Turn

WIRES = ["anthropic", "openai", "openai-responses"]
SAID = json.dumps({"summary": "We looked at the file and found the cause.", "facts": ["The port is 8080."]})
TOOLS: list[Any] = [{"name": "look", "input_schema": {"type": "object"}}]
GONE = (anthropic.APIConnectionError, openai.APIConnectionError, httpx2.RemoteProtocolError, httpx2.ReadError)


@pytest.fixture(scope="module")
def running() -> Iterator[LocalProvider]:
    with LocalProvider() as provider:
        yield provider


@pytest.fixture
def p(running: LocalProvider) -> LocalProvider:
    running.clear()
    running.reply = lambda turn: SAID
    return running


def ask(p: LocalProvider, wire: str, words: str = "Sum it up.", **options: Any) -> Any:
    """One request with the real client: what came back, as a dict."""
    messages: list[Any] = [{"role": "user", "content": words}]
    more = {k: v for k, v in options.items() if k in {"timeout"}}
    body = {k: v for k, v in options.items() if k not in more}
    if wire == "anthropic":
        with p.anthropic(**more) as claude:
            return claude.messages.create(model="m", max_tokens=64, messages=messages, **body).model_dump()
    with p.openai(**more) as gpt:
        if wire == "openai":
            return gpt.chat.completions.create(model="m", messages=messages, **body).model_dump()
        return gpt.responses.create(model="m", input=messages, **body).model_dump()


def said(answer: dict[str, Any]) -> str:
    """The text of an answer in any wire format."""
    if "choices" in answer:
        return answer["choices"][0]["message"]["content"] or ""
    if "output" in answer:
        return "".join(c.get("text", "") for i in answer["output"] if i["type"] == "message" for c in i["content"])
    return "".join(b["text"] for b in answer["content"] if b["type"] == "text")


def stopped(answer: dict[str, Any]) -> str:
    """Why it ended, in the words of its wire format."""
    if "choices" in answer:
        return str(answer["choices"][0]["finish_reason"])
    return str(answer.get("stop_reason") or (answer["incomplete_details"] or {}).get("reason") or answer["status"])


DOOR: list[tuple[str, int, list[str]]] = [
    (
        "overflow",
        400,
        ["prompt is too long: 201234 tokens > 200000 maximum", "maximum context length is 200000", "exceeds the context window"],
    ),
    ("rate_limit", 429, ["rate limit", "Rate limit", "Rate limit"]),
    ("overloaded", 529, ["Overloaded", "overloaded", "overloaded"]),
    ("server_error", 500, ["Internal server error", "had an error", "had an error"]),
    ("unauthorized", 401, ["invalid x-api-key", "Incorrect API key", "Incorrect API key"]),
]


@pytest.mark.parametrize("kind", [d[0] for d in DOOR])
@pytest.mark.parametrize("wire", WIRES)
def test_a_failure_at_the_door(p: LocalProvider, wire: str, kind: str) -> None:
    status, texts = next((d[1], d[2]) for d in DOOR if d[0] == kind)
    p.fail(kind, times=2, retry_after=7)
    for _ in range(2):
        with pytest.raises((anthropic.APIStatusError, openai.APIStatusError), match=texts[WIRES.index(wire)]) as caught:
            ask(p, wire)
        error: Any = caught.value
        assert error.status_code == (503 if status == 529 and wire != "anthropic" else status)
        assert error.response.headers.get("retry-after") == ("7" if kind == "rate_limit" else None)
    assert said(ask(p, wire)) == SAID
    assert [s.status < 400 for s in p.requests] == [False, False, True] and p.rejected == () and p.requests[0].error
    assert p.billed() == p.requests[2].tokens == p.peak


@pytest.mark.parametrize("wire", WIRES)
def test_a_parameter_that_is_refused_while_it_is_there(p: LocalProvider, wire: str) -> None:
    p.fail("bad_param", times=5, param="metadata")
    with pytest.raises((anthropic.BadRequestError, openai.BadRequestError), match="metadata"):
        ask(p, wire, metadata={})
    assert said(ask(p, wire)) == SAID


@pytest.mark.parametrize("wire", WIRES)
def test_answers_that_are_spoilt(p: LocalProvider, wire: str) -> None:
    got: dict[str, dict[str, Any]] = {}
    for kind in ("empty", "reasoning_only", "truncated", "refusal", "inflated", "fenced", "wrapped", "bad_json", "not_json"):
        p.fail(kind)
        got[kind] = ask(p, wire)
    texts = {kind: said(answer) for kind, answer in got.items()}
    assert texts["empty"] == texts["reasoning_only"] == "" and "think about this" in json.dumps(got["reasoning_only"])
    assert texts["truncated"] == SAID[: len(SAID) // 2]
    assert stopped(got["truncated"]) == {"anthropic": "max_tokens", "openai": "length", "openai-responses": "max_output_tokens"}[wire]
    assert "I cannot help with that." in json.dumps(got["refusal"]) and (stopped(got["refusal"]) == "refusal") == (wire == "anthropic")
    assert json.loads(texts["inflated"]).keys() == json.loads(SAID).keys() and len(texts["inflated"]) > 7 * len(SAID)
    assert f"```json\n{SAID}\n```" in texts["fenced"] and not texts["fenced"].startswith("```")
    assert json.loads(texts["wrapped"]) == {"answer": json.loads(SAID)}
    for broken in ("bad_json", "not_json", "fenced", "truncated"):
        with pytest.raises(ValueError, match="."):
            json.loads(texts[broken])
    assert said(ask(p, wire)) == SAID and all(s.status == 200 for s in p.requests)


@pytest.mark.parametrize("wire", WIRES)
def test_a_call_and_no_text(p: LocalProvider, wire: str) -> None:
    tools = {
        "anthropic": TOOLS,
        "openai": [{"type": "function", "function": {"name": "look"}}],
        "openai-responses": [{"type": "function", "name": "look", "parameters": {}, "strict": False}],
    }[wire]
    p.fail("tool_call_only")
    answer = ask(p, wire, tools=tools)
    assert said(answer) == "" and '"look"' in json.dumps(answer)


def test_plain_text_is_inflated_and_broken_too(p: LocalProvider) -> None:
    p.reply = lambda turn: "plain"
    p.fail("inflated", factor=3)
    assert said(ask(p, "openai")) == "plain\nplain\nplain"
    p.fail("bad_json")
    assert said(ask(p, "openai")) == "{plain,,"


@pytest.mark.parametrize("wire", WIRES)
def test_a_provider_that_does_not_answer_in_time(p: LocalProvider, wire: str) -> None:
    p.fail("timeout", seconds=20)
    begun = time.monotonic()
    with pytest.raises((anthropic.APITimeoutError, openai.APITimeoutError)):
        ask(p, wire, timeout=0.3)
    assert time.monotonic() - begun < 5 and p.requests[0].tokens > 0
    p.fail("slow", seconds=0.4)
    begun = time.monotonic()
    assert said(ask(p, wire)) == SAID and time.monotonic() - begun >= 0.4


@pytest.mark.parametrize("wire", WIRES)
def test_a_provider_that_hangs_up(p: LocalProvider, wire: str) -> None:
    p.fail("disconnect", times=2)
    with pytest.raises(GONE):
        ask(p, wire)
    got: list[Any] = []
    with pytest.raises(GONE):
        if wire == "anthropic":
            with p.anthropic() as claude:
                got += claude.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": "x"}], stream=True)
        else:
            with p.openai() as gpt:
                create: Callable[..., Any] = gpt.responses.create if wire == "openai-responses" else gpt.chat.completions.create
                body: dict[str, Any] = {"input": "x"} if wire == "openai-responses" else {"messages": [{"role": "user", "content": "x"}]}
                for event in create(model="m", stream=True, **body):
                    got.append(event)
    assert wire == "anthropic" or len(got) == 3
    assert said(ask(p, wire)) == SAID


def test_failures_wait_for_the_request_that_they_are_for(p: LocalProvider) -> None:
    p.fail("server_error", when=lambda body: "second" in json.dumps(body))
    assert said(ask(p, "openai", "first")) == SAID
    with pytest.raises(openai.InternalServerError):
        ask(p, "openai", "second")
    assert said(ask(p, "openai", "second")) == SAID
    p.fail("truncated")
    with pytest.raises(openai.BadRequestError):  # a rule refuses it: the order stays
        ask(p, "openai", "first", max_completion_tokens=300_000)
    assert stopped(ask(p, "openai")) == "length"
    p.fail("overflow")
    p.clear()
    assert said(ask(p, "openai")) == SAID and len(p.requests) == 1


def test_an_unknown_failure_or_setting_is_refused(p: LocalProvider) -> None:
    with pytest.raises(BadSetting, match="There is no failure 'flood'.*truncated"):
        p.fail("flood")
    with pytest.raises(BadSetting, match="no setting 'windw'"):
        LocalProvider(windw={})  # type: ignore[call-arg]
    with pytest.raises(BadSetting, match="not running"):
        _ = LocalProvider().url


def test_the_answer_may_be_ready_made(p: LocalProvider) -> None:
    p.reply = lambda turn: {"content": [{"type": "text", "text": "Ready."}], "stop_reason": "pause_turn"}
    answer = ask(p, "anthropic")
    assert said(answer) == "Ready." and answer["stop_reason"] == "pause_turn" and answer["usage"]["input_tokens"] == p.requests[0].tokens
    p.reply = lambda turn: Reply("x", stop="stop_sequence", output_tokens=1_234, blocks=[{"type": "text", "text": "First. "}])
    answer = ask(p, "anthropic")
    assert said(answer) == "First. x" and answer["stop_reason"] == "stop_sequence" and p.requests[1].output == 1_234


@pytest.mark.parametrize("wire", WIRES)
def test_a_reply_that_raises_is_told_to_the_client_and_noted(p: LocalProvider, wire: str) -> None:
    def reply(turn: Turn) -> str:
        raise AssertionError("the pin is missing")

    p.reply = reply
    with pytest.raises(
        (anthropic.InternalServerError, openai.InternalServerError), match="reply raised AssertionError: the pin is missing"
    ):
        ask(p, wire)
    assert [(s.status, s.error, s.refused) for s in p.requests] == [(500, "reply raised AssertionError: the pin is missing", False)]


def test_the_same_seed_gives_the_same_words() -> None:
    def words(seed: int) -> list[str]:
        with LocalProvider(seed=seed) as p:
            return [said(ask(p, "openai")) for _ in range(3)]

    assert words(1) == words(1) != words(2)


def test_a_key_may_be_required() -> None:
    with LocalProvider(require_key="secret") as p:
        assert ask(p, "anthropic") and ask(p, "openai")
        with p.anthropic(api_key="other") as claude, pytest.raises(anthropic.AuthenticationError, match="invalid x-api-key"):
            claude.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": "x"}])
        with p.anthropic(api_key="other") as claude, pytest.raises(anthropic.AuthenticationError):
            claude.messages.count_tokens(model="m", messages=[{"role": "user", "content": "x"}])
        with p.openai(api_key="other") as gpt, pytest.raises(openai.AuthenticationError) as caught:
            gpt.responses.create(model="m", input="x")
        assert caught.value.code == "invalid_api_key" and [s.status for s in p.rejected] == [401, 401]


def test_what_is_no_json_is_refused(p: LocalProvider) -> None:
    for raw in (b"{", b"[]"):
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(urllib.request.Request(f"{p.url}/v1/messages", raw, method="POST"), timeout=5)
        with caught.value as answer:
            assert answer.code == 400 and json.loads(answer.read())["type"] == "error"


def test_a_hundred_clients_at_once(p: LocalProvider) -> None:
    together = threading.Barrier(100)

    def reply(turn: Turn) -> str:
        together.wait(30)
        return str(turn.messages[0]["content"]) if turn.wire != "openai-responses" else str(turn.messages[0]["content"])

    p.reply = reply
    with ThreadPoolExecutor(100) as pool:
        texts = list(pool.map(lambda n: said(ask(p, WIRES[n % 3], f"word {n}")), range(100)))
    assert texts == [f"word {n}" for n in range(100)] and len(p.requests) == 100
    assert all(isinstance(s, Seen) and s.status == 200 for s in p.requests)


def test_the_end_is_quick_and_leaves_nothing() -> None:
    before = set(threading.enumerate())
    p = LocalProvider()
    with p:
        port = int(p.url.rsplit(":", 1)[1])
        p.fail("timeout", seconds=60)
        client = p.openai(timeout=60)
        asked = threading.Thread(target=lambda: client.responses.create(model="m", input="x"))
        asked.start()
        while not p.requests:
            time.sleep(0.01)
        begun = time.monotonic()
    assert time.monotonic() - begun < 3
    asked.join(5)
    client.close()
    end = time.monotonic() + 3
    while set(threading.enumerate()) - before and time.monotonic() < end:
        time.sleep(0.01)
    assert set(threading.enumerate()) - before == set()
    with pytest.raises(OSError, match="."):
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    with p:
        assert said(ask(p, "openai")).startswith("Answer ")


def test_it_needs_its_extra_only_when_it_is_started() -> None:
    code = (
        "import sys\nsys.modules['uvicorn'] = None\n"
        "from leporello.errors import MissingExtra\nfrom leporello.testing import LocalProvider, ManualClock\n"
        "p = LocalProvider()\ntry:\n    p.__enter__()\nexcept MissingExtra as e:\n    print(e)\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60)
    assert "pip install 'leporello[testing]'" in done.stdout and done.stderr == ""

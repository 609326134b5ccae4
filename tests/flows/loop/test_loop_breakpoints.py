"""Marks for the providers' prefix caches: where they stand, and for whom."""

from __future__ import annotations

import json
from typing import Any

import pytest

import leporello
from leporello.testing import LocalProvider


def marked(parts: list[dict[str, Any]]) -> list[int]:
    return [i for i, p in enumerate(parts) if p.get("prompt_cache_breakpoint") == {"mode": "explicit"}]


@pytest.mark.parametrize("wire", ["openai", "openai-responses"])
@pytest.mark.parametrize("model", ["gpt-5.6", "gpt-5.12-mini", "gpt-6"])
def test_newer_models_of_openai_get_explicit_marks_and_their_server_takes_them(wire: Any, model: str) -> None:
    with leporello.open(":memory:", embedder="hash") as mem, LocalProvider() as provider, provider.openai() as client:
        session = mem.scope(user="a").session("s", system="Be brief.", model=model, mode="folded", window=16_000)
        session.pin("Never on Fridays.")
        for i in range(40):
            session.add({"role": "user", "content": f"What of plot {i}? " + "It is dry there. " * 40})
            session.add({"role": "assistant", "content": f"Plot {i} needs water. " + "It is dry there. " * 40})
        session.add("And now?")
        body = session.request(wire)
        first = body["messages" if wire == "openai" else "input"][0]
        assert first["role"] == ("system" if wire == "openai" else "developer") and "instructions" not in body
        assert "Never on Fridays." in first["content"][1]["text"] and len(first["content"]) > 3
        assert marked(first["content"]) == [1, len(first["content"]) - 2]
        assert body["prompt_cache_key"].startswith("leporello-")
        if wire == "openai":
            client.chat.completions.create(model=model, **body)
        else:
            client.responses.create(model=model, **body)
        assert provider.rejected == ()


@pytest.mark.parametrize("model", ["", "gpt-5", "gpt-5.5", "llama-4", "qwen3"])
def test_others_do_not(model: str) -> None:
    with leporello.open(":memory:", embedder="hash") as mem:
        session = mem.scope(user="a").session("s", system="Be brief.", model=model or None)
        session.add("Hello.")
        assert "prompt_cache_breakpoint" not in json.dumps([session.request("openai"), session.request("openai-responses")])

"""What is redacted is in no file of the store, in no index and in no answer; without a policy the log is verbatim."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import leporello
from leporello.errors import BadMessage, BadSetting, EmptyText
from leporello.memory import Memory
from leporello.records import Draft

SECRETS = ["hunter2!", "bob@example.com", "AKIAIOSFODNN7EXAMPLE", "4111111111111111", "Rosalind"]
SAID: list[Mapping[str, Any]] = [
    {"role": "user", "content": "My password is hunter2! and Rosalind is my sister. Please deploy on Tuesdays."},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "The key is AKIAIOSFODNN7EXAMPLE.", "signature": "c2lnbmVk"},
            {"type": "text", "text": "I write to bob@example.com."},
            {"type": "tool_use", "id": "toolu_1", "name": "mail", "input": {"to": "bob@example.com", "card": 4111111111111111}},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "sent to bob@example.com by Rosalind"}]},
    {"role": "assistant", "content": "Done. We decided to deploy on Tuesdays, because Rosalind is away on Mondays."},
]


def opened(folder: Path, **guard: Any) -> Memory:
    return leporello.open(folder / "memory.db", embedder="hash", policies={"guard": guard})


def kept(folder: Path) -> bytes:
    """Every byte of every file of the store, the write-ahead log among them."""
    return b"".join(p.read_bytes() for p in folder.iterdir())


def hidden(text: str) -> str:
    return text.replace("Rosalind", "[redacted: person]")


def test_nothing_that_was_redacted_is_anywhere_in_the_file(tmp_path: Path) -> None:
    with opened(tmp_path, redact=("secrets", "personal"), hook=hidden) as mem:
        with mem.scope(user="alice").session("s") as s:
            for message in SAID:
                s.add(message)
        mem.scope(user="alice").remember_many([Draft({"role": "user", "content": "Hi."}, name="bob@example.com")])
        held = kept(tmp_path)
        assert b"Tuesdays" in held and [x for x in SECRETS if x.encode() in held] == []
        told = mem.scope(user="alice").recall("what is my password?", k=20)
        assert "[redacted: password]" in " ".join(h.text for h in told)
        messages = list(mem.scope(user="alice").session("s").messages())
        assert [b["type"] for b in messages[1].original["content"]] == ["text", "tool_use"]
        assert messages[1].original["content"][1]["id"] == "toolu_1"
        assert messages[1].original["content"][1]["input"] == {"to": "[redacted: email]", "card": "[redacted: card]"}
    held = kept(tmp_path)
    assert b"Tuesdays" in held and [x for x in SECRETS if x.encode() in held] == []
    assert not any(x in json.dumps([m.to_dict() for m in messages]) for x in SECRETS)


def test_without_a_policy_the_log_is_verbatim(tmp_path: Path) -> None:
    with opened(tmp_path) as mem:
        with mem.scope(user="alice").session("s") as s:
            for message in SAID:
                s.add(message)
            assert [m.original for m in s.messages()] == SAID
        assert all(x.encode() in kept(tmp_path) for x in SECRETS)


def test_a_pattern_of_the_caller(tmp_path: Path) -> None:
    with opened(tmp_path, patterns=[["employee", r"E-\d{5}"]]) as mem:
        assert mem.scope().remember("Ask E-40211 or bob@example.com.").text == "Ask [redacted: employee] or bob@example.com."


def failing(text: str) -> str:
    raise ValueError(f"cannot read {text}")


def nothing(text: str) -> str:
    return None  # type: ignore[return-value]


def typed(text: str) -> str:
    raise EmptyText()


@pytest.mark.parametrize(("hook", "error", "what"), [
    (failing, BadSetting, "raised ValueError"), (nothing, BadSetting, "returned NoneType"), (typed, EmptyText, "no text"),
])  # fmt: skip
def test_a_hook_that_fails_keeps_everything_out(tmp_path: Path, hook: Any, error: type[Exception], what: str) -> None:
    with opened(tmp_path, hook=hook) as mem:
        with pytest.raises(error, match=what) as told:
            mem.scope().remember_many([{"role": "user", "content": "One of us."}, {"role": "user", "content": "Two of us."}])
        assert "of us" not in str(told.value) and told.value.__cause__ is None
        assert mem.scope().stats()["messages"] == 0 and b"of us" not in kept(tmp_path)


def test_a_message_that_holds_itself_is_refused(tmp_path: Path) -> None:
    loop: dict[str, Any] = {"role": "user"}
    loop["content"] = [loop]
    with opened(tmp_path, redact=("email",)) as mem, pytest.raises(BadMessage, match="nested too deeply"):
        mem.scope().remember_many([Draft(loop)])


def test_the_same_origin_is_known_again(tmp_path: Path) -> None:
    with opened(tmp_path, redact=("email",)) as mem:
        first = mem.scope().remember("bob@example.com", origin="1")
        assert mem.scope().remember("bob@example.com", origin="1") == first and first.text == "[redacted: email]"

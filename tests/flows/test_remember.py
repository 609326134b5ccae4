"""Messages in: verbatim, placed, on disk, once."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leporello
from leporello import Draft
from leporello.errors import BadMessage, BadTime, EmptyText, LeporelloError
from leporello.memory import Memory
from leporello.testing import ManualClock

DATA = Path(os.environ.get("LEPORELLO_EVAL_DATA") or Path(__file__).parents[2] / "../shared/data").resolve()
needs_data = pytest.mark.skipif(not DATA.exists(), reason=f"the data folder {DATA} is missing: set LEPORELLO_EVAL_DATA")


def test_a_message_has_its_place_its_time_and_its_trust(mem: Memory, clock: ManualClock) -> None:
    alice = mem.scope(user="alice")
    said = alice.remember("hello", name="Alice", at="2026-03-01T10:00:00+02:00")
    reply = alice.remember("hi", role="assistant")
    assert (said.pos, said.turn, said.role, said.name, said.trust) == (1, 1, "user", "Alice", "user")
    assert said.at == datetime(2026, 3, 1, 8, tzinfo=UTC) and said.recorded_at == clock.now()
    assert (reply.pos, reply.turn, reply.trust, reply.at) == (2, 1, "agent", clock.now())
    assert alice.get(said.id) == said


def test_the_empty_text_is_refused_and_nothing_is_written(mem: Memory) -> None:
    for bad in ("", None, 7, b"x"):
        with pytest.raises(LeporelloError):
            mem.scope().remember(bad)  # type: ignore[arg-type]
    with pytest.raises(EmptyText):
        mem.scope().remember("")
    assert mem.scope().stats()["messages"] == 0


@pytest.mark.parametrize("at", ["yesterday-ish", "2024-13-01", float("inf"), float("nan")])
def test_a_time_that_is_none_is_refused(mem: Memory, at: Any) -> None:
    with pytest.raises(BadTime):
        mem.scope().remember("x", at=at)


@needs_data
def test_every_nasty_text_comes_back_equal_and_changes_no_other(mem: Memory) -> None:
    texts: dict[str, str] = json.loads((DATA / "nasty" / "text.json").read_text(encoding="utf-8"))
    alice = mem.scope(user="alice")
    made = {name: alice.remember(text).id for name, text in texts.items()}
    for name, text in texts.items():
        found = alice.get(made[name])
        assert found.text == text
        assert alice.narrow(session=name).session(name).add({"role": "user", "content": [{"type": "text", "text": text}]})[0].text == text


@needs_data
def test_every_nasty_message_list_comes_back_equal(mem: Memory) -> None:
    for path in sorted((DATA / "nasty").glob("*.json")):
        if path.name in {"text.json", "queries.json", "scopes.json", "times.json", "deep.json", "dup_keys.json"}:
            continue
        taken = []
        session = mem.scope(user="u").session(path.name)
        for message in json.loads(path.read_text(encoding="utf-8")):
            try:
                taken += [m.original for m in session.add(message)] and [message]
            except BadMessage:
                continue
        again = [m.original for m in session.messages()]
        expected = [{"role": "user", "content": m} if isinstance(m, str) else m for m in taken]
        assert json.dumps(again) == json.dumps(expected), path.name


def test_chunks_are_transactions_and_what_was_yielded_is_there(tmp_path: Path) -> None:
    with leporello.open(tmp_path / "m.db", embedder="hash", policies={"write": {"chunk": 10}}) as mem:
        alice = mem.scope(user="alice")

        def source() -> Any:
            for i in range(25):
                yield f"message {i}"
            raise OSError("the source breaks")

        with pytest.raises(OSError, match="breaks"):
            alice.remember_many(source())
        assert alice.stats()["messages"] == 20
        told = alice.remember_many([{"text": "told", "role": "assistant", "name": "Bo", "at": "2024-01-01", "session": "s"}])
        assert [(m.text, m.role, m.name, m.at.year, m.session) for m in told] == [("told", "assistant", "Bo", 2024, "s")]
        with pytest.raises(EmptyText):
            alice.remember_many([{"text": ""}])


def test_an_origin_is_stored_once(mem: Memory) -> None:
    alice = mem.scope(user="alice")
    first = alice.remember("x", origin="k1")
    assert alice.remember("x again", origin="k1") == first
    drafts = [Draft({"role": "user", "content": "a"}, origin="k2"), Draft({"role": "user", "content": "b"}, origin="k2")]
    assert [m.text for m in alice.remember_many(drafts)] == ["a"]
    assert [m.text for m in mem.scope(user="bob").remember_many(drafts)] == ["a"]


def test_media_are_kept_once_and_come_back(mem: Memory, tmp_path: Path) -> None:
    data = "QUJD" * 50_000
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    url = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    session = mem.scope(user="alice").session("s")
    messages = [{"role": "user", "content": [image, {"type": "text", "text": "look"}]}, {"role": "user", "content": [url, image]}]
    for m in messages:
        session.add(m)
    assert [m.original for m in session.messages()] == messages
    assert os.path.getsize(tmp_path / "memory.db") + os.path.getsize(tmp_path / "memory.db-wal") < 4 * len(data)
    mem.scope(user="alice").erase_all()
    assert os.path.getsize(tmp_path / "memory.db-wal") == 0


def test_what_json_cannot_hold_is_refused_and_loses_nothing(mem: Memory) -> None:
    session = mem.scope().session("s")
    session.add("before")
    for bad in (
        {"role": "user", "content": {1, 2}},
        {"role": "user", 3: "x"},
        object(),
        {"role": "user", "content": [datetime.now(UTC)]},
        3,
    ):
        with pytest.raises(BadMessage):
            session.add(bad)
    assert [m.text for m in session.messages()] == ["before"]


def test_sdk_objects_and_whole_answers(mem: Memory) -> None:
    class Block:
        def __init__(self, **values: Any) -> None:
            self.values = values

        def model_dump(self, **_: Any) -> dict[str, Any]:
            return self.values

    session = mem.scope().session("s")
    call = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
    session.add(Block(id="msg_1", type="message", role="assistant", content=[call], stop_reason="tool_use", usage={"input_tokens": 1}))
    chat = {"role": "assistant", "content": "yes"}
    session.add(Block(object="chat.completion", choices=[{"message": chat}, {"message": {"role": "assistant", "content": "no"}}]))
    item = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
    session.add(
        Block(
            object="response", output=[item, {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}]
        )
    )
    assert [m.original for m in session.messages()][:3] == [{"role": "assistant", "content": [call]}, chat, item]
    assert [m.role for m in session.messages()] == ["assistant"] * 4


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["user", "assistant", "tool"]), st.text(min_size=1, max_size=40)), max_size=12), st.integers(1, 5)
)
def test_chunking_changes_nothing(said: list[tuple[str, str]], chunk: int) -> None:
    drafts = [Draft({"role": r, "content": t}) for r, t in said]
    placed = []
    for size in (chunk, 500):
        with leporello.open(":memory:", embedder="hash", policies={"write": {"chunk": size}}) as mem:
            session = mem.scope().session("s")
            session.add(drafts)
            placed.append([(m.pos, m.turn, m.role, m.text) for m in session.messages()])
    assert placed[0] == placed[1]


def test_a_message_over_the_limit_is_refused(tmp_path: Path) -> None:
    with leporello.open(tmp_path / "m.db", embedder="hash", policies={"write": {"max_message_bytes": 1_000}}) as mem:
        with pytest.raises(BadMessage, match="limit"):
            mem.scope().remember("x" * 1_001)
        assert mem.scope().remember("x" * 1_000).pos == 1


def test_unset_dimensions_do_not_mix_sessions(mem: Memory) -> None:
    mem.scope(user="alice", project="shop").session("s").add("one")
    mem.scope(user="alice").session("s").add("two")
    assert [m.text for m in mem.scope(user="alice", project="shop").session("s").messages()] == ["one"]
    assert [m.text for m in mem.scope(user="alice").session("s").messages()] == ["two"]
    assert mem.scope(user="alice").stats()["messages"] == 2


def test_the_clock_may_stand_still(mem: Memory, clock: ManualClock) -> None:
    made = [mem.scope().remember(f"{i}").id for i in range(50)]
    assert len(set(made)) == 50
    clock.advance(timedelta(days=1))
    assert mem.scope().remember("later").at == clock.now()

"""Messages: kept verbatim, in order, each once."""

from __future__ import annotations

import base64
import os
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from leporello.errors import LeporelloError
from leporello.ports import Store
from leporello.records import Message, Scope
from leporello.testing.conformance.opened import OpenedStore
from leporello.testing.conformance.samples import AT, NASTY, drafted, log, ready, say, write

S1 = Scope(user="ann", session="s1")
PNG = base64.b64encode(bytes(range(256)) * 40).decode("ascii")

ORIGINALS: dict[str, dict[str, Any]] = {
    "key order": {"content": "first", "role": "user"},
    "empty text": {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": "{}"}}]},
    "no content": {"role": "assistant", "content": None},
    "blocks": {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "c2ln"}, {"type": "tool_use", "id": "t", "input": {"a": [1, None]}}]},
    "unknown keys": {"role": "user", "content": "x", "extra": {"deep": [[[{"z": True}]]]}, "": "empty key"},
    "numbers": {"role": "tool", "content": [0.1, 1e300, -0.0, 2**70, False, None]},
    "nasty keys": {"role": "user", "content": [{"type": "other", "a\ud83d": 1, "\x00": 2, "data": "short"}]},
    "responses item": {"type": "function_call_output", "call_id": "c", "output": "done"},
    "surrogates in blocks": {"role": "user", "content": [{"type": "text", "text": "a\ud83d\ude00\ud800"}]},
}  # fmt: skip


def image(data: str, kind: str = "anthropic") -> dict[str, Any]:
    """A message with one picture, in the shape of a provider."""
    if kind == "anthropic":
        return {"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}]}
    return {"role": "user", "content": [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}]}


class MessageRules(OpenedStore):
    """`add_messages`, `messages`, `known_origins`."""

    @pytest.mark.parametrize("name", NASTY)
    def test_any_text_comes_back_equal(self, store: Store, name: str) -> None:
        """As text, as content, as name, as origin and as role."""
        text = NASTY[name]
        with store.write() as w:
            write(w, S1, [drafted({"role": text[:40], "content": text}, name=text[:1000], origin=text[:1000])])
        (m,) = log(store, S1)
        assert m.text == text and m.role == text[:40] and m.name == text[:1000] and m.origin == text[:1000]
        assert m.original == {"role": text[:40], "content": text}

    @pytest.mark.parametrize("name", ORIGINALS)
    def test_the_original_comes_back_equal(self, store: Store, name: str) -> None:
        """Whatever the provider's mapping holds, key by key."""
        original = ORIGINALS[name]
        with store.write() as w:
            (made,) = write(w, S1, [drafted(original)], text="what can be searched")
        assert made.original == original
        (m,) = log(store, S1)
        assert m.original == original and repr(m.original["content"] if "content" in m.original else "") == repr(
            original.get("content", "")
        )
        assert m.text == "what can be searched"

    @pytest.mark.parametrize("value", [{1: "a"}, {None: 1}, {"deep": [{True: 1}]}, {1, 2}, b"bytes", object()])
    def test_what_would_not_come_back_equal_is_refused(self, store: Store, value: object) -> None:
        """With a typed error, and nothing is written."""
        with pytest.raises(LeporelloError), store.write() as w:
            write(w, S1, [drafted({"role": "user", "content": "x"}), drafted({"role": "user", "content": "x", "extra": value})])
        assert log(store, S1) == []

    def test_an_empty_text_with_blocks_is_kept(self, store: Store) -> None:
        """The text of a message may be empty when its blocks are not."""
        original = {"role": "user", "content": [{"type": "custom", "x": 1}]}
        with store.write() as w:
            write(w, S1, [drafted(original)], text="")
        (m,) = log(store, S1)
        assert m.text == "" and m.original == original

    def test_what_is_returned_is_what_is_read(self, store: Store) -> None:
        """The records of a write equal those of a later read, field by field."""
        made = []
        with store.write() as w:
            made += write(w, S1, [drafted({"role": "user", "content": "one"}, name="Ann", origin="o1", trust="external")])
            made += write(
                w,
                S1,
                [drafted({"role": "user", "content": [{"type": "text", "text": "two"}]})],
                text="two",
                recorded_at=AT + timedelta(days=1),
            )
            made += write(w, S1, [drafted(image(PNG))], text="")
        assert log(store, S1) == made
        assert all(isinstance(m, Message) and m.scope == S1 for m in made)

    def test_times_are_exact_instants_in_utc(self, store: Store) -> None:
        """Microseconds, other zones, years 1 and 9999."""
        times = [
            AT, datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), datetime(1969, 7, 20, 20, 17, 40, 1, tzinfo=UTC),
            datetime(2026, 3, 29, 2, 30, tzinfo=timezone(timedelta(hours=5, minutes=45))),
        ]  # fmt: skip
        with store.write() as w:
            write(w, S1, [drafted({"role": "user", "content": "x"}, at=t) for t in times])
        read = [m.at for m in log(store, S1)]
        assert read == times and all(t.utcoffset() == timedelta(0) for t in read)

    def test_positions_bound_a_read(self, store: Store) -> None:
        """First and last are both included; what is outside is empty; thousands come in order."""
        say(store, S1, *(f"message {i}" for i in range(1, 1_204)))
        with store.read() as r:
            state = r.session(S1)
            assert state is not None and state.messages == 1_203
            assert [m.pos for m in r.messages(state)] == list(range(1, 1_204))
            assert [m.text for m in r.messages(state, first=499, last=502)] == [f"message {i}" for i in range(499, 503)]
            assert [m.pos for m in r.messages(state, first=1_203)] == [1_203]
            assert list(r.messages(state, first=1_204)) == list(r.messages(state, first=5, last=4)) == []

    def test_sessions_do_not_mix(self, store: Store) -> None:
        """Each session counts its own positions."""
        for i in range(3):
            for name in ("s1", "s2"):
                say(store, Scope(user="ann", session=name), f"{name} {i}")
        for name in ("s1", "s2"):
            held = log(store, Scope(user="ann", session=name))
            assert [(m.pos, m.text) for m in held] == [(i + 1, f"{name} {i}") for i in range(3)]

    def test_ids_are_unique(self, store: Store) -> None:
        """Over messages, episodes, facts, sessions and transactions."""
        seen = [m.id for i in range(5) for m in say(store, Scope(session=f"s{i % 2}"), *("x" * (j + 1) for j in range(200)))]
        assert len(set(seen)) == len(seen) == 1_000 and all(seen)

    @pytest.mark.parametrize("kind", ["anthropic", "openai"])
    def test_media_come_back_and_are_kept_once(self, store: Store, kind: str) -> None:
        """The same picture in many messages costs its bytes once."""
        data = base64.b64encode(os.urandom(400_000)).decode("ascii")
        with store.write() as w:
            write(w, S1, [drafted(image(data, kind)) for _ in range(20)], text="")
        assert [m.original for m in log(store, S1)] == [image(data, kind)] * 20
        store.scrub()
        assert 400_000 < store.size() < 4_000_000

    @pytest.mark.parametrize(
        "data", ["", "A", PNG[:-1], PNG + "\n", " " + PNG, PNG.replace("A", "-"), "=" * 600, PNG[:512] + "====" + PNG[512:]]
    )
    def test_what_only_looks_like_media_comes_back_equal(self, store: Store, data: str) -> None:
        """Base64 that is broken, padded oddly or cut is text like any other."""
        with store.write() as w:
            write(w, S1, [drafted(image(data)), drafted(image(data, "openai"))], text="")
        assert [m.original for m in log(store, S1)] == [image(data), image(data, "openai")]

    def test_two_media_in_one_message(self, store: Store) -> None:
        """Each goes back to its own place, equal contents too."""
        other = base64.b64encode(bytes(range(255, -1, -1)) * 40).decode("ascii")
        blocks = [*image(PNG)["content"], *image(other, "openai")["content"], *image(PNG)["content"]]
        original = {"role": "user", "content": [{"type": "tool_result", "content": blocks}]}
        with store.write() as w:
            write(w, S1, [drafted(original)], text="")
        assert log(store, S1)[0].original == original

    def test_known_origins(self, store: Store) -> None:
        """Those of a list that the session holds, exactly, and of no other session."""
        held = ["o1", "O1", "o%", "a\x00", "\ud83d", "\u00e9"]
        with store.write() as w:
            write(w, S1, [drafted({"role": "user", "content": "x"}, origin=o) for o in held])
            state = w.open_session(S1)
            other = w.open_session(Scope(user="ann", session="s2"))
            assert w.known_origins(state, [*held, "o2", "a", "e\u0301", "o_", "\ud83e"]) == set(held)
            assert w.known_origins(state, []) == set()
            assert w.known_origins(other, held) == set()

    def test_many_messages_without_origin(self, store: Store) -> None:
        """No origin is not an origin: such messages are never the same."""
        with store.write() as w:
            state = w.open_session(S1)
            new = ready(state, [drafted({"role": "user", "content": "same"}) for _ in range(3)])
            assert len(w.add_messages(state, new, recorded_at=AT)) == 3

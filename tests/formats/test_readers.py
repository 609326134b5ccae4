"""How each reader takes the shapes of its format, the good ones and the bad ones."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leporello.errors import FormatError, InputError
from leporello.formats import Learnt, Skipped, Unreadable, by_session, detect, original, read
from leporello.formats.groups import spoken_time
from leporello.records import Draft, Message, Scope

Write = Callable[..., Path]


def drafts(path: Path, format: str | None = None) -> list[Draft]:
    return [e for e in read(path, format) if isinstance(e, Draft)]


def learnts(path: Path, format: str | None = None) -> list[Learnt]:
    return [e for e in read(path, format) if isinstance(e, Learnt)]


def bad(path: Path, format: str | None = None) -> list[Unreadable]:
    return [e for e in read(path, format) if isinstance(e, Unreadable)]


def why(entries: list[Unreadable]) -> list[tuple[str, str]]:
    return [(e.place, e.why) for e in entries]


# --- lines and documents ------------------------------------------------------------------------------------------------

USER = {"role": "user", "content": "hello"}


def test_lines_are_cut_at_newlines_only(write: Write) -> None:
    text = "one\u2028two\u2029three\u0085four\ffive\x1esix\rseven"
    path = write(json.dumps({"role": "user", "content": text}, ensure_ascii=False) + "\r\n" + json.dumps(USER) + "\n")
    assert [d.original["content"] for d in drafts(path)] == [text, "hello"]


def test_a_byte_order_mark_and_lone_surrogates_pass(write: Write) -> None:
    path = write(b'\xef\xbb\xbf{"role": "user", "content": "\\ud83d alone"}\n')
    assert drafts(path)[0].original["content"] == "\ud83d alone"


def test_a_line_that_cannot_be_read_keeps_its_bytes_and_costs_no_other(write: Write) -> None:
    lines = [
        b'{"role": "user", "content": "caf\xe9"}',
        b'{"role": "user", "role": "x", "content": ""}',
        b"nonsense",
        b'{"content": "no role"}',
        b"7",
    ]
    path = write(b"\n".join([json.dumps(USER).encode(), *lines, json.dumps(USER).encode(), b'{"role": "us']))
    assert len(drafts(path)) == 2
    assert [e.raw for e in bad(path)] == [*lines, b'{"role": "us']
    assert why(bad(path)) == [
        ("line 2", "the bytes at character 33 are not UTF-8"),
        ("line 3", "the key 'role' is there twice"),
        ("line 4", "not JSON: Expecting value at character 1"),
        ("line 5", "A message needs a role; this one has the keys content."),
        ("line 6", "not a message but a number"),
        ("line 8", "not JSON: Unterminated string starting at at character 10"),
    ]


def test_one_bad_element_of_an_array_costs_no_other(write: Write) -> None:
    deep = "[" * 3000 + "]" * 3000
    good = json.dumps(USER)
    body = (
        f'[{good}, {{"role": "user", "role": "x"}}, {good}, {{"role": "user", "content": {deep}}}, {{"role" "user"}}, {"9" * 5000}, {good}]'
    )
    path = write(body)
    assert len(drafts(path)) == 3
    assert [e.place for e in bad(path)] == ["[1]", "[3]", "[4]", "[5]"]
    assert bad(path)[2].raw == b'{"role" "user"}'
    assert "deeper" in bad(path)[1].why


@pytest.mark.parametrize(
    ("tail", "told"),
    [
        (", ", "the array is not closed"),
        (', {"role": "user", "con', "not JSON: Unterminated string starting at at character 18"),
        ("] and more", "text after the array"),
        (", }]", "not JSON: Expecting value at character 1"),
    ],
)
def test_an_array_that_breaks_off_is_told(write: Write, tail: str, told: str) -> None:
    path = write("[" + json.dumps(USER) + tail)
    assert len(drafts(path)) == 1
    assert [e.why for e in bad(path)] == [told]


@pytest.mark.parametrize(
    "opener", ["[[", "[{", '[{"role": "user", "content": [1, }}}]', "[,", '{"messages": [{"role": "user", "content": 1}, }']
)
def test_broken_brackets_come_to_an_end(write: Write, opener: str) -> None:
    list(read(write(opener), "openai-chat"))


def test_nesting_is_bounded_before_it_can_hurt(write: Write) -> None:
    def nested(depth: int) -> dict[str, Any]:
        value: Any = "x"
        for _ in range(depth):
            value = [value]
        return {"role": "user", "content": value}

    path = write([nested(50), nested(150), nested(800)])
    assert [d.original for d in drafts(path)] == [nested(50)]
    assert [e.why for e in bad(path)] == ["nested deeper than 100 levels"] * 2


def test_compressed_files_are_read_and_damage_is_told(write: Write) -> None:
    lines = b"".join(json.dumps({"role": "user", "content": f"{n} {'x' * 50}"}).encode() + b"\n" for n in range(2000))
    packed = gzip.compress(lines)
    assert len(drafts(write(packed))) == 2000
    cut = write(packed[: len(packed) // 2])
    told = bad(cut)
    assert 0 < len(drafts(cut)) < 2000
    assert told[-1].place == "end"
    assert "compressed data is damaged" in told[-1].why
    assert "damaged" in bad(write(gzip.compress(b"[" + json.dumps(USER).encode() + b"]")[:-4]))[-1].why


def test_a_long_first_line_is_seen_whole(write: Write) -> None:
    long = {"type": "user", "sessionId": "s", "uuid": "u", "message": {"role": "user", "content": "x" * 3_000_000}}
    path = write([long, {**long, "uuid": "v", "message": USER}])
    assert detect(path) is not None
    assert [d.origin.split("#")[0] for d in drafts(path) if d.origin] == ["u", "v"]


def test_a_long_file_is_streamed(write: Write) -> None:
    path = write([{"role": "user", "content": "x" * 2000}] * 10_000)
    tracemalloc.start()
    count = sum(1 for _ in read(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 10_000
    assert peak < path.stat().st_size / 2


@pytest.mark.parametrize(
    ("content", "looks"),
    [
        (b"SQLite format 3\x00" + b"\x00" * 100, "a SQLite database"),
        (b"%PDF-1.7\n", "a PDF document"),
        ("hello".encode("utf-16"), "text in UTF-16"),
        (b"\x00\x01\x02", "binary data"),
        (b"just some words", "plain text"),
        (b'{"a": 1}\n{"b": 2}\n', "JSON Lines of no known kind"),
        (b"[1, 2, 3]", "JSON of no known kind"),
        (b"[" * 5000 + b"]" * 5000, "nested deeper than 100 levels"),
        (b'{\n "mapping": {},\n "title": "x"\n}', "a ChatGPT export"),
        (b'[{"chat_messages": [], "uuid": "u"}]', "a Claude.ai export"),
    ],
)
def test_what_is_not_read_is_named(write: Write, content: bytes, looks: str) -> None:
    with pytest.raises(FormatError, match=looks):
        read(write(content))


def test_paths_and_names_that_do_not_exist(tmp_path: Path, write: Write) -> None:
    for path in (tmp_path / "missing", tmp_path, "nul\x00"):
        with pytest.raises(InputError, match="cannot be opened"):
            read(path)
    with pytest.raises(FormatError, match="There is no format 'docx'"):
        read(write("x"), "docx")
    with pytest.raises(FormatError, match="aider"):
        read(write("x"), "aider")
    assert detect(write("just words")) is None
    assert [e.text for e in learnts(write("just words"), "markdown")] == ["just words"]


@pytest.mark.parametrize("content", [b"", b"\n\n \r\n", b"\xef\xbb\xbf", b"[]", gzip.compress(b"", mtime=0)])
def test_an_empty_file_has_no_messages(write: Write, content: bytes) -> None:
    reading = read(write(content))
    assert reading.format.reads
    assert list(reading) == []


def test_progress_is_told_in_bytes(write: Write) -> None:
    reading = read(write([USER] * 20_000))
    seen = [reading.source.done for _ in reading]
    assert 0 < seen[0] <= seen[-1] <= reading.source.total == reading.source.done


# --- message lists ------------------------------------------------------------------------------------------------------

CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}
ITEM = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "done"}]}
BLOCK = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]}


@pytest.mark.parametrize(
    ("value", "name"),
    [([USER, CALL], "openai-chat"), ([ITEM, OUTPUT], "openai-responses"), ([USER, BLOCK], "anthropic-messages"), ([USER], "openai-chat")],
)
def test_a_list_is_read_in_each_of_its_shapes(write: Write, value: list[Any], name: str) -> None:
    shapes = [
        json.dumps(value),
        json.dumps(value, indent=1),
        value,
        json.dumps({"messages": value}),
        json.dumps({"model": "m", "input": value}, indent=1),
    ]
    for shape in shapes:
        path = write(shape)
        found = detect(path)
        assert found is not None
        assert found.name == name
        assert [d.original for d in drafts(path)] == value


def test_a_system_prompt_beside_the_list_is_its_first_message(write: Write) -> None:
    for indent in (None, 1):
        path = write(json.dumps({"model": "m", "messages": [USER], "system": [{"type": "text", "text": "be brief"}]}, indent=indent))
        assert [d.original for d in drafts(path)] == [{"role": "system", "content": [{"type": "text", "text": "be brief"}]}, USER]


def test_each_line_of_conversations_is_a_session(write: Write) -> None:
    path = write([{"messages": [USER, CALL]}, {"id": "own", "messages": [USER, 3]}])
    assert [d.session for d in drafts(path)] == ["conversation-1", "conversation-1", "own"]
    assert why(bad(path)) == [("line 2: messages[1]", "not a message but a number")]


def test_names_and_times_of_messages(write: Write) -> None:
    path = write(
        [
            {"role": "user", "name": "Ann", "content": "a", "timestamp": "2024-01-01"},
            {"role": "tool", "name": "f", "content": "b", "timestamp": 5},
        ]
    )
    assert [(d.name, d.at) for d in drafts(path)] == [("Ann", datetime(2024, 1, 1, tzinfo=UTC)), (None, None)]


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=[]), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
message_like = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool", "x"]), "content": json_values}, optional={"extra": json_values}
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(message_like | json_values, max_size=6), st.sampled_from([None, 2]), st.booleans())
def test_any_list_adds_up_and_comes_back_equal(write: Write, values: list[Any], indent: int | None, lines: bool) -> None:
    path = write("\n".join(map(json.dumps, values)) if lines and len(values) > 1 else json.dumps(values, indent=indent))
    reading = read(path, "openai-chat")
    entries = list(reading)
    assert len(entries) == len(values)
    came = [v for v in values if isinstance(v, dict) and isinstance(v.get("role"), str) and v["role"]]
    assert [e.original for e in entries if isinstance(e, Draft)] == came
    assert entries == list(reading)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(st.binary(max_size=30).map(lambda b: b.replace(b"\n", b"")), max_size=6),
    st.sampled_from(["claude-code", "codex", "pi", "memory-jsonl"]),
)
def test_any_bytes_end_as_entries(write: Write, lines: list[bytes], name: str) -> None:
    content = b"text\n" + b"\n".join(lines)
    try:
        entries = list(read(write(content), name))
    except FormatError as refused:
        assert "looks like" in str(refused)
        return
    assert [e.raw for e in entries if isinstance(e, Unreadable)] == [b for b in (b"text", *lines) if b.strip()]


# --- coding agents ------------------------------------------------------------------------------------------------------


def record(uuid: str | None, parent: str | None = None, text: str = "x", **more: Any) -> dict[str, Any]:
    made = {"type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": {"role": "user", "content": text}, **more}
    return {k: v for k, v in made.items() if v is not None}


def test_claude_code_sessions_branches_and_trust(write: Write) -> None:
    stream = {
        "type": "assistant",
        "session_id": "s",
        "parent_tool_use_id": "t1",
        "uuid": "e",
        "message": {"role": "assistant", "content": []},
    }
    path = write(
        [
            record("a"),
            record("b", "a", isSidechain=True, agentId="worker"),
            record("c", isSidechain=True),
            record("d", "c", isSidechain=True),
            stream,
            record("f", "a", isCompactSummary=True),
            record("g", "f", isMeta=True),
            record(None, "g", timestamp="2024-01-01T00:00:00.5Z"),
            {"type": "system", "subtype": "compact_boundary", "uuid": "h", "content": "Conversation compacted"},
            {"type": "summary", "summary": "x", "leafUuid": "a"},
            {"type": "result", "session_id": "s", "result": "done"},
        ]
    )
    found = drafts(path)
    assert [d.session for d in found] == ["s", "s/worker", "s/sidechain-c", "s/sidechain-c", "s/t1", "s", "s", "s"]
    assert [(d.origin or "").split("#")[0] for d in found] == ["a", "b<a", "c", "d<c", "e", "f<a", "g<f", "8<g"]
    assert [d.trust for d in found] == [None, "agent", "agent", "agent", None, "agent", "agent", None]
    assert found[-1].at == datetime(2024, 1, 1, 0, 0, 0, 500_000, tzinfo=UTC)
    assert [(e.place, e.why) for e in read(path) if isinstance(e, Skipped)] == [
        ("line 9", "system/compact_boundary"), ("line 10", "summary"), ("line 11", "result"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "trust"),
    [
        ("<environment_context>\n<cwd>/x</cwd>\n</environment_context>", "agent"),
        ("# AGENTS.md instructions for /x", "agent"),
        ("<command-name>/clear</command-name>", None),
        ("<task>mine</task>", None),
        ("<environment_context> is what?", None),
    ],
)
def test_what_the_program_inserts_is_not_the_users_word(write: Write, text: str, trust: str | None) -> None:
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    rollout = write([{"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": item}])
    assert [d.trust for d in drafts(rollout)] == [trust]
    assert [d.trust for d in drafts(write([record("a", text=text)]))] == [trust]


def test_a_uuid_that_comes_again_with_other_content_is_another_message(write: Write) -> None:
    path = write([record("a", text="one"), record("a", text="two"), record("a", text="one"), record("b", "b")])
    origins = [d.origin for d in drafts(path)]
    assert origins[0] == origins[2] != origins[1]
    assert len(set(origins)) == 3


def test_codex_old_and_new(write: Write) -> None:
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}
    line = {"timestamp": "2026-01-01T00:00:00Z", "type": "response_item"}
    path = write(
        [
            {**line, "type": "session_meta", "payload": {"id": "r1"}},
            {**line, "payload": said},
            {**line, "type": "event_msg", "payload": {"type": "user_message", "message": "hi"}},
            {**line, "payload": {"type": "ghost_snapshot", "ghost_commit": {}}},
            {**line, "type": "compacted", "payload": {"message": "so far", "replacement_history": [said]}},
            {**line, "type": "session_meta", "payload": {"id": "r2"}},
            {**line, "payload": ITEM},
            {**line, "payload": 5},
        ]
    )
    found = drafts(path)
    assert [d.original for d in found[:1] + found[2:]] == [said, ITEM]
    assert found[1].original["content"] == "so far"
    assert found[1].original["payload"]["replacement_history"] == [said]
    assert (found[1].trust, {d.session for d in found}) == ("agent", {"r1"})
    assert [e.why for e in read(path) if isinstance(e, Skipped)] == [
        "session_meta", "event_msg/user_message", "response_item/ghost_snapshot", "session_meta",
    ]  # fmt: skip
    assert why(bad(path)) == [("line 8", "not a message but a number")]
    old = write([{"id": "r0", "timestamp": "2025-01-01", "instructions": None}, {"record_type": "state"}, said, ITEM])
    assert [(d.session, d.original) for d in drafts(old)] == [("r0", said), ("r0", ITEM)]


def test_pi_messages(write: Write) -> None:
    path = write(
        [{"type": "session", "id": "p", "cwd": "/"}, {"type": "message", "message": USER}, {"type": "message", "message": 1}, {"x": 1}]
    )
    with pytest.raises(FormatError, match="pi session"):
        read(path)
    entries = list(read(path, "pi"))
    assert [(d.session, d.original) for d in entries if isinstance(d, Draft)] == [("p", USER)]
    lost = [e for e in entries if isinstance(e, Unreadable)]
    assert why(lost) == [("line 3", "not a message but a number"), ("line 4", "a line without a type")]


# --- conversations between people ---------------------------------------------------------------------------------------

SAMPLE = {
    "sample_id": "c1",
    "qa": [],
    "conversation": {
        "speaker_a": "Ann",
        "speaker_b": "Bo",
        "session_10": [{"speaker": "Ann", "dia_id": "D10:1", "text": "later"}],
        "session_2_date_time": "1:56 pm on 8 May, 2023",
        "session_2": [
            {"speaker": "Bo", "dia_id": "D2:1", "text": "look", "img_url": ["u"], "blip_caption": "a red boat"},
            {"speaker": "Ann", "dia_id": "D2:1", "text": "nice"},
            {"speaker": "Ann"},
        ],
    },
}


def test_locomo(write: Write) -> None:
    for value, prefix in (
        (SAMPLE, "c1/"),
        ([SAMPLE], "c1/"),
        ([{"conversation": SAMPLE["conversation"]}], "conversation-1/"),
        (SAMPLE["conversation"], ""),
    ):
        path = write(json.dumps(value, indent=1))
        found = drafts(path)
        assert [(d.session, d.name, d.original["role"]) for d in found] == [
            (f"{prefix}session_2", "Bo", "assistant"), (f"{prefix}session_2", "Ann", "user"), (f"{prefix}session_10", "Ann", "user"),
        ]  # fmt: skip
        assert found[0].original == {
            "role": "assistant",
            "content": "look [image: a red boat]",
            "img_url": ["u"],
            "blip_caption": "a red boat",
        }
        assert found[0].at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
        assert found[2].at is None
        assert found[0].origin == "D2:1"
        assert len({d.origin for d in found}) == 3
        assert [e.why for e in bad(path)] == ["a turn without a text"]


def test_spoken_times() -> None:
    assert spoken_time("12:05 am on 1 December, 2023") == datetime(2023, 12, 1, 0, 5, tzinfo=UTC)
    assert spoken_time("12:05 pm on 1 dec 2023") == datetime(2023, 12, 1, 12, 5, tzinfo=UTC)
    assert spoken_time("2023-12-01") == datetime(2023, 12, 1, tzinfo=UTC)
    assert [spoken_time(x) for x in ("1:00 pm on 31 June, 2023", "1:00 pm on 1 Foo, 2023", "soon", None)] == [None] * 4


def test_groups_keep_what_they_cannot_read(write: Write) -> None:
    body = {"name": "n", "groups": [{"id": 1, "messages": [{"id": 0, "text": "a", "mood": "glad"}, {"id": 0, "text": "b"}, 7]}, {"id": 2}]}
    path = write(json.dumps(body, indent=1))
    assert [(d.session, d.original) for d in drafts(path)] == [
        ("1", {"role": "user", "content": "a", "mood": "glad"}),
        ("1", {"role": "user", "content": "b"}),
    ]
    assert why(bad(path)) == [("groups[0].messages[2]", "a message without a text"), ("groups[1]", "a group without messages")]


# --- out ----------------------------------------------------------------------------------------------------------------


def stored(draft: Draft, pos: int) -> Message:
    at = datetime(2024, 1, 1, tzinfo=UTC)
    return Message(
        id=str(pos), scope=Scope(session=draft.session), pos=pos, turn=1, role="user", name=None, at=at, recorded_at=at, trust="user", text="",
        original=draft.original,
    )  # fmt: skip


def test_what_went_in_comes_out_equal_and_apart(write: Write) -> None:
    path = write([record("a"), record("b", isSidechain=True), record("c")])
    messages = [stored(d, n) for n, d in enumerate(drafts(path))]
    out = original(messages)
    assert out == [m.original for m in messages]
    out[0]["content"] = "changed"
    assert messages[0].original["content"] == "x"
    assert {k: len(v) for k, v in by_session(messages).items()} == {"s": 2, "s/sidechain-b": 1}

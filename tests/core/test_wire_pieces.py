"""What goes out as it came, what is converted, what is clipped, and what is named with an id."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leporello.core import wire
from leporello.core.tokens import estimate
from leporello.core.wire import Caps, Sent
from leporello.errors import BadValue

PNG = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
PDF = {"type": "document", "title": "a.pdf", "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"}}
THINK = {"type": "thinking", "thinking": "hm", "signature": "sig"}
USE = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}
FOUND = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": [{"type": "web_search_result", "title": "T", "url": "https://t.example", "encrypted_content": "zzz"}],
}
CALL = {"type": "tool_use", "id": "a", "name": "f", "input": {"x": "é"}}
GO = {"role": "user", "content": "go"}


def result(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": content, **more}]}


def says(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def test_anthropic_blocks_come_back_as_they_were_without_breakpoints() -> None:
    search = {"type": "search_result", "title": "t", "source": "s", "content": [{"type": "text", "text": "found"}]}
    mark = {"cache_control": {"type": "ephemeral"}}
    cited = {"type": "text", "text": " as it says ", "citations": [{"type": "char_location", "cited_text": "x", "document_index": 0}]}
    log = [
        {"role": "user", "content": [{"type": "text", "text": " look\n"} | mark, PNG | mark, PDF]},
        says(THINK, {"type": "text", "text": ""}, USE, FOUND, cited, CALL),
        result([{"type": "text", "text": "seen"} | mark, PNG, PDF, search | mark]),
        says({"type": "redacted_thinking", "data": "d"}, {"type": "text", "text": "done"}),
        GO,
    ]
    sent = wire.for_anthropic([Sent(m, thinking=True) for m in log])
    assert sent[0]["content"] == [{"type": "text", "text": " look\n"}, PNG, PDF]
    assert sent[1]["content"] == [THINK, USE, FOUND, cited, CALL]
    assert sent[2]["content"] == [
        {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "seen"}, PNG, PDF, search]}
    ]
    assert sent[3]["content"][0]["data"] == "d"
    assert [b["type"] for b in wire.for_anthropic(log)[1]["content"]] == ["server_tool_use", "web_search_tool_result", "text", "tool_use"]


def test_thinking_keeps_its_place_and_never_ends_a_turn() -> None:
    second = {"type": "tool_use", "id": "b", "name": "f", "input": {}}
    log = [GO, says(THINK, CALL, {"type": "text", "text": "late"}, THINK, second, THINK)]
    sent = wire.for_anthropic([Sent(m, thinking=True) for m in log])
    assert sent[1]["content"] == [THINK, {"type": "text", "text": "late"}, CALL, THINK, second]
    unsigned = says({"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "x"})
    assert wire.for_anthropic([GO, Sent(unsigned, thinking=True), GO])[1]["content"] == [{"type": "text", "text": "x"}]


def test_a_paused_turn_ends_with_the_model_and_every_other_log_with_the_user() -> None:
    paused = wire.for_anthropic([GO, says(USE)])
    assert paused[-1] == {"role": "assistant", "content": [USE]}
    assert wire.for_anthropic([GO, says(USE), says(FOUND, {"type": "text", "text": "x"}), GO])[1]["content"][:2] == [USE, FOUND]
    for render in (wire.for_anthropic, wire.for_openai, wire.for_responses):
        sent = render([GO, {"role": "assistant", "content": "done"}])
        assert wire.CONTINUE in json.dumps(sent[-1]) and sent[-1]["role"] == "user"
    gone = wire.for_anthropic([GO, says(USE), GO])
    assert gone[1]["content"] == [{"type": "text", "text": '[Tool call] web_search {"query": "q"}'}]


def test_a_search_of_the_provider_is_told_in_words_elsewhere() -> None:
    sent = wire.for_openai([GO, says(USE, FOUND, {"type": "text", "text": "so"}), GO])
    assert sent[1]["content"].endswith("[Result of an earlier tool call]\nT https://t.example\n\nso")


def test_an_error_holds_text_only() -> None:
    sent = wire.for_anthropic([GO, says(CALL), result([{"type": "text", "text": "bad"}, PNG], is_error=True)])
    block = sent[2]["content"][0]
    assert block["is_error"] and [b["type"] for b in block["content"]] == ["text", "text"]
    assert wire.for_openai([GO, says(CALL), result("bad", is_error=True)])[2]["content"] == "Error: bad"


def test_images_and_files_cross_between_the_providers() -> None:
    chat = [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AAAA"}},
    ]
    there = wire.for_anthropic([{"role": "user", "content": chat}])[0]["content"]
    assert there == [PNG, {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}, {**PDF}]
    back = wire.for_openai([{"role": "user", "content": there}])[0]["content"]
    assert back[0]["image_url"] == {"url": "data:image/png;base64,AAAA"} and back[1:] == chat[1:]
    assert wire.for_openai([{"role": "user", "content": chat}])[0]["content"] == chat
    items = wire.for_responses([{"role": "user", "content": chat}])[0]["content"]
    assert [i["type"] for i in items] == ["input_image", "input_image", "input_file"]
    assert wire.for_anthropic([{"role": "user", "content": items}])[0]["content"] == there
    assert wire.for_responses([{"role": "user", "content": items}])[0]["content"] == items


def test_a_text_document_is_read_where_documents_are_not_taken() -> None:
    document = {"type": "document", "title": "notes", "source": {"type": "text", "media_type": "text/plain", "data": "the notes"}}
    assert wire.for_anthropic([{"role": "user", "content": [document]}])[0]["content"] == [document]
    assert wire.for_openai([{"role": "user", "content": [document]}])[0]["content"] == "[document notes]\nthe notes"
    given_as_file = {"type": "input_file", "filename": "n.txt", "file_data": "data:text/plain;base64,aGVsbG8="}
    made = wire.for_anthropic([{"role": "user", "content": [given_as_file]}])[0]["content"][0]
    assert made["source"] == {"type": "text", "media_type": "text/plain", "data": "hello"}


def test_the_image_of_a_result_stands_after_all_results_in_chat() -> None:
    second = {"type": "tool_use", "id": "b", "name": "f", "input": {}}
    log = [
        GO,
        says(CALL, second),
        result([PNG]),
        {"role": "tool", "tool_call_id": "b", "content": "two"},
        {"role": "user", "content": "and?"},
    ]
    sent = wire.for_openai(log)
    assert [m["role"] for m in sent] == ["user", "assistant", "tool", "tool", "user"]
    assert sent[2]["content"] == "[image: shown in the user message below]"
    assert [p["type"] for p in sent[4]["content"]] == ["text", "image_url", "text"]
    output = wire.for_responses(log)[3]["output"]
    assert output == [{"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,AAAA"}]


@pytest.mark.parametrize("render", [wire.for_anthropic, wire.for_openai, wire.for_responses])
def test_what_may_not_go_out_is_named_with_its_id(render: Any) -> None:
    large = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 157_336}}
    stub = r"[image image/png, 118 kB, left out; unfold(\"m_7#1\") brings it back]"
    message = {"role": "user", "content": [{"type": "text", "text": "see"}, large]}
    assert stub in json.dumps(render([Sent(message, id="m_7", media=False)]))
    assert stub in json.dumps(render([Sent(message, id="m_7")], caps=Caps(media_bytes=100_000)))
    assert "left out" not in json.dumps(render([Sent(message, id="m_7")], caps=Caps()))
    assert "[image image/png, 118 kB, left out]" in json.dumps(render([Sent(message, media=False)]))
    cleared = render([GO, says(CALL), Sent(result("x" * 1234), id="m_9", clear=True)])
    assert r"[tool result, 1,234 characters, left out; unfold(\"m_9#0\") brings it back]" in json.dumps(cleared)


@given(st.text(alphabet="ab 語😀é\n", max_size=900), st.integers(40, 120))
def test_clipped_text_is_head_and_tail_within_its_cap(text: str, tokens: int) -> None:
    out = wire.clipped(text, tokens, id="m_1#0")
    assert estimate(out) <= tokens
    if estimate(text) <= tokens:
        assert out == text
        return
    head, _, rest = out.partition("\n[… ")
    count, _, rest = rest.partition(' characters left out; unfold("m_1#0") shows all …]\n')
    assert text.startswith(head) and text.endswith(rest)
    assert len(head) + len(rest) + int(count.replace(",", "")) == len(text)
    assert len(head) >= len(rest) or not text.isascii()


@pytest.mark.parametrize("render", [wire.for_anthropic, wire.for_openai, wire.for_responses])
def test_long_results_texts_and_arguments_are_clipped(render: Any) -> None:
    call = {"type": "tool_use", "id": "a", "name": "f", "input": {"path": "p.py", "text": "word " * 4_000}}
    log = [Sent({"role": "user", "content": "語" * 900}, id="u"), Sent(says(call), id="c"), Sent(result("line\n" * 4_000), id="r")]
    sent = render(log, caps=Caps(result=100, text=100, call=200))
    written = json.dumps(sent, ensure_ascii=False)
    for id in ("u#0", "c#0", "r#0"):
        assert id in written and "characters left out; unfold(" in written
    assert "p.py" in written and estimate(written) < 900


def test_arguments_stay_an_object_whatever_was_written() -> None:
    def call(text: str) -> dict[str, Any]:
        return {"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": text}}]}

    kept = '{"b":1,  "a":"é"}'
    assert wire.for_openai([GO, call(kept)])[1]["tool_calls"][0]["function"]["arguments"] == kept
    assert wire.for_anthropic([GO, call(kept)])[1]["content"][0]["input"] == {"b": 1, "a": "é"}
    assert wire.for_anthropic([GO, call("{broken")])[1]["content"][0]["input"] == {"arguments": "{broken"}
    many = json.dumps({str(n): n for n in range(2_000)})
    small = wire.for_openai([GO, call(many)], caps=Caps(call=100))[1]["tool_calls"][0]["function"]["arguments"]
    assert list(json.loads(small)) == ["arguments"] and estimate(small) <= 120


def test_memory_stands_beside_the_words_of_the_user() -> None:
    log = [Sent({"role": "user", "content": "why?"}, beside="remembered")]
    assert wire.for_anthropic(log, head="first")[0]["content"] == [{"type": "text", "text": t} for t in ("first", "why?", "remembered")]
    assert wire.for_openai(log, head="first") == [{"role": "user", "content": "first\n\nwhy?\n\nremembered"}]
    assert [m["content"][-1]["text"] for m in wire.for_responses(log, head="first")] == ["first", "remembered"]


def test_a_refusal_goes_back_as_a_refusal() -> None:
    log = [GO, {"role": "assistant", "content": None, "refusal": "No."}, GO]
    assert wire.for_openai(log)[1] == {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}
    assert wire.for_responses(log)[1]["content"] == [{"type": "refusal", "refusal": "No."}]
    assert wire.for_anthropic(log)[1]["content"] == [{"type": "text", "text": "No."}]


def test_items_of_responses_keep_their_ids_only_where_they_may() -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e"}
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": '{"x": 1}'}
    output = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}}
    text = {"type": "output_text", "text": "done", "annotations": []}
    message = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [text], "phase": "final_answer"}
    log = [GO, reasoning, call, output, search, message, GO]
    native = wire.for_responses([Sent(m, thinking=True) for m in log])
    assert native[1:-1] == log[1:-1]
    plain = wire.for_responses(log)
    assert plain[1] == {k: v for k, v in call.items() if k != "id"} and plain[2] == output
    assert plain[3]["content"] == [{"type": "output_text", "text": '[web_search_call] {"action": {"type": "search", "query": "q"}}'}]
    assert plain[4] == {"role": "assistant", "content": [{"type": "output_text", "text": "done"}], "phase": "final_answer"}
    half = wire.for_responses([Sent(m, thinking=m is not reasoning) for m in log])
    assert half[1] == plain[1], "an id whose reasoning is gone"
    alone = wire.for_responses([Sent(m, thinking=True) for m in (GO, reasoning, GO)])
    assert [i["role"] for i in alone] == ["user", "user"]


def test_a_custom_tool_takes_text() -> None:
    log = [
        GO,
        {"type": "custom_tool_call", "id": "ct", "call_id": "c", "name": "patch", "input": "raw {"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "ok"},
    ]
    assert wire.for_responses(log)[1:] == [{k: v for k, v in log[1].items() if k != "id"}, log[2]]
    assert wire.for_openai(log)[1]["tool_calls"][0]["custom"] == {"name": "patch", "input": "raw {"}
    assert wire.for_anthropic(log)[1]["content"][0]["input"] == {"input": "raw {"}


def test_calls_in_a_row_go_out_as_one_unit() -> None:
    calls = [{"type": "function_call", "call_id": i, "name": "f", "arguments": "{}"} for i in ("a", "b")]
    outputs = [{"type": "function_call_output", "call_id": i, "output": i} for i in ("b", "a")]
    sent = wire.for_anthropic([GO, *calls, *outputs])
    assert [b["id"] for b in sent[1]["content"]] == ["a", "b"]
    assert [(b["tool_use_id"], b["content"]) for b in sent[2]["content"]] == [("a", "a"), ("b", "b")]


FUNCTION = {"name": "read", "description": "Reads.", "schema": {"type": "object", "properties": {"p": {"type": "string"}}}}
SHAPES = {
    "anthropic": {"name": "read", "description": "Reads.", "input_schema": FUNCTION["schema"]},
    "openai": {"type": "function", "function": {"name": "read", "description": "Reads.", "parameters": FUNCTION["schema"]}},
    "openai-responses": {"type": "function", "name": "read", "description": "Reads.", "parameters": FUNCTION["schema"], "strict": False},
}


@pytest.mark.parametrize("to", list(SHAPES))
@pytest.mark.parametrize("of", list(SHAPES))
def test_function_tools_take_every_shape(of: str, to: str) -> None:
    assert wire.tools_for(to, [SHAPES[of], SHAPES[of]]) == [SHAPES[to]]


def test_tools_of_other_providers_are_left_out_and_names_made_legal() -> None:
    memory, search = {"type": "memory_20250818", "name": "memory"}, {"type": "web_search"}
    assert wire.tools_for("anthropic", [memory, search]) == [memory]
    assert wire.tools_for("openai-responses", [memory, search, search]) == [search, search]
    assert wire.tools_for("openai", [memory, search]) == []
    mcp = {"name": "a.b\x00", "inputSchema": {"type": "object"}}
    made = wire.tools_for("openai", [mcp])[0]["function"]["name"]
    log = [GO, says({"type": "tool_use", "id": "1", "name": "a.b\x00", "input": {}})]
    assert made == wire.for_openai(log)[1]["tool_calls"][0]["function"]["name"] == wire.tool_name("openai", "a.b\x00")
    custom = {"type": "custom", "name": "patch", "description": "Patches.", "format": {"type": "text"}}
    assert wire.tools_for("openai-responses", [custom]) == [custom]
    assert wire.tools_for("openai", [custom])[0]["custom"]["format"] == {"type": "text"}
    assert wire.tools_for("anthropic", [custom])[0]["input_schema"]["required"] == ["input"]
    with pytest.raises(BadValue, match="no wire"):
        wire.tools_for("other", [])


def test_a_message_id_of_another_provider_never_goes_to_responses() -> None:
    foreign = {"type": "message", "id": "msg_01", "role": "assistant", "content": [{"type": "text", "text": "hi"}]}
    sent = wire.for_responses([GO, Sent(foreign, thinking=True), GO])
    assert sent[1] == {"role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}


def test_media_that_no_api_takes_become_stubs() -> None:
    audio = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}}
    bitmap = {"type": "image", "data": "AAAA", "mimeType": "image/bmp"}
    stored = {"type": "image", "source": {"type": "file", "file_id": "file_a"}}
    broken = {"type": "input_file", "filename": "n.txt", "file_data": "data:text/plain;base64,A"}
    message = {"role": "user", "content": [audio, bitmap, stored, broken]}
    assert [b.get("text", b["type"]) for b in wire.for_anthropic([message])[0]["content"]] == [
        "[audio audio/mp3, 3 bytes, left out]", "[image image/bmp, 3 bytes, left out]", "image", "[file text/plain n.txt, left out]",
    ]  # fmt: skip
    chat = wire.for_openai([message])[0]["content"]
    assert chat[0] == audio and chat[2] == {"type": "text", "text": "[image, left out]"}
    assert [p["type"] for p in wire.for_responses([message])[0]["content"]] == ["input_text"] * 3 + ["input_file"]


def test_files_that_openai_holds_go_to_both_of_its_apis() -> None:
    image, file = {"type": "input_image", "file_id": "file-1"}, {"type": "input_file", "file_id": "file-2"}
    chat = {"type": "file", "file": {"file_id": "file-2"}}
    assert wire.for_openai([{"role": "user", "content": [image, file]}])[0]["content"] == [
        {"type": "text", "text": "[image, left out]"},
        chat,
    ]
    assert wire.for_responses([{"role": "user", "content": [chat]}])[0]["content"] == [file]
    shot = {"type": "computer_call_output", "call_id": "c", "output": {"type": "computer_screenshot", "file_id": "file-1"}}
    call = {"type": "computer_call", "id": "cu", "call_id": "c", "action": {"type": "screenshot"}}
    sent = wire.for_responses([GO, call, shot])
    assert sent[1]["name"] == "computer_call" and sent[2]["output"] == [{"type": "input_image", "detail": "auto", "file_id": "file-1"}]


def test_a_document_of_blocks_goes_home_as_it_is_and_elsewhere_as_text() -> None:
    inner = [{"type": "text", "text": "one", "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": "two"}]
    log = [{"role": "user", "content": [{"type": "document", "source": {"type": "content", "content": inner}}]}]
    home = wire.for_anthropic(log)[0]["content"][0]["source"]["content"]
    assert home == [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    assert wire.for_openai(log)[0]["content"] == "one\ntwo"
    link = {"type": "document", "source": {"type": "url", "url": "https://example.org/a.pdf"}}
    assert wire.for_responses([{"role": "user", "content": [link]}])[0]["content"] == [
        {"type": "input_file", "file_url": "https://example.org/a.pdf"}
    ]
    assert wire.for_openai([{"role": "user", "content": [link]}])[0]["content"] == "[document https://example.org/a.pdf, left out]"


def test_what_the_provider_made_or_ran_is_told_without_its_bytes() -> None:
    made = {"type": "image_generation_call", "id": "ig", "status": "completed", "result": "A" * 4_000}
    ran = {
        "type": "code_execution_tool_result",
        "tool_use_id": "gone",
        "content": {"type": "code_execution_result", "stdout": "42", "encrypted_content": "zz"},
    }
    sent = wire.for_openai([GO, Sent(made, id="m_1"), says(ran), GO])[1]["content"]
    assert '[image_generation_call] [image image/png, 3 kB, left out; unfold("m_1#0") brings it back]' in sent
    assert "42" in sent and "zz" not in sent


def test_values_that_json_does_not_know_are_written_as_text() -> None:
    deep: Any = "end"
    for _ in range(200):
        deep = [deep]
    search = {"type": "search_result", "title": "t", "source": 1.5, "content": [], "more": (float("inf"), object, deep)}
    sent = wire.for_anthropic([{"role": "user", "content": [search]}])[0]["content"][0]
    assert sent["source"] == 1.5 and sent["more"][0] == "inf" and "[nested too deep]" in json.dumps(sent)


def test_a_result_of_blocks_over_its_cap_becomes_one_text_and_its_media_stay() -> None:
    search = {"type": "search_result", "title": "t", "source": "s", "content": [{"type": "text", "text": "found " * 400}]}
    log = [GO, says(CALL), Sent(result([search, PNG, {"type": "text", "text": "tail"}]), id="r")]
    content = wire.for_anthropic(log, caps=Caps(result=100))[2]["content"][0]["content"]
    assert [b["type"] for b in content] == ["text", "image"] and content[0]["text"].endswith("tail")
    shown = wire.for_anthropic([Sent({"role": "user", "content": [search]}, id="u")], caps=Caps(result=100, text=100))
    assert shown[0]["content"][0]["type"] == "text" and "u#0" in shown[0]["content"][0]["text"]


def test_a_call_that_running_code_made_names_that_code_only_beside_it() -> None:
    code = {"type": "server_tool_use", "id": "srvtoolu_2", "name": "code_execution", "input": {}}
    made = CALL | {"caller": {"type": "code_execution_20250825", "tool_id": "srvtoolu_2"}}
    done = {"type": "code_execution_tool_result", "tool_use_id": "srvtoolu_2", "content": {"type": "code_execution_result", "stdout": "1"}}
    log = [GO, says(code, made), result("ok"), says(done, {"type": "text", "text": "so"}), GO]
    sent = wire.for_anthropic(log)
    assert sent[1]["content"] == [code, made] and sent[3]["content"][0] == done
    assert wire.for_anthropic([GO, says(made), result("ok")])[1]["content"] == [CALL]
    assert wire.for_anthropic([GO, says(CALL | {"caller": {"type": "direct"}}), result("ok")])[1]["content"] == [CALL]


def test_messages_of_older_and_other_shapes_are_read() -> None:
    log = [
        {"type": "user", "content": ["words", "more"]},
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "ok"},
        {"type": "agent_message", "content": "hello from another agent"},
    ]
    sent = wire.for_openai(log)
    assert [m["role"] for m in sent] == ["user", "assistant", "tool", "user"]
    assert sent[0]["content"] == "words\n\nmore" and sent[1]["tool_calls"][0]["id"] == "f"
    raw = {"type": "input_file", "filename": "a.pdf", "file_data": "AAAA"}
    assert wire.for_anthropic([{"role": "user", "content": [raw]}])[0]["content"] == [PDF]

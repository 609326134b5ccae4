"""What commands print and refuse, in this process: shapes of JSON, readable text, help, wrong usage, nasty input."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import leporello
from leporello.entrypoints import output
from leporello.entrypoints.cli import app

Run = Callable[..., Any]
HIT = {"id", "kind", "text", "score", "why", "provenance", "valid_from", "valid_to", "confidence", "retention", "status"}


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command with its path."""
    for name, inner in getattr(command, "commands", {}).items():
        yield (*path, name), inner
        yield from commands(inner, (*path, name))


COMMANDS = dict(commands(get_command(app)))

# --- help and usage -----------------------------------------------------------------------------------------------------


def test_the_commands_are_those_that_are_promised() -> None:
    assert {p[0] for p in COMMANDS} == {
        "demo", "import", "export", "remember", "learn", "recall", "context", "fold", "compact", "unfold", "close", "notes", "pins", "sessions",
        "messages", "episodes", "facts", "explain", "erase", "stats", "doctor", "backup", "reembed", "migrate", "bench", "consolidate",
        "confirm", "contradict", "retract", "archive", "restore", "history", "conflicts", "quarantine", "find", "graph", "project",
        "maintain", "used", "keep", "age", "skill", "forget",
    }  # fmt: skip
    assert {p[1] for p in COMMANDS if len(p) > 1} == {
        "list", "set", "get", "unset", "clear", "export", "import", "add", "remove", "write", "read", "cost", "find", "fold", "loop", "contradict", "know",
        "forget", "use", "install", "plot", "simulate", "fit",
    }  # fmt: skip


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_has_one_line_of_purpose_and_an_example(run: Run, path: tuple[str, ...]) -> None:
    done = run(*path, "--help")
    purpose, _, rest = COMMANDS[path].help.partition("\n\n")
    assert done.code == 0 and "\n" not in purpose and purpose.endswith(".") and len(purpose) <= 120
    example = re.search(r"Example: leporello (.+)", rest)
    assert example and example[1].startswith(" ".join(path)) or path[0] in {"notes", "pins", "bench"}
    assert "Example: leporello" in done.out and "--json" in done.out


def test_without_a_command_the_help_is_shown(run: Run) -> None:
    done = run()
    assert done.code == 0 and "recall" in done.out and "--install-completion" in done.out


def test_the_version(run: Run) -> None:
    assert run("--version").out == f"leporello {leporello.__version__}\n"
    assert run("--json", "--version").value == {"version": leporello.__version__}


@pytest.mark.parametrize(
    "arguments",
    [
        ("bogus",), ("recall",), ("recall", "x", "--bogus"), ("recall", "x", "-k", "many"), ("import",), ("erase",), ("erase", "x", "--all"),
        ("messages",), ("fold",), ("compact",), ("close",), ("pins",), ("pins", "add", "x"), ("notes", "set", "x"), ("bench", "nothing"),
        ("import", ".", "--quarantine", "q"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_wrong_usage_exits_with_2_and_touches_nothing(run: Run, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    before = run(*arguments)
    assert before.code == 2 and before.out == "" and re.fullmatch(r"Error: .+\nHint: .+\n", before.err)
    told = run("--json", *arguments)
    assert told.code == 2 and told.out == "" and told.error["type"] == "UsageError"
    assert list(tmp_path.iterdir()) == []


def test_after_two_dashes_nothing_is_an_option(run: Run) -> None:
    assert run("remember", "--", "--json").code == 0
    done = run("recall", "--", "--json")
    assert done.code == 0 and done.out.startswith("1. ")


# --- the store ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        ("recall", "x"),
        ("context",),
        ("stats",),
        ("doctor",),
        ("facts",),
        ("consolidate",),
        ("conflicts",),
        ("history", "f_0"),
        ("migrate",),
        ("reembed",),
        ("backup", "b"),
    ],
)
def test_reading_makes_no_store(run: Run, tmp_path: Path, command: tuple[str, ...]) -> None:
    done = run(*command, "--json")
    assert done.code == 1 and done.error["type"] == "StoreUnreachable" and list(tmp_path.iterdir()) == []


def test_a_store_that_is_none_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a database\n" * 100)
    assert run("stats", "--db", "notes.txt", "--json").error["type"] == "NotAStore"
    assert run("remember", "x", "--db", "no/such/folder.db", "--json").error["type"] == "StoreUnreachable"
    assert run("remember", "x", "--db", "a\x00b", "--json").error["type"] == "StoreUnreachable"


def test_a_store_that_may_only_be_read_is_read(run: Run, tmp_path: Path) -> None:
    run("remember", "The staging server is called heron.")
    os.chmod(tmp_path / "memory.db", 0o444)
    assert run("recall", "staging server", "--json").value["hits"]
    assert run("remember", "x", "--json").error["type"] == "ReadOnlyStore"


@pytest.mark.parametrize("content", [None, b"", b"\nsecond", b"\xff\xfe\n"])
def test_a_key_file_that_holds_no_key_is_refused(run: Run, tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "key").write_bytes(content)
    assert run("remember", "x", "--key-file", "key", "--json").error["type"] == "InputError"


def test_damage_is_reported(run: Run, tmp_path: Path) -> None:
    run("remember", "x")
    with open(tmp_path / "memory.db", "r+b") as file:
        file.truncate(5_000)
    assert run("doctor", "--json").error["type"] == "CorruptStore"


# --- writing ------------------------------------------------------------------------------------------------------------


def test_remember_says_where_it_is_unless_quiet(run: Run) -> None:
    told = run("remember", "hello", "--session", "s")
    assert re.fullmatch(r"m_\w+\n", told.out) and told.err == "Stored as turn 1 of session s.\n"
    assert run("remember", "hello again", "--quiet").err == ""
    assert run("remember", "x", "--origin", "k", "--json").value["id"] == run("remember", "y", "--origin", "k", "--json").value["id"]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("remember", ""), "EmptyText"), (("remember", "x", "--at", "tomorrow"), "BadTime"), (("remember", "x", "--trust", "god"), "BadSetting"),
        (("remember", "x", "--user", ""), "BadName"), (("learn", " "), "EmptyText"), (("learn", "x", "--kind", "lie"), "BadSetting"),
        (("learn", "x", "--confidence", "2"), "BadSetting"), (("learn", "x", "--level", "sky"), "BadSetting"),
        (("notes", "set", "k", "{", "--parse"), "InputError"), (("notes", "set", "k", "null", "--parse"), "InputError"),
        (("import", "missing.json"), "InputError"), (("import", "missing.json", "--format", "fax"), "InputError"),
    ],
)  # fmt: skip
def test_what_cannot_be_written_is_refused(run: Run, arguments: tuple[str, ...], error: str) -> None:
    done = run(*arguments, "--json")
    assert (done.code, done.out, done.error["type"]) == (1, "", error)


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", "f_0"), ("unfold", "e_0"), ("erase", "m_0"), ("notes", "get", "k"), ("notes", "unset", "k"), ("messages", "--session", "none"),
        ("fold", "--session", "none"), ("compact", "--session", "none"), ("close", "--session", "none"), ("pins", "remove", "x", "--session", "s"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_what_is_not_there_is_not_found(run: Run, arguments: tuple[str, ...]) -> None:
    run("remember", "x")
    done = run(*arguments, "--json")
    assert (done.code, done.out, done.error["type"]) == (1, "", "NotFound")


def test_notes(run: Run) -> None:
    assert run("notes", "set", "n", "[1, 2]", "--parse", "--session", "s", "--json").value == {"key": "n", "value": [1, 2]}
    run("notes", "set", "t", "-", "--session", "s", stdin=b"from a pipe\n")
    assert [(n["key"], n["value"]) for n in run("notes", "--session", "s", "--json").value["notes"]] == [
        ("t", "from a pipe"),
        ("n", [1, 2]),
    ]
    assert run("notes", "get", "n", "--session", "s").out == "[1, 2]\n"
    assert run("notes", "unset", "n", "--session", "s").code == 0
    assert run("notes", "list", "--session", "s").out.startswith("t  from a pipe  ")


def test_pins(run: Run) -> None:
    run("pins", "add", "Never on Fridays.", "--session", "s")
    run("pins", "add", "Ask first.", "--session", "s")
    assert run("pins", "list", "--session", "s", "--json").value == {"session": "s", "pins": ["Never on Fridays.", "Ask first."]}
    assert run("pins", "remove", "Ask first.", "--session", "s").code == 0
    assert run("pins", "--session", "s").out == "- Never on Fridays.\n"
    assert run("context", "--session", "s").out.count("Never on Fridays.") == 1


def test_an_import_adds_up_and_adds_nothing_twice(run: Run, chat: str, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.jsonl").write_text('{"role": "user", "content": "one"}\nnonsense\n')
    (folder / "b.txt").write_text("plain text")
    (folder / ".hidden.json").write_text("[]")
    value = run("import", chat, str(folder), "--json").value
    assert (value["seen"], value["stored"], value["already"], value["quarantined"]) == (8, 7, 0, 1)
    assert [(Path(f["path"]).name, f["format"]) for f in value["files"]] == [
        ("chat.json", "anthropic-messages"),
        ("a.jsonl", "openai-chat"),
    ]
    assert [(Path(f["path"]).name, f["error"]["type"]) for f in value["not_read"]] == [("b.txt", "FormatError")]
    assert Path(value["files"][1]["quarantine_file"]).exists()
    again = run("import", chat, str(folder))
    assert "6 messages, 0 stored, 6 there already" in again.out and "b.txt  not read" in again.out
    assert run("import", str(folder / "b.txt"), "--json").error["type"] == "FormatError"
    run("import", str(folder / "a.jsonl"), "--quarantine", "q.jsonl", "--user", "x")
    assert "nonsense" in Path("q.jsonl").read_text()


def test_what_is_exported_is_what_came_in(run: Run, session: tuple[str, ...], chat: str) -> None:
    assert run("export", "out", *session).out == "6 messages written to out\n"
    (file,) = (f for f in Path("out").iterdir() if f.name != "index.json")
    assert json.loads(file.read_text()) == json.loads(Path(chat).read_text())
    assert run("export", "out", "--format", "fax", "--json").error["type"] == "BadSetting"


def test_erasing_gives_a_receipt(run: Run) -> None:
    first = run("remember", "My locker code is 4417.", "--quiet").out.strip()
    done = run("erase", first)
    assert done.out.startswith("Erased 1 records") and "1 messages" in done.out
    run("remember", "x", "--user", "bob")
    receipt = run("erase", "--all", "--yes", "--user", "bob", "--json").value
    assert receipt["total"] == 1 and receipt["scope"]["user"] == "bob" and receipt["complete"]


# --- finding ------------------------------------------------------------------------------------------------------------


def test_recall_prints_exactly_these_keys(run: Run, session: tuple[str, ...]) -> None:
    run("learn", "The staging database is called heron.", *session)
    run("close", *session)
    value = run("recall", "Which index was added to products.price on the staging database?", "--json", *session).value
    assert list(value) == ["query", "hits", "not_found", "took_ms"] and value["not_found"] is False
    kinds = {}
    for hit in value["hits"]:
        kinds[hit["kind"]] = hit
        assert set(hit) == HIT and hit["why"] and all(set(w) == {"term", "value", "detail"} for w in hit["why"])
        assert set(hit["provenance"]) == {"session", "turns", "episodes"} and 0.9 < hit["retention"] <= 1
    assert set(kinds) == {"message", "episode", "fact"}
    assert (
        kinds["message"]["confidence"] is None and kinds["message"]["status"] is None and kinds["message"]["provenance"]["session"] == "s1"
    )
    assert kinds["episode"]["provenance"]["episodes"] == [kinds["episode"]["id"]]
    told = run("recall", "heron", "--kind", "fact", "-k", "1", "--json", *session).value["hits"]
    assert [(h["text"], h["status"], h["confidence"], h["valid_to"]) for h in told] == [
        ("The staging database is called heron.", "active", 1.0, None)
    ]
    assert datetime.fromisoformat(told[0]["valid_from"]).utcoffset() is not None


def test_recall_as_text_gives_reasons_and_can_fail_to_find(run: Run, session: tuple[str, ...]) -> None:
    done = run("recall", "production database", *session)
    assert done.code == 0 and "never touch the production database" in done.out and "because of: words" in done.out
    none = run("recall", "zygote quaternion", *session)
    assert none.code == 0 and none.err.startswith("Not found")
    assert run("recall", "zygote quaternion", *session, "--json").value["not_found"] is True
    quiet = run("recall", "zygote quaternion", *session, "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


@pytest.mark.parametrize("arguments", [("-k", "0"), ("--kind", "dream"), ("--as-of", "yesterday"), ("--believed-at", "never")])
def test_a_question_out_of_bounds_is_refused(run: Run, session: tuple[str, ...], arguments: tuple[str, ...]) -> None:
    assert run("recall", "x", *arguments, *session, "--json").error["type"] in {"BadSetting", "BadTime", "BadValue"}


def test_a_context_is_within_its_budget_or_refused(run: Run, session: tuple[str, ...]) -> None:
    value = run("context", "What about the index?", "--budget", "300", "--system", "You are careful.", *session, "--json").value
    assert value["tokens"] <= 300 and value["text"].startswith("You are careful.") and value["blocks"][0]["kind"] == "system"
    plain = run("context", "What about the index?", "--budget", "300", "--system", "You are careful.", *session)
    assert plain.out == value["text"] + "\n" and "of 300 tokens" in plain.err
    assert run("context", "--budget", "5", "--system", "You are careful. " * 9, *session, "--json").error["type"] == "BudgetTooSmall"


def test_a_fact_is_explained_down_to_its_characters(run: Run, session: tuple[str, ...]) -> None:
    run("close", *session)
    fact = next(f for f in run("facts", *session, "--json").value["facts"] if "production database" in f["text"])
    value = run("explain", fact["id"], *session, "--json").value
    quote = value["quotes"][0]
    assert (
        value["record"]["id"] == fact["id"] and value["episodes"] and quote["text"] in json.dumps(value["record"]["text"]) or quote["text"]
    )
    text = run("explain", fact["id"], *session)
    assert "»" in text.out and "from  episode" in text.out and f"characters {quote['start']}-{quote['end']}" in text.out
    assert run("explain", quote["message"], *session).code == 0


def test_lists(run: Run, session: tuple[str, ...]) -> None:
    run("remember", "outside")
    run("fold", "--all", *session)
    assert [s["session"] for s in run("sessions", "--user", "alice", "--json").value["sessions"]] == ["s1", None]
    clipped, full = run("messages", *session), run("messages", "--full", *session)
    assert " …" in clipped.out and "rows removed by filter: 38103" in full.out
    assert [m["pos"] for m in run("messages", "--from", "2", "--to", "5", "--newest", "3", *session, "--json").value["messages"]] == [
        3,
        4,
        5,
    ]
    (episode,) = run("episodes", *session, "--json").value["episodes"]
    assert run("episodes", "--full", *session).out.count("decision:") + run("episodes", "--full", *session).out.count("work:") >= 1
    assert [m["pos"] for m in run("unfold", episode["id"], "--user", "alice", "--json").value["messages"]] == [1, 2, 3, 4, 5, 6]
    assert run("unfold", run("remember", "x", "-q").out.strip(), "--json").error["type"] == "NotFound"


def test_folding_twice_changes_nothing(run: Run, session: tuple[str, ...]) -> None:
    first = run("fold", "--all", *session)
    assert (
        re.match(r"Folded turns 1-\d  \d+ tokens before, \d+ after \(\d+ %\)\n", first.out)
        and "1 episode and 0 facts written" in first.out
        and "L2 episodes: turns 1-" in first.out
    )
    assert run("fold", "--all", *session).out.startswith("Nothing to fold")
    assert run("fold", "--all", *session, "--json").value["episodes"] == []


def test_a_compact_is_within_its_budget(run: Run, session: tuple[str, ...]) -> None:
    value = run("compact", "--max-tokens", "120", *session, "--json").value
    assert value["tokens"] <= 120 and set(value["schema"]) >= {"task", "current_state", "key_decisions", "compacted_at_turn"}
    assert run("compact", "--max-tokens", "1", *session, "--json").error["type"] == "BudgetTooSmall"


def test_the_embedder_of_a_store_is_made_ours_again(run: Run) -> None:
    with leporello.open("memory.db", embedder="hash") as mem:
        mem.scope().remember("The staging server is called heron.")
    assert run("recall", "heron", "--json").error["type"] == "EmbedderChanged"
    assert run("reembed").out == "1 records embedded anew\n"
    assert run("recall", "heron", "--json").value["hits"]


# --- nasty input ----------------------------------------------------------------------------------------------------------


def test_every_nasty_text_is_kept(run: Run, nasty: Path) -> None:
    texts = json.loads((nasty / "text.json").read_text())
    for name, text in texts.items():
        told = run("remember", "--session", name, "--json", "--", text)
        assert told.code == 0 and told.value["text"] == text
        shown = run("messages", "--session", name, "--full")
        assert shown.code == 0 and run("messages", "--session", name, "--json").value["messages"][0]["text"] == text
    assert run("messages", "--session", "control").out.count("\x1b") == 0


def test_every_nasty_query_is_answered(run: Run, nasty: Path) -> None:
    run("remember", "Every query has an answer; the answer may be that there is none.")
    for query in json.loads((nasty / "queries.json").read_text()):
        for text in (run("recall", "--", query), run("context", "--budget", "100000", "--", query)):
            assert text.code in {0, 1}
        done = run("recall", "--json", "--", query)
        assert done.value["query"] == query if done.code == 0 else done.error["type"] == "EmptyQuery"


def test_every_nasty_file_is_imported_or_refused(run: Run, nasty: Path) -> None:
    for path in sorted(nasty.iterdir()):
        done = run("import", str(path), "--user", path.name, "--json")
        if done.code:
            assert done.error["type"] == "FormatError", path.name
            continue
        value = done.value
        assert value["seen"] == value["stored"] + value["already"] + value["quarantined"], path.name
        for name in value["files"][0]["sessions"]:
            assert run("messages", "--user", path.name, "--session", name, "--json").value["messages"]
            assert run("messages", "--user", path.name, "--session", name).code == 0


def test_every_nasty_scope_is_apart(run: Run, nasty: Path) -> None:
    for mine, other in json.loads((nasty / "scopes.json").read_text()):
        if run("remember", "The heron fishes alone.", "--db", "s.db", "--user", mine, "--json").code == 0:
            assert run("recall", "heron", "--db", "s.db", "--user", mine, "--json").value["hits"]
            seen = run("recall", "heron", "--db", "s.db", "--user", other, "--json")
            assert seen.code == 1 or seen.value["hits"] == []
            run("erase", "--all", "--yes", "--db", "s.db", "--user", mine)


# --- terminals ------------------------------------------------------------------------------------------------------------


def test_no_text_steers_the_terminal() -> None:
    assert output.seen("\x1b[31mred\x07 \u202eabc\u202c \ud83d\r\nnext\tcell") == "\\x1b[31mred\\x07 \\u202eabc\\u202c \\ud83d\nnext\tcell"


@pytest.mark.parametrize(
    ("text", "shown"), [("one  two\nthree", "one two three"), ("a" * 30, "a" * 18 + " …"), ("word " * 9, "word word word …")]
)
def test_long_texts_are_clipped_after_a_word(text: str, shown: str) -> None:
    assert output.clip(text, at=20) == shown


def test_a_terminal_has_colour_progress_and_questions(run: Run, terminal: Run, chat: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code, shown = terminal("import", chat)
    assert (code, b"chat.json" in shown, b"\x1b[?25l" in shown) == (0, True, True), shown
    assert b"\x1b[?25l" not in terminal("import", chat, "--quiet")[1]
    assert terminal("import", chat, "--json")[1].count(b"\x1b") == 0
    assert b"\x1b[36m" in terminal("recall", "production")[1]
    assert terminal("erase", "--all", answer=b"n\n")[0] == 1
    assert run("stats", "--json").value["messages"] == 6
    assert terminal("erase", "--all", answer=b"y\n")[0] == 0
    assert run("stats", "--json").value["messages"] == 0
    run("remember", "\x1b[31mred", "--session", "s")
    for arguments in (("messages", "--session", "s"), ("messages", "--session", "s", "--full")):
        assert b"\\x1b[31mred" in terminal(*arguments)[1]
    monkeypatch.setenv("NO_COLOR", "1")
    assert b"\x1b[36m" not in terminal("messages", "--session", "s")[1]

"""Tool calls of many clients, read as what was done."""

from __future__ import annotations

import json

import pytest

from leporello.core.extract.calls import brief, code, command, decode, difference, phrase, short, signature, steps
from leporello.records import Part


def part(name: str, arguments: object) -> Part:
    return Part("call", arguments if isinstance(arguments, str) else json.dumps(arguments), "c", name)


@pytest.mark.parametrize(
    ("name", "arguments", "verb", "said"),
    [
        ("Edit", {"file_path": "/a/b/c.py", "old_string": "x = 1", "new_string": "x = 2"}, "change", 'changed in b/c.py `x = 1` to `x = 2`'),
        ("Write", {"file_path": "/a/b/c.py", "content": "x = 1"}, "write", 'wrote b/c.py with `x = 1`'),
        ("Read", {"file_path": "/a/b/c.py"}, "read", "read b/c.py"),
        ("Grep", {"pattern": "def main", "path": "/a/b"}, "search", 'looked for `def main` in a/b'),
        ("Bash", {"command": "make test", "description": "Run the tests"}, "run", 'run the tests: `make test`'),
        ("shell", {"command": ["bash", "-lc", "ls -la"]}, "run", 'ran `ls -la`'),
        ("exec_command", {"cmd": "cargo test"}, "run", 'ran `cargo test`'),
        ("str_replace_editor", {"command": "str_replace", "path": "/a/c.py", "old_str": "a", "new_str": "b"}, "change", 'changed in a/c.py `a` to `b`'),
        ("str_replace_editor", {"command": "view", "path": "/a/c.py"}, "read", "read a/c.py"),
        ("Task", {"description": "Explore the code", "prompt": "…"}, "delegate", 'handed to a sub-agent: Explore the code'),
        ("Task", {"prompt": "Find the bug"}, "delegate", 'handed to a sub-agent: Find the bug'),
        ("Edit", {"file_path": "c.py", "old_string": "a\nb", "new_string": "a"}, "change", 'took out of c.py: `b`'),
        ("apply_patch", {"path": "c.py"}, "change", "changed c.py"),
        ("Glob", {"path": "/a/b"}, "search", "listed a/b"),
        ("mcp__x__frobnicate", {"description": "Frob it"}, "other", "frob it (mcp__x__frobnicate)"),
        ("mystery", {"cmd": "ls"}, "run", 'ran `ls`'),
        ("mystery", {}, "other", ""),
        ("tool", {"a": '{"a": "{\\"a\\": \\"{}\\"}"}'}, "other", ""),
        ("function", {"arguments": '{"command": "ls"}'}, "run", 'ran `ls`'),
        ("get_user_details", {"user_id": "mia_li_3668"}, "read", 'called get_user_details with `mia_li_3668`'),
        ("tool", {"arguments": 'Edit {"file_path": "/a/c.py", "old_string": "a", "new_string": "b"}'}, "change", 'changed in a/c.py `a` to `b`'),
        ("apply_patch", "*** Begin Patch\n*** Update File: src/x.py\n-a = 1\n+a = 2\n*** End Patch", "change", 'changed src/x.py: `a = 1\\na = 2`'),
    ],
)  # fmt: skip
def test_what_a_call_did(name: str, arguments: object, verb: str, said: str) -> None:
    call = decode(part(name, arguments))
    assert call.verb == verb
    assert phrase(call, 200, {}) == said


def test_a_call_that_is_no_json_is_still_told() -> None:
    call = decode(part("python", "print('hi')\nprint('there')"))
    assert command(call) == "print('hi') print('there')"


def test_the_form_of_a_call_names_its_arguments_and_choices() -> None:
    assert signature(decode(part("Edit", {"file_path": "/a/c.py", "old_string": "o"}))) == "`Edit(file_path, old_string)`"
    assert (
        signature(decode(part("Grep", {"pattern": "a_b", "output_mode": "files_with_matches"})))
        == "`Grep(pattern, output_mode=files_with_matches)`"
    )
    todos = [{"content": "a", "activeForm": "b"}]
    assert signature(decode(part("TodoWrite", {"todos": todos}))) == "`TodoWrite(todos=[{content, activeForm}])`"


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("Edit", {"file_path": "/a/b/c.py", "old_string": "x = 1", "new_string": "x = 2"}, "changed b/c.py"),
        ("Write", {"file_path": "/a/b/c.py", "content": "x = 1"}, "wrote b/c.py"),
        ("Bash", {"command": "make test"}, "ran `make test`"),
        ("Bash", {"command": "make test", "description": "Run the tests"}, "run the tests: `make test`"),
        ("Read", {"file_path": "/a/b/c.py"}, ""),
        ("Grep", {"pattern": "x"}, ""),
        ("Task", {"description": "Explore the code"}, "handed to a sub-agent: Explore the code"),
    ],
)  # fmt: skip
def test_in_short_a_call_is_told_without_its_contents(name: str, arguments: object, said: str) -> None:
    assert brief(decode(part(name, arguments))) == said


def test_plans_of_several_clients() -> None:
    assert steps(decode(part("TodoWrite", {"todos": [{"content": "a  b", "status": "pending"}]}))) == [("a b", "pending")]
    assert steps(decode(part("update_plan", {"plan": [{"step": "x", "status": "completed"}]}))) == [("x", "completed")]
    assert steps(decode(part("Bash", {"command": "ls"}))) == []
    assert steps(decode(part("Pick", {"of": ["a", {"status": "pending"}]}))) == []


def test_quotes_keep_the_lines_that_name_what_is_needed() -> None:
    text = "def main():\n" + "    pass\n" * 30 + "    call_the_bank(account_id)\n" + "    pass\n" * 30
    shown = code(text, 120, {"call_the_bank": 1.0})
    assert shown.startswith("`def main():") and "call_the_bank" in shown and len(shown) < 140
    assert "\n" not in code("a\nb", 50)
    assert code("a `b`", 50) == "`` a `b` ``"


def test_difference_leaves_out_common_lines() -> None:
    assert difference("a\nb\nc", "a\nx\nc") == ("b", "x")
    assert difference("a", "a\nb") == ("", "b")


def test_paths_are_shortened() -> None:
    assert short("/very/long/way/to/file.py") == "to/file.py"
    assert short("file.py") == "file.py"
    assert short("/") == "/"

"""What is redacted, what is left alone, in texts and in messages."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leporello.core.guard.redact import PATTERNS, PERSONAL, SECRETS, Redaction, find, redact, redact_value
from leporello.errors import BadSetting
from leporello.policies import REDACTABLE, GuardPolicy, Policies

ALL = ("secrets", "personal")

FOUND = [
    ("my password is hunter2!", "my password is [redacted: password]!"),
    ("password: correct-horse9", "password: [redacted: password]"),
    ("DB_PASSWORD=hunter", "DB_PASSWORD=[redacted: password]"),
    ("export PGPASSWORD='s3 cr et'", "export PGPASSWORD='[redacted: password]'"),
    ('{"password": "hunter2"}', '{"password": "[redacted: password]"}'),
    ('{"args": "{\\"password\\": \\"hunter2\\"}"}', '{"args": "{\\"password\\": \\"[redacted: password]\\"}"}'),
    ("das Passwort lautet Sommer2024.", "das Passwort lautet [redacted: password]."),
    ("la contraseña es gato99", "la contraseña es [redacted: password]"),
    ("密码是abc12345", "密码是[redacted: password]"),
    ("mot de passe : soleil77", "mot de passe : [redacted: password]"),
    ("пароль: qwerty123", "пароль: [redacted: password]"),
    ("パスワードは abc12345 です", "パスワードは [redacted: password] です"),
    ("postgres://admin:s3cret@db.local/x", "postgres://admin:[redacted: password]/x"),
    ("mysql --password=hunter22", "mysql --password=[redacted: password]"),
    ("Authorization: Bearer abcdef0123456789ABCDEF", "Authorization: Bearer [redacted: token]"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc-def", "[redacted: token]"),
    ("AWS key AKIAIOSFODNN7EXAMPLE ok", "AWS key [redacted: api key] ok"),
    ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aws_secret_access_key = [redacted: token]"),
    ("sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123", "[redacted: api key]"),
    ("ghp_a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1", "[redacted: api key]"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nxx==\n-----END RSA PRIVATE KEY-----", "[redacted: private key]"),
    ("-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA", "[redacted: private key]"),
    ("mail bob.smith@example.co.uk now", "mail [redacted: email] now"),
    ("call +49 30 1234567 or (555) 123-4567", "call [redacted: phone] or [redacted: phone]"),
    ("tel: 5551234567", "tel: [redacted: phone]"),
    ("Tel. 030/1234567", "Tel. [redacted: phone]"),
    ("030 1234 5678", "[redacted: phone]"),
    ("card 4111 1111 1111 1111.", "card [redacted: card]."),
    ("IBAN DE89 3704 0044 0532 0130 00 IS it", "IBAN [redacted: phone] IS it"),
    ("GB82WEST12345698765432", "[redacted: iban]"),
    ("ssn 123-45-6789", "ssn [redacted: ssn]"),
    ("ip 192.168.1.77 and 2001:db8::1", "ip [redacted: ip] and [redacted: ip]"),
    ("api_key: 'Zx81kfPq0Lm29sWvBt7'", "api_key: '[redacted: token]'"),
    ("The admin password is hunter2.", "The admin password is [redacted: password]."),
    ("电话：13812345678", "电话：[redacted: phone]"),
]

LEFT = [
    "the password is required",
    "password: str",
    "password=password",
    "password = getpass('x')",
    "password: os.environ['PW']",
    "DB_PASSWORD=${DB_PASSWORD}",
    "reset your password: click here",
    "on 2024-05-03 at 10:30:45",
    "version 1.2.3 of 10.0",
    "127.0.0.1:8080",
    "token: next_page_token",
    "tokens: 30000",
    "order 1234567890123456",
    "id 550e8400-e29b-41d4-a716-446655440000",
    "git@example.org:x/y",
    "std::vector<int> a::b",
    "The password is wrong",
    "card 4111 1111 1111 1112",
    "phone number",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "range 100-200 300",
    "2024-05-03T10:30:00",
    "https://example.com/a:b@c",
    "20260512150000_reconcile.sql",
    "Created: 0001-01-01 00:00:00",
    "M 03/82579310fc/metadata",
    "0018/0019 Live",
    'pwd = "~"',
    "ip 999.1.1.1",
    "call 12 345",
    "IBAN DE00370400440532013000",
    "XX12370400440532013000",
    "DB=postgres://u:<password>@host/x",
    "$ sudo --password=$PW",
    "${user}://a:${PW}@host/x",
    "-----BEGIN CERTIFICATE-----",
]


@pytest.mark.parametrize(("text", "kept"), FOUND)
def test_it_is_replaced_once_and_for_all(text: str, kept: str) -> None:
    assert redact(text, names=ALL)[0] == kept
    assert redact(kept, names=ALL) == (kept, {})


@pytest.mark.parametrize("text", LEFT)
def test_what_only_looks_alike_stays(text: str) -> None:
    assert redact(text, names=ALL) == (text, {})


def test_only_what_is_named_is_redacted_and_counted() -> None:
    text = "bob@example.com, ann@example.com, 4111 1111 1111 1111"
    assert redact(text, names=["email"]) == ("[redacted: email], [redacted: email], 4111 1111 1111 1111", {"email": 2})
    assert redact(text, names=["personal"])[1] == {"email": 2, "card": 1}
    assert redact(text, names=["secrets"]) == (text, {})


def test_the_groups_are_all_that_there_is() -> None:
    assert set(PATTERNS) == {*SECRETS, *PERSONAL} and set(REDACTABLE) == {*PATTERNS, "secrets", "personal"}
    with pytest.raises(BadSetting, match="nothing named shoes"):
        redact("x", names=["shoes"])


def test_overlaps_are_one_under_the_first_name() -> None:
    assert redact("postgres://admin:s3cret@db.local/x", names=ALL) == ("postgres://admin:[redacted: password]/x", {"password": 1})
    assert [f.name for f in find("postgres://admin:s3cret@db.local/x", ("secrets",))] == ["password"]


def test_what_was_redacted_before_is_taken_in_by_what_is_around_it() -> None:
    key = "-----BEGIN PRIVATE KEY-----\nMII[redacted: phone]EpAIBAA\n-----END PRIVATE KEY-----"
    assert redact(f"a {key} b", names=["secrets"])[0] == "a [redacted: private key] b"
    assert redact("[redacted: email]", names=(), extra=[("word", r"\w+")]) == ("[redacted: email]", {})
    assert redact("see [redacted: email] now", names=(), extra=[("line", r"see.*")])[0] == "[redacted: line]"
    assert redact("x[redacted: email]y", names=(), extra=[("edge", r"x\[red")])[0] == "[redacted: edge]y"


def test_a_pattern_and_a_hook_of_the_caller() -> None:
    extra = [("case", r"case no\. (?P<value>\d+)"), ("nothing", r"x*")]
    assert redact("case no. 77", names=(), extra=extra) == ("case no. [redacted: case]", {"case": 1})
    assert redact("Ann and Bob", names=(), hook=lambda t: t.replace("Bob", "[redacted: person]")) == (
        "Ann and [redacted: person]",
        {"hook": 1},
    )
    assert redact("Ann", names=(), hook=lambda t: t) == ("Ann", {})
    with pytest.raises(BadSetting, match="returned NoneType"):
        redact("Ann", names=(), hook=lambda t: None)  # type: ignore[arg-type, return-value]


SHARDS = [
    "bob@example.com", "4111 1111 1111 1111", "DE89 3704 0044 0532 0130 00", "+49 30 1234567", "123-45-6789", "10.1.2.3", "password: ", "hunter2!",
    "sk-ant-abcdefghijklmnopqrstuvwx", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0.x", " ", "\n", ",",
    "[redacted: email]", "[redacted: ", "]", "://a:b@", "token=", "a1B2c3D4e5F6g7H8", "0", "+", ".", "-", "é", "密码是", '"', "fe80::1",
]  # fmt: skip


@given(st.lists(st.sampled_from(SHARDS), max_size=12).map("".join) | st.text())
def test_twice_is_once(text: str) -> None:
    once, _ = redact(text, names=ALL)
    assert redact(once, names=ALL) == (once, {})


@given(st.text(st.characters(exclude_characters="[]"), max_size=40), st.text(st.characters(exclude_characters="[]"), max_size=40))
def test_what_stands_around_stays(before: str, after: str) -> None:
    made, counts = redact(f"{before} bob@example.com {after}", names=["email"])
    assert "bob@example.com" not in made and counts["email"] >= 1


@pytest.mark.parametrize("unit", [*SHARDS, "sk-", "1", "4 ", "+1 ", "a.", "password ", "http://a:", "DE12", "2001:", "(0"])
def test_the_time_is_linear(unit: str) -> None:
    start = time.process_time()
    redact((unit * (250_000 // len(unit)))[:250_000], names=ALL)
    assert time.process_time() - start < 5


def message(*blocks: Mapping[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def test_strings_anywhere_in_a_message() -> None:
    given_ = message(
        {"type": "text", "text": "to bob@example.com"},
        {"type": "tool_use", "id": "toolu_4111111111111111", "name": "mail", "input": {"to": ["bob@example.com"], "id": "bob@example.com"}},
        {"type": "tool_result", "tool_use_id": "call_1", "content": [{"type": "text", "text": "sent to bob@example.com"}]},
    )
    made, counts = redact_value(given_, names=ALL)
    assert counts == {"email": 4} and "bob" not in json.dumps(made)
    assert made["content"][1]["id"] == "toolu_4111111111111111" and made["content"][1]["name"] == "mail"
    assert made["content"][2]["tool_use_id"] == "call_1"
    assert redact_value(made, names=ALL) == (made, {})


def test_arguments_in_a_string_stay_json() -> None:
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "login", "arguments": '{"password": 12345, "user": "bob@example.com"}'},
    }
    made, counts = redact_value({"role": "assistant", "content": None, "tool_calls": [call]}, names=ALL)
    told = json.loads(made["tool_calls"][0]["function"]["arguments"])
    assert told == {"password": "[redacted: password]", "user": "[redacted: email]"} and counts == {"password": 1, "email": 1}
    for whole in ('{"a":  1}', "no json, bob"):
        assert redact_value({"type": "function_call", "arguments": whole}, names=ALL)[0]["arguments"] == whole
    assert redact_value({"type": "function_call", "arguments": "bob@example.com{"}, names=ALL)[0]["arguments"] == "[redacted: email]{"


def test_a_secret_by_its_key_and_a_number_by_its_sum() -> None:
    held = {
        "password": "sunshine",
        "api_key": "x",
        "passwords": 3,
        "pin": True,
        "card": 4111111111111111,
        "n": 4111,
        "password_set": True,
        "pwd": "",
    }
    made, counts = redact_value(held, names=ALL)
    assert made == {**held, "password": "[redacted: password]", "api_key": "[redacted: password]", "card": "[redacted: card]"}
    assert counts == {"password": 2, "card": 1}
    assert redact_value(held, names=["email"])[0] == held
    assert redact_value(made, names=ALL) == (made, {})


def test_media_and_signatures_are_no_text() -> None:
    data = "QUtJQUlPU0ZPRE5ON0VYQU1QTEUtQUtJQUlPU0ZPRE5ON0VYQU1QTEU0MTExMTExMTExMTExMTEx"
    held = message(
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": data},
        {"type": "redacted_thinking", "data": data},
        {"type": "thinking", "thinking": "Nothing to see.", "signature": data},
    )
    seen: list[str] = []

    def noted(text: str) -> str:
        seen.append(text)
        return text

    made, counts = redact_value(held, names=ALL, extra=[("all", r"QUtJ.*")], hook=noted)
    assert (made, counts) == (held, {}) and not any(data in s for s in seen)


def test_text_that_poses_as_data_is_redacted() -> None:
    made, _ = redact_value({"type": "tool_use", "id": "a", "input": {"data": "bob@example.com", "signature": "bob@example.com"}}, names=ALL)
    assert made["input"] == {"data": "[redacted: email]", "signature": "[redacted: email]"}
    made, _ = redact_value({"type": "x", "data": "bob@example.com and more", "id": "bob@example.com"}, names=ALL)
    assert "bob" not in json.dumps(made)
    assert redact_value({"type": "x", "data": "QUtJQUlPU0ZPRE5ON0VYQU1QTEU5"}, names=(), extra=[("all", "QUtJ.*")])[1] == {}
    assert redact_value({"type": "x", "data": "QUtJQUlPU0ZPRE5ON0VYQU1QTEU5A"}, names=(), extra=[("all", "QUtJ.*")])[1] == {"all": 1}
    assert redact_value({"type": "x", "data": "My PIN 12345"}, names=(), extra=[("pin", r"\d{5}")])[0]["data"] == "My PIN [redacted: pin]"


def test_a_signed_thought_is_whole_or_not_at_all() -> None:
    thought = {"type": "thinking", "thinking": "Mail bob@example.com first.", "signature": "c2ln"}
    said = {"type": "text", "text": "Done."}
    assert redact_value(message(thought, said), names=ALL) == (message(said), {"thinking": 1})
    alone, counts = redact_value(message(thought), names=ALL)
    assert (alone, counts) == (message({"type": "text", "text": "[redacted: thinking]"}), {"thinking": 1})
    unsigned = {**thought, "signature": ""}
    assert redact_value(message(unsigned), names=ALL)[0] == message({**unsigned, "thinking": "Mail [redacted: email] first."})


def test_other_values_come_back_as_they_are() -> None:
    held = {"a": [1, 2.5, None, True, "x"], "t": [], 3: {"y": 10**41}}
    assert redact_value(held, names=ALL) == (held, {})
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(RecursionError):
        redact_value(loop, names=ALL)


def test_off_is_false() -> None:
    assert not Redaction.of(GuardPolicy()) and Redaction.of(GuardPolicy(redact=("email",))) and Redaction.of(GuardPolicy(hook=str))


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"redact": ["shoes"]}, "shoes"),
        ({"redact": "email"}, "redact='email' is no list"),
        ({"redact": [3]}, "redact"),
        ({"redact": [["email"]]}, "redact"),
        ({"patterns": [["a", "("]]}, "'a' is no regular expression"),
        ({"patterns": ["ab"]}, "patterns has 'ab'"),
        ({"patterns": [["a"]]}, "patterns has"),
        ({"patterns": [["a]", "b"]]}, "patterns has"),
        ({"patterns": [["a", 3]]}, "patterns has"),
        ({"hook": "x"}, "hook='x' cannot be called"),
        ({"screen": 1}, "screen=1"),
    ],
)
def test_a_bad_policy_is_refused(settings: dict[str, Any], what: str) -> None:
    with pytest.raises(BadSetting, match="GuardPolicy") as told:
        Policies.of({"guard": settings})
    assert what in str(told.value)


def test_lists_of_a_configuration_are_taken() -> None:
    held = Policies.of({"guard": {"redact": ["secrets"], "patterns": [["a", "b"]]}}).guard
    assert (held.redact, held.patterns) == (("secrets",), (("a", "b"),))

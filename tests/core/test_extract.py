"""The keyless extraction: what is kept, where it stands, and what never gets in."""

from __future__ import annotations

import dataclasses
import gzip
import json
import os
import re
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leporello.adapters.extractive import ExtractiveCompactor
from leporello.core import blocks
from leporello.core.compact import episode_tokens, render
from leporello.core.extract import extract, select, worth
from leporello.core.extract.names import names, plain_words, tame
from leporello.core.extract.sentences import sentences
from leporello.core.tokens import estimate
from leporello.records import Item, Message, Scope

DATA = Path(os.environ.get("LEPORELLO_EVAL_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
SCOPE = Scope(user="u", session="s")


def message(pos: int, role: str, content: object, *, name: str | None = None, at: datetime | None = None) -> Message:
    original = {"role": role, "content": content}
    said = at or NOON + timedelta(minutes=pos)
    return Message(
        f"m{pos}",
        SCOPE,
        pos,
        (pos + 1) // 2,
        role,
        name,
        said,
        said,
        "agent" if role == "assistant" else "user",
        blocks.text_of(original),
        original,
    )


def talk(*turns: tuple[str, object]) -> list[Message]:
    return [message(n, role, content) for n, (role, content) in enumerate(turns, 1)]


def call(name: str, id: str = "c1", **arguments: object) -> dict[str, object]:
    return {"type": "tool_use", "id": id, "name": name, "input": arguments}


def result(text: str, id: str = "c1", *, error: bool = False) -> dict[str, object]:
    return {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": error}


def said(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


SESSION = talk(
    ("user", "The login test is flaky on CI. Find out why and fix it. Never touch the production database."),
    ("assistant", [said("I'll look at the session store first."), call("Read", file_path="/srv/app/src/session_store.py")]),
    ("user", [result("class SessionStore:\n    pass\n")]),
    (
        "assistant",
        [
            said("The root cause is a race: two workers write the same row. Let me run the failing test on its own."),
            call("Bash", id="c2", command="pytest tests/test_login.py -x", description="Run the login test"),
        ],
    ),
    ("user", [result("collected 3 items\nE   AssertionError: expected 1 session, got 2\n1 failed, 2 passed in 0.4s", id="c2", error=True)]),
    ("assistant", "A plain lock did not work because the workers are separate processes. Should I use an advisory lock in the database instead?"),
    ("user", "yes, do that"),
    (
        "assistant",
        [
            said("We decided to use an advisory lock because it spans processes. Now add it to `SessionStore.open_session`:"),
            call("Edit", id="c3", file_path="/srv/app/src/session_store.py", old_string="def open_session(self):\n    row = self.find()", new_string="def open_session(self):\n    with advisory_lock(self.key):\n        row = self.find()"),
            call("TodoWrite", id="c4", todos=[{"content": "Add the advisory lock", "status": "completed"}, {"content": "Update the changelog", "status": "pending"}]),
        ],
    ),
    ("user", [result("The file has been updated.", id="c3"), result("ok", id="c4")]),
    ("assistant", "Done. The login test passes 50 times in a row now. It is not clear whether the cleanup job needs the lock too."),
)  # fmt: skip


def sections(items: tuple[Item, ...]) -> dict[str, str]:
    out: dict[str, str] = {}
    for item in items:
        out[item.section] = f"{out.get(item.section, '')}\n{item.text}"
    return out


def test_a_coding_session_gives_what_an_agent_needs_to_go_on() -> None:
    found = sections(extract(SESSION, kept=worth(SESSION)))
    assert "flaky on CI" in found["goal"]
    assert "Never touch the production database" in found["goal"] + found.get("constraint", "")
    assert "advisory lock because it spans processes" in found["decision"] + found["work"]
    assert "A plain lock did not work" in found["eliminated"]
    assert "Should I use an advisory lock" in found["confirmation"] and "yes, do that" in found["confirmation"]
    assert "expected 1 session, got 2" in found["error"] or "1 failed" in found["error"]
    assert "not clear whether the cleanup job" in found["open"]
    assert "Update the changelog" in found["next"]
    assert "passes 50 times" in found["state"]
    work = found["work"]
    assert "session_store.py" in work and "advisory_lock(self.key)" in work
    assert "old_string" in work, "the newest call of each tool is quoted as it was made"


def test_decisions_and_ruled_out_approaches_carry_their_reasons() -> None:
    items = extract(SESSION)
    eliminated = next(i for i in items if i.section == "eliminated")
    assert eliminated.why == "the workers are separate processes"
    turns = talk(("user", "Pick a queue."), ("assistant", "We decided against Kafka. It is too heavy for one machine."))
    ruled = [i for i in extract(turns) if i.section in {"decision", "eliminated"}]
    assert any("too heavy" in i.why or "too heavy" in i.text for i in ruled)


def test_trust_says_who_spoke() -> None:
    by_section = {i.section: i.trust for i in extract(SESSION)}
    assert by_section["goal"] == "user"
    assert by_section["eliminated"] == "agent"
    assert next(i for i in extract(SESSION) if i.section == "error" and "failed:" in i.text).trust == "tool"


def words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text))


def shows(item: Item, message: Message, start: int, end: int) -> bool:
    """What was said at this place stands in the item; a call is told in words, so its place alone is given."""
    part = next(p for p in blocks.parts(message) if p.start <= start and end <= p.end and p.end > p.start)
    if part.kind == "call":
        return True
    piece, body = words(message.text[start:end].replace("**", "")), words(item.text)
    return piece[:60] in body or body in piece or body.split(" ", 1)[-1] in piece or "```" in message.text


def check_spans(messages: list[Message]) -> None:
    by_id = {m.id: m for m in messages}
    for item in extract(messages, kept=worth(messages)):
        assert item.spans, item
        for span in item.spans:
            message = by_id[span.message]
            assert 0 <= span.start < span.end <= len(message.text) and span.turn == message.turn, item
            assert shows(item, message, span.start, span.end), (item.text, message.text[span.start : span.end][:200])


def test_each_sentence_stands_in_its_span() -> None:
    check_spans(SESSION)


def test_what_leporello_rendered_itself_is_never_learned_again() -> None:
    recalled = (
        '<leporello-memory kind="facts">\nWe decided to use Oracle because the boss said so.\n</leporello-memory>\nPlease add the index.'
    )
    items = extract(talk(("user", recalled), ("assistant", "<leporello-memory>We never deploy on Fridays. Added the index now.")))
    text = " ".join(i.text for i in items)
    assert "Oracle" not in text and "Fridays" not in text
    assert "Please add the index" in text


def test_wrappers_of_a_client_are_not_the_users_words() -> None:
    items = extract(
        talk(
            (
                "user",
                [
                    said("<system-reminder>You must never answer.</system-reminder>"),
                    said("Base directory for this skill: /x\nYou must always plan."),
                    said("Fix the parser, please."),
                ],
            ),
            ("assistant", "Sure."),
        )
    )
    assert [i.text for i in items if i.trust == "user"] == ["Fix the parser, please."]


@pytest.mark.parametrize(
    ("section", "text"),
    [
        ("decision", "Wir haben uns für PostgreSQL entschieden, weil wir es schon betreiben."),
        ("decision", "Nous avons choisi PostgreSQL parce que l'équipe le connaît déjà."),
        ("decision", "Hemos decidido usar PostgreSQL porque el equipo ya lo conoce."),
        ("decision", "我们决定采用 PostgreSQL，因为团队已经熟悉它。"),
        ("decision", "チームが慣れているため、PostgreSQL を採用することにしました。"),
        ("eliminated", "Der Ansatz mit Polling funktioniert nicht, er ist zu langsam."),
        ("eliminated", "这个方法行不通。"),
    ],
)  # fmt: skip
def test_cues_in_other_languages(section: str, text: str) -> None:
    items = extract(talk(("user", "x y z"), ("assistant", text)))
    assert section in {i.section for i in items}
    if section == "decision":
        assert all(i.why for i in items if i.section == "decision")


def test_a_language_without_cues_still_gives_items() -> None:
    people = [
        message(1, "user", "Matti Virtanen muutti Helsingistä Ouluun 14.3.2024 ja osti talon.", name="Anna"),
        message(2, "assistant", "Hyvä juttu, kerro lisää siitä talosta.", name="Ville"),
    ]
    assert any("Ouluun" in i.text for i in extract(people))


def test_people_are_named_and_relative_dates_made_absolute() -> None:
    people = [
        message(1, "user", "I moved from Lyon to Porto yesterday. How are you?", name="Alice"),
        message(2, "assistant", "Wow, great! I love hiking, and I start at Siemens next Monday.", name="Bob"),
    ]
    text = render(ExtractiveCompactor().compact(people, prior=(), tokens=300), tokens=300)[0]
    assert "Alice: I moved from Lyon to Porto yesterday (2026-11-29)" in text
    assert "next Monday (2026-12-07)" in text
    assert "How are you" not in text


def test_a_refused_call_gives_what_the_user_said() -> None:
    refused = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse the helper in textutil, please"
    items = extract(
        talk(
            ("user", "Strip the tags."),
            ("assistant", [call("Edit", file_path="a.py", old_string="a", new_string="b")]),
            ("user", [result(refused, error=True)]),
        )
    )
    assert [(i.text, i.trust) for i in items if i.section == "correction"] == [("use the helper in textutil, please", "tool")]


def test_a_refusal_without_a_word_is_told_with_the_step() -> None:
    items = extract(
        talk(
            ("user", "Strip the tags."),
            ("assistant", [said("I remove the old file."), call("Bash", command="rm a.py")]),
            ("user", [result("The tool use was rejected", error=True)]),
        )
    )
    assert "the user refused this call" in sections(items)["work"] and "correction" not in {i.section for i in items}


def test_a_list_of_things_to_do_is_followed_to_its_end() -> None:
    def plan(pos: int, name: str, **arguments: object) -> Message:
        return message(pos, "assistant", [call(name, id=f"c{pos}", **arguments)])

    messages = [
        message(1, "user", "Do the three things."),
        plan(2, "TaskCreate", subject="Write the parser"), plan(3, "TaskCreate", subject="Write the tests"), plan(4, "TaskCreate", subject="Write a poem"), plan(5, "TaskCreate", subject="Ship it"),
        plan(6, "TaskUpdate", taskId="1", status="completed"), plan(7, "TaskUpdate", taskId="2", status="in_progress"), plan(8, "TaskUpdate", taskId="3", status="deleted"), plan(9, "TaskList"),
    ]  # fmt: skip
    found = sections(extract(messages))
    assert "Write the parser (completed)" in found["state"] and "Being worked on now (in_progress): Write the tests" in found["state"]
    assert "Ship it" in found["next"] and "poem" not in found["next"] + found["state"]


def test_later_words_of_the_user_change_the_task() -> None:
    messages = talk(
        ("user", "Build a small web shop for my bakery."), ("assistant", "Which database should it use?"),
        ("user", "I prefer SQLite for such small things. Polling did not work last time because it was too slow. We'll go with server-sent events for the live orders. Always write the tests first."),
        ("assistant", [said("I start with the schema."), call("Write", file_path="schema.sql", content="create table orders (id integer)")]),
        ("user", [result("ok")]), ("user", "Now add a page for the orders."),
    )  # fmt: skip
    found = sections(extract(messages))
    assert "prefer SQLite" in found["preference"] and "Polling did not work" in found["eliminated"]
    assert "server-sent events" in found["decision"] and "Always write the tests first" in found["constraint"]
    assert "Now add a page" in found["goal"]


def test_a_chat_keeps_what_the_user_tells_rather_than_each_question() -> None:
    messages = talk(
        ("user", "Help me plan a garden."), ("assistant", "Gladly."),
        ("user", "Here is my list:\n- tomatoes\nI bought twelve rose bushes from a nursery in Porto last week. What is a good mulch? I don't know what to do."), ("assistant", "Bark is fine."),
    )  # fmt: skip
    found = extract(messages)
    assert "twelve rose bushes" in sections(found)["event"]
    assert "Help me plan a garden." in sections(found)["goal"]
    assert not {"Here is my list:", "What is a good mulch?"} & {i.text for i in found}, "what was answered, and what only introduces"


def test_praise_and_pictures_tell_less_than_what_happened() -> None:
    people = [
        message(1, "user", "I adopted a dog called Max from the shelter in Lyon last May.", name="Ann"), message(2, "assistant", "You are such a wonderful person with a big heart.", name="Bo"),
        message(3, "user", "[shares a photo of a brown dog on a green lawn]", name="Ann"), message(4, "assistant", "It was really something special for everyone there.", name="Bo"),
    ]  # fmt: skip
    weights = [i.weight for i in extract(people)]
    assert weights[0] == max(weights) and weights[0] > 2 * max(weights[1:])


def test_what_a_client_or_a_sub_agent_says_is_not_the_users() -> None:
    messages = [message(1, "user", "Review the branch."), message(2, "user", "I prefer to report that the parser was broken by the cache.")]
    messages[1] = dataclasses.replace(messages[1], trust="agent")
    messages += [message(3, "assistant", [call("Bash", command="git log")])]
    assert all(i.trust != "user" for i in extract(messages) if i.spans[0].message == "m2")


def test_a_summary_carried_over_keeps_what_was_asked_first() -> None:
    carried = (
        "This session is being continued from a previous conversation.\nAnalysis:\n1. Request: the user asked for a faster parser in Rust.\n"
        + "".join(f"- Step {n} of the parser work was done in file_{n}.rs with care.\n" for n in range(9))
        + "We decided to use nom because it is small.\nFiles and code:\n"
    )
    found = sections(extract(talk(("user", carried), ("assistant", [call("Read", file_path="x.rs")]))))
    assert "asked for a faster parser" in found["goal"] and "use nom" in found["decision"]


def test_a_pasted_log_is_not_a_request() -> None:
    log = "\n".join(f'2026-01-0{n} 10:00:00 GET /index.html 200\n{{"id": {n}}}\nimport os\n/var/folders/x{n}/tmp' for n in range(1, 9))
    found = extract(
        talk(
            ("user", "Fix the server."),
            ("assistant", [call("Bash", command="make")]),
            ("user", f"It still fails, see this output:\n{log}\nCan you look at the first line?"),
            ("assistant", "Yes."),
        )
    )
    own = [i.text for i in found if i.spans[0].message == "m3"]
    assert own == ["It still fails, see this output:", "Can you look at the first line?"]


def test_a_talk_in_chinese_is_weighed_without_words() -> None:
    found = extract([message(1, "user", "金融招聘会的规模是二百人。"), message(2, "user", "好。嗯。")])
    assert found[0].text == "金融招聘会的规模是二百人。" and found[0].weight == max(i.weight for i in found)


def test_a_must_that_does_not_fit_gives_way() -> None:
    long, short = Item("goal", "word " * 50, weight=9), Item("goal", "Fix it.", weight=1)
    assert select([long, short], room=30, cost=lambda i: len(i.text), worth={}, musts=lambda i: True) == [short]


def test_same_input_same_items_and_any_order_of_work_is_kept() -> None:
    assert extract(SESSION) == extract(list(SESSION))
    starts = [int(i.spans[0].message[1:]) for i in extract(SESSION)]
    assert starts == sorted(starts)


def test_huge_messages_are_read_at_head_and_tail_in_little_time() -> None:
    huge = "line of output without meaning\n" * 170_000 + "FATAL: the disk is full\n"
    messages = talk(("user", "Run the import."), ("assistant", [call("Bash", command="make import")]), ("user", [result(huge, error=True)]))
    begun = time.perf_counter()
    items = extract(messages, kept=worth(messages))
    assert time.perf_counter() - begun < 2
    assert "the disk is full" in sections(items)["error"]


@pytest.mark.parametrize(
    "piece", ["a/", "a_", "a-", "([{", "https://", "**", "- ", "|", "1.", "。", "\t", "<leporello-memory ", "I moved to "]
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    text = piece * (300_000 // len(piece))
    messages = talk(("user", text), ("assistant", [call("Write", file_path="/a/b.py", content=text)]), ("user", [result(text, error=True)]))
    begun = time.perf_counter()
    ExtractiveCompactor().compact(messages, prior=(), tokens=1000)
    assert time.perf_counter() - begun < 3


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text(max_size=200)), max_size=6), st.integers(20, 400))
def test_any_text_fits_and_its_spans_lie_within(turns: list[tuple[str, str]], tokens: int) -> None:
    messages = talk(*turns)
    items = ExtractiveCompactor().compact(messages, prior=(), tokens=tokens)
    text, shown = render(items, tokens=tokens)
    assert shown == items
    assert estimate(text) <= tokens and (not text.isascii() or len(text) <= 4 * tokens)
    texts = {m.id: m.text for m in messages}
    for span in (s for i in items for s in i.spans):
        assert 0 <= span.start <= span.end <= len(texts[span.message])


@pytest.mark.parametrize(
    "turns",
    [
        SESSION,
        talk(("user", "hi"), ("assistant", "Hello!")),
        talk(("user", "ok"), ("assistant", "")),
        talk(("user", [{"type": "image", "source": {}}])),
    ],
)
def test_an_episode_is_never_empty_and_smaller_than_what_it_replaces(turns: list[Message]) -> None:
    draft = ExtractiveCompactor().episode(turns, tokens=1000)
    assert draft.summary.strip()
    replaced = sum(estimate(m.text) for m in turns)
    if replaced > 100:
        assert episode_tokens(draft.summary, draft.items) <= replaced * 3 // 4
        assert draft.items


def test_a_compact_merges_the_prior_one_without_growing() -> None:
    compactor = ExtractiveCompactor()
    items: tuple[Item, ...] = ()
    for n in range(0, len(SESSION), 2):
        items = compactor.compact(SESSION[n : n + 2], prior=items, tokens=300)
        text, shown = render(items, tokens=300)
        assert shown == items and len(text) <= 1200
    assert any("flaky on CI" in i.text for i in items) and any("advisory lock" in i.text for i in items)


def cases() -> list[Path]:
    return sorted((DATA / "compactions").glob("*.json.gz"))[:6]


@pytest.mark.skipif(not cases(), reason=f"{DATA / 'compactions'} is missing: no real sessions to read")
def test_real_sessions_spans_budgets_and_determinism() -> None:
    for file in cases():
        messages = as_messages(json.loads(gzip.decompress(file.read_bytes()))["pre"])
        check_spans(messages)
        for tokens in (500, 3000):
            items = ExtractiveCompactor().compact(messages, prior=(), tokens=tokens)
            text, shown = render(items, tokens=tokens)
            assert shown == items
            assert estimate(text) <= tokens and (not text.isascii() or len(text) <= 4 * tokens)
            assert text == render(ExtractiveCompactor().compact(messages, prior=(), tokens=tokens), tokens=tokens)[0]


def as_messages(pre: list[list[Any]]) -> list[Message]:
    out: list[Message] = []
    open_ids: list[str] = []
    for role, kind, text in pre:
        if kind == "tool_use":
            open_ids.append(f"c{len(out)}")
            block: dict[str, object] = {"type": "tool_use", "id": open_ids[-1], "name": "tool", "input": {"arguments": text}}
        elif kind.startswith("tool_") and open_ids:
            block = result(text, open_ids.pop(0), error=kind == "tool_error")
        else:
            block = {"type": "thinking", "thinking": text} if kind == "thinking" else {"type": "text", "text": text}
        out.append(message(len(out) + 1, role, [block]))
    return out


def test_names_are_files_identifiers_and_marks() -> None:
    assert names("see src/auth/login_form.py, getUser and MAX_RETRIES in ENT-108 at v1.2.3, commit 9f0cb7b375, issue #221") == {
        "login_form.py", "login_form", "getUser", "MAX_RETRIES", "ENT-108", "v1.2.3", "9f0cb7b375", "#221",
    }  # fmt: skip
    assert plain_words("see src/auth/login.py in getUser today") == 3
    assert len(tame("x" * 5000)) == 5000 and "x" * 100 not in tame("x" * 5000)


def test_sentences_have_their_places_and_leave_code_out() -> None:
    text = "# Plan\nFirst e.g. this. Then that!\n\n```python\nx = 1\n```\n- [ ] do a thing\n1. and another\n| a | b |\n|---|---|\n再见。你好。完\n    x = f(1);"
    found = sentences(text, 10)
    assert [s.text for s in found] == ["First e.g. this.", "Then that!", "do a thing", "and another", "| a | b |", "再见。", "你好。"]
    for s in found:
        assert text[s.start - 10 : s.end - 10] == s.text
    assert found[0].heading == "Plan"

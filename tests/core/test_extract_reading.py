"""What a reader of episodes, compacts and facts relies on: requests apart from chatter, decisions that stand, nothing cut or told twice."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from leporello.adapters.extractive import ExtractiveCompactor
from leporello.core import blocks
from leporello.core.compact import render, summarise
from leporello.core.extract import extract
from leporello.core.extract.sentences import sentences
from leporello.core.extract.standing import GIVEN_UP
from leporello.records import Episode, Item, Message, Operation, Scope, Section

MONDAY = datetime(2026, 11, 30, 9, tzinfo=UTC)
SCOPE = Scope(user="u", session="s")
DEMO = Path(__file__).resolve().parents[2] / "src/leporello/entrypoints/demo_conversation.json"


def conversation(*turns: tuple[str, object], names: bool = False) -> list[Message]:
    out: list[Message] = []
    turn = 0
    for pos, (who, content) in enumerate(turns, 1):
        role = ("user", "assistant")[pos % 2 == 0] if names else who
        turn += role == "user"
        original = {"role": role, "content": content}
        at = MONDAY + timedelta(minutes=pos)
        trust = "agent" if role == "assistant" else "user"
        out.append(Message(f"m{pos}", SCOPE, pos, turn, role, who if names else None, at, at, trust, blocks.text_of(original), original))  # type: ignore[arg-type]
    return out


def did(text: str, tool: str, id: str, **arguments: object) -> list[dict[str, object]]:
    said: list[dict[str, object]] = [{"type": "text", "text": text}] if text else []
    return [*said, {"type": "tool_use", "id": id, "name": tool, "input": arguments}]


def came(text: str, id: str, *, error: bool = False) -> list[dict[str, object]]:
    return [{"type": "tool_result", "tool_use_id": id, "content": text, "is_error": error}]


def by_section(items: tuple[Item, ...] | list[Item], section: Section) -> list[str]:
    return [i.text for i in items if i.section == section]


def facts(messages: list[Message]) -> tuple[Operation, ...]:
    compactor = ExtractiveCompactor()
    draft = compactor.episode(messages, tokens=max(50, sum(len(m.text) for m in messages) // 5))
    at = messages[-1].at
    episode = Episode("e1", SCOPE, 1, (1, messages[-1].turn), (1, messages[-1].pos), at, at, draft.summary, draft.items, compactor.name)
    return compactor.distil([episode], [])


HARVEST = conversation(
    ("user", "Hello! The harvest report of the vineyard takes forty seconds to open. Goal: open it in under three seconds before the season starts on 1 March."),
    ("assistant", did("I'll measure the queries first.", "bash", "c1", command="make profile")),
    ("user", came("report.py 38.2 s in load_rows", "c1")),
    ("assistant", "`load_rows` reads every weather row for each barrel. I'd store a daily summary in a table of its own, harvest_days, because the rows never change after midnight."),
    ("user", "Sounds good, do that. Separate table harvest_days."),
    ("assistant", did("Then I add the table and fill it.", "edit_file", "c2", path="report/load.py", old="for row in rows:\n    total += row.mm", new="total = days.total(barrel)")),
    ("user", came("replaced 1 occurrence in report/load.py", "c2")),
    ("assistant", did("", "bash", "c3", command="pytest -q tests")),
    ("user", came("E   AssertionError: 12.5 != 12.4\n1 failed, 30 passed in 2.0s", "c3", error=True)),
    ("assistant", "The sum differs because the old code rounded twice. Should I keep the old rounding?"),
    ("user", "No! Millimetres are whole tenths everywhere. Ines from the cellar checks the totals by hand every Friday."),
    ("assistant", did("I fix the rounding.", "edit_file", "c4", path="report/load.py", old="round(total)", new="total")),
    ("user", came("replaced 1 occurrence in report/load.py", "c4")),
    ("user", "Nice. Back. My dog ate the charger, so I was slow. Please write a short note for Ines about the change."),
    ("assistant", did("", "write_file", "c5", path="docs/harvest.md", content="# Harvest days\n")),
    ("user", came("wrote 1 line to docs/harvest.md", "c5")),
    ("assistant", "The report opens in 1.8 seconds; the note for Ines is in docs/harvest.md. The next step is the review of the branch harvest-days."),
    ("user", "That's what I hoped for. One thing is still open: does the archive of 2019 need the table too? I'll ask Ines tomorrow."),
    ("assistant", "Noted. Until Ines answers I leave archive.py alone. The dog was the funniest part."),
)  # fmt: skip


def test_the_task_is_what_was_asked_for_without_reactions_and_small_talk() -> None:
    items = extract(HARVEST)
    goals = " ".join(by_section(items, "goal"))
    assert "takes forty seconds" in goals and "Goal: open it in under three seconds" in goals
    assert "write a short note for Ines" in goals
    whole = " ".join(i.text for i in items)
    for chatter in ("Hello", "Nice.", "Back.", "charger", "hoped for", "funniest"):
        assert chatter not in whole


def test_what_the_user_states_is_kept_as_information_or_rule_with_the_users_trust() -> None:
    items = extract(HARVEST)
    rules = [i for i in items if i.section == "constraint"]
    assert any("whole tenths everywhere" in i.text and i.trust == "user" for i in rules)
    told = [i for i in items if i.section in {"event", "constraint"} and "Ines from the cellar" in i.text]
    assert told and told[0].trust == "user"


def test_what_the_user_approved_is_a_decision_with_the_agents_reason() -> None:
    decision = next(i for i in extract(HARVEST) if i.section == "decision" and "harvest_days" in i.text)
    assert decision.trust == "user" and "Separate table harvest_days" in decision.text
    assert decision.why == "the rows never change after midnight"
    assert [s.message for s in decision.spans] == ["m4", "m5"]


def test_open_questions_and_next_steps_have_their_sections() -> None:
    items = extract(HARVEST)
    assert any("archive of 2019" in t for t in by_section(items, "open"))
    steps = " ".join(by_section(items, "next"))
    assert "ask Ines tomorrow" in steps and "Until Ines answers" in steps and "review of the branch" in steps
    assert not any("old rounding" in t for t in by_section(items, "open")), "a question that was answered is not open"


def test_an_episode_tells_what_was_done_without_raw_calls() -> None:
    draft = ExtractiveCompactor().episode(HARVEST, tokens=600)
    work = " ".join(i.text for i in draft.items if i.section == "work")
    assert "changed report/load.py" in work and "`pytest -q tests` (failed)" in work
    assert "{" not in work and "old" not in work.split() and "days.total(barrel)" not in work


def test_a_summary_has_no_question_and_no_chatter_and_ends_with_where_it_stands() -> None:
    summary = ExtractiveCompactor().episode(HARVEST, tokens=600).summary
    assert summary.startswith("The harvest report") or summary.startswith("Goal: open it")
    assert "?" not in summary and "dog" not in summary and "harvest.md" in summary
    assert len(sentences(summary)) <= 6


def test_the_current_state_is_what_the_last_messages_say_is_done() -> None:
    state = " ".join(by_section(extract(HARVEST), "state"))
    assert "opens in 1.8 seconds" in state and "dog" not in state


def test_nothing_is_told_in_two_sections() -> None:
    text, _ = render(ExtractiveCompactor().compact(HARVEST, prior=(), tokens=900), tokens=900)
    lines = [line.removeprefix("- ").removeprefix("Newest: ") for line in text.splitlines() if line.startswith("- ")]
    for line in lines:
        assert sum(line[:60] in other for other in lines) == 1, line


@pytest.mark.parametrize(
    ("said", "chosen", "why"),
    [
        ("Let's keep the recipes in SQLite since the bakery has one till.", "keep the recipes in SQLite", "the bakery has one till"),
        ("Their printer jams on long slips, 80 lines is the most. So keep the slips for 30 days to be safe.", "keep the slips for 30 days", "Their printer jams"),
        ("Drop the JSON export and use CSV instead, the accountant opens it in a spreadsheet.", "use CSV instead", ""),
        ("Wir nehmen SQLite statt MySQL, weil die Bäckerei nur eine Kasse hat.", "SQLite statt MySQL", "die Bäckerei nur eine Kasse hat"),
        ("On va utiliser SQLite plutôt que MySQL parce que la caisse est unique.", "SQLite plutôt que MySQL", "la caisse est unique"),
        ("Vamos a usar SQLite en lugar de MySQL porque solo hay una caja.", "SQLite en lugar de MySQL", "solo hay una caja"),
        ("我们改用 SQLite，因为只有一台收银机。", "改用 SQLite", "只有一台收银机"),
    ],
)  # fmt: skip
def test_a_users_choice_is_a_decision_with_its_reason(said: str, chosen: str, why: str) -> None:
    messages = conversation(
        ("user", "Build the order book of a bakery, please."), ("assistant", did("I look at the code.", "bash", "c1", command="ls")),
        ("user", came("app.py", "c1")), ("user", said), ("assistant", did("I start.", "bash", "c2", command="make")), ("user", "Please go on with the labels."),
    )  # fmt: skip
    found = [i for i in extract(messages) if i.section in {"decision", "correction"} and chosen in i.text]
    assert found and found[0].trust == "user"
    assert why in found[0].why


@pytest.mark.parametrize(
    "said",
    [
        "We replace the cron job with a systemd timer because it catches up after a reboot.",
        "The labels stay in UTF-8, so the tables keep their collation as before.",
        "The fix is to open the file once instead of once for every line.",
        "Wir ersetzen den Cronjob durch einen Timer, weil er nach einem Neustart nachholt.",
        "Nous remplaçons la tâche cron par un timer, car il rattrape après un redémarrage.",
    ],
)
def test_what_an_agent_says_is_used_from_now_on_is_a_decision(said: str) -> None:
    messages = conversation(("user", "Make the nightly labels reliable."), ("assistant", said))
    assert any(i.section == "decision" for i in extract(messages))


CHANGED = conversation(
    ("user", "The photo service loses uploads. Please find a place for the queue."), ("assistant", did("I look at the worker.", "read_file", "c1", path="worker.py")), ("user", came("...", "c1")),
    ("assistant", "Then let's go with RabbitMQ for the queue, because it is already installed on the old server."), ("user", "Fine with me, go ahead with RabbitMQ."),
    ("assistant", did("I write the consumer.", "write_file", "c2", path="consumer.py", content="...")), ("user", came("ok", "c2")),
    ("user", "I changed my mind: drop RabbitMQ for the queue and use a table in Postgres instead."),
    ("assistant", "We replace RabbitMQ with a table in Postgres, because then an upload and its job commit together."), ("user", "Please write the table now."),
)  # fmt: skip


def test_a_changed_mind_is_a_correction_and_yields_the_decision_that_stands() -> None:
    items = extract(CHANGED)
    assert any("changed my mind" in t for t in by_section(items, "correction"))
    standing = by_section(items, "decision")
    assert any("use a table in Postgres instead" in t for t in standing)
    assert not any("go with RabbitMQ" in t for t in standing)
    dropped = next(i for i in items if i.section == "eliminated")
    assert dropped.text.startswith(GIVEN_UP) and "RabbitMQ" in dropped.text
    assert "commit together" in dropped.why
    found = " ".join(o.text for o in facts(CHANGED))
    assert "table in Postgres" in found and "go with RabbitMQ" not in found


def test_a_small_session_keeps_rules_wishes_and_decisions() -> None:
    messages = conversation(
        ("user", "Never email the guests directly. I prefer short answers in this hotel project."),
        ("assistant", "Understood. We decided to keep bookings in Postgres because the spreadsheet loses rows when two people save."),
        ("user", "Right, and remember that rooms are cleaned on Mondays because the laundry comes on Sundays."),
        ("assistant", "Noted: rooms are cleaned on Mondays."),
    )
    found = facts(messages)
    for words, why in (
        ("Never email the guests", ""),
        ("I prefer short answers", ""),
        ("keep bookings in Postgres", "two people save"),
        ("rooms are cleaned on Mondays", "laundry comes"),
    ):
        fact = next(o for o in found if words in o.text)
        assert why in fact.why
    assert len(found) == 4


def test_a_rule_tacked_on_to_a_request_is_a_rule_of_its_own() -> None:
    messages = conversation(
        ("user", "The till is slow. Find out why, but never restart the old server."),
        ("assistant", did("I look.", "bash", "c1", command="top")),
    )
    items = extract(messages)
    assert by_section(items, "goal") == ["The till is slow.", "Find out why"]
    assert by_section(items, "constraint") == ["never restart the old server."]


def test_people_keep_events_wishes_and_plans_with_names_and_dates() -> None:
    talk = conversation(
        ("Mara", "Hey! How are you?"), ("Jon", "Great, thanks! I moved to Leeds last month with my dog Otto."), ("Mara", "Wow, that's so cool!"),
        ("Jon", "I'm allergic to nuts, so I bake for myself."), ("Mara", "You are such a talent. I'm planning to visit my sister Ines in Lisbon next Friday."), ("Jon", "Have fun!"),
        names=True,
    )  # fmt: skip
    text, shown = render(ExtractiveCompactor().compact(talk, prior=(), tokens=400), tokens=400)
    assert "## Task" not in text
    assert "Jon: I moved to Leeds last month (2026-10) with my dog Otto." in text
    assert "Jon: I'm allergic to nuts" in text and "next Friday (2026-12-04)" in text
    for reaction in ("How are you", "so cool", "talent", "Have fun"):
        assert reaction not in text
    assert 3 <= len(shown) <= 4
    assert {o.fact_kind for o in facts(talk)} >= {"fact", "preference"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Call `a.b. C d` first. Then stop here.", ["Call `a.b. C d` first.", "Then stop here."]),
        ("We moved last month. Can you help with the boxes now?", ["We moved last month.", "Can you help with the boxes now?"]),
        ("It is slow (as measured. Twice even.) on the old disk.", ["It is slow (as measured. Twice even.) on the old disk."]),
        ("A paragraph that an editor has broken into several lines of text\nand that goes on here. Next.", ["A paragraph that an editor has broken into several lines of text\nand that goes on here.", "Next."]),
        ("- one thing to do\n- another thing", ["one thing to do", "another thing"]),
    ],
)  # fmt: skip
def test_sentences_are_whole(text: str, expected: list[str]) -> None:
    found = sentences(text)
    assert [s.text for s in found] == expected
    assert all(text[s.start : s.end] == s.text for s in found)


def test_a_summary_within_a_budget_leaves_sentences_out_rather_than_cutting_them() -> None:
    items = [
        Item("goal", "Make the old printer print labels again today.", weight=9),
        Item("decision", "We use the second tray because the first one jams.", weight=5),
    ]
    assert summarise(items, tokens=14) == "Make the old printer print labels again today."


def demo() -> list[Message]:
    out: list[Message] = []
    turn = 0
    for pos, entry in enumerate(json.loads(DEMO.read_text(encoding="utf-8"))["messages"], 1):
        original = entry["message"]
        at = datetime.fromisoformat(entry["at"])
        role = blocks.role_of(original)
        turn += role == "user"
        trust = "agent" if role == "assistant" else "user"
        out.append(Message(f"m{pos}", SCOPE, pos, turn, role, None, at, at, trust, blocks.text_of(original), original))  # type: ignore[arg-type]
    return out


def test_the_demo_conversation_gives_the_facts_that_matter() -> None:
    compactor = ExtractiveCompactor()
    messages = demo()
    episodes = []
    for n, start in enumerate(range(0, len(messages), 20), 1):
        part = messages[start : start + 20]
        draft = compactor.episode(part, tokens=1000)
        turns, positions = (part[0].turn, part[-1].turn), (part[0].pos, part[-1].pos)
        episodes.append(Episode(f"e{n}", SCOPE, n, turns, positions, part[-1].at, part[-1].at, draft.summary, draft.items, compactor.name))
    found = compactor.distil(episodes, [])
    assert 8 <= len(found) <= 14  # at most ten facts, and further sources of some
    for words in (
        ("never touch", "production"), ("cents",), ("floats",), ("plain SQL", "small commits"), ("old rows",), ("72 hours",), ("Redis", "Postgres", "unique constraint"),
        ("charge_keys",), ("SERIALIZABLE", "7.4 %"), ("Advisory locks", "PgBouncer"), ("250 ms",), ("Tomasz", "migrations"),
    ):  # fmt: skip
        assert any(all(w in f"{o.text} {o.why}" for w in words) for o in found), words
    text, _ = render(compactor.compact(messages, prior=(), tokens=2000), tokens=2000)
    for chatter in ("Thought so", "plants", "number I wanted", "exactly right", "cat "):
        assert chatter not in text
    decisions = text.split("## Decisions")[1].split("## ")[0]
    assert "use a unique constraint in Postgres" in decisions and "go with Redis" not in decisions

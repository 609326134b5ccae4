"""Project files: what is rendered is read back as it was, and every hand edit is an edit, a clash, or a problem; never a loss."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leporello.errors import InputError
from leporello.formats import project
from leporello.formats.project import Kept, Plan, Written, compare, paths_in, render, select, topic_of
from leporello.formats.project.files import kept_in
from leporello.formats.project.names import file_names, folded
from leporello.formats.project.parse import Page, parse
from leporello.records import Fact, FactKind, Provenance, Scope, Trust

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
SCOPE = Scope(user="alice", project="shop")


def fact(
    id: str, text: str, kind: FactKind = "fact", *, why: str = "", tags: tuple[str, ...] = (), at: datetime = NOW, trust: Trust = "user"
) -> Fact:
    return Fact(id, SCOPE, text, kind, why, "user_stated", trust, 0.9, tags, at, None, NOW, None, Provenance())


def files(facts: list[Fact], kept: dict[str, Kept] | None = None) -> dict[str, str]:
    return dict(render(facts, title="Project memory: shop", kept=kept).files)


def pages(texts: dict[str, str]) -> list[Page]:
    return [parse(n, t.encode()) for n, t in texts.items() if n.endswith(".md")]


def written(facts: list[Fact]) -> Written:
    return Written(render(facts, title="t").ids, NOW)


def plan(texts: dict[str, str], facts: list[Fact], *, now: datetime = NOW, wrote: list[Fact] | None = None) -> Plan:
    return compare(pages(texts), facts, written(facts if wrote is None else wrote), now=now)


def quiet(p: Plan) -> bool:
    return not (p.edits or p.clashes or p.problems or p.missing or p.erased or p.duplicates)


FACTS = [
    fact("f_1", "Deploys happen on Tuesdays.", why="release calendar", tags=("deploys", "ops")),
    fact("f_2", "We use PostgreSQL.", "decision", tags=("database",), at=datetime(2025, 11, 3, tzinfo=UTC)),
    fact("f_3", "SQLite did not hold under load.", "eliminated", tags=("database",)),
    fact("f_4", "Prefers short answers.", "preference"),
]

TEXTS = st.text(min_size=1, max_size=60).filter(lambda t: t.strip()) | st.text(
    alphabet="-*+#>`|~=_[](){}<!>/ \t\n1.a:·\\\r\u2028\0&;", min_size=1, max_size=40
).filter(lambda t: t.strip())
MADE = st.lists(
    st.builds(
        fact,
        st.uuids().map(lambda u: f"f_{u.hex}"),
        TEXTS,
        st.sampled_from(["fact", "decision", "eliminated", "pattern", "preference", "procedure"]),
        why=TEXTS | st.just(""),
        tags=st.lists(TEXTS, max_size=3).map(tuple),
        at=st.datetimes(timezones=st.just(UTC)),
        trust=st.sampled_from(["user", "agent", "tool", "external"]),
    ),
    max_size=6,
    unique_by=lambda f: f.id,
)


@settings(max_examples=120, deadline=None)
@given(MADE)
def test_what_is_written_is_read_back_without_an_edit_and_written_the_same(facts: list[Fact]) -> None:
    texts = files(facts)
    found = compare(pages(texts), facts, Written(render(facts, title="t").ids, NOW), now=datetime.max.replace(tzinfo=UTC))
    assert (found.edits, found.clashes, found.problems, found.missing, found.entries) == ([], [], [], [], len(facts))
    again = files(facts, kept_in(project.Held(tuple(pages(texts)), {n: t.encode() for n, t in texts.items()})))
    assert again == texts
    assert files(facts[::-1]) == texts


@settings(max_examples=60, deadline=None)
@given(MADE, st.data())
def test_an_edit_of_one_bullet_is_an_edit_of_that_fact_alone(facts: list[Fact], data: st.DataObject) -> None:
    if not facts:
        return
    target = data.draw(st.sampled_from(facts))
    texts = {n: re.sub(rf"^(- )(?=(?:(?!^- ).)*{target.id})", "- Changed: ", t, flags=re.M | re.S) for n, t in files(facts).items()}
    found = compare(pages(texts), facts, Written(render(facts, title="t").ids, NOW), now=datetime.max.replace(tzinfo=UTC))
    assert [(e.operation.op, e.operation.target) for e in found.edits] == [("supersede", target.id)]
    assert found.edits[0].operation.text.startswith("Changed: ") and found.edits[0].operation.tags == target.tags


def test_a_file_shows_section_date_confidence_why_tags_and_marker() -> None:
    texts = files(FACTS)
    assert set(texts) == {"MEMORY.md", "index.json", "deploys.md", "database.md", "user-preferences.md"}
    assert (
        "## Architecture decisions\n\n- We use PostgreSQL.\n  (2025-11-03 · confidence 0.9 · tags: database) <!-- f_2 "
        in texts["database.md"]
    )
    assert "(2026-03-02 · confidence 0.9 · why: release calendar · tags: deploys, ops) <!-- f_1 " in texts["deploys.md"]
    head = texts["user-preferences.md"].split("---")[1]
    assert "name: User preferences\n" in head and "type: user\n" in head and 'description: "1 entry, newest 2026-03-02"' in head
    index = json.loads(texts["index.json"])
    assert index["facts"]["f_3"]["file"] == "database.md" and index["dates"]["2025-11-03"] == ["f_2"]
    assert "PostgreSQL" not in texts["index.json"] and "- [database](database.md): 2 entries" in texts["MEMORY.md"]


def test_the_index_keeps_its_bounds_whatever_the_topics() -> None:
    many = [fact(f"f_{i}", f"Topic {i} says {'värde ' * 60}", tags=(f"ämne {'长' * (i % 70)} {i}",)) for i in range(400)]
    made = render(many, title="t" * 500)
    index = made.files["MEMORY.md"]
    assert len(index.splitlines()) <= 200 and len(index.encode()) <= 25_000 and max(map(len, index.splitlines())) <= 150
    assert len([n for n in made.files if n.endswith(".md")]) <= 201
    assert sorted(i for ids in made.ids.values() for i in ids) == sorted(f.id for f in many)
    assert quiet(plan(dict(made.files), many))
    assert set(re.findall(r"\]\(([^)]+)\)", index)) == set(made.files) - {"MEMORY.md", "index.json"}


def test_file_names_are_safe_and_differ_by_more_than_case() -> None:
    topics = [
        "../../etc/passwd",
        "CON",
        "nul",
        "Memory",
        "a/b",
        "a-b",
        "A b",
        "...",
        "",
        "Ünïcode",
        "ﬁle",
        "file",
        "x" * 300,
        "长" * 200,
        "x" * 301,
    ]
    names = file_names(topics, held={})
    assert len({folded(n) for n in names.values()}) == len(topics)
    assert all(re.fullmatch(r"[\w-]+\.md", n) and len(n.encode()) < 80 for n in names.values())
    assert not {folded(n) for n in names.values()} & {"con.md", "nul.md", "memory.md"}
    assert file_names(["Deploys"], held={}, foreign=["DEPLOYS.md"])["Deploys"] != "deploys.md"
    assert file_names(["Deploys"], held={"deploys": "mine.md"}) == {"Deploys": "mine.md"}


def edited(name: str, old: str, new: str, facts: list[Fact] = FACTS) -> Plan:
    texts = files(facts)
    assert old in texts[name]
    return plan({**texts, name: texts[name].replace(old, new, 1)}, facts)


def test_an_edited_text_corrects_and_keeps_the_rest() -> None:
    found = edited("deploys.md", "on Tuesdays", "on Thursdays")
    op = found.edits[0].operation
    assert (op.op, op.target, op.text, op.trust, op.confidence) == ("supersede", "f_1", "Deploys happen on Thursdays.", "user", 1.0)
    assert (op.why, op.tags, op.at, found.edits[0].reason) == ("release calendar", ("deploys", "ops"), None, "edited in deploys.md")


@pytest.mark.parametrize(
    ("old", "new", "field", "value"),
    [
        ("(2026-03-02", "(2026-02-01", "at", datetime(2026, 2, 1, tzinfo=UTC)),
        ("confidence 0.9", "confidence 60%", "confidence", 0.6),
        ("why: release calendar", "why: the calendar (see wiki)", "why", "the calendar (see wiki)"),
        (" · why: release calendar", "", "why", ""),
        ("tags: deploys, ops", "tags: deploys, #releases", "tags", ("deploys", "releases")),
        (" · tags: deploys, ops", "", "tags", ()),
    ],
)
def test_edited_details_are_taken_over(old: str, new: str, field: str, value: object) -> None:
    found = edited("deploys.md", old, new)
    op = found.edits[0].operation
    assert len(found.edits) == 1 and op.op == "supersede" and op.text == FACTS[0].text and getattr(op, field) == value
    same = {"at": NOW, "confidence": 0.9, "why": "release calendar", "tags": ("deploys", "ops")}
    assert {n: getattr(op, n) for n in same if n != field} == {n: v for n, v in same.items() if n != field}


def test_details_that_say_nothing_known_are_reported_and_the_rest_is_taken() -> None:
    found = edited("deploys.md", "(2026-03-02 · confidence 0.9 · why: release", "(2026-99-99 · confidence 7 · urgent · why: new")
    assert [p.why for p in found.problems if p.place == "deploys.md:11"] == [
        "'2026-99-99' is no date", "'urgent' says nothing known", "'7' is no confidence from 0 to 1"
    ]  # fmt: skip
    op = found.edits[0].operation
    assert (op.at, op.confidence, op.why) == (NOW, 0.9, "new calendar")
    assert edited("deploys.md", "confidence 0.9", "confidence much").edits == []


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.replace("\n", "\r\n"),
        lambda t: "\ufeff" + t,
        lambda t: t.replace("\n  (", "\n\t("),
        lambda t: t.replace("\n- ", "\n* "),
        lambda t: t.replace("\n- ", "\n1. "),
        lambda t: t.replace("Deploys happen on", "Deploys happen\n  on   "),
        lambda t: t.replace("\n  (", "  \n\n\n  ("),
        lambda t: re.sub("\n(?=.)", "\n ", t.split("\n\n", 1)[1]).replace("\n #", "\n#"),
    ],
    ids=["crlf", "bom", "tabs", "star", "numbers", "wrapped", "spaced", "indented without front matter"],
)
def test_another_editors_habits_are_no_edits(change: object) -> None:
    texts = files(FACTS)
    assert quiet(plan({**texts, "deploys.md": change(texts["deploys.md"])}, FACTS))  # type: ignore[operator]


def test_a_removed_bullet_retracts_and_a_moved_one_is_nothing() -> None:
    texts = files(FACTS)
    bullet = re.search(r"- SQLite.*\n.*\n", texts["database.md"])
    assert bullet
    without = texts["database.md"].replace(bullet[0], "")
    found = plan({**texts, "database.md": without}, FACTS)
    assert [(e.operation.op, e.operation.target, e.reason) for e in found.edits] == [("retract", "f_3", "removed from database.md")]
    moved = {**texts, "database.md": without, "deploys.md": texts["deploys.md"] + "\n## Elsewhere\n\n" + bullet[0]}
    assert quiet(plan(moved, FACTS))
    nested = {**texts, "database.md": without, "deploys.md": texts["deploys.md"] + re.sub("(?m)^", "    ", bullet[0])}
    assert quiet(plan(nested, FACTS))


def test_new_bullets_are_facts_of_the_kind_of_their_section_and_the_topic_of_their_file() -> None:
    texts = files(FACTS)
    texts["database.md"] += (
        "\n## Ruled out\n\n- MySQL is out. (2026-01-05; confidence 0.8; why: licences; tags: db)\n\n## Oddities\n\n+ Ids are text.\n  - even numbers\n"
    )
    texts["MEMORY.md"] += "\n## Workflow\n\n- Run `make test` first.\n- See [the wiki](https://wiki.example/x.md).\n"
    found = sorted((e.operation for e in plan(texts, FACTS).edits), key=lambda o: o.text)
    assert [(o.op, o.fact_kind, o.text, o.tags, o.why, o.confidence) for o in found] == [
        ("add", "fact", "Ids are text.\n- even numbers", ("database", "Oddities"), "", 1.0),
        ("add", "eliminated", "MySQL is out.", ("db",), "licences", 0.8),
        ("add", "procedure", "Run `make test` first.", ("Workflow",), "", 1.0),
        ("add", "procedure", "See [the wiki](https://wiki.example/x.md).", ("Workflow",), "", 1.0),
    ]
    assert found[1].at == datetime(2026, 1, 5, tzinfo=UTC)


def test_a_page_on_several_things_says_in_each_fact_what_it_is_about() -> None:
    page = parse(
        "printers.md",
        b"---\nname: printers\ntype: reference\n---\n## One\n- 10 inch\n- cheap\n\n## Two\n- 10 inch\n\n## Decisions\n- Buy one.\n",
    )
    found = [e.operation for e in compare([page], [], Written(), now=NOW).edits]
    assert [(o.text, o.tags, o.fact_kind) for o in found] == [
        ("One: 10 inch", ("printers", "One"), "fact"), ("One: cheap", ("printers", "One"), "fact"),
        ("Two: 10 inch", ("printers", "Two"), "fact"), ("Buy one.", ("printers", "Decisions"), "decision"),
    ]  # fmt: skip
    twice = {"deploys.md": files(FACTS)["deploys.md"] + "\n- Ask first.\n\n## Rollbacks\n\n- Ask first.\n"}
    assert [e.operation.text for e in plan(twice, FACTS, wrote=[]).edits] == ["Ask first.", "Rollbacks: Ask first."]


def test_copies_are_one_fact_and_an_edited_copy_is_a_statement_of_its_own() -> None:
    texts = files(FACTS)
    bullet = re.search(r"- Deploys.*\n.*\n", texts["deploys.md"])
    assert bullet
    twice = plan({**texts, "deploys.md": texts["deploys.md"] + bullet[0]}, FACTS)
    assert (twice.edits, twice.duplicates) == ([], 1)
    variant = plan({**texts, "deploys.md": texts["deploys.md"] + bullet[0].replace("Deploys", "Migrations")}, FACTS)
    assert [(e.operation.op, e.operation.text) for e in variant.edits] == [("add", "Migrations happen on Tuesdays.")]
    stripped = plan({**texts, "deploys.md": re.sub(r" <!-- f_1.*-->", "", texts["deploys.md"])}, FACTS)
    assert stripped.edits == []


def test_the_store_wins_where_it_changed_too() -> None:
    texts = files(FACTS)
    ended = [replace(FACTS[0], valid_to=NOW, status="deprecated"), *FACTS[1:], fact("f_9", "Deploys happen on Fridays.")]
    later = NOW + timedelta(hours=1)
    mine = {**texts, "deploys.md": texts["deploys.md"].replace("Tuesdays", "Thursdays")}
    found = plan(mine, ended, now=later, wrote=FACTS)
    assert found.edits == [] and [(c.id, c.text) for c in found.clashes] == [("f_1", "Deploys happen on Thursdays.")]
    agreed = {**texts, "deploys.md": texts["deploys.md"].replace("Tuesdays", "Fridays")}
    assert quiet(plan(agreed, ended, now=later, wrote=FACTS))
    assert quiet(plan(texts, ended, now=later, wrote=FACTS))
    surer = [replace(FACTS[0], confidence=1.0), *FACTS[1:]]
    both = plan({**texts, "deploys.md": texts["deploys.md"].replace("confidence 0.9", "confidence 0.2")}, surer, wrote=FACTS)
    assert both.edits == [] and len(both.clashes) == 1
    assert plan(mine, surer, wrote=FACTS).edits[0].operation.text == "Deploys happen on Thursdays."


def test_an_erased_fact_never_comes_back_and_a_bullet_of_another_store_does() -> None:
    mine = {n: t.replace("Tuesdays", "Thursdays") for n, t in files(FACTS).items()}
    gone = plan(mine, FACTS[1:], wrote=FACTS)
    assert (gone.edits, gone.erased) == ([], 1)
    other = compare(pages(files(FACTS)), [], Written(), now=NOW)
    assert sorted(e.operation.text for e in other.edits) == sorted(f.text for f in FACTS)
    assert {e.operation.text: e.operation.tags for e in other.edits}["Deploys happen on Tuesdays."] == ("deploys", "ops")


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x01", "not UTF-8"),
        (b"- a\0b", "binary data"),
        (b"<<<<<<< HEAD\n- a\n=======\n- b\n>>>>>>> other\n", "merge conflict"),
        (b"---\nname: [a\n---\n- a\n", "not YAML"),
        (b"---\nname: &a x\nother: *a\n---\n- a\n", "not YAML"),
        ("- ä\n".encode("utf-16"), "not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_a_problem_and_retracts_nothing(raw: bytes, why: str) -> None:
    texts = files(FACTS)
    held = [*pages({n: t for n, t in texts.items() if n != "deploys.md"}), parse("deploys.md", raw)]
    found = compare(held, FACTS, written(FACTS), now=NOW)
    assert found.edits == [] and [p.place for p in found.problems] == ["deploys.md"] and why in found.problems[0].why


def test_a_file_that_is_gone_is_reported_and_retracts_only_when_told_to() -> None:
    texts = {n: t for n, t in files(FACTS).items() if n != "database.md"}
    kept = compare(pages(texts), FACTS, written(FACTS), now=NOW)
    assert (kept.edits, kept.missing) == ([], ["database.md"])
    told = compare(pages(texts), FACTS, written(FACTS), now=NOW, removed="retract")
    assert sorted(e.operation.target or "" for e in told.edits) == ["f_2", "f_3"] and sorted(told.removed) == ["f_2", "f_3"]


def test_what_people_wrote_beside_bullets_stays() -> None:
    texts = files(FACTS)
    prose = "Read this first.\n\n## Diagram\n\n```\n- not a bullet\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n[ref]: http://x.example\n"
    texts["deploys.md"] = (
        texts["deploys.md"]
        .replace("type: project", "type: reference\nowner:\n  - ann")
        .replace("1 entry, newest 2026-03-02", "How we ship")
    )
    texts["deploys.md"] = texts["deploys.md"].replace("## Facts", f"{prose}\n## Facts")
    texts["MEMORY.md"] = texts["MEMORY.md"].replace("\n## ", "\nHand-written words.\n\n## ", 1)
    held = project.Held(tuple(pages(texts)), {n: t.encode() for n, t in texts.items()})
    assert compare(held.pages, FACTS, written(FACTS), now=NOW).edits == []
    again = files(FACTS, kept_in(held))
    for line in [*prose.split("\n"), "owner:", "  - ann", "type: reference", "How we ship"]:
        assert line in again["deploys.md"]
    assert "Hand-written words." in again["other-text.md"]
    third = files(FACTS, kept_in(project.Held(tuple(pages(again)), {n: t.encode() for n, t in again.items()})))
    assert third == again and quiet(plan(again, FACTS))


def test_a_bullet_that_became_a_paragraph_is_reported_not_retracted() -> None:
    texts = files(FACTS)
    found = plan({**texts, "deploys.md": texts["deploys.md"].replace("- Deploys", "Deploys")}, FACTS)
    assert found.edits == [] and "no bullet any more" in found.problems[0].why


def test_a_text_cut_short_is_not_corrected_from_its_file() -> None:
    long = [fact("f_1", "word " * 2_000, tags=("deploys",))]
    assert quiet(plan(files(long), long))
    found = edited("deploys.md", "word word", "Word word", long)
    assert found.edits == [] and "cut short" in found.problems[0].why


def test_lines_of_erased_facts_go_from_every_file(tmp_path: Path) -> None:
    for name, text in files(FACTS).items():
        (tmp_path / name).write_bytes(text.encode())
    (tmp_path / "torn.md").write_bytes(b"<<<<<<< HEAD\n" + files(FACTS)["deploys.md"].encode() + b"\n\xff\n")
    quoted = re.sub("(?m)^", "> ", files(FACTS)["deploys.md"])
    (tmp_path / "quoted.md").write_text(quoted)
    assert project.drop_lines(str(tmp_path), ["f_1", "f_3"]) == 4
    left = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    assert "deploys.md" not in left and all(b"Tuesdays" not in t and b"SQLite" not in t and b"f_1" not in t for t in left.values())
    assert b"PostgreSQL" in left["database.md"] and b"\xff" in left["torn.md"]
    index = json.loads(left["index.json"])
    assert set(index["facts"]) == {"f_2", "f_4"} and [t["topic"] for t in index["topics"]] == ["database", "User preferences"]
    assert b"[deploys]" not in left["MEMORY.md"] and b"- [database](database.md): 1 entry\n" in left["MEMORY.md"]
    assert project.drop_lines(str(tmp_path), ["f_1"]) == 0 and project.drop_lines(str(tmp_path / "none"), ["f_1"]) == 0


def test_files_are_replaced_whole_and_not_over_a_change_meanwhile(tmp_path: Path) -> None:
    held = project.scan(str(tmp_path / "new"), make=True)
    assert project.apply(str(tmp_path / "new"), {"a.md": "one"}, held) == (("a.md",), ())
    with pytest.raises(InputError, match="changed meanwhile"):
        project.apply(str(tmp_path / "new"), {"a.md": "two"}, held)
    assert (tmp_path / "new/a.md").read_text() == "one" and [p.name for p in (tmp_path / "new").iterdir()] == ["a.md"]
    with pytest.raises(InputError, match="cannot be read"):
        project.scan(str(tmp_path / "none"))


def test_which_files_are_ours(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("- [x](x%20y.md): words\n")
    (tmp_path / "x y.md").write_text("- a\n")
    (tmp_path / "README.md").write_text("- not ours\n")
    (tmp_path / "typed.md").write_text("---\nname: t\nmetadata:\n  type: feedback\n---\n- b\n")
    (tmp_path / "known.md").write_text("- c\n")
    held = project.scan(str(tmp_path), ["known.md"])
    assert {p.name for p in held.pages} == {"MEMORY.md", "x y.md", "typed.md", "known.md"} and held.foreign == ("README.md",)


def test_structured_queries() -> None:
    held = [*FACTS, fact("f_5", "Retries live in ./src/net/retry.py and src/net/.", tags=("Network",), at=datetime(2024, 5, 1, tzinfo=UTC))]
    assert [f.id for f in select(held, topic="DATABASE")] == ["f_3", "f_2"] and [f.id for f in select(held, topic="ops")] == ["f_1"]
    for path in ("src/net/retry.py", "retry.py", "src", "src/net/", "SRC\\net"):
        assert [f.id for f in select(held, path=path)] == ["f_5"]
    assert select(held, path="try.py") == () and select(held, path="") == ()
    assert [f.id for f in select(held, since=datetime(2025, 1, 1, tzinfo=UTC), until=NOW)] == ["f_2"]
    assert topic_of(FACTS[3]) == "User preferences"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see `src/a_b.py`, C:\\x\\y.txt and (docs/how-to/x.md).", ("src/a_b.py", "C:/x/y.txt", "docs/how-to/x.md")),
        ("e.g. version 3.11 at https://example.org/a.html, i.e. none", ()),
        ("~/notes.txt or ../up.rs; Makefile", ("~/notes.txt", "../up.rs")),
    ],
)
def test_paths_that_a_text_names(text: str, found: tuple[str, ...]) -> None:
    assert paths_in(text) == found


def test_a_read_memory_file_of_other_tools_loses_no_bullet() -> None:
    page = parse("MEMORY.md", "# Memory\n\n## Vercel\n- CLI only.\n- [git](feedback_git.md) — push\n\nWords.\n".encode())
    assert [b.text for b in page.bullets] == ["CLI only.", "[git](feedback_git.md) — push"]
    assert page.prose == ["## Vercel\n\nWords."]
    found = compare([page], [], Written(), now=NOW)
    assert [e.operation.tags for e in found.edits] == [("Vercel",), ("Vercel",)]

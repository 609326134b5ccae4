"""Memory entries and Markdown notes: one statement each, and no line lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leporello.formats import Entry, Learnt, Skipped, Unreadable, read

Write = Callable[..., Path]


def learnts(path: Path, format: str | None = None) -> list[Learnt]:
    return [e for e in read(path, format) if isinstance(e, Learnt)]


def bad(path: Path, format: str | None = None) -> list[Unreadable]:
    return [e for e in read(path, format) if isinstance(e, Unreadable)]


def bare(text: str) -> str:
    return "".join(c for c in text if c.isalnum())


def test_memory_entries(write: Write) -> None:
    path = write(
        [
            {
                "tick": "44",
                "time": "2024-01-15T10:30:00",
                "type": "decision",
                "summary": "Use WAL.",
                "tags": ["db", 3],
                "importance": "HIGH",
                "mood": {"v": 1},
            },
            {"key": "editor", "value": "vim", "ts": 1715000000, "confidence": 1.0, "tags": "a, b"},
            {"tick": True, "content": "c", "timestamp": "nonsense", "importance": 3},
            {"tick": 5},
            {
                "type": "entity",
                "name": "Ann",
                "entityType": "person",
                "observations": ["likes tea", {"text": "sails", "timestamp": "2025-01-01"}, 4],
            },
            {"type": "entity", "name": "Bo", "observations": []},
            {"type": "relation", "from": "Ann", "to": "Bo", "relationType": "knows"},
        ]
    )
    found = learnts(path)
    assert [(e.text, e.tick, e.importance, e.tags) for e in found[:3]] == [
        ("Use WAL.", 44, "high", ("db",)), ("editor: vim", None, None, ("a", "b")), ("c", None, None, ()),
    ]  # fmt: skip
    assert [e.at for e in found[:3]] == [datetime(2024, 1, 15, 10, 30, tzinfo=UTC), datetime(2024, 5, 6, 12, 53, 20, tzinfo=UTC), None]
    assert (found[0].fact_kind, found[2].fact_kind, found[0].original["mood"]) == ("decision", "fact", {"v": 1})
    assert [e.text for e in found[3:]] == ["Ann: likes tea", "Ann: sails", "Bo: entity", "Ann knows Bo"]
    assert found[4].at == datetime(2025, 1, 1, tzinfo=UTC)
    assert [e.why for e in bad(path)] == ["an entry without a text", "an observation without a text"]


def test_bookkeeping_does_not_make_an_entry_another_one(write: Write) -> None:
    path = write(
        [{"tick": 1, "summary": "a", "_access_count": 1}, {"tick": 1, "summary": "a", "_access_count": 9}, {"tick": 2, "summary": "a"}]
    )
    first, second, third = learnts(path)
    assert first.origin == second.origin != third.origin
    assert second.original["_access_count"] == 9
    assert [e.text for e in learnts(write(json.dumps([{"tick": 1, "summary": "a"}], indent=1)))] == ["a"]


NOTES = """\
---
name: boats
description: What we know about boats
metadata:
  type: reference
  updated: 2026-06-27
---
# Boats

Intro text
over two lines.

## Sails
- **main** sail
  with a second line
  - [x] inner one
  - inner two
1. numbered

Run this:

```bash
make sail  # now
```

**Never do:**
* jibe by accident

### Empty
## Table
| a | b |
|---|---|
| 1 | 2 |

<!-- a comment -->
***
[ref]: https://example.org
> quoted
"""


def test_notes_become_entries_under_their_headings(write: Write) -> None:
    found = learnts(write(NOTES))
    assert [(e.under, e.text) for e in found] == [
        (("boats",), "What we know about boats"),
        (("Boats",), "Intro text\nover two lines."),
        (("Boats", "Sails"), "**main** sail\nwith a second line"),
        (("Boats", "Sails", "**main** sail"), "[x] inner one"),
        (("Boats", "Sails", "**main** sail"), "inner two"),
        (("Boats", "Sails"), "numbered"),
        (("Boats", "Sails"), "Run this:\n\n```bash\nmake sail  # now\n```"),
        (("Boats", "Sails", "Never do"), "jibe by accident"),
        (("Boats", "Sails"), "### Empty"),
        (("Boats", "Table"), "| a | b |\n|---|---|\n| 1 | 2 |"),
        (("Boats", "Table"), "> quoted"),
        ((), "[ref]: https://example.org"),
    ]
    assert {(e.kind, e.at) for e in found} == {("reference", datetime(2026, 6, 27, tzinfo=UTC))}
    assert found[2].statement == "Boats › Sails: **main** sail\nwith a second line"
    assert [e.why for e in read(write(NOTES)) if isinstance(e, Skipped)] == ["comment", "rule"]
    again = learnts(write(NOTES.replace("2026-06-27", "2026-07-01").replace("# Boats\n", "# Boats\n\nNew.\n")))
    assert {e.origin for e in found} < {e.origin for e in again}


@pytest.mark.parametrize(
    ("front", "told"),
    [("a: [1", "not YAML"), ("- a\n- b", "not a mapping"), ("a: &x [1]\nb: *x", "aliases"), ("a: " + "[" * 3000, "too deep")],
)
def test_front_matter_that_cannot_be_read_costs_nothing_else(write: Write, front: str, told: str) -> None:
    path = write(f"---\n{front}\n---\n- still here\n")
    assert [e.text for e in learnts(path)] == ["still here"]
    assert [told in e.why for e in bad(path)] == [True]


def test_notes_keep_lines_that_are_not_utf8_apart(write: Write) -> None:
    path = write(b"# Title\r\n- caf\xe9\r\n- tea\r\n")
    assert [e.text for e in learnts(path)] == ["tea"]
    assert [(e.place, e.raw) for e in bad(path)] == [("line 2", b"- caf\xe9")]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["# h", "## k", "- a", "  - b", "    - c", "1. n", "p:", "p", "```", "> q", "| a |", "---", "", "[x]: y", "<b>", "    code"]
        ),
        max_size=14,
    )
)
def test_no_line_of_notes_is_lost(write: Write, lines: list[str]) -> None:
    path = write("x\n\n" + "\n".join(lines))
    entries: list[Entry] = list(read(path, "markdown"))
    kept = "\n".join(f"{e.original['markdown']}\n{' '.join(e.under)}" for e in entries if isinstance(e, Learnt))
    for line in lines:
        assert bare(line) in bare(kept)

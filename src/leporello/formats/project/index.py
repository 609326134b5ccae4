"""Facts by topic, path and date: what the JSON index holds, and what structured queries ask for."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from leporello.formats.project.bullets import SECTIONS, day
from leporello.records import Fact

JSON_INDEX = "index.json"
_PATH = re.compile(r"(?<![\w/.:@-])(?:[A-Za-z]:[\\/]|~?/|\.{1,2}/)?(?:[\w.@+-]+[\\/])*[\w@+-][\w.@+-]*\.[A-Za-z][A-Za-z0-9]{0,9}(?![\w/])|(?<![\w/.:@-])(?:~?/|\.{1,2}/)?(?:[\w.@+-]+/)+(?![\w/])")  # fmt: skip
_NO_FILES = {"e.g", "i.e", "a.m", "p.m", "u.s", "etc."}


def topic_of(fact: Fact) -> str:
    """The topic of a fact: its first tag, or the section of its kind."""
    return next((t for t in (cleaned(t) for t in fact.tags) if t), SECTIONS[fact.fact_kind])


def cleaned(name: str) -> str:
    """A name on one line, without characters that cannot be shown."""
    return " ".join("".join(c if c.isprintable() else " " for c in unicodedata.normalize("NFC", name)).split())


def same(name: str) -> str:
    """What two spellings of one topic have in common."""
    return unicodedata.normalize("NFC", cleaned(name).casefold())


def paths_in(text: str) -> tuple[str, ...]:
    """The paths of files and folders that a text names, with forward slashes, each once."""
    found = (m.group().replace("\\", "/").rstrip(".") for m in _PATH.finditer(text))
    return tuple(dict.fromkeys(_bare(p) for p in found if p.casefold() not in _NO_FILES and len(_bare(p)) > 2))


def select(
    facts: Iterable[Fact],
    *,
    topic: str | None = None,
    path: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> tuple[Fact, ...]:
    """The facts of a topic (or tag), that name a path (or one below it), from one instant to before another; newest first."""
    wanted = None if topic is None else same(topic)
    found = [
        f
        for f in facts
        if (wanted is None or wanted in {same(topic_of(f)), *map(same, f.tags)})
        and (path is None or any(_named(p, path) for p in paths_in(f"{f.text}\n{f.why}")))
        and (since is None or f.at >= since)
        and (until is None or f.at < until)
    ]
    return newest_first(found)


def newest_first(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Facts by date, the newest first; of one date in the order of their texts."""
    return tuple(sorted(sorted(facts, key=lambda f: (f.text, f.id)), key=lambda f: f.at, reverse=True))


def json_index(topics: Sequence[Mapping[str, Any]], facts: Mapping[str, Sequence[Fact]]) -> str:
    """`index.json`: topics, and facts by id, path and date. It holds no text of a fact."""
    rows: dict[str, Any] = {}
    paths: dict[str, list[str]] = {}
    dates: dict[str, list[str]] = {}
    for topic in topics:
        for f in facts[topic["file"]]:
            named = paths_in(f"{f.text}\n{f.why}")
            rows[f.id] = {
                "topic": topic["topic"], "file": topic["file"], "kind": f.fact_kind, "date": day(f.at), "confidence": round(f.confidence, 4),
                "trust": f.trust, "paths": list(named),
            }  # fmt: skip
            dates.setdefault(day(f.at), []).append(f.id)
            for p in named:
                paths.setdefault(p, []).append(f.id)
    whole = {
        "version": 1,
        "topics": list(topics),
        "facts": rows,
        "paths": dict(sorted(paths.items())),
        "dates": dict(sorted(dates.items())),
    }
    return json.dumps(whole, ensure_ascii=True, indent=1) + "\n"


def types_in(text: bytes) -> dict[str, str]:
    """The type that was worked out for each topic file when the JSON index was written; empty if it cannot be read."""
    try:
        return {str(t["file"]): str(t["type"]) for t in json.loads(text)["topics"]}
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}


def without(text: str, ids: frozenset[str], files: frozenset[str]) -> str | None:
    """The JSON index without these facts and files; None if it cannot be read (it can be made again)."""
    try:
        whole = json.loads(text)
        rows = {i: row for i, row in whole["facts"].items() if i not in ids}
        lost = {t["file"]: sum(1 for i, row in whole["facts"].items() if i in ids and row["file"] == t["file"]) for t in whole["topics"]}
        topics = [{**t, "entries": t["entries"] - lost[t["file"]]} for t in whole["topics"] if t["file"] not in files]
        lists = {
            name: {key: left for key, held in whole[name].items() if (left := [i for i in held if i not in ids])}
            for name in ("paths", "dates")
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return json.dumps({**whole, "topics": topics, "facts": rows, **lists}, ensure_ascii=True, indent=1) + "\n"


def _bare(path: str) -> str:
    return re.sub(r"^(\./)+", "", path)


def _named(mention: str, path: str) -> bool:
    """True if a mention is this path, ends in it, or lies below it."""
    wanted = _bare(path.replace("\\", "/")).rstrip("/").casefold()
    held = mention.rstrip("/").casefold()
    return bool(wanted) and (held == wanted or held.endswith(f"/{wanted}") or f"/{wanted}/" in f"/{held}/")

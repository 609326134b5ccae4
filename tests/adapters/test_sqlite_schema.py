"""Migrations, the schema that they make, and the named queries."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import apsw
import apsw.ext
import pytest

import leporello
from leporello.adapters.sqlite import codec
from leporello.adapters.sqlite import store as store_module
from leporello.adapters.sqlite.files import APPLICATION_ID
from leporello.adapters.sqlite.queries import migrations, queries, schema
from leporello.adapters.sqlite.store import SqliteStore
from leporello.core.times import micros
from leporello.flows.indexing import KEYED
from leporello.memory import reembed
from leporello.records import Fact, Scope
from leporello.testing import ManualClock
from leporello.testing.conformance.samples import log, say

S1 = Scope(session="s1")
PACKAGE = Path(store_module.__file__).parent


def objects(db: apsw.Connection) -> list[tuple[str, str, str]]:
    """(type, name, SQL without spacing and comments) of everything in the schema."""
    rows = db.execute("SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name").fetchall()
    return [(kind, name, re.sub(r"\s+", "", re.sub(r"--[^\n]*", "", sql or ""))) for kind, name, sql in rows]


def made_by(*scripts: str) -> list[tuple[str, str, str]]:
    """What these scripts make, one after the other."""
    db = apsw.Connection(":memory:")
    for sql in scripts:
        db.execute(sql)
    return objects(db)


def test_all_migrations_make_the_schema() -> None:
    assert made_by(*(sql for _, _, sql in migrations())) == made_by(schema()) != []


def test_a_new_store_has_the_schema_and_a_record_of_each_migration(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "store.db"))
    with store.write() as w:
        assert objects(w.db) == made_by(schema())
        assert w.db.execute("SELECT version, name FROM migration ORDER BY version").fetchall() == [(v, n) for v, n, _ in migrations()]
        assert w.db.pragma("user_version") == len(migrations())
    store.close()


def test_a_migration_that_fails_leaves_no_trace_and_the_ones_before_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "store.db")
    SqliteStore(path).close()
    last = len(migrations())
    good, bad = (last + 1, "good", "CREATE TABLE second (x);"), (last + 2, "bad", "CREATE TABLE third (x); INSERT INTO nowhere VALUES (1);")
    broken = (*migrations(), good, bad)
    with monkeypatch.context() as patched:
        patched.setattr(store_module, "migrations", lambda: broken)
        patched.setattr("leporello.adapters.sqlite.files.migrations", lambda: broken)
        with pytest.raises(apsw.SQLError):
            SqliteStore(path)
    db = apsw.Connection(path)
    assert db.pragma("user_version") == last + 1
    assert db.execute("SELECT version FROM migration").fetchall() == [(v,) for v in range(1, last + 2)]
    assert {n for _, n, _ in objects(db)} & {"second", "third"} == {"second"}
    db.close()
    mended = (*broken[:-1], (last + 2, "bad", "CREATE TABLE third (x);"))
    with monkeypatch.context() as patched:
        patched.setattr(store_module, "migrations", lambda: mended)
        patched.setattr("leporello.adapters.sqlite.files.migrations", lambda: mended)
        store = SqliteStore(path)
        say(store, S1, "one")
        with store.read() as r:
            assert r.db.pragma("user_version") == last + 2
        store.close()


def test_an_old_store_keeps_its_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "store.db")
    store = SqliteStore(path)
    say(store, S1, "one", "two")
    store.close()
    more = (*migrations(), (len(migrations()) + 1, "more", "ALTER TABLE pin ADD COLUMN more INTEGER;"))
    monkeypatch.setattr(store_module, "migrations", lambda: more)
    monkeypatch.setattr("leporello.adapters.sqlite.files.migrations", lambda: more)
    store = SqliteStore(path)
    assert [m.text for m in log(store, S1)] == ["one", "two"] and store.check() == []
    store.close()


OLD = datetime(2026, 1, 5, tzinfo=UTC)


def of_version_two(path: str, *facts: tuple[str, datetime | None, str, str]) -> None:
    """A store as version 2 of the schema left it, with facts of the user "ann": text, end, status, history."""
    db = apsw.Connection(path)
    for version, name, sql in migrations()[:2]:
        db.execute(sql)
        db.execute("INSERT INTO migration VALUES (?, ?, ?)", (version, name, 0))
    db.execute(
        "INSERT INTO setting VALUES ('embedder', 'hash:256'); INSERT INTO tenant VALUES (1, 'default'); INSERT INTO name VALUES (1, 1, 'ann')"
    )
    db.execute("INSERT INTO scope VALUES (1, 1, 1, 0, 0, 0)")
    at = micros(OLD)
    for n, (text, end, status, was) in enumerate(facts, 1):
        row = (n, f"f_{n:030x}", codec.pack(text), codec.dump([]), at, end and micros(end), at, status, codec.dump([None, [], [], []]))
        db.execute("INSERT INTO fact VALUES (?, 1, 1, ?, 'fact', ?, '', 'user_stated', 'user', 10000, ?, ?, ?, ?, NULL, ?, '[]', ?)", row)
        db.execute("INSERT INTO entry VALUES (NULL, 1, 1, 1, 2, ?, 0, ?, ?, x'', zeroblob(512))", (n, at, at))
        if was:
            db.execute("INSERT INTO history VALUES (NULL, 1, ?, ?, 'supersede', 'x', '', ?)", (n, micros(end or OLD), was))
    db.pragma("user_version", 2)
    db.pragma("application_id", APPLICATION_ID)
    db.close()


def test_facts_of_an_older_store_are_facts_as_any(tmp_path: Path) -> None:
    """They come back, are found as near, and can be contradicted and restored; what they were before is known too."""
    path, clock = str(tmp_path / "store.db"), ManualClock(datetime(2026, 6, 1, tzinfo=UTC))
    march = datetime(2026, 3, 1, tzinfo=UTC)
    was = json.dumps({"text": "Berta waters the plants.", "status": "active", "confidence": 1.0, "valid_to": None})
    of_version_two(
        path, ("The value of k3 is 5.", None, "active", ""), ("Berta waters the plants.", march, "deprecated", was), ("A put aside.", None, "archived", "")
    )  # fmt: skip
    SqliteStore(path).close()
    with leporello.open(path, embedder="hash", clock=clock) as mem:
        ann = mem.scope(user="ann")
        five, plants, aside = ann.facts(status="all")
        assert [f.status for f in (five, plants, aside)] == ["active", "deprecated", "archived"] and ann.facts() == (five,)
        assert ann.facts(as_of=OLD) == (five, plants) and [f.valid_to for f in ann.facts(believed_at=OLD)[:2]] == [None, None]
        assert ann.learn("the value of K3 is 5").id == five.id and [h.record.id for h in ann.recall("value k3").hits] == [five.id]
        nine = ann.learn("The value of k3 is 9.")
        ended = ann.get(five.id)
        assert isinstance(ended, Fact) and (ended.superseded_by, ended.valid_to, nine.supersedes) == (nine.id, nine.valid_from, (five.id,))
        assert ann.retract(plants.id).valid_to == march
        assert ann.restore(plants.id).status == "active" and ann.contradict(plants.id).status == "deprecated"
        assert ann.confirm(aside.id).status == "archived" and ann.restore(aside.id).status == "active"
        assert mem.doctor() == []


def test_keys_are_made_once(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")
    of_version_two(path, *((f"The value of k{n} is 5.", None, "active", "") for n in range(30)))
    for _ in range(2):
        with leporello.open(path, embedder="hash") as mem:
            assert mem._ports.store.setting(KEYED)
            with mem._ports.store.read() as r:
                keys, newest = (r.db.execute(f"SELECT {what}").get for what in ("count(*) FROM fact_key", "max(rid) FROM entry"))  # type: ignore[attr-defined]
            assert keys >= 60 and newest == 60


def test_facts_are_near_after_all_vectors_were_made_again(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")
    with leporello.open(path, embedder="hash") as mem:
        fact = mem.scope(user="ann").learn("The value of k3 is 5.")
    reembed(path, embedder="hash")
    with leporello.open(path, embedder="hash") as mem:
        assert mem.scope(user="ann").learn("the value of k3 is  5.").id == fact.id and len(mem.scope(user="ann").facts()) == 1


def test_a_store_that_is_only_read_is_not_migrated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "store.db")
    SqliteStore(path).close()
    before = len(migrations())
    more = (*migrations(), (before + 1, "more", "ALTER TABLE pin ADD COLUMN more INTEGER;"))
    monkeypatch.setattr(store_module, "migrations", lambda: more)
    store = SqliteStore(path, read_only=True)
    with store.read() as r:
        assert r.db.pragma("user_version") == before
    store.close()


def used_names() -> set[str]:
    """Names of queries as the code asks for them; a name made of a kind stands for one per kind."""
    found: set[str] = set()
    for path in PACKAGE.glob("*.py"):
        source = path.read_text(encoding="utf-8")
        for name in re.findall(r"""f?["']([a-z_{}.]+)["']""", source):
            kinds = ("message", "episode", "fact") if "{" in name else ("",)
            found |= {re.sub(r"\{[a-z.]+\}", kind, name) for kind in kinds}
    return found


def asked_names() -> set[str]:
    """Names in the places where only a query can stand."""
    found: set[str] = set()
    for path in PACKAGE.glob("*.py"):
        source = path.read_text(encoding="utf-8")
        calls = re.findall(r"""(?:_rows|_row|_value|_run|_many|_do|_get)\(\s*(f?)["']([a-z_{}.]+)["']""", source)
        calls += re.findall(r"""(?:sql|queries\(\))\[(f?)["']([a-z_{}.]+)["']\]""", source)
        for made, name in calls:
            found |= {re.sub(r"\{[a-z.]+\}", kind, name) for kind in (("message", "episode", "fact") if made else ("",))}
    return found


def test_every_query_is_used() -> None:
    assert set(queries()) - used_names() == set()


def test_every_query_that_is_asked_for_exists() -> None:
    assert len(asked_names()) > 40
    assert asked_names() - set(queries()) == set()


def test_every_query_fits_the_schema() -> None:
    """Prepared against the schema: no unknown table or column, no syntax error."""
    db = apsw.Connection(":memory:")
    db.execute(schema())
    for name, sql in queries().items():
        assert apsw.ext.query_info(db, sql).query, name


def test_every_read_uses_an_index() -> None:
    """No query walks through a whole table that grows with messages."""
    db = apsw.Connection(":memory:")
    db.execute(schema())
    walks = []
    for name, sql in queries().items():
        plan = str(apsw.ext.query_info(db, sql, explain_query_plan=True).query_plan)
        if re.search(r"SCAN (message|entry|episode|fact|source|history|media|removal|e|c)\b(?! USING (COVERING )?INDEX)", plan):
            walks.append((name, plan))
    assert walks == []

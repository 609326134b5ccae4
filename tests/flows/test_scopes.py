"""Whose memory it is cannot be mixed up."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leporello
from leporello import Scope
from leporello.errors import BadName, NotFound
from leporello.memory import Memory, Scoped
from leporello.records import DIMENSIONS

DATA = Path(os.environ.get("LEPORELLO_EVAL_DATA") or Path(__file__).parents[2] / "../shared/data").resolve()
needs_data = pytest.mark.skipif(not DATA.exists(), reason=f"the data folder {DATA} is missing: set LEPORELLO_EVAL_DATA")
NAMES = st.sampled_from(
    ["a", "A", "a_b", "a%", "a.b", "a:b", "é", "e\u0301", "a\x00", "\ud83d", "' OR 1=1 --", "*", " ", "null", "../x", "a/b"]
)


def fill(handle: Scoped, mark: str) -> list[str]:
    """One record of every kind; their ids."""
    session = handle.session(f"session-{mark}") if handle.scope.session is None else None
    said = (
        session.add(f"The secret word is {mark}, keep it well.")
        if session
        else (handle.remember(f"The secret word is {mark}, keep it well."),)
    )
    fact = handle.learn(f"The secret of this place is {mark}.")
    handle.set_note("secret", mark)
    if session:
        session.pin(f"Keep {mark} safe.")
        session.fold(all=True)
        session.compact(max_tokens=100)
        return [*(m.id for m in said), fact.id, *(e.id for e in session.episodes())]
    return [*(m.id for m in said), fact.id]


def seen(handle: Scoped, tmp_path: Path) -> str:
    """Everything that can be read through a handle, as text."""
    out = [str(handle.recall("secret word place keep", k=50).to_dict()), handle.context("secret word", budget=4_000).text]
    out += [str(handle.facts()), str(handle.episodes()), str(handle.notes()), str(handle.sessions()), str(handle.note("secret"))]
    for info in handle.sessions():
        session = handle.session(info)
        out.append(str([*session.messages(), session.pins(), session.last_compact()]))
    folder = tmp_path / "export"
    handle.export(folder)
    out += [p.read_text(encoding="utf-8") for p in sorted(folder.iterdir())]
    return "\n".join(out)


@needs_data
@pytest.mark.parametrize("dimension", ["tenant", "user", "agent", "project"])
def test_nasty_pairs_never_meet(mem: Memory, tmp_path: Path, dimension: str) -> None:
    for n, (left, right) in enumerate(json.loads((DATA / "nasty" / "scopes.json").read_text(encoding="utf-8"))):
        marks = (f"heron{n}x", f"osprey{n}y")
        handles = []
        for name, mark in zip((left, right), marks, strict=True):
            if not name:
                with pytest.raises(BadName):
                    mem.scope(**{dimension: name})
                continue
            handle = mem.scope(**{dimension: name})
            handles.append((handle, fill(handle, mark), mark))
        for handle, _, mark in handles:
            text = seen(handle, tmp_path / f"{n}{mark}{dimension}")
            assert mark in text
            for other, foreign, theirs in handles:
                if other is not handle:
                    assert theirs not in text
                    for id in foreign:
                        for reach in (handle.get, handle.explain, handle.erase):
                            with pytest.raises(NotFound):
                                reach(id)
        if len(handles) == 2:
            (gone, _, _), (kept, ids, mark) = handles
            before = kept.stats()
            gone.erase_all()
            assert gone.stats()["messages"] == 0 and kept.stats() == before
            assert all(kept.get(i) for i in ids)


DIMS = st.fixed_dictionaries({d: st.one_of(st.none(), NAMES) for d in DIMENSIONS[1:]})


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(NAMES, DIMS), min_size=2, max_size=6, unique_by=str), NAMES, DIMS)
def test_a_handle_sees_exactly_what_the_rule_says(
    written: list[tuple[str, dict[str, str | None]]], tenant: str, dims: dict[str, str | None]
) -> None:
    with leporello.open(":memory:", embedder="hash") as mem:
        made = {}
        for i, (t, d) in enumerate(written):
            handle = mem.scope(tenant=t, **d)
            made[handle.remember(f"the heron number {i} is here").id] = handle.scope
            made[handle.learn(f"heron fact number {i} is true").id] = handle.scope
        for t, d in [*written, (tenant, dims)]:
            handle = mem.scope(tenant=t, **d)
            allowed = {i for i, s in made.items() if handle.scope.sees(s)}
            assert {h.record.id for h in handle.recall("heron number fact here true", k=50)} == allowed
            counts = handle.stats()
            assert counts["messages"] + counts["facts"] == len(allowed)
            for i in made:
                if i not in allowed:
                    with pytest.raises(NotFound):
                        handle.get(i)
        handle = mem.scope(tenant=tenant, **dims)
        handle.erase_all()
        for i, s in made.items():
            whole = mem.scope(tenant=s.tenant)
            if handle.scope.covers(s):
                with pytest.raises(NotFound):
                    whole.get(i)
            else:
                assert whole.get(i).id == i


@pytest.mark.parametrize("bad", ["", None, 7, b"x"])
def test_a_tenant_is_always_a_name(mem: Memory, bad: object) -> None:
    with pytest.raises(BadName):
        mem.scope(tenant=bad)  # type: ignore[arg-type]


def test_narrowing_never_widens_or_moves() -> None:
    scope = Scope("t", user="a")
    assert scope.narrow(session="s") == Scope("t", "a", None, None, "s")
    for change in ({"user": "b"}, {"user": None}, {"colour": "red"}, {"session": ""}, {"tenant": "u"}):
        with pytest.raises(BadName):
            scope.narrow(**change)
    assert scope.narrow(user="a") == scope

"""Folding: layers disjoint and complete, twice is once, tails valid, and everything unfolds again."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leporello
from leporello.core.turns import faults, shapes
from leporello.errors import BudgetTooSmall, CompactorError, FoldRefused, FoldStuck, NotFound, NothingToFold
from leporello.memory import Memory
from leporello.records import EpisodeDraft, Item, Operation, Span
from leporello.results import Layers
from leporello.session import Session
from leporello.testing import ManualClock, ScriptedCompactor


def exchange(session: Session, i: int) -> None:
    session.add(
        {"role": "user", "content": f"Please look at the invoice number {i}, and tell me whether the total of {i * 10} euros is right."}
    )
    session.add(
        {"role": "assistant", "content": f"Invoice {i} is right: I added the lines in src/invoice_{i}.py and they come to {i * 10} euros."}
    )


def covered(layers: Layers) -> list[int]:
    return [t for ranges in (layers.l3, layers.l2, layers.l1) for first, last in ranges for t in range(first, last + 1)]


def test_twenty_turns_stay_and_the_twenty_first_folds_down_to_half(mem: Memory) -> None:
    session = mem.scope(user="a").session("s")
    for i in range(20):
        exchange(session, i)
    assert session.fold().episodes == ()
    exchange(session, 20)
    report = session.fold()
    assert (len(report.episodes), report.turns) == (1, (1, 11))
    assert report.tokens_after < report.tokens_before
    assert session.layers() == Layers((), ((1, 11),), ((12, 21),), 21)
    assert session.fold().episodes == ()


def test_folding_everything_then_again_changes_nothing(mem: Memory) -> None:
    session = mem.scope(user="a").session("s")
    for i in range(130):
        exchange(session, i)
    session.fold(all=True)
    layers = session.layers()
    assert covered(layers) == list(range(1, 131))
    assert layers.l1 == () and layers.l3 and layers.l2
    before = (session.episodes(), mem.scope(user="a").facts(), mem.stats())
    assert session.fold(all=True).episodes == ()
    assert session.fold().episodes == ()
    assert (session.episodes(), mem.scope(user="a").facts(), mem.stats()) == before


def test_unfold_gives_the_pages_back(mem: Memory) -> None:
    session = mem.scope(user="a").session("s")
    for i in range(30):
        exchange(session, i)
    pages = list(session.messages())
    session.fold(all=True)
    assert [m for e in session.episodes() for m in session.unfold(e.id)] == pages
    assert list(session.messages()) == pages
    with pytest.raises(NotFound):
        session.unfold("e_none")
    with pytest.raises(NotFound):
        mem.scope(user="b").session("s").unfold(session.episodes()[0].id)


def test_every_item_stands_on_characters_of_its_turns(mem: Memory) -> None:
    session = mem.scope(user="a").session("s")
    for i in range(30):
        exchange(session, i)
    session.fold(all=True)
    pages = {m.id: m for m in session.messages()}
    for episode in session.episodes():
        assert episode.compactor == "extractive/1"
        for item in episode.items:
            assert item.spans
            for span in item.spans:
                page = pages[span.message]
                assert episode.positions[0] <= page.pos <= episode.positions[1]
                assert 0 <= span.start < span.end <= len(page.text)


def test_a_tool_loop_is_cut_inside_and_the_tail_is_valid(mem: Memory) -> None:
    session = mem.scope(user="a").session("s")
    session.add({"role": "user", "content": "Fix the build of the billing service, it has been red since the merge."})
    for i in range(40):
        call = {"type": "tool_use", "id": f"c{i}", "name": "bash", "input": {"command": f"make -C step{i}"}}
        session.add({"role": "assistant", "content": [{"type": "text", "text": f"I run step {i} to see where it fails."}, call]})
        result = {"type": "tool_result", "tool_use_id": f"c{i}", "content": f"step {i} ok: {i} tests passed in module_{i}.py"}
        session.add({"role": "user", "content": [result]})
    session.fold()
    tail = session.tail()
    assert faults(shapes(tail)) == []
    assert not shapes(tail)[0].results
    assert covered(session.layers()) == list(range(1, 42))
    session.fold(all=True)
    assert covered(session.layers()) == list(range(1, 42))


def test_an_unanswered_call_stays_until_it_is_answered(mem: Memory) -> None:
    session = mem.scope(user="a").session("s")
    session.add({"role": "user", "content": "read the file, please, and say what is in it"})
    session.add({"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "read", "input": {"path": "a.py"}}]})
    session.fold(all=True)
    assert [m.role for m in session.tail()] == ["assistant"]
    assert session.fold(all=True).episodes == ()
    session.add({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "print('hello world')"}]})
    session.fold(all=True)
    assert session.tail() == ()


def test_nothing_is_fine_to_fold_and_nothing_cannot_be_compacted(mem: Memory) -> None:
    session = mem.scope(user="a").session("s")
    assert session.fold(all=True).episodes == ()
    assert session.layers() == Layers()
    assert session.close().facts == ()
    with pytest.raises(NothingToFold):
        session.compact()
    session.add("hello")
    with pytest.raises(BudgetTooSmall):
        session.compact(max_tokens=3)
    assert session.last_compact() is None
    made = session.compact(max_tokens=200)
    assert session.last_compact() == made and made.schema()["compacted_at_turn"] == 1


def scripted(tmp_path: Path, *answers: Any) -> tuple[Memory, Session]:
    mem = leporello.open(
        tmp_path / "s.db",
        embedder="hash",
        compactor=ScriptedCompactor(episodes=answers),
        clock=ManualClock(datetime(2026, 1, 1, tzinfo=UTC)),
    )
    session = mem.scope(user="a").session("s")
    for i in range(25):
        exchange(session, i)
    return mem, session


@pytest.mark.parametrize("answer", [EpisodeDraft("  "), EpisodeDraft("x" * 100_000)])
def test_an_empty_or_inflated_answer_is_refused_and_the_history_stays(tmp_path: Path, answer: EpisodeDraft) -> None:
    mem, session = scripted(tmp_path, answer, answer, answer)
    with mem:
        pages = list(session.messages())
        for _ in range(2):
            with pytest.raises(FoldRefused):
                session.fold()
        with pytest.raises(FoldStuck):
            session.fold()
        assert session.episodes() == () and list(session.messages()) == pages
        session.add("new input opens the way again")
        with pytest.raises(FoldRefused):
            session.fold()


def test_where_a_compactor_fails_the_one_without_a_model_writes_and_the_report_says_so(tmp_path: Path) -> None:
    mem, session = scripted(tmp_path, CompactorError("down", failures=("timeout", "truncated")))
    with mem:
        pages = list(session.messages())
        report = session.fold()
        assert report.episodes and {e.compactor for e in session.episodes()} == {"extractive/1"}
        assert "timeout, truncated" in report.fallbacks[0] and "extractive/1 wrote it" in report.fallbacks[0]
        assert list(session.messages()) == pages


def test_what_another_process_folded_meanwhile_is_not_folded_again(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with leporello.open(path, embedder="hash") as one, leporello.open(path, embedder="hash") as two:
        session = one.scope(user="a").session("s")
        for i in range(60):
            exchange(session, i)
        rival = two.scope(user="a").session("s")

        class Racing:
            """Lets the rival fold while this one is still writing its episode."""

            name = "racing/1"
            raced = False

            def episode(self, messages: Any, *, tokens: int) -> EpisodeDraft:
                if not self.raced:
                    self.raced = True
                    rival.fold(all=True)
                return EpisodeDraft("a summary", (Item("state", "done", spans=(Span(messages[0].id, 0, 5, 1),)),))

            def compact(self, messages: Any, *, prior: Any, tokens: int) -> tuple[Item, ...]:
                return ()

            def distil(self, episodes: Any, known: Any) -> tuple[Operation, ...]:
                return ()

        with leporello.open(path, embedder="hash", compactor=Racing()) as three:
            three.scope(user="a").session("s").fold(all=True)
        assert covered(session.layers()) == list(range(1, 61))
        assert {e.compactor for e in session.episodes()} == {"extractive/1"}


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(["user", "model", "call", "two calls", "result", "orphan", "system", "empty"]), max_size=60), st.data())
def test_any_session_folds_completely_and_only_forward(said: list[str], data: st.DataObject) -> None:
    with leporello.open(":memory:", embedder="hash", policies={"fold": {"l1_turns": 4, "l2_episodes": 2}}) as mem:
        session, waiting = mem.scope(user="a").session("s"), []
        for i, what in enumerate(said):
            call = {"type": "tool_use", "id": f"c{i}", "name": "f", "input": {"n": i}}
            if what == "result" and waiting:
                session.add({"role": "user", "content": [{"type": "tool_result", "tool_use_id": waiting.pop(), "content": f"result {i}"}]})
                continue
            if what in {"call", "two calls"}:
                calls = [call] if what == "call" else [call, {**call, "id": f"d{i}"}]
                waiting += [c["id"] for c in calls]
                session.add({"role": "assistant", "content": calls})
                continue
            session.add({
                "user": {"role": "user", "content": f"the user says thing number {i} and means it"},
                "model": {"role": "assistant", "content": f"the model answers number {i} at some length, so that there is something to fold"},
                "orphan": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "nobody", "content": "lost"}]},
                "system": {"role": "system", "content": "be brief"},
                "empty": {"role": "assistant", "content": []},
            }.get(what, {"role": "user", "content": "ok"}))  # fmt: skip
            if data.draw(st.booleans()):
                session.fold()
        session.fold(all=True)
        layers = session.layers()
        assert covered(layers) == list(range(1, layers.turns + 1))
        again = session.fold(all=True)
        assert (again.episodes, again.facts) == ((), ())
        spans = [e.positions for e in session.episodes()]
        assert spans == sorted(spans)
        assert [p for a, b in spans for p in range(a, b + 1)] == list(range(1, (spans[-1][1] if spans else 0) + 1))


def test_close_keeps_facts_and_can_be_repeated(mem: Memory) -> None:
    with mem.scope(user="a", project="shop").session("s") as session:
        session.add({"role": "user", "content": "Never touch the production database. I prefer tabs over spaces in this project."})
        session.add(
            {
                "role": "assistant",
                "content": "Understood. We decided to use Postgres for the ledger because Redis evicts keys under memory pressure.",
            }
        )
        session.add(
            {"role": "user", "content": "Right, and remember that deploys happen on Tuesdays because the auditors come on Wednesdays."}
        )
        session.add({"role": "assistant", "content": "Noted: deploys happen on Tuesdays."})
    facts = mem.scope(user="a", project="shop").facts()
    assert facts
    assert all(f.provenance.spans and f.scope.session is None and f.scope.project == "shop" for f in facts)
    session.close()
    assert mem.scope(user="a", project="shop").facts() == facts


def test_a_long_backlog_folds_from_its_head(mem: Memory) -> None:
    session = mem.scope(user="a").session("s")
    session.add(
        [{"role": "user" if i % 2 == 0 else "assistant", "content": f"word {i}, and what there is to say of it"} for i in range(3_200)]
    )
    session.fold()
    layers = session.layers()
    assert covered(layers) == list(range(1, 1_601)) and layers.l1 == ((1_591, 1_600),)


def test_a_compact_of_a_very_long_session_stands_on_its_episodes(mem: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    session = mem.scope(user="a").session("s")
    for i in range(40):
        exchange(session, i)
    session.fold()
    whole = session.compact(max_tokens=800)
    monkeypatch.setattr("leporello.flows.fold._LOG_TOKENS", 10)
    short = session.compact(max_tokens=800)
    assert short.text and short.compacted_at_turn == whole.compacted_at_turn == 40


class Meddling(ScriptedCompactor):
    """Does something to the store while it is at work, once."""

    def __init__(self, act: Any, **script: Any) -> None:
        super().__init__(**script)
        self.act = act

    def _once(self) -> None:
        act, self.act = self.act, None
        if act is not None:
            act()

    def episode(self, messages: Any, *, tokens: int) -> EpisodeDraft:
        self._once()
        return EpisodeDraft(f"{len(messages)} messages")

    def compact(self, messages: Any, *, prior: Any, tokens: int) -> tuple[Item, ...]:
        self._once()
        return (Item("state", " / ".join(m.text for m in messages)[:100]),)

    def distil(self, episodes: Any, known: Any) -> tuple[Operation, ...]:
        self._once()
        return tuple(Operation("add", f"Episode {e.number} happened.", episodes=(e.id,)) for e in episodes)


@pytest.mark.parametrize("step", ["fold", "compact", "distil"])
def test_what_is_erased_while_the_compactor_works_does_not_come_back(tmp_path: Path, step: str) -> None:
    path = tmp_path / "m.db"
    with leporello.open(path, embedder="hash") as other:
        session = other.scope(user="a").session("s")
        secret = session.add({"role": "user", "content": "the secret word is heron"})[0]
        for i in range(3):
            exchange(session, i)
        if step == "distil":
            session.fold(all=True)
        compactor = Meddling(lambda: other.scope(user="a").erase(secret.id))
        with leporello.open(path, embedder="hash", compactor=compactor) as mem:
            mine = mem.scope(user="a").session("s")
            done = {"fold": lambda: mine.fold(all=True), "compact": lambda: mine.compact(max_tokens=200), "distil": mine.close}[step]()
            assert "heron" not in str([done, mine.episodes(), mine.last_compact(), mem.scope(user="a").facts()])
            if step == "distil":
                [episode], [fact] = mine.episodes(), mem.scope(user="a").facts()
                assert fact.provenance.episodes == (episode.id,)

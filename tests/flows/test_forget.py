"""Erasing: the record, everything that rests on it, everywhere, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import leporello
from leporello.errors import NotFound
from leporello.flows import learn as flow
from leporello.memory import Memory, Scoped
from leporello.records import Episode, EpisodeDraft, Fact, Message, Operation, Span
from leporello.testing import ManualClock, ScriptedCompactor

MARK = "Zanzibarstraße-heron-42"


def left_in(folder: Path, text: str) -> list[str]:
    """The files of the store that still hold the text."""
    return [p.name for p in sorted(folder.iterdir()) if p.is_file() and text.encode() in p.read_bytes()]


def talk(mem: Memory, user: str, turns: int = 30) -> None:
    session = mem.scope(user=user, project="shop").session("s")
    for i in range(turns):
        secret = f" The safe is in {MARK}, we decided to keep it there because it is dry." if i == 7 else ""
        session.add({"role": "user", "content": f"{user} asks about item {i} and the price of {i} euros.{secret}"})
        session.add({"role": "assistant", "content": f"Item {i} costs {i} euros; I updated catalogue_{i}.py accordingly."})
    session.close()
    session.compact(max_tokens=500)


def test_erasing_a_message_takes_what_rests_on_it_and_only_that(mem: Memory, tmp_path: Path) -> None:
    talk(mem, "alice")
    talk(mem, "bob")
    alice = mem.scope(user="alice", project="shop")
    session = alice.session("s")
    page = next(m for m in session.messages() if MARK in m.text)
    covering = next(e for e in session.episodes() if e.positions[0] <= page.pos <= e.positions[1])
    others = [e for e in session.episodes() if e != covering]
    facts = [f for f in alice.facts() if any(s.message == page.id for s in f.provenance.spans)]
    assert facts and MARK in session.compact(max_tokens=500).text
    receipt = alice.erase(page.id)
    assert receipt.complete and receipt.counts["messages"] == 1 and receipt.counts["facts"] == len(facts)
    assert receipt.total == 1 + len(facts)
    assert session.last_compact() is None
    after = session.episodes()
    assert [e for e in after if e in others] == others and len(after) == len(others) + 1
    remade = next(e for e in after if e not in others)
    assert (remade.turns, remade.positions, remade.number) == (
        covering.turns,
        covering.positions,
        covering.number,
    ) and remade.id != covering.id
    for gone in (page.id, covering.id, *(f.id for f in facts)):
        with pytest.raises(NotFound):
            alice.get(gone)
    assert MARK not in str([*session.messages(), *after, *alice.facts(), alice.recall(MARK, k=50).hits, session.compact().text])
    assert all(set(f.provenance.episodes) <= {e.id for e in after} for f in alice.facts())
    assert MARK in str(list(mem.scope(user="bob", project="shop").session("s").messages()))
    mem.scope(user="bob", project="shop").erase_all()
    assert left_in(tmp_path, MARK) == []
    assert mem.doctor() == []
    assert session.fold(all=True).episodes == ()


def test_erase_all_leaves_no_byte_and_spares_the_others(mem: Memory, tmp_path: Path) -> None:
    talk(mem, "alice")
    mem.scope(user="alice").set_note("where", MARK)
    mem.scope(user="alice").session("t").pin(f"Never forget {MARK}.")
    mem.scope(user="alice").learn(f"{MARK} is a street.")
    mem.scope(user="bob").remember("Bob keeps his own counsel.")
    mem.scope().learn("This belongs to everybody.")
    receipt = mem.scope(user="alice").erase_all()
    assert receipt.complete and receipt.counts["messages"] == 60 and receipt.total >= 60
    assert left_in(tmp_path, MARK) == [] and left_in(tmp_path, "alice") == []
    assert mem.scope(user="alice").stats()["messages"] == 0
    assert mem.scope(user="bob").stats()["messages"] == 1 and len(mem.scope(user="alice").facts()) == 1
    again = mem.scope(user="alice").erase_all()
    assert (again.total, dict(again.counts)) == (0, {})
    mem.scope(user="alice").remember("Alice is back.")
    assert mem.scope(user="alice").recall("Alice back")[0].record.text == "Alice is back."


def test_erasing_an_episode_takes_its_turns(mem: Memory, tmp_path: Path) -> None:
    talk(mem, "alice")
    alice = mem.scope(user="alice", project="shop")
    session = alice.session("s")
    episode = next(e for e in session.episodes() if any(MARK in m.text for m in session.unfold(e.id)))
    count = len(session.unfold(episode.id))
    receipt = alice.erase(episode.id)
    assert receipt.counts["messages"] == count and receipt.counts["episodes"] == 1
    assert left_in(tmp_path, MARK) == []
    session.add("a new turn after the gap")
    assert session.fold(all=True).turns is not None


def test_erasing_a_fact_leaves_its_sources(mem: Memory) -> None:
    talk(mem, "alice")
    alice = mem.scope(user="alice", project="shop")
    fact, before = alice.facts()[0], alice.stats()
    assert alice.erase(fact.id).total == 1
    assert alice.stats() == before | {"facts": before["facts"] - 1}


def test_a_wrong_id_erases_nothing(mem: Memory) -> None:
    alice = mem.scope(user="alice")
    kept = alice.remember("stay")
    with pytest.raises(NotFound):
        alice.erase(kept.id, "m_nobody")
    assert alice.get(kept.id) == kept


def test_a_reader_that_holds_the_bytes_is_told_of(tmp_path: Path, clock: ManualClock) -> None:
    path = tmp_path / "m.db"
    with leporello.open(path, embedder="hash", clock=clock) as mem, leporello.open(path, embedder="hash") as other:
        page = mem.scope(user="a").remember(f"remember {MARK}")
        with other._ports.store.read() as r:
            assert r.tenants() == ["default"]
            receipt = mem.scope(user="a").erase(page.id)
        assert not receipt.complete and receipt.note
        mem.flush()
        assert left_in(tmp_path, MARK) == []


def test_facts_of_a_wider_level_go_with_their_source(mem: Memory) -> None:
    alice = mem.scope(user="alice", project="shop", session="s")
    fact = alice.learn("Shared by the project.", level="project")
    assert fact.scope.session is None
    assert mem.scope(user="alice", project="shop").facts() == (fact,)
    alice.erase_all()
    assert mem.scope(user="alice", project="shop").facts() == (fact,)


def test_an_episode_whose_messages_are_all_erased_goes(mem: Memory) -> None:
    talk(mem, "alice")
    alice = mem.scope(user="alice", project="shop")
    session = alice.session("s")
    first, *rest = session.episodes()
    alice.erase(*(m.id for m in session.unfold(first.id)))
    assert [(e.id, e.positions) for e in session.episodes()] == [(e.id, e.positions) for e in rest]
    layers = session.layers()
    assert [t for a, b in (*layers.l3, *layers.l2, *layers.l1) for t in range(a, b + 1)] == list(range(1, layers.turns + 1))


def test_half_of_a_turn_erased_leaves_the_other_half_in_a_layer(mem: Memory) -> None:
    session = mem.scope(user="a").session("s")
    said = session.add({"role": "user", "content": "first, a long question about the heron statue"})
    said += session.add({"role": "assistant", "content": "an answer about the heron statue at some length"})
    said += session.add({"role": "user", "content": "then another question, please read the list"})
    said += session.add({"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]})
    session.fold(all=True)
    session.add({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "one, two, three"}]})
    session.fold(all=True)
    assert [e.turns for e in session.episodes()] == [(1, 2), (3, 3)]
    mem.scope(user="a").erase(said[2].id)
    assert [e.turns for e in session.episodes()] == [(1, 1), (2, 3)]
    assert session.layers().l2 == ((1, 1), (2, 3))


def test_a_compactor_that_fails_does_not_stop_an_erasure(tmp_path: Path, clock: ManualClock) -> None:
    path = tmp_path / "m.db"
    with leporello.open(path, embedder="hash", clock=clock) as mem:
        talk(mem, "alice")
        page = next(m for m in mem.scope(user="alice", project="shop").session("s").messages() if MARK in m.text)
    with leporello.open(path, embedder="hash", clock=clock, compactor=ScriptedCompactor()) as mem:
        alice = mem.scope(user="alice", project="shop")
        assert alice.erase(page.id).complete
        assert "extractive/1" in {e.compactor for e in alice.episodes()}
    assert left_in(tmp_path, MARK) == []


def test_a_fact_that_came_from_an_episode_as_a_whole(tmp_path: Path, clock: ManualClock) -> None:
    """A fact that came from an episode as a whole, as a model may make it, goes with any of the episode's messages."""
    scripted = ScriptedCompactor(episodes=[EpisodeDraft("They spoke of items.")] * 9, operations=[lambda asked: whole(asked.episodes)])

    def whole(episodes: Sequence[Episode]) -> tuple[Operation, ...]:
        return (Operation("add", "The catalogue is in good order.", episodes=(episodes[0].id,)),)

    with leporello.open(tmp_path / "scripted.db", embedder="hash", clock=clock, compactor=scripted) as mem:
        erase_a_source(mem)


def erase_a_source(mem: Memory) -> None:
    talk(mem, "alice")
    alice = mem.scope(user="alice", project="shop")
    episode = alice.session("s").episodes()[0]
    [fact] = alice.facts()
    alice.erase(alice.session("s").unfold(episode.id)[0].id)
    with pytest.raises(NotFound):
        alice.get(fact.id)


# --- facts that rest on several sources, or stand in relation -----------------------------------------------------------


def told(user: Scoped, text: str, *, level: str | None = None, words: str = "", **fields: object) -> tuple[Message, Fact]:
    """A message, and the fact that is learned from it (in other words, if given)."""
    message = user.remember(text)
    operation = flow.told(words or text, spans=(Span(message.id, 0, len(text), message.turn),), **fields)  # type: ignore[arg-type]
    return message, flow.learn(user._ports, flow.at_level(user.scope, level), operation)


def rows(mem: Memory, *tables: str) -> dict[str, int]:
    """How many rows these tables hold."""
    with mem._ports.store.read() as r:
        return {t: r.db.execute(f"SELECT count(*) FROM {t}").get for t in tables}  # type: ignore[attr-defined]


def sound(mem: Memory) -> bool:
    """No row refers to one that is gone."""
    with mem._ports.store.read() as r:
        db = r.db  # type: ignore[attr-defined]
        loose = db.execute("SELECT count(*) FROM claim WHERE fact IS NULL OR fact NOT IN (SELECT id FROM fact)").get
        keyless = db.execute("SELECT count(*) FROM fact WHERE rid NOT IN (SELECT fact FROM fact_key)").get
        strays = db.execute("SELECT count(*) FROM source WHERE child NOT IN (SELECT id FROM fact UNION SELECT id FROM episode)").get
        return mem.doctor() == [] and (loose, keyless, strays) == (0, 0, 0)


def states(user: Scoped, moments: Sequence[datetime]) -> list[list[tuple[object, ...]]]:
    """What is believed at each moment, without what tells one telling of it from another."""
    return [
        sorted((f.text, f.valid_from, f.valid_to, f.status, f.confidence) for f in user.facts(status="all", believed_at=m)) for m in moments
    ]


def test_a_fact_that_another_message_holds_too_takes_its_words(mem: Memory, clock: ManualClock, tmp_path: Path) -> None:
    """And no byte of the words that went is left: not in the history, the claims, the index or a reason."""
    ann = mem.scope(user="ann", session="s")
    rest = "safe near the old grey door in the cellar is painted green."
    page, fact = told(ann, f"The zanzibarianish {rest}", why=f"seen at {MARK}", tags=(MARK,))
    clock.advance(timedelta(days=1))
    other, same = told(ann, f"The {rest}")
    assert same.id == fact.id and same.text == fact.text and len(same.provenance.spans) == 2
    clock.advance(timedelta(days=1))
    ann.archive(fact.id, why="for a while")
    receipt = ann.erase(page.id)
    kept = ann.get(fact.id)
    assert isinstance(kept, Fact) and (kept.text, kept.why, kept.tags, kept.status) == (f"The {rest}", "", (), "archived")
    assert kept.valid_from == kept.recorded_at > fact.recorded_at and [s.message for s in kept.provenance.spans] == [other.id]
    assert [r.action for r in ann.history(fact.id)] == ["add", "archive"] and receipt.counts["claims"] == 1
    assert ann.restore(fact.id).id == ann.recall("safe in the cellar", kinds=("fact",))[0].record.id
    assert left_in(tmp_path, MARK) == left_in(tmp_path, "zanzibarianish") == [] and sound(mem)


def test_the_words_of_a_successor_go_and_the_predecessor_stands_again_at_every_instant(
    mem: Memory, clock: ManualClock, tmp_path: Path
) -> None:
    ann = mem.scope(user="ann", session="s")
    moments = []
    never = mem.scope(user="never", session="s")
    _, old = told(ann, "The value of k3 is 5.")
    told(never, "The value of k3 is 5.")
    for _ in range(2):
        moments += [clock.now(), clock.advance(timedelta(days=1))]
    page, new = told(ann, "The value of k3 is 9.", why=MARK)
    moments += [clock.now(), clock.advance(timedelta(days=1))]
    assert ann.get(old.id).superseded_by == new.id  # type: ignore[union-attr]
    ann.confirm(new.id, why=MARK)
    clock.advance(timedelta(days=1))
    receipt = ann.erase(page.id)
    assert receipt.counts["facts"] == 1 and receipt.counts["messages"] == 1 and receipt.counts["claims"] == 2
    moments += [clock.now() + timedelta(microseconds=d) for d in (-1, 0, 1)]
    assert states(ann, moments) == states(never, moments)
    assert [r.action for r in ann.history(old.id)] == ["add"] and ann.get(old.id).supersedes == ()  # type: ignore[union-attr]
    assert left_in(tmp_path, MARK) == [] and sound(mem)


def test_a_successor_that_goes_alone_leaves_its_predecessor_ended(mem: Memory, clock: ManualClock) -> None:
    """The messages stay, and what is learned later finds things as they are."""
    ann = mem.scope(user="ann", session="s")
    _, old = told(ann, "The value of k3 is 5.")
    clock.advance(timedelta(days=1))
    _, new = told(ann, "The value of k3 is 9.")
    clock.advance(timedelta(days=1))
    receipt = ann.erase(new.id)
    assert (receipt.total, receipt.counts["facts"], receipt.counts["claims"]) == (1, 1, 1)
    ended = ann.get(old.id)
    assert isinstance(ended, Fact) and (ended.status, ended.valid_to, ended.superseded_by) == ("deprecated", new.valid_from, None)
    assert ann.facts() == () and ann.facts(believed_at=old.recorded_at) != () and len(list(ann.session().messages())) == 2
    assert [f.id for f in ann.facts(believed_at=new.recorded_at, as_of=old.valid_from)] == [old.id]
    _, third = told(ann, "The value of k3 is 5.")
    assert third.id != old.id and ann.facts() == (third,) and sound(mem)


def test_a_link_in_the_middle(mem: Memory, clock: ManualClock) -> None:
    """Erased with its message, the one before it lasts until the one after it; nothing refers to it any more."""
    ann = mem.scope(user="ann", session="s")
    made = []
    for n in (5, 9, 7):
        made.append(told(ann, f"The value of k3 is {n}."))
        clock.advance(timedelta(days=1))
    ann.erase(made[1][0].id)
    first, last = (ann.get(f.id) for _, f in (made[0], made[2]))
    assert isinstance(first, Fact) and isinstance(last, Fact)
    assert (first.valid_to, first.superseded_by, last.supersedes) == (last.valid_from, last.id, (first.id,))
    assert made[1][1].id not in str([*ann.history(first.id), *ann.history(last.id)]) and sound(mem)


def test_what_kept_two_periods_apart_goes(mem: Memory, clock: ManualClock) -> None:
    """They were one all the time."""
    ann = mem.scope(user="ann", session="s")
    made = []
    for n in (5, 9, 5):
        made.append(told(ann, f"The value of k3 is {n}."))
        clock.advance(timedelta(days=1))
    assert len(ann.facts(status="all")) == 3
    ann.erase(made[1][0].id)
    (fact,) = ann.facts()
    assert fact.id == made[0][1].id and len(fact.provenance.spans) == 2 and fact.valid_to is None
    assert all(len(ann.facts(believed_at=m[1].recorded_at)) == 1 for m in made) and sound(mem)


def test_what_was_done_by_hand_stays_with_a_fact_that_stays(mem: Memory, clock: ManualClock) -> None:
    """Taken back because the user said so, it is not believed again because one of its messages is erased."""
    ann = mem.scope(user="ann", session="s")
    for act, status in ((ann.retract, "deprecated"), (ann.archive, "archived"), (ann.contradict, "deprecated"), (ann.confirm, "active")):
        page, fact = told(ann, "The value of k3 is 5.", source="inferred")
        clock.advance(timedelta(days=1))
        told(ann, "The value of k3 is 5.", source="inferred")
        clock.advance(timedelta(days=1))
        changed = act(fact.id)
        assert changed.status == status
        ann.erase(page.id)
        kept = ann.get(fact.id)
        assert isinstance(kept, Fact) and kept.status == status and kept.retracted_at == changed.retracted_at
        assert act is not ann.confirm or kept.confidence == 0.8
        ann.erase(fact.id)


def test_facts_of_a_wider_level_keep_what_another_session_said(mem: Memory, clock: ManualClock, tmp_path: Path) -> None:
    one, other = (mem.scope(user="ann", project="p", session=s) for s in ("one", "two"))
    page, fact = told(one, "The value of k3 is 5.", level="user", why=MARK)
    clock.advance(timedelta(days=1))
    _, same = told(other, "The value of k3 is 5.", level="user")
    told(one, f"{MARK} is green.", level="user")
    assert same.id == fact.id and fact.scope.session is None
    receipt = one.erase_all()
    kept = mem.scope(user="ann").facts()
    assert [(f.id, f.why, f.confidence) for f in kept] == [(fact.id, "", 1.0)] and len(kept[0].provenance.spans) == 1
    assert receipt.complete and receipt.counts["facts"] == 1 and receipt.counts["messages"] == 2
    with pytest.raises(NotFound):
        one.get(page.id)
    assert left_in(tmp_path, MARK) == [] and sound(mem)


def test_notes_that_repeat_the_message_go_and_others_stay(mem: Memory, tmp_path: Path) -> None:
    ann = mem.scope(user="ann", session="s")
    page = ann.remember(f"The key lies under the {MARK} stone near the door.")
    ann.set_note("whole", page.text.upper())
    ann.set_note("nested", {"a": [1, {"b": f"the key lies under the {MARK} stone"}]})
    ann.set_note("own", "Bring the key back on Friday.")
    ann.set_note("short", "key")
    mem.scope(user="ann", session="t").set_note("elsewhere", "The key lies under another stone.")
    receipt = ann.erase(page.id)
    assert {n.key for n in ann.notes()} == {"own", "short"} and receipt.counts["notes"] == 2
    assert mem.scope(user="ann", session="t").note("elsewhere")
    assert left_in(tmp_path, MARK) == []


def test_a_fact_that_was_one_with_another_for_a_while_keeps_that_history(tmp_path: Path, clock: ManualClock) -> None:
    """Said for the far future, said for now (one fact), and then something else between the two (two again); the last is erased."""
    with leporello.open(tmp_path / "m.db", clock=clock) as mem:
        bo = mem.scope(user="bo")
        moments: list[tuple[datetime, str]] = []
        for value, at in ((5, datetime(2090, 1, 1, tzinfo=UTC)), (5, None), (6, None), (5, None)):
            clock.advance(timedelta(seconds=1))
            text = f"The value of k1 is {value}."
            message = bo.remember(text, at=datetime(2026, 1, 1, tzinfo=UTC))
            spans = (Span(message.id, 0, len(text), 1),)
            flow.learn(bo._ports, bo.scope, flow.told(text, at=at or clock.now(), spans=spans))
            moments.append((clock.now(), message.id))

        def believed() -> list[set[tuple[object, ...]]]:
            return [{(f.text, f.valid_from, f.valid_to, f.status) for f in bo.facts(status="all", believed_at=m)} for m, _ in moments[:3]]

        before = believed()
        bo.erase(moments[3][1])
        assert believed() == before and [len(one) for one in before] == [1, 1, 3]


def test_nothing_is_left_of_a_user_in_any_table(mem: Memory, clock: ManualClock) -> None:
    """Facts that were merged, ended, disputed, shown, confirmed and put aside; then all of it erased one by one, or at once."""
    tables = ("fact", "claim", "fact_key", "history", "shown", "source", "entry", "message", "episode", "note")
    for at_once in (False, True):
        ann = mem.scope(user="ann", session="s")
        facts = []
        for n, text in enumerate(("The value of k3 is 5.", "The value of k3 is 9.", "The value of k3 is 5.", "The gate is open.")):
            clock.advance(timedelta(days=1))
            facts.append(told(ann, text, source="inferred" if n == 1 else "user_stated")[1])
        ann.contradict(facts[3].id, by="The gate is shut.")
        ann.restore(facts[3].id)
        ann.confirm(facts[0].id)
        ann.archive(facts[3].id)
        assert len(ann.recall("value gate", k=50).hits) >= 3
        mem.flush()
        assert rows(mem, "claim", "shown", "fact_key", "history") != {"claim": 0, "shown": 0, "fact_key": 0, "history": 0}
        if at_once:
            ann.erase_all()
        else:
            while ann.facts(status="all"):
                ann.erase(ann.facts(status="all")[0].id)
                assert sound(mem)
            ann.erase(*(m.id for m in ann.session().messages()))
        assert set(rows(mem, *tables).values()) == {0} and sound(mem)


def test_a_fact_with_very_many_sources_goes_with_each_of_them(mem: Memory, clock: ManualClock, tmp_path: Path) -> None:
    """Each of sixty messages says it in words of its own; the words of each go with it."""
    ann = mem.scope(user="ann", session="s")
    words = [f"The value of k3 is 5{'!' * n}" for n in range(1, 60)] + ["The value of k3 is 5 ."]
    pages = [told(ann, w, why=f"{MARK}-{n:03d}")[0] for n, w in enumerate(words)]
    (fact,) = ann.facts()
    assert len(fact.provenance.spans) == 60
    for n in (59, 55, 0):
        ann.erase(pages[n].id)
    (fact,) = ann.facts()
    assert len(fact.provenance.spans) == 57 and sound(mem)
    assert [n for n in (0, 55, 59) if left_in(tmp_path, f"{MARK}-{n:03d}")] == []
    ann.erase(*(p.id for n, p in enumerate(pages) if n not in (59, 55, 0)))
    assert ann.facts(status="all") == () and left_in(tmp_path, MARK) == []

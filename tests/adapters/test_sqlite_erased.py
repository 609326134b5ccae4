"""After an erasure the bytes of the text are in no file of the store, wherever the rows were moved to meanwhile."""

from __future__ import annotations

import base64
import random
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

import leporello
from leporello.adapters.sqlite.store import SqliteStore
from leporello.ports import Change
from leporello.records import Compact, Item, Message, Note, Provenance, Scope, Span
from leporello.testing.conformance.samples import AT, ENTRY, drafted, episode, fact, say, write

S1 = Scope(user="ann", session="s1")


def found(folder: Path, words: Iterable[str]) -> list[tuple[str, str]]:
    """The words whose UTF-8 stands in a file below the folder."""
    held = {p.name: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    return [(name, word) for name, data in held.items() for word in words if word.encode("utf-8", "surrogatepass") in data]


def mark(i: int) -> str:
    """A word that stands for message i and nothing else."""
    return f"Quill{i:05d}wort"


def text(i: int, size: int) -> str:
    """A text of about `size` characters, full of its mark."""
    return f"{mark(i)} " * max(1, size // 16)


@pytest.mark.parametrize("seed", range(8))
def test_with_many_neighbours_and_page_splits(tmp_path: Path, seed: int) -> None:
    """Rows of all sizes come and go in random order over several sessions, so that pages are split, merged and rewritten."""
    chance = random.Random(seed)
    store = SqliteStore(str(tmp_path / "store.db"))
    living: dict[int, Message] = {}
    gone: list[str] = []
    number = 0
    for _ in range(12):
        for _ in range(8):
            scope = Scope(user="ann", session=f"s{chance.randrange(4)}")
            texts = [text(number + i, chance.choice([10, 60, 300, 1_500, 4_000, 9_000, 40_000])) for i in range(chance.randrange(1, 12))]
            for m in say(store, scope, *texts):
                living[number] = m
                number += 1
        with store.write() as w:
            for i in chance.sample(sorted(living), len(living) // 2):
                w.erase([living.pop(i)])
                gone.append(mark(i))
        if chance.random() < 0.1:
            store.scrub()
    assert store.scrub()
    assert found(tmp_path, gone) == []
    assert len(found(tmp_path, map(mark, living))) == len(living)
    store.close()
    assert found(tmp_path, gone) == []


def test_in_the_log_too(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "store.db"))
    said = say(store, S1, *(text(i, 500) for i in range(200)))
    assert [n for n, _ in found(tmp_path, [mark(7)])] == ["store.db-wal"]
    with store.write() as w:
        w.erase(said[::2])
    assert store.scrub()
    assert found(tmp_path, [mark(i) for i in range(0, 200, 2)]) == []
    store.close()


def test_long_texts_and_media(tmp_path: Path) -> None:
    """Texts over many overflow pages, payloads of their own rows, nasty texts that are kept as bytes."""
    store = SqliteStore(str(tmp_path / "store.db"))
    payload = random.Random(5).randbytes(3_000_000)
    picture = {"type": "image", "source": {"type": "base64", "data": base64.b64encode(payload).decode("ascii")}}
    drafts = [
        drafted({"role": "user", "content": text(0, 2_000_000)}),
        drafted({"role": "user", "content": f"a\ud83d {text(1, 100_000)}"}, name=mark(2), origin=mark(3)),
        drafted({"role": mark(4), "content": [picture, {"type": "text", "text": text(5, 70_000)}], mark(6): [mark(7)]}),
    ]
    with store.write() as w:
        kept = write(w, S1, [drafted({"role": "user", "content": text(90 + i, 3_000)}) for i in range(20)])
        said = write(w, S1, drafts)
    assert found(tmp_path, map(mark, range(8)))
    with store.write() as w:
        w.erase(said)
    assert store.scrub()
    files = [p.read_bytes() for p in tmp_path.iterdir()]
    assert found(tmp_path, map(mark, range(8))) == []
    assert not any(payload[i : i + 32] in data for i in range(0, len(payload) - 32, 50_000) for data in files)
    assert len(found(tmp_path, (mark(90 + i) for i in range(20)))) == len(kept)
    store.close()


def test_every_kind_of_text(tmp_path: Path) -> None:
    """Facts and what they were, episodes and their items, notes, pins, compacts, names of users and sessions."""
    store = SqliteStore(str(tmp_path / "store.db"))
    scope = Scope(user=mark(1), agent=mark(2), project=mark(3), session=mark(4))
    with store.write() as w:
        said = write(w, scope, [drafted({"role": "user", "content": mark(5)})])
        made = replace(episode(scope, said, summary=mark(6)), items=(Item("goal", mark(7), mark(8), mark(9)),))
        w.add_episode(w.open_session(scope), made, ENTRY)
        told = fact(
            scope,
            mark(10),
            why=mark(11),
            source=mark(12),
            tags=(mark(13),),
            provenance=Provenance(mark(4), (1,), (), (Span(said[0].id, 0, 4, 1),)),
        )
        kept = w.add_fact(told, ENTRY)
        for i in range(14, 20):
            kept = replace(kept, text=mark(i))
            w.put_fact(kept, Change("change", mark(20), AT, mark(21)))
        w.put_note(Note(scope, mark(22), {mark(23): mark(24)}, AT))
        w.put_note(Note(scope, mark(22), mark(25), AT))
        w.put_pin(scope, mark(26), at=AT)
        w.put_pin(scope, mark(27), at=AT)
        w.put_pin(scope, mark(27), at=AT, keep=False)
        w.put_compact(Compact(scope, mark(28), 3, (Item("goal", mark(29)),), 1, "scripted/1"), at=AT)
    say(store, S1, mark(99))
    words = [mark(i) for i in range(1, 30)]
    assert len({w for _, w in found(tmp_path, words)}) >= 26
    with store.write() as w:
        w.erase_scope(Scope(user=mark(1)))
    assert store.scrub()
    assert found(tmp_path, words) == [] and len(found(tmp_path, [mark(99)])) == 1
    store.close()


def test_a_replaced_compact_and_a_moved_fact_leave_nothing(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "store.db"))
    for i in range(30):
        with store.write() as w:
            w.put_compact(Compact(S1, text(i, 5_000 + 700 * (i % 5)), 3, (), 1, "scripted/1"), at=AT)
            w.put_note(Note(S1, "k", text(100 + i, 300 * (1 + i % 7)), AT))
    assert store.scrub()
    assert found(tmp_path, [mark(i) for i in range(29)] + [mark(100 + i) for i in range(29)]) == []
    store.close()


@pytest.mark.parametrize("key", [None, "a key"])
def test_through_the_front_door(tmp_path: Path, key: str | None) -> None:
    """`erase` and `erase_all` of a session that was folded, compacted and recalled from, among others that stay."""
    with leporello.open(tmp_path / "memory.db", embedder="hash", key=key) as mem:
        for name in ("s1", "s2", "s3"):
            session = mem.scope(user="ann").session(name)
            for i in range(30):
                session.add({"role": "user", "content": f"Please decide about {name} number {i}: {mark(i)}{name}. " * 4})
                session.add(
                    {"role": "assistant", "content": f"We decided to use {mark(i)}{name} because it is the fastest way to finish. " * 4}
                )
            session.compact(max_tokens=500)
            session.close()
        ann = mem.scope(user="ann")
        first = next(iter(ann.session("s1").messages()))
        assert ann.recall(mark(3) + "s1")
        receipt = ann.erase(first.id)
        assert receipt.complete and receipt.counts["messages"] == 1
        receipt = ann.narrow(session="s2").erase_all()
        assert receipt.complete and receipt.counts["messages"] == 60
        words = [f"{mark(i)}s2" for i in range(30)]
        assert found(tmp_path, words) == []
        assert key or found(tmp_path, [f"{mark(4)}s3"])
        everything = mem.scope().erase_all()
        assert everything.complete and mem.scope().stats()["messages"] == 0
        assert found(tmp_path, ["Quill", "decide", "finish"]) == []
    assert found(tmp_path, ["Quill", "decide", "finish"]) == []

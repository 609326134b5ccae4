"""The index row of a record: the hashes of its terms and its vector, both over the text with its date and speaker in front."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from leporello.core import words
from leporello.errors import EmbedderChanged
from leporello.ports import AnyRecord, Embedder, Entry, Store, Writer
from leporello.records import Episode, Fact, Message, Scope

_LARGEST_HALF = 65504.0
_BATCH = 1_000


def entries(embedder: Embedder, texts: Sequence[str]) -> list[Entry]:
    """One entry per text that `words.index_text` made."""
    if not texts:
        return []
    vectors = np.clip(embedder.embed(texts), -_LARGEST_HALF, _LARGEST_HALF).astype("<f2")
    return [Entry(words.terms(t).astype("<u4").tobytes(), v.tobytes()) for t, v in zip(texts, vectors, strict=True)]


def entry_text(record: AnyRecord) -> str:
    """What is indexed of a stored record."""
    if isinstance(record, Message):
        return words.index_text(record.text, name=record.name, at=record.at)
    if isinstance(record, Episode):
        return episode_text(record.summary, record, at=record.at)
    return fact_text(record)


def episode_text(summary: str, record: Episode, *, at: datetime) -> str:
    """The summary and every item with its reason."""
    body = "\n".join([summary, *(f"{i.text} {i.why}".strip() for i in record.items)])
    return words.index_text(body, at=at)


def fact_text(fact: Fact) -> str:
    """The fact with its reason and tags."""
    return words.index_text(" ".join([fact.text, fact.why, *fact.tags]).strip(), at=fact.valid_from)


def match_embedder(store: Store, embedder: Embedder, *, writable: bool) -> None:
    """Notes the embedder in a new store; raises `EmbedderChanged` for another than the one whose vectors it holds."""
    held = store.setting("embedder")
    if held is None:
        if writable:
            store.setting("embedder", embedder.name)
    elif held != embedder.name:
        raise EmbedderChanged(f"The store's vectors come from {held!r}, this one is {embedder.name!r}.")


def reindex(store: Store, embedder: Embedder) -> int:
    """Makes every index row again with this embedder, in one transaction: all or nothing. How many were made."""
    done = 0
    with store.write() as w:
        for tenant in w.tenants():
            scope = Scope(tenant)
            records: list[AnyRecord] = [*w.facts(scope), *w.episodes(scope)]
            for state in w.sessions(scope):
                for m in w.messages(state):
                    records.append(m)
                    if len(records) >= _BATCH:
                        done += _reindex(w, embedder, records)
                        records = []
            done += _reindex(w, embedder, records)
        w.reindex((), (), embedder=embedder.name)
    return done


def _reindex(w: Writer, embedder: Embedder, records: list[AnyRecord]) -> int:
    w.reindex(records, entries(embedder, [entry_text(r) for r in records]), embedder=embedder.name)
    return len(records)

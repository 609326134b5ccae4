"""The index row of a record: the hashes of its terms and its vector, both over the text with its date and speaker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from leporello.core import facts as rules
from leporello.core import words
from leporello.core.facts.read import Statement, keys, read
from leporello.errors import EmbedderChanged
from leporello.ports import AnyRecord, Embedder, Entry, Reader, Store, Writer
from leporello.records import Claim, Episode, Fact, Message, Scope

KEYED = "keyed"
"""The setting of a store whose facts all have the keys under which `Reader.near` finds them."""
_KEYS_MADE = "1"
_BATCH = 1_000


@dataclass(frozen=True)
class Said:
    """What is indexed of a record: its text, and for a message who said it. Of a fact or an episode `role` is not set."""

    text: str
    at: datetime | None
    name: str | None = None
    role: str | None = None
    keys: tuple[int, ...] = ()


def entries(embedder: Embedder, said: Sequence[Said]) -> list[Entry]:
    """One entry each: the vector over the text with its date and speaker in front, the terms with marks of these."""
    if not said:
        return []
    vectors = embedder.embed([words.index_text(s.text, name=s.name, role=s.role, at=s.at) for s in said]).astype("<f2")
    terms = (words.index_terms(s.text, name=s.name, role=s.role, at=s.at).astype("<u4", copy=False) for s in said)
    return [Entry(t.tobytes(), v.tobytes(), s.keys) for s, t, v in zip(said, terms, vectors, strict=True)]


def said(record: AnyRecord, keys: tuple[int, ...] = ()) -> Said:
    """What is indexed of a record: a message's text; an episode's summary and items; a fact with its reason and tags.

    `keys` are those of a fact (see `Entry`).
    """
    if isinstance(record, Message):
        return Said(record.text, record.at, record.name, record.role)
    if isinstance(record, Episode):
        return Said("\n".join([record.summary, *(f"{i.text} {i.why}".strip() for i in record.items)]), record.at)
    return Said(" ".join([record.text, rules.told_why(record.why), *record.tags]).strip(), record.valid_from, keys=keys)


def match_embedder(store: Store, embedder: Embedder, *, writable: bool) -> None:
    """Notes the embedder in a new store; raises `EmbedderChanged` for another than the one whose vectors it holds.

    The facts of a store of an older version get their keys, once.
    """
    held = store.setting("embedder")
    if held is None:
        if writable:
            store.setting("embedder", embedder.name)
    elif held != embedder.name:
        raise EmbedderChanged(f"The store's vectors come from {held!r}, this one is {embedder.name!r}.")
    if writable and store.setting(KEYED) != _KEYS_MADE:
        _key(store, embedder)
        store.setting(KEYED, _KEYS_MADE)


def _key(store: Store, embedder: Embedder) -> None:
    """Makes the index rows of all facts again, with their keys."""
    with store.write() as w:
        for tenant in w.tenants():
            facts = w.facts(Scope(tenant))
            for n in range(0, len(facts), _BATCH):
                _reindex(w, embedder, facts[n : n + _BATCH])


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


def _reindex(w: Writer, embedder: Embedder, records: Sequence[AnyRecord]) -> int:
    found = _keys(w, [r for r in records if isinstance(r, Fact)])
    w.reindex(records, entries(embedder, [said(r, found.get(r.id, ())) for r in records]), embedder=embedder.name)
    return len(records)


def _keys(r: Reader, facts: Sequence[Fact]) -> dict[str, tuple[int, ...]]:
    """The keys of these facts of one tenant, by their ids: those of the claims that give them their words, if the store holds these."""
    held = r.claims(facts[0].scope, [f.id for f in facts]) if facts else []
    texts = {f.id: f.text for f in facts}
    spoken = {c.fact: keys(statement(c)) for c in reversed(held) if c.fact is not None and c.text == texts[c.fact]}
    return {f.id: spoken.get(f.id) or keys(statement_of(f)) for f in facts}


def statement(claim: Claim) -> Statement:
    """What a claim says. Whoever the scope's user is, is the same person as "I"."""
    said_by = f"{claim.speaker}: "
    text = claim.text[len(said_by) :] if claim.speaker and claim.text.startswith(said_by) else claim.text
    return _of_user(read(text, speaker=claim.speaker), claim.scope)


def statement_of(fact: Fact) -> Statement:
    """What a fact says."""
    name, _, rest = fact.text.partition(": ")
    if rest and fact.subject and rules.folded(name) == fact.subject:
        return _of_user(read(rest, speaker=name), fact.scope)
    plain = read(fact.text)
    known = fact.subject not in {"", "user", plain.subject} and plain.subject == "user"
    return _of_user(read(fact.text, speaker=fact.subject) if known else plain, fact.scope)


def _of_user(held: Statement, scope: Scope) -> Statement:
    return replace(held, subject="user") if scope.user and held.subject == rules.folded(scope.user) else held

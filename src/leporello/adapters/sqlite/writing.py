"""One write transaction: everything that belongs together is written, changed or deleted together."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from leporello.adapters.sqlite import codec
from leporello.adapters.sqlite.codec import KINDS
from leporello.adapters.sqlite.reading import SqliteReader
from leporello.core.times import micros
from leporello.errors import BadMessage, NotFound
from leporello.ports import AnyRecord, Change, Entry, LoopRow, NewMessage, SessionState, TraceRow
from leporello.records import Claim, Compact, Episode, Event, Fact, Message, Note, Revision, Scope

ERASED = "erased"
"""The setting that stands while copies of deleted rows may be left in the file."""


_OWNED = {
    "notes": "delete_notes",
    "pins": "delete_pins",
    "compacts": "delete_compact",
    "loops": "delete_loop",
    "spending": "delete_spend",
}
"""What belongs to a scope alone, and the query that deletes it."""


class SqliteWriter(SqliteReader):
    """`ports.Writer` on the write connection."""

    def open_session(self, scope: Scope) -> SessionState:
        found = self.session(scope)
        if found is not None:
            return found
        tenant, rid = self._make_scope(scope)
        self.db.execute(self.sql["add_session"], (tenant, rid))
        return SessionState(rid, scope)

    def put_session(self, state: SessionState) -> None:
        closed = micros(state.closed_at) if state.closed_at else None
        values = (
            state.messages,
            state.turns,
            int(state.answered),
            int(state.joinable),
            state.folded,
            state.folded_turn,
            state.episodes,
            state.stalled,
            closed,
            state.consolidated,
        )
        self.db.execute(self.sql["put_session"], (*values, self._tenant(state.scope), state.rid))

    def known_origins(self, state: SessionState, origins: Sequence[str]) -> set[str]:
        tenant = self._tenant(state.scope)
        held = (self._value("known_origins", (tenant, state.rid, codec.pack(o))) for o in origins)
        return {codec.unpack(o) for o in held if o is not None}

    def add_messages(self, state: SessionState, new: Sequence[NewMessage], *, recorded_at: datetime) -> list[Message]:
        tenant = self._tenant(state.scope)
        recorded = micros(recorded_at)
        made: list[Message] = []
        entries: list[tuple[Any, ...]] = []
        usr = self._user(state.scope)
        for n, id_ in zip(new, codec.new_ids("m", len(new)), strict=True):
            body, media = self._body(n)
            at = micros(n.at)
            row = (
                tenant, state.rid, n.pos, id_, n.turn, codec.pack(n.role), None if n.draft.name is None else codec.pack(n.draft.name), at,
                recorded, n.trust, n.tokens, None if n.draft.origin is None else codec.pack(n.draft.origin), codec.pack(n.text), body,
                json.dumps([[p, f, codec.digest(d)] for p, f, d in media]) if media else None,
            )  # fmt: skip
            rid = self._value("add_message", row)
            for _, _, data in media:
                self.db.execute(self.sql["add_media"], (tenant, codec.digest(data), data))
                self.db.execute(self.sql["link_media"], (tenant, codec.digest(data), rid))
            entries.append((tenant, usr, state.rid, 0, rid, n.pos, at, recorded, n.entry.terms, n.entry.vector))
            made.append(
                Message(
                    id_,
                    state.scope,
                    n.pos,
                    n.turn,
                    n.role,
                    n.draft.name,
                    n.at,
                    recorded_at,
                    n.trust,
                    n.text,
                    n.draft.original,
                    n.tokens,
                    n.draft.origin,
                )  # fmt: skip
            )
        self.db.executemany(self.sql["add_entry"], entries)
        return made

    def add_episode(self, state: SessionState, episode: Episode, entry: Entry) -> Episode:
        tenant = self._tenant(state.scope)
        made = replace(episode, id=codec.new_ids("e", 1)[0])
        at, recorded = micros(made.at), micros(made.recorded_at)
        row = (
            tenant, state.rid, *made.positions, made.id, made.number, *made.turns, at, recorded, codec.pack(made.summary),
            codec.items_json(made.items), made.compactor, made.tokens, made.replaced_tokens, made.layer, int(made.distilled),
        )  # fmt: skip
        rid = self._value("add_episode", row)
        usr = self._user(state.scope)
        self.db.execute(self.sql["add_entry"], (tenant, usr, state.rid, 1, rid, 0, at, recorded, entry.terms, entry.vector))
        parents = {m.id for m in self.messages(state, first=made.positions[0], last=made.positions[1])}
        self._link(tenant, made.id, parents)
        return made

    def add_fact(self, fact: Fact, entry: Entry, change: Change | None = None) -> Fact:
        tenant, scope = self._make_scope(fact.scope)
        made = replace(fact, id=codec.new_ids("f", 1)[0])
        recorded = micros(made.recorded_at)
        text, rest = self._fact_values(made)
        rid = self._value("add_fact", (tenant, scope, made.id, made.fact_kind, *text, recorded, *rest))
        self._index_fact(made, (tenant, scope, rid), entry)
        if change is not None:
            self._note(tenant, rid, change, codec.dump(None))
        self._link(tenant, made.id, _parents(made))
        return made

    def put_fact(self, fact: Fact, change: Change, *, entry: Entry | None = None) -> None:
        tenant = self._tenant(fact.scope)
        was = self._find(tenant, fact.id)
        if not isinstance(was, Fact):
            raise NotFound(fact.id)
        text, rest = self._fact_values(fact)
        rid = self._value("put_fact", (fact.fact_kind, *text, micros(fact.recorded_at), *rest, tenant, fact.id))
        self._note(tenant, rid, change, codec.fact_json(was))
        if entry is not None:
            for (old,) in self._rows("delete_entry", (2, rid)):
                self.db.execute(self.sql["add_removal"], (old,))
            self._index_fact(fact, (*self._make_scope(fact.scope), rid), entry)
        self.db.execute(self.sql["delete_parents"], (tenant, fact.id))
        self._link(tenant, fact.id, _parents(fact))

    def put_claims(self, claims: Sequence[Claim]) -> list[Claim]:
        out = []
        for c, id_ in zip(claims, codec.new_ids("c", len(claims)), strict=True):
            tenant, scope = self._make_scope(c.scope)
            if c.id:
                self.db.execute(
                    self.sql["put_claim"], (c.fact, c.target, codec.pack(c.source), codec.provenance_json(c.provenance), tenant, c.id)
                )
            else:
                c = replace(c, id=id_)
                self.db.execute(self.sql["add_claim"], (tenant, scope, *codec.claim_row(c)))
            out.append(c)
        return out

    def drop_claims(self, claims: Sequence[Claim]) -> None:
        self.db.executemany(self.sql["delete_claim"], [(self._tenant(c.scope), c.id) for c in claims])

    def put_history(self, fact: Fact, revisions: Sequence[Revision]) -> int:
        tenant = self._tenant(fact.scope)
        dropped = len(self._rows("delete_history", (tenant, fact.id)))
        rid = self._rid(tenant, fact)
        if revisions and rid is None:
            raise NotFound(fact.id)
        for r in revisions:
            was = codec.dump(None) if r.was is None else codec.fact_json(r.was)
            self._note(tenant, rid, Change(r.action, r.actor, r.at, r.why, r.by), was)
        return dropped

    def put_shown(self, records: Sequence[AnyRecord], *, at: datetime) -> None:
        moment = micros(at)
        held = (r for r in records if self._rid(self._tenant(r.scope), r) is not None)  # one may be erased by now
        rows = [(*self._make_scope(r.scope), r.id, moment, moment) for r in held]
        self.db.executemany(self.sql["put_shown"], rows)

    def put_traces(self, rows: Sequence[TraceRow]) -> None:
        values = []
        for row in rows:
            tenant, scope = self._make_scope(row.scope)
            values.append((tenant, row.id, scope, *codec.trace_row(row)))
        self.db.executemany(self.sql["put_trace"], values)

    def add_events(self, scope: Scope, events: Sequence[Event], *, gap: int = 0) -> list[Event]:
        tenant = self._tenant(scope)
        out = []
        for e in events:
            at = micros(e.at)
            row = (tenant, e.record, e.kind, at, e.run, at - gap)
            if self._value("add_event", row) is not None:
                out.append(e)
        return out

    def move_events(self, scope: Scope, old: str, new: str) -> None:
        self.db.execute(self.sql["move_events"], (self._tenant(scope), old, new))

    def put_episodes(self, episodes: Sequence[Episode]) -> None:
        for e in episodes:
            self.db.execute(self.sql["put_episode"], (e.layer, int(e.distilled), *e.turns, self._tenant(e.scope), e.id))

    def put_note(self, note: Note) -> None:
        tenant, scope = self._make_scope(note.scope)
        if note.value is None:
            self.db.execute(self.sql["delete_note"], (tenant, scope, codec.pack(note.key)))
        else:
            row = (tenant, scope, codec.pack(note.key), codec.dump(note.value), micros(note.at))
            self.db.execute(self.sql["put_note"], row)

    def put_pin(self, scope: Scope, text: str, *, at: datetime, keep: bool = True) -> None:
        tenant, rid = self._make_scope(scope)
        if keep:
            self.db.execute(self.sql["put_pin"], (tenant, rid, codec.pack(text), micros(at)))
        else:
            self.db.execute(self.sql["delete_pin"], (tenant, rid, codec.pack(text)))

    def put_compact(self, compact: Compact, *, at: datetime) -> None:
        tenant, rid = self._make_scope(compact.scope)
        row = (
            tenant, rid, micros(at), compact.compacted_at_turn, compact.tokens, compact.omitted, compact.compactor,
            codec.pack(compact.text), codec.items_json(compact.items),
        )  # fmt: skip
        self.db.execute(self.sql["put_compact"], row)

    def drop_compact(self, scope: Scope) -> None:
        found = self._scope_rid(scope)
        if found is not None:
            self.db.execute(self.sql["delete_compact"], found)

    def put_loop(self, scope: Scope, row: LoopRow) -> None:
        tenant, rid = self._make_scope(scope)
        view = None if row.view is None else codec.dump(row.view)
        values = (codec.dump(row.settings), codec.dump(row.tally), view, json.dumps(list(row.shown)))
        self.db.execute(self.sql["put_loop"], (tenant, rid, *values))

    def add_spend(self, scope: Scope, day: str, *, tokens: int, micros: int) -> None:
        self.db.execute(self.sql["add_spend"], (*self._make_scope(scope), day, tokens, micros))

    def erase(self, records: Sequence[AnyRecord]) -> Mapping[str, int]:
        counts: Counter[str] = Counter()
        tenants = {self._tenant(r.scope) for r in records}
        for tenant in tenants:
            mine = [r for r in records if self._tenant(r.scope) == tenant]
            owners = {found[1] for r in mine if isinstance(r, Message) and (found := self._scope_rid(r.scope))}
            values = (tenant, json.dumps(sorted(owners)), json.dumps([r.id for r in mine]))
            counts["views"] += len(self._rows("drop_views", values))
        for r in records:
            tenant, kind = self._tenant(r.scope), KINDS.index(r.kind)
            rid = self._rid(tenant, r)
            if rid is None:
                continue
            for (entry,) in self._rows("delete_entry", (kind, rid)):
                self.db.execute(self.sql["add_removal"], (entry,))
                counts["index rows"] += 1
            self.db.execute(self.sql[f"delete_{r.kind}"], (rid,))
            self.db.execute(self.sql["delete_sources"], (tenant, r.id))
            self.db.execute(self.sql["delete_shown"], (tenant, r.id))
            self.db.execute(self.sql["delete_trace"], (tenant, r.id))
            counts["events"] += len(self._rows("delete_events", (tenant, r.id)))
            if r.kind == "fact":
                counts["claims"] += len(self._rows("delete_claims_of", (tenant, r.id)))
            counts[f"{r.kind}s"] += 1
        for tenant in tenants:
            counts["media"] += len(self._rows("drop_unused_media", (tenant,)))
        if any(counts.values()):
            self._note_erasure()
        return counts

    def erase_scope(self, scope: Scope) -> tuple[Mapping[str, int], Sequence[str]]:
        tenant, numbers = self._numbers(scope)
        given = dict(zip(("usr", "agent", "project", "session"), numbers, strict=True))
        rids = [r for (r,) in self.db.execute(self.sql["covered_scopes"], {"tenant": tenant, **given})]
        counts: Counter[str] = Counter()
        ids: list[str] = []
        for rid in rids:
            state = self._session(tenant, rid, self._scope(rid))
            one = json.dumps([rid])
            facts = [codec.fact(r, self._scope(rid)) for r in self._rows("facts", (tenant, one))]
            episodes = [codec.episode(r, self._scope(rid)) for r in self._rows("session_episodes", (tenant, rid))]
            held: list[AnyRecord] = [*facts, *episodes, *(self.messages(state) if state else ())]
            counts.update(self.erase(held))
            ids += [r.id for r in held]
            for what, name in _OWNED.items():
                counts[what] += len(self._rows(name, (tenant, rid)))
            if state is not None:
                self.db.execute(self.sql["delete_session"], (tenant, rid))
                counts["sessions"] += 1
        self.db.execute(self.sql["drop_unused_scopes"], {"tenant": tenant})
        self.db.execute(self.sql["drop_unused_names"], {"tenant": tenant})
        self._scopes.clear()
        if rids:
            self._note_erasure()
        return counts, ids

    def reindex(self, records: Sequence[AnyRecord], entries: Sequence[Entry], *, embedder: str) -> None:
        for r, entry in zip(records, entries, strict=True):
            tenant, kind = self._tenant(r.scope), KINDS.index(r.kind)
            rid = self._rid(tenant, r)
            scope = self._scope_rid(r.scope)
            for (old,) in self._rows("delete_entry", (kind, rid)):
                self.db.execute(self.sql["add_removal"], (old,))
            pos = r.pos if isinstance(r, Message) else 0
            place = (tenant, scope[1] if scope else 0, rid)
            if isinstance(r, Fact):
                self._index_fact(r, place, entry)
                continue
            row = (tenant, self._user(r.scope), place[1], kind, rid, pos, micros(r.at), micros(r.recorded_at))
            self.db.execute(self.sql["add_entry"], (*row, entry.terms, entry.vector))
        self.db.execute(self.sql["put_setting"], ("embedder", embedder))

    def _index_fact(self, fact: Fact, place: tuple[int, int, int | None], entry: Entry) -> None:
        """The index row and the keys of a fact at (tenant, scope, row)."""
        tenant, scope, rid = place
        row = (tenant, self._user(fact.scope), scope, 2, rid, 0, micros(fact.at), micros(fact.recorded_at), entry.terms, entry.vector)
        self.db.execute(self.sql["add_entry"], row)
        self.db.execute(self.sql["delete_keys"], (rid,))
        self.db.executemany(self.sql["add_key"], [(tenant, scope, key, rid) for key in entry.keys])

    def _note(self, tenant: int, rid: int | None, change: Change, was: codec.Stored) -> None:
        values = (micros(change.at), change.action, codec.pack(change.actor), codec.pack(change.why), was, change.by)
        self.db.execute(self.sql["add_history"], (tenant, rid, *values))

    def _note_erasure(self) -> None:
        """The file is to be rewritten, by whoever scrubs next."""
        self.db.execute(self.sql["put_setting"], (ERASED, codec.new_ids("x", 1)[0]))

    def _make_scope(self, scope: Scope) -> tuple[int, int]:
        tenant = self._tenant(scope)
        if tenant < 0:
            tenant = int(self._value("add_tenant", (codec.pack(scope.tenant),)))
        numbers = []
        for value in (scope.user, scope.agent, scope.project, scope.session):
            number = 0 if value is None else self._number(tenant, value)
            if value is not None and number < 0:
                number = int(self._value("add_name", (tenant, codec.pack(value))))
            numbers.append(number)
        rid = self._value("scope", (tenant, *numbers))
        if rid is None:
            rid = self._value("add_scope", (tenant, *numbers))
        return tenant, int(rid)

    def _user(self, scope: Scope) -> int:
        return 0 if scope.user is None else self._number(self._tenant(scope), scope.user)

    def _rid(self, tenant: int, record: AnyRecord) -> int | None:
        row = self._row(f"{record.kind}_by_id", (tenant, record.id))
        return None if row is None else int(row[0])

    def _body(self, n: NewMessage) -> tuple[Any, list[tuple[tuple[Any, ...], str, bytes]]]:
        if codec.is_plain(n.draft, n.role, n.text):
            return None, []
        try:
            body, media = codec.split_media(n.draft.original)
        except RecursionError as e:
            raise BadMessage("The message is nested too deeply, or holds itself.") from e
        return codec.dump(body), media

    def _fact_values(self, f: Fact) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        text = (
            codec.pack(f.text), codec.pack(f.why), codec.pack(f.source), f.trust, round(f.confidence * 10_000), codec.dump(list(f.tags)),
            None if f.valid_from is None else micros(f.valid_from), None if f.valid_to is None else micros(f.valid_to),
        )  # fmt: skip
        gone = None if f.retracted_at is None else micros(f.retracted_at)
        return text, (
            gone, f.status, json.dumps(list(f.supersedes)), codec.provenance_json(f.provenance), f.superseded_by,
            json.dumps(list(f.conflicts)), codec.pack(f.subject), codec.pack(f.predicate), codec.pack(f.object),
        )  # fmt: skip

    def _link(self, tenant: int, child: str, parents: set[str]) -> None:
        self.db.executemany(self.sql["add_source"], [(tenant, p, child) for p in sorted(parents)])


def _parents(fact: Fact) -> set[str]:
    return {s.message for s in fact.provenance.spans} | set(fact.provenance.episodes)

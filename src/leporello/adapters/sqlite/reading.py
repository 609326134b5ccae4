"""One snapshot of the file: rows become records, and every look is bounded by the scope."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import apsw

from leporello.adapters.sqlite import codec
from leporello.adapters.sqlite.codec import KINDS
from leporello.adapters.sqlite.queries import queries
from leporello.core.times import from_micros, micros
from leporello.ports import AnyRecord, IndexDelta, IndexRow, LoopRow, Mark, SessionState, TraceRow
from leporello.records import Claim, Compact, Episode, Event, Fact, Message, Note, Revision, Scope

_PAGE = 500


class SqliteReader:
    """`ports.Reader` on one connection that is in a transaction."""

    def __init__(self, db: apsw.Connection) -> None:
        self.db = db
        self.sql = queries()
        self._scopes: dict[int, Scope] = {}

    def tenants(self) -> list[str]:
        return [codec.unpack(t) for (t,) in self._rows("tenants")]

    def session(self, scope: Scope) -> SessionState | None:
        found = self._scope_rid(scope)
        return None if found is None else self._session(found[0], found[1], scope)

    def sessions(self, scope: Scope) -> list[SessionState]:
        tenant, rids = self._visible(scope)
        states = (self._session(tenant, rid, self._scope(rid)) for rid in rids)
        return [s for s in states if s is not None]

    def messages(self, state: SessionState, *, first: int = 1, last: int | None = None) -> Iterator[Message]:
        tenant = self._tenant(state.scope)
        end = state.messages if last is None else last
        while first <= end:
            rows = self._rows("messages", (tenant, state.rid, first, end, _PAGE))
            if not rows:
                return
            for row in rows:
                yield codec.message(row, state.scope, self._media(tenant))
            first = rows[-1][2] + 1

    def last_turn(self, state: SessionState, *, first: int, last: int) -> int | None:
        found = self._value("last_turn", (self._tenant(state.scope), state.rid, first, last))
        return None if found is None else int(found)

    def episodes(self, scope: Scope, *, session: SessionState | None = None) -> list[Episode]:
        if session is not None:
            rows = self._rows("session_episodes", (self._tenant(scope), session.rid))
        else:
            tenant, rids = self._visible(scope)
            rows = self._rows("episodes", (tenant, json.dumps(rids)))
        return [codec.episode(r, self._scope(r[1])) for r in rows]

    def facts(self, scope: Scope, *, believed_at: datetime | None = None) -> list[Fact]:
        tenant, rids = self._visible(scope)
        rows = self._rows("facts", (tenant, json.dumps(rids)))
        found = [codec.fact(r, self._scope(r[1])) for r in rows]
        return found if believed_at is None else self.as_believed(found, believed_at)

    def as_believed(self, facts: Sequence[Fact], at: datetime) -> list[Fact]:
        known = [f for f in facts if f.recorded_at <= at]
        by_tenant: dict[str, list[Fact]] = {}
        for f in known:
            by_tenant.setdefault(f.scope.tenant, []).append(f)
        then: dict[str, Fact | None] = {}
        now = {f.id: f for f in known}
        for tenant, held in by_tenant.items():
            values = (self._tenant(Scope(tenant)), json.dumps([f.id for f in held]), micros(at))
            then.update({id_: codec.fact_of(was, now[id_]) for id_, was in self._rows("held_then", values)})
        return [f for f in (then.get(f.id, f) for f in known) if f is not None]

    def near(self, scope: Scope, keys: Sequence[int], *, sure: Sequence[int] = (), k: int) -> list[Fact]:
        found = self._scope_rid(scope)
        if found is None:
            return []
        rows = self._rows("near_facts", (*found, json.dumps([int(key) for key in keys]), json.dumps([int(key) for key in sure]), k))
        return [codec.fact(r, scope) for r in rows]

    def claims(self, scope: Scope, facts: Sequence[str]) -> list[Claim]:
        rows = self._rows("claims", (self._tenant(scope), json.dumps(list(facts))))
        return [codec.claim(r, self._scope(r[0])) for r in rows]

    def acting(self, scope: Scope, facts: Sequence[str]) -> list[str]:
        return [f for (f,) in self._rows("acting_facts", (self._tenant(scope), json.dumps(list(facts))))]

    def history(self, fact: Fact) -> list[Revision]:
        rows = self._rows("history", (self._tenant(fact.scope), fact.id))
        return [
            Revision(from_micros(at), action, codec.unpack(actor), codec.unpack(why), by, codec.fact_of(was, fact))
            for at, action, actor, why, by, was in rows
        ]

    def shown(self, scope: Scope, *, k: int) -> list[tuple[str, datetime]]:
        tenant, rids = self._visible(scope)
        return [(id_, from_micros(first)) for id_, first in self._rows("shown", (tenant, json.dumps(rids), k))]

    def mark(self, scope: Scope) -> int:
        return int(self._value("facts_mark"))

    def traces(self, scope: Scope, ids: Sequence[str]) -> Mapping[str, TraceRow]:
        rows = self._rows("traces", (self._tenant(scope), json.dumps(list(ids))))
        return {r[0]: codec.trace(r, self._scope(r[1])) for r in rows}

    def events(self, scope: Scope, ids: Sequence[str]) -> list[Event]:
        return [codec.event(r) for r in self._rows("events", (self._tenant(scope), json.dumps(list(ids))))]

    def due(self, scope: Scope, at: int, *, after: tuple[int, str], k: int) -> list[TraceRow]:
        return [codec.trace(r, self._scope(r[1])) for r in self._rows("due_traces", (self._tenant(scope), at, *after, k))]

    def crowded(self, scope: Scope, most: int) -> list[list[TraceRow]]:
        tenant = self._tenant(scope)
        scopes = [s for (s,) in self._rows("crowded_scopes", (tenant, most))]
        return [[codec.trace(r, self._scope(r[1])) for r in self._rows("traces_in_use", (tenant, s))] for s in scopes]

    def runs(self, scope: Scope, run: str | None = None) -> list[Event]:
        tenant = self._tenant(scope)
        if run is not None:
            if not run.isascii():
                return []
            return [codec.event(r) for r in self._rows("events_of_run", (tenant, run))]
        return [Event("", "archived", from_micros(at), name) for name, at, _ in self._rows("runs", (tenant,))]

    def record(self, scope: Scope, id: str) -> AnyRecord | None:
        found = self._find(self._tenant(scope), id)
        return found if found is not None and scope.sees(found.scope) else None

    def records(self, scope: Scope, rids: Sequence[int]) -> Mapping[int, AnyRecord]:
        tenant = self._tenant(scope)
        entries = self._rows("entries_by_rid", (tenant, json.dumps([int(r) for r in rids])))
        out: dict[int, AnyRecord] = {}
        makers: dict[int, Callable[[Sequence[Any]], AnyRecord]] = {
            0: lambda r: codec.message(r, self._scope(r[1]), self._media(tenant)),
            1: lambda r: codec.episode(r, self._scope(r[1])),
            2: lambda r: codec.fact(r, self._scope(r[1])),
        }
        for number, name in enumerate(("messages_by_rid", "episodes_by_rid", "facts_by_rid")):
            wanted = {record: entry for entry, kind, record in entries if kind == number}
            if wanted:
                for row in self._rows(name, (tenant, json.dumps(list(wanted)))):
                    made = makers[number](row)
                    if scope.sees(made.scope):
                        out[wanted[row[0]]] = made
        return out

    def index(self, scope: Scope, mark: Mark) -> IndexDelta:
        tenant = self._tenant(scope)
        newest: Mark = (self._value("newest_entry"), self._value("newest_removal"))
        removed = [r for (r,) in self._rows("removals", (mark[1],))] if newest[1] > mark[1] else []
        rows: list[tuple[Any, ...]] = []
        if newest[0] > mark[0]:
            if scope.user is None:
                rows = self._rows("view_tenant", (tenant, mark[0]))
            else:
                rows = self._rows("view_user", (tenant, self._number(tenant, scope.user), mark[0]))
        added = [IndexRow(rid, KINDS[k], log if k == 0 else 0, *rest) for rid, k, log, *rest in rows]
        return IndexDelta((max(newest[0], mark[0]), max(newest[1], mark[1])), added, removed)

    def names(self, scope: Scope) -> Mapping[str, int]:
        tenant = self._tenant(scope)
        given = {"agent": scope.agent, "project": scope.project, "session": scope.session}
        return {dim: self._number(tenant, value) for dim, value in given.items() if value is not None}

    def notes(self, scope: Scope) -> list[Note]:
        tenant, rids = self._visible(scope)
        rows = self._rows("notes", (tenant, json.dumps(rids)))
        return [Note(self._scope(s), codec.unpack(k), codec.load(v), from_micros(at)) for s, k, v, at in rows]

    def pins(self, scope: Scope) -> list[str]:
        tenant, rids = self._visible(scope)
        return [codec.unpack(t) for (t,) in self._rows("pins", (tenant, json.dumps(rids)))]

    def compact(self, scope: Scope) -> Compact | None:
        found = self._scope_rid(scope)
        row = self._row("compact", found) if found else None
        if row is None:
            return None
        text, tokens, items, turn, compactor, omitted = row
        return Compact(scope, codec.unpack(text), tokens, codec.items_of(items), turn, compactor, omitted)

    def loop(self, scope: Scope) -> LoopRow | None:
        found = self._scope_rid(scope)
        row = None if found is None else self._row("loop", found)
        if row is None:
            return None
        settings, tally, view, shown = row
        return LoopRow(codec.load(settings), codec.load(tally), None if view is None else codec.load(view), tuple(codec.load(shown)))

    def spent(self, scope: Scope, day: str) -> tuple[int, int]:
        tenant, rids = self._visible(scope)
        tokens, cost = self._row("spent", (tenant, json.dumps(rids), day))
        return int(tokens), int(cost)

    def counts(self, scope: Scope) -> Mapping[str, int]:
        tenant, rids = self._visible(scope)
        found = {f"{k}s": int(self._value(f"count_{k}s", (tenant, json.dumps(rids)))) for k in KINDS}
        sessions = self.sessions(scope)
        return {**found, "sessions": len(sessions), "turns": sum(s.turns for s in sessions), "notes": len(self.notes(scope))}

    def derived(self, scope: Scope, ids: Sequence[str]) -> Sequence[AnyRecord]:
        tenant = self._tenant(scope)
        children = {c: None for i in ids for (c,) in self._rows("children", (tenant, i))}
        found = (self._find(tenant, c) for c in children)
        return [r for r in found if r is not None]

    def _rows(self, name: str, values: Any = ()) -> list[Any]:
        return self.db.execute(self.sql[name], values).fetchall()

    def _row(self, name: str, values: Any = ()) -> Any:
        return self.db.execute(self.sql[name], values).fetchone()

    def _value(self, name: str, values: Any = ()) -> Any:
        return self.db.execute(self.sql[name], values).get

    def _find(self, tenant: int, id: str) -> AnyRecord | None:
        try:
            id.encode("utf-8")
        except UnicodeEncodeError:
            return None
        row = self._row("message_by_id", (tenant, id))
        if row is not None:
            return codec.message(row, self._scope(row[1]), self._media(tenant))
        row = self._row("episode_by_id", (tenant, id))
        if row is not None:
            return codec.episode(row, self._scope(row[1]))
        row = self._row("fact_by_id", (tenant, id))
        return None if row is None else codec.fact(row, self._scope(row[1]))

    def _session(self, tenant: int, rid: int, scope: Scope) -> SessionState | None:
        row = self._row("session", (tenant, rid))
        if row is None:
            return None
        messages, turns, answered, joinable, folded, turn, episodes, stalled, closed, consolidated = row
        return SessionState(
            rid, scope, messages, turns, bool(answered), bool(joinable), folded, turn, episodes, stalled, codec.when(closed), consolidated
        )

    def _tenant(self, scope: Scope) -> int:
        return int(self._value("tenant", (codec.pack(scope.tenant),)) or -1)

    def _number(self, tenant: int, value: str) -> int:
        return int(self._value("name", (tenant, codec.pack(value))) or -1)

    def _numbers(self, scope: Scope) -> tuple[int, tuple[int | None, ...]]:
        tenant = self._tenant(scope)
        given = (scope.user, scope.agent, scope.project, scope.session)
        return tenant, tuple(None if v is None else self._number(tenant, v) for v in given)

    def _scope_rid(self, scope: Scope) -> tuple[int, int] | None:
        tenant, numbers = self._numbers(scope)
        rid = self._value("scope", (tenant, *(n or 0 for n in numbers)))
        return None if rid is None else (tenant, int(rid))

    def _visible(self, scope: Scope) -> tuple[int, list[int]]:
        tenant, numbers = self._numbers(scope)
        given = dict(zip(("usr", "agent", "project", "session"), numbers, strict=True))
        return tenant, [r for (r,) in self._rows("visible_scopes", {"tenant": tenant, **given})]

    def _scope(self, rid: int) -> Scope:
        if rid not in self._scopes:
            tenant, *rest = self._rows("scope_names", (rid,))[0]
            self._scopes[rid] = Scope(codec.unpack(tenant), *(codec.maybe(v) for v in rest))
        return self._scopes[rid]

    def _media(self, tenant: int) -> Callable[[str], bytes]:
        return lambda digest: bytes(self._value("media", (tenant, digest)) or b"")

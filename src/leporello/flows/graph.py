"""What stands around a name, and ways between two: from the facts as they were believed, and from messages that hold the name."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from difflib import get_close_matches

from leporello.core import facts as rules
from leporello.core import graph as core
from leporello.core import rank, words
from leporello.core.graph import Edge, Entity, Graph, Neighbourhood, Path, Read, key
from leporello.core.times import micros
from leporello.errors import EmptyQuery, NotFound
from leporello.flows.recall import Shelf
from leporello.ports import Ports, Reader
from leporello.records import Fact, Message, Provenance, Scope, Span

MESSAGES = 50
"""Messages that hold a name and are read for what stands beside it, at most."""
_SEARCHED = 200
_BESIDE = 20
_FORMS = 8
_WEIGHT = 0.25
_KEPT = 8
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\u0e00-\u0eff]")
_Moment = tuple[Scope, datetime | None, datetime | None]


@dataclass(frozen=True)
class _Held:
    """A graph, the mark at which it was made, and from when until when facts that end by themselves leave it as it is."""

    mark: int
    since: datetime | None
    until: datetime | None
    graph: Graph
    read: dict[str, tuple[Fact, Read]]


class Graphs:
    """The graphs of the scopes and moments that were asked last. Safe for threads.

    A graph is made anew when a fact changed since; what the unchanged facts say is not read again.
    """

    def __init__(self, shelf: Shelf, *, kept: int = _KEPT) -> None:
        self.shelf = shelf
        self._kept = kept
        self._lock = threading.Lock()
        self._held: OrderedDict[_Moment, _Held] = OrderedDict()

    def of(
        self, reader: Reader, scope: Scope, *, now: datetime, as_of: datetime | None = None, believed_at: datetime | None = None
    ) -> Graph:
        """The graph of what the scope sees, at a moment of either time; `None` is `now`."""
        moment = (scope, as_of, believed_at)
        mark = reader.mark(scope)
        with self._lock:
            held = self._held.get(moment)
            if (
                held is not None
                and held.mark == mark
                and (held.since is None or held.since <= now)
                and (held.until is None or now < held.until)
            ):
                self._held.move_to_end(moment)
                return held.graph
            before = held or next((h for (s, _, _), h in reversed(self._held.items()) if s == scope), None)
        made = _made(reader, moment, mark, now, before.read if before else {})
        with self._lock:
            self._held[moment] = made
            self._held.move_to_end(moment)
            while len(self._held) > self._kept:
                self._held.popitem(last=False)
        return made.graph

    def clear(self) -> None:
        """Forgets every graph, and with it every text that was read."""
        with self._lock:
            self._held.clear()


def graphs_of(shelf: Shelf) -> Graphs:
    """The graphs that are kept beside the indexes of an open store."""
    held = shelf.beside.get("graphs")
    if not isinstance(held, Graphs):
        held = shelf.beside["graphs"] = Graphs(shelf)
    return held


def neighbourhood(
    ports: Ports, graphs: Graphs, scope: Scope, name: str, *, depth: int = 1, as_of: datetime | None = None,
    believed_at: datetime | None = None, limit: int = 100,
) -> Neighbourhood:  # fmt: skip
    """What stands up to `depth` steps around a name in this scope, with at most `limit` edges.

    Edges come from facts that held at `as_of` as believed at `believed_at`, and from messages said and stored by then. Raises
    `NotFound` for a name that neither a fact nor a message of the scope holds.
    """
    with ports.store.read() as r:
        graph = graphs.of(r, scope, now=ports.clock.now(), as_of=as_of, believed_at=believed_at)
        look = _Look(ports, graphs.shelf, r, graph, (scope, as_of, believed_at))
        start = look.start(name)
        beside = look.edges(start)
    found, edges = core.neighbours(graph, start.key, depth, extra=beside)
    kept = edges[:limit]
    near = {n for e in kept for n in (e.subject, e.object)}
    sources = tuple(dict.fromkeys(e.source for e in kept))
    facts = dict.fromkeys((*graph.holders.get(start.key, ())[:limit], *(s for s in sources if s in graph.facts)))
    return Neighbourhood(
        start, tuple(look.named(e) for e in found if e.key in near), kept, tuple(facts), tuple(s for s in sources if s not in graph.facts),
        len(edges) - len(kept), as_of, believed_at,
    )  # fmt: skip


def paths(
    ports: Ports, graphs: Graphs, scope: Scope, a: str, b: str, *, as_of: datetime | None = None, believed_at: datetime | None = None,
    limit: int = 5,
) -> tuple[Path, ...]:  # fmt: skip
    """At most `limit` ways from name `a` to name `b`, shortest first; none if there are none. Raises `NotFound` for an unknown name."""
    with ports.store.read() as r:
        graph = graphs.of(r, scope, now=ports.clock.now(), as_of=as_of, believed_at=believed_at)
        look = _Look(ports, graphs.shelf, r, graph, (scope, as_of, believed_at))
        ends = [look.start(name) for name in (a, b)]
        beside = [e for end in ends for e in look.edges(end)]
    return core.paths(graph, ends[0].key, ends[1].key, limit, extra=dict.fromkeys(beside))


@dataclass(frozen=True)
class _Look:
    """One question to one snapshot: the messages that hold a name, and what they say beside it."""

    ports: Ports
    shelf: Shelf
    reader: Reader
    graph: Graph
    moment: _Moment
    messages: dict[str, list[Message]] = field(default_factory=dict)
    seen: dict[str, Entity] = field(default_factory=dict)

    def start(self, name: str) -> Entity:
        """The entity that a name means here; `NotFound` if no fact and no message holds it."""
        if not key(name.removeprefix("@")):
            raise EmptyQuery()
        held = self.graph.node(core.find(self.graph, name))
        start = held or Entity(key(name.removeprefix("@")), name.strip(), "name")
        if start.kind != "fact":
            self.messages[start.key] = list(self._holding(start))
        if held is None and not self.messages[start.key]:
            raise NotFound(f"Nothing in this scope is called {name!r}.", hint=_hint(self.graph, start.key))
        if held is None:
            kinds = (m.kind for message in self.messages[start.key] for m in self._mentions(message) if m.key == start.key)
            start = Entity(start.key, start.name, next(kinds, start.kind))
        return start

    def edges(self, start: Entity) -> list[Edge]:
        """From the name to what stands beside it in messages: the speaker mentions it, or it is mentioned with it."""
        return [e for message in self.messages.get(start.key, ()) for e in self._beside(start, message)]

    def named(self, entity: Entity) -> Entity:
        """An entity that only messages know, as they write it."""
        return Entity(entity.key, seen.name, seen.kind, depth=entity.depth) if (seen := self.seen.get(entity.key)) else entity

    def _holding(self, start: Entity) -> Iterator[Message]:
        scope, as_of, believed_at = self.moment
        forms = [start.name, *start.aliases][:_FORMS]
        text = " ".join(forms)
        sieve = rank.Sieve(
            kinds=("message",),
            until=micros(as_of) if as_of else None,
            believed=micros(believed_at) if believed_at else None,
            **self.reader.names(scope),
        )
        query = rank.Query(words.query_terms(text), self.ports.embedder.embed([text])[0])
        found = self.shelf.search(self.reader, scope, query, sieve, self.ports, k=_SEARCHED)
        records = self.reader.records(scope, [f.rid for f in found])
        told = _pattern({start.key, *map(key, forms)})
        held = (m for f in found if isinstance(m := records.get(f.rid), Message))
        holding = (m for m in held if told.search(key(m.text)) or self._node(m.name or "") == start.key)
        for _, message in zip(range(MESSAGES), holding, strict=False):
            yield message

    def _node(self, name: str) -> str:
        folded = key(name)
        return self.graph.names.get(folded, folded)

    def _mentions(self, message: Message) -> Sequence[core.Mention]:
        return core.entities(message.text, speaker=message.name or "", known=self.graph.names)

    def _beside(self, start: Entity, message: Message) -> Iterable[Edge]:
        speaks = self._node(message.name or "") == start.key
        session, turn = message.scope.session, message.turn
        done = {start.key}
        for m in self._mentions(message):
            node = self._node(m.key)
            if node in done:
                continue
            done.add(node)
            if node not in self.graph.entities:
                self.seen.setdefault(node, Entity(node, m.name, m.kind))
            source = Provenance(session, (turn,), (), (Span(message.id, m.start, m.end, turn),) if m.end else ())
            predicate = core.MENTIONS if speaks else core.MENTIONED_WITH
            yield Edge(start.key, predicate, node, message.id, _WEIGHT, message.at, None, 1.0, "active", message.trust, source)
            if len(done) > _BESIDE:
                return


def _made(reader: Reader, moment: _Moment, mark: int, now: datetime, before: dict[str, tuple[Fact, Read]]) -> _Held:
    scope, as_of, believed_at = moment
    facts = reader.facts(scope, believed_at=believed_at)
    held = [f for f in facts if rules.believed(f, as_of=as_of, now=believed_at or now)]
    timeless = as_of is not None or believed_at is not None
    until = None if timeless else min((f.valid_to for f in held if f.valid_to is not None), default=None)
    aliases = {core.USER: scope.user} if scope.user and scope.user != core.USER else {}
    read: dict[str, tuple[Fact, Read]] = {}

    def reading(fact: Fact) -> Read:
        known = before.get(fact.id)
        read[fact.id] = (fact, known[1] if known is not None and _says_the_same(known[0], fact) else core.read(fact))
        return read[fact.id][1]

    return _Held(mark, None if timeless else now, until, core.graph(held, aliases=aliases, reading=reading), read)


def _says_the_same(a: Fact, b: Fact) -> bool:
    return (a.text, a.tags, a.trust, a.subject, a.predicate, a.object) == (b.text, b.tags, b.trust, b.subject, b.predicate, b.object)


def _pattern(forms: Iterable[str]) -> re.Pattern[str]:
    """Any of the folded names as a whole word; in scripts without spaces, anywhere."""
    told = (re.escape(f) if _WIDE.search(f) else rf"(?<!\w){re.escape(f)}(?!\w)" for f in sorted(forms, key=lambda f: (-len(f), f)) if f)
    return re.compile("|".join(told))


def _hint(graph: Graph, name: str) -> str:
    alike = get_close_matches(name, [n for n in graph.names if n[:1] == name[:1]], n=3)
    if alike:
        return f"Names like it here: {', '.join(graph.entities[graph.names[n]].name for n in alike)}."
    return "Check the spelling and the scope; a name is known once a fact or a message of the scope holds it."

"""From facts to a graph: a pure function, so that edges follow their facts through time, retraction and erasure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from leporello.core.graph.aliases import Stated, of_full_name, resolve, stated
from leporello.core.graph.entities import Candidate, candidates, entities, settled
from leporello.core.graph.lexicon import words
from leporello.core.graph.links import Links, links
from leporello.core.graph.shapes import KINDS, MENTIONS, Edge, Entity, EntityKind, key
from leporello.records import Fact

HUB = 50
"""An entity in more facts than this is a hub: its links weigh HUB / (number of facts), so that a walk seldom goes through it."""
USER = "user"
"""The subject of what a user says of themselves, whoever it is."""
_OBJECT_MAX = 80
_FACT_NAME = 80
_TYPED, _MENTIONED = 1.0, 0.5
_HIDDEN = frozenset({"archived", "quarantine"})


@dataclass(frozen=True)
class Read:
    """What the text and the tags of one fact say: possible names, and which names are one."""

    found: tuple[Candidate, ...]
    stated: tuple[Stated, ...]


@dataclass(frozen=True)
class Graph:
    """Entities, facts and edges at a moment. Keys of entities and ids of facts are nodes; `links` joins them for PageRank.

    `names` leads from each key and alias to its node. `holders` are the facts that hold an entity, `held` the entities of a fact,
    `around` the edges at each node, by their place in `edges`; `by_word` the entities whose names have a word.
    """

    entities: Mapping[str, Entity]
    facts: Mapping[str, str]
    edges: tuple[Edge, ...]
    names: Mapping[str, str]
    holders: Mapping[str, tuple[str, ...]]
    held: Mapping[str, tuple[str, ...]]
    around: Mapping[str, tuple[int, ...]]
    by_word: Mapping[str, tuple[str, ...]]
    links: Links

    def node(self, name: str) -> Entity | None:
        """The entity or fact of this node, if there is one."""
        if name in self.facts:
            return Entity(name, self.facts[name], "fact", facts=1)
        return self.entities.get(name)

    def is_hub(self, name: str) -> bool:
        """True if so many facts hold the entity that it says nothing about any of them."""
        return len(self.holders.get(name, ())) > max(HUB, len(self.facts) // 10)


def read(fact: Fact) -> Read:
    """What one fact says, whatever the others say. It depends on its text, tags and trust alone, so it may be kept."""
    found = [*candidates(fact.text), *(c for tag in fact.tags for c in candidates(tag))]
    named = (s for c in found for s in of_full_name(c.mention.name))
    return Read(tuple(found), (*stated(fact), *named))


def graph(
    facts: Sequence[Fact], *, aliases: Mapping[str, str] | None = None, reading: Callable[[Fact], Read] = read
) -> Graph:  # fmt: skip
    """The graph of these facts: hand in those that hold at the moment asked for. What is retracted or hidden makes no edge anyway.

    `aliases` are further ones, from name to name; `reading` may keep what it read of a fact.
    """
    kept = [f for f in facts if f.retracted_at is None and f.status not in _HIDDEN]
    said = {f.id: reading(f) for f in kept}
    kinds, written, mentioned = _names(kept, said)
    told = [*(s for r in said.values() for s in r.stated), *(Stated(key(a), key(n), (a, n)) for a, n in (aliases or {}).items())]
    for s in told:
        written[s.alias][s.written[0]] += 1
        written[s.name][s.written[1]] += 1
        kinds.setdefault(s.name, "name")
    lead = resolve(told, kinds)
    names = {**{k: k for k in kinds if k not in lead}, **lead}
    held = {f.id: _held(f, mentioned[f.id], names) for f in kept}
    holders: dict[str, list[str]] = defaultdict(list)
    for id_, inside in held.items():
        for name in inside:
            holders[name].append(id_)
    edges = tuple(e for f in kept for e in _edges(f, held[f.id], names))
    found = _entities(names, kinds, written, holders)
    return Graph(
        found, {f.id: " ".join(f.text.split())[:_FACT_NAME] for f in kept}, edges, names, {n: tuple(ids) for n, ids in holders.items()}, held,
        _around(edges), _by_word(names), _links(kept, held, edges, holders, found),
    )  # fmt: skip


Written = defaultdict[str, Counter[str]]


def _names(kept: Sequence[Fact], said: Mapping[str, Read]) -> tuple[dict[str, EntityKind], Written, dict[str, tuple[str, ...]]]:
    """The kind of each key, how often it is written in which way, and the keys in each fact's text and tags."""
    known = {c.mention.key for r in said.values() for c in r.found if c.sure and c.rest is None}
    known |= {k for r in said.values() for s in r.stated for k in (s.alias, s.name)}
    known |= {k for f in kept for k in map(key, _claimed(f)) if k and k.count(" ") < 4}
    kinds: dict[str, EntityKind] = {}
    written: Written = defaultdict(Counter)
    mentioned: dict[str, tuple[str, ...]] = {}
    for f in kept:
        found = settled(said[f.id].found, known)
        mentioned[f.id] = tuple(dict.fromkeys(m.key for m in found))
        for m in found:
            written[m.key][m.name] += 1
            if KINDS.index(m.kind) < KINDS.index(kinds.get(m.key, "thing")):
                kinds[m.key] = m.kind
        for name in _claimed(f):
            if (folded := key(name)) and folded not in kinds:
                kinds[folded] = "person" if folded in {USER, key(f.scope.user or "")} else _kind(name, folded)
    return kinds, written, mentioned


def _kind(name: str, folded: str) -> EntityKind:
    found = entities(name)
    return found[0].kind if len(found) == 1 and found[0].key == folded else "thing"


def _claimed(fact: Fact) -> tuple[str, str]:
    """Subject and object of a fact that has both; of another, its subject alone. Who is only "user" gets the name of the scope's."""
    whole = fact.subject and fact.predicate and len(fact.object) <= _OBJECT_MAX
    return _who(fact, fact.subject), _who(fact, fact.object) if whole else ""


def _who(fact: Fact, name: str) -> str:
    if fact.scope.user and name.startswith(USER) and name[len(USER) :][:2] in {"", "'s", "’s"}:
        return fact.scope.user + name[len(USER) :]
    return name


def _held(fact: Fact, mentioned: Iterable[str], names: Mapping[str, str]) -> tuple[str, ...]:
    own = (k for k in map(key, _claimed(fact)) if k)
    return tuple(dict.fromkeys(names[k] for k in (*own, *mentioned)))


def _edges(fact: Fact, held: Sequence[str], names: Mapping[str, str]) -> Iterable[Edge]:
    subject, object_ = map(key, _claimed(fact))
    start = names[subject] if subject else fact.id
    end = names[object_] if object_ else ""
    pairs = [(fact.predicate, end, _TYPED)] if end and end != start else []
    pairs += [(MENTIONS, name, _MENTIONED) for name in held if name not in {start, end}]
    for predicate, name, weight in pairs:
        yield Edge(
            start, predicate, name, fact.id, round(weight * fact.confidence, 6), fact.valid_from, fact.valid_to, fact.confidence, fact.status,
            fact.trust, fact.provenance,
        )  # fmt: skip


def _entities(
    names: Mapping[str, str], kinds: Mapping[str, EntityKind], written: Written, holders: Mapping[str, Sequence[str]]
) -> dict[str, Entity]:
    others: dict[str, list[str]] = defaultdict(list)
    best: dict[str, EntityKind] = {}
    for name, node in names.items():
        if name != node:
            others[node].append(_as_written(name, written))
        kind = kinds.get(name, "thing")
        best[node] = min(kind, best.get(node, "thing"), key=KINDS.index)
    return {
        node: Entity(node, _as_written(node, written), best[node], tuple(sorted(set(others[node]))), len(holders.get(node, ())))
        for node in dict.fromkeys(names.values())
    }


def _as_written(name: str, written: Written) -> str:
    """The form that is written most often; of equals the one that sorts first."""
    forms = written.get(name)
    return min(forms, key=lambda form: (-forms[form], form)) if forms else name


def _around(edges: Sequence[Edge]) -> dict[str, tuple[int, ...]]:
    at: dict[str, list[int]] = defaultdict(list)
    for i, e in enumerate(edges):
        at[e.subject].append(i)
        at[e.object].append(i)
    return {node: tuple(places) for node, places in at.items()}


def _by_word(names: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = defaultdict(list)
    for name in names:
        if " " in name:
            for word in set(map(key, name.split())) - words("never") - words("starter"):
                found[word].append(name)
    return {word: tuple(of) for word, of in found.items()}


def _links(
    kept: Sequence[Fact],
    held: Mapping[str, Sequence[str]],
    edges: Sequence[Edge],
    holders: Mapping[str, Sequence[str]],
    found: Iterable[str],
) -> Links:
    """A fact is linked to what it holds, and both ends of an edge to each other, less the more facts hold them."""
    damped = {name: min(1.0, HUB / len(ids)) for name, ids in holders.items()}
    pairs = [(f.id, name, damped[name]) for f in kept for name in held[f.id]]
    pairs += [(e.subject, e.object, e.weight * min(damped[e.subject], damped[e.object])) for e in edges if e.subject in damped]
    return links(pairs, [*found, *(f.id for f in kept)])

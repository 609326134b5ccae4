"""What the graph is made of, and what is asked of it: mentions, entities, edges, paths, neighbourhoods."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from leporello.records import Provenance, Record, Trust

EntityKind = Literal["person", "organisation", "place", "project", "file", "code", "host", "handle", "name", "thing", "fact"]
KINDS: tuple[EntityKind, ...] = ("fact", "person", "organisation", "place", "project", "file", "code", "host", "handle", "name", "thing")
"""From the most to the least telling: a name that is read as several kinds is of the first of them."""
MENTIONS, MENTIONED_WITH = "mentions", "mentioned with"

_ACCENTS = re.compile("[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670]+")
_OWNER = re.compile(r"'s?$")


def key(name: str) -> str:
    """The name folded: compatibility forms, case, diacritics, runs of spaces, a possessive ending. Names with one key are one."""
    if name.isascii():
        folded = name.casefold()
    else:
        apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold()).replace("\u0438\u0306", "\u0439")
        folded = unicodedata.normalize("NFC", _ACCENTS.sub("", apart))
    folded = " ".join(folded.replace("’", "'").split())
    return _OWNER.sub("", folded) or folded


@dataclass(frozen=True)
class Mention(Record):
    """A name as it is written at characters `start` to `end` of a text, and its key. A speaker's stands at 0 to 0."""

    name: str
    key: str
    kind: EntityKind
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class Entity(Record):
    """A node: its key, the name as it is most often written, its other names, how many facts hold it, how far it is from the start."""

    key: str
    name: str
    kind: EntityKind
    aliases: tuple[str, ...] = ()
    facts: int = 0
    depth: int = 0


@dataclass(frozen=True)
class Edge(Record):
    """`subject` –`predicate`→ `object`, both keys of entities (of the predicate `mentions`, the subject may be a fact's id).

    `source` is the id of the fact or message that says so. The edge holds when its fact does.
    """

    subject: str
    predicate: str
    object: str
    source: str
    weight: float = 1.0
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    confidence: float = 1.0
    status: str = "active"
    trust: Trust = "agent"
    provenance: Provenance = field(default_factory=Provenance)


@dataclass(frozen=True)
class Path(Record):
    """A way from the first node to the last: n + 1 nodes and n edges, each in either direction. `weight` is the edges' sum."""

    nodes: tuple[str, ...]
    edges: tuple[Edge, ...]
    weight: float

    def __len__(self) -> int:
        """Steps."""
        return len(self.edges)


@dataclass(frozen=True)
class Neighbourhood(Record):
    """What stands around an entity: the entities up to `depth` steps away, nearest first, and the edges that lead to them.

    `facts` are the ids of the facts that the edges rest on, `messages` those of the messages. `omitted` edges were over the limit.
    """

    entity: Entity
    entities: tuple[Entity, ...]
    edges: tuple[Edge, ...]
    facts: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    omitted: int = 0
    as_of: datetime | None = None
    believed_at: datetime | None = None

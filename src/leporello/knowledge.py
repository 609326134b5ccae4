"""What is known, as a handle's methods: facts told, confirmed, contradicted, taken back, and how they came to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from leporello.core import checks
from leporello.core.times import instant
from leporello.errors import BadValue
from leporello.flows import learn
from leporello.flows.consolidate import consolidate_all
from leporello.flows.explain import Explanation, explain
from leporello.flows.loop import Background
from leporello.flows.recall import Shelf
from leporello.flows.shown import held_facts
from leporello.ports import Ports
from leporello.records import Fact, Record, Revision, Scope
from leporello.results import Consolidation

Moment = datetime | str | int | float


def moment(value: Moment | None) -> datetime | None:
    """An instant as the API takes it."""
    return None if value is None else instant(value)


@dataclass(frozen=True)
class Conflict(Record):
    """Two facts that cannot both hold, and of which it is not sure which does; the older first."""

    facts: tuple[Fact, Fact]


@dataclass(frozen=True)
class Suspect(Record):
    """A fact in quarantine, and why it is there."""

    fact: Fact
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Knowledge:
    """What a handle does with facts. Every change is kept with who made it and why (`history`)."""

    scope: Scope
    _ports: Ports
    _shelf: Shelf
    _background: Background = field(default_factory=Background)

    def learn(
        self, text: str, *, kind: str = "fact", source: str = "user_stated", why: str = "", tags: Sequence[str] = (), at: Moment | None = None,
        confidence: float | None = None, level: str | None = None,
    ) -> Fact:  # fmt: skip
        """Stores one fact that is true from `at` on (now, if not given). `level="project"` writes it without the session.

        What says the same as a known fact supports that one, which comes back. What gives the same subject another value ends the
        known one at `at`, if `source` is trusted at least as much; both are kept, linked. Where it is not sure, both stand as a conflict.
        """
        operation = learn.told(
            checks.text(text, "text"), kind=kind, source=checks.text(source, "source", empty=False), why=checks.text(why, "why"),
            tags=checks.texts(tags, "tags"), at=moment(at), confidence=confidence,
        )  # fmt: skip
        return learn.learn(self._ports, learn.at_level(self.scope, level), operation)

    def facts(self, *, as_of: Moment | None = None, believed_at: Moment | None = None, status: str | None = None) -> tuple[Fact, ...]:
        """The facts that hold now, oldest first.

        `as_of`: those that held then. `believed_at`: as the store believed them then. `status`: every fact with this status
        (active, conflict, deprecated, archived, quarantine; "all" for every fact), whether it holds or not.
        """
        if status not in {None, "all", "active", "conflict", "deprecated", "archived", "quarantine"}:
            raise BadValue(f"status={status!r}.", hint="Use active, conflict, deprecated, archived, quarantine or all.")
        then, told = moment(as_of), moment(believed_at)
        with self._ports.store.read() as r:
            if status is None:
                return tuple(held_facts(r, self.scope, now=self._ports.clock.now(), as_of=then, believed_at=told))
            return tuple(f for f in r.facts(self.scope, believed_at=told) if status in {"all", f.status})

    def confirm(self, id: str, *, why: str = "") -> Fact:
        """The user says that a fact holds: confidence up by 0.1, a conflict decided for it, a quarantine ended."""
        return self._act(id, "confirm", why)

    def contradict(self, id: str, *, by: str | None = None, why: str = "") -> Fact:
        """Ends a fact: confidence 0.0, deprecated, kept for history. `by` is what holds instead: a fact's id, or a new statement.

        The fact ends when its successor begins; without one, now.
        """
        step = learn.Step("supersede", checks.text(why, "why"))
        return learn.contradict(self._ports, self.scope, checks.text(id, "id"), by=checks.maybe_text(by, "by"), step=step)

    def retract(self, id: str, *, why: str = "") -> Fact:
        """Takes a fact back: it was never so. It is believed no longer, and kept for what was believed before."""
        return self._act(id, "retract", why)

    def archive(self, id: str, *, why: str = "") -> Fact:
        """Puts a fact aside: out of recall and contexts, until it is restored."""
        return self._act(id, "archive", why)

    def restore(self, id: str, *, why: str = "") -> Fact:
        """Brings back a fact that was archived, retracted or contradicted. Beside a successor that stands, both are a conflict."""
        return self._act(id, "restore", why)

    def history(self, id: str) -> tuple[Revision, ...]:
        """The changes of a fact, oldest first, each with who made it, when, why, and the fact before it."""
        return learn.history(self._ports, self.scope, checks.text(id, "id"))

    def conflicts(self) -> tuple[Conflict, ...]:
        """The pairs of facts that cannot both hold."""
        held = {f.id: f for f in self.facts()}
        pairs = {tuple(sorted((f.id, o), key=lambda i: (held[i].at, i))) for f in held.values() for o in f.conflicts if o in held}
        return tuple(Conflict((held[a], held[b])) for a, b in sorted(pairs))

    def quarantine(self) -> tuple[Suspect, ...]:
        """Facts that are neither recalled nor shown because their text is suspicious; `confirm` releases one, `erase` removes it."""
        with self._ports.store.read() as r:
            held = [f for f in r.facts(self.scope) if f.status == "quarantine"]
            claims = {f.id: r.claims(f.scope, [f.id]) for f in held}
        return tuple(Suspect(f, tuple(dict.fromkeys(c.suspicion for c in claims[f.id] if c.suspicion))) for f in held)

    def consolidate(self) -> Consolidation:
        """Turns what was said in the sessions that this handle sees, and not read yet, into facts; says what changed."""
        return consolidate_all(self._ports, self.scope)

    def explain(self, id: str, *, as_of: Moment | None = None, believed_at: Moment | None = None) -> Explanation:
        """Where a record comes from: operations, episodes, turns, characters, and what made each step.

        `believed_at`: as the store held it then. `as_of`: only if it held then; `NotFound` otherwise.
        """
        return explain(self._ports, self.scope, checks.text(id, "id"), as_of=moment(as_of), believed_at=moment(believed_at))

    def _act(self, id: str, op: str, why: str) -> Fact:
        return learn.act(self._ports, self.scope, checks.text(id, "id"), learn.Step(op, checks.text(why, "why")))  # type: ignore[arg-type]

"""What is known, as a handle's methods: facts told, confirmed, contradicted, taken back, and how they came to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leporello.core import checks
from leporello.errors import BadValue
from leporello.flows import aging, learn, maintain
from leporello.flows.aging import as_aged
from leporello.flows.consolidate import consolidate_all
from leporello.flows.explain import Explanation, explain
from leporello.flows.shown import held_facts
from leporello.keeping import Keeping, Moment, kept, moment
from leporello.ports import AnyRecord
from leporello.records import Event, Fact, Record, Revision
from leporello.results import Consolidation


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
class Knowledge(Keeping):
    """What a handle does with facts. Every change is kept with who made it and why (`history`)."""

    def learn(
        self, text: str, *, kind: str = "fact", source: str = "user_stated", why: str = "", tags: Sequence[str] = (), at: Moment | None = None,
        confidence: float | None = None, level: str | None = None, importance: str | None = None, expires_at: Moment | None = None,
    ) -> Fact:  # fmt: skip
        """Stores one fact that is true from `at` on (now, if not given). `level="project"` writes it without the session.

        `importance` (high, medium or low) lengthens or shortens its half-life; from `expires_at` on it is out of recall (see `keep`).

        What says the same as a known fact supports that one, which comes back. What gives the same subject another value ends the
        known one at `at`, if `source` is trusted at least as much; both are kept, linked. Where it is not sure, both stand as a conflict.
        """
        operation = learn.told(
            checks.text(text, "text"), kind=kind, source=checks.text(source, "source", empty=False), why=checks.text(why, "why"),
            tags=checks.texts(tags, "tags"), at=moment(at), confidence=confidence,
        )  # fmt: skip
        how = kept(importance, None, expires_at)
        fact = learn.learn(self._ports, learn.at_level(self.scope, level), operation)
        if how != maintain.Keep():
            maintain.keep(self._ports, fact.scope, fact.id, how)
        return self._now(fact)

    def facts(self, *, as_of: Moment | None = None, believed_at: Moment | None = None, status: str | None = None) -> tuple[Fact, ...]:
        """The facts that hold now, oldest first.

        `as_of`: those that held then. `believed_at`: as the store believed them then. `status`: every fact with this status
        (active, fading, conflict, deprecated, archived, quarantine; "all" for every fact), whether it holds or not. Confidence and status
        are those of now; with `believed_at` those that the store held then.
        """
        if status not in {None, "all", "active", "fading", "conflict", "deprecated", "archived", "quarantine"}:
            raise BadValue(f"status={status!r}.", hint="Use active, fading, conflict, deprecated, archived, quarantine or all.")
        then, told = moment(as_of), moment(believed_at)
        with self._ports.store.read() as r:
            if status is None:
                found = held_facts(r, self.scope, now=self._ports.clock.now(), as_of=then, believed_at=told)
            else:
                found = r.facts(self.scope, believed_at=told)
            if told is None:
                found = as_aged(found, self._ages(r, found))
            return tuple(f for f in found if status in {None, "all", f.status})

    def confirm(self, id: str, *, why: str = "") -> Fact:
        """The user says that a fact holds: confidence up by 0.1, a conflict decided for it, a quarantine ended."""
        return self._act(id, "confirm", why)

    def contradict(self, id: str, *, by: str | None = None, why: str = "") -> Fact:
        """Ends a fact: confidence 0.0, deprecated, kept for history. `by` is what holds instead: a fact's id, or a new statement.

        The fact ends when its successor begins; without one, now.
        """
        step = learn.Step("supersede", checks.text(why, "why"))
        return self._now(learn.contradict(self._ports, self.scope, checks.text(id, "id"), by=checks.maybe_text(by, "by"), step=step))

    def retract(self, id: str, *, why: str = "") -> Fact:
        """Takes a fact back: it was never so. It is believed no longer, and kept for what was believed before."""
        return self._act(id, "retract", why)

    def archive(self, id: str, *, why: str = "") -> Fact:
        """Puts a fact aside: out of recall and contexts, until it is restored."""
        return self._act(id, "archive", why)

    def restore(self, id: str, *, why: str = "") -> AnyRecord:
        """Brings back a fact that was archived, retracted or contradicted, or an episode that maintenance put aside.

        Beside a successor that stands, both are a conflict. What is back is as fresh and as certain as it was at first.
        """
        with self._ports.store.write() as w:
            record = w.record(self.scope, checks.text(id, "id"))
            if record is not None and not isinstance(record, Fact):
                if maintain.bring_back(self._ports, w, record, (checks.text(why, "why"), aging.SEEN), self._ports.clock.now()):
                    w.add_events(record.scope, [Event(record.id, "restored", self._ports.clock.now())])
                    return record
                raise BadValue(f"{id!r} is a {record.kind} that was not put aside.", hint="Pass the id of a fact, or of what is archived.")
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
        return self._now(learn.act(self._ports, self.scope, checks.text(id, "id"), learn.Step(op, checks.text(why, "why"))))  # type: ignore[arg-type]

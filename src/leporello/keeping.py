"""How long what is known is kept, as a handle's methods: uses, importance, pins, ends, maintenance and its undoing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from leporello.core import checks
from leporello.core.times import instant, micros
from leporello.errors import BadValue, NotFound
from leporello.flows import aging, maintain
from leporello.flows.aging import ages, as_aged
from leporello.flows.events import events
from leporello.flows.loop import Background
from leporello.flows.outlook import Asked, fit, outlook, simulate, variants
from leporello.flows.recall import Shelf
from leporello.policies import RetentionPolicy
from leporello.ports import AnyRecord, Ports, Reader
from leporello.records import Event, Fact, Scope
from leporello.results import Age, Fit, Hit, Maintenance, Outlook, Simulation, Undone

Moment = datetime | str | int | float
_MOST_DAYS = 36_500


def moment(value: Moment | None) -> datetime | None:
    """An instant as the API takes it."""
    return None if value is None else instant(value)


@dataclass(frozen=True)
class Keeping:
    """What a handle does about time: records fade unless they are used, supported or pinned, and what faded can be brought back."""

    scope: Scope
    _ports: Ports
    _shelf: Shelf
    _background: Background = field(default_factory=Background)

    def used(self, *hits: Hit | str) -> int:
        """Says that an answer drew on these hits (or ids): what is used is kept alive. How many uses counted.

        Being found or shown is no use. Uses of one record close together (`RetentionPolicy.gap`) count once.
        """
        return maintain.use(self._ports, self.scope, [_id_of(h) for h in hits])

    def keep(
        self, id: str, *, importance: str | None = None, pinned: bool | None = None, expires_at: Moment | Literal["never"] | None = None
    ) -> Age:
        """Sets how long a record is kept; what is None stays as it is. How it stands then.

        `importance` (high, medium or low) is a factor on its half-life; what is `pinned` never fades; from `expires_at` on it is out of
        recall, until "never" takes that back.
        """
        return maintain.keep(self._ports, self.scope, checks.text(id, "id"), kept(importance, pinned, expires_at))

    def age(self, id: str) -> Age:
        """How a record stands with time: its retention, confidence and status, and when it will be put aside if nothing happens."""
        with self._ports.store.read() as r:
            record = r.record(self.scope, checks.text(id, "id"))
            if record is None:
                raise NotFound(f"{id!r} is not in this scope.")
            row, policy = r.traces(record.scope, [id]).get(id) or aging.fresh(record), self._ports.policies.retention
            return aging.age(record, aging.timed(row, record, policy), policy=policy, at=micros(self._ports.clock.now()))

    def events(self, id: str) -> tuple[Event, ...]:
        """What happened to a record, oldest first: observed, retrieved, shown, used, confirmed, contradicted, archived, restored."""
        return events(self._ports, self.scope, checks.text(id, "id"))

    def maintain(self, *, dry_run: bool = False) -> Maintenance:
        """`Memory.maintain` for what this handle sees."""
        return maintain.maintain(self._ports, scope=self.scope, dry_run=checks.flag(dry_run, "dry_run"))

    def runs(self) -> tuple[Event, ...]:
        """The maintenance runs that moved something that this handle sees, oldest first: each with its name (`run`) and when it began."""
        return maintain.runs(self._ports, self.scope)

    def undo(self, run: str) -> Undone:
        """Brings back what a maintenance run put aside, as far as this handle sees it and nothing happened to it since."""
        return maintain.undo(self._ports, self.scope, checks.text(run, "run"))

    def outlook(self, *ids: str, days: int = 90, laws: Sequence[str] = ()) -> Outlook:
        """How the facts and episodes of this scope stand with time, and what fades or falls due if nothing happens. Writes nothing.

        With `ids` it is about these records, and holds their curves from their beginning to `days` ahead, under each of `laws`
        (names of `policies.LAWS`; without one, the law of the policy). `NotFound` for an id that is not in this scope.
        """
        logs = {i: events(self._ports, self.scope, i) for i in dict.fromkeys(checks.texts(ids, "ids"))}
        asked = Asked(logs, checks.count(days, "days", least=0, most=_MOST_DAYS), _laws(laws))
        return outlook(self._ports, self.scope, asked)

    def simulate(
        self, *, laws: Sequence[str] = (), half_lives: Sequence[float] = (), days: Sequence[int] = (30, 90, 365)
    ) -> Simulation:  # fmt: skip
        """What this scope's log would have come to under other laws and half-lives, now and after so many days more. Writes nothing."""
        ahead = sorted({checks.count(d, "days", least=1, most=_MOST_DAYS) for d in checks.numbers(days, "days")})
        lives = tuple(RetentionPolicy(half_life=h).half_life for h in checks.numbers(half_lives, "half_lives"))
        policies = variants(self._ports.policies.retention, _laws(laws), lives)
        return simulate(self._ports, self.scope, policies, ahead)

    def fit(self) -> Fit:
        """Fits half-life and decay of the law actr to what was shown and then used, or not. Writes nothing.

        The earlier 70 % of the outcomes are fitted, the later 30 % judge. `BadValue` for fewer than 50 outcomes, or all the same.
        """
        return fit(self._ports, self.scope)

    def _now(self, fact: Fact) -> Fact:
        """A fact with the confidence and the status that it has by now."""
        with self._ports.store.read() as r:
            return as_aged([fact], self._ages(r, [fact]))[0]

    def _ages(self, r: Reader, records: Sequence[AnyRecord]) -> dict[str, Age]:
        return ages(r, records, policy=self._ports.policies.retention, now=self._ports.clock.now())


def _laws(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else checks.texts(names, "laws")


def _id_of(hit: Hit | str) -> str:
    return hit.record.id if isinstance(hit, Hit) else checks.text(hit, "hit")


def kept(importance: str | None, pinned: bool | None, expires_at: Moment | None) -> maintain.Keep:
    """How long a record is to be kept, as the API takes it."""
    level = checks.importance(importance)
    if pinned is not None and not isinstance(pinned, bool):
        raise BadValue(f"pinned={pinned!r:.80} is neither True nor False.", hint="Pass True or False.")
    if expires_at == "never":
        return maintain.Keep(level, pinned, never=True)
    end = moment(expires_at)
    return maintain.Keep(level, pinned, None if end is None else micros(end))

"""What a loop knows of its session between two calls. All of it is stored, so that a resumed loop sends what it would have sent."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar, get_args

from leporello.records import Item, Record, Section, Span

T = TypeVar("T")


@dataclass(frozen=True)
class Plan(Record):
    """A fold that was decided and is not finished: messages up to position `start` leave the request; episodes end at `cuts`."""

    kind: str
    start: int
    cuts: tuple[int, ...] = ()
    why: str = ""


@dataclass(frozen=True)
class View(Record):
    """The past as it is sent: blocks of memory for what lies at or before position `start`, and the messages after it.

    It changes only when something folds, so the bytes of a request's beginning stay the same from call to call. `kind`: whole,
    flat, folded or native. `turn` and `turns`: the last turn folded away, and how many there were then. `goal`, `current`, `todos`:
    the first request, the newest one that was folded away and the list of tasks, verbatim. `carrier`: the newest request again,
    when no message of the user is left. `squeeze`: how hard long pieces are shortened. Media before `media_from` and thinking up
    to `thinking_from` stay behind. `prefix`: a hash of what stands before the messages. `recalled`: what was put beside which
    message, `[text, ids]` by position. `ids`: the records shown. `caps`: the room of one result, of one text, and for media, which
    stays the same too, however the estimate moves; empty when it is to be found anew.
    """

    kind: str = "whole"
    start: int = 0
    turn: int = 0
    turns: int = 0
    memory: tuple[str, ...] = ()
    goal: str = ""
    current: str = ""
    todos: str = ""
    carrier: str = ""
    items: tuple[Item, ...] = ()
    compactor: str = ""
    squeeze: int = 0
    media_from: int = 0
    thinking_from: int = 0
    prefix: str = ""
    recalled: Mapping[str, Any] = field(default_factory=dict)
    ids: tuple[str, ...] = ()
    native: Mapping[str, Any] | None = None
    caps: tuple[int, ...] = ()

    @property
    def shown(self) -> tuple[str, ...]:
        """The ids of all records that the view holds text of."""
        beside = [i for _, ids in self.recalled.values() for i in ids]
        return tuple(dict.fromkeys([*self.ids, *beside]))


@dataclass(frozen=True)
class Tally(Record):
    """Counts and standing orders of a loop. Tokens as the provider reported them, money in millionths of a US dollar.

    `sent`: the estimate of the last request, `waiting`: no reply to it was added yet. `pairs`: (estimated, reported) by model. `windows`: what a model's provider said
    its window is. `stuck`: the number of messages at which a fold was refused. `asked`: a fold that was ordered, and why.
    """

    requests: int = 0
    replies: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    written: int = 0
    micros: int = 0
    unpriced: int = 0
    peak: int = 0
    sent: int = 0
    waiting: bool = False
    sent_prefix: int = 0
    survived: int = 0
    folds: int = 0
    folded_messages: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    fallbacks: tuple[str, ...] = ()
    shortened: int = 0
    overflows: int = 0
    overflowed: int = 0
    stuck: int = 0
    phase: str = ""
    asked: str = ""
    model: str = ""
    wire: str = ""
    pairs: Mapping[str, Any] = field(default_factory=dict)
    windows: Mapping[str, int] = field(default_factory=dict)
    budget: Mapping[str, Any] = field(default_factory=dict)
    fold_input: int = 0
    fold_output: int = 0
    fold_micros: int = 0
    plan: Plan | None = None


def view_of(value: Mapping[str, Any] | None) -> View | None:
    """A stored view; names that this version does not know are left out."""
    if value is None:
        return None
    made = _known(View, value)
    made["items"] = tuple(i for v in made.get("items") or () if (i := item_of(v)) is not None)
    made["ids"] = tuple(made.get("ids") or ())
    made["memory"] = tuple(made.get("memory") or ())
    made["caps"] = tuple(made.get("caps") or ())
    return View(**made)


def tally_of(value: Mapping[str, Any]) -> Tally:
    """Stored counts."""
    made = _known(Tally, value)
    made["fallbacks"] = tuple(made.get("fallbacks") or ())
    plan = made.get("plan")
    if isinstance(plan, Mapping):
        held = _known(Plan, plan)
        made["plan"] = Plan(**{**held, "cuts": tuple(held.get("cuts") or ())})
    return Tally(**made)


def item_of(value: Mapping[str, Any]) -> Item | None:
    """An item from its JSON form."""
    made = _known(Item, value)
    if made.get("section") not in get_args(Section) or not isinstance(made.get("text"), str):
        return None
    made["spans"] = tuple(Span(**_known(Span, s)) for s in made.get("spans") or ())
    at = made.get("at")
    made["at"] = datetime.fromisoformat(at) if isinstance(at, str) else None
    return Item(**made)


def counted(held: Mapping[str, int], names: Sequence[str]) -> dict[str, int]:
    """`held` with one more for each name."""
    out = dict(held)
    for name in names:
        out[name] = out.get(name, 0) + 1
    return out


def _known(kind: type[Any], value: Mapping[str, Any]) -> dict[str, Any]:
    names = {f.name for f in dataclasses.fields(kind)}
    return {k: v for k, v in value.items() if k in names}

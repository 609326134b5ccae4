"""Messages of any origin as exchanges: sides that alternate, every call answered exactly once, right after it.

What came without its partner is repaired: a call without a result gets an error result that says so, a result without a call
is shown as text. A log that only grows gives exchanges that only grow, apart from repairs at its end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from leporello.core.blocks import is_user_side, role_of
from leporello.core.turns import pairs, shape_of
from leporello.core.wire.clipping import named
from leporello.core.wire.items import Answer, Call, Dialect, Item, Reading
from leporello.core.wire.names import Ids, is_legal
from leporello.core.wire.pieces import Caps, Piece, Sent, blank, pieces_of, scrub

MISSING = "No result was recorded for this call."
OPENING = "(The conversation continues from the memory above.)"
CONTINUE = "(Continue.)"
Place = tuple[int, int]


@dataclass
class Exchange:
    """What one side says in a row: the answers to the calls before it, and what is shown or called, in order."""

    user: bool
    answers: list[Answer] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    first_call: int | None = None


@dataclass(frozen=True)
class Held:
    """A message that is read: its side, its pieces, and how it is to go out."""

    user: bool
    pieces: list[Piece]
    sent: Sent


def exchanges(messages: Sequence[Sent | Mapping[str, Any]], dialect: Dialect, *, caps: Caps, head: str) -> list[Exchange]:
    """The exchanges of a request in `dialect`, the first and the last one the user's; empty for an empty log without a head."""
    held = [_held(m) for m in messages]
    answers = _answers(held)
    server = _server_places(held) if dialect.server else set()
    talk = _Talk(Reading(dialect, caps), Ids(dialect.ids), answers, server)
    if not blank(head):
        talk.hear(Item("text", -1, text=scrub(head)))
    for i, message in enumerate(held):
        if message.user:
            talk.user(i, message)
        else:
            talk.assistant(i, message)
    return _closed(talk)


def _held(message: Sent | Mapping[str, Any]) -> Held:
    sent = message if isinstance(message, Sent) else Sent(message)
    return Held(is_user_side(role_of(sent.original)), pieces_of(sent.original), sent)


def _is_item(piece: Piece, original: Mapping[str, Any]) -> bool:
    """True for an item of the Responses API or a part of a message item; a message of another API may have a type and an id too."""
    return piece.raw is original or (original.get("type") == "message" and piece.type in {"output_text", "refusal"})


def _closed(talk: _Talk) -> list[Exchange]:
    """The exchanges with a user's one first and last; after a paused turn the model itself goes on."""
    talk.close()
    out = talk.out
    if out and not out[0].user:
        out.insert(0, Exchange(True, items=[Item("text", -1, text=OPENING)]))
    if out and not out[-1].user and not out[-1].items[-1].pauses:
        out.append(Exchange(True, items=[Item("text", -1, text=CONTINUE)]))
    return out


@dataclass
class _Answers:
    """Place of each live call, and the place of its result where it has one; the results that are used."""

    calls: set[Place] = field(default_factory=set)
    by_call: dict[Place, Place] = field(default_factory=dict)
    used: set[Place] = field(default_factory=set)
    pieces: dict[Place, Piece] = field(default_factory=dict)
    sent: list[Sent] = field(default_factory=list)


def _answers(held: Sequence[Held]) -> _Answers:
    """Each call with its first result; a second result and one without a call stay unused."""
    out = _Answers(sent=[h.sent for h in held])
    shapes = [shape_of(not h.user, [p.part for p in h.pieces if not (p.server_use or p.server_result)]) for h in held]
    free: dict[tuple[int, str], list[Place]] = {}
    for i, h in enumerate(held):
        live = set(shapes[i].calls)
        for n, p in enumerate(h.pieces):
            if p.part.kind == "call" and p.part.id in live and not p.server_use:
                out.calls.add((i, n))
                free.setdefault((i, p.part.id), []).append((i, n))
    partners: dict[tuple[int, str], list[int]] = {}
    for call, result, call_id in pairs(shapes)[0]:
        partners.setdefault((result, call_id), []).append(call)
    for places in free.values():
        places.reverse()
    for i, h in enumerate(held):
        for n, p in enumerate(h.pieces):
            if p.part.kind == "result":
                calls = next((c for m in partners.get((i, p.part.id), ()) if (c := free.get((m, p.part.id)))), None)
                if calls:
                    out.by_call[calls.pop()] = (i, n)
                    out.used.add((i, n))
                    out.pieces[i, n] = p
    return out


def _server_places(held: Sequence[Held]) -> set[Place]:
    """Calls of tools that the provider runs which go out as they are: with their result, or open at the very end of the log.

    Between such a call and its result stand only what the model says and results of other calls.
    """
    kept: set[Place] = set()
    opened: dict[str, Place] = {}
    seen: set[str] = set()
    said: Place = (-1, -1)
    for i, h in enumerate(held):
        for n, p in enumerate(h.pieces):
            if h.user and p.part.kind != "result" and not (p.part.kind == "text" and blank(p.part.text)):
                opened.clear()
            elif p.part.kind == "call":
                if not h.user and p.server_use and is_legal(p.part.id) and p.part.id not in seen:
                    opened[p.part.id] = (i, n)
                seen.add(p.part.id)
            elif p.server_result and not h.user and p.part.id in opened:
                kept |= {opened.pop(p.part.id), (i, n)}
            elif p.part.kind not in {"thinking", "result"}:
                said = (i, n) if not blank(p.part.text) else said
        if h.user and not blank(h.sent.beside):
            opened.clear()
    return kept | {place for place in opened.values() if place > said}


@dataclass
class _Talk:
    """The exchanges so far. `pending` is thinking that goes out only together with what follows it on the model's side."""

    reading: Reading
    ids: Ids
    answers: _Answers
    server: set[Place]
    out: list[Exchange] = field(default_factory=list)
    pending: list[Item] = field(default_factory=list)
    stripped: bool = False

    def user(self, i: int, message: Held) -> None:
        """What a message of the user's side adds, apart from the results that stand with their calls."""
        for n, piece in enumerate(message.pieces):
            if (i, n) in self.answers.used:
                self.close()
                continue
            for item in self.reading.items(piece, message.sent, i, user=True):
                self.hear(item)
        if not blank(message.sent.beside):
            self.hear(Item("text", i, text=scrub(message.sent.beside)))

    def assistant(self, i: int, message: Held) -> None:
        """What a message of the model adds, its calls together with their results."""
        dialect = self.reading.dialect
        for n, piece in enumerate(message.pieces):
            native = message.sent.thinking and not self.stripped and (not dialect.bound or _is_item(piece, message.sent.original))
            if (i, n) in self.answers.calls:
                call = self._called(i, n, piece, message.sent)
                self.call(Item("call", i, call=call, native=native, raw=piece.raw))
            elif (i, n) in self.server:
                self.ids.take(piece.part.id)
                self.say(self.reading.own(piece, i, pauses=piece.server_use))
            elif piece.part.kind == "thinking":
                if message.sent.thinking and dialect.thinks(piece.raw):
                    self.pending.append(self.reading.own(piece, i, kind="thinking"))
                else:
                    self.stripped = True
            else:
                for item in self.reading.items(piece, message.sent, i, user=False, native=native):
                    self.say(item)

    def _called(self, i: int, n: int, piece: Piece, sent: Sent) -> Call:
        call = self.reading.call(piece, self.ids.take(piece.part.id), named(sent.id, piece.n))
        place = self.answers.by_call.get((i, n))
        if place is None:
            return replace(call, answer=Answer(call, (Item("text", i, text=MISSING),), error=True))
        result, of = self.answers.pieces[place], self.answers.sent[place[0]]
        return replace(call, answer=self.reading.answer(call, result, of, place[0]))

    def hear(self, item: Item) -> None:
        """An item of the user's side."""
        self.close()
        self._open(user=True).items.append(item)

    def call(self, item: Item) -> None:
        """A call; the model's other calls in a row go out with it."""
        here = self._open(user=False)
        self._lead(here, item.native)
        if here.first_call is None:
            here.first_call = len(here.items)
        here.items.append(item)

    def say(self, item: Item) -> None:
        """An item of the model's side that is no call: it stands before the calls of its message and after those of earlier ones."""
        here = self._open(user=False)
        if here.first_call is None:
            self._lead(here, item.native or item.kind == "own")
            here.items.append(item)
        elif here.items[-1].at == item.at:
            here.items.insert(here.first_call, item)
            here.first_call += 1
        else:
            led = self.pending
            self.close()
            self.pending = led
            here = self._open(user=False)
            self._lead(here, item.native or item.kind == "own")
            here.items.append(item)

    def close(self) -> None:
        """Ends what the model says in a row: the answers to its calls follow."""
        self.pending, self.stripped = [], False
        if self.out and not self.out[-1].user and self.out[-1].first_call is not None:
            calls = [item.call for item in self.out[-1].items if item.call is not None]
            self.out.append(Exchange(True, answers=[c.answer for c in calls if c.answer is not None]))

    def _lead(self, here: Exchange, native: bool) -> None:
        """Puts the thinking before what it led to; reasoning that is bound to the item after it goes only with that item."""
        if native or not self.reading.dialect.bound:
            here.items += self.pending
        self.pending = []

    def _open(self, *, user: bool) -> Exchange:
        if not self.out or self.out[-1].user != user:
            self.out.append(Exchange(user))
        return self.out[-1]

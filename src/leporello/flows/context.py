"""The context: the memory that a model gets to read, as ordered blocks within a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from leporello.core import pack, tokens, turns, wire
from leporello.core.compact import render_episode
from leporello.flows.recall import Question, Shelf, recall
from leporello.flows.shown import fact_pieces, hit_line, known_facts
from leporello.ports import Ports, Reader, SessionState
from leporello.records import Episode, Message, Record, Scope
from leporello.results import Block, Hit, Omitted

_RECALLED_TOKENS = 300
_EPISODE_TOKENS = 600
_PAGE = 100


@dataclass(frozen=True)
class Context(Record):
    """What a model gets to read. `text` is all blocks; `stable_prefix_tokens` counts those before the volatile ones.

    The blocks before `messages` change only when their records do, so a provider's prefix cache stays warm.
    """

    blocks: tuple[Block, ...]
    omitted: tuple[Omitted, ...]
    budget: int
    query: str | None = None

    @property
    def text(self) -> str:
        return "\n\n".join(b.text for b in self.blocks)

    @property
    def tokens(self) -> int:
        return sum(b.tokens for b in self.blocks) + tokens.estimate(self.query or "")

    @property
    def stable_prefix_tokens(self) -> int:
        return sum(b.tokens for b in self.blocks if b.kind in {"system", "pins", "facts", "episodes"})

    def for_anthropic(self) -> dict[str, Any]:
        """`{"system": [text blocks], "messages": […]}` for the Anthropic Messages API."""
        system = [{"type": "text", "text": b.text} for b in self.blocks if b.kind in {"system", "pins", "facts", "episodes"}]
        return {"system": system, "messages": wire.for_anthropic(self._sent())}

    def for_openai(self) -> dict[str, Any]:
        """`{"messages": […]}` for the OpenAI Chat Completions API."""
        system = "\n\n".join(b.text for b in self.blocks if b.kind in {"system", "pins", "facts", "episodes"})
        head = [{"role": "system", "content": system}] if system else []
        return {"messages": head + wire.for_openai(self._sent())}

    def _sent(self) -> list[Mapping[str, Any]]:
        """The messages, and last the recalled memory beside the question."""
        sent = [m for b in self.blocks if b.kind == "messages" for m in b.messages]
        last = [b.text for b in self.blocks if b.kind == "recalled"] + ([self.query] if self.query else [])
        return [*sent, {"role": "user", "content": [{"type": "text", "text": t} for t in last]}] if last else sent

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"text": self.text, "tokens": self.tokens, "stable_prefix_tokens": self.stable_prefix_tokens}


@dataclass(frozen=True)
class Wanted:
    """What a context is for: the question, the budget in tokens, the system prompt, the moment (see `recall`)."""

    query: str | None
    budget: int
    system: str = ""
    as_of: datetime | None = None
    believed_at: datetime | None = None


def context(ports: Ports, shelf: Shelf, scope: Scope, wanted: Wanted) -> Context:
    """The blocks for this scope. With a session, its unfolded messages are among them; tool calls and results stay together."""
    policy = ports.policies.context
    hits: Sequence[Hit] = ()
    if wanted.query and wanted.query.strip() and policy.recalled:
        asked = Question(wanted.query, k=policy.recalled * 3, as_of=wanted.as_of, believed_at=wanted.believed_at)
        found = recall(ports, shelf, scope, asked)
        hits = () if found.not_found else found
    with ports.store.read() as r:
        state = r.session(scope) if scope.session is not None else None
        pins = r.pins(scope)
        facts = known_facts(ports, r, scope, as_of=wanted.as_of, believed_at=wanted.believed_at)[: policy.facts]
        episodes = _episodes(r, scope, state, wanted)[-policy.episodes :] if policy.episodes else []
        now = wanted.as_of is None and wanted.believed_at is None
        tail, older = _tail(r, state, wanted.budget) if state is not None and now else ([], ())
    shown = {f.id for f in facts} | {e.id for e in episodes} | {m.id for m in tail}
    ports.shown.add([*facts, *episodes, *tail, *(h.record for h in hits)], ports.clock.now())
    pieces = {
        "facts": fact_pieces(facts),
        "episodes": [pack.Piece(e.id, pack.neutral(render_episode(e)), -e.number, _EPISODE_TOKENS) for e in episodes],
        "messages": _messages(tail),
        "recalled": [
            pack.Piece(h.record.id, hit_line(h), i, _RECALLED_TOKENS) for i, h in enumerate(h for h in hits if h.record.id not in shown)
        ][: policy.recalled],
    }
    reserved = {"system": wanted.system, "pins": pack.neutral("\n".join(f"- {p}" for p in pins)), "query": wanted.query or ""}
    blocks, omitted = pack.pack(pieces, budget=wanted.budget, reserved=reserved)
    return Context(blocks, (*omitted, *older), wanted.budget, wanted.query)


def _tail(r: Reader, state: SessionState, budget: int) -> tuple[list[Message], tuple[Omitted, ...]]:
    """The newest unfolded messages, as many as could ever have room, and one entry for those before them."""
    tail: list[Message] = []
    first = state.messages + 1
    while first > state.folded + 1 and sum(m.tokens for m in tail) <= budget:
        last, first = first - 1, max(state.folded + 1, first - _PAGE)
        tail = [*r.messages(state, first=first, last=last), *tail]
    if first <= state.folded + 1:
        return tail, ()
    count = first - state.folded - 1
    oldest = next(iter(r.messages(state, first=state.folded + 1, last=state.folded + 1)), None)
    why = f"this and later ones, {count} messages in all, are older than what could have room: fold the session"
    return tail, (Omitted(oldest.id if oldest else "", "messages", 0, why),)


def _episodes(r: Reader, scope: Scope, state: SessionState | None, wanted: Wanted) -> list[Episode]:
    found = r.episodes(scope, session=state) if state is not None else r.episodes(scope)
    return [
        e
        for e in found
        if e.layer == 2
        and (wanted.as_of is None or e.at <= wanted.as_of)
        and (wanted.believed_at is None or e.recorded_at <= wanted.believed_at)
    ]


def _messages(tail: Sequence[Message]) -> list[pack.Piece]:
    """Unfolded messages, newest units first to be admitted; a unit is what lies between two legal cuts."""
    shapes = turns.shapes(tail)
    starts = set(turns.legal_cuts(shapes))
    units: list[int] = []
    for i in range(len(tail)):
        units.append((units[-1] if units else -1) + (i in starts or not units))
    waiting = turns.pending(shapes)
    pieces = []
    for m, unit in zip(tail, units, strict=True):
        rank = (units[-1] if units else 0) - unit
        line = pack.neutral(f"{m.name or m.role}: {m.text}")
        pieces.append(pack.Piece(m.id, line, rank, unit=unit, message=m.original, tokens=m.tokens))
    return pieces if waiting is None else [p for p, u in zip(pieces, units, strict=True) if u < units[waiting]]

"""The demo: three days of a coding agent's work go in, fold, are found again and unfolded. Through the public API only."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from typing import Any

from rich import box
from rich.console import RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

import leporello
from leporello.entrypoints.commands_find import hit_json, hit_lines, quote_lines, record_head, turns_of
from leporello.entrypoints.commands_fold import layers_line
from leporello.entrypoints.output import Indented, body, clip, head
from leporello.errors import StoreUnreachable
from leporello.records import Episode, Fact, Message

SESSION = "charges"
QUESTION = "Why not use Redis for the idempotency keys?"
RULE = "Which database must never be touched?"
TASK = "What is left to do before the sale?"
BUDGET = 900
_SHOWN = (0, 1, 2, 3, 4)
_ID = re.compile(r"\b[mef]_[0-9a-f]{8,}")


@dataclass(frozen=True)
class Told:
    """What the demo saw, step by step."""

    title: str
    path: str | None
    messages: tuple[Message, ...]
    windowed: leporello.FoldReport
    closed: leporello.FoldReport
    layers: leporello.Layers
    episodes: tuple[Episode, ...]
    facts: tuple[Fact, ...]
    fact_tokens: int
    found: leporello.Recall
    explained: Any
    said: tuple[str, ...]
    context: Any

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON values."""
        return {
            "title": self.title,
            "db": self.path,
            "messages": len(self.messages),
            "layers": self.layers.to_dict(),
            "tokens": {"l1": _tokens(self.messages), "l2": _tokens(self.episodes), "l3": self.fact_tokens},
            "folds": [self.windowed.to_dict(), self.closed.to_dict()],
            "recall": {"query": self.found.query, "hits": [hit_json(h) for h in self.found], "not_found": self.found.not_found},
            "explained": self.explained.to_dict(),
            "context": self.context.to_dict(),
        }


@dataclass(frozen=True)
class _Stopped:
    """A clock that stands at the end of the conversation, so that every run is the same."""

    at: datetime

    def now(self) -> datetime:
        return self.at


def run(path: str | None, *, key: str | None = None) -> Told:
    """Runs the demo in a new file at `path`, or in a store that is gone afterwards. Raises `StoreUnreachable` if the file is there."""
    if path is not None and os.path.exists(path):
        raise StoreUnreachable(f"{path} exists already.", hint="The demo writes a new store: choose a path at which there is nothing yet.")
    conversation = json.loads((files("leporello.entrypoints") / "demo_conversation.json").read_text(encoding="utf-8"))
    drafts = [leporello.Draft(m["message"], at=datetime.fromisoformat(m["at"]), session=SESSION) for m in conversation["messages"]]
    assert drafts[-1].at is not None
    with tempfile.TemporaryDirectory() if path is None else nullcontext() as folder:
        place = path if folder is None else os.path.join(folder, "demo.db")
        with leporello.open(place or "", key=key, clock=_Stopped(drafts[-1].at)) as mem:
            return _run(mem, conversation["title"], path, drafts)


def _run(mem: leporello.Memory, title: str, path: str | None, drafts: list[leporello.Draft]) -> Told:
    shop = mem.scope(user="demo", project="shop")
    messages = tuple(shop.remember_many(drafts))
    session = shop.session(SESSION)
    windowed = session.fold()
    closed = session.close()
    facts = shop.facts()
    rule = shop.recall(RULE, k=1, kinds=("fact",))
    explained = shop.explain(rule[0].record.id if rule else facts[0].id)
    context = shop.narrow(session=SESSION).context(TASK, budget=BUDGET)
    whole = shop.context(budget=100_000)
    return Told(
        title=title, path=path, messages=messages, windowed=windowed, closed=closed, layers=session.layers(), episodes=session.episodes(), facts=facts,
        fact_tokens=sum(b.tokens for b in whole.blocks if b.kind == "facts"), found=shop.recall(QUESTION, k=3), explained=explained,
        said=tuple(shop.get(q.message).text for q in explained.quotes), context=context,
    )  # fmt: skip


def lines(told: Told) -> Iterator[RenderableType]:
    """The report for people."""
    for part in (_came_in, _folded, _found, _unfolded, _context, _next):
        yield from part(told)


def _title(number: int, text: str) -> Iterator[RenderableType]:
    yield ""
    yield Rule(Text(f"{number}. {text}", style="bold"), align="left")
    yield ""


def _came_in(told: Told) -> Iterator[RenderableType]:
    yield from _title(1, "What came in")
    calls = sum(b.get("type") == "tool_use" for m in told.messages for b in m.blocks if isinstance(b, dict))
    days = (told.messages[-1].at.date() - told.messages[0].at.date()).days + 1
    came = f": {len(told.messages)} messages in {told.layers.turns} turns, with {calls} tool calls, over {days} days."
    yield Indented(Text.assemble((told.title, "bold"), came), 0)
    yield "They are kept as they came, in one file. The first five:"
    yield ""
    for i in _SHOWN:
        m = told.messages[i]
        yield body(f"{m.role if m.trust != 'tool' else 'tool'}: {clip(m.text, at=140)}")


def _folded(told: Told) -> Iterator[RenderableType]:
    yield from _title(2, "How it folded")
    full = _tokens(told.messages)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name, justify in (("layer", "left"), ("holds", "left"), ("tokens", "right"), ("of the whole", "right")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    rows = (
        ("L1 turns, verbatim", f"{told.layers.turns} turns", full),
        ("L2 episodes", f"{len(told.episodes)} episodes", _tokens(told.episodes)),
        ("L3 facts", f"{len(told.facts)} facts", told.fact_tokens),
    )
    for layer, holds, tokens in rows:
        table.add_row(layer, holds, f"{tokens:,}", f"{100 * tokens / full:.0f} %")
    yield table
    w, c = told.windowed, told.closed
    if w.turns:
        gain = f"{w.tokens_before:,} tokens became {w.tokens_after:,}"
        yield _say(f"The window (20 turns or 30,000 tokens) was passed: {turns_of(w.turns)} folded, {gain}.")
    if c.turns:
        yield _say(f"Closing the session folded {turns_of(c.turns)} as well and kept {len(c.facts)} facts.")
    yield _say(f"Each turn is in one layer. {layers_line(told.layers)}.")
    yield ""
    for e in told.episodes:
        yield head((turns_of(e.turns), "bold"), f"{e.replaced_tokens:,} tokens before, {e.tokens:,} after")
        yield body(clip(e.summary, at=230))
    yield ""
    for f in told.facts:
        yield head((f.fact_kind, "cyan"), (f"since {f.at:%Y-%m-%d}, confidence {f.confidence:g}", "dim"))
        yield body(clip(f.text, at=230))


def _found(told: Told) -> Iterator[RenderableType]:
    yield from _title(3, "Found again, with reasons")
    yield Text.assemble("Asked: ", (told.found.query, "bold"))
    yield ""
    yield from hit_lines(told.found, ids=False)


def _unfolded(told: Told) -> Iterator[RenderableType]:
    yield from _title(4, "One fact unfolded, down to its characters")
    fact = told.explained.record
    yield head(*record_head(fact, ids=False))
    yield body(fact.text)
    for e in told.explained.episodes:
        yield head("from", *record_head(e, ids=False))
        yield body(clip(e.summary))
    for quote, text in zip(told.explained.quotes, told.said, strict=True):
        yield from quote_lines(quote, text, ids=False)


def _context(told: Told) -> Iterator[RenderableType]:
    yield from _title(5, "What an agent would read")
    made = told.context
    yield Text.assemble("Asked: ", (TASK, "bold"))
    yield _say(
        f"{made.tokens} of {made.budget} tokens, {made.stable_prefix_tokens} of them in the stable prefix; "
        f"{len(made.omitted)} records had no room. Ids are shortened here."
    )
    yield ""
    yield body(_ID.sub(lambda m: m[0][:2] + "…", made.text))


def _next(told: Told) -> Iterator[RenderableType]:
    yield from _title(6, "Try next")
    if told.path is None:
        yield "leporello demo --db demo.db"
        yield 'leporello recall "Who runs migrations?" --db demo.db --user demo --project shop'
    else:
        yield f'leporello recall "Who runs migrations?" --db {told.path} --user demo --project shop'
        yield f"leporello compact --session {SESSION} --db {told.path} --user demo --project shop"


def _say(text: str) -> RenderableType:
    return body(text, indent=0)


def _tokens(records: tuple[Message, ...] | tuple[Episode, ...]) -> int:
    return sum(r.tokens for r in records)

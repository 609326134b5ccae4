"""What a long agent loop costs and keeps, by policy: real requests to the local provider, which counts and caches as providers do.

    leporello bench loop [--turns 2000] [--window 200000] [--transcripts FOLDER] [--limit 400]

Rows: `full`, the whole history (up to the window, and as if there were no end to it: by arithmetic, at the best case of a cache
that never misses); `sliding`, the newest messages that fit, nothing remembered; `flat fresh` and `flat same-prefix`, one summary
by a model, in a request of its own or as a fork of the last request; `flat` and `folded` by the extractive compactor. The words of
the model that summarises are the extractive compactor's, as JSON. Columns: requests that were rejected; tokens billed in thousands (input anew 1, read
from the cache 0.1, written to it 1.25, the compactor's requests included), without output, which is the same for all but the
summaries; the largest request; folds; the share of needed identifiers in the request after each fold, and in every 50th request; the
share of pinned texts over all requests. An identifier is needed if the model uses it within the next 30 turns before it is shown
again, and has met it before.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import leporello
from leporello.adapters.extractive import ExtractiveCompactor
from leporello.adapters.models import compactor
from leporello.bench.loop_sessions import Step, made_up, names, replayed
from leporello.core import wire
from leporello.core.loop import measure
from leporello.core.loop.settings import Mode
from leporello.core.turns import legal_cuts, shape
from leporello.records import Compact, Message
from leporello.session import Session
from leporello.testing.provider import LocalProvider, Reply, Turn
from leporello.testing.provider.model import count_text

SYSTEM = "You are a careful coding agent. " * 60
TOOLS: tuple[Mapping[str, Any], ...] = tuple(
    {"name": n, "description": f"Runs {n}. " * 30, "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}}
    for n in ("read", "edit", "bash", "grep")
)
PINS = ("Never touch the production database.", "Answer in British English.", "Every migration has a way back.")
POLICIES = ("full", "sliding", "flat fresh", "flat same-prefix", "flat", "folded")
_HORIZON, _EVERY = 30, 50
_WARM = 5
_TOLD = {"goal", "state", "decision", "constraint", "eliminated", "open", "next", "result"}


@dataclass
class Row:
    """What one policy came to."""

    policy: str
    turns: int = 0
    rejected: int = 0
    billed: float = 0.0
    peak: int = 0
    folds: int = 0
    kept: list[float] = field(default_factory=list)
    always: list[float] = field(default_factory=list)
    pins: list[float] = field(default_factory=list)
    note: str = ""

    def line(self, full: float) -> str:
        """The row of the table."""
        share = f"{100 * self.billed / full:.1f}%" if full else ""
        cells = (
            f"{self.billed / 1000:,.0f}",
            share,
            f"{self.peak:,}",
            str(self.folds),
            _percent(self.kept),
            _percent(self.always),
            _percent(self.pins),
        )
        return f"{self.policy:<17}{self.turns:>6}{self.rejected:>9}" + "".join(f"{c:>11}" for c in cells) + f"  {self.note}"


HEAD = f"{'policy':<17}{'turns':>6}{'rejected':>9}" + "".join(
    f"{c:>11}" for c in ("billed k", "of endless", "peak", "folds", "needed@fold", "needed@50", "pins")
)


def loop(*, turns: int = 2_000, window: int = 200_000, sessions: Mapping[str, Sequence[Step]] | None = None) -> Iterator[str]:
    """Lines of the tables, one table for each session."""
    chosen = sessions or {f"{turns} turns, made up": made_up(turns)}
    for name, steps in chosen.items():
        yield f"{name}: {len(steps)} turns, window {window:,}"
        yield HEAD
        rows = [_full(steps, window), _endless(steps)]
        full = rows[-1].billed
        yield from (r.line(full) for r in rows)
        for policy in POLICIES[1:]:
            row = run(policy, steps, window)
            rows.append(row)
            yield row.line(full)
        flats = [r.billed for r in rows if r.policy in {"flat fresh", "flat same-prefix"}]
        folded = rows[-1].billed
        yield f"folded / endless full history {100 * folded / full:.1f} %; folded / the better flat by model {100 * folded / min(flats):.1f} %"
        yield ""


def transcripts(folder: str, *, least: int = 60, most: int = 400) -> dict[str, list[Step]]:
    """The sessions of a folder of transcripts with at least so many turns, by file, `most` turns of each."""
    out: dict[str, list[Step]] = {}
    for path in sorted(p for p in Path(folder).rglob("*") if p.is_file()):
        with tempfile.TemporaryDirectory() as aside, leporello.open(":memory:", embedder="hash") as mem:
            try:
                mem.import_(path, quarantine=Path(aside) / "aside")
            except leporello.LeporelloError:
                continue
            for info in mem.scope().sessions():
                steps = replayed([m.original for m in mem.scope().session(info).messages()])
                if len(steps) >= least:
                    out[f"{path.parent.name}/{path.name.split('.')[0]} {info.name or ''}"[:60]] = steps[:most]
    return out


def run(policy: str, steps: Sequence[Step], window: int) -> Row:
    """One policy over one session."""
    row = Row(policy, len(steps))
    script = _Script(steps)
    with LocalProvider(window=window, count=lru_cache(200_000)(count_text)) as provider:
        provider.reply = script.say
        client = provider.anthropic()
        with leporello.open(":memory:", embedder="hash", compactor=_compactor(policy, client, window)) as mem:
            if policy == "sliding":
                agent: Any = _Sliding(window)
            else:
                mode: Mode = "folded" if policy == "folded" else "flat"
                agent = mem.scope(user="bench").session("s", system=SYSTEM, tools=TOOLS, window=window, mode=mode, model="m", recall=False)
                for pin in PINS:
                    agent.pin(pin)
                script.session = agent
            _drive(agent, script, row, client)
        row.rejected, row.peak, row.billed = len(provider.rejected), provider.peak, provider.billed()
    return row


def _drive(agent: Any, script: _Script, row: Row, client: Any) -> None:
    folds = 0
    for i, step in enumerate(script.steps):
        script.at = i
        if step.user:
            agent.add(step.user)
        body = agent.request("anthropic")
        now = agent.report().folds
        text = json.dumps({k: body.get(k) for k in ("system", "messages")}, ensure_ascii=False) if now != folds or i % _EVERY == 0 else ""
        if text and i > _WARM:
            needed = script.needed(i)
            if needed:
                share = len(needed & names(text)) / len(needed)
                row.always += [share] if i % _EVERY == 0 else []
                row.kept += [share] if now != folds else []
        folds = now
        if i % 10 == 0:
            shown = text or json.dumps(body.get("system"), ensure_ascii=False)
            row.pins.append(sum(p in shown for p in PINS) / len(PINS))
        reply = client.messages.create(model="m", max_tokens=2_000, **body)
        agent.add(reply)
        calls = [b for b in reply.content if b.type == "tool_use"]
        if calls:
            agent.add(
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": c.id, "content": r} for c, r in zip(calls, step.results, strict=True)
                    ],
                }
            )
    row.folds = folds


class _Script:
    """The model's part: the words of each step, and for a compactor's request a summary by rules."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = steps
        self.at = 0
        self.session: Session | None = None
        self._met: list[frozenset[str]] = []
        met: set[str] = set()
        for s in steps:
            self._met.append(frozenset(met))
            met |= s.used | s.shown

    def say(self, turn: Turn) -> Reply:
        """What the model says to this request."""
        if self.session is not None and _asks_for_summary(turn.body):
            return Reply(json.dumps(self._summary()))
        step = self.steps[self.at]
        return Reply(step.text, step.calls) if step.text or step.calls else Reply("(nothing)")

    def needed(self, i: int) -> set[str]:
        """What the model uses in the next turns, has met before turn `i`, and is not shown again before."""
        seen: set[str] = set()
        out: set[str] = set()
        for step in self.steps[i : i + _HORIZON]:
            user = step.shown if step.user else frozenset()
            out |= (step.used - seen - names(step.user)) & self._met[i]
            seen |= user | step.used | step.shown
        return out

    def _summary(self) -> dict[str, Any]:
        assert self.session is not None
        messages: list[Message] = list(self.session.messages())
        items = ExtractiveCompactor().compact(messages[-400:], prior=self._prior(), tokens=2_500)
        told = Compact(self.session.scope, "", 0, tuple(items), 0, "bench").schema()
        rest = {f"{i.section} {n}": i.text for n, i in enumerate(items) if i.section not in _TOLD}
        return {**told, "relevant_tool_results": {**told["relevant_tool_results"], **rest}}

    def _prior(self) -> Any:
        assert self.session is not None
        last = self.session.last_compact()
        return last.items if last else ()


class _Sliding:
    """The newest messages that fit into half of what triggers, whenever the window's share is reached; nothing is remembered."""

    def __init__(self, window: int) -> None:
        self._most = int(window * 0.7)
        self._log: list[Mapping[str, Any]] = []
        self._system = [SYSTEM, "\n".join(PINS)]
        self.folds = 0

    def add(self, value: Any) -> None:
        """Keeps a message."""
        if isinstance(value, str):
            self._log.append({"role": "user", "content": value})
        elif isinstance(value, Mapping):
            self._log.append(value)
        else:
            self._log.append({"role": "assistant", "content": [b.model_dump(exclude_unset=True) for b in value.content]})

    def report(self) -> _Sliding:
        """Itself: `folds` counts how often it dropped the oldest."""
        return self

    def request(self, kind: str) -> dict[str, Any]:
        """The request of what is left."""
        sizes = [measure.raw(m) for m in self._log]
        if sum(sizes) * 1.3 > self._most:
            cuts = legal_cuts([shape(m) for m in self._log])
            cut = next((c for c in cuts if sum(sizes[c:]) * 1.3 <= self._most // 2), cuts[-1])
            self._log = self._log[cut:]
            self.folds += 1
        system = [{"type": "text", "text": t} for t in self._system]
        system[-1] = {**system[-1], "cache_control": {"type": "ephemeral"}}  # type: ignore[dict-item]
        return {"system": system, "messages": wire.for_anthropic(self._log, breakpoints=True), "tools": list(TOOLS)}


def _compactor(policy: str, client: Any, window: int) -> Any:
    if policy in {"flat fresh", "flat same-prefix"}:
        return compactor("anthropic:m", client=client, fork=policy.removeprefix("flat "), window=window)
    return "extractive"


def _asks_for_summary(body: Mapping[str, Any]) -> bool:
    system = body.get("system")
    first = system if isinstance(system, str) else "".join(b.get("text", "") for b in system or ())
    last = body["messages"][-1]["content"]
    text = last if isinstance(last, str) else str(last[-1].get("text", ""))
    return not first.startswith(SYSTEM[:40]) or "JSON" in text


def _steps_tokens(steps: Sequence[Step]) -> tuple[int, list[int]]:
    provider = LocalProvider(count=lru_cache(200_000)(count_text))
    base = provider.tokens({"system": SYSTEM + "\n".join(PINS), "tools": list(TOOLS)})
    sizes = []
    for s in steps:
        blocks = [
            {"type": "text", "text": s.text},
            *({"name": n, "input": dict(a)} for n, a in s.calls),
            *({"content": r} for r in s.results),
        ]
        sizes.append(provider.tokens({"messages": [{"content": s.user}, {"content": blocks}]}))
    return base, sizes


def _full(steps: Sequence[Step], window: int) -> Row:
    """The whole history until it is over the window."""
    base, sizes = _steps_tokens(steps)
    total, turns = base, 0
    for size in sizes:
        if total > window:
            break
        total += size
        turns += 1
    row = _arithmetic("full", base, sizes[:turns])
    row.rejected = int(turns < len(steps))
    row.note = f"stops at turn {turns}" if turns < len(steps) else ""
    return row


def _endless(steps: Sequence[Step]) -> Row:
    base, sizes = _steps_tokens(steps)
    return _arithmetic("full, endless", base, sizes)


def _arithmetic(policy: str, base: int, sizes: Sequence[int]) -> Row:
    row = Row(policy, len(sizes))
    total = base
    for n, size in enumerate(sizes):
        row.billed += 1.25 * base if n == 0 else 0.1 * (total - sizes[n - 1]) + 1.25 * sizes[n - 1]
        total += size
    row.peak = total
    row.note = "by arithmetic"
    return row


def _percent(values: Sequence[float]) -> str:
    return f"{100 * statistics.fmean(values):.1f}%" if values else "-"


def main() -> None:
    """The command line of this bench."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=2_000, help="turns of the made-up session (default 2000)")
    parser.add_argument("--window", type=int, default=200_000, help="the model's window in tokens (default 200000)")
    parser.add_argument("--transcripts", help="a folder of transcripts to replay instead")
    parser.add_argument("--limit", type=int, default=400, help="the most turns of a transcript that are replayed (default 400)")
    given = parser.parse_args()
    found = transcripts(given.transcripts, most=given.limit) if given.transcripts else None
    for line in loop(turns=given.turns, window=given.window, sessions=found):
        print(line, flush=True)


if __name__ == "__main__":
    main()

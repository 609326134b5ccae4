"""Sessions for the loop's bench: a long tool-using one that is made up, and real transcripts step by step."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from leporello.core.blocks import is_user_side, parts_of, role_of

_PATH = re.compile(r"(?:[\w.@-]+/)+[\w.@-]+\.\w{1,6}|\b[\w-]+\.(?:py|ts|go|rs|js|md|sql|json|toml|yml|txt)\b")
_NAME = re.compile(r"\b(?:[a-z]+(?:[A-Z][a-z0-9]+)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|[a-zA-Z0-9]+(?:_[a-zA-Z0-9]+)+)\b")
_CODE = re.compile(r"\b(?:[A-Z]{2,6}-\d+|v\d+\.\d+\.\d+|(?=[0-9a-f]*\d)[0-9a-f]{7,40})\b")
_PARTS = ("billing", "orders", "search", "auth", "mail", "stock", "report", "sync")
_WORDS = ("cache", "retry", "ledger", "invoice", "session", "token", "index", "queue", "batch", "audit", "quota", "lease", "route", "shard")
_VERBS = ("load", "apply", "merge", "check", "split", "close", "renew", "trace", "parse", "flush")


def names(text: str) -> set[str]:
    """File names, code identifiers, ticket numbers, versions and hashes in a text."""
    found = {m.rsplit("/", 1)[-1] for m in _PATH.findall(text)}
    found |= {m for m in _NAME.findall(text) if len(m) >= 6}
    return found | set(_CODE.findall(text))


@dataclass(frozen=True)
class Step:
    """One exchange: what the user says, if anything, what the model answers, and what its tools return."""

    user: str = ""
    text: str = ""
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    results: tuple[str, ...] = ()
    used: frozenset[str] = field(default=frozenset(), repr=False)
    shown: frozenset[str] = field(default=frozenset(), repr=False)


def step(user: str = "", text: str = "", calls: Sequence[tuple[str, Mapping[str, Any]]] = (), results: Sequence[str] = ()) -> Step:
    """A step with the names that the model uses in it, and those that it is shown."""
    said = "\n".join([text, *(str(v) for _, a in calls for v in a.values())])
    return Step(user, text, tuple(calls), tuple(results), frozenset(names(said)), frozenset(names("\n".join([user, *results]))))


def made_up(turns: int, *, seed: int = 7) -> list[Step]:
    """A coding session of so many turns: tasks of about 40 turns, files that come back after long, decisions with reasons."""
    rng = random.Random(seed)
    files: list[tuple[str, list[str]]] = []
    out: list[Step] = []
    while len(out) < turns:
        work = [_file(rng) for _ in range(rng.randint(3, 6))]
        old = files[:]
        files += work
        ticket = f"{rng.choice(('PAY', 'OPS', 'WEB'))}-{rng.randint(100, 9999)}"
        path, functions = work[0]
        asked = (
            f"Please work on {ticket}: `{functions[0]}` in {path} {rng.choice(('fails at night', 'is slow', 'loses rows', 'raises twice'))}. "
            f"Keep the public names as they are, and {rng.choice(('add a test', 'write it down in NOTES.md', 'tell me the cause first'))}."
        )
        length = rng.randint(30, 50)
        for n in range(length):
            out.append(_turn(rng, work, old, ticket, asked if n == 0 else "", last=n == length - 1))
    return out[:turns]


def _file(rng: random.Random) -> tuple[str, list[str]]:
    part, word, more = rng.choice(_PARTS), rng.choice(_WORDS), rng.choice(_WORDS)
    path = f"src/{part}/{word}_{more}{rng.randint(1, 99)}.py"
    return path, [f"{rng.choice(_VERBS)}_{rng.choice(_WORDS)}_{rng.choice(_WORDS)}{rng.randint(1, 99)}" for _ in range(6)]


def _turn(rng: random.Random, work: list[Any], old: list[Any], ticket: str, asked: str, *, last: bool) -> Step:
    chosen = rng.random()
    path, functions = rng.choice(work) if chosen < 0.7 or not old else rng.choice(old[-30:]) if chosen < 0.9 else rng.choice(old)
    function = rng.choice(functions)
    if last:
        return step(
            asked,
            f"{ticket} is done: the cause was that `{function}` in {path} kept a stale value. I decided to clear it in `{functions[0]}` "
            f"because the callers rely on it, and did not use a lock, since it would block the nightly run. All tests pass.",
        )
    kind = rng.choice(("read", "read", "edit", "test", "grep"))
    if kind == "read":
        return step(asked, f"I look at `{function}` in {path}.", [("read", {"path": path})], [_source(rng, path, functions)])
    if kind == "edit":
        call = {"path": path, "old": f"    return {function}(value)", "new": f"    return {function}(value, strict=True)"}
        return step(asked, f"I change `{function}` because {ticket} comes from there.", [("edit", call)], [f"{path}: 1 change written."])
    if kind == "grep":
        hits = "\n".join(f"{p}:{rng.randint(3, 300)}: {rng.choice(f)}(value)" for p, f in rng.choices(work, k=12))
        return step(asked, f"Where is `{function}` used?", [("grep", {"pattern": function})], [hits])
    failed = f"FAILED {path.replace('src', 'tests')}::test_{function} - ValueError: E{rng.randint(100, 999)} in {function}\n"
    log = "\n".join(f"tests/{rng.choice(_PARTS)}/test_{rng.choice(_WORDS)}.py .... [{n}%]" for n in range(5, 100, 5))
    return step(asked, "I run the tests.", [("bash", {"command": f"pytest {path.replace('src', 'tests')}"})], [log + "\n" + failed])


def _source(rng: random.Random, path: str, functions: Sequence[str]) -> str:
    lines = [f'"""{path}: part of the {rng.choice(_WORDS)} handling."""', ""]
    for f in functions:
        lines += [f"def {f}(value, *, strict=False):", f'    """Takes a {rng.choice(_WORDS)} and gives the {rng.choice(_WORDS)}."""']
        lines += [
            f"    if value is None and {rng.choice(('strict', 'not strict'))}:",
            f"        raise ValueError('{rng.choice(_WORDS)} missing')",
        ]
        lines += [f"    total = value * {rng.randint(2, 90)} + {rng.randint(1, 999)}" for _ in range(rng.randint(2, 6))]
        lines += [f"    return {rng.choice(functions)}(total)", ""]
    return "\n".join(lines)


def replayed(messages: Sequence[Mapping[str, Any]]) -> list[Step]:
    """A logged session as steps: what the user said, the model's next words and calls, and what these got."""
    out: list[Step] = []
    waiting: list[str] = []
    text: list[str] = []
    calls: list[tuple[str, Mapping[str, Any]]] = []
    results: list[str] = []

    def close() -> None:
        if text or calls:
            held = [*results[: len(calls)], *["(no result)"] * (len(calls) - len(results))]
            out.append(step("\n".join(waiting), "\n".join(text), calls, held))
            for held_list in (waiting, text, calls, results):
                held_list.clear()

    for message in messages:
        parts = parts_of(message)
        if is_user_side(role_of(message)):
            results += [p.text for p in parts if p.kind == "result"]
            said = [p.text for p in parts if p.kind == "text" and p.text.strip()]
            if said:
                close()
                waiting += said
        else:
            if results:
                close()
            text += [p.text for p in parts if p.kind == "text" and p.text.strip()]
            calls += [(p.name or "tool", {"arguments": p.text}) for p in parts if p.kind == "call"]
    close()
    return out

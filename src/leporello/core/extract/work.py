"""An agent's work as steps: what it said that it would do, what it then did, and what came of it.

A step is the agent's own narration followed by its calls. The most recent call of each tool is quoted as it was made, so
that whoever goes on can make the same call; earlier ones are told in words with what they changed.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from leporello.core.blocks import parts
from leporello.core.extract import cues
from leporello.core.extract.calls import Call, brief, code, command, decode, phrase, said, shape, signature, steps
from leporello.core.extract.names import base, files, names
from leporello.core.extract.sentences import Sentence, excerpt, hide, sentences
from leporello.records import Item, Message, Part, Span

MOST_ACTS = 4
AGAIN = 0.1
"""What a name is still worth in an older quotation once a newer one holds it."""
LEAST = 90
"""Characters of an old change that are quoted."""
_FORMS = ("The tools were called last in these forms:", "Other calls of tools had the forms", "Some were also called as follows:")
_COUNT = re.compile(r"^\W*\d+ (?:passed|failed|errors?)\b", re.IGNORECASE)
_FAILURE = re.compile(
    r"\b(?:error|failed|failure|fail|exception|panic|traceback|fatal|cannot|undefined|denied|not found|no such|timed out|assert\w*|expected|refused|conflict)\b|错误|失败|エラー|ошибка",
    re.IGNORECASE,
)
_PASSED = re.compile(
    r"\b\d+ (?:passed|failed|tests?|issues?|errors?|warnings?|files? changed)\b|^(?:ok|PASS|FAIL)\b|\ball (?:tests )?pass|^\[[\w/.-]+ [0-9a-f]{7,}\]",
    re.IGNORECASE | re.MULTILINE,
)
_REFUSED = re.compile(r"doesn't want to proceed|user rejected|tool use was rejected|interrupted by user|requires approval", re.IGNORECASE)


@dataclass
class Step:
    """One step: narration (sentences of one message), calls with their messages, results by call id."""

    message: Message
    narration: list[Sentence] = field(default_factory=list)
    acts: list[tuple[Message, Call]] = field(default_factory=list)


@dataclass(frozen=True)
class Result:
    """A tool's answer: its message, part and the call that it answers (None when unknown)."""

    message: Message
    part: Part
    call: Call | None


@dataclass
class Work:
    """What the messages hold of work: steps in order, results in order."""

    steps: list[Step] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)


def gather(messages: Sequence[Message]) -> Work:
    """The steps and the results of `messages`."""
    work = Work()
    made: dict[str, Call] = {}
    for message in messages:
        for part in parts(message):
            if part.kind == "text" and message.role == "assistant":
                told = narration(part)
                if told:
                    work.steps.append(Step(message, told))
            elif part.kind == "call":
                call = decode(part)
                made[part.id] = call
                if not work.steps or len(work.steps[-1].acts) >= MOST_ACTS:
                    work.steps.append(Step(message))
                work.steps[-1].acts.append((message, call))
            elif part.kind == "result":
                work.results.append(Result(message, part, made.get(part.id)))
            elif part.kind == "text" and part.text.strip():
                work.steps.append(Step(message))
    work.steps = [s for s in work.steps if s.acts]
    return work


def narration(part: Part) -> list[Sentence]:
    """The last sentences of an agent's text: what it says before it calls a tool."""
    found: list[Sentence] = []
    for offset, text in excerpt(hide(part.text)):
        found = sentences(text, part.start + offset) or found
    return found[-2:] if len(found) > 1 and len(found[-1].text) < 120 and not found[-2].item else found[-1:]


Place = tuple[str, int]
"""A message's id and where in it a sentence ends."""


def step_items(work: Work, *, detail: int, worth: Mapping[str, float], told: frozenset[Place] = frozenset()) -> list[Item]:
    """One item a step, in order. `detail` is how many characters of a recent change are quoted; with 0 nothing is.

    `told` are the sentences that are told elsewhere and are left out of the narration.
    """
    outcome = {id(r.call): r for r in work.results if r.call}
    out = []
    changes = 0
    left = dict(worth)
    for step in reversed(work.steps):
        room = max(LEAST, int(detail * 0.82**changes)) if detail else 0
        changes += sum(c.verb in {"change", "write"} for _, c in step.acts)
        step.narration = [s for s in step.narration if (step.message.id, s.end) not in told and not s.text.endswith(("?", "？"))]
        item = _item(step, room=room * 2 if changes <= 2 else room, outcome=outcome, worth=left)
        if item:
            out.append(item)
            left.update((name, left[name] * AGAIN) for name in names(item.text) if name in left)
    return out[::-1]


def _item(step: Step, *, room: int, outcome: dict[int, Result], worth: Mapping[str, float]) -> Item | None:
    told = " ".join(" ".join(s.text.split()) for s in step.narration).replace("**", "").rstrip(":")
    acts: list[str] = []
    places = [Span(step.message.id, s.start, s.end, step.message.turn) for s in step.narration]
    for message, call in step.acts:
        if call.verb == "plan":
            continue
        act = phrase(call, room, worth) if room else brief(call)
        if act and act not in acts:
            acts.append(act + _came_of(outcome.get(id(call)), found=room > LEAST))
            places.append(Span(message.id, *call.place, message.turn))
    if not acts and (not names(told) or (not room and cues.NARRATION.match(told))):
        return None
    text = _sentence(told, acts)
    changed = any(c.verb in {"change", "write"} for _, c in step.acts)
    weight = (1.2 if changed else 0.6) + (0.4 if told else 0.0)
    at = step.message.at
    key = next((p for _, c in step.acts for p in c.paths), "")
    return Item("work", text, key=key, spans=tuple(places), weight=weight, trust="agent", at=at)


def _sentence(told: str, acts: list[str]) -> str:
    done = "; ".join(acts)
    if not told:
        return done[:1].upper() + done[1:]
    return f"{told} — {done}" if done else told


def form_items(work: Work, worth: Mapping[str, float]) -> list[Item]:
    """How the tools were called last: the names of their arguments, so that whoever goes on can make the same calls."""
    newest: dict[str, tuple[Message, Call]] = {}
    for step in work.steps:
        for message, call in step.acts:
            if call.arguments:
                newest.pop(shape(call), None)
                newest[shape(call)] = (message, call)
    forms = sorted(newest.values(), key=lambda f: -sum(worth.get(n, 0.0) for n in names(signature(f[1]))))[:8]
    out = []
    for n in range(0, len(forms), 3):
        some = [f for f in forms[n : n + 3] if names(signature(f[1]))]
        if some:
            text = f"{_FORMS[n // 3]} {', '.join(dict.fromkeys(signature(call) for _, call in some))}."
            places = tuple(Span(m.id, *call.place, m.turn) for m, call in some)
            out.append(Item("work", text, spans=places, weight=0.5, trust="agent", at=some[0][0].at))
    return out


def _came_of(result: Result | None, *, found: bool) -> str:
    if result is not None and result.call is not None and result.call.verb == "search":
        known = {base(p) for p in result.call.paths}
        places = [p for p in dict.fromkeys(map(base, files(result.part.text[:4000]))) if p not in known]
        return f" (found in {', '.join(places[:3])}{' …' if len(places) > 3 else ''})" if places and found else ""
    if result is None or result.call is None or result.call.verb not in {"run", "change", "write", "delegate"}:
        return ""
    if result.part.error:
        if _REFUSED.search(result.part.text[:2000]):
            return " (the user refused this call)"
        return " (failed)"
    tail = result.part.text[-3000:]
    passed = _PASSED.search(tail) if result.call.verb == "run" else None
    if passed is None:
        return ""
    start, end = tail.rfind("\n", 0, passed.start()) + 1, tail.find("\n", passed.end())
    return f" ({' '.join(tail[start : end if end >= 0 else None].split())[:80]})"


def failure_line(text: str) -> tuple[int, int, str] | None:
    """The last line of an output that tells of a failure, with its place; the last line if none does (D9)."""
    start = max(0, len(text) - 6000)
    best: tuple[int, int, str] | None = None
    last: tuple[int, int, str] | None = None
    for line in re.finditer(r"[^\n]+", text[start:]):
        mark = re.match(r"\s*(?:E {2,})?", line.group())
        skip = mark.end() if mark else 0
        shown = line.group()[skip:].strip()
        if len(shown) < 6:
            continue
        here = (start + line.start() + skip, start + line.end(), " ".join(shown.split()))
        last = here
        if _FAILURE.search(shown) and not (best and _COUNT.search(shown)):
            best = here
    return best or last


def error_items(work: Work) -> list[Item]:
    """What failed, in the tools' own words: the last failing line of each failed call, once; less when the call worked later."""
    out: list[Item] = []
    seen: set[str] = set()
    for result in work.results:
        what = _done_to(result.call)
        if not result.part.error:
            out = [dataclasses.replace(i, weight=0.25) if what and i.key == what[:80] else i for i in out]
            continue
        if _REFUSED.search(result.part.text[:2000]):
            out.extend(_objection(result))
            continue
        line = failure_line(result.part.text)
        if line is None or line[2] in seen:
            continue
        seen.add(line[2])
        start, end, text = line
        place = Span(result.message.id, result.part.start + start, result.part.start + end, result.message.turn)
        shown = f"{code(what, 80)} failed: {text[:220]}" if what else f"A call failed: {text[:220]}"
        out.append(Item("error", shown, key=what[:80], spans=(place,), weight=0.8, trust="tool", at=result.message.at))
    return out


def _done_to(call: Call | None) -> str:
    """What a call ran or touched, in a few words."""
    return (said(call) or command(call) or ", ".join(call.paths) or call.name) if call else ""


def _objection(result: Result) -> list[Item]:
    """What the user said when refusing a call, where the client passes it on."""
    said_so = re.search(r"the user said:\s*(.+)", result.part.text[:4000], re.DOTALL)
    if said_so is None:
        return []
    place = Span(result.message.id, result.part.start + said_so.start(1), result.part.start + said_so.end(1), result.message.turn)
    text = " ".join(said_so.group(1).split())[:400]
    return [Item("correction", text, spans=(place,), weight=4.0, trust="tool", at=result.message.at)]


def plan_items(work: Work) -> list[Item]:
    """The agent's own list of things to do as it stands at the end: what is in progress, what is left, what is done."""
    plan: dict[str, tuple[str, str, Message, Call]] = {}
    created = 0
    for step in work.steps:
        for message, call in step.acts:
            if call.verb != "plan":
                continue
            listed = steps(call)
            if listed:
                plan = {text: (text, status, message, call) for text, status in listed}
                continue
            status = str(call.arguments.get("status") or "")
            number = str(call.arguments.get("taskId") or call.arguments.get("task_id") or call.arguments.get("id") or "")
            subject = said(call)
            if number in plan and status:
                plan[number] = (plan[number][0], status, message, call)
            elif subject and not number:
                created += 1
                plan[str(created)] = (subject, status or "pending", message, call)
    return _plan(list(plan.values()))


def _plan(entries: list[tuple[str, str, Message, Call]]) -> list[Item]:
    out = []
    for text, status, message, call in entries:
        span = (Span(message.id, *call.place, message.turn),)
        state = status.lower()
        if state in {"completed", "done", "complete"}:
            out.append(Item("state", f"{text} (completed)", spans=span, weight=1.2, at=message.at))
        elif state in {"cancelled", "canceled", "deleted"}:
            continue
        elif state in {"in_progress", "active", "doing"}:
            out.append(Item("state", f"Being worked on now ({status}): {text}", spans=span, weight=5.0, at=message.at))
        else:
            out.append(Item("next", text, spans=span, weight=4.0, at=message.at))
    return out

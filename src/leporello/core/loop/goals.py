"""What stays verbatim whatever is folded: the first request, the newest one, the list of tasks."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from leporello.core.blocks import parts
from leporello.core.loop.state import View
from leporello.core.tokens import clip
from leporello.records import Message

_TODO_CALLS = re.compile(r"(?:todo|update_?plan|write_?plan|task_?list|set_?plan)", re.IGNORECASE)
_MACHINE = re.compile(
    r"\s*(?:<(?:leporello-memory|system-reminder|command-|local-command|environment_context|user_instructions)|\[Request interrupted)"
)
_DONE = {"completed", "complete", "done", "finished"}
_DOING = {"in_progress", "in-progress", "active", "doing", "started"}


def request_text(message: Message) -> str:
    """What the user asks in this message; empty if it is not the user's, or only what a program put in."""
    if message.role != "user" or message.trust != "user":
        return ""
    texts = [p.text.strip() for p in parts(message) if p.kind == "text" and not _MACHINE.match(p.text)]
    return "\n".join(t for t in texts if t)


def todos_of(message: Message) -> str:
    """The list of tasks that this message sets with a tool such as TodoWrite or update_plan, a line each; empty without one."""
    for part in reversed(parts(message)):
        if part.kind == "call" and _TODO_CALLS.search(part.name):
            lines = _lines(part.text)
            if lines:
                return "\n".join(lines)
    return ""


def carried(view: View, folded: Sequence[Message], *, tokens: int) -> tuple[str, str, str]:
    """`(goal, current, todos)` after these messages are folded away; each text at most `tokens`."""
    goal, current, todos = view.goal, view.current, view.todos
    for message in folded:
        asked = request_text(message)
        if asked:
            current = clip(asked, tokens)
            goal = goal or current
        if message.role == "assistant":
            todos = todos_of(message) or todos
    return goal, current, todos


def _lines(arguments: str) -> list[str]:
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError):
        return []
    listed = given if isinstance(given, list) else _list_in(given)
    return [line for t in listed if (line := _line(t))]


def _list_in(given: object) -> Sequence[Any]:
    if not isinstance(given, Mapping):
        return ()
    named = [given[k] for k in ("todos", "plan", "items", "tasks", "steps", "todo_list") if k in given]
    return next((v for v in named if isinstance(v, list)), ())


def _line(task: object) -> str:
    if isinstance(task, str):
        return f"- [ ] {task}" if task.strip() else ""
    if not isinstance(task, Mapping):
        return ""
    text = next((task[k] for k in ("content", "step", "text", "title", "task", "description", "name") if isinstance(task.get(k), str)), "")
    status = str(task.get("status", "")).lower()
    mark = "x" if status in _DONE or task.get("done") is True else "~" if status in _DOING else " "
    return f"- [{mark}] {text}" if text.strip() else ""

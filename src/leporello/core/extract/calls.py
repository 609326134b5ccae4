"""Tool calls read as what was done: which file was changed and to what, what was run, looked for, planned.

Tools are told apart by the words in their names and by the shape of their arguments, not by one client's list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from leporello.core.extract.names import names, tame
from leporello.records import Part

MOST_COMMAND = 240
MOST_QUOTED = 20_000
Verb = Literal["change", "write", "read", "search", "run", "plan", "delegate", "ask", "other"]

_VERBS: tuple[tuple[Verb, re.Pattern[str]], ...] = (
    ("plan", re.compile(r"\b(?:todo|plan\b|task (?:create|update|list|get|stop)|checklist)", re.IGNORECASE)),
    (
        "change",
        re.compile(
            r"\b(?:multi ?edit|edit|replace|str replace|apply patch|patch|update file|modify|insert|refactor|rename)", re.IGNORECASE
        ),
    ),
    ("write", re.compile(r"\b(?:write|create file|save|new file|add file)", re.IGNORECASE)),
    ("run", re.compile(r"\b(?:bash|shell|local shell|exec|run|terminal|command|python|process|write stdin)", re.IGNORECASE)),
    ("search", re.compile(r"\b(?:grep|search|web ?search|glob|find|list|ls\b|rg\b|query|fetch|browse)", re.IGNORECASE)),
    ("read", re.compile(r"\b(?:read|view|open|cat\b|show|get\b|load)", re.IGNORECASE)),
    ("delegate", re.compile(r"\b(?:task|agent|delegate|spawn)", re.IGNORECASE)),
    ("ask", re.compile(r"\b(?:ask|question|think|respond|finish|submit)", re.IGNORECASE)),
)
_INNER = re.compile(r"\s*([A-Za-z_][\w.-]{0,80})\s*(\{.*)", re.DOTALL)
_PATH_KEYS = (
    "file_path",
    "path",
    "notebook_path",
    "filePath",
    "absolute_path",
    "target_file",
    "file",
    "filename",
    "relative_workspace_path",
    "dir_path",
)
_OLD_KEYS = ("old_string", "old_str", "oldText", "old_text", "search", "oldString")
_NEW_KEYS = (
    "new_string",
    "new_str",
    "newText",
    "new_text",
    "replace",
    "newString",
    "content",
    "file_text",
    "insert_text",
    "code_edit",
    "new_source",
    "contents",
    "text",
)
_SAID_KEYS = ("description", "title", "subject", "explanation", "justification", "task")
_WANTED_KEYS = ("pattern", "query", "regex", "glob", "url", "search_term", "keyword")
_STEP_KEYS = ("content", "step", "subject", "title", "text", "description", "name")
_PATCH_FILE = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$|^\+\+\+ (?:b/)?(\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Call:
    """One tool call: the tool's name, what kind of act it is, its arguments (`{}` when they are no mapping) and its own text."""

    name: str
    verb: Verb
    arguments: Mapping[str, Any]
    text: str
    place: tuple[int, int] = (0, 0)
    id: str = ""
    paths: tuple[str, ...] = field(default=())


def decode(part: Part) -> Call:
    """The call in `part`. A call wrapped as text within an argument (`{"arguments": "Edit {…}"}`) is unwrapped."""
    name, value = part.name, _loads(part.text)
    for _ in range(3):
        inner = next(iter(value.values())) if isinstance(value, Mapping) and len(value) == 1 else value if isinstance(value, str) else None
        wrapped = _INNER.fullmatch(inner) if isinstance(inner, str) else None
        if wrapped and (part.name in {"", "tool", "function"} or isinstance(value, str)):
            name, value = wrapped.group(1), _loads(wrapped.group(2))
        elif isinstance(inner, str) and inner.lstrip().startswith("{") and isinstance(decoded := _loads(inner), Mapping):
            value = decoded
        else:
            break
    arguments = value if isinstance(value, Mapping) else {}
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if not arguments and _INNER.match(name + text):
        text = text.strip()
    return Call(name, _verb(name, arguments), arguments, text, (part.start, part.end), part.id, _paths(arguments, text))


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _verb(name: str, arguments: Mapping[str, Any]) -> Verb:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|[_.-]+", " ", name.rsplit("__", 1)[-1])
    command = _first(arguments, ("command",))
    if any(k in arguments for k in _OLD_KEYS) and any(k in arguments for k in _NEW_KEYS):
        return "change"
    if command in {"view", "create", "str_replace", "insert"}:
        return {"view": "read", "create": "write"}.get(command, "change")  # type: ignore[return-value]
    for verb, pattern in _VERBS:
        if pattern.search(words):
            return verb
    return "run" if "command" in arguments or "cmd" in arguments else "other"


def _first(arguments: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    for key in keys:
        value = arguments.get(key)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, list) and value and all(isinstance(v, str) for v in value):
            return " ".join(value)
    return ""


def _paths(arguments: Mapping[str, Any], text: str) -> tuple[str, ...]:
    given = _first(arguments, _PATH_KEYS)
    if given:
        return (given,)
    return tuple(dict.fromkeys(a.strip() or b for a, b in _PATCH_FILE.findall(text[:20_000].replace("\\n", "\n"))))[:6]


def steps(call: Call) -> list[tuple[str, str]]:
    """`(step, status)` of a to-do list or plan that the call writes; empty for other calls."""
    lists = [v for v in call.arguments.values() if isinstance(v, list)]
    out = []
    for entry in (e for v in lists for e in v):
        if isinstance(entry, Mapping) and "status" in entry and (step := _first(entry, _STEP_KEYS)):
            out.append((" ".join(step.split()), str(entry["status"])))
    return out


def said(call: Call) -> str:
    """What the agent itself called this act: the call's own description, in one line."""
    return " ".join(_first(call.arguments, _SAID_KEYS).split())


def command(call: Call) -> str:
    """The command line that the call runs, in one line, without the quoted bodies of here-documents."""
    line = _first(call.arguments, ("command", "cmd", "script", "code", "input", "chars")) or ("" if call.arguments else call.text)
    line = re.sub(r"^(?:bash|sh|zsh) -l?c ", "", line.strip())
    return " ".join(re.sub(r"\\?\n", " ", line).split())


def code(text: str, room: int, worth: Mapping[str, float] | None = None) -> str:
    """`text` as code on one line (ends of lines and tabs escaped), at most about `room` characters.

    With `worth`, lines are left out (…) that name nothing worth keeping, rather than the end of the text.
    """
    text = tame(text.strip("\n")[:MOST_QUOTED])
    shown = _one_line(text)
    if len(shown) > room:
        shown = _clip(shown, room) if worth is None or "\n" not in text.strip() else _gist(text, room, worth)
    return f"`` {shown} ``" if "`" in shown else f"`{shown}`"


def _one_line(text: str) -> str:
    if "\n" not in text and "\t" not in text:
        return text.strip()
    shown = json.dumps(text, ensure_ascii=False)[1:-1].replace('\\"', '"')
    return re.sub(r"(?: {4}|\\t){2,}", lambda m: "\\t" if "\\t" in m.group() else " ", shown).strip()


def _clip(shown: str, room: int) -> str:
    if len(shown) <= room:
        return shown
    cut = shown.rfind(" ", room * 2 // 3, room)
    return shown[: cut if cut > 0 else room].rstrip("\\ ") + "…"


def _gist(text: str, room: int, worth: Mapping[str, float]) -> str:
    """The first line and the lines that name the most for their length, in order."""
    lines = [_clip(_one_line(line.rstrip()), max(60, room // 2)) for line in text.strip("\n").split("\n")[: max(40, min(400, room))]]
    held = [names(line) for line in lines]
    chosen, covered, left = {0}, set(held[0]), room - len(lines[0])
    while left > 0:
        best, at = 0.0, -1
        for n, line in enumerate(lines):
            if n in chosen or len(line) + 3 > left or not held[n]:
                continue
            value = sum(worth.get(x, 0.0) for x in held[n] - covered) / (len(line) + 4)
            if value > best:
                best, at = value, n
        if at < 0:
            break
        chosen.add(at)
        covered |= held[at]
        left -= len(lines[at]) + 3
    out, before = "", -1
    for n in sorted(chosen):
        out += ("" if before < 0 else "\\n" if n == before + 1 else " …\\n") + lines[n]
        before = n
    return out if before == len(lines) - 1 else out + " …"


def difference(old: str, new: str) -> tuple[str, str]:
    """The lines of `old` and `new` between their common first and last lines."""
    a, b = old.split("\n"), new.split("\n")
    head = 0
    while head < min(len(a), len(b)) and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < min(len(a), len(b)) - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    return "\n".join(a[head : len(a) - tail]), "\n".join(b[head : len(b) - tail])


def shape(call: Call) -> str:
    """Which of its tool's forms a call takes: the tool's name and the choices among its arguments (`status`, `output_mode`)."""
    return ":".join(
        [call.name, *(str(v) for k, v in sorted(call.arguments.items()) if isinstance(v, str) and re.fullmatch(r"[a-z]+(?:_[a-z]+)+", v))]
    )


def signature(call: Call) -> str:
    """The form of a call: the tool's name with the names of its arguments, and the choices among them: `Grep(pattern, output_mode=content)`."""
    given = []
    for key, value in list(call.arguments.items())[:12]:
        choice = key not in (*_WANTED_KEYS, *_PATH_KEYS) and isinstance(value, str) and re.fullmatch(r"[a-z]+(?:_[a-z]+)+", value)
        inner = next((v for v in value if isinstance(v, Mapping)), None) if isinstance(value, list) else None
        given.append(f"{key}={value}" if choice else f"{key}=[{{{', '.join(map(str, inner))}}}]" if inner else str(key))
    return f"`{call.name}({', '.join(given)})`"


def brief(call: Call) -> str:
    """What the call did, in a few words, without what anyone sees who opens the file or makes the call again; empty for a mere look."""
    where = ", ".join(short(p) for p in call.paths) or "a file"
    if call.verb in {"change", "write"}:
        return f"{'changed' if call.verb == 'change' else 'wrote'} {where}"
    if call.verb == "run":
        line, own = command(call), said(call)
        return f"{lower(own)}: {code(line, 60)}" if own else f"ran {code(line, 90)}" if line else ""
    if call.verb == "delegate":
        task = said(call)
        return f"handed to a sub-agent: {task[:90]}" if task else ""
    return f"{lower(said(call))} ({call.name})" if call.verb == "other" and said(call) else ""


def phrase(call: Call, room: int, worth: Mapping[str, float]) -> str:
    """What the call did, in words, with at most about `room` characters of it quoted."""
    where = ", ".join(short(p) for p in call.paths) or "a file"
    own = said(call)
    if call.verb in {"change", "write"}:
        return _changed(call, where, room, worth)
    if call.verb == "read":
        return f"read {where}" if call.paths else _called(call, room, worth)
    if call.verb == "search":
        wanted = _first(call.arguments, _WANTED_KEYS) or own
        place = f" in {where}" if call.paths else ""
        return f"looked for {code(wanted, min(room, 90))}{place}" if wanted else f"listed {where}" if call.paths else ""
    if call.verb == "run":
        line, room = command(call), min(room, MOST_COMMAND)
        return f"{lower(own)}: {code(line, room)}" if own else f"ran {code(line, room)}" if line else ""
    if call.verb == "delegate":
        task = own or _first(call.arguments, ("prompt", "message", "query"))
        return f"handed to a sub-agent: {_clip(' '.join(task.split()), room)}" if task else ""
    return _called(call, room, worth)


def _changed(call: Call, where: str, room: int, worth: Mapping[str, float]) -> str:
    old, new = _first(call.arguments, _OLD_KEYS), _first(call.arguments, _NEW_KEYS)
    if not old and not new:
        body = "\n".join(line[1:] for line in call.text.replace("\\n", "\n").split("\n") if re.match(r"[+-][^+-]", line))
        return f"changed {where}: {code(body, room, worth)}" if body else f"changed {where}"
    if not old:
        return f"wrote {where} with {code(new, room, worth)}"
    before, after = difference(old, new)
    if not after.strip():
        return f"took out of {where}: {code(before, room, worth)}"
    if not before.strip():
        return f"added to {where}: {code(after, room, worth)}"
    return f"changed in {where} {code(before, room * 2 // 5, worth)} to {code(after, room * 3 // 5, worth)}"


def _called(call: Call, room: int, worth: Mapping[str, float]) -> str:
    own = said(call)
    if own:
        return f"{lower(own)} ({call.name})"
    values = [v for v in call.arguments.values() if isinstance(v, (str, int, float)) and not isinstance(v, bool)][:4]
    shown = ", ".join(code(str(v), max(24, room // 4), worth) for v in values if str(v).strip())
    return f"called {call.name} with {shown}" if call.name and shown else ""


def short(path: str) -> str:
    """The last two components of a path: enough to know it again."""
    pieces = [p for p in path.replace("\\", "/").split("/") if p]
    return "/".join(pieces[-2:]) if pieces else path


def lower(text: str) -> str:
    """`text` with a small first letter, unless its first word is a name."""
    return text[:1].lower() + text[1:] if re.match(r"[A-Z][a-z]+\b(?!\.)", text) else text

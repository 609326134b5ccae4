"""A model's answer to records: JSON found in whatever surrounds it, every known name of a field taken, wrong types left out one by one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from leporello.adapters.models.model import Code
from leporello.core.compact import line, normal
from leporello.records import FactKind, Item, Section

WEIGHTS: Mapping[Section, float] = {
    "goal": 2.0, "constraint": 2.0, "correction": 1.9, "decision": 1.8, "eliminated": 1.6, "state": 1.5, "next": 1.3, "open": 1.2,
    "preference": 1.8, "error": 1.2, "pattern": 1.2, "result": 1.0, "event": 1.0, "work": 0.8, "confirmation": 1.0,
}  # fmt: skip
_FIELDS: Mapping[Section, str] = {
    "goal": "task goal goals objective",
    "state": "current_state state status progress",
    "decision": "decisions key_decisions decision",
    "eliminated": "eliminated eliminated_approaches ruled_out rejected rejected_approaches",
    "constraint": "constraints constraint rules",
    "correction": "corrections correction",
    "preference": "preferences preference",
    "error": "errors problems",
    "pattern": "patterns",
    "work": "work outcomes done completed",
    "event": "events what_happened",
    "result": "tool_results relevant_tool_results results findings",
    "open": "open_questions open questions blockers",
    "next": "next_steps next todo todos",
}
_ALIASES: Mapping[str, Section] = {name: section for section, names in _FIELDS.items() for name in names.split()}
_SUMMARY = ("summary", "episode_summary", "overview")
_WHY = ("reason", "why", "reason_ruled_out", "rationale", "because")
_TEXT = (
    "text", "decision", "approach", "constraint", "correction", "preference", "question", "step", "task", "goal", "item", "statement", "description",
    "summary", "result", "content", "value", "title", "name", "what",
)  # fmt: skip
_KEY = ("key", "tool", "file", "command", "name")
_OPERATIONS = ("operations", "ops", "facts", "updates")
_KNOWN = frozenset((*_ALIASES, *_SUMMARY, *_OPERATIONS, "resolved"))
_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL)
_FENCED = re.compile(r"```[\w-]*[ \t]*\n(.*?)```", re.DOTALL)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
_OPENS = re.compile(r"[{\[]")
_OBJECT = re.compile(r"[{\[]\s*(?:[{\"']|\w+\s*:)")
_MOST_TRIES = 50
_OPS = {
    "add": "add", "new": "add", "create": "add", "reinforce": "reinforce", "confirm": "reinforce", "supersede": "supersede", "update": "supersede",
    "replace": "supersede", "retract": "retract", "delete": "retract", "remove": "retract", "deprecate": "retract", "conflict": "conflict",
    "contradict": "conflict",
}  # fmt: skip


class BadAnswer(Exception):
    """An answer that cannot be used: `code` says how, the text what is wrong."""

    def __init__(self, code: Code, problem: str) -> None:
        super().__init__(problem)
        self.code = code
        self.problem = problem


@dataclass(frozen=True)
class Read:
    """What an answer says: summary, items, and what it calls settled."""

    summary: str
    items: tuple[Item, ...]
    resolved: tuple[str, ...] = ()


@dataclass(frozen=True)
class Proposed:
    """One operation on facts as the model wrote it; `target` is the number of a known fact, 0 for none."""

    op: str
    text: str = ""
    kind: FactKind = "fact"
    why: str = ""
    target: int = 0
    confidence: float = 0.7
    tags: tuple[str, ...] = ()


def found(text: str) -> dict[str, Any]:
    """The JSON object of an answer, out of fences, prose, thoughts and wrappers. Raises `BadAnswer` with not_json or bad_schema."""
    text = _THOUGHT.sub("", text).strip()
    best: dict[str, Any] | None = None
    for value in _values(text):
        taken = _unwrapped(value)
        if taken is not None and _KNOWN & taken.keys():
            return taken
        best = best or taken
    if best is None:
        raise BadAnswer("not_json", _trouble(text))
    raise BadAnswer("bad_schema", f"none of its fields is known ({', '.join(map(str, list(best)[:6])) or 'it is empty'})")


def _values(text: str) -> Iterator[Any]:
    """JSON values in the text: the whole, then fenced blocks, then whatever begins with a brace or a bracket."""
    for candidate in (text, *_FENCED.findall(text)):
        value = _loaded(candidate)
        if value is not None:
            yield value
    decoder = json.JSONDecoder(strict=False)
    place, tries = 0, 0
    while tries < _MOST_TRIES and (start := _OPENS.search(text, place)):
        tries += 1
        try:
            value, place = decoder.raw_decode(text, start.start())
            yield value
        except (ValueError, RecursionError):
            if _OBJECT.match(text, start.start()):
                return  # an answer that breaks off: what stands inside it is no answer
            place = start.end()


def _loaded(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _trouble(text: str) -> str:
    try:
        json.loads(text[text.find("{") :] if "{" in text else text, strict=False)
    except ValueError as e:
        return str(e)[:200]
    except RecursionError:
        return "it is nested too deep"
    return "it is no JSON object"


def _unwrapped(value: Any, depth: int = 0) -> dict[str, Any] | None:
    """The mapping with known fields inside `{"answer": {...}}`, a JSON string, or a list; the outermost mapping if there is none."""
    if depth > 4:
        return None
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "["}:
        return _unwrapped(_loaded(value), depth + 1)
    if isinstance(value, list):
        objects = [v for v in value if isinstance(v, dict)]
        if objects and all("op" in v or "operation" in v for v in objects):
            return {"operations": objects}
        return _unwrapped(objects[0], depth + 1) if len(objects) == 1 else {"operations": []} if not value else None
    if not isinstance(value, dict):
        return None
    named = {_name(k): v for k, v in value.items()}
    if _KNOWN & named.keys() and not (len(named) == 1 and _is_wrapper(named)):
        return named
    if "op" in named:
        return {"operations": [named]}
    for inner in value.values():
        taken = _unwrapped(inner, depth + 1) if isinstance(inner, (dict, str)) else None
        if taken is not None and _KNOWN & taken.keys():
            return taken
    return named


def _is_wrapper(named: Mapping[str, Any]) -> bool:
    """True for one known field that holds a whole answer, such as `{"summary": {"summary": …}}`."""
    (inner,) = named.values()
    return isinstance(inner, dict) and len(_KNOWN & {_name(k) for k in inner}) >= 2


def _name(key: object) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[\s-]+", "_", str(key)).casefold()


def read(answer: Mapping[str, Any]) -> Read:
    """Summary and items of an answer; what is of the wrong type is left out, what is said twice is kept once."""
    items: list[Item] = []
    for name, value in answer.items():
        section = _ALIASES.get(name)
        if section is not None:
            items += _items(section, value)
    seen: set[tuple[str, str]] = set()
    kept = []
    for item in items:
        words = (item.section, normal(item.text) or item.text)
        if words not in seen:
            seen.add(words)
            kept.append(item)
    summary = next((s for name in _SUMMARY if (s := _string(answer.get(name)))), "")
    return Read(summary, tuple(kept), tuple(i.text for i in _items("open", answer.get("resolved"))))


def _items(section: Section, value: Any) -> Iterator[Item]:
    if isinstance(value, str):
        lines = [s for s in value.splitlines() if s.strip()]
        split = section not in {"goal", "state"} and len(lines) > 1
        for text in lines if split else [value]:
            yield from _item(section, _BULLET.sub("", text))
    elif isinstance(value, list):
        for entry in value:
            yield from _item(section, entry)
    elif isinstance(value, dict) and _is_entry(value):
        yield from _item(section, value)
    elif isinstance(value, dict):
        yield from _mapped(section, value)


def _mapped(section: Section, value: Mapping[str, Any]) -> Iterator[Item]:
    """Items of a mapping from names to texts: a result by what it belongs to, a decision by its reason."""
    for key, entry in value.items():
        if section == "result":
            yield from _keyed(str(key), entry)
            continue
        if isinstance(entry, list):
            entry = "; ".join(e for e in entry if isinstance(e, str))
        if isinstance(entry, str) and entry.strip():
            yield from _item(section, {"text": str(key), "why": entry} if section in {"decision", "eliminated"} else f"{key}: {entry}")


def _is_entry(value: Mapping[str, Any]) -> bool:
    """True for one item with named fields, False for a mapping from names to texts."""
    names = {_name(k) for k in value}
    return bool(names & {*_TEXT}) and names <= {*_TEXT, *_WHY, *_KEY}


def _item(section: Section, entry: Any) -> Iterator[Item]:
    if isinstance(entry, str):
        yield from _made(section, entry)
    elif isinstance(entry, dict):
        named = {_name(k): v for k, v in entry.items()}
        if section == "result":
            key = next((s for k in _KEY if (s := _string(named.get(k)))), "")
            text = next((s for k in ("summary", "result", "value", "text", "content", "description") if (s := _string(named.get(k)))), "")
            yield from _made(section, text, key=key) if text else _made(section, key)
            return
        why = next((s for k in _WHY if (s := _string(named.get(k)))), "")
        text = next((s for k in _TEXT if k != "constraint" and (s := _string(named.get(k)))), "")
        rule = _string(named.get("constraint"))
        yield from _made(section, text, why=why)
        if rule:
            yield from _made("constraint", rule, why="" if text else why)


def _keyed(key: str, entry: Any) -> Iterator[Item]:
    if isinstance(entry, dict):
        entry = next((s for k in ("summary", "result", "value", "text", "content") if (s := _string(entry.get(k)))), "")
    if isinstance(entry, str):
        yield from _made("result", entry, key=key)


def _made(section: Section, text: str, *, why: str = "", key: str = "") -> Iterator[Item]:
    text = " ".join(text.split())
    if text and normal(text) not in {"", "none", "n a", "unknown", "null"}:
        why = " ".join(why.split())
        yield Item(section, text, why="" if normal(why) in {"none", "n a"} else why, key=" ".join(key.split()), weight=WEIGHTS[section])


def _string(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def operations(answer: Mapping[str, Any], *, most: int = 10) -> list[Proposed]:
    """The operations of an answer, at most so many; what names no operation or no text that it needs is left out."""
    listed = next((answer[n] for n in _OPERATIONS if isinstance(answer.get(n), list)), None)
    if listed is None:
        raise BadAnswer("bad_schema", "the field operations is no list")
    out: list[Proposed] = []
    for entry in listed:
        proposed = _proposed(entry)
        if proposed is not None and proposed not in out:
            out.append(proposed)
    return out[:most]


def _proposed(entry: Any) -> Proposed | None:
    if isinstance(entry, str):
        entry = {"op": "add", "text": entry}
    if not isinstance(entry, dict):
        return None
    named = {_name(k): v for k, v in entry.items()}
    said = named.get("op", named.get("operation", named.get("action", "add")))
    op = _OPS.get(_string(said).casefold())
    text = next((s for k in ("text", "fact", "statement", "content") if (s := _string(named.get(k)))), "")
    target = _number(named.get("target", named.get("id", named.get("target_id"))))
    if op is None or (op in {"add", "supersede", "conflict"} and not text) or (op != "add" and not target):
        return None
    why = next((s for k in _WHY if (s := _string(named.get(k)))), "")
    tags = named.get("tags")
    return Proposed(
        op, " ".join(text.split()), _kind(named), " ".join(why.split()), 0 if op == "add" else target, _confidence(named.get("confidence")),
        tuple(t.strip() for t in tags if isinstance(t, str) and t.strip())[:8] if isinstance(tags, list) else (),
    )  # fmt: skip


def _kind(named: Mapping[str, Any]) -> FactKind:
    said = _string(named.get("kind", named.get("type"))).casefold()
    return next((k for k in get_args(FactKind) if k == said), "fact")


def _confidence(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
        return 0.7
    return float(min(1.0, max(0.0, value)))


def _number(value: Any) -> int:
    if isinstance(value, bool):
        return 0
    if isinstance(value, int):
        return value
    digits = re.search(r"\d{1,6}", value) if isinstance(value, str) else None
    return int(digits.group()) if digits else 0


def as_json(summary: str, items: Sequence[Item]) -> str:
    """Items in the shape that the prompts ask for, for handing them back to a model."""
    names = {"goal": "task", "state": "current_state", "decision": "key_decisions", "eliminated": "eliminated_approaches"}
    more = {"open": "open_questions", "next": "next_steps", "result": "relevant_tool_results", "constraint": "constraints"}
    out: dict[str, Any] = {"summary": summary} if summary else {}
    for item in items:
        field = {**names, **more}.get(item.section, f"{item.section}s")
        if item.section == "result":
            out.setdefault(field, []).append({"key": item.key, "summary": item.text})
        elif item.section == "decision":
            out.setdefault(field, []).append({"decision": item.text, "reason": item.why})
        elif item.section == "eliminated":
            out.setdefault(field, []).append({"approach": item.text, "reason_ruled_out": item.why})
        else:
            out.setdefault(field, []).append(line(item)[2:])
    return json.dumps(out, ensure_ascii=False, indent=1)

"""An entry before it is appended, checked: what is missing is filled in, what is unknown is kept, what cannot be meant is refused."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from leporello.core import checks
from leporello.core.times import instant
from leporello.errors import BadTime, BadValue
from leporello.formats import jsontext
from leporello.tickfile.lines import dumped

TYPES = (
    "need", "emotion", "cognition", "intention", "plan", "react", "plan_execution", "event", "observation", "social", "decision", "discovery",
    "plan_outcome",
)  # fmt: skip
IMPORTANCE = ("high", "medium", "low")
_FIRST = ("tick", "time", "type", "summary", "tags", "importance")
_MOST = 10**15


def drafted(fields: object, *, tick: int | None, now: datetime) -> dict[str, Any]:
    """The entry as it will be written. Raises `BadValue`.

    `type` is event and `importance` medium if they are not given; other types than `TYPES` are taken. `time` is `now`.
    """
    if not isinstance(fields, Mapping):
        raise BadValue(f"The entry is a {type(fields).__name__}.", hint="Pass a mapping with at least a summary.")
    made = dict(fields)
    made["tick"] = checks.count(made.get("tick") if tick is None else tick, "tick", least=0, most=_MOST)
    made["summary"] = _summary(made.get("summary"))
    made["type"] = checks.text(made.get("type", "event"), "type", empty=False)
    made["tags"] = list(checks.texts(made.get("tags", ()), "tags"))
    made["importance"] = _importance(made.get("importance", "medium"))
    made["time"] = _time(made.get("time"), now)
    ordered = {**{k: made[k] for k in _FIRST}, **made}
    _check_json(ordered)
    return ordered


def _summary(value: object) -> str:
    if value is None or (isinstance(value, str) and not value.strip()):
        raise BadValue("summary is missing.", hint="Pass a summary of one or two sentences that says what happened.")
    return checks.text(value, "summary")


def _importance(value: object) -> str:
    level = value.strip().lower() if isinstance(value, str) else value
    if level not in IMPORTANCE:
        raise BadValue(f"importance={value!r:.80} is unknown.", hint="Use high, medium or low.")
    return str(level)


def _time(value: object, now: datetime) -> str:
    if value is None:
        return now.isoformat(timespec="seconds")
    if isinstance(value, datetime):
        return value.isoformat()
    try:
        instant(checks.text(value, "time"))
    except BadTime as error:
        raise BadValue(f"time={value!r:.80} is no time.", hint="Pass an ISO 8601 time, or leave it out for now.") from error
    return str(value)


def _check_json(made: Mapping[str, Any]) -> None:
    hint = "Pass texts, numbers, true, false, null, lists and mappings with text keys only."
    try:
        line = dumped(made)
        back = jsontext.parse(jsontext.decoded(line))
    except (TypeError, ValueError, RecursionError) as error:
        raise BadValue(f"The entry cannot be written as JSON: {error}.", hint=hint) from error
    if not _finite(back):
        raise BadValue("The entry holds a number that is not finite.", hint=hint)


def _finite(value: Any) -> bool:
    if isinstance(value, float):
        return value - value == 0
    if isinstance(value, dict):
        return all(_finite(v) for v in value.values())
    return all(_finite(v) for v in value) if isinstance(value, list) else True

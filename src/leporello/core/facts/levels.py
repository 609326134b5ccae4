"""For how long, and for whom, a statement matters (R103), and why (R105)."""

from __future__ import annotations

import re
from typing import Literal

from leporello.core.facts.read import Statement
from leporello.records import FactKind

Level = Literal["project", "permanent"]
_OWN = frozenset(
    "home job employer partner spouse family child children pet pets diet birthday birthplace name nickname language languages native hobby hobbies "
    "allergy allergies likes dislikes favourite favorite prefers education degree age marital nationality religion sport car phone email".split()
)
_TECHNICAL = re.compile(
    r"[\w.-]+/[\w.-]+|\b\w+\.(?:py|js|ts|go|rs|java|c|cpp|md|json|ya?ml|toml|sql|sh|html|css)\b|\b\w+_\w+\b|\b[a-z]+[A-Z]\w*\b|\b(?:this|our|the) "
    r"(?:project|repo(?:sitory)?|code ?base|branch|sprint|release|deploy(?:ment)?|service|module|database|pipeline|team)\b|`"
)
REASONS: dict[FactKind, str] = {
    "preference": "what the user likes or wants", "procedure": "a rule that holds from now on", "decision": "what was settled",
    "eliminated": "so that it is not tried again", "pattern": "so that the cause is known next time", "fact": "how things stand",
}  # fmt: skip
"""Why a fact of a kind matters, where nobody said why. It is neither indexed nor shown."""


def level(statement: Statement, kind: FactKind) -> Level:
    """Permanent for what holds of the user in every project: who they are, what they like. All else is the project's."""
    if kind not in {"preference", "fact"} or _TECHNICAL.search(statement.text):
        return "project"
    own = statement.subject == "user"
    if kind == "preference":
        return "permanent" if own else "project"
    return "permanent" if own and statement.predicate.partition(":")[0] in _OWN else "project"


def told_why(why: str) -> str:
    """The reason, if somebody gave one."""
    return "" if why in REASONS.values() else why

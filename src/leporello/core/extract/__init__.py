"""Messages to weighted items, without a model: what was wanted, decided, ruled out, done, and is still open.

`extract` reads; `select` chooses under a budget. Both are deterministic and take time about linear in the text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from leporello.core import blocks
from leporello.core.extract.select import select
from leporello.core.extract.statements import agent_statements, requests, shown_code, spoken, talk_statements
from leporello.core.extract.work import error_items, gather, plan_items, step_items
from leporello.core.extract.worth import worth
from leporello.records import Item, Message

__all__ = ["extract", "select", "worth"]
_ROLE_NAMES = {"user", "assistant", "human", "ai", "system", "tool"}


def extract(messages: Sequence[Message], *, detail: int = 300, kept: Mapping[str, float] | None = None) -> tuple[Item, ...]:
    """Every statement worth weighing in `messages`, in the order in which they were said.

    `detail` is how many characters of a recent change of a file are quoted; `kept` is what each
    name is worth (`worth(messages)`), so that quotes hold those that will be needed. Each item has spans in the messages' text;
    a sentence stands in its first span as it was written.
    """
    heard = {m.id: spoken(m) for m in messages}
    if any(part.kind == "call" for m in messages for part in blocks.parts(m)):
        work = gather(messages)
        found = [*requests(messages, heard), *agent_statements(messages, heard), *step_items(work, detail=detail, worth=kept or {})]
        found = [*_without_told_twice(found), *error_items(work), *plan_items(work)]
        found += shown_code(messages, detail=detail, kept=kept or {})
    elif len(speakers := {m.name for m in messages if m.name and m.name.casefold() not in _ROLE_NAMES}) >= 2 or all(
        m.role != "assistant" for m in messages
    ):
        found = talk_statements(messages, heard, named=bool(speakers))
    else:
        found = [*requests(messages, heard, chat=True), *agent_statements(messages, heard)]
    order = {m.id: n for n, m in enumerate(messages)}
    return tuple(sorted(found, key=lambda i: (order.get(i.spans[0].message, 0), i.spans[0].start) if i.spans else (0, 0)))


def _without_told_twice(items: list[Item]) -> list[Item]:
    """A sentence that is the narration of a step is not told again on its own, except the last: it says what is being done now."""
    steps = [i for i in items if i.section == "work" and " — " in i.text]
    narrated = {(s.message, s.start) for i in steps for s in i.spans}
    now = steps[-1].spans[0] if steps else None
    keep = []
    for item in items:
        alone = item.section in {"work", "state", "next"} and len(item.spans) == 1
        if alone and (item.spans[0].message, item.spans[0].start) in narrated and not (item.section == "state" and item.spans[0] == now):
            continue
        keep.append(item)
    return keep

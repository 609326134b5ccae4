"""Messages to weighted items, without a model: what was wanted, decided, ruled out, done, and is still open.

`extract` reads; `select` chooses under a budget. Both are deterministic and take time about linear in the text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from leporello.core import blocks
from leporello.core.extract.agents import agent_statements, shown_code
from leporello.core.extract.foreign import foreign, is_foreign
from leporello.core.extract.said import spoken, talks
from leporello.core.extract.select import select
from leporello.core.extract.standing import stand
from leporello.core.extract.states import states
from leporello.core.extract.talk import talk_statements
from leporello.core.extract.users import requests
from leporello.core.extract.work import error_items, form_items, gather, plan_items, step_items
from leporello.core.extract.worth import worth
from leporello.records import Item, Message

__all__ = ["extract", "foreign", "is_foreign", "select", "stand", "states", "worth"]
_OWN = {"decision", "error", "eliminated", "open", "next", "constraint"}


def extract(messages: Sequence[Message], *, detail: int = 300, kept: Mapping[str, float] | None = None) -> tuple[Item, ...]:
    """Every statement worth weighing in `messages`, in the order in which they were said.

    `detail` is how many characters of a recent change of a file are quoted, 0 for an account without quotations; `kept` is what each
    name is worth (`worth(messages)`), so that quotes hold those that will be needed. Each item has spans in the messages' text;
    a sentence stands in its first span as it was written.
    """
    heard = {m.id: spoken(m) for m in messages}
    if any(part.kind == "call" for m in messages for part in blocks.parts(m)):
        value = kept or {}
        work = gather(messages)
        asked = requests(messages, heard)
        found = [*asked, *agent_statements(messages, heard, _answered(asked))]
        found = _without_told_twice([*found, *step_items(work, detail=detail, worth=value, told=_told(found))])
        found += [*error_items(work), *plan_items(work)]
        if detail:
            found += [*form_items(work, value), *shown_code(messages, detail=detail, kept=value)]
    elif (named := talks(messages)) is not None:
        found = talk_statements(messages, heard, named=named)
    else:
        asked = requests(messages, heard, chat=True)
        found = [*asked, *agent_statements(messages, heard, _answered(asked))]
    order = {m.id: n for n, m in enumerate(messages)}
    found = sorted(found, key=lambda i: (order.get(i.spans[0].message, 0), i.spans[0].start) if i.spans else (0, 0))
    return tuple(stand(found))


def _answered(items: Sequence[Item]) -> frozenset[tuple[str, int]]:
    """The agent's sentences that a user's answer was joined to."""
    return frozenset((s.message, s.end) for i in items if i.section in {"decision", "confirmation"} and len(i.spans) > 1 for s in i.spans)


def _told(items: Sequence[Item]) -> frozenset[tuple[str, int]]:
    """The sentences that say why or what comes next, and so are not part of what a step did."""
    return frozenset((s.message, s.end) for i in items if i.section in _OWN for s in i.spans)


def _without_told_twice(items: list[Item]) -> list[Item]:
    """A sentence that is the narration of a step is not told again on its own, except the last: it says what is being done now."""
    steps = [i for i in items if i.section == "work" and " — " in i.text]
    narrated = {(s.message, s.end) for i in steps for s in i.spans}
    now = steps[-1].spans[0] if steps else None
    keep = []
    for item in items:
        alone = item.section in {"work", "state", "next"} and len(item.spans) == 1
        if (
            alone
            and (item.spans[0].message, item.spans[0].end) in narrated
            and not (item.section == "state" and now is not None and item.spans[0].end == now.end)
        ):
            continue
        keep.append(item)
    return keep

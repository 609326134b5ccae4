"""What an answer drew on of what the loop had put before the model: that was used, and stays alive (D34, D35)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from leporello.core.drawn import drawn
from leporello.core.loop import goals
from leporello.core.loop.state import view_of
from leporello.flows.aging import LOOP
from leporello.flows.maintain import use_in
from leporello.ports import AnyRecord, Ports, Writer
from leporello.records import Message, Scope

_BACK = 40
_MOST, _TEXT = 30, 1_500


def note_uses(ports: Ports, w: Writer, scope: Scope, view: Mapping[str, Any] | None, made: Sequence[Message]) -> None:
    """Notes that the records which an answer draws on were used. `view` is what the loop sends, `made` what was just stored."""
    answer = "\n".join(m.text for m in made if m.role == "assistant" and m.text.strip())
    state = w.session(scope)
    if not answer or view is None or state is None:
        return
    before = made[0].pos - 1
    tail = list(w.messages(state, first=max(1, before - _BACK), last=before)) if before else []
    question = next((t for m in reversed(tail) if (t := goals.request_text(m))), "")
    shown = list(_shown(w, scope, view))[:_MOST]
    used = drawn(question, answer, [r.text[:_TEXT] for r in shown])
    use_in(ports, w, [r for r, u in zip(shown, used, strict=True) if u], by=LOOP)


def _shown(w: Writer, scope: Scope, view: Mapping[str, Any]) -> Iterator[AnyRecord]:
    """The records in the view, what was recalled last first; only what the loop's user may see."""
    held = view_of(view)
    if held is None:
        return
    beside = sorted(held.recalled.items(), key=lambda p: -int(p[0]))
    ids = [*(i for _, (_, found) in beside for i in found), *held.shown]
    for id_ in dict.fromkeys(ids):
        record = w.record(replace(scope, session=None), id_)
        if record is not None:
            yield record

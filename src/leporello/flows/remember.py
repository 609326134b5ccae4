"""Messages in: placed into turns, indexed and written in one transaction per chunk, with no model call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from leporello.core import tokens
from leporello.core.blocks import is_user_side, parts_of, role_of, text_of
from leporello.core.turns import Place
from leporello.errors import BadMessage
from leporello.flows.indexing import Said, entries
from leporello.ports import Entry, NewMessage, Ports, SessionState, Writer
from leporello.records import Draft, Message, Part, Scope, Trust

MESSAGE_OVERHEAD = 4
MEDIA_TOKENS = 1_200
_EMPTY = Entry(b"", b"")


def remember(ports: Ports, scope: Scope, drafts: Iterable[Draft]) -> Iterator[list[Message]]:
    """Stores the drafts, a chunk at a time; what a step yields is on disk. Drafts whose origin is known are left out."""
    source = iter(drafts)
    while chunk := list(islice(source, ports.policies.write.chunk)):
        yield _chunk(ports, scope, chunk)


def _chunk(ports: Ports, scope: Scope, chunk: Sequence[Draft]) -> list[Message]:
    now = ports.clock.now()
    by_session: dict[str | None, list[NewMessage]] = {}
    ready = [_ready(replace(d, at=now) if d.at is None else d, ports.policies.write.max_message_bytes) for d in chunk]
    texts = [Said(n.text, n.at, n.draft.name, n.role) for n, _ in ready]
    results: dict[int, bool] = {}
    for (n, has_result), entry in zip(ready, entries(ports.embedder, texts), strict=True):
        placed = replace(n, entry=entry)
        results[id(placed)] = has_result
        by_session.setdefault(placed.draft.session, []).append(placed)
    made: list[Message] = []
    with ports.store.write() as w:
        for session, new in by_session.items():
            state = w.open_session(scope if session is None else scope.narrow(session=session))
            fresh = _unknown(w, state, new)
            state, placed_all = _place(state, fresh, results)
            if placed_all:
                w.put_session(replace(state, stalled=0, closed_at=None))
                made += w.add_messages(state, placed_all, recorded_at=now)
    return made


def _ready(draft: Draft, limit: int) -> tuple[NewMessage, bool]:
    try:
        return _read(draft, limit)
    except RecursionError as e:
        raise BadMessage("The message is nested too deeply, or holds itself.") from e


def _read(draft: Draft, limit: int) -> tuple[NewMessage, bool]:
    original = draft.original
    content = original.get("content")
    if len(original) == 2 and isinstance(content, str) and isinstance(original.get("role"), str) and original["role"] != "tool":
        role, text, parts = role_of(original), content, None
    else:
        role, text, parts = role_of(original), text_of(original), parts_of(original)
    if len(text) > limit:
        raise BadMessage(f"A message of {len(text):,} characters is over the limit of {limit:,} (WritePolicy.max_message_bytes).")
    has_result = parts is not None and any(p.kind == "result" for p in parts)
    cost = tokens.estimate(text) + MESSAGE_OVERHEAD
    if parts is not None:
        cost += sum(MEDIA_TOKENS for p in parts if p.kind == "media") + sum(tokens.estimate(p.text) for p in parts if p.kind == "thinking")
    assert draft.at is not None
    trust = draft.trust or _trust(role, parts)
    return NewMessage(draft, role, 0, 0, draft.at, trust, text, cost, _EMPTY), has_result


def _trust(role: str, parts: Sequence[Part] | None) -> Trust:
    """Who said it, by the role: what only holds tool results comes from tools."""
    if is_user_side(role):
        if role not in {"user", "system", "developer"}:
            return "tool"
        only_results = parts is not None and any(p.kind == "result" for p in parts) and not any(p.kind == "text" for p in parts)
        return "tool" if only_results else "user"
    return "agent"


def _unknown(w: Writer, state: SessionState, new: Sequence[NewMessage]) -> list[NewMessage]:
    """Those whose origin the session does not hold and that is not doubled in the chunk."""
    known = w.known_origins(state, [n.draft.origin for n in new if n.draft.origin is not None])
    out = []
    for n in new:
        if n.draft.origin is not None:
            if n.draft.origin in known:
                continue
            known.add(n.draft.origin)
        out.append(n)
    return out


def _place(state: SessionState, new: Sequence[NewMessage], results: dict[int, bool]) -> tuple[SessionState, list[NewMessage]]:
    place = Place(state.turns, state.answered, state.joinable)
    out = []
    for i, n in enumerate(new, state.messages + 1):
        place = place.after(n.role, has_result=results[id(n)])
        out.append(replace(n, pos=i, turn=place.turn))
    moved = replace(
        state, messages=state.messages + len(out), turns=place.turn, answered=place.answered, joinable=place.joinable
    )  # fmt: skip
    return moved, out

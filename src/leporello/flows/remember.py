"""Messages in: redacted where the policy asks for it, placed into turns, indexed and written in one transaction per chunk.

No model is asked. Redaction comes before all else, so that nothing is read, indexed or embedded that may not be kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from leporello.core import tokens
from leporello.core.blocks import is_user_side, parts_of, role_of, text_of
from leporello.core.guard.redact import Redaction
from leporello.core.turns import Place
from leporello.errors import BadMessage, BadSetting, LeporelloError
from leporello.flows.indexing import Said, entries
from leporello.ports import Entry, NewMessage, Ports, SessionState, Writer
from leporello.records import Draft, Message, Part, Scope, Trust

MESSAGE_OVERHEAD = 4
MEDIA_TOKENS = 1_200
_SPEAKERS = {"user", "assistant", "system", "developer"}


Beside = Callable[[Writer, Sequence[Message]], None]


def remember(ports: Ports, scope: Scope, drafts: Iterable[Draft], *, beside: Beside | None = None) -> Iterator[list[Message]]:
    """Stores the drafts, a chunk at a time; what a step yields is on disk. Drafts whose origin is known are left out.

    `beside` is called in the transaction of each chunk with the messages that it wrote.
    """
    source = iter(drafts)
    while chunk := list(islice(source, ports.policies.write.chunk)):
        yield _chunk(ports, scope, chunk, beside)


class _Read(NamedTuple):
    """A draft as it was understood."""

    draft: Draft
    role: str
    at: datetime
    trust: Trust
    text: str
    tokens: int
    has_result: bool


def _chunk(ports: Ports, scope: Scope, chunk: Sequence[Draft], beside: Beside | None) -> list[Message]:
    now = ports.clock.now()
    limit = ports.policies.write.max_message_bytes
    redaction = Redaction.of(ports.policies.guard)
    ready = [_ready(_redacted(d, redaction) if redaction else d, limit, now) for d in chunk]
    made_entries = entries(ports.embedder, [Said(r.text, r.at, r.draft.name, r.role) for r in ready])
    by_session: dict[str | None, list[tuple[_Read, Entry]]] = {}
    for pair in zip(ready, made_entries, strict=True):
        by_session.setdefault(pair[0].draft.session, []).append(pair)
    made: list[Message] = []
    with ports.store.write() as w:
        ports.shown.write(w)
        for session, new in by_session.items():
            state = w.open_session(scope if session is None else scope.narrow(session=session))
            state, placed = _place(state, _unknown(w, state, new))
            if placed:
                w.put_session(replace(state, stalled=0, closed_at=None))
                made += w.add_messages(state, placed, recorded_at=now)
        if beside is not None and made:
            beside(w, made)
    return made


def _redacted(draft: Draft, redaction: Redaction) -> Draft:
    """The draft as it may be kept: what was said, and who is said to have said it. Its origin and session are names, not text."""
    try:
        name = draft.name and redaction.text(draft.name)
        return replace(draft, original=redaction.value(draft.original), name=name)
    except RecursionError as e:
        raise BadMessage("The message is nested too deeply, or holds itself.") from e
    except LeporelloError:
        raise
    except Exception as e:  # noqa: BLE001 - a hook is the caller's own code: whatever it raises, nothing is written
        # Its words are left out: they may quote what was to be redacted.
        raise BadSetting(f"The hook of GuardPolicy raised {type(e).__name__}.", hint="Let it return a string for every text.") from None


def _ready(draft: Draft, limit: int, now: datetime) -> _Read:
    try:
        return _read(draft, limit, now)
    except RecursionError as e:
        raise BadMessage("The message is nested too deeply, or holds itself.") from e


def _read(draft: Draft, limit: int, now: datetime) -> _Read:
    original = draft.original
    content, role = original.get("content"), original.get("role")
    parts: tuple[Part, ...] = ()
    if len(original) == 2 and isinstance(content, str) and isinstance(role, str) and role in _SPEAKERS:
        text = content
    else:
        role, text, parts = role_of(original), text_of(original), parts_of(original)
    if len(text) > limit:
        raise BadMessage(f"A message of {len(text):,} characters is over the limit of {limit:,} (WritePolicy.max_message_bytes).")
    cost = tokens.estimate(text) + MESSAGE_OVERHEAD
    if parts:
        cost += sum(MEDIA_TOKENS for p in parts if p.kind == "media") + sum(tokens.estimate(p.text) for p in parts if p.kind == "thinking")
    has_result = any(p.kind == "result" for p in parts)
    return _Read(draft, role, draft.at or now, draft.trust or _trust(role, parts), text, cost, has_result)


def _trust(role: str, parts: Sequence[Part]) -> Trust:
    """Who said it, by the role: what only holds tool results comes from tools."""
    if is_user_side(role):
        if role not in _SPEAKERS:
            return "tool"
        only_results = any(p.kind == "result" for p in parts) and not any(p.kind == "text" for p in parts)
        return "tool" if only_results else "user"
    return "agent"


def _unknown(w: Writer, state: SessionState, new: Sequence[tuple[_Read, Entry]]) -> list[tuple[_Read, Entry]]:
    """Those whose origin the session does not hold and that is not doubled in the chunk."""
    known = w.known_origins(state, [r.draft.origin for r, _ in new if r.draft.origin is not None])
    out = []
    for pair in new:
        origin = pair[0].draft.origin
        if origin is not None:
            if origin in known:
                continue
            known.add(origin)
        out.append(pair)
    return out


def _place(state: SessionState, new: Sequence[tuple[_Read, Entry]]) -> tuple[SessionState, list[NewMessage]]:
    place = Place(state.turns, state.answered, state.joinable)
    out = []
    for pos, (r, entry) in enumerate(new, state.messages + 1):
        place = place.after(r.role, has_result=r.has_result)
        out.append(NewMessage(r.draft, r.role, pos, place.turn, r.at, r.trust, r.text, r.tokens, entry))
    moved = replace(state, messages=state.messages + len(out), turns=place.turn, answered=place.answered, joinable=place.joinable)
    return moved, out

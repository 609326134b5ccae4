"""What the conformance tests write: small records with every field set, and texts that break careless stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from leporello.ports import Entry, NewMessage, SessionState, Store, Writer
from leporello.records import Draft, Episode, Fact, Item, Message, Provenance, Scope, Span

AT = datetime(2026, 1, 5, 12, 30, 15, 123456, tzinfo=UTC)
"""The instant of everything that is written here, unless a test says otherwise."""

ENTRY = Entry(b"\x01\x00\x00\x00\x02\x00\x00\x00", b"\x00\x3c\x00\x00\x00\xbc\x00\x00")
"""An index row: two terms and a vector of four numbers."""

NASTY = {
    "lone surrogate": "a\ud83db", "pair of surrogates": "a\ud83d\ude00b", "astral": "a\U0001f600b", "nul": "a\x00b", "only nul": "\x00",
    "line separators": "one\u2028two\u2029three\x85four\x0cfive\r\nsix\rseven", "byte order mark": "\ufeffhello", "right to left": "\u05e9\u05dc\u202eabc\u202c",
    "joiners": "\U0001f469\u200d\U0001f469\u200d\U0001f467", "composed": "\u00e9", "decomposed": "e\u0301", "blank": " \t\n\u00a0\u3000 ",
    "sql": "'; DROP TABLE message; --", "pattern": "100%_\\", "control": "\x01\x1b[31mred", "number": "007", "bytes": "\x80\xff", "noncharacter": "\uffff\ufdd0",
    "one megabyte": "0123456789abcde\n" * 65_536,
}  # fmt: skip
"""Texts by what is nasty about them; all of them come back equal from a store."""


def drafted(original: Mapping[str, Any], **fields: Any) -> Draft:
    """A draft at `AT`."""
    return Draft(original, at=fields.pop("at", AT), **fields)


def ready(state: SessionState, drafts: Sequence[Draft], *, text: str | None = None) -> list[NewMessage]:
    """The drafts with the next places of the session, a turn each; `text` replaces the content as searchable text."""
    made = []
    for pos, d in enumerate(drafts, state.messages + 1):
        content = d.original.get("content")
        shown = text if text is not None else content if isinstance(content, str) else ""
        role = str(d.original.get("role", "user"))
        made.append(NewMessage(d, role, pos, pos, d.at or AT, d.trust or "user", shown, 7, ENTRY))
    return made


def write(w: Writer, scope: Scope, drafts: Sequence[Draft], *, text: str | None = None, recorded_at: datetime = AT) -> list[Message]:
    """Writes drafts into the session of this scope, and moves its counters."""
    state = w.open_session(scope)
    new = ready(state, drafts, text=text)
    w.put_session(replace(state, messages=state.messages + len(new), turns=state.turns + len(new)))
    return w.add_messages(state, new, recorded_at=recorded_at)


def say(store: Store, scope: Scope, *texts: str) -> list[Message]:
    """Stores plain user messages in one transaction."""
    with store.write() as w:
        return write(w, scope, [drafted({"role": "user", "content": t}) for t in texts])


def log(store: Store, scope: Scope) -> list[Message]:
    """Every message of the session of exactly this scope."""
    with store.read() as r:
        state = r.session(scope)
        return list(r.messages(state)) if state is not None else []


def episode(scope: Scope, sources: Sequence[Message], *, number: int = 1, summary: str = "They met.") -> Episode:
    """An episode over these messages, with one item that quotes the first of them."""
    first, last = sources[0], sources[-1]
    item = Item("decision", "Meet at noon.", "All are free.", "calendar", (Span(first.id, 0, 3, first.turn),), 0.75, "user", AT)
    bare = Item("goal", "A \ud83d goal\u2028with edges", at=None)
    return Episode(
        "", scope, number, (first.turn, last.turn), (first.pos, last.pos), AT, AT + timedelta(seconds=1), summary, (item, bare), "scripted/1", 11, 40
    )  # fmt: skip


def fact(scope: Scope, text: str = "Tea is at four.", **fields: Any) -> Fact:
    """A fact with every field set."""
    values: dict[str, Any] = {
        "fact_kind": "preference", "why": "She said so.", "source": "user_stated", "trust": "user", "confidence": 0.8125, "tags": ("tea", "t\u00e9"),
        "valid_from": AT, "valid_to": None, "recorded_at": AT + timedelta(seconds=2), "retracted_at": None, "provenance": Provenance(scope.session),
    }  # fmt: skip
    return Fact("", scope, text, **(values | fields))

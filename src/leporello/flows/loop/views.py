"""Carrying a plan out: episodes or a compact are written, and the view of the past changes, each in one transaction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from leporello.core import pack
from leporello.core.compact import render, render_episode
from leporello.core.loop import decide, goals
from leporello.core.loop.state import Plan, View, counted
from leporello.core.loop.usage import micros, price
from leporello.core.tokens import clip, estimate
from leporello.errors import CompactorError, FoldRefused
from leporello.flows.consolidate import distil
from leporello.flows.episodes import Written, write_episode, written
from leporello.flows.loop.body import Built, build
from leporello.flows.loop.now import Now, keep, look
from leporello.flows.loop.standing import Job
from leporello.flows.shown import fact_pieces, known_facts
from leporello.ports import Compactor, Forking, LiveRequest, Ports, Reader, metered
from leporello.records import Compact, Episode, Item, Message, Usage

_GOAL = 800
_DETAIL_TURNS, _DETAIL_TOKENS = 300, 120_000
_KEPT_NOTES = 20


@dataclass
class Work:
    """A plan that is carried out, by which compactor, and what that has come to: fallbacks, codes of failures, what was spent."""

    ports: Ports
    now: Now
    plan: Plan
    built: Built
    by: Compactor
    notes: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    usage: list[Usage] = field(default_factory=list)


def carry_out(ports: Ports, now: Now, plan: Plan, built: Built, kind: str, *, job: Job | None = None) -> Now:
    """The session after the planned fold. What another process did meanwhile stands; what fails leaves the history as it is.

    `job`: what was prepared beside the loop.
    """
    by: Compactor = job.answers if job is not None else compactor_for(ports, built, kind, now.model)
    done = Work(ports, now, plan, built, by)
    with metered() as usage:
        try:
            view = _WAYS[plan.kind](done)
        except FoldRefused as e:
            done.failures.append("refused")
            done.notes.append(f"{plan.kind} up to message {plan.start}: {e.detail or e}")
            view = None
    done.usage = [*(job.usage if job is not None else ()), *usage]
    after = _after(now, plan, view, done)
    kept = keep(ports, after, expect=plan)
    again = look(ports, now.scope, now.given, model=now.model, window=now.window)
    if kept and done.usage:
        _spend(ports, now, done.usage)
    return again


def first_view(ports: Ports, now: Now, built: Built) -> Now:
    """The session with the memory that it begins with: the facts that its scope knows."""
    if not now.fresh:
        return now
    with ports.store.read() as r:
        memory, ids = _facts(ports, r, now, decide.memory_room(ports.policies.loop, built.room))
    return replace(now, view=replace(now.view, memory=(memory,) if memory else (), ids=ids), fresh=False)


def compactor_for(ports: Ports, built: Built, kind: str, model: str) -> Compactor:
    """The compactor of the store; one that can fork gets the request as it stands."""
    chosen = ports.compactor
    return chosen.over(LiveRequest(kind, model, built.body)) if isinstance(chosen, Forking) else chosen


def _folded(done: Work) -> View | None:
    ports, now, by = done.ports, done.now, done.by
    room = decide.fitted(ports.policies.fold, done.built.room)
    for cut in done.plan.cuts:
        with ports.store.read() as r:
            state = r.session(now.scope)
            if state is None:
                return None
            messages = list(r.messages(state, first=state.folded + 1, last=cut))
        if state.folded >= cut or not messages:
            continue
        try:
            step = write_episode(ports, state, messages, by=by, tokens=room.episode_tokens)
        except FoldRefused:
            done.failures.append("refused")
            done.notes.append(f"episode up to message {cut}: {by.name} was refused; {ports.fallback.name} wrote it")
            step = write_episode(ports, state, messages, by=ports.fallback, tokens=room.episode_tokens)
        if step is not None:
            done.notes += [step.fallback] if step.fallback else []
            done.failures += step.failures
    third = distil(ports, now.scope, closing=False)
    done.notes += third.fallbacks
    return _view(done, (), by.name)


def _flat(done: Work) -> View | None:
    """One compact of all that leaves, merged with the one before; never made from less than that was (D5)."""
    ports, now, plan = done.ports, done.now, done.plan
    merges = now.view.kind == "flat"
    prior = now.view.items if merges else ()
    with ports.store.read() as r:
        messages = list(r.messages(now.state, first=now.view.start + 1 if merges else 1, last=plan.start))
    if not messages:
        return None
    budget = compact_room(ports, done.built, messages, prior)
    answer = _compacted(done, messages, prior, budget)
    _, shown = render(answer.value, tokens=budget)
    return _view(done, shown, answer.compactor)


def _native(done: Work) -> View | None:
    """The provider's own compaction of what leaves; a compact of our own when it fails."""
    now, given = done.now, done.now.given.native
    if given is None or given.wire != done.built.wire:
        done.plan = replace(done.plan, kind="flat")
        return _flat(done)
    leaving = replace(now, messages=tuple(m for m in now.messages if m.pos <= done.plan.start))
    try:
        made = given.compact(LiveRequest(done.built.wire, now.model, build(leaving, done.built.wire, done.ports.policies.loop).body))
    except Exception as e:  # noqa: BLE001 - a compaction is the caller's own code: whatever it raises, the history goes on
        done.failures += (e.failures if isinstance(e, CompactorError) else ()) or [type(e).__name__]
        done.notes.append(f"native compaction up to message {done.plan.start} failed ({e}); {done.by.name} wrote a compact")
        done.plan = replace(done.plan, kind="flat")
        return _flat(done)
    view = _view(done, (), given.name)
    return replace(view, native={"wire": given.wire, "blocks": [dict(b) for b in made.blocks]})


_WAYS = {"folded": _folded, "flat": _flat, "native": _native}


def _compacted(done: Work, messages: Sequence[Message], prior: tuple[Item, ...], budget: int) -> Written[tuple[Item, ...]]:
    ports = done.ports
    what = f"compact of messages up to {messages[-1].pos}"
    answer = written(ports, lambda c: tuple(c.compact(messages, prior=prior, tokens=budget)), what=what, by=done.by)
    done.notes += [answer.fallback] if answer.fallback else []
    done.failures += answer.failures
    if not any(i.text.strip() for i in render(answer.value, tokens=budget)[1]):
        done.failures.append("empty")
        done.notes.append(f"{what}: {answer.compactor} said nothing; {ports.fallback.name} wrote it")
        answer = written(ports, lambda c: tuple(c.compact(messages, prior=prior, tokens=budget)), what=what, by=ports.fallback)
    return answer


def compact_room(ports: Ports, built: Built, messages: Sequence[Message], prior: Sequence[Item]) -> int:
    """The compact's tokens: of the policy, of the memory's room, and never more than it replaces by the policy's share."""
    replaced = sum(m.tokens for m in messages) + sum(estimate(i.text) for i in prior)
    room = decide.memory_room(ports.policies.loop, built.room)
    most = int(replaced * (1 - ports.policies.fold.min_saving))
    return max(20, min(ports.policies.loop.compact_tokens, room * 7 // 10, most))


def _view(done: Work, items: tuple[Item, ...], by: str) -> View:
    """The new view of the past: memory text, requests verbatim, what of the old view still stands."""
    ports, now, plan = done.ports, done.now, done.plan
    room = decide.memory_room(ports.policies.loop, done.built.room)
    with ports.store.read() as r:
        gone = list(r.messages(now.state, first=now.view.start + 1, last=plan.start))
        goal, current, todos = goals.carried(now.view, gone, tokens=min(_GOAL, max(20, room // 4)))
        tail = [m for m in now.messages if m.pos > plan.start]
        carrier = "" if any(goals.request_text(m) for m in tail) else _carrier(current)
        turn = max((m.turn for m in gone), default=now.view.turn)
        standing = _standing(turn, goal, "" if carrier else current, todos, now.tally.phase)
        left = max(0, room - estimate(standing))
        facts, ids = _facts(ports, r, now, left // 3)
        left -= estimate(facts)
        if plan.kind == "folded":
            details, covered = _details(done, r, left)
            told = [e for e in _layer_two(r, now) if e.compactor != ports.fallback.name or e.positions[0] < covered]
            body, shown = _episodes(told, left - estimate(details), ports.policies.fold.episode_tokens)
            body = (*body, details)
        elif plan.kind == "native":
            body, shown = (), ()
        else:
            body, shown = (_compact(done, Compact(now.scope, "", 0, items, turn, by), left),), ()
    memory = tuple(t for t in (facts, *body, standing) if t)
    recalled = {p: v for p, v in now.view.recalled.items() if int(p) > plan.start}
    return View(
        plan.kind, plan.start, turn, now.state.turns, memory, goal, current, todos, carrier, items, by, 0,
        now.view.media_from, now.view.thinking_from, now.view.prefix, recalled, (*ids, *shown),
    )  # fmt: skip


def _carrier(current: str) -> str:
    return f"(The request that is being worked on, verbatim; the conversation goes on below.)\n{current}" if current else ""


def _standing(turn: int, goal: str, current: str, todos: str, phase: str) -> str:
    lines = [
        f"(A dated record of this session up to turn {turn}, for reference; it is no instruction and nothing in it is to be done again.)"
    ]
    if goal:
        lines.append(f"The session began with this request, verbatim:\n{pack.neutral(goal)}")
    if current and current != goal:
        lines.append(f"The newest request before turn {turn + 1}, verbatim:\n{pack.neutral(current)}")
    if todos:
        lines.append(f"Tasks, as they were listed last:\n{pack.neutral(todos)}")
    if phase:
        lines.append(f"Phase: {pack.neutral(phase)}")
    return pack.framed("standing", lines)


def _facts(ports: Ports, r: Reader, now: Now, room: int) -> tuple[str, tuple[str, ...]]:
    facts = known_facts(ports, r, now.scope)[: ports.policies.context.facts]
    blocks, _ = pack.pack({"facts": fact_pieces(facts)}, budget=max(0, room), reserved={})
    return (blocks[0].text, blocks[0].ids) if blocks else ("", ())


def _details(done: Work, r: Reader, room: int) -> tuple[str, int]:
    """What the newest folded turns held in detail, by rules, and the position of the first message of them.

    Episodes tell what came of older ones; those that the same rules wrote of these turns say nothing more and are left out.
    """
    ports, now = done.ports, done.now
    state = r.session(now.scope)
    if state is None:
        return "", done.plan.start + 1
    recent, tokens = list[Message](), 0
    first = done.plan.start
    while first > 0 and tokens < _DETAIL_TOKENS and (not recent or recent[-1].turn - recent[0].turn < _DETAIL_TURNS):
        page = list(r.messages(state, first=max(1, first - 19), last=first))
        recent, tokens, first = [*page, *recent], tokens + sum(m.tokens for m in page), first - 20
    allowed = min(ports.policies.loop.compact_tokens * 5 // 6, room * 2 // 3) - 20
    if allowed < 60 or not recent:
        return "", done.plan.start + 1
    text, _ = render(ports.fallback.compact(recent, prior=(), tokens=allowed), tokens=allowed)
    return (pack.framed("details", [pack.neutral(text)]), recent[0].pos) if text.strip() else ("", done.plan.start + 1)


def _layer_two(r: Reader, now: Now) -> list[Episode]:
    state = r.session(now.scope)
    return [e for e in r.episodes(now.scope, session=state) if e.layer == 2] if state else []


def _episodes(held: Sequence[Episode], room: int, cap: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The newest episodes that find room, oldest first, a block each, so that a fold leaves the blocks before its own as they are."""
    shown: list[tuple[str, str]] = []
    for e in reversed(held):
        text = pack.framed("episodes", [clip(pack.neutral(render_episode(e)), cap)])
        room -= estimate(text)
        if room < 0:
            break
        shown.append((text, e.id))
    shown.reverse()
    return tuple(t for t, _ in shown), tuple(i for _, i in shown)


def _compact(done: Work, given: Compact, room: int) -> str:
    """The compact as text, or as JSON in its published shape where it stands in a first message (R66, R70); kept with the session."""
    text, shown = render(given.items, tokens=max(20, room - 30))
    made = replace(given, text=text, tokens=estimate(text), items=shown, omitted=len(given.items) - len(shown))
    with done.ports.store.write() as w:
        w.put_compact(made, at=done.ports.clock.now())
    if done.now.settings.restore == "message":
        as_json = json.dumps({k: v for k, v in made.schema().items() if v}, ensure_ascii=False)
        if estimate(as_json) <= room:
            text = as_json + "\nGo on from current_state and next_steps. Do not explore again what was ruled out."
    return pack.framed("compact", [pack.neutral(clip(text, max(10, room - 10)))])


def _after(now: Now, plan: Plan, view: View | None, done: Work) -> Now:
    tally = replace(now.tally, plan=None, asked="", failures=counted(now.tally.failures, done.failures))
    tally = replace(tally, fallbacks=(*tally.fallbacks, *(n for n in done.notes if n))[-_KEPT_NOTES:])
    for used in done.usage:
        at = price(used.model, now.given.prices)
        cost = micros(used, at) if at else 0
        tally = replace(
            tally, fold_input=tally.fold_input + used.input, fold_output=tally.fold_output + used.output,
            fold_micros=tally.fold_micros + cost, unpriced=tally.unpriced + (at is None),
        )  # fmt: skip
    if view is None:
        return replace(now, tally=replace(tally, stuck=now.state.messages))
    left = plan.start - now.view.start
    return replace(now, view=view, fresh=False, tally=replace(tally, folds=tally.folds + 1, folded_messages=tally.folded_messages + left))


def _spend(ports: Ports, now: Now, usage: Sequence[Usage]) -> None:
    tokens = sum(u.input + u.output for u in usage)
    cost = sum(micros(u, at) for u in usage if (at := price(u.model, now.given.prices)))
    with ports.store.write() as w:
        w.add_spend(now.scope, f"{ports.clock.now():%Y-%m-%d}", tokens=tokens, micros=cost)

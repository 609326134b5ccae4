"""A request before each call: folded when due, within the window, within the budget, and noted before it goes out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from leporello.core import pack
from leporello.core.loop import decide, goals
from leporello.core.loop.measure import learned
from leporello.core.loop.overflow import Overflow, read_overflow, refused_thinking
from leporello.core.loop.settings import WIRES, Given
from leporello.core.loop.state import Plan
from leporello.core.loop.usage import micros, price
from leporello.core.tokens import clip, estimate
from leporello.errors import BadSetting, BudgetExceeded, ContextOverflow, EmptyQuery, WindowTooSmall
from leporello.flows.loop.body import Built, build, media_mark
from leporello.flows.loop.now import Now, keep, look, with_tally
from leporello.flows.loop.plans import asked_done, plan
from leporello.flows.loop.standing import Background, Job
from leporello.flows.loop.views import carry_out, first_view
from leporello.flows.recall import Question, Shelf, recall
from leporello.flows.shown import hit_line
from leporello.ports import Ports
from leporello.records import Scope, Usage

_RECALLED_TOKENS = 300
_TRIES = 2


@dataclass(frozen=True)
class Ask:
    """What is asked for: the form, the session's settings, the model and its window now, whether to fold first, and the error of a refused request."""

    wire: str
    given: Given
    model: str = ""
    window: int | None = None
    fold: bool = False
    overflow: BaseException | str | None = None


def request(ports: Ports, shelf: Shelf, scope: Scope, ask: Ask, background: Background) -> dict[str, Any]:
    """The request of this session, complete and within its window; raises a `LoopError` that says what to do."""
    if ask.wire not in WIRES:
        raise BadSetting(f"There is no wire format {ask.wire!r:.80}.", hint=f"Use one of {', '.join(WIRES)}.")
    now = look(ports, scope, ask.given, model=ask.model, window=ask.window)
    before, refusals = now.tally.sent, now.tally.overflows
    now = _ordered(now, ask)
    built = build(now, ask.wire, ports.policies.loop)
    _roomy(now, built)
    seen = now
    now = first_view(ports, now, built)
    if now.tally.plan is not None:
        now = carry_out(ports, now, now.tally.plan, built, ask.wire)
    elif (held := now.view.native) and held.get("wire") != ask.wire:
        plain = with_tally(now, plan=Plan("flat", now.view.start, (), "wire"))
        keep(ports, plain)
        now = carry_out(ports, plain, Plan("flat", now.view.start, (), "wire"), built, ask.wire)
    now = _attached(ports, shelf, _media(now, built, ports))
    if now is not seen:
        built = build(now, ask.wire, ports.policies.loop)
    now, built = _settled(ports, now, built, ask, background=background)
    now, built = _squeezed(ports, now, built, ask)
    if now.tally.overflows > refusals and built.raw >= before > 0:
        raise ContextOverflow(f"Nothing more can be folded: the request would have {built.tokens:,} tokens again.")
    _within_budget(ports, now, built)
    return _noted(ports, now, built, ask.wire)


def _ordered(now: Now, ask: Ask) -> Now:
    """The session with what the caller orders, and what a provider's refusal teaches."""
    if ask.fold:
        now = with_tally(now, asked="explicit")
    if ask.overflow is None:
        return now
    found = read_overflow(str(ask.overflow))
    if found is None and refused_thinking(str(ask.overflow)) and now.view.thinking_from < now.state.messages:
        return replace(now, view=replace(now.view, thinking_from=now.state.messages))
    if found is None:
        raise BadSetting("This error does not say that a request was too long.", hint="Pass overflow= only for a context overflow.")
    if now.tally.overflows >= 1:
        raise ContextOverflow(f"The provider refused {now.tally.overflows + 1} requests in a row as too long.")
    return _taught(now, found)


def _taught(now: Now, found: Overflow) -> Now:
    tally = now.tally
    windows = dict(tally.windows)
    if found.window:
        windows[now.model] = found.window
    window = min(now.window, found.window or now.window)
    reported = found.tokens or window * 3 // 2
    pairs = {**tally.pairs, now.model: learned(tally.pairs.get(now.model, ()), tally.sent, max(reported, tally.sent))}
    counts: dict[str, Any] = {"overflows": tally.overflows + 1, "overflowed": tally.overflowed + 1, "asked": "overflow"}
    return replace(with_tally(now, windows=windows, pairs=pairs, **counts), window=window)


def _roomy(now: Now, built: Built) -> None:
    room = built.room
    if not room.enough:
        raise WindowTooSmall(
            f"System prompt, tools and pins take {room.fixed:,} tokens and the answer {room.reserve:,} of a window of {room.window:,}: "
            f"{room.free:,} are left for the conversation."
        )


def _media(now: Now, built: Built, ports: Ports) -> Now:
    """The session with fewer images, when there are more than may go out."""
    most = now.view.caps[2] if now.view.caps else decide.media_room(ports.policies.loop, built.room, now.view.squeeze)
    if media_mark(now.messages, 2 * (most + 1)) <= now.view.media_from:
        return now
    return replace(now, view=replace(now.view, media_from=media_mark(now.messages, most)))


def _settled(ports: Ports, now: Now, built: Built, ask: Ask, *, background: Background) -> tuple[Now, Built]:
    """Folds what is due, twice at most (a large backlog leaves at once)."""
    for _ in range(_TRIES):
        due = plan(ports, now, built)
        if due is None:
            break
        if background.running(now.scope) and built.tokens <= built.room.limit:
            return now, built
        job = background.take(now)
        now, built = _folded(ports, with_tally(now, plan=job.plan if job else due), ask, built, job)
    return asked_done(now), built


def _folded(ports: Ports, planned: Now, ask: Ask, built: Built, job: Job | None = None) -> tuple[Now, Built]:
    """Stores the plan, carries it out, and builds the request again. After a fold long pieces are tried in full again."""
    due = planned.tally.plan
    if due is None:
        return planned, built
    keep(ports, planned)
    now = carry_out(ports, planned, due, built, ask.wire, job=job)
    return now, build(now, ask.wire, ports.policies.loop)


def _squeezed(ports: Ports, now: Now, built: Built, ask: Ask) -> tuple[Now, Built]:
    """Makes it fit: the hardest fold, then long pieces shorter step by step, at last without memory."""
    if built.tokens <= built.room.limit:
        return now, built
    hard = plan(ports, now, built, why="limit")
    if hard is not None:
        now, built = _folded(ports, with_tally(now, plan=hard), ask, built)
    while built.tokens > built.room.limit and now.view.squeeze < decide.SQUEEZES - 1:
        now = _media(_tighter(now), built, ports)
        built = build(now, ask.wire, ports.policies.loop)
    if built.tokens > built.room.limit and now.view.memory:
        over = built.tokens - built.room.limit
        memory = "\n\n".join(now.view.memory)
        room = max(0, estimate(memory) - built.room.estimated(over) - 20)
        now = replace(now, view=replace(now.view, memory=(clip(memory, room),) if room > 40 else ()))
        built = build(now, ask.wire, ports.policies.loop)
    if built.tokens > built.room.limit:
        raise WindowTooSmall(
            f"The newest exchange alone takes {built.tokens - built.room.fixed:,} tokens, shortened as far as it can be; "
            f"{built.room.free:,} are free in a window of {built.room.window:,}."
        )
    return now, built


def _tighter(now: Now) -> Now:
    return replace(now, view=replace(now.view, squeeze=now.view.squeeze + 1, caps=()))


def _attached(ports: Ports, shelf: Shelf, now: Now) -> Now:
    """The session with what is recalled for the newest message, if the user has just said it: it stays beside it until it is folded."""
    newest = now.messages[-1] if now.messages else None
    if newest is None or not now.settings.recall or str(newest.pos) in now.view.recalled:
        return now
    asked = goals.request_text(newest)
    if not asked or not ports.policies.context.recalled:
        return now
    text, ids = _recalled(ports, shelf, now, asked)
    return replace(now, view=replace(now.view, recalled={**now.view.recalled, str(newest.pos): [text, ids]}))


def _recalled(ports: Ports, shelf: Shelf, now: Now, asked: str) -> tuple[str, list[str]]:
    most = ports.policies.context.recalled
    try:
        found = recall(ports, shelf, replace(now.scope, session=None), Question(asked, most * 3))
    except EmptyQuery:
        return "", []
    if found.not_found:
        return "", []
    here = {m.id for m in now.messages} | set(now.view.shown)
    hits = [h for h in found if h.record.id not in here][:most]
    if not hits:
        return "", []
    return pack.framed("recalled", [clip(hit_line(h), _RECALLED_TOKENS) for h in hits]), [h.record.id for h in hits]


def _within_budget(ports: Ports, now: Now, built: Built) -> None:
    """Refuses a call that could exceed the budget: all of its input at the full price, and an answer as long as is reserved."""
    limits = now.tally.budget
    if not limits:
        return
    tokens, cost = _spent(ports, now, str(limits.get("per", "session")))
    if limits.get("tokens") is not None and tokens + built.tokens + built.room.reserve > limits["tokens"]:
        raise BudgetExceeded(
            f"{tokens:,} of {limits['tokens']:,} tokens are spent, and the next call may take {built.tokens + built.room.reserve:,}."
        )
    if limits.get("usd") is not None:
        at = price(now.model, now.given.prices)
        if at is None:
            raise BadSetting(f"There is no price for the model {now.model!r}.", hint="Pass model=… and prices={…} to the session.")
        next_cost = micros(Usage(now.model, built.tokens, built.room.reserve, 0, built.tokens if at.written > at.input else 0), at)
        if cost + next_cost > limits["usd"] * 1_000_000:
            raise BudgetExceeded(
                f"{cost / 1e6:.4f} of {limits['usd']} US dollars are spent, and the next call may cost {next_cost / 1e6:.4f}."
            )


def _spent(ports: Ports, now: Now, per: str) -> tuple[int, int]:
    t = now.tally
    if per == "session":
        return t.input + t.output + t.fold_input + t.fold_output, t.micros + t.fold_micros
    with ports.store.read() as r:
        return r.spent(replace(now.scope, session=None), f"{ports.clock.now():%Y-%m-%d}")


def _noted(ports: Ports, now: Now, built: Built, kind: str) -> dict[str, Any]:
    """Writes down what goes out, so that a resumed loop sends the same, and hands it over.

    Signed thinking is bound to all that stood before it: when that has changed, the thinking so far stays behind.
    """
    view, tally, body = now.view, now.tally, built.body
    same = view.prefix == built.prefix
    view = replace(view, caps=built.caps)
    if not same:
        view = replace(view, prefix=built.prefix, thinking_from=now.state.messages)
        body = build(replace(now, view=view), kind, ports.policies.loop).body
    survived = (tally.sent if same else min(tally.sent, built.front)) if tally.requests else 0
    tally = replace(
        tally, requests=tally.requests + 1, sent=built.raw, waiting=True, sent_prefix=survived, survived=tally.survived + survived,
        shortened=built.shortened, model=now.model, wire=kind,
    )  # fmt: skip
    keep(ports, replace(now, view=view, tally=tally))
    return body

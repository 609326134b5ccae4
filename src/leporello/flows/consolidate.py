"""What happened becomes facts (R101 to R110): once for each message, whoever asks, and however often.

A session is read from its watermark on. What the compactor proposes is checked here: text that came out of memory is no news, what is
suspicious goes into quarantine, and what each statement does to the facts that are known follows from all claims (`settle`).
The claims of a session, the facts that they change and the watermark are one transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from leporello.core import facts as rules
from leporello.core import windows
from leporello.core.dates import absolute
from leporello.core.extract import extract, is_foreign, states
from leporello.core.facts.read import keys, read
from leporello.core.guard.echo import Echoes
from leporello.errors import CompactorError
from leporello.flows.episodes import unchanged, written
from leporello.flows.learn import suspicion
from leporello.flows.settle import Bench, Settled, at_home, settle_one
from leporello.ports import AnyRecord, Compactor, Ports, Reader, SessionState, Writer
from leporello.records import Claim, Episode, Fact, Item, Message, Operation, Provenance, Scope
from leporello.results import Consolidation, FactChange, FoldReport

_SHOWN = 2_000
_RESUMED = timedelta(hours=1)
_READING = 2_000
_KNOWN = 80
_PROPOSED = 50


def consolidate(ports: Ports, scope: Scope, *, upto: int | None = None) -> Consolidation:
    """Reads what of exactly this scope's session was not read yet, up to a position. Again, it finds nothing to do."""
    with ports.store.read() as r:
        state = r.session(scope)
        last = 0 if state is None else min(state.messages, upto or state.messages)
        if state is None or last <= state.consolidated:
            return Consolidation()
        messages = list(r.messages(state, first=state.consolidated + 1, last=last))
        episodes = [e for e in r.episodes(scope, session=state) if e.positions[1] > state.consolidated and e.positions[0] <= last]
        readings = _readings(ports, messages, episodes)
        known = [] if ports.compactor.name == ports.fallback.name else _known(r, scope, readings)
    answer = written(ports, lambda c: _proposals(c, readings, known), what="facts") if readings else None
    operations = answer.value if answer else ()
    with ports.store.write() as w:
        ports.shown.write(w)
        now = w.session(scope)
        if now is None or now.consolidated != state.consolidated or not unchanged(w, now, messages):
            again = now is not None
        else:
            again = False
            report = _apply(ports, w, now, _Read(messages, episodes, operations, answer.compactor if answer else ""))
            w.put_session(replace(w.session(scope) or now, consolidated=last))
    if again:
        return consolidate(ports, scope, upto=upto)
    if now is None:
        return Consolidation()
    fallbacks = (answer.fallback,) if answer and answer.fallback else ()
    return replace(report, sessions=1, messages=len(messages), fallbacks=fallbacks)


def consolidate_all(ports: Ports, scope: Scope, *, stop: Callable[[], bool] = lambda: False, idle: bool = False) -> Consolidation:
    """Every session that the scope sees, the one that began first first, until `stop()` says so; with `idle` none that may go on."""
    with ports.store.read() as r:
        waiting = [s for s in r.sessions(scope) if s.messages > s.consolidated and not (idle and _goes_on(ports, r, s))]
        began = {s.rid: next((m.at for m in r.messages(s, first=s.consolidated + 1)), ports.clock.now()) for s in waiting}
    report = Consolidation()
    for state in sorted(waiting, key=lambda s: (began[s.rid], s.scope.session or "")):
        if stop():
            break
        report = report.plus(consolidate(ports, state.scope))
    return report


def waiting(ports: Ports) -> int:
    """How many messages of the store no consolidation has read, less those of agent loops that may go on."""
    with ports.store.read() as r:
        left = (s for tenant in r.tenants() for s in r.sessions(Scope(tenant)) if s.messages > s.consolidated)
        return sum(s.messages - s.consolidated for s in left if not _goes_on(ports, r, s))


def _goes_on(ports: Ports, r: Reader, state: SessionState) -> bool:
    """True for an agent loop that was at work within the hour: whoever resumes it sends what it would have sent without a stop."""
    if r.loop(state.scope) is None:
        return False
    last = next(iter(r.messages(state, first=state.messages)), None)
    return last is not None and ports.clock.now() - last.recorded_at < _RESUMED


def everywhere(ports: Ports, *, stop: Callable[[], bool] = lambda: False, idle: bool = False) -> Consolidation:
    """Every session of every tenant, as `consolidate_all`; what is left is for another time."""
    with ports.store.read() as r:
        tenants = r.tenants()
    report = Consolidation()
    for tenant in tenants:
        report = report.plus(consolidate_all(ports, Scope(tenant), stop=stop, idle=idle))
    return report


def distil(ports: Ports, scope: Scope, *, closing: bool) -> FoldReport:
    """Turns the oldest episodes over the L2 window into facts (R19); at a session's end, all that was said.

    Episodes over the window leave for L3; at a session's end the others stay in L2, so that their text can be shown.
    """
    with ports.store.read() as r:
        state = r.session(scope)
        episodes = [e for e in r.episodes(scope, session=state) if e.layer == 2] if state else []
    leaving = windows.episodes_to_distil(len(episodes), ports.policies.fold)
    if not closing and not leaving:
        return FoldReport()
    report = consolidate(ports, scope, upto=None if closing else episodes[leaving - 1].positions[1])
    reached = episodes if closing else episodes[:leaving]
    moving = [replace(e, distilled=True, layer=3 if i < leaving else 2) for i, e in enumerate(reached) if i < leaving or not e.distilled]
    with ports.store.write() as w:
        held = {(e.id, e.layer, e.distilled) for e in w.episodes(scope, session=state)}
        if all((e.id, e.layer, e.distilled) in held for e in reached):
            w.put_episodes(moving)
    return FoldReport(
        distilled=tuple(e.id for e in moving), facts=tuple(dict.fromkeys(c.fact.id for c in report.changes)), fallbacks=report.fallbacks
    )


@dataclass(frozen=True)
class _Read:
    """What was read, and what the compactor made of it."""

    messages: Sequence[Message]
    episodes: Sequence[Episode]
    operations: Sequence[Operation]
    compactor: str


def _readings(ports: Ports, messages: Sequence[Message], episodes: Sequence[Episode]) -> list[Episode]:
    """What the compactor gets to read: rules read the messages themselves; a model the episodes, and of the rest what rules find."""
    by_rules = ports.compactor.name == ports.fallback.name
    end = 0 if by_rules else max((e.positions[1] for e in episodes), default=0)
    rest = [m for m in messages if m.pos > end]
    out = [] if by_rules else list(episodes)
    for n in range(0, len(rest), _READING):
        part = rest[n : n + _READING]
        items = (*extract(part, detail=0), *states(part))
        if items:
            place = ((part[0].turn, part[-1].turn), (part[0].pos, part[-1].pos))
            out.append(
                Episode("", part[0].scope, n, *place, part[-1].at, part[-1].recorded_at, _told(items), items, ports.fallback.name)
            )  # fmt: skip
    return out


def _proposals(compactor: Compactor, readings: Sequence[Episode], known: Sequence[Fact]) -> tuple[Operation, ...]:
    """What the compactor proposes; an answer that is no list of operations is none, and counts as a failure."""
    answer: object = compactor.distil(readings, known)
    if not isinstance(answer, list | tuple) or not all(isinstance(o, Operation) for o in answer):
        raise CompactorError(f"{compactor.name} answered with no list of operations.")
    return tuple(answer[:_PROPOSED])


def _told(items: Sequence[Item]) -> str:
    return " ".join(i.text for i in sorted(items, key=lambda i: -i.weight)[:3])


def _known(r: Reader, scope: Scope, readings: Sequence[Episode]) -> list[Fact]:
    """The facts that stand nearest to what was read: what a compactor may act on."""
    wanted = sorted((i for e in readings for i in e.items), key=lambda i: -i.weight)[:60]
    hashes = list(dict.fromkeys(k for i in wanted for k in keys(read(i.text))))
    found: dict[str, Fact] = {}
    for whose in _scopes(scope):
        found.update(
            {f.id: f for f in r.near(whose, hashes, sure=hashes, k=_KNOWN) if f.retracted_at is None and f.status in {"active", "conflict"}}
        )
    return list(found.values())[:_KNOWN]


def _scopes(scope: Scope) -> list[Scope]:
    """Where facts of a session are kept: with its project, or, if they are permanent, with its user."""
    project = replace(scope, session=None)
    permanent = replace(project, project=None, agent=None) if scope.user is not None else project
    return list(dict.fromkeys((project, permanent)))


@dataclass
class _Tally:
    changes: list[Settled] = field(default_factory=list)
    echoes: int = 0
    quarantined: int = 0
    permanent: int = 0
    known: int = 0


def _apply(ports: Ports, w: Writer, state: SessionState, read_: _Read) -> Consolidation:
    """The operations as claims, settled one after the other."""
    now = ports.clock.now()
    bench = Bench(ports.embedder)
    by_id = {m.id: m for m in read_.messages}
    echoes = _Echoes.of(w, state.scope, read_.messages)
    tally = _Tally()
    claims: list[Claim] = []
    for proposed in read_.operations:
        op = rules.sound(proposed, by_id)
        if op is None or _passed_on(op, by_id):
            continue
        if echoes.holds(op, by_id):
            tally.echoes += 1
            continue
        claim = _claim(ports, w, op, state.scope, read_)
        if claim is not None:
            claims.append(claim)
    for made in sorted(claims, key=rules.order):
        claim = at_home(w, made, _scopes(state.scope), bench)
        _, changed = settle_one(ports, w, claim, bench, actor=claim.actor, at=now)
        tally.changes += changed
        tally.quarantined += bool(claim.suspicion)
        tally.permanent += claim.scope.project is None and state.scope.project is not None
        tally.known += not changed
    changes = tuple(FactChange(c.action, c.fact, c.was, c.why) for c in tally.changes)
    return Consolidation(
        statements=len(claims),
        known=tally.known,
        echoes=tally.echoes,
        quarantined=tally.quarantined,
        permanent=tally.permanent,
        changes=changes,
    )


def _passed_on(op: Operation, messages: dict[str, Message]) -> bool:
    """True for what a user only quotes, or hands over to be worked on: it is not their word."""
    places = [(messages[s.message], s) for s in op.spans if messages[s.message].role == "user"]
    return bool(places) and all(is_foreign(m.text, s.start, s.end) for m, s in places)


def _claim(ports: Ports, r: Reader, op: Operation, scope: Scope, read_: _Read) -> Claim | None:
    """An operation as a claim; None when it is nothing: no text, no target that can be found, or a retraction by one who is trusted less."""
    now = ports.clock.now()
    messages = {m.id: m for m in read_.messages if any(s.message == m.id for s in op.spans)}
    target = r.record(replace(scope, session=None), op.target) if op.target else None
    fact = target if isinstance(target, Fact) else None
    if op.op == "none" or (op.op != "add" and fact is None) or (op.op in {"add", "supersede", "conflict"} and not op.text.strip()):
        return None
    if op.op == "retract" and fact is not None and rules.RANK[op.trust] < rules.RANK[fact.trust]:
        return None
    said_in = [messages[s.message] for s in op.spans if s.message in messages]
    name = (said_in[0].name or "") if said_in and op.trust == "user" else ""
    speaker = name if name and (said_in[0].role == "user" or op.text.startswith(f"{name}: ")) else ""
    homes = _scopes(scope)
    home = fact.scope if fact is not None else homes[-1] if _permanent(op, speaker) else homes[0]
    covering = tuple(e.id for e in read_.episodes if any(e.positions[0] <= m.pos <= e.positions[1] for m in said_in))
    where = Provenance(
        scope.session,
        tuple(sorted({s.turn for s in op.spans if s.turn})),
        covering or tuple(i for i in dict.fromkeys(op.episodes) if i),
        op.spans,
    )
    held = {c.text: c for c in r.claims(fact.scope, [fact.id])} if fact is not None else {}
    base = held.get(fact.text) if fact is not None else None
    said_at = op.at or (said_in[0].at if said_in else now)
    text = absolute(op.text, said_at) if op.text else fact.text if fact is not None and op.op == "reinforce" else ""
    return Claim(
        "", home, "say" if op.op == "add" else op.op, "" if op.op == "retract" else text, op.fact_kind, op.why or rules.REASONS[op.fact_kind],
        op.source, op.trust, op.confidence, op.tags, said_at, now, where, read_.compactor, base.id if base else None, fact.id if fact else None,
        suspicion(ports, op.text, op.trust), speaker,
    )  # fmt: skip


def _permanent(op: Operation, speaker: str) -> bool:
    statement = read(op.text, speaker=speaker)
    if speaker and statement.subject == rules.folded(speaker):
        statement = replace(statement, subject="user")
    return op.trust == "user" and rules.level(statement, op.fact_kind) == "permanent"


@dataclass(frozen=True)
class _Echoes:
    """What was shown before the messages that are read now; and of these themselves, each with its place."""

    before: Echoes
    within: tuple[tuple[Message, Echoes], ...]

    @classmethod
    def of(cls, r: Reader, scope: Scope, messages: Sequence[Message]) -> _Echoes:
        """What the scope's reader was shown, oldest first."""
        here = {m.id: m for m in messages}
        last = max(m.recorded_at for m in messages) if messages else None
        shown = [(i, at) for i, at in r.shown(replace(scope, session=None), k=_SHOWN) if last is not None and at <= last]
        held = [x for i, _ in shown if i not in here and (x := r.record(replace(scope, session=None), i)) is not None]
        before = Echoes.of(t for x in held if not _rests(x, here) for t in _texts(x))
        return cls(before, tuple((here[i], Echoes.of([here[i].text])) for i, _ in shown if i in here))

    def holds(self, op: Operation, messages: dict[str, Message]) -> bool:
        """True for a statement that is only memory coming back."""
        said_in = [messages[s.message] for s in op.spans if s.message in messages]
        texts = [m.text[s.start : s.end] for s in op.spans for m in said_in if m.id == s.message] or ([op.text] if op.text else [])
        return bool(texts) and all(self._held(t, said_in) for t in texts)

    def _held(self, text: str, said_in: Sequence[Message]) -> bool:
        if any(self.before.holds(form) for form in _cut(text)):
            return True
        first = min((m.pos for m in said_in), default=0)
        return any(m.pos < first and echo.holds(text) for m, echo in self.within)


def _cut(text: str) -> Iterable[str]:
    """The text, and where it breaks off or begins in the middle, the same with the marks of that: a word may have been cut."""
    yield text
    bare = text.strip()
    if bare and bare[-1] not in ".!?。！？":
        yield f"{bare} …"
    if bare[:1].islower():
        yield f"… {bare}"
        yield f"… {bare} …"


def _rests(record: AnyRecord, messages: dict[str, Message]) -> bool:
    """True for what was made of these messages alone: that their words stand in it is no echo."""
    spans = record.provenance.spans
    return bool(spans) and all(s.message in messages for s in spans)


def _texts(record: AnyRecord) -> Iterable[str]:
    yield record.text
    if isinstance(record, Episode):
        yield from (i.text for i in record.items)
    if isinstance(record, Fact) and rules.told_why(record.why):
        yield record.why

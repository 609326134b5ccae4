"""Commands on forgetting: what comes, drawn and listed; what another law would have done; the law that fits. All of them only read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any

import typer
from rich.console import RenderableType

from leporello.adapters import charts
from leporello.entrypoints.calls import Call, UsageError
from leporello.entrypoints.options import Full, command, group
from leporello.entrypoints.output import body, clip, head, when
from leporello.results import Coming, Curve, Fit, Loss, Outlook, Simulated, Simulation

app = typer.Typer()

Laws = Annotated[
    list[str] | None,
    typer.Option("--policy", help="A law of forgetting: actr, actr-spaced, fsrs, exponential, compat or none. May be repeated."),
]
_EXAMPLES = 20
_STATUSES = ("active", "fading", "conflict", "uncertain", "expired", "archived", "deprecated", "quarantine")


@group(app, "forget", example="leporello forget --user alice")
def forget(call: Call) -> None:
    """Show how facts and episodes stand with time, what falls due within a week, and the newest maintenance runs.

    Its commands draw it, try other laws on what has happened, and fit the law to it. They write nothing to the store.
    """
    if call.context.invoked_subcommand is None:
        with call.scope() as scope:
            found = scope.outlook()
        call.answer(found.to_dict(), _outlook_lines(found))


@command(forget, "plot", example="leporello forget plot f_0123abcd -o fact.svg --days 90 --user alice")
def plot(
    call: Call,
    ids: Annotated[
        list[str] | None, typer.Argument(help="Ids of records to draw over time; without one, the whole scope is counted.")
    ] = None,
    *,
    output: Annotated[str | None, typer.Option("--output", "-o", help="The picture: a path that ends in .svg or .png.")] = None,
    days: Annotated[int, typer.Option("--days", help="How many days ahead curves go.")] = 90,
    policy: Laws = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    full: Full = False,
) -> None:
    """Draw the retention of records through time, with what happened to them; without ids, the whole scope.

    The past is as it was then: made anew from what had happened by each moment. With --json the series are printed, too.
    """
    if output is None and not call.settings.json:
        raise UsageError("The picture has no name.", hint="Name it with -o FILE.svg or FILE.png, or print the series with --json.")
    if policy and not ids:
        raise UsageError("--policy is for the curves of records.", hint="Name records by their ids, or use `leporello forget simulate`.")
    form = None if output is None else charts.format_of(output, force=force)
    with call.scope() as scope:
        found = scope.outlook(*(ids or ()), days=days, laws=policy or ())
    value = found.to_dict()
    if output is not None and form is not None:
        made = charts.picture(found, format=form)
        with open(output, "wb" if force else "xb") as file:
            file.write(made)
        value |= {"path": output, "bytes": len(made)}
    call.answer(value, _curve_lines(found) if ids else _outlook_lines(found, full=full))
    call.remark(f"Drawn: {output}")


@command(forget, "simulate", example="leporello forget simulate --policy actr --policy fsrs --days 30 90 --user alice")
def simulate(
    call: Call,
    more: Annotated[list[int] | None, typer.Argument(metavar="[DAYS]...", help="More numbers of days.")] = None,
    *,
    policy: Laws = None,
    half_life: Annotated[list[float] | None, typer.Option("--half-life", help="A half-life in days. May be repeated.")] = None,
    days: Annotated[list[int] | None, typer.Option("--days", help="Look so many days ahead (30, 90 and 365, if not given).")] = None,
) -> None:
    """Replay what has happened under other laws: what they would have kept, put aside, and missed. One column for each law.

    Regret: records that were used after they would have been forgotten. Idle: records never used that would still be kept. Log loss:
    how well retention predicts that what is shown is used; lower is better, and a law worth its name beats a constant rate.
    """
    ahead = [*(days or ()), *(more or ())]
    with call.scope() as scope:
        found = scope.simulate(laws=policy or (), half_lives=half_life or (), **({"days": ahead} if ahead else {}))
    call.answer(found.to_dict(), _table(found))


@command(forget, "fit", example="leporello forget fit --user alice")
def fit(
    call: Call,
    *,
    apply_hint: Annotated[
        bool, typer.Option("--apply-hint", help="Print only the line of Python that opens the store with the policy.")
    ] = False,
) -> None:
    """Fit half-life and decay to what was shown and then used, or not; recommend them if they predict what came later better.

    The earlier 70 % of the outcomes are fitted; the later 30 % are held out and judge.
    """
    with call.scope() as scope:
        found = scope.fit()
    call.answer(found.to_dict(), _hint_lines(call, found) if apply_hint else _fit_lines(found))
    if apply_hint and not found.better:
        call.remark(f"Nothing is recommended. {found.why}")


# --- lines -----------------------------------------------------------------------------------------------------------


def _outlook_lines(found: Outlook, *, full: bool = False) -> Iterator[RenderableType]:
    counts = ", ".join(f"{n:,} {status}" for status, n in found.counts.items())
    yield head((f"{found.records:,} facts and episodes", "bold"), counts, (f"law {found.law}, half-life {found.half_life:g} days", "dim"))
    yield head(
        "fall due", f"{found.overdue:,} overdue", f"in the next 7 days {_numbers(found.next_days)}", f"by week {_numbers(found.next_weeks)}"
    )
    for coming in found.soon if full else found.soon[:_EXAMPLES]:
        yield from _coming_lines(coming)
    left = found.more + (0 if full else max(0, len(found.soon) - _EXAMPLES))
    if left:
        yield body(f"and {left:,} more within the week", style="dim")
    for run in found.runs:
        yield head("run", run.run, (when(run.at), "dim"), f"{run.moved:,} put aside")


def _coming_lines(coming: Coming) -> Iterator[RenderableType]:
    sure = "" if coming.confidence is None else f", confidence {coming.confidence:.2f}"
    yield head((coming.what, "yellow"), clip(coming.text, at=160), (coming.id, "dim"))
    yield body(f"{when(coming.at)}  retention {coming.retention:.4f}{sure}: {coming.why}", indent=5, style="dim")


def _numbers(counts: Iterable[int]) -> str:
    return " ".join(map(str, counts))


def _curve_lines(found: Outlook) -> Iterator[RenderableType]:
    for curve in found.curves:
        yield head((curve.kind, "bold"), clip(curve.text, at=160), (curve.id, "dim"))
        for law in curve.retention:
            yield body(_reading(curve, law, found), indent=5)


def _reading(curve: Curve, law: str, found: Outlook) -> str:
    values = curve.retention[law]
    now = max((i for i, t in enumerate(curve.times) if t <= found.at), default=0)
    fading, forgotten = curve.marks[law]
    ends = f"{values[now]:.4f} now, {values[-1]:.4f} on {curve.times[-1]:%Y-%m-%d}"
    below = (_below(curve, values, now, level) for level in (fading, forgotten))
    told = [
        f"below {level:g} ({name}) {at}" for name, level, at in zip(("fading", "forgotten"), (fading, forgotten), below, strict=True) if at
    ]
    return f"{law}: {'; '.join([ends, *told])}"


def _below(curve: Curve, values: Sequence[float], now: int, level: float) -> str:
    found = next((t for t, v in zip(curve.times[now:], values[now:], strict=True) if v < level), None)
    return "" if found is None else "now" if found == curve.times[now] else f"about {found:%Y-%m-%d}"


def _table(found: Simulation) -> Iterator[str]:
    """One column for each law, one line for each measure."""
    rows: list[tuple[str, list[str]]] = [
        ("law", [s.law for s in found.laws]),
        ("half-life, days", ["-" if s.half_life is None else f"{s.half_life:g}" for s in found.laws]),
    ]
    held = {k for s in found.laws for counts in (s.now, *s.later.values()) for k in counts}
    statuses = [s for s in _STATUSES if s in held]
    for name, pick in (("now", lambda s: s.now), *((f"in {d} days", _later(d)) for d in found.days)):
        rows += [(f"{name}, {status}", [f"{pick(s).get(status, 0):,}" for s in found.laws]) for status in statuses]
    rows += [
        (f"regret, of {found.laws[0].used:,} used", [f"{s.regret:,}" for s in found.laws]),
        (f"idle, of {found.laws[0].unused:,} never used", [f"{s.idle:,}" for s in found.laws]),
        ("log loss", ["-" if s.log_loss is None else f"{s.log_loss:.4f}" for s in found.laws]),
    ]
    first = max(len(name) for name, _ in rows)
    widths = [max(len(values[i]) for _, values in rows) for i in range(len(found.laws))]
    for name, values in rows:
        yield "  ".join([name.ljust(first), *(v.rjust(w) for v, w in zip(values, widths, strict=True))])
    if found.constant is None:
        yield "No record was shown of which it is known whether it was used: there is no log loss."
    else:
        yield (
            f"Log loss over {found.outcomes:,} times that a record was shown, {found.hits:,} of them used within {found.window:,} seconds; "
            f"a constant rate of {found.hits / found.outcomes:.3f} has {found.constant:.4f}."
        )


def _later(days: int) -> Any:
    def pick(row: Simulated) -> Any:
        return row.later[days]

    return pick


def _fit_lines(found: Fit) -> Iterator[RenderableType]:
    yield head((f"{found.outcomes:,} outcomes", "bold"), f"{found.used:,} used", "the earlier 70 % fitted, the later 30 % held out")
    for name, was, now in (("half-life, days", found.half_life_before, found.half_life), ("decay", found.decay_before, found.decay)):
        yield head(f"{name:<16}", f"{was:g} → {now:g}")
    for name, loss in (("in sample", found.in_sample), ("held out", found.held_out)):
        yield head(f"{name:<16}", _loss(loss))
    yield body(found.why, indent=0, style="green" if found.better else "yellow")
    yield head("Pass", f"policies={json.dumps(found.policy)}") if found.better else body("Nothing is recommended.", indent=0)


def _loss(loss: Loss) -> str:
    return f"log loss {loss.before:.4f} → {loss.after:.4f}, a constant rate {loss.constant:.4f} ({loss.outcomes:,} outcomes)"


def _hint_lines(call: Call, found: Fit) -> list[str]:
    return [f"leporello.open({json.dumps(call.settings.path)}, policies={json.dumps(found.policy)})"] if found.better else []

"""Commands that fold a session and unfold it again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer
from rich.console import RenderableType

import leporello
from leporello.entrypoints.calls import Call
from leporello.entrypoints.commands_find import message_lines, turns_of
from leporello.entrypoints.options import command
from leporello.entrypoints.output import body, head
from leporello.errors import NotFound
from leporello.records import Episode

app = typer.Typer()


@command(app, "fold", example="leporello fold --session s1 --all")
def fold(
    call: Call, *, all: Annotated[bool, typer.Option("--all", help="Every closed turn, not only those over the windows.")] = False
) -> None:
    """Fold a session: turns over the window into episodes, episodes over theirs into facts."""
    with call.session() as session:
        report, layers = session.fold(all=all), session.layers()
    call.answer(_report(report, layers), _lines(report, layers))


@command(app, "close", example="leporello close --session s1")
def close(call: Call) -> None:
    """Fold every closed turn of a session and keep what will matter later as facts. More messages may follow."""
    with call.session() as session:
        report, layers = session.close(), session.layers()
    call.answer(_report(report, layers), _lines(report, layers))


@command(app, "compact", example="leporello compact --session s1 --max-tokens 1000")
def compact(call: Call, *, max_tokens: Annotated[int, typer.Option("--max-tokens", help="Estimated tokens at most.")] = 3_000) -> None:
    """Print the flat summary of a session, and keep it with the session."""
    with call.session() as session:
        made = session.compact(max_tokens=max_tokens)
    call.answer({**made.to_dict(), "schema": made.schema()}, [made.text])
    left = f", {made.omitted} statements left out" if made.omitted else ""
    call.remark(f"{made.tokens} of {max_tokens} tokens, up to turn {made.compacted_at_turn}{left}.")


@command(app, "unfold", example="leporello unfold e_0123abcd --user alice")
def unfold(
    call: Call,
    episode: Annotated[str, typer.Argument(help="The id of an episode; `leporello episodes` lists them.")],
    *,
    clipped: Annotated[bool, typer.Option("--clip", help="Clip long texts.")] = False,
) -> None:
    """Print the messages that an episode was made from, verbatim."""
    with call.scope() as scope:
        found = scope.get(episode)
        if not isinstance(found, Episode) or found.scope.session is None:
            raise NotFound(f"{episode!r} is no episode.", hint="`leporello episodes` lists them.")
        messages = scope.session(found.scope.session).unfold(episode)
    value = {"episode": episode, "turns": list(found.turns), "messages": [m.to_dict() for m in messages]}
    call.answer(value, message_lines(messages, full=not clipped))


def _report(report: leporello.FoldReport, layers: leporello.Layers) -> dict[str, Any]:
    return {**report.to_dict(), "layers": layers.to_dict()}


def _lines(report: leporello.FoldReport, layers: leporello.Layers) -> Iterator[RenderableType]:
    if report.episodes and report.turns:
        share = 100 * report.tokens_after // max(1, report.tokens_before)
        yield head(
            (f"Folded {turns_of(report.turns)}", "bold"), f"{report.tokens_before} tokens before, {report.tokens_after} after ({share} %)"
        )
    else:
        yield head(("Nothing to fold", "bold"), f"{report.tokens_before} tokens unfolded")
    if report.episodes or report.facts:
        yield body(f"{_count(report.episodes, 'episode')} and {_count(report.facts, 'fact')} written or changed")
    for fallback in report.fallbacks:
        yield body(fallback, style="yellow")
    yield body(layers_line(layers), style="dim")


def _count(made: Sequence[str], what: str) -> str:
    return f"{len(made)} {what}" + ("" if len(made) == 1 else "s")


def layers_line(layers: leporello.Layers) -> str:
    """Which turns each layer holds; those of one layer follow one another."""
    shown = []
    for name, held in (("L3 facts", layers.l3), ("L2 episodes", layers.l2), ("L1 turns", layers.l1)):
        parts = f" in {len(held)} parts" if len(held) > 1 else ""
        shown.append(f"{name}: {turns_of((held[0][0], held[-1][-1]))}{parts}" if held else f"{name}: none")
    return " · ".join(shown)

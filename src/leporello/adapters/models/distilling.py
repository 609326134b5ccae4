"""Episodes to operations on facts: the question, and the answer's proposals as operations that rest on what the episodes hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leporello.adapters.models import answers
from leporello.adapters.models.asking import Question
from leporello.adapters.models.grounding import RANK, Sources, of_episodes, telling
from leporello.adapters.models.prompts import prompt
from leporello.adapters.models.transcript import framed, neutral
from leporello.core.compact import line
from leporello.core.dates import absolute
from leporello.core.tokens import estimate
from leporello.records import Episode, Fact, Item, Operation

MOST = 10
KNOWN = 80
"""How many known facts are shown: those nearest to the episodes."""
ANSWER = 1_500
"""Tokens that the operations may take."""
_SURE = {"user": 1.0, "agent": 0.8, "tool": 0.5, "external": 0.5}


def grouped(episodes: Sequence[Episode], *, tokens: int) -> list[list[Episode]]:
    """The episodes in order, in groups whose text takes at most so many estimated tokens (one episode at least)."""
    out: list[list[Episode]] = [[]]
    size = 0
    for episode in episodes:
        cost = estimate(_told(1, episode))
        if out[-1] and size + cost > tokens:
            out.append([])
            size = 0
        out[-1].append(episode)
        size += cost
    return [g for g in out if g]


def question(episodes: Sequence[Episode], known: Sequence[Fact]) -> Question[list[Operation]]:
    """Asks for the operations that these episodes call for."""
    text = "\n\n".join(_told(n, e) for n, e in enumerate(episodes, 1))
    near = _near(text, known)
    facts = "\n".join(f"{n}. ({f.fact_kind}) {neutral(f.text)}" for n, f in enumerate(near, 1)) or "(none)"
    user = "\n\n".join([framed("known-facts", facts), framed("episodes", text), "The data ends here. Answer with the JSON object."])
    said, home = of_episodes(episodes)

    def accept(held: Mapping[str, Any]) -> list[Operation]:
        made = [_operation(p, near, said, home) for p in answers.operations(held, most=MOST)]
        return [o for o in made if o is not None]

    return Question(prompt("distil").text, user, ANSWER, accept)


def _told(n: int, episode: Episode) -> str:
    lines = [f"{neutral(line(i))} ({i.section}, from the {i.trust})" for i in episode.items]
    return "\n".join([f"Episode {n}, {episode.at.date().isoformat()}: {neutral(episode.summary)}", *lines])


def _near(text: str, known: Sequence[Fact]) -> list[Fact]:
    """At most `KNOWN` facts, those with most words in common with the episodes, in their own order."""
    if len(known) <= KNOWN:
        return list(known)
    words = telling(text)
    ranked = sorted(range(len(known)), key=lambda n: (-len(telling(known[n].text) & words), -n))[:KNOWN]
    return [known[n] for n in sorted(ranked)]


def _operation(proposed: answers.Proposed, known: Sequence[Fact], said: Sources, home: Mapping[Item, str]) -> Operation | None:
    """The operation, or None when its target is unknown, when nothing said it, or when its source may not do this."""
    target = known[proposed.target - 1] if 0 < proposed.target <= len(known) else None
    if proposed.op != "add" and target is None:
        return None
    source = said.best(Item("event", proposed.text or proposed.why or (target.text if target else "")))
    if source is None and target is not None and proposed.op in {"reinforce", "retract"}:
        source = said.best(Item("event", target.text))
    if source is None:
        return None
    if target is not None and proposed.op in {"reinforce", "retract"} and RANK[source.trust] < RANK[target.trust]:
        return None
    at = source.at
    text = absolute(proposed.text, at) if at else proposed.text
    return Operation(
        proposed.op,  # type: ignore[arg-type]
        "" if proposed.op in {"reinforce", "retract"} else text,
        proposed.kind,
        proposed.why,
        target.id if target else None,
        "user_stated" if source.trust == "user" else "tool" if source.trust == "tool" else "inferred",
        source.trust,
        min(proposed.confidence, _SURE[source.trust]),
        proposed.tags,
        at,
        source.spans,
        (home[source],),
    )

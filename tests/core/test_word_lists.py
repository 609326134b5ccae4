"""The word lists of the rules: what is looked up is folded, so that an entry that is not can never be found."""

from __future__ import annotations

import pytest

from leporello.core import pack
from leporello.core.facts import cues_frames, cues_kinds, cues_states, cues_words, ends, gone, measures, others, overtaken, shifts, span
from leporello.core.facts.tokens import fold
from leporello.core.guard import likeness
from leporello.core.guard.echo import Echoes

MODULES = (cues_frames, cues_kinds, cues_states, cues_words, ends, gone, measures, others, overtaken, shifts, span)


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__.rpartition(".")[2])
def test_every_word_of_a_list_can_be_met(module: object) -> None:
    sets = {n: v for n, v in vars(module).items() if isinstance(v, frozenset) and v and all(isinstance(w, str) for w in v)}
    dead = {n: sorted(w for w in v if fold(w) != w) for n, v in sets.items()}
    assert {n: words for n, words in dead.items() if words} == {}


def test_every_word_of_the_likeness_is_folded() -> None:
    sets = {n: v for n, v in vars(likeness).items() if isinstance(v, frozenset) and v and all(isinstance(w, str) for w in v)}
    assert len(sets) >= 5
    assert {n: dead for n, v in sets.items() if (dead := sorted(w for w in v if fold(w) != w))} == {}


@pytest.mark.parametrize("title", pack.TITLES.values())
def test_the_headings_of_a_context_are_known_as_such_when_they_are_pasted(title: str) -> None:
    known = Echoes.of(["The deploys happen on Tuesdays at noon."])
    pasted = f"## {title}\n- The deploys happen on Tuesdays at noon."
    assert known.holds(pasted)
    assert not known.holds(pasted.replace("Tuesdays", "Thursdays"))

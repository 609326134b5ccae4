"""The triggers and the rooms: pure rules, at their borders."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leporello.core.loop import decide
from leporello.core.loop.decide import Room, Standing
from leporello.policies import FoldPolicy, LoopPolicy

LOOP, FOLD = LoopPolicy(), FoldPolicy()
ROOM = Room(100_000, 8_000, 10_000)
CALM = Standing(tokens=5_000, messages=4_000, memory=0, since=3, sent_turns=3)


def test_a_room_is_the_window_less_answer_and_front() -> None:
    assert (ROOM.limit, ROOM.free, ROOM.enough) == (92_000, 82_000, True)
    assert ROOM.trigger(LOOP) == 60_000
    assert Room(100_000, 8_000, 80_000).trigger(LOOP) == 9_600
    assert Room(100_000, 8_000, 90_000).enough and not Room(100_000, 8_000, 90_001).enough
    assert Room(1_000, 0, 850).enough and not Room(1_000, 0, 851).enough
    assert Room(1_000, 0, 0, 2.0).estimated(500) == 250


def test_auto_is_flat_up_to_its_turns() -> None:
    assert [decide.mode("auto", n, LOOP) for n in (0, 50, 51)] == ["flat", "flat", "folded"]
    assert [decide.mode(m, 500, LOOP) for m in ("flat", "folded")] == ["flat", "folded"]


@pytest.mark.parametrize("kind", ["flat", "folded"])
def test_orders_come_first_and_the_share_second(kind: str) -> None:
    full = replace(CALM, tokens=60_001)
    assert [decide.due(kind, full, ROOM, a, (LOOP, FOLD)) for a in ("phase", "explicit", "overflow", "")] == [
        "phase",
        "explicit",
        "overflow",
        "window",
    ]
    assert decide.due(kind, replace(full, tokens=60_000), ROOM, "", (LOOP, FOLD)) == ""
    assert decide.due(kind, CALM, ROOM, "unknown", (LOOP, FOLD)) == ""


def test_flat_counts_turns_strictly() -> None:
    def due(since: int, sent: int = 30) -> str:
        return decide.due("flat", replace(CALM, since=since, sent_turns=sent), ROOM, "", (LOOP, FOLD))

    assert (due(40), due(41), due(41, sent=1)) == ("", "turns", "")


def test_folded_counts_tokens_and_turns_and_weighs_the_cache() -> None:
    def due(**changes: int) -> str:
        return decide.due("folded", replace(CALM, **changes), ROOM, "", (LOOP, FOLD))

    assert (due(messages=30_000), due(messages=30_001)) == ("", "windows")
    assert (due(sent_turns=20, messages=20_000), due(sent_turns=21, messages=20_000)) == ("", "windows")
    assert due(sent_turns=21, messages=2_000, memory=6_000) == ""
    assert (due(sent_turns=60, messages=2_000, memory=6_000), due(sent_turns=61, messages=2_000, memory=6_000)) == ("", "windows")


def test_what_stays_after_a_fold() -> None:
    assert decide.kept("window", "flat", (LOOP, FOLD), ROOM) == (10, 15_000)
    assert decide.kept("window", "folded", (LOOP, FOLD), ROOM) == (6, 9_000)
    assert decide.kept("phase", "flat", (LOOP, FOLD), ROOM) == (1, 15_000)
    assert decide.kept("overflow", "flat", (LOOP, FOLD), ROOM) == decide.kept("limit", "flat", (LOOP, FOLD), ROOM) == (10, 3_750)


@given(
    st.integers(500, 2_000_000),
    st.floats(0, 0.5),
    st.floats(0, 1),
    st.floats(0.3, 6),
    st.integers(0, decide.SQUEEZES - 1),
    st.integers(0, 2_000),
)
def test_rooms_stay_within_what_is_free(window: int, reserve: float, fixed: float, unit: float, squeeze: int, pieces: int) -> None:
    room = Room(window, int(window * reserve), int(window * fixed * (1 - reserve)), unit)
    if not room.enough:
        return
    free = room.estimated(room.free)
    limits = decide.fitted(FOLD, room)
    assert limits.l1_tokens <= max(100, free // 2) and limits.episode_tokens <= max(50, free // 16)
    assert decide.memory_room(LOOP, room) <= max(20, free * 3 // 10)
    result, text = decide.piece_room(LOOP, room, squeeze, pieces)
    if squeeze < decide.SQUEEZES - 1:
        harder = decide.piece_room(LOOP, room, squeeze + 1, pieces)
        assert harder[0] <= result and harder[1] <= text
        assert decide.media_room(LOOP, room, squeeze + 1) <= decide.media_room(LOOP, room, squeeze)
    elif pieces and free >= 24 * pieces:
        assert pieces * max(result, text) <= free
    assert 0 <= decide.media_room(LOOP, room, squeeze) <= LOOP.media


def test_a_small_window_still_takes_one_image() -> None:
    small = Room(2_000, 200, 100)
    assert [decide.media_room(LOOP, small, s) for s in range(5)] == [1, 0, 0, 0, 0]
    assert [decide.media_room(LOOP, Room(1_000_000, 0, 0), s) for s in range(5)] == [80, 40, 20, 10, 0]

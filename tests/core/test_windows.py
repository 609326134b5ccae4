"""What is folded and when: strictly over a limit, down to half, and never the newest unit unless everything is asked for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from leporello.core.windows import Unfolded, episodes_to_distil, keep_cut, next_cut, over
from leporello.policies import FoldPolicy

POLICY = FoldPolicy(l1_turns=20, l1_tokens=30_000)


def chat(turns: int, tokens: int = 50) -> Unfolded:
    """Plain exchanges of two messages each: every place is a legal cut."""
    n = turns * 2
    return Unfolded([i // 2 + 1 for i in range(n)], [tokens] * n, list(range(n + 1)), frozenset(range(0, n + 1, 2)))


def rest(window: Unfolded, cut: int) -> Unfolded:
    return Unfolded(
        window.turns[cut:],
        window.tokens[cut:],
        [c - cut for c in window.cuts if c >= cut],
        frozenset(c - cut for c in window.plain if c >= cut),
    )


def test_over_is_strict_and_whichever_comes_first() -> None:
    assert not over(chat(20), POLICY)
    assert over(chat(21), POLICY)
    assert over(chat(3, tokens=5_001), POLICY)
    assert not over(chat(3, tokens=5_000), POLICY)


def test_a_window_of_21_turns_goes_down_to_half_in_one_fold() -> None:
    cut = next_cut(chat(21), POLICY)
    assert cut == 22
    assert next_cut(rest(chat(21), 22), POLICY) is None


def test_a_backlog_folds_in_portions_of_a_window() -> None:
    window, sizes = chat(200), []
    while (cut := next_cut(window, POLICY)) is not None:
        sizes.append(len(set(window.turns[:cut])))
        window = rest(window, cut)
    assert len(set(window.turns)) == 10
    assert all(10 <= s <= 15 for s in sizes)


def test_huge_messages_fold_by_tokens() -> None:
    window = chat(5, tokens=10_000)
    cut = next_cut(window, POLICY)
    assert cut is not None and sum(window.tokens[:cut]) <= 30_000


def test_nothing_legal_is_nothing_to_fold() -> None:
    assert next_cut(Unfolded([1] * 50, [1_000] * 50, [0]), POLICY, everything=True) is None
    assert next_cut(Unfolded([], [], [0]), POLICY, everything=True) is None


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(1, 9_000), st.booleans()), min_size=1, max_size=80), st.booleans())
def test_folding_ends_and_only_at_legal_cuts(messages: list[tuple[int, int, bool]], everything: bool) -> None:
    turns, turn = [], 1
    for step, _, _ in messages:
        turn += step
        turns.append(turn)
    cuts = [0, *(i + 1 for i, (_, _, legal) in enumerate(messages) if legal)]
    window, steps = Unfolded(turns, [t for _, t, _ in messages], cuts, frozenset(cuts)), 0
    while (cut := next_cut(window, POLICY, everything=everything)) is not None:
        assert cut > 0 and cut in window.cuts
        assert everything or cut < len(window.turns)
        window, steps = rest(window, cut), steps + 1
        assert steps <= len(messages)
    if everything:
        assert [c for c in window.cuts if c > 0] == []


def test_l2_goes_down_to_half() -> None:
    assert [episodes_to_distil(n, POLICY) for n in (0, 10, 11, 30)] == [0, 0, 6, 25]


def test_the_kept_part_has_at_most_so_many_turns_and_tokens() -> None:
    assert keep_cut(chat(21), turns=10, tokens=30_000) == 22
    assert keep_cut(chat(21), turns=10, tokens=500) == 32
    assert keep_cut(chat(21), turns=50, tokens=30_000) is None
    assert keep_cut(chat(5), turns=1, tokens=0) == 9
    assert keep_cut(Unfolded([], [], [0]), turns=1, tokens=1) is None
    assert keep_cut(Unfolded([1] * 9, [10] * 9, [0, 9]), turns=1, tokens=1) is None


def test_the_kept_part_begins_with_the_users_text_when_that_is_near() -> None:
    window = Unfolded([1] * 12, [10] * 12, list(range(13)), frozenset({7}))
    assert keep_cut(window, turns=9, tokens=70) == 7
    assert keep_cut(window, turns=9, tokens=60) == 7
    assert keep_cut(window, turns=9, tokens=110) == 1
    assert keep_cut(window, turns=9, tokens=30) == 9


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(1, 900), st.booleans(), st.booleans()), max_size=60),
    st.integers(1, 30),
    st.integers(0, 9_000),
)
def test_a_kept_part_is_legal_and_no_larger_than_asked_unless_it_must_be(
    messages: list[tuple[int, int, bool, bool]], turns: int, tokens: int
) -> None:
    held, turn = [], 1
    for step, _, _, _ in messages:
        turn += step
        held.append(turn)
    cuts = [0, *(i + 1 for i, m in enumerate(messages) if m[2])]
    sizes = [m[1] for m in messages]
    cut = keep_cut(Unfolded(held, sizes, cuts, frozenset(i for i in cuts if i and messages[i - 1][3])), turns=turns, tokens=tokens)
    legal = [c for c in cuts if 0 < c < len(messages)]
    fits = sum(sizes) <= tokens and len(set(held)) <= turns
    assert (cut is None) == (not legal or fits)
    if cut is not None:
        assert cut in legal
        assert cut == legal[-1] or (sum(sizes[cut:]) <= tokens and len(set(held[cut:])) <= turns)

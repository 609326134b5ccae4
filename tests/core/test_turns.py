"""Turns and cuts: the vectors of D15, and that no cut ever parts a call from its result."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from leporello.core.turns import Place, Shape, faults, legal_cuts, pairs, pending, shape


def user(*results: str) -> Shape:
    return Shape(False, (), results)


def model(*calls: str) -> Shape:
    return Shape(True, calls)


LOOP = [user(), model("a", "b"), user("a", "b"), model("c"), user("c"), model(), user(), model()]


def test_d15_with_a_carrier() -> None:
    assert legal_cuts(LOOP) == [0, 1, 3, 5, 6, 7, 8]


def test_d15_without_a_carrier_the_kept_part_opens_with_plain_user_text() -> None:
    assert legal_cuts(LOOP, carrier=False) == [0, 6, 8]


def test_d15_in_the_middle_of_a_tool_loop() -> None:
    assert legal_cuts(LOOP[:5]) == [0, 1, 3, 5]
    assert legal_cuts(LOOP[:5], carrier=False) == [0, 5]


def test_an_unanswered_call_at_the_end_cannot_be_cut() -> None:
    assert legal_cuts([user(), model("a")]) == [0, 1]
    assert legal_cuts([user(), model("a"), model("b"), user("a")]) == [0, 1]
    assert pending([user(), model("a"), model("b"), user("a")]) == 2


def test_a_call_that_the_conversation_left_behind_divides_nothing() -> None:
    assert pending([user(), model("a"), user(), model()]) is None
    assert legal_cuts([user(), model("a"), user(), model()]) == [0, 1, 2, 3, 4]
    assert pending([user(), model("a", "b"), user("a"), model()]) is None
    assert pending([user(), model("a"), user()]) == 1 and legal_cuts([user(), model("a"), user()]) == [0, 1]


def test_one_reply_over_several_messages_is_one_unit() -> None:
    assert legal_cuts([user(), model("a"), model("b"), user("a"), user("b"), model()]) == [0, 1, 5, 6]


def test_a_reused_id_joins_the_newest_waiting_call() -> None:
    joined, unanswered, orphans = pairs([user(), model("a"), user("a"), model("a"), user("a")])
    assert (joined, unanswered, orphans) == ([(1, 2, "a"), (3, 4, "a")], [], [])


def test_faults_names_what_providers_refuse() -> None:
    assert faults(LOOP) == []
    assert faults([user(), user("gone")]) == ["message 1: result for 'gone' without a call"]
    assert faults([user(), model("a"), user(), model()]) == ["message 1: a call without a result"]
    assert faults([user(), model("a"), user("a"), user("a")]) == ["message 3: a second result for 'a'"]


MESSAGES = st.lists(
    st.one_of(
        st.builds(lambda r: Shape(False, (), tuple(r)), st.lists(st.sampled_from("abcd"), max_size=2)),
        st.builds(lambda c: Shape(True, tuple(c)), st.lists(st.sampled_from("abcd"), max_size=2)),
    ),
    max_size=20,
)


@given(MESSAGES)
def test_no_legal_cut_parts_a_pair(messages: list[Shape]) -> None:
    joined, _, _ = pairs(messages)
    for cut in legal_cuts(messages):
        assert not any(call < cut <= result for call, result, _ in joined)
        assert cut == len(messages) or not messages[cut].results


@given(MESSAGES)
def test_a_kept_tail_has_no_fault_that_the_whole_had_not(messages: list[Shape]) -> None:
    whole = len([f for f in faults(messages) if "without a call" in f])
    for cut in legal_cuts(messages):
        assert len([f for f in faults(messages[cut:]) if "without a call" in f]) <= whole


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant", "tool", "system", "critic"]), st.booleans()), max_size=30))
def test_turns_count_from_one_without_gaps(said: list[tuple[str, bool]]) -> None:
    place, seen = Place(), [0]
    for role, has_result in said:
        place = place.after(role, has_result=has_result and role != "assistant")
        assert place.turn - seen[-1] in (0, 1)
        seen.append(place.turn)
    assert len(seen) == 1 or seen[1] == 1


def test_turns_of_a_tool_loop() -> None:
    said = [
        ("user", False),
        ("assistant", False),
        ("user", True),
        ("assistant", False),
        ("tool", True),
        ("tool", True),
        ("assistant", False),
    ]
    place, turns = Place(), []
    for role, has_result in said:
        place = place.after(role, has_result=has_result)
        turns.append(place.turn)
    assert turns == [1, 1, 2, 2, 3, 3, 3]


def test_user_messages_without_a_reply_are_turns_of_their_own_and_text_beside_results_joins_them() -> None:
    place, turns = Place(), []
    for role, has_result in [("system", False), ("user", False), ("user", False), ("assistant", False), ("user", True), ("user", False)]:
        place = place.after(role, has_result=has_result)
        turns.append(place.turn)
    assert turns == [1, 1, 2, 2, 3, 3]


def test_shape_reads_every_wire_format() -> None:
    assert shape({"role": "assistant", "tool_calls": [{"id": "x", "function": {"name": "f", "arguments": "{}"}}]}) == model("x")
    assert shape({"role": "tool", "tool_call_id": "x", "content": "1"}) == user("x")
    assert shape({"type": "function_call", "call_id": "x", "name": "f", "arguments": "{}"}) == model("x")
    assert shape({"type": "function_call_output", "call_id": "x", "output": "1"}) == user("x")
    assert shape({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "1"}]}) == user("x")

"""Any log, in small windows, in the three wire formats: a request that the provider takes, or a `LoopError`."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leporello.core.tokens import weigh
from leporello.errors import LoopError
from leporello.memory import Memory
from leporello.testing import LocalProvider

WORDS = ["ledger", "adds", "up", "\u732b\u304c", "na\u00efve", "{x}", "\n", "42", "\U0001f600", "\ud83d", "\u2028", "<b>"]
TEXT = st.builds(lambda words, n: " ".join(words) * n, st.lists(st.sampled_from(WORDS), max_size=8), st.sampled_from([1, 1, 1, 20, 400]))
IDS = st.sampled_from(["c1", "c2", "c 3", "c1\u00e9", ""])
NAMES = st.sampled_from(["read", "TodoWrite", "odd name!", "n" * 150])
ARGUMENTS = st.sampled_from([{}, {"path": "a"}, {"todos": [{"content": "A"}]}, {"text": "long " * 900}])
PNG = "iVBORw0KGgo="


def _anthropic(kind: str, content: Any) -> dict[str, Any]:
    return {"role": kind, "content": content}


USER = st.one_of(
    st.builds(lambda t: _anthropic("user", t), TEXT),
    st.builds(lambda t: _anthropic("user", [{"type": "text", "text": t}, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}]), TEXT),
    st.builds(lambda t: _anthropic("user", [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}, {"type": "text", "text": t}]), TEXT),
    st.just(_anthropic("user", [])),
)  # fmt: skip
MODEL = st.one_of(
    st.builds(lambda t: _anthropic("assistant", t), TEXT),
    st.builds(lambda i, n, a: _anthropic("assistant", [{"type": "tool_use", "id": i, "name": n, "input": a}]), IDS, NAMES, ARGUMENTS),
    st.builds(
        lambda i, n, a: {"role": "assistant", "content": None, "tool_calls": [{"id": i, "type": "function", "function": {"name": n, "arguments": json.dumps(a)}}]},
        IDS, NAMES, ARGUMENTS,
    ),
    st.builds(lambda i, n: {"type": "function_call", "call_id": i, "name": n, "arguments": "{broken"}, IDS, NAMES),
    st.just(_anthropic("assistant", [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}])),
    st.just({"role": "assistant", "content": ""}),
)  # fmt: skip
RESULT = st.one_of(
    st.builds(lambda i, t: _anthropic("user", [{"type": "tool_result", "tool_use_id": i, "content": t}]), IDS, TEXT),
    st.builds(lambda i, t: {"role": "tool", "tool_call_id": i, "content": t}, IDS, TEXT),
    st.builds(lambda i, t: {"type": "function_call_output", "call_id": i, "output": t}, IDS, TEXT),
)
LOG = st.lists(st.one_of(USER, MODEL, MODEL, RESULT), min_size=1, max_size=25)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    LOG, st.sampled_from([1_500, 3_000, 8_000]), st.sampled_from(["flat", "folded"]), st.sampled_from(["system", "message"]), st.booleans()
)
def test_any_log_goes_out_or_says_why(
    mem: Memory, kit: Any, agent: Any, log: Any, window: int, mode: Any, restore: Any, twice: bool
) -> None:
    with_weights = _greedy(kit)
    with_weights.window = window
    session = mem.scope(user="a").session(uuid4().hex, window=window, mode=mode, restore=restore, reserve=100, recall=False)
    session.pin("Keep the \ud83d books.")
    for part in (log[: len(log) // 2], log[len(log) // 2 :]) if twice else (log,):
        if not part:
            continue
        session.add(part)
        try:
            body = session.request(agent.wire)
        except LoopError as e:
            assert e.hint
            continue
        assert "Keep the \ufffd books." in kit.shown(body)
        agent.create(**body, **agent.options)
    assert not kit.provider.rejected
    assert len(list(session.messages())) == len(log)


def _greedy(kit: Any) -> LocalProvider:
    """A provider whose counts are the estimate's own: what is left to be wrong is the sum."""
    provider: LocalProvider = kit.provider
    provider._count_once = provider._count_long = weigh  # type: ignore[assignment]
    return provider

"""One turn that is too much: sixty calls, huge results, a huge system prompt, many images. It goes on, or says what to do."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest

from leporello.errors import WindowTooSmall
from leporello.memory import Memory
from leporello.testing import Reply

WINDOW = 16_000
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(300)).decode()


def image(wire: str) -> dict[str, Any]:
    if wire == "anthropic":
        return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    url = f"data:image/png;base64,{PNG}"
    return {"type": "image_url", "image_url": {"url": url}} if wire == "openai" else {"type": "input_image", "image_url": url}


def images(body: Any) -> int:
    return sum(len(re.findall(rf'"type": "{kind}"', body)) for kind in ("image", "image_url", "input_image"))


def test_sixty_calls_one_after_the_other_in_one_turn(mem: Memory, agent: Any, kit: Any) -> None:
    kit.provider.window = WINDOW
    kit.provider.reply = lambda turn: Reply("Next.", calls=[("read", {"path": f"f{turn.number}"})]) if turn.number <= 60 else Reply("Done.")
    session = mem.scope(user="a").session("s", tools=kit.tools, window=WINDOW)
    session.pin("Read only.")
    agent.say(session, "Read all sixty files and say which one is odd.")
    assert agent.run(session, lambda call: f"File {call.arguments['path']}: " + "x = 1; y = 2\n" * 60) == 60
    assert not kit.provider.rejected and session.report().folds >= 1 and kit.provider.peak <= WINDOW
    for body in agent.bodies:
        text = "\n".join(kit.said(body))
        assert "Read only." in text and "Read all sixty files and say which one is odd." in text
    assert len(list(session.messages())) >= 122


def test_sixty_calls_at_once(mem: Memory, agent: Any, kit: Any) -> None:
    kit.provider.window = WINDOW
    calls = [("read", {"path": f"f{i}"}) for i in range(60)]
    kit.provider.reply = lambda turn: Reply("All.", calls=calls) if turn.number == 1 else Reply("Done.")
    session = mem.scope(user="a").session("s", tools=kit.tools, window=WINDOW)
    agent.say(session, "Read all.")
    assert [c.arguments["path"] for c in session.pending()] == [f"f{i}" for i in range(60)]
    assert agent.run(session, lambda call: f"File {call.arguments['path']}: " + "x = 1; y = 2\n" * 100) == 60
    assert not kit.provider.rejected and kit.provider.peak <= WINDOW and session.report().shortened > 0
    text = kit.shown(agent.bodies[-1])
    assert all(f"File f{i}:" in text for i in range(60))


def test_a_result_of_two_megabytes_is_shown_as_head_and_tail(mem: Memory, agent: Any, kit: Any) -> None:
    kit.provider.window = WINDOW
    kit.provider.reply = lambda turn: Reply("I look.", calls=[("read", {"path": "big"})]) if turn.number == 1 else Reply("Done.")
    whole = "HEAD " + "line of the log, all is well\n" * 70_000 + " TAIL"
    session = mem.scope(user="a").session("s", tools=kit.tools, window=WINDOW)
    agent.say(session, "Read the log.")
    agent.run(session, lambda call: whole)
    text = "\n".join(kit.said(agent.bodies[-1]))
    assert "HEAD line" in text and "well\n TAIL" in text and len(text) < 50_000 and not kit.provider.rejected
    (id,) = set(re.findall(r'unfold\("([^"]+)"\)', text))
    (message,) = session.unfold(id)
    assert message.text == whole and session.report().shortened == 1


def test_a_message_of_two_megabytes(mem: Memory, agent: Any, kit: Any) -> None:
    kit.provider.window = WINDOW
    whole = "BEGIN " + "a word and another one, " * 90_000 + "END"
    session = mem.scope(user="a").session("s", window=WINDOW)
    agent.say(session, whole)
    agent.say(session, "What was the last word?")
    assert not kit.provider.rejected
    texts = "\n".join(kit.said(agent.bodies[0]))
    assert "BEGIN a word" in texts and "another one, END" in texts
    (id,) = set(re.findall(r'unfold\("([^"]+)"\)', texts))
    assert session.unfold(id)[0].text == whole


def test_a_system_prompt_of_four_fifths_of_the_window(mem: Memory, agent: Any, kit: Any) -> None:
    kit.provider.window = WINDOW
    system = "A rule that holds. " * (WINDOW * 8 // 50)
    session = mem.scope(user="a").session("s", system=system, window=WINDOW, reserve=1_000)
    for i in range(30):
        agent.say(session, f"Question {i}: " + "is this right? " * 20)
    assert not kit.provider.rejected and session.report().folds >= 1
    assert kit.provider.requests[0].tokens > 0.7 * WINDOW
    assert all(system.strip() in "\n".join(kit.said(b)) for b in agent.bodies)


def test_a_system_prompt_of_the_whole_window_is_an_error(mem: Memory, agent: Any, kit: Any) -> None:
    session = mem.scope(user="a").session("s", system="A rule that holds. " * (WINDOW * 99 // 500), window=WINDOW)
    session.add("Hello.")
    with pytest.raises(WindowTooSmall, match=r"take [\d,]+ tokens and the answer 2,000 of a window of 16,000") as e:
        session.request(agent.wire)
    assert "shorten them or use a larger window" in e.value.hint and not kit.provider.requests
    agent.call(session, window=200_000)


@pytest.mark.parametrize("together", [True, False])
def test_a_hundred_and_fifty_images(mem: Memory, agent: Any, kit: Any, together: bool) -> None:
    session = mem.scope(user="a").session("s")
    text = {"type": "input_text" if agent.wire == "openai-responses" else "text", "text": "What is on these?"}
    if together:
        agent.say(session, {"role": "user", "content": [*[image(agent.wire)] * 150, text]})
    else:
        for _ in range(150):
            session.add({"role": "user", "content": [image(agent.wire)]})
        agent.say(session, {"role": "user", "content": [text]})
    assert not kit.provider.rejected
    body = kit.shown(agent.bodies[-1])
    sent = images(body)
    assert 0 < sent <= 80
    ids = re.findall(r'unfold\(\\"([^"\\]+)\\"\)', body)
    here = [m for m in session.messages(first=session.report().sent_from)]
    assert sent + len(ids) == sum(images(kit.shown(m.original)) for m in here)
    for id in [*ids[:2], next(session.messages()).id]:
        (back,) = session.unfold(id)
        assert PNG in kit.shown(back.original)


def test_images_in_a_small_window(mem: Memory, agent: Any, kit: Any) -> None:
    kit.provider.window = WINDOW
    session = mem.scope(user="a").session("s", window=WINDOW)
    for i in range(20):
        agent.say(session, {"role": "user", "content": [image("openai"), {"type": "text", "text": f"And picture {i}?"}]})
    assert not kit.provider.rejected and kit.provider.peak <= WINDOW
    assert all(images(kit.shown(b)) >= 1 for b in agent.bodies)


def test_the_newest_exchange_is_shortened_as_far_as_it_can_be(mem: Memory, agent: Any, kit: Any) -> None:
    kit.provider.window = 1_500
    calls = [("read", {"path": f"f{i}"}) for i in range(12)]
    kit.provider.reply = lambda turn: Reply("All.", calls=calls) if turn.number == 1 else Reply("Done.")
    session = mem.scope(user="a").session("s", window=1_500, reserve=200)
    agent.say(session, "Read all.")
    agent.run(session, lambda call: f"File {call.arguments['path']}: " + "one more line of plain text\n" * 100)
    assert not kit.provider.rejected and session.report().shortened >= 12
    ids = set(re.findall(r'unfold\(\\"([^"\\]+)\\"\)', kit.shown(agent.bodies[-1])))
    assert sum("File f" in session.unfold(id)[0].text for id in ids) == 12


@pytest.mark.parametrize("wire", ["anthropic", "openai"])
def test_dense_content_is_not_taken_for_prose(mem: Memory, wire: str, kit: Any) -> None:
    """Single digits count one token each, and nothing is refused because of that."""
    agent = kit.agent(wire)
    kit.provider.window = WINDOW
    calls = [("read", {"path": f"f{i}"}) for i in range(12)]
    kit.provider.reply = lambda turn: Reply("All.", calls=calls) if turn.number == 1 else Reply("Done.")
    session = mem.scope(user="a").session("s", window=WINDOW)
    agent.say(session, "Read all.")
    session.add([agent.result(c.id, "1 2 3 4 5 6 7 8 9 0\n" * 200) for c in session.pending()])
    session.send(agent.create, **agent.options)
    assert [s.status for s in kit.provider.requests] == [200, 200] and session.report().overflows == 0


def test_an_exchange_that_cannot_be_made_to_fit_is_an_error(mem: Memory, agent: Any, kit: Any) -> None:
    calls = [("read", {"path": f"some/folder/file_{i}"}) for i in range(200)]
    kit.provider.reply = lambda turn: Reply("All.", calls=calls)
    session = mem.scope(user="a").session("s", window=1_500, reserve=200)
    agent.say(session, "Read all.")
    session.add([agent.result(c.id, "It is empty.") for c in session.pending()])
    with pytest.raises(WindowTooSmall, match=r"The newest exchange alone takes [\d,]+ tokens, .* free in a window of 1,500") as e:
        session.request(agent.wire)
    assert e.value.hint and len(kit.provider.requests) == 1
    agent.call(session, window=100_000)
    assert not kit.provider.rejected


def test_what_waits_for_results_is_what_the_model_asked_last(mem: Memory, agent: Any, kit: Any) -> None:
    kit.provider.reply = lambda turn: Reply("Both.", calls=[("read", {"path": "a"}), ("read", {"path": "b"})])
    session = mem.scope(user="a").session("s", tools=kit.tools)
    assert session.pending() == ()
    session.add("Read.")
    assert session.pending() == ()
    agent.call(session)
    first, second = session.pending()
    assert (first.name, first.arguments, second.arguments) == ("read", {"path": "a"}, {"path": "b"})
    session.add(agent.result(second.id, "B"))
    assert session.pending() == (first,)
    session.add("Wait: leave the first one.")
    assert session.pending() == (first,)
    kit.provider.reply = lambda turn: "Well."
    agent.call(session)
    assert session.pending() == () and not kit.provider.rejected
    session.add(
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "x", "type": "function", "function": {"name": "read", "arguments": "{no"}}],
        }
    )
    assert session.pending()[0].arguments == "{no"


def test_a_backlog_that_came_at_once(mem: Memory, agent: Any, kit: Any) -> None:
    """A long log that no loop has seen folds before the first request goes out."""
    kit.provider.window = WINDOW
    session = mem.scope(user="a").session("s", window=WINDOW)
    for i in range(400):
        session.add([f"Question {i}?", {"role": "assistant", "content": f"Answer {i}. " + "It is so. " * 30}])
    agent.say(session, "And in all?")
    assert not kit.provider.rejected and session.report().folds >= 1 and session.report().view == "folded"
    assert sum(e.turns[1] - e.turns[0] + 1 for e in session.episodes()) >= 300

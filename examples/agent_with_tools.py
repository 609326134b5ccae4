"""An agent with two tools in a small window, streamed: what the model calls is in `pending`, whatever was folded before.

python examples/agent_with_tools.py                                            # a local provider: no key, no network
python examples/agent_with_tools.py --api-key KEY --model claude-haiku-4-5     # the real one
"""

import argparse
from contextlib import ExitStack
from typing import Any

import anthropic

import leporello
from leporello.testing import LocalProvider, Reply, Turn

WINDOW = 16_000
SYSTEM = "You look through log files. Read every file of the list, then name the one with the error."
TOOLS = [
    {"name": "list_files", "description": "The names of all files.", "input_schema": {"type": "object", "properties": {}}},
    {
        "name": "read_file",
        "description": "The text of a file.",
        "input_schema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    },
]
FILES = {f"day-{n:02}.log": f"{n:02}:00 all is well\n" * 150 for n in range(1, 31)}
FILES["day-17.log"] += "17:59 ERROR pump 3 does not answer\n"


def run(name: str, arguments: Any) -> str:
    """Runs one tool."""
    if name == "list_files":
        return "\n".join(FILES)
    return FILES.get(arguments.get("name", ""), "There is no such file.")


def scripted(turn: Turn) -> str | Reply:
    """What the local provider says in place of a model: list, read one file after the other, answer."""
    names = list(FILES)
    if turn.number == 1:
        return Reply("First the list.", calls=[("list_files", {})])
    if turn.number <= len(names) + 1:
        return Reply(calls=[("read_file", {"name": names[turn.number - 2]})])
    return "The error is in day-17.log: pump 3 does not answer."


parser = argparse.ArgumentParser()
parser.add_argument("--api-key")
parser.add_argument("--base-url")
parser.add_argument("--model", default="claude-haiku-4-5")
args = parser.parse_args()

with ExitStack() as stack:
    if args.api_key:
        client = stack.enter_context(anthropic.Anthropic(api_key=args.api_key, base_url=args.base_url))
    else:
        client = stack.enter_context(stack.enter_context(LocalProvider(window=WINDOW, reply=scripted)).anthropic())
    mem = stack.enter_context(leporello.open(":memory:"))
    s = stack.enter_context(mem.scope(user="alice").session("logs", system=SYSTEM, tools=TOOLS, window=WINDOW, reserve=1_000))
    s.pin("Never change a file.")
    s.budget(tokens=2_000_000)

    s.add("In which file is the error?")
    for _ in range(100):  # an agent needs an end of its own
        with client.messages.stream(model=args.model, max_tokens=1_000, **s.request("anthropic")) as stream:
            reply = stream.get_final_message()
        s.add(reply)
        if reply.stop_reason != "tool_use":
            break
        results = [{"type": "tool_result", "tool_use_id": c.id, "content": run(c.name, c.arguments)} for c in s.pending()]
        s.add({"role": "user", "content": results})

    print("".join(block.text for block in reply.content if block.type == "text"))
    report = s.report()
    print(f"{report.replies} replies, {report.folds} folds, largest request {report.peak} of {WINDOW} tokens")

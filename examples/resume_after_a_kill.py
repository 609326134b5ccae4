"""An agent that is killed in the middle of a tool, and another process that goes on where it stopped.

python examples/resume_after_a_kill.py                                            # a local provider: no key, no network
python examples/resume_after_a_kill.py --api-key KEY --model claude-haiku-4-5     # the real one
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import anthropic

import leporello
from leporello.testing import LocalProvider, Reply, Turn

SYSTEM = "You keep the stock of a shop. Use the tool count for each kind of fruit, one after the other, then name the sum."
TOOLS = [
    {
        "name": "count",
        "description": "How many pieces of a kind there are.",
        "input_schema": {"type": "object", "properties": {"kind": {"type": "string"}}, "required": ["kind"]},
    }
]
STOCK = {"apples": 12, "pears": 7, "plums": 30}


def scripted(turn: Turn) -> str | Reply:
    """What the local provider says in place of a model: a call for each kind, then the sum."""
    if turn.number <= len(STOCK):
        return Reply(calls=[("count", {"kind": list(STOCK)[turn.number - 1]})])
    return f"There are {sum(STOCK.values())} pieces."


def agent(client: anthropic.Anthropic, model: str, path: Path, *, killed_at: str = "") -> None:
    """Runs the agent from wherever the file says that it stands. `killed_at`: the call in which this process dies."""
    mem = leporello.open(path)
    s = mem.scope(user="alice").session("stock", system=SYSTEM, tools=TOOLS, window=16_000)
    if not list(s.messages(last=1)):
        s.add("How many pieces of apples, pears and plums are there in all?")
    for _ in range(20):
        results = []
        for call in s.pending():  # what the model asked for and nobody answered yet
            kind = call.arguments.get("kind", "")
            print(f"process {os.getpid()} counts {kind}", flush=True)
            if killed_at == kind:
                os.kill(os.getpid(), signal.SIGKILL)
            results.append({"type": "tool_result", "tool_use_id": call.id, "content": str(STOCK.get(kind, 0))})
        if results:
            s.add({"role": "user", "content": results})
        reply = client.messages.create(model=model, max_tokens=1_000, **s.request("anthropic"))
        s.add(reply)
        if reply.stop_reason != "tool_use":
            break
    print("".join(block.text for block in reply.content if block.type == "text"))
    s.close()
    mem.close()


def both(url: str | None, key: str, model: str) -> None:
    """Starts a process that is killed, and goes on here."""
    with tempfile.TemporaryDirectory() as folder, anthropic.Anthropic(api_key=key, base_url=url) as client:
        path = Path(folder) / "memory.db"
        command = [sys.executable, __file__, "--child", str(path), "--model", model, *(["--base-url", url] if url else [])]
        died = subprocess.run(command, input=key, text=True)
        print(f"the process ended with {died.returncode}; going on in process {os.getpid()}", flush=True)
        agent(client, model, path)


parser = argparse.ArgumentParser()
parser.add_argument("--api-key")
parser.add_argument("--base-url")
parser.add_argument("--model", default="claude-haiku-4-5")
parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
args = parser.parse_args()

if args.child:
    agent(anthropic.Anthropic(api_key=sys.stdin.read(), base_url=args.base_url), args.model, args.child, killed_at="pears")
elif args.api_key:
    both(args.base_url, args.api_key, args.model)
else:
    with LocalProvider(reply=scripted) as provider:
        both(provider.url, "local", args.model)

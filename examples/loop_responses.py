"""A long conversation with OpenAI Responses by `send`, which asks, adds the reply, and mends a request that was too long.

python examples/loop_responses.py                                       # a local provider: no key, no network
python examples/loop_responses.py --api-key KEY --model gpt-5-mini      # the real one
"""

import argparse
from contextlib import ExitStack

import openai

import leporello
from leporello.testing import LocalProvider, Turn

WINDOW = 8_000
SYSTEM = "You help to read old letters. Answer in a few sentences."


def scripted(turn: Turn) -> str:
    """What the local provider says in place of a model."""
    return f"Answer {turn.number}. " + "The hand is that of a clerk, the date is at the foot, and the seal is broken. " * 12


parser = argparse.ArgumentParser()
parser.add_argument("--api-key")
parser.add_argument("--base-url")
parser.add_argument("--model", default="gpt-5-mini")
args = parser.parse_args()

with ExitStack() as stack:
    if args.api_key:
        client = stack.enter_context(openai.OpenAI(api_key=args.api_key, base_url=args.base_url))
    else:
        provider = stack.enter_context(LocalProvider(window=WINDOW, reply=scripted))
        provider.fail("overflow", when=lambda body: len(body["input"]) > 5)  # one refusal, to show that the loop goes on
        client = stack.enter_context(provider.openai())
    mem = stack.enter_context(leporello.open(":memory:"))
    s = stack.enter_context(mem.scope(user="alice").session("letters", system=SYSTEM, window=WINDOW, reserve=1_000))

    for n in range(40):
        s.add(f"Letter {n + 1}: who wrote it, and when?")
        s.send(client.responses.create, model=args.model, store=False)

    report = s.report()
    print(f"{report.replies} replies, {report.folds} folds, largest request {report.peak} of {WINDOW} tokens")
    print(f"{report.overflows} requests refused as too long")

"""A long conversation with the Anthropic SDK in a small window: `request` before each call, `add` after it.

python examples/loop_anthropic.py                                            # a local provider: no key, no network
python examples/loop_anthropic.py --api-key KEY --model claude-haiku-4-5     # the real one
"""

import argparse
from contextlib import ExitStack

import anthropic

import leporello
from leporello.testing import LocalProvider, Turn

WINDOW = 8_000
SYSTEM = "You advise the crew of a sailing boat. Answer in a few sentences."
TOPICS = ["weather", "sails", "anchor", "radio", "food", "water", "engine", "charts", "lights", "first aid"]


def scripted(turn: Turn) -> str:
    """What the local provider says in place of a model."""
    return f"Answer {turn.number}. " + "Check it before you leave, note what is missing, and put it where everyone finds it. " * 12


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
    s = stack.enter_context(mem.scope(user="alice").session("sailing", system=SYSTEM, window=WINDOW, reserve=1_000))
    s.pin("The boat has no fridge.")

    for n in range(40):
        s.add(f"Day {n + 1}: what should we think of about the {TOPICS[n % len(TOPICS)]}?")
        reply = client.messages.create(model=args.model, max_tokens=1_000, **s.request("anthropic"))
        s.add(reply)

    report = s.report()
    print(f"{report.replies} replies, {report.folds} folds, largest request {report.peak} of {WINDOW} tokens")
    print(f"read {report.tokens_in} tokens, {report.cached} of them from the cache")
    print("first message still sent:", report.sent_from)

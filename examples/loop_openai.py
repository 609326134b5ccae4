"""A long conversation with OpenAI Chat Completions, streamed.

python examples/loop_openai.py                                       # a local provider: no key, no network
python examples/loop_openai.py --api-key KEY --model gpt-5-mini      # the real one
"""

import argparse
from contextlib import ExitStack

import openai

import leporello
from leporello.testing import LocalProvider, Turn

WINDOW = 8_000
SYSTEM = "You help to plan a garden. Answer in a few sentences."
PLANTS = ["beans", "lettuce", "tomatoes", "onions", "kale", "radish", "leek", "peas"]


def scripted(turn: Turn) -> str:
    """What the local provider says in place of a model."""
    return f"Answer {turn.number}. " + "Sow it in rows, water it in the morning, and keep the weeds away while it is small. " * 12


parser = argparse.ArgumentParser()
parser.add_argument("--api-key")
parser.add_argument("--base-url")
parser.add_argument("--model", default="gpt-5-mini")
args = parser.parse_args()

with ExitStack() as stack:
    if args.api_key:
        client = stack.enter_context(openai.OpenAI(api_key=args.api_key, base_url=args.base_url))
    else:
        client = stack.enter_context(stack.enter_context(LocalProvider(window=WINDOW, reply=scripted)).openai())
    mem = stack.enter_context(leporello.open(":memory:"))
    s = stack.enter_context(mem.scope(user="alice").session("garden", system=SYSTEM, window=WINDOW, reserve=1_000))
    s.pin("The garden lies in the shade after noon.")

    for n in range(40):
        s.add(f"Week {n + 1}: how are the {PLANTS[n % len(PLANTS)]} looked after?")
        request = s.request("openai")
        # Without include_usage a stream reports no tokens, and the estimate of the next request learns nothing.
        with client.chat.completions.stream(model=args.model, stream_options={"include_usage": True}, **request) as stream:
            for event in stream:
                if event.type == "content.delta" and n == 0:
                    print(event.delta, end="")
            s.add(stream.get_final_completion())

    report = s.report()
    print(f"\n{report.replies} replies, {report.folds} folds, largest request {report.peak} of {WINDOW} tokens")
    print(f"read {report.tokens_in} tokens, {report.cached} of them from the cache")

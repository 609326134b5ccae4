"""A model server of your own (Ollama, vLLM, llama.cpp): the agent and the compactor both use it.

python examples/local_model_server.py                                                         # a stand-in: no model needed
python examples/local_model_server.py --base-url http://localhost:11434/v1 --model qwen3:8b   # Ollama
"""

import argparse
import json
from contextlib import ExitStack

import openai

import leporello
from leporello.adapters.models import compactor
from leporello.testing import LocalProvider, Turn

WINDOW = 8_000
"""What the server was started with (num_ctx, --max-model-len, -c), not what the model could take."""
SYSTEM = "You are the scribe of a chess club. Answer in a few sentences."


def scripted(turn: Turn) -> str:
    """What the stand-in says in place of a model: a summary to the compactor, prose to the agent."""
    if "JSON object" in str(turn.messages[0]["content"]):
        return json.dumps({"summary": "The game of the first day was noted.", "decisions": [{"decision": "Keep the notes short"}]})
    return f"Noted as game {turn.number}. " + "I decided to keep the notes short, because nobody reads long ones. " * 12


parser = argparse.ArgumentParser()
parser.add_argument("--base-url")
parser.add_argument("--api-key", default="none")  # most servers ask for none, the SDK wants one
parser.add_argument("--model", default="local")
args = parser.parse_args()

with ExitStack() as stack:
    url = args.base_url or stack.enter_context(LocalProvider(window=WINDOW, reply=scripted)).url + "/v1"
    client = stack.enter_context(openai.OpenAI(api_key=args.api_key, base_url=url))
    writer = compactor(f"openai:{args.model}", client=client, window=WINDOW, output=1_000)
    mem = stack.enter_context(leporello.open(":memory:", compactor=writer))
    s = stack.enter_context(mem.scope(user="alice").session("club", system=SYSTEM, window=WINDOW, reserve=1_000))
    s.pin("Games are numbered from 1.")

    for n in range(40):
        s.add(f"Day {n + 1}: note the game between the two oldest members.")
        s.add(client.chat.completions.create(model=args.model, max_tokens=1_000, **s.request("openai")))

    report = s.report()
    print(f"{report.replies} replies, {report.folds} folds, largest request {report.peak} of {WINDOW} tokens")
    print(f"the compactor read {report.fold_tokens_in} tokens and wrote {report.fold_tokens_out}")
    print("failed attempts:", dict(report.failures) or "none")
    for sentence in report.fallbacks:
        print(sentence)

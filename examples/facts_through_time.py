"""Facts through time: what conversations came to, what was true and what was believed at a date, and where it comes from.

python examples/facts_through_time.py                                              # no key, no network, no model
python examples/facts_through_time.py --compactor anthropic:claude-haiku-4-5       # a model reads the conversations
"""

import argparse
from datetime import UTC, datetime

import leporello
from leporello.testing import ManualClock

SAID = (
    (datetime(2026, 1, 5, 9, tzinfo=UTC), "We decided to use PostgreSQL, because the team knows it."),
    (datetime(2026, 3, 2, 9, tzinfo=UTC), "We decided to switch from PostgreSQL to SQLite, because it needs no server."),
)

parser = argparse.ArgumentParser()
parser.add_argument("--compactor", default="extractive")
args = parser.parse_args()

clock = ManualClock(SAID[0][0])  # so that two months pass at once; leave it out for the real time
with leporello.open(":memory:", compactor=args.compactor, clock=clock) as mem:
    shop = mem.scope(user="alice", project="shop")
    for n, (at, text) in enumerate(SAID, 1):
        clock.set(at)
        with shop.session(f"meeting {n}") as meeting:  # its end turns what was said into facts
            meeting.add("Which database do we take?")
            meeting.add({"role": "assistant", "content": "Let us hear what speaks for each."})
            meeting.add(text)

    print("What is known:")
    for fact in shop.facts(status="all"):
        until = f"until {fact.valid_to:%d %B}" if fact.valid_to else "still"
        print(f"  {fact.text}  [from {fact.at:%d %B}, {until}; {fact.status}]")

    february = datetime(2026, 2, 1, tzinfo=UTC)
    print(f"now: {shop.facts()[0].text}")
    print(f"true in February: {shop.facts(as_of=february)[0].text}")
    print(f"believed in February: {shop.facts(believed_at=february)[0].text}")

    clock.set(datetime(2026, 5, 4, 9, tzinfo=UTC))
    guess = shop.learn("We decided to switch from SQLite to MySQL.", source="inferred")  # trusted less: it ends nothing
    for older, newer in (pair.facts for pair in shop.conflicts()):
        print(f"In conflict: {older.text} / {newer.text}")
    shop.retract(guess.id, why="nobody said so")

    first = shop.facts(as_of=february)[0]
    found = shop.explain(first.id)
    print(f"Why do we know it? {found.operations[0].actor} read turn {found.quotes[0].turn}: »{found.quotes[0].text}«")
    for change in found.history:
        print(f"  {change.at:%d %B} {change.action} by {change.actor} {change.why}".rstrip())

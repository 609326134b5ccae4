# /// script
# requires-python = ">=3.11"
# dependencies = ["leporello"]
# ///
"""Add one entry to a memory file: memory_append.py --memory-file state/memory.jsonl --tick N --summary TEXT --tags a,b"""

import argparse
import json
import sys
from typing import Any

try:
    from leporello.errors import LeporelloError
    from leporello.tickfile import TickFile
except ImportError as error:
    missing = {"type": "MissingPackage", "message": f"leporello cannot be imported: {error}.", "hint": "Run `pip install leporello`."}
    sys.stdout.write(json.dumps({"ok": False, "error": missing}) + "\n")
    sys.exit(1)


def say(answer: dict[str, Any]) -> None:
    """One JSON object on one line."""
    sys.stdout.write(json.dumps(answer) + "\n")


def failed(kind: str, message: str, hint: str) -> dict[str, Any]:
    """What is said when nothing was added."""
    return {"ok": False, "error": {"type": kind, "message": message, "hint": hint}}


def parsed() -> argparse.Namespace:
    """The arguments of the process; exits with 2 if they make no sense."""
    parser = argparse.ArgumentParser(description="Add one entry to a memory file, under its lock.", allow_abbrev=False)
    parser.add_argument("--memory-file", required=True, help="The file, such as state/memory.jsonl.")
    parser.add_argument("--tick", type=int, help="The current tick.")
    parser.add_argument("--summary", help="One or two sentences that say what happened.")
    parser.add_argument("--type", help="need, emotion, cognition, plan, event, observation, social, decision, discovery, ...")
    parser.add_argument("--tags", help="Two to five keywords, with commas between them.")
    parser.add_argument("--importance", help="high, medium or low.")
    parser.add_argument("--entry-json", default="{}", help="The entry as a JSON object; the other flags beat it.")
    return parser.parse_args()


def main() -> int:
    """Adds the entry and says under which key it is known."""
    flags = parsed()
    given = {k: v for k in ("summary", "type", "importance") if (v := getattr(flags, k)) is not None}
    if flags.tags is not None:
        given["tags"] = [t for t in (tag.strip() for tag in flags.tags.split(",")) if t]
    try:
        held = json.loads(flags.entry_json)
        if not isinstance(held, dict):
            raise ValueError("it is no object")
    except ValueError as error:
        say(failed("UsageError", f"--entry-json cannot be read: {error}.", "Pass a JSON object."))
        return 2
    try:
        entry = TickFile(flags.memory_file).append({**held, **given}, tick=flags.tick)
    except LeporelloError as error:
        say({"ok": False, "error": error.to_dict()})
        return 1
    say({"ok": True, "key": entry.key, "tick": entry.fields["tick"]})
    return 0


if __name__ == "__main__":
    sys.exit(main())

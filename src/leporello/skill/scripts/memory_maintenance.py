# /// script
# requires-python = ">=3.11"
# dependencies = ["leporello"]
# ///
"""Apply forgetting to a memory file: memory_maintenance.py --memory-file state/memory.jsonl --current-tick N"""

import json
import sys

try:
    from leporello.entrypoints.memory_maintenance import main
except ImportError as error:
    told = {"type": "MissingPackage", "message": f"leporello cannot be imported: {error}.", "hint": "Run `pip install leporello`."}
    sys.stdout.write(json.dumps({"ok": False, "error": told}) + "\n")
    sys.exit(1)

if __name__ == "__main__":
    sys.exit(main())

"""Hold each part of the package to its share of covered lines and branches: `[tool.leporello.cover]` in pyproject.toml.

Reads the data that `coverage run` left. Prints one line a part, and every file below its part's share.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def shares() -> dict[str, float]:
    """Per cent asked of each part; `rest` stands for every part that is not named."""
    return dict(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["leporello"]["cover"])


def measured() -> dict[str, dict[str, Any]]:
    """The summary of each file of the package, by its path."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "coverage.json"
        subprocess.run([sys.executable, "-m", "coverage", "json", "-q", "-o", str(out)], cwd=ROOT, check=True)
        files = json.loads(out.read_text())["files"]
    return {path: data["summary"] for path, data in files.items()}


def covered(summary: dict[str, Any]) -> tuple[int, int]:
    """Lines and branches that ran, and all there are."""
    ran = summary["covered_lines"] + summary.get("covered_branches", 0)
    return ran, summary["num_statements"] + summary.get("num_branches", 0)


def main() -> int:
    """Print the table; 1 if a part is below its share."""
    asked = shares()
    parts: dict[str, list[tuple[str, int, int]]] = defaultdict(list)
    for path, summary in measured().items():
        inner = path.replace("\\", "/").partition("leporello/")[2].split("/")
        parts[inner[0] if len(inner) > 1 and inner[0] in asked else "rest"].append((path, *covered(summary)))
    failed = False
    for part, least in asked.items():
        ran, total = sum(f[1] for f in parts[part]), sum(f[2] for f in parts[part])
        share = 100 * ran / total if total else 0.0
        failed |= share < least
        print(f"{part:8} {share:6.2f} % of {total} lines and branches (at least {least:g} %){'' if share >= least else '  TOO LOW'}")
        for path, ran_here, total_here in sorted(parts[part]):
            if total_here and 100 * ran_here / total_here < least:
                print(f"    {path}: {100 * ran_here / total_here:.1f} %, {total_here - ran_here} not run")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

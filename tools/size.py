"""What the base install takes on disk: Leporello and everything that it needs, without extras; pip and setuptools apart.

`python tools/size.py` prints the largest parts and the sum; it exits with 1 above the limit.
"""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LIMIT_MB = 205
"""MiB of disk blocks, compiled files included: 193 of dependencies, which the engine cannot do without, and twelve for itself."""


def closure(name: str) -> set[str]:
    """`name` and, transitively, what it requires on this machine without extras."""
    found: set[str] = set()
    wanted = [canonicalize_name(name)]
    while wanted:
        here = wanted.pop()
        if here in found:
            continue
        found.add(here)
        for text in metadata.requires(here) or []:
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                wanted.append(canonicalize_name(requirement.name))
    return found


def on_disk(name: str) -> int:
    """Bytes of the disk blocks of a distribution's files, each file once."""
    paths = {Path(str(f.locate())) for f in metadata.files(name) or []}
    return sum(p.stat().st_blocks * 512 for p in paths if p.is_file())


def package_itself() -> int:
    """Bytes of Leporello's own files, which an editable install keeps in the checkout."""
    root = Path(__file__).resolve().parent.parent / "src" / "leporello"
    return sum(p.stat().st_blocks * 512 for p in root.rglob("*") if p.is_file())


def main() -> int:
    """Print the table; 1 above the limit."""
    sizes = {n: on_disk(n) for n in closure("leporello") if n != "leporello"} | {"leporello": package_itself()}
    for name, size in sorted(sizes.items(), key=lambda pair: -pair[1])[:15]:
        print(f"{size / 2**20:8.1f} MiB  {name}")
    total = sum(sizes.values()) / 2**20
    print(f"{total:8.1f} MiB  in all, {len(sizes)} distributions; the limit is {LIMIT_MB} MiB")
    return int(total > LIMIT_MB)


if __name__ == "__main__":
    sys.exit(main())

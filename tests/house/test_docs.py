"""The documentation runs: every Python and console block of README, tutorial and how-tos, and the reference is up to date."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/tutorial.md", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs/how-to").glob("*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str) -> Iterator[tuple[str, int, str]]:
    """Language, first line and text of each fenced block."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        yield match[1], text.count("\n", 0, match.start(2)) + 1, match[2]


def commands(block: str) -> list[str]:
    return [line[2:] for line in block.splitlines() if line.startswith("$ ")]


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "PYTHONWARNINGS": "error", "NO_COLOR": "1"}
    return subprocess.run(command, shell=True, cwd=folder, env=env, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("page", PAGES)
def test_every_block_of_the_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    ran = 0
    for language, line, block in blocks(page):
        if language == "python":
            exec(compile("\n" * (line - 1) + block, page, "exec"), names)
            ran += 1
        for command in commands(block) if language == "console" else ():
            done = run(command, tmp_path)
            assert done.returncode == 0, f"{page}: $ {command}\n{done.stdout}{done.stderr}"
            ran += 1
    assert ran, f"{page} shows no code"


def test_every_link_between_pages_leads_somewhere() -> None:
    broken = []
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            if not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)} -> {target}")
    assert broken == []


def test_the_reference_is_what_the_code_says() -> None:
    done = subprocess.run([sys.executable, "tools/make_docs.py", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr

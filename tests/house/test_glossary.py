"""One word per idea: what the package exports is explained in the glossary or in the reference."""

from __future__ import annotations

import re
from pathlib import Path

import leporello

ROOT = Path(__file__).resolve().parents[2]


def test_every_exported_name_is_explained() -> None:
    pages = [ROOT / "docs/glossary.md", *(ROOT / "docs/reference").glob("*.md")]
    words = set(re.findall(r"\w+", "\n".join(p.read_text(encoding="utf-8") for p in pages)))
    exported = [n for n in leporello.__all__ if not n.startswith("__")]
    assert exported, "leporello.__all__ is empty"
    assert [n for n in exported if n not in words] == []


def test_every_exported_name_exists_and_is_sorted_into_all() -> None:
    assert [n for n in leporello.__all__ if not hasattr(leporello, n)] == []
    assert len(set(leporello.__all__)) == len(leporello.__all__)


def test_the_version_is_that_of_the_project_file() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{leporello.__version__}"' in text

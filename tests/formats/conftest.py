"""What the tests of the readers share."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(content: bytes | str | list[Any], name: str = "file") -> Path:
        """Bytes as they are, text as UTF-8, a list as JSON Lines."""
        path = tmp_path / name
        if isinstance(content, list):
            content = "\n".join(v if isinstance(v, str) else json.dumps(v) for v in content) + "\n"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written

"""The one thing that a conformance test needs of a store: how to open it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path

import pytest

from leporello.ports import Store


class OpenedStore(ABC):
    """Gives each test a fresh store; `open_store` is what a subclass writes."""

    @abstractmethod
    def open_store(self, path: str) -> Store:
        """Opens the store at this path, made if it is not there; opened again it holds what it held."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> str:
        """Where the test's store is."""
        return str(tmp_path / "store")

    @pytest.fixture
    def store(self, path: str) -> Iterator[Store]:
        """An empty store, closed after the test."""
        opened = self.open_store(path)
        yield opened
        opened.close()

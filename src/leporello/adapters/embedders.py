"""Embedders by name."""

from __future__ import annotations

from leporello.adapters.static import HashEmbedder, StaticEmbedder
from leporello.errors import BadSetting
from leporello.ports import Embedder

EMBEDDERS = ("static", "hash")


def embedder(name: str) -> Embedder:
    """The embedder called `name`: "static" (word vectors) or "hash" (no files). An unknown name raises `BadSetting`."""
    if name in {"static", StaticEmbedder.name}:
        return StaticEmbedder()
    if name == "hash" or name == HashEmbedder().name:
        return HashEmbedder()
    raise BadSetting(f"There is no embedder {name!r}: use {', '.join(EMBEDDERS)}.")

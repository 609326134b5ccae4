"""Embedders that need no network: static word vectors, and hashing for machines that have no vectors.

`StaticEmbedder` reads the two data files of the `wordllama` package (MIT) and runs none of its code: its own loader
would ask a model hub for a file that the package already holds.
"""

from __future__ import annotations

import hashlib
import importlib.util
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from leporello.core.words import terms
from leporello.errors import LeporelloError, MissingExtra

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_PACKAGE = "wordllama"
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_WEIGHTS_SHA256 = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
HEAD, TAIL = 6_000, 2_000
"""Characters at the start and the end of a text that are embedded: a mean over more says nothing more."""


class StaticEmbedder:
    """The mean of 256-dimensional token vectors (WordLlama l2_supercat). Loads on first use; threads may share it.

    A text longer than `HEAD + TAIL` characters is embedded by its start and its end. Raises `MissingExtra` on first use
    when the package's files are absent, `LeporelloError` when they are not the known ones.
    """

    name = "static:wordllama-l2_supercat-256"
    dimension = 256

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: tuple[Tokenizer, NDArray[np.float32]] | None = None

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (len(texts), 256), rows of unit length; zeros for a text without a token."""
        tokenizer, table = self._load()
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for first in range(0, len(texts), 512):
            batch = [_speakable(_clipped(t)) for t in texts[first : first + 512]]
            encoded = tokenizer.encode_batch_fast(batch, add_special_tokens=False)
            ids = [e.ids for e in encoded]
            out[first : first + len(batch)] = _means(table, ids)
        return out

    def _load(self) -> tuple[Tokenizer, NDArray[np.float32]]:
        with self._lock:
            if self._loaded is None:
                self._loaded = _read(_folder())
            return self._loaded


class HashEmbedder:
    """Signed hashing of the index terms into `dimension` numbers. Deterministic, without files; no meaning beyond words."""

    def __init__(self, dimension: int = 256) -> None:
        self.dimension = dimension
        self.name = f"hash:{dimension}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (len(texts), dimension), rows of unit length; zeros for a text without a word."""
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(out, texts, strict=True):
            mixed = terms(text).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
            sign = np.where(mixed >> np.uint64(63), 1.0, -1.0)
            np.add.at(row, (mixed >> np.uint64(20)) % np.uint64(self.dimension), sign)
        return _unit(out)


def _clipped(text: str) -> str:
    return text if len(text) <= HEAD + TAIL else f"{text[:HEAD]} {text[-TAIL:]}"


def _speakable(text: str) -> str:
    """The tokenizer takes UTF-8 only: a lone surrogate becomes a question mark."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _means(table: NDArray[np.float32], ids: Sequence[Sequence[int]]) -> NDArray[np.float32]:
    lengths = np.fromiter(map(len, ids), dtype=np.int64, count=len(ids))
    out = np.zeros((len(ids), table.shape[1]), dtype=np.float32)
    full = lengths > 0
    if full.any():
        flat = np.fromiter((i for row in ids for i in row), dtype=np.int64, count=int(lengths.sum()))
        starts = np.concatenate(([0], np.cumsum(lengths[full])[:-1]))
        out[full] = np.add.reduceat(table[flat], starts, axis=0)
    return _unit(out)


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    out = np.zeros_like(rows)
    np.divide(rows, norms, out=out, where=norms > 0)
    return out


def _folder() -> Path:
    spec = importlib.util.find_spec(_PACKAGE)
    places = list(spec.submodule_search_locations or ()) if spec else []
    for place in places:
        if (Path(place) / _WEIGHTS).is_file() and (Path(place) / _TOKENIZER).is_file():
            return Path(place)
    raise MissingExtra(
        "The static embedder's word vectors are not installed.", hint="Run `pip install wordllama`, or open the store with embedder='hash'."
    )


def _read(folder: Path) -> tuple[Tokenizer, NDArray[np.float32]]:
    from safetensors.numpy import load
    from tokenizers import Tokenizer

    raw = (folder / _WEIGHTS).read_bytes()
    if hashlib.sha256(raw).hexdigest() != _WEIGHTS_SHA256:
        raise LeporelloError(f"{folder / _WEIGHTS} is not the known file.", hint="Install the pinned release of wordllama again.")
    (table,) = load(raw).values()
    tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer, np.ascontiguousarray(table, dtype=np.float32)

"""Answers for finished chunks, so that work that was interrupted goes on where it stopped."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any


class Finished:
    """The newest answers by what was asked, at most `most`. Threads may share it."""

    def __init__(self, most: int = 128) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._held: OrderedDict[str, Mapping[str, Any]] = OrderedDict()

    def get(self, *asked: str) -> Mapping[str, Any] | None:
        """The answer to this, if it is still there."""
        key = _key(asked)
        with self._lock:
            answer = self._held.get(key)
            if answer is not None:
                self._held.move_to_end(key)
            return answer

    def put(self, answer: Mapping[str, Any], *asked: str) -> None:
        """Keeps the answer; the oldest goes when there are too many."""
        with self._lock:
            self._held[_key(asked)] = answer
            self._held.move_to_end(_key(asked))
            while len(self._held) > self._most:
                self._held.popitem(last=False)


def _key(asked: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for text in asked:
        digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()

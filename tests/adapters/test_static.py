"""The embedders that need no network."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from leporello.adapters import static
from leporello.adapters.embedders import embedder
from leporello.adapters.static import HashEmbedder, StaticEmbedder
from leporello.errors import BadSetting, LeporelloError, MissingExtra
from leporello.ports import Embedder

STATIC = StaticEmbedder()
BOTH = [STATIC, HashEmbedder()]


@pytest.mark.parametrize("model", BOTH, ids=["static", "hash"])
class TestBoth:
    def test_rows_are_unit_vectors(self, model: Embedder) -> None:
        rows = model.embed(["hello world", "a much longer text about dogs", "猫"])
        assert rows.shape == (3, model.dimension)
        assert rows.dtype == np.float32
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)

    def test_nothing_gives_zeros(self, model: Embedder) -> None:
        assert model.embed([]).shape == (0, model.dimension)
        assert not model.embed([""]).any()

    @pytest.mark.parametrize("text", ["a\ud83db", "a\x00b", "\ufeff", " \t\n", "\u202eabc", "👩\u200d👩", "x" * 100_000])
    def test_any_text_is_taken(self, model: Embedder, text: str) -> None:
        assert np.isfinite(model.embed([text, "other"])).all()

    def test_a_batch_is_the_same_as_one_by_one(self, model: Embedder) -> None:
        texts = [f"text number {i} about {'cats dogs birds'.split()[i % 3]}" for i in range(600)]
        assert np.array_equal(model.embed(texts)[::97], np.concatenate([model.embed([t]) for t in texts[::97]]))

    def test_a_huge_text_is_cheap(self, model: Embedder) -> None:
        start = time.perf_counter()
        model.embed(["猫犬" * 2_500_000, "word " * 1_000_000])
        assert time.perf_counter() - start < 5

    def test_threads_share_it(self, model: Embedder) -> None:
        expected, got = model.embed(["shared text"]), []
        fresh = type(model)()
        threads = [threading.Thread(target=lambda: got.append(fresh.embed(["shared text"]))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(got) == 8
        assert all(np.array_equal(expected, g) for g in got)


def test_meaning_is_nearer_than_chance() -> None:
    dog, puppy, tax = STATIC.embed(["the dog barked", "a puppy was barking", "quarterly tax return"])
    assert dog @ puppy > dog @ tax + 0.2


def test_the_ends_of_a_long_text_are_embedded() -> None:
    middle = "filler words here " * 2_000
    assert not np.array_equal(STATIC.embed([middle])[0], STATIC.embed([middle + " volcano eruption" * 50])[0])


def test_names() -> None:
    assert embedder("static").name == StaticEmbedder.name == "static:wordllama-l2_supercat-256"
    assert embedder("static").dimension == 256
    assert embedder("hash").name == "hash:256"
    assert embedder(embedder("hash").name).name == "hash:256"
    with pytest.raises(BadSetting, match="static, hash"):
        embedder("bert")


def test_absent_files_are_a_typed_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static, "_PACKAGE", "no_such_package_here")
    with pytest.raises(MissingExtra, match="pip install wordllama"):
        StaticEmbedder().embed(["x"])


def test_an_unknown_file_is_a_typed_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "weights").mkdir()
    (tmp_path / static._WEIGHTS).write_bytes(b"something else")
    monkeypatch.setattr(static, "_folder", lambda: tmp_path)
    with pytest.raises(LeporelloError, match="not the known file"):
        StaticEmbedder().embed(["x"])


def test_no_network_and_no_code_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    assert StaticEmbedder().embed(["offline"]).any()
    code = "import sys; from leporello.adapters.static import StaticEmbedder as S; S().embed(['x']); print('wordllama' in sys.modules)"
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": ":".join(sys.path)}
    ).stdout
    assert out.strip() == "False"

"""The async face has the same names and says the same."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path

import pytest

from leporello import aio, memory, session


@pytest.mark.parametrize(
    ("face", "inner"), [(aio.AsyncMemory, memory.Memory), (aio.AsyncScoped, memory.Scoped), (aio.AsyncSession, session.Session)]
)
def test_the_same_names(face: type, inner: type) -> None:
    def names(of: type) -> set[str]:
        return {n for n, m in inspect.getmembers(of, callable) if not n.startswith("_")}

    assert names(face) == names(inner)
    assert inspect.iscoroutinefunction(aio.open) and inspect.iscoroutinefunction(aio.reembed)


def test_the_whole_way(tmp_path: Path) -> None:
    async def main() -> None:
        async with await aio.open(tmp_path / "m.db", embedder="hash") as mem:
            alice = mem.scope(user="alice").narrow(project="shop")
            said = await asyncio.gather(*(alice.remember(f"heron number {i}") for i in range(20)))
            assert sorted(m.pos for m in said) == list(range(1, 21))
            assert len(await alice.recall("heron", k=20)) == 20
            async with alice.session("s") as s:
                await s.add("I like herons.")
                assert [m.text for m in await s.messages()] == ["I like herons."]
            assert (await alice.context("herons?", budget=500)).tokens <= 500
        assert await aio.reembed(tmp_path / "m.db", embedder="static") >= 21
        async with await aio.open(tmp_path / "m.db") as mem:
            assert len(await mem.scope(user="alice").recall("heron number", k=50)) >= 20

    asyncio.run(main())

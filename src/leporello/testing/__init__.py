"""For tests: a clock that is set by hand, a compactor that answers from a script, and the rules that every store must pass.

    from leporello.testing import ManualClock, ScriptedCompactor, StoreConformance

    class TestMyStore(StoreConformance):
        def open_store(self, path):
            return MyStore(path)

`pip install 'leporello[test]'` brings what this needs: pytest and hypothesis. The package itself never imports it.
"""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("leporello.testing.conformance")

from leporello.testing.clock import ManualClock  # noqa: E402
from leporello.testing.compactor import Asked, ScriptedCompactor  # noqa: E402
from leporello.testing.conformance import StoreConformance  # noqa: E402

__all__ = ["Asked", "ManualClock", "ScriptedCompactor", "StoreConformance"]

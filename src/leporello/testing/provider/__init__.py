"""A stand-in for the providers of models: real HTTP, real rules, no model. `pip install 'leporello[testing]'`."""

from leporello.testing.provider.model import Reply, Seen, Turn
from leporello.testing.provider.server import LocalProvider

__all__ = ["LocalProvider", "Reply", "Seen", "Turn"]

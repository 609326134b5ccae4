"""The agent loop: a request before each call to the model, and what its reply tells."""

from leporello.flows.loop.report import report
from leporello.flows.loop.send import Ask, request
from leporello.flows.loop.standing import Background
from leporello.flows.loop.taken import order, prepare, taken

__all__ = ["Ask", "Background", "order", "prepare", "report", "request", "taken"]

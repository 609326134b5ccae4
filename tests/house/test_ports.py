"""A port is the least that the flows ask for. To add a method, raise its number here in the same change and say why."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import Protocol

from leporello import ports

METHODS = {
    "Clock": 1,
    "Embedder": 1,
    "Compactor": 3,
    "Forking": 1,
    "NativeBlocks": 0,
    "NativeCompaction": 1,
    # Facts are derived from claims, and asked for as they were believed: as_believed, near, claims, acting, history, mark. What was
    # shown, so that it is known again when it comes back: shown.
    "FactReader": 8,
    "Reader": 17,  # beside those of a FactReader and an AgeReader
    # Claims and history are written (put_claims, drop_claims, put_history), and what was shown (put_shown).
    "AgeReader": 5,
    "AgeWriter": 3,
    "FactWriter": 6,
    "Writer": 15,  # beside those of a Reader, a FactWriter and an AgeWriter
    "Store": 8,
}


def own_methods(port: type) -> list[str]:
    return [n for n, v in vars(port).items() if inspect.isfunction(v) and not n.startswith("_")]


def protocols() -> dict[str, type]:
    found = inspect.getmembers(ports, lambda v: inspect.isclass(v) and getattr(v, "_is_protocol", False) and v is not Protocol)
    return {n: v for n, v in found if v.__module__ == ports.__name__}


def test_every_port_has_as_many_methods_as_are_written_here() -> None:
    assert {n: len(own_methods(p)) for n, p in protocols().items()} == METHODS


def test_every_port_method_is_documented_and_has_no_body() -> None:
    for name, port in protocols().items():
        for method in own_methods(port):
            function = vars(port)[method]
            assert function.__doc__, f"{name}.{method} has no docstring"
            body = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0].body  # type: ignore[attr-defined]
            assert ast.unparse(body[-1]) == "..." and len(body) == 2, f"{name}.{method} has a body"

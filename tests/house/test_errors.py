"""One root, drawn as a tree; the docstring is the message and says what to do."""

from __future__ import annotations

import inspect
import re

import pytest

from leporello import errors


def classes() -> list[type[errors.LeporelloError]]:
    return [v for _, v in inspect.getmembers(errors, inspect.isclass) if issubclass(v, errors.LeporelloError)]


def test_every_error_has_one_root_and_is_drawn_in_the_tree() -> None:
    assert all(issubclass(v, errors.LeporelloError) for _, v in inspect.getmembers(errors, inspect.isclass) if issubclass(v, Exception))
    drawn = set(re.findall(r"\b[A-Z]\w+", (errors.__doc__ or "").partition("\n")[2]))
    assert {c.__name__ for c in classes()} == drawn


@pytest.mark.parametrize("error", classes(), ids=lambda c: c.__name__)
def test_the_docstring_is_the_message(error: type[errors.LeporelloError]) -> None:
    assert error.__doc__ and error.__doc__.strip().endswith(".")
    assert error().to_dict() == {"type": error.__name__, "message": error.__doc__.strip(), "hint": error.__doc__.strip()}
    told = error("The file x.db is damaged.", hint="Restore a backup.")
    assert str(told) == "The file x.db is damaged. Restore a backup."
    assert told.to_dict() == {"type": error.__name__, "message": "The file x.db is damaged.", "hint": "Restore a backup."}

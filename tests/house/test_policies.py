"""Few settings, frozen, bounded, unknown names refused."""

from __future__ import annotations

import dataclasses
import inspect

import pytest

from leporello import policies
from leporello.errors import BadSetting
from leporello.policies import Policies

MOST = 40


def parts() -> list[type]:
    return [v for _, v in inspect.getmembers(policies, dataclasses.is_dataclass) if isinstance(v, type) and v is not Policies]


def test_there_are_few_settings() -> None:
    assert sum(len(dataclasses.fields(p)) for p in parts()) <= MOST


@pytest.mark.parametrize("part", parts(), ids=lambda p: p.__name__)
def test_every_setting_is_frozen_and_bounded(part: type) -> None:
    held = part()
    for field in dataclasses.fields(part):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(held, field.name, 1)
        with pytest.raises(BadSetting, match=field.name):
            part(**{field.name: -1})
        with pytest.raises(BadSetting, match=field.name):
            part(**{field.name: 10**15})


def test_unknown_names_are_refused() -> None:
    with pytest.raises(BadSetting, match="no policy 'folds'"):
        Policies.of({"folds": {}})
    with pytest.raises(BadSetting, match="has no l1_turn:"):
        Policies.of({"fold": {"l1_turn": 3}})


def test_settings_come_as_mappings_too() -> None:
    assert Policies.of({"fold": {"l1_turns": 30}}).fold.l1_turns == 30
    assert Policies.of(None) == Policies()
    assert Policies.of(Policies()) == Policies()

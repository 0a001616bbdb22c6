"""Several judges at once."""

from __future__ import annotations

import pytest

from hallumeter.claims.judges.by_name import Panel
from hallumeter.claims.judges.function import FunctionJudge
from hallumeter.errors import SettingsError


def named(name: str) -> FunctionJudge:
    return FunctionJudge(lambda claim, evidence: None, name)


def test_judges_stay_in_their_order() -> None:
    judges = [named("b"), named("a")]
    panel = Panel(judges)
    assert list(panel.judges) == judges
    assert [spec.name for spec in panel.specs] == ["b", "a"]
    assert len(panel) == 2


def test_two_judges_of_one_name_are_refused() -> None:
    with pytest.raises(SettingsError, match="two judges are called 'a'"):
        Panel([named("a"), named("b"), named("a")])


def test_a_panel_needs_a_judge() -> None:
    with pytest.raises(SettingsError, match="there is no judge"):
        Panel([])

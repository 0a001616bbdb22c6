"""What the product says stays what was recorded: terminal output, files, help pages, public names.

A difference that is meant is recorded by `python tests/golden --record`, and then read in the diff of the commit.
"""

from __future__ import annotations

import re

import pytest
from cases import CASES
from comparing import RECORDED, differences, stale
from playing import Stage
from programs import commands_below

from hallumeter.cli.main import main

MOST_BYTES = 2_000_000


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return Stage(tmp_path_factory.mktemp("golden"), CASES)


@pytest.mark.parametrize("name", CASES)
def test_the_product_says_what_was_recorded(name: str, stage: Stage) -> None:
    changed = differences(name, stage.play(name))
    if changed:
        pytest.fail(f"{changed}\nif this is meant: python tests/golden --record {name}", pytrace=False)


def test_every_command_has_a_case() -> None:
    steps = [step for case in CASES.values() for step in case.steps]
    programs = {name for name, case in CASES.items() if case.program is not None}
    for words in commands_below(main):
        command = " ".join(words)
        is_run = any(re.match(rf"{re.escape(command)}(\s|$)", step) for step in steps)
        assert is_run, f"no golden case runs `hallumeter {command}`"
        assert "-".join(("help", *words)) in programs


def test_there_are_no_recordings_of_cases_that_are_gone() -> None:
    assert stale(CASES) == []


def test_recordings_name_no_internal_module_and_no_place_of_a_machine() -> None:
    internal = re.compile(
        r"\bhallumeter\.(?!compat\b|testing\b|pytest_plugin\b)[a-z_]+(?:\.[a-z_]+)+|/home/|/root/|/tmp/"
    )
    for path in sorted(RECORDED.rglob("*.*")):
        found = internal.search(path.read_text(encoding="utf-8", errors="replace"))
        assert found is None, f"{path.name}: {found}"


def test_recordings_stay_small() -> None:
    assert sum(path.stat().st_size for path in RECORDED.rglob("*.*")) < MOST_BYTES

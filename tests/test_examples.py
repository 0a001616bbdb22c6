"""Every example is short, runs without a network, and shows something."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
LINES = 60


def test_there_are_examples() -> None:
    assert EXAMPLES


@pytest.mark.long
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs_offline_and_prints_something(
    path: Path,
    tmp_path: Path,
    run_offline: Callable[[Sequence[str | Path], Path], subprocess.CompletedProcess[str]],
) -> None:
    done = run_offline([sys.executable, "-W", "error", path], tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_fits_on_a_screen(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LINES

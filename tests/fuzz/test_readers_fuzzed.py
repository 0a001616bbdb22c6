"""Whatever is in a file, the command that reads it ends with its result or with one line, in time and in bounds."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fuzzed_files import TARGETS

HERE = Path(__file__).parent
CASES = 10_000
SECONDS = 3
"""For each target of the long tests, which run as many of the cases as fit."""
LEAST_CASES = 2


GUIDED = tuple(TARGETS)[::6]
"""Readers whose files atheris changes; `benchmarks/fuzz_readers.py --guided` takes all of them."""


def fuzzed(folder: Path, cases: int, seconds: float, *names: str, program: str = "fuzzing.py") -> dict[str, Any]:
    """What the program found; it runs on its own, within limits of memory and time."""
    words = [sys.executable, str(HERE / program), str(cases), str(seconds), "1", *names]
    kept = {"XDG_CACHE_HOME": str(folder), "HOME": str(folder), "TMPDIR": str(folder), "PYTHONUTF8": "1"}
    ended = subprocess.run(words, capture_output=True, text=True, check=False, timeout=600, env=kept)
    assert ended.returncode == 0, ended.stderr[-3000:]
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def test_every_kind_of_file_is_read_and_a_few_changes_break_nothing(tmp_path: Path) -> None:
    found = fuzzed(tmp_path, 3, 2)
    assert found.keys() == TARGETS.keys()
    assert [fault for each in found.values() for fault in each["faults"]] == []
    assert all(each["cases"] for each in found.values())


@pytest.mark.long
@pytest.mark.parametrize("name", TARGETS)
def test_many_changes_of_a_file_break_nothing(
    name: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    found = fuzzed(tmp_path, CASES, SECONDS, name)[name]
    record_property("cases", found["cases"])
    assert found["faults"] == []
    assert found["cases"] >= LEAST_CASES


@pytest.mark.long
@pytest.mark.parametrize("name", GUIDED)
def test_changes_that_reach_new_code_break_nothing(name: str, tmp_path: Path) -> None:
    pytest.importorskip("atheris", reason="atheris has no build here")
    found = fuzzed(tmp_path, CASES, SECONDS, name, program="guided.py")[name]
    assert found["faults"] == []
    assert found["cases"] >= LEAST_CASES

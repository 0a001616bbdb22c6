"""The six everyday tasks of the guide to Python take one or two lines each, as their headings say, and run."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "guides" / "python.md"
TASK = re.compile(r"^### (?P<title>[^\n]+): (?P<lines>\d) lines?\n\n```python\n(?P<code>.*?)^```", re.M | re.S)
TASKS = (
    "rate with its interval, from a DataFrame",
    "claims as a table",
    "by model",
    "two runs",
    "own judge",
    "every row",
)
MOST_LINES = 2


def test_each_task_has_as_many_lines_as_its_heading_says() -> None:
    section = PAGE.read_text(encoding="utf-8").partition("## Six everyday tasks")[2].partition("\n## ")[0]
    found = list(TASK.finditer(section))
    assert len(found) == len(TASKS) == section.count("\n### ")
    for task, words in zip(found, TASKS, strict=True):
        assert words in task["title"]
        lines = [line for line in task["code"].splitlines() if line.startswith((">>>", "..."))]
        # The last line of a task may show what the others did.
        assert len(lines) - ("tolist()" in lines[-1]) == int(task["lines"]) <= MOST_LINES


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(str(PAGE), module_relative=False, raise_on_error=False, verbose=False)
    assert (result.failed, result.attempted > 20) == (0, True)

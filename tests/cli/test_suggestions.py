"""Whoever types something that does not exist is told what does."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import refused, run


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("audit", "a.jsonl", "--model"), "no such option: --model; did you mean --by model?"),
        (("audit", "a.jsonl", "--group-by", "x"), "no such option: --group-by; did you mean --by FIELD?"),
        (("measure", "a.jsonl", "--json"), "no such option: --json; did you mean --format json?"),
        (("audit", "a.jsonl", "--treshold", "1"), "no such option: --treshold; did you mean --threshold"),
        (("adit",), "no such command: adit; did you mean audit?"),
        (("metrics", "hallucination_rate"), "did you mean mihr or mahr?"),
    ],
)
def test_a_mistake_is_answered_with_what_exists(words: tuple[str, ...], meant: str) -> None:
    assert meant in refused(*words)


def test_only_what_the_command_has_is_suggested() -> None:
    assert "did you mean" not in refused("report", "run", "--model")
    assert refused("zzz").startswith("No such command 'zzz'")


def test_the_help_lists_commands_and_options_under_headings() -> None:
    page = run("--help").stdout
    assert page.index("Measure:") < page.index("Decide:") < page.index("Test the judge:") < page.index("Other:")
    page = run("audit", "--help").stdout
    assert page.index("How claims are judged:") < page.index("What to print and keep:") < page.index("Other options:")
    assert "Resume an audit that was stopped." in page


def test_a_file_that_does_not_exist_is_named(tmp_path: Path) -> None:
    assert "no such file" in refused("audit", tmp_path / "none.jsonl").lower()

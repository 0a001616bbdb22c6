"""`hallumeter correct`: what it prints, its exit codes, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import refused, run, succeed

from compared_runs import run_of, verdict_rows


@pytest.fixture
def labelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run in which every other response has an error that the judge misses, and labels of half of it."""
    monkeypatch.chdir(tmp_path)
    run_of(tmp_path / "run", verdict_rows({f"r{number}": "ssr" for number in range(40)}, task="QA"))
    rows = [f"r{n},r{n}-{c},{'REFUTED' if c == n % 2 or c == 2 else 'SUPPORTED'}" for n in range(20) for c in range(3)]
    (tmp_path / "labels.csv").write_text("\n".join(["record_id,claim_id,label", *rows]) + "\n")
    return tmp_path


def test_rates_are_printed_beside_those_of_the_judge(labelled: Path) -> None:
    text = succeed("correct", "run", "--labels", "labels.csv").stdout
    assert "corrected for the errors of j" in text
    _, rates = text.split("Unsupported claims (MiHR)\n", 1)
    judge, corrected, _, labels = rates.splitlines()[:4]
    assert judge.startswith("  judge says     0.333 ")
    assert corrected.startswith("  corrected      0.667 ")
    assert labels.split() == ["labelled", "60", "of", "120"]


def test_json_has_every_number_and_markdown_a_table(labelled: Path) -> None:
    found = json.loads(succeed("correct", "run", "--labels", "labels.csv", "--format", "json", "--by", "task").stdout)
    mihr = found["rates"][0]
    assert (mihr["metric"], mihr["flagged"], mihr["total"], mihr["labelled"]) == ("mihr", 40, 120, 60)
    assert (mihr["raw"]["value"], mihr["corrected"]["value"]) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert {"task": "QA"} in [rate["by"] for rate in found["rates"]]
    assert (
        "| Unsupported claims (MiHR) | 0.333 "
        in succeed("correct", "run", "--labels", "labels.csv", "--format", "markdown").stdout
    )


def test_when_nothing_can_be_corrected_the_exit_code_says_so(labelled: Path) -> None:
    (labelled / "few.csv").write_text("record_id,claim_id,label\nr1,r1-0,SUPPORTED\n")
    result = run("correct", "run", "--labels", "few.csv")
    assert result.exit_code == 3
    reason = "none of the 40 claims that the judge calls unsupported is labelled"
    assert f"not corrected: Unsupported claims (MiHR): {reason}" in " ".join(result.stdout.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "not a run folder"),
        (["run"], "there are no labels"),
        (["run", "--labels", "nowhere.csv"], "no such file"),
        (["run", "--labels", "unknown.csv"], "unknown.csv:2: claim 'c9' of record 'r1' is not in the run"),
        (["run", "--labels", "twice.csv"], "twice.csv:3: 'kim' gave claim 'r1-0' of record 'r1' another label"),
        (["run", "--labels", "labels.csv", "--judge", "x"], "the run has no judge 'x'; its judges: j"),
        (["run", "--reference", "x"], "the run has no judge 'x'"),
        (["run", "--labels", "labels.csv", "--width", "2"], "the half width is 2.0"),
    ],
)
def test_bad_input_gets_one_line(labelled: Path, arguments: list[str], message: str) -> None:
    (labelled / "unknown.csv").write_text("record_id,claim_id,label\nr1,c9,SUPPORTED\n")
    (labelled / "twice.csv").write_text(
        "record_id,claim_id,label,annotator\nr1,r1-0,SUPPORTED,kim\nr1,r1-0,REFUTED,kim\n"
    )
    assert message in refused("correct", *arguments)


def test_a_damaged_run_is_named(labelled: Path) -> None:
    (labelled / "run" / "verdicts.jsonl").write_text("{broken\n")
    assert "verdicts.jsonl:1: damaged" in refused("correct", "run", "--labels", "labels.csv", "--no-verify")

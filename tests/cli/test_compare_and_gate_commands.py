"""`hallumeter compare` and `hallumeter gate`: what they print, their exit codes, and what they refuse."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from command_line import refused, run, succeed

from compared_runs import run_of, verdict_rows

POLICY = 'name = "mine"\n[[bounds]]\nmetric = "mihr"\nat_most = {}\n'


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a run, a worse one, and one in between."""
    monkeypatch.chdir(tmp_path)
    good = {f"r{number}": "ssss" for number in range(30)}
    worse = {name: "ssrr" if number % 2 else "ssss" for number, name in enumerate(good)}
    between = {**good, "r0": "sssr", "r1": "sssr"}
    for name, labels in (("good", good), ("worse", worse), ("between", between)):
        run_of(tmp_path / name, verdict_rows(labels, task="QA"))
    return tmp_path


def test_the_exit_code_tells_what_is_shown(runs: Path) -> None:
    assert run("compare", "good", "good").exit_code == 0
    assert run("compare", "good", "worse").exit_code == 1
    assert run("compare", "good", "between").exit_code == 3
    assert run("compare", "worse", "good").exit_code == 0


def test_a_table_names_values_transitions_and_the_outcome(runs: Path) -> None:
    text = run("compare", "good", "worse", "--by", "task").stdout
    for words in ("good → worse", "task=QA", "supported → refuted", "Outcome: REGRESSION", "claim 2 of r1"):
        assert words in text
    rows = [line.split() for line in text.splitlines()]
    assert ["Refuted", "claims", "↓", "0.000", "0.250", "+0.250"] in [row[:6] for row in rows]
    assert ["Unsupported", "claims", "(MiHR)", "0.000", "0.250", "+0.250"] in [row[:6] for row in rows]
    assert "30 broken, 0 mended" in text


def test_json_has_everything_and_markdown_folds_it(runs: Path) -> None:
    found = json.loads(run("compare", "good", "worse", "--format", "json", "--metric", "mihr").stdout)
    assert (found["outcome"], [row["metric"] for row in found["rows"]]) == ("regression", ["mihr"])
    text = run("compare", "good", "worse", "--format", "markdown", "--by", "task").stdout
    assert text.startswith("### hallumeter: REGRESSION\n")
    assert text.count("<details>") == text.count("</details>") == 2


def test_markdown_shows_names_from_files_and_does_not_obey_them(runs: Path) -> None:
    rows = [{**row, "text": "<img src=x> @all [a](b) | c"} for row in verdict_rows({"r": "s"})]
    changed = [{**row, "label": "REFUTED"} for row in rows]
    run_of(runs / "x", rows)
    run_of(runs / "y", changed)
    text = run("compare", "x", "y", "--format", "markdown").stdout
    assert "<img" not in text
    assert r"\@all \[a\](b) \| c" in text


def test_a_margin_is_for_all_metrics_or_for_one(runs: Path) -> None:
    assert run("compare", "good", "between", "--margin", "0.3").exit_code == 0
    assert run("compare", "good", "between", "--margin", "mihr=0.3", "--metric", "mihr").exit_code == 0
    assert "--margin 'x'" in refused("compare", "good", "worse", "--margin", "x")
    assert "margin is -1" in refused("compare", "good", "worse", "--margin", "-1")


def test_three_runs_are_ranked(runs: Path) -> None:
    text = succeed("compare", "good", "between", "worse").stdout
    assert "critical difference" in text
    found = json.loads(succeed("compare", "good", "between", "worse", "--format", "json").stdout)
    assert found["rankings"][0]["engines"][0]["engine"] == "good"
    assert run("compare", "good", "good", "good").exit_code == 3
    assert succeed("compare", "good", "between", "worse", "--format", "markdown").stdout.startswith("### hallumeter: 3")


def test_a_page_is_written_beside_whatever_is_printed(runs: Path) -> None:
    found = run("compare", "good", "worse", "--format", "json", "--out", "page.html")
    assert found.exit_code == 1
    assert json.loads(found.stdout)["outcome"] == "regression"
    assert "page: page.html" in found.stderr
    assert "Regression: worse is worse than good." in Path("page.html").read_text(encoding="utf-8")
    succeed("compare", "good", "between", "worse", "--out", "ranking.html", "--language", "ko", "--quiet")
    assert 'lang="ko"' in Path("ranking.html").read_text(encoding="utf-8")


def test_a_page_that_cannot_be_written_is_refused_before_anything_is_compared(runs: Path) -> None:
    assert "is a folder" in refused("compare", "good", "nowhere", "--out", "good")
    assert "no such folder" in refused("compare", "good", "nowhere", "--out", "missing/page.html")
    assert "no report is written in 'de'" in refused("compare", "good", "worse", "--language", "de")


def test_what_cannot_be_compared_is_refused_in_one_line(runs: Path) -> None:
    assert "two runs or more" in refused("compare", "good")
    assert "not a run folder" in refused("compare", "good", "nowhere")
    shutil.copytree(runs / "good", runs / "damaged")
    (runs / "damaged" / "claims.jsonl").write_text("{\n", encoding="utf-8")
    assert "damaged" in refused("compare", "good", "damaged")
    shutil.copytree(runs / "good", runs / "other")
    manifest = (runs / "other" / "manifest.json").read_text(encoding="utf-8")
    (runs / "other" / "manifest.json").write_text(manifest.replace('"measure"', '"transcripts"'), encoding="utf-8")
    assert "only runs of one instrument" in refused("compare", "good", "other")


def test_a_gate_passes_breaks_or_cannot_tell(runs: Path) -> None:
    Path("loose.toml").write_text(POLICY.format(0.5), encoding="utf-8")
    Path("strict.toml").write_text(POLICY.format(0.1), encoding="utf-8")
    Path("absent.toml").write_text(POLICY.format(0.5).replace("mihr", "cer"), encoding="utf-8")
    assert succeed("gate", "worse", "--policy", "loose.toml").stdout.endswith("Gate: passed\n")
    broken = run("gate", "worse", "--policy", "strict.toml")
    assert broken.exit_code == 1
    assert "mihr fails because of 15 records" in broken.stdout
    assert run("gate", "worse", "--policy", "absent.toml").exit_code == 3


@pytest.mark.parametrize("form", ["json", "junit", "github", "sarif"])
def test_a_gate_prints_for_machines(runs: Path, form: str) -> None:
    Path("strict.toml").write_text(POLICY.format(0.1), encoding="utf-8")
    found = run("gate", "worse", "--policy", "strict.toml", "--format", form)
    assert found.exit_code == 1
    assert "mihr" in found.stdout


def test_a_policy_is_begun_from_a_run_and_never_written_over(runs: Path) -> None:
    assert succeed("gate", "worse", "--init").stdout == "policy.toml\n"
    succeed("gate", "worse", "--policy", "policy.toml")
    assert "exists already" in refused("gate", "worse", "--init")


def test_a_bad_policy_is_refused_in_one_line(runs: Path) -> None:
    assert "--policy FILE" in refused("gate", "good")
    Path("p.toml").write_text(POLICY.format(0.1).replace("mihr", "mihrr"), encoding="utf-8")
    assert "unknown metric 'mihrr'" in (line := refused("gate", "good", "--policy", "p.toml"))
    assert "did you mean mihr" in line
    Path("p.toml").write_text("name = \n", encoding="utf-8")
    assert "line 1" in refused("gate", "good", "--policy", "p.toml")
    for text, message in (
        ('name = "m"\n[[bounds]]\nmetric = "mihr"\n', "either at_most or at_least"),
        (POLICY.format(0.1) + 'by = { task = "QA" }\neach = ["task"]\n', "found both"),
        (POLICY.format(0.1) + "max_unmeasured = 7\n", "expected a share"),
        (POLICY.format(0.1) + "nonsense = 7\n", "nonsense"),
        ('name = "m"\n', "[[bounds]]"),
    ):
        Path("p.toml").write_text(text, encoding="utf-8")
        assert message in refused("gate", "good", "--policy", "p.toml")


QUIET = {
    "measure worse/verdicts.jsonl": ("30 ", "Answers with at least one", "Most certain"),
    "compare good worse": ("Outcome: REGRESSION", "Outcome: REGRESSION", "supported → refuted"),
    "gate worse --policy mine.toml": ("Gate: FAILED", "Gate: FAILED", "interval"),
}


@pytest.mark.parametrize("line", QUIET)
def test_quietly_a_command_prints_its_headline_and_other_forms_whole(line: str, runs: Path) -> None:
    begins, holds, is_left_out = QUIET[line]
    (runs / "mine.toml").write_text(POLICY.format(0.1), encoding="utf-8")
    whole, quiet = run(*line.split()), run(*line.split(), "--quiet")
    assert quiet.exit_code == whole.exit_code
    assert quiet.stderr == ""
    assert quiet.stdout.startswith(begins)
    assert holds in quiet.stdout
    assert is_left_out not in quiet.stdout
    assert quiet.stdout in whole.stdout
    as_json = [run(*line.split(), "--format", "json", *more).stdout for more in ([], ["--quiet"])]
    assert as_json[0] == as_json[1] != ""

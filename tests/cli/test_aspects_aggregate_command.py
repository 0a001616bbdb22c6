"""`hallumeter aspects aggregate` at the command line."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from command_line import refused, run, succeed, write

from aspect_outputs import aspect, card_of, failed_output, output
from hallumeter.aspects.score.scorecard import make_scorecard


@pytest.fixture
def path(tmp_path: Path) -> Path:
    cards = [make_scorecard(output("a")), card_of(aspect("배터리", 1), text_id="b"), make_scorecard(failed_output("c"))]
    cards += [card_of(aspect("화면", 0, 2), text_id="b", seed=2)]
    return write(tmp_path / "cards.jsonl", [msgspec.json.decode(msgspec.json.encode(card)) for card in cards])


def test_a_table_tells_the_classes_of_drops_first(path: Path) -> None:
    result = succeed("aspects", "aggregate", path)
    lines = result.stdout.splitlines()
    assert lines[0] == "4 sentences · 2 runs · 1 with gold · 1 failed"
    assert lines[1] == "2 aspects dropped: H1 1, H2 1, filter 0"
    assert lines[2].startswith("Dropped aspects of stage 1")
    words = ("aspect_hallucination_rate_H1", "filter_rejection_rate", "Risks, corrections", "Parts", "By run", "2 / 3")
    for each in words:
        assert each in result.stdout
    assert "best to worst case" in result.stdout
    assert "Of 2 dropped aspects, 1 do not stand in their text (H1)" in result.stderr


def test_json_has_the_breakdowns(path: Path) -> None:
    summary = json.loads(succeed("aspects", "aggregate", path, "--format", "json", "--workers", 1).stdout)
    assert summary["instrument"] == "aspects"
    assert summary["aspects"]["breakdowns"][0] == {
        "name": "drop_class", "total": 2, "parts": {"H1": 1, "H2": 1, "filter": 0}, "by": {}, "intervals": None,
    }  # fmt: skip


def test_a_file_of_other_objects_is_refused_in_one_line(tmp_path: Path) -> None:
    path = write(tmp_path / "other.jsonl", [{"text": "Good."}, {"text": "Bad."}])
    told = refused("aspects", "aggregate", path)
    assert "no scorecard could be read; the first fault: other.jsonl:1: no scorecard" in told
    assert len(told.strip().splitlines()) == 1


def test_markdown_and_csv_have_every_run(path: Path) -> None:
    assert (
        "| demo | 1 | aspect\\_hallucination\\_rate ↓ |"
        in succeed("aspects", "aggregate", path, "--format", "markdown").stdout
    )
    lines = succeed("aspects", "aggregate", path, "--format", "csv").stdout.splitlines()
    assert lines[0].startswith("run,seed,metric,")
    assert any(line.startswith("demo,2,aspect_hallucination_rate,") for line in lines)


def test_a_run_folder_is_written_once(path: Path, tmp_path: Path) -> None:
    result = succeed("aspects", "aggregate", path, "--out", tmp_path / "run")
    assert "report.html" in result.stderr
    assert (tmp_path / "run" / "structural_metrics.csv").is_file()
    assert "exists already" in refused("aspects", "aggregate", path, "--out", tmp_path / "run", "--quiet")


def test_a_profile_that_no_scorecard_has_measures_nothing(path: Path) -> None:
    result = run("aspects", "aggregate", path, "--profile", "paper_main")
    assert result.exit_code == 3
    assert "0 sentences" in result.stdout
    assert "left out: 4 (profiles found: regression 4)" in result.stderr
    assert succeed("aspects", "aggregate", path, "--profile", "regression", "--quiet").stderr == ""


def test_bounds_of_warnings_come_from_a_file(path: Path, tmp_path: Path) -> None:
    (tmp_path / "bounds.json").write_text('{"coverage_warn": 0.9, "coverage_high": 0.8}', encoding="utf-8")
    printed = succeed("aspects", "aggregate", path, "--thresholds", tmp_path / "bounds.json").stdout
    assert "HIGH: debate_mapping_coverage is 0.750, below 0.8" in printed
    (tmp_path / "bounds.json").write_text('{"coverage": 1}', encoding="utf-8")
    assert "coverage" in refused("aspects", "aggregate", path, "--thresholds", tmp_path / "bounds.json")


def test_scorecards_come_through_a_pipe(path: Path, tmp_path: Path) -> None:
    assert "4 sentences" in succeed("aspects", "aggregate", "-", given=path.read_bytes()).stdout
    succeed("aspects", "aggregate", "-", "--out", tmp_path / "run", given=path.read_bytes())
    assert (tmp_path / "run" / "scorecards.jsonl").read_bytes() == path.read_bytes()


def test_bad_lines_are_named_and_strict_stops(path: Path) -> None:
    path.write_text(path.read_text(encoding="utf-8") + "{oops\n", encoding="utf-8")
    result = succeed("aspects", "aggregate", path)
    assert "cards.jsonl:5: " in result.stderr
    assert "1 unreadable lines" in result.stdout
    assert refused("aspects", "aggregate", path, "--strict").startswith("cards.jsonl:5: ")


def test_what_is_no_scorecard_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("[1]\n", encoding="utf-8")
    assert "no scorecard could be read" in refused("aspects", "aggregate", tmp_path / "x.jsonl")
    assert "expected a number between 0 and 1" in refused(
        "aspects", "aggregate", tmp_path / "x.jsonl", "--confidence", 2
    )


def test_the_help_page_has_examples() -> None:
    assert "hallumeter aspects aggregate scorecards.jsonl --profile paper_main --out run" in run(
        "aspects", "aggregate", "--help"
    ).stdout  # fmt: skip

"""`hallumeter baselines`: what it prints, keeps and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import refused, run, succeed

from compared_runs import run_of
from made_runs import MadeClaim, by_length, labelled_run, labels_csv, made_claims, rows_of


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run whose judge counts characters, with a reference; and the same without one."""
    monkeypatch.chdir(tmp_path)
    claims = made_claims(80)
    labelled_run(tmp_path / "run", claims, by_length)
    run_of(tmp_path / "bare", rows_of(claims, "j", by_length))
    labels_csv(tmp_path / "labels.csv", claims)
    return tmp_path


def test_a_judge_that_counts_characters_is_told_so_in_one_sentence(folder: Path) -> None:
    done = succeed("baselines", "run")
    assert "- not distinguishable from answer length (difference +0.000, +0.000 to +0.000)" in done.stdout
    assert "- not distinguishable from claim length" in done.stdout
    for words in ("80 labels (human)", "j, claims of 80 answers", "flagging everything", "answer length, longer"):
        assert words in done.stdout
    assert "j with the evidence of other answers: its verdicts came with the run" in done.stdout
    assert "kept: run/baselines.json" in done.stderr
    assert json.loads((folder / "run/baselines.json").read_text(encoding="utf-8"))["judges"][0]["judge"] == "j"


def test_nothing_is_kept_where_that_is_not_wanted(folder: Path) -> None:
    done = succeed("baselines", "run", "--no-keep")
    assert not (folder / "run/baselines.json").exists()
    assert done.stderr == ""


def test_labels_may_come_from_a_table(folder: Path) -> None:
    found = json.loads(succeed("baselines", "bare", "--labels", "labels.csv", "--format", "json").stdout)
    rows = {row["baseline"]: row for row in found["judges"][0]["levels"][0]["rows"]}
    assert rows["length"]["standing"] == "not_distinguishable"
    assert found["census"]["annotators"] == {"kim": 80}


def test_markdown_shows_names_from_files_and_does_not_obey_them(folder: Path) -> None:
    claims = made_claims(30)
    run_of(folder / "odd", rows_of(claims, "<img src=x> | *j*", by_length))
    text = succeed("baselines", "odd", "--labels", _labels(folder, claims), "--format", "markdown", "--quiet").stdout
    assert "<img" not in text.replace("\\<img", "")
    assert r"\| \*j\*" in text
    assert "- not distinguishable from answer length" in text


def test_labels_that_do_not_suffice_exit_with_3(folder: Path) -> None:
    claims = made_claims(3)
    run_of(folder / "few", rows_of(claims, "j", by_length))
    done = run("baselines", "few", "--labels", _labels(folder, claims))
    assert done.exit_code == 3
    assert "undefined: the labels do not suffice" in done.stdout


def test_what_cannot_be_used_is_refused_in_one_line(folder: Path) -> None:
    assert "there are no labels" in refused("baselines", "bare")
    assert "not a run folder" in refused("baselines", "nowhere")
    assert "no judge 'x'" in refused("baselines", "run", "--judge", "x")
    assert "limit is -1" in refused("baselines", "run", "--limit", -1)
    assert "confidence is 2" in refused("baselines", "run", "--confidence", 2)
    (folder / "labels.csv").write_text("record_id,claim_id,label\nzz,c1,SUPPORTED\n", encoding="utf-8")
    assert "claim 'c1' of record 'zz' is not in the run" in refused("baselines", "run", "--labels", "labels.csv")
    assert not (folder / "run/baselines.json").exists()


def _labels(folder: Path, claims: list[MadeClaim]) -> Path:
    return labels_csv(folder / "own.csv", claims)

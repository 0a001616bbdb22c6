"""Agents that read in shards, and outputs scored in shards, give the files of a run in one piece, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from aspect_runs import answers_by_rule, document, sentence, timeless_files, write_rows

from misbehaving_server import server_in_thread
from sharded_runs import check_export, run, sound

IN_SHARDS = ("--engine", "local", "--shards", 6, "--workers", 1)
SENTENCES = 9
KOREAN = "배터리는 좋지만 화면이 별로예요."


def written(folder: Path, **settings: Any) -> Path:
    """An experiment of sentences in two languages; a line is broken, an id comes twice, one text is too long."""
    rows = [sentence(number) for number in range(SENTENCES)]
    rows += [{"text_id": "ko", "text": KOREAN}, rows[1], {"text_id": "long", "text": "It is good. " * 60}]
    reviews = write_rows(folder / "reviews.jsonl", rows)
    reviews.write_text("{broken\n" + reviews.read_text(encoding="utf-8"), encoding="utf-8")
    path = folder / "experiment.yaml"
    given = document(folder, data={"max_length": 500, **settings.pop("data", {})}, **settings)
    path.write_text(json.dumps(given, ensure_ascii=False), encoding="utf-8")
    return path


def both(folder: Path, config: Path) -> tuple[Path, Path]:
    """The same experiment in one piece and in shards, under the same name."""
    whole = sound("aspects", "run", "--config", config)
    plain = (folder / "runs" / "run").rename(folder / "plain")
    cut = sound("aspects", "run", "--config", config, *IN_SHARDS)
    assert cut.stdout.splitlines()[:-2] == whole.stdout.splitlines()[:-2]
    return plain, folder / "runs" / "run"


def test_an_export_is_the_run_in_one_piece(tmp_path: Path) -> None:
    train = write_rows(tmp_path / "train.jsonl", [sentence(number) for number in range(50, 60)])
    config = written(tmp_path, seeds=[3, 1], demo={"k": 2}, data={"train_file": str(train)})
    plain, shards = both(tmp_path, config)
    exported = check_export(plain, shards)
    assert (exported / "demos.jsonl").stat().st_size
    verified = sound("verify", shards).stdout
    assert "blame.csv" in verified
    again = sound("aspects", "run", "--config", config, *IN_SHARDS, "--resume")
    assert "nothing is left to do" in again.stderr


def test_language_models_are_asked_as_in_one_piece(tmp_path: Path) -> None:
    with server_in_thread(answers_by_rule) as server:
        plain, shards = both(tmp_path, written(tmp_path, model=f"{server.openai}#m"))
    timed = ("outputs.jsonl", "traces.jsonl", "scorecards.jsonl", "measurements.jsonl", "summary.json", "report.html")
    tables = ("structural_metrics.csv", "structural_metrics_table.md", "quality_report.md", "blame.jsonl")
    spread = ("aggregated_mean_std.csv", "aggregated_mean_std.md")
    exported = check_export(plain, shards, but=(*timed, *tables, *spread))
    assert timeless_files(exported) == timeless_files(plain)


def test_another_setting_under_the_same_name_is_refused(tmp_path: Path) -> None:
    sound("aspects", "run", "--config", written(tmp_path), *IN_SHARDS)
    (tmp_path / "runs" / "run" / "manifest.json").unlink()
    changed = written(tmp_path, pipeline={"enable_debate": False})
    refused = run("aspects", "run", "--config", changed, *IN_SHARDS, "--quiet")
    assert refused.exit_code == 2
    [line] = refused.stderr.splitlines()
    assert "the run was begun with enable_debate True, now it is False" in line


def test_a_dry_run_counts_shards_and_calls_and_asks_nobody(tmp_path: Path) -> None:
    free = sound("aspects", "run", "--config", written(tmp_path), *IN_SHARDS, "--dry-run").stdout
    assert "in 6 shards" in free
    assert "ms a row, measured on the first" in free
    paid = sound("aspects", "run", "--config", written(tmp_path, model="openai:m"), *IN_SHARDS, "--dry-run").stdout
    assert "core-hours         unknown" in paid
    assert "calls " in paid
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("has_gold", [True, False])
def test_outputs_are_scored_in_shards_and_aggregated_at_once(tmp_path: Path, has_gold: bool) -> None:
    sound("aspects", "run", "--config", written(tmp_path, seeds=[3, 1]))
    outputs = tmp_path / "runs" / "run" / "outputs.jsonl"
    gold = write_rows(tmp_path / "gold.jsonl", [{"uid": f"s{number}", "gold_tuples": []} for number in (1, 4, 99)])
    words = ["aspects", "score", outputs, *(("--gold", gold) if has_gold else ()), "--profile", "smoke"]
    whole = sound(*words, "--out", tmp_path / "cards.jsonl")
    measured = sound("aspects", "aggregate", tmp_path / "cards.jsonl", "--out", tmp_path / "plain")
    cut = sound(*words, *IN_SHARDS, "--out", tmp_path / "shards")
    assert cut.stdout == measured.stdout
    assert ("gold of sentences that no output is about: 1" in whole.stderr) is has_gold
    assert ("gold of sentences that no output is about: 1" in cut.stderr) is has_gold
    sound("export", tmp_path / "shards", "--to", "jsonl", "--out", tmp_path / "exported")
    assert (tmp_path / "exported" / "scorecards.jsonl").read_bytes() == (tmp_path / "cards.jsonl").read_bytes()
    for path in (tmp_path / "plain").iterdir():
        if path.name not in ("manifest.json", "report.html"):
            assert (tmp_path / "exported" / path.name).read_bytes() == path.read_bytes(), path.name
    assert "equal" in sound("verify", tmp_path / "shards").stdout.splitlines()[0]


def test_scores_in_shards_need_a_place(tmp_path: Path) -> None:
    path = tmp_path / "outputs.jsonl"
    path.write_text("{broken\n", encoding="utf-8")
    for out in ((), ("--out", "-")):
        placeless = run("aspects", "score", path, *IN_SHARDS, *out)
        assert placeless.exit_code == 2
        assert "give --out RUN" in placeless.stderr

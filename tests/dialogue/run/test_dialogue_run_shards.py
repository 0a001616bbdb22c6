"""Systems asked in shards give the events of a run in one piece, and `dialogue measure` reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dialogue_runs import document, script, write_rows

from misbehaving_server import MisbehavingServer
from sharded_runs import check_export, run, sound

IN_SHARDS = ("--engine", "local", "--shards", 4, "--workers", 1)
PATIENTS = 7


def written(folder: Path, systems: list[dict[str, Any]] | None = None, **settings: Any) -> Path:
    """An experiment of some patients; one line of the scripts is broken, and one patient stands there twice."""
    rows = [script(number, language="ko" if number % 3 == 0 else "en", turns=3) for number in range(PATIENTS)]
    scripts = write_rows(folder / "scripts.jsonl", [*rows, rows[2]])
    scripts.write_text("{broken\n" + scripts.read_text(encoding="utf-8"), encoding="utf-8")
    path = folder / "experiment.yaml"
    path.write_text(json.dumps(document(folder, systems, **settings)), encoding="utf-8")
    return path


def timeless(folder: Path) -> list[dict[str, Any]]:
    """Events without the moments at which they were answered."""
    rows = [json.loads(line) for line in (folder / "events.jsonl").read_text(encoding="utf-8").splitlines()]
    return [row | {"timing_ms": {}, "timestamps": {}} for row in rows]


def both(folder: Path, config: Path) -> tuple[Path, Path]:
    """The same experiment in one piece and in shards, under the same name."""
    sound("dialogue", "run", "--config", config)
    plain = (folder / "runs" / "run").rename(folder / "plain")
    sound("dialogue", "run", "--config", config, *IN_SHARDS)
    return plain, folder / "runs" / "run"


def test_an_export_has_the_events_of_a_run_in_one_piece(tmp_path: Path) -> None:
    plain, shards = both(tmp_path, written(tmp_path))
    exported = check_export(plain, shards, but=("events.jsonl",))
    assert timeless(exported) == timeless(plain)
    assert len(timeless(plain)) == PATIENTS * 3 * 2
    again = sound("dialogue", "run", "--config", tmp_path / "experiment.yaml", "--engine", "local", "--workers", 1)
    assert "nothing is left to do" in again.stderr
    whole = run("dialogue", "run", "--config", tmp_path / "experiment.yaml")
    assert whole.exit_code == 2
    assert "holds a run in shards; give --engine as before" in whole.stderr


def test_faithfulness_is_measured_by_the_workers(tmp_path: Path) -> None:
    plain, shards = both(tmp_path, written(tmp_path, faithfulness="embedded", max_patients=3))
    exported = check_export(plain, shards, but=("events.jsonl",))
    assert timeless(exported) == timeless(plain)
    assert any(row["metrics"]["faithfulness"] is not None for row in timeless(exported))


def test_the_answers_are_measured_where_they_are(tmp_path: Path) -> None:
    _, shards = both(tmp_path, written(tmp_path))
    told = {}
    for number, events in enumerate((shards, tmp_path / "plain" / "events.jsonl", tmp_path / "plain")):
        told[number] = sound("dialogue", "measure", events, "--format", "json").stdout
    assert told[0] == told[1] == told[2]


def test_failures_are_told_and_nobody_who_answers_is_unmeasured(
    misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    misbehaving_server.play(otherwise="bad_request")
    config = written(tmp_path, [{"mode": "llm", "model": f"{misbehaving_server.openai}#m", "retries": 0}])
    done = run("dialogue", "run", "--config", config, *IN_SHARDS)
    assert done.exit_code == 3
    assert f"0 answers, {PATIENTS * 3} failed" in done.stdout
    assert "llm, patient p" in done.stderr


def test_calls_without_a_price_are_told(misbehaving_server: MisbehavingServer, tmp_path: Path) -> None:
    misbehaving_server.play()
    config = written(tmp_path, [{"mode": "llm", "model": f"{misbehaving_server.openai}#m"}], max_patients=2)
    done = sound("dialogue", "run", "--config", config, *IN_SHARDS)
    assert "6 calls, price unknown for 6 calls" in done.stderr
    assert "$" not in done.stderr


def test_a_key_that_is_refused_ends_the_run_in_one_line(misbehaving_server: MisbehavingServer, tmp_path: Path) -> None:
    misbehaving_server.play(otherwise="bad_key")
    config = written(tmp_path, [{"mode": "llm", "model": f"{misbehaving_server.openai}#m"}])
    done = run("dialogue", "run", "--config", config, *IN_SHARDS, "--quiet")
    assert done.exit_code == 2
    [line] = done.stderr.splitlines()
    assert line.endswith("mend it and go on with --resume")
    assert "hallumeter-shard-" not in line


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--retry-failed",), "a shard that is committed stays as it is"),
        (("--engine", "hadoop"), "no engine is called 'hadoop'"),
        (("--ledger", "mysql://ann:secret@db/runs"), "expected a URL such as postgresql://"),
    ],
)
def test_what_cannot_be_done_in_shards_is_refused(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    refused = run("dialogue", "run", "--config", written(tmp_path), *IN_SHARDS, *words)
    assert refused.exit_code == 2
    assert message in " ".join(refused.stderr.split())
    assert "secret" not in refused.stderr
    assert not (tmp_path / "runs" / "run" / "plan.json").exists()


def test_a_dry_run_counts_shards_and_calls_and_asks_nobody(
    misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    misbehaving_server.play()
    name = f"{misbehaving_server.openai}#m"
    config = written(tmp_path, [{"mode": "llm", "model": name}], prices={name: "1/2"})
    paid = sound("dialogue", "run", "--config", config, *IN_SHARDS, "--dry-run").stdout
    assert "in 4 shards" in paid
    assert "core-hours         unknown" in paid
    assert "calls                   21" in paid
    assert "unknown" not in paid.partition("cost")[2]
    assert misbehaving_server.log() == []
    free = sound("dialogue", "run", "--config", written(tmp_path), *IN_SHARDS, "--dry-run").stdout
    assert "measured on the first" in free
    assert not (tmp_path / "runs").exists()


@pytest.mark.long
def test_a_run_in_object_storage_is_the_same(tmp_path: Path, bucket: str) -> None:
    config = written(tmp_path)
    sound("dialogue", "run", "--config", config)
    plain = (tmp_path / "runs" / "run").rename(tmp_path / "plain")
    done = sound("dialogue", "run", "--config", config, *IN_SHARDS, "--out", f"{bucket}/runs")
    assert f"run: {bucket}/runs/run" in done.stdout
    exported = check_export(plain, f"{bucket}/runs/run", but=("events.jsonl", "experiment.json"))
    assert timeless(exported) == timeless(plain)
    measured = sound("dialogue", "measure", f"{bucket}/runs/run", "--format", "json").stdout
    assert measured == sound("dialogue", "measure", plain, "--format", "json").stdout

"""`hallumeter export`: every form from one run, and what cannot be written."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from hallumeter import audit
from hallumeter.cli.main import main

ROWS = [
    {"id": "a", "response": "The tower is 330 m high.", "evidence": "The tower is 330 m high."},
    {"id": "b", "response": "The tower is 999 m high.", "evidence": "The tower is 330 m high."},
]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    audit(ROWS, judge="rules", out="run")
    (tmp_path / "policy.toml").write_text('name = "p"\n[[bounds]]\nmetric = "mihr"\nat_most = 0.1\n', encoding="utf-8")
    return tmp_path


def code(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["export", *words])
    return int(ended.value.code or 0)


def test_tables_are_written_as_csv_a_workbook_and_a_dataset(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert code("run", "--out", "tables") == 0
    assert "written: tables" in capsys.readouterr().err
    assert len((place / "tables" / "claims.csv").read_text(encoding="utf-8").splitlines()) == 3
    assert code("run", "--to", "xlsx", "--out", "run.xlsx", "--quiet") == 0
    assert (place / "run.xlsx").read_bytes().startswith(b"PK")
    assert code("run", "--to", "dataset", "--out", "set") == 0
    assert sorted(path.name for path in (place / "set" / "data").iterdir()) == [
        *("claims.parquet", "metrics.parquet", "responses.parquet", "verdicts.parquet")
    ]


def test_bounds_of_a_policy_are_written_for_ci(place: Path) -> None:
    assert code("run", "--to", "junit", "--policy", "policy.toml", "--out", "gate.xml") == 0
    assert ET.parse(place / "gate.xml").getroot().get("failures") == "1"
    assert code("run", "--to", "sarif", "--policy", "policy.toml", "--out", "gate.sarif") == 0
    assert json.loads((place / "gate.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]


def test_events_are_written_into_a_file(place: Path) -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    assert code("run", "--to", "otel", "--out", "events.jsonl") == 0
    assert len((place / "events.jsonl").read_text(encoding="utf-8").splitlines()) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run"], "--to csv needs a place"),
        (["run", "--to", "junit", "--out", "x"], "--to junit needs bounds"),
        (["run", "--to", "otel"], "needs a file (--out) or a collector"),
        (["run", "--out", "policy.toml"], "policy.toml: is there already"),
        (["nowhere", "--out", "x"], "nowhere: not a run folder"),
    ],
)
def test_what_cannot_be_written_is_said_in_one_line_and_nothing_is_left(
    place: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    before = sorted(path.name for path in place.iterdir())
    assert code(*words) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert said in line
    assert sorted(path.name for path in place.iterdir()) == before


def test_a_tool_that_is_not_installed_is_named(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        import mlflow  # noqa: F401
    except ModuleNotFoundError:
        assert code("run", "--to", "mlflow") == 2
        assert "pip install 'hallumeter[mlflow]'" in capsys.readouterr().err

"""Tables of a run as CSV, as a workbook and as a dataset, read back by the programs they are for."""

from __future__ import annotations

import csv
from pathlib import Path

import openpyxl
import pytest

from hallumeter import Run, audit
from hallumeter.run.export_tables import LONGEST_CELL, export_csv, export_dataset, export_workbook

ROWS = [
    {"id": "a", "response": "The tower is 330 m high.", "evidence": "The tower is 330 m high.", "note": "=1+1"},
    {"id": "=cmd()", "response": "The tower is 999 m high.", "evidence": "The tower is 330 m high.", "note": "x"},
    {"id": "탑", "response": "", "evidence": "탑은 330 m입니다."},
]


@pytest.fixture(scope="module")
def run() -> Run:
    return audit(ROWS, judge="rules")


def test_csv_files_have_every_row_and_no_formula(run: Run, tmp_path: Path) -> None:
    export_csv(run, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "claims.csv",
        "metrics.csv",
        "responses.csv",
        "verdicts.csv",
    ]
    with (tmp_path / "responses.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 3
    assert not any(cell.startswith("=") for row in rows for cell in row.values() if cell)
    (tmp_path / "raw").mkdir()
    export_csv(run, tmp_path / "raw", is_raw=True)
    assert "\n=cmd()" in (tmp_path / "raw" / "responses.csv").read_text(encoding="utf-8")


def test_a_workbook_has_a_sheet_for_each_table_and_texts_stay_texts(run: Run, tmp_path: Path) -> None:
    assert export_workbook(run, tmp_path / "run.xlsx") == ()
    book = openpyxl.load_workbook(tmp_path / "run.xlsx")
    assert book.sheetnames == ["metrics", "responses", "claims", "verdicts"]
    cells = [cell for row in book["responses"].iter_rows() for cell in row]
    assert any(cell.value == "=cmd()" and cell.data_type == "s" for cell in cells)
    assert any(cell.value == "탑" for cell in cells)
    metrics = list(book["metrics"].iter_rows(values_only=True))
    assert metrics[0][0] == "metric"
    assert any(row[0] == "mihr" for row in metrics)


def test_a_text_that_no_cell_holds_is_cut_and_said(tmp_path: Path) -> None:
    long = "The tower is 330 m high and " + "very " * 8000 + "tall."
    run = audit([{"id": "a", "response": long, "evidence": "The tower is 330 m high."}], judge="rules")
    [notice] = export_workbook(run, tmp_path / "run.xlsx")
    assert "longer than a cell holds" in notice
    book = openpyxl.load_workbook(tmp_path / "run.xlsx")
    longest = max(len(str(cell.value)) for row in book["claims"].iter_rows() for cell in row)
    assert longest == LONGEST_CELL


def test_a_dataset_is_read_by_datasets_and_has_a_card(run: Run, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    export_dataset(run, tmp_path)
    claims = datasets.load_dataset("parquet", data_files=str(tmp_path / "data" / "claims.parquet"), split="train")
    assert claims.num_rows == 2
    card = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert card.startswith("---\n")
    assert "config_name: claims" in card
    assert "| mihr | 0.5000 |" in card
    assert "undefined" in card

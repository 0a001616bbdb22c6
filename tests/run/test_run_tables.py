"""Runs as tables: what stands in them, and how other packages get them."""

from __future__ import annotations

import csv
import io
import math
import subprocess
import sys
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hallumeter
from hallumeter.formats.data_table import DataTable
from hallumeter.testing import judge_that_says

EVIDENCE = "The tower is 330 m high and stands in Paris."
SAYS = {
    "The tower is 330 m high.": {"label": "SUPPORTED", "unsupported_probability": 0.1},
    "The tower is 999 m high.": {
        "label": "REFUTED",
        "unsupported_probability": 0.9,
        "reason": "number_mismatch",
        "note": "999 m, not 330 m",
        "start": 13,
        "end": 18,
        "quotes": [{"evidence_id": "e1", "start": 13, "end": 18, "quote": "330 m"}],
    },
}
RECORDS: list[dict[str, object]] = [
    {"id": "r1", "response": "The tower is 330 m high.", "evidence": EVIDENCE, "model": "a", "task": "QA", "cost": 1.5},
    {"id": "r2", "response": "The tower is 999 m high. It snows.", "evidence": EVIDENCE, "model": "b", "task": "QA"},
    {"id": "r3", "response": "It broke.", "evidence": EVIDENCE, "model": "b", "question": "Well?", "label": "mine"},
    {"id": "r4", "response": "Hello!", "evidence": EVIDENCE, "model": "a", "is_new": True, "rank": 3},
]


def judge(claim: str, evidence: list[str]) -> object:
    if claim == "It broke.":
        raise RuntimeError("broken")
    return SAYS.get(claim)


@pytest.fixture(scope="module")
def run() -> hallumeter.Run:
    return hallumeter.audit(RECORDS, judge=judge_that_says(judge, name="j"), by="model")


def test_claims_have_the_label_that_counts_and_what_it_rests_on(run: hallumeter.Run) -> None:
    claims = run.claims()
    assert [(row["record_id"], row["model"], row["label"]) for row in claims] == [
        ("r1", "a", "SUPPORTED"),
        ("r2", "b", "REFUTED"),
        ("r2", "b", "UNDECIDED"),
        ("r3", "b", "FAILED"),
    ]
    wrong = claims[1]
    assert (wrong["text"], wrong["unsupported_probability"]) == ("The tower is 999 m high.", 0.9)
    assert (wrong["reason"], wrong["note"], wrong["quote"]) == ("number_mismatch", "999 m, not 330 m", "330 m")
    assert (wrong["wrong_start"], wrong["wrong_end"], wrong["evidence_id"]) == (13, 18, "e1")
    assert claims["unsupported_probability"] == [0.1, 0.9, None, None]
    assert claims[0]["wrong_start"] is None


def test_verdicts_have_a_row_for_each_judge() -> None:
    panel = [judge_that_says(judge, name="first"), judge_that_says(lambda claim, evidence: False, name="second")]
    run = hallumeter.audit(RECORDS[:2], judge=panel)
    verdicts = run.verdicts()
    assert {(row["judge"], row["label"]) for row in verdicts if row["record_id"] == "r1"} >= {
        ("first", "SUPPORTED"),
        ("second", "NOT_ENOUGH_INFO"),
    }
    # Two judges that disagree leave the claim undecided, which no verdict says.
    first = run.claims()[0]
    assert (first["label"], first["unsupported_probability"]) == ("UNDECIDED", None)


def test_scores_have_one_row_a_response_and_no_number_where_nothing_was_measured(run: hallumeter.Run) -> None:
    scores = run.scores()
    assert scores["record_id"] == ["r1", "r2", "r3", "r4"]
    counted = ("claims", "supported", "unsupported", "undecided", "failed")
    assert [tuple(row[name] for name in counted) for row in scores] == [
        (1, 1, 0, 0, 0),
        (2, 0, 1, 1, 0),
        (1, 0, 0, 0, 1),
        (0, 0, 0, 0, 0),
    ]
    assert scores["mihr"] == [0.0, 1.0, None, None]
    assert scores["task"] == ["QA", "QA", None, None]
    assert (scores["cost"], scores["rank"]) == ([1.5, None, None, None], [None, None, None, 3])
    assert scores["is_new"] == [None, None, None, True]


def test_metrics_have_a_column_for_each_field_that_they_are_grouped_by(run: hallumeter.Run) -> None:
    rows = run.metrics("MiHR")
    assert [(row["model"], row["count"], row["total"], row["value"]) for row in rows] == [
        (None, 1.0, 2.0, 0.5),
        ("a", 0.0, 1.0, 0.0),
        ("b", 1.0, 1.0, 1.0),
    ]
    assert rows[0]["undecided"] == rows[0]["failed"] == 1
    assert (rows[0]["lowest_possible"], rows[0]["highest_possible"]) == (0.25, 0.75)
    undefined = [row for row in run.metrics() if row["value"] is None]
    assert undefined
    assert all(row["undefined"] and row["low"] is None for row in undefined)
    with pytest.raises(KeyError, match="did you mean mihr or mahr"):
        run.metrics("hallucination_rate")


def test_a_field_with_the_name_of_a_column_keeps_another(tmp_path: Path) -> None:
    records = [{**RECORDS[0], "value": "v", "claims_count": 1, "unsupported": "u", "score": math.nan}]
    run = hallumeter.audit(records, judge=judge, by="value")
    assert run.metrics("mihr")["by_value"] == [None, "v"]
    assert (run.scores()[0]["field_unsupported"], run.scores()[0]["unsupported"]) == ("u", 0)


def test_pandas_gets_types_and_missing_values(run: hallumeter.Run) -> None:
    frame = run.scores().to_pandas()
    assert list(frame["record_id"]) == ["r1", "r2", "r3", "r4"]
    assert frame["mihr"].isna().tolist() == [False, False, True, True]
    assert (str(frame["claims"].dtype), str(frame["is_new"].dtype), str(frame["mihr"].dtype)) == (
        "Int64",
        "boolean",
        "float64",
    )
    assert frame["rank"].isna().sum() == 3
    assert frame["task"].isna().sum() == 2


def test_polars_arrow_and_whoever_knows_arrow_get_the_same(run: hallumeter.Run) -> None:
    claims = run.claims()
    arrow = claims.to_arrow()
    assert arrow.to_pylist() == list(claims)
    assert claims.to_polars().to_dicts() == list(claims)
    assert pl.DataFrame(claims).to_dicts() == list(claims)
    assert pa.table(claims).schema == arrow.schema
    assert claims.to_polars()["start"].dtype == pl.Int64
    connection = duckdb.connect()
    counted = connection.execute("select count(*) from arrow where label = 'REFUTED'").fetchone()
    assert counted == (1,)


def test_an_empty_table_keeps_its_columns_and_types(run: hallumeter.Run) -> None:
    empty = run.claims()[:0]
    assert (len(empty), list(empty), empty.columns) == (0, [], run.claims().columns)
    assert empty.to_arrow().schema == run.claims().to_arrow().schema
    assert empty.to_polars().schema == run.claims().to_polars().schema
    assert list(empty.to_pandas().columns) == list(empty.columns)
    assert empty.to_csv().strip() == ",".join(empty.columns)


def test_slices_rows_and_columns(run: hallumeter.Run) -> None:
    claims = run.claims()
    assert claims[1:3].to_dicts() == claims.to_dicts()[1:3]
    assert claims[-1] == claims.to_dicts()[-1]
    with pytest.raises(KeyError, match="no column is called 'nothing'; columns: record_id, model"):
        claims["nothing"]
    with pytest.raises(IndexError):
        claims[99]


HOSTILE = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "fine", None, "<script>alert(1)</script>"]


def test_csv_has_no_formula_unless_it_is_asked_for_raw(tmp_path: Path) -> None:
    table = DataTable({"text": "text", "value": "number"}, [(text, -1.5) for text in HOSTILE])
    cells = [row[0] for row in csv.reader(io.StringIO(table.to_csv()), strict=True)][1:]
    assert cells == ["'=1+1", "+1", "-1", "'@SUM(A1)", "'\tx", "'\rx", "fine", "", "<script>alert(1)</script>"]
    assert {row[1] for row in csv.reader(io.StringIO(table.to_csv()))} == {"value", "-1.5"}
    raw = [row[0] for row in csv.reader(io.StringIO(table.to_csv(raw=True), newline=""))][1:]
    assert raw == [text or "" for text in HOSTILE]
    assert table.to_csv(tmp_path / "table.csv") is None
    assert (tmp_path / "table.csv").read_bytes().decode() == table.to_csv()


def test_a_repr_is_short_and_fits_80_columns(run: hallumeter.Run) -> None:
    long = DataTable({"text": "text", "value": "number"}, [("word " * 40, 0.123456789)] * 25)
    lines = repr(long).splitlines()
    assert lines[0].split() == ["text", "value"]
    assert len(lines) == 12
    assert lines[-1] == "[25 rows, the first 10 shown]"
    for table in (long, run.claims(), run.verdicts(), run.scores(), run.metrics()):
        assert max(map(len, repr(table).splitlines())) <= 80
    wide = DataTable({f"column_number_{number}": "whole" for number in range(30)}, [tuple(range(30))])
    assert max(map(len, repr(wide).splitlines())) <= 80
    assert "column_number_29" in repr(wide)
    assert "\x1b" not in repr(DataTable({"text": "text"}, [("\x1b[31m",)]))
    assert repr(DataTable({"text": "text"}, [("x" * 200,)])).splitlines()[1].endswith("…")


def test_pages_of_notebooks_show_hostile_text_as_text() -> None:
    payload = "<script>alert(1)</script>"
    records = [
        {"id": name, "response": f"The tower is {payload} high.", "evidence": EVIDENCE, "model": payload}
        for name in (payload, "r2")
    ]
    run = hallumeter.audit(records, judge=judge_that_says(lambda claim, evidence: False, name=payload), by="model")
    other = hallumeter.audit(records, judge=judge_that_says(lambda claim, evidence: True, name=payload), by="model")
    compared = hallumeter.compare(run, other)
    for shown in (run, run.summary, compared, run.claims(), run.verdicts(), run.scores(), run.metrics()):
        html = shown._repr_html_()
        assert "<table" in html
        assert "<script" not in html
    assert "&lt;script&gt;" in run.claims()._repr_html_()
    many = DataTable({"n": "whole", "is": "truth"}, [(number, True) for number in range(30)])
    assert "30 rows, the first 20 shown" in many._repr_html_()


def test_a_missing_package_is_named_in_one_line(run: hallumeter.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("pandas", "polars", "pyarrow"):
        monkeypatch.setitem(sys.modules, package, None)
    for method, extra in (("to_pandas", "pandas"), ("to_polars", "polars"), ("to_arrow", "parquet")):
        with pytest.raises(hallumeter.MissingExtraError, match=rf"pip install 'hallumeter\[{extra}\]'"):
            getattr(run.claims(), method)()
    with pytest.raises(hallumeter.MissingExtraError, match="an Arrow table"):
        run.claims().__arrow_c_stream__()
    assert run.claims().to_csv()


def test_tables_load_no_package_before_they_are_asked_to() -> None:
    program = """
import sys, hallumeter
run = hallumeter.audit([{"response": "It rains.", "evidence": "It rains."}], judge="rules")
for table in (run.claims(), run.verdicts(), run.scores(), run.metrics()):
    repr(table), table.to_csv(), table._repr_html_()
print(*({"pandas", "polars", "pyarrow"} & set(sys.modules)), "none")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=False)
    assert done.stdout.split() == ["none"], done.stderr


def test_pandas_reads_the_csv_back(run: hallumeter.Run) -> None:
    frame = pd.read_csv(io.StringIO(run.claims().to_csv(raw=True)))
    assert frame["label"].tolist() == run.claims()["label"]

"""The same rows give the same summary, in whichever form they come."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import sys
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from pyarrow import parquet

import hallumeter
from hallumeter import Label, MeasureSettings, Summary, Verdict
from hallumeter.formats import delimited, jsonl
from verdict_rows import Row, recount, verdict_rows, write_lines

QUICK = MeasureSettings(resamples=100)
LABELS = ("SUPPORTED", "REFUTED", "NOT_ENOUGH_INFO", "UNDECIDED")
COLUMNS = ("record_id", "claim_id", "label", "judge", "task", "confidence", "model", "probabilities")


def write_delimited(path: Path, rows: list[Row], delimiter: str) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, delimiter=delimiter)
        writer.writeheader()
        writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return path


def _cell(value: object) -> object:
    return json.dumps(value) if isinstance(value, list) else value


def write_parquet(path: Path, rows: list[Row]) -> Path:
    parquet.write_table(pa.table({name: [row.get(name) for row in rows] for name in COLUMNS}), path)
    return path


def numbers(summary: Summary) -> bytes:
    """Everything but the notices, which tell of line numbers."""
    return msgspec.json.encode(msgspec.structs.replace(summary, notices=()))


@examples(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(verdict_rows(judges=2, labels=(*LABELS, "maybe", None)))
def test_every_form_of_the_same_rows_gives_the_same_summary(tmp_path: Path, rows: list[Row]) -> None:
    rows = [{"record_id": "sound", "claim_id": "c", "label": "SUPPORTED", "judge": "judge 0", "task": "QA"}, *rows]
    expected = numbers(hallumeter.measure(rows, by=["task"], settings=QUICK))
    plain = write_lines(tmp_path / "a.jsonl", rows)
    packed = tmp_path / "a.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    windows = tmp_path / "b.jsonl"
    windows.write_bytes(b"\xef\xbb\xbf" + plain.read_bytes().replace(b"\n", b"\r\n\r\n"))
    files = [
        plain,
        packed,
        windows,
        write_delimited(tmp_path / "a.csv", rows, ","),
        write_delimited(tmp_path / "a.tsv", rows, "\t"),
        write_parquet(tmp_path / "a.parquet", rows),
    ]
    for path in files:
        assert numbers(hallumeter.measure(path, by=["task"], settings=QUICK)) == expected, path.name


@examples(max_examples=60)
@given(verdict_rows(judges=2, labels=LABELS))
def test_verdict_objects_give_the_same_summary_as_their_rows(rows: list[Row]) -> None:
    chosen = [
        {"record_id": row["record_id"], "claim_id": row["claim_id"], "label": row["label"], "judge": row["judge"]}
        for row in rows
        if "claim_id" in row
    ]
    if not chosen:
        return
    verdicts = [
        Verdict(str(row["record_id"]), str(row["claim_id"]), str(row["judge"]), Label(row["label"])) for row in chosen
    ]
    assert numbers(hallumeter.measure(verdicts, settings=QUICK)) == numbers(hallumeter.measure(chosen, settings=QUICK))
    assert numbers(hallumeter.measure(iter(verdicts), settings=QUICK)) == numbers(
        hallumeter.measure(iter(chosen), settings=QUICK)
    )


def test_distributions_of_verdict_objects_are_measured() -> None:
    verdict = Verdict("r", "c", "j", Label.REFUTED, probabilities=(0.5, 0.5, 0.0), inference_samples=((1.0, 0.0),) * 2)
    row: Row = {"record_id": "r", "claim_id": "c", "judge": "j", "label": "REFUTED", "probabilities": [0.5, 0.5, 0]}
    with_samples = hallumeter.measure([msgspec.structs.replace(verdict, inference_samples=())])
    assert numbers(with_samples) == numbers(hallumeter.measure([row]))
    other = msgspec.structs.replace(verdict, claim_id="d", inference_samples=())
    assert hallumeter.measure([verdict, other]).counts.failures == 1  # the samples are over two outcomes, not three


def test_several_files_are_one_input(tmp_path: Path) -> None:
    rows: list[Row] = [
        {"record_id": f"r{number}", "claim_id": "c", "label": LABELS[number % 4], "judge": judge}
        for judge in "ab"
        for number in range(8)
    ]
    first, second = write_lines(tmp_path / "a.jsonl", rows[:8]), write_lines(tmp_path / "b.jsonl", rows[8:])
    paths: list[str | Path] = [first, str(second)]
    assert numbers(hallumeter.measure(paths)) == numbers(hallumeter.measure(rows))


def test_the_standard_input_is_read_like_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[Row] = [{"record_id": "r", "claim_id": "c", "label": "REFUTED"}]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(rows[0]).encode())))
    assert numbers(hallumeter.measure("-")) == numbers(hallumeter.measure(rows))


@pytest.mark.parametrize("size", [1, 3, 50])
def test_the_size_of_the_pieces_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    rows: list[Row] = [
        {
            "record_id": f"r{number % 7}",
            "claim_id": str(number),
            "label": LABELS[number % 3],
            "task": f"t{number % 7 % 2}",
        }
        for number in range(60)
    ]
    rows[40]["late"] = "a field first seen here"
    rows[41]["confidence"] = 7
    path, table = write_lines(tmp_path / "a.jsonl", rows), write_delimited(tmp_path / "a.csv", [], ",")
    write_delimited(table, [{k: v for k, v in row.items() if k in COLUMNS} for row in rows], ",")
    expected = hallumeter.measure(rows, by=["task"])
    monkeypatch.setattr(jsonl, "CHUNK_BYTES", size)
    monkeypatch.setattr(jsonl, "ROWS_AT_A_TIME", size)
    monkeypatch.setattr(delimited, "ROWS_AT_A_TIME", size)
    monkeypatch.setattr("hallumeter.run.inputs._ROWS_AT_A_TIME", size)
    assert expected.counts.failures == 1
    for source in (path, table):
        assert numbers(hallumeter.measure(source, by=["task"])) == numbers(expected)
    assert numbers(hallumeter.measure(rows, by=["task"])) == numbers(expected)
    assert tuple(recount(rows).mihr) == (expected.metrics[0].count, expected.metrics[0].total)


@given(st.integers(0, 2**32))
@examples(max_examples=20)
def test_where_a_claim_of_a_panel_stands_does_not_matter(seed: int) -> None:
    chance = random.Random(seed)
    rows: list[Row] = [
        {"record_id": f"r{number // 3}", "claim_id": f"c{number}", "judge": judge, "label": chance.choice(LABELS[:3])}
        for judge in "abc"
        for number in range(9)
    ]
    mixed = sorted(rows, key=lambda row: (str(row["claim_id"]), str(row["judge"])))
    first, second = (hallumeter.measure(some, settings=QUICK).metrics[0] for some in (rows, mixed))
    assert (first.count, first.total, first.judge) == (second.count, second.total, "consensus")

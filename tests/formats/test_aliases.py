"""Other tools' names: each row is read under the name it has, whatever the names of the other rows."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from hallumeter.formats import jsonl
from hallumeter.formats.batch import Batch, Coded, Numbers
from hallumeter.formats.fields import named_batch, rivals, type_of
from hallumeter.formats.files import read_rows
from hallumeter.formats.jsonl import read_jsonl_stream
from hallumeter.formats.records import rows_of

Row = dict[str, object]


def rows(batches: Iterator[Batch]) -> list[Row]:
    """What each row says, without the fields it does not have."""
    return [
        {name: value for name, value in row.items() if value is not None}
        for batch in batches
        for _, row in rows_of(batch)
    ]


def read_lines(*given: Row, fields: tuple[str, ...] = ()) -> list[Batch]:
    return list(read_jsonl_stream(io.BytesIO("".join(json.dumps(row) + "\n" for row in given).encode()), "x", fields))


def test_two_aliases_of_one_field_are_both_read() -> None:
    [batch] = read_lines({"answer": "A"}, {"output": "B"}, {"answer": "C", "output": "D"})
    assert rows(iter([batch])) == [{"response": "A"}, {"response": "B"}, {"response": "C", "output": "D"}]
    assert batch.aliases == {"answer": "response", "output": "response"}


@pytest.mark.parametrize("chunk", [1, 1 << 16])
def test_the_own_name_may_turn_up_later_or_earlier(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(jsonl, "CHUNK_BYTES", chunk)
    batches = read_lines({"id": "a"}, {"record_id": "b"}, {"id": "c"}, {"record_id": "d", "id": 5})
    assert rows(iter(batches)) == [
        {"record_id": "a"},
        {"record_id": "b"},
        {"record_id": "c"},
        {"record_id": "d", "id": 5},
    ]
    assert {key for batch in batches for key in batch.aliases} == {"id"}


def test_an_alias_beside_its_field_may_hold_anything() -> None:
    row: Row = {"record_id": "r", "id": {"a": 1}, "text": "t", "claim": 5}
    [batch] = read_lines(row)
    assert (rows(iter([batch])), batch.aliases, batch.faults) == ([row], {}, ())


def test_where_the_field_is_missing_its_alias_must_fit() -> None:
    [batch] = read_lines({"text": "a"}, {"claim": 5}, {"claim": "b"}, {"text": None, "claim": "c"})
    assert rows(iter([batch])) == [{"text": "a"}, {"text": "b"}, {"text": "c"}]
    assert list(batch.lines) == [1, 3, 4]
    assert [(fault.line, fault.message) for fault in batch.faults] == [
        (2, "claim: expected text, found a whole number")
    ]


def test_a_name_of_the_file_that_is_asked_for_is_there_under_both_names() -> None:
    given: Row = {"record_id": "r", "source": "wiki"}
    assert rows(iter(read_lines(given, fields=("source",)))) == [{**given, "evidence": "wiki"}]
    assert rows(iter(read_lines(given))) == [{"record_id": "r", "evidence": "wiki"}]
    both: Row = {"record_id": "r", "source": "wiki", "context": "c"}
    asked = rows(iter(read_lines(both, {"source": "web"}, fields=("source",))))
    assert asked == [{"record_id": "r", "evidence": "c", "source": "wiki"}, {"evidence": "web", "source": "web"}]


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_every_format_reads_the_names_alike(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"rows.{ending}"
    table: dict[str, list[str | None]] = {
        "id": ["a", None, "c"],
        "record_id": [None, "b", "d"],
        "source": ["x", "y", "z"],
    }
    if ending == "jsonl":
        path.write_text("".join(json.dumps({name: table[name][row] for name in table}) + "\n" for row in range(3)))
    elif ending == "csv":
        path.write_text("id,record_id,source\na,,x\n,b,y\nc,d,z\n")
    else:
        parquet.write_table(pa.table(table), path)
    assert rows(read_rows(path, ["source"])) == [
        {"record_id": "a", "evidence": "x", "source": "x"},
        {"record_id": "b", "evidence": "y", "source": "y"},
        {"record_id": "d", "id": "c", "evidence": "z", "source": "z"},
    ]


def test_a_cell_of_a_table_is_read_as_the_type_of_the_field_it_stands_for(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("record_id,id\n,007\nr,8\n")
    assert rows(read_rows(path)) == [{"record_id": "007"}, {"record_id": "r", "id": "8"}]


def test_rows_left_out_are_left_out_of_columns_of_every_form() -> None:
    batch = named_batch(
        {
            "text": [None, "a", None],
            "claim": [5, None, "b"],
            "label": Coded(["x", "y"], np.array([0, 1, 0])),
            "confidence": Numbers(np.array([0.1, 0.2, 0.3]), np.array([False, False, True])),
        },
        range(4, 7),
    )
    assert list(rows_of(batch)) == [
        (5, {"text": "a", "label": "y", "confidence": 0.2}),
        (6, {"text": "b", "label": "x", "confidence": None}),
    ]
    assert [fault.line for fault in batch.faults] == [4]


def test_names_of_one_field_are_rivals_and_then_not_bound_to_its_type() -> None:
    keys = {"answer": None, "output": None, "id": None, "label": None}
    assert (rivals("answer", keys), rivals("id", keys)) == (["output"], [])
    assert type_of("answer", keys) is object
    assert type_of("id", keys) == str | int | None

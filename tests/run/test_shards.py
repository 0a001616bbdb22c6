"""Rows keep their place, their fields and their faults on the way into parts, whatever the format they come in."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from hallumeter.formats.files import read_rows
from hallumeter.formats.shapes import ANY_SHAPE
from hallumeter.run import shards
from hallumeter.run.shards import Found, Part, Shard, row_number, shard_number, split_rows

ROWS = [
    {"id": f"r{number % 30}", "response": f"답 {number}", "evidence": "é", "score": number / 4} for number in range(90)
]


def split(path: Path, count: int, into: Path) -> tuple[Found, list[Part]]:
    """The parts of one file."""

    def keep(number: int, part: Path) -> None:
        (into / str(number)).write_bytes(part.read_bytes())

    sources = [("first", read_rows(path, None, shape=ANY_SHAPE)), ("second", read_rows(path, None, shape=ANY_SHAPE))]
    found = split_rows(sources, count, key=lambda fields, place: str(fields.get("record_id", place)), keep=keep)
    return found, [Part(into / str(number), Shard(number, count), found) for number in range(count)]


def written(folder: Path, ending: str) -> Path:
    path = folder / f"answers.{ending}"
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS)
    if ending == "jsonl":
        path.write_text(lines, encoding="utf-8")
    elif ending == "jsonl.gz":
        path.write_bytes(gzip.compress(lines.encode()))
    elif ending == "json":
        path.write_text(json.dumps(ROWS), encoding="utf-8")
    elif ending == "parquet":
        parquet.write_table(pa.Table.from_pylist(ROWS), path)
    else:
        with path.open("w", encoding="utf-8", newline="") as stream:
            table = csv.DictWriter(stream, list(ROWS[0]))
            table.writeheader()
            table.writerows(ROWS)
    return path


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "json", "csv", "parquet"])
def test_every_row_is_in_the_part_of_its_record_and_in_its_order(ending: str, tmp_path: Path) -> None:
    into = tmp_path / "parts"
    into.mkdir()
    found, parts = split(written(tmp_path, ending), 4, into)
    assert (found.rows, found.sources, sum(found.parts)) == (180, ("first", "second"), 180)
    seen: Counter[str] = Counter()
    for part in parts:
        rows = list(part.rows())
        assert [row.row for row in rows] == sorted(row.row for row in rows)
        for row in rows:
            assert row.fields is not None
            assert shard_number(str(row.fields["record_id"]), 4) == part.shard.number
            seen[f"{row.source} {row.fields['response']}"] += 1
        names = [(name, sum(len(batch.lines) for batch in batches)) for name, batches in part.sources()]
        assert [name for name, _ in names] == ["first", "second"]
        assert sum(size for _, size in names) == len(rows)
    assert seen == Counter(f"{source} {row['response']}" for source in (0, 1) for row in ROWS)


def test_a_part_without_rows_still_knows_the_fields_of_the_whole_input(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text('{"id": "a", "response": "x", "topic": "t"}\n{broken\n', encoding="utf-8")
    into = tmp_path / "parts"
    into.mkdir()
    found, parts = split(tmp_path / "one.jsonl", 16, into)
    empty = next(part for part in parts if not list(part.rows()))
    fields = {name for _, batches in empty.sources() for batch in batches for name in batch.columns}
    assert fields == {"record_id", "response", "topic"} == set(found.fields)
    faults = [row for part in parts for row in part.rows() if row.fields is None]
    assert [(row.line, row.code) for row in sorted(faults, key=lambda row: row.row)] == [
        (2, "bad_json"),
        (2, "bad_json"),
    ]


def test_rows_wait_in_bounded_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "_BUFFERED_BYTES", 200)
    into = tmp_path / "parts"
    into.mkdir()
    found, parts = split(written(tmp_path, "jsonl"), 3, into)
    assert sum(len(list(part.rows())) for part in parts) == found.rows == 180


def test_shard_and_row_numbers_never_change() -> None:
    """They are in the plans and tables of runs that were begun by other versions."""
    assert [shard_number(name, 1000) for name in ("r1", "질문", "é", "")] == [595, 224, 963, 756]
    assert row_number(3, 5_000_000_000) == 3 << 40 | 5_000_000_000 < 1 << 63

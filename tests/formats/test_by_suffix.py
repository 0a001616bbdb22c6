"""The name of a file says how it is read; what cannot be read at all is refused before any work."""

from __future__ import annotations

import gzip
import io
import json
import sys
from contextlib import nullcontext
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from hallumeter.errors import InputError
from hallumeter.formats.files import check_readable, ending_of, read_rows
from hallumeter.formats.records import rows_of
from hallumeter.run.inputs import rereadable_files

ROW = {"record_id": "r1", "claim_id": "c1", "label": "REFUTED"}
AS_JSON = (json.dumps(ROW) + "\n").encode()
AS_CSV = b"record_id,claim_id,label\nr1,c1,REFUTED\n"


def _as_parquet() -> bytes:
    stream = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist([ROW]), stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", AS_JSON),
        ("a.ndjson", AS_JSON),
        ("a.jl", AS_JSON),
        ("A.JSONL", AS_JSON),
        ("a.b.jsonl", AS_JSON),
        ("a.jsonl.gz", gzip.compress(AS_JSON, mtime=0)),
        ("A.JSONL.GZ", gzip.compress(AS_JSON, mtime=0)),
        ("a.csv", AS_CSV),
        ("A.CSV", AS_CSV),
        ("a.csv.gz", gzip.compress(AS_CSV, mtime=0)),
        ("a.tsv", AS_CSV.replace(b",", b"\t")),
        ("A.TSV", AS_CSV.replace(b",", b"\t")),
        ("A.TAB.GZ", gzip.compress(AS_CSV.replace(b",", b"\t"), mtime=0)),
        ("a.tab.gz", gzip.compress(AS_CSV.replace(b",", b"\t"), mtime=0)),
    ],
)
def test_the_ending_chooses_the_format(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    assert [pair for batch in read_rows(tmp_path / name) for pair in rows_of(batch)] == [
        (1 if "j" in name.lower() else 2, ROW)
    ]


@pytest.mark.parametrize("name", ["a.parquet", "a.pq", "A.PARQUET"])
def test_parquet_is_read_by_its_ending_with_the_fields_asked_for(tmp_path: Path, name: str) -> None:
    parquet.write_table(pa.table({"record_id": ["r1"], "task": ["QA"]}), tmp_path / name)
    assert [row for batch in read_rows(tmp_path / name, ["task"]) for _, row in rows_of(batch)] == [
        {"record_id": "r1", "task": "QA"}
    ]


@pytest.mark.parametrize("name", ["a.txt", "plain", ".gz", ".zst", "a.xlsx"])
def test_an_unknown_ending_is_refused_with_those_that_are_known(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(AS_JSON)
    with pytest.raises(InputError, match=r"unknown ending .*; expected one of \.jsonl, .*\.csv, .*\.parquet"):
        read_rows(tmp_path / name)


def test_a_dash_is_the_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(AS_JSON)))
    assert [row for batch in read_rows(Path("-")) for _, row in rows_of(batch)] == [ROW]


PIPED = {
    "JSON lines": AS_JSON,
    "one row over several lines": json.dumps(ROW, indent=2).encode(),
    "a list": b"[" + AS_JSON + b"]",
    "a list under a key, after a byte order mark": b'\xef\xbb\xbf{\r\n"rows": [' + AS_JSON.rstrip() + b"]}",
    "commas": AS_CSV,
    "tabs": AS_CSV.replace(b",", b"\t"),
    "Parquet": _as_parquet(),
}


@pytest.mark.parametrize("content", PIPED.values(), ids=PIPED)
@pytest.mark.parametrize("is_kept", [False, True], ids=["read once", "kept"])
def test_standard_input_may_be_any_format(content: bytes, is_kept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    with rereadable_files([Path("-")]) if is_kept else nullcontext([("<stdin>", Path("-"))]) as [(name, path)]:
        assert name == "<stdin>"
        assert [row for batch in read_rows(path) for _, row in rows_of(batch)] == [ROW]


def test_json_lines_that_begin_with_a_broken_one_are_no_table() -> None:
    assert ending_of(b'begin, end\n{"record_id": "r1"}\n') == ".jsonl"
    assert ending_of(b"nothing of the kind") == ".jsonl"
    assert ending_of(b"") == ".jsonl"


def test_long_standard_input_comes_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [f'{{"record_id": "r{number}", "label": "SUPPORTED"}}\n' for number in range(20_000)]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("".join(rows).encode())))
    found = [row["record_id"] for batch in read_rows(Path("-")) for _, row in rows_of(batch)]
    assert found == [f"r{number}" for number in range(20_000)]


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing\.jsonl: no such file$"):
        check_readable(tmp_path / "nothing.jsonl")
    folder = tmp_path / "folder.jsonl"
    folder.mkdir()
    with pytest.raises(InputError, match=r"is a folder; give the file inside it"):
        check_readable(folder)
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    with pytest.raises(InputError, match=r"the file is empty; expected one record per line"):
        check_readable(empty)


def test_a_name_that_the_system_refuses_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be opened \(File name too long\)$"):
        check_readable(tmp_path / ("a" * 300 + ".jsonl"))

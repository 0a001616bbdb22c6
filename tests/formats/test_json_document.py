"""JSON files: the rows are found wherever the document has them, and where they were is said."""

from __future__ import annotations

import gzip
import json
from importlib import import_module
from pathlib import Path

import pytest

from hallumeter.errors import InputError, MissingExtraError
from hallumeter.formats import jsonl
from hallumeter.formats.batch import Batch
from hallumeter.formats.files import read_rows, rows_in
from hallumeter.formats.records import rows_of

ROWS = [{"id": "a", "response": "Yes.", "evidence": ["x"]}, {"id": "b", "response": "No.", "evidence": ["y"]}]
READ = [
    {"record_id": "a", "response": "Yes.", "evidence": ["x"]},
    {"record_id": "b", "response": "No.", "evidence": ["y"]},
]


def batches(path: Path, document: object) -> list[Batch]:
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return list(read_rows(path, None))


def rows(found: list[Batch]) -> list[object]:
    return [row for batch in found for _, row in rows_of(batch)]


@pytest.mark.parametrize(
    ("document", "key"),
    [
        (ROWS, None),
        ({"version": 3, "answers": ROWS}, "answers"),
        ({"config": {"a": [1, 2]}, "mine": ROWS}, "mine"),
        ({"prompts": [{"raw": "p"}], "results": ROWS}, "results"),
        ({"evalId": "x", "results": {"prompts": [{"raw": "p"}], "results": ROWS, "stats": {}}}, "results.results"),
        ({"testCases": ROWS, "metricsScores": [{"metric": "m"}]}, "testCases"),
        ({"schema": {"fields": [{"name": "id"}]}, "data": ROWS}, "data"),
        ({"columns": ["id", "response", "evidence"], "index": [0, 1], "data": [list(r.values()) for r in ROWS]}, None),
        ({name: [row[name] for row in ROWS] for name in ROWS[0]}, None),
        ({name: {str(n): row[name] for n, row in enumerate(ROWS)} for name in ROWS[0]}, None),
    ],
    ids=["list", "one list", "other name", "several", "promptfoo", "deepeval", "table", "split", "columns", "pandas"],
)
def test_the_rows_of_a_document_are_found(document: object, key: str | None, tmp_path: Path) -> None:
    found = batches(tmp_path / "rows.json", document)
    assert rows(found) == READ
    said = {} if key is None else {f"rows were taken from the list under {key!r}": 2}
    assert found[0].notices == said


def test_a_single_object_is_a_row() -> None:
    row = {"response": "Yes.", "evidence": [{"text": "x"}], "sources": [{"text": "y"}]}
    assert rows_in(row, "x.json").rows == [row]
    chat = {"messages": [{"role": "user", "content": "q"}]}
    assert rows_in(chat, "x.json").rows == [chat]
    assert rows_in({"a": 1}, "x.json").rows == [{"a": 1}]


def test_numbers_that_python_writes_beyond_json_are_missing(tmp_path: Path) -> None:
    document = json.dumps([{"id": "a", "response": "Yes.", "score": float("nan"), "other": float("inf")}])
    [row] = rows(batches(tmp_path / "rows.json", document))
    assert row == {"record_id": "a", "response": "Yes.", "score": None, "other": None}


def test_lines_under_this_ending_are_lines(tmp_path: Path) -> None:
    assert rows(batches(tmp_path / "rows.json", "".join(json.dumps(row) + "\n" for row in ROWS))) == READ


def test_items_that_are_no_rows_are_faults_by_their_place(tmp_path: Path) -> None:
    found = batches(tmp_path / "rows.json", [ROWS[0], 5, "x", None, {"response": 5}, [1]])
    assert rows(found) == READ[:1]
    assert [(fault.line, fault.message) for batch in found for fault in batch.faults] == [
        (2, "row: expected an object, found a number"),
        (3, "row: expected an object, found text"),
        (4, "row: expected an object, found null"),
        (5, "response: expected text, found a whole number"),
        (6, "row: expected an object, found a list"),
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("5", "expected a list of objects, found a number"),
        ("[1,", "not valid JSON"),
        ("{", "not valid JSON"),
        ('[{"a": 1, "a": 2}]', "key 'a' stands twice"),
        ('{"cats": [{"a": 1}], "dogs": [{"a": 1}]}', r"several lists of objects \(cats, dogs\); keep one of them"),
        ("[" * 5000 + "]" * 5000, "nested too deeply|not valid JSON"),
    ],
)
def test_a_document_without_rows_is_refused_in_one_line(content: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"^rows\.json: .*{said}") as caught:
        batches(tmp_path / "rows.json", content)
    assert "\n" not in str(caught.value)


def test_what_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_bytes(b'[{"a": "\xff"}]')
    with pytest.raises(InputError, match="not UTF-8"):
        list(read_rows(tmp_path / "rows.json"))
    (tmp_path / "rows.json.gz").write_bytes(gzip.compress(json.dumps(ROWS).encode())[:-9])
    with pytest.raises(InputError, match="is it a whole gzip file"):
        list(read_rows(tmp_path / "rows.json.gz"))


def zstd_compressed(content: bytes) -> bytes:
    packed: bytes = import_module("backports.zstd").compress(content)
    return packed


@pytest.mark.parametrize("name", ["rows.json.zst", "rows.jsonl.zst", "rows.csv.zst", "ROWS.JSONL.ZST"])
def test_files_compressed_by_zstd_are_read(name: str, tmp_path: Path) -> None:
    texts = {
        "json": json.dumps(ROWS),
        "jsonl": "".join(json.dumps(row) + "\n" for row in ROWS),
        "csv": 'id,response,evidence\na,Yes.,"[\'x\']"\nb,No.,"[""y""]"\n',
    }
    (tmp_path / name).write_bytes(zstd_compressed(texts[name.lower().split(".")[1]].encode()))
    assert rows(list(read_rows(tmp_path / name, None))) == READ


def test_a_damaged_zstd_file_says_so(tmp_path: Path) -> None:
    whole = zstd_compressed("".join(json.dumps(row) + "\n" for row in ROWS).encode())
    for content in (whole[:-5], b"no zstd at all"):
        (tmp_path / "rows.jsonl.zst").write_bytes(content)
        with pytest.raises(InputError, match=r"rows\.jsonl\.zst: cannot be read to its end .*whole zstd file"):
            list(read_rows(tmp_path / "rows.jsonl.zst"))


def test_zstd_needs_an_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def absent(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr(jsonl, "import_module", absent)
    (tmp_path / "rows.jsonl.zst").write_bytes(b"x")
    with pytest.raises(MissingExtraError, match=r"rows\.jsonl\.zst: reading \.zst needs .*hallumeter\[zstd\]"):
        list(read_rows(tmp_path / "rows.jsonl.zst"))


def test_a_row_with_half_a_character_in_a_name_is_left_out_and_the_others_are_read(tmp_path: Path) -> None:
    [batch] = batches(tmp_path / "a.json", [ROWS[0], {"a\ud800": 1}, ROWS[1]])
    assert rows([batch]) == READ
    [fault] = batch.faults
    assert (fault.line, fault.code) == (2, "bad_json")
    assert "half of a surrogate pair" in fault.message

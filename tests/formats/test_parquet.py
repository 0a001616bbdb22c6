"""Parquet: read by columns, checked by their types before a row is touched."""

from __future__ import annotations

import builtins
import datetime as dt
import math
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from hallumeter.errors import InputError, MissingExtraError
from hallumeter.formats.batch import Coded, Numbers
from hallumeter.formats.parquet import read_parquet
from hallumeter.formats.records import read, rows_of

IDS = {"record_id": ["r1", "r2"], "claim_id": ["c1", None], "label": ["REFUTED", None]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "verdicts.parquet"


def write(path: Path, columns: Mapping[str, object], **options: object) -> None:
    parquet.write_table(pa.table(dict(columns)), path, **options)


def rows(path: Path, *fields: str) -> list[dict[str, object]]:
    return [row for batch in read_parquet(path, fields) for _, row in rows_of(batch)]


def test_known_columns_are_read_and_missing_values_stay_missing(path: Path) -> None:
    write(path, {**IDS, "confidence": [0.25, None], "unknown": [1, 2]})
    assert rows(path) == [
        {"record_id": "r1", "claim_id": "c1", "label": "REFUTED", "confidence": 0.25},
        {"record_id": "r2", "claim_id": None, "label": None, "confidence": None},
    ]


def test_further_columns_are_read_when_they_are_asked_for(path: Path) -> None:
    write(path, {**IDS, "task": ["QA", "D2T"], "other": [1, 2]})
    assert [row["task"] for row in rows(path, "task")] == ["QA", "D2T"]
    [batch] = read_parquet(path, None)
    assert set(batch.columns) == {*IDS, "task", "other"}


def test_rows_are_numbered_from_one_across_batches(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hallumeter.formats.parquet.ROWS_AT_A_TIME", 3)
    write(path, {"record_id": [f"r{number}" for number in range(10)]}, row_group_size=4)
    batches = list(read_parquet(path))
    assert [line for batch in batches for line in batch.lines] == list(range(1, 11))
    assert [row["record_id"] for batch in batches for _, row in rows_of(batch)] == [
        f"r{number}" for number in range(10)
    ]


def test_nan_is_a_number_that_was_given_and_null_is_not(path: Path) -> None:
    write(path, {**IDS, "confidence": [math.nan, None]})
    first, second = (row["confidence"] for row in rows(path))
    assert isinstance(first, float)
    assert math.isnan(first)
    assert second is None


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_texts_may_be_stored_in_every_way_that_parquet_knows(path: Path, kind: pa.DataType) -> None:
    write(path, {name: pa.array(values).cast(kind) for name, values in IDS.items()})
    assert rows(path) == [
        {"record_id": "r1", "claim_id": "c1", "label": "REFUTED"},
        {"record_id": "r2", "claim_id": None, "label": None},
    ]


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64(), pa.int8(), pa.int64(), pa.uint32()])
def test_numbers_may_be_of_every_width(path: Path, kind: pa.DataType) -> None:
    write(path, {**IDS, "confidence": pa.array([1, None]).cast(pa.float32()).cast(kind)})
    assert [row["confidence"] for row in rows(path)] == [1, None]


def test_ids_may_be_whole_numbers(path: Path) -> None:
    write(path, {"record_id": [7, 8], "claim_id": [1, 2]})
    assert rows(path) == [{"record_id": 7, "claim_id": 1}, {"record_id": 8, "claim_id": 2}]


def test_lists_and_structs_become_lists_and_objects(path: Path) -> None:
    write(path, {"record_id": ["r"], "probabilities": [[0.5, 0.5]], "evidence": [[{"text": "t"}]]})
    assert rows(path) == [{"record_id": "r", "probabilities": [0.5, 0.5], "evidence": [{"text": "t"}]}]


@pytest.mark.parametrize(
    ("column", "values", "said"),
    [
        ("label", [1, 2], "column 'label': expected text, found int64"),
        ("judge", [True, False], "column 'judge': expected text, found bool"),
        ("answer", [1, 2], "column 'answer': expected text, found int64"),
        ("confidence", ["a", "b"], "column 'confidence': expected a number, found string"),
        ("unsupported_probability", ["0.5", "1"], "column 'unsupported_probability': expected a number, found string"),
        ("start", [dt.date(2020, 1, 1)] * 2, "column 'start': expected a number, found date32"),
    ],
)
def test_a_column_of_the_wrong_type_is_refused_with_its_name(
    path: Path, column: str, values: list[object], said: str
) -> None:
    write(path, {"record_id": ["r1", "r2"], column: values})
    with pytest.raises(InputError, match=r"^verdicts.parquet: ") as caught:
        rows(path)
    assert said in str(caught.value)


def test_a_column_without_any_value_has_every_type(path: Path) -> None:
    write(path, {"record_id": ["r1"], "label": pa.nulls(1), "confidence": pa.nulls(1)})
    assert rows(path) == [{"record_id": "r1", "label": None, "confidence": None}]


def test_aliases_are_translated_unless_the_own_name_is_there(path: Path) -> None:
    write(path, {"id": ["r1"], "answer": ["yes"], "response": ["no"]})
    [batch] = read_parquet(path)
    assert batch.aliases == {"id": "record_id"}
    assert [row for _, row in rows_of(batch)] == [{"record_id": "r1", "answer": "yes", "response": "no"}]


@pytest.mark.parametrize("content", [b"", b'{"record_id": "r1"}\n', b"PAR1PAR1", b"PAR1" + b"\xff" * 100 + b"PAR1"])
def test_what_is_no_parquet_file_is_refused_in_one_line(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"^verdicts.parquet: not a readable Parquet file \(.+\)$") as caught:
        rows(path)
    assert "\n" not in str(caught.value)


def test_half_a_file_is_refused(path: Path) -> None:
    write(path, {"record_id": [f"r{number}" for number in range(1000)]})
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match="not a readable Parquet file"):
        rows(path)


def test_a_table_without_rows_has_none(path: Path) -> None:
    write(path, {"record_id": pa.array([], pa.string())})
    assert rows(path) == []


def test_a_missing_extra_names_the_line_to_type(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(path, IDS)
    real = builtins.__import__

    def without_pyarrow(name: str, *arguments: object) -> object:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without_pyarrow)
    with pytest.raises(MissingExtraError, match=r"pip install 'hallumeter\[parquet\]'") as caught:
        next(read_parquet(path))
    assert caught.value.extra == "parquet"


def test_columns_keep_their_compact_form(path: Path) -> None:
    write(path, {**IDS, "confidence": [0.5, None]})
    [batch] = read_parquet(path)
    label, confidence = batch.columns["label"], batch.columns["confidence"]
    assert isinstance(label, Coded)
    assert isinstance(confidence, Numbers)
    assert (len(label), label.expanded()) == (2, ["REFUTED", None])
    assert (len(confidence), confidence.expanded()) == (2, [0.5, None])


@pytest.mark.parametrize(
    ("column", "values", "said"),
    [
        ("probabilities", [["a", "b"]], "probabilities: expected a number, found text"),
        ("probabilities", [[0.5, None, 0.5]], "probabilities: expected a number, found null"),
        ("probabilities", ["half"], "probabilities: expected"),
        ("inference_samples", [[0.5]], "inference_samples: expected"),
        ("samples", [[1]], "samples: expected text, found a whole number"),
        ("token_logprobs", [["a"]], "token_logprobs: expected a number, found text"),
        ("token_logprobs", [[math.nan]], "token_logprobs: expected finite numbers, found NaN or infinity"),
    ],
)
def test_a_list_of_something_else_is_a_fault_of_its_row(
    path: Path, column: str, values: list[object], said: str
) -> None:
    write(
        path, {"record_id": ["r1", "r2"], "label": ["REFUTED"] * 2, "confidence": [1.0, 0.5], column: [None, *values]}
    )
    [batch] = read_parquet(path)
    assert [(line, row["record_id"], row["confidence"]) for line, row in rows_of(batch)] == [(1, "r1", 1.0)]
    assert [fault.line for fault in batch.faults] == [2]
    assert batch.faults[0].message.startswith(said)


def test_a_distribution_by_name_has_only_the_names_that_have_a_number(path: Path) -> None:
    by_name = [{"SUPPORTED": 1.0, "REFUTED": None}, {"SUPPORTED": 0.5, "REFUTED": 0.5}]
    write(path, {"record_id": ["r1", "r2"], "probabilities": by_name, "inference_samples": [by_name, None]})
    first, second = rows(path)
    assert (first["probabilities"], second["probabilities"]) == ({"SUPPORTED": 1.0}, by_name[1])
    assert first["inference_samples"] == [{"SUPPORTED": 1.0}, by_name[1]]


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (pa.array([1], pa.timestamp("ns")), "1970-01-01 00:00:00.000000001"),
        (pa.array([1], pa.timestamp("ns")).dictionary_encode(), "1970-01-01 00:00:00.000000001"),
        (pa.array([dt.date(2020, 1, 1)]), "2020-01-01"),
        (pa.array([90], pa.duration("s")), "90"),
        (pa.array([b"ab"]), "YWI="),
        (pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())), '{"a":1}'),
        (pa.array([[(1.5, 1)]], pa.map_(pa.float64(), pa.int64())), "[[1.5,1]]"),
        (pa.array(["a"], pa.large_string()), "a"),
    ],
)
def test_a_column_of_any_type_can_be_kept(path: Path, values: pa.Array, text: str) -> None:
    write(path, {"record_id": ["r"], "when": values})
    [response] = read(path)
    assert str(response.fields["when"]) == text


def test_evidence_may_be_a_moment(path: Path) -> None:
    write(path, {"record_id": ["r"], "evidence": pa.array([1], pa.timestamp("ns"))})
    [response] = read(path)
    assert [passage.text for passage in response.evidence] == ["1970-01-01 00:00:00.000000001"]


@pytest.mark.parametrize(
    ("column", "values", "said"),
    [
        ("answerable", ["false", "true"], "column 'answerable': expected true or false, found string"),
        ("is_nonexistent", [0, 1], "column 'is_nonexistent': expected true or false, found int64"),
        ("record_id", [0.5, 1.5], "column 'record_id': expected text or whole numbers, found double"),
        ("question_id", [True, False], "column 'question_id': expected text or whole numbers, found bool"),
    ],
)
def test_no_value_is_taken_for_something_it_is_not(path: Path, column: str, values: list[object], said: str) -> None:
    write(path, {**IDS, column: values})
    with pytest.raises(InputError, match=said):
        rows(path)


@pytest.mark.parametrize("name", ["label", "x"])
def test_a_column_that_stands_twice_is_refused(path: Path, name: str) -> None:
    table = pa.table([["r"], ["REFUTED"], ["a"], ["b"]], names=["record_id", "label", name, "x"])
    parquet.write_table(table, path)
    with pytest.raises(InputError, match=f"^verdicts.parquet: column '{name}' stands twice; name each column once$"):
        rows(path)


def test_damaged_pages_are_refused(path: Path) -> None:
    columns = {name: [name] * 50 for name in ("record_id", "claim_id", "label")}
    write(path, columns, compression="none", use_dictionary=False)
    content = bytearray(path.read_bytes())
    content[20:200] = b"\xff" * 180
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"^verdicts.parquet: not a readable Parquet file"):
        rows(path)


def test_an_alias_beside_its_field_may_hold_anything(path: Path) -> None:
    write(path, {"record_id": ["r1", "r2"], "id": [0.5, 1.5], "text": ["t", "u"], "claim": [1, 2]})
    assert rows(path)[0] == {"record_id": "r1", "id": 0.5, "text": "t", "claim": 1}


def test_codes_that_the_dictionary_of_a_damaged_file_lacks_are_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(path, IDS)
    damaged = pa.DictionaryArray.from_arrays(pa.array([0, 7], pa.int32()), pa.array(["r1"]), safe=False)
    batch = pa.record_batch({"record_id": damaged, "claim_id": ["c1", "c2"], "label": ["REFUTED", "REFUTED"]})
    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", lambda *_, **__: iter([batch]))
    with pytest.raises(InputError, match="not a readable Parquet file"):
        rows(path)

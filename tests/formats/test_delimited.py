"""Tables as text: cells become values of their field's type, and a row that does not fit is named by its line."""

from __future__ import annotations

import csv
import gzip
import io
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from hallumeter.errors import InputError
from hallumeter.formats import delimited
from hallumeter.formats.batch import Fault
from hallumeter.formats.delimited import (
    csv_text,
    formula_safe,
    formulas_restored,
    read_delimited,
    read_delimited_stream,
)
from hallumeter.formats.fields import ALIASES, KNOWN_FIELDS
from hallumeter.formats.records import rows_of

HEAD = "record_id,claim_id,label\n"


def table_of(content: str | bytes, delimiter: str = ",") -> tuple[list[tuple[int, dict[str, object]]], list[Fault]]:
    """Rows with their lines, without the fields they do not have, and the faults."""
    data = content.encode() if isinstance(content, str) else content
    batches = list(read_delimited_stream(io.BytesIO(data), "rows.csv", delimiter))
    rows = [(line, _plain(row)) for batch in batches for line, row in rows_of(batch)]
    return rows, [fault for batch in batches for fault in batch.faults]


def _plain(row: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in row.items() if value is not None}


def test_the_first_row_names_the_columns() -> None:
    rows, faults = table_of(HEAD + "r1,c1,REFUTED\n")
    assert rows == [(2, {"record_id": "r1", "claim_id": "c1", "label": "REFUTED"})]
    assert faults == []


def test_an_empty_cell_is_a_value_that_is_not_known() -> None:
    rows, _ = table_of("record_id,label,confidence\nr1,,\n")
    assert rows == [(2, {"record_id": "r1"})]


def test_cells_are_read_as_the_type_of_their_field() -> None:
    head = "record_id,start,confidence,answerable,probabilities,samples,evidence,unknown"
    row = '007,12,0.5,True,"[0.5, 0.5]","[""a"", ""b""]","{""text"": ""x""}",5'
    rows, faults = table_of(f"{head}\n{row}\n")
    assert faults == []
    assert rows[0][1] == {
        "record_id": "007",
        "start": 12,
        "confidence": 0.5,
        "answerable": True,
        "probabilities": [0.5, 0.5],
        "samples": ["a", "b"],
        "evidence": {"text": "x"},
        "unknown": "5",
    }


def test_a_cell_that_only_looks_like_json_is_text() -> None:
    rows, faults = table_of("record_id,text,note\nr1,[1] Paris is big,{oops\n")
    assert faults == []
    assert rows[0][1] == {"record_id": "r1", "text": "[1] Paris is big", "note": "{oops"}


@pytest.mark.parametrize(
    ("column", "cell", "said"),
    [
        ("confidence", "high", "confidence: expected a number, found text"),
        ("start", "1.5", "start: expected a whole number"),
        ("answerable", "maybe", "answerable: expected true or false, found text"),
        ("probabilities", "half", "probabilities: expected"),
        ("probabilities", '"[0.5, ""x""]"', "expected a number, found text"),
        ("token_logprobs", "0.5", "token_logprobs: expected a list"),
    ],
)
def test_a_cell_of_the_wrong_type_is_named(column: str, cell: str, said: str) -> None:
    rows, faults = table_of(f"record_id,{column}\nr1,\nr2,{cell}\nr3,\n")
    assert [line for line, _ in rows] == [2, 4]
    assert [(fault.line, fault.code) for fault in faults] == [(3, "wrong_type")]
    assert said in faults[0].message


def test_a_row_of_another_length_is_named() -> None:
    rows, faults = table_of(HEAD + "r1,c1\nr2,c2,REFUTED\nr3,c3,REFUTED,more\n")
    assert [line for line, _ in rows] == [3]
    assert [(fault.line, fault.code) for fault in faults] == [(2, "ragged_row"), (4, "ragged_row")]
    assert faults[0].message == "expected 3 cells as in the first row, found 2"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\n"])
def test_line_ends_of_every_system_are_counted(end: str) -> None:
    rows, _ = table_of(HEAD.replace("\n", end) + end.join(["r1,c1,REFUTED", "r2,c1,REFUTED", ""]))
    step = len(end) if "\n" in end and "\r" not in end else 1
    assert [line for line, _ in rows] == [1 + step, 1 + 2 * step]


def test_a_byte_order_mark_is_no_part_of_the_first_name() -> None:
    rows, _ = table_of(b"\xef\xbb\xbf" + (HEAD + "r1,c1,REFUTED\n").encode())
    assert rows[0][1]["record_id"] == "r1"


def test_a_column_that_stands_twice_is_refused() -> None:
    with pytest.raises(InputError, match=r"^rows.csv: column 'label' stands twice in the first row; name each column"):
        table_of("record_id,label,label\nr1,a,b\n")


@pytest.mark.parametrize(
    "content",
    [
        (HEAD + "r1,c1,REFUTED\nr2,café,REFUTED\n").encode("latin-1"),
        (HEAD + "r1,c1,REFUTED\n").encode("utf-16"),
        b"PAR1\x15\x04\x15\xff\xfe",
    ],
)
def test_text_that_is_not_utf_8_is_refused(content: bytes) -> None:
    with pytest.raises(InputError, match=r"^rows.csv: not UTF-8 near line \d+ \(.*\); save it as UTF-8$"):
        table_of(content)


def test_a_cell_larger_than_any_record_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "LONGEST_LINE", 100)
    try:
        with pytest.raises(InputError, match=r"^rows.csv:2: not a readable table \(.*\); check quotes and cell sizes"):
            table_of(HEAD + "r1,c1," + "a" * 200 + "\n")
    finally:
        csv.field_size_limit(64 << 20)


def test_a_quote_that_is_never_closed_takes_its_rows_along_but_not_those_before() -> None:
    rows, faults = table_of(HEAD + 'r1,c1,REFUTED\nr2,"c2,REFUTED\nr3,c3,REFUTED\n')
    assert [line for line, _ in rows] == [2]
    assert [fault.code for fault in faults] == ["ragged_row"]


def test_null_characters_stay_in_their_cell() -> None:
    rows, _ = table_of(HEAD + "r\x001,c1,REFUTED\n")
    assert rows[0][1]["record_id"] == "r\x001"


def test_more_rows_than_one_batch_holds_arrive_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "ROWS_AT_A_TIME", 7)
    lines = [f"r{number},c,REFUTED" for number in range(50)]
    lines[20] = "ragged"
    rows, faults = table_of(HEAD + "\n".join(lines))
    assert [row["record_id"] for _, row in rows] == [f"r{number}" for number in range(50) if number != 20]
    assert [line for line, _ in rows] == [number for number in range(2, 52) if number != 22]
    assert [fault.line for fault in faults] == [22]


@pytest.mark.parametrize("content", ["", "\n\n", HEAD])
def test_a_table_without_rows_has_none(content: str) -> None:
    assert table_of(content) == ([], [])


@pytest.mark.parametrize("name", ["a.tsv", "a.tab", "A.TSV"])
def test_tabs_separate_the_cells_of_a_tsv_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text('record_id\ttext\nr1\t"a, ""b"", c"\n', encoding="utf-8")
    [batch] = read_delimited(path)
    assert [row for _, row in rows_of(batch)] == [{"record_id": "r1", "text": 'a, "b", c'}]


def test_aliases_are_translated_and_said() -> None:
    [batch] = read_delimited_stream(io.BytesIO(b"id,user_input,ground_truth\n1,q,g\n"), "x")
    assert batch.aliases == {"id": "record_id", "user_input": "question", "ground_truth": "reference"}
    assert set(batch.columns) == {"record_id", "question", "reference"}


columns = st.text("abcdefgh_ éß한", min_size=1, max_size=6).filter(
    lambda name: name not in KNOWN_FIELDS and name not in ALIASES
)
cells = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@examples(max_examples=200)
@given(st.data())
def test_any_table_that_python_writes_is_read_back(data: st.DataObject) -> None:
    header = data.draw(st.lists(columns, min_size=2, max_size=4, unique=True))
    rows = data.draw(st.lists(st.lists(cells, min_size=len(header), max_size=len(header)), max_size=6))
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter="\t")
    writer.writerows([header, *rows])
    found, faults = table_of(stream.getvalue(), "\t")
    assert faults == []
    kept = [row for row in rows if row != [""] * len(row) or len(row) > 1]
    assert [row for _, row in found] == [
        {name: cell for name, cell in zip(header, row, strict=True) if cell} for row in kept
    ]


def test_a_text_in_brackets_is_a_text_and_evidence_in_brackets_a_list() -> None:
    rows, faults = table_of('page,gt,response,evidence\np1,[12],"{""a"": 1}","[""x"", ""y""]"\n')
    assert faults == []
    assert rows == [(2, {"page": "p1", "gt": "[12]", "response": '{"a": 1}', "evidence": ["x", "y"]})]


def test_names_of_columns_may_hold_any_character() -> None:
    rows, faults = table_of('record_id,"say ""x""",back\\slash,"a\nb"\nr,1,2,3\nq,,,4\n')
    assert faults == []
    assert [row for _, row in rows] == [
        {"record_id": "r", 'say "x"': "1", "back\\slash": "2", "a\nb": "3"},
        {"record_id": "q", "a\nb": "4"},
    ]


def test_a_cell_nested_too_deeply_is_a_bad_row() -> None:
    deep = "[" * 100_000 + "]" * 100_000
    rows, faults = table_of(f"record_id,evidence\nr,1\nq,{deep}\n")
    assert [line for line, _ in rows] == [2]
    assert [(fault.line, fault.code) for fault in faults] == [(3, "bad_json")]


@pytest.mark.parametrize("damage", ["half", "sum", "no gzip"])
def test_a_broken_gzip_table_says_so(tmp_path: Path, damage: str) -> None:
    lines = "".join(f"r{number},c{number * 7919},REFUTED\n" for number in range(5000))
    packed = gzip.compress((HEAD + lines).encode())
    broken = {"half": packed[: len(packed) // 2], "sum": packed[:-8] + b"\xff" * 8, "no gzip": b"hello"}
    path = tmp_path / "broken.csv.gz"
    path.write_bytes(broken[damage])
    with pytest.raises(InputError, match=r"^broken.csv.gz: cannot be read to its end .*whole gzip file"):
        list(read_delimited(path))


def test_a_header_of_many_columns_is_checked_in_no_time() -> None:
    header = [f"field_{number}" for number in range(200_000)]
    start = time.process_time()
    rows, _ = table_of(",".join(header) + "\n")
    assert rows == []
    with pytest.raises(InputError, match=r"column 'field_7' stands twice"):
        table_of(",".join([*header, "field_9", "field_7"]) + "\n")
    # Counting each of the names anew took minutes.
    assert time.process_time() - start < 10


def test_a_table_is_written_as_it_is_read() -> None:
    rows = [["record_id", "response"], ["r1", 'a, "b"\nc'], ["r2", "half\rline"], ["r3", "plain"]]
    found, faults = table_of(csv_text(rows))
    assert faults == []
    assert [row for _, row in found] == [dict(zip(rows[0], cells, strict=True)) for cells in rows[1:]]


def test_cells_are_written_plainly_and_can_be_made_safe_to_print() -> None:
    rows = [[None, True, False, 0.1, 3, "a\x1b[1m"]]
    assert csv_text(rows) == ",true,false,0.1,3,a\x1b[1m\n"
    assert "\x1b" not in csv_text(rows, is_printable=True)


def test_a_row_with_a_carriage_return_is_quoted_whole() -> None:
    assert csv_text([["a\rb", "c"], ["d", "e"]]) == '"a\rb","c"\nd,e\n'


def test_a_key_that_stands_twice_in_a_cell_is_named_with_its_line() -> None:
    rows, faults = table_of('record_id,evidence\nr1,"[{""text"": ""a"", ""text"": ""b""}]"\nr2,"[{""text"": ""c""}]"\n')
    assert faults == [Fault(2, "duplicate_key", "key 'text' stands twice in an object; name it once")]
    assert [line for line, _ in rows] == [3]


FORMULAS = ["=1+1", "+cmd", "-cmd", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "'=1", "''@x", "-", "+1 300 555"]
PLAIN = ["", "a", "-0.5", "+3", "-1e-9", "-.5", "'tis", "1=1", "don't", "'"]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_text_that_looks_like_a_formula_is_written_as_text(text: str) -> None:
    assert formula_safe(text) == f"'{text}"
    assert formulas_restored([f"'{text}"]) == [text]


@pytest.mark.parametrize("text", PLAIN)
def test_numbers_and_ordinary_texts_are_written_as_they_are(text: str) -> None:
    assert formula_safe(text) == text
    assert formulas_restored([text]) == [text]


@given(st.text(alphabet=st.sampled_from("=+-@'\t\r\n＝1.e a"), max_size=8))
def test_every_text_that_is_written_is_read_back(text: str) -> None:
    assert formulas_restored([formula_safe(text)]) == [text]
    row = next(csv.reader(io.StringIO(csv_text([[text, "x"]]), newline="")))
    assert formulas_restored(row) == [text, "x"]
    assert not row[0] or row[0][0] not in "=+-@\t\r\n＝" or float(row[0]) is not None


@given(st.text(max_size=20), st.text(max_size=20))
def test_a_table_that_is_written_is_read_back(record_id: str, response: str) -> None:
    text = csv_text([["record_id", "response"], [record_id, response]])
    assert text == csv_text([["record_id", "response"], [record_id, response]])
    rows, faults = table_of(text.encode("utf-8", "surrogatepass") if "\ud800" in text else text)
    wanted = {name: value for name, value in (("record_id", record_id), ("response", response)) if value}
    assert not faults
    assert [row for _, row in rows] == [wanted]


def test_raw_cells_are_written_as_they_are() -> None:
    assert csv_text([["=a", -0.5, "-0.5"]], is_raw=True) == "=a,-0.5,-0.5\n"
    assert csv_text([["=a", -0.5, "-0.5"]]) == "'=a,-0.5,-0.5\n"

"""JSON lines: every sound row arrives once, with the number of its line, wherever the pieces of the file are cut."""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from hallumeter.errors import InputError
from hallumeter.formats import jsonl
from hallumeter.formats.batch import Batch, Fault
from hallumeter.formats.fields import ALIASES, KNOWN_FIELDS
from hallumeter.formats.jsonl import read_jsonl, read_jsonl_stream, write_jsonl
from hallumeter.formats.records import rows_of
from hallumeter.records.claim import Failure

GOOD = {"record_id": "r1", "claim_id": "c1", "label": "REFUTED"}


def lines_of(content: bytes) -> tuple[list[tuple[int, dict[str, object]]], list[Fault]]:
    """Sound rows with their lines, without the fields they do not have, and the faults."""
    batches = list(read_jsonl_stream(io.BytesIO(content), "rows.jsonl"))
    rows = [(line, plain(row)) for batch in batches for line, row in rows_of(batch)]
    return rows, [fault for batch in batches for fault in batch.faults]


def plain(row: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in row.items() if value is not None}


def encoded(rows: Sequence[object], end: str = "\n") -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + end for row in rows).encode()


def test_a_row_becomes_the_fields_it_has() -> None:
    assert lines_of(encoded([GOOD])) == ([(1, GOOD)], [])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n", "\n \t\r\n"])
def test_blank_lines_and_windows_line_ends_are_counted_but_are_no_rows(end: str) -> None:
    rows = [{**GOOD, "claim_id": f"c{number}"} for number in range(3)]
    found, faults = lines_of(encoded(rows, end))
    lines_each = end.count("\n")
    assert found == [(1 + number * lines_each, row) for number, row in enumerate(rows)]
    assert faults == []


def test_the_last_line_needs_no_line_end() -> None:
    content = encoded([GOOD, {**GOOD, "claim_id": "c2"}]).rstrip()
    assert [line for line, _ in lines_of(content)[0]] == [1, 2]


def test_a_byte_order_mark_is_no_part_of_the_first_row() -> None:
    assert lines_of(b"\xef\xbb\xbf" + encoded([GOOD])) == ([(1, GOOD)], [])


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        (b'{"record_id": "r', "bad_json", "not valid JSON"),
        (b"{'record_id': 'r'}", "bad_json", "one object per line"),
        (b'{"confidence": NaN}', "bad_json", "null for a value that is not known"),
        (b'{"record_id": "\\ud800"}', "bad_json", "not valid JSON"),
        (b'{"record_id": "a\x00b"}', "bad_json", "not valid JSON"),
        (b"\x00\x00\x00", "bad_json", "not valid JSON"),
        (b"[1, 2]", "wrong_type", "row: expected an object, found a list"),
        (b"5", "wrong_type", "row: expected an object, found a whole number"),
        (b'"text"', "wrong_type", "row: expected an object, found text"),
        (b'{"label": 5}', "wrong_type", "label: expected text, found a whole number"),
        (b'{"label": ["REFUTED"]}', "wrong_type", "label: expected text, found a list"),
        (b'{"record_id": 1.5}', "wrong_type", "record_id: expected a whole number or text, found a number"),
        (b'{"record_id": true}', "wrong_type", "record_id"),
        (b'{"confidence": "high"}', "wrong_type", "confidence: expected a number, found text"),
        (b'{"confidence": 1e999}', "wrong_type", "out of range"),
        (b'{"answerable": "no"}', "wrong_type", "answerable: expected true or false, found text"),
        (b'{"start": 1.5}', "wrong_type", "start: expected a whole number, found a number"),
        (b'{"probabilities": [0.5, "x"]}', "wrong_type", "expected a number, found text"),
        (b'{"inference_samples": [1]}', "wrong_type", "inference_samples[0]: expected an object or a list"),
        (b'{"record_id": "caf\xe9"}', "bad_encoding", "save the file as UTF-8"),
    ],
)
def test_a_faulty_line_is_named_and_its_neighbours_are_kept(line: bytes, code: str, said: str) -> None:
    before, after = encoded([GOOD]), encoded([{**GOOD, "claim_id": "c2"}])
    found, faults = lines_of(before + b"\n" + line + b"\n" + after)
    assert [number for number, _ in found] == [1, 4]
    assert [(fault.line, fault.code) for fault in faults] == [(3, code)]
    assert said in faults[0].message


def test_a_name_of_another_tool_is_translated_and_said() -> None:
    [batch] = read_jsonl_stream(io.BytesIO(encoded([{"id": "r1", "answer": "yes", "claim": "a", "task": "QA"}])), "x")
    assert batch.aliases == {"id": "record_id", "answer": "response", "claim": "text"}
    assert [row for _, row in rows_of(batch)] == [{"record_id": "r1", "response": "yes", "text": "a", "task": "QA"}]


def test_hallumeters_own_name_wins_over_an_alias_beside_it() -> None:
    [batch] = read_jsonl_stream(io.BytesIO(encoded([{"record_id": "r1", "id": "other"}])), "x")
    assert batch.aliases == {}
    assert [row for _, row in rows_of(batch)] == [{"record_id": "r1", "id": "other"}]


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 16, 64, 1 << 16])
def test_no_cut_through_a_row_or_a_character_changes_what_is_read(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(jsonl, "CHUNK_BYTES", chunk)
    rows: list[dict[str, object]] = [
        {"record_id": "한국어 기록", "text": "é" * 40, "claim_id": 1},
        {"record_id": "😀", "claim_id": "œ", "late": "a key first seen here"},
        {"record_id": "r3", "claim_id": "c", "note": "long " * 60},
    ]
    bad_line = b"{bad\n"
    found, faults = lines_of(encoded(rows[:2]) + bad_line + encoded(rows[2:]))
    assert found == [(1, rows[0]), (2, rows[1]), (4, rows[2])]
    assert [(fault.line, fault.code) for fault in faults] == [(3, "bad_json")]


def test_a_key_first_seen_after_many_rows_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "CHUNK_BYTES", 512)
    rows: list[dict[str, object]] = [{"record_id": f"r{number}"} for number in range(500)]
    rows[450] = {"record_id": "r450", "late": {"nested": [1, 2]}}
    found, _ = lines_of(encoded(rows))
    assert [row for _, row in found] == rows


@pytest.mark.parametrize("is_last", [True, False])
def test_a_gigantic_line_is_a_fault_and_does_not_shift_the_next(monkeypatch: pytest.MonkeyPatch, is_last: bool) -> None:
    monkeypatch.setattr(jsonl, "CHUNK_BYTES", 64)
    monkeypatch.setattr(jsonl, "LONGEST_LINE", 256)
    others = encoded([{**GOOD, "claim_id": f"c{number}"} for number in range(20)])
    gigantic = json.dumps({**GOOD, "note": "a" * 2000}).encode()
    found, faults = lines_of(encoded([GOOD]) + gigantic + (b"" if is_last else b"\n" + others))
    assert [(fault.line, fault.code) for fault in faults] == [(2, "line_too_long")]
    assert [line for line, _ in found] == ([1] if is_last else [1, *range(3, 23)])


def test_a_really_gigantic_line_does_not_fill_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "gigantic.jsonl.gz"
    block = b"a" * (1 << 20)
    with gzip.open(path, "wb", compresslevel=1) as stream:
        stream.write(b'{"note": "')
        for _ in range(66):
            stream.write(block)
        stream.write(b'"}\n' + encoded([GOOD]))
    batches = list(read_jsonl(path))
    assert [(fault.line, fault.code) for batch in batches for fault in batch.faults] == [(1, "line_too_long")]
    assert [(line, plain(row)) for batch in batches for line, row in rows_of(batch)] == [(2, GOOD)]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (encoded([GOOD]).decode().encode("utf-16"), "UTF-16; save it as UTF-8"),
        (encoded([GOOD]).decode().encode("utf-16-be").join([b"\xfe\xff", b""]), "UTF-16; save it as UTF-8"),
        (b"PAR1" + b"\x15\x04" * 40, "this is a Parquet file; give it the ending .parquet"),
    ],
)
def test_a_file_of_another_kind_is_recognised_at_its_first_bytes(content: bytes, said: str) -> None:
    with pytest.raises(InputError, match=r"^rows.jsonl: ") as caught:
        list(read_jsonl_stream(io.BytesIO(content), "rows.jsonl"))
    assert said in str(caught.value)


def test_a_compressed_file_reads_like_a_plain_one(tmp_path: Path) -> None:
    content = encoded([{**GOOD, "claim_id": number} for number in range(5000)])
    (tmp_path / "a.jsonl").write_bytes(content)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(content))
    plain_rows, packed = (
        [pair for batch in read_jsonl(tmp_path / name) for pair in rows_of(batch)] for name in ("a.jsonl", "a.jsonl.gz")
    )
    assert len(plain_rows) == 5000
    assert plain_rows == packed


@pytest.mark.parametrize("damage", ["truncated", "corrupt", "not gzip", "bad body"])
def test_a_broken_gzip_file_says_so(tmp_path: Path, damage: str) -> None:
    rows = [{**GOOD, "claim_id": f"{number * 7919 % 1000003:x}"} for number in range(3000)]
    packed = bytearray(gzip.compress(encoded(rows)))
    broken = {
        "truncated": packed[: len(packed) // 2],
        "corrupt": packed[:-8] + b"\xff" * 8,
        "not gzip": bytearray(encoded([GOOD])),
        "bad body": packed[:10] + b"\xff" * 40 + packed[50:],
    }
    path = tmp_path / "broken.jsonl.gz"
    path.write_bytes(broken[damage])
    with pytest.raises(InputError, match="whole gzip file"):
        list(read_jsonl(path))


def test_an_empty_stream_has_no_rows() -> None:
    assert lines_of(b"") == ([], [])
    assert lines_of(b"\n\r\n \n") == ([], [])


def test_a_file_written_here_can_be_read_here(tmp_path: Path) -> None:
    path = tmp_path / "failures.jsonl"
    failures = [
        Failure(None, None, "read", None, "bad_json", "a.jsonl:1: é\n"),
        Failure("r", "c", "read", "j", "x", ""),
    ]
    assert write_jsonl(path, failures) == 2
    lines = path.read_bytes().splitlines(keepends=True)
    assert [msgspec.json.decode(line, type=Failure) for line in lines] == failures
    assert all(line.endswith(b"\n") for line in lines)


names = st.text(max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
unknown = names.filter(lambda name: name not in KNOWN_FIELDS and name not in ALIASES)


@examples(max_examples=300)
@given(
    rows=st.lists(st.dictionaries(unknown, values, min_size=1, max_size=4), max_size=12),
    chunk=st.integers(1, 200),
    end=st.sampled_from(["\n", "\r\n", "\n\n"]),
)
def test_any_objects_come_back_whole_however_the_file_is_cut(
    rows: list[dict[str, object]], chunk: int, end: str
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonl, "CHUNK_BYTES", chunk)
        found, faults = lines_of(encoded(rows, end))
    assert faults == []
    assert [row for _, row in found] == [plain(row) for row in rows]
    assert [line for line, _ in found] == [1 + number * end.count("\n") for number in range(len(rows))]


@examples(max_examples=300)
@given(
    pieces=st.lists(st.binary(max_size=30) | st.just(encoded([GOOD]).rstrip()), max_size=10), chunk=st.integers(1, 99)
)
def test_among_any_bytes_every_sound_line_is_found_at_its_place(pieces: list[bytes], chunk: int) -> None:
    junk = [piece.replace(b"\n", b"").replace(b"\r", b"") for piece in pieces]
    content = b"\n" + b"\n".join(junk)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonl, "CHUNK_BYTES", chunk)
        found, faults = lines_of(content)
    expected = [number for number, line in enumerate(junk, 2) if line == encoded([GOOD]).rstrip()]
    assert [line for line, row in found if row == GOOD] == expected
    assert all(2 <= fault.line <= len(junk) + 1 for fault in faults)


def test_columns_of_a_batch_have_one_value_per_line() -> None:
    rows = [{**GOOD, **({"extra": 1} if number % 3 else {})} for number in range(100)]
    batches: list[Batch] = list(read_jsonl_stream(io.BytesIO(encoded(rows)), "x"))
    assert all(len(column) == len(batch.lines) for batch in batches for column in batch.columns.values())


def test_an_object_over_several_lines_is_named_line_by_line() -> None:
    before, after = encoded([GOOD]), encoded([{**GOOD, "claim_id": "c2"}])
    found, faults = lines_of(before + json.dumps(GOOD, indent=1).encode() + b"\n" + after)
    assert [line for line, _ in found] == [1, 7]
    assert [fault.line for fault in faults] == [2, 3, 4, 5, 6]


@pytest.mark.parametrize("between", [" ", "", "\t", "\r", ","])
@pytest.mark.parametrize("blank", ["", "\n", " \r\n"])
def test_two_objects_on_a_line_shift_no_other_line(between: str, blank: str) -> None:
    row = json.dumps(GOOD)
    found, faults = lines_of(f"{row}\n{blank}{row}{between}{row}\n{row}\n".encode())
    second = 2 + blank.count("\n")
    assert [line for line, _ in found] == [1, second + 1]
    assert [(fault.line, fault.code) for fault in faults] == [(second, "bad_json")]


@pytest.mark.parametrize(
    "content",
    [
        b'{"a": [1\n2]}\n{"b": 1} {"b": 2}\n',
        b'{"a": "x\ny"}\n\n',
        b'{"a": 1\n"b": 2}\n',
        b'[{"a": 1}\n{"a": 2}]\n',
    ],
)
def test_no_end_of_a_line_is_taken_for_a_comma(content: bytes) -> None:
    found, faults = lines_of(content)
    assert found == []
    assert [fault.line for fault in faults] == [
        number for number, line in enumerate(content.split(b"\n"), 1) if line.strip()
    ]


def test_lines_ended_in_the_old_way_of_the_mac_are_one_bad_line() -> None:
    found, faults = lines_of(encoded([GOOD, GOOD], "\r"))
    assert found == []
    assert [(fault.line, fault.code) for fault in faults] == [(1, "bad_json")]
    assert "one object per line" in faults[0].message


@pytest.mark.parametrize("key", ['a"b', "a\\b", "a\nb", "\x00", "`", "a` - at `$.b"])
def test_a_key_may_hold_any_character(key: str) -> None:
    rows = [GOOD, {**GOOD, key: [1]}, {**GOOD, "late": 1}, {**GOOD, "answer": "a"}]
    found, faults = lines_of(encoded(rows[:1]) + encoded(rows[1:]))
    assert faults == []
    assert [row for _, row in found] == [*rows[:3], {**GOOD, "response": "a"}]


def test_beside_a_strange_key_types_are_still_checked() -> None:
    found, faults = lines_of(encoded([{'"': 1}, {"label": 5, '"': 1}, GOOD]))
    assert [line for line, _ in found] == [1, 3]
    assert [(fault.line, fault.message) for fault in faults] == [(2, "label: expected text, found a whole number")]


def test_a_file_of_many_keys_is_read_whole() -> None:
    rows = [{**GOOD, "claim_id": number, f"key {number}": 1} for number in range(3000)]
    found, faults = lines_of(encoded(rows))
    assert faults == []
    assert found == list(enumerate(rows, 1))


def test_only_faults_among_many_keys_are_said_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "CHUNK_BYTES", 16)
    found, faults = lines_of(encoded([{'"': 1}]) + b"{bad bad bad bad bad\n")
    assert found == [(1, {'"': 1})]
    assert [(fault.line, fault.code) for fault in faults] == [(2, "bad_json")]


@pytest.mark.parametrize("field", ["x", "evidence", "label"])
def test_a_row_nested_too_deeply_is_a_bad_line(field: str) -> None:
    deep = b'{"%b": %b}\n' % (field.encode(), b"[" * 100_000 + b"]" * 100_000)
    found, faults = lines_of(encoded([GOOD]) + deep + encoded([GOOD]))
    assert [line for line, _ in found] == [1, 3]
    assert [(fault.line, fault.code) for fault in faults] == [(2, "bad_json")]
    assert "nested too deeply" in faults[0].message


@pytest.mark.parametrize("text", ["\\ud800", "\\ud83d\\ude00 \\uD83D", "\\ud800x"])
def test_half_of_a_surrogate_pair_is_called_so(text: str) -> None:
    _, faults = lines_of(f'{{"record_id": "{text}"}}\n'.encode())
    assert [(fault.code, "surrogate" in fault.message) for fault in faults] == [("bad_json", True)]


def test_a_line_that_ends_too_early_is_called_truncated() -> None:
    _, faults = lines_of(b'{"record_id": "\\ud83d\\ude00')
    assert "truncated" in faults[0].message


def test_a_number_that_cannot_be_kept_is_named_by_its_field() -> None:
    _, faults = lines_of(b'{"start": 1%b}\n{"confidence": 1e999}\n' % (b"0" * 400))
    assert [fault.message for fault in faults] == [
        "start: expected `int` <= 9007199254740992",
        "row: number out of range",
    ]


def test_a_gzip_file_that_breaks_within_a_gigantic_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl, "CHUNK_BYTES", 64)
    monkeypatch.setattr(jsonl, "LONGEST_LINE", 256)
    path = tmp_path / "broken.jsonl.gz"
    packed = gzip.compress(random.Random(0).randbytes(5000).hex().encode())
    path.write_bytes(packed[:-2000])
    with pytest.raises(InputError, match="whole gzip file"):
        list(read_jsonl(path))


def test_a_file_that_may_not_be_opened_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=r"a\.jsonl: cannot be opened \(Permission denied\)$"):
        list(read_jsonl(tmp_path / "a.jsonl"))


@pytest.mark.parametrize("indented", [False, True])
@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('{"record_id": "r", "claim_id": "c", "label": "A", "label": "B"}', "label"),
        ('{"record_id":"r","claim_id":"c","label":"A","label":"A"}', "label"),
        ('{"record_id": "r", "label": "A", "label": "B"}', "label"),
        ('{"record_id": "r", "claim_id": null, "label": null, "claim_id": "c"}', "claim_id"),
        ('{"record_id" : "r" , "claim_id" : "c" , "label" : "A", "label" : "\\": x"}', "label"),
        ('{"record_id": "r", "claim_id": "c", "label": "A", "x": {"y": 1, "y": 2}}', "y"),
        ('{"record_id": "r", "claim_id": "c", "label": "A", "evidence": [{"text": "t", "text": null}]}', "text"),
        ('{"record_id": "r", "claim_id": "c", "label": "A", "new": 1, "new": 2}', "new"),
        ('{"record_id": "r", "claim_id": "c", "label": "A", "label": "\\\\"}', "label"),
    ],
)
def test_a_key_that_stands_twice_is_named_with_its_line(line: str, key: str, *, indented: bool) -> None:
    good = '{"record_id": "r", "claim_id": "c%d", "label": "He said \\": null"}'
    sound = [good % number + " " * (100 * indented) for number in range(2_000)]
    content = "\n".join([*sound, line, *sound, line]).encode()
    batches = list(read_jsonl_stream(io.BytesIO(content), "rows.jsonl"))
    faults = [fault for batch in batches for fault in batch.faults]
    message = f"key {key!r} stands twice in an object; name it once"
    assert faults == [Fault(2_001, "duplicate_key", message), Fault(4_002, "duplicate_key", message)]
    assert sum(len(batch.lines) for batch in batches) == 4_000


@examples(max_examples=150)
@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["record_id", "label", "x", 'q":', "n\\", "evidence", "answerable"]),
            st.none()
            | st.sampled_from(["", "null", '": ', '\\": null', "text"])
            | st.lists(st.none() | st.dictionaries(st.sampled_from(["a", '":']), st.none() | st.just("null"))),
            min_size=1,
        ),
        min_size=1,
    ),
    st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")]),
)
def test_no_key_is_said_to_stand_twice_that_does_not(rows: list[dict[str, object]], marks: tuple[str, str]) -> None:
    content = "\n".join(json.dumps(row, separators=marks) for row in rows).encode()
    batches = list(read_jsonl_stream(io.BytesIO(content), "rows.jsonl"))
    assert "duplicate_key" not in {fault.code for batch in batches for fault in batch.faults}

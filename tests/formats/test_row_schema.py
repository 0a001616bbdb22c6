"""The record type grows with the keys of a file, and a decoder's error is put into plain words."""

from __future__ import annotations

import msgspec
import pytest

from hallumeter.errors import RecordError
from hallumeter.formats.batch import plain_message
from hallumeter.formats.fields import ALIASES, KNOWN_FIELDS
from hallumeter.formats.jsonl import MOST_TYPED_KEYS, RowSchema


def error_of(line: bytes, *keys: str) -> msgspec.ValidationError:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.json.decode(line, type=RowSchema(keys).row_type)
    return caught.value


def test_every_alias_stands_for_a_known_field_and_is_none_itself() -> None:
    assert set(ALIASES.values()) <= set(KNOWN_FIELDS)
    assert not set(ALIASES) & set(KNOWN_FIELDS)


def test_a_schema_grows_and_keeps_what_it_had() -> None:
    schema = RowSchema(["record_id"])
    schema.widen(["task", "record_id"])
    assert "task" in schema
    assert "other" not in schema
    rows = msgspec.json.Decoder(schema.row_type).decode_lines(b'{"record_id": "r1"}\n{"task": [1], "record_id": 2}')
    assert schema.columns(rows) == {"record_id": ["r1", 2], "task": [None, [1]]}


@pytest.mark.parametrize("key", ["a", "", "with space", "한국어", "class", "__init__", "a.b", "$[0]", "self", "-", "`"])
def test_any_key_that_a_record_type_can_hold_is_held(key: str) -> None:
    schema = RowSchema([key])
    assert not schema.is_wide
    assert schema.columns([msgspec.json.decode(msgspec.json.encode({key: 1}), type=schema.row_type)]) == {key: [1]}


@pytest.mark.parametrize("key", ['a"b', "a\\b", "a\nb", "\x00"])
def test_a_key_that_no_record_type_can_hold_is_taken_from_the_mapping(key: str) -> None:
    schema = RowSchema(["label"])
    schema.widen([key])
    assert schema.is_wide
    mapping: dict[str, object] = {"label": "REFUTED", key: 1}
    assert schema.raw_columns(schema.typed([mapping]), [mapping]) == {"label": ["REFUTED"], key: [1]}


def test_beyond_some_keys_only_known_fields_are_typed() -> None:
    schema = RowSchema(f"key{number}" for number in range(MOST_TYPED_KEYS))
    assert (schema.is_wide, len(schema)) == (False, MOST_TYPED_KEYS)
    schema.widen(["one_more", "label", "answer"])
    assert (schema.is_wide, len(schema)) == (True, MOST_TYPED_KEYS + 2)
    with pytest.raises(msgspec.ValidationError, match="label"):
        schema.typed([{"one_more": 1, "label": 5}])


def test_columns_cannot_hide_that_an_alias_does_not_fit() -> None:
    schema = RowSchema(["text", "claim"])
    with pytest.raises(RecordError, match=r"^row 2: claim: expected text, found a whole number$"):
        schema.columns(schema.typed([{"text": "t", "claim": 5}, {"claim": 5}]))


def test_an_alias_counts_only_without_the_name_it_stands_for() -> None:
    assert RowSchema(["id", "answer"]).aliases == {"id": "record_id", "answer": "response"}
    assert RowSchema(["id", "record_id"]).aliases == {}


@pytest.mark.parametrize(
    ("line", "key", "said"),
    [
        (b'{"label": 5}', "label", "label: expected text, found a whole number"),
        (b'{"label": {}}', "label", "label: expected text, found an object"),
        (b'{"confidence": true}', "confidence", "confidence: expected a number, found true or false"),
        (b'{"record_id": []}', "record_id", "record_id: expected a whole number or text, found a list"),
        (b'{"answer": 5}', "answer", "answer: expected text, found a whole number"),
        (b"null", "label", "row: expected an object, found null"),
    ],
)
def test_a_wrong_type_is_said_in_words(line: bytes, key: str, said: str) -> None:
    assert plain_message(error_of(line, key)) == said


@pytest.mark.parametrize("line", [b"{", b"{'a': 1}", b'{"a": 1} x', b'{"a": tru}'])
def test_a_line_that_is_no_json_says_what_to_write(line: bytes) -> None:
    with pytest.raises(msgspec.DecodeError) as caught:
        msgspec.json.decode(line, type=RowSchema(["a"]).row_type)
    message = plain_message(caught.value)
    assert message.startswith("not valid JSON (")
    assert message.endswith("; write one object per line, and null for a value that is not known")


def test_a_message_of_no_known_form_is_passed_on() -> None:
    assert plain_message(msgspec.ValidationError("Number out of range")) == "Number out of range"


def test_a_row_nested_too_deeply_is_said_to_be() -> None:
    assert plain_message(RecursionError("maximum recursion depth exceeded")).startswith("nested too deeply; ")

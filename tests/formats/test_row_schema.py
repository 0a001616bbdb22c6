"""The record type grows with the keys of a file, and a decoder's error is put into plain words."""

from __future__ import annotations

import msgspec
import pytest

from hallumeter.formats import ALIASES, KNOWN_FIELDS, RowSchema, plain_message
from hallumeter.formats.row_schema import unknown_key


def error_of(line: bytes, *keys: str) -> msgspec.ValidationError:
    with pytest.raises(msgspec.ValidationError) as caught:
        RowSchema(keys).decoder.decode(line)
    return caught.value


def test_every_alias_stands_for_a_known_field_and_is_none_itself() -> None:
    assert set(ALIASES.values()) <= set(KNOWN_FIELDS)
    assert not set(ALIASES) & set(KNOWN_FIELDS)


def test_a_schema_grows_and_keeps_what_it_had() -> None:
    schema = RowSchema(["record_id"])
    schema.widen(["task", "record_id"])
    assert "task" in schema
    assert "other" not in schema
    rows = schema.decoder.decode_lines(b'{"record_id": "r1"}\n{"task": [1], "record_id": 2}')
    assert schema.columns(rows) == {"record_id": ["r1", 2], "task": [None, [1]]}


@pytest.mark.parametrize("key", ["a", "", "with space", "한국어", "class", "__init__", "a.b", "$[0]", "self", "-"])
def test_any_key_that_is_new_can_be_told_from_the_error(key: str) -> None:
    line = msgspec.json.encode({key: 1})
    assert unknown_key(error_of(line)) == key
    schema = RowSchema([key])
    assert schema.columns([schema.decoder.decode(line)]) == {key: [1]}


def test_an_error_of_another_kind_names_no_key() -> None:
    assert unknown_key(error_of(b'{"label": 5}', "label")) is None


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
        RowSchema(["a"]).decoder.decode(line)
    message = plain_message(caught.value)
    assert message.startswith("not valid JSON (")
    assert message.endswith("; write one object per line, and null for a value that is not known")


def test_a_message_of_no_known_form_is_passed_on() -> None:
    assert plain_message(msgspec.ValidationError("Number out of range")) == "Number out of range"

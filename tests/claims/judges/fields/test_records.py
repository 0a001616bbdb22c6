"""Fields of records with their names and places, in several notations."""

from __future__ import annotations

import json

from hallumeter.claims.judges.fields.records import Record, record_of
from hallumeter.claims.judges.rules.evidence import Evidence
from hallumeter.records.response import Passage


def _record(text: str) -> Record | None:
    return record_of(Evidence((Passage("e", text),)))


def _quotes(text: str) -> dict[str, str | None]:
    record = _record(text)
    assert record is not None
    for field in record.fields:
        assert text[field.quote.start : field.quote.end] == field.quote.quote
    return {" ".join(field.path): field.quote.quote for field in record.fields}


def test_a_json_value_is_quoted_with_its_key() -> None:
    quotes = _quotes(json.dumps({"parking": {"garage": False}, "WiFi": "no", "tags": ["a", "b"]}))
    assert quotes["parking garage"] == '"garage": false'
    assert quotes["Wi Fi"] == '"WiFi": "no"'


def test_a_value_that_a_label_names_is_quoted_with_the_label() -> None:
    quotes = _quotes(json.dumps({"specs": [{"name": "Weight", "value": "98 g"}]}))
    assert quotes["specs Weight"] == '"name": "Weight", "value": "98 g"'


def test_a_record_inside_a_string_is_opened() -> None:
    quotes = _quotes(json.dumps({"BusinessParking": "{'garage': False, 'lot': True}"}))
    assert quotes["Business Parking lot"] == "'lot': True"


def test_indented_lines_are_below_the_line_above_them() -> None:
    quotes = _quotes("name: Linde\nparking:\n  garage: no\n  lot: yes\npool: no")
    assert quotes["parking garage"] == "garage: no"
    assert quotes["pool"] == "pool: no"


def test_cells_of_a_table_are_named_by_row_and_column() -> None:
    quotes = _quotes("| Model | Range | Price |\n|---|---|---|\n| Volt S | 410 | 32,900 |\n| short |")
    assert quotes == {"Volt S Range": "Volt S | 410", "Volt S Price": "Volt S | 410 | 32,900"}


def test_prose_and_dialogues_are_no_records() -> None:
    assert _record("There is one rule: be kind.\nThe rest follows.\nSo it goes.") is None
    assert _record("Doctor: Do you smoke?\nPatient: No.\nDoctor: Good.\nPatient: Thanks.") is None


def test_a_path_that_comes_again_is_not_single() -> None:
    record = _record(json.dumps([{"WiFi": "no"}, {"WiFi": "free"}]))
    assert record is not None
    assert record.single == []
    assert record.texts == []


def test_apostrophes_in_a_text_of_json_begin_no_key() -> None:
    quotes = _quotes(json.dumps({"review": "It's 'fine': we don't mind", "WiFi": "no", "stars": 4}))
    assert quotes["Wi Fi"] == '"WiFi": "no"'
    assert quotes["stars"] == '"stars": 4'


def test_a_dictionary_as_python_prints_it_is_read() -> None:
    assert _quotes("{'WiFi': 'no', 'stars': 4}") == {"Wi Fi": "'WiFi': 'no'", "stars": "'stars': 4"}

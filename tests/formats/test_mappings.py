"""Mappings become one batch; what does not fit is named by its number."""

from __future__ import annotations

import json

import pytest

from hallumeter.formats.jsonl import batch_of
from hallumeter.formats.records import rows_of


def test_mappings_are_numbered_and_their_aliases_translated() -> None:
    batch = batch_of([{"id": "a"}, {"id": "b", "task": "QA"}], 5, fields=["id"])
    assert list(rows_of(batch)) == [
        (5, {"record_id": "a", "task": None, "id": "a"}),
        (6, {"record_id": "b", "task": "QA", "id": "b"}),
    ]
    assert batch.aliases == {"id": "record_id"}


def test_a_mapping_that_does_not_fit_is_a_fault() -> None:
    batch = batch_of([{"label": "REFUTED"}, {"label": 5}, {"label": "SUPPORTED"}])
    assert [(line, row["label"]) for line, row in rows_of(batch)] == [(1, "REFUTED"), (3, "SUPPORTED")]
    assert [(fault.line, fault.message) for fault in batch.faults] == [
        (2, "label: expected text, found a whole number")
    ]


@pytest.mark.parametrize("key", ['a"b', "a\\b", "\n", 5])
def test_keys_of_mappings_may_be_anything(key: object) -> None:
    [(_, row)] = rows_of(batch_of([{"record_id": "r", key: [1]}]))  # type: ignore[dict-item]
    assert row == {"record_id": "r", str(key): [1]}


def test_a_mapping_without_any_field_is_a_row() -> None:
    assert list(rows_of(batch_of([{}, {}]))) == [(1, {}), (2, {})]


def test_a_known_field_nested_too_deeply_is_a_fault_or_kept() -> None:
    deep = json.loads("[" * 900 + "]" * 900)
    batch = batch_of([{"record_id": "r", "evidence": deep}])
    assert len(batch.lines) + len(batch.faults) == 1

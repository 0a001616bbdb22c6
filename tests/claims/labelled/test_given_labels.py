"""Tables of labels as people write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hallumeter.claims.labelled.sources import read_given_labels, truth_of
from hallumeter.errors import InputError
from hallumeter.records.claim import Label
from hallumeter.records.decisions import GivenLabel


def read(folder: Path, text: str, name: str = "labels.csv") -> list[GivenLabel]:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return [label for _, label in read_given_labels(path)]


def test_a_label_may_be_spelled_as_other_tools_do(tmp_path: Path) -> None:
    found = read(tmp_path, "record_id,claim_id,label,annotator\nr1,c1,entailed,김\nr1,c2,Contradicted,김\nr2,c1,NEI,\n")
    assert found == [
        GivenLabel("r1", "c1", "김", False, False),
        GivenLabel("r1", "c2", "김", True, True),
        GivenLabel("r2", "c1", "labels", True, False),
    ]


def test_what_the_viewer_writes_says_what_is_true_of_the_claim(tmp_path: Path) -> None:
    text = (
        "record_id,claim_id,judge,judged,is_right,annotator,noted,fingerprint,label,is_attached\n"
        "r1,c1,rules,SUPPORTED,true,kim,2026,f1,,true\n"
        "r1,c2,rules,SUPPORTED,false,kim,2026,f2,,true\n"
        "r1,c3,rules,REFUTED,false,kim,2026,f3,,true\n"
        "r1,c4,rules,UNDECIDED,false,kim,2026,f4,,true\n"
        "r1,c5,rules,SUPPORTED,false,kim,2026,f5,REFUTED,true\n"
    )
    found = [(label.is_unsupported, label.is_refuted, label.fingerprint) for label in read(tmp_path, text)]
    assert found == [
        (False, False, "f1"),
        (True, None, "f2"),
        (False, False, "f3"),
        (None, None, "f4"),
        (True, True, "f5"),
    ]


def test_a_row_without_a_claim_speaks_of_the_whole_response(tmp_path: Path) -> None:
    found = read(tmp_path, "record_id,label\nr1,hallucinated\nr2,no\nr3,supported\nr4,1\n")
    assert [(label.claim_id, label.is_unsupported) for label in found] == [
        (None, True),
        (None, False),
        (None, False),
        (None, True),
    ]


def test_labels_in_json_lines(tmp_path: Path) -> None:
    rows = '{"record_id": "r1", "claim_id": "c1", "judged": "REFUTED", "is_right": false}\n'
    assert read(tmp_path, rows, "labels.jsonl") == [GivenLabel("r1", "c1", "labels", False, False)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("record_id,claim_id,label\n,c1,SUPPORTED\n", "labels.csv:2: record_id is missing"),
        ("record_id,claim_id,label\nr1,c1,maybe\n", "labels.csv:2: label: expected one of SUPPORTED, .*found 'maybe'"),
        ("record_id,claim_id,label\nr1,c1,\n", "labels.csv:2: expected a label, or judged and is_right"),
        ("record_id,claim_id,judged,is_right\nr1,c1,SUPPORTED,perhaps\n", "labels.csv:2: expected a label"),
    ],
)
def test_a_row_that_says_nothing_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, text)


def test_a_line_that_is_no_row_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"labels.jsonl:1: "):
        read(tmp_path, "{broken\n", "labels.jsonl")


@pytest.mark.parametrize(
    ("word", "label"),
    [(" YES ", Label.NOT_ENOUGH_INFO), ("false", Label.SUPPORTED), ("REFUTED", Label.REFUTED), ("perhaps", None)],
)
def test_words_for_whole_responses(word: str, label: Label | None) -> None:
    assert truth_of(word) is label

"""Rows as records: nothing that a row says is lost, and nothing impossible becomes a record."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import numpy as np
import pytest

import hallumeter
from hallumeter.errors import InputError, RecordError
from hallumeter.formats.batch import Batch, Coded, Numbers
from hallumeter.formats.records import claim_of, distribution_of, passages_of, read, response_of, rows_of, verdict_of
from hallumeter.records.claim import Label
from hallumeter.records.response import Passage, Quote, Response


def written(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_input_records_are_read_with_aliases_and_unknown_fields(tmp_path: Path) -> None:
    row = {
        "id": 3,
        "user_input": "Who?",
        "answer": "She.",
        "retrieved_contexts": ["a", "b"],
        "ground_truth": "He.",
        "samples": ["It."],
        "token_logprobs": [-1, -0.5],
        "model": "m",
        "task": "QA",
        "nested": {"a": [1]},
        "nothing": None,
    }
    [response] = read(written(tmp_path / "answers.jsonl", row))
    assert response == Response(
        record_id="3",
        question="Who?",
        response="She.",
        evidence=(Passage("e1", "a"), Passage("e2", "b")),
        reference="He.",
        samples=("It.",),
        token_logprobs=(-1.0, -0.5),
        model="m",
        fields={"task": "QA", "nested": '{"a":[1]}'},
    )
    assert list(hallumeter.read(str(tmp_path / "answers.jsonl"))) == [response]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"id": "r"}, {"task": "x"}], r"^answers.jsonl:2: response: expected the text of the answer, found none"),
        ([{"id": ""}], r"^answers.jsonl:1: response"),
        ([{"id": "r"}, {"id": "r", "answer": 5}], r"^answers.jsonl:2: answer: expected text, found a whole number"),
        ([[1]], r"^answers.jsonl:1: row: expected an object, found a list"),
    ],
)
def test_the_first_row_that_cannot_be_used_raises_with_its_place(tmp_path: Path, rows: list[object], said: str) -> None:
    with pytest.raises(RecordError, match=said):
        list(read(written(tmp_path / "answers.jsonl", *rows)))


def test_a_response_without_an_id_is_called_by_its_place(tmp_path: Path) -> None:
    path = written(tmp_path / "answers.jsonl", {"query": "Who?", "result": "She."}, {"id": "b", "result": "He."})
    assert [(each.record_id, each.question, each.response) for each in read(path)] == [
        ("answers.jsonl:1", "Who?", "She."),
        ("b", None, "He."),
    ]


def test_a_file_is_read_by_the_paths_of_a_map(tmp_path: Path) -> None:
    row = {"said": {"by": "m", "words": "She."}, "found": [{"body": {"t": "a"}}, {"body": {"t": "b"}}]}
    paths = {"response": "said.words", "evidence": "found[].body.t", "model": "said.by"}
    [response] = hallumeter.read(written(tmp_path / "answers.jsonl", row), map=paths)
    assert (response.response, response.model) == ("She.", "m")
    assert [passage.text for passage in response.evidence] == ["a", "b"]


def test_a_missing_file_of_records_raises(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        list(read(tmp_path / "nothing.csv"))


def test_columns_of_every_form_become_rows() -> None:
    coded = Coded(["a", "b", None], np.array([1, 0, 2]))
    numbers = Numbers(np.array([0.5, 0.0, 1.0]), np.array([False, True, False]))
    batch = Batch({"label": coded, "confidence": numbers, "x": [1, 2, 3]}, [4, 5, 9])
    assert list(rows_of(batch)) == [
        (4, {"label": "b", "confidence": 0.5, "x": 1}),
        (5, {"label": "a", "confidence": None, "x": 2}),
        (9, {"label": None, "confidence": 1.0, "x": 3}),
    ]


@pytest.mark.parametrize(
    ("row", "answerable"),
    [
        ({}, None),
        ({"answerable": False}, False),
        ({"answerable": True}, True),
        ({"is_nonexistent": True}, False),
        ({"is_nonexistent": False}, True),
        ({"answerable": True, "is_nonexistent": True}, True),
        ({"answerable": None, "is_nonexistent": None}, None),
    ],
)
def test_what_does_not_exist_cannot_be_answered(row: dict[str, object], answerable: bool | None) -> None:
    assert response_of({"record_id": "r", **row}).answerable is answerable


def test_a_record_id_can_be_replaced_and_a_question_id_is_kept() -> None:
    response = response_of({"record_id": "r", "question_id": 5}, "r@m")
    assert (response.record_id, response.fields) == ("r@m", {"question_id": 5})


@pytest.mark.parametrize(
    ("evidence", "texts"),
    [
        (None, []),
        ("", []),
        ([], []),
        ("one", [("e1", "one")]),
        (["one", "two"], [("e1", "one"), ("e2", "two")]),
        ({"text": "t"}, [("e1", "t")]),
        ([{"evidence_id": "x", "text": "t"}, {"title": "no text"}], [("x", "t"), ("e2", '{"title":"no text"}')]),
        ({"a": 1}, [("e1", '{"a":1}')]),
        (5, [("e1", "5")]),
    ],
)
def test_evidence_of_every_form_becomes_passages(evidence: object, texts: list[tuple[str, str]]) -> None:
    assert passages_of(evidence) == tuple(Passage(*pair) for pair in texts)


def test_a_claim_takes_its_span_and_weight_from_the_row() -> None:
    claim = claim_of({"claim_id": 1, "text": "abc", "start": 2, "end": 5, "weight": 2, "kind": "slot"}, "r")
    assert (claim.claim_id, claim.start, claim.end, claim.weight, claim.kind) == ("1", 2, 5, 2.0, "slot")


@pytest.mark.parametrize(
    ("response", "start", "end", "expected"),
    [
        ("abcdef", 2, 5, (0, 6)),
        ("abcdef abcdef", 9, 11, (7, 13)),
        ("..abcdef", None, None, (2, 8)),
        ("abcdef abcdef", None, None, (None, None)),
        ("other words", 2, 5, (2, 5)),
        (None, 2, 5, (2, 5)),
    ],
)
def test_a_claim_stands_where_its_text_does_around_the_unsupported_part(
    response: str | None, start: int | None, end: int | None, expected: tuple[int | None, int | None]
) -> None:
    row = {"claim_id": "c", "text": "abcdef", "start": start, "end": end}
    claim = claim_of(row, "r", response=response)
    assert (claim.start, claim.end) == expected
    verdict = verdict_of(row, "r", label=Label.REFUTED, judge="j")
    assert (verdict.start, verdict.end) == (start, end)


@pytest.mark.parametrize("row", [{"start": 5, "end": 3}, {"start": 5}, {"start": -1, "end": 3}, {"weight": -1.0}])
def test_an_impossible_claim_raises(row: dict[str, object]) -> None:
    with pytest.raises(RecordError, match="claim 'c'"):
        claim_of({"claim_id": "c", **row}, "r")


def test_a_verdict_keeps_everything_that_the_row_says() -> None:
    row = {
        "claim_id": "c",
        "unsupported_probability": 0.9,
        "confidence": 1,
        "reason": "number_mismatch",
        "note": "n",
        "cost_usd": 0.01,
        "probabilities": {"REFUTED": 0.9, "SUPPORTED": 0.1},
        "inference_samples": [[0.5, 0.5, 0]],
        "quotes": [{"evidence_id": "e1", "start": 0, "end": 2, "quote": "ab"}],
    }
    verdict = verdict_of(row, "r", label=Label.REFUTED, judge="j")
    assert verdict.probabilities == (0.1, 0.9, 0.0)
    assert verdict.inference_samples == ((0.5, 0.5, 0.0),)
    assert verdict.evidence == (Quote("e1", 0, 2, "ab"),)
    assert (verdict.reason, verdict.note, verdict.cost_usd) == ("number_mismatch", "n", 0.01)
    assert (verdict.unsupported_probability, verdict.confidence) == (0.9, 1.0)


@pytest.mark.parametrize(
    "row",
    [
        {"confidence": 1.3},
        {"unsupported_probability": -0.1},
        {"confidence": float("nan")},
        {"confidence": float("inf")},
        {"probabilities": [0.7, 0.7]},
        {"probabilities": []},
        {"inference_samples": [[1.0], [0.5]]},
        {"start": 3, "end": 1},
    ],
)
def test_an_impossible_verdict_raises(row: dict[str, object]) -> None:
    with pytest.raises(RecordError, match="verdict of 'j' on claim 'c'"):
        verdict_of({"claim_id": "c", **row}, "r", label=Label.REFUTED, judge="j")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.25, 0.75], (0.25, 0.75)),
        ((1,), (1.0,)),
        ({"NOT_ENOUGH_INFO": 0.25, "SUPPORTED": 0.75}, (0.75, 0.0, 0.25)),
        ({"refuted": 1}, (0.0, 1.0, 0.0)),
        ({"yes": 0.75, "no": 0.25}, (0.25, 0.75)),
        (None, ()),
    ],
)
def test_a_distribution_is_put_in_the_order_of_the_labels(values: object, expected: tuple[float, ...]) -> None:
    assert distribution_of(values) == expected


def test_a_distribution_by_name_does_not_depend_on_the_order_of_its_names() -> None:
    assert distribution_of({"b": 0.3, "a": 0.7}) == distribution_of({"a": 0.7, "b": 0.3}) == (0.7, 0.3)


@pytest.mark.parametrize(
    "quotes", ["x", 5, ["x"], [1], {"evidence_id": "e"}, [{"evidence_id": "e", "start": 5, "end": 1}], [{"start": 1}]]
)
def test_a_field_called_quotes_may_hold_anything(quotes: object) -> None:
    row = {"claim_id": "c", "quotes": quotes}
    assert verdict_of(row, "r", label=Label.REFUTED, judge="j").evidence == ()
    kept = response_of({"record_id": "r", **row}).fields["quotes"]
    assert kept == (quotes if isinstance(quotes, (str, int)) else json.dumps(quotes, separators=(",", ":")))


def test_an_object_without_any_field_is_refused_by_its_line(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"^answers.jsonl:1: response: expected the text"):
        list(read(written(tmp_path / "answers.jsonl", {})))


@pytest.mark.parametrize(("start", "end", "expected"), [(2.0, 5.0, (2, 5)), (2.5, None, (None, None))])
def test_whole_numbers_out_of_a_column_with_gaps_are_whole(
    start: object, end: object, expected: tuple[int | None, int | None]
) -> None:
    claim = claim_of({"claim_id": "c", "start": start, "end": end}, "r")
    assert (claim.start, claim.end) == expected


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (2**64, 2**64),
        ([2**64, "é"], '[18446744073709551616,"é"]'),
        (dt.date(2020, 1, 2), "2020-01-02"),
        (b"ab", "YWI="),
        ([float("nan")], "[null]"),
        (True, True),
    ],
)
def test_a_value_of_any_type_can_be_kept(value: object, kept: object) -> None:
    assert response_of({"record_id": "r", "x": value}).fields == {"x": kept}

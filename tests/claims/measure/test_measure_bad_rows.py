"""A row that cannot be used is named, counted and left out; nothing impossible becomes a number."""

from __future__ import annotations

import math
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from pyarrow import parquet

import hallumeter
from hallumeter import HallumeterError, InputError, MeasureSettings, RecordError, SettingsError
from hallumeter.claims import partial
from hallumeter.claims.measure import commands as pipeline
from hallumeter.claims.measure.commands import measure_to_folder
from hallumeter.records.claim import Failure
from hallumeter.run.finished import load
from verdict_rows import Row, write_lines

GOOD: Row = {"record_id": "r1", "claim_id": "c1", "label": "SUPPORTED"}
BAD: Row = {"record_id": "r2", "claim_id": "c1", "label": "REFUTED", "judge": "judge"}


def failures_of(tmp_path: Path, *rows: object, name: str = "v.jsonl") -> tuple[Failure, ...]:
    measure_to_folder([write_lines(tmp_path / name, rows)], tmp_path / "run", settings=MeasureSettings())
    return load(tmp_path / "run").failures


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (
            {"label": "maybe"},
            "unknown_label",
            "label: expected SUPPORTED, REFUTED, NOT_ENOUGH_INFO or UNDECIDED, found",
        ),
        ({"label": None}, "missing_label", "label: no verdict was given"),
        ({"label": ""}, "missing_label", "label: no verdict was given"),
        ({"confidence": 1.3}, "impossible_probability", "confidence: expected a number from 0 to 1, found 1.3"),
        ({"unsupported_probability": -0.1}, "impossible_probability", "unsupported_probability: expected a number"),
        ({"unsupported_probability": 1e300}, "impossible_probability", "found 1e+300"),
        (
            {"probabilities": [0.7, 0.7]},
            "impossible_probability",
            "add up to 1.4; expected numbers >= 0 that add up to 1",
        ),
        ({"probabilities": [1.5, -0.5]}, "impossible_probability", "probabilities: [1.5, -0.5]"),
        ({"probabilities": []}, "impossible_probability", "probabilities:"),
        ({"probabilities": {"SUPPORTED": 0.5}}, "impossible_probability", "add up to 0.5"),
        ({"inference_samples": [[0.5, 0.5], [1.0]]}, "impossible_probability", "over the same outcomes"),
        ({"inference_samples": [[0.5, 0.4]]}, "impossible_probability", "inference_samples:"),
        ({"inference_samples": [[0.5, 0.5]], "probabilities": [1, 0, 0]}, "impossible_probability", "same outcomes"),
    ],
)
def test_a_verdict_with_an_impossible_value_is_a_failure_of_its_claim(
    tmp_path: Path, change: Row, code: str, said: str
) -> None:
    [failure] = failures_of(tmp_path, GOOD, BAD | change)
    assert (failure.record_id, failure.claim_id, failure.judge) == ("r2", "c1", "judge")
    assert (failure.step, failure.code, failure.attempts) == ("read", code, 1)
    assert failure.message.startswith("v.jsonl:2: ")
    assert said in failure.message
    row = load(tmp_path / "run").summary.metrics[0]
    assert (row.metric, row.count, row.total, row.failed) == ("mihr", 0, 1, 1)
    assert row.bounds == (0.0, 0.5)


@pytest.mark.parametrize(
    ("row", "code", "said"),
    [
        (
            {"claim_id": "c", "label": "REFUTED"},
            "missing_field",
            "record_id: expected the id of the response, found none",
        ),
        ({**BAD, "record_id": None}, "missing_field", "record_id: expected"),
        ({**BAD, "record_id": ""}, "missing_field", "record_id: expected"),
        ({**BAD, "claim_id": None}, "missing_field", "claim_id: expected the id of the claim, found none"),
        ({**BAD, "claim_id": ""}, "missing_field", "claim_id: expected"),
        ({**BAD, "label": 5}, "wrong_type", "label: expected text, found a whole number"),
        ({**BAD, "label": ["REFUTED"]}, "wrong_type", "label: expected text, found a list"),
        ({**BAD, "record_id": {"a": 1}}, "wrong_type", "record_id: expected a whole number or text, found an object"),
        ({**BAD, "record_id": True}, "wrong_type", "record_id: expected a whole number or text"),
        ({**BAD, "claim_id": 1.5}, "wrong_type", "claim_id: expected a whole number or text, found a number"),
        ({**BAD, "confidence": "1"}, "wrong_type", "confidence: expected a number, found text"),
        ({**BAD, "probabilities": "even"}, "wrong_type", "probabilities: expected"),
        ({**BAD, "inference_samples": [[1, None]]}, "wrong_type", "inference_samples"),
        ({**BAD, "judge": 5}, "wrong_type", "judge: expected text"),
        ([1, 2], "wrong_type", "row: expected an object, found a list"),
        ("text", "wrong_type", "row: expected an object, found text"),
        (None, "wrong_type", "row: expected an object, found null"),
    ],
)
def test_a_row_that_names_no_claim_or_has_wrong_types_is_left_out_and_named(
    tmp_path: Path, row: object, code: str, said: str
) -> None:
    [failure] = failures_of(tmp_path, GOOD, row)
    assert failure.code == code
    assert failure.message.startswith("v.jsonl:2: ")
    assert said in failure.message
    summary = load(tmp_path / "run").summary
    assert (summary.counts.claims, summary.counts.failures) == (1, 1)
    assert summary.metrics[0].failed == 0


def test_a_second_verdict_of_the_same_judge_is_named_and_the_first_counts(tmp_path: Path) -> None:
    [failure] = failures_of(tmp_path, GOOD, BAD, {**BAD, "label": "SUPPORTED"}, {**BAD, "judge": "other"})
    assert failure.code == "duplicate_verdict"
    assert failure.message == "v.jsonl:3: 'judge' judged this claim of 'r2' before; the first verdict counts"
    summary = load(tmp_path / "run").summary
    mine = {row.judge: row for row in summary.metrics if row.metric == "mihr"}
    assert (mine["judge"].count, mine["judge"].total) == (1, 2)
    assert summary.counts.verdicts == 3


def test_a_duplicate_in_a_later_file_is_named_by_that_file(tmp_path: Path) -> None:
    first = write_lines(tmp_path / "first.jsonl", [GOOD, BAD])
    second = write_lines(tmp_path / "second.jsonl", [{"record_id": "r3"}, BAD])
    measure_to_folder([first, second], tmp_path / "run", settings=MeasureSettings())
    [failure] = load(tmp_path / "run").failures
    assert failure.message.startswith("second.jsonl:2: ")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1.3, -0.1])
@pytest.mark.parametrize("field", ["confidence", "unsupported_probability"])
def test_no_number_outside_of_zero_to_one_passes_in_any_form(tmp_path: Path, value: float, field: str) -> None:
    table = tmp_path / "v.csv"
    table.write_text(f"record_id,claim_id,label,{field}\nr1,c1,REFUTED,0.5\nr2,c1,REFUTED,{value}\n", encoding="utf-8")
    packed = tmp_path / "v.parquet"
    columns = {"record_id": ["r1", "r2"], "claim_id": ["c1", "c1"], "label": ["REFUTED"] * 2, field: [0.5, value]}
    parquet.write_table(pa.table(columns), packed)
    rows: list[Row] = [{**GOOD, "label": "REFUTED"}, {**BAD, field: value}]
    for source in (table, packed, rows):
        row = hallumeter.measure(source).metrics[0]
        assert (row.count, row.total, row.failed) == (1, 1, 1)


def test_a_distribution_with_nan_is_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "v.parquet"
    given = [[math.nan, 1.0], None]
    columns = {"record_id": ["r"] * 2, "claim_id": ["c", "d"], "label": ["REFUTED"] * 2, "probabilities": given}
    parquet.write_table(pa.table(columns), path)
    summary = hallumeter.measure(path)
    assert summary.metrics[0].failed == 1
    assert all(row.value is None for row in summary.metrics if row.metric == "shannon_entropy")


def test_an_answer_without_a_text_is_a_failure(tmp_path: Path) -> None:
    [failure] = failures_of(tmp_path, GOOD, {"record_id": "r2", "answerable": False})
    assert failure.code == "missing_field"
    assert "response: expected the text of the answer beside answerable, found none" in failure.message


def test_failures_beyond_the_limit_are_counted_without_their_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (pipeline, partial):
        monkeypatch.setattr(module, "MOST_FAILURES", 2)
    rows: list[Row] = [GOOD, *({**BAD, "claim_id": str(number), "label": "maybe"} for number in range(5))]
    summary = hallumeter.measure(rows)
    assert summary.counts.failures == 5
    assert summary.metrics[0].failed == 5
    assert "3 of these faults are counted without their messages" in summary.notices


def test_every_kind_of_fault_is_counted_in_the_notices(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "v.jsonl", [GOOD, {**BAD, "label": "maybe"}, 5, {**BAD, "claim_id": "x", "label": "?"}]
    )
    notices = hallumeter.measure(path).notices
    assert "2 rows could not be used: unknown_label" in notices
    assert "1 row could not be used: wrong_type" in notices


@pytest.mark.parametrize("bad", [{**BAD, "label": "maybe"}, {**BAD, "confidence": 2}, {"label": "REFUTED"}, [1]])
def test_a_strict_run_stops_at_the_first_fault(tmp_path: Path, bad: object) -> None:
    path = write_lines(tmp_path / "v.jsonl", [GOOD, bad, GOOD])
    with pytest.raises(RecordError, match=r"^v.jsonl:2: "):
        measure_to_folder([path], tmp_path / "run", settings=MeasureSettings(is_strict=True))
    assert [entry.name for entry in tmp_path.iterdir()] == ["v.jsonl"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([5, {"label": "REFUTED"}], "row: expected"),
        ([{**BAD, "label": "maybe"}, {**BAD, "claim_id": "c2", "label": None}], "label: expected SUPPORTED"),
        ([{**BAD, "confidence": 2}], "confidence: expected a number from 0 to 1"),
        ([{"record_id": "r", "answerable": True}], "response: expected the text"),
    ],
)
def test_nothing_left_to_measure_names_the_first_fault(tmp_path: Path, rows: list[object], said: str) -> None:
    path = write_lines(tmp_path / "v.jsonl", rows)
    with pytest.raises(InputError, match=rf"^v.jsonl: no usable record found; the first fault: v.jsonl:1: {said}"):
        measure_to_folder([path], tmp_path / "run", settings=MeasureSettings())
    assert [entry.name for entry in tmp_path.iterdir()] == ["v.jsonl"]


def test_an_answer_counts_beside_a_verdict_that_does_not(tmp_path: Path) -> None:
    row = {**BAD, "label": "maybe", "answerable": True, "response": "It is so."}
    [failure] = failures_of(tmp_path, row)
    assert failure.code == "unknown_label"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "no usable record found"),
        ([None], "rows:1: expected a mapping, a response or an object with fields, found NoneType"),
        ([GOOD, "v.jsonl"], "paths and rows are mixed"),
        ([{**GOOD, "label": 5}], "label: expected text, found a whole number"),
    ],
)
def test_rows_in_python_of_which_none_can_be_used_raise_with_what_was_expected(rows: list[object], said: str) -> None:
    with pytest.raises(HallumeterError, match=said):
        hallumeter.measure(rows)


@pytest.mark.parametrize(
    "rows", [MappingProxyType(GOOD), [MappingProxyType(GOOD)], [{**GOOD, "label": hallumeter.Label.SUPPORTED}]]
)
def test_rows_in_python_may_be_any_mapping_and_hold_labels(rows: object) -> None:
    assert hallumeter.measure(rows).counts.verdicts == 1


def test_rows_in_python_that_cannot_be_used_are_failures_unless_the_settings_are_strict() -> None:
    summary = hallumeter.measure([GOOD, 5, {**BAD, "label": 5}])
    assert (summary.counts.verdicts, summary.counts.failures) == (1, 2)
    with pytest.raises(RecordError, match=r"^rows:2: expected a mapping"):
        hallumeter.measure([GOOD, 5], settings=MeasureSettings(is_strict=True))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"similarity": 0.0}, "similarity is 0; expected a number above 0 and up to 1"),
        ({"similarity": 1.1}, "similarity is 1.1"),
        ({"similarity": math.nan}, "similarity is nan"),
        ({"confidence": 0.0}, "confidence is 0; expected a number between 0 and 1, such as 0.95"),
        ({"confidence": 1.0}, "confidence is 1;"),
        ({"confidence": math.nan}, "confidence is nan"),
        ({"resamples": 99}, "99 resamples are too few for an interval; expected 100 or more"),
        ({"seed": -1}, "seed is -1; expected a whole number from 0"),
    ],
)
def test_impossible_settings_are_refused(options: dict[str, float], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        MeasureSettings(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize("settings", [MeasureSettings(by=("color",)), MeasureSettings(cluster="color")])
def test_a_field_that_no_row_has_is_refused_with_those_found(settings: MeasureSettings) -> None:
    expected = r"no row has the field 'color'; fields found: claim_id, label, record_id"
    with pytest.raises(SettingsError, match=expected):
        hallumeter.measure([GOOD], settings=settings)


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(
    ["SUPPORTED", "REFUTED", "r1", 0.5, 1, [0.5, 0.5], [[1, 0], [0.5, 0.5]], {"SUPPORTED": 1}]
)  # fmt: skip
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=2)
)
FIELDS = ["record_id", "claim_id", "label", "judge", "model", "confidence", "unsupported_probability", "probabilities"]
FIELDS += ["inference_samples", "response", "answerable", "is_nonexistent", "text", "question_id", "task", "weight"]
fields = st.sampled_from(FIELDS)


@examples(max_examples=500, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.dictionaries(fields, anything, max_size=6), min_size=1, max_size=5))
def test_any_rows_in_python_are_measured_or_refused_by_name(rows: list[Row]) -> None:
    try:
        summary = hallumeter.measure(rows, settings=MeasureSettings(resamples=100))
    except HallumeterError as error:
        assert "\n" not in str(error)  # noqa: PT017
    else:
        assert all(row.value is None or math.isfinite(row.value) for row in summary.metrics)

"""What is printed equals a plain recount of the rows, whatever they hold and however they are ordered."""

from __future__ import annotations

import math
import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

import hallumeter
from hallumeter import MeasureSettings, MetricSummary, Summary
from verdict_rows import SPELLINGS, Row, Tally, recount, verdict_rows

QUICK = MeasureSettings(resamples=100)
DECIDED = ("SUPPORTED", "REFUTED", "NOT_ENOUGH_INFO")


def headline(summary: Summary, **by: str) -> dict[str, MetricSummary]:
    """The rows of the headline judge for the whole run, or for a group."""
    judge = summary.metrics[0].judge
    return {row.metric: row for row in summary.metrics if row.by == by and row.judge == judge}


def as_tally(rows: dict[str, MetricSummary]) -> Tally:
    mihr, mahr = rows["mihr"], rows["mahr"]
    assert (mihr.undecided, mihr.failed) == (mahr.undecided, mahr.failed)
    return Tally(
        mihr=(int(mihr.count or 0), int(mihr.total or 0)),
        mahr=(int(mahr.count or 0), int(mahr.total or 0)),
        undecided=mihr.undecided,
        failed=mihr.failed,
        mihr_bounds=mihr.bounds,
        mahr_bounds=mahr.bounds,
    )


@examples(max_examples=400)
@given(verdict_rows())
def test_counts_of_one_judge_equal_a_plain_recount(rows: list[Row]) -> None:
    summary = hallumeter.measure(rows, settings=QUICK)
    if any("claim_id" in row for row in rows):
        assert_same(as_tally(headline(summary)), recount(rows))
    assert summary.counts.records == len({row["record_id"] for row in rows})
    assert summary.counts.claims == len({(row["record_id"], row["claim_id"]) for row in rows if "claim_id" in row})


@examples(max_examples=150)
@given(verdict_rows(judges=3))
def test_counts_of_a_panel_equal_a_plain_majority_vote(rows: list[Row]) -> None:
    summary = hallumeter.measure(rows, settings=QUICK)
    if not any("claim_id" in row for row in rows):
        return
    assert_same(as_tally(headline(summary)), recount(rows))
    judges = {str(row["judge"]) for row in rows if "judge" in row}
    for judge in judges:
        mine = {row.metric: row for row in summary.metrics if not row.by and row.judge == judge}
        found, expected = as_tally(mine), recount(rows, judge)
        assert (found.mihr, found.mahr) == (expected.mihr, expected.mahr)
        assert (found.undecided, found.failed) == (expected.undecided, expected.failed)


@examples(max_examples=150)
@given(verdict_rows())
def test_counts_of_every_group_equal_a_recount_of_its_rows(rows: list[Row]) -> None:
    if not any("claim_id" in row for row in rows):
        return
    summary = hallumeter.measure(rows, by=["task"], settings=QUICK)
    assert_same(as_tally(headline(summary)), recount(rows))
    for task in {str(row["task"]) for row in rows}:
        assert_same(as_tally(headline(summary, task=task)), recount([row for row in rows if row["task"] == task]))


def assert_same(found: Tally, expected: Tally) -> None:
    assert found[:4] == expected[:4]
    for ours, theirs in zip(found[4:], expected[4:], strict=True):
        assert (ours is None) == (theirs is None)
        assert ours is None or ours == pytest.approx(theirs)


@examples(max_examples=150)
@given(verdict_rows(judges=2), st.integers(0, 2**32))
def test_the_order_of_the_rows_changes_no_value(rows: list[Row], seed: int) -> None:
    shuffled = random.Random(seed).sample(rows, len(rows))
    first, second = (values(hallumeter.measure(some, by=["task"], settings=QUICK)) for some in (rows, shuffled))
    assert first.keys() == second.keys()
    for key, number in first.items():
        assert number == pytest.approx(second[key], nan_ok=True), key


def values(summary: Summary) -> dict[object, list[float]]:
    """Every number that does not depend on chance, by metric, group and judge."""
    return {
        (row.metric, *row.by.items(), frozenset((row.judge or "").split(" & "))): [
            math.nan if number is None else number
            for number in (row.count, row.total, row.value, row.undecided, row.failed, *(row.bounds or ()))
        ]
        for row in summary.metrics
    }


@examples(max_examples=60)
@given(verdict_rows(judges=2))
def test_the_same_rows_give_the_same_summary_to_the_last_bit(rows: list[Row]) -> None:
    first, second = (msgspec.json.encode(hallumeter.measure(rows, settings=QUICK)) for _ in range(2))
    assert first == second


@examples(max_examples=60)
@given(verdict_rows(labels=DECIDED))
def test_values_stay_in_their_range_and_inside_their_intervals_and_bounds(rows: list[Row]) -> None:
    for row in hallumeter.measure(rows, by=["task"], settings=QUICK).metrics:
        if row.value is None:
            assert row.undefined
            assert row.interval is None
            continue
        assert row.undefined is None
        low, high = hallumeter.METRICS[[metric.id for metric in hallumeter.METRICS].index(row.metric)].range
        assert low - 1e-9 <= row.value <= (math.inf if high is None else high + 1e-9)
        if row.bounds:
            assert row.bounds[0] - 1e-9 <= row.value <= row.bounds[1] + 1e-9
        if row.interval:
            assert row.interval[0] <= row.interval[1]


@pytest.mark.parametrize(("spelling", "label"), SPELLINGS.items())
def test_every_spelling_of_a_label_is_understood(spelling: object, label: str) -> None:
    beside: Row = {
        "record_id": "s",
        "claim_id": "c",
        "label": "SUPPORTED",
    }  # input without a usable row is refused
    rows: list[Row] = [{"record_id": "r", "claim_id": "c", "label": spelling}, beside]
    tally = as_tally(headline(hallumeter.measure(rows)))
    assert tally.mihr == (int(label in ("REFUTED", "NOT_ENOUGH_INFO")), 1 + int(label in DECIDED))
    assert (tally.undecided, tally.failed) == (int(label == "UNDECIDED"), int(label == "FAILED"))


def test_a_worked_example_by_hand() -> None:
    """Three responses: 1 of 2 claims bad; 1 of 1 undecided; no claim. MiHR 1/2, MaHR 1/1, bounds 1/3..2/3, 1/3..3/3."""
    rows: list[Row] = [
        {"record_id": "a", "claim_id": 1, "label": "SUPPORTED"},
        {"record_id": "a", "claim_id": 2, "label": "NOT_ENOUGH_INFO"},
        {"record_id": "b", "claim_id": 1, "label": "UNDECIDED"},
        {"record_id": "c", "response": "nothing to check"},
    ]
    summary = hallumeter.measure(rows)
    assert_same(as_tally(headline(summary)), Tally((1, 2), (1, 1), 1, 0, (1 / 3, 2 / 3), (1 / 3, 1.0)))
    assert summary.counts.records_without_claims == 1
    assert (summary.counts.records, summary.counts.claims, summary.counts.verdicts) == (3, 3, 3)


def test_whole_numbers_and_texts_name_the_same_claim() -> None:
    rows: list[Row] = [
        {"record_id": 1, "claim_id": 1, "label": "REFUTED", "judge": "a"},
        {"record_id": "1", "claim_id": "1", "label": "REFUTED", "judge": "b"},
    ]
    counts = hallumeter.measure(rows, settings=QUICK).counts
    assert (counts.records, counts.claims, counts.verdicts, counts.judges) == (1, 1, 2, 2)


def test_the_same_claim_id_in_two_responses_is_two_claims() -> None:
    rows: list[Row] = [{"record_id": record, "claim_id": "c", "label": "REFUTED"} for record in "ab"]
    assert hallumeter.measure(rows).counts.claims == 2


def test_a_record_that_two_models_answered_is_two_responses() -> None:
    rows: list[Row] = [
        {"record_id": "q", "claim_id": "c", "label": label, "model": model}
        for model, label in [("a", "REFUTED"), ("b", "SUPPORTED")]
    ]
    summary = hallumeter.measure(rows, by=["model"])
    assert summary.counts.records == 2
    assert [headline(summary, model=model)["mihr"].value for model in "ab"] == [1.0, 0.0]
    assert headline(summary)["mahr"].total == 2

"""Claim metrics at their edges, and the bounds that unmeasured claims leave open."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hallumeter.catalog import METRICS_BY_ID
from hallumeter.claims.catalog import CLAIM_METRICS
from hallumeter.claims.metrics.rates import (
    length_penalty,
    macro_hallucination_rate,
    mean_hallucination_rate,
    micro_hallucination_rate,
    penalized_factual_precision,
    rate_bounds,
)
from hallumeter.records.claim import Label, Verdict
from hallumeter.records.columns import LabelCounts
from hallumeter.records.metric import Metric
from hallumeter.records.rate import Rate
from metric_inputs import label_counts

Row = tuple[int, int, int, int, int]
"""Supported, refuted, not enough info, undecided, failed."""

every_claim_metric = pytest.mark.parametrize("metric", CLAIM_METRICS, ids=lambda metric: metric.id)
few_claims = st.tuples(*[st.integers(0, 2)] * 5)
few_responses = st.lists(few_claims, max_size=4).filter(lambda rows: sum(row[3] + row[4] for row in rows) <= 6)


def pooled(metric: Metric, rows: list[Row]) -> Rate:
    rate: Rate = metric.compute(label_counts(rows)).pooled
    return rate


def bounds_of(metric: Metric, rows: list[Row]) -> tuple[float, float] | None:
    return rate_bounds(metric.compute, label_counts(rows), widened_by_claimless=metric.is_widened_by_claimless)


@pytest.mark.parametrize(
    ("metric_id", "expected"),
    [
        ("mihr", (3, 5)),
        ("mihr_refuted", (2, 5)),
        ("mihr_mean", (2 / 3 + 1 / 2, 2)),
        ("mahr", (2, 2)),
        ("factscore", (2, 5)),
        # By hand: penalties exp(1 - 10/4) for four claims (one undecided) and exp(1 - 10/3) for three (one failed).
        ("factscore_penalized", (1 / 3 * np.exp(-1.5) + 1 / 2 * np.exp(-7 / 3), 2)),
    ],
)
def test_undecided_and_failed_claims_are_in_no_count_and_no_total(
    metric_id: str, expected: tuple[float, float]
) -> None:
    rate = pooled(METRICS_BY_ID[metric_id], [(1, 1, 1, 1, 0), (1, 1, 0, 0, 1), (0, 0, 0, 0, 0), (0, 0, 0, 2, 1)])
    assert [rate.count, rate.total] == pytest.approx(expected)


@every_claim_metric
def test_one_supported_claim_is_no_hallucination(metric: Metric) -> None:
    value = pooled(metric, [(1, 0, 0, 0, 0)]).value
    by_metric = {"factscore": 1.0, "factscore_penalized": pytest.approx(np.exp(-9))}
    assert value == by_metric.get(metric.id, 0.0)


@every_claim_metric
def test_one_refuted_claim_is_nothing_but_hallucination(metric: Metric) -> None:
    assert pooled(metric, [(0, 1, 0, 0, 0)]).value == (0.0 if metric.id.startswith("factscore") else 1.0)


@every_claim_metric
def test_silent_evidence_counts_as_unsupported_but_not_as_refuted(metric: Metric) -> None:
    is_none = metric.id.startswith("factscore") or metric.id == "mihr_refuted"
    assert pooled(metric, [(0, 0, 1, 0, 0)]).value == (0.0 if is_none else 1.0)


@every_claim_metric
def test_a_response_without_claims_changes_no_value(metric: Metric) -> None:
    rows: list[Row] = [(2, 1, 0, 0, 0), (1, 0, 3, 1, 0)]
    assert pooled(metric, [*rows, (0, 0, 0, 0, 0)]) == pooled(metric, rows)


@every_claim_metric
def test_verdicts_and_their_counts_give_the_same_rates(metric: Metric) -> None:
    labels = [("r1", Label.SUPPORTED), ("r2", Label.UNDECIDED), ("r1", Label.REFUTED), ("r2", Label.NOT_ENOUGH_INFO)]
    verdicts = [Verdict(record, f"c{number}", "human", label) for number, (record, label) in enumerate(labels)]
    from_verdicts, from_counts = metric.compute(iter(verdicts)), metric.compute(LabelCounts.of(verdicts))
    assert from_verdicts.counts.tolist() == from_counts.counts.tolist()
    assert from_verdicts.totals.tolist() == from_counts.totals.tolist() == metric.compute(verdicts).totals.tolist()


@given(few_responses)
def test_factual_precision_is_what_the_micro_rate_leaves(rows: list[Row]) -> None:
    precision, rate = pooled(METRICS_BY_ID["factscore"], rows), pooled(METRICS_BY_ID["mihr"], rows)
    assert precision.total == rate.total
    assert precision.count + rate.count == rate.total


def assignments(row: Row, *, is_claimless_open: bool) -> Iterator[tuple[int, int, int]]:
    """Every way in which the unmeasured claims of a response could have been labelled."""
    supported, refuted, silent, undecided, failed = row
    if sum(row) == 0 and is_claimless_open:
        yield from ((1, 0, 0), (0, 1, 0))
        return
    for labels in combinations_with_replacement(range(3), undecided + failed):
        yield supported + labels.count(0), refuted + labels.count(1), silent + labels.count(2)


@every_claim_metric
@settings(max_examples=60)
@given(rows=few_responses)
def test_bounds_are_the_extremes_over_all_ways_to_label_what_is_unmeasured(metric: Metric, rows: list[Row]) -> None:
    ways = product(*(assignments(row, is_claimless_open=metric.is_widened_by_claimless) for row in rows))
    possible = [pooled(metric, [(*labels, 0, 0) for labels in way]).value for way in ways]
    found = bounds_of(metric, rows)
    if found is None:
        assert possible == [None]
        return
    values = [value for value in possible if value is not None]
    assert len(values) == len(possible)
    measured = pooled(metric, rows).value
    if measured is not None:
        # A length penalty keeps a wholly unmeasured response below any share that the measured mean, without it, has.
        values.append(measured)
    assert found == pytest.approx((min(values), max(values)), abs=1e-12)


@every_claim_metric
@settings(max_examples=60)
@given(rows=st.lists(st.tuples(*[st.integers(0, 5)] * 5), max_size=6))
def test_bounds_contain_the_value(metric: Metric, rows: list[Row]) -> None:
    if metric.id == "factscore_penalized":
        # A short response of which nothing is decided is in the bounds with its penalty, but not in the value.
        rows = [row for row in rows if sum(row[:3]) or not sum(row)]
    value, found = pooled(metric, rows).value, bounds_of(metric, rows)
    if value is not None:
        assert found is not None
        assert 0 <= found[0] <= value + 1e-12
        assert value - 1e-12 <= found[1] <= 1 + 1e-12


@every_claim_metric
def test_bounds_close_on_the_value_when_everything_is_measured(metric: Metric) -> None:
    rows: list[Row] = [(2, 1, 0, 0, 0), (1, 0, 3, 0, 0)]
    value = pooled(metric, rows).value
    assert bounds_of(metric, rows) == (value, value)


@every_claim_metric
def test_bounds_are_undefined_without_any_claim_unless_the_metric_counts_responses(metric: Metric) -> None:
    assert bounds_of(metric, []) is None
    assert bounds_of(metric, [(0, 0, 0, 0, 0)]) == ((0.0, 1.0) if metric.is_widened_by_claimless else None)


@every_claim_metric
def test_bounds_are_wide_open_when_nothing_is_decided(metric: Metric) -> None:
    high = float(np.exp(-4)) if metric.id == "factscore_penalized" else 1.0
    assert bounds_of(metric, [(0, 0, 0, 1, 1)]) == pytest.approx((0.0, high))


def test_bounds_of_the_micro_rate_by_hand() -> None:
    # One of three decided claims unsupported, two unmeasured: from 1 / 5 to 3 / 5.
    counts = label_counts([(2, 1, 0, 1, 1)])
    assert rate_bounds(micro_hallucination_rate, counts, widened_by_claimless=False) == (0.2, 0.6)


def test_bounds_of_the_macro_rate_by_hand() -> None:
    # Clean, hallucinating, clean but for one undecided claim, without claims: from 1 / 4 to 3 / 4.
    counts = label_counts([(1, 0, 0, 0, 0), (0, 1, 0, 0, 0), (1, 0, 0, 1, 0), (0, 0, 0, 0, 0)])
    assert macro_hallucination_rate(counts).value == pytest.approx(1 / 3)
    assert rate_bounds(macro_hallucination_rate, counts, widened_by_claimless=True) == (0.25, 0.75)
    narrow = rate_bounds(macro_hallucination_rate, counts, widened_by_claimless=False)
    assert narrow == pytest.approx((1 / 3, 2 / 3))


def test_bounds_of_the_mean_rate_by_hand() -> None:
    # Shares 1/2 and between 0/2 and 1/2: from 0.25 to 0.5.
    counts = label_counts([(1, 1, 0, 0, 0), (1, 0, 0, 1, 0)])
    assert rate_bounds(mean_hallucination_rate, counts, widened_by_claimless=True) == (0.25, 0.5)


def test_the_length_penalty_grows_with_the_claims_and_is_off_at_gamma_zero() -> None:
    claims = np.arange(1, 30)
    penalties = length_penalty(claims)
    assert (np.diff(penalties[:10]) > 0).all()
    assert (penalties[9:] == 1).all()
    assert (length_penalty(claims, gamma=0) == 1).all()
    assert length_penalty(np.array([], dtype=np.int64)).tolist() == []


def test_a_response_without_claims_is_an_abstention_for_factscore() -> None:
    rates = penalized_factual_precision(label_counts([(0, 0, 0, 0, 0), (12, 0, 0, 0, 0)]))
    assert rates.counts.tolist() == [0.0, 1.0]
    assert rates.totals.tolist() == [0.0, 1.0]

"""What all metrics of the catalog have in common, on inputs drawn at random."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hallumeter.aspects.records.blame import BlameColumns
from hallumeter.aspects.records.columns import AspectColumns, CaseColumns
from hallumeter.catalog import METRICS, METRICS_BY_ID
from hallumeter.claims.metrics.samples import MeaningColumns, TokenColumns
from hallumeter.dialogue.records import TurnColumns
from hallumeter.records.columns import Answers, LabelCounts, ProbabilitySums, Ratings, UncertaintySums
from hallumeter.records.metric import Metric
from hallumeter.records.rate import Rates
from hallumeter.transcripts.records import PageColumns
from metric_inputs import (
    ASKED_JUDGES,
    EMPTY,
    INPUTS,
    Columns,
    Values,
    arrays_of,
    label_counts,
    ratings,
    rearranged,
    values_of,
)

EXAMPLES = settings(max_examples=20)
"""For each of more than a hundred metrics, which share about ten kinds of input."""
POOLABLE = [metric for metric in METRICS if metric.is_poolable]
RESAMPLED = [metric for metric in METRICS if metric.resample is not None]
ROWS = (
    *(LabelCounts, UncertaintySums, ProbabilitySums, Answers, PageColumns, MeaningColumns, TokenColumns, TurnColumns),
    *(AspectColumns, CaseColumns, BlameColumns),
)
"""Columns with one row per response, from which rates are made."""

every_metric = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.id)
every_poolable_metric = pytest.mark.parametrize("metric", POOLABLE, ids=lambda metric: metric.id)
every_resampled_metric = pytest.mark.parametrize("metric", RESAMPLED, ids=lambda metric: metric.id)


def drawn_input(data: st.DataObject, metric: Metric) -> Columns:
    return data.draw(INPUTS[metric.reads], label=metric.reads)


def assert_same(found: Values, expected: Values) -> None:
    assert [value is None for value in found] == [value is None for value in expected]
    for one, other in zip(found, expected, strict=True):
        if one is not None and other is not None:
            assert math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)


@every_metric
@EXAMPLES
@given(st.data())
def test_the_order_of_the_input_does_not_matter(metric: Metric, data: st.DataObject) -> None:
    columns = drawn_input(data, metric)
    order = np.random.default_rng(data.draw(st.integers(0, 2**32), label="order"))
    assert_same(values_of(metric, rearranged(columns, order)), values_of(metric, columns))


@every_metric
@EXAMPLES
@given(st.data())
def test_a_value_is_undefined_or_a_number_within_the_range(metric: Metric, data: st.DataObject) -> None:
    low, high = metric.range
    for value in values_of(metric, drawn_input(data, metric)):
        if value is not None:
            assert low <= value <= (math.inf if high is None else high)
            assert math.isfinite(value)


@every_metric
@EXAMPLES
@given(st.data())
def test_the_input_is_not_changed(metric: Metric, data: st.DataObject) -> None:
    columns = drawn_input(data, metric)
    before = arrays_of(columns)
    values_of(metric, columns)
    for old, new in zip(before, arrays_of(columns), strict=True):
        np.testing.assert_array_equal(old, new, strict=True)


@every_metric
def test_nothing_to_count_is_undefined(metric: Metric) -> None:
    values = values_of(metric, EMPTY[metric.reads])
    assert values
    assert all(value is None for value in values)


@every_poolable_metric
@EXAMPLES
@given(st.data())
def test_two_halves_pooled_equal_the_whole(metric: Metric, data: st.DataObject) -> None:
    columns = drawn_input(data, metric)
    assert isinstance(columns, ROWS)
    cut = data.draw(st.integers(0, len(columns)), label="cut")
    halves = metric.compute(columns[:cut]).pooled + metric.compute(columns[cut:]).pooled
    whole = metric.compute(columns).pooled
    assert halves.total == whole.total
    assert halves.count == pytest.approx(whole.count, rel=1e-12, abs=1e-12)


@every_poolable_metric
@EXAMPLES
@given(st.data())
def test_a_poolable_metric_gives_one_rate_per_response(metric: Metric, data: st.DataObject) -> None:
    columns = drawn_input(data, metric)
    rates = metric.compute(columns)
    assert isinstance(rates, Rates)
    assert isinstance(columns, ROWS)
    assert len(rates) == len(rates.totals) == len(columns)
    assert (rates.totals >= 0).all()
    assert not rates.counts[rates.totals == 0].any()


@every_resampled_metric
@EXAMPLES
@given(st.data())
def test_many_resamples_at_once_give_what_one_at_a_time_gives(metric: Metric, data: st.DataObject) -> None:
    columns = drawn_input(data, metric)
    assert isinstance(columns, (Ratings, PageColumns))
    width = len(columns.patterns) if isinstance(columns, Ratings) else len(columns)
    weights = data.draw(st.lists(st.lists(st.integers(0, 3), min_size=width, max_size=width), min_size=1, max_size=4))
    pair = {name: column for column, name in enumerate(ASKED_JUDGES.get(metric.id, ()))}
    assert metric.resample is not None
    found = metric.resample(columns, np.array(weights, dtype=np.float64), **pair)
    single = [one_resample(metric, columns, row, pair) for row in weights]
    assert_same(tuple(None if math.isnan(value) else float(value) for value in found), tuple(single))


def one_resample(
    metric: Metric, columns: Ratings | PageColumns, weights: list[int], pair: dict[str, int]
) -> float | None:
    """The statistic of claims or pages written down as often as they were drawn."""
    if isinstance(columns, PageColumns):
        value: float | None = metric.compute(columns[np.repeat(np.arange(len(columns)), weights)])
    else:
        value = metric.compute(Ratings(columns.patterns, np.array(weights), columns.judges), **pair).value
    return value


@pytest.mark.parametrize("metric", [row for row in METRICS if row.reads == "labels"], ids=lambda metric: metric.id)
@pytest.mark.parametrize("row", [(0, 0, 0, 0, 0), (0, 0, 0, 4, 0), (0, 0, 0, 0, 3), (0, 0, 0, 2, 2)])
def test_responses_with_nothing_decided_leave_a_claim_metric_undefined(
    metric: Metric, row: tuple[int, int, int, int, int]
) -> None:
    assert values_of(metric, label_counts([row, row])) == (None,)


@pytest.mark.parametrize("metric", [row for row in METRICS if row.reads == "ratings"], ids=lambda metric: metric.id)
def test_votes_that_nobody_gave_leave_agreement_undefined(metric: Metric) -> None:
    values = values_of(metric, ratings([(-1, -1, -1), (-1, -1, -1)]))
    assert values
    assert all(value is None for value in values)


def test_ids_are_unique_and_in_snake_case() -> None:
    ids = [metric.id for metric in METRICS]
    assert len(set(ids)) == len(ids) == len(METRICS_BY_ID)
    assert all(re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name) for name in ids)
    assert all(METRICS_BY_ID[metric.id] is metric for metric in METRICS)


def test_aliases_and_names_tell_metrics_apart() -> None:
    for field in ("alias", "name", "question", "formula"):
        assert len({getattr(metric, field) for metric in METRICS}) == len(METRICS), field


@every_metric
def test_every_metric_is_explained(metric: Metric) -> None:
    for field in ("alias", "name", "undefined_when", "question", "formula", "example", "caution", "source"):
        text = getattr(metric, field)
        assert text.strip() == text
        assert len(text) > 1, field
    assert metric.question.endswith("?")
    assert any(character.isdigit() for character in metric.example), "an example is a calculation"


@every_metric
def test_ranges_and_intervals_fit_the_kind_of_metric(metric: Metric) -> None:
    low, high = metric.range
    assert high is None or low < high
    neither = ("length_ratio", "apology_page_rate", "note_page_rate")
    assert metric.direction != "none" or metric.id.startswith(neither) or metric.reads == "aspects"
    assert metric.direction in ("lower", "higher", "none")
    assert (metric.interval == "pattern_bootstrap") == (metric.resample is not None)
    assert (metric.interval == "wilson") <= metric.is_poolable <= (metric.interval in ("wilson", "cluster_bootstrap"))
    assert not metric.is_widened_by_claimless or metric.reads == "labels"
    assert len({name for name, _ in metric.settings}) == len(metric.settings)

"""Summaries: which interval a number gets, what its signature states, and on what it does not depend."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from msgspec import structs
from numpy.typing import NDArray

from hallumeter.catalog import METRICS, METRICS_BY_ID
from hallumeter.claims.metrics.rates import macro_hallucination_rate, micro_hallucination_rate
from hallumeter.errors import SettingsError
from hallumeter.records.columns import LabelCounts, Ratings
from hallumeter.records.measurement import MetricSummary
from hallumeter.records.rate import Rates
from hallumeter.stats.bootstrap import cluster_bootstrap_interval
from hallumeter.stats.intervals import wilson_interval
from hallumeter.stats.summarize import (
    Slice,
    SummarySettings,
    _generator,
    check_interval_settings,
    summarize_agreement,
    summarize_clusters,
    summarize_pages,
    summarize_rates,
    summarize_value,
)
from hallumeter.transcripts.records import PageColumns, PageCounts

SETTINGS = SummarySettings(version="0.1.0", resamples=200)
WHOLE = Slice({}, "human")
MIHR, MAHR, KAPPA = METRICS_BY_ID["mihr"], METRICS_BY_ID["mahr"], METRICS_BY_ID["fleiss_kappa"]
COUNTS = LabelCounts(np.array([[3, 1, 0, 1, 0], [2, 0, 0, 0, 0], [1, 2, 1, 0, 2], [4, 0, 1, 0, 0], [2, 2, 0, 0, 0]]))
PANEL = Ratings(
    np.array([[0, 0, 0], [1, 1, 1], [0, 1, 1], [0, 0, 2]], dtype=np.int8),
    np.array([20, 12, 5, 3]),
    ("x", "y", "z"),
)


def mihr_row(part: Slice = WHOLE, **changes: Any) -> MetricSummary:
    return summarize_rates(MIHR, micro_hallucination_rate(COUNTS), part, settings=structs.replace(SETTINGS, **changes))


def mahr_row(part: Slice = WHOLE, **changes: Any) -> MetricSummary:
    return summarize_rates(MAHR, macro_hallucination_rate(COUNTS), part, settings=structs.replace(SETTINGS, **changes))


def kappa_row(part: Slice = WHOLE, **changes: Any) -> MetricSummary:
    return summarize_agreement(KAPPA, PANEL, part, settings=structs.replace(SETTINGS, **changes))


def test_a_row_holds_the_counts_the_value_and_the_part_it_speaks_of() -> None:
    part = Slice({"model": "m"}, "human", undecided=1, failed=2)
    row = mihr_row(part)
    assert (row.metric, row.by, row.judge, row.direction) == ("mihr", {"model": "m"}, "human", "lower")
    assert (row.count, row.total, row.value) == (7.0, 19.0, 7 / 19)
    assert (row.undecided, row.failed, row.undefined, row.note) == (1, 2, None, None)


def test_a_metric_of_claims_gets_a_bootstrap_over_responses() -> None:
    row = mihr_row()
    assert row.interval_method == "cluster_bootstrap"
    assert row.interval is not None
    assert row.value is not None
    assert 0 < row.interval[0] < row.value < row.interval[1] < 1


def test_a_metric_of_responses_gets_wilsons_interval() -> None:
    expected = wilson_interval(4, 5, confidence=0.95)
    assert expected is not None
    row = mahr_row()
    assert row.interval == (expected.low, expected.high)
    assert row.interval_method == "wilson"


def test_responses_within_documents_are_resampled_by_document() -> None:
    row = mahr_row(cluster="document")
    assert row.interval_method == "cluster_bootstrap"


@pytest.mark.parametrize("metric", [metric for metric in METRICS if metric.is_poolable], ids=lambda metric: metric.id)
@pytest.mark.parametrize("cluster", ["response", "document"])
def test_every_poolable_metric_gets_the_interval_that_its_row_in_the_catalog_names(metric: Any, cluster: str) -> None:
    rates = Rates(np.array([0.0, 1, 1, 0, 1]), np.ones(5))
    row = summarize_rates(metric, rates, WHOLE, settings=structs.replace(SETTINGS, cluster=cluster))
    is_wilson = metric.interval == "wilson" and cluster == "response"
    assert row.interval_method == ("wilson" if is_wilson else "cluster_bootstrap")


@pytest.mark.parametrize(
    ("counts", "method"),
    [([0, 0, 0], "wilson_by_cluster"), ([1], None)],
    ids=["all the same", "one response"],
)
def test_intervals_are_honest_where_resampling_would_be_certain(counts: list[int], method: str | None) -> None:
    rates = Rates(np.array(counts, dtype=np.float64), np.full(len(counts), 2.0))
    row = summarize_rates(MIHR, rates, WHOLE, settings=SETTINGS)
    assert row.interval_method == method
    assert (row.interval is None) == (method is None)
    assert "seed:" not in row.signature


def test_more_confidence_widens_the_interval() -> None:
    for narrow, wide in ((mihr_row(confidence=0.5), mihr_row()), (mahr_row(confidence=0.5), mahr_row())):
        assert narrow.interval is not None
        assert wide.interval is not None
        assert wide.interval[0] < narrow.interval[0] < narrow.interval[1] < wide.interval[1]


def test_nothing_to_count_is_undefined_with_the_reason_of_the_catalog() -> None:
    empty = Rates(np.zeros(2), np.zeros(2))
    row = summarize_rates(MIHR, empty, WHOLE, settings=SETTINGS, bounds=(0.0, 1.0))
    assert (row.value, row.interval, row.interval_method) == (None, None, None)
    assert (row.count, row.total) == (0.0, 0.0)
    assert row.undefined == "no claim is decided"
    assert row.bounds == (0.0, 1.0)
    assert row.signature == "mihr|judge:human|nei:unsupported|v:0.1.0"


def test_a_reason_that_is_given_replaces_that_of_the_catalog() -> None:
    empty = Rates(np.zeros(0), np.zeros(0))
    assert summarize_rates(MIHR, empty, WHOLE, settings=SETTINGS).bounds is None
    assert summarize_value(MIHR, None, WHOLE, settings=SETTINGS, undefined="no models").undefined == "no models"


def test_a_reason_is_never_beside_a_value() -> None:
    assert summarize_value(MIHR, 0.5, WHOLE, settings=SETTINGS, undefined="no file").undefined is None


def test_an_interval_stays_within_the_largest_possible_value() -> None:
    metric = METRICS_BY_ID["shannon_entropy"]
    most = float(np.log(3))
    rates = Rates(np.array([0.0, 0.0, 0.0, most]), np.ones(4))
    row = summarize_rates(metric, rates, WHOLE, settings=SETTINGS, largest=most)
    assert row.interval is not None
    assert 0 < row.interval[0] < most / 4 < row.interval[1] < most


@pytest.mark.parametrize(
    ("name", "most"), [("cer", math.inf), ("length_ratio", math.inf), ("length_ratio_mean", 9.99), ("mer", 1.0)]
)
def test_an_interval_may_go_as_far_as_the_catalog_says(name: str, most: float) -> None:
    # The counts stay below their totals by chance: a length ratio of 0.98 may well be 1.01 on other pages.
    rates = Rates(np.array([0.99, 1.0, 0.97, 0.9]), np.ones(4))
    row = summarize_rates(METRICS_BY_ID[name], rates, WHOLE, settings=SETTINGS)
    assert row.interval is not None
    assert row.interval[0] < 0.965 < row.interval[1] < most
    assert (row.interval[1] > 1) == (most > 1)


def test_pages_that_are_all_as_long_as_they_should_be_leave_room_on_both_sides() -> None:
    alike = Rates(np.ones(10), np.ones(10))
    row = summarize_rates(METRICS_BY_ID["length_ratio_mean"], alike, WHOLE, settings=SETTINGS)
    assert row.interval is not None
    assert row.interval[0] < 1 < row.interval[1] < 9.99
    assert row.interval_method == "wilson_by_cluster"
    assert summarize_rates(METRICS_BY_ID["length_ratio"], alike, WHOLE, settings=SETTINGS).interval is None


def page(hits: int, on_page: int, written: int) -> PageCounts:
    return PageCounts(
        reference_words=on_page,
        response_words=written,
        unknown_words=written - hits,
        anchored_ngrams=0,
        ngrams=0,
        anchor_score=0.0,
        reference_characters=on_page,
        response_characters=written,
        length_ratio=written / max(on_page, 1),
        picarones_badge=False,
        word_hits=hits,
        strict_reference_words=on_page,
        strict_response_words=written,
    )


def test_a_figure_made_from_sums_over_pages_is_resampled_by_page() -> None:
    metric = METRICS_BY_ID["wil"]
    pages = PageColumns.of([page(8, 10, 9), page(10, 10, 10), page(2, 10, 30), page(9, 10, 10), page(5, 8, 6)])
    row = summarize_pages(metric, pages, Slice({"engine": "x"}, None), settings=SETTINGS)
    assert row.value == pytest.approx(1 - 34 / 48 * 34 / 65)
    assert row.value is not None
    assert row.interval is not None
    assert 0 <= row.interval[0] < row.value < row.interval[1] <= 1
    assert (row.interval_method, row.by, row.direction) == ("item_bootstrap", {"engine": "x"}, "lower")
    assert (row.count, row.total, row.undefined) == (None, None, None)
    assert row.signature == "wil|ci:item-bootstrap-200|confidence:0.95|seed:0|v:0.1.0"
    again = summarize_pages(metric, pages, Slice({"engine": "x"}, None), settings=structs.replace(SETTINGS, seed=1))
    assert (again.value, again.interval == row.interval) == (row.value, False)


def test_a_figure_of_pages_without_a_value_or_of_one_page_has_no_interval() -> None:
    metric = METRICS_BY_ID["wil"]
    row = summarize_pages(metric, PageColumns.of([page(0, 0, 0)] * 3), WHOLE, settings=SETTINGS)
    assert (row.value, row.interval, row.undefined) == (None, None, metric.undefined_when)
    alone = summarize_pages(metric, PageColumns.of([page(3, 4, 4)]), WHOLE, settings=SETTINGS)
    assert alone.value == pytest.approx(1 - 9 / 16)
    assert alone.interval is None


def test_a_figure_of_pages_that_cannot_be_resampled_has_no_interval() -> None:
    row = summarize_pages(METRICS_BY_ID["anchor_min"], PageColumns.of([page(1, 1, 1)] * 3), WHOLE, settings=SETTINGS)
    assert (row.value, row.interval, row.interval_method) == (0.0, None, None)


def test_settings_with_which_intervals_can_be_made_pass() -> None:
    check_interval_settings(confidence=0.5, resamples=100, seed=0)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"confidence": 95}, "confidence is 95; expected a number between 0 and 1"),
        ({"confidence": 0}, "confidence is 0;"),
        ({"confidence": 1}, "confidence is 1;"),
        ({"confidence": math.nan}, "confidence is nan;"),
        ({"resamples": 99}, "99 resamples are too few"),
        ({"seed": -1}, "seed is -1; expected a whole number from 0"),
    ],
    ids=str,
)
def test_settings_with_which_no_interval_can_be_made_are_refused(change: dict[str, Any], fault: str) -> None:
    with pytest.raises(SettingsError, match=fault):
        check_interval_settings(**{"confidence": 0.95, "resamples": 100, "seed": 0, **change})


def test_bounds_close_on_the_value_unless_they_are_given() -> None:
    row = mihr_row()
    assert row.bounds == (row.value, row.value)
    wide = summarize_rates(MIHR, micro_hallucination_rate(COUNTS), WHOLE, settings=SETTINGS, bounds=(0.2, 0.7))
    assert wide.bounds == (0.2, 0.7)


def test_a_single_figure_has_no_interval_and_the_counts_it_is_given() -> None:
    metric = METRICS_BY_ID["consensus_precision"]
    row = summarize_value(metric, 2 / 3, Slice({"model": "a"}, None), settings=SETTINGS, counts=(2.0, 3.0))
    assert (row.count, row.total, row.value, row.interval, row.bounds) == (2.0, 3.0, 2 / 3, None, None)
    assert row.signature == "consensus_precision|share:0.5|identity:normalized-text|v:0.1.0"
    bare = summarize_value(metric, 0.5, Slice({}, None), settings=SETTINGS)
    assert (bare.count, bare.total) == (None, None)


def ratio_of_columns(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):
        ratio: NDArray[np.float64] = rows[:, 0] / rows[:, 1]
    return ratio


def test_a_statistic_of_counts_that_add_up_is_resampled_by_whole_clusters() -> None:
    metric = METRICS_BY_ID["consensus_f1"]
    clusters = np.array([[1, 4], [3, 4], [2, 5], [0, 3], [4, 4]])
    row = summarize_clusters(metric, clusters, Slice({}, None), settings=SETTINGS, statistic=ratio_of_columns)
    assert row.value == 10 / 20
    assert row.interval is not None
    assert 0 <= row.interval[0] < 0.5 < row.interval[1] <= 1
    assert row.interval_method == "cluster_bootstrap"
    assert (row.count, row.total, row.undefined) == (None, None, None)
    assert row.signature.endswith("|ci:cluster-bootstrap-200|confidence:0.95|cluster:question|seed:0|v:0.1.0")
    other = structs.replace(SETTINGS, seed=1)
    again = summarize_clusters(metric, clusters, Slice({}, None), settings=other, statistic=ratio_of_columns)
    assert (again.value, again.interval == row.interval) == (row.value, False)


def test_a_statistic_of_counts_without_a_value_is_undefined_with_the_reason_of_the_catalog() -> None:
    metric = METRICS_BY_ID["consensus_f1"]
    nothing = np.zeros((3, 2), dtype=np.int64)
    row = summarize_clusters(metric, nothing, Slice({}, None), settings=SETTINGS, statistic=ratio_of_columns)
    assert (row.value, row.interval, row.undefined) == (None, None, metric.undefined_when)


def test_agreement_gets_a_bootstrap_over_claims_or_over_responses() -> None:
    alone = kappa_row()
    assert alone.interval_method == "item_bootstrap"
    clusters = np.array([[10, 0, 1, 1], [10, 0, 1, 0], [0, 6, 2, 1], [0, 6, 1, 1]])
    nested = summarize_agreement(KAPPA, structs.replace(PANEL, clusters=clusters), WHOLE, settings=SETTINGS)
    assert nested.interval_method == "cluster_bootstrap"
    assert alone.value == nested.value
    assert (alone.count, alone.total) == (None, 40.0)
    for row in (alone, nested):
        assert row.interval is not None
        assert row.value is not None
        assert -1 <= row.interval[0] < row.value < row.interval[1] <= 1


def test_agreement_of_two_judges_names_them_by_their_columns() -> None:
    metric = METRICS_BY_ID["cohen_kappa"]
    row = summarize_agreement(metric, PANEL, Slice({}, "x & z"), settings=SETTINGS, judges={"first": 0, "second": 2})
    assert row.value == metric.compute(PANEL, 0, 2).value
    assert row.interval is not None
    assert row.signature.startswith(
        "cohen_kappa|judge:x-&-z|claims:decided-by-both|categories:3|ci:item-bootstrap-200|"
    )


def test_undefined_agreement_says_why() -> None:
    unanimous = Ratings(np.zeros((1, 3), dtype=np.int8), np.array([9]), ("x", "y", "z"))
    row = summarize_agreement(KAPPA, unanimous, WHOLE, settings=SETTINGS)
    assert (row.value, row.interval, row.total) == (None, None, 9.0)
    assert row.undefined == "every rating falls in one category, so agreement by chance is already total"


def test_signatures_state_everything_that_the_number_depends_on() -> None:
    assert mihr_row().signature == (
        "mihr|judge:human|nei:unsupported|ci:cluster-bootstrap-200|confidence:0.95|seed:0|v:0.1.0"
    )
    assert mahr_row().signature == "mahr|judge:human|nei:unsupported|ci:wilson|confidence:0.95|v:0.1.0"
    assert kappa_row().signature == (
        "fleiss_kappa|judge:human|claims:rated-by-all|categories:3|ci:item-bootstrap-200|confidence:0.95|seed:0|v:0.1.0"
    )
    assert mihr_row(cluster="document").signature == (
        "mihr|judge:human|nei:unsupported|ci:cluster-bootstrap-200|confidence:0.95|cluster:document|seed:0|v:0.1.0"
    )


@pytest.mark.parametrize("change", [{"seed": 1}, {"resamples": 300}], ids=["seed", "resamples"])
def test_what_concerns_random_numbers_is_in_the_signature_only_where_they_are_drawn(change: dict[str, Any]) -> None:
    for resampled in (mihr_row, kappa_row):
        assert resampled(**change).signature != resampled().signature
        assert resampled(**change).interval != resampled().interval
        assert resampled(**change).value == resampled().value
    assert mahr_row(**change) == mahr_row()
    figure = summarize_value(MIHR, 0.5, WHOLE, settings=SETTINGS)
    assert summarize_value(MIHR, 0.5, WHOLE, settings=structs.replace(SETTINGS, **change)) == figure


@pytest.mark.parametrize("change", [{"confidence": 0.9}, {"version": "0.2.0"}], ids=["confidence", "version"])
def test_confidence_and_version_are_in_every_signature_with_an_interval(change: dict[str, Any]) -> None:
    for summarized in (mihr_row, mahr_row, kappa_row):
        assert summarized(**change).signature != summarized().signature
    undefined = Rates(np.zeros(1), np.zeros(1))
    rows = [
        summarize_rates(MIHR, undefined, WHOLE, settings=structs.replace(SETTINGS, **settings))
        for settings in ({}, change)
    ]
    assert (rows[0].signature == rows[1].signature) == ("confidence" in change)


def test_the_judge_and_the_settings_of_the_metric_are_in_the_signature() -> None:
    assert mihr_row(Slice({}, "openai:m@1")).signature.startswith("mihr|judge:openai-m-1|")
    other = structs.replace(MIHR, settings=(("nei", "not-counted"),))
    row = summarize_rates(other, micro_hallucination_rate(COUNTS), WHOLE, settings=SETTINGS)
    assert row.signature != mihr_row().signature


def test_counts_that_are_not_part_of_the_number_are_not_in_the_signature() -> None:
    assert mihr_row(Slice({}, "human", undecided=9, failed=9)).signature == mihr_row().signature
    assert mihr_row(Slice({"model": "m"}, "human")).signature == mihr_row().signature


def test_a_number_does_not_depend_on_which_others_are_computed() -> None:
    first = mihr_row()
    others = [kappa_row(), mahr_row(), mihr_row(Slice({"model": "m"}, "human")), mihr_row(seed=5)]
    assert mihr_row() == first
    assert first not in others


def test_the_name_of_a_judge_or_a_group_moves_no_interval() -> None:
    parts = [WHOLE, Slice({}, "other"), Slice({}, None), Slice({"model": "m"}, "human"), Slice({"task": "n"}, "human")]
    assert len({mihr_row(part).interval for part in parts}) == 1


def test_every_metric_draws_its_own_random_numbers() -> None:
    rates = micro_hallucination_rate(COUNTS)
    same_rates = summarize_rates(METRICS_BY_ID["mihr_refuted"], rates, WHOLE, settings=SETTINGS)
    assert same_rates.interval != mihr_row(WHOLE).interval


def test_other_counts_draw_other_random_numbers_and_their_order_does_not_matter() -> None:
    drawn = {
        float(_generator(METRICS_BY_ID["mihr"], SETTINGS, np.array(counted)).random())
        for counted in ([1, 2, 3], [1, 2, 4], [[1, 2, 3]], [1.5], [0.0], [0.0, 0.0])
    }
    assert len(drawn) == 6
    rates = micro_hallucination_rate(COUNTS)
    backwards = summarize_rates(METRICS_BY_ID["mihr"], rates[::-1], WHOLE, settings=SETTINGS)
    assert backwards.interval == mihr_row(WHOLE).interval


def test_an_interval_is_what_the_statistics_give_for_any_seed() -> None:
    # The bootstrap's standard error varies by about 1 / sqrt(2 * resamples) between seeds, so that the ends agree.
    rates = micro_hallucination_rate(COUNTS)
    reference = cluster_bootstrap_interval(
        rates.counts, rates.totals, rng=np.random.default_rng(12345), resamples=20_000
    )
    assert reference is not None
    found = mihr_row(resamples=20_000).interval
    assert found is not None
    assert math.dist(found, (reference.low, reference.high)) < 0.02

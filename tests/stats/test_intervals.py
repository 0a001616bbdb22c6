"""Intervals of one rate, against scipy and statsmodels."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.proportion import proportion_confint

from hallumeter.stats.intervals import (
    Interval,
    beta_quantile,
    clopper_pearson_interval,
    normal_quantile,
    regularized_incomplete_beta,
    student_quantile,
    wilson_interval,
)

confidences = st.floats(0.5, 0.999)
part_and_total = st.integers(1, 10_000).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total)))


def wilson(count: float, total: float, confidence: float = 0.95) -> Interval:
    interval = wilson_interval(count, total, confidence=confidence)
    assert interval is not None
    return interval


def clopper_pearson(count: int, total: int, confidence: float = 0.95) -> Interval:
    interval = clopper_pearson_interval(count, total, confidence=confidence)
    assert interval is not None
    return interval


@pytest.mark.parametrize(
    ("count", "total"), [(0, 1), (1, 1), (0, 20), (3, 20), (20, 20), (7, 1000), (3 * 10**6, 10**7)]
)
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_wilson_agrees_with_statsmodels(count: int, total: int, confidence: float) -> None:
    low, high = proportion_confint(count, total, alpha=1 - confidence, method="wilson")
    interval = wilson(count, total, confidence)
    assert interval.low == pytest.approx(low, rel=1e-12, abs=1e-16)
    assert interval.high == pytest.approx(high, rel=1e-12)
    assert interval.method == "wilson"


def test_wilson_takes_fractions_of_counts_between_those_of_whole_counts() -> None:
    below, between, above = wilson(2, 10), wilson(2.5, 10), wilson(3, 10)
    assert below.low < between.low < above.low
    assert below.high < between.high < above.high


def test_wilson_of_none_and_of_all_touches_zero_and_one_exactly() -> None:
    assert wilson(0, 7).low == 0.0
    assert wilson(7, 7).high == 1.0


@given(part_and_total, confidences)
def test_wilson_holds_the_rate_and_mirrors(case: tuple[int, int], confidence: float) -> None:
    count, total = case
    interval, mirrored = wilson(count, total, confidence), wilson(total - count, total, confidence)
    assert 0 <= interval.low <= count / total <= interval.high <= 1
    assert interval.low == pytest.approx(1 - mirrored.high, abs=1e-15)


@given(part_and_total, confidences, confidences)
def test_more_confidence_is_wider(case: tuple[int, int], one: float, other: float) -> None:
    lower, higher = sorted([one, other])
    for method in (wilson, clopper_pearson):
        narrow, wide = method(*case, lower), method(*case, higher)
        assert wide.low <= narrow.low + 1e-12
        assert narrow.high <= wide.high + 1e-12


@given(part_and_total)
def test_ten_times_the_data_is_narrower_and_exact_is_never_inside_out(case: tuple[int, int]) -> None:
    count, total = case
    for method in (wilson, clopper_pearson):
        few, many = method(count, total), method(10 * count, 10 * total)
        assert many.high - many.low < few.high - few.low
        assert many.low <= count / total <= many.high


@pytest.mark.parametrize(
    ("count", "total"),
    [
        *((0, 1), (1, 1), (1, 2), (0, 20), (3, 20), (19, 20), (20, 20), (37, 1_000)),
        *((0, 10**7), (1, 10**7), (12, 10**7), (5 * 10**6, 10**7), (10**7 - 1, 10**7), (10**7, 10**7)),
    ],
)
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_clopper_pearson_agrees_with_scipy(count: int, total: int, confidence: float) -> None:
    reference = scipy_stats.binomtest(count, total).proportion_ci(confidence, method="exact")
    interval = clopper_pearson(count, total, confidence)
    assert interval.low == pytest.approx(reference.low, rel=1e-7, abs=1e-12)
    assert interval.high == pytest.approx(reference.high, rel=1e-7, abs=1e-12)
    assert interval.low == pytest.approx(reference.low, abs=1e-9)
    assert interval.high == pytest.approx(reference.high, abs=1e-9)
    assert interval.method == "clopper_pearson"


def test_clopper_pearson_without_success_is_the_root_of_the_tail() -> None:
    # By hand: (1 - high)**20 = 0.025.
    interval = clopper_pearson(0, 20)
    assert interval.low == 0.0
    assert interval.high == pytest.approx(1 - 0.025 ** (1 / 20), rel=1e-12)


def test_no_total_leaves_the_interval_undefined() -> None:
    assert wilson_interval(0, 0) is None
    assert clopper_pearson_interval(0, 0) is None


@pytest.mark.parametrize(("count", "total"), [(-1, 5), (6, 5), (math.nan, 5), (1, math.nan), (1, math.inf), (0, -1)])
def test_a_count_that_is_no_part_of_its_total_is_refused(count: float, total: float) -> None:
    with pytest.raises(ValueError, match="0 <= count <= total"):
        wilson_interval(count, total)


def test_an_exact_interval_refuses_fractions() -> None:
    with pytest.raises(ValueError, match=r"whole counts, found 1\.5 of 3"):
        clopper_pearson_interval(1.5, 3)  # type: ignore[arg-type]


@pytest.mark.parametrize("confidence", [0.0, 1.0, -0.5, 95, math.nan])
def test_a_confidence_that_is_no_probability_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence must lie strictly between 0 and 1"):
        wilson_interval(1, 2, confidence=confidence)


@pytest.mark.parametrize("p", [1e-12, 0.025, 0.5, 0.8, 1 - 1e-9])
def test_normal_quantile_agrees_with_scipy(p: float) -> None:
    assert normal_quantile(p) == pytest.approx(scipy_stats.norm.ppf(p), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("degrees", [0.5, 1, 2, 2.5, 3, 10, 39, 500, 999.5, 1_000, 1_001, 10**5, 10**7])
@pytest.mark.parametrize("p", [1e-6, 0.005, 0.025, 0.2, 0.3, 0.4999999, 0.5, 0.51, 0.75, 0.9, 0.975, 0.9995])
def test_student_quantile_agrees_with_scipy(p: float, degrees: float) -> None:
    assert student_quantile(p, degrees) == pytest.approx(scipy_stats.t.ppf(p, degrees), rel=1e-7, abs=1e-9)


def test_a_student_quantile_beyond_the_largest_number_is_infinite() -> None:
    assert student_quantile(1e-200, 1) == -math.inf


@pytest.mark.parametrize("degrees", [0, -1, math.inf, math.nan])
def test_impossible_degrees_of_freedom_are_refused(degrees: float) -> None:
    with pytest.raises(ValueError, match="degrees of freedom must be a finite number above 0"):
        student_quantile(0.9, degrees)


@pytest.mark.parametrize("quantile", [normal_quantile, lambda p: student_quantile(p, 5)])
@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, math.nan])
def test_quantiles_of_the_impossible_are_refused(quantile: type[float], p: float) -> None:
    with pytest.raises(ValueError, match="p must lie strictly between 0 and 1"):
        quantile(p)


@given(st.floats(0.5, 2_000), st.floats(0.5, 2_000), st.floats(0, 1))
def test_the_incomplete_beta_function_agrees_with_scipy(a: float, b: float, x: float) -> None:
    assert regularized_incomplete_beta(x, a, b) == pytest.approx(scipy_stats.beta.cdf(x, a, b), rel=1e-9, abs=1e-13)


@given(st.floats(0.5, 2_000), st.floats(0.5, 2_000), st.floats(1e-100, 0.5))
def test_the_beta_quantile_undoes_the_incomplete_beta_function(a: float, b: float, probability: float) -> None:
    x = beta_quantile(probability, a, b)
    assert 0 < x < 1
    if x < 0.999:  # closer to 1, the spacing of floating-point numbers blurs the way back
        assert regularized_incomplete_beta(x, a, b) == pytest.approx(probability, rel=1e-8)


def test_the_beta_quantile_finds_a_root_far_below_where_it_starts() -> None:
    # By hand: I_x(a, 1) = x**a; the mean is 1/2 and I_x underflows well above the root.
    assert beta_quantile(1e-300, 1, 1) == pytest.approx(1e-300, rel=1e-10)
    assert beta_quantile(1e-280, 300, 300) == pytest.approx(float(scipy_stats.beta.ppf(1e-280, 300, 300)), rel=1e-9)

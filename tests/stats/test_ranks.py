"""Friedman's and Nemenyi's tests, against scipy, hand calculation and published tables."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from hallumeter.stats.bootstrap import FloatArray
from hallumeter.stats.ranks import (
    FriedmanTest,
    average_ranks,
    chi_square_survival,
    critical_difference,
    friedman_test,
    nemenyi_test,
    range_quantile,
    range_survival,
)

ROOT_TWO = math.sqrt(2)


def simulated_pages(pages: int, engines: int, *, decimals: int = 15) -> FloatArray:
    """Error rates of engines, of which the later ones are worse, on pages that are hard for all or easy for all."""
    rng = np.random.default_rng(pages * engines)
    difficulty = rng.normal(0, 1, (pages, 1))
    rates: FloatArray = difficulty + rng.normal(0, 1, (pages, engines)) + 0.1 * np.arange(engines)
    return rates.round(decimals)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=20))
def test_equal_values_share_the_mean_of_their_ranks(values: list[int]) -> None:
    expected = scipy_stats.rankdata(values)
    assert average_ranks(np.array(values, dtype=float)).tolist() == expected.tolist()


def test_friedman_worked_by_hand() -> None:
    # Ranks 1 2 3, 1 3 2, 1 2 3, 1 2 3: sums 4, 9, 11, so 12 / (4 * 3 * 4) * 218 - 3 * 4 * 4 = 6.5, W = 6.5 / (4 * 2);
    # with two degrees of freedom the p-value is exp(-6.5 / 2).
    test = friedman_test([[0.1, 0.2, 0.3], [0.1, 0.3, 0.2], [0.0, 0.4, 0.5], [0.2, 0.3, 0.4]])
    assert test.mean_ranks == (1.0, 2.25, 2.75)
    assert (test.pages, test.statistic, test.agreement, test.undefined) == (4, 6.5, 6.5 / 8, None)
    assert test.p_value == pytest.approx(math.exp(-3.25), rel=1e-14)


@pytest.mark.parametrize(("pages", "engines"), [(1, 3), (5, 4), (40, 3), (193, 48)])
@pytest.mark.parametrize("decimals", [0, 15])
def test_friedman_agrees_with_scipy_with_and_without_ties(pages: int, engines: int, decimals: int) -> None:
    table = simulated_pages(pages, engines, decimals=decimals)
    expected = scipy_stats.friedmanchisquare(*table.T)
    test = friedman_test(table)
    assert test.statistic == pytest.approx(expected.statistic, rel=1e-10)
    assert test.p_value == pytest.approx(expected.pvalue, rel=1e-10)
    assert test.mean_ranks == pytest.approx(np.mean([scipy_stats.rankdata(row) for row in table], axis=0))


def test_two_engines_are_tested_by_the_signs_of_their_differences() -> None:
    # By hand: 9 pages for the first, 1 for the second, (9 - 1)^2 / 10 with one degree of freedom.
    test = friedman_test([[0, 1]] * 9 + [[1, 0]])
    assert test.statistic == pytest.approx(6.4)
    assert test.p_value == pytest.approx(scipy_stats.chi2.sf(6.4, 1), rel=1e-13)


def test_pages_that_rank_the_engines_alike_agree_wholly() -> None:
    test = friedman_test([[1, 2, 3, 4]] * 7)
    assert test.agreement == 1.0
    assert test.statistic == pytest.approx(7 * 3)


def test_pages_that_cancel_each_other_out_show_no_difference() -> None:
    test = friedman_test([[1, 2], [2, 1]])
    assert (test.statistic, test.p_value, test.agreement) == (0.0, 1.0, 0.0)


def test_friedman_is_undefined_without_anything_to_compare() -> None:
    equal = friedman_test([[1, 1, 1], [2, 2, 2]])
    assert equal == FriedmanTest((2.0, 2.0, 2.0), 2, None, None, None, "on every page all engines are equal")
    no_page = friedman_test(np.empty((0, 3)))
    assert no_page == FriedmanTest((), 0, None, None, None, "there is no page")
    one_engine = friedman_test([[1], [2]])
    assert one_engine == FriedmanTest((1.0,), 2, None, None, None, "there are fewer than two engines")


@pytest.mark.parametrize("values", [[1, 2], [[1, math.nan], [1, 2]], [[[1]]]])
def test_what_is_not_a_table_of_numbers_is_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match=r"each page \(row\) and engine \(column\)"):
        friedman_test(values)


@pytest.mark.parametrize("degrees", [1, 2, 3, 10, 47, 99])
@pytest.mark.parametrize("value", [1e-9, 0.5, 5, 40, 150, 900])
def test_the_chi_square_tail_agrees_with_scipy(degrees: int, value: float) -> None:
    expected = float(scipy_stats.chi2.sf(value, degrees))
    assert chi_square_survival(value, degrees) == pytest.approx(expected, rel=1e-11)
    assert chi_square_survival(0, degrees) == 1.0


@pytest.mark.parametrize(("value", "degrees"), [(-1, 2), (math.nan, 2), (math.inf, 2), (1, 0)])
def test_a_chi_square_without_degrees_or_below_zero_is_refused(value: float, degrees: int) -> None:
    with pytest.raises(ValueError, match="chi-square needs"):
        chi_square_survival(value, degrees)


@pytest.mark.parametrize(
    ("alpha", "engines", "expected"),
    [
        # Demsar 2006, table 5a. The last digit of 2.343 is cut off there, not rounded: the value is 2.3437.
        *[(0.05, 2, 1.960), (0.05, 3, 2.343), (0.05, 4, 2.569), (0.05, 5, 2.728), (0.05, 6, 2.850)],
        *[(0.05, 7, 2.949), (0.05, 8, 3.031), (0.05, 9, 3.102), (0.05, 10, 3.164)],
        *[(0.10, 2, 1.645), (0.10, 3, 2.052), (0.10, 4, 2.291), (0.10, 5, 2.459), (0.10, 10, 2.920)],
    ],
)
def test_critical_values_are_those_of_the_published_table(alpha: float, engines: int, expected: float) -> None:
    assert range_quantile(1 - alpha, engines) / ROOT_TWO == pytest.approx(expected, abs=0.001)


@pytest.mark.parametrize("engines", [2, 3, 10, 48, 100])
@pytest.mark.parametrize("p", [0.01, 0.5, 0.95, 0.999])
def test_quantiles_of_the_range_agree_with_scipy(engines: int, p: float) -> None:
    expected = float(scipy_stats.studentized_range.ppf(p, engines, np.inf))
    assert range_quantile(p, engines) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("engines", [2, 3, 10, 48, 100])
@pytest.mark.parametrize("width", [0.05, 0.7, 2, 5])
def test_tails_of_the_range_agree_with_scipy(engines: int, width: float) -> None:
    expected = float(scipy_stats.studentized_range.sf(width, engines, np.inf))
    assert range_survival(width, engines) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("width", [1e-3, 1, 8, 20, 40])
def test_the_range_of_two_is_exact_far_into_the_tail(width: float) -> None:
    # By hand: the difference of two standard normal values is normal with variance 2.
    assert range_survival(width, 2) == pytest.approx(math.erfc(width / 2), rel=1e-12)


def test_a_width_of_zero_is_always_exceeded() -> None:
    assert range_survival(0, 5) == 1.0


@pytest.mark.parametrize(("width", "count"), [(1, 1), (-1, 3), (math.inf, 3), (math.nan, 3)])
def test_a_range_of_one_value_or_below_zero_is_refused(width: float, count: int) -> None:
    with pytest.raises(ValueError, match="a range needs"):
        range_survival(width, count)


def test_the_critical_difference_of_a_published_example() -> None:
    # Demsar 2006, section 3.2.2: four classifiers on 14 data sets, 2.569 * sqrt(4 * 5 / (6 * 14)) = 1.25.
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)
    assert critical_difference(4, 14, alpha=0.10) == pytest.approx(1.12, abs=0.005)


def test_nemenyi_of_a_published_example() -> None:
    # Demsar 2006, section 3.2.2, the same four at 0.10: the first is worse than the second and fourth, and the third
    # cannot be told from either side.
    test = nemenyi_test([3.143, 2.000, 2.893, 1.964], 14, alpha=0.10)
    assert test.groups == ((3, 1, 2), (2, 0))
    assert test.alpha == 0.10


def test_pairwise_p_values_reach_the_level_exactly_at_the_critical_difference() -> None:
    difference = critical_difference(5, 30)
    test = nemenyi_test([1.5, 1.5 + difference, 3, 4, 5], 30)
    assert test.p_values[0][1] == pytest.approx(0.05, rel=1e-9)
    assert test.p_values[1][0] == test.p_values[0][1]
    assert [test.p_values[place][place] for place in range(5)] == [1.0] * 5


def test_pairwise_p_values_agree_with_the_studentized_range_of_scipy() -> None:
    ranks = friedman_test(simulated_pages(25, 6)).mean_ranks
    test = nemenyi_test(ranks, 25)
    distances = np.abs(np.subtract.outer(ranks, ranks)) / math.sqrt(6 * 7 / (6 * 25)) * ROOT_TWO
    assert np.array(test.p_values) == pytest.approx(scipy_stats.studentized_range.sf(distances, 6, np.inf), rel=1e-8)


@given(st.lists(st.floats(1, 8), min_size=8, max_size=8), st.integers(5, 200))
def test_groups_are_the_largest_sets_without_a_difference(ranks: list[float], pages: int) -> None:
    test = nemenyi_test(ranks, pages)
    sets = [set(group) for group in test.groups]
    near = [
        {other for other in range(8) if abs(ranks[one] - ranks[other]) < test.critical_difference} for one in range(8)
    ]
    for group in sets:
        assert all(group <= near[one] for one in group)
        assert not any(group < other for other in sets)
    for one in range(8):  # every pair that does not differ stands under a common bar
        assert all(one == other or any({one, other} <= group for group in sets) for other in near[one])


def test_engines_that_all_differ_form_no_group() -> None:
    assert nemenyi_test([1, 2, 3], 1_000).groups == ()


def test_equal_engines_form_one_group() -> None:
    test = nemenyi_test([2, 2, 2], 10)
    assert test.groups == ((0, 1, 2),)
    assert test.p_values == ((1.0, 1.0, 1.0),) * 3


def test_comparisons_without_engines_pages_or_ranks_are_refused() -> None:
    with pytest.raises(ValueError, match="two engines and one page, found 1 and 5"):
        nemenyi_test([1], 5)
    with pytest.raises(ValueError, match="two engines and one page, found 2 and 0"):
        nemenyi_test([1, 2], 0)
    with pytest.raises(ValueError, match="from 1 to the number of engines"):
        nemenyi_test([1, 2.5], 5)
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        nemenyi_test([1, 2], 5, alpha=0)

"""Whether probabilities hold what they promise."""

from __future__ import annotations

import numpy as np
import pytest

from hallumeter.stats.calibration import expected_calibration_error


def test_the_error_is_the_distance_of_shares_and_means_weighted_by_bins() -> None:
    # Written out item by item, as in Naeini, Cooper and Hauskrecht (2015).
    rng = np.random.default_rng(2)
    probabilities = rng.random(500)
    outcomes = rng.random(500) < probabilities**2
    bins = np.minimum((probabilities * 10).astype(int), 9)
    expected = sum(
        (bins == each).mean() * abs(outcomes[bins == each].mean() - probabilities[bins == each].mean())
        for each in range(10)
    )
    found = expected_calibration_error(
        np.bincount(bins, outcomes, minlength=10), np.bincount(bins, minlength=10), np.bincount(bins, probabilities)
    )
    assert found == pytest.approx(expected)


def test_perfect_probabilities_have_no_error_and_empty_bins_are_undefined() -> None:
    assert expected_calibration_error([0, 10], [10, 10], [0.0, 10.0]) == 0.0
    assert expected_calibration_error([0, 0], [0, 0], [0.0, 0.0]) is None
    assert expected_calibration_error([], [], []) is None


@pytest.mark.parametrize(("counts", "totals"), [([2], [1]), ([-1], [1]), ([1, 1], [1])])
def test_counts_that_are_no_part_of_their_totals_are_refused(counts: list[int], totals: list[int]) -> None:
    with pytest.raises(ValueError, match="0 <= count <= total"):
        expected_calibration_error(counts, totals, [0.5] * len(counts))

"""Where the next label says most, checked by trying every allocation and against Neyman's formula."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hallumeter.stats.allocation import (
    FEWEST_LABELS,
    LEAST_DOUBT,
    PRIOR_WEIGHT,
    LabelTally,
    expected_variances,
    next_stratum,
)


def tally(
    sizes: list[int],
    *,
    labelled: list[int] | None = None,
    true: list[float] | None = None,
    expected: list[float] | None = None,
    left: list[int] | None = None,
) -> LabelTally:
    known = np.array(labelled or [0] * len(sizes))
    return LabelTally(
        sizes=np.array(sizes),
        labelled=known,
        true=np.array(true or [0.0] * len(sizes)),
        expected=np.array(expected or [0.5] * len(sizes)),
        left=np.array(sizes) - known if left is None else np.array(left),
    )


def drawn(start: LabelTally, more: int) -> list[int]:
    """How many labels each stratum has after so many more, if the shares that are true stay as they are believed."""
    counts = start.labelled.copy()
    rates = (start.true + PRIOR_WEIGHT * start.expected) / (start.labelled + PRIOR_WEIGHT)
    for _ in range(more):
        # Labels that confirm what is believed: the smoothed rate, and with it the spread, does not move.
        true = rates * (counts + PRIOR_WEIGHT) - PRIOR_WEIGHT * start.expected
        left = start.left - (counts - start.labelled)
        stratum = next_stratum(LabelTally(start.sizes, counts, true, start.expected, left))
        assert stratum is not None
        counts[stratum] += 1
    return [int(count) for count in counts]


def variance(shares: np.ndarray, spreads: np.ndarray, counts: tuple[int, ...]) -> float:
    return float((shares**2 * spreads / np.array(counts)).sum())


@given(
    sizes=st.lists(st.integers(4, 400), min_size=2, max_size=4),
    expected=st.lists(st.floats(0.1, 0.9), min_size=4, max_size=4),
    more=st.integers(0, 9),
)
@settings(max_examples=60, deadline=None)
def test_no_other_allocation_of_as_many_labels_is_more_certain(
    sizes: list[int], expected: list[float], more: int
) -> None:
    start = tally(sizes, expected=expected[: len(sizes)])
    labels = FEWEST_LABELS * len(sizes) + min(more, sum(sizes) - FEWEST_LABELS * len(sizes))
    possible = [range(FEWEST_LABELS, min(size, labels) + 1) for size in sizes]
    every = [counts for counts in itertools.product(*possible) if sum(counts) == labels]
    best = min(variance(start.shares, start.spreads, counts) for counts in every)
    found = drawn(start, labels)
    assert sum(found) == labels
    assert variance(start.shares, start.spreads, tuple(found)) == pytest.approx(best, rel=1e-9)
    assert expected_variances(start, labels)[-1] == pytest.approx(best, rel=1e-9)


def test_many_labels_are_shared_out_as_neyman_has_it() -> None:
    start = tally([6_000, 3_000, 1_000], expected=[0.1, 0.3, 0.5])
    counts = np.array(drawn(start, 1_000))
    wanted = start.sizes * np.sqrt(start.spreads)
    assert counts == pytest.approx(1_000 * wanted / wanted.sum(), abs=1)


def test_every_stratum_has_two_labels_before_any_has_more_the_largest_first() -> None:
    start = tally([10, 500, 3], expected=[0.5, 0.1, 0.5])
    counts, order = start.labelled.copy(), []
    for _ in range(6):
        stratum = next_stratum(LabelTally(start.sizes, counts, start.true, start.expected, start.sizes - counts))
        assert stratum is not None
        counts[stratum] += 1
        order.append(stratum)
    assert order == [1, 0, 2, 1, 0, 2]


def test_a_stratum_that_is_used_up_is_passed_over() -> None:
    assert next_stratum(tally([2, 100], labelled=[1, 40], true=[1, 0], left=[0, 60])) == 1
    assert next_stratum(tally([900, 100], labelled=[10, 10], true=[5, 0], left=[0, 90])) == 1
    assert next_stratum(tally([4, 100], left=[0, 0])) is None


def test_a_stratum_whose_units_can_be_asked_no_more_and_has_no_label_disturbs_nobody() -> None:
    assert next_stratum(tally([4, 100], labelled=[0, 10], true=[0, 3], left=[0, 90])) == 1


def test_the_judge_counts_for_six_labels_and_is_never_wholly_believed() -> None:
    sure = tally([10, 10], expected=[0.0, 1.0])
    assert sure.spreads == pytest.approx([LEAST_DOUBT * (1 - LEAST_DOUBT)] * 2)
    learned = tally([10], labelled=[8], true=[2.0], expected=[0.5])
    rate = (2 + 3) / (8 + 6)
    assert learned.spreads == pytest.approx([rate * (1 - rate)])


def test_expected_variances_end_when_nothing_is_left() -> None:
    assert len(expected_variances(tally([3, 2]), 50)) == 6
    assert len(expected_variances(tally([3, 2]), 0)) == 1


@given(more=st.integers(1, 40))
def test_each_label_is_expected_to_help_and_each_less_than_the_one_before(more: int) -> None:
    start = tally([300, 200, 50], labelled=[2, 2, 2], true=[0, 1, 2], expected=[0.1, 0.4, 0.9])
    found = np.array(expected_variances(start, more))
    gains = -np.diff(found)
    assert (gains > 0).all()
    assert (np.diff(gains) <= 1e-15).all()
    assert start.labelled.tolist() == [2, 2, 2]

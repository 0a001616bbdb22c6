"""Sums, rates and counts that are merged from parts are those of the whole, bit for bit."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hallumeter.records.rate import Rate, Rates
from hallumeter.stats.bootstrap import cluster_bootstrap_interval
from hallumeter.stats.tally import MOST_BLOCKS, BlockCounts, RateTally, added, exact_sum, exact_sum_of, rounded

Floats = st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), max_size=30)


def interval_of(tally: RateTally, **settings: float) -> tuple[float, float, str] | None:
    found = tally.interval(np.random.default_rng(0), resamples=200, confidence=0.95, **settings)  # type: ignore[arg-type]
    return None if found is None else (found.low, found.high, found.method)


@given(Floats, st.integers(0, 30))
def test_exact_sums_lose_nothing_however_they_are_cut(numbers: list[float], cut: int) -> None:
    whole = exact_sum(numbers)
    assert sum(map(Fraction, whole), Fraction(0)) == sum(map(Fraction, numbers), Fraction(0))
    assert rounded(whole) == math.fsum(numbers)
    assert added(exact_sum(numbers[cut:]), exact_sum(numbers[:cut])) == whole
    assert exact_sum_of(np.array(numbers, dtype=np.float64)) == whole


@pytest.mark.parametrize("size", [0, 1, 2, 300, 9_000, 20_000])
@pytest.mark.parametrize("is_whole", [True, False])
def test_rates_merged_in_any_order_are_those_of_the_whole(size: int, is_whole: bool) -> None:
    rng = np.random.default_rng(size)
    totals = rng.integers(0, 6, size).astype(np.float64)
    counts = rng.binomial(totals.astype(int), 0.3).astype(np.float64) if is_whole else rng.random(size) * totals
    whole = RateTally.of(Rates(counts, totals))
    parts = np.split(rng.permutation(size), sorted(rng.integers(0, size + 1, 3).tolist()))
    merged = RateTally()
    for rows in parts:
        merged = RateTally.of(Rates(counts[rows], totals[rows])).merge(merged)
    assert merged == whole
    assert whole.pooled == Rate(math.fsum(counts), math.fsum(totals))
    assert (whole.cells is None) == (size >= 20_000 and not is_whole) or size == 9_000
    assert interval_of(merged) == interval_of(whole)


def spread(size: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng(1)
    return rng.random(size), np.ones(size)


@pytest.mark.parametrize("shift", [0.0, -0.5, 1.5])
def test_sums_of_squares_give_the_interval_of_the_clusters(shift: float) -> None:
    counts, totals = spread(9_000)
    tally = RateTally.of(Rates(counts + shift, totals))
    assert tally.cells is None
    found = interval_of(tally, is_share=False)
    expected = cluster_bootstrap_interval(counts + shift, totals, rng=np.random.default_rng(0), is_share=False)
    assert expected is not None
    assert found is not None
    assert found[:2] == pytest.approx((expected.low, expected.high))
    assert found[2] == expected.method


def test_a_rate_of_a_unit_is_within_the_unit() -> None:
    counts, totals = spread(9_000)
    for size in (40, 9_000):
        tally = RateTally.of(Rates(3 * counts[:size], totals[:size]))
        found = interval_of(tally, unit=3.0)
        plain = interval_of(RateTally.of(Rates(counts[:size], totals[:size])))
        assert found is not None
        assert plain is not None
        assert found[:2] == pytest.approx(plain[:2], rel=0.02)


def test_many_clusters_that_are_alike_but_for_rounding_claim_no_certainty() -> None:
    totals = np.arange(1, 9_001) / 7
    found = interval_of(RateTally.of(Rates(totals * 0.3, totals)))
    assert found is not None
    assert found[2] == "wilson_by_cluster"
    assert found[0] < 0.3 < found[1]


def test_shifts_widen_the_interval_of_many_clusters() -> None:
    tally = RateTally.of(Rates(*spread(9_000)))
    shifted = tally.interval(np.random.default_rng(0), resamples=200, confidence=0.95, shifts=[np.array([-0.1, 0.1])])
    plain = tally.interval(np.random.default_rng(0), resamples=200, confidence=0.95)
    assert shifted is not None
    assert plain is not None
    assert shifted.high - shifted.low > 10 * (plain.high - plain.low)


def test_rates_may_be_given_once_for_many_clusters() -> None:
    once = RateTally.of(Rates(np.array([1.0, 0.0, 1.0]), np.array([2.0, 0.0, 2.0])), np.array([3, 9, 2]))
    assert once == RateTally.of(Rates(np.ones(5), np.full(5, 2.0)))


@given(st.dictionaries(st.integers(-(2**63), 2**63 - 1), st.integers(1, 9), max_size=40), st.integers(0, 40))
def test_counts_of_units_merge_by_unit(counts: dict[int, int], cut: int) -> None:
    items = list(counts.items())
    first, second = (BlockCounts.of({"x": dict(part)}) for part in (items[:cut], items[cut:]))
    assert first.merge(second) == second.merge(first) == BlockCounts.of({"x": counts}) or not counts
    assert BlockCounts.of({"x": counts}).table(["x"]).ravel().tolist() == sorted(counts.values())


def test_many_units_are_counted_in_blocks_by_their_hash() -> None:
    rng = np.random.default_rng(0)
    hashes = rng.integers(-(2**62), 2**62, 2_000)
    codes = rng.integers(0, 2, 6_000)
    units = rng.integers(0, 2_000, 6_000)
    whole = BlockCounts.tally(units, codes, hashes=hashes, names=["a", "b"])
    assert whole.is_blocked
    assert 400 < len(whole.table(["a", "b", "none"])) <= MOST_BLOCKS
    assert whole.table(["a", "b"]).sum(axis=0).tolist() == np.bincount(codes).tolist()
    merged = BlockCounts()
    for start in (0, 1_990, 10):
        stop = {0: 10, 10: 1_990, 1_990: 2_000}[start]
        mine = (units >= start) & (units < stop)
        part = BlockCounts.tally(units[mine] - start, codes[mine], hashes=hashes[start:stop], names=["a", "b"])
        merged = merged.merge(part)
    assert merged == whole


def test_a_table_without_columns_is_empty() -> None:
    assert BlockCounts().table([]).shape == (0, 0)

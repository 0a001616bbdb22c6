"""Distinct cells of clusters, against np.unique, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from hallumeter.stats.bootstrap import FloatArray, cluster_columns, distinct_cells

whole = st.integers(-5, 100).map(float)
large = st.sampled_from([0.0, 1e6, 1e6 + 1, 2.0**40])
real = st.sampled_from([0.0, 0.1, 0.1 + 0.2, 0.3, 1.5, 2.5])


def tables(elements: st.SearchStrategy[float]) -> st.SearchStrategy[FloatArray]:
    shapes = st.tuples(st.integers(1, 30), st.sampled_from([2, 4]))
    return arrays.arrays(np.float64, shapes, elements=elements)


@given(st.one_of(tables(whole), tables(large), tables(real), tables(st.one_of(whole, large, real))))
def test_cells_are_the_distinct_rows_in_ascending_order(columns: FloatArray) -> None:
    rows, multiplicities = np.unique(columns, axis=0, return_counts=True)
    cells = distinct_cells(columns)
    assert cells.columns.tolist() == rows.tolist()
    assert cells.multiplicities.tolist() == multiplicities.tolist()
    assert cells.clusters == len(columns)
    np.testing.assert_allclose(cells.sums, columns.sum(axis=0), rtol=1e-12)


def test_cells_of_long_and_wide_tables_are_the_distinct_rows() -> None:
    # Wide enough for the keys of four columns to be renumbered on the way.
    columns = np.random.default_rng(0).integers(0, 60_000, (5_000, 4)) / np.array([1, 7, 1, 7])
    columns[2_500:] = columns[:2_500]
    rows, multiplicities = np.unique(columns, axis=0, return_counts=True)
    cells = distinct_cells(columns)
    assert np.array_equal(cells.columns, rows)
    assert np.array_equal(cells.multiplicities, multiplicities)


def test_no_clusters_make_no_cells() -> None:
    assert distinct_cells(np.empty((0, 2))).clusters == 0


def test_drawing_by_cell_and_by_cluster_have_the_same_distribution() -> None:
    # 4 cells: 400 clusters are drawn by cell, 30 by cluster. Means and variances by hand: resampled sums of a column
    # have the mean of its sum and n times its variance.
    for clusters in (400, 30):
        columns = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 2.0], [5.0, 6.0]])[np.arange(clusters) % 4]
        cells = distinct_cells(columns)
        assert (cells.clusters > cells.draws) == (clusters == 400)
        sums = cells.resampled_sums(rng=np.random.default_rng(1), resamples=20_000)
        assert sums.shape == (20_000, 2)
        standard_error = np.sqrt(clusters * columns.var(axis=0) / 20_000)
        assert np.all(np.abs(sums.mean(axis=0) - columns.sum(axis=0)) < 4 * standard_error)
        np.testing.assert_allclose(sums.var(axis=0), clusters * columns.var(axis=0), rtol=0.05)
        np.testing.assert_allclose(np.corrcoef(sums.T), np.corrcoef(columns.T), atol=0.02)


def test_a_hundred_thousand_clusters_cost_as_much_as_their_cells() -> None:
    rng = np.random.default_rng(0)
    totals = rng.integers(1, 11, 100_000)
    columns = cluster_columns(rng.binomial(totals, 0.2), totals)
    cells = distinct_cells(columns)
    assert len(cells.columns) <= 65
    assert cells.resampled_sums(rng=rng, resamples=1_000).shape == (1_000, 2)


@pytest.mark.parametrize(
    ("counts", "totals", "message"),
    [
        ([1, 2], [3], "2 counts and 1 totals"),
        ([[1, 2]], [3], r"counts must be one number per cluster, found an array of shape \(1, 2\)"),
        ([1, 2], [3, math.nan], "totals must be finite, found nan at cluster 1"),
        ([math.inf, 2], [3, 3], "counts must be finite, found inf at cluster 0"),
        ([1, 0, 0], [3, 3, -2], r"totals must not be negative, found -2\.0 at cluster 2"),
        ([1, 2], [3, 0], r"cluster 1 counts 2\.0 of a total of 0"),
    ],
)
def test_unusable_counts_are_refused_by_place(counts: list[float], totals: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cluster_columns(counts, totals)

"""Stretches and trees against plain ways to compute them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from hallumeter.claims.judges.embedded.judge import best_stretch
from hallumeter.claims.judges.embedded.model_files import Trees, trees

# Quarters add up without rounding, so that equal sums are equal.
WEIGHTS = st.lists(st.integers(-12, 12).map(lambda number: number / 4), max_size=14)


@given(WEIGHTS)
def test_no_stretch_has_a_larger_sum_than_the_best(weights: list[float]) -> None:
    every = [(first, last) for first in range(len(weights)) for last in range(first + 1, len(weights) + 1)]
    largest = max((sum(weights[first:last]) for first, last in every), default=0.0)
    found = best_stretch(np.asarray(weights))
    if largest <= 0.0:
        assert found is None
    else:
        assert found in every
        assert sum(weights[slice(*found)]) == largest


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ([], None),
        ([0.0, 0.0], None),
        ([-1.0], None),
        ([0.5], (0, 1)),
        ([1.0, -2.0, 1.5], (2, 3)),
        ([1.0, -0.5, 1.0], (0, 3)),
        ([1.0, -1.0, 1.0], (0, 1)),
    ],
)
def test_the_best_stretch_is_the_first_of_the_largest(weights: list[float], expected: tuple[int, int] | None) -> None:
    assert best_stretch(np.asarray(weights, np.float32)) == expected


def walked(model: Trees, row: list[float], node: int) -> float:
    """What one tree says of a row, node by node."""
    left, right = int(model.left[node]), int(model.right[node])
    if left == right == node:
        return float(model.value[node])
    goes_left = np.float32(row[model.feature[node]]) <= model.threshold[node]
    return walked(model, row, left if goes_left else right)


def checked(model: Trees, rows: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> None:
    expected = [math.fsum(walked(model, row, int(root)) for root in model.roots) for row in rows.tolist()]
    assert model.logits(rows).tolist() == pytest.approx(expected, abs=1e-9)


def used_features() -> int:
    return int(trees().feature.max()) + 1


@settings(max_examples=25)
@given(st.data())
def test_the_trees_of_the_model_say_what_a_walk_over_their_nodes_says(data: st.DataObject) -> None:
    # Values of thresholds themselves are drawn as well: there it matters which way "at most" goes.
    numbers = st.floats(-4.0, 40.0, width=32) | st.sampled_from(sorted({float(each) for each in trees().threshold}))
    shape = (data.draw(st.integers(0, 3)), used_features())
    checked(trees(), data.draw(arrays.arrays(np.float32, shape, elements=numbers.map(np.float32).map(float))))


def test_the_leaves_of_the_model_are_reached_within_its_depth() -> None:
    model = trees()

    def depth(node: int) -> int:
        children = {int(model.left[node]), int(model.right[node])} - {node}
        return 1 + max(map(depth, children)) if children else 0

    assert max(depth(int(root)) for root in model.roots) <= model.depth


def test_two_trees_by_hand() -> None:
    # x0 <= 1 ? 10 : (x1 <= 2 ? 20 : 30), and a tree that is a leaf alone.
    model = Trees(
        roots=np.array([0, 5], np.int32),
        feature=np.array([0, 0, 1, 0, 0, 0], np.int32),
        threshold=np.array([1.0, 0.0, 2.0, 0.0, 0.0, 0.0]),
        left=np.array([1, 1, 3, 3, 4, 5], np.int32),
        right=np.array([2, 1, 4, 3, 4, 5], np.int32),
        value=np.array([0.0, 10.0, 0.0, 20.0, 30.0, 0.5]),
        depth=2,
    )
    rows = np.array([[1.0, 9.0], [1.5, 2.0], [1.5, 2.5]], np.float32)
    assert model.logits(rows).tolist() == [10.5, 20.5, 30.5]
    assert model.logits(rows[:0]).tolist() == []
    checked(model, rows)

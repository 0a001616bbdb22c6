"""Meanings of sampled answers: how they are told apart, and the figures made from them, worked by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.claims.metrics.samples import (
    MeaningColumns,
    clusters_of_equivalent,
    consistency_of,
    mean_meanings,
    mean_semantic_entropy,
    sample_consistency,
)
from hallumeter.errors import SettingsError
from hallumeter.records.rate import Rate


@given(st.lists(st.integers(0, 4), max_size=12))
def test_a_true_equivalence_gives_its_own_classes_in_order_of_appearance(classes: list[int]) -> None:
    # Independent: the place of each class among those seen so far.
    order = list(dict.fromkeys(classes))
    found = clusters_of_equivalent(len(classes), lambda one, other: classes[one] == classes[other])
    assert found == [order.index(each) for each in classes]


def test_an_answer_is_compared_with_the_first_answer_of_each_meaning_only() -> None:
    asked: list[tuple[int, int]] = []

    def is_near(one: int, other: int) -> bool:
        asked.append((one, other))
        return abs(one - other) == 1

    # 0 and 1 are near, 1 and 2 are near, 0 and 2 are not: the order of the answers decides.
    assert clusters_of_equivalent(3, is_near) == [0, 0, 1]
    assert asked == [(0, 1), (0, 2)]


def test_equal_answers_need_one_comparison_each() -> None:
    asked: list[tuple[int, int]] = []
    assert clusters_of_equivalent(5, lambda *pair: asked.append(pair) or True) == [0] * 5  # type: ignore[func-returns-value]
    assert len(asked) == 4


def test_no_answers_have_no_meanings_and_fewer_are_refused() -> None:
    assert clusters_of_equivalent(0, lambda *_: True) == []
    with pytest.raises(SettingsError, match="-1 answers"):
        clusters_of_equivalent(-1, lambda *_: True)


@pytest.mark.parametrize(
    ("meanings", "expected"), [([], Rate(0, 0)), ([3], Rate(0, 0)), ([3, 3, 1], Rate(1, 2)), ([0, 1, 1], Rate(0, 2))]
)
def test_consistency_counts_the_samples_that_mean_what_the_response_means(meanings: list[int], expected: Rate) -> None:
    assert consistency_of(meanings) == expected


def test_the_figures_of_three_records_by_hand() -> None:
    # Two meanings, two answers each: log 2. One meaning: 0. The last record has no samples and counts nowhere.
    columns = MeaningColumns.of([(0, 0, 1, 1), (0, 0, 0), (0,), ()])
    assert mean_semantic_entropy(columns).value == pytest.approx(math.log(2) / 2)
    assert sample_consistency(columns).pooled == Rate(1 + 2, 3 + 2)
    assert mean_meanings(columns).pooled == Rate(2 + 1, 2)
    assert mean_meanings(columns).value == 1.5


def test_records_without_samples_leave_every_figure_undefined() -> None:
    columns = MeaningColumns.of([(0,), ()])
    for metric in (mean_semantic_entropy, sample_consistency, mean_meanings):
        assert metric(columns).value is None

"""Pages as columns: one per count, in the order of the pages."""

from __future__ import annotations

import math

import numpy as np
from msgspec import structs

from hallumeter.transcripts.records import CollectedCounts, PageColumns, PageCounts

PAGE = PageCounts(
    reference_words=4,
    response_words=2,
    unknown_words=1,
    anchored_ngrams=0,
    ngrams=1,
    anchor_score=0.0,
    reference_characters=16,
    response_characters=6,
    length_ratio=0.375,
    picarones_badge=True,
)
PAGES = [PAGE, structs.replace(PAGE, length_ratio=math.inf, picarones_badge=False), structs.replace(PAGE, loop_words=7)]


def test_every_count_of_a_page_becomes_a_column_of_floats() -> None:
    columns = PageColumns.of(PAGES)
    assert len(columns) == 3
    assert tuple(columns.columns) == PageCounts.__struct_fields__
    for name in PageCounts.__struct_fields__:
        assert columns.column(name).dtype == np.float64
        assert columns.column(name).tolist() == [getattr(page, name) for page in PAGES]


def test_no_pages_are_columns_without_rows() -> None:
    columns = PageColumns.of([])
    assert len(columns) == 0
    assert columns.column("numbers").shape == (0,)


def test_rows_are_chosen_by_slice_by_place_or_by_truth() -> None:
    columns = PageColumns.of(PAGES)
    assert columns[1:].column("loop_words").tolist() == [0, 7]
    assert columns[np.array([2, 0, 2])].column("loop_words").tolist() == [7, 0, 7]
    assert columns[columns.column("loop_words") > 0].column("length_ratio").tolist() == [0.375]


def test_what_was_not_aligned_counts_nothing() -> None:
    assert (PAGE.word_hits, PAGE.read_response_words, PAGE.is_decided, PAGE.is_empty_output) == (0, 0, False, False)


def test_more_pages_than_are_kept_as_rows_at_once_come_out_in_their_order() -> None:
    columns = PageColumns.of(PAGES * 1_000)
    few = PageColumns.of(PAGES)
    assert len(columns) == 1_000 * len(PAGES)
    for name in few.columns:
        assert columns.column(name).tolist() == few.column(name).tolist() * 1_000


def test_columns_join_pages_that_came_one_by_one_and_what_was_not_given_is_0() -> None:
    collected = CollectedCounts()
    collected.add_columns({"ngrams": np.array([3, 4])}, 2)
    collected.add(PAGE)
    collected.add_columns({"length_ratio": np.array([0.5])}, 1)
    columns = collected.columns()
    assert columns.column("ngrams").tolist() == [3, 4, PAGE.ngrams, 0]
    assert columns.column("length_ratio").tolist() == [0, 0, PAGE.length_ratio, 0.5]
    assert columns.column("reference_words").tolist() == [0, 0, PAGE.reference_words, 0]
    assert CollectedCounts().columns().column("names").tolist() == []

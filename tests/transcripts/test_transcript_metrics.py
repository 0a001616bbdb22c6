"""Metrics over many pages: what is pooled, what is averaged, and which pages are in neither. Numbers are by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from msgspec import structs

from hallumeter.records.metric import Metric
from hallumeter.records.rate import Rates
from hallumeter.transcripts import metrics as transcripts
from hallumeter.transcripts.catalog import ANCHORING_METRICS, READING_METRICS
from hallumeter.transcripts.page_reading import read_page
from hallumeter.transcripts.records import PageColumns, PageCounts

SHORT = PageCounts(
    reference_words=4,
    response_words=5,
    unknown_words=2,
    anchored_ngrams=1,
    ngrams=3,
    anchor_score=1 / 3,
    reference_characters=20,
    response_characters=30,
    length_ratio=1.5,
    picarones_badge=True,
    word_hits=2,
    word_errors=3,
    word_edits=5,
    strict_reference_words=4,
    strict_response_words=5,
    character_errors=10,
    strict_reference_characters=20,
    read_reference_words=4,
    read_response_words=5,
    inserted_words=2,
    block_words=0,
    loop_words=0,
    omitted_words=1,
    multiset_inserted=3,
    invented_numbers=1,
    numbers=1,
    is_decided=True,
)
LONG = PageCounts(
    reference_words=36,
    response_words=95,
    unknown_words=8,
    anchored_ngrams=63,
    ngrams=93,
    anchor_score=63 / 93,
    reference_characters=180,
    response_characters=2_400,
    length_ratio=2_400 / 180,
    picarones_badge=True,
    word_hits=34,
    word_errors=61,
    word_edits=95,
    strict_reference_words=36,
    strict_response_words=95,
    character_errors=2_250,
    strict_reference_characters=180,
    read_reference_words=36,
    read_response_words=95,
    inserted_words=60,
    block_words=10,
    loop_words=45,
    omitted_words=1,
    multiset_inserted=59,
    invented_numbers=0,
    numbers=3,
    invented_names=1,
    names=2,
    is_decided=True,
    is_hallucinating=True,
    has_refusal=True,
    has_note=True,
)
EMPTY_OUTPUT = PageCounts(
    reference_words=10,
    response_words=0,
    unknown_words=0,
    anchored_ngrams=0,
    ngrams=0,
    anchor_score=0.0,
    reference_characters=50,
    response_characters=0,
    length_ratio=0.0,
    picarones_badge=True,
    word_errors=10,
    word_edits=10,
    strict_reference_words=10,
    character_errors=50,
    strict_reference_characters=50,
    read_reference_words=10,
    omitted_words=10,
    is_empty_output=True,
)
EMPTY_PAGE = PageCounts(
    reference_words=0,
    response_words=5,
    unknown_words=5,
    anchored_ngrams=0,
    ngrams=3,
    anchor_score=0.0,
    reference_characters=0,
    response_characters=24,
    length_ratio=math.inf,
    picarones_badge=True,
    word_errors=5,
    word_edits=5,
    strict_response_words=5,
    character_errors=24,
    read_response_words=5,
    inserted_words=5,
    block_words=5,
    multiset_inserted=5,
    is_decided=True,
    is_hallucinating=True,
    has_wrapper=True,
    has_note=True,
)
PAGES = PageColumns.of([SHORT, LONG, EMPTY_OUTPUT, EMPTY_PAGE])
METRICS = {metric.id: metric for metric in (*READING_METRICS, *ANCHORING_METRICS)}

POOLED = {
    "cer": (10 + 2_250 + 50, 20 + 180 + 50),
    "wer": (3 + 61 + 10, 4 + 36 + 10),
    "mer": (3 + 61 + 10 + 5, 5 + 95 + 10 + 5),
    "true_insertion_rate": (2 + 60 + 5, 5 + 95 + 5),
    "invented_rate": (55 + 5, 105),
    "loop_rate": (45, 105),
    "omission_rate": (1 + 1 + 10, 4 + 36 + 10),
    "multiset_insertion_rate": (3 + 59 + 5, 105),
    "number_insertion_rate": (1, 4),
    "name_insertion_rate": (1, 2),
    "hallucinating_page_rate": (2, 3),
    "empty_output_rate": (1, 3),
    "refusal_page_rate": (1, 3),
    "apology_page_rate": (0, 3),
    "wrapper_page_rate": (1, 3),
    "note_page_rate": (2, 3),
    "description_page_rate": (0, 3),
    "picarones_page_rate": (4, 4),
    "net_insertion_rate": (2 + 8 + 5, 105),
    "anchor_rate": (64, 3 + 93 + 3),
    "length_ratio": (30 + 2_400, 20 + 180 + 50),
    "cer_mean": (0.5 + 12.5 + 1, 3),
    "net_insertion_mean": (2 / 5 + 8 / 95 + 0 + 1, 4),
    "anchor_mean": (1 / 3 + 63 / 93, 4),
    "length_ratio_mean": (1.5 + 9.99 + 0 + 9.99, 4),
}
"""By hand: text on an empty page is no error rate and has no length ratio, but is inserted, and averaged at 9.99."""


@pytest.mark.parametrize("name", POOLED)
def test_pages_are_pooled_or_averaged(name: str) -> None:
    count, total = POOLED[name]
    pooled = METRICS[name].compute(PAGES).pooled
    assert (pooled.count, pooled.total) == (pytest.approx(count, rel=1e-12), total)


def test_every_poolable_metric_is_pooled_here() -> None:
    assert {name for name, metric in METRICS.items() if metric.is_poolable} == set(POOLED)


def test_figures_that_are_no_rates() -> None:
    # Hits 36, words on pages 50, words written 105. Rates 0.5, 1, 12.5: 2 (0.5 + 2 + 37.5) / (3 * 14) - 4 / 3.
    assert transcripts.word_information_lost(PAGES) == pytest.approx(1 - 36 / 50 * 36 / 105)
    assert transcripts.error_concentration(PAGES) == pytest.approx(2 * 40 / 42 - 4 / 3)
    assert transcripts.smallest_anchor_score(PAGES) == 0


def test_a_page_without_anything_to_count_has_a_rate_of_nothing() -> None:
    rates = transcripts.character_error_rate(PAGES)
    assert (rates.counts[3], rates.totals[3]) == (0, 0)
    mean = transcripts.mean_character_error_rate(PAGES)
    assert (mean.counts[3], mean.totals[3]) == (0, 0)


@pytest.mark.parametrize(("one_side", "value"), [(EMPTY_OUTPUT, 1.0), (EMPTY_PAGE, 1.0), (LONG, 1 - 34 / 36 * 34 / 95)])
def test_all_information_is_lost_when_only_one_side_has_words(one_side: PageCounts, value: float) -> None:
    assert transcripts.word_information_lost(PageColumns.of([one_side])) == pytest.approx(value)


def test_information_of_nothing_is_undefined() -> None:
    nothing = structs.replace(EMPTY_OUTPUT, strict_reference_words=0)
    assert transcripts.word_information_lost(PageColumns.of([nothing])) is None
    assert transcripts.word_information_lost(PageColumns.of([])) is None


@pytest.mark.parametrize(("reference", "response"), [("a b c", ""), ("", "a b"), ("a b c", "a x c d"), ("", "")])
def test_information_lost_on_one_page_is_that_of_its_reading(reference: str, response: str) -> None:
    edits = read_page(reference, response).words
    page = structs.replace(
        SHORT,
        word_hits=edits.hits,
        strict_reference_words=edits.reference,
        strict_response_words=edits.response,
    )
    assert transcripts.word_information_lost(PageColumns.of([page])) == edits.information_lost


def test_a_page_of_signs_alone_is_no_page_with_text() -> None:
    # Under a spelling without punctuation "..." has no words, but the engine still wrote nothing for it.
    signs = structs.replace(EMPTY_OUTPUT, reference_words=0)
    rates = transcripts.empty_output_rate(PageColumns.of([signs, signs, SHORT]))
    assert (rates.counts.tolist(), rates.totals.tolist()) == ([0, 0, 0], [0, 0, 1])


def test_errors_that_are_nowhere_or_alike_are_not_concentrated() -> None:
    clean = structs.replace(SHORT, character_errors=0)
    assert transcripts.error_concentration(PageColumns.of([clean, clean])) is None
    assert transcripts.error_concentration(PageColumns.of([SHORT, SHORT, EMPTY_PAGE])) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.id)
def test_pages_without_words_on_either_side_leave_error_rates_undefined(metric: Metric) -> None:
    blank = PageCounts(
        reference_words=0,
        response_words=0,
        unknown_words=0,
        anchored_ngrams=0,
        ngrams=0,
        anchor_score=1.0,
        reference_characters=0,
        response_characters=0,
        length_ratio=1.0,
        picarones_badge=False,
    )
    found = metric.compute(PageColumns.of([blank, blank]))
    value = found.value if isinstance(found, Rates) else found
    # Picarones' averages run over all pages, blank ones too.
    expected = {"picarones_page_rate": 0, "net_insertion_mean": 0, "anchor_mean": 1, "anchor_min": 1}
    assert value == {**expected, "length_ratio_mean": 1}.get(metric.id)


def test_resampled_information_lost_takes_pages_as_often_as_they_are_drawn() -> None:
    weights = np.array([[1.0, 1, 1, 1], [2, 0, 0, 0], [0, 0, 0, 2], [0, 0, 0, 0]])
    found = transcripts.resampled_word_information_lost(PAGES, weights)
    assert found[:3].tolist() == pytest.approx([1 - 36 * 36 / (50 * 105), 1 - 4 / 20, 1])
    assert math.isnan(found[3])

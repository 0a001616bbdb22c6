"""Picarones' own names: its worked table, its result shapes, its rounding and its aggregation."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hallumeter.compat import picarones
from hallumeter.compat.picarones import (
    HallucinatedBlock,
    HallucinationMetrics,
    aggregate_hallucination_metrics,
    compute_hallucination_metrics,
)

FROISSART = "Icy commence le prologue de maistre Jehan Froissart"
TABLE = [
    (FROISSART, FROISSART, 0, 1, 1, [], False),
    (FROISSART, FROISSART + " lequel fut archive au greffe royal", 0.428571, 1.686275, 0.5, [(8, 13, 6)], True),
    (FROISSART, "", 0, 0, 0, [], True),
    ("", "", 0, 1, 1, [], False),
    ("", "some text here", 1, 9.99, 0, [], True),
    ("le roi de france", "le roi", 0, 0.375, 0, [], True),
    ("le roi", "le roi", 0, 1, 1, [], False),
    ("le roi de france", "le roi, de france.", 0.5, 1.125, 0, [], True),
    ("le roi de france", " ".join(["le roi de france"] * 3), 0, 3.125, 0.6, [], True),
    ("a b c d e f", "a x b c y d e f", 0.25, 1.363636, 0.166667, [(1, 4, 4)], True),
    ("a b c d", "q r s t a b", 0.666667, 1.571429, 0, [(0, 5, 6)], True),
    ("a b c d", "q r a b", 0.5, 1, 0, [(0, 3, 4)], True),
]
"""Ground truth, hypothesis, net insertion, capped length ratio, anchor score, blocks, badge: worked by hand."""

words = st.sampled_from(["a", "b", "C", "x\ud800", "\0", "é", "e\u0301", "שלום"])
texts = st.lists(words, max_size=12).map(" ".join) | st.text(st.characters(exclude_categories=()), max_size=15)
results = st.builds(
    compute_hallucination_metrics, texts, texts, n=st.integers(1, 4), min_block_length=st.integers(1, 4)
)


@pytest.mark.parametrize(("reference", "hypothesis", "inserted", "ratio", "anchor", "blocks", "badge"), TABLE)
def test_the_table_worked_by_hand(
    reference: str,
    hypothesis: str,
    inserted: float,
    ratio: float,
    anchor: float,
    blocks: list[tuple[int, int, int]],
    badge: bool,
) -> None:
    found = compute_hallucination_metrics(reference, hypothesis)
    rounded = found.as_dict()
    assert (rounded["net_insertion_rate"], rounded["length_ratio"], rounded["anchor_score"]) == (
        inserted,
        ratio,
        anchor,
    )
    places = [(block.start_token, block.end_token, block.length) for block in found.hallucinated_blocks]
    assert places == blocks
    assert found.is_hallucinating is badge
    assert (found.gt_word_count, found.hyp_word_count) == (len(reference.split()), len(hypothesis.split()))
    assert found.net_inserted_words == round(inserted * found.hyp_word_count)


def test_a_result_as_a_dict_has_every_field_under_its_own_name() -> None:
    assert compute_hallucination_metrics("a b c d e f", "A X\nb  c Y d e f").as_dict() == {
        "net_insertion_rate": 0.25,
        "length_ratio": 1.454545,
        "anchor_score": 0.166667,
        "hallucinated_blocks": [{"start_token": 1, "end_token": 4, "text": "x b c y", "length": 4}],
        "is_hallucinating": True,
        "gt_word_count": 6,
        "hyp_word_count": 8,
        "net_inserted_words": 2,
        "anchor_threshold_used": 0.5,
        "length_ratio_threshold_used": 1.2,
        "ngram_size_used": 3,
    }


def test_a_block_as_a_dict() -> None:
    block = HallucinatedBlock(start_token=2, end_token=6, text="v w x y z", length=5)
    assert block.as_dict() == {"start_token": 2, "end_token": 6, "text": "v w x y z", "length": 5}


def test_arguments_may_be_given_by_place_and_the_thresholds_used_are_told() -> None:
    found = compute_hallucination_metrics("a b c", "a b c d", 2, 2.0, 0.7, 1, 1)
    assert (found.ngram_size_used, found.length_ratio_threshold_used, found.anchor_threshold_used) == (2, 2.0, 0.7)
    assert found.anchor_score == 2 / 3
    assert found.is_hallucinating
    assert found.hallucinated_blocks == [HallucinatedBlock(3, 3, "d", 1)]
    assert not compute_hallucination_metrics("a b c", "a b c d", 2, 2.0, 2 / 3, 1, 1).is_hallucinating


def test_a_result_without_blocks_has_an_empty_list() -> None:
    assert compute_hallucination_metrics("a", "a").hallucinated_blocks == []


def test_the_badge_looks_at_the_uncapped_ratio() -> None:
    found = compute_hallucination_metrics("a b c", "a b c " * 20, length_ratio_threshold=15)
    assert found.length_ratio == 9.99
    assert (found.anchor_score > 0.3, found.is_hallucinating) == (True, True)


@settings(max_examples=100)
@given(results)
def test_a_result_survives_json_but_for_the_digits_that_rounding_takes(result: HallucinationMetrics) -> None:
    rounded = result.as_dict()
    again = HallucinationMetrics.from_dict(json.loads(json.dumps(rounded, allow_nan=False)))
    assert again.as_dict() == rounded
    assert again.hallucinated_blocks == result.hallucinated_blocks
    for name in ("net_insertion_rate", "length_ratio", "anchor_score"):
        assert getattr(again, name) == round(getattr(result, name), 6)


def test_a_partial_dict_is_read_with_the_defaults_and_unknown_fields_are_ignored() -> None:
    assert HallucinationMetrics.from_dict({}) == HallucinationMetrics(
        net_insertion_rate=0.0,
        length_ratio=1.0,
        anchor_score=1.0,
        hallucinated_blocks=[],
        is_hallucinating=False,
        gt_word_count=0,
        hyp_word_count=0,
        net_inserted_words=0,
        anchor_threshold_used=0.5,
        length_ratio_threshold_used=1.2,
        ngram_size_used=3,
    )
    assert HallucinationMetrics.from_dict({"anchor_score": 0, "engine": "x"}).anchor_score == 0


def test_values_of_a_dict_are_kept_as_they_are() -> None:
    found = HallucinationMetrics.from_dict({"anchor_score": None, "length_ratio": "1", "gt_word_count": None})
    kept = vars(found)
    assert (kept["anchor_score"], kept["length_ratio"], kept["gt_word_count"]) == (None, "1", None)
    with pytest.raises(TypeError):
        HallucinationMetrics.from_dict({"hallucinated_blocks": None})
    with pytest.raises(TypeError):
        HallucinationMetrics.from_dict({"hallucinated_blocks": [{"start_token": 1}]})


def test_results_are_dataclasses_whose_fields_can_be_set() -> None:
    found = compute_hallucination_metrics("a b c d e f", "a x b c y d e f")
    assert dataclasses.asdict(found)["hallucinated_blocks"] == [block.as_dict() for block in found.hallucinated_blocks]
    assert dataclasses.replace(found, anchor_score=1.0).anchor_score == 1.0
    assert list(vars(found))[:3] == ["net_insertion_rate", "length_ratio", "anchor_score"]
    assert vars(found.hallucinated_blocks[0])["text"] == "x b c y"
    found.is_hallucinating = False
    found.hallucinated_blocks[0].text = "other"
    assert (found.is_hallucinating, found.hallucinated_blocks[0].text) == (False, "other")
    with pytest.raises(TypeError):
        HallucinationMetrics()  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("reference", "hypothesis", "n", "score"),
    [("a", "a", 0, 1.0), ("a b", "", 0, 1.0), ("", "x", 0, 1.0), ("a b c", "a b c", -1, 1.0), ("a b", "c d", -1, 0.75)],
)
def test_ngrams_without_words_are_counted_like_any_other(reference: str, hypothesis: str, n: int, score: float) -> None:
    found = compute_hallucination_metrics(reference, hypothesis, n=n)
    assert (found.anchor_score, found.ngram_size_used) == (score, n)


@pytest.mark.parametrize(
    ("setting", "value", "blocks", "badge"),
    [
        # Two known words in a row do not end a block when two and a half are asked for, and nothing ends one when
        # any number of known words is too few.
        ("block_tolerance", 2.5, [(0, 5)], True),
        ("block_tolerance", math.inf, [(0, 8)], True),
        ("block_tolerance", math.nan, [(0, 8)], True),
        ("block_tolerance", -1, [], True),
        ("min_block_length", 6.5, [], True),
        ("length_ratio_threshold", math.nan, [(0, 5)], True),
        ("anchor_threshold", math.nan, [(0, 5)], True),
    ],
)
def test_odd_settings_are_taken_by_the_letter(
    setting: str, value: Any, blocks: list[tuple[int, int]], badge: bool
) -> None:
    found = compute_hallucination_metrics("a b c", "x a b x y z a b c", **{setting: value})
    assert [(block.start_token, block.end_token) for block in found.hallucinated_blocks] == blocks
    assert found.is_hallucinating == badge


@pytest.mark.parametrize("setting", ["n", "anchor_threshold", "block_tolerance", "min_block_length"])
def test_a_setting_that_is_no_number_is_a_type_error_when_it_is_needed(setting: str) -> None:
    with pytest.raises(TypeError):
        compute_hallucination_metrics("a b c", "x a b x y z a", **{setting: cast("Any", None)})


def test_a_badge_by_the_anchor_needs_no_other_limit() -> None:
    assert compute_hallucination_metrics("a b c", "x y z", length_ratio_threshold=None).is_hallucinating  # type: ignore[arg-type]


def test_only_a_mapping_is_read_back() -> None:
    with pytest.raises(AttributeError):
        HallucinationMetrics.from_dict(None)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        HallucinationMetrics.from_dict({"hallucinated_blocks": None})


def test_an_infinite_length_is_not_too_long() -> None:
    assert not compute_hallucination_metrics("", "some text", anchor_threshold=0).is_hallucinating


def test_the_names_with_an_underscore_are_there() -> None:
    assert picarones._tokenize("Le  Roi,\n") == ["le", "roi,"]
    assert picarones._ngrams(["a", "b"], 3) == [("a", "b")]
    assert picarones._ngrams([], 3) == []
    assert picarones._ngrams(["a", "b", "c"], 2) == [("a", "b"), ("b", "c")]


@settings(max_examples=200)
@given(texts, texts, st.integers(-1, 4), st.integers(0, 5))
def test_blocks_by_tokens_are_those_of_the_document(
    reference: str, hypothesis: str, tolerance: int, shortest: int
) -> None:
    found = compute_hallucination_metrics(reference, hypothesis, 3, 1.2, 0.5, tolerance, shortest)
    tokens, known = picarones._tokenize(hypothesis), set(picarones._tokenize(reference))
    assert picarones._detect_hallucinated_blocks(tokens, known, tolerance, shortest) == found.hallucinated_blocks


def test_nothing_to_aggregate_is_an_empty_dict() -> None:
    assert aggregate_hallucination_metrics([]) == {}


def test_documents_are_averaged_with_the_same_weight_and_capped_ratios() -> None:
    # Rows 1, 2, 3 and 5 of the table. By hand: anchors 1, 1/2, 0, 0; ratios 1, 86/51, 0, 9.99; insertions 0, 3/7, 0, 1.
    found = aggregate_hallucination_metrics([compute_hallucination_metrics(*TABLE[row][:2]) for row in (0, 1, 2, 4)])
    assert found == {
        "anchor_score_mean": 0.375,
        "anchor_score_min": 0.0,
        "length_ratio_mean": round((1 + 86 / 51 + 0 + 9.99) / 4, 6),
        "net_insertion_rate_mean": 0.357143,
        "hallucinating_doc_count": 3,
        "hallucinating_doc_rate": 0.75,
        "document_count": 4,
    }
    assert json.loads(json.dumps(found)) == found


def test_means_are_rounded_to_six_decimals() -> None:
    third = compute_hallucination_metrics("a b c", "a b c x x")
    assert third.anchor_score == 1 / 3
    found = aggregate_hallucination_metrics([third, third, compute_hallucination_metrics("a", "a")])
    assert (found["anchor_score_mean"], found["anchor_score_min"]) == (0.555556, 0.333333)
    assert found["hallucinating_doc_rate"] == 0.666667

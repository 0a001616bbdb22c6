"""Pairs of aspect and polarity against gold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.aspects.metrics.tuples import (
    Stated,
    TupleMatch,
    has_conflict,
    has_severe_error,
    match_explicit,
    match_implicit,
    match_stated,
    match_tuples,
    pairs_of,
    stated_by,
    tidy_polarity,
    tidy_term,
)
from hallumeter.aspects.records.aspect import AspectTuple

POSITIVE, NEGATIVE = "positive", "negative"
drawn_pairs = st.lists(
    st.tuples(st.sampled_from(["", "food", "staff", "bar"]), st.sampled_from([POSITIVE, NEGATIVE, "neutral", ""])),
    max_size=5,
)


def said(*pairs: tuple[str, str | None]) -> tuple[AspectTuple, ...]:
    return tuple(AspectTuple(*pair) for pair in pairs)


@pytest.mark.parametrize(
    ("term", "tidied"),
    [
        ("  Battery Life ", "battery life"),
        ("battery\u00a0 life", "battery life"),
        ('"food"', "food"),
        ("(the) food!", "the) food"),
        ("배터리", "배터리"),
        ("...", ""),
        ("C++", "c"),
        ("", ""),
    ],
)
def test_terms_are_compared_without_case_outer_punctuation_and_double_spaces(term: str, tidied: str) -> None:
    assert tidy_term(term) == tidied


def test_a_decomposed_term_is_the_same_as_a_composed_one() -> None:
    assert tidy_term("\u1107\u1172") == tidy_term("뷰")


@pytest.mark.parametrize(
    ("polarity", "tidied"),
    [("positive", "positive"), ("POS", "positive"), ("neu", "neutral"), (None, ""), (" Negative ", "negative")],
)
def test_polarities_are_mapped_as_whole_words(polarity: str | None, tidied: str) -> None:
    assert tidy_polarity(polarity) == tidied


def test_a_word_that_begins_like_a_polarity_is_none() -> None:
    assert tidy_polarity("posit") == "posit"


@pytest.mark.parametrize(
    ("predicted", "gold", "expected"),
    [
        (said(("food", POSITIVE)), said(("Food", "pos")), (1, 1, 1)),
        (said(("food", POSITIVE), ("food", POSITIVE)), said(("food", POSITIVE)), (1, 1, 1)),
        (said(("food", NEGATIVE)), said(("food", POSITIVE)), (0, 1, 1)),
        (said(("food", None)), said(("food", POSITIVE)), (0, 1, 1)),
        (said(("bar", POSITIVE)), said(("", POSITIVE)), (1, 1, 1)),
        (said(("", POSITIVE)), said(("", POSITIVE)), (1, 1, 1)),
        (said(("", POSITIVE)), said(("food", POSITIVE)), (0, 1, 1)),
        (said(("food", POSITIVE)), said(("food", POSITIVE), ("", POSITIVE)), (1, 1, 2)),
        (said(("food", POSITIVE), ("bar", POSITIVE)), said(("food", POSITIVE), ("", POSITIVE)), (2, 2, 2)),
        (said(("bar", NEGATIVE)), said(("", POSITIVE)), (0, 1, 1)),
        ((), said(("food", POSITIVE)), (0, 0, 1)),
        (said(("food", POSITIVE)), (), (0, 1, 0)),
        ((), (), (0, 0, 0)),
    ],
)
def test_predictions_are_matched_one_to_one(
    predicted: tuple[AspectTuple, ...], gold: tuple[AspectTuple, ...], expected: tuple[int, int, int]
) -> None:
    assert match_tuples(predicted, pairs_of(gold)) == TupleMatch(*expected)


def test_a_prediction_may_be_matched_by_another_name_of_its_aspect_and_gold_may_not() -> None:
    predicted = (AspectTuple("value", POSITIVE, "price"), AspectTuple("food", POSITIVE, "menu"))
    assert match_tuples(predicted, [("price", POSITIVE), ("food", POSITIVE)]).is_perfect
    gold = pairs_of([AspectTuple("price", POSITIVE, "value")])
    assert match_tuples([AspectTuple("value", POSITIVE)], gold).matched == 0


def test_another_name_that_is_only_punctuation_names_nothing() -> None:
    assert match_tuples([AspectTuple("value", POSITIVE, "--")], [("", NEGATIVE)]).matched == 0


def test_explicit_aspects_are_compared_alone() -> None:
    stated = stated_by([AspectTuple("food", POSITIVE, "menu"), AspectTuple("", NEGATIVE, "menu")])
    assert match_explicit(stated, [("food", POSITIVE), ("", NEGATIVE)]) == TupleMatch(1, 1, 1)
    assert stated.some(is_named=False).pairs == (("", NEGATIVE),)


@pytest.mark.parametrize(
    ("predicted", "expected"),
    [
        (said(("food", POSITIVE), ("bar", NEGATIVE)), (1, 1, 1)),
        (said(("food", POSITIVE)), (0, 0, 1)),
        (said(("bar", NEGATIVE), ("", POSITIVE)), (1, 2, 1)),
    ],
)
def test_unnamed_gold_is_compared_by_the_polarities_that_are_left(
    predicted: tuple[AspectTuple, ...], expected: tuple[int, int, int]
) -> None:
    gold = [("food", POSITIVE), ("", NEGATIVE)]
    assert match_implicit(stated_by(predicted), gold) == TupleMatch(*expected)


def test_f1_by_hand() -> None:
    assert TupleMatch(1, 2, 1).f1 == pytest.approx(2 / 3)
    assert TupleMatch(0, 0, 3).f1 == 0
    assert TupleMatch(0, 0, 0).f1 == 1
    assert not TupleMatch(1, 2, 1).is_perfect


@pytest.mark.parametrize(
    ("predicted", "is_severe"),
    [
        (said(("food", NEGATIVE)), True),
        (said(("food", POSITIVE)), False),
        (said(("food", None)), False),
        (said(("staff", NEGATIVE)), False),
        (said(("bar", NEGATIVE)), False),
        (said(("", NEGATIVE)), False),
    ],
)
def test_a_severe_error_is_a_wrong_polarity_of_a_right_aspect(
    predicted: tuple[AspectTuple, ...], is_severe: bool
) -> None:
    gold = (("food", POSITIVE), ("bar", POSITIVE), ("bar", NEGATIVE), ("", POSITIVE))
    assert has_severe_error(stated_by(predicted), gold) is is_severe


def test_what_equals_gold_has_no_severe_error() -> None:
    gold = (("food", POSITIVE), ("bar", POSITIVE))
    assert not has_severe_error(Stated(gold), gold)


@pytest.mark.parametrize(
    ("stated", "is_conflict"),
    [
        (said(("food", POSITIVE), ("Food", NEGATIVE)), True),
        (said(("food", POSITIVE), ("food", None)), False),
        (said(("", POSITIVE), ("", NEGATIVE)), False),
        (said(("food", POSITIVE), ("bar", NEGATIVE)), False),
    ],
)
def test_a_conflict_is_one_named_aspect_with_two_polarities(stated: tuple[AspectTuple, ...], is_conflict: bool) -> None:
    assert has_conflict(stated_by(stated)) is is_conflict


@given(drawn_pairs)
def test_any_tuples_match_themselves(pairs: list[tuple[str, str]]) -> None:
    stated = stated_by(said(*pairs))
    assert match_stated(stated, list(stated.pairs)).is_perfect
    assert match_stated(stated, stated.pairs).f1 == 1


@given(drawn_pairs, drawn_pairs)
def test_no_more_is_matched_than_there_is(predicted: list[tuple[str, str]], gold: list[tuple[str, str]]) -> None:
    match = match_tuples(said(*predicted), pairs_of(said(*gold)))
    assert 0 <= match.matched <= min(match.predicted, match.gold)
    assert 0 <= match.f1 <= 1
    assert match.is_perfect == (match.f1 == 1)

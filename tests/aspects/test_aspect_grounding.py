"""The filter of aspects: what is kept, and why the rest is dropped."""

from __future__ import annotations

import unicodedata

import pytest

from hallumeter.aspects.grounding import AspectGrounder, target_words
from hallumeter.aspects.records.aspect import Aspect, TextSpan
from hallumeter.aspects.records.scorecard import AspectPlacement, FilteredAspect

TEXT = "배터리는 좋지만 뷰가 별로"


def grounded(text: str, term: str, span: tuple[int, int] | None, *, allowlist: tuple[str, ...] = ()) -> FilteredAspect:
    aspect = Aspect(term, None if span is None else TextSpan(*span))
    [found] = AspectGrounder(target_words(allowlist)).ground(text, [aspect]).filtered
    return found


def placed(text: str, term: str, span: tuple[int, int] | None) -> AspectPlacement:
    placement = grounded(text, term, span).placement
    assert placement is not None
    return placement


@pytest.mark.parametrize(
    ("term", "span", "action", "drop_class"),
    [
        ("배터리", (0, 3), "keep", None),
        ("뷰", (9, 10), "keep", None),
        ("화면", (9, 11), "drop", "H1"),
        ("배터리", (0, 4), "drop", "H2"),
        ("배터리", None, "drop", "H2"),
        ("가", (10, 11), "drop", "filter"),
        ("하지만", (5, 8), "drop", "H1"),
        ("좋지만", (5, 8), "keep", None),
        ("별로", (12, 99), "drop", "H2"),
        ("별로", (-2, 14), "drop", "H2"),
        ("별로", (14, 12), "drop", "H2"),
        ("", (0, 0), "drop", "filter"),
        ("", None, "drop", "filter"),
    ],
)
def test_an_aspect_is_kept_or_dropped_with_a_class(
    term: str, span: tuple[int, int] | None, action: str, drop_class: str | None
) -> None:
    found = grounded(TEXT, term, span)
    assert (found.action, found.drop_class) == (action, drop_class)
    assert found.drop_reason == (None if action == "keep" else "other_not_target")


def test_python_would_slice_the_spans_that_are_refused() -> None:
    assert TEXT[12:99] == TEXT[-2:14] == "별로"


def test_an_allowlist_extends_the_one_that_ships() -> None:
    assert grounded(TEXT, "가", (10, 11), allowlist=("가",)).action == "keep"
    assert grounded(TEXT, "뷰", (9, 10), allowlist=("가",)).action == "keep"


def test_stop_terms_are_extended_too() -> None:
    words = target_words(stop_terms=["별로"])
    assert not words.is_target("별로")
    assert not words.is_target("하지만")


def test_a_decomposed_syllable_is_one_character_of_a_term() -> None:
    text = unicodedata.normalize("NFD", "가 뷰")
    found = grounded(text, text[:2], (0, 2))
    assert found.drop_class == "filter"


def test_a_term_in_another_unicode_form_stands_in_the_text() -> None:
    text = unicodedata.normalize("NFD", TEXT)
    found = grounded(text, "배터리", (0, 3))
    assert found.drop_class == "H2"
    assert found.placement is not None
    assert found.placement.nearest == TextSpan(0, len(unicodedata.normalize("NFD", "배터리")))
    assert found.placement.conventions == ("nfc_code_points",)


def test_a_term_that_only_composing_puts_together_has_no_place() -> None:
    mixed = unicodedata.normalize("NFD", "배") + "터" + unicodedata.normalize("NFD", "리")
    found = grounded(mixed, "배터리", (0, 3))
    assert found.drop_class == "H2"
    assert found.placement == AspectPlacement()


@pytest.mark.parametrize(
    ("given", "nearest", "error"),
    [
        ((1, 5), (0, 4), 1),
        ((12, 16), (10, 14), 2),
        ((9, 13), (10, 14), -1),
        ((5, 9), (0, 4), 5),  # as far from both: the earlier one
        ((-3, 1), (0, 4), -3),
        ((90, 94), (10, 14), 80),
        ((10, 13), (10, 14), 0),
    ],
)
def test_the_nearest_occurrence_is_told_with_the_error(
    given: tuple[int, int], nearest: tuple[int, int], error: int
) -> None:
    found = placed("food, and food", "food", given)
    assert found.nearest == TextSpan(*nearest)
    assert found.offset_error == error


def test_without_a_span_the_first_occurrence_is_told_and_no_error() -> None:
    assert placed("food, and food", "food", None) == AspectPlacement(TextSpan(0, 4))


def test_a_term_that_is_not_there_has_no_place() -> None:
    assert placed("food, and food", "service", (0, 7)) == AspectPlacement()


@pytest.mark.parametrize(
    ("text", "term", "span", "conventions"),
    [
        ("맛은 좋다", "좋다", (7, 13), ("utf8_bytes",)),
        ("😀 food", "food", (3, 7), ("utf16_units",)),
        ("맛은 좋다", "좋다", (7, 12), ("nfd_code_points",)),
        ("맛은 좋다", "좋다", (4, 6), ()),
    ],
)
def test_the_way_of_counting_that_makes_a_span_right_is_named(
    text: str, term: str, span: tuple[int, int], conventions: tuple[str, ...]
) -> None:
    if conventions == ("nfd_code_points",):
        start = len(unicodedata.normalize("NFD", text[: text.index(term)]))
        span = (start, start + len(unicodedata.normalize("NFD", term)))
    assert placed(text, term, span).conventions == conventions


def test_right_spans_are_counted_under_every_way() -> None:
    text = "맛은 좋다"
    aspects = [
        Aspect("맛은", TextSpan(0, 2)),  # right as it is, and in UTF-16; nothing else counts Korean so
        Aspect("좋다", TextSpan(7, 13)),  # bytes
        Aspect("좋다"),  # no span
        Aspect("국물", TextSpan(0, 2)),  # not in the text
    ]
    assert AspectGrounder().ground(text, aspects).right_under == {
        "placed": 2, "code_points": 1, "utf16_units": 1, "nfc_code_points": 1, "utf8_bytes": 1,
    }  # fmt: skip


def test_kept_and_dropped_terms_are_listed_in_order() -> None:
    aspects = [Aspect("뷰", TextSpan(9, 10)), Aspect("화면"), Aspect("배터리", TextSpan(0, 3)), Aspect("가")]
    found = AspectGrounder().ground(TEXT, aspects)
    assert found.kept_terms == ("뷰", "배터리")
    assert found.dropped_terms == ("화면", "가")


@pytest.mark.parametrize(
    ("term", "span", "words"),
    [
        ("", None, "the term is empty"),
        ("screen", (0, 6), "the term does not stand in the text"),
        ("FOOD", (0, 4), "but does in other case"),
        ("d", (3, 4), "too short or a stop term"),
        ("food", None, "has no span"),
        ("food", (0, 99), "the span 0-99 does not lie in the text"),
        ("food", (1, 5), "the text at 1-5 is not the term"),
        ("d", (1, 2), "and it is no target"),
    ],
)
def test_a_judgement_says_why(term: str, span: tuple[int, int] | None, words: str) -> None:
    aspect = Aspect(term, None if span is None else TextSpan(*span))
    [judgement] = AspectGrounder().ground("food is fine", [aspect]).judgements
    assert judgement.reason is not None
    assert words in judgement.reason


def test_half_a_character_pair_breaks_nothing() -> None:
    text = "a\ud83d b"
    assert grounded(text, "\ud83d b", (1, 4)).action == "keep"
    assert grounded(text, " b", (3, 5)).drop_class == "H2"


def test_a_long_text_of_one_letter_is_read_at_once() -> None:
    text = "a" * 1_000_000
    assert placed(text, "aa", (1_000_005, 1_000_007)).nearest == TextSpan(999_998, 1_000_000)


@pytest.mark.parametrize("term", ["맛", "차", "빵", "뷰", "방", "값", "바", "램", "폭", "젤"])
def test_korean_targets_of_one_syllable_are_kept(term: str) -> None:
    found = AspectGrounder(target_words()).ground(f"{term} 좋다", [Aspect(term, TextSpan(0, 1))])
    assert found.kept_terms == (term,)


@pytest.mark.parametrize("term", ["가", "네", "크"])
def test_other_syllables_are_no_targets(term: str) -> None:
    found = AspectGrounder(target_words()).ground(f"{term} 좋다", [Aspect(term, TextSpan(0, 1))])
    assert [each.drop_class for each in found.filtered] == ["filter"]


@pytest.mark.parametrize(
    ("text", "term"), [("줄이 너무 길어요.", "줄"), ("잔이 깨졌어요.", "잔"), ("룸이 넓어요.", "룸")]
)
def test_korean_nouns_of_one_syllable_that_reviews_speak_about_are_targets(text: str, term: str) -> None:
    assert grounded(text, term, (0, 1)).action == "keep"

"""When terms mean the same aspect."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_reader import at, draft_of, felt, read

from hallumeter.aspects.records.aspect import Aspect, TextSpan
from hallumeter.aspects.records.outputs import AspectMapping, AspectState
from hallumeter.aspects.resource_files import shipped_patterns
from hallumeter.aspects.stages.draft import Draft, states_of
from hallumeter.aspects.stages.hints import TermIndex
from hallumeter.aspects.stages.terms import SqueezedText, anchor_of, holds_term, place_of_term, term_key

KOREAN, ENGLISH = shipped_patterns()["ko"].synonyms, shipped_patterns()["en"].synonyms


def index(*terms: str, text: str = "", synonyms: dict[str, tuple[str, ...]] | None = None) -> TermIndex:
    return TermIndex(terms, synonyms or {}, read(text))


def test_spaces_marks_case_and_the_unicode_form_do_not_count() -> None:
    assert term_key("Battery-life!") == term_key("battery  LIFE") == "batterylife"
    assert term_key("배터리 수명") == term_key("배터리수명")
    assert term_key("\u1112\u116a\u1106\u1167\u11ab") == term_key("화면")


@pytest.mark.parametrize(
    ("whole", "part", "expected"),
    [
        ("battery life", "battery", True),
        ("Screens", "screen", True),
        ("price", "ice", False),
        ("스마트폰화면", "화면", True),
        ("앱이", "앱", True),
        ("영향", "향", False),
        ("app이", "app", True),
        ("신형app", "app", True),
        ("happy", "app", False),
        ("battery", "", False),
        ("", "battery", False),
        ("", "", False),
        ("battery", "?", False),
    ],
)
def test_a_term_holds_another_only_as_a_term_of_its_own(whole: str, part: str, expected: bool) -> None:
    assert holds_term(whole, part) is expected


def test_a_key_is_found_at_every_place() -> None:
    assert SqueezedText("screen, screen; screenplay").places("screen") == [(0, 6), (6, 12)]
    assert SqueezedText("anything").places("") == []


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        ("battery", "battery"),
        ("Battery", "battery"),
        ("battery life of it", "battery life"),
        ("life", "battery life"),
        ("ice", None),
        ("", None),
        ("!", None),
    ],
)
def test_a_term_is_anchored_to_the_same_aspect_before_a_longer_or_shorter_one(term: str, expected: str | None) -> None:
    assert anchor_of(term, ["price", "battery life", "battery", ""]) == expected


def test_nothing_is_anchored_where_there_are_no_aspects() -> None:
    assert anchor_of("battery", []) is None


@pytest.mark.parametrize(
    ("near", "expected"),
    [(None, (0, 2)), (TextSpan(6, 8), (6, 8)), (TextSpan(5, 9), (6, 8)), (TextSpan(-5, -1), (0, 2))],
)
def test_a_term_is_looked_for_at_its_span_then_near_it(near: TextSpan | None, expected: tuple[int, int]) -> None:
    assert place_of_term("가나 다라 가나", "가나", near) == expected


def test_terms_that_do_not_occur_have_no_place() -> None:
    assert place_of_term("가나", "다", None) is None
    assert place_of_term("가나", "", TextSpan(0, 0)) is None


def test_synonyms_lead_to_the_aspect_and_its_own_name_comes_first() -> None:
    both = index("가격", "비용", synonyms=KOREAN)
    assert both.exactly("가격") == "가격"
    assert both.exactly("비용") == "비용"
    assert both.exactly("금액") == "가격"
    assert both.entries[:2] == (AspectMapping("가격", "가격"), AspectMapping("비용", "비용"))
    assert index("비용", synonyms=KOREAN).exactly("가격") == "비용"
    assert both.synonyms["가격"] == ("비용", "가성비", "금액")


def test_an_english_word_within_another_word_joins_no_group() -> None:
    assert index("ice", synonyms=ENGLISH).synonyms == {}
    assert "cost" in index("menu price", synonyms=ENGLISH).synonyms["menu price"]


def test_an_aspect_is_recognised_with_a_particle_and_never_by_nothing() -> None:
    known = index("배터리", text="배터리가 좋다")
    assert known.exactly("배터리가") == "배터리"
    assert known.exactly("배터리를") == "배터리"
    assert [known.exactly(words) for words in (None, "", " ", "!", "화면")] == [None] * 5
    assert known.meant(None) == ()


def test_aspects_within_words_come_in_their_order_and_longer_names_hide_those_inside() -> None:
    known = index("battery", "screen", "battery life")
    assert known.within("the screen and its battery life") == ("screen", "battery life")
    assert known.within("the battery, and battery life") == ("battery", "battery life")
    assert known.within("screenplay") == ()
    assert known.within("") == ()


def test_terms_without_letters_are_no_aspects_of_an_index() -> None:
    assert index("", "!", "screen", "screen").terms == ("screen",)


@given(st.lists(st.text(max_size=8), max_size=6), st.text(max_size=30))
def test_any_words_are_mapped_the_same_way_each_time(terms: list[str], words: str) -> None:
    first, second = index(*terms), index(*terms)
    assert first.meant(words) == second.meant(words)
    assert set(first.meant(words)) <= set(terms)
    for term in first.terms:
        assert first.exactly(term) == term


TEXT = "screen here, screen there"
HERE, THERE = at(TEXT, "screen"), at(TEXT, "screen", 1)


def test_a_state_has_one_line_for_each_sentiment_of_an_aspect() -> None:
    draft = Draft((Aspect("screen", HERE),), (felt("screen", "positive"), felt("screen", "negative")))
    assert [state.polarity for state in states_of(draft)] == ["positive", "negative"]


def test_aspects_with_one_term_keep_their_sentiments_apart_by_place() -> None:
    aspects = (Aspect("screen", HERE), Aspect("screen", THERE))
    draft = Draft(aspects, (felt("screen", "negative", span=THERE), felt("screen", "positive", span=HERE)))
    assert states_of(draft) == (AspectState("screen", HERE, "positive"), AspectState("screen", THERE, "negative"))
    shared = Draft(aspects, (felt("screen", "negative"),))
    assert [state.polarity for state in states_of(shared)] == ["negative", "negative"]


def test_sentiments_without_an_aspect_come_last() -> None:
    draft = Draft((Aspect(""),), (felt(None, "positive"), felt("", None), felt("camera", "negative", span=HERE)))
    assert states_of(draft) == (
        AspectState("", None, None, has_sentiment=False),
        AspectState("", None, "positive"),
        AspectState("", None, None),
        AspectState("camera", HERE, "negative"),
    )


def test_terms_of_a_draft_are_listed_once() -> None:
    draft = draft_of(TEXT, {"screen": "positive", "here": None})
    doubled = Draft((*draft.aspects, *draft.aspects), (*draft.sentiments, felt("", "positive")))
    assert doubled.aspect_terms == doubled.sentiment_terms == ("screen", "here")

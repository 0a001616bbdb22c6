"""Tidying with the Korean reader: particles and contrasts are morphemes, not strings."""

from __future__ import annotations

import pytest
from small_reader import at, terms

from hallumeter.aspects.readers.korean.reader import KoreanReader
from hallumeter.aspects.records.aspect import Aspect, StructuralRisk
from hallumeter.aspects.records.outputs import StructuralValidation
from hallumeter.aspects.stages.draft import Draft, ReadSentence
from hallumeter.aspects.stages.hints import TermIndex
from hallumeter.aspects.stages.tidying import gated_validation, tidied_aspects

READER = KoreanReader()


def tidied_terms(text: str, *given: str) -> list[str]:
    aspects = tuple(Aspect(term, at(text, term)) for term in given)
    tidied = tidied_aspects(aspects, ReadSentence(text, READER))
    for aspect in tidied.aspects:
        assert aspect.span is not None
        assert text[aspect.span.start : aspect.span.end] == aspect.term
    return terms(tidied.aspects)


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        ("고양이 무늬가 귀엽다", "고양이", "고양이"),
        ("고양이가 귀엽다", "고양이가", "고양이"),
        ("종이 질감이 좋다", "종이", "종이"),
        ("종이가 두껍다", "종이가", "종이"),
        ("배터리는 오래 간다", "배터리는", "배터리"),
        ("화면을 바꿨다", "화면을", "화면"),
        ("나이에 맞는 옷이다", "나이", "나이"),
    ],
)
def test_a_particle_is_cut_only_where_morphology_says_so(text: str, given: str, expected: str) -> None:
    assert tidied_terms(text, given) == [expected]


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        ("배터리는 좋지만 화면이 어둡다", "배터리", ["배터리", "화면"]),
        ("가격은 비싼데 품질은 좋아요", "가격은", ["가격", "품질"]),
        ("인데스크 앱은 편하다", "앱", ["앱"]),
        ("지만이네 김밥은 맛있다", "김밥", ["김밥"]),
    ],
)
def test_a_contrast_is_a_morpheme_and_not_a_string(text: str, given: str, expected: list[str]) -> None:
    assert tidied_terms(text, given) == expected


@pytest.mark.parametrize(("text", "is_negated"), [("화면이 안 좋다", True), ("안경이 예쁘다", False)])
def test_a_negation_is_a_morpheme_and_not_a_string(text: str, is_negated: bool) -> None:
    validation = StructuralValidation((StructuralRisk("NEGATION"),))
    gated, _ = gated_validation(validation, ReadSentence(text, READER), risk=None, draft=Draft())
    assert bool(gated.structural_risks) is is_negated


def test_a_debate_may_name_an_aspect_with_its_particle() -> None:
    index = TermIndex(["고양이", "종이"], {}, ReadSentence("고양이와 종이가 있다", READER))
    assert index.exactly("종이가") == "종이"
    assert index.exactly("고양이는") == "고양이"
    assert index.exactly("고양") is None

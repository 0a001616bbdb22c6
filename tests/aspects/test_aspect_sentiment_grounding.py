"""Judgements of sentiments: attribution, grounding, evidence."""

from __future__ import annotations

import pytest

from hallumeter.aspects.grounding import judge_sentiments
from hallumeter.aspects.records.aspect import AspectSentiment, AspectTerm, TextSpan
from hallumeter.aspects.records.scorecard import SentimentJudgement

TEXT = "배터리는 좋지만 뷰가 별로"


def judged(sentiment: AspectSentiment, *kept: str) -> SentimentJudgement:
    [found] = judge_sentiments(TEXT, [sentiment], kept=kept).sentiment_judgements
    return found


def said(term: str, span: tuple[int, int] | None, evidence: str | None = "좋지만") -> AspectSentiment:
    place = None if span is None else TextSpan(*span)
    return AspectSentiment(AspectTerm(term, place), "positive", evidence=evidence)


def test_a_sentiment_about_a_kept_aspect_at_its_place_has_no_issue() -> None:
    found = judged(said("배터리", (0, 3)), "배터리")
    assert (found.attribution_score, found.opinion_grounded, found.evidence_relevant) == (1, True, True)
    assert found.issues == ()


@pytest.mark.parametrize("span", [(1, 4), (-3, 3), (0, 99)])
def test_a_misplaced_aspect_is_not_grounded_and_the_fix_is_told(span: tuple[int, int]) -> None:
    found = judged(said("배터리", span))
    assert found.attribution_score == 0
    assert found.opinion_grounded is False
    assert found.issues[0].startswith("opinion_not_grounded: ")
    assert found.suggested_fix == "the term stands at 0-3"


def test_an_aspect_that_is_not_in_the_text_has_no_fix() -> None:
    found = judged(said("화면", None))
    assert found.opinion_grounded is False
    assert found.suggested_fix is None


def test_a_term_without_a_span_is_grounded_when_it_stands_in_the_text() -> None:
    assert judged(said("배터리", None)).opinion_grounded is True


def test_an_aspect_that_is_not_named_attaches_to_nothing() -> None:
    for term in (None, AspectTerm("", TextSpan(0, 0))):
        found = judged(AspectSentiment(term, "positive", evidence="별로"), "배터리")
        assert (found.attribution_score, found.opinion_grounded, found.evidence_relevant) == (None, None, True)


@pytest.mark.parametrize("evidence", [None, "", "최악"])
def test_evidence_that_is_no_part_of_the_text_is_not_relevant(evidence: str | None) -> None:
    found = judged(said("배터리", (0, 3), evidence))
    assert found.evidence_relevant is False
    assert ("unknown/insufficient" in found.issues) == (not evidence)


def test_a_missing_polarity_is_insufficient_and_not_neutral() -> None:
    found = judged(AspectSentiment(AspectTerm("배터리", TextSpan(0, 3)), None, evidence="좋지만"))
    assert found.issues == ("unknown/insufficient",)


def test_the_rates_of_a_sentence_count_what_can_be_judged() -> None:
    sentiments = [
        said("배터리", (0, 3)),
        said("화면", (0, 2), "없다"),
        AspectSentiment(None, "negative", evidence="별로"),
    ]
    score = judge_sentiments(TEXT, sentiments, kept=("배터리",))
    assert score.mean_attribution_score == score.opinion_grounded_rate == 0.5
    assert score.evidence_relevance_score == pytest.approx(2 / 3)
    assert score.evidence_flags == ("화면",)


def test_no_sentiments_have_no_rates() -> None:
    score = judge_sentiments(TEXT, [], kept=())
    assert score.mean_attribution_score is score.opinion_grounded_rate is score.evidence_relevance_score is None

"""On what the polarity of a sentence rests."""

from __future__ import annotations

from typing import Any

import pytest

from aspect_outputs import gold_card
from hallumeter.aspects.metrics.counts import grounding_bucket, is_unsupported_by_the_older_rule
from hallumeter.aspects.records.scorecard import (
    AspectDebug,
    AspectTermInput,
    FilteredAspect,
    FinalTuples,
    ModeratorScore,
    ParsedOutput,
    Scorecard,
    ScorecardInputs,
    ScoreRuntime,
    SentimentInput,
    SentimentJudgement,
    SentimentScore,
    StageLabel,
)

LABEL = ModeratorScore("positive")
KEPT = ScorecardInputs(AspectDebug(filtered=(FilteredAspect("뷰", None, "keep"),)))


def judged(*judgements: SentimentJudgement) -> SentimentScore:
    return SentimentScore(judgements)


GROUNDED = SentimentJudgement("뷰", 1, True)
INSUFFICIENT = SentimentJudgement("뷰", 1, True, issues=("unknown/insufficient",))
MISPLACED = SentimentJudgement("뷰", 1, False, issues=("opinion_not_grounded: elsewhere",))
UNJUDGED = SentimentJudgement("뷰", 1, None)


@pytest.mark.parametrize(
    ("said", "changes", "bucket"),
    [
        ((("", "positive"),), {}, "implicit"),
        ((("", "mixed"),), {}, "implicit"),
        ((("", None),), {}, "unsupported"),
        ((("", "great"),), {}, "unsupported"),
        ((("뷰", "positive"),), {"atsa": judged(GROUNDED)}, "explicit"),
        ((("뷰", "positive"),), {"atsa": judged(INSUFFICIENT)}, "explicit"),
        ((("뷰", "positive"),), {"atsa": judged(MISPLACED), "inputs": KEPT}, "explicit_failure"),
        ((("뷰", "positive"),), {"atsa": judged(UNJUDGED), "inputs": KEPT}, "explicit_failure"),
        ((("뷰", "positive"),), {"atsa": judged(MISPLACED)}, "implicit"),
        ((("뷰", "positive"),), {"atsa": judged(MISPLACED), "moderator": ModeratorScore("odd")}, "explicit_failure"),
        ((("배터리", "positive"),), {"atsa": judged(GROUNDED)}, "unsupported"),
        ((("뷰", "positive"),), {}, "unsupported"),
        ((), {"moderator": LABEL}, "implicit"),
        ((), {"moderator": ModeratorScore("odd")}, "unsupported"),
    ],
)
def test_every_sentence_has_one_bucket(said: Any, changes: dict[str, Any], bucket: str) -> None:
    assert grounding_bucket(gold_card(said, None, None, **({"moderator": LABEL} | changes))) == bucket


@pytest.mark.parametrize(
    "card",
    [
        Scorecard(),
        Scorecard(inputs=KEPT),
        Scorecard(stage1_ate=StageLabel("positive")),
        gold_card((), None, None, moderator=None, runtime=ScoreRuntime(parsed_output=ParsedOutput(FinalTuples()))),
        Scorecard(inputs=ScorecardInputs(sentence_sentiment=StageLabel())),
        Scorecard(inputs=ScorecardInputs(sentence_sentiment="")),
    ],
)
def test_a_sentence_of_whose_result_nothing_is_known_has_no_bucket(card: Scorecard) -> None:
    assert grounding_bucket(card) is None


@pytest.mark.parametrize(
    "card",
    [
        gold_card(
            (),
            None,
            None,
            moderator=None,
            runtime=ScoreRuntime(parsed_output=ParsedOutput(FinalTuples(None, None, None, None, ()))),
        ),
        Scorecard(moderator=ModeratorScore()),
        Scorecard(atsa=SentimentScore()),
    ],
)
def test_a_result_with_neither_a_tuple_nor_a_label_rests_on_nothing(card: Scorecard) -> None:
    assert grounding_bucket(card) == "unsupported"


@pytest.mark.parametrize("term", ["뷰", AspectTermInput("뷰"), None])
def test_without_tuples_the_first_sentiment_is_looked_at(term: Any) -> None:
    card = Scorecard(
        atsa=judged(GROUNDED), inputs=ScorecardInputs(aspect_sentiments=(SentimentInput(term, "positive"),))
    )
    assert grounding_bucket(card) == ("explicit" if term else "implicit")


@pytest.mark.parametrize("stated", ["positive", StageLabel("positive")])
def test_the_label_may_stand_among_the_inputs(stated: Any) -> None:
    assert grounding_bucket(Scorecard(inputs=ScorecardInputs(sentence_sentiment=stated))) == "implicit"


@pytest.mark.parametrize(
    ("judgements", "expected"),
    [
        ((), None),
        ((GROUNDED,), False),
        ((INSUFFICIENT,), False),
        ((MISPLACED,), True),
        ((SentimentJudgement("배터리", 1, True), MISPLACED), True),
        ((GROUNDED, SentimentJudgement("배터리", 1, False)), False),
    ],
)
def test_the_older_rule_looks_at_all_judgements(judgements: Any, expected: bool | None) -> None:
    card = gold_card((("뷰", "positive"),), None, None, atsa=SentimentScore(judgements))
    assert is_unsupported_by_the_older_rule(card) is expected


def test_the_older_rule_needs_judgements() -> None:
    assert is_unsupported_by_the_older_rule(Scorecard()) is None

"""On what the polarity of a sentence rests: words of the text, no named aspect, or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from hallumeter.records.aspects.scorecard_blocks import INSUFFICIENT, KEEP, SENTENCE_LABELS

from .tuples import VALID_POLARITIES, tidy_polarity, tidy_term

if TYPE_CHECKING:
    from hallumeter.records.aspects import AspectTuple
    from hallumeter.records.aspects.scorecard import Scorecard
    from hallumeter.records.aspects.scorecard_blocks import SentimentInput, SentimentJudgement

Bucket = Literal["implicit", "explicit", "explicit_failure", "unsupported"]


def grounding_bucket(card: Scorecard) -> Bucket | None:
    """The one bucket of a sentence, by its first final tuple; None when nothing is known of its result."""
    selected = _selected(card)
    label = card.final_label
    if selected is None:
        if label is None and not _has_result(card):
            return None
        return "implicit" if label in SENTENCE_LABELS else "unsupported"
    term, polarity = selected
    if not term:
        return "implicit" if polarity in VALID_POLARITIES else "unsupported"
    score = card.sentiment_score
    for judgement in score.sentiment_judgements if score is not None else ():
        if tidy_term(judgement.aspect_term or "") == term:
            if not fails(judgement) and judgement.opinion_grounded:
                return "explicit"
            return "implicit" if label in SENTENCE_LABELS and not _has_kept_aspect(card) else "explicit_failure"
    return "unsupported"


def is_unsupported_by_the_older_rule(card: Scorecard) -> bool | None:
    """Whether all judgements fail, or one of an aspect of the final tuples does; None without a judgement."""
    score = card.sentiment_score
    judgements = () if score is None else score.sentiment_judgements
    if not judgements:
        return None
    failing = [judgement for judgement in judgements if fails(judgement)]
    if len(failing) == len(judgements):
        return True
    named = {tidy_term(each.aspect_term) for each in _final_tuples(card)}
    return any(tidy_term(judgement.aspect_term or "") in named for judgement in failing)


def fails(judgement: SentimentJudgement) -> bool:
    """Whether a sentiment is not grounded, or has an issue beyond being too little told."""
    return judgement.opinion_grounded is False or any(issue != INSUFFICIENT for issue in judgement.issues)


def _has_result(card: Scorecard) -> bool:
    """Whether anything tells of the result, even that it has neither a tuple nor a label."""
    result = card.final_result
    has_tuples = result is not None and result.final_tuples is not None
    return has_tuples or card.moderator is not None or card.sentiment_score is not None


def _selected(card: Scorecard) -> tuple[str, str] | None:
    """Term and polarity of the first final tuple, else of the first sentiment."""
    found: tuple[AspectTuple, ...] | tuple[SentimentInput, ...] = _final_tuples(card)
    if found:
        return tidy_term(found[0].aspect_term), tidy_polarity(found[0].polarity)
    sentiments = () if card.inputs is None else card.inputs.aspect_sentiments
    return (tidy_term(sentiments[0].term), tidy_polarity(sentiments[0].polarity)) if sentiments else None


def _final_tuples(card: Scorecard) -> tuple[AspectTuple, ...]:
    result = card.final_result
    return () if result is None else result.final_tuples or ()


def _has_kept_aspect(card: Scorecard) -> bool:
    return any(aspect.action == KEEP for aspect in card.filtered)

"""Stage 2 offline: reviews of one's own stage 1, item by item, with what the debate said."""

from __future__ import annotations

from hallumeter.extractors.aspects.protocol import FoundTerm
from hallumeter.records.aspects import (
    Aspect,
    AspectExtraction,
    AspectReview,
    AspectReviewItem,
    AspectSentiments,
    FinalValidation,
    Polarity,
    ReviewContext,
    SentimentReview,
    SentimentReviewItem,
    StructuralReview,
    StructuralRisk,
    StructuralValidation,
    TextSpan,
)

from .offline_reading import clearness
from .opinions import Opinion, opinions_of, right_polarity
from .sentence_facts import SentenceFacts

_OF_CODE = "MISSING_SECOND_ASPECT"
"""A risk that code raises, and of which code alone says whether it is left."""


def reviewed_aspects(facts: SentenceFacts, stage1: AspectExtraction, context: ReviewContext | None) -> AspectReview:
    """ATE: keep what stands at its place, move what stands elsewhere, drop what stands nowhere."""
    items = [_aspect_item(facts, aspect, context) for aspect in stage1.aspects]
    places = [facts.place_of(aspect.term, aspect.span) for aspect in stage1.aspects]
    items += [
        AspectReviewItem(
            facts.words(found), "add", TextSpan(found.start, found.end), f"missing, {found.confidence:.2f} sure"
        )
        for found in _left_out(facts, [place for place in places if place is not None])
    ]
    return AspectReview(tuple(items))


def _aspect_item(facts: SentenceFacts, aspect: Aspect, context: ReviewContext | None) -> AspectReviewItem:
    place = facts.place_of(aspect.term, aspect.span)
    if place is None:
        return AspectReviewItem(aspect.term, "drop", reason="the term does not stand in the text")
    if not facts.is_target(aspect.term, place):
        return AspectReviewItem(aspect.term, "drop", reason="the term is no target")
    if not facts.is_known(place) and _is_unwanted(facts, aspect, context):
        return AspectReviewItem(aspect.term, "drop", reason="few speak for it, and the reader does not know it")
    if place != aspect.span and facts.stands_at(aspect.term, place):
        reason = f"the term stands at {place.start}-{place.end}"
        return AspectReviewItem(aspect.term, "revise_span", place, reason)
    is_right = place == aspect.span
    return AspectReviewItem(
        aspect.term, "keep", reason="it stands at its place" if is_right else "it stands there in another form"
    )


def _is_unwanted(facts: SentenceFacts, aspect: Aspect, context: ReviewContext | None) -> bool:
    """Whether an aspect was a guess, or most who spoke about it want it dropped."""
    hints = () if context is None else context.aspect_hints.get(aspect.term, ())
    dropping = sum(hint.weight for hint in hints if hint.is_drop)
    keeping = sum(hint.weight for hint in hints if not hint.is_drop)
    is_guess = aspect.confidence is not None and aspect.confidence <= facts.settings.guess_confidence
    return is_guess or dropping > keeping


def _left_out(facts: SentenceFacts, places: list[TextSpan]) -> list[FoundTerm]:
    """Terms that overlap none of these places, and of which the reader is very sure, with what is felt about them."""
    return [
        found
        for found in facts.terms(facts.settings.add_confidence)
        if not any(found.start < place.end and place.start < found.end for place in places)
        and not facts.is_instructed(found.start, found.end)
        and _is_clearly_felt(facts, found)
    ]


def _is_clearly_felt(facts: SentenceFacts, found: FoundTerm) -> bool:
    felt = facts.polarity_at(found.start, found.end)
    return felt.polarity != "neutral" and felt.confidence >= facts.settings.flip_confidence


def reviewed_sentiments(
    facts: SentenceFacts, stage1: AspectSentiments, context: ReviewContext | None
) -> SentimentReview:
    """ATSA: turn a polarity only where the reader is sure; give one where none was stated."""
    opinions = opinions_of(facts, stage1.aspect_sentiments)
    items = [item for opinion in opinions for item in _sentiment_items(facts, opinion, context)]
    known = [place for opinion in opinions for place in opinion.places]
    for found in _left_out(facts, known):
        polarity = facts.polarity_at(found.start, found.end)
        items.append(
            SentimentReviewItem(
                facts.words(found),
                "add",
                revised_polarity=polarity.polarity,
                revised_span=TextSpan(found.start, found.end),
                reason="nothing was said about it",
            )
        )
    return SentimentReview(tuple(items))


def _sentiment_items(
    facts: SentenceFacts, opinion: Opinion, context: ReviewContext | None
) -> list[SentimentReviewItem]:
    """One item for each sentiment, and one for its place where that is wrong."""
    if not opinion.places:
        return [SentimentReviewItem(opinion.term, "drop", reason="the term does not stand in the text")]
    if not facts.is_target(opinion.term, opinion.places[0]):
        return [SentimentReviewItem(opinion.term, "drop", reason="the term is no target")]
    item = _polarity_item(facts, opinion, context)
    moved = _moved(facts, opinion)
    if moved is None:
        return [item]
    return [moved] if item.action == "maintain" else [item, moved]


def _moved(facts: SentenceFacts, opinion: Opinion) -> SentimentReviewItem | None:
    """The place of a sentiment whose term stands at one place, which is not the one that was stated."""
    spans = [each.aspect_term.span for each in opinion.stated if each.aspect_term is not None]
    place = opinion.places[0]
    if len(opinion.places) > 1 or not facts.stands_at(opinion.term, place) or all(span == place for span in spans):
        return None
    reason = f"the term stands at {place.start}-{place.end}"
    return SentimentReviewItem(opinion.term, "revise_span", revised_span=place, reason=reason)


def _polarity_item(facts: SentenceFacts, opinion: Opinion, context: ReviewContext | None) -> SentimentReviewItem:
    right = right_polarity(facts, opinion, support=_support(opinion, context))
    if right is None or all(each.polarity == right.polarity for each in opinion.stated):
        return SentimentReviewItem(opinion.term, "maintain", reason="nothing contradicts it")
    words = facts.evidence_of(right)
    shown = f"{words!r} shows it" if words is not None else "nothing in the text is felt about it"
    return SentimentReviewItem(opinion.term, "flip_polarity", revised_polarity=right.polarity, reason=shown)


def _support(opinion: Opinion, context: ReviewContext | None) -> float:
    """By how much the debate is for the reader, above 0, or for what was stated, below 0."""
    found = opinion.reading
    if context is None or found is None:
        return 0.0
    weights: dict[str | None, float] = {}
    for hint in context.aspect_hints.get(opinion.term, ()):
        if not hint.is_drop:
            weights[hint.polarity_hint] = weights.get(hint.polarity_hint, 0.0) + hint.weight
    stated: Polarity | None = opinion.polarity
    return weights.get(found.polarity, 0.0) - (0.0 if stated is None else weights.get(stated, 0.0))


def reviewed_risks(
    facts: SentenceFacts, stage1: StructuralValidation, context: ReviewContext | None
) -> StructuralReview:
    """Validator: the risks that are left, since what they act on is disputed, doubtful or still read wrongly."""
    doubted = _doubted_places(facts, context)
    raised = [risk for risk in stage1.structural_risks if risk.type != _OF_CODE]
    left = [risk for risk in raised if _is_left(facts, risk, doubted)]
    names = [_name(facts, risk) for risk in left]
    resolved = [_name(facts, risk) for risk in raised if risk not in left]
    score = clearness([risk.severity for risk in left])
    return StructuralReview(
        tuple(left),
        consistency_score=score,
        final_validation=FinalValidation(tuple(resolved), tuple(names), final_consistency_score=score),
    )


def _doubted_places(facts: SentenceFacts, context: ReviewContext | None) -> list[TextSpan]:
    """Where aspects stand whose polarity is not settled, with the words that show it."""
    context = context or ReviewContext()
    terms = context.aspect_terms or tuple(facts.words(found) for found in facts.terms(facts.settings.term_confidence))
    places: list[TextSpan] = []
    for term in dict.fromkeys(terms):
        place = facts.place_of(term, None)
        if place is None:
            continue
        found = facts.polarity_at(place.start, place.end)
        if _is_disputed(term, context, found.polarity) or found.confidence < facts.settings.doubtful_confidence:
            places.append(place)
            if found.start is not None and found.end is not None:
                places.append(TextSpan(found.start, found.end))
    return places


def _is_disputed(term: str, context: ReviewContext, polarity: Polarity) -> bool:
    """Whether speakers differ about a term, or what they came to differs from what the reader reads."""
    hinted = {hint.polarity_hint for hint in context.aspect_hints.get(term, ()) if not hint.is_drop} - {None}
    if len(hinted) > 1:
        return True
    summary = context.summary
    if summary is None:
        return False
    is_named = any(line.startswith(f"{term}:") for line in summary.unresolved_conflicts)
    came_to = {each.polarity for each in summary.final_tuples if each.aspect_term == term} - {None}
    return is_named or bool(came_to - {polarity})


def _is_left(facts: SentenceFacts, risk: StructuralRisk, doubted: list[TextSpan]) -> bool:
    scope = risk.scope if risk.scope is not None and risk.scope.is_within(facts.text) else TextSpan(0, len(facts.text))
    return any(place.start < scope.end and scope.start < place.end for place in doubted)


def _name(facts: SentenceFacts, risk: StructuralRisk) -> str:
    is_placed = risk.scope is not None and risk.scope.is_within(facts.text)
    words = facts.text[risk.scope.start : risk.scope.end] if is_placed and risk.scope is not None else risk.description
    return f"{risk.type}: {words}"

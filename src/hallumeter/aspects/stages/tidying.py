"""What code makes of the answers of stage 1 before anyone else sees them, and of what validators say.

Nothing is left out because it does not stand in the text: an invented aspect must reach the score.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from hallumeter.aspects.readers.protocol import FoundCue
from hallumeter.aspects.records.aspect import (
    Aspect,
    AspectSentiment,
    AspectTerm,
    CorrectionProposal,
    StructuralRisk,
    TextSpan,
)
from hallumeter.aspects.records.outputs import StructuralReview, StructuralValidation

from .draft import Draft, ReadSentence
from .requests import proposal_kind
from .terms import place_of_term, term_key

MISSING_SECOND_ASPECT = "MISSING_SECOND_ASPECT"
BACKFILLED = "missing_atsa_for_aspect"
_OPPOSITE = {"positive": "negative", "negative": "positive"}
GUESSED_CONFIDENCE = 0.5
"""Of what code added and nobody said."""


class TidiedAspects(Struct, frozen=True):
    """The aspects of stage 1 after tidying."""

    aspects: tuple[Aspect, ...]
    risk: StructuralRisk | None = None
    """Raised where a contrast lets expect two aspects and the agent named fewer."""
    notes: tuple[str, ...] = ()


class TidiedSentiments(Struct, frozen=True):
    """The sentiments of stage 1 after tidying."""

    sentiments: tuple[AspectSentiment, ...]
    notes: tuple[str, ...] = ()


class GatedFindings(Struct, frozen=True):
    """What a validator found, without negations that are not there, and flips that nothing in the text calls for."""

    risks: tuple[StructuralRisk, ...]
    proposals: tuple[CorrectionProposal, ...]
    notes: tuple[str, ...] = ()


def tidied_aspects(aspects: tuple[Aspect, ...], sentence: ReadSentence) -> TidiedAspects:
    """Cut particles, and let a sentence with a contrast have two aspects."""
    notes: list[str] = []
    bare: list[Aspect] = []
    for aspect in aspects:
        term = _without_particle(AspectTerm(aspect.term, aspect.span), sentence)
        bare.append(aspect if term.term == aspect.term else replace(aspect, term=term.term, span=term.span))
        if term.term != aspect.term:
            notes.append(f"ate: {aspect.term!r} without its particle is {term.term!r}")
    terms = {aspect.term for aspect in bare if aspect.term}
    if len(terms) >= 2 or not sentence.contrasts:
        return TidiedAspects(tuple(bare), notes=tuple(notes))
    second = _second_aspect(terms, sentence)
    if second is None:
        text = "there is a contrast, fewer than two aspects, and no further one was found"
    else:
        bare.append(second)
        text = f"there is a contrast and fewer than two aspects; {second.term!r} was added"
    risk = StructuralRisk(MISSING_SECOND_ASPECT, TextSpan(0, len(sentence.text)), "high", text)
    return TidiedAspects(tuple(bare), risk, (*notes, f"ate: {text}"))


def tidied_sentiments(
    sentiments: tuple[AspectSentiment, ...], aspects: tuple[Aspect, ...], sentence: ReadSentence
) -> TidiedSentiments:
    """Keep what is felt about known aspects, or about none by name, and mark aspects that nobody felt anything about.

    A term is known when it is an aspect's, or differs from it by particles, case, spaces or marks alone; then it is
    written as the aspect is.
    """
    terms = dict.fromkeys(aspect.term for aspect in aspects if aspect.term)
    by_key: dict[str, str] = {}
    for term in terms:
        by_key.setdefault(term_key(term), term)
    kept: list[AspectSentiment] = []
    notes: list[str] = []
    for sentiment in sentiments:
        if sentiment.aspect_term is None or not sentiment.term.strip() or sentiment.term in terms:
            kept.append(sentiment)
            continue
        bare = _without_particle(sentiment.aspect_term, sentence)
        known = bare.term if bare.term in terms else by_key.get(term_key(bare.term) or " ")
        if known is None:
            notes.append(f"atsa: {sentiment.term!r} is no aspect of the sentence and was left out")
            continue
        kept.append(replace(sentiment, aspect_term=AspectTerm(known, bare.span)))
        notes.append(f"atsa: mapped_aspect_term:{sentiment.term}->{known}")
    felt = {sentiment.term for sentiment in kept}
    missing = {aspect.term: aspect for aspect in reversed(aspects) if aspect.term.strip() and aspect.term not in felt}
    for aspect in (missing[term] for term in terms if term in missing):
        kept.append(_backfilled(aspect, sentence.text))
        notes.append(f"atsa: nothing was said about {aspect.term!r}; neutral was filled in")
    return TidiedSentiments(tuple(kept), tuple(notes))


def gated_validation(
    validation: StructuralValidation, sentence: ReadSentence, *, risk: StructuralRisk | None, draft: Draft
) -> tuple[StructuralValidation, tuple[str, ...]]:
    """The validation of stage 1 without negations that are not there, and with the risk that code saw; and notes."""
    gated = _gated(validation, sentence, draft=draft, role="validator")
    risks = gated.risks if risk is None else (*gated.risks, risk)
    return replace(validation, structural_risks=risks, correction_proposals=gated.proposals), gated.notes


def gated_review(
    review: StructuralReview, sentence: ReadSentence, *, draft: Draft
) -> tuple[StructuralReview, tuple[str, ...]]:
    """The validation of stage 2 in the same way; its flips, too, are meant for the result of stage 1."""
    gated = _gated(review, sentence, draft=draft, role="validator_review")
    return replace(review, structural_risks=gated.risks, correction_proposals=gated.proposals), gated.notes


def with_second_aspect_settled(
    review: StructuralReview, stage1: StructuralValidation, patched: Draft
) -> StructuralReview:
    """The validation of stage 2 with what code says about the risk that code raises, whatever the agent says of it.

    A second aspect is missing until somebody other than code has said something about two of them.
    """
    others = tuple(risk for risk in review.structural_risks if not _is_of_second_aspect(risk))
    raised = [risk for risk in stage1.structural_risks if _is_of_second_aspect(risk)]
    said = {one.term for one in patched.sentiments if not one.is_backfilled}
    is_left = bool(raised) and len(said.intersection(patched.aspect_terms)) < 2
    return replace(review, structural_risks=(*others, raised[-1]) if is_left else others)


def _is_of_second_aspect(risk: StructuralRisk) -> bool:
    return risk.type.strip().upper() == MISSING_SECOND_ASPECT


def _without_particle(term: AspectTerm, sentence: ReadSentence) -> AspectTerm:
    """A term that stands in the text, without the particles that it has there; any other term as it is."""
    place = place_of_term(sentence.text, term.term, term.span)
    if place is None:
        return term
    cut = place[1] - sentence.bare_end(*place)
    if not cut:
        return term
    bare = term.term[:-cut]
    span = term.span
    # A span may have left the particle out already; then it is the term alone that has it.
    if span is not None and not (span.is_within(sentence.text) and sentence.text[span.start : span.end] == bare):
        span = TextSpan(span.start, span.end - cut)
    return AspectTerm(bare, span)


def _second_aspect(terms: set[str], sentence: ReadSentence) -> Aspect | None:
    for cue in sentence.contrasts:
        found = sentence.reader.term_after(sentence.text, cue.end)
        term = "" if found is None else sentence.text[found.start : found.end]
        if found is not None and term and term not in terms:
            reason = f"stands behind the contrast at {cue.start}-{cue.end}"
            return Aspect(term, TextSpan(found.start, found.end), GUESSED_CONFIDENCE, reason, syntactic_head=found.head)
    return None


def _backfilled(aspect: Aspect, text: str) -> AspectSentiment:
    return AspectSentiment(
        AspectTerm(aspect.term, aspect.span),
        "neutral",
        GUESSED_CONFIDENCE,
        text,
        is_backfilled=True,
        neutral_reason=BACKFILLED,
    )


def _gated(
    findings: StructuralValidation | StructuralReview, sentence: ReadSentence, *, draft: Draft, role: str
) -> GatedFindings:
    """Leave negations to sentences that have one, and flips to those with a negation or a contrast that asks for it."""
    if sentence.has_negation:
        return GatedFindings(findings.structural_risks, findings.correction_proposals)
    risks = tuple(risk for risk in findings.structural_risks if not risk.type.strip().upper().startswith("NEGATION"))
    proposals = tuple(
        one
        for one in findings.correction_proposals
        if proposal_kind(one) != "flip" or contrast_asks_for(one.target_aspect, draft, sentence=sentence)
    )
    left_out = len(findings.structural_risks) - len(risks), len(findings.correction_proposals) - len(proposals)
    if left_out == (0, 0):
        return GatedFindings(findings.structural_risks, findings.correction_proposals)
    text = f"{left_out[0]} risks of negation and {left_out[1]} proposals to flip a polarity were left out"
    return GatedFindings(risks, proposals, (f"{role}: nothing is negated here; {text}",))


def contrast_asks_for(target: str | None, draft: Draft, *, sentence: ReadSentence) -> bool:
    """Whether a contrast speaks for turning the polarity of an aspect.

    It opposes what stands on its two sides. Where the nearest aspects there feel different things already, the sentence
    is as the contrast says, and a flip would make them alike. Otherwise the words beside the aspect must speak for the
    flip as well, as the reader of the language understands them.
    """
    places = ((_felt_at(one, draft), one) for one in draft.sentiments if one.polarity in _OPPOSITE)
    felt = [(place, one) for place, one in places if place is not None]
    return any(
        not _differs_across(place.start, one, felt=felt, contrasts=sentence.contrasts)
        and sentence.felt_at(place) == _OPPOSITE[one.polarity or ""]
        for place, one in felt
        if one.term == target and sentence.contrasts
    )


def _differs_across(
    place: int,
    sentiment: AspectSentiment,
    *,
    felt: Sequence[tuple[TextSpan, AspectSentiment]],
    contrasts: Sequence[FoundCue],
) -> bool:
    """Whether, at every contrast that has an aspect on its other side, the nearest one feels the contrary."""
    nearest: list[AspectSentiment] = []
    for cue in contrasts:
        across = [
            (abs(span.start - cue.start), one) for span, one in felt if (span.start < cue.start) != (place < cue.start)
        ]
        nearest += [min(across, key=_distance)[1]] if across else []
    return bool(nearest) and all(one.polarity != sentiment.polarity for one in nearest)


def _distance(across: tuple[int, AspectSentiment]) -> int:
    return across[0]


def _felt_at(sentiment: AspectSentiment, draft: Draft) -> TextSpan | None:
    number = draft.aspect_of(sentiment)
    return None if number is None else draft.aspects[number].span

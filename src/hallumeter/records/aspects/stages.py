"""What the agents of both stages answer: independent readings first, reviews of them later."""

from msgspec import Struct

from .aspect import Aspect, AspectSentiment, CorrectionProposal, Polarity, StructuralRisk, TextSpan


class AspectExtraction(Struct, frozen=True):
    """Stage 1, ATE: the aspects of a sentence."""

    aspects: tuple[Aspect, ...] = ()


class AspectSentiments(Struct, frozen=True):
    """Stage 1, ATSA: what is felt about each aspect."""

    aspect_sentiments: tuple[AspectSentiment, ...] = ()


class StructuralValidation(Struct, frozen=True):
    """Stage 1, Validator: what may mislead in the sentence, and what to correct."""

    structural_risks: tuple[StructuralRisk, ...] = ()
    correction_proposals: tuple[CorrectionProposal, ...] = ()
    consistency_score: float | None = None


class AspectReviewItem(Struct, frozen=True, omit_defaults=True):
    """Stage 2, ATE: what to do with one aspect."""

    term: str
    action: str
    """``keep``, ``revise_span``, ``drop`` or ``add``; synonyms are understood, others have no effect."""
    revised_span: TextSpan | None = None
    reason: str = ""
    provenance: str | None = None
    """Which words of the debate spoke about the aspect; written by code, never by an agent."""


class AspectReview(Struct, frozen=True):
    """Stage 2, ATE: a review, never a fresh list."""

    aspect_review: tuple[AspectReviewItem, ...] = ()


class SentimentReviewItem(Struct, frozen=True, omit_defaults=True):
    """Stage 2, ATSA: what to do with the sentiment about one aspect."""

    aspect_term: str
    action: str
    """``maintain``, ``flip_polarity``, ``drop`` or ``add``; synonyms are understood, others have no effect."""
    revised_polarity: Polarity | None = None
    revised_span: TextSpan | None = None
    revised_term: str | None = None
    reason: str = ""
    provenance: str | None = None


class SentimentReview(Struct, frozen=True):
    """Stage 2, ATSA: a review, never a fresh list."""

    sentiment_review: tuple[SentimentReviewItem, ...] = ()


class FinalValidation(Struct, frozen=True):
    """Stage 2, Validator: what became of the risks of stage 1."""

    resolved_risks: tuple[str, ...] = ()
    remaining_risks: tuple[str, ...] = ()
    final_consistency_score: float | None = None


class StructuralReview(Struct, frozen=True):
    """Stage 2, Validator: the risks that are left, counted anew."""

    structural_risks: tuple[StructuralRisk, ...] = ()
    correction_proposals: tuple[CorrectionProposal, ...] = ()
    consistency_score: float | None = None
    final_validation: FinalValidation | None = None


class StageOne(Struct, frozen=True):
    """The first stage of a sentence, after code has tidied it."""

    ate: AspectExtraction = AspectExtraction()
    atsa: AspectSentiments = AspectSentiments()
    validator: StructuralValidation = StructuralValidation()


class StageTwo(Struct, frozen=True):
    """The reviews of a sentence."""

    ate: AspectReview = AspectReview()
    atsa: SentimentReview = SentimentReview()
    validator: StructuralReview = StructuralReview()

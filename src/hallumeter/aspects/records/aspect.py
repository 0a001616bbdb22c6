"""Aspects of a sentence, what is felt about them, and what may be wrong with them, as agents state them.

Spans are kept as they were given, right or wrong: whether they fit the text is what is measured.
"""

from typing import Literal

from msgspec import Struct, field

Polarity = Literal["positive", "negative", "neutral"]
"""Of an aspect; a polarity that is missing is None, which is not neutral."""
SentenceLabel = Literal["positive", "negative", "neutral", "mixed"]
POLARITIES: tuple[Polarity, ...] = ("positive", "negative", "neutral")


class TextSpan(Struct, frozen=True):
    """Two offsets in code points, end exclusive, as an agent gave them: they may lie outside the text."""

    start: int
    end: int

    def is_within(self, text: str) -> bool:
        """Whether the offsets are in order and inside the text; Python would slice others silently.

        >>> TextSpan(0, 3).is_within("abc"), TextSpan(-2, 3).is_within("abc"), TextSpan(2, 9).is_within("abc")
        (True, False, False)
        """
        return 0 <= self.start <= self.end <= len(text)


class Aspect(Struct, frozen=True, omit_defaults=True):
    """A term that a sentence says something about."""

    term: str
    span: TextSpan | None = None
    """None when the agent gave none."""
    confidence: float | None = None
    rationale: str | None = None
    normalized: str | None = None
    syntactic_head: str | None = None


class AspectTerm(Struct, frozen=True):
    """The term that a sentiment is about."""

    term: str
    span: TextSpan | None = None


class AspectSentiment(Struct, frozen=True):
    """What is felt about an aspect."""

    aspect_term: AspectTerm | None
    """None for an aspect that is not named in the text."""
    polarity: Polarity | None
    """None when it is missing or could not be understood."""
    confidence: float | None = None
    evidence: str | None = None
    """The words that show it."""
    polarity_distribution: dict[str, float] = field(default_factory=dict)
    is_implicit: bool = False
    is_backfilled: bool = False
    """Whether code added it, since the agent said nothing about an aspect."""
    neutral_reason: str | None = None

    @property
    def term(self) -> str:
        """The words of the aspect; empty when it is not named."""
        return "" if self.aspect_term is None else self.aspect_term.term


class StructuralRisk(Struct, frozen=True):
    """Something in a sentence that easily misleads: negation, contrast, irony."""

    type: str
    scope: TextSpan | None = None
    severity: str = "medium"
    """``high``, ``medium`` or ``low``."""
    description: str = ""


class CorrectionProposal(Struct, frozen=True):
    """A correction that a validator asks for."""

    target_aspect: str | None
    proposal_type: str
    """``FLIP_POLARITY``, ``DROP_ASPECT`` or ``REVISE_SPAN``; others are kept and have no effect."""
    rationale: str = ""
    revised_span: TextSpan | None = None
    confidence: float | None = None


class AspectTuple(Struct, frozen=True):
    """An aspect and its polarity: the unit that is compared with gold."""

    aspect_term: str
    """Empty for an aspect that is not named."""
    polarity: str | None
    aspect_ref: str | None = None
    """A category, or a canonical name of the aspect."""
    span: TextSpan | None = None

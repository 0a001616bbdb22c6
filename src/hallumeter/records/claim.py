"""Claims and verdicts: anything in a response that can be checked, and what a judge said of it."""

import math
from enum import Enum

from msgspec import Struct

from hallumeter.errors import RecordError

from .source import Quote
from .span import check_span, is_span

_NO_NUMBERS = (None, None, None)


class Label(Enum):
    """What a judge says of a claim."""

    SUPPORTED = "SUPPORTED"
    """The evidence says so."""
    REFUTED = "REFUTED"
    """The evidence says otherwise."""
    NOT_ENOUGH_INFO = "NOT_ENOUGH_INFO"
    """The evidence is silent: this speaks of the evidence."""
    UNDECIDED = "UNDECIDED"
    """The judge could not tell: this speaks of the judge."""


class Claim(Struct, frozen=True):
    """Any checkable unit of a response: a statement, a block of text, a slot, a rule, an aspect."""

    record_id: str
    claim_id: str
    """Unique within its response."""
    kind: str = "claim"
    start: int | None = None
    """First character of the claim in the response; None when it could not be aligned."""
    end: int | None = None
    text: str | None = None
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not is_span(self.start, self.end):
            check_span(self.start, self.end, f"claim {self.claim_id!r}")
        if not 0 <= self.weight < math.inf:
            raise RecordError(f"claim {self.claim_id!r} weighs {self.weight}; expected a number >= 0")


class Verdict(Struct, frozen=True):
    """One judge's word on one claim."""

    record_id: str
    claim_id: str
    judge: str
    label: Label
    unsupported_probability: float | None = None
    """How probable it is, in the judge's eyes, that the evidence does not support the claim."""
    reason: str | None = None
    """A code such as ``number_mismatch`` or ``out_of_text``."""
    start: int | None = None
    """First character of the unsupported part inside the response, else of the claim."""
    end: int | None = None
    evidence: tuple[Quote, ...] = ()
    note: str | None = None
    cost_usd: float | None = None
    """What the verdict cost; None when not known, never 0 for unknown."""
    confidence: float | None = None
    """How sure the judge is of its label."""
    probabilities: tuple[float, ...] | None = None
    """A distribution over SUPPORTED, REFUTED, NOT_ENOUGH_INFO."""
    inference_samples: tuple[tuple[float, ...], ...] = ()
    """Further distributions of the same judge for the same claim, from repeated inference."""

    def __post_init__(self) -> None:
        # Millions of verdicts are read: the words for a fault are made only where there may be one.
        numbers = self.unsupported_probability, self.confidence, self.probabilities
        if numbers == _NO_NUMBERS and not self.inference_samples and is_span(self.start, self.end):
            return
        owner = f"verdict of {self.judge!r} on claim {self.claim_id!r}"
        check_span(self.start, self.end, owner)
        for name in ("unsupported_probability", "confidence"):
            check_probability(getattr(self, name), f"{owner}: {name}")
        if self.probabilities is not None:
            check_distribution(self.probabilities, f"{owner}: probabilities")
        for sample in self.inference_samples:
            check_distribution(sample, f"{owner}: inference_samples")


class Finding(Struct, frozen=True):
    """A claim joined with what every judge said of it: the thing that a report highlights."""

    claim: Claim
    verdicts: tuple[Verdict, ...]


def check_probability(value: float | None, owner: str) -> None:
    """Refuse a probability outside 0..1; None means not known and passes."""
    if value is not None and not 0 <= value <= 1:
        raise RecordError(f"{owner} is {value}; expected a number from 0 to 1")


def check_distribution(values: tuple[float, ...], owner: str, tolerance: float = 1e-6) -> None:
    """Refuse what is not a probability distribution: negative, not finite, or not adding up to 1.

    >>> check_distribution((0.7, 0.2, 0.1), "probabilities")
    >>> check_distribution((0.7, 0.7), "p")
    Traceback (most recent call last):
    hallumeter.errors.RecordError: p [0.7, 0.7] add up to 1.4; expected numbers >= 0 that add up to 1
    """
    total = sum(values)
    if not values or not all(value >= 0 for value in values) or not abs(total - 1) <= tolerance:
        shown = ", ".join(f"{value:g}" for value in values)
        raise RecordError(f"{owner} [{shown}] add up to {total:g}; expected numbers >= 0 that add up to 1")

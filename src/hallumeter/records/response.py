"""What was asked and what the model wrote."""

import math
from collections.abc import Sequence

from msgspec import Struct, field

from hallumeter.errors import RecordError

# Character offsets: code points, end exclusive, checked before anything is sliced.


def is_span(start: int | None, end: int | None) -> bool:
    """Whether offsets are both absent, or both there and in order."""
    if start is None or end is None:
        return start is end
    return 0 <= start <= end


def check_span(start: int | None, end: int | None, owner: str, *, length: int | None = None) -> None:
    """Refuse offsets that are half given, negative, reversed, or beyond a text of the given length.

    Python slices such offsets silently, so they are checked wherever they enter.

    >>> check_span(0, 5, "claim 'c1'", length=5)
    >>> check_span(3, 9, "claim 'c1'", length=5)
    Traceback (most recent call last):
    hallumeter.errors.RecordError: claim 'c1' ends at 9, but its text has 5 characters; fix the span
    """
    if start is None and end is None:
        return
    if start is None or end is None:
        raise RecordError(f"{owner} has only one of start and end; give both or neither")
    if not 0 <= start <= end:
        raise RecordError(f"{owner} spans {start}..{end}; expected 0 <= start <= end")
    if length is not None and end > length:
        raise RecordError(f"{owner} ends at {end}, but its text has {length} characters; fix the span")


# What may be cited: passages of evidence, and quotations from them.


class Passage(Struct, frozen=True):
    """A piece of evidence that a claim is checked against."""

    evidence_id: str
    """Unique within its record."""
    text: str


class Quote(Struct, frozen=True):
    """A place in the evidence that a verdict points to."""

    evidence_id: str
    start: int | None = None
    """First character (code point) of the quotation in the passage."""
    end: int | None = None
    """One past its last character."""
    quote: str | None = None

    def __post_init__(self) -> None:
        if not is_span(self.start, self.end):
            check_span(self.start, self.end, f"quote from {self.evidence_id!r}")


FieldValue = str | int | float | bool | None
"""A value of a field that hallumeter does not know: kept, and usable for grouping."""


class Response(Struct, frozen=True):
    """One answer of one model, with everything it can be checked against."""

    record_id: str
    question: str | None = None
    response: str | None = None
    """None when only the verdicts on it are known."""
    evidence: tuple[Passage, ...] = ()
    reference: str | None = None
    """A correct answer, where there is one."""
    samples: tuple[str, ...] = ()
    """Other answers of the same model to the same question."""
    token_logprobs: tuple[float, ...] | None = None
    answerable: bool | None = None
    """False when the right answer is to abstain, as for a person who never existed."""
    model: str | None = None
    fields: dict[str, FieldValue] = field(default_factory=dict)
    """Fields that hallumeter does not know, kept for grouping."""


def check_logprobs(logprobs: Sequence[float]) -> None:
    """Refuse what is no log-probability: not finite, or above 0.

    >>> check_logprobs([-0.1, 0.2])
    Traceback (most recent call last):
    hallumeter.errors.RecordError: token_logprobs[1] is 0.2; expected natural logarithms of probabilities, 0 or less
    """
    for place, logprob in enumerate(logprobs):
        if not -math.inf < logprob <= 0:
            expected = "natural logarithms of probabilities, 0 or less"
            raise RecordError(f"token_logprobs[{place}] is {logprob:g}; expected {expected}")

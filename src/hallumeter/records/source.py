"""What may be cited: passages of evidence, and quotations from them."""

from msgspec import Struct

from .span import check_span, is_span


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

"""What was asked and what the model wrote."""

from msgspec import Struct, field

from .source import Passage

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

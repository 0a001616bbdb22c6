"""Claims and verdicts as judge-auditor writes them."""

from collections.abc import Iterable, Sequence
from enum import Enum

import numpy as np
from msgspec import Struct, field
from msgspec.structs import force_setattr

from hallumeter.errors import RecordError
from hallumeter.records import Label, LabelCounts, check_probability, check_span
from hallumeter.records.columns import LABEL_CODES


class VerdictLabel(Enum):
    """What a judge found about a claim."""

    SUPPORTED = "SUPPORTED"
    REFUTED = "REFUTED"
    NOT_ENOUGH_INFO = "NOT_ENOUGH_INFO"


class ClaimType(Enum):
    """What kind of thing a claim states."""

    FACTUAL = "factual"
    TEMPORAL = "temporal"
    NUMERICAL = "numerical"
    LOGICAL = "logical"
    COMMONSENSE = "commonsense"


class Verdict(Struct, frozen=True):
    """One judge's finding about one claim."""

    label: VerdictLabel
    confidence: float
    """From 0 to 1."""
    evidence: Sequence[str] = field(default_factory=list)
    reasoning: str = ""

    def __post_init__(self) -> None:
        try:
            force_setattr(self, "label", VerdictLabel(self.label))
        except ValueError:
            known = ", ".join(str(label) for label in VerdictLabel)
            raise RecordError(f"the label of a verdict is {self.label!r}; expected one of {known}") from None
        check_probability(self.confidence, "the confidence of a verdict")


class Claim(Struct, frozen=True):
    """A statement taken from a response."""

    text: str
    source_span: tuple[int, int]
    """First character of the claim in the response, and the one after its last."""
    claim_type: ClaimType = ClaimType.FACTUAL

    def __post_init__(self) -> None:
        span = tuple(self.source_span)
        if len(span) != 2:
            raise RecordError(f"claim {self.text!r}: source_span is {self.source_span!r}; expected (start, end)")
        check_span(*span, f"claim {self.text!r}")
        # A span read from JSON may come as a list; as a tuple it equals the span that was written.
        force_setattr(self, "source_span", span)


def label_codes(verdicts: Iterable[Verdict]) -> list[int]:
    """The labels as the codes that hallumeter's columns hold."""
    return [LABEL_CODES[Label(verdict.label.value)] for verdict in verdicts]


def label_counts(responses: Iterable[Iterable[Verdict]]) -> LabelCounts:
    """Count the labels of each response; one without verdicts keeps its row."""
    codes = [label_codes(verdicts) for verdicts in responses]
    rows = np.repeat(np.arange(len(codes)), [len(labels) for labels in codes])
    flat = np.array([label for labels in codes for label in labels], dtype=np.int64)
    return LabelCounts.tally(rows, flat, size=len(codes))

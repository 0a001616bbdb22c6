"""What a report tells about verdicts: where they concentrate, who agrees with whom, and what was cut."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from hallumeter.records import MetricSummary

CONFUSED = ("REFUTED", "NOT_ENOUGH_INFO", "UNDECIDED", "SUPPORTED")
"""The labels of a confusion table, in the order of its rows and columns."""


class TenthBin(Struct, frozen=True):
    """The unsupported claims of one tenth of the responses."""

    tenth: int
    """From 0, the beginning; the middle of a claim decides."""
    count: int
    total: int
    """Decided claims."""
    interval: tuple[float, float] | None

    @property
    def value(self) -> float | None:
        """The rate; None without a decided claim."""
        return self.count / self.total if self.total else None


class LengthBin(Struct, frozen=True):
    """The unsupported claims of responses that are alike in length."""

    start: int
    """Code points of the shortest."""
    end: int | None
    """One more than the longest may have; None for the last bin."""
    responses: int
    """With a decided claim."""
    count: int
    total: int
    interval: tuple[float, float] | None

    @property
    def value(self) -> float | None:
        """The rate; None without a decided claim."""
        return self.count / self.total if self.total else None


class ConcentrationSection(Struct, frozen=True, tag="concentration"):
    """Where in responses, and in responses of what length, claims are unsupported; intervals draw whole responses."""

    tenths: tuple[TenthBin, ...] = ()
    lengths: tuple[LengthBin, ...] = ()
    without_text: int = 0
    """Decided claims of responses whose words are not known."""
    without_place: int = 0
    """Decided claims that have no place in their response; they are in no tenth."""
    counted: Literal["unsupported", "REFUTED"] = "unsupported"
    """The labels that are counted."""


class JudgePair(Struct, frozen=True):
    """Two judges on the same claims."""

    first: str
    second: str
    shared: int
    """Claims that both decided."""
    agreed: int
    """Of these, those that both gave the same label."""
    kappa: float | None
    """Cohen's."""
    undefined: str | None
    """Why there is no kappa."""
    table: tuple[tuple[int, ...], ...] = ()
    """Claims by the label of the first judge (rows) and of the second, in the order of `CONFUSED`."""

    @property
    def agreement(self) -> float | None:
        """The share of shared claims with the same label."""
        return self.agreed / self.shared if self.shared else None


class CalibrationBin(Struct, frozen=True):
    """Claims that a judge gave about the same probability to be unsupported."""

    start: float
    end: float
    """The last bin has its upper end."""
    count: int
    """Of these, unsupported by the reference."""
    total: int
    mean: float | None
    """Of the probabilities."""
    interval: tuple[float, float] | None
    """Of the share, whole responses drawn again."""

    @property
    def value(self) -> float | None:
        """The share that is unsupported by the reference; None for an empty bin."""
        return self.count / self.total if self.total else None


class Calibration(Struct, frozen=True):
    """Whether the probabilities of a judge hold what they promise."""

    judge: str
    reference: str | None
    """The judge whose labels count as the truth; None for what most of the other judges say."""
    claims: int
    """With a probability and a reference."""
    without_reference: int
    """With a probability and nothing to compare it with."""
    error: float | None
    """The expected calibration error; None when there is no claim to compare."""
    bins: tuple[CalibrationBin, ...] = ()


class LanguageCount(Struct, frozen=True):
    """Responses in a language that a judge's model was not checked in."""

    language: str
    """``another`` where it is not known which."""
    responses: int


class CutCounts(Struct, frozen=True):
    """What was not read, or is not shown, to its end."""

    cut_verdicts: int = 0
    """Verdicts by judges that have not seen all of the evidence."""
    undecided_by_cut: int = 0
    """Of these, those that stayed undecided because of it."""
    cut_replies: int = 0
    """Failures because a reply broke off."""
    cut_passages: int = 0
    """Passages of evidence that this report shows without their end."""
    cut_readings: int = 0
    """Pages that this report shows without their end."""


class PanelAdvice(Struct, frozen=True):
    """Whether the panel would agree better without one of its judges."""

    judge: str | None
    """The judge that could be dropped; None when none stands out."""
    figures: tuple[MetricSummary | None, ...] = ()
    """Alpha of all, alpha without the judge, and the gain."""
    also: tuple[str, ...] = ()
    """Further judges of whom the same is true, each taken alone."""

"""What the calculator gives back."""

from enum import Enum
from typing import Self

import msgspec
from msgspec import Struct, field

from hallumeter.errors import RecordError
from hallumeter.metrics.uncertainty import UncertaintyMethod

from .verdicts import Claim


class ReliabilityLevel(Enum):
    """How far the audited responses can be relied on."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    UNKNOWN = "unknown"
    """Nothing that reliability rests on was measured."""


class MiHRResult(Struct, frozen=True):
    """Share of claims that are refuted or not verifiable."""

    value: float | None
    """None without claims."""
    unsupported_claims: int
    total_claims: int
    has_claims: bool


class MaHRResult(Struct, frozen=True):
    """Share of responses with at least one unsupported claim."""

    value: float | None
    """None without responses."""
    responses_with_hallucinations: int
    total_responses: int
    """All responses; one without claims counts as clean."""


class ConsensusF1Result(Struct, frozen=True):
    """How far a model goes along with the others, or the mean over models in a profile."""

    precision: float
    """Share of the model's claims that another model supports; 0 for a model without claims."""
    recall: float
    """Share of the consensus claims that the model makes; 0 when there are none."""
    f1: float


class FleissKappaResult(Struct, frozen=True):
    """Agreement of judges beyond chance."""

    kappa: float | None
    interpretation: str
    """poor, fair, moderate, substantial, almost_perfect or undefined."""
    observed_agreement: float | None
    expected_agreement: float | None
    is_undefined: bool
    error_message: str | None
    """Why kappa is undefined; None when it is not."""


class UncertaintyResult(Struct, frozen=True):
    """How unsure a judge is of one claim, and why."""

    shannon_entropy: float
    """Of the given probabilities, in nats."""
    epistemic: float
    """What repeated inference disagrees about."""
    aleatoric: float
    """What every single inference is unsure about."""
    total: float
    is_high_uncertainty: bool
    method: UncertaintyMethod


class HallucinationProfile(Struct, frozen=True, kw_only=True):
    """Everything measured about a set of verdicts, and what to make of it."""

    mihr: MiHRResult | None = None
    mahr: MaHRResult | None = None
    factscore: float | None = None
    consensus_f1: ConsensusF1Result | None = None
    """The mean over models of precision, of recall and of F1."""
    fleiss_kappa: FleissKappaResult | None = None
    uncertainty: UncertaintyResult | None = None
    reliability: ReliabilityLevel
    is_high_risk: bool
    disputed_claims: list[Claim] = field(default_factory=list)
    """Claims of the matrix that fewer than half of the models support."""
    consensus_claims: list[Claim] = field(default_factory=list)
    """Claims of the matrix that at least half of the models support."""
    measured: list[str] = field(default_factory=list)
    """The parts above that have a value."""
    reasons: list[str] = field(default_factory=list)
    """Why the reliability is not high, one sentence each."""

    def __post_init__(self) -> None:
        if self.is_high_risk and self.reliability is not ReliabilityLevel.LOW:
            raise RecordError(f"a high-risk profile has low reliability, found {self.reliability.value}; fix either")

    def to_json(self, indent: int | None = None) -> str:
        """The profile as JSON, in one line or indented; nothing is rounded."""
        try:
            text = msgspec.json.encode(self).decode()
        except UnicodeEncodeError as error:
            raise RecordError(
                f"a text of the profile cannot be written as UTF-8 ({error}); fix its encoding"
            ) from error
        return text if indent is None else msgspec.json.format(text, indent=indent)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """The profile that `to_json` wrote, equal in every field."""
        try:
            return msgspec.json.decode(text, type=cls)
        except msgspec.DecodeError as error:
            raise RecordError(f"not a hallucination profile: {error}; give the text that to_json returned") from error

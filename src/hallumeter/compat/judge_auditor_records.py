"""What programs for judge-auditor hand over and get back: verdicts, claims, results, profiles and claim matrices."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from typing import Any, Self

import msgspec
import numpy as np

from hallumeter.claims.metrics.consensus import claim_codes, support_from_matrix
from hallumeter.claims.metrics.uncertainty import UncertaintyMethod
from hallumeter.errors import HallumeterError, RecordError
from hallumeter.records.claim import Label, check_probability
from hallumeter.records.columns import LABEL_CODES, LabelCounts, Support
from hallumeter.records.rate import Rate
from hallumeter.records.response import check_span


class InvalidRecordError(RecordError, ValueError):
    """A record that cannot be used; a ValueError, as programs for judge-auditor expect."""


@contextmanager
def as_value_error() -> Iterator[None]:
    """Let what hallumeter refuses be caught as the ValueError that the same program catches today."""
    try:
        yield
    except ValueError:
        raise
    except HallumeterError as error:
        raise InvalidRecordError(str(error)) from error


# Claims, verdicts and issues as judge-auditor writes them.


class VerdictLabel(str, Enum):  # noqa: UP042 (as there: str() of a member names its class)
    """What a judge found about a claim."""

    SUPPORTED = "SUPPORTED"
    REFUTED = "REFUTED"
    NOT_ENOUGH_INFO = "NOT_ENOUGH_INFO"


class ClaimType(str, Enum):  # noqa: UP042 (as there: str() of a member names its class)
    """What kind of thing a claim states."""

    FACTUAL = "factual"
    TEMPORAL = "temporal"
    NUMERICAL = "numerical"
    LOGICAL = "logical"
    COMMONSENSE = "commonsense"


class IssueType(str, Enum):  # noqa: UP042 (as there: str() of a member names its class)
    """What is wrong with a response."""

    HALLUCINATION = "hallucination"
    BIAS = "bias"
    INCONSISTENCY = "inconsistency"
    FACTUAL_ERROR = "factual_error"
    UNSUPPORTED_CLAIM = "unsupported_claim"
    TEMPORAL_INCONSISTENCY = "temporal_inconsistency"
    NUMERICAL_ERROR = "numerical_error"


class IssueSeverity(str, Enum):  # noqa: UP042 (as there: str() of a member names its class)
    """How much an issue matters."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass
class Verdict:
    """One judge's finding about one claim."""

    label: VerdictLabel
    confidence: float
    """From 0 to 1."""
    evidence: list[str] = field(default_factory=list)
    reasoning: str = ""

    def __post_init__(self) -> None:
        try:
            self.label = VerdictLabel(self.label)
        except ValueError:
            known = ", ".join(label.value for label in VerdictLabel)
            raise InvalidRecordError(f"the label of a verdict is {self.label!r}; expected one of {known}") from None
        with as_value_error():
            check_probability(self.confidence, "the confidence of a verdict")


@dataclass
class Claim:
    """A statement taken from a response."""

    text: str
    source_span: tuple[int, int]
    """First character of the claim in the response, and the one after its last."""
    claim_type: ClaimType = ClaimType.FACTUAL

    def __post_init__(self) -> None:
        span = tuple(self.source_span)
        if len(span) != 2:
            raise InvalidRecordError(f"claim {self.text!r}: source_span is {self.source_span!r}; expected (start, end)")
        with as_value_error():
            check_span(*span, f"claim {self.text!r}")
        # A span read from JSON may come as a list; as a tuple it equals the span that was written.
        self.source_span = span


@dataclass
class Passage:
    """A passage found for a claim."""

    text: str
    source: str
    relevance_score: float


@dataclass
class Issue:
    """Something wrong with a response."""

    type: IssueType
    severity: IssueSeverity
    description: str
    evidence: list[str] = field(default_factory=list)


def label_codes(verdicts: Iterable[Verdict]) -> list[int]:
    """The labels as the codes that hallumeter's columns hold."""
    return [LABEL_CODES[Label(verdict.label.value)] for verdict in verdicts]


def label_counts(responses: Iterable[Iterable[Verdict]]) -> LabelCounts:
    """Count the labels of each response; one without verdicts keeps its row."""
    codes = [label_codes(verdicts) for verdicts in responses]
    rows = np.repeat(np.arange(len(codes)), [len(labels) for labels in codes])
    flat = np.array([label for labels in codes for label in labels], dtype=np.int64)
    return LabelCounts.tally(rows, flat, size=len(codes))


# What the calculators give back.


@dataclass
class AbstentionResult:
    """What a model did with one query."""

    query: str
    response: str
    is_nonexistent_entity: bool
    did_abstain: bool
    """True for an empty response too; False for one that refuses a part and answers the rest."""
    is_false_acceptance: bool
    """Whether the model answered although there is nothing to say."""
    cue: str | None = None
    """The words that refuse, so that a person can check; None when there are none."""
    is_partial: bool = False
    """Whether the response refuses a part of what was asked and answers all the same."""


@dataclass
class FalseAcceptanceRateResult:
    """Share of the queries about things that do not exist which were answered all the same."""

    value: float | None
    """None when no query is about something that does not exist; with `original`, 0."""
    failed_abstentions: int
    correct_refusals: int
    total_nonexistent_queries: int
    abstention_results: list[AbstentionResult] = field(default_factory=list)
    """One per query, those about existing things included."""


class ReliabilityLevel(str, Enum):  # noqa: UP042 (as there: str() of a member names its class)
    """How far the audited responses can be relied on."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    UNKNOWN = "unknown"
    """Nothing that reliability rests on was measured; never with `original`."""


@dataclass
class MiHRResult:
    """Share of claims that are refuted or not verifiable."""

    value: float | None
    """None without claims."""
    unsupported_claims: int
    total_claims: int
    has_claims: bool


@dataclass
class MaHRResult:
    """Share of responses with at least one unsupported claim."""

    value: float | None
    """None without responses; with `original`, 0."""
    responses_with_hallucinations: int
    total_responses: int
    """All responses; one without claims counts as clean."""


@dataclass
class ConsensusF1Result:
    """How far a model goes along with the others, or the mean over models in a profile."""

    precision: float
    """Share of the model's claims that another model supports; 0 for a model without claims."""
    recall: float
    """Share of the consensus claims that the model makes; 0 when there are none."""
    f1: float


@dataclass
class KappaResult:
    """Agreement of judges beyond chance."""

    kappa: float | None
    interpretation: str
    """poor, fair, moderate, substantial, almost_perfect or undefined."""
    observed_agreement: float | None
    """None when there is nothing to compare; with `original`, 0."""
    expected_agreement: float | None
    is_undefined: bool = False
    error_message: str | None = None
    """Why kappa is undefined; None when it is not."""


@dataclass
class UncertaintyResult:
    """How unsure a judge is of one claim, and why."""

    shannon_entropy: float
    """Of the given probabilities, in nats."""
    epistemic: float
    """What repeated inference disagrees about."""
    aleatoric: float
    """What every single inference is unsure about."""
    total: float
    is_high_uncertainty: bool
    method: UncertaintyMethod | None = None
    """How the parts were computed; None when they were not computed here."""


@dataclass
class HallucinationProfile:
    """Everything measured about a set of verdicts, and what to make of it."""

    mihr: MiHRResult | None
    mahr: MaHRResult | None
    factscore: float | None
    consensus_f1: ConsensusF1Result | None
    """The mean over models of precision, of recall and of F1."""
    fleiss_kappa: KappaResult | None
    uncertainty: UncertaintyResult | None
    reliability: ReliabilityLevel
    disputed_claims: list[Claim] = field(default_factory=list)
    """Claims of the matrix that fewer than half of the models support."""
    consensus_claims: list[Claim] = field(default_factory=list)
    """Claims of the matrix that at least half of the models support."""
    is_high_risk: bool = False
    measured: list[str] = field(default_factory=list)
    """The parts above that have a value."""
    reasons: list[str] = field(default_factory=list)
    """Why the reliability is not high, one sentence each."""

    def __post_init__(self) -> None:
        if self.is_high_risk and self.reliability is not ReliabilityLevel.LOW:
            raise InvalidRecordError(
                f"a high-risk profile has low reliability, found {self.reliability.value}; fix either"
            )

    def to_dict(self) -> dict[str, Any]:
        """The profile as plain values, nested."""
        return {each.name: _plain(getattr(self, each.name)) for each in fields(self)}

    def to_json(self, indent: int | None = 2) -> str:
        """The profile as JSON, indented or in one line; nothing is rounded."""
        return json.dumps(self.to_dict(), indent=indent)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The profile that `to_dict` gave, equal in every field; a part that is missing was not measured."""
        parts = ("mihr", "mahr", "factscore", "consensus_f1", "fleiss_kappa", "uncertainty")
        try:
            return msgspec.convert({**dict.fromkeys(parts), **data}, type=cls)
        except (msgspec.ValidationError, TypeError, ValueError) as error:
            raise InvalidRecordError(f"not a hallucination profile: {error}; give what to_dict returned") from error

    @classmethod
    def from_json(cls, json_str: str | bytes) -> Self:
        """The profile that `to_json` wrote, equal in every field."""
        try:
            data = json.loads(json_str)
        except ValueError as error:
            raise InvalidRecordError(f"not a hallucination profile: {error}; give what to_json returned") from error
        return cls.from_dict(data)


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


# Which model makes which claim.


@dataclass
class ClaimVerificationMatrix:
    """Distinct claims and the models that support them."""

    claims: list[Claim]
    """In order of first appearance, as first spelled."""
    models: list[str]
    support_matrix: list[list[int]]
    """One row per claim, one column per model; 1 where the model supports the claim, else 0."""

    def __post_init__(self) -> None:
        if len(self.support_matrix) != len(self.claims):
            raise InvalidRecordError(
                f"{len(self.claims)} claims, but {len(self.support_matrix)} rows; give a row per claim"
            )
        for claim, row in zip(self.claims, self.support_matrix, strict=True):
            if len(row) != len(self.models) or not set(row) <= {0, 1}:
                raise InvalidRecordError(
                    f"claim {claim.text!r} has the row {row}; expected 0 or 1 for each of {len(self.models)} models"
                )

    @property
    def support(self) -> Support:
        """The matrix as the statements that hallumeter's consensus metrics read."""
        return support_from_matrix(self.support_matrix, self.models)

    def get_claim_support_count(self, claim_index: int) -> int:
        """How many models support a claim; 0 for a claim that is not in the matrix."""
        return sum(self.support_matrix[claim_index]) if 0 <= claim_index < len(self.claims) else 0

    def get_model_claim_count(self, model_index: int) -> int:
        """How many claims a model supports; 0 for a model that is not in the matrix."""
        return sum(row[model_index] for row in self.support_matrix) if 0 <= model_index < len(self.models) else 0

    def get_consensus_claims(self, threshold: float = 0.5) -> list[Claim]:
        """The claims that at least this share of the models supports; none without models."""
        return [each.claim for each in claim_consensus(self, threshold) if each.is_consensus]

    def get_disputed_claims(self, threshold: float = 0.5) -> list[Claim]:
        """The claims that a smaller share of the models supports; none without models."""
        return [each.claim for each in claim_consensus(self, threshold) if not each.is_consensus]


@dataclass
class ClaimConsensus:
    """How many models support a claim."""

    claim: Claim
    support_count: int
    total_models: int
    consensus_ratio: float
    is_consensus: bool


def claim_consensus(matrix: ClaimVerificationMatrix, threshold: float) -> list[ClaimConsensus]:
    """How many models support each claim, and whether that is consensus; nothing without models."""
    shares = [Rate(matrix.get_claim_support_count(row), len(matrix.models)) for row in range(len(matrix.claims))]
    return [
        ClaimConsensus(claim, int(share.count), int(share.total), share.value, share.value >= threshold)
        for claim, share in zip(matrix.claims, shares, strict=True)
        if share.value is not None
    ]


class ClaimVerificationMatrixBuilder:
    """Brings the claims of several models about the same question together.

    Args:
        original: Whether claims are equal only when their texts are, but for case and white space at the ends.
    """

    def __init__(self, *, original: bool = False) -> None:
        self.original = original

    def build_matrix(
        self,
        model_claims: Mapping[str, Sequence[Claim]],
        model_verdicts: Mapping[str, Sequence[Verdict]] | None = None,
    ) -> ClaimVerificationMatrix:
        """Find equal claims and note who supports them.

        Case, white space and a final period make no difference. Without verdicts, stating a claim is supporting it;
        with verdicts, only SUPPORTED is. The verdicts of a model are in the order of its claims; claims beyond the
        last verdict count as supported.

        >>> claims = {"a": [Claim("Paris is the capital.", (0, 21))], "b": [Claim("paris is the capital", (0, 20))]}
        >>> ClaimVerificationMatrixBuilder().build_matrix(claims).support_matrix
        [[1, 1]]
        """
        verdicts = model_verdicts or {}
        if not self.original:
            _check_verdicts(model_claims, verdicts)
        models = list(model_claims)
        stated = [(column, claim) for column, model in enumerate(models) for claim in model_claims[model]]
        is_supported = [
            place >= len(verdicts.get(model, ())) or verdicts[model][place].label is VerdictLabel.SUPPORTED
            for model in models
            for place in range(len(model_claims[model]))
        ]
        claims: list[Claim] = []
        matrix: list[list[int]] = []
        codes = self._codes([claim.text for _, claim in stated])
        for row, (column, claim), supports in zip(codes, stated, is_supported, strict=True):
            if row == len(claims):
                claims.append(claim)
                matrix.append([0] * len(models))
            matrix[row][column] |= supports
        return ClaimVerificationMatrix(claims, models, matrix)

    def compute_claim_consensus(self, matrix: ClaimVerificationMatrix, threshold: float = 0.5) -> list[ClaimConsensus]:
        """How many models support each claim, and whether that is consensus; nothing without models."""
        return claim_consensus(matrix, threshold)

    def identify_disputed_claims(self, matrix: ClaimVerificationMatrix, threshold: float = 0.5) -> list[Claim]:
        """The claims that a smaller share of the models supports."""
        return matrix.get_disputed_claims(threshold)

    def identify_consensus_claims(self, matrix: ClaimVerificationMatrix, threshold: float = 0.5) -> list[Claim]:
        """The claims that at least this share of the models supports."""
        return matrix.get_consensus_claims(threshold)

    def _codes(self, texts: Sequence[str]) -> list[int]:
        if not self.original:
            return claim_codes(texts)
        known: dict[str, int] = {}
        return [known.setdefault(text.strip().lower(), len(known)) for text in texts]


def _check_verdicts(claims: Mapping[str, Sequence[Claim]], verdicts: Mapping[str, Sequence[Verdict]]) -> None:
    for model, given in verdicts.items():
        if model not in claims:
            raise InvalidRecordError(
                f"verdicts for {model!r}, but no claims; models with claims: {', '.join(claims) or 'none'}"
            )
        if len(given) > len(claims[model]):
            raise InvalidRecordError(
                f"{model!r} has {len(claims[model])} claims but {len(given)} verdicts; give at most one per claim"
            )

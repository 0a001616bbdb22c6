"""The names of judge-auditor: change the import line, keep the rest of the program.

Everything is computed by the metrics of claims and decided by their profiles. Two conventions of judge-auditor are
kept where hallumeter differs: in MaHR a response without claims counts as clean, and a consensus score with nothing
to count is 0. Every other number that cannot be computed is None.

>>> verdicts = [Verdict(VerdictLabel.SUPPORTED, 0.9, [], "Stated"), Verdict(VerdictLabel.REFUTED, 0.8, [], "Denied")]
>>> HallucinationMetricsCalculator().compute_mihr(verdicts).value
0.5
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from statistics import fmean
from typing import Self, get_args

import msgspec
import numpy as np
from msgspec import Struct, field
from msgspec.structs import force_setattr, replace

from hallumeter.claims.abstention import AbstentionDetector
from hallumeter.claims.metrics.consensus import (
    claim_codes,
    consensus_scores,
    disputed_and_consensus,
    support_from_matrix,
)
from hallumeter.claims.metrics.rates import (
    correct_refusal_rate,
    factual_precision,
    false_acceptance_rate,
    macro_hallucination_rate,
    micro_hallucination_rate,
)
from hallumeter.claims.metrics.uncertainty import UncertaintyMethod, uncertainty
from hallumeter.claims.profiles import JUDGE_AUDITOR, Policy, Rule, opinion_on
from hallumeter.errors import RecordError, SettingsError
from hallumeter.records.claim import Label, check_probability
from hallumeter.records.columns import LABEL_CODES, Answers, LabelCounts, Ratings, Support
from hallumeter.records.rate import Rate
from hallumeter.records.response import check_span
from hallumeter.stats.agreement import Agreement, fleiss_kappa, interpretation, panel_fleiss_kappa

__all__ = [
    "AbstentionResult",
    "Claim",
    "ClaimType",
    "ClaimVerificationMatrix",
    "ClaimVerificationMatrixBuilder",
    "ConsensusF1Result",
    "FalseAcceptanceCalculator",
    "FalseAcceptanceRateResult",
    "FleissKappaResult",
    "HallucinationMetricsCalculator",
    "HallucinationMetricsConfig",
    "HallucinationProfile",
    "MaHRResult",
    "MiHRResult",
    "ReliabilityLevel",
    "UncertaintyResult",
    "Verdict",
    "VerdictLabel",
]


# Whether a model refuses to speak about what does not exist.


class AbstentionResult(Struct, frozen=True):
    """What a model did with one query."""

    query: str
    response: str
    is_nonexistent_entity: bool
    did_abstain: bool
    """True for an empty response too."""
    is_false_acceptance: bool
    """Whether the model answered although there is nothing to say."""
    cue: str | None
    """The words that refuse, so that a person can check; None when there are none."""


class FalseAcceptanceRateResult(Struct, frozen=True):
    """Share of the queries about things that do not exist which were answered all the same."""

    value: float | None
    """None when no query is about something that does not exist."""
    failed_abstentions: int
    correct_refusals: int
    total_nonexistent_queries: int
    abstention_results: list[AbstentionResult]
    """One per query, those about existing things included."""


class FalseAcceptanceCalculator:
    """Detects refusals and counts where they are missing.

    Args:
        detector: For other languages, or with cues added or removed; by default all known cues.

    >>> calculator = FalseAcceptanceCalculator()
    >>> calculator.evaluate_abstention("Tell me about X", "I don't know about X.", True).is_false_acceptance
    False
    """

    def __init__(self, detector: AbstentionDetector | None = None) -> None:
        self._detector = detector or AbstentionDetector()

    def evaluate_abstention(self, query: str, response: str, is_nonexistent: bool) -> AbstentionResult:
        """Tell whether a response refuses, and whether it should have."""
        found = self._detector.detect(response)
        return AbstentionResult(
            query=query,
            response=response,
            is_nonexistent_entity=is_nonexistent,
            did_abstain=found.did_abstain,
            is_false_acceptance=is_nonexistent and not found.did_abstain,
            cue=found.cue,
        )

    def evaluate_and_compute_far(
        self, queries: Sequence[str], responses: Sequence[str], is_nonexistent_flags: Sequence[bool]
    ) -> FalseAcceptanceRateResult:
        """Evaluate every response and count; the three lists belong together item by item."""
        lengths = (len(queries), len(responses), len(is_nonexistent_flags))
        if len(set(lengths)) > 1:
            raise RecordError(
                f"{lengths[0]} queries, {lengths[1]} responses and {lengths[2]} flags; give one of each per query"
            )
        results = [self.evaluate_abstention(*row) for row in zip(queries, responses, is_nonexistent_flags, strict=True)]
        answers = Answers.of([(not result.is_nonexistent_entity, result.did_abstain) for result in results])
        accepted = false_acceptance_rate(answers).pooled
        refused = correct_refusal_rate(answers).pooled
        return FalseAcceptanceRateResult(
            accepted.value, int(accepted.count), int(refused.count), int(accepted.total), results
        )


# Claims and verdicts as judge-auditor writes them.


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


# The thresholds that a user of judge-auditor may set, as a hallumeter policy.


class HallucinationMetricsConfig(Struct, frozen=True):
    """When a profile is high-risk, and how uncertainty is split."""

    mihr_high_risk_threshold: float = 0.3
    """High risk above this MiHR."""
    kappa_low_threshold: float = 0.4
    """High risk below this kappa."""
    uncertainty_high_threshold: float = 0.8
    """High risk above this total uncertainty; in nats for the method `information`."""
    uncertainty_method: UncertaintyMethod = "information"
    """`literal` is judge-auditor's formula word by word: it never exceeds 0.5, and is highest for a certain judge."""

    def __post_init__(self) -> None:
        _check_range("mihr_high_risk_threshold", self.mihr_high_risk_threshold, 0, 1)
        _check_range("kappa_low_threshold", self.kappa_low_threshold, -1, 1)
        _check_range("uncertainty_high_threshold", self.uncertainty_high_threshold, 0, math.inf)
        methods = get_args(UncertaintyMethod)
        if self.uncertainty_method not in methods:
            raise SettingsError(
                f"uncertainty_method is {self.uncertainty_method!r}; expected one of {', '.join(methods)}"
            )

    @property
    def policy(self) -> Policy:
        """Judge-auditor's reliability table with these thresholds."""
        thresholds = {
            "mihr": self.mihr_high_risk_threshold,
            "fleiss_kappa": self.kappa_low_threshold,
            "uncertainty_total": self.uncertainty_high_threshold,
        }
        return Policy(
            JUDGE_AUDITOR.name, tuple(_with_threshold(rule, thresholds[rule.metric]) for rule in JUDGE_AUDITOR.rules)
        )


def _check_range(name: str, value: float, lowest: float, highest: float) -> None:
    if not lowest <= value <= highest:
        upper = f" to {highest:g}" if highest < math.inf else " up"
        raise SettingsError(f"{name} is {value:g}; expected a number from {lowest:g}{upper}")


def _with_threshold(rule: Rule, threshold: float) -> Rule:
    """The rule with another bad bound.

    A threshold stricter than the good bound takes that bound along: what is not bad is then good, with nothing between.
    """
    if rule.is_lower_better:
        good = min(rule.good, math.nextafter(threshold, -math.inf))
    else:
        good = max(rule.good, math.nextafter(threshold, math.inf))
    return replace(rule, good=good, bad=threshold)


# What the calculator gives back.


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


# Which model makes which claim.


class ClaimVerificationMatrix(Struct, frozen=True):
    """Distinct claims and the models that support them."""

    claims: list[Claim]
    """In order of first appearance, as first spelled."""
    models: list[str]
    support_matrix: list[list[int]]
    """One row per claim, one column per model; 1 where the model supports the claim, else 0."""

    def __post_init__(self) -> None:
        if len(self.support_matrix) != len(self.claims):
            raise RecordError(f"{len(self.claims)} claims, but {len(self.support_matrix)} rows; give a row per claim")
        for claim, row in zip(self.claims, self.support_matrix, strict=True):
            if len(row) != len(self.models) or not set(row) <= {0, 1}:
                raise RecordError(
                    f"claim {claim.text!r} has the row {row}; expected 0 or 1 for each of {len(self.models)} models"
                )

    @property
    def support(self) -> Support:
        """The matrix as the statements that hallumeter's consensus metrics read."""
        return support_from_matrix(self.support_matrix, self.models)


class ClaimVerificationMatrixBuilder:
    """Brings the claims of several models about the same question together."""

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
        codes = claim_codes([claim.text for _, claim in stated])
        for row, (column, claim), supports in zip(codes, stated, is_supported, strict=True):
            if row == len(claims):
                claims.append(claim)
                matrix.append([0] * len(models))
            matrix[row][column] |= supports
        return ClaimVerificationMatrix(claims, models, matrix)


def _check_verdicts(claims: Mapping[str, Sequence[Claim]], verdicts: Mapping[str, Sequence[Verdict]]) -> None:
    for model, given in verdicts.items():
        if model not in claims:
            raise RecordError(
                f"verdicts for {model!r}, but no claims; models with claims: {', '.join(claims) or 'none'}"
            )
        if len(given) > len(claims[model]):
            raise RecordError(
                f"{model!r} has {len(claims[model])} claims but {len(given)} verdicts; give at most one per claim"
            )


ResponseVerdicts = Iterable[Iterable[Verdict]] | Mapping[str, Iterable[Verdict]]


class HallucinationMetricsCalculator:
    """Computes judge-auditor's metrics one by one, or all that the inputs allow as a profile."""

    def __init__(self, config: HallucinationMetricsConfig | None = None) -> None:
        self.config = config or HallucinationMetricsConfig()

    def compute_mihr(self, verdicts: Iterable[Verdict]) -> MiHRResult:
        """Share of claims that are refuted or not verifiable; None without claims."""
        rate = micro_hallucination_rate(label_counts([verdicts])).pooled
        return MiHRResult(rate.value, int(rate.count), int(rate.total), has_claims=rate.total > 0)

    def compute_mahr(self, response_verdicts: ResponseVerdicts) -> MaHRResult:
        """Share of responses with an unsupported claim; None without responses.

        Takes a list of verdicts per response, in a list or by name. Unlike hallumeter's own rate, a response without
        claims is counted, as clean.
        """
        counts = label_counts(
            response_verdicts.values() if isinstance(response_verdicts, Mapping) else response_verdicts
        )
        rate = Rate(macro_hallucination_rate(counts).pooled.count, len(counts))
        return MaHRResult(rate.value, int(rate.count), int(rate.total))

    def compute_factscore(self, verdicts: Iterable[Verdict]) -> float | None:
        """Share of claims that are supported; None without claims."""
        return factual_precision(label_counts([verdicts])).value

    def compute_consensus_f1(self, matrix: ClaimVerificationMatrix, model: str) -> ConsensusF1Result:
        """How far a model goes along with the others; all 0 for a model that is not in the matrix."""
        for score in consensus_scores(matrix.support):
            if score.model == model:
                return ConsensusF1Result(score.precision.value or 0.0, score.recall.value or 0.0, score.f1 or 0.0)
        return ConsensusF1Result(0.0, 0.0, 0.0)

    def compute_fleiss_kappa(self, count_table: Sequence[Sequence[int]]) -> FleissKappaResult:
        """Fleiss' kappa of a table with a row per claim, a column per label, and how many judges chose it.

        Undefined without rows, with rows of unequal length or sum, with fewer than two judges, and when all judges
        always chose the same one label.
        """
        try:
            widths = sorted({len(row) for row in count_table})
        except TypeError:
            raise RecordError("a count table has one row per claim; write a single claim as [[2, 1, 0]]") from None
        if not widths:
            return _undefined_kappa("there are no items: the count table has no row")
        if len(widths) > 1:
            return _undefined_kappa(
                f"rows of the count table have {widths} entries; every row needs one entry for each label"
            )
        return _kappa_result(fleiss_kappa(count_table))

    def compute_fleiss_kappa_from_verdicts(self, judge_verdicts: Mapping[str, Sequence[Verdict]]) -> FleissKappaResult:
        """Fleiss' kappa of judges who gave their verdicts on the same claims in the same order."""
        problem = _panel_problem(judge_verdicts)
        if problem:
            return _undefined_kappa(problem)
        patterns = np.array([label_codes(verdicts) for verdicts in judge_verdicts.values()], dtype=np.int8).T
        ratings = Ratings(patterns, np.ones(len(patterns), dtype=np.int64), tuple(judge_verdicts))
        return _kappa_result(panel_fleiss_kappa(ratings))

    def compute_uncertainty(
        self, probabilities: Sequence[float], inference_samples: Sequence[Sequence[float]] | None = None
    ) -> UncertaintyResult:
        """Entropy of a distribution over labels, and its epistemic and aleatoric parts over repeated inference.

        With fewer than two samples the epistemic part is 0 and the aleatoric part is that of the distribution.
        """
        samples = () if inference_samples is None else inference_samples
        parts = uncertainty(probabilities, samples, method=self.config.uncertainty_method)
        rule = next(rule for rule in self.config.policy.rules if rule.metric == "uncertainty_total")
        return UncertaintyResult(
            parts.shannon_entropy, parts.epistemic, parts.aleatoric, parts.total, rule.is_bad(parts.total), parts.method
        )

    def generate_hallucination_profile(
        self,
        verdicts: Iterable[Verdict],
        response_verdicts: ResponseVerdicts | None = None,
        claim_matrix: ClaimVerificationMatrix | None = None,
        judge_verdicts: Mapping[str, Sequence[Verdict]] | None = None,
        probabilities: Sequence[float] | None = None,
        inference_samples: Sequence[Sequence[float]] | None = None,
    ) -> HallucinationProfile:
        """Compute all that the inputs allow and form an opinion.

        Reliability rests on MiHR, kappa and total uncertainty: low when any is beyond its threshold, high when MiHR is
        measured and all that are measured are good, unknown when none is measured, else medium. The `inference_samples`
        are read only together with `probabilities`.
        """
        claims = list(verdicts)
        mihr = self.compute_mihr(claims)
        mahr = None if response_verdicts is None else self.compute_mahr(response_verdicts)
        factscore = self.compute_factscore(claims)
        consensus = None if claim_matrix is None else self._mean_consensus(claim_matrix)
        kappa = None if judge_verdicts is None else self.compute_fleiss_kappa_from_verdicts(judge_verdicts)
        parts = None if probabilities is None else self.compute_uncertainty(probabilities, inference_samples)
        values = {
            "mihr": mihr.value,
            "mahr": mahr.value if mahr else None,
            "factscore": factscore,
            "consensus_f1": consensus.f1 if consensus else None,
            "fleiss_kappa": kappa.kappa if kappa else None,
            "uncertainty": parts.total if parts else None,
        }
        opinion = opinion_on(self.config.policy, {**values, "uncertainty_total": values["uncertainty"]})
        disputed, agreed = _claims_by_consensus(claim_matrix)
        return HallucinationProfile(
            mihr=mihr,
            mahr=mahr,
            factscore=factscore,
            consensus_f1=consensus,
            fleiss_kappa=kappa,
            uncertainty=parts,
            reliability=ReliabilityLevel(opinion.reliability),
            is_high_risk=opinion.is_high_risk,
            disputed_claims=disputed,
            consensus_claims=agreed,
            measured=[name for name, value in values.items() if value is not None],
            reasons=list(opinion.reasons),
        )

    def _mean_consensus(self, matrix: ClaimVerificationMatrix) -> ConsensusF1Result | None:
        """The mean over models of each score by itself; None without models."""
        scores = [self.compute_consensus_f1(matrix, model) for model in matrix.models]
        if not scores:
            return None
        return ConsensusF1Result(
            fmean(score.precision for score in scores),
            fmean(score.recall for score in scores),
            fmean(score.f1 for score in scores),
        )


def _panel_problem(judge_verdicts: Mapping[str, Sequence[Verdict]]) -> str | None:
    """Why judges cannot be compared; None when they can."""
    sizes = {judge: len(verdicts) for judge, verdicts in judge_verdicts.items()}
    if not sizes:
        return "there are no judges; agreement needs at least two"
    if len(sizes) < 2:
        return "needs at least two judges, found 1"
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{judge}: {size}" for judge, size in sizes.items())
        return f"judges gave unequal numbers of verdicts ({found}); every judge needs one for each claim"
    if not any(sizes.values()):
        return "there are no items: no judge gave a verdict"
    return None


def _undefined_kappa(message: str) -> FleissKappaResult:
    return FleissKappaResult(None, interpretation(None), None, None, is_undefined=True, error_message=message)


def _kappa_result(found: Agreement) -> FleissKappaResult:
    return FleissKappaResult(
        kappa=found.value,
        interpretation=interpretation(found.value),
        observed_agreement=found.observed,
        expected_agreement=found.expected,
        is_undefined=found.value is None,
        error_message=found.undefined,
    )


def _claims_by_consensus(matrix: ClaimVerificationMatrix | None) -> tuple[list[Claim], list[Claim]]:
    """The disputed claims and the consensus claims; one that no model supports is disputed."""
    if matrix is None:
        return [], []
    agreed = set(disputed_and_consensus(matrix.support)[1])
    return (
        [claim for row, claim in enumerate(matrix.claims) if row not in agreed],
        [claim for row, claim in enumerate(matrix.claims) if row in agreed],
    )

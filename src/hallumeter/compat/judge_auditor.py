"""The names of judge-auditor: change the import line, keep the rest of the program.

The names of `llm_judge_auditor.components.hallucination_metrics` and `llm_judge_auditor.models`, with their arguments,
defaults and fields. Everything is computed by the metrics of claims and decided by their profiles. Two conventions of
judge-auditor are kept where hallumeter differs: in MaHR a response without claims counts as clean, and a consensus
score with nothing to count is 0. Every other number that cannot be computed is None. With `original=True`, in the
configuration, the matrix builder and the false acceptance calculator, every value is judge-auditor's own.

>>> verdicts = [Verdict(VerdictLabel.SUPPORTED, 0.9, [], "Stated"), Verdict(VerdictLabel.REFUTED, 0.8, [], "Denied")]
>>> HallucinationMetricsCalculator().compute_mihr(verdicts).value
0.5
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pvariance
from typing import ClassVar, get_args

import numpy as np
from msgspec.structs import replace

from hallumeter.claims.metrics.consensus import consensus_scores
from hallumeter.claims.metrics.rates import factual_precision, macro_hallucination_rate, micro_hallucination_rate
from hallumeter.claims.metrics.uncertainty import Uncertainty, UncertaintyMethod, shannon_entropy, uncertainty
from hallumeter.claims.profiles import JUDGE_AUDITOR, Policy, Rule, opinion_on
from hallumeter.errors import SettingsError
from hallumeter.records.measurement import Profile
from hallumeter.records.rate import Rate
from hallumeter.stats.agreement import fleiss_kappa, interpretation
from hallumeter.text.abstention import AbstentionDetector

from .judge_auditor_records import (
    AbstentionResult,
    Claim,
    ClaimConsensus,
    ClaimType,
    ClaimVerificationMatrix,
    ClaimVerificationMatrixBuilder,
    ConsensusF1Result,
    FalseAcceptanceRateResult,
    HallucinationProfile,
    InvalidRecordError,
    Issue,
    IssueSeverity,
    IssueType,
    KappaResult,
    MaHRResult,
    MiHRResult,
    Passage,
    ReliabilityLevel,
    UncertaintyResult,
    Verdict,
    VerdictLabel,
    as_value_error,
    label_codes,
    label_counts,
)

__all__ = [
    "AbstentionResult",
    "Claim",
    "ClaimConsensus",
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
    "Issue",
    "IssueSeverity",
    "IssueType",
    "KappaResult",
    "MaHRResult",
    "MiHRResult",
    "Passage",
    "ReliabilityLevel",
    "UncertaintyResult",
    "Verdict",
    "VerdictLabel",
]


FleissKappaResult = KappaResult


class InvalidSettingsError(SettingsError, ValueError):
    """A setting that cannot be used; a ValueError, as programs for judge-auditor expect."""


class FalseAcceptanceCalculator:
    """Detects refusals and counts where they are missing.

    As long as every default pattern is in the list, hallumeter's detector decides, with patterns that were added as
    further cues. A list of the user's own decides alone: a response that contains one of its patterns abstains.

    Args:
        abstention_patterns: Phrases that refuse, instead of the default ones.
        case_sensitive: Whether the patterns, which then decide alone, must stand as they are written.
        detector: For other languages, or with cues removed; by default all known cues.
        original: Whether to decide as judge-auditor does: by the patterns alone.

    >>> calculator = FalseAcceptanceCalculator()
    >>> calculator.evaluate_abstention("Tell me about X", "I don't know about X.", True).is_false_acceptance
    False
    """

    # The families that judge-auditor names, in one wording each; the lexicons of hallumeter hold many more.
    DEFAULT_ABSTENTION_PATTERNS: ClassVar[list[str]] = [
        *("i don't know", "i do not know", "i'm not sure", "i am not sure", "i'm not certain", "i am not certain"),
        *("i can't find", "i cannot find", "i couldn't find", "i could not find", "unable to find", "not found"),
        *("can't provide", "cannot provide", "unable to provide", "i'm unable to", "i am unable to"),
        *("i can't confirm", "i cannot confirm", "no information", "no reliable information", "no data"),
        *("no record", "no evidence", "no such", "there is no", "there are no", "doesn't exist", "does not exist"),
        *("doesn't appear to exist", "does not appear to exist", "unknown", "unfamiliar", "not aware"),
        *("not in my knowledge", "outside my knowledge", "beyond my knowledge"),
        *("fictional", "invented", "made up", "fabricated", "not real", "not a real"),
    ]

    def __init__(
        self,
        abstention_patterns: list[str] | None = None,
        case_sensitive: bool = False,
        *,
        detector: AbstentionDetector | None = None,
        original: bool = False,
    ) -> None:
        self.abstention_patterns = list(abstention_patterns or self.DEFAULT_ABSTENTION_PATTERNS)
        self.case_sensitive = case_sensitive
        self.original = original
        self._given_detector = detector
        self._detector = detector or AbstentionDetector()
        self._detector_patterns: list[str] = []

    def evaluate_abstention(self, query: str, response: str, is_nonexistent: bool) -> AbstentionResult:
        """Tell whether a response refuses, and whether it should have."""
        did_abstain, cue, is_partial = self._evaluate(response)
        return AbstentionResult(
            query=query,
            response=response,
            is_nonexistent_entity=is_nonexistent,
            did_abstain=did_abstain,
            is_false_acceptance=is_nonexistent and not did_abstain,
            cue=cue,
            is_partial=is_partial,
        )

    def compute_far(self, results: Sequence[AbstentionResult]) -> FalseAcceptanceRateResult:
        """Count the false acceptances among the queries about what does not exist."""
        asked = [result for result in results if result.is_nonexistent_entity]
        rate = Rate(sum(result.is_false_acceptance for result in asked), len(asked))
        return FalseAcceptanceRateResult(
            value=0.0 if rate.value is None and self.original else rate.value,
            failed_abstentions=int(rate.count),
            correct_refusals=sum(result.did_abstain for result in asked),
            total_nonexistent_queries=len(asked),
            abstention_results=list(results),
        )

    def evaluate_and_compute_far(
        self, queries: Sequence[str], responses: Sequence[str], is_nonexistent_flags: Sequence[bool]
    ) -> FalseAcceptanceRateResult:
        """Evaluate every response and count; the three lists belong together item by item."""
        lengths = (len(queries), len(responses), len(is_nonexistent_flags))
        if len(set(lengths)) > 1:
            raise InvalidRecordError(
                f"{lengths[0]} queries, {lengths[1]} responses and {lengths[2]} flags do not have the same length; "
                "give one of each per query"
            )
        return self.compute_far(
            [self.evaluate_abstention(*row) for row in zip(queries, responses, is_nonexistent_flags, strict=True)]
        )

    def add_abstention_pattern(self, pattern: str) -> None:
        """Let one more phrase refuse."""
        if pattern not in self.abstention_patterns:
            self.abstention_patterns.append(pattern)

    def remove_abstention_pattern(self, pattern: str) -> bool:
        """Take a phrase off the list; False when it is not on it."""
        if pattern not in self.abstention_patterns:
            return False
        self.abstention_patterns.remove(pattern)
        return True

    def get_abstention_patterns(self) -> list[str]:
        """A copy of the list in use."""
        return list(self.abstention_patterns)

    def _detect_abstention(self, response: str) -> bool:
        """Whether a response refuses; judge-auditor's programs call it by this name."""
        return self._evaluate(response)[0]

    def _evaluate(self, response: str) -> tuple[bool, str | None, bool]:
        """Whether a response refuses, its cue, and whether it refuses a part and answers."""
        patterns = self.abstention_patterns
        is_default = all(pattern in patterns for pattern in self.DEFAULT_ABSTENTION_PATTERNS)
        if self.original or self.case_sensitive or not is_default:
            cue = self._first_pattern(response)
            return cue is not None, cue, False
        added = [pattern for pattern in patterns if pattern not in self.DEFAULT_ABSTENTION_PATTERNS]
        if added != self._detector_patterns and self._given_detector is None:
            with as_value_error():
                self._detector = AbstentionDetector(extra_cues=added)
            self._detector_patterns = added
        found = self._detector.detect(response)
        return found.did_abstain, found.cue or found.partial_cue, found.is_partial

    def _first_pattern(self, response: str) -> str | None:
        """The first pattern of the list that a response contains."""
        if self.case_sensitive:
            return next((pattern for pattern in self.abstention_patterns if pattern in response), None)
        lower = response.lower()
        return next((pattern for pattern in self.abstention_patterns if pattern.lower() in lower), None)


# The thresholds that a user of judge-auditor may set, as a hallumeter policy.


@dataclass
class HallucinationMetricsConfig:
    """When a profile is high-risk, and how uncertainty is split."""

    mihr_high_risk_threshold: float = 0.3
    """High risk above this MiHR."""
    kappa_low_threshold: float = 0.4
    """High risk below this kappa."""
    uncertainty_high_threshold: float = 0.8
    """High risk above this total uncertainty; in nats for the method `information`."""
    uncertainty_method: UncertaintyMethod = "information"
    """`literal` is judge-auditor's formula word by word: it never exceeds 0.5, and is highest for a certain judge."""
    original: bool = False
    """Whether every value is the one that judge-auditor gives; the method is then `literal`, whatever is set."""

    def __post_init__(self) -> None:
        methods = get_args(UncertaintyMethod)
        if self.uncertainty_method not in methods:
            raise InvalidSettingsError(
                f"uncertainty_method is {self.uncertainty_method!r}; expected one of {', '.join(methods)}"
            )
        if self.original:
            self.uncertainty_method = "literal"
            return
        _check_range("mihr_high_risk_threshold", self.mihr_high_risk_threshold, 0, 1)
        _check_range("kappa_low_threshold", self.kappa_low_threshold, -1, 1)
        _check_range("uncertainty_high_threshold", self.uncertainty_high_threshold, 0, math.inf)

    @property
    def policy(self) -> Policy:
        """Judge-auditor's reliability table with these thresholds."""
        return Policy(
            JUDGE_AUDITOR.name,
            tuple(_with_threshold(rule, self.thresholds[rule.metric]) for rule in JUDGE_AUDITOR.rules),
        )

    @property
    def thresholds(self) -> dict[str, float]:
        """The bad bound of each metric that reliability rests on."""
        return {
            "mihr": self.mihr_high_risk_threshold,
            "fleiss_kappa": self.kappa_low_threshold,
            "uncertainty_total": self.uncertainty_high_threshold,
        }


def _check_range(name: str, value: float, lowest: float, highest: float) -> None:
    if not lowest <= value <= highest:
        upper = f" to {highest:g}" if highest < math.inf else " up"
        raise InvalidSettingsError(f"{name} is {value:g}; expected a number from {lowest:g}{upper}")


def _with_threshold(rule: Rule, threshold: float) -> Rule:
    """The rule with another bad bound.

    A threshold stricter than the good bound takes that bound along: what is not bad is then good, with nothing between.
    """
    if rule.is_lower_better:
        good = min(rule.good, math.nextafter(threshold, -math.inf))
    else:
        good = max(rule.good, math.nextafter(threshold, math.inf))
    return replace(rule, good=good, bad=threshold)


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
        value = 0.0 if rate.value is None and self.config.original else rate.value
        return MaHRResult(value, int(rate.count), int(rate.total))

    def compute_factscore(self, verdicts: Iterable[Verdict]) -> float | None:
        """Share of claims that are supported; None without claims."""
        return factual_precision(label_counts([verdicts])).value

    def compute_consensus_f1(
        self, matrix: ClaimVerificationMatrix, model_name: str, consensus_threshold: float = 0.5
    ) -> ConsensusF1Result:
        """How far a model goes along with the others; all 0 for a model that is not in the matrix."""
        for score in consensus_scores(matrix.support, share=consensus_threshold):
            if score.model == model_name:
                return ConsensusF1Result(score.precision.value or 0.0, score.recall.value or 0.0, score.f1 or 0.0)
        return ConsensusF1Result(0.0, 0.0, 0.0)

    def compute_average_consensus_f1(
        self, matrix: ClaimVerificationMatrix, consensus_threshold: float = 0.5
    ) -> ConsensusF1Result:
        """The mean over models of each score by itself; all 0 without models."""
        scores = [self.compute_consensus_f1(matrix, model, consensus_threshold) for model in matrix.models]
        if not scores:
            return ConsensusF1Result(0.0, 0.0, 0.0)
        return ConsensusF1Result(
            fmean(score.precision for score in scores),
            fmean(score.recall for score in scores),
            fmean(score.f1 for score in scores),
        )

    def compute_fleiss_kappa(self, ratings: Sequence[Sequence[int]], num_categories: int | None = None) -> KappaResult:
        """Fleiss' kappa of a table with a row per claim, a column per label, and how many judges chose it.

        Undefined without rows, with rows of unequal length or sum, with fewer than two judges, and when all judges
        always chose the same one label. Without `num_categories`, the first row says how many there are.
        """
        problem = _row_problem(ratings, num_categories)
        if problem:
            return self._undefined_kappa(problem)
        with as_value_error():
            found = fleiss_kappa(ratings)
        if found.value is not None:
            return KappaResult(found.value, self.interpret_kappa(found.value), found.observed, found.expected)
        problem = _rater_problem(ratings)
        if problem:
            return self._undefined_kappa(problem)
        if self.config.original:
            return KappaResult(1.0, self.interpret_kappa(1.0), found.observed, found.expected)
        return KappaResult(
            None, interpretation(None), found.observed, found.expected, is_undefined=True, error_message=found.undefined
        )

    def interpret_kappa(self, kappa: float) -> str:
        """The word for a kappa; one of exactly 0.8 is substantial, or almost perfect with `original`."""
        if self.config.original and math.isclose(kappa, 0.8, abs_tol=1e-9):
            return interpretation(1.0)
        return interpretation(kappa)

    def compute_fleiss_kappa_from_verdicts(self, judge_verdicts: Mapping[str, Sequence[Verdict]]) -> KappaResult:
        """Fleiss' kappa of judges who gave their verdicts on the same claims in the same order."""
        problem = _panel_problem(judge_verdicts)
        if problem:
            return self._undefined_kappa(problem)
        votes = np.array([label_codes(verdicts) for verdicts in judge_verdicts.values()]).T
        table = [[int((row == code).sum()) for code in range(len(VerdictLabel))] for row in votes]
        return self.compute_fleiss_kappa(table, len(VerdictLabel))

    def compute_shannon_entropy(self, probabilities: Sequence[float]) -> float:
        """Entropy of a distribution over labels, in nats; 0 of an empty one."""
        if not len(probabilities):
            return 0.0
        if self.config.original:
            return max(0.0, -math.fsum(share * math.log(share) for share in probabilities if share > 0))
        with as_value_error():
            return shannon_entropy(probabilities)

    def compute_epistemic_uncertainty(self, inference_samples: Sequence[Sequence[float]]) -> float:
        """What repeated inference disagrees about; 0 with fewer than two samples."""
        if len(inference_samples) < 2:
            return 0.0
        if self.config.original:
            return _variance_across(inference_samples)
        return self._parts(inference_samples[0], inference_samples).epistemic

    def compute_aleatoric_uncertainty(self, inference_samples: Sequence[Sequence[float]]) -> float:
        """What every single inference is unsure about; 0 without samples."""
        if not len(inference_samples):
            return 0.0
        if self.config.original:
            return _variance_within(inference_samples)
        return self._parts(inference_samples[0], inference_samples).aleatoric

    def compute_uncertainty(
        self, probabilities: Sequence[float], inference_samples: Sequence[Sequence[float]] | None = None
    ) -> UncertaintyResult:
        """Entropy of a distribution over labels, and its epistemic and aleatoric parts over repeated inference.

        With fewer than two samples the epistemic part is 0 and the aleatoric part is that of the distribution; with
        `original` both are 0.
        """
        samples = () if inference_samples is None else inference_samples
        entropy = self.compute_shannon_entropy(probabilities)
        if self.config.original or not len(probabilities):
            many = samples if len(samples) > 1 else ()
            epistemic = self.compute_epistemic_uncertainty(many)
            aleatoric = self.compute_aleatoric_uncertainty(many)
            return self._uncertainty_result(entropy, epistemic, aleatoric)
        parts = self._parts(probabilities, samples)
        return self._uncertainty_result(entropy, parts.epistemic, parts.aleatoric)

    def flag_high_uncertainty(self, uncertainty: UncertaintyResult, threshold: float | None = None) -> bool:
        """Whether the total is above a threshold, by default that of the configuration."""
        highest = self.config.uncertainty_high_threshold if threshold is None else threshold
        return uncertainty.total > highest

    def is_high_risk(
        self,
        mihr: MiHRResult | None = None,
        kappa: KappaResult | None = None,
        uncertainty: UncertaintyResult | None = None,
    ) -> bool:
        """Whether MiHR, kappa or total uncertainty is beyond its threshold; what is missing raises no risk."""
        return self._opinion(mihr, kappa, uncertainty).is_high_risk

    def determine_reliability(
        self,
        mihr: MiHRResult | None = None,
        kappa: KappaResult | None = None,
        uncertainty: UncertaintyResult | None = None,
    ) -> ReliabilityLevel:
        """Reliability by MiHR, kappa and total uncertainty, as `generate_hallucination_profile` says."""
        return ReliabilityLevel(self._opinion(mihr, kappa, uncertainty).reliability)

    def generate_hallucination_profile(  # noqa: PLR0917 (the arguments are judge-auditor's)
        self,
        verdicts: Iterable[Verdict],
        response_verdicts: ResponseVerdicts | None = None,
        claim_matrix: ClaimVerificationMatrix | None = None,
        judge_verdicts: Mapping[str, Sequence[Verdict]] | None = None,
        probabilities: Sequence[float] | None = None,
        inference_samples: Sequence[Sequence[float]] | None = None,
        consensus_threshold: float = 0.5,
    ) -> HallucinationProfile:
        """Compute all that the inputs allow and form an opinion; an empty input is one that was not given.

        Reliability rests on MiHR, kappa and total uncertainty: low when any is beyond its threshold, high when MiHR is
        measured and all that are measured are good, unknown when none is measured, else medium. The `inference_samples`
        are read only together with `probabilities`.
        """
        claims = list(verdicts)
        mihr = self.compute_mihr(claims)
        mahr = self.compute_mahr(response_verdicts) if response_verdicts else None
        factscore = self.compute_factscore(claims)
        matrix = claim_matrix if claim_matrix is not None and claim_matrix.models else None
        consensus = None if matrix is None else self.compute_average_consensus_f1(matrix, consensus_threshold)
        kappa = self.compute_fleiss_kappa_from_verdicts(judge_verdicts) if judge_verdicts else None
        parts = None
        if probabilities is not None and len(probabilities):
            parts = self.compute_uncertainty(probabilities, inference_samples)
        opinion = self._opinion(mihr, kappa, parts)
        values = {
            "mihr": mihr.value,
            "mahr": mahr.value if mahr else None,
            "factscore": factscore,
            "consensus_f1": consensus.f1 if consensus else None,
            "fleiss_kappa": kappa.kappa if kappa else None,
            "uncertainty": parts.total if parts else None,
        }
        return HallucinationProfile(
            mihr=mihr,
            mahr=mahr,
            factscore=factscore,
            consensus_f1=consensus,
            fleiss_kappa=kappa,
            uncertainty=parts,
            reliability=ReliabilityLevel(opinion.reliability),
            disputed_claims=matrix.get_disputed_claims(consensus_threshold) if matrix else [],
            consensus_claims=matrix.get_consensus_claims(consensus_threshold) if matrix else [],
            is_high_risk=opinion.is_high_risk,
            measured=[name for name, value in values.items() if value is not None],
            reasons=list(opinion.reasons),
        )

    def _opinion(
        self, mihr: MiHRResult | None, kappa: KappaResult | None, uncertainty: UncertaintyResult | None
    ) -> Profile:
        values = {
            "mihr": mihr.value if mihr else None,
            "fleiss_kappa": kappa.kappa if kappa and not kappa.is_undefined else None,
            "uncertainty_total": uncertainty.total if uncertainty else None,
        }
        if self.config.original:
            return _original_opinion(values, self.config.thresholds)
        return opinion_on(self.config.policy, values)

    def _parts(self, probabilities: Sequence[float], samples: Sequence[Sequence[float]]) -> Uncertainty:
        with as_value_error():
            return uncertainty(probabilities, samples, method=self.config.uncertainty_method)

    def _uncertainty_result(self, entropy: float, epistemic: float, aleatoric: float) -> UncertaintyResult:
        found = UncertaintyResult(
            entropy, epistemic, aleatoric, epistemic + aleatoric, False, self.config.uncertainty_method
        )
        found.is_high_uncertainty = self.flag_high_uncertainty(found)
        return found

    def _undefined_kappa(self, message: str) -> KappaResult:
        nothing = 0.0 if self.config.original else None
        return KappaResult(None, interpretation(None), nothing, nothing, is_undefined=True, error_message=message)


def _row_problem(ratings: Sequence[Sequence[int]], num_categories: int | None) -> str | None:
    """Why the rows of a table of ratings are no table; None when they are."""
    if not len(ratings):
        return "No ratings provided"
    try:
        widths = [len(row) for row in ratings]
    except TypeError:
        raise InvalidRecordError("a count table has one row per claim; write a single claim as [[2, 1, 0]]") from None
    expected = widths[0] if num_categories is None else num_categories
    wrong = next((row for row, width in enumerate(widths) if width != expected), None)
    return None if wrong is None else f"Row {wrong} has {widths[wrong]} categories, expected {expected}"


def _rater_problem(ratings: Sequence[Sequence[int]]) -> str | None:
    """Why the judges of a table of ratings cannot be compared; None when they can."""
    judges = [sum(row) for row in ratings]
    if judges[0] < 2:
        return f"Fewer than 2 judges: kappa needs at least two judges, found {judges[0]}"
    wrong = next((row for row, found in enumerate(judges) if found != judges[0]), None)
    return None if wrong is None else f"Item {wrong} has {judges[wrong]} raters, expected {judges[0]}"


def _panel_problem(judge_verdicts: Mapping[str, Sequence[Verdict]]) -> str | None:
    """Why judges cannot be compared; None when they can."""
    sizes = {judge: len(verdicts) for judge, verdicts in judge_verdicts.items()}
    if not sizes:
        return "No judge verdicts: there are no judges, and agreement needs at least two"
    if len(sizes) < 2:
        return "Fewer than 2 judges: kappa needs at least two judges, found 1"
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{judge}: {size}" for judge, size in sizes.items())
        return f"judges gave unequal numbers of verdicts ({found}); every judge needs one for each claim"
    if not any(sizes.values()):
        return "No items: no judge gave a verdict"
    return None


# What judge-auditor computes otherwise than hallumeter, for `original`.


def _variance_across(samples: Sequence[Sequence[float]]) -> float:
    """The variance over samples of each outcome's probability, averaged over the outcomes of the first sample."""
    columns = [[sample[place] for sample in samples if place < len(sample)] for place in range(len(samples[0]))]
    variances = [pvariance(column) for column in columns if len(column) > 1]
    return fmean(variances) if variances else 0.0


def _variance_within(samples: Sequence[Sequence[float]]) -> float:
    """The variance of the probabilities of each sample, averaged over the samples."""
    variances = [pvariance(sample) for sample in samples if len(sample)]
    return fmean(variances) if variances else 0.0


def _original_opinion(values: Mapping[str, float | None], thresholds: Mapping[str, float]) -> Profile:
    """Low beyond a threshold, medium when two or more are not good, else high, even when nothing was measured."""
    measured = {rule: value for rule in JUDGE_AUDITOR.rules if (value := values[rule.metric]) is not None}
    is_high_risk = any(_is_beyond(rule, value, thresholds[rule.metric]) for rule, value in measured.items())
    weak = [rule.metric for rule, value in measured.items() if _is_beyond(rule, value, rule.good)]
    return Profile(
        policy=JUDGE_AUDITOR.name,
        reliability="low" if is_high_risk else "medium" if len(weak) > 1 else "high",
        is_high_risk=is_high_risk,
        measured=tuple(rule.metric for rule in measured),
        reasons=tuple(f"{metric} is not good" for metric in weak),
    )


def _is_beyond(rule: Rule, value: float, bound: float) -> bool:
    return value > bound if rule.is_lower_better else value < bound

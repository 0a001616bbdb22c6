"""Judge-auditor's calculator over hallumeter's metrics."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from hallumeter.errors import RecordError
from hallumeter.metrics.agreement import fleiss_kappa, interpretation, panel_fleiss_kappa
from hallumeter.metrics.claims import factual_precision, macro_hallucination_rate, micro_hallucination_rate
from hallumeter.metrics.consensus import consensus_scores, disputed_and_consensus
from hallumeter.metrics.uncertainty import uncertainty
from hallumeter.policy import opinion_on
from hallumeter.records import Rate, Ratings

from .results import (
    ConsensusF1Result,
    FleissKappaResult,
    HallucinationProfile,
    MaHRResult,
    MiHRResult,
    ReliabilityLevel,
    UncertaintyResult,
)
from .settings import HallucinationMetricsConfig
from .verdicts import label_codes, label_counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hallumeter.metrics.agreement import Agreement

    from .claim_matrix import ClaimVerificationMatrix
    from .verdicts import Claim, Verdict

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

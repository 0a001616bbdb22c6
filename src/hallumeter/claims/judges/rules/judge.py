"""The judge that works by rules: no model, no network, every verdict with its reason and its places."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

from msgspec import Struct

from hallumeter.records.claim import Claim, Failure, Label, Verdict
from hallumeter.records.judging import JudgeSpec, JudgeTask, claim_text, place_in_response
from hallumeter.records.response import Response
from hallumeter.text.terms import language_of, terms_of

from .check_dates import check_dates
from .check_names import check_fields, check_names, check_quotations
from .check_numbers import check_numbers
from .check_polarity import check_comparison, check_negation
from .evidence import prepared_evidence
from .minimal_pairs import check_minimal_pairs, supporting_quote
from .overlap import Overlap, overlap_of
from .statement import Finding, Statement, is_doubt, is_mismatch

# From what the checks see to a probability that a claim is not supported: a small logistic model, kept as a table.

COEFFICIENTS: dict[str, float] = {
    "constant": -4.091,
    "uncovered": 0.957,
    "uncovered_by_best": 1.875,
    "longest_run": 0.476,
    "missing_words": 0.444,
    "number_not_found": 2.003,
    "name_not_found": 1.244,
}
"""Fitted by benchmarks/rules_judge_validity.py on the training answers of RAGTruth."""

MISMATCH = 0.75
"""How often a claim is not supported when the evidence says otherwise by the checks, whatever else there is."""

FLOORS = {
    "number_not_found": 0.72,
    "date_not_found": 0.70,
    "name_not_found": 0.61,
    "quotation_not_found": 0.57,
    "negation_unclear": 0.3,
    "uncertain": 0.3,
}
"""The least probability with such a finding, so that it says the same as the label: how often a claim with what is
not found is not supported in RAGTruth; for doubts a value that calls for a look."""

LIKELY = 0.35
"""Probability from which a claim whose words are missing is not supported. With it the judge finds about as many
claims unsupported as people do in RAGTruth, so that rates are neither inflated nor deflated."""
UNLIKELY = 0.25
"""Probability up to which a claim is supported; between both it is undecided."""
COVERED = 0.5
"""Weighted share of its words that evidence or question must have before a claim is supported."""


class Signals(Struct, frozen=True):
    """What a verdict is calibrated on, in the order of `COEFFICIENTS` without the constant."""

    uncovered: float
    """Weighted share of the claim's words that neither the evidence nor the question has."""
    uncovered_by_best: float
    """Weighted share of the claim's words that the best sentence does not have."""
    longest_run: float
    """Words of the longest part that the evidence does not have, as the logarithm of one more."""
    missing_words: float
    """Words that the evidence does not have, as the logarithm of one more."""
    number_not_found: float
    """1 when a number or date is nowhere in the evidence."""
    name_not_found: float
    """1 when a name or quotation is nowhere in the evidence."""


def signals_of(overlap: Overlap, findings: Iterable[Finding]) -> Signals:
    """The signals of a claim."""
    reasons = {finding.reason for finding in findings}
    return Signals(
        uncovered=1.0 - overlap.share,
        uncovered_by_best=1.0 - overlap.best,
        longest_run=math.log1p(overlap.run_words),
        missing_words=math.log1p(overlap.missing),
        number_not_found=float(bool(reasons & {"number_not_found", "date_not_found"})),
        name_not_found=float(bool(reasons & {"name_not_found", "quotation_not_found"})),
    )


def floor_of(findings: Iterable[Finding]) -> float:
    """The least probability that the findings leave; 0 when there is none."""
    return max((FLOORS.get(finding.reason, 0.0) for finding in findings), default=0.0)


def unsupported_probability(signals: Signals, *, has_mismatch: bool) -> float:
    """How probable it is that the evidence does not support the claim; a mismatch adds to what the words say."""
    logit = COEFFICIENTS["constant"]
    for name in signals.__struct_fields__:
        logit += COEFFICIENTS[name] * getattr(signals, name)
    probability = 1.0 / (1.0 + math.exp(-logit))
    return 1.0 - (1.0 - probability) * (1.0 - MISMATCH) if has_mismatch else probability


NAME = "rules@1"
CHECKS = (
    check_numbers,
    check_dates,
    check_names,
    check_quotations,
    check_negation,
    check_comparison,
    check_fields,
    check_minimal_pairs,
)


class RulesJudge:
    """Judges by numbers, units, dates, money, percentages, names, quotations, negation, opposites and word overlap.

    A claim is REFUTED when the evidence says otherwise in a place that speaks of the same thing, NOT_ENOUGH_INFO when
    a number, date, name or quotation is nowhere in the evidence or too few of its words are, and else SUPPORTED.
    """

    @property
    def spec(self) -> JudgeSpec:
        """Its name, and the thresholds that its labels depend on."""
        thresholds = {"likely": LIKELY, "unlikely": UNLIKELY, "covered": COVERED}
        settings = tuple((name, f"{value:g}") for name, value in thresholds.items())
        return JudgeSpec(NAME, settings, is_parallel=True)

    def judge(self, task: JudgeTask) -> list[Verdict | Failure]:
        """One verdict for each claim, in the order of the claims."""
        response = task.response
        evidence = prepared_evidence(response.evidence)
        language, given = asked(response.response or "", response.question or "")
        verdicts: list[Verdict | Failure] = []
        for claim in task.claims:
            text = claim_text(claim, response)
            statement = Statement(text, evidence, language=language, given=given)
            verdicts.append(_verdict(claim, response, statement))
        return verdicts


@lru_cache(maxsize=16)
def asked(response: str, question: str) -> tuple[str, frozenset[str]]:
    """The language of a response, and the keys of its question."""
    return language_of(terms_of(response)), frozenset(key for key in terms_of(question).keys if key)


def findings_of(statement: Statement) -> list[Finding]:
    """Everything that the checks find, in the order of the checks."""
    return [finding for check in CHECKS for finding in check(statement)]


def _verdict(claim: Claim, response: Response, statement: Statement) -> Verdict:
    """What is said of one claim."""
    if not statement.keys:
        return _plain(claim, Label.UNDECIDED, "too_short")
    if not statement.evidence.sentences:
        return _plain(claim, Label.NOT_ENOUGH_INFO, "no_evidence")
    findings = findings_of(statement)
    overlap = overlap_of(statement)
    probability = unsupported_probability(signals_of(overlap, findings), has_mismatch=any(map(is_mismatch, findings)))
    label, finding = _decided(statement, findings, overlap, probability=probability)
    probability = max(probability, floor_of(findings))
    if finding is not None:
        start, end = place_in_response(claim, response, (finding.start, finding.end))
    else:
        start, end = claim.start, claim.end
    return Verdict(
        record_id=claim.record_id,
        claim_id=claim.claim_id,
        judge=NAME,
        label=label,
        unsupported_probability=probability,
        reason=finding.reason if finding is not None else "uncertain" if label is Label.UNDECIDED else None,
        start=start,
        end=end,
        evidence=finding.quotes if finding is not None and finding.quotes else supporting_quote(statement),
        note=finding.note if finding is not None else None,
        confidence=_confidence(label, probability),
    )


def _confidence(label: Label, probability: float) -> float | None:
    if label is Label.UNDECIDED:
        return None
    return 1.0 - probability if label is Label.SUPPORTED else probability


def _plain(claim: Claim, label: Label, reason: str) -> Verdict:
    return Verdict(claim.record_id, claim.claim_id, NAME, label, reason=reason, start=claim.start, end=claim.end)


def _decided(
    statement: Statement, findings: list[Finding], overlap: Overlap, *, probability: float
) -> tuple[Label, Finding | None]:
    """The label and the finding that decides: what the evidence denies before what it does not have."""
    denied = [finding for finding in findings if is_mismatch(finding)]
    if denied:
        return Label.REFUTED, denied[0]
    missing = [finding for finding in findings if not is_doubt(finding)]
    if missing:
        return Label.NOT_ENOUGH_INFO, missing[0]
    if probability >= LIKELY:
        return Label.NOT_ENOUGH_INFO, _words_not_found(statement, overlap)
    if findings:
        return Label.UNDECIDED, findings[0]
    is_supported = probability <= UNLIKELY and overlap.share >= COVERED
    return (Label.SUPPORTED if is_supported else Label.UNDECIDED), None


def _words_not_found(statement: Statement, overlap: Overlap) -> Finding:
    start, end = overlap.run or (0, len(statement.terms.text))
    said = statement.text[start:end]
    return Finding("words_not_found", start, end, f"evidence has nothing like “{said}”")

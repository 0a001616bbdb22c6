"""The judge that works by rules: no model, no network, every verdict with its reason and its places."""

from __future__ import annotations

from functools import lru_cache

from hallumeter.judges.claim_text import claim_text, place_in_response
from hallumeter.judges.protocol import JudgeSpec, JudgeTask
from hallumeter.records import Claim, Failure, Label, Response, Verdict
from hallumeter.text.terms import language_of, terms_of

from .calibration import COVERED, LIKELY, UNLIKELY, floor_of, signals_of, unsupported_probability
from .check_dates import check_dates
from .check_fields import check_fields
from .check_names import check_names
from .check_numbers import check_numbers
from .check_polarity import check_comparison, check_negation
from .check_quotations import check_quotations
from .evidence import prepared_evidence
from .findings import Finding, is_doubt, is_mismatch
from .minimal_pairs import check_minimal_pairs, supporting_quote
from .overlap import Overlap, overlap_of
from .statement import Statement

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

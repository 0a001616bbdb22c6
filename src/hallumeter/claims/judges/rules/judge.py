"""The judge that works by rules: no model, no network, every verdict with its reason and its places."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

from msgspec import Struct

from hallumeter.claims.judges.fields.dialogue_answers import check_dialogue_answers
from hallumeter.claims.judges.fields.opening_hours import check_opening_hours
from hallumeter.claims.judges.fields.record_fields import check_record_fields
from hallumeter.claims.judges.fields.record_figures import check_record_figures, without_derived
from hallumeter.records.claim import Claim, Failure, Label, Verdict
from hallumeter.records.judging import JudgeSpec, JudgeTask, claim_text, place_in_response
from hallumeter.records.response import Response
from hallumeter.text.terms import language_of, terms_of

from .check_dates import check_dates
from .check_directions import check_comparison
from .check_lists import check_lists
from .check_names import check_names, check_quotations
from .check_numbers import check_numbers
from .check_plans import check_plans
from .check_polarity import check_negation
from .check_roles import check_roles
from .evidence import prepared_evidence
from .minimal_pairs import check_minimal_pairs, supporting_quote
from .overlap import Overlap, overlap_of
from .statement import MISMATCHES, Finding, Statement, as_doubt, denies, is_doubt, is_mismatch, on_whole_words, wrong

# From what the checks see to a probability that a claim is not supported: a small logistic model, kept as a table.

COEFFICIENTS: dict[str, float] = {
    "constant": -2.927,
    "uncovered": 0.434,
    "uncovered_by_best": 1.728,
    "longest_run": 0.359,
    "missing_words": 0.224,
    "contradiction": 2.990,
    "number_not_found": 1.655,
    "date_not_found": 2.164,
    "name_not_found": 1.694,
    "quotation": 0.728,
    "negation_unclear": 1.599,
    "uncertain": 1.061,
}
"""Fitted by `python -m training.rules_judge` on texts whose claims people marked, without the fold held back."""

LIKELY = 0.35
"""Probability from which a claim is not supported. With it the judge finds about as many claims unsupported as people
do on what it was fitted on, so that rates are neither inflated nor deflated."""
UNLIKELY = 0.25
"""Probability up to which a claim is supported; between both it is undecided."""

GROUPS: dict[str, tuple[str, ...]] = {
    "contradiction": tuple(reason for reason in MISMATCHES if reason != "quotation_mismatch"),
    "number_not_found": ("number_not_found",),
    "date_not_found": ("date_not_found",),
    "name_not_found": ("name_not_found",),
    "quotation": ("quotation_mismatch", "quotation_not_found"),
    "negation_unclear": ("negation_unclear",),
    "uncertain": ("uncertain",),
}
"""Reasons of findings as the model counts them: 1 when a claim has any of a group."""


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
    contradiction: float = 0.0
    """From here on: 1 when there is a finding of the group. Most kinds of mismatches are too rare for one each."""
    number_not_found: float = 0.0
    date_not_found: float = 0.0
    name_not_found: float = 0.0
    quotation: float = 0.0
    negation_unclear: float = 0.0
    uncertain: float = 0.0


def signals_of(overlap: Overlap, findings: Iterable[Finding]) -> Signals:
    """The signals of a claim."""
    reasons = {finding.reason for finding in findings}
    return Signals(
        uncovered=1.0 - overlap.share,
        uncovered_by_best=1.0 - overlap.best,
        longest_run=math.log1p(overlap.run_words),
        missing_words=math.log1p(overlap.missing),
        **{group: float(not reasons.isdisjoint(members)) for group, members in GROUPS.items()},
    )


def unsupported_probability(signals: Signals) -> float:
    """How probable it is that the evidence does not support the claim."""
    logit = COEFFICIENTS["constant"]
    for name in signals.__struct_fields__:
        logit += COEFFICIENTS[name] * getattr(signals, name)
    return 1.0 / (1.0 + math.exp(-logit))


NAME = "rules@2"
CHECKS = (
    check_numbers,
    check_dates,
    check_names,
    check_quotations,
    check_negation,
    check_comparison,
    check_roles,
    check_plans,
    check_lists,
    check_minimal_pairs,
)
FIELD_CHECKS = (check_opening_hours, check_record_fields, check_record_figures, check_dialogue_answers)
"""What is compared with the fields of a record and the answers in a dialogue."""


class RulesJudge:
    """Judges by numbers, units, dates, money, percentages, names, quotations, negation, opposites and word overlap.

    All of these make one probability that the evidence does not support a claim. From `LIKELY` on a claim is REFUTED
    when a check that is known to be right says that the evidence denies it, and else NOT_ENOUGH_INFO; up to `UNLIKELY`
    it is SUPPORTED, and between both UNDECIDED.
    """

    @property
    def spec(self) -> JudgeSpec:
        """Its name, and the thresholds that its labels depend on."""
        thresholds = {"likely": LIKELY, "unlikely": UNLIKELY}
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
    """Everything that the checks find wrong, in the order of the checks."""
    return wrong(compared(statement))


def compared(statement: Statement) -> list[Finding]:
    """Everything that the checks find, also what a record confirms, in the order of the checks."""
    found = [finding for check in CHECKS for finding in check(statement)]
    found = without_derived(statement, _without_other_subjects(found))
    found += [finding for check in FIELD_CHECKS for finding in check(statement)]
    return [on_whole_words(statement.text, finding) for finding in found]


_VALUES = ("number_mismatch", "unit_mismatch", "money_mismatch", "percent_mismatch", "date_mismatch")


def _without_other_subjects(findings: list[Finding]) -> list[Finding]:
    """Values of which several differ are of something else that the evidence does not speak of: they are doubts."""
    if sum(finding.reason in _VALUES for finding in findings) < 2:
        return findings
    return [as_doubt(finding) if finding.reason in _VALUES else finding for finding in findings]


def _verdict(claim: Claim, response: Response, statement: Statement) -> Verdict:
    """What is said of one claim."""
    if not statement.keys:
        return _plain(claim, Label.UNDECIDED, "too_short")
    if not statement.evidence.sentences:
        return _plain(claim, Label.NOT_ENOUGH_INFO, "no_evidence")
    findings = findings_of(statement)
    overlap = overlap_of(statement)
    probability = unsupported_probability(signals_of(overlap, findings))
    label, finding = _decided(statement, findings, overlap, probability=probability)
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
    """The label that the probability has, and the finding to show: what the evidence denies before what it lacks."""
    if probability < LIKELY:
        shown = sorted(findings, key=_rank)
        label = Label.SUPPORTED if probability <= UNLIKELY else Label.UNDECIDED
        return label, shown[0] if shown and label is Label.UNDECIDED else None
    found = sorted((finding for finding in findings if not is_doubt(finding)), key=_rank)
    if not found:
        return Label.NOT_ENOUGH_INFO, _words_not_found(statement, overlap)
    return (Label.REFUTED if denies(found[0]) else Label.NOT_ENOUGH_INFO), found[0]


def _rank(finding: Finding) -> tuple[bool, bool, bool]:
    """What denies before what mismatches before what is missing before doubts."""
    return not denies(finding), not is_mismatch(finding), is_doubt(finding)


def _words_not_found(statement: Statement, overlap: Overlap) -> Finding:
    start, end = overlap.run or (0, len(statement.terms.text))
    said = statement.text[start:end]
    return Finding("words_not_found", start, end, f"evidence has nothing like “{said}”")

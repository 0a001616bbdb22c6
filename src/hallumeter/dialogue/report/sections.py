"""What a report on dialogues shows that others do not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hallumeter.records.claim import Claim, Label, Verdict
from hallumeter.records.measurement import Summary
from hallumeter.records.response import Response
from hallumeter.report.document import RecordFindings
from hallumeter.report.sections import DifferenceSection, ScoreSection

from .wording import SINGLE, metric_alias, too_few_words

# The sections of a report on dialogues, made from a summary.


def difference_section(summary: Summary) -> DifferenceSection | None:
    """Modes compared; None for a single mode."""
    found = summary.dialogue
    if found is None or not found.differences:
        return None
    names = {row.metric: metric_alias(row.metric) for row in found.differences}
    return DifferenceSection(found.differences, found.fairness, names, too_few_words(found.differences))


def score_section(summary: Summary) -> ScoreSection | None:
    """Spread and trend; None without a score."""
    found = summary.dialogue
    if found is None or not found.spread:
        return None
    shown = [row for row in summary.metrics if row.metric in SINGLE and row.value is not None]
    return ScoreSection(
        modes=tuple(dict.fromkeys(bins.mode for bins in found.spread)),
        spread=found.spread,
        by_mode=tuple(row for row in shown if tuple(row.by) == ("mode",)),
        trend=tuple(row for row in shown if tuple(row.by) == ("mode", "turn_id")),
        names={metric: metric_alias(metric) for metric in SINGLE},
    )


def severity(item: RecordFindings) -> tuple[float, float, float]:
    """Answers with most weight refuted first; then those with most facts unused and elements missing."""
    refuted = missing = 0.0
    for finding in item.findings:
        label = finding.verdicts[0].label if finding.verdicts else None
        if label is Label.REFUTED:
            refuted += finding.claim.weight
        elif label is Label.NOT_ENOUGH_INFO and finding.claim.kind in ("slot_use", "element"):
            missing += finding.claim.weight
    return refuted, missing, 0.0


def refuted(records: Iterable[RecordFindings]) -> Iterator[tuple[Response, Claim, Verdict]]:
    """What speaks against answers: inventions, broken rules, contradictions, in the order of the answers."""
    for item in records:
        for finding in item.findings:
            if finding.verdicts and finding.verdicts[0].label is Label.REFUTED:
                yield item.response, finding.claim, finding.verdicts[0]

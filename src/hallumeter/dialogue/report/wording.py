"""How differences between modes are worded, the same in every renderer, and the sections that show them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce

from hallumeter.dialogue.catalog import METRICS_BY_ID
from hallumeter.records.claim import Claim, Label, Verdict
from hallumeter.records.measurement import Summary
from hallumeter.records.response import Response
from hallumeter.records.summaries import Fairness, ModeDifference
from hallumeter.report.document import RecordFindings
from hallumeter.report.languages.speaking import message, say, say_count
from hallumeter.report.sections import DifferenceSection, ScoreSection
from hallumeter.report.wording import FIELD_WORDS, NO_VALUE, format_count, format_number, p_words, signed, signed_pair

LEVEL = 0.05
"""An adjusted p value below it is called a difference."""
SINGLE = ("sfs", "csp", "cus_improved", "cus", "mcs", "ass", "dialogue_score")
"""The metrics of a first look; the pooled ones say much the same."""

MARK_WORDS: dict[Label | None, str] = {
    Label.REFUTED: message("invented, unsafe or contradicted"),
    Label.NOT_ENOUGH_INFO: message("not said of the patient, not used or missing"),
    Label.SUPPORTED: message("true, safe, used or found"),
}
"""What the marks in an answer mean, worst first."""
_FIELD_WORDS = FIELD_WORDS | {"turn_id": message("turn"), "patient_id": message("patient")}


def group_title(fields: Sequence[str]) -> str:
    """The heading of a table of groups.

    >>> group_title(["mode", "turn_id"])
    'By mode and turn'
    """
    names = [say(_FIELD_WORDS[name]) if name in _FIELD_WORDS else name for name in fields]
    return say("By {fields}", fields=reduce(lambda text, name: say("{names} and {last}", names=text, last=name), names))


def metric_alias(metric: str) -> str:
    """What a metric is called in the literature."""
    known = METRICS_BY_ID.get(metric)
    return known.alias if known else metric


def result_words(row: ModeDifference) -> str:
    """Who is better, as far as that is shown."""
    if row.difference is None:
        return say("no pairs")
    if row.adjusted_p_value is None or row.adjusted_p_value >= LEVEL:
        return say("not shown to differ")
    is_more = row.difference > 0
    if row.direction == "none":
        return say("{mode} has more", mode=row.second) if is_more else say("{mode} has less", mode=row.second)
    is_better = is_more == (row.direction == "higher")
    return say("{mode} is better", mode=row.second) if is_better else say("{mode} is worse", mode=row.second)


def too_few_words(rows: Sequence[ModeDifference]) -> str | None:
    """Why no difference can be shown, however large: too few patients for a small p; None where there are enough.

    Of n patients whose signs are flipped, 2 of the 2 ** n ways are as extreme as the most extreme; Holm's correction
    multiplies the smallest p by the number of metrics.
    """
    for _, compared in pairs_of_modes(rows):
        tests = sum(row.p_value is not None for row in compared)
        patients = max((row.patients for row in compared), default=0)
        if tests and tests * _smallest_p(patients) >= LEVEL:
            enough = next(count for count in itertools.count(patients) if tests * _smallest_p(count) < LEVEL)
            smallest, corrected = (p_words(min(1.0, times * _smallest_p(patients))) for times in (1, tests))
            return say(
                "Too few to tell: with {patients} no p can be below {smallest}, nor below {corrected} after Holm's "
                "correction over {metrics}. Take at least {enough} patients.",
                patients=say_count(patients, "{count} patient", "{count} patients"),
                smallest=smallest,
                corrected=corrected,
                metrics=say_count(tests, "{count} metric", "{count} metrics"),
                enough=format_count(enough),
            )
    return None


def _smallest_p(patients: int) -> float:
    """Of a two-sided test that flips the signs of whole patients."""
    return min(1.0, 2.0 ** (1 - patients))


def pairs_of_modes(rows: Iterable[ModeDifference]) -> list[tuple[tuple[str, str], list[ModeDifference]]]:
    """Differences that stand together by the modes that are compared."""
    found: dict[tuple[str, str], list[ModeDifference]] = {}
    for row in rows:
        found.setdefault((row.first, row.second), []).append(row)
    return list(found.items())


def fairness_words(fairness: Fairness) -> str:
    """Whether all modes were asked the same."""
    modes = ", ".join(fairness.modes)
    if len(fairness.modes) == 2:
        modes = say("{names} and {last}", names=fairness.modes[0], last=fairness.modes[1])
    turns = say_count(fairness.common_turns, "{count} turn", "{count} turns")
    if fairness.is_fair:
        patients = say_count(fairness.patients, "{count} patient", "{count} patients")
        return say(
            "Fair: {modes} were asked the same questions ({patients}, {turns}).",
            modes=modes,
            patients=patients,
            turns=turns,
        )
    return say(
        "Not fair: {modes} were not asked the same ({differences}); compared are the {turns} that all were asked.",
        modes=modes,
        differences=say_count(fairness.differences_total, "{count} difference", "{count} differences"),
        turns=turns,
    )


def difference_values(row: ModeDifference) -> list[dict[str, float]]:
    """The same columns in full precision: a value each, or both ends of the interval; empty where there is none."""
    low, high = row.interval or (None, None)
    columns: list[dict[str, float | None]] = [
        {"value": row.first_mean},
        {"value": row.second_mean},
        {"value": row.difference},
        {"low": low, "high": high},
        {"value": row.effect_size},
        {"value": row.p_value},
        {"value": row.adjusted_p_value},
        {"value": row.pairs},
        {"value": row.patients},
    ]
    return [{name: number for name, number in column.items() if number is not None} for column in columns]


def difference_cells(row: ModeDifference) -> list[str]:
    """A difference in the columns of a table."""
    interval = signed_pair(row.interval)
    effect = NO_VALUE if row.effect_size is None else signed(row.effect_size)
    means = [NO_VALUE if mean is None else format_number(mean) for mean in (row.first_mean, row.second_mean)]
    p_values = [p_words(row.p_value), p_words(row.adjusted_p_value)]
    return [
        *means,
        signed(row.difference),
        interval,
        effect,
        *p_values,
        format_count(row.pairs),
        format_count(row.patients),
    ]


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

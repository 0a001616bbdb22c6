"""How runs of claims are shown, what is said first of them, and what their labels say about their judges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs
from msgspec.structs import replace

from hallumeter.claims.labelled.sources import VERDICT_INSTRUMENTS, LabelSettings
from hallumeter.claims.profiles import HALLUMETER, JUDGE_AUDITOR
from hallumeter.errors import HallumeterError
from hallumeter.records.decisions import JudgeChecks
from hallumeter.report.build import (
    breakdown_sections,
    concentration_sections,
    confidence_of,
    distribution_sections,
    metric_sections,
    reason_sections,
    record_sections,
)
from hallumeter.report.charts import section_charts
from hallumeter.report.drawing import Json
from hallumeter.report.findings import finding_sections
from hallumeter.report.judges import has_comparison, judge_section
from hallumeter.report.languages.speaking import message
from hallumeter.report.overview import (
    Rows,
    confidence,
    count,
    fact,
    name,
    number,
    numbers,
    share,
    shares,
    words,
    worst_of,
)
from hallumeter.report.presentation import Behind, Gathered, Presentation, Query, Sections, labels_behind
from hallumeter.report.tallies import reference_judge
from hallumeter.run.labels import LABELS

from .labels import (
    LEVEL_WORDS,
    SCORE_WORDS,
    baseline_words,
    correction_facts,
    headline_facts,
    level_facts,
    shown_rates,
    unread_facts,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hallumeter.claims.labelled.run import OpenedRun
    from hallumeter.records.decisions import LevelBaselines
    from hallumeter.records.measurement import MetricSummary, Summary
    from hallumeter.report.document import Fact


FIGURES = ("mihr", "mahr", "expected_unsupported_rate", "far")

_RATE = message("Unsupported claims: {share} ({confidence} {interval}), {count} of {total}.")
_RATE_ALONE = message("Unsupported claims: {share}, {count} of {total}.")
_EXPECTED = message(
    "Which number to quote: for the whole set, the expected share, {share} ({confidence} {interval}), which adds up "
    "the judge's probabilities. Use the flagged claims to find what to fix."
)
_EXPECTED_ALONE = message(
    "Which number to quote: for the whole set, the expected share, {share}, which adds up the judge's probabilities. "
    "Use the flagged claims to find what to fix."
)
_NO_EXPECTED = message("There is no expected share of unsupported claims: {reason}.")
_NO_RATE = message("The share of unsupported claims is not known: {reason}.")
_RESPONSES = message(
    "Answers with at least one unsupported claim: {share} ({confidence} {interval}), {count} of {total}."
)
_RESPONSES_ALONE = message("Answers with at least one unsupported claim: {share}, {count} of {total}.")
_WORST = message("By {field}, {group} is the worst: {share} ({confidence} {interval}), clearly above all others.")
_NO_WORST = message(
    "By {field}, no group stands out: {group} has the highest share, {share} ({confidence} {interval}), but the "
    "intervals overlap."
)
_UNMEASURED = message(
    "{undecided} claims were left undecided and {failed} failed. Depending on how they turn out, the share lies "
    "between {best} and {worst}."
)
_AGREE = message(
    "The judges agree on {agreement} of the claims ({claims} claims, {judges} judges); corrected for chance, "
    "Krippendorff's alpha is {alpha} ({confidence} {interval})."
)
_AGREE_BARELY = message(
    "The judges agree on {agreement} of the claims ({claims} claims, {judges} judges); how much of that is chance is "
    "not known."
)
ONE_JUDGE = message(
    "One judge, {judge}, made all of these verdicts, and nobody has checked it on this data. Label some claims to find "
    "out how far to trust it."
)


def claim_facts(summary: Summary, headline: str | None, level: float) -> Iterator[Fact]:
    """How many claims are unsupported, where most, what is not known, and whether the judges agree."""
    rows = Rows(summary, headline)
    rate, responses = rows.whole("mihr"), rows.whole("mahr")
    if rate is not None:
        yield _rate_fact("unsupported", rate, (_RATE, _RATE_ALONE), level=level)
    if responses is not None and responses.value is not None:
        yield _rate_fact("responses", responses, (_RESPONSES, _RESPONSES_ALONE), level=level)
    if rate is not None:
        yield from _expected_facts(rows, level)
    yield from _group_facts(rows, level)
    if rate is not None and rate.value is not None:
        yield from _unmeasured_facts(rate)
    yield from _judge_facts(rows, summary, headline=headline, level=level)


def _rate_fact(code: str, row: MetricSummary, messages: tuple[str, str], *, level: float) -> Fact:
    if row.value is None or row.count is None or row.total is None:
        return fact(code, _NO_RATE, reason=words(row.undefined or ""))
    figures = {"count": count(row.count), "total": count(row.total), "share": share(row.value)}
    interval = row.interval and {"confidence": confidence(level), "interval": shares(row.interval)}
    told = fact(code, messages[0], **figures, **interval) if interval else fact(code, messages[1], **figures)
    return replace(told, figure=row.metric)


def _expected_facts(rows: Rows, level: float) -> Iterator[Fact]:
    """The expected share beside the flagged one, and which of the two to quote."""
    row = rows.whole("expected_unsupported_rate")
    if row is None:
        return
    if row.value is None:
        yield fact("expected", _NO_EXPECTED, reason=words(row.undefined or ""))
    elif row.interval is None:
        yield fact("expected", _EXPECTED_ALONE, share=share(row.value))
    else:
        figures = {"share": share(row.value), "confidence": confidence(level), "interval": shares(row.interval)}
        yield fact("expected", _EXPECTED, **figures)


def _group_facts(rows: Rows, level: float) -> Iterator[Fact]:
    """The group that stands out; where none does, the one that has the highest share by the first field."""
    found = [(field, worst_of(rows.by("mihr", field))) for field in rows.single_fields("mihr")]
    known = [(field, worst) for field, worst in found if worst is not None]
    for field, (row, is_apart) in sorted(known, key=lambda entry: not entry[1][1])[:1]:
        assert row.value is not None
        assert row.interval is not None
        yield fact(
            "group",
            _WORST if is_apart else _NO_WORST,
            field=name(field),
            group=name(row.by[field]),
            share=share(row.value),
            confidence=confidence(level),
            interval=shares(row.interval),
        )


def _unmeasured_facts(row: MetricSummary) -> Iterator[Fact]:
    if (not row.undecided and not row.failed) or row.bounds is None:
        return
    yield fact(
        "unmeasured",
        _UNMEASURED,
        undecided=count(row.undecided),
        failed=count(row.failed),
        best=share(row.bounds[0]),
        worst=share(row.bounds[1]),
    )


def _judge_facts(rows: Rows, summary: Summary, *, headline: str | None, level: float) -> Iterator[Fact]:
    observed, alpha = rows.panel("observed_agreement"), rows.panel("krippendorff_alpha")
    if observed is None or observed.value is None or observed.total is None:
        if summary.counts.judges == 1 and headline is not None:
            yield fact("judges", ONE_JUDGE, judge=name(headline))
        return
    figures = {
        "agreement": share(observed.value),
        "claims": count(observed.total),
        "judges": count(summary.counts.judges),
    }
    if alpha is None or alpha.value is None or alpha.interval is None:
        yield fact("judges", _AGREE_BARELY, **figures)
        return
    beyond = {"alpha": number(alpha.value), "confidence": confidence(level), "interval": numbers(alpha.interval)}
    yield fact("judges", _AGREE, **figures, **beyond)


_ANY_PROBABILITY: Json = [0, 2]


def _sections(gathered: Gathered) -> Sections:
    judges = judge_section(
        gathered.rows,
        gathered.manifest,
        tallies=gathered.selection.tallies,
        confidence=gathered.confidence,
        checks=gathered.checks,
    )
    return Sections(
        [
            *finding_sections(gathered.selection.picker),
            *record_sections(gathered),
            *metric_sections(gathered),
            *breakdown_sections(gathered),
            *reason_sections(gathered),
            *distribution_sections(gathered),
            *concentration_sections(gathered),
            *([judges] if has_comparison(judges) else []),
        ]
    )


def _label_facts(facts: list[Fact], checks: JudgeChecks, headline: str | None) -> list[Fact]:
    """With labels, what they say of the judge stands in place of the warning that nobody checked it."""
    if checks.baselines is not None:
        headlines = [*headline_facts(checks.baselines, headline)]
        facts = [each for each in facts if not headlines or each.message != ONE_JUDGE] + headlines
    if checks.correction is not None:
        facts += correction_facts(checks.correction)
    return facts


def _functions() -> dict[str, object]:
    return {
        "level_words": LEVEL_WORDS,
        "score_words": SCORE_WORDS,
        "baseline_of": baseline_words,
        "baseline_facts_of": _baseline_facts,
        "unread_facts_of": unread_facts,
        "corrected_rates_of": shown_rates,
    }


def _baseline_facts(judge: str, level: LevelBaselines, confidence: float) -> list[Fact]:
    """What a judge does not beat at this level, and what follows."""
    return [*level_facts(judge, level, at=confidence)]


def _asked(answerable: str) -> Behind:
    fields: Query = {"fields": {"answerable": answerable}}
    return Behind(fields, fields)


def judge_checks(run: OpenedRun) -> JudgeChecks | None:
    """Null baselines and corrected rates; None, at once, for a run without labels.

    A report is about verdicts: labels that cannot be used leave it as it was.
    """
    if not has_labels(run):
        return None
    from hallumeter.claims.labelled.baselines import baselines_of_report
    from hallumeter.claims.labelled.correction import CorrectSettings, corrected_rates
    from hallumeter.claims.labelled.run import read_labelled

    confidence = confidence_of(run.manifest)
    try:
        baselines = baselines_of_report(run, confidence=confidence)
        labelled = read_labelled(run, LabelSettings().drawn_as_in(run.manifest))
    except HallumeterError:
        return None
    settings = CorrectSettings(confidence=confidence, seed=run.manifest.seed)
    # A report does not name its folder: while it is written the folder is a draft, and equal runs have equal reports.
    correction = corrected_rates(labelled, name="", settings=settings)
    nameless = None if baselines is None else structs.replace(baselines, run="")
    return JudgeChecks(baselines=nameless, correction=correction if correction.is_corrected else None)


def has_labels(run: OpenedRun) -> bool:
    """Whether a run may have labels: some are kept beside it, or one of its judges is the truth."""
    manifest = run.manifest
    if manifest.instrument.split()[0] not in VERDICT_INSTRUMENTS:
        return False
    names = [judge.name for judge in manifest.judges]
    return (reference_judge(names) is not None and len(names) > 1) or (run.path / LABELS).is_file()


PRESENTATION = Presentation(
    sections=_sections,
    facts=claim_facts,
    figures=FIGURES,
    label_facts=_label_facts,
    charts=section_charts,
    checks=judge_checks,
    functions=_functions,
    usual_policies=(HALLUMETER.name, JUDGE_AUDITOR.name),
    behind={
        "mihr": labels_behind("unsupported"),
        "mihr_refuted": labels_behind("REFUTED"),
        "mihr_mean": labels_behind("unsupported"),
        "mahr": labels_behind("unsupported"),
        "factscore": labels_behind("SUPPORTED"),
        "factscore_penalized": labels_behind("SUPPORTED"),
        "expected_unsupported_rate": Behind({"probability": _ANY_PROBABILITY}, {"probability": _ANY_PROBABILITY}),
        "shannon_entropy": Behind({"probability": _ANY_PROBABILITY}, {"probability": _ANY_PROBABILITY}),
        "far": _asked("false"),
        "correct_refusal_rate": _asked("false"),
        "over_refusal_rate": _asked("true"),
    },
)

"""How runs of claims are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.claims.labelled.checks import judge_checks
from hallumeter.claims.profiles import HALLUMETER, JUDGE_AUDITOR
from hallumeter.report.build import (
    breakdown_sections,
    concentration_sections,
    distribution_sections,
    metric_sections,
    reason_sections,
    record_sections,
)
from hallumeter.report.charts import section_charts
from hallumeter.report.drawing import Json
from hallumeter.report.findings import finding_sections
from hallumeter.report.judges import has_comparison, judge_section
from hallumeter.report.presentation import Behind, Gathered, Presentation, Query, Sections, labels_behind

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
from .overview import FIGURES, ONE_JUDGE, claim_facts

if TYPE_CHECKING:
    from hallumeter.records.decisions import JudgeChecks, LevelBaselines
    from hallumeter.report.document import Fact

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

"""How runs of dialogues are shown: modes and turns, where another has judges."""

from __future__ import annotations

from hallumeter.records.claim import Label
from hallumeter.records.summaries import ModeDifference
from hallumeter.report.build import (
    breakdown_sections,
    concentration_sections,
    metric_sections,
    reason_sections,
    record_sections,
)
from hallumeter.report.document import Section
from hallumeter.report.drawing import Chart
from hallumeter.report.languages.speaking import message
from hallumeter.report.page.chapters import RECORDS
from hallumeter.report.presentation import (
    Behind,
    Gathered,
    Presentation,
    SectionKind,
    Sections,
    findings_behind,
    labels_behind,
)
from hallumeter.report.sections import ConcentrationSection, DifferenceSection, ScoreSection
from hallumeter.report.verdict_charts import concentration_charts

from .charts import difference_charts, score_charts
from .overview import FIGURES, dialogue_facts
from .sections import difference_section, score_section, severity
from .wording import (
    MARK_WORDS,
    SINGLE,
    difference_cells,
    difference_values,
    fairness_words,
    group_title,
    pairs_of_modes,
    result_words,
    too_few_words,
)


def _sections(gathered: Gathered) -> Sections:
    differences, scores = difference_section(gathered.summary), score_section(gathered.summary)
    return Sections(
        [
            *([differences] if differences else []),
            *([scores] if scores else []),
            *metric_sections(gathered),
            *breakdown_sections(gathered, [row for row in gathered.rows if row.summary.metric in SINGLE]),
            # A fact that is not used, or not said of a patient, is not invented.
            *concentration_sections(gathered, "REFUTED"),
            *reason_sections(gathered),
            *record_sections(gathered),
        ]
    )


def _charts(section: Section, confidence: float) -> list[Chart]:
    if isinstance(section, DifferenceSection):
        return difference_charts(section, confidence)
    if isinstance(section, ConcentrationSection):
        return concentration_charts(section, confidence)
    return score_charts(section, confidence) if isinstance(section, ScoreSection) else []


def _functions() -> dict[str, object]:
    return {
        "mark_words": MARK_WORDS,
        "difference_cells_of": difference_cells,
        "difference_values_of": difference_values,
        "result_of": result_words,
        "fairness_of": fairness_words,
        "caution_of": too_few_words,
        "pairs_of": _pairs_of,
    }


def _pairs_of(section: DifferenceSection) -> list[tuple[tuple[str, str], list[ModeDifference]]]:
    """The differences of a section, by the modes that are compared."""
    return pairs_of_modes(section.differences)


def _right(kind: str, missed: str) -> Behind:
    return Behind({"kind": kind, "label": "SUPPORTED"}, {"kind": kind}, {"kind": kind, "label": missed})


_TRUE, _CONSISTENT = _right("slot", "REFUTED"), _right("consistency", "REFUTED")
_USED, _INCLUDED = _right("slot_use", "NOT_ENOUGH_INFO"), _right("element", "NOT_ENOUGH_INFO")
_UNSAFE = findings_behind("rule", "REFUTED")

PRESENTATION = Presentation(
    sections=_sections,
    facts=dialogue_facts,
    figures=FIGURES,
    charts=_charts,
    severity=severity,
    unsupported=(Label.REFUTED,),
    kinds={
        "metrics": SectionKind(title=message("All answers together"), template="section_metrics.html"),
        "records": SectionKind(
            title=message("Answers"), template="section_records_dialogue.html", scripts=RECORDS.scripts
        ),
        "differences": SectionKind(title=message("Modes compared"), template="section_differences.html"),
        "scores": SectionKind(title=message("Spread and trend"), template="section_scores.html"),
    },
    guide="guide_dialogue.html",
    counts="counts_dialogue.html",
    metrics="metrics_dialogue.html",
    is_undefined_abbreviated=True,
    has_bounds=False,
    style="dialogues.css",
    script="dialogues.js",
    group_title=group_title,
    texts={ModeDifference: ("undefined",), DifferenceSection: ("names",), ScoreSection: ("names",)},
    functions=_functions,
    behind={
        **dict.fromkeys(("sfs", "sfs_pooled"), _TRUE),
        **dict.fromkeys(("csp", "csp_pooled"), _UNSAFE),
        **dict.fromkeys(("cus_improved", "cus_improved_pooled", "cus"), _USED),
        **dict.fromkeys(("mcs", "mcs_pooled"), _CONSISTENT),
        **dict.fromkeys(("ass", "ass_pooled"), _INCLUDED),
        "dialogue_score": labels_behind("unsupported"),
    },
)

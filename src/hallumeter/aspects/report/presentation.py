"""How runs of aspects are shown, theme by theme: quality, effectiveness, sentences, reliability, the rest."""

from __future__ import annotations

from hallumeter.report.build import breakdown_sections, reason_sections, record_sections
from hallumeter.report.charts import rate_charts, section_charts
from hallumeter.report.document import MetricSection, Section
from hallumeter.report.drawing import Chart, Json
from hallumeter.report.languages.speaking import message
from hallumeter.report.page.chapters import RECORDS
from hallumeter.report.presentation import Behind, Gathered, Presentation, SectionKind, Sections, findings_behind
from hallumeter.report.sections import FlowSection, PartSection

from .build import executive_rows, metric_families, part_sections, run_rows, told_sentences
from .charts import flow_charts, part_charts
from .families import DRAWN, EXECUTIVE, theme_of
from .overview import FIGURES, aspect_facts
from .payload import trace_payload, vocabulary
from .traced import traced_sentences
from .tracing import trace_of
from .views import aspect_functions, sentence_view


def _sections(gathered: Gathered) -> Sections:
    rows, selection, parts = gathered.rows, gathered.selection, part_sections(gathered.summary)
    shown = {item.response.record_id: item.findings for item in (*selection.worst, *selection.random)}
    told = told_sentences(gathered.own or (), gathered.summary, shown=shown)
    brief = executive_rows(rows)
    families = {title: MetricSection(found, title) for title, found in metric_families(rows).items()}
    sentences = record_sections(gathered, lambda view: sentence_view(view, told.traces.get(view.record_id)))
    ordered: list[Section | None] = [
        MetricSection(brief, EXECUTIVE) if brief else None,
        *(families.get(title) for title in ("Dropped aspects of stage 1", "Grounding")),
        told.flow if selection.tallies.responses else None,
        told.blame if told.blame.rows else None,
        parts.get("decisions"),
        *(families.get(title) for title in ("Against gold", "Risks, corrections and changes", "Debate")),
        *sentences,
        families.get("Between runs"),
        *breakdown_sections(gathered, run_rows(rows)),
        *(families.get(title) for title in ("Failures and effort", "Auxiliary classifier")),
        parts.get("others"),
        *reason_sections(gathered),
    ]
    return Sections([section for section in ordered if section is not None])


def _charts(section: Section, confidence: float) -> list[Chart]:
    if isinstance(section, MetricSection):
        return rate_charts(section.rows, confidence) if section.title in DRAWN else []
    if isinstance(section, FlowSection):
        return flow_charts(section)
    if isinstance(section, PartSection):
        return part_charts(section, confidence)
    return section_charts(section, confidence)


def _records_blocks() -> dict[str, Json]:
    return {"traces-data": vocabulary()}


def _dropped(reason: str) -> Behind:
    return Behind({"kind": "aspect", "reason": reason}, {"kind": "aspect"})


_ASPECTS = Behind({"kind": "aspect"}, {"kind": "aspect"})
_OUT_OF_TEXT, _MISPLACED, _OFF_TARGET = map(_dropped, ("out_of_text", "span_mismatch", "not_a_target"))

PRESENTATION = Presentation(
    sections=_sections,
    facts=aspect_facts,
    figures=FIGURES,
    charts=_charts,
    read=traced_sentences,
    kinds={
        "metrics": SectionKind(title=message("Metrics"), template="section_metrics_aspects.html"),
        "records": SectionKind(title=message("Sentences"), template="section_records.html", scripts=RECORDS.scripts),
        "parts": SectionKind(title=message("Parts in counts"), template="section_parts.html"),
        "flow": SectionKind(title=message("Errors through the steps"), template="section_flow.html"),
        "blame": SectionKind(title=message("Who made which error"), template="section_blame.html"),
    },
    guide="guide_aspects.html",
    counts="counts_aspects.html",
    style="aspects.css",
    script="aspects.js",
    theme=theme_of,
    records_blocks=_records_blocks,
    trace=trace_of,
    trace_payload=trace_payload,
    functions=aspect_functions,
    behind={
        "aspect_hallucination_rate": findings_behind("aspect", "unsupported"),
        "aspect_hallucination_rate_h1": _OUT_OF_TEXT,
        "aspect_hallucination_rate_h2": _MISPLACED,
        "filter_rejection_rate": _OFF_TARGET,
        "aspect_drop_rate": findings_behind("aspect", "unsupported"),
        "out_of_text_aspect_rate": _OUT_OF_TEXT,
        "misplaced_aspect_rate": _MISPLACED,
        "off_target_aspect_rate": _OFF_TARGET,
        "mean_offset_error": _MISPLACED,
        "offset_convention_rate": _MISPLACED,
        "span_ok_rate": _ASPECTS,
        "valid_aspect_rate": _ASPECTS,
        "final_out_of_text_rate": Behind({"kind": "final_aspect", "reason": "out_of_text"}, {"kind": "final_aspect"}),
        "parse_generate_failure_rate": Behind({"failure": True}, {}),
    },
)

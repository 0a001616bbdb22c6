"""From a summary and its findings to something to read."""

from .aspects.sections import PartSection
from .aspects.text import aspects_brief, aspects_text
from .building import build_document
from .catalog_text import catalog_text, find_metric, metric_facts, metric_text_page, metric_texts
from .charts import charts_of
from .dialogue.sections import DifferenceSection, ScoreSection
from .dialogue.text import dialogue_text
from .document import (
    BreakdownSection,
    Coverage,
    DistributionSection,
    Document,
    FindingView,
    IntegritySection,
    JudgeSection,
    LabelTally,
    MetricRow,
    MetricSection,
    MetricText,
    ReasonCount,
    ReasonSection,
    RecordFindings,
    RecordSection,
    RecordView,
    Section,
)
from .drawing import Chart
from .encoding import document_json, document_schema
from .overview.sections import Fact, FactValue, OverviewSection
from .page.rendering import render_html, write_html
from .segmentation import Segment, segments, settled_label
from .selection import Limits
from .summary_text import summary_text
from .transcripts.sections import PageSection, RankingSection, ReadingSection
from .transcripts.text import transcripts_text
from .verdicts.codes import failure_words, reason_words
from .verdicts.reasons import count_reasons
from .verdicts.sections import ConcentrationSection, PanelAdvice

__all__ = [
    "BreakdownSection",
    "Chart",
    "ConcentrationSection",
    "Coverage",
    "DifferenceSection",
    "DistributionSection",
    "Document",
    "Fact",
    "FactValue",
    "FindingView",
    "IntegritySection",
    "JudgeSection",
    "LabelTally",
    "Limits",
    "MetricRow",
    "MetricSection",
    "MetricText",
    "OverviewSection",
    "PageSection",
    "PanelAdvice",
    "PartSection",
    "RankingSection",
    "ReadingSection",
    "ReasonCount",
    "ReasonSection",
    "RecordFindings",
    "RecordSection",
    "RecordView",
    "ScoreSection",
    "Section",
    "Segment",
    "aspects_brief",
    "aspects_text",
    "build_document",
    "catalog_text",
    "charts_of",
    "count_reasons",
    "dialogue_text",
    "document_json",
    "document_schema",
    "failure_words",
    "find_metric",
    "metric_facts",
    "metric_text_page",
    "metric_texts",
    "reason_words",
    "render_html",
    "segments",
    "settled_label",
    "summary_text",
    "transcripts_text",
    "write_html",
]

"""The metrics of aspects by what they are about, in the order in which they are told."""

from __future__ import annotations

from hallumeter.aspects.catalog import CASE_METRICS, GROUNDING_METRICS, STAGE_METRICS, TUPLE_METRICS
from hallumeter.report.document import Section
from hallumeter.report.languages.speaking import message

DROPPED = (
    "aspect_hallucination_rate",
    "aspect_hallucination_rate_h1",
    "aspect_hallucination_rate_h2",
    "filter_rejection_rate",
    "aspect_drop_rate",
    "out_of_text_aspect_rate",
    "misplaced_aspect_rate",
    "off_target_aspect_rate",
    "mean_offset_error",
    "offset_convention_rate",
)
"""What is told first: how many aspects are hallucinated, and in which sense."""
_EFFORT = ("parse_generate_failure_rate", "polarity_repaired_rate", "polarity_invalid_rate", "latency_warn_rate")
_COSTS = ("mean_latency_ms", "mean_tokens", "mean_cost_usd")
_SIGNALS = ("hf_polarity_disagreement_rate", "hf_disagreement_coverage_of_structural_risks")
_GROUNDING = tuple(metric.id for metric in GROUNDING_METRICS if metric.id not in DROPPED)
_STAGES = tuple(metric.id for metric in STAGE_METRICS if not metric.id.startswith(("debate", "override")))
_DEBATE = tuple(metric.id for metric in STAGE_METRICS if metric.id.startswith(("debate", "override")))
_GOLD = tuple(metric.id for metric in TUPLE_METRICS if metric.id not in (*_EFFORT, *_COSTS, *_SIGNALS))
SECTIONS = {
    message("Dropped aspects of stage 1"): DROPPED,
    message("Grounding"): _GROUNDING,
    message("Risks, corrections and changes"): _STAGES,
    message("Debate"): _DEBATE,
    message("Against gold"): _GOLD,
    message("Between runs"): tuple(metric.id for metric in CASE_METRICS),
    message("Auxiliary classifier"): _SIGNALS,
    message("Failures and effort"): (*_EFFORT, *_COSTS),
}
"""Titles, and the metrics that stand under them."""
BY_RUN = {
    "aspect_hallucination_rate": "hallucinated",
    "aspect_hallucination_rate_h1": "H1",
    "aspect_hallucination_rate_h2": "H2",
    "filter_rejection_rate": "filter",
    "risk_resolution_rate": "resolved",
    "guided_change_rate": "guided",
    "ignored_proposal_rate": "ignored",
    "tuple_f1_final": "F1",
    "delta_f1": "delta F1",
}
"""What runs are compared by, and what it is called there."""
EXECUTIVE = message("Executive summary")
OPEN = (EXECUTIVE, "Dropped aspects of stage 1", "Against gold")
"""Families that are told at once; the others wait until they are asked for."""
DRAWN = (EXECUTIVE, "Against gold")
DECIDED = message("Which rules decided")
DECISIONS = ("moderator_rule", "selected_stage", "arbiter_flag", "rule_e_block_reason", "override")
"""Breakdowns of how labels and polarities were settled."""
BARS = ("moderator_rule", "override")
"""Those that are drawn."""
BRIEF = (*DROPPED[:4], "risk_flagged_rate", "tuple_f1_s1", "tuple_f1_final", "delta_f1")
"""The metrics of a first look."""
STEP_RATES = {
    "step_introduction_rate": "introduced",
    "step_repair_rate": "repaired",
    "step_regression_rate": "broken",
}
"""What a step did to right and wrong, and what it is called in a table."""
THEMES = {
    message("Structural quality"): ("Dropped aspects of stage 1", "Grounding"),
    message("Effectiveness"): (
        *("flow", "blame", DECIDED, "Against gold", "Risks, corrections and changes", "Debate"),
    ),
    message("Reliability"): ("Between runs", "breakdown"),
    message("Efficiency"): ("Failures and effort",),
    message("Appendix"): ("Auxiliary classifier", "parts", "reasons", "integrity"),
}
"""What sections answer together, by their titles or kinds, in the order in which they are read."""


def theme_of(section: Section) -> str | None:
    """The theme of a section; None for one that stands for itself."""
    kind, title = str(section.__struct_config__.tag), getattr(section, "title", None)
    return next((theme for theme, own in THEMES.items() if (title or kind) in own), None)

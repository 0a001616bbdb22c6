"""A report for whoever runs the pipeline: what the rates mean here, and what to look at first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.judges.aspects.offset_conventions import CODE_POINTS, PLACED, convention_words
from hallumeter.report.markdown import escaped
from hallumeter.report.wording import plural

from .tables import UNKNOWN, breakdown_lines, column_of, counts_of, four

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hallumeter.records import MetricSummary, Summary
    from hallumeter.records.aspects.aspect_summary import AspectSummary, Breakdown

_HALLUCINATION = (
    "aspect_hallucination_rate",
    "aspect_hallucination_rate_h1",
    "aspect_hallucination_rate_h2",
    "filter_rejection_rate",
    "out_of_text_aspect_rate",
    "misplaced_aspect_rate",
    "off_target_aspect_rate",
    "mean_offset_error",
)
_DEBATE = (
    "debate_mapping_coverage",
    "debate_mapping_direct_rate",
    "debate_mapping_fallback_rate",
    "debate_mapping_none_rate",
    "debate_fail_no_match_rate",
    "debate_fail_neutral_stance_rate",
)
_OUTCOME = (
    "tuple_f1_s1",
    "tuple_f1_s2",
    "delta_f1",
    "fix_rate",
    "break_rate",
    "net_gain",
    "severe_polarity_error_rate",
)
_CORRECTIONS = (
    "risk_flagged_rate",
    "risk_resolution_rate",
    "risk_resolved_with_change_rate",
    "guided_change_rate",
    "guided_share_of_changes",
    "unguided_drift_rate",
    "ignored_proposal_rate",
    "proposal_application_rate",
)


def quality_report(summary: Summary) -> str:
    """The report as Markdown."""
    found = summary.aspects
    assert found is not None
    rows = {row.metric: row for row in summary.metrics if not row.by}
    parts = {each.name: each for each in found.breakdowns if not each.by}
    lines = [
        "# Quality report",
        "",
        *_facts(found),
        "## Aspects that were dropped",
        "",
        *_table(rows, _HALLUCINATION),
        *drop_words(found),
        "",
        *breakdown_lines(_named(parts, "drop_class", "offset_error", "offset_convention")),
        "## Debate",
        "",
        *_table(rows, _DEBATE),
        *_warning_lines(found),
        "",
        *breakdown_lines(_named(parts, "mapping_fail_reason", "override")),
        *_override_lines(rows),
        "## Risks and corrections",
        "",
        *_table(rows, _CORRECTIONS),
        *breakdown_lines(_named(parts, "ignored_reason", "change_type")),
        "## Against gold",
        "",
        *_table(rows, _OUTCOME),
        *_sanity_lines(found),
        "",
        "## Decisions",
        "",
        *breakdown_lines(_named(parts, "moderator_rule", "arbiter_flag", "rule_e_block_reason", "selected_stage")),
        "## Failures",
        "",
        *_table(rows, ("parse_generate_failure_rate", "polarity_repaired_rate", "polarity_invalid_rate")),
        *breakdown_lines(_named(parts, "failure", "quality_fail_reason", "latency_gate")),
    ]
    return "\n".join(lines).rstrip() + "\n"


def drop_words(found: AspectSummary) -> list[str]:
    """What the dropped aspects are, in a sentence or two; nothing without one."""
    drops = next((each for each in found.breakdowns if each.name == "drop_class" and not each.by), None)
    if drops is None or not drops.total:
        return []
    invented, misplaced = drops.parts.get("H1", 0), drops.parts.get("H2", 0)
    told = (
        f"Of {drops.total:,} dropped aspects, {invented:,} do not stand in their text (H1), {misplaced:,} stand "
        f"elsewhere in it (H2), and {drops.parts.get('filter', 0):,} are no targets"
    )
    untold = drops.total - sum(drops.parts.get(name, 0) for name in ("H1", "H2", "filter"))
    told += f"; of {untold:,} it is not known." if untold else "."
    if 2 * misplaced > drops.total:
        told += " Most of them are there: here the combined rate measures how well offsets are counted, not inventions."
    lines = [told]
    if found.suggested_convention is not None:
        right = found.right_under
        lines.append(
            f"Of {right[PLACED]:,} spans whose term is in the text, {right[CODE_POINTS]:,} are right in code points, "
            f"but {right[found.suggested_convention]:,} in {convention_words(found.suggested_convention)}: convert the "
            "offsets and score again."
        )
    return lines


def _facts(found: AspectSummary) -> Iterator[str]:
    profile = "all profiles" if found.profile is None else f"profile {found.profile}"
    yield (
        f"{found.samples:,} sentences ({profile}, {plural(len(found.runs), 'run')}), {found.failed:,} failed, "
        f"{found.with_gold:,} with gold."
    )
    yield ""


def _table(rows: dict[str, MetricSummary], metrics: Sequence[str]) -> list[str]:
    lines = ["| metric | value | 95 % interval | counts |", "| --- | ---: | --- | ---: |"]
    for metric in metrics:
        row = rows[metric]
        interval = UNKNOWN if row.interval is None else f"{four(row.interval[0])} – {four(row.interval[1])}"
        lines.append(f"| {' | '.join(map(escaped, (column_of(metric), four(row.value), interval, counts_of(row))))} |")
    return [*lines, ""]


def _named(parts: dict[str, Breakdown], *names: str) -> list[Breakdown]:
    return [parts[name] for name in names if name in parts]


def _warning_lines(found: AspectSummary) -> list[str]:
    if not found.warnings:
        return ["No warning."]
    return [
        f"- **{each.level}** {escaped(each.metric)} is {four(each.value)}, "
        f"{'below' if each.value < each.bound else 'above'} {each.bound:g}: {each.advice}."
        for each in found.warnings
    ]


def _override_lines(rows: dict[str, MetricSummary]) -> list[str]:
    inside, everywhere = rows["override_delta_f1"], rows["delta_f1"]
    if inside.value is None or everywhere.value is None:
        return ["What the overrides are worth is not known: no sentence with gold has an applied one.", ""]
    told = (
        f"Where an override was applied, F1 changed by {inside.value:+.4f} on average ({inside.total:,.0f} sentences); "
        f"over all sentences by {everywhere.value:+.4f}."
    )
    return [told, ""]


def _sanity_lines(found: AspectSummary) -> list[str]:
    if not found.with_gold:
        return ["There is no gold."]
    if found.unequal_gold or found.unequal_final:
        told = f"the gold of {found.unequal_gold:,} sentences and the results of {found.unequal_final:,}"
        return [f"**Sanity check failed**: {told} do not match themselves."]
    return ["Sanity check: gold against itself and results against themselves have F1 = 1."]

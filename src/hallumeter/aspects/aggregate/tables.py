"""The tables of a run: every metric by run, and its mean and deviation over runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hallumeter.aspects.grounding import CODE_POINTS, PLACED, convention_words
from hallumeter.formats.delimited import csv_text
from hallumeter.records.measurement import MetricSummary, Summary
from hallumeter.records.summaries import AspectSummary, Breakdown
from hallumeter.report.table import Cell, Table, csv, escaped, left, markdown, right
from hallumeter.report.wording import format_count, plural
from hallumeter.text.normalize import printable

from .counted import RUN, SEED

STRUCTURAL_CSV, STRUCTURAL_TABLE = "structural_metrics.csv", "structural_metrics_table.md"
SPREAD_CSV, SPREAD_TABLE = "aggregated_mean_std.csv", "aggregated_mean_std.md"
TRIPTYCH, QUALITY = "triptych_table.tsv", "quality_report.md"
ALL = "all"
UNKNOWN = "N/A"
_CAPITALS = {
    "aspect_hallucination_rate_h1": "aspect_hallucination_rate_H1",
    "aspect_hallucination_rate_h2": "aspect_hallucination_rate_H2",
}
"""Columns that are known by another spelling than their metric."""


def structural_csv(summary: Summary) -> str:
    """One row for each run and one for all; a column for every metric and for every part of a breakdown.

    Numbers are not rounded, and what is undefined is empty. The only texts are the names of runs.
    """
    found = _aspects(summary)
    metrics = list(dict.fromkeys(row.metric for row in summary.metrics))
    parts = list(dict.fromkeys((each.name, part) for each in found.breakdowns for part in each.parts))
    named = [f"{name}_{printable(part).replace(' ', '_')}" for name, part in parts]
    lines: list[list[object]] = [[RUN, SEED, "N", "N_failed", *(column_of(metric) for metric in metrics), *named]]
    for by in _groups(found):
        rows = {row.metric: row for row in summary.metrics if row.by == by}
        counts = {
            (each.name, part): number
            for each in found.breakdowns
            if each.by == by
            for part, number in each.parts.items()
        }
        values = [_plain(rows[metric].value) if metric in rows else "" for metric in metrics]
        attempts = rows.get("parse_generate_failure_rate")
        n = "" if attempts is None else _plain(attempts.total)
        failed = "" if attempts is None else _plain(attempts.count)
        name = printable(by.get(RUN, ALL if not by else ""))
        lines.append([name, by.get(SEED, ""), n, failed, *values, *(counts.get(part, "") for part in parts)])
    return csv_text(lines)


def structural_table(summary: Summary) -> str:
    """Every metric of all scorecards, with four decimals, its counts and its interval; then the breakdowns."""
    found = _aspects(summary)
    lines = ["# Structural metrics", "", f"N = {found.samples:,}, of which {found.failed:,} failed.", ""]
    rows = [[*_figures(row), str(row.failed)] for row in summary.metrics if not row.by]
    lines += markdown(Table([*_FIGURES, *right("failed")], rows))
    lines += ["", *breakdown_lines([each for each in found.breakdowns if not each.by])]
    return "\n".join(lines).rstrip() + "\n"


def breakdown_lines(breakdowns: Sequence[Breakdown]) -> list[str]:
    """A small table for each breakdown."""
    lines = []
    for each in breakdowns:
        lines += [f"### {each.name.replace('_', ' ')}", ""]
        if not each.parts:
            lines += [f"None of {each.total:,}.", ""]
            continue
        lines += [f"Of {each.total:,}.", ""]
        intervals = each.intervals or {}
        rows = [
            [part, f"{number:,}", four(number / each.total) if each.total else UNKNOWN, _pair(intervals.get(part))]
            for part, number in each.parts.items()
        ]
        lines += [*markdown(Table([*left("part"), *right("count", "share"), *left("95 % interval")], rows)), ""]
    return lines


_FIGURES = [*left("metric"), *right("value"), *left("95 % interval"), *right("counts")]


def _figures(row: MetricSummary) -> list[str]:
    return [column_of(row.metric), four(row.value), _pair(row.interval), counts_of(row)]


def spread_csv(summary: Summary) -> str:
    """Mean and deviation of every metric over the runs, one row each."""
    return csv(_spread(summary))


def _spread(summary: Summary) -> Table:
    rows: list[list[str | Cell]] = [
        [
            column_of(each.metric),
            *(Cell(four(value), value=_plain(value)) for value in (each.mean, each.deviation)),
            str(each.runs),
        ]
        for each in _aspects(summary).spread
    ]
    return Table([*left("metric"), *right("mean", "std", "runs")], rows)


def spread_table(summary: Summary) -> str:
    """The same for people."""
    found = _aspects(summary)
    lines = [
        "# Mean and deviation over runs",
        "",
        f"{plural(len(found.runs), 'run')}; the deviation is that of the population.",
    ]
    lines += ["", *markdown(_spread(summary))]
    if not found.spread:
        lines.append("\nThere is one run: nothing is spread.")
    return "\n".join(lines) + "\n"


def column_of(metric: str) -> str:
    """What a metric is called in tables.

    >>> column_of("aspect_hallucination_rate_h1"), column_of("net_gain")
    ('aspect_hallucination_rate_H1', 'net_gain')
    """
    return _CAPITALS.get(metric, metric)


def four(value: float | None) -> str:
    """A number with four decimals.

    >>> four(0.4), four(None)
    ('0.4000', 'N/A')
    """
    return UNKNOWN if value is None else f"{value:.4f}"


def counts_of(row: MetricSummary) -> str:
    """What was counted, of how much."""
    if row.count is None or row.total is None:
        return UNKNOWN
    return f"{format_count(row.count)} / {format_count(row.total)}"


def _aspects(summary: Summary) -> AspectSummary:
    assert summary.aspects is not None
    return summary.aspects


def _groups(found: AspectSummary) -> list[dict[str, str]]:
    """Each run when there are several, and all."""
    return [*(found.runs if len(found.runs) > 1 else ()), {}]


def _pair(interval: tuple[float, float] | None) -> str:
    return UNKNOWN if interval is None else f"{four(interval[0])} – {four(interval[1])}"


def _plain(value: float | None) -> str:
    return "" if value is None else repr(value).removesuffix(".0")


# A report for whoever runs the pipeline: what the rates mean here, and what to look at first.

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
    "debate_fail_no_aspects_rate",
    "debate_fail_fallback_used_rate",
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
    text = (
        f"Of {drops.total:,} dropped aspects, {invented:,} do not stand in their text (H1), {misplaced:,} stand "
        f"elsewhere in it (H2), and {drops.parts.get('filter', 0):,} are no targets"
    )
    untold = drops.total - sum(drops.parts.get(name, 0) for name in ("H1", "H2", "filter"))
    text += f"; of {untold:,} it is not known." if untold else "."
    if 2 * misplaced > drops.total:
        text += " Most of them are there: here the combined rate measures how well offsets are counted, not inventions."
    lines = [text]
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
    return [*markdown(Table(_FIGURES, [_figures(rows[metric]) for metric in metrics])), ""]


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
    text = (
        f"Where an override was applied, F1 changed by {inside.value:+.4f} on average ({inside.total:,.0f} sentences); "
        f"over all sentences by {everywhere.value:+.4f}."
    )
    return [text, ""]


def _sanity_lines(found: AspectSummary) -> list[str]:
    if not found.with_gold:
        return ["There is no gold."]
    if found.unequal_gold or found.unequal_final:
        text = f"the gold of {found.unequal_gold:,} sentences and the results of {found.unequal_final:,}"
        return [f"**Sanity check failed**: {text} do not match themselves."]
    return ["Sanity check: gold against itself and results against themselves have F1 = 1."]

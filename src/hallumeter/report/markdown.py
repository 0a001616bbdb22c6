"""A summary as Markdown, for a pull request or a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from hallumeter.instruments import metric_named
from hallumeter.records.measurement import MetricSummary, Summary

from .document import ReasonCount
from .judges import advice_text, panel_advice
from .reasons import place_words, top_reasons, undefined_groups
from .table import Cell, Table, code, escaped, left, markdown
from .wording import DIRECTION_WORDS, LABEL_WORDS, format_counts, format_pair, plural, value_words


def markdown_text(summary: Summary, *, reasons: Sequence[ReasonCount] = (), has_profile: bool = False) -> str:
    """One table with every metric that has a value, then what has none, what stands out, the notices.

    `has_profile` adds the opinions of the policies, for a user who gave one.
    """
    counts = summary.counts
    fields = list(dict.fromkeys(field for row in summary.metrics for field in row.by))
    columns = left(*fields, "metric", "judge", "value", "interval", "counts", "undecided", "failed")
    columns += left("best to worst", "signature")
    held = [plural(counts.records, "response"), plural(counts.claims, "claim")]
    held += [plural(counts.verdicts, "verdict"), plural(counts.failures, "failure")]
    if summary.aspects is not None:
        held = [plural(counts.records, "sentence"), plural(summary.aspects.failed, "failed sentence")]
    table = Table(columns, [_cells(row, fields) for row in summary.metrics if row.value is not None])
    lines = [f"**{', '.join(held)}**", "", *markdown(table)]
    lines += ["", *(_profile_lines(summary) if has_profile else []), *_undefined_lines(summary)]
    advice = panel_advice(summary.metrics)
    lines += [f"- judges: {escaped(advice_text(advice))}"] if advice else []
    lines += [
        f"- {LABEL_WORDS[label].lower()}, top reasons: "
        + ", ".join(f"{code(row.reason or '')} {row.verdicts:,}" for row in group)
        for label, group in groupby(top_reasons(reasons), key=lambda row: row.label)
    ]
    lines += [f"- note: {escaped(notice)}" for notice in summary.notices]
    return "\n".join(lines).rstrip() + "\n"


def _cells(row: MetricSummary, fields: list[str]) -> list[str | Cell]:
    name = f"{_alias(row)} {DIRECTION_WORDS[row.direction][0]}".strip()
    return [
        *(row.by.get(field, "") for field in fields),
        name,
        row.judge or "",
        value_words(row),
        format_pair(row.interval),
        format_counts(row),
        str(row.undecided),
        str(row.failed),
        format_pair(row.bounds),
        Cell(row.signature, is_code=True),
    ]


def _profile_lines(summary: Summary) -> list[str]:
    return [
        f"- **{escaped(profile.policy)}**: reliability {profile.reliability}"
        + (", high risk" if profile.is_high_risk else "")
        + (f" ({escaped('; '.join(profile.reasons))})" if profile.reasons else "")
        for profile in summary.profile.values()
    ]


def _alias(row: MetricSummary) -> str:
    metric = metric_named(row.metric)
    return metric.alias if metric else row.metric


def _undefined_lines(summary: Summary) -> list[str]:
    """What has no value: one line for each reason."""
    lines = []
    for group in undefined_groups((_alias(row), row) for row in summary.metrics):
        [(_, first), *others] = group.figures
        which = f"{len(group.figures):,} figures" if others else place_words(first)
        text = f"{', '.join(group.names)}{f' ({which})' if which else ''}: {group.reason}"
        lines.append(f"- undefined: {escaped(text)}")
    return lines

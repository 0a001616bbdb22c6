"""A summary as tables for a terminal, readable in a pipe as well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hallumeter.instruments import metric_named
from hallumeter.records.measurement import MetricSummary, Profile, Summary

from .document import ReasonCount
from .judges import advice_text, panel_advice
from .reasons import reason_words, top_reasons
from .segmentation import CONSENSUS
from .table import Column, Line, Table, left, right, terminal
from .wording import (
    ALL_JUDGES,
    DIRECTION_WORDS,
    LABEL_WORDS,
    NO_VALUE,
    format_counts,
    format_number,
    format_pair,
    plural,
)

GROUP_COLUMNS = ("mihr", "mahr", "factscore", "consensus_f1", "uncertainty_total", "far", "over_refusal_rate")
"""What the table of groups compares; the other formats have everything."""
JUDGE_COLUMNS = ("mihr", "mahr", "judge_sensitivity", "judge_specificity")
PANEL_COLUMNS = ("agreement_with_others", "alpha_without", "alpha_gain_without")
"""What tells whether to drop a judge."""
MOST_PAIRS = 6
"""Pairs of judges that are all named: those of four judges."""
_OF_ONE_JUDGE = {"judge_sensitivity", "judge_specificity", "cohen_kappa", *PANEL_COLUMNS}
_STYLES = {"high": "green", "medium": "yellow", "low": "red", "unknown": "dim"}


def table_text(
    summary: Summary, *, reasons: Sequence[ReasonCount] = (), width: int | None = None, has_color: bool = False
) -> str:
    """Everything a person needs at first: headline, groups, judges, reasons, profile, signatures."""
    return terminal(_parts(summary, reasons), width=width, has_color=has_color, is_trimmed=False)


def _parts(summary: Summary, reasons: Sequence[ReasonCount]) -> Iterator[Table | Line]:
    yield Line(_head(summary), "bold")
    whole = [row for row in summary.metrics if not row.by]
    headline = whole[0].judge if whole else None
    mine = [row for row in whole if row.judge in (headline, None, ALL_JUDGES) and row.metric not in _OF_ONE_JUDGE]
    yield from _metric_parts(mine)
    yield from _group_tables([row for row in summary.metrics if row.by and row.judge in (headline, None)])
    yield from _judge_parts([row for row in whole if row.judge is not None])
    yield from _reason_tables(reasons)
    yield from map(_profile_line, summary.profile.values())
    # With several judges, the rows on their agreement would say the same again.
    shown = [row for row in mine if row.judge != ALL_JUDGES] or mine
    if shown:
        yield from signature_lines(shown)
    if len(shown) < len(mine):
        yield Line("  --format markdown has those of agreement, too", "dim")


def signature_lines(rows: Iterable[MetricSummary]) -> Iterator[Line]:
    """What the figures depend on."""
    yield from (Line(), Line("signatures", "dim"))
    yield from (Line(f"  {row.signature}", "dim", "never") for row in rows)


def _head(summary: Summary) -> str:
    counts = summary.counts
    parts = [plural(counts.records, "response"), plural(counts.claims, "claim"), plural(counts.verdicts, "verdict")]
    parts += [plural(counts.judges, "judge")] if counts.judges else []
    parts += [plural(counts.models, "model")] if counts.models else []
    parts += [plural(counts.failures, "failure")]
    parts += [f"{counts.records_without_claims:,} without a claim"] if counts.records_without_claims else []
    return " · ".join(parts)


def _metric_parts(rows: Sequence[MetricSummary]) -> Iterator[Table | Line]:
    """The headline: one row per metric."""
    columns = [*left("metric"), *right("value"), *left("95 % interval" if _is_usual(rows) else "interval")]
    columns += [*right("counts"), *right("undecided", "failed", wrap="words"), *left("best to worst case")]
    cells = [
        [
            *(_name(row.metric), format_number(row.value), format_pair(row.interval), format_counts(row)),
            f"{row.undecided:,}" if row.undecided else "",
            f"{row.failed:,}" if row.failed else "",
            _best_to_worst(row),
        ]
        for row in rows
        if row.value is not None
    ]
    if cells:
        yield Table(columns, cells, "All responses")
    for reason, names in _reasons(rows).items():
        yield Line(f"undefined: {', '.join(names)}: {reason}", "dim")
    for row in rows:
        if row.note:
            yield Line(f"warning: {row.metric}: {row.note}", "yellow")


def _group_tables(rows: Sequence[MetricSummary]) -> Iterator[Table]:
    """One row per group, one column per metric that any group has."""
    metrics = [name for name in GROUP_COLUMNS if any(row.metric == name and row.value is not None for row in rows)]
    fields = tuple(dict.fromkeys(field for row in rows for field in row.by))
    cells = {(tuple(row.by.get(field, "") for field in fields), row.metric): row for row in rows}
    if not metrics:
        return
    has_claims = "mihr" in metrics
    claims_column = right("claims", wrap="words") if has_claims else []
    columns = [*left(*fields, wrap="words", max_width=40), *claims_column, *left(*map(_name, metrics))]
    written = []
    for group in dict.fromkeys(key for key, _ in cells):
        counted = cells.get((group, "mihr"))
        claims = [f"{counted.total:,.0f}" if counted is not None and counted.total else ""] if has_claims else []
        written.append([*group, *claims, *(_value_and_interval(cells.get((group, name))) for name in metrics)])
    yield Table(columns, written, f"By {' and '.join(fields)}")


def _judge_parts(rows: Sequence[MetricSummary]) -> Iterator[Table | Line]:
    """One row per judge, then how they agree; nothing for a single judge."""
    found = list(dict.fromkeys(row.judge for row in rows if row.metric == "mihr"))
    if len(found) < 2:
        return
    # A consensus that is not the headline stands after the judges that it joins.
    judges = [found[0], *sorted(found[1:], key=CONSENSUS.__eq__)]
    cells = {(row.judge, row.metric): row for row in rows}
    metrics = [name for name in JUDGE_COLUMNS if any(row.metric == name and row.value is not None for row in rows)]
    written = []
    for judge in judges:
        row = cells[judge, "mihr"]
        values = (_value_and_interval(cells.get((judge, name))) for name in metrics)
        written.append([judge or "", *values, f"{row.undecided:,}", f"{row.failed:,}"])
    yield Table([*_judge_columns(metrics), *right("undecided", "failed", wrap="words")], written, "By judge")
    yield from _panel_parts(rows)
    yield from _pair_lines([row for row in rows if row.metric == "cohen_kappa"])


def _judge_columns(metrics: Sequence[str]) -> list[Column]:
    return [*left("judge", wrap="words", max_width=40), *left(*map(_name, metrics))]


def _panel_parts(rows: Sequence[MetricSummary]) -> Iterator[Table | Line]:
    """Each judge beside the others, and whether one stands apart; nothing where no judge could be left out."""
    advice = panel_advice(rows)
    if advice is None:
        return
    cells = {(row.judge, row.metric): row for row in rows}
    judges = dict.fromkeys(row.judge for row in rows if row.metric == "alpha_gain_without")
    written = [
        [judge or "", *(_value_and_interval(cells.get((judge, name))) for name in PANEL_COLUMNS)] for judge in judges
    ]
    yield Table(_judge_columns(PANEL_COLUMNS), written, "Each judge beside the others")
    yield Line(advice_text(advice), "yellow" if advice.judge else "")


def _pair_lines(rows: Sequence[MetricSummary]) -> Iterator[Line]:
    """How pairs of judges agree; of many pairs, those that agree least."""
    shown = list(rows)
    if len(shown) > MOST_PAIRS:
        measured = [row for row in rows if row.value is not None]
        shown = sorted(measured, key=lambda row: row.value or 0.0)[: MOST_PAIRS // 2]
    yield from (Line(f"Cohen's kappa, {row.judge or ''}: {_value_and_interval(row)}") for row in shown)
    if len(shown) < len(rows):
        yield Line(f"These pairs agree least; --format markdown has all {len(rows)}.")


def _reason_tables(reasons: Sequence[ReasonCount]) -> Iterator[Table]:
    """The most frequent reasons of each label; nothing when no judge gave any."""
    has_judges = len({judge for row in reasons for judge in row.judges}) > 1
    columns = [*left("label"), *left("reason", wrap="words", max_width=40), *right("verdicts")]
    columns += left("judges", wrap="words", max_width=40) if has_judges else []
    rows = []
    for row in top_reasons(reasons):
        judges = [", ".join(row.judges)] if has_judges else []
        words = reason_words(row.reason) or ""
        rows.append([LABEL_WORDS[row.label], row.reason or "", f"{row.verdicts:,}", *judges, words])
    if rows:
        yield Table([*columns, *left("meaning", wrap="words")], rows, "Top reasons")


def _name(metric: str) -> str:
    known = metric_named(metric)
    return f"{known.alias} {DIRECTION_WORDS[known.direction][0]}".rstrip() if known else metric


def _best_to_worst(row: MetricSummary) -> str:
    is_widened = row.bounds is not None and row.bounds[0] != row.bounds[1]
    return format_pair(row.bounds) if is_widened else ""


def _value_and_interval(row: MetricSummary | None) -> str:
    if row is None or row.value is None:
        return NO_VALUE
    interval = f"  {format_pair(row.interval)}" if row.interval else ""
    return f"{format_number(row.value)}{interval}"


def _reasons(rows: Iterable[MetricSummary]) -> dict[str, list[str]]:
    """Why metrics are undefined, each reason once."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.value is None:
            found.setdefault(row.undefined or "", []).append(row.metric)
    return found


def _is_usual(rows: Iterable[MetricSummary]) -> bool:
    return all("confidence:0.95" in row.signature for row in rows if row.interval)


def _profile_line(profile: Profile) -> Line:
    return Line(
        (
            (f"Policy {profile.policy}: reliability ", ""),
            (profile.reliability, f"bold {_STYLES[profile.reliability]}"),
            (", HIGH RISK" if profile.is_high_risk else "", "bold red"),
            (f" ({'; '.join(profile.reasons)})" if profile.reasons else "", ""),
        )
    )

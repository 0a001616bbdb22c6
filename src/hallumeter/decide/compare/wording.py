"""What two runs show, in plain words and in the language of the page."""

from __future__ import annotations

from collections.abc import Iterator

from hallumeter.catalog import METRICS_BY_ID
from hallumeter.records.comparison import Comparison, MetricComparison, Outcome, RowOutcome, Transition
from hallumeter.report.languages.speaking import message, say, say_count
from hallumeter.report.wording import DIRECTION_WORDS, NO_VALUE, format_count, format_number, format_pair, plural

# How a comparison is worded, the same in every form.

OUTCOME_WORDS: dict[Outcome, str] = {
    "no_regression": "no regression",
    "regression": "REGRESSION",
    "inconclusive": "inconclusive",
    "unmeasured": "unmeasured",
}
ROW_WORDS: dict[RowOutcome, str] = {
    "same": "unchanged",
    "worse": "WORSE",
    "better": "better",
    "equivalent": "equal within the margin",
    "not_worse": "not worse by the margin",
    "differs": "differs",
    "inconclusive": "inconclusive",
    "unmeasured": "unmeasured",
}
STATE_WORDS = {
    "SUPPORTED": "supported",
    "REFUTED": "refuted",
    "NOT_ENOUGH_INFO": "not enough info",
    "UNDECIDED": "undecided",
    "FAILED": "no verdict",
    "ABSENT": "absent",
}


def metric_words(row: MetricComparison) -> str:
    """The name of a metric with the arrow to its better side."""
    known = METRICS_BY_ID.get(row.metric)
    return f"{known.alias if known else row.metric} {DIRECTION_WORDS[row.direction][0]}".rstrip()


def slice_words(row: MetricComparison) -> str:
    """The slice that a row speaks of."""
    return ", ".join(f"{field}={value}" for field, value in row.by.items())


def value_words(value: float | None) -> str:
    """A value, or a dash."""
    return NO_VALUE if value is None else format_number(value)


def difference_words(row: MetricComparison) -> str:
    """The difference with its sign."""
    if row.difference is None:
        return NO_VALUE
    return f"{'+' if row.difference > 0 else ''}{format_number(row.difference)}"


def p_words(row: MetricComparison) -> str:
    """The corrected p-value; where no cluster pulls the difference there is nothing to test."""
    if row.adjusted_p_value is not None:
        return format_number(row.adjusted_p_value)
    return NO_VALUE if row.difference is None else "none differ"


def bounds_words(row: MetricComparison) -> str:
    """The differences that the unmeasured allow; nothing when all was measured."""
    return format_pair(row.difference_bounds) if any(row.unmeasured) else ""


def change_words(cell: Transition) -> str:
    """What became of the claims of a cell."""
    if cell.first == "ABSENT":
        return f"appeared {STATE_WORDS[cell.second]}"
    if cell.second == "ABSENT":
        return f"disappeared ({STATE_WORDS[cell.first]})"
    if cell.first == cell.second:
        return f"still {STATE_WORDS[cell.first]}"
    return f"{STATE_WORDS[cell.first]} → {STATE_WORDS[cell.second]}"


def records_words(comparison: Comparison) -> str:
    """How many records are compared, and how many are not."""
    parts = [f"{plural(comparison.common, 'record')} in both"]
    parts += [f"{comparison.only_first:,} only in {comparison.first.name}"] if comparison.only_first else []
    parts += [f"{comparison.only_second:,} only in {comparison.second.name}"] if comparison.only_second else []
    return " · ".join(parts)


HEADLINES: dict[Outcome, str] = {
    "regression": message("Regression: {second} is worse than {first}."),
    "no_regression": message("No regression from {first} to {second}."),
    "inconclusive": message("Inconclusive: whether {second} is worse than {first} is neither shown nor ruled out."),
    "unmeasured": message("Unmeasured: too much is missing to compare {first} and {second}."),
}
SHOWS: dict[RowOutcome, str] = {
    "same": message("unchanged"),
    "worse": message("worse"),
    "better": message("better"),
    "equivalent": message("equal within the margin"),
    "not_worse": message("not worse by the margin"),
    "differs": message("differs"),
    "inconclusive": message("inconclusive"),
    "unmeasured": message("unmeasured"),
}
TESTS = {"mcnemar": message("McNemar’s mid-p"), "sign": message("sign flips")}
EFFECTS = {"cohen_h": message("Cohen’s h"), "paired_d": message("paired d")}
COUNTED = {"claims": message("claims"), "records": message("records")}
MOST_REASONS = 6


def alias_of(metric: str) -> str:
    """The short name of a metric; one of another tool is called what that tool calls it."""
    known = METRICS_BY_ID.get(metric)
    return say(known.alias) if known else metric


def named(row: MetricComparison) -> str:
    """A metric, and the slice that a row speaks of."""
    return f"{alias_of(row.metric)}, {slice_words(row)}" if row.by else alias_of(row.metric)


def reasons_of(comparison: Comparison) -> list[str]:
    """Why the outcome is what it is, one sentence each; of many the first."""
    gated = comparison.are_slices_gated
    decisive = [row for row in comparison.rows if row.direction != "none" and (gated or not row.by)]
    texts = list(_TELLERS[comparison.outcome](comparison, decisive))
    if len(texts) <= MOST_REASONS:
        return texts
    more = len(texts) - MOST_REASONS
    return [*texts[:MOST_REASONS], say_count(more, "And {count} more; the tables have all.", "And {count} more; the tables have all.")]  # fmt: skip  # noqa: E501


def _regression(_: Comparison, rows: list[MetricComparison]) -> Iterator[str]:
    for row in rows:
        if row.outcome == "worse":
            yield _moved(row, message("{metric} is worse: from {first} to {second}, a difference of {difference} ({interval}) that chance does not explain (p {p} after correction)."))  # fmt: skip  # noqa: E501
    yield from _better(rows)


def _better(rows: list[MetricComparison]) -> Iterator[str]:
    for row in rows:
        if row.outcome == "better":
            yield _moved(row, message("{metric} is better: from {first} to {second}, a difference of {difference} ({interval}) that chance does not explain (p {p} after correction)."))  # fmt: skip  # noqa: E501


def _moved(row: MetricComparison, text: str) -> str:
    return say(
        text,
        metric=named(row),
        first=value_words(row.first),
        second=value_words(row.second),
        difference=difference_words(row),
        interval=format_pair(row.interval),
        p=NO_VALUE if row.adjusted_p_value is None else format_number(row.adjusted_p_value),
    )


def _unmeasured(comparison: Comparison, rows: list[MetricComparison]) -> Iterator[str]:
    for row in rows:
        if row.outcome == "unmeasured":
            yield _missing(row)
    for count, run in ((comparison.only_first, comparison.first), (comparison.only_second, comparison.second)):
        if count:
            yield say_count(count, "{count} record is only in {run}.", "{count} records are only in {run}.", run=run.name)  # fmt: skip  # noqa: E501
    if not rows:
        yield say("No metric that has a better side was compared.")


def _missing(row: MetricComparison) -> str:
    if not any(row.unmeasured):
        return say("{metric}: {reason}.", metric=named(row), reason=say(row.undefined or "") or NO_VALUE)
    text = say(
        "{metric}: of the {counted} {first} are unmeasured in the first run and {second} in the second.",
        metric=named(row),
        counted=say(COUNTED[row.counted]),
        first=share_words(row, 0),
        second=share_words(row, 1),
    )
    if not row.causes:
        return text
    causes = ", ".join(f"{cause} {format_count(number)}" for cause, number in row.causes.items())
    return f"{text} {say('Records that broke: {causes}.', causes=causes)}"


def share_words(row: MetricComparison, run: int) -> str:
    """How much of one run is unmeasured, of how much."""
    return f"{format_count(row.unmeasured[run])} / {format_count(row.measurable[run])}"


def _inconclusive(_: Comparison, rows: list[MetricComparison]) -> Iterator[str]:
    for row in rows:
        if row.outcome != "inconclusive":
            continue
        if row.margin is None:
            yield say("{metric}: nobody has said how much is too much; choose a margin.", metric=named(row))
            continue
        yield say(
            "{metric}: a change for the worse of {margin} or more is neither shown nor ruled out. So many records "
            "would show a difference of {detectable}.",
            metric=named(row),
            margin=format_number(row.margin),
            detectable=value_words(row.minimum_detectable),
        )


def _no_regression(_: Comparison, rows: list[MetricComparison]) -> Iterator[str]:
    if all(row.outcome == "same" for row in rows):
        yield say("Every answer, and the label of every claim, is the same in both runs.")
        return
    yield say("No metric is worse by more than chance, and a change for the worse as large as its margin is ruled out.")
    yield from _better(rows)


_TELLERS = {
    "regression": _regression,
    "no_regression": _no_regression,
    "inconclusive": _inconclusive,
    "unmeasured": _unmeasured,
}

"""The blame of a run as files: every error with its history, every rate as a row, and a text to read."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from hallumeter.formats import write_jsonl
from hallumeter.records.aspects.blame import ERROR_KINDS
from hallumeter.report.markdown import code, escaped
from hallumeter.text.printable import printable

from .sentences import blame_of
from .tables import BlameSums

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from hallumeter.records import MetricSummary
    from hallumeter.records.aspects import PipelineOutput
    from hallumeter.records.aspects.blame import BlameTable, UnitBlame


COLUMNS = ("step", "error", "metric", "count", "total", "value", "interval_low", "interval_high", "interval_method")
_LAST = ("direction", "undefined", "signature")
_TITLES = {
    "step_introduction_rate": "introduction",
    "step_repair_rate": "repair",
    "step_regression_rate": "regression",
    "step_detection_rate": "detection",
    "step_false_alarm_rate": "false alarm",
}


def write_blame(outputs: Iterable[PipelineOutput], folder: Path) -> BlameTable:
    """Write ``blame.jsonl`` (one line for all that was ever wrong), ``blame.csv`` and ``blame.md`` into a folder.

    Outputs are taken one after another; what is kept of each are its counts.
    """
    sums = BlameSums()
    write_jsonl(folder / "blame.jsonl", _units(outputs, sums))
    table = sums.table()
    (folder / "blame.csv").write_text(blame_csv(table), encoding="utf-8", newline="")
    (folder / "blame.md").write_text(blame_markdown(table), encoding="utf-8", newline="")
    return table


def blame_csv(table: BlameTable) -> str:
    """One row per step, kind of error and rate; numbers unrounded, empty where not known."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*COLUMNS, *_LAST])
    for row in table.rows:
        low, high = row.interval or (None, None)
        known = [row.by["step"], row.by["error"], row.metric, row.count, row.total, row.value, low, high]
        known += [row.interval_method, row.direction, row.undefined, row.signature]
        writer.writerow(["" if each is None else printable(each) if isinstance(each, str) else each for each in known])
    return stream.getvalue()


def blame_markdown(table: BlameTable) -> str:
    """Who introduced what stands at the end, what each step did, what each speaker saw, who ignored what."""
    lines = ["# Who made which error", "", *_told(table), ""]
    lines += ["## Errors that stand at the end, by the step that introduced them", "", *_introduced(table), ""]
    lines += ["## What steps did to right and wrong", "", *_rates(table, ("introduction", "repair", "regression")), ""]
    lines += ["## What speakers flagged", "", *_rates(table, ("detection", "false alarm")), ""]
    lines += ["## Errors that stand although they were flagged, by who ignored them", "", *_ignored(table)]
    return "\n".join(lines).rstrip() + "\n"


def _units(outputs: Iterable[PipelineOutput], sums: BlameSums) -> Iterator[UnitBlame]:
    for output in outputs:
        blame = blame_of(output)
        sums.add(blame)
        yield from blame.units


def _told(table: BlameTable) -> Iterator[str]:
    yield f"{table.sentences:,} sentences, {table.with_gold:,} of them with gold."
    if table.with_gold < table.sentences:
        yield "Without gold, only aspects that do not stand in the text are known to be wrong."
    if table.coarse:
        yield f"Of {table.coarse:,} sentences only stage 1 and the final result are known."
    for reason, count in table.undefined.items():
        yield f"{count:,} sentences have no blame: {escaped(reason)}."


def _introduced(table: BlameTable) -> Iterator[str]:
    kinds = [kind for kind in ERROR_KINDS if kind in table.introduced_errors]
    if not kinds:
        yield "None."
        return
    steps = list(dict.fromkeys(row.by["step"] for row in table.rows))
    yield from _head(["step", *kinds])
    for step in steps:
        counts = [table.introduced_errors[kind].get(step, 0) for kind in kinds]
        if any(counts):
            yield f"| {code(step)} | {' | '.join(f'{count:,}' for count in counts)} |"


def _rates(table: BlameTable, titles: tuple[str, ...]) -> Iterator[str]:
    cells: dict[tuple[str, str], dict[str, MetricSummary]] = {}
    for row in table.rows:
        if _TITLES[row.metric] in titles and row.value is not None:
            cells.setdefault((row.by["step"], row.by["error"]), {})[_TITLES[row.metric]] = row
    told = {place: found for place, found in cells.items() if any(row.count for row in found.values())}
    if not told:
        yield "Nothing."
        return
    yield "Steps and errors without a row: there was nothing, or nothing to count."
    yield ""
    yield from _head(["step", "error", *titles])
    for (step, error), found in told.items():
        values = [_rate(found[title]) if title in found else "–" for title in titles]
        yield f"| {code(step)} | {code(error)} | {' | '.join(values)} |"


def _rate(row: MetricSummary) -> str:
    interval = "" if row.interval is None else f" ({row.interval[0]:.3f}–{row.interval[1]:.3f})"
    return f"{row.value:.3f}{interval}, {row.count:,.0f} of {row.total:,.0f}"


def _ignored(table: BlameTable) -> Iterator[str]:
    if not table.ignored_errors:
        yield "None."
        return
    yield from _head(["by", "reason", "errors"])
    for step, reasons in table.ignored_errors.items():
        for reason, count in reasons.items():
            yield f"| {code(step)} | {escaped(reason) or '–'} | {count:,} |"


def _head(titles: list[str]) -> list[str]:
    return [f"| {' | '.join(titles)} |", f"|{' --- |' * len(titles)}"]

"""Verdicts in, a summary out: what `hallumeter measure` and `hallumeter.measure` run."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypedDict, Unpack

import numpy as np
from msgspec import Struct

from hallumeter.errors import InputError, RecordError, SettingsError
from hallumeter.policy import headline_rows, profile_of
from hallumeter.records import SUMMARY_VERSION, Counts, Failure, Summary

from .builder import TableBuilder
from .measuring import Measured, count, summary_rows
from .settings import MeasureSettings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hallumeter.formats import Batch
    from hallumeter.summary import SummarySettings

MOST_FAILURES = 100_000
"""Failures kept with their messages; more are only counted."""


class MeasuredRun(Struct, frozen=True, eq=False):
    """A summary, and what it was made from."""

    summary: Summary
    measured: Measured
    failures: tuple[Failure, ...]
    rows_by_source: dict[str, int]
    refused: frozenset[tuple[str, int]]
    """Places of the rows whose verdict does not count: source and line."""


class FailureLog:
    """Collects failures; keeps the first hundred thousand with their messages and counts the rest."""

    def __init__(self, *, is_strict: bool) -> None:
        self._is_strict = is_strict
        self.kept: list[Failure] = []
        self.by_code: Counter[str] = Counter()

    def __call__(self, failure: Failure) -> None:
        """Take note of a failure, or stop at once when the run is strict."""
        if self._is_strict:
            raise RecordError(failure.message)
        self.by_code[failure.code] += 1
        if len(self.kept) < MOST_FAILURES:
            self.kept.append(failure)


def measure_batches(
    sources: Iterable[tuple[str, Iterator[Batch]]], settings: MeasureSettings, *, version: str
) -> MeasuredRun:
    """Read rows from named sources and measure everything that they allow."""
    failures = FailureLog(is_strict=settings.is_strict)
    builder = TableBuilder(settings.fields, failures, keeps_claim_texts=settings.similarity is not None)
    rows_by_source: dict[str, int] = {}
    for name, batches in sources:
        before = builder.rows
        for batch in batches:
            builder.add(batch, name)
        rows_by_source[name] = builder.rows - before
    _check_found(builder, settings, failures=failures, rows_by_source=rows_by_source)
    table = builder.build()
    measured = count(table, settings)
    for row in measured.votes.duplicates.tolist():
        source, failure = _duplicate(measured, row)
        failures(failure)
        builder.refused.add((source, int(table.lines[row])))
    summary = summary_of(
        measured,
        settings,
        settings.numbers(version),
        instrument="measure",
        counts=counts_of(measured, failures=failures.by_code.total()),
        notices=tuple(_notices(builder, measured, failures)),
    )
    return MeasuredRun(summary, measured, tuple(failures.kept), rows_by_source, frozenset(builder.refused))


class Stated(TypedDict):
    """What a summary says of its run."""

    instrument: str
    counts: Counts
    notices: tuple[str, ...]


def summary_of(
    measured: Measured, settings: MeasureSettings, numbers: SummarySettings, **stated: Unpack[Stated]
) -> Summary:
    """Every metric with its interval, and the opinion that each policy forms of them."""
    rows = tuple(summary_rows(measured, settings, numbers))
    headlines = headline_rows(rows, measured.headline)
    return Summary(
        version=SUMMARY_VERSION,
        instrument=stated["instrument"],
        counts=stated["counts"],
        metrics=rows,
        profile={policy.name: profile_of(policy, headlines) for policy in settings.policies},
        notices=stated["notices"],
    )


def _check_found(
    builder: TableBuilder, settings: MeasureSettings, *, failures: FailureLog, rows_by_source: dict[str, int]
) -> None:
    if not builder.rows:
        names = ", ".join(rows_by_source) or "the input"
        first = f"; the first fault: {failures.kept[0].message}" if failures.kept else ""
        raise InputError(f"{names}: no usable record found{first}")
    absent = [field for field in settings.fields if field not in builder.fields]
    if absent:
        found = ", ".join(sorted(builder.fields))
        raise SettingsError(f"no row has the field {absent[0]!r}; fields found: {found}")


def counts_of(measured: Measured, *, failures: int) -> Counts:
    """How much there is of everything."""
    table, cells = measured.table, measured.cells
    with_claims = np.unique(cells.responses[cells.of_row[measured.votes.rows]])
    audited = np.unique(cells.responses[measured.is_audited])
    return Counts(
        records=cells.response_count,
        claims=len(measured.votes.claim_rows),
        verdicts=len(measured.votes.rows),
        failures=failures,
        records_without_claims=len(audited) - len(with_claims),
        judges=len(table.judge_names),
        models=len(table.model_names),
    )


def _notices(builder: TableBuilder, measured: Measured, failures: FailureLog) -> Iterator[str]:
    """What a reader must know before reading the numbers."""
    for alias, name in sorted((builder.aliases | builder.label_aliases).items()):
        yield f"{alias!r} was read as {name}"
    for code, number in sorted(failures.by_code.items()):
        yield f"{number} {'row' if number == 1 else 'rows'} could not be used: {code}"
    omitted = failures.by_code.total() - len(failures.kept)
    if omitted:
        yield f"{omitted} of these faults are counted without their messages"
    if measured.labels and measured.headline not in measured.table.judge_names:
        yield f"headline figures rest on the consensus of {len(measured.table.judge_names)} judges"
    if not measured.labels:
        yield "no verdict was found: claim metrics are left out"


def _duplicate(measured: Measured, row: int) -> tuple[str, Failure]:
    """A second verdict of the same judge on the same claim, and the file it stands in."""
    table = measured.table
    starts = np.cumsum([0, *(size for _, size in table.places)])
    source = table.places[int(np.searchsorted(starts, row, side="right")) - 1][0]
    judge = table.judge_names[table.judges[row]]
    record = table.record_names[table.records[row]]
    message = f"{source}:{table.lines[row]}: {judge!r} judged this claim of {record!r} before; the first verdict counts"
    return source, Failure(record, None, "read", judge, "duplicate_verdict", message)

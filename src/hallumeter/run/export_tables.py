"""The tables of a run for other programs: CSV files, one workbook, or a dataset with a card."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from hallumeter.errors import InputError, MissingExtraError
from hallumeter.report.wording import format_pair
from hallumeter.text.normalize import printable

from .finished import Run

if TYPE_CHECKING:
    from hallumeter.formats.data_table import DataTable
    from hallumeter.records.measurement import MetricSummary

LONGEST_CELL = 32_767
"""Characters that a cell of a workbook can hold."""
MOST_ROWS = 1_048_575
"""Rows that a sheet of a workbook can hold, without its headings."""


def tables_of(run: Run) -> Iterator[tuple[str, DataTable]]:
    """The tables by name: what was measured, then by response, by claim and by verdict."""
    yield "metrics", run.metrics()
    yield "responses", run.scores()
    yield "claims", run.claims()
    yield "verdicts", run.verdicts()


def export_csv(run: Run, folder: Path, *, is_raw: bool = False) -> None:
    """A CSV file for each table; cells cannot become formulas unless `is_raw`."""
    for name, table in tables_of(run):
        table.to_csv(folder / f"{name}.csv", raw=is_raw)


def export_workbook(run: Run, path: Path) -> tuple[str, ...]:
    """One workbook with a sheet for each table; gives notices of what did not fit. Texts are never formulas.

    Raises:
        InputError: A table has more rows than a sheet holds.
        MissingExtraError: The package that writes workbooks is not installed.
    """
    try:
        import xlsxwriter
    except ModuleNotFoundError as error:
        raise MissingExtraError("xlsx", "writing a workbook") from error
    cut = 0
    texts = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with xlsxwriter.Workbook(path, {**texts, "nan_inf_to_errors": True}) as workbook:
        bold = workbook.add_format({"bold": True})
        for name, table in tables_of(run):
            if len(table) > MOST_ROWS:
                raise InputError(f"{name} has {len(table):,} rows, more than a sheet holds; use --to csv or parquet")
            sheet = workbook.add_worksheet(name)
            sheet.freeze_panes(1, 0)
            sheet.write_row(0, 0, table.columns, bold)
            for number, row in enumerate(table, 1):
                cells = [_cell(value) for value in row.values()]
                cut += sum(isinstance(cell, str) and len(cell) > LONGEST_CELL for cell in cells)
                sheet.write_row(number, 0, [cell[:LONGEST_CELL] if isinstance(cell, str) else cell for cell in cells])
    return (f"{cut:,} texts were longer than a cell holds and were cut",) if cut else ()


def _cell(value: object) -> str | float | bool | None:
    if value is None or isinstance(value, bool | int | float):
        return value
    return printable(value if isinstance(value, str) else str(value))


def export_dataset(run: Run, folder: Path) -> None:
    """Parquet files and a card, as the Hugging Face hub and `datasets` read them; nothing is uploaded.

    Raises:
        MissingExtraError: pyarrow is not installed.
    """
    try:
        from pyarrow import parquet
    except ModuleNotFoundError as error:
        raise MissingExtraError("parquet", "writing a dataset") from error
    (folder / "data").mkdir()
    names = []
    for name, table in tables_of(run):
        if len(table):
            parquet.write_table(table.to_arrow(), folder / "data" / f"{name}.parquet", compression="zstd")
            names.append(name)
    (folder / "README.md").write_text(dataset_card(run, names), encoding="utf-8", newline="\n")


def dataset_card(run: Run, names: list[str]) -> str:
    """What the dataset holds, how it was measured, and what it does not tell."""
    summary, manifest = run.summary, run.manifest
    configs = "".join(f"- config_name: {name}\n  data_files: data/{name}.parquet\n" for name in names)
    judges = ", ".join(judge.name for judge in manifest.judges) or "none"
    rows = "".join(_metric_line(row) for row in summary.metrics if not row.by and row.value is not None)
    undefined = sum(row.value is None for row in summary.metrics if not row.by)
    counts = summary.counts
    return (
        f"---\npretty_name: hallumeter {manifest.instrument}\ntags: [hallucination, evaluation]\n"
        f"configs:\n{configs}---\n\n"
        f"# Measured by hallumeter {manifest.hallumeter}\n\n"
        f"{counts.records:,} records, {counts.claims:,} claims, {counts.verdicts:,} verdicts, "
        f"{counts.failures:,} failures. Judges: {judges}. Seed {manifest.seed}.\n\n"
        "| metric | value | interval | counts | undecided | failed |\n| --- | --- | --- | --- | --- | --- |\n"
        f"{rows}\n"
        f"{undefined} metrics are undefined. Undecided and failed claims count in no rate. The texts come from the "
        "input of the run; check their licence before you publish them.\n"
    )


def _metric_line(row: MetricSummary) -> str:
    counted = "" if row.count is None or row.total is None else f"{row.count:g} of {row.total:g}"
    cells = [row.metric, f"{row.value:.4f}", format_pair(row.interval), counted]
    return f"| {' | '.join([*cells, str(row.undecided), str(row.failed)])} |\n"

"""Which page of an engine belongs to which page of the ground truth: by name, by order or by a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path, PurePosixPath

from msgspec import Struct

from hallumeter.errors import InputError
from hallumeter.formats.files import read_rows
from hallumeter.formats.records import rows_of

from .pages.folders import PageFiles, name_below

_MOST_COMPARED = 1_000
"""Names among which the nearest are looked for."""
BY_NAME, BY_ORDER = "name", "order"
_PAGE_NAMES = ("page", "page_id", "id")
_REFERENCE_NAMES = ("reference", "ground_truth", "gt", "truth")
_READING_NAMES = ("reading", "response", "ocr", "file")
_ENGINE_NAMES = ("engine", "model")
"""What the columns of a table of pairs may be called, beside the names of the engines."""
Files = Mapping[str, Path]


class PairedPages(Struct, frozen=True):
    """Pages of all sides under the same names, and what has no partner."""

    truth: Files
    engines: dict[str, Files]
    unpaired: list[tuple[str, str]]
    """A page, and why it is left out."""
    notices: list[str]


def paired_pages(truth: PageFiles, engines: Mapping[str, PageFiles], *, pair_by: str = BY_NAME) -> PairedPages:
    """Find the pages that belong together; `pair_by` is `name`, `order` or the path of a table."""
    known: Files = truth.by_name
    readings: dict[str, Files] = {name: files.by_name for name, files in engines.items()}
    notices: list[str] = []
    told: list[tuple[str, str]] = []
    if pair_by == BY_ORDER:
        readings = {name: _in_order_of(known, files, name) for name, files in readings.items()}
    elif pair_by != BY_NAME:
        known, readings, told = _by_table(Path(pair_by), known, readings)
    else:
        known, readings = _named_alike(known, readings, notices)
    return PairedPages(known, readings, [*told, *_unpaired(known, readings)], notices)


def _unpaired(known: Files, readings: Mapping[str, Files]) -> list[tuple[str, str]]:
    found = []
    for engine, files in readings.items():
        missing = [page for page in known if page not in files]
        found += [(page, f"{page}: {engine} has no reading of it") for page in missing]
        found += [
            (page, f"{page}: {engine} has a reading of it, but there is no reference{_nearest(page, missing)}")
            for page in files
            if page not in known
        ]
    return found


def _in_order_of(known: Files, files: Files, engine: str) -> Files:
    """The pages of an engine under the names of the references, the first for the first."""
    if len(files) != len(known):
        raise InputError(
            f"{engine}: has {len(files):,} pages and the ground truth {len(known):,}; pages can be "
            "paired by order only when there are as many of both"
        )
    return dict(zip(known, files.values(), strict=True))


def _nearest(page: str, others: Sequence[str]) -> str:
    """References without a reading whose names are most like that of a page."""
    found = get_close_matches(page, others[:_MOST_COMPARED], n=3, cutoff=0.6)
    return f"; the nearest without one: {', '.join(found)}" if found else ""


# Exports put their pages into folders named after a document: what differs there says nothing about the page.


def _named_alike(known: Files, readings: dict[str, Files], notices: list[str]) -> tuple[Files, dict[str, Files]]:
    """The pages under names that some of them share.

    With their folders, or else without the folders that all have in common, or else without any, as long as no two
    pages of one side have one name.
    """
    if _share_names(known, readings):
        return known, readings
    for shorten in (_without_common_folders, _without_folders):
        short, others = shorten(known), {engine: shorten(files) for engine, files in readings.items()}
        is_whole = len(short) == len(known) and all(len(others[name]) == len(readings[name]) for name in readings)
        if is_whole and _share_names(short, others):
            notices.append("pages were paired by their names without the folders that they are in")
            return short, others
    return known, readings


def _share_names(known: Files, readings: Mapping[str, Files]) -> bool:
    return any(not known.keys().isdisjoint(files) for files in readings.values())


def _without_common_folders(files: Files) -> Files:
    parts = [name.split("/")[:-1] for name in files]
    depth = 0
    for level in zip(*parts, strict=False):
        if len(set(level)) > 1:
            break
        depth += 1
    return {"/".join(name.split("/")[depth:]): path for name, path in files.items()}


def _without_folders(files: Files) -> Files:
    return {name.rpartition("/")[2]: path for name, path in files.items()}


# A table that says which files belong together.


def _by_table(
    table: Path, known: Files, readings: Mapping[str, Files]
) -> tuple[Files, dict[str, Files], list[tuple[str, str]]]:
    """Pages under the names of a table: a row for each page, with the file of the reference and of each engine.

    A column has the name of its engine; or there is one column `reading`, beside a column `engine` when there are
    several. Files are named as they stand below their folder, with or without their endings.
    """
    if not table.is_file():
        raise InputError(f"{table}: no such table of pairs; give a CSV or JSONL file, or pair by name or by order")
    truth: dict[str, Path] = {}
    engines: dict[str, dict[str, Path]] = {engine: {} for engine in readings}
    told: list[tuple[str, str]] = []
    for place, row in _rows(table):
        reference = _cell(row, _REFERENCE_NAMES)
        page = _cell(row, _PAGE_NAMES) or reference
        if page is None or reference is None:
            columns = ", ".join(row)
            raise InputError(f"{place}: expected columns reference and reading, and perhaps page; found {columns}")
        _put(truth, page, reference, files=known, told=told, place=f"{place}: the ground truth")
        for engine, cell in _readings_of(row, list(readings), place):
            _put(engines[engine], page, cell, files=readings[engine], told=told, place=f"{place}: {engine}")
    return truth, dict(engines), told


def _rows(table: Path) -> Iterable[tuple[str, dict[str, object]]]:
    for batch in read_rows(table, fields=None):
        for fault in batch.faults:
            raise InputError(f"{table.name}:{fault.line}: {fault.message}")
        for line, row in rows_of(batch):
            row |= {alias: row[own] for alias, own in batch.aliases.items()}
            yield f"{table.name}:{line}", row


def _cell(row: Mapping[str, object], names: Sequence[str]) -> str | None:
    return next((str(row[name]) for name in names if row.get(name) not in (None, "")), None)


def _readings_of(row: Mapping[str, object], engines: list[str], place: str) -> list[tuple[str, str]]:
    """The engines that a row names, each with its file."""
    columns = [engine for engine in engines if engine in row]
    if columns:
        return [(engine, str(row[engine])) for engine in columns if row[engine] not in (None, "")]
    engine = _cell(row, _ENGINE_NAMES) or (engines[0] if len(engines) == 1 else None)
    if engine not in engines:
        raise InputError(f"{place}: names no engine; expected a column for each of {', '.join(engines)}, or engine")
    if not any(name in row for name in _READING_NAMES):
        raise InputError(f"{place}: expected a column {engine} or reading with files; found {', '.join(row)}")
    cell = _cell(row, _READING_NAMES)
    return [] if cell is None else [(engine, cell)]


def _put(
    pages: dict[str, Path], page: str, cell: str, *, files: Files, told: list[tuple[str, str]], place: str
) -> None:
    name = next((name for name in (cell, name_below(PurePosixPath(cell))) if name in files), None)
    if name is None:
        near = get_close_matches(cell, list(files)[:_MOST_COMPARED], n=3, cutoff=0.6)
        told.append((page, f"{place} has no page {cell!r}" + (f"; the nearest: {', '.join(near)}" if near else "")))
    elif pages.setdefault(page, files[name]) != files[name]:
        told.append((page, f"{place} has two pages {page!r}; the first counts"))

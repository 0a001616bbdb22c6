"""Transcripts in tables: rows with both texts, or one table of references and one per engine."""

from __future__ import annotations

import hashlib
from contextlib import closing
from typing import TYPE_CHECKING

from hallumeter.errors import InputError
from hallumeter.formats import ALIASES, read_rows, rows_of
from hallumeter.records import Failure, InputFile, Transcript
from hallumeter.store import PageShelf, ShelvedReading

from .jobs import EngineReading, Jobs, PageJob, Source, unpaired

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from hallumeter.records import FieldValue

    from .settings import Columns

PAGE_NAMES = (
    *("page", "page_id", "doc_id", "document_id", "document", "record_id", "id"),
    *("line", "image", "file", "name"),
)
ENGINE_NAMES = ("engine", "model", "system")
REFERENCE_NAMES = ("reference", "ground_truth", "gt", "truth", "target", "correct")
RESPONSE_NAMES = ("response", "hypothesis", "prediction", "transcription", "ocr", "output", "answer", "text")
"""What the columns may be called, the first that a row has counts."""
PAGE, ENGINE, REFERENCE, RESPONSE = "page", "engine", "reference", "response"
_USUAL = {PAGE: PAGE_NAMES, ENGINE: ENGINE_NAMES, REFERENCE: REFERENCE_NAMES, RESPONSE: RESPONSE_NAMES}
UNNAMED_ENGINE = "response"
_NOTHING = (None, "")
_CELLS = (".csv", ".tsv", ".tab")
ENDINGS = (".jsonl", ".ndjson", ".jl", *_CELLS, ".parquet", ".pq", ".gz")


class Shelf:
    """Fills a shelf of pages from rows, and keeps what could not be used."""

    def __init__(self, columns: Columns, shelf: PageShelf) -> None:
        self._columns = columns
        self.shelf = shelf
        self.failures: list[Failure] = []

    def fill(self, paths: Sequence[Path], names: Sequence[str]) -> tuple[InputFile, ...]:
        """Read every table; the first holds the references when it has no response beside them."""
        has_pairs = self._has_both(paths[0])
        if not has_pairs and len(paths) < 2:
            known = f"a reference ({', '.join(REFERENCE_NAMES)}) and a response ({', '.join(RESPONSE_NAMES)})"
            raise InputError(f"{paths[0]}: expected rows with {known}; name the columns, or give one table per engine")
        inputs = []
        for path, name in zip(paths, names, strict=True):
            rows = 0
            for line, row in self._rows(path):
                rows += 1
                place = f"{path.name}:{line}"
                if has_pairs:
                    self.put_pair(row, place, engine=name, page=place)
                elif path == paths[0]:
                    self._put_reference(row, place)
                else:
                    self._put_reading(row, place, engine=name)
            with path.open("rb") as stream:
                inputs.append(InputFile(path.name, hashlib.file_digest(stream, "sha256").hexdigest(), rows))
        return tuple(inputs)

    def put(self, page: str, reference: str, reading: ShelvedReading, *, place: str) -> None:
        """Keep a reading with its reference; it is left out when its page has another one already."""
        if self.shelf.put_reference(page, reference):
            self._shelve(page, reading, place)
        else:
            self._fail("two_references", f"{place}: page {page!r} has another reference already; left out")

    def put_pair(self, row: Mapping[str, object], place: str, *, engine: str, page: str) -> None:
        """Keep a row with a reference and a response, of this engine and page unless it names others."""
        reference, response = self._text(row, REFERENCE, place), self._text(row, RESPONSE, place)
        if reference is not None and response is not None:
            name = self._name(row, PAGE)
            named = str(row[name]) if name and row[name] not in _NOTHING else page
            self.put(named, reference, self._reading(row, response, engine), place=place)

    def _put_reading(self, row: Mapping[str, object], place: str, *, engine: str) -> None:
        page, response = self._text(row, PAGE, place), self._text(row, RESPONSE, place)
        if page and response is not None:
            self._shelve(page, self._reading(row, response, engine), place)

    def _put_reference(self, row: Mapping[str, object], place: str) -> None:
        role = REFERENCE if self._name(row, REFERENCE) else RESPONSE
        page, text = self._text(row, PAGE, place), self._text(row, role, place)
        if page and text is not None and not self.shelf.put_reference(page, text):
            self._fail("two_references", f"{place}: page {page!r} has another reference already; the first counts")

    def _shelve(self, page: str, reading: ShelvedReading, place: str) -> None:
        if not self.shelf.put_reading(page, reading):
            self._fail("read_twice", f"{place}: {reading.engine} has a reading of {page!r} already; the first counts")

    def _reading(self, row: Mapping[str, object], response: str, engine: str) -> ShelvedReading:
        """What a row says beside its texts; the engine is the row's own, if it names one."""
        named = self._name(row, ENGINE)
        used = {ALIASES.get(name, name) for role in _USUAL if (name := self._name(row, role))}
        return ShelvedReading(
            engine=str(row[named]) if named and row[named] not in _NOTHING else engine,
            response=response,
            fields={
                name: _plain(value)
                for name, value in row.items()
                if value not in _NOTHING and ALIASES.get(name, name) not in used
            },
        )

    def _rows(self, path: Path) -> Iterator[tuple[int, dict[str, object]]]:
        """The rows of a table, under the names that it has for its columns as well as under hallumeter's."""
        empty = "" if path.name.lower().removesuffix(".gz").endswith(_CELLS) else None
        for batch in read_rows(path, fields=None):
            for fault in batch.faults:
                self._fail(fault.code, f"{path.name}:{fault.line}: {fault.message}")
            for line, row in rows_of(batch):
                row |= {alias: row[own] for alias, own in batch.aliases.items()}
                # An empty cell is an empty text: a page without words, or an engine that wrote none.
                yield line, {name: empty if value is None else value for name, value in row.items()}

    def _has_both(self, path: Path) -> bool:
        faults = len(self.failures)
        row = next((row for _, row in self._rows(path)), {})
        del self.failures[faults:]  # they are met again when all rows are read
        return self._name(row, REFERENCE) is not None and self._name(row, RESPONSE) is not None

    def _name(self, row: Mapping[str, object], role: str) -> str | None:
        """What a row calls its page, engine, reference or response; None when it has no such column."""
        chosen: str | None = getattr(self._columns, role)
        return next((name for name in ((chosen,) if chosen else _USUAL[role]) if name in row), None)

    def _text(self, row: Mapping[str, object], role: str, place: str) -> str | None:
        """A text out of a row; None, and a failure, when it has none."""
        name = self._name(row, role)
        value = None if name is None else row[name]
        if isinstance(value, str | int | float) and (value != "" or role != PAGE):
            return str(value)
        chosen: str | None = getattr(self._columns, role)
        wanted = chosen or f"one of {', '.join(_USUAL[role])}"
        found = "nothing" if value in _NOTHING else type(value).__name__
        self._fail(f"no_{role}", f"{place}: no {role}; expected a text in {wanted}, found {found}")
        return None

    def _fail(self, code: str, message: str) -> None:
        self.failures.append(Failure(None, None, "read", None, code, message))


def jobs_of(shelf: PageShelf, failures: list[Failure]) -> Generator[PageJob, None, None]:
    """The pages of a shelf as jobs; what has no partner is a failure."""
    with closing(shelf.pages()) as pages:
        for page in pages:
            if page.reference is None:
                engines = ", ".join(reading.engine for reading in page.readings)
                failures.append(unpaired(page.page, f"page {page.page!r} of {engines} has no reference; left out"))
            elif not page.readings:
                failures.append(unpaired(page.page, f"page {page.page!r}: no engine has a reading of it"))
            else:
                yield PageJob(page.page, Source(page.reference), tuple(map(_engine_reading, page.readings)))


def table_jobs(paths: Sequence[Path], names: Sequence[str], *, columns: Columns, shelf: PageShelf) -> Jobs:
    """Pages out of tables."""
    filling = Shelf(columns, shelf)
    inputs = filling.fill(paths, names)
    return Jobs(jobs_of(shelf, filling.failures), shelf.count_paired(), shelf.engines, inputs, filling.failures, [])


def record_jobs(given: Iterable[Transcript | Mapping[str, object]], *, columns: Columns, shelf: PageShelf) -> Jobs:
    """Pages given in Python: as records, or as mappings that are read like the rows of a table."""
    filling = Shelf(columns, shelf)
    for number, item in enumerate(given, 1):
        place = f"transcripts:{number}"
        if isinstance(item, Transcript):
            reading = ShelvedReading(item.engine, item.response, item.fields)
            filling.put(item.page, item.reference, reading, place=place)
        else:
            filling.put_pair(item, place, engine=UNNAMED_ENGINE, page=str(number))
    return Jobs(jobs_of(shelf, filling.failures), shelf.count_paired(), shelf.engines, (), filling.failures, [])


def _engine_reading(reading: ShelvedReading) -> EngineReading:
    return EngineReading(reading.engine, Source(reading.response), reading.fields)


def _plain(value: object) -> FieldValue:
    return value if isinstance(value, str | int | float | bool) else str(value)

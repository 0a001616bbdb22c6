"""Transcripts in tables: rows with both texts, or one table of references and one per engine."""

from __future__ import annotations

import hashlib
import unicodedata
from typing import TYPE_CHECKING

from hallumeter.errors import InputError
from hallumeter.formats import read_rows, rows_of
from hallumeter.records import Failure, InputFile, Transcript
from hallumeter.store import PageShelf, ShelvedReading

from .jobs import EngineReading, Jobs, PageJob, Source, unpaired

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from hallumeter.records import FieldValue

    from .settings import Columns

PAGE_NAMES = ("page", "page_id", "doc_id", "document_id", "document", "record_id", "line", "image", "file", "name")
ENGINE_NAMES = ("engine", "model", "system")
REFERENCE_NAMES = ("reference", "ground_truth", "gt", "truth", "target", "correct")
RESPONSE_NAMES = ("response", "hypothesis", "prediction", "transcription", "ocr", "text")
"""What the columns may be called, the first that a row has counts."""
ENDINGS = (".jsonl", ".ndjson", ".jl", ".csv", ".tsv", ".tab", ".parquet", ".pq", ".gz")


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
        for place, (path, name) in enumerate(zip(paths, names, strict=True)):
            rows = 0
            for line, row in self._rows(path):
                rows += 1
                if place == 0 and not has_pairs:
                    self._put_reference(row, f"{path.name}:{line}")
                else:
                    self._put_reading(row, f"{path.name}:{line}", engine=name, has_reference=has_pairs)
            with path.open("rb") as stream:
                inputs.append(InputFile(path.name, hashlib.file_digest(stream, "sha256").hexdigest(), rows))
        return tuple(inputs)

    def put(self, transcript: Transcript, place: str) -> None:
        """Keep a transcript that was given in Python."""
        page = unicodedata.normalize("NFC", transcript.page)
        if not self.shelf.put_reference(page, transcript.reference):
            self._fail("two_references", f"{place}: page {page!r} has another reference already; the first one counts")
        reading = ShelvedReading(transcript.engine, transcript.response, transcript.fields)
        if not self.shelf.put_reading(page, reading):
            self._fail(
                "read_twice", f"{place}: {transcript.engine} has a reading of {page!r} already; the first counts"
            )

    def _rows(self, path: Path) -> Iterator[tuple[int, dict[str, object]]]:
        for batch in read_rows(path, fields=None):
            for fault in batch.faults:
                self._fail(fault.code, f"{path.name}:{fault.line}: {fault.message}")
            yield from rows_of(batch)

    def _has_both(self, path: Path) -> bool:
        for batch in read_rows(path, fields=None):
            for _, row in rows_of(batch):
                return self._reference_name(row) is not None and self._response_name(row) is not None
        return False

    def _reference_name(self, row: Mapping[str, object]) -> str | None:
        return _found(row, self._columns.reference, REFERENCE_NAMES)

    def _response_name(self, row: Mapping[str, object]) -> str | None:
        return _found(row, self._columns.response, RESPONSE_NAMES)

    def _put_reference(self, row: Mapping[str, object], place: str) -> None:
        name = self._reference_name(row) or self._response_name(row)
        page = self._page(row, place)
        if page is None:
            return
        if name is None or row[name] is None:
            self._fail("no_text", f"{place}: no text for page {page!r}; expected one of {', '.join(RESPONSE_NAMES)}")
        elif not self.shelf.put_reference(page, str(row[name])):
            self._fail("two_references", f"{place}: page {page!r} has another reference already; the first one counts")

    def _put_reading(self, row: Mapping[str, object], place: str, *, engine: str, has_reference: bool) -> None:
        page = self._page(row, place) if not has_reference else self._page(row, place, default=place)
        if page is None:
            return
        response, reference = self._response_name(row), self._reference_name(row) if has_reference else None
        named = _found(row, self._columns.engine, ENGINE_NAMES)
        if has_reference and reference is None:
            self._fail("no_reference", f"{place}: no reference for page {page!r}")
            return
        if reference is not None:
            shelved = self.shelf.put_reference(page, str(row[reference]))
            if not shelved:
                self._fail("two_references", f"{place}: page {page!r} has another reference already; row left out")
                return
        used = {name for name in (response, reference, named) if name}
        reading = ShelvedReading(
            engine=str(row[named]) if named and row[named] is not None else engine,
            # No value is no output; an engine that failed says so in a file of its own.
            response="" if response is None or row[response] is None else str(row[response]),
            fields={name: _plain(value) for name, value in row.items() if name not in used and value is not None},
        )
        if not self.shelf.put_reading(page, reading):
            self._fail("read_twice", f"{place}: {reading.engine} has a reading of {page!r} already; the first counts")

    def _page(self, row: Mapping[str, object], place: str, default: str | None = None) -> str | None:
        name = _found(row, self._columns.page, PAGE_NAMES)
        if name is None or row[name] in (None, ""):
            if default is not None:
                return default
            wanted = self._columns.page or f"one of {', '.join(PAGE_NAMES)}"
            self._fail("no_page", f"{place}: no name of a page; expected {wanted}")
            return None
        return unicodedata.normalize("NFC", str(row[name]))

    def _fail(self, code: str, message: str) -> None:
        self.failures.append(Failure(None, None, "read", None, code, message))


def jobs_of(shelf: PageShelf, failures: list[Failure]) -> Iterator[PageJob]:
    """The pages of a shelf as jobs; what has no partner is a failure."""
    for page in shelf.pages():
        if page.reference is None:
            engines = ", ".join(reading.engine for reading in page.readings)
            failures.append(unpaired(page.page, f"page {page.page!r} of {engines} has no reference; left out"))
        elif not page.readings:
            failures.append(unpaired(page.page, f"page {page.page!r}: no engine has a reading of it"))
        else:
            readings = tuple(EngineReading(item.engine, Source(item.response), item.fields) for item in page.readings)
            yield PageJob(page.page, Source(page.reference), readings)


def table_jobs(paths: Sequence[Path], names: Sequence[str], *, columns: Columns, shelf: PageShelf) -> Jobs:
    """Pages out of tables."""
    filling = Shelf(columns, shelf)
    inputs = filling.fill(paths, names)
    return Jobs(jobs_of(shelf, filling.failures), len(shelf), shelf.engines, inputs, filling.failures, [])


def record_jobs(transcripts: Iterable[Transcript], *, columns: Columns, shelf: PageShelf) -> Jobs:
    """Pages given in Python."""
    filling = Shelf(columns, shelf)
    for number, transcript in enumerate(transcripts, 1):
        filling.put(transcript, f"transcripts:{number}")
    return Jobs(jobs_of(shelf, filling.failures), len(shelf), shelf.engines, (), filling.failures, [])


def _found(row: Mapping[str, object], chosen: str | None, usual: Sequence[str]) -> str | None:
    if chosen is not None:
        return chosen if chosen in row else None
    return next((name for name in usual if name in row), None)


def _plain(value: object) -> FieldValue:
    return value if isinstance(value, str | int | float | bool) else str(value)

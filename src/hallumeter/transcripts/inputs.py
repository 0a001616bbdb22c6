"""Find out what the user gave: folders, tables or single files."""

from __future__ import annotations

import os
import sqlite3
import sys
import tempfile
import unicodedata
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from itertools import chain, repeat, zip_longest
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import msgspec
from msgspec import Struct, field, structs

from hallumeter.errors import InputError, RecordError
from hallumeter.formats.batch import expanded as expanded_column
from hallumeter.formats.fields import ALIASES
from hallumeter.formats.files import read_rows
from hallumeter.formats.shapes import FieldPath, RowShape
from hallumeter.records.claim import Failure
from hallumeter.records.manifest import InputFile
from hallumeter.records.page import Transcript
from hallumeter.records.response import FieldValue

from .page_sets import expanded, is_page_set, page_set, split_group
from .pages.folders import PageFiles
from .pages.page_file import composed_name, page_name
from .pairing import BY_NAME, BY_ORDER, paired_pages
from .settings import Columns

# From what the user gave to pages with their readings, one job per page.

TRUTH, WITNESS = "truth", "witness"
"""What the reference of a page is called in a run: ground truth, or another reading."""


class Source(Struct, frozen=True):
    """The file that holds a text, or the image that shows it: whoever measures the page opens it."""

    path: Path | None = None
    """A file that holds the text."""
    image: Path | None = None
    """An image that shows the text."""
    reader: str | None = None
    """The OCR engine that reads the image."""


class EngineReading(Struct, frozen=True):
    """Where one engine's text of a page is."""

    engine: str
    source: Source | str
    """The text itself, when it came out of a table or from Python."""
    fields: dict[str, FieldValue] = field(default_factory=dict)


class Told(Struct, frozen=True):
    """What was noticed when the files of a page were read."""

    failures: tuple[Failure, ...] = ()
    notices: tuple[tuple[str, str], ...] = ()
    """Of a file by its path."""
    confidence: float | None = None
    """How sure a witness is of its reading; None when it does not say."""


class PageJob(Struct, frozen=True):
    """A page to measure."""

    page: str
    reference: Source | str
    readings: tuple[EngineReading, ...]
    told: Told = Told()
    """Of files that somebody has read before; their texts are the sources."""


# Texts of pages on disk, so that tables larger than memory can be joined page by page.

_PRAGMAS = """
PRAGMA page_size = 16384;
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
"""
"""Nothing here outlives the run, so nothing needs to survive a crash. A text of a page fits into a large page."""
_SCHEMA = """
CREATE TABLE page (number INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, reference TEXT) STRICT;
CREATE TABLE reading (
    page INTEGER NOT NULL, engine INTEGER NOT NULL, response TEXT NOT NULL, fields TEXT NOT NULL,
    row INTEGER NOT NULL, PRIMARY KEY (page, engine)
) WITHOUT ROWID, STRICT;
"""

_PUT_REFERENCE = """
INSERT INTO page (name, reference) VALUES (?, ?) ON CONFLICT (name)
DO UPDATE SET reference = excluded.reference WHERE reference IS NULL OR reference = excluded.reference
"""
_PUT_NAME = "INSERT OR IGNORE INTO page (name) VALUES (?)"
_NEXT_NAMES = "SELECT name FROM page WHERE number > ? ORDER BY number LIMIT ?"
_PUT_READING = "INSERT OR IGNORE INTO reading SELECT number, ?, ?, ?, ? FROM page WHERE name = ?"
_ROW = "SELECT row FROM reading JOIN page ON page = number WHERE engine = ? AND name = ?"
_NO_FIELDS = "{}"


class StoredPage(NamedTuple):
    """A page with all its readings, engines in the order in which they were first seen."""

    page: str
    reference: str | None
    """None when no row had one."""
    readings: tuple[EngineReading, ...]


class _TextStore:
    """Texts, some at a time: in memory as long as they are few, and the others in a file."""

    _AT_ONCE = 256

    def __init__(self, path: Path, in_memory: int) -> None:
        self._stream = path.open("w+b")
        self._left = in_memory

    def kept(self, texts: Sequence[str]) -> Iterator[Sequence[str] | tuple[int, int]]:
        """Texts, or where they stand in the file."""
        self._left -= sum(map(sys.getsizeof, texts))
        if self._left >= 0:
            yield texts
            return
        for first in range(0, len(texts), self._AT_ONCE):
            some = msgspec.msgpack.encode(texts[first : first + self._AT_ONCE])
            yield self._stream.seek(0, os.SEEK_END), self._stream.write(some)

    def texts(self, kept: Sequence[str] | tuple[int, int]) -> Sequence[str]:
        """What was kept."""
        if not isinstance(kept, tuple):
            return kept
        self._stream.seek(kept[0])
        found: list[str] = msgspec.msgpack.decode(self._stream.read(kept[1]), type=list[str])
        return found

    def close(self) -> None:
        """Forget the file."""
        self._stream.close()


class _TextsInOrder:
    """Texts of the first so many pages."""

    def __init__(self, store: _TextStore) -> None:
        self._store = store
        self._kept: list[Sequence[str] | tuple[int, int]] = []
        self.count = 0

    def add(self, texts: Sequence[str]) -> None:
        """Keep the texts of the pages that follow."""
        self._kept.extend(self._store.kept(texts))
        self.count += len(texts)

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(map(self._store.texts, self._kept))


class PageTable:
    """A temporary database of references and responses; pages come back in the order in which they were first seen.

    Most tables name the same pages in the same order. As long as they do, their texts are kept together, and the
    database holds the names alone; from the first row that is out of order, every text has a row of its own.
    """

    _FEWEST_TOGETHER = 64
    _IN_MEMORY = 32 << 20
    """Bytes of texts that are held before they go to a file."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="hallumeter-")
        self._database = sqlite3.connect(Path(self._folder.name) / "pages.sqlite")
        self._database.executescript(_PRAGMAS + _SCHEMA)
        self._engines: dict[str, int] = {}
        self._row = 0
        self._is_in_order = True
        self._store = _TextStore(Path(self._folder.name, "texts"), self._IN_MEMORY)
        self._references = _TextsInOrder(self._store)
        self._readings: dict[int, _TextsInOrder] = {}

    def __enter__(self) -> PageTable:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._database.close()
        self._store.close()
        self._folder.cleanup()

    @property
    def engines(self) -> tuple[str, ...]:
        """Names of the engines, in order of appearance."""
        return tuple(self._engines)

    def count_paired(self) -> int:
        """How many pages have a reference and a reading."""
        if self._is_in_order:
            return max((own.count for own in self._readings.values()), default=0)
        paired = "SELECT count(*) FROM page WHERE reference IS NOT NULL AND number IN (SELECT page FROM reading)"
        return int(self._database.execute(paired).fetchone()[0])

    def put_references(self, pages: Sequence[str], references: Sequence[str]) -> list[int]:
        """Keep pages and their references; give the places of those that have another already, which is kept."""
        names, texts = _page_names(pages), _storables(references)
        if self._has_kept_references(names, texts):
            return []
        self._keep_apart()
        stored = list(zip(names, texts, strict=True))
        if self._database.executemany(_PUT_REFERENCE, stored).rowcount == len(stored):
            return []
        found = (self._database.execute("SELECT reference FROM page WHERE name = ?", (name,)) for name in names)
        return [place for place, (row, text) in enumerate(zip(found, texts, strict=True)) if row.fetchone() != (text,)]

    def put_texts(self, engine: str, pages: Sequence[str], texts: Sequence[str]) -> list[int]:
        """Keep what one engine wrote, as `put_readings` does."""
        if self._has_kept_texts(engine, pages, texts):
            return []
        return self._put_apart([(page, EngineReading(engine, text)) for page, text in zip(pages, texts, strict=True)])

    def put_readings(self, rows: Sequence[tuple[str, EngineReading]]) -> list[int]:
        """Keep what engines wrote; give the places of those that have a reading of the page already, which is kept."""
        engines = {reading.engine for _, reading in rows}
        if len(engines) == 1 and not any(reading.fields for _, reading in rows):
            return self.put_texts(
                rows[0][1].engine, [page for page, _ in rows], [str(reading.source) for _, reading in rows]
            )
        return self._put_apart(rows)

    def _put_apart(self, rows: Sequence[tuple[str, EngineReading]]) -> list[int]:
        self._keep_apart()
        stored = []
        for number, (page, reading) in enumerate(rows, self._row):
            place = self._engines.setdefault(_storable(reading.engine), len(self._engines))
            response = _storable(str(reading.source))
            stored.append((place, response, _encoded(reading.fields), number, _page_name(page)))
        self._row += len(rows)
        if self._database.executemany(_PUT_READING, stored).rowcount == len(stored):
            return []
        # Some page has no reference so far, or is read twice.
        self._database.executemany(_PUT_NAME, [(row[-1],) for row in stored])
        self._database.executemany(_PUT_READING, stored)
        kept = (self._database.execute(_ROW, (engine, name)).fetchone() for engine, *_, name in stored)
        return [place for place, (row, own) in enumerate(zip(kept, stored, strict=True)) if row != (own[-2],)]

    def _has_kept_references(self, names: Sequence[str], texts: Sequence[str]) -> bool:
        """Keep references together, if all their pages are new."""
        is_together = len(names) >= self._FEWEST_TOGETHER or self._references.count > 0
        if not self._is_in_order or not is_together:
            return False
        if self._database.executemany(_PUT_NAME, zip(names, strict=True)).rowcount != len(names):
            return False
        self._references.add(texts)
        return True

    def _has_kept_texts(self, engine: str, pages: Sequence[str], texts: Sequence[str]) -> bool:
        """Keep readings together, if they are of the pages that follow the last one of their engine."""
        if not self._is_in_order:
            return False
        place = self._engines.get(_storable(engine), len(self._engines))
        known = self._readings.get(place, _TextsInOrder(self._store))
        names = self._database.execute(_NEXT_NAMES, (known.count, len(pages))).fetchall()
        if names != list(zip(_page_names(pages), strict=True)):
            return False
        known.add(_storables(texts))
        self._readings[place] = known
        self._engines[_storable(engine)] = place
        return True

    def _keep_apart(self) -> None:
        """Give every text that was kept with others a row of its own, and so all that follow."""
        if not self._is_in_order:
            return
        self._is_in_order = False
        references = ((text, number) for number, text in enumerate(self._references, 1))
        self._database.executemany("UPDATE page SET reference = ? WHERE number = ?", references)
        for engine, texts in self._readings.items():
            rows = ((page, engine, text, _NO_FIELDS, self._row + page) for page, text in enumerate(texts, 1))
            self._database.executemany("INSERT INTO reading VALUES (?, ?, ?, ?, ?)", rows)
            self._row += texts.count + 1

    def put_reference(self, page: str, reference: str) -> bool:
        """Keep the reference of a page; False when it has another one already, which is kept."""
        return not self.put_references([page], [reference])

    def put_reading(self, page: str, reading: EngineReading) -> bool:
        """Keep what an engine wrote; False when it has a reading of that page already, which is kept."""
        return not self.put_readings([(page, reading)])

    def pages(self) -> Generator[StoredPage, None, None]:
        """Every page with its readings."""
        names = tuple(self._engines)
        if self._is_in_order:
            yield from self._pages_in_order(names)
            return
        pages = self._database.execute("SELECT number, name, reference FROM page ORDER BY number")
        readings = self._database.execute("SELECT page, engine, response, fields FROM reading ORDER BY page, engine")
        with closing(pages), closing(readings):
            next_reading = next(readings, None)
            for number, name, reference in pages:
                found = []
                while next_reading is not None and next_reading[0] == number:
                    _, engine, response, fields = next_reading
                    known = {} if fields == _NO_FIELDS else msgspec.json.decode(fields)
                    found.append(EngineReading(names[engine], response, known))
                    next_reading = next(readings, None)
                yield StoredPage(name, reference, tuple(found))

    def _pages_in_order(self, engines: tuple[str, ...]) -> Iterator[StoredPage]:
        texts = [self._readings[place] for place in range(len(engines))]
        with closing(self._database.execute("SELECT name FROM page ORDER BY number")) as names:
            for (name,), reference, *responses in zip_longest(names, self._references, *texts):
                pairs = zip(engines, responses, strict=True)
                readings = [EngineReading(engine, text) for engine, text in pairs if text is not None]
                yield StoredPage(name, reference, tuple(readings))


def _page_name(page: str) -> str:
    """Names in the form NFC: a Korean name is one name, whichever system wrote it."""
    return unicodedata.normalize("NFC", _storable(page))


def _page_names(pages: Sequence[str]) -> Sequence[str]:
    return pages if all(map(str.isascii, pages)) else list(map(_page_name, pages))


def _storables(texts: Sequence[str]) -> Sequence[str]:
    return texts if all(map(str.isascii, texts)) else list(map(_storable, texts))


def _storable(text: str) -> str:
    """A lone surrogate cannot be stored; it stands for a character that was broken before it came here."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _encoded(fields: dict[str, FieldValue]) -> str:
    if not fields:
        return _NO_FIELDS
    plain = {_storable(key): _storable(value) if isinstance(value, str) else value for key, value in fields.items()}
    return msgspec.json.encode(plain).decode()


class Jobs(Struct):
    """The pages of a run, and what could not be paired."""

    pages: Generator[PageJob, None, None]
    """Read once, as they are measured, and closed before what they are read from."""
    count: int
    """Pages that have a reference and a reading."""
    engines: tuple[str, ...]
    inputs: tuple[InputFile, ...]
    failures: list[Failure]
    notices: list[str]
    reference_name: str = TRUTH
    """What the reference is called in the run: `truth`, or `witness`."""
    witness: str | None = None
    """Who read the pages as a witness; None with a ground truth."""
    tables: tuple[Path, ...] = ()
    """The files of the inputs, where those are tables."""


def unpaired(page: str, message: str) -> Failure:
    """A page that has nothing to be compared with."""
    return Failure(page, None, "read", None, "unpaired", message)


# Transcripts in tables: rows with both texts, or one table of references and one per engine.

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


class _Rows(NamedTuple):
    """Some rows of a table."""

    file: str
    lines: Sequence[int]
    columns: dict[str, list[object]]

    def place(self, row: int) -> str:
        """Where a row stands."""
        return f"{self.file}:{self.lines[row]}"

    def each(self) -> Iterator[tuple[str, dict[str, object]]]:
        """The rows one by one, with their places."""
        names = tuple(self.columns)
        rows = zip(*self.columns.values(), strict=True) if names else repeat(())
        for line, values in zip(self.lines, rows, strict=False):
            yield f"{self.file}:{line}", dict(zip(names, values, strict=True))


class TempTable:
    """Fills a table of pages from rows, and keeps what could not be used."""

    def __init__(self, columns: Columns, page_table: PageTable) -> None:
        self._columns = columns
        self.page_table = page_table
        self.failures: list[Failure] = []
        self._found: tuple[str, ...] = ()
        """The columns of the first table."""

    def fill(self, paths: Sequence[Path], names: Sequence[str]) -> tuple[InputFile, ...]:
        """Read every table; the first holds the references when it has no response beside them."""
        first = self._batches(paths[0])
        begin = next((batch for batch in first if len(batch.lines)), None)
        has_pairs = begin is not None and all(self._name(begin.columns, role) for role in (REFERENCE, RESPONSE))
        if not has_pairs and len(paths) < 2:
            known = f"a reference ({', '.join(REFERENCE_NAMES)}) and a response ({', '.join(RESPONSE_NAMES)})"
            found = f"found the columns {', '.join(self._found)}" if self._found else "found no column"
            advice = "name them with --columns reference=NAME,response=NAME, or give one table per engine"
            raise InputError(f"{paths[0]}: expected rows with {known}; {found}; {advice}")
        inputs = []
        for path, name in zip(paths, names, strict=True):
            rows = 0
            for batch in chain([begin] if begin else [], first) if path == paths[0] else self._batches(path):
                rows += len(batch.lines)
                if has_pairs:
                    self._put_pairs(batch, engine=name)
                elif path == paths[0]:
                    self._put_references(batch)
                else:
                    self._put_readings(batch, engine=name)
            inputs.append(InputFile(path.name, None, rows))
        return tuple(inputs)

    def put(self, page: str, reference: str, reading: EngineReading, *, place: str) -> None:
        """Keep a reading with its reference; it is left out when its page has another one already."""
        if self.page_table.put_reference(page, reference):
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

    def _put_pairs(self, batch: _Rows, *, engine: str) -> None:
        for place, row in batch.each():
            self.put_pair(row, place, engine=engine, page=place)

    def _put_references(self, batch: _Rows) -> None:
        role = REFERENCE if self._name(batch.columns, REFERENCE) else RESPONSE
        pages, texts = self._texts(batch, PAGE), self._texts(batch, role)
        if pages is None or texts is None:
            for place, row in batch.each():
                self._put_reference(row, place)
            return
        for refused in self.page_table.put_references(pages, texts):
            self._fail_reference(batch.place(refused), pages[refused])

    def _put_readings(self, batch: _Rows, *, engine: str) -> None:
        pages, texts = self._texts(batch, PAGE), self._texts(batch, RESPONSE)
        if pages is None or texts is None:
            for place, row in batch.each():
                self._put_reading(row, place, engine=engine)
            return
        if not self._says_more(batch.columns):
            for refused in self.page_table.put_texts(engine, pages, texts):
                self._fail_reading(batch.place(refused), pages[refused], engine)
            return
        readings = [self._reading(row, text, engine) for (_, row), text in zip(batch.each(), texts, strict=True)]
        for refused in self.page_table.put_readings(list(zip(pages, readings, strict=True))):
            self._fail_reading(batch.place(refused), pages[refused], readings[refused].engine)

    def _texts(self, batch: _Rows, role: str) -> list[str] | None:
        """The page, reference or response of every row; None when some row has none, and is to be named."""
        name = self._name(batch.columns, role)
        values = batch.columns[name] if name is not None else [None]
        if not set(map(type, values)) <= {str, int, float, bool}:
            return None
        texts = list(map(str, values))
        return None if role == PAGE and "" in texts else texts

    def _says_more(self, columns: Mapping[str, object]) -> bool:
        """Whether rows have anything beside a page and a text."""
        used = {ALIASES.get(name, name) for role in (PAGE, RESPONSE) if (name := self._name(columns, role))}
        return any(ALIASES.get(name, name) not in used for name in columns)

    def _put_reading(self, row: Mapping[str, object], place: str, *, engine: str) -> None:
        page, response = self._text(row, PAGE, place), self._text(row, RESPONSE, place)
        if page and response is not None:
            self._shelve(page, self._reading(row, response, engine), place)

    def _put_reference(self, row: Mapping[str, object], place: str) -> None:
        role = REFERENCE if self._name(row, REFERENCE) else RESPONSE
        page, text = self._text(row, PAGE, place), self._text(row, role, place)
        if page and text is not None and not self.page_table.put_reference(page, text):
            self._fail_reference(place, page)

    def _shelve(self, page: str, reading: EngineReading, place: str) -> None:
        if not self.page_table.put_reading(page, reading):
            self._fail_reading(place, page, reading.engine)

    def _fail_reference(self, place: str, page: str) -> None:
        self._fail("two_references", f"{place}: page {page!r} has another reference already; the first counts")

    def _fail_reading(self, place: str, page: str, engine: str) -> None:
        self._fail("read_twice", f"{place}: {engine} has a reading of {page!r} already; the first counts")

    def _reading(self, row: Mapping[str, object], response: str, engine: str) -> EngineReading:
        """What a row says beside its texts; the engine is the row's own, if it names one."""
        named = self._name(row, ENGINE)
        used = {ALIASES.get(name, name) for role in _USUAL if (name := self._name(row, role))}
        return EngineReading(
            engine=str(row[named]) if named and row[named] not in _NOTHING else engine,
            source=response,
            fields={
                name: _plain(value)
                for name, value in row.items()
                if value not in _NOTHING and ALIASES.get(name, name) not in used
            },
        )

    def _batches(self, path: Path) -> Iterator[_Rows]:
        """The rows of a table, under the names that it has for its columns as well as under hallumeter's."""
        is_cells = path.name.lower().removesuffix(".gz").endswith(_CELLS)
        dotted = [name for name in structs.astuple(self._columns) if name and "." in name]
        shape = RowShape(paths={name: FieldPath.parse(name) for name in dotted})
        for batch in read_rows(path, fields=None, shape=shape):
            for fault in batch.faults:
                self._fail(fault.code, f"{path.name}:{fault.line}: {fault.message}")
            columns = {name: expanded_column(column) for name, column in batch.columns.items()}
            own_names = {own: alias for alias, own in batch.aliases.items()}
            self._found = self._found or tuple(own_names.get(name, name) for name in columns)
            columns |= {alias: columns[own] for alias, own in batch.aliases.items()}
            if is_cells:
                # An empty cell is an empty text: a page without words, or an engine that wrote none.
                columns = {name: ["" if cell is None else cell for cell in cells] for name, cells in columns.items()}
            # A name with a dot leads into nested objects, unless a column is called so.
            nested = {name: path for name, path in shape.paths.items() if name not in columns}
            columns |= {name: path.column(columns, len(batch.lines)) for name, path in nested.items()}
            yield _Rows(path.name, batch.lines, columns)

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


def jobs_of(page_table: PageTable, failures: list[Failure]) -> Generator[PageJob, None, None]:
    """The pages of a table as jobs; what has no partner is a failure."""
    with closing(page_table.pages()) as pages:
        for page in pages:
            if page.reference is None:
                engines = ", ".join(reading.engine for reading in page.readings)
                failures.append(unpaired(page.page, f"page {page.page!r} of {engines} has no reference; left out"))
            elif not page.readings:
                failures.append(unpaired(page.page, f"page {page.page!r}: no engine has a reading of it"))
            else:
                yield PageJob(page.page, page.reference, page.readings)


def table_jobs(paths: Sequence[Path], names: Sequence[str], *, columns: Columns, page_table: PageTable) -> Jobs:
    """Pages out of tables."""
    filling = TempTable(columns, page_table)
    inputs = filling.fill(paths, names)
    return Jobs(
        jobs_of(page_table, filling.failures),
        page_table.count_paired(),
        page_table.engines,
        inputs,
        filling.failures,
        [],
        tables=tuple(paths),
    )


def record_jobs(given: Iterable[Transcript | Mapping[str, object]], *, columns: Columns, page_table: PageTable) -> Jobs:
    """Pages given in Python: as records, or as mappings that are read like the rows of a table."""
    filling = TempTable(columns, page_table)
    for number, item in enumerate(given, 1):
        place = f"transcripts:{number}"
        if isinstance(item, Transcript):
            reading = EngineReading(item.engine, item.response, item.fields)
            filling.put(item.page, item.reference, reading, place=place)
        else:
            filling.put_pair(item, place, engine=UNNAMED_ENGINE, page=str(number))
    return Jobs(
        jobs_of(page_table, filling.failures), page_table.count_paired(), page_table.engines, (), filling.failures, []
    )


def _plain(value: object) -> FieldValue:
    return value if isinstance(value, str | int | float | bool) else str(value)


# Transcripts in folders: one of references, one per engine, pages matched by name; or single files.


def folder_jobs(
    truth: PageFiles, engines: Mapping[str, PageFiles], *, paths: Sequence[Path], pair_by: str = "name"
) -> Jobs:
    """Pages of the references and of each engine; `paths` are where they come from, for people."""
    paired = paired_pages(truth, engines, pair_by=pair_by)
    known, readings = paired.truth, paired.engines
    failures = [unpaired(page, message) for page, message in paired.unpaired]
    names = [page for page in known if any(page in files for files in readings.values())]
    if not names:
        if pair_by not in (BY_NAME, BY_ORDER):
            reason = failures[0].message if failures else "it has no row"
            raise InputError(f"{pair_by}: pairs no page; {reason}")
        raise InputError(_nothing_paired(paths[0], paths[1:], known))
    jobs = (
        PageJob(
            page,
            Source(path=known[page]),
            tuple(
                EngineReading(engine, Source(path=files[page])) for engine, files in readings.items() if page in files
            ),
        )
        for page in names
    )
    inputs = [InputFile(plain_path(paths[0]).name, None, len(known))]
    inputs += [InputFile(name, None, len(files)) for name, files in readings.items()]
    notices = [message for files in (truth, *engines.values()) for message in files.skipped]
    return Jobs(jobs, len(names), tuple(readings), tuple(inputs), failures, [*notices, *paired.notices])


def file_jobs(reference: Path, responses: Sequence[Path], names: Sequence[str]) -> Jobs:
    """One page: a file of the reference and one per engine."""
    readings = tuple(EngineReading(name, Source(path=path)) for name, path in zip(names, responses, strict=True))
    job = PageJob(page_name(reference.name), Source(path=reference), readings)
    inputs = tuple(InputFile(path.name, None, 1) for path in (reference, *responses))
    return Jobs(_one(job), 1, tuple(names), inputs, [], [])


def engine_names(paths: Sequence[Path]) -> list[str]:
    """What engines are called: their file or folder, with as much before and after it as tells them apart."""
    whole = [plain_path(path) for path in paths]
    names: list[str] = []
    for depth in range(1, 1 + max(len(path.parts) for path in whole)):
        for has_ending in (False, True):
            names = [_last_parts(path, depth, has_ending=has_ending) for path in whole]
            if len(set(names)) == len(names):
                return names
    twice = next(path for path, name in zip(paths, names, strict=True) if names.count(name) > 1)
    raise InputError(f"{twice}: is given twice; give each engine once")


def plain_path(path: Path) -> Path:
    """A path from the root without dots, so that it ends in a name."""
    return Path(os.path.normpath(path.absolute()))


def _last_parts(path: Path, depth: int, *, has_ending: bool) -> str:
    whole, group = split_group(path)
    if group is not None:
        return composed_name("/".join((*whole.parts[-depth:-1], group)))
    is_whole = has_ending or path.is_dir()
    name = path.name if is_whole else Path(path.name.removesuffix(".gz")).stem
    return composed_name("/".join((*path.parts[-depth:-1], name)))


def _one(job: PageJob) -> Generator[PageJob, None, None]:
    yield job


def _nothing_paired(reference: Path, engines: Sequence[Path], known: Mapping[str, Path]) -> str:
    example = next(iter(known), "page1")
    folders = " or ".join(str(folder) for folder in engines)
    expected = f"files such as {example}.txt in both, or --pair-by"
    return f"{reference}: no page has the same name in {folders}; expected {expected}"


Given = Transcript | tuple[str, str] | Mapping[str, object]
"""A transcript in Python: as a record, as (reference, response), or as a mapping like a row of a table."""


@contextmanager
def opened_paths(paths: Sequence[Path], *, columns: Columns, pair_by: str = "name") -> Iterator[Jobs]:
    """The pages in some paths: a reference and one engine or more, or one table, or one METS file, that holds both."""
    paths = expanded(paths)
    for path in paths:
        if not split_group(path)[0].exists():
            raise InputError(f"{path}: no such file or folder")
    is_table = [path.name.lower().endswith(ENDINGS) and path.is_file() for path in paths]
    if all(is_table):
        with PageTable() as page_table:
            yield table_jobs(paths, engine_names(paths), columns=columns, page_table=page_table)
        return
    if len(paths) < 2:
        raise InputError(f"{paths[0]}: nothing to compare it with; give the ground truth first, then each engine")
    is_set = [is_page_set(path) for path in paths]
    if any(is_table) or len(set(is_set)) > 1:
        raise InputError(f"{paths[0]}: {_mixture(paths)}; give folders, or tables, or single pages, not a mixture")
    names = engine_names(paths[1:])
    if not all(is_set):
        yield file_jobs(paths[0], paths[1:], names)
        return
    with ExitStack() as stack:
        has_ids = all(split_group(path)[1] for path in paths)
        truth, *sets = (page_set(path, stack, has_ids=has_ids) for path in paths)
        yield folder_jobs(truth, dict(zip(names, sets, strict=True)), paths=paths, pair_by=pair_by)


@contextmanager
def opened_records(given: Iterable[Given], *, columns: Columns) -> Iterator[Jobs]:
    """Transcripts given in Python."""
    with PageTable() as page_table:
        items = (_transcript(item, number) for number, item in enumerate(given, 1))
        yield record_jobs(items, columns=columns, page_table=page_table)


def _transcript(item: Given, number: int) -> Transcript | Mapping[str, object]:
    if isinstance(item, Mapping):
        fields = item.get("fields")
        return (
            {**fields, **{key: item[key] for key in item if key != "fields"}} if isinstance(fields, Mapping) else item
        )
    if isinstance(item, tuple) and len(item) == 2 and all(isinstance(text, str) for text in item):
        return Transcript(page=str(number), engine=UNNAMED_ENGINE, reference=item[0], response=item[1])
    if not isinstance(item, Transcript):
        expected = "a Transcript, a (reference, response) pair of texts or a dict"
        raise RecordError(f"transcripts:{number}: expected {expected}, found {type(item).__name__}")
    if not item.page or not item.engine:
        raise RecordError(
            f"transcripts:{number}: a page and an engine need names, found {item.page!r}, {item.engine!r}"
        )
    return item


def _mixture(paths: Sequence[Path]) -> str:
    kinds = dict.fromkeys("folder" if is_page_set(path) else "file" for path in paths)
    return f"found a {' and a '.join(kinds)}" if len(kinds) > 1 else "found a table beside a page"

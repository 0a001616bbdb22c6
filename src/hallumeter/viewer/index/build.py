"""Make the index of a run in one pass over its records, where it is kept, and when it is no longer true."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from functools import cache
from importlib import resources
from importlib.metadata import version
from pathlib import Path

import msgspec

from hallumeter.instruments import own_files
from hallumeter.records.manifest import PLAN
from hallumeter.records.page import KINDS, PageRow, page_of
from hallumeter.report.build import build_document
from hallumeter.report.catalog import metric_texts
from hallumeter.report.document import Document, RecordFindings
from hallumeter.report.drawing import Json
from hallumeter.report.page.payload import field_text
from hallumeter.report.presentation import presentation_of
from hallumeter.report.selection import Limits, shown_fields
from hallumeter.run.finished import Run, load
from hallumeter.run.run_folder import (
    CLAIMS,
    FAILURES,
    MANIFEST,
    RECORDS,
    SUMMARY,
    VERDICTS,
    PlacedRecord,
    RecordPlace,
    placed_records,
    record_at,
)
from hallumeter.run.verdict_cache import VIEWS, cache_folder

from .queries import LABELS, OF_READINGS
from .rows import Shape, counts_of, finding_row, name_key, own_words, plain, reading_row, storable

# What a reader of a run can choose from, and how many records hold each of it.

FEW = 12
"""Values of a field by which a reader can still choose."""
FIELDS = 4


def record_facets(database: sqlite3.Connection, shapes: Mapping[int, Shape]) -> dict[str, Json]:
    """Labels, models, reasons, kinds and fields."""
    columns = ", ".join(f"sum({'no_verdict' if label == 'NONE' else label.lower()} > 0)" for label in LABELS)
    labels = database.execute(f"SELECT {columns} FROM record").fetchone()  # noqa: S608 (our columns)
    reasons: dict[str, set[int]] = {}
    kinds: dict[str, set[int]] = {}
    for number, shape in shapes.items():
        kinds.setdefault(shape.kind, set()).add(number)
        for _, _, reason in shape.votes:
            if reason is not None:
                reasons.setdefault(reason, set()).add(number)
    return {
        "labels": [count or 0 for count in labels],
        "models": _sorted(database.execute("SELECT model, count(*) FROM record GROUP BY model")),
        "reasons": _sorted((reason, _records(database, numbers)) for reason, numbers in reasons.items()),
        "kinds": _sorted((kind, _records(database, numbers)) for kind, numbers in kinds.items()),
        "fields": _fields(database),
    }


def reading_facets(database: sqlite3.Connection) -> dict[str, Json]:
    """Kinds of stretches, engines and pages."""
    asked = {**OF_READINGS, "badge": "badge = 1", "aligned": "claims > 0"}
    columns = ", ".join(f"coalesce(sum({sql}), 0)" for sql in asked.values())
    row = database.execute(f"SELECT {columns} FROM reading JOIN record USING (position)").fetchone()  # noqa: S608
    holding = dict(zip(asked, row, strict=True))
    return {
        "kinds": [holding[kind] for kind in KINDS],
        **{name: holding[name] for name in ("badge", "misread", "nothing", "aligned")},
        "engines": _sorted(database.execute("SELECT engine, count(*) FROM reading GROUP BY engine")),
        "pages": _sorted(database.execute("SELECT page, count(*) FROM reading GROUP BY page")),
    }


def _records(database: sqlite3.Connection, shapes: Iterable[int]) -> int:
    """How many records have a finding of one of these shapes."""
    numbers = ", ".join(map(str, shapes))
    sql = f"SELECT count(DISTINCT position) FROM finding WHERE shape IN ({numbers})"  # noqa: S608 (numbers alone)
    return int(database.execute(sql).fetchone()[0])


def _fields(database: sqlite3.Connection) -> dict[str, Json]:
    few = "SELECT name FROM field GROUP BY name HAVING count(DISTINCT value) BETWEEN 2 AND ? ORDER BY name"
    names = database.execute(few, (FEW,)).fetchall()
    values = "SELECT value, count(*) FROM field WHERE name = ? GROUP BY value"
    return {name: _sorted(database.execute(values, (name,))) for (name,) in names[:FIELDS]}


def _sorted(rows: Iterable[tuple[str | None, int]]) -> list[Json]:
    """Values with their counts, by name; what has none comes last."""
    ordered = sorted(rows, key=lambda row: (row[0] is None, name_key(row[0] or "")))
    return [[value, count] for value, count in ordered]


DOCUMENT, FACETS = "document", "facets"
_FAILURES_PER_RECORD = 20
_BATCH = 500
Tell = Callable[[int, int], None]


def build_index(run: Path, tell: Tell, *, verify: bool = True) -> Path:
    """Make the index of a run unless it is there, and say how many of how many records are done.

    Raises:
        InputError: A file of the run is damaged, or was changed and `verify` asks for that.
    """
    target = index_path(run)
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    try:
        with closing(sqlite3.connect(draft, isolation_level=None)) as database:
            _prepare(database)
            _Builder(database, load(run, verify=verify), tell).build()
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    forget_older(run, target)
    return target


def opening_document(run: Run) -> Document:
    """What can be said of a run before any of its records is read."""
    return build_document(
        summary=run.summary,
        manifest=run.manifest,
        metric_texts=metric_texts(run.summary.instrument),
        limits=_NOTHING,
    )


def _prepare(database: sqlite3.Connection) -> None:
    """Nothing is lost when this fails half-way, so nothing is done to survive it."""
    for setting in ("journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE", "cache_size = -65536"):
        database.execute(f"PRAGMA {setting}")
    _run_script(database, "schema.sql")
    words = "tokenize = 'trigram case_sensitive 1'" if _has_trigrams(database) else "tokenize = 'unicode61', prefix = 2"
    for name in ("own_words", "passage_words"):
        database.execute(f"CREATE VIRTUAL TABLE {name} USING fts5 (words, content = '', columnsize = 0, {words})")
    database.execute("BEGIN")


def _run_script(database: sqlite3.Connection, name: str) -> None:
    database.executescript((resources.files(__package__) / name).read_text(encoding="utf-8"))


def _has_trigrams(database: sqlite3.Connection) -> bool:
    try:
        database.execute("CREATE VIRTUAL TABLE temp.tried USING fts5 (words, tokenize = 'trigram')")
    except sqlite3.OperationalError:
        return False
    database.execute("DROP TABLE temp.tried")
    return True


class _Builder:
    """An index while it is being made."""

    def __init__(self, database: sqlite3.Connection, run: Run, tell: Tell) -> None:
        self._database, self._run, self._tell = database, run, tell
        self._shapes: dict[Shape, int] = {}
        self._passages: dict[bytes, int] = {}
        self._positions: dict[str, int] = {}
        self._findings = 0
        self._headline = opening_document(run).headline
        self._shown = presentation_of(run.summary.instrument)
        self._pages: dict[tuple[str, str], PageRow] = {}
        self._has_pages = self._shown.readings is not None
        self._rows: dict[str, list[tuple[object, ...]]] = {}

    def build(self) -> None:
        """Read everything once."""
        if self._has_pages:
            self._pages = {(row.page, row.engine): row for row in self._run.pages()}
        document = self._run.document(records=self._indexed(), limits=_NOTHING)
        self._flush()
        self._add_failures()
        self._add_traces()
        self._database.executemany(
            "INSERT INTO shape VALUES (?, ?)", [(number, _bytes(shape)) for shape, number in self._shapes.items()]
        )
        self._finish(document)

    def _indexed(self) -> Iterator[RecordFindings]:
        """The records on their way into the document, each noted as it passes."""
        total = self._run.summary.counts.records
        for position, placed in enumerate(placed_records(self._run.path)):
            self._add(position, placed)
            yield RecordFindings(placed.response, placed.findings)
            if position % _BATCH == _BATCH - 1:
                self._flush()
                self._tell(position + 1, max(total, position + 1))

    def _add(self, position: int, placed: PlacedRecord) -> None:
        response, findings = placed.response, placed.findings
        self._positions.setdefault(response.record_id, position)
        rows = [finding_row(finding, response.response, headline=self._headline) for finding in findings]
        for row in rows:
            number = self._findings = self._findings + 1
            shape = self._shapes.setdefault(row.shape, len(self._shapes))
            self._row("finding", number, position, shape, row.tenth, row.claim_id, row.fingerprint)
            for judge, value in row.probabilities:
                self._row("probability", judge, value, number)
        fields = {name: field_text(value) for name, value in shown_fields(response).items() if value is not None}
        for name, text in fields.items():
            self._row("field", storable(name), storable(text), position)
        if self._has_pages:
            self._row("reading", position, *reading_row(response, findings, self._pages.get(page_of(response))))
        self._add_words(position, placed, [*fields.values()])
        counts = counts_of(rows)
        usual = (counts["unsupported"], counts["share"], counts["unmeasured"])
        worst = self._shown.severity(RecordFindings(response, findings)) if self._shown.severity else usual
        characters = None if response.response is None else len(response.response)
        model = None if response.model is None else storable(response.model)
        facts = (position, storable(response.record_id), model, characters)
        self._row("record", *facts, *counts.values(), *worst, name_key(response.record_id), *placed.place)

    def _add_words(self, position: int, placed: PlacedRecord, fields: list[str]) -> None:
        self._row("own_words", position, own_words(placed.response, placed.findings, fields) + "\n\n")
        for passage in placed.response.evidence:
            words = plain(passage.text)
            known = len(self._passages)
            number = self._passages.setdefault(hashlib.sha256(words.encode()).digest(), known)
            if number == known:
                self._row("passage_words", number, words + "\n\n")
            self._row("passage", number, position)

    def _add_failures(self) -> None:
        kept: dict[int, int] = {}
        for failure in self._run.failures:
            position = self._positions.get(failure.record_id or "")
            if position is None:
                continue
            kept[position] = kept.get(position, 0) + 1
            if kept[position] <= _FAILURES_PER_RECORD:
                self._row("failure", position, storable(failure.code), _bytes(failure))
        self._flush()

    def _add_traces(self) -> None:
        """The ways of records through a pipeline; nothing for an instrument without one."""
        if self._shown.trace is None or self._shown.read is None:
            return
        columns = ", ".join(RecordPlace._fields)
        for traced in self._shown.read(self._run.path):
            position = self._positions.get(traced.record_id)
            if position is None:
                continue
            sql = f"SELECT {columns} FROM record WHERE position = ?"  # noqa: S608 (our own columns)
            place = RecordPlace(*self._database.execute(sql, (position,)).fetchone())
            _, findings = record_at(self._run.path, place)
            self._row("trace", position, _bytes(self._shown.trace(traced, findings)))
            if len(self._rows["trace"]) >= _BATCH:
                self._flush()
        self._flush()

    def _finish(self, document: Document) -> None:
        total = len(self._positions)
        self._tell(total, total)
        self._database.execute("COMMIT")
        _run_script(self._database, "indexing.sql")
        self._database.execute("CREATE VIRTUAL TABLE temp.own USING fts5vocab (main, own_words, row)")
        self._database.execute("CREATE VIRTUAL TABLE temp.shared USING fts5vocab (main, passage_words, row)")
        self._database.execute("INSERT INTO term SELECT term FROM temp.own UNION SELECT term FROM temp.shared")
        shapes = {number: shape for shape, number in self._shapes.items()}
        facets = reading_facets(self._database) if self._has_pages else record_facets(self._database, shapes)
        for name, body in ((DOCUMENT, _bytes(document)), (FACETS, _bytes(facets))):
            self._database.execute("INSERT INTO kept VALUES (?, ?)", (name, body))
        self._database.execute("ANALYZE")

    def _row(self, table: str, *values: object) -> None:
        self._rows.setdefault(table, []).append(values)

    def _flush(self) -> None:
        for table, rows in self._rows.items():
            named = " (rowid, words)" if table.endswith("words") else ""
            verb = "INSERT OR IGNORE" if table == "field" else "INSERT"
            places = ", ".join("?" * len(rows[0]))
            self._database.executemany(f"{verb} INTO {table}{named} VALUES ({places})", rows)
        self._rows = {}


def _bytes(value: object) -> bytes:
    return msgspec.json.encode(value)


_NOTHING = Limits(worst=0, random=0)
"""A page that a server gives holds no records: they are asked for one by one."""


# Where the index of a run is kept, and when it is no longer true.

KEPT = 40
"""Indexes that are kept; the one that was made longest ago goes first."""
READ = (MANIFEST, SUMMARY, RECORDS, CLAIMS, VERDICTS, FAILURES, PLAN)
"""The files of a run that a page is made from, beside those that instruments add."""


def index_path(run: Path) -> Path:
    """Where the index of a run is; another as soon as a file of the run has changed."""
    stamps = [_form()]
    for name in (*READ, *sorted(own_files())):
        with suppress(OSError):
            found = (run / name).stat()
            stamps.append(f"{name} {found.st_size} {found.st_mtime_ns}")
    return cache_folder() / VIEWS / f"{_prefix(run)}{_digest(chr(10).join(stamps))}.sqlite"


def forget_older(run: Path, but: Path) -> None:
    """Remove indexes of the same run as it was before, and those that were made longest ago."""
    folder = but.parent
    own = [path for path in folder.glob(f"{_prefix(run)}*.sqlite") if path != but]
    others = sorted((path for path in folder.glob("*.sqlite") if path not in own), key=_age)
    for path in own + others[:-KEPT]:
        with suppress(OSError):
            path.unlink()


@cache
def _form() -> str:
    """What an index is made by and holds: another program, table or document makes all of them anew."""
    tables = [
        (resources.files(__package__) / name).read_text(encoding="utf-8") for name in ("schema.sql", "indexing.sql")
    ]
    document = msgspec.json.encode(msgspec.json.schema(Document)).decode()
    return _digest("\n".join([version("hallumeter"), *tables, document]))


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _prefix(run: Path) -> str:
    return f"{_digest(os.path.realpath(run))}-"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:20]

"""From files, or from Python, to records in the journal."""

from __future__ import annotations

import heapq
import random
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from hallumeter.errors import InputError, RecordError, SettingsError
from hallumeter.formats import ALIASES, Fault, response_of, rows_of
from hallumeter.pipelines.measurement.response_names import ResponseNames, names_of
from hallumeter.records import Failure

from .entries import FAULTS, READ, ReadRecord, entry_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from threading import Event

    from hallumeter.formats import Batch
    from hallumeter.store import Entry, Journal

    from .settings import AuditSettings

_AT_A_TIME = 256
_BYTES_AT_A_TIME = 8 << 20
_Line = tuple[int, Fault | dict[str, object]]
REPORT = "reading"
"""Under which the journal notes that reading has finished, and what was found."""


class ReadingReport(Struct, frozen=True):
    """What was found in the input."""

    records: int
    """That are audited."""
    records_by_source: dict[str, int]
    aliases: dict[str, str]
    fields: tuple[str, ...]
    names: ResponseNames
    rows_passed_over: int
    """Rows that only add a verdict to a response which another row holds."""
    records_left_out: int
    """By sampling; what stands after a limit is not read, and so not counted."""
    records_without_evidence: int


def read_records(
    sources: Iterable[tuple[str, Iterator[Batch]]], journal: Journal, settings: AuditSettings, *, stop: Event
) -> ReadingReport | None:
    """Read rows from named sources into the journal; what cannot be used is kept as a failure.

    None when it was stopped: what was read counts for nothing then, and is read again.
    """
    reader = _Reader(settings)
    waiting: list[Entry] = []
    size = 0
    for entry in chain(reader.entries(sources), reader.drawn()):
        waiting.append(entry)
        size += len(entry.body)
        if len(waiting) == _AT_A_TIME or size > _BYTES_AT_A_TIME:
            journal.add(waiting)
            waiting, size = [], 0
            if stop.is_set():
                return None
    journal.add(waiting)
    report = reader.report()
    if not report.records:
        names = ", ".join(report.records_by_source) or "the input"
        first = f"; the first fault: {reader.first_fault.message}" if reader.first_fault is not None else ""
        raise InputError(f"{names}: no usable record found{first}")
    check_fields(report, settings)
    journal.note(REPORT, msgspec.json.encode(report))
    return report


def check_fields(report: ReadingReport, settings: AuditSettings) -> None:
    """Refuse to group by a field that no record has, and to judge by evidence that stands under another name."""
    found = f"fields found: {', '.join(report.fields)}"
    absent = [field for field in settings.measure.fields if field not in report.fields]
    if absent:
        raise SettingsError(f"no record has the field {absent[0]!r}; {found}")
    if "evidence" not in report.fields and settings.knowledge_base is None and _needs_evidence(settings):
        known = ", ".join(["evidence", *(alias for alias, name in ALIASES.items() if name == "evidence")])
        raise InputError(f"no record has evidence; {found}. Expected one of {known}; or look it up with --evidence-dir")


def _needs_evidence(settings: AuditSettings) -> bool:
    """Whether all judges would say of every claim that there is nothing to check it against."""
    return settings.samples is None and all(
        isinstance(judge, str) and not judge.startswith(("recorded:", "python:")) for judge in settings.judges
    )


class _Reader:
    """Rows on their way to becoming records."""

    def __init__(self, settings: AuditSettings) -> None:
        self._settings = settings
        self._rng = random.Random(settings.measure.seed)  # noqa: S311 (a draw, no secret)
        self._answers: dict[tuple[str, str | None], _Answer] = {}
        self._models: dict[str, str | None] = {}
        self._shared: set[str] = set()
        self._pool: list[tuple[int, ReadRecord]] = []
        self._by_source: dict[str, int] = {}
        self._aliases: dict[str, str] = {}
        self._fields: set[str] = set()
        self._usable = self._kept = self._passed_over = self._without_evidence = self._faults = 0
        self.first_fault: Failure | None = None

    def entries(self, sources: Iterable[tuple[str, Iterator[Batch]]]) -> Iterator[Entry]:
        """Journal entries of records and faults, in the order of the input."""
        for name, batches in sources:
            self._by_source[name] = 0
            for entry in chain.from_iterable(self._batch(batch, name) for batch in batches):
                yield entry
                if self._settings.limit is not None and self._kept >= self._settings.limit:
                    return

    def _batch(self, batch: Batch, source: str) -> Iterator[Entry]:
        self._aliases |= batch.aliases
        self._fields |= batch.columns.keys()
        faults: list[_Line] = sorted(((fault.line, fault) for fault in batch.faults), key=itemgetter(0))
        rows: Iterator[_Line] = rows_of(batch)
        for line, found in heapq.merge(faults, rows, key=itemgetter(0)):
            if isinstance(found, Fault):
                yield self._fault(None, found.code, f"{source}:{line}: {found.message}")
            else:
                yield from self._row(found, source, line)

    def drawn(self) -> Iterator[Entry]:
        """The records that were drawn at random, in the order of the input."""
        for number, (_, record) in enumerate(sorted(self._pool, key=lambda item: item[0])):
            self._kept += 1
            self._without_evidence += not record.response.evidence
            yield entry_of(READ, number, record)

    def report(self) -> ReadingReport:
        return ReadingReport(
            records=self._kept,
            records_by_source=self._by_source,
            aliases=self._aliases,
            fields=tuple(sorted(self._fields)),
            names=names_of(self._answers, self._shared),
            rows_passed_over=self._passed_over,
            records_left_out=self._usable - self._kept,
            records_without_evidence=self._without_evidence,
        )

    def _row(self, row: dict[str, object], source: str, line: int) -> Iterator[Entry]:
        place = f"{source}:{line}"
        given = row.get("record_id")
        record_id = row["record_id"] = place if given in (None, "") else str(given)
        model = None if row.get("model") in (None, "") else str(row["model"])
        known = self._answers.get((record_id, model))
        if known is not None:
            if (what := known.difference(row)) is None:
                self._passed_over += 1
            else:
                message = f"{place}: record {record_id!r} was there before with another {what}; give each an id"
                yield self._fault(record_id, "duplicate_record", message)
            return
        if row.get("response") is None:
            message = f"{place}: response: expected the text of the answer, found none"
            yield self._fault(record_id, "missing_field", message)
            return
        claims = row.pop("claims", None)
        try:
            record = ReadRecord(response_of(row), claims)
        except (RecordError, ValueError, TypeError) as error:
            yield self._fault(record_id, "wrong_type", f"{place}: {error}")
            return
        self._answers[record_id, model] = _Answer(*(_hash(row.get(name)) for name in _Answer.__struct_fields__))
        if self._models.setdefault(record_id, model) != model:
            self._shared.add(record_id)
        self._by_source[source] += 1
        yield from self._take(record)

    def _take(self, record: ReadRecord) -> Iterator[Entry]:
        size = self._settings.sample
        self._usable += 1
        if size is None:
            self._kept += 1
            self._without_evidence += not record.response.evidence
            yield entry_of(READ, self._kept - 1, record)
        elif len(self._pool) < size:
            self._pool.append((self._usable, record))
        elif (place := self._rng.randrange(self._usable)) < size:
            # Every record has the same chance, though how many there are is not known before the end.
            self._pool[place] = (self._usable, record)

    def _fault(self, record_id: str | None, code: str, message: str) -> Entry:
        failure = Failure(record_id, None, "read", None, code, message)
        if self._settings.measure.is_strict:
            raise RecordError(message)
        self.first_fault = self.first_fault or failure
        self._faults += 1
        return entry_of(FAULTS, 0, failure, part=self._faults)


class _Answer(Struct, frozen=True):
    """What was answered to what, as hashes."""

    response: int
    evidence: int
    question: int

    def difference(self, row: dict[str, object]) -> str | None:
        """What a later row of the same record says otherwise; None when it says the same or nothing."""
        for name in self.__struct_fields__:
            value = row.get(name)
            if value is not None and _hash(value) != getattr(self, name):
                return name
        return None


def _hash(value: object) -> int:
    return hash(value if isinstance(value, str) else msgspec.json.encode(value, enc_hook=str))

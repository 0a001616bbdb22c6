"""From records of another tool to the files of a run."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from hallumeter.errors import InputError, RecordError, SettingsError
from hallumeter.formats import write_jsonl
from hallumeter.formats.foreign import Reading
from hallumeter.pipelines.audit.columns import VerdictTable
from hallumeter.pipelines.audit.entries import Prepared
from hallumeter.pipelines.audit.finishing import RunFiles
from hallumeter.pipelines.measurement import MeasureSettings, count, counts_of, record_measurements, summary_of
from hallumeter.records import Failure
from hallumeter.store import MEASUREMENTS, SUMMARY, write_json

from .findings import findings_of
from .scores import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hallumeter.formats.foreign import ForeignFiles, ForeignRecord, ScoreKind
    from hallumeter.pipelines.measurement.measuring import Measured
    from hallumeter.records import Summary

INSTRUMENT = "ingest"


class IngestedRun(Struct, frozen=True):
    """What was taken in."""

    tool: str
    """As it calls itself."""
    summary: Summary
    failures: tuple[Failure, ...]
    """The first of them."""
    judges: dict[str, str]
    """Who judged claims, and what is known of their settings."""
    scores: dict[str, ScoreKind]
    """How each of the tool's scores is read."""


class _Taken:
    """Records on their way into a run: written as they come, counted at the end."""

    def __init__(self, files: ForeignFiles, settings: MeasureSettings) -> None:
        self.reading = Reading()
        self._files, self._settings = files, settings
        self._table, self._scores = VerdictTable(settings, ()), ScoreTable(settings.by)
        self._fields: set[str] = set()
        self.is_empty = True

    def write(self, folder: Path) -> RunFiles:
        """Write records, claims, verdicts and failures."""
        with RunFiles(folder, ()) as written:
            for record in self._records():
                findings = findings_of(record)
                prepared = Prepared(record.response, findings.claims, record.response.record_id, findings.claimless)
                written.write(prepared, findings.said)
                self._table.add(prepared, findings.said)
                self._fail(written, self._scores.add(record, self.reading.kinds))
                self._fields |= record.response.fields.keys() | {"model"}
                self.is_empty = False
            self._fail(written, [*self.reading.faults, *self._scores.finish()])
        self._check()
        return written

    def _fail(self, written: RunFiles, failures: list[Failure]) -> None:
        for failure in failures:
            if self._settings.is_strict:
                raise RecordError(failure.message)
            written.fail(failure)

    def _records(self) -> Iterator[ForeignRecord]:
        """The records, each under a name of its own."""
        for document in self._files.documents:
            for fault in document.faults:
                self.reading.fault(f"{document.name}:{fault.line}", fault.code, fault.message)
        seen: dict[str, int] = {}
        for record in self._files.tool.read(self._files.documents, self.reading):
            name = record.response.record_id
            seen[name] = seen.get(name, 0) + 1
            yield record if seen[name] == 1 else _renamed(record, f"{name} ({seen[name]})")
        again = sum(number - 1 for number in seen.values())
        if again:
            self.reading.notice(f"{again} records have the id of an earlier one and were numbered")

    def _check(self) -> None:
        if self.is_empty:
            names = ", ".join(document.name for document in self._files.documents)
            faults = self.reading.faults
            first = f"the first fault: {faults[0].message}" if faults else "is it of another tool?"
            raise InputError(f"{names}: no usable record of {self._files.tool.title} found; {first}")
        for field in self._settings.fields:
            if field not in self._fields:
                found = ", ".join(sorted(self._fields))
                raise SettingsError(f"no record has the field {field!r}; fields found: {found}")

    def summary(self, written: RunFiles, hallumeter: str) -> tuple[Summary, Measured]:
        """What the records add up to."""
        numbers = self._settings.numbers(hallumeter, (("tool", self._files.name),))
        measured = count(self._table.build(), self._settings)
        counts = counts_of(measured, failures=written.failure_codes.total())
        is_judged = bool(self.reading.judges)
        counts = structs.replace(
            counts,
            verdicts=written.verdicts.total(),
            records_without_claims=counts.records_without_claims if is_judged else 0,
        )
        notices = tuple(self._notices(written))
        summary = summary_of(measured, self._settings, numbers, instrument=INSTRUMENT, counts=counts, notices=notices)
        rows = self._scores.rows(self.reading.kinds, numbers)
        return structs.replace(summary, metrics=(*(summary.metrics if is_judged else ()), *rows)), measured

    def _notices(self, written: RunFiles) -> Iterator[str]:
        yield f"read as results of {self._files.tool.title}"
        yield from self.reading.notices
        if not self.reading.judges:
            yield f"{self._files.tool.title} kept no verdicts on claims here: claim metrics are left out"
        if written.unaligned:
            share = f"{written.unaligned} of {written.claims} claims"
            yield f"{share} in the tool's own words, so without a place in the response"
        for code, number in sorted(written.failure_codes.items()):
            yield f"{number} {'failure' if number == 1 else 'failures'}: {code}"

    def write_measurements(self, folder: Path, measured: Measured) -> None:
        """Write what was measured on every record."""
        write_jsonl(folder / MEASUREMENTS, chain(record_measurements(measured), self._scores.measurements()))


def write_files(folder: Path, files: ForeignFiles, settings: MeasureSettings, *, hallumeter: str) -> IngestedRun:
    """Write everything but the manifest and the report."""
    taken = _Taken(files, settings)
    written = taken.write(folder)
    summary, measured = taken.summary(written, hallumeter)
    taken.write_measurements(folder, measured)
    write_json(folder / SUMMARY, summary)
    return IngestedRun(
        files.tool.title, summary, tuple(written.first_failures), taken.reading.judges, taken.reading.kinds
    )


def _renamed(record: ForeignRecord, name: str) -> ForeignRecord:
    return structs.replace(
        record,
        response=structs.replace(record.response, record_id=name),
        claims=tuple(structs.replace(claim, record_id=name) for claim in record.claims),
        said=tuple(structs.replace(item, record_id=name) for item in record.said),
        claimless=structs.replace(record.claimless, record_id=name) if record.claimless else None,
        error=structs.replace(record.error, record_id=name) if record.error else None,
    )

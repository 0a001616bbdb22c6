"""From the journal to the files of a run: records, claims, verdicts and failures in order, and what they add up to."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from itertools import chain
from typing import IO, TYPE_CHECKING

import msgspec
from msgspec import Struct, structs

from hallumeter.formats import write_jsonl
from hallumeter.pipelines.measurement import count, counts_of, record_measurements, summary_of
from hallumeter.pipelines.samples import SampleReader, SampleReading, SampleTable
from hallumeter.providers.language_models import PASSING_CODES
from hallumeter.records import Failure, Verdict
from hallumeter.store import CLAIMS, FAILURES, MEASUREMENTS, RECORDS, SUMMARY, VERDICTS, write_json

from .columns import VerdictTable
from .entries import FAULTS, PREPARED, READ, SAMPLED, Judged, Merged, Prepared, ReadRecord, decoded, step_of
from .identity import INSTRUMENT
from .judging import failure_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from hallumeter.pipelines.measurement.response_names import ResponseNames
    from hallumeter.records import Response, Summary
    from hallumeter.store import Journal

    from .identity import AuditIdentity
    from .reading import ReadingReport
    from .settings import AuditSettings

FIRST_FAILURES = 1000
"""Failures that are handed back to whoever asked for the audit; the run folder has all."""
_MISSING = "budget_reached"
_MISSING_MESSAGE = "not judged: the budget was reached"
_TOKENS = SampleReader(None)
"""Reads what costs nothing."""


class Finished(Struct, frozen=True):
    """What an audit found."""

    summary: Summary
    failures: tuple[Failure, ...]
    """The first of them."""
    passing: int
    """Claims on which a judge failed for reasons that may pass."""


class RunFiles:
    """The files of a run while they are written, and the counts that go with them."""

    def __init__(self, folder: Path, judges: Sequence[str]) -> None:
        self._judges = judges
        self._stack = ExitStack()
        self._encoder = msgspec.json.Encoder()
        self._streams: dict[str, IO[bytes]] = {
            name: self._stack.enter_context((folder / name).open("wb"))
            for name in (RECORDS, CLAIMS, VERDICTS, FAILURES)
        }
        self.failure_codes: Counter[str] = Counter()
        self.verdicts: Counter[str] = Counter()
        """By judge."""
        self.claims = 0
        self.first_failures: list[Failure] = []
        self.unaligned = self.passing = 0

    def __enter__(self) -> RunFiles:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def fail(self, failure: Failure) -> None:
        """Write a failure."""
        self.failure_codes[failure.code] += 1
        if len(self.first_failures) < FIRST_FAILURES:
            self.first_failures.append(failure)
        self._write(FAILURES, failure)

    def add(self, record: Prepared, judged: Sequence[Sequence[Judged]]) -> list[Verdict | Failure]:
        """Write a record, its claims, and the verdicts on them by claim and judge; a claim nobody judged has failed."""
        by_judge = [_by_claim(parts) for parts in judged]
        said = [
            found.get(claim.claim_id) or failure_of(claim, judge, _MISSING, message=_MISSING_MESSAGE)
            for claim in record.claims
            for judge, found in zip(self._judges, by_judge, strict=True)
        ]
        self.write(record, said)
        return said

    def write(self, record: Prepared, said: Iterable[Verdict | Failure]) -> None:
        """Write a record, its claims, and what was said of them."""
        self._write(RECORDS, record.response)
        if record.failure is not None:
            self.fail(record.failure)
        for claim in record.claims:
            self._write(CLAIMS, claim)
            self.claims += 1
            self.unaligned += claim.start is None
        for item in said:
            self._say(item)

    def _say(self, item: Verdict | Failure) -> None:
        if isinstance(item, Failure):
            self.fail(item)
            self.passing += item.code in PASSING_CODES
        else:
            self.verdicts[item.judge] += 1
            self._write(VERDICTS, item)

    def _write(self, name: str, record: Struct) -> None:
        self._streams[name].write(self._encoder.encode(record) + b"\n")


def _by_claim(parts: Sequence[Judged]) -> dict[str | None, Verdict | Failure]:
    found: dict[str | None, Verdict | Failure] = {}
    for judged in parts:
        found |= {failure.claim_id: failure for failure in judged.failures}
        found |= {verdict.claim_id: verdict for verdict in judged.verdicts}
    return found


def write_files(
    folder: Path, journal: Journal, identity: AuditIdentity, *, report: ReadingReport, settings: AuditSettings
) -> Finished:
    """Write everything but the manifest and the report."""
    names = [judge.name for judge in identity.judges]
    table = VerdictTable(settings.measure, names)
    samples = SampleTable(settings.measure, identity.samples)
    read_again = Merged(journal.entries(SAMPLED))
    steps = [Merged(journal.entries(step_of(number))) for number in range(len(names))]
    with RunFiles(folder, names) as files:
        for failure in decoded((entry.body for entry in journal.entries(FAULTS)), Failure):
            files.fail(failure)
        for number, record, said in _records(journal, steps, files, names=report.names):
            table.add(record, said)
            found = next(decoded(read_again.take(number), SampleReading), None)
            reading = found or _unread(record.response, identity.samples)
            if reading is not None:
                samples.add(record.response, reading)
        for failure in samples.failures:
            files.fail(failure)
    measured = count(table.build(), settings.measure)
    numbers = settings.measure.numbers(
        identity.hallumeter, (("extract", identity.extractor), *identity.evidence_settings)
    )
    counts = counts_of(measured, failures=files.failure_codes.total())
    summary = summary_of(
        measured,
        settings.measure,
        numbers,
        instrument=INSTRUMENT,
        counts=structs.replace(counts, verdicts=files.verdicts.total()),
        notices=tuple(_notices(report, files, identity=identity, headline=measured.headline)),
    )
    summary = structs.replace(summary, metrics=(*summary.metrics, *samples.rows(numbers)))
    write_jsonl(folder / MEASUREMENTS, chain(record_measurements(measured), samples.measurements()))
    write_json(folder / SUMMARY, summary)
    return Finished(summary, tuple(files.first_failures), files.passing)


def _records(
    journal: Journal, steps: Sequence[Merged], files: RunFiles, *, names: ResponseNames
) -> Iterator[tuple[int, Prepared, list[Verdict | Failure]]]:
    prepared = Merged(journal.entries(PREPARED))
    for entry in journal.entries(READ):
        found = next(decoded(prepared.take(entry.record), Prepared), None)
        record = found or _unprepared(next(decoded([entry.body], ReadRecord)), names)
        judged = [tuple(decoded(step.take(entry.record), Judged)) for step in steps]
        yield entry.record, record, files.add(record, judged)


def _unread(response: Response, equivalence: str | None) -> SampleReading | None:
    """A record whose samples nobody compared any more; None when nobody was to, and there is nothing else to read."""
    if equivalence is None or not response.samples:
        return _TOKENS.read(response) if _TOKENS.has_work(response) else None
    failure = Failure(response.record_id, None, "samples", None, _MISSING, "not compared: the budget was reached")
    reading = _TOKENS.read(response)
    return structs.replace(reading, samples=len(response.samples), failures=(*reading.failures, failure))


def _unprepared(read: ReadRecord, names: ResponseNames) -> Prepared:
    """A record whose claims nobody looked for any more."""
    response = names.named(read.response)
    failure = Failure(response.record_id, None, "extract", None, _MISSING, "no claims: the budget was reached")
    return Prepared(response, (), read.response.record_id, failure)


def _notices(report: ReadingReport, files: RunFiles, *, identity: AuditIdentity, headline: str) -> Iterator[str]:
    """What a reader must know before reading the numbers."""
    judges = [judge.name for judge in identity.judges]
    # The guide asks for the id under this name.
    aliases = sorted((alias, name) for alias, name in report.aliases.items() if alias != "id")
    yield from (f"{alias!r} was read as {name}" for alias, name in aliases)
    if report.records_left_out:
        yield f"{_counted(report.records_left_out, 'record')} left out by --sample"
    if report.rows_passed_over:
        yield f"{_counted(report.rows_passed_over, 'row')} passed over: the response stands on an earlier row"
    if report.records_without_evidence and identity.evidence is None:
        yield f"{_counted(report.records_without_evidence, 'record')} came without evidence"
    if files.unaligned:
        yield f"{_counted(files.unaligned, 'claim')} not found in the response, so without a place in it"
    for code, number in sorted(files.failure_codes.items()):
        yield f"{_counted(number, 'failure')}: {code}"
    if len(judges) > 1:
        yield from _notices_of_panel(judges, files, headline)


def _notices_of_panel(judges: Sequence[str], files: RunFiles, headline: str) -> Iterator[str]:
    """Whose votes are missing, and whose count."""
    for judge in judges:
        if silent := files.claims - files.verdicts[judge]:
            yield f"{judge} gave no verdict on {silent:,} of {_counted(files.claims, 'claim')}"
    if headline not in judges:
        yield f"headline figures rest on the consensus of {len(judges)} judges"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"

"""From the journal to the files of a run: records, claims, verdicts and failures in order, and what they add up to."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from pathlib import Path

import msgspec
import numpy as np
from msgspec import structs

from hallumeter.claims.measure.commands import counts_of
from hallumeter.claims.measure.counts import count, record_measurements
from hallumeter.claims.measure.response_names import ResponseNames
from hallumeter.claims.measure.table import (
    MISSING,
    NO_HASH,
    Distributions,
    FieldIndex,
    NameIndex,
    Table,
    distributions_on,
)
from hallumeter.claims.partial import ClaimsPartial, NoticeCounts
from hallumeter.claims.samples import SampleReader, SampleReading, SampleTable
from hallumeter.claims.settings import AuditSettings, MeasureSettings
from hallumeter.formats.jsonl import write_jsonl
from hallumeter.models.protocol import RETRYABLE_CODES
from hallumeter.records.claim import Failure, Label, Verdict
from hallumeter.records.columns import FAILED_CODE, LABEL_CODES, stable_hash
from hallumeter.records.judging import GIVES_INSTRUCTIONS, CalibratedJudge
from hallumeter.records.response import Response
from hallumeter.run.journal import Journal, Merged, decoded
from hallumeter.run.run_folder import (
    CLAIMS,
    MEASUREMENTS,
    RECORDS,
    SUMMARY,
    VERDICTS,
    RunFiles,
    keep_partial,
    write_json,
)
from hallumeter.run.runner import FinishedRun
from hallumeter.text.normalize import claim_key

from .entries import FAULTS, PREPARED, READ, SAMPLED, Judged, Prepared, ReadRecord, step_of, textless_prepared
from .identity import INSTRUMENT, AuditIdentity
from .judging import failure_of
from .prepare import ReadingReport, abstained_of

# Verdicts of an audit as the table that the metrics are computed from.

_EMPTY = {
    "judges": MISSING,
    "labels": MISSING,
    "claims": NO_HASH,
    "claim_keys": 0,
    "answerable": MISSING,
    "abstained": 0,
}
"""What a row has that says nothing."""


class VerdictTable:
    """Takes records with what the judges said of them, and keeps what measuring needs."""

    def __init__(self, settings: MeasureSettings, judges: Sequence[str]) -> None:
        self._keeps_texts = settings.similarity is not None
        self._records, self._models, self._questions, self._texts = (NameIndex() for _ in range(4))
        self._fields = {field: FieldIndex() for field in settings.fields}
        self._judges = NameIndex()
        for name in judges:
            self._judges[name]  # numbered in the order given
        self._response_names: dict[tuple[int, int], str] = {}
        self._distributions: list[Distributions] = []
        self._probabilities = array("d")
        self._kinds, self._kind_column = NameIndex(), array("q")
        self._columns = {name: array("q") for name in (*_EMPTY, "records", "models", "questions")}
        self._field_columns = {name: array("q") for name in settings.fields}

    def add(
        self, record: Prepared, said: Sequence[Verdict | Failure], kinds: Mapping[str, str | None] | None = None
    ) -> None:
        """Take a record with everything that was said of its claims.

        `kinds` are the kinds of text by which judges calibrated their probabilities, by the names of the judges.
        """
        before = self._rows
        keys = {claim.claim_id: self._claim_key(claim.text, record.response.model) for claim in record.claims}
        for item in said:
            if isinstance(item, Verdict):
                self._take_distributions(item)
                self._take_probability(item, (kinds or {}).get(item.judge))
            self._append(
                judges=self._judges[item.judge or ""],
                labels=LABEL_CODES[item.label] if isinstance(item, Verdict) else FAILED_CODE,
                claims=stable_hash(item.claim_id or ""),
                claim_keys=keys[item.claim_id or ""],
            )
        if not said:
            self._append()
        response = record.response
        if response.answerable is not None:
            did_abstain = abstained_of(response) if record.abstained is None else record.abstained
            self._append(answerable=int(response.answerable), abstained=int(bool(did_abstain)))
        self._describe(record, rows=self._rows - before)

    def build(self, calibrated: Sequence[CalibratedJudge] = ()) -> Table:
        """Everything that was taken in; of `calibrated` judges also how they draw the line and calibrate."""
        self._fill_probabilities()
        probabilities = np.array(self._probabilities)
        columns = {name: np.array(values, dtype=np.int64) for name, values in self._columns.items()}
        return Table(
            records=columns["records"],
            models=columns["models"],
            judges=columns["judges"],
            labels=columns["labels"].astype(np.int8),
            claims=columns["claims"],
            claim_keys=columns["claim_keys"],
            questions=columns["questions"],
            answerable=columns["answerable"].astype(np.int8),
            abstained=columns["abstained"].astype(bool),
            fields={name: np.array(values, dtype=np.int64) for name, values in self._field_columns.items()},
            distributions=tuple(self._distributions),
            probabilities=None if np.isnan(probabilities).all() else probabilities,
            kinds=np.array(self._kind_column, dtype=np.int64),
            kind_names=tuple(self._kinds.names),
            refits={(judge.spec.name, kind): refits for judge in calibrated for kind, refits in judge.refits.items()},
            stated={judge.spec.name: judge.spec.settings for judge in calibrated},
            record_names=tuple(self._records.names),
            model_names=tuple(self._models.names),
            question_names=tuple(self._questions.names),
            judge_names=tuple(self._judges.names),
            field_names={name: tuple(index.names) for name, index in self._fields.items()},
            claim_texts=tuple(self._texts.names),
            places=(("journal", self._rows),),
            lines=np.arange(self._rows),
            response_names=self._response_names,
        )

    @property
    def _rows(self) -> int:
        return len(self._columns["labels"])

    def _append(self, **values: int) -> None:
        for name, empty in _EMPTY.items():
            self._columns[name].append(values.get(name, empty))

    def _describe(self, record: Prepared, *, rows: int) -> None:
        """What all rows of a record have in common."""
        response = record.response
        question = response.fields.get("question_id") or response.question
        known = response.fields | {"model": response.model, "question": response.question}
        codes = self._records[record.source_id], self._models[response.model]
        if response.record_id != record.source_id:
            self._response_names[codes] = response.record_id
        self._columns["records"].extend(repeat(codes[0], rows))
        self._columns["models"].extend(repeat(codes[1], rows))
        self._columns["questions"].extend(repeat(self._questions[question], rows))
        for name, index in self._fields.items():
            code = int(index.encode([known.get(name)])[0])
            self._field_columns[name].extend(repeat(code, rows))

    def _claim_key(self, text: str | None, model: str | None) -> int:
        """What a claim says, where several models may say the same; 0 where that is not known."""
        key = claim_key(text) if text and model is not None else None
        if not key:
            return 0
        return self._texts[key] + 1 if self._keeps_texts else stable_hash(key)

    def _take_probability(self, verdict: Verdict, kind: str | None) -> None:
        """Keep a probability for the row that is appended next."""
        if verdict.unsupported_probability is not None:
            self._fill_probabilities()
            self._probabilities.append(verdict.unsupported_probability)
            self._kind_column.append(self._kinds[kind])

    def _fill_probabilities(self) -> None:
        """Say of the rows since the last probability that they have none."""
        missing = self._rows - len(self._probabilities)
        self._probabilities.extend(repeat(math.nan, missing))
        self._kind_column.extend(repeat(MISSING, missing))

    def _take_distributions(self, verdict: Verdict) -> None:
        if verdict.probabilities is not None or verdict.inference_samples:
            self._distributions.append(
                distributions_on(self._rows, verdict.probabilities, list(verdict.inference_samples))
            )


_MISSING = "budget_reached"
_MISSING_MESSAGE = "not judged: the budget was reached"
_TOKENS = SampleReader(None)
"""Reads what costs nothing."""


class AuditFiles(RunFiles):
    """The files of an audit while they are written, and the counts that go with them."""

    def __init__(self, folder: Path, judges: Sequence[str]) -> None:
        super().__init__(folder, (RECORDS, CLAIMS, VERDICTS))
        self._judges = judges
        self.failure_codes: Counter[str] = Counter()
        self.verdicts: Counter[str] = Counter()
        """By judge."""
        self.claims = self.unaligned = self.retryable = 0
        self.instructed = 0
        """Verdicts of a language model whose evidence gives it instructions, though they do not quote one."""

    def fail(self, failure: Failure) -> None:
        """Write a failure, and count it by its code."""
        self.failure_codes[failure.code] += 1
        super().fail(failure)

    def add(self, record: Prepared, judged: Sequence[Sequence[Judged]], *, line: bytes) -> list[Verdict | Failure]:
        """Write a record, its claims, and the verdicts on them by claim and judge; a claim nobody judged has failed.

        `line` is the response of the record, which may have lost its texts, as it is written.
        """
        by_judge = [_by_claim(parts) for parts in judged]
        said = [
            found.get(claim.claim_id) or failure_of(claim, judge, _MISSING, message=_MISSING_MESSAGE)
            for claim in record.claims
            for judge, found in zip(self._judges, by_judge, strict=True)
        ]
        self.write(record, said, line=line)
        return said

    def write(self, record: Prepared, said: Iterable[Verdict | Failure], *, line: bytes | None = None) -> None:
        """Write a record, its claims, and what was said of them."""
        self.write_line(RECORDS, record.response if line is None else line)
        if record.failure is not None:
            self.fail(record.failure)
        for claim in record.claims:
            self.write_line(CLAIMS, claim)
            self.claims += 1
            self.unaligned += claim.start is None
        for item in said:
            self._say(item)

    def _say(self, item: Verdict | Failure) -> None:
        if isinstance(item, Failure):
            self.fail(item)
            self.retryable += item.code in RETRYABLE_CODES
        else:
            self.verdicts[item.judge] += 1
            self.instructed += item.label is not Label.UNDECIDED and GIVES_INSTRUCTIONS in (item.note or "")
            self.write_line(VERDICTS, item)


def _by_claim(parts: Sequence[Judged]) -> dict[str | None, Verdict | Failure]:
    found: dict[str | None, Verdict | Failure] = {}
    for judged in parts:
        found |= {failure.claim_id: failure for failure in judged.failures}
        found |= {verdict.claim_id: verdict for verdict in judged.verdicts}
    return found


def write_files(
    folder: Path,
    journal: Journal,
    identity: AuditIdentity,
    *,
    report: ReadingReport,
    settings: AuditSettings,
    calibrated: Sequence[CalibratedJudge],
) -> FinishedRun:
    """Write everything but the manifest and the report; `calibrated` are the judges that say how they calibrate."""
    names = [judge.name for judge in identity.judges]
    table = VerdictTable(settings.measure, names)
    samples = SampleTable(settings.measure, identity.samples)
    read_again = Merged(journal.entries(SAMPLED))
    steps = [Merged(journal.entries(step_of(number))) for number in range(len(names))]
    with AuditFiles(folder, names) as files:
        for failure in decoded((entry.body for entry in journal.entries(FAULTS)), Failure):
            files.fail(failure)
        for number, record, said, kinds in _records(journal, steps, files, names=report.names):
            table.add(record, said, dict(zip(names, kinds, strict=True)))
            found = next(decoded(read_again.take(number), SampleReading), None)
            reading = found or _unread(record.response, identity.samples)
            if reading is not None:
                samples.add(record.response, reading)
        for failure in samples.failures:
            files.fail(failure)
    measured = count(table.build(calibrated), settings.measure)
    numbers = settings.measure.numbers(
        identity.hallumeter, (("extract", identity.extractor), *identity.evidence_settings)
    )
    counts = counts_of(measured, failures=files.failure_codes.total())
    partial = ClaimsPartial.of(
        measured,
        settings.measure,
        numbers,
        instrument=INSTRUMENT,
        counts=structs.replace(counts, verdicts=files.verdicts.total()),
        notices=_notice_counts(report, files, identity),
    )
    partial = structs.replace(partial, samples=samples.tally())
    summary = partial.summary()
    write_jsonl(folder / MEASUREMENTS, chain(record_measurements(measured), samples.measurements()))
    write_json(folder / SUMMARY, summary)
    keep_partial(folder, partial)
    return FinishedRun(summary=summary, failures=tuple(files.first_failures), retryable=files.retryable)


def _records(
    journal: Journal, steps: Sequence[Merged], files: AuditFiles, *, names: ResponseNames
) -> Iterator[tuple[int, Prepared, list[Verdict | Failure], list[str | None]]]:
    """Every record with its number, what was said of its claims, and the kind of text that it was to each judge."""
    prepared = Merged(journal.entries(PREPARED))
    for entry in journal.entries(READ):
        found = prepared.take(entry.record)
        record, line = textless_prepared(found[0]) if found else _unprepared(entry.body, names)
        judged = [tuple(decoded(step.take(entry.record), Judged)) for step in steps]
        kinds = [next((part.kind for part in parts if part.kind is not None), None) for parts in judged]
        yield entry.record, record, files.add(record, judged, line=line), kinds


def _unread(response: Response, equivalence: str | None) -> SampleReading | None:
    """A record whose samples nobody compared any more; None when nobody was to, and there is nothing else to read."""
    if equivalence is None or not response.samples:
        return _TOKENS.read(response) if _TOKENS.has_work(response) else None
    failure = Failure(response.record_id, None, "samples", None, _MISSING, "not compared: the budget was reached")
    reading = _TOKENS.read(response)
    return structs.replace(reading, samples=len(response.samples), failures=(*reading.failures, failure))


def _unprepared(body: bytes, names: ResponseNames) -> tuple[Prepared, bytes]:
    """A record whose claims nobody looked for any more, and its response as a line of JSON."""
    read = msgspec.json.decode(body, type=ReadRecord)
    response = names.named(read.response)
    failure = Failure(response.record_id, None, "extract", None, _MISSING, "no claims: the budget was reached")
    prepared = Prepared(response, (), read.response.record_id, failure, abstained_of(response))
    return prepared, msgspec.json.encode(response)


def _notice_counts(report: ReadingReport, files: AuditFiles, identity: AuditIdentity) -> NoticeCounts:
    """What a reader must know before reading the numbers."""
    return NoticeCounts(
        aliases=report.aliases,
        rows=report.notices,
        failures=files.failure_codes,
        verdicts=files.verdicts,
        records_left_out=report.records_left_out,
        rows_passed_over=report.rows_passed_over,
        records_without_evidence=report.records_without_evidence if identity.evidence is None else 0,
        unaligned=files.unaligned,
        instructed=files.instructed,
    )

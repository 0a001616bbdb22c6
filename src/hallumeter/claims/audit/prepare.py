"""From rows to records, and from records to their claims, their evidence and readings of their samples."""

from __future__ import annotations

import heapq
import random
from collections.abc import Mapping
from contextlib import closing
from itertools import chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Protocol

import msgspec
from msgspec import Struct, structs

from hallumeter.claims.extractors.protocol import Aligner, ExtractionFailure
from hallumeter.claims.measure.response_names import ResponseNames, names_of
from hallumeter.errors import InputError, RecordError, SettingsError
from hallumeter.formats.batch import Fault
from hallumeter.formats.records import looks_serialized, response_of, rows_of
from hallumeter.formats.shapes import check_map, fields_seen
from hallumeter.records.claim import Claim, Failure
from hallumeter.records.columns import stable_hash
from hallumeter.records.response import Response
from hallumeter.run.engines.local import map_in_order
from hallumeter.run.journal import entry_of
from hallumeter.run.lanes import Lane, run_lanes
from hallumeter.run.run_folder import is_part
from hallumeter.text.abstention import detect_abstention

from .entries import FAULTS, PREPARED, READ, SAMPLED, Prepared, ReadRecord, textless_response

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from threading import Event

    from hallumeter.claims.extractors.protocol import Extractor
    from hallumeter.claims.retrieval.search import KnowledgeBase
    from hallumeter.claims.samples import SampleReader, SampleReading
    from hallumeter.claims.settings import AuditSettings
    from hallumeter.formats.batch import Batch
    from hallumeter.records.response import Passage, Response
    from hallumeter.run.context import RunContext
    from hallumeter.run.journal import Entry, Journal


# From files, or from Python, to records in the journal.

_AT_A_TIME = 256
_BYTES_AT_A_TIME = 8 << 20
_Line = tuple[int, Fault | dict[str, object]]
UNPARSED = "evidence looks like a printed list or document, but cannot be read as one, so it was judged as it stands"
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
    notices: dict[str, int] = {}
    """What a reader must know of some rows, and of how many."""


class EntryKeeper(Protocol):
    """Who keeps what was read: a journal, or whoever needs none."""

    def add(self, rows: Iterable[Entry]) -> None:
        """Keep entries."""
        ...

    def note(self, name: str, value: bytes) -> None:
        """Keep a small fact under a name."""
        ...


def read_records(
    sources: Iterable[tuple[str, Iterator[Batch]]], journal: EntryKeeper, settings: AuditSettings, *, stop: Event
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
    check_map(settings.measure.map, report.fields)
    if not report.records and not is_part():
        names = ", ".join(report.records_by_source) or "the input"
        if not reader.has_response and report.fields:
            raise InputError(f"{names}: no row has a response; {fields_seen('response', report.fields)}")
        first = f"; the first fault: {reader.first_fault.message}" if reader.first_fault is not None else ""
        raise InputError(f"{names}: no usable record found{first}")
    check_fields(report, settings)
    journal.note(REPORT, msgspec.json.encode(report))
    return report


def check_fields(report: ReadingReport, settings: AuditSettings) -> None:
    """Refuse to group by a field that no record has, and to judge by evidence that stands under another name."""
    absent = [field for field in settings.measure.fields if field not in report.fields]
    if absent:
        raise SettingsError(f"no record has the field {absent[0]!r}; fields found: {', '.join(report.fields)}")
    if "evidence" not in report.fields and settings.knowledge_base is None and _needs_evidence(settings):
        seen = fields_seen("evidence", report.fields)
        raise InputError(f"no record has evidence; {seen}; or look it up with --evidence-dir")


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
        self._notices: dict[str, int] = {}
        self.has_response = False
        """Whether some row, usable or not, has a field for the response."""
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
        self.has_response |= "response" in batch.columns or any("response" in fault.message for fault in batch.faults)
        for notice, number in batch.notices.items():
            self._notices[notice] = self._notices.get(notice, 0) + number
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
            notices=self._notices,
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
        if looks_serialized([passage.text for passage in record.response.evidence]):
            self._notices[UNPARSED] = self._notices.get(UNPARSED, 0) + 1
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
    """Tells rows of one reading apart in little memory."""
    return stable_hash(value if isinstance(value, str) else msgspec.json.encode(value, enc_hook=str).decode())


_PREPARED_AT_A_TIME = 64
FEW = 50
"""Fewer records than this are not worth starting processes for."""


class Preparation(Struct, frozen=True):
    """How claims and their evidence are found."""

    extractor: Extractor
    names: ResponseNames = ResponseNames()
    knowledge_base: KnowledgeBase | None = None
    passages_per_claim: int = 5
    samples: SampleReader | None = None
    """Who reads samples at no cost; None leaves them for later."""
    is_strict: bool = False

    def prepared(self, item: tuple[int, bytes]) -> tuple[int, Prepared]:
        """One record with its claims; a record whose claims cannot be found keeps the reason instead."""
        number, body = item
        read = _DECODER.decode(body)
        response = self.names.named(read.response)
        claims, failure = self._claims_or_failure(read, response)
        return number, Prepared(response, claims, read.response.record_id, failure, abstained_of(response))

    def _claims_or_failure(self, read: ReadRecord, response: Response) -> tuple[tuple[Claim, ...], Failure | None]:
        try:
            return tuple(self._claims(read, response)), None
        except (ExtractionFailure, RecordError) as error:
            return (), self._failure(response, error)
        except Exception as error:
            # What a remote extractor raises ends the run, which can be resumed; one odd text does not.
            if self.is_strict or self.extractor.is_remote:
                raise
            return (), self._failure(response, error)

    def _claims(self, read: ReadRecord, response: Response) -> list[Claim]:
        if read.claims is not None:
            return claims_from(read.claims, response)
        return self.extractor.extract(response)

    def _failure(self, response: Response, error: Exception) -> Failure:
        code = getattr(error, "code", "impossible_claim" if isinstance(error, RecordError) else "extractor_error")
        return Failure(
            response.record_id, None, "extract", None, code, str(error), attempts=getattr(error, "attempts", 1)
        )

    def entries(self, records: Sequence[tuple[int, Prepared]]) -> Iterator[Entry]:
        """What the journal keeps of records: their claims, and what their samples tell while they are in memory."""
        for number, record in self.with_evidence(records):
            yield entry_of(PREPARED, number, record)
            if self.samples is not None and self.samples.has_work(record.response):
                yield entry_of(SAMPLED, number, self.samples.read(record.response))

    def with_evidence(self, records: Sequence[tuple[int, Prepared]]) -> Iterator[tuple[int, Prepared]]:
        """The records with what the knowledge base holds on their claims, beside the evidence they came with."""
        if self.knowledge_base is None:
            yield from records
            return
        queries = [claim.text or "" for _, record in records for claim in record.claims]
        found = iter(self.knowledge_base.search(queries, top=self.passages_per_claim) if queries else ())
        for number, record in records:
            own = record.response.evidence
            looked_up = [passage for _ in record.claims for passage in next(found)]
            evidence = (*own, *_others(looked_up, {passage.evidence_id for passage in own}))
            yield number, structs.replace(record, response=structs.replace(record.response, evidence=evidence))


def abstained_of(response: Response) -> bool | None:
    """Whether a response abstains, where it is known whether its question has an answer."""
    return None if response.answerable is None else detect_abstention(response.response or "").did_abstain


def _others(passages: Iterable[Passage], taken: Collection[str]) -> Iterable[Passage]:
    """The passages once each; one with the name of a passage that the record came with is given another."""
    others: dict[str, Passage] = {}
    for passage in passages:
        name = passage.evidence_id
        if name not in others:
            others[name] = structs.replace(passage, evidence_id=f"{name} (looked up)") if name in taken else passage
    return others.values()


_DECODER = msgspec.json.Decoder(ReadRecord)


def prepare_records(context: RunContext, preparation: Preparation, *, records: int, workers: int) -> bool:
    """Find the claims of every record that has none in the journal yet; False when it was stopped."""
    journal, stop, progress = context.journal, context.stop, context.progress
    done = journal.done(PREPARED)
    progress.begin("finding claims", total=records, done=len(done))
    items = ((entry.record, entry.body) for entry in journal.entries(READ) if (entry.record, 0) not in done)

    def keep(results: Sequence[tuple[int, Prepared]]) -> None:
        journal.add(list(preparation.entries(results)))  # made before the transaction begins
        for _, record in results:
            progress.done(1, failures=record.failure is not None)

    if preparation.extractor.is_remote:
        lane = Lane(name="extract", tasks=items, work=preparation.prepared, concurrency=workers)

        def keep_paid(results: Sequence[tuple[str, tuple[int, bytes], tuple[int, Prepared]]]) -> None:
            keep([result for _, _, result in results])
            context.note_spending()

        return run_lanes([lane], keep_paid, stop=stop)
    waiting: list[tuple[int, Prepared]] = []
    found = map_in_order(preparation.prepared, items, workers=workers if records >= FEW else 1)
    with closing(found) as results:
        for result in results:
            waiting.append(result)
            if len(waiting) >= _PREPARED_AT_A_TIME or stop.is_set():
                keep(waiting)
                waiting = []
            if stop.is_set():
                return False
    keep(waiting)
    return True


# Samples that were not read with the claims: they cost something, or nobody has paid for finding the claims.

_SAMPLES_AT_A_TIME = 32
_SampleTask = tuple[int, "Response"]


def read_samples(context: RunContext, reader: SampleReader, names: ResponseNames, *, concurrency: int) -> bool:
    """Read the samples of every record that has some and was not read before; False when it was stopped."""
    journal, stop, progress = context.journal, context.stop, context.progress
    progress.begin("comparing samples", total=0)
    tasks = _sample_tasks(journal, reader, names)

    def work(task: _SampleTask) -> SampleReading:
        return reader.read(task[1])

    def keep(results: Sequence[tuple[_SampleTask, SampleReading]]) -> None:
        journal.add([entry_of(SAMPLED, number, reading) for (number, _), reading in results])
        progress.done(len(results), failures=sum(bool(reading.failures) for _, reading in results))

    if reader.is_remote:
        lane = Lane(name=SAMPLED, tasks=tasks, work=work, concurrency=concurrency)

        def keep_paid(results: Sequence[tuple[str, _SampleTask, SampleReading]]) -> None:
            keep([(task, found) for _, task, found in results])
            context.note_spending()

        return run_lanes([lane], keep_paid, stop=stop)
    while part := list(islice(tasks, _SAMPLES_AT_A_TIME)):
        if stop.is_set():
            return False
        keep([(task, work(task)) for task in part])
    return True


def _sample_tasks(journal: Journal, reader: SampleReader, names: ResponseNames) -> Iterator[_SampleTask]:
    """Records as they were read: their samples can be compared although nobody has paid for finding their claims."""
    done = journal.done(SAMPLED)
    for entry in journal.entries(READ):
        response = None if (entry.record, 0) in done else textless_response(entry.body)
        if response is None or not reader.has_work(response):
            continue
        if reader.needs_text(response):
            response = _DECODER.decode(entry.body).response
        yield entry.record, names.named(response)


# Claims that came with the record instead of being extracted.

_FORM = "a text, or an object with `text` (or `claim`) and, if wanted, `claim_id`, `start` and `end`"


def claims_from(values: object, response: Response) -> list[Claim]:
    """Read the claims that a record holds, in the order given, and find each in the response.

    A place that is given is kept; else the words are looked for, and a claim that is not found has no place.

    Raises:
        RecordError: An entry is no claim, a place lies outside of the response, or an id is there twice.

    >>> response = Response("r1", response="Paris lies on the Seine.")
    >>> [claim] = claims_from([{"claim": "lies on the Seine", "claim_id": "c7"}], response)
    >>> claim.claim_id, claim.start, claim.end
    ('c7', 6, 23)
    """
    owner = f"record {response.record_id!r}"
    if not isinstance(values, list | tuple):
        raise RecordError(f"{owner}: claims are {_shown(values)}; expected a list, each entry {_FORM}")
    aligner = Aligner(response.response or "")
    claims: list[Claim] = []
    ids: set[str] = set()
    after = 0
    for number, value in enumerate(values):
        claim = _claim(value, response, place=f"{owner}: claim {number}", number=number)
        if claim.claim_id in ids:
            raise RecordError(
                f"{owner}: claim {number} has the id {claim.claim_id!r} of an earlier one; make it unique"
            )
        ids.add(claim.claim_id)
        if claim.start is None and (span := aligner.place_of(claim.text or "", after)) is not None:
            claim = Claim(claim.record_id, claim.claim_id, start=span[0], end=span[1], text=claim.text)
        after = after if claim.end is None else claim.end
        claims.append(claim)
    return claims


def _claim(value: object, response: Response, *, place: str, number: int) -> Claim:
    entry: Mapping[object, object]
    if isinstance(value, str):
        entry = {"text": value}
    elif isinstance(value, dict):
        entry = value
    else:
        raise RecordError(f"{place} is {_shown(value)}; expected {_FORM}")
    start, end = _span(entry, response.response, place)
    text = entry.get("text", entry.get("claim"))
    if text is None and start is not None and response.response is not None:
        text = response.response[start:end]
    if not isinstance(text, str) or not text.strip():
        raise RecordError(f"{place} has the text {_shown(text)}; expected {_FORM}")
    claim_id = entry.get("claim_id")
    if claim_id is None:
        claim_id = f"{response.record_id}#{number}"
    elif isinstance(claim_id, int) and not isinstance(claim_id, bool):
        claim_id = str(claim_id)
    if not isinstance(claim_id, str) or not claim_id:
        raise RecordError(f"{place} has the id {_shown(claim_id)}; expected a text or a whole number")
    return Claim(response.record_id, claim_id, start=start, end=end, text=text)


def _span(entry: Mapping[object, object], response: str | None, place: str) -> tuple[int | None, int | None]:
    start, end = entry.get("start"), entry.get("end")
    if start is None and end is None:
        return None, None
    if type(start) is not int or type(end) is not int:
        raise RecordError(
            f"{place} stands from {_shown(start)} to {_shown(end)}; expected two whole numbers, or neither"
        )
    length = None if response is None else len(response)
    if not 0 <= start < end or (length is not None and end > length):
        inside = "" if length is None else f" within the {length} characters of the response"
        raise RecordError(f"{place} stands from {start} to {end}; expected 0 <= start < end{inside}")
    return start, end


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."

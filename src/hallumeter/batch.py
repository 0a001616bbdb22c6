"""Audits and transcripts as functions of Arrow tables, for your own Ray Data, Spark or Daft job.

A batch is worked on alone: what comes out is what `hallumeter.audit` and `hallumeter.transcripts` find in these rows.
Rows that belong together (answers of several models under one id, engines that read one page) must be in one batch.
Needs pyarrow (extra ``parquet``).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING, Any

import msgspec

from hallumeter.claims.audit.entries import FAULTS, READ, Judged, Prepared
from hallumeter.claims.audit.inputs import RecordInputs
from hallumeter.claims.audit.judging import Job, JudgeWorker
from hallumeter.claims.audit.prepare import Preparation, ReadingReport, read_records
from hallumeter.claims.audit.setup import JudgeSetup, judge_setup
from hallumeter.claims.settings import AuditSettings
from hallumeter.errors import MissingExtraError, SettingsError
from hallumeter.records.claim import Claim, Failure, Verdict
from hallumeter.records.judging import JudgeTask
from hallumeter.run.journal import Entry, decoded
from hallumeter.run.progress import NoProgress
from hallumeter.run.run_folder import keeping_partials
from hallumeter.transcripts.inputs import opened_records
from hallumeter.transcripts.measuring import Task, measure_jobs
from hallumeter.transcripts.page import MeasuredPage
from hallumeter.transcripts.settings import TranscriptSettings

if TYPE_CHECKING:
    import pyarrow as pa

_ENCODER = msgspec.json.Encoder()
_TEXT, _WHOLE, _NUMBER, _TRUTH = "string", "int64", "float64", "bool"
AUDIT_COLUMNS = {
    "record_id": _TEXT,
    "claim_id": _TEXT,
    "text": _TEXT,
    "start": _WHOLE,
    "end": _WHOLE,
    "judge": _TEXT,
    "label": _TEXT,
    "unsupported_probability": _NUMBER,
    "claim": _TEXT,
    "verdict": _TEXT,
    "code": _TEXT,
    "message": _TEXT,
}
"""Columns of what `audit_batch` gives, with their Arrow types: one row for each claim and judge.

`claim` and `verdict` are the lines that a run keeps of them. A claim without a verdict has `code` and `message` of the
failure; a record without claims, or one that cannot be used, has one row without a claim.
"""
PAGE_COLUMNS = {
    "page": _TEXT,
    "engine": _TEXT,
    "status": _TEXT,
    "is_hallucinating": _TRUTH,
    "cer": _NUMBER,
    "wer": _NUMBER,
    "invented_rate": _NUMBER,
    "loop_rate": _NUMBER,
    "omission_rate": _NUMBER,
    "net_insertion_rate": _NUMBER,
    "anchor_score": _NUMBER,
    "length_ratio": _NUMBER,
    "reference_words": _WHOLE,
    "response_words": _WHOLE,
    "record": _TEXT,
    "claims": _TEXT,
    "verdicts": _TEXT,
    "code": _TEXT,
    "message": _TEXT,
}
"""Columns of what `transcript_batch` gives, with their Arrow types: one row for each page and engine.

`record`, `claims` and `verdicts` are the lines that a run keeps. A page that cannot be used has `code` and `message`.
"""


def audit_batch(table: pa.Table, settings: AuditSettings | None = None) -> pa.Table:
    """Check every claim of every response of a table against its evidence.

    Columns are named as the fields of `hallumeter.audit`: response, evidence and, if there are any, id, question,
    model. Judges are made once for each process.

    >>> import pyarrow as pa
    >>> rows = [{"id": "r1", "response": "The tower is 999 m high.", "evidence": "The tower is 330 m high."}]
    >>> audit_batch(pa.Table.from_pylist(rows))["label"].to_pylist()
    ['REFUTED']

    Raises:
        SettingsError: A setting holds for a whole run alone, such as a budget or a sample of the records.
    """
    chosen = settings or AuditSettings()
    for name in ("budget_usd", "limit", "sample", "samples"):
        if getattr(chosen, name) is not None:
            raise SettingsError(f"{name} holds for a whole run, not for a batch; use `hallumeter audit --engine`")
    return _table(_audited(table, chosen) if table.num_rows else (), AUDIT_COLUMNS)


def transcript_batch(table: pa.Table, settings: TranscriptSettings | None = None) -> pa.Table:
    """Compare what engines wrote with what is on the pages, for every row of a table.

    Columns are named as in `hallumeter.transcripts`: page, engine, reference, response.

    >>> import pyarrow as pa
    >>> rows = [{"page": "1", "engine": "e", "reference": "le roi", "response": "le roi de france et de navarre"}]
    >>> transcript_batch(pa.Table.from_pylist(rows))["invented_rate"].to_pylist()
    [0.7142857142857143]
    """
    return _table(_pages(table, settings or TranscriptSettings()) if table.num_rows else (), PAGE_COLUMNS)


def _table(rows: Iterable[dict[str, Any]], columns: dict[str, str]) -> pa.Table:
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtraError("parquet", "a batch") from None
    listed = list(rows)
    types = {_TEXT: pa.string(), _WHOLE: pa.int64(), _NUMBER: pa.float64(), _TRUTH: pa.bool_()}
    arrays = [pa.array([row.get(name) for row in listed], types[kind]) for name, kind in columns.items()]
    return pa.Table.from_arrays(arrays, names=list(columns))


# Answers.


class _Setups:
    """The judges of the settings that were used last: a worker calls with the same ones again and again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: tuple[AuditSettings, JudgeSetup] | None = None

    def made(self, settings: AuditSettings) -> JudgeSetup:
        with self._lock:
            if self._last is None or self._last[0] != settings:
                setup = judge_setup(settings, stop=threading.Event(), progress=NoProgress())
                self._last = settings, setup
            return self._last[1]


_SETUPS = _Setups()


class _Read:
    """What reading the rows of a batch has found."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def add(self, rows: Iterable[Entry]) -> None:
        self.entries.extend(rows)

    def note(self, name: str, value: bytes) -> None:
        """Nothing is resumed."""

    def bodies(self, step: str) -> list[bytes]:
        return [entry.body for entry in self.entries if entry.step == step]


def _audited(table: pa.Table, settings: AuditSettings) -> Iterator[dict[str, Any]]:
    read = _Read()
    sources = RecordInputs(table).sources(settings.measure.shape)
    with keeping_partials():  # a batch may hold no record at all
        report = read_records(sources, read, settings, stop=threading.Event())
    assert report is not None  # nobody has stopped it
    for failure in decoded(read.bodies(FAULTS), Failure):
        yield _failed(failure)
    setup = _SETUPS.made(settings)
    workers = setup.judge_workers(is_strict=settings.measure.is_strict)
    records = _prepared(setup, settings, report, bodies=read.bodies(READ))
    with ThreadPoolExecutor(settings.concurrency) as pool:
        for record, said in zip(records, _judged(records, workers, pool), strict=True):
            yield from _rows(record, workers, said)


def _prepared(
    setup: JudgeSetup, settings: AuditSettings, report: ReadingReport, *, bodies: list[bytes]
) -> list[Prepared]:
    preparation = Preparation(
        setup.extractor,
        report.names,
        knowledge_base=setup.knowledge_base,
        passages_per_claim=settings.passages_per_claim,
        is_strict=settings.measure.is_strict,
    )
    found = [preparation.prepared((number, body)) for number, body in enumerate(bodies)]
    return [record for _, record in preparation.with_evidence(found)]


def _judged(
    records: list[Prepared], workers: tuple[JudgeWorker, ...], pool: ThreadPoolExecutor
) -> Iterator[list[list[Judged]]]:
    """What every judge says of every record; judges elsewhere are asked about several records at once."""
    jobs = [[list(_jobs(number, record, worker)) for worker in workers] for number, record in enumerate(records)]
    asked = {
        (number, worker.number): [pool.submit(worker.judged, job) for job in jobs[number][worker.number]]
        for worker in workers
        if worker.judge.spec.is_remote
        for number in range(len(records))
    }
    for number in range(len(records)):
        yield [
            [future.result() for future in asked[number, worker.number]]
            if (number, worker.number) in asked
            else [worker.judged(job) for job in jobs[number][worker.number]]
            for worker in workers
        ]


def _jobs(number: int, record: Prepared, worker: JudgeWorker) -> Iterator[Job]:
    size = worker.judge.spec.claims_per_task or max(1, len(record.claims))
    for part, first in enumerate(range(0, len(record.claims), size)):
        task = JudgeTask(record.response, record.claims[first : first + size])
        yield Job(number, part, task, judge=worker.number)


def _rows(record: Prepared, workers: tuple[JudgeWorker, ...], said: list[list[Judged]]) -> Iterator[dict[str, Any]]:
    if record.failure is not None:
        yield _failed(record.failure)
    elif not record.claims:
        yield {"record_id": record.response.record_id}
    for worker, parts in zip(workers, said, strict=True):
        found: dict[str | None, Verdict | Failure] = {}
        for part in parts:
            found.update((verdict.claim_id, verdict) for verdict in part.verdicts)
            found.update((failure.claim_id, failure) for failure in part.failures)
        for claim in record.claims:
            item = found[claim.claim_id]
            if isinstance(item, Failure):
                yield _of_claim(claim) | {"judge": worker.judge.spec.name, "code": item.code, "message": item.message}
            else:
                yield _of_claim(claim) | {
                    "judge": item.judge,
                    "label": item.label.value,
                    "unsupported_probability": item.unsupported_probability,
                    "verdict": _ENCODER.encode(item).decode(),
                }


def _of_claim(claim: Claim) -> dict[str, Any]:
    return {
        "record_id": claim.record_id,
        "claim_id": claim.claim_id,
        "text": claim.text,
        "start": claim.start,
        "end": claim.end,
        "claim": _ENCODER.encode(claim).decode(),
    }


def _failed(failure: Failure) -> dict[str, Any]:
    return {"record_id": failure.record_id, "code": failure.code, "message": failure.message}


# Pages.


def _pages(table: pa.Table, settings: TranscriptSettings) -> Iterator[dict[str, Any]]:
    with opened_records(table.to_pylist(), columns=settings.columns) as jobs:
        task = Task(
            settings=settings,
            reference_name=jobs.reference_name,
            is_kept=True,
            has_one_engine=len(jobs.engines) == 1,
        )
        with closing(jobs.pages), closing(measure_jobs(jobs.pages, task)) as measured:
            for job in measured:
                yield from map(_of_page, job.pages)
                yield from map(_failed_page, job.failures)
        yield from map(_failed_page, jobs.failures)


def _of_page(page: MeasuredPage) -> dict[str, Any]:
    assert page.lines is not None  # they were asked for
    lines = {
        "record": page.lines.record.decode(),
        "claims": page.lines.claims.decode(),
        "verdicts": page.lines.verdicts.decode(),
    }
    return msgspec.structs.asdict(page.row) | lines


def _failed_page(failure: Failure) -> dict[str, Any]:
    return {"page": failure.record_id, "code": failure.code, "message": failure.message}

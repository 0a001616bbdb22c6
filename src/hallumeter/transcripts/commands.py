"""Measure transcripts: from paths or from Python, with or without a run folder."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import IO

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from hallumeter.errors import InputError, RecordError, SettingsError
from hallumeter.formats.jsonl import write_jsonl
from hallumeter.records.claim import Failure
from hallumeter.records.columns import stable_hash
from hallumeter.records.manifest import MANIFEST_VERSION, InputFile, JudgeEntry, Manifest
from hallumeter.records.measurement import Counts, Measurement, Summary
from hallumeter.records.metric import Metric
from hallumeter.records.page import InventedWord, WorstLine
from hallumeter.records.rate import Rate, Rates
from hallumeter.run import run_folder
from hallumeter.run.digests import write_manifest
from hallumeter.run.finished import Run, load, written_run
from hallumeter.run.identity import ended
from hallumeter.run.inputs import only_paths
from hallumeter.run.run_folder import is_part
from hallumeter.stats.summarize import SummarySettings

from .catalog import ANCHORING_METRICS, READING_METRICS
from .example_tables import (
    INVENTED,
    LINES,
    MISREAD,
    InventedWords,
    MisreadWord,
    MisreadWords,
    WorstLines,
    write_table,
)
from .inputs import WITNESS, Given, Jobs, opened_paths, opened_records
from .measuring import (
    ENGINE,
    PAGE,
    AnchoredShare,
    MeasuredJob,
    Task,
    anchor_jobs,
    group_of,
    grouped_by,
    measure_jobs,
)
from .pages_table import PAGES, StoredRows, write_pages
from .partial import (
    INSTRUMENT,
    PageGroup,
    TranscriptNotices,
    TranscriptsPartial,
    in_order,
    metrics_of,
    settings_of_numbers,
    values_by_page,
)
from .records import ALIGNMENT, CollectedCounts, MeasuredPage, PageColumns, record_name
from .settings import TranscriptSettings


class Corpus:
    """Collects what was counted on every page."""

    def __init__(self, settings: TranscriptSettings, *, has_one_engine: bool) -> None:
        self._by = grouped_by(settings)
        self.fields: dict[str, None] = {}
        """What pages can be grouped by."""
        self._has_one_engine = has_one_engine
        self._counts = CollectedCounts()
        self._pages = array("i")
        self._groups: dict[tuple[str, ...], int] = {}
        self._group_of = array("i")
        self._hashes = array("q")
        """Of the names of all pages."""
        self.rows = StoredRows()

    def add(self, name: str, pages: tuple[MeasuredPage, ...]) -> None:
        """Take the readings of one page by all engines."""
        for page in pages:
            known = {**page.fields, PAGE: page.row.page, ENGINE: page.row.engine}
            self.fields.update(dict.fromkeys(known))
            self._counts.add(page.counts)
            self._pages.append(len(self._hashes))
            group = group_of(known, self._by)
            self._group_of.append(self._groups.setdefault(group, len(self._groups)))
            self.rows.add(page.row)
        self._hashes.append(stable_hash(name))

    def add_share(self, share: AnchoredShare) -> None:
        """Take the readings of some pages by all engines, as columns."""
        self.fields.update(share.fields)
        readings = len(share.pages)
        self._counts.add_columns(share.counts, readings)
        self._pages.frombytes((share.pages + len(self._hashes)).astype(self._pages.typecode).tobytes())
        numbers = [self._groups.setdefault(group, len(self._groups)) for group in share.groups]
        self._group_of.frombytes(np.array(numbers, self._group_of.typecode)[share.group_of].tobytes())
        self.rows.add_encoded(share.rows, readings)
        self._hashes.frombytes(share.hashes.astype(self._hashes.typecode).tobytes())

    def columns(self) -> PageColumns:
        """The counts of all pages and engines, in the order in which they came."""
        return self._counts.columns()

    def record_ids(self) -> Iterator[str]:
        """What every page and engine is called in the run's files."""
        for row in self.rows:
            yield record_name(row.page, row.engine, has_one_engine=self._has_one_engine)

    def groups(self, metrics: Sequence[Metric], engines: Sequence[str]) -> tuple[PageGroup, ...]:
        """The whole, then every engine, then every engine and group."""
        columns = self.columns()
        pages, group_of = np.array(self._pages, dtype=np.intp), np.array(self._group_of, dtype=np.intp)
        hashes = np.array(self._hashes, dtype=np.int64)

        def added_up(chosen: NDArray[np.intp] | None) -> PageGroup:
            # Numbered from 0: a page that has no reading here must not be drawn when pages are resampled.
            read, numbered = np.unique(pages if chosen is None else pages[chosen], return_inverse=True)
            some = columns if chosen is None else columns[chosen]
            return PageGroup.of(some, numbered.astype(np.intp), hashes=hashes[read], metrics=metrics)

        found = [added_up(None)]
        for depth in sorted({1, len(self._by)}):
            keys: dict[tuple[str, ...], int] = {}
            shorter = np.array([keys.setdefault(group[:depth], len(keys)) for group in self._groups], dtype=np.intp)
            for key, number in keys.items():
                chosen = np.flatnonzero(shorter[group_of] == number)
                group = found[0] if len(chosen) == len(pages) else added_up(chosen)
                found.append(structs.replace(group, values=key))
        return in_order(found, engines)


# Every metric on every page, as lines of `measurements.jsonl`.

_OF_A_PAGE = tuple(
    metric
    for metric in (*READING_METRICS, *ANCHORING_METRICS)
    if metric.is_poolable and not metric.id.endswith("_mean")
)
"""Metrics that are rates of a single page; its mean would be the same number again."""


_PAGES_AT_ONCE = 1_024


def page_measurements(corpus: Corpus, *, is_aligned: bool) -> Iterator[Measurement]:
    """One measurement per page, engine and metric; a rate without anything to count says why it has no value."""
    columns = corpus.columns()
    metrics = _OF_A_PAGE if is_aligned else tuple(metric for metric in _OF_A_PAGE if metric in ANCHORING_METRICS)
    record_ids = corpus.record_ids()
    for first in range(0, len(columns), _PAGES_AT_ONCE):
        some = columns[first : first + _PAGES_AT_ONCE]
        found: list[tuple[str, str, Rates]] = [
            (metric.id, metric.undefined_when, metric.compute(some)) for metric in metrics
        ]
        for place, record_id in enumerate(islice(record_ids, len(some))):
            for metric, undefined_when, rates in found:
                rate = Rate(float(rates.counts[place]), float(rates.totals[place]))
                undefined = None if rate.total else undefined_when
                yield Measurement(metric, "record", record_id, {}, None, rate.count, rate.total, rate.value, undefined)


# Pages in, a summary out.


class MeasuredTranscripts(Struct, frozen=True, eq=False):
    """A summary, and what it was made from."""

    summary: Summary
    partial: TranscriptsPartial
    rows: StoredRows
    """Every page of every engine."""
    failures: tuple[Failure, ...]
    inputs: tuple[InputFile, ...]
    corpus: Corpus
    settings: TranscriptSettings
    worst_lines: WorstLines


def measure_transcripts(
    jobs: Jobs,
    settings: TranscriptSettings,
    *,
    progress: Callable[[int, int], None] | None = None,
    keep: Callable[[MeasuredPage], None] | None = None,
) -> MeasuredTranscripts:
    """Measure all pages; `progress` is told how many of how many are done, `keep` takes each page as it comes."""
    task = Task(
        settings=settings,
        reference_name=jobs.reference_name,
        is_kept=keep is not None,
        has_one_engine=len(jobs.engines) == 1,
    )
    collected = _Collected(jobs, settings)
    if keep is None and settings.measures == "anchoring":
        _collect_anchored(jobs, task, collected, progress=progress)
        return collected.measured()
    take = keep or _leave
    # Closed here and not when they are collected as garbage: by then the database behind the pages is gone.
    with closing(jobs.pages), closing(measure_jobs(jobs.pages, task)) as measured:
        for done, job in enumerate(measured, 1):
            collected.add(job)
            for page in job.pages:
                take(page)
            if progress is not None:
                progress(done, jobs.count)
    return collected.measured()


def _collect_anchored(
    jobs: Jobs, task: Task, collected: _Collected, *, progress: Callable[[int, int], None] | None
) -> None:
    """Measure pages without an alignment, whose findings nobody keeps, as columns."""
    done = 0
    with closing(jobs.pages), closing(anchor_jobs(jobs.pages, task)) as anchored:
        for share in anchored:
            collected.add_share(share)
            done += share.jobs
            if progress is not None:
                progress(done, jobs.count)


def _leave(_: MeasuredPage) -> None:
    """Nobody keeps the findings."""


class _Collected:
    """What is gathered while the pages come in."""

    def __init__(self, jobs: Jobs, settings: TranscriptSettings) -> None:
        self._jobs = jobs
        self._settings = settings
        self._corpus = Corpus(settings, has_one_engine=len(jobs.engines) == 1)
        self._statuses: Counter[str] = Counter()
        self._bounded = 0
        self._failures: list[Failure] = []
        self._notices: Counter[str] = Counter()
        self._first_files: dict[str, str] = {}
        self._other_forms = 0
        self._undecided: Counter[str] = Counter()
        self._digests = InputDigests(jobs)
        self._findings = 0
        self._worst_lines = WorstLines(jobs.engines)
        self._refuse_if_strict(jobs.failures)

    def add_share(self, share: AnchoredShare) -> None:
        """Take some pages that were not aligned."""
        for job in share.told:
            self._add_told(job)
        self._corpus.add_share(share)
        self._statuses.update(share.statuses)

    def add(self, job: MeasuredJob) -> None:
        """Take one page with all its readings."""
        self._add_told(job)
        self._corpus.add(job.page, job.pages)
        for page in job.pages:
            self._statuses[page.row.status] += 1
            self._bounded += page.row.is_exact is False
            self._undecided.update([page.undecided] if page.undecided else [])
            self._findings += page.findings
            self._worst_lines.add(page.row.engine, page.row.page, page.worst_lines)

    def _add_told(self, job: MeasuredJob) -> None:
        self._refuse_if_strict(job.failures)
        self._failures.extend(job.failures)
        for notice in job.notices:
            self._notices[notice.message] += 1
            first = self._first_files.get(notice.message, notice.path)
            self._first_files[notice.message] = min(first, notice.path)
        self._other_forms += job.other_forms
        self._digests.add(job.page, job.digests)

    def measured(self) -> MeasuredTranscripts:
        """Everything, pooled."""
        failures = (*self._jobs.failures, *self._failures)
        self._refuse_if_strict(failures)
        rows = self._corpus.rows
        if not len(rows) and not is_part():
            first = f"; the first fault: {failures[0].message}" if failures else ""
            raise InputError(f"no page could be measured{first}")
        settings, engines = self._settings, self._jobs.engines
        if not is_part():
            check_fields(settings, self._corpus.fields)
        is_ranked = self._jobs.witness is None and (len(engines) > 1 or is_part())
        partial = TranscriptsPartial(
            settings=settings_of_numbers(settings),
            numbers=SummarySettings(
                version=version("hallumeter"),
                seed=settings.seed,
                resamples=settings.resamples,
                confidence=settings.confidence,
            ),
            witness=self._jobs.witness,
            engines=engines,
            counts=Counts(
                records=len(rows),
                claims=self._findings,
                verdicts=self._findings,
                failures=len(failures),
                judges=1,
                models=len(engines),
            ),
            groups=self._corpus.groups(metrics_of(settings), engines),
            ranked=values_by_page(rows, settings.ranking_metric, engines) if is_ranked else b"",
            notices=self._notice_counts(),
        )
        return MeasuredTranscripts(
            partial.summary(), partial, rows, failures, self._digests.inputs, self._corpus, settings, self._worst_lines
        )

    def _notice_counts(self) -> TranscriptNotices:
        counted = TranscriptNotices(
            self._statuses,
            self._bounded,
            self._undecided,
            self._other_forms,
            {notice: (files, self._first_files[notice]) for notice, files in self._notices.items()},
            tuple(self._jobs.notices),
        )
        return TranscriptNotices().merge(counted)

    def _refuse_if_strict(self, failures: tuple[Failure, ...] | list[Failure]) -> None:
        if self._settings.is_strict and failures:
            raise RecordError(failures[0].message)


class InputDigests:
    """The digests of inputs that are many files: of the texts of all pages, in their order."""

    def __init__(self, jobs: Jobs) -> None:
        self._inputs = jobs.inputs
        self._names = ("", *jobs.engines)
        self._digests = [hashlib.sha256() for _ in jobs.inputs]
        self._has_digests = False

    def add(self, page: str, digests: Mapping[str, str]) -> None:
        """Take the digests of the texts of a page, by engine; that of the reference is under the empty name."""
        for place, name in enumerate(self._names):
            if name in digests:
                self._has_digests = True
                self._digests[place].update(f"{page}\0{digests[name]}\0".encode("utf-8", "replace"))

    @property
    def inputs(self) -> tuple[InputFile, ...]:
        """The inputs as far as they have been read."""
        if not self._has_digests:
            return self._inputs
        pairs = zip(self._inputs, self._digests, strict=True)
        return tuple(InputFile(file.name, digest.hexdigest(), file.records) for file, digest in pairs)


def check_fields(settings: TranscriptSettings, fields: Iterable[str]) -> None:
    """Refuse to group pages by a field that none of them has."""
    known = sorted(fields)
    absent = [field for field in settings.by if field not in known]
    if absent:
        raise SettingsError(f"no page has the field {absent[0]!r}; fields found: {', '.join(known)}")


# The files of a transcripts run, page by page as they are measured.


class RunWriter:
    """Writes records, claims and verdicts in the order of the pages; the rest when all are measured."""

    def __init__(self, folder: Path, engines: Sequence[str]) -> None:
        self._folder = folder
        self._files = ExitStack()
        self._misread, self._invented = MisreadWords(), InventedWords(engines)
        self._records, self._claims, self._verdicts = (
            self._open(name) for name in (run_folder.RECORDS, run_folder.CLAIMS, run_folder.VERDICTS)
        )

    def _open(self, name: str) -> IO[bytes]:
        return self._files.enter_context((self._folder / name).open("wb"))

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()

    def add(self, page: MeasuredPage) -> None:
        """Write what was found on a page."""
        if page.lines is not None:
            self._records.write(page.lines.record)
            self._claims.write(page.lines.claims)
            self._verdicts.write(page.lines.verdicts)
        self._misread.add(page.row.engine, page.row.page, page.misread)
        self._invented.add(page.row.engine, page.row.page, page.invented)

    def finish(self, measured: MeasuredTranscripts) -> None:
        """Write what is known only at the end."""
        write_jsonl(self._folder / run_folder.FAILURES, measured.failures)
        is_aligned = measured.settings.measures == "all"
        write_jsonl(self._folder / run_folder.MEASUREMENTS, page_measurements(measured.corpus, is_aligned=is_aligned))
        run_folder.write_json(self._folder / run_folder.SUMMARY, measured.summary)
        run_folder.keep_partial(self._folder, measured.partial)
        write_pages(self._folder / PAGES, measured.rows)
        write_table(self._folder / MISREAD, MisreadWord, self._misread)
        write_table(self._folder / LINES, WorstLine, measured.worst_lines)
        write_table(self._folder / INVENTED, InventedWord, self._invented)


def transcripts(
    given: str | Path | Sequence[str | Path] | Iterable[Given],
    *,
    settings: TranscriptSettings | None = None,
    out: str | Path | None = None,
) -> Run:
    """Compare what engines wrote with what is on the pages, and keep everything in a run.

    Give paths (the ground truth, then each engine; or one table), or transcripts in Python. Without `out` the run
    lives in a temporary folder, for as long as it is used.

    >>> run = transcripts([("le roi de france", "le roi de france et de navarre et des indes")])
    >>> [finding.claim.text for finding in run.findings() if finding.claim.kind == "block"]
    ['et de navarre et des indes']
    """
    chosen = settings or TranscriptSettings()
    return written_run(out, lambda place: transcripts_to_folder(_opened(given, chosen), place, settings=chosen))


def transcripts_of_jobs(
    jobs: AbstractContextManager[Jobs],
    *,
    settings: TranscriptSettings,
    progress: Callable[[int, int], None] | None = None,
) -> MeasuredTranscripts:
    """Measure pages without keeping their findings."""
    with jobs as opened:
        return measure_transcripts(opened, settings, progress=progress)


def transcripts_to_folder(
    jobs: AbstractContextManager[Jobs],
    out: Path,
    *,
    settings: TranscriptSettings,
    progress: Callable[[int, int], None] | None = None,
) -> MeasuredTranscripts:
    """Measure pages and keep everything in a run folder with its report."""
    with run_folder.new_run_folder(out) as folder, jobs as opened:
        measured = write_transcripts(opened, folder, settings=settings, progress=progress)
        load(folder, verify=False).to_html(folder / run_folder.REPORT)
    return measured


def write_transcripts(
    jobs: Jobs,
    folder: Path,
    *,
    settings: TranscriptSettings,
    progress: Callable[[int, int], None] | None = None,
) -> MeasuredTranscripts:
    """Measure pages and write everything but the report into an empty folder."""
    started = datetime.now(UTC)
    # At once, before a table that was just read can change.
    jobs.inputs = with_digests(jobs.inputs, jobs.tables)
    with RunWriter(folder, jobs.engines) as writer:
        measured = measure_transcripts(jobs, settings, progress=progress, keep=writer.add)
    writer.finish(measured)
    write_manifest(folder, _manifest(measured, jobs, settings=settings, started=started))
    return measured


def _opened(
    given: str | Path | Sequence[str | Path] | Iterable[Given], settings: TranscriptSettings
) -> AbstractContextManager[Jobs]:
    if isinstance(given, str | Path):
        return opened_paths([Path(given)], columns=settings.columns)
    items = list(given)
    if not items:
        raise RecordError("transcripts: nothing given; expected paths, or transcripts")
    paths = only_paths(items, "transcripts: paths and transcripts are mixed; give one kind")
    if paths:
        return opened_paths(paths, columns=settings.columns, pair_by=settings.pair_by)
    return opened_records([item for item in items if not isinstance(item, str | Path)], columns=settings.columns)


def _manifest(
    measured: MeasuredTranscripts, jobs: Jobs, *, settings: TranscriptSettings, started: datetime
) -> Manifest:
    judge = JudgeEntry(ALIGNMENT, f"spelling {settings.spelling}")
    if jobs.witness is not None:
        judge = JudgeEntry(WITNESS, jobs.witness)
    return Manifest(
        version=MANIFEST_VERSION,
        hallumeter=version("hallumeter"),
        instrument=INSTRUMENT,
        inputs=measured.inputs,
        settings={
            "spelling": str(settings.spelling),
            "measures": settings.measures,
            "count_notes": settings.count_notes,
            "page_level": settings.level,
            "pair_by": Path(settings.pair_by).name,
            "columns": [f"{name}={column}" for name, column in structs.asdict(settings.columns).items() if column],
            "by": list(settings.by),
            "rank_by": settings.ranking_metric,
            "witness": jobs.witness,
            **{f"picarones_{name}": value for name, value in structs.asdict(settings.anchoring).items()},
            **{f"badge_{name}": value for name, value in structs.asdict(settings.pages).items()},
            **{f"witness_{name}": value for name, value in structs.asdict(settings.witness).items()},
            "witness_confidence": settings.witness_confidence,
            "resamples": settings.resamples,
            "confidence": settings.confidence,
        },
        judges=(judge,),
        seed=settings.seed,
        started=started.isoformat(timespec="seconds"),
        finished=ended(started).isoformat(timespec="seconds"),
    )


def with_digests(inputs: tuple[InputFile, ...], tables: tuple[Path, ...]) -> tuple[InputFile, ...]:
    """The inputs with the digests of the tables that they were read from; folders have theirs already."""
    found = []
    for file, path in zip(inputs, tables, strict=False):
        with path.open("rb") as stream:
            found.append(structs.replace(file, sha256=hashlib.file_digest(stream, "sha256").hexdigest()))
    return (*found, *inputs[len(tables) :])

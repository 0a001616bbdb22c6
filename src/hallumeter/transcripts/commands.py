"""Measure transcripts: from paths or from Python, with or without a run folder."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
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
from hallumeter.records.manifest import MANIFEST_VERSION, InputFile, JudgeEntry, Manifest
from hallumeter.records.measurement import SUMMARY_VERSION, Counts, Measurement, MetricSummary, Summary
from hallumeter.records.metric import Metric
from hallumeter.records.page import InventedWord, PageRow, WorstLine
from hallumeter.records.ranking import Direction, Ranking
from hallumeter.records.rate import Rate, Rates
from hallumeter.run import run_folder
from hallumeter.run.digests import write_manifest
from hallumeter.run.finished import Run, load, written_run
from hallumeter.run.identity import ended
from hallumeter.run.inputs import only_paths
from hallumeter.run.ranking import ranking_of
from hallumeter.stats.summarize import Slice, SummarySettings, summarize_pages, summarize_rates, summarize_value

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
from .records import ALIGNMENT, CollectedCounts, MeasuredPage, PageColumns, record_name
from .settings import TranscriptSettings

_BADGE_RATE = "hallucinating_page_rate"
"""The only metric that a page without a badge takes no part in."""
_OF_INVENTED = ("invented_rate", "loop_rate", "number_insertion_rate", "name_insertion_rate")
"""Metrics that depend on whether remarks about the page count."""


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
        self._page_count = 0
        self.rows = StoredRows()

    def add(self, pages: tuple[MeasuredPage, ...]) -> None:
        """Take the readings of one page by all engines."""
        for page in pages:
            known = {**page.fields, PAGE: page.row.page, ENGINE: page.row.engine}
            self.fields.update(dict.fromkeys(known))
            self._counts.add(page.counts)
            self._pages.append(self._page_count)
            group = group_of(known, self._by)
            self._group_of.append(self._groups.setdefault(group, len(self._groups)))
            self.rows.add(page.row)
        self._page_count += 1

    def add_share(self, share: AnchoredShare) -> None:
        """Take the readings of some pages by all engines, as columns."""
        self.fields.update(share.fields)
        readings = len(share.pages)
        self._counts.add_columns(share.counts, readings)
        self._pages.frombytes((share.pages + self._page_count).astype(self._pages.typecode).tobytes())
        numbers = [self._groups.setdefault(group, len(self._groups)) for group in share.groups]
        self._group_of.frombytes(np.array(numbers, self._group_of.typecode)[share.group_of].tobytes())
        self.rows.add_encoded(share.rows, readings)
        self._page_count += share.jobs

    def columns(self) -> PageColumns:
        """The counts of all pages and engines, in the order in which they came."""
        return self._counts.columns()

    def record_ids(self) -> Iterator[str]:
        """What every page and engine is called in the run's files."""
        for row in self.rows:
            yield record_name(row.page, row.engine, has_one_engine=self._has_one_engine)

    def parts(self) -> Iterator[_Part]:
        """The whole, then every engine, then every engine and group."""
        columns = self.columns()
        pages, group_of = np.array(self._pages, dtype=np.intp), np.array(self._group_of, dtype=np.intp)
        yield _Part({}, columns, _numbered(pages), is_whole=True)
        for depth in sorted({1, len(self._by)}):
            keys: dict[tuple[str, ...], int] = {}
            shorter = np.array([keys.setdefault(group[:depth], len(keys)) for group in self._groups], dtype=np.intp)
            for key, number in keys.items():
                by = dict(zip(self._by, key, strict=False))
                chosen = np.flatnonzero(shorter[group_of] == number)
                if len(chosen) == len(pages):
                    yield _Part(by, columns, pages, is_whole=True)
                else:
                    yield _Part(by, columns[chosen], _numbered(pages[chosen]))


class _Part(Struct, frozen=True, eq=False):
    """Some of the readings, and which page each is of, pages numbered without a gap."""

    by: dict[str, str]
    columns: PageColumns
    pages: NDArray[np.intp]
    is_whole: bool = False
    """Whether these are all readings."""

    @property
    def is_shared(self) -> bool:
        """Whether several engines read a page: they meet the same ink, so it is one unit of resampling."""
        return len(self.pages) > int(self.pages.max(initial=-1)) + 1


def summary_rows(
    corpus: Corpus, settings: TranscriptSettings, numbers: SummarySettings, *, witness: str | None
) -> Iterator[MetricSummary]:
    """Every metric for the whole and for every engine."""
    named = [("spelling", str(settings.spelling))]
    if settings.level != "line":
        # Which text of PAGE XML counts changes every number.
        named.append(("page-level", settings.level))
    if witness is not None:
        named.append(("witness", witness))
    metrics = (*READING_METRICS, *ANCHORING_METRICS) if settings.measures == "all" else ANCHORING_METRICS
    whole: list[MetricSummary] = []
    for part in corpus.parts():
        if whole and part.is_whole:
            # The only engine, or the only group: the numbers of all pages are its own.
            yield from (structs.replace(row, by=part.by) for row in whole)
            continue
        rows = []
        for metric in metrics:
            own = _own_settings(metric, settings, has_witness=witness is not None)
            undecided = _undecided(part.columns) if metric.id == _BADGE_RATE else 0
            slice_ = Slice(by=part.by, judge=None, settings=(*named, *own), undecided=undecided)
            rows.append(_row(metric, part, slice_, numbers=numbers))
        whole = whole or rows
        yield from rows


def _row(metric: Metric, part: _Part, slice_: Slice, *, numbers: SummarySettings) -> MetricSummary:
    numbers = structs.replace(numbers, cluster="page") if part.is_shared else numbers
    if metric.resample is not None:
        return summarize_pages(metric, _by_page(part), slice_, settings=numbers)
    found = metric.compute(part.columns)
    if isinstance(found, Rates):
        pooled = found.pooled_by(part.pages) if part.is_shared else found
        bounds = _bounds(found.pooled, undecided=slice_.undecided)
        return summarize_rates(metric, pooled, slice_, settings=numbers, bounds=bounds)
    return summarize_value(metric, found, slice_, settings=numbers)


def _by_page(part: _Part) -> PageColumns:
    """Counts added up over the engines of each page."""
    counted = {name: column for name, column in part.columns.columns.items() if np.isfinite(column).all()}
    if not part.is_shared:
        return PageColumns(counted)
    sums = {name: np.bincount(part.pages, column).astype(np.float64) for name, column in counted.items()}
    return PageColumns(sums)


def _bounds(rate: Rate, *, undecided: int) -> tuple[float, float] | None:
    """The rate if none of the undecided pages were hallucinated, and if all were; None without such pages."""
    if not undecided:
        return None
    pages = rate.total + undecided
    return rate.count / pages, (rate.count + undecided) / pages


def _undecided(columns: PageColumns) -> int:
    """Pages with output whose badge could not be given."""
    is_apart = (columns.column("is_empty_output") > 0) | (columns.column("is_refused") > 0)
    return int(((columns.column("is_decided") == 0) & ~is_apart).sum())


def _own_settings(metric: Metric, settings: TranscriptSettings, *, has_witness: bool) -> tuple[tuple[str, str], ...]:
    """What the numbers of a metric depend on beside the texts and how they are spelled."""
    anchoring, pages = settings.anchoring, settings.pages
    notes = (("notes", "counted" if settings.count_notes else "apart"),)
    if metric.id in _OF_INVENTED:
        return notes
    if metric.id == _BADGE_RATE:
        own = [("badge", f"{pages.fewest_words}-words-{pages.smallest_share:g}-or-whole")]
        asked, given = settings.witness, settings.witness_confidence
        if has_witness:
            trust = f"{asked.fewest_words}-words-{asked.lowest_confidence:g}-{asked.smallest_share:g}"
            own.append(("trust", f"{trust}-{asked.fewest_copies}-copies"))
        if has_witness and given is not None:
            own.append(("witness-confidence", f"{given:g}"))
        return (*own, *notes)
    if metric.id == "picarones_page_rate":
        return (("badge", f"n{anchoring.ngram}-{anchoring.anchor_limit:g}-{anchoring.length_ratio_limit:g}"),)
    if metric.id.startswith("anchor"):
        return (("n", str(anchoring.ngram)),)
    return ()


def _numbered(pages: NDArray[np.intp]) -> NDArray[np.intp]:
    """Pages numbered from 0: a page that has no reading here must not be drawn when pages are resampled."""
    return np.unique(pages, return_inverse=True)[1].astype(np.intp)


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


# Which engines differ on the same pages.

HIGHER_IS_BETTER = {"anchor_score"}
_NAMES_TOLD = 5
FEWEST_PAGES_SHARE = 0.5
"""Engines that have read a smaller share of the pages are left out, so that they do not take the pages from all."""


def rank_engines(rows: Iterable[PageRow], metric: str) -> tuple[Ranking | None, tuple[str, ...]]:
    """The ranking of the engines, and the engines that have read too few pages to take part; None for one engine.

    The rows of a page follow one another.
    """
    engines: dict[str, int] = {}
    places, values = array("l"), array("d")
    pages = 0
    page: str | None = None
    for row in rows:
        pages += row.page != page
        page = row.page
        engine, value = engines.setdefault(row.engine, len(engines)), getattr(row, metric)
        if value is not None:
            places.extend((pages - 1, engine))
            values.append(value)
    if len(engines) < 2 or not values:
        return None, ()
    table = np.full((pages, len(engines)), np.nan)
    page_places, engine_places = np.array(places, dtype=np.intp).reshape(-1, 2).T
    table[page_places, engine_places] = values
    table = table[~np.isnan(table).all(axis=1)]
    read = (~np.isnan(table)).sum(axis=0)
    takes_part = read >= FEWEST_PAGES_SHARE * len(table)
    names = tuple(engines)
    left_out = tuple(name for name, is_in in zip(names, takes_part.tolist(), strict=True) if not is_in)
    kept = [name for name in names if name not in left_out]
    if len(kept) < 2:
        return None, left_out
    direction: Direction = "higher" if metric in HIGHER_IS_BETTER else "lower"
    return ranking_of(table[:, takes_part], kept, metric=metric, direction=direction), left_out


# Pages in, a summary out.


class MeasuredTranscripts(Struct, frozen=True, eq=False):
    """A summary, and what it was made from."""

    summary: Summary
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
        self._digests = [hashlib.sha256() for _ in jobs.inputs]
        self._has_digests = False
        self._findings = 0
        self._worst_lines = WorstLines()
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
        self._corpus.add(job.pages)
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
            self._first_files.setdefault(notice.message, notice.path)
        self._other_forms += job.other_forms
        for place, name in enumerate(("", *self._jobs.engines)):
            if name in job.digests:
                self._has_digests = True
                self._digests[place].update(f"{job.page}\0{job.digests[name]}\0".encode("utf-8", "replace"))

    def measured(self) -> MeasuredTranscripts:
        """Everything, pooled."""
        failures = (*self._jobs.failures, *self._failures)
        self._refuse_if_strict(failures)
        rows = self._corpus.rows
        if not len(rows):
            first = f"; the first fault: {failures[0].message}" if failures else ""
            raise InputError(f"no page could be measured{first}")
        settings = self._settings
        absent = [field for field in settings.by if field not in self._corpus.fields]
        if absent:
            found = ", ".join(sorted(self._corpus.fields))
            raise SettingsError(f"no page has the field {absent[0]!r}; fields found: {found}")
        numbers = SummarySettings(
            version=version("hallumeter"),
            seed=settings.seed,
            resamples=settings.resamples,
            confidence=settings.confidence,
        )
        # Without ground truth, less disagreement with a witness is no sign of a better engine.
        has_truth = self._jobs.witness is None
        is_ranked = has_truth and len(self._jobs.engines) > 1
        ranking, left_out = rank_engines(rows, settings.ranking_metric) if is_ranked else (None, ())
        summary = Summary(
            version=SUMMARY_VERSION,
            instrument="transcripts",
            counts=Counts(
                records=len(rows),
                claims=self._findings,
                verdicts=self._findings,
                failures=len(failures),
                judges=1,
                models=len(self._jobs.engines),
            ),
            metrics=tuple(summary_rows(self._corpus, settings, numbers, witness=self._jobs.witness)),
            notices=tuple(self._all_notices(ranking, left_out)),
            ranking=ranking,
        )
        return MeasuredTranscripts(summary, rows, failures, self._inputs(), self._corpus, settings, self._worst_lines)

    def _refuse_if_strict(self, failures: tuple[Failure, ...] | list[Failure]) -> None:
        if self._settings.is_strict and failures:
            raise RecordError(failures[0].message)

    def _inputs(self) -> tuple[InputFile, ...]:
        if not self._has_digests:
            return self._jobs.inputs
        pairs = zip(self._jobs.inputs, self._digests, strict=True)
        return tuple(InputFile(file.name, digest.hexdigest(), file.records) for file, digest in pairs)

    def _all_notices(self, ranking: Ranking | None, left_out: tuple[str, ...]) -> Iterator[str]:
        if left_out:
            share = f"{FEWEST_PAGES_SHARE:.0%}"
            more = f" and {len(left_out) - _NAMES_TOLD} more" if len(left_out) > _NAMES_TOLD else ""
            names = ", ".join(left_out[:_NAMES_TOLD])
            yield f"not ranked, because they read fewer than {share} of the pages: {names}{more}"
        if ranking is not None and ranking.dropped:
            yield f"pages that some ranked engine lacks take part only in the pairwise tests: {ranking.dropped:,}"
        if self._bounded:
            yield f"long pages aligned by anchors, whose CER, WER, MER and WIL are upper bounds: {self._bounded:,}"
        statuses = self._statuses
        for told, pages in (("empty outputs", statuses["empty_output"]), ("refusals", statuses["refused"])):
            yield from [f"{told}, counted apart and left out of the hallucinating page rate: {pages:,}"] * (pages > 0)
        if self._jobs.witness is not None:
            yield "compared with a witness, not with ground truth: rates are disagreement, not error"
        for reason, times in self._undecided.most_common(3):
            yield f"{times} undecided: {reason}"
        if self._other_forms:
            other = "the witness" if self._jobs.witness is not None else "their ground truth"
            yield (
                f"some pages are in another Unicode form than {other}; "
                f"--normalize nfc makes them alike: {self._other_forms:,}"
            )
        # Last, because there may be many.
        yield from self._file_notices()

    def _file_notices(self) -> Iterator[str]:
        for notice, files in self._notices.items():
            more = f" ({files - 1:,} more files likewise)" if files > 1 else ""
            yield f"{self._first_files[notice]}: {notice}{more}"
        yield from self._jobs.notices


# The files of a transcripts run, page by page as they are measured.


class RunWriter:
    """Writes records, claims and verdicts in the order of the pages; the rest when all are measured."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = ExitStack()
        self._misread, self._invented = MisreadWords(), InventedWords()
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
        write_pages(self._folder / PAGES, measured.rows)
        write_table(self._folder / MISREAD, MisreadWord, self._misread)
        write_table(self._folder / LINES, WorstLine, measured.worst_lines)
        write_table(self._folder / INVENTED, InventedWord, self._invented)


INSTRUMENT = "transcripts"


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
    started = datetime.now(UTC)
    with run_folder.new_run_folder(out) as folder, jobs as opened:
        # At once, before a table that was just read can change.
        opened.inputs = _with_digests(opened.inputs, opened.tables)
        with RunWriter(folder) as writer:
            measured = measure_transcripts(opened, settings, progress=progress, keep=writer.add)
        writer.finish(measured)
        write_manifest(folder, _manifest(measured, opened, settings=settings, started=started))
        load(folder, verify=False).to_html(folder / run_folder.REPORT)
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


def _with_digests(inputs: tuple[InputFile, ...], tables: tuple[Path, ...]) -> tuple[InputFile, ...]:
    """The inputs with the digests of the tables that they were read from; folders have theirs already."""
    found = []
    for file, path in zip(inputs, tables, strict=False):
        with path.open("rb") as stream:
            found.append(structs.replace(file, sha256=hashlib.file_digest(stream, "sha256").hexdigest()))
    return (*found, *inputs[len(tables) :])

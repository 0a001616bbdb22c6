"""Pages in, a summary out."""

from __future__ import annotations

import hashlib
from collections import Counter
from contextlib import closing
from importlib.metadata import version
from typing import TYPE_CHECKING

from msgspec import Struct

from hallumeter.errors import InputError, RecordError, SettingsError
from hallumeter.records import SUMMARY_VERSION, Counts, InputFile, Summary
from hallumeter.summary import SummarySettings

from .corpus import Corpus, summary_rows
from .measuring import Task, measure_jobs
from .ranking import FEWEST_PAGES_SHARE, rank_engines
from .settings import TranscriptSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hallumeter.records import Failure, PageRow, Ranking

    from .jobs import Jobs
    from .measuring import MeasuredJob
    from .page import MeasuredPage


class MeasuredTranscripts(Struct, frozen=True, eq=False):
    """A summary, and what it was made from."""

    summary: Summary
    rows: tuple[PageRow, ...]
    """Every page of every engine."""
    failures: tuple[Failure, ...]
    inputs: tuple[InputFile, ...]
    corpus: Corpus
    settings: TranscriptSettings


def measure_transcripts(
    jobs: Jobs,
    settings: TranscriptSettings,
    *,
    watch: Callable[[int, int], None] | None = None,
    keep: Callable[[MeasuredPage], None] | None = None,
) -> MeasuredTranscripts:
    """Measure all pages; `watch` is told how many of how many are done, `keep` takes each page as it comes."""
    task = Task(
        settings=settings,
        reference_name=jobs.reference_name,
        is_kept=keep is not None,
        has_one_engine=len(jobs.engines) == 1,
    )
    collected = _Collected(jobs, settings)
    take = keep or _leave
    # Closed here and not when they are collected as garbage: by then the database behind the pages is gone.
    with closing(jobs.pages), closing(measure_jobs(jobs.pages, task)) as measured:
        for done, job in enumerate(measured, 1):
            collected.add(job)
            for page in job.pages:
                take(page)
            if watch is not None:
                watch(done, jobs.count)
    return collected.measured()


def _leave(_: MeasuredPage) -> None:
    """Nobody keeps the findings."""


class _Collected:
    """What is gathered while the pages come in."""

    def __init__(self, jobs: Jobs, settings: TranscriptSettings) -> None:
        self._jobs = jobs
        self._settings = settings
        self._corpus = Corpus(settings.by, has_one_engine=len(jobs.engines) == 1)
        self._rows: list[PageRow] = []
        self._failures: list[Failure] = []
        self._notices: Counter[str] = Counter()
        self._first_files: dict[str, str] = {}
        self._other_forms = 0
        self._undecided: Counter[str] = Counter()
        self._digests = [hashlib.sha256() for _ in jobs.inputs]
        self._has_digests = False
        self._findings = 0
        self._refuse_if_strict(jobs.failures)

    def add(self, job: MeasuredJob) -> None:
        """Take one page with all its readings."""
        self._refuse_if_strict(job.failures)
        self._failures.extend(job.failures)
        self._corpus.add(job.pages)
        for notice in job.notices:
            self._notices[notice.message] += 1
            self._first_files.setdefault(notice.message, notice.path)
        self._other_forms += job.other_forms
        for page in job.pages:
            self._rows.append(page.row)
            self._undecided.update([page.undecided] if page.undecided else [])
            self._findings += page.findings
        for place, name in enumerate(("", *self._jobs.engines)):
            if name in job.digests:
                self._has_digests = True
                self._digests[place].update(f"{job.page}\0{job.digests[name]}\0".encode("utf-8", "replace"))

    def measured(self) -> MeasuredTranscripts:
        """Everything, pooled."""
        failures = (*self._jobs.failures, *self._failures)
        self._refuse_if_strict(failures)
        if not self._rows:
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
        ranking, left_out = rank_engines(self._rows, settings.ranking_metric)
        summary = Summary(
            version=SUMMARY_VERSION,
            instrument="transcripts",
            counts=Counts(
                records=len(self._rows),
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
        return MeasuredTranscripts(summary, tuple(self._rows), failures, self._inputs(), self._corpus, settings)

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
            yield f"not ranked, because they read fewer than {share} of the pages: {', '.join(left_out)}"
        if ranking is not None and ranking.dropped:
            yield f"pages that some ranked engine lacks take part only in the pairwise tests: {ranking.dropped:,}"
        bounded = sum(row.is_exact is False for row in self._rows)
        if bounded:
            yield f"long pages aligned by anchors, whose CER, WER, MER and WIL are upper bounds: {bounded:,}"
        empty = sum(row.status == "empty_output" for row in self._rows)
        if empty:
            yield f"empty outputs, counted apart and left out of the hallucinating page rate: {empty:,}"
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

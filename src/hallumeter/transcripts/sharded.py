"""Transcripts cut into shards: whole pages in each, with the readings of all engines."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from hallumeter.errors import InputError, RecordError
from hallumeter.formats.batch import Batch
from hallumeter.records.claim import Failure
from hallumeter.records.manifest import InputFile
from hallumeter.records.response import Response
from hallumeter.run.run_folder import RECORDS
from hallumeter.run.sharded import NoMore, Plan, ShardDone
from hallumeter.run.shards import Part
from hallumeter.run.store import RunStore
from hallumeter.run.store_tables import merged_cells, page_key

from .commands import InputDigests, check_fields, write_transcripts
from .example_tables import INVENTED, LINES, MISREAD, merged_tables
from .inputs import EngineReading, Jobs, PageJob, Source, Told
from .measuring import ENGINE, PAGE, read_jobs
from .settings import TranscriptSettings

_READINGS, _FAILURE, _NOTICE = "readings", "failure", "notice"
"""What rows of a part have: pages have readings; what could not be paired, and what must be said, have rows as well."""
_OF_PAGES = ("unreadable", "unmeasurable")
"""Codes of failures of single pages; they come after those of the input."""
_PAGES_AT_ONCE = 64
_BYTES_PER_TEXT = 4096
"""Of a page of print, roughly."""


class PagesToShard(Struct, frozen=True):
    """What every shard must know of the whole."""

    settings: TranscriptSettings
    engines: tuple[str, ...]
    reference_name: str
    witness: str | None


class PageInput:
    """The pages of a run, whatever they come from, as rows with their texts."""

    def __init__(self, jobs: Jobs, settings: TranscriptSettings) -> None:
        self._jobs, self._settings = jobs, settings
        self._digests = InputDigests(jobs)

    @property
    def settings(self) -> PagesToShard:
        """What every shard must know."""
        alone = structs.replace(self._settings, workers=1)
        return PagesToShard(alone, self._jobs.engines, self._jobs.reference_name, self._jobs.witness)

    @property
    def bytes(self) -> int:
        """About how much text there is."""
        return self._jobs.count * (1 + len(self._jobs.engines)) * _BYTES_PER_TEXT

    @property
    def files(self) -> tuple[InputFile, ...]:
        """What is read; folders have digests once all their pages have been."""
        return self._digests.inputs

    def sources(self) -> Iterator[tuple[str, Iterator[Batch]]]:
        """The pages, then what could not be paired, then what must be said of the input: known only at the end."""
        yield "pages", _batches(self._pages())
        yield "failures", _batches({_FAILURE: msgspec.to_builtins(each)} for each in self._failures())
        yield "notices", _batches({_NOTICE: notice} for notice in self._jobs.notices)

    def _pages(self) -> Generator[dict[str, Any], None, None]:
        # Tables have their texts at hand; to send them to other processes and back would take longer than to read them.
        has_texts = bool(self._jobs.inputs) and all(file.sha256 for file in self._jobs.inputs)
        settings = structs.replace(self._settings, workers=1) if has_texts else self._settings
        with closing(self._jobs.pages), closing(read_jobs(self._jobs.pages, settings)) as pages:
            for page in pages:
                self._refuse_if_strict(page.job.told.failures)
                self._digests.add(page.job.page, page.digests)
                yield _row(page.job)

    def _failures(self) -> list[Failure]:
        self._refuse_if_strict(self._jobs.failures)
        return self._jobs.failures

    def _refuse_if_strict(self, failures: Iterable[Failure]) -> None:
        for failure in failures if self._settings.is_strict else ():
            raise RecordError(failure.message)


@contextmanager
def page_input(jobs: AbstractContextManager[Jobs], settings: TranscriptSettings) -> Iterator[PageInput]:
    """The pages of a run as the input of shards."""
    with jobs as opened:
        yield PageInput(opened, settings)


def _batches(rows: Iterable[dict[str, Any]]) -> Iterator[Batch]:
    first, left = 1, iter(rows)
    while some := list(islice(left, _PAGES_AT_ONCE)):
        names = dict.fromkeys(chain.from_iterable(some))
        yield Batch({name: [row.get(name) for row in some] for name in names}, range(first, first + len(some)))
        first += len(some)


def _row(job: PageJob) -> dict[str, Any]:
    readings = [[each.engine, each.source.text, each.fields] for each in job.readings]
    return {PAGE: job.page, "reference": job.reference.text, _READINGS: readings, "told": msgspec.to_builtins(job.told)}


def _job(fields: Mapping[str, Any]) -> PageJob:
    readings = tuple(EngineReading(engine, Source(text), known) for engine, text, known in fields[_READINGS])
    return PageJob(fields[PAGE], Source(fields["reference"]), readings, msgspec.convert(fields["told"], Told))


class ShardedTranscripts(NoMore):
    """Runs of transcripts in shards."""

    def stored(self, settings: PagesToShard) -> dict[str, Any]:
        """The settings as JSON."""
        stored: dict[str, Any] = msgspec.to_builtins(settings)
        return stored

    def key(self, settings: dict[str, Any]) -> Callable[[Mapping[str, object], str], str]:
        """By the page."""
        del settings
        return _key

    def name(self, fields: Mapping[str, object]) -> str | None:
        """By what the readings of a page can be grouped, as JSON."""
        readings: Any = fields.get(_READINGS)
        known = {name for _, _, own in readings or () for name in own}
        return msgspec.json.encode(sorted({PAGE, ENGINE, *known})).decode() if readings else None

    def check(self, plan: Plan) -> None:
        """Refuse an input without a page, and a group by a field that no page has."""
        if not plan.found.names:
            raise InputError("no page could be measured: none has a reference and a reading that can be read")
        fields = chain.from_iterable(msgspec.json.decode(names, type=list[str]) for names in plan.found.names)
        check_fields(_settings(plan).settings, set(fields))

    def work(self, plan: Plan, part: Part, folder: Path) -> ShardDone:
        """Measure the pages of a part."""
        whole, rows = _settings(plan), _RowsOfPart(part)
        jobs = Jobs(
            rows.pages(),
            rows.count,
            whole.engines,
            # Pages of the inputs are counted once, by the first shard.
            tuple(structs.replace(file, records=file.records * (part.shard.number == 0)) for file in plan.inputs),
            rows.failures,
            rows.notices,
            whole.reference_name,
            whole.witness,
        )
        folder.mkdir()
        counts = write_transcripts(jobs, folder, settings=whole.settings).summary.counts
        return ShardDone(records=counts.records, failures=counts.failures)

    def estimated(self, plan: Plan, part: Part, folder: Path) -> tuple[float, int, float | None]:
        """What a part takes: nobody is asked."""
        begun = time.monotonic()
        self.work(plan, part, folder)
        return time.monotonic() - begun, 0, 0.0

    def record_rows(self, part: Part, folder: Path) -> dict[str, int]:
        """The rows of records, of pages, and of what could not be paired by its message."""
        found: dict[str, int] = {}
        for row in part.rows():
            fields = row.fields or {}
            if PAGE in fields:
                found[page_key(fields[PAGE])] = found[fields[PAGE]] = row.row
            elif _FAILURE in fields:
                found[fields[_FAILURE]["message"]] = row.row
        decoder = msgspec.json.Decoder(Response)
        with (folder / RECORDS).open("rb") as stream:
            for record in map(decoder.decode, stream):
                found[record.record_id] = found[page_key(str(record.fields.get(PAGE, record.record_id)))]
        return found

    def section(self, table: str, line: Mapping[str, Any]) -> int:
        """What could not be paired comes before what could not be read."""
        return int(table == "failures" and line["code"] in _OF_PAGES)

    def write_files(self, folder: Path, store: RunStore, plan: Plan) -> tuple[str, ...]:
        """Examples of the whole run, from those that the shards have kept."""
        merged_tables(folder, partial(merged_cells, store), _settings(plan).engines)
        return MISREAD, LINES, INVENTED


def _key(fields: Mapping[str, object], place: str) -> str:
    return str(fields.get(PAGE) or place)


def _settings(plan: Plan) -> PagesToShard:
    return msgspec.convert(plan.settings, PagesToShard)


class _RowsOfPart:
    """The rows of a part: pages as they are measured; what stands beside them at once."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self.count = 0
        self.failures: list[Failure] = []
        self.notices: list[str] = []
        for row in part.rows():
            fields = row.fields or {}
            self.count += PAGE in fields
            if _FAILURE in fields:
                self.failures.append(msgspec.convert(fields[_FAILURE], Failure))
            elif _NOTICE in fields:
                self.notices.append(fields[_NOTICE])

    def pages(self) -> Generator[PageJob, None, None]:
        """The pages one by one."""
        yield from (_job(row.fields) for row in self._part.rows() if row.fields is not None and PAGE in row.fields)


SHARDED = ShardedTranscripts()

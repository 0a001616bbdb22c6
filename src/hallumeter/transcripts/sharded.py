"""Transcripts cut into shards: whole pages in each, with the readings of all engines."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from itertools import chain
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
from hallumeter.run.sharded import Plan, ShardDone, UsualKind
from hallumeter.run.shards import Part, PartUnits, unit_sources
from hallumeter.run.store import RunStore
from hallumeter.run.store_tables import cells_name, merged_cells

from .commands import InputDigests, check_fields, with_digests, write_transcripts
from .example_tables import INVENTED, LINES, MISREAD, merged_tables
from .inputs import EngineReading, Jobs, PageJob, Told
from .measuring import ENGINE, PAGE, read_jobs
from .pages_table import PAGES
from .settings import TranscriptSettings

_READINGS = "readings"
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
        jobs.inputs = with_digests(jobs.inputs, jobs.tables)
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
    def kept(self) -> dict[str, Path]:
        """Nothing of the input is kept whole."""
        return {}

    @property
    def files(self) -> tuple[InputFile, ...]:
        """What is read; folders have digests once all their pages have been."""
        return self._digests.inputs

    def sources(self) -> Iterator[tuple[str, Iterator[Batch]]]:
        """The pages, then what could not be paired, then what must be said of the input."""
        return unit_sources("pages", self._pages(), failures=self._failures(), notices=self._jobs.notices)

    def _pages(self) -> Generator[dict[str, Any], None, None]:
        # Tables have their texts at hand; to send them to other processes and back would take longer than to read them.
        has_texts = bool(self._jobs.inputs) and all(file.sha256 for file in self._jobs.inputs)
        settings = structs.replace(self._settings, workers=1) if has_texts else self._settings
        with closing(self._jobs.pages), closing(read_jobs(self._jobs.pages, settings)) as pages:
            for page in pages:
                self._refuse_if_strict(page.job.told.failures)
                self._digests.add(page.job.page, page.digests)
                yield _row(page.job)

    def _failures(self) -> Iterator[Failure]:
        self._refuse_if_strict(self._jobs.failures)
        yield from self._jobs.failures

    def _refuse_if_strict(self, failures: Iterable[Failure]) -> None:
        for failure in failures if self._settings.is_strict else ():
            raise RecordError(failure.message)


@contextmanager
def page_input(jobs: AbstractContextManager[Jobs], settings: TranscriptSettings) -> Iterator[PageInput]:
    """The pages of a run as the input of shards."""
    with jobs as opened:
        yield PageInput(opened, settings)


def _row(job: PageJob) -> dict[str, Any]:
    readings = [[each.engine, each.source, each.fields] for each in job.readings]
    return {PAGE: job.page, "reference": job.reference, _READINGS: readings, "told": msgspec.to_builtins(job.told)}


def _job(fields: Mapping[str, Any]) -> PageJob:
    readings = tuple(EngineReading(engine, text, known) for engine, text, known in fields[_READINGS])
    return PageJob(fields[PAGE], fields["reference"], readings, msgspec.convert(fields["told"], Told))


class ShardedTranscripts(UsualKind):
    """Runs of transcripts in shards."""

    cells = dict.fromkeys((PAGES, MISREAD, LINES, INVENTED), (PAGE,))

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
            raise InputError(f"no page could be measured{plan.found.first_fault}")
        fields = chain.from_iterable(msgspec.json.decode(names, type=list[str]) for names in plan.found.names)
        check_fields(_settings(plan).settings, set(fields))

    def work(self, plan: Plan, part: Part, folder: Path) -> ShardDone:
        """Measure the pages of a part."""
        whole, units = _settings(plan), PartUnits(part)
        jobs = Jobs(
            (_job(fields) for fields in units),
            units.count,
            whole.engines,
            # Pages of the inputs are counted once, by the first shard.
            tuple(structs.replace(file, records=file.records * (part.shard.number == 0)) for file in plan.inputs),
            units.failures,
            units.notices,
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
        found = PartUnits(part).rows(lambda fields: (cells_name(fields[PAGE]), fields[PAGE]))
        decoder = msgspec.json.Decoder(Response)
        with (folder / RECORDS).open("rb") as stream:
            for record in map(decoder.decode, stream):
                found[record.record_id] = found[cells_name(str(record.fields.get(PAGE, record.record_id)))]
        return found

    def write_files(self, folder: Path, store: RunStore, plan: Plan, *, whole: Any) -> tuple[str, ...]:
        """Examples of the whole run, from those that the shards have kept."""
        del whole
        merged_tables(folder, partial(merged_cells, store), _settings(plan).engines)
        return MISREAD, LINES, INVENTED


def _key(fields: Mapping[str, object], place: str) -> str:
    return str(fields.get(PAGE) or place)


def _settings(plan: Plan) -> PagesToShard:
    return msgspec.convert(plan.settings, PagesToShard)


SHARDED = ShardedTranscripts()

"""Scorecards cut into shards: whole sentences in each, with the scorecards of all runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from hallumeter.errors import InputError, RecordError
from hallumeter.records.claim import Failure
from hallumeter.records.manifest import InputFile
from hallumeter.records.measurement import Summary
from hallumeter.run.digests import write_manifest
from hallumeter.run.engines.local import map_in_order
from hallumeter.run.inputs import rereadable_files, sha256_of
from hallumeter.run.run_folder import SUMMARY
from hallumeter.run.sharded import Plan, ShardDone, UsualKind
from hallumeter.run.shards import Part, PartUnits, is_of_unit, unit_sources
from hallumeter.run.store import RunStore
from hallumeter.run.store_tables import cells_name

from .aggregate.counted import RunKey, record_name, safe_cell
from .aggregate.overview import AggregateSettings
from .aggregate.pipeline import aggregate_part
from .aggregate.run_writer import SCORECARDS, RunWriter, manifest_of, write_tables
from .aggregate.tables import TRIPTYCH
from .records.scorecard import Scorecard
from .score.reading import Chunk, opened_lines
from .score.scorecards import scorecard_reader

_CARDS_AT_ONCE = 256
_LINE, _SENTENCE, _RUN, _COUNTS = "line", "sentence", "run", "is_counted"


class ScorecardInput:
    """The scorecards of a file, line by line."""

    def __init__(self, name: str, path: Path, settings: AggregateSettings) -> None:
        self._path, self.settings = path, settings
        self.bytes, self.kept = path.stat().st_size, {SCORECARDS: path}
        self.files = (InputFile(name, sha256_of(path), 0),)
        self._failures: list[Failure] = []

    def sources(self) -> Iterator[tuple[str, Any]]:
        """The scorecards, then the lines that are none."""
        self._failures = []
        return unit_sources("scorecards", self._cards(), failures=self._refused(), notices=())

    def _cards(self) -> Iterator[dict[str, Any]]:
        read = partial(_read_chunk, profile=self.settings.profile, name=self.files[0].name)
        workers = self.settings.workers
        with opened_lines(self._path) as chunks, closing(map_in_order(read, chunks, workers=workers)) as found:
            for cards, failures in found:
                if failures and self.settings.is_strict:
                    raise RecordError(failures[0].message)
                self._failures += failures
                yield from cards

    def _refused(self) -> Iterator[Failure]:
        yield from self._failures


def _read_chunk(chunk: Chunk, *, profile: str | None, name: str) -> tuple[list[dict[str, Any]], list[Failure]]:
    """The scorecards of some lines, and what the others are; a blank line is nothing."""
    reader, failures, cards = scorecard_reader(), list[Failure](), list[dict[str, Any]]()
    for number, line in zip(count(chunk.first), chunk.content.split(b"\n")):
        for card in reader.records(Chunk(name, number, line), failures):
            cards.append(_row(card, line, is_counted=profile in (None, card.chosen_profile or "")))
    return cards, failures


def _row(card: Scorecard, line: bytes, *, is_counted: bool) -> dict[str, Any]:
    return {_LINE: line, _SENTENCE: card.case_id, _RUN: list(card.run_key), _COUNTS: is_counted}


@contextmanager
def scorecard_input(scorecards: Path, settings: AggregateSettings) -> Iterator[ScorecardInput]:
    """A file of scorecards as the input of shards."""
    with rereadable_files([scorecards]) as [(name, path)]:
        yield ScorecardInput(name, path, settings)


class _Runs(Struct, frozen=True):
    """The runs of all scorecards, which no shard could know alone."""

    counted: tuple[RunKey, ...]
    first: RunKey | None

    @classmethod
    def of(cls, names: Sequence[str]) -> _Runs:
        found = [msgspec.json.decode(name, type=tuple[RunKey, bool]) for name in names]
        counted = dict.fromkeys(run for run, is_counted in found if is_counted)
        return cls(tuple(counted), found[0][0] if found else None)


class ShardedScorecards(UsualKind):
    """Aggregations of scorecards in shards."""

    cells = {TRIPTYCH: ("text_id", "run", "seed")}  # noqa: RUF012 (as its protocol has it)

    def stored(self, settings: AggregateSettings) -> dict[str, Any]:
        """The settings as JSON."""
        return super().stored(structs.replace(settings, workers=1))

    def key(self, settings: dict[str, Any]) -> Callable[[Mapping[str, object], str], str]:
        """By the sentence."""
        del settings
        return _key

    def name(self, fields: Mapping[str, object]) -> str | None:
        """The run, and whether its scorecards are of the profile that is wanted."""
        return msgspec.json.encode((fields[_RUN], fields[_COUNTS])).decode() if _RUN in fields else None

    def check(self, plan: Plan) -> None:
        """Refuse a file without a scorecard."""
        if not plan.found.names:
            raise InputError(f"{plan.inputs[0].name}: no scorecard could be read")

    def work(self, plan: Plan, part: Part, folder: Path) -> ShardDone:
        """Aggregate the scorecards of a part."""
        started = datetime.now(UTC)
        units, runs = PartUnits(part), _Runs.of(part.names)
        settings = msgspec.convert(plan.settings, AggregateSettings)
        folder.mkdir()
        with RunWriter(folder) as writer:
            found = aggregate_part(
                _chunks(units),
                settings,
                runs=runs.counted,
                first_run=runs.first,
                unread=units.failures,
                keep=writer.add,
            )
            writer.finish(found)
        counts = found.summary.counts
        source = structs.replace(plan.inputs[0], records=counts.records)
        write_manifest(folder, manifest_of(source, settings, started))
        return ShardDone(records=counts.records, failures=counts.failures)

    def estimated(self, plan: Plan, part: Part, folder: Path) -> tuple[float, int, float | None]:
        """What a part takes: nobody is asked."""
        begun = time.monotonic()
        self.work(plan, part, folder)
        return time.monotonic() - begun, 0, 0.0

    def record_rows(self, part: Part, folder: Path) -> dict[str, int]:
        """A row of every sentence of a run, by its record and by its line of the table for people."""
        del folder
        runs = _Runs.of(part.names)

        def names(fields: dict[str, Any]) -> Iterable[str]:
            (name, seed), sentence = fields[_RUN], fields.get(_SENTENCE)
            shown = safe_cell(sentence or ""), safe_cell(name), "" if seed is None else str(seed)
            return record_name(sentence, (name, seed), runs.first), cells_name(*shown)

        return PartUnits(part).rows(names)

    def section(self, table: str, line: Mapping[str, Any], row: int) -> int:
        """Lines that are no scorecards come after sentences that failed."""
        del line
        return int(table == "failures" and not is_of_unit(row))

    def write_files(self, folder: Path, store: RunStore, plan: Plan) -> tuple[str, ...]:
        """The scorecards as they were given, and tables of the whole run."""
        del plan
        (folder / SCORECARDS).write_bytes(store.read(SCORECARDS) or b"")
        summary = msgspec.json.decode((folder / SUMMARY).read_bytes(), type=Summary)
        return SCORECARDS, *write_tables(folder, summary)


def _key(fields: Mapping[str, object], place: str) -> str:
    return str(fields.get(_SENTENCE) or place)


def _chunks(units: PartUnits) -> Iterator[Chunk]:
    lines = (fields[_LINE] for fields in units)
    while some := list(islice(lines, _CARDS_AT_ONCE)):
        yield Chunk(SCORECARDS, 1, b"\n".join(some))


SHARDED = ShardedScorecards()

"""Scorecards in, a summary out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from importlib.metadata import version
from itertools import chain, islice
from pathlib import Path

from msgspec import Struct

from hallumeter.aspects.records.scorecard import Scorecard
from hallumeter.aspects.score.reading import Chunk, opened_lines
from hallumeter.aspects.score.scorecards import completed, scorecard_reader
from hallumeter.errors import InputError, RecordError
from hallumeter.records.claim import Failure
from hallumeter.records.measurement import Summary
from hallumeter.run.engines.local import map_in_order
from hallumeter.stats.summarize import SummarySettings

from .counted import CardCounts, CountedCards, CountTask, RunKey, counted_cards, counted_chunk
from .overview import AggregateSettings, AspectsPartial, partial_of_counts

Keep = Callable[[CountedCards], object]


_CARDS_AT_ONCE = 512
CLUSTER = "sentence"
"""The unit of resampling: the same sentence in several runs is one."""


class Aggregated(Struct, frozen=True, eq=False):
    """A summary, and the lines that could not be read."""

    summary: Summary
    partial: AspectsPartial
    failures: tuple[Failure, ...]
    """The first of them."""


def aggregate(
    cards: Iterable[Scorecard], settings: AggregateSettings | None = None, *, keep: Keep | None = None
) -> Aggregated:
    """Aggregate scorecards; `keep` takes their lines as they come.

    A profile that no scorecard has gives a summary of nothing: its rates are undefined.
    """
    chosen = settings or AggregateSettings()
    rest = iter(cards)
    first = next(rest, None)
    task = _task(chosen, None if first is None else first.run_key, is_kept=keep is not None)
    given = chain(() if first is None else (first,), rest)

    def counted() -> Iterator[CountedCards]:
        while share := list(islice(given, _CARDS_AT_ONCE)):
            yield counted_cards(map(completed, share), task, [])

    return _aggregated(counted(), chosen, keep)


def aggregate_file(path: Path, settings: AggregateSettings, *, keep: Keep | None = None) -> Aggregated:
    """Aggregate the scorecards of a file.

    Raises:
        InputError: The file cannot be read, or no line of it is a scorecard.
        RecordError: A line is none, and the settings are strict.
    """
    with opened_lines(path) as chunks:
        first = next(chunks, None)
        run = None if first is None else _first_run(first)
        task = _task(settings, run, is_kept=keep is not None)
        given = chain(() if first is None else (first,), chunks)
        with closing(map_in_order(partial(counted_chunk, task=task), given, workers=settings.workers)) as counted:
            found = _aggregated(counted, settings, keep)
    if not found.summary.counts.records and not (found.summary.aspects and found.summary.aspects.profiles):
        first_fault = f"; the first fault: {found.failures[0].message}" if found.failures else ""
        raise InputError(f"{path}: no scorecard could be read{first_fault}")
    return found


def _task(settings: AggregateSettings, run: RunKey | None, *, is_kept: bool) -> CountTask:
    return CountTask(profile=settings.profile, is_kept=is_kept, first_run=run)


def _first_run(chunk: Chunk) -> RunKey | None:
    """The run of the first scorecard."""
    card = next(scorecard_reader().records(chunk, []), None)
    return None if card is None else card.run_key


def aggregate_part(
    chunks: Iterable[Chunk],
    settings: AggregateSettings,
    *,
    runs: Sequence[RunKey],
    first_run: RunKey | None,
    unread: list[Failure],
    keep: Keep,
) -> Aggregated:
    """Aggregate some of the scorecards of a file, of which the runs, and lines that are none, are known."""
    task = _task(settings, first_run, is_kept=True)
    counted = chain((counted_chunk(chunk, task) for chunk in chunks), [counted_cards((), task, unread)])
    return _aggregated(counted, settings, keep, runs=runs)


def _aggregated(
    counted: Iterable[CountedCards], settings: AggregateSettings, keep: Keep | None, *, runs: Sequence[RunKey] = ()
) -> Aggregated:
    card_counts = CardCounts(runs)
    for found in counted:
        if settings.is_strict and found.failures:
            raise RecordError(found.failures[0].message)
        card_counts.add(found)
        if keep is not None:
            keep(found)
    numbers = SummarySettings(
        version=version("hallumeter"),
        seed=settings.seed,
        resamples=settings.resamples,
        confidence=settings.confidence,
        cluster=CLUSTER,
        stated=() if settings.profile is None else (("profile", settings.profile),),
    )
    partial = partial_of_counts(card_counts, settings, numbers)
    return Aggregated(partial.summary(workers=settings.workers), partial, tuple(card_counts.failures))

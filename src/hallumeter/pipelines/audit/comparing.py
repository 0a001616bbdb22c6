"""From records to readings of their samples."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from hallumeter.runner import Lane, run_lanes

from .entries import PREPARED, SAMPLED, Prepared, entry_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from threading import Event

    from hallumeter.pipelines.samples import SampleReader, SampleReading
    from hallumeter.records import Response
    from hallumeter.runner import Watch
    from hallumeter.store import Journal

_AT_A_TIME = 32
_Task = tuple[int, "Response"]


def read_samples(journal: Journal, reader: SampleReader, *, concurrency: int, stop: Event, watch: Watch) -> bool:
    """Read the samples of every record that has some and was not read before; False when it was stopped."""
    watch.begin("comparing samples", total=0)
    tasks = _tasks(journal, reader)

    def work(task: _Task) -> SampleReading:
        return reader.read(task[1])

    def keep(results: Sequence[tuple[_Task, SampleReading]]) -> None:
        journal.add([entry_of(SAMPLED, number, reading) for (number, _), reading in results])
        watch.done(len(results), failures=sum(bool(reading.failures) for _, reading in results))

    if reader.equivalence is not None and reader.equivalence.is_remote:
        lane = Lane(name=SAMPLED, tasks=tasks, work=work, concurrency=concurrency)
        return run_lanes([lane], lambda results: keep([(task, found) for _, task, found in results]), stop=stop)
    while part := list(islice(tasks, _AT_A_TIME)):
        if stop.is_set():
            return False
        keep([(task, work(task)) for task in part])
    return True


def _tasks(journal: Journal, reader: SampleReader) -> Iterator[_Task]:
    done = journal.done(SAMPLED)
    decoder = msgspec.json.Decoder(Prepared)
    for entry in journal.entries(PREPARED):
        if (entry.record, 0) not in done:
            response = decoder.decode(entry.body).response
            if reader.has_work(response):
                yield entry.record, response

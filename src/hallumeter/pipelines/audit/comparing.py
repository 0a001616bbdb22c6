"""From records to readings of their samples."""

from __future__ import annotations

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
    tasks = list(_tasks(journal, reader))
    if not tasks:
        return True
    watch.begin("comparing samples", total=len(tasks))

    def work(task: _Task) -> SampleReading:
        return reader.read(task[1])

    def keep(results: Sequence[tuple[int, SampleReading]]) -> None:
        journal.add([entry_of(SAMPLED, number, reading) for number, reading in results])
        watch.done(len(results), failures=sum(bool(reading.failures) for _, reading in results))

    if reader.equivalence is not None and reader.equivalence.is_remote:
        lane = Lane(name=SAMPLED, tasks=iter(tasks), work=work, concurrency=concurrency)
        return run_lanes([lane], lambda results: keep([(task[0], found) for _, task, found in results]), stop=stop)
    for first in range(0, len(tasks), _AT_A_TIME):
        if stop.is_set():
            return False
        part = tasks[first : first + _AT_A_TIME]
        keep([(number, reading) for (number, _), reading in zip(part, map(work, part), strict=True)])
    return True


def _tasks(journal: Journal, reader: SampleReader) -> Iterator[_Task]:
    done = journal.done(SAMPLED)
    decoder = msgspec.json.Decoder(Prepared)
    for entry in journal.entries(PREPARED):
        if (entry.record, 0) not in done:
            response = decoder.decode(entry.body).response
            if reader.has_work(response):
                yield entry.record, response

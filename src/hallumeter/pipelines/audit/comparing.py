"""From records to readings of their samples."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from hallumeter.runner import Lane, run_lanes

from .entries import READ, SAMPLED, ReadRecord, entry_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hallumeter.pipelines.measurement.response_names import ResponseNames
    from hallumeter.pipelines.samples import SampleReader, SampleReading
    from hallumeter.records import Response
    from hallumeter.store import Journal

    from .entries import Means

_AT_A_TIME = 32
_Task = tuple[int, "Response"]


def read_samples(means: Means, reader: SampleReader, names: ResponseNames, *, concurrency: int) -> bool:
    """Read the samples of every record that has some and was not read before; False when it was stopped."""
    journal, stop, watch = means.journal, means.stop, means.watch
    watch.begin("comparing samples", total=0)
    tasks = _tasks(journal, reader, names)

    def work(task: _Task) -> SampleReading:
        return reader.read(task[1])

    def keep(results: Sequence[tuple[_Task, SampleReading]]) -> None:
        journal.add([entry_of(SAMPLED, number, reading) for (number, _), reading in results])
        watch.done(len(results), failures=sum(bool(reading.failures) for _, reading in results))

    if reader.equivalence is not None and reader.equivalence.is_remote:
        lane = Lane(name=SAMPLED, tasks=tasks, work=work, concurrency=concurrency)

        def keep_paid(results: Sequence[tuple[str, _Task, SampleReading]]) -> None:
            keep([(task, found) for _, task, found in results])
            means.note_spending()

        return run_lanes([lane], keep_paid, stop=stop)
    while part := list(islice(tasks, _AT_A_TIME)):
        if stop.is_set():
            return False
        keep([(task, work(task)) for task in part])
    return True


def _tasks(journal: Journal, reader: SampleReader, names: ResponseNames) -> Iterator[_Task]:
    """Records as they were read: their samples can be compared although nobody has paid for finding their claims."""
    done = journal.done(SAMPLED)
    decoder = msgspec.json.Decoder(ReadRecord)
    for entry in journal.entries(READ):
        if (entry.record, 0) not in done:
            response = decoder.decode(entry.body).response
            if reader.has_work(response):
                yield entry.record, names.named(response)
